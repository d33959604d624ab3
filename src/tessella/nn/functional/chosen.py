"""The records of pools that choose elements: where the largest of each window is, and the moving
of elements from those places and back.

Choosing has no slope; taking elements from places and adding them there are each other's gradients.
So pools have all orders of derivatives, and what is kept for them are places, not the input.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType, float32, int64
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast
from tessella.nn import layer_errors
from tessella.nn.functional import references
from tessella.ops.creation import copy_of
from tessella.ops.movement import reshape
from tessella.tensors import tensor

_GEOMETRY = dict.fromkeys(("size", "window", "stride", "pad", "dilation"), REQUIRED)


class Choose(Straight):
    """Where in its plane the largest element of each window is; without a window, of each share."""

    params = _GEOMETRY
    needs_contiguous = True

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Floats only."""
        inputs, params = super().prepare(inputs, params)
        if not inputs[0].dtype.is_floating:
            raise errors.no_kernel(inputs[0].dtype, "defined for floats; convert with astype")
        return inputs, params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Give a place for each window."""
        return (*inputs[0].shape[:2], *params["size"]), int64

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        _core.pool_places(
            out, inputs[0], params["window"], params["stride"], params["pad"], params["dilation"],
            interruptible,
        )  # fmt: skip


class Move(Straight):
    """Elements of planes (n, channels, …) from or to places in them."""

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Floats; places for each plane, laid out in order."""
        (x,), params = super().prepare(inputs, params)
        places = params["places"]
        if not x.dtype.is_floating:
            raise errors.no_kernel(x.dtype, "defined for floats")
        if not isinstance(places, Tensor) or places.dtype is not int64:
            raise errors.wrong_type("places", places, "an int64 tensor")
        if places.shape[:2] != x.shape[:2] or x.ndim not in (3, 4) or places.ndim != x.ndim:
            raise errors.wrong_value("places.shape", places.shape, "one for each plane of x")
        if not places.is_virtual and not places.is_contiguous:
            params = params | {"places": copy_of(places)}
        return [x], params


class Pick(Move):
    """The elements at places."""

    params = {"places": REQUIRED}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Give an element for each place."""
        return params["places"].shape, inputs[0].dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        if not _core.pool_pick(out, inputs[0], params["places"], interruptible):
            raise layer_errors.place_outside(inputs[0].shape[2:])


class Place(Move):
    """Zeros, with elements added at places."""

    params = {"places": REQUIRED, "size": REQUIRED}
    needs_contiguous = True

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Sums are of float32 or float64."""
        inputs, params = super().prepare(inputs, params)
        if inputs[0].dtype.itemsize == 2:
            raise errors.no_kernel(inputs[0].dtype, "defined for float32 and float64")
        if inputs[0].shape != params["places"].shape:
            raise errors.wrong_value("places.shape", params["places"].shape, "that of x")
        return inputs, params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Give the planes."""
        return (*inputs[0].shape[:2], *params["size"]), inputs[0].dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        if not _core.pool_place(out, inputs[0], params["places"], interruptible):
            raise layer_errors.place_outside(params["size"])


def place_rounded(x: Tensor, places: Tensor, size: Sequence[int]) -> Tensor:
    """Add at places; halves in float32, rounded once."""
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    return cast(place(wide, places=places, size=tuple(size)), x.dtype)


_INTERNAL: dict[str, Any] = {"is_function": False, "is_method": False}


def _windows(size: Any, window: Any, stride: Any, pad: Any, dilation: Any) -> dict[str, Any]:
    return {"size": size, "window": window, "stride": stride, "pad": pad, "dilation": dilation}


choose: Function = Choose(
    "pool_places", **_INTERNAL, ulps=0,
    doc="Where in its plane the largest element of each window is: the first of equal ones.",
    ref=references.pool_places,
    samples=[case((2, 3, 5, 6), **_windows((2, 3), (2, 2), (2, 2), (0, 0), (1, 1))),
             case((2, 2, 7, 9), **_windows((4, 9), (3, 3), (2, 1), (1, 1), (1, 1))),
             case((2, 3, 11), **_windows((4,), (3,), (2,), (0,), (2,))),
             case((1, 2, 7, 5), **_windows((3, 4), (), (1, 1), (0, 0), (1, 1))),
             case((0, 2, 4, 4), **_windows((2, 2), (2, 2), (2, 2), (0, 0), (1, 1)))],
    errors=[case((1, 1, 4), dtype="int32", match="not defined for int32",
                 **_windows((2,), (2,), (2,), (0,), (1,)))],
).function  # fmt: skip

_PLACES = reshape(tensor([0, 3, 3, 1, 5, 2]), (1, 2, 1, 3))
_LINES = reshape(_PLACES, (1, 2, 3))

pick: Function = Pick(
    "pool_pick", **_INTERNAL, ulps=0,
    vjp=lambda g, places, x_shape: place_rounded(g, places, x_shape[2:]),
    doc="The elements of each plane at its places.", ref=references.pool_pick,
    samples=[case((1, 2, 2, 3), places=_PLACES), case((1, 2, 6), places=_LINES)],
    errors=[case((1, 2, 2, 3), places=(0, 1), match="places must be an int64 tensor, got tuple"),
            case((1, 3, 2, 3), places=_PLACES, match="places.shape is"),
            case((1, 2, 2, 2), places=_PLACES, match=r"a place is outside of planes of \(2, 2\)"),
            case((1, 2, 6), places=_LINES, dtype="int32", match="not defined for int32")],
).function  # fmt: skip

place: Function = Place(
    "pool_place", **_INTERNAL,
    vjp=lambda g, places: pick(g, places=places),
    doc="Planes of zeros, with x added at its places.", ref=references.pool_place,
    samples=[case((1, 2, 1, 3), places=_PLACES, size=(2, 3)),
             case((1, 2, 3), places=_LINES, size=(9,))],
    errors=[case((1, 2, 1, 4), places=_PLACES, size=(2, 3), match="places.shape is"),
            case((1, 2, 1, 3), places=_PLACES, size=(2, 2), match="a place is outside of planes"),
            case((1, 2, 3), places=_LINES, size=(6,), dtype="float16", match="not defined for")],
).function  # fmt: skip

del _PLACES, _LINES  # tensors of samples alone
