"""Pools as modules, and windows as columns; the functions are those of `F`."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.hints import Any, Generic, Ints, Literal, Sequence, TypeVar, overload
from tessella.nn import functional
from tessella.nn.modules import Module

Given = TypeVar("Given", default=Tensor)  # a tensor, or with the indices of what was chosen


class Pool(Module):
    """Options of a pool, as they were given."""

    _shown: tuple[str, ...] = ()  # what the text shows

    def extra_repr(self) -> str:
        """Show the options."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)


class _MaxPool(Pool, Generic[Given]):
    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    @overload
    def __init__(self: _MaxPool[Tensor], kernel_size: Ints, stride: Ints | None = None,
                 padding: Ints = 0, dilation: Ints = 1, return_indices: Literal[False] = False,
                 ceil_mode: bool = False) -> None: ...  # fmt: skip
    @overload
    def __init__(self: _MaxPool[tuple[Tensor, Tensor]], kernel_size: Ints,
                 stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, *,
                 return_indices: Literal[True], ceil_mode: bool = False) -> None: ...  # fmt: skip
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 dilation: Ints = 1, return_indices: bool = False,
                 ceil_mode: bool = False) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _options(self) -> dict[str, Any]:
        """Give what the function takes."""
        return {name: getattr(self, name) for name in (*self._shown, "return_indices")}


class MaxPool1d(_MaxPool[Given]):
    """The largest element of each window of (n, channels, length).

    `kernel_size` is the size of the window, `stride` the step to the next one: by default its size.
    `padding` adds places at either end that are never chosen; `dilation` is the step from one
    element of a window to the next. With `ceil_mode` the last window may reach over the end.
    `return_indices` gives the places of the elements too.

    >>> nn.MaxPool1d(2)(ts.ones(2, 3, 8)).shape
    (2, 3, 4)
    """

    def forward(self, x: Tensor) -> Given:
        """Choose."""
        out: Given = functional.max_pool1d(x, **self._options())
        return out


class MaxPool2d(_MaxPool[Given]):
    """The largest element of each window of (n, channels, height, width).

    `kernel_size` is the size of the window, `stride` the step to the next one: by default its size.
    `padding` adds places at either end that are never chosen; `dilation` is the step from one
    element of a window to the next. With `ceil_mode` the last window may reach over the end.
    `return_indices` gives the places of the elements too.

    >>> nn.MaxPool2d(2)(ts.ones(2, 3, 8, 6)).shape
    (2, 3, 4, 3)
    """

    def forward(self, x: Tensor) -> Given:
        """Choose."""
        out: Given = functional.max_pool2d(x, **self._options())
        return out


class AvgPool1d(Pool):
    """The mean of each window of (n, channels, length).

    `kernel_size` is the size of the window, `stride` the step to the next one: by default its size.
    `padding` adds zeros at either end, which count in the mean unless `count_include_pad` is False.
    With `ceil_mode` the last window may reach over the end.

    >>> nn.AvgPool1d(2)(ts.ones(2, 3, 8)).shape
    (2, 3, 4)
    """

    _shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:  # fmt: skip
        super().__init__()
        window, step = kernel_size, kernel_size if stride is None else stride
        self.kernel_size, self.stride, self.padding = (
            (value,) if isinstance(value, int) else value for value in (window, step, padding)
        )
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        """Divide the sums."""
        options = (self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return functional.avg_pool1d(x, self.kernel_size, *options)


class AvgPool2d(Pool):
    """The mean of each window of (n, channels, height, width).

    `kernel_size` is the size of the window, `stride` the step to the next one: by default its size.
    `padding` adds zeros at either end, which count in the mean unless `count_include_pad` is False.
    With `ceil_mode` the last window may reach over the end. `divisor_override` is what sums are
    divided by instead.

    >>> nn.AvgPool2d(2)(ts.ones(2, 3, 8, 6)).shape
    (2, 3, 4, 3)
    """

    _shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, x: Tensor) -> Tensor:
        """Divide the sums."""
        options = (self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return functional.avg_pool2d(x, self.kernel_size, *options, self.divisor_override)


class _LPPool(Pool):
    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
                 ceil_mode: bool = False) -> None:  # fmt: skip
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode


