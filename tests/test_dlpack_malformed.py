"""DLPack capsules that no library would make: each is refused with its reason, and none crashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from capsules import BFLOAT, CUDA, FLOAT, INT, OPAQUE, Exporter

HUGE = (1 << 63) - 1
MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "negative rank": ({"ndim": -1}, "-1 axes; 0 to 64 are possible"),
    "too many axes": ({"ndim": 65, "shape": [1] * 65}, "65 axes; 0 to 64 are possible"),
    "absurd rank": ({"ndim": (1 << 31) - 1}, "axes; 0 to 64 are possible"),
    "no shape": ({"shape": None}, "it has axes and no shape"),
    "negative size": ({"shape": (-1, 4)}, "negative size"),
    "size that overflows": ({"shape": (1 << 40, 1 << 40)}, "more elements than can be counted"),
    "empty that overflows": ({"shape": (0, HUGE)}, "more elements than can be counted"),
    "bytes that overflow": ({"shape": (1 << 61, 1)}, "more elements than can be counted"),
    "no memory": ({"data": None}, "their address is null"),
    "reach": ({"strides": (HUGE, 1)}, "reaches beyond memory"),
    "reach backwards": ({"strides": (-(1 << 62), 1)}, "reaches beyond memory"),
    "reach below zero": ({"strides": (-(1 << 58), 1)}, "reaches beyond memory"),
    "reach that adds up": ({"strides": (1 << 59, 1 << 59)}, "reaches beyond memory"),
    "offset": ({"byte_offset": (1 << 64) - 1}, "its offset reaches beyond memory"),
    "lanes": ({"lanes": 4}, "64 bits in 4 lanes are of no dtype"),
    "no lanes": ({"lanes": 0}, "0 lanes"),
    "opaque": ({"code": OPAQUE}, "kind 3 with 64 bits"),
    "unknown kind": ({"code": 200}, "kind 200"),
    "8-bit float": ({"code": FLOAT, "bits": 8}, "kind 2 with 8 bits"),
    "4-bit integer": ({"code": INT, "bits": 4}, "kind 0 with 4 bits"),
    "wide bfloat": ({"code": BFLOAT, "bits": 32}, "kind 4 with 32 bits"),
    "no bits": ({"bits": 0}, "with 0 bits"),
}


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_capsules_are_refused(name: str, version: tuple[int, int] | None) -> None:
    fields, text = MALFORMED[name]
    source = Exporter(np.zeros((3, 4)), version=version, **fields)
    with pytest.raises((ValueError, OverflowError), match=text) as caught:
        ts.from_dlpack(source)
    assert isinstance(caught.value, ts.errors.TessellaError)
    assert str(caught.value).startswith("from_dlpack: ") and source.deletions == 0


def test_other_devices_and_versions_are_refused() -> None:
    elsewhere = Exporter(np.zeros(3), device_type=CUDA, device_id=1)  # its object says the CPU
    with pytest.raises(BufferError, match=r"on device \(2, 1\), not on the CPU"):
        ts.from_dlpack(elsewhere)
    for version in ((0, 9), (2, 0), (4_000_000_000, 0)):
        with pytest.raises(BufferError, match=rf"DLPack {version[0]}\.{version[1]} is not"):
            ts.from_dlpack(Exporter(np.zeros(3), version=version))


@pytest.mark.parametrize("name", [b"", b"other", b"dltensor2", b"used_dltensor"])
def test_capsules_of_other_names_are_refused(name: bytes) -> None:
    source = Exporter(np.zeros(3), name=name or b"\0")
    with pytest.raises(BufferError, match="holds no array to take"):
        ts.from_dlpack(source)


@pytest.mark.parametrize("given", [None, 3, "capsule", ts.ones(2)])
def test_what_is_no_capsule_is_refused(given: Any) -> None:
    class Wrong(Exporter):
        """An array that gives something else."""

        def __dlpack__(self, **keywords: Any) -> Any:
            return given

    with pytest.raises(TypeError, match="__dlpack__ must give a capsule, got "):
        ts.from_dlpack(Wrong(np.zeros(3)))


sizes = st.integers(-2, 4) | st.sampled_from([1 << 31, 1 << 62, HUGE, -(1 << 63)])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "ndim": st.integers(-1, 3) | st.sampled_from([64, 65, (1 << 31) - 1]),
    "code": st.integers(0, 8),
    "bits": st.sampled_from([0, 1, 8, 16, 32, 64, 128, 255]),
    "lanes": st.integers(0, 2),
    "shape": st.none() | st.lists(sizes, min_size=66, max_size=66),
    "strides": st.none() | st.lists(sizes, min_size=66, max_size=66),
    "data": st.none(),
    "byte_offset": st.sampled_from([(1 << 64) - 1, 1 << 63, 1 << 62]),
    "device_type": st.integers(-1, 3),
    "device_id": st.integers(-1, 1),
}


@given(st.data(), st.sampled_from([None, (1, 0), (2, 0)]))
def test_any_description_is_taken_or_refused(
    data: st.DataObject, version: tuple[int, int] | None
) -> None:
    """What is taken is not read: the memory that a description claims need not be there."""
    names = data.draw(st.sets(st.sampled_from(sorted(FIELDS)), max_size=4))
    if "ndim" in names:  # nobody can tell how long the arrays behind the pointers are
        names |= {"shape", "strides"}
    fields: dict[str, Any] = {name: data.draw(FIELDS[name], label=name) for name in names}
    source = Exporter(np.zeros((2, 3)), version=version, **fields)
    try:
        x = ts.from_dlpack(source, copy=False)
    except ts.errors.TessellaError as error:
        assert str(error).startswith("from_dlpack: ") and source.deletions == 0
    else:
        assert x.ndim == source.managed.array.ndim and x.size >= 0
        del x
        assert source.deletions == 1
