"""Parts of a tensor's memory: how gradients pass through views that were written into.

A region is a layout, as (shape, strides, offset), over the memory of a tensor whose own layout is
given likewise: `within`. The operations here have no use of their own; they are what writes to
views are recorded as.
"""

from __future__ import annotations

import math

from tessella import _core, errors
from tessella._core import Layout, Tensor
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType
from tessella.hints import Any, Sequence
from tessella.kinds import Additive
from tessella.ops.creation import zeros
from tessella.records import Op

Region = tuple[tuple[int, ...], tuple[int, ...], int]


def region_of(x: Tensor) -> Region:
    """Give the layout of a tensor as plain numbers."""
    layout = _core.layout_of(x)
    return tuple(layout.shape), tuple(layout.strides), layout.offset


def _image(*regions: Region) -> tuple[int, list[Layout]]:
    """Give the extent of some regions of one memory, and their layouts within just that extent."""
    places = [Layout(shape, strides, offset) for shape, strides, offset in regions]
    spans = [_span(region) for region in regions]
    first = min(low for low, _ in spans)
    last = max(high for _, high in spans)
    moved = [
        Layout(place.shape, place.strides, place.offset - first if place.size else 0)
        for place in places
    ]
    return last - first + 1, moved


def _span(region: Region) -> tuple[int, int]:
    """Give the first and last element that a region reaches."""
    shape, strides, offset = region
    low = high = offset
    for size, stride in zip(shape, strides, strict=True):
        reach = (size - 1) * stride if math.prod(shape) else 0
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high


def _laid_out(x: Tensor, size: int, layout: Layout) -> Tensor:
    """Give memory in which x lies as the layout says."""
    image = zeros(size, dtype=x.dtype)
    _core.copy(_core.view(image, layout), x, True)
    return image


class _Region(Op):
    """Operations between a tensor and a region of its memory."""

    params = {"within": REQUIRED, "region": REQUIRED}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check that the operands have the shapes that the parameters say."""
        inputs, params = super().prepare(inputs, params)
        for x, shape in zip(inputs, self.shapes(params), strict=True):
            if x.shape != tuple(shape):
                raise errors.wrong_value("x.shape", x.shape, str(tuple(shape)))
        return inputs, params

    def shapes(self, params: dict[str, Any]) -> list[Any]:
        """Give the shapes of the operands."""
        raise NotImplementedError(self.name)


class _Extract(_Region):
    """The elements of a region of x."""

    def shapes(self, params: dict[str, Any]) -> list[Any]:
        """Take the whole."""
        return [params["within"][0]]

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Take the region's shape."""
        return params["region"][0], inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Lay x out as it lay, and read the region."""
        size, (within, region) = _image(params["within"], params["region"])
        _core.copy(out, _core.view(_laid_out(inputs[0], size, within), region), True)


class _Insert(Additive, _Region):
    """Zeros with x added to a region of them."""

    def shapes(self, params: dict[str, Any]) -> list[Any]:
        """Take the region."""
        return [params["region"][0]]

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Take the shape of the whole."""
        return params["within"][0], inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Add x through the region, one index at a time along axes that overlap."""
        size, (within, region) = _image(params["within"], params["region"])
        image = zeros(size, dtype=out.dtype)
        _add_through(image, region, inputs[0])
        _core.copy(out, _core.view(image, within), True)


def _add_through(image: Tensor, layout: Layout, x: Tensor) -> None:
    if not layout.overlaps_itself:
        place = _core.view(image, layout)
        _core.copy(place, place + x, True)
        return
    for i in range(layout.shape[0]):
        part = _core.view(x, _core.layout_of(x).select(0, i))
        _add_through(image, layout.select(0, i), part)


class _Replace(_Region):
    """A copy of x in which a region has other values."""

    operands = ("x", "values")

    def shapes(self, params: dict[str, Any]) -> list[Any]:
        """Take the whole, and the region."""
        return [params["within"][0], params["region"][0]]

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep shape and dtype."""
        return inputs[0].shape, inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Lay x out as it lay, write the region, and read the whole."""
        size, (within, region) = _image(params["within"], params["region"])
        image = _laid_out(inputs[0], size, within)
        _core.copy(_core.view(image, region), inputs[1], True)
        _core.copy(out, _core.view(image, within), True)


def _places(np: Any, within: Region, region: Region) -> Any:
    """Give an image with the flat index of each element of the whole, and the region's view."""
    size, (whole, part) = _image(within, region)
    image = np.zeros(size, dtype=np.int64)

    def look(layout: Layout) -> Any:
        strides = [8 * stride for stride in layout.strides]
        return np.lib.stride_tricks.as_strided(image[layout.offset :], layout.shape, strides)

    look(whole)[...] = np.arange(whole.size).reshape(whole.shape)
    return look(part).copy()


