"""The kinds of operation. Each carries the rules of shape, dtype and execution for its records."""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Function, Layout, Tensor
from tessella.arguments import NUMBERS, to_bool, to_number
from tessella.declarations import REQUIRED
from tessella.devices import to_device_name
from tessella.dtypes import (
    DTYPES,
    DType,
    as_dtype,
    boolean,
    check_cast,
    float32,
    promote,
    promote_scalar,
    to_stored,
    uint8,
)
from tessella.hints import Any, Callable, Sequence
from tessella.records import OPS, Op, Rule

VIEWS: dict[str, int] = {name: i for i, name in enumerate(_core.view_names())}
OPCODES: dict[str, int] = {name: i for i, (name, _) in enumerate(_core.opcodes())}


def cast(x: Tensor, dtype: DType) -> Tensor:
    """Convert an operand, recorded like any other operation."""
    return x if x.dtype is dtype else OPS["astype"].function(x, dtype)


class Straight(Op):
    """What can compute into a tensor that is there, of any strides."""

    needs_contiguous = False  # or of none

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Compute the result into `out`, to the end unless it may be interrupted."""
        raise NotImplementedError(self.name)

    def is_readable(self, x: Tensor, out: Tensor) -> bool:
        """Tell whether each element of an operand is read before `out` is written there."""
        return not _core.may_overlap(out, x)

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Compute into a fresh tensor, which an interrupt may leave half made."""
        self.compute(out, inputs, params, True)

    def overwrite(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> bool:
        """Overwrite where dtype and shape are those of the result."""
        if self.needs_contiguous and not out.is_contiguous:
            return False
        shape, dtype = self.infer(inputs, params)
        if tuple(shape) != out.shape or dtype is not out.dtype:
            return False
        if not all(self.is_readable(x, out) for x in inputs if isinstance(x, Tensor)):
            return False
        if not out.is_virtual:
            self.compute(out, inputs, params, False)
        return True


class Elementwise(Straight):
    """One result element from one element of each operand: promotes and broadcasts."""

    fast = "elementwise"

    def __init__(
        self,
        name: str,
        *,
        options: dict[str, Any] | None = None,
        variant: Rule | None = None,
        items: str = "refused",
        kernel: str = "",
        **record: Any,
    ) -> None:
        # Options are keywords that only the variant knows: the kernel has none.
        self.params, self.variant, self.items = options or {}, variant, items
        self.positional = len(self.operands)
        self.has_twin = self.operands[0] == "x" and record.get("is_method", True)
        self.kernel = kernel or name  # another's, where only the gradient differs
        if self.kernel not in OPCODES:
            raise TypeError(f"{name} has no line in elementwise.def, or the core is an older one")
        self.opcode = OPCODES[self.kernel]
        super().__init__(name, opcode=self.opcode, **record)
        if self.is_differentiable and len(self.vjp) != len(self.operands):
            raise TypeError(f"{name} has {len(self.operands)} operands and {len(self.vjp)} vjp")

    def out_dtype(self, dtype: DType) -> DType | None:
        """Give the result's dtype for operands of `dtype`, or None where it has no meaning."""
        found = _core.elementwise_out_dtype(self.opcode, dtype.id)
        return None if found is None else DTYPES[found]

    def computed_dtype(self, dtype: DType) -> DType:
        """Give the dtype to compute in: integers become float32 where only floats have meaning."""
        if self.out_dtype(dtype) is not None:
            return dtype
        only_floats = self.out_dtype(float32) is not None and self.out_dtype(DTYPES[1]) is None
        if not dtype.is_floating and not dtype.is_complex and only_floats:
            return float32
        if dtype is boolean:
            cure = "for bools there are x & y, x | y and x ^ y; x.astype(ts.int64) makes numbers"
            raise errors.no_kernel(dtype, cure)
        allowed = ", ".join(d.name for d in DTYPES if self.out_dtype(d) is not None)
        raise errors.no_kernel(dtype, f"defined for {allowed}; convert with astype")

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote the operands to one dtype."""
        inputs = [to_number(x) for x in inputs]
        common = self.computed_dtype(common_dtype(self.operands, inputs))
        return [fit(x, common) for x in inputs], {}

    def chosen_dtype(self, inputs: list[Any]) -> DType:
        """Give the dtype that the prepared operands share."""
        return next(x.dtype for x in inputs if isinstance(x, Tensor))

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Broadcast the shapes."""
        dtype = self.chosen_dtype(inputs)
        shape: Sequence[int] = ()
        for x in inputs:
            if isinstance(x, Tensor):
                shape = _core.broadcast_shapes(shape, x.shape)
        out = self.out_dtype(dtype)
        assert out is not None
        return shape, out

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Call the kernel."""
        dtype = self.chosen_dtype(inputs)
        _core.elementwise(self.opcode, dtype.id, out, *inputs, interruptible=interruptible)

    def is_readable(self, x: Tensor, out: Tensor) -> bool:
        """Let `out` be an operand."""
        # Addresses, not offsets: foreign memory may lie in several buffers.
        is_same_place = out.data_ptr == x.data_ptr and out.dtype is x.dtype
        is_same = is_same_place and out.shape == x.shape and out.strides == x.strides
        return is_same or super().is_readable(x, out)


def common_dtype(names: tuple[str, ...], inputs: list[Any]) -> DType:
    """Join the dtypes of tensors, then of scalars, which have a kind only."""
    dtype: DType | None = None
    for name, x in zip(names, inputs, strict=True):
        if isinstance(x, Tensor):
            dtype = x.dtype if dtype is None else promote(dtype, x.dtype)
        elif not isinstance(x, NUMBERS):
            raise errors.not_tensor(name, x)
    if dtype is None:
        raise errors.no_tensor(names)
    for x in inputs:
        if not isinstance(x, Tensor):
            dtype = promote_scalar(dtype, x)
    return dtype


def fit(x: Any, dtype: DType) -> Any:
    """Convert a tensor to `dtype`; check that a scalar fits it."""
    if isinstance(x, Tensor):
        return cast(x, dtype)
    if not _core.scalar_fits(x, dtype.id):
        raise errors.scalar_does_not_fit(x, dtype)
    return x


class Unary(Elementwise):
    """f(x)."""

    operands = ("x",)


class Binary(Elementwise):
    """f(x, y)."""

    operands = ("x", "y")


class Where(Elementwise):
    """Choice between two operands by a bool tensor."""

    operands = ("condition", "x", "y")

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote the two that are chosen from."""
        condition, *choices = map(to_number, inputs)
        check_condition(condition)
        if not any(isinstance(x, Tensor) for x in choices):
            choices = [scalar_tensor(choices[0], choices), scalar_tensor(choices[1], choices)]
        common = common_dtype(self.operands[1:], choices)
        return [condition, *(fit(x, common) for x in choices)], params

    def chosen_dtype(self, inputs: list[Any]) -> DType:
        """Give the dtype of what is chosen from."""
        return next(x.dtype for x in inputs[1:] if isinstance(x, Tensor))


def scalar_tensor(value: Any, beside: list[Any]) -> Tensor:
    """Make a 0-d tensor of a number, of the kind that all of `beside` share."""
    dtype = boolean
    for x in beside:
        if not isinstance(x, NUMBERS):
            raise errors.not_tensor("x", x)
        dtype = promote_scalar(dtype, x)
    out = _core.empty((), dtype.id)
    if not _core.fill(out, value):
        raise errors.scalar_does_not_fit(value, dtype)
    return out


class Clip(Elementwise):
    """Limits; None is none."""

    operands = ("x", "min", "max")
    defaults = {"min": None, "max": None}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Put the dtype's own limits in place of None."""
        x, low, high = map(to_number, inputs)
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x)
        given = [value for value in (low, high) if value is not None]
        names = self.operands[: 1 + len(given)]
        dtype = self.computed_dtype(common_dtype(names, [x, *given]))
        low = dtype.lowest if low is None else low
        high = dtype.highest if high is None else high
        return [fit(value, dtype) for value in (x, low, high)], params


