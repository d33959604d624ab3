"""Normalisation as modules: layers, root mean squares, groups, batches and instances."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_int, to_ints
from tessella.declarations import describe
from tessella.dtypes import float32, int64
from tessella.hints import Any, DeviceLike, DTypeLike, Ints
from tessella.nn import functional, init
from tessella.nn.functional.normalization import normalise_batch
from tessella.nn.modules import Module
from tessella.nn.parameters import Parameter
from tessella.ops.creation import empty, ones, zeros
from tessella.ops.elementwise import reciprocal


class Affine(Module):
    """What normalisation is followed by: weights that begin as 1 and biases that begin as 0."""

    weight: Parameter | None
    bias: Parameter | None

    def add_affine(self, shape: Ints, has_weight: bool, has_bias: bool, device: DeviceLike | None,
                   dtype: DTypeLike | None) -> None:  # fmt: skip
        """Make the parameters, or None in their places."""
        for name, is_wanted in (("weight", has_weight), ("bias", has_weight and has_bias)):
            made = Parameter(empty(shape, device=device, dtype=dtype)) if is_wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to 1 and the biases to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        bias = getattr(self, "bias", None)  # RMSNorm has none
        if bias is not None:
            init.zeros_(bias)


# --- rows ----------------------------------------------------------------------------------------


class LayerNorm(Affine):
    """(x - mean) / sqrt(variance + eps) * weight + bias, over the last axes.

    `normalized_shape` is the sizes of these axes. Without `elementwise_affine` there is no weight
    and no bias.

    >>> nn.LayerNorm(4)(ts.ones(2, 4)).tolist()
    [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """

    def __init__(self, normalized_shape: Ints, eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, device: DeviceLike | None = None,
                 dtype: DTypeLike | None = None) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = to_ints("normalized_shape", normalized_shape)
        self.eps = to_float("eps", eps)
        self.elementwise_affine = to_bool("elementwise_affine", elementwise_affine)
        self.add_affine(
            self.normalized_shape, self.elementwise_affine, to_bool("bias", bias), device, dtype
        )

    def forward(self, x: Tensor) -> Tensor:
        """Normalise."""
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the options."""
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(Affine):
    """x / sqrt(mean(x ** 2) + eps) * weight, over the last axes.

    `normalized_shape` is the sizes of these axes; `eps` is by default the distance from 1 to the
    next number of x's dtype. Without `elementwise_affine` there is no weight.

    >>> nn.RMSNorm(2, eps=0.0)(ts.tensor([3.0, -3.0])).tolist()
    [1.0, -1.0]
    """

    def __init__(self, normalized_shape: Ints, eps: float | None = None,
                 elementwise_affine: bool = True, device: DeviceLike | None = None,
                 dtype: DTypeLike | None = None) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = to_ints("normalized_shape", normalized_shape)
        self.eps = None if eps is None else to_float("eps", eps)
        self.elementwise_affine = to_bool("elementwise_affine", elementwise_affine)
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        made = Parameter(empty(self.normalized_shape, **options)) if elementwise_affine else None
        self.register_parameter("weight", made)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Normalise."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the options."""
        affine = f"elementwise_affine={self.elementwise_affine}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class GroupNorm(Affine):
    """Normalises (N, C, …) over groups of channels, with a weight and a bias for each channel.

    `num_groups` divides `num_channels`; `eps` is added to the variance. Without `affine` there is
    no weight and no bias.

    >>> nn.GroupNorm(2, 4)(ts.ones(3, 4, 5)).shape
    (3, 4, 5)
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 device: DeviceLike | None = None, dtype: DTypeLike | None = None, *,
                 bias: bool = True) -> None:  # fmt: skip
        super().__init__()
        self.num_groups = to_int("num_groups", num_groups)
        self.num_channels = to_int("num_channels", num_channels)
        if self.num_groups < 1 or self.num_channels % self.num_groups:
            rule = f"a number that divides num_channels, {self.num_channels}"
            raise errors.wrong_value("num_groups", num_groups, rule).locate("GroupNorm", [])
        self.eps = to_float("eps", eps)
        self.affine = to_bool("affine", affine)
        self.add_affine(self.num_channels, self.affine, to_bool("bias", bias), device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise."""
        return functional.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the options."""
        sizes = f"{self.num_groups}, {self.num_channels}"
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        return f"{sizes}, eps={self.eps}, {affine}"


# --- channels ------------------------------------------------------------------------------------


class ChannelNorm(Affine):
    """What batch norm and instance norm share: running statistics, and how many axes they take."""

    axes: tuple[int, ...] = ()  # how many an input may have
    wanted = ""
    _spared = ("num_batches_tracked",)  # old files of PyTorch have none
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self, num_features: int, eps: float, momentum: float | None, affine: bool,
        track_running_stats: bool, device: DeviceLike | None, dtype: DTypeLike | None, bias: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = to_int("num_features", num_features)
        self.eps = to_float("eps", eps)
        self.momentum = None if momentum is None else to_float("momentum", momentum)
        self.affine = to_bool("affine", affine)
        self.track_running_stats = to_bool("track_running_stats", track_running_stats)
        self.add_affine(self.num_features, self.affine, to_bool("bias", bias), device, dtype)
        is_kept = self.track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_buffer("running_mean", zeros(num_features, **options) if is_kept else None)
        self.register_buffer("running_var", ones(num_features, **options) if is_kept else None)
        count = zeros((), dtype=int64) if is_kept else None
        self.register_buffer("num_batches_tracked", count)

    def reset_running_stats(self) -> None:
        """Begin the running statistics anew: mean 0, variance 1."""
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.fill_(0)
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.fill_(0)

    def check_axes(self, x: Tensor) -> None:
        """Require as many axes as this module is for."""
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x, "a tensor").locate(type(self).__name__, [])
        if x.ndim not in self.axes:
            raise errors.wrong_value("x.ndim", x.ndim, self.wanted).locate(
                type(self).__name__, [f"x  {x.dtype} {x.shape}"]
            )

    def extra_repr(self) -> str:
        """Show the options."""
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        options = f"eps={self.eps}, momentum={self.momentum}, {affine}"
        return f"{self.num_features}, {options}, track_running_stats={self.track_running_stats}"


class BatchNorm(ChannelNorm):
    """Normalises channels by the statistics of the batch, or by running ones where there are."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True,
                 device: DeviceLike | None = None, dtype: DTypeLike | None = None, *,
                 bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias)  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """Normalise; in training, move the running statistics."""
        self.check_axes(x)
        is_batch = self.training or self.running_mean is None
        count = self.num_batches_tracked if self.training else None
        momentum: Any = self.momentum
        if count is not None and momentum is None:  # the average of all batches so far
            momentum = reciprocal((count + 1).astype(float32))
        running = (self.running_mean, self.running_var)
        try:
            out = normalise_batch(x, *running, self.weight, self.bias, is_batch, momentum, self.eps)
        except errors.TessellaError as error:
            raise error.relocate(type(self).__name__, [f"x  {describe(x)}"]) from None
        if count is not None:  # a batch that was refused is none
            count.add_(1)
        return out


