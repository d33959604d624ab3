"""Discrete Fourier transforms along one axis, and their composites over several.

The four records are linear, and the gradient of each is another of them, up to weights.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_count, to_int, to_word
from tessella.declarations import case
from tessella.dtypes import DType, complex64, complex128, float32, float64
from tessella.hints import Any, Literal, Sequence
from tessella.host import Host
from tessella.kinds import cast
from tessella.ops.creation import arange, zeros
from tessella.ops.elementwise import where
from tessella.ops.joining import concat
from tessella.ops.movement import normal_axes, reshape

Norm = Literal["backward", "ortho", "forward"]
NORMS = ["backward", "ortho", "forward"]
# The scale of a transform's adjoint, and of the inverse by the other direction.
SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_COMPLEX = {float32: complex64, float64: complex128}
_REAL = {complex64: float32, complex128: float64}


class Transform(Host):
    """A transform along one axis, which is cut or filled with zeros to n first."""

    def __init__(self, name: str, *, is_real: bool, **record: Any) -> None:
        self.is_real = is_real  # whether the operand is
        super().__init__(
            name, home="fft", params={"n": None, "axis": -1, "norm": "backward"},
            compute=lambda np, x, n, axis, norm: getattr(np.fft, name)(
                _filled(np, x, axis), n, axis, norm),
            shape=self.out_shape, **record,
        )  # fmt: skip

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Count the axis from 0 and name the length."""
        (x,), params = super().prepare(inputs, params)
        axis = normal_axes(x, to_int("axis", params["axis"]))[0]
        n = params["n"]
        if n is None:
            n = x.shape[axis]
            n = 2 * (n - 1) if self.name == "fft.irfft" else n
        return [x], {
            "n": to_count("n", n),
            "axis": axis,
            "norm": to_word("norm", params["norm"], NORMS),
        }

    def computed_dtype(self, dtype: DType) -> DType:
        """Integers become float32; the operand of a complex transform is complex."""
        if not (dtype.is_floating or dtype.is_complex):
            dtype = float32
        dtype = super().computed_dtype(dtype)
        if self.is_real and dtype.is_complex:
            raise errors.no_kernel(dtype, "defined for real numbers; fft takes complex ones")
        return dtype if self.is_real else _COMPLEX.get(dtype, dtype)

    def out_shape(self, x: Tensor, n: int, axis: int, norm: str) -> Sequence[int]:
        """Put the length of the result in place of the axis."""
        size = n // 2 + 1 if self.name == "fft.rfft" else n
        return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def _filled(np: Any, x: Any, axis: int) -> Any:
    """Put a zero into an empty axis: NumPy's irfft would read memory that nobody wrote."""
    if x.shape[axis]:
        return x
    shape = list(x.shape)
    shape[axis] = 1
    return np.zeros(shape, x.dtype)


def resized(x: Tensor, size: int, axis: int) -> Tensor:
    """Cut an axis to a size, or fill it with zeros: what a transform does to its operand."""
    given = x.shape[axis]
    if given >= size:
        return x if given == size else x[(slice(None),) * axis + (slice(None, size),)]
    shape = list(x.shape)
    shape[axis] = size - given
    return concat([x, zeros(tuple(shape), dtype=x.dtype)], axis)


