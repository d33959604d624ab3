"""einsum: sums of products named by letters, done as views, sums and batched matrix products.

Equation and shapes give a plan, which is kept. It brings each operand to one letter for each axis:
equal letters become a diagonal, letters that only it has are summed, axes that stretch go. Then
pairs are contracted, each by one `matmul` over (shared letters that stay, rows, summed letters)
and (…, summed letters, columns).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from tessella import errors, product_errors
from tessella._core import Tensor
from tessella.arguments import LISTS
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import boolean, int64, promote
from tessella.hints import Any, Iterable, Sequence
from tessella.kinds import cast
from tessella.ops.elementwise import mul
from tessella.ops.matmul import matmul
from tessella.ops.movement import diagonal, permute, reshape, squeeze
from tessella.ops.reduce import sum

# A letter, or the place of an axis under `...`, counted from the last: -1, -2, …
Label = str | int
Labels = tuple[Label, ...]
Shape = tuple[int, ...]
ELLIPSIS = "..."


# --- reading the equation ------------------------------------------------------------------------


def _split(equation: str, count: int) -> tuple[list[str], str | None]:
    """Give the subscripts of each operand, and those of the result where they are named."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    for piece in (*left.split(","), right):
        _check_letters(piece)
    inputs = left.split(",")
    if len(inputs) != count:
        raise product_errors.einsum_count(len(inputs), count)
    return inputs, right if arrow else None


def _check_letters(piece: str) -> None:
    rest = piece.replace(ELLIPSIS, "", 1)
    wrong = next((c for c in rest if not (c.isascii() and c.isalpha())), None)
    if wrong is not None:
        raise product_errors.einsum_character(wrong, piece)


def _labels(piece: str, ndim: int, place: int) -> list[Label]:
    """Name each axis of an operand; `...` stands for the axes that have no letter."""
    before, dots, after = piece.partition(ELLIPSIS)
    hidden = ndim - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        raise product_errors.einsum_rank(place, piece, ndim)
    return [*before, *range(-hidden, 0), *after]


def _result_labels(right: str | None, inputs: Sequence[Sequence[Label]]) -> list[Label]:
    """Name the axes of the result: as asked, or `...` and the letters that appear once."""
    counts = Counter(label for labels in inputs for label in labels)
    hidden = sorted(label for label in counts if isinstance(label, int))
    if right is None:
        once = (c for c, n in counts.items() if n == 1 and isinstance(c, str))
        return [*hidden, *sorted(once)]
    before, dots, after = right.partition(ELLIPSIS)
    for letter, n in Counter(before + after).items():
        if letter not in counts or n > 1:
            raise product_errors.einsum_output(letter, n > 1)
    return [*before, *(hidden if dots else ()), *after]


def _sizes(shapes: Sequence[Shape], inputs: Sequence[Sequence[Label]]) -> dict[Label, int]:
    """Give the size of each label; a size of 1 stretches, and others must be equal."""
    sizes: dict[Label, tuple[int, int]] = {}
    for place, (shape, labels) in enumerate(zip(shapes, inputs, strict=True)):
        own: dict[Label, int] = {}
        for label, size in zip(labels, shape, strict=True):
            known = (own[label], place) if label in own else sizes.get(label, (1, place))
            is_own = label in own
            if size != known[0] and (is_own or 1 not in (size, known[0])):
                raise product_errors.einsum_sizes(_shown(label), known, (size, place))
            own[label] = size
            sizes[label] = known if known[0] != 1 else (size, place)
    return {label: size for label, (size, _) in sizes.items()}


def _shown(label: Label) -> str:
    return f"index {label}" if isinstance(label, str) else f"axis {label} under ..."


