"""Chains of cheap operations, which a compiled function computes in registers: the bits of eager.

Every operation that chains know is tried in every form (a tensor, a number, the value itself, first
and second), at lengths around those of vectors and tiles, on values that include infinities, NaN,
zeros of both signs and the least numbers; then random programs of them, with values that are read
again, results in the middle, and writes in place between.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import tessella as ts
from conftest import sampled
from reference import assert_same_tensors

Function = Callable[..., Any]  # gives a tensor or several

UNARY: dict[str, Callable[[ts.Tensor], ts.Tensor]] = {
    "neg": lambda x: -x,
    "abs": lambda x: x.abs(),
    "square": lambda x: x.square(),
    "reciprocal": lambda x: 1 / x,
    "sqrt": lambda x: x.sqrt(),
    "relu": lambda x: x.relu(),
}
BINARY: dict[str, Callable[..., ts.Tensor]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "maximum": ts.maximum,
    "minimum": ts.minimum,
}
FORMS: dict[str, Callable[..., ts.Tensor]] = {
    "tensor": lambda f, x, y: f(x, y),
    "tensor first": lambda f, x, y: f(y, x),
    "number": lambda f, x, y: f(x, 0.7),
    "number first": lambda f, x, y: f(0.7, x),
    "itself": lambda f, x, y: f(x, x),
}
# Less than a vector, vectors, eight of them, tiles, chunks of tiles; and one more or less.
LENGTHS = [
    1,
    7,
    8,
    15,
    16,
    17,
    63,
    64,
    65,
    127,
    128,
    129,
    200,
    1023,
    1024,
    1025,
    1500,
    16385,
    40000,
]
SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, -1e-40, 3e38, -1.0]


def values(seed: int, length: int, dtype: ts.dtype) -> ts.Tensor:
    """Give normal numbers, some of them special."""
    random = Random(f"{seed} {length}")
    x = ts.randn(length, dtype=dtype, generator=ts.Generator(seed))
    for special in SPECIAL:
        x[random.randrange(length)] = special
    return x


def check(function: Function, *args: ts.Tensor) -> None:
    """Compare four calls, of which the last repeats what was recorded, with eager ones."""
    compiled = ts.compile(function)
    for i in range(4):
        given = [x.clone() for x in args]
        wanted = function(*[x.clone() for x in args])
        with ts.num_threads(1 + i % 2):
            found = compiled(*given)
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for a, b in pairs:
            assert_same_tensors(a, b)
    assert compiled.program is not None


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", UNARY)
def test_every_operation_of_one_operand(name: str, dtype: ts.dtype) -> None:
    f = UNARY[name]
    for length in LENGTHS:
        check(lambda x: f(f(x + 1) * x), values(1, length, dtype))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", BINARY)
def test_every_operation_of_two_operands_in_every_form(
    name: str, form: str, dtype: ts.dtype
) -> None:
    f, use = BINARY[name], FORMS[form]
    for length in LENGTHS[:: 1 if form == "tensor" else 3]:
        x, y = values(2, length, dtype), values(3, length, dtype)
        check(lambda x, y: use(f, use(f, -x, y).abs(), y), x, y)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", BINARY)
def test_every_operation_with_what_the_chain_began_with(name: str, dtype: ts.dtype) -> None:
    f = BINARY[name]

    def chain(x: ts.Tensor) -> ts.Tensor:
        return f(x, f((-x).abs(), x) * 0.5)

    for length in LENGTHS[::2]:
        x = values(5, length, dtype)
        check(chain, x)
        check(lambda x: x.copy_(chain(x)), x)


def test_the_gate_of_a_gradient() -> None:
    def slope(x: ts.Tensor, g: ts.Tensor) -> ts.Tensor:
        y = (x * 2).relu() * 3
        found: ts.Tensor = ts.autograd.grad((y * g).sum(), x)[0]
        return found * 5 - 1

    for length in LENGTHS:
        x = values(4, length, ts.float32).requires_grad_()
        compiled = ts.compile(slope)
        g = ts.randn(length)
        for _ in range(4):
            assert_same_tensors(compiled(x, g), slope(x, g))


def test_the_gate_of_what_a_chain_began_with() -> None:
    def slope(x: ts.Tensor) -> ts.Tensor:
        found: ts.Tensor = ts.autograd.grad((x.relu() * x * 3).sum(), x)[0]
        return found * 5 - x

    for length in LENGTHS:
        x = values(6, length, ts.float32).requires_grad_()
        compiled = ts.compile(slope)
        for _ in range(4):
            assert_same_tensors(compiled(x), slope(x))


# --- programs -------------------------------------------------------------------------------------


def random_program(seed: int) -> Function:
    """Give a function of a random sequence of operations."""
    random = Random(seed)
    plan = [
        (
            random.choice([*UNARY, *BINARY, *BINARY, "exp", "add_", "mul_"]),
            random.choice(list(FORMS)),
            random.random(),
            random.random(),
        )
        for _ in range(random.randrange(2, 30))
    ]
    shown = random.randrange(1, 4)

    def function(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ...]:
        made = [x, y]
        for name, form, first, second in plan:
            # Mostly what was made last, so that chains are long.
            a = made[-1] if first < 0.7 else made[int(second * len(made))]
            b = made[int(second * len(made))]
            if name in UNARY:
                made.append(UNARY[name](a))
            elif name in BINARY:
                made.append(FORMS[form](BINARY[name], a, b))
            elif name == "exp":
                made.append(ts.minimum(a, 3.0).exp())
            elif name == "add_":
                y.add_(a)
            else:
                made[-1].mul_(0.5)
        return (*made[-shown:], y)

    return function


@pytest.mark.parametrize("seed", sampled(range(400), 60))
def test_random_programs(seed: int) -> None:
    random = Random(-seed)
    length, dtype = random.choice(LENGTHS), random.choice([ts.float32, ts.float64])
    check(random_program(seed), values(seed, length, dtype), values(seed + 1, length, dtype))


@pytest.mark.parametrize("seed", sampled(range(100), 15))
def test_random_programs_over_rows(seed: int) -> None:
    program = random_program(seed)

    def function(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ...]:
        found = program(x, y)
        last = found[0]
        means = last.mean(axis=-1, keepdims=True) * 2 + 1
        return (*found, (last - means) / (means.abs() + 1), means)

    rows, length = Random(seed).choice([(1, 1), (3, 7), (40, 33), (5, 1100), (2, 20_000)])
    args = [values(seed + i, rows * length, ts.float32).reshape(rows, length) for i in range(2)]
    check(function, *args)
