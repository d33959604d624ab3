"""`ts.save` and `ts.load`: nested containers of tensors and plain values, in one file.

The file is a safetensors file, with the structure as JSON in its notes: other readers find the
tensors under names that tell their places. Loading reads our own files and those of the others
(safetensors, .npy, .npz, PyTorch's .pt), which it tells apart by their first bytes; it never runs
code.
"""

from __future__ import annotations

from tessella.arguments import to_bool
from tessella.devices import to_device_name
from tessella.hints import Any, DeviceLike, File, Saved
from tessella.io import file_errors, notes, safetensors, sources
from tessella.io.sources import Source
from tessella.io.structures import Decoder, Encoder
from tessella.located import located


@located("save")
def save(obj: object, path: File) -> None:
    """Save tensors, numbers, text and None in nested dicts, lists and tuples.

    The file is replaced as a whole or stays as it is. Tensors keep dtype, shape and whether they
    ask for gradients; the same tensor in several places is written once and stays one. Save the
    `state_dict()` of modules and optimizers. `path` may be a binary file too.

    >>> ts.save({"weights": [ts.ones(2), ts.zeros(3)], "epoch": 7}, "run.ts")
    >>> ts.load("run.ts")["epoch"]
    7
    """
    write_object(obj, path)


def write_object(obj: Any, path: Any) -> None:
    """Write an object; errors are left for the caller to name."""
    encoder = Encoder()
    said = notes.Notes()
    said.object = encoder.encode(obj)
    safetensors.write(encoder.tensors, path, {}, said)


@located("load")
def load(
    path: File,
    map_location: DeviceLike | None = None,
    *,
    weights_only: bool = True,
    mmap: bool = False,
) -> Saved:
    """Load what `ts.save` or `torch.save` wrote, a safetensors file, or NumPy's .npy and .npz.

    Nothing in a file is ever run: `weights_only` and `map_location`, PyTorch's, can only say True
    and the CPU. With `mmap` tensors lie over the file and are read-only; if another program cuts
    it short while they are used, the system ends this process (SIGBUS).

    >>> ts.save((ts.arange(3), None), "run.ts")
    >>> numbers, nothing = ts.load("run.ts")
    >>> numbers.tolist()
    [0, 1, 2]
    """
    if not to_bool("weights_only", weights_only):
        raise file_errors.would_run_code()
    if map_location is not None:
        to_device_name(map_location)
    access = sources.READ_ONLY if to_bool("mmap", mmap) else None
    found: Saved = read_object(sources.open_source(path, access))
    return found


def read_object(source: Source) -> Any:
    """Read an object out of a file of any kind; the file is closed."""
    with source:
        start = source.read(0, min(8, source.size))
        if start.startswith(b"PK\3\4"):
            from tessella.io.archives import Archive

            archive = Archive(source)
            if archive.find("data.pkl"):
                from tessella.io.torch_files import read_torch

                return read_torch(archive)
            from tessella.io.npz import read_npz

            return read_npz(archive, None)
        if start.startswith(b"\x93NUMPY"):
            from tessella.io.npy import read_npy

            return read_npy(source)
        return _read_safetensors(source)


def _read_safetensors(source: Source) -> Any:
    file = safetensors.read_file(source)
    if not file.notes.has_object:
        return {name: file.tensor(name) for name in file.names()}
    return Decoder(source.name, file.tensor, set(file.names())).decode(file.notes.object)
