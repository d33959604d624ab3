"""Tokenizers: metadata that makes none, text and ids that they refuse, each with what is wrong."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella.text import Tokenizer
from vocabularies import KEY, byte_level, pieces

BASE = byte_level(["t h", "th e"], ["<end>"])
SPM = pieces(["a", "b"])
MISSING = object()


def changed(metadata: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Give metadata with another value; MISSING takes the key away."""
    found = {**metadata, f"{KEY}{key}": value}
    return {name: each for name, each in found.items() if each is not MISSING}


def with_item(metadata: dict[str, Any], key: str, place: int, value: Any) -> list[Any]:
    """Give a list of metadata with another item."""
    found = [*metadata[f"{KEY}{key}"]]
    found[place] = value
    return found


WRONG: list[tuple[dict[str, Any], str, Any, str]] = [
    (BASE, "model", MISSING, "the metadata has no tokenizer.ggml.model"),
    (BASE, "model", 3, "tokenizer.ggml.model must be text, got int: 3"),
    (BASE, "model", "bert", "tokenizer.ggml.model is 'bert', which is not supported"),
    (BASE, "pre", "nobody", "tokenizer.ggml.pre is 'nobody', which is not supported"),
    (BASE, "pre", b"gpt-2", "tokenizer.ggml.pre must be text, got bytes: b'gpt-2'"),
    (BASE, "tokens", MISSING, "the metadata has no tokenizer.ggml.tokens"),
    (BASE, "tokens", "abc", "tokenizer.ggml.tokens must be a list, got str: 'abc'"),
    (BASE, "tokens", [], "tokenizer.ggml.tokens is empty"),
    (BASE, "tokens", ["a", 7], "tokenizer.ggml.tokens[1] must be text, got int: 7"),
    (BASE, "tokens", ["a", b"b"], "tokenizer.ggml.tokens[1] must be text, got bytes: b'b'"),
    (BASE, "tokens", ["a", "b", "a"], "token 'a' has the ids 0 and 2"),
    (BASE, "tokens", ["a", "\ud800"], "token 1 has a lone surrogate"),
    (BASE, "token_type", [1, 1], "tokenizer.ggml.token_type has 2 items, and there are 259 tokens"),
    (BASE, "token_type", 1, "tokenizer.ggml.token_type must be a list, got int: 1"),
    (BASE, "token_type", with_item(BASE, "token_type", 2, 7),
     "tokenizer.ggml.token_type[2] must be an integer from 0 to 6, got int: 7"),
    (BASE, "token_type", with_item(BASE, "token_type", 0, "x"),
     "tokenizer.ggml.token_type[0] must be an integer from 0 to 6, got str: 'x'"),
    (BASE, "merges", MISSING, "the metadata has no tokenizer.ggml.merges"),
    (BASE, "merges", ["t h", 1], "tokenizer.ggml.merges[1] must be text, got int: 1"),
    (BASE, "merges", ["th"], "merge 0 is 'th'"),
    (BASE, "merges", ["t "], "merge 0 is 't '"),
    (BASE, "merges", [""], "merge 0 is ''"),
    (BASE, "merges", ["t h", "xyz e"], "merge 1, 'xyz e': 'xyz' is no token"),
    (BASE, "merges", ["e th"], "merge 0, 'e th': 'eth' is no token"),
    (BASE, "bos_token_id", 259, "tokenizer.ggml.bos_token_id is 259, and there are 259 tokens"),
    (BASE, "eos_token_id", -1, "tokenizer.ggml.eos_token_id is -1, and there are 259 tokens"),
    (BASE, "eot_token_id", True, "tokenizer.ggml.eot_token_id must be an integer, got bool: True"),
    (BASE, "unknown_token_id", 1.0,
     "tokenizer.ggml.unknown_token_id must be an integer, got float: 1.0"),
    (BASE, "padding_token_id", 1 << 32, "tokenizer.ggml.padding_token_id is 4294967296, and"),
    (BASE, "add_bos_token", True,
     "tokenizer.ggml.add_bos_token is true, and tokenizer.ggml.bos_token_id is missing"),
    (BASE, "add_eos_token", True,
     "tokenizer.ggml.add_eos_token is true, and tokenizer.ggml.eos_token_id is missing"),
    (BASE, "add_bos_token", 1, "tokenizer.ggml.add_bos_token must be True or False, got int: 1"),
    (SPM, "scores", MISSING, "the metadata has no tokenizer.ggml.scores"),
    (SPM, "scores", [0.0], "tokenizer.ggml.scores has 1 items, and there are 262 tokens"),
    (SPM, "scores", with_item(SPM, "scores", 3, math.nan),
     "tokenizer.ggml.scores[3] must be a finite number, got float: nan"),
    (SPM, "scores", with_item(SPM, "scores", 4, "0"),
     "tokenizer.ggml.scores[4] must be a number, got str: '0'"),
    (SPM, "add_space_prefix", "yes",
     "tokenizer.ggml.add_space_prefix must be True or False, got str: 'yes'"),
    (SPM, "remove_extra_whitespaces", 0,
     "tokenizer.ggml.remove_extra_whitespaces must be True or False, got int: 0"),
]  # fmt: skip


