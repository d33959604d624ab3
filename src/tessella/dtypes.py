"""dtype objects, the rules of promotion, and the registry of users' dtypes.

The core holds sizes and kinds; here is what they mean together. Within a kind the wider dtype wins;
between kinds (bool < integers < floats < complex) the higher kind's dtype wins. A Python scalar has
a kind and no width, so it never changes a tensor's dtype within its kind. Items of a user's dtype
are tuples in Python and bytes in the core; they have no arithmetic and are never converted.
"""

from __future__ import annotations

import builtins
import math
from _thread import allocate_lock

from tessella import _core, dtype_errors, errors
from tessella.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from struct import Struct

__all__ = ["DType", "UserDType", "by_id", "find", "free_slots", "register"]
__dir__ = __all__.copy

_KINDS = ("bool", "signed integer", "unsigned integer", "real floating", "complex floating")
_ORDER = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2,
          "complex floating": 3, "user": 4}  # fmt: skip

# What the array API calls kinds: those of dtypes, and names for several of them.
KINDS: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in _KINDS}
KINDS["integral"] = _KINDS[1:3]
KINDS["numeric"] = _KINDS[1:]
KINDS["user"] = ("user",)


class DType:
    """The type of a tensor's elements.

    >>> ts.float32.itemsize
    4
    """

    __slots__ = ("id", "is_user", "itemsize", "kind", "name")

    def __init__(self, id: int, name: str, itemsize: int, kind: str) -> None:
        self.id = id
        self.name = name
        self.itemsize = itemsize
        self.kind = kind
        self.is_user = kind == "user"

    @property
    def is_floating(self) -> builtins.bool:
        """Whether it is float16, bfloat16, float32 or float64."""
        return self.kind == "real floating"

    @property
    def is_complex(self) -> builtins.bool:
        """Whether it is complex64 or complex128."""
        return self.kind == "complex floating"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether it is a signed or unsigned integer (bool is not)."""
        return self.kind in ("signed integer", "unsigned integer")

    @property
    def lowest(self) -> builtins.bool | int | float:
        """Give the smallest value: -inf for floats."""
        if self.kind == "signed integer":
            return -(1 << (8 * self.itemsize - 1))
        return -math.inf if self.is_floating else 0

    @property
    def highest(self) -> builtins.bool | int | float:
        """Give the largest value: inf for floats."""
        if self.is_integer:
            return (1 << (8 * self.itemsize - (self.kind == "signed integer"))) - 1
        return math.inf if self.is_floating else True

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        return "boolean" if self.name == "bool" else self.name


class UserDType(DType):
    """A dtype that a user has registered: items with the fields of a format of `struct`.

    >>> ts.dtypes.register("pair", fmt="<hh").itemsize
    4
    """

    __slots__ = ("_codec", "format")

    def __init__(self, id: int, name: str, format: str, codec: Struct) -> None:
        super().__init__(id, name, codec.size, "user")
        self.format = format
        self._codec = codec

    def pack(self, item: tuple[object, ...]) -> bytes:
        """Give an item, a tuple of its fields, as the bytes that are stored.

        >>> ts.dtypes.register("pixel", fmt="BBB").pack((1, 2, 3)).hex()
        '010203'
        """
        if not isinstance(item, tuple):
            raise dtype_errors.not_item(item, self.name, self.format)
        try:
            return self._codec.pack(*item)
        except errors.TessellaError:
            raise
        except Exception as error:  # struct's, or one of a field's own methods
            raise dtype_errors.item_does_not_fit(item, self.name, self.format, error) from None

    def unpack(self, data: bytes) -> tuple[object, ...]:
        """Give the item that bytes hold.

        >>> ts.dtypes.register("point", fmt="<hh").unpack(bytes([1, 0, 2, 0]))
        (1, 2)
        """
        return self._codec.unpack(data)

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (self.name, self.format)


DTYPES: tuple[DType, ...] = tuple(
    DType(i, name, itemsize, _KINDS[kind])
    for i, (name, itemsize, kind) in enumerate(_core.dtype_table())
)
(
    boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
) = DTYPES  # fmt: skip
for _dtype in DTYPES:
    _core.set_dtype_object(_dtype.id, _dtype)

BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in DTYPES}
# The names after types of C that PyTorch has beside those; its tensors have methods of these names.
BY_TYPE_OF_C: dict[str, DType] = {
    "short": int16, "int": int32, "long": int64, "half": float16, "float": float32,
    "double": float64, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
DEFAULTS: dict[type, DType] = {bool: boolean, int: int64, float: float32, complex: complex64}


# --- the registry --------------------------------------------------------------------------------

_USERS: list[UserDType] = []  # in the order of their ids, which follow those of DTYPES
_LOCK = allocate_lock()


def register(name: str, fmt: str) -> UserDType:
    """Make a dtype of a name and a format of the module `struct`, for as long as the process lives.

    An item is the tuple of its fields, also of a single one. Its bytes are those of `struct.pack`:
    with "@" (or no sign) in the machine's sizes, order and alignment, with "=", "<" and ">" in the
    standard sizes without gaps. Items follow one another without padding: end a native format in
    "0l" or the like to pad items as C does. A name can be registered once, whatever the format.

    >>> color = ts.dtypes.register("color", fmt="BBB")
    >>> ts.tensor([(1, 2, 3), (4, 5, 6)], dtype=color)[1].item()
    (4, 5, 6)
    """
    try:
        codec = _codec_of(name, fmt)
        with _LOCK:
            if name in BY_NAME:
                raise dtype_errors.dtype_taken(name, getattr(BY_NAME[name], "format", ""))
            return _enter(name, fmt, codec)
    except errors.TessellaError as error:
        shown = [f"name  {errors.brief(name)}", f"fmt   {errors.brief(fmt)}"]
        raise error.locate("register", shown) from None


def find(name: str) -> DType:
    """Give the dtype of a name, built in or registered.

    >>> ts.dtypes.find("float32")
    float32
    """
    found = BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        registered = [dtype.name for dtype in _USERS]
        raise dtype_errors.unknown_dtype_name(name, registered).locate("find", [])
    return found


def by_id(id: int) -> DType:
    """Give the dtype of a number: 0 to 14 are built in, registered ones follow.

    >>> ts.dtypes.by_id(ts.float32.id)
    float32
    """
    count = len(DTYPES) + len(_USERS)
    if type(id) is not int or not 0 <= id < count:
        raise dtype_errors.unknown_dtype_id(id, count).locate("by_id", [])
    return DTYPES[id] if id < len(DTYPES) else _USERS[id - len(DTYPES)]


def free_slots() -> int:
    """Tell how many dtypes can still be registered.

    >>> ts.dtypes.free_slots() <= 64
    True
    """
    return _core.free_dtypes()


def restored(name: str, fmt: str) -> UserDType:
    """Give the dtype of a pickle: the registered one, or register it."""
    codec = _codec_of(name, fmt)
    with _LOCK:
        found = BY_NAME.get(name)
        if found is None:
            return _enter(name, fmt, codec)
    if not isinstance(found, UserDType) or found.format != fmt:
        raise dtype_errors.dtype_differs(name, getattr(found, "format", ""), fmt)
    return found


def _codec_of(name: Any, fmt: Any) -> Struct:
    """Check a name and a format; give what packs and unpacks it."""
    import struct

    if not isinstance(name, str) or not name.isidentifier():
        raise dtype_errors.bad_dtype_name(name)
    if not isinstance(fmt, str):
        raise errors.wrong_type("fmt", fmt, "a format of the module struct")
    try:
        codec = struct.Struct(fmt)
    except (struct.error, ValueError, OverflowError, MemoryError) as error:
        raise dtype_errors.bad_dtype_format(fmt, error) from None
    if not 0 < codec.size <= _core.most_item_bytes():
        raise dtype_errors.bad_item_size(fmt, codec.size, _core.most_item_bytes())
    return codec


def _enter(name: str, fmt: str, codec: Struct) -> UserDType:
    """Take a slot for a new name."""
    id = _core.register_dtype(name, codec.size)
    if id < 0:
        raise dtype_errors.no_dtype_slot([dtype.name for dtype in _USERS])
    dtype = UserDType(id, name, fmt, codec)
    _core.set_dtype_object(id, dtype)
    _USERS.append(dtype)
    BY_NAME[name] = dtype
    return dtype


# --- what arguments name -------------------------------------------------------------------------


def as_dtype(value: Any) -> DType:
    """Give the dtype that an argument names: a DType, a Python type, or a NumPy dtype."""
    if isinstance(value, DType):
        return value
    if isinstance(value, type) and value in DEFAULTS:
        return DEFAULTS[value]
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if not isinstance(name, str) and isinstance(value, type):
        name = value.__name__  # NumPy's scalar types
    found = BY_NAME.get(name) if isinstance(name, str) else None
    if found is None or (found.is_user and not isinstance(value, str)):
        raise dtype_errors.unknown_dtype(
            value
        )  # the names of others' dtypes are not those of users
    return found


def is_of_kind(dtype: DType, kind: str) -> builtins.bool:
    """Tell whether a dtype belongs to a kind, by the array API's name of it."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise errors.wrong_value("kind", kind, f"one of {', '.join(map(repr, KINDS))}")
    return dtype.kind in KINDS[kind]


