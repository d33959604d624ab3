"""tokenizer.json through the package tokenizers; what that package gives, beside ours."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tokenizers import AddedToken, Regex, Tokenizer as Other, decoders, models, pre_tokenizers

import tessella as ts
from tessella.text import Tokenizer
from tessella.text.byte_level import ALPHABET
from tessella.text.splitting import RULES, split
from vocabularies import KEY, stored

# Characters that both sides know: the package may have newer tables of Unicode.
KNOWN = st.characters(exclude_categories=["Cs", "Co", "Cn"]).filter(
    lambda char: unicodedata.category(char) != "Cn"
)
PARTS = [
    "don't", "WE'LL", " 'S", "  ", " \n", "123", "1234567", "Ab", "aB", "\u01c5a", "\u4e2d\u6587",
    "\ud55c\uad6d", "e\u0301", "\xbd", "\u2167", "...", "~~", "/", "_", "\t", "\r\n", "\xa0",
    "\u3000", "\x85", "\x1c", "if x:\n    y",
]  # fmt: skip
TEXT = st.lists(st.text(KNOWN, max_size=4) | st.sampled_from(PARTS), max_size=12).map("".join)

ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"\s+(?!\S)|\s+"
GPT2 = rf"'s|'t|'re|'ve|'m|'ll|'d| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|{BLANKS}"
START = r"[^\r\n\p{L}\p{N}]?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ASIAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"


def modern(numbers: str, letters: str = r"\p{L}") -> str:
    signs = rf" ?[^\s{letters}\p{{N}}]+[\r\n]*"
    return rf"{ENDINGS}|{START}[{letters}]+|{numbers}|{signs}|\s*[\r\n]+|{BLANKS}"


def cased(numbers: str, endings: str) -> str:
    words = f"{START}{UPPER}*{LOWER}+{endings}|{START}{UPPER}+{LOWER}*{endings}"
    return rf"{words}|{numbers}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|{BLANKS}"


# The patterns as the files of these models have them.
PATTERNS = {
    "gpt-2": [GPT2],
    "starcoder": [r"\p{N}", GPT2],
    "llama-bpe": [modern(r"\p{N}{1,3}")],
    "qwen2": [modern(r"\p{N}")],
    "qwen35": [modern(r"\p{N}", r"\p{L}\p{M}")],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "tekken": [cased(r"\p{N}", "")],
    "gpt-4o": [cased(r"\p{N}{1,3}", f"{ENDINGS}?")],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", ASIAN, r"\p{N}"],
    "deepseek-v3": [
        r"\p{N}{1,3}",
        "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?"""
        rf"[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+[\r\n]*|\s*[\r\n]+|{BLANKS}",
    ],
}


def splitter(name: str) -> Any:
    """Give the package's way of cutting text by a rule."""
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in PATTERNS[name]]
    )


@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXT)
def test_text_is_cut_as_the_package_cuts_it(name: str, text: str) -> None:
    words = [word for word, _ in splitter(name).pre_tokenize_str(text)]
    assert split(text, RULES[name]) == words


@pytest.mark.parametrize("name", ["gpt-2", "llama-bpe", "qwen2", "starcoder"])
@given(text=TEXT)
def test_tokens_are_those_of_the_package(name: str, text: str) -> None:
    metadata = stored()[name]["metadata"]
    tokens, merges = metadata[f"{KEY}tokens"], metadata[f"{KEY}merges"]
    model = models.BPE(
        {token: place for place, token in enumerate(tokens)},
        [tuple(merge.split(" ")) for merge in merges],
        ignore_merges=RULES[name].ignores_merges,
    )
    other = Other(model)
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    other.pre_tokenizer = pre_tokenizers.Sequence([splitter(name), spell])
    ours = Tokenizer.from_metadata(metadata)
    found = ours.encode(text, add_special=False, parse_special=False)
    assert found == other.encode(text).ids


# --- files ---------------------------------------------------------------------------------------


