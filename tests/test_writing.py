"""Text above tokens: streams, stop strings, ends, batches, chats, contexts, what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import language_files as files
import tessella as ts
from error_texts import told
from tessella._core import Tensor
from tessella.compiler import run as compiler_run
from tessella.compiler.capture import capture
from tessella.models import GPT, GPTConfig, KVCache, LanguageModel, generate, load
from tessella.models.rooms import computed_in
from tessella.models.stops import Stops
from tessella.text import Tokenizer
from vocabularies import byte_level

KINDS = ("bytes", "pieces", "folder")


@pytest.fixture(scope="module")
def authors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    """Load a model of each kind of file."""
    home = tmp_path_factory.mktemp("models")
    folder = files.save_folder(home / "folder", files.llama_config(files.TOKENS))
    return {
        "bytes": load(files.byte_gguf(home / "bytes.gguf")),
        "pieces": load(files.piece_gguf(home / "pieces.gguf")),
        "folder": load(folder),
    }


class Scripted(GPT):
    """Says a text after a prompt of some tokens, whatever the prompt is."""

    def __init__(self, prompt: int, tokens: list[int], vocabulary: int) -> None:
        places = max(64, prompt + len(tokens) + 1)
        super().__init__(
            GPTConfig(vocab_size=vocabulary, n_positions=places, n_embd=8, n_layer=1, n_head=1)
        )
        self.table = ts.zeros(places, vocabulary)
        for i, token in enumerate(tokens):
            self.table[prompt - 1 + i, token] = 50.0

    def forward(
        self, tokens: Tensor, cache: Any = None, padding: Any = None, last: bool = False
    ) -> Tensor:
        """Give the logits of the token that the text has at this place."""
        place = cache.lengths(tokens.shape[1]) - 1
        cache.advance(tokens.shape[1])
        return ts.take(self.table, place, axis=0).reshape(1, 1, -1)


def bytewise(*specials: str, **more: Any) -> Tokenizer:
    """Give a tokenizer with a token for each byte, and merges of "the"."""
    return Tokenizer.from_metadata(byte_level(files.MERGES, list(specials), **more))


def saying(text: str | list[int], tokenizer: Tokenizer | None = None, **options: Any) -> Any:
    """Give what says a text after the prompt "x"."""
    tokenizer = tokenizer or bytewise()
    tokens = tokenizer.encode(text) if isinstance(text, str) else text
    model = Scripted(1, tokens, tokenizer.vocabulary_size)
    return LanguageModel(model, tokenizer, **options)


# --- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", ["the he", "", "e"])
def test_pieces_are_the_text_of_all_tokens(
    kind: str, prompt: str, authors: dict[str, LanguageModel]
) -> None:
    author = authors[kind]
    tokenizer = author.tokenizer
    for seed in range(5):
        passage = author.write(prompt, 40, seed=seed)
        text = "".join(passage)
        start = tokenizer.encode(prompt) or tokenizer.encode("<s>")
        before = tokenizer.decode(start, skip_special=True)
        whole = tokenizer.decode([*start, *passage.tokens], skip_special=True)
        assert before + text == whole
        assert passage.reason in ("end", "length")
        assert len(passage.tokens) == 40 or passage.reason == "end"


def test_characters_come_whole() -> None:
    text = "na\u00efve \u2014 \U0001f600 the \u4e2d"
    author = saying(text)
    pieces = list(author.write("x", len(author.tokenizer.encode(text)), temperature=0))
    assert "".join(pieces) == text
    assert "\U0001f600" in pieces and "the" not in pieces and " the" in pieces


def test_a_character_that_stays_cut_is_told_at_the_end() -> None:
    passage = saying("a\U0001f600").write("x", 3, temperature=0)
    assert list(passage) == ["a", "\ufffd"]


def test_tokens_that_the_tokenizer_does_not_know_are_no_text() -> None:
    tokenizer = bytewise()
    size = tokenizer.vocabulary_size
    [a] = tokenizer.encode("a")
    model = Scripted(1, [a, size + 2, a], size + 4)
    passage = LanguageModel(model, tokenizer).write("x", 3, temperature=0)
    assert "".join(passage) == "aa" and passage.tokens == [a, size + 2, a]


def test_eager_steps_give_the_text_of_compiled_ones(
    authors: dict[str, LanguageModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {
        "temperature": 0.9, "top_k": 30, "top_p": 0.9, "min_p": 0.01, "repetition_penalty": 1.2,
        "seed": 4,
    }  # fmt: skip
    recorded, counts = [], []

    def noted(*given: Any) -> Any:
        recorded.append(given)
        return capture(*given)

    monkeypatch.setattr(compiler_run, "capture", noted)
    found = []
    for eager in (True, False):
        found.append("".join(authors["bytes"].write("the", 20, eager=eager, **options)))
        counts.append(len(recorded))
    assert found[0] == found[1] != ""
    assert counts[0] == 0 < counts[1]


def test_seeds_repeat_and_differ(authors: dict[str, LanguageModel]) -> None:
    one, same, other = (authors["folder"].write("the", 20, seed=seed) for seed in (1, 1, 2))
    assert "".join(one) == "".join(same) != "".join(other)


def test_figures_count_tokens_and_time(authors: dict[str, LanguageModel]) -> None:
    passage = authors["bytes"].write("the he", 10, temperature=0)
    assert len("".join(passage)) > 0 and passage.reason == "length"
    figures = passage.figures
    assert figures.prompt_tokens == 4 and figures.tokens == 9
    assert figures.prompt_seconds > 0 and figures.seconds > 0
    assert str(figures).startswith("prompt 4 tokens, ") and "; then 9 tokens, " in str(figures)


# --- ends ----------------------------------------------------------------------------------------


def test_texts_end_at_the_tokens_that_end_them() -> None:
    tokenizer = bytewise("<end>", eos_token_id=259)
    author = saying([*tokenizer.encode("ab"), 259, *tokenizer.encode("c")], tokenizer)
    passage = author.write("x", 10, temperature=0)
    assert "".join(passage) == "ab" and passage.reason == "end" and len(passage.tokens) == 2
    [b] = tokenizer.encode("b")
    author = saying("ab", tokenizer, ends=[b])
    assert "".join(author.write("x", 10, temperature=0)) == "a"


@pytest.mark.parametrize(("beside", "ends"), [
    ({}, {260}), ({"generation_config": {"eos_token_id": [7, 8]}}, {260, 7, 8}),
    ({"generation_config": {"eos_token_id": 9}}, {260, 9}),
], ids=str)  # fmt: skip
def test_folders_say_which_tokens_end_texts(
    beside: dict[str, Any], ends: set[int], tmp_path: Path
) -> None:
    folder = files.save_folder(tmp_path, files.llama_config(files.TOKENS), **beside)
    assert load(folder).ends == ends
    config = {**files.llama_config(files.TOKENS), "eos_token_id": 5}
    (folder / "config.json").write_text(json.dumps(config))
    assert load(folder).ends == ends | {5}


@pytest.mark.parametrize(("stop", "want", "reason"), [
    ([], "see the cat sat", "length"), (["cat"], "see the ", "stop"), ("he c", "see t", "stop"),
    (["sat", "e t"], "se", "stop"), (["the cat!", "cats"], "see the cat sat", "length"),
    (["sat!"], "see the cat sat", "length"), (["t", "the"], "see ", "stop"),
    (["see"], "", "stop"),
], ids=str)  # fmt: skip
def test_text_ends_before_a_stop_string(stop: Any, want: str, reason: str) -> None:
    author = saying("see the cat sat")
    count = len(author.tokenizer.encode("see the cat sat"))
    passage = author.write("x", count, temperature=0, stop=stop)
    assert ("".join(passage), passage.reason) == (want, reason)


def test_stop_strings_may_come_from_an_iterator(authors: dict[str, LanguageModel]) -> None:
    author = saying("see the cat sat")
    assert "".join(author.write("x", 9, temperature=0, stop=(t for t in ["cat"]))) == "see the "
    author, prompts = authors["bytes"], ["the he", "t"]
    plain = author.write_all(prompts, 12, temperature=0)
    stops = [text[3:5] for text in plain]
    found = author.write_all(prompts, 12, temperature=0, stop=iter(stops))
    assert found == author.write_all(prompts, 12, temperature=0, stop=stops) != plain


def test_a_stop_string_may_come_with_the_last_bytes() -> None:
    passage = saying("a\U0001f600").write("x", 3, temperature=0, stop="\ufffd")
    assert "".join(passage) == "a" and passage.reason == "stop"


def test_what_begins_a_stop_string_is_held_back_until_it_is_clear() -> None:
    stops = Stops(["abc"])
    assert [stops.add(piece) for piece in ("xa", "b", "ab", "ca")] == ["x", "", "ab", ""]
    assert stops.is_found and stops.end() == ""
    stops = Stops(["abc"])
    assert [stops.add("xab"), stops.end()] == ["x", "ab"] and not stops.is_found


@given(
    st.lists(st.text("ab", max_size=4)), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)
)
def test_how_text_is_cut_into_pieces_makes_no_difference(
    pieces: list[str], texts: list[str]
) -> None:
    def passed(pieces: list[str]) -> tuple[str, bool]:
        stops = Stops(texts)
        found = "".join([stops.add(piece) for piece in pieces])
        return found + stops.end(), stops.is_found

    whole = "".join(pieces)
    assert passed(pieces) == passed(list(whole)) == passed([whole])
    ends = [whole.find(each) + len(each) for each in texts if each in whole]
    want = whole
    if ends:
        want = min((whole[: min(ends)].removesuffix(t) for t in texts
                    if whole[: min(ends)].endswith(t)), key=len)  # fmt: skip
    assert passed(pieces) == (want, bool(ends))


# --- batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_batch_are_what_they_are_alone(
    kind: str, authors: dict[str, LanguageModel]
) -> None:
    author = authors[kind]
    prompts = ["the he", "t", "heathen the"]
    alone = ["".join(author.write(prompt, 12, temperature=0)) for prompt in prompts]
    assert author.write_all(prompts, 12, temperature=0) == alone
    stop = alone[0][3:5]
    cut = ["".join(author.write(prompt, 12, temperature=0, stop=stop)) for prompt in prompts]
    assert author.write_all(prompts, 12, temperature=0, stop=stop) == cut
    assert len(cut[0]) < len(alone[0])


def test_texts_of_a_batch_end_together_and_share_their_random_numbers(tmp_path: Path) -> None:
    author = load(files.byte_gguf(tmp_path / "m.gguf"), context=20)
    author.ends = frozenset()
    prompts = ["t", "heathen the"]
    long = len(author.tokenizer.encode(prompts[1]))
    whole = author.write_all(prompts, temperature=0)
    assert whole == author.write_all(prompts, 20 - long, temperature=0)
    assert whole[0] != "".join(author.write("t", temperature=0)), "alone it has more room"
    first, same = (author.write_all(prompts, seed=3) for _ in range(2))
    assert first == same != ["".join(author.write(each, 20 - long, seed=3)) for each in prompts]


# --- chats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bytes", "folder"])
def test_chats_are_texts_by_the_template(kind: str, authors: dict[str, LanguageModel]) -> None:
    author = authors[kind]
    messages = [{"role": "system", "content": "be"}, {"role": "user", "content": "the"}]
    answer = author.chat(messages, 15, temperature=0)
    prompt = "system: be\nuser: the\nassistant:"
    assert answer.figures.prompt_tokens == len(author.tokenizer.encode(prompt, add_special=False))
    assert "".join(answer) == "".join(author.write(prompt, 15, temperature=0))


def test_templates_know_the_marks_of_texts() -> None:
    tokenizer = bytewise("<s>", bos_token_id=259)
    metadata = byte_level(files.MERGES, ["<s>"], bos_token_id=259)
    metadata["tokenizer.chat_template"] = (
        "{{ bos_token }}[{{ eos_token }}]{{ messages[0].content }}"
    )
    author = saying("ab", Tokenizer.from_metadata(metadata))
    answer = author.chat([{"role": "user", "content": "hi"}], 1, seed=0)
    assert answer.figures.prompt_tokens == len(tokenizer.encode("<s>[]hi", add_special=False)) == 5


def test_chats_without_a_template_or_its_package_are_refused(
    authors: dict[str, LanguageModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [{"role": "user", "content": "hi"}]
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        authors["pieces"].chat(messages)
    assert str(caught.value).startswith("LanguageModel.chat: the model has no chat template")
    assert "hint: write(prompt) goes on with a text as it is" in str(caught.value)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ts.errors.PreconditionFailed, match="the package jinja2 fills in"):
        authors["bytes"].chat(messages)


# --- contexts ------------------------------------------------------------------------------------


def test_texts_end_where_the_context_is_full(tmp_path: Path) -> None:
    author = load(files.byte_gguf(tmp_path / "m.gguf"), context=20)
    author.ends = frozenset()
    passage = author.write("the he", seed=0)
    list(passage)
    assert len(passage.tokens) == 16 and passage.reason == "length"
    assert repr(author) == "LanguageModel(Llama, Tokenizer(261 tokens), context=20)"
    passage = author.write("the he", 500, seed=0)
    list(passage)
    assert len(passage.tokens) == 16


def test_the_cache_has_room_for_what_is_asked_for_and_the_models_dtype(tmp_path: Path) -> None:
    config = files.llama_config(files.TOKENS)
    author = load(files.save_folder(tmp_path, config, ts.bfloat16))
    assert computed_in(author.model) is ts.bfloat16
    with ts.memory.track() as figures:
        passage = author.write("the he", 12, temperature=0)
    caches = KVCache(2, 1, 2, 16, 16, dtype=ts.bfloat16).nbytes
    assert caches <= figures.live <= caches + 1000
    assert len(list(passage)) > 0


def test_keys_and_values_lie_where_and_as_they_should(tmp_path: Path) -> None:
    file = files.byte_gguf(tmp_path / "m.gguf")
    plain, half = load(file), load(file, dtype=ts.float16)
    arena = ts.memory.Arena("1MB")
    room = KVCache(2, 1, 2, 16, 16, dtype=ts.float16).nbytes
    text = "".join(half.write("the he", 12, temperature=0, allocator=arena))
    assert room <= arena.used < 2 * room
    assert text == "".join(plain.write("the he", 12, temperature=0)) != ""
    arena.reset()
    message = [{"role": "user", "content": "the"}]
    assert len("".join(half.chat(message, 5, temperature=0, allocator=arena))) > 0
    assert arena.used > 0
    arena.reset()
    assert half.write_all(["the he"], 12, temperature=0, allocator=arena) == [text]
    assert arena.used >= room


def test_hooks_read_and_change_what_is_written(tmp_path: Path) -> None:
    author = load(files.byte_gguf(tmp_path / "m.gguf"))
    layer: Any = author.model.layers[0]
    plain = "".join(author.write("the he", 8, temperature=0))
    seen: list[Any] = []
    hook = layer.register_forward_hook(lambda _, args, out: seen.append(float(out.sum())))
    assert "".join(author.write("the he", 8, temperature=0, eager=True)) == plain
    assert len(seen) == 8
    passage = author.write("the he", 8, temperature=0)
    with pytest.raises(ts.errors.CaptureError) as caught:
        list(passage)
    assert "; or write with eager=True" in caught.value.hint
    hook.remove()
    layer.register_forward_hook(lambda _, args, out: -3 * out)
    changed = "".join(author.write("the he", 8, temperature=0, eager=True))
    assert changed == "".join(author.write("the he", 8, temperature=0)) != plain


@pytest.mark.parametrize(("call", "message"), [
    (lambda a: a.write("e" * 128), "a prompt has 128 tokens, and the context 128"),
    (lambda a: a.write("e", 0), "max_tokens is 0"),
    (lambda a: a.write(b"e"), "prompt must be text"),
    (lambda a: a.write("e", stop=""), "stop is ''"),
    (lambda a: a.write("e", stop=[1]), "stop must be texts"),
    (lambda a: a.write("e", stop=b"x"), "stop must be a text, or a list of texts, got bytes"),
    (lambda a: a.write("e", stop=5), "write: stop must be a text, or a list of texts, got int"),
    (lambda a: a.write_all(["e"], stop=None), "write_all: stop must be a text, or a list of"),
    (lambda a: a.write("e", 3, foo=1), "write: unknown keyword foo"),
    (lambda a: a.chat([{"role": "user", "content": "e"}], tools=[]), "chat: unknown keyword tools"),
    (lambda a: a.write("e", 1.5), "LanguageModel.write: max_tokens must be an integer, got float"),
    (lambda a: a.write_all(iter([])), "prompts must be at least one text"),
    (lambda a: type(a)(a.model, a.tokenizer, ends=5), "ends must be a list of tokens, got"),
    (lambda a: type(a)(a.model, a.tokenizer, ends=["e"]), "ends must be an integer, got str"),
    (lambda a: LanguageModel(a.model, a.tokenizer, dtype=ts.int64), "not defined for int64"),
    (lambda a: generate(a, [[1]], 3), "model must be a model of ts.models, such as GPT or Llama"),
    (lambda a: a.write("e", temperature=-1), "temperature is -1"),
    (lambda a: a.write_all("e"), "prompts must be a list of texts"),
    (lambda a: a.write_all([]), "prompts is []"),
    (lambda a: a.write_all(["e", 3]), r"prompts[1] must be text"),
    (lambda a: LanguageModel(a.model, a.tokenizer, 129), "context is 129"),
    (lambda a: LanguageModel(a, a.tokenizer), "model must be a model of ts.models"),
    (lambda a: LanguageModel(a.model, a.model), "tokenizer must be a ts.text.Tokenizer"),
    (lambda a: load(3), "models.load: path must be a path"),  # type: ignore[arg-type]
    (lambda a: LanguageModel(a.model, a.tokenizer, 1), "context is 1"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused(
    call: Any, message: str, authors: dict[str, LanguageModel]
) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(authors["bytes"])
    assert message in told(caught.value)


def test_a_prompt_of_nothing_needs_a_token_of_the_start() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=r"prompts\[0\] is empty"):
        saying("ab").write("")


def test_files_that_are_not_there_or_wrong_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.gguf")
    with pytest.raises(FileNotFoundError):
        load(tmp_path)
    beside = {"generation_config": {"eos_token_id": "last"}}
    folder = files.save_folder(tmp_path / "m", files.llama_config(files.TOKENS), **beside)
    with pytest.raises(ts.errors.FormatError) as caught:
        load(folder)
    assert "generation_config.json is 'last'" in str(caught.value)
    assert "hint: it must be an integer, or a list of integers" in str(caught.value)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ts.errors.PreconditionFailed, match="the package tokenizers reads"):
        load(folder)


@pytest.mark.parametrize(("name", "value"), [
    ("num_attention_heads", 0), ("hidden_size", "64"), ("num_hidden_layers", -1),
    ("max_position_embeddings", 8.5), ("vocab_size", None), ("head_dim", True),
], ids=str)  # fmt: skip
def test_sizes_of_a_folder_must_be_sizes(name: str, value: Any, tmp_path: Path) -> None:
    config = files.llama_config(files.TOKENS)
    files.save_folder(tmp_path, config)
    (tmp_path / "config.json").write_text(json.dumps({**config, name: value}))
    with pytest.raises(ts.errors.FormatError) as caught:
        load(tmp_path)
    assert f"{name} is {value!r}" in str(caught.value)
    assert "hint: it must be an integer, at least 1" in str(caught.value)


def test_sizes_of_a_file_must_be_sizes(tmp_path: Path) -> None:
    path = files.byte_gguf(tmp_path / "m.gguf")
    file = ts.io.open_gguf(path)
    tensors = {name: file.get_tensor(name).clone() for name in file.tensors}
    for key, value in (("attention.head_count", 0), ("context_length", 8.5)):
        metadata = {**file.metadata, f"llama.{key}": value}
        ts.io.save_gguf(tensors, tmp_path / "wrong.gguf", metadata)
        with pytest.raises(ts.errors.FormatError, match="it must be an integer, at least 1"):
            load(tmp_path / "wrong.gguf")
