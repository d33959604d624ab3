"""Feed-forward layers with a gate: SwiGLU and GeGLU."""

from __future__ import annotations

from tessella._core import Tensor
from tessella.hints import Any, Callable, DeviceLike, DTypeLike
from tessella.nn import functional
from tessella.nn.linear import Linear
from tessella.nn.modules import Module


class Gated(Module):
    """down(activation(gate(x)) * up(x)), each a Linear: features to hidden, and back."""

    activation: Callable[[Tensor], Tensor]
    gate_proj: Module
    up_proj: Module
    down_proj: Module

    def __init__(
        self,
        features: int,
        hidden_features: int,
        bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.gate_proj = Linear(features, hidden_features, **options)
        self.up_proj = Linear(features, hidden_features, **options)
        self.down_proj = Linear(hidden_features, features, **options)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply what the gate lets through."""
        gate, up = self.gate_proj(x), self.up_proj(x)  # both first: the rest is then one step
        out: Tensor = self.down_proj(self.activation(gate) * up)
        return out


class SwiGLU(Gated):
    """down_proj(silu(gate_proj(x)) * up_proj(x)): the feed-forward layer of Llama.

    `features` go in and come out, with `hidden_features` between.

    >>> nn.SwiGLU(8, 16)(ts.ones(2, 8)).shape
    (2, 8)
    """

    activation = staticmethod(functional.silu)


class GeGLU(Gated):
    """down_proj(gelu(gate_proj(x)) * up_proj(x)).

    `features` go in and come out, with `hidden_features` between.

    >>> nn.GeGLU(8, 16)(ts.ones(2, 8)).shape
    (2, 8)
    """

    activation = staticmethod(functional.gelu)
