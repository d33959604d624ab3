"""Written by tools/generate.py from the table of operations; change that, not this."""

from builtins import (
    bool as _bool,
    float as _float,
    int as _int,
    str as _str,
    tuple as _tuple,
)
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

from tessella import (
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cuda as cuda,
    data as data,
    diagrams as diagrams,
    dtypes as dtypes,
    errors as errors,
    fft as fft,
    io as io,
    layouts as layouts,
    linalg as linalg,
    memory as memory,
    metrics as metrics,
    models as models,
    mps as mps,
    nn as nn,
    optim as optim,
    testing as testing,
    text as text,
    trees as trees,
    utils as utils,
)
from tessella._core import Tensor as Tensor
from tessella.allocators import Allocator
from tessella.checkpoints import checkpoint as checkpoint
from tessella.compiler import compile as compile
from tessella.devices import Device as _Device
from tessella.diagrams import graph as graph
from tessella.dtypes import DType as DType, DType as _DType
from tessella.dynamic import DynamicArray as DynamicArray
from tessella.hints import (
    DTypeLike as _DTypeLike,
    Element as _Element,
    Ints as _Ints,
    Number as _Number,
    Operand as _Operand,
    Path as _Path,
)
from tessella.histories import History as History
from tessella.info import __array_namespace_info__ as __array_namespace_info__
from tessella.io import load as load, save as save
from tessella.modes import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from tessella.ops.formulas import Parts
from tessella.ops.histograms import Histogram
from tessella.ops.ordering import Ordered
from tessella.ops.random import Generator as Generator
from tessella.ops.sets import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from tessella.ops.summaries import MinMax, StdMean, VarMean
from tessella.ops.types import FloatLimits, IntegerLimits
from tessella.threads import (
    get_num_threads as get_num_threads,
    num_threads as num_threads,
    set_num_threads as set_num_threads,
)
from tessella.training import fit as fit
from tessella.transforms import (
    grad as grad,
    hessian as hessian,
    jacobian as jacobian,
    jvp as jvp,
    value_and_grad as value_and_grad,
    vjp as vjp,
)

_Axes: TypeAlias = _Ints | None

__version__: _str
Size: TypeAlias = _tuple[_int, ...]
__array_api_version__: _str

