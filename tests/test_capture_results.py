"""Ways for a compiled function to be silently wrong: results, gradients, and what is refused."""

from __future__ import annotations

import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tessella as ts
from leaves import grad_of
from tessella import nn, optim
from tessella.errors import CaptureError
from worlds import Wrap, attempt, batch, network, same, some


class Pair(NamedTuple):
    """A result with names."""

    first: Any
    second: Any


def weights(i: int, *shape: int) -> ts.Tensor:
    return some(i, *shape).requires_grad_()


# --- results --------------------------------------------------------------------------------------


def test_results_that_are_kept_mutated_and_passed_back() -> None:
    def play(wrap: Wrap) -> Any:
        w, kept, mutated = some(1, 3), [], []
        call = wrap(lambda x: (x * w + 1).tanh())
        y = some(2, 3)
        for i in range(6):
            kept.append(call(some(i, 3)))
            mutated.append(call(some(i, 3)))
            mutated[-1].mul_(10)
            y = call(y)
            y = call(call(y))
        return kept, mutated, y, call(w), w

    same(play)


def test_views_of_results_are_kept() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x: x.exp())
        return [call(some(i, 4))[1:3] for i in range(8)]

    same(play)


def test_nested_results() -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor, k: int) -> Any:
            y = x * k
            return {"y": y, "n": [k, 0.5, None, "text", True], "p": Pair((x + 1, [y]), {}), 3: ()}

        call = wrap(f)
        results = [call(some(i, 3), i // 4) for i in range(8)]
        results[0]["n"].append("mine")
        results[-1]["n"].clear()
        return results, call(some(1, 3), 0), call(some(1, 3), 1)

    same(play)


class Tagged(dict[str, Any]):
    """A dict without anything else."""

    __slots__ = ()


def test_dicts_of_other_classes_keep_their_class() -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor, k: Any) -> Any:
            out = OrderedDict(b=x * 2, a=OrderedDict(c=x + 1))
            counts = defaultdict(list, {"x": x - len(k), "y": [type(k).__name__]})
            return out, counts, Tagged(k, y=-x)

        call, results = wrap(f), []
        for i in range(12):
            k = [{"k": 1}, OrderedDict(k=1), Tagged(k=1), {"k": True}][i // 3]
            out, counts, tagged = call(some(i, 3), k)
            out.move_to_end("b")
            counts["new"].append(i)
            results.append((out, counts, counts.default_factory, tagged))
        return results

    same(play)


def test_a_container_that_changes_its_class() -> None:
    def play(wrap: Wrap) -> Any:
        kinds: list[Any] = [tuple, Pair._make, list]
        call = wrap(lambda x: kinds[0]([x, x + 1]))
        seen = []
        for i in range(12):
            seen.append(call(some(i, 3)))
            if i % 4 == 3:
                kinds.append(kinds.pop(0))
        return seen

    same(play)


def test_dicts_that_keep_more_than_their_items_are_refused() -> None:
    class Output(dict[str, Any]):
        def __init__(self, **items: Any) -> None:
            super().__init__(**items)
            self.__dict__.update(items)

    call = ts.compile(lambda x: Output(y=x * 2))
    with pytest.raises(CaptureError, match="a dict of a class that keeps more than its items"):
        call(ts.ones(3))


@pytest.mark.parametrize("value", [None, 3, 2.5, "text", (), [1, 2]], ids=repr)
def test_results_without_tensors(value: Any) -> None:
    def play(wrap: Wrap) -> Any:
        total = ts.zeros(3)

        def f(x: ts.Tensor) -> Any:
            total.add_(x)
            return value

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)], total

    same(play)


def test_results_that_are_arguments_or_captured() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = some(1, 3), []

        def f(x: ts.Tensor, y: ts.Tensor) -> Any:
            z = x * y
            return x, w, z, z, y.add_(1)

        call = wrap(f)
        for i in range(6):
            x, y = some(i, 3), some(i + 9, 3)
            out = call(x, y)
            places = [x, w, out[2], out[2], y]
            seen.append([a is b for a, b in zip(out, places, strict=True)])
            assert seen[0] == [True] * 5
            swapped = call(x, x)
            seen.append([a is b for a in swapped for b in (x, w, swapped[2])])
        return seen

    same(play)


SHARING: dict[str, Callable[[ts.Tensor, ts.Tensor], Any]] = {
    "views of an argument": lambda x, w: (x[1:], x.T, x.reshape(6), x.detach()),
    "views of a captured tensor": lambda x, w: (w[1], w.T, w.detach()),
    "a view of what is not returned": lambda x, w: (x * w).exp()[0],
    "a tensor and its view": lambda x, w: [(y, y[0]) for y in [x.exp()]],
    "two views": lambda x, w: [(y[0], y.T, y[:, 1:]) for y in [x.exp()]],
    "a tensor detached": lambda x, w: [(y, y.detach()) for y in [x.exp()]],
    "a tensor twice": lambda x, w: [y for y in [x.exp()] for _ in range(2)],
}


