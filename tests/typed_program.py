"""A program as users write it, which says what everything is: type checkers must know it too.

tests/test_typing.py runs it, and mypy (strict) and basedpyright over it. `assert_type` stands where
what a checker finds out matters; where it is not said, an attribute or a result would be `Any`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import assert_type, final

from typing_extensions import override

import tessella as ts
from tessella import Tensor, data, memory, models, nn, optim
from tessella.backends import cudnn
from tessella.nn import functional as F
from tessella.nn.parameter import Parameter
from tessella.nn.utils.rnn import pad_sequence
from tessella.utils.data import DataLoader


@final
class Classifier(nn.Module):
    """A network of users: its calls have the types of `forward`."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 8), nn.ReLU())
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.head = nn.Linear(8, classes)
        self.register_buffer("scale", ts.ones(()))

    @override
    def forward(self, x: Tensor, temperature: float = 1.0) -> Tensor:
        hidden = assert_type(self.body(x * self.scale), Tensor)
        for layer in self.layers:
            hidden = hidden + assert_type(layer(hidden), Tensor).relu()
        return self.head(hidden) / temperature


def tensors() -> float:
    """Make, index and reduce tensors."""
    x = ts.arange(12.0).reshape(3, 4)
    rows, columns = x.shape
    part = assert_type(x[1:, ..., None][x[1:, :, None] > 2], Tensor)
    x[0, :2] = 7
    x[ts.tensor([True, False, True])] += 1
    values, places = x.topk(2)
    _, counts = assert_type(ts.unique(places, return_counts=True), tuple[Tensor, Tensor])
    nested = x.tolist()
    assert isinstance(nested, list)
    assert len(nested) == rows and columns == 4 and values.numpy().shape == (3, 2)
    padded = assert_type(pad_sequence([x[0], x[0, :2]], batch_first=True), Tensor)
    assert padded.shape == (2, columns)
    return part.sum().item() + float(x.mean()) + len(ts.split(counts, 1))


def gradients() -> Tensor:
    """Differentiate: in place, and by functions of functions."""
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad is not None
    (g,) = ts.autograd.grad(x.exp().sum(), x)

    def loss(weights: dict[str, Tensor], at: Tensor) -> Tensor:
        return (weights["w"] * at).square().sum()

    slopes = assert_type(ts.grad(loss)({"w": ts.ones(2)}, g), dict[str, Tensor])
    slope: Tensor = ts.grad(lambda t: (t * t).sum())(g)
    twice: Tensor = ts.grad(ts.grad(lambda t: t**3))(ts.tensor(2.0))
    square: Tensor = ts.jacobian(lambda t: t * t)(g)
    value, _ = ts.value_and_grad(lambda t: t.sum())(g)
    curved: Tensor = ts.hessian(lambda t: (t * t * value).sum())(g)
    assert slope.shape == (2,) and twice.item() == 12 and square.shape == curved.shape == (2, 2)
    out, pull = ts.vjp(lambda w: w.sin(), x.detach())
    (pulled,) = pull(ts.ones_like(out))
    return slopes["w"] + pulled + x.grad


def train(folder: Path) -> list[float]:
    """Train by hand and by `fit`, compiled; save all, and take it up again."""
    x, y = ts.randn(32, 4), ts.randint(0, 3, (32,))
    loader = DataLoader(data.TensorDataset(x, y), batch_size=8, shuffle=True)
    model = Classifier(4, 3)
    assert isinstance(model.head.weight, Parameter) and not cudnn.is_available()
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)

    @ts.compile
    def step(inputs: Tensor, targets: Tensor) -> Tensor:
        optimizer.zero_grad()
        value = F.cross_entropy(model(inputs, temperature=2.0), targets)
        value.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        _ = assert_type(norm, Tensor)
        _ = optimizer.step()
        return value

    total = 0.0
    for inputs, targets in loader:
        total += assert_type(step(inputs, targets), Tensor).item()
    scheduler.step()
    history = ts.fit(model, loader, F.cross_entropy, optimizer, epochs=2, progress=False)

    ts.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "run.ts")
    saved = ts.load(folder / "run.ts")
    assert isinstance(saved, dict)
    keys = model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    assert not keys.missing_keys and optimizer.param_groups[0]["lr"].item() > 0
    ts.io.save_file(model.state_dict(), folder / "model.safetensors")
    weights = assert_type(ts.io.load_file(folder / "model.safetensors"), dict[str, Tensor])
    assert weights.keys() == dict(model.named_parameters()).keys() | {"scale"}
    fast = ts.compile(model.eval())
    assert fast(x).argmax(axis=-1).shape == y.shape and len(list(fast.parameters())) == 8
    return [total, *history["loss"]]


def scopes() -> int:
    """Take memory from an arena, and bound it."""
    with memory.use(memory.Arena("1MiB")) as arena, ts.no_grad():
        x = ts.ones(100)
    with memory.limit("1GiB"), memory.track() as figures:
        grown = ts.DynamicArray(ts.float32)
        grown.extend([1, 2, 3])
    assert float(grown.pop()) == 3 and x.allocator == arena
    return figures.peak


def write() -> str:
    """Let a small language model write."""
    config = models.GPTConfig(vocab_size=4, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    said = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": list("abc!")}
    tokenizer = ts.text.Tokenizer.from_metadata({**said, "tokenizer.ggml.merges": []})
    author = models.LanguageModel(models.GPT(config), tokenizer)
    rows = assert_type(models.generate(author.model, [[1, 2], [3]], 3), list[list[int]])
    assert [len(row) for row in rows] == [3, 3]
    return "".join(author.write("ab", 5, temperature=0.5, seed=0))


if __name__ == "__main__":
    _ = ts.manual_seed(0)
    with tempfile.TemporaryDirectory() as place:
        print(tensors(), gradients().shape, len(train(Path(place))), scopes() > 0, len(write()))
