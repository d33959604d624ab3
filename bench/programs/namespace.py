"""One small array namespace over NumPy, torch and Tessella, so that a program is written once.

Where a library spells a function as the others do, the namespace holds that function itself, and
costs nothing; where one differs, all go through a function of one line, and pay the same.
Tensors are float32 unless they index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.libraries import Libraries

Function = Callable[..., Any]


@dataclass(frozen=True)
class Namespace:
    """What programs may use, beside operators, indexing, `.T`, `.sum(axis=)` and `.item()`."""

    array: Function  # nested lists -> tensor
    zeros: Function  # shape
    ones: Function  # shape
    arange: Function  # stop -> integers
    linspace: Function  # start, stop, count
    seed: Function
    normal: Function  # shape
    exp: Function
    sqrt: Function
    tanh: Function
    sin: Function
    cos: Function
    relu: Function
    where: Function  # mask, tensor, tensor or number
    stack: Function  # tensors, axis=
    argmin: Function  # x, axis=
    argmax: Function  # x, axis=
    amax: Function  # x, axis=
    roll: Function  # x, shift, axis


def shared(module: Any) -> dict[str, Function]:
    """The functions that every library spells alike."""
    alike = ("exp", "sqrt", "tanh", "sin", "cos", "where", "stack", "argmin", "argmax", "arange")
    return {name: getattr(module, name) for name in alike}


def numpy_namespace(np: Any) -> Namespace:
    """NumPy, told float32 wherever it would make float64."""
    random: list[Any] = [np.random.default_rng(0)]

    def seed(value: int) -> None:
        random[0] = np.random.default_rng(value)

    return Namespace(
        array=partial(np.array, dtype=np.float32),
        zeros=partial(np.zeros, dtype=np.float32),
        ones=partial(np.ones, dtype=np.float32),
        linspace=partial(np.linspace, dtype=np.float32),
        seed=seed,
        normal=lambda shape: random[0].standard_normal(shape, dtype=np.float32),
        relu=lambda x: np.maximum(x, 0),
        amax=np.amax,
        roll=lambda x, shift, axis: np.roll(x, shift, axis),
        **shared(np),
    )


def torch_namespace(torch: Any) -> Namespace:
    """PyTorch, on the CPU."""
    return Namespace(
        array=partial(torch.tensor, dtype=torch.float32),
        zeros=torch.zeros,
        ones=torch.ones,
        linspace=torch.linspace,
        seed=torch.manual_seed,
        normal=lambda shape: torch.randn(shape),
        relu=lambda x: torch.relu(x),
        amax=torch.amax,
        roll=lambda x, shift, axis: torch.roll(x, shift, axis),
        **shared(torch),
    )


def tessella_namespace(ts: Any) -> Namespace:
    """Tessella."""
    return Namespace(
        array=partial(ts.tensor, dtype=ts.float32),
        zeros=ts.zeros,
        ones=ts.ones,
        linspace=ts.linspace,
        seed=ts.manual_seed,
        normal=lambda shape: ts.randn(shape),
        relu=lambda x: ts.relu(x),
        amax=ts.max,
        roll=lambda x, shift, axis: ts.roll(x, shift, axis=axis),
        **shared(ts),
    )


def namespaces(libs: Libraries) -> dict[str, Namespace]:
    """The namespace of every contender that runs programs; JAX is not meant to be run eagerly."""
    return {
        "tessella": tessella_namespace(libs.ts),
        "numpy": numpy_namespace(libs.np),
        "torch": torch_namespace(libs.torch),
    }
