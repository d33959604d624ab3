"""nn.init: distributions, exact fills, refusals; and how modules begin."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

import tessella as ts
from tessella import errors, nn

MANY = (200, 300)


def spread(x: ts.Tensor) -> tuple[float, float]:
    """Give mean and deviation."""
    return x.mean().item(), x.std().item()


UNIFORM = [
    (lambda x: nn.init.uniform_(x, -2, 2), 2.0),
    (lambda x: nn.init.xavier_uniform_(x, 2.0), 2 * math.sqrt(6 / 500)),
    (lambda x: nn.init.kaiming_uniform_(x), math.sqrt(2) * math.sqrt(3 / 300)),
    (lambda x: nn.init.kaiming_uniform_(x, math.sqrt(5)), 1 / math.sqrt(300)),
    (lambda x: nn.init.kaiming_uniform_(x, mode="fan_out", nonlinearity="tanh"),
     5 / 3 * math.sqrt(3 / 200)),
]  # fmt: skip
NORMAL = [
    (lambda x: nn.init.normal_(x, 1.0, 3.0), 1.0, 3.0),
    (lambda x: nn.init.xavier_normal_(x), 0.0, math.sqrt(2 / 500)),
    (lambda x: nn.init.kaiming_normal_(x, nonlinearity="relu"), 0.0, math.sqrt(2 / 300)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("fill", "bound"), UNIFORM)
def test_uniform_numbers_fill_their_range(fill: Any, bound: float, dtype: str) -> None:
    x = fill(ts.empty(MANY, dtype=dtype)).to("float64")
    mean, deviation = spread(x)
    assert x.abs().max().item() <= bound * (1 + 2**-8)  # bfloat16 rounds the bound
    assert abs(mean) < bound / 30 and abs(deviation / (bound / math.sqrt(3)) - 1) < 0.02


@pytest.mark.parametrize(("fill", "mean", "deviation"), NORMAL)
def test_normal_numbers_have_their_mean_and_deviation(
    fill: Any, mean: float, deviation: float
) -> None:
    found = spread(fill(ts.empty(MANY, dtype="float64")))
    assert abs(found[0] - mean) < deviation / 30 and abs(found[1] / deviation - 1) < 0.02


def test_truncated_numbers_stay_inside_and_follow_the_distribution() -> None:
    x = nn.init.trunc_normal_(ts.empty(MANY, dtype="float64"), 1.0, 2.0, 0.0, 4.0)
    assert x.min().item() >= 0 and x.max().item() <= 4
    # The share below the mean: from -0.5 to 0 deviations, of all from -0.5 to 1.5.
    share = (0.5 - nn.init._normal_cdf(-0.5)) / (
        nn.init._normal_cdf(1.5) - nn.init._normal_cdf(-0.5)
    )
    assert abs((x < 1).to("float64").mean().item() - share) < 0.01


def test_exact_fills() -> None:
    assert nn.init.eye_(ts.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert nn.init.dirac_(ts.empty(4, 1, 3), groups=2)[:, 0, 1].tolist() == [1, 0, 1, 0]
    q = nn.init.orthogonal_(ts.empty(6, 2, 2, dtype="float64"), gain=3.0).reshape(6, 4)
    ts.testing.assert_close(q.T @ q, 9 * ts.eye(4, dtype="float64"))
    zeros = (nn.init.sparse_(ts.empty(50, 7), 0.1) == 0).sum(axis=0)
    assert zeros.tolist() == [5] * 7


def test_fills_are_not_recorded_and_give_the_parameter_back() -> None:
    x = nn.Parameter(ts.empty(3, 3))
    assert nn.init.ones_(x) is x and x.is_leaf and x.requires_grad and x.sum().item() == 9


def test_a_generator_makes_them_repeatable() -> None:
    for fill in (nn.init.uniform_, nn.init.normal_, nn.init.trunc_normal_, nn.init.xavier_normal_,
                 nn.init.orthogonal_):  # fmt: skip
        first, second = (fill(ts.empty(3, 4), generator=ts.Generator(5)).tolist() for _ in range(2))
        assert first == second


REFUSED: list[Any] = [
    (lambda: nn.init.uniform_(cast(Any, 3)), "nn.init.uniform_: tensor must be a tensor, got int"),
    (lambda: nn.init.xavier_uniform_(ts.empty(3)), "nn.init.xavier_uniform_: tensor.ndim is 1"),
    (lambda: nn.init.kaiming_normal_(ts.empty(3, 3), mode="in"), "mode is 'in'"),
    (lambda: nn.init.kaiming_normal_(ts.empty(3, 3), nonlinearity="x"), "nonlinearity is 'x'"),
    (lambda: nn.init.eye_(ts.empty(3)), "nn.init.eye_: tensor.ndim is 1"),
    (lambda: nn.init.dirac_(ts.empty(3, 3)), "nn.init.dirac_: tensor.ndim is 2"),
    (lambda: nn.init.dirac_(ts.empty(3, 3, 1), groups=2), "groups is 2"),
    (lambda: nn.init.orthogonal_(ts.empty(3)), "nn.init.orthogonal_: tensor.ndim is 1"),
    (lambda: nn.init.sparse_(ts.empty(3, 3), 2.0), "sparsity is 2.0"),
    (lambda: nn.init.sparse_(ts.empty(3), 0.5), "nn.init.sparse_: tensor.ndim is 1"),
    (lambda: nn.init.dirac_(ts.empty(3, 3, 1), cast(Any, "x")), "groups must be an integer"),
    (lambda: nn.init.trunc_normal_(ts.empty(3), std=0), "nn.init.trunc_normal_: std is 0"),
    (lambda: nn.init.xavier_normal_(ts.empty(3, 3), cast(Any, "x")), "gain must be a real number"),
    (lambda: nn.init.calculate_gain(cast(Any, {})), r"calculate_gain: nonlinearity is \{\}"),
    (lambda: nn.init.calculate_gain("relu", cast(Any, "x")), "param must be a real number"),
    (lambda: nn.init.calculate_gain("gelu"), "nn.init.calculate_gain: nonlinearity is 'gelu'"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(errors.TessellaError, match=message) as caught:
        call()
    assert "hint: " in str(caught.value)


def test_empty_weights_stay_as_they_are() -> None:
    for fill in (nn.init.xavier_uniform_, nn.init.xavier_normal_, nn.init.kaiming_normal_):
        assert fill(ts.empty(0, 0)).shape == (0, 0)
    assert nn.init.dirac_(ts.empty(0, 2, 3), groups=1 << 40).size == 0


def test_gains_are_those_of_pytorch() -> None:
    gains = {name: nn.init.calculate_gain(name) for name in ("linear", "tanh", "relu", "selu")}
    assert gains == {"linear": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
    assert nn.init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)


def test_linear_begins_as_in_pytorch() -> None:
    layer = nn.Linear(300, 200)
    bound = 1 / math.sqrt(300)
    assert layer.bias is not None
    for x in (layer.weight, layer.bias):
        assert x.abs().max().item() <= bound and x.abs().max().item() > 0.9 * bound
    assert abs(layer.weight.std().item() / (bound / math.sqrt(3)) - 1) < 0.02
