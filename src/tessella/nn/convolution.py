"""Convolutions as modules, with PyTorch's names, initialisation and layouts of weights."""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_ints, to_word
from tessella.hints import Any, DeviceLike, DTypeLike, Ints
from tessella.nn import functional, init
from tessella.nn.functional.convolution import paddings
from tessella.nn.functional.geometry import reach, spread
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty
from tessella.ops.padding import pad

_MODES = ["zeros", "reflect", "replicate", "circular"]


class Convolution(Module):
    """What convolutions over one or two axes share: parameters, their beginning and their text."""

    weight: Parameter
    bias: Parameter | None
    padding: tuple[int, ...] | str
    _axes: int
    _is_transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints,
        padding: Ints | str, dilation: Ints, output_padding: Ints, groups: int, bias: bool,
        padding_mode: str, device: DeviceLike | None, dtype: DTypeLike | None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_channels = to_count("in_channels", in_channels, 0)
        self.out_channels = to_count("out_channels", out_channels, 0)
        self.groups = to_count("groups", groups)
        self._check_groups()
        self.kernel_size = spread("kernel_size", kernel_size, self._axes)
        self.stride = spread("stride", stride, self._axes)
        self.dilation = spread("dilation", dilation, self._axes)
        self.output_padding = spread("output_padding", output_padding, self._axes, 0)
        spans = zip(self.kernel_size, self.dilation, strict=True)
        self._pads = paddings(padding, self.stride, tuple([reach(*each) for each in spans]))
        modes = _MODES[:1] if self._is_transposed else _MODES
        self.padding_mode = to_word("padding_mode", padding_mode, modes)
        has_bias = to_bool("bias", bias)
        if not isinstance(padding, str):
            padding = spread("padding", padding, self._axes, 0)
        self.padding = padding
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        ins, outs = self.in_channels, self.out_channels
        first, second = (ins, outs) if self._is_transposed else (outs, ins)
        sizes = (first, second // self.groups, *self.kernel_size)
        self.weight = Parameter(empty(sizes, **options))
        self.bias = Parameter(empty(outs, **options)) if has_bias else None
        self.reset_parameters()

    def _check_groups(self) -> None:
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                rule = f"a multiple of groups, {self.groups}"
                raise errors.wrong_value(name, getattr(self, name), rule)

    def reset_parameters(self) -> None:
        """Draw weights and bias anew, both uniform in ±1 / sqrt(inputs of one output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan, _ = init.fans_of(self.weight)
            bound = 1 / math.sqrt(fan) if fan else 0.0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Show the channels, the window, and what is not usual."""
        shown = [f"{self.in_channels}, {self.out_channels}"]
        shown += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        usual = {"padding": 0, "dilation": 1, "output_padding": 0}
        for name, number in usual.items():
            if getattr(self, name) != (number,) * self._axes:
                shown.append(f"{name}={getattr(self, name)}")
        shown += [f"groups={self.groups}"] if self.groups != 1 else []
        shown += ["bias=False"] if self.bias is None else []
        shown += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(shown)

    def bordered(self, x: Tensor) -> tuple[Tensor, Ints | str]:
        """Give x with a border that is no zeros, and what padding is left to do."""
        if self.padding_mode == "zeros":
            return x, self.padding
        widths = [width for pair in reversed(self._pads) for width in pair]
        return pad(x, tuple(widths), mode=self.padding_mode), 0  # type: ignore[arg-type]  # a checked word


class Conv1d(Convolution):
    """Correlates (n, in, length) with weights (out, in / groups, window), plus bias.

    `kernel_size` is the size of the window, `stride` the step from one window to the next, and
    `dilation` that from one of its elements to the next. `padding` is how many zeros stand at
    either end, "same" (the size stays) or "valid" (none); `padding_mode` "reflect", "replicate" or
    "circular" takes what stands there from x, in place of "zeros". `groups` parts `in_channels` and
    `out_channels` alike: outputs see the inputs of their group only.

    >>> nn.Conv1d(3, 5, 3, padding=1)(ts.ones(2, 3, 8)).shape
    (2, 5, 8)
    """

    _axes = 1

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
        padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0,
                         groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """Correlate and add."""
        x, padding = self.bordered(x)
        options = (self.stride, padding, self.dilation, self.groups)
        return functional.conv1d(x, self.weight, self.bias, *options)


class Conv2d(Convolution):
    """Correlates (n, in, height, width) with weights (out, in / groups, rows, columns), plus bias.

    `kernel_size` is the size of the window, `stride` the step from one window to the next, and
    `dilation` that from one of its elements to the next; each may be one number for both axes.
    `padding` is how many zeros stand at either end, "same" (the size stays) or "valid" (none);
    `padding_mode` "reflect", "replicate" or "circular" takes what stands there from x, in place of
    "zeros". `groups` parts `in_channels` and `out_channels` alike: outputs see the inputs of their
    group only.

    >>> nn.Conv2d(1, 4, 3, stride=2)(ts.ones(2, 1, 9, 7)).shape
    (2, 4, 4, 3)
    """

    _axes = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
        padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0,
                         groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """Correlate and add."""
        x, padding = self.bordered(x)
        options = (self.stride, padding, self.dilation, self.groups)
        return functional.conv2d(x, self.weight, self.bias, *options)


class TransposedConvolution(Convolution):
    """What transposed convolutions share: weights (in, out / groups, …), and a size to reach."""

    padding: tuple[int, ...]
    _is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1,
        padding: Ints = 0, output_padding: Ints = 0, groups: int = 1, bias: bool = True,
        dilation: Ints = 1, padding_mode: str = "zeros", device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation,
                         output_padding, groups, bias, padding_mode, device, dtype)  # fmt: skip

    def added(self, x: Tensor, output_size: Ints | None) -> tuple[int, ...]:
        """Give the output padding that makes the result of the asked size."""
        if output_size is None or not isinstance(x, Tensor) or x.ndim < self._axes:
            return self.output_padding  # the operation says what is wrong with x
        wanted = to_ints("output_size", output_size)[-self._axes :]
        if len(wanted) != self._axes:
            raise errors.wrong_value("output_size", output_size, f"{self._axes} integers")
        found = []
        sizes = x.shape[-self._axes :]
        for i, (size, want) in enumerate(zip(sizes, wanted, strict=True)):
            span = reach(self.kernel_size[i], self.dilation[i])
            least = (size - 1) * self.stride[i] - 2 * self._pads[i][0] + span
            if not least <= want < least + self.stride[i]:
                rule = f"from {least} to {least + self.stride[i] - 1} along axis {i - self._axes}"
                raise errors.wrong_value("output_size", want, rule)
            found.append(want - least)
        return tuple(found)


