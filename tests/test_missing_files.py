"""Files that are not there: every reader says which, and what there is in its place."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from error_texts import told

READERS: dict[str, Callable[[Any], Any]] = {
    "load": ts.load,
    "load_file": ts.io.load_file,
    "open_file": ts.io.open_file,
    "load_npy": ts.io.load_npy,
    "load_npz": ts.io.load_npz,
    "load_pt": ts.io.load_pt,
    "open_gguf": ts.io.open_gguf,
    "load_checkpoint": ts.io.load_checkpoint,
    "data.read_csv": ts.data.read_csv,
    "data.load_idx": ts.data.load_idx,
    "Tokenizer.from_file": ts.text.Tokenizer.from_file,
}


@pytest.mark.parametrize("name", READERS)
def test_missing_file_is_named_with_what_is_called_alike(name: str, tmp_path: Path) -> None:
    (tmp_path / "weights.one").touch()
    path = tmp_path / "weights.two"
    with pytest.raises(ts.errors.MissingFile) as caught:
        READERS[name](path)
    assert told(caught.value) == (
        f"{name}: there is no file {path}\n  hint: did you mean weights.one?"
    )
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(path))
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("name", READERS)
def test_missing_folder_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ts.errors.MissingFile) as caught:
        READERS[name](str(tmp_path / "none" / "weights"))
    assert told(caught.value).endswith(f"\n  hint: there is no folder {tmp_path}/none")


def test_relative_path_shows_where_it_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = ts.errors.expected(ts.load, "none")
    assert isinstance(found, ts.errors.Err)
    want = f"load: there is no file none\n  hint: it is looked for in {tmp_path}"
    assert told(found.error) == want


def test_file_that_is_spelt_otherwise_is_not_suggested(tmp_path: Path) -> None:
    (tmp_path / "typed.py").touch()
    found = ts.errors.expected(ts.load, tmp_path / "nope.npy")
    assert isinstance(found, ts.errors.Err) and "typed" not in told(found.error)


SAVERS: dict[str, Callable[[Any], Any]] = {
    "save": lambda path: ts.save({"x": ts.ones(2)}, path),
    "save_file": lambda path: ts.io.save_file({"x": ts.ones(2)}, path),
    "save_npy": lambda path: ts.io.save_npy(ts.ones(2), path),
    "save_gguf": lambda path: ts.io.save_gguf({"x": ts.ones(2)}, path),
}


@pytest.mark.parametrize("name", SAVERS)
def test_save_into_a_missing_folder_says_how_to_make_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(ts.errors.MissingFile) as caught:
        SAVERS[name](tmp_path / "none" / "x")
    assert told(caught.value) == (
        f"{name}: there is no folder {tmp_path}/none to save x in\n"
        f"  hint: os.makedirs('{tmp_path}/none', exist_ok=True)"
    )


@pytest.mark.parametrize("name", ["load", "load_file", "load_pt", "open_gguf", "load_checkpoint"])
def test_a_folder_in_the_place_of_a_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        READERS[name](tmp_path)
    assert told(caught.value) == (
        f"{name}: {tmp_path} is a folder\n  hint: give the path of a file"
    )
    assert isinstance(caught.value, IsADirectoryError)
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(tmp_path))
