"""Module: what has parameters, buffers and other modules, and computes.

The attributes of an instance are the only record of its parts: a parameter is an attribute that is
a Parameter, a child is one that is a Module; for buffers, which are plain tensors, the module keeps
their names. So reading a part is a plain attribute access. Walks stand in walks.py, states in
states.py, hooks in module_hooks.py.
"""

from __future__ import annotations

import weakref

from tessella import _core, changes, errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    DeviceLike,
    DTypeLike,
    Iterator,
    NoReturn,
    ParamSpec,
    Protocol,
    StateDict,
    TypeVar,
    overload,
)
from tessella.located import explain_call, located_init
from tessella.nn import module_errors, module_hooks, states, walks
from tessella.nn.parameters import Buffer, Parameter

if TYPE_CHECKING:
    from typing import Self, TypedDict, Unpack

    from tessella.allocators import Allocator
    from tessella.hooks import Handle
    from tessella.nn.states import IncompatibleKeys

    class Target(TypedDict, total=False):
        """What `to` may be told by keyword."""

        dtype: DTypeLike | None
        device: DeviceLike | None
        copy: bool
        non_blocking: bool


__path__: list[str] = []  # so that imports of names that are not here are explained

if not TYPE_CHECKING:  # which knows what is there
    __getattr__ = spellings.refuser(__name__)

_PLAIN = (list, tuple, set, dict)
_watches = _core.watches_values
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Unsaid(Protocol):
    """To type checkers: a module of which no more is known than that it is one."""

    forward: Callable[..., object]


class Said(Protocol[P, R_co]):
    """To type checkers: a module whose class says what `forward` takes and gives."""

    def forward(self, *args: P.args, **keywords: P.kwargs) -> R_co: ...


# What PyTorch calls the first arguments of `forward`, by their places.
_INPUTS = {"input": 0, "input1": 0, "input2": 1}


def _renamed(forward: Any, keywords: dict[str, Any]) -> dict[str, Any]:
    """Give keywords of PyTorch's modules the names that `forward` of one of ours has for them."""
    function = getattr(forward, "__func__", None)
    if function is None or not function.__module__.startswith("tessella."):
        return keywords
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    found = dict(keywords)
    for name, place in _INPUTS.items():
        if name in names or place >= len(names) or names[place] in found:
            continue  # ours; or one that is too many, which Python refuses
        if name in found:
            found[names[place]] = found.pop(name)
    return found


