"""Random numbers: the same at any thread count, of the right moments and ranges, from Philox."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from nested import listed
from reference import assert_same_tensors
from tessella import _core
from tessella.dtypes import DType
from tessella.ops import random

DRAWS: dict[str, Callable[[ts.Generator], ts.Tensor]] = {
    "rand": lambda g: ts.rand(300_001, generator=g),
    "rand float64": lambda g: ts.rand(3, 100_003, dtype=ts.float64, generator=g),
    "rand float16": lambda g: ts.rand(300_001, dtype=ts.float16, generator=g),
    "randn": lambda g: ts.randn(300_001, generator=g),
    "randn float64": lambda g: ts.randn(300_001, dtype=ts.float64, generator=g),
    "randint": lambda g: ts.randint(-5, 1000, (300_001,), generator=g),
    "randint int8": lambda g: ts.randint(-128, 128, (300_001,), dtype=ts.int8, generator=g),
    "randperm": lambda g: ts.randperm(300_001, generator=g),
    "bernoulli": lambda g: ts.bernoulli(0.25, (300_001,), generator=g),
    "normal": lambda g: ts.normal(3.0, 2.0, (300_001,), generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_the_same_at_any_number_of_threads(name: str) -> None:
    draw = DRAWS[name]
    with ts.num_threads(1):
        expected = draw(ts.Generator(5)).numpy().tobytes()
    for threads in (2, 3, 8):
        with ts.num_threads(threads):
            assert draw(ts.Generator(5)).numpy().tobytes() == expected
    assert draw(ts.Generator(6)).numpy().tobytes() != expected


@pytest.mark.parametrize("name", DRAWS)
def test_a_generator_goes_on_and_begins_again(name: str) -> None:
    generator, draw = ts.Generator(8), DRAWS[name]
    first, second = draw(generator).numpy().copy(), draw(generator).numpy().copy()
    assert not np.array_equal(first, second)
    generator.manual_seed(8)
    assert np.array_equal(draw(generator).numpy(), first)
    assert np.array_equal(draw(generator).numpy(), second)


def test_the_default_generator_is_seeded() -> None:
    ts.manual_seed(3)
    first = [ts.rand(3).tolist(), ts.randn(3).tolist(), ts.randint(0, 99, (3,)).tolist()]
    ts.manual_seed(3)
    assert first == [ts.rand(3).tolist(), ts.randn(3).tolist(), ts.randint(0, 99, (3,)).tolist()]
    again = ts.Generator(3)
    assert ts.rand(3, generator=again).tolist() == first[0]


# --- Philox ---------------------------------------------------------------------------------------


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 of Salmon et al. 2011, in plain Python."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & 0xFFFFFFFF,
                   (first >> 32) ^ counter[3] ^ key[1], first & 0xFFFFFFFF]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def test_the_plain_philox_has_the_published_answers() -> None:
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = [0xFFFFFFFF]
    assert philox(ones * 4, ones * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("seed", [0, 1, 0x123456789ABCDEF0, (1 << 64) - 1])
def test_bits_are_those_of_philox(seed: int) -> None:
    out = ts.empty(150, dtype=ts.uint32)
    ts.Generator(seed).draw(out, random._BITS)
    key = [seed & 0xFFFFFFFF, seed >> 32]
    blocks = [philox([counter, 0, 0, 0], key) for counter in range(48)]
    # Word 16 k + b of a group of 64 is word k of the block of the group's counter b.
    expected = [
        blocks[16 * group + b][k] for group in range(3) for k in range(4) for b in range(16)
    ]
    assert out.tolist() == expected[:150]


# --- distributions --------------------------------------------------------------------------------

COUNT = 400_000


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_fill_zero_to_one(dtype: str) -> None:
    x = ts.rand(COUNT, dtype=dtype, generator=ts.Generator(1)).astype(ts.float64).numpy()
    assert x.min() >= 0 and x.max() < 1
    spread = 5 / math.sqrt(12 * COUNT) + (2.0**-9 if "16" in dtype else 0)  # halves are coarse
    assert abs(x.mean() - 0.5) < spread and abs(x.var() - 1 / 12) < spread
    counts = np.histogram(x, 16, (0, 1))[0]
    assert ((counts - COUNT / 16) ** 2 / (COUNT / 16)).sum() < 60  # chi squared, 15 degrees


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_normal_numbers_have_the_moments_of_the_normal_distribution(dtype: str) -> None:
    x = ts.randn(COUNT, dtype=dtype, generator=ts.Generator(1)).astype(ts.float64).numpy()
    assert np.isfinite(x).all()
    # The k-th sample moment has the deviation sqrt((E x^2k - (E x^k)^2) / n).
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - mean) < 5 * math.sqrt(variance / COUNT) + 1e-2 * (
            "16" in dtype
        )
    assert 4 < np.abs(x).max() < 7


@given(st.integers(-(1 << 63), (1 << 63) - 2), st.integers(1, 1 << 64), st.integers(0, 1 << 63))
def test_integers_stay_in_their_range(low: int, span: int, seed: int) -> None:
    high = min(low + span, 1 << 63)
    values: Any = ts.randint(low, high, (50,), generator=ts.Generator(seed)).tolist()
    assert all(low <= value < high for value in values)


@given(st.sampled_from(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]))
def test_integers_reach_the_whole_of_their_dtype(name: str) -> None:
    dtype = ts.dtypes.as_dtype(name)
    low, high = int(dtype.lowest), int(dtype.highest)
    x = ts.randint(low, high + 1, (5000,), dtype=dtype, generator=ts.Generator(2))
    middle = (low + high) // 2
    share = sum(value > middle for value in listed(x)) / 5000
    assert x.dtype is dtype and 0.45 < share < 0.55


def test_integers_are_uniform() -> None:
    x = ts.randint(0, 10, (COUNT,), generator=ts.Generator(4)).numpy()
    counts = np.bincount(x, minlength=10)
    assert ((counts - COUNT / 10) ** 2 / (COUNT / 10)).sum() < 45  # chi squared, 9 degrees


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000, 100_000])
def test_permutations_hold_every_number_once(n: int) -> None:
    x = ts.randperm(n, generator=ts.Generator(1))
    assert np.array_equal(np.sort(x.numpy()), np.arange(n)) and x.dtype is ts.int64


def test_permutations_of_three_are_equally_likely() -> None:
    generator = ts.Generator(2)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(3000):
        order = tuple(listed(ts.randperm(3, generator=generator)))
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 6 and all(380 < count < 620 for count in seen.values())


def test_bernoulli_has_its_probability() -> None:
    generator = ts.Generator(3)
    share = ts.bernoulli(0.3, (COUNT,), generator=generator).astype(ts.float64).mean().item()
    assert abs(share - 0.3) < 5 * math.sqrt(0.21 / COUNT)
    assert not ts.bernoulli(0.0, (1000,)).any().item() and ts.bernoulli(1, (1000,)).all().item()
    p = ts.tensor([0.0, 1.0]).broadcast_to(500, 2)
    assert ts.bernoulli(p, generator=generator).tolist() == [[False, True]] * 500


def test_normal_takes_means_and_deviations() -> None:
    mean, std = ts.tensor([0.0, 100.0]), ts.tensor([[1.0], [0.0]])
    x = ts.normal(mean, std, generator=ts.Generator(1))
    assert x.shape == (2, 2) and x[1].tolist() == [0.0, 100.0] and abs(x[0, 1].item() - 100) < 6


@pytest.mark.parametrize("name", ["rand_like", "randn_like"])
def test_numbers_drawn_after_a_tensor_are_those_of_its_shape_and_dtype(name: str) -> None:
    x = ts.zeros(3, 4, dtype=ts.float64).T
    drawn = getattr(ts, name)(x, generator=ts.Generator(5))
    plain = getattr(ts, name.removesuffix("_like"))(4, 3, dtype=x.dtype, generator=ts.Generator(5))
    assert drawn.tolist() == plain.tolist()
    assert getattr(ts, name)(x, dtype=ts.float32, requires_grad=True).requires_grad


def test_integers_drawn_after_a_tensor_have_its_dtype() -> None:
    for dtype in (ts.uint8, ts.int64, ts.float16):
        drawn = ts.randint_like(ts.zeros(500, dtype=dtype), 3, 7)
        assert drawn.dtype is dtype and ts.unique(drawn).tolist() == [3, 4, 5, 6]
    assert ts.randint_like(ts.zeros(50), 1).tolist() == [0.0] * 50
    assert ts.randint_like(ts.zeros(2), 5, dtype=ts.int8).dtype is ts.int8


# --- errors ---------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "empty range": (lambda: ts.randint(3, 3, (2,)), ValueError, "randint: high is 3"),
    "range outside": (lambda: ts.randint(0, 300, (2,), dtype=ts.int8), ValueError,
        "299 does not fit int8"),
    "float bound": (lambda: ts.randint(0, 2.5, (2,)), TypeError,  # type: ignore[arg-type]
                    "high must be an integer, got float"),
    "float dtype": (lambda: ts.randint(0, 2, (2,), dtype=ts.float32), TypeError,
        "not defined for float32"),
    "integer uniform": (lambda: ts.rand(2, dtype=ts.int64), TypeError,
        "rand: not defined for int64"),
    "probability": (lambda: ts.bernoulli(1.5, (2,)), ValueError, "bernoulli: p is 1.5"),
    "nan": (lambda: ts.bernoulli(math.nan, (2,)), ValueError, "bernoulli: p is nan"),
    "generator": (lambda: ts.rand(2, generator=7), TypeError, "generator must be a ts.Generator"),  # type: ignore[call-overload]
    "seed": (lambda: ts.Generator(1 << 64), OverflowError, "seed is 18446744073709551616"),
    "float seed": (lambda: ts.manual_seed(1.5), TypeError, "seed must be an integer, got float"),  # type: ignore[arg-type]
    "negative count": (lambda: ts.randperm(-1), ValueError, "randperm: .*-1"),
    "memory": (lambda: ts.randn(1 << 50), MemoryError, "randn: needs"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_bad_arguments_say_what_is_wrong_and_draw_nothing(name: str) -> None:
    call, base, text = ERRORS[name]
    counter, live = random.default_generator.counter, _core.memory_counts()[0]
    with pytest.raises(base, match=text) as caught:
        call()
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert (random.default_generator.counter, _core.memory_counts()[0]) == (counter, live)


@pytest.mark.parametrize("seed", [0, -1, -(1 << 63), (1 << 64) - 1])
def test_seeds_are_words_of_64_bits(seed: int) -> None:
    assert ts.Generator(seed).seed == seed & ((1 << 64) - 1)


# --- into a tensor -------------------------------------------------------------------------------

FLOATS = [ts.float16, ts.bfloat16, ts.float32, ts.float64]


def test_drawing_into_a_tensor_gives_what_a_new_one_would_hold() -> None:
    for dtype in FLOATS:
        x = ts.zeros(4, 6, dtype=dtype)[:, ::-2].T
        assert x.normal_(2.0, 0.5, generator=ts.Generator(5)) is x
        assert_same_tensors(
            x.clone(), ts.normal(2.0, 0.5, (3, 4), dtype=dtype, generator=ts.Generator(5))
        )
        x.uniform_(generator=ts.Generator(5))
        assert_same_tensors(x.clone(), ts.rand(3, 4, dtype=dtype, generator=ts.Generator(5)))
        x.bernoulli_(0.3, generator=ts.Generator(5))
        want = ts.bernoulli(0.3, (3, 4), generator=ts.Generator(5))
        assert_same_tensors(x.clone(), want.astype(dtype))


torch_style: Any = ts.Tensor.uniform_  # whose keywords are no names of Python's


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform_stays_below_its_limit(dtype: DType) -> None:
    x = ts.zeros(20000, dtype=dtype).uniform_(1, 3)
    assert float(x.min()) >= 1 and float(x.max()) < 3 and abs(float(x.double().mean()) - 2) < 0.05
    assert ts.ones(3, dtype=dtype).uniform_(7, 7).tolist() == [7.0] * 3
    assert 4 <= float(torch_style(ts.zeros(3, dtype=dtype), **{"from": 4, "to": 5}).min()) < 5


@pytest.mark.parametrize("dtype", [d for d in ts.dtypes.DTYPES if not d.is_complex], ids=str)
def test_random_draws_every_integer_that_is_asked_for(dtype: DType) -> None:
    x = ts.zeros(500, dtype=dtype)
    assert set(listed(x.random_(2))) == {0, 1}
    if dtype is not ts.bool:
        assert set(listed(x.random_(3, 6))) == {3, 4, 5}
        top = 2 / ts.finfo(dtype).eps if dtype.is_floating else dtype.highest
        assert min(listed(x.random_())) >= 0 and top / 2 < max(listed(x)) <= top


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.normal_(0.0, -1.0), "normal_: std is -1.0"),
        (lambda x: x.uniform_(2, 1), "uniform_: high is 1.0"),
        (lambda x: x.random_(5, 5), "random_: high is 5"),
        (lambda x: x.bernoulli_(1.5), "bernoulli_: p is 1.5"),
        (lambda x: x.bernoulli_(ts.ones(4, 2)), "bernoulli_: the result has shape (4, 2)"),
        (lambda x: x.requires_grad_().normal_(), "normal_: x requires gradients"),
        (lambda x: x.broadcast_to(3, 2).uniform_(), "uniform_: x has elements that share"),
        (lambda x: x.normal_(out=x), "normal_: may give a view of its operand, and has no out="),
    ],
)
def test_failing_draw_leaves_the_tensor_and_the_generator(call: Any, text: str) -> None:
    x = ts.ones(2)
    before = random.default_generator.counter
    with pytest.raises(ts.errors.TessellaError) as caught:
        call(x)
    assert str(caught.value).startswith(text)
    assert x.detach().tolist() == [1.0, 1.0]
    assert random.default_generator.counter == before


# --- states --------------------------------------------------------------------------------------


def test_generators_go_on_from_a_state() -> None:
    one = ts.Generator(5)
    ts.rand(7, generator=one)
    state, words = one.state_dict(), one.get_state()
    want = ts.rand(7, generator=one).tolist()
    other = ts.Generator()
    other.load_state_dict(state)
    assert ts.rand(7, generator=other).tolist() == want
    assert ts.rand(7, generator=ts.Generator().set_state(words)).tolist() == want
    assert words.dtype is ts.uint8 and words.shape == (16,)


@pytest.mark.parametrize("state", [None, {}, {"seed": 1}, {"seed": 1, "counter": -1}, [1, 2],
                                   {"seed": 1 << 64, "counter": 0}, {"seed": True, "counter": 0},
                                   {"seed": 1, "counter": 0, "more": 0}], ids=repr)  # fmt: skip
def test_states_of_generators_are_checked(state: Any) -> None:
    generator = ts.Generator(3)
    with pytest.raises(ts.errors.TessellaError, match=r"Generator\.load_state_dict: "):
        generator.load_state_dict(state)
    with pytest.raises(ts.errors.ArgumentError, match="new_state must be what get_state gives"):
        generator.set_state(state)
    assert generator.state_dict() == {"seed": 3, "counter": 0}


def test_threads_that_draw_from_one_generator_draw_different_numbers() -> None:
    """Large draws let go of the interpreter's lock."""
    ts.manual_seed(0)
    rounds, gate = 6, threading.Barrier(4)
    found: list[tuple[float, ...]] = []

    def draw(kind: Callable[[], Any]) -> None:
        for _ in range(rounds):
            gate.wait()
            found.append(tuple(kind()[:4].tolist()))

    ones = ts.ones(200_000)
    for kind in (
        lambda: ts.rand(200_000),
        lambda: ts.randperm(200_000),
        lambda: ts.nn.functional.dropout(ones, 0.5, training=True).cumsum(0)[-100:],
    ):
        threads = [threading.Thread(target=draw, args=(kind,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(found)) == len(found) == 3 * 4 * rounds
