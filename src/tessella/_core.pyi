"""Written by tools/generate.py from the table of operations; change that, not this."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, overload

from typing_extensions import CapsuleType

from tessella.allocators import Allocator
from tessella.devices import Device
from tessella.dtypes import DType
from tessella.hints import (
    Array as _Array,
    DeviceLike as _DeviceLike,
    DTypeLike as _DTypeLike,
    Element as _Element,
    Ints as _Ints,
    Key as _Key,
    Nested as _Nested,
    Number as _Number,
    Operand as _Operand,
    Real as _Real,
)
from tessella.hooks import Handle
from tessella.ops.formulas import Parts
from tessella.ops.ordering import Ordered
from tessella.ops.random import Generator
from tessella.ops.summaries import MinMax, StdMean, VarMean
from tessella.records import Op
from tessella.spellings import Address, Flag

_Axes: TypeAlias = _Ints | None

class Layout:
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __init__(
        self, shape: Sequence[int], strides: Sequence[int] | None = None, offset: int = 0
    ) -> None: ...
    def __repr__(self) -> str: ...
    def axis(self, axis: int) -> int: ...
    def bitcast(self, from_size: int, to_size: int) -> Layout: ...
    def broadcast_to(self, shape: Sequence[int]) -> Layout: ...
    def diagonal(self, offset: int, a: int, b: int) -> Layout: ...
    def flip(self, axis: Sequence[int]) -> Layout: ...
    @property
    def is_contiguous(self) -> bool: ...
    @property
    def ndim(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def overlaps_itself(self) -> bool: ...
    def permute(self, axes: Sequence[int]) -> Layout: ...
    def reshape(self, shape: Sequence[int]) -> Layout | None: ...
    def select(self, axis: int, index: int) -> Layout: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    def slice(self, axis: int, start: int, stop: int, step: int = 1) -> Layout: ...
    def squeeze(self, axis: Sequence[int] | None = None) -> Layout: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def transpose(self, a: int, b: int) -> Layout: ...
    def unfold(self, axis: int, window: int, step: int) -> Layout: ...
    def unsqueeze(self, axis: Sequence[int]) -> Layout: ...
    def view(self, shape: Sequence[int]) -> Layout: ...

class Function:
    __name__: str
    __text_signature__: str
    record: Op
    def __new__(
        cls,
        record: object,
        name: str,
        doc: str,
        signature: str,
        kind: str,
        opcode: int,
        arity: int,
        is_differentiable: bool,
        is_strict: bool,
        rules: tuple[object, ...] | None,
        /,
    ) -> Self: ...
    def __call__(self, *args: object, **keywords: object) -> Tensor: ...
    def into(self, *args: object) -> Tensor | None: ...

class Caller:
    def __new__(
        cls,
        slow: Any,
        body: Any,
        explain: Any,
        positional: int,
        variadic: int,
        parameters: tuple[tuple[str, str, bool], ...],
        /,
    ) -> Self: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

class Node:
    @property
    def hooks(self) -> object: ...
    @property
    def name(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def is_used(self) -> bool: ...
    @property
    def function(self) -> Function: ...
    @property
    def params(self) -> dict[str, object]: ...
    @property
    def inputs(self) -> tuple[Node | Tensor | None, ...]: ...
    @property
    def input_shapes(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def input_dtypes(self) -> tuple[DType | None, ...]: ...
    @property
    def saved(self) -> tuple[_Operand | None, ...]: ...
    @property
    def site(self) -> tuple[str, int] | None: ...

class AllocatorHandle:
    type: str
    name: str
    key: int
    live: int
    peak: int
    count: int
    allocations: int
    capacity: int
    free: int
    largest: int
    largest_block: int
    def trim(self) -> int: ...
    def used(self) -> int: ...
    def mark(self) -> int: ...
    def release_to(self, mark: int, /) -> None: ...
    def reset(self) -> None: ...

class Watch:
    live: int
    peak: int
    allocations: int

class DynamicArray:
    def __new__(
        cls,
        dtype: int,
        capacity: int,
        growth: bool,
        item_shape: tuple[int, ...],
        handle: AllocatorHandle,
        /,
    ) -> Self: ...
    @property
    def length(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def growth(self) -> bool: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def item_shape(self) -> tuple[int, ...]: ...
    @property
    def is_freed(self) -> bool: ...
    @property
    def data_ptr(self) -> int: ...
    def append(self, value: object, /) -> None: ...
    def push_back(self, value: object, /) -> None: ...
    def pop(self, index: int = -1, /) -> object: ...
    def pop_back(self) -> object: ...
    def as_tensor(self) -> Tensor: ...
    def owns(self, address: int, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[object]: ...
    def __reversed__(self) -> Iterator[object]: ...
    def __getitem__(self, key: _Key, /) -> object: ...
    def __setitem__(self, key: _Key, value: object, /) -> None: ...
    def __delitem__(self, key: int | slice, /) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Recording:
    def __len__(self) -> int: ...
    def begin(self) -> None: ...
    def end(self) -> None: ...
    def add_argument(self, x: object) -> None: ...
    def slot_of(self, x: object) -> int: ...
    def place_of(self, x: object) -> tuple[Any, ...]: ...
    def holds(self, x: object) -> bool: ...
    def asked_alike(self) -> bool: ...
    def forget_temporaries(self, results: list[Any]) -> None: ...
    def reaches_out(self) -> bool: ...
    def mark_given(self, x: object) -> None: ...
    def bytes_of(self, slot: int) -> Tensor: ...
    def site_of(self, instruction: int) -> tuple[str, int]: ...
    def instructions(self) -> list[tuple[Any, ...]]: ...
    def slots(self) -> list[tuple[Any, ...]]: ...
    def leaves(self) -> list[tuple[Any, ...]]: ...
    def shared_gradients(self) -> list[int]: ...
    def drawings(self) -> list[tuple[Any, ...]]: ...
    def add_slot(self, like: int) -> int: ...
    def add_copy(self, instruction: int, slots: list[int], before: int) -> int: ...

class Rehearsal:
    def begin(self) -> None: ...
    def end(self) -> None: ...
    def stand_in(self, x: object) -> Tensor: ...

class ProgramArena:
    def prepare(self, program: Program) -> None: ...

class Program:
    has_written: bool
    runs: int
    arena_bytes: int
    scratch_bytes: int
    rehearsed_scratch_bytes: int
    starts: list[tuple[int, int]]
    def __init__(
        self,
        recording: Recording,
        steps: list[list[int]],
        slots: list[tuple[Any, ...]],
        arena_bytes: int,
    ) -> None: ...
    def add_output(
        self, place: tuple[Any, ...], node: Node | None, base: int = -1, is_blind: bool = False
    ) -> None: ...
    def add_base(
        self, place: tuple[Any, ...] | None, output: int, argument: int, object: Tensor | None
    ) -> None: ...
    def add_gradient(self, leaf: int, place: tuple[Any, ...]) -> None: ...
    def add_removal(self, leaf: int) -> None: ...
    def add_generator(self, generator: object, used: int) -> None: ...
    def set_draw(self, instruction: int, generator: int, delta: int) -> None: ...
    def set_homes(self, homes: list[tuple[int, int]]) -> None: ...
    def set_leaves(self, objects: list[int]) -> None: ...
    def set_gradient_homes(self, homes: list[int]) -> None: ...
    def set_named(self, named: list[int], ways: list[list[int]]) -> None: ...
    def set_guard(
        self, changes: int, places: list[tuple[Any, ...]], holds: object, is_partial: bool
    ) -> None: ...
    def accepts(self, arguments: list[Tensor]) -> bool: ...
    def run(self, arguments: list[Tensor], arena: ProgramArena) -> list[Tensor]: ...
    def run_timed(
        self, arguments: list[Tensor], arena: ProgramArena
    ) -> tuple[list[Tensor], list[int]]: ...
    def run_from(
        self, arguments: list[Tensor], arena: ProgramArena, starts: list[tuple[int, int]]
    ) -> list[Tensor]: ...

class CompiledCall:
    def __init__(self, replay: Replay | None) -> None: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

class Replay:
    arena: ProgramArena
    def add(self, key: bytes, program: Program, finish: object) -> None: ...
    def clear(self) -> None: ...
    def enter(self) -> bool: ...
    def leave(self) -> None: ...
    def call(self, args: tuple[Any, ...]) -> Any: ...

class Tensor:
    def __new__(cls, x: Tensor, /) -> Self: ...
    __array_ufunc__: None
    @property
    def T(self) -> Tensor: ...
    @property
    def byte_strides(self) -> tuple[_int, ...]: ...
    @property
    def data_ptr(self) -> Address: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_fn(self) -> Node | None: ...
    @property
    def is_contiguous(self) -> Flag: ...
    @property
    def is_freed(self) -> _bool: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def is_readonly(self) -> _bool: ...
    @property
    def is_virtual(self) -> _bool: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def mT(self) -> Tensor: ...
    @property
    def nbytes(self) -> _int: ...
    @property
    def ndim(self) -> _int: ...
    @property
    def offset(self) -> _int: ...
    @property
    def requires_grad(self) -> _bool: ...
    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...
    @property
    def shape(self) -> tuple[_int, ...]: ...
    @property
    def size(self) -> _int: ...
    @property
    def strides(self) -> tuple[_int, ...]: ...
    @property
    def version(self) -> _int: ...
    def item(self, *index: _int) -> _Real: ...
    def __add__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __radd__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __iadd__(self, y: Tensor | _Number, /) -> Self: ...
    def __sub__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rsub__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __isub__(self, y: Tensor | _Number, /) -> Self: ...
    def __mul__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rmul__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __imul__(self, y: Tensor | _Number, /) -> Self: ...
    def __truediv__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rtruediv__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __itruediv__(self, y: Tensor | _Number, /) -> Self: ...
    def __floordiv__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rfloordiv__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ifloordiv__(self, y: Tensor | _Number, /) -> Self: ...
    def __mod__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rmod__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __imod__(self, y: Tensor | _Number, /) -> Self: ...
    def __pow__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rpow__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ipow__(self, y: Tensor | _Number, /) -> Self: ...
    def __and__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rand__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __iand__(self, y: Tensor | _Number, /) -> Self: ...
    def __or__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ror__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ior__(self, y: Tensor | _Number, /) -> Self: ...
    def __xor__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rxor__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ixor__(self, y: Tensor | _Number, /) -> Self: ...
    def __lshift__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rlshift__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ilshift__(self, y: Tensor | _Number, /) -> Self: ...
    def __rshift__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __rrshift__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __irshift__(self, y: Tensor | _Number, /) -> Self: ...
    def __matmul__(self, y: Tensor, /) -> Tensor: ...
    def __rmatmul__(self, y: Tensor, /) -> Tensor: ...
    def __imatmul__(self, y: Tensor, /) -> Self: ...
    def __lt__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __le__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __gt__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __ge__(self, y: Tensor | _Number, /) -> Tensor: ...
    def __eq__(self, y: Tensor | _Element, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, y: Tensor | _Element, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __complex__(self) -> _complex: ...
    def __index__(self) -> _int: ...
    def __len__(self) -> _int: ...
    def __hash__(self) -> _int: ...
    def __getitem__(self, key: _Key, /) -> Tensor: ...
    def __setitem__(self, key: _Key, value: object, /) -> None: ...
    def __contains__(self, value: Tensor | _Element, /) -> _bool: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __buffer__(self, flags: _int, /) -> memoryview: ...
    def __array__(self, dtype: object = None, copy: _bool | None = None) -> _Array:
        """Answer np.asarray(x) where the buffer protocol was refused, and others that ask NumPy's way."""
    def __array_namespace__(self, *, api_version: _str | None = None) -> ModuleType:
        """Give the module that holds the functions of the array API."""
    def __copy__(self) -> Tensor:
        """Answer copy.copy(x): other memory, as for a list of numbers; attributes are shared."""
    def __deepcopy__(self, memo: dict[_int, object]) -> Tensor:
        """Answer copy.deepcopy(x)."""
    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> CapsuleType:
        """Give a DLPack capsule over the tensor's memory, which lives as long as its consumer."""
    def __dlpack_device__(self) -> tuple[_int, _int]:
        """Name the device as DLPack does."""
    def __format__(self, specification: _str) -> _str:
        """Format each element as Python formats numbers; without a specification, print more than one."""
    def __reduce_ex__(self, protocol: SupportsIndex = 2) -> tuple[object, ...]:
        """Give what rebuilds the tensor; from protocol 5 on its bytes may travel out of band."""
    def __reversed__(self) -> Iterator[Tensor]:
        """Answer reversed(x): the slices along the first axis, the last one first."""
    def _repr_html_(self) -> _str:
        """Give HTML, with the values that `repr` shows."""
    def abs(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Absolute value; real for complex x."""
    def abs_(self) -> Self:
        """Absolute value; real for complex x."""
    def absolute(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Absolute value; real for complex x."""
    def absolute_(self) -> Self:
        """Absolute value; real for complex x."""
    def acos(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse cosine."""
    def acos_(self) -> Self:
        """Inverse cosine."""
    def acosh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic cosine."""
    def acosh_(self) -> Self:
        """Inverse hyperbolic cosine."""
    def add(
        self,
        y: Tensor | _Number,
        *,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x + y, or x + alpha * y."""
    def add_(self, y: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """x + y, or x + alpha * y."""
    def addbmm(
        self,
        a: Tensor,
        b: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give beta * x + alpha * (the sum of the products of two batches of matrices)."""
    def addbmm_(self, a: Tensor, b: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """Give beta * x + alpha * (the sum of the products of two batches of matrices)."""
    def addcdiv(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: object = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x + value * tensor1 / tensor2; integers become float32 first."""
    def addcdiv_(
        self, tensor1: Tensor | _Number, tensor2: Tensor | _Number, *, value: object = 1
    ) -> Self:
        """x + value * tensor1 / tensor2; integers become float32 first."""
    def addcmul(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: object = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x + value * tensor1 * tensor2."""
    def addcmul_(
        self, tensor1: Tensor | _Number, tensor2: Tensor | _Number, *, value: object = 1
    ) -> Self:
        """x + value * tensor1 * tensor2."""
    def addmm(
        self,
        a: Tensor,
        b: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give beta * x + alpha * (a @ b) for matrices a and b; x broadcasts to the product."""
    def addmm_(self, a: Tensor, b: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """Give beta * x + alpha * (a @ b) for matrices a and b; x broadcasts to the product."""
    def addmv(
        self,
        a: Tensor,
        b: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give beta * x + alpha * (a @ b) for a matrix a and a vector b."""
    def addmv_(self, a: Tensor, b: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """Give beta * x + alpha * (a @ b) for a matrix a and a vector b."""
    def addr(
        self,
        a: Tensor,
        b: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give beta * x + alpha * outer(a, b) for vectors a and b."""
    def addr_(self, a: Tensor, b: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """Give beta * x + alpha * outer(a, b) for vectors a and b."""
    def adjoint(self) -> Tensor:
        """Exchange the last two axes, and take the conjugate of complex numbers."""
    @overload
    def all(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Whether none is zero."""
    @overload
    def all(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Whether none is zero."""
    def allclose(
        self, y: _Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
    ) -> _bool:
        """Tell whether all elements are close."""
    @property
    def allocator(self) -> Allocator | None: ...
    @overload
    def amax(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The greatest over axes; NaN if any is NaN."""
    @overload
    def amax(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The greatest over axes; NaN if any is NaN."""
    @overload
    def amin(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The smallest over axes; NaN if any is NaN."""
    @overload
    def amin(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The smallest over axes; NaN if any is NaN."""
    @overload
    def aminmax(self, *, axis: _Axes = None, keepdims: _bool = False) -> MinMax:
        """Give the smallest and the greatest element over axes; NaN if any is NaN."""
    @overload
    def aminmax(self, *, dim: _Axes = None, keepdim: _bool = False) -> MinMax:
        """Give the smallest and the greatest element over axes; NaN if any is NaN."""
    def angle(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Argument of a complex number."""
    def angle_(self) -> Self:
        """Argument of a complex number."""
    @overload
    def any(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Whether one is not zero."""
    @overload
    def any(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Whether one is not zero."""
    def arccos(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse cosine."""
    def arccos_(self) -> Self:
        """Inverse cosine."""
    def arccosh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic cosine."""
    def arccosh_(self) -> Self:
        """Inverse hyperbolic cosine."""
    def arcsin(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse sine."""
    def arcsin_(self) -> Self:
        """Inverse sine."""
    def arcsinh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic sine."""
    def arcsinh_(self) -> Self:
        """Inverse hyperbolic sine."""
    def arctan(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse tangent."""
    def arctan2(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The angle of the point (y, x): atan(x / y) in the right quadrant."""
    def arctan2_(self, y: Tensor | _Number) -> Self:
        """The angle of the point (y, x): atan(x / y) in the right quadrant."""
    def arctan_(self) -> Self:
        """Inverse tangent."""
    def arctanh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic tangent."""
    def arctanh_(self) -> Self:
        """Inverse hyperbolic tangent."""
    @overload
    def argmax(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Where the greatest is, in row-major order: the first, or the first NaN."""
    @overload
    def argmax(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Where the greatest is, in row-major order: the first, or the first NaN."""
    @overload
    def argmin(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Where the smallest is, in row-major order: the first, or the first NaN."""
    @overload
    def argmin(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Where the smallest is, in row-major order: the first, or the first NaN."""
    @overload
    def argsort(
        self,
        axis: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the indices that sort along an axis. Equal elements keep their order."""
    @overload
    def argsort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the indices that sort along an axis. Equal elements keep their order."""
    def argwhere(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give the coordinates of elements that are not zero, one row for each."""
    def array_equal(self, y: Tensor) -> _bool:
        """Tell whether two tensors have the same shape and equal elements; NaN equals nothing."""
    def as_strided(
        self,
        shape: _int | Sequence[_int],
        strides: _int | Sequence[_int],
        offset: _int | None = None,
    ) -> Tensor:
        """Any shape and strides over the buffer of x, within its bounds; strides count elements, the offset runs from the start of the buffer and is by default that of x."""
    def asin(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse sine."""
    def asin_(self) -> Self:
        """Inverse sine."""
    def asinh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic sine."""
    def asinh_(self) -> Self:
        """Inverse hyperbolic sine."""
    def astype(
        self,
        dtype: _DTypeLike | None,
        copy: _bool = True,
        device: _str | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Converted to another dtype."""
    def at(self, *index: _int) -> _Real:
        """Give one element as a Python number."""
    def atan(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse tangent."""
    def atan2(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The angle of the point (y, x): atan(x / y) in the right quadrant."""
    def atan2_(self, y: Tensor | _Number) -> Self:
        """The angle of the point (y, x): atan(x / y) in the right quadrant."""
    def atan_(self) -> Self:
        """Inverse tangent."""
    def atanh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Inverse hyperbolic tangent."""
    def atanh_(self) -> Self:
        """Inverse hyperbolic tangent."""
    def atleast_1d(self) -> Tensor:
        """Give tensors with one axis at least; a tuple for several."""
    def atleast_2d(self) -> Tensor:
        """Give tensors with two axes at least, new ones in front; a tuple for several."""
    def atleast_3d(self) -> Tensor:
        """Give tensors with three axes at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves it comes from."""
    def baddbmm(
        self,
        a: Tensor,
        b: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give beta * x + alpha * (a @ b) for batches of matrices."""
    def baddbmm_(self, a: Tensor, b: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """Give beta * x + alpha * (a @ b) for batches of matrices."""
    def bernoulli_(self, p: _Operand = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill x with 1 where a draw of probability p happens, else 0; p may be a tensor."""
    def bfloat16(self) -> Tensor:
        """Give x as bfloat16, or x itself if it is."""
    def bincount(
        self,
        weights: Tensor | None = None,
        minlength: _int = 0,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Count how often each of 0, 1, 2, … occurs in a vector of integers; or sum weights instead."""
    def bitwise_and(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x & y."""
    def bitwise_and_(self, y: Tensor | _Number) -> Self:
        """x & y."""
    def bitwise_count(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Count the bits of |x| that are set, as uint8."""
    def bitwise_count_(self) -> Self:
        """Count the bits of |x| that are set, as uint8."""
    def bitwise_invert(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """~x; logical not for bool."""
    def bitwise_invert_(self) -> Self:
        """~x; logical not for bool."""
    def bitwise_left_shift(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x << y; 0 for a count below 0 or of the width and more."""
    def bitwise_left_shift_(self, y: Tensor | _Number) -> Self:
        """x << y; 0 for a count below 0 or of the width and more."""
    def bitwise_not(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """~x; logical not for bool."""
    def bitwise_not_(self) -> Self:
        """~x; logical not for bool."""
    def bitwise_or(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x | y."""
    def bitwise_or_(self, y: Tensor | _Number) -> Self:
        """x | y."""
    def bitwise_right_shift(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x >> y; the sign fills in; a count below 0 or of the width and more leaves only it."""
    def bitwise_right_shift_(self, y: Tensor | _Number) -> Self:
        """x >> y; the sign fills in; a count below 0 or of the width and more leaves only it."""
    def bitwise_xor(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x ^ y."""
    def bitwise_xor_(self, y: Tensor | _Number) -> Self:
        """x ^ y."""
    def bmm(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Multiply two batches of matrices."""
    def bool(self) -> Tensor:
        """Give x as bool, or x itself if it is."""
    @overload
    def broadcast_to(self, shape: _int | Sequence[_int]) -> Tensor:
        """Repeated along new axes and axes of size 1, without a copy."""
    @overload
    def broadcast_to(self, *shape: _int) -> Tensor:
        """Repeated along new axes and axes of size 1, without a copy."""
    def byte(self) -> Tensor:
        """Give x as uint8, or x itself if it is."""
    def cbrt(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Cube root."""
    def cbrt_(self) -> Self:
        """Cube root."""
    def cdouble(self) -> Tensor:
        """Give x as complex128, or x itself if it is."""
    def ceil(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded up."""
    def ceil_(self) -> Self:
        """Rounded up."""
    def celu(
        self,
        alpha: _float = 1.0,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x where x > 0, else alpha * (e ** (x / alpha) - 1)."""
    def celu_(self, alpha: _float = 1.0) -> Self:
        """Give x where x > 0, else alpha * (e ** (x / alpha) - 1)."""
    def cfloat(self) -> Tensor:
        """Give x as complex64, or x itself if it is."""
    def char(self) -> Tensor:
        """Give x as int8, or x itself if it is."""
    @overload
    def chunk(self, chunks: _int, axis: _int = 0) -> tuple[Tensor, ...]:
        """Part an axis into at most so many pieces of one size; the last may be smaller: views."""
    @overload
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Part an axis into at most so many pieces of one size; the last may be smaller: views."""
    def clamp(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x limited to [min, max]; either may be None."""
    def clamp_(
        self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None
    ) -> Self:
        """x limited to [min, max]; either may be None."""
    def clamp_max(
        self, max: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x, and max where x is more."""
    def clamp_max_(self, max: _Operand) -> Self:
        """Give x, and max where x is more."""
    def clamp_min(
        self, min: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x, and min where x is less."""
    def clamp_min_(self, min: _Operand) -> Self:
        """Give x, and min where x is less."""
    def clear(self) -> Tensor:
        """Set every element to 0."""
    def clear_(self) -> Tensor:
        """Set every element to 0."""
    def clip(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x limited to [min, max]; either may be None."""
    def clip_(
        self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None
    ) -> Self:
        """x limited to [min, max]; either may be None."""
    def clone(self, *, allocator: Allocator | None = None) -> Tensor:
        """Give a contiguous copy, in the scope's allocator or the one given; gradients flow through it."""
    def conj(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Complex conjugate."""
    def conj_(self) -> Self:
        """Complex conjugate."""
    def contiguous(self) -> Tensor:
        """Give x itself if its elements lie in row-major order, else a copy that does."""
    def copy_(self, source: Tensor, non_blocking: _bool = False) -> Tensor:
        """Copy the elements of a tensor of the same shape into this one; nothing else goes on then."""
    def copysign(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The magnitude of x with the sign of y."""
    def copysign_(self, y: Tensor | _Number) -> Self:
        """The magnitude of x with the sign of y."""
    def corrcoef(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give the correlations of variables, which are rows of observations: from -1 to 1."""
    def cos(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Cosine."""
    def cos_(self) -> Self:
        """Cosine."""
    def cosh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Self:
        """Hyperbolic cosine."""
    @overload
    def count_nonzero(
        self,
        axis: _Axes = None,
        *,
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Count the elements over axes that are not zero."""
    @overload
    def count_nonzero(
        self,
        dim: _Axes = None,
        *,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Count the elements over axes that are not zero."""
    def cov(
        self,
        *,
        correction: _float = 1.0,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the covariances of variables, which are rows of observations; a vector is one variable."""
    def cpu(self) -> Tensor:
        """Give x, which is on the CPU."""
    @overload
    def cross(
        self,
        b: Tensor,
        *,
        axis: _int = -1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""
    @overload
    def cross(
        self,
        b: Tensor,
        *,
        dim: _int = -1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""
    @overload
    def cummax(self, axis: _int) -> Ordered:
        """Give the greatest elements so far along an axis, and where they are."""
    @overload
    def cummax(self, dim: _int) -> Ordered:
        """Give the greatest elements so far along an axis, and where they are."""
    @overload
    def cummin(self, axis: _int) -> Ordered:
        """Give the smallest elements so far along an axis, and where they are."""
    @overload
    def cummin(self, dim: _int) -> Ordered:
        """Give the smallest elements so far along an axis, and where they are."""
    @overload
    def cumprod(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumprod(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumprod_(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumprod_(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumsum(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumsum(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumsum_(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumsum_(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumulative_prod(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumulative_prod(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumulative_prod_(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumulative_prod_(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running products along an axis; include_initial puts a 1 in front."""
    @overload
    def cumulative_sum(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumulative_sum(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumulative_sum_(
        self,
        axis: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @overload
    def cumulative_sum_(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        dtype: _DTypeLike | None = None,
        include_initial: _bool = False,
    ) -> Self:
        """Running sums along an axis; include_initial puts a 0 in front."""
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def deg2rad(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Convert degrees to radians."""
    def deg2rad_(self) -> Self:
        """Convert degrees to radians."""
    def degrees(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Convert radians to degrees."""
    def degrees_(self) -> Self:
        """Convert radians to degrees."""
    def detach(self) -> Tensor:
        """Give the same memory outside any graph."""
    def detach_(self) -> Tensor:
        """Take this tensor out of the graph: it becomes a leaf without gradients."""
    @property
    def device(self) -> Device: ...
    def diag(
        self, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Make a matrix with a vector on its k-th diagonal, or copy that diagonal of a matrix."""
    def diag_embed(
        self,
        offset: _int = 0,
        a: _int = -2,
        b: _int = -1,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Put the last axis on a diagonal of two new axes, a and b of the result; zeros elsewhere."""
    def diagflat(
        self, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Make a matrix with all elements on its k-th diagonal, in row-major order."""
    def diagonal(self, offset: _int | None = 0, a: _int = 0, b: _int = 1) -> Tensor:
        """The diagonal of two axes, as the last axis."""
    def diagonal_scatter(
        self,
        src: Tensor,
        offset: _int = 0,
        a: _int = 0,
        b: _int = 1,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy of x with src on the diagonal of two axes, which is the last axis of src."""
    @overload
    def diff(
        self,
        n: _int = 1,
        axis: _int = -1,
        *,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give differences of neighbours along an axis, n times over; put tensors before and after x."""
    @overload
    def diff(
        self,
        n: _int = 1,
        dim: _int = -1,
        *,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give differences of neighbours along an axis, n times over; put tensors before and after x."""
    def dim(self) -> _int:
        """Give the number of axes."""
    def dist(
        self,
        y: Tensor,
        p: _float = 2.0,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the p-norm of x - y, taken as one vector."""
    def div(
        self,
        y: Tensor | _Number,
        *,
        rounding_mode: Literal["floor", "trunc"] | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def div_(
        self, y: Tensor | _Number, *, rounding_mode: Literal["floor", "trunc"] | None = None
    ) -> Self:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def divide(
        self,
        y: Tensor | _Number,
        *,
        rounding_mode: Literal["floor", "trunc"] | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def divide_(
        self, y: Tensor | _Number, *, rounding_mode: Literal["floor", "trunc"] | None = None
    ) -> Self:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def dot(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Multiply two vectors to one number."""
    def double(self) -> Tensor:
        """Give x as float64, or x itself if it is."""
    def dsplit(self, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """Part the third axis into equal pieces, or before indices."""
    def element_size(self) -> _int:
        """Give the number of bytes of an element."""
    def elu(
        self,
        alpha: Tensor | _Number = 1.0,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x where x > 0, else alpha * (e ** x - 1)."""
    def elu_(self, alpha: Tensor | _Number = 1.0) -> Self:
        """x where x > 0, else alpha * (e ** x - 1)."""
    def eq(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x == y. Items of a user's dtype are equal if their bytes are."""
    def eq_(self, y: Tensor | _Number) -> Self:
        """x == y. Items of a user's dtype are equal if their bytes are."""
    def equal_(self, y: Tensor | _Number) -> Self:
        """x == y. Items of a user's dtype are equal if their bytes are."""
    def erf(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Error function."""
    def erf_(self) -> Self:
        """Error function."""
    def erfc(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """1 - erf(x), accurate for large x."""
    def erfc_(self) -> Self:
        """1 - erf(x), accurate for large x."""
    def erfinv(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """The inverse of the error function."""
    def erfinv_(self) -> Self:
        """The inverse of the error function."""
    def exp(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """e ** x."""
    def exp2(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """2 ** x."""
    def exp2_(self) -> Self:
        """2 ** x."""
    def exp_(self) -> Self:
        """e ** x."""
    @overload
    def expand(self, shape: _int | Sequence[_int]) -> Tensor:
        """Like broadcast_to; -1 keeps the size of an axis."""
    @overload
    def expand(self, *shape: _int) -> Tensor:
        """Like broadcast_to; -1 keeps the size of an axis."""
    def expand_as(self, y: Tensor) -> Tensor:
        """Broadcast x to the shape of y, without a copy."""
    @overload
    def expand_dims(self, axis: _int | Sequence[_int] | None) -> Tensor:
        """With new axes of size 1 at the named places of the result."""
    @overload
    def expand_dims(self, *, dim: _int | Sequence[_int] | None) -> Tensor:
        """With new axes of size 1 at the named places of the result."""
    def expit(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """1 / (1 + e ** -x)."""
    def expit_(self) -> Self:
        """1 / (1 + e ** -x)."""
    def expm1(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """e ** x - 1, accurate near 0."""
    def expm1_(self) -> Self:
        """e ** x - 1, accurate near 0."""
    def fill(self, value: Tensor | _Element) -> Tensor:
        """Set every element to one number, or one item of a user's dtype."""
    def fill_(self, value: Tensor | _Element) -> Tensor:
        """Set every element to one number, or one item of a user's dtype."""
    def fix(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded towards zero."""
    def fix_(self) -> Self:
        """Rounded towards zero."""
    def flat_index(self, *index: _int) -> _int:
        """Give where in the buffer the element at an index lies: offset + sum of index * stride."""
    def flat_reverse(self) -> Tensor:
        """Give all elements in reverse as if they were one flat line, row by row, in x's shape."""
    def flat_reverse_(self) -> Self:
        """Give all elements in reverse as if they were one flat line, row by row, in x's shape."""
    def flat_sort(
        self,
        *,
        descending: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give all elements in order as if they were one flat line, row by row, in x's shape."""
    def flat_sort_(self, *, descending: _bool = False) -> Self:
        """Give all elements in order as if they were one flat line, row by row, in x's shape."""
    def flatten(self, start: _int = 0, stop: _int = -1) -> Tensor:
        """Merge the axes from start to stop into one."""
    @overload
    def flip(self, axis: _int | Sequence[_int] | None = None) -> Tensor:
        """Reversed along the named axes, or all."""
    @overload
    def flip(self, *axis: _int) -> Tensor:
        """Reversed along the named axes, or all."""
    @overload
    def flip(self, *, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Reversed along the named axes, or all."""
    def fliplr(self) -> Tensor:
        """Reverse the second axis."""
    def flipud(self) -> Tensor:
        """Reverse the first axis."""
    def float(self) -> Tensor:
        """Give x as float32, or x itself if it is."""
    def float_power(
        self, y: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x ** y in float64, or in complex128 if either is complex."""
    def float_power_(self, y: _Operand) -> Self:
        """Give x ** y in float64, or in complex128 if either is complex."""
    def floor(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded down."""
    def floor_(self) -> Self:
        """Rounded down."""
    def floor_divide(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The quotient rounded down; a number over infinity is a zero, an integer over 0 is 0."""
    def floor_divide_(self, y: Tensor | _Number) -> Self:
        """The quotient rounded down; a number over infinity is a zero, an integer over 0 is 0."""
    def fmax(
        self, y: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the larger of x and y; where one is NaN, the other."""
    def fmax_(self, y: Tensor) -> Self:
        """Give the larger of x and y; where one is NaN, the other."""
    def fmin(
        self, y: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the smaller of x and y; where one is NaN, the other."""
    def fmin_(self, y: Tensor) -> Self:
        """Give the smaller of x and y; where one is NaN, the other."""
    def fmod(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The remainder with the sign of x; an integer modulo 0 is 0."""
    def fmod_(self, y: Tensor | _Number) -> Self:
        """The remainder with the sign of x; an integer modulo 0 is 0."""
    def frac(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give what is left of x without its integer part, with the sign of x."""
    def frac_(self) -> Self:
        """Give what is left of x without its integer part, with the sign of x."""
    def frexp(self) -> Parts:
        """Take x apart into mantissa * 2 ** exponent, with 0.5 <= |mantissa| < 1; exponents are int32."""
    @overload
    def gather(
        self,
        axis: _int,
        index: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x[…, index[…, k, …], …] for each position of the index, which is no larger than x."""
    @overload
    def gather(
        self,
        dim: _int,
        index: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x[…, index[…, k, …], …] for each position of the index, which is no larger than x."""
    def gcd(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The greatest common divisor, of two zeros 0. That of the lowest integer and 0 or itself does not fit its dtype, and wraps to the lowest integer."""
    def gcd_(self, y: Tensor | _Number) -> Self:
        """The greatest common divisor, of two zeros 0. That of the lowest integer and 0 or itself does not fit its dtype, and wraps to the lowest integer."""
    def ge(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x >= y."""
    def ge_(self, y: Tensor | _Number) -> Self:
        """x >= y."""
    def gelu(
        self,
        *,
        approximate: _str = "none",
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x times the normal distribution function at x; approximate='tanh' is the faster formula."""
    def gelu_(self, *, approximate: _str = "none") -> Self:
        """x times the normal distribution function at x; approximate='tanh' is the faster formula."""
    def ger(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give all products of elements of two vectors."""
    def getitem(self, key: _Key) -> Tensor:
        """x[key] for integers, slices, `...` and None: a view."""
    @overload
    def glu(
        self, axis: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the first half of an axis times the sigmoid of the second."""
    @overload
    def glu(
        self, dim: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the first half of an axis times the sigmoid of the second."""
    def greater(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x > y."""
    def greater_(self, y: Tensor | _Number) -> Self:
        """x > y."""
    def greater_equal(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x >= y."""
    def greater_equal_(self, y: Tensor | _Number) -> Self:
        """x >= y."""
    def gt(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x > y."""
    def gt_(self, y: Tensor | _Number) -> Self:
        """x > y."""
    def half(self) -> Tensor:
        """Give x as float16, or x itself if it is."""
    def hardshrink(
        self, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x, and 0 where |x| <= lambd."""
    def hardshrink_(self, lambd: _float = 0.5) -> Self:
        """Give x, and 0 where |x| <= lambd."""
    def hardsigmoid(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x / 6 + 1 / 2 limited to [0, 1]."""
    def hardsigmoid_(self) -> Self:
        """Give x / 6 + 1 / 2 limited to [0, 1]."""
    def hardswish(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x * hardsigmoid(x)."""
    def hardswish_(self) -> Self:
        """Give x * hardsigmoid(x)."""
    def hardtanh(
        self,
        min: _float = -1.0,
        max: _float = 1.0,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Limit x to [min, max]."""
    def hardtanh_(self, min: _float = -1.0, max: _float = 1.0) -> Self:
        """Limit x to [min, max]."""
    def heaviside(
        self, values: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give 0 where x < 0, 1 where x > 0, and the values where x is 0."""
    def heaviside_(self, values: Tensor) -> Self:
        """Give 0 where x < 0, 1 where x > 0, and the values where x is 0."""
    def histc(
        self,
        bins: _int = 100,
        min: _float = 0.0,
        max: _float = 0.0,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Count the elements in intervals of equal width from min to max, in the dtype of x."""
    def hsplit(self, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """Part the second axis (the only one of a vector) into equal pieces, or before indices."""
    def hypot(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """sqrt(x * x + y * y) without overflow."""
    def hypot_(self, y: Tensor | _Number) -> Self:
        """sqrt(x * x + y * y) without overflow."""
    def i0(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Self:
        """The modified Bessel function of the first kind, of order 0."""
    def i1(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """The modified Bessel function of the first kind, of order 1."""
    def i1_(self) -> Self:
        """The modified Bessel function of the first kind, of order 1."""
    @property
    def imag(self) -> Tensor: ...
    @imag.setter
    def imag(self, value: Tensor) -> None: ...
    @overload
    def index_add(
        self,
        axis: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with the slices of alpha * source added at a vector of indices along an axis."""
    @overload
    def index_add(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with the slices of alpha * source added at a vector of indices along an axis."""
    @overload
    def index_add_(self, axis: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Self:
        """Give x with the slices of alpha * source added at a vector of indices along an axis."""
    @overload
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Self:
        """Give x with the slices of alpha * source added at a vector of indices along an axis."""
    @overload
    def index_copy(
        self,
        axis: _int,
        index: Tensor,
        source: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with the slices of source at a vector of indices along an axis."""
    @overload
    def index_copy(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with the slices of source at a vector of indices along an axis."""
    @overload
    def index_copy_(self, axis: _int, index: Tensor, source: Tensor) -> Self:
        """Give a copy with the slices of source at a vector of indices along an axis."""
    @overload
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """Give a copy with the slices of source at a vector of indices along an axis."""
    @overload
    def index_fill(
        self,
        axis: _int,
        index: Tensor,
        value: _Number,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with one value at a vector of indices along an axis."""
    @overload
    def index_fill(
        self,
        dim: _int,
        index: Tensor,
        value: _Number,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with one value at a vector of indices along an axis."""
    @overload
    def index_fill_(self, axis: _int, index: Tensor, value: _Number) -> Self:
        """Give a copy with one value at a vector of indices along an axis."""
    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: _Number) -> Self:
        """Give a copy with one value at a vector of indices along an axis."""
    def index_put(
        self,
        indices: Sequence[Tensor],
        values: Tensor,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with x[indices] = values, or with the values added."""
    def index_put_(
        self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False
    ) -> Self:
        """Give a copy with x[indices] = values, or with the values added."""
    @overload
    def index_select(
        self,
        axis: _int,
        index: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the slices of an axis at a vector of indices."""
    @overload
    def index_select(
        self,
        dim: _int,
        index: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the slices of an axis at a vector of indices."""
    def inner(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Sum products over the last axes of a and b; a 0-d operand scales the other."""
    def int(self) -> Tensor:
        """Give x as int32, or x itself if it is."""
    def is_complex(self) -> _bool:
        """Tell whether the elements are complex numbers."""
    @property
    def is_cuda(self) -> _bool: ...
    def is_floating_point(self) -> _bool:
        """Tell whether the elements are floats."""
    def is_signed(self) -> _bool:
        """Tell whether the elements can be negative."""
    def isclose(
        self,
        y: _Operand,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Tell where |x - y| <= atol + rtol * |y|; equal infinities are close."""
    def isclose_(
        self, y: _Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
    ) -> Self:
        """Tell where |x - y| <= atol + rtol * |y|; equal infinities are close."""
    def isfinite(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Whether it is neither infinite nor NaN."""
    def isfinite_(self) -> Self:
        """Whether it is neither infinite nor NaN."""
    def isinf(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Whether it is infinite."""
    def isinf_(self) -> Self:
        """Whether it is infinite."""
    def isnan(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Whether it is NaN."""
    def isnan_(self) -> Self:
        """Whether it is NaN."""
    def isneginf(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Tell where x is negative infinity."""
    def isneginf_(self) -> Self:
        """Tell where x is negative infinity."""
    def isposinf(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Tell where x is positive infinity."""
    def isposinf_(self) -> Self:
        """Tell where x is positive infinity."""
    def isreal(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Tell where the imaginary part is 0: everywhere, if x is not complex."""
    def isreal_(self) -> Self:
        """Tell where the imaginary part is 0: everywhere, if x is not complex."""
    def kron(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the Kronecker product: every element of a times the whole of b, as blocks."""
    @overload
    def kthvalue(self, k: _int, axis: _int = -1, keepdims: _bool = False) -> Ordered:
        """Give the k-th smallest element along an axis, from 1 on, and where it is."""
    @overload
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> Ordered:
        """Give the k-th smallest element along an axis, from 1 on, and where it is."""
    def lcm(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The least common multiple, beside a zero 0. One that does not fit the dtype wraps."""
    def lcm_(self, y: Tensor | _Number) -> Self:
        """The least common multiple, beside a zero 0. One that does not fit the dtype wraps."""
    def ldexp(
        self, y: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x * 2 ** y for integers y, rounded once, where 2 ** y itself may overflow."""
    def ldexp_(self, y: _Operand) -> Self:
        """Give x * 2 ** y for integers y, rounded once, where 2 ** y itself may overflow."""
    def le(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x <= y."""
    def le_(self, y: Tensor | _Number) -> Self:
        """x <= y."""
    def leaky_relu(
        self,
        negative_slope: Tensor | _Number = 0.01,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x where x > 0, else negative_slope * x."""
    def leaky_relu_(self, negative_slope: Tensor | _Number = 0.01) -> Self:
        """x where x > 0, else negative_slope * x."""
    def lerp(
        self,
        end: Tensor | _Number,
        weight: Tensor | _Number,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x + weight * (end - x), exactly x for a weight of 0 and end for 1."""
    def lerp_(self, end: Tensor | _Number, weight: Tensor | _Number) -> Self:
        """x + weight * (end - x), exactly x for a weight of 0 and end for 1."""
    def less(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x < y."""
    def less_(self, y: Tensor | _Number) -> Self:
        """x < y."""
    def less_equal(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x <= y."""
    def less_equal_(self, y: Tensor | _Number) -> Self:
        """x <= y."""
    def log(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Natural logarithm."""
    def log10(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Logarithm to base 10."""
    def log10_(self) -> Self:
        """Logarithm to base 10."""
    def log1p(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """log(1 + x), accurate near 0."""
    def log1p_(self) -> Self:
        """log(1 + x), accurate near 0."""
    def log2(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Logarithm to base 2."""
    def log2_(self) -> Self:
        """Logarithm to base 2."""
    def log_(self) -> Self:
        """Natural logarithm."""
    def log_ndtr(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """log(ndtr(x)), accurate where ndtr is near 0 or 1."""
    def log_ndtr_(self) -> Self:
        """log(ndtr(x)), accurate where ndtr is near 0 or 1."""
    def log_sigmoid(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give log(sigmoid(x)) without overflow."""
    def log_sigmoid_(self) -> Self:
        """Give log(sigmoid(x)) without overflow."""
    @overload
    def log_softmax(
        self,
        axis: _int | Sequence[_int] | None = -1,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The logarithm of softmax, without overflow; given a dtype, x is converted first."""
    @overload
    def log_softmax(
        self,
        *,
        dim: _int | Sequence[_int] | None = -1,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The logarithm of softmax, without overflow; given a dtype, x is converted first."""
    def logaddexp(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """log(e ** x + e ** y) without overflow."""
    def logaddexp2(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """log2(2 ** x + 2 ** y) without overflow."""
    def logaddexp2_(self, y: Tensor | _Number) -> Self:
        """log2(2 ** x + 2 ** y) without overflow."""
    def logaddexp_(self, y: Tensor | _Number) -> Self:
        """log(e ** x + e ** y) without overflow."""
    @overload
    def logcumsumexp(
        self,
        axis: _int | Sequence[_int] | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The logarithm of running sums of e ** x along an axis, without overflow."""
    @overload
    def logcumsumexp(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The logarithm of running sums of e ** x along an axis, without overflow."""
    @overload
    def logcumsumexp_(self, axis: _int | Sequence[_int] | None = None) -> Self:
        """The logarithm of running sums of e ** x along an axis, without overflow."""
    @overload
    def logcumsumexp_(self, *, dim: _int | Sequence[_int] | None = None) -> Self:
        """The logarithm of running sums of e ** x along an axis, without overflow."""
    def logical_and(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Whether both are not zero."""
    def logical_and_(self, y: Tensor | _Number) -> Self:
        """Whether both are not zero."""
    def logical_not(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Whether it is zero."""
    def logical_not_(self) -> Self:
        """Whether it is zero."""
    def logical_or(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Whether one is not zero."""
    def logical_or_(self, y: Tensor | _Number) -> Self:
        """Whether one is not zero."""
    def logical_xor(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Whether exactly one is not zero."""
    def logical_xor_(self, y: Tensor | _Number) -> Self:
        """Whether exactly one is not zero."""
    def logit(
        self,
        *,
        eps: _float | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps]."""
    def logit_(self, *, eps: _float | None = None) -> Self:
        """log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps]."""
    def logsigmoid(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give log(sigmoid(x)) without overflow."""
    def logsigmoid_(self) -> Self:
        """Give log(sigmoid(x)) without overflow."""
    @overload
    def logsumexp(
        self,
        axis: _Axes = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give log(sum(e ** x)) over axes, without overflow."""
    @overload
    def logsumexp(
        self,
        dim: _Axes = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give log(sum(e ** x)) over axes, without overflow."""
    def long(self) -> Tensor:
        """Give x as int64, or x itself if it is."""
    def lt(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x < y."""
    def lt_(self, y: Tensor | _Number) -> Self:
        """x < y."""
    def make_contiguous(self) -> Tensor:
        """Give x itself if its elements lie in row-major order, else a copy that does."""
    def masked_fill(
        self,
        mask: Tensor,
        value: _Operand,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Put a value where the mask is true."""
    def masked_fill_(self, mask: Tensor, value: _Operand) -> Self:
        """Put a value where the mask is true."""
    def masked_scatter(
        self,
        mask: Tensor,
        source: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with the elements of source, in their order, where the mask is true."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """Give a copy with the elements of source, in their order, where the mask is true."""
    def masked_select(
        self, mask: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give the elements where the mask is true, in row-major order."""
    def matmul(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The matrix product a @ b. 1-D operands are a row on the left and a column on the right; axes before the last two broadcast."""
    @overload
    def max(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The greatest over axes; NaN if any is NaN."""
    @overload
    def max(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The greatest over axes; NaN if any is NaN."""
    def maximum(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The greater; NaN if either is NaN."""
    def maximum_(self, y: Tensor | _Number) -> Self:
        """The greater; NaN if either is NaN."""
    @overload
    def mean(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The mean over axes."""
    @overload
    def mean(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The mean over axes."""
    @overload
    def median(
        self,
        axis: _Axes = None,
        *,
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the element in the middle of the order, or the mean of the two that are there."""
    @overload
    def median(
        self,
        dim: _Axes = None,
        *,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the element in the middle of the order, or the mean of the two that are there."""
    @overload
    def min(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The smallest over axes; NaN if any is NaN."""
    @overload
    def min(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The smallest over axes; NaN if any is NaN."""
    def minimum(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The smaller; NaN if either is NaN."""
    def minimum_(self, y: Tensor | _Number) -> Self:
        """The smaller; NaN if either is NaN."""
    def mish(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x * tanh(log(1 + e ** x))."""
    def mish_(self) -> Self:
        """x * tanh(log(1 + e ** x))."""
    def mm(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Multiply two matrices."""
    def mod(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The remainder with the sign of y; an integer modulo 0 is 0."""
    def mod_(self, y: Tensor | _Number) -> Self:
        """The remainder with the sign of y; an integer modulo 0 is 0."""
    @overload
    def mode(self, axis: _int = -1, keepdims: _bool = False) -> Ordered:
        """Give the most frequent element along an axis, and where it is last."""
    @overload
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Ordered:
        """Give the most frequent element along an axis, and where it is last."""
    def moveaxis(self, source: _Ints, destination: _Ints) -> Tensor:
        """Move axes to other places; the rest keep their order."""
    def movedim(self, source: _Ints, destination: _Ints) -> Tensor:
        """Move axes to other places; the rest keep their order."""
    def msort(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give the elements in order along the first axis."""
    def mul(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x * y."""
    def mul_(self, y: Tensor | _Number) -> Self:
        """x * y."""
    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Draw indices of the weights in a vector, or in each row of a matrix."""
    def multiply(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x * y."""
    def multiply_(self, y: Tensor | _Number) -> Self:
        """x * y."""
    def mv(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Multiply a matrix with a vector."""
    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Put numbers for NaN (0) and the infinities (the greatest and the lowest of the dtype)."""
    def nan_to_num_(
        self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None
    ) -> Self:
        """Put numbers for NaN (0) and the infinities (the greatest and the lowest of the dtype)."""
    @overload
    def nanmean(
        self,
        axis: _Axes = None,
        keepdims: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the mean over axes of the elements that are not NaN; NaN where all are."""
    @overload
    def nanmean(
        self,
        dim: _Axes = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the mean over axes of the elements that are not NaN; NaN where all are."""
    @overload
    def nanmedian(
        self,
        axis: _Axes = None,
        *,
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the median of the elements that are not NaN; NaN where all are."""
    @overload
    def nanmedian(
        self,
        dim: _Axes = None,
        *,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the median of the elements that are not NaN; NaN where all are."""
    @overload
    def nanquantile(
        self,
        q: _Operand,
        axis: _Axes = None,
        *,
        method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give quantiles of the elements that are not NaN; NaN where all are."""
    @overload
    def nanquantile(
        self,
        q: _Operand,
        dim: _Axes = None,
        *,
        method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give quantiles of the elements that are not NaN; NaN where all are."""
    @overload
    def nansum(
        self,
        axis: _Axes = None,
        keepdims: _bool = False,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the sum over axes of the elements that are not NaN."""
    @overload
    def nansum(
        self,
        dim: _Axes = None,
        keepdim: _bool = False,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the sum over axes of the elements that are not NaN."""
    @overload
    def narrow(self, axis: _int, start: _int, length: _int) -> Tensor:
        """Give `length` elements of an axis from `start` on: a view."""
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """Give `length` elements of an axis from `start` on: a view."""
    def ndimension(self) -> _int:
        """Give the number of axes."""
    def ndtr(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """The normal distribution function: the share of numbers below x."""
    def ndtr_(self) -> Self:
        """The normal distribution function: the share of numbers below x."""
    def ndtri(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """The number that a share of x lies below: the inverse of ndtr."""
    def ndtri_(self) -> Self:
        """The number that a share of x lies below: the inverse of ndtr."""
    def ne(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x != y."""
    def ne_(self, y: Tensor | _Number) -> Self:
        """x != y."""
    def neg(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """-x."""
    def neg_(self) -> Self:
        """-x."""
    def negative(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """-x."""
    def negative_(self) -> Self:
        """-x."""
    def nelement(self) -> _int:
        """Give the number of elements."""
    @overload
    def new_empty(
        self,
        shape: _Ints,
        *,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make a tensor of x's dtype whose elements are not set."""
    @overload
    def new_empty(
        self,
        *shape: _int,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make a tensor of x's dtype whose elements are not set."""
    def new_full(
        self,
        shape: _Ints,
        fill_value: _Element,
        *,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make a tensor of x's dtype with one value everywhere."""
    @overload
    def new_ones(
        self,
        shape: _Ints,
        *,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make ones of x's dtype, of any shape."""
    @overload
    def new_ones(
        self,
        *shape: _int,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make ones of x's dtype, of any shape."""
    def new_tensor(
        self,
        data: object,
        *,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make a tensor of numbers in x's dtype."""
    @overload
    def new_zeros(
        self,
        shape: _Ints,
        *,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make zeros of x's dtype, of any shape."""
    @overload
    def new_zeros(
        self,
        *shape: _int,
        dtype: _DTypeLike | None = None,
        requires_grad: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Make zeros of x's dtype, of any shape."""
    def nextafter(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The next number after x towards y."""
    def nextafter_(self, y: Tensor | _Number) -> Self:
        """The next number after x towards y."""
    def nonzero(self, *, as_tuple: _bool = True) -> tuple[Tensor, ...]:
        """Give the coordinates of elements that are not zero, one index tensor for each axis."""
    @overload
    def norm(
        self,
        p: _float | _str = 2,
        axis: _Axes = None,
        keepdims: _bool = False,
        *,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the p-norm of vectors along axes, or of all elements: (sum |x| ** p) ** (1 / p)."""
    @overload
    def norm(
        self,
        p: _float | _str = 2,
        dim: _Axes = None,
        keepdim: _bool = False,
        *,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the p-norm of vectors along axes, or of all elements: (sum |x| ** p) ** (1 / p)."""
    def normal_(
        self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill x from the normal distribution of a mean and a deviation."""
    def not_equal(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x != y."""
    def not_equal_(self, y: Tensor | _Number) -> Self:
        """x != y."""
    def numel(self) -> _int:
        """Give the number of elements."""
    def numpy(self, *, force: _bool = False) -> _Array:
        """Give a NumPy array over the tensor's memory: no copy. bfloat16 has no NumPy dtype."""
    def outer(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give all products of elements of two vectors."""
    def pad(
        self,
        pad: _Ints,
        mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
        value: _Number | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Put a border around a tensor."""
    @overload
    def permute(self, axes: _int | Sequence[_int]) -> Tensor:
        """The axes in the given order."""
    @overload
    def permute(self, *axes: _int) -> Tensor:
        """The axes in the given order."""
    @overload
    def permute_dims(self, axes: _int | Sequence[_int]) -> Tensor:
        """The axes in the given order."""
    @overload
    def permute_dims(self, *axes: _int) -> Tensor:
        """The axes in the given order."""
    def positive(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """+x: a copy."""
    def positive_(self) -> Self:
        """+x: a copy."""
    def pow(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x ** y. Integers wrap; an integer to a negative power is 1/x truncated."""
    def pow_(self, y: Tensor | _Number) -> Self:
        """x ** y. Integers wrap; an integer to a negative power is 1/x truncated."""
    def prelu(
        self, weight: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x where x > 0, else weight * x, with one weight or one for each size of axis 1."""
    def prelu_(self, weight: Tensor) -> Self:
        """Give x where x > 0, else weight * x, with one weight or one for each size of axis 1."""
    @overload
    def prod(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The product over axes; integers are multiplied in 64 bits."""
    @overload
    def prod(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The product over axes; integers are multiplied in 64 bits."""
    @overload
    def quantile(
        self,
        q: _Operand,
        axis: _Axes = None,
        *,
        method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the value that a share q of the elements lies below."""
    @overload
    def quantile(
        self,
        q: _Operand,
        dim: _Axes = None,
        *,
        method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the value that a share q of the elements lies below."""
    def rad2deg(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Convert radians to degrees."""
    def rad2deg_(self) -> Self:
        """Convert radians to degrees."""
    def radians(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Convert degrees to radians."""
    def radians_(self) -> Self:
        """Convert degrees to radians."""
    def random_(
        self,
        low: _int | None = None,
        high: _int | None = None,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Fill x with integers from [low, high), or from [0, low)."""
    def ravel(self) -> Tensor:
        """Give the elements along one axis, in row-major order."""
    def read(self, *index: _int, dtype: _DTypeLike) -> _Real:
        """Give the element at an index, of a tensor that has this dtype: another one raises."""
    @property
    def real(self) -> Tensor: ...
    @real.setter
    def real(self, value: Tensor) -> None: ...
    def reciprocal(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """1 / x."""
    def reciprocal_(self) -> Self:
        """1 / x."""
    def register_hook(self, hook: Callable[[Tensor], object]) -> Handle:
        """Call a function with the gradient of this tensor; what it gives, if any, replaces it."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> Handle:
        """Call a function with this leaf after its gradient was accumulated."""
    def relu(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """0 where x < 0, else x."""
    def relu6(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Limit x to [0, 6]."""
    def relu6_(self) -> Self:
        """Limit x to [0, 6]."""
    def relu_(self) -> Self:
        """0 where x < 0, else x."""
    def remainder(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """The remainder with the sign of y; an integer modulo 0 is 0."""
    def remainder_(self, y: Tensor | _Number) -> Self:
        """The remainder with the sign of y; an integer modulo 0 is 0."""
    @overload
    def renorm(
        self,
        p: _float,
        axis: _int,
        maxnorm: _float,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Scale the slices along an axis whose p-norm is above maxnorm down to it."""
    @overload
    def renorm(
        self,
        p: _float,
        dim: _int,
        maxnorm: _float,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Scale the slices along an axis whose p-norm is above maxnorm down to it."""
    @overload
    def renorm_(self, p: _float, axis: _int, maxnorm: _float) -> Self:
        """Scale the slices along an axis whose p-norm is above maxnorm down to it."""
    @overload
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """Scale the slices along an axis whose p-norm is above maxnorm down to it."""
    @overload
    def repeat_interleave(
        self,
        repeats: _int | Sequence[_int] | Tensor,
        axis: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Repeat each element, along an axis or of the flattened tensor."""
    @overload
    def repeat_interleave(
        self,
        repeats: _int | Sequence[_int] | Tensor,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Repeat each element, along an axis or of the flattened tensor."""
    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Ask for gradients of this tensor, or no longer."""
    @overload
    def reshape(self, shape: _int | Sequence[_int], copy: _bool | None = None) -> Tensor:
        """Another shape with the same elements in row-major order; one size may be -1. A view where the strides allow it, else a copy; copy=True copies always, copy=False never."""
    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """Another shape with the same elements in row-major order; one size may be -1. A view where the strides allow it, else a copy; copy=True copies always, copy=False never."""
    def reshape_as(self, y: Tensor) -> Tensor:
        """Give x with the shape of y."""
    def retain_grad(self) -> None:
        """Keep the gradient of a result in `.grad`, as leaves do."""
    @property
    def retains_grad(self) -> _bool: ...
    def rint(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded to nearest, halves to even."""
    def rint_(self) -> Self:
        """Rounded to nearest, halves to even."""
    @overload
    def roll(
        self,
        shift: _Ints,
        axis: _Axes = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Shift elements along axes; what leaves at one end comes in at the other."""
    @overload
    def roll(
        self,
        shift: _Ints,
        dim: _Axes = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Shift elements along axes; what leaves at one end comes in at the other."""
    def rot90(self, k: _int = 1, axes: _Ints = (0, 1)) -> Tensor:
        """Turn two axes by k quarters, from the first towards the second."""
    def round(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded to nearest, halves to even."""
    def round_(self) -> Self:
        """Rounded to nearest, halves to even."""
    def rsqrt(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """1 / sqrt(x)."""
    def rsqrt_(self) -> Self:
        """1 / sqrt(x)."""
    def scale_(self, y: Tensor | _Number) -> Self:
        """x * y."""
    @overload
    def scatter(
        self,
        axis: _int,
        index: Tensor,
        src: _Operand,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put."""
    @overload
    def scatter(
        self,
        dim: _int,
        index: Tensor,
        src: _Operand,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put."""
    @overload
    def scatter_(self, axis: _int, index: Tensor, src: _Operand) -> Self:
        """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: _Operand) -> Self:
        """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put."""
    @overload
    def scatter_add(
        self,
        axis: _int,
        index: Tensor,
        src: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with src added at x[…, index[…, k, …], …]."""
    @overload
    def scatter_add(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with src added at x[…, index[…, k, …], …]."""
    @overload
    def scatter_add_(self, axis: _int, index: Tensor, src: Tensor) -> Self:
        """Give x with src added at x[…, index[…, k, …], …]."""
    @overload
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """Give x with src added at x[…, index[…, k, …], …]."""
    @overload
    def scatter_reduce(
        self,
        axis: _int,
        index: Tensor,
        src: Tensor,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with src joined at x[…, index[…, k, …], …]: summed, multiplied, averaged, compared."""
    @overload
    def scatter_reduce(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x with src joined at x[…, index[…, k, …], …]: summed, multiplied, averaged, compared."""
    @overload
    def scatter_reduce_(
        self,
        axis: _int,
        index: Tensor,
        src: Tensor,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        *,
        include_self: _bool = True,
    ) -> Self:
        """Give x with src joined at x[…, index[…, k, …], …]: summed, multiplied, averaged, compared."""
    @overload
    def scatter_reduce_(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        *,
        include_self: _bool = True,
    ) -> Self:
        """Give x with src joined at x[…, index[…, k, …], …]: summed, multiplied, averaged, compared."""
    @overload
    def select(self, axis: _int, index: _int) -> Tensor:
        """Give one slice along an axis, which goes: a view."""
    @overload
    def select(self, dim: _int, index: _int) -> Tensor:
        """Give one slice along an axis, which goes: a view."""
    @overload
    def select_scatter(
        self,
        src: Tensor,
        axis: _int,
        index: _int,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy of x with src at one index of an axis."""
    @overload
    def select_scatter(
        self,
        src: Tensor,
        dim: _int,
        index: _int,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy of x with src at one index of an axis."""
    def selu(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a scaled elu, whose results tend to mean 0 and variance 1."""
    def selu_(self) -> Self:
        """Give a scaled elu, whose results tend to mean 0 and variance 1."""
    def sgn(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """-1, 0 or 1 by the sign; x / abs(x) for complex x."""
    def sgn_(self) -> Self:
        """-1, 0 or 1 by the sign; x / abs(x) for complex x."""
    def short(self) -> Tensor:
        """Give x as int16, or x itself if it is."""
    def sigmoid(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """1 / (1 + e ** -x)."""
    def sigmoid_(self) -> Self:
        """1 / (1 + e ** -x)."""
    def sign(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """-1, 0 or 1 by the sign; x / abs(x) for complex x."""
    def sign_(self) -> Self:
        """-1, 0 or 1 by the sign; x / abs(x) for complex x."""
    def signbit(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Whether the sign bit is set (-0.0 too)."""
    def signbit_(self) -> Self:
        """Whether the sign bit is set (-0.0 too)."""
    def silu(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x * sigmoid(x)."""
    def silu_(self) -> Self:
        """x * sigmoid(x)."""
    def sin(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Sine."""
    def sin_(self) -> Self:
        """Sine."""
    def sinc(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give sin(pi * x) / (pi * x), which is 1 at 0 and exactly 0 at every other integer."""
    def sinc_(self) -> Self:
        """Give sin(pi * x) / (pi * x), which is 1 at 0 and exactly 0 at every other integer."""
    def sinh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Self:
        """Hyperbolic sine."""
    @overload
    def slice_scatter(
        self,
        src: Tensor,
        axis: _int = 0,
        start: _int | None = None,
        end: _int | None = None,
        step: _int = 1,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy of x with src at a slice of an axis."""
    @overload
    def slice_scatter(
        self,
        src: Tensor,
        dim: _int = 0,
        start: _int | None = None,
        end: _int | None = None,
        step: _int = 1,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give a copy of x with src at a slice of an axis."""
    @overload
    def softmax(
        self,
        axis: _int | Sequence[_int] | None = -1,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""
    @overload
    def softmax(
        self,
        *,
        dim: _int | Sequence[_int] | None = -1,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""
    def softplus(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """log(1 + e ** x)."""
    def softplus_(self) -> Self:
        """log(1 + e ** x)."""
    def softshrink(
        self, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Move x towards 0 by lambd, and to 0 where |x| <= lambd."""
    def softshrink_(self, lambd: _float = 0.5) -> Self:
        """Move x towards 0 by lambd, and to 0 where |x| <= lambd."""
    def softsign(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Give x / (1 + |x|)."""
    def softsign_(self) -> Self:
        """Give x / (1 + |x|)."""
    @overload
    def sort(
        self,
        axis: _int = -1,
        *,
        descending: _bool = False,
        stable: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the elements in order along an axis."""
    @overload
    def sort(
        self,
        dim: _int = -1,
        *,
        descending: _bool = False,
        stable: _bool = True,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the elements in order along an axis."""
    @overload
    def split(self, sizes: _int | Sequence[_int], axis: _int = 0) -> tuple[Tensor, ...]:
        """Part an axis into pieces of a size (the last may be smaller), or of several sizes: views."""
    @overload
    def split(self, sizes: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Part an axis into pieces of a size (the last may be smaller), or of several sizes: views."""
    def sqrt(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Square root."""
    def sqrt_(self) -> Self:
        """Square root."""
    def square(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """x * x."""
    def square_(self) -> Self:
        """x * x."""
    @overload
    def squeeze(self, axis: _int | Sequence[_int] | None = None) -> Tensor:
        """Without the named axes of size 1, or all of them."""
    @overload
    def squeeze(self, *axis: _int) -> Tensor:
        """Without the named axes of size 1, or all of them."""
    @overload
    def squeeze(self, *, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Without the named axes of size 1, or all of them."""
    @overload
    def std(
        self,
        axis: _Axes = None,
        *,
        correction: _float = 0.0,
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the standard deviation over axes: the root of the variance."""
    @overload
    def std(
        self,
        dim: _Axes = None,
        *,
        correction: _float = 0.0,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the standard deviation over axes: the root of the variance."""
    @overload
    def std_mean(
        self, axis: _Axes = None, *, correction: _float, keepdims: _bool = False
    ) -> StdMean:
        """Give the standard deviation and the mean over axes."""
    @overload
    def std_mean(self, dim: _Axes = None, *, correction: _float, keepdim: _bool = False) -> StdMean:
        """Give the standard deviation and the mean over axes."""
    def storage_offset(self) -> _int:
        """Give where in the buffer the first element lies."""
    @overload
    def stride(self, axis: None = None) -> tuple[_int, ...]:
        """Give the strides in elements, or that of one axis."""
    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]:
        """Give the strides in elements, or that of one axis."""
    @overload
    def stride(self, axis: _int) -> _int:
        """Give the strides in elements, or that of one axis."""
    @overload
    def stride(self, dim: _int) -> _int:
        """Give the strides in elements, or that of one axis."""
    def sub(
        self,
        y: Tensor | _Number,
        *,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x - y, or x - alpha * y."""
    def sub_(self, y: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """x - y, or x - alpha * y."""
    def subtract(
        self,
        y: Tensor | _Number,
        *,
        alpha: _Number = 1,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x - y, or x - alpha * y."""
    def subtract_(self, y: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """x - y, or x - alpha * y."""
    @overload
    def sum(
        self,
        axis: _int | Sequence[_int] | None = None,
        keepdims: _bool = False,
        dtype: _DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The sum over axes; integers are summed in 64 bits."""
    @overload
    def sum(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """The sum over axes; integers are summed in 64 bits."""
    @overload
    def sum_to_shape(
        self, shape: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""
    @overload
    def sum_to_shape(
        self, *shape: _int, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""
    @overload
    def sum_to_size(
        self, shape: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""
    @overload
    def sum_to_size(
        self, *shape: _int, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""
    def swapaxes(self, a: _int, b: _int) -> Tensor:
        """Two axes exchanged; permute gives all axes an order."""
    def swapdims(self, a: _int, b: _int) -> Tensor:
        """Two axes exchanged; permute gives all axes an order."""
    def swish(
        self,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x * sigmoid(x)."""
    def swish_(self) -> Self:
        """x * sigmoid(x)."""
    def t(self) -> Tensor:
        """Transpose a matrix; vectors and numbers stay themselves."""
    @overload
    def take(
        self,
        indices: Tensor,
        axis: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the elements at indices along an axis; None takes from the flattened tensor."""
    @overload
    def take(
        self,
        indices: Tensor,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the elements at indices along an axis; None takes from the flattened tensor."""
    @overload
    def take_along_dim(
        self,
        indices: Tensor,
        axis: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give, for each position of indices, the element at that index along the axis."""
    @overload
    def take_along_dim(
        self,
        indices: Tensor,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give, for each position of indices, the element at that index along the axis."""
    def tan(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Tangent."""
    def tan_(self) -> Self:
        """Tangent."""
    def tanh(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Self:
        """Hyperbolic tangent."""
    def tanhshrink(
        self, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Give x - tanh(x)."""
    def tanhshrink_(self) -> Self:
        """Give x - tanh(x)."""
    @overload
    def tensor_split(
        self, sections: _int | Sequence[_int] | Tensor, axis: _int = 0
    ) -> tuple[Tensor, ...]:
        """Part an axis into so many pieces of nearly one size, or before the given indices: views."""
    @overload
    def tensor_split(
        self, sections: _int | Sequence[_int] | Tensor, dim: _int = 0
    ) -> tuple[Tensor, ...]:
        """Part an axis into so many pieces of nearly one size, or before the given indices: views."""
    def threshold(
        self,
        threshold: _float,
        value: _float,
        *,
        inplace: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give x where it is above the threshold, else a value."""
    def threshold_(self, threshold: _float, value: _float) -> Self:
        """Give x where it is above the threshold, else a value."""
    @overload
    def tile(
        self, repetitions: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Repeat the whole tensor along its axes, as NumPy's tile does."""
    @overload
    def tile(
        self, *repetitions: _int, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Repeat the whole tensor along its axes, as NumPy's tile does."""
    def to(
        self,
        *targets: Tensor | _DTypeLike | Allocator | None,
        dtype: _DTypeLike | None = None,
        device: _str | None = None,
        copy: _bool = False,
        non_blocking: _bool = False,
    ) -> Tensor:
        """Give x in a dtype, on a device, in an allocator, or as another tensor is."""
    def to_device(self, device: _DeviceLike, /, *, stream: object = None) -> Tensor:
        """Give the tensor on a device: itself, as there is only "cpu"."""
    def tolist(self) -> _Nested:
        """Give the elements as nested lists of Python numbers; a number for a 0-d tensor."""
    @overload
    def topk(
        self, k: _int, axis: _int = -1, largest: _bool = True, sorted: _bool = True
    ) -> Ordered:
        """Give the k largest (or smallest) elements along an axis, and where they are."""
    @overload
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Ordered:
        """Give the k largest (or smallest) elements along an axis, and where they are."""
    def trace(
        self,
        offset: _int = 0,
        *,
        dtype: _DTypeLike | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Sum the diagonal of a matrix; integers are summed in 64 bits."""
    def transpose(self, a: _int, b: _int) -> Tensor:
        """Two axes exchanged; permute gives all axes an order."""
    def tril(
        self, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Keep the lower triangle, up to the k-th diagonal; zero above."""
    def tril_(self, k: _int = 0) -> Self:
        """Keep the lower triangle, up to the k-th diagonal; zero above."""
    def triu(
        self, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Keep the upper triangle, from the k-th diagonal on; zero below."""
    def triu_(self, k: _int = 0) -> Self:
        """Keep the upper triangle, from the k-th diagonal on; zero below."""
    def true_divide(
        self,
        y: Tensor | _Number,
        *,
        rounding_mode: Literal["floor", "trunc"] | None = None,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def true_divide_(
        self, y: Tensor | _Number, *, rounding_mode: Literal["floor", "trunc"] | None = None
    ) -> Self:
        """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""
    def trunc(self, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
        """Rounded towards zero."""
    def trunc_(self) -> Self:
        """Rounded towards zero."""
    def type(self, dtype: _DTypeLike) -> Tensor:
        """Give x in a dtype, or x itself if it has it."""
    def type_as(self, y: Tensor) -> Tensor:
        """Give x in the dtype of y."""
    @overload
    def unbind(self, axis: _int = 0) -> tuple[Tensor, ...]:
        """Give the slices along an axis, which goes."""
    @overload
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Give the slices along an axis, which goes."""
    @overload
    def unflatten(self, axis: _int, sizes: _Ints) -> Tensor:
        """Part an axis into several; one size may be -1."""
    @overload
    def unflatten(self, dim: _int, sizes: _Ints) -> Tensor:
        """Part an axis into several; one size may be -1."""
    @overload
    def unfold(self, axis: _int | Sequence[_int] | None, window: _int, step: _int = 1) -> Tensor:
        """Sliding windows along an axis, as a new last axis."""
    @overload
    def unfold(self, *, dim: _int | Sequence[_int] | None, window: _int, step: _int = 1) -> Tensor:
        """Sliding windows along an axis, as a new last axis."""
    def uniform_(
        self, low: _float = 0.0, high: _float = 1.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill x uniformly from [low, high)."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        axis: _int | None = None,
    ) -> Tensor:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: _int | None = None,
    ) -> Tensor:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        axis: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[True],
        axis: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[True],
        dim: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        axis: _int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: _int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        axis: _int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique(
        self,
        *,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
        """Give the different elements, or the different slices along an axis, in order."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        axis: _int | None = None,
    ) -> Tensor:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: _int | None = None,
    ) -> Tensor:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        axis: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        axis: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        dim: _int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[True], return_counts: Literal[True], axis: _int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[True], return_counts: Literal[True], dim: _int | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self, return_inverse: _bool = False, return_counts: _bool = False, axis: _int | None = None
    ) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unique_consecutive(
        self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None
    ) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
        """Give the elements, or the slices along an axis, that differ from those before them."""
    @overload
    def unsqueeze(self, axis: _int | Sequence[_int] | None) -> Tensor:
        """With new axes of size 1 at the named places of the result."""
    @overload
    def unsqueeze(self, *, dim: _int | Sequence[_int] | None) -> Tensor:
        """With new axes of size 1 at the named places of the result."""
    @overload
    def unstack(self, axis: _int = 0) -> tuple[Tensor, ...]:
        """Give the slices along an axis, which goes."""
    @overload
    def unstack(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Give the slices along an axis, which goes."""
    @overload
    def var(
        self,
        axis: _Axes = None,
        *,
        correction: _float = 0.0,
        keepdims: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the variance over axes: the mean square distance from the mean, also of complex numbers."""
    @overload
    def var(
        self,
        dim: _Axes = None,
        *,
        correction: _float = 0.0,
        keepdim: _bool = False,
        out: Tensor | None = None,
        allocator: Allocator | None = None,
    ) -> Tensor:
        """Give the variance over axes: the mean square distance from the mean, also of complex numbers."""
    @overload
    def var_mean(
        self, axis: _Axes = None, *, correction: _float, keepdims: _bool = False
    ) -> VarMean:
        """Give the variance and the mean over axes."""
    @overload
    def var_mean(self, dim: _Axes = None, *, correction: _float, keepdim: _bool = False) -> VarMean:
        """Give the variance and the mean over axes."""
    def vdot(
        self, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """Multiply two vectors to one number, a conjugated."""
    @overload
    def view(
        self,
        shape: _int | Sequence[_int] | _DTypeLike | None = None,
        dtype: _DTypeLike | None = None,
    ) -> Tensor:
        """Like reshape, but never a copy: refuses where the strides do not allow a view. Given a dtype in place of a shape, the same bits as that dtype; items of another size change the last axis, which must be contiguous."""
    @overload
    def view(self, *shape: _int) -> Tensor:
        """Like reshape, but never a copy: refuses where the strides do not allow a view. Given a dtype in place of a shape, the same bits as that dtype; items of another size change the last axis, which must be contiguous."""
    def view_as(self, y: Tensor) -> Tensor:
        """View x with the shape of y: never a copy."""
    def view_as_complex(self) -> Tensor:
        """A last axis of 2, real and imaginary part, as complex numbers: a view. The pairs must lie side by side in memory."""
    def view_as_real(self) -> Tensor:
        """Complex numbers as a last axis of 2, real and imaginary part: a view."""
    def vsplit(self, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
        """Part the first axis into equal pieces, or before indices."""
    def where(self, condition: Tensor, other: _Operand) -> Tensor:
        """Give the elements where the condition holds, else the others: ts.where(condition, x, other)."""
    def write(self, *index: _int, value: _Element, dtype: _DTypeLike) -> None:
        """Set the element at an index, of a tensor that has this dtype, to a value of its kind."""
    def xlogy(
        self, y: Tensor | _Number, *, out: Tensor | None = None, allocator: Allocator | None = None
    ) -> Tensor:
        """x * log(y), and 0 for x = 0 unless y is NaN."""
    def xlogy_(self, y: Tensor | _Number) -> Self:
        """x * log(y), and 0 for x = 0 unless y is NaN."""
    def zero_(self) -> Tensor:
        """Set every element to 0."""
    def zero_grad(self, set_to_none: _bool = True) -> None:
        """Forget the gradient, or set it to 0."""

def adopt(arg0: tuple[Any, ...], arg1: tuple[Any, ...], /) -> None: ...
def all_allocators() -> list[AllocatorHandle]: ...
def allocator_of(arg: object, /) -> AllocatorHandle | None: ...
def array_allocator(arg: object, /) -> AllocatorHandle: ...
def array_check_free(arg: object, /) -> None: ...
def array_clear(arg: object, /) -> None: ...
def array_extend(arg0: object, arg1: object, /) -> None: ...
def array_insert(arg0: object, arg1: int, arg2: object, /) -> None: ...
def array_remove(arg0: object, arg1: int, arg2: int, /) -> None: ...
def array_resize(arg0: object, arg1: int, /) -> None: ...
def array_reverse(arg: object, /) -> None: ...
def array_rewrite(arg0: object, arg1: object, arg2: object, /) -> bool: ...
def array_stamp(arg: object, /) -> tuple[Any, ...]: ...
def array_take(arg0: object, arg1: int, arg2: object, /) -> bool: ...
def base_of(arg: object, /) -> Any: ...
def bitcast(arg0: object, arg1: int, /) -> Tensor: ...
def blas_path() -> str: ...
def block_formats() -> list[Any]: ...
def broadcast_shapes(arg0: Sequence[int], arg1: Sequence[int], /) -> tuple[int, ...]: ...
def buffer_bytes(arg: object, /) -> int: ...
def buffer_key(arg: object, /) -> int: ...
def bump_changes(by: int = 1) -> None: ...
def bump_version(arg: object, /) -> None: ...
def call_key(arg: list[Any], /) -> bytes: ...
def cell_names() -> list[Any]: ...
def conjugate(arg: object, /) -> Any: ...
def convolve(
    arg0: int,
    arg1: object,
    arg2: object,
    arg3: object,
    arg4: object | None,
    arg5: Sequence[int],
    arg6: Sequence[int],
    arg7: Sequence[int],
    arg8: int,
    arg9: bool,
    /,
) -> None: ...
def copy(arg0: object, arg1: object, arg2: bool, /) -> None: ...
def count_changes() -> int: ...
def count_complex(arg0: object, arg1: complex, arg2: complex, arg3: float, /) -> None: ...
def count_floats(arg0: object, arg1: float, arg2: float, arg3: float, /) -> None: ...
def count_integers(arg0: object, arg1: int, arg2: int, /) -> None: ...
def csv_codes(arg0: object, arg1: Sequence[int], arg2: object, /) -> list[Any]: ...
def csv_columns(
    arg0: object, arg1: Sequence[int], arg2: object, arg3: int, arg4: list[Any], arg5: list[Any], /
) -> tuple[Any, ...]: ...
def csv_line(arg0: object, arg1: Sequence[int], arg2: int, arg3: int, /) -> tuple[Any, ...]: ...
def csv_mark_count(arg: int, /) -> int: ...
def csv_marks(arg0: object, arg1: Sequence[int], arg2: int, arg3: object, /) -> tuple[Any, ...]: ...
def csv_record(arg0: object, arg1: Sequence[int], arg2: int, arg3: int, /) -> tuple[Any, ...]: ...
def cumulate(arg0: int, arg1: object, arg2: object, arg3: int, arg4: bool, /) -> None: ...
def cumulate_places(arg0: bool, arg1: object, arg2: object, arg3: int, /) -> None: ...
def current_allocator() -> AllocatorHandle: ...
def default_memory_limit() -> int: ...
def detach(arg: object, /) -> None: ...
def do_overlap(arg0: object, arg1: object, /) -> bool: ...
def dots() -> str: ...
def dropout_counters(arg: int, /) -> int: ...
def dtype_table() -> list[tuple[str, int, int]]: ...
def elementwise(
    opcode: int, dtype: int, out: object, *inputs: object, interruptible: bool = True
) -> None: ...
def elementwise_out_dtype(arg0: int, arg1: int, /) -> int | None: ...
def empty(arg0: Sequence[int], arg1: int, /) -> Tensor: ...
def empty_virtual(arg0: Sequence[int], arg1: int, /) -> Tensor: ...
def fail_allocations_from(arg: int, /) -> None: ...
def fast_path_counts() -> tuple[int, int]: ...
def fill(out: object, value: object, interruptible: bool = False) -> bool: ...
def fill_from_list(out: object, values: list[Any], plain: bool = False) -> bool: ...
def find_outside(arg0: object, arg1: int, arg2: int, /) -> int | None: ...
def forget_base(arg: object, /) -> None: ...
def free_dtypes() -> int: ...
def from_buffer(arg0: object, arg1: bool, /) -> Tensor: ...
def from_dlpack(arg0: object | None, arg1: bool, /) -> Tensor: ...
def fused(arg0: int, arg1: object, arg2: tuple[Any, ...], /) -> None: ...
def fused_names() -> list[Any]: ...
def fused_outline(arg0: int, arg1: tuple[Any, ...], /) -> Any: ...
def gather(
    arg0: object, arg1: object, arg2: Sequence[int], arg3: Sequence[Any], arg4: int, /
) -> None: ...
def has_buffer(arg: object | None, /) -> bool: ...
def has_random(arg0: int, arg1: int, /) -> bool: ...
def heap_allocator() -> AllocatorHandle: ...
def home_of(arg: object, /) -> tuple[Any, ...]: ...
def is_anomalous(arg: object, /) -> bool: ...
def is_blind(arg: object, /) -> bool: ...
def is_grad_enabled() -> bool: ...
def is_recording() -> bool: ...
def isa() -> str: ...
def judge_anomaly(arg0: object, arg1: tuple[Any, ...], arg2: object, /) -> None: ...
def kind_of(arg: object, /) -> str: ...
def layout_of(arg: object, /) -> Layout: ...
def leaf_hooks(arg: object, /) -> Any: ...
def limit(
    arg0: object, arg1: object, arg2: int, arg3: int, arg4: int, arg5: str, arg6: str, /
) -> None: ...
def line_of(arg: object, /) -> str: ...
def linear(
    out: object, x: object, weight: object, bias: object | None, interruptible: bool
) -> None: ...
def link_view(arg0: object, arg1: object, /) -> None: ...
def living_saved(arg: list[Any], /) -> list[Any]: ...
def living_tensors(arg: list[Any], /) -> list[Tensor]: ...
def make_arena(arg0: str, arg1: int, arg2: bool, /) -> AllocatorHandle: ...
def make_buddy(arg0: str, arg1: int, arg2: int, /) -> AllocatorHandle: ...
def make_heap(arg: str, /) -> AllocatorHandle: ...
def make_pool(arg0: str, arg1: int, arg2: int, /) -> AllocatorHandle: ...
def make_slab(arg0: str, arg1: Sequence[int], arg2: int, /) -> AllocatorHandle: ...
def mark_kind(arg0: object, arg1: str, /) -> None: ...
def matmul(arg0: object, arg1: object, arg2: object, arg3: bool, arg4: bool, /) -> None: ...
def may_overlap(arg0: object, arg1: object, /) -> bool: ...
def memory_counts() -> tuple[int, int, int, int, int]: ...
def memory_totals() -> dict[str, Any]: ...
def modes() -> int: ...
def most_item_bytes() -> int: ...
def multiply_into(
    arg0: object, arg1: object, arg2: object, arg3: bool, arg4: bool, arg5: bool, /
) -> bool: ...
def needs_node(*args: object) -> bool: ...
def nonzero(arg: object, /) -> Any: ...
def note_drawing(arg0: object, arg1: int, arg2: int, arg3: int, /) -> None: ...
def note_state(arg: object, /) -> None: ...
def num_threads() -> int: ...
def opcodes() -> list[tuple[str, int]]: ...
def output_of(arg: object, /) -> int: ...
def pause_recording() -> None: ...
def permutation(arg0: object, arg1: int, arg2: int, /) -> None: ...
def permutation_counters(arg: int, /) -> int: ...
def pool_pick(arg0: object, arg1: object, arg2: object, arg3: bool, /) -> bool: ...
def pool_place(arg0: object, arg1: object, arg2: object, arg3: bool, /) -> bool: ...
def pool_places(
    arg0: object,
    arg1: object,
    arg2: Sequence[int],
    arg3: Sequence[int],
    arg4: Sequence[int],
    arg5: Sequence[int],
    arg6: bool,
    /,
) -> None: ...
def random(
    arg0: object, arg1: int, arg2: int, arg3: int, arg4: int, arg5: int, arg6: float, /
) -> None: ...
def random_counters(arg0: object, arg1: int, /) -> int: ...
def record(
    out: object, function: object, inputs: tuple[Any, ...], params: object | None
) -> None: ...
def record_call(
    outs: tuple[Any, ...],
    function: object,
    inputs: tuple[Any, ...],
    params: object | None,
    kept: tuple[Any, ...],
) -> None: ...
def record_lines(arg: bool, /) -> None: ...
def recorded() -> int: ...
def recurrent_slopes(
    cell: int,
    out: object,
    g: object,
    states: object,
    weight: object,
    g_c: object | None,
    is_reversed: bool,
) -> None: ...
def recurrent_states(
    cell: int,
    out: object,
    gates: object,
    weight: object,
    bias_ih: object,
    bias_hh: object,
    h: object,
    c: object | None,
    is_reversed: bool,
    keeps: bool,
) -> None: ...
def reduce(arg0: int, arg1: object, arg2: object, arg3: Sequence[int], arg4: bool, /) -> None: ...
def reduce_names() -> list[Any]: ...
def reduce_out_dtype(arg0: int, arg1: int, /) -> int | None: ...
def refuse_capture(what: str, cure: str = "") -> None: ...
def refuse_user_dtype(arg: int, /) -> None: ...
def register_dtype(arg0: str, arg1: int, /) -> int: ...
def resolve_reshape(arg0: Sequence[int], arg1: Sequence[int], /) -> tuple[int, ...]: ...
def resume_recording() -> None: ...
def rows(arg0: int, arg1: object, arg2: object, arg3: int, arg4: bool, /) -> None: ...
def rows_names() -> list[Any]: ...
def scalar_fits(arg0: object, arg1: int, /) -> bool: ...
def scatter(
    arg0: object, arg1: object, arg2: Sequence[int], arg3: Sequence[Any], arg4: int, /
) -> None: ...
def scatter_add(
    arg0: object, arg1: object, arg2: Sequence[int], arg3: Sequence[Any], arg4: int, /
) -> None: ...
def scatter_join(
    arg0: object, arg1: object, arg2: Sequence[int], arg3: Sequence[Any], arg4: int, arg5: int, /
) -> None: ...
def search(arg0: object, arg1: object, arg2: object, arg3: bool, /) -> None: ...
def set_apply(arg: object, /) -> None: ...
def set_dtype_object(arg0: int, arg1: object, /) -> None: ...
def set_error_maker(arg: object, /) -> None: ...
def set_grad_enabled(arg: bool, /) -> None: ...
def set_hook(arg0: str, arg1: object, /) -> bool: ...
def set_leaf_hooks(x: object, hooks: object | None) -> None: ...
def set_memory_limit(arg: int, /) -> None: ...
def set_modes(arg: int, /) -> None: ...
def set_node_hooks(arg0: object, arg1: object, /) -> None: ...
def set_num_threads(arg: int, /) -> None: ...
def set_package_folder(arg: str, /) -> None: ...
def set_requires_grad(arg0: object, arg1: bool, /) -> None: ...
def set_slot(arg0: str, arg1: object, /) -> bool: ...
def set_thread_local_num_threads(arg: int, /) -> None: ...
def set_watches_values(arg: bool, /) -> None: ...
def site_of_write(arg0: object, arg1: int, /) -> Any: ...
def size_of(arg: Sequence[int], /) -> int: ...
def slopes_size(arg0: int, arg1: int, arg2: int, arg3: int, /) -> int: ...
def sort(
    x: object, axis: int, values: object | None, indices: object | None, descending: bool
) -> None: ...
def source_names() -> list[str]: ...
def sources_of(arg0: tuple[Any, ...], arg1: int, /) -> Any: ...
def states_size(arg0: int, arg1: int, arg2: int, arg3: int, arg4: bool, /) -> int: ...
def supported_isas() -> list[str]: ...
def swap_allocator(next: AllocatorHandle | None) -> AllocatorHandle | None: ...
def sweep(
    roots: tuple[Any, ...],
    gradients: tuple[Any, ...],
    wanted: object | None,
    retains: bool,
    creates: bool,
    since: int | None = None,
    in_parts: bool = False,
) -> Any: ...
def thread_local_num_threads() -> int: ...
def tile_limits() -> tuple[int, int]: ...
def to_dlpack(arg0: object, arg1: bool, arg2: bool, /) -> Any: ...
def to_list(arg: object, /) -> list[Any]: ...
def to_text_bytes(arg: int, /) -> str: ...
def unpack_saved(node: object, places: object | None = None) -> tuple[Any, ...]: ...
def update(arg0: object, arg1: tuple[Any, ...], /) -> bool: ...
def update_all(arg: list[Any], /) -> bool: ...
def update_gradients(arg0: tuple[Any, ...], arg1: tuple[Any, ...], /) -> None: ...
def update_names() -> list[Any]: ...
def use_blas(arg: str, /) -> str: ...
def version_of(arg: object, /) -> int: ...
def view(arg0: object, arg1: Layout, /) -> Tensor: ...
def view_names() -> list[Any]: ...
def watches_values() -> bool: ...
