"""Reverse-mode differentiation: from a result back to what it was computed from.

The sweep itself is the core's (tensor/sweep.h): it visits each recorded operation once, in the
reverse of the order in which they were recorded, and calls the rules of the records. Here are the
checks before it, and what it asks back: gradients in the shape of their tensors, and errors.
"""

from __future__ import annotations

from tessella import _core, errors, gradient_errors, spellings
from tessella._core import Node, Tensor
from tessella.arguments import to_bool
from tessella.declarations import describe
from tessella.dtypes import DType
from tessella.hints import TYPE_CHECKING, Any, Callable, Literal, Sequence, overload
from tessella.kinds import cast
from tessella.modes import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from tessella.ops.creation import with_grad, zeros_like
from tessella.ops.elementwise import real
from tessella.ops.reduce import sum, sum_to_shape

if TYPE_CHECKING:
    from tessella.anomalies import (
        detect_anomaly as detect_anomaly,
        set_detect_anomaly as set_detect_anomaly,
    )
    from tessella.functions import Function as Function

__all__ = [
    "Function", "backward", "detect_anomaly", "enable_grad", "grad", "inference_mode",
    "is_grad_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip
__dir__ = __all__.copy

# --- the sweep ------------------------------------------------------------------------------------


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of the sum of some tensors to `.grad` of the leaves they come from.

    >>> x = ts.tensor([1.0, 2.0], requires_grad=True)
    >>> ts.autograd.backward([(x * x).sum(), x.sum()])
    >>> x.grad.tolist()
    [3.0, 5.0]
    """
    try:
        roots, gradients = _roots("tensors", tensors, grad_tensors)
        wanted = None if inputs is None else _wanted(inputs)
        keeps, creates = _flags(retain_graph, create_graph)
        if _core.watches_values():
            _check_roots(roots)
        if wanted is None:
            _core.sweep(roots, gradients, None, keeps, creates)
            return
        found = _core.sweep(roots, gradients, wanted, keeps, creates)
        given = {
            id(x): (x, g)
            for x, g in zip(wanted, found, strict=True)
            if g is not None and not x.retains_grad  # which has it already
        }
        pairs = list(given.values())
        _core.update_gradients(tuple([x for x, _ in pairs]), tuple([g for _, g in pairs]))
        for x, _ in pairs:
            if x.is_leaf and (hooks := _core.leaf_hooks(x)) is not None:
                hooks.finish(x)
    except errors.TessellaError as error:
        raise _located(error, "backward", tensors) from None


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Literal[False] = False,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    *,
    allow_unused: bool,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
) -> tuple[Tensor | None, ...]: ...
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """Give the gradients of the sum of some outputs by some inputs; nothing is kept in `.grad`.

    >>> x = ts.tensor([1.0, 2.0], requires_grad=True)
    >>> ts.autograd.grad((x * x).sum(), x)[0].tolist()
    [2.0, 4.0]
    """
    try:
        roots, gradients = _roots("outputs", outputs, grad_outputs)
        wanted = _wanted(inputs)
        keeps, creates = _flags(retain_graph, create_graph)
        if not to_bool("only_inputs", only_inputs):
            raise errors.wrong_value("only_inputs", False, "True: x.backward() fills .grad")
        if to_bool("is_grads_batched", is_grads_batched):
            rule = "False: ts.jacobian(f)(x) gives one gradient for each result"
            raise errors.wrong_value("is_grads_batched", True, rule)
        found = list(_core.sweep(roots, gradients, wanted, keeps, creates))
        for i, g in enumerate(found):
            if g is None and to_bool("materialize_grads", materialize_grads):
                found[i] = zeros_like(wanted[i].detach())
            elif g is None and not to_bool("allow_unused", allow_unused):
                raise gradient_errors.unused(i)
    except errors.TessellaError as error:
        raise _located(error, "grad", outputs) from None
    return tuple(found)


def _located(error: errors.TessellaError, name: str, tensors: Any) -> errors.TessellaError:
    """Add what was differentiated; an error that says whose memory is at fault says enough."""
    if error.operands:
        return error
    return error.locate(name, [f"x  {describe(x)}" for x in _listed(tensors)])


def _check_roots(roots: tuple[Tensor, ...]) -> None:
    """While numbers are watched: refuse to go back from one that came in with the data."""
    for x in roots:
        if _core.is_anomalous(x):
            raise gradient_errors.odd_root()


def _listed(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, list | tuple) else [tensors]


def _flags(retain_graph: Any, create_graph: Any) -> tuple[bool, bool]:
    if retain_graph is None and create_graph is False:
        return False, False
    creates = to_bool("create_graph", create_graph)
    return creates if retain_graph is None else to_bool("retain_graph", retain_graph), creates


def _roots(name: str, tensors: Any, gradients: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Check what is differentiated, and the gradients that it begins with."""
    if gradients is None and isinstance(tensors, Tensor) and _is_loss(tensors):
        return (tensors,), (None,)  # as nearly always
    roots = _listed(tensors)
    given = [None] * len(roots) if gradients is None else _listed(gradients)
    if len(given) != len(roots):
        raise gradient_errors.gradient_count(len(given), len(roots))
    for i, (x, g) in enumerate(zip(roots, given, strict=True)):
        shown = "x" if not isinstance(tensors, list | tuple) else f"{name}[{i}]"
        if not isinstance(x, Tensor):
            raise errors.not_tensor(shown, x, "a tensor")
        if not x.requires_grad:
            is_continuous = x.dtype.is_floating or x.dtype.is_complex
            raise gradient_errors.no_graph(shown, x.dtype, is_continuous)
        check_gradient(shown, x, g)
    return tuple(roots), tuple(given)


def _is_loss(x: Tensor) -> bool:
    return x.requires_grad and x.ndim == 0 and x.dtype.is_floating


def check_gradient(name: str, x: Tensor, g: object) -> None:
    """Check a gradient that a user gives: of the shape and dtype of its tensor."""
    if g is None:
        if x.size != 1:
            raise gradient_errors.not_scalar(name, x.shape, x.size)
        if x.dtype.is_complex:
            raise gradient_errors.complex_root(name)
        return
    if not isinstance(g, Tensor):
        raise errors.not_tensor("gradient", g, "a tensor")
    if g.shape != x.shape or g.dtype is not x.dtype:
        raise gradient_errors.gradient_differs(
            name, f"{g.dtype} {g.shape}", f"{x.dtype} {x.shape}", g.shape != x.shape
        )


def _wanted(inputs: Any) -> tuple[Any, ...]:
    found = _listed(inputs)
    if not found:
        raise errors.wrong_value("inputs", inputs, "one tensor or more")
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            raise errors.not_tensor(f"inputs[{i}]", x, "a tensor")
        if not x.requires_grad:
            raise gradient_errors.not_differentiable_leaf(i)
        refuse_inside(x)
    return tuple(found)


def refuse_inside(x: Tensor) -> None:
    """Refuse to look at the gradient of a result that others of a compiled call are made of."""
    node = x.grad_fn
    has_inside = None if node is None else getattr(node.function.record, "has_inside", None)
    if has_inside is not None and has_inside(node, _core.output_of(x)):
        raise gradient_errors.inside_call()


# --- what the sweep asks back ---------------------------------------------------------------------


def conform(g: object, shape: tuple[int, ...], dtype: DType) -> Tensor:
    """Bring a gradient to the shape and dtype of what it is of."""
    if not isinstance(g, Tensor):
        raise gradient_errors.not_gradient(g)
    added = g.ndim - len(shape)
    if added > 0 and g.shape[added:] == shape:  # a bias, say
        g = sum(g, axis=tuple(range(added)))
    elif g.shape != shape:
        fits = added >= 0 and all(
            size in (1, given) for size, given in zip(shape, g.shape[added:], strict=True)
        )
        if not fits:
            raise gradient_errors.rule_shape(g.shape, shape)
        g = sum_to_shape(g, shape)
    if g.dtype.is_complex and not dtype.is_complex:
        g = real(g)
    return cast(g, dtype)


def overwritten(node: Node, place: int) -> errors.InplaceError:
    """Build the error of a saved tensor that was written into."""
    return gradient_errors.overwritten(node.name, node.site, _core.site_of_write(node, place))


_MODULE_FINDERS: list[Callable[[Node], str]] = []


def set_module_finder(finder: Callable[[Node], str]) -> None:
    """Say who tells which module of a network recorded an operation: of nn, which stands below."""
    _MODULE_FINDERS[:] = [finder]


def add_context(node: Node, error: BaseException) -> None:
    """Say in whose gradient an error was raised."""
    at = f", called at {':'.join(map(str, node.site)).rpartition('/')[2]}" if node.site else ""
    place = f"the gradient of {node.name}{at}"
    if _MODULE_FINDERS and (module := _MODULE_FINDERS[0](node)):
        place += f", in {module}"
    if isinstance(error, errors.TessellaError):
        error.within(place)
    else:
        error.add_note(f"in {place}")


# --- methods of Tensor ----------------------------------------------------------------------------


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of this tensor to `.grad` of the leaves it comes from.

    >>> x = ts.tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad.item()
    6.0
    """
    backward(self, gradient, retain_graph, create_graph, inputs)


def zero_grad(self: Tensor, set_to_none: bool = True) -> None:
    """Forget the gradient, or set it to 0.

    >>> x = ts.tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.zero_grad()
    >>> x.grad is None
    True
    """
    if to_bool("set_to_none", set_to_none) or self.grad is None:
        self.grad = None
    else:
        self.grad = zeros_like(self.grad.detach())


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask for gradients of this tensor, or no longer.

    >>> ts.zeros(2).requires_grad_().requires_grad
    True
    """
    try:
        if to_bool("requires_grad", requires_grad):
            return self if self.requires_grad else with_grad(self, True)
        if self.grad_fn is not None:
            raise errors.grad_of_result()
        _core.set_requires_grad(self, False)
    except errors.TessellaError as error:
        raise error.locate("requires_grad_", [f"x  {describe(self)}"]) from None
    return self


def detach_(self: Tensor) -> Tensor:
    """Take this tensor out of the graph: it becomes a leaf without gradients.

    >>> x = ts.ones(2, requires_grad=True) * 2
    >>> x.detach_().requires_grad
    False
    """
    if _core.base_of(self) is not None:
        raise gradient_errors.detached_view().locate("detach_", [f"x  {describe(self)}"])
    _core.detach(self)
    return self


_core.set_hook("conform", conform)
_core.set_hook("context", add_context)
_core.set_hook("overwritten", overwritten)


_LATER = {
    "Function": "functions",
    "detect_anomaly": "anomalies",
    "set_detect_anomaly": "anomalies",
}


_refuse = spellings.refuser(__name__, "docs/gradients.md lists the names")
__path__: list[str] = []  # so that imports of names that are not here are explained


if not TYPE_CHECKING:  # which knows what is there

    def __getattr__(name: str) -> object:
        """Load what few programs use when it is asked for."""
        if name not in _LATER:
            return _refuse(name)
        from importlib import import_module

        found = globals()[name] = getattr(import_module(f"tessella.{_LATER[name]}"), name)
        return found
