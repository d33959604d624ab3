"""Other dtypes and devices by PyTorch's names, and tensors made after another one.

`astype` itself is a record, in casting.py; what is here is composed of it and of creation.
"""

from __future__ import annotations

from tessella import dtypes, errors
from tessella._core import Tensor
from tessella.composites import DTypeLike, Element, Ints, composite
from tessella.declarations import case, refusal
from tessella.devices import to_device_name
from tessella.dtypes import DType, as_dtype
from tessella.hints import Any
from tessella.memory import Allocator, allocator_of, use
from tessella.ops.casting import astype
from tessella.ops.creation import empty, full, ones, with_grad, zeros
from tessella.tensors import clone, tensor

# The methods that PyTorch names after a dtype.
NAMED: dict[str, DType] = {
    "bool": dtypes.boolean, "byte": dtypes.uint8, "char": dtypes.int8,
    "bfloat16": dtypes.bfloat16, **dtypes.BY_TYPE_OF_C,
}  # fmt: skip


def converted(x: Tensor, dtype: DType) -> Tensor:
    """Give x in a dtype; x itself if it has it."""
    return x if x.dtype is dtype else astype(x, dtype)


def _declare(name: str, dtype: DType) -> None:
    def convert(x: Tensor) -> Tensor:
        return converted(x, dtype)

    convert.__name__ = name
    convert.__doc__ = f"""Give x as {dtype}, or x itself if it is.

    >>> ts.ones(2).{name}().dtype
    {dtype}
    """
    held = "float32" if dtype is dtypes.bfloat16 else dtype.name
    composite(
        is_function=False, ulps=0, gives="view", domain=(0.0, 3.0), samples=[case((2, 3))],
        ref=lambda np, x: x.astype(held),
    )(convert)  # fmt: skip


for _name, _dtype in NAMED.items():
    _declare(_name, _dtype)


@composite(
    is_function=False, ulps=0, gives="view", domain=(0.0, 3.0),
    ref=lambda np, x, dtype: x.astype(dtype.name), samples=[case((2, 3), dtypes.float64)],
    errors=[case((2,), "float33", match="dtype must be a Tessella dtype")],
    refuses=[refusal("x.type()", "x.dtype", "gives the name of a class",
                     lambda args, keywords: len(args) == 1 and not keywords)],
)  # fmt: skip
def type(x: Tensor, dtype: DTypeLike) -> Tensor:
    """Give x in a dtype, or x itself if it has it.

    >>> ts.ones(2).type(ts.int32).dtype
    int32
    """
    return converted(x, as_dtype(dtype))


@composite(is_function=False, ulps=0, gives="view", ref=lambda np, x, y: x.astype(y.dtype),
           samples=[case((2, 3), (2,))])  # fmt: skip
def type_as(x: Tensor, y: Tensor) -> Tensor:
    """Give x in the dtype of y.

    >>> ts.ones(2).type_as(ts.tensor([1])).dtype
    int64
    """
    return converted(x, y.dtype)


@composite(is_function=False, ulps=0, gives="view", ref=lambda np, x: x, samples=[case((2, 3))])
def cpu(x: Tensor) -> Tensor:
    """Give x, which is on the CPU.

    >>> ts.ones(2).cpu().device
    'cpu'
    """
    return x


@composite(is_function=False, gives="view", tested="tests/test_conversion.py")
def to(x: Tensor, *targets: Any, dtype: DTypeLike | None = None, device: Any = None,
       copy: bool = False, non_blocking: bool = False) -> Tensor:  # fmt: skip
    """Give x in a dtype, on a device, in an allocator, or as another tensor is.

    It is x itself if nothing changes.

    >>> ts.ones(2).to(ts.float64).dtype
    float64
    >>> ts.ones(2).to("cpu", ts.int64).dtype
    int64
    >>> ts.ones(2).to(ts.memory.Heap("mine")).allocator.name
    'mine'
    """
    kind = None if dtype is None else as_dtype(dtype)
    for target in targets:
        if isinstance(target, Allocator):
            with use(target):
                rest = [other for other in targets if other is not target]
                is_there = allocator_of(x) == target
                return to(x, *rest, dtype=dtype, device=device, copy=copy or not is_there)
        if isinstance(target, Tensor):
            kind = target.dtype
        elif isinstance(target, str) and target not in dtypes.BY_NAME:
            to_device_name(target)
        elif target is not None:
            kind = as_dtype(target)
    to_device_name(device)
    out = x if kind is None else converted(x, kind)
    return clone(x) if copy and out is x else out


# --- tensors made after another ------------------------------------------------------------------


_NEW = {"is_function": False, "variadic": "shape", "tested": "tests/test_conversion.py"}


