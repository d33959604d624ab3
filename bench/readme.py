"""The README's table: a few lines of results/latest.json, each a time, a size or a speed."""

from __future__ import annotations

from bench.cases import SUBJECT
from bench.libraries import COMPILED_LOSS, COMPILED_TORCH, LLAMA_CPP
from bench.programs.steps import PROGRAMS
from bench.report import Json, better_time, digits, speed_text, time_text
from bench.verdict import all_bars

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"

# The row, the beginning of the case's name, and what the table says of it.
SHOWN = (
    ("import", "import", "`import`, over bare Python"),
    ("size", "installed", "installed size"),
    ("eager-small", "a + b", "`a + b`, 8 floats"),
    ("eager-small", "a + b, recorded", "the same, recorded for gradients"),
    *(
        (f"step-{name}", program.what, f"a training step, compiled: {program.what}")
        for name, program in PROGRAMS.items()
    ),
    ("memory", "after", "resident memory that five of these GPT steps take"),
    ("cold", "digits", "a new process that imports, builds, compiles and trains ten times"),
    ("gemm", "1024", "a matrix product, 1024 x 1024"),
    ("fused", "gelu", "GELU written with 9 operations, 10 million floats, compiled"),
    (
        "decode",
        "q4_0, 2 threads",
        "a language model of 100 million weights writes, Q4_0, 2 threads",
    ),
)
AS_SPEEDS = ("gemm", "decode")
# How peers are called; of torch.compile's two ways the better is shown.
PEERS = {
    "NumPy": ("numpy",),
    "PyTorch": ("torch",),
    "torch.compile": (COMPILED_TORCH, COMPILED_LOSS),
    "JAX": ("jax",),
    "llama.cpp": (LLAMA_CPP,),
}


def cell(row: str, case: Json, names: tuple[str, ...]) -> str:
    """What one contender came to, in its best way; nothing if it took no part."""
    if "values" in case:
        values = [case["values"][name] for name in names if name in case["values"]]
        return f"{digits(min(values))} {case['unit']}" if values else ""
    times = [(time, name) for name in names if (time := better_time(case, name)) is not None]
    if not times:
        return ""
    time, name = min(times)
    return speed_text(case, name) if row in AS_SPEEDS else time_text(time)


def line(results: Json, row: str, case: str, label: str) -> list[str]:
    """One line of the table, if it was measured."""
    found = [
        one
        for each in results["rows"]
        if each["name"] == row
        for one in each["cases"]
        if one["name"].startswith(case) and "error" not in one
    ]
    if not found:
        return []
    ours = cell(row, found[0], (SUBJECT,))
    theirs = {peer: cell(row, found[0], names) for peer, names in PEERS.items()}
    peers = ", ".join(f"{peer} {text}" for peer, text in theirs.items() if text)
    return [f"| {label} | {ours} | {peers} |"]


def table(results: Json) -> str:
    """The Markdown table, with the machine it was measured on."""
    machine, bars = results["machine"], all_bars(results["rows"])
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = [
        "| what | Tessella | peers |",
        "|---|---|---|",
        *(text for shown in SHOWN for text in line(results, *shown)),
        "",
        f"{sum(bar['met'] for bar in bars)} of {len(bars)} bars are met; "
        "what is lost is in [docs/benchmarks.md](docs/benchmarks.md).",
        "",
        f"Measured by `make bench` on {machine['processor']}, {machine['cores']} cores; "
        f"{versions}. Each peer is at the better of its default threads and one thread.",
    ]
    return "\n".join(lines)


def readme_with(text: str, results: Json) -> str:
    """The README's text with the table of these results between its two markers."""
    if BEGIN not in text or END not in text:
        raise SystemExit(f"README.md needs the lines {BEGIN} and {END}")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"
