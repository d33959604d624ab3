"""Writing into tensors: in-place operators, assignment, copy_ and fill.

Everything is checked and computed before the first byte is written, so that a failure leaves the
target as it was. Where gradients are recorded, a write is recorded as a new value of the tensor
whose memory it is (ops/regions.py): views of it follow when they are next used.
"""

from __future__ import annotations

from types import MethodType

from tessella import _core, dtype_errors, errors, gradient_errors
from tessella._core import Tensor
from tessella.arguments import NUMBERS, to_bool, to_number
from tessella.composites import Composite
from tessella.declarations import CALL_WIDE, Declared, describe
from tessella.dtypes import _ORDER, DType, to_stored
from tessella.hints import Any, Element
from tessella.kinds import cast
from tessella.ops.creation import copy_of
from tessella.records import OPS, Op, apply


def check_target(x: Tensor, name: str = "x") -> None:
    """Refuse targets that may not be written."""
    if x.is_readonly:
        raise errors.readonly(name)
    if _core.layout_of(x).overlaps_itself:
        raise errors.overlapping_target(name)
    if not _core.is_grad_enabled():
        return
    base = _core.base_of(x)
    if x.requires_grad and (name == "out" or (x.is_leaf and base is None)):
        raise errors.inplace_on_leaf(name)
    if base is not None and base.requires_grad and base.is_leaf:
        raise gradient_errors.view_of_leaf(name)
    if base is not None and base.requires_grad:
        check_seen(x, name)


def write(x: Tensor, value: Tensor, name: str = "x") -> None:
    """Copy `value`, broadcast and converted, into x."""
    check_target(x, name)
    if name == "out":
        check_source(value)
    check_memory(x, value)
    check_kinds(x, value, name)
    _core.layout_of(value).broadcast_to(x.shape)
    is_recorded = _core.needs_node(x, value)
    if is_recorded:
        check_seen(x, name)
    source = copy_of(value) if _core.may_overlap(x, value) else value
    if not x.is_virtual:
        _core.copy(x, source, False)
    _core.bump_version(x)
    if is_recorded:
        record_write(x, x, value)


def check_source(value: Tensor) -> None:
    """Refuse to drop gradients, where a write is not recorded."""
    if value.requires_grad and _core.is_grad_enabled():
        raise errors.inplace_from_graph()


def check_seen(x: Tensor, name: str = "x") -> None:
    """Refuse to record a write through a view that was made while nothing was recorded."""
    if _core.is_blind(x):
        raise gradient_errors.blind_view(name)


def record_write(x: Tensor, target: Tensor, value: Tensor) -> None:
    """Record that `value` was written into `target`, a view of x or x itself."""
    from tessella.ops import regions

    owner = x if (base := _core.base_of(x)) is None else base
    _core.note_state(owner)
    is_whole = target is owner and value.shape == x.shape and value.dtype is x.dtype
    if is_whole and value.requires_grad:
        _core.record(x, OPS["positive"].function, (value,), None)
        return
    value = OPS["broadcast_to"].function(cast(value, x.dtype), target.shape)
    places = {"within": regions.region_of(owner), "region": regions.region_of(target)}
    _core.record(owner, regions.replace, (owner, value), places)
    if owner is not x:
        refresh(x)


def refresh(x: Tensor) -> None:
    """Record a view again, after the tensor whose memory it shares was written into."""
    from tessella.ops import regions

    if _core.is_blind(x):
        raise gradient_errors.outdated_view("x")
    base = _core.base_of(x)
    places = {"within": regions.region_of(base), "region": regions.region_of(x)}
    _core.record(x, regions.extract, (base,), places)


def check_memory(x: Tensor, *values: Any) -> None:
    """Refuse to write values that are not there."""
    if not x.is_virtual and any(isinstance(y, Tensor) and y.is_virtual for y in values):
        raise errors.virtual_value("write")


