"""Decompositions give back what they were made of; what LAPACK refuses; a machine without NumPy.

Values against NumPy and gradients are drawn from the declarations elsewhere. Factors are not
unique, so that eigh, eig, svd, qr and lstsq are tested by what defines them.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tessella as ts
from leaves import grad_of
from reference import epsilon
from tessella import linalg

DTYPES = [ts.float32, ts.float64, ts.complex64, ts.complex128]
sizes = st.integers(0, 6)
batches = st.lists(st.integers(0, 3), max_size=2).map(tuple)


@st.composite
def matrices(draw: st.DrawFn, *, square: bool = False) -> ts.Tensor:
    """Draw matrices of any batch, size and dtype, laid out forwards or not."""
    rows = draw(sizes)
    shape = (*draw(batches), rows, rows if square else draw(sizes))
    dtype = draw(st.sampled_from(DTYPES))
    generator = ts.Generator(draw(st.integers(0, 1000)))
    x = ts.randn(shape, generator=generator, dtype=ts.float64)
    if dtype.is_complex:
        x = x + ts.randn(shape, generator=generator, dtype=ts.float64) * 1j
    x = x.astype(dtype)
    return x.mT.clone().mT if draw(st.booleans()) else x


def near(x: ts.Tensor, y: ts.Tensor, factor: float = 100.0) -> bool:
    """Compare by the size of the matrices and the precision of their dtype."""
    assert x.shape == y.shape and x.dtype is y.dtype
    if not x.size:
        return True
    distance = ts.max(ts.abs(x - y)).item()
    return bool(distance <= factor * epsilon(x.dtype) * (1 + ts.max(ts.abs(y)).item()))


def adjoint(x: ts.Tensor) -> ts.Tensor:
    return ts.conj(x).mT if x.dtype.is_complex else x.mT


def one(x: ts.Tensor) -> ts.Tensor:
    """Give identities as large as the columns of x."""
    return ts.broadcast_to(ts.eye(x.shape[-1], dtype=x.dtype), (*x.shape[:-2], *x.shape[-1:] * 2))


@given(matrices(), st.sampled_from(["reduced", "complete"]))
def test_qr_gives_the_matrix_back(x: ts.Tensor, mode: Any) -> None:
    q, r = linalg.qr(x, mode=mode)
    assert near(q @ r, x) and near(adjoint(q) @ q, one(q))
    assert near(ts.triu(r), r, 0.0)


@given(matrices(), st.booleans())
def test_svd_gives_the_matrix_back(x: ts.Tensor, full: bool) -> None:
    u, s, vh = linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    assert near((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], x)
    assert near(adjoint(u) @ u, one(u)) and near(vh @ adjoint(vh), one(adjoint(vh)))
    assert near(linalg.svdvals(x), s)
    assert bool((s[..., 1:] <= s[..., : max(k - 1, 0)]).all()) and not s.dtype.is_complex


@given(matrices(square=True))
def test_eigh_gives_the_matrix_back(x: ts.Tensor) -> None:
    x = x + adjoint(x)
    values, vectors = linalg.eigh(x)
    assert near((vectors * values.unsqueeze(-2)) @ adjoint(vectors), x)
    assert near(adjoint(vectors) @ vectors, one(vectors))
    assert near(linalg.eigvalsh(x), values) and not values.dtype.is_complex
    assert near(linalg.eigh(ts.tril(x)).eigenvalues, values), "only the lower triangle is read"


@given(matrices(square=True))
def test_eig_gives_values_and_vectors(x: ts.Tensor) -> None:
    values, vectors = linalg.eig(x)
    assert values.dtype.is_complex
    assert near(x.astype(values.dtype) @ vectors, vectors * values.unsqueeze(-2), 1000)
    assert near(linalg.vector_norm(vectors, axis=-2), ts.ones_like(ts.real(values)))
    assert near(ts.sum(linalg.eigvals(x), axis=-1), ts.sum(values, axis=-1), 1000)


@given(matrices(square=True))
def test_cholesky_gives_the_matrix_back(x: ts.Tensor) -> None:
    x = x @ adjoint(x) + ts.eye(x.shape[-1], dtype=x.dtype)
    lower, upper = linalg.cholesky(x), linalg.cholesky(x, upper=True)
    assert near(lower @ adjoint(lower), x) and near(adjoint(upper), lower)


@pytest.mark.parametrize("dtype", DTYPES)
def test_complex_vectors_have_a_real_largest_element(dtype: ts.DType) -> None:
    x = (ts.randn(5, 5, dtype=ts.float64) + ts.randn(5, 5, dtype=ts.float64) * 1j).astype(
        ts.complex128
    )
    for v in (linalg.eig(x).eigenvectors, linalg.svd(x).U, linalg.eigh(x).eigenvectors):
        places = ts.argmax(ts.abs(v), axis=0, keepdims=True)
        largest = ts.take_along_axis(v, places, axis=0)
        assert ts.abs(ts.imag(largest)).max().item() < 1e-15 and ts.real(largest).min().item() > 0


def test_lstsq_is_numpys() -> None:
    a, b = ts.randn(5, 3, dtype=ts.float64), ts.randn(5, 2, dtype=ts.float64)
    found = linalg.lstsq(a, b)
    want = np.linalg.lstsq(a.numpy(), b.numpy(), None)
    for x, y in zip(found, want, strict=True):
        assert np.allclose(x.numpy(), y)  # type: ignore[arg-type]
    assert linalg.lstsq(ts.ones(3, 2), ts.ones(3)).rank.item() == 1


def test_gradients_of_full_factors_that_do_not_depend_on_their_choice() -> None:
    """The projection on the columns that complete Q and U is 1 less that on the others."""
    x = ts.randn(4, 2, dtype=ts.float64).requires_grad_()
    g = ts.randn(4, 4, dtype=ts.float64)
    full = (linalg.qr(x, mode="complete").Q[:, 2:], linalg.svd(x).U[:, 2:])
    reduced = (linalg.qr(x).Q, linalg.svd(x, full_matrices=False).U)
    gradients: list[ts.Tensor] = []
    for q, sign in ((full[0], 1), (full[1], 1), (reduced[0], -1), (reduced[1], -1)):
        gradients += ts.autograd.grad(q @ q.mT, x, sign * g, retain_graph=True)
    assert all(ts.allclose(each, gradients[0], atol=1e-9) for each in gradients)


def test_gradient_of_the_determinant_of_a_singular_matrix() -> None:
    x = ts.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=ts.float64).requires_grad_()
    linalg.det(x).backward()
    assert x.grad is not None and np.allclose(grad_of(x).numpy(), [[4, -2], [-2, 1]])


def test_condition_of_singular_matrices_is_infinite() -> None:
    x = ts.stack([ts.eye(2), ts.ones(2, 2)])
    assert linalg.cond(x, 1).tolist() == [1.0, float("inf")]


SINGULAR = ts.stack([ts.eye(2), ts.zeros(2, 2)])
REFUSED = [
    (linalg.inv, (SINGULAR,), r"linalg.inv: x\[1\] is singular: it has no inverse"),
    (linalg.inv, (SINGULAR[1],), "linalg.inv: x is singular: it has no inverse"),
    (linalg.solve, (SINGULAR, ts.ones(2)), r"linalg.solve: a\[1\] is singular"),
    (
        linalg.solve_triangular,
        (SINGULAR, ts.ones(2, 1), True),
        "linalg.solve_triangular: a is sing",
    ),
    (linalg.cholesky, (-SINGULAR,), r"linalg.cholesky: x\[0\] is not positive definite"),
    (
        linalg.svd,
        (ts.full((2, 2), float("nan")),),
        "linalg.svd: x has no decomposition: it holds N",
    ),
    (
        linalg.eig,
        (ts.full((2, 2), float("inf")),),
        "linalg.eig: x has no decomposition: it holds N",
    ),
    (linalg.inv, (ts.ones(2, 2, dtype=ts.int64),), "linalg.inv: not defined for int64"),
    (linalg.qr, (ts.ones(2, 2, dtype=ts.float16),), "linalg.qr: not defined for float16"),
]


@pytest.mark.parametrize(("function", "args", "text"), REFUSED)
def test_what_lapack_refuses_is_explained(function: Any, args: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"^{text}") as caught:
        function(*args)
    assert "  hint: " in str(caught.value) and "  at test_linalg.py:" in str(caught.value)


def test_without_numpy_the_error_names_the_extra_and_the_rest_works() -> None:
    code = """
