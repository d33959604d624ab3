"""Entries of config.json that change what a model computes: taken, or refused by their names."""

from __future__ import annotations

import dataclasses

from tessella.hints import Any, Mapping
from tessella.models import model_errors

# What the models here compute with, by the entries that could say otherwise.
LLAMA: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("silu", "swish"), "partial_rotary_factor": (1, None),
    "quantization_config": (None,),
}  # fmt: skip
GPT: dict[str, tuple[Any, ...]] = {
    "activation_function": ("gelu_new", "gelu_pytorch_tanh"), "scale_attn_weights": (True,),
    "scale_attn_by_inverse_layer_idx": (False, None), "quantization_config": (None,),
}  # fmt: skip


def check_entries(given: Mapping[str, Any], known: dict[str, tuple[Any, ...]]) -> None:
    """Refuse entries by which a model would compute something else."""
    for name, values in known.items():
        if name in given and given[name] not in values:
            raise model_errors.unknown_entry(name, given[name], values)


def check_parts(config: Any, whole: str, part: str, shown: Mapping[str, str]) -> None:
    """Refuse heads that would not be equal parts; `shown` has the names that a file gives sizes."""
    size, count = getattr(config, whole), getattr(config, part)
    if count and size % count:
        raise model_errors.unequal_parts(
            shown.get(whole, whole), size, shown.get(part, part), count
        )


def published(config: Any, given: Mapping[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    """Take the entries that a configuration has fields for, except names that are our own."""
    names = [name for name in config.__dataclass_fields__ if name not in own]
    truths = {each.name for each in dataclasses.fields(config) if each.type == "bool"}
    found = {name: given[name] for name in names if name in given}
    return {name: False if name in truths and x is None else x for name, x in found.items()}


def rope_of(given: Mapping[str, Any], base: float) -> tuple[Any, dict[str, Any] | None]:
    """Give the base of rotary frequencies, and their scaling: older and newer files differ."""
    for name in ("rope_scaling", "rope_parameters"):
        found = given.get(name)
        if found is not None and not isinstance(found, dict):
            raise model_errors.wrong_entry(name, found, "an object, such as that of rope_type")
        if any(isinstance(each, dict) for each in (found or {}).values()):
            raise model_errors.wrong_entry(name, found, "one object for all layers")
    rope = given.get("rope_scaling") or given.get("rope_parameters") or {}
    check_entries(rope, {"partial_rotary_factor": LLAMA["partial_rotary_factor"]})
    theta = rope.get("rope_theta", given.get("rope_theta", base))
    return theta, rope or None


def window_of(kind: str, given: Mapping[str, Any], layers: Any) -> Any:
    """Give the window that all layers have, if they have one."""
    window = given.get("sliding_window")
    if kind == "llama" or (kind == "qwen2" and not given.get("use_sliding_window")):
        return None
    kinds = given.get("layer_types")
    if kinds is not None:
        is_list = isinstance(kinds, list) and len(kinds) == layers
        if not is_list or any(str(each) not in _WINDOWED for each in kinds):
            wanted = f"a list of {' and '.join(map(repr, _WINDOWED))}, one for each layer"
            raise model_errors.wrong_entry("layer_types", kinds, wanted)
        windowed, name = [_WINDOWED[str(each)] for each in kinds], "layer_types"
    elif kind == "qwen2" and window is not None:
        first, name = given.get("max_window_layers", 28), "max_window_layers"
        if type(first) is not int or type(layers) is not int:
            raise model_errors.wrong_entry(name, first, "an integer")
        windowed = [first < layers] if first >= layers or first <= 0 else [False, True]
    else:
        return window
    if window is not None and len(set(windowed)) > 1:
        raise model_errors.mixed_windows(name, given.get(name, 28))
    return window if windowed[:1] == [True] else None


_WINDOWED = {"sliding_attention": True, "full_attention": False}
