"""Makes files as torch.save does, without PyTorch: a pickle in an archive, and bytes of storages.

The pickles are those of Python's own pickler, which is told the names of PyTorch's functions; so
they can hold what PyTorch would never write.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any


class Named:
    """Stands for a global: pickled as the name of a module and of something in it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Call:
    """Stands for an object that a pickle makes by calling a global."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments


class Storage:
    """Stands for a storage: its class, its key, its number of elements."""

    def __init__(self, kind: str, key: str, count: Any) -> None:
        self.described = ("storage", Named(f"torch.{kind}"), key, "cpu", count)


_Python: Any = getattr(pickle, "_Pickler")  # noqa: B009 - stubs do not know it


class _Pickler(_Python):  # type: ignore[misc]
    """The pickler that is written in Python: what it does for an object can be changed."""

    def persistent_id(self, obj: Any) -> Any:
        return obj.described if isinstance(obj, Storage) else None

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, Named):
            module, _, name = obj.name.rpartition(".")
            self.write(f"c{module}\n{name}\n".encode())
        elif isinstance(obj, Call):
            self.save(Named(obj.name))
            self.save(obj.arguments)
            self.write(b"R")
        else:
            super().save(obj, save_persistent_id)


def pickled(obj: Any, protocol: int = 2) -> bytes:
    """Give the pickle of an object of the classes above."""
    file = io.BytesIO()
    _Pickler(file, protocol).dump(obj)
    return file.getvalue()


def archive(pickle: bytes, storages: dict[str, bytes], byteorder: str = "little") -> bytes:
    """Put a file together."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("archive/data.pkl", pickle)
        out.writestr("archive/byteorder", byteorder)
        for key, data in storages.items():
            out.writestr(f"archive/data/{key}", data)
        out.writestr("archive/version", "3\n")
    return file.getvalue()


def tensor(
    storage: Storage, offset: Any = 0, sizes: Any = (2,), strides: Any = (1,), *rest: Any
) -> Call:
    """Give the call that makes a tensor."""
    more = rest or (False, Call("collections.OrderedDict"))
    return Call("torch._utils._rebuild_tensor_v2", storage, offset, sizes, strides, *more)
