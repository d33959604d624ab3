"""Rooms: how many tokens fit into the memory that is left, for a model that is there already."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.dtypes import DType, float32
from tessella.hints import Any
from tessella.models import model_errors
from tessella.models.estimates import largest_context, left_by_limit, total
from tessella.models.folders import Model
from tessella.models.gpt import GPT
from tessella.models.outlines import Outline
from tessella.models.sizes import sizes_of


def computed_in(model: Model) -> DType:
    """Give the dtype of what goes from layer to layer, in which keys and values are kept: that of
    the table of tokens, which is float32 where it is quantised.
    """
    table: Any = model.wte if isinstance(model, GPT) else model.embed_tokens
    dtype: DType = table.weight.dtype
    return dtype if dtype.is_floating else float32


def outline_of(model: Model) -> Outline:
    """Give what decides about the memory of texts; weights count for nothing, as they are there."""
    formats: set[DType | str] = set()
    tables: set[DType | str] = set()
    is_turned = False
    for path, part in model.named_modules():
        weight: Any = getattr(part, "weight", None)
        if isinstance(weight, Tensor) and weight.ndim == 2:
            is_inside = path.startswith(("layers.", "h."))
            (formats if is_inside else tables).add(getattr(part, "format", weight.dtype))
            is_turned = is_turned or not weight.is_contiguous()
    sizes, dtype = sizes_of(model.config), computed_in(model)
    return Outline(model.config, sizes, 0, 0, tuple(formats), tuple(tables), dtype, is_turned)


def explained(
    error: errors.OutOfMemory, model: Any, capacity: int, batch: int, dtype: DType, held: int
) -> errors.TessellaError:
    """Say of memory that is not there how many tokens fit, beside `held` bytes of a cache; give the
    error as it is where that is not the reason.
    """
    error.__traceback__ = None  # whose frames hold what was being made
    if not isinstance(model, Model):
        return error
    available = max(left_by_limit() + held, 0)
    try:
        found = outline_of(model)
        needed = total(found, capacity, batch, dtype)
        if needed <= available:
            return error
        largest = largest_context(found, batch, dtype, available)
    except errors.OutOfMemory:  # there is not even room to find out
        return error
    return model_errors.capacity_too_large(capacity, batch, needed, available, largest)
