"""How many threads operations may use."""

from __future__ import annotations

import os
from types import TracebackType

from tessella import _core, errors
from tessella.arguments import to_int
from tessella.hints import Any

_MOST = 256
_WISHED = "TESSELLA_NUM_THREADS"  # the core reads it
_RULE = f"between 1 and {_MOST}"


def check_environment() -> None:
    """Refuse a number of threads in the environment that is none."""
    text = os.environ.get(_WISHED)
    if text is not None and text not in map(str, range(1, _MOST + 1)):
        raise errors.wrong_value(_WISHED, text, _RULE)


def _checked(n: Any) -> int:
    count = to_int("n", n)
    if not 1 <= count <= _MOST:
        raise errors.wrong_value("n", n, _RULE)
    return count


def get_num_threads() -> int:
    """Give how many threads operations of this thread may use.

    >>> ts.get_num_threads() >= 1
    True
    """
    return _core.num_threads()


def set_num_threads(n: int) -> None:
    """Set how many threads operations may use, for the whole process.

    >>> ts.set_num_threads(ts.get_num_threads())
    """
    try:
        _core.set_num_threads(_checked(n))
    except errors.TessellaError as error:
        raise error.locate("set_num_threads", []) from None


class num_threads:  # noqa: N801 - used like a function
    """Limit the threads inside a `with` block, on this thread only.

    >>> with ts.num_threads(1):
    ...     ts.get_num_threads()
    1
    """

    def __init__(self, n: int) -> None:
        try:
            self.n = _checked(n)
        except errors.TessellaError as error:
            raise error.locate("num_threads", []) from None
        self.outer: list[int] = []

    def __enter__(self) -> num_threads:
        self.outer.append(_core.thread_local_num_threads())
        _core.set_thread_local_num_threads(self.n)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        _core.set_thread_local_num_threads(self.outer.pop())
