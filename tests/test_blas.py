"""A BLAS that is plugged in: NumPy's wheel brings one. It is off unless a test turns it on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tessella as ts

LIBRARIES = sorted(Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*.so*"))


@pytest.fixture
def blas() -> Iterator[None]:
    """Turn NumPy's OpenBLAS on."""
    assert LIBRARIES, "NumPy's wheel has no OpenBLAS"
    ts.set_blas(LIBRARIES[0])
    yield
    ts.set_blas(None)


def test_blas_is_off_until_it_is_set_by_set_blas_and_get_blas_tells() -> None:
    assert ts.get_blas() is None
    ts.set_blas(str(LIBRARIES[0]))
    assert ts.get_blas() == str(LIBRARIES[0])
    ts.set_blas(None)
    assert ts.get_blas() is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("a", "b"),
    [((70, 90), (90, 80)), ((3, 70, 90), (90, 80)), ((2, 70, 90), (2, 90, 80)),
     ((2, 1, 70, 90), (3, 90, 80))],
)  # fmt: skip
def test_products_with_blas_are_near(
    blas: None, a: tuple[int, ...], b: tuple[int, ...], dtype: str
) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=shape).astype(dtype) for shape in (a, b))
    want = x.astype("float64") @ y.astype("float64")
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    turned = ts.from_numpy(np.swapaxes(x, -1, -2).copy()).mT
    backwards = ts.from_numpy(y[..., ::-1].copy()).flip(axis=-1)  # a negative stride: our kernels
    stepped = ts.from_numpy(np.repeat(x, 2, axis=-2))[..., ::2, :]
    for left in (ts.from_numpy(x), turned, stepped):
        for right in (ts.from_numpy(y), backwards):
            assert np.abs((left @ right).numpy() - want).max() < tolerance


def test_matmul_into_accumulates_with_blas(blas: None) -> None:
    a, b = ts.ones(80, 70), ts.ones(70, 90)
    out = ts.ones(80, 90)
    ts.matmul_into(out, a, b, accumulate=True)
    assert out.tolist() == ts.full((80, 90), 71.0).tolist()
    wide = ts.zeros(80, 180)
    ts.matmul_into(wide[:, :90], a, b)
    assert wide[:, :90].sum().item() == 80 * 90 * 70 and wide[:, 90:].sum().item() == 0


def test_other_dtypes_and_small_products_keep_their_bits_with_blas() -> None:
    x = ts.randn(20, 20)
    halves = ts.randn(100, 100).astype(ts.bfloat16)
    before = (x @ x).tolist(), (halves @ halves).tolist()
    ts.set_blas(LIBRARIES[0])
    try:
        assert ((x @ x).tolist(), (halves @ halves).tolist()) == before
    finally:
        ts.set_blas(None)


@pytest.mark.parametrize(
    ("path", "match"),
    [("/no/such/library.so", "is no BLAS: "), ("libm.so.6", "it has no cblas_sgemm"),
     (3, "path must be a path, or None, got int"), (b"x", "path must be"), ("a\0b", "path is")],
)  # fmt: skip
def test_what_is_no_blas_is_refused(path: object, match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=match) as caught:
        ts.set_blas(path)  # type: ignore[arg-type]
    assert str(caught.value).startswith("set_blas: ") and "hint: " in str(caught.value)
    assert ts.get_blas() is None
