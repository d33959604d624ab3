"""checkpoint: computing a function again for backward, in place of keeping what it computed."""

from __future__ import annotations

from tessella import _core, errors, gradient_errors
from tessella._core import Node, Tensor
from tessella.arguments import to_bool
from tessella.hints import Any, Callable, TypeVar, TypeVarTuple, overload
from tessella.modes import enable_grad
from tessella.ops.creation import copy_of
from tessella.ops.random import Generator, default_generator
from tessella.trees import flatten

R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class Again:
    """The record of such calls: what the engine asks for their gradients."""

    name = "checkpoint"
    operands = ("x",)
    params: dict[str, Any] = {}
    saves = 0

    def __init__(self) -> None:
        self.function = _core.Function(
            self, self.name, "A function that is computed again.", "(f, *args)", "none", 0, 0,
            True, False, None,
        )  # fmt: skip

    def pull(self, node: Node, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute the function again, recording, and go back through it."""
        _core.unpack_saved(node)  # refuses arguments that were overwritten
        kept: dict[str, Any] = node.params
        call, sources, before = (kept[name] for name in ("call", "sources", "before"))
        now, creates = _core.recorded(), _core.is_grad_enabled()
        with enable_grad():
            found: list[Any] = flatten(call())[0]
            outs = [x for x in found if _is_new(x, now)]
        forms = [(x.shape, x.dtype) for x in outs]
        if forms != node.params["forms"] or not _agree(outs, sources, before):
            raise gradient_errors.changed_in_checkpoint()
        pairs = [(x, g) for x, g in zip(outs, gradients, strict=True) if g is not None]
        roots, begin = tuple([x for x, _ in pairs]), tuple([g for _, g in pairs])
        pulled: tuple[Any, ...] = _core.sweep(roots, begin, sources, creates, creates, before)
        return pulled


def _is_new(x: Any, before: int) -> bool:
    """Tell whether a result was computed, and recorded, since."""
    node = x.grad_fn if isinstance(x, Tensor) else None
    return node is not None and node.sequence > before


def _agree(outs: list[Tensor], sources: tuple[Tensor, ...], before: int) -> bool:
    """Tell whether results come from the tensors that they came from the first time."""
    again = _core.sources_of(tuple(outs), before)
    return {_place(x) for x in again} == {_place(x) for x in sources}


def _place(x: Tensor) -> tuple[int, int]:
    node = x.grad_fn
    return (id(x), 0) if node is None else (id(node), _core.output_of(x))


_AGAIN = Again()
# PyTorch's keywords about how it is done: values and gradients are the same.
_MANNERS = ("use_reentrant", "determinism_check", "debug", "early_stop")


@overload
def checkpoint(f: Callable[[*Ts], R], *args: *Ts, preserve_rng_state: bool = True) -> R: ...
@overload
def checkpoint(
    f: Callable[..., R], *args: object, preserve_rng_state: bool = True, **keywords: object
) -> R: ...
def checkpoint(
    f: Callable[..., R], *args: object, preserve_rng_state: bool = True, **keywords: object
) -> R:
    """Call f, and keep its arguments only: what it computed is computed again for backward.

    Values and gradients are those of f(*args), to the bit; random numbers from the default
    generator, and from those among the arguments, are drawn again unless preserve_rng_state is
    False. PyTorch's use_reentrant, determinism_check, early_stop and debug may be said: they choose
    how it is done.

    >>> x = ts.tensor([1.0, 2.0], requires_grad=True)
    >>> y = ts.checkpoint(lambda x: (x.exp().sin() * x).sum(), x)
    >>> y.backward()
    >>> x.grad.shape
    (2,)
    """
    if not callable(f):
        raise errors.wrong_type("f", f, "a function").locate("checkpoint", [])
    for name in _MANNERS:
        keywords.pop(name, None)
    if keywords.pop("context_fn", None) is not None:
        rule = "None: open what it gives inside f"
        raise errors.wrong_value("context_fn", "given", rule).locate("checkpoint", [])
    if not _core.is_grad_enabled():
        return f(*args, **keywords)
    given = [x for x in flatten((args, keywords))[0] if isinstance(x, Tensor)]
    versions = [(x.requires_grad, x.version)[1] for x in given]  # views have their history first
    is_replayed = to_bool("preserve_rng_state", preserve_rng_state)
    call = _replayed(f, args, keywords) if is_replayed else (lambda: f(*args, **keywords))
    before = _core.recorded()
    result = f(*args, **keywords)
    leaves, rebuild = flatten(result)
    if [x.version for x in given] != versions:
        raise gradient_errors.checkpoint_writes().locate("checkpoint", [])
    outs: list[Any] = [x for x in leaves if _is_new(x, before)]
    if not outs:
        return rebuild(leaves)
    sources = tuple(_core.sources_of(tuple(outs), before))
    held = (*given, *(x for x in sources if x.is_leaf))
    fresh = [_apart(x, held) if _is_new(x, before) else x for x in leaves]
    results = tuple([new for old, new in zip(leaves, fresh, strict=True) if new is not old])
    forms = [(x.shape, x.dtype) for x in outs]
    params = {"call": call, "sources": sources, "before": before, "forms": forms}
    try:
        _core.record_call(results, _AGAIN.function, sources, params, held)
    except errors.TessellaError as error:
        raise error.locate("checkpoint", []) from None
    return rebuild(fresh)


def _apart(x: Any, others: tuple[Tensor, ...]) -> Tensor:
    """Give the values of a result, in memory that is not an argument's."""
    return copy_of(x) if any(_core.may_overlap(x, each) for each in others) else x.detach()


def _replayed(f: Callable[..., Any], args: Any, keywords: Any) -> Callable[[], Any]:
    """Give a call of f that draws the numbers which a call now would draw.

    They come from the default generator, or from one among the arguments.
    """
    used = [x for x in flatten((args, keywords))[0] if isinstance(x, Generator)]
    generators = [default_generator, *used]
    states = [(each.seed, each.counter) for each in generators]

    def call() -> Any:
        now = [(each.seed, each.counter) for each in generators]
        _set(generators, states)
        try:
            return f(*args, **keywords)
        finally:
            _set(generators, now)

    return call


def _set(generators: list[Generator], states: list[tuple[int, int]]) -> None:
    for each, (seed, counter) in zip(generators, states, strict=True):
        each.seed, each.counter = seed, counter
