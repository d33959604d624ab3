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


# --- pools ----------------------------------------------------------------------------------------


def window_of(place: int, size: int, axis: tuple[int, int, int, int, int]) -> list[int]:
    """Give the elements inside of an axis that a window covers; 0 for one that shares it evenly."""
    out, window, stride, pad, dilation = axis
    if window == 0:
        return list(range(place * size // out, -(-(place + 1) * size // out)))
    found = [place * stride - pad + k * dilation for k in range(window)]
    return [at for at in found if 0 <= at < size]


def pool_places(
    np: Any, x: Any, *, size: Any, window: Any, stride: Any, pad: Any, dilation: Any
) -> Any:
    """Look at each window of each plane for the largest element: the first, or the last NaN."""
    shape = x.shape[2:]
    flat = np.arange(math.prod(shape)).reshape(shape)
    window = window or (0,) * len(shape)
    axes = list(zip(size, window, stride, pad, dilation, strict=True))
    out = np.zeros((*x.shape[:2], *size), np.int64)
    for place in itertools.product(*map(range, size)):
        covered = [window_of(*each) for each in zip(place, shape, axes, strict=True)]
        values = x[(..., *np.ix_(*covered))]
        values = values.reshape(*x.shape[:2], math.prod(values.shape[2:]))
        last = values.shape[-1] - 1 - np.argmax(np.isnan(values)[..., ::-1], axis=-1)
        chosen = np.where(np.isnan(values).any(-1), last, np.argmax(values, axis=-1))
        out[(..., *place)] = flat[np.ix_(*covered)].reshape(-1)[chosen]
    return out


def pool_pick(np: Any, x: Any, places: Any) -> Any:
    """Take elements of flat planes."""
    flat, at = (a.reshape(*a.shape[:2], math.prod(a.shape[2:])) for a in (x, np.asarray(places)))
    return np.take_along_axis(flat, at, -1).reshape(places.shape)


def pool_place(np: Any, x: Any, places: Any, size: Any) -> Any:
    """Add elements to flat planes."""
    n, channels = x.shape[:2]
    out = np.zeros((n * channels, math.prod(size)), x.dtype)
    at = np.asarray(places).reshape(n * channels, -1)
    np.add.at(out, (np.arange(n * channels)[:, None], at), x.reshape(n * channels, -1))
    return out.reshape(n, channels, *size)


class Pool:
    """The windows of a pool over `axes` axes of x, which has a batch."""

    def __init__(
        self, axes: int, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        dilation: Any = 1, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        self.window, self.pad = each(kernel_size, axes), each(padding, axes)
        self.stride = each(kernel_size if stride is None else stride, axes)
        self.dilation = each(dilation, axes)
        self.shape = x.shape[2:]
        self.size = []
        for i, n in enumerate(self.shape):
            room = n + 2 * self.pad[i] - (self.window[i] - 1) * self.dilation[i] - 1
            count = (math.ceil if ceil_mode else math.floor)(room / self.stride[i]) + 1
            begins = (count - 1) * self.stride[i] < n + self.pad[i]
            self.size.append(count if begins or not ceil_mode else count - 1)

    def geometry(self) -> dict[str, Any]:
        """Give the parameters of pool_places."""
        names = ("size", "window", "stride", "pad", "dilation")
        return {name: getattr(self, name) for name in names}


def max_pool(axes: int, np: Any, x: Any, *args: Any, **options: Any) -> Any:
    """Take the largest of each window."""
    if x.ndim == axes + 1:
        return max_pool(axes, np, x[None], *args, **options)[0]
    places = pool_places(np, x, **Pool(axes, x, *args, **options).geometry())
    return pool_pick(np, x, places)


def adaptive_pool(axes: int, np: Any, x: Any, output_size: Any, reduce: str) -> Any:
    """Reduce each share of the axes."""
    if x.ndim == axes + 1:
        return adaptive_pool(axes, np, x[None], output_size, reduce)[0]
    wanted = [None] * axes if output_size is None else each(output_size, axes)
    size = [n if m is None else m for n, m in zip(x.shape[2:], wanted, strict=True)]
    out = np.zeros((*x.shape[:2], *size), x.dtype)
    for place in itertools.product(*map(range, size)):
        shares = zip(place, x.shape[2:], size, strict=True)
        key = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in shares)
        out[(..., *place)] = getattr(np, reduce)(x[(..., *key)], axis=tuple(range(2, x.ndim)))
    return out


def avg_pool(
    axes: int, np: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
) -> Any:  # fmt: skip
    """Divide the sum of each window by what it covers."""
    if x.ndim == axes + 1:
        return avg_pool(axes, np, x[None], kernel_size, stride, padding, ceil_mode,
                        count_include_pad, divisor_override)[0]  # fmt: skip
    it = Pool(axes, x, kernel_size, stride, padding, 1, ceil_mode)
    out = np.zeros((*x.shape[:2], *it.size), x.dtype)
    for place in itertools.product(*map(range, it.size)):
        key, below = [], 1
        for i, n in enumerate(it.shape):
            start = place[i] * it.stride[i] - it.pad[i]
            end = min(start + it.window[i], n + it.pad[i])
            key.append(slice(max(start, 0), min(end, n)))
            below *= end - start if count_include_pad else min(end, n) - max(start, 0)
        sums = x[(..., *key)].sum(axis=tuple(range(2, x.ndim)))
        out[(..., *place)] = sums / (divisor_override or below)
    return out


def lp_pool(
    axes: int, np: Any, x: Any, norm_type: float, kernel_size: Any, stride: Any = None,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """Take the root of the mean power, times the elements of a whole window."""
    means = avg_pool(axes, np, x**norm_type, kernel_size, stride, 0, ceil_mode)
    return (means * math.prod(each(kernel_size, axes))) ** (1 / norm_type)


# --- columns --------------------------------------------------------------------------------------


def unfold(
    np: Any, x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Write each window down as a column."""
    if x.ndim == 3:
        return unfold(np, x[None], kernel_size, dilation, padding, stride)[0]
    n, channels = x.shape[:2]
    it = Pool(2, x, kernel_size, stride, padding, dilation)
    out = np.zeros((n, channels, *it.window, *it.size), x.dtype)
    geometry = (it.shape, it.window, it.size, it.stride, it.pad, it.dilation)
    for tap, met, there in taps(np, *geometry):
        out[(slice(None), slice(None), *tap)][(..., *there)] = x[(..., *met)]
    return out.reshape(n, channels * math.prod(it.window), math.prod(it.size))


def fold(
    np: Any, x: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Any:  # fmt: skip
    """Add each column up where it came from."""
    if x.ndim == 2:
        return fold(np, x[None], output_size, kernel_size, dilation, padding, stride)[0]
    n, window = x.shape[0], each(kernel_size, 2)
    out = np.zeros((n, x.shape[1] // math.prod(window), *each(output_size, 2)), x.dtype)
    it = Pool(2, out, kernel_size, stride, padding, dilation)
    columns = x.reshape(n, out.shape[1], *it.window, *it.size)
    geometry = (it.shape, it.window, it.size, it.stride, it.pad, it.dilation)
    for tap, met, there in taps(np, *geometry):
        out[(..., *met)] += columns[(slice(None), slice(None), *tap)][(..., *there)]
    return out


def interpolate(np: Any, x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: Any = None) -> Any:  # fmt: skip
    """Multiply each axis by the matrix of what every element gives to every result."""
    for axis in range(2, x.ndim):
        n = x.shape[axis]
        given = size[axis - 2] if isinstance(size, tuple) else size
        count = int(n * scale_factor) if scale_factor else given
        step = 1 / scale_factor if scale_factor else n / count
        share = np.zeros((count, n))
        for i in range(count):
            at = (
                i * (n - 1) / max(count - 1, 1) if align_corners else max((i + 0.5) * step - 0.5, 0)
            )
            if "nearest" in mode:
                share[i, min(int((i + 0.5 * (mode == "nearest-exact")) * step), n - 1)] = 1
            else:
                share[i, int(at)] += 1 - at % 1
                share[i, min(int(at) + 1, n - 1)] += at % 1
        x = np.moveaxis(np.tensordot(x, share, (axis, 1)), -1, axis)
    return x


def pixel_shuffle(np: Any, x: Any, upscale_factor: int) -> Any:
    """Put every channel in its place, one after another."""
    r = upscale_factor
    channels, height, width = x.shape[-3:]
    out = np.zeros((*x.shape[:-3], channels // r**2, height * r, width * r), x.dtype)
    for c in range(channels):
        out[..., c // r**2, c % r**2 // r :: r, c % r :: r] = x[..., c, :, :]
    return out
