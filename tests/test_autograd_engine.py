"""The engine: long chains, wide fans, diamonds; each node once, in order; memory as it goes."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, leaf, slopes
from tessella import _core
from tessella.autograd import Function, grad

LONG = 1_000_000


# --- long and wide -------------------------------------------------------------------------------


def chain(x: ts.Tensor, n: int) -> ts.Tensor:
    """Add 1 many times over."""
    for _ in range(n):
        x = x + 1.0
    return x


def test_a_chain_of_a_million_operations_is_differentiated(live: int) -> None:
    x = leaf(1)
    out = chain(x, LONG)
    assert out.item() == LONG + 1
    out.backward()
    assert slopes(x) == [1.0]
    del out, x
    assert _core.memory_counts()[0] <= live


def test_a_chain_of_a_million_operations_is_dropped_unused(live: int) -> None:
    x = leaf(1)
    out = chain(x, LONG)
    del out
    assert x.grad is None
    del x
    assert _core.memory_counts()[0] <= live


def test_a_chain_that_saves_is_differentiated_and_dropped(live: int) -> None:
    x = leaf(1)
    out = x
    for _ in range(LONG // 5):
        out = out * x
    (g,) = grad(out, x, retain_graph=True)
    assert g.tolist() == [LONG // 5 + 1.0]
    del g, out, x
    assert _core.memory_counts()[0] <= live


def test_a_chain_of_views_is_differentiated() -> None:
    x = leaf(1, 2)
    out = x
    for _ in range(100_000):
        out = out[::-1]
    out[0].backward()
    assert slopes(x) == [1.0, 0.0]


def test_a_chain_of_writes_is_differentiated() -> None:
    x = leaf(1, 2)
    h = x * 1
    for _ in range(100_000):
        h.add_(1)
    h.sum().backward()
    assert slopes(x) == [1.0, 1.0]


def test_a_chain_of_functions_is_differentiated_and_dropped() -> None:
    class Next(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x + 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return g

    x = leaf(1)
    out = x
    for _ in range(50_000):
        out = Next.apply(out)
    out.backward()
    assert slopes(x) == [1.0]
    out = x
    for _ in range(50_000):
        out = Next.apply(out)
    del out


def test_a_chain_is_dropped_on_a_small_stack() -> None:
    """Freeing must not recurse: a thread has much less stack than the process."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            x = leaf(1)
            out = chain(x, 200_000)
            out.backward()
            assert slopes(x) == [1.0]
            out = chain(x, 200_000)
            del out
        except BaseException as error:
            failures.append(error)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert not failures


def test_a_fan_of_ten_thousand_is_joined() -> None:
    x = leaf(1, 2)
    out = ts.stack([x * float(i) for i in range(10_000)]).sum()
    out.backward()
    total = float(sum(range(10_000)))
    assert slopes(x) == [total, total]


def test_a_fan_added_up_one_by_one() -> None:
    x = leaf(1)
    total = x * 0.0
    for i in range(10_000):
        total = total + x * float(i)
    total.backward()
    assert slopes(x) == [float(sum(range(10_000)))]


def test_ten_thousand_leaves() -> None:
    leaves = [leaf(float(i)) for i in range(10_000)]
    (ts.concat(leaves) * 2).sum().backward()
    assert all(slopes(x) == [2.0] for x in leaves)


def test_a_lattice_of_diamonds_takes_time_in_proportion() -> None:
    """2 ** 2000 paths, 2000 nodes: each is visited once."""
    x = leaf(1)
    h = x
    for _ in range(2000):
        h = h + h
        h = h * 0.5
    start = time.perf_counter()
    h.backward()
    assert slopes(x) == [1.0] and time.perf_counter() - start < 5


# --- each node once, in order --------------------------------------------------------------------


class Seen(Function):
    """Passes gradients on, and writes down when."""

    order: list[tuple[str, Any]] = []

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, name: str) -> ts.Tensor:
        ctx.name = name
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> Any:
        Seen.order.append((ctx.name, g.tolist()))
        return g, None


@pytest.fixture(autouse=True)
def forget() -> None:
    """Begin each test with nothing seen."""
    Seen.order = []


