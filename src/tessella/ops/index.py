"""Advanced indexing: gather, and its gradient, scatter. Keys are resolved in indexing.py."""

from __future__ import annotations

import math

from tessella import _core, errors, inplace
from tessella._core import Tensor
from tessella.arguments import LISTS, NUMBERS, to_number
from tessella.composites import Operand, Shape, composite
from tessella.declarations import REQUIRED, case, describe, refusal
from tessella.dtypes import DType, boolean, float32, int64
from tessella.exchange import is_shareable, share
from tessella.hints import Any, Sequence
from tessella.indexing import Gathering, converted, is_basic
from tessella.kinds import cast
from tessella.limits import limited
from tessella.ops import masks
from tessella.ops.creation import arange, copy_of, full, zeros
from tessella.ops.elementwise import floor_divide, remainder, where
from tessella.ops.movement import broadcast_to, getitem, normal_axes, reshape
from tessella.records import Op
from tessella.tensors import tensor


class Gather(Op):
    """x[indices] over some axes; the indices are parameters, not operands."""

    items = "moved"
    params = {"axes": REQUIRED, "indices": REQUIRED, "place": 0}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Put the index shape in place of the indexed axes."""
        (x,), place = inputs, params["place"]
        rest = [size for i, size in enumerate(x.shape) if i not in params["axes"]]
        shape: Sequence[int] = ()
        for index in params["indices"]:
            shape = _core.broadcast_shapes(shape, index.shape)
        return (*rest[:place], *shape, *rest[place:]), x.dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Check every index, then copy."""
        _core.gather(out, inputs[0], params["axes"], params["indices"], params["place"])


class Scatter(Op):
    """Zeros of a shape with x added at the indices: the gradient of gather."""

    params = {"shape": REQUIRED, "axes": REQUIRED, "indices": REQUIRED, "place": 0}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Take the shape of what was gathered from."""
        return params["shape"], inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Equal indices add up in row-major order; halves in float32, rounded once."""
        if out.dtype.itemsize == 2 and out.dtype.is_floating:
            wide, x = (_core.empty(each.shape, float32.id) for each in (out, inputs[0]))
            _core.copy(x, inputs[0], True)
            self.run(wide, [x], params)
            _core.copy(out, wide, True)
            return
        _core.fill(out, False)
        _core.scatter_add(inputs[0], out, params["axes"], params["indices"], params["place"])


def _gather_ref(np: Any, x: Any, axes: Any, indices: Any, place: int = 0) -> Any:
    found = np.moveaxis(x, axes, range(len(axes)))[tuple(indices)]
    count = np.broadcast(*indices).ndim
    return np.moveaxis(found, range(count), range(place, place + count))


def _scatter_ref(np: Any, x: Any, shape: Any, axes: Any, indices: Any, place: int = 0) -> Any:
    out = np.zeros(shape, x.dtype)
    count = np.broadcast(*indices).ndim
    moved = np.moveaxis(x, range(place, place + count), range(count))
    np.add.at(np.moveaxis(out, axes, range(len(axes))), tuple(indices), moved)
    return out


gather_axes = Gather(
    "gather_axes", ulps=0, is_function=False, is_method=False,
    vjp=lambda g, x_shape, axes, indices, place: scatter_axes(g, x_shape, axes, indices, place),
    doc="The elements at index tensors over some axes.", ref=_gather_ref,
    samples=[case((4, 5), axes=(0,), indices=(arange(3),)),
             case((4, 5, 3), axes=(0, 1), indices=(arange(2, -1, -1), arange(3)), place=1),
             case((4, 5), axes=(1,), indices=(zeros((2, 3), dtype=int64),), place=1)],
    errors=[case((4, 5), axes=(0,), indices=(arange(3, 5),), match="index 4 is out of bounds")],
).function  # fmt: skip
scatter_axes = Scatter(
    "scatter_axes", is_function=False, is_method=False,
    vjp=lambda g, axes, indices, place: gather_axes(g, axes, indices, place),
    doc="Zeros with x added at index tensors over some axes.", ref=_scatter_ref,
    samples=[case((3, 5), shape=(4, 5), axes=(0,), indices=(arange(3),)),
             case((3, 3), shape=(4, 5, 3), axes=(0, 1), indices=(arange(2, -1, -1), arange(3))),
             case((4, 2, 3), shape=(4, 5), axes=(1,), indices=(zeros((2, 3), dtype=int64),),
                  place=1)],
    errors=[case((2, 5), shape=(4, 5), axes=(0,), indices=(arange(3, 5),),
                 match="index 4 is out of bounds")],
).function  # fmt: skip


