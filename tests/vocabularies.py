"""Vocabularies for the tests of tokenizers: small ones made here, and parts of known ones.

tests/figures/tokens.json.xz is made by tools/figures_tokens.py.
"""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tessella.text import Tokenizer
from tessella.text.byte_level import ALPHABET
from tessella.text.sentence_pieces import SPACE

KEY = "tokenizer.ggml."
NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6


@functools.cache
def stored() -> dict[str, Any]:
    """Give the stored vocabularies by name: metadata, ids in the whole one, texts and tokens."""
    path = Path(__file__).parent / "figures" / "tokens.json.xz"
    found: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return found


@functools.cache
def known(name: str) -> Tokenizer:
    """Give the tokenizer of a stored vocabulary."""
    return Tokenizer.from_metadata(stored()[name]["metadata"])


def byte_level(
    merges: Sequence[str] = (), specials: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """Give metadata of a byte-level tokenizer: all bytes, what merges give, special tokens."""
    tokens = [*ALPHABET.values(), *(merge.replace(" ", "") for merge in merges)]
    kinds = [NORMAL] * len(tokens) + [CONTROL] * len(specials)
    metadata = {
        "model": "gpt2", "pre": "gpt-2", "tokens": [*tokens, *specials], "token_type": kinds,
        "merges": list(merges), **more,
    }  # fmt: skip
    return {f"{KEY}{key}": value for key, value in metadata.items()}


def pieces(words: Sequence[str] = (), specials: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """Give metadata of a tokenizer in the manner of SentencePiece: bytes, words by score."""
    first = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), SPACE]
    tokens = [*first, *words, *specials]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * (1 + len(words))]
    scores = [0.0] * 259 + [-float(place) for place in range(1 + len(words) + len(specials))]
    metadata = {
        "model": "llama", "tokens": tokens, "scores": scores,
        "token_type": kinds + [USER] * len(specials), **more,
    }  # fmt: skip
    return {f"{KEY}{key}": value for key, value in metadata.items()}
