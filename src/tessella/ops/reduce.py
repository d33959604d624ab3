"""Reductions over any axes, cumulative operations, and what is composed of them.

Sums run over fixed blocks joined in a fixed order, so that their bits depend on the shape and the
axes alone.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.arguments import to_bool, to_int, to_ints
from tessella.composites import Axes, Ints, composite
from tessella.declarations import Refusal, case, has_torch_axis, refusal, torch_axis
from tessella.dtypes import DTYPES, DType, as_dtype, boolean, float32
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast
from tessella.ops.creation import empty_beside, ones, ones_like
from tessella.ops.elementwise import conjugate, imag, mul, real, sqrt, where
from tessella.ops.joining import concat
from tessella.ops.movement import (
    broadcast_to,
    flip,
    getitem,
    normal_axes,
    permute,
    reshape,
    unsqueeze,
)

_NAMES: dict[str, int] = {name: i for i, name in enumerate(_core.reduce_names())}
_SCANS = ("cumulative_sum", "cumulative_prod", "logcumsumexp")  # in the order of ScanOp
_WITHOUT_IDENTITY = [_NAMES[name] for name in ("max", "min", "argmax", "argmin")]


def spread(g: Tensor, shape: Sequence[int], axis: Sequence[int], keepdims: bool) -> Tensor:
    """Repeat a reduced tensor over the axes it was reduced along."""
    if not keepdims and g.ndim:
        g = unsqueeze(g, tuple(axis))
    return broadcast_to(g, tuple(shape))


class Cut(Straight):
    """What may be asked for a dtype other than the one that it computes in."""

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Compute small integers in 64 bits, and cut them to what was asked for."""
        out = super().make(inputs, params)
        return cast(out, params["dtype"]) if "dtype" in params else out


class Reduce(Straight):
    """Many elements to one, over all, one or several axes."""

    fast = "reduce"
    needs_contiguous = True
    params = {"axis": None, "keepdims": False}

    def __init__(self, name: str, kernel: str = "", **record: Any) -> None:
        self.code = _NAMES[kernel or name]
        super().__init__(name, opcode=self.code, **record)

    def out_dtype(self, dtype: DType) -> DType:
        """Give the result's dtype: sums of integers are 64 bits wide."""
        found = _core.reduce_out_dtype(self.code, dtype.id)
        if found is None:
            allowed = [
                d.name for d in DTYPES if _core.reduce_out_dtype(self.code, d.id) is not None
            ]
            raise errors.no_kernel(dtype, f"defined for {', '.join(allowed)}; convert with astype")
        return DTYPES[found]

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Name the axes from 0 on, in order."""
        inputs, params = super().prepare(inputs, params)
        (x,) = inputs
        if params.get("dtype") is not None:
            x = cast(x, as_dtype(params["dtype"]))
        axis = tuple(sorted(reduced_axes(x, params["axis"])))
        self.out_dtype(x.dtype)
        if self.code in _WITHOUT_IDENTITY and not math.prod(x.shape[a] for a in axis):
            raise errors.empty_reduction(x.shape)
        return [x], {"axis": axis, "keepdims": to_bool("keepdims", params["keepdims"])}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Drop the reduced axes, or keep them with size 1."""
        (x,), axis = inputs, params["axis"]
        if params["keepdims"]:
            shape = [1 if i in axis else size for i, size in enumerate(x.shape)]
        else:
            shape = [size for i, size in enumerate(x.shape) if i not in axis]
        return shape, self.out_dtype(x.dtype)

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        _core.reduce(self.code, out, inputs[0], params["axis"], interruptible)


def reduced_axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    """Give the axes a reduction names, checked; None is all of them."""
    if axis is None:
        return tuple(range(x.ndim))
    axes = normal_axes(x, axis)
    for i, a in enumerate(axes):
        if a in axes[:i]:
            raise errors.axis_repeated(a)
    return axes