def _weights(n: int, axis: int, ndim: int, inner: float, dtype: DType) -> Tensor:
    """Give the weights of half a spectrum: `inner`, and 1 where a term has no mirror image."""
    k = arange(n // 2 + 1)
    ends = where((k == 0) | (k * 2 == n), 1.0, inner)
    return reshape(cast(ends, dtype), (-1,) + (1,) * (ndim - 1 - axis))


def _rfft_back(g: Tensor, x_shape: Sequence[int], n: int, axis: int, norm: str) -> Tensor:
    """Give irfft(g), with those bins halved that stand for two, by the opposite norm."""
    halved = g * _weights(n, axis, g.ndim, 0.5, g.dtype)
    return resized(irfft(halved, n, axis, SWAPPED[norm]), x_shape[axis], axis)


def _irfft_back(g: Tensor, x_shape: Sequence[int], n: int, axis: int, norm: str) -> Tensor:
    """Give rfft(g), with those bins doubled that stand for two, by the opposite norm."""
    spectrum = rfft(g, n, axis, SWAPPED[norm])
    doubled = spectrum * _weights(n, axis, g.ndim, 2.0, spectrum.dtype)
    return resized(doubled, x_shape[axis], axis)


_COMMON = [
    case((3, 4), axis=0), case((2, 5), n=4), case((2, 5), n=7, norm="ortho"), case((0, 4)),
    case((4, 2, 3), axis=-3, norm="forward"), case((2, 3), n=1), case((2,), n=12),
]  # fmt: skip
_SAMPLES = [case((6,)), case((2, 0), n=3), case((5,)), case((1,)), *_COMMON]
_HALF = [case((4,)), case((2, 0), n=3), case((5,), n=9), *_COMMON]
_ERRORS = [
    case((4,), axis=1, match="axis 1 is out of range"), case((4,), n=0, match="n is 0"),
    case((4,), norm="other", match="norm is 'other'"),
    case((4,), n=2.5, match="n must be an integer"), case((0,), match="n is "),
]  # fmt: skip


def _ref(name: str) -> Any:
    # NumPy would transform bools in half precision.
    def transform(np: Any, x: Any, **params: Any) -> Any:
        return getattr(np.fft, name)(_filled(np, x * 1.0, params.get("axis", -1)), **params)

    return transform


fft = Transform(
    "fft", is_real=False, ref=_ref("fft"), samples=_SAMPLES, errors=_ERRORS,
    vjp=lambda g, x_shape, n, axis, norm: resized(
        ifft(g, n, axis, SWAPPED[norm]), x_shape[axis], axis),
    doc="The discrete Fourier transform along an axis: sum over j of x[j] e^(-2πi jk/n).",
    example=">>> ts.fft.fft(ts.tensor([1.0, 2.0, 3.0, 4.0])).tolist()\n"
            "[(10+0j), (-2+2j), (-2+0j), (-2-2j)]",
).function  # fmt: skip
ifft = Transform(
    "ifft", is_real=False, ref=_ref("ifft"), samples=_SAMPLES, errors=_ERRORS,
    vjp=lambda g, x_shape, n, axis, norm: resized(
        fft(g, n, axis, SWAPPED[norm]), x_shape[axis], axis),
    doc="The inverse of fft: the mean over k of x[k] e^(2πi jk/n).",
    example=">>> ts.fft.ifft(ts.fft.fft(ts.tensor([1.0, 2.0]))).tolist()\n[(1+0j), (2+0j)]",
).function  # fmt: skip
rfft = Transform(
    "rfft", is_real=True, ref=_ref("rfft"), samples=_SAMPLES, errors=_ERRORS,
    dtype=lambda dtype: _COMPLEX[dtype],
    vjp=lambda g, x_shape, n, axis, norm: _rfft_back(g, x_shape, n, axis, norm),
    doc="The first half, n // 2 + 1 terms, of the transform of real numbers; the rest mirrors it.",
    example=">>> ts.fft.rfft(ts.tensor([1.0, 2.0, 3.0, 4.0])).tolist()\n"
            "[(10+0j), (-2+2j), (-2+0j)]",
).function  # fmt: skip
irfft = Transform(
    "irfft", is_real=False, ref=_ref("irfft"), samples=_HALF, errors=_ERRORS,
    dtype=lambda dtype: _REAL[dtype],
    vjp=lambda g, x_shape, n, axis, norm: _irfft_back(g, x_shape, n, axis, norm),
    doc="The inverse of rfft: n real numbers, by default 2 * (m - 1) of m terms.",
    example=">>> ts.fft.irfft(ts.fft.rfft(ts.tensor([1.0, 2.0]))).tolist()\n[1.0, 2.0]",
).function  # fmt: skip
