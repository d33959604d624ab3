"""Small data sets inside the package, to begin with; sets/SOURCES.md names sources and licences.

The parts are fixed: of the samples of each class, every fifth is of the test part, the others are
of the training part; where there are no classes, every fifth of all. A text is cut once: its last
tenth is the test part.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.arguments import to_int, to_list, to_word
from tessella.dtypes import DType, as_dtype, boolean, float32, float64, int64
from tessella.exchange import share
from tessella.located import located
from tessella.ops.creation import copy_of, zeros
from tessella.ops.reduce import cumulative_sum
from tessella.tensors import tensor

_FOLDER = Path(__file__).parent / "sets"
_PARTS = ["all", "train", "test"]
_EVERY = 5


class Labelled(tuple[Tensor, Tensor]):
    """Samples x and what belongs to them, y: a pair, with names of features and classes.

    >>> x, y = ts.data.load_iris()
    >>> x.shape, y.shape
    ((150, 4), (150,))
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]

    def __new__(
        cls, x: Tensor, y: Tensor, names: Iterable[str] = (), classes: Iterable[str] = ()
    ) -> Labelled:
        try:
            for name, part in (("x", x), ("y", y)):
                if not isinstance(part, Tensor):
                    raise errors.not_tensor(name, part, "a tensor")
            self = super().__new__(cls, (x, y))
            self.names = tuple(to_list("names", names, "a list of texts"))
            self.classes = tuple(to_list("classes", classes, "a list of texts"))
        except errors.TessellaError as error:
            raise error.relocate("data.Labelled", []) from None
        return self

    @property
    def x(self) -> Tensor:
        """The samples."""
        return self[0]

    @property
    def y(self) -> Tensor:
        """What belongs to them."""
        return self[1]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.x, self.y, self.names, self.classes)

    def __repr__(self) -> str:
        x, y = (f"{t.dtype} {t.shape}" for t in self)
        return f"Labelled(x: {x}, y: {y}, {len(self.classes)} classes)"


class Text(tuple[Tensor, str]):
    """A text as numbers of its characters, and the different characters in order: a pair.

    >>> ids, letters = ts.data.load_text()
    >>> "".join(letters[i] for i in ids[:5].tolist())
    'ACT I'
    """

    def __new__(cls, ids: Tensor, letters: str) -> Text:
        wrong = None
        if not isinstance(ids, Tensor):
            wrong = errors.not_tensor("ids", ids, "a tensor")
        elif not isinstance(letters, str):
            wrong = errors.wrong_type("letters", letters, "text")
        if wrong is not None:
            raise wrong.locate("data.Text", [])
        return super().__new__(cls, (ids, letters))

    @property
    def ids(self) -> Tensor:
        """The number of each character."""
        return self[0]

    @property
    def letters(self) -> str:
        """The character of each number."""
        return self[1]

    def encode(self, text: str) -> Tensor:
        """Give the numbers of the characters of a text.

        >>> ts.data.load_text().encode("to be").shape
        (5,)
        """
        if not isinstance(text, str):
            raise errors.wrong_type("text", text, "text").locate("data.Text.encode", [])
        places = {letter: i for i, letter in enumerate(self.letters)}
        try:
            return tensor([places[letter] for letter in text], int64)
        except KeyError as error:
            wrong = errors.wrong_value("text", error.args[0], f"of {self.letters!r}")
            raise wrong.locate("data.Text.encode", []) from None

    @located("data.Text.decode")
    def decode(self, ids: Tensor | Iterable[int]) -> str:
        """Give the text of numbers of characters.

        >>> text = ts.data.load_text()
        >>> text.decode(text.encode("to be"))
        'to be'
        """
        given = ids.tolist() if isinstance(ids, Tensor) else ids
        numbers = [to_int("ids", i) for i in to_list("ids", given, "a vector of integers")]
        for i in numbers:
            if not -len(self.letters) <= i < len(self.letters):
                raise errors.wrong_value("a number of ids", i, f"below {len(self.letters)}")
        return "".join([self.letters[i] for i in numbers])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.ids, self.letters)

    def __repr__(self) -> str:
        return f"Text({self.ids.size} characters, {len(self.letters)} different)"


