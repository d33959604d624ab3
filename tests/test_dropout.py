"""dropout, dropout1d, dropout2d and alpha_dropout: chances, bits, gradients, and what is saved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from leaves import grad_of
from reference import assert_same
from tessella import memory, nn
from tessella.nn.functional.dropout import drop

F: Any = nn.functional
FLOATS = [ts.float16, ts.bfloat16, ts.float32, ts.float64]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_elements_are_dropped_by_chance_and_others_scaled(dtype: Any, p: float) -> None:
    n = 100_000
    x = to_array(F.dropout(ts.ones(n, dtype=dtype), p, generator=ts.Generator(1)))
    kept = x[x != 0]
    assert (kept == to_array(ts.tensor(1 / (1 - p), dtype=dtype))).all()
    assert abs(len(kept) / n - (1 - p)) < 5 * math.sqrt(p * (1 - p) / n)


def test_all_dtypes_drop_the_same_places() -> None:
    places = [to_array(F.dropout(ts.ones(999, dtype=dtype), generator=ts.Generator(2))) != 0
              for dtype in FLOATS]  # fmt: skip
    assert all((each == places[0]).all() for each in places)


def test_a_seed_gives_the_same_bits_at_any_thread_count_and_layout() -> None:
    x = ts.randn(301, 517, generator=ts.Generator(3))
    found = []
    for layout in (x, x.T.clone().T):
        for threads in (1, 2, 5):
            with ts.num_threads(threads):
                found.append(to_array(F.dropout(layout, 0.3, generator=ts.Generator(4))))
    for other in found[1:]:
        assert_same(other, found[0])


def test_the_generator_goes_on() -> None:
    source = ts.Generator(5)
    first, second = (F.dropout(ts.ones(100), generator=source).tolist() for _ in range(2))
    assert first != second
    ts.manual_seed(5)
    assert F.dropout(ts.ones(100)).tolist() == first
    both = F.dropout(ts.ones(128), generator=ts.Generator(5)).tolist()
    assert both[:100] == first, "a number is a function of its place"


def test_gradients_pass_where_elements_stayed_and_nothing_is_saved() -> None:
    x = ts.randn(1000).requires_grad_()
    h = x * 1.0
    before = memory.stats().kinds["saved"]
    out = F.dropout(h, 0.4)
    assert memory.stats().kinds["saved"] == before
    out.backward(ts.ones(1000))
    np.testing.assert_allclose(to_array(grad_of(x)), (to_array(out) != 0) / 0.6, rtol=1e-6)


def test_a_checkpoint_drops_the_same_elements_again() -> None:
    x = ts.randn(100).requires_grad_()
    out = ts.checkpoint(lambda x: F.dropout(x * 2.0).square().sum(), x)
    out.backward()
    kept = to_array(grad_of(x)) != 0
    assert (4 * to_array(x)[kept]).astype("float64") ** 2 @ np.ones(kept.sum()) == pytest.approx(
        out.item(), rel=1e-5
    )


def test_ends_of_probability() -> None:
    x = ts.tensor([1.0, math.nan, math.inf])
    assert F.dropout(x, 1.0).tolist() == [0, 0, 0]
    assert F.dropout(x, 0.0) is x and F.dropout(x, 0.5, training=False) is x
    assert drop(x, 1, 2, 0.0).tolist()[::2] == [1, math.inf]


@pytest.mark.parametrize(
    ("function", "shape"),
    [(F.dropout1d, (40, 30, 5)), (F.dropout1d, (300, 5)), (F.dropout2d, (40, 30, 3, 2))],
)
def test_channels_are_dropped_whole(function: Any, shape: tuple[int, ...]) -> None:
    x = to_array(function(ts.ones(shape), 0.25))
    rows = x.reshape(-1, math.prod(shape[2:] or shape[1:]))
    assert (rows == rows[:, :1]).all() and 0.6 < (rows[:, 0] != 0).mean() < 0.9


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = ts.randn(200_000, generator=ts.Generator(6))
    out = to_array(F.alpha_dropout(x, 0.3, training=True))
    assert abs(out.mean()) < 0.02 and abs(out.std() - 1) < 0.02
    least = -1.7580993408473766 / math.sqrt(0.7 * (1 + 0.3 * 1.7580993408473766**2))
    shift = 1.7580993408473766 * 0.3 / math.sqrt(0.7 * (1 + 0.3 * 1.7580993408473766**2))
    assert np.isclose(out, least + shift, atol=1e-5).mean() == pytest.approx(0.3, abs=0.01)
    assert F.alpha_dropout(x, 0.3) is x and F.alpha_dropout(x, 1.0, training=True).sum().item() == 0


@pytest.mark.parametrize("function", [F.dropout, F.dropout1d, F.alpha_dropout])
def test_inplace_writes_into_the_operand(function: Any) -> None:
    x = ts.ones(30, 40)
    assert function(x, 0.5, True, True) is x and (to_array(x) != 1).any()


def test_modules_drop_in_training_only() -> None:
    shapes = {nn.Dropout: (50,), nn.Dropout1d: (9, 8, 3), nn.Dropout2d: (9, 8, 2, 2),
              nn.AlphaDropout: (50,)}  # fmt: skip
    for kind, shape in shapes.items():
        module, x = kind(0.5), ts.ones(shape)
        assert (to_array(module(x)) != 1).any()
        assert module.eval()(x) is x
    assert repr(nn.Dropout(0.25)) == "Dropout(p=0.25, inplace=False)"
    with pytest.raises(ts.errors.InvalidArgument, match=r"^Dropout: p is 1\.5"):
        nn.Dropout(1.5)
