"""Scaling, one-hot codes and splits: statistics of one part, applied to another, and back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tessella as ts
from nested import listed
from tessella import data

ANY: Any = [1.0]  # of no type that is asked for
NUMBER: Any = 3
SCALERS: dict[str, Callable[[], Any]] = {
    "standardize": data.Standardize, "min_max": data.MinMax, "min_max 2": lambda: data.MinMax(-3, 5)
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint8"])
def test_standardized_data_have_mean_0_and_deviation_1(dtype: str) -> None:
    x = ts.randint(0, 100, (50, 3)).astype(dtype)
    scale = data.standardize(x)
    out = scale(x)
    assert out.dtype is (x.dtype if x.dtype.is_floating else ts.float32)
    exact = x.astype(ts.float64).numpy()
    expected = (exact - exact.mean(axis=0)) / exact.std(axis=0)
    assert np.allclose(
        out.astype(ts.float64).numpy(), expected, atol=0.05 if dtype == "bfloat16" else 1e-5
    )


def test_min_max_reaches_both_ends() -> None:
    x = ts.tensor([[1.0, -4.0], [3.0, 0.0], [2.0, 4.0]])
    assert data.min_max(x)(x).tolist() == [[0, 0], [1, 0.5], [0.5, 1]]
    assert data.min_max(x, -1, 1)(x).tolist() == [[-1, -1], [1, 0], [0, 1]]


def test_large_integers_are_scaled_before_they_are_rounded() -> None:
    days = ts.tensor([[20240101], [20240102], [20240103]])
    found: Any = data.standardize(days)(days).reshape(-1).tolist()
    assert found == pytest.approx([-math.sqrt(1.5), 0, math.sqrt(1.5)])
    seconds = 1_700_000_000 + ts.arange(101).reshape(-1, 1)
    out = data.min_max(seconds)(seconds)
    assert out.dtype is ts.float32
    assert np.allclose(out.numpy(), np.arange(101).reshape(-1, 1) / 100)
    assert out.max().item() == 1


@pytest.mark.parametrize("name", SCALERS)
@given(
    rows=st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=20)
)
def test_scaling_is_undone(name: str, rows: list[list[float]]) -> None:
    x = ts.tensor(rows, ts.float64)
    scale = SCALERS[name]().fit(x)
    back = scale.inverse(scale(x))
    assert np.allclose(back.numpy(), x.numpy(), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("name", SCALERS)
def test_what_does_not_vary_or_is_missing_stays_finite_or_missing(name: str) -> None:
    nan = math.nan
    x = ts.tensor([[2.0, 1.0, nan], [2.0, nan, nan], [2.0, 3.0, nan]])
    scale = SCALERS[name]().fit(x)
    out = scale(x).tolist()
    assert len({row[0] for row in out}) == 1 and math.isfinite(out[0][0])
    assert math.isnan(out[1][1]) and all(math.isnan(row[2]) for row in out)
    without = SCALERS[name]().fit(ts.tensor([[1.0], [3.0]]))
    assert [out[0][1], out[2][1]] == without(ts.tensor([[1.0], [3.0]])).reshape(-1).tolist()


@pytest.mark.parametrize("name", SCALERS)
def test_statistics_are_kept_in_a_state(name: str) -> None:
    x = ts.randn(20, 2, 3)
    scale, other = SCALERS[name]().fit(x), SCALERS[name]()
    other.load_state_dict(scale.state_dict())
    assert other(x[:2]).tolist() == scale(x[:2]).tolist()
    with pytest.raises(ts.errors.InvalidArgument, match="a dict of scale, shift"):
        other.load_state_dict({"mean": x})


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda: data.Standardize()(ts.ones(2, 2)),
            "Standardize: Standardize has no statistics yet",
        ),
        (
            lambda: data.MinMax().inverse(ts.ones(2)),
            "data.MinMax.inverse: MinMax has no statistics",
        ),
        (
            lambda: data.standardize(ts.ones(2, 3))(ts.ones(2, 2)),
            r"data.Standardize: samples have shape \(2,\)",
        ),
        (lambda: data.standardize(ts.ones(0, 3)), r"data.Standardize.fit: x.shape is \(0, 3\)"),
        (lambda: data.standardize(ANY), "data.Standardize.fit: x must be a tensor, got list"),
        (lambda: data.standardize(ts.ones(2))(ANY), "data.Standardize: x must be a tensor"),
        (lambda: data.MinMax(1, 1), "data.MinMax: high is 1"),
        (lambda: data.OneHot("maybe"), "data.OneHot: unknown is 'maybe'"),
        (lambda: data.OneHot()([1]), "data.OneHot: OneHot has no statistics yet"),
        (lambda: data.one_hot(ts.ones(2)), "data.OneHot.fit: x is 'float32"),
        (lambda: data.one_hot(NUMBER), "data.OneHot.fit: x must be a list of texts or of integers"),
        (lambda: data.one_hot(["a", 3]), "data.OneHot.fit: x must be a list of texts or of"),
        (lambda: data.one_hot(["a"])([[]]), "data.OneHot: x must be a list of texts or of"),  # type: ignore[list-item]
        (lambda: data.one_hot(["a"]).inverse(ANY), "OneHot.inverse: x must be a tensor"),
        (lambda: data.one_hot(["a"]).inverse(ts.ones(1, 2)), "OneHot.inverse: samples have"),
    ],
)
def test_preparations_say_what_is_wrong(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=message):
        act()


# --- one-hot -------------------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20))
def test_one_hot_codes_are_undone(values: list[int]) -> None:
    for x in (values, ts.tensor(values), [str(value) for value in values]):
        code = data.one_hot(x)
        out = code(x)
        assert out.shape == (len(values), len(set(values))) and out.sum(axis=1).tolist() == [
            1.0
        ] * len(values)
        expected = x.tolist() if isinstance(x, ts.Tensor) else x
        assert code.inverse(out) == expected
        other = data.OneHot()
        other.load_state_dict(code.state_dict())
        assert other(x).tolist() == out.tolist()


@pytest.mark.parametrize(
    "known, given_, shown",
    [(["a", "c"], ["c", "b"], "'b'"), ([1, 3], [3, 2], "2"), ([1, 3], [4], "4")],
)
def test_unknown_categories_are_refused_or_zeros(
    known: list[Any], given_: list[Any], shown: str
) -> None:
    is_text = isinstance(known[0], str)
    fitted, x = (known, given_) if is_text else (ts.tensor(known), ts.tensor(given_))
    with pytest.raises(
        ts.errors.InvalidArgument, match=f"data.OneHot: {shown} is none of the 2 categories"
    ):
        data.one_hot(fitted)(x)
    assert data.one_hot(fitted, unknown="zeros")(x)[-1].tolist() == [0.0, 0.0]


# --- split ---------------------------------------------------------------------------------------


@given(st.integers(2, 60), st.floats(0.05, 0.9), st.integers(0, 9), st.booleans())
def test_a_split_holds_each_row_once(count: int, size: float, seed: int, shuffle: bool) -> None:
    tests = math.ceil(count * size)
    assume(tests < count)
    x, y = ts.arange(count), ts.arange(count) * 2
    parts = data.split(x, y, test_size=size, seed=seed, shuffle=shuffle)
    x_train, x_test, y_train, y_test = (listed(part) for part in parts)
    assert len(x_test) == tests and sorted(x_train + x_test) == list(range(count))
    assert [2 * i for i in x_train] == y_train and [2 * i for i in x_test] == y_test
    assert (x_train + x_test == list(range(count))) or shuffle
    again = data.split(x, y, test_size=size, seed=seed, shuffle=shuffle)
    assert again[1].tolist() == x_test


@given(st.lists(st.integers(2, 30), min_size=1, max_size=5), st.floats(0.1, 0.6), st.integers(0, 9))
def test_a_stratified_split_keeps_the_shares_of_classes(
    sizes: list[int], size: float, seed: int
) -> None:
    classes = [c for c, n in enumerate(sizes) for _ in range(n)]
    tests = math.ceil(len(classes) * size)
    assume(tests < len(classes))
    for labels in (ts.tensor(classes), [f"c{c}" for c in classes]):
        y = ts.tensor(classes)
        train, test = data.split(y, test_size=size, seed=seed, stratify=labels)
        assert len(test) == tests and sorted(listed(train) + listed(test)) == classes
        counts = Counter(listed(test))
        for c, n in enumerate(sizes):
            assert abs(counts[c] - n * tests / len(classes)) < 1


def test_tables_datasets_and_lists_are_split() -> None:
    table = data.Table({"n": list(range(8)), "t": list("abcdefgh")})
    dataset = data.TensorDataset(ts.arange(8))
    a, b, c, d, e, f = data.split(table, dataset, list("abcdefgh"), test_size=3, seed=1)
    assert len(b) == len(d) == len(f) == 3 and len(a) == 5  # type: ignore[arg-type]
    assert b.texts("t") == f and listed(b["n"]) == [x[0].item() for x in d]  # type: ignore[attr-defined, index]
    assert isinstance(c, data.Subset) and isinstance(e, list)
    drawn = data.split(ts.arange(8), seed=ts.Generator(1))
    assert drawn[1].tolist() == data.split(ts.arange(8), seed=1)[1].tolist()


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: data.split(), "arrays is"),
        (lambda: data.split(ts.ones(3), ts.ones(2)), r"tensors\[1\] has 2 rows"),
        (lambda: data.split(ts.ones(3), test_size=1.5), "test_size is 1.5"),
        (
            lambda: data.split(ts.ones(3), test_size=0),
            "of 3 samples none is left for the test part",
        ),
        (
            lambda: data.split(ts.ones(3), test_size=3),
            "of 3 samples none is left for the training part",
        ),
        (lambda: data.split(ts.ones(3), stratify=[1, 2]), "stratify is"),
        (lambda: data.split(ts.ones(3), stratify=ts.ones(3)), "stratify is"),
        (lambda: data.split(ts.ones(3), stratify=["a", "a", "b"]), "class 1 has 1 sample"),
        (lambda: data.split(3), r"arrays\[0\] must be a dataset, got int"),
        (lambda: data.split(ts.ones(3), stratify=3), "stratify must be a class for each of 3 rows"),  # type: ignore[arg-type]
        (lambda: data.split(ts.ones(3), seed=ANY), "seed must be an integer"),
    ],
)
def test_splits_say_what_is_wrong(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.split: {message}"):
        act()
