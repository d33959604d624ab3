"""Written by tools/generate.py from the table of operations; change that, not this."""

from builtins import float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

from tessella._core import Tensor
from tessella.allocators import Allocator
from tessella.hints import DTypeLike as _DTypeLike, Ints as _Ints

_Axes: TypeAlias = _Ints | None

@overload
def fft(
    x: Tensor,
    n: _int | None = None,
    axis: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The discrete Fourier transform along an axis: sum over j of x[j] e^(-2πi jk/n)."""

@overload
def fft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The discrete Fourier transform along an axis: sum over j of x[j] e^(-2πi jk/n)."""

def fftfreq(
    n: _int,
    *,
    d: _float = 1.0,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the frequencies of fft's terms for samples d apart: first 0 and up, then negative ones."""

def fftn(
    x: Tensor,
    *,
    s: _Ints | None = None,
    axes: _Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Transform along several axes, or all."""

def fftshift(
    x: Tensor, *, axes: _Axes = None, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Put the frequency 0 into the middle of axes, or of all."""

@overload
def hfft(
    x: Tensor,
    *,
    n: _int | None = None,
    axis: _int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Transform a signal that is Hermitian, of which x is the first half: the spectrum is real."""

@overload
def hfft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Transform a signal that is Hermitian, of which x is the first half: the spectrum is real."""

@overload
def ifft(
    x: Tensor,
    n: _int | None = None,
    axis: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The inverse of fft: the mean over k of x[k] e^(2πi jk/n)."""

@overload
def ifft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The inverse of fft: the mean over k of x[k] e^(2πi jk/n)."""

def ifftn(
    x: Tensor,
    *,
    s: _Ints | None = None,
    axes: _Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Invert fftn."""

def ifftshift(
    x: Tensor, *, axes: _Axes = None, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Undo fftshift: the frequency 0 goes from the middle to the front."""

@overload
def ihfft(
    x: Tensor,
    *,
    n: _int | None = None,
    axis: _int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Invert hfft: the first half of a Hermitian signal from its real spectrum."""

@overload
def ihfft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Invert hfft: the first half of a Hermitian signal from its real spectrum."""

@overload
def irfft(
    x: Tensor,
    n: _int | None = None,
    axis: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The inverse of rfft: n real numbers, by default 2 * (m - 1) of m terms."""

@overload
def irfft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The inverse of rfft: n real numbers, by default 2 * (m - 1) of m terms."""

def irfftn(
    x: Tensor,
    *,
    s: _Ints | None = None,
    axes: _Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Invert rfftn: real numbers, along the last axis 2 * (m - 1) of m terms unless s says so."""

@overload
def rfft(
    x: Tensor,
    n: _int | None = None,
    axis: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The first half, n // 2 + 1 terms, of the transform of real numbers; the rest mirrors it."""

@overload
def rfft(
    x: Tensor,
    *,
    n: _int | None = None,
    dim: _int | Sequence[_int] | None = -1,
    norm: _str = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The first half, n // 2 + 1 terms, of the transform of real numbers; the rest mirrors it."""

def rfftfreq(
    n: _int,
    *,
    d: _float = 1.0,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the frequencies of rfft's terms for samples d apart."""

def rfftn(
    x: Tensor,
    *,
    s: _Ints | None = None,
    axes: _Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Transform real numbers along several axes: half the terms along the last of them."""
