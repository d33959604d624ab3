"""How parameters begin: functions that fill a tensor and give it back.

None of them is recorded, so that they fill parameters too. Fans are the numbers of inputs and
outputs that one output depends on and one input reaches: for weights (out, in, …) in * prod(…) and
out * prod(…).
"""

from __future__ import annotations

import math

from tessella import errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_float, to_int, to_word
from tessella.declarations import describe
from tessella.hints import TYPE_CHECKING, Any, Callable, ParamSpec, TypeVar
from tessella.modes import no_grad
from tessella.ops.creation import eye, zeros
from tessella.ops.special import erfinv

if TYPE_CHECKING:
    from tessella.ops.random import Generator

if not TYPE_CHECKING:  # for a type checker there are the names below only
    __getattr__ = spellings.refuser(__name__)

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip
__dir__ = __all__.copy

_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0, "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5 / 3,
    "relu": math.sqrt(2), "selu": 3 / 4,
}  # fmt: skip


def _filling(function: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """Fill without recording; an error names the function and the tensor."""
    import functools

    @functools.wraps(function)
    def fill(*args: Any, **keywords: Any) -> Tensor:
        try:
            tensor = args[0] if args else keywords.get("tensor")
            if not isinstance(tensor, Tensor):
                raise errors.not_tensor("tensor", tensor, "a tensor")
            with no_grad():
                return function(*args, **keywords)
        except errors.TessellaError as error:
            shown = [f"tensor  {describe(args[0] if args else keywords.get('tensor'))}"]
            raise error.relocate(f"nn.init.{function.__name__}", shown) from None

    return fill


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Give the factor that keeps the size of numbers through an activation.

    >>> nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    try:
        return _gain(nonlinearity, 0.01 if param is None else to_float("param", param))
    except errors.TessellaError as error:
        raise error.locate("nn.init.calculate_gain", []) from None


def _gain(nonlinearity: Any, slope: float) -> float:
    if isinstance(nonlinearity, str) and nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + slope * slope))
    if not isinstance(nonlinearity, str) or nonlinearity not in _GAINS:
        names = ", ".join([*_GAINS, "leaky_relu"])
        raise errors.wrong_value("nonlinearity", nonlinearity, f"one of {names}")
    return _GAINS[nonlinearity]


def fans_of(tensor: Tensor) -> tuple[int, int]:
    """Give the numbers of inputs and of outputs of weights (out, in, …)."""
    if tensor.ndim < 2:
        raise errors.wrong_value("tensor.ndim", tensor.ndim, "at least 2: (out, in, …)")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = fans_of  # PyTorch's name, which layers of users call


def _fan(tensor: Tensor, mode: str) -> int:
    return fans_of(tensor)[to_word("mode", mode, ["fan_in", "fan_out"]) == "fan_out"]


# --- plain numbers --------------------------------------------------------------------------------


@_filling
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a to b, all as likely.

    >>> nn.init.uniform_(ts.empty(3), 1.0, 1.0).tolist()
    [1.0, 1.0, 1.0]
    """
    return tensor.uniform_(a, b, generator=generator)


@_filling
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with normally distributed numbers.

    >>> nn.init.normal_(ts.empty(2), mean=3.0, std=0.0).tolist()
    [3.0, 3.0]
    """
    return tensor.normal_(mean, std, generator=generator)


@_filling
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normally distributed numbers, of which those outside a and b are drawn again.

    >>> nn.init.trunc_normal_(ts.empty(1000)).abs().max() <= 2
    tensor bool () True
    """
    # A uniform number between the two ends of the distribution, through its inverse.
    mean, std = to_float("mean", mean), to_float("std", std)
    a, b = to_float("a", a), to_float("b", b)
    if not std > 0:
        raise errors.wrong_value("std", std, "above 0")
    low, high = (2 * _normal_cdf((end - mean) / std) - 1 for end in (a, b))
    tensor.uniform_(low, high, generator=generator)
    numbers = erfinv(tensor.to("float64")) * (std * math.sqrt(2)) + mean
    return tensor.copy_(numbers.clip(a, b))


def _normal_cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


@_filling
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number.

    >>> nn.init.constant_(ts.empty(2), 0.3).tolist()
    [0.30000001192092896, 0.30000001192092896]
    """
    return tensor.fill_(val)


@_filling
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    >>> nn.init.ones_(ts.empty(2)).tolist()
    [1.0, 1.0]
    """
    return tensor.fill_(1)


@_filling
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    >>> nn.init.zeros_(ts.empty(2)).tolist()
    [0.0, 0.0]
    """
    return tensor.fill_(0)


