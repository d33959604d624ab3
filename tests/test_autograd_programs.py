"""Random programs of views and in-place writes, against the same without either.

The model holds the base as a value that is never changed: a view is the places it looks at, a write
makes a new value with `where`. Both are differentiated; values and gradients must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from conftest import sampled
from nested import listed

ROWS, COLUMNS = 3, 4
SIZE = ROWS * COLUMNS
STEPS = 14
View = Callable[[ts.Tensor], ts.Tensor]


class Looked:
    """A view: the real one, and the places of the base that it shows."""

    def __init__(self, real: ts.Tensor, places: ts.Tensor) -> None:
        self.real = real
        self.places = places


class Program:
    """One random program, run in place and by the model."""

    def __init__(self, rng: random.Random, x: ts.Tensor, y: ts.Tensor) -> None:
        self.rng = rng
        self.leaves = (x, y)
        base = x * 1 if rng.random() < 0.7 else ts.zeros(ROWS, COLUMNS, dtype=ts.float64)
        places = ts.arange(SIZE).reshape(ROWS, COLUMNS)
        self.model = (x * 1 if base.requires_grad else base).reshape(-1)
        self.views = [Looked(base, places)]
        self.real_sum = (x * y).sum()
        self.model_sum = (x * y).sum()
        self.text: list[str] = []

    def run(self) -> None:
        """Take a number of random steps, and read everything at the end."""
        for _ in range(STEPS):
            self.rng.choice([self.look, self.look, self.write, self.write, self.write, self.read])()
        for view in self.views:
            self.read_view(view)

    # --- views ---

    def look(self) -> None:
        """Make a view of a view."""
        view = self.rng.choice(self.views)
        change = self.choose_view(view.real.shape)
        made = Looked(change(view.real), change(view.places))
        if made.places.size:
            self.views.append(made)

    def choose_view(self, shape: tuple[int, ...]) -> View:
        """Choose what can be done to a shape."""
        rng = self.rng
        choices: list[tuple[str, View]] = [("x[None]", lambda x: x[None])]
        if shape:
            i = rng.randrange(shape[0])
            a = rng.randrange(shape[0])
            choices += [
                (f"x[{i}]", lambda x: x[i]), (f"x[{a}:]", lambda x: x[a:]),
                ("x[::-1]", lambda x: x[::-1]), ("x[..., ::2]", lambda x: x[..., ::2]),
                ("x.T", lambda x: x.permute(tuple(reversed(range(x.ndim))))),
                ("x.flip()", lambda x: x.flip()),
            ]  # fmt: skip
        if len(shape) == 2:
            choices.append(("x.diagonal()", lambda x: x.diagonal()))
        if 1 in shape:
            choices.append(("x.squeeze()", lambda x: x.squeeze()))
        name, change = rng.choice(choices[: None if len(shape) < 5 else 1])
        self.text.append(f"view {name} of {shape}")
        return change

    # --- writes ---

    def write(self) -> None:
        """Change a view in place."""
        view = self.rng.choice(self.views)
        shape = view.real.shape
        old = self.model[view.places]
        real_value, model_value = self.choose_value(shape)
        kind = self.rng.choice(["add_", "mul_", "copy_", "set", "fill_", "tanh_", "sub_", "+="])
        self.text.append(f"{kind} on {shape}")
        if kind == "add_" or kind == "+=":
            new = old + model_value
            view.real.add_(real_value)
        elif kind == "sub_":
            new = old - model_value
            view.real.sub_(real_value)
        elif kind == "mul_":
            new = old * model_value
            view.real.mul_(real_value)
        elif kind == "copy_":
            new = ts.broadcast_to(model_value, shape)
            view.real.copy_(ts.broadcast_to(real_value, shape))
        elif kind == "set":
            new = ts.broadcast_to(model_value, shape)
            view.real[...] = real_value
        elif kind == "fill_":
            new = ts.full(shape, 0.5, dtype=ts.float64)
            view.real.fill_(0.5)
        else:
            new = ts.tanh(old)
            view.real.tanh_()
        self.put(view.places, new)

    def put(self, places: ts.Tensor, new: ts.Tensor) -> None:
        """Make the model's next value."""
        order, flat = [0] * SIZE, listed(places.reshape(-1))
        for i, place in enumerate(flat):
            order[place] = i
        is_written = ts.tensor([place in set(flat) for place in range(SIZE)])
        spread = ts.broadcast_to(new, places.shape).reshape(-1)[ts.tensor(order)]
        self.model = ts.where(is_written, spread, self.model)

    def choose_value(self, shape: tuple[int, ...]) -> tuple[ts.Tensor, ts.Tensor]:
        """Choose what is written: a number, a leaf's part, or another view's elements."""
        x, y = self.leaves
        others = [v for v in self.views if v.real.shape == shape]
        choice = self.rng.choice(["constant", "leaf", "row", "view"])
        if choice == "view" and others:
            other = self.rng.choice(others)
            return other.real.clone(), self.model[other.places]
        if choice == "row" and shape and shape[-1] <= COLUMNS:
            value = y[: shape[-1]] * 0.5
            return value, value
        if choice == "leaf":
            value = ts.sin(x[self.rng.randrange(ROWS), self.rng.randrange(COLUMNS)])
            return value, value
        value = ts.tensor(self.rng.choice([0.5, -1.0, 1.25]), dtype=ts.float64)
        return value, value

    # --- reads ---

    def read(self) -> None:
        """Let a view flow into the result."""
        self.read_view(self.rng.choice(self.views))

    def read_view(self, view: Looked) -> None:
        """Read by an operation that saves nothing, or from a copy."""
        weights = ts.arange(1, view.real.size + 1).astype(ts.float64).reshape(view.real.shape) / 7
        model = self.model[view.places]
        ts.testing.assert_close(view.real, model, rtol=1e-12, atol=1e-12)
        if self.rng.random() < 0.5:
            self.real_sum = self.real_sum + (view.real * weights).sum()
            self.model_sum = self.model_sum + (model * weights).sum()
        else:
            self.real_sum = self.real_sum + ts.sin(view.real.clone() * weights).sum()
            self.model_sum = self.model_sum + ts.sin(model * weights).sum()


@pytest.mark.parametrize("number", sampled(range(2000), 200))
def test_writes_through_views_are_those_of_the_model(number: int) -> None:
    rng = random.Random(number)
    generator = ts.Generator(number)
    x, y = (ts.randn(s, dtype=ts.float64, generator=generator).requires_grad_()
            for s in ((ROWS, COLUMNS), (COLUMNS,)))  # fmt: skip
    program = Program(rng, x, y)
    program.run()
    found = ts.autograd.grad(program.real_sum, (x, y), create_graph=True)
    wanted = ts.autograd.grad(program.model_sum, (x, y), create_graph=True)
    try:
        ts.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
        second: list[Any] = [
            ts.autograd.grad([(g * g).sum() for g in each], (x, y), retain_graph=True)
            for each in (found, wanted)
        ]
        ts.testing.assert_close(*second, rtol=1e-9, atol=1e-9)
    except ts.errors.CheckFailed as error:
        pytest.fail("\n".join([*program.text, str(error)]), pytrace=False)
