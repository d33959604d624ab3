"""Files in the safetensors format: written streamed and as a whole, read mapped or into memory."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.dtypes import DType, UserDType, complex128
from tessella.hints import TYPE_CHECKING, Any, File, Iterator, Key
from tessella.io import file_errors, headers, notes, replacements, sources, streams
from tessella.io.elements import as_elements
from tessella.io.file_errors import calling
from tessella.io.headers import Entry, Header
from tessella.io.notes import Notes
from tessella.io.sources import Contents, Source

if TYPE_CHECKING:
    from collections.abc import Mapping


# --- writing -------------------------------------------------------------------------------------


def save_file(
    tensors: Mapping[str, Tensor], path: File, metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors, by name, and texts about them into a safetensors file.

    The file is replaced as a whole or stays as it is. Names that hold the same tensor are written
    once and stay tied; any other view is written as a tensor of its own. Gradients are not
    written. `path` may be a binary file too, which is then written as it goes.

    >>> ts.io.save_file({"w": ts.ones(2, 3)}, "model.safetensors", metadata={"made": "today"})
    >>> ts.io.load_file("model.safetensors")["w"].shape
    (2, 3)
    """
    with calling("save_file"):
        write(check_tensors(tensors), path, check_metadata(metadata), Notes())


def check_tensors(tensors: Any) -> dict[str, Tensor]:
    """Refuse what cannot be written under a name."""
    if not hasattr(type(tensors), "items"):
        raise errors.wrong_type("tensors", tensors, "a dict of names and tensors")
    found: dict[str, Tensor] = {}
    for name, x in tensors.items():
        if not isinstance(name, str):
            raise errors.wrong_type("tensors", name, "a dict whose keys are text")
        if not isinstance(x, Tensor):
            raise errors.not_tensor(f"tensors[{errors.brief(name)}]", x, "a tensor")
        if x.is_virtual:
            raise errors.virtual_value(f"tensors[{errors.brief(name)}]")
        if name == headers.METADATA:
            raise file_errors.reserved_name("tensors", name)
        found[name] = x
    return found


def check_metadata(metadata: Any) -> dict[str, str]:
    """Refuse what is no text, and the name of our notes."""
    if metadata is None:
        return {}
    if not hasattr(type(metadata), "items"):
        raise errors.wrong_type("metadata", metadata, "a dict of texts, or None")
    for name, text in metadata.items():
        if not isinstance(name, str) or not isinstance(text, str):
            wrong = text if isinstance(name, str) else name
            raise errors.wrong_type("metadata", wrong, "a dict whose keys and values are text")
        if name == notes.KEY:
            raise file_errors.reserved_name("metadata", name)
    return dict(metadata)


def write(tensors: dict[str, Tensor], path: Any, metadata: dict[str, str], said: Notes) -> None:
    """Write checked tensors; ties and dtypes are added to the notes."""
    kept = _tie(tensors, said)
    # The widest elements first: each tensor then begins at a multiple of its item size.
    order = sorted(kept, key=lambda name: -_stored(kept[name])[2])
    entries: dict[str, Entry] = {}
    end = 0
    for name in order:
        dtype, shape, _ = _stored(kept[name])
        start, end = end, end + kept[name].nbytes
        entries[name] = Entry(dtype, shape, start, end)
    for name, x in kept.items():
        if x.dtype not in headers.NAMES:
            said.dtypes[name] = [x.dtype.name, getattr(x.dtype, "format", None)]
    text = said.text()
    # The header lists the tensors in the caller's order, whatever that of their bytes.
    head = headers.compose(
        {name: entries[name] for name in kept}, metadata | ({notes.KEY: text} if text else {})
    )
    with replacements.open_target(path) as file:
        streams.write_all(file, head)
        for name in order:
            streams.write_tensor(file, kept[name])


def _tie(tensors: dict[str, Tensor], said: Notes) -> dict[str, Tensor]:
    """Give the tensors to write: of those that are the same elements of memory, the first."""
    first: dict[Any, str] = {}
    kept: dict[str, Tensor] = {}
    for name, x in tensors.items():
        where = (x.data_ptr, x.dtype.id, x.shape, x.strides) if x.size else name
        owner = first.setdefault(where, name)
        if owner == name:
            kept[name] = x
        else:
            said.tied[name] = owner
    return kept


def _stored(x: Tensor) -> tuple[str, tuple[int, ...], int]:
    """Give the format's dtype of a tensor, the shape it is stored in, and the item size."""
    if x.dtype is complex128:
        return "F64", (*x.shape, 2), 8
    if isinstance(x.dtype, UserDType):
        return "U8", (*x.shape, x.dtype.itemsize), 1
    return headers.NAMES[x.dtype], x.shape, x.dtype.itemsize


# --- reading -------------------------------------------------------------------------------------


def load_file(path: File, mmap: bool = True) -> dict[str, Tensor]:
    """Read all tensors of a safetensors file, by name.

    They lie over the mapped file and are read-only: nothing is read before it is used, and what is
    used is not counted as memory of tensors but as that of others. With `mmap=False` they are read
    into memory of their own, which is safe where another program may cut the file short: over a
    mapped file that ends the process (SIGBUS). Names that were tied give the same tensor.

    >>> ts.io.save_file({"w": ts.ones(2), "b": ts.zeros(1)}, "model.safetensors")
    >>> weights = ts.io.load_file("model.safetensors")
    >>> weights["w"].tolist(), weights["w"].is_readonly
    ([1.0, 1.0], True)
    """
    with calling("load_file"), _open(path, to_bool("mmap", mmap)) as file:
        return {name: file.tensor(name) for name in file.names()}


