"""Tensors from data, and reading them: numbers, lists, iteration, places of elements.

Operations are not here: they are records, in ops/. Memory of other libraries is in exchange.py,
printing in printing.py, pickling and copying in pickling.py.
"""

from __future__ import annotations

from tessella import _core, errors, exchange_errors
from tessella._core import Tensor
from tessella.arguments import is_scalar, to_int, to_number
from tessella.composites import Device, DTypeLike, Shape, composite
from tessella.devices import to_device_name
from tessella.dtypes import (
    DEFAULTS,
    DType,
    UserDType,
    boolean,
    check_cast,
    promote,
    promote_scalar,
)
from tessella.exchange import is_shareable, share
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    DeviceLike,
    Iterator,
    Nested,
    Operand,
    Real,
)
from tessella.ops.creation import copy_of, with_grad
from tessella.records import OPS

if TYPE_CHECKING:
    from tessella.allocators import Allocator

_MAX_DEPTH = 64


@composite(is_method=False, tested="tests/test_creation.py")
def tensor(data: Any, dtype: DTypeLike | None = None, *, device: Device | None = None,
           requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of numbers, nested lists, or an array of any library: always a copy.

    With a user's dtype tuples are items, and lists of them axes.

    >>> ts.tensor([[1, 2], [3, 4]], dtype=ts.float32).shape
    (2, 2)
    """
    if isinstance(data, list | tuple):  # most are, and to ask them for a buffer takes longer
        out = _from_nested(data, dtype)
    elif isinstance(data, Tensor):
        out = copy_of(data, dtype)
    elif is_shareable(data):
        out = copy_of(share(data, True), dtype)
    else:
        out = _from_nested(data, dtype)
    return with_grad(out, requires_grad) if requires_grad else out


@composite(
    is_method=False, gives="view", tested="tests/test_asarray.py", aliases=["as_tensor"],
    keywords={"data": "obj"},
)  # fmt: skip
def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    copy: bool | None = None,
) -> Tensor:
    """Give a tensor of a number, nested sequences, a tensor, or an array of any library.

    A tensor is given as it is, and an array's memory is shared, through the buffer protocol or
    DLPack, where neither dtype nor byte order must change. `copy=True` always copies; `copy=False`
    raises where a copy is needed.

    >>> ts.asarray([1, 2.5]).tolist()
    [1.0, 2.5]
    """
    is_array = isinstance(obj, Tensor) or is_shareable(obj)
    if copy is False and (not is_array or is_scalar(obj)):
        raise exchange_errors.copy_needed("numbers and lists have no memory to share")
    if not is_array:
        return _from_nested(obj, dtype, keeps_graph=True)
    x = obj if isinstance(obj, Tensor) else share(obj, copy is not False)
    kind = dtype or x.dtype
    if kind is not x.dtype and copy is False:
        raise exchange_errors.copy_needed(f"its dtype is {x.dtype}, not {kind}")
    if kind is not x.dtype:
        return x.astype(kind)
    return clone(x) if copy else x


# --- nested sequences ----------------------------------------------------------------------------


def _is_sequence(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return True
    from collections.abc import Sequence

    return isinstance(value, Sequence) and not isinstance(value, str) and not is_shareable(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _from_nested(data: Any, dtype: DType | None, keeps_graph: bool = False) -> Tensor:
    """Make a tensor of numbers, of items, or of equal arrays, in nested sequences."""
    if isinstance(dtype, UserDType):
        shape, flat = _unnested(data, _is_list)
        if not any(isinstance(item, Tensor) for item in flat):
            return _from_elements(shape, [dtype.pack(item) for item in flat], dtype)
    else:
        shape, flat = _unnested(data, _is_sequence)
    if not set(map(type, flat)) <= DEFAULTS.keys():
        flat = [_to_item(value, len(shape)) for value in flat]
        if any(isinstance(item, Tensor) for item in flat):
            if keeps_graph and any(isinstance(x, Tensor) and x.requires_grad for x in flat):
                raise exchange_errors.nested_gradients()
            return _from_items(shape, flat, dtype)
    return _from_elements(shape, flat, _kind_of(flat) if dtype is None else dtype)


def _unnested(data: Any, is_axis: Callable[[Any], bool]) -> tuple[tuple[int, ...], list[Any]]:
    """Give the shape of nested sequences, and what is in them, row-major."""
    shape = _shape_of(data, is_axis)
    flat: list[Any] = [data]
    for depth, size in enumerate(shape):
        level: list[Any] = []
        for item in flat:
            if not is_axis(item):
                raise errors.ragged_depth(depth)
            if len(item) != size:
                raise errors.ragged(depth, size, len(item))
            level.extend(item)
        flat = level
    return shape, flat


def _from_elements(shape: tuple[int, ...], flat: list[Any], dtype: DType) -> Tensor:
    """Make a tensor of its elements, row-major."""
    out = _core.empty(shape, dtype.id)
    if not _core.fill_from_list(out, flat):
        bad = next(value for value in flat if not _core.scalar_fits(value, dtype.id))
        raise errors.scalar_does_not_fit(bad, dtype)
    return out


def _from_items(shape: tuple[int, ...], items: list[Any], dtype: DType | None) -> Tensor:
    """Join tensors and numbers of one shape; tensors decide the dtype before numbers do."""
    tensors = [item for item in items if isinstance(item, Tensor)]
    numbers = [item for item in items if not isinstance(item, Tensor)]
    inner = tensors[0].shape
    for other in (*(x.shape for x in tensors), *(() for _ in numbers[:1])):
        if other != inner:
            raise exchange_errors.nested_shapes(inner, other)
    if dtype is None:
        dtype = tensors[0].dtype
        for x in tensors:
            dtype = promote(dtype, x.dtype)
        for number in numbers:
            dtype = promote_scalar(dtype, number)
    out = _core.empty((*shape, *inner), dtype.id)
    rows = out.reshape(len(items), *inner)
    for i, item in enumerate(items):
        if isinstance(item, Tensor):
            check_cast(item.dtype, dtype)
            _core.copy(rows[i], item, True)
        elif not _core.fill(rows[i], item):
            raise errors.scalar_does_not_fit(item, dtype)
    return out


def _shape_of(data: Any, is_axis: Callable[[Any], bool]) -> tuple[int, ...]:
    """Follow the first items down."""
    shape: list[int] = []
    while is_axis(data):
        if len(shape) == _MAX_DEPTH:
            raise errors.wrong_value("depth of the lists", "more than 64", "at most 64")
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return tuple(shape)


def _to_item(value: Any, depth: int) -> Any:
    """Give a number or a tensor."""
    value = to_number(value)
    if isinstance(value, bool | int | float | complex | Tensor):
        return value
    if _is_sequence(value):
        raise errors.ragged_depth(depth)
    if not is_shareable(value):
        raise errors.wrong_type("data", value, "numbers in nested lists, an array or a tensor")
    return share(value, True)


def _kind_of(values: list[Any]) -> DType:
    """Choose the default dtype of the highest kind among the numbers; floats if there are none."""
    kinds = set(map(type, values))
    if len(kinds) < 2:
        only = kinds.pop() if kinds else float
        if only in DEFAULTS:
            return DEFAULTS[only]
        kinds = {only}
    dtype = boolean
    for python_type, default in DEFAULTS.items():
        if any(
            issubclass(kind, python_type)
            for kind in kinds
            if kind not in DEFAULTS or kind is python_type
        ):
            dtype = promote(dtype, default)
    return dtype


@composite(is_method=False, tested="tests/test_creation.py")
def from_data(values: Any, shape: Shape, dtype: DTypeLike | None = None) -> Tensor:
    """Make a tensor of a flat list of numbers and a shape.

    >>> ts.from_data([1, 2, 3, 4], (2, 2)).tolist()
    [[1, 2], [3, 4]]
    """
    try:
        flat = list(values)
    except TypeError:
        raise errors.wrong_type("values", values, "a list of numbers") from None
    return _from_nested(flat, dtype).reshape(shape)


# --- reading and writing -------------------------------------------------------------------------


def tolist(self: Tensor) -> Nested:
    """Give the elements as nested lists of Python numbers; a number for a 0-d tensor.

    Items of a user's dtype are tuples.

    >>> ts.ones(2, 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    flat: list[Nested] = _core.to_list(self)
    if self.ndim == 0:
        return flat[0]
    if not flat:
        return _empty_lists(self.shape[: self.shape.index(0)])
    for size in reversed(self.shape[1:]):
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    return flat


def _empty_lists(shape: tuple[int, ...]) -> list[Any]:
    """Nest lists of a shape around empty ones."""
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else []


def at(self: Tensor, *index: int) -> Real:
    """Give one element as a Python number.

    >>> ts.tensor([[1, 2], [3, 4]]).at(1, 0)
    3
    """
    flat = 0
    for i, size in zip(checked_index(self, index, "at"), self.shape, strict=True):
        flat = flat * size + i
    return self.item(flat)


def checked_index(x: Tensor, index: tuple[Any, ...], operation: str) -> list[int]:
    """Give an index as integers from 0 on, one for each axis."""
    try:
        if len(index) != x.ndim:
            raise errors.index_count(len(index), x.ndim)
        found = []
        for axis, (given, size) in enumerate(zip(index, x.shape, strict=True)):
            i = to_int("index", given)  # an array has __index__ too, and may refuse it
            if not -size <= i < size:
                raise errors.index_out_of_bounds(i, axis, size)
            found.append(i % size)
    except errors.TessellaError as error:
        raise error.locate(operation, [f"x  {x.dtype} {x.shape}"]) from None
    return found


def flat_index(self: Tensor, *index: int) -> int:
    """Give where in the buffer the element at an index lies: offset + sum of index * stride.

    >>> ts.zeros(2, 3, 4).flat_index(1, 2, 3)
    23
    """
    places = checked_index(self, index, "flat_index")
    return self.offset + sum(i * stride for i, stride in zip(places, self.strides, strict=True))


def iterate(x: Tensor) -> Iterator[Tensor]:
    """Go through the slices along the first axis."""
    if x.ndim == 0:
        found = errors.wrong_value("x.ndim", 0, "1 or more; x.item() gives the only element")
        raise found.locate("iter", [f"x  {x.dtype} {x.shape}"])
    return (x[i] for i in range(x.shape[0]))


def iterate_back(x: Tensor) -> Iterator[Tensor]:
    """Answer reversed(x): the slices along the first axis, the last one first."""
    return iterate(x.flip(0) if x.ndim else x)


def contains(x: Tensor, value: Any) -> bool:
    """Tell whether an element equals a number."""
    is_item = x.dtype.is_user and isinstance(value, tuple)
    if not is_item and not isinstance(value, bool | int | float | complex | Tensor):
        raise errors.not_tensor("value", value).locate("in", [f"x  {x.dtype} {x.shape}"])
    return bool((x == value).any())


def clone(self: Tensor, *, allocator: Allocator | None = None) -> Tensor:
    """Give a contiguous copy, in the scope's allocator or the one given; gradients flow through it.

    >>> ts.ones(2, 3).T.clone().is_contiguous
    True
    """
    if allocator is not None:
        from tessella.memory import use

        with use(allocator):
            return clone(self)
    is_number = self.dtype is not boolean and not self.dtype.is_user
    return +self if is_number else self.astype(self.dtype)


def real_part(self: Tensor) -> Tensor:
    """Give the real parts, a view; a tensor that is not complex is its own."""
    return self.view_as_real()[..., 0] if self.dtype.is_complex else self


def set_real_part(self: Tensor, value: Any) -> None:
    """Write into the real parts."""
    real_part(self)[...] = value


def imaginary_part(self: Tensor) -> Tensor:
    """Give the imaginary parts, a view; a tensor that is not complex has none."""
    return self.view_as_real()[..., 1] if self.dtype.is_complex else OPS["imag"].function(self)


def set_imaginary_part(self: Tensor, value: Any) -> None:
    """Write into the imaginary parts."""
    imaginary_part(self)[...] = value


def where(self: Tensor, condition: Tensor, other: Operand) -> Tensor:
    """Give the elements where the condition holds, else the others: ts.where(condition, x, other).

    >>> ts.arange(3).where(ts.tensor([True, False, True]), 9).tolist()
    [0, 9, 2]
    """
    out: Tensor = OPS["where"].function(condition, self, other)
    return out


def to_device(self: Tensor, device: DeviceLike, /, *, stream: object = None) -> Tensor:
    """Give the tensor on a device: itself, as there is only "cpu".

    >>> x = ts.ones(2)
    >>> x.to_device("cpu") is x
    True
    """
    try:
        to_device_name(device)
        if stream is not None:
            raise errors.wrong_value("stream", stream, "None: the CPU has no streams")
    except errors.TessellaError as error:
        raise error.locate("to_device", [f"x  {self.dtype} {self.shape}"]) from None
    return self


def detach(self: Tensor) -> Tensor:
    """Give the same memory outside any graph.

    >>> ts.zeros(2, requires_grad=True).detach().requires_grad
    False
    """
    return _core.view(self, _core.layout_of(self))


def set_data(self: Tensor, value: Any) -> None:
    """Take its own memory, which `x.data -= y` has written; refuse other memory."""
    if isinstance(value, Tensor) and all(
        getattr(value, name) == getattr(self, name)
        for name in ("data_ptr", "dtype", "shape", "strides")
    ):
        return
    raise errors.means_otherwise(
        "x.data = y", "gives x other memory", "write x.detach().copy_(y)"
    ).locate("data", [f"x  {self.dtype} {self.shape}"])
