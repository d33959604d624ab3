"""Movement: views of the same memory, and the few operations that must copy.

A view's record names the layout rule; the layout algebra is the core's.
"""

from __future__ import annotations

from tessella import _core, errors, exchange_errors
from tessella._core import Layout, Tensor
from tessella.arguments import to_bool, to_int, to_ints
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType, as_dtype, boolean, float64
from tessella.hints import Any, Callable, Sequence
from tessella.indexing import basic_layout
from tessella.kinds import Additive, View
from tessella.ops.casting import astype
from tessella.ops.creation import copy_of


def normal_axes(x: Tensor, axis: Any, name: str = "axis") -> tuple[int, ...]:
    """Give axes as non-negative numbers, in the given order."""
    axes, ndim = to_ints(name, axis), x.ndim
    for a in axes:
        if not -ndim <= a < ndim:
            _core.layout_of(x).axis(a)  # refuses it
    return tuple([a % ndim for a in axes])


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """Invert a permutation."""
    places = [0] * len(order)
    for place, axis in enumerate(order):
        places[axis] = place
    return tuple(places)


def _permute_params(x: Tensor, axes: Any) -> dict[str, Any]:
    order = to_ints("axes", axes)
    _core.layout_of(x).permute(order)  # refuses repeated, missing and unknown axes
    return {"axes": normal_axes(x, order)}


permute = View(
    "permute", layout=Layout.permute, params={"axes": REQUIRED}, variadic="axes",
    normalise=_permute_params, aliases=["permute_dims"], keywords={"dims": "axes"},
    vjp=lambda g, axes: permute(g, inverse(axes)),
    doc="The axes in the given order.", ref="transpose",
    samples=[case((2, 3, 4), axes=(2, 0, 1)), case((2, 3), axes=(-1, 0)), case((), axes=())],
    errors=[case((2, 3), axes=(0, 0), match="repeated axis 0"),
            case((2, 3), axes=(0,), match="names 1 axes, the tensor has 2"),
            case((2, 3), axes=(0, 2), match="axis 2 is out of range")],
).function  # fmt: skip

transpose = View(
    "transpose", layout=Layout.transpose, params={"a": REQUIRED, "b": REQUIRED},
    normalise=lambda x, a, b: {"a": normal_axes(x, to_int("a", a))[0],
                               "b": normal_axes(x, to_int("b", b))[0]},
    aliases=["swapaxes", "swapdims"], keywords={"dim0": "a", "dim1": "b"},
    vjp=lambda g, a, b: transpose(g, a, b),
    doc="Two axes exchanged; permute gives all axes an order.", ref="swapaxes",
    example=">>> ts.transpose(ts.tensor([[1, 2, 3], [4, 5, 6]]), 0, 1).tolist()\n"
            "[[1, 4], [2, 5], [3, 6]]",
    samples=[case((2, 3, 4), a=0, b=-1), case((3,), a=0, b=0)],
    errors=[case((2, 3), a=0, b=2, match="axis 2 is out of range")],
).function  # fmt: skip


def owned(out: Tensor, x: Tensor) -> Tensor:
    """Give a result memory of its own: a copy, if it is x or a view of it."""
    return astype(out, out.dtype) if _core.may_overlap(out, x) else out


class Reshape(View):
    """A view where the strides allow it, else a copy; always or never a copy if asked."""

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Copy only if it must."""
        (x,), shape, copy = inputs, params["shape"], params.get("copy")
        if copy is False:
            return _core.view(x, _core.layout_of(x).view(shape))  # refuses where it cannot
        layout = None if copy else _core.layout_of(x).reshape(shape)
        return _core.view(copy_of(x), Layout(shape)) if layout is None else _core.view(x, layout)

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Take the resolved shape."""
        return params["shape"], inputs[0].dtype


_RESHAPE_ERRORS = [
    case((2, 3), shape=(4,), match=r"cannot reshape \(2, 3\) into \(4,\)"),
    case((2, 3), shape=(-1, -1), match="cannot infer -1"),
    case((2, 3), shape=(-1, 4), match="cannot infer -1"),
    case((2, 3), shape=(-2, 3), match="negative size"),
    case((2, 3), shape=2.5, match="shape must be an integer or a tuple of integers, got float"),
]


