"""Values in GGUF files: numbers, text, and arrays of them, as bytes and as Python has them.

A type has a number in files and a name here. An array has a type of its own, so that arrays may
hold arrays; `kind` is the type of a value, or of what an array holds in the end.
"""

from __future__ import annotations

from struct import Struct, error as StructError, pack  # noqa: N812 - it is a class

from tessella.arguments import LISTS, to_number
from tessella.errors import brief
from tessella.hints import Any, Iterator
from tessella.io import file_errors, gguf_errors

KINDS = (  # in the order of their numbers
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array",
    "uint64", "int64", "float64",
)  # fmt: skip
NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
CODES = {
    "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i",
    "float32": "f", "bool": "B", "uint64": "Q", "int64": "q", "float64": "d",
}  # fmt: skip
_ONE = {kind: Struct(f"<{code}") for kind, code in CODES.items()}
_COUNT = _ONE["uint64"]
# The fewest bytes of a value in an array.
LEAST = {kind: one.size for kind, one in _ONE.items()} | {"string": 8, "array": 12}
MOST_DEPTH = 8  # of arrays in arrays
_FLAGS = (False, True)


# --- reading -------------------------------------------------------------------------------------


class Reader:
    """A place in a file that moves on as values are read; nothing behind them is touched.

    While it is dry, arrays are gone over and checked, and nothing is made of them: what is wrong
    further on is found before a vocabulary takes memory. Whether their texts are UTF-8 is seen when
    they are made.
    """

    def __init__(self, view: memoryview, name: str) -> None:
        self.view = view
        self.name = name  # of the file
        self.place = 0
        self.is_dry = False
        self.kinds: set[str] = set()  # of the values read since it was last cleared

    @property
    def left(self) -> int:
        """How many bytes the file has from here."""
        return len(self.view) - self.place

    def number(self, kind: str) -> Any:
        """Read one number."""
        one = _ONE[kind]
        if one.size > self.left:
            raise file_errors.ends_early(self.name, len(self.view), self.place, one.size)
        (value,) = one.unpack_from(self.view, self.place)
        self.place += one.size
        return value

    def count(self, noun: str, least: int) -> int:
        """Read how many entries there are, each of so many bytes at least."""
        at = self.place
        found: int = self.number("uint64")
        if found * least > self.left:
            raise gguf_errors.impossible_count(self.name, at, noun, found, self.left // least)
        return found

    def text(self, noun: str, most: int | None = None) -> str:
        """Read text; one of at most so many bytes must not be empty."""
        at = self.place
        length: int = self.number("uint64")
        if most is not None and length > most:
            raise gguf_errors.text_too_long(self.name, at, noun, length, most)
        if length > self.left:
            raise gguf_errors.text_length(self.name, at, noun, length, self.left)
        if most is not None and not length:
            raise gguf_errors.text_empty(self.name, at, noun)
        start, self.place = self.place, self.place + length
        try:
            return str(self.view[start : self.place], "utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            raise gguf_errors.text_encoding(self.name, at, noun) from None

    def value(self, key: str) -> Any:
        """Read a type, and a value of it."""
        kind = self._kind(key)
        if kind == "array":
            return self._array(key, 1)
        self.kinds.add(kind)
        if kind == "string":
            return self.text(f"the text of {brief(key)}")
        return _FLAGS[self._flags(key, 1)[0]] if kind == "bool" else self.number(kind)

    def _kind(self, key: str) -> str:
        at = self.place
        number: int = self.number("uint32")
        if number >= len(KINDS):
            raise gguf_errors.unknown_kind(self.name, at, key, number, len(KINDS) - 1)
        return KINDS[number]

    def _array(self, key: str, depth: int) -> list[Any]:
        at = self.place
        kind = self._kind(key)
        count: int = self.number("uint64")
        if count * LEAST[kind] > self.left:
            raise gguf_errors.array_count(self.name, at, key, count, kind, self.left)
        if kind == "array":
            if depth == MOST_DEPTH:
                raise gguf_errors.array_depth(self.name, at, key, MOST_DEPTH)
            return self._arrays(key, count, depth)
        self.kinds.add(kind)
        if kind == "string":
            return self._texts(key, count)
        if kind == "bool":
            raw = self._flags(key, count)
            return [] if self.is_dry else [_FLAGS[byte] for byte in raw]
        start, self.place = self.place, self.place + count * LEAST[kind]
        if self.is_dry:
            return []
        code: Any = CODES[kind]
        return self.view[start : self.place].cast(code).tolist()

    def _arrays(self, key: str, count: int, depth: int) -> list[Any]:
        values: list[Any] = []
        for _ in range(count):
            found = self._array(key, depth + 1)
            if not self.is_dry:
                values.append(found)
        return values

    def _flags(self, key: str, count: int) -> bytes:
        """Read bytes that are 0 or 1."""
        at = self.place
        if count > self.left:
            raise file_errors.ends_early(self.name, len(self.view), at, count)
        raw = bytes(self.view[at : at + count])
        others = raw.translate(None, b"\0\1")
        if others:
            raise gguf_errors.no_flag(self.name, at + raw.index(others[0]), key, others[0])
        self.place += count
        return raw

    def _texts(self, key: str, count: int) -> list[str]:
        """Read text after text: vocabularies have hundreds of thousands."""
        view, size, place, is_kept = self.view, len(self.view), self.place, not self.is_dry
        length_at = _COUNT.unpack_from
        values: list[str] = []
        number = 0
        try:
            for number in range(count):  # noqa: B007 - it says where the loop has stopped
                start = place + 8
                end = start + length_at(view, place)[0]
                if end > size:
                    break
                if is_kept:
                    values.append(str(view[start:end], "utf-8"))
                place = end
            else:
                self.place = place
                return values
        except (StructError, UnicodeDecodeError):
            pass
        self.place = place
        return [self.text(f"text {number:,} of {brief(key)}")]  # which says what is wrong


# --- writing -------------------------------------------------------------------------------------

# The types that integers get: the first that fits.
_GUESSES = ("uint32", "int32", "uint64", "int64")
_RANGES = {
    kind: (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)
    if kind.startswith("int")
    else (0, (1 << 8 * size) - 1)
    for kind, size in LEAST.items()
    if "int" in kind
}
_PLAIN = {bool, int, float, str}
_CLASSES: dict[str, set[type]] = {
    "bool": {bool}, "string": {str}, "float32": {float, int}, "float64": {float, int},
    **{kind: {int} for kind in _RANGES},
}  # fmt: skip


def pack_text(text: str) -> bytes:
    """Give text as files have it: its length, and its bytes."""
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise file_errors.no_text(error.object[error.start : error.end]) from None
    return _COUNT.pack(len(raw)) + raw


def pack_value(key: str, value: Any, kind: str | None) -> bytes:
    """Give a type and a value of it; without a kind it is the one that fits."""
    owner = f"metadata[{brief(key)}]"
    value = _plain(owner, value)
    leaves = list(_leaves(value))
    if kind is None:
        kind = _guess(key, owner, leaves)
    _check(owner, leaves, kind)
    try:
        if isinstance(value, list):
            return _ONE["uint32"].pack(NUMBERS["array"]) + _pack_list(value, kind)
        return _ONE["uint32"].pack(NUMBERS[kind]) + _packed([value], kind)
    except (OverflowError, StructError):  # a number beyond the largest float
        largest = max((each for each in leaves if each - each == 0), key=abs)
        raise gguf_errors.unfit_value(owner, largest, kind) from None


def _plain(owner: str, value: Any, depth: int = 0) -> Any:
    """Give tuples as lists, and NumPy's scalars as numbers; lists hold lists only, or none."""
    if not isinstance(value, LISTS):
        return to_number(value)
    if depth == MOST_DEPTH:
        raise gguf_errors.nested_list(owner, MOST_DEPTH)
    if set(map(type, value)) <= _PLAIN:  # at once: vocabularies are long
        return list(value)
    values = [_plain(owner, each, depth + 1) for each in value]
    if len({isinstance(each, list) for each in values}) > 1:
        raise gguf_errors.mixed_list(owner)
    return values


def _leaves(value: Any) -> Iterator[Any]:
    """Give the values that a list holds in the end."""
    if not isinstance(value, list):
        yield value
    elif value and isinstance(value[0], list):
        for each in value:
            yield from _leaves(each)
    else:
        yield from value


def _guess(key: str, owner: str, leaves: list[Any]) -> str:
    """Give the type that holds all values."""
    if not leaves:
        raise gguf_errors.empty_list(owner, key)
    classes = set(map(type, leaves))
    if len(classes) > 1:
        raise gguf_errors.mixed_list(owner)
    (found,) = classes
    if found is int:
        low, high = min(leaves), max(leaves)
        for kind in _GUESSES:
            if _RANGES[kind][0] <= low and high <= _RANGES[kind][1]:
                return kind
        raise gguf_errors.unfit_value(owner, max(low, high, key=abs), "integer of 64 bits")
    kinds: dict[type, str] = {bool: "bool", float: "float32", str: "string"}
    if found not in kinds:
        raise gguf_errors.no_value(owner, leaves[0])
    return kinds[found]


def _check(owner: str, leaves: list[Any], kind: str) -> None:
    """Refuse values that are none of the type."""
    low, high = _RANGES.get(kind, (0, 0))
    for value in leaves:
        if type(value) not in _CLASSES[kind]:
            if type(value) not in _PLAIN:
                raise gguf_errors.no_value(owner, value)
            raise gguf_errors.unfit_value(owner, value, kind)
        if high and not low <= value <= high:
            raise gguf_errors.unfit_value(owner, value, kind)


def _pack_list(values: list[Any], kind: str) -> bytes:
    """Give the type of a list's values, how many there are, and the values."""
    is_nested = bool(values) and isinstance(values[0], list)
    head = pack("<IQ", NUMBERS["array" if is_nested else kind], len(values))
    if is_nested:
        return head + b"".join(_pack_list(each, kind) for each in values)
    return head + _packed(values, kind)


def _packed(values: list[Any], kind: str) -> bytes:
    """Give the bytes of values."""
    if kind == "string":
        return b"".join(pack_text(value) for value in values)
    return pack(f"<{len(values)}{CODES[kind]}", *values)
