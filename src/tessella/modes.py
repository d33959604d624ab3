"""Whether gradients are recorded: contexts and decorators, for each thread apart."""

from __future__ import annotations

from tessella import _core, errors
from tessella.arguments import to_bool
from tessella.hints import TYPE_CHECKING, Any, Callable, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from typing import Self

P = ParamSpec("P")
R = TypeVar("R")

_GENERATOR = 0x20  # the flag of a generator's code; `inspect`, which names it, loads slowly


def is_grad_enabled() -> bool:
    """Tell whether gradients are recorded in this thread.

    >>> ts.is_grad_enabled()
    True
    """
    return _core.is_grad_enabled()


class _Mode:
    """A mode as a context, which may be entered again inside itself, and as a decorator."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_core.is_grad_enabled())
        _core.set_grad_enabled(self._enabled)

    def __exit__(self, *error: object) -> None:
        _core.set_grad_enabled(self._before.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run a function in this mode; a generator whenever it is resumed."""
        if not callable(function):
            raise errors.wrong_type("function", function, "a function")
        import functools

        enabled = self._enabled
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            resumed: Callable[P, R] = functools.wraps(function)(_resumed(function, enabled))
            return resumed

        @functools.wraps(function)
        def wrapped(*args: P.args, **keywords: P.kwargs) -> R:
            with _Mode(enabled):
                return function(*args, **keywords)

        return wrapped


def _resumed(function: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    """Make a generator run in a mode whenever it is resumed, and its caller never."""

    def wrapped(*args: Any, **keywords: Any) -> Any:
        generator = function(*args, **keywords)
        step, value = generator.send, None
        try:
            while True:
                with _Mode(enabled):
                    found = step(value)
                try:
                    step, value = generator.send, (yield found)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step, value = generator.throw, error
        except StopIteration as end:
            return end.value
        finally:
            with _Mode(enabled):
                generator.close()

    return wrapped


class no_grad(_Mode):  # noqa: N801 - used like a function
    """Record no gradients: a context, or a decorator with or without parentheses.

    >>> x = ts.ones(2, requires_grad=True)
    >>> with ts.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]  # no instance
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        _Mode.__init__(made, False)
        return made(function)

    def __init__(self, function: Callable[..., object] | None = None) -> None:
        super().__init__(False)


class enable_grad(_Mode):  # noqa: N801 - used like a function
    """Record gradients, also inside no_grad.

    >>> x = ts.ones(2, requires_grad=True)
    >>> with ts.no_grad(), ts.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]  # no instance
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        _Mode.__init__(made, True)
        return made(function)

    def __init__(self, function: Callable[..., object] | None = None) -> None:
        super().__init__(True)


class inference_mode(_Mode):  # noqa: N801 - used like a function
    """Record no gradients, as no_grad does; inference_mode(False) records them.

    Its results are tensors like any other, and may be used where gradients are recorded.

    >>> with ts.inference_mode():
    ...     ts.is_grad_enabled()
    False
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]  # no instance
    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if not callable(mode):
            return made
        _Mode.__init__(made, False)
        return made(mode)

    def __init__(self, mode: bool | Callable[..., object] = True) -> None:
        super().__init__(not to_bool("mode", mode))


class set_grad_enabled(_Mode):  # noqa: N801 - used like a function
    """Record gradients or not from now on; as a context, until its end.

    >>> with ts.set_grad_enabled(False):
    ...     ts.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(to_bool("mode", mode))
        self._until = _core.is_grad_enabled()
        _core.set_grad_enabled(self._enabled)

    def __enter__(self) -> None:
        self._before.append(self._until)
        _core.set_grad_enabled(self._enabled)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Run a function in this mode; the mode outside is as it was."""
        _core.set_grad_enabled(self._until)
        return super().__call__(function)