def _extract_ref(np: Any, x: Any, within: Region, region: Region) -> Any:
    return x.reshape(-1)[_places(np, within, region)]


def _insert_ref(np: Any, x: Any, within: Region, region: Region) -> Any:
    out = np.zeros(math.prod(within[0]), x.dtype)
    np.add.at(out, _places(np, within, region), x)
    return out.reshape(within[0])


def _replace_ref(np: Any, x: Any, values: Any, within: Region, region: Region) -> Any:
    out = x.reshape(-1).copy()
    out[_places(np, within, region)] = values
    return out.reshape(x.shape)


_WHOLE: Region = ((3, 4), (4, 1), 5)
_REGIONS: list[Region] = [
    ((2, 2), (4, 2), 9),  # x[1:, ::2]
    ((4,), (1,), 5),
    ((), (), 10),
    ((3, 4), (4, 1), 5),
    ((2,), (-1,), 8),
]
_TURNED: Region = ((3, 4), (1, 3), 0)
_HIDDEN: dict[str, Any] = {"is_function": False, "is_method": False}

extract = _Extract(
    "extract_region", ulps=0, **_HIDDEN,
    vjp=lambda g, within, region: insert(g, within, region),
    doc="The elements of a region of x's memory.", ref=_extract_ref,
    samples=[*(case((3, 4), within=_WHOLE, region=each) for each in _REGIONS),
             case((3, 4), within=_TURNED, region=((2, 2), (3, 1), 1)),
             case((0, 2), within=((0, 2), (2, 1), 0), region=((0,), (1,), 0))],
    errors=[case((3, 3), within=_WHOLE, region=_REGIONS[0], match="x.shape is")],
).function  # fmt: skip
insert = _Insert(
    "insert_region", **_HIDDEN,
    vjp=lambda g, within, region: extract(g, within, region),
    doc="Zeros with x added to a region of their memory.", ref=_insert_ref,
    samples=[*(case(each[0], within=_WHOLE, region=each) for each in _REGIONS),
             case((2, 3), within=_WHOLE, region=((2, 3), (1, 1), 5)),
             case((2, 2), within=_TURNED, region=((2, 2), (3, 1), 1))],
    errors=[case((3, 3), within=_WHOLE, region=_REGIONS[0], match="x.shape is")],
).function  # fmt: skip
replace = _Replace(
    "replace_region", ulps=0, **_HIDDEN,
    vjp=(lambda g, values_shape, within, region: replace(
            g, zeros(values_shape, dtype=g.dtype), within, region),
         lambda g, within, region: extract(g, within, region)),
    doc="A copy of x in which a region of its memory has other values.", ref=_replace_ref,
    samples=[*(case((3, 4), each[0], within=_WHOLE, region=each) for each in _REGIONS),
             case((3, 4), (2, 2), within=_TURNED, region=((2, 2), (3, 1), 1))],
    errors=[case((3, 3), (2, 2), within=_WHOLE, region=_REGIONS[0], match="x.shape is")],
).function  # fmt: skip