def _reshape_params(x: Tensor, shape: Any, copy: Any) -> dict[str, Any]:
    resolved = _core.resolve_reshape(x.shape, to_ints("shape", shape))
    return {"shape": resolved} if copy is None else {
        "shape": resolved, "copy": to_bool("copy", copy),
    }  # fmt: skip


reshape = Reshape(
    "reshape", layout=Layout.view, params={"shape": REQUIRED, "copy": None}, variadic="shape",
    normalise=_reshape_params,
    vjp=lambda g, x_shape: reshape(g, x_shape),
    doc="Another shape with the same elements in row-major order; one size may be -1. A view where "
        "the strides allow it, else a copy; copy=True copies always, copy=False never.",
    ref=lambda np, x, shape, copy=None: x.reshape(shape),
    samples=[case((2, 6), shape=(3, 4)), case((2, 3, 4), shape=(-1, 4)), case((), shape=(1, 1)),
             case((0, 3), shape=(3, 0)), case((2, 6), shape=(3, 4), copy=True),
             case((2, 6), shape=(3, 4), copy=False, layouts="contiguous")],
    errors=[*_RESHAPE_ERRORS, case((2, 3), shape=(6,), copy=1, match="copy must be True or False")],
).function  # fmt: skip


def _view_params(x: Tensor, shape: Any, dtype: Any) -> dict[str, Any]:
    """Tell a shape from a dtype, which may stand in its place."""
    is_numpy_dtype = hasattr(shape, "itemsize") and not hasattr(shape, "__index__")
    if isinstance(shape, DType | str | type) or is_numpy_dtype:
        shape, dtype = None, shape
    if (shape is None) == (dtype is None):
        raise errors.wrong_value("shape", shape, "a shape or a dtype: one of the two")
    if shape is not None:
        return {"shape": _core.resolve_reshape(x.shape, to_ints("shape", shape))}
    dtype = as_dtype(dtype)
    if dtype is x.dtype:
        return {"shape": x.shape}
    if dtype is boolean:
        raise exchange_errors.bitcast_bool(x.dtype)
    if _core.needs_node(x):
        raise exchange_errors.bitcast_graph()
    return {"dtype": dtype}


class Look(View):
    """The same memory in another shape, or as another dtype."""

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the layout; items of another size change the last axis."""
        layout, dtype = _core.layout_of(inputs[0]), params.get("dtype")
        if dtype is None:
            return params["shape"], inputs[0].dtype
        return layout.bitcast(inputs[0].dtype.itemsize, dtype.itemsize).shape, dtype

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Share the buffer."""
        x, dtype = inputs[0], params.get("dtype")
        if dtype is not None:
            return _core.bitcast(x, dtype.id)
        return _core.view(x, _core.layout_of(x).view(params["shape"]))


def _view_ref(np: Any, x: Any, shape: Any = None, dtype: Any = None) -> Any:
    return x.reshape(shape) if dtype is None else x.view(dtype.name)


view = Look(
    "view", layout=Layout.view, params={"shape": None, "dtype": None}, variadic="shape",
    normalise=_view_params, vjp=lambda g, x_shape: reshape(g, x_shape),
    doc="Like reshape, but never a copy: refuses where the strides do not allow a view. Given a "
        "dtype in place of a shape, the same bits as that dtype; items of another size change the "
        "last axis, which must be contiguous.",
    ref=_view_ref, samples=[case((2, 6), shape=(3, 4), layouts="contiguous")],
    errors=[*_RESHAPE_ERRORS,
            case((2, 3), float64, match="cannot be seen as items of 8: the last axis"),
            case((), float64, match="a 0-d tensor has no axis to change"),
            case((2,), boolean, match="the bits of float32 need not be those of bools"),
            case((2,), match="shape is None"),
            case((2,), "float33", match="dtype must be a Tessella dtype")],
    is_function=False,
).function  # fmt: skip


def _squeeze_params(x: Tensor, axis: Any) -> dict[str, Any]:
    if axis is None:
        return {"axis": tuple(i for i, size in enumerate(x.shape) if size == 1)}
    return {"axis": normal_axes(x, axis)}


