"""The state of a module: its parameters and buffers by path, given and loaded.

A load checks everything before it writes anything: a state that does not fit changes nothing.
"""

from __future__ import annotations

from collections import namedtuple

from tessella import changes
from tessella._core import Tensor
from tessella.hints import TYPE_CHECKING, Any
from tessella.inplace import check_kinds
from tessella.modes import no_grad
from tessella.nn import module_errors, walks
from tessella.nn.parameters import Parameter

if TYPE_CHECKING:
    from tessella.nn.modules import Module

EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")):
    """The keys that a load passed over: of the module, and of the state."""

    __slots__ = ()
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()


def save(root: Module, state: dict[str, Any], prefix: str, keep_vars: bool) -> dict[str, Any]:
    """Enter all parameters, persistent buffers and extra states under their paths."""
    for path, module in walks.modules(root, None, prefix.rstrip("."), remove_duplicate=False):
        head = f"{path}." if path else ""
        for name, x in persistent_parts(module):
            state[head + name] = x if keep_vars else x.detach()
        extra = module.get_extra_state()
        if extra is not None:
            state[head + EXTRA] = extra
    return state


def persistent_parts(module: Module) -> list[tuple[str, Tensor]]:
    """Give the parameters of one module, then its persistent buffers."""
    kept = [(name, x) for name, x in walks.buffers_of(module) if module._persistence[name]]
    return [*walks.parameters_of(module), *kept]


class _Loading:
    """A state on its way into a module: what goes where, and what does not fit."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.missing: list[str] = []
        self.unfit: list[str] = []
        self.tensors: list[tuple[Module, str, Tensor, Tensor]] = []
        self.extras: list[tuple[Module, Any]] = []
        self.known: set[str] = set()

    def plan(self, path: str, module: Module) -> None:
        """Find what the state has for one module."""
        head = f"{path}." if path else ""
        for name, x in persistent_parts(module):
            key = head + name
            self.known.add(key)
            if key not in self.state:
                self.missing += [] if name in module._spared else [key]
            elif problem := _misfit(x, self.state[key]):
                self.unfit.append(f"{key}  {problem}")
            else:
                self.tensors.append((module, name, x, self.state[key]))
        if head + EXTRA in self.state:
            self.known.add(head + EXTRA)
            self.extras.append((module, self.state[head + EXTRA]))
        elif module.get_extra_state() is not None:
            self.missing.append(head + EXTRA)


def _misfit(x: Tensor, value: Any) -> str:
    """Say why a value cannot be loaded into a tensor; nothing if it can."""
    if not isinstance(value, Tensor):
        return f"is {module_errors.type_name(value)}{module_errors.NO_TENSOR}"
    if value.shape != x.shape:
        return f"{value.dtype} {value.shape} in the state, {x.dtype} {x.shape} in the module"
    if value.is_freed:
        return "is freed in the state: its arena took the memory back"
    if value.is_virtual and not x.is_virtual:
        return "has no memory in the state"
    try:
        check_kinds(x, value)
    except module_errors.TessellaError as error:
        return error.what
    return ""


def load(root: Module, state: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Load a state, or raise with all that does not fit and load nothing."""
    if not isinstance(state, dict):
        raise module_errors.not_dict(state).locate(f"{type(root).__name__}.load_state_dict", [])
    loading = _Loading(state)
    for path, module in walks.modules(root, None, "", remove_duplicate=False):
        loading.plan(path, module)
    unexpected = [key for key in state if key not in loading.known]
    if loading.unfit or (strict and (loading.missing or unexpected)):
        error = module_errors.state_mismatch(
            loading.missing if strict else [], unexpected if strict else [], loading.unfit
        )
        raise error.locate(f"{type(root).__name__}.load_state_dict", error.operands)
    if assign:
        for module, name, x, value in loading.tensors:
            _assign(module, name, x, value)
    else:
        with no_grad():
            for _, _, x, value in loading.tensors:
                if x is not value:
                    x.copy_(value)
    for module, extra in loading.extras:
        module.set_extra_state(extra)
    return IncompatibleKeys(loading.missing, unexpected)


def _assign(module: Module, name: str, x: Tensor, value: Tensor) -> None:
    """Put the tensor of a state in the place of a part, as the kind of tensor that stands there."""
    if isinstance(x, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value, x.requires_grad)
    object.__setattr__(module, name, value)
    changes.bump()