@located("data.load_digits")
def load_digits(split: str = "all") -> Labelled:
    """Give 1,797 handwritten digits: x float32 (n, 64), 8 x 8 pixels from 0 to 16, and y int64.

    The training part has 1,442 images, the test part 355.

    >>> x, y = ts.data.load_digits(split="test")
    >>> x.shape, int(x.max()), y[:5].tolist()
    ((355, 64), 16, [5, 0, 9, 8, 7])
    """
    return _labelled("digits", split, int64)


@located("data.load_iris")
def load_iris(split: str = "all") -> Labelled:
    """Give four measures of 150 flowers in cm, x float32 (n, 4), and their species, y int64.

    The training part has 40 flowers of each species, the test part 10.

    >>> flowers = ts.data.load_iris()
    >>> flowers.names[0], flowers.classes
    ('sepal length', ('setosa', 'versicolor', 'virginica'))
    """
    return _labelled("iris", split, int64)


@located("data.load_diabetes")
def load_diabetes(split: str = "all") -> Labelled:
    """Give ten measures of 442 patients, x float32 (n, 10), and a disease's progress, y float32.

    The measures are as they were taken, and not scaled: see `data.standardize`. The training part
    has 354 patients, the test part 88.

    >>> x, y = ts.data.load_diabetes(split="train")
    >>> x.shape, y[:3].tolist()
    ((354, 10), [151.0, 75.0, 141.0])
    """
    return _labelled("diabetes", split, float32)


@located("data.load_text")
def load_text(split: str = "all") -> Text:
    """Give four plays by Shakespeare as numbers of characters (int64), and the characters.

    The training part is the first nine tenths, the test part the rest.

    >>> text = ts.data.load_text(split="train")
    >>> text.decode(text.ids[:7])
    'ACT I.\\n'
    """
    part = to_word("split", split, _PARTS)
    content = _unpacked("text")[1]
    letters = bytes(sorted(set(content)))
    places = zeros(256, dtype=int64)
    for i, letter in enumerate(letters):
        places[letter] = i
    ids = places[share(content, True).astype(int64)]
    cut = ids.shape[0] * 9 // 10
    return Text({"all": ids, "train": ids[:cut], "test": ids[cut:]}[part], letters.decode())


# --- files ---------------------------------------------------------------------------------------


def _labelled(name: str, split: str, target: DType) -> Labelled:
    part = to_word("split", split, _PARTS)
    head, content = _unpacked(name)
    (x, scale), (y, _) = _arrays(head, content)
    # A quotient of two exact numbers is what the text of the number would be rounded to.
    pair = (x.astype(float64) / scale).astype(float32), y.astype(target)
    classes = head.get("classes", ())
    if part != "all":
        is_test = _every_fifth(pair[1], len(classes))
        rows = is_test if part == "test" else ~is_test
        pair = pair[0][rows], pair[1][rows]
    return Labelled(*pair, head["names"], classes)


def _every_fifth(y: Tensor, classes: int) -> Tensor:
    """Tell which samples are of the test part."""
    groups = [y == i for i in range(classes)] or [y == y]
    is_test = zeros(y.shape, dtype=boolean)
    for group in groups:
        is_test |= group & (cumulative_sum(group) % _EVERY == 0)
    return is_test


def _unpacked(name: str) -> tuple[dict[str, Any], bytes]:
    """Give the head of a file and what is behind it; tools/datasets.py says how they are made."""
    line, _, content = zlib.decompress((_FOLDER / f"{name}.bin").read_bytes()).partition(b"\n")
    return json.loads(line), content


def _arrays(head: dict[str, Any], content: bytes) -> list[tuple[Tensor, int]]:
    """Give the arrays behind a head, and what each is to be divided by."""
    found = []
    start = 0
    for entry in head["arrays"]:
        dtype = as_dtype(entry["dtype"])
        stop = start + math.prod(entry["shape"]) * dtype.itemsize
        part = copy_of(share(memoryview(content)[start:stop], True))  # a copy is aligned
        found.append((_core.bitcast(part, dtype.id).reshape(entry["shape"]), entry["scale"]))
        start = stop
    return found
