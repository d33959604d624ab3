"""What Tensor offers in Python on top of the core's type: making, reading, copying, exchanging.

Operations are not here: they are records, in ops/. Printing is in printing.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_int
from tessella.devices import to_device_name
from tessella.dtypes import DEFAULTS, DType, as_dtype, boolean, promote
from tessella.ops.creation import with_grad

if TYPE_CHECKING:
    import numpy

_MAX_DEPTH = 64


def tensor(data: Any, dtype: Any = None, *, requires_grad: bool = False) -> Tensor:
    """Make a tensor of numbers, nested lists, a NumPy array or another tensor: always a copy.

    >>> ts.tensor([[1, 2], [3, 4]], dtype=ts.float32).shape
    (2, 2)
    """
    try:
        kind = None if dtype is None else as_dtype(dtype)
        if isinstance(data, Tensor) or is_array(data):
            source = data if isinstance(data, Tensor) else from_numpy(data)
            out = copy_of(source, kind or source.dtype)
        else:
            out = _from_nested(data, kind)
        return with_grad(out, requires_grad)
    except errors.TessellaError as error:
        raise error.locate("tensor", [f"data  {errors.brief(data)}"]) from None


def copy_of(x: Tensor, dtype: DType) -> Tensor:
    """Give a contiguous copy that is not part of any graph."""
    if x.dtype.is_complex and not dtype.is_complex:
        raise errors.cannot_cast(x.dtype, dtype)
    out = _core.empty(x.shape, dtype.id)
    _core.copy(out, x, True)
    return out


def _from_nested(data: Any, dtype: DType | None) -> Tensor:
    shape = _shape_of(data)
    flat: list[Any] = [data]
    for depth, size in enumerate(shape):
        level: list[Any] = []
        for item in flat:
            if not isinstance(item, list | tuple):
                raise errors.ragged_depth(depth)
            if len(item) != size:
                raise errors.ragged(depth, size, len(item))
            level.extend(item)
        flat = level
    flat = [_to_number(value, len(shape)) for value in flat]
    if dtype is None:
        dtype = _kind_of(flat)
    out = _core.empty(shape, dtype.id)
    if not _core.fill_from_list(out, flat):
        bad = next(value for value in flat if not _core.scalar_fits(value, dtype.id))
        raise errors.scalar_does_not_fit(bad, dtype)
    return out


def _shape_of(data: Any) -> tuple[int, ...]:
    """Follow the first items down."""
    shape: list[int] = []
    while isinstance(data, list | tuple):
        if len(shape) == _MAX_DEPTH:
            raise errors.wrong_value("depth of the lists", "more than 64", "at most 64")
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return tuple(shape)


def _to_number(value: Any, depth: int) -> Any:
    if isinstance(value, bool | int | float | complex):
        return value
    if isinstance(value, list | tuple):
        raise errors.ragged_depth(depth)
    if isinstance(value, Tensor):
        return value.item()
    number = value.item() if is_array(value) and value.size == 1 else None
    if isinstance(number, bool | int | float | complex):
        return number
    raise errors.wrong_type("data", value, "numbers in nested lists, an array or a tensor")


def _kind_of(values: list[Any]) -> DType:
    """Choose the default dtype of the highest kind among the numbers; floats if there are none."""
    kinds = {type(value) for value in values}
    if not kinds:
        return DEFAULTS[float]
    dtype = boolean
    for python_type, default in DEFAULTS.items():
        if any(
            issubclass(kind, python_type)
            for kind in kinds
            if kind not in DEFAULTS or kind is python_type
        ):
            dtype = promote(dtype, default)
    return dtype


def from_data(values: Any, shape: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of a flat list of numbers and a shape.

    >>> ts.from_data([1, 2, 3, 4], (2, 2)).tolist()
    [[1, 2], [3, 4]]
    """
    try:
        flat = list(values)
    except TypeError:
        raise errors.wrong_type("values", values, "a list of numbers").locate(
            "from_data", []
        ) from None
    return tensor(flat, dtype).reshape(shape)


# --- NumPy and the buffer protocol ---------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Tell whether a value is a NumPy array or scalar, without importing NumPy."""
    return hasattr(value, "__array_interface__")


