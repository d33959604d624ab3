"""How many threads operations may use."""

from __future__ import annotations

from types import TracebackType

from tessella import _core, errors
from tessella.arguments import to_int
from tessella.hints import Any


def _checked(n: Any) -> int:
    count = to_int("n", n)
    if not 1 <= count <= 256:
        raise errors.wrong_value("n", n, "between 1 and 256")
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
