"""Attention as a function and as a module: torch's figures, masks, dtypes, gradients, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import to_array
from figures import check_figure, check_module_figure, figures_of, label, module_label
from leaves import grad_of
from reference import assert_same_tensors
from tessella import nn

F: Any = nn.functional
attend = F.scaled_dot_product_attention


@pytest.mark.parametrize("figure", figures_of("attention"), ids=label)
def test_function_gives_what_torch_gives(figure: dict[str, Any]) -> None:
    check_figure(figure, atol=4e-6)


@pytest.mark.parametrize("figure", figures_of("attention_heads"), ids=module_label)
def test_heads_give_what_torch_gives(figure: dict[str, Any]) -> None:
    check_module_figure(figure)


def draw(*shape: int, dtype: Any = ts.float32) -> ts.Tensor:
    """Draw operands from the seed of the shape."""
    return ts.tensor(np.random.default_rng(shape).normal(size=shape), dtype=dtype)


# --- the function --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_query_that_may_look_nowhere_gets_zeros_and_no_gradient(kind: str) -> None:
    q, k, v = (draw(*shape).requires_grad_() for shape in ((3, 4), (5, 4), (5, 2)))
    mask = ts.ones(3, 5, dtype=ts.bool)
    mask[1] = False
    given = mask if kind == "bool" else ts.where(mask, 0.0, -math.inf)
    out = attend(q, k, v, given)
    assert out[1].tolist() == [0.0, 0.0]
    grads = ts.autograd.grad(out.sum(), [q, k, v])
    assert grads[0][1].tolist() == [0.0] * 4
    rows = ts.tensor([0, 2])
    want = ts.autograd.grad(attend(q[rows], k, v).sum(), [q, k, v])
    for g, other in zip(grads, want, strict=True):
        ts.testing.assert_close(g, other, rtol=1e-5, atol=1e-6)


def test_masks_of_bools_and_of_floats_agree() -> None:
    q, k, v = draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 2)
    mask = draw(2, 3, 5) > 0
    floats = ts.where(mask, 0.0, -math.inf)
    assert_same_tensors(attend(q, k, v, mask), attend(q, k, v, floats))
    causal = ts.ones(3, 5, dtype=ts.bool).tril()
    assert_same_tensors(attend(q, k, v, is_causal=True), attend(q, k, v, causal))


def test_no_keys_give_zeros() -> None:
    assert attend(draw(2, 3), ts.zeros(0, 3), ts.zeros(0, 4)).tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_halves_are_computed_in_float32(dtype: Any) -> None:
    q, k, v = (draw(*shape, dtype=dtype) for shape in ((2, 3, 8), (2, 70, 8), (2, 70, 4)))
    mask = ts.where(draw(3, 70) > 0, 0.5, -math.inf)
    out = attend(q, k, v, mask)
    assert_same_tensors(out, attend(q.float(), k.float(), v.float(), mask).to(dtype))


@pytest.mark.parametrize("options", [
    {}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": ts.tensor([True, False, True])},
], ids=str)  # fmt: skip
def test_gradients_of_both_orders(options: dict[str, Any]) -> None:
    operands = [draw(*shape, dtype=ts.float64) for shape in ((2, 2, 3), (2, 3, 3), (2, 3, 2))]
    ts.testing.check_grads(lambda q, k, v: attend(q, k, v, **options), tuple(operands), order=2)


def test_gradient_of_a_mask() -> None:
    q, k, v = (draw(*shape, dtype=ts.float64) for shape in ((2, 3), (4, 3), (4, 2)))
    mask = draw(2, 4, dtype=ts.float64)
    ts.testing.check_grads(lambda m: attend(q, k, v, m), (mask,), order=2)


def test_dropout_of_weights() -> None:
    q, k = draw(4, 3), draw(50, 3)
    ts.manual_seed(0)
    kept = attend(q, k, ts.eye(50), dropout_p=0.4)
    plain = attend(q, k, ts.eye(50))
    is_kept = to_array(kept) != 0
    np.testing.assert_allclose(to_array(kept)[is_kept], to_array(plain / 0.6)[is_kept], rtol=1e-6)
    assert 0.45 < is_kept.mean() < 0.75
    assert not attend(q, k, ts.eye(50), dropout_p=1.0).any()


def test_dtypes_and_masks_that_do_not_fit_are_refused() -> None:
    q, k, v = draw(3, 4), draw(5, 4), draw(5, 2)
    with pytest.raises(ts.errors.DTypeMismatch, match="key is float64, and query is float32"):
        attend(q, k.double(), v)
    for dtype in (ts.int64, ts.float64, ts.float16):
        with pytest.raises(ts.errors.DTypeMismatch, match=f"attn_mask is {dtype}"):
            attend(q, k, v, ts.zeros(3, 5, dtype=dtype))
    out = attend(q.bfloat16(), k.bfloat16(), v.bfloat16(), ts.zeros(3, 5))
    assert out.dtype is ts.bfloat16


# --- the module ----------------------------------------------------------------------------------


def test_parameters_begin_as_torch_says() -> None:
    ts.manual_seed(0)
    module = nn.MultiheadAttention(64, 4, add_bias_kv=True)
    bound = math.sqrt(6 / (4 * 64))
    weight = to_array(module.get_parameter("in_proj_weight"))
    assert 0.95 * bound < np.abs(weight).max() <= bound
    assert not module.get_parameter("in_proj_bias").any()
    assert not module.get_parameter("out_proj.bias").any()
    assert np.abs(to_array(module.get_parameter("out_proj.weight"))).max() <= 1 / 8
    apart = nn.MultiheadAttention(64, 4, kdim=3)
    assert [name for name, _ in apart.named_parameters()] == [
        "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "out_proj.weight",
        "out_proj.bias"]  # fmt: skip
    assert np.abs(to_array(apart.get_parameter("k_proj_weight"))).max() <= math.sqrt(6 / 67)


def test_weights_of_heads_are_those_that_were_used() -> None:
    module = nn.MultiheadAttention(6, 3, batch_first=True)
    x = draw(2, 4, 6)
    out, weights = module(x, x, x, average_attn_weights=False)
    assert weights is not None
    assert weights.shape == (2, 3, 4, 4)
    ts.testing.assert_close(weights.sum(axis=-1), ts.ones(2, 3, 4), rtol=1e-6, atol=1e-6)
    same, none = module(x, x, x, need_weights=False)
    assert none is None
    ts.testing.assert_close(out, same, rtol=1e-6, atol=1e-6)
    apart, _ = module(x, x.clone(), x.clone())
    ts.testing.assert_close(out, apart, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_query_that_may_look_nowhere_gets_zeros_with_or_without_weights(
    need_weights: bool,
) -> None:
    module = nn.MultiheadAttention(4, 2)
    x = draw(3, 1, 4).requires_grad_()
    hidden = ts.zeros(3, 3, dtype=ts.bool)
    hidden[0] = True
    out, _ = module(x, x, x, attn_mask=hidden, need_weights=need_weights)
    assert out[0, 0].tolist() == [0.0] * 4  # biases begin as zeros
    out.sum().backward()
    assert ts.isfinite(grad_of(x)).all()


def test_dropout_of_the_module_is_for_training() -> None:
    module = nn.MultiheadAttention(4, 2, dropout=1.0)
    x = draw(3, 2, 4)
    out, weights = module(x, x, x)
    assert weights is not None
    assert not weights.any() and not out.any()
    assert module.eval()(x, x, x)[1].any()  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float64], ids=str)
def test_module_keeps_its_dtype(dtype: Any) -> None:
    module = nn.MultiheadAttention(4, 2).to(dtype)
    x = draw(3, 2, 4, dtype=dtype)
    out, weights = module(x, x, x, key_padding_mask=ts.tensor([[False, False, True]] * 2))
    assert weights is not None
    assert out.dtype is dtype and weights.dtype is dtype
    assert not weights[..., 2].any()


def test_module_gradients_of_both_orders() -> None:
    module = nn.MultiheadAttention(4, 2, add_bias_kv=True, dtype="float64")
    q, k = draw(2, 2, 4, dtype=ts.float64), draw(3, 2, 4, dtype=ts.float64)
    padding = ts.tensor([[False, True, False], [False, False, False]])
    ts.testing.check_grads(
        lambda q, k: module(q, k, k, key_padding_mask=padding)[0], (q, k), order=2
    )


def test_threads_give_the_same_bits() -> None:
    module = nn.MultiheadAttention(64, 4, batch_first=True)
    x = draw(4, 90, 64)
    found = []
    for count in (1, 2, 5):
        module.zero_grad()
        with ts.num_threads(count):
            out, weights = module(x, x, x)
            assert weights is not None
            (out * out).sum().backward()
        found.append([out.detach(), weights.detach(), *[p.grad for p in module.parameters()]])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert_same_tensors(a, b)  # type: ignore[arg-type]


MODULE = nn.MultiheadAttention(4, 2)
X = ts.zeros(3, 2, 4)
WRONG: dict[str, tuple[Any, str, str]] = {
    "heads": (lambda: nn.MultiheadAttention(5, 2), "num_heads is 2", "a divisor of embed_dim"),
    "features": (lambda: MODULE(ts.zeros(3, 2, 5), X, X), "query has 5 features",
                 "the last axis of query must be 4"),
    "ndim": (lambda: MODULE(X, X[0], X[0]), "key.ndim is 2", "(places, batch, features)"),
    "value": (lambda: MODULE(X, X, X[:2]), "value.shape is (2, 2, 4)", "as key's"),
    "batch": (lambda: MODULE(X, X[:, :1], X[:, :1]), "key has a batch of 1, and query one of 2",
              "the same rows"),
    "dtype": (lambda: MODULE(X.double(), X, X), "query is float64, and the weights are float32",
              "query.to(ts.float32)"),
    "mask": (lambda: MODULE(X, X, X, attn_mask=ts.zeros(3, 4)), "attn_mask is (3, 4)",
             "it must be (3, 3) or (4, 3, 3)"),
    "mask dtype": (lambda: MODULE(X, X, X, attn_mask=ts.zeros(3, 3, dtype=ts.int64)),
                   "attn_mask is int64", "bool, True where hidden, or float32"),
    "padding": (lambda: MODULE(X, X, X, ts.zeros(3, 2, dtype=ts.bool)),
                "key_padding_mask is (3, 2)", "it must be (2, 3)"),
    "causal": (lambda: MODULE(X, X, X, is_causal=True), "is_causal is a hint about attn_mask",
               "generate_square_subsequent_mask"),
    "list": (lambda: MODULE([X], X, X), "query must be a tensor", "ts.tensor"),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    call, what, hint = WRONG[name]
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    first, *rest = str(caught.value).splitlines()
    assert what in first and first.startswith("MultiheadAttention: ")
    assert any(line.startswith("  hint: ") and hint in line for line in rest), str(caught.value)
    assert any(line.startswith("  at test_attention.py:") for line in rest)