def index_shape(indices: Sequence[Tensor]) -> tuple[int, ...]:
    """Give the shape that index tensors broadcast to."""
    shape: tuple[int, ...] = ()
    for index in indices:
        shape = _core.broadcast_shapes(shape, index.shape)
    return shape


class Put(Op):
    """A copy of x with values at the indices over some axes."""

    items = "moved"
    operands = ("x", "values")
    params = {"axes": REQUIRED, "indices": REQUIRED, "place": 0}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Spread the values over what is indexed, in the dtype of x."""
        (x, values), params = super().prepare(inputs, params)
        inplace.check_kinds(x, values)
        place = params["place"]
        rest = [size for i, size in enumerate(x.shape) if i not in params["axes"]]
        target = (*rest[:place], *index_shape(params["indices"]), *rest[place:])
        return [x, broadcast_to(cast(values, x.dtype), target)], params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep shape and dtype of x."""
        return inputs[0].shape, inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Copy x, then write."""
        _core.copy(out, inputs[0], True)
        _core.scatter(inputs[1], out, params["axes"], params["indices"], params["place"])


def _is_last(x_shape: Sequence[int], values_shape: Sequence[int], axes: Sequence[int],
             indices: Sequence[Tensor], place: int) -> Tensor:  # fmt: skip
    """Tell for each value whether it stays: whether no later one has the same indices."""
    shape = index_shape(indices)
    order = reshape(arange(math.prod(shape)), shape)
    slots = zeros([x_shape[a] for a in axes], dtype=int64)
    every = tuple(range(len(axes)))
    _core.scatter(order, slots, every, list(indices), 0)
    stays = gather_axes(slots, every, tuple(indices), 0) == order
    after = len(values_shape) - place - len(shape)
    return reshape(stays, (1,) * place + shape + (1,) * after)


def _put_ref(np: Any, x: Any, values: Any, axes: Any, indices: Any, place: int = 0) -> Any:
    out = x.copy()
    count = np.broadcast(*indices).ndim
    target = np.moveaxis(out, axes, range(len(axes)))
    moved = np.moveaxis(values, range(place, place + count), range(count))
    target[tuple(indices)] = moved
    return out


PUT_ERRORS = [case((4, 5), (2, 5), axes=(0,), indices=(arange(3, 5),),
                   match="index 4 is out of bounds")]  # fmt: skip
PUT_SAMPLES = [
    case((4, 5), (3, 5), axes=(0,), indices=(arange(3),)),
    case((4, 5), (3, 5), axes=(0,), indices=(full((3,), 1),)),
    case((4, 5), (4, 2), axes=(1,), indices=(arange(2),), place=1),
    case((4, 5), (3,), axes=(0, 1), indices=(arange(3), arange(2, -1, -1))),
]
put_axes = Put(
    "put_axes", ulps=0, is_function=False, is_method=False,
    vjp=(lambda g, values_shape, axes, indices, place: put_axes(
            g, zeros(values_shape, dtype=g.dtype), axes, indices, place),
         lambda g, x_shape, values_shape, axes, indices, place: where(
            _is_last(x_shape, values_shape, axes, indices, place),
            gather_axes(g, axes, indices, place), 0)),
    doc="A copy with values at index tensors over some axes.", ref=_put_ref, samples=PUT_SAMPLES,
    errors=PUT_ERRORS,
).function  # fmt: skip


def _leading_indices(x: Tensor, key: Any) -> tuple[Tensor, ...]:
    """Give a key of int64 tensors over the first axes, if x[key] is to be recorded; or none."""
    items = key if isinstance(key, tuple) else (key,)
    for item in items:
        if not isinstance(item, Tensor) or item.dtype is not int64 or not item.ndim:
            return ()
    return items if _core.needs_node(x) else ()


def get(x: Tensor, key: Any) -> Tensor:
    """Do x[key]."""
    try:
        if is_basic(key):
            return getitem(x, key=key)
        given = converted(key)
        if given is not key:
            return x[given]  # by the fast path, or back to here
        if leading := _leading_indices(x, key):
            out = x.detach()[key]  # by the fast path
            places = {"axes": tuple(range(len(leading))), "indices": leading, "place": 0}
            _core.record(out, gather_axes, (x,), places)
            return out
        plan = Gathering(x, key)
        basic = getitem(x, key=plan.basic) if plan.basic is not None else x
        return gather_axes(basic, tuple(plan.axes), tuple(plan.indices), plan.place)
    except errors.TessellaError as error:
        error.operation = ""
        raise error.locate("getitem", [f"x    {describe(x)}", f"key  {describe(key)}"]) from None


def set(x: Tensor, key: Any, value: Any) -> None:
    """Do x[key] = value; NotImplemented stands for `del x[key]`."""
    if value is NotImplemented:
        shown = [f"x    {describe(x)}", f"key  {describe(key)}"]
        raise errors.kept_elements().locate("delitem", shown)
    try:
        inplace.check_target(x)
        source = _value_tensor(value, x.dtype)
        is_recorded = _core.needs_node(x, source)
        if is_recorded:
            inplace.check_seen(x)
        if is_basic(key) and not _has_values(key):
            target = x.detach()[key]
            inplace.write(target, source.detach())
            if is_recorded:
                inplace.record_write(x, target, source)
            return
        if (is_recorded or _core.is_recording()) and (masked := masks.find_mask(x, key)):
            _write_masked(x, masked, source, is_recorded)
            return
        plan = Gathering(x, key)
        base = x.detach() if plan.basic is None else getitem(x.detach(), key=plan.basic)
        if is_recorded:
            _record_gathered(x, base, plan, source)
        else:
            write_axes(base, source, plan.axes, plan.indices, plan.place)
    except errors.TessellaError as error:
        error.operation = ""
        shown = [f"x      {describe(x)}", f"key    {describe(key)}", f"value  {describe(value)}"]
        raise error.locate("setitem", shown) from None


def _has_values(key: Any) -> bool:
    """Tell whether a program would have to read a place from a tensor to see a view there."""
    items = key if isinstance(key, tuple) else (key,)
    return _core.is_recording() and any(isinstance(item, Tensor) for item in items)


def _write_masked(x: Tensor, masked: masks.Masked, source: Tensor, is_recorded: bool) -> None:
    target = masks.view_of(x.detach(), masked)
    inplace.check_memory(target, source)
    if not is_recorded:
        masks.filled(target, masked, source.detach(), out=target)
        return
    value = masks.filled(masks.view_of(x, masked), masked, source)
    inplace.write(target, value.detach())
    inplace.record_write(x, target, value)


def write_axes(
    x: Tensor, values: Tensor, axes: Sequence[int], indices: Sequence[Tensor], place: int
) -> None:
    """Do what put_axes does, into x itself; where no gradient is recorded."""
    inplace.check_memory(x, values)
    inplace.check_kinds(x, values)
    rest = [size for i, size in enumerate(x.shape) if i not in axes]
    target = (*rest[:place], *index_shape(indices), *rest[place:])
    spread = _core.view(values, _core.layout_of(values).broadcast_to(target))
    if values.dtype is not x.dtype:
        spread = spread.astype(x.dtype)
    elif _core.may_overlap(x, values):
        spread = copy_of(spread)
    apart = [copy_of(i) if _core.may_overlap(x, i) else i for i in indices]
    if _core.is_recording():  # a program that fails before it writes is explained by the function
        apart = [_checked(i, a, x.shape[a]) for i, a in zip(apart, axes, strict=True)]
    _core.scatter(spread, x, axes, apart, place)
    _core.bump_version(x)


def _checked(index: Tensor, axis: int, size: int) -> Tensor:
    def fail(value: int) -> errors.TessellaError:
        return errors.index_out_of_bounds(value, axis, size)

    return limited(index, -size, size - 1, fail)


def _record_gathered(x: Tensor, target: Tensor, plan: Gathering, source: Tensor) -> None:
    """Assign by index tensors where gradients are recorded: a new value of the target."""
    part = x if plan.basic is None else getitem(x, key=plan.basic)
    value = put_axes(part, source, tuple(plan.axes), tuple(plan.indices), plan.place)
    inplace.write(target, value.detach())
    inplace.record_write(x, target, value)


def _value_tensor(value: Any, dtype: DType) -> Tensor:
    """Make the assigned value a tensor; numbers and items take the target's dtype."""
    if isinstance(value, Tensor):
        return value
    if dtype.is_user and isinstance(value, list):
        return tensor(value, dtype)
    value = to_number(value)
    if dtype.is_user or isinstance(value, NUMBERS):
        return inplace.scalar_of(value, dtype)
    if isinstance(value, LISTS):
        return tensor(value)
    if is_shareable(value):
        return share(value, True)
    raise errors.not_tensor("value", value)


