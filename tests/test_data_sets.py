"""The data sets inside the package: their bytes, their figures, their parts, their papers."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from tessella import data

FOLDER = Path(data.__file__).parent / "sets"
SUMS = {
    "diabetes": "944ef4fc90da86677dd8c20284a410ba9518eef5ec72e13405c3d30404fab08c",
    "digits": "ca49dea0691d204c18e576f5efe4f50968644ed0baa19c94cb2c2018c45bd706",
    "iris": "411ab6c333828c56e1689c4d49b71d995344e6c32cf1058127041de10d9a5812",
    "text": "2c2ac39823ba5304b18005b8a50f8e7ccb50e86ce42d2f56db3dfe64053d5ca0",
}
TABLES: dict[str, Callable[..., Any]] = {
    "diabetes": data.load_diabetes, "digits": data.load_digits, "iris": data.load_iris
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_files_are_small_and_as_they_were_made(name: str) -> None:
    content = (FOLDER / f"{name}.bin").read_bytes()
    assert len(content) < 200_000
    assert hashlib.sha256(content).hexdigest() == SUMS[name]


def test_every_set_has_its_source_and_licence() -> None:
    page = (FOLDER / "SOURCES.md").read_text()
    files = {path.name for path in FOLDER.glob("*.bin")}
    assert files == {f"{name}.bin" for name in SUMS}
    assert all(f"## {name}\n" in page for name in files)
    for word in ("CC BY 4.0", "BSD 3-Clause License", "public domain"):
        assert word in page


def test_digits_have_their_figures() -> None:
    """As scikit-learn's: 1,797 images, their classes and the mean of their pixels."""
    x, y = data.load_digits()
    assert x.shape == (1797, 64) and x.dtype is ts.float32 and y.dtype is ts.int64
    assert ts.bincount(y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert x.min().item() == 0 and x.max().item() == 16
    assert x.sum().item() == 561718
    assert x[0, :8].tolist() == [0, 0, 5, 13, 9, 1, 0, 0] and y[:10].tolist() == list(range(10))


def test_iris_has_its_figures() -> None:
    flowers = data.load_iris()
    assert ts.bincount(flowers.y).tolist() == [50, 50, 50]
    means: Any = flowers.x.astype(ts.float64).mean(axis=0).tolist()
    assert [round(mean, 4) for mean in means] == [5.8433, 3.0573, 3.758, 1.1993]
    assert flowers.x[0].tolist() == ts.tensor([5.1, 3.5, 1.4, 0.2]).tolist()
    assert flowers.classes == ("setosa", "versicolor", "virginica") and len(flowers.names) == 4


def test_diabetes_has_its_figures() -> None:
    x, y = data.load_diabetes()
    assert x.shape == (442, 10) and y.dtype is ts.float32
    assert x[0].tolist() == ts.tensor([59, 2, 32.1, 101, 157, 93.2, 38, 4, 4.8598, 87]).tolist()
    assert round(y.astype(ts.float64).mean().item(), 4) == 152.1335
    assert (y.min().item(), y.max().item()) == (25, 346)
    assert data.load_diabetes().names[:3] == ("age", "sex", "bmi")


def test_the_text_has_its_figures() -> None:
    text = data.load_text()
    whole = text.decode(text.ids)
    assert whole.isascii() and whole.startswith("ACT I.\n\nSCENE I. Rome. A street.")
    for line in ("Et tu, Brute?", "Out, damned spot!", "If music be the food of love, play on,",
                 "Lord, what fools these mortals be!"):  # fmt: skip
        assert line in whole
    assert len(whole) == text.ids.size and len(text.letters) == len(set(whole))
    assert "".join(sorted(set(whole))) == text.letters
    assert "\n\n\n" not in whole and "Gutenberg" not in whole
    assert text.encode("Brutus").shape == (6,)
    with pytest.raises(ValueError, match=r"data\.Text\.encode: text is 'é'"):
        text.encode("é")


@pytest.mark.parametrize(
    "name, counts", [("digits", (1442, 355)), ("iris", (120, 30)), ("diabetes", (354, 88))]
)
def test_parts_are_every_fifth_sample_of_a_class_and_the_others(
    name: str, counts: tuple[int, int]
) -> None:
    load = TABLES[name]
    x, y = load()
    seen: Counter[int] = Counter()
    tests: list[int] = []
    others: list[int] = []
    for i, label in enumerate(y.tolist()):
        group = int(label) if load().classes else 0
        seen[group] += 1
        (tests if seen[group] % 5 == 0 else others).append(i)
    assert (len(others), len(tests)) == counts
    for part, rows in ((load(split="train"), others), (load("test"), tests)):
        assert part.x.tolist() == x[rows].tolist() and part.y.tolist() == y[rows].tolist()
        assert part.names == load().names


def test_the_text_is_cut_once() -> None:
    whole, train, test = (data.load_text(part) for part in ("all", "train", "test"))
    assert train.letters == test.letters == whole.letters
    assert ts.concat([train.ids, test.ids]).tolist() == whole.ids.tolist()
    assert train.ids.size == whole.ids.size * 9 // 10


@pytest.mark.parametrize("load", [*TABLES.values(), data.load_text])
def test_unknown_parts_are_refused(load: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="split is 'valid'"):
        load(split="valid")


def test_sets_are_pairs_that_can_be_pickled_and_shown() -> None:
    flowers = data.load_iris()
    again = pickle.loads(pickle.dumps(flowers))
    assert again.classes == flowers.classes and again.x.tolist() == flowers.x.tolist()
    assert repr(flowers) == "Labelled(x: float32 (150, 4), y: int64 (150,), 3 classes)"
    text = pickle.loads(pickle.dumps(data.load_text("test")))
    assert repr(text).startswith("Text(") and text.letters == data.load_text().letters
    assert len(data.TensorDataset(*flowers)) == 150


def test_loading_needs_no_numpy() -> None:
    code = """
import sys, tessella as ts
from tessella import data
data.load_digits(), data.load_text()
list(data.DataLoader(data.TensorDataset(*data.load_iris()), 8, True, num_workers=2))
print("numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