def from_numpy(array: Any) -> Tensor:
    """Give a tensor over a NumPy array's memory: no copy; writes are seen on both sides.

    >>> ts.from_numpy(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    if not is_array(array):
        raise errors.wrong_type("array", array, "a NumPy array").locate("from_numpy", [])
    if not hasattr(array, "strides") or array.ndim == 0 or array.size == 0:
        return _from_small_array(array)
    return _from_memory(array)


def _from_memory(array: Any) -> Tensor:
    name = array.dtype.name
    try:
        dtype = as_dtype(name)
        if not array.dtype.isnative:
            raise errors.wrong_value("array.dtype", array.dtype, "in the machine's byte order")
        if any(stride % dtype.itemsize for stride in array.strides):
            raise errors.wrong_value("array.strides", array.strides, "multiples of the item size")
        alignment = min(dtype.itemsize, 8)
        if array.__array_interface__["data"][0] % alignment:
            raise errors.unaligned("array", alignment)
        # Where the first element lies from the start of what the buffer protocol exports.
        return _core.from_buffer(array, dtype.id, array.shape, array.strides, 0)
    except errors.TessellaError as error:
        raise error.locate("from_numpy", [f"array  {name} {array.shape}"]) from None


def _from_small_array(array: Any) -> Tensor:
    """Copy what has no memory to share: scalars and empty arrays."""
    dtype = as_dtype(array.dtype.name)
    out = _core.empty(array.shape, dtype.id)
    if out.size:
        _core.fill(out, array.item())
    return out


def numpy_of(self: Tensor) -> numpy.ndarray[Any, Any]:
    """Give a NumPy array over the tensor's memory: no copy. bfloat16 has no NumPy dtype.

    >>> ts.arange(3).numpy()
    array([0, 1, 2])
    """
    import numpy

    if self.requires_grad:
        raise errors.numpy_of_graph().locate("numpy", [])
    if self.dtype.name == "bfloat16":
        raise errors.no_kernel(self.dtype, "NumPy has no bfloat16; use astype(ts.float32)")
    if self.is_virtual:
        raise errors.virtual_value("numpy()")
    return numpy.asarray(memoryview(self))


# --- reading and writing -------------------------------------------------------------------------


def tolist(self: Tensor) -> Any:
    """Give the elements as nested lists of Python numbers; a number for a 0-d tensor.

    >>> ts.ones(2, 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    flat = _core.to_list(self)
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


def at(self: Tensor, *index: int) -> Any:
    """Give one element as a Python number.

    >>> ts.tensor([[1, 2], [3, 4]]).at(1, 0)
    3
    """
    return self.item(flat_position(self, index))


def flat_position(x: Tensor, index: tuple[int, ...]) -> int:
    """Give the row-major number of the element at an index; checked."""
    if len(index) != x.ndim:
        raise errors.index_count(len(index), x.ndim).locate("at", [f"x  {x.dtype} {x.shape}"])
    flat = 0
    for axis, (given, size) in enumerate(zip(index, x.shape, strict=True)):
        i = to_int("index", given)  # an array has __index__ too, and may refuse it
        if not -size <= i < size:
            raise errors.index_out_of_bounds(i, axis, size).locate(
                "at", [f"x  {x.dtype} {x.shape}"]
            )
        flat = flat * size + i % size
    return flat


def flat_index(self: Tensor, *index: int) -> int:
    """Give where in the buffer the element at an index lies: offset + sum of index * stride.

    >>> ts.zeros(2, 3, 4).flat_index(1, 2, 3)
    23
    """
    flat_position(self, index)
    inside = zip(index, self.shape, self.strides, strict=True)
    return self.offset + sum(i % size * stride for i, size, stride in inside)


def iterate(x: Tensor) -> Iterator[Tensor]:
    """Go through the slices along the first axis."""
    if x.ndim == 0:
        found = errors.wrong_value("x.ndim", 0, "1 or more; x.item() gives the only element")
        raise found.locate("iter", [f"x  {x.dtype} {x.shape}"])
    return (x[i] for i in range(x.shape[0]))


def contains(x: Tensor, value: Any) -> bool:
    """Tell whether an element equals a number."""
    if not isinstance(value, bool | int | float | complex | Tensor):
        raise errors.not_tensor("value", value).locate("in", [f"x  {x.dtype} {x.shape}"])
    return bool((x == value).any())


def formatted(self: Tensor, specification: str) -> str:
    """Format the only element of a 0-d tensor as Python formats numbers; print any other."""
    is_number = self.ndim == 0 and specification
    return format(self.item() if is_number else str(self), specification)


def clone(self: Tensor) -> Tensor:
    """Give a contiguous copy; gradients flow through it.

    >>> ts.ones(2, 3).T.clone().is_contiguous
    True
    """
    return +self if self.dtype is not boolean else self.astype(boolean)


def pickle_parts(self: Tensor) -> tuple[Any, ...]:
    """Give what rebuilds the tensor: bytes, dtype, shape, and whether it is a leaf of graphs."""
    plain = copy_of(self.detach(), self.dtype)
    data = bytes(memoryview(reinterpret(plain)))
    return rebuild, (data, self.dtype, self.shape, self.requires_grad and self.grad_fn is None)


def reinterpret(x: Tensor) -> Tensor:
    """View a contiguous tensor as its bytes."""
    return _core.view_bytes(x)


def rebuild(data: bytes, dtype: DType, shape: tuple[int, ...], requires_grad: bool) -> Tensor:
    """Make a tensor of its bytes."""
    out = _core.empty(shape, dtype.id)
    memoryview(reinterpret(out))[:] = data
    return with_grad(out, requires_grad)


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
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


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask for gradients of this tensor, or no longer.

    >>> ts.zeros(2).requires_grad_().requires_grad
    True
    """
    if to_bool("requires_grad", requires_grad):
        return with_grad(self, True)
    if self.grad_fn is not None:
        raise errors.grad_of_result()
    _core.set_requires_grad(self, False)
    return self


def detach(self: Tensor) -> Tensor:
    """Give the same memory outside any graph.

    >>> ts.zeros(2, requires_grad=True).detach().requires_grad
    False
    """
    return _core.view(self, _core.layout_of(self))
