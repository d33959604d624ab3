"""The kernels of attention beside the composite: values, gradients, bits, memory, programs.

Calls with every option, within one tile and over several; what the samples of the records and of
the function cover (dtypes, layouts, errors, second derivatives) is tested with all records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from cases import to_array
from leaves import grad_of
from reference import assert_same_tensors
from tessella import nn
from tessella.nn.functional.attention_composite import attention_composite
from tessella.testing import assert_close
from worlds import Wrap, same, some

F: Any = nn.functional
attend = F.scaled_dot_product_attention

Shapes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
TILES: Shapes = ((2, 3, 70, 8), (2, 3, 200, 8), (2, 3, 200, 5))
SQUARE: Shapes = ((2, 2, 130, 16), (2, 2, 130, 16), (2, 2, 130, 16))
GROUPS: Shapes = ((2, 4, 70, 8), (2, 2, 90, 8), (2, 2, 90, 6))


def hidden(*shape: int) -> ts.Tensor:
    """Give a mask of bools that hides a third."""
    return some(99, *shape) > -0.4


CALLS: dict[str, tuple[Shapes, dict[str, Any]]] = {
    "plain": (TILES, {}),
    "causal": (SQUARE, {"is_causal": True}),
    "more keys": (TILES, {"is_causal": True, "scale": 0.7}),
    "fewer keys": (((2, 90, 4), (2, 20, 4), (2, 20, 4)), {"is_causal": True}),
    "bools": (TILES, {"attn_mask": hidden(70, 200)}),
    "bools for each head": (TILES, {"attn_mask": hidden(2, 3, 1, 200)}),
    "floats": (TILES, {"attn_mask": some(3, 2, 1, 70, 200)}),
    "groups": (GROUPS, {"enable_gqa": True}),
    "groups and a mask": (GROUPS, {"enable_gqa": True, "attn_mask": hidden(4, 70, 90)}),
    "few queries of groups": (
        ((2, 6, 1, 8), (2, 2, 300, 8), (2, 2, 300, 8)),
        {"enable_gqa": True, "lengths": ts.tensor([300, 140])},
    ),
    "queries of several heads in a tile": (
        ((1, 6, 5, 8), (1, 2, 150, 8), (1, 2, 150, 8)),
        {"enable_gqa": True, "is_causal": True},
    ),
    "one head of keys": (((2, 3, 70, 8), (2, 1, 80, 8), (2, 1, 80, 8)), {"is_causal": True}),
    "other axes": (((3, 70, 8), (2, 1, 80, 8), (80, 4)), {}),
    "lengths": (TILES, {"lengths": ts.tensor([150, 0])}),
    "lengths, causal": (SQUARE, {"lengths": ts.tensor([130, 67]), "is_causal": True}),
    "lengths and a mask": (TILES, {"lengths": ts.tensor(131), "attn_mask": hidden(70, 200)}),
    "lengths of heads": (
        ((3, 1, 8), (3, 200, 8), (3, 200, 8)),
        {"lengths": ts.tensor([1, 200, 129])},
    ),
    "one query, many keys": (((1, 1, 8), (1, 3000, 8), (1, 3000, 8)), {}),
    "wide": (((1, 20, 300), (1, 140, 300), (1, 140, 512)), {}),
}


def operands_of(shapes: Shapes, dtype: Any = ts.float64) -> list[ts.Tensor]:
    """Draw query, key and value, which ask for gradients."""
    return [some(i, *shape, dtype=dtype).requires_grad_() for i, shape in enumerate(shapes)]


def composed(q: ts.Tensor, k: ts.Tensor, v: ts.Tensor, *, attn_mask: Any = None,
             lengths: Any = None, is_causal: bool = False, scale: Any = None,
             enable_gqa: bool = False) -> ts.Tensor:  # fmt: skip
    """Call the composite as the function is called."""
    return attention_composite(q, k, v, attn_mask, lengths, is_causal, scale, enable_gqa)


def pulled(f: Callable[..., ts.Tensor], operands: list[ts.Tensor], **options: Any) -> list[Any]:
    """Give the result, and the gradients for a drawn one of it."""
    out = f(*operands, **options)
    g = some(50, *out.shape, dtype=out.dtype)
    return [out.detach(), *ts.autograd.grad(out, operands, g)]


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_the_composite(name: str) -> None:
    shapes, options = CALLS[name]
    if "attn_mask" in options and options["attn_mask"].dtype is not ts.bool:
        options = options | {"attn_mask": options["attn_mask"].double()}
    operands = operands_of(shapes)
    found, wanted = pulled(attend, operands, **options), pulled(composed, operands, **options)
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13)
    with ts.no_grad():
        assert_same_tensors(attend(*operands, **options), found[0])


@pytest.mark.parametrize("name", CALLS)
def test_threads_give_the_same_bits(name: str) -> None:
    shapes, options = CALLS[name]
    operands = operands_of(shapes, ts.float32)
    found = []
    for count in (1, 2, 5):
        with ts.num_threads(count):
            found.append(pulled(attend, operands, **options))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert_same_tensors(one, two)


@pytest.mark.parametrize("name", ["causal", "groups and a mask", "few queries of groups"])
@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16], ids=str)
def test_heads_that_are_views_give_the_same_bits_and_are_not_copied(name: str, dtype: Any) -> None:
    shapes, options = CALLS[name]
    plain = [x.detach() for x in operands_of(shapes, ts.float32)]
    plain = [x.to(dtype) for x in plain]
    views = [x.transpose(-2, -3).clone().transpose(-2, -3) for x in plain]
    assert not views[1].is_contiguous
    pairs = zip(*[pulled(attend, [x.requires_grad_() for x in xs], **options)
                  for xs in (plain, views)], strict=True)  # fmt: skip
    for one, two in pairs:
        assert_same_tensors(one, two)
    peaks = []
    for xs in (plain, views):
        with ts.no_grad(), ts.memory.track() as tracked:
            attend(*xs, **options)
        peaks.append(tracked.peak)
    assert peaks[0] == peaks[1]


def test_halves_round_once() -> None:
    shapes, options = CALLS["groups"]
    for dtype in (ts.float16, ts.bfloat16):
        halves = [x.to(dtype).detach().requires_grad_() for x in operands_of(shapes)]
        wide = [x.detach().float().requires_grad_() for x in halves]
        out, *grads = pulled(attend, halves, **options)
        same_out = attend(*wide, **options)
        assert_same_tensors(out, same_out.detach().to(dtype))
        g = some(50, *out.shape, dtype=dtype).float()
        for one, two in zip(grads, ts.autograd.grad(same_out, wide, g), strict=True):
            assert_same_tensors(one, two.to(dtype))


# --- numbers that are not finite ------------------------------------------------------------------


def test_a_query_that_may_look_nowhere_gets_zeros_also_over_tiles() -> None:
    operands = operands_of(TILES)
    mask = hidden(70, 200)
    mask[::7] = False
    for given in (mask, ts.where(mask, 0.5, -math.inf).double()):
        out, *grads = pulled(attend, operands, attn_mask=given)
        assert not out[..., ::7, :].any() and not grads[0][..., ::7, :].any()
        for one, other in zip((out, *grads), pulled(composed, operands, attn_mask=given),
                              strict=True):  # fmt: skip
            assert_close(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e30])
@pytest.mark.parametrize("is_causal", [False, True])
def test_nothing_behind_the_lengths_matters(number: float, is_causal: bool) -> None:
    q, k, v = operands_of(SQUARE, ts.float32)
    lengths = ts.tensor([100, 17])
    options = {"is_causal": is_causal, "lengths": lengths}
    wanted = pulled(attend, [q, k, v], **options)
    spoilt = [x.detach().clone() for x in (k, v)]
    for x in spoilt:
        x[0, :, 100:] = number
        x[1, :, 17:] = number
    found = pulled(attend, [q, *[x.requires_grad_() for x in spoilt]], **options)
    for one, other in zip(found, wanted, strict=True):
        assert_same_tensors(one, other)
    assert not found[2][0, :, 100:].any() and not found[3][1, :, 17:].any()


SPOILT = {
    "query": (0, (0, 1, 5), math.nan), "key": (1, (0, 1, 150), math.nan),
    "value": (2, (0, 1, 150), math.nan), "infinite value": (2, (0, 1, 150), math.inf),
    "infinite key": (1, (0, 1, 150), math.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_numbers_that_are_not_finite_reach_as_far_as_in_the_composite(name: str) -> None:
    operands = [x.detach() for x in operands_of(TILES)]
    place, at, number = SPOILT[name]
    operands[place][at] = number
    found = pulled(attend, [x.requires_grad_() for x in operands])
    wanted = pulled(composed, operands)
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13, equal_nan=True)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_added_numbers_that_are_not_finite_reach_a_whole_row(number: float) -> None:
    operands = operands_of(TILES)
    mask = some(3, 70, 200, dtype=ts.float64)
    mask[11, 160] = number
    found, wanted = (f(*operands, attn_mask=mask) for f in (attend, composed))
    assert_close(found, wanted, rtol=1e-12, atol=1e-13, equal_nan=True)
    assert ts.isnan(found[:, :, 11]).all() and not ts.isnan(found[:, :, 12]).any()


def test_scores_that_are_all_minus_infinity_by_their_products_are_no_mask() -> None:
    q, k, v = ts.full((1, 4), 1e30), ts.full((200, 4), -1e30), ts.ones(200, 2)
    assert ts.isnan(attend(q, k, v)).all() and ts.isnan(composed(q, k, v)).all()


def test_hidden_keys_may_be_nan() -> None:
    q, k, v = (x.detach() for x in operands_of(TILES))
    mask = ts.ones(200, dtype=ts.bool)
    mask[150] = False
    wanted = attend(q, k, v, mask)
    k[..., 150, :] = math.nan
    assert_same_tensors(attend(q, k, v, mask), wanted)


# --- memory, programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("is_causal", [False, True])
def test_memory_is_far_below_that_of_all_scores(is_causal: bool) -> None:
    places = 2048
    operands = [some(i, 1, places, 32).requires_grad_() for i in range(3)]
    g = some(5, 1, places, 32)
    with ts.no_grad(), ts.memory.track() as tracked:
        attend(*operands, is_causal=is_causal)
    scores = places * places * 4
    assert tracked.peak < scores // 16
    with ts.memory.track() as tracked:
        attend(*operands, is_causal=is_causal).backward(g)
    assert tracked.peak < scores // 4
    with ts.memory.track() as tracked:
        composed(*operands, is_causal=is_causal).backward(g)
    assert tracked.peak > scores  # what it is compared with


@pytest.mark.parametrize("name", ["causal", "groups and a mask", "lengths, causal"])
def test_compiled_steps_have_the_bits_of_eager_ones(name: str) -> None:
    shapes, options = CALLS[name]

    def play(wrap: Wrap) -> Any:
        weight = some(70, shapes[0][-1], shapes[0][-1]).requires_grad_()

        def step(q: ts.Tensor, k: ts.Tensor, v: ts.Tensor) -> Any:
            weight.grad = None
            out = attend(q @ weight, k @ weight, v, **options)
            out.square().sum().backward()
            return out.detach()

        call = wrap(step)
        rows = []
        for i in range(5):
            out = call(*[some(10 * i + j, *shape) for j, shape in enumerate(shapes)])
            rows.append((out, grad_of(weight).clone()))
        return rows

    same(play)


def names_of(call: Any) -> list[str]:
    """Give the names of a program's instructions."""
    assert call.program is not None
    return [each.name for each in call.program.instructions]


