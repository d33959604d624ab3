"""Text of language models: tokenizers from the metadata of GGUF files or tokenizer.json, chats."""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.text.chats import render_chat
from tessella.text.tokenizers import Stream, Tokenizer

__all__ = ["Stream", "Tokenizer", "render_chat"]
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
