"""PyTorch's .pt files: the tensors, and the containers that they are in.

A file is a zip archive: a pickle of the containers, in which tensors are calls of functions of
PyTorch with a storage, an offset, sizes and strides, and the bytes of each storage as a member.
Here is what stands for those functions. Tensors that share a storage share it here too.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import to_bool
from tessella.dtypes import (
    BY_NAME,
    DType,
    bfloat16,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from tessella.hints import Any, Callable, File, Saved
from tessella.io import file_errors, sources
from tessella.io.archives import Archive
from tessella.io.elements import as_elements, byte_swapped
from tessella.io.file_errors import calling
from tessella.io.pickles import Builder, Machine
from tessella.ops.creation import with_grad

_MOST_PICKLE = 1 << 28  # bytes: far beyond what names and shapes of any model take
_MOST_AXES = 64

_STORAGES: dict[str, DType] = {
    "BoolStorage": boolean, "CharStorage": int8, "ShortStorage": int16, "IntStorage": int32,
    "LongStorage": int64, "ByteStorage": uint8, "HalfStorage": float16,
    "BFloat16Storage": bfloat16, "FloatStorage": float32, "DoubleStorage": float64,
    "ComplexFloatStorage": complex64, "ComplexDoubleStorage": complex128, "UntypedStorage": uint8,
}  # fmt: skip


def load_pt(path: File, mmap: bool = False) -> Saved:
    """Read what `torch.save` wrote: tensors, numbers and text in nested containers.

    Nothing in the file is run: a file that holds anything else is refused, with the name of what it
    asks for. Tensors that share memory stay so; with `mmap` they lie over the file, read-only.
    Parameters are `nn.Parameter`, `torch.Size` is a tuple, devices are text.

    >>> import pickle, zipfile
    >>> with zipfile.ZipFile("run.pt", "w") as file:
    ...     file.writestr("run/data.pkl", pickle.dumps({"step": 7}, 2))
    >>> ts.io.load_pt("run.pt")
    {'step': 7}
    """
    with calling("load_pt"):
        access = sources.READ_ONLY if to_bool("mmap", mmap) else None
        with sources.open_source(path, access) as source:
            start = source.read(0, min(2, source.size))
            if start[:1] == b"\x80":
                raise file_errors.old_torch(source.name)
            if start != b"PK":
                raise file_errors.no_torch(source.name)
            found: Saved = read_torch(Archive(source))
            return found


def read_torch(archive: Archive) -> Any:
    """Read the object of an archive."""
    pickle = archive.find("data.pkl")
    if pickle is None:
        raise file_errors.no_torch(archive.source.name)
    storages = Storages(archive)
    name = f"{archive.source.name}, member {errors.brief(pickle.name)}"
    machine = Machine(archive.read(pickle, _MOST_PICKLE), name, find, storages.load)
    machine.copies = 4 * archive.source.size
    return machine.run()


class Storages:
    """The storages of a file, each read when the first tensor asks for it."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.folder = next(iter(archive.members)).partition("/")[0]
        self._flat: dict[str, Tensor] = {}
        self._typed: dict[tuple[str, DType], Tensor] = {}
        order = archive.find("byteorder")
        self.is_swapped = order is not None and archive.read(order, 100) == b"big"

    def load(self, key: Any) -> Tensor:
        """Give the storage of a persistent id, as a flat tensor."""
        name = self.archive.source.name
        if type(key) is not tuple or len(key) != 5 or key[0] != "storage":
            raise file_errors.bad_storage(name, "?", "its description is none")
        _, kind, number, _, count = key
        if not isinstance(kind, Storage) or type(number) is not str or type(count) is not int:
            raise file_errors.bad_storage(name, "?", "its description is none")
        dtype = kind.dtype
        member = self.archive.members.get(f"{self.folder}/data/{number}")
        if member is None:
            raise file_errors.bad_storage(name, number, "the file does not have it")
        if (number, dtype) not in self._typed:
            if number not in self._flat:
                self._flat[number] = self.archive.flat(member)
            self._typed[number, dtype] = self._as(self._flat[number], dtype, number)
        out = self._typed[number, dtype]
        if count < 0 or count > out.size:
            raise file_errors.bad_storage(name, number, f"it has {out.size} elements, not {count}")
        return out

    def _as(self, flat: Tensor, dtype: DType, number: str) -> Tensor:
        """Give the bytes of a storage as elements; whole ones only."""
        if flat.size % dtype.itemsize:
            raise file_errors.bad_storage(
                self.archive.source.name, number, f"its {flat.size} bytes are no whole {dtype}"
            )
        if self.is_swapped:
            flat = byte_swapped(flat, dtype)
        place = file_errors.place(self.archive.source.name, None)
        return as_elements(flat, dtype, f"storage {number}", place)


