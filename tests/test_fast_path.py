"""The fast path of reductions, views, products, casts, rows and basic indexing.

Each call is made twice, with the fast path open and closed, and must give the same tensor and the
same node. That the fast path was taken at all is read from its counters.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest

import tessella as ts
from tessella import _core

Call = Callable[[ts.Tensor], Any]


@pytest.fixture(autouse=True)
def open_fast_path() -> Iterator[None]:
    """Leave the fast path open, whatever a test did."""
    yield
    _core.set_modes(0)


def make(*shape: int, grad: bool = False) -> ts.Tensor:
    """Give 0, 1, 2 … in a shape."""
    size = 1
    for n in shape:
        size *= n
    x = ts.arange(size).astype(ts.float32).reshape(shape)
    return x.requires_grad_() if grad else x


def facts(x: ts.Tensor) -> tuple[Any, ...]:
    """Give all that two equal results share."""
    node = x.grad_fn
    recorded = None
    if node is not None:
        saved = [None if s is None else (s.shape, s.tolist()) for s in node.saved]  # type: ignore[union-attr]
        recorded = (node.function.__name__, node.params, node.input_shapes, saved)
    return x.dtype, x.shape, x.strides, x.offset, x.requires_grad, x.detach().tolist(), recorded


def check_both(call: Call, x: ts.Tensor) -> None:
    """Compare the two paths, and see that the fast one was taken."""
    before = _core.fast_path_counts()
    fast = call(x)
    after = _core.fast_path_counts()
    assert after[1] == before[1], "declined"
    _core.set_modes(1)
    slow = call(x)
    _core.set_modes(0)
    assert facts(fast) == facts(slow)


VIEWS: dict[str, Call] = {
    "permute": lambda x: x.permute(2, 0, 1),
    "permute tuple": lambda x: x.permute((-1, 0, 1)),
    "transpose": lambda x: x.transpose(0, -1),
    "mT": lambda x: x.mT,
    "reshape": lambda x: x.reshape(4, -1),
    "reshape list": lambda x: x.reshape([24]),
    "reshape int": lambda x: x.reshape(-1),
    "view": lambda x: x.view(4, -1),
    "view tuple": lambda x: x.view((2, 12)),
    "squeeze none": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "unsqueeze two": lambda x: x.unsqueeze(axis=(0, -1)),
    "flip": lambda x: x.flip(axis=(0, -1)),
    "flip all": lambda x: x.flip(),
    "broadcast_to": lambda x: ts.broadcast_to(x, (5, 2, 3, 4)),
    "int": lambda x: x[1],
    "negative": lambda x: x[-1, -2],
    "all ints": lambda x: x[1, 2, 3],
    "slice": lambda x: x[:, 1:3],
    "steps": lambda x: x[::-1, ::2, 3:0:-2],
    "empty slice": lambda x: x[5:, 2:1],
    "huge bounds": lambda x: x[-(10**30) : 10**30],
    "ellipsis": lambda x: x[..., 0],
    "none": lambda x: x[None, ..., None, 1, None],
    "nothing": lambda x: x[()],
}  # fmt: skip


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_views_agree(name: str, grad: bool) -> None:
    x = make(2, 3, 4, grad=grad)
    check_both(VIEWS[name], x)
    assert _core.may_overlap(VIEWS[name](x), x)


def test_matrix_transpose_is_a_view() -> None:
    check_both(lambda x: x.T, make(2, 3, grad=True))
    with pytest.raises(ts.errors.ShapeError, match="this tensor has 3 axes"):
        _ = make(2, 3, 4).T


def test_reshape_copies_what_is_strided() -> None:
    check_both(lambda x: x.reshape(24), make(4, 3, 2).permute(2, 1, 0))


REDUCTIONS: dict[str, Call] = {
    "all": lambda x: x.sum(),
    "axis": lambda x: x.sum(1),
    "negative": lambda x: x.sum(axis=-1),
    "dim": lambda x: x.mean(dim=0, keepdim=True),
    "several": lambda x: x.max(axis=(0, 2)),
    "list": lambda x: x.min(axis=[-1, 0], keepdims=True),
    "prod": lambda x: x.prod(axis=2),
    "any": lambda x: ts.any(x > 3, axis=0),
    "all of": lambda x: ts.all(x > 3, axis=0),
    "argmax": lambda x: x.argmax(axis=1),
    "argmin of all": lambda x: x.argmin(),
    "integers": lambda x: x.astype(ts.int8).sum(axis=0),
    "halves": lambda x: x.astype(ts.float16).sum(axis=0),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_agree(name: str, grad: bool) -> None:
    check_both(REDUCTIONS[name], make(2, 3, 4, grad=grad))
    check_both(REDUCTIONS[name], make(4, 3, 2).permute(2, 1, 0))


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
     ((2, 1, 3, 4), (7, 4, 5)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((3, 0), (0, 2)),
     ((16, 16), (16, 16)), ((1, 4), (4, 1))],
)  # fmt: skip
def test_products_agree(shapes: tuple[tuple[int, ...], tuple[int, ...]], grad: bool) -> None:
    y = make(*shapes[1])
    check_both(lambda x: x @ y, make(*shapes[0], grad=grad))


@pytest.mark.parametrize("grad", [False, True])
def test_casts_and_rows_agree(grad: bool) -> None:
    x = make(3, 4, grad=grad)
    for dtype in (ts.float64, ts.float32, ts.int32, ts.bool, ts.bfloat16):
        check_both(partial(ts.astype, dtype=dtype), x)
    check_both(lambda x: x.astype(dtype=ts.float64), x)
    check_both(lambda x: ts.softmax(x, 0), x)
    check_both(lambda x: ts.log_softmax(x, axis=-1), x)


def test_scalars_of_any_size_agree() -> None:
    for size in (0, 1, 8, 255, 256, 257, 5000):
        check_both(lambda x: x * 2.5, make(size))
        check_both(lambda x: 1 - x, make(size, grad=True))
        check_both(lambda x: ts.where(x > 3, x, 0.0), make(size))


@pytest.mark.parametrize(
    "call",
    [lambda x: x.sum(axis=2), lambda x: x.sum(axis=(0, 0)), lambda x: x.reshape(5),
     lambda x: x.permute(0, 0), lambda x: x[2], lambda x: x[0, 0, 0], lambda x: x[::0],
     lambda x: x @ x, lambda x: x.sum(axis="rows"), lambda x: ts.softmax(x, 3)],
)  # fmt: skip
def test_refusals_come_from_the_record(call: Call) -> None:
    before = _core.fast_path_counts()
    with pytest.raises(ts.errors.TessellaError):
        call(make(2, 3))
    assert _core.fast_path_counts()[1] > before[1]


def here() -> tuple[str, int]:
    """Give file and line of the caller."""
    frame = sys._getframe(1)
    return frame.f_code.co_filename, frame.f_lineno


def site_of(x: ts.Tensor) -> tuple[str, int] | None:
    """Give the line that a tensor's node recorded."""
    assert x.grad_fn is not None
    return x.grad_fn.site


