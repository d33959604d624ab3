"""Nested containers of tensors and plain values as JSON, and back: data only, never code.

null, true, 1, 1.5, "text", […]     None, bool, int, float, str, list
{"dict": {"a": …}}                  a dict whose keys are text
{"items": [[key, value], …]}        a dict with other keys; "ordered" for an OrderedDict
{"tuple": […]}, {"bytes": base64}, {"complex": [re, im]}, {"dtype": "float32"}
{"float": "nan"}, {"int": "-0x1f"}  numbers that JSON cannot hold, or not exactly
{"tensor": name}                    with "grad": true if it asks for gradients,
                                    with "kind": "Parameter" if it is one
"""

from __future__ import annotations

import base64
import binascii
import math
from collections import OrderedDict

from tessella import dtypes, errors, exchange_errors
from tessella._core import Tensor
from tessella.arguments import to_number
from tessella.dtypes import DType
from tessella.hints import Any, Callable
from tessella.io import file_errors
from tessella.ops.creation import with_grad

DEEPEST = 100  # containers within containers
MOST_PARTS = 5_000_000  # a container that is there many times is written as often
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# --- to JSON -------------------------------------------------------------------------------------


class Encoder:
    """Turns an object into JSON, and collects its tensors under names that tell their places."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._count = 0

    def encode(self, value: Any, path: tuple[Any, ...] = ()) -> Any:
        """Give the JSON of a value that stands at a path of keys."""
        self._count += 1
        if len(path) > DEEPEST:
            raise file_errors.too_deep(DEEPEST)
        if self._count > MOST_PARTS:
            raise file_errors.too_many_parts(MOST_PARTS)
        if isinstance(value, Tensor):
            return self._tensor(value, path)
        if isinstance(value, dict):
            return self._dict(value, path)
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            items = [self.encode(item, (*path, i)) for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        return _plain(value, path)

    def _dict(self, value: dict[Any, Any], path: tuple[Any, ...]) -> Any:
        if type(value) not in (dict, OrderedDict):
            raise file_errors.cannot_save(value, path)
        for key in value:
            _check_key(key, path)
        is_ordered = isinstance(value, OrderedDict)
        if not is_ordered and all(type(key) is str for key in value):
            return {"dict": {key: self.encode(item, (*path, key)) for key, item in value.items()}}
        pairs = [
            [self.encode(key, (*path, key)), self.encode(item, (*path, key))]
            for key, item in value.items()
        ]
        return {"ordered" if is_ordered else "items": pairs}

    def _tensor(self, x: Tensor, path: tuple[Any, ...]) -> Any:
        if x.requires_grad and x.grad_fn is not None:
            raise exchange_errors.pickle_of_graph()
        if x.is_virtual:
            raise errors.virtual_value(file_errors.where(path))
        kind = _kind_of(x)
        if kind is None:
            raise file_errors.cannot_save(x, path)
        name = ".".join(map(str, path)) or "value"
        free, number = name, 2
        while free in self.tensors or free == "__metadata__":
            free, number = f"{name}#{number}", number + 1
        self.tensors[free] = x
        said: dict[str, Any] = {"tensor": free}
        if x.requires_grad:
            said["grad"] = True
        if kind:
            said["kind"] = kind
        return said


def _kind_of(x: Tensor) -> str | None:
    """Name the class of a tensor, nothing for a plain one; None for one that is not known."""
    if type(x) is Tensor:
        return ""
    from tessella.nn.parameters import Buffer, Parameter

    if type(x) is Parameter:
        return "Parameter"
    if type(x) is Buffer:
        return "Buffer" if x.persistent else "transient Buffer"
    return None


def _of_kind(x: Tensor, kind: str, requires_grad: bool) -> Tensor | None:
    """Make a tensor one of a class; None for a class that is not known."""
    from tessella.nn.parameters import Buffer, Parameter

    if kind == "Parameter":
        return Parameter(x, requires_grad)
    if kind in ("Buffer", "transient Buffer"):
        return with_grad(Buffer(x, persistent=kind == "Buffer"), requires_grad)
    return None


def _check_key(key: Any, path: tuple[Any, ...]) -> None:
    """Refuse keys that would not be found again: plain values and tuples of them are."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        if part is not None and type(part) not in (bool, int, float, str):
            raise file_errors.cannot_save_key(key, path)


