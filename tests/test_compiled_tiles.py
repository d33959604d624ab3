"""Steps that run tile by tile: the bits of eager, whatever the rows, dtypes, layouts and threads.

Each function is called five times with other values and all results are held; the test looks at the
program: what should be one step is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from reference import assert_same_tensors
from tessella import nn
from tessella.compiler import Compiled
from worlds import some

CALLS = 5
Function = Callable[..., Any]


def check(function: Function, arguments: Callable[[int], tuple[ts.Tensor, ...]]) -> Compiled:
    """Compare five calls with eager ones, also on one thread."""
    compiled: Compiled = ts.compile(function)
    wanted, found = [], []
    for i in range(CALLS):
        args = arguments(i)
        wanted.append(function(*args))
        with ts.num_threads(1 if i == CALLS - 1 else 2):
            found.append(compiled(*args))
    for x, y in zip(found, wanted, strict=True):
        pairs = zip(x, y, strict=True) if isinstance(x, tuple) else [(x, y)]
        for a, b in pairs:
            assert_same_tensors(a, b)
    assert compiled.program is not None
    compiled.program.verify()
    return compiled


def sizes_of(compiled: Compiled[..., Any]) -> list[int]:
    """Give the number of instructions in each step."""
    assert compiled.program is not None
    return [len(step) for step in compiled.program.steps]


# --- rows -----------------------------------------------------------------------------------------


def softmax(x: ts.Tensor) -> ts.Tensor:
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: ts.Tensor) -> ts.Tensor:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / (centred.square().mean(axis=-1, keepdims=True) + 1e-5).sqrt()


def rms_norm(x: ts.Tensor) -> ts.Tensor:
    return x / (x.square().mean(axis=-1, keepdims=True) + 1e-5).sqrt()


def several(x: ts.Tensor) -> tuple[ts.Tensor, ...]:
    y = x * 2
    return y.sum(axis=-1), y.max(axis=-1), (y > 0).any(axis=-1), y.argmin(axis=-1), y


def whole(x: ts.Tensor) -> ts.Tensor:
    return (x - 1).square().mean()


ROWS: dict[str, tuple[Function, int]] = {  # and the longest row of one step
    "softmax": (softmax, 16384),
    "layer_norm": (layer_norm, 16384),
    "rms_norm": (rms_norm, 16384),
    "several": (several, 1 << 40),
    "whole": (whole, 1 << 40),
}
LENGTHS = [2, 3, 8, 255, 256, 257, 1000, 1024, 1025, 4097, 16384, 16385, 40000]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_length_have_the_bits_of_eager(name: str, length: int) -> None:
    function, longest = ROWS[name]
    for rows in (1, 3, 130 if length < 2000 else 5):
        compiled = check(function, lambda i: (some(i, rows, length),))  # noqa: B023
        if length <= longest:
            assert len(sizes_of(compiled)) == 1


@pytest.mark.parametrize("dtype", [ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_other_floats_have_the_bits_of_eager(name: str, dtype: ts.DType) -> None:
    for length in (7, 300, 2050, 17000):
        compiled = check(ROWS[name][0], lambda i: (some(i, 9, length).astype(dtype),))  # noqa: B023
        if length < 17000:
            assert len(sizes_of(compiled)) == 1


@pytest.mark.parametrize("dtype", [ts.int64, ts.int32, ts.uint8])
def test_rows_of_integers_have_the_bits_of_eager(dtype: ts.DType) -> None:
    def f(x: ts.Tensor) -> tuple[ts.Tensor, ...]:
        y = x * x
        total = y.sum(axis=-1, keepdims=True)
        return y.max(axis=-1), total, y + total, y.prod(axis=-1), y.all(axis=-1)

    compiled = check(f, lambda i: ((some(i, 20, 70) * 3).abs().astype(dtype),))
    assert max(sizes_of(compiled)) >= 5


@pytest.mark.parametrize("axes", [(-1,), (-2, -1), (-3, -2, -1)])
def test_rows_are_any_last_axes(axes: tuple[int, ...]) -> None:
    def f(x: ts.Tensor, bias: ts.Tensor) -> ts.Tensor:
        y = x + bias
        return y / y.sum(axis=axes, keepdims=True) + y.mean(axis=axes, keepdims=True)

    compiled = check(f, lambda i: (some(i, 4, 3, 1, 5), some(i + 9, 5)))
    assert sizes_of(compiled) == [5]


def test_values_of_rows_are_computed_with_and_spread_again() -> None:
    def f(x: ts.Tensor, per_row: ts.Tensor, out: ts.Tensor) -> tuple[ts.Tensor, ...]:
        s = x.sum(axis=-1)  # (rows,)
        t = (s * per_row).exp() + s.square()
        out.copy_(t)
        u = t.unsqueeze(-1) * x
        return u.max(axis=-1) - t, u

    compiled = check(f, lambda i: (some(i, 33, 40) / 50, some(i + 7, 66)[::2], ts.zeros(33)))
    assert max(sizes_of(compiled)) >= 7


FIRST_OF_ROWS: dict[str, Function] = {
    "less the first": lambda x: (s := x.sum(axis=-1)) - s[0],
    "by the first": lambda x: (s := x.exp().sum(axis=-1)) / s[:1],
    "in rows": lambda x: (s := x.sum(axis=-1).reshape(2, -1)) - s[0],
    "beside a softmax": lambda x: ((m := x.max(axis=-1)) - m[0], softmax(x)),
    "of what is written": lambda x: (s := x.max(axis=-1)).add_(x.sum(axis=-1) + s[0]),
}


@pytest.mark.parametrize("name", FIRST_OF_ROWS)
def test_the_first_of_the_values_of_rows_is_there_before_it_is_used(name: str) -> None:
    check(FIRST_OF_ROWS[name], lambda i: (some(i, 6, 70),))
    check(FIRST_OF_ROWS[name], lambda i: (some(i, 600, 70),))


def test_strided_and_broadcast_operands_of_rows() -> None:
    def f(x: ts.Tensor, y: ts.Tensor, z: ts.Tensor) -> ts.Tensor:
        w = x.T * y + z
        return w - w.max(axis=-1, keepdims=True)

    compiled = check(f, lambda i: (some(i, 70, 50), some(i + 1, 50, 1), some(i + 2, 70)))
    assert sizes_of(compiled) == [4]


def test_rows_with_nan_and_infinities() -> None:
    odd = ts.tensor([[float("nan"), 1.0, -0.0], [float("inf"), -0.0, 0.0], [-0.0, -0.0, -0.0]])
    for name in ROWS:
        check(ROWS[name][0], lambda i: (odd.roll(i, 0),))


def test_an_instruction_joins_an_earlier_step_over_one_that_it_has_nothing_to_do_with() -> None:
    def f(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ...]:
        a = x * 2
        b = y.sort(axis=0)
        c = a + 1
        return c, b

    assert sizes_of(check(f, lambda i: (some(i, 6, 5), some(i, 9)))) == [2, 1]


def test_an_instruction_does_not_pass_one_that_it_has_to_do_with() -> None:
    state = ts.zeros(9)

    def f(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ...]:
        a = x * 2
        state[ts.tensor([0, 3])] += y[:2]
        c = a + state[0]  # after the write
        state.mul_(0.5)  # from outside: it stays where it is
        return c, a

    eager, compiled = ts.zeros(9), ts.zeros(9)
    results: list[list[Any]] = []
    for mine, call in ((eager, f), (compiled, ts.compile(f))):
        state = mine
        results.append([call(some(i, 6, 5), some(i, 9)) for i in range(CALLS)])
    for x, y in zip(*results, strict=True):
        for a, b in zip(x, y, strict=True):
            assert_same_tensors(a, b)
    assert_same_tensors(eager, compiled)


# --- tails of products ----------------------------------------------------------------------------


def tail(z: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    return (z * 2 + y).tanh()


PRODUCTS: dict[str, tuple[Function, tuple[int, ...], tuple[int, ...]]] = {
    "small": (lambda a, b: a @ b, (16, 16), (16, 16)),
    "wide": (lambda a, b: a @ b, (37, 64), (64, 700)),
    "tall": (lambda a, b: a @ b, (900, 64), (64, 19)),
    "large": (lambda a, b: a @ b, (300, 310), (310, 290)),
    "deep": (lambda a, b: a @ b, (12, 5000), (5000, 9)),
    "transposed": (lambda a, b: a.T @ b.T, (200, 150), (120, 200)),
    "batch": (lambda a, b: a @ b, (5, 40, 30), (5, 30, 50)),
    "broadcast": (lambda a, b: a @ b, (5, 40, 30), (30, 50)),
    "parts": (lambda a, b: a @ b, (3, 6, 3000), (3, 3000, 5)),
    "vector": (lambda a, b: a @ b, (600, 200), (200,)),
    "row": (lambda a, b: a @ b, (200,), (200, 600)),
    "linear": (lambda a, b: ts.nn.functional.linear(a, b), (128, 80), (96, 80)),
}


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize("name", PRODUCTS)
def test_tails_of_products_have_the_bits_of_eager(name: str, dtype: ts.DType) -> None:
    product, a, b = PRODUCTS[name]
    shape = product(ts.ones(*a), ts.ones(*b)).shape

    def arguments(i: int) -> tuple[ts.Tensor, ...]:
        made = some(i, *a) / 9, some(i + 50, *b) / 9, some(i + 90, *shape[-1:])
        return tuple(x.astype(dtype) for x in made)

    compiled = check(lambda a, b, y: tail(product(a, b), y), arguments)
    assert sizes_of(compiled) == [4]


def test_a_product_of_integers_has_a_tail() -> None:
    compiled = check(
        lambda a, b: (a @ b) * 3 - 1, lambda i: ((some(i, 40, 40) * 9).to(ts.int32),) * 2
    )
    assert sizes_of(compiled) == [3]


def test_a_tail_may_read_what_the_product_reads_and_not_write_it() -> None:
    assert sizes_of(check(lambda x, w: x @ w + x, lambda i: (some(i, 32, 32),) * 2)) == [2]

    def f(x: ts.Tensor, w: ts.Tensor) -> ts.Tensor:
        y = x * 1
        z = y @ w
        y.mul_(2)
        return z + y

    compiled = check(f, lambda i: (some(i, 32, 32), some(i + 1, 32, 32)))
    assert sizes_of(compiled) == [1, 1, 2]


def test_a_product_accumulates_before_its_tail() -> None:
    def f(x: ts.Tensor, w: ts.Tensor, total: ts.Tensor) -> ts.Tensor:
        out = total.clone()
        ts.matmul_into(out, x, w, accumulate=True)
        return out.relu()

    check(f, lambda i: (some(i, 64, 64), some(i + 1, 64, 64), some(i + 2, 64, 64)))


def test_a_product_is_added_to_memory_from_outside_on_its_tiles() -> None:
    """An argument, a captured tensor, and a gradient that was there before."""
    captured = ts.zeros(64, 64)

    def add(total: ts.Tensor, x: ts.Tensor, w: ts.Tensor) -> None:
        total += x @ w
        captured.sub_(0.5 * (w @ x))

    def accumulate(x: ts.Tensor, w: ts.Tensor) -> None:
        (x @ w).sum().backward()

    compiled, learned = ts.compile(add), ts.compile(accumulate)
    total, weight = ts.zeros(64, 64), nn.Parameter(some(9, 64, 64))
    weight.grad = ts.zeros(64, 64)
    want = [ts.zeros(64, 64) for _ in range(3)]
    for i in range(6):
        x, w = some(i, 64, 64), some(i + 1, 64, 64)
        compiled(total, x, w)
        learned(x, weight)
        want[0] = want[0] + x @ w
        want[1] = want[1] - 0.5 * (w @ x)
        want[2] = want[2] + x.T @ ts.ones(64, 64)
        for got, expected in zip((total, captured, weight.grad), want, strict=True):
            assert_same_tensors(got, expected)
    assert sizes_of(compiled) == [2, 3]
    assert sizes_of(learned)[-1] == 2


def test_a_long_product_can_be_interrupted_before_it_is_added_to_memory_from_outside() -> None:
    def add(total: ts.Tensor, x: ts.Tensor) -> None:
        total += x @ x.T

    plan = ts.compile(add)
    for _ in range(3):
        plan(ts.zeros(1025, 1025), ts.zeros(1025, 1024))
    assert sizes_of(plan) == [1, 1]
    assert "so long that Ctrl-C must end it" in str(plan.explain())


# --- places taken ---------------------------------------------------------------------------------


def test_a_result_takes_the_place_of_an_operand_that_ends() -> None:
    compiled = check(lambda x, w: ((x @ w).relu() @ w).relu() @ w, lambda i: (some(i, 64, 64),) * 2)
    assert compiled.program is not None and compiled.program.arena_bytes == 2 * 64 * 64 * 4


def test_a_place_is_not_taken_before_its_last_reader_is_done() -> None:
    def f(x: ts.Tensor, w: ts.Tensor) -> tuple[ts.Tensor, ...]:
        a = x @ w
        b = ts.zeros_like(a)
        b.copy_(a * 2)
        c = b.T + a  # other layouts of one memory
        return c @ w, (c * c) @ w

    check(f, lambda i: (some(i, 32, 32), some(i + 1, 32, 32)))


def far_rows(x: ts.Tensor) -> ts.Tensor:
    columns = x.sum(axis=0)
    return (x * columns).sum(axis=-1) @ x


def lengths_of_centred(x: ts.Tensor) -> ts.Tensor:
    centred = x - x.mean(axis=0)
    return (centred @ centred.T) / centred.square().sum(axis=-1).sqrt()


def rank(x: ts.Tensor) -> ts.Tensor:
    values = ts.ones(len(x))
    for _ in range(3):
        values = (x * values).sum(axis=-1)
        values = values / values.sum()
    return values


@pytest.mark.parametrize("size", [129, 300])  # more rows than one tile has
@pytest.mark.parametrize("function", [far_rows, lengths_of_centred, rank])
def test_values_of_rows_do_not_take_the_place_of_what_every_row_reads(
    function: Function, size: int
) -> None:
    check(function, lambda i: (some(i, size, size) + 2,))


def test_a_place_is_not_taken_by_wider_elements_than_its_own() -> None:
    weight = ts.zeros(4, dtype=ts.float64)

    def f(x: ts.Tensor) -> ts.Tensor:
        at = (x < 0).sum() % 4 - ts.arange(2)
        weight[at] = (x * 3)[:2]
        return weight.clone()

    check(f, lambda i: (ts.full((4,), 1.0 + i),))


def test_a_call_that_fails_leaves_the_gradient_that_was_there() -> None:
    p = ts.ones(4, requires_grad=True)
    table = ts.arange(5) * 1.0

    @ts.compile
    def step(x: ts.Tensor, at: ts.Tensor) -> ts.Tensor:
        y = x * 2
        found = table[at]  # which may fail
        p.grad = None
        (p * y).backward(x)
        return found

    for i in range(CALLS):
        step(some(i, 4), ts.tensor([1, i]))
    assert p.grad is not None
    before = p.grad.tolist()
    with pytest.raises(ts.errors.IndexOutOfBounds):
        step(some(99, 4), ts.tensor([1, 5]))
    assert p.grad.tolist() == before


# --- what is written past the caches --------------------------------------------------------------

LARGE = (16 << 20) // 4  # elements of float32 from which on results are written so


@pytest.mark.parametrize("first", [0, 1, 7])
def test_results_that_no_cache_holds(first: int) -> None:
    def f(x: ts.Tensor) -> tuple[ts.Tensor, ...]:
        x = x[first:]
        y = x * 2 + 1
        out = ts.empty(LARGE + 5)
        out[first:] = y.abs() - x  # not aligned to vectors
        return y, out[first:].clone(), (x * 3).astype(ts.float16), y > x

    compiled = check(f, lambda i: (some(i, LARGE + 5),))
    assert max(sizes_of(compiled)) > 1


def test_large_results_in_rows_in_place_and_behind_products() -> None:
    rows = LARGE // 1024 + 1

    def f(x: ts.Tensor, w: ts.Tensor) -> tuple[ts.Tensor, ...]:
        y = softmax(x)
        x = x.clone()
        x.mul_(2).add_(y)
        return y, x, ((x @ w) + 1).relu()

    check(f, lambda i: (some(i, rows, 1024), some(i + 1, 1024, 1024)))
