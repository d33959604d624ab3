"""Complex numbers from their parts, and their parts as real numbers.

A complex number lies in memory as its two parts side by side, so each is a view of the other.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Layout, Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import DType, boolean, complex64, complex128, float32, float64
from tessella.hints import Any, Sequence
from tessella.kinds import View, cast, common_dtype
from tessella.ops.composite import contiguous
from tessella.ops.creation import ones
from tessella.ops.elementwise import conjugate, cos, imag, mul, sin
from tessella.ops.joining import stack
from tessella.ops.movement import broadcast_to, transpose

_WHOLES = {float32: complex64, float64: complex128}
_PARTS = {complex64: float32, complex128: float64}


class Bitcast(View):
    """The same memory as another dtype, with a last axis of 2 more or less."""

    def __init__(self, name: str, *, targets: dict[DType, DType], **record: Any) -> None:
        self.targets = targets
        super().__init__(name, params={}, **record)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Refuse dtypes without a counterpart, and real numbers that are no pairs."""
        (x,), params = super().prepare(inputs, params)
        if x.dtype not in self.targets:
            names = " and ".join(dtype.name for dtype in self.targets)
            raise errors.no_kernel(x.dtype, f"defined for {names}; convert with astype")
        if x.dtype.is_floating and x.shape[-1:] != (2,):
            raise errors.wrong_value("x.shape", x.shape, "pairs: the last axis has size 2")
        return [x], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the layout."""
        (x,) = inputs
        return self.layout(_core.layout_of(x)).shape, self.targets[x.dtype]

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Share the buffer; the axis of 2 stands last while the dtype changes."""
        (x,) = inputs
        target = self.targets[x.dtype].id
        if x.dtype.is_complex:
            return _core.bitcast(_core.view(x, _core.layout_of(x).unsqueeze((-1,))), target)
        seen = _core.bitcast(x, target)
        return _core.view(seen, _core.layout_of(seen).squeeze((-1,)))


def _layout_of_parts(layout: Layout) -> Layout:
    return layout.unsqueeze((-1,)).bitcast(2, 1)


def _layout_of_wholes(layout: Layout) -> Layout:
    return layout.bitcast(1, 2).squeeze((-1,))


view_as_real = Bitcast(
    "view_as_real", targets=_PARTS, layout=_layout_of_parts,
    vjp=lambda g: view_as_complex(contiguous(g)),
    doc="Complex numbers as a last axis of 2, real and imaginary part: a view.",
    example=">>> ts.view_as_real(ts.tensor([1 + 2j])).tolist()\n[[1.0, 2.0]]",
    ref=lambda np, x: np.stack([x.real, x.imag], -1),
    samples=[case((3, 4)), case(()), case((2, 0))],
    errors=[case((2,), match="not defined for float32")],
).function  # fmt: skip
view_as_complex = Bitcast(
    "view_as_complex", targets=_WHOLES, layout=_layout_of_wholes,
    vjp=lambda g: view_as_real(g),
    doc="A last axis of 2, real and imaginary part, as complex numbers: a view. The pairs must lie "
        "side by side in memory.",
    ref=lambda np, x: x[..., 0] + 1j * x[..., 1],
    samples=[case((3, 4, 2), layouts="contiguous"), case((2,), layouts="contiguous"),
             case((0, 2), layouts="contiguous")],
    errors=[case((2, 3), match=r"x.shape is \(2, 3\)"), case((), match=r"x.shape is \(\)"),
            case((2,), dtype="int64", match="not defined for int64")],
).function  # fmt: skip


def joined(real: Tensor, imag: Tensor) -> Tensor:
    """Make complex numbers of their parts, which have one shape and dtype."""
    out = view_as_complex(stack([real, imag], -1))
    _core.forget_base(out)  # which is here only
    return out


def _parts(names: tuple[str, str], first: Tensor, second: Tensor) -> list[Tensor]:
    """Give two real tensors in one dtype and shape."""
    dtype = common_dtype(names, [first, second])
    if dtype not in _WHOLES:
        raise errors.no_kernel(dtype, "defined for float32 and float64; convert with astype")
    shape = _core.broadcast_shapes(first.shape, second.shape)
    return [broadcast_to(cast(x, dtype), shape) for x in (first, second)]


_PAIRS: dict[str, Any] = {
    "is_method": False, "samples": [case((3, 4), (3, 4)), case((3, 1), (4,)), case((), (2, 0))],
    "errors": [case((2,), (3,), match="do not broadcast"),
               case((2,), (2,), dtype="int64", match="not defined for int64")],
}  # fmt: skip


@composite(ref=lambda np, real, imag: real + 1j * imag, ulps=0, **_PAIRS)
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Make complex numbers of their real and imaginary parts.

    >>> ts.complex(ts.tensor([1.0]), ts.tensor([2.0])).tolist()
    [(1+2j)]
    """
    return joined(*_parts(("real", "imag"), real, imag))


@composite(ref=lambda np, abs, angle: abs * np.exp(1j * angle), **_PAIRS)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Make complex numbers of their absolute values and angles.

    >>> ts.polar(ts.tensor([2.0]), ts.tensor([0.0])).tolist()
    [(2+0j)]
    """
    size, turn = _parts(("abs", "angle"), abs, angle)
    return joined(mul(size, cos(turn)), mul(size, sin(turn)))


@composite(ref="isreal", ulps=0, has_twin=True, samples=[case((3, 4)), case(()), case((2, 0))])
def isreal(x: Tensor) -> Tensor:
    """Tell where the imaginary part is 0: everywhere, if x is not complex.

    >>> ts.isreal(ts.tensor([1 + 0j, 2j])).tolist()
    [True, False]
    """
    return imag(x) == 0 if x.dtype.is_complex else ones(x.shape, dtype=boolean)


@composite(
    ref=lambda np, x: np.conj(np.swapaxes(x, -1, -2)), ulps=0, gives="view",
    samples=[case((3, 4)), case((2, 3, 4)), case((0, 2))],
    errors=[case((3,), match="axis -2 is out of range")],
)  # fmt: skip
def adjoint(x: Tensor) -> Tensor:
    """Exchange the last two axes, and take the conjugate of complex numbers.

    >>> ts.adjoint(ts.tensor([[1 + 2j, 3j]])).tolist()
    [[(1-2j)], [-3j]]
    """
    turned = transpose(x, -2, -1)
    return conjugate(turned) if x.dtype.is_complex else turned
