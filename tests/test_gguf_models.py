"""Models in GGUF files: what was saved, quantised or not, hooks, LoRA on blocks, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import tessella as ts
from model_files import LLAMA3, tokens
from tessella.models import GPT, GPTConfig, Llama, LlamaConfig, Sampler, generate
from tessella.nn import functional as F

SIZES: dict[str, Any] = {
    "vocab_size": 40, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
FORMATS = ["q8_0", "q4_0"]


def llama(**options: Any) -> Llama:
    """Make a small model."""
    ts.manual_seed(1)
    return Llama(LlamaConfig(**{**SIZES, **options}))


def gpt(**options: Any) -> GPT:
    """Make a small model of the other kind."""
    ts.manual_seed(1)
    return GPT(GPTConfig(vocab_size=40, n_positions=64, n_embd=64, n_layer=2, n_head=4, **options))


def head_of_its_own() -> Llama:
    """Make a model that was tied, whose head has learned since."""
    model: Any = llama(tie_word_embeddings=True)
    ts.nn.add_lora(model, ["lm_head"], 2)
    with ts.no_grad():
        ts.nn.init.normal_(model.lm_head.lora_b)
    ts.nn.merge_lora(model)
    return cast(Llama, model)


MODELS: dict[str, Any] = {
    "llama": llama,
    "tied": lambda: llama(tie_word_embeddings=True),
    "multi-query": lambda: llama(num_key_value_heads=1, rope_theta=5e5),
    "wide heads": lambda: llama(head_dim=32),
    "window": lambda: llama(sliding_window=5),
    "qwen2": lambda: llama(attention_bias=True),
    "side by side": lambda: llama(interleaved=True),
    "linear": lambda: llama(rope_scaling={"rope_type": "linear", "factor": 4.0}),
    "llama3": lambda: llama(rope_scaling=LLAMA3),
    "factors": lambda: llama(rope_scaling={"rope_type": "factors", "factors": [1.5, 2.0] * 4}),
    "qwen2, llama3": lambda: llama(attention_bias=True, rope_scaling=LLAMA3),
    "biases side by side": lambda: llama(attention_bias=True, interleaved=True),
    "all biases": lambda: llama(attention_bias=True, output_bias=True, mlp_bias=True),
    "biases of two": lambda: llama(attention_bias=True, mlp_bias=True),
    "bias of outputs": lambda: llama(output_bias=True),
    "biases of layers": lambda: llama(mlp_bias=True),
    "head of its own": head_of_its_own,
    "gpt": gpt,
    "untied gpt": lambda: gpt(tie_word_embeddings=False, n_inner=96, layer_norm_epsilon=1e-3),
}


def drawn(model: Any) -> Any:
    """Draw biases as well, which begin as zeros where nothing would show that they are lost."""
    with ts.no_grad():
        for name, x in model.named_parameters():
            if name.endswith("bias"):
                ts.nn.init.normal_(x)
    return model


def saved(model: Any, path: Path, format: str | None = None, **said: Any) -> Any:
    """Save a model and load it again."""
    ts.models.save_gguf(model, path / "model.gguf", said, format=format)
    return ts.models.load_gguf(path / "model.gguf")


@ts.no_grad()
def dequantized(model: Any) -> Any:
    """Put float32 layers in the place of quantised ones."""
    for path, part in list(model.named_modules()):
        owner, _, name = path.rpartition(".")
        if isinstance(part, ts.nn.QuantizedLinear | ts.nn.QuantizedEmbedding):
            weight = F.dequantize(part.weight, part.format)
            made = (
                ts.nn.Linear.from_weight(weight, part.bias)
                if isinstance(part, ts.nn.QuantizedLinear)
                else ts.nn.Embedding.from_pretrained(weight)
            )
            setattr(model.get_submodule(owner) if owner else model, name, made)
    return model


@ts.no_grad()
def quantized(model: Any) -> Any:
    """Put blocks in the place of products inside of layers."""
    for path, part in list(model.named_modules()):
        owner, _, name = path.rpartition(".")
        if isinstance(part, ts.nn.Linear) and name != "lm_head":
            blocks = F.quantize(part.weight, "q8_0")
            made = ts.nn.QuantizedLinear.from_blocks(blocks, "q8_0", part.bias)
            setattr(model.get_submodule(owner), name, made)
    return model


# --- logits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_floats_are_what_they_were(kind: str, tmp_path: Path) -> None:
    model, x = drawn(MODELS[kind]()), ts.tensor(tokens(2, 12))
    with ts.no_grad():
        ts.testing.assert_close(saved(model, tmp_path)(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", MODELS)
def test_products_on_blocks_are_near_those_with_their_numbers(
    kind: str, format: str, tmp_path: Path
) -> None:
    model = saved(MODELS[kind](), tmp_path, format)
    x = ts.tensor(tokens(2, 12))
    with ts.no_grad():
        found = model(x)
        want = dequantized(model)(x)
    assert not any(isinstance(part, ts.nn.QuantizedLinear) for part in model.modules())
    error = float((found - want).abs().max()) / float(want.std())
    assert 0 < error < 0.05  # activations have 8 bits on the way


@pytest.mark.parametrize("kind", ["llama", "tied", "gpt"])
def test_quantised_models_give_the_tokens_of_decoding_without_a_cache(
    kind: str, tmp_path: Path
) -> None:
    model = saved(MODELS[kind](), tmp_path, "q8_0")
    row = [1, 2, 3]
    with ts.no_grad():
        for _ in range(8):
            row.append(int(model(ts.tensor([row]))[0, -1].argmax()))
    assert generate(model, [[1, 2, 3]], 8, Sampler(0)) == [row[3:]]


def test_logits_of_quantised_models_do_not_depend_on_how_many_places_go_together(
    tmp_path: Path,
) -> None:
    model = saved(llama(), tmp_path, "q4_0")
    x, cache = ts.tensor(tokens(1, 12)), model.cache(12)
    with ts.no_grad():
        parts = [model(x[:, a:b], cache) for a, b in ((0, 5), (5, 6), (6, 12))]
        ts.testing.assert_close(ts.concat(parts, axis=1), model(x), rtol=1e-5, atol=1e-5)


def test_weights_stay_in_mapped_memory(tmp_path: Path) -> None:
    ts.models.save_gguf(llama(), tmp_path / "model.gguf", format="q8_0")
    with ts.memory.track() as tracked:
        model = ts.models.load_gguf(tmp_path / "model.gguf")
    size = sum(x.nbytes for x in (*model.parameters(), *model.buffers()))
    assert tracked.peak < size / 8


def test_saved_again_blocks_are_the_same(tmp_path: Path) -> None:
    first = saved(llama(), tmp_path, "q4_0")
    ts.models.save_gguf(first, tmp_path / "again.gguf")
    again: Any = ts.models.load_gguf(tmp_path / "again.gguf")
    for (name, x), (other, y) in zip(
        first.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert name == other and (x == y).all(), name


@pytest.mark.parametrize("kind", MODELS)
def test_blocks_made_before_saving_are_what_they_were(kind: str, tmp_path: Path) -> None:
    model = quantized(drawn(MODELS[kind]()))
    again, x = saved(model, tmp_path), ts.tensor(tokens(2, 12))
    # Files have the parts of heads in another order, and so sums of them: a last bit may send an
    # activation to the other one of two of its 255 steps, but hardly for every text.
    agree = []
    with ts.no_grad():
        for texts in (x, x.flip(axis=1), x.flip(axis=0)[:, 1:]):
            found, wanted = again(texts), model(texts)
            ts.testing.assert_close(found, wanted, rtol=1e-4, atol=3e-3)
            agree.append(ts.allclose(found, wanted, rtol=1e-4, atol=1e-5))
    assert sum(map(bool, agree)) >= 2
    assert any(isinstance(part, ts.nn.QuantizedLinear) for part in again.modules())


@pytest.mark.parametrize("format", [None, "q8_0"])
@pytest.mark.parametrize("kind", ["tied", "gpt"])
def test_tied_heads_are_not_written(kind: str, format: str | None, tmp_path: Path) -> None:
    ts.models.save_gguf(saved(MODELS[kind](), tmp_path, format), tmp_path / "again.gguf")
    assert "output.weight" not in ts.io.open_gguf(tmp_path / "again.gguf").tensors


def test_factors_of_frequencies_are_read(tmp_path: Path) -> None:
    model = llama(rope_scaling={"rope_type": "linear", "factor": 2.0})
    path = tmp_path / "model.gguf"
    ts.models.save_gguf(llama(), path)
    file = ts.io.open_gguf(path)
    tensors = {name: file.get_tensor(name) for name in file.tensors}
    said = {**file.metadata, "llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 2.0}
    x = ts.tensor(tokens(1, 12))
    linear, factors = tmp_path / "linear.gguf", tmp_path / "factors.gguf"
    ts.io.save_gguf(tensors, linear, said)
    ts.io.save_gguf({**tensors, "rope_freqs.weight": ts.full((8,), 2.0)}, factors, file.metadata)
    both = tmp_path / "both.gguf"
    said["llama.rope.scaling.factor"] = 0.5
    ts.io.save_gguf({**tensors, "rope_freqs.weight": ts.full((8,), 4.0)}, both, said)
    with ts.no_grad():
        for each in (linear, factors, both):
            ts.testing.assert_close(ts.models.load_gguf(each)(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("said", [
    {"rope.scaling.type": "linear", "rope.scaling.factor": 0.0}, {"rope.scaling.type": "none"},
    {"rope.scale_linear": 0.0}, {"attention.sliding_window": 0}, {"expert_count": 0},
], ids=str)  # fmt: skip
def test_zeros_say_that_there_is_nothing(said: dict[str, Any], tmp_path: Path) -> None:
    path = changed(tmp_path, {f"llama.{key}": value for key, value in said.items()})
    config: Any = ts.models.load_gguf(path).config
    assert config.rope_scaling is None and config.sliding_window is None


def test_fractions_are_written_as_such_and_factors_are_exact(tmp_path: Path) -> None:
    model = llama(rope_theta=100000, rope_scaling={"type": "linear", "factor": 2})
    ts.models.save_gguf(model, tmp_path / "linear.gguf")
    types = ts.io.open_gguf(tmp_path / "linear.gguf").types
    names = ["rope.freq_base", "rope.scaling.factor", "attention.layer_norm_rms_epsilon"]
    assert [types[f"llama.{name}"] for name in names] == ["float32"] * 3
    kept = [llama(rope_scaling=LLAMA3) for _ in range(2)]
    kept[1].to(ts.float16)
    assert kept[1].rotary.frequencies.dtype is ts.float64  # halves would turn places elsewhere
    for name, each in zip(["wide.gguf", "half.gguf"], kept, strict=True):
        ts.models.save_gguf(each, tmp_path / name)
    found = [ts.io.open_gguf(tmp_path / name) for name in ("wide.gguf", "half.gguf")]
    factors = [file.get_tensor("rope_freqs.weight").tolist() for file in found]
    assert factors[0] == factors[1]


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_halves_compute_in_float32(dtype: Any, tmp_path: Path) -> None:
    model, x = llama(), ts.tensor(tokens(1, 12))
    ts.models.save_gguf(model, tmp_path / "whole.gguf")
    file = ts.io.open_gguf(tmp_path / "whole.gguf")
    tensors = {name: file.get_tensor(name) for name in file.tensors}
    halves = {n: y.to(dtype) if y.ndim == 2 else y for n, y in tensors.items()}
    ts.io.save_gguf(halves, tmp_path / "half.gguf", file.metadata)
    with ts.no_grad():
        found = ts.models.load_gguf(tmp_path / "half.gguf")(x)
        want = model(x)
    assert found.dtype is ts.float32
    assert float((found - want).abs().max()) < 20 * float(ts.finfo(dtype).eps)


# --- hooks, LoRA ---------------------------------------------------------------------------------


def test_activations_of_quantised_models_are_read_and_changed(tmp_path: Path) -> None:
    model = saved(llama(), tmp_path, "q8_0")
    x, seen = ts.tensor(tokens(1, 6)), []
    layer = model.layers[0].mlp.up_proj
    handle = layer.register_forward_hook(lambda m, args, out: seen.append(out))
    with ts.no_grad():
        plain = model(x)
        handle.remove()
        layer.register_forward_hook(lambda m, args, out: out * 0)
        assert seen[0].shape == (1, 6, 96)
        assert not (model(x) == plain).all()


def test_lora_on_blocks_learns_ten_sentences(tmp_path: Path) -> None:
    """Ten sentences of twelve tokens, told apart by their first two."""
    model = saved(llama(), tmp_path, "q4_0")
    rng = np.random.RandomState(0)
    rows = rng.randint(0, 40, (10, 12))
    rows[:, 0], rows[:, 1] = np.arange(10), 39 - np.arange(10)
    x = ts.tensor(rows)
    blocks = {name: +y for name, y in model.named_buffers() if y.dtype is ts.uint8}
    learned = ts.nn.add_lora(model, ["q_proj", "v_proj", "up_proj", "down_proj", "lm_head"], 16)
    optimizer = ts.optim.Adam(learned, lr=0.01)

    @ts.compile
    def step() -> ts.Tensor:
        optimizer.zero_grad()
        logits = model(x[:, :-1])[:, 1:]
        loss = F.cross_entropy(logits.flatten(0, 1), x[:, 2:].flatten())
        loss.backward()
        optimizer.step()
        return loss

    losses = [float(step()) for _ in range(250)]
    assert losses[-1] < 0.05 < 3 < losses[0]
    assert generate(model, rows[:, :2].tolist(), 10, Sampler(0)) == rows[:, 2:].tolist()
    for name, y in model.named_buffers():
        if y.dtype is ts.uint8:
            assert (y == blocks[name.replace(".layer.", ".")]).all()
    with pytest.raises(ts.errors.InvalidArgument, match="QuantizedLinear are quantised"):
        ts.nn.merge_lora(model)


# --- what does not fit ---------------------------------------------------------------------------


def changed(path: Path, said: dict[str, Any], **tensors: Any) -> Path:
    """Write a small model with other metadata and tensors; None takes something out."""
    ts.models.save_gguf(llama(), path / "whole.gguf")
    file = ts.io.open_gguf(path / "whole.gguf")
    stored: dict[str, Any] = {name: file.get_tensor(name) for name in file.tensors}
    stored |= {name.replace("__", "."): x for name, x in tensors.items()}
    metadata = {key: value for key, value in {**file.metadata, **said}.items() if value is not None}
    kept = {name: x for name, x in stored.items() if x is not None}
    ts.io.save_gguf(kept, path / "changed.gguf", metadata)
    return path / "changed.gguf"


@pytest.mark.parametrize(("said", "tensors", "message"), [
    ({"general.architecture": "mamba"}, {}, "general.architecture is 'mamba'"),
    ({"general.architecture": None}, {}, "general.architecture is None"),
    ({"general.architecture": ["llama"]}, {}, r"general.architecture is \['llama'\]"),
    ({"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": -2.0}, {},
     "llama.rope.scaling.factor is -2"),
    ({"llama.rope.scaling.type": "yarn"}, {}, "llama.rope.scaling.type is 'yarn'"),
    ({"llama.rope.scaling.type": "linear"}, {}, "llama.rope.scaling.factor is missing"),
    ({"llama.rope.dimension_count": 8}, {}, r"dimension_count is 8\n(.*\n)*.*where it is 16"),
    ({"llama.attention.value_length": 8}, {}, "llama.attention.value_length is 8"),
    ({"llama.expert_count": 8}, {}, "llama.expert_count is 8"),
    ({"llama.attention.head_count": [4, 4]}, {},
     r"llama.attention.head_count is \[4, 4\]\n(.*\n)*.*one number, for all layers"),
    ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, {},
     "llama.attention.layer_norm_rms_epsilon is nan"),
    ({"llama.attention.layer_norm_rms_epsilon": 0.0}, {}, "layer_norm_rms_epsilon is 0"),
    ({"llama.rope.freq_base": -1.0}, {}, "llama.rope.freq_base is -1"),
    ({"llama.block_count": None}, {}, "llama.block_count is missing"),
    ({"llama.block_count": "two"}, {}, "llama.block_count is 'two'"),
    ({"llama.attention.head_count": 0}, {}, "llama.attention.head_count is 0"),
    ({"llama.attention.head_count_kv": 0}, {}, "llama.attention.head_count_kv is 0"),
    ({"llama.block_count": 3}, {}, "no tensor 'blk.2.attn_norm.weight'"),
    ({"llama.block_count": 1}, {},
     r"tensors that no layer uses: blk.1(.*\n)*.*is the metadata of the file complete"),
    ({"llama.embedding_length": 32, "llama.attention.key_length": None,
      "llama.attention.value_length": None, "llama.rope.dimension_count": None}, {},
     r"token_embd.weight is \(40, 64\) in the file(.*\n)*.*by the metadata of the file it is"),
    ({}, {"blk__0__attn_norm__weight": ts.ones(64, dtype=ts.int8)},
     "blk.0.attn_norm.weight is int8"),
    ({}, {"blk__0__attn_norm__weight": None}, "no tensor 'blk.0.attn_norm.weight'"),
    ({}, {"blk__0__attn_norm__weight": ts.ones(3)}, r"attn_norm.weight is \(3,\)"),
    ({}, {"output_norm__weight": (F.quantize(ts.ones(64), "q8_0"), "q8_0")},
     "output_norm.weight is quantised, as q8_0"),
    ({}, {"rope_freqs__weight": ts.ones(3)}, r"scaling\['factors'\] is \[1.0, 1.0, 1.0\]"),
    ({}, {"rope_freqs__weight": ts.ones(4, 2)}, r"rope_freqs.weight is .*float32 \(4, 2\)"),
    ({}, {"rope_freqs__weight": ts.ones(8, dtype=ts.int8)}, r"rope_freqs.weight is .*int8 \(8,\)"),
    ({}, {"more": ts.ones(3)}, "tensors that no layer uses: more"),
], ids=str)  # fmt: skip
def test_files_that_do_not_fit_are_refused(
    said: dict[str, Any], tensors: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ts.errors.TessellaError, match=message):
        ts.models.load_gguf(changed(tmp_path, said, **tensors))


def test_models_that_files_have_no_place_for_are_refused(tmp_path: Path) -> None:
    model = llama()
    ts.nn.add_lora(model, ["q_proj"])
    message = r"models.save_gguf: layers.0.self_attn.q_proj is a LoRA\n(.*\n)*.*nn.merge_lora"
    with pytest.raises(ts.errors.InvalidArgument, match=message):
        ts.models.save_gguf(model, tmp_path / "model.gguf")
    other: Any = llama()
    other.lm_head = ts.nn.Linear(64, 40)
    with pytest.raises(ts.errors.InvalidArgument, match=r"have no name for lm_head\.bias"):
        ts.models.save_gguf(other, tmp_path / "model.gguf")
    other = gpt()
    other.more = ts.nn.Linear(2, 2)
    with pytest.raises(ts.errors.InvalidArgument, match=r"have no name for more\.weight"):
        ts.models.save_gguf(other, tmp_path / "model.gguf")
    with pytest.raises(ts.errors.ArgumentError, match="save_gguf: model must be a model of"):
        ts.models.save_gguf(cast(Any, ts.nn.Linear(2, 2)), tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()