def unary(name: str, **record: Any) -> Function:
    """Make the record of a unary elementwise operation."""
    return Unary(name, **record).function


def binary(name: str, **record: Any) -> Function:
    """Make the record of a binary elementwise operation."""
    return Binary(name, **record).function


# --- items of users' dtypes, as bytes -------------------------------------------------------------


def as_bytes(x: Tensor) -> Tensor:
    """View items as bytes, which are a new last axis; whatever the strides."""
    layout = _core.layout_of(x)
    return _core.bitcast(_core.view(x, layout.unsqueeze((layout.ndim,))), uint8.id)


def from_bytes(x: Tensor, dtype: DType) -> Tensor:
    """View the last axis, which is contiguous, as items."""
    out = _core.bitcast(x, dtype.id)
    return _core.view(out, _core.layout_of(out).squeeze((x.ndim - 1,)))


def item_operands(*inputs: Any) -> tuple[DType, list[Tensor]]:
    """Give the dtype of operands that hold items, or are one, and each of them as bytes."""
    dtype = next(x.dtype for x in inputs if isinstance(x, Tensor) and x.dtype.is_user)
    found = []
    for x in inputs:
        if not isinstance(x, Tensor):
            item = _core.empty((), dtype.id)
            _core.fill(item, to_stored(x, dtype))
            x = item
        check_cast(x.dtype, dtype)
        found.append(as_bytes(x))
    return dtype, found


