"""Discrete Fourier transforms, computed by pocketfft through NumPy, imported at that moment."""

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

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
