"""Batches of an IterableDataset: one reader takes samples as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tessella import data_errors

END = object()  # behind the last batch


class Stream:
    """The batches that are left of a dataset's stream, from the position of a loader on."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None,
        drop_last: bool,
        collate: Callable[[Any], Any],
        batches: int,
        state: Any,
    ) -> None:
        self._dataset = dataset
        self._size = batch_size
        self._drops = drop_last
        self._collate = collate
        self._left_out = 0 if state is not None else batches * (batch_size or 1)
        self._state = state
        self._count = 0
        self._samples: Iterator[Any] | None = None

    def fetch(self, _: Any) -> tuple[Any, Any]:
        """Give the next batch, or END, and the state of the dataset behind it."""
        try:
            if self._samples is None:
                self._samples = self._begin()
            samples = list(self._counted(self._size or 1))
            is_short = len(samples) < (self._size or 1)
            if not samples or (is_short and self._drops):
                return END, None
            batch = self._collate(samples if self._size else samples[0])
        except BaseException as error:
            name = type(self._dataset).__name__
            data_errors.placed(error, f"the stream of {name} behind {self._count} samples")
            raise
        keeps = hasattr(self._dataset, "state_dict") and hasattr(self._dataset, "load_state_dict")
        return batch, self._dataset.state_dict() if keeps else None

    def _begin(self) -> Iterator[Any]:
        """Open the stream, in the thread that reads it, and leave out what was given before."""
        if self._state is not None:
            self._dataset.load_state_dict(self._state)
        self._samples = iter(self._dataset)
        for _ in self._counted(self._left_out):
            pass
        return self._samples

    def _counted(self, count: int) -> Iterator[Any]:
        assert self._samples is not None
        for sample in islice(self._samples, count):
            self._count += 1
            yield sample
