"""What the namespace says about itself to code that is written for the array API standard."""

from __future__ import annotations

from tessella.devices import CPU, DEVICES, to_device_name
from tessella.dtypes import DEFAULTS, DTYPES, DType, bfloat16, float16, int64, is_of_kind
from tessella.hints import DeviceLike

VERSION = "2025.12"
MOST_AXES = 64

_NOT_STANDARD = (float16, bfloat16)


def version() -> str:
    """Give the version of this package: `ts.__version__`, which is looked up when asked for."""
    from importlib import metadata  # slower to load than the whole package

    try:
        return metadata.version("tessella")
    except metadata.PackageNotFoundError:  # of a folder of sources
        return "0+unknown"


class Info:
    """The answers to what `ts.__array_namespace_info__()` can be asked."""

    def capabilities(self) -> dict[str, bool | int]:
        """Tell that masks and shapes that depend on data work, and how many axes there may be."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MOST_AXES,
        }

    def default_device(self) -> str:
        """Give the device where tensors are made."""
        return CPU

    def devices(self) -> tuple[str, ...]:
        """Give every device."""
        return DEVICES

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, DType]:
        """Give the dtypes of tensors that are made of Python numbers, and of indices."""
        to_device_name(device)
        return {
            "real floating": DEFAULTS[float],
            "complex floating": DEFAULTS[complex],
            "integral": DEFAULTS[int],
            "indexing": int64,
        }

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Give the standard's dtypes by their names: all, of a kind, or of a tuple of kinds."""
        to_device_name(device)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {
            dtype.name: dtype
            for dtype in DTYPES
            if dtype not in _NOT_STANDARD
            and any(each is None or is_of_kind(dtype, each) for each in kinds)
        }


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Give an object that tells the devices, dtypes and limits of this library.

    >>> ts.__array_namespace_info__().default_dtypes()["indexing"]
    int64
    """
    return Info()