def _as_equation(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write the form with lists, x, [0, 1], y, [1, 2], [0, 2], with letters."""
    operands, lists = list(args[0 : len(args) // 2 * 2 : 2]), list(args[1::2])
    pieces = [_as_letters(each) for each in lists]
    equation = ",".join(pieces)
    if len(args) % 2:
        equation += "->" + _as_letters(args[-1])
    return equation, operands


def _as_letters(numbers: Any) -> str:
    if not isinstance(numbers, list | tuple):
        raise errors.wrong_type("a list of axes", numbers, "a list of integers and ...")
    letters = []
    for number in numbers:
        if number is ...:
            letters.append(ELLIPSIS)
            continue
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 52:
            raise errors.wrong_value("an axis", number, "an integer from 0 to 51, or ...")
        letters.append(chr(ord("A") + number if number < 26 else ord("a") + number - 26))
    return "".join(letters)


# --- planning ------------------------------------------------------------------------------------


class Single(NamedTuple):
    """What is done to one operand: pairs of axes to their diagonals, axes squeezed, axes summed."""

    diagonals: tuple[tuple[int, int], ...]
    squeezed: Shape
    summed: Shape


class Pair(NamedTuple):
    """What is done to two terms: the order and then the shape of each, the product, its sum."""

    places: tuple[int, int]
    orders: tuple[Shape, Shape]
    shapes: tuple[Shape, Shape]
    is_matmul: bool
    summed: Shape
    shape: Shape


class Plan(NamedTuple):
    """The steps to a result; `order` is that of the axes of the last term."""

    singles: tuple[Single, ...]
    pairs: tuple[Pair, ...]
    summed: Shape
    order: Shape


# Below so many summed terms, products and a sum are quicker than a matrix product for each.
_SHORT = 32


@lru_cache(maxsize=256)
def make_plan(equation: str, shapes: tuple[Shape, ...]) -> Plan:
    """Read an equation and choose the steps for operands of these shapes."""
    pieces, right = _split(equation, len(shapes))
    inputs = [_labels(pieces[i], len(shape), i) for i, shape in enumerate(shapes)]
    result = _result_labels(right, inputs)
    sizes = _sizes(shapes, inputs)
    keep = set(result)
    singles, terms = [], []
    for i, (shape, labels) in enumerate(zip(shapes, inputs, strict=True)):
        others = keep.union(*(other for j, other in enumerate(inputs) if j != i))
        single, term = _plan_single(shape, labels, sizes, others)
        singles.append(single)
        terms.append(term)
    pairs = []
    while len(terms) > 1:
        i, j = _next_pair(terms, keep, sizes)
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        pair, term = _plan_pair((i, j), terms[i], terms[j], _needed(rest, keep), sizes)
        pairs.append(pair)
        terms = [*rest, term]
    summed = tuple(i for i, c in enumerate(terms[0]) if c not in keep)
    left = [c for c in terms[0] if c in keep]
    return Plan(tuple(singles), tuple(pairs), summed, tuple(left.index(c) for c in result))


def _plan_single(
    shape: Shape, labels: list[Label], sizes: dict[Label, int], needed: set[Label]
) -> tuple[Single, Labels]:
    """Bring an operand to one label for each axis, and only labels that are needed."""
    diagonals = []
    while len(set(labels)) < len(labels):
        first = next(i for i, label in enumerate(labels) if label in labels[i + 1 :])
        second = labels.index(labels[first], first + 1)
        diagonals.append((first, second))
        pair = (first, second)
        shape = (*(n for i, n in enumerate(shape) if i not in pair), shape[first])
        labels = [c for i, c in enumerate(labels) if i not in pair] + [labels[first]]
    squeezed = tuple(i for i, c in enumerate(labels) if shape[i] == 1 and sizes[c] != 1)
    labels = [c for i, c in enumerate(labels) if i not in squeezed]
    summed = tuple(i for i, c in enumerate(labels) if c not in needed)
    return Single(tuple(diagonals), squeezed, summed), tuple(c for c in labels if c in needed)


def _plan_pair(
    places: tuple[int, int], a: Labels, b: Labels, keep: set[Label], sizes: dict[Label, int]
) -> tuple[Pair, Labels]:
    """Multiply two terms and sum over the labels that nothing else needs."""

    def size(labels: Iterable[Label]) -> int:
        return math.prod(sizes[c] for c in labels)

    shared = [c for c in a if c in b]
    batch = [c for c in shared if c in keep]
    inner = [c for c in (a if size(a) >= size(b) else b) if c in shared and c not in keep]
    rows, columns = ([c for c in labels if c not in shared] for labels in (a, b))
    out = (*batch, *rows, *columns)
    outer = tuple(sizes[c] for c in batch)
    is_dot = not rows and not columns and batch and size(inner) < _SHORT
    is_matmul = bool(inner) and not is_dot
    if is_matmul:
        # The order of the summed labels is that of the larger term, which is then copied less.
        orders = ((*batch, *rows, *inner), (*batch, *inner, *columns))
        shapes = ((*outer, size(rows), size(inner)), (*outer, size(inner), size(columns)))
        summed: Shape = ()
    else:
        orders = ((*batch, *rows, *inner), (*batch, *columns, *inner))
        last = tuple(sizes[c] for c in inner)
        left, right = (tuple(sizes[c] for c in labels) for labels in (rows, columns))
        shapes = ((*outer, *left, *(1 for _ in right), *last),
                  (*outer, *(1 for _ in left), *right, *last))  # fmt: skip
        summed = tuple(range(len(out), len(out) + len(inner)))
    first, second = (tuple(labels.index(c) for c in order)
                     for labels, order in zip((a, b), orders, strict=True))  # fmt: skip
    shape = tuple(sizes[c] for c in out)
    return Pair(places, (first, second), shapes, is_matmul, summed, shape), out


def _next_pair(
    terms: Sequence[Labels], keep: set[Label], sizes: dict[Label, int]
) -> tuple[int, int]:
    """Choose the pair to contract next.

    The best order of contractions takes exponential time to find. Greedy by memory is near it on
    the equations that people write: the pair whose result adds the fewest elements beyond its
    operands, and among equals the one with the fewest products.
    """

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        a, b = (terms[i] for i in pair)
        others = _needed((t for i, t in enumerate(terms) if i not in pair), keep)
        union = {*a, *b}
        grown, *given = (math.prod(sizes[c] for c in labels) for labels in (union & others, a, b))
        return grown - given[0] - given[1], math.prod(sizes[c] for c in union)

    return min(combinations(range(len(terms)), 2), key=cost)


def _needed(terms: Iterable[Labels], keep: set[Label]) -> set[Label]:
    return keep.union(*terms)


# --- computing -----------------------------------------------------------------------------------


def _sum_over(x: Tensor, axes: Shape) -> Tensor:
    """Sum without widening integers, as products do."""
    return cast(sum(x, axis=axes), x.dtype) if axes else x


def _arranged(x: Tensor, order: Shape, shape: Shape | None = None) -> Tensor:
    """Put the axes into an order, then merge them to a shape; nothing where nothing changes."""
    if order != tuple(range(len(order))):
        x = permute(x, order)
    return x if shape is None or shape == x.shape else reshape(x, shape)


def _reduced(x: Tensor, single: Single) -> Tensor:
    for first, second in single.diagonals:
        x = diagonal(x, 0, first, second)  # as the last axis
    if single.squeezed:
        x = squeeze(x, single.squeezed)
    return _sum_over(x, single.summed)


def _follow(plan: Plan, xs: Sequence[Tensor]) -> Tensor:
    """Compute by a plan."""
    terms = [_reduced(x, single) for x, single in zip(xs, plan.singles, strict=True)]
    for pair in plan.pairs:
        i, j = pair.places
        left = _arranged(terms[i], pair.orders[0], pair.shapes[0])
        right = _arranged(terms[j], pair.orders[1], pair.shapes[1])
        del terms[j], terms[i]  # i < j
        out = matmul(left, right) if pair.is_matmul else mul(left, right)
        out = _sum_over(out, pair.summed)
        terms.append(out if out.shape == pair.shape else reshape(out, pair.shape))
    return _arranged(_sum_over(terms[0], plan.summed), plan.order)


@composite(
    ref="einsum", is_method=False,
    samples=[case("ij,jk->ik", (2, 3), (3, 4)), case("ij,jk", (2, 3), (3, 4)), case("ii", (3, 3)),
             case("ii->i", (3, 3)), case("ba", (2, 3)), case("i,j->ij", (2,), (3,)),
             case("...ij,...jk->...ik", (5, 2, 3), (3, 4)), case("ij->", (2, 3)),
             case("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), case("i,i->", (3,), (3,)),
             case("ij,kj,lk->il", (2, 3), (4, 3), (5, 4)), case("iij,jk->ki", (2, 2, 3), (3, 2)),
             case("b i j, b j -> b i", (2, 0, 3), (2, 3)), case(",ij->ji", (), (2, 3)),
             case("ij,ij->ij", (2, 1), (1, 3)), case("...->...", (2, 3))],
    errors=[case("ij,jk->ik", (2, 3), (4, 5), match="index j is 3 in operand 0 and 4 in operand 1"),
            case("ii->i", (2, 3), match="index i is 2 and 3 in operand 0"),
            case("ij", (2, 3, 4), match="operand 0 has 3 axes, its subscripts 'ij' name 2"),
            case("ij,jk", (2, 3), match="2 operands are named, 1 given"),
            case("i1->i", (2, 3), match="'1' in 'i1'"), case("i.", (2,), match="'.' in 'i.'"),
            case("ij->k", (2, 3), match="index k of the result is in no operand"),
            case("ij->ii", (2, 3), match="index i of the result appears twice"),
            case("i->j->i", (2,), match="'-' in 'j->i'"),
            case("...i,...i", (2, 3), (4, 3), match=r"axis -1 under ... is 2 in operand 0 and 4")],
)  # fmt: skip
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sum products of operands over the letters that the result does not have.

    Each operand has a letter for each axis, and `...` for those that broadcast. Without `->` the
    result has `...`, then the letters that appear once, sorted. A letter twice in one operand is
    its diagonal. Lists of integers may stand for letters: `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    >>> x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ts.einsum("ij,jk->ik", x, x).tolist()
    [[7.0, 10.0], [15.0, 22.0]]
    >>> ts.einsum("ij->ji", x).tolist(), ts.einsum("ii", x).item()
    ([[1.0, 3.0], [2.0, 4.0]], 5.0)
    """
    is_listed = len(operands) == 1 and isinstance(operands[0], LISTS)
    xs: list[Any] = list(operands[0] if is_listed else operands)
    if isinstance(equation, Tensor):
        equation, xs = _as_equation([equation, *operands])
    if not isinstance(equation, str):
        raise errors.wrong_type("equation", equation, 'text such as "ij,jk->ik"')
    for i, x in enumerate(xs):
        if not isinstance(x, Tensor):
            raise errors.not_tensor(f"operands[{i}]", x, "a tensor")
    plan = make_plan(equation, tuple(x.shape for x in xs))
    dtype = xs[0].dtype
    for x in xs[1:]:
        dtype = promote(dtype, x.dtype)
    inside = int64 if dtype is boolean else dtype  # a sum of bools is whether one is true
    return cast(_follow(plan, [cast(x, inside) for x in xs]), dtype)
