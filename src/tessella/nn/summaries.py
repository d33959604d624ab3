"""summary: a network as a table, one line for each module, from one call of it.

The call is made in evaluation mode and without gradients, so that it leaves no trace: running
statistics, the mode and random numbers are as before. Inputs without memory give shapes and sizes,
and no times.
"""

from __future__ import annotations

from time import perf_counter

from tessella import errors
from tessella._core import Tensor
from tessella.hints import TYPE_CHECKING, Any
from tessella.modes import no_grad
from tessella.nn import walks
from tessella.nn.modules import Module
from tessella.sizes import to_text
from tessella.trees import flatten

if TYPE_CHECKING:
    from tessella.hooks import Handle


class Line:
    """One module of a summary."""

    def __init__(self, path: str, module: Module) -> None:
        own = [x for _, x in walks.parameters_of(module)]
        buffers = [x for _, x in walks.buffers_of(module)]
        self.path = path
        self.depth = path.count(".") + 1 if path else 0
        self.kind = type(module).__name__
        self.parameters = sum(x.size for x in own)
        self.trainable = sum(x.size for x in own if x.requires_grad)
        self.parameter_bytes = sum(x.nbytes for x in own)
        self.buffer_bytes = sum(x.nbytes for x in buffers)
        self.is_whole = not walks.children_of(module)
        self.calls = 0
        self.shapes: list[tuple[int, ...]] = []  # of the outputs of the last call
        self.output_bytes = 0  # of all calls
        self.seconds = 0.0  # parts included

    def note(self, out: object, seconds: float) -> None:
        """Enter a call."""
        found = [x for x in flatten(out)[0] if isinstance(x, Tensor)]
        self.calls += 1
        self.shapes = [x.shape for x in found]
        self.output_bytes += sum(x.nbytes for x in found)
        self.seconds += seconds

    def cells(self, has_times: bool) -> list[str]:
        """Give the texts of its columns."""
        shapes = ", ".join(map(str, self.shapes)) if self.calls else "not called"
        times = f" ({self.calls} calls)" if self.calls > 1 else ""
        name = self.path.rpartition(".")[2]
        label = f"{'  ' * self.depth}{name + ': ' if name else ''}{self.kind}"
        cells = [label, shapes + times, f"{self.parameters:,}" if self.parameters else "",
                 to_text(self.parameter_bytes + self.buffer_bytes) if self.parameters else "",
                 to_text(self.output_bytes)]  # fmt: skip
        return [*cells, f"{self.seconds * 1e3:.3f}"] if has_times else cells


class Summary:
    """What `summary` found; its text is the table."""

    def __init__(self, lines: list[Line], shared: int, has_times: bool) -> None:
        self.lines = lines
        self.has_times = has_times
        self.parameters = sum(line.parameters for line in lines) - shared
        self.trainable = sum(line.trainable for line in lines)
        self.parameter_bytes = sum(line.parameter_bytes for line in lines)
        self.buffer_bytes = sum(line.buffer_bytes for line in lines)
        self.output_bytes = sum(line.output_bytes for line in lines if line.is_whole)
        self.seconds = lines[0].seconds

    def __repr__(self) -> str:
        head = ["module", "output", "parameters", "bytes", "output bytes"]
        rows = [head + (["ms"] if self.has_times else [])]
        rows += [line.cells(self.has_times) for line in self.lines]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [f"{text:<{w}}" if i < 2 else f"{text:>{w}}"
                     for i, (text, w) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
            lines.append("  ".join(cells).rstrip())
        rest = f" ({self.trainable:,} trained)" if self.trainable != self.parameters else ""
        total = f"{self.parameters:,} parameters{rest}, {to_text(self.parameter_bytes)}"
        total += f"; buffers {to_text(self.buffer_bytes)}; outputs {to_text(self.output_bytes)}"
        if self.has_times:
            total += f"; {self.seconds * 1e3:.3f} ms"
        return "\n".join([*lines, total])


class _Clock:
    """Hooks of one module that note its calls."""

    def __init__(self, line: Line, module: Module) -> None:
        self.line = line
        self.starts: list[float] = []
        self.handles: list[Handle] = [
            module.register_forward_pre_hook(self.start, prepend=True),
            module.register_forward_hook(self.stop),
        ]

    def start(self, module: Module, args: Any) -> None:
        """Begin a call."""
        self.starts.append(perf_counter())

    def stop(self, module: Module, args: Any, out: Any) -> None:
        """End it."""
        self.line.note(out, perf_counter() - self.starts.pop())


def summary(model: Module, *args: object, **keywords: object) -> Summary:
    """Call a model once and tell of each module: output shapes, parameters, bytes, time.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> nn.summary(model, ts.ones(4, 2)).parameters
    9
    """
    if not isinstance(model, Module):
        raise errors.wrong_type("model", model, "a module").locate("nn.summary", [])
    tensors = [x for x in flatten([list(args), keywords])[0] if isinstance(x, Tensor)]
    modes = [(module, module.training) for module in model.modules()]
    lines: list[Line] = []
    clocks: list[_Clock] = []
    try:
        for path, module in model.named_modules():
            lines.append(Line(path, module))
            clocks.append(_Clock(lines[-1], module))
        model.eval()
        with no_grad():
            model(*args, **keywords)
    finally:
        for clock in clocks:
            for handle in clock.handles:
                handle.remove()
        for module, mode in modes:
            module.training = mode
    return Summary(lines, _shared(model), not any(x.is_virtual for x in tensors))


def _shared(model: Module) -> int:
    """Count the elements of parameters that several modules have, beyond the first time."""
    every = sum(x.size for module in model.modules() for _, x in walks.parameters_of(module))
    return every - sum(x.size for x in model.parameters())
