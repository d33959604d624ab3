"""The records of convolution: the output, and the adjoints in the input and in the weight.

With y[n, o, p] = sum of x[n, c, p * stride + k * dilation - pad] * weight[o, c, k], where x is zero
outside of its sizes, each record gives one of y, x and weight from the other two. Each is linear in
both its operands, and the other two are its gradients: so all orders of derivatives are here.

`size` holds the places of the result. What sizes belong together is for convolution.py to say:
here every size has a meaning.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Function, Tensor
from tessella.declarations import REQUIRED, case
from tessella.dtypes import DType
from tessella.hints import Any, Sequence
from tessella.kinds import Straight, cast, common_dtype
from tessella.nn import layer_errors
from tessella.nn.functional import references
from tessella.ops.reduce import sum


class Correlation(Straight):
    """One of y, x and weight from the other two, and a bias for each channel of the result."""

    params = dict.fromkeys(("size", "stride", "pad", "dilation", "groups"), REQUIRED)
    roles = ("x", "weight", "y")  # in the order of the core

    def __init__(self, name: str, *, gives_role: str, **record: Any) -> None:
        self.role = gives_role
        self.operands = tuple(role for role in self.order(gives_role) if role != gives_role)
        if gives_role != "weight":
            self.operands = (*self.operands, "bias")
            self.defaults = {"bias": None}
        super().__init__(name, is_function=False, is_method=False, **record)

    @staticmethod
    def order(role: str) -> tuple[str, ...]:
        """Give the operands in the order of their names in calls."""
        return ("x", "y") if role == "weight" else ("x" if role == "y" else "y", "weight")

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Floats of one dtype, channels that fit."""
        present = {k: x for k, x in zip(self.operands, inputs, strict=True) if k != "bias"}
        if "bias" in self.operands and inputs[-1] is not None:
            present["bias"] = inputs[-1]
        for name, value in present.items():
            if not isinstance(value, Tensor):
                raise errors.not_tensor(name, value, "a tensor")
        dtype = common_dtype(tuple(present), list(present.values()))
        if not dtype.is_floating:
            raise errors.no_kernel(dtype, "defined for floats; convert with astype(ts.float32)")
        axes = len(params["stride"])
        for name, x in present.items():
            if name != "bias" and x.ndim != axes + 2:
                raise errors.wrong_value(f"{name}.ndim", x.ndim, str(axes + 2))
        self.check_channels(present, params["groups"])
        return [x if x is None else cast(x, dtype) for x in inputs], params

    def check_channels(self, present: dict[str, Tensor], groups: int) -> None:
        """Compare the channels of the operands, and of the bias."""
        if groups < 1:
            raise errors.wrong_value("groups", groups, "at least 1")
        if self.role == "weight":
            x, y = present["x"], present["y"]
            if x.shape[0] != y.shape[0]:
                raise errors.wrong_value("y.shape[0]", y.shape[0], f"{x.shape[0]}, as of x")
            for name, channels in (("x", x.shape[1]), ("y", y.shape[1])):
                if channels % groups:
                    raise layer_errors.wrong_groups(groups, channels, name)
            return
        name, image = next(iter(present.items()))
        outs, ins = present["weight"].shape[:2]
        if outs % groups:
            raise layer_errors.wrong_groups(groups, outs, "weight")
        taken, given = (ins * groups, outs) if name == "x" else (outs, ins * groups)
        if image.shape[1] != taken:
            raise layer_errors.wrong_channels(name, image.shape[1], taken, groups)
        if "bias" in present and present["bias"].shape != (given,):
            raise layer_errors.wrong_bias(present["bias"].shape, given)

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Join the channels with the places."""
        first, second = inputs[:2]
        if self.role == "weight":
            return (
                second.shape[1],
                first.shape[1] // params["groups"],
                *params["size"],
            ), first.dtype
        channels = second.shape[0] if self.role == "y" else second.shape[1] * params["groups"]
        return (first.shape[0], channels, *params["size"]), first.dtype

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the driver."""
        given = dict(zip(self.operands, inputs, strict=True)) | {self.role: out}
        _core.convolve(
            ("y", "x", "weight").index(self.role), given["x"], given["weight"], given["y"],
            given.get("bias"), params["stride"], params["pad"], params["dilation"],
            params["groups"], interruptible,
        )  # fmt: skip


def _over_places(g: Tensor) -> Tensor:
    """Sum over all but the channels: the gradient of the bias."""
    return sum(g, axis=(0, *range(2, g.ndim)))


def _geometry(size: Any, stride: Any, pad: Any, dilation: Any, groups: Any) -> dict[str, Any]:
    return {"size": size, "stride": stride, "pad": pad, "dilation": dilation, "groups": groups}


def _sample(*shapes: Any, size: Any, stride: Any = 1, pad: Any = 0, dilation: Any = 1,
            groups: int = 1, **declared: Any) -> Any:  # fmt: skip
    """Make a case; one number stands for every axis."""
    several = {"stride": stride, "pad": pad, "dilation": dilation}
    each: Any = {k: (v,) * len(size) if isinstance(v, int) else v for k, v in several.items()}
    return case(*shapes, size=size, groups=groups, **each, **declared)


