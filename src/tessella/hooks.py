"""Hooks: functions that see a gradient on its way, or the leaf that it has reached."""

from __future__ import annotations

import weakref

from tessella import _core, changes, errors, gradient_errors
from tessella._core import Tensor
from tessella.autograd import check_gradient, refuse_inside
from tessella.declarations import describe
from tessella.hints import Any, Callable, TypeVar

H = TypeVar("H")


class Handle:
    """A registered hook, which can be removed; as a context it is removed at its end."""

    def __init__(self, hooks: dict[int, H], key: int) -> None:
        self._hooks: dict[int, Any] = hooks
        self._key = key
        changes.born(self)

    def remove(self) -> None:
        """Take the hook away; once is enough."""
        changes.bump(self)
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one tensor: called with its gradient, which each of them may replace."""

    def __init__(self) -> None:
        self.before: dict[int, Callable[[Tensor], Any]] = {}
        self.after: dict[int, Callable[[Tensor], Any]] = {}
        self.kept: weakref.ref[Tensor] | None = None  # a result that keeps its gradient
        self.next = 0

    def functions(self) -> list[Callable[[Tensor], Any]]:
        """Give what is called, of both kinds."""
        return [*self.before.values(), *self.after.values()]

    def add(self, hooks: dict[int, Any], hook: Callable[[Tensor], object]) -> Handle:
        """Register one."""
        self.next += 1
        hooks[self.next] = hook
        return Handle(hooks, self.next)

    def __call__(self, g: Tensor) -> Tensor:
        """Give the gradient that goes on."""
        for hook in list(self.before.values()):
            given = hook(g)
            if given is None:
                continue
            if not isinstance(given, Tensor):
                raise gradient_errors.hook_result(given)
            check_gradient("x", g, given)
            g = given
        return g

    def finish(self, leaf: Tensor) -> None:
        """Tell that the gradient of a leaf was accumulated."""
        for hook in list(self.after.values()):
            hook(leaf)


class NodeHooks:
    """The hooks of the results of one recorded operation, by their numbers."""

    def __init__(self) -> None:
        self.results: dict[int, Hooks] = {}

    def __call__(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the gradients that go on, and last the results that keep theirs, in pairs."""
        found, kept = list(gradients), []
        for output, hooks in list(self.results.items()):
            if found[output] is None:
                continue
            found[output] = hooks(found[output])
            tensor = None if hooks.kept is None else hooks.kept()
            if tensor is not None:
                kept.append((tensor, found[output]))
        return (*found, tuple(kept))


def hooks_of(x: Tensor) -> Hooks:
    """Give the hooks of a tensor to who adds to them, made if there are none."""
    _core.note_state(x)
    node = x.grad_fn
    if node is None:
        found: Hooks | None = _core.leaf_hooks(x)
        if found is None:
            found = Hooks()
            _core.set_leaf_hooks(x, found)
        return found
    if node.hooks is None:
        _core.set_node_hooks(node, NodeHooks())
    hooks: Any = node.hooks
    results: dict[int, Hooks] = hooks.results
    return results.setdefault(_core.output_of(x), Hooks())


def register_hook(self: Tensor, hook: Callable[[Tensor], object]) -> Handle:
    """Call a function with the gradient of this tensor; what it gives, if any, replaces it.

    >>> x = ts.tensor(3.0, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> (x * x).backward()
    >>> x.grad.item()
    60.0
    """
    _check_hook(self, hook, "register_hook")
    hooks = hooks_of(self)
    return hooks.add(hooks.before, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], object]) -> Handle:
    """Call a function with this leaf after its gradient was accumulated.

    >>> x = ts.tensor(3.0, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda x: print(x.grad.item()))
    >>> (x * x).backward()
    6.0
    """
    _check_hook(self, hook, "register_post_accumulate_grad_hook")
    if not self.is_leaf:
        raise gradient_errors.hook_of_result().locate(
            "register_post_accumulate_grad_hook", [f"x  {describe(self)}"]
        )
    hooks = hooks_of(self)
    return hooks.add(hooks.after, hook)


def _check_hook(x: Tensor, hook: Any, name: str) -> None:
    try:
        if not callable(hook):
            raise errors.wrong_type("hook", hook, "a function of the gradient")
        if not x.requires_grad:
            raise gradient_errors.no_hooks("x")
        refuse_inside(x)
    except errors.TessellaError as error:
        raise error.locate(name, [f"x  {describe(x)}"]) from None


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a result in `.grad`, as leaves do.

    >>> x = ts.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> y.retain_grad()
    >>> y.backward()
    >>> y.grad.item()
    1.0
    """
    try:
        if not self.requires_grad:
            raise gradient_errors.no_hooks("x")
        refuse_inside(self)
    except errors.TessellaError as error:
        raise error.locate("retain_grad", [f"x  {describe(self)}"]) from None
    if not self.is_leaf:
        hooks_of(self).kept = weakref.ref(self)


def retains_grad(self: Tensor) -> bool:
    """Tell whether this is a result that keeps its gradient."""
    node = self.grad_fn
    if node is None or node.hooks is None:
        return False
    hooks: Any = node.hooks
    own = hooks.results.get(_core.output_of(self))
    return own is not None and own.kept is not None and own.kept() is self
