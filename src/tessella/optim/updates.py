"""Optimizers' updates: operations that write parameters and states in one pass, and give nothing.

An update takes lists of parameters, gradients, states and counters, numbers that vary as 0-d
tensors of float64, and constants. A gradient that is None leaves its parameter out. It writes as
inside no_grad: nothing is recorded, and versions advance. What the formulas are stands in the core
(kernels/updates.cpp); the tests compare them with PyTorch's.
"""

from __future__ import annotations

from tessella import _core, errors, optimizer_errors
from tessella._core import Function, Tensor
from tessella.arguments import LISTS, to_float
from tessella.declarations import REQUIRED, describe
from tessella.dtypes import float64
from tessella.hints import Any
from tessella.inplace import check_memory
from tessella.records import Op
from tessella.sizes import counted

UPDATES: dict[str, Op] = {}

_OPCODES: dict[str, int] = {row[0]: i for i, row in enumerate(_core.update_names())}


class Update(Op):
    """One step of an optimizer for a list of parameters."""

    fast = "update"
    table = UPDATES
    gives = "other"

    def __init__(
        self,
        name: str,
        *,
        states: tuple[str, ...],
        counters: tuple[str, ...] = ("step",),
        numbers: tuple[str, ...] = ("lr",),
        constants: tuple[str, ...],
        doc: str,
    ) -> None:
        self.states, self.counters, self.numbers, self.constants = (
            states, counters, numbers, constants)  # fmt: skip
        self.lists = ("params", "grads", *states, *counters)
        self.operands = (*self.lists, *numbers)
        self.params = dict.fromkeys(constants, REQUIRED)
        super().__init__(f"{name}_update", opcode=_OPCODES[name], doc=doc, is_function=False,
                         is_method=False, no_gradient="it writes in place",
                         tested="tests/test_updates.py")  # fmt: skip

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check everything before anything is written."""
        lists = [self._check_list(k, inputs) for k in range(len(self.lists))]
        for i, g in enumerate(lists[1]):
            if g is not None:
                self._check_parameter(i, lists)
        numbers = inputs[len(lists) :]
        for name, number in zip(self.numbers, numbers, strict=True):
            check_count(name, number)
        return [*lists, *numbers], {
            name: value if isinstance(value, bool) else to_float(name, value)
            for name, value in params.items()
        }

    def _check_list(self, k: int, inputs: list[Any]) -> Any:
        name, found = self.lists[k], inputs[k]
        if found is None and k > 1:
            return None
        if not isinstance(found, LISTS):
            raise optimizer_errors.not_list(name, found)
        if len(found) != len(inputs[0]):
            raise optimizer_errors.list_length(name, len(found), len(inputs[0]))
        return list(found)

    def _check_parameter(self, i: int, lists: list[Any]) -> None:
        """Check a parameter with its gradient, states and counters."""
        shaped = 2 + len(self.states)
        seen: list[tuple[str, Tensor]] = []
        for k, each in enumerate(lists):
            name = f"{self.lists[k]}[{i}]"
            if each is None:
                continue
            x = each[i]
            if not isinstance(x, Tensor):
                raise errors.not_tensor(name, x, "a tensor")
            if k < shaped:
                check_like(name, x, f"params[{i}]", lists[0][i])
                check_memory(lists[0][i], x)
            else:
                check_count(name, x)
            if k != 1:
                check_place(name, x)
            for other, y in seen:
                if x.size and not x.is_virtual and _core.do_overlap(x, y):
                    raise optimizer_errors.shared_memory(other, name)
            seen.append((name, x))

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Any:
        """Write, unless the operands are virtual."""
        tensors = [x for each in inputs[: len(self.lists)] for x in each or () if x is not None]
        if any(x.is_virtual for x in tensors):
            return None
        had = odd_ones(inputs[0])
        done = _core.update(self.function, (*inputs, *params.values()))
        assert done, self.name
        self.inspect(inputs[0], inputs[1], had)
        return None

    def inspect(self, params: list[Tensor], grads: list[Any], had: list[bool]) -> list[bool]:
        """While numbers are watched: refuse those that this update made; tell which are odd."""
        for i, (p, g) in enumerate(zip(params, grads, strict=True)):
            if g is not None and not had[i] and _core.is_anomalous(p):
                _core.judge_anomaly(self, (p, g), p)
        return had

    def describe_call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
        """List the arguments of a failed call: of lists, how many they hold."""
        shown = []
        for name, value in [*zip(self.parameters, args, strict=False), *keywords.items()]:
            is_list = isinstance(value, LISTS)
            shown.append(f"{name}  {counted(len(value), 'tensor') if is_list else describe(value)}")
        return shown


def odd_ones(params: list[Tensor]) -> list[bool]:
    """Tell which parameters hold NaN or infinities; none does while nobody watches."""
    return [_core.is_anomalous(p) for p in params]


def update_watched(calls: list[tuple[Function, tuple[Any, ...]]], finite: dict[int, int]) -> bool:
    """Do a whole step while numbers are watched: by the core, with a look before and after.

    `finite` keeps the version of each parameter that was last seen to be so: where nobody else has
    written to it, the look before the next step is saved.
    """
    had = [
        [finite.get(id(p)) != _core.version_of(p) and _core.is_anomalous(p) for p in args[0]]
        for _, args in calls
    ]
    finite.clear()
    _core.set_watches_values(False)  # the core would leave each call to its record
    try:
        done = _core.update_all(calls)
    finally:
        _core.set_watches_values(True)
    if done:
        for (function, args), before in zip(calls, had, strict=True):
            record: Any = function.record
            odd = record.inspect(args[0], args[1], before)
            pairs = zip(args[0], odd, strict=True)
            finite |= {id(p): _core.version_of(p) for p, is_odd in pairs if not is_odd}
    return done


def check_like(name: str, x: Tensor, parameter: str, p: Tensor) -> None:
    """Require shape and dtype of the parameter, which has gradients."""
    if not (p.dtype.is_floating or p.dtype.is_complex):
        raise optimizer_errors.integer_parameter(parameter, p.dtype)
    if x.shape != p.shape or x.dtype is not p.dtype:
        raise optimizer_errors.unlike(name, describe(x), parameter, describe(p))


def check_count(name: str, x: Any) -> None:
    """Require a 0-d tensor of float64."""
    if not isinstance(x, Tensor):
        raise errors.not_tensor(name, x, "a tensor")
    if x.ndim or x.dtype is not float64:
        raise optimizer_errors.not_count(name, describe(x))


def check_place(name: str, x: Tensor) -> None:
    """Refuse memory that may not be written."""
    if x.is_readonly:
        raise optimizer_errors.readonly(name)
    if _core.layout_of(x).overlaps_itself:
        raise errors.overlapping_target(name)


_BETAS = ("lr", "beta1", "beta2")

sgd = Update(
    "sgd", states=("momentum_buffer",), numbers=("lr", "momentum"),
    constants=("dampening", "weight_decay", "nesterov", "maximize"),
    doc="One step of gradient descent, with momentum if there are buffers.")  # fmt: skip
adam = Update(
    "adam", states=("exp_avg", "exp_avg_sq", "max_exp_avg_sq"), numbers=_BETAS,
    constants=("eps", "weight_decay", "maximize", "decoupled_weight_decay"),
    doc="One step of Adam, AdamW and AMSGrad.")  # fmt: skip
rmsprop = Update(
    "rmsprop", states=("square_avg", "momentum_buffer", "grad_avg"), numbers=("lr", "momentum"),
    constants=("alpha", "eps", "weight_decay", "maximize"),
    doc="One step of RMSprop, with momentum and centred if there are such states.",
)  # fmt: skip
adagrad = Update(
    "adagrad", states=("sum",), constants=("lr_decay", "weight_decay", "eps", "maximize"),
    doc="One step of Adagrad.")  # fmt: skip
adadelta = Update(
    "adadelta", states=("square_avg", "acc_delta"),
    constants=("rho", "eps", "weight_decay", "maximize"),
    doc="One step of Adadelta.")  # fmt: skip
adamax = Update(
    "adamax", states=("exp_avg", "exp_inf"), numbers=_BETAS,
    constants=("eps", "weight_decay", "maximize"),
    doc="One step of Adamax.")  # fmt: skip
nadam = Update(
    "nadam", states=("exp_avg", "exp_avg_sq"), counters=("step", "mu_product"), numbers=_BETAS,
    constants=("eps", "weight_decay", "momentum_decay", "decoupled_weight_decay", "maximize"),
    doc="One step of NAdam.")  # fmt: skip
radam = Update(
    "radam", states=("exp_avg", "exp_avg_sq"), numbers=_BETAS,
    constants=("eps", "weight_decay", "decoupled_weight_decay", "maximize"),
    doc="One step of RAdam.")  # fmt: skip
