"""A Llama of 100 million random weights in GGUF files, and two that go on with its text.

Tessella and llama.cpp read the same file, prompt and number of threads, and take the most likely
token each time. Both have the same two verbs: `read` goes through the prompt from nothing, `write`
goes on from its end.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FORMATS = ("q8_0", "q4_0")
VOCABULARY = 16384
SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 768, "intermediate_size": 2048,
    "num_hidden_layers": 12, "num_attention_heads": 12, "num_key_value_heads": 4,
    "max_position_embeddings": 1024, "rms_norm_eps": 1e-5,
}  # fmt: skip
ROOM = 512  # places in the caches
TOKENS = 16  # written by one call of `write`
SPECIAL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
FIRST_WORD = len(SPECIAL) + len(BYTES)
PROMPT = [FIRST_WORD + 7919 * i % (VOCABULARY - FIRST_WORD) for i in range(256)]


def tokenizer() -> dict[str, Any]:
    """A vocabulary of made-up words, which llama.cpp asks for; nothing here is text."""
    words = VOCABULARY - FIRST_WORD
    said = {
        "model": "llama",
        "tokens": [*SPECIAL, *BYTES, *[f"\N{LOWER ONE EIGHTH BLOCK}{i}" for i in range(words)]],
        "scores": [0.0] * FIRST_WORD + [-float(i) for i in range(words)],
        "token_type": [2, 3, 3] + [6] * len(BYTES) + [1] * words,
        "unknown_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip
    return {f"tokenizer.ggml.{name}": value for name, value in said.items()}


@cache
def folder() -> TemporaryDirectory[str]:
    """A folder that goes when the process ends."""
    return TemporaryDirectory()


@cache
def files(ts: Any) -> dict[str, Path]:
    """The same random weights in each format, written when first asked for."""
    ts.manual_seed(0)
    model = ts.models.Llama(ts.models.LlamaConfig(**SIZES))
    found = {format: Path(folder().name) / f"{format}.gguf" for format in FORMATS}
    for format, path in found.items():
        ts.models.save_gguf(model, path, tokenizer(), format=format)
    return found


class Tessella:
    """A Writer for each reading of the prompt; its steps are compiled at its first `write`."""

    def __init__(self, ts: Any, path: Path, threads: int) -> None:
        self.ts, self.threads = ts, threads
        self.model = ts.models.load_gguf(path)
        self.writer: Any = None  # whose prompt has been read

    def read(self) -> int:
        """Give the token that follows the prompt."""
        models = self.ts.models
        self.writer = models.Writer(self.model, [PROMPT], ROOM, models.Sampler(temperature=0))
        with self.ts.num_threads(self.threads):
            return int(self.writer.first()[0])

    def write(self) -> list[int]:
        """Give the tokens that follow the prompt and its last token, said twice."""
        if self.writer is None:
            self.read()
        self.writer.cache.truncate(len(PROMPT))
        self.writer.left = ROOM - len(PROMPT)
        self.writer.tokens = self.writer.prompt[:, -1:]
        with self.ts.num_threads(self.threads):
            return [self.writer.next()[0] for _ in range(TOKENS)]

    def logits(self) -> list[float]:
        """Give the logits at the end of the prompt."""
        with self.ts.no_grad():
            prompt = self.ts.tensor([PROMPT])
            out = self.model(prompt, self.model.cache(len(PROMPT)), last=True)
        found: list[float] = out[0, -1].tolist()
        return found


class LlamaCpp:
    """llama.cpp by its own defaults, but for the threads and the room."""

    def __init__(self, library: Any, path: Path, threads: int) -> None:
        library.disable_logging()

        class Model(library.LlamaModel):  # type: ignore[misc]
            """A model that knows how many logits it gives, which the binding asks it for."""

            n_vocab = VOCABULARY

        options = library.LlamaContextParams()
        options.n_ctx, options.n_threads, options.n_threads_batch = ROOM, threads, threads
        self.model = Model(str(path), library.LlamaModelParams())
        self.context = library.LlamaContext(self.model, options)
        self.sampler = library.LlamaSampler(library.LlamaSamplerChainParams())
        self.sampler.add_greedy()
        self.batch = library.LlamaBatch(n_tokens=len(PROMPT), embd=0, n_seq_max=1)

    def put(self, tokens: list[int], place: int) -> None:
        """Let tokens go through the model, which stand from a place on."""
        self.batch.clear()
        for i, token in enumerate(tokens):
            self.batch.add(token, place + i, [0], i + 1 == len(tokens))
        self.context.decode(self.batch)

    def read(self) -> int:
        """Give the token that follows the prompt."""
        self.context.memory_seq_rm(0, 0, -1)
        self.put(PROMPT, 0)
        return int(self.sampler.sample(self.context, -1))

    def write(self) -> list[int]:
        """Give the tokens that follow the prompt and its last token, said twice."""
        self.context.memory_seq_rm(0, len(PROMPT), -1)
        found, token = [], PROMPT[-1]
        for place in range(len(PROMPT), len(PROMPT) + TOKENS):
            self.put([token], place)
            token = int(self.sampler.sample(self.context, -1))
            found.append(token)
        return found

    def logits(self) -> list[float]:
        """Give the logits that the last token got."""
        found: list[float] = self.context.get_logits_ith(-1)
        return found
