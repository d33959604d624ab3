"""The array API standard, 2025.12: every name, how it can be called, and what it is a property of.

array-api-strict is the oracle for signatures; what calls give is compared in
test_standard_functions.py, special values in test_standard_special_cases.py.
"""

from __future__ import annotations

import inspect
import os
from inspect import Parameter
from typing import Any

import pytest

os.environ["ARRAY_API_STRICT_API_VERSION"] = "2025.12"
import array_api_strict as strict

import tessella as ts

OWN = {"ArrayAPIStrictFlags", "Device", "__version__", "get_array_api_strict_flags",
       "reset_array_api_strict_flags", "set_array_api_strict_flags"}  # fmt: skip
NAMES = sorted(set(strict.__all__) - OWN)
EXTENSIONS = [f"{each}.{name}" for each in ("linalg", "fft")
              for name in getattr(strict, each).__all__]  # fmt: skip
FUNCTIONS = [name for name in [*NAMES, *EXTENSIONS] if inspect.isfunction(
    getattr(getattr(strict, name.split(".")[0]), name.split(".")[-1], None)
    if "." in name else getattr(strict, name))]  # fmt: skip
ARRAY = type(strict.asarray(1.0))
ATTRIBUTES = sorted(
    name for name in vars(ARRAY)
    if name in ("T", "mT") or name.startswith("__") or not name.startswith("_")
)  # fmt: skip
# Of Python's own, or not in the standard.
NOT_STANDARD = {"__array__", "__array_priority__", "__buffer__", "__class_getitem__", "__dict__",
                "__doc__", "__hash__", "__module__", "__new__", "__repr__", "__slots__", "__str__",
                "__weakref__", "__annotations__", "__iter__"}  # fmt: skip


def find(owner: Any, name: str) -> Any:
    """Give what a dotted name stands for."""
    for part in name.split("."):
        owner = getattr(owner, part)
    return owner


@pytest.mark.parametrize("name", [*NAMES, *EXTENSIONS])
def test_name_of_the_standard_exists(name: str) -> None:
    assert callable(find(ts, name)) == callable(find(strict, name)) or name in ts.dtypes.BY_NAME


@pytest.mark.parametrize("name", sorted(set(ATTRIBUTES) - NOT_STANDARD))
def test_attribute_of_arrays_exists(name: str) -> None:
    own, standard = (getattr(library.ones((2, 2)), name) for library in (ts, strict))
    # A number of elements that is called explains itself to PyTorch's users.
    assert callable(own) == callable(standard) or name == "size"


def differences(own: inspect.Signature, standard: inspect.Signature) -> list[str]:
    """List the calls that the standard allows and a signature does not."""
    found = []
    mine = list(own.parameters.values())
    for place, wanted in enumerate(standard.parameters.values()):
        if wanted.kind is Parameter.KEYWORD_ONLY:
            by_name = own.parameters.get(wanted.name)
            if by_name is None or by_name.kind is Parameter.POSITIONAL_ONLY:
                found.append(f"no keyword {wanted.name}")
            elif by_name.default != wanted.default and wanted.default in (None, True, False, 0, -1):
                found.append(f"{wanted.name} is {by_name.default!r}, not {wanted.default!r}")
            continue
        if place >= len(mine) or mine[place].kind is Parameter.KEYWORD_ONLY:
            found.append(f"{wanted.name} cannot be given by position")
        elif wanted.kind is Parameter.VAR_POSITIONAL:
            found += [] if mine[place].kind is wanted.kind else [f"no *{wanted.name}"]
        elif wanted.kind is Parameter.POSITIONAL_OR_KEYWORD and (
            mine[place].name != wanted.name or mine[place].kind is not wanted.kind
        ):
            found.append(f"no keyword {wanted.name}")
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_can_be_called_as_the_standard_says(name: str) -> None:
    own, standard = (inspect.signature(find(owner, name)) for owner in (ts, strict))
    assert not differences(own, standard), f"{own} beside {standard}"
    required = [p for p in own.parameters.values() if p.default is Parameter.empty]
    assert len(required) <= len(standard.parameters)


@pytest.mark.parametrize(
    "name",
    ["__array_namespace__", "__dlpack__", "__dlpack_device__", "__getitem__", "__setitem__"],
)
def test_method_can_be_called_as_the_standard_says(name: str) -> None:
    own = inspect.signature(getattr(ts.ones(2), name))
    standard = inspect.signature(getattr(strict.ones(2), name))
    assert not differences(own, standard), f"{own} beside {standard}"


def test_information_can_be_asked_for_as_the_standard_says() -> None:
    own, standard = ts.__array_namespace_info__(), strict.__array_namespace_info__()
    for name in ("capabilities", "default_device", "default_dtypes", "devices", "dtypes"):
        pair = (inspect.signature(getattr(each, name)) for each in (own, standard))
        assert not differences(*pair)


def test_parameters_can_be_named_where_the_standard_names_them() -> None:
    x = ts.ones((2, 1, 3))
    assert ts.permute_dims(x, axes=(2, 0, 1)).shape == (3, 2, 1)
    assert ts.squeeze(x, axis=1).shape == ts.reshape(x, shape=(2, 3), copy=None).shape
    assert ts.expand_dims(x, axis=0).ndim == 4 and ts.broadcast_to(x, shape=(2, 2, 3)).ndim == 3
    assert ts.isdtype(dtype=ts.int8, kind="integral")
    assert ts.full(shape=2, fill_value=1).shape == ts.linspace(0, 1, num=2).shape
    assert ts.roll(x, shift=1, axis=0).shape == ts.clip(x, min=0, max=1).shape
    assert ts.arange(0, stop=4, step=2).tolist() == [0, 2]
    assert ts.asarray([1], dtype=ts.int8, device=None, copy=True).dtype is ts.int8


def test_the_namespace_of_a_tensor_is_the_package() -> None:
    x = ts.ones(2)
    assert x.__array_namespace__() is ts
    assert x.__array_namespace__(api_version="2025.12") is ts
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="1999.12")
