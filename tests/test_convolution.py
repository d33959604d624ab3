"""Convolutions: torch's figures, random geometries against NumPy, bits, large sizes and errors.

Values, gradients of both orders, layouts and dtypes of the samples are tested for every declaration
in test_composites.py, test_records.py and test_gradients.py.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tessella as ts
from cases import LAYOUTS, to_array
from conftest import sampled
from figures import check_figure, figures_of, label
from reference import assert_same_tensors
from tessella import _core, memory, nn
from tessella.nn.functional import correlations, references

F: Any = nn.functional  # calls are made in more ways than stubs tell
FIGURES = [figure for noun in ("convolutions", "transposed") for figure in figures_of(noun)]
RECORDS = {"y": correlations.convolve, "x": correlations.convolve_input,
           "weight": correlations.convolve_weight}  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES, ids=label)
def test_values_and_gradients_are_those_of_torch(figure: dict[str, Any]) -> None:
    check_figure(figure)


# --- any geometry --------------------------------------------------------------------------------


class Geometry:
    """Sizes of x, weight and y that belong together, and how they meet."""

    def __init__(self, shapes: dict[str, tuple[int, ...]], groups: int, **axes: Any) -> None:
        self.shapes = shapes
        self.params = {"groups": groups, **axes}

    def draw(self, dtype: Any = np.float64) -> dict[str, Any]:
        """Give operands of the three roles."""
        rng = np.random.default_rng(3)
        return {k: rng.standard_normal(shape).astype(dtype) for k, shape in self.shapes.items()}

    def compute(self, role: str, operands: dict[str, Any]) -> ts.Tensor:
        """Give one of the three from the other two."""
        order = {"y": ("x", "weight"), "x": ("y", "weight"), "weight": ("x", "y")}[role]
        size = tuple(self.shapes[role][2:])
        out: ts.Tensor = RECORDS[role](*(operands[k] for k in order), size=size, **self.params)
        return out

    def expect(self, role: str, operands: dict[str, Any]) -> Any:
        """Give the same by the definition."""
        function: Any = {"y": references.convolve, "x": references.convolve_input,
                         "weight": references.convolve_weight}[role]  # fmt: skip
        order = {"y": ("x", "weight"), "x": ("y", "weight"), "weight": ("x", "y")}[role]
        size = tuple(self.shapes[role][2:])
        return function(np, *(operands[k] for k in order), size=size, **self.params)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Draw sizes in which every way to bring windows into scratch occurs."""
    axes = draw(st.integers(1, 2))
    groups, ins, outs = (draw(st.sampled_from([1, 1, 2, 3])), draw(st.integers(0, 9)),
                         draw(st.integers(0, 18)))  # fmt: skip
    several = {
        name: tuple(draw(st.integers(low, high)) for _ in range(axes))
        for name, low, high in (("stride", 1, 4), ("pad", -2, 4), ("dilation", 1, 3))
    }
    sizes = [[draw(st.integers(1, high)) for _ in range(axes)] for high in (14, 5, 12)]
    batch = draw(st.integers(0, 5))
    shapes = {"x": (batch, groups * ins, *sizes[0]), "weight": (groups * outs, ins, *sizes[1]),
              "y": (batch, groups * outs, *sizes[2])}  # fmt: skip
    return Geometry(shapes, groups, **several)


@given(geometries(), st.sampled_from(["y", "x", "weight"]))
@settings(deadline=None)
def test_any_geometry_gives_what_the_definition_gives(it: Geometry, role: str) -> None:
    operands = it.draw()
    want = it.expect(role, operands)
    got = it.compute(role, {k: ts.tensor(x) for k, x in operands.items()})
    assert got.shape == want.shape
    np.testing.assert_allclose(to_array(got), want, rtol=1e-12, atol=1e-12)


@given(geometries())
@settings(deadline=None)
def test_the_three_are_adjoint(it: Geometry) -> None:
    operands = it.draw()
    tensors = {k: ts.tensor(x) for k, x in operands.items()}
    inner = [(to_array(it.compute(role, tensors)) * operands[role]).sum() for role in RECORDS]
    np.testing.assert_allclose(inner, inner[0], rtol=1e-10, atol=1e-10)


# --- the same bits -------------------------------------------------------------------------------

# Several blocks of rows, of columns, of channels and of the batch; parts of sums; few channels.
LARGE = [
    ((3, 5, 60, 70), (40, 5, 3, 3), {"padding": 1}),
    ((2, 70, 33, 31), (90, 70, 3, 3), {"stride": 2, "padding": 1}),
    ((9, 130, 9, 9), (33, 130, 3, 2), {"dilation": 2}),
    ((40, 24, 5, 5), (31, 24, 3, 3), {"padding": 1}),
    ((2, 6, 3000), (7, 6, 5), {"stride": 3}),
    ((1, 2, 2, 9000), (3, 2, 1, 4), {}),
    ((6, 33, 17, 18), (33, 1, 3, 3), {"groups": 33}),
    ((4, 1, 40, 40), (32, 1, 5, 5), {}),
    ((70, 3, 12, 300), (5, 3, 3, 300), {}),
]


def both_ways(x: ts.Tensor, weight: ts.Tensor, g: ts.Tensor, **options: Any) -> list[ts.Tensor]:
    """Give the output and both gradients."""
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    out = (F.conv2d if x.ndim == 4 else F.conv1d)(x, weight, **options)
    return [out.detach(), *ts.autograd.grad(out, [x, weight], g)]


