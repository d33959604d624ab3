"""Where tensors live: one device, named by text."""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from tessella.devices import DEVICES, to_device_name


def test_a_tensor_names_its_device() -> None:
    x = ts.ones(2)
    assert x.device == "cpu" and x.device in DEVICES
    assert to_device_name(None) == to_device_name(x.device) == "cpu"


def test_to_device_gives_the_tensor_itself() -> None:
    x = ts.ones(2)
    assert x.to_device("cpu") is x and x.to_device(x.device, stream=None) is x


@pytest.mark.parametrize(
    ("device", "error", "text"),
    [
        ("cuda", ValueError, "device is 'cuda'"),
        ("cpu:1", ValueError, "tensors live in the memory of the host"),
        (0, TypeError, 'device must be "cpu" or None, got int'),
    ],
)
def test_other_devices_are_refused(device: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match="to_device: ") as caught:
        ts.ones(2).to_device(device)
    assert text in str(caught.value) and isinstance(caught.value, ts.errors.TessellaError)


def test_the_cpu_has_no_streams() -> None:
    with pytest.raises(ValueError, match="the CPU has no streams"):
        ts.ones(2).to_device("cpu", stream=1)
