"""Windows of images as columns, and back: what a convolution multiplies, spread out."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Ints, composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.nn import layer_errors
from tessella.nn.functional import references
from tessella.nn.functional.geometry import batched, reach, spread, unbatched, windows
from tessella.ops import movement
from tessella.ops.movement import embed, getitem, permute, reshape
from tessella.ops.padding import pad as pad_with_zeros

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False}


class Columns:
    """The windows of an image of some height and width: their sizes, steps and number."""

    def __init__(self, size: Any, kernel_size: Any, dilation: Any, padding: Any,
                 stride: Any) -> None:  # fmt: skip
        self.window = spread("kernel_size", kernel_size, 2)
        self.dilation = spread("dilation", dilation, 2)
        self.pad = spread("padding", padding, 2, 0)
        self.stride = spread("stride", stride, 2)
        self.spans = tuple([reach(*each) for each in zip(self.window, self.dilation, strict=True)])
        sizes = zip(size, self.spans, self.stride, self.pad, strict=True)
        self.places = tuple([windows(n, (p, p), span, step) for n, span, step, p in sizes])
        self.padded = tuple([n + 2 * p for n, p in zip(size, self.pad, strict=True)])

    def key(self, axis: int) -> tuple[Any, ...]:
        """Give the key of every dilation-th element of the last axis, where windows are."""
        return (..., slice(None, None, self.dilation[axis]))


@composite(
    **_DECLARED, ref=references.unfold, ulps=0,
    samples=[case((2, 3, 5, 6), 2), case((3, 5, 6), kernel_size=(2, 3), padding=1, stride=2),
             case((1, 2, 7, 6), kernel_size=(3, 2), dilation=(2, 1), padding=(1, 0),
                  stride=(1, 2))],
    errors=[case((2, 3, 5, 6), 7, match="a window of 7 is longer than the axis of 5"),
            case((5, 6), 2, match="x.ndim is 2"),
            case((2, 3, 5, 6), 2, stride=0, match="stride is 0")],
)  # fmt: skip
def unfold(x: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
           stride: Ints = 1) -> Tensor:  # fmt: skip
    """Give the windows of images (n, channels, height, width) as columns.

    The result is (n, channels * elements of a window, windows).

    >>> x = ts.reshape(ts.arange(9.0), (1, 1, 3, 3))
    >>> ts.nn.functional.unfold(x, 2)[0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    x, is_added = batched(x, 2)
    it = Columns(x.shape[2:], kernel_size, dilation, padding, stride)
    n, channels = x.shape[:2]
    rows, cols = it.pad
    x = pad_with_zeros(x, (cols, cols, rows, rows))
    for axis in (0, 1):
        x = movement.unfold(x, 2 + axis, it.spans[axis], it.stride[axis])
        x = getitem(x, key=it.key(axis))
    x = permute(x, (0, 1, 4, 5, 2, 3))  # (n, channels, window, places)
    return unbatched(
        reshape(x, (n, channels * math.prod(it.window), math.prod(it.places))), is_added
    )


@composite(
    **_DECLARED, ref=references.fold,
    samples=[case((2, 12, 20), output_size=(5, 6), kernel_size=2),
             case((12, 9), output_size=(4, 5), kernel_size=(2, 3), padding=1, stride=2),
             case((1, 12, 12), output_size=(7, 5), kernel_size=(3, 2), dilation=(2, 1),
                  padding=(1, 0), stride=(2, 1))],
    errors=[case((2, 12, 19), output_size=(5, 6), kernel_size=2, match="x has 19 columns"),
            case((2, 13, 20), output_size=(5, 6), kernel_size=2, match="x has 13 rows"),
            case((2, 2, 12, 20), output_size=(5, 6), kernel_size=2, match="x.ndim is 4")],
)  # fmt: skip
def fold(x: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
         stride: Ints = 1) -> Tensor:  # fmt: skip
    """Add columns up where they came from: the adjoint of unfold.

    >>> ts.nn.functional.fold(ts.ones(1, 4, 4), (3, 3), 2).tolist()
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    x, is_added = batched(x, 1)
    size = spread("output_size", output_size, 2)
    it = Columns(size, kernel_size, dilation, padding, stride)
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    if x.shape[1] % math.prod(it.window):
        raise layer_errors.wrong_rows(x.shape[1], it.window)
    if x.shape[2] != math.prod(it.places):
        raise layer_errors.wrong_columns(x.shape[2], it.places)
    n, channels = x.shape[0], x.shape[1] // math.prod(it.window)
    x = reshape(x, (n, channels, *it.window, *it.places))
    x = permute(x, (0, 1, 4, 5, 2, 3))
    for axis in (1, 0):
        if it.dilation[axis] > 1:
            x = embed(x, (*x.shape[:-1], it.spans[axis]), "getitem", (it.key(axis),))
        shape = (*x.shape[: 2 + axis], it.padded[axis], *x.shape[3 + axis : -1])
        x = embed(x, shape, "unfold", (2 + axis, it.spans[axis], it.stride[axis]))
    inside = [slice(p, p + n) for p, n in zip(it.pad, size, strict=True)]
    return unbatched(x[(..., *inside)], is_added)
