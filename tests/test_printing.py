"""Printing: dtype, shape and gradient state first, then values, shortened where they are many."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella import _core
from tessella.dtypes import DTYPES, DType

TEXTS: dict[str, tuple[Any, str]] = {
    "integers": ([1, -20, 3], "tensor int64 (3,) [  1, -20,   3]"),
    "number": (2.5, "tensor float32 () 2.5000"),
    "whole floats": ([1.0, 2.0], "tensor float32 (2,) [1., 2.]"),
    "floats": ([0.5, -1.25], "tensor float32 (2,) [ 0.5000, -1.2500]"),
    "bools": ([True, False], "tensor bool (2,) [ True, False]"),
    "large": ([1e9, 1.0], "tensor float32 (2,) [1.0000e+09, 1.0000e+00]"),
    "small": ([1e-7, 1.0], "tensor float32 (2,) [1.0000e-07, 1.0000e+00]"),
    "not finite": ([math.nan, math.inf, -math.inf], "tensor float32 (3,) [ nan,  inf, -inf]"),
    "nothing": ([], "tensor float32 (0,) []"),
    "matrix": ([[1, 2], [3, 4]], "tensor int64 (2, 2)\n[[1, 2],\n [3, 4]]"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_values_print_as_expected(name: str) -> None:
    values, text = TEXTS[name]
    assert repr(ts.tensor(values)) == text == str(ts.tensor(values))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3,), (2, 3), (2, 2, 2)])
def test_every_dtype_and_shape_prints(shape: tuple[int, ...], dtype: DType) -> None:
    assert repr(ts.ones(shape, dtype=dtype)).startswith(f"tensor {dtype.name} {shape}")


@given(
    st.lists(st.floats(width=32), max_size=20), st.sampled_from(["float32", "float64", "float16"])
)
def test_any_floats_print_in_equal_widths(values: list[float], dtype: str) -> None:
    text = repr(ts.tensor(values, dtype=ts.float64).astype(dtype))
    body = text[text.index("[") + 1 : -1]
    assert len({len(item) for item in body.split(", ")}) == 1


@given(st.lists(st.complex_numbers(), max_size=5))
def test_any_complex_numbers_print(values: list[complex]) -> None:
    assert repr(ts.tensor(values, dtype=ts.complex128)).startswith(
        f"tensor complex128 ({len(values)},)"
    )


@pytest.mark.parametrize(
    "shape", [(10_000_000,), (3000, 3000), (2, 2000), (1001, 1, 1), (40, 40, 40)]
)
def test_large_tensors_are_shortened(shape: tuple[int, ...]) -> None:
    x = ts.zeros(()).broadcast_to(shape)
    text = repr(x)
    assert text.startswith(f"tensor float32 {shape}") and "..." in text and len(text) < 3000


def test_the_ends_of_a_long_axis_are_shown() -> None:
    text = repr(ts.arange(5000))
    assert text == "tensor int64 (5000,) [   0,    1,    2, ..., 4997, 4998, 4999]"


def test_the_largest_views_print_at_once() -> None:
    assert "..." in repr(ts.zeros(()).broadcast_to(1 << 50))


def test_the_state_of_gradients_is_shown() -> None:
    x = ts.ones(2, requires_grad=True)
    assert repr(x) == "tensor float32 (2,) requires_grad [1., 1.]"
    assert repr(x * 2) == "tensor float32 (2,) from mul [2., 2.]"


def test_a_virtual_tensor_prints_without_values() -> None:
    assert repr(_core.empty_virtual((2, 3), ts.float32.id)) == "tensor float32 (2, 3) virtual"


def test_numbers_format_and_others_do_not_pretend_to() -> None:
    assert f"{ts.tensor(2.5)} {ts.tensor(True)}" == "2.5 True"
    assert f"{ts.tensor([2.5])}" == repr(ts.tensor([2.5]))
    virtual = _core.empty_virtual((), ts.float32.id)
    assert f"{virtual}" == repr(virtual)
    assert f"{ts.tensor(2.5).item():.1f}" == "2.5"


@pytest.mark.parametrize("name", ["_repr_mimebundle_", "_repr_svg_", "_ipython_display_",
                                  "_ipython_canary_method_should_not_exist_"])  # fmt: skip
def test_notebooks_find_nothing_but_repr_and_html(name: str) -> None:
    """They show what such methods give: tests/test_rich_reprs.py has the one that there is."""
    assert getattr(ts.zeros(3), name, None) is None


@pytest.mark.parametrize("shape", [(1 << 40, 0), (900, 900, 900, 0), (0, 1 << 40)])
def test_lists_of_no_elements_are_shortened_too(shape: tuple[int, ...]) -> None:
    assert len(repr(ts.zeros(shape))) < 3000 and len(f"{ts.zeros(shape):.1f}") < 3000
