"""What is told where no model lies, or one that cannot be made: texts, and who was called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from error_texts import told
from model_files import CONFIGS, write_config
from tessella import nn
from tessella.models import GPT, GPTConfig, Llama, LlamaConfig
from tessella.nn import functional as F

models: Any = ts.models
A_MODEL = "hint: a model is a folder with config.json and safetensors, or a GGUF file"
GPT_SIZES: dict[str, Any] = {"vocab_size": 8, "n_embd": 32, "n_layer": 1, "n_head": 2}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder of things that are no models."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    write_config(tmp_path / "half", CONFIGS["gpt2"])
    (tmp_path / "a.py").write_text("x = 1")
    return tmp_path


def refused(call: Callable[[], Any], kind: type[Exception]) -> str:
    """Give the text of an error, without the line of this file, which must be in it."""
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert "\n  at test_model_errors.py:" in str(caught.value)
    return told(caught.value)


@pytest.mark.parametrize(("call", "who"), [
    (models.load, "load"), (models.estimate, "estimate"),
    (models.load_folder, "load_folder"), (models.load_gguf, "load_gguf"),
])  # fmt: skip
def test_paths_at_which_nothing_lies(call: Any, who: str) -> None:
    text = refused(lambda: call("nothing"), FileNotFoundError)
    assert text == f"models.{who}: there is no nothing\n  {A_MODEL}"
    text = refused(lambda: call(5), TypeError)
    assert text == f"models.{who}: path must be a path, got int\n  hint: path=5 was given"
    assert f"models.{who}: path is " in refused(lambda: call("a\0b"), ValueError)


@pytest.mark.parametrize(("call", "who"), [
    (models.load, "load"), (models.estimate, "estimate"), (models.load_folder, "load_folder"),
])  # fmt: skip
def test_folders_that_are_not_whole(call: Any, who: str, here: Path) -> None:
    text = refused(lambda: call("empty"), FileNotFoundError)
    assert text == f"models.{who}: the folder empty has no config.json\n  {A_MODEL}"
    text = refused(lambda: call("half"), FileNotFoundError)
    assert text == (
        f"models.{who}: the folder half has no weights\n  hint: they lie in model.safetensors, or "
        "in shards that model.safetensors.index.json names"
    )
    index = here / "half" / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"x": "first.safetensors"}}')
    text = refused(lambda: call("half"), FileNotFoundError)
    assert text == f"models.{who}: the folder half has no first.safetensors\n  {A_MODEL}"


def test_folders_without_a_tokenizer() -> None:
    text = refused(lambda: ts.text.Tokenizer.from_file("half"), FileNotFoundError)
    assert text == (
        "Tokenizer.from_file: the folder half has no tokenizer.json\n"
        "  hint: it is published beside the model: copy it there; other forms are not read"
    )


def test_files_and_folders_that_are_mistaken_for_each_other() -> None:
    text = refused(lambda: models.load_gguf("empty"), ValueError)
    assert text.startswith("models.load_gguf: empty is a folder\n  hint: load_folder reads")
    text = refused(lambda: models.load_folder("a.py"), ValueError)
    assert text.startswith("models.load_folder: a.py is a file\n  hint: give the folder")
    for who in ("load", "load_gguf", "estimate"):
        text = refused(lambda: getattr(models, who)("a.py"), ValueError)  # noqa: B023 - called here
        assert text == f"models.{who}: a.py begins with b'x = ', not with b'GGUF'\n  {A_MODEL}"


def changed(context: int) -> str:
    """Write a model that says that it has such a context."""
    models.save_gguf(GPT(GPTConfig(n_positions=8, **GPT_SIZES)), "whole.gguf")
    file = ts.io.open_gguf("whole.gguf")
    tensors = {name: file.get_tensor(name) for name in file.tensors}
    if context == 1:
        tensors["position_embd.weight"] = tensors["position_embd.weight"][:1]
    said = {**file.metadata, "gpt2.context_length": context}
    types = {**file.types, "gpt2.context_length": "uint64"}
    ts.io.save_gguf(tensors, "changed.gguf", said, types)
    return "changed.gguf"


@pytest.mark.parametrize("who", ["load", "estimate"])
def test_contexts_that_are_none(who: str) -> None:
    call = getattr(models, who)
    text = refused(lambda: call(changed(1)), ValueError)
    assert text == (
        f"models.{who}: the model has a context of 1\n"
        "  hint: to write, it needs 2 at least: a token of the prompt, and one behind it"
    )
    text = refused(lambda: call(changed(2**62)), ValueError)
    assert text == (
        f"models.{who}: gpt2.context_length is {2**62}\n"
        "  hint: it must be an integer, at most 2,147,483,647"
    )
    text = refused(lambda: call(changed(8), 1), ValueError)
    assert text.startswith(f"models.{who}: context is 1\n  hint: it must be from 2 to 8")


def test_configurations_that_are_none() -> None:
    text = refused(lambda: Llama({}), TypeError)  # type: ignore[arg-type]
    assert text == "Llama: config must be a LlamaConfig, got dict\n  hint: config={} was given"
    text = refused(lambda: GPT({}), TypeError)  # type: ignore[arg-type]
    assert text == "GPT: config must be a GPTConfig, got dict\n  hint: config={} was given"


def test_calls_name_the_model() -> None:
    sizes: dict[str, Any] = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    llama: Any = Llama(LlamaConfig(vocab_size=8, num_hidden_layers=1, **sizes))
    for model, name in ((llama, "Llama"), (GPT(GPTConfig(**GPT_SIZES)), "GPT")):
        text = refused(lambda: model([1]), TypeError)  # type: ignore[arg-type]  # noqa: B023 - called here
        assert text.startswith(f"{name}: tokens must be a tensor, got list")
        text = refused(lambda: model(ts.ones(1, 2)), ValueError)  # noqa: B023
        assert text.startswith(f"{name}: tokens is float32 (1, 2)")


def test_dtypes_in_which_no_model_computes() -> None:
    text = refused(lambda: models.load_folder("half", ts.int32), ValueError)
    assert text.startswith(
        "models.load_folder: dtype is int32\n  hint: weights of models are float"
    )


@pytest.mark.parametrize(("call", "text"), [
    (lambda: nn.RotaryEmbedding(7), "features is 7"),
    (lambda: nn.RotaryEmbedding(8, "x"), "base must be a real number, got str"),  # type: ignore[arg-type]
    (lambda: nn.RotaryEmbedding(8, float("nan")), "base is nan"),
    (lambda: nn.RotaryEmbedding(8, scaling="linear"), "scaling must be a dict"),  # type: ignore[arg-type]
    (lambda: nn.RotaryEmbedding(4, scaling={"rope_type": "factors", "factors": ["a", 1]}),
     "scaling['factors'] is ['a', 1]\n  hint: it must be a list of 2 numbers above 0"),
    (lambda: nn.RotaryEmbedding(4, scaling={"rope_type": "factors", "factors": [0, 1]}),
     "scaling['factors'] is [0, 1]"),
    (lambda: nn.RotaryEmbedding(4, scaling={"rope_type": "linear", "factor": 10**400}),
     "scaling['factor'] is "),
    (lambda: nn.RotaryEmbedding(8)([1, 2]), "places must be a tensor, got list"),  # type: ignore[arg-type]
])  # fmt: skip
def test_rotary_embeddings_say_what_they_take(call: Any, text: str) -> None:
    assert refused(call, Exception).startswith(f"RotaryEmbedding: {text}")


def test_attention_says_what_it_takes() -> None:
    x, k = ts.ones(1, 4, 3, 8), ts.ones(1, 2, 3, 8)
    mask = ts.ones(3, 3, dtype=ts.int32)
    attend = F.scaled_dot_product_attention
    assert "hint: it must be bool or float32: mask" in refused(
        lambda: attend(x, x, x, mask), TypeError
    )
    half = x.to(ts.float16)
    text = refused(lambda: attend(half, half, half, mask), TypeError)
    assert "hint: it must be bool, float32 or, as query, float16: mask != 0" in text
    assert "with enable_gqa=True" in refused(lambda: attend(x, k, k), ValueError)
    for other in (ts.ones(1, 3, 3, 8), ts.ones(3, 4, 3, 8)):
        pair = ts.ones(2, 4, 3, 8) if other.shape[0] > 1 else x
        assert "enable_gqa" not in refused(lambda: attend(pair, other, other), ValueError)  # noqa: B023
