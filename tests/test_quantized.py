"""Blocks of quantised numbers: figures of the package gguf, products, gradients.

What a product must give is spelled out in `summed`: the sums of a block are integers, and blocks
are added in float32 in their order. So every bit is known, whatever the instruction set.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import Array
from drawn_blocks import drawn, halves_of, numbers, same
from figures import FOLDER
from tessella import _core, nn
from tessella.blocks import FORMATS, MADE
from tessella.nn.functional.block_references import coded, dequantize as dequantize_ref
from test_planned_memory import assert_foreseen, growth_of

F = nn.functional
FIGURES: dict[str, Any] = json.loads((FOLDER / "blocks.json").read_text())
NAMES = list(FORMATS)
ONE, ZERO = np.array([1, 0], np.float16).view(np.uint8).reshape(2, 2)


def read(text: str, dtype: str) -> Array:
    """Give a stored array."""
    return np.frombuffer(base64.b64decode(text), dtype)


def with_halves(blocks: Array, name: str, *values: Array) -> Array:
    """Put other scales and minima into blocks."""
    blocks = blocks.copy()
    for place, value in zip(halves_of(name), values, strict=False):
        blocks[..., place : place + 2] = value
    return blocks


def half_at(blocks: Array, place: int) -> Array:
    """Read a float16 of each block."""
    return np.ascontiguousarray(blocks[:, place : place + 2]).view(np.float16).astype(np.float32)


def summed(x: Array, blocks: Array, name: str) -> Array:
    """Give what a product must be, bit by bit."""
    of = FORMATS[name]
    codes, scales = coded(np, x, of.elements)
    rows = blocks.reshape(len(blocks), -1, of.bytes)
    out = np.zeros((len(x), len(blocks)), np.float32)
    scale_at, *minimum_at = halves_of(name)
    for i in range(rows.shape[1]):
        block = np.ascontiguousarray(rows[:, i])

        def integers(block: Array, i: int = i) -> Array:
            """Give the sum of this block of x times whole numbers."""
            whole = dequantize_ref(np, block, name).astype(np.int64)
            return np.asarray((codes[:, i].astype(np.int64) @ whole.T).astype(np.float32))

        scale = half_at(block, scale_at).T * scales[:, i, None]
        out = out + scale * integers(with_halves(block, name, ONE, ZERO))
        for place in minimum_at:
            minimum = half_at(block, place).T * scales[:, i, None]
            out = out + minimum * integers(with_halves(block, name, ZERO, ONE))
    return out


def product(x: Array, blocks: Array, name: str) -> Array:
    """Give what a product is."""
    out = F.quantized_linear(ts.from_numpy(x), ts.from_numpy(blocks), format=name)
    return np.array(out.numpy())


# --- numbers and blocks --------------------------------------------------------------------------


def test_the_formats_are_those_of_the_figures() -> None:
    assert set(FIGURES["dequantized"]) == set(NAMES)
    assert set(FIGURES["quantized"]) == set(MADE)


@pytest.mark.parametrize("name", NAMES)
def test_dequantised_blocks_equal_the_figures(name: str) -> None:
    blocks, want = FIGURES["dequantized"][name]
    rows = read(blocks, "uint8").reshape(-1, FORMATS[name].bytes)
    found = F.dequantize(ts.tensor(rows), name).numpy()
    values = read(want, "float32").reshape(len(rows), FORMATS[name].elements)
    assert np.isnan(values).any() and np.isinf(values).any() and same(found, values)
    with np.errstate(all="ignore"):
        assert same(np.array(dequantize_ref(np, rows, name)), values)
    for dtype in (ts.float16, ts.bfloat16, ts.float64):
        got = F.dequantize(ts.tensor(rows), name, dtype)
        assert got.dtype is dtype
        exact = ts.tensor(values).astype(dtype).astype(ts.float32).numpy()
        assert same(got.astype(ts.float32).numpy(), exact)


@pytest.mark.parametrize("name", MADE)
def test_quantised_numbers_equal_the_figures(name: str) -> None:
    x, want = FIGURES["quantized"][name]
    found = F.quantize(ts.tensor(read(x, "float32").reshape(-1, 32)), name).numpy()
    np.testing.assert_array_equal(found.reshape(-1), read(want, "uint8"))


@pytest.mark.parametrize("name", MADE)
def test_quantised_numbers_are_near(name: str) -> None:
    x = numbers(40, 128)
    for dtype in (ts.float16, ts.bfloat16, ts.float32, ts.float64):
        blocks = F.quantize(ts.tensor(x).astype(dtype), name)
        assert blocks.dtype is ts.uint8
        back = F.dequantize(blocks, name).numpy()
        step = np.abs(x.reshape(-1, 32)).max(1) / (127 if name == "q8_0" else 8)
        # Half a step; q4_0 has no code for the other end of its range.
        most = step * (0.51 if name == "q8_0" else 1.01) + 0.02
        assert (np.abs(back - x).reshape(-1, 32).max(1) <= most).all()


@pytest.mark.parametrize("name", MADE)
def test_blocks_of_numbers_that_are_not_finite_are_nan(name: str) -> None:
    x = np.ones((4, 32), np.float32)
    x[0, 3], x[1, 5], x[2, 31] = np.nan, np.inf, -np.inf
    back = F.dequantize(F.quantize(ts.tensor(x), name), name).numpy()
    assert np.isnan(back[:3]).all()
    np.testing.assert_allclose(back[3], 1, rtol=0.01)


@pytest.mark.parametrize("name", MADE)
def test_numbers_too_small_for_a_scale_become_zeros(name: str) -> None:
    x = np.full((1, 32), 1e-42, np.float32)
    assert (F.dequantize(F.quantize(ts.tensor(x), name), name).numpy() == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_large_matrices_of_blocks_are_shared_by_threads(name: str) -> None:
    blocks = ts.from_numpy(drawn(name, 200, 4096))
    results = []
    for count in (1, 2, 8):
        with ts.num_threads(count):
            results.append(F.dequantize(blocks, name).numpy())
    want = dequantize_ref(np, blocks.numpy(), name)
    assert all(same(each, want) for each in results)


# --- products ------------------------------------------------------------------------------------

# Rows of w, numbers of a row, rows of x: both kernels, whole panels and rests, several tiles.
SIZES = [(5, 256, 1), (37, 1536, 1), (33, 2304, 2), (50, 1280, 3), (16, 1024, 5), (21, 2560, 15),
         (17, 512, 31), (1, 256, 4), (3, 768, 260)]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_products_have_every_bit_of_their_definition(name: str) -> None:
    for n, k, m in SIZES:
        blocks, x = drawn(name, n, k), numbers(m, k)
        found = product(x, blocks, name)
        np.testing.assert_array_equal(found, summed(x, blocks, name), err_msg=f"{n} {k} {m}")


@pytest.mark.parametrize("name", NAMES)
def test_products_are_near_those_of_the_dequantised_weights(name: str) -> None:
    blocks, x = drawn(name, 64, 2048), numbers(7, 2048)
    w = dequantize_ref(np, blocks, name)
    # Codes of x are off by half a step of its largest number: sums of 2048 such errors.
    steps = np.abs(x).max() / 127 / np.sqrt(12) * np.sqrt((w.astype(np.float64) ** 2).sum(1))
    assert (np.abs(product(x, blocks, name) - x @ w.T) <= 6 * steps).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_row_does_not_depend_on_the_others(name: str) -> None:
    blocks, x = drawn(name, 40, 1280), numbers(19, 1280)
    whole = product(x, blocks, name)
    for count in (1, 2, 3, 4, 8, 11):
        np.testing.assert_array_equal(product(x[:count], blocks, name), whole[:count])
    np.testing.assert_array_equal(product(x[5:6], blocks[7:9], name), whole[5:6, 7:9])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1, 40])
def test_products_of_any_thread_count_have_the_same_bits(name: str, rows: int) -> None:
    blocks, x = ts.from_numpy(drawn(name, 1000, 2048)), ts.from_numpy(numbers(rows, 2048))
    results = []
    for count in (1, 2, 3, 8):
        with ts.num_threads(count):
            leaf = x.detach().requires_grad_()
            out = F.quantized_linear(leaf, blocks, format=name)
            (slope,) = ts.autograd.grad(out, [leaf], out.detach())
            results.append((out.detach().numpy(), slope.numpy()))
    first, first_slope = results[0]
    assert all(same(a, first) and same(b, first_slope) for a, b in results[1:])


@pytest.mark.parametrize("name", NAMES)
def test_blocks_may_lie_at_any_address(name: str) -> None:
    blocks, x = drawn(name, 33, 512), numbers(5, 512)
    want, values = product(x, blocks, name), dequantize_ref(np, blocks, name)
    memory = ts.zeros(blocks.size + 64, dtype=ts.uint8)
    for offset in (1, 2, 3, 31):
        moved = memory[offset : offset + blocks.size].view(blocks.shape)
        moved.copy_(ts.from_numpy(blocks))
        assert moved.is_contiguous and moved.offset == offset
        for rows in (1, 5):
            found = F.quantized_linear(ts.from_numpy(x[:rows]), moved, format=name)
            np.testing.assert_array_equal(found.numpy(), want[:rows])
        assert same(F.dequantize(moved, name).numpy(), values)


def test_layouts_of_x_and_of_blocks_give_the_same_bits() -> None:
    blocks, x = drawn("q4_k", 12, 512), numbers(3, 4, 512)
    want = product(x.reshape(12, 512), blocks, "q4_k").reshape(3, 4, 12)
    wide = ts.zeros(12, 2 * blocks.shape[1], dtype=ts.uint8)
    wide[:, ::2] = ts.from_numpy(blocks)
    turned = ts.from_numpy(x).permute((2, 1, 0)).clone().permute((2, 1, 0))
    for operand in (ts.from_numpy(x), turned, ts.from_numpy(x).flip().clone().flip()):
        for rows in (ts.from_numpy(blocks), wide[:, ::2]):
            found = F.quantized_linear(operand, rows, format="q4_k").numpy()
            np.testing.assert_array_equal(found, want)
    row = ts.from_numpy(x[0, 0])
    np.testing.assert_array_equal(
        F.quantized_linear(row, ts.from_numpy(blocks), format="q4_k").numpy(), want[0, 0]
    )


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_a_bias_is_added_last(rows: int) -> None:
    blocks, x, bias = drawn("q5_1", 21, 64), numbers(rows, 64), numbers(21)
    found = F.quantized_linear(
        ts.from_numpy(x), ts.from_numpy(blocks), ts.from_numpy(bias), format="q5_1"
    )
    np.testing.assert_array_equal(found.numpy(), summed(x, blocks, "q5_1") + bias)


@pytest.mark.parametrize("name", ["q8_0", "q4_1", "q6_k"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_nan_and_others_are_not(name: str, wrong: float) -> None:
    for rows in (2, 6):
        x = numbers(rows, 512)
        x[1, 300] = wrong
        found = product(x, drawn(name, 9, 512), name)
        assert np.isnan(found[1]).all() and np.isfinite(np.delete(found, 1, 0)).all()


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_zeros_and_of_tiny_numbers_give_zeros(name: str) -> None:
    x = np.zeros((3, 256), np.float32)
    x[1] = 1e-45
    x[2] = -1e-37
    assert (np.abs(product(x, drawn(name, 6, 256), name)) < 1e-34).all()
    assert (product(x[:1], drawn(name, 6, 256), name) == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_other_dtypes_give_theirs(name: str) -> None:
    blocks, x = ts.from_numpy(drawn(name, 6, 512)), ts.from_numpy(numbers(3, 512))
    w = dequantize_ref(np, blocks.numpy(), name)
    for dtype in (ts.float16, ts.bfloat16):
        narrow = x.astype(dtype)
        found = F.quantized_linear(narrow, blocks, format=name)
        want = F.quantized_linear(narrow.astype(ts.float32), blocks, format=name).astype(dtype)
        assert found.dtype is dtype
        assert same(found.astype(ts.float32).numpy(), want.astype(ts.float32).numpy())
    wide = F.quantized_linear(x.astype(ts.float64), blocks, format=name)
    np.testing.assert_allclose(
        wide.numpy(), x.numpy().astype(np.float64) @ w.astype(np.float64).T, rtol=1e-12, atol=1e-12
    )


def test_rows_without_numbers_may_be_many() -> None:
    x = ts.ones(0).broadcast_to((1 << 40, 0)).requires_grad_()
    out = F.quantized_linear(x, ts.zeros(0, 0, dtype=ts.uint8), format="q8_0")
    (slope,) = ts.autograd.grad(out, [x], out.detach())
    assert out.shape == slope.shape == x.shape
    with pytest.raises(ts.errors.TessellaError, match="quantized_linear: "):
        F.quantized_linear(x, ts.zeros(3, 0, dtype=ts.uint8), format="q8_0")


def test_weights_are_not_expanded() -> None:
    blocks = ts.zeros(4096, 4096 // 32 * 18, dtype=ts.uint8)
    expanded = 4096 * 4096 * 4
    for rows in (1, 8):
        x = ts.ones(rows, 4096).requires_grad_()
        with ts.memory.track() as figures:
            out = F.quantized_linear(x, blocks, format="q4_0")
            out.backward(out.detach())
        assert figures.peak < expanded / 16


# --- gradients -----------------------------------------------------------------------------------


def near(found: ts.Tensor, a: Array, b: Array) -> None:
    """Compare a product in float32 with a @ b: errors are of the size of its terms."""
    assert (np.abs(found.detach().numpy() - a @ b) <= 1e-6 * (np.abs(a) @ np.abs(b))).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1, 6])
def test_the_gradient_is_that_of_the_dequantised_weights(name: str, rows: int) -> None:
    # More rows of w than one tile takes.
    blocks, x, g = drawn(name, 700, 512), numbers(rows, 512), numbers(rows, 700)
    w = dequantize_ref(np, blocks, name).astype(np.float64)
    leaf, bias = ts.from_numpy(x).requires_grad_(), ts.zeros(700).requires_grad_()
    out = F.quantized_linear(leaf, ts.from_numpy(blocks), bias, format=name)
    first = ts.from_numpy(g).requires_grad_()
    dx, dbias = ts.autograd.grad(out, [leaf, bias], first, create_graph=True)
    near(dx, g, w)
    np.testing.assert_allclose(dbias.detach().numpy(), g.sum(0), rtol=1e-5, atol=1e-5)
    # That of the gradient is a product with w again, and x is not made int8 there.
    (second,) = ts.autograd.grad(dx, [first], ts.from_numpy(x))
    near(second, x, w.T)


def test_gradients_of_halves_are_halves() -> None:
    x = ts.from_numpy(numbers(3, 64)).astype(ts.float16).requires_grad_()
    out = F.quantized_linear(x, ts.from_numpy(drawn("q8_0", 5, 64)), format="q8_0")
    out.sum().backward()
    assert x.grad is not None and x.grad.dtype is ts.float16


def test_check_grads_of_float64() -> None:
    blocks = ts.from_numpy(drawn("q5_k", 4, 256))
    x = ts.from_numpy(numbers(2, 256).astype(np.float64))
    ts.testing.check_grads(lambda x: F.quantized_linear(x, blocks, format="q5_k"), [x])


# --- compiled ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["q8_0", "q4_0", "q4_k", "q6_k"])
def test_compiled_calls_have_the_same_bits(name: str) -> None:
    blocks = ts.from_numpy(drawn(name, 24, 256))
    bias = ts.from_numpy(numbers(24))

    def step(x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor, ts.Tensor]:
        out = F.quantized_linear(x, blocks, bias, format=name)
        rows = F.quantized_embedding(out.argmax(-1), blocks, format=name)
        made = F.quantize(rows * 2, "q8_0") if name != "q4_0" else F.quantize(rows * 2, "q4_0")
        return out.relu(), rows, made

    compiled = ts.compile(step)
    for i in range(4):
        x = ts.from_numpy(numbers(5 + i % 2, 256))
        for found, want in zip(compiled(x), step(x), strict=True):
            np.testing.assert_array_equal(found.numpy(), want.numpy())


def test_gradients_of_compiled_calls_have_the_same_bits() -> None:
    blocks = ts.from_numpy(drawn("q5_0", 32, 64))

    def loss(x: ts.Tensor) -> ts.Tensor:
        return F.quantized_linear(x.tanh(), blocks, format="q5_0").square().sum()

    compiled = ts.compile(loss)
    for _ in range(4):
        plain, other = (ts.from_numpy(numbers(5, 64)).requires_grad_() for _ in range(2))
        loss(plain).backward()
        compiled(other).backward()
        assert plain.grad is not None and other.grad is not None
        np.testing.assert_array_equal(plain.grad.numpy(), other.grad.numpy())


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
def test_plans_of_compiled_calls_tell_their_scratch(dtype: Any) -> None:
    blocks = ts.from_numpy(drawn("q4_k", 300, 1024))
    bias = ts.zeros(300, dtype=dtype)

    def loss(x: ts.Tensor) -> ts.Tensor:
        return F.quantized_linear(x, blocks, bias, format="q4_k").square().sum()

    compiled = ts.compile(loss)
    x = ts.from_numpy(numbers(9, 1024)).astype(dtype)
    found = compiled.plan(ts.spec(x.shape, x.dtype))
    assert_foreseen(found, growth_of(lambda: compiled(x)))
    # The rows of x as int8; or a tile of w.
    assert found.scratch > (9 * 1024 if dtype is ts.float32 else 256 * 1024 * 8)


# --- instruction sets ----------------------------------------------------------------------------

PROGRAM = """
import hashlib
from test_quantized import NAMES, MADE, SIZES, F, drawn, numbers, product, ts
from tessella import _core

