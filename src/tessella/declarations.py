"""What every public function says about itself, whether it is a record or a composite.

Its name and other names, its doc, what the tests compare it with, the calls they make, and how the
arguments of a call are sorted. What it computes stands in records.py and composites.py.
"""

from __future__ import annotations

import sys

from tessella import _core, errors
from tessella._core import Tensor
from tessella.hints import Any, Callable, Sequence

# PyTorch's spellings of our keywords, whatever the function; `keywords=` of a declaration adds to
# them those of one function.
KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "input": "x", "other": "y", "dims": "axis",
            "shifts": "shift", "size": "shape", "diagonal": "k", "tensors": "xs"}  # fmt: skip

REQUIRED: Any = object()  # the default of what must be given

# Keywords of the call itself, whatever the function: what makes a call that has one gets the
# declaration, the keyword's value, and the other arguments and keywords.
CALL_WIDE: dict[str, Callable[..., Any]] = {}


class _Kept:
    """A tensor as its bytes."""

    def __init__(self, x: Tensor) -> None:
        self.data = memoryview(x).tobytes()
        self.dtype, self.shape = x.dtype.id, x.shape

    def tensor(self) -> Tensor:
        out = _core.empty(self.shape, self.dtype)
        if self.data:
            memoryview(out).cast("B")[:] = self.data
        return out


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change what containers of a call hold."""
    if isinstance(value, dict):
        return {name: _mapped(each, change) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(each, change) for each in value)
    return change(value)


def _put_away(value: Any) -> Any:
    return _mapped(value, lambda x: _Kept(x) if isinstance(x, Tensor) else x)


def _taken_out(value: Any) -> Any:
    return _mapped(value, lambda x: x.tensor() if isinstance(x, _Kept) else x)


class Case:
    """A call that the tests make: shapes of the operands, parameters, and the error it must raise.

    A shape is a tuple; a list of them stands for an operand that is a list of tensors; anything
    else is passed as it is. `layouts` is "contiguous" for a call that refuses others. Tensors are
    kept as bytes: what only tests use takes no memory that programs would find in their account.
    """

    def __init__(
        self,
        *shapes: Any,
        match: str = "",
        dtype: str = "float32",
        layouts: str = "any",
        **params: Any,
    ) -> None:
        self._shapes = _put_away(shapes)
        self._params = _put_away(params)
        self.layouts = layouts
        self.match = match
        self.dtype = dtype

    @property
    def shapes(self) -> Any:
        """What stands for the operands."""
        return _taken_out(self._shapes)

    @property
    def params(self) -> Any:
        """The parameters, by name."""
        return _taken_out(self._params)

    def __repr__(self) -> str:
        params = (f"{name}={value!r}" for name, value in self.params.items())
        return f"case({', '.join([*map(repr, self.shapes), *params])})"


case = Case


class Refusal:
    """A call that PyTorch understands otherwise: how it is written there, how here, and why.

    `when` tells such a call by its arguments as they were passed, by position and by keyword.
    The spellings are expressions that the tests run; `here` may hold several, or none where there
    is nothing to write. `of_call` gives the refusal with what the call has, such as its axis.
    """

    def __init__(
        self,
        torch: str,
        here: str | tuple[str, ...],
        why: str,
        when: Callable[[tuple[Any, ...], dict[str, Any]], bool] = lambda args, keywords: True,
        of_call: Callable[[tuple[Any, ...], dict[str, Any]], Refusal] | None = None,
    ) -> None:
        self.torch = torch
        self.here = (here,) if isinstance(here, str) else here
        self.why = why
        self.when = when
        self.of_call = of_call

    def cure(self) -> str:
        """Say what to do in place of it."""
        return f"write {', or '.join(self.here)}" if self.here else "leave it out"

    def error(
        self, args: tuple[Any, ...] = (), keywords: dict[str, Any] | None = None
    ) -> errors.ArgumentError:
        """Make the error that shows both spellings, of the call as far as it is known."""
        row = self.of_call(args, keywords or {}) if self.of_call else self
        return errors.means_otherwise(row.torch, row.why, row.cure())


refusal = Refusal


def has_torch_axis(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Tell whether an axis is given as PyTorch's code does: as `dim`, or by position."""
    return len(args) > 1 or "dim" in keywords


