"""Dropout and embeddings: shares, gradients, modes, refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tessella as ts
from nested import listed
from tessella import errors, nn
from tessella.nn import functional as F

# --- dropout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_a_share_becomes_zero_and_the_others_larger(p: float, dtype: str) -> None:
    ts.manual_seed(1)
    x = ts.ones(100_000, dtype=dtype, requires_grad=True)
    out = F.dropout(x, p)
    kept = out != 0
    share = 1 - kept.to("float64").mean().item()
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 1e5)
    scale = ts.tensor(1 / (1 - p), dtype=dtype)
    assert ((out == scale) | ~kept).all()
    out.sum().backward()
    assert x.grad is not None and x.grad.array_equal(out.detach())


def test_outside_of_training_nothing_is_dropped() -> None:
    x = ts.randn(5)
    assert F.dropout(x, 0.9, training=False) is x and nn.Dropout(0.9).eval()(x) is x
    assert F.dropout(x, 0.0) is x and F.alpha_dropout(x, 0.5) is x
    assert F.dropout(x, 1.0).tolist() == [0.0] * 5
    y = ts.ones(3, requires_grad=True)
    F.dropout(y, 1.0).sum().backward()
    assert y.grad is not None and y.grad.tolist() == [0.0, 0.0, 0.0]


def test_infinities_that_are_dropped_are_zero() -> None:
    out = F.dropout(ts.full((1000,), math.inf), 0.5)
    assert set(listed(out)) == {0.0, math.inf}


def test_the_same_seed_drops_the_same_for_any_layout_and_thread_count() -> None:
    x = ts.randn(300, 400)
    found = []
    for y, threads in ((x, 1), (x.T.contiguous().T, 1), (x, 2)):
        ts.manual_seed(3)
        with ts.num_threads(threads):
            found.append(F.dropout(y, 0.3).tolist())
    assert found[0] == found[1] == found[2]


def test_nothing_is_saved() -> None:
    h = ts.ones(1000, requires_grad=True) * 1.0
    before = ts.memory.stats().kinds["saved"]
    out = F.dropout(h, 0.5)
    assert ts.memory.stats().kinds["saved"] == before
    del out


def test_all_dtypes_drop_the_same_places() -> None:
    floats = [ts.float16, ts.bfloat16, ts.float32, ts.float64]
    drawn = [F.dropout(ts.ones(999, dtype=each), generator=ts.Generator(2)) for each in floats]
    assert all(((x != 0) == (drawn[0] != 0)).all() for x in drawn)


def test_the_generator_goes_on() -> None:
    source = ts.Generator(5)
    first, second = (F.dropout(ts.ones(100), generator=source).tolist() for _ in range(2))
    assert first != second
    ts.manual_seed(5)
    assert F.dropout(ts.ones(100)).tolist() == first
    both: Any = F.dropout(ts.ones(128), generator=ts.Generator(5)).tolist()
    assert both[:100] == first, "a number is a function of its place"


def test_a_checkpoint_drops_the_same_elements_again() -> None:
    x = ts.randn(100, requires_grad=True)
    out = ts.checkpoint(lambda x: F.dropout(x * 2.0).square().sum(), x)
    out.backward()
    assert x.grad is not None
    kept = (x.grad != 0).to(ts.float32)
    assert (4 * x.detach() * kept).square().sum().item() == pytest.approx(out.item(), rel=1e-5)


def test_channels_are_dropped_whole() -> None:
    ts.manual_seed(0)
    for drop, shape in ((nn.Dropout1d(0.5), (20, 30, 4)), (nn.Dropout2d(0.5), (20, 30, 4, 5))):
        out = drop(ts.ones(shape)).reshape(600, -1)
        assert ((out == 0).all(axis=1) | (out == 2).all(axis=1)).all()
        assert 0.3 < (out[:, 0] == 0).to("float32").mean().item() < 0.7
        assert drop(ts.ones(shape[1:])).shape == shape[1:]


def test_in_place_it_writes_into_its_operand() -> None:
    x = ts.ones(1000)
    assert nn.Dropout(0.5, inplace=True)(x) is x and set(listed(x)) == {0.0, 2.0}


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    ts.manual_seed(0)
    out = nn.AlphaDropout(0.3)(ts.randn(200_000, dtype="float64"))
    assert abs(out.mean().item()) < 0.02 and abs(out.std().item() - 1) < 0.02


REFUSED = [
    (lambda: F.dropout(ts.ones(2), 1.5), r"dropout: p is 1.5"),
    (lambda: F.dropout(ts.ones(2, dtype=ts.int64)), "dropout: not defined for int64"),
    (lambda: F.dropout1d(ts.ones(3)), "dropout1d: x.ndim is 1"),
    (lambda: F.dropout2d(ts.ones(3, 4)), "dropout2d: x.ndim is 2"),
    (lambda: nn.Dropout(-0.1), "Dropout: p is -0.1"),
    (lambda: nn.Embedding(4, 3, padding_idx=4), "Embedding: padding_idx is 4"),
    (lambda: nn.Embedding(-1, 3), "Embedding: num_embeddings is -1"),
    (lambda: nn.Embedding(4, 3, _weight=ts.ones(2, 2)), r"_weight.shape is \(2, 2\)"),
    (lambda: nn.Embedding.from_pretrained(ts.ones(3)), "Embedding.from_pretrained: embeddings is"),
    (lambda: nn.Embedding(4, 3)(ts.tensor([1, 9])), r"x\[1\] is 9, of 4 rows of weight"),
    (lambda: nn.Embedding(4, 3)(ts.ones(2)), "x is float32"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(errors.TessellaError, match=message) as caught:
        call()
    assert "hint: " in str(caught.value)


# --- embeddings -----------------------------------------------------------------------------------


def test_rows_get_the_gradients_of_their_uses() -> None:
    table = nn.Embedding(4, 2)
    table(ts.tensor([[1, 1], [3, 1]])).sum().backward()
    assert table.weight.grad is not None
    assert table.weight.grad[:, 0].tolist() == [0.0, 3.0, 0.0, 1.0]


def test_the_padding_row_is_zero_and_gets_no_gradient() -> None:
    table = nn.Embedding(4, 2, padding_idx=-3)
    assert table.padding_idx == 1 and table.weight[1].tolist() == [0.0, 0.0]
    table(ts.tensor([1, 2])).sum().backward()
    assert table.weight.grad is not None
    assert table.weight.grad[:, 0].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert repr(table) == "Embedding(4, 2, padding_idx=1)"


def test_gradients_are_divided_by_the_frequency() -> None:
    table = nn.Embedding(4, 2, scale_grad_by_freq=True)
    table(ts.tensor([1, 1, 3])).sum().backward()
    assert table.weight.grad is not None and table.weight.grad[:, 0].tolist() == [0, 1, 0, 1]


def test_gradients_are_right_to_the_second_order() -> None:
    indices, weight = ts.tensor([[0, 2], [2, 4]]), ts.randn(5, 3, dtype="float64")
    ts.testing.check_grads(lambda w: F.embedding(indices, w) ** 2, [weight])
    # The others are not those of the function, on purpose: each pass through the rule counts.
    for options, factor in (({"padding_idx": 2}, 0.0), ({"scale_grad_by_freq": True}, 0.5)):
        w = weight.clone().requires_grad_()
        out = (F.embedding(indices, w, **options) ** 2).sum()
        (g,) = ts.autograd.grad(out, w, create_graph=True)
        (second,) = ts.autograd.grad(g.sum(), w)
        for row, uses, share in ((0, 1, 1.0), (1, 0, 1.0), (2, 2, factor), (4, 1, 1.0)):
            ts.testing.assert_close(g[row].detach(), 2 * weight[row] * uses * share)
            ts.testing.assert_close(second[row], ts.full_like(second[row], 2 * uses * share**2))


def test_long_rows_are_shortened_in_place() -> None:
    table = nn.Embedding.from_pretrained(ts.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]]))
    table.max_norm = 1.0
    out = table(ts.tensor([0, 1, 0]))
    ts.testing.assert_close(out, ts.tensor([[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]]))
    assert table.weight[2].tolist() == [6.0, 8.0], "a row that is not used stays as it is"
    assert not table.weight.requires_grad


def test_rows_begin_normally_distributed() -> None:
    weight = nn.Embedding(500, 100).weight
    assert abs(weight.mean().item()) < 0.02 and abs(weight.std().item() - 1) < 0.02