class Module(walks.Owner):
    """The base of all networks: `forward` says what one computes.

    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.up = nn.Linear(2, 3)
    ...     def forward(self, x):
    ...         return self.up(x).relu()
    >>> Net()(ts.ones(4, 2)).shape
    (4, 3)
    """

    training: bool = True
    _spared: tuple[str, ...] = ()  # parts that a state may lack
    _hooks: module_hooks.ModuleHooks | None = None  # None: there are none

    if TYPE_CHECKING:  # what is registered by name is known at run time only; most are tensors

        def __getattr__(self, name: str) -> Tensor: ...

    else:

        def __getattr__(self, name):
            """Refuse a name that Python has not found."""
            kind = type(self)
            if name.startswith("__") or hasattr(kind, name):  # of a protocol; a property that fails
                return object.__getattribute__(self, name)
            raise errors.unknown_name(
                kind.__name__, name, lambda: spellings.suggest("model", name, dir(self), ())
            )

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if cls.__module__.startswith("tessella.") and "__init__" in vars(cls):
            cls.__init__ = located_init(cls.__init__)  # type: ignore[method-assign]  # the same signature

    def __init__(self) -> None:
        """Make a module without parts; subclasses add theirs as attributes."""
        changes.born(self)

    # --- calls ---

    if TYPE_CHECKING:
        forward: Callable[..., object]
    else:

        def forward(self, *args, **keywords):
            """Compute: every subclass says what."""
            raise module_errors.no_forward(type(self)).locate(type(self).__name__, [])

    @overload
    def __call__(self: Unsaid, *args: object, **keywords: object) -> Tensor: ...
    @overload
    def __call__(self: Said[P, R], *args: P.args, **keywords: P.kwargs) -> R: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Compute by `forward`, with the hooks around it."""
        # errors.py finds the modules that were at work by the frames of this function.
        if keywords and not _INPUTS.keys().isdisjoint(keywords):
            keywords = _renamed(self.forward, keywords)
        try:
            if self._hooks is not None or _watches():
                out = module_hooks.call(self, args, keywords)
            else:
                out = self.forward(*args, **keywords)
        except TypeError as error:
            explain_call(error, type(self).__name__, type(self).forward)
            raise
        if type(out) is Tensor:
            self.__dict__["_made"] = weakref.ref(out)  # so that errors can say whose output it is
        return out

    # --- attributes ---

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; parameters, buffers and modules become parts of this one."""
        here = self.__dict__
        if isinstance(value, Tensor) and here.get(name) is value:
            return  # self.length += 1 has written into the tensor, and changes no structure
        if name == "training" and isinstance(value, bool):
            if self.training is not value:
                changes.switch(self, value)
                here[name] = value
            return
        changes.bump(self)
        if isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
            return
        if not isinstance(value, Parameter | Module):
            if isinstance(here.get(name), Parameter) and value is not None:
                raise module_errors.not_parameter(name, value).locate(type(self).__name__, [])
            if name in self._persistence and not (value is None or isinstance(value, Tensor)):
                raise module_errors.not_buffer(name, value).locate(type(self).__name__, [])
            if isinstance(value, _PLAIN) and (count := walks.hidden_parts(value)):
                error = module_errors.hidden_parts(name, value, count)
                raise error.locate(type(self).__name__, [])
        elif name in self._persistence:
            del self._persistence[name]
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute; a part is one no longer."""
        changes.bump(self)
        object.__delattr__(self, name)
        self._persistence.pop(name, None)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None keeps its name for later."""
        walks.check_name(self, name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise module_errors.not_parameter(name, param).locate(type(self).__name__, [])
        setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is kept and moved with the module, and not trained.

        >>> layer = nn.Module()
        >>> layer.register_buffer("mask", ts.ones(3))
        >>> list(layer.state_dict())
        ['mask']
        """
        walks.check_name(self, name, "buffer")
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise module_errors.not_buffer(name, tensor).locate(type(self).__name__, [])
        if "_persistence" not in self.__dict__:
            object.__setattr__(self, "_persistence", {})
        self._persistence[name] = to_bool("persistent", persistent)
        object.__setattr__(self, name, tensor)
        changes.bump()

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name, which may be a number."""
        walks.check_name(self, name, "module")
        if module is not None and walks.part_of(module) is None:
            raise module_errors.not_module(name, module).locate(type(self).__name__, [])
        setattr(self, name, module)

    register_module = add_module

    # --- walks ---

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Give each parameter with its path, one that is shared once.

        >>> [name for name, _ in nn.Linear(2, 3).named_parameters()]
        ['weight', 'bias']
        """
        return walks.members(self, walks.parameters_of, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Give each parameter once."""
        return (x for _, x in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Give each buffer with its path."""
        return walks.members(self, walks.buffers_of, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Give each buffer once."""
        return (x for _, x in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Give the modules that are parts of this one, each once, with their names."""
        seen: set[int] = set()
        for name, child in walks.children_of(self):
            if id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """Give the modules that are parts of this one."""
        return (child for _, child in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Give this module and all below it, with their paths.

        >>> [name for name, _ in nn.Sequential(nn.ReLU()).named_modules()]
        ['', '0']
        """
        return walks.modules(self, memo, prefix, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Give this module and all below it."""
        return (module for _, module in self.named_modules())

    def get_submodule(self, target: str) -> Module:
        """Give the module at a path such as "encoder.0"."""
        found: Module = walks.find(self, target, "module")
        return found

    def get_parameter(self, target: str) -> Parameter:
        """Give the parameter at a path."""
        found: Parameter = walks.find(self, target, "parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Give the buffer at a path."""
        found: Tensor = walks.find(self, target, "buffer")
        return found

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call a function with every module, the parts before the whole."""
        if not callable(fn):
            raise errors.wrong_type("fn", fn, "a function of a module").locate("Module.apply", [])
        for module in walks.parts_first(self):
            fn(module)
        return self

    # --- modes ---

    def train(self, mode: bool = True) -> Self:
        """Choose how dropout, batch normalisation and their like work: as in training, or not."""
        mode = to_bool("mode", mode)
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Leave training mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of all parameters, or no longer: they are frozen then."""
        changes.bump(self)
        for x in self.parameters():
            x.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0."""
        for x in self.parameters():
            x.zero_grad(set_to_none)

    # --- memory and dtypes ---

    def to(
        self,
        *targets: Tensor | DTypeLike | DeviceLike | Allocator | None,
        **options: Unpack[Target],
    ) -> Self:
        """Move parameters and buffers: to a dtype (floats only), a device, an allocator.

        >>> nn.Linear(2, 3).to(ts.float64).weight.dtype
        float64
        """
        walks.move(self, *targets, **options)
        return self

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self.to("float32")

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self.to("float64")

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self.to("float16")

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self.to("bfloat16")

    def cpu(self) -> Self:
        """Stay where it is: the CPU is the only device."""
        return self

    def cuda(self, device: DeviceLike | None = None) -> NoReturn:
        """Refuse: there is no GPU to move to."""
        raise spellings.MOVED.error().locate("cuda", [])

    # --- states ---

    def state_dict(
        self,
        *,
        destination: dict[str, Tensor] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Tensor]:
        """Give parameters and persistent buffers by their paths; they share the module's memory.

        >>> {name: x.shape for name, x in nn.Linear(2, 3).state_dict().items()}
        {'weight': (3, 2), 'bias': (3,)}
        """
        return states.save(self, {} if destination is None else destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: StateDict, strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy a state into parameters and buffers: all of it, or, where it does not fit, nothing.

        `assign` takes the tensors of the state themselves in place of copying their numbers.

        >>> layer = nn.Linear(2, 1)
        >>> layer.load_state_dict({"weight": ts.ones(1, 2), "bias": ts.zeros(1)})
        <All keys matched successfully>
        """
        return states.load(self, state_dict, to_bool("strict", strict), to_bool("assign", assign))

    def get_extra_state(self) -> object:
        """Give what a subclass wants in its state besides tensors."""
        return None

    def set_extra_state(self, state: object) -> None:
        """Take what `get_extra_state` gave."""

    # --- hooks ---

    def register_forward_pre_hook(
        self, hook: Callable[..., object], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call hook(module, args) before `forward`; what it gives replaces the arguments."""
        return module_hooks.hooks_of(self).add("before", hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., object],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Handle:
        """Call hook(module, args, output) after `forward`; what it gives replaces the output."""
        hooks = module_hooks.hooks_of(self)
        return hooks.add("after", hook, prepend, with_kwargs, always_call)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., object], prepend: bool = False
    ) -> Handle:
        """Call hook(module, grad_output) when the gradients of the outputs are known."""
        return module_hooks.hooks_of(self).add("backward_before", hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., object], prepend: bool = False
    ) -> Handle:
        """Call hook(module, grad_input, grad_output) when the gradients of the inputs are known."""
        return module_hooks.hooks_of(self).add("backward", hook, prepend)

    # --- text ---

    def __repr__(self) -> str:
        return walks.describe(self)

    def _repr_html_(self) -> str:
        from tessella.nn import notebooks  # nobody needs it elsewhere

        return notebooks.tree(self)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}
