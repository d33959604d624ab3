"""What was recorded, collected into a Graph of plain data. Nothing is computed or allocated.

The walk goes by a stack of its own, so that a chain may have any length; the figures are those of
all nodes, and boxes are made of those that are shown. Nodes and leaves are known by their
addresses, which stay theirs while the outputs hold the graph.
"""

from __future__ import annotations

from tessella import _core, diagram_errors
from tessella._core import Node, Tensor
from tessella.arguments import LISTS, to_count
from tessella.diagrams.graphs import Graph
from tessella.diagrams.parts import Box, Link, Saved, printable, shorten, show
from tessella.dtypes import DType
from tessella.errors import TessellaError, not_tensor, wrong_value
from tessella.hints import Any, Iterator, Sequence

PLAIN = (bool, int, float, str, type(None))  # parameters that are compared with their defaults


def graph(
    outputs: Tensor | Sequence[Tensor], *, names: dict[str, Tensor] | None = None, most: int = 200
) -> Graph:
    """Show what was recorded for a tensor or several: the graph that backward goes through.

    The result prints as a table, is a drawing in notebooks, and has `dot()`, `svg()`, `html()` and
    `save(path)`. `names` are those of leaves and results; of a graph of more than `most` leaves
    and operations, those in the middle are not shown.

    >>> w = ts.ones(3).requires_grad_()
    >>> print(ts.graph((w + 1.0).exp().sum(), names={"w": w}))
    graph of %3: 3 operations, 1 leaf
    saved for backward: 12 B in 1 buffer; the leaves' own memory: 12 B
    <BLANKLINE>
      name  operation           gives...at...saves
      w     leaf                float32 (3,) 12 B
      %1    add(w, scalar)      float32 (3,)...
      %2    exp(%1)             float32 (3,)...out float32 (3,) 12 B
      %3    sum(%2, axis=(0,))  float32 ()...
    """
    try:
        roots = checked_outputs(outputs)
        known = checked_names(names)
        limit = to_count("most", most)
        return Collector(roots, known).graph(limit)
    except TessellaError as error:
        raise error.locate("graph", described(outputs)) from None


# --- arguments ------------------------------------------------------------------------------------


def checked_outputs(outputs: Any) -> list[Tensor]:
    """Give the outputs as a list; refuse what has no graph."""
    is_list = isinstance(outputs, LISTS)
    roots: list[Any] = list(outputs) if is_list else [outputs]
    if not roots:
        raise wrong_value("outputs", outputs, "at least one tensor")
    for i, x in enumerate(roots):
        name = f"outputs[{i}]" if is_list else "outputs"
        if not isinstance(x, Tensor):
            raise not_tensor(name, x, "a tensor" if is_list else "a tensor or a list of tensors")
        if x.grad_fn is None:
            refuse = diagram_errors.only_leaf if x.requires_grad else diagram_errors.no_graph
            raise refuse(name)
    return roots


def checked_names(names: Any) -> dict[int, str]:
    """Give names by the nodes and leaves that they are for; those of one tensor are joined."""
    known: dict[int, str] = {}
    if names is None:
        return known
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names):
        raise diagram_errors.not_named(names)
    for name, x in names.items():
        if not isinstance(x, Tensor):
            raise not_tensor(f"names[{name!r}]", x, "a tensor")
        key = id(x if x.grad_fn is None else x.grad_fn)
        clean = shorten(printable(name))
        known[key] = f"{known[key]}|{clean}" if key in known else clean
    return known


def described(outputs: Any) -> list[str]:
    """Show the outputs in an error."""
    roots = outputs if isinstance(outputs, LISTS) else [outputs]
    return [f"{x.dtype} {x.shape}" for x in roots if isinstance(x, Tensor)][:6]


# --- the walk -------------------------------------------------------------------------------------