class ConvTranspose1d(TransposedConvolution):
    """Applies the adjoint of a convolution to (n, in, length).

    Weights are (in, out / groups, window). `kernel_size`, `stride`, `padding` and `dilation` are
    those of the convolution: `padding` takes elements away at either end. `output_padding` adds
    some at the far end, where several sizes would fit; `output_size` of a call finds it. `groups`
    parts the `in_channels` and `out_channels`. `padding_mode` is "zeros".

    >>> nn.ConvTranspose1d(3, 5, 2, stride=2)(ts.ones(2, 3, 4)).shape
    (2, 5, 8)
    """

    _axes = 1

    def forward(self, x: Tensor, output_size: Ints | None = None) -> Tensor:
        """Multiply, add where windows overlap, and add the bias."""
        more = self.added(x, output_size)
        options = (self.stride, self.padding, more, self.groups, self.dilation)
        return functional.conv_transpose1d(x, self.weight, self.bias, *options)


class ConvTranspose2d(TransposedConvolution):
    """Applies the adjoint of a convolution to (n, in, height, width).

    Weights are (in, out / groups, rows, columns). `kernel_size`, `stride`, `padding` and `dilation`
    are those of the convolution: `padding` takes elements away at either end. `output_padding` adds
    some at the far end, where several sizes would fit; `output_size` of a call finds it. `groups`
    parts the `in_channels` and `out_channels`. `padding_mode` is "zeros".

    >>> nn.ConvTranspose2d(3, 5, 2, stride=2)(ts.ones(2, 3, 4, 4)).shape
    (2, 5, 8, 8)
    """

    _axes = 2

    def forward(self, x: Tensor, output_size: Ints | None = None) -> Tensor:
        """Multiply, add where windows overlap, and add the bias."""
        more = self.added(x, output_size)
        options = (self.stride, self.padding, more, self.groups, self.dilation)
        return functional.conv_transpose2d(x, self.weight, self.bias, *options)