squeeze = View(
    "squeeze", layout=Layout.squeeze, params={"axis": None}, normalise=_squeeze_params,
    variadic="axis",
    vjp=lambda g, axis: unsqueeze(g, axis),
    doc="Without the named axes of size 1, or all of them.", ref="squeeze",
    samples=[case((2, 1, 3, 1), axis=(1, -1)), case((1, 2), axis=0), case((1, 3, 1))],
    errors=[case((2, 3), axis=0, match="axis 0 has size 2 and cannot be squeezed"),
            case((1, 3), axis=(0, 0), match="repeated axis 0"),
            case((1, 3), axis=2, match="axis 2 is out of range")],
).function  # fmt: skip


def _unsqueeze_params(x: Tensor, axis: Any) -> dict[str, Any]:
    axes = to_ints("axis", axis)
    whole = Layout((1,) * min(64, x.ndim + len(axes)))
    return {"axis": tuple(whole.axis(a) for a in axes)}


unsqueeze = View(
    "unsqueeze", layout=Layout.unsqueeze, params={"axis": REQUIRED}, normalise=_unsqueeze_params,
    aliases=["expand_dims"], vjp=lambda g, axis: squeeze(g, axis),
    doc="With new axes of size 1 at the named places of the result.", ref="expand_dims",
    samples=[case((2, 3), axis=0), case((2, 3), axis=(0, -1)), case((), axis=0)],
    errors=[case((2, 3), axis=4, match="axis 4 is out of range"),
            case((2, 3), axis=(1, 1), match="repeated axis 1")],
).function  # fmt: skip

flip = View(
    "flip", layout=Layout.flip, params={"axis": None}, variadic="axis",
    normalise=lambda x, axis: {"axis": tuple(range(x.ndim)) if axis is None
                               else normal_axes(x, axis)},
    vjp=lambda g, axis: flip(g, axis),
    doc="Reversed along the named axes, or all.", ref="flip",
    samples=[case((2, 3), axis=0), case((2, 3), axis=(0, 1)), case((3,)), case((0, 2), axis=0)],
    errors=[case((2, 3), axis=2, match="axis 2 is out of range"),
            case((2, 3), axis=(0, -2), match="repeated axis 0")],
).function  # fmt: skip

broadcast_to = View(
    "broadcast_to", layout=Layout.broadcast_to, params={"shape": REQUIRED}, variadic="shape",
    normalise=lambda x, shape: {"shape": to_ints("shape", shape)},
    vjp=lambda g: g,  # the engine sums g to x's shape, as for every operand that was broadcast
    doc="Repeated along new axes and axes of size 1, without a copy.", ref="broadcast_to",
    example=">>> ts.broadcast_to(ts.tensor([[1], [2]]), (2, 3)).tolist()\n[[1, 1, 1], [2, 2, 2]]",
    samples=[case((3, 1), shape=(2, 3, 4)), case((), shape=(2, 2)), case((1,), shape=(0,))],
    errors=[case((2, 3), shape=(2, 4), match="axis -1 is 3 and cannot become 4"),
            case((2, 3), shape=(3,), match="the target has fewer axes"),
            case((2, 3), shape=(-1, 3), match="negative size")],
).function  # fmt: skip

diagonal = View(
    "diagonal", layout=Layout.diagonal, params={"offset": 0, "a": 0, "b": 1},
    normalise=lambda x, offset, a, b: {"offset": to_int("offset", offset),
                                       "a": normal_axes(x, to_int("a", a))[0],
                                       "b": normal_axes(x, to_int("b", b))[0]},
    vjp=lambda g, x_shape, offset, a, b: embed(g, x_shape, "diagonal", (offset, a, b)),
    doc="The diagonal of two axes, as the last axis.", ref="diagonal",
    keywords={"dim1": "a", "dim2": "b"},
    samples=[case((3, 4)), case((2, 3, 4), offset=1, a=1, b=2), case((3, 3), offset=-5)],
    errors=[case((2, 3), a=0, b=0, match="repeated axis 0"),
            case((3,), match="axis 1 is out of range")],
).function  # fmt: skip


def _windows(np: Any, x: Any, axis: int, window: int, step: int = 1) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, window, axis)
    return windows[(*[slice(None)] * (axis % x.ndim), slice(None, None, step))]


