"""DynamicArray while another thread adds many items to it, without the interpreter's lock."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import pytest

import tessella as ts
from arrays import POINT, Act, array
from tessella import _core

CHANGES: dict[str, Act] = {
    "append": lambda a: a.append(a[0]),
    "push_front": lambda a: a.push_front(a[0]),
    "extend": lambda a: a.extend([a[0]]),
    "pop": lambda a: a.pop(),
    "remove": lambda a: a.__delitem__(0),
    "reserve": lambda a: a.reserve(a.capacity + 1),
    "shrink_to_fit": lambda a: a.shrink_to_fit(),
    "reverse": lambda a: a.reverse(),
    "sort": lambda a: a.sort(key=lambda x: 0),
    "clear": lambda a: a.clear(),
}


def is_seen_filled(a: ts.DynamicArray[Any]) -> bool:
    """Wait until another thread adds items; tell whether it was seen at that."""
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline:
        time.sleep(0)
        try:
            _core.array_check_free(a)
        except ts.errors.IllegalState:
            return True
    return False


def check_left_alone(a: ts.DynamicArray[Any]) -> None:
    before = list(a)
    for name, act in CHANGES.items():
        text = f"{name}: another thread is adding items to it"
        with pytest.raises(ts.errors.IllegalState, match=text) as caught:
            act(a)
        assert "hint: wait until that is done: one thread at a time" in str(caught.value)
    assert list(a) == before


@pytest.mark.parametrize("step", [1, 2], ids=["contiguous", "strided"])
@pytest.mark.parametrize("dtype", [ts.float64, ts.int32, POINT], ids=str)
def test_an_array_that_is_extended_is_left_alone(dtype: ts.DType, step: int) -> None:
    interval, is_seen = sys.getswitchinterval(), False
    first = array([(1, 2), (3, 4), (5, 6)] if dtype is POINT else [1, 2, 3], dtype)
    items = first.as_tensor()[ts.arange(4_000_000) % 3][::step]
    sys.setswitchinterval(10)  # whoever has the lock keeps it until it waits
    try:
        for _ in range(100):
            a = first.copy()
            thread = threading.Thread(target=a.extend, args=(items,))
            thread.start()
            is_seen = is_seen_filled(a)
            if is_seen:
                check_left_alone(a)
            thread.join()
            assert len(a) == 3 + len(items) and bool((a[3:] == items).all())
            if is_seen:
                break
    finally:
        sys.setswitchinterval(interval)
    assert is_seen
    a.append(first[0])
    assert a.pop() == first[0]