def tensors(out: Any) -> list[ts.Tensor]:
    return [out] if isinstance(out, ts.Tensor) else [x for part in out for x in tensors(part)]


@pytest.mark.parametrize("label", SHARING)
def test_results_that_share_memory(label: str) -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = ts.ones(2, 3), []
        call = wrap(lambda x: SHARING[label](x, w))
        for i in range(6):
            x = some(i, 2, 3)
            out = call(x)
            for k, part in enumerate(tensors(out)):
                part.mul_(k + 2)
                part.add_(1)
            seen.append((x, out))
        return seen, w

    same(play)


def test_arguments_in_containers() -> None:
    def play(wrap: Wrap) -> Any:
        def f(parts: dict[str, Any], *more: Any, flip: bool = False) -> Any:
            y = parts["a"] * parts["b"][0] + parts["b"][1]
            y = y + more[0].first if more else y
            return -y if flip else y

        call, results = wrap(f), []
        for i in range(4):
            parts = {"a": some(i, 3), "b": [some(i + 9, 3), 2.0 if i else 3.0]}
            pair = Pair(some(i + 20, 3), None)
            results += [call(parts), call(parts, pair), call(parts, pair, flip=True)]
            results.append(call({"b": parts["b"], "a": parts["a"]}))
        return results

    same(play)


# --- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("clear", ["none", "zeros", "never", "outside", "one"])
def test_gradients_are_left_as_eager_leaves_them(clear: str) -> None:
    def play(wrap: Wrap) -> Any:
        model, held = network(), []
        parameters = list(model.parameters())

        def f(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
            if clear in ("none", "zeros"):
                model.zero_grad(set_to_none=clear == "none")
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            return loss

        call, losses = wrap(f), []
        for i in range(8):
            losses.append(call(*batch(i)))
            held.append([p.grad for p in parameters])
            for p in parameters if clear == "outside" and i % 3 == 1 else []:
                p.grad = None
            if clear == "one" and i % 2:
                parameters[1].grad = None
        same_ones = [
            a is b
            for one, other in itertools.pairwise(held)
            for a, b in zip(one, other, strict=True)
        ]
        again = attempt(losses[-1].backward)
        return losses, held, same_ones, again, model

    same(play)


def test_a_training_step_with_clipping_and_all_its_results() -> None:
    def play(wrap: Wrap) -> Any:
        model = network(nn.Dropout(0.5), nn.BatchNorm1d(4))
        optimizer = optim.AdamW(model.parameters(), lr=0.1)

        def step(x: ts.Tensor, y: ts.Tensor) -> Any:
            optimizer.zero_grad()
            out = model(x)
            loss = ((out - y) ** 2).mean()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            return loss, out, norm

        call = wrap(step)
        return [call(*batch(i)) for i in range(8)], model, optimizer

    same(play)


@pytest.mark.parametrize("clear", [False, True])
def test_gradients_that_are_results(clear: bool) -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []

        def f(x: ts.Tensor) -> Any:
            w.grad = None if clear else w.grad
            (x * w).exp().sum().backward()
            return w.grad

        call = wrap(f)
        for i in range(6):
            seen.append((call(some(i, 3)), w.grad))
            assert seen[-1][0] is seen[-1][1]
        return seen

    same(play)


def test_gradients_of_arguments_and_captured_tensors() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []
        call = wrap(lambda x, y: ((x * w).exp() * y, x + y))
        for i in range(15):
            x, y = weights(i, 3), some(i + 30, 3).requires_grad_(i % 5 < 2)
            a, b = call(x, y)
            ((a * 2).sum() + b.sum() if i % 3 else a.sum()).backward()
            seen.append((a, b, x, y))
            if i == 7:
                w.grad = None
        return seen, w

    same(play)


def test_two_forwards_before_a_backward() -> None:
    def play(wrap: Wrap) -> Any:
        w, seen = weights(1, 3), []
        call = wrap(lambda x: (x * w).exp() * w)
        for i in range(6):
            one, two = call(some(i, 3)), call(some(i + 50, 3))
            three = call(two * one)
            two.sum().backward(retain_graph=True)
            (one.sum() + three.sum()).backward()
            seen.append((one, two, three, grad_of(w).clone()))
        return seen, w

    same(play)


def test_a_backward_much_later_again_and_after_a_write() -> None:
    def play(wrap: Wrap) -> Any:
        w, v = weights(1, 3), weights(2, 3)
        call = wrap(lambda x: ((x * w).exp() * v).sum())
        early = [call(some(i, 3)) for i in range(6)]
        seen = [attempt(loss.backward) for loss in early]
        seen += [attempt(loss.backward) for loss in early]
        for i in range(6):
            x = some(i, 3)
            loss = call(x)
            with ts.no_grad():
                [x, v, w][i % 3].mul_(2)
            seen.append(attempt(loss.backward))
        return seen, early, w, v

    same(play)


def test_second_derivatives() -> None:
    def play(wrap: Wrap) -> Any:
        call, seen = wrap(lambda x: (x**3).sum()), []
        for i in range(6):
            x = weights(i, 3)
            (slope,) = ts.autograd.grad(call(x), [x], create_graph=True)
            seen.append((slope, ts.autograd.grad(slope.sum(), [x])))
        return seen

    same(play, may_refuse=True)


def test_gradients_taken_inside() -> None:
    def play(wrap: Wrap) -> Any:
        w = weights(1, 3)

        def f(x: ts.Tensor) -> Any:
            inner = x.detach().clone().requires_grad_()
            return ts.autograd.grad((inner**2 * w).sum(), [inner, w])

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)], w

    same(play)


