"""Devices: where tensors live. There is one, the memory of the host, and its name is its object.

The array API asks of a device that it compares equal to itself and can be passed on: text does.
What PyTorch's programs ask beyond that, `device.type` and `torch.device("cpu")`, it answers too.
"""

from __future__ import annotations

from tessella import errors
from tessella.hints import Any


class Device(str):
    """The name of a device, which can be asked for its parts: `ts.device("cpu").type`.

    >>> ts.device("cpu") == ts.ones(2).device
    True
    """

    __slots__ = ()

    def __new__(cls, type: str | None = None) -> Device:
        """Give the device of a name; there is one."""
        try:
            return str.__new__(cls, to_device_name(type))
        except errors.TessellaError as error:
            raise error.locate("device", []) from None

    @property
    def type(self) -> str:
        """The kind of device."""
        return str(self)


CPU = str.__new__(Device, "cpu")
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
