"""Pools: torch's figures, random windows against NumPy, bits, ties and NaN, gradients.

Values, gradients of both orders, layouts and dtypes of the samples are tested for every declaration
in test_composites.py, test_records.py and test_gradients.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tessella as ts
from cases import LAYOUTS, to_array
from figures import array_of, check_figure, figures_of, label, tensor_of
from reference import assert_same_tensors
from tessella import nn
from tessella.nn.functional import references

F: Any = nn.functional  # calls are made in more ways than stubs tell
LARGEST = figures_of("largest")
NAN = float("nan")


@pytest.mark.parametrize("figure", [*figures_of("pools"), *LARGEST], ids=label)
def test_values_and_gradients_are_those_of_torch(figure: dict[str, Any]) -> None:
    check_figure(figure)


@pytest.mark.parametrize("figure", LARGEST, ids=label)
def test_places_are_those_of_torch(figure: dict[str, Any]) -> None:
    x = tensor_of(figure["operands"][0])
    out, places = getattr(F, figure["name"])(x, **figure["keywords"], return_indices=True)
    np.testing.assert_array_equal(to_array(places), array_of(figure["places"]))
    np.testing.assert_array_equal(to_array(out), array_of(figure["result"]))


@st.composite
def pools(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Draw a shape and windows that fit it."""
    window = [draw(st.integers(1, 4)) for _ in range(2)]
    dilation = [draw(st.integers(1, 2)) for _ in range(2)]
    spans = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    padding = [draw(st.integers(0, span // 2)) for span in spans]
    stride = [draw(st.integers(1, 4)) for _ in range(2)]
    sizes = [draw(st.integers(span, span + 20)) for span in spans]
    shape = (draw(st.integers(0, 3)), draw(st.integers(1, 3)), *sizes)
    return shape, {"kernel_size": window, "stride": stride, "padding": padding,
                   "dilation": dilation, "ceil_mode": draw(st.booleans())}  # fmt: skip


@given(pools(), st.sampled_from([ts.float32, ts.float64, ts.float16]))
@settings(deadline=None)
def test_any_windows_choose_what_the_definition_chooses(case: Any, dtype: Any) -> None:
    shape, options = case
    rng = np.random.default_rng(5)
    x = rng.integers(-3, 4, shape).astype(dtype.name)  # with many equal ones
    x[rng.random(shape) < 0.05] = NAN
    x[rng.random(shape) < 0.1] = -np.inf
    out, places = F.max_pool2d(ts.tensor(x), **options, return_indices=True)
    it = references.Pool(2, x, **options)
    want = references.pool_places(np, x, **it.geometry())
    np.testing.assert_array_equal(to_array(places), want)
    np.testing.assert_array_equal(to_array(out), references.pool_pick(np, x, want))


@given(pools(), st.booleans())
@settings(deadline=None)
def test_any_windows_have_the_means_of_the_definition(case: Any, count_include_pad: bool) -> None:
    shape, options = case
    options = {k: v for k, v in options.items() if k != "dilation"}
    options["padding"] = [
        min(p, w // 2) for p, w in zip(options["padding"], options["kernel_size"], strict=True)
    ]
    x = np.random.default_rng(6).standard_normal(shape)
    got = F.avg_pool2d(ts.tensor(x), **options, count_include_pad=count_include_pad)
    want = references.avg_pool(2, np, x, **options, count_include_pad=count_include_pad)
    assert got.shape == want.shape
    np.testing.assert_allclose(to_array(got), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bits_do_not_depend_on_threads_or_layouts(threads: int) -> None:
    x = ts.randn(5, 30, 65, 70, generator=ts.Generator(1))

    def results(x: ts.Tensor) -> list[ts.Tensor]:
        x = x.detach().requires_grad_()
        outs = [F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1), F.adaptive_max_pool2d(x, 9),
                F.adaptive_avg_pool2d(x, 9)]  # fmt: skip
        found = [ts.autograd.grad(out, [x], out.detach())[0] for out in outs]
        return [*(out.detach() for out in outs), *found]

    with ts.num_threads(1):
        first = results(x)
    with ts.num_threads(threads):
        for one, other in zip(first, results(x), strict=True):
            assert_same_tensors(one, other)
        for one, other in zip(first, results(LAYOUTS["transposed"](x)), strict=True):
            assert_same_tensors(one, other)


def test_windows_of_a_large_plane_are_taken_in_blocks() -> None:
    x = np.random.default_rng(7).standard_normal((1, 1, 300, 400)).astype(np.float32)
    out, places = F.max_pool2d(ts.tensor(x), 5, 2, 2, return_indices=True)
    it = references.Pool(2, x, 5, 2, 2)
    np.testing.assert_array_equal(to_array(places), references.pool_places(np, x, **it.geometry()))
    assert out.shape == (1, 1, 150, 200)


def test_the_gradient_of_equal_elements_goes_to_the_first() -> None:
    x = ts.ones(1, 1, 4).requires_grad_()
    F.max_pool1d(x, 2, stride=1).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[[1.0, 1.0, 1.0, 0.0]]]


def test_places_that_were_changed_are_refused_before_memory_is_touched() -> None:
    x = ts.ones(1, 1, 4).requires_grad_()
    out, places = F.max_pool1d(x, 2, return_indices=True)
    places.numpy()[:] = 1 << 40
    with pytest.raises(ts.errors.ShapeError, match="a place is outside of planes"):
        out.sum().backward()


def test_half_means_are_rounded_once() -> None:
    x = ts.randn(2, 3, 12, 12, generator=ts.Generator(1)).astype(ts.float16)
    want = F.avg_pool2d(x.astype(ts.float32), 5).astype(ts.float16)
    assert_same_tensors(F.avg_pool2d(x, 5), want)


def test_nan_stays_in_its_shares() -> None:
    x = ts.zeros(1, 1, 7)
    x[0, 0, 0] = NAN
    assert ts.isnan(F.adaptive_avg_pool1d(x, 3)).tolist() == [[[True, False, False]]]