def test_modes_of_gradients_in_turn() -> None:
    def play(wrap: Wrap) -> Any:
        w, results = weights(1, 3), []

        def f(x: ts.Tensor) -> Any:
            with ts.no_grad():
                y = x * w
            with ts.enable_grad():
                return y, x * w + y, w.detach() * x, ts.is_grad_enabled()

        call, plain = wrap(f), wrap(lambda x: (x * w, ts.is_grad_enabled()))
        for i in range(16):
            with ts.set_grad_enabled(i // 4 % 2 == 0):
                results += [call(some(i, 3)), plain(some(i, 3))]
            w.requires_grad_(i < 12)
        return results

    same(play)


# --- refusals -------------------------------------------------------------------------------------


def reads() -> list[Callable[[ts.Tensor], Any]]:
    """Give functions that need a value, each with the reading one line below its name."""

    def item(x: ts.Tensor) -> Any:
        return x * x.sum().item()

    def branch(x: ts.Tensor) -> Any:
        return x if x.sum() > 0 else -x

    def number(x: ts.Tensor) -> Any:
        return x * float(x[0]) + int(x[1])

    def lists(x: ts.Tensor) -> Any:
        return x * max(x.tolist())  # type: ignore[arg-type, operator, type-var]

    def array(x: ts.Tensor) -> Any:
        return x * float(x.numpy()[0])

    def mask(x: ts.Tensor) -> Any:
        return x[x > 0]

    def nonzero(x: ts.Tensor) -> Any:
        return ts.nonzero(x > 0)[0]

    def unique(x: ts.Tensor) -> Any:
        return ts.unique_values(x)

    def text(x: ts.Tensor) -> Any:
        return x * len(f"{x}")

    def loop(x: ts.Tensor) -> Any:
        return x * sum(range(x.astype(ts.int64)[0]))

    def buffer(x: ts.Tensor) -> Any:
        return x * memoryview(x)[0]

    def made(x: ts.Tensor) -> Any:
        return x * ts.rand(1).item()

    return [item, branch, number, lists, array, mask, nonzero, unique, text, loop, buffer, made]


@pytest.mark.parametrize("function", reads(), ids=lambda f: f.__name__)
def test_reading_a_value_is_refused_with_the_line_and_the_way_out(function: Any) -> None:
    call = ts.compile(function)
    with pytest.raises(CaptureError) as caught:
        for i in range(5):
            call(ts.tensor([1.0 + i, 2.0 + i, 3.0 + i]))
    line = function.__code__.co_firstlineno + 1
    assert f"at test_capture_results.py:{line}: " in str(caught.value)
    assert "\n  hint: " in str(caught.value)


def test_a_refusal_leaves_everything_usable() -> None:
    def reading(x: ts.Tensor) -> Any:
        with ts.no_grad():
            return x.sum().item()

    broken, sound = ts.compile(reading), ts.compile(lambda x: x * 2)
    for i in range(6):
        with pytest.raises(CaptureError):
            broken(some(i, 3))
        assert ts.is_grad_enabled() and some(i, 3).sum().item() == some(i, 3).sum().item()
        assert sound(some(i, 3)).tolist() == (some(i, 3) * 2).tolist()


def test_a_value_read_before_and_after_the_call() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x, k: x * k)
        return [call(some(i, 3), round(some(i // 4, 1).item(), 2)).tolist() for i in range(8)]

    same(play)
