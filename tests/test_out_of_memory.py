"""Memory ends inside every function: OutOfMemory, nothing changed, nothing kept, and on it goes.

Allocations are made to fail one after another until the call has all it needs, so that each place
where memory may end is passed. The texts of the errors stand at the end.
"""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tessella as ts
from calls import DECLARED, Call, call_of, calls_of
from cases import cases_for, dtypes_of, grown
from conftest import sampled
from reference import assert_same_tensors
from tessella import _core, memory
from tessella.declarations import Case
from tessella.inplace import Twin
from tessella.kinds import Elementwise
from tessella.records import OPS

# Their values are whatever the memory held.
UNSURE = ("empty", "empty_like", "new_empty")
NAMES = [name for name in DECLARED if calls_of(name)]


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> Iterator[None]:
    """Hide what other tests have left from the collector: each error looks through all it knows."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@contextmanager
def failing_from(n: int) -> Iterator[None]:
    """Let the n-th allocation and all after it fail."""
    _core.fail_allocations_from(n)
    try:
        yield
    finally:
        _core.fail_allocations_from(0)


def shortages() -> Iterator[int]:
    """Give the allocations to fail from: the first ones, later ones in growing steps."""
    n = 1
    while n < 100_000:
        yield n
        n += 1 + n // 6


def live_bytes() -> int:
    """Give the bytes in use, without garbage."""
    gc.collect(1)
    return _core.memory_counts()[0]


def leaves(value: Any) -> list[Any]:
    """Give the parts of a result, or the result itself."""
    if isinstance(value, tuple | list):
        return [x for part in value for x in leaves(part)]
    return [value]


def assert_same_results(got: Any, want: Any) -> None:
    """Compare results bit by bit."""
    for x, y in zip(leaves(got), leaves(want), strict=True):
        if isinstance(y, ts.Tensor):
            assert_same_tensors(x, y)
        else:
            assert x == y or (x != x and y != y)


def run_short(call: Callable[[], Any], *watched: ts.Tensor) -> tuple[Any, int]:
    """Call with less and less short memory until it works; give the result and the failures."""
    before = [(x.clone(), x.version) for x in watched]
    failures = 0
    live = live_bytes()
    for n in shortages():
        try:
            with failing_from(n):
                result = call()
        except MemoryError as error:
            assert type(error) is ts.errors.OutOfMemory
            failures += 1
        else:
            return result, failures
        assert _core.memory_counts()[0] == live or live_bytes() == live, "memory is kept"
        for x, (old, version) in zip(watched, before, strict=True):
            assert_same_tensors(x.detach(), old.detach())
            assert x.version == version
    raise AssertionError("it never had enough")


# --- every declared function ----------------------------------------------------------------------


def fresh(call: Call) -> Call:
    """Give the call with operands and generator of its own."""
    call = call.changed(ts.Tensor.clone)
    if "generator" in call.named:
        call.named["generator"] = ts.Generator(11)
    return call


def check_call(call: Call) -> int:
    """Make one call with memory that ends; the same bits come out in the end."""
    want_call, got_call = fresh(call), fresh(call)
    want = want_call()
    got, failures = run_short(got_call, *got_call.tensors())
    if call.name not in UNSURE:
        assert_same_results(got, want)
    for x, y in zip(got_call.tensors(), want_call.tensors(), strict=True):
        assert_same_tensors(x, y)
    if "generator" in call.named:
        assert got_call.named["generator"].counter == want_call.named["generator"].counter
    return failures


@pytest.mark.parametrize("name", sampled(NAMES, 60))
def test_function_survives_the_end_of_memory(name: str) -> None:
    for call in sampled(calls_of(name), 3):
        before = memory.stats().allocations
        fresh(call)()
        needs = memory.stats().allocations - before - len(call.tensors())
        failures = check_call(call)
        assert (failures > 0) == (needs > 0), "as often as it allocates"


RANDOM = [name for name in NAMES if any("generator" in call.named for call in calls_of(name))]


@pytest.mark.parametrize("name", RANDOM)
def test_generator_does_not_advance_when_memory_ends(name: str) -> None:
    for call in calls_of(name):
        generator = call.named["generator"] = ts.Generator(7)
        for n in shortages():
            try:
                with failing_from(n):
                    call()
            except ts.errors.OutOfMemory:
                assert generator.counter == 0
            else:
                break
        assert generator.counter > 0


@pytest.mark.parametrize("name", sampled(OPS, 30))
def test_record_on_large_operands_survives_the_limit(name: str) -> None:
    """Large operands need scratch too: for threads, packing, sorting."""
    op = OPS[name]
    dtype = sampled(dtypes_of(op), 1)[0]
    if isinstance(op, Elementwise):
        chosen = [Case(*[(601, 503)] * len(op.operands))]
    else:
        chosen = [grown(op, case) for case in sampled(cases_for(op, dtype), 2)]
    for case in chosen:
        call = call_of(op, case, dtype)
        want = call()
        before = [x.clone() for x in call.tensors()]
        for room in (0, 4096, 600_000):
            in_use = live_bytes() + memory.stats().reserved
            try:
                with memory.limit(in_use + room):
                    got = call()
            except ts.errors.OutOfMemory as error:
                assert "; limit " in str(error)
            else:
                assert_same_results(got, want)
                got = None
            assert live_bytes() + memory.stats().reserved == in_use
        for x, old in zip(call.tensors(), before, strict=True):
            assert_same_tensors(x, old)
        assert_same_results(run_short(call)[0], want)


# --- results written into tensors -----------------------------------------------------------------

TWINS = {name: twin for name, twin in vars(ts.Tensor).items() if isinstance(twin, Twin)}


@pytest.mark.parametrize("name", sampled(TWINS, 25))
def test_method_with_an_underscore_changes_nothing_when_memory_ends(name: str) -> None:
    each = TWINS[name].each
    tried = 0
    for call in calls_of(each.name):
        if not isinstance(call.args[0], ts.Tensor):
            continue
        for layout in (ts.Tensor.clone, lambda x: x.clone().flip().clone().flip()):
            want, got = fresh(call).changed(layout), fresh(call).changed(layout)
            try:
                getattr(want.args[0], name)(*want.args[1:], **want.named)
            except ts.errors.TessellaError:
                continue  # the result is of another shape or kind
            method = Call(name, getattr(got.args[0], name), got.args[1:], got.named)
            run_short(method, *got.tensors())
            assert_same_tensors(got.args[0].clone(), want.args[0].clone())
            tried += 1
    assert tried or each.name in NOT_IN_PLACE


# Comparisons and their kin give bool, which only a tensor of bool takes.
NOT_IN_PLACE = [
    name for name, each in DECLARED.items()
    if each.has_twin and all(leaves(call())[0].dtype is ts.bool for call in calls_of(name))
]  # fmt: skip


@pytest.mark.parametrize("name", sampled([name for name, op in OPS.items() if op.takes_out], 25))
def test_out_is_unchanged_when_memory_ends(name: str) -> None:
    op = OPS[name]
    dtype = sampled(dtypes_of(op), 1)[0]
    for case in sampled(cases_for(op, dtype), 3):
        call = call_of(op, case, dtype)
        want = call()
        for out in (ts.ones_like(want), ts.ones_like(want).flip()):
            run_short(Call(name, op.function, call.args, {**call.named, "out": out}), out)
            assert_same_tensors(out.clone(), want)


# --- what is no declared function -----------------------------------------------------------------

PICKLED = pickle.dumps(ts.ones(7, 3))
Made = tuple[Callable[[], Any], list[ts.Tensor]]


def assigned(key: Any, value: Any) -> Made:
    """Give an assignment, and its target."""
    x = ts.arange(24.0).reshape(4, 6)
    return lambda: x.__setitem__(key, value), [x]


def over(use: Callable[[ts.Tensor], Any]) -> Made:
    """Give a use of a matrix that is laid out backwards."""
    x = ts.arange(6000.0).reshape(60, 100).flip()
    return lambda: use(x), [x]


USES: dict[str, Callable[[], Made]] = {
    "assignment": lambda: assigned(0, ts.ones(6, dtype=ts.float64)),
    "assignment by mask": lambda: assigned(ts.ones(4, 6) > 0, 2.0),
    "assignment by indices": lambda: assigned([0, 2], ts.ones(6)),
    "assignment of a list": lambda: assigned(1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "assignment of an array": lambda: assigned(..., np.ones((4, 6))),
    "index": lambda: over(lambda x: x[[1, 2, 3]]),
    "mask": lambda: over(lambda x: x[x > 100]),
    "repr": lambda: over(repr),
    "repr of halves": lambda: over(lambda x: repr(x.astype(ts.bfloat16))),
    "format": lambda: over(lambda x: f"{x:.1f}"),
    "tolist": lambda: over(lambda x: x.tolist()),
    "tolist of halves": lambda: over(lambda x: x.astype(ts.bfloat16).tolist()),
    "pickle": lambda: over(pickle.dumps),
    "unpickle": lambda: over(lambda x: pickle.loads(PICKLED)),
    "copy": lambda: over(copy.copy),
    "deepcopy": lambda: over(lambda x: copy.deepcopy([x, x])),
    "numpy of a copy": lambda: over(lambda x: np.array(x)),
    "__array__ of another dtype": lambda: over(lambda x: x.__array__("float64")),
    "dlpack copy": lambda: over(lambda x: bool(x.__dlpack__(copy=True))),
    "copy of a dlpack array": lambda: over(lambda x: ts.from_dlpack(x.numpy(), copy=True)),
    "tensor of a list": lambda: over(lambda x: ts.tensor([[1.0, 2.0], [3.0, 4.0]])),
    "tensor of an array": lambda: over(lambda x: ts.tensor(np.ones((3, 4), "float16"))),
    "tensor of tensors": lambda: over(lambda x: ts.tensor([x[0], x[1]])),
    "iteration": lambda: over(lambda x: [row + 1 for row in x[:5]]),
    "membership": lambda: over(lambda x: 5.0 in x),
    "chain": lambda: over(lambda x: ((x @ x.T).softmax(axis=-1) @ x).sum(axis=0).sqrt()),
    "with gradients": lambda: over(lambda x: (x.detach().requires_grad_() * 2).exp().sum()),
    "sum in place": lambda: over(lambda x: x.clone().__iadd__(x.T.sum())),
}


# Those that read and write where the memory lies.
NEED_NOTHING = ("assignment", "assignment of an array", "repr", "format", "tolist",
                "numpy of a copy", "__array__ of another dtype")  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_use_survives_the_end_of_memory(use: str) -> None:
    call, watched = USES[use]()
    want_call, _ = USES[use]()
    want = want_call()
    got, failures = run_short(call, *watched)
    assert repr(got) == repr(want)
    assert bool(failures) == (use not in NEED_NOTHING)


def test_many_threads_survive_the_end_of_memory() -> None:
    x = ts.ones(300, 300)
    live = live_bytes()

    def work(i: int) -> str:
        try:
            return "right" if (x @ x).sum().item() == 300.0**3 else "wrong"
        except ts.errors.OutOfMemory:
            return "short"

    # One product fits, 360 kB for each of the result and both packed operands; two do not.
    with memory.limit(live + 1_300_000), ThreadPoolExecutor(6) as pool:
        found = list(pool.map(work, range(120)))
    assert set(found) <= {"right", "short"} and "right" in found
    assert live_bytes() == live