class ReduceTo(Cut, Reduce):
    """A reduction that can be asked for a dtype, which the elements are converted to first."""

    params = {"axis": None, "keepdims": False, "dtype": None}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Remember what dtype was asked for, if it is not the one to compute in."""
        asked = params["dtype"]
        inputs, params = super().prepare(inputs, params)
        dtype = inputs[0].dtype
        return inputs, params if asked is None or self.out_dtype(dtype) is dtype else {
            **params, "dtype": dtype,
        }  # fmt: skip


class ReduceOne(Reduce):
    """A reduction to a position, over one axis or all."""

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Refuse several axes."""
        if params["axis"] is not None:
            params["axis"] = to_int("axis", params["axis"])
        return super().prepare(inputs, params)


_AXIS_ERRORS = [
    case((2, 3), axis=2, match="axis 2 is out of range"),
    case((2, 3), axis=(0, 0), match="repeated axis 0"),
    case((2, 3), axis=1.5, match="axis must be an integer or a tuple of integers, got float"),
    case((2, 3), keepdims=1, match="keepdims must be True or False, got int"),
]
_ONE_AXIS_ERRORS = [
    case((2, 3), axis=2, match="axis 2 is out of range"),
    case((2, 3), axis=(0, 1), match="axis must be an integer, got tuple"),
    case((0, 3), axis=0, match="no elements to choose from"),
]
_SAMPLES = [
    case((3, 4)), case((3, 4), axis=0), case((3, 4), axis=-1, keepdims=True),
    case((2, 3, 4), axis=(0, 2)), case((5,), axis=0), case(()), case((2, 0, 3), axis=0),
    case((300, 7), axis=0), case((3, 5000), axis=1), case((2, 3), axis=()),
]  # fmt: skip
_SHORT = [*(sample for sample in _SAMPLES if sample.shapes != ((3, 5000),)), case((3, 300), axis=1)]
_FILLED = [sample for sample in _SAMPLES if 0 not in sample.shapes[0]]
_ONE_AXIS = [case((3, 4)), case((3, 4), axis=0), case((2, 3, 4), axis=-2, keepdims=True), case(())]


def _product_of_others(x: Tensor, axis: Sequence[int]) -> Tensor:
    """For each element, the product of the others along the axes: right at zeros too."""
    kept = [i for i in range(x.ndim) if i not in axis]
    order = (*kept, *axis)
    moved = permute(x, order)
    lines = reshape(moved, (*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axis)))
    if not lines.size:
        return ones_like(x)
    last = lines.ndim - 1
    one = ones((*lines.shape[:-1], 1), dtype=x.dtype)
    before = concat([one, cumulative_prod(getitem(lines, key=(..., slice(None, -1))), last)], last)
    turned = flip(getitem(lines, key=(..., slice(1, None))), last)
    after = flip(concat([one, cumulative_prod(turned, last)], last), last)
    others = reshape(mul(before, after), moved.shape)
    return permute(others, tuple(order.index(i) for i in range(x.ndim)))


def _share(g: Tensor, x: Tensor, out: Tensor, axis: Sequence[int], keepdims: bool) -> Tensor:
    """Share a gradient equally among the elements that are the extremum."""
    chosen = x == spread(out, x.shape, axis, keepdims)
    number = sum(chosen.astype(x.dtype), axis=tuple(axis), keepdims=True)
    return where(chosen, spread(g, x.shape, axis, keepdims) / number, 0)


sum = ReduceTo(
    "sum", vjp=lambda g, x_shape, axis, keepdims: spread(g, x_shape, axis, keepdims),
    doc="The sum over axes; integers are summed in 64 bits.", ref="sum", samples=_SAMPLES,
    errors=_AXIS_ERRORS).function  # fmt: skip
mean = Reduce(
    "mean",
    vjp=lambda g, x_shape, axis, keepdims: spread(
        g / math.prod([x_shape[a] for a in axis]), x_shape, axis, keepdims
    ),
    doc="The mean over axes.",
    ref="mean",
    samples=_FILLED,
    errors=[*_AXIS_ERRORS, case((2,), dtype="int64", match="not defined for int64")],
).function
prod = ReduceTo(
    "prod", domain=(-1.04, 1.04), away=0.64,  # so that real and complex products stay in range
    vjp=lambda g, x, axis, keepdims: spread(g, x.shape, axis, keepdims)
    * conjugate(_product_of_others(x, axis)),
    doc="The product over axes; integers are multiplied in 64 bits.", ref="prod", samples=_SHORT,
    errors=_AXIS_ERRORS).function  # fmt: skip


