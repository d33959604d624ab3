"""Threads that fetch batches ahead of who uses them, which gets them in order.

A worker takes the next job, whichever worker it is; jobs are waited for in the order in which they
were given out. So neither the number of workers nor their pace changes what comes out.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from tessella import data_errors

Fetch = Callable[[Any], Any]


class WorkerInfo:
    """What a worker knows about itself.

    >>> class Who(ts.data.Dataset):
    ...     def __len__(self):
    ...         return 1
    ...     def __getitem__(self, i):
    ...         return str(ts.data.get_worker_info().id)
    >>> list(ts.data.DataLoader(Who(), num_workers=1))
    [['0']]
    """

    def __init__(self, id: int, num_workers: int, seed: int, dataset: object) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


class _Here(threading.local):
    info: WorkerInfo | None = None


_here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """Tell a worker of a DataLoader its id, the number of workers, its seed and the dataset.

    It is None outside of workers. An IterableDataset is read by one worker, whatever num_workers.

    >>> ts.data.get_worker_info() is None
    True
    """
    return _here.info


class _Job:
    """A batch to fetch: `done` is held until it is there, or has failed."""

    def __init__(self, number: int, what: Any) -> None:
        self.number = number
        self.what = what
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = allocate_lock()
        self.done.acquire()


class Workers:
    """Threads with a queue of jobs; a `with` block at whose end none of them is left."""

    def __init__(
        self,
        infos: list[WorkerInfo],
        ahead: int,
        fetch: Fetch,
        init: Callable[[int], Any] | None,
        timeout: float,
    ) -> None:
        self._ahead = ahead
        self._timeout = timeout
        self._process = os.getpid()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        # Threads know the queue and not this object, and end with the process.
        self._threads = [
            threading.Thread(
                target=_work,
                args=(self._jobs, info, fetch, init),
                name=f"tessella.data worker {info.id}",
                daemon=True,
            )
            for info in infos
        ]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process != os.getpid():
            return
        while True:
            try:
                self._jobs.get_nowait()
            except Empty:
                break
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread() and thread.ident is not None:
                thread.join()

    def results(self, whats: Iterable[Any], first: int) -> Iterator[Any]:
        """Give what fetch makes of each, in their order; they are numbered from `first` on."""
        waiting: deque[_Job] = deque()
        for number, what in enumerate(whats, first):
            job = _Job(number, what)
            waiting.append(job)
            self._jobs.put(job)
            if len(waiting) >= self._ahead:
                yield self._wait(waiting.popleft())
        while waiting:
            yield self._wait(waiting.popleft())

    def _wait(self, job: _Job) -> Any:
        if self._process != os.getpid():
            raise data_errors.forked().locate("data.DataLoader", [])
        if not job.done.acquire(timeout=self._timeout or -1):
            late = data_errors.timed_out(self._timeout, job.number)
            raise late.locate("data.DataLoader", [])
        if job.error is None:
            return job.result
        error, job.error = job.error, None
        try:
            raise error
        finally:
            del error  # its traceback knows this frame


class Inline:
    """No threads: each batch is fetched when it is asked for."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    def __enter__(self) -> Inline:
        return self

    def __exit__(self, *exception: object) -> None:
        return

    def results(self, whats: Iterable[Any], first: int) -> Iterator[Any]:
        """Give what fetch makes of each, in their order."""
        return map(self._fetch, whats)


def _work(
    jobs: SimpleQueue[_Job | None],
    info: WorkerInfo,
    fetch: Fetch,
    init: Callable[[int], Any] | None,
) -> None:
    """Do jobs until there is none; a worker that could not begin fails all its jobs."""
    _here.info = info
    failed: BaseException | None = None
    try:
        if init is not None:
            init(info.id)
    except BaseException as error:
        data_errors.placed(error, f"worker_init_fn({info.id}) of a DataLoader")
        failed = error
    while (job := jobs.get()) is not None:
        try:
            if failed is not None:
                raise failed
            job.result = fetch(job.what)
        except BaseException as error:
            job.error = error
        job.done.release()
        del job
