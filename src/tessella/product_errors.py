"""The messages about products and linear algebra."""

from __future__ import annotations

from tessella.errors import InvalidArgument, ShapeError


def cross_size(name: str, axis: int, size: int) -> ShapeError:
    """A cross product of vectors that have not 3 elements."""
    return ShapeError(f"axis {axis} of {name} has size {size}", "vectors of 3 elements have one")


def einsum_character(character: str, subscripts: str) -> InvalidArgument:
    """Something in the subscripts of an operand that names no axis."""
    return InvalidArgument(
        f"{character!r} in {subscripts!r} names no axis",
        "operands are letters and one ..., with commas between and one -> before the result",
    )


def einsum_count(named: int, given: int) -> InvalidArgument:
    """Another number of operands than the equation has."""
    return InvalidArgument(
        f"{named} operands are named, {given} given", "commas separate the operands' subscripts"
    )


def einsum_rank(place: int, subscripts: str, ndim: int) -> ShapeError:
    """An operand whose axes are more or fewer than its letters."""
    letters = len(subscripts.replace("...", ""))
    return ShapeError(
        f"operand {place} has {ndim} axes, its subscripts {subscripts!r} name {letters}",
        "one letter for each axis; ... stands for any number of axes that broadcast",
    )


def einsum_sizes(label: str, first: tuple[int, int], other: tuple[int, int]) -> ShapeError:
    """One letter for axes of different sizes; each is a size and the operand's place."""
    where = f"{first[0]} in operand {first[1]} and {other[0]} in operand {other[1]}"
    if first[1] == other[1]:
        where = f"{first[0]} and {other[0]} in operand {other[1]}"
    return ShapeError(f"{label} is {where}", "the axes of one letter must have one size")


def einsum_output(letter: str, is_repeated: bool) -> InvalidArgument:
    """A letter of the result that no operand has, or that stands there twice."""
    what = "appears twice" if is_repeated else "is in no operand"
    return InvalidArgument(f"index {letter} of the result {what}", "name each letter once")


def not_square(name: str, shape: object) -> ShapeError:
    """Matrices that have not as many rows as columns."""
    return ShapeError(
        f"{name}.shape is {shape}", "the last two axes must be equal: square matrices"
    )


def solve_sizes(a: int, b: int) -> ShapeError:
    """A right side that does not fit its equations."""
    return ShapeError(
        f"a has {a} rows, b {b}", "b is a vector of that length, or matrices with as many rows"
    )


def singular(name: str, is_finite: bool) -> InvalidArgument:
    """A matrix without an inverse."""
    return InvalidArgument(
        f"{name} is singular: it has no inverse",
        "linalg.pinv and linalg.lstsq give the nearest there is",
    )


def not_definite(name: str, is_finite: bool) -> InvalidArgument:
    """A matrix without a Cholesky factor."""
    return InvalidArgument(
        f"{name} is not positive definite",
        "where rounding made it so, add a little to its diagonal: x + 1e-6 * ts.eye(n)",
    )


def no_convergence(name: str, is_finite: bool) -> InvalidArgument:
    """A matrix whose decomposition LAPACK did not find."""
    why = "the iteration did not converge" if is_finite else "it holds NaN or infinity"
    return InvalidArgument(f"{name} has no decomposition: {why}", "ts.isfinite(x) shows where")