def need_integers(indices: Tensor) -> Tensor:
    """Give an index tensor as int64; refuse one that does not hold integers."""
    if not indices.dtype.is_integer:
        raise errors.bad_index_dtype(indices.dtype)
    return indices if indices.dtype is int64 else indices.astype(int64)


@composite(
    ref="take", ulps=0,
    samples=[case((4,), arange(3)), case((3, 4), arange(2), axis=1),
             case((3, 4), indices=reshape(arange(4), (2, 2)))],
    errors=[case((3,), arange(4), axis=0, match="index 3 is out of bounds"),
            case((3,), arange(2), axis=1, match="axis 1 is out of range"),
            case((3,), (2,), axis=0, match="an index tensor is float32")],
)  # fmt: skip
def take(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """Give the elements at indices along an axis; None takes from the flattened tensor.

    >>> ts.take(ts.tensor([10, 20, 30]), ts.tensor([2, 0]), axis=0).tolist()
    [30, 10]
    """
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    place = normal_axes(x, axis)[0]
    indices = need_integers(indices)
    if indices.ndim:  # x[:, indices] has a fast path
        return x[(*(slice(None),) * place, indices)]
    return gather_axes(x, (place,), (indices,), place)


@composite(
    ref="take_along_axis", ulps=0, is_method=False,
    samples=[case((3, 4), reshape(arange(3), (3, 1)), axis=1),
             case((3, 4), zeros((2, 4), dtype=int64), axis=0)],
    errors=[case((3, 4), arange(3), axis=0, match="1 index for 2 axes"),
            case((3,), arange(4), axis=0, match="index 3 is out of bounds"),
            case((3,), (3,), axis=0, match="an index tensor is float32")],
)  # fmt: skip
def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis.

    >>> ts.take_along_axis(ts.tensor([[1, 2], [3, 4]]), ts.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    index, place = need_integers(indices), normal_axes(x, axis)[0]
    if index.ndim != x.ndim:
        raise errors.index_count(index.ndim, x.ndim)
    others = [[1 if i == place else size for i, size in enumerate(s.shape)] for s in (x, index)]
    joint = list(_core.broadcast_shapes(*others))
    x = broadcast_to(x, [x.shape[i] if i == place else size for i, size in enumerate(joint)])
    every = []
    for i, size in enumerate(joint):
        ones = [1] * x.ndim
        ones[i] = -1
        every.append(index if i == place else reshape(arange(size), ones))
    return x[tuple(every)]


@composite(
    no_capture="the size of its result depends on values",
    ref=lambda np, x, as_tuple=True: np.nonzero(x),
    samples=[case((3, 4)), case((2, 0)), case((3,), as_tuple=True)],
    errors=[case((), match="x.ndim is 0")],
    refuses=[refusal("x.nonzero(as_tuple=False)", "ts.argwhere(x)",
                     "gives one tensor with a row for each element",
                     lambda args, keywords: keywords.get("as_tuple", True) is not True)],
)  # fmt: skip
def nonzero(x: Tensor, *, as_tuple: bool = True) -> tuple[Tensor, ...]:
    """Give the coordinates of elements that are not zero, one index tensor for each axis.

    >>> [i.tolist() for i in ts.nonzero(ts.tensor([[0, 7], [8, 0]]))]
    [[0, 1], [1, 0]]
    """
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "1 or more: use x.reshape(1)")
    found = _core.nonzero(x if x.dtype is boolean else x != 0)
    return tuple(_core.view(found, _core.layout_of(found).select(0, i)) for i in range(x.ndim))


@composite(
    no_capture="the size of its result depends on values",
    ref="argwhere",
    samples=[case((3, 4)), case((5,)), case((2, 0)), case(())],
)
def argwhere(x: Tensor) -> Tensor:
    """Give the coordinates of elements that are not zero, one row for each.

    >>> ts.argwhere(ts.tensor([[0, 7], [8, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    if x.ndim == 0:
        return zeros((int((x != 0).item()), 0), dtype=int64)
    found = _core.nonzero(x if x.dtype is boolean else x != 0)
    return _core.view(found, _core.layout_of(found).transpose(0, 1))


@composite(
    ref="unravel_index", ulps=0, is_method=False,
    samples=[case(arange(6), shape=(2, 3)), case(full((2, 2), 5), shape=(3, 1, 4)),
             case(arange(0), shape=(2,))],
    errors=[case(arange(7), shape=(2, 3), match="index 6 is out of bounds"),
            case((2,), shape=(2, 3), match="an index tensor is float32"),
            case(arange(2), shape=(2, -1), match="shape is")],
)  # fmt: skip
def unravel_index(indices: Tensor, shape: Shape) -> tuple[Tensor, ...]:
    """Give the coordinates of elements that are numbered in row-major order, one tensor an axis.

    >>> [x.tolist() for x in ts.unravel_index(ts.tensor([0, 4]), (2, 3))]
    [[0, 1], [0, 1]]
    """
    rest = need_integers(indices)
    if any(size < 0 for size in shape):
        raise errors.wrong_value("shape", shape, "sizes of 0 or more")
    count = math.prod(shape)
    rest = limited(
        rest, 0, min(count, 2**63) - 1, lambda i: errors.index_out_of_bounds(i, 0, count)
    )
    places = []
    for size in reversed(shape):
        places.append(remainder(rest, size))
        rest = floor_divide(rest, size)
    return tuple(places[::-1])


@composite(
    ref=lambda np, x, mask, value: np.where(mask, value, x), ulps=0, has_twin=True,
    samples=[case((3, 4), (3, 4), True), case((3, 4), (4,), False)],
    errors=[case((3,), (4,), 1, match="do not broadcast"),
            case((3,), zeros(3), 1, match="mask.dtype is float32"),
            case((3,), zeros(3, dtype=boolean), 2.5, dtype="int64", match="2.5 does not fit int64"),
            case((3,), zeros(3, dtype=boolean), zeros(()), dtype="int64",
                 match="the result is float32, the target int64")],
)  # fmt: skip
def masked_fill(x: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """Put a value where the mask is true.

    >>> ts.masked_fill(ts.arange(3), ts.tensor([True, False, True]), 9).tolist()
    [9, 1, 9]
    """
    if mask.dtype is not boolean:
        raise errors.wrong_value("mask.dtype", mask.dtype, "bool: compare, as in x != 0")
    if isinstance(value, Tensor):
        inplace.check_kinds(x, value)
        value = cast(value, x.dtype)
    elif not x.dtype.is_user and not _core.scalar_fits(value, x.dtype.id):
        raise errors.scalar_does_not_fit(value, x.dtype)
    return where(mask, value, x)


_core.set_hook("getitem", get)
_core.set_hook("setitem", set)