def equal_items(x: Any, y: Any) -> Tensor:
    """Compare items: they are equal if all their bytes are."""
    _, both = item_operands(x, y)
    return OPS["all"].function(OPS["equal"].function(*both), axis=-1)


def check_condition(condition: Any) -> None:
    """Require a bool tensor."""
    if not isinstance(condition, Tensor):
        raise errors.not_tensor("condition", condition, "a tensor of booleans")
    if condition.dtype is not boolean:
        rule = "bool: compare, as in x != 0"
        raise errors.wrong_value("condition.dtype", condition.dtype, rule)


def choose_items(condition: Any, x: Any, y: Any) -> Tensor:
    """Choose between items by a bool tensor."""
    check_condition(condition)
    dtype, both = item_operands(x, y)
    return from_bytes(OPS["where"].function(OPS["unsqueeze"].function(condition, -1), *both), dtype)


class Cast(Straight):
    """Conversion to another dtype."""

    fast = "cast"
    items = "moved"
    params = {"dtype": REQUIRED, "copy": True, "device": None}

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Resolve the dtype; a complex number is not made real silently, an item not converted."""
        inputs, params = super().prepare(inputs, params)
        params["dtype"] = as_dtype(params["dtype"])
        params["copy"] = to_bool("copy", params["copy"])
        to_device_name(params.pop("device"))
        check_cast(inputs[0].dtype, params["dtype"])
        return inputs, params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Keep the shape."""
        return inputs[0].shape, params["dtype"]

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Give x itself where nothing changes and no copy is asked for."""
        if not params["copy"] and inputs[0].dtype is params["dtype"]:
            return _core.view(inputs[0], _core.layout_of(inputs[0]))
        return super().make(inputs, params)

    def compute(
        self, out: Tensor, inputs: list[Any], params: dict[str, Any], interruptible: bool
    ) -> None:
        """Convert each element."""
        _core.copy(out, inputs[0], interruptible)


class Additive(Op):
    """Zeros with x added to some of them."""

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Numbers only: what overlaps is added."""
        inputs, params = super().prepare(inputs, params)
        if inputs[0].dtype is boolean:
            raise errors.no_kernel(boolean, "convert with astype")
        return inputs, params


class View(Op):
    """Another layout over the same buffer."""

    fast = "view"
    gives = "view"
    items = "moved"

    def __init__(self, name: str, *, layout: Callable[..., Layout], params: dict[str, Any],
                 variadic: str = "", normalise: Callable[..., dict[str, Any]] | None = None,
                 **record: Any) -> None:  # fmt: skip
        self.params = params
        self.variadic = variadic
        self.layout = layout
        self.normalise = normalise
        if name not in VIEWS:
            self.fast = "none"
        super().__init__(name, opcode=VIEWS.get(name, 0), ulps=0, **record)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Bring axes and sizes into their normal form."""
        inputs, params = super().prepare(inputs, params)
        if self.normalise is not None:
            params = self.normalise(inputs[0], **params)
        return inputs, params

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the layout."""
        return self.layout(_core.layout_of(inputs[0]), **params).shape, inputs[0].dtype

    def make(self, inputs: list[Any], params: dict[str, Any]) -> Tensor:
        """Share the buffer."""
        return _core.view(inputs[0], self.layout(_core.layout_of(inputs[0]), **params))
