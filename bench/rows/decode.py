"""Rows `decode`, `prompt` and `decode-memory`: a language model of 100 million quantised weights.

The peer is llama.cpp, on the same file and at the same number of threads, whatever the setting. Its
builds for Python use AVX2 and no wider vectors: one built for a machine may do better on it.
Weights are random, which speed does not depend on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.cases import ONCE, SUBJECT, Case, Once, Row, Work, ahead, at_most
from bench.fresh import median_probe
from bench.libraries import LLAMA_CPP, Libraries
from bench.programs.writing import FORMATS, PROMPT, ROOM, TOKENS, LlamaCpp, Tessella, files

THREADS = (1, 2)
# Both multiply int8, rounded by blocks of their own: logits differ by 0.01 of the largest.
TOLERANCE = 0.03
OVER = 50  # MB beside the file and the cache


def check(ours: Tessella, theirs: LlamaCpp) -> None:
    """Raise unless both compute the same, by llama.cpp's logits.

    At the end of the prompt, all logits must agree; then, where Tessella writes a token,
    llama.cpp must find it the best but for a near tie: random weights make those.
    """
    ours.read(), theirs.read()
    mine, logits = ours.logits(), theirs.logits()
    scale = max(map(abs, logits))
    error = max(abs(x - y) for x, y in zip(mine, logits, strict=True))
    if error > TOLERANCE * scale:
        raise ValueError(f"logits are off by {error:g} where they reach {scale:g}")
    for _ in range(2):  # the calls that are recorded
        ours.write()
    token = PROMPT[-1]
    for i, written in enumerate(ours.write()):
        theirs.put([token], len(PROMPT) + i)
        logits = theirs.logits()
        if logits[written] < max(logits) - 2 * TOLERANCE * scale:
            raise ValueError(f"token {i} is {written}, and llama.cpp's {logits.index(max(logits))}")
        token = written


def build(libs: Libraries, format: str, threads: int, verb: str) -> dict[str, Work]:
    """Both have read the prompt, and write the same tokens each time."""
    path = files(libs.ts)[format]
    ours, theirs = Tessella(libs.ts, path, threads), LlamaCpp(libs.llama_cpp, path, threads)
    check(ours, theirs)
    amount = len(PROMPT) if verb == "read" else TOKENS
    return {
        SUBJECT: Work(f"{verb}()", {verb: getattr(ours, verb)}, amount),
        LLAMA_CPP: Work(f"{verb}()", {verb: getattr(theirs, verb)}, amount),
    }


def cases(verb: str, limit: float) -> tuple[Case, ...]:
    """Each format at each number of threads."""
    return tuple(
        Case(
            f"{format}, {threads} thread{'s' * (threads > 1)}",
            partial(build, format=format, threads=threads, verb=verb),
            (ahead(limit, LLAMA_CPP),),
            "token",
            tolerance=None,  # `check` knows of ties
            settings=ONCE,
        )
        for format in FORMATS
        for threads in THREADS
    )


DECODE = Row("decode", "tokens written one by one, one sequence", cases("write", 0.8))
READ = Row("prompt", f"a prompt of {len(PROMPT)} tokens read", cases("read", 0.5))


def measure_memory() -> Iterator[Once]:
    """The most that is resident from the import on, the mapped file included."""
    ts = Libraries("default").ts
    for format, path in files(ts).items():
        names = (SUBJECT, LLAMA_CPP)
        values = {name: median_probe(3, "writing", name, str(path)) / 1e6 for name in names}
        cache = ts.models.load_gguf(path).cache(ROOM).nbytes
        allowed = (path.stat().st_size + cache) // 1_000_000 + OVER
        yield Once(format, values, "MB", (at_most(allowed, "MB, the file, the cache and 50"),))


MEMORY = Row(
    "decode-memory",
    "growth of resident memory from the import on, a prompt read and tokens written",
    once=measure_memory,
)
