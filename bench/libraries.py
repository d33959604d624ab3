"""Tessella and its peers as the rows see them: loaded at first use, at the asked thread setting.

Two settings exist. `default`: everybody at their own default. `one`: the peers at one thread,
Tessella still at its default, because the better of a peer's two settings counts.
"""

from __future__ import annotations

import importlib
import os
from functools import cached_property
from typing import Any

SETTINGS = ("default", "one")
PEERS = ("numpy", "torch", "jax", "cyllama")
COMPILED_TORCH = "torch.compile"
COMPILED_LOSS = "torch.compile, fused update"  # the loss compiled, then torch's own fused optimizer
LLAMA_CPP, LLAMA_CPP_MODULE = "llama.cpp", "cyllama.llama.llama_cpp"
# As rows and tables name them.
RIVALS = ("numpy", "torch", "jax", COMPILED_TORCH, COMPILED_LOSS, LLAMA_CPP)

# Left over from the caller's shell, any of these would change what "default" means.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "NPROC",
    "XLA_FLAGS",
    "TESSELLA_NUM_THREADS",
)

# torch is set to one thread by a call: OMP_NUM_THREADS could reach Tessella too.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def environment(setting: str) -> dict[str, str]:
    """The environment of the process that measures at this setting."""
    clean = {k: v for k, v in os.environ.items() if k not in THREAD_VARIABLES}
    clean["JAX_PLATFORMS"] = "cpu"
    return clean | (ONE_THREAD if setting == "one" else {})


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


class Libraries:
    """The modules, each imported when a row first asks for it."""

    def __init__(self, setting: str) -> None:
        self.setting = setting

    @cached_property
    def ts(self) -> Any:
        return importlib.import_module("tessella")

    @cached_property
    def np(self) -> Any:
        return importlib.import_module("numpy")

    @cached_property
    def torch(self) -> Any:
        torch = importlib.import_module("torch")
        if self.setting == "one":
            torch.set_num_threads(1)
        return torch

    @cached_property
    def jax(self) -> Any:
        return importlib.import_module("jax")

    @cached_property
    def jnp(self) -> Any:
        return importlib.import_module("jax.numpy")

    @cached_property
    def llama_cpp(self) -> Any:
        return importlib.import_module(LLAMA_CPP_MODULE)

    def modules(self) -> dict[str, Any]:
        """The array namespace of every contender, Tessella first."""
        return {"tessella": self.ts, "numpy": self.np, "torch": self.torch, "jax": self.jnp}

    def wrap(self, array: Any) -> dict[str, Any]:
        """A NumPy array as each contender's own tensor; all but JAX share its memory."""
        return {
            "tessella": self.ts.from_numpy(array),
            "numpy": array,
            "torch": self.torch.from_numpy(array),
            "jax": self.jnp.asarray(array),
        }

    def copies(self, array: Any) -> dict[str, Any]:
        """A NumPy array as a tensor that each contender has allocated itself."""
        return {
            "tessella": self.ts.tensor(array),
            "numpy": self.np.array(array),
            "torch": self.torch.tensor(array),
            "jax": self.jnp.array(array),
        }

    def normal(self, *shape: int) -> Any:
        """Normal float32 numbers, the same in every process, in memory aligned for any vector."""
        array = self.aligned(*shape)
        array[...] = self.np.random.default_rng(0).standard_normal(shape, dtype=self.np.float32)
        return array

    def aligned(self, *shape: int) -> Any:
        """Zeros (float32) that begin on a cache line, as every library's own allocator gives."""
        line = 64
        size = int(self.np.prod(shape)) * 4
        raw = self.np.zeros(size + line, dtype=self.np.uint8)
        start = -raw.ctypes.data % line
        return raw[start : start + size].view(self.np.float32).reshape(shape)

    def to_numpy(self, value: Any) -> Any:
        """Any contender's result as a NumPy array, for comparison; NumPy has no bfloat16."""
        if hasattr(value, "detach"):
            value = value.detach()
        if str(getattr(value, "dtype", "")).endswith("bfloat16"):
            value = value.float() if hasattr(value, "float") else value.astype("float32")
        return self.np.asarray(value.numpy() if hasattr(value, "numpy") else value)
