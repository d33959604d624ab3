"""frames: the user's code while it is run, so that a watch sees what it reads."""

from __future__ import annotations

import gc
import os
import sys
from _thread import get_ident

from tessella import _core, changes, exceptions, threads
from tessella.compiler.watch import Watch
from tessella.hints import Any, Callable

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = _LIBRARY + "site-packages" + os.sep
# Python's import of a module, up to where the module is there.
_LOADING = sys.modules["_frozen_importlib"]._find_and_load.__code__
_COUNTING = threads.get_num_threads.__code__
_CHANGING = {each.__code__ for each in (changes.born, changes.bump, changes.switch)}


class watched:  # noqa: N801 - used like a function
    """Run what is inside with a watch on the frames of the user's code.

    What modules do while they are imported is not the function's work, nor is what others do while
    garbage is collected: it is not recorded.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._loading = 0  # imports within each other, and callbacks of the collector
        self._collecting = {getattr(each, "__code__", None) for each in gc.callbacks}
        self._new: list[Any] = []  # modules and parameter groups that the call makes
        self._error: Any = None
        self._thread = get_ident()

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        self._outer = exceptions.RAISED.get(self._thread)
        exceptions.RAISED[self._thread] = self._watch.raised
        if _leave_out_garbage not in gc.callbacks:  # it stays: a collection may be under way
            gc.callbacks.insert(0, _leave_out_garbage)
        self._seeing = self._see()
        sys.setprofile(self._seeing)

    def __exit__(self, *error: Any) -> None:
        if sys.getprofile() is not self._seeing:
            self._watch.has_missed = True
        if self._before is None or callable(self._before):
            sys.setprofile(self._before)
        else:
            self._before.enable()  # of cProfile, which is no function
        self._watch.end()
        if self._outer is None:
            del exceptions.RAISED[self._thread]
        else:
            exceptions.RAISED[self._thread] = self._outer
        if self._error is not None and error[0] is None:
            raise self._error

    def _see(self) -> Callable[[Any, str, Any], None]:
        """Give the function that sees frames begin; what it finds is raised at the end."""

        def see(frame: Any, event: str, argument: Any) -> None:
            if frame.f_code is _LOADING and event in ("call", "return"):
                self._see_import(frame, event == "call")
            if frame.f_code in self._collecting and event in ("call", "return"):
                self._leave_out(event == "call")
                return
            if frame.f_code is _COUNTING:
                self._watch.note_threads()
            if frame.f_code in _CHANGING and event == "call" and not self._loading:
                self._see_change(frame)
            if event != "call" or self._loading or not is_users(frame.f_code.co_filename):
                return
            try:
                self._watch.add_frame(frame)
            except exceptions.CaptureError as error:
                self._error = self._error or error.locate(frame.f_code.co_name, [])

        return see

    def _see_change(self, frame: Any) -> None:
        """Note where something is changed that was there before the call."""
        owner = frame.f_locals["owner"]
        if frame.f_code is changes.born.__code__:
            self._new.append(owner)
        elif owner is not None and all(owner is not each for each in self._new):
            self._watch.bumped_at = self._watch.bumped_at or exceptions.user_site()

    def _see_import(self, frame: Any, begins: bool) -> None:
        if begins and not self._loading:
            self._watch.has_loaded |= frame.f_locals.get("name") not in sys.modules
        self._leave_out(begins)

    def _leave_out(self, begins: bool) -> None:
        """Record nothing up to the end of what is not the function's work."""
        if begins and not self._loading:
            _core.pause_recording()
        self._loading += 1 if begins else -1
        if not begins and not self._loading:
            _core.resume_recording()


def _leave_out_garbage(phase: str, info: dict[str, int]) -> None:
    """Record nothing of what finalisers do that the collector calls: it comes when it likes."""
    (_core.pause_recording if phase == "start" else _core.resume_recording)()


def is_users(file: str) -> bool:
    """Tell whether code is not of the package and not of Python's own library."""
    if file.startswith((exceptions.PACKAGE, "<frozen ")):
        return False
    return not file.startswith(_LIBRARY) or file.startswith(_INSTALLED)
