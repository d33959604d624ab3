"""Gradients of fused gradients: those of the composites that they stand for.

A fused operation has a gradient with a kernel of its own; the gradient of that one is rare, and is
what the plain operations of the composite give.
"""

from __future__ import annotations

from tessella import _core
from tessella._core import Tensor
from tessella.hints import Any, Callable
from tessella.modes import enable_grad
from tessella.ops.movement import broadcast_to


def slopes(out: Tensor, inputs: list[Tensor], gradient: Tensor) -> list[Tensor]:
    """Give the gradients of the inputs, recorded so that they can be differentiated again."""
    found: list[Tensor] = list(_core.sweep((out,), (gradient,), tuple(inputs), True, True))
    return found


def pull(f: Callable[..., Any], g: Any, *operands: Any) -> list[Any]:
    """Give the gradients of the operands of f for the cotangent g: one for each, None for none.

    f is computed again, recording; it gives a tensor or a tuple, whose gradients g then is a tuple
    of. Where the sweep itself is recorded, so are these gradients.
    """
    creates = _core.is_grad_enabled()
    before = _core.recorded()
    with enable_grad():
        sources = [_source(x, creates) for x in operands]
        outs = f(*sources)
    pairs = zip(outs, g, strict=True) if isinstance(outs, tuple) else [(outs, g)]
    roots, begin = zip(*[pair for pair in pairs if pair[0] is not None], strict=True)
    places = [i for i, x in enumerate(sources) if isinstance(x, Tensor) and x.requires_grad]
    wanted = tuple([sources[i] for i in places])
    found = _core.sweep(roots, begin, wanted, creates, creates, before)
    given: list[Any] = [None] * len(operands)
    for i, gradient in zip(places, found, strict=True):
        given[i] = gradient
    return given


def _source(x: Any, creates: bool) -> Any:
    """Give what the gradient of an operand is asked of; to be recorded, a view, which is it alone.

    One tensor may be two operands, and each has a gradient of its own.
    """
    if not isinstance(x, Tensor) or not x.dtype.is_floating:
        return x
    return broadcast_to(x, x.shape) if creates and x.requires_grad else x.detach().requires_grad_()
