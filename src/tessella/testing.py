"""Checks for the tests of your own code: gradients against finite differences, and nearness.

They are written with tensors alone and need no other package. What they raise is an AssertionError
of the usual pattern, `ts.errors.CheckFailed`.
"""

from __future__ import annotations

import math

from tessella import check_errors, errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_float
from tessella.declarations import describe
from tessella.differences import Allowed, check_orders, has_gradients, tensors_of, widened
from tessella.dtypes import complex128, float64
from tessella.hints import TYPE_CHECKING, Any, Callable, Mapping, Sequence
from tessella.modes import enable_grad
from tessella.ops.composite import isclose
from tessella.ops.elementwise import abs as magnitude, isfinite, where
from tessella.tensors import asarray, tensor
from tessella.trees import too_nested

__all__ = ["assert_close", "check_grads"]
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)

# rtol and atol, as in PyTorch; what is not listed must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def check_grads(
    f: Callable[..., object],
    args: Tensor | Sequence[object],
    order: int = 2,
    *,
    kwargs: Mapping[str, object] | None = None,
    eps: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Check the derivatives of f at args against finite differences; raise CheckFailed if wrong.

    Each float or complex tensor in args is moved by a step `eps` along a random direction v, and
    <g, f(x + eps v) - f(x - eps v)> / (2 eps) is compared with <vjp(g), v>. Order 2 does the same
    with the function that gives vjp(g), and so on. f may return tensors in tuples, lists and
    dicts; kwargs are passed on as they are. Directions are the same at every call, and elements
    that jump or have a kink within the step are left out.

    Arguments are float64 or complex128; others are taken where rtol or atol says how much a
    gradient may be off, as a part of its terms. If f itself goes through a lower precision, the
    step, and what is allowed by default, grow with its roundings.

    >>> x = ts.tensor([0.5, 1.5], dtype=ts.float64)
    >>> ts.testing.check_grads(lambda x: x * ts.sin(x), (x,))
    """
    shown: list[str] = []
    try:
        if isinstance(args, Tensor):
            args = (args,)
        found = tensors_of(args, "args")
        shown = [f"{path}  {describe(x)}" for path, x in found]
        given = [None if value is None else _to_size(name, value)
                 for name, value in (("eps", eps), ("rtol", rtol), ("atol", atol))]  # fmt: skip
        if given[0] == 0:
            raise errors.wrong_value("eps", eps, "greater than 0")
        order = to_count("order", order)
        moving = [(path, x) for path, x in found if has_gradients(x)]
        if not moving:
            raise check_errors.nothing_differentiable("args")
        for path, x in moving:
            if x.dtype not in (float64, complex128) and rtol is None and atol is None:
                wide = "complex128" if x.dtype.is_complex else "float64"
                raise check_errors.low_precision(path, x.dtype, wide)
        with enable_grad():
            check_orders(f, args, dict(kwargs or {}), order, Allowed(*given))
    except errors.TessellaError as error:
        raise error.locate("check_grads", error.operands or shown) from None


def assert_close(
    actual: object,
    expected: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise CheckFailed unless abs(actual - expected) <= atol + rtol * abs(expected) everywhere.

    Tensors, arrays of NumPy, numbers, None, and tuples, lists and dicts of them; a number, list or
    array beside a tensor takes the tensor's dtype. Shapes must be equal, and dtypes of tensors too
    unless check_dtype is False. Without rtol and atol they are those of the coarser dtype: 1.3e-6
    and 1e-5 for float32, 1e-7 for float64, 0 for integers. `msg` is said in place of what is wrong,
    or makes that text of ours.

    >>> ts.testing.assert_close(ts.tensor([0.1, 0.2]) * 3, [0.3, 0.6])
    """
    try:
        near = _Near(
            None if rtol is None else _to_size("rtol", rtol),
            None if atol is None else _to_size("atol", atol),
            to_bool("equal_nan", equal_nan),
            to_bool("check_dtype", check_dtype),
        )
        if msg is not None and not isinstance(msg, str) and not callable(msg):
            raise errors.wrong_type("msg", msg, "text, or a function of a text")
        near.compare(actual, expected, "")
    except RecursionError:
        raise too_nested().locate("assert_close", []) from None
    except errors.TessellaError as error:
        if msg is not None and isinstance(error, errors.CheckFailed):
            error.what = msg if isinstance(msg, str) else msg(error.what)
        raise error.locate("assert_close", error.operands) from None