def torch_axis(args: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Show the axis that is given so."""
    return errors.brief(keywords["dim"] if "dim" in keywords else args[1])


def round_to(decimals: Any) -> Refusal:
    """Tell how to keep digits of a fraction."""
    here = "(x * scale).round() / scale"
    if type(decimals) is int and -99 < decimals < 99:
        scale = 10 ** abs(decimals)
        here = f"(x * {scale}).round() / {scale}" if decimals > 0 else "x.round()"
        here = f"(x / {scale}).round() * {scale}" if decimals < 0 else here
    return refusal(f"x.round(decimals={decimals!r})", here, "keeps digits of a fraction",
                   lambda args, keywords: "decimals" in keywords,
                   lambda args, keywords: round_to(keywords["decimals"]))  # fmt: skip


class Declared:
    """A public function: its names, its doc, and what its tests are made from."""

    function: Any  # what users call
    operands: tuple[str, ...] = ()  # the names of the tensors among the parameters
    parameters: dict[str, Any] = {}  # operands and parameters with their defaults, in order
    positional = 64  # how many of them may be given by position
    rest = ""  # the name of *xs, which stand after those
    variadic = ""  # the one that may be given as separate integers: x.reshape(2, 3)
    has_twin = False  # whether there is x.name_(…), which writes the result into x
    rounds_inside = False  # whether parts are rounded to the dtype before the last step
    no_capture = ""
    gives = "tensor"  # a new one; "view": its memory may be an operand's; "other": none, or several

    def __init__(
        self,
        name: str,
        *,
        doc: str,
        ref: str | Callable[..., Any] = "",
        aliases: Sequence[str] = (),
        domain: tuple[float, float] = (-3.0, 3.0),
        away: float = 0.0,
        step: bool = False,
        count: bool = False,
        ulps: int = 4,
        samples: Sequence[Case] = (),
        errors: Sequence[Case] = (),
        refuses: Sequence[Refusal] = (),
        keywords: dict[str, str] | None = None,
        is_method: bool = True,
        is_function: bool = True,
        home: str = "",
        matrices: str = "",
        tested: str = "",
        distinct: bool = False,
        takes_inplace: bool = False,
        no_gradient: str = "",
        no_capture: str = "",
        instead: str = "",
    ) -> None:
        self.name = f"{home}.{name}" if home else name
        self.home = home  # the subpackage that it is a member of
        self.title = name if home == "nn.functional" else self.name  # in errors
        self.module = declaring_module()
        self.doc = doc
        self.ref = ref
        self.aliases = tuple(aliases)
        # How the tests draw operands: from the domain, at least `away` from 0, off the integers and
        # halves where it has steps there, and as small counts for the second operand.
        self.domain = domain
        self.away = away
        self.step = step
        self.count = count
        # What the first operand's last two axes are: "regular", "hermitian" or "definite" matrices.
        self.matrices = matrices
        # Whether it has no slope where elements are equal, such as a deviation of 0.
        self.distinct = distinct
        # Whether `inplace=True` may be said, as of PyTorch's activations: the result is in x then.
        self.takes_inplace = takes_inplace
        # Why there is no gradient, where the result is continuous.
        self.no_gradient = no_gradient
        # Why some of its calls cannot be part of a compiled function.
        self.no_capture = no_capture or self.no_capture
        self.instead = instead  # what to write there, where the hint of its parts is not enough
        # The test that stands for a reference, where there is none to compare with.
        self.tested = tested
        # How many units in the last place a float result may be off; 0: correctly rounded.
        self.ulps = ulps
        self.samples = tuple(samples)
        self.errors = tuple(errors)
        self.refuses = tuple(refuses)
        self.keywords = {**KEYWORDS, **(keywords or {})}
        self.is_method = is_method and not home
        self.is_function = is_function

    @property
    def takes_out(self) -> bool:
        """Tell whether `out=` may name the tensor that the result is written into."""
        return self.gives == "tensor" and "out" not in self.parameters

    def wide_keyword(self, keywords: dict[str, Any]) -> str:
        """Name a keyword of a call that is about the call itself; "": none is.

        `out` comes last: what others say holds while the result is made.
        """
        found = [name for name in keywords if name in CALL_WIDE and name not in self.parameters]
        others = [name for name in found if name != "out"]
        return next(iter(others or found), "")

    def signature(self) -> str:
        """Show how it is called."""
        shown = [k if v is REQUIRED else f"{k}={v!r}" for k, v in self.parameters.items()]
        if self.rest or self.positional < len(shown):
            shown.insert(self.positional, f"*{self.rest}")
        if self.takes_inplace:
            shown += ["*", "inplace=False"]
        return f"({', '.join(shown)})"

    def explained(self) -> str:
        """Show the signature and what it does: who counts arguments wrong may mean another."""
        return f"{self.name}{self.signature()}: {self.doc.split(chr(10))[0]}"

    def match(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        """Name the arguments of a call; what is left out is not in the result."""
        for each in self.refuses:
            if each.when(args, keywords):
                raise each.error(args, keywords)
        names = tuple(self.parameters)
        if self.variadic:
            args = self.gather(args, names.index(self.variadic))
        most = min(len(names), self.positional)
        if len(args) > most:
            raise errors.too_many_arguments(len(args), most, self.explained())
        found = dict(zip(names, args, strict=False))
        for keyword, value in keywords.items():
            name = keyword if keyword in self.parameters else self.keywords.get(keyword, keyword)
            if name not in self.parameters:
                raise errors.unknown_keyword(keyword, self.name + self.signature())
            if name in found:
                raise errors.repeated_argument(name, self.name + self.signature())
            found[name] = value
        if len(found) < len(names):
            for name, default in self.parameters.items():
                if default is REQUIRED and name not in found:
                    raise errors.missing_argument(name, self.explained())
        return found

    def gather(self, args: tuple[Any, ...], start: int) -> tuple[Any, ...]:
        """Let sizes and axes be given as separate arguments: x.reshape(2, 3)."""
        rest = args[start:]
        if len(rest) < 2:
            return args
        for value in rest:
            if type(value) is not int and not hasattr(value, "__index__"):
                return args
        return (*args[:start], rest)

    def describe_call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
        """List the arguments of a failed call, one line each."""
        names = list(self.parameters)[: self.positional]
        if self.variadic in names:
            args = self.gather(args, names.index(self.variadic))
        names += [f"{self.rest}[{i}]" for i in range(len(args) - len(names))] if self.rest else []
        shown = [*zip(names, args, strict=False), *keywords.items()]
        width = max((len(name) for name, _ in shown), default=0)
        return [f"{name:<{width}}  {describe(value)}" for name, value in shown]


def call_in(each: Declared, allocator: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Make a call whose `allocator=` says where its memory comes from; None: from the scope's."""
    if allocator is None:
        return each.function(*args, **keywords)
    from tessella.memory import use

    try:
        if each.gives == "view":
            raise errors.no_allocator()
        scope = use(allocator)
    except errors.TessellaError as error:
        shown = each.describe_call(args, {**keywords, "allocator": allocator})
        raise error.relocate(each.title, shown) from None
    with scope:
        return each.function(*args, **keywords)


CALL_WIDE["allocator"] = call_in


def declaring_module() -> str:
    """Name the module whose top level is being run: declarations stand there."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        assert frame.f_back is not None
        frame = frame.f_back
    name: str = frame.f_globals["__name__"]
    return name


_NAMERS: list[Callable[[Tensor], str]] = []


def set_namer(namer: Callable[[Tensor], str]) -> None:
    """Say who tells what a network calls a tensor: of nn, which stands below."""
    _NAMERS[:] = [namer]


def describe(value: Any) -> str:
    """Show an operand in an error: a tensor's dtype, shape and name, or the value itself."""
    if isinstance(value, list | tuple) and any(isinstance(x, Tensor) for x in value):
        first = [describe(x) if isinstance(x, Tensor) else errors.brief(x) for x in value[:4]]
        return f"{len(value)}: {', '.join(first)}{', …' if len(value) > 4 else ''}"
    if not isinstance(value, Tensor):
        return errors.brief(value)
    name = _NAMERS[0](value) if _NAMERS else ""
    shown = f"{value.dtype} {value.shape}"
    return f"{shown}  {name}" if name else shown
