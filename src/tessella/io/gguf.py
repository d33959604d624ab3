"""Files of language models in the GGUF format: opened mapped, written streamed and as a whole."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.blocks import FORMATS
from tessella.dtypes import DType, uint8
from tessella.hints import TYPE_CHECKING, Any, File, Value
from tessella.io import file_errors, gguf_errors, gguf_header, replacements, sources, streams
from tessella.io.elements import as_elements
from tessella.io.file_errors import calling
from tessella.io.gguf_header import GGUFTensor, Header
from tessella.io.gguf_types import NUMBERS
from tessella.io.gguf_values import KINDS
from tessella.io.sources import Contents, Mapped, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_NAME = 63  # bytes of a tensor's name that every reader takes


# --- reading -------------------------------------------------------------------------------------


def open_gguf(path: File) -> GGUFFile:
    """Open a GGUF file: what it says about itself, and its tensors when they are asked for.

    The file is mapped; nothing but the header is read before it is used. `path` may be a binary
    file too, which is then read into memory.

    >>> ts.io.save_gguf({"w": ts.ones(2, 3)}, "model.gguf", {"general.name": "small"})
    >>> with ts.io.open_gguf("model.gguf") as file:
    ...     print(file.metadata, list(file.tensors), file.get_tensor("w").shape)
    {'general.name': 'small'} ['w'] (2, 3)
    """
    with calling("open_gguf"):
        return read_gguf(sources.open_mapped(path))


def read_gguf(source: Mapped) -> GGUFFile:
    """Read the header of a file, which is closed if it is wrong."""
    try:
        return GGUFFile(source, gguf_header.read_header(source.view, source.size, source.name))
    except BaseException:
        source.close()
        raise


class GGUFFile(Contents):
    """An open GGUF file.

    `metadata` has its values by key, `types` the types that these have in the file (of what is in
    lists, too), `tensors` what it says about each tensor: name, shape, format, nbytes, offset.
    Tensors that were taken out of it stay as they are when it is closed.

    >>> ts.io.save_gguf({"w": ts.ones(2, 3)}, "model.gguf", {"llama.block_count": 4})
    >>> file = ts.io.open_gguf("model.gguf")
    >>> file.metadata["llama.block_count"], file.types["llama.block_count"]
    (4, 'uint32')
    >>> file.tensors["w"].shape
    (2, 3)
    """

    def __init__(self, source: Mapped, header: Header) -> None:
        super().__init__(source)
        self.metadata, self.types, self.tensors = header

    def get_tensor(self, name: str) -> Tensor:
        """Give a tensor over the mapped file, read-only.

        One of blocks is given as its bytes: uint8, each row the blocks of one row of numbers.

        >>> blocks = ts.zeros(2, 34, dtype=ts.uint8)  # of 32 numbers, and their scale
        >>> ts.io.save_gguf({"w": (blocks, "q8_0"), "b": ts.ones(2)}, "model.gguf")
        >>> file = ts.io.open_gguf("model.gguf")
        >>> file.tensors["w"].shape, file.tensors["w"].format, file.get_tensor("w").shape
        ((2, 32), 'q8_0', (2, 34))
        >>> file.get_tensor("b").tolist()
        [1.0, 1.0]
        """
        with calling("get_tensor"):
            if self._source is None:
                raise file_errors.closed(self._name)
            if not isinstance(name, str) or name not in self.tensors:
                raise file_errors.unknown_tensor(name, self._name, list(self.tensors))
            if name not in self._made:
                self._made[name] = _make(self._source, self.tensors[name])
            return self._made[name]


def _make(source: Source, tensor: GGUFTensor) -> Tensor:
    format = tensor.format
    if format not in NUMBERS:
        raise gguf_errors.absent_type(source.name, tensor.name, str(format), known_formats())
    flat = source.flat(tensor.offset, tensor.nbytes)
    if isinstance(format, str):
        row = tensor.shape[-1] // FORMATS[format].elements * FORMATS[format].bytes
        return flat.reshape((*tensor.shape[:-1], row))
    place = file_errors.place(source.name, tensor.offset)
    return as_elements(flat, format, tensor.name, place).reshape(tensor.shape)


def known_formats() -> list[str]:
    """Name the types of tensors that can be read and written."""
    return [str(format) for format in NUMBERS]


# --- writing -------------------------------------------------------------------------------------


def save_gguf(
    tensors: Mapping[str, Tensor | tuple[Tensor, DType | str]],
    path: File,
    metadata: Mapping[str, Value] | None = None,
    types: Mapping[str, str] | None = None,
) -> None:
    """Write tensors, by name, and values about them into a GGUF file.

    A tensor of blocks is given with its format: `(blocks, "q4_0")`. Values are bool, int, float,
    str, or lists of one of them; `types` names the types of those that are not to get the usual
    one (uint32 or the next that fits, float32). The value `general.alignment` says what the places
    of tensors are multiples of, 32 if it is missing. The file is replaced as a whole or stays as
    it is. `path` may be a binary file too, which is then written as it goes.

    >>> values = {"general.architecture": "llama", "tokenizer.ggml.scores": [0.5, -1.0], "n": 3}
    >>> ts.io.save_gguf({"w": ts.ones(2, 3)}, "model.gguf", values, types={"n": "uint64"})
    >>> ts.io.open_gguf("model.gguf").metadata == values
    True
    """
    with calling("save_gguf"):
        kept = _check_tensors(tensors)
        values, kinds = _check_values(metadata, types)
        alignment = values.get(gguf_header.ALIGNMENT_KEY, gguf_header.ALIGNMENT)
        entries = {name: (_shape_of(x, format), format) for name, (x, format) in kept.items()}
        head = gguf_header.compose(values, kinds, entries, alignment)
        with replacements.open_target(path) as file:
            streams.write_all(file, head)
            for x, _ in kept.values():
                streams.write_tensor(file, x)
                streams.write_all(file, bytes(-x.nbytes % alignment))


def _check_tensors(tensors: Any) -> dict[str, tuple[Tensor, DType | str]]:
    """Refuse what cannot be written; give tensors and their formats."""
    if not hasattr(type(tensors), "items"):
        raise errors.wrong_type("tensors", tensors, "a dict of names and tensors")
    found: dict[str, tuple[Tensor, DType | str]] = {}
    for name, given in tensors.items():
        if not isinstance(name, str):
            raise errors.wrong_type("tensors", name, "a dict whose keys are text")
        if not 1 <= len(name.encode(errors="surrogatepass")) <= MOST_NAME:
            raise gguf_errors.name_refused("tensors", name, MOST_NAME)
        found[name] = _check_tensor(f"tensors[{errors.brief(name)}]", given)
    return found


def _check_tensor(owner: str, given: Any) -> tuple[Tensor, DType | str]:
    is_pair = isinstance(given, tuple) and len(given) == 2
    x, format = given if is_pair else (given, None)
    if not isinstance(x, Tensor):
        raise errors.not_tensor(owner, x, "a tensor, or a pair of blocks and their format")
    if format is None:
        format = x.dtype
    if isinstance(format, str) and format not in FORMATS:
        raise errors.wrong_value(f"the format of {owner}", format, " or ".join(FORMATS))
    if not isinstance(format, str | DType):
        raise errors.wrong_type(f"the format of {owner}", format, "a dtype or a name")
    if x.is_virtual:
        raise errors.virtual_value(owner)
    if not 1 <= x.ndim <= gguf_header.MOST_AXES or not x.size:
        raise gguf_errors.shape_refused(owner, x.shape, gguf_header.MOST_AXES)
    if isinstance(format, str):
        _check_blocks(owner, x, format)
    elif x.dtype is not format:
        raise gguf_errors.other_format(owner, str(x.dtype), str(format))
    elif format not in NUMBERS:
        dtypes = [str(each) for each in NUMBERS if isinstance(each, DType)]
        raise gguf_errors.not_writable(owner, str(format), dtypes)
    return x, format


def _check_blocks(owner: str, x: Tensor, format: str) -> None:
    if x.dtype is not uint8:
        raise gguf_errors.other_format(owner, str(x.dtype), format)
    if x.shape[-1] % FORMATS[format].bytes:
        raise gguf_errors.split_block(owner, x.shape[-1], format, FORMATS[format].bytes)


def _shape_of(x: Tensor, format: DType | str) -> tuple[int, ...]:
    """Give the shape of the numbers that a tensor holds."""
    if not isinstance(format, str):
        return x.shape
    return (*x.shape[:-1], x.shape[-1] // FORMATS[format].bytes * FORMATS[format].elements)


def _check_values(metadata: Any, types: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Refuse keys and types that there are not, and an alignment that is none."""
    for owner, given in (("metadata", metadata), ("types", types)):
        if given is not None and not hasattr(type(given), "items"):
            raise errors.wrong_type(owner, given, "a dict, or None")
    values: dict[str, Any] = dict(metadata or {})
    kinds: dict[str, str] = dict(types or {})
    for key in values:
        if not isinstance(key, str):
            raise errors.wrong_type("metadata", key, "a dict whose keys are text")
        if not 1 <= len(key.encode(errors="surrogatepass")) <= gguf_header.MOST_KEY:
            raise gguf_errors.name_refused("metadata", key, gguf_header.MOST_KEY)
    allowed = [kind for kind in KINDS if kind != "array"]
    for key, kind in kinds.items():
        if kind not in allowed:
            raise errors.wrong_value(f"types[{errors.brief(key)}]", kind, " or ".join(allowed))
    _check_alignment(values, kinds)
    return values, kinds


def _check_alignment(values: dict[str, Any], kinds: dict[str, str]) -> None:
    key = gguf_header.ALIGNMENT_KEY
    value = values.get(key, gguf_header.ALIGNMENT)
    is_right = type(value) is int and gguf_header.is_alignment(value)
    if not is_right or kinds.get(key, "uint32") != "uint32":
        expected = f"a power of two up to {gguf_header.MOST_ALIGNMENT:,}, and a uint32"
        raise errors.wrong_value(f"metadata[{key!r}]", value, expected)
