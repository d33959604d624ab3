"""Random straight-line functions of tensors, as Python text that Hypothesis draws line by line.

Each line is tried on eager tensors while it is drawn, and left out if that refuses it: so shapes
and dtypes fit, and a failing example is printed as a function that can be run. What a script needs
is described by specs, from which equal worlds are made as often as one likes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

import tessella as ts
import tessella.nn.functional as F
from tessella import _core

FLOATS = ("float32", "float64")
DTYPES = (*FLOATS * 3, "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")
SHAPES = [(3, 4), (3, 4), (4,), (4, 3), (4, 4), (1, 4), (3, 1), (2, 3, 4), (), (5,), (0, 4)]
LARGE = [(400, 300), (300, 300), (300, 300), (300,), (300, 1), (300, 400), ()]
LAYOUTS = ["plain", "plain", "plain", "reversed axes", "stepped", "backwards", "later rows"]


class Spec(NamedTuple):
    """A tensor that is given to a script: what it is like, not what it holds."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    layout: str = "plain"
    needs_grad: bool = False

    def make(self, i: int, is_odd: bool = False) -> ts.Tensor:
        """Give a tensor whose elements depend on i alone; odd ones are NaN, infinite or -0.0."""
        shape = list(self.shape)
        if self.layout == "reversed axes":
            shape.reverse()
        if shape and self.layout == "stepped":
            shape[-1] *= 2
        if shape and self.layout == "later rows":
            shape[0] += 1
        x = ts.randn(tuple(shape), generator=ts.Generator(i))
        if is_odd and x.size and self.dtype in FLOATS:
            x.reshape(-1)[:1] = (float("nan"), float("inf"), -0.0)[i % 3]
        if self.dtype not in FLOATS:
            x = x * 3  # so that integers are more than 0 and 1
        x = (x > 0) if self.dtype == "bool" else x.abs() if self.dtype == "uint8" else x
        x = x.astype(getattr(ts, self.dtype))
        if shape:
            x = {
                "reversed axes": lambda: x.permute(tuple(reversed(range(x.ndim)))),
                "stepped": lambda: x[..., ::2],
                "backwards": lambda: x[::-1],
                "later rows": lambda: x[1:],
            }.get(self.layout, lambda: x)()
        return x.detach().requires_grad_() if self.needs_grad else x


@dataclass(frozen=True, repr=False)
class Script:
    """A function as text, and what it is called with and closes over."""

    given: dict[str, Spec]
    captured: dict[str, Spec]
    text: str

    def build(self, captured: dict[str, ts.Tensor]) -> Callable[..., Any]:
        """Give the function, closed over tensors."""
        space: dict[str, Any] = {"ts": ts, "F": F}
        exec(compile(str(self), "script.py", "exec"), space)
        function: Callable[..., Any] = space["make"](**captured)
        return function

    def __repr__(self) -> str:
        specs = [f"# {k}: {spec}" for k, spec in (self.given | self.captured).items()]
        body = [f"        {line}" for line in self.text.splitlines()]
        return "\n".join([
            "", *specs, f"def make({', '.join(self.captured)}):",
            f"    def f({', '.join(self.given)}):", *body, "    return f", "",
        ])  # fmt: skip