convolve: Function = Correlation(
    "convolve", gives_role="y",
    vjp=(lambda g, weight, x_shape, stride, pad, dilation, groups: convolve_input(
            g, weight, **_geometry(x_shape[2:], stride, pad, dilation, groups)),
         lambda g, x, weight_shape, stride, pad, dilation, groups: convolve_weight(
            x, g, **_geometry(weight_shape[2:], stride, pad, dilation, groups)),
         lambda g: _over_places(g)),
    doc="Sums of x times weight, at each of `size` places.", ref=references.convolve,
    samples=[_sample((2, 3, 5, 6), (4, 3, 3, 2), (4,), size=(3, 5)),
             _sample((1, 2, 7, 5), (2, 2, 3, 3), size=(4, 3), stride=2, pad=1),
             _sample((2, 4, 4, 6), (6, 2, 2, 2), size=(4, 5), dilation=(2, 1), pad=(1, 0),
                     groups=2),
             _sample((2, 3, 9), (3, 1, 3), (3,), size=(4,), stride=2, groups=3),
             _sample((2, 2, 3, 3), (1, 2, 1, 1), size=(5, 4), pad=(1, -1)),
             _sample((0, 2, 4, 4), (3, 2, 3, 3), size=(2, 2)),
             _sample((2, 0, 3, 3), (2, 0, 2, 2), (2,), size=(2, 2))],
    errors=[_sample((1, 3, 4, 4), (2, 4, 3, 3), size=(2, 2), match="x has 3 channels, and weight"),
            _sample((1, 3, 4), (2, 3, 3, 3), size=(2, 2), match="x.ndim is 3"),
            _sample((1, 3, 4, 4), (4, 1, 3, 3), size=(2, 2), groups=3, match="groups is 3"),
            _sample((1, 3, 4, 4), (4, 3, 3, 3), (3,), size=(2, 2), match="bias has the shape"),
            _sample((1, 3, 4, 4), (4, 3, 3, 3), size=(2, 2), groups=0, match="groups is 0"),
            _sample((1, 3, 4), (2, 3, 3), size=(2,), dtype="int64", match="not defined for int64")],
).function  # fmt: skip

convolve_input: Function = Correlation(
    "convolve_input", gives_role="x",
    vjp=(lambda g, weight, y_shape, stride, pad, dilation, groups: convolve(
            g, weight, **_geometry(y_shape[2:], stride, pad, dilation, groups)),
         lambda g, y, weight_shape, stride, pad, dilation, groups: convolve_weight(
            g, y, **_geometry(weight_shape[2:], stride, pad, dilation, groups)),
         lambda g: _over_places(g)),
    doc="The adjoint of convolve: each y times weight, added where it came from.",
    ref=references.convolve_input,
    samples=[_sample((2, 4, 3, 5), (4, 3, 3, 2), (3,), size=(5, 6)),
             _sample((1, 2, 3, 3), (2, 2, 3, 2), size=(7, 5), stride=(2, 3), pad=(1, 0)),
             _sample((2, 6, 4, 5), (6, 2, 2, 2), (4,), size=(4, 6), dilation=(2, 1), pad=(1, 0),
                     groups=2),
             _sample((2, 3, 4), (3, 1, 3), size=(13,), stride=4, groups=3),
             _sample((1, 2, 2, 2), (2, 1, 2, 2), (1,), size=(9, 8), stride=4, dilation=2),
             _sample((2, 0, 3, 3), (0, 2, 2, 2), size=(4, 4))],
    errors=[_sample((1, 3, 4, 4), (2, 4, 3, 3), size=(6, 6), match="y has 3 channels, and weight"),
            _sample((1, 4, 4), (4, 3, 3), (4,), size=(6,), match="bias has the shape")],
).function  # fmt: skip

convolve_weight: Function = Correlation(
    "convolve_weight", gives_role="weight",
    vjp=(lambda g, y, x_shape, stride, pad, dilation, groups: convolve_input(
            y, g, **_geometry(x_shape[2:], stride, pad, dilation, groups)),
         lambda g, x, y_shape, stride, pad, dilation, groups: convolve(
            x, g, **_geometry(y_shape[2:], stride, pad, dilation, groups))),
    doc="The adjoint of convolve in its weight: sums of x times y that meet by one tap.",
    ref=references.convolve_weight,
    samples=[_sample((2, 3, 5, 6), (2, 4, 3, 5), size=(3, 2)),
             _sample((1, 2, 7, 5), (1, 2, 4, 3), size=(3, 3), stride=2, pad=1),
             _sample((2, 4, 4, 6), (2, 6, 4, 5), size=(2, 2), dilation=(2, 1), pad=(1, 0),
                     groups=2),
             _sample((2, 3, 9), (2, 3, 4), size=(3,), stride=2, groups=3),
             _sample((0, 2, 4, 4), (0, 3, 2, 2), size=(3, 3)),
             _sample((2, 1, 5, 5), (2, 20, 4, 4), size=(2, 2))],
    errors=[_sample((2, 3, 4), (1, 3, 3), size=(2,), match=r"y.shape\[0\] is 1"),
            _sample((2, 3, 4), (2, 4, 3), size=(2,), groups=3, match="groups is 3")],
).function  # fmt: skip