def test_step_of_decoding_is_one_program_with_one_attention() -> None:
    keys, values, length = ts.zeros(1, 2, 256, 16), ts.zeros(1, 2, 256, 16), ts.tensor(0)

    @ts.compile
    def step(q: ts.Tensor, k: ts.Tensor, v: ts.Tensor) -> ts.Tensor:
        keys[:, :, length] = k
        values[:, :, length] = v
        length.add_(1)
        out: ts.Tensor = attend(q, keys, values, enable_gqa=True, lengths=length)
        return out

    all_k, all_v = some(1, 1, 2, 150, 16), some(2, 1, 2, 150, 16)
    for i in range(150):
        q = some(100 + i, 1, 8, 1, 16)
        out = step(q, all_k[:, :, i].clone(), all_v[:, :, i].clone())
        if i in (0, 7, 149):
            cut = [x[:, :, : i + 1] for x in (all_k, all_v)]
            assert_close(out, composed(q, *cut, enable_gqa=True), rtol=1e-5, atol=1e-6)
    names = names_of(step)
    assert names.count("attention") == 1 and "matmul" not in names and "softmax" not in names


def test_modules_reach_the_kernel() -> None:
    x = some(0, 2, 6, 16)
    module = nn.MultiheadAttention(16, 4, batch_first=True)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
    with ts.no_grad():
        calls = [ts.compile(lambda x: module(x, x, x, need_weights=False)[0]), ts.compile(layer)]
        for call in calls:
            for _ in range(3):
                call(x)  # type: ignore[operator]
            names = names_of(call)
            assert names.count("attention") == 1 and "softmax" not in names