def test_a_diamond_merges_before_it_goes_on() -> None:
    x = leaf(1)
    top = Seen.apply(x, "top")
    left, right = Seen.apply(top * 2, "left"), Seen.apply(top * 3, "right")
    Seen.apply(left * right, "end").backward()
    assert Seen.order == [("end", [1.0]), ("right", [2.0]), ("left", [3.0]), ("top", [12.0])]
    assert slopes(x) == [12.0]


def test_a_short_path_waits_for_the_long_one() -> None:
    x = leaf(1)
    h = Seen.apply(x, "h")
    far = h
    for _ in range(10):
        far = far * 1.0
    (far + h).backward()
    assert Seen.order == [("h", [2.0])]


def test_nodes_are_visited_in_the_reverse_of_their_recording() -> None:
    x, y = leaf(1), leaf(2)
    a = Seen.apply(x, "a")
    b = Seen.apply(y, "b")
    c = Seen.apply(x, "c")
    (b + c + a).backward()
    assert [name for name, _ in Seen.order] == ["c", "b", "a"]


def test_sequence_numbers_grow() -> None:
    x = leaf(1)
    a = x * 2
    b = a * 3
    first, second = a.grad_fn, b.grad_fn
    assert first is not None and second is not None
    assert second.sequence > first.sequence and second.inputs[0] is first


def test_parts_that_lead_nowhere_are_not_visited() -> None:
    x, c = leaf(1), ts.ones(1, dtype=ts.float64)
    used, unused = Seen.apply(x, "used"), Seen.apply(x, "unused")
    (used * c).backward()
    assert [name for name, _ in Seen.order] == ["used"]
    assert unused.requires_grad


def test_leaves_shared_by_many_paths_accumulate() -> None:
    w, x = leaf(3), leaf(2)
    out = ((w * x) * w + w).sum()
    out.backward()
    assert slopes(w) == [2 * 3 * 2.0 + 1] and slopes(x) == [9.0]


def test_one_operand_twice() -> None:
    x = leaf(3)
    (x * x).backward()
    assert slopes(x) == [6.0]
    m = ts.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=ts.float64, requires_grad=True)
    (m @ m).sum().backward()
    assert slopes(m) == [[7.0, 11.0], [9.0, 13.0]]
    y = leaf(1)
    ts.concat([y, y, y]).sum().backward()
    assert slopes(y) == [3.0]


def test_views_of_leaves() -> None:
    x = leaf(1, 2, 3, 4)
    v = x.view(2, 2)
    (v[0] * v[:, 1] + v.T[1][::-1]).sum().backward()
    # v[0] * v[:, 1] = (x0 x1, x1 x3); v.T[1] = (x1, x3)
    assert slopes(x) == [2.0, 1.0 + 4.0 + 1.0, 0.0, 2.0 + 1.0]


def test_broadcast_views_of_leaves_sum() -> None:
    x = leaf(1, 2)
    (ts.broadcast_to(x, (5, 2)) * 2).sum().backward()
    assert slopes(x) == [10.0, 10.0]


def test_strided_leaves_have_gradients_of_their_shape() -> None:
    for make in (lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x[0],
                 lambda x: ts.broadcast_to(x[:1], (4, 3))):  # fmt: skip
        x = make(ts.randn(3, 3, dtype=ts.float64)).detach().requires_grad_()
        (x * x).sum().backward()
        ts.testing.assert_close(grad_of(x), 2 * x.detach())
        (x * x).sum().backward()
        ts.testing.assert_close(grad_of(x), 4 * x.detach())


# --- memory --------------------------------------------------------------------------------------


def test_reference_counts_free_a_graph() -> None:
    gc.collect()
    x = leaf(1, 2)
    h = x.exp()
    out = (h * h.sin()).sum()
    refs = [weakref.ref(t) for t in (x, h, out)]
    del h
    assert refs[1]() is None, "nodes keep handles, not tensors"
    out.backward()
    del out
    assert refs[2]() is None
    del x
    assert refs[0]() is None