class LPPool1d(_LPPool):
    """(sum of x ** p) ** (1 / p) of each window of (n, channels, length).

    p is `norm_type`. `kernel_size` is the size of the window, `stride` the step to the next one: by
    default its size. With `ceil_mode` the last window may reach over the end.

    >>> nn.LPPool1d(2, 2)(ts.tensor([[3.0, 4.0]])).tolist()
    [[5.0]]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Take the root."""
        options = (self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
        return functional.lp_pool1d(x, *options)


class LPPool2d(_LPPool):
    """(sum of x ** p) ** (1 / p) of each window of (n, channels, height, width).

    p is `norm_type`. `kernel_size` is the size of the window, `stride` the step to the next one: by
    default its size. With `ceil_mode` the last window may reach over the end.

    >>> nn.LPPool2d(2, 2)(ts.ones(1, 2, 2)).tolist()
    [[[2.0]]]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Take the root."""
        options = (self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
        return functional.lp_pool2d(x, *options)


class _Adaptive(Pool):
    _shown = ("output_size",)

    def __init__(self, output_size: Ints | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_Adaptive):
    """The means of output_size windows that share the axis evenly.

    >>> nn.AdaptiveAvgPool1d(3)(ts.ones(2, 3, 8)).shape
    (2, 3, 3)
    """

    def forward(self, x: Tensor) -> Tensor:
        """Divide the sums."""
        return functional.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """The means of windows that share both axes evenly; None keeps the size of an axis.

    >>> nn.AdaptiveAvgPool2d((1, None))(ts.ones(2, 3, 8, 6)).shape
    (2, 3, 1, 6)
    """

    def forward(self, x: Tensor) -> Tensor:
        """Divide the sums."""
        return functional.adaptive_avg_pool2d(x, self.output_size)


class _AdaptiveMax(_Adaptive, Generic[Given]):
    @overload
    def __init__(
        self: _AdaptiveMax[Tensor],
        output_size: Ints | Sequence[int | None] | None,
        return_indices: Literal[False] = False,
    ) -> None: ...
    @overload
    def __init__(
        self: _AdaptiveMax[tuple[Tensor, Tensor]],
        output_size: Ints | Sequence[int | None] | None,
        return_indices: Literal[True],
    ) -> None: ...
    def __init__(
        self, output_size: Ints | Sequence[int | None] | None, return_indices: bool = False
    ) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMax[Given]):
    """The largest elements of output_size windows that share the axis evenly.

    >>> nn.AdaptiveMaxPool1d(3)(ts.ones(2, 3, 8)).shape
    (2, 3, 3)
    """

    def forward(self, x: Tensor) -> Given:
        """Choose."""
        out: Any = functional.adaptive_max_pool1d(x, self.output_size, self.return_indices)
        given: Given = out
        return given


class AdaptiveMaxPool2d(_AdaptiveMax[Given]):
    """The largest elements of windows that share both axes evenly.

    >>> nn.AdaptiveMaxPool2d(3)(ts.ones(2, 3, 8, 6)).shape
    (2, 3, 3, 3)
    """

    def forward(self, x: Tensor) -> Given:
        """Choose."""
        out: Any = functional.adaptive_max_pool2d(x, self.output_size, self.return_indices)
        given: Given = out
        return given


class Unfold(Pool):
    """The windows of images as columns.

    `kernel_size` is the size of the window, `stride` the step to the next one, `dilation` that from
    one of its elements to the next, and `padding` how many zeros stand at either end.

    >>> nn.Unfold(2)(ts.ones(1, 3, 4, 4)).shape
    (1, 12, 9)
    """

    _shown = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
                 stride: Ints = 1) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Spread the windows out."""
        options = (self.dilation, self.padding, self.stride)
        return functional.unfold(x, self.kernel_size, *options)


class Fold(Pool):
    """Columns added up where they came from.

    `output_size` is the height and width of the images. `kernel_size` is the size of the window,
    `stride` the step to the next one, `dilation` that from one of its elements to the next, and
    `padding` how many zeros stood at either end.

    >>> nn.Fold((4, 4), 2)(ts.ones(1, 12, 9)).shape
    (1, 3, 4, 4)
    """

    _shown = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(self, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
                 stride: Ints = 1) -> None:  # fmt: skip
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Add them up."""
        options = (self.kernel_size, self.dilation, self.padding, self.stride)
        return functional.fold(x, self.output_size, *options)
