"""Operations of users with a gradient of their own: autograd.Function."""

from __future__ import annotations

import weakref

from tessella import _core, errors, gradient_errors
from tessella._core import Node, Tensor
from tessella.arguments import to_bool
from tessella.declarations import describe
from tessella.hints import TYPE_CHECKING, Any, Callable, ParamSpec, Protocol, TypeVar, overload
from tessella.inplace import check_target, record_write
from tessella.modes import no_grad
from tessella.ops.creation import copy_of, zeros
from tessella.trees import flatten

if TYPE_CHECKING:
    from typing import ClassVar

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Context:
    """What forward leaves for backward."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()  # until it is recorded; then the node has the tensors
        self._places: tuple[int | None, ...] = ()  # of each saved value among the node's tensors
        self._node: weakref.ref[Node] | None = None  # that has the tensors: it has this object
        self._dirty: tuple[Tensor, ...] = ()
        self._constant: tuple[Tensor, ...] = ()
        self._materializes = True
        # Of each result its shape and dtype, and its number among those that have gradients.
        self._results: list[tuple[Any, Any, int | None]] = []

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or results for backward, which finds them in `saved_tensors`."""
        for x in tensors:
            if x is not None and not isinstance(x, Tensor):
                raise errors.not_tensor("tensors", x, "a tensor or None")
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """Give what was saved; what has been overwritten since is refused."""
        if self._node is None:
            return self._saved
        node = self._node()
        if node is None or node.is_used:
            raise gradient_errors.saved_freed().locate("saved_tensors", [])
        kept = _core.unpack_saved(node)
        found: list[Any] = [None if place is None else kept[place] for place in self._places]
        return tuple(found)

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Name the inputs that forward has changed in place; it gives them back as results."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Name the results that have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what backward gets for results that no gradient reached: zeros, or None."""
        self._materializes = to_bool("value", value)


class Plain(Protocol[P, R_co]):
    """To type checkers: a class that says what a `forward` without ctx takes and gives."""

    @staticmethod
    def forward(*args: P.args, **keywords: P.kwargs) -> R_co: ...


class Forward(Protocol[P, R_co]):
    """To type checkers: a class that says what `forward` takes and gives."""

    @staticmethod
    def forward(ctx: Context, /, *args: P.args, **keywords: P.kwargs) -> R_co: ...


