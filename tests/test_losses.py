"""Losses: torch's figures, stability at the ends of numbers, what is saved, bits, and errors.

Values against NumPy, gradients of both orders, layouts, dtypes and threads are tested for every
declaration in test_composites.py, test_records.py and test_gradients.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from figures import check_figure, figures_of, label
from leaves import grad_of
from nested import listed
from reference import assert_same
from tessella import _core, memory, nn

F: Any = nn.functional  # calls are made in more ways than stubs tell
FAMILIES = ("pair_losses", "class_losses", "margin_losses")
FIGURES = [figure for noun in FAMILIES for figure in figures_of(noun)]
INF = math.inf


@pytest.mark.parametrize("figure", FIGURES, ids=label)
def test_values_and_gradients_are_those_of_torch(figure: dict[str, Any]) -> None:
    check_figure(figure)


def leaf(values: Any, dtype: Any = ts.float32) -> ts.Tensor:
    """Make a tensor that asks for gradients."""
    return ts.tensor(values, dtype=dtype).requires_grad_()


# --- the ends of numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64], ids=str)
def test_cross_entropy_of_huge_logits_is_finite(dtype: Any) -> None:
    x = leaf([[6e4, -6e4], [-6e4, 6e4], [6e4, 6e4]], dtype)
    loss = F.cross_entropy(x, ts.tensor([0, 1, 1]), reduction="sum")
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2), rel=4e-3)
    assert to_array(grad_of(x)).tolist() == [[0, 0], [0, 0], [0.5, -0.5]]


def test_classes_that_are_impossible_have_no_share() -> None:
    x = leaf([[0.0, -INF, 0.0], [1.0, -INF, -INF]])
    F.cross_entropy(x, ts.tensor([2, 0]), reduction="sum").backward()
    assert to_array(grad_of(x)).tolist() == [[0.5, 0, -0.5], [0, 0, 0]]
    chosen = F.cross_entropy(x, ts.tensor([1, 1]), reduction="none")
    assert chosen.tolist() == [INF, INF]


@pytest.mark.parametrize("values", [[-INF, -INF], [INF, 0.0], [math.nan, 0.0]])
def test_cross_entropy_without_a_value_is_nan(values: list[float]) -> None:
    assert math.isnan(F.cross_entropy(ts.tensor([values]), ts.tensor([0])).item())


@pytest.mark.parametrize("function", [F.cross_entropy, F.nll_loss])
def test_a_batch_without_lines_has_no_mean(function: Callable[..., ts.Tensor]) -> None:
    x, target = leaf(np.zeros((0, 3))), ts.tensor([], dtype=ts.int64)
    assert math.isnan(function(x, target).item())
    assert function(x, target, reduction="sum").item() == 0
    assert function(x, target, reduction="none").shape == (0,)
    function(x, target).backward()
    assert grad_of(x).shape == (0, 3)


@pytest.mark.parametrize("function", [F.cross_entropy, F.nll_loss])
def test_a_batch_of_ignored_lines_has_no_mean_and_gradients_of_zero(
    function: Callable[..., ts.Tensor],
) -> None:
    x, target = leaf([[1.0, 2.0], [math.nan, INF]]), ts.tensor([-100, -100])
    loss = function(x, target)
    loss.backward()
    assert math.isnan(loss.item())
    assert grad_of(x).tolist() == [[0, 0], [0, 0]]
    assert function(x, target, reduction="sum").item() == 0


def test_logits_of_any_size_have_exact_losses_and_slopes() -> None:
    x = leaf([-1e4, -20.0, 0.0, 20.0, 1e4])
    for target, wanted in ((0.0, [0, 2.0611536e-9, math.log(2), 20, 1e4]),
                           (1.0, [1e4, 20, math.log(2), 2.0611536e-9, 0])):  # fmt: skip
        y = ts.full((5,), target)
        losses = F.binary_cross_entropy_with_logits(x, y, reduction="none")
        np.testing.assert_allclose(to_array(losses), wanted, rtol=1e-6)
        (slope,) = ts.autograd.grad(losses.sum(), [x])
        wanted_slope = (1 + np.tanh(to_array(x).astype("float64") / 2)) / 2 - target
        np.testing.assert_allclose(to_array(slope), wanted_slope, atol=1e-7)


def test_saturated_probabilities_have_finite_losses_and_slopes() -> None:
    x = leaf([0.0, 1.0, 0.0, 1.0])
    losses = F.binary_cross_entropy(x, ts.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none")
    assert losses.tolist() == [0, 0, 100, 100]
    losses.sum().backward()
    assert np.isfinite(to_array(grad_of(x))).all() and listed(grad_of(x))[:2] == [0, 0]


def test_a_prediction_at_the_margin_still_has_a_slope() -> None:
    x = leaf([0.5, 1.0, 1.5, 1.0])
    target = ts.tensor([-1.0, -1.0, -1.0, 1.0])
    F.hinge_embedding_loss(x, target, reduction="sum").backward()
    assert listed(grad_of(x)) == [-1, -1, 0, 1]


def test_halves_add_up_in_float32() -> None:
    x = ts.full((40_000, 2), 0.0, dtype=ts.bfloat16)
    assert F.cross_entropy(x, ts.zeros(40_000, dtype=ts.int64), reduction="sum").item() == 27776
    ones = ts.ones(40_000, dtype=ts.float16)
    assert F.mse_loss(ones, -ones).item() == 4
    soft = ts.full((40_000, 2), 0.5, dtype=ts.bfloat16)
    assert F.cross_entropy(x, soft).item() == pytest.approx(math.log(2), rel=4e-3)


# --- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3000, 37), (7, 5000), (4, 33, 65, 9)], ids=str)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_threads_and_layouts_give_the_bits_of_cross_entropy(
    shape: tuple[int, ...], smoothing: float
) -> None:
    x = ts.randn(shape, generator=ts.Generator(1))
    classes, lines = shape[1], (shape[0], *shape[2:])
    target = ts.randint(0, classes, lines, generator=ts.Generator(2))
    found = []
    for layout in (
        x,
        x.transpose(0, 1).clone().transpose(0, 1),
        x.flip(axis=1).clone().flip(axis=1),
    ):
        for threads in (1, 2, 5):
            with ts.num_threads(threads):
                own = layout.detach().requires_grad_()
                loss = F.cross_entropy(own, target, label_smoothing=smoothing)
                (g,) = ts.autograd.grad(loss, [own])
                found.append((to_array(loss), to_array(g)))
    for loss, g in found[1:]:  # type: ignore[assignment]
        assert_same(loss, found[0][0])
        assert_same(g, found[0][1])  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
def test_a_mean_of_pairs_has_the_bits_of_the_mean(dtype: Any) -> None:
    for size in (1, 100, 2048, 5000, 100_003):
        x, y = (ts.randn(size, generator=ts.Generator(k)).astype(dtype) for k in (3, 4))
        if dtype is not ts.bfloat16:
            assert_same(to_array(F.mse_loss(x, y)), to_array(((x - y) ** 2).mean()))
        results = []
        for threads in (1, 3):
            with ts.num_threads(threads):
                results.append(to_array(F.huber_loss(x, y, delta=0.3, reduction="sum")))
        assert_same(*results)


# --- what is saved -------------------------------------------------------------------------------


def saved_by(loss: Callable[[ts.Tensor], ts.Tensor], *shape: int) -> int:
    """Give the bytes that a loss keeps for backward, beside its operands."""
    h = ts.randn(*shape).requires_grad_() * 1.0
    before = memory.stats().kinds["saved"]
    out = loss(h)
    return memory.stats().kinds["saved"] - before + 0 * out.size


def test_losses_save_their_operands_and_no_more() -> None:
    target, pred = ts.randint(0, 10, (64,)), 64 * 10 * 4
    assert saved_by(lambda h: F.cross_entropy(h, target), 64, 10) == pred + target.size * 8
    assert saved_by(lambda h: F.cross_entropy(h, target, label_smoothing=0.1), 64, 10) == (
        pred + target.size * 8
    )
    assert saved_by(lambda h: F.mse_loss(h, ts.zeros(64, 10)), 64, 10) == 2 * pred
    assert saved_by(lambda h: F.binary_cross_entropy_with_logits(h, ts.zeros(64, 10)), 64, 10) == (
        2 * pred
    )


def test_a_target_that_is_overwritten_is_refused() -> None:
    x, target = ts.randn(4, 3).requires_grad_(), ts.tensor([0, 1, 2, 0])
    loss = F.cross_entropy(x, target)
    target[0] = 1
    with pytest.raises(ts.errors.InplaceError):
        loss.backward()


@pytest.mark.parametrize("call", [
    lambda x, y: F.cross_entropy(x, y), lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
    lambda x, y: F.nll_loss(x, y, reduction="sum"), lambda x, y: F.mse_loss(x, x.detach()),
    lambda x, y: F.huber_loss(x, x.detach(), reduction="none"),
    lambda x, y: nn.CrossEntropyLoss()(x, y),
])  # fmt: skip
def test_everyday_calls_take_the_fast_path(call: Callable[..., ts.Tensor]) -> None:
    x, y = ts.randn(8, 3).requires_grad_(), ts.tensor([0, 1, 2, 0, 1, 2, 0, 1])
    before = _core.fast_path_counts()[1]
    out = call(x, y)
    out.backward(ts.ones(out.shape))
    assert _core.fast_path_counts()[1] == before


# --- errors --------------------------------------------------------------------------------------


def error_of(call: Callable[[], Any]) -> ts.errors.TessellaError:
    """Make a call that must fail."""
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    return caught.value


def test_a_loss_that_would_broadcast_shows_both_shapes_and_the_cure() -> None:
    pred, target = ts.zeros(64, 1), ts.zeros(64)
    error = error_of(lambda: F.mse_loss(pred, target))
    assert isinstance(error, ts.errors.BroadcastError)
    lines = str(error).splitlines()
    assert lines[:3] == [
        "mse_loss: shapes differ and would broadcast",
        "    pred    float32 (64, 1)",
        "    target  float32 (64,)        together (64, 64): 4096 terms in place of 64",
    ]
    assert lines[3].startswith("  at test_losses.py:")
    assert lines[3].endswith(": error = error_of(lambda: F.mse_loss(pred, target))")
    assert lines[4] == (
        "  hint: target.unsqueeze(1), or pred.squeeze(1); to broadcast on purpose, expand first"
    )


BROADCASTS: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "l1_loss": F.l1_loss, "smooth_l1_loss": F.smooth_l1_loss, "huber_loss": F.huber_loss,
    "binary_cross_entropy": F.binary_cross_entropy,
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
    "kl_div": F.kl_div, "soft_margin_loss": F.soft_margin_loss,
    "hinge_embedding_loss": F.hinge_embedding_loss, "poisson_nll_loss": F.poisson_nll_loss,
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, y, 1.0),
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, x),
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, x),
    "triplet_margin_loss": lambda x, y: F.triplet_margin_loss(x, y, x),
}  # fmt: skip


@pytest.mark.parametrize("name", BROADCASTS)
def test_no_loss_broadcasts(name: str) -> None:
    for shapes in (((4, 1), (4,)), ((4,), (4, 1)), ((1, 3), (4, 3)), ((3,), (2, 3))):
        error = error_of(partial(BROADCASTS[name], *map(ts.ones, shapes)))
        assert isinstance(error, ts.errors.BroadcastError)
        assert str(error).startswith(f"{name}: shapes differ and would broadcast\n")
        assert " terms in place of " in str(error) and "expand first" in str(error)


def test_a_bad_class_is_named_with_its_place() -> None:
    x = ts.zeros(2, 3, 2)
    target = ts.tensor([[0, 1], [7, -2]])
    for function in (F.cross_entropy, F.nll_loss):
        text = str(error_of(partial(function, x, target)))
        assert "target[1, 0] is 7, of 3 classes" in text
        assert "hint: classes run from 0 to 2; -100 is ignored" in text
    text = str(error_of(lambda: F.cross_entropy(x, target, ignore_index=7)))
    assert "target[1, 1] is -2, of 3 classes" in text and "7 is ignored" in text


def test_the_first_bad_class_is_named_whatever_the_threads() -> None:
    target = ts.randint(0, 10, (100_000,), generator=ts.Generator(5))
    target[99_000], target[50_001] = 11, 12
    for threads in (1, 4):
        with ts.num_threads(threads):
            text = str(error_of(lambda: F.cross_entropy(ts.zeros(100_000, 10), target)))
        assert "target[50001] is 12" in text


def test_targets_of_the_wrong_kind_are_refused_with_the_cure() -> None:
    x = ts.zeros(4, 3)
    text = str(error_of(lambda: F.cross_entropy(x, ts.zeros(4))))
    assert "target is float32: classes are integers" in text
    assert (
        "hint: target.astype(ts.int64); probabilities are floats of the shape of x, (4, 3)" in text
    )
    text = str(error_of(lambda: F.cross_entropy(x, ts.zeros(4, 1, dtype=ts.int64))))
    assert "target has shape (4, 1), x (4, 3)" in text and "hint: target.squeeze(1); " in text
    text = str(error_of(lambda: F.cross_entropy(x, ts.zeros(4, 3, dtype=ts.int64))))
    assert "target has the shape of x and is int64: probabilities are floats" in text
    assert isinstance(error_of(lambda: F.cross_entropy(x, ts.zeros(4) > 0)), TypeError)


@pytest.mark.parametrize("dtype", [ts.uint8, ts.int32, ts.int64], ids=str)
def test_classes_may_be_of_any_integer_dtype(dtype: Any) -> None:
    x = ts.randn(3, 4)
    target = ts.tensor([3, 0, 1])
    assert F.cross_entropy(x, target.astype(dtype)).item() == F.cross_entropy(x, target).item()


# --- modules and penalties -----------------------------------------------------------------------

MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[..., Any], list[Any]]] = {
    "MSELoss": (nn.MSELoss, F.mse_loss, []),
    "L1Loss": (lambda: nn.L1Loss(reduction="sum"), lambda *a: F.l1_loss(*a, reduction="sum"), []),
    "SmoothL1Loss": (lambda: nn.SmoothL1Loss(beta=0.5),
                     lambda *a: F.smooth_l1_loss(*a, beta=0.5), []),
    "HuberLoss": (lambda: nn.HuberLoss("none", 0.5), lambda *a: F.huber_loss(*a, "none", 0.5), []),
    "KLDivLoss": (lambda: nn.KLDivLoss(reduction="batchmean", log_target=True),
                  lambda *a: F.kl_div(*a, reduction="batchmean", log_target=True), []),
    "BCEWithLogitsLoss": (
        lambda: nn.BCEWithLogitsLoss(pos_weight=2 * ts.ones(3), weight=ts.ones(3)),
        lambda *a: F.binary_cross_entropy_with_logits(
            *a, ts.ones(3), pos_weight=2 * ts.ones(3)), []),
    "SoftMarginLoss": (nn.SoftMarginLoss, F.soft_margin_loss, []),
    "HingeEmbeddingLoss": (lambda: nn.HingeEmbeddingLoss(0.5),
                           lambda *a: F.hinge_embedding_loss(*a, 0.5), []),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, F.poisson_nll_loss, []),
    "GaussianNLLLoss": (nn.GaussianNLLLoss, F.gaussian_nll_loss, [2.0]),
    "TripletMarginLoss": (lambda: nn.TripletMarginLoss(swap=True),
                          lambda *a: F.triplet_margin_loss(*a, swap=True), [ts.ones(4, 3)]),
    "MarginRankingLoss": (lambda: nn.MarginRankingLoss(0.5),
                          lambda *a: F.margin_ranking_loss(*a, margin=0.5), [ts.ones(4, 3)]),
    "CosineEmbeddingLoss": (lambda: nn.CosineEmbeddingLoss(0.1),
                            lambda *a: F.cosine_embedding_loss(*a, 0.1), [-ts.ones(4)]),
    "CosineSimilarity": (nn.CosineSimilarity, F.cosine_similarity, []),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(keepdim=True),
                         lambda *a: F.pairwise_distance(*a, keepdims=True), []),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_modules_give_what_their_functions_give(name: str) -> None:
    module, function, rest = MODULES[name]
    x, y = (ts.randn(4, 3, generator=ts.Generator(k)) for k in (6, 7))
    assert_same(to_array(module()(x, y, *rest)), to_array(function(x, y, *rest)))


def test_modules_of_classes_give_what_their_functions_give() -> None:
    x, y, weight = ts.randn(4, 3), ts.tensor([0, 2, 1, 1]), ts.tensor([1.0, 2.0, 3.0])
    loss = nn.CrossEntropyLoss(weight, ignore_index=2, label_smoothing=0.1)
    want = F.cross_entropy(x, y, weight, ignore_index=2, label_smoothing=0.1)
    assert loss(x, y).item() == want.item()
    assert list(loss.state_dict()) == ["weight"] and not list(nn.NLLLoss().state_dict())
    assert nn.NLLLoss(weight, reduction="sum")(x, y).item() == (
        F.nll_loss(x, y, weight, reduction="sum").item()
    )
    assert nn.MultiMarginLoss(2, 0.5, weight)(x, y).item() == (
        F.multi_margin_loss(x, y, 2, 0.5, weight).item()
    )
    p = x.sigmoid()
    assert nn.BCELoss(weight)(p, p).item() == F.binary_cross_entropy(p, p, weight).item()


@pytest.mark.parametrize(("p", "margin", "torch"), [
    (1, -0.6, [0.3, 0.0]), (1, 0.75, [0.75, 0.0]), (2, -0.6, [0.27, 0.0]), (2, 0.75, [1.6875, 0.0]),
])  # fmt: skip
def test_the_target_itself_has_no_margin_loss(p: int, margin: float, torch: list[float]) -> None:
    x, y = ts.tensor([[0.5, -0.25, 2.0], [1.0, 3.0, 0.0]]), ts.tensor([0, 1])
    for shift in (0, 4096):  # which rounds a margin that is added to it
        found = F.multi_margin_loss(x + shift, y, p, margin, reduction="none").tolist()
        assert found == pytest.approx(torch, abs=1e-3 if shift else 1e-7) and found[1] == 0
    large = ts.tensor([[1e4, 0.0]])
    assert F.multi_margin_loss(large, ts.tensor([0]), p, 1.1).item() == 0


def test_modules_refuse_what_pytorch_has_given_up() -> None:
    makers: tuple[Any, ...] = (nn.MSELoss, nn.CrossEntropyLoss, nn.TripletMarginLoss)
    for make in makers:
        for name in ("size_average", "reduce"):
            text = str(error_of(partial(make, **{name: True})))
            assert text.startswith(f"{make.__name__}: {name} is not taken")
            assert 'hint: reduction="mean", "sum" or "none"' in text
    assert "reduction is 'all'" in str(error_of(lambda: nn.L1Loss(reduction="all")))
    wrong: Any = [1.0]
    assert "weight must be a tensor" in str(error_of(lambda: nn.NLLLoss(wrong)))


def test_penalties_add_up_over_parameters() -> None:
    model = nn.Linear(3, 2)
    parts = [to_array(x) for x in model.parameters()]
    l1, l2 = F.l1_penalty(model.parameters()), F.l2_penalty(model.parameters())
    assert l1.item() == pytest.approx(sum(np.abs(x).sum() for x in parts), rel=1e-6)
    assert l2.item() == pytest.approx(sum((x * x).sum() for x in parts), rel=1e-6)
    l2.backward()
    np.testing.assert_allclose(to_array(grad_of(model.weight)), 2 * parts[0], rtol=1e-6)
    for wrong in (3, [], [1.0]):
        assert "parameters must be" in str(error_of(partial(F.l1_penalty, wrong)))


def test_third_derivatives_where_prediction_and_target_are_one_tensor() -> None:
    x = leaf([0.3, -0.7], ts.float64)
    y = F.binary_cross_entropy_with_logits(x, x, reduction="sum")  # softplus(x) - x * x
    for _ in range(3):
        (y,) = ts.autograd.grad(y.sum(), [x], create_graph=True)
    s = x.detach().sigmoid()
    ts.testing.assert_close(y, s * (1 - s) * (1 - 2 * s), rtol=1e-12, atol=1e-12)
