"""What is aimed for beyond the bars, by row and case; `page` lists the aims that are not met yet.

An aim is a Bar that decides nothing. Aims are judged from what is stored, also of rows that measure
themselves, so they are not kept with the cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.cases import PEAK, Bar, ahead, at_most, part_of
from bench.libraries import COMPILED_TORCH, LLAMA_CPP
from bench.rows.steps import BEST
from bench.verdict import Json, geometric_mean, judge, value_of

EACH, MEAN = "each case", "geometric mean"
Aims = dict[str, tuple[Bar, ...]]  # by the name of a case

STEPS: dict[str, tuple[Bar, ...]] = {
    "xor": (ahead(200, "torch"), ahead(50, "jax")),
    "digits": (ahead(4, *BEST),),
    "mnist": (ahead(1.5, *BEST),),
    "gpt": (ahead(2, *BEST),),
    "conv": (ahead(1.3, *BEST),),
    "lstm": (ahead(1.3, *BEST),),
}
EAGER_STEPS: dict[str, tuple[Bar, ...]] = {
    name: (ahead(6 if name in ("xor", "digits") else 1.5, "torch"),) for name in STEPS
}
AIMS: dict[str, Aims] = {
    "import": {"import, over bare Python": (at_most(25, "ms"),)},
    "size": {"wheel": (at_most(3, "MB"),)},
    "eager-small": {
        "a + b": (ahead(12, "torch"), ahead(3, "numpy")),
        "a + b, recorded": (ahead(12, "torch"),),
        "10 multiplications and a sum, backward": (ahead(10, "torch"),),
    },
    "eager-more": {EACH: (ahead(1, "numpy"),)},
    **{f"step-{name}": {EACH: bars} for name, bars in STEPS.items()},
    "step-eager": EAGER_STEPS,
    "busy": STEPS | {f"{name}, eager": bars for name, bars in EAGER_STEPS.items()},
    "compile-time": {"digits": (at_most(3, "ms"),), "gpt": (at_most(50, "ms"),)},
    "call": {
        **{f"arguments: {n}": (at_most(500 + 25 * n, "ns"),) for n in (1, 2, 4)},
        **{f"each further {kind}": (at_most(15, "ns"),) for kind in ("add", "sum")},
    },
    "memory": {EACH: (part_of(0.4, "torch"),)},
    "cold": {EACH: (ahead(30, "torch"),)},
    "gemm": {MEAN: (ahead(1, "numpy", "torch"),)},
    "gemm-small": {EACH: (ahead(1.5, "numpy", "torch"),)},
    "fused": {EACH: (ahead(0.7, PEAK),)},
    "reduce": {EACH: (ahead(1, "numpy", "torch", "jax"),)},
    "rows": {EACH: (ahead(2, "torch", COMPILED_TORCH, "jax"),)},
    "decode": {EACH: (ahead(1.1, LLAMA_CPP),)},
    "wild": {EACH: (ahead(2, "numpy", "torch"),)},
}


def reached(bar: Bar, case: Json) -> float | None:
    """What a case came to, by those of the aim's contenders that took part."""
    if "error" in case:
        return None
    if "values" in case:
        return value_of(bar, case["values"])
    return min(float(case["ratios"][name]) for name in bar.of if name in case["ratios"])


def judged_aims(results: Json) -> Iterator[Json]:
    """Every aim of what is stored, as bars are judged, with its row and case."""
    for row in results["rows"]:
        for name, bars in AIMS.get(row["name"], {}).items():
            cases = [case for case in row["cases"] if name in (EACH, case["name"])]
            for bar in bars:
                if name == MEAN:
                    found = [(MEAN, geometric_mean(bar, row["cases"]))]
                else:
                    found = [(case["name"], reached(bar, case)) for case in cases]
                for case_name, value in found:
                    yield judge(bar, value) | {"row": row["name"], "case": case_name}