# --- what globals stand for ----------------------------------------------------------------------


class Storage(Builder):
    """A class of storages; it is named, never called."""

    def __init__(self, name: str, dtype: DType) -> None:
        super().__init__(name, None)
        self.dtype = dtype


def find(module: str, name: str) -> Any:
    """Give what a global stands for; None for one that is refused."""
    if module in ("torch", "torch.storage") and name in _STORAGES:
        return Storage(f"{module}.{name}", _STORAGES[name])
    if module == "torch" and name in BY_NAME and not BY_NAME[name].is_user:
        return BY_NAME[name]
    module = {"__builtin__": "builtins"}.get(module, module)
    full = f"{module}.{name}"
    return Builder(full, _BUILDERS[full]) if full in _BUILDERS else None


def _tensor(
    m: Machine,
    storage: Any,
    offset: Any,
    sizes: Any,
    strides: Any,
    requires_grad: Any = False,
    hooks: Any = None,
    marks: Any = None,
) -> Tensor:
    """Stand for _rebuild_tensor and _rebuild_tensor_v2."""
    x = _strided(m, storage, offset, sizes, strides)
    if marks is not None and not isinstance(marks, dict):
        m.fail("the marks of a tensor are no dict")
    for mark, is_set in (marks or {}).items():
        if is_set:
            x = _marked(m, x, mark)
    return _with_grad(m, x, requires_grad)


def _marked(m: Machine, x: Tensor, mark: Any) -> Tensor:
    """Do what PyTorch has put off: a conjugate or a sign that is not yet in the elements."""
    is_conjugate = mark == "conj" and x.dtype.is_complex
    if not is_conjugate and (mark != "neg" or x.dtype is boolean):
        m.fail(f"a tensor has the mark {errors.brief(mark)}, which is not known")
    m.spend_bytes(x.nbytes)
    return x.conj() if is_conjugate else -x


def _tensor_v3(
    m: Machine,
    storage: Any,
    offset: Any,
    sizes: Any,
    strides: Any,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    marks: Any = None,
) -> Tensor:
    """Stand for _rebuild_tensor_v3: the storage is bytes, and the dtype is said."""
    if not isinstance(storage, Tensor) or not isinstance(dtype, DType) or storage.dtype != uint8:
        m.fail("a tensor has no storage")
    if storage.size % dtype.itemsize:
        m.fail(f"the {storage.size} bytes of a storage are no whole {dtype}")
    typed = as_elements(storage, dtype, "a storage", m.name)
    return _tensor(m, typed, offset, sizes, strides, requires_grad, hooks, marks)


def _strided(m: Machine, storage: Any, offset: Any, sizes: Any, strides: Any) -> Tensor:
    """Give a view of a storage that reaches no further than it."""
    is_shape = all(
        type(part) is tuple and all(type(n) is int and 0 <= n < 1 << 63 for n in part)
        for part in (sizes, strides, (offset,))
    )
    if not isinstance(storage, Tensor) or storage.ndim != 1 or not is_shape:
        m.fail("a tensor has no storage, or its sizes are none")
    if len(sizes) != len(strides) or len(sizes) > _MOST_AXES:
        m.fail("a tensor has another number of strides than of sizes, or more than 64")
    last = offset + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    if all(sizes) and last >= storage.size:
        m.fail(f"a tensor reaches element {last} of a storage of {storage.size}")
    if not all(sizes):  # no element: where it begins does not matter
        offset = 0
        strides = tuple(0 for _ in strides)
    try:
        return storage.as_strided(sizes, strides, offset)
    except errors.TessellaError as error:
        m.fail(f"a tensor of shape {errors.brief(sizes)} cannot be: {error.what}")