def check_kinds(x: Tensor, value: Tensor, name: str = "x") -> None:
    """Refuse to write a higher kind into a lower one: floats into integers, complex into real."""
    if x.dtype is not value.dtype and (x.dtype.is_user or value.dtype.is_user):
        raise dtype_errors.no_conversion(value.dtype, x.dtype)
    if _ORDER[value.dtype.kind] > _ORDER[x.dtype.kind]:
        raise errors.inplace_dtype(value.dtype, x.dtype, name)


def operate(op: Op, x: Tensor, y: Any) -> Tensor:
    """Do `x op= y`."""
    try:
        _put(op, x, "x", (x, y), {})
    except errors.TessellaError as error:
        raise error.relocate(
            f"{op.name} in place", [f"x  {describe(x)}", f"y  {describe(y)}"]
        ) from None
    return x


def write_into(each: Declared, out: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Make a call with `out=`, which may be or overlap any of its operands."""
    try:
        if not each.takes_out:
            raise errors.no_out(each.gives == "view")
        if out is None:
            return each.function(*args, **keywords)
        if not isinstance(out, Tensor):
            raise errors.not_tensor("out", out, "a tensor")
        return _put(each, out, "out", args, keywords)
    except errors.TessellaError as error:
        shown = each.describe_call(args, {**keywords, "out": out})
        raise error.relocate(each.title, shown) from None


def _put(
    each: Declared, out: Tensor, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor:
    """Compute into a tensor: straight where a record can, else by way of another one."""
    check_target(out, name)
    if name == "x" and _core.needs_node(*(x for x in args if isinstance(x, Tensor))):
        return _put_recorded(each, out, args, keywords)
    if name == "x" and isinstance(each, Composite) and each.writes and not out.is_virtual:
        each.call_sorted(args, keywords, each.writes)
        return out
    value = _compute(each, out, args, keywords)
    if value is None:
        _core.bump_version(out)
        if _core.is_anomalous(out):
            _core.judge_anomaly(each, args, out)
        return out
    if value.shape != out.shape:
        raise errors.inplace_shape(value.shape, out.shape, name)
    write(out, value, name)
    return out


def _put_recorded(
    each: Declared, x: Tensor, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor:
    """Compute a new value and write it into x; what the rules need of the old one is kept."""
    saves = each.saves if isinstance(each, Op) else -1  # a composite's parts are not known
    kept = [
        a.clone() if saves >> i & 1 and isinstance(a, Tensor) and _core.may_overlap(a, x) else a
        for i, a in enumerate(args)
    ]
    value: Tensor = each.function(*kept, **keywords)
    if value.shape != x.shape:
        raise errors.inplace_shape(value.shape, x.shape)
    write(x, value)
    return x


def _compute(
    each: Declared, out: Tensor, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor | None:
    """Give the result, or None where it was written into `out`."""
    if isinstance(each, Composite):
        value: Tensor = each.call_sorted(args, keywords)
        return value
    assert isinstance(each, Op)
    inputs, params = each.bind(args, keywords)
    if each.is_varied(inputs, params):
        return each.vary(inputs, params)
    inputs, params = each.prepare(inputs, params)
    check_memory(out, *inputs)
    if each.is_differentiable and _core.needs_node(*inputs):
        dtype = each.infer(inputs, params)[1]
        if dtype.is_floating or dtype.is_complex:
            raise errors.inplace_from_graph()
    return None if each.overwrite(out, inputs, params) else each.make(inputs, params)


class Twin:
    """The method x.name_(…) of an operation: its result is written into x."""

    def __init__(self, each: Op | Composite, name: str) -> None:
        self.each = each
        self.into = each.function.into if isinstance(each, Op) else None
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"x.{name}{each.signature()}, written into x.\n\n{each.doc}"

    def __repr__(self) -> str:
        return f"<operation {self.__name__}>"

    def __get__(self, x: Tensor | None, owner: type) -> Any:
        return self if x is None else MethodType(self, x)

    def __call__(self, *args: Any, **keywords: Any) -> Tensor:
        """Do the operation on args[0], into it."""
        if self.into is not None and not keywords:
            out: Tensor | None = self.into(*args)
            if out is not None:
                return out
        try:
            return self._call(args, keywords)
        except errors.TessellaError as error:
            shown = self.each.describe_call(args, keywords)
            raise error.relocate(self.__name__, shown) from None

    def _call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Tensor:
        if not args or not isinstance(args[0], Tensor):
            raise errors.not_tensor("x", args[0] if args else None, "a tensor")
        return _put(self.each, args[0], "x", args, keywords)


def call_in_place(
    each: Op | Composite, inplace: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor:
    """Make a call with PyTorch's `inplace=`: the twin's where it is True."""
    try:
        if not each.takes_inplace:
            raise errors.unknown_keyword("inplace", each.name + each.signature())
        is_inplace = to_bool("inplace", inplace)
    except errors.TessellaError as error:
        shown = each.describe_call(args, {**keywords, "inplace": inplace})
        raise error.relocate(each.title, shown) from None
    if is_inplace and not args:
        args = (keywords.pop("x" if "x" in keywords else "input", None),)
    function = Twin(each, each.title) if is_inplace else each.function
    out: Tensor = function(*args, **keywords)
    return out


CALL_WIDE["inplace"] = call_in_place


def copy_(self: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy the elements of a tensor of the same shape into this one; nothing else goes on then.

    >>> ts.zeros(2).copy_(ts.ones(2)).tolist()
    [1.0, 1.0]
    """
    try:
        if not isinstance(source, Tensor):
            raise errors.not_tensor("source", source, "a tensor")
        if source.shape != self.shape:
            error = errors.inplace_shape(source.shape, self.shape)
            error.hint = "copy_ takes a tensor of the same shape; x[...] = source broadcasts"
            raise error
        write(self, source)
    except errors.TessellaError as error:
        raise error.locate(
            "copy_", [f"x       {describe(self)}", f"source  {describe(source)}"]
        ) from None
    return self


def fill_(self: Tensor, value: Tensor | Element) -> Tensor:
    """Set every element to one number, or one item of a user's dtype.

    >>> ts.zeros(2).fill_(3).tolist()
    [3.0, 3.0]
    """
    try:
        check_target(self)
        value = value.item() if isinstance(value, Tensor) else to_number(value)
        if not self.dtype.is_user and not isinstance(value, NUMBERS):
            raise errors.wrong_type("value", value, "a number")
        if _core.needs_node(self):
            write(self, scalar_of(value, self.dtype))
        elif not _core.fill(self, to_stored(value, self.dtype)):
            raise errors.scalar_does_not_fit(value, self.dtype)
        else:
            _core.bump_version(self)
    except errors.TessellaError as error:
        raise error.locate(
            "fill_", [f"x      {describe(self)}", f"value  {describe(value)}"]
        ) from None
    return self


def scalar_of(value: Any, dtype: DType) -> Tensor:
    """Make a 0-d tensor of a number, or of an item of a user's dtype."""
    out = _core.empty((), dtype.id)
    if not _core.fill(out, to_stored(value, dtype)):
        raise errors.scalar_does_not_fit(value, dtype)
    return out


def zero_(self: Tensor) -> Tensor:
    """Set every element to 0.

    >>> ts.ones(2).zero_().tolist()
    [0.0, 0.0]
    """
    try:
        check_target(self)
        if _core.needs_node(self):
            write(self, scalar_of(False, self.dtype))
        else:
            _core.fill(self, False)
            _core.bump_version(self)
    except errors.TessellaError as error:
        raise error.locate("zero_", [f"x  {describe(self)}"]) from None
    return self


def foreign(op: Op, x: Any, y: Any) -> Any:
    """Handle an operator with an operand of another library or of no numeric type."""
    other = y if isinstance(x, Tensor) else x
    if errors.is_foreign_array(other):
        return apply(op, x, y)  # NumPy's scalars are numbers; of arrays the error says what to do
    if other is not None and not isinstance(other, str | bytes | list | tuple | dict | set):
        return NotImplemented
    return apply(op, x, y)


CALL_WIDE["out"] = write_into
_core.set_hook("inplace", operate)
_core.set_hook("refresh", refresh)
_core.set_hook("foreign", foreign)
