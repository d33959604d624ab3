"""NumPy's .npz files: zip archives of .npy files, read and written without NumPy."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_list
from tessella.hints import TYPE_CHECKING, Any, File
from tessella.io import file_errors, npy, replacements, sources
from tessella.io.archives import Archive, Member
from tessella.io.file_errors import calling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LONGEST = 60_000  # bytes of a name: zip counts them with 16 bits
_OLDEST = (1980, 1, 1, 0, 0, 0)  # zip's: the same tensors give the same bytes at any time


def load_npz(path: File, keys: Iterable[str] | None = None) -> dict[str, Tensor]:
    """Read the tensors of NumPy's .npz file, by name: all of them, or those that are named.

    >>> numpy.savez("x.npz", a=numpy.arange(3), b=numpy.ones(2))
    >>> ts.io.load_npz("x.npz")["a"].tolist()
    [0, 1, 2]
    """
    with calling("load_npz"):
        wanted = (
            None
            if keys is None
            else [keys]
            if isinstance(keys, str)
            else to_list("keys", keys, "a list of names")
        )
        with sources.open_source(path) as source:
            return read_npz(Archive(source), wanted)


def read_npz(archive: Archive, keys: list[str] | None) -> dict[str, Tensor]:
    """Read members of an archive as tensors; folders and other files are refused."""
    named = {name.removesuffix(".npy"): member for name, member in archive.members.items()}
    if keys is None:
        return {key: _read(archive, member, key) for key, member in named.items()}
    for key in keys:
        if not isinstance(key, str) or key not in named:
            raise file_errors.unknown_tensor(key, archive.source.name, list(named))
    return {key: _read(archive, named[key], key) for key in keys}


def _read(archive: Archive, member: Member, key: str) -> Tensor:
    name = f"{archive.source.name}, member {errors.brief(member.name)}"
    if not member.name.endswith(".npy"):
        raise file_errors.no_npy(name, 0)
    flat = archive.flat(member)
    head = bytes(memoryview(flat[: 12 + (1 << 16)]))
    form, start = npy.read_form(head, name)
    if form.nbytes != member.size - start:
        raise file_errors.npy_size(name, start, form.nbytes, member.size - start)
    return npy.arrange(flat[start:], form, key, file_errors.place(name, start))


def save_npz(tensors: Mapping[str, Tensor], path: File, compressed: bool = False) -> None:
    """Write tensors, by name, into NumPy's .npz file, which is replaced as a whole.

    >>> ts.io.save_npz({"a": ts.arange(3)}, "x.npz", compressed=True)
    >>> numpy.load("x.npz")["a"].tolist()
    [0, 1, 2]
    """
    with calling("save_npz"):
        if not hasattr(type(tensors), "items"):
            raise errors.wrong_type("tensors", tensors, "a dict of names and tensors")
        heads = {name: npy.compose(x, _shown(name)) for name, x in tensors.items()}
        is_packed = to_bool("compressed", compressed)
        import zipfile

        way = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
        with replacements.open_target(path) as file, zipfile.ZipFile(file, "w") as archive:
            for name, x in tensors.items():
                entry = zipfile.ZipInfo(f"{name}.npy", _OLDEST)
                entry.compress_type = way
                entry.external_attr = 0o644 << 16
                with archive.open(entry, "w", force_zip64=True) as member:
                    npy.write_npy(member, heads[name], x)  # type: ignore[arg-type]  # a member writes bytes


def _shown(name: Any) -> str:
    """Check the name of a tensor; give it as errors show it."""
    if not isinstance(name, str):
        raise errors.wrong_type("tensors", name, "a dict whose keys are text")
    raw = name.encode(errors="replace")
    if raw.decode() != name or b"\0" in raw or len(raw) > _LONGEST:
        raise file_errors.no_member_name(name)
    return f"tensors[{errors.brief(name)}]"