@_filling
def eye_(tensor: Tensor) -> Tensor:
    """Fill with ones on the diagonal and zeros elsewhere.

    >>> nn.init.eye_(ts.empty(2, 2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if tensor.ndim != 2:
        raise errors.wrong_value("tensor.ndim", tensor.ndim, "2")
    return tensor.copy_(eye(*tensor.shape, dtype=tensor.dtype))


@_filling
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill weights of a convolution so that it gives its input back, channel by channel.

    >>> nn.init.dirac_(ts.empty(1, 1, 3)).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    if tensor.ndim not in (3, 4, 5):
        raise errors.wrong_value("tensor.ndim", tensor.ndim, "3, 4 or 5: (out, in, …)")
    outs, ins, *sizes = tensor.shape
    if to_int("groups", groups) < 1 or outs % groups:
        raise errors.wrong_value("groups", groups, f"a divisor of {outs}, the outputs")
    if tensor.size == 0:
        return tensor
    each = outs // groups
    middle = tuple(size // 2 for size in sizes)
    values = zeros(tensor.shape, dtype=tensor.dtype)
    for group in range(groups):
        for i in range(min(each, ins)):
            values[(group * each + i, i, *middle)] = 1
    return tensor.copy_(values)


# --- by the numbers of inputs and outputs ---------------------------------------------------------


@_filling
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill uniformly in ±gain * sqrt(6 / (inputs + outputs)): Glorot and Bengio, 2010.

    >>> nn.init.xavier_uniform_(ts.empty(3, 3)).abs().max().item() <= 1.0
    True
    """
    bound = to_float("gain", gain) * math.sqrt(6 / max(sum(fans_of(tensor)), 1))
    return tensor.uniform_(-bound, bound, generator=generator)


@_filling
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill normally with the deviation gain * sqrt(2 / (inputs + outputs)).

    >>> nn.init.xavier_normal_(ts.empty(2, 3)).shape
    (2, 3)
    """
    std = to_float("gain", gain) * math.sqrt(2 / max(sum(fans_of(tensor)), 1))
    return tensor.normal_(0.0, std, generator=generator)


@_filling
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill uniformly in ±gain * sqrt(3 / inputs): He and others, 2015.

    `a` is the slope of a leaky ReLU that follows.

    >>> nn.init.kaiming_uniform_(ts.empty(6, 6)).abs().max().item() <= 1.0
    True
    """
    fan, gain = _fan(tensor, mode), _gain(nonlinearity, to_float("a", a))
    if fan == 0:
        return tensor  # nothing to fill
    bound = gain * math.sqrt(3 / fan)
    return tensor.uniform_(-bound, bound, generator=generator)


@_filling
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill normally with the deviation gain / sqrt(inputs).

    >>> nn.init.kaiming_normal_(ts.empty(2, 3), nonlinearity="relu").shape
    (2, 3)
    """
    fan, gain = _fan(tensor, mode), _gain(nonlinearity, to_float("a", a))
    if fan == 0:
        return tensor  # nothing to fill
    std = gain / math.sqrt(fan)
    return tensor.normal_(0.0, std, generator=generator)


@_filling
def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with a matrix whose rows, or columns, are orthogonal: Saxe and others, 2013.

    More than two axes count as (first, all the others). NumPy computes it.

    >>> q = nn.init.orthogonal_(ts.empty(2, 4))
    >>> ts.allclose(q @ q.T, ts.eye(2), atol=1e-6)
    True
    """
    from tessella.linalg import qr

    if tensor.ndim < 2:
        raise errors.wrong_value("tensor.ndim", tensor.ndim, "at least 2")
    if tensor.size == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.size // tensor.shape[0]
    numbers = zeros((max(rows, columns), min(rows, columns)), dtype="float64")
    q, r = qr(numbers.normal_(generator=generator))
    q = q * r.diagonal().sign()  # makes the distribution uniform
    q = (q if rows >= columns else q.T) * to_float("gain", gain)
    return tensor.copy_(q.reshape(tensor.shape))


@_filling
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill with normally distributed numbers, of which a share in each column is 0.

    >>> (nn.init.sparse_(ts.empty(10, 3), 0.3) == 0).sum(axis=0).tolist()
    [3, 3, 3]
    """
    if tensor.ndim != 2:
        raise errors.wrong_value("tensor.ndim", tensor.ndim, "2")
    share = to_float("sparsity", sparsity)
    if not 0 <= share <= 1:
        raise errors.wrong_value("sparsity", sparsity, "from 0 to 1")
    rows, _ = tensor.shape
    none = math.ceil(share * rows)
    ranks = zeros(tensor.shape).uniform_(generator=generator).argsort(axis=0).argsort(axis=0)
    return tensor.normal_(0.0, std, generator=generator).mul_(ranks >= none)