def _plain(value: Any, path: tuple[Any, ...]) -> Any:
    """Give the JSON of a value that holds no others."""
    value = to_number(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if -(1 << 63) <= value < 1 << 63 else {"int": hex(value)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, complex):
        return {"complex": [_plain(value.real, path), _plain(value.imag, path)]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, DType):
        return {"dtype": value.name}
    raise file_errors.cannot_save(value, path)


# --- and back ------------------------------------------------------------------------------------


class Decoder:
    """Turns JSON into the object it was made of."""

    def __init__(self, name: str, tensor: Callable[[str], Tensor], names: set[str]) -> None:
        self.name = name  # of the file
        self._tensor = tensor
        self._names = names
        self._made: dict[Any, Tensor] = {}
        self._builders: dict[str, Callable[[Any, int], Any]] = {
            "dict": self._dict, "items": self._items, "ordered": self._ordered,
            "tuple": self._tuple, "bytes": self._bytes, "complex": self._complex,
            "dtype": self._dtype, "float": self._float, "int": self._int,
        }  # fmt: skip

    def fail(self, why: str) -> errors.FormatError:
        """Give the error of a description that is wrong."""
        return file_errors.bad_notes(self.name, why)

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Give the value of a part of the JSON."""
        if depth > DEEPEST:
            raise self.fail(f"containers are nested deeper than {DEEPEST}")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            if isinstance(node, float) and not math.isfinite(node):
                raise self.fail("a number is too large")
            return node
        if "tensor" in node:
            return self._leaf(node)
        if len(node) != 1 or (tag := next(iter(node))) not in self._builders:
            raise self.fail("a part is of no known kind")
        return self._builders[tag](node[tag], depth + 1)

    def _dict(self, node: Any, depth: int) -> Any:
        if not isinstance(node, dict):
            raise self.fail("a dict is none")
        return {key: self.decode(item, depth) for key, item in node.items()}

    def _pairs(self, node: Any, depth: int) -> list[tuple[Any, Any]]:
        pairs = []
        for pair in self._list(node):
            if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list):
                raise self.fail("the items of a dict are not pairs of a key and a value")
            key = self.decode(pair[0], depth)
            parts = key if isinstance(key, tuple) else (key,)
            if not all(p is None or isinstance(p, bool | int | float | str) for p in parts):
                raise self.fail("the key of a dict is no plain value")
            pairs.append((key, self.decode(pair[1], depth)))
        return pairs

    def _items(self, node: Any, depth: int) -> Any:
        return dict(self._pairs(node, depth))

    def _ordered(self, node: Any, depth: int) -> Any:
        return OrderedDict(self._pairs(node, depth))

    def _tuple(self, node: Any, depth: int) -> Any:
        return tuple([self.decode(item, depth) for item in self._list(node)])

    def _list(self, node: Any) -> list[Any]:
        if not isinstance(node, list):
            raise self.fail("a list is none")
        return node

    def _bytes(self, node: Any, depth: int) -> Any:
        word = self._word(node)
        try:
            return base64.b64decode(word, validate=True)
        except (binascii.Error, ValueError):
            raise self.fail("bytes are not in base64") from None

    def _complex(self, node: Any, depth: int) -> Any:
        parts = [self.decode(part, depth) for part in self._list(node)]
        if len(parts) != 2 or not all(isinstance(part, float) for part in parts):
            raise self.fail("a complex number is no pair of floats")
        return complex(*parts)

    def _float(self, node: Any, depth: int) -> Any:
        if self._word(node) not in _WORDS:
            raise self.fail("a float is none")
        return _WORDS[node]

    def _int(self, node: Any, depth: int) -> Any:
        word = self._word(node)
        try:
            return int(word, 16)
        except ValueError:
            raise self.fail("an integer is none") from None

    def _dtype(self, node: Any, depth: int) -> Any:
        if self._word(node) not in dtypes.BY_NAME:
            raise self.fail(f"there is no dtype {errors.brief(node)}")
        return dtypes.BY_NAME[node]

    def _word(self, node: Any) -> str:
        if not isinstance(node, str):
            raise self.fail("a word is none")
        return node

    def _leaf(self, node: dict[str, Any]) -> Tensor:
        """Give a tensor: the same one for the same elements, if nothing else differs."""
        name = node["tensor"]
        if not isinstance(name, str) or name not in self._names:
            raise self.fail(f"there is no tensor {errors.brief(name)}")
        kind, grad = node.get("kind", ""), node.get("grad", False)
        if not node.keys() <= {"tensor", "grad", "kind"} or not isinstance(grad, bool):
            raise self.fail("a tensor is described by more than name, grad and kind")
        x = self._tensor(name)
        if grad and not (x.dtype.is_floating or x.dtype.is_complex):
            raise self.fail(f"{errors.brief(name)} asks for gradients and is {x.dtype}")
        if not kind and not grad:
            return x
        key = (id(x), str(kind), grad)  # the file keeps x
        if key not in self._made:
            plain = x.detach()
            made = _of_kind(plain, kind, grad) if kind else with_grad(plain, grad)
            if made is None:
                raise self.fail(f"there is no kind of tensor {errors.brief(kind)}")
            self._made[key] = made
        return self._made[key]
