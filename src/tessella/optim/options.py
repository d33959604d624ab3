"""Checks of what optimizers are given: parameters, and the options of their formulas."""

from __future__ import annotations

from tessella import errors, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import LISTS, is_iterable, to_bool, to_float
from tessella.hints import Any, Iterable, Mapping, TypeAlias

Options: TypeAlias = "Mapping[str, object]"  # of a group, or the saved state of a parameter
Params: TypeAlias = "Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Options]"

# PyTorch's choice among implementations: there is one here, which is fused, and captured as it is.
IMPLEMENTATIONS = ("foreach", "fused", "capturable")


def to_groups(params: Any) -> list[dict[str, Any]]:
    """Give parameter groups of what an optimizer was given: tensors, pairs, or dicts."""
    if isinstance(params, Tensor):
        raise optimizer_errors.one_parameter()
    if isinstance(params, dict) or not is_iterable(params):
        raise optimizer_errors.not_parameters(params)
    found = list(params)
    if not found:
        raise optimizer_errors.no_parameters()
    return found if isinstance(found[0], dict) else [{"params": found}]


def to_parameters(group: Any) -> tuple[list[Tensor], list[str] | None]:
    """Give the parameters of a group, and their names if they have any."""
    if not isinstance(group, dict) or "params" not in group:
        raise optimizer_errors.no_group(group)
    given = group["params"]
    if isinstance(given, set | frozenset):
        raise errors.wrong_type("params", given, "a list: a set has no order")
    if not isinstance(given, Tensor) and not is_iterable(given):
        raise optimizer_errors.not_parameters(given)
    found = [given] if isinstance(given, Tensor) else list(given)
    named = [each for each in found if isinstance(each, tuple) and len(each) == 2]
    if named and len(named) < len(found):
        raise optimizer_errors.mixed_names()
    params = [each[1] for each in named] if named else found
    for i, p in enumerate(params):
        check_parameter(f"params[{i}]", p)
    return params, [str(each[0]) for each in named] if named else None


def check_parameter(name: str, p: Any) -> None:
    """Require a leaf that has gradients."""
    if not isinstance(p, Tensor):
        raise optimizer_errors.not_parameter(name, p)
    if not p.is_leaf:
        raise optimizer_errors.not_leaf(name)
    if not (p.dtype.is_floating or p.dtype.is_complex):
        raise optimizer_errors.integer_parameter(name, p.dtype)


def check_distinct(params: list[Tensor], others: list[Tensor]) -> None:
    """Refuse a parameter that is there twice."""
    seen = {id(p) for p in others}
    for i, p in enumerate(params):
        if id(p) in seen:
            raise optimizer_errors.repeated_parameter(f"params[{i}]")
        seen.add(id(p))


# --- options --------------------------------------------------------------------------------------


def at_least_zero(name: str, value: Any) -> Any:
    """Check a number that is not negative; a tensor stays one."""
    if not to_float(name, value) >= 0:
        raise errors.wrong_value(name, value, "at least 0")
    return value if isinstance(value, Tensor) else float(value)


def below_one(name: str, value: Any) -> Any:
    """Check a number from 0 to 1, without 1."""
    if not 0 <= to_float(name, value) < 1:
        raise errors.wrong_value(name, value, "at least 0 and below 1")
    return value if isinstance(value, Tensor) else float(value)


def to_fraction(name: str, value: Any) -> float:
    """Check a number from 0 to 1."""
    if not 0 <= to_float(name, value) <= 1:
        raise errors.wrong_value(name, value, "from 0 to 1")
    return float(value)


def to_betas(betas: Any) -> tuple[Any, Any]:
    """Check two numbers that say how slowly means move."""
    if not isinstance(betas, LISTS) or len(betas) != 2:
        raise errors.wrong_type("betas", betas, "two numbers")
    return below_one("betas[0]", betas[0]), below_one("betas[1]", betas[1])


def check_implementation(owner: str, differentiable: Any, **given: Any) -> None:
    """Check what says in PyTorch how a step is computed: it makes no difference here."""
    for name, value in given.items():
        assert name in IMPLEMENTATIONS
        if value is not None:
            to_bool(name, value)
    if to_bool("differentiable", differentiable):
        raise optimizer_errors.no_option(owner, "differentiable")
