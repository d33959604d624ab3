"""einsum against NumPy's over equations that are drawn, and what its samples cannot show."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts

Array = np.ndarray[Any, Any]
LETTERS = "abcdXY"


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[Array]]:
    """Draw an equation and its operands: letters repeat, axes under ... broadcast, 1 stretches."""
    sizes = {letter: draw(st.integers(0, 3)) for letter in LETTERS}
    hidden = draw(st.lists(st.integers(1, 3), max_size=2))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    pieces, operands, has_dots = [], [], False
    for _ in range(draw(st.integers(1, 4))):
        letters: list[str] = draw(st.lists(st.sampled_from(LETTERS), max_size=4))
        lengths = [sizes[c] for c in letters]
        if len(set(letters)) == len(letters):
            stretched = draw(st.sets(st.integers(0, 9), max_size=2))
            lengths = [1 if i in stretched else n for i, n in enumerate(lengths)]
        if bool(hidden) and draw(st.booleans()):
            start = draw(st.integers(0, 1))
            part = [n if draw(st.booleans()) else 1 for n in hidden[start:]]
            place = draw(st.integers(0, len(letters)))
            letters.insert(place, "...")
            lengths[place:place] = part
            has_dots = True
        pieces.append("".join(letters))
        operands.append(rng.integers(-4, 5, lengths).astype("float64"))
    return ",".join(pieces) + draw_result(draw, pieces, has_dots), operands


def draw_result(draw: st.DrawFn, pieces: list[str], has_dots: bool) -> str:
    """Draw what stands after the letters of the operands: nothing, or -> and some of them."""
    if draw(st.booleans()):
        return ""
    known = sorted({c for piece in pieces for c in piece if c != "."})
    result: list[str] = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    if has_dots:
        result.insert(draw(st.integers(0, len(result))), "...")
    return "->" + "".join(result)


@given(calls())
def test_einsum_equals_numpy(call: tuple[str, list[Array]]) -> None:
    equation, operands = call
    want = np.einsum(equation, *operands)
    got = ts.einsum(equation, *(ts.tensor(x) for x in operands))
    assert got.shape == want.shape and got.dtype is ts.float64
    assert np.array_equal(got.numpy(), want)  # small integers: every order of sums is exact


@pytest.mark.parametrize("dtype", [ts.bool, ts.int8, ts.int64, ts.float16, ts.complex64])
def test_einsum_keeps_the_dtype(dtype: Any) -> None:
    x = ts.tensor([[1, 0], [1, 1]]).astype(dtype)
    assert ts.einsum("ij,jk", x, x).dtype is dtype
    assert ts.einsum("ij->j", x).dtype is dtype
    assert ts.einsum("ij->", x).item() == dtype_sum(dtype)


def dtype_sum(dtype: Any) -> Any:
    """Give the sum of three ones: whether there is one, for bool."""
    return True if dtype is ts.bool else 3


def test_einsum_promotes_its_operands() -> None:
    out = ts.einsum("i,i->i", ts.ones(2, dtype=ts.int32), ts.ones(2, dtype=ts.float64))
    assert out.dtype is ts.float64


def test_lists_stand_for_letters() -> None:
    a, b = ts.rand(2, 3), ts.rand(3, 4)
    for args, equation in (
        ((a, [0, 1], b, [1, 2], [0, 2]), "ij,jk->ik"),
        ((a, [0, 30], b, [30, 2]), "ij,jk"),
        ((a, [..., 1], [1, ...]), "...j->j..."),
        ((a, (0, 1)), "ij"),
    ):
        tensors = [x for x in args if isinstance(x, ts.Tensor)]
        assert ts.einsum(*args).tolist() == ts.einsum(equation, *tensors).tolist()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((ts.ones(2), 0), "a list of axes must be a list of integers and ..., got int"),
        ((ts.ones(2), [52]), "an axis is 52"),
        ((ts.ones(2), [True]), "an axis is True"),
        ((ts.ones(2), ["i"]), "an axis is 'i'"),
        ((7, ts.ones(2)), "equation must be text such as"),
        (("i,i", ts.ones(2), [1.0, 2.0]), r"operands\[1\] must be a tensor, got list"),
        (("",), "1 operands are named, 0 given"),
        ((), "missing argument equation"),
    ],
)
def test_wrong_arguments_are_explained(args: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"^einsum: {text}"):
        ts.einsum(*args)


def test_error_shows_the_letter_the_operands_and_the_sizes() -> None:
    with pytest.raises(ts.errors.ShapeError) as caught:
        ts.einsum("bij,bjk->bik", ts.ones(2, 3, 4), ts.ones(2, 5, 6))
    lines = str(caught.value).splitlines()
    assert lines.pop(4).startswith("  at test_einsum.py:")
    assert lines == [
        "einsum: index j is 4 in operand 0 and 5 in operand 1",
        "    equation     'bij,bjk->bik'",
        "    operands[0]  float32 (2, 3, 4)",
        "    operands[1]  float32 (2, 5, 6)",
        "  hint: the axes of one letter must have one size",
    ]


def test_views_are_not_copied() -> None:
    x = ts.rand(3, 3)
    for equation in ("ij->ji", "ii->i", "ij", "...->..."):
        assert ts.einsum(equation, x).data_ptr == x.data_ptr


def test_all_letters_may_be_used() -> None:
    names = string.ascii_letters
    x = ts.ones((1,) * len(names))
    assert ts.einsum(f"{names}->{names[::-1]}", x).shape == x.shape


def test_a_chain_is_contracted_from_its_small_end() -> None:
    """In the order that is written, (n, n) @ (n, n) would come first: 64 MB and 8e9 products."""
    a, b = ts.ones(1000, 4000), ts.ones(4000, 1)
    out = ts.einsum("ij,kj,kl->il", a, ts.ones(1000, 4000), ts.ones(1000, 1))
    assert out.shape == (1000, 1) and out[0, 0].item() == 4e6
    assert ts.einsum("ij,jk->", a, b).item() == 4e6
