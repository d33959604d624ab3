"""Images of other sizes, as modules."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.hints import Any, Ints, Sequence
from tessella.nn import functional
from tessella.nn.modules import Module


class Upsample(Module):
    """Images of another size, or of one that is `scale_factor` times as large.

    `mode` is "nearest", "nearest-exact", "linear", "bilinear" or "trilinear". `align_corners` lays
    the middles of the outermost elements on each other, in place of the edges.
    `recompute_scale_factor` computes places by the sizes, and not by the factor.

    >>> nn.Upsample(scale_factor=2, mode="bilinear")(ts.ones(1, 3, 4, 5)).shape
    (1, 3, 8, 10)
    """

    def __init__(self, size: Ints | None = None,
                 scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
                 align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None) -> None:  # fmt: skip
        super().__init__()
        self.size = size
        if isinstance(scale_factor, int | float):
            scale_factor = float(scale_factor)
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: Tensor) -> Tensor:
        """Give x in the other size."""
        mode: Any = self.mode  # checked there
        return functional.interpolate(x, self.size, self.scale_factor, mode, self.align_corners,
                                      self.recompute_scale_factor)  # fmt: skip

    def extra_repr(self) -> str:
        """Show the size or the factor, and the mode."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class PixelShuffle(Module):
    """Channels become rows and columns.

    >>> nn.PixelShuffle(2)(ts.ones(1, 8, 3, 3)).shape
    (1, 2, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """Move them."""
        return functional.pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return f"upscale_factor={self.upscale_factor}"
