"""Public functions made of operations: the decorator that declares them, and the table of them.

A composite is a plain function without a kernel or a gradient of its own. Its annotations say what
each argument must be: the decorator checks them (see `check_for`), accepts PyTorch's keywords,
names the composite and its arguments in an error of any part, and enters it into COMPOSITES, from
which the public name, the method, the stub, the reference entry and the tests come.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Caller, Tensor
from tessella.arguments import (
    LISTS,
    NUMBERS,
    to_bool,
    to_float,
    to_int,
    to_ints,
    to_number,
    to_offset,
    to_word,
)
from tessella.declarations import CALL_WIDE, REQUIRED, Declared
from tessella.devices import to_device_name
from tessella.dtypes import DType, as_dtype
from tessella.hints import TYPE_CHECKING, Any, Callable, ParamSpec, Sequence, TypeAlias, TypeVar

if TYPE_CHECKING:
    from types import FunctionType

# The vocabulary of annotations: what an argument may be. Where the check gives the body something
# else than callers pass, it is Any here; the stubs say what callers may pass.
Device: TypeAlias = Any  # a name; the body gets that of a device that exists
DTypeLike: TypeAlias = Any  # a dtype, a Python type or a name; the body gets a DType
Offset: TypeAlias = int  # of any size
Shape: TypeAlias = Any  # one integer or several; the body gets a tuple
Number: TypeAlias = bool | int | float | complex
Element: TypeAlias = bool | int | float | complex | tuple[Any, ...]  # a tuple: a user's dtype
Operand: TypeAlias = Tensor | bool | int | float | complex
Ints: TypeAlias = int | Sequence[int]
Axes: TypeAlias = int | Sequence[int] | None

Check = Callable[[str, Any], Any]
P = ParamSpec("P")
R = TypeVar("R")

COMPOSITES: dict[str, Composite] = {}

_OPERANDS = (Tensor, *NUMBERS)
_VARARGS = 0x04  # of a code object's flags: it has *xs


# --- what an argument must be --------------------------------------------------------------------


def check_tensor(name: str, value: Any) -> Any:
    """Require a tensor."""
    if not isinstance(value, Tensor):
        raise errors.not_tensor(name, value, "a tensor")
    return value


def check_operand(name: str, value: Any) -> Any:
    """Require a tensor or a number."""
    value = to_number(value)
    if not isinstance(value, _OPERANDS):
        raise errors.not_tensor(name, value)
    return value


def check_number(name: str, value: Any) -> Any:
    """Require a Python number; a tensor of one element stands for its number."""
    value = value.item() if isinstance(value, Tensor) else to_number(value)
    if not isinstance(value, NUMBERS):
        raise errors.wrong_type(name, value, "a number")
    return value


def check_element(name: str, value: Any) -> Any:
    """Require a Python number, or a tuple: an item of a user's dtype."""
    value = value.item() if isinstance(value, Tensor) else value
    return value if isinstance(value, tuple) else check_number(name, value)


def check_dtype(name: str, value: Any) -> DType:
    """Require what names a dtype."""
    return value if type(value) is DType else as_dtype(value)


def check_tensors(name: str, value: Any) -> Any:
    """Require a list or tuple of tensors."""
    if not isinstance(value, LISTS):
        raise errors.not_tensors(name, value)
    for i, x in enumerate(value):
        if not isinstance(x, Tensor):
            raise errors.not_tensor(f"{name}[{i}]", x, "a tensor")
    return value


# Modules that have arguments of other types enter them here.
CHECKS: dict[str, Check | None] = {
    "Any": None,
    "DTypeLike": check_dtype,
    "Element": check_element,
    "Device": lambda name, value: to_device_name(value),
    "Ints": to_ints,
    "Number": check_number,
    "Offset": to_offset,
    "Operand": check_operand,
    "Sequence[Tensor]": check_tensors,
    "Shape": to_ints,
    "Tensor": check_tensor,
    "bool": to_bool,
    "float": to_float,
    "int": to_int,
}


_OF_TENSORS = (check_tensor, check_operand, check_tensors)


def check_for(annotation: str) -> Check | None:
    """Give the check that an annotation asks for: `| None` lets None pass, Any everything."""
    inner = annotation.removesuffix(" | None")
    if inner.startswith("Literal["):
        words = inner.split("'")[1::2]  # annotations are kept as text with single quotes
        check: Check | None = lambda name, value: to_word(name, value, words)  # noqa: E731
    else:
        check = CHECKS[inner]  # a KeyError here is an annotation outside the vocabulary
    if check is None or inner == annotation:
        return check
    return lambda name, value: None if value is None else check(name, value)