def large_operands(case: Any, dtype: Any) -> list[ts.Tensor]:
    """Draw operands of a large case, and a gradient of its result."""
    x_shape, w_shape, options = case
    made = [ts.randn(s, generator=ts.Generator(1)).astype(dtype) for s in (x_shape, w_shape)]
    function = F.conv2d if len(x_shape) == 4 else F.conv1d
    shape = function(*made, **options).shape
    return [*made, ts.randn(shape, generator=ts.Generator(2)).astype(dtype)]


@pytest.mark.parametrize("case", LARGE, ids=lambda case: str(case[:2]))
def test_bits_do_not_depend_on_threads_or_layouts(case: Any) -> None:
    for dtype in sampled([ts.float32, ts.float64, ts.float16, ts.bfloat16], 2):
        operands = large_operands(case, dtype)
        with ts.num_threads(1):
            first = both_ways(*operands, **case[2])
        for threads in (2, 3):
            with ts.num_threads(threads):
                again = both_ways(*operands, **case[2])
            for one, other in zip(first, again, strict=True):
                assert_same_tensors(one, other)
        for layout in sampled([name for name in LAYOUTS if name != "repeated"], 2):
            again = both_ways(*(LAYOUTS[layout](x) for x in operands), **case[2])
            for one, other in zip(first, again, strict=True):
                assert_same_tensors(one, other)


@pytest.mark.parametrize("case", LARGE, ids=lambda case: str(case[:2]))
def test_large_sizes_give_what_the_definition_gives(case: Any) -> None:
    x, weight, g = large_operands(case, ts.float64)
    out, dx, dweight = both_ways(x, weight, g, **case[2])
    arrays = [to_array(each) for each in (x, weight, g)]
    axes, options = x.ndim - 2, case[2]
    geometry = {
        "stride": references.each(options.get("stride", 1), axes),
        "pad": references.each(options.get("padding", 0), axes),
        "dilation": references.each(options.get("dilation", 1), axes),
        "groups": options.get("groups", 1),
    }
    want = references.convolve(np, *arrays[:2], size=out.shape[2:], **geometry)
    np.testing.assert_allclose(to_array(out), want, rtol=1e-11, atol=1e-11)
    want = references.convolve_input(np, arrays[2], arrays[1], size=x.shape[2:], **geometry)
    np.testing.assert_allclose(to_array(dx), want, rtol=1e-11, atol=1e-11)
    want = references.convolve_weight(np, arrays[0], arrays[2], size=weight.shape[2:], **geometry)
    np.testing.assert_allclose(to_array(dweight), want, rtol=1e-10, atol=1e-10)


# --- numbers that are none, far reaches, memory --------------------------------------------------


def test_nan_stays_in_its_windows() -> None:
    x = ts.zeros(1, 1, 5, 5)
    x[0, 0, 0, 0] = float("nan")
    out = F.conv2d(x, ts.ones(1, 1, 2, 2), padding=1)
    assert ts.isnan(out).nonzero()[2].tolist() == [0, 0, 1, 1]
    assert ts.isnan(out).nonzero()[3].tolist() == [0, 1, 0, 1]


def test_infinite_weights_make_no_nan_of_padding_inside() -> None:
    out = F.conv2d(ts.ones(1, 1, 3, 3), ts.full((1, 1, 1, 1), float("inf")))
    assert ts.isinf(out).all()


@pytest.mark.parametrize("far", [1 << 20, 1 << 40, 1 << 58])
def test_taps_that_are_far_apart_need_no_room_between(far: int) -> None:
    x = ts.arange(3.0).reshape(1, 1, 3)
    with memory.limit("64MB"):
        out = F.conv1d(x, ts.ones(1, 1, 3), padding=far, dilation=far)
    assert out.tolist() == [[[0.0, 1.0, 2.0]]]


def test_strides_that_are_far_apart_need_no_room_between() -> None:
    x = ts.ones(1, 1, 2).requires_grad_()
    out = F.conv1d(x, ts.ones(1, 1, 2), stride=1 << 50)
    out.sum().backward()
    assert out.tolist() == [[[2.0]]] and x.grad is not None and x.grad.tolist() == [[[1.0, 1.0]]]


def test_scratch_is_small_beside_the_columns() -> None:
    x, weight = ts.ones(16, 32, 56, 56), ts.ones(32, 32, 3, 3)
    columns = 9 * x.nbytes
    with ts.num_threads(2), memory.track() as used:
        out = F.conv2d(x, weight, padding=1)
    assert used.peak - out.nbytes < columns / 10


def test_a_step_that_runs_out_of_memory_changes_nothing() -> None:
    model = nn.Conv2d(3, 8, 3)
    x = ts.ones(4, 3, 20, 20)
    want = model(x)
    with memory.limit(memory.stats().live + 1000), pytest.raises(ts.errors.OutOfMemory):
        model(x)
    assert_same_tensors(model(x), want)


@pytest.mark.parametrize(("threads", "role"), list(itertools.product([1, 2], RECORDS)))
def test_halves_sum_in_float32(threads: int, role: str) -> None:
    it = Geometry({"x": (2, 40, 20, 20), "weight": (8, 40, 3, 3), "y": (2, 8, 18, 18)}, 1,
                  stride=(1, 1), pad=(0, 0), dilation=(1, 1))  # fmt: skip
    operands = {k: ts.tensor(x).astype(ts.bfloat16) for k, x in it.draw(np.float32).items()}
    wide = {k: x.astype(ts.float32) for k, x in operands.items()}
    with ts.num_threads(threads):
        assert_same_tensors(it.compute(role, operands), it.compute(role, wide).astype(ts.bfloat16))


def test_virtual_operands_give_a_shape() -> None:
    x = _core.empty_virtual((1 << 20, 64, 512, 512), ts.float32.id)
    assert F.conv2d(x, ts.ones(8, 64, 3, 3), stride=2).shape == (1 << 20, 8, 255, 255)
