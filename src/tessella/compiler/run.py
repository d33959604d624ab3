"""run: two equal recordings of a kind of call make a program, which its later calls repeat."""

from __future__ import annotations

import contextlib
import os

from tessella import _core, errors, spellings
from tessella._core import Tensor
from tessella.arguments import to_bool, to_count, to_int
from tessella.compiler import capture_errors
from tessella.compiler.capture import capture, name_of, placed
from tessella.compiler.check import checked
from tessella.compiler.delays import changed_arguments, shown_arguments
from tessella.compiler.keys import call_key
from tessella.compiler.plan import MemoryTable
from tessella.compiler.program import Program
from tessella.compiler.repeats import Given, Kind, Recorded, Runnable
from tessella.hints import (
    TYPE_CHECKING,
    Any,
    Callable,
    Concatenate,
    Generic,
    ParamSpec,
    TypeVar,
    overload,
)
from tessella.located import warn
from tessella.sizes import counted
from tessella.standins import Standin

if TYPE_CHECKING:
    from typing import Self

    from tessella.compiler.explain import Explanation
    from tessella.compiler.profile import Profile
    from tessella.compiler.rehearse import Forecast
    from tessella.nn.modules import Module, Said, Unsaid

P = ParamSpec("P", default=...)  # of the function, and what it gives
Q = ParamSpec("Q")
R = TypeVar("R", default=Tensor)
S = TypeVar("S")
LARGE = 1 << 22  # bytes of intermediates that are worth giving back to the system
MOST_KINDS = 64  # of calls, by shapes and values of arguments: programs are small
MOST_PROGRAMS = 16  # of one kind of call, by what the function reads elsewhere
WARN_EACH = 16  # kinds of calls
RECORDINGS = 3  # of one kind of call, of which two must be equal
_OWN = ("__", "_compiled_")  # how names begin that are not the function's