# --- the declaration -----------------------------------------------------------------------------


class Composite(Declared):
    """What a composite says about itself."""

    def __init__(
        self, body: FunctionType, *, variadic: str = "", has_twin: bool = False,
        writes: Callable[..., None] | None = None, gives: str = "tensor", **declared: Any,
    ) -> None:  # fmt: skip
        text = (body.__doc__ or "").replace("\n    ", "\n")
        doc, _, example = text.partition(">>>")
        super().__init__(body.__name__, doc=doc.strip(), **declared)
        self.example = f">>>{example}".strip() if example else ""
        self.body = body
        self.variadic = variadic
        self.has_twin = has_twin or writes is not None
        self.writes = writes  # how the twin writes into x without another tensor of its size
        self.gives = gives if body.__annotations__["return"] == "Tensor" else "other"
        self._read_parameters()
        self.operands = tuple(name for name, check in self.checks.items() if check in _OF_TENSORS)

    def _read_parameters(self) -> None:
        """Read names, defaults and annotations (inspect would take longer to import than we do)."""
        code = self.body.__code__
        annotations = self.body.__annotations__
        annotations = {k: "Ints | None" if v == "Axes" else v for k, v in annotations.items()}
        count, given = code.co_argcount, self.body.__defaults__ or ()
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        defaults = dict(zip(names[count - len(given) : count], given, strict=True))
        defaults |= self.body.__kwdefaults__ or {}
        has_rest = code.co_flags & _VARARGS
        self.rest = code.co_varnames[len(names)] if has_rest else ""
        self.parameters = {name: defaults.get(name, REQUIRED) for name in names}
        self.positional = count
        self.ordered = names[:count]
        kinds = (*names, self.rest) if has_rest else names
        self.checks = {name: check_for(annotations[name]) for name in kinds}
        # What the core is told: where separate integers may stand, and every parameter.
        self.place = names.index(self.variadic) if self.variadic else -1
        unnamed = names[: code.co_posonlyargcount]
        self.annotated = tuple([("" if name in unnamed else name, annotations[name],
                                 default is REQUIRED)
                                for name, default in self.parameters.items()])  # fmt: skip

    def call_sorted(
        self,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        body: Callable[..., Any] | None = None,
    ) -> Any:
        """Name the arguments, check them and call the body, or another function like it."""
        rest: tuple[Any, ...] = ()
        if self.rest:
            args, rest = args[: self.positional], args[self.positional :]
            check = self.checks[self.rest]
            if len(rest) == 1 and isinstance(rest[0], LISTS) and check is check_tensor:
                rest = tuple(rest[0])  # meshgrid([x, y])
            if check:
                rest = tuple([check(f"{self.rest}[{i}]", x) for i, x in enumerate(rest)])
        found = self.match(args, keywords)
        for name, value in found.items():
            check = self.checks[name]
            if check:
                found[name] = check(name, value)
        head = []
        for name in self.ordered:  # up to the first that is left out
            if name not in found:
                break
            head.append(found.pop(name))
        return (body or self.body)(*head, *rest, **found)


def composite(**declared: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a composite: what `Declared` takes, `variadic`, `has_twin`, `writes` and `gives`."""

    def declare(body: Any) -> Any:
        record = Composite(body, **declared)

        def explain(error: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
            if not isinstance(error, errors.TessellaError):
                return None
            if record.instead and isinstance(error, errors.CaptureError):
                error.hint = record.instead
            return error.relocate(record.title, record.describe_call(args, keywords))

        def call(*args: Any, **keywords: Any) -> Any:
            if keywords and (wide := record.wide_keyword(keywords)):
                return CALL_WIDE[wide](record, keywords.pop(wide), args, keywords)
            try:
                return record.call_sorted(args, keywords)
            except errors.TessellaError as error:
                raise explain(error, args, keywords) from None

        COMPOSITES[record.name] = record
        call.__name__, call.__qualname__ = body.__name__, body.__qualname__
        call.__doc__, call.__module__ = body.__doc__, body.__module__
        call.__wrapped__ = body  # type: ignore[attr-defined]  # as functools does
        call.record = record  # type: ignore[attr-defined]  # tools read it
        # The core makes calls that need no sorting; *xs do, and what may be refused by its form.
        needs_sorting = record.rest or record.refuses
        record.function = call if needs_sorting else Caller(
            call, body, explain, record.positional, record.place, record.annotated)  # fmt: skip
        return record.function

    return declare
