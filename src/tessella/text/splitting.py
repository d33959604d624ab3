"""How byte-level tokenizers cut text into words before they merge, by the names in GGUF files.

A rule is a list of patterns. The first cuts the text into what it matches and what lies between;
each further one cuts the parts that it is given. Most patterns are over folded text (folding.py);
those that name characters beyond ASCII are over the text as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tessella.text.folding import (
    LETTERS as L,
    LOWER,
    MARKS as M,
    NUMBERS as N,
    PLAIN_SPACES,
    PUNCTUATION as P,
    SPACES as W,
    SYMBOLS as S,
    UPPER,
    fold,
)


class Step(NamedTuple):
    """One pattern, and whether it is for folded text."""

    pattern: str
    is_folded: bool = True


class Rule(NamedTuple):
    """How text is cut, and what else the name of a rule stands for."""

    steps: tuple[Step, ...]
    ignores_merges: bool = False  # a word that is a token is that token, whatever merges give
    adds_bos: bool = False  # where the file does not say


# --- patterns ------------------------------------------------------------------------------------

_ENDINGS = "'s|'t|'re|'ve|'m|'ll|'d"
_ANY_ENDINGS = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_BLANKS = rf"[{W}]+(?![^{W}])|[{W}]+"  # the last space goes with the word behind it
_LINES = rf"[{W}]*[\r\n]+"

_GPT2 = rf"{_ENDINGS}| ?[{L}]+| ?[{N}]+| ?[^{W}{L}{N}]+|{_BLANKS}"


def _modern(numbers: str, letters: str = L) -> str:
    """Give the pattern of Llama 3 and its kin, which differ in how digits are grouped."""
    words = rf"[^\r\n{L}{N}]?[{letters}]+"
    return rf"{_ANY_ENDINGS}|{words}|{numbers}| ?[^{W}{letters}{N}]+[\r\n]*|{_LINES}|{_BLANKS}"


def _cased(numbers: str, endings: str) -> str:
    """Give the pattern of those that also cut where capitals begin."""
    start = rf"[^\r\n{L}{N}]?"
    words = rf"{start}[{UPPER}]*[{LOWER}]+{endings}|{start}[{UPPER}]+[{LOWER}]*{endings}"
    return rf"{words}|{numbers}| ?[^{W}{L}{N}]+[\r\n/]*|{_LINES}|{_BLANKS}"


_ONE, _THREE = f"[{N}]", f"[{N}]{{1,3}}"
_ASIAN = Step("[\u0800-\u9fa5\uac00-\ud7ff]+", False)
_LINE_ENDS = Step(r"[\r\n]")

# The letters of DeepSeek's first tokenizer, by number: those with two cases, but not all of them.
_DEEPSEEK_RANGES = """
41-5a 61-7a b5 c0-d6 d8-f6 f8-1ba 1bc-1bf 1c4-293 295-2af 370-373 376-377 37b-37d 37f 386 388-38a
38c 38e-3a1 3a3-3f5 3f7-481 48a-52f 531-556 10a0-10c5 13a0-13f5 13f8-13fd 1c90-1cba 1cbd-1cbf
1d00-1d2b 1d6b-1d77 1d79-1d9a 1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d
1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4
1ff6-1ffc 2102 2107 210a-2113 2115 2119-211d 2124 2126 2128 212a-212d 212f-2134 2139 213c-213f
2145-2149 214e 2183-2184 2c00-2c7b 2c7e-2ce4 2ceb-2cee 2cf2-2cf3 a640-a66d a680-a69b a722-a76f
a771-a787 a78b-a78e ab70-abbf fb00-fb06 fb13-fb17 ff21-ff3a ff41-ff5a 10400-1044f 104b0-104d3
104d8-104fb 10c80-10cb2 10cc0-10cf2 118a0-118df 1e900-1e943
"""
_DEEPSEEK_LETTERS = "".join(
    "-".join(chr(int(end, 16)) for end in ends.split("-")) for ends in _DEEPSEEK_RANGES.split()
)

_DEEPSEEK = (
    _LINE_ENDS,
    Step(f"[{PLAIN_SPACES}]?[{_DEEPSEEK_LETTERS}]+", False),
    Step(f"[{PLAIN_SPACES}]?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", False),
    # Without the look behind, each of many spaces before a word would look for the end anew.
    Step(rf"(?<![{W}])[{W}]+\Z"),
    _ASIAN,
    Step(f"[{N}]+"),
)
_DEEPSEEK_CODER = (
    _LINE_ENDS, Step(f"[{W}]?[{L}]+"), Step(f"[{W}]?[{P}]+"), _ASIAN, Step(_ONE),
)  # fmt: skip
_DEEPSEEK_3 = (
    Step(_THREE),
    Step("[\u4e00-\u9fa5\u3040-\u30ff]+", False),
    Step(
        rf"[!-/:-@\[-`{{-~][A-Za-z]+|[^\r\n{L}{P}{S}]?[{L}{M}]+| ?[{P}{S}]+[\r\n]*|{_LINES}"
        rf"|{_BLANKS}"
    ),
)
_FALCON = (Step(f"[{P}$+<->^~|`]+"), Step(_GPT2), Step("[0-9][0-9][0-9]"))
_DEFAULT = (Step(f"[{P}$+<->^~|]+"), Step(_GPT2), Step(f"[{N}]+"), Step("[0-9][0-9][0-9]"))

_RULES: dict[str, Rule] = {
    "default": Rule(_DEFAULT),
    "falcon": Rule(_FALCON),
    "deepseek-llm": Rule(_DEEPSEEK),
    "deepseek-coder": Rule(_DEEPSEEK_CODER),
    "deepseek-v3 hunyuan-dense joyai-llm": Rule(_DEEPSEEK_3),
    "gpt-2 phi-2 mpt olmo jais exaone4 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 "
    "mellum modern-bert trillion granite-docling": Rule((Step(_GPT2),)),
    "starcoder refact command-r smollm codeshell exaone minerva-7b": Rule(
        (Step(_ONE), Step(_GPT2))
    ),
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2": Rule(
        (Step(_modern(_THREE)),), ignores_merges=True, adds_bos=True
    ),
    "dbrx smaug-bpe glm4 chatglm-bpe": Rule((Step(_modern(_THREE)),)),
    "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan grok-2": Rule((Step(_modern(_ONE)),)),
    "qwen35": Rule((Step(_modern(_ONE, L + M)),)),
    "tekken": Rule((Step(_cased(_ONE, "")),), ignores_merges=True, adds_bos=True),
    "gpt-4o llama4 kanana2 minimax-m2": Rule((Step(_cased(_THREE, f"(?:{_ANY_ENDINGS})?")),)),
}
RULES = {name: rule for names, rule in _RULES.items() for name in names.split()}


# --- cutting -------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"({pattern})")  # the group keeps what matches among the parts


def split(text: str, rule: Rule) -> list[str]:
    """Cut a text into words; joined they are the text."""
    folded = fold(text)
    lengths = [len(text)]
    for pattern, is_folded in rule.steps:
        cut = _compiled(pattern).split
        source = folded if is_folded else text
        start = 0
        parts: list[str] = []
        for length in lengths:
            parts += cut(source[start : start + length])
            start += length
        lengths = [len(part) for part in parts if part]
    start = 0
    words = []
    for length in lengths:
        words.append(text[start : start + length])
        start += length
    return words
