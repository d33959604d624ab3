"""Tokenizers from metadata: the tokens of known vocabularies, round trips, streams, speed."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

import tessella as ts
from conftest import sampled
from tessella.text import Tokenizer, splitting
from tessella.text.merging import merge
from tessella.text.sentence_pieces import SPACE
from vocabularies import KEY, byte_level, known, pieces, stored

NAMES = (
    "llama-spm", "phi-3", "gpt-2", "llama-bpe", "qwen2", "starcoder", "falcon", "deepseek-llm",
    "deepseek-coder", "mpt", "refact", "command-r",
)  # fmt: skip
RULES = st.sampled_from(sorted(splitting.RULES))
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WORDS = [
    "the", " ", "  ", "\n", "\t", "don't", "WE'LL", "1234567", "\u00e4\u00f6", "\u4f60\u597d",
    "...", "\U0001f600", "e\u0301", "<s>", "a" * 40, "\xa0", "\u3000", "_x", "==", "\r\n",
]  # fmt: skip
TEXT = ANY_TEXT | st.lists(st.sampled_from(WORDS)).map("".join)


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_of_the_known_vocabulary(name: str) -> None:
    ids, cases = stored()[name]["ids"], stored()[name]["cases"]
    assert len(cases) > 40
    for text, wanted in cases:
        found = known(name).encode(text, add_special=False, parse_special=False)
        assert [ids[token] for token in found] == wanted, text


@pytest.mark.parametrize("name", NAMES)
def test_texts_of_the_known_vocabularies_come_back(name: str) -> None:
    tokenizer = known(name)
    for text, _ in stored()[name]["cases"]:
        tokens = tokenizer.encode(text, parse_special=False)
        assert tokenizer.decode(tokens, skip_special=True) == text


BASE = byte_level(["t h", "th e", "\u0120 the", "a a", "aa aa"], ["<|end|>"])
SPM = pieces(["the", "\u2581the", "th", "t", "h", "e", "\u2581t", "a", "aa", "aaaa", SPACE * 2])


@given(TEXT, RULES)
def test_byte_level_tokens_decode_to_their_text(text: str, name: str) -> None:
    tokenizer = Tokenizer.from_metadata({**BASE, f"{KEY}pre": name})
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text
    assert tokenizer.decode_bytes(tokens) == text.encode()


@given(TEXT, st.booleans())
def test_pieces_decode_to_their_text(text: str, has_prefix: bool) -> None:
    tokenizer = Tokenizer.from_metadata({**SPM, f"{KEY}add_space_prefix": has_prefix})
    text = text.replace(SPACE, "_")  # the one character that is read as another
    tokens = tokenizer.encode(text, parse_special=False)
    assert tokens[0] == tokenizer.bos
    assert tokenizer.decode(tokens[1:]) == text
    assert tokenizer.decode(tokens, skip_special=True) == text


MARKED = st.lists(st.sampled_from(["<s>", "<|end|>", " ", "the", "a", "  a", "\n"])).map("".join)


@given(MARKED, st.sampled_from([BASE, SPM]))
def test_text_with_special_tokens_comes_back(text: str, metadata: Any) -> None:
    tokenizer = Tokenizer.from_metadata(metadata)
    assert tokenizer.decode(tokenizer.encode(text, add_special=False)) == text


@given(TEXT | MARKED, st.booleans(), st.sampled_from([BASE, SPM]))
def test_text_in_a_stream_is_that_of_all_tokens(text: str, skips: bool, metadata: Any) -> None:
    tokenizer = Tokenizer.from_metadata(metadata)
    tokens = tokenizer.encode(text)
    stream = tokenizer.stream(skip_special=skips)
    parts = [stream.add(token) for token in tokens]
    assert "".join([*parts, stream.end()]) == tokenizer.decode(tokens, skip_special=skips)


@given(st.lists(st.integers(0, 255)), st.sampled_from([BASE, SPM]))
def test_streams_and_texts_mark_the_same_wrong_bytes(tokens: list[int], metadata: Any) -> None:
    tokenizer = Tokenizer.from_metadata(metadata)
    stream = tokenizer.stream()
    parts = [stream.add(token) for token in tokens]
    assert "".join([*parts, stream.end()]) == tokenizer.decode(tokens)


def test_streams_give_characters_when_they_are_whole() -> None:
    tokenizer = Tokenizer.from_metadata(byte_level())
    stream = tokenizer.stream()
    assert [stream.add(token) for token in tokenizer.encode("a\u20ac!")] == [
        "a", "", "", "\u20ac", "!"
    ]  # fmt: skip
    stream.add(tokenizer.encode("\u20ac")[0])
    assert stream.end() == "\ufffd"


def test_streams_that_go_on_keep_the_first_space() -> None:
    tokenizer = Tokenizer.from_metadata(SPM)
    token = tokenizer.encode("the", add_special=False)
    assert len(token) == 1
    assert tokenizer.stream().add(token[0]) == "the"
    assert tokenizer.stream(is_start=False).add(token[0]) == " the"


# --- merging -------------------------------------------------------------------------------------


def merged_slowly(parts: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """Merge by the definition: look for the best pair again and again."""
    parts = [*parts]
    while pairs := [
        (ranks[pair], place)
        for place, pair in enumerate(itertools.pairwise(parts))
        if pair in ranks
    ]:
        place = min(pairs)[1]
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


@given(st.text("abc", max_size=40), st.data())
def test_merging_is_what_its_definition_says(text: str, data: st.DataObject) -> None:
    part = st.text("abc", min_size=1, max_size=4)
    ranks = data.draw(st.dictionaries(st.tuples(part, part), st.integers(0, 5), max_size=30))
    found = merge([*text], lambda left, right: ranks.get((left, right)))
    assert found == merged_slowly([*text], ranks)


@given(st.text("ab ", max_size=30), st.lists(st.text(f"ab{SPACE}", min_size=2, max_size=4)))
def test_pieces_may_reach_across_spaces(text: str, words: list[str]) -> None:
    """Words are remembered, and the result is that of merging the text as a whole."""
    words = ["a", "b", *sorted(set(words))]
    tokenizer = Tokenizer.from_metadata(pieces(words))
    place = {word: rank for rank, word in enumerate(words)}
    rank = {(word[:cut], word[cut:]): place[word] for word in words for cut in range(1, len(word))}
    parts = merged_slowly([*(f" {text}".replace(" ", SPACE))], rank)
    found = tokenizer.encode(text, add_special=False)
    assert [tokenizer.id_to_token(token) for token in found] == (parts if text else [])


# --- special tokens ------------------------------------------------------------------------------


def test_special_tokens_are_parsed_or_are_text() -> None:
    tokenizer = Tokenizer.from_metadata(byte_level([], ["<|end|>", "<|end|>!"]))
    end, longer = 256, 257
    a = tokenizer.token_to_id("a")
    assert a is not None
    assert tokenizer.encode("a<|end|>a<|end|>!<|end|>") == [a, end, a, longer, end]
    assert len(tokenizer.encode("<|end|>", parse_special=False)) == 7
    assert tokenizer.special_ids == {end, longer}
    assert tokenizer.eot == end and tokenizer.ends == {end}
    assert tokenizer.decode([a, end], skip_special=True) == "a"


def test_tokens_of_users_are_cut_out_always() -> None:
    tokenizer = Tokenizer.from_metadata(pieces(["a"], ["<tool>"]))
    tool = tokenizer.token_to_id("<tool>")
    assert tool is not None
    for parses in (False, True):
        tokens = tokenizer.encode("a<tool>a", add_special=False, parse_special=parses)
        assert tokens.count(tool) == 1 and tokenizer.decode(tokens) == "a<tool>a"
    assert tool not in tokenizer.special_ids


def test_special_text_is_no_way_to_control_tokens() -> None:
    """The bos token is no merge of plain text, whatever its score."""
    tokenizer = Tokenizer.from_metadata(pieces(["<", "s", ">", "<s"]))
    assert tokenizer.bos not in tokenizer.encode("<s>", add_special=False, parse_special=False)
    assert tokenizer.encode("<s>", add_special=False) == [tokenizer.bos]


def test_special_tokens_of_phi_3_take_blanks_along() -> None:
    plain = pieces(["a"], ["<|user|>"])
    phi = Tokenizer.from_metadata({**plain, "general.name": "Phi-3 mini"})
    other = Tokenizer.from_metadata(plain)
    text = "<|user|> \n a"
    assert phi.encode(text) == phi.encode("<|user|>a") == other.encode("<|user|>a")
    assert len(other.encode(text)) == len(phi.encode(text)) + 3
    assert phi.encode("<s> a") == other.encode("<s> a")


def test_ends_are_added_as_the_file_says() -> None:
    def encode(**more: Any) -> list[int]:
        return Tokenizer.from_metadata(pieces(["a"], **more)).encode("")

    assert encode() == [1]
    assert encode(add_bos_token=False) == []
    assert encode(add_eos_token=True) == [1, 2]
    assert encode(add_eos_token=True, bos_token_id=2, eos_token_id=1) == [2, 1]
    llama3 = byte_level([], ["<s>"], pre="llama-bpe", bos_token_id=256)
    assert Tokenizer.from_metadata(llama3).encode("") == [256]
    assert Tokenizer.from_metadata({**llama3, f"{KEY}add_bos_token": False}).encode("") == []


def test_spaces_are_joined_where_the_file_says_so() -> None:
    tokenizer = Tokenizer.from_metadata(pieces(["a"], remove_extra_whitespaces=True))
    assert tokenizer.encode("  a   a ") == tokenizer.encode("a a")


def test_properties_name_special_tokens() -> None:
    tokenizer = Tokenizer.from_metadata(pieces(["a"], ["<pad>"], padding_token_id=261))
    assert (tokenizer.bos, tokenizer.eos, tokenizer.unknown, tokenizer.padding) == (1, 2, 0, 261)
    assert tokenizer.eot is None and tokenizer.ends == {2} and tokenizer.special_ids == {0, 1, 2}
    assert tokenizer.vocabulary_size == 262
    assert tokenizer.id_to_token(261) == "<pad>" and tokenizer.token_to_id("none") is None
    assert tokenizer.chat_template is None


def test_ends_of_turns_are_known_by_their_text() -> None:
    plain = byte_level(["< |"])
    tokens = [*plain[f"{KEY}tokens"], "<|im_end|>", "</s>"]
    kinds = [1] * len(tokens)  # as plain text: the first can be none, the other may
    tokenizer = Tokenizer.from_metadata(
        {**plain, f"{KEY}tokens": tokens, f"{KEY}token_type": kinds}
    )
    assert tokenizer.eot == len(tokens) - 2 and tokenizer.ends == {tokenizer.eot}
    assert tokenizer.encode("<|im_end|>") == [tokenizer.eot]
    assert len(tokenizer.encode("</s>")) == 4
    named = Tokenizer.from_metadata({**plain, f"{KEY}eot_token_id": 7, f"{KEY}eos_token_id": 8})
    assert named.eot == 7 and named.ends == {7, 8}


def test_a_word_that_is_a_token_needs_no_merges_where_the_rule_says_so() -> None:
    metadata = byte_level(["a b"], [])
    metadata[f"{KEY}tokens"].append("abc")
    metadata[f"{KEY}token_type"].append(1)
    for rule, count in (("llama-bpe", 1), ("gpt-2", 2)):
        more = {f"{KEY}pre": rule, f"{KEY}add_bos_token": False}
        assert len(Tokenizer.from_metadata({**metadata, **more}).encode("abc")) == count


def test_tokens_come_from_tensors_too() -> None:
    tokenizer = Tokenizer.from_metadata(byte_level())
    assert tokenizer.decode(ts.tensor(tokenizer.encode("hello"))) == "hello"


# --- speed ---------------------------------------------------------------------------------------


RUNS = ["a", " ", "\n", "\u4f60", "1", ".", "Aa", "A", "\xa0", "'", "e\u0301", " \n", "\r"]
CUTS = {rule.steps: name for name, rule in splitting.RULES.items()}.values()  # one name of each
MANY_CUTS = itertools.product(CUTS, RUNS, ["", "a", "\u4f60", "1", "."])


@pytest.mark.parametrize("name, text, end", sampled(MANY_CUTS, 40))
def test_long_runs_are_soon_cut(name: str, text: str, end: str) -> None:
    start = time.process_time()
    long = text * 100_000 + end
    assert "".join(splitting.split(long, splitting.RULES[name])) == long
    assert time.process_time() - start < 5  # about 0.1 s; the square of the length takes minutes


@pytest.mark.parametrize(
    "name, text",
    sampled(itertools.product(("llama-spm", "phi-3", "gpt-2", "llama-bpe"), RUNS), 12),
)
def test_long_runs_are_soon_encoded(name: str, text: str) -> None:
    start = time.process_time()
    long = text * 100_000
    tokens = known(name).encode(long)
    assert time.process_time() - start < 10  # about 0.5 s; the square of the length takes minutes
    assert known(name).decode(tokens, skip_special=True) == long


def test_a_megabyte_takes_seconds() -> None:
    chooser = random.Random(1)
    words = ["".join(chooser.choices("etaoinshr", k=chooser.randint(1, 9))) for _ in range(5000)]
    text = " ".join(chooser.choices(words, k=200_000))[:1_000_000]
    for name in ("gpt-2", "llama-spm", "deepseek-llm"):
        start = time.process_time()
        assert known(name).encode(text)
        assert time.process_time() - start < 10  # about 1 s
