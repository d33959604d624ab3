"""Convolutions and pools by their definitions, in NumPy: what the tests compare with."""

from __future__ import annotations

import itertools
import math

from tessella.hints import Any, Iterator, Sequence


def places(np: Any, size: int, tap: int, stride: int, pad: int, dilation: int) -> Any:
    """Give the element of the input that each place meets by a tap; it may lie outside."""
    return np.arange(size) * stride + tap * dilation - pad


def taps(
    np: Any,
    shape: Sequence[int],
    kernel: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    dilation: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Give each tap with the elements that it meets inside of the shape, and the places there."""
    for tap in itertools.product(*map(range, kernel)):
        found = [places(np, *axis) for axis in zip(size, tap, stride, pad, dilation, strict=True)]
        inside = [(at >= 0) & (at < n) for at, n in zip(found, shape, strict=True)]
        met = np.ix_(*(at[ok] for at, ok in zip(found, inside, strict=True)))
        yield tap, met, np.ix_(*(np.flatnonzero(ok) for ok in inside))


def grouped(x: Any, groups: int, axis: int = 1) -> Any:
    """Split an axis of channels into groups."""
    shape = x.shape
    return x.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])


def convolve(
    np: Any, x: Any, weight: Any, bias: Any = None, *, size: Any, stride: Any, pad: Any,
    dilation: Any, groups: int,
) -> Any:  # fmt: skip
    """Give the sums of x times weight, tap by tap."""
    n, outs = x.shape[0], weight.shape[0]
    x, weight = grouped(x, groups), grouped(weight, groups, 0)
    y = np.zeros((n, groups, outs // groups, *size), x.dtype)
    geometry = (x.shape[3:], weight.shape[3:], size, stride, pad, dilation)
    for tap, met, there in taps(np, *geometry):
        part = np.einsum("ngc...,goc->ngo...", x[(..., *met)], weight[(..., *tap)])
        y[(..., *there)] += part
    y = y.reshape(n, outs, *size)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(size))


def convolve_input(
    np: Any, y: Any, weight: Any, bias: Any = None, *, size: Any, stride: Any, pad: Any,
    dilation: Any, groups: int,
) -> Any:  # fmt: skip
    """Put every y times weight where it came from."""
    n, ins = y.shape[0], weight.shape[1]
    y, weight = grouped(y, groups), grouped(weight, groups, 0)
    x = np.zeros((n, groups, ins, *size), y.dtype)
    geometry = (size, weight.shape[3:], y.shape[3:], stride, pad, dilation)
    for tap, met, there in taps(np, *geometry):
        part = np.einsum("ngo...,goc->ngc...", y[(..., *there)], weight[(..., *tap)])
        x[(..., *met)] += part
    x = x.reshape(n, groups * ins, *size)
    return x if bias is None else x + bias.reshape(-1, *[1] * len(size))


def convolve_weight(
    np: Any, x: Any, y: Any, *, size: Any, stride: Any, pad: Any, dilation: Any, groups: int
) -> Any:
    """Sum x times y over all places that meet by a tap."""
    x, y = grouped(x, groups), grouped(y, groups)
    weight = np.zeros((groups, y.shape[2], x.shape[2], *size), x.dtype)
    geometry = (x.shape[3:], size, y.shape[3:], stride, pad, dilation)
    for tap, met, there in taps(np, *geometry):
        left, right = y[(..., *there)], x[(..., *met)]
        count = math.prod(left.shape[3:])
        weight[(..., *tap)] = np.einsum(
            "ngop,ngcp->goc", *(each.reshape(*each.shape[:3], count) for each in (left, right))
        )
    return weight.reshape(y.shape[1] * y.shape[2], x.shape[2], *size)


# --- with PyTorch's arguments ---------------------------------------------------------------------


def each(value: Any, axes: int) -> list[int]:
    """Give a number for each axis."""
    return [value] * axes if isinstance(value, int) else list(value) * (axes // len(value))


def conv(
    np: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Convolve; without a batch too."""
    axes = weight.ndim - 2
    if x.ndim == axes + 1:
        return conv(np, x[None], weight, bias, stride, padding, dilation, groups)[0]
    stride, dilation = each(stride, axes), each(dilation, axes)
    reaches = [(k - 1) * d for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if padding in ("same", "valid"):
        widths = reaches if padding == "same" else [0] * axes
    else:
        widths = [2 * pad for pad in each(padding, axes)]
    size = [
        (n + width - reach - 1) // step + 1
        for n, width, reach, step in zip(x.shape[2:], widths, reaches, stride, strict=True)
    ]
    pad = [width // 2 for width in widths]
    return convolve(np, x, weight, bias, size=size, stride=stride, pad=pad, dilation=dilation,
                    groups=groups)  # fmt: skip


def conv_transpose(
    np: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    """Convolve transposed; without a batch too."""
    axes = weight.ndim - 2
    options = [each(value, axes) for value in (stride, padding, output_padding, dilation)]
    stride, padding, output_padding, dilation = options
    if x.ndim == axes + 1:
        return conv_transpose(
            np, x[None], weight, bias, stride, padding, output_padding, groups, dilation
        )[0]
    size = [
        (n - 1) * s - 2 * p + d * (k - 1) + more + 1
        for n, k, s, p, more, d in zip(x.shape[2:], weight.shape[2:], *options, strict=True)
    ]
    return convolve_input(
        np, x, weight, bias, size=size, stride=stride, pad=padding, dilation=dilation, groups=groups
    )