def test_a_graph_of_gradients_is_freed_by_reference_counts(live: int) -> None:
    x = ts.randn(100, dtype=ts.float64, requires_grad=True)
    (g,) = grad((x.exp() * x.tanh()).sum(), x, create_graph=True)
    (g * g).sum().backward()
    del g
    x.grad = None
    del x
    assert _core.memory_counts()[0] <= live


def test_a_leaf_whose_grad_has_a_graph_is_a_cycle_only_while_it_is_held(live: int) -> None:
    x = ts.randn(100, dtype=ts.float64, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    ref = weakref.ref(x)
    x.grad = None
    del x
    assert ref() is None and _core.memory_counts()[0] <= live


def test_the_collector_finds_what_counts_cannot() -> None:
    x = ts.randn(100, dtype=ts.float64, requires_grad=True)
    (x * x).sum().backward(create_graph=True)  # x.grad's graph holds x
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_memory_is_freed_as_the_pass_goes() -> None:
    """The peak of backward stays near what forward holds: a chain's saved values go one by one."""
    x = ts.randn(100_000, dtype=ts.float32, requires_grad=True)
    one = x.size * 4
    with ts.memory.track() as forward:
        out = x
        for _ in range(20):
            out = out.sin()
        loss = out.sum()
        del out
        held = forward.live
        loss.backward()
    assert held <= 20 * one + 10_000
    assert forward.peak <= held + 4 * one
    assert forward.live <= one + 10_000, "only the gradient of x is left"


def test_gradients_are_summed_in_place_where_nobody_sees_it() -> None:
    x = ts.randn(100_000, dtype=ts.float32, requires_grad=True)
    one = x.size * 4
    total = x * 1.0
    for i in range(20):
        total = total + x * float(i)
    loss = total.sum()
    del total
    with ts.memory.track() as m:
        loss.backward()
    assert m.peak <= 5 * one


def test_only_what_rules_ask_for_is_saved() -> None:
    x = ts.randn(10_000, dtype=ts.float32, requires_grad=True)
    one = x.size * 4

    def kept(f: Any) -> float:
        with ts.memory.track() as m:
            out = f(x)
            live = m.live
            del out
        return round((live - one) / one, 1)

    assert kept(lambda x: x + 1) == 0
    assert kept(lambda x: (x + 1) * 2 - 3) == 0
    assert kept(lambda x: x.exp()) == 0
    assert kept(lambda x: x.exp().exp()) == 1
    assert kept(lambda x: x.sin().sin()) == 1
    assert kept(lambda x: ts.relu(x) + 1) <= 1


def test_saved_memory_goes_with_backward_though_the_result_stays() -> None:
    x = ts.randn(10_000, dtype=ts.float32, requires_grad=True)
    one = x.size * 4
    with ts.memory.track() as m:
        out = x.exp().exp().exp()
        assert m.live > 2.9 * one
        out.sum().backward()
        assert m.live <= 2 * one + 5000


def test_a_failed_backward_leaves_gradients_as_they_were() -> None:
    class Fails(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            raise ValueError("mine")

    x, y = leaf(1, 2), leaf(3, 4)
    y.grad = ts.tensor([7.0, 8.0], dtype=ts.float64)
    held = y.grad
    h = x * 2
    h.retain_grad()
    out = (Fails.apply(h) * y * y).sum()
    with pytest.raises(ValueError, match="mine"):
        out.backward()
    assert x.grad is None and h.grad is None and y.grad is held and held.tolist() == [7.0, 8.0]


def test_running_out_of_memory_leaves_gradients_as_they_were() -> None:
    x = ts.randn(1000, 1000, requires_grad=True)
    x.grad = ts.ones(1000, 1000)
    out = x
    for _ in range(8):
        out = out.sin()
    loss = out.sum()
    with ts.memory.limit(ts.memory.stats().live + 1000), pytest.raises(ts.errors.OutOfMemory):
        loss.backward()
    assert grad_of(x).sum().item() == 1_000_000


def test_deep_recursion_limits_do_not_matter() -> None:
    limit = sys.getrecursionlimit()
    x = leaf(1)
    out = chain(x, 10_000)
    sys.setrecursionlimit(200)
    try:
        out.backward()
    finally:
        sys.setrecursionlimit(limit)
    assert slopes(x) == [1.0]
