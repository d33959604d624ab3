"""Derivatives of functions: functions in, functions out.

Arguments and results may be nested tuples, lists and dicts of tensors. Transforms may be nested:
inside another one, and where an argument or a tensor that the function uses requires gradients,
what they give can be differentiated again.
"""

from __future__ import annotations

import functools
import threading

from tessella import _core, errors, gradient_errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_int
from tessella.autograd import grad as gradients_of
from tessella.hints import (
    Any,
    Callable,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    Sequence,
    TypeVar,
    TypeVarTuple,
    overload,
)
from tessella.modes import enable_grad
from tessella.ops.creation import zeros_like
from tessella.ops.elementwise import positive
from tessella.ops.joining import stack
from tessella.ops.movement import reshape
from tessella.tensors import tensor
from tessella.trees import arrange, flatten

_active = threading.local()

# A gradient has the form of what it is by: T is that of the first argument.
A = TypeVar("A")
Out = TypeVar("Out", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_With = Callable[Concatenate[T, P], R]
_Plain = Callable[[Tensor], Tensor]  # by which the argument of a lambda is known


class _Found(Protocol[P, Out]):
    """What transforms give.

    For a lambda several overloads hold, and mypy takes what their results share: of two Callables
    that is an untyped function, which strict programs may not call.
    """

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Out: ...


class _Run:
    """One call of a function on inputs of its own, which gradients are asked of."""

    def __init__(self, name: str, primals: Any) -> None:
        self.name = name
        leaves, self.rebuild = flatten(primals)
        self.given = [_to_tensor(name, x) for x in leaves]
        self.is_nested = getattr(_active, "depth", 0) > 0
        self.is_outside = _core.is_grad_enabled() and any(x.requires_grad for x in self.given)
        with enable_grad():
            self.inputs = [_fresh(x, self.is_nested or self.is_outside) for x in self.given]
        self.before = _core.recorded()

    def call(self, f: Callable[..., Any], args: Any) -> Any:
        """Run the function, recording."""
        _active.depth = getattr(_active, "depth", 0) + 1
        try:
            with enable_grad():
                return f(*args)
        finally:
            _active.depth -= 1

    def creates(self, outs: list[Tensor]) -> bool:
        """Tell whether what is given must be differentiable in its turn."""
        if not _core.is_grad_enabled() and not self.is_nested:
            return False
        if self.is_nested or self.is_outside:
            return True
        recorded = tuple([x for x in outs if x.requires_grad])
        own = {id(x) for x in self.inputs}
        sources = _core.sources_of(recorded, self.before) if recorded else []
        return any(id(x) not in own for x in sources)

    def pull(self, outs: list[Tensor], gs: list[Any] | None, creates: bool,
             keeps: bool = False) -> list[Tensor]:  # fmt: skip
        """Give the gradients of the inputs: zeros where nothing flowed."""
        pairs = [(x, gs[i] if gs else None) for i, x in enumerate(outs) if x.requires_grad]
        if not pairs:
            return [zeros_like(x.detach()) for x in self.inputs]
        roots, begin = [x for x, _ in pairs], [g for _, g in pairs]
        return list(gradients_of(roots, self.inputs, begin, keeps or creates, creates,
                                 materialize_grads=True))  # fmt: skip


def _to_tensor(name: str, x: Any) -> Tensor:
    if isinstance(x, float | complex):
        x = tensor(x)
    if not isinstance(x, Tensor):
        raise errors.not_tensor(name, x, "a float tensor, or nested ones")
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise errors.grad_of_integers(x.dtype)
    return x


def _fresh(x: Tensor, is_linked: bool) -> Tensor:
    """Give an input of its own: a leaf, or a copy whose history is that of x."""
    if is_linked and x.requires_grad:
        return positive(x)
    return x.detach().requires_grad_()


def _chosen(argnums: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    numbers = argnums if isinstance(argnums, tuple | list) else (argnums,)
    places = []
    for number in numbers:
        place = to_int("argnums", number)
        if not -len(args) <= place < len(args):
            raise errors.wrong_value("argnums", argnums, f"one of {len(args)} positional arguments")
        places.append(place % len(args))
    if len(set(places)) < len(places):
        raise errors.wrong_value("argnums", argnums, "different numbers")
    return tuple(places)


def _run_with(
    f: Callable[..., Any], argnums: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[_Run, Any]:
    """Call f with inputs of its own in place of the chosen arguments."""
    places = _chosen(argnums, args)
    run = _Run("args", [args[i] for i in places])
    call = list(args)
    for place, x in zip(places, run.rebuild(run.inputs), strict=True):
        call[place] = x
    return run, run.call(lambda *a: f(*a, **keywords), call)


def _outputs(name: str, result: Any) -> tuple[list[Tensor], Any]:
    leaves, rebuild = flatten(result)
    outs: list[Any] = leaves
    for x in outs:
        if not isinstance(x, Tensor):
            raise gradient_errors.not_output(name, x)
    return outs, rebuild


def _pair(name: str, result: Any) -> Any:
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise gradient_errors.not_pair(name, result)
    return result


def _located(error: errors.TessellaError, title: str, name: str) -> errors.TessellaError:
    """Add what was called; an error that says whose memory is at fault says enough."""
    return error if error.operands else error.locate(title, [f"f  {name}"])


def _plain(x: Any, creates: bool) -> Any:
    """Give a result without the history that only the transform needed."""
    return x if creates or not isinstance(x, Tensor) else x.detach()


def _shown(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


def _name_of(title: str, f: Any) -> str:
    if not callable(f):
        raise errors.wrong_type("f", f, "a function").locate(title, [])
    return _shown(f)


@overload
def value_and_grad(  # 0 is an int
    f: _Plain, argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> _Found[[Tensor], tuple[Tensor, Tensor]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]  # 0 is an int
    f: _With[T, P, Tensor], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> _Found[Concatenate[T, P], tuple[Tensor, T]]: ...
@overload
def value_and_grad(
    f: Callable[P, Tensor], argnums: int, has_aux: Literal[False] = False
) -> _Found[P, tuple[Tensor, Tensor]]: ...
@overload
def value_and_grad(
    f: Callable[P, Tensor], argnums: Sequence[int], has_aux: Literal[False] = False
) -> _Found[P, tuple[Tensor, tuple[Tensor, ...]]]: ...
@overload
def value_and_grad(
    f: _With[T, P, tuple[Tensor, A]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> _Found[Concatenate[T, P], tuple[tuple[Tensor, A], T]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[Tensor, A]], argnums: Sequence[int], has_aux: Literal[True]
) -> _Found[P, tuple[tuple[Tensor, A], tuple[Tensor, ...]]]: ...
def value_and_grad(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Give a function that gives the value of f and its gradient by some arguments.

    f gives one real number; with has_aux a pair of it and anything else, which is passed on.

    >>> value, g = ts.value_and_grad(lambda x: (x * x).sum())(ts.tensor([1.0, 2.0]))
    >>> value.item(), g.tolist()
    (5.0, [2.0, 4.0])
    """
    return _value_and_grad("value_and_grad", f, argnums, has_aux)


def _value_and_grad(title: str, f: Callable[..., Any], argnums: Any, has_aux: Any) -> Any:
    has_aux = to_bool("has_aux", has_aux)
    name = _name_of(title, f)

    @functools.wraps(f)
    def wrapped(*args: Any, **keywords: Any) -> Any:
        try:
            run, result = _run_with(f, argnums, args, keywords)
            value, aux = _pair(name, result) if has_aux else (result, None)
            _check_number(name, value)
            creates = run.creates([value])
            found = run.rebuild(run.pull([value], None, creates))
        except errors.TessellaError as error:
            raise _located(error, title, name) from None
        gradient = found if isinstance(argnums, tuple | list) else found[0]
        gradient = tuple(gradient) if isinstance(argnums, tuple | list) else gradient
        value = _plain(value, creates)
        if has_aux:
            leaves, rebuild = flatten(aux)
            return (value, rebuild([_plain(x, creates) for x in leaves])), gradient
        return value, gradient

    return wrapped


def _check_number(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise gradient_errors.not_output(name, value)
    if value.shape != ():
        raise gradient_errors.not_one_output(name, value.shape)
    if not value.dtype.is_floating:
        raise gradient_errors.no_real_output(name, value.dtype)


@overload
def grad(  # 0 is an int
    f: _Plain, argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> _Found[[Tensor], Tensor]: ...
@overload
def grad(  # type: ignore[overload-overlap]  # 0 is an int
    f: _With[T, P, Tensor], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> _Found[Concatenate[T, P], T]: ...
@overload
def grad(
    f: Callable[P, Tensor], argnums: int, has_aux: Literal[False] = False
) -> _Found[P, Tensor]: ...
@overload
def grad(
    f: Callable[P, Tensor], argnums: Sequence[int], has_aux: Literal[False] = False
) -> _Found[P, tuple[Tensor, ...]]: ...
@overload
def grad(
    f: _With[T, P, tuple[Tensor, A]], argnums: Literal[0] = 0, *, has_aux: Literal[True]
) -> _Found[Concatenate[T, P], tuple[T, A]]: ...
@overload
def grad(
    f: Callable[P, tuple[Tensor, A]], argnums: Sequence[int], has_aux: Literal[True]
) -> _Found[P, tuple[tuple[Tensor, ...], A]]: ...
def grad(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Give a function that gives the gradient of f by some arguments.

    >>> ts.grad(lambda x: x**3)(ts.tensor(2.0)).item()
    12.0
    >>> ts.grad(ts.grad(lambda x: x**3))(2.0).item()
    12.0
    """
    return _grad("grad", f, argnums, has_aux)


def _grad(title: str, f: Callable[..., Any], argnums: Any, has_aux: Any) -> Any:
    both = _value_and_grad(title, f, argnums, has_aux)

    @functools.wraps(f)
    def wrapped(*args: Any, **keywords: Any) -> Any:
        value, gradient = both(*args, **keywords)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


@overload
def vjp(
    f: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, Callable[[R], tuple[*Ts]]]: ...
@overload
def vjp(
    f: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, Callable[[R], tuple[*Ts]], A]: ...
def vjp(  # type: ignore[misc]  # as R may be a tuple
    f: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> Any:
    """Give f(*primals), and a function from a gradient of it to those of the primals.

    >>> out, pull = ts.vjp(lambda x: x * x, ts.tensor([1.0, 2.0]))
    >>> pull(ts.tensor([1.0, 10.0]))[0].tolist()
    [2.0, 40.0]
    """
    try:
        name = _name_of("vjp", f)
        run = _Run("primals", list(primals))
        result = run.call(f, run.rebuild(run.inputs))
        value, aux = _pair(name, result) if to_bool("has_aux", has_aux) else (result, None)
        outs, rebuild = _outputs(name, value)
        form = rebuild([str(x.shape) for x in outs])
        creates = run.creates(outs)
    except errors.TessellaError as error:
        raise _located(error, "vjp", _shown(f)) from None

    def pull(cotangents: Any) -> Any:
        """Give the gradients of the primals, one for each."""
        try:
            gs = _like("cotangents", cotangents, form, outs)
            is_linked = creates or any(g.requires_grad for g in gs)
            found = run.pull(outs, gs, is_linked, keeps=True)
        except errors.TessellaError as error:
            raise _located(error, "vjp", _shown(f)) from None
        return tuple(run.rebuild(found))

    shown = rebuild([_plain(x, creates) for x in outs])
    return (shown, pull, aux) if has_aux else (shown, pull)


def _like(name: str, given: Any, form: Any, outs: list[Tensor]) -> list[Tensor]:
    """Check that nested containers of the same form hold one gradient for each of some tensors."""
    gs: list[Any] | None = arrange(given, form)
    if gs is None or len(gs) != len(outs):
        raise gradient_errors.structure_differs(name, form)
    for i, (g, x) in enumerate(zip(gs, outs, strict=True)):
        if not isinstance(g, Tensor):
            raise errors.not_tensor(f"{name}[{i}]", g, "a tensor")
        if g.shape != x.shape or g.dtype is not x.dtype:
            raise gradient_errors.gradient_differs(
                f"{name}[{i}]", f"{g.dtype} {g.shape}", f"{x.dtype} {x.shape}", g.shape != x.shape
            )
    return gs


def jvp(f: Callable[..., R], primals: Sequence[object], tangents: Sequence[object]) -> tuple[R, R]:
    """Give f(*primals), and how it changes as the primals move along tangents.

    The gradient of f is linear in what it begins with; the derivative of that by it is what is
    asked for, so two sweeps backwards make one forwards.

    >>> out, slope = ts.jvp(lambda x: x * x, (ts.tensor([1.0, 2.0]),), (ts.tensor([1.0, 10.0]),))
    >>> slope.tolist()
    [2.0, 40.0]
    """
    try:
        name = _name_of("jvp", f)
        if not isinstance(primals, tuple | list):
            raise errors.wrong_type("primals", primals, "a tuple with an item for each argument")
        run = _Run("primals", list(primals))
        form = run.rebuild([str(x.shape) for x in run.inputs])
        along = _like("tangents", tangents, form, run.inputs)
        outs, rebuild = _outputs(name, run.call(f, run.rebuild(run.inputs)))
        creates = run.creates(outs) or any(v.requires_grad for v in along)
        with enable_grad():
            dummies = [zeros_like(x.detach()).requires_grad_() for x in outs]
            pulled = run.pull(outs, list(dummies), True)
            slopes = _forward(pulled, dummies, along, creates)
    except errors.TessellaError as error:
        raise _located(error, "jvp", _shown(f)) from None
    return rebuild([_plain(x, creates) for x in outs]), rebuild(slopes)


def _forward(
    pulled: list[Tensor], dummies: list[Tensor], along: list[Tensor], creates: bool
) -> list[Tensor]:
    pairs = [(x, v) for x, v in zip(pulled, along, strict=True) if x.requires_grad]
    if not pairs:
        return [zeros_like(x.detach()) for x in dummies]
    roots, begin = [x for x, _ in pairs], [v for _, v in pairs]
    return list(gradients_of(roots, dummies, begin, creates, creates, materialize_grads=True))


@overload
def jacobian(f: _Plain, argnums: Literal[0] = 0) -> _Found[[Tensor], Tensor]: ...
@overload
def jacobian(f: Callable[P, R], argnums: int = 0) -> _Found[P, R]: ...
@overload
def jacobian(f: Callable[P, Tensor], argnums: Sequence[int]) -> _Found[P, tuple[Tensor, ...]]: ...
def jacobian(f: Callable[..., Any], argnums: Any = 0) -> Any:
    """Give a function that gives all slopes of f's results by some arguments.

    For each result and argument: a tensor of the result's shape and then the argument's.

    >>> ts.jacobian(lambda x: x * x)(ts.tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    return _jacobian("jacobian", f, argnums)


def _jacobian(title: str, f: Callable[..., Any], argnums: Any) -> Any:
    name = _name_of(title, f)

    @functools.wraps(f)
    def wrapped(*args: Any, **keywords: Any) -> Any:
        try:
            run, result = _run_with(f, argnums, args, keywords)
            outs, rebuild = _outputs(name, result)
            creates = run.creates(outs)
            rows = [_rows(run, outs, i, creates) for i in range(len(outs))]
        except errors.TessellaError as error:
            raise _located(error, title, name) from None
        shown = []
        for row in rows:
            found = run.rebuild(row)
            shown.append(tuple(found) if isinstance(argnums, tuple | list) else found[0])
        return rebuild(shown)

    return wrapped


def _rows(run: _Run, outs: list[Tensor], number: int, creates: bool) -> list[Tensor]:
    """Give the slopes of all elements of one result by every input, one sweep for each element."""
    out = outs[number]
    found: list[list[Tensor]] = []
    with enable_grad():
        flat = reshape(out, (-1,))
    for i in range(flat.size):
        with enable_grad():
            element = flat[i]
        one = tensor(1, dtype=out.dtype)
        found.append(run.pull([element], [one], creates, keeps=True))
    shape = [(*out.shape, *x.shape) for x in run.inputs]
    if not found:
        return [reshape(zeros_like(x.detach())[:0] if x.ndim else x.detach()[None][:0], s)
                for x, s in zip(run.inputs, shape, strict=True)]  # fmt: skip
    return [
        reshape(stack(list(column)), s)
        for column, s in zip(zip(*found, strict=True), shape, strict=True)
    ]


@overload
def hessian(f: _Plain, argnums: Literal[0] = 0) -> _Found[[Tensor], Tensor]: ...
@overload
def hessian(f: Callable[P, Tensor], argnums: int = 0) -> _Found[P, Tensor]: ...
@overload
def hessian(
    f: Callable[P, Tensor], argnums: Sequence[int]
) -> _Found[P, tuple[tuple[Tensor, ...], ...]]: ...
def hessian(f: Callable[..., Any], argnums: Any = 0) -> Any:
    """Give a function that gives the second derivatives of f, which gives one number.

    >>> ts.hessian(lambda x: (x**3).sum())(ts.tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return _jacobian("hessian", _grad("hessian", f, argnums, False), argnums)