class Compiled(Standin, _core.CompiledCall, Generic[P, R]):
    """A function whose calls are recorded twice, and repeated as programs from then on.

    >>> f = ts.compile(lambda x: (x * 2 + 1).sum())
    >>> isinstance(f, ts.compiler.Compiled), f(ts.ones(3)).item()
    (True, 9.0)
    """

    function: Callable[P, R]

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...

    else:

        def __getattr__(self, name):
            """Give what the function or module has: parameters(), train(), …"""
            if name.startswith("__") or "function" not in self.__dict__:
                raise AttributeError(name)
            return getattr(self.function, name)

    def __init__(self, function: Callable[P, R], check: int = 0, recompute: bool = False) -> None:
        self._compiled_recomputes = recompute
        self._compiled_check = check  # every so many calls the function is called too
        self._compiled_calls = 0
        self._compiled_compilations = 0
        self._compiled_is_warned = False  # that it never gets fast
        self._compiled_latest: dict[str, str] = {}  # the arguments of the last kind of call
        self._compiled_kinds: dict[Any, Kind] = {}
        self._compiled_replay = _core.Replay()
        self.function = function
        super().__init__(None if check else self._compiled_replay)

    def _call_anew(self, /, *args: Any, **keywords: Any) -> Any:
        """Do a call that the replay does not know."""
        if _core.is_recording() or _core.watches_values() or not self._compiled_replay.enter():
            # Part of another recording; or a finaliser or a signal's handler within a call.
            return self.function(*args, **keywords)
        try:
            return self._call(args, keywords, *self._key_of(args, keywords))
        finally:
            self._compiled_replay.leave()

    def __repr__(self) -> str:
        known = self.programs
        largest = max((each.arena_bytes for each in known), default=0)  # all are run in one arena
        if not known:
            return f"compiled {self.__name__}: no program yet"
        return f"compiled {self.__name__}: {counted(len(known), 'program')}, arena {largest:,} B"

    def __reduce__(self) -> tuple[object, ...]:
        """Give what a copy is made of: it begins without programs."""
        return type(self), (self.function, self._compiled_check, self._compiled_recomputes)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self: Compiled[Concatenate[S, Q], R], instance: S, owner: type | None = None
    ) -> Compiled[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Be a method where it decorates one."""
        return self if instance is None else _Bound(self, instance)

    @property
    def program(self) -> Program | None:
        """The program of the last kind of call that has one."""
        for kind in reversed(self._compiled_kinds.values()):
            if kind.programs:
                return kind.programs[-1].program
        return None

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute of the function or module, but for its own."""
        if name.startswith(_OWN):
            object.__setattr__(self, name, value)
        elif name == "function":
            self._begin_anew(value)
        else:
            setattr(self.function, name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute of the function or module."""
        delattr(self.function, name)

    def _begin_anew(self, function: Any) -> None:
        """Be another function: calls that are running end first, unless this is part of one."""
        is_outside = self._compiled_replay.enter()
        try:
            object.__setattr__(self, "function", function)
            self.__wrapped__ = function
            self.__name__ = name_of(function)
            self.__doc__ = function.__doc__
            self._compiled_kinds.clear()
            self._compiled_replay.clear()
        finally:
            if is_outside:
                self._compiled_replay.leave()

    @property
    def programs(self) -> list[Program]:
        """The programs that calls repeat, of all kinds of calls."""
        return [each.program for kind in self._compiled_kinds.values() for each in kind.programs]

    def memory(self) -> MemoryTable:
        """Give where the intermediates of the last program lie, as a table.

        >>> f = ts.compile(lambda x: x.sum(axis=0) @ x.sum(axis=1)[:3])
        >>> for _ in range(2):
        ...     _ = f(ts.ones(3, 3))
        >>> print(f.memory())
        compiled <lambda>: peak 128 B in 1 arena, 2 buffers (without reuse 128 B)
          buffer       shape        bytes     born  dies  offset
          m1           (3,)         12           0     2       0
          m2           (3,)         12           1     2      64
        """
        return MemoryTable(self.__name__, self._known_program())

    def explain(self) -> Explanation:
        """Say of each step of the last program why the next instruction is not part of it.

        >>> f = ts.compile(lambda x: (x * 2 + 1).sum(axis=0))
        >>> for _ in range(2):
        ...     _ = f(ts.ones(3, 3))
        >>> print(f.explain())
        compiled <lambda>: 3 instructions in 2 steps
            0  mul, add (3, 3)  <doctest ...>:1
               ends before sum: sum runs alone: it does not reduce the last axes
            1  sum (3,)         <doctest ...>:1
        """
        from tessella.compiler.explain import Explanation

        return Explanation(self.__name__, self._known_program())

    def show(self, path: str | os.PathLike[str]) -> None:
        """Write the last program as a page for a browser: its steps, and its arena over time.

        The page needs no other file. It is there as a whole, or what was there before is.

        >>> f = ts.compile(lambda x: (x @ x).sum(axis=0))
        >>> for _ in range(2):
        ...     _ = f(ts.ones(3, 3))
        >>> f.show("f.html")
        """
        from tessella.compiler.page import save_page

        save_page(path, self.__name__, self._known_program())

    def _repr_html_(self) -> Any:
        """Give what `show` writes, for a notebook; without a program what the function has."""
        if self.program is None:
            return getattr(self.function, "_repr_html_", lambda: None)()
        from tessella.compiler.page import framed_page

        return framed_page(self.__name__, self.program)

    def plan(self, /, *args: P.args, **keywords: P.kwargs) -> Forecast:
        """Give the memory that calls with such arguments need, without computing anything.

        Of tensors only shapes, strides and dtypes are used: `ts.spec` has no more. The function is
        called, but none of its operations is done: parameters, gradients, optimizers and generators
        are as before. `total` is what `memory.stats()` will count once such calls are repeated: the
        arena (`peak`), kernels' scratch, results, and gradients of leaves that have none yet.

        >>> f = ts.compile(lambda x: (x @ x.T).exp().sum())
        >>> needed = f.plan(ts.spec((1_000_000, 8), "float32"))
        >>> needed.peak, needed.results
        (4000000000000, 4)
        """
        from tessella.compiler.rehearse import forecast

        try:
            if _core.is_recording() or _core.watches_values() or not self._compiled_replay.enter():
                raise capture_errors.not_planned_here()
        except errors.TessellaError as error:
            raise error.locate("plan", []) from None
        try:
            return forecast(self.__name__, self.function, args, keywords, self._compiled_recomputes)
        finally:
            self._compiled_replay.leave()

    def _known_program(self) -> Program:
        if self.program is None:
            raise capture_errors.not_compiled().locate(self.__name__, [])
        return self.program

    def profile(self, /, *args: object, repeats: int = 1, **keywords: object) -> Profile[R]:
        """Call the function with these arguments, and measure each step of its program.

        It is a call like any other, or `repeats` of them: parameters, gradients and generators
        move on. If there is no program of such a call yet, the calls that make it come before.
        Times are medians; `result` is what the last call gave.

        >>> f = ts.compile(lambda x: (x @ x).sum(axis=0))
        >>> measured = f.profile(ts.ones(3, 3), repeats=5)
        >>> [row.title for row in measured.rows], measured.calls, measured.result.tolist()
        (['matmul (3, 3)', 'sum (3,)'], 5, [9.0, 9.0, 9.0])
        """
        try:
            count = to_count("repeats", repeats)
            if _core.is_recording() or _core.watches_values() or not self._compiled_replay.enter():
                raise capture_errors.not_repeated_here()
        except errors.TessellaError as error:
            raise error.locate("profile", []) from None
        try:
            return self._measure(args, keywords, count)
        finally:
            self._compiled_replay.leave()

    def _measure(self, args: Any, keywords: Any, count: int) -> Profile[R]:
        tensors, key = self._key_of(args, keywords)
        each = None
        for _ in range(2 * RECORDINGS):
            programs = self._compiled_kinds[key].programs if key in self._compiled_kinds else []
            each = next((each for each in programs if each.accepts(tensors)), None)
            if each is not None:
                break
            self._call(args, keywords, tensors, key)
        if each is None:
            why = self._compiled_kinds[key].streak.why if key in self._compiled_kinds else ""
            raise capture_errors.never_repeated(why).locate("profile", [])
        times: list[list[int]] = []
        each.times = times
        try:
            result = self._run(each, args, keywords, tensors)
            for _ in range(count - 1):
                if not each.accepts(tensors):  # what the function does has changed by its calls
                    break
                result = self._run(each, args, keywords, tensors)
        finally:
            each.times = None
        from tessella.compiler.profile import Profile

        return Profile(self.__name__, each.program, times, result)

    def _key_of(self, args: Any, keywords: Any) -> tuple[list[Any], Any]:
        """Give the tensors of a call, and its key."""
        try:
            return call_key(args, keywords)
        except (errors.InvalidArgument, RecursionError):
            raise capture_errors.too_deep("its arguments").locate(self.__name__, []) from None

    def _call(self, args: Any, keywords: Any, tensors: list[Any], key: Any) -> Any:
        kind = self._compiled_kinds.get(key)
        if kind is None:
            kind = self._new_kind(args, keywords, key)
        for each in kind.programs:
            if each.accepts(tensors):
                return self._run(each, args, keywords, tensors)
        return self._record(kind, args, keywords, tensors, key)

    def _new_kind(self, args: Any, keywords: Any, key: Any) -> Kind:
        """Begin with a kind of call that there was none of; forget all if there are too many."""
        if len(self._compiled_kinds) >= MOST_KINDS:
            self._compiled_kinds.clear()
            self._compiled_replay.clear()
        kind = self._compiled_kinds[key] = Kind()
        before, self._compiled_latest = self._compiled_latest, shown_arguments(args, keywords)
        self._compiled_compilations += 1
        if self._compiled_compilations % WARN_EACH == 0:
            warn(
                f"{self.__name__} was compiled for {self._compiled_compilations} kinds of calls; "
                f"{changed_arguments(before, self._compiled_latest)}",
                RuntimeWarning,
            )
        return kind

    def _run(self, each: Runnable, args: Any, keywords: Any, tensors: list[Any]) -> Any:
        self._compiled_calls += 1
        if self._compiled_check and self._compiled_calls % self._compiled_check == 0:
            return checked(
                self.__name__,
                each.program,
                tensors,
                lambda: self.function(*args, **keywords),
                lambda: each.run(tensors, self._compiled_replay.arena),
            )
        try:
            return each.run(tensors, self._compiled_replay.arena)
        except Exception:
            if each.has_written:
                raise
        # Nothing was changed: the function itself raises the error that explains.
        return self.function(*args, **keywords)

    def _record(self, kind: Kind, args: Any, keywords: Any, tensors: list[Any], key: Any) -> Any:
        if kind.streak.is_long(kind.programs) and not self._compiled_is_warned:
            self._compiled_is_warned = True
            warn(kind.streak.text(self.__name__), RuntimeWarning)
        given = Given(tensors)  # before the call, which may take their memory away
        captured = capture(self.function, args, keywords, tensors)
        kind.streak.note(captured, kind.programs)
        if captured.program is None:
            return captured.result
        if captured.program.made_bytes() >= LARGE:  # which later calls find in the arena
            _core.heap_allocator().trim()
        lines = captured.program.meaning()
        # A call that changes what it reads is not repeated: a repetition would not change it.
        is_steady = captured.watch.holds()
        for known in kind.programs:
            if known.lines == lines:
                if is_steady:
                    known.renew(given, captured)
                return captured.result
        for earlier in kind.recordings:
            if earlier.lines == lines:
                kind.recordings.clear()
                if is_steady:
                    runnable = Runnable(earlier, captured.program, self._compiled_recomputes)
                    runnable.renew(given, captured)
                    self._keep(kind, runnable, key)
                return captured.result
        kind.recordings.append(Recorded(captured.program, lines, given, captured.watch))
        if len(kind.recordings) >= RECORDINGS + kind.changed_conditions():
            self._refuse(kind)
        del kind.recordings[:-MOST_PROGRAMS]
        return captured.result

    def _keep(self, kind: Kind, runnable: Runnable, key: Any) -> None:
        """Add a program to what later calls repeat; plain ones by the core alone."""
        if self._compiled_kinds.get(key) is not kind:  # the call has changed what is compiled
            return
        if len(kind.programs) >= MOST_PROGRAMS:
            kind.programs.clear()
            self._compiled_replay.clear()  # those of other kinds are found in Python from now on
        kind.programs.append(runnable)
        with contextlib.suppress(errors.OutOfMemory):  # a call that needs it will say so
            self._compiled_replay.arena.prepare(runnable.core)
        if type(key) is bytes and not runnable.program.pulls:
            is_one = runnable.program.structure == 0 and runnable.program.outputs[0].operand
            self._compiled_replay.add(key, runnable.core, None if is_one else runnable.finish)

    def _refuse(self, kind: Kind) -> None:
        first, second = (each.program for each in kind.recordings[-2:])
        kind.recordings.clear()
        from tessella.compiler.contrast import contrast  # rare, and it takes long to load

        raise placed(capture_errors.unsteady(*contrast(first, second)), self.function)


class _Bound:
    """A compiled function that decorates a method, with its object."""

    def __init__(self, compiled: Compiled[..., Any], instance: Any) -> None:
        self._compiled = self.__func__ = compiled
        self._instance = self.__self__ = instance

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self._compiled(self._instance, *args, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bound) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        return _Bound, (self._compiled, self._instance)

    def _parts(self) -> tuple[int, int]:
        return id(self._compiled), id(self._instance)

    def profile(self, /, *args: Any, **keywords: Any) -> Profile[Any]:
        return self._compiled.profile(self._instance, *args, **keywords)

    def plan(self, /, *args: Any, **keywords: Any) -> Forecast:
        return self._compiled.plan(self._instance, *args, **keywords)

    def __repr__(self) -> str:
        return repr(self._compiled)

    def __getattr__(self, name: str) -> Any:
        if "_compiled" not in self.__dict__:  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._compiled, name)


if TYPE_CHECKING:

    class CompiledModule(Compiled[P, R], Module):
        """A compiled module: it has what the module has."""

        def __call__(  # type: ignore[override]  # that of the module
            self, *args: P.args, **keywords: P.kwargs
        ) -> R: ...


@overload
def compile(
    function: Unsaid, *, check: int = 0, recompute: bool = False
) -> CompiledModule[..., Tensor]: ...
@overload
def compile(
    function: Said[P, R], *, check: int = 0, recompute: bool = False
) -> CompiledModule[P, R]: ...
@overload
def compile(
    function: Callable[P, R], *, check: int = 0, recompute: bool = False
) -> Compiled[P, R]: ...
@overload
def compile(
    function: None = None, *, check: int = 0, recompute: bool = False
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compile(
    function: Any = None, *, check: int = 0, recompute: bool = False, **unknown: object
) -> Any:
    """Make a function of tensors that is recorded at its first calls and repeated afterwards.

    A repeated call gives the bits that the function would have given, or raises. With `check=n`
    every n-th one is compared with a call of the function itself. With `recompute=True` cheap
    intermediates are computed again where that takes less memory than to keep them.

    >>> @ts.compile
    ... def scaled(x):
    ...     return (x * 2 + 1).sum()
    >>> [scaled(ts.ones(3) * i).item() for i in range(4)]
    [3.0, 9.0, 15.0, 21.0]
    """
    try:
        for name in unknown:
            if name in spellings.OF_COMPILE:
                raise spellings.COMPILED.error()
            raise errors.unknown_keyword(name, "compile(function, *, check=0, recompute=False)")
        count = to_int("check", check)
        recomputes = to_bool("recompute", recompute)
        if count < 0:
            raise errors.wrong_value("check", check, "0, or every how many calls")
        if function is not None and not callable(function):
            raise capture_errors.not_callable(function)
    except errors.TessellaError as error:
        raise error.locate("compile", []) from None
    if function is None:
        return lambda decorated: compile(decorated, check=count, recompute=recomputes)
    return Compiled(function, count, recomputes)
