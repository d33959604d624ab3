"""Optimizer: parameter groups, their states, and steps that are one call into the core.

State is made when parameters are added, never in a step, and updated in place. A step reads no
value: learning rate and step count are 0-d tensors. Subclasses name the update that does the
arithmetic (optim/updates.py) and say which states it needs; one that users write may override
`step` instead.
"""

from __future__ import annotations

import functools

from tessella import _core, changes, errors, optimizer_errors
from tessella._core import Function, Tensor
from tessella.arguments import LISTS, to_bool
from tessella.hints import TYPE_CHECKING, Any, Callable, Mapping, ParamSpec, StateDict, TypeVar
from tessella.hooks import Handle
from tessella.located import explain_call
from tessella.modes import enable_grad, no_grad
from tessella.optim import saving
from tessella.optim.groups import Group, Groups, States, filled, scalar
from tessella.optim.options import Options, Params, check_distinct, to_groups, to_parameters
from tessella.optim.updates import Update, update_watched
from tessella.sizes import counted

if TYPE_CHECKING:
    from tessella.optim.saving import OptimizerState

P = ParamSpec("P")
R = TypeVar("R")


def explained(method: Callable[P, R]) -> Callable[P, R]:
    """Let the errors of a method name it and the user's line."""

    @functools.wraps(method)
    def called(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return method(*args, **keywords)
        except errors.TessellaError as error:
            owner, name = type(args[0]).__name__, method.__name__
            name = owner if name == "__init__" else f"{owner}.{name}"
            raise error.relocate(name, error.operands) from None
        except TypeError as error:
            explain_call(error, type(args[0]).__name__, method)
            raise

    return called


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Call the hooks around a step; of one step that calls another, around the outer one."""

    @functools.wraps(step)
    def called(self: Optimizer, *args: Any, **keywords: Any) -> Any:
        if self._is_stepping or not (self._before or self._after):
            return step(self, *args, **keywords)
        self._is_stepping = True
        try:
            for hook in list(self._before.values()):
                given = hook(self, args, keywords)
                args, keywords = (args, keywords) if given is None else to_call(given)
            out = step(self, *args, **keywords)
            for hook in list(self._after.values()):
                hook(self, args, keywords)
            return out
        finally:
            self._is_stepping = False

    return called


def to_call(given: Any) -> tuple[Any, dict[str, Any]]:
    """Check what a hook gives in place of the arguments of a step."""
    if isinstance(given, LISTS) and len(given) == 2:
        args, keywords = given
        if isinstance(args, LISTS) and isinstance(keywords, dict):
            return args, keywords
    raise optimizer_errors.odd_call(given).locate("register_step_pre_hook", [])


class Optimizer:
    """What all optimizers share.

    `params` are tensors, pairs of names and tensors, or dicts with options of their own beside
    "params". `param_groups` are dicts: to write an option there is a change of structure, but a
    number written to an option of `varying` goes into the 0-d tensor that the group has.

    >>> x = ts.zeros(2, requires_grad=True)
    >>> optimizer = ts.optim.SGD([x], lr=0.1)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> optimizer.param_groups[0]["lr"] = 0.01
    >>> x.tolist(), optimizer.param_groups[0]["lr"].item()
    ([-0.10000000149011612, -0.10000000149011612], 0.01)
    """

    update: Update | None = None  # what does the arithmetic of a step
    varying: tuple[str, ...] = ("lr",)  # options that are tensors
    shaping: tuple[str, ...] = ()  # options that decide which states there are
    _is_stepping = False
    _calls: list[tuple[list[Tensor], tuple[Any, ...]]] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__:
            cls.step = hooked(cls.step)  # type: ignore[method-assign]  # it stays a step

    @explained
    def __init__(self, params: Params, defaults: Mapping[str, object]) -> None:
        if not isinstance(defaults, dict):
            raise errors.wrong_type("defaults", defaults, "a dict of options")
        self.defaults: dict[str, object] = dict(defaults)
        self._groups = Groups(self, [])
        self._state = States(self)
        self._before: dict[int, Callable[..., Any]] = {}
        self._after: dict[int, Callable[..., Any]] = {}
        self._handles = 0
        self._finite: dict[int, int] = {}  # versions of parameters that were seen to be so
        for group in to_groups(params):
            self.add_param_group(group)

    # --- groups and states ------------------------------------------------------------------------

    @explained
    def add_param_group(self, param_group: Mapping[str, object]) -> None:
        """Add parameters with options of their own; what is left out is the optimizer's default.

        >>> x, y = ts.zeros(2, requires_grad=True), ts.zeros(3, requires_grad=True)
        >>> optimizer = ts.optim.SGD([x], lr=0.1)
        >>> optimizer.add_param_group({"params": [y], "lr": 0.01})
        >>> [group["lr"].item() for group in optimizer.param_groups]
        [0.1, 0.01]
        """
        self._groups.append(param_group)  # type: ignore[arg-type]  # it becomes a group there

    @property
    def param_groups(self) -> list[Group]:
        """The parameter groups: a list that can be changed, as each of them can."""
        return self._groups

    @param_groups.setter
    def param_groups(self, groups: list[Group]) -> None:
        self._groups[:] = groups

    def regroup(self, groups: list[Group]) -> list[Group]:
        """Give the groups that there are to be: those that are there, and dicts as new ones."""
        is_own = [isinstance(each, Group) and each.is_of(self) for each in groups]
        stay = [each for each, own in zip(groups, is_own, strict=True) if own]
        others = [p for group in stay for p in group["params"]]
        check_distinct(others, [])
        kept: list[Group] = []
        for each, own in zip(groups, is_own, strict=True):
            kept.append(each if own else self._new_group(each, others))
            others += () if own else kept[-1]["params"]
        self.forget()
        changes.bump(self)
        return kept

    def _new_group(self, given: Mapping[str, object], others: list[Tensor]) -> Group:
        params, names = to_parameters(given)
        check_distinct(params, others)
        options = {**self.defaults, **given, "params": params}
        if names is not None:
            options["param_names"] = names
        group = Group(self, options)
        group.states = self.needs(options)
        made = [self._new_states(p, group.states) for p in params]
        for p, states in zip(params, made, strict=True):
            self._state[p].update(states)
        return group

    @property
    def state(self) -> dict[Tensor, dict[str, Tensor]]:
        """The states of each parameter, by name."""
        return self._state

    @state.setter
    def state(self, states: dict[Tensor, dict[str, Tensor]]) -> None:
        self._state.clear()
        self._state.update(states)

    def needs(self, options: Options) -> dict[str, float]:
        """Name the states that a parameter has, with the number that each begins as."""
        return {}

    @property
    def has_fixed_states(self) -> bool:
        """Tell whether states are made with the optimizer; users' own may grow with its steps."""
        return self.update is not None

    @property
    def counters(self) -> tuple[str, ...]:
        """Name the states that are one number for each parameter."""
        return () if self.update is None else self.update.counters

    @property
    def shaped(self) -> tuple[str, ...]:
        """Name the states that have the shape of their parameter."""
        return () if self.update is None else self.update.states

    def adopt(self, saved: Options, begins: dict[str, float]) -> dict[str, object]:
        """Complete the saved state of a parameter by what a new one has."""
        return {**begins, **{name: value for name, value in saved.items() if value is not None}}

    def _new_states(self, p: Tensor, needed: dict[str, float]) -> dict[str, Tensor]:
        """Make the states that a parameter lacks."""
        has = self._state.get(p, ())
        return {
            name: scalar(value) if name in self.counters else filled(p, value)
            for name, value in needed.items()
            if name not in has
        }

    def forget(self) -> None:
        """Let the next step look at groups and states again."""
        self._calls = None
        self._finite.clear()

    def foresee(self, group: Group, key: str, value: object) -> Callable[[], None]:
        """Make the states that another option, or other parameters, ask for; give what adds them.

        All memory is there before the group is written.
        """
        if key not in (*self.shaping, "params"):
            return lambda: None
        options: dict[str, Any] = {**group.plain(), key: value}
        if key == "params":
            others = [p for each in self.param_groups if each is not group for p in each["params"]]
            check_distinct(options[key], others)
        needed = self.needs(options)
        made = [(p, self._new_states(p, needed)) for p in options["params"]]

        def add() -> None:
            group.states = needed
            for p, states in made:
                self._state[p].update(states)

        return add

    # --- steps ------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Move every parameter that has a gradient; gradients stay as they are.

        A closure computes the loss again, with its gradients, and gives it: so does the step.
        Nothing is written if it fails.
        """
        if (self._before or self._after) and not self._is_stepping:
            out: Tensor | None = hooked(Optimizer.step)(self, closure)
            return out
        loss = None
        if closure is not None:
            if not callable(closure):
                raise optimizer_errors.not_closure(closure).locate(
                    f"{type(self).__name__}.step", []
                )
            with enable_grad():
                loss = closure()
        calls = self._ready()
        if _core.watches_values():
            is_done = update_watched(calls, self._finite)
        else:
            is_done = _core.update_all(calls)
        if not is_done:
            self._step_slowly(calls)
        return loss

    def _ready(self) -> list[tuple[Function, tuple[Any, ...]]]:
        """Give the calls of a step: what has been worked out before, with today's gradients."""
        if self.update is None:
            raise NotImplementedError("an optimizer has an update, or a step of its own")
        if self._calls is None:
            self._calls = [self._prepared(self.update, each) for each in self.param_groups]
        function = self.update.function
        return [
            (function, (params, [p.grad for p in params], *rest)) for params, rest in self._calls
        ]

    def _prepared(self, update: Update, group: Group) -> tuple[list[Tensor], tuple[Any, ...]]:
        """Give the parameters of a group and what follows them in a call of the update."""
        params = list(group["params"])
        for p in params:  # somebody may have dropped them
            self._state[p].update(self._new_states(p, group.states))
        columns = [
            [self._state[p][name] for p in params] if name in group.states else None
            for name in (*update.states, *update.counters)
        ]
        numbers = [self.number_of(group, name) for name in update.numbers]
        return params, (*columns, *numbers, *(group[name] for name in update.constants))

    def number_of(self, group: Group, name: str) -> Tensor:
        """Give a number that varies, by its name in the update."""
        is_beta = name.startswith("beta")
        found: Any = group["betas"][int(name[4:]) - 1] if is_beta else group[name]
        number: Tensor = found
        return number

    def _step_slowly(self, calls: list[tuple[Function, tuple[Any, ...]]]) -> None:
        """Do the calls by their records; all are checked before the first one writes."""
        try:
            for function, args in calls:
                function.record.prepare(*function.record.bind(args, {}))
            for function, args in calls:
                function(*args)
        except errors.TessellaError as error:
            sizes = [counted(len(args[0]), "tensor") for _, args in calls]
            shown = [f"group {i}  {size}" for i, size in enumerate(sizes)]
            raise error.relocate(f"{type(self).__name__}.step", shown) from None

    @explained
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0.

        >>> x = ts.ones(2, requires_grad=True)
        >>> optimizer = ts.optim.SGD([x])
        >>> x.sum().backward()
        >>> optimizer.zero_grad()
        >>> x.grad is None
        True
        """
        forgets = to_bool("set_to_none", set_to_none)
        for group in self.param_groups:
            for p in group["params"]:
                if forgets:
                    p.grad = None
                elif p.grad is not None:
                    with no_grad():
                        p.grad = p.grad.detach().zero_()

    # --- hooks ------------------------------------------------------------------------------------

    @explained
    def register_step_pre_hook(self, hook: Callable[..., object]) -> Handle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may give other arguments.

        >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)])
        >>> handle = optimizer.register_step_pre_hook(lambda *call: print("before"))
        >>> optimizer.step()
        before
        """
        return self._register(self._before, hook)

    @explained
    def register_step_post_hook(self, hook: Callable[..., object]) -> Handle:
        """Call `hook(optimizer, args, kwargs)` after each step.

        >>> optimizer = ts.optim.SGD([ts.ones(2, requires_grad=True)])
        >>> with optimizer.register_step_post_hook(lambda *call: print("after")):
        ...     optimizer.step()
        after
        """
        return self._register(self._after, hook)

    def _register(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> Handle:
        if not callable(hook):
            raise errors.wrong_type("hook", hook, "a function")
        changes.bump()
        self._handles += 1
        hooks[self._handles] = hook
        return Handle(hooks, self._handles)

    # --- saving and showing -----------------------------------------------------------------------

    def state_dict(self) -> OptimizerState:
        """Give everything that a step depends on but the parameters, as PyTorch arranges it.

        The tensors are the optimizer's own; numbers that vary are read.

        >>> optimizer = ts.optim.Adam([ts.ones(2, requires_grad=True)])
        >>> saved = optimizer.state_dict()
        >>> list(saved["state"][0]), saved["param_groups"][0]["lr"]
        (['exp_avg', 'exp_avg_sq', 'step'], 0.001)
        """
        return saving.dict_of(self)

    @explained
    def load_state_dict(self, state_dict: OptimizerState | StateDict) -> None:
        """Take over what `state_dict` gave, also PyTorch's; if it fails nothing has changed.

        >>> optimizer = ts.optim.Adam([ts.ones(2, requires_grad=True)], lr=0.5)
        >>> other = ts.optim.Adam([ts.ones(2, requires_grad=True)])
        >>> other.load_state_dict(optimizer.state_dict())
        >>> other.param_groups[0]["lr"].item()
        0.5
        """
        saving.load(self, state_dict)

    def __getstate__(self) -> dict[str, object]:
        return {
            "defaults": self.defaults,
            "param_groups": [group.plain() for group in self.param_groups],
            "state": {p: dict(state) for p, state in self._state.items()},
        }

    def __setstate__(self, saved: Mapping[str, object]) -> None:
        parts: Mapping[str, Any] = saved
        Optimizer.__init__(self, [dict(group) for group in parts["param_groups"]],
                           parts["defaults"])  # fmt: skip
        self.state = parts["state"]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            shown = {str(key): value for key, value in group.plain().items()}
            lines += [f"    {key}: {shown[key]}" for key in sorted(shown)
                      if not key.startswith("param")]  # fmt: skip
        return "\n".join([*lines, ")"])
