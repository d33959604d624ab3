"""What pages tell a shell to do: its targets, modules, files and options are there.

The commands are those of the blocks for a shell, and those that stand in a sentence.
"""

from __future__ import annotations

import itertools
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tessella import __main__ as command_line

ROOT = Path(__file__).resolve().parent.parent
PAGES = [page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
         if page.name != "CHANGELOG.md"]  # fmt: skip
MAKEFILE = (ROOT / "Makefile").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OF_READERS = ("check.py", "train.py")  # programs of their own


def commands_of(text: str) -> Iterator[str]:
    """Give the commands of a page."""
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        yield from block.splitlines()
    sentences = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for code in re.findall(r"`((?:make|pip|\S*python) [^`]*)`", sentences):
        yield " ".join(code.split())


COMMANDS = sorted({tuple(words) for page in PAGES for line in commands_of(page.read_text())
                   if (words := shlex.split(line, comments=True))})  # fmt: skip


def check_make(target: str, *variables: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.MULTILINE)
    assert all(f"$({each.partition('=')[0]})" in MAKEFILE for each in variables)


def check_pip(action: str, what: str) -> None:
    extras = [f"{PROJECT['name']}[{extra}]" for extra in PROJECT["optional-dependencies"]]
    assert action == "install" and what in [".", *extras]


def check_python(first: str, *words: str) -> None:
    if first == "-m" and words[0] == "tessella":
        check_command_line(*words[1:])
    elif first == "-m":
        assert find_spec(words[0])
    elif first not in OF_READERS:
        program = (ROOT / first).read_text()
        assert all(f'"{word}"' in program for word in words if word.startswith("-"))


def check_command_line(*words: str) -> None:
    for chosen in itertools.product(*(word.split("|") for word in words)):
        reader = command_line.parser()
        command_line.check(reader, reader.parse_args(chosen))  # exits where it refuses


def check_export() -> None:
    """What it exports is a setting, which every command may have before it."""


CHECKS: dict[str, Callable[..., None]] = {
    "export": check_export, "make": check_make, "pip": check_pip,
    "python": check_python, "python3": check_python,
}  # fmt: skip


def test_commands_of_pages_are_found() -> None:
    assert {words[0] for words in COMMANDS} > {*CHECKS}
    assert len(COMMANDS) > 30


@pytest.mark.parametrize("words", COMMANDS, ids=shlex.join)
def test_command_of_a_page_is_one(words: tuple[str, ...]) -> None:
    settings = [word for word in words if word.startswith("TESSELLA_")]
    assert all(f"`{each.partition('=')[0]}`" in SETTINGS for each in settings)
    program, *rest = [word for word in words if word not in settings]
    CHECKS[Path(program).name](*rest)