def test_dropout_and_the_gradient_of_a_mask_are_the_composite_s() -> None:
    q, k, v = (x.detach() for x in operands_of(((4, 8), (6, 8), (6, 8)), ts.float32))
    mask = some(3, 4, 6).requires_grad_()
    out = attend(q, k, v, mask)
    assert_same_tensors(out.detach(), attend(q, k, v, mask.detach()))
    (found,) = ts.autograd.grad(out.sum(), [mask])
    (wanted,) = ts.autograd.grad(composed(q, k, v, attn_mask=mask).sum(), [mask])
    assert_same_tensors(found, wanted)
    ts.manual_seed(1)
    dropped = attend(q, k, v, dropout_p=0.5)
    ts.manual_seed(1)
    by_hand = attention_composite(q, k, v, None, None, False, None, False, 0.5)
    assert_same_tensors(dropped, by_hand)


def test_queries_of_other_batches_are_summed_for_keys_that_they_share() -> None:
    shapes: Shapes = ((3, 2, 20, 4), (2, 30, 4), (3, 1, 30, 6))
    operands = operands_of(shapes)
    found, wanted = pulled(attend, operands), pulled(composed, operands)
    assert [x.shape for x in found] == [(3, 2, 20, 6), *shapes]
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-13)


def test_what_was_kept_may_not_be_overwritten() -> None:
    operands = operands_of(((2, 3, 4), (2, 5, 4), (2, 5, 4)))
    out = attend(*operands)
    with ts.no_grad():
        operands[1].zero_()
    with pytest.raises(ts.errors.InplaceError, match="scaled_dot_product_attention"):
        out.sum().backward()


def test_values_are_near_those_of_float64() -> None:
    shapes = ((1, 2, 300, 64), (1, 2, 500, 64), (1, 2, 500, 64))
    operands = [x.detach() * 3 for x in operands_of(shapes)]
    wanted = to_array(attend(*operands))
    found = to_array(attend(*[x.float() for x in operands]))
    assert abs(found - wanted).max() < 2e-5 * abs(wanted).max()


def test_more_rows_than_there_can_be_are_refused_before_anything_is_written() -> None:
    q = ts.ones(1, 1, 1, 1, requires_grad=True).broadcast_to(1 << 31, 1, 1, 1)
    k = ts.ones(1, 1, 1, 1).broadcast_to(1, 1 << 31, 1, 1)
    v = ts.ones(1, 1, 1, 2).broadcast_to(1, 1 << 31, 1, 2)
    with pytest.raises(ts.errors.TessellaError, match="scaled_dot_product_attention"):
        attend(q, k, v)