def _with_grad(m: Machine, x: Tensor, requires_grad: Any) -> Tensor:
    if requires_grad is True and (x.dtype.is_floating or x.dtype.is_complex):
        return with_grad(x, True)
    if requires_grad is not False:
        m.fail(f"a tensor of {x.dtype} asks for gradients")
    return x


def _parameter(m: Machine, x: Any, requires_grad: Any, *ignored: Any) -> Tensor:
    """Stand for _rebuild_parameter and _rebuild_parameter_with_state."""
    if not isinstance(x, Tensor) or type(requires_grad) is not bool:
        m.fail("a parameter has no tensor")
    from tessella.nn.parameters import Parameter

    _with_grad(m, x, requires_grad)
    return Parameter(x.detach(), requires_grad)


def _from_type(m: Machine, builder: Any, kind: Any, arguments: Any, state: Any) -> Any:
    """Stand for _rebuild_from_type_v2: a tensor that had attributes, which are left out."""
    is_tensor = isinstance(kind, Builder) and kind.name in ("torch.Tensor", _PARAMETER)
    is_call = isinstance(builder, Builder) and builder.build is not None
    if not is_tensor or not is_call or type(arguments) is not tuple:
        m.fail("a tensor of another class, or made by no function of PyTorch")
    m.spend(len(arguments))
    return builder.build(m, *arguments)


def _counted(make: Callable[[Any], Any]) -> Callable[..., Any]:
    """Call a class of containers with what one container holds."""

    def build(m: Machine, items: Any = ()) -> Any:
        if not isinstance(items, list | tuple | dict | set):
            m.fail("a container is made of something else")
        m.spend(len(items))
        for item in items:
            m.check_key(item[0] if make is OrderedDict and isinstance(items, list) else item)
        return make(items)

    return build


def _size(m: Machine, sizes: Any) -> tuple[Any, ...]:
    if type(sizes) is not tuple or not all(type(n) is int for n in sizes):
        m.fail("a torch.Size is no tuple of integers")
    m.spend(len(sizes))
    return sizes


def _device(m: Machine, kind: Any, index: Any = None) -> str:
    if not isinstance(kind, str) or not (index is None or type(index) is int):
        m.fail("a torch.device has no name")
    return kind if index is None else f"{kind}:{index}"


def _encode(m: Machine, text: Any, encoding: Any) -> bytes:
    """Stand for how protocol 2 writes bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        m.fail("bytes are written in another way than as latin1")
    m.spend(len(text))
    return text.encode("latin1")


def _bytearray(m: Machine, data: Any = b"") -> bytearray:
    if not isinstance(data, bytes):
        m.fail("a bytearray is made of something else than bytes")
    m.spend(len(data))
    return bytearray(data)


def _complex(m: Machine, real: Any, imaginary: Any) -> complex:
    return complex(float(real), float(imaginary))


_PARAMETER = "torch.nn.parameter.Parameter"
_BUILDERS: dict[str, Callable[..., Any] | None] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_v3,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch.Tensor": None,
    _PARAMETER: None,
    "torch.Size": _size,
    "torch.device": _device,
    "collections.OrderedDict": _counted(OrderedDict),
    "collections.Counter": _counted(Counter),
    "builtins.set": _counted(set),
    "builtins.frozenset": _counted(frozenset),
    "builtins.complex": _complex,
    "builtins.bytearray": _bytearray,
    "_codecs.encode": _encode,
}
