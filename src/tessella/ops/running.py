"""Running extremes with their places, and running sums of exponentials, along an axis."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_int
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import DType, float32, int64
from tessella.hints import Any, Sequence
from tessella.kinds import cast
from tessella.ops.elementwise import exp, isinf, where
from tessella.ops.index import take_along_axis
from tessella.ops.movement import normal_axes
from tessella.ops.ordering import Ordered, sorted_axis
from tessella.ops.reduce import Cumulative, carried_back, part_of
from tessella.records import Op


def _running(x: Tensor, axis: int, is_greatest: bool) -> Ordered:
    place = sorted_axis(x, axis)
    wide = cast(x, float32) if x.dtype.is_floating and x.dtype.itemsize == 2 else x
    indices = _core.empty(x.shape, int64.id)
    if x.size:
        _core.cumulate_places(is_greatest, indices, wide.detach(), place)
    return Ordered(take_along_axis(x, indices, place), indices)


def _running_ref(name: str) -> Any:
    def reference(np: Any, x: Any, axis: int) -> Any:
        values = getattr(np, name).accumulate(x, axis)
        lines, best = np.moveaxis(x, axis, 0), np.moveaxis(values, axis, 0)
        count = np.arange(len(lines)).reshape(-1, *[1] * (x.ndim - 1))
        here = np.where((lines == best) | (lines != lines), count, 0)
        return values, np.moveaxis(np.maximum.accumulate(here), 0, axis)

    return reference


_RUNNING: dict[str, Any] = {
    "ulps": 0, "step": True,
    "samples": [case((7,), 0), case((3, 5), axis=0), case((3, 5), -1), case((2, 30, 3), 1),
                case((0, 2), 0)],
    "errors": [case((2, 3), 2, match="axis 2 is out of range"), case((), 0, match="x.ndim is 0"),
               case((2,), 0, dtype="complex64", match="not defined for complex64")],
}  # fmt: skip


@composite(ref=_running_ref("maximum"), **_RUNNING)
def cummax(x: Tensor, axis: int) -> Ordered:
    """Give the greatest elements so far along an axis, and where they are.

    Of equal ones it is the last. A NaN is greater than every number, and stays.

    >>> values, indices = ts.cummax(ts.tensor([1, 5, 3, 5]), 0)
    >>> values.tolist(), indices.tolist()
    ([1, 5, 5, 5], [0, 1, 1, 3])
    """
    return _running(x, axis, True)


@composite(ref=_running_ref("minimum"), **_RUNNING)
def cummin(x: Tensor, axis: int) -> Ordered:
    """Give the smallest elements so far along an axis, and where they are.

    Of equal ones it is the last. A NaN is taken for less than every number, and stays.

    >>> values, indices = ts.cummin(ts.tensor([4, 2, 3, 2]), 0)
    >>> values.tolist(), indices.tolist()
    ([4, 2, 2, 2], [0, 1, 1, 3])
    """
    return _running(x, axis, False)


# --- sums of exponentials ------------------------------------------------------------------------


class RunningLogSum(Cumulative):
    """Logarithms of running sums of exponentials along one axis, in order."""

    params = {"axis": None}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Choose the axis; a tensor of one axis needs no naming."""
        (x,), params = Op.prepare(self, inputs, params)
        if not x.dtype.is_floating:
            raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
        axis = params["axis"]
        if axis is None and x.ndim != 1:
            raise errors.axis_needed(x.ndim)
        return [x], {"axis": normal_axes(x, to_int("axis", 0 if axis is None else axis))[0]}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep shape and dtype."""
        return inputs[0].shape, inputs[0].dtype


def _share(x: Tensor, total: Tensor) -> Tensor:
    """Give e ** (x - total); an infinity has the whole of a total that is the same."""
    is_whole = isinf(x) & (x == total)
    return exp(where(is_whole, 0, x) - where(is_whole, 0, total))


def _slope_of_log_sums(g: Tensor, x: Tensor, out: Tensor, axis: int) -> Tensor:
    """Multiply the share of x[k] in its sum with s[k] = g[k] + e ** (out[k] - out[k+1]) s[k+1].

    No exponent is positive, so that nothing overflows.
    """
    if x.shape[axis] < 2:
        return g
    steps = _share(part_of(out, axis, None, -1), part_of(out, axis, 1, None))
    return carried_back(g, steps, axis) * _share(x, out)


logcumsumexp = RunningLogSum(
    "logcumsumexp",
    vjp=lambda g, x, out, axis: _slope_of_log_sums(g, x, out, axis),
    doc="The logarithm of running sums of e ** x along an axis, without overflow.",
    ref=lambda np, x, axis=0: np.logaddexp.accumulate(x, axis),
    samples=[case((5,)), case((3, 4), axis=0), case((2, 3, 4), axis=-2), case((0, 2), axis=0),
             case((40, 30), axis=0), case((3, 1), axis=1)],
    errors=[case((2, 3), match="axis must be named for a tensor of 2 axes"),
            case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2,), dtype="int64", match="not defined for int64")],
).function  # fmt: skip
