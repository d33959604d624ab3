"""Discrete Fourier transforms, computed by pocketfft through NumPy, imported at that moment."""

from tessella import spellings
from tessella.fft.composites import (
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifftn,
    ifftshift,
    ihfft,
    irfftn,
    rfftfreq,
    rfftn,
)
from tessella.fft.transforms import fft, ifft, irfft, rfft
from tessella.hints import TYPE_CHECKING

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
