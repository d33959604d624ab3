"""Estimates of memory: beside the account of real models, of files too large to load, as limits.

Weights and cache are exact. Intermediates are a bound: never less than what a model takes, with
every option of the sampler, and at most twice that and SLACK.
"""

from __future__ import annotations

import gc
import os
import random
from pathlib import Path
from struct import pack
from typing import Any

import pytest

import gguf_files
import language_files as files
import tessella as ts
from conftest import FULL
from tessella.models import Llama, LlamaConfig, Sampler, Writer, estimate, load, load_folder
from tessella.models.gguf import gguf_name, load_gguf
from tessella.models.rooms import computed_in

SLACK = 128 * 1024
LARGE: dict[str, Any] = {
    "hidden_size": 256, "intermediate_size": 768, "num_attention_heads": 8,
    "num_key_value_heads": 8, "max_position_embeddings": 1024,
}  # fmt: skip
TIED: dict[str, Any] = {"tie_word_embeddings": True}
# Kinds of files: the configuration, and what is done with it.
FOLDERS: dict[str, tuple[dict[str, Any], Any]] = {
    "llama": (files.llama_config(100), ts.float32),
    "large": (files.llama_config(100, **LARGE), ts.float32),
    "tied": (files.llama_config(100, **LARGE, **TIED), ts.float32),
    "vocabulary": (files.llama_config(20_000), ts.float32),
    "wide": (files.llama_config(100, **{**LARGE, "intermediate_size": 256}), ts.float32),
    "bfloat16": (files.llama_config(100, **LARGE), ts.bfloat16),
    "window": (
        {**files.llama_config(100, **LARGE, sliding_window=40), "model_type": "mistral"},
        ts.float32,
    ),
    "qwen2": ({**files.llama_config(100, **LARGE), "model_type": "qwen2"}, ts.float32),
    "gpt2": (files.gpt_config(100, n_embd=256, n_positions=1024), ts.float32),
    "untied gpt2": (files.gpt_config(100, n_embd=256, tie_word_embeddings=False), ts.float32),
}
GGUFS: dict[str, tuple[dict[str, Any], str | None]] = {
    "q8_0": (files.llama_config(100, **LARGE), "q8_0"),
    "q4_0": (files.llama_config(100, **LARGE, **TIED), "q4_0"),
    "gpt q8_0": (files.gpt_config(100, n_embd=256, n_positions=1024), "q8_0"),
    "float32": (files.llama_config(100, **LARGE), None),
    "float16": (files.llama_config(100, **LARGE), "halves"),
    "mixed": (files.llama_config(5000, **LARGE), "mixed"),
    "untied gpt": (files.gpt_config(100, n_embd=256, tie_word_embeddings=False), "q8_0"),
    "gpt float16": (files.gpt_config(100, n_embd=256), "halves"),
}


def save(kind: str, folder: Path) -> Path:
    """Write the files of a kind."""
    if kind in FOLDERS:
        config, dtype = FOLDERS[kind]
        return files.save_folder(folder / "model", config, dtype)
    config, format = GGUFS[kind]
    path = folder / "model.gguf"
    model = files.made(config)
    blocks = {"halves": None, "mixed": "q4_0"}.get(str(format), format)
    ts.models.save_gguf(model, path, format=blocks)
    if format not in ("halves", "mixed"):
        return path
    file = ts.io.open_gguf(path)
    tensors: dict[str, Any] = {}
    for name, entry in file.tensors.items():
        x = file.get_tensor(name).clone()
        tensors[name] = x.astype(ts.float16) if format == "halves" and x.ndim > 1 else x
        if isinstance(entry.format, str):
            tensors[name] = (x, entry.format)
    if format == "mixed":
        table = model.state_dict()["lm_head.weight"]
        tensors["output.weight"] = table.astype(ts.float16)
    ts.io.save_gguf(tensors, path, file.metadata)
    return path


def sampler() -> Sampler:
    """Give a sampler with every option, which takes the most memory."""
    return Sampler(0.8, 40, 0.9, 0.05, 1.1, seed=0)