@pytest.mark.parametrize("metadata, key, value, what", WRONG)
def test_wrong_metadata_is_explained(
    metadata: dict[str, Any], key: str, value: Any, what: str
) -> None:
    with pytest.raises(ts.errors.FormatError) as caught:
        Tokenizer.from_metadata(changed(metadata, key, value))
    message = str(caught.value)
    assert message.startswith(f"Tokenizer.from_metadata: {what}")
    assert "  at test_tokenizer_errors.py:" in message and "  hint: " in message


@pytest.mark.parametrize("key", ["general.name", "tokenizer.chat_template"])
def test_other_metadata_is_text(key: str) -> None:
    with pytest.raises(ts.errors.FormatError, match=f"{key} must be text, got list"):
        Tokenizer.from_metadata({**BASE, key: []})


def test_metadata_is_a_dict() -> None:
    with pytest.raises(ts.errors.ArgumentError, match="metadata must be a dict, got list"):
        Tokenizer.from_metadata([])  # type: ignore[arg-type]


def test_hints_list_what_is_supported() -> None:
    for key, known in (("model", "'llama', 'gpt2'"), ("pre", "llama-bpe, ")):
        with pytest.raises(ts.errors.FormatError) as caught:
            Tokenizer.from_metadata(changed(BASE, key, "other"))
        assert known in caught.value.hint and "from_file" in caught.value.hint


SCRAMBLED = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=6,
)


@given(st.sampled_from([BASE, SPM]), st.data())
def test_scrambled_metadata_makes_a_tokenizer_or_an_error(
    metadata: dict[str, Any], data: st.DataObject
) -> None:
    more = {**metadata, f"{KEY}bos_token_id": 1, f"{KEY}add_bos_token": True}
    key = data.draw(st.sampled_from(sorted(more)))
    try:
        tokenizer = Tokenizer.from_metadata({**more, key: data.draw(SCRAMBLED)})
    except ts.errors.FormatError:
        return
    tokenizer.decode(tokenizer.encode("the <end> \u4f60"))


# --- text and ids --------------------------------------------------------------------------------


TOKENIZER = Tokenizer.from_metadata(BASE)


@pytest.mark.parametrize("text, place", [("\ud800", 0), ("ab\udfff", 2), ("\u4f60\ud83d!", 1)])
def test_lone_surrogates_are_refused(text: str, place: int) -> None:
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        TOKENIZER.encode(text)
    message = str(caught.value)
    assert message.startswith(f"Tokenizer.encode: text[{place}] is {text[place]!a}, a lone surr")
    assert 'hint: drop it: text.encode("utf-8", "ignore")' in message


