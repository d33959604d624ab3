"""Devices: where tensors live. There is one, the memory of the host, and its name is its object.

The array API asks of a device that it compares equal to itself and can be passed on: text does.
"""

from __future__ import annotations

from tessella import errors
from tessella.hints import Any

CPU = "cpu"
DEVICES = (CPU,)


def to_device_name(device: Any) -> str:
    """Give the device that an argument names; None is the default one."""
    if device is None:
        return CPU
    if not isinstance(device, str):
        raise errors.wrong_type("device", device, '"cpu" or None')
    if device not in DEVICES:
        raise errors.wrong_value("device", device, '"cpu": tensors live in the memory of the host')
    return device
