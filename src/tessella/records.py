"""The record of an operation, the table of all of them, and `apply`, the one door.

A record says what an operation means; its kind (a subclass of `Op` in kinds.py) carries the rules
that many operations share. The names that a vjp asks for are what is saved for it: inputs by their
names, the output as `out`. `g` is the cotangent; `x_shape` and `x_dtype` of an input x, and the
parameters by their names, cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.dtypes import DType

Rule = Callable[..., Any]

OPS: dict[str, Op] = {}

# PyTorch's spellings of our keywords.
KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "input": "x", "other": "y", "dims": "axis"}

_REQUIRED: Any = object()


class Case:
    """A call that the tests make: shapes of the operands, parameters, and the error it must raise.

    A shape is a tuple; a list of them stands for an operand that is a list of tensors; anything
    else is passed as it is. `layouts` is "contiguous" for a call that refuses others.
    """

    def __init__(
        self,
        *shapes: Any,
        match: str = "",
        dtype: str = "float32",
        layouts: str = "any",
        **params: Any,
    ) -> None:
        self.shapes = shapes
        self.layouts = layouts
        self.match = match
        self.dtype = dtype
        self.params = params

    def __repr__(self) -> str:
        params = (f"{name}={value!r}" for name, value in self.params.items())
        return f"case({', '.join([*map(repr, self.shapes), *params])})"


case = Case
_SAVES_OUTPUT = 1 << 63


class Op:
    """One operation. Subclasses are the kinds."""

    fast = "none"
    function: Function  # what users call
    operands: tuple[str, ...] = ("x",)
    defaults: dict[str, Any] = {}  # of operands that may be left out
    params: dict[str, Any] = {}
    variadic: str = ""

    def __init__(
        self,
        name: str,
        *,
        doc: str,
        vjp: Rule | tuple[Rule | None, ...] | None = None,
        ref: str | Callable[..., Any] = "",
        aliases: Sequence[str] = (),
        domain: tuple[float, float] = (-3.0, 3.0),
        away: float = 0.0,
        step: bool = False,
        count: bool = False,
        ulps: int = 4,
        samples: Sequence[Case] = (),
        errors: Sequence[Case] = (),
        example: str = "",
        opcode: int = 0,
        is_method: bool = True,
        is_function: bool = True,
    ) -> None:
        self.name = name
        self.doc = doc
        self.vjp: tuple[Rule | None, ...] = vjp if isinstance(vjp, tuple) else (vjp,)
        self.ref = ref
        self.aliases = tuple(aliases)
        # How the tests draw operands: from the domain, at least `away` from 0, off the integers and
        # halves where it has steps there, and as small counts for the second operand.
        self.domain = domain
        self.away = away
        self.step = step
        self.count = count
        # How many units in the last place a float result may be off; 0: correctly rounded.
        self.ulps = ulps
        self.samples = tuple(samples)
        self.errors = tuple(errors)
        self.example = example
        self.is_method = is_method
        self.is_function = is_function
        self.is_differentiable = any(self.vjp)
        self.saves = self._read_saves()
        self.function = Function(
            self, name, self._full_doc(), self.signature(), self.fast, opcode,
            len(self.operands), self.saves, self.is_differentiable,
        )  # fmt: skip
        OPS[name] = self

    # --- what the record says about itself ---

    def signature(self) -> str:
        """Show how it is called."""
        names = [f"{k}={self.defaults[k]!r}" if k in self.defaults else k for k in self.operands]
        names += [k if v is _REQUIRED else f"{k}={v!r}" for k, v in self.params.items()]
        return f"({', '.join(names)})"

    def _full_doc(self) -> str:
        text = f"{self.name}{self.signature()}\n\n{self.doc}"
        return f"{text}\n\n{self.example}" if self.example else text

    def _read_saves(self) -> int:
        """Turn the names that the rules ask for into the mask of what is saved."""
        known = (f"{name}_{what}" for name in self.operands for what in ("shape", "dtype"))
        free = {"g", "x_shapes", *self.params, *known}
        saves = 0
        for rule in self.vjp:
            if rule is None:
                continue
            code = rule.__code__
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                if name == "out":
                    saves |= _SAVES_OUTPUT
                elif name in self.operands:
                    saves |= 1 << self.operands.index(name)
                elif name not in free:
                    raise TypeError(f"{self.name}: its vjp asks for {name!r}, which is unknown")
        return saves

    # --- the steps of a call ---

    def bind(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Sort the arguments of a call into operands and parameters."""
        names = (*self.operands, *self.params)
        if self.variadic and len(args) > len(self.operands):
            args = self._gather_variadic(args)
        if len(args) > len(names):
            raise errors.too_many_arguments(len(args), len(names), self.name + self.signature())
        bound = dict(zip(names, args, strict=False))
        for keyword, value in keywords.items():
            name = keyword if keyword in names else KEYWORDS.get(keyword, keyword)
            if name not in names:
                raise errors.unknown_keyword(keyword, self.name + self.signature())
            if name in bound:
                raise errors.repeated_argument(name, self.name + self.signature())
            bound[name] = value
        params = {}
        for name, default in self.params.items():
            params[name] = bound.get(name, default)
            if params[name] is _REQUIRED:
                raise errors.missing_argument(name, self.name + self.signature())
        for name in self.operands:
            if name not in bound and name in self.defaults:
                bound[name] = self.defaults[name]
            elif name not in bound:
                raise errors.missing_argument(name, self.name + self.signature())
        return [bound[name] for name in self.operands], params

    def _gather_variadic(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Let sizes and axes be given as separate arguments: x.reshape(2, 3)."""
        head, rest = args[: len(self.operands)], args[len(self.operands) :]
        if len(rest) > 1 and all(hasattr(value, "__index__") for value in rest):
            return (*head, rest)
        return args

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check the operands and bring operands and parameters into their normal form."""
        for name, value in zip(self.operands, inputs, strict=True):
            if not isinstance(value, Tensor):
                raise errors.not_tensor(name, value, "a tensor")
        return inputs, params

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


def apply(op: Op, /, *args: Any, **keywords: Any) -> Tensor:
    """Do one operation by its record: the slow path, which explains."""
    try:
        inputs, params = op.bind(args, keywords)
        inputs, params = op.prepare(inputs, params)
        out = op.make(inputs, params)
    except errors.TessellaError as error:
        raise error.locate(op.name, describe_operands(op, args, keywords)) from None
    has_gradients = out.dtype.is_floating or out.dtype.is_complex
    if op.is_differentiable and has_gradients and _core.needs_node(*inputs):
        _core.record(out, op.function, tuple(inputs), params or None)
    return out


def describe(value: Any) -> str:
    """Show an operand in an error: dtype and shape of a tensor, or the value itself."""
    if isinstance(value, Tensor):
        return f"{value.dtype} {value.shape}"
    return errors.brief(value)


def describe_operands(op: Op, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
    """List the arguments of a failed call, one line each."""
    names = [*op.operands, *op.params]
    shown = [*zip(names, args, strict=False), *keywords.items()]
    width = max((len(name) for name, _ in shown), default=0)
    return [f"{name:<{width}}  {describe(value)}" for name, value in shown]


_core.set_error_maker(errors.from_core)
_core.set_apply(apply)
