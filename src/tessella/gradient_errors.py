"""The constructors of messages about gradients."""

from __future__ import annotations

from tessella.exceptions import (
    AnomalyError,
    ArgumentError,
    BroadcastError,
    CaptureError,
    DTypeMismatch,
    IllegalState,
    InplaceError,
    InvalidArgument,
    ShapeError,
    TessellaError,
    site_parts,
    type_name,
)


def no_graph(name: str, dtype: object, is_continuous: bool) -> IllegalState:
    """A gradient asked of what nothing was recorded for."""
    hint = "ask for them before computing: x.requires_grad_() of a leaf, and not inside no_grad"
    if not is_continuous:
        hint = f"{dtype} has none: comparisons, counts and indices end what is differentiable"
    return IllegalState(
        f"{name} does not require gradients: no gradients were recorded for it", hint
    )


def not_scalar(name: str, shape: object, size: int) -> ShapeError:
    """A result of several elements, differentiated without a gradient."""
    return ShapeError(
        f"{name} has {size} elements, and no gradient was given for them",
        f"sum it first, as in {name}.sum(), or give a gradient of shape {shape}",
    )


def complex_root(name: str) -> DTypeMismatch:
    """A complex result, differentiated without a gradient."""
    return DTypeMismatch(
        f"{name} is complex, and no gradient was given for it",
        "differentiate a real number, as ts.abs(x), ts.real(x), or give a gradient",
    )


def gradient_differs(name: str, given: str, wanted: str, is_shape: bool) -> TessellaError:
    """A gradient that is not of the shape and dtype of its tensor."""
    kind = ShapeError if is_shape else DTypeMismatch
    return kind(
        f"the gradient of {name} is {given}, the tensor is {wanted}",
        "a gradient has the shape and the dtype of its tensor",
    )


def gradient_count(given: int, wanted: int) -> ArgumentError:
    """Another number of gradients than of tensors."""
    return ArgumentError(
        f"{given} gradients for {wanted} tensors", "give one for each, None for ones"
    )


def unused(place: int) -> IllegalState:
    """A tensor that the outputs were not computed from."""
    return IllegalState(
        f"inputs[{place}] was not used in computing the outputs",
        "give allow_unused=True to get None for it, or materialize_grads=True to get zeros",
    )


def not_gradient(value: object) -> ArgumentError:
    """A rule that gives something else than a tensor."""
    return ArgumentError(
        f"a rule of gradients gave {type_name(value)}", "it gives a tensor, or None for no gradient"
    )


def rule_shape(given: object, wanted: object) -> BroadcastError:
    """A rule that gives a gradient which cannot be one of the input."""
    return BroadcastError(
        f"a rule of gradients gave shape {given} for an input of shape {wanted}",
        "a gradient has its input's shape, or one that the input broadcasts to",
    )


def rule_count(name: str, given: int, wanted: int) -> ArgumentError:
    """A backward that gives another number of gradients than there were inputs."""
    return ArgumentError(
        f"{name}.backward gave {given} gradients for {wanted} arguments of forward",
        "give one for each argument, None for those that have none",
    )


Site = tuple[str, int] | None  # a file and a line


def overwritten(name: str, saved: Site, changed: Site) -> InplaceError:
    """A saved tensor that was written into before backward needed it."""
    before = f" before line {changed[1]}" if changed else ""
    error = InplaceError(
        "backward needs a tensor that was overwritten",
        f"compute a new tensor in place of the write, or write to a clone() made{before}",
    )
    rows = []
    for verb, what, site in (("saved by", name, saved), ("changed by", "a write", changed)):
        place, source = site_parts(*site) if site else ("", "")
        rows.append((verb, source or what, place))
    width = max(len(source) for _, source, _ in rows)
    error.operands = [f"{verb:<10}  {source:<{width}}   {at}".rstrip() for verb, source, at in rows]
    return error


def view_of_leaf(name: str) -> InplaceError:
    """A write to a view of a leaf that gradients flow to."""
    return InplaceError(
        f"{name} is a view of a leaf that requires gradients, and would be overwritten",
        "write inside ts.no_grad(), or compute a new tensor",
    )


def no_hooks(name: str) -> IllegalState:
    """A hook for a tensor that no gradient flows to."""
    return IllegalState(
        f"{name} does not require gradients, so nothing would call the hook",
        "ask for them first: x.requires_grad_()",
    )


