"""Pages of ordinary PyTorch, with the imports changed, give what PyTorch gave.

They are in tests/pages. tools/figures_networks.py ran network.txt with PyTorch: its weights come
from a safetensors file that PyTorch made, and go back into one. tools/figures_pages.py ran the
others, which are written as programs are: they make their own weights and train.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import nn

HERE = Path(__file__).resolve().parent
FIGURES = json.loads((HERE / "figures" / "network.json").read_text())
STATE = HERE / "figures" / "network.safetensors"
STEPS = len(FIGURES["losses"])
# A bias before batch normalisation has no effect: its gradient is mere rounding, which Adam makes
# a step of full length. It enters the running mean.
UNSEEN = ("features.0.bias", "features.1.running_mean")


def changed(name: str) -> dict[str, Any]:
    """Run a page with the imports changed, and nothing else; give its names."""
    text = (HERE / "pages" / f"{name}.txt").read_text()
    text = re.sub(r"^import torch$", "import tessella as torch", text, flags=re.MULTILINE)
    text = re.sub(r"^(import|from) torch\b", r"\1 tessella", text, flags=re.MULTILINE)
    names: dict[str, Any] = {}
    exec(text, names)
    return names


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """Run the page whose weights are in a file."""
    return changed("network")


def loaded(page: dict[str, Any]) -> nn.Module:
    """Give the network with PyTorch's weights."""
    model: nn.Module = page["Net"]()
    model.load_state_dict(ts.io.load_file(STATE))
    return model


def near(found: ts.Tensor, want: Any, tolerance: float = 2e-6) -> None:
    """Compare with figures; the tolerance is some roundings of float32."""
    np.testing.assert_allclose(found.detach().numpy(), want, rtol=20 * tolerance, atol=tolerance)


def test_the_state_has_the_keys_and_shapes_of_pytorch(page: dict[str, Any]) -> None:
    state = page["Net"]().state_dict()
    assert {name: list(x.shape) for name, x in state.items()} == FIGURES["shapes"]
    assert list(state) == list(FIGURES["shapes"])


def test_outputs_and_gradients_are_those_of_pytorch(page: dict[str, Any]) -> None:
    model = loaded(page)
    image, words, target = page["make_inputs"]()
    out = model(image, words)
    near(out, FIGURES["training_output"])
    nn.functional.cross_entropy(out, target).backward()
    for name, p in model.named_parameters():
        assert p.grad is not None, name
        near(p.grad, FIGURES["gradients"][name])
    near(model.state_dict()["features.1.running_mean"], FIGURES["running_mean"])


def test_evaluation_gives_what_pytorch_gave(page: dict[str, Any]) -> None:
    out, accuracy = page["evaluate"](loaded(page))
    near(out, FIGURES["output"])
    assert accuracy == FIGURES["accuracy"]


def test_training_takes_the_steps_of_pytorch(page: dict[str, Any]) -> None:
    model = loaded(page)
    losses = page["train"](model, STEPS)
    np.testing.assert_allclose(losses, FIGURES["losses"], rtol=1e-5)
    for name, x in model.state_dict().items():
        if name not in UNSEEN:
            near(x, FIGURES["trained"][name], 1e-5 if x.dtype.is_floating else 0)


def test_weights_go_back_into_a_file(page: dict[str, Any], tmp_path: Path) -> None:
    model = loaded(page)
    ts.io.save_file(model.state_dict(), tmp_path / "state.safetensors")
    want, found = ts.io.load_file(STATE), ts.io.load_file(tmp_path / "state.safetensors")
    assert set(found) == set(want)
    assert all(x.dtype is want[name].dtype and x.array_equal(want[name])
               for name, x in found.items())  # fmt: skip


# --- programs ------------------------------------------------------------------------------------

PROGRAMS = json.loads((HERE / "figures" / "pages.json").read_text())


def agree(found: dict[str, Any], want: dict[str, Any]) -> None:
    """Compare what two runs gave; the tolerance is roundings of float32 over some steps."""
    assert list(found) == list(want)
    for name, value in want.items():
        if isinstance(value, str | int):
            assert found[name] == value, name
        else:
            np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_pytorch_gives_its_figures(name: str) -> None:
    agree(changed(name)["run"](), PROGRAMS[name])


def test_attention_of_one_call_gives_the_same_figures() -> None:
    agree(changed("gpt")["run"](flash=True), PROGRAMS["gpt"])
