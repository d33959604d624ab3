"""Files: safetensors, GGUF, whole training states, NumPy's .npy and .npz, PyTorch's .pt.

Saving is atomic: a file is replaced as a whole, or stays as it is. Loading never runs code, and a
file that is not what it should be raises FormatError.
"""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.io.gguf import GGUFFile, open_gguf, save_gguf
from tessella.io.gguf_header import GGUFTensor
from tessella.io.npy import load_npy, save_npy
from tessella.io.npz import load_npz, save_npz
from tessella.io.objects import load, save
from tessella.io.safetensors import TensorFile, TensorSlice, load_file, open_file, save_file
from tessella.io.states import load_checkpoint, save_checkpoint
from tessella.io.torch_files import load_pt

__all__ = [
    "GGUFFile",
    "GGUFTensor",
    "TensorFile",
    "TensorSlice",
    "load",
    "load_checkpoint",
    "load_file",
    "load_npy",
    "load_npz",
    "load_pt",
    "open_file",
    "open_gguf",
    "save",
    "save_checkpoint",
    "save_file",
    "save_gguf",
    "save_npy",
    "save_npz",
]
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