import sys
sys.modules["numpy"] = None
import tessella as ts
x = ts.tensor([[2.0, 1.0], [1.0, 3.0]])
for call in (lambda: ts.linalg.inv(x), lambda: ts.linalg.svd(x), lambda: ts.fft.fft(x), x.numpy):
    try:
        call()
    except ts.errors.PreconditionFailed as error:
        print(str(error).splitlines()[0], str(error).splitlines()[-1], sep=" |")
print(ts.einsum("ij,jk->ik", x, x).tolist(), ts.linalg.matrix_norm(x, ord=1).item())
print(ts.linalg.solve_triangular(x, ts.ones(2, 1), upper=True).shape, ts.fft.fftfreq(2).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    what, hint = "this needs NumPy, which is not installed", 'pip install "tessella[numpy]"'
    assert done.stdout.splitlines() == [
        f"linalg.inv: {what} |  hint: {hint}",
        f"linalg.svd: {what} |  hint: {hint}",
        f"fft.fft: {what} |  hint: {hint}",
        f"numpy: {what} |  hint: {hint}",
        "[[5.0, 5.0], [5.0, 10.0]] 4.0",
        "(2, 1) [0.0, -0.5]",
    ], done.stderr


STANDARD = {
    "linalg": "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm "
    "matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot "
    "trace vecdot vector_norm",
    "fft": "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift "
    "ifftshift",
}


@pytest.mark.parametrize("name", STANDARD)
def test_extensions_of_the_array_api_are_whole(name: str) -> None:
    module = getattr(ts, name)
    assert set(STANDARD[name].split()) <= set(module.__all__)
    assert all(callable(getattr(module, each)) for each in module.__all__)


@given(matrices())
def test_transforms_give_the_signal_back(x: ts.Tensor) -> None:
    assume(0 not in x.shape[-2:])
    wide = x.astype(ts.complex128 if x.dtype in (ts.float64, ts.complex128) else ts.complex64)
    assert near(ts.fft.ifftn(ts.fft.fftn(x, axes=(-2, -1)), axes=(-2, -1)), wide)
    if not x.dtype.is_complex:
        spectrum = ts.fft.rfftn(x, axes=(-2, -1))
        assert near(ts.fft.irfftn(spectrum, s=x.shape[-2:], axes=(-2, -1)), x)
    assert near(ts.fft.ifftshift(ts.fft.fftshift(x)), x, 0.0)
