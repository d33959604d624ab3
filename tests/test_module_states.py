"""State dicts: what they hold, how they are loaded, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from tessella import errors, nn


def net() -> nn.Sequential:
    """Two layers."""
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def values(model: nn.Module) -> list[Any]:
    """Give all numbers."""
    return [x.tolist() for x in model.state_dict().values()]


def test_a_state_shares_memory_and_asks_for_no_gradients() -> None:
    model = net()
    state = model.state_dict()
    assert not any(x.requires_grad for x in state.values())
    state["0.bias"].fill_(5)
    assert model[0].bias.tolist() == [5.0, 5.0, 5.0]
    assert model.state_dict(keep_vars=True)["0.bias"] is model[0].bias
    assert next(iter(model.state_dict(prefix="net."))) == "net.0.weight"
    given: dict[str, Any] = {"more": 1}
    assert model.state_dict(destination=given) is given and len(given) == 5


def test_a_state_is_copied_into_the_same_parameters() -> None:
    source, target = net(), net()
    parts = list(target.parameters())
    found = target.load_state_dict(source.state_dict())
    assert repr(found) == "<All keys matched successfully>"
    assert values(target) == values(source)
    assert all(x is y for x, y in zip(target.parameters(), parts, strict=True))
    target.load_state_dict({key: x.to(ts.float64) for key, x in source.state_dict().items()})
    assert target[0].weight.dtype is ts.float32 and values(target) == values(source)


def test_assign_takes_the_tensors_themselves() -> None:
    target = net()
    state = {key: x.to(ts.float64) for key, x in net().state_dict().items()}
    target.load_state_dict(state, assign=True)
    assert target[0].weight.dtype is ts.float64 and isinstance(target[0].weight, nn.Parameter)
    state["0.weight"].fill_(3)
    assert (target[0].weight == 3).all() and target[0].weight.requires_grad


def test_keys_are_passed_over_where_asked() -> None:
    target = net()
    before = values(target)
    state = {"0.bias": ts.ones(3), "else": ts.ones(1)}
    found = target.load_state_dict(state, strict=False)
    assert found.unexpected_keys == ["else"]
    assert found.missing_keys == ["0.weight", "2.weight", "2.bias"]
    assert target[0].bias.tolist() == [1.0, 1.0, 1.0] and values(target)[0] == before[0]


def test_a_state_that_does_not_fit_loads_nothing_and_says_all_that_is_wrong() -> None:
    target = net()
    before = values(target)
    state = net().state_dict()
    del state["2.bias"]
    state |= {"0.weight": ts.ones(4, 2), "0.bias": [1.0], "x.y": ts.ones(1)}  # type: ignore[dict-item]
    state["2.weight"] = ts.ones(1, 3, dtype=ts.complex64)
    with pytest.raises(errors.InvalidArgument) as caught:
        target.load_state_dict(state)
    text = str(caught.value)
    assert text.splitlines()[:6] == [
        "Sequential.load_state_dict: the state does not fit: 1 missing, 1 unexpected, 3 of another "
        "shape or dtype; nothing was loaded",
        "    missing: 2.bias",
        "    unexpected: x.y",
        "    0.weight  float32 (4, 2) in the state, float32 (3, 2) in the module",
        "    0.bias  is list, not a tensor",
        "    2.weight  " + text.splitlines()[5].split("2.weight  ")[1],
    ]
    assert "complex64" in text.splitlines()[5]
    assert "hint: build the model with the sizes of the saved one" in text
    assert values(target) == before
    with pytest.raises(errors.InvalidArgument, match="3 of another shape"):
        target.load_state_dict(state, strict=False)
    assert values(target) == before


def test_missing_keys_name_the_way_out() -> None:
    with pytest.raises(errors.InvalidArgument, match="strict=False passes over missing"):
        net().load_state_dict({})
    with pytest.raises(errors.ArgumentError, match="state_dict must be a dict of tensors, got int"):
        net().load_state_dict(3)


def test_modules_may_add_to_their_state() -> None:
    class Counted(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    source, target = nn.Sequential(Counted()), nn.Sequential(Counted())
    source[0].count = 4
    assert source.state_dict() == {"0._extra_state": {"count": 4}}
    target.load_state_dict(source.state_dict())
    assert target[0].count == 4
    with pytest.raises(errors.InvalidArgument, match=r"missing: 0\._extra_state"):
        target.load_state_dict({})


def test_a_shared_module_is_in_the_state_under_both_names() -> None:
    layer = nn.Linear(1, 1)
    model = nn.Sequential(layer, layer)
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    model.load_state_dict({key: ts.ones(x.shape) for key, x in model.state_dict().items()})
    assert layer.weight.item() == 1