def in_order(roots: Sequence[Tensor]) -> list[Node | Tensor]:
    """Give the nodes and leaves that the roots come from: each once, after all that it needs."""
    order: list[Node | Tensor] = []
    seen: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root.grad_fn, False) for root in reversed(roots)]
    while stack:
        each, is_done = stack.pop()
        if is_done:
            order.append(each)
        elif id(each) not in seen:
            seen.add(id(each))
            stack.append((each, True))
            if not isinstance(each, Tensor):
                check_alive(each)
                stack += [(x, False) for x in reversed(each.inputs) if x is not None]
    return order


def check_alive(node: Node) -> None:
    """Refuse a node that backward has taken apart."""
    if node.is_used:
        raise diagram_errors.freed_graph(node.name)


def operand_names(node: Node) -> list[str]:
    """Name the inputs as the record does; of a list of tensors, by their places."""
    names: tuple[str, ...] = node.function.record.operands
    count = len(node.inputs)
    return list(names) if len(names) == count else [f"{names[0]}[{i}]" for i in range(count)]


def saved_names(node: Node) -> list[str]:
    """Name what is saved: inputs and the output; where no rule asks for them, by places."""
    if node.function.record.saves:
        return [*operand_names(node), "out"]
    return [f"saved[{i}]" for i in range(len(node.saved))]


def params_text(node: Node) -> str:
    """Show the parameters, without those that are as the record has them."""
    defaults = node.function.record.params
    if not defaults:  # what a user's call keeps is not for showing
        return ""
    parts = []
    for name, value in (node.params or {}).items():
        default = defaults.get(name)
        if type(value) in PLAIN and type(default) is type(value) and default == value:
            continue
        parts.append(f"{name}={shorten(printable(show(value)))}")
    return shorten(", ".join(parts))