def open_file(path: File) -> TensorFile:
    """Open a safetensors file, to take single tensors and parts of them out of it.

    The file is mapped; nothing but the header is read before it is used.

    >>> w = ts.arange(6).reshape(3, 2)
    >>> ts.io.save_file({"w": w}, "model.safetensors", metadata={"made": "today"})
    >>> with ts.io.open_file("model.safetensors") as file:
    ...     print(file.keys(), file.metadata(), file.get_slice("w")[1:, 0].tolist())
    ['w'] {'made': 'today'} [2, 4]
    """
    with calling("open_file"):
        return _open(path, True)


def _open(path: Any, is_mapped: bool) -> TensorFile:
    source = sources.open_source(path, sources.READ_ONLY if is_mapped else None)
    return read_file(source)


def read_file(source: Source) -> TensorFile:
    """Read the header of a file, which is closed if it is wrong."""
    try:
        header = headers.read_header(source)
        return TensorFile(source, header, notes.read_notes(header, source.name))
    except BaseException:
        source.close()
        raise


class TensorFile(Contents):
    """An open safetensors file: the names of its tensors, and each of them when it is asked for.

    Tensors that were taken out of it stay as they are when it is closed.

    >>> ts.io.save_file({"w": ts.arange(6).reshape(3, 2)}, "model.safetensors")
    >>> with ts.io.open_file("model.safetensors") as file:
    ...     w = file.get_tensor("w")
    >>> w.tolist()
    [[0, 1], [2, 3], [4, 5]]
    """

    def __init__(self, source: Source, header: Header, said: Notes) -> None:
        super().__init__(source)
        self._header = header
        self.notes = said

    def names(self) -> Iterator[str]:
        """Give the names of the tensors, those that are tied to others last."""
        yield from self._header.entries
        yield from self.notes.tied

    def keys(self) -> list[str]:
        """List the names of the tensors.

        >>> ts.io.save_file({"w": ts.ones(2), "b": ts.ones(1)}, "model.safetensors")
        >>> ts.io.open_file("model.safetensors").keys()
        ['w', 'b']
        """
        return list(self.names())

    def metadata(self) -> dict[str, str]:
        """Give the texts that were saved with the tensors.

        >>> ts.io.save_file({}, "model.safetensors", metadata={"made": "today"})
        >>> ts.io.open_file("model.safetensors").metadata()
        {'made': 'today'}
        """
        return dict(self._header.metadata)

    def get_tensor(self, name: str) -> Tensor:
        """Give a tensor over the mapped file, read-only.

        >>> ts.io.save_file({"w": ts.ones(2)}, "model.safetensors")
        >>> ts.io.open_file("model.safetensors").get_tensor("w").tolist()
        [1.0, 1.0]
        """
        with calling("get_tensor"):
            return self.tensor(name)

    def get_slice(self, name: str) -> TensorSlice:
        """Give a tensor of which parts can be taken: only they are read.

        >>> ts.io.save_file({"w": ts.arange(6).reshape(3, 2)}, "model.safetensors")
        >>> part = ts.io.open_file("model.safetensors").get_slice("w")
        >>> part.get_shape(), part.get_dtype(), part[1].tolist()
        ((3, 2), int64, [2, 3])
        """
        with calling("get_slice"):
            return TensorSlice(self.tensor(name))

    def tensor(self, name: str) -> Tensor:
        """Give a tensor, the same one for names that are tied."""
        if self._source is None:
            raise file_errors.closed(self._name)
        owner = self.notes.tied.get(name, name) if isinstance(name, str) else name
        if not isinstance(name, str) or owner not in self._header.entries:
            raise file_errors.unknown_tensor(name, self._name, self.keys())
        if owner not in self._made:
            self._made[owner] = self._make(self._source, owner)
        return self._made[owner]

    def _make(self, source: Source, name: str) -> Tensor:
        entry = self._header.entries[name]
        dtype, shape = self._dtype_and_shape(entry, name)
        start = self._header.data + entry.start
        flat = source.flat(start, entry.end - entry.start)
        place = file_errors.place(source.name, start)
        return as_elements(flat, dtype, name, place).reshape(shape)

    def _dtype_and_shape(self, entry: Entry, name: str) -> tuple[DType, tuple[int, ...]]:
        if name in self.notes.dtypes:
            return notes.dtype_of(self.notes.dtypes[name], entry, name, self._name), entry.shape[
                :-1
            ]
        if entry.dtype not in headers.DTYPES:
            raise file_errors.absent_dtype(self._name, name, entry.dtype)
        return headers.DTYPES[entry.dtype], entry.shape


class TensorSlice:
    """A tensor in a file, of which parts can be taken: what an index leaves out stays unread.

    >>> ts.io.save_file({"w": ts.arange(6).reshape(3, 2)}, "model.safetensors")
    >>> ts.io.open_file("model.safetensors").get_slice("w")[:, 1].tolist()
    [1, 3, 5]
    """

    def __init__(self, x: Tensor) -> None:
        self._x = x

    def get_shape(self) -> tuple[int, ...]:
        """Give the shape of the whole tensor."""
        return self._x.shape

    def get_dtype(self) -> DType:
        """Give the dtype."""
        return self._x.dtype

    def __getitem__(self, key: Key) -> Tensor:
        return self._x[key]