@pytest.mark.parametrize(("context", "batch"), [(24, 1), (128, 1), (400, 1), (300, 3)])
@pytest.mark.parametrize("kind", [*FOLDERS, *GGUFS])
def test_estimates_are_what_models_take(
    kind: str, context: int, batch: int, tmp_path: Path
) -> None:
    check_estimate(save(kind, tmp_path), context, batch, None)


@pytest.mark.parametrize(("context", "batch"), [(24, 1), (400, 1), (300, 3)])
@pytest.mark.parametrize("kind", ["large", "window", "bfloat16", "gpt2", "q8_0"])
def test_estimates_count_a_cache_of_halves(
    kind: str, context: int, batch: int, tmp_path: Path
) -> None:
    path = save(kind, tmp_path)
    check_estimate(path, context, batch, ts.float16)
    whole = estimate(path, context, batch, ts.float32).cache
    assert estimate(path, context, batch, "float16").cache == whole // 2


def check_estimate(path: Path, context: int, batch: int, dtype: Any) -> None:
    """Compare an estimate with what a model takes."""
    context = min(context, estimate(path).context)
    told = estimate(path, context, batch, dtype)
    gc.collect()
    before = ts.memory.stats()
    model: Any = load_folder(path) if path.is_dir() else load_gguf(path)
    gc.collect()
    after = ts.memory.stats()
    assert after.live - before.live == told.owned
    assert after.foreign - before.foreign == told.mapped
    prompts = [[1 + (i + row) % 7 for i in range(context - row)] for row in range(batch)]
    options: dict[str, Any] = {"dtype": dtype or computed_in(model)}
    with ts.memory.track() as first:
        writer = Writer(model, prompts, context, sampler(), **options)
        assert writer.cache.nbytes == told.cache
        writer.first()
    writer = Writer(model, [row[:3] for row in prompts], context, sampler(), **options)
    writer.first()
    with ts.memory.track() as steps:
        for _ in range(5):
            writer.next()
    prompt, bound = first.peak - told.cache, max(told.prompt, told.decoding)
    assert prompt <= bound <= 2 * prompt + SLACK
    assert steps.peak <= told.decoding <= 2 * steps.peak + SLACK
    held = told.mapped + told.owned + told.cache
    assert told.total == held + bound and told.fits


@pytest.mark.parametrize("threads", [1, 8])
def test_more_threads_take_more_scratch_and_it_is_known(threads: int, tmp_path: Path) -> None:
    path = save("large", tmp_path)
    usual = ts.get_num_threads()
    try:
        ts.set_num_threads(threads)
        told = estimate(path, 300)
        writer = Writer(load_folder(path), [[1] * 290], 300, sampler())
        with ts.memory.track() as figures:
            writer.first()
        assert figures.peak <= told.prompt <= 2 * figures.peak + SLACK
        with ts.memory.track() as figures:
            for _ in range(4):
                writer.next()
        assert figures.peak <= told.decoding <= 2 * figures.peak + SLACK
    finally:
        ts.set_num_threads(usual)


def random_model(source: random.Random, folder: Path) -> Path:
    """Write a model of random sizes, in a random kind of file."""
    heads, features = source.choice([1, 2, 4, 8, 16]), source.choice([8, 16, 32, 64])
    vocabulary, layers = source.choice([50, 300, 4000, 9000, 20_000]), source.choice([1, 3])
    kind = source.choice(["llama", "gpt2", "mistral", "qwen2"])
    config = files.gpt_config(
        vocabulary, n_embd=heads * features, n_head=heads, n_positions=700, n_layer=layers,
        n_inner=source.choice([None, 64, 900]),
    )  # fmt: skip
    if kind != "gpt2":
        window = source.choice([None, 20, 500]) if kind == "mistral" else None
        config = files.llama_config(
            vocabulary, hidden_size=source.choice([heads * features, 32, 96, 640]),
            intermediate_size=source.choice([32, 64, 512, 1500]), num_hidden_layers=layers,
            num_attention_heads=heads, head_dim=features, max_position_embeddings=700,
            num_key_value_heads=source.choice([n for n in (1, 2, 4, 8, 16) if heads % n == 0]),
            sliding_window=window, tie_word_embeddings=source.random() < 0.5,
        ) | {"model_type": kind}  # fmt: skip
    format = source.choice([ts.float32, ts.bfloat16, ts.float16, "q8_0", "q4_0", None])
    if isinstance(format, ts.dtypes.DType):
        return files.save_folder(folder / "model", config, format)
    ts.models.save_gguf(files.made(config), folder / "model.gguf", format=format)
    return folder / "model.gguf"