def _extremum(name: str, doc: str, refuses: Sequence[Refusal] = ()) -> Function:
    """Make max, min, and what PyTorch calls them where they give the values alone."""
    return Reduce(
        name, name[-3:], ulps=0, doc=f"{doc} over axes; NaN if any is NaN.", ref=name[-3:],
        vjp=lambda g, x, out, axis, keepdims: _share(g, x, out, axis, keepdims),
        samples=_FILLED, refuses=refuses,
        errors=[*_AXIS_ERRORS, case((2, 0), match="no elements to choose from")],
    ).function  # fmt: skip


def _takes_two(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return "other" in keywords or (len(args) > 1 and isinstance(args[1], Tensor))


def _gives_places(name: str) -> list[Refusal]:
    def along(axis: str) -> Refusal:
        pair = (f"x.{name}(axis={axis}), x.arg{name}(axis={axis})", f"x.a{name}(dim={axis})")
        return refusal(f"x.{name}(dim={axis})", pair, "gives values and indices", has_torch_axis,
                       lambda *call: along(torch_axis(*call)))  # fmt: skip

    return [
        refusal(f"torch.{name}(x, y)", f"ts.{name}imum(x, y)", "is elementwise", _takes_two),
        along("1"),
    ]


max = _extremum("max", "The greatest", _gives_places("max"))
min = _extremum("min", "The smallest", _gives_places("min"))
amax = _extremum("amax", "The greatest")
amin = _extremum("amin", "The smallest")
any = Reduce("any", doc="Whether one is not zero.", ref="any", samples=_SAMPLES,
             example=">>> ts.any(ts.tensor([[0, 0], [0, 3]]), axis=0).tolist()\n[False, True]",
             errors=_AXIS_ERRORS).function  # fmt: skip
all = Reduce("all", doc="Whether none is zero.", ref="all", samples=_SAMPLES,
             example=">>> ts.all(ts.tensor([[0, 1], [2, 3]]), axis=0).tolist()\n[False, True]",
             errors=_AXIS_ERRORS).function  # fmt: skip
argmax = ReduceOne(
    "argmax", doc="Where the greatest is, in row-major order: the first, or the first NaN.",
    example=">>> ts.argmax(ts.tensor([[1, 7], [5, 3]]), axis=1).tolist()\n[1, 0]",
    ref="argmax", samples=_ONE_AXIS, errors=_ONE_AXIS_ERRORS).function  # fmt: skip
argmin = ReduceOne(
    "argmin", doc="Where the smallest is, in row-major order: the first, or the first NaN.",
    example=">>> ts.argmin(ts.tensor([[1, 7], [5, 3]]), axis=1).tolist()\n[0, 1]",
    ref="argmin", samples=_ONE_AXIS, errors=_ONE_AXIS_ERRORS).function  # fmt: skip


class Cumulative(Cut):
    """Running sums and products along one axis, in order."""

    has_twin = True
    params = {"axis": None, "dtype": None, "include_initial": False}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Choose the axis; a tensor of one axis needs no naming."""
        inputs, params = super().prepare(inputs, params)
        (x,), axis = inputs, params["axis"]
        if axis is None and x.ndim != 1:
            raise errors.axis_needed(x.ndim)
        if params["dtype"] is not None:
            x = cast(x, as_dtype(params["dtype"]))
        place = normal_axes(x, to_int("axis", 0 if axis is None else axis))[0]
        if to_bool("include_initial", params["include_initial"]):
            x = concat([self.identity(x, place), x], place)
        _, dtype = self.infer([x], {})
        if params["dtype"] is None or dtype is x.dtype:
            return [x], {"axis": place}
        return [x], {"axis": place, "dtype": x.dtype}

    def identity(self, x: Tensor, axis: int) -> Tensor:
        """Make the values that running sums or products along an axis of x begin with."""
        shape = [1 if i == axis else size for i, size in enumerate(x.shape)]
        out = empty_beside(x, shape, x.dtype)
        if not out.is_virtual:
            _core.fill(out, self.name == "cumulative_prod")
        return out

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep the shape; the dtype is the sum's."""
        found = _core.reduce_out_dtype(_NAMES["sum"], inputs[0].dtype.id)
        assert found is not None
        return inputs[0].shape, DTYPES[found]

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        _core.cumulate(_SCANS.index(self.name), out, inputs[0], params["axis"], interruptible)

    def overwrite(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> bool:
        """Overwrite unless the sums are still to be converted."""
        return "dtype" not in params and super().overwrite(out, inputs, params)


_CUMULATIVE = [
    case((5,)),
    case((3, 4), axis=0),
    case((2, 3, 4), axis=-2),
    case((0, 2), axis=0),
    case((3, 4), axis=1, include_initial=True),
]
_CUMULATIVE_ERRORS = [
    case((2, 3), match="axis must be named for a tensor of 2 axes"),
    case((2, 3), axis=2, match="axis 2 is out of range"),
    case((2,), include_initial=1, match="include_initial must be True or False"),
]


def part_of(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Give a slice of an axis."""
    return getitem(x, key=(slice(None),) * axis + (slice(start, stop),))


def carried_back(g: Tensor, factor: Tensor, axis: int) -> Tensor:
    """Give s[k] = g[k] + factor[k] s[k+1] along an axis; the last one is g's.

    The recurrence is solved by doubling: sums over runs of d elements join to sums over runs of 2d,
    where factor[k] has become factor[k] ... factor[k+d-1].
    """
    s, d, size = g, 1, g.shape[axis]
    while d < size:
        joined = part_of(s, axis, None, -d) + factor * part_of(s, axis, d, None)
        s = concat([joined, part_of(s, axis, -d, None)], axis)
        # Products that would reach beyond the end are not needed.
        factor = part_of(factor, axis, None, -d) * part_of(factor, axis, d, None)
        d *= 2
    return s


def _slope_of_products(g: Tensor, x: Tensor, out: Tensor, axis: int) -> Tensor:
    """Multiply the product before each x[k] with s[k] = g[k] + x[k+1] s[k+1].

    Nothing is divided, so that it is right at zeros.
    """
    if x.shape[axis] < 2:
        return g
    s = carried_back(g, part_of(conjugate(x), axis, 1, None), axis)
    before = concat(
        [ones_like(part_of(x, axis, 0, 1)), part_of(conjugate(out), axis, None, -1)], axis
    )
    return before * s


cumulative_sum = Cumulative(
    "cumulative_sum", aliases=["cumsum"],
    vjp=lambda g, axis: flip(cumulative_sum(flip(g, axis), axis), axis),
    doc="Running sums along an axis; include_initial puts a 0 in front.", ref="cumulative_sum",
    samples=_CUMULATIVE, errors=_CUMULATIVE_ERRORS).function  # fmt: skip
cumulative_prod = Cumulative(
    "cumulative_prod", aliases=["cumprod"],
    vjp=lambda g, x, out, axis: _slope_of_products(g, x, out, axis),
    doc="Running products along an axis; include_initial puts a 1 in front.", ref="cumulative_prod",
    example=">>> ts.cumulative_prod(ts.tensor([1, 2, 3, 4])).tolist()\n[1, 2, 6, 24]",
    samples=_CUMULATIVE, errors=_CUMULATIVE_ERRORS, domain=(-1.4, 1.4)).function  # fmt: skip


# --- composed ------------------------------------------------------------------------------------


def _has_no_correction(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return has_torch_axis(args, keywords) and "correction" not in keywords


def _divides_otherwise(name: str) -> list[Refusal]:
    why = "divides by n - 1, in the array API standard by n"

    def along(axis: str) -> Refusal:
        pair = (f"x.{name}(dim={axis}, correction=1)", f"x.{name}(axis={axis})")
        return refusal(f"x.{name}(dim={axis})", pair, why, _has_no_correction,
                       lambda *call: along(torch_axis(*call)))  # fmt: skip

    return [
        refusal(f"x.{name}(unbiased=False)", f"x.{name}(correction=0)", "divides by n",
                lambda args, keywords: keywords.get("unbiased", 1) in (0, None)),
        refusal(f"x.{name}(unbiased=True)", f"x.{name}(correction=1)", "divides by n - 1",
                lambda args, keywords: "unbiased" in keywords),
        along("1"),
    ]  # fmt: skip


_SPREADS = {
    "samples": [case((3, 4)), case((3, 4), axis=0, correction=1),
                case((2, 3, 4), axis=(0, 2), keepdims=True)],
    "errors": [case((2, 3), axis=2, match="axis 2 is out of range"),
               case((2,), dtype="int64", match="not defined for int64"),
               case((2,), correction="1", match="correction must be a real number")],
}  # fmt: skip


@composite(ref=lambda np, x, correction=0, **rest: np.var(x, ddof=correction, **rest),
           refuses=_divides_otherwise("var"), **_SPREADS)  # fmt: skip
def var(x: Tensor, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Give the variance over axes: the mean square distance from the mean, also of complex
    numbers.

    `correction` is subtracted from the number of elements: 1 gives the unbiased estimate.

    >>> ts.var(ts.tensor([1.0, 2.0, 3.0, 4.0])).item()
    1.25
    """
    return _of_width(_variance(x, axis, correction, keepdims), x)


def _of_width(spread: Tensor, x: Tensor) -> Tensor:
    """Round to the dtype of floats x; of complex x, a spread is real already."""
    return cast(spread, x.dtype) if x.dtype.is_floating else spread


def _variance(x: Tensor, axis: Any, correction: float, keepdims: bool) -> Tensor:
    """Compute it in float32 at least; of complex numbers, the mean of |x - mean|^2."""
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    axes = reduced_axes(x, axis)
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    distance = wide - mean(wide, axis=axes, keepdims=True)
    count = math.prod(x.shape[a] for a in axes) - correction
    square = distance * distance
    if x.dtype.is_complex:
        square = real(distance) * real(distance) + imag(distance) * imag(distance)
    total = sum(square, axis=axes, keepdims=keepdims)
    return total / (count if count > 0 else 0.0)


def root(total: Tensor) -> Tensor:
    """Give sqrt(total), with the slope 0 at 0: there norms and deviations have a tip."""
    if not total.requires_grad:
        return sqrt(total)
    is_zero = total == 0
    return where(is_zero, 0, sqrt(where(is_zero, 1, total)))


@composite(ref=lambda np, x, correction=0, **rest: np.std(x, ddof=correction, **rest),
           refuses=_divides_otherwise("std"), distinct=True, **_SPREADS)  # fmt: skip
def std(x: Tensor, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Give the standard deviation over axes: the root of the variance.

    >>> ts.std(ts.tensor([2.0, 4.0])).item()
    1.0
    """
    return _of_width(root(_variance(x, axis, correction, keepdims)), x)


@composite(
    ref="count_nonzero",
    samples=[case((3, 4)), case((3, 4), axis=0), case((2, 3, 4), axis=(0, 2), keepdims=True),
             case((2, 0), axis=1)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range")],
)  # fmt: skip
def count_nonzero(x: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    """Count the elements over axes that are not zero.

    >>> ts.count_nonzero(ts.tensor([[0, 7], [8, 9]]), axis=0).tolist()
    [1, 2]
    """
    return sum(x if x.dtype is boolean else x != 0, axis=axis, keepdims=keepdims)


@composite(
    ref=lambda np, x, shape: x.sum(0, keepdims=True).reshape(shape), variadic="shape",
    aliases=["sum_to_size"],
    samples=[case((2, 3), shape=(1, 3)), case((2, 3), shape=(3,))],
    errors=[case((2, 3), shape=(2,), match="do not broadcast"),
            case((1, 3), shape=(2, 3), match="shape is")],
)  # fmt: skip
def sum_to_shape(x: Tensor, shape: Ints) -> Tensor:
    """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting.

    The dtype is that of ts.sum. A tensor of floats that has the shape is given as it is.

    >>> ts.sum_to_shape(ts.arange(6.0).reshape(2, 3), (1, 3)).tolist()
    [[3.0, 5.0, 7.0]]
    """
    target = to_ints("shape", shape)
    if tuple(_core.broadcast_shapes(x.shape, target)) != x.shape:
        raise errors.wrong_value("shape", target, f"one that broadcasts to {x.shape}")
    if x.shape == target and (x.dtype.is_floating or x.dtype.is_complex):
        return x
    added = x.ndim - len(target)
    axes = [i for i in range(x.ndim) if i < added or (target[i - added] == 1 and x.shape[i] != 1)]
    return reshape(sum(x, axis=tuple(axes)), target)
