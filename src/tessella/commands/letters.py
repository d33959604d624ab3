"""`python -m tessella train gpt`: a model of letters, on the plays inside the package."""

from __future__ import annotations

import sys

from tessella import data
from tessella._core import Tensor
from tessella.hints import Any
from tessella.models import GPT, GPTConfig, Sampler, generate, save_gguf
from tessella.nn.functional import cross_entropy
from tessella.ops.composite import flatten
from tessella.ops.movement import unfold
from tessella.text.byte_level import ALPHABET

CONTEXT = 128  # letters that the model sees
SAMPLES = 3000  # pieces of an epoch, of random places: as many letters as the text has
REACHED = 1.7  # nats for each letter of the test part, by default


def make_letters() -> tuple[GPT, Any, Any]:
    """Letters of plays to the letters that follow them."""
    train, letters = data.load_text(split="train")
    test, _ = data.load_text(split="test")
    config = GPTConfig(
        vocab_size=len(letters), n_positions=CONTEXT, n_embd=128, n_layer=4, n_head=4
    )
    return GPT(config), pieces(train, 1), pieces(test, CONTEXT)


def pieces(ids: Tensor, step: int) -> data.TensorDataset:
    """Give pieces of a text, one from every so many letters, and the letters after each of them."""
    rows = unfold(ids, 0, CONTEXT + 1, step)
    return data.TensorDataset(rows[:, :-1], rows[:, 1:])


def letter_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Give the mean surprise about a letter, in nats."""
    found: Tensor = cross_entropy(flatten(logits, 0, 1), flatten(targets))
    return found


def show_sample(model: Any, row: dict[str, Any], eager: bool) -> None:
    """Print what the model writes after an epoch; no other random number changes by it."""
    text = data.load_text()
    start: Any = text.encode("\n").tolist()
    sampler = Sampler(temperature=0.8, seed=row["epoch"])
    found = generate(model, [start], CONTEXT - len(start), sampler, eager=eager)
    lines = text.decode(found[0]).strip().splitlines()
    print("\n".join(f"    {line}" for line in lines), file=sys.stderr, flush=True)


def save(model: Any, path: Any) -> None:
    """Write the model as a GGUF file, with a tokenizer whose tokens are the letters."""
    tokens = [ALPHABET[ord(letter)] for letter in data.load_text().letters]
    said = {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "merges": []}
    metadata = {f"tokenizer.ggml.{key}": value for key, value in said.items()}
    save_gguf(model, path, metadata, types={"tokenizer.ggml.merges": "string"})