@pytest.mark.parametrize("seed", range(100 if FULL else 8))
def test_models_of_random_sizes_take_no_more(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    path = random_model(source, tmp_path)
    context, batch = source.choice([12, 33, 90, 260, 700]), source.choice([1, 1, 2, 5])
    usual = ts.get_num_threads()
    try:
        ts.set_num_threads(source.choice([1, 2, 4, 16]))
        told = estimate(path, context, batch)
        gc.collect()
        before = ts.memory.stats()
        model: Any = load_folder(path) if path.is_dir() else load_gguf(path)
        gc.collect()
        after = ts.memory.stats()
        assert after.live - before.live == told.owned
        assert after.foreign - before.foreign == told.mapped
        prompts = [[1 + i % 7 for i in range(context - row)] for row in range(batch)]
        for used, count, bound in (
            (prompts, 0, max(told.prompt, told.decoding)), ([[1]] * batch, 5, told.decoding)
        ):  # fmt: skip
            with ts.memory.track() as figures:
                writer = Writer(model, used, context, sampler(), dtype=computed_in(model))
                writer.first()
                for _ in range(count):
                    writer.next()
            assert writer.cache.nbytes == told.cache
            assert figures.peak - told.cache <= bound
    finally:
        ts.set_num_threads(usual)


# --- files that nobody could load ----------------------------------------------------------------


def large_file(path: Path) -> int:
    """Write the header of Llama 7B with blocks of q4_0 and no data; give the bytes of weights."""
    small = Llama(LlamaConfig(vocab_size=8, hidden_size=32, intermediate_size=32,
                              num_hidden_layers=1, num_attention_heads=2))  # fmt: skip
    sizes = {8: 32000, 32: 4096}
    wide = ("gate_proj", "up_proj")
    entries, offset = [], 0
    for layer in range(32):
        for name, x in small.state_dict().items():
            shape = [sizes[n] for n in x.shape]
            if any(part in name for part in wide):
                shape[0] = 11008
            if "down_proj" in name:
                shape[1] = 11008
            if not name.startswith("layers") and layer:
                continue
            is_matrix = len(shape) == 2
            title = gguf_name("llama", name.replace("layers.0", f"layers.{layer}"))
            entries.append(gguf_files.tensor(title, shape[::-1], 2 if is_matrix else 0, offset))
            count = shape[0] * shape[-1] if is_matrix else shape[0]
            offset += count // 32 * 18 if is_matrix else count * 4
    numbers = {
        "context_length": 4096, "embedding_length": 4096, "feed_forward_length": 11008,
        "block_count": 32, "attention.head_count": 32,
    }  # fmt: skip
    pairs = [gguf_files.pair("general.architecture", "string", gguf_files.text("llama"))]
    pairs += [
        gguf_files.pair(f"llama.{key}", "uint32", pack("<I", value))
        for key, value in numbers.items()
    ]
    epsilon = "llama.attention.layer_norm_rms_epsilon"
    pairs.append(gguf_files.pair(epsilon, "float32", pack("<f", 1e-6)))
    head = gguf_files.file_of(pairs, entries)
    path.write_bytes(head + bytes(-len(head) % 32))
    os.truncate(path, path.stat().st_size + offset)  # a hole, which takes no room on the disk
    return offset


def test_nothing_but_the_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    weights = large_file(path)
    assert 3.7e9 < weights < 3.9e9
    with ts.memory.track() as figures:
        told = estimate(path, 2048)
    assert figures.peak < 2**20
    assert told.mapped == weights
    assert told.cache == 2 * 32 * 2048 * 4096 * 4  # 2 GiB
    assert 20e6 < told.prompt < 100e6


def test_the_largest_context_is_one_that_fits(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    large_file(path)
    with ts.memory.limit("6GB"):
        told = estimate(path)
        assert told.context == 4096 and not told.fits and told.largest is not None
        assert estimate(path, told.largest).fits and not estimate(path, told.largest + 1).fits
        with pytest.raises(ts.errors.OutOfMemory) as caught:
            load(path, 4096)
        message = str(caught.value)
        assert message.startswith("models.load: a context of 4,096 tokens needs ")
        assert f"({told.total:,} bytes)" in message
        assert f"the largest context that fits is {told.largest:,}" in message
    with ts.memory.limit("3GB"):
        assert estimate(path).largest is None
        with pytest.raises(ts.errors.OutOfMemory, match="no context fits"):
            load(path)
        assert "largest context that fits: none" in repr(estimate(path))


# --- the table, and what is refused --------------------------------------------------------------


def test_a_model_is_loaded_for_as_much_context_as_fits(tmp_path: Path) -> None:
    path = files.byte_gguf(tmp_path / "m.gguf")
    assert load(path).context == 128
    least = estimate(path, 60)
    used = ts.memory.stats()
    with ts.memory.limit(used.live + used.reserved + least.total):
        largest = estimate(path).largest
        assert largest is not None and 58 <= largest <= 62
        with pytest.raises(ts.errors.OutOfMemory, match="the largest context that fits is"):
            load(path, 128)
        author = load(path)
        assert author.context == largest
        assert len("".join(author.write("the", seed=0))) > 0


def test_a_cache_of_halves_lets_more_context_fit(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    large_file(path)
    with ts.memory.limit("6GB"):
        whole, half = estimate(path).largest, estimate(path, dtype=ts.float16).largest
        assert whole is not None and half is not None and 1.7 * whole < half < 4096
        with pytest.raises(ts.errors.OutOfMemory, match=f"context that fits is {half:,}"):
            load(path, 4096, ts.float16)
    author = load(files.byte_gguf(tmp_path / "m.gguf"), 40, ts.float16)
    assert author.dtype is ts.float16


def test_what_an_allocator_keeps_is_not_available(tmp_path: Path) -> None:
    path = files.byte_gguf(tmp_path / "m.gguf")
    before = estimate(path).available
    arena = ts.memory.Arena("1MiB")
    assert estimate(path).available == before - (1 << 20) == before - arena.capacity


def test_estimates_are_tables(tmp_path: Path) -> None:
    path = files.byte_gguf(tmp_path / "m.gguf")
    told = estimate(path, 100)
    lines = repr(told).splitlines()
    assert lines[0] == f"{path}: {ts.memory.to_text(told.total)} for a context of 100 tokens"
    assert [line.split("  ")[1].strip() for line in lines[1:8]] == [
        "weights, mapped", "weights, in memory", "cache", "prompt", "or decoding", "total",
        "available",
    ]  # fmt: skip
    assert lines[3].split()[-4:] == [f"{told.cache:,}", "B", "50.0", "KiB"]
    assert lines[-1] == "  largest context that fits: 128 tokens"
    assert "of 3 texts" in repr(estimate(path, 100, 3))


@pytest.mark.parametrize(("arguments", "message"), [
    ((129,), "context is 129"), ((1,), "context is 1"), ((64, 0), "batch is 0"),
    (("many",), "context must be an integer"), ((64, 1, ts.int64), "not defined for int64"),
])  # fmt: skip
def test_what_cannot_be_estimated_is_refused(
    arguments: tuple[Any, ...], message: str, tmp_path: Path
) -> None:
    path = files.byte_gguf(tmp_path / "m.gguf")
    with pytest.raises(ts.errors.TessellaError) as caught:
        estimate(path, *arguments)
    assert str(caught.value).startswith(f"models.estimate: {message}")
