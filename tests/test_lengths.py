"""Positions and lengths that are tensors: writes into fixed buffers, attention over a part of them.

A growing sequence is one compiled program: what grows is a value, and nothing reads it in Python.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of
from nested import listed
from tessella import nn
from tessella.nn import functional as F
from tessella.testing import assert_close, check_grads
from worlds import Wrap, attempt, same, some

attend: Any = F.scaled_dot_product_attention
RUNS: list[None] = []
# Unseen by whatever watches the function: an event of the interpreter, which a hook counts.
sys.addaudithook(lambda event, _: RUNS.append(None) if event == "tests.decoded" else None)


# --- writes --------------------------------------------------------------------------------------


def set_first(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[at] = row[0]


def set_second(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[:, at] = row[:, 0, None] if at.ndim else row[:, 0]


def set_last(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[..., at] = row[0, 0]


def set_two(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[0, at] = row[0, 0]


def set_both(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[at, at] = row[0, 0]


def set_number(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[at, ::2] = 7


def set_several(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x[at.reshape(-1)[0] + ts.arange(2)] = row[:2]


def copy_index(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x.index_copy_(0, at.reshape(-1), row[:1])


def add_index(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x.index_add_(1, at.reshape(-1), row[:, :1])


def scatter(x: ts.Tensor, at: ts.Tensor, row: ts.Tensor) -> None:
    x.scatter_(0, at.reshape(1, 1).expand(1, 4), row[:1])


WRITES = [set_first, set_second, set_last, set_two, set_both, set_number, set_several, copy_index,
          add_index, scatter]  # fmt: skip


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("dtype", [ts.int64, ts.int32])
def test_write_at_a_position_follows_its_value(
    write: Callable[..., None], shape: tuple[int, ...], dtype: Any
) -> None:
    def play(wrap: Wrap) -> Any:
        x = ts.zeros(4, 4)
        call = wrap(lambda at, row: write(x, at, row))
        states = []
        # The last two are outside: nothing is written. A negative one counts from the end.
        for i, position in enumerate([0, 1, 2, 0, -1, 1, 2, 9, -5]):
            at = ts.full(shape, position, dtype=dtype)
            states.append((attempt(call, at, some(i, 4, 4)), x.clone()))
        return states

    same(play)


@pytest.mark.parametrize("write", [set_first, set_last, set_several, copy_index, scatter])
def test_write_at_a_position_moves_no_more_than_what_is_written(write: Callable[..., None]) -> None:
    x = ts.zeros(4, 4)
    call = ts.compile(lambda at, row: write(x, at, row))
    for i in range(3):
        call(ts.tensor(i), some(i, 4, 4))
    assert call.program is not None
    written = [each.name for each in call.program.instructions for out in each.writes()
               if out.shape == (4, 4) and each.name != "scatter"]  # fmt: skip
    assert not written


@pytest.mark.parametrize("write", [set_first, set_second, set_several, copy_index])
def test_gradients_flow_through_a_write_at_a_position(write: Callable[..., None]) -> None:
    def play(wrap: Wrap) -> Any:
        w, x = some(90, 4, 4).requires_grad_(), some(91, 4, 4).requires_grad_()

        def step(at: ts.Tensor, scale: ts.Tensor) -> ts.Tensor:
            w.grad = x.grad = None
            buffer = x * scale
            write(buffer, at, w.sin())
            loss = (buffer * buffer * scale).sum()
            loss.backward()
            return loss.detach()

        call = wrap(step)
        results = []
        for i in range(6):
            loss = call(ts.tensor(i % 3), some(i, 4, 4))
            results.append((loss, grad_of(w).clone(), grad_of(x).clone()))
        return results

    same(play)


def test_position_outside_is_explained_and_nothing_is_written() -> None:
    cache = ts.zeros(4, 2)

    @ts.compile
    def append(at: ts.Tensor, row: ts.Tensor) -> None:
        cache[at] = row

    for i in range(4):
        append(ts.tensor(i), ts.full((2,), i + 1.0))
    before = cache.tolist()
    with pytest.raises(ts.errors.IndexOutOfBounds) as caught:
        append(ts.tensor(4), ts.ones(2))
    lines = str(caught.value).splitlines()
    assert lines[0] == "setitem: index 4 is out of bounds for axis 0 of size 4"
    assert lines[1:4] == ["    x      float32 (4, 2)", "    key    int64 ()",
                          "    value  float32 (2,)"]  # fmt: skip
    assert "cache[at] = row" in lines[4]
    assert lines[5] == "  hint: valid indices run from -4 to 3"
    assert cache.tolist() == before
    assert append.program is not None


def test_position_outside_is_named_where_something_was_written_before() -> None:
    cache, count = ts.zeros(4, 2), ts.tensor(0)

    @ts.compile
    def append(row: ts.Tensor) -> None:
        count.add_(1)
        cache[count - 1] = row

    for i in range(4):
        append(ts.full((2,), i + 1.0))
    before = cache.tolist()
    with pytest.raises(ts.errors.IndexOutOfBounds) as caught:
        append(ts.ones(2))
    first, *operands, call, line, hint = str(caught.value).splitlines()
    assert first == "index 4 is out of bounds for axis 0 of size 4"
    assert operands == ["    intermediate       int64 ()", "    into intermediate  int64 ()"]
    assert call.endswith(": append(ts.ones(2))") and line.endswith(": cache[count - 1] = row")
    assert hint == "  hint: valid indices run from -4 to 3"
    assert cache.tolist() == before and count.item() == 5  # as eager leaves it


def test_slices_between_tensors_are_refused_with_what_to_write_instead() -> None:
    cache = ts.zeros(4, 2)
    tries: list[Callable[[ts.Tensor], Any]] = [
        lambda at: cache[at : at + 1], lambda at: cache[at], lambda at: list(range(at)),
    ]  # fmt: skip
    for read in tries:
        with pytest.raises(ts.errors.CaptureError) as caught:
            ts.compile(read)(ts.tensor(1))
        text = str(caught.value)
        assert "reading an integer for Python cannot be part of a compiled function" in text
        assert "x[i + ts.arange(n)] for the n rows from i on" in text
        assert "ts.take(x, i, axis=0) for one" in text and "ts.arange(size) < n" in text


# --- attention -----------------------------------------------------------------------------------


def cut(q: ts.Tensor, k: ts.Tensor, v: ts.Tensor, n: int, is_causal: bool) -> ts.Tensor:
    """Attention over the first n places, by views."""
    t = q.shape[-2]
    mask = ts.arange(n) < (ts.arange(t) + (n - t + 1)).unsqueeze(-1) if is_causal else None
    out: ts.Tensor = attend(q, k[..., :n, :], v[..., :n, :], mask)
    return out


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16])
def test_attention_to_a_length_is_attention_to_a_view(is_causal: bool, dtype: Any) -> None:
    q, k, v = (some(i, 2, 3, n, 4).astype(dtype) for i, n in enumerate((2, 6, 6)))
    for n in range(7):
        found = attend(q, k, v, is_causal=is_causal, lengths=ts.tensor(n))
        wanted = cut(q, k, v, n, is_causal) if n else ts.zeros(2, 3, 2, 4, dtype=dtype)
        assert_close(found, wanted)
    lengths = ts.tensor([5, 2])
    both = attend(q, k, v, is_causal=is_causal, lengths=lengths)
    for row, n in enumerate(listed(lengths)):
        assert_close(both[row], cut(q[row], k[row], v[row], n, is_causal))


def test_attention_to_a_length_does_not_see_what_lies_behind() -> None:
    q, k, v = some(0, 2, 1, 4), some(1, 2, 6, 4), some(2, 2, 6, 4)
    lengths = ts.tensor([3, 0])
    wanted = attend(q, k, v, lengths=lengths)
    assert wanted[1].tolist() == [[0.0] * 4]
    for junk in (math.nan, math.inf, 1e30):
        leaves = [x.clone() for x in (q, k, v)]
        for x in leaves[1:]:
            x[0, 3:] = junk
            x[1] = junk
        assert attend(*leaves, lengths=lengths).tolist() == wanted.tolist()
        for x in leaves:
            x.requires_grad_()
        attend(*leaves, is_causal=True, lengths=lengths).square().sum().backward()
        for x in leaves:
            assert bool(grad_of(x).isfinite().all())
        for x in leaves[1:]:
            assert not grad_of(x)[0, 3:].any() and not grad_of(x)[1].any()


def test_attention_to_lengths_has_gradients() -> None:
    q, k, v = (some(i, 2, n, 3, dtype=ts.float64) for i, n in enumerate((2, 5, 5)))
    lengths = ts.tensor([4, 2])
    mask = some(5, 2, 5, dtype=ts.float64)
    check_grads(lambda q, k, v: attend(q, k, v, is_causal=True, lengths=lengths), [q, k, v])
    check_grads(lambda q, k, v, m: attend(q, k, v, m, lengths=lengths), [q, k, v, mask])


def test_length_of_attention_is_checked_at_each_call() -> None:
    call = ts.compile(lambda q, k, n: attend(q, k, k, lengths=n))
    q, k = some(0, 1, 4), some(1, 5, 4)
    for n in range(4):
        call(q, k, ts.tensor(n))
    with pytest.raises(ts.errors.IndexOutOfBounds) as caught:
        call(q, k, ts.tensor(6))
    lines = str(caught.value).splitlines()
    start = "scaled_dot_product_attention: a length is 6, of 5 places of key and value"
    assert lines[0] == start
    assert "it must be from 0 to 5" in lines[-1]


@pytest.mark.parametrize("is_causal", [False, True])
def test_compiled_attention_to_lengths_has_the_bits_of_eager(is_causal: bool) -> None:
    def play(wrap: Wrap) -> Any:
        w = some(70, 4, 4).requires_grad_()

        def step(q: ts.Tensor, k: ts.Tensor, v: ts.Tensor, n: ts.Tensor) -> Any:
            w.grad = None
            out = attend(q @ w, k @ w, v, is_causal=is_causal, lengths=n)
            loss = out.square().sum()
            loss.backward()
            return out.detach(), loss.detach()

        call = wrap(step)
        results = []
        for i in range(7):
            n = ts.tensor([i % 6, (2 * i + 1) % 6])
            given = [some(10 * i + j, 2, 3, size, 4) for j, size in enumerate((2, 5, 5))]
            results.append((call(*given, n), grad_of(w).clone()))
        return results

    same(play)


# --- decoding ------------------------------------------------------------------------------------


class Decoder(nn.Module):
    """One block of attention over a cache, whose length is a tensor."""

    def __init__(self, letters: int, room: int, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(room, width)
        self.qkv, self.head = nn.Linear(width, 3 * width), nn.Linear(width, letters)
        self.register_buffer("keys", ts.zeros(1, heads, room, width // heads))
        self.register_buffer("values", ts.zeros(1, heads, room, width // heads))
        self.register_buffer("length", ts.tensor(0))

    def project(self, ids: ts.Tensor, places: ts.Tensor) -> Any:
        x = self.letters(ids) + self.places(places)
        parts = self.qkv(x).reshape(1, ids.shape[1], 3, self.heads, -1)
        return parts.permute(2, 0, 3, 1, 4)  # each (1, H, T, D)

    def finish(self, y: ts.Tensor) -> Any:
        return self.head(y.transpose(1, 2).flatten(2))

    def whole(self, ids: ts.Tensor) -> Any:
        q, k, v = self.project(ids, ts.arange(ids.shape[1]))
        return self.finish(attend(q, k, v, is_causal=True))

    @ts.no_grad()
    def step(self, ids: ts.Tensor) -> Any:
        """Append letters (1, T) to the cache, and give the logits after each."""
        sys.audit("tests.decoded")
        places = self.length + ts.arange(ids.shape[1])
        q, k, v = self.project(ids, places)
        self.keys[:, :, places] = k
        self.values[:, :, places] = v
        self.length += ids.shape[1]
        return self.finish(attend(q, self.keys, self.values, is_causal=True, lengths=self.length))

    @ts.no_grad()
    def choose(self, ids: ts.Tensor) -> Any:
        """Append one letter (1, 1), and draw the next."""
        return ts.multinomial(F.softmax(self.step(ids)[:, -1], axis=-1), 1)


def test_decoding_is_one_program_and_gives_what_the_whole_sequence_gives() -> None:
    ts.manual_seed(0)
    model = Decoder(letters=5, room=9)
    ids = ts.randint(0, 5, (1, 9))
    wanted = model.whole(ids)
    step = ts.compile(model.step)
    RUNS.clear()
    start = step(ids[:, :3])  # the prompt has a program of its own, if it comes twice
    rows = [start] + [step(ids[:, i : i + 1].clone()) for i in range(3, 9)]
    assert len(RUNS) == 1 + 2
    assert model.length.item() == 9
    assert_close(ts.concat(rows, axis=1), wanted)
    before = model.keys.tolist()
    with pytest.raises(ts.errors.IndexOutOfBounds):
        step(ids[:, :1])
    assert model.keys.tolist() == before and model.length.item() == 9


def test_plan_of_decoding_looks_at_no_position_and_moves_none() -> None:
    model = Decoder(letters=5, room=2)
    choose, letter = ts.compile(model.choose), ts.tensor([[1]])
    model.length.fill_(9)  # outside: it would raise if it were looked at
    found = choose.plan(letter)
    assert model.length.item() == 9 and not model.keys.any()
    model.length.fill_(0)
    for _ in range(2):
        choose(letter)
    assert found.rows == choose.memory().rows


class Ring:
    """A plain object with a buffer and a position, written over and over."""

    def __init__(self) -> None:
        self.buffer, self.at = ts.zeros(4), ts.tensor(0)

    def push(self, x: ts.Tensor) -> ts.Tensor:
        sys.audit("tests.decoded")
        self.buffer[self.at % 4] = x
        self.at += 1
        return self.buffer.mean()


def test_position_that_is_counted_by_an_attribute_is_one_program() -> None:
    def play(wrap: Wrap) -> Any:
        ring = Ring()
        push = wrap(ring.push)
        RUNS.clear()
        means = [push(some(i)) for i in range(10)]
        assert len(RUNS) == (2 if wrap is ts.compile else 10)
        return means, ring.buffer, ring.at

    same(play)


def test_drawn_letters_are_those_of_eager() -> None:
    def play(wrap: Wrap) -> Any:
        model = Decoder(letters=5, room=9)
        choose = wrap(model.choose)
        letter, drawn = ts.zeros(1, 1, dtype=ts.int64), []
        for _ in range(9):
            letter = choose(letter)
            drawn.append(letter.clone())
        return drawn, model

    same(play)


def test_decoding_begins_again_when_the_length_is_set() -> None:
    def play(wrap: Wrap) -> Any:
        model = Decoder(letters=5, room=4)
        step = wrap(model.step)
        rows = []
        for i in range(8):
            if i == 4:
                model.length.fill_(0)
            rows.append(step(ts.tensor([[i % 5]])))
        return rows, model

    same(play)