UNARY = [
    "ts.exp({x})", "ts.tanh({x})", "ts.sin({x})", "{x}.abs()", "-{x}", "{x}.square()", "{x} * 2",
    "{x} + 0.5", "1 - {x}", "{x} / 3", "{x} ** 3", "F.relu({x})", "F.gelu({x})", "ts.sqrt({x})",
    "ts.sigmoid({x})", "{x}.clip(-1, 1)", "~({x} > 0)", "{x}.clone()", "ts.zeros_like({x}) + 1",
    "{x} + {x} * {x} - {x}", "ts.maximum({x}, -{x})", "ts.floor({x})", "ts.isnan({x})",
]  # fmt: skip
BINARY = [
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / {y}", "ts.maximum({x}, {y})", "{x} < {y}",
    "ts.where({x} > 0, {x}, {y})", "ts.tanh({x} * 2 + {y})", "ts.atan2({x}, {y})", "{x} == {y}",
    "ts.where({y} != 0, {x}, 0.5)", "({x} + {y}) * ({x} - {y})", "ts.exp(-{y}.abs()) + {x} * {y}",
    "ts.concat([{x}, {y}])", "ts.stack([{x}, {y}, {x}])",
]  # fmt: skip
VIEWS = [
    "{x}.permute(tuple(reversed(range({x}.ndim))))", "{x}[::-1]", "{x}[..., ::2]", "{x}[1:]",
    "{x}[..., ::-2]", "{x}[-1]", "{x}[..., 0]", "{x}.reshape(-1)", "{x}[None]", "{x}.detach()",
    "{x}[0]", "{x}[:1]", "{x}[..., :1]",
    "ts.broadcast_to({x}, (2, *{x}.shape))", "{x}.unsqueeze(-1)", "{x}.squeeze()", "{x}.flip()",
    "{x}.diagonal()", "{x}.reshape(2, -1)", "{x}[:, 1:3]", "{x}.T.reshape(-1)",
]  # fmt: skip
REDUCTIONS = [
    "{x}.sum(axis={k})", "{x}.mean(axis={k}, keepdims=True)", "{x}.max(axis={k})", "{x}.sum()",
    "{x}.min(axis={k}, keepdims=True)", "ts.prod({x}, axis={k})", "ts.var({x}, axis={k})",
    "{x}.argmax(axis={k})", "ts.cumulative_sum({x}, axis={k})", "F.softmax({x}, {k})",
    "F.log_softmax({x}, {k})", "ts.logsumexp({x}, axis={k})", "ts.any({x} > 0, axis={k})",
    "ts.exp({x} - {x}.max(axis={k}, keepdims=True))", "{x}.mean()", "ts.sort({x}, axis={k})",
    "{x} - {x}.mean(axis={k}, keepdims=True)",
]  # fmt: skip
ROWS = [  # what becomes one step with reductions in it
    "{x} / {x}.sum(axis=-1, keepdims=True)", "({x} * 2).sum(axis=-1)", "({x} - 1).square().mean()",
    "{x} / (({x} * {x}).mean(axis=-1, keepdims=True) + 1).sqrt()",
    "({x} - {x}.mean(axis=-1, keepdims=True)).square().mean(axis=-1, keepdims=True) + 1",
    "ts.exp({x} - {x}.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True) * 2",
    "({x} + {y}).max(axis=-1, keepdims=True) + {y}", "({x} * {y}).sum(axis=-1)",
    "({x} - {y}).min()",
    "({x} + 1).argmax(axis=-1)", "{x} * {x}.sum(axis=(-2, -1), keepdims=True)", "{x} + {x}.sum()",
    "({x} > {x}.mean(axis=-1, keepdims=True)).sum(axis=-1)", "ts.any({x} * 2 > {y}, axis=-1)",
    "({x}.sum(axis=-1, keepdims=True) + {x}).prod(axis=-1)", "{x}.clone().sum(axis=-1) * 3",
    "(lambda s: s - s[0])({x}.sum(axis=-1))", "(lambda s: s[:1] / s + s)({x}.exp().sum(axis=-1))",
    "({x} * {x}.sum(axis=0)).sum(axis=-1)",
    "(lambda s: ({x} - s).max(axis=-1) + 1)({y}.mean(axis=0))",
]  # fmt: skip
PRODUCTS = ["{x} @ {y}", "{x} @ {y}.T", "{x}.T @ {y}", "{x} @ {x}.T", "F.linear({x}, {y})"]
CASTS = [f"{{x}}.astype(ts.{name})" for name in dict.fromkeys(DTYPES)]
MADE = [
    "ts.zeros({s}) + {x}", "ts.arange(4) * {x}", "ts.tensor([0.5, -1.0, 2.0, 3.0]) + {x}",
    "ts.full({s}, 1.5)", "{x}[ts.tensor([0, 2, 1, 0])]", "ts.ones({s}, dtype=ts.int32)",
    "F.one_hot(({x} > 0).sum(axis=-1) % 5, 5)", "ts.take({x}, ({x} > 0).sum() % 2, axis=0)",
]  # fmt: skip
DRAWN = [
    "ts.rand({s})", "ts.randn({s}) * {x}", "F.dropout({x}, 0.5)", "ts.randint(0, 5, {s})",
    "(ts.rand({x}.shape) < 0.5) * {x} * 2", "ts.randperm(4) + {x}",
]  # fmt: skip
WRITES = [
    "{x}.add_({y})", "{x}.mul_({y})", "{x}.copy_({y})", "{x}[...] = {y}", "{x}[::2] = {y}",
    "{x}[..., 1:] *= 0.5", "{x}[0] = {y}", "{x}.tanh_()", "{x}.fill_(0.25)", "{x}[...] += {y}",
    "{x}[::-1].add_({x})", "{x}.mul_(2).sub_({y})", "{x}.T.copy_({y})", "{x}[-1:] -= 1",
    "{x}.copy_({y} * 2 + {x})", "{x}.uniform_()", "{x}.masked_fill_({y} > 0, 1)",
]  # fmt: skip
CHOSEN = [  # by values: masks, and positions
    "{x}[{y} > 0] = 0.5", "{x}[{x} != 0] = {y}.sum()", "{x}[..., {y}[0] > 0] = {x}[..., :1]",
    "{x}[({y} > 0).sum() % 3] = {y}[0]", "{x}[..., ({y} > 0).sum() % 2] = {y}[..., -1]",
    "{x}[({y} < 0).sum() % 4 - ts.arange(2)] = {y}[:2]", "{x}[::2, ({x} > 0).sum() % 3] = 1",
    "{x}.index_copy_(0, ({y} > 0).sum() % 2, {y}[:1])", "{x}[{y}.sum(axis=-1) > 0] = {y}[:1]",
]  # fmt: skip
UPDATES = ["{x} += {y}", "{x} *= {y}", "{x} -= 1", "{x} /= 2"]  # they bind the name anew
KINDS = [
    UNARY, UNARY, UNARY, BINARY, BINARY, BINARY, VIEWS, VIEWS, REDUCTIONS, REDUCTIONS, PRODUCTS,
    ROWS, ROWS, CASTS, MADE, DRAWN, WRITES, WRITES, WRITES, CHOSEN, UPDATES,
]  # fmt: skip


