"""nn.utils beyond clipping: parameters as one vector, sequences of several lengths."""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from tessella import nn
from tessella.nn.ragged import pad_sequence
from tessella.nn.toolbox import parameters_to_vector, vector_to_parameters


def test_parameters_become_one_vector_and_come_back() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    vector = parameters_to_vector(model.parameters())
    assert vector.shape == (13,) and vector[:6].tolist() == model[0].weight.flatten().tolist()
    vector.sum().backward()
    assert all((p.grad == 1).all() for p in model.parameters() if p.grad is not None)
    vector_to_parameters(ts.arange(13.0), model.parameters())
    assert model[1].weight.tolist() == [[9.0, 10.0, 11.0]] and model[1].bias.tolist() == [12.0]
    assert all(p.requires_grad and p.is_leaf for p in model.parameters())


def test_vector_of_another_length_is_refused() -> None:
    with pytest.raises(ts.errors.ShapeError) as caught:
        vector_to_parameters(ts.zeros(4), nn.Linear(2, 1).parameters())
    message = str(caught.value)
    assert message.startswith(
        "vector_to_parameters: vec is (4,), and the parameters have 3 numbers"
    )
    assert message.endswith("  hint: (3,)")


SEQUENCES = [ts.tensor([[1, 2], [3, 4], [5, 6]]), ts.tensor([[7, 8]])]


@pytest.mark.parametrize(("options", "found"), [
    ({}, [[[1, 2], [7, 8]], [[3, 4], [0, 0]], [[5, 6], [0, 0]]]),
    ({"batch_first": True, "padding_value": 9},
     [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 9], [9, 9]]]),
    ({"batch_first": True, "padding_side": "left"},
     [[[1, 2], [3, 4], [5, 6]], [[0, 0], [0, 0], [7, 8]]]),
])  # fmt: skip
def test_sequences_are_filled_up_to_one_length(options: dict[str, Any], found: Any) -> None:
    assert pad_sequence(SEQUENCES, **options).tolist() == found
    assert pad_sequence(SEQUENCES, **options).dtype is ts.int64


def test_gradients_pass_to_the_sequences() -> None:
    x = [ts.ones(3, requires_grad=True), ts.ones(2, requires_grad=True)]
    (pad_sequence(x) * 2).sum().backward()
    assert [x.grad.tolist() for x in x if x.grad is not None] == [[2.0] * 3, [2.0] * 2]


@pytest.mark.parametrize(("sequences", "options", "text"), [
    ([], {}, "sequences have the shapes []"),
    ([ts.ones(2, 3), ts.ones(2, 4)], {}, "sequences have the shapes [(2, 3), (2, 4)]"),
    ([ts.ones(())], {}, "sequences have the shapes [()]"),
    ([ts.ones(2), 3], {}, "sequences[1] must be a tensor, got int"),
    ([ts.ones(2)], {"padding_side": "top"}, "padding_side is 'top'"),
])  # fmt: skip
def test_what_is_no_sequences_is_refused(
    sequences: list[Any], options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        pad_sequence(sequences, **options)
    assert str(caught.value).startswith(f"pad_sequence: {text}")
