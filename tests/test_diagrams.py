"""What ts.graph tells about what was recorded, and that it computes and keeps nothing."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import tessella as ts
from cases import cases_for, cases_of, draw_operands, map_tensors, to_tensors
from recordings import chain, leaf, step
from tessella import _core, memory
from tessella.diagrams import Graph, graphs
from tessella.diagrams.parts import show
from tessella.records import OPS, Op

ROOT = Path(__file__).resolve().parent.parent

TABLE = """\
graph of %7: 7 operations, 3 leaves
saved for backward: 208 B in 3 buffers; the leaves' own memory: 192 B

  name  operation              gives                at          saves
  w1    leaf                   float32 (3, 8) 96 B
  %1    matmul((4, 3), w1)     float32 (4, 8)       train.py:1  a float32 (4, 3) 48 B
  b1    leaf                   float32 (8,) 32 B
  %2    add(%1, b1)            float32 (4, 8)       train.py:1
  h     tanh(%2)               float32 (4, 8)       train.py:1  out float32 (4, 8) 128 B
  w2    leaf                   float32 (8, 2) 64 B
  %4    matmul(h, w2)          float32 (4, 2)       train.py:2  a float32 (4, 8) in h; b float32 (8, 2) in w2
  %5    sub(%4, (4, 2))        float32 (4, 2)       train.py:2
  %6    square(%5)             float32 (4, 2)       train.py:2  x float32 (4, 2) 32 B
  %7    mean(%6, axis=(0, 1))  float32 ()           train.py:2"""  # noqa: E501 - as it is printed


def calls(graph: Graph) -> list[str]:
    return [box.call for box in graph.boxes]


# --- what is told --------------------------------------------------------------------------------


def test_the_table_of_a_step_shows_calls_shapes_lines_and_what_is_saved() -> None:
    assert str(step()) == TABLE
    assert repr(step()) == TABLE


def test_the_page_of_the_docs_shows_that_table() -> None:
    assert TABLE in (ROOT / "docs" / "gradients.md").read_text()


def test_figures_count_each_buffer_once_and_leaves_apart() -> None:
    found = step()
    assert (found.operations, found.leaves, found.outputs) == (7, 3, ("%7",))
    assert found.saved_bytes == 4 * (4 * 3 + 4 * 8 + 4 * 2) and found.saved_buffers == 3
    assert found.leaf_bytes == 4 * (3 * 8 + 8 + 8 * 2)


def test_views_of_a_leaf_are_its_memory_and_views_keep_whole_buffers() -> None:
    w = leaf(10, 10)
    of_leaf = ts.graph(w.T[:2].square())
    assert of_leaf.saved_bytes == 0 and of_leaf.leaf_bytes == 400
    assert [str(saved) for saved in of_leaf.boxes[-1].saved] == ["x float32 (2, 10) in leaf1"]
    of_result = ts.graph((w + 1)[0].square())
    assert of_result.saved_bytes == 400  # of which 40 are looked at


def test_one_buffer_saved_twice_by_an_operation_is_counted_once() -> None:
    h = leaf(5) + 1
    found = ts.graph(h * h)
    assert found.saved_bytes == 20
    texts = [str(saved) for saved in found.boxes[-1].saved]
    assert texts == ["x float32 (5,) 20 B", "y float32 (5,) again"]


def test_index_tensors_among_the_parameters_are_saved_too() -> None:
    found = ts.graph(leaf(5)[ts.tensor([0, 3])])
    assert calls(found)[-1] == "gather_axes(leaf1, axes=(0,), indices=(int64 (2,),))"
    assert [str(saved) for saved in found.boxes[-1].saved] == ["indices[0] int64 (2,) 16 B"]


def test_shared_nodes_and_leaves_have_one_box_each() -> None:
    w = leaf(3)
    a = w.exp()
    found = ts.graph((a + w) * (a - w))
    assert calls(found) == [
        "leaf", "exp(leaf1)", "add(%1, leaf1)", "sub(%1, leaf1)", "mul(%2, %3)"
    ]  # fmt: skip


def test_several_outputs_share_their_boxes() -> None:
    h = leaf(3).exp()
    found = ts.graph([h.sum(), h, h.mean()], names={"h": h})
    assert found.outputs == ("%2", "h", "%3") and found.operations == 3
    assert [box.name for box in found.boxes if box.is_output] == ["h", "%2", "%3"]
    assert found.head[0] == "graph of %2, h, %3: 3 operations, 1 leaf"
    many = ts.graph([h + float(i) for i in range(9)])
    assert many.head[0].startswith("graph of %2, %3, %4, %5, %6, %7, … 3 more: 10 operations")


def test_operands_are_named_by_the_record_and_lists_by_places() -> None:
    w = leaf(3)
    found = ts.graph(ts.concat([w, w * 2.0, w])).boxes[-1]
    assert [link.operand for link in found.links] == ["xs[0]", "xs[1]", "xs[2]"]
    assert found.call == "concat(leaf1, %1, leaf1)"
    wide = ts.graph(ts.concat([w] * 50)).boxes[-1]
    assert wide.call == f"concat({'leaf1, ' * 6}… 44 more)" and len(wide.links) == 50


def test_constants_are_shown_by_value_or_shape() -> None:
    w = leaf(2, 3)
    assert calls(ts.graph(w * 2.5))[-1] == "mul(leaf1, 2.5)"
    assert calls(ts.graph(w + 2.5))[-1] == "add(leaf1, scalar)"
    assert calls(ts.graph(w + ts.ones(3)))[-1] == "add(leaf1, (3,))"
    assert calls(ts.graph(ts.clip(w, 0.0, 1.0)))[-1] == "clip(leaf1, 0.0, 1.0)"


DIFFERENTIABLE = [name for name, op in OPS.items() if op.is_differentiable and cases_of(op)]


def recorded(op: Op) -> Iterator[ts.Tensor]:
    """Give the results of an operation that were recorded: not those of a cast to integers."""

    def ask(x: ts.Tensor) -> ts.Tensor:
        return x.requires_grad_() if x.dtype.is_floating or x.dtype.is_complex else x

    for dtype in (ts.float64, ts.complex128):
        for case in cases_for(op, dtype):
            operands = to_tensors(op, draw_operands(op, case, dtype), dtype)
            out = op.function(*map_tensors(ask, operands), **case.params)
            if out.grad_fn is not None:
                yield out


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_operation_is_shown_with_its_operands(name: str) -> None:
    op = OPS[name]
    found = ts.graph(next(recorded(op)))
    assert len(str(found).splitlines()) == 4 + len(found.boxes)
    for box in found.boxes:
        operands = {link.operand.partition("[")[0] for link in box.links}
        assert operands <= {*op.operands} or box.operation != name
    ElementTree.fromstring(found.svg())


@pytest.mark.parametrize(
    "value, text",
    [
        ((1, None, "a"), "(1, None, 'a')"),
        ((slice(1, None), ..., slice(None, 3, 2)), "(1:, ..., :3:2)"),
        ([ts.float32, True], "(float32, True)"),
        (ts.ones(2), "float32 (2,)"),
        (((((1,),),),), "(((<tuple>,),),)"),
        (object(), "<object>"),
        (len, "<builtin_function_or_method>"),
    ],
)
def test_parameters_are_shown_without_reading_tensors_or_addresses(value: Any, text: str) -> None:
    assert show(value) == text


def test_names_join_and_numbers_avoid_them() -> None:
    a, b = leaf(2), leaf(2)
    assert calls(ts.graph(a * b, names={"w": a, "tied": a}))[-1] == "mul(w|tied, leaf2)"
    found = ts.graph(a * b, names={"leaf2": a, "%1": leaf(2)})
    assert [box.name for box in found.boxes] == ["leaf2", "leaf3", "%2"]


def test_virtual_tensors_tell_what_they_would_take() -> None:
    w = _core.empty_virtual((1000, 1000), ts.float32.id)
    _core.set_requires_grad(w, True)
    found = ts.graph((w + 1).exp())
    assert (found.saved_bytes, found.leaf_bytes) == (4_000_000, 4_000_000)


def test_memory_that_an_arena_took_back_is_marked() -> None:
    arena = memory.Arena("1MB")
    with memory.use(arena):
        y = leaf(3).exp()
    arena.reset()
    found = ts.graph(y)
    assert str(found.boxes[-1].saved[0]) == "out float32 (3,) freed" and not found.saved_bytes


# --- nothing is computed, allocated or kept ------------------------------------------------------


def test_nothing_is_allocated_and_nothing_kept_alive(live: int) -> None:
    w = leaf(1000)
    h = (w + 1).exp()
    held: list[weakref.ref[Any]] = [weakref.ref(x) for x in (w, h, h.grad_fn)]
    with memory.track() as m:
        found = ts.graph(h, names={"w": w, "h": h})
        texts = [str(found), found.dot(), found.svg(), found.html()]
    assert (m.allocations, m.peak) == (0, 0)
    assert not gc.isenabled()
    del w, h
    assert [each() for each in held] == [None] * 3
    assert _core.memory_counts()[0] == live
    assert texts == [str(found), found.dot(), found.svg(), found.html()]


def test_equal_graphs_give_equal_texts() -> None:
    first, second = step(), step()
    assert first == second
    assert (first.dot(), first.svg(), first.html()) == (second.dot(), second.svg(), second.html())


# --- long and wide graphs ------------------------------------------------------------------------


def test_a_long_chain_is_shortened_in_the_middle() -> None:
    found = ts.graph(chain(leaf(2), 100_000), most=4)
    assert found.operations == 100_000 and found.leaves == 1
    assert calls(found) == [
        "leaf", "add(leaf1, scalar)", "… 99,997 more: most=100001 shows all",
        "add(%99998, scalar)", "add(%99999, scalar)",
    ]  # fmt: skip
    assert [[link.source for link in box.links if link.source >= 0] for box in found.boxes] == [
        [], [0], [1], [2], [3]
    ]  # fmt: skip
    ElementTree.fromstring(found.svg())


def test_a_long_chain_is_shown_whole_as_text_and_not_drawn() -> None:
    found = ts.graph(chain(leaf(2), 2_000), most=10_000)
    assert len(str(found).splitlines()) == 2_005 and found.dot().count("->") == 2_000
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        found.svg()
    assert str(caught.value).splitlines()[0] == "Graph.svg: 2,001 boxes are too many to draw"
    hint = "ts.graph(..., most=1000) shortens it; as text, print() shows any number"
    assert caught.value.hint == hint
    with pytest.raises(ts.errors.InvalidArgument, match=r"Graph\.html"):
        found.html()
    assert found._repr_svg_() is None and found._repr_html_().startswith("<pre>graph of %2000")


def test_as_many_boxes_as_may_be_drawn_are_drawn() -> None:
    found = ts.graph(chain(leaf(2), 5_000), most=graphs.MOST_DRAWN)
    assert len(found.boxes) == graphs.MOST_DRAWN + 1
    assert found.svg().count("<g><title>") == graphs.MOST_DRAWN + 1


def test_wide_fans_are_shortened_too() -> None:
    found = ts.graph(ts.concat([leaf(2) for _ in range(10_000)]).sum(), most=10)
    assert found.leaves == 10_000 and len(found.boxes) == 11
    assert found.boxes[5].call == "… 9,992 more: most=10002 shows all"
    concat = found.boxes[-2]
    assert {link.source for link in concat.links} == {0, 1, 2, 3, 4, 5, 6, 7, 8}
    assert found.svg().count("<path") < 50_000


def test_the_limit_counts_boxes_that_are_shown() -> None:
    y = chain(leaf(2), 3)
    assert len(ts.graph(y, most=4).boxes) == 4
    assert [box.kind for box in ts.graph(y, most=3).boxes] == [
        "leaf", "hidden", "operation", "operation"
    ]  # fmt: skip
    assert [box.name for box in ts.graph(y, most=1).boxes] == ["…", "%3"]


# --- errors --------------------------------------------------------------------------------------


def error_of(*args: Any, **keywords: Any) -> list[str]:
    with pytest.raises(ts.errors.TessellaError) as caught:
        ts.graph(*args, **keywords)
    return str(caught.value).splitlines()


def test_a_tensor_without_a_graph_is_refused_with_the_cure() -> None:
    lines = error_of(ts.ones(3) * 2)
    assert lines[0] == "graph: outputs has no graph: no gradients were recorded for it"
    assert lines[1] == "    float32 (3,)" and "test_diagrams.py" in lines[2]
    assert lines[3] == (
        "  hint: what it is computed from must ask for them first, x.requires_grad_(), with "
        "gradients on"
    )


def test_a_leaf_is_refused() -> None:
    first, *_, hint = error_of([leaf(3).exp(), leaf(3)])
    assert first == "graph: outputs[1] is a leaf: no operation made it"
    assert hint == "  hint: give what is computed from it, such as the loss"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (((3.0,)), "outputs must be a tensor or a list of tensors, got float"),
        (([3.0],), "outputs[0] must be a tensor, got float"),
        (([],), "outputs is []"),
        ((None,), "outputs must be a tensor or a list of tensors, got NoneType"),
    ],
)
def test_what_is_no_tensor_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    assert error_of(*arguments)[0] == f"graph: {message}"


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"most": 0}, "most is 0"),
        ({"most": 2.5}, "most must be an integer, got float"),
        ({"names": ["w"]}, "names must be a dict from names to tensors, got list"),
        ({"names": {1: 2}}, "names must be a dict from names to tensors, got dict"),
        ({"names": {"w": 2}}, "names['w'] must be a tensor, got int"),
    ],
)
def test_wrong_keywords_are_refused(keywords: dict[str, Any], message: str) -> None:
    assert error_of(leaf(3).exp(), **keywords)[0] == f"graph: {message}"


# --- nodes that the engine makes and takes apart --------------------------------------------------


def test_a_graph_that_backward_has_freed_is_refused() -> None:
    out = (leaf(3) * leaf(3)).sum()
    out.backward()
    with pytest.raises(ts.errors.IllegalState) as caught:
        ts.graph(out)
    assert caught.value.what == "the graph was freed: backward has gone through its sum"
    assert caught.value.hint == (
        "look at it before backward(), or call backward(retain_graph=True)"
    )


class Split(ts.autograd.Function):
    """Two results of one call, which keeps one input and one result."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        first, second = x[:2] * 1, x[2:] * 1
        ctx.save_for_backward(None, second)
        return first, second

    @staticmethod
    def backward(ctx: Any, *gs: ts.Tensor) -> ts.Tensor:
        return ts.concat(gs)


def test_several_results_and_what_a_call_keeps_itself_are_shown() -> None:
    first, second = Split.apply(leaf(6))
    box = (found := ts.graph([first, second, first])).boxes[-1]
    assert box.call == "Split(leaf1)"
    assert box.gives == "float32 (2,), float32 (4,)"
    assert [str(saved) for saved in box.saved] == ["saved[0] float32 (4,) 16 B"]
    assert found.saved_bytes == 16
