"""Rotary embeddings: pairs of features turned by angles that grow with the place in a sequence.

The product of a query and a key that were turned depends on how far apart they are alone.
"""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import float32
from tessella.hints import Any
from tessella.kinds import cast
from tessella.nn import sequence_errors
from tessella.ops.joining import concat, stack
from tessella.ops.movement import reshape


def _rotary_ref(np: Any, x: Any, cos: Any, sin: Any, interleaved: bool = False) -> Any:
    n = cos.shape[-1]
    if interleaved:
        a, b = x[..., 0 : 2 * n : 2], x[..., 1 : 2 * n : 2]
    else:
        a, b = x[..., :n], x[..., n : 2 * n]
    turned = [a * cos - b * sin, b * cos + a * sin]
    if interleaved:
        turned = [np.stack(turned, axis=-1).reshape(*turned[0].shape[:-1], 2 * n)]
    rest = np.broadcast_to(x[..., 2 * n :], (*turned[0].shape[:-1], x.shape[-1] - 2 * n))
    return np.concatenate([*turned, rest], axis=-1)


_X, _ANGLES = (2, 3, 5, 8), (5, 4)


@composite(
    home="nn.functional", is_method=False, ref=_rotary_ref, ulps=8,
    samples=[case(_X, _ANGLES, _ANGLES), case(_X, _ANGLES, _ANGLES, interleaved=True),
             case(_X, (5, 3), (5, 3)), case(_X, (5, 3), (5, 3), interleaved=True),
             case((3, 2), (3, 1), (3, 1)), case((2, 3, 4), (2, 1, 2), (2, 1, 2)),
             case((0, 4), (1, 2), (1, 2)), case((5, 8), (5, 0), (5, 0))],
    errors=[case((), (1,), (1,), match="x.ndim is 0"), case((4,), (), (), match="cos.ndim is 0"),
            case(_X, (5, 5), (5, 5), match="cos has 5 angles, and x 8 features"),
            case(_X, (5, 4), (5, 3), match=r"cos is \(5, 4\), and sin \(5, 3\)"),
            case(_X, (4, 4), (4, 4), match=r"cos is \(4, 4\), which does not fit"),
            case((3, 5, 8), (2, 3, 5, 4), (2, 3, 5, 4), match=r"cos is \(2, 3, 5, 4\), which"),
            case(_X, _ANGLES, _ANGLES, dtype="int64", match="not defined for int64")],
)  # fmt: skip
def rotary(x: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool = False) -> Tensor:
    """Turn pairs of features (a, b) to (a cos - b sin, b cos + a sin).

    Pairs are feature i and feature i + n, where n is the number of angles (the last axis of `cos`
    and `sin`), or, interleaved, features 2i and 2i + 1. Features beyond 2n stay as they are.
    Cosines broadcast to (…, places, n). Halves are turned in float32.

    >>> x, half = ts.tensor([[1.0, 0.0]]), ts.tensor([[ts.pi / 2]])
    >>> nn.functional.rotary(x, half.cos(), half.sin()).round().tolist()
    [[-0.0, 1.0]]
    """
    n = check_angles(x, cos, sin)
    dtype = x.dtype
    if dtype.itemsize < float32.itemsize:
        x = cast(x, float32)
    cos, sin = cast(cos, x.dtype), cast(sin, x.dtype)
    if interleaved:
        a, b = x[..., 0 : 2 * n : 2], x[..., 1 : 2 * n : 2]
    else:
        a, b = x[..., :n], x[..., n : 2 * n]
    turned = [a * cos - b * sin, b * cos + a * sin]
    if interleaved:
        turned = [reshape(stack(turned, axis=-1), (*x.shape[:-1], 2 * n))]
    if 2 * n < x.shape[-1]:
        turned.append(x[..., 2 * n :])
    return cast(concat(turned, axis=-1) if len(turned) > 1 else turned[0], dtype)


def check_angles(x: Tensor, cos: Tensor, sin: Tensor) -> int:
    """Require cosines and sines of one shape, which fit the pairs of x; give their number."""
    for name, value in (("x", x), ("cos", cos), ("sin", sin)):
        if not value.dtype.is_floating:
            raise errors.no_kernel(
                value.dtype, f"{name} must hold floats: {name}.astype(ts.float32)"
            )
        if value.ndim == 0:
            raise errors.wrong_value(f"{name}.ndim", 0, "at least 1: features are the last axis")
    n = cos.shape[-1]
    if cos.shape != sin.shape:
        raise sequence_errors.angle_shapes(cos.shape, sin.shape)
    if 2 * n > x.shape[-1]:
        raise sequence_errors.too_many_angles(n, x.shape[-1])
    outer = x.shape[-cos.ndim : -1] if cos.ndim > 1 else ()
    fits = cos.ndim <= x.ndim and all(
        size in (1, whole) for size, whole in zip(cos.shape[:-1], outer, strict=True)
    )
    if not fits:
        raise sequence_errors.angles_do_not_fit(cos.shape, (*x.shape[:-1], n))
    return n
