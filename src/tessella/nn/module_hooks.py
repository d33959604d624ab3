"""Hooks of modules: functions called before and after `forward`, and with gradients.

Gradients are seen by two operations that change nothing, put around the module's inputs and its
outputs: their rules call the hooks.
"""

from __future__ import annotations

from tessella import _core, changes, errors
from tessella._core import Tensor
from tessella.functions import Function
from tessella.hints import TYPE_CHECKING, Any, Callable
from tessella.hooks import Handle
from tessella.nn import module_errors
from tessella.trees import flatten

if TYPE_CHECKING:
    from tessella.nn.modules import Module


class Hook:
    """One registered function, and how it is to be called."""

    def __init__(self, call: Callable[..., Any], takes_keywords: bool, is_always: bool) -> None:
        self.call, self.takes_keywords, self.is_always = call, takes_keywords, is_always


class ModuleHooks:
    """The hooks of one module, in the order of their calls."""

    def __init__(self) -> None:
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}
        self.backward_before: dict[int, Hook] = {}
        self.backward: dict[int, Hook] = {}
        self.first = self.last = 0

    def add(
        self,
        kind: str,
        call: Callable[..., Any],
        prepend: bool = False,
        takes_keywords: bool = False,
        is_always: bool = False,
    ) -> Handle:
        """Register one, as the last or as the first."""
        if not callable(call):
            raise errors.wrong_type("hook", call, "a function").locate(f"register {kind} hook", [])
        changes.bump()
        hooks: dict[int, Hook] = getattr(self, kind)
        if prepend:
            self.first -= 1
        else:
            self.last += 1
        key = self.first if prepend else self.last
        hooks[key] = Hook(call, takes_keywords, is_always)
        return Handle(hooks, key)

    def functions(self) -> list[Callable[..., Any]]:
        """Give what is called, of all kinds."""
        kinds = (self.before, self.after, self.backward_before, self.backward)
        return [hook.call for hooks in kinds for hook in hooks.values()]

    def ordered(self, kind: str) -> list[Hook]:
        """Give the hooks of one kind in the order of their calls."""
        hooks: dict[int, Hook] = getattr(self, kind)
        return [hooks[key] for key in sorted(hooks)]


def hooks_of(module: Module) -> ModuleHooks:
    """Give the hooks of a module, to add one."""
    if module._hooks is None:
        module._hooks = ModuleHooks()
    return module._hooks


def call(module: Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a module that has hooks, or while values are watched."""
    hooks = module._hooks or ModuleHooks()
    start = _core.recorded()
    out: Any = None
    try:
        for hook in hooks.ordered("before"):
            args, keywords = _called_before(hook, module, args, keywords)
        sees_gradients = bool(hooks.backward or hooks.backward_before)
        watch = _Watch(module, hooks) if sees_gradients else None
        if watch is not None:
            args, keywords = watch.enter(args, keywords)
        out = module.forward(*args, **keywords)
        for hook in hooks.ordered("after"):
            out = _called_after(hook, module, args, keywords, out)
        if watch is not None:
            out = watch.leave(out)
    except BaseException:
        for hook in hooks.ordered("after"):
            if hook.is_always:
                _called_after(hook, module, args, keywords, out)
        raise
    # Which operations were its own, for errors in their gradients.
    module.__dict__["_recorded"] = (start, _core.recorded())
    return out


def _called_before(
    hook: Hook, module: Module, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Call a hook before `forward`; give the arguments that go on."""
    if hook.takes_keywords:
        given = hook.call(module, args, keywords)
        if given is None:
            return args, keywords
        if not (isinstance(given, tuple) and len(given) == 2):
            raise errors.wrong_type("what the hook gave", given, "None, or (args, keywords)")
        return given
    given = hook.call(module, args)
    if given is None:
        return args, keywords
    return given if isinstance(given, tuple) else (given,), keywords


def _called_after(
    hook: Hook, module: Module, args: tuple[Any, ...], keywords: dict[str, Any], out: Any
) -> Any:
    """Call a hook after `forward`; give the output that goes on."""
    if hook.takes_keywords:
        given = hook.call(module, args, keywords, out)
    else:
        given = hook.call(module, args, out)
    return out if given is None else given


# --- gradients ------------------------------------------------------------------------------------


class _Pass(Function):
    """Hand tensors on, and their gradients to a function that may replace them."""

    @staticmethod
    def forward(ctx: Any, see: Callable[[tuple[Any, ...]], Any], *tensors: Tensor) -> Any:
        """Give the tensors."""
        ctx.see = see
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Show the gradients."""
        return (None, *ctx.see(gradients))


class _Watch:
    """One call of a module whose backward hooks wait for gradients."""

    def __init__(self, module: Module, hooks: ModuleHooks) -> None:
        self.module, self.hooks = module, hooks
        self.outputs: tuple[Any, ...] = ()  # gradients, when they are known
        self.unseen: tuple[None, ...] | None = None  # those of inputs, if none asks for any

    def enter(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Put the operation before the module that sees the gradients of its inputs."""
        given: Any = [list(args), keywords]
        leaves, rebuild = flatten(given)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        if not any(x.requires_grad for x in tensors):
            self.unseen = (None,) * len(tensors)
        passed = self._through(leaves, self._see_inputs)
        inputs, named = rebuild(passed)
        return tuple(inputs), named

    def leave(self, out: Any) -> Any:
        """Put the operation after the module that sees the gradients of its outputs."""
        leaves, rebuild = flatten(out)
        return rebuild(self._through(leaves, self._see_outputs))

    def _through(self, leaves: list[Any], see: Callable[..., Any]) -> list[Any]:
        tensors = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
        places = [i for i in tensors if leaves[i].requires_grad]
        if not places or not _core.is_grad_enabled():
            return leaves

        def see_all(gradients: tuple[Any, ...]) -> list[Any]:
            known = dict(zip(places, gradients, strict=True))  # None of inputs that ask for none
            found = dict(zip(tensors, see(tuple([known.get(i) for i in tensors])), strict=True))
            return [found[i] for i in places]

        for i, x in zip(places, _Pass.apply(see_all, *[leaves[i] for i in places]), strict=True):
            leaves[i] = x
        return leaves

    def _see_outputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.hooks.ordered("backward_before"):
            gradients = _replaced(hook, hook.call(self.module, gradients), gradients)
        self.outputs = gradients
        if self.unseen is not None:
            self._see_inputs(self.unseen)
        return gradients

    def _see_inputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.hooks.ordered("backward"):
            given = hook.call(self.module, gradients, self.outputs)
            gradients = _replaced(hook, given, gradients)
            if self.unseen is not None and any(x is not None for x in gradients):
                raise module_errors.hook_result(hook.call, given)
        return gradients


def _replaced(hook: Hook, given: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the gradients that go on after a hook."""
    if given is None:
        return gradients
    found = given if isinstance(given, tuple) else (given,)
    if len(found) != len(gradients) or not all(x is None or isinstance(x, Tensor) for x in found):
        raise module_errors.hook_result(hook.call, given)
    return found
