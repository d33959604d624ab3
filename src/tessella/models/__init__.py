"""Language models: GPT-2 and Llama with their kin, from files, trained, and writing text."""

from tessella.models.caches import GrowingCache, KVCache
from tessella.models.folders import load_folder
from tessella.models.generation import Writer, generate
from tessella.models.gguf import load_gguf
from tessella.models.gguf_writing import save_gguf
from tessella.models.gpt import GPT, GPTConfig
from tessella.models.llama import Llama, LlamaConfig
from tessella.models.samplers import Sampler

__all__ = [
    "GPT", "GPTConfig", "GrowingCache", "KVCache", "Llama", "LlamaConfig", "Sampler", "Writer",
    "generate", "load_folder", "load_gguf", "save_gguf",
]  # fmt: skip
