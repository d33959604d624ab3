"""Models from folders: logits that transformers gives, caches, padding, files that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from error_texts import told
from figures import figures_of
from model_files import CONFIGS, tokens, weight, write_config

FIGURES = {figure["name"]: figure for figure in figures_of("models")}
PADDING = (0, 3)


def state_of(name: str) -> dict[str, ts.Tensor]:
    """Give the tensors of a model by the names of its files."""
    shapes = FIGURES[name]["shapes"]
    return {key: ts.tensor(weight(key, shape)) for key, shape in shapes.items()}


def folder_of(path: Path, name: str, shards: int = 1) -> Path:
    """Write a model as a folder, in one file or in several."""
    write_config(path, CONFIGS[name])
    state = state_of(name)
    if shards == 1:
        ts.io.save_file(state, path / "model.safetensors")
        return path
    places: dict[str, str] = {}
    for i in range(shards):
        part = dict(list(state.items())[i::shards])
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        ts.io.save_file(part, path / file)
        places |= dict.fromkeys(part, file)
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return path


@pytest.fixture(params=CONFIGS)
def name(request: pytest.FixtureRequest) -> str:
    """Name each configuration."""
    found: str = request.param
    return found


# --- logits --------------------------------------------------------------------------------------


def test_logits_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    model = ts.models.load_folder(folder_of(tmp_path, name))
    logits = to_array(model(ts.tensor(tokens(1, 12))))[0]
    np.testing.assert_allclose(logits, FIGURES[name]["logits"], rtol=1e-4, atol=1e-4)


def test_rows_padded_on_the_left_have_the_logits_of_transformers(name: str, tmp_path: Path) -> None:
    model = ts.models.load_folder(folder_of(tmp_path, name))
    logits = to_array(model(ts.tensor(tokens(2, 12)), padding=ts.tensor(PADDING)))
    for row, n, want in zip(logits, PADDING, FIGURES[name]["padded"], strict=True):
        np.testing.assert_allclose(row[n:], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_shards_give_the_model_of_one_file(kind: str, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    x = ts.tensor(tokens(1, 12))
    one = ts.models.load_folder(folder_of(whole, kind))(x)
    assert (ts.models.load_folder(folder_of(parts, kind, shards=3))(x) == one).all()


def test_weights_stay_in_mapped_memory(tmp_path: Path) -> None:
    folder_of(tmp_path, "llama")
    with ts.memory.track() as tracked:
        model = ts.models.load_folder(tmp_path)
    size = sum(x.nbytes for x in model.parameters())
    assert tracked.peak < size / 8  # norms are made before they are replaced, weights are not


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float64], ids=str)
def test_weights_are_converted_if_asked(dtype: Any, tmp_path: Path) -> None:
    model = ts.models.load_folder(folder_of(tmp_path, "llama"), dtype)
    logits = model(ts.tensor(tokens(1, 12)))
    assert {x.dtype for x in model.parameters()} == {dtype}
    assert logits.dtype is dtype
    atol = 30 * float(ts.finfo(dtype).eps) + 1e-4  # rounded some ten times on the way
    np.testing.assert_allclose(
        to_array(logits.float())[0], FIGURES["llama"]["logits"], rtol=0.1, atol=10 * atol
    )


def test_tied_weights_are_one_tensor(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "tied"))
    assert model.lm_head.weight is model.embed_tokens.weight
    model(ts.tensor(tokens(1, 4))).sum().backward()
    assert len(list(model.parameters())) == len(FIGURES["tied"]["shapes"])


# --- caches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fixed", "growing"])
def test_logits_with_a_cache_are_those_without(name: str, kind: str, tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, name))
    x = ts.tensor(tokens(2, 12))
    cache = model.cache(16, 2)
    if kind == "growing":
        _, heads, _, features = cache.keys[0].shape
        cache = ts.models.GrowingCache(cache.layers, 2, heads, features)
    with ts.no_grad():
        want = model(x)
        found = [model(x[:, a:b], cache) for a, b in ((0, 5), (5, 6), (6, 7), (7, 10), (10, 12))]
    ts.testing.assert_close(ts.concat(found, axis=1), want, rtol=1e-5, atol=1e-5)


def test_logits_of_padded_rows_with_a_cache_are_those_without(name: str, tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, name))
    x, padding = ts.tensor(tokens(2, 12)), ts.tensor(PADDING)
    cache = model.cache(14, 2, padding=padding)
    with ts.no_grad():
        want = model(x, padding=padding)
        found = ts.concat([model(x[:, a:b], cache) for a, b in ((0, 7), (7, 8), (8, 12))], axis=1)
    for row, n in enumerate(PADDING):
        ts.testing.assert_close(found[row, n:], want[row, n:], rtol=1e-5, atol=1e-5)


def test_a_cache_of_halves_takes_half_the_memory(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x = ts.tensor(tokens(1, 12))
    half = model.cache(12, dtype=ts.float16)
    assert half.nbytes == model.cache(12).nbytes // 2
    with ts.no_grad():
        found = ts.concat([model(x[:, i : i + 1], half) for i in range(12)], axis=1)
        ts.testing.assert_close(found, model(x), rtol=1e-2, atol=1e-2)


def test_a_cache_lies_in_the_allocator_that_it_is_given() -> None:
    arena = ts.memory.Arena("1MB")
    cache = ts.models.KVCache(2, 1, 2, 32, 8, allocator=arena)
    assert arena.used >= cache.nbytes == 2 * 2 * 2 * 32 * 8 * 4


def test_a_cache_that_grows_may_be_of_halves(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x, config = ts.tensor(tokens(1, 12)), model.config
    half, whole = (
        ts.models.GrowingCache(
            config.num_hidden_layers, 1, config.kv_heads, config.features, dtype=dtype
        )
        for dtype in (ts.float16, None)
    )
    with ts.no_grad():
        found = ts.concat([model(x[:, i : i + 1], half) for i in range(12)], axis=1)
        ts.testing.assert_close(found, model(x, whole), rtol=1e-2, atol=1e-2)
    assert half.nbytes == whole.nbytes // 2
    with pytest.raises(ts.errors.TessellaError, match="GrowingCache: not defined for int64"):
        ts.models.GrowingCache(1, 1, 2, 4, dtype=ts.int64)


def test_a_cache_that_grows_keeps_no_gradients_and_says_so(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"), mmap=False)
    config, x = model.config, ts.tensor(tokens(1, 4))
    sizes = (config.num_hidden_layers, 1, config.kv_heads, config.features)
    cache = ts.models.GrowingCache(*sizes)
    with pytest.raises(ts.errors.IllegalState) as caught:
        model(x, cache)
    assert "GrowingCache.put: keys and values have gradients, which a cache" in str(caught.value)
    assert "inside ts.no_grad()" in caught.value.hint and cache.count == 0
    model.requires_grad_(False)
    assert model(x, cache).shape == (1, 4, config.vocab_size) and cache.count == 4


def test_truncated_caches_go_on_from_there(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x, cache = ts.tensor(tokens(1, 12)), model.cache(12)
    with ts.no_grad():
        model(x[:, :6], cache)
        other = model(x[:, 6:], cache)
        cache.truncate(6)
        assert (model(x[:, 6:], cache) == other).all()
    with pytest.raises(ts.errors.InvalidArgument, match=r"KVCache.truncate: length is 13"):
        cache.truncate(13)
    wrong: Any = "a"
    with pytest.raises(ts.errors.ArgumentError, match="length must be an integer, got str"):
        cache.truncate(wrong)


def test_a_call_that_fails_counts_for_nothing(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    cache = model.cache(4)
    with ts.no_grad(), pytest.raises(ts.errors.TessellaError):
        model(ts.tensor(tokens(1, 5)), cache)
    assert int(cache.length) == 0


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt2"])
def test_a_decoding_step_is_one_program(name: str, tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, name))
    x = ts.tensor(tokens(1, 12))
    cache, other = model.cache(12), model.cache(12)
    step = ts.compile(lambda token: model(token, cache))
    with ts.no_grad():
        for i in range(12):
            token = +x[:, i : i + 1]  # in memory of its own, as a sampler gives it
            assert (step(token) == model(token, other)).all()
    assert len(step.programs) == 1


# --- hooks, gradients, LoRA ----------------------------------------------------------------------


def test_activations_are_read_and_changed_by_hooks(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x = ts.tensor(tokens(1, 6))
    seen: list[ts.Tensor] = []
    handle = model.layers[0].mlp.register_forward_hook(lambda m, args, out: seen.append(out))
    plain = model(x)
    handle.remove()
    assert seen[0].shape == (1, 6, 32)
    model.layers[0].mlp.register_forward_hook(lambda m, args, out: out * 0)
    assert not (model(x) == plain).all()


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_gradients_reach_all_parameters(name: str, tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, name))
    logits = model(ts.tensor(tokens(2, 12)))
    ts.nn.functional.cross_entropy(
        logits.flatten(0, 1), ts.tensor(tokens(2, 12)).flatten()
    ).backward()
    for path, x in model.named_parameters():
        assert x.grad is not None and x.grad.any(), path


def test_lora_changes_nothing_at_first_and_learns(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x = ts.tensor(tokens(2, 12))
    plain = model(x)
    learned = ts.nn.add_lora(model, ["q_proj", "v_proj", "down_proj"], rank=4)
    assert (model(x) == plain).all()
    assert sum(p.requires_grad for p in model.parameters()) == len(learned) == 12
    optimizer = ts.optim.Adam(learned, lr=0.02)

    @ts.compile
    def step() -> ts.Tensor:
        optimizer.zero_grad()
        loss = ts.nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss

    losses = [float(step()) for _ in range(100)]
    assert losses[-1] < losses[0] / 4
    with ts.no_grad():
        before = model(x)
        ts.nn.merge_lora(model)
        ts.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-4)
    assert type(model.layers[0].self_attn.q_proj) is ts.nn.Linear


def test_mapped_weights_are_not_trained_and_what_to_do_is_told(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    model(ts.tensor(tokens(1, 4))).sum().backward()
    with pytest.raises(ts.errors.InvalidArgument, match=r"params\[0\] is read-only") as caught:
        ts.optim.SGD(model.parameters(), lr=0.1).step()
    assert "load_folder(path, mmap=False)" in caught.value.hint
    assert "nn.add_lora(model)" in caught.value.hint


# --- what does not fit ---------------------------------------------------------------------------


def change(folder: Path, **config: Any) -> None:
    """Change entries of config.json."""
    found = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**found, **config}))


def test_folders_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder_of(tmp_path, "llama")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"model_type": "mamba"}, "model_type is 'mamba'"),
        ({"hidden_size": 64}, r"embed_tokens.weight is \(40, 32\) in the file"),
        ({"num_hidden_layers": 3}, "no tensor 'layers.2.input_layernorm.weight'"),
        ({"num_hidden_layers": 1}, "tensors that no layer uses: layers.1"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "rope_type 'yarn'"),
        ({"rope_scaling": {"rope_type": "linear"}}, r"scaling\['factor'\] is None"),
        ({"rope_scaling": "linear"}, "rope_scaling is 'linear'"),
        ({"rope_scaling": [1]}, r"rope_scaling is \[1\]"),
        ({"rope_parameters": [1]}, r"rope_parameters is \[1\]"),
        ({"rope_parameters": {"full_attention": {}}}, "one object for all layers"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5"),
        ({"rope_theta": None}, "rope_theta is None"),
        ({"rope_theta": "x"}, "rope_theta is 'x'"),
        ({"rms_norm_eps": 0}, "rms_norm_eps is 0"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings is 'no'"),
        ({"num_key_value_heads": 3}, "num_attention_heads is 4, and num_key_value_heads 3"),
        ({"max_position_embeddings": 2**62}, r"it must be an integer, at most 2,147,483,647"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
        ({"quantization_config": {"bits": 4}}, "quantization_config is {'bits': 4}"),
    ]
    plain = (tmp_path / "config.json").read_text()
    for changed, message in cases:
        (tmp_path / "config.json").write_text(plain)
        change(tmp_path, **changed)
        with pytest.raises(ts.errors.TessellaError, match=message):
            ts.models.load_folder(tmp_path)
    (tmp_path / "config.json").write_text("[1")
    with pytest.raises(ts.errors.FormatError, match="is not a JSON object"):
        ts.models.load_folder(tmp_path)
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(ts.errors.FormatError, match="it holds list"):
        ts.models.load_folder(tmp_path)


@pytest.mark.parametrize(("entry", "value"), [
    ("scale_attn_weights", False), ("scale_attn_by_inverse_layer_idx", True),
    ("activation_function", "relu"), ("quantization_config", {"bits": 4}),
])  # fmt: skip
def test_entries_of_gpt_that_would_change_the_result_are_refused(entry: str, value: Any) -> None:
    with pytest.raises(ts.errors.FormatError, match=f"{entry} is "):
        ts.models.GPTConfig.from_dict({entry: value})


def test_heads_that_are_no_equal_parts_are_refused(tmp_path: Path) -> None:
    folder_of(tmp_path, "gpt2")
    change(tmp_path, n_head=5)
    with pytest.raises(ts.errors.FormatError, match="n_embd is 32, and n_head 5"):
        ts.models.load_folder(tmp_path)


def test_names_of_our_own_are_not_taken_from_config_json() -> None:
    llama = ts.models.LlamaConfig.from_dict({"interleaved": True, "output_bias": True})
    assert not llama.interleaved and not llama.output_bias
    assert ts.models.GPTConfig.from_dict({"dropout": 0.5}).dropout == 0


def test_gpt_may_have_a_head_of_its_own(tmp_path: Path) -> None:
    folder_of(tmp_path, "gpt2")
    head = ts.tensor(weight("head", (40, 32)))
    ts.io.save_file({**state_of("gpt2"), "lm_head.weight": head}, tmp_path / "model.safetensors")
    tied: Any = ts.models.load_folder(tmp_path)
    assert tied.lm_head.weight is tied.wte.weight
    change(tmp_path, tie_word_embeddings=False)
    model, x = ts.models.load_folder(tmp_path), ts.tensor(tokens(1, 12))
    seen: list[ts.Tensor] = []
    tied.ln_f.register_forward_hook(lambda m, args, out: seen.append(out))
    with ts.no_grad():
        tied(x)
        ts.testing.assert_close(model(x), seen[0] @ head.mT, rtol=1e-4, atol=1e-5)


def test_rope_scaling_and_rope_parameters_are_one_thing() -> None:
    read = ts.models.LlamaConfig.from_dict
    linear = {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5}
    for name in ("rope_scaling", "rope_parameters"):
        found = read({"model_type": "llama", name: linear})
        assert found.rope_theta == 5e5 and found.rope_scaling == linear
        with pytest.raises(ts.errors.FormatError, match=r"partial_rotary_factor is 0\.5"):
            read({"model_type": "llama", name: {**linear, "partial_rotary_factor": 0.5}})
    assert read({"model_type": "llama", "attention_bias": None}).attention_bias is False


QWEN = {"model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 8}
FULL, SLIDING = "full_attention", "sliding_attention"


@pytest.mark.parametrize(("entries", "window"), [
    ({"model_type": "llama"}, None),  # which has none
    ({"use_sliding_window": False}, None),
    ({"use_sliding_window": True}, None),  # from layer 28 on
    ({"use_sliding_window": True, "max_window_layers": 0}, 8),
    ({"use_sliding_window": True, "max_window_layers": 4}, None),
    ({"use_sliding_window": True, "layer_types": [SLIDING] * 4}, 8),
    ({"use_sliding_window": True, "layer_types": [FULL] * 4, "max_window_layers": 0}, None),
    ({"use_sliding_window": True, "max_window_layers": 2, "sliding_window": None}, None),
    ({"model_type": "mistral", "layer_types": [FULL] * 4}, None),
    ({"model_type": "mistral"}, 8),
], ids=str)  # fmt: skip
def test_windows_are_those_that_all_layers_have(entries: dict[str, Any], window: Any) -> None:
    assert ts.models.LlamaConfig.from_dict({**QWEN, **entries}).sliding_window == window


@pytest.mark.parametrize(("entries", "message"), [
    ({"max_window_layers": 2}, "by max_window_layers, 2, some layers have a window"),
    ({"layer_types": [SLIDING]}, r"layer_types is \['sliding_attention'\]"),
    ({"layer_types": [FULL, SLIDING] * 2}, "by layer_types, .* some layers have a window"),
    ({"layer_types": ["linear_attention"]}, r"layer_types is \['linear_attention'\]"),
    ({"layer_types": [[]]}, r"layer_types is \[\[\]\]"),
    ({"max_window_layers": "two"}, "max_window_layers is 'two'"),
], ids=str)  # fmt: skip
def test_layers_with_windows_that_differ_are_refused(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(ts.errors.FormatError, match=message):
        ts.models.LlamaConfig.from_dict({**QWEN, "use_sliding_window": True, **entries})


def test_shards_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder_of(tmp_path, "llama", shards=2)
    index = tmp_path / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    cases = [
        ({}, "has no weight_map"),
        ({"weight_map": {**places, "x": "../outside.safetensors"}}, "weight_map names '../outside"),
        ({"weight_map": {**places, "x": next(iter(places.values()))}}, "has no tensor 'x'"),
    ]
    for changed, message in cases:
        index.write_text(json.dumps(changed))
        with pytest.raises(ts.errors.FormatError, match=message):
            ts.models.load_folder(tmp_path)


def test_operands_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model: Any = ts.models.load_folder(folder_of(tmp_path, "llama"))
    x = ts.tensor(tokens(2, 4))
    errors = ts.errors
    with pytest.raises(errors.ShapeError, match=r"tokens is float32 \(2, 4\)"):
        model(x.float())
    with pytest.raises(errors.ShapeError, match="tokens has 2 rows, and the cache 1"):
        model(x, model.cache(4))
    with pytest.raises(errors.InvalidArgument, match="padding is given beside a cache"):
        model(x, model.cache(4, 2), padding=ts.tensor([0, 1]))
    for padding in (ts.tensor([0]), ts.tensor([0.0, 1.0])):
        with pytest.raises(errors.ShapeError, match="padding is"):
            model(x, padding=padding)
        with pytest.raises(errors.ShapeError, match="padding is"):
            model.cache(4, 2, padding=padding)
    with pytest.raises(errors.TessellaError, match="not defined for int64"):
        model.cache(4, dtype=ts.int64)


@pytest.mark.parametrize(("call", "message"), [
    (lambda m, x: m([[1, 2]]), "GPT: tokens must be a tensor, got list"),
    (lambda m, x: m(x[:, :0]), "GPT: tokens is int64 (2, 0)"),
    (lambda m, x: m(x, 5), "GPT: cache must be a KVCache or a GrowingCache, got int"),
    (lambda m, x: m(x, padding=[1]), "GPT: padding must be a tensor, got list"),
    (lambda m, x: m(x, padding=ts.tensor([0, -1])), "GPT: padding[1] is -1"),
    (lambda m, x: m(x, padding=ts.tensor([5, 0])), "GPT: padding[0] is 5"),
    (lambda m, x: m.cache(4, 2, padding=ts.tensor([5, 0])), "KVCache: padding[0] is 5"),
    (lambda m, x: ts.models.GrowingCache(1, 2, 4, 8, padding=ts.tensor([0, -5])),
     "GrowingCache: padding[1] is -5"),
    (lambda m, x: m.cache("a"), "GPT.cache: capacity must be an integer, got str"),
    (lambda m, x: m.cache(65), "GPT.cache: there are to be 65 places, and the model has 64"),
    (lambda m, x: m(x, ts.models.KVCache(1, 2, 4, 4, 8)),
     "the cache has 1 layers, and the model has a layer 1"),
    (lambda m, x: m(x, m.cache(3, 2)), "the cache has 0 of 3 places taken, and 4 more come"),
    (lambda m, x: m(ts.zeros(2, 65, dtype=ts.int64)),
     "to be 65 places, and the model has 64 (n_positions)"),
    (lambda m, x: m(x, ts.models.KVCache(2, 2, 4, 65, 8)), "to be 65 places, and the model has 64"),
])  # fmt: skip
def test_arguments_that_a_model_does_not_take_are_named(call: Any, message: str) -> None:
    config = ts.models.GPTConfig(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=4)
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(ts.models.GPT(config), ts.tensor(tokens(2, 4)) % 50)
    assert message in told(caught.value) and "  at test_models.py:" in str(caught.value)


def test_padding_may_be_compiled_and_hides_places_beyond_those_learned() -> None:
    model = ts.models.GPT(ts.models.GPTConfig(vocab_size=9, n_positions=4, n_embd=8, n_head=2))
    x, padding = ts.tensor([[0, 0, 1, 2, 3, 4]]), ts.tensor([2])
    with ts.no_grad():
        found = ts.compile(lambda x, padding: model(x, padding=padding))(x, padding)
        ts.testing.assert_close(found[:, 2:], model(x[:, 2:]), rtol=1e-5, atol=1e-5)
