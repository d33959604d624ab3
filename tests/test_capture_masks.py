"""Functions that check or choose by values without reading them, compiled: the bits of eager.

Assignment by masks, one_hot, multinomial and their kin. What is refused by eager is refused at the
same call by a program, which has then written nothing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of
from tessella.nn import functional as F
from worlds import Wrap, attempt, same, some

Key = Callable[[ts.Tensor], Any]
Shape = tuple[int, ...]

# The shape of a mask, the key that it is part of, and shapes of values over (4, 3, 2) elements.
KEYS: dict[str, tuple[Shape, Key, list[Shape]]] = {
    "whole": ((4, 3, 2), lambda m: m, [(), (1,)]),
    "rows": ((4,), lambda m: m, [(), (2,), (3, 1), (1, 3, 2)]),
    "leading": ((4, 3), lambda m: m, [(), (1,), (2,), (1, 2)]),
    "inside": ((3,), lambda m: (slice(None), m), [(), (2,), (1, 2), (4, 1, 1), (4, 1, 2)]),
    "last": ((2,), lambda m: (..., m), [(), (1,), (3, 1), (4, 3, 1)]),
    "part": ((3, 2), lambda m: (slice(1, None, 2), m), [(), (1,), (2, 1)]),
    "all or nothing": ((), lambda m: (slice(2), m), [(), (2,), (2, 1, 3, 2)]),
    "empty": ((4, 0), lambda m: m, [(), (2,), (1, 2), (0, 2)]),
    "new axis": ((3,), lambda m: (None, slice(3), m, slice(1)), [(), (1,), (3, 1, 1)]),
}
CASES = [(name, value) for name, (_, _, values) in KEYS.items() for value in values]


def mask_of(i: int, shape: Shape) -> ts.Tensor:
    """Give a mask; nothing of the third is true, and all of the fourth."""
    return some(i, *shape) > (9.0 if i == 2 else -9.0 if i == 3 else 0.0)


@pytest.mark.parametrize(("name", "value"), CASES)
@pytest.mark.parametrize("dtype", [ts.float32, ts.int64])
def test_value_is_put_where_a_mask_is_true(name: str, value: Shape, dtype: Any) -> None:
    shape, key, _ = KEYS[name]

    def play(wrap: Wrap) -> Any:
        x = some(50, 4, 3, 2)

        def put(mask: ts.Tensor, v: ts.Tensor) -> None:
            x[key(mask)] = v

        call, states = wrap(put), []
        for i in range(6):
            call(mask_of(i, shape), (some(100 + i, *value) * 9).astype(dtype))
            states.append(x.clone())
        return states

    same(play)


@pytest.mark.parametrize("number", [7, -2.5, True])
def test_number_is_put_where_a_mask_is_true(number: Any) -> None:
    def play(wrap: Wrap) -> Any:
        x = some(50, 4, 3)

        def put(mask: ts.Tensor) -> None:
            x[mask] = number
            x[x > 1] = 0

        call, states = wrap(put), []
        for i in range(6):
            call(mask_of(i, (4, 3)))
            states.append(x.clone())
        return states

    same(play)


@pytest.mark.parametrize("counts", [False, True])
def test_items_are_put_one_after_the_other_if_there_are_as_many(counts: bool) -> None:
    def play(wrap: Wrap) -> Any:
        x, calls = ts.zeros(5, 2), ts.tensor(0)

        def put(mask: ts.Tensor, rows: ts.Tensor) -> None:
            if counts:
                calls.add_(1)  # so that the error comes from the program
            x[mask] = rows

        call, states = wrap(put), []
        for i in range(7):
            mask = ts.roll(ts.tensor([True, False, True, i == 5, False]), i)  # one more at i = 5
            states.append((attempt(call, mask, some(i, 2, 2)), x.clone()))
        states.append((attempt(call, ts.zeros(5, dtype=ts.bool), ts.zeros(0, 2)), x.clone()))
        return states

    same(play)


@pytest.mark.parametrize("value", [(), (2,), (1, 2), (2, 2)])
def test_gradients_flow_through_assignment_by_a_mask(value: Shape) -> None:
    def play(wrap: Wrap) -> Any:
        x, v = some(50, 4, 2).requires_grad_(), some(51, *value).requires_grad_()

        def step(mask: ts.Tensor, scale: ts.Tensor) -> ts.Tensor:
            x.grad = v.grad = None
            target = x * scale
            target[mask] = v.sin()
            loss = (target * target.exp() * scale).sum()
            loss.backward()
            return loss.detach()

        call, results = wrap(step), []
        for i in range(6):
            mask = ts.roll(ts.tensor([True, False, True, False]), i)
            results.append((call(mask, some(i, 4, 2)), grad_of(x).clone(), grad_of(v).clone()))
        return results

    same(play)


def test_gradient_of_assignment_by_a_mask_is_right() -> None:
    mask = ts.tensor([[True, False, True], [False, True, False]])

    def put(x: ts.Tensor, v: ts.Tensor) -> ts.Tensor:
        y = x * 2
        y[mask] = v
        return y * y

    x = some(0, 2, 3, dtype=ts.float64)
    for shape in [(), (1,), (3,)]:
        ts.testing.check_grads(put, [x, some(1, *shape, dtype=ts.float64)])


def test_count_that_is_wrong_is_explained() -> None:
    x = ts.zeros(4)

    @ts.compile
    def put(mask: ts.Tensor, v: ts.Tensor) -> None:
        x[mask] = v

    for i in range(3):
        put(ts.roll(ts.tensor([True, True, False, False]), i), ts.ones(2))
    for mask, count in [([True] * 3 + [False], 3), ([False] * 4, 0)]:
        with pytest.raises(ts.errors.BroadcastError) as caught:
            put(ts.tensor(mask), ts.ones(2))
        first = str(caught.value).splitlines()[0]
        assert first.startswith("setitem: ") and f"({count},)" in first


# --- functions -----------------------------------------------------------------------------------


def multinomial_again(x: ts.Tensor) -> ts.Tensor:
    return ts.multinomial(x.abs(), 6, replacement=True)


def multinomial_apart(x: ts.Tensor) -> ts.Tensor:
    return ts.multinomial(x.clip(0), 2)


def one_hot(x: ts.Tensor) -> ts.Tensor:
    return F.one_hot((x * 2 + 3).astype(ts.int64), 7)


def unravel(x: ts.Tensor) -> Any:
    return ts.unravel_index((x * 2 + 5).astype(ts.int64), (3, 4))


def masked_scatter(x: ts.Tensor) -> ts.Tensor:
    return ts.masked_scatter(x, x > 0.7, x[0])


def flat_sort(x: ts.Tensor) -> ts.Tensor:
    return ts.flat_sort(ts.where(x > 1, ts.nan, x), descending=True)


def histogram(x: ts.Tensor) -> Any:
    return ts.histogram(x, 5, range=(-1, 1), weights=x * x), ts.histc(x, 4, -1, 2)


def triangles(x: ts.Tensor) -> Any:
    pairs = [ts.tril_indices(3, 4, k) for k in (-4, -1, 0, 2, 9)]
    pairs += [ts.triu_indices(3, 4, k, dtype=ts.int32) for k in (-4, -1, 0, 2, 9)]
    return [x[pair[0], pair[1]] for pair in pairs]


FUNCTIONS = [multinomial_again, multinomial_apart, one_hot, unravel, masked_scatter, flat_sort,
             histogram, triangles]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("counts", [False, True])
def test_function_of_values_gives_and_refuses_what_eager_does(function: Any, counts: bool) -> None:
    def play(wrap: Wrap) -> Any:
        log, calls = ts.zeros(()), ts.tensor(0)

        def step(x: ts.Tensor) -> Any:
            if counts:
                calls.add_(1)  # so that the error comes from the program
            found = function(x)
            log.add_(x.sum())  # it is not reached where the values are refused
            return found

        call = wrap(step)
        given = [some(i, 3, 5) * (3 if i > 6 else 1) for i in range(12)]
        return [(attempt(call, x), log.clone(), calls.clone()) for x in given]

    same(play)


def test_refusals_of_values_are_explained_as_by_eager() -> None:
    def text_of(call: Callable[[], Any]) -> str:
        with pytest.raises(ts.errors.TessellaError) as caught:
            call()
        return str(caught.value).split("\n  at ")[0]

    calls: list[tuple[Any, Any, Any, str]] = [
        (lambda x: F.one_hot(x, 3), ts.tensor([0, 2]), ts.tensor([1, 5]), "index 5 is out of"),
        (lambda x: ts.multinomial(x, 2), ts.ones(3), -ts.ones(3), "x is 'not a weight everywhere'"),
        (lambda x: ts.multinomial(x, 2), ts.ones(3), ts.tensor([0.0, 1.0, 0.0]),
         "the number of positive weights is 1"),
        (lambda x: ts.unravel_index(x, (2, 3)), ts.arange(6), ts.arange(1, 7),
         "index 6 is out of bounds"),
        (lambda x: ts.masked_scatter(ts.zeros(3), x, ts.ones(2)), ts.arange(3) < 2,
         ts.arange(3) < 3, "source.size is 2"),
        (lambda x: ts.linalg.solve_triangular(x, x, upper=True), ts.eye(2), ts.zeros(2, 2),
         "a is singular"),
        (lambda x: ts.histogram(ts.ones(3), x), ts.arange(3), -ts.arange(3), "bins is"),
    ]  # fmt: skip
    for function, good, bad, what in calls:
        compiled = ts.compile(function)
        for _ in range(3):
            compiled(good)
        assert compiled.program is not None
        text = text_of(lambda: compiled(bad))  # noqa: B023
        assert what in text
        assert text == text_of(lambda: function(bad))  # noqa: B023
        assert text == text_of(lambda: ts.compile(function)(bad))  # noqa: B023


INSTEAD: dict[str, tuple[Callable[[ts.Tensor], Any], str, str]] = {
    "inv": (lambda x: ts.linalg.inv(x), "linalg.inv: what runs in NumPy cannot be part",
            "call it outside of the function, and pass what it gives"),
    "qr": (lambda x: ts.linalg.qr(x), "linalg.qr: what runs in NumPy cannot be part",
           "call it outside of the function, and pass what it gives"),
    "fft": (lambda x: ts.fft.fft(x), "fft.fft: what runs in NumPy cannot be part",
            "call it outside of the function, and pass what it gives"),
    "one_hot": (lambda x: F.one_hot(x.astype(ts.int64)), "one_hot without num_classes cannot",
                "one_hot(x, num_classes)"),
    "bincount": (lambda x: ts.bincount(x[0].astype(ts.int64)), "bincount: ", "scatter_add(0, x"),
    "unique": (lambda x: ts.unique(x), "unique: a result whose size depends on values",
               "call it outside of the function"),
    "allclose": (lambda x: ts.allclose(x, x), "allclose: ", "ts.isclose(x, y).all()"),
    "array_equal": (lambda x: ts.array_equal(x, x), "array_equal: ", "(x == y).all()"),
    "quantile": (lambda x: ts.quantile(x, x[0, 0]), "quantile: reading elements", "as a number"),
    "histc": (lambda x: ts.histc(x), "histc: ", "give min and max"),
    "histogram": (lambda x: ts.histogram(x), "histogram: ", "give the range, or edges"),
    "combinations": (lambda x: ts.combinations(x[0]), "combinations: ", "made outside"),
    "select": (lambda x: x[x > 0], "a result whose size depends on values", "where(mask, x, 0)"),
}  # fmt: skip


@pytest.mark.parametrize("name", INSTEAD)
def test_refusal_says_what_to_write_instead(name: str) -> None:
    function, what, cure = INSTEAD[name]
    with pytest.raises(ts.errors.CaptureError) as caught:
        ts.compile(function)(ts.eye(3))
    first, *_, hint = str(caught.value).splitlines()
    assert what in first
    assert hint.startswith("  hint: ") and cure in hint


@pytest.mark.parametrize(
    "code",
    [
        "x.index_copy_(0, ts.tensor(1), ts.ones(1, 3))",
        "ts.tril_indices(3, 3)",
        "ts.nn.functional.one_hot(ts.arange(3), 4)",
        "ts.kron(x, x)",
        "ts.nn.functional.gelu(x)",
    ],
)
def test_module_may_be_loaded_inside_of_a_compiled_function(code: str) -> None:
    program = f"""
import tessella as ts
x = ts.zeros(3, 3)
f = ts.compile(lambda: {code})
for _ in range(4):
    f()
assert f.program is not None
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_numpy_may_be_loaded_inside_of_a_compiled_function() -> None:
    program = """
import tessella as ts
def f(x):
    import numpy.typing as npt
    return x * len(str(npt.NDArray[int]))
g = ts.compile(f)
for _ in range(4):
    assert g(ts.ones(2)).tolist() == f(ts.ones(2)).tolist()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