@composite(**_NEW)
def new_zeros(x: Tensor, shape: Ints, *, dtype: DTypeLike | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make zeros of x's dtype, of any shape.

    >>> ts.ones(2, dtype=ts.int64).new_zeros(3).tolist()
    [0, 0, 0]
    """
    return zeros(shape, dtype=dtype or x.dtype, requires_grad=requires_grad)


@composite(**_NEW)
def new_ones(x: Tensor, shape: Ints, *, dtype: DTypeLike | None = None,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make ones of x's dtype, of any shape.

    >>> ts.zeros(2, dtype=ts.int64).new_ones(3).tolist()
    [1, 1, 1]
    """
    return ones(shape, dtype=dtype or x.dtype, requires_grad=requires_grad)


@composite(**_NEW)
def new_empty(x: Tensor, shape: Ints, *, dtype: DTypeLike | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of x's dtype whose elements are not set.

    >>> ts.zeros(2, dtype=ts.int64).new_empty(2, 3).shape
    (2, 3)
    """
    return empty(shape, dtype=dtype or x.dtype, requires_grad=requires_grad)


@composite(is_function=False, tested="tests/test_conversion.py")
def new_full(x: Tensor, shape: Ints, fill_value: Element, *, dtype: DTypeLike | None = None,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of x's dtype with one value everywhere.

    >>> ts.zeros(2).new_full((2,), 3).tolist()
    [3.0, 3.0]
    """
    return full(shape, fill_value, dtype=dtype or x.dtype, requires_grad=requires_grad)


@composite(is_function=False, tested="tests/test_conversion.py")
def new_tensor(x: Tensor, data: Any, *, dtype: DTypeLike | None = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Make a tensor of numbers in x's dtype.

    >>> ts.zeros(2).new_tensor([1, 2]).tolist()
    [1.0, 2.0]
    """
    return with_grad(tensor(data, dtype or x.dtype), requires_grad)


# --- what a tensor is ----------------------------------------------------------------------------


@composite(ref="size", samples=[case((2, 3)), case(()), case((2, 0))], aliases=["nelement"])
def numel(x: Tensor) -> int:
    """Give the number of elements.

    >>> ts.numel(ts.ones(2, 3))
    6
    """
    return int(x.size)


@composite(ref="ndim", samples=[case((2, 3)), case(())], is_function=False, aliases=["ndimension"])
def dim(x: Tensor) -> int:
    """Give the number of axes.

    >>> ts.ones(2, 3).dim()
    2
    """
    return x.ndim


@composite(is_function=False, tested="tests/test_conversion.py")
def element_size(x: Tensor) -> int:
    """Give the number of bytes of an element.

    >>> ts.ones(2).element_size()
    4
    """
    return x.itemsize


@composite(is_function=False, tested="tests/test_conversion.py")
def stride(x: Tensor, axis: int | None = None) -> Any:
    """Give the strides in elements, or that of one axis.

    >>> ts.ones(2, 3).stride(), ts.ones(2, 3).stride(0)
    ((3, 1), 3)
    """
    if axis is None:
        return x.strides
    if not -x.ndim <= axis < x.ndim:
        raise errors.index_out_of_bounds(axis, 0, x.ndim)
    return x.strides[axis]


@composite(is_function=False, tested="tests/test_conversion.py")
def storage_offset(x: Tensor) -> int:
    """Give where in the buffer the first element lies.

    >>> ts.arange(5)[2:].storage_offset()
    2
    """
    return x.offset


@composite(ref=lambda np, x: x.dtype.kind == "f", samples=[case((2,))])
def is_floating_point(x: Tensor) -> bool:
    """Tell whether the elements are floats.

    >>> ts.is_floating_point(ts.ones(2))
    True
    """
    return x.dtype.is_floating


@composite(ref="iscomplexobj", samples=[case((2,))])
def is_complex(x: Tensor) -> bool:
    """Tell whether the elements are complex numbers.

    >>> ts.is_complex(ts.ones(2))
    False
    """
    return x.dtype.is_complex


@composite(ref=lambda np, x: x.dtype.kind in "fci", samples=[case((2,))], is_function=False)
def is_signed(x: Tensor) -> bool:
    """Tell whether the elements can be negative.

    >>> ts.ones(2, dtype=ts.uint8).is_signed()
    False
    """
    return x.dtype.is_floating or x.dtype.is_complex or x.dtype.kind == "signed integer"


@composite(is_method=False, tested="tests/test_conversion.py")
def is_tensor(x: Any) -> bool:
    """Tell whether something is a tensor.

    >>> ts.is_tensor(ts.ones(2)), ts.is_tensor([1, 2])
    (True, False)
    """
    return isinstance(x, Tensor)
