"""Convolutions and transposed ones, by PyTorch's names and arguments."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Ints, composite
from tessella.declarations import case
from tessella.hints import Any
from tessella.nn import layer_errors
from tessella.nn.functional import references
from tessella.nn.functional.correlations import convolve, convolve_input
from tessella.nn.functional.geometry import batched, reach, spread, unbatched, windows

_DECLARED: dict[str, Any] = {"home": "nn.functional", "is_method": False}


def paddings(
    padding: Any, stride: tuple[int, ...], spans: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """Give the zeros before and after each axis; "same" keeps its size, "valid" adds none."""
    if padding == "valid":
        return ((0, 0),) * len(spans)
    if isinstance(padding, str):
        if padding != "same":
            raise errors.wrong_value("padding", padding, "'same', 'valid' or integers")
        if set(stride) != {1}:
            raise errors.wrong_value("stride", stride, "1 where padding is 'same'")
        return tuple([((span - 1) // 2, span - 1 - (span - 1) // 2) for span in spans])
    return tuple([(pad, pad) for pad in spread("padding", padding, len(spans), 0)])


def _check_weight(weight: Tensor, axes: int, shape: str) -> None:
    sizes = ", length)" if axes == 1 else ", height, width)"
    if weight.ndim != axes + 2:
        raise errors.wrong_value("weight.ndim", weight.ndim, f"{axes + 2}: ({shape}{sizes}")
    if 0 in weight.shape[2:]:
        raise errors.wrong_value("weight.shape", weight.shape, "without empty windows")


def _conv(axes: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
          dilation: Any, groups: int) -> Tensor:  # fmt: skip
    x, is_added = batched(x, axes)
    _check_weight(weight, axes, "out, in / groups")
    strides, dilations = spread("stride", stride, axes), spread("dilation", dilation, axes)
    spans = tuple([reach(*each) for each in zip(weight.shape[2:], dilations, strict=True)])
    pads = paddings(padding, strides, spans)
    size = tuple([windows(*e) for e in zip(x.shape[2:], pads, spans, strides, strict=True)])
    out = convolve(
        x, weight, bias, size=size, stride=strides, pad=tuple([before for before, _ in pads]),
        dilation=dilations, groups=groups,
    )  # fmt: skip
    return unbatched(out, is_added)


@composite(
    **_DECLARED, ref=references.conv,
    samples=[case((2, 3, 9), (4, 3, 3), (4,)), case((3, 9), (4, 3, 3), stride=2, padding=1),
             case((2, 4, 9), (4, 2, 2), None, 1, 2, 3, 2),
             case((2, 3, 8), (2, 3, 4), padding="same"),
             case((1, 2, 5), (2, 2, 5), padding="valid")],
    errors=[case((2, 3, 9), (4, 2, 3), match="x has 3 channels, and weight takes 2"),
            case((2, 3, 2), (4, 3, 3), match="a window of 3 is longer than the axis of 2"),
            case((9,), (4, 3, 3), match="x.ndim is 1"),
            case((2, 3, 9), (3, 3), match="weight.ndim is 2"),
            case((2, 3, 9), (4, 3, 3), stride=0, match="stride is 0"),
            case((2, 3, 9), (4, 3, 3), padding=-1, match="padding is -1"),
            case((2, 3, 9), (4, 3, 3), padding="full", match="padding is 'full'"),
            case((2, 3, 9), (4, 3, 3), stride=2, padding="same", match="stride is"),
            case((2, 3, 9), (4, 3, 3), dilation=1 << 61, match="dilation is"),
            case((2, 4, 9), (4, 2, 3), groups=3, match="groups is 3, and weight has 4"),
            case((2, 3, 9), (4, 3, 3), (3,), match="bias has the shape"),
            case((2, 3, 9), (4, 3, 3), stride=(1, 1), match="stride is")],
)  # fmt: skip
def conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
           padding: Any = 0, dilation: Ints = 1, groups: int = 1) -> Tensor:  # fmt: skip
    """Correlate x (n, in, length) with weight (out, in / groups, window), plus bias.

    >>> x = ts.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> ts.nn.functional.conv1d(x, ts.tensor([[[1.0, -1.0]]])).tolist()
    [[[-1.0, -1.0, -1.0]]]
    """
    return _conv(1, x, weight, bias, stride, padding, dilation, groups)


@composite(
    **_DECLARED, ref=references.conv,
    samples=[case((2, 3, 6, 7), (4, 3, 3, 2), (4,)), case((3, 6, 7), (4, 3, 3, 3), padding=1),
             case((2, 4, 6, 7), (6, 2, 2, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2),
                  groups=2),
             case((1, 2, 6, 6), (2, 1, 3, 3), padding="same", dilation=2, groups=2),
             case((0, 2, 4, 4), (1, 2, 3, 3), (1,)),
             case((1, 2, 4, 3), (1, 2, 4, 3), padding="valid")],
    errors=[case((2, 3, 9, 9), (4, 2, 3, 3), match="x has 3 channels, and weight takes 2"),
            case((2, 3, 9, 2), (4, 3, 3, 3), match="a window of 3 is longer than the axis of 2"),
            case((2, 3, 9, 9), (4, 3, 3, 3), dilation=5, match="a window of 11 is longer"),
            case((2, 9), (4, 3, 3, 3), match="x.ndim is 2"),
            case((2, 3, 9, 9), (4, 3, 0, 3), match="weight.shape is"),
            case((2, 3, 9, 9), (4, 3, 3, 3), stride=(1, 2, 3), match="stride is"),
            case((2, 3, 9, 9), (4, 3, 3, 3), groups=-1, match="groups is -1"),
            case((2, 3, 9, 9), (4, 3, 3, 3), padding=1 << 40,
                 match="more elements than can be counted")],
)  # fmt: skip
def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
           padding: Any = 0, dilation: Ints = 1, groups: int = 1) -> Tensor:  # fmt: skip
    """Correlate x (n, in, height, width) with weight (out, in / groups, rows, columns), plus bias.

    padding is a number of zeros around x, one for each axis, or "same" or "valid".

    >>> ts.nn.functional.conv2d(ts.ones(1, 1, 3, 3), ts.ones(1, 1, 3, 3), padding=1).tolist()
    [[[[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]]]
    """
    return _conv(2, x, weight, bias, stride, padding, dilation, groups)


# --- transposed -----------------------------------------------------------------------------------


def transposed_size(size: int, window: int, stride: int, pad: int, more: int, dilation: int) -> int:
    """Give how long an axis becomes."""
    if more >= max(stride, dilation):
        rule = f"less than stride or dilation: {max(stride, dilation)}"
        raise errors.wrong_value("output_padding", more, rule)
    out = (size - 1) * stride - 2 * pad + reach(window, dilation) + more
    if size and out < 1:
        raise errors.wrong_value("padding", pad, f"less: an axis would have {out} elements")
    return max(out, 0)


def _conv_transpose(
    axes: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
    output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    x, is_added = batched(x, axes)
    _check_weight(weight, axes, "in, out / groups")
    strides, dilations = spread("stride", stride, axes), spread("dilation", dilation, axes)
    pads = spread("padding", padding, axes, 0)
    more = spread("output_padding", output_padding, axes, 0)
    given = (x.shape[2:], weight.shape[2:], strides, pads, more, dilations)
    size = tuple([transposed_size(*each) for each in zip(*given, strict=True)])
    if weight.shape[0] != x.shape[1]:
        raise layer_errors.wrong_channels("x", x.shape[1], weight.shape[0], groups)
    out = convolve_input(
        x, weight, bias, size=size, stride=strides, pad=pads, dilation=dilations, groups=groups
    )
    return unbatched(out, is_added)


@composite(
    **_DECLARED, ref=references.conv_transpose,
    samples=[case((2, 3, 5), (3, 4, 3), (4,)), case((3, 5), (3, 2, 3), stride=2, padding=1),
             case((2, 4, 4), (4, 3, 2), None, 3, 1, 2, 2), case((1, 2, 3), (2, 1, 3), dilation=2)],
    errors=[case((2, 3, 5), (4, 3, 3), match="x has 3 channels, and weight takes 4"),
            case((2, 3, 5), (3, 4, 3), output_padding=1, match="output_padding is 1"),
            case((2, 3, 1), (3, 4, 2), padding=1, match="padding is 1"),
            case((2, 4, 5), (4, 4, 3), groups=3, match="groups is 3")],
)  # fmt: skip
def conv_transpose1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """Apply the adjoint of conv1d to x (n, in, length); weight is (in, out / groups, window).

    >>> x = ts.tensor([[[1.0, 2.0]]])
    >>> ts.nn.functional.conv_transpose1d(x, ts.ones(1, 1, 2), stride=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose(1, x, weight, bias, *options)


@composite(
    **_DECLARED, ref=references.conv_transpose,
    samples=[case((2, 3, 4, 5), (3, 4, 3, 2), (4,)), case((3, 4, 5), (3, 2, 3, 3), padding=1),
             case((2, 4, 3, 4), (4, 3, 2, 3), stride=(2, 3), padding=(1, 0), output_padding=(1, 2),
                  groups=2, dilation=(1, 2)),
             case((1, 2, 3, 3), (2, 2, 2, 2), (2,), 3), case((0, 2, 3, 3), (2, 2, 2, 2), (2,))],
    errors=[case((2, 3, 5, 5), (4, 3, 3, 3), match="x has 3 channels, and weight takes 4"),
            case((2, 3, 5, 5), (3, 4, 3, 3), stride=2, output_padding=2, match="output_padding is"),
            case((2, 3, 5, 5), (3, 4, 3), match="weight.ndim is 3"),
            case((2, 3, 5, 5), (3, 4, 3, 3), (3,), match="bias has the shape")],
)  # fmt: skip
def conv_transpose2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """Apply the adjoint of conv2d to x; weight is (in, out / groups, rows, columns).

    >>> x = ts.tensor([[[[1.0, 2.0]]]])
    >>> ts.nn.functional.conv_transpose2d(x, ts.ones(1, 1, 2, 2)).tolist()
    [[[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]]]
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose(2, x, weight, bias, *options)