digest = hashlib.sha256()
for name in NAMES:
    for n, k, m in SIZES:
        digest.update(product(numbers(m, k), drawn(name, n, k), name).tobytes())
    digest.update(F.dequantize(ts.from_numpy(drawn(name, 40, 512)), name).numpy().tobytes())
for name in MADE:
    digest.update(F.quantize(ts.from_numpy(numbers(40, 512)), name).numpy().tobytes())
print(_core.isa(), _core.dots(), digest.hexdigest())
"""


def in_a_process(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, beside the tests."""
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.dirname(here), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": path, "TESSELLA_TEST_SEED": "7", **settings},
    )  # fmt: skip


def test_all_instruction_sets_give_the_same_bits() -> None:
    found = {}
    choices = [(isa, vnni) for isa in _core.supported_isas() for vnni in ("0", "")]
    for isa, vnni in choices:
        done = in_a_process(PROGRAM, TESSELLA_ISA=isa, TESSELLA_VNNI=vnni)
        assert done.returncode == 0, done.stderr
        chosen, dots, digest = done.stdout.split()
        assert chosen == isa and (not vnni or dots == "plain")
        found[isa, dots] = digest
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("setting", ["2", "yes", "x" * 100])
def test_an_unknown_setting_of_vnni_is_a_clear_error(setting: str) -> None:
    done = in_a_process("import tessella", TESSELLA_VNNI=setting)
    assert done.returncode == 1
    *_, what, hint = done.stderr.splitlines()
    assert what == f"ImportError: TESSELLA_VNNI={setting} cannot run here"
    assert "0, or 1 where the processor has VNNI" in hint


def test_vnni_that_is_asked_for_is_there_or_refused() -> None:
    code = "from tessella import _core; print(_core.dots())"
    done = in_a_process(code, TESSELLA_ISA="baseline", TESSELLA_VNNI="1")
    assert done.returncode == 1 and "TESSELLA_VNNI=1 cannot run here" in done.stderr
    done = in_a_process(code, TESSELLA_ISA="baseline", TESSELLA_VNNI="")
    assert done.stdout.strip() == "plain"


# --- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_quantised_tables(name: str) -> None:
    blocks = drawn(name, 9, 512)
    values = dequantize_ref(np, blocks, name)
    for indices in (np.array([[3, 0, 8], [8, 8, 1]]), np.array(4), np.zeros((0, 2), np.int64)):
        found = F.quantized_embedding(ts.tensor(indices), ts.from_numpy(blocks), format=name)
        assert found.dtype is ts.float32
        assert same(found.numpy(), values[indices])
