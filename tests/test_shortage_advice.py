"""What OutOfMemory advises in a network: the batch that fits, the part to compute again."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from tessella import memory, nn
from tessella.nn import functional

ROWS = 300
WIDTH = 500


class Net(nn.Module):
    """A small part, a large one, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Linear(8, 16)
        self.up = nn.Sequential(
            nn.Linear(16, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4)
        )
        self.head = nn.Linear(4, 2)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        """Compute."""
        out: ts.Tensor = self.head(self.up(self.down(x)))
        return out


def hint_of(use: Callable[[], Any], room: int) -> str:
    """Give the advice where so many bytes are left."""
    gc.collect()  # what other tests left in cycles holds memory too
    found = memory.stats()
    with (
        memory.limit(found.live + found.reserved + room),
        pytest.raises(ts.errors.OutOfMemory) as caught,
    ):
        use()
    return str(caught.value).splitlines()[-1]


def batch_of(hint: str) -> int:
    """Read the batch that fits."""
    found = re.search(r"a batch of (\d+) fits up to here", hint)
    assert found, hint
    return int(found[1])


def fits(use: Callable[[], Any], room: int) -> bool:
    """Tell whether something fits."""
    gc.collect()
    found = memory.stats()
    try:
        with memory.limit(found.live + found.reserved + room):
            use()
    except ts.errors.OutOfMemory:
        return False
    return True


@pytest.mark.parametrize("room", [700_000, 1_000_000, 1_150_000])
def test_forward_says_which_batch_fits_and_it_does(room: int) -> None:
    part = nn.Sequential(nn.Linear(8, WIDTH), nn.GELU())
    x = ts.randn(ROWS, 8)
    rows = batch_of(hint_of(lambda: part(x), room))
    # The input lives throughout; it would be smaller with the batch, which the advice knows.
    spare = x.nbytes - x[:rows].nbytes
    assert fits(lambda: part(x[:rows].clone()), room + spare + x[:rows].nbytes)
    assert not fits(lambda: part(x[: rows + 9].clone()), room + spare + x[: rows + 9].nbytes)


def test_backward_says_which_part_to_compute_again_and_what_that_frees() -> None:
    model = Net()
    x = ts.randn(ROWS, 8)
    loss = model(x).sum()
    hint = hint_of(loss.backward, 200_000)
    match = re.search(r"; checkpoint\(model\.up, …\) frees (.*)", hint)
    assert match and 1 < batch_of(hint) < ROWS

    def kept(forward: Callable[[ts.Tensor], ts.Tensor]) -> int:
        gc.collect()
        before = memory.stats().kinds["saved"]
        out = forward(x)
        assert out.requires_grad
        return memory.stats().kinds["saved"] - before

    del loss
    plain = kept(model)
    again = kept(lambda x: model.head(ts.checkpoint(model.up, model.down(x))))
    # A checkpoint keeps its result too, where the next operation needs it: so it does without one.
    assert match[1] == memory.to_text(plain - again)


def test_a_part_that_is_still_at_work_or_calls_nothing_is_not_named() -> None:
    model = Net()
    x = ts.randn(ROWS, 8)
    for room in (700_000, 1_300_000, 1_700_000):
        assert "checkpoint" not in hint_of(lambda: model(x), room)
    listed = nn.ModuleList([nn.Linear(8, WIDTH), nn.Linear(WIDTH, WIDTH)])
    out = listed[1](listed[0](x))
    assert "checkpoint" not in hint_of(out.sum().backward, 200_000)


def test_a_loss_after_the_network_and_inference_have_advice_too() -> None:
    model = Net()
    x = ts.randn(ROWS, 8)
    out = model(x)
    many = functional.pad(out, (0, 998))
    hint = hint_of(lambda: functional.log_softmax(many, 1), 100_000)
    assert 1 < batch_of(hint) < ROWS and "checkpoint(model.up, …)" in hint
    with ts.no_grad():
        assert 1 < batch_of(hint_of(lambda: model(x), 500_000)) < ROWS


def test_a_batch_of_one_and_what_is_no_network_keep_the_plain_advice() -> None:
    model = Net()
    one = hint_of(lambda: model(ts.randn(1, 8)), 1_000)
    assert one == "  hint: free tensors that are no longer needed, or work in smaller pieces"
    wide = ts.ones(100, 1000)
    assert hint_of(wide.exp, 200_000).startswith("  hint: 50 of its 100 rows fit")
    arena = memory.Arena("64KB")
    with memory.use(arena):
        assert hint_of(lambda: model(ts.ones(ROWS, 8)), 10**7).startswith("  hint: make it larger")