unfold = View(
    "unfold", layout=Layout.unfold,
    params={"axis": REQUIRED, "window": REQUIRED, "step": 1},
    normalise=lambda x, axis, window, step: {"axis": normal_axes(x, to_int("axis", axis))[0],
                                             "window": to_int("window", window),
                                             "step": to_int("step", step)},
    vjp=lambda g, x_shape, axis, window, step: embed(g, x_shape, "unfold", (axis, window, step)),
    doc="Sliding windows along an axis, as a new last axis.",
    example=">>> ts.unfold(ts.arange(5), axis=0, window=3).tolist()\n"
            "[[0, 1, 2], [1, 2, 3], [2, 3, 4]]",
    keywords={"dimension": "axis", "size": "window"},
    ref=lambda np, x, axis, window, step=1: _windows(np, x, axis, window, step),
    samples=[case((7,), axis=0, window=3), case((2, 8), axis=1, window=4, step=2)],
    errors=[case((3,), axis=0, window=4, match="window of 4 with step 1"),
            case((3,), axis=0, window=2, step=0, match="window of 2 with step 0")],
).function  # fmt: skip

getitem = View(
    "getitem", layout=basic_layout, params={"key": REQUIRED},
    vjp=lambda g, x_shape, key: embed(g, x_shape, "getitem", (key,)),
    doc="x[key] for integers, slices, `...` and None: a view.",
    ref=lambda np, x, key: x[key], is_function=False,
    samples=[case((4, 5), key=1), case((4, 5), key=(slice(None, None, -2), -1)),
             case((4, 5), key=(None, ..., slice(1, 3))), case((), key=())],
    errors=[case((4, 5), key=4, match="index 4 is out of bounds for axis 0 of size 4"),
            case((4, 5), key=(0, 0, 0), match="3 indices for 2 axes"),
            case((4, 5), key=slice(0, 1, 0), match="slice step is 0")],
).function  # fmt: skip


class Embed(Additive):
    """Zeros with x added through a view: what the gradient of a view is."""

    params = {"shape": REQUIRED, "view": REQUIRED, "args": REQUIRED}

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Take the shape of what was viewed."""
        return params["shape"], inputs[0].dtype

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Write x through the view; windows that overlap add up."""
        _core.fill(out, False)
        rules: dict[str, Callable[..., Layout]] = {
            "diagonal": Layout.diagonal, "unfold": Layout.unfold, "getitem": basic_layout,
        }  # fmt: skip
        layout = rules[params["view"]](_core.layout_of(out), *params["args"])
        if not layout.overlaps_itself:
            _core.copy(_core.view(out, layout), inputs[0], True)
            return
        for window in range(layout.shape[-1]):  # each place of the window apart does not overlap
            part = _core.view(out, layout.select(-1, window))
            source = _core.view(inputs[0], _core.layout_of(inputs[0]).select(-1, window))
            _core.copy(part, part + source, True)


def _embed_ref(np: Any, x: Any, shape: Any, view: str, args: Any) -> Any:
    places = np.arange(np.prod(shape)).reshape(shape)
    views = {
        "diagonal": np.diagonal,
        "unfold": lambda *args: _windows(np, *args),
        "getitem": lambda x, key: x[key],
    }
    viewed = views[view](places, *args)
    out = np.zeros(shape, x.dtype)
    np.add.at(out.reshape(-1), viewed, x)
    return out


embed = Embed(
    "embed", is_function=False, is_method=False,
    vjp=lambda g, view, args: {"diagonal": diagonal, "unfold": unfold, "getitem": getitem}[view](
        g, *args),
    doc="Zeros of a shape, with x added through a view of them.", ref=_embed_ref,
    samples=[case((3,), shape=(3, 4), view="diagonal", args=(0, 0, 1)),
             case((3, 4), shape=(9,), view="unfold", args=(0, 4, 2)),
             case((2, 1), shape=(4, 5), view="getitem",
                  args=((slice(None, None, -2), slice(1, 2)),)),
             case((0, 3), shape=(2, 3), view="getitem", args=((slice(2, 2),),))],
).function  # fmt: skip
