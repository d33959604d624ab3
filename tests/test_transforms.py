"""Derivatives as functions: ts.grad and its kin against closed forms."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of
from tessella.errors import ShapeError, TessellaError

X = ts.tensor([0.5, -1.0, 2.0], dtype=ts.float64)
A = ts.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]], dtype=ts.float64)


def close(found: Any, wanted: Any) -> None:
    """Compare nested tensors, to a few units."""
    ts.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def cubes(x: ts.Tensor) -> ts.Tensor:
    """Give the sum of cubes."""
    return (x**3).sum()


# --- grad and value_and_grad ---------------------------------------------------------------------


def test_grad_gives_a_function() -> None:
    close(ts.grad(cubes)(X), 3 * X * X)
    close(ts.grad(ts.sin)(ts.tensor(0.5, dtype=ts.float64)), math.cos(0.5))


def test_the_argument_is_left_alone() -> None:
    x = X.clone()
    found = ts.grad(cubes)(x)
    assert not x.requires_grad and x.grad is None and not found.requires_grad
    y = X.clone().requires_grad_()
    ts.grad(cubes)(y)
    assert y.grad is None and y.is_leaf


def test_argnums_choose_the_arguments() -> None:
    def f(x: ts.Tensor, y: ts.Tensor, k: float) -> ts.Tensor:
        return (x * x * y).sum() * k

    y = X + 1
    close(ts.grad(f)(X, y, 2.0), 4 * X * y)
    close(ts.grad(f, argnums=1)(X, y, 2.0), 2 * X * X)
    found = ts.grad(f, argnums=(0, 1))(X, y, 2.0)
    assert isinstance(found, tuple)
    close(found, (4 * X * y, 2 * X * X))
    close(ts.grad(f, argnums=-2)(X, y, 2.0), 2 * X * X)
    with pytest.raises(TessellaError, match="argnums"):
        ts.grad(f, argnums=3)(X, y, 2.0)
    close(ts.grad(f, argnums=2)(X, y, ts.tensor(2.0, dtype=ts.float64)), (X * X * y).sum())  # type: ignore[arg-type]
    assert isinstance(ts.grad(f, argnums=2)(X, y, 2.0), ts.Tensor)  # numbers have derivatives too


def test_keywords_and_closures_pass_through() -> None:
    def f(x: ts.Tensor, *, scale: float = 1.0) -> ts.Tensor:
        return (x * X).sum() * scale

    close(ts.grad(f)(X, scale=3.0), 3 * X)  # type: ignore[call-arg]


def test_value_and_grad() -> None:
    value, gradient = ts.value_and_grad(cubes)(X)
    close(value, (X**3).sum())
    close(gradient, 3 * X * X)
    assert not value.requires_grad and not gradient.requires_grad


def test_auxiliary_results_are_given_beside() -> None:
    def f(x: ts.Tensor) -> tuple[ts.Tensor, dict[str, Any]]:
        h = x * 2
        return (h * h).sum(), {"h": h, "n": 3}

    gradient, aux = ts.grad(f, has_aux=True)(X)
    close(gradient, 8 * X)
    assert aux["n"] == 3 and aux["h"].tolist() == (X * 2).tolist()
    (value, aux), gradient = ts.value_and_grad(f, has_aux=True)(X)
    close((value, gradient), ((4 * X * X).sum(), 8 * X))
    assert aux["n"] == 3


def test_the_result_must_be_one_number() -> None:
    with pytest.raises(ShapeError) as caught:
        ts.grad(lambda x: x * 2)(X)
    assert "grad" in str(caught.value).splitlines()[0] and "  hint: " in str(caught.value)
    with pytest.raises(TypeError):
        ts.grad(lambda x: 3.0)(X)  # type: ignore[arg-type, return-value]


def test_grad_nests() -> None:
    x = ts.tensor(0.7, dtype=ts.float64)
    found = ts.sin
    for expected in (math.cos(0.7), -math.sin(0.7), -math.cos(0.7), math.sin(0.7)):
        found = ts.grad(found)  # type: ignore[assignment]
        close(found(x), expected)


def test_nested_grads_of_closures_do_not_mix_up_variables() -> None:
    """d/dx (x * d/dy (x + y)) is 1: what both write must not be confused."""
    x = ts.tensor(1.0, dtype=ts.float64)
    found = ts.grad(lambda x: x * ts.grad(lambda y: x + y)(ts.tensor(1.0, dtype=ts.float64)))(x)
    assert found.item() == 1.0
    inner = ts.grad(lambda x: ts.grad(lambda y: x * y * y)(ts.tensor(3.0, dtype=ts.float64)) * x)(x)
    assert inner.item() == 12.0


def test_gradients_flow_through_grad_where_recording_is_on() -> None:
    w = ts.tensor(2.0, dtype=ts.float64, requires_grad=True)
    out = ts.grad(lambda x: (w * x * x).sum())(X)
    out.sum().backward()
    close(grad_of(w), (2 * X).sum())


def test_grad_of_nested_arguments() -> None:
    def loss(params: dict[str, Any], x: ts.Tensor) -> Any:
        return ((params["w"] * x).sum() + params["b"][0]) ** 2

    params = {"w": X * 2, "b": [ts.tensor(1.0, dtype=ts.float64)]}
    found = ts.grad(loss)(params, X)
    inner = 2 * ((X * 2 * X).sum() + 1)
    close(found, {"w": inner * X, "b": [inner]})


# --- vjp and jvp ---------------------------------------------------------------------------------


def test_vjp_gives_the_result_and_pulls_back() -> None:
    out, pull = ts.vjp(lambda x: (A @ x).exp(), X)
    value = (A @ X).exp()
    close(out, value)
    g = ts.tensor([1.0, -2.0], dtype=ts.float64)
    for _ in range(2):  # as often as one likes
        found = pull(g)
        assert isinstance(found, tuple) and len(found) == 1
        close(found[0], (g * value) @ A)


def test_vjp_of_several_arguments() -> None:
    out, pull = ts.vjp(lambda a, x: a @ x, A, X)
    g = ts.tensor([1.0, -2.0], dtype=ts.float64)
    da, dx = pull(g)
    close(out, A @ X)
    close(da, g[:, None] * X[None, :])
    close(dx, A.T @ g)


def test_vjp_of_unused_arguments_is_zero() -> None:
    _, pull = ts.vjp(lambda x, y: x * 2, X, A)
    dx, dy = pull(X)
    close((dx, dy), (X * 2, ts.zeros_like(A)))


def test_vjp_of_several_results() -> None:
    (a, b), pull = ts.vjp(lambda x: (x * 2, x * x), X)
    close((a, b), (X * 2, X * X))
    (found,) = pull((X, ts.ones_like(X)))
    close(found, 2 * X + 2 * X)


def test_vjp_with_auxiliary_results() -> None:
    out, pull, aux = ts.vjp(lambda x: (x * 2, "aux"), X, has_aux=True)
    close(out, X * 2)
    assert aux == "aux"
    close(pull(X), (X * 2,))


def test_vjp_checks_the_cotangent() -> None:
    _, pull = ts.vjp(lambda x: x * 2, X)
    with pytest.raises(ShapeError):
        pull(ts.ones(2, dtype=ts.float64))


def test_jvp_pushes_forward() -> None:
    v = ts.tensor([1.0, 0.0, -1.0], dtype=ts.float64)
    out, tangent = ts.jvp(lambda x: (A @ x).exp(), (X,), (v,))
    close(out, (A @ X).exp())
    close(tangent, (A @ X).exp() * (A @ v))


def test_jvp_of_several_arguments_and_results() -> None:
    v, w = X * 0.5, X - 2
    out, tangent = ts.jvp(lambda x, y: (x * y, x + y), (X, X + 1), (v, w))
    close(out, (X * (X + 1), 2 * X + 1))
    close(tangent, (v * (X + 1) + X * w, v + w))


def test_jvp_checks_the_tangents() -> None:
    with pytest.raises(ShapeError):
        ts.jvp(ts.exp, (X,), (ts.ones(2, dtype=ts.float64),))
    with pytest.raises(TessellaError):
        ts.jvp(ts.exp, (X,), (X, X))


def test_vjp_and_jvp_are_adjoint() -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        return ts.softmax(A.T @ ts.sin(A @ x), axis=0)

    v, g = ts.randn(3, dtype=ts.float64), ts.randn(3, dtype=ts.float64)
    _, tangent = ts.jvp(f, (X,), (v,))
    _, pull = ts.vjp(f, X)
    close((g * tangent).sum(), (pull(g)[0] * v).sum())


# --- jacobian and hessian ------------------------------------------------------------------------


def test_jacobian_of_a_linear_map_is_its_matrix() -> None:
    close(ts.jacobian(lambda x: A @ x)(X), A)


def test_jacobian_has_the_axes_of_the_result_then_of_the_argument() -> None:
    x = ts.randn(2, 3, dtype=ts.float64)
    found = ts.jacobian(lambda x: x.T * 2)(x)
    assert found.shape == (3, 2, 2, 3)
    for i in range(2):
        for j in range(3):
            want = ts.zeros(3, 2, dtype=ts.float64)
            want[j, i] = 2
            close(found[:, :, i, j], want)


def test_jacobian_of_elementwise_functions_is_diagonal() -> None:
    close(ts.jacobian(ts.exp)(X), ts.diag(X.exp()))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0)])
def test_jacobian_of_the_least_shapes(shape: tuple[int, ...]) -> None:
    x = ts.ones(shape, dtype=ts.float64)
    found = ts.jacobian(lambda x: x * 3)(x)
    assert found.shape == shape + shape and found.tolist() == (
        [] if not x.size and shape == (0,) else found.tolist()
    )
    if x.size:
        assert found.reshape(-1).tolist() == [3.0]


def test_jacobian_of_several_arguments() -> None:
    da, dx = ts.jacobian(lambda a, x: a @ x, argnums=(0, 1))(A, X)
    assert da.shape == (2, 2, 3)
    close(dx, A)
    close(da[0, 0], X)
    close(da[0, 1], ts.zeros(3, dtype=ts.float64))


def test_hessian_of_a_quadratic_form() -> None:
    q = A.T @ A + 1
    close(ts.hessian(lambda x: x @ q @ x)(X), q + q.T)


def test_hessian_of_a_cubic() -> None:
    close(ts.hessian(cubes)(X), ts.diag(6 * X))


def test_hessian_of_two_arguments_has_blocks() -> None:
    def f(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        return (x * x * y).sum()

    y = X + 1
    (xx, xy), (yx, yy) = ts.hessian(f, argnums=(0, 1))(X, y)
    close(xx, ts.diag(2 * y))
    close(xy, ts.diag(2 * X))
    close(yx, ts.diag(2 * X))
    close(yy, ts.zeros(3, 3, dtype=ts.float64))


def test_rosenbrocks_valley() -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2

    x = ts.tensor([-1.2, 1.0], dtype=ts.float64)
    close(ts.grad(f)(x), [-215.6, -88.0])
    close(ts.hessian(f)(x), [[1330.0, 480.0], [480.0, 200.0]])


def test_newtons_method_needs_few_steps() -> None:
    x = ts.tensor([1.5, -0.5], dtype=ts.float64)

    def f(x: ts.Tensor) -> ts.Tensor:
        return ts.cosh(x[0] - 1) + (x[1] - 2) ** 2 + ts.exp(x[0] * 0.1)

    for _ in range(8):
        x = x - ts.linalg.solve(ts.hessian(f)(x), ts.grad(f)(x))
    assert ts.abs(ts.grad(f)(x)).max().item() < 1e-12


def test_functions_keep_their_names() -> None:
    assert "cubes" in ts.grad(cubes).__name__ or ts.grad(cubes).__wrapped__ is cubes  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [ts.grad, ts.value_and_grad, ts.jacobian, ts.hessian])
def test_what_is_no_function_is_refused(make: Any) -> None:
    with pytest.raises(TypeError):
        make(3)
