"""Text of language models: tokenizers from the metadata of GGUF files or tokenizer.json, chats."""

from tessella.text.chats import render_chat
from tessella.text.tokenizers import Stream, Tokenizer

__all__ = ["Stream", "Tokenizer", "render_chat"]
__dir__ = __all__.copy
