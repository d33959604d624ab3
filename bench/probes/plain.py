"""Steps of the digits and gpt networks as modules, with each library's own numbers: no NumPy."""

from __future__ import annotations

from typing import Any

from bench.programs import transformer
from bench.programs.stepping import Compiler, Step, adam, step_of

BATCH = 64


def digits(library: Any) -> Any:
    """Give the network 64-128-64-10."""
    nn = library.nn
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
    )


def step(library: Any, name: str, compile: Compiler = None, **options: Any) -> Step:
    """Give a function that trains once, in Tessella or PyTorch."""
    if name == "gpt":
        module, kind = transformer.network(library), "AdamW"
        places, classes = transformer.BATCH * transformer.CONTEXT, transformer.LETTERS
        x = library.randint(0, classes, (transformer.BATCH, transformer.CONTEXT))
    else:
        module, kind, places, classes = digits(library), "Adam", BATCH, 10
        x = library.randn(BATCH, 64)
    batch = [x, library.randint(0, classes, (places,))]
    functional = library.nn.functional

    def loss_of(x: Any, y: Any) -> Any:
        return functional.cross_entropy(module(x), y)

    return step_of(loss_of, adam(library, module.parameters(), kind, **options), batch, compile)
