"""Writes the files of PyTorch that the tests read: run it in the benchmark environment.

``.bench-venv/bin/python tools/figures_files.py`` needs PyTorch and the safetensors package, and
writes into tests/figures: .pt files of several kinds, a safetensors file of every dtype, a small
network with what PyTorch computed from it, and, as JSON, what each tensor must hold.
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

FIGURES = Path(__file__).resolve().parent.parent / "tests" / "figures"
DTYPES = (
    torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16,
    torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128,
)  # fmt: skip


def tensor_of(dtype: torch.dtype) -> Any:
    """Give a small tensor of a dtype, with its extremes where it has some."""
    if dtype is torch.bool:
        return torch.tensor([[True, False, True], [False, False, True]])
    if dtype.is_complex:
        return torch.tensor([[1 + 2j, -0.5j, 0], [math.inf, 3.25, -1]], dtype=dtype)
    if dtype.is_floating_point:
        low, high = torch.finfo(dtype).tiny, torch.finfo(dtype).max
        return torch.tensor([[0.0, -0.0, low], [high, -math.inf, 1.5]], dtype=dtype)
    limits = torch.iinfo(dtype)
    return torch.tensor([[0, 1, 2], [limits.min, limits.max, 7]], dtype=dtype)


def layouts() -> dict[str, Any]:
    """Give views of all kinds: strides, offsets, shared storages, no elements."""
    base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    return {
        "base": base,
        "transposed": base.permute(2, 0, 1),
        "part": base[1, 1:, ::2],
        "expanded": torch.arange(3).reshape(3, 1).expand(3, 4),
        "number": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
        "conjugate": torch.tensor([1 + 2j, 3 - 1j]).conj(),
        "negative": torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
    }


def state() -> dict[Any, Any]:
    """Give a checkpoint as people make them, and everything else that can be read."""
    torch.manual_seed(0)
    parts = {"linear": torch.nn.Linear(3, 2), "norm": torch.nn.BatchNorm1d(2)}
    model = torch.nn.Sequential(OrderedDict(parts))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.ones(4, 3)).square().sum().backward()
    optimizer.step()
    tagged = torch.ones(2)
    tagged.tag = "an attribute"
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "parameter": model.linear.weight,
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "leaf": torch.ones(2, requires_grad=True),
        "tagged": tagged,
        "size": torch.zeros(2, 3).shape,
        "dtype": torch.bfloat16,
        "device": torch.device("cpu"),
        "counter": Counter("aab"),
        "plain": [1, -2, 3.5, True, None, "text é\n", 10**30, 1 + 2j, b"bytes\xff", {1, 2}],
        "nested": (4, [5, (6,)], {}),
        7: {"keys": {(1, 2): "tuple", None: "none", 2.5: "float"}},
    }


def described(x: Any) -> dict[str, Any]:
    """Describe a tensor: dtype, shape, strides, and its elements as bytes."""
    plain = x.detach().resolve_conj().resolve_neg().contiguous()
    return {
        "dtype": str(x.dtype).removeprefix("torch."),
        "shape": list(x.shape),
        "strides": list(x.stride()),
        "bytes": plain.reshape(-1).view(torch.uint8).numpy().tobytes().hex(),
    }


def network() -> dict[str, Any]:
    """Give a network, a batch, and what PyTorch computes: the output, the loss, the gradients."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    x = torch.randn(7, 5)
    out = model(x)
    out.square().mean().backward()
    found = {f"model.{name}": value.detach() for name, value in model.state_dict().items()}
    found |= {f"grad.{name}": value.grad for name, value in model.named_parameters()}
    return found | {"x": x, "out": out.detach()}


def main() -> None:
    """Write all files."""
    FIGURES.mkdir(exist_ok=True)
    every = {str(dtype).removeprefix("torch."): tensor_of(dtype) for dtype in DTYPES}
    torch.save(every, FIGURES / "torch_dtypes.pt")
    torch.save(layouts(), FIGURES / "torch_layouts.pt", pickle_protocol=4)
    torch.save(state(), FIGURES / "torch_state.pt")
    torch.save(every, FIGURES / "torch_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(2, 1), FIGURES / "torch_module.pt")
    held = {name: x for name, x in every.items() if name != "complex128"}
    save_file(held, FIGURES / "torch_dtypes.safetensors", metadata={"format": "pt"})
    save_file(
        {"small": torch.ones(4).to(torch.float8_e4m3fn), "usual": torch.ones(2)},
        FIGURES / "torch_float8.safetensors",
    )
    save_file(network(), FIGURES / "torch_network.safetensors")
    figures = {
        "dtypes": {name: described(x) for name, x in every.items()},
        "layouts": {name: described(x) for name, x in layouts().items()},
    }
    (FIGURES / "torch_files.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
