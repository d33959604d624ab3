"""Preparing data: statistics are taken of the training part, and applied to all parts.

Each object remembers what it was fitted on, gives data back as they were (`inverse`), and is stored
with a model (`state_dict`). NaN stands for a missing number: it takes no part in statistics and
stays NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

from tessella import data_errors, errors
from tessella._core import Tensor
from tessella.arguments import to_float, to_list, to_word
from tessella.dtypes import DType, as_dtype, float32, float64, int64
from tessella.kinds import cast
from tessella.located import located
from tessella.ops.creation import eye, zeros
from tessella.ops.elementwise import isfinite, isnan, where
from tessella.ops.reduce import argmax, max as largest, min as smallest
from tessella.ops.sets import searchsorted, unique_values
from tessella.ops.summaries import nanmean
from tessella.sizes import counted, described
from tessella.tensors import tensor


class Scaler:
    """Data less a shift, over a scale, each of one sample's shape; subclasses choose them."""

    def __init__(self) -> None:
        self.shift: Tensor | None = None
        self.scale: Tensor | None = None

    def __repr__(self) -> str:
        known = "not fitted" if self.shift is None else f"fitted to samples of {self.shift.shape}"
        bounds = {name: value for name, value in vars(self).items() if name in ("low", "high")}
        return described(self, known, **bounds)

    def _measure(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give shift and scale of float64 samples."""
        raise NotImplementedError

    def fit(self, x: Tensor) -> Self:
        """Take the statistics of samples, which axis 0 counts; give the object itself.

        >>> ts.data.Standardize().fit(ts.tensor([[1.0], [3.0]])).shift.tolist()
        [2.0]
        """
        name = f"data.{type(self).__name__}.fit"
        try:
            if not isinstance(x, Tensor):
                raise errors.not_tensor("x", x, "a tensor")
            if x.ndim == 0 or x.shape[0] == 0:
                raise errors.wrong_value("x.shape", x.shape, "that of one sample or more")
            shift, scale = self._measure(x.detach().astype(float64))
        except errors.TessellaError as error:
            raise error.relocate(name, []) from None
        # A column that does not vary, or has no number at all, is shifted only.
        self.shift, self.scale = shift, where(isfinite(scale) & (scale > 0), scale, 1.0)
        return self

    def __call__(self, x: Tensor) -> Tensor:
        shift, scale = self._statistics(x, "")
        return self._rounded((cast(x, shift.dtype) - shift) / scale, x)

    def inverse(self, x: Tensor) -> Tensor:
        """Give data as they were before.

        >>> scale = ts.data.standardize(ts.tensor([[1.0], [3.0]]))
        >>> scale.inverse(ts.tensor([[1.0]])).tolist()
        [[3.0]]
        """
        shift, scale = self._statistics(x, ".inverse")
        return self._rounded(cast(x, shift.dtype) * scale + shift, x)

    def _rounded(self, out: Tensor, x: Tensor) -> Tensor:
        return out if x.dtype.is_floating else cast(out, float32)

    def _statistics(self, x: Tensor, method: str) -> tuple[Tensor, Tensor]:
        name = f"data.{type(self).__name__}"
        try:
            if self.shift is None or self.scale is None:
                raise data_errors.not_fitted(type(self).__name__)
            if not isinstance(x, Tensor):
                raise errors.not_tensor("x", x, "a tensor")
            if x.shape[1:] != self.shift.shape or x.ndim == 0:
                raise data_errors.other_features(x.shape[1:], self.shift.shape)
        except errors.TessellaError as error:
            raise error.locate(name + method, []) from None
        # Large integers, such as dates, are no float32; how far they are from the shift may be one.
        dtype = x.dtype if x.dtype.is_floating else float64
        return self.shift.astype(dtype), self.scale.astype(dtype)

    def state_dict(self) -> dict[str, Tensor | None]:
        """Give the statistics, None before they are taken.

        >>> sorted(ts.data.standardize(ts.tensor([[1.0], [3.0]])).state_dict())
        ['scale', 'shift']
        """
        return {"shift": self.shift, "scale": self.scale}

    def load_state_dict(self, state: dict[str, Tensor | None]) -> None:
        """Take the statistics that state_dict() of another one gave.

        >>> scale = ts.data.Standardize()
        >>> scale.load_state_dict(ts.data.standardize(ts.tensor([[1.0], [3.0]])).state_dict())
        >>> scale(ts.tensor([[3.0]])).tolist()
        [[1.0]]
        """
        name = f"data.{type(self).__name__}.load_state_dict"
        _check_keys(state, {"shift", "scale"}, name)
        for key, x in state.items():
            if x is not None and not isinstance(x, Tensor):
                raise errors.wrong_type(key, x, "a tensor or None").locate(name, [])
        self.shift, self.scale = state["shift"], state["scale"]


class Standardize(Scaler):
    """Each column with mean 0 and deviation 1, of what it was fitted on.

    >>> scale = ts.data.Standardize().fit(ts.tensor([[1.0, 5.0], [3.0, 5.0]]))
    >>> scale(ts.tensor([[3.0, 6.0]])).tolist()
    [[1.0, 1.0]]
    """

    def _measure(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give means and deviations."""
        mean = nanmean(x, axis=0)
        # Rounding of the mean would make a column of one number vary a little.
        is_constant = ((x == x[:1]) | isnan(x)).all(axis=0)
        return mean, where(is_constant, 0.0, nanmean((x - mean) ** 2, axis=0).sqrt())


class MinMax(Scaler):
    """Each column between two numbers, of what it was fitted on.

    >>> scale = ts.data.MinMax(-1, 1).fit(ts.tensor([[0.0], [4.0]]))
    >>> scale(ts.tensor([[1.0], [4.0]])).tolist()
    [[-0.5], [1.0]]
    """

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__()
        try:
            self.low, self.high = to_float("low", low), to_float("high", high)
            if not (self.low < self.high and math.isfinite(self.high - self.low)):
                raise errors.wrong_value("high", high, f"finite, and more than low, which is {low}")
        except errors.TessellaError as error:
            raise error.locate("data.MinMax", []) from None

    def _measure(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give what becomes 0, and the length that becomes 1."""
        is_missing = isnan(x)
        low = smallest(where(is_missing, math.inf, x), axis=0)
        high = largest(where(is_missing, -math.inf, x), axis=0)
        scale = (high - low) / (self.high - self.low)
        scale = where(isfinite(scale) & (scale > 0), scale, 1.0)
        return where(isfinite(low), low - self.low * scale, 0.0), scale


class OneHot:
    """Categories as rows with one 1; integers of a tensor, or texts of a list.

    What was not met in fitting is refused, or a row of zeros with unknown="zeros".

    >>> code = ts.data.OneHot().fit(["b", "a", "b"])
    >>> code.categories, code(["b"]).tolist()
    (['a', 'b'], [[0.0, 1.0]])
    """

    def __init__(self, unknown: str = "error", dtype: DType = float32) -> None:
        try:
            self.unknown = to_word("unknown", unknown, ["error", "zeros"])
            self.dtype = as_dtype(dtype)
        except errors.TessellaError as error:
            raise error.locate("data.OneHot", []) from None
        self.categories: list[Hashable] | None = None

    def __repr__(self) -> str:
        found = self.categories
        known = "not fitted" if found is None else counted(len(found), "category")
        return described(self, known, unknown=self.unknown)

    @located("data.OneHot.fit")
    def fit(self, x: Tensor | Sequence[Hashable]) -> OneHot:
        """Take note of the categories; give the object itself.

        >>> ts.data.OneHot().fit(ts.tensor([4, 2, 4])).categories
        [2, 4]
        """
        if isinstance(x, Tensor):
            found: Any = unique_values(_integers(x)).tolist()
            self.categories = found
        else:
            self.categories = to_categories("x", x)
        return self

    @located("data.OneHot")
    def __call__(self, x: Tensor | Sequence[Hashable]) -> Tensor:
        categories = self._fitted()
        codes = self._codes(x, categories)
        table = zeros((len(categories) + 1, len(categories)), dtype=self.dtype)
        table[: len(categories)] = eye(len(categories), dtype=self.dtype)
        return table[codes]

    def _codes(self, x: Tensor | Sequence[Hashable], categories: list[Hashable]) -> Tensor:
        """Give the place of each category, the last one for those that are not known."""
        count = len(categories)
        if isinstance(x, Tensor):
            known = tensor(categories, int64)
            places = searchsorted(known, _integers(x).astype(int64)) if count else x.astype(int64)
            near = where(places < count, places, count - 1)
            is_known = known[near] == x if count else zeros(x.shape, dtype=bool)
            codes = where(is_known, places, count)
        else:
            numbers = {category: i for i, category in enumerate(categories)}
            x = to_list("x", x, CATEGORIES)
            codes = tensor([numbers.get(value, count) for value in _hashed("x", x)], int64)
        if self.unknown == "error" and codes.size and int(largest(codes).item()) == count:
            first = int(argmax(codes).item())
            raise data_errors.unknown_category(
                x[first].item() if isinstance(x, Tensor) else x[first], count
            )
        return codes

    @located("data.OneHot.inverse")
    def inverse(self, x: Tensor) -> list[Hashable]:
        """Give the category of each row: that of its largest number.

        >>> ts.data.one_hot(["b", "a"]).inverse(ts.tensor([[0.1, 0.9]]))
        ['b']
        """
        categories = self._fitted()
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x, "a tensor")
        if x.ndim != 2 or x.shape[1] != len(categories):
            raise data_errors.other_features(x.shape[1:], (len(categories),))
        chosen: Any = argmax(x, axis=1).tolist()
        return [categories[i] for i in chosen]

    def _fitted(self) -> list[Hashable]:
        if self.categories is None:
            raise data_errors.not_fitted("OneHot")
        return self.categories

    def state_dict(self) -> dict[str, list[Hashable] | None]:
        """Give the categories, None before they are known.

        >>> ts.data.one_hot(["b", "a"]).state_dict()
        {'categories': ['a', 'b']}
        """
        return {"categories": self.categories}

    def load_state_dict(self, state: Mapping[str, Sequence[Hashable] | None]) -> None:
        """Take the categories that state_dict() of another one gave.

        >>> code = ts.data.OneHot()
        >>> code.load_state_dict({"categories": ["a", "b"]})
        >>> code(["b"]).tolist()
        [[0.0, 1.0]]
        """
        name = "data.OneHot.load_state_dict"
        _check_keys(state, {"categories"}, name)
        categories = state["categories"]
        try:
            if categories is not None:
                categories = _hashed("categories", to_list("categories", categories, CATEGORIES))
        except errors.TessellaError as error:
            raise error.locate(name, []) from None
        self.categories = categories


CATEGORIES = "a list of texts or of integers, or a vector of integers"


def to_categories(name: str, values: Any) -> list[Any]:
    """Give the different values of a list in their order."""
    try:
        return sorted(set(_hashed(name, to_list(name, values, CATEGORIES))))
    except TypeError:  # they cannot be compared
        raise errors.wrong_type(name, values, CATEGORIES) from None


def _hashed(name: str, values: list[Any]) -> list[Any]:
    """Refuse what cannot be looked up in a dict."""
    for value in values:
        if not isinstance(value, Hashable):
            raise errors.wrong_type(name, value, CATEGORIES)
    return values


def _integers(x: Tensor) -> Tensor:
    if not x.dtype.is_integer or x.ndim != 1:
        raise errors.wrong_value("x", f"{x.dtype} {x.shape}", "a vector of integers")
    return x


def _check_keys(state: Any, names: set[str], operation: str) -> None:
    if not isinstance(state, dict) or state.keys() != names:
        found = list(state) if isinstance(state, dict) else state
        wrong = errors.wrong_value("state", found, f"a dict of {', '.join(sorted(names))}")
        raise wrong.locate(operation, [])


def standardize(x: Tensor) -> Standardize:
    """Fit Standardize to x: `scale = standardize(train)`, then `scale(train)`, `scale(test)`.

    >>> scale = ts.data.standardize(ts.tensor([[1.0], [3.0]]))
    >>> scale(ts.tensor([[1.0], [2.0]])).tolist()
    [[-1.0], [0.0]]
    """
    fitted: Standardize = Standardize().fit(x)
    return fitted


def min_max(x: Tensor, low: float = 0.0, high: float = 1.0) -> MinMax:
    """Fit MinMax to x.

    >>> ts.data.min_max(ts.tensor([[1.0], [3.0]]))(ts.tensor([[2.0]])).tolist()
    [[0.5]]
    """
    fitted: MinMax = MinMax(low, high).fit(x)
    return fitted


def one_hot(x: Tensor | Sequence[Hashable], unknown: str = "error") -> OneHot:
    """Fit OneHot to x.

    >>> ts.data.one_hot(["b", "a"])(["a", "a"]).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    return OneHot(unknown).fit(x)
