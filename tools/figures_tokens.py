"""Stores what tokenizers of known vocabularies give: tests/figures/tokens.json.xz.

    python tools/figures_tokens.py FOLDER

FOLDER is models/ of llama.cpp, as the source package of llama-cpp-python on PyPI has it in
vendor/llama.cpp: vocabularies, texts (.inp) and their tokens (.out). It needs the package gguf.
Whole vocabularies are large, so tests get small ones: the tokens and merges that can play a role
for these texts, which are those that occur in them. Both must give the tokens of the files.
"""

from __future__ import annotations

import json
import lzma
import sys
import time
from pathlib import Path
from typing import Any

from gguf import GGUFReader

from tessella.text import Tokenizer
from tessella.text.byte_level import ALPHABET
from tessella.text.sentence_pieces import SPACE
from tessella.text.vocabulary import Kind

FIGURES = Path(__file__).resolve().parent.parent / "tests" / "figures"
NAMES = (
    "llama-spm", "phi-3", "gpt-2", "llama-bpe", "qwen2", "starcoder", "falcon", "deepseek-llm",
    "deepseek-coder", "mpt", "refact", "command-r",
)  # fmt: skip
BETWEEN = "\n__ggml_vocab_test__\n"
PREFIX = "tokenizer.ggml."
PER_TOKEN = (f"{PREFIX}tokens", f"{PREFIX}scores", f"{PREFIX}token_type")


def read_metadata(path: Path) -> dict[str, Any]:
    """Give what a GGUF file says of its tokenizer."""
    fields = GGUFReader(path).fields
    return {
        key: field.contents()
        for key, field in fields.items()
        if key.startswith(PREFIX) or key == "general.name"
    }


def read_cases(path: Path) -> list[tuple[str, list[int]]]:
    """Give the texts beside a vocabulary, and their tokens."""
    texts = Path(f"{path}.inp").read_bytes().decode().split(BETWEEN)
    lines = Path(f"{path}.out").read_text().split("\n")
    tokens = [[int(word) for word in line.split()] for line in lines]
    return list(zip(texts, tokens, strict=True))


def spellings(text: str) -> list[str]:
    """Give a text as it may stand in tokens of either kind."""
    alphabet = text.encode().decode("latin-1").translate(ALPHABET)
    return [text, alphabet, SPACE + text.replace(" ", SPACE)]


def reduce(metadata: dict[str, Any], texts: list[str]) -> tuple[dict[str, Any], list[int]]:
    """Leave out the tokens that do not occur in texts; give the ids of those that stay, too."""
    spelled = "\n\n".join(spelling for text in texts for spelling in spellings(text))
    tokens = metadata[f"{PREFIX}tokens"]
    kinds = metadata[f"{PREFIX}token_type"]
    kept = [
        place for place, token in enumerate(tokens)
        if kinds[place] != Kind.NORMAL or len(token) == 1 or token in spelled
    ]  # fmt: skip
    small = dict(metadata)
    for key in PER_TOKEN:
        if key in metadata:
            small[key] = [metadata[key][place] for place in kept]
    known = set(small[f"{PREFIX}tokens"])
    if f"{PREFIX}merges" in metadata:
        small[f"{PREFIX}merges"] = [
            merge for merge in metadata[f"{PREFIX}merges"]
            if known.issuperset((*merge.split(" "), merge.replace(" ", "")))
        ]  # fmt: skip
    places = {place: new for new, place in enumerate(kept)}
    for key, value in metadata.items():
        if key.endswith("_token_id"):
            small[key] = places[value]
    return small, kept


def check(name: str, metadata: dict[str, Any], cases: Any, ids: list[int] | None = None) -> None:
    """Fail unless a vocabulary gives the tokens of the files."""
    start = time.perf_counter()
    tokenizer = Tokenizer.from_metadata(metadata)
    taken = time.perf_counter() - start
    wrong = 0
    for text, wanted in cases:
        found = tokenizer.encode(text, add_special=False, parse_special=False)
        if [token if ids is None else ids[token] for token in found] != wanted:
            wrong += 1
            print(f"{name}: {text!r}\n  found  {found}\n  wanted {wanted}")
    size = tokenizer.vocabulary_size
    print(f"{name:13} {size:7} tokens, made in {taken:.3f} s, {len(cases)} texts, {wrong} wrong")
    if wrong:
        raise SystemExit(1)


def main() -> None:
    """Check all vocabularies, whole and small, and store the small ones."""
    stored = {}
    for name in NAMES:
        path = Path(sys.argv[1]) / f"ggml-vocab-{name}.gguf"
        metadata, cases = read_metadata(path), read_cases(path)
        check(name, metadata, cases)
        small, ids = reduce(metadata, [text for text, _ in cases])
        check(f"{name} small", small, cases, ids)
        stored[name] = {"metadata": small, "ids": ids, "cases": cases}
    content = json.dumps(stored, separators=(",", ":")).encode()
    target = FIGURES / "tokens.json.xz"
    target.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(content):,} bytes, {target.stat().st_size:,} packed")


if __name__ == "__main__":
    main()
