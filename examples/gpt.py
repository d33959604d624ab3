"""A character-level GPT on Shakespeare: blocks of causal attention, trained to continue a text.

The training step is one compiled program, and so is writing: keys and values of what is written are
kept in tensors with room for the whole context, and how many there are is a tensor too.
"""

from __future__ import annotations

import argparse

import tessella as ts
from tessella import data, nn
from tessella.nn import functional as F


class Cache:
    """Room for the keys and values of a block (1, H, T, D), and how many there are."""

    def __init__(self, heads: int, room: int, width: int, length: ts.Tensor) -> None:
        self.keys, self.values = (ts.zeros(1, heads, room, width // heads) for _ in range(2))
        self.length = length  # that of all blocks

    def attend(self, q: ts.Tensor, k: ts.Tensor, v: ts.Tensor) -> ts.Tensor:
        """Add keys and values, and let the queries look at all there are."""
        places = self.length + ts.arange(k.shape[2])
        self.keys[:, :, places] = k
        self.values[:, :, places] = v
        n = self.length + k.shape[2]
        return F.scaled_dot_product_attention(q, self.keys, self.values, is_causal=True, lengths=n)


class Block(nn.Module):
    """Attention, then two layers on each place; both beside what they get."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.join = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x: ts.Tensor, cache: Cache | None) -> ts.Tensor:
        """Let each place look at those before it: (B, T, C) to (B, T, C)."""
        b, t, c = x.shape
        parts = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, D)
        if cache is not None:
            y = cache.attend(q, k, v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.join(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x: ts.Tensor, cache: Cache | None = None) -> ts.Tensor:
        """Give x and what was found."""
        x = x + self.attend(self.norm1(x), cache)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Letters and places to rows, blocks, and the logits of the next letter."""

    def __init__(self, letters: int, context: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.context, self.width, self.heads = context, width, heads
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

    def forward(self, ids: ts.Tensor, caches: list[Cache] | None = None) -> ts.Tensor:
        """Give logits (B, T, V) for ids (B, T), which go on with what is in the caches."""
        places = ts.arange(ids.shape[1])
        x = self.letters(ids) + self.places(places + caches[0].length if caches else places)
        for i, block in enumerate(self.blocks):
            x = block(x, caches[i] if caches else None)
        return self.head(self.norm(x))

    @ts.no_grad()
    def write(self, first: ts.Tensor, compile: bool = True) -> list[int]:
        """Go on by sampling from ids (1, T) until the context is full."""
        length = ts.tensor(0)
        caches = [Cache(self.heads, self.context, self.width, length) for _ in self.blocks]

        def step(ids: ts.Tensor) -> ts.Tensor:
            logits = self(ids, caches)[:, -1]
            length.add_(ids.shape[1])
            return ts.multinomial(F.softmax(logits, axis=-1), 1)

        if compile:
            step = ts.compile(step)
        text = [first]
        for _ in range(self.context - first.shape[1] + 1):
            text.append(step(text[-1]))
        return [int(i) for i in ts.concat(text, axis=1)[0]]


def batch(ids: ts.Tensor, size: int, context: int) -> tuple[ts.Tensor, ts.Tensor]:
    """Draw pieces of the text, and the same one letter on: both (B, T)."""
    rows = ts.randint(0, len(ids) - context - 1, (size, 1)) + ts.arange(context + 1)
    pieces = ids[rows]
    return pieces[:, :-1], pieces[:, 1:]


def main(
    steps: int = 1000,
    width: int = 96,
    layers: int = 3,
    context: int = 48,
    compile: bool = True,
) -> float:
    """Train; give the loss on text that was not seen, in nats for each letter."""
    ts.manual_seed(0)
    ids, letters = data.load_text(split="train")
    test, _ = data.load_text(split="test")
    model = GPT(len(letters), context, width, heads=4, layers=layers)
    optimizer = ts.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)

    def step() -> ts.Tensor:
        x, y = batch(ids, 16, context)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if compile:
        step = ts.compile(step)
    for i in range(steps):
        loss = step()
        if i % 100 == 0:
            print(f"step {i}: loss {loss.item():.3f}")
    print("".join(letters[i] for i in model.write(ids[:1].reshape(1, 1), compile)))
    with ts.no_grad():
        x, y = batch(test, 64, context)
        return float(F.cross_entropy(model(x).flatten(0, 1), y.flatten()))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--eager", action="store_true", help="do not compile the steps")
    print(f"test loss {main(compile=not arguments.parse_args().eager):.3f}")
