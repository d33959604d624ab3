"""Generation: samplers, tokens with and without a cache, batches, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from error_texts import told
from tessella.models import GPT, GPTConfig, Llama, LlamaConfig, Sampler, Writer, generate
from tessella.models.estimates import cache_bytes, total
from tessella.models.rooms import outline_of

LOGITS = ts.log(ts.tensor([[0.5, 0.25, 0.15, 0.06, 0.04]]))


def llama(**options: Any) -> Llama:
    """Make a small model whose tokens differ from each other."""
    ts.manual_seed(3)
    sizes: dict[str, Any] = {
        "vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2,
    }  # fmt: skip
    model = Llama(LlamaConfig(**{**sizes, **options}))
    for x in model.parameters():
        if x.ndim > 1:
            ts.nn.init.normal_(x, std=0.3)
    return model


def gpt() -> GPT:
    """Make a small model of the other kind."""
    ts.manual_seed(3)
    model = GPT(GPTConfig(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=4))
    for x in model.parameters():
        if x.ndim > 1:
            ts.nn.init.normal_(x, std=0.3)
    return model


MODELS = {
    "llama": llama, "window": lambda: llama(sliding_window=4),
    "tied": lambda: llama(tie_word_embeddings=True), "gpt": gpt,
}  # fmt: skip


@ts.no_grad()
def without_cache(model: Any, prompt: list[int], count: int) -> list[int]:
    """Take the most likely token again and again, computing all places each time."""
    row = list(prompt)
    for _ in range(count):
        row.append(int(model(ts.tensor([row]))[0, -1].argmax()))
    return row[len(prompt) :]


# --- tokens --------------------------------------------------------------------------------------


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_tokens_with_a_cache_are_those_without(kind: str, eager: bool) -> None:
    model = MODELS[kind]()
    for prompt in ([7], [1, 2, 3, 4, 5, 6]):
        found = generate(model, [prompt], 12, Sampler(temperature=0), eager=eager)
        assert found == [without_cache(model, prompt, 12)]


@pytest.mark.parametrize("kind", MODELS)
def test_rows_of_a_batch_are_what_they_are_alone(kind: str) -> None:
    model, prompts = MODELS[kind](), [[4, 9], [1, 2, 3, 4, 5], [11]]
    found = generate(model, prompts, 8, Sampler(temperature=0))
    assert found == [without_cache(model, row, 8) for row in prompts]


def test_compiled_steps_draw_the_tokens_of_eager_ones() -> None:
    model = llama()

    def tokens(eager: bool) -> list[list[int]]:
        sampler = Sampler(0.9, top_k=20, top_p=0.95, min_p=0.02, repetition_penalty=1.2, seed=5)
        return generate(model, [[1, 2], [3, 4, 5]], 20, sampler, eager=eager)

    assert tokens(True) == tokens(False)


@pytest.mark.parametrize("length", [256, 257, 600])
def test_long_prompts_go_through_in_pieces(length: int) -> None:
    model = llama()
    prompt = [i % 50 for i in range(length)]
    assert generate(model, [prompt], 3, Sampler(temperature=0)) == [without_cache(model, prompt, 3)]


def test_layers_of_quantised_models_take_few_steps(tmp_path: Any) -> None:
    counts = []
    for layers in (1, 2):
        model = llama(num_hidden_layers=layers)
        ts.models.save_gguf(model, tmp_path / "model.gguf", format="q8_0")
        writer = Writer(ts.models.load_gguf(tmp_path / "model.gguf"), [[1]], 9)
        with ts.no_grad():
            counts.append(len(ts.compile(writer._advance).profile(writer.tokens).rows))
    # 7 products, 2 norms, 6 to turn queries and keys, 5 to keep them, 2 of attention, 3 others
    assert counts[1] - counts[0] <= 25


def test_rows_end_before_a_token_of_stop() -> None:
    model = llama()
    plain = generate(model, [[4, 9], [1]], 12, Sampler(temperature=0))
    ends = plain[0][3]
    found = generate(model, [[4, 9], [1]], 12, Sampler(temperature=0), stop=[ends])
    for row, whole in zip(found, plain, strict=True):
        assert row == whole[: whole.index(ends) if ends in whole else 12]


def test_steps_of_a_writer() -> None:
    model = llama()
    writer = Writer(model, [[1, 2, 3]], 6, Sampler(temperature=0))
    found = [writer.first(), writer.next(), writer.next()]
    assert [t for row in found for t in row] == without_cache(model, [1, 2, 3], 3)
    assert writer.left == 0
    with pytest.raises(ts.errors.IllegalState, match="all 6 places are taken"):
        writer.next()


def test_steps_of_a_writer_come_in_order() -> None:
    writer = Writer(llama(), [[1, 2, 3]], 6, Sampler(temperature=0))
    with pytest.raises(ts.errors.IllegalState, match=r"Writer.next: the prompts have not been"):
        writer.next()
    writer.first()
    with pytest.raises(ts.errors.IllegalState, match=r"Writer.first: the prompts have been read"):
        writer.first()


def test_prompts_and_stops_may_come_from_iterators() -> None:
    model, greedy = llama(), Sampler(temperature=0)
    plain = generate(model, [[4, 9], [1]], 6, greedy)
    assert generate(model, iter([iter([4, 9]), iter([1])]), 6, greedy) == plain
    found = generate(model, [[4, 9]], 6, greedy, stop=(token for token in [plain[0][2]]))
    assert found == [plain[0][: plain[0].index(plain[0][2])]]
    assert generate(model, [[4]], 0) == [[]]


def test_a_cache_of_halves_in_an_arena() -> None:
    model, arena = llama(), ts.memory.Arena("1MB")
    prompts, greedy = [[4, 9], [1, 2, 3]], Sampler(temperature=0)
    found = generate(model, prompts, 8, greedy, dtype=ts.float16, allocator=arena)
    assert arena.used >= 2 * 2 * 2 * 2 * 11 * 8 * 2
    assert found == generate(model, prompts, 8, greedy), "this model is sure of its tokens"


def used() -> int:
    """Give what counts for the limit already: arenas that other tests left behind, too."""
    counts = ts.memory.stats()
    return counts.live + counts.reserved


@pytest.mark.parametrize("batch", [1, 3])
def test_tokens_that_do_not_fit_are_refused_with_how_many_do(batch: int) -> None:
    model, prompts = llama(max_position_embeddings=100_000), [[1, 2, 3, 4]] * batch
    outline = outline_of(model)
    needed = total(outline, 20_000, batch, ts.float32)
    with ts.memory.limit(used() + needed):
        with pytest.raises(ts.errors.OutOfMemory) as caught:
            Writer(model, prompts, 99_000)
        told = str(caught.value)
        texts = "a text of 99,000 tokens needs" if batch == 1 else "3 texts of 99,000 tokens need"
        assert told.startswith(f"Writer: {texts} ") and "  at test_generation.py:" in told
        largest = told.split("the largest number of tokens that fits is ")[1].split(", ")[0]
        assert abs(int(largest.replace(",", "")) - 20_000) < 20
        writer = Writer(model, prompts, 20_000 - 20)
        writer.first(), writer.next()
    # The cache fits, and what the prompt makes does not.
    del writer
    with ts.memory.limit(used() + cache_bytes(outline, 20_000, batch, ts.float32)):
        writer = Writer(model, prompts, 19_990)
        with pytest.raises(ts.errors.OutOfMemory, match="tokens that fits is"):
            writer.first()
    writer.first()  # now that there is room
    alone = Writer(model, prompts, 20)
    alone.first()
    assert int(writer.cache.length) == int(alone.cache.length) == 4


def test_an_arena_that_is_full_says_so() -> None:
    with pytest.raises(ts.errors.TessellaError, match="gives at most"):
        generate(llama(), [[1]], 1000, allocator=ts.memory.Arena("1KiB"))


# --- hooks ---------------------------------------------------------------------------------------


def kept(layer: Any) -> tuple[list[Any], Any]:
    """Let a hook keep what a layer gives; give where, and the hook."""
    seen: list[Any] = []
    return seen, layer.register_forward_hook(lambda _, args, out: seen.append(out))


def quantised(folder: Any) -> Any:
    ts.models.save_gguf(llama(), folder / "model.gguf", format="q8_0")
    return ts.models.load_gguf(folder / "model.gguf")


def test_hooks_read_and_change_what_layers_give(tmp_path: Any) -> None:
    for model in (llama(), quantised(tmp_path)):
        plain = generate(model, [[1, 2, 3]], 5, Sampler(0))
        layer = model.layers[0].mlp.down_proj
        seen, hook = kept(layer)
        assert generate(model, [[1, 2, 3]], 5, Sampler(0), eager=True) == plain
        hook.remove()
        assert [x.shape for x in seen] == [(1, 3, 32)] + 4 * [(1, 1, 32)]
        assert len({float(x[0, -1].sum()) for x in seen}) > 1
        hook = layer.register_forward_hook(lambda _, args, out: -9 * out)
        changed = generate(model, [[1, 2, 3]], 5, Sampler(0), eager=True)
        assert changed == generate(model, [[1, 2, 3]], 5, Sampler(0)) != plain
        hook.remove()
        assert generate(model, [[1, 2, 3]], 5, Sampler(0)) == plain


@pytest.mark.parametrize("read", [lambda seen, x: seen.append(x), lambda seen, x: float(x.sum())])
def test_hooks_that_read_in_compiled_steps_are_told_of_eager_ones(read: Any) -> None:
    model = llama()
    kept: list[Any] = []
    model.layers[1].register_forward_hook(lambda _, args, out: read(kept, out) and None)
    with pytest.raises(ts.errors.CaptureError) as caught:
        generate(model, [[1, 2, 3]], 5)
    assert "; or write with eager=True" in caught.value.hint


def test_penalised_tokens_are_not_repeated() -> None:
    model = llama()
    row = generate(model, [[1, 2]], 30, Sampler(0, repetition_penalty=1e6))[0]
    assert len(set(row) | {1, 2}) == len(row) + 2


@pytest.mark.parametrize(("prompts", "message"), [
    ([], "prompts is"), ([[]], r"prompts\[0\] is empty"), ([[1], [50]], "a token is 50"),
    ([[-1]], "a token is -1"), ([[1.5]], r"prompts\[0\]"),
    (None, "generate: prompts must be a list of lists of tokens, got NoneType"),
    ([5], r"generate: prompts\[0\] must be a list of tokens, got int"),
])  # fmt: skip
def test_prompts_that_are_none_are_refused(prompts: Any, message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=message):
        generate(llama(), prompts, 3)
    with pytest.raises(ts.errors.InvalidArgument, match="a prompt has 3 tokens"):
        Writer(llama(), [[1, 2, 3]], 2)
    with pytest.raises(ts.errors.InvalidArgument, match="to be 65 places, and the model has 64"):
        Writer(gpt(), [[1, 2, 3]], 65)


# With arguments of wrong types.
ask: Any = generate
begin: Any = Writer
draw: Any = Sampler


@pytest.mark.parametrize(("call", "message"), [
    (lambda m: ask(m, [[1]], -1), "generate: max_tokens is -1"),
    (lambda m: ask(m, [[1]], 1.5), "generate: max_tokens must be an integer, got float"),
    (lambda m: ask(m, [[1]], "a"), "generate: max_tokens must be an integer, got str"),
    (lambda m: ask(m, [[1]], 3, 0.5), "sampler must be a Sampler, got float"),
    (lambda m: ask(m, [[1]], 3, stop=5), "generate: stop must be a list of tokens, got int"),
    (lambda m: ask(m, [[1]], 3, stop=None), "generate: stop must be a list of tokens, got No"),
    (lambda m: ask(m, [[1]], 3, stop=["a"]), "generate: stop must be an integer, got str"),
    (lambda m: ask(3, [[1]], 3), "model must be a model of ts.models, such as GPT or Llama"),
    (lambda m: ask(m, [[1]], 3, dtype=ts.int64), "Writer: not defined for int64"),
    (lambda m: draw("hot"), "Sampler: temperature must be a real number, got str"),
    (lambda m: begin(m, [[1]], 4, eager=1), "Writer: eager must be True or False, got int"),
    (lambda m: begin(m, [[1]], "a"), "Writer: capacity must be an integer, got str"),
    (lambda m: begin(m, [[1]], 0), "Writer: a prompt has 1 tokens, and there is room for 0"),
    (lambda m: ask(m, [[1]], 3, foo=1), "unexpected keyword argument 'foo'"),
])  # fmt: skip
def test_arguments_that_mean_nothing_are_named(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ts.errors.TessellaError)) as caught:
        call(llama())
    assert message in told(caught.value)
    if isinstance(caught.value, ts.errors.TessellaError):
        assert "  at test_generation.py:" in str(caught.value)


def test_tokens_may_be_integers_of_numpy() -> None:
    rows: Any = np.array([[1, 2, 3]])
    assert generate(llama(), rows, 2, Sampler(0)) == generate(llama(), [[1, 2, 3]], 2, Sampler(0))


# --- samplers ------------------------------------------------------------------------------------


def drawn(sampler: Sampler, count: int = 4000) -> Any:
    """Give how often each token is drawn."""
    rows = ts.broadcast_to(LOGITS, (count, 5))
    return np.bincount(to_array(sampler(rows)), minlength=5) / count


@pytest.mark.parametrize(("options", "left"), [
    ({}, 5), ({"top_k": 2}, 2), ({"top_k": 9}, 5), ({"top_p": 0.5}, 1), ({"top_p": 0.51}, 2),
    ({"top_p": 0.8}, 3), ({"min_p": 0.3}, 3), ({"min_p": 0.1}, 4),
    ({"top_k": 3, "min_p": 0.4}, 2), ({"top_k": 4, "top_p": 0.7}, 2),
], ids=str)  # fmt: skip
def test_only_what_is_allowed_is_drawn_and_as_often_as_it_should(
    options: dict[str, Any], left: int
) -> None:
    want = np.exp(to_array(LOGITS))[0] * (np.arange(5) < left)
    np.testing.assert_allclose(drawn(Sampler(seed=0, **options)), want / want.sum(), atol=0.03)


def test_temperature_sharpens_and_flattens() -> None:
    p = np.exp(to_array(LOGITS))[0]
    for temperature in (0.5, 2.0):
        want = p ** (1 / temperature)
        found = drawn(Sampler(temperature, seed=0))
        np.testing.assert_allclose(found, want / want.sum(), atol=0.03)
    assert drawn(Sampler(0)).tolist() == [1, 0, 0, 0, 0]


def test_seeds_repeat_and_differ() -> None:
    rows = ts.broadcast_to(LOGITS, (50, 5))
    one, same, other = (Sampler(seed=seed)(rows).tolist() for seed in (1, 1, 2))
    assert one == same != other


def test_penalties_lower_what_was_seen() -> None:
    logits = ts.tensor([[2.0, -1.0, 1.5]])
    seen = ts.tensor([[True, True, False]])
    sampler = Sampler(0, repetition_penalty=2.0)
    assert sampler(logits, seen).tolist() == [2]
    assert sampler(ts.tensor([[-1.0, -1.5, -9.0]]), ts.tensor([[True, False, False]])).tolist() == [
        1
    ]


@pytest.mark.parametrize(("options", "message"), [
    ({"temperature": -1}, "temperature is -1"), ({"temperature": math.nan}, "temperature is nan"),
    ({"top_k": -1}, "top_k is -1"), ({"top_p": 0}, "top_p is 0"), ({"top_p": 1.5}, "top_p is 1.5"),
    ({"min_p": 2}, "min_p is 2"), ({"repetition_penalty": 0}, "repetition_penalty is 0"),
], ids=str)  # fmt: skip
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=message):
        Sampler(**options)
