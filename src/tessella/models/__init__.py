"""Language models: GPT-2 and Llama with their kin, from files, trained, and writing text."""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.models.caches import GrowingCache, KVCache
from tessella.models.estimates import Estimate, estimate
from tessella.models.folders import load_folder
from tessella.models.generation import Writer, generate
from tessella.models.gguf import load_gguf
from tessella.models.gguf_writing import save_gguf
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import Llama, LlamaConfig
from tessella.models.passages import Passage
from tessella.models.samplers import Sampler
from tessella.models.texts import LanguageModel, load

__all__ = [
    "GPT", "Estimate", "GPTConfig", "GrowingCache", "KVCache", "LanguageModel", "Llama",
    "LlamaConfig", "Passage", "Sampler", "Writer", "estimate", "generate", "load", "load_folder",
    "load_gguf", "save_gguf",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
