"""The record of an operation, the table of all of them, and `apply`, the one door.

A record says what an operation means; its kind (a subclass of `Op` in kinds.py) carries the rules
that many operations share. The names that a vjp asks for are what is saved for it: inputs by their
names, the output as `out`. `g` is the cotangent; `x_shape` and `x_dtype` of an input x, and the
parameters by their names, cost nothing.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.declarations import CALL_WIDE, REQUIRED, Declared
from tessella.dtypes import DType, need_numbers
from tessella.hints import Any, Callable, Sequence

Rule = Callable[..., Any]

OPS: dict[str, Op] = {}

_SAVES_OUTPUT = 1 << 63

# What a rule may ask for, as the core counts it: the number of the operand is added.
_SOURCES = {
    name: i << 8
    for i, name in enumerate(("gradient", "output", "input", "shape", "dtype", "shapes"))
}


class Op(Declared):
    """One operation. Subclasses are the kinds."""

    fast = "none"
    table = OPS  # where it is listed
    function: Function
    operands: tuple[str, ...] = ("x",)
    defaults: dict[str, Any] = {}  # of operands that may be left out
    params: dict[str, Any] = {}
    variant: Rule | None = None  # what a call with other than the default parameters is made of
    items = "refused"  # operands of users' dtypes; "moved": as any other; "varied": by the variant

    def __init__(
        self,
        name: str,
        *,
        vjp: Rule | tuple[Rule | None, ...] | None = None,
        example: str = "",
        opcode: int = 0,
        **declared: Any,
    ) -> None:
        super().__init__(name, **declared)
        self.parameters = {k: self.defaults.get(k, REQUIRED) for k in self.operands} | self.params
        self.vjp: tuple[Rule | None, ...] = vjp if isinstance(vjp, tuple) else (vjp,)
        self.example = example
        self.is_differentiable = any(self.vjp)
        self.saves, rules = self._read_rules()
        self.function = Function(
            self, self.name, self._full_doc(), self.signature(), self.fast, opcode,
            len(self.operands), self.is_differentiable, bool(self.refuses), rules,
        )  # fmt: skip
        self.table[self.name] = self

    # --- what the record says about itself ---

    def _full_doc(self) -> str:
        text = f"{self.name}{self.signature()}\n\n{self.doc}"
        end = self.example
        if not end and (self.is_method or self.is_function):
            page = (self.home or self.module).rpartition(".")[2]
            end = f"Examples: docs/operations/{page}.md"
        return f"{text}\n\n{end}" if end else text

    def _read_rules(self) -> tuple[int, tuple[Any, ...]]:
        """Turn the names that the rules ask for into the mask of what is saved, and into codes."""
        known = {"g": _SOURCES["gradient"], "out": _SOURCES["output"]}
        known["x_shapes"] = _SOURCES["shapes"]
        for i, name in enumerate(self.operands):
            known[name] = _SOURCES["input"] + i
            known |= {f"{name}_{what}": _SOURCES[what] + i for what in ("shape", "dtype")}
        saves = 0
        rules: list[Any] = []
        for rule in self.vjp:
            if rule is None:
                rules.append(None)
                continue
            asked = rule.__code__.co_varnames[: rule.__code__.co_argcount]
            for name in asked:
                if name == "out":
                    saves |= _SAVES_OUTPUT
                elif name in self.operands:
                    saves |= 1 << self.operands.index(name)
                elif name not in known and name not in self.params:
                    raise TypeError(f"{self.name}: its vjp asks for {name!r}, which is unknown")
            rules.append((rule, tuple([known.get(name, name) for name in asked])))
        return saves, tuple(rules)

    # --- the steps of a call ---

    def bind(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Sort the arguments of a call into operands and parameters."""
        found = {**self.parameters, **self.match(args, keywords)}
        inputs = [found[name] for name in self.operands]
        if self.items == "refused":
            for x in inputs:
                if isinstance(x, Tensor):
                    need_numbers(x.dtype)
        return inputs, {name: found[name] for name in self.params}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check the operands and bring operands and parameters into their normal form."""
        for name, value in zip(self.operands, inputs, strict=True):
            if not isinstance(value, Tensor):
                raise errors.not_tensor(name, value, "a tensor")
        return inputs, params

    def is_varied(self, inputs: list[Any], params: dict[str, Any]) -> bool:
        """Tell whether a call is one of the record's variant: by parameters, or by its items."""
        if self.variant is None:
            return False
        has_items = self.items == "varied" and any(
            isinstance(x, Tensor) and x.dtype.is_user for x in inputs
        )
        # An array of another library is compared with nothing: its answer would be an array.
        has_arrays = any(errors.is_foreign_array(value) for value in params.values())
        return has_items or has_arrays or params != self.params

    def vary(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Do the variant: other operations, with their own gradients."""
        assert self.variant is not None
        out: Tensor = self.variant(*inputs, **params)
        return out

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Give shape and dtype of the result, from shapes and dtypes alone."""
        raise NotImplementedError(self.name)

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Compute the result into `out`."""
        raise NotImplementedError(self.name)

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Allocate the result and compute it; on virtual operands only its shape."""
        shape, dtype = self.infer(inputs, params)
        if any(isinstance(x, Tensor) and x.is_virtual for x in inputs):
            return _core.empty_virtual(shape, dtype.id)
        out = _core.empty(shape, dtype.id)
        self.run(out, inputs, params)
        return out

    def overwrite(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> bool:
        """Compute straight into `out`, which may be an operand; False: it takes a fresh tensor."""
        return False


def apply(op: Op, /, *args: Any, **keywords: Any) -> Tensor:
    """Do one operation by its record: the slow path, which explains."""
    if keywords and (wide := op.wide_keyword(keywords)):
        result: Tensor = CALL_WIDE[wide](op, keywords.pop(wide), args, keywords)
        return result
    try:
        inputs, params = op.bind(args, keywords)
        if op.is_varied(inputs, params):
            return op.vary(inputs, params)
        inputs, params = op.prepare(inputs, params)
        out = op.make(inputs, params)
    except errors.TessellaError as error:
        raise error.relocate(op.title, op.describe_call(args, keywords)) from None
    if op.gives == "other":
        return out
    if _core.watches_values() and op.gives != "view" and _core.is_anomalous(out):
        _core.judge_anomaly(op, (*inputs, *params.values()), out)
    has_gradients = out.dtype.is_floating or out.dtype.is_complex
    if op.gives == "view" and inputs and isinstance(inputs[0], Tensor):
        _core.link_view(out, inputs[0])
    if op.is_differentiable and has_gradients and _core.needs_node(*inputs):
        _core.record(out, op.function, tuple(inputs), params or None)
    return out


_core.set_error_maker(errors.from_core)
_core.set_package_folder(errors.PACKAGE)
_core.set_apply(apply)