def need_numbers(dtype: DType) -> None:
    """Refuse a dtype of a user: it has no arithmetic."""
    if dtype.is_user:
        _core.refuse_user_dtype(dtype.id)


def need_floats(x: _core.Tensor) -> _core.Tensor:
    """Refuse a tensor whose elements are no floats; give others back."""
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    return x


def to_stored(value: Any, dtype: DType) -> Any:
    """Give a value as the core takes it: an item of a user's dtype as bytes, others as they are."""
    return dtype.pack(value) if isinstance(dtype, UserDType) else value


def check_cast(source: DType, target: DType) -> None:
    """Refuse conversions that would lose imaginary parts, and those of a user's dtype."""
    if source is target:
        return
    if source.is_user or target.is_user:
        raise dtype_errors.no_conversion(source, target)
    if source.is_complex and not target.is_complex:
        raise dtype_errors.cannot_cast(source, target)


def _widest(x: DType, y: DType) -> DType:
    """Join two dtypes of one kind."""
    if x.kind == y.kind:
        if x.itemsize == y.itemsize and x is not y:  # float16 and bfloat16
            return float32
        return x if x.itemsize >= y.itemsize else y
    signed, unsigned = (x, y) if x.kind == "signed integer" else (y, x)
    if unsigned is uint64:
        raise errors.no_promotion(x, y)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return {1: int16, 2: int32, 4: int64}[unsigned.itemsize]


def promote(x: DType, y: DType) -> DType:
    """Give the dtype that operands of two dtypes are computed in."""
    if x is y:
        return x
    if x.is_user or y.is_user:
        raise dtype_errors.no_conversion(x, y)
    low, high = (x, y) if _ORDER[x.kind] <= _ORDER[y.kind] else (y, x)
    if _ORDER[low.kind] == _ORDER[high.kind]:
        return _widest(x, y)
    # A wide float keeps its precision beside a narrow complex number.
    return complex128 if low is float64 and high is complex64 else high


def promote_scalar(dtype: DType, scalar: Any) -> DType:
    """Give the dtype of a tensor of `dtype` together with a Python scalar."""
    need_numbers(dtype)
    default = DEFAULTS[next(t for t in (bool, int, float, complex) if isinstance(scalar, t))]
    if _ORDER[default.kind] <= _ORDER[dtype.kind]:
        return dtype
    if default is complex64 and dtype is float64:
        return complex128
    return default