def abs(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Absolute value; real for complex x."""

def absolute(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Absolute value; real for complex x."""

def acos(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse cosine."""

def acosh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""

def add(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x + y, or x + alpha * y."""

def addbmm(
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give beta * x + alpha * (the sum of the products of two batches of matrices)."""

def addcdiv(
    x: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: object = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x + value * tensor1 / tensor2; integers become float32 first."""

def addcmul(
    x: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: object = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x + value * tensor1 * tensor2."""

def addmm(
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give beta * x + alpha * (a @ b) for matrices a and b; x broadcasts to the product."""

def addmv(
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give beta * x + alpha * (a @ b) for a matrix a and a vector b."""

def addr(
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give beta * x + alpha * outer(a, b) for vectors a and b."""

def adjoint(x: Tensor) -> Tensor:
    """Exchange the last two axes, and take the conjugate of complex numbers."""

@overload
def all(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether none is zero."""

@overload
def all(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether none is zero."""

def allclose(
    x: _Operand, y: _Operand, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
) -> _bool:
    """Tell whether all elements are close."""

@overload
def amax(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greatest over axes; NaN if any is NaN."""

@overload
def amax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greatest over axes; NaN if any is NaN."""

@overload
def amin(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The smallest over axes; NaN if any is NaN."""

@overload
def amin(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The smallest over axes; NaN if any is NaN."""

@overload
def aminmax(x: Tensor, *, axis: _Axes = None, keepdims: _bool = False) -> MinMax:
    """Give the smallest and the greatest element over axes; NaN if any is NaN."""

@overload
def aminmax(x: Tensor, *, dim: _Axes = None, keepdim: _bool = False) -> MinMax:
    """Give the smallest and the greatest element over axes; NaN if any is NaN."""

def angle(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Argument of a complex number."""

@overload
def any(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether one is not zero."""

@overload
def any(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether one is not zero."""

def arange(
    start: _Number,
    stop: _Number | None = None,
    step: _Number = 1,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count from start to stop, without stop."""

def arccos(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse cosine."""

def arccosh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""

def arcsin(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse sine."""

def arcsinh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic sine."""

def arctan(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse tangent."""

def arctan2(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The angle of the point (y, x): atan(x / y) in the right quadrant."""

def arctanh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""

@overload
def argmax(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Where the greatest is, in row-major order: the first, or the first NaN."""

@overload
def argmax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Where the greatest is, in row-major order: the first, or the first NaN."""

@overload
def argmin(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Where the smallest is, in row-major order: the first, or the first NaN."""

@overload
def argmin(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Where the smallest is, in row-major order: the first, or the first NaN."""

@overload
def argsort(
    x: Tensor,
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
    x: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = True,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the indices that sort along an axis. Equal elements keep their order."""

def argwhere(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give the coordinates of elements that are not zero, one row for each."""

def array_equal(x: Tensor, y: Tensor) -> _bool:
    """Tell whether two tensors have the same shape and equal elements; NaN equals nothing."""

def as_strided(
    x: Tensor,
    shape: _int | Sequence[_int],
    strides: _int | Sequence[_int],
    offset: _int | None = None,
) -> Tensor:
    """Any shape and strides over the buffer of x, within its bounds; strides count elements, the offset runs from the start of the buffer and is by default that of x."""

def as_tensor(
    obj: object,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    copy: _bool | None = None,
) -> Tensor:
    """Give a tensor of a number, nested sequences, a tensor, or an array of any library."""

def asarray(
    obj: object,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    copy: _bool | None = None,
) -> Tensor:
    """Give a tensor of a number, nested sequences, a tensor, or an array of any library."""

def asin(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse sine."""

def asinh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic sine."""

def astype(
    x: Tensor,
    dtype: _DTypeLike | None,
    copy: _bool = True,
    device: _str | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Converted to another dtype."""

def atan(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse tangent."""

def atan2(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The angle of the point (y, x): atan(x / y) in the right quadrant."""

def atanh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""

@overload
def atleast_1d(x: Tensor, /) -> Tensor:
    """Give tensors with one axis at least; a tuple for several."""

@overload
def atleast_1d(x: Tensor, y: Tensor, /, *xs: Tensor) -> tuple[Tensor, ...]:
    """Give tensors with one axis at least; a tuple for several."""

@overload
def atleast_2d(x: Tensor, /) -> Tensor:
    """Give tensors with two axes at least, new ones in front; a tuple for several."""

@overload
def atleast_2d(x: Tensor, y: Tensor, /, *xs: Tensor) -> tuple[Tensor, ...]:
    """Give tensors with two axes at least, new ones in front; a tuple for several."""

@overload
def atleast_3d(x: Tensor, /) -> Tensor:
    """Give tensors with three axes at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""

@overload
def atleast_3d(x: Tensor, y: Tensor, /, *xs: Tensor) -> tuple[Tensor, ...]:
    """Give tensors with three axes at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""

def baddbmm(
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give beta * x + alpha * (a @ b) for batches of matrices."""

def bernoulli(
    p: _Operand,
    size: _Ints | None = None,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw with probability p: True for a number, 1 in its dtype for a tensor of probabilities."""

bfloat16: DType

def bincount(
    x: Tensor,
    weights: Tensor | None = None,
    minlength: _int = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count how often each of 0, 1, 2, … occurs in a vector of integers; or sum weights instead."""

def bitwise_and(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x & y."""

def bitwise_count(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Count the bits of |x| that are set, as uint8."""

def bitwise_invert(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """~x; logical not for bool."""

def bitwise_left_shift(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x << y; 0 for a count below 0 or of the width and more."""

def bitwise_not(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """~x; logical not for bool."""

def bitwise_or(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x | y."""

def bitwise_right_shift(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x >> y; the sign fills in; a count below 0 or of the width and more leaves only it."""

def bitwise_xor(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x ^ y."""

def block_diag(
    *xs: Tensor, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Make a matrix with matrices along its diagonal; vectors are rows, numbers 1 x 1."""

def bmm(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply two batches of matrices."""

bool: DType

def broadcast_arrays(*xs: Tensor) -> tuple[Tensor, ...]:
    """Give views of the tensors with their joint shape."""

def broadcast_shapes(*shapes: _Ints) -> tuple[_int, ...]:
    """Give the joint shape of shapes that broadcast."""

def broadcast_tensors(*xs: Tensor) -> tuple[Tensor, ...]:
    """Give views of the tensors with their joint shape."""

@overload
def broadcast_to(x: Tensor, shape: _int | Sequence[_int]) -> Tensor:
    """Repeated along new axes and axes of size 1, without a copy."""

@overload
def broadcast_to(x: Tensor, *shape: _int) -> Tensor:
    """Repeated along new axes and axes of size 1, without a copy."""

def bucketize(
    x: _Operand,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the interval that each element lies in, between boundaries in ascending order."""

def can_cast(from_: Tensor | _DTypeLike, to: _DTypeLike) -> _bool:
    """Tell whether promotion turns one dtype, or a tensor's, into another."""

def cartesian_prod(
    *arrays: Tensor, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give every choice of one element of each vector, as rows; of one vector, a copy."""

@overload
def cat(
    xs: Sequence[Tensor],
    axis: _int | Sequence[_int] | None = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

@overload
def cat(
    xs: Sequence[Tensor],
    *,
    dim: _int | Sequence[_int] | None = 0,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

def cbrt(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Cube root."""

def cdist(
    a: Tensor,
    b: Tensor,
    p: _float = 2.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the distances between all rows of a and all rows of b, by the p-norm; batches broadcast."""

cdouble: DType

def ceil(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded up."""

def celu(
    x: Tensor,
    alpha: _float = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x where x > 0, else alpha * (e ** (x / alpha) - 1)."""

cfloat: DType

@overload
def chunk(x: Tensor, chunks: _int, axis: _int = 0) -> tuple[Tensor, ...]:
    """Part an axis into at most so many pieces of one size; the last may be smaller: views."""

@overload
def chunk(x: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """Part an axis into at most so many pieces of one size; the last may be smaller: views."""

def clamp(
    x: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x limited to [min, max]; either may be None."""

def clamp_max(
    x: Tensor, max: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x, and max where x is more."""

def clamp_min(
    x: Tensor, min: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x, and min where x is less."""

def clip(
    x: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x limited to [min, max]; either may be None."""

def column_stack(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Join tensors along the second axis; vectors become columns."""

def combinations(
    x: Tensor,
    r: _int = 2,
    with_replacement: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give every choice of r elements of a vector, as rows, in the order of their places."""

def complex(
    real: Tensor, imag: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Make complex numbers of their real and imaginary parts."""

complex128: DType
complex64: DType

@overload
def concat(
    xs: Sequence[Tensor],
    axis: _int | Sequence[_int] | None = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

@overload
def concat(
    xs: Sequence[Tensor],
    *,
    dim: _int | Sequence[_int] | None = 0,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

@overload
def concatenate(
    xs: Sequence[Tensor],
    axis: _int | Sequence[_int] | None = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

@overload
def concatenate(
    xs: Sequence[Tensor],
    *,
    dim: _int | Sequence[_int] | None = 0,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tensors joined along an axis; None flattens them first."""

def conj(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Complex conjugate."""

def contiguous(x: Tensor) -> Tensor:
    """Give x itself if its elements lie in row-major order, else a copy that does."""

def copysign(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The magnitude of x with the sign of y."""

def corrcoef(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give the correlations of variables, which are rows of observations: from -1 to 1."""

def cos(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Cosine."""

def cosh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Hyperbolic cosine."""

@overload
def count_nonzero(
    x: Tensor,
    axis: _Axes = None,
    *,
    keepdims: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count the elements over axes that are not zero."""

@overload
def count_nonzero(
    x: Tensor,
    dim: _Axes = None,
    *,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count the elements over axes that are not zero."""

def cov(
    x: Tensor,
    *,
    correction: _float = 1.0,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the covariances of variables, which are rows of observations; a vector is one variable."""

@overload
def cross(
    a: Tensor,
    b: Tensor,
    *,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""

@overload
def cross(
    a: Tensor,
    b: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the cross product of vectors of 3 elements along an axis; the other axes broadcast."""

@overload
def cummax(x: Tensor, axis: _int) -> Ordered:
    """Give the greatest elements so far along an axis, and where they are."""

@overload
def cummax(x: Tensor, dim: _int) -> Ordered:
    """Give the greatest elements so far along an axis, and where they are."""

@overload
def cummin(x: Tensor, axis: _int) -> Ordered:
    """Give the smallest elements so far along an axis, and where they are."""

@overload
def cummin(x: Tensor, dim: _int) -> Ordered:
    """Give the smallest elements so far along an axis, and where they are."""

@overload
def cumprod(
    x: Tensor,
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
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Running products along an axis; include_initial puts a 1 in front."""

@overload
def cumsum(
    x: Tensor,
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
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Running sums along an axis; include_initial puts a 0 in front."""

@overload
def cumulative_prod(
    x: Tensor,
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
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Running products along an axis; include_initial puts a 1 in front."""

@overload
def cumulative_sum(
    x: Tensor,
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
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Running sums along an axis; include_initial puts a 0 in front."""

@overload
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids up to each point but the first."""

@overload
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids up to each point but the first."""

def deg2rad(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Convert degrees to radians."""

def degrees(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Convert radians to degrees."""

device: TypeAlias = _Device

def diag(
    x: Tensor, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Make a matrix with a vector on its k-th diagonal, or copy that diagonal of a matrix."""

def diag_embed(
    x: Tensor,
    offset: _int = 0,
    a: _int = -2,
    b: _int = -1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Put the last axis on a diagonal of two new axes, a and b of the result; zeros elsewhere."""

def diagflat(
    x: Tensor, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Make a matrix with all elements on its k-th diagonal, in row-major order."""

def diagonal(x: Tensor, offset: _int | None = 0, a: _int = 0, b: _int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""

def diagonal_scatter(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor,
    n: _int = 1,
    dim: _int = -1,
    *,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give differences of neighbours along an axis, n times over; put tensors before and after x."""

def dist(
    x: Tensor,
    y: Tensor,
    p: _float = 2.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the p-norm of x - y, taken as one vector."""

def div(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    rounding_mode: Literal["floor", "trunc"] | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""

def divide(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    rounding_mode: Literal["floor", "trunc"] | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""

def dot(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply two vectors to one number."""

double: DType

def dsplit(x: Tensor, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
    """Part the third axis into equal pieces, or before indices."""

def dstack(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Join tensors along the third axis; matrices become (m, n, 1), vectors (1, n, 1)."""

dtype: TypeAlias = _DType
e: _float

def einsum(
    equation: _str | Tensor,
    *operands: Tensor | Sequence[_int],
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Sum products of operands over the letters that the result does not have."""

def elu(
    x: Tensor | _Number,
    alpha: Tensor | _Number = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x where x > 0, else alpha * (e ** x - 1)."""

@overload
def empty(
    shape: _Ints,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor whose elements are not set."""

@overload
def empty(
    *shape: _int,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor whose elements are not set."""

def empty_like(
    x: Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of x's shape and dtype whose elements are not set."""

def eq(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x == y. Items of a user's dtype are equal if their bytes are."""

def equal(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x == y. Items of a user's dtype are equal if their bytes are."""

def erf(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Error function."""

def erfc(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """1 - erf(x), accurate for large x."""

def erfinv(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The inverse of the error function."""

def exp(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """e ** x."""

def exp2(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """2 ** x."""

@overload
def expand(x: Tensor, shape: _int | Sequence[_int]) -> Tensor:
    """Like broadcast_to; -1 keeps the size of an axis."""

@overload
def expand(x: Tensor, *shape: _int) -> Tensor:
    """Like broadcast_to; -1 keeps the size of an axis."""

@overload
def expand_dims(x: Tensor, axis: _int | Sequence[_int] | None) -> Tensor:
    """With new axes of size 1 at the named places of the result."""

@overload
def expand_dims(x: Tensor, *, dim: _int | Sequence[_int] | None) -> Tensor:
    """With new axes of size 1 at the named places of the result."""

def expit(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """1 / (1 + e ** -x)."""

def expm1(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """e ** x - 1, accurate near 0."""

def eye(
    n_rows: _int,
    n_cols: _int | None = None,
    *,
    k: _int = 0,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a matrix with ones on its k-th diagonal."""

def finfo(type: Tensor | _DTypeLike) -> FloatLimits:
    """Give the limits of a floating dtype, or of a tensor's: bits, eps, max, min, smallest_normal."""

def fix(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded towards zero."""

def flat_reverse(x: Tensor) -> Tensor:
    """Give all elements in reverse as if they were one flat line, row by row, in x's shape."""

def flat_sort(
    x: Tensor,
    *,
    descending: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give all elements in order as if they were one flat line, row by row, in x's shape."""

def flatten(x: Tensor, start: _int = 0, stop: _int = -1) -> Tensor:
    """Merge the axes from start to stop into one."""

@overload
def flip(x: Tensor, axis: _int | Sequence[_int] | None = None) -> Tensor:
    """Reversed along the named axes, or all."""

@overload
def flip(x: Tensor, *axis: _int) -> Tensor:
    """Reversed along the named axes, or all."""

@overload
def flip(x: Tensor, *, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """Reversed along the named axes, or all."""

def fliplr(x: Tensor) -> Tensor:
    """Reverse the second axis."""

def flipud(x: Tensor) -> Tensor:
    """Reverse the first axis."""

float: DType
float16: DType
float32: DType
float64: DType

def float_power(
    x: _Operand, y: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x ** y in float64, or in complex128 if either is complex."""

def floor(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded down."""

def floor_divide(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The quotient rounded down; a number over infinity is a zero, an integer over 0 is 0."""

def fmax(
    x: Tensor, y: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the larger of x and y; where one is NaN, the other."""

def fmin(
    x: Tensor, y: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the smaller of x and y; where one is NaN, the other."""

def fmod(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The remainder with the sign of x; an integer modulo 0 is 0."""

def frac(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give what is left of x without its integer part, with the sign of x."""

def frexp(x: Tensor) -> Parts:
    """Take x apart into mantissa * 2 ** exponent, with 0.5 <= |mantissa| < 1; exponents are int32."""

def from_data(
    values: object,
    shape: _Ints,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of a flat list of numbers and a shape."""

def from_dlpack(x: object, *, device: _str | None = None, copy: _bool | None = None) -> Tensor:
    """Give a tensor over the memory of an array of another library, by DLPack."""

def from_numpy(array: object) -> Tensor:
    """Give a tensor over a NumPy array's memory: no copy; writes are seen on both sides."""

def full(
    shape: _Ints,
    fill_value: _Element,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor with one value everywhere: a number, or an item of a user's dtype."""

def full_like(
    x: Tensor,
    fill_value: _Element,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of x's shape and dtype with one value everywhere."""

@overload
def gather(
    x: Tensor,
    axis: _int,
    index: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x[…, index[…, k, …], …] for each position of the index, which is no larger than x."""

@overload
def gather(
    x: Tensor,
    dim: _int,
    index: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x[…, index[…, k, …], …] for each position of the index, which is no larger than x."""

def gcd(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greatest common divisor, of two zeros 0. That of the lowest integer and 0 or itself does not fit its dtype, and wraps to the lowest integer."""

def ge(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x >= y."""

def gelu(
    x: Tensor,
    *,
    approximate: _str = "none",
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x times the normal distribution function at x; approximate='tanh' is the faster formula."""

def ger(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give all products of elements of two vectors."""

def get_blas() -> _str | None:
    """Give the path of the BLAS library that computes large products, or None."""

@overload
def glu(
    x: Tensor, axis: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the first half of an axis times the sigmoid of the second."""

@overload
def glu(
    x: Tensor, dim: _int = -1, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the first half of an axis times the sigmoid of the second."""

@overload
def gradient(
    x: Tensor,
    *varargs: _Operand,
    spacing: _Operand | Sequence[_Operand] | None = None,
    axis: _int,
    edge_order: _int = 1,
) -> Tensor:
    """Estimate the slopes of a sampled function along axes, to second order inside."""

@overload
def gradient(
    x: Tensor,
    *varargs: _Operand,
    spacing: _Operand | Sequence[_Operand] | None = None,
    dim: _int,
    edge_order: _int = 1,
) -> Tensor:
    """Estimate the slopes of a sampled function along axes, to second order inside."""

@overload
def gradient(
    x: Tensor,
    *varargs: _Operand,
    spacing: _Operand | Sequence[_Operand] | None = None,
    axis: _Axes = None,
    edge_order: _int = 1,
) -> Tensor | tuple[Tensor, ...]:
    """Estimate the slopes of a sampled function along axes, to second order inside."""

@overload
def gradient(
    x: Tensor,
    *varargs: _Operand,
    spacing: _Operand | Sequence[_Operand] | None = None,
    dim: _Axes = None,
    edge_order: _int = 1,
) -> Tensor | tuple[Tensor, ...]:
    """Estimate the slopes of a sampled function along axes, to second order inside."""

def greater(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x > y."""

def greater_equal(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x >= y."""

def gt(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x > y."""

half: DType

def hardshrink(
    x: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x, and 0 where |x| <= lambd."""

def hardsigmoid(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x / 6 + 1 / 2 limited to [0, 1]."""

def hardswish(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x * hardsigmoid(x)."""

def hardtanh(
    x: Tensor,
    min: _float = -1.0,
    max: _float = 1.0,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Limit x to [min, max]."""

def heaviside(
    x: Tensor, values: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give 0 where x < 0, 1 where x > 0, and the values where x is 0."""

def histc(
    x: Tensor,
    bins: _int = 100,
    min: _float = 0.0,
    max: _float = 0.0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Count the elements in intervals of equal width from min to max, in the dtype of x."""

def histogram(
    x: Tensor,
    bins: _int | Tensor | Sequence[_float] = 10,
    range: Sequence[_float] | None = None,
    density: _bool = False,
    weights: Tensor | None = None,
) -> Histogram:
    """Count the elements by intervals; give the counts and the edges of the intervals."""

def hsplit(x: Tensor, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
    """Part the second axis (the only one of a vector) into equal pieces, or before indices."""

def hstack(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Join tensors along the second axis, vectors along their only one."""

def hypot(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """sqrt(x * x + y * y) without overflow."""

def i0(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""

def i1(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""

def iinfo(type: Tensor | _DTypeLike) -> IntegerLimits:
    """Give the limits of an integer dtype, or of a tensor's: bits, max, min."""

def imag(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Imaginary part; x.imag is a view of it."""

@overload
def index_add(
    x: Tensor,
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
    x: Tensor,
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
def index_copy(
    x: Tensor,
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
    x: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy with the slices of source at a vector of indices along an axis."""

@overload
def index_fill(
    x: Tensor,
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
    x: Tensor,
    dim: _int,
    index: Tensor,
    value: _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy with one value at a vector of indices along an axis."""

def index_put(
    x: Tensor,
    indices: Sequence[Tensor],
    values: Tensor,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy with x[indices] = values, or with the values added."""

@overload
def index_select(
    x: Tensor,
    axis: _int,
    index: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the slices of an axis at a vector of indices."""

@overload
def index_select(
    x: Tensor,
    dim: _int,
    index: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the slices of an axis at a vector of indices."""

inf: _float

def inner(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Sum products over the last axes of a and b; a 0-d operand scales the other."""

int: DType
int16: DType
int32: DType
int64: DType
int8: DType

def is_complex(x: Tensor) -> _bool:
    """Tell whether the elements are complex numbers."""

def is_floating_point(x: Tensor) -> _bool:
    """Tell whether the elements are floats."""

def is_tensor(x: object) -> _bool:
    """Tell whether something is a tensor."""

def isclose(
    x: _Operand,
    y: _Operand,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tell where |x - y| <= atol + rtol * |y|; equal infinities are close."""

def isdtype(dtype: _DTypeLike, kind: _DTypeLike | tuple[_DTypeLike, ...]) -> _bool:
    """Tell whether a dtype is another one, belongs to a kind, or to one of a tuple of them."""

def isfinite(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Whether it is neither infinite nor NaN."""

def isin(
    x1: _Operand,
    x2: _Operand,
    /,
    *,
    invert: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Tell for each element of x1 whether it is among those of x2; or, inverted, whether it is not."""

def isinf(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Whether it is infinite."""

def isnan(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Whether it is NaN."""

def isneginf(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Tell where x is negative infinity."""

def isposinf(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Tell where x is positive infinity."""

def isreal(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Tell where the imaginary part is 0: everywhere, if x is not complex."""

def kron(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the Kronecker product: every element of a times the whole of b, as blocks."""

@overload
def kthvalue(x: Tensor, k: _int, axis: _int = -1, keepdims: _bool = False) -> Ordered:
    """Give the k-th smallest element along an axis, from 1 on, and where it is."""

@overload
def kthvalue(x: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False) -> Ordered:
    """Give the k-th smallest element along an axis, from 1 on, and where it is."""

def lcm(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The least common multiple, beside a zero 0. One that does not fit the dtype wraps."""

def ldexp(
    x: Tensor, y: _Operand, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x * 2 ** y for integers y, rounded once, where 2 ** y itself may overflow."""

def le(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x <= y."""

def leaky_relu(
    x: Tensor | _Number,
    negative_slope: Tensor | _Number = 0.01,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x where x > 0, else negative_slope * x."""

def lerp(
    x: Tensor | _Number,
    end: Tensor | _Number,
    weight: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x + weight * (end - x), exactly x for a weight of 0 and end for 1."""

def less(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x < y."""

def less_equal(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x <= y."""

def linspace(
    start: _Number,
    stop: _Number,
    num: _int,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    endpoint: _bool = True,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give num values evenly from start to stop, both included."""

def log(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Natural logarithm."""

def log10(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Logarithm to base 10."""

def log1p(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """log(1 + x), accurate near 0."""

def log2(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Logarithm to base 2."""

def log_ndtr(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """log(ndtr(x)), accurate where ndtr is near 0 or 1."""

def log_sigmoid(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give log(sigmoid(x)) without overflow."""

@overload
def log_softmax(
    x: Tensor,
    axis: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of softmax, without overflow; given a dtype, x is converted first."""

@overload
def log_softmax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of softmax, without overflow; given a dtype, x is converted first."""

def logaddexp(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """log(e ** x + e ** y) without overflow."""

def logaddexp2(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """log2(2 ** x + 2 ** y) without overflow."""

@overload
def logcumsumexp(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of running sums of e ** x along an axis, without overflow."""

@overload
def logcumsumexp(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The logarithm of running sums of e ** x along an axis, without overflow."""

def logical_and(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether both are not zero."""

def logical_not(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Whether it is zero."""

def logical_or(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether one is not zero."""

def logical_xor(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Whether exactly one is not zero."""

def logit(
    x: Tensor,
    *,
    eps: _float | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps]."""

def logsigmoid(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give log(sigmoid(x)) without overflow."""

@overload
def logsumexp(
    x: Tensor,
    axis: _Axes = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give log(sum(e ** x)) over axes, without overflow."""

@overload
def logsumexp(
    x: Tensor,
    dim: _Axes = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give log(sum(e ** x)) over axes, without overflow."""

long: DType

def lt(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x < y."""

def make_contiguous(x: Tensor) -> Tensor:
    """Give x itself if its elements lie in row-major order, else a copy that does."""

def manual_seed(seed: _int) -> Generator:
    """Seed the default generator."""

def masked_fill(
    x: Tensor,
    mask: Tensor,
    value: _Operand,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Put a value where the mask is true."""

def masked_scatter(
    x: Tensor,
    mask: Tensor,
    source: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy with the elements of source, in their order, where the mask is true."""

def masked_select(
    x: Tensor, mask: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the elements where the mask is true, in row-major order."""

def matmul(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """The matrix product a @ b. 1-D operands are a row on the left and a column on the right; axes before the last two broadcast."""

def matmul_into(
    out: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    accumulate: _bool = False,
    transpose_a: _bool = False,
    transpose_b: _bool = False,
) -> Tensor:
    """Write a @ b into out, or add it; the last two axes of operands are swapped if asked."""

def matrix_transpose(x: Tensor) -> Tensor:
    """Exchange the last two axes."""

@overload
def max(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greatest over axes; NaN if any is NaN."""

@overload
def max(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greatest over axes; NaN if any is NaN."""

def maximum(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The greater; NaN if either is NaN."""

@overload
def mean(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The mean over axes."""

@overload
def mean(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The mean over axes."""

@overload
def median(
    x: Tensor,
    axis: _Axes = None,
    *,
    keepdims: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the element in the middle of the order, or the mean of the two that are there."""

@overload
def median(
    x: Tensor,
    dim: _Axes = None,
    *,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the element in the middle of the order, or the mean of the two that are there."""

def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """Give the coordinates of a grid: views of vectors, each along an axis of its own."""

@overload
def min(
    x: Tensor,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The smallest over axes; NaN if any is NaN."""

@overload
def min(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The smallest over axes; NaN if any is NaN."""

def minimum(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The smaller; NaN if either is NaN."""

def mish(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * tanh(log(1 + e ** x))."""

def mm(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply two matrices."""

def mod(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The remainder with the sign of y; an integer modulo 0 is 0."""

@overload
def mode(x: Tensor, axis: _int = -1, keepdims: _bool = False) -> Ordered:
    """Give the most frequent element along an axis, and where it is last."""

@overload
def mode(x: Tensor, dim: _int = -1, keepdim: _bool = False) -> Ordered:
    """Give the most frequent element along an axis, and where it is last."""

def moveaxis(x: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """Move axes to other places; the rest keep their order."""

def movedim(x: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """Move axes to other places; the rest keep their order."""

def msort(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give the elements in order along the first axis."""

def mul(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * y."""

def multinomial(
    x: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw indices of the weights in a vector, or in each row of a matrix."""

def multiply(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * y."""

def mv(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply a matrix with a vector."""

nan: _float

def nan_to_num(
    x: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Put numbers for NaN (0) and the infinities (the greatest and the lowest of the dtype)."""

@overload
def nanmean(
    x: Tensor,
    axis: _Axes = None,
    keepdims: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the mean over axes of the elements that are not NaN; NaN where all are."""

@overload
def nanmean(
    x: Tensor,
    dim: _Axes = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the mean over axes of the elements that are not NaN; NaN where all are."""

@overload
def nanmedian(
    x: Tensor,
    axis: _Axes = None,
    *,
    keepdims: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the median of the elements that are not NaN; NaN where all are."""

@overload
def nanmedian(
    x: Tensor,
    dim: _Axes = None,
    *,
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the median of the elements that are not NaN; NaN where all are."""

@overload
def nanquantile(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor,
    dim: _Axes = None,
    keepdim: _bool = False,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the sum over axes of the elements that are not NaN."""

@overload
def narrow(x: Tensor, axis: _int, start: _int, length: _int) -> Tensor:
    """Give `length` elements of an axis from `start` on: a view."""

@overload
def narrow(x: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """Give `length` elements of an axis from `start` on: a view."""

def ndtr(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The normal distribution function: the share of numbers below x."""

def ndtri(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """The number that a share of x lies below: the inverse of ndtr."""

def ne(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x != y."""

def neg(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """-x."""

def negative(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """-x."""

def nelement(x: Tensor) -> _int:
    """Give the number of elements."""

newaxis: None

def nextafter(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The next number after x towards y."""

def nonzero(x: Tensor, *, as_tuple: _bool = True) -> tuple[Tensor, ...]:
    """Give the coordinates of elements that are not zero, one index tensor for each axis."""

@overload
def norm(
    x: Tensor,
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
    x: Tensor,
    p: _float | _str = 2,
    dim: _Axes = None,
    keepdim: _bool = False,
    *,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the p-norm of vectors along axes, or of all elements: (sum |x| ** p) ** (1 / p)."""

def normal(
    mean: _Operand = 0.0,
    std: _Operand = 1.0,
    size: _Ints | None = None,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw from normal distributions of the given means and deviations."""

def not_equal(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x != y."""

def numel(x: Tensor) -> _int:
    """Give the number of elements."""

@overload
def ones(
    shape: _Ints,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of ones."""

@overload
def ones(
    *shape: _int,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of ones."""

def ones_like(
    x: Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make ones of x's shape and dtype."""

def outer(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give all products of elements of two vectors."""

def pad(
    x: Tensor,
    pad: _Ints,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: _Number | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Put a border around a tensor."""

@overload
def permute(x: Tensor, axes: _int | Sequence[_int]) -> Tensor:
    """The axes in the given order."""

@overload
def permute(x: Tensor, *axes: _int) -> Tensor:
    """The axes in the given order."""

@overload
def permute_dims(x: Tensor, axes: _int | Sequence[_int]) -> Tensor:
    """The axes in the given order."""

@overload
def permute_dims(x: Tensor, *axes: _int) -> Tensor:
    """The axes in the given order."""

pi: _float

def polar(
    abs: Tensor, angle: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Make complex numbers of their absolute values and angles."""

def positive(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """+x: a copy."""

def pow(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x ** y. Integers wrap; an integer to a negative power is 1/x truncated."""

def prelu(
    x: Tensor, weight: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x where x > 0, else weight * x, with one weight or one for each size of axis 1."""

@overload
def prod(
    x: Tensor,
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
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The product over axes; integers are multiplied in 64 bits."""

@overload
def put_along_axis(x: Tensor, indices: Tensor, values: _Operand, axis: _int | None = -1) -> None:
    """Write values into x, for each position of indices at that index along the axis."""

@overload
def put_along_axis(x: Tensor, indices: Tensor, values: _Operand, dim: _int | None = -1) -> None:
    """Write values into x, for each position of indices at that index along the axis."""

@overload
def quantile(
    x: Tensor,
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
    x: Tensor,
    q: _Operand,
    dim: _Axes = None,
    *,
    method: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
    keepdim: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the value that a share q of the elements lies below."""

def rad2deg(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Convert radians to degrees."""

def radians(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Convert degrees to radians."""

@overload
def rand(
    shape: _Ints,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw uniformly from [0, 1)."""

@overload
def rand(
    *shape: _int,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw uniformly from [0, 1)."""

def rand_like(
    x: Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw uniformly from [0, 1), in the shape and dtype of x."""

def randint(
    low: _int,
    high: _Ints | None = None,
    size: _Ints = (),
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw integers from [low, high), or from [0, low) if high is left out."""

def randint_like(
    x: Tensor,
    low: _int,
    high: _int | None = None,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw integers from [low, high), or from [0, low), in the shape and dtype of x."""

@overload
def randn(
    shape: _Ints,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw from the normal distribution of mean 0 and variance 1."""

@overload
def randn(
    *shape: _int,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw from the normal distribution of mean 0 and variance 1."""

def randn_like(
    x: Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    generator: Generator | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw from the normal distribution of mean 0 and variance 1, in the shape and dtype of x."""

def randperm(
    n: _int,
    *,
    device: _str | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Draw a permutation of 0 … n-1."""

def ravel(x: Tensor) -> Tensor:
    """Give the elements along one axis, in row-major order."""

def real(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Real part; x.real is a view of it."""

def reciprocal(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """1 / x."""

def relu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """0 where x < 0, else x."""

def relu6(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Limit x to [0, 6]."""

def remainder(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """The remainder with the sign of y; an integer modulo 0 is 0."""

@overload
def renorm(
    x: Tensor,
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
    x: Tensor,
    p: _float,
    dim: _int,
    maxnorm: _float,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Scale the slices along an axis whose p-norm is above maxnorm down to it."""

@overload
def repeat(
    x: Tensor,
    repeats: _int | Sequence[_int] | Tensor,
    axis: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Repeat each element, along an axis or of the flattened tensor."""

@overload
def repeat(
    x: Tensor,
    repeats: _int | Sequence[_int] | Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Repeat each element, along an axis or of the flattened tensor."""

@overload
def repeat_interleave(
    x: Tensor,
    repeats: _int | Sequence[_int] | Tensor,
    axis: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Repeat each element, along an axis or of the flattened tensor."""

@overload
def repeat_interleave(
    x: Tensor,
    repeats: _int | Sequence[_int] | Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Repeat each element, along an axis or of the flattened tensor."""

@overload
def reshape(x: Tensor, shape: _int | Sequence[_int], copy: _bool | None = None) -> Tensor:
    """Another shape with the same elements in row-major order; one size may be -1. A view where the strides allow it, else a copy; copy=True copies always, copy=False never."""

@overload
def reshape(x: Tensor, *shape: _int) -> Tensor:
    """Another shape with the same elements in row-major order; one size may be -1. A view where the strides allow it, else a copy; copy=True copies always, copy=False never."""

def result_type(*arrays_and_dtypes: _Operand | _DTypeLike) -> DType:
    """Give the dtype that tensors, dtypes and numbers are computed in together."""

def rint(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded to nearest, halves to even."""

@overload
def roll(
    x: Tensor,
    shift: _Ints,
    axis: _Axes = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Shift elements along axes; what leaves at one end comes in at the other."""

@overload
def roll(
    x: Tensor,
    shift: _Ints,
    dim: _Axes = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Shift elements along axes; what leaves at one end comes in at the other."""

def rot90(x: Tensor, k: _int = 1, axes: _Ints = (0, 1)) -> Tensor:
    """Turn two axes by k quarters, from the first towards the second."""

def round(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded to nearest, halves to even."""

def row_stack(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Join tensors along the first axis; vectors become rows."""

def rsqrt(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """1 / sqrt(x)."""

@overload
def scatter(
    x: Tensor,
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
    x: Tensor,
    dim: _int,
    index: Tensor,
    src: _Operand,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy with src at x[…, index[…, k, …], …]; of equal indices the last one is put."""

@overload
def scatter_add(
    x: Tensor,
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
    x: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x with src added at x[…, index[…, k, …], …]."""

@overload
def scatter_reduce(
    x: Tensor,
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
    x: Tensor,
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

def searchsorted(
    x1: Tensor,
    x2: _Operand,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
    right: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give for each element of x2 where it would have to stand in x1, so that x1 stays sorted."""

@overload
def select(x: Tensor, axis: _int, index: _int) -> Tensor:
    """Give one slice along an axis, which goes: a view."""

@overload
def select(x: Tensor, dim: _int, index: _int) -> Tensor:
    """Give one slice along an axis, which goes: a view."""

@overload
def select_scatter(
    x: Tensor,
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
    x: Tensor,
    src: Tensor,
    dim: _int,
    index: _int,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a copy of x with src at one index of an axis."""

def selu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give a scaled elu, whose results tend to mean 0 and variance 1."""

def set_blas(path: _Path | None) -> None:
    """Compute large products of float32 and float64 with a BLAS library; None: with our kernels."""

def sgn(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """-1, 0 or 1 by the sign; x / abs(x) for complex x."""

def shape_match(a: Tensor, b: Tensor) -> _bool:
    """Tell whether two tensors have the same shape."""

short: DType

def sigmoid(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """1 / (1 + e ** -x)."""

def sign(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """-1, 0 or 1 by the sign; x / abs(x) for complex x."""

def signbit(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Whether the sign bit is set (-0.0 too)."""

def silu(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * sigmoid(x)."""

def sin(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Sine."""

def sinc(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give sin(pi * x) / (pi * x), which is 1 at 0 and exactly 0 at every other integer."""

def sinh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Hyperbolic sine."""

@overload
def slice_scatter(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor,
    axis: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""

@overload
def softmax(
    x: Tensor,
    *,
    dim: _int | Sequence[_int] | None = -1,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """e ** x, divided by its sum along an axis; given a dtype, x is converted first."""

def softplus(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """log(1 + e ** x)."""

def softshrink(
    x: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Move x towards 0 by lambd, and to 0 where |x| <= lambd."""

def softsign(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Give x / (1 + |x|)."""

@overload
def sort(
    x: Tensor,
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
    x: Tensor,
    dim: _int = -1,
    *,
    descending: _bool = False,
    stable: _bool = True,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the elements in order along an axis."""

def spec(shape: _Ints, dtype: _DTypeLike | None = None, *, requires_grad: _bool = False) -> Tensor:
    """Make a virtual tensor: a shape and a dtype without memory. Operations on it give such."""

@overload
def split(x: Tensor, sizes: _int | Sequence[_int], axis: _int = 0) -> tuple[Tensor, ...]:
    """Part an axis into pieces of a size (the last may be smaller), or of several sizes: views."""

@overload
def split(x: Tensor, sizes: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """Part an axis into pieces of a size (the last may be smaller), or of several sizes: views."""

def sqrt(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Square root."""

def square(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """x * x."""

@overload
def squeeze(x: Tensor, axis: _int | Sequence[_int] | None = None) -> Tensor:
    """Without the named axes of size 1, or all of them."""

@overload
def squeeze(x: Tensor, *axis: _int) -> Tensor:
    """Without the named axes of size 1, or all of them."""

@overload
def squeeze(x: Tensor, *, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """Without the named axes of size 1, or all of them."""

@overload
def stack(
    xs: Sequence[Tensor],
    axis: _int = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Join tensors of one shape along a new axis."""

@overload
def stack(
    xs: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Join tensors of one shape along a new axis."""

@overload
def std(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor, axis: _Axes = None, *, correction: _float, keepdims: _bool = False
) -> StdMean:
    """Give the standard deviation and the mean over axes."""

@overload
def std_mean(
    x: Tensor, dim: _Axes = None, *, correction: _float, keepdim: _bool = False
) -> StdMean:
    """Give the standard deviation and the mean over axes."""

def sub(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x - y, or x - alpha * y."""

def subtract(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x - y, or x - alpha * y."""

@overload
def sum(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor, shape: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""

@overload
def sum_to_shape(
    x: Tensor, *shape: _int, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""

@overload
def sum_to_size(
    x: Tensor, shape: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""

@overload
def sum_to_size(
    x: Tensor, *shape: _int, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Sum a tensor to a shape that broadcasts to its own: the inverse of broadcasting."""

def swapaxes(x: Tensor, a: _int, b: _int) -> Tensor:
    """Two axes exchanged; permute gives all axes an order."""

def swapdims(x: Tensor, a: _int, b: _int) -> Tensor:
    """Two axes exchanged; permute gives all axes an order."""

def swish(
    x: Tensor,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * sigmoid(x)."""

def t(x: Tensor) -> Tensor:
    """Transpose a matrix; vectors and numbers stay themselves."""

@overload
def take(
    x: Tensor,
    indices: Tensor,
    axis: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the elements at indices along an axis; None takes from the flattened tensor."""

@overload
def take(
    x: Tensor,
    indices: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the elements at indices along an axis; None takes from the flattened tensor."""

@overload
def take_along_axis(
    x: Tensor,
    indices: Tensor,
    axis: _int = -1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis."""

@overload
def take_along_axis(
    x: Tensor,
    indices: Tensor,
    dim: _int = -1,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis."""

@overload
def take_along_dim(
    x: Tensor,
    indices: Tensor,
    axis: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis."""

@overload
def take_along_dim(
    x: Tensor,
    indices: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give, for each position of indices, the element at that index along the axis."""

def tan(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Tangent."""

def tanh(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Hyperbolic tangent."""

def tanhshrink(
    x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give x - tanh(x)."""

def tensor(
    data: object,
    dtype: _DTypeLike | None = None,
    *,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of numbers, nested lists, or an array of any library: always a copy."""

@overload
def tensor_split(
    x: Tensor, sections: _int | Sequence[_int] | Tensor, axis: _int = 0
) -> tuple[Tensor, ...]:
    """Part an axis into so many pieces of nearly one size, or before the given indices: views."""

@overload
def tensor_split(
    x: Tensor, sections: _int | Sequence[_int] | Tensor, dim: _int = 0
) -> tuple[Tensor, ...]:
    """Part an axis into so many pieces of nearly one size, or before the given indices: views."""

def tensordot(
    a: Tensor,
    b: Tensor,
    axes: _int | Sequence[_Ints] = 2,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Sum products over several axes of a and b: a number of them, or a list for each."""

def threshold(
    x: Tensor,
    threshold: _float,
    value: _float,
    *,
    inplace: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give x where it is above the threshold, else a value."""

@overload
def tile(
    x: Tensor, repetitions: _Ints, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Repeat the whole tensor along its axes, as NumPy's tile does."""

@overload
def tile(
    x: Tensor, *repetitions: _int, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Repeat the whole tensor along its axes, as NumPy's tile does."""

@overload
def topk(
    x: Tensor, k: _int, axis: _int = -1, largest: _bool = True, sorted: _bool = True
) -> Ordered:
    """Give the k largest (or smallest) elements along an axis, and where they are."""

@overload
def topk(
    x: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True
) -> Ordered:
    """Give the k largest (or smallest) elements along an axis, and where they are."""

def trace(
    x: Tensor,
    offset: _int = 0,
    *,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Sum the diagonal of a matrix; integers are summed in 64 bits."""

def transpose(x: Tensor, a: _int, b: _int) -> Tensor:
    """Two axes exchanged; permute gives all axes an order."""

@overload
def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids, over the points x or over points dx apart."""

@overload
def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids, over the points x or over points dx apart."""

@overload
def trapz(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids, over the points x or over points dx apart."""

@overload
def trapz(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Integrate along an axis by trapezoids, over the points x or over points dx apart."""

def tril(
    x: Tensor, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Keep the lower triangle, up to the k-th diagonal; zero above."""

def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the coordinates of the lower triangle of a matrix: row numbers, and column numbers."""

def triu(
    x: Tensor, k: _int = 0, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Keep the upper triangle, from the k-th diagonal on; zero below."""

def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _DTypeLike | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Give the coordinates of the upper triangle of a matrix: row numbers, and column numbers."""

def true_divide(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    rounding_mode: Literal["floor", "trunc"] | None = None,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x / y; integers become float32 first. rounding_mode is None, 'trunc' or 'floor'."""

def trunc(x: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None) -> Tensor:
    """Rounded towards zero."""

uint16: DType
uint32: DType
uint64: DType
uint8: DType

@overload
def unbind(x: Tensor, axis: _int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes."""

@overload
def unbind(x: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes."""

@overload
def unflatten(x: Tensor, axis: _int, sizes: _Ints) -> Tensor:
    """Part an axis into several; one size may be -1."""

@overload
def unflatten(x: Tensor, dim: _int, sizes: _Ints) -> Tensor:
    """Part an axis into several; one size may be -1."""

@overload
def unfold(x: Tensor, axis: _int | Sequence[_int] | None, window: _int, step: _int = 1) -> Tensor:
    """Sliding windows along an axis, as a new last axis."""

@overload
def unfold(x: Tensor, *, dim: _int | Sequence[_int] | None, window: _int, step: _int = 1) -> Tensor:
    """Sliding windows along an axis, as a new last axis."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: _int | None = None,
) -> Tensor:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[True],
    axis: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[True],
    dim: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: _int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: _int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    axis: _int | None = None,
) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

@overload
def unique(
    x: Tensor,
    *,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
    """Give the different elements, or the different slices along an axis, in order."""

def unique_all(x: Tensor, /) -> UniqueAllResult:
    """Give the different elements, in order, where each is first, which of them each element is, and how often each occurs."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: _int | None = None,
) -> Tensor:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: _int | None = None,
) -> tuple[Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor, return_inverse: Literal[True], return_counts: Literal[True], axis: _int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor, return_inverse: Literal[True], return_counts: Literal[True], dim: _int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor, return_inverse: _bool = False, return_counts: _bool = False, axis: _int | None = None
) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

@overload
def unique_consecutive(
    x: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None
) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:
    """Give the elements, or the slices along an axis, that differ from those before them."""

def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    """Give the different elements, in order, and how often each occurs."""

def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    """Give the different elements, in order, and which of them each element is."""

def unique_values(
    x: Tensor, /, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Give the different elements, in order."""

def unravel_index(indices: Tensor, shape: _Ints) -> tuple[Tensor, ...]:
    """Give the coordinates of elements that are numbered in row-major order, one tensor an axis."""

@overload
def unsqueeze(x: Tensor, axis: _int | Sequence[_int] | None) -> Tensor:
    """With new axes of size 1 at the named places of the result."""

@overload
def unsqueeze(x: Tensor, *, dim: _int | Sequence[_int] | None) -> Tensor:
    """With new axes of size 1 at the named places of the result."""

@overload
def unstack(x: Tensor, axis: _int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes."""

@overload
def unstack(x: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Give the slices along an axis, which goes."""

def vander(
    x: Tensor,
    N: _int | None = None,
    increasing: _bool = False,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make the matrix of the powers of a vector, one column for each, the highest first."""

@overload
def var(
    x: Tensor,
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
    x: Tensor,
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
    x: Tensor, axis: _Axes = None, *, correction: _float, keepdims: _bool = False
) -> VarMean:
    """Give the variance and the mean over axes."""

@overload
def var_mean(
    x: Tensor, dim: _Axes = None, *, correction: _float, keepdim: _bool = False
) -> VarMean:
    """Give the variance and the mean over axes."""

def vdot(
    a: Tensor, b: Tensor, *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Multiply two vectors to one number, a conjugated."""

@overload
def vecdot(
    a: Tensor,
    b: Tensor,
    *,
    axis: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Multiply along one axis, of equal size in both, and sum; a is conjugated."""

@overload
def vecdot(
    a: Tensor,
    b: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Multiply along one axis, of equal size in both, and sum; a is conjugated."""

def view_as_complex(x: Tensor) -> Tensor:
    """A last axis of 2, real and imaginary part, as complex numbers: a view. The pairs must lie side by side in memory."""

def view_as_real(x: Tensor) -> Tensor:
    """Complex numbers as a last axis of 2, real and imaginary part: a view."""

def vsplit(x: Tensor, sections: _int | Sequence[_int] | Tensor) -> tuple[Tensor, ...]:
    """Part the first axis into equal pieces, or before indices."""

def vstack(
    xs: Sequence[Tensor], *, out: Tensor | None = None, allocator: Allocator | None = None
) -> Tensor:
    """Join tensors along the first axis; vectors become rows."""

def where(
    condition: Tensor,
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x where the condition holds, else y."""

def xlogy(
    x: Tensor | _Number,
    y: Tensor | _Number,
    *,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """x * log(y), and 0 for x = 0 unless y is NaN."""

@overload
def zeros(
    shape: _Ints,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of zeros; items of a user's dtype are bytes of 0."""

@overload
def zeros(
    *shape: _int,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make a tensor of zeros; items of a user's dtype are bytes of 0."""

def zeros_like(
    x: Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: _str | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
    allocator: Allocator | None = None,
) -> Tensor:
    """Make zeros of x's shape and dtype."""
