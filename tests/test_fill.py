"""One element over memory: elements of every size, rows of any length, and not a byte beside."""

from __future__ import annotations

import pytest

import tessella as ts

DTYPES = [ts.uint8, ts.float16, ts.float32, ts.float64, ts.complex128]
WIDTHS = [*range(1, 20), 31, 32, 33, 63, 64, 65, 129, 1000]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_any_length_are_filled_and_nothing_else(dtype: ts.dtype) -> None:
    for width in WIDTHS:
        for gap in (0, 1, 3):
            x = ts.zeros((7, width + gap + 2), dtype=dtype)
            x[1:6, 1 : 1 + width] = 3
            wanted = [
                [3 if 1 <= i < 6 and 1 <= j <= width else 0 for j in range(width + gap + 2)]
                for i in range(7)
            ]
            assert x.tolist() == wanted, (width, gap)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_row_has_a_value_of_its_own(dtype: ts.dtype) -> None:
    for width in WIDTHS:
        x = ts.zeros((5, width), dtype=dtype)
        x[...] = ts.arange(1, 6, dtype=dtype)[:, None]
        assert x.tolist() == [[i] * width for i in range(1, 6)], width


def test_columns_and_every_second_element() -> None:
    x = ts.zeros((40, 50))
    x[:, 7] = 1.0
    x[3, ::2] = 2.0
    assert x.sum().item() == 39 * 1.0 + 25 * 2.0 + 1.0
    assert x[3].tolist() == [2.0 if j % 2 == 0 else float(j == 7) for j in range(50)]


@pytest.mark.parametrize("threads", [1, 2])
def test_large_blocks_on_any_threads(threads: int) -> None:
    x = ts.zeros((20_000, 64))
    with ts.num_threads(threads):
        x[100:19_000, 8:56] = 2.0
    assert x.sum().item() == 2.0 * 18_900 * 48
    assert (x[100:19_000, 8:56] == 2.0).all().item()