def save(folder: Path, **config: Any) -> Path:
    """Write a byte-level tokenizer with two special tokens, and what is said beside it."""
    vocabulary = {char: place for place, char in enumerate(ALPHABET.values())}
    vocabulary |= {"th": 256, "the": 257, "\u0120the": 258}
    other = Other(models.BPE(vocabulary, [("t", "h"), ("th", "e"), ("\u0120", "the")]))
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = decoders.ByteLevel()
    other.add_special_tokens(["<s>", "<|im_end|>"])
    other.add_tokens([AddedToken("<tool>", special=False)])
    other.save(str(folder / "tokenizer.json"))
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def test_files_are_read_with_what_lies_beside_them(tmp_path: Path) -> None:
    config = {"bos_token": "<s>", "eos_token": {"content": "<|im_end|>"}, "pad_token": None}
    save(tmp_path, **config, chat_template="{{ messages }}")
    for path in (tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        tokenizer = Tokenizer.from_file(path)
        assert tokenizer.encode("the the<s>") == [257, 258, 259]
        assert tokenizer.decode([257, 258, 259]) == "the the<s>"
        assert tokenizer.decode([257, 258, 259], skip_special=True) == "the the"
        assert (tokenizer.bos, tokenizer.eos, tokenizer.eot) == (259, 260, 260)
        assert tokenizer.padding is None and tokenizer.unknown is None
        assert tokenizer.special_ids == {259, 260} and tokenizer.ends == {260}
        assert tokenizer.vocabulary_size == 262
        assert tokenizer.token_to_id("the") == 257 and tokenizer.id_to_token(261) == "<tool>"
        assert tokenizer.chat_template == "{{ messages }}"


def test_special_tokens_of_files_may_be_text(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_file(save(tmp_path))
    assert tokenizer.encode("<s>") == [259]
    assert len(tokenizer.encode("<s>", parse_special=False)) == 3
    assert tokenizer.encode("<s>") == [259]
    assert tokenizer.bos is None and tokenizer.chat_template is None


def test_texts_of_files_are_neither_cut_nor_filled_up(tmp_path: Path) -> None:
    save(tmp_path)
    path = str(tmp_path / "tokenizer.json")
    other = Other.from_file(path)
    other.enable_truncation(3)
    other.enable_padding(length=8)
    other.save(path)
    tokenizer = Tokenizer.from_file(path)
    for parses in (False, True):
        for text in ("a", "abcdef" * 3):
            assert len(tokenizer.encode(text, parse_special=parses)) == len(text)


@pytest.mark.parametrize("template", [
    [{"name": "tools", "template": "x"}, {"name": "default", "template": "y"}], "y",
])  # fmt: skip
def test_templates_come_from_the_configuration_or_a_file(tmp_path: Path, template: Any) -> None:
    save(tmp_path, chat_template=template)
    assert Tokenizer.from_file(tmp_path).chat_template == "y"
    (tmp_path / "chat_template.jinja").write_text("z")
    assert Tokenizer.from_file(tmp_path).chat_template == "z"


@given(text=st.text(st.characters(exclude_categories=["Cs"])), skips=st.booleans())
def test_text_of_files_comes_back_and_streams(
    tmp_path_factory: pytest.TempPathFactory, text: str, skips: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "streamed"
    if not folder.exists():
        folder.mkdir()
        save(folder)
    tokenizer = Tokenizer.from_file(folder)
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text and tokenizer.decode_bytes(tokens) == text.encode()
    stream = tokenizer.stream(skip_special=skips)
    parts = [stream.add(token) for token in tokens]
    assert "".join([*parts, stream.end()]) == tokenizer.decode(tokens, skip_special=skips)


def test_streams_of_files_wait_for_whole_characters(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_file(save(tmp_path))
    stream = tokenizer.stream()
    tokens = tokenizer.encode("a\u20ac the")
    assert [stream.add(token) for token in tokens] == ["a", "", "", "\u20ac", " the"]
    assert stream.add(tokens[1]) == "" and stream.end() == "\ufffd"


def save_pieces(folder: Path) -> Path:
    """Write a tokenizer whose words begin with a space of their own."""
    vocabulary = {"<unk>": 0, "\u2581": 1, "a": 2, "b": 3, "\u2581a": 4, "<0xE2>": 5, "<0x82>": 6}
    model = models.BPE(vocabulary, [("\u2581", "a")], unk_token="<unk>", byte_fallback=True)
    other = Other(model)
    other.pre_tokenizer = pre_tokenizers.Metaspace()
    other.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(), decoders.Fuse()]
    )
    other.add_special_tokens(["<s>"])
    other.save(str(folder / "tokenizer.json"))
    return folder


# Bytes come as whole characters: of a run with a wrong one the package decodes none, and a stream
# has given the first by then.
GROUPS = st.lists(st.sampled_from([[0], [1], [2], [3], [4], [5, 6, 6], [7]]))


@given(groups=GROUPS, skips=st.booleans())
def test_streams_of_files_give_the_text_of_any_tokens(
    tmp_path_factory: pytest.TempPathFactory, groups: list[list[int]], skips: bool
) -> None:
    tokens = [token for group in groups for token in group]
    folder = tmp_path_factory.getbasetemp() / "pieces"
    if not folder.exists():
        folder.mkdir()
        save_pieces(folder)
    tokenizer = Tokenizer.from_file(folder)
    stream = tokenizer.stream(skip_special=skips)
    parts = [stream.add(token) for token in tokens]
    assert "".join([*parts, stream.end()]) == tokenizer.decode(tokens, skip_special=skips)


def test_streams_of_files_that_go_on_keep_the_first_space(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_file(save_pieces(tmp_path))
    assert tokenizer.stream().add(4) == "a"
    stream = tokenizer.stream(is_start=False)
    assert [stream.add(4), stream.add(3), stream.add(4), stream.end()] == [" a", "b", " a", ""]


@pytest.mark.parametrize("content, what", [
    (b"{}", "it is no tokenizer: "), (b"\xff", "it is no tokenizer: "), (b"", "it is no tokenizer"),
])  # fmt: skip
def test_wrong_files_are_explained(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ts.errors.FormatError) as caught:
        Tokenizer.from_file(path)
    assert str(caught.value).startswith(f"Tokenizer.from_file: {what}")
    assert f"  in {path}\n" in str(caught.value)


@pytest.mark.parametrize("content, what", [
    (b"{", "it is no JSON: "), (b"[" * 100_000, "it is no JSON: "),
    (b"\xff\xfe", "it is no JSON: "), (b"[]", "it is no object of JSON"),
])  # fmt: skip
def test_wrong_configurations_are_explained(tmp_path: Path, content: bytes, what: str) -> None:
    save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_bytes(content)
    with pytest.raises(ts.errors.FormatError) as caught:
        Tokenizer.from_file(tmp_path)
    assert str(caught.value).startswith(f"Tokenizer.from_file: {what}")
    assert f"  in {path}\n" in str(caught.value)


def test_tokenizers_that_do_not_fit_themselves_are_explained(tmp_path: Path) -> None:
    path = save_pieces(tmp_path) / "tokenizer.json"
    content = json.loads(path.read_text())
    del content["model"]["vocab"]["<unk>"]
    path.write_text(json.dumps(content))
    with pytest.raises(ts.errors.FormatError) as caught:
        Tokenizer.from_file(path).encode("x")
    message = str(caught.value)
    assert message.startswith("Tokenizer.encode: the package tokenizers failed: Unk token `<unk>`")


def test_paths_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ts.errors.ArgumentError, match="path must be a path, got int"):
        Tokenizer.from_file(3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_file(tmp_path)


def test_the_package_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ts.errors.PreconditionFailed) as caught:
        Tokenizer.from_file(save(tmp_path))
    message = str(caught.value)
    assert "the package tokenizers reads tokenizer.json, and it is not installed" in message
    assert 'hint: pip install "tessella[tokenizers]"' in message