class Function:
    """An operation with a gradient of its own: a class with two static methods.

    >>> class Cube(ts.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * g * x * x
    >>> x = ts.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad.item()
    12.0
    """

    _function: _core.Function

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        text = cls.__doc__ or ""
        cls._function = _core.Function(
            Call(cls), cls.__name__, text, "(*args)", "none", 0, 0, True, False, None
        )

    @staticmethod
    def _has_inside(ctx: Any, number: int) -> bool:
        return False

    if TYPE_CHECKING:  # subclasses say what they take and give
        forward: ClassVar[Callable[..., object]]
        setup_context: ClassVar[Callable[..., None]]
        backward: ClassVar[Callable[..., object]]
    else:

        @staticmethod
        def forward(ctx, *args):
            """Compute the result; what backward needs is left in ctx."""
            raise NotImplementedError

        @staticmethod
        def setup_context(ctx, inputs, output):
            """Fill ctx, for a forward that does not take it."""
            raise NotImplementedError

        @staticmethod
        def backward(ctx, *gradients):
            """Give the gradient of each argument of forward, from those of its results."""
            raise NotImplementedError

    @overload
    @classmethod
    def apply(cls: type[Forward[P, R]], *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    @classmethod
    def apply(cls: type[Plain[P, R]], *args: P.args, **keywords: P.kwargs) -> R: ...
    @classmethod  # type: ignore[misc]  # there are no keywords
    def apply(cls, *args: Any) -> Any:
        """Compute, and record the call where gradients are recorded."""
        try:
            return _apply(cls, args)
        except errors.TessellaError as error:
            raise error.locate(cls.__name__, [f"x  {describe(x)}" for x in args]) from None


class Call:
    """What the engine knows of such a class: the record of its calls."""

    operands = ("x",)
    params: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    saves = 0

    def __init__(self, cls: type[Function]) -> None:
        self.cls = cls
        self.name = cls.__name__

    def pull(self, node: Node, gradients: tuple[Any, ...]) -> list[Any]:
        """Call backward; give a gradient for each tensor among the arguments of forward."""
        cls, params = self.cls, node.params
        ctx: Any
        places: Any
        ctx, places = params["ctx"], params["places"]
        if cls.backward is Function.backward:
            raise gradient_errors.not_called(cls.__name__, "backward")
        given = []
        for shape, dtype, number in ctx._results:
            g = None if number is None else gradients[number]
            is_missing = g is None and dtype is not None and ctx._materializes
            given.append(zeros(shape, dtype=dtype) if is_missing else g)
        found = cls.backward(ctx, *given)
        parts = list(found) if isinstance(found, tuple | list) else [found]
        count: Any = params["count"]
        if len(parts) < count or any(part is not None for part in parts[count:]):
            raise gradient_errors.rule_count(cls.__name__, len(parts), count)
        self.inspect(tuple(given), parts)
        return [parts[place] for place in places]

    def has_inside(self, node: Node, number: int) -> bool:
        """Tell whether gradients of other results flow through one where nobody sees them."""
        return self.cls._has_inside(node.params["ctx"], number)

    def inspect(self, args: tuple[Any, ...], results: list[Any]) -> None:
        """While numbers are watched: name the class if it made one that is not finite."""
        for x in results if _core.watches_values() else ():
            if isinstance(x, Tensor) and _core.is_anomalous(x):
                _core.judge_anomaly(self, args, x)


def _apply(cls: type[Function], args: tuple[Any, ...]) -> Any:
    if cls.forward is Function.forward:
        raise gradient_errors.not_called(cls.__name__, "forward")
    places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
    inputs = tuple([args[i] for i in places])
    is_recorded = _core.needs_node(*inputs)
    needs = tuple([isinstance(x, Tensor) and x.requires_grad for x in args])
    ctx = Context(needs if is_recorded else (False,) * len(args))
    with no_grad():
        if cls.setup_context is Function.setup_context:
            result = cls.forward(ctx, *args)
        else:
            result = cls.forward(*args)
            cls.setup_context(ctx, args, result)
    for x in ctx._dirty:
        _core.bump_version(x)
    record: Any = cls._function.record
    record.inspect(args, flatten(result)[0])
    if not is_recorded:
        return result
    return _record(cls, ctx, result, inputs, {"ctx": ctx, "places": places, "count": len(args)})


def _record(
    cls: type[Function], ctx: Context, result: Any, inputs: tuple[Tensor, ...], params: Any
) -> Any:
    is_single = not isinstance(result, tuple | list)
    results = [result] if is_single else list(result)
    outs: list[Tensor] = []
    written: list[tuple[Tensor, Tensor]] = []
    saved = list(ctx._saved)
    for i, x in enumerate(results):
        is_tensor = isinstance(x, Tensor)
        number = len(outs) if _has_gradient(x, ctx) else None
        ctx._results.append((x.shape, x.dtype, number) if is_tensor else (None, None, None))
        if number is None:
            continue
        own = _own(x, inputs, ctx, outs)
        saved = [own if each is x else each for each in saved]
        outs.append(own)
        if any(x is each for each in ctx._dirty):
            written.append((x, own))
        else:
            results[i] = own
    for x in ctx._dirty:
        if all(x is not each for each in results):
            raise gradient_errors.dirty_argument(cls.__name__)
    kept = [x for x in saved if x is not None]
    numbers = iter(range(len(kept)))
    ctx._places = tuple([None if x is None else next(numbers) for x in saved])
    if outs:
        _core.record_call(tuple(outs), cls._function, inputs, params, tuple(kept))
        node = outs[0].grad_fn
        assert node is not None
        ctx._node = weakref.ref(node)
        ctx._saved = ctx._dirty = ctx._constant = ()
    for x, value in written:
        record_write(x, x, value)
    if is_single:
        return results[0]
    return type(result)(results) if isinstance(result, list) else tuple(results)


def _has_gradient(x: Any, ctx: Context) -> bool:
    if not isinstance(x, Tensor) or not (x.dtype.is_floating or x.dtype.is_complex):
        return False
    return all(x is not other for other in ctx._constant)


def _own(x: Tensor, inputs: tuple[Tensor, ...], ctx: Context, outs: list[Tensor]) -> Tensor:
    """Give a tensor that may have the history of the result: none that has another already."""
    if any(x is each for each in ctx._dirty):
        check_target(x)
        return x.detach()  # its new value, which the written tensor takes
    if any(_core.may_overlap(x, each) for each in inputs):
        return copy_of(x)  # a write to the result must not be one to the input
    is_taken = x.requires_grad or any(x is each for each in outs)
    return x.detach() if is_taken else x