def inside_call() -> CaptureError:
    """The gradient of a result of a compiled call that others of its results are made of."""
    return CaptureError(
        "others of the results of a compiled call are made of x: their gradients pass it inside of "
        "the call, where nobody sees them",
        "return x alone, or call the function itself: f.__wrapped__(…)",
    )


def hook_of_result() -> IllegalState:
    """A hook after accumulation for a tensor that accumulates nothing."""
    return IllegalState(
        "only leaves accumulate gradients, and this tensor is a result",
        "use register_hook, or retain_grad to keep its gradient",
    )


def hook_result(value: object) -> ArgumentError:
    """A hook that gives something else than a gradient."""
    return ArgumentError(
        f"a hook gave {type_name(value)}", "it gives None, or a tensor in place of the gradient"
    )


def detached_view() -> InplaceError:
    """A view taken out of the graph in place."""
    return InplaceError(
        "x is a view, which cannot leave the graph in place", "use x.detach(), a new tensor"
    )


def not_differentiable_leaf(place: int) -> IllegalState:
    """An input of grad() that asks for no gradients."""
    return IllegalState(
        f"inputs[{place}] does not require gradients",
        "call requires_grad_() on it before computing the outputs",
    )


def not_called(name: str, method: str) -> InvalidArgument:
    """A Function without one of its two methods."""
    return InvalidArgument(
        f"{name} has no static method {method}",
        "a Function has forward(ctx, *args) and backward(ctx, *gradients)",
    )


def no_real_output(name: str, dtype: object) -> DTypeMismatch:
    """A function to differentiate that gives something else than a real number."""
    return DTypeMismatch(
        f"{name} gave {dtype}", "the function must give one real number: a 0-d float tensor"
    )


def not_one_output(name: str, shape: object) -> ShapeError:
    """A function to differentiate that gives several numbers."""
    return ShapeError(
        f"{name} gave a tensor of shape {shape}",
        "the function must give one number: sum it, or use ts.jacobian",
    )


def not_output(name: str, value: object) -> ArgumentError:
    """A function to differentiate that gives something else than tensors."""
    return ArgumentError(
        f"{name} gave {type_name(value)}", "the function gives a tensor, or nested ones"
    )


def structure_differs(name: str, form: object) -> ArgumentError:
    """Nested containers of another form than what they belong to."""
    return ArgumentError(
        f"{name} is not of the form of what it belongs to", f"it needs tensors of shapes {form}"
    )


def changed_in_checkpoint() -> IllegalState:
    """A checkpointed function that did something else the second time."""
    return IllegalState(
        "the function gave other results when it was computed again for backward",
        "what checkpoint computes twice must depend on its arguments alone",
    )


def odd_root() -> AnomalyError:
    """A result that is not finite although no operation made it so."""
    return AnomalyError(
        "the result is not finite, and no operation made it so: it came in with the data",
        "look at the data: ts.isfinite(x).all()",
    )


def anomaly(made: str, shown: str) -> AnomalyError:
    """An operation that made NaN or an infinity."""
    return AnomalyError(
        f"made {made} of operands that have none", f"look at its operands; the result {shown}"
    )


def saved_freed() -> IllegalState:
    """Saved tensors, asked for after backward has let go of them."""
    return IllegalState(
        "the saved tensors were freed: backward has gone through, or the results are gone",
        "read them inside backward, or call it with retain_graph=True",
    )


def blind_view(name: str) -> InplaceError:
    """A recorded write through a view whose base would not learn of it."""
    return InplaceError(
        f"{name} is a view of another dtype, or was made inside no_grad: writes are not recorded",
        "write to the tensor that it views, or inside ts.no_grad()",
    )


def outdated_view(name: str) -> InplaceError:
    """A view of another dtype, whose base was written into."""
    return InplaceError(
        f"{name} views memory as another dtype, and the tensor whose memory it is was overwritten",
        "make the view again, after the write",
    )


def dirty_argument(name: str) -> InvalidArgument:
    """An input that was marked as changed and is no result."""
    return InvalidArgument(
        f"{name}.forward marked an input as dirty and did not give it back",
        "return what mark_dirty names, as a result",
    )


def not_pair(name: str, value: object) -> ArgumentError:
    """A function without the second result that has_aux promises."""
    return ArgumentError(
        f"{name} gave {type_name(value)}",
        "with has_aux=True it gives a pair: the value, and the rest",
    )


def checkpoint_writes() -> InplaceError:
    """A checkpointed function that changes its arguments."""
    return InplaceError(
        "the function writes into an argument, which would be done twice",
        "compute a new tensor in it, or write to a clone()",
    )