CALLS: list[tuple[Any, type[Exception], str]] = [
    (lambda t: t.encode(b"x"), ts.errors.ArgumentError,
     "Tokenizer.encode: text must be text, got bytes"),
    (lambda t: t.encode(None), ts.errors.ArgumentError,
     "Tokenizer.encode: text must be text, got NoneType"),
    (lambda t: t.encode("x", add_special=1), ts.errors.ArgumentError,
     "Tokenizer.encode: add_special must be True or False, got int"),
    (lambda t: t.encode("x", parse_special="no"), ts.errors.ArgumentError,
     "Tokenizer.encode: parse_special must be True or False, got str"),
    (lambda t: t.decode([1, 259]), ts.errors.IndexOutOfBounds,
     "Tokenizer.decode: token 259 is out of range for 259 tokens"),
    (lambda t: t.decode([-1]), ts.errors.IndexOutOfBounds,
     "Tokenizer.decode: token -1 is out of range for 259 tokens"),
    (lambda t: t.decode_bytes([1 << 40]), ts.errors.IndexOutOfBounds,
     "Tokenizer.decode_bytes: token 1099511627776 is out of range for 259 tokens"),
    (lambda t: t.decode([1.0]), ts.errors.ArgumentError,
     "Tokenizer.decode: token must be an integer, got float"),
    (lambda t: t.decode([True]), ts.errors.ArgumentError,
     "Tokenizer.decode: token must be an integer, got bool"),
    (lambda t: t.decode(5), ts.errors.ArgumentError,
     "Tokenizer.decode: tokens must be ids, got int"),
    (lambda t: t.decode("5"), ts.errors.ArgumentError,
     "Tokenizer.decode: tokens must be ids, got str"),
    (lambda t: t.decode([1], skip_special=None), ts.errors.ArgumentError,
     "Tokenizer.decode: skip_special must be True or False, got NoneType"),
    (lambda t: t.id_to_token(300), ts.errors.IndexOutOfBounds,
     "Tokenizer.id_to_token: token 300 is out of range for 259 tokens"),
    (lambda t: t.token_to_id(3), ts.errors.ArgumentError,
     "Tokenizer.token_to_id: token must be text, got int"),
    (lambda t: t.stream().add(999), ts.errors.IndexOutOfBounds,
     "Stream.add: token 999 is out of range for 259 tokens"),
    (lambda t: t.stream(is_start=0), ts.errors.ArgumentError,
     "Tokenizer.stream: is_start must be True or False, got int"),
]  # fmt: skip


@pytest.mark.parametrize("call, kind, what", CALLS)
def test_wrong_calls_are_explained(call: Any, kind: type[Exception], what: str) -> None:
    with pytest.raises(kind) as caught:
        call(TOKENIZER)
    assert str(caught.value).startswith(what)


def test_streams_end_once() -> None:
    stream = TOKENIZER.stream()
    stream.end()
    for call in (stream.end, lambda: stream.add(1)):
        with pytest.raises(ts.errors.IllegalState, match="the stream has ended"):
            call()


def test_what_the_vocabulary_cannot_say_is_unknown_or_left_out() -> None:
    def encode(metadata: dict[str, Any], **more: Any) -> list[int]:
        tokenizer = Tokenizer.from_metadata({**metadata, **{KEY + k: v for k, v in more.items()}})
        return tokenizer.encode("ab\u4f60a", add_special=False)

    few = {f"{KEY}model": "gpt2", f"{KEY}tokens": ["a", "?"], f"{KEY}merges": []}
    assert encode(few) == [0, 0]
    assert encode(few, unknown_token_id=1) == [0, 1, 1, 1, 1, 0]
    tokens = {f"{KEY}tokens": ["?", "a", "\u2581a"], f"{KEY}scores": [0, -1, -2]}
    assert encode({f"{KEY}model": "llama", **tokens}) == [2, 0, 0, 1]
