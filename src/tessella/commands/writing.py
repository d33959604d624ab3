"""`python -m tessella generate` and `estimate`: text from a model, and the memory that it needs."""

from __future__ import annotations

import sys

from tessella import memory
from tessella.hints import Any
from tessella.models import LanguageModel, Passage, estimate, load
from tessella.sizes import to_text
from tessella.threads import set_num_threads


def generate(given: Any) -> int:
    """Write what follows a prompt, piece by piece, and tell how fast that was."""
    if given.threads:
        set_num_threads(given.threads)
    author = load(given.model, given.context, given.cache)
    passage = begin(author, given)
    for piece in passage:
        show(piece, "")
    show("")
    if not given.quiet:
        print(f"{passage.figures}; {held()}", file=sys.stderr)
    return 0


def begin(author: LanguageModel, given: Any) -> Passage:
    """Begin the text or the answer that the arguments ask for."""
    options = {
        "temperature": given.temperature, "top_k": given.top_k, "top_p": given.top_p,
        "min_p": given.min_p, "repetition_penalty": given.repetition_penalty, "seed": given.seed,
        "stop": given.stop, "eager": given.eager,
    }  # fmt: skip
    if not given.chat:
        return author.write(given.prompt, given.max_tokens, **options)
    messages = [{"role": "user", "content": given.prompt}]
    if given.system is not None:
        messages.insert(0, {"role": "system", "content": given.system})
    return author.chat(messages, given.max_tokens, **options)


def held() -> str:
    """Tell the most memory that was in use, and what is mapped."""
    stats = memory.stats()
    mapped = f" and {to_text(stats.foreign)} mapped" if stats.foreign else ""
    return f"memory {to_text(stats.peak)}{mapped}"


def show_estimate(given: Any) -> int:
    """Print the memory that a model needs."""
    show(str(estimate(given.model, given.context, dtype=given.cache)))
    return 0


def show(text: str, end: str = "\n") -> None:
    """Print a text; what standard output has no bytes for becomes a question mark."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), end=end, flush=True)