class _Near:
    """How near two values must be; comparisons of them part by part."""

    def __init__(
        self, rtol: float | None, atol: float | None, equal_nan: bool, check_dtype: bool
    ) -> None:
        self.given = (rtol, atol)
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype

    def compare(self, x: Any, y: Any, path: str) -> None:
        """Compare two values; `path` says which part of the whole they are."""
        kinds = (int, float, complex)
        if errors.is_foreign_array(x) and errors.is_foreign_array(y):
            x, y = asarray(x), asarray(y)
        if any(isinstance(each, Tensor) for each in (x, y)) and x is not None and y is not None:
            self._compare_tensors(*_as_tensors(x, y), path)
        elif isinstance(x, dict) and isinstance(y, dict):
            if x.keys() != y.keys():
                keys = [sorted(each, key=repr) for each in (x, y)]
                raise check_errors.not_alike(path, "the set of keys", *keys)
            for key, value in x.items():
                self.compare(value, y[key], f"{path}[{key!r}]")
        elif isinstance(x, tuple | list) and isinstance(y, tuple | list):
            if len(x) != len(y):
                raise check_errors.not_alike(path, "the length", len(x), len(y))
            for i, pair in enumerate(zip(x, y, strict=True)):
                self.compare(*pair, f"{path}[{i}]")
        elif isinstance(x, kinds) and isinstance(y, kinds):
            self._compare_tensors(*_numbers(x, y), path)
        elif x is not None or y is not None:
            names = [errors.type_name(each) for each in (x, y)]
            raise check_errors.not_alike(path, "the type", *names)

    def _compare_tensors(self, x: Tensor, y: Tensor, path: str) -> None:
        """Compare shapes, dtypes and elements."""
        if x.shape != y.shape:
            raise check_errors.not_alike(path, "the shape", x.shape, y.shape)
        if self.check_dtype and x.dtype is not y.dtype:
            raise check_errors.not_alike(path, "the dtype", x.dtype, y.dtype)
        x, y = x.detach(), y.detach()
        pairs = [_TOLERANCES.get(each.dtype.name, (0.0, 0.0)) for each in (x, y)]
        rtol, atol = (max(pair[k] for pair in pairs) if size is None else size
                      for k, size in enumerate(self.given))  # fmt: skip
        near = x == y if rtol == atol == 0 else isclose(x, y, rtol=rtol, atol=atol)
        if self.equal_nan and has_gradients(x) and has_gradients(y):
            near = near | ((x != x) & (y != y))
        wrong = ~near
        count = int(wrong.sum().item())
        if count:
            at = _worst(x, y, wrong)
            shown = [f"{each[at].item()}" for each in (x, y)]
            raise check_errors.not_close(path, count, x.size, at, shown, (rtol, atol))


def _as_tensors(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Give what stands beside a tensor the tensor's dtype."""
    if not isinstance(y, Tensor):
        return x, tensor(y, dtype=x.dtype)
    return (x, y) if isinstance(x, Tensor) else (tensor(x, dtype=y.dtype), y)


def _numbers(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Give Python's numbers as tensors that hold them exactly."""
    kinds = (type(x), type(y))
    if complex in kinds:
        return tensor(x, dtype=complex128), tensor(y, dtype=complex128)
    is_exact = float not in kinds
    return (tensor(x), tensor(y)) if is_exact else (tensor(float(x), dtype=float64),
                                                    tensor(float(y), dtype=float64))  # fmt: skip


def _worst(x: Tensor, y: Tensor, wrong: Tensor) -> tuple[int, ...]:
    """Give the place, among the wrong ones, where two tensors differ most; NaN differs most."""
    by = magnitude(widened(x) - widened(y))
    by = where(wrong, where(isfinite(by), by, math.inf), -1.0)
    flat = int(by.reshape(-1).argmax().item())
    place: list[int] = []
    for size in reversed(x.shape):
        flat, index = divmod(flat, size)
        place.insert(0, index)
    return tuple(place)


def _to_size(name: str, value: Any) -> float:
    """Check a tolerance or a step."""
    size = to_float(name, value)
    if not math.isfinite(size) or size < 0:
        raise check_errors.wrong_tolerance(name, size)
    return size