class BatchNorm1d(BatchNorm):
    """Batch norm of (N, C) or (N, C, L). Without training the running statistics are used.

    `num_features` is C; `eps` is added to the variance. In training the running statistics move by
    `momentum` of the way to those of the batch; None makes them the mean of all batches. `affine`
    adds a weight and a bias for each channel. Without `track_running_stats` those of the batch are
    used always.

    >>> layer = nn.BatchNorm1d(1, eps=0.0)
    >>> layer(ts.tensor([[1.0], [3.0]])).tolist(), layer.running_mean.tolist()
    ([[-1.0], [1.0]], [0.20000000298023224])
    """

    axes, wanted = (2, 3), "2 or 3: (N, C) or (N, C, L)"


class BatchNorm2d(BatchNorm):
    """Batch norm of (N, C, H, W). Without training the running statistics are used.

    `num_features` is C; `eps` is added to the variance. In training the running statistics move by
    `momentum` of the way to those of the batch; None makes them the mean of all batches. `affine`
    adds a weight and a bias for each channel. Without `track_running_stats` those of the batch are
    used always.

    >>> nn.BatchNorm2d(3)(ts.randn(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    axes, wanted = (4,), "4: (N, C, H, W)"


class InstanceNorm(ChannelNorm):
    """Normalises each channel of each element of a batch."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = False, track_running_stats: bool = False,
                 device: DeviceLike | None = None, dtype: DTypeLike | None = None, *,
                 bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias)  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """Normalise; one element without a batch has its axes but the first."""
        self.check_axes(x)
        is_single = x.ndim == self.axes[0]
        uses_input = self.training or not self.track_running_stats
        momentum = self.momentum or 0.0  # None: they stay as they are
        out = functional.instance_norm(
            x[None] if is_single else x, self.running_mean, self.running_var, self.weight,
            self.bias, uses_input, momentum, self.eps,
        )  # fmt: skip
        return out[0] if is_single else out


class InstanceNorm1d(InstanceNorm):
    """Instance norm of (N, C, L), or of (C, L).

    `num_features` is C; `eps` is added to the variance. `affine` adds a weight and a bias for each
    channel. With `track_running_stats` there are running statistics: training moves them by
    `momentum` of the way to those of x, and evaluation uses them.

    >>> nn.InstanceNorm1d(1, eps=0.0)(ts.tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    axes, wanted = (2, 3), "2 or 3: (C, L) or (N, C, L)"


class InstanceNorm2d(InstanceNorm):
    """Instance norm of (N, C, H, W), or of (C, H, W).

    `num_features` is C; `eps` is added to the variance. `affine` adds a weight and a bias for each
    channel. With `track_running_stats` there are running statistics: training moves them by
    `momentum` of the way to those of x, and evaluation uses them.

    >>> nn.InstanceNorm2d(3)(ts.randn(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    axes, wanted = (3, 4), "3 or 4: (C, H, W) or (N, C, H, W)"