def tensors_in(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """Give the tensors of a parameter, which the node holds too, with their names."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, LISTS):
        for i, each in enumerate(value):
            yield from tensors_in(f"{name}[{i}]", each)


class Collector:
    """One walk: the names of all nodes and leaves, what they give, and the memory they keep."""

    def __init__(self, roots: Sequence[Tensor], known: dict[int, str]) -> None:
        self.order = in_order(roots)
        self.labels = labels_of(self.order, known)
        self.outputs = {id(root.grad_fn): self.labels[id(root.grad_fn)] for root in roots}
        self.homes: dict[int, str] = {}  # buffers that are counted, by the box that counts them
        self.leaf_bytes = self.saved_bytes = self.saved_buffers = 0
        self.gives: dict[int, dict[str, None]] = {}  # dtypes and shapes, each once
        for root in roots:
            self.note(root.grad_fn, root.dtype, root.shape)
        for each in self.order:
            if isinstance(each, Tensor):
                self.count_leaf(each)
            else:
                self.note_inputs(each)

    def graph(self, most: int) -> Graph:
        """Make the boxes, at most so many, and one for those in the middle that are left out."""
        count = len(self.order)
        head, tail = (count, count) if count <= most else (most // 2, count - (most - most // 2))
        places = {id(each): i for i, each in enumerate(self.order[:head])}
        places |= {id(each): head for each in self.order[head:tail]}
        places |= {id(each): head + 1 + i for i, each in enumerate(self.order[tail:])}
        boxes: list[Box] = []
        for i, each in enumerate(self.order):
            saved = () if isinstance(each, Tensor) else self.saved(each)
            if head <= i < tail:
                continue
            if i == tail:
                boxes.append(self.hidden_box(self.order[head:tail], places, head))
            boxes.append(self.box(each, saved, places))
        leaves = sum(isinstance(each, Tensor) for each in self.order)
        return Graph(
            count - leaves, leaves, self.saved_bytes, self.saved_buffers, self.leaf_bytes,
            tuple(self.outputs.values()), tuple(boxes),
        )  # fmt: skip

    # --- figures ---

    def count_leaf(self, leaf: Tensor) -> None:
        """Count the memory of a leaf, which lives without the graph too."""
        key = _core.buffer_key(leaf)
        if key not in self.homes:
            self.homes[key] = self.labels[id(leaf)]
            self.leaf_bytes += _core.buffer_bytes(leaf)

    def note_inputs(self, node: Node) -> None:
        """Note what the inputs of a node give: an operation's result is known by its users."""
        for x, dtype, shape in zip(node.inputs, node.input_dtypes, node.input_shapes, strict=True):
            if x is not None:
                self.note(x, dtype, shape)

    def note(self, x: Any, dtype: DType | None, shape: tuple[int, ...]) -> None:
        """Note a dtype and a shape that a node or leaf gives."""
        self.gives.setdefault(id(x), {})[f"{dtype} {shape}"] = None

    def saved(self, node: Node) -> tuple[Saved, ...]:
        """Give what a node keeps, and count it."""
        found = zip(saved_names(node), node.saved, strict=True)
        kept = [(name, x) for name, x in found if isinstance(x, Tensor)]
        for name, value in (node.params or {}).items():
            kept += tensors_in(name, value)
        label = self.labels[id(node)]
        return tuple(self.count_saved(label, name, x) for name, x in kept)

    def count_saved(self, label: str, operand: str, x: Tensor) -> Saved:
        """Count a buffer where it is first met."""
        size = _core.buffer_bytes(x)
        home = self.homes.setdefault(_core.buffer_key(x), "")
        if x.is_freed:
            note = "freed"
        elif home:
            note = f"in {home}" if home != label else "again"
        else:
            self.homes[_core.buffer_key(x)] = label
            self.saved_bytes += size
            self.saved_buffers += 1
            note = ""
        return Saved(operand, str(x.dtype), x.shape, size, note)

    # --- boxes ---

    def box(self, each: Any, saved: tuple[Saved, ...], places: dict[int, int]) -> Box:
        """Make the box of a leaf or a node."""
        label = self.labels[id(each)]
        results = tuple(self.gives[id(each)])
        if isinstance(each, Tensor):
            return Box("leaf", label, "leaf", results=results, bytes=_core.buffer_bytes(each))
        site = each.site and (printable(each.site[0]), each.site[1])
        return Box(
            "operation", label, each.name, params_text(each), self.links(each, places),
            results, 0, site, saved, id(each) in self.outputs,
        )  # fmt: skip

    def links(self, node: Node, places: dict[int, int]) -> tuple[Link, ...]:
        """Give the operands of a node; one that takes no gradient is a value or a shape."""
        links = []
        inputs = zip(operand_names(node), node.inputs, node.input_shapes, node.saved, strict=False)
        for operand, x, shape, kept in inputs:
            if x is not None:
                links.append(Link(operand, self.labels[id(x)], places[id(x)]))
            elif kept is None or isinstance(kept, Tensor):
                links.append(Link(operand, str(shape) if shape else "scalar"))
            else:
                links.append(Link(operand, show(kept)))
        return tuple(links)

    def hidden_box(self, hidden: Sequence[Any], places: dict[int, int], place: int) -> Box:
        """Make the box that stands for all that is not shown."""
        users = (x for each in hidden if not isinstance(each, Tensor) for x in each.inputs)
        sources = sorted({places[id(x)] for x in users if x is not None} - {place})
        text = f"… {len(hidden):,} more: most={len(self.order)} shows all"
        links = tuple(Link("", "", source) for source in sources)
        return Box("hidden", "…", text, links=links)


def labels_of(order: Sequence[Node | Tensor], known: dict[int, str]) -> dict[int, str]:
    """Give each node and leaf its name: a given one, else a number that no given one has."""
    taken = set(known.values())
    counts = {"leaf": 0, "%": 0}
    labels: dict[int, str] = {}
    for each in order:
        prefix = "leaf" if isinstance(each, Tensor) else "%"
        counts[prefix] += 1
        while f"{prefix}{counts[prefix]}" in taken:
            counts[prefix] += 1
        labels[id(each)] = known.get(id(each)) or f"{prefix}{counts[prefix]}"
    return labels