def test_a_node_records_the_line_of_the_user() -> None:
    x = make(2, 3, grad=True)
    fast, line = x + x, here()
    assert site_of(fast) == line
    composed, line = ts.logsumexp(x), here()
    assert site_of(composed) == line, "a line of the package"
    _core.set_modes(1)
    try:
        slow, line = x * x, here()
    finally:
        _core.set_modes(0)
    assert site_of(slow) == line


def test_graphs_of_views_free_their_memory() -> None:
    x = make(2, 3, grad=True)
    before = _core.memory_counts()[0]
    for _ in range(10):
        y = x.T[0][None]
        del y
    assert _core.memory_counts()[0] == before


def test_broadcasts_and_strides_of_small_operands_agree() -> None:
    row, column = make(4), make(3, 1)
    for y in (row, column, make(4, 3).T, make(), make(3, 8)[:, ::-2], make(1, 1)):
        check_both(partial(ts.add, y), make(3, 4, grad=True))
        check_both(partial(ts.sub, y), make(3, 4).flip(axis=0))
        check_both(partial(ts.where, make(3, 4) > 3, y), make(3, 4))
    check_both(lambda x: x + make(0, 4), make(1, 4))


def test_two_axes_are_never_one_keyword() -> None:
    x = ts.zeros(2, 3, 4)
    for keywords in ({"axis": 0}, {"dim": 1}, {"axis": (0, 1, 2)}):
        for call in (x.transpose, partial(ts.transpose, x)):
            with pytest.raises(ts.errors.ArgumentError, match="transpose: unknown keyword"):
                cast(Any, call)(**keywords)
    assert cast(Any, x).transpose(dim0=0, dim1=2).shape == (4, 3, 2)