class Writer:
    """Writes a script, and tries each line."""

    def __init__(self, draw: Any, given: dict[str, Spec], captured: dict[str, Spec]) -> None:
        self.draw = draw
        ts.manual_seed(0)  # whether eager accepts a line may depend on values
        self.given, self.captured = given, captured
        made = {name: spec.make(i) for i, (name, spec) in enumerate((given | captured).items())}
        self.space: dict[str, Any] = {"ts": ts, "F": F, **made}
        self.names = list(made)
        self.lines: list[str] = []
        self.shapes = [(3, 4), (4,), ()]

    def choose(self, items: Any) -> Any:
        """Draw one of a list."""
        return self.draw(st.sampled_from(items))

    def pick(self) -> str:
        """Draw a name, most often a new one."""
        name: str = self.choose(self.names[-3:] + self.names)
        return name

    def add(self, line: str) -> bool:
        """Add a line if eager accepts it."""
        try:
            exec(line, self.space)
        except ts.errors.TessellaError:
            return False
        self.lines.append(line)
        return True

    def add_step(self, kinds: list[list[str]]) -> None:
        """Draw a line."""
        kind = self.choose(kinds)
        x, y = self.pick(), self.pick()
        if kind is UPDATES and x in self.captured:
            kind = WRITES
        is_write, is_state = kind in (WRITES, CHOSEN, UPDATES), x not in self.own_names()
        if is_write and is_state and self.space[y].requires_grad:
            y = f"{y}.detach()"  # else the graph would go on from call to call
        text: str = self.choose(kind).format(
            x=x, y=y, k=self.choose([-1, 0]), s=self.choose(self.shapes)
        )
        if is_write:
            self.add(text)
            return
        name = f"v{len(self.lines)}"
        if self.add(f"{name} = {text}"):
            self.names.append(name)

    def add_steps(self, most: int, kinds: list[list[str]] = KINDS) -> None:
        """Draw some lines."""
        for _ in range(self.draw(st.integers(most // 3, most))):
            self.add_step(kinds)

    def outside_of(self, others: dict[str, Spec]) -> list[str]:
        """Give what is in other memory than some tensors are."""
        there = [_core.home_of(self.space[name])[0] for name in others]
        return [n for n in self.names if _core.home_of(self.space[n])[0] not in there]

    def own_names(self) -> list[str]:
        """Give what is in memory that the function has made."""
        return self.outside_of(self.given | self.captured)

    def open_names(self) -> list[str]:
        """Give what gradients can be taken of and is in memory that the function has made."""
        return [name for name in self.own_names() if self.can_pull(name)]

    def can_pull(self, name: str) -> bool:
        """Tell whether gradients flow, and no line has overwritten what they need."""
        x, leaves = self.space[name], [self.space[k] for k in ("a0", "p0", "p1")]
        leaves = [leaf for leaf in leaves if leaf.requires_grad]
        if not x.requires_grad:
            return False
        try:
            ts.autograd.grad(x.sum(), leaves, retain_graph=True, allow_unused=True)
        except ts.errors.InplaceError:
            return False
        return True

    def write_result(self, part: str = "{x}") -> str:
        """Draw what is returned: names, and views of them."""
        names = [*self.names, *self.captured]
        parts = []
        for x in self.draw(st.lists(st.sampled_from(names[-6:] + names), min_size=1, max_size=4)):
            view = self.choose(["{x}", "{x}", "{x}", *VIEWS]).format(x=part.format(x=x))
            if self.add(f"_ = {view}"):
                self.lines.pop()
                parts.append(view)
        if len(parts) == 1:
            return str(parts[0])
        if self.draw(st.booleans()):
            return f"({', '.join([*parts, ''])})"
        items = ", ".join(f"'k{i}': {part}" for i, part in enumerate(parts))
        return f"[{{{items}}}, 0.5]"

    def script(self, result: str) -> Script:
        """Give the whole."""
        return Script(self.given, self.captured, "\n".join([*self.lines, f"return {result}"]))


def specs(draw: Any, letter: str, count: int, **options: Any) -> dict[str, Spec]:
    """Draw tensors, named by a letter and numbers."""
    found = {}
    for i in range(count):
        shape = draw(st.sampled_from(options.get("shapes", SHAPES)))
        dtype = draw(st.sampled_from(options.get("dtypes", DTYPES)))
        layout = draw(st.sampled_from(options.get("layouts", LAYOUTS)))
        found[f"{letter}{i}"] = Spec(shape, dtype, layout, options.get("needs_grad", False))
    return found


@st.composite
def scripts(draw: Any, most: int = 14) -> Script:
    """Draw a script without gradients."""
    given, captured = specs(draw, "a", 2), specs(draw, "c", 2)
    if draw(st.booleans()):  # so that they can share memory
        given["a1"] = captured["c0"] = given["a0"]
    writer = Writer(draw, given, captured)
    writer.add_steps(most)
    return writer.script(writer.write_result())


@st.composite
def large_scripts(draw: Any) -> Script:
    """Draw a script of tensors that are worth several threads."""
    options: dict[str, Any] = {"shapes": LARGE, "dtypes": [*FLOATS, "float16", "int64"]}
    options["layouts"] = ["plain", "plain", "reversed axes"]
    writer = Writer(draw, specs(draw, "a", 2, **options), specs(draw, "c", 1, **options))
    writer.shapes = [(400, 300), (300,)]
    kinds = [UNARY[:19], UNARY[:19], BINARY[:13], BINARY[:13], REDUCTIONS[:13], VIEWS[:5], WRITES]
    writer.add_steps(8, [*kinds, PRODUCTS, ROWS, ROWS])
    return writer.script(f"({', '.join([*writer.own_names()[-4:], 'a0', ''])})")


SMOOTH = [UNARY, UNARY, BINARY, BINARY, VIEWS, VIEWS, REDUCTIONS, PRODUCTS, DRAWN, WRITES, UPDATES]


def differentiable(draw: Any, needs_grad: bool) -> Writer:
    """Draw a script of floats over two parameters and a captured tensor, without its result."""
    dtypes = draw(st.sampled_from([("float32",), FLOATS]))
    options: dict[str, Any] = {"dtypes": dtypes, "shapes": SHAPES[:8]}
    # Strides of a gradient mean nothing where an axis has one element, and may differ there.
    wide = options | {"shapes": [shape for shape in SHAPES[:8] if 1 not in shape]}
    given = specs(draw, "a", 1, needs_grad=needs_grad, **wide) | specs(draw, "b", 1, **options)
    parameters = specs(draw, "p", 2, needs_grad=True, **wide)
    writer = Writer(draw, given, parameters | specs(draw, "c", 1, **options))
    writer.add("v = p0.tanh() * 2")
    writer.names.append("v")
    writer.add_steps(10, SMOOTH)
    writer.add("w = p0.exp() + p1.sum()")  # one whose gradient no line has spoiled
    writer.names.append("w")
    return writer


@st.composite
def training_scripts(draw: Any) -> Script:
    """Draw a step: a loss, its gradients, and an update."""
    writer = differentiable(draw, needs_grad=False)
    clear = draw(st.sampled_from(["", "p0.grad = p1.grad = None", "p1.grad = None"]))
    writer.lines[:0] = [clear] if clear else []
    parts = draw(st.lists(st.sampled_from(writer.open_names()), min_size=1, max_size=3))
    terms = [f"{x}.{draw(st.sampled_from(['sum', 'mean']))}()" for x in parts]
    writer.lines.append(f"loss = {' + '.join(['p0.square().sum()', *terms])}")
    writer.lines.append("loss.backward()")
    if draw(st.booleans()):
        writer.lines.append("with ts.no_grad(): p0.sub_(0.01 * p0.grad)")
    return writer.script(f"(loss.detach(), {writer.write_result('{x}.detach()')})")


@st.composite
def forward_scripts(draw: Any) -> Script:
    """Draw a function with one result that gradients flow into."""
    writer = differentiable(draw, needs_grad=draw(st.booleans()))
    opened = draw(st.sampled_from(writer.open_names()))
    if draw(st.booleans()):
        return writer.script(opened)
    return writer.script(f"({opened}, {writer.write_result('{x}.detach()')})")
