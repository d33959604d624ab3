"""The kind Host: operations that NumPy computes, by LAPACK and pocketfft.

NumPy is imported when the first of them runs; nothing else needs it. Their bits are NumPy's and
outside the promise; operands are handed over contiguous, so that strides at least do not matter.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import DType
from tessella.exchange import need_numpy, share
from tessella.hints import Any, Callable, Sequence
from tessella.kinds import cast, common_dtype
from tessella.ops.creation import copy_of
from tessella.records import Op

_MOST_AXES = 62  # that NumPy has room for beside those of a result

OUTSIDE = "call it outside of the function, and pass what it gives"
Failure = Callable[[str, bool], errors.TessellaError]


def to_array(np: Any, x: Tensor) -> Any:
    """Give the elements of a tensor as a contiguous array."""
    plain = x.detach()
    return np.asarray(memoryview(plain if plain.is_contiguous else copy_of(plain)))


def need_precision(dtype: DType) -> None:
    """Refuse integers and halves."""
    if not (dtype.is_complex or (dtype.is_floating and dtype.itemsize > 2)):
        hint = "defined for float32, float64 and complex numbers; use astype(ts.float32)"
        raise errors.no_kernel(dtype, hint)


class Host(Op):
    """Computed by NumPy, which is imported at the first call; the bits are NumPy's.

    `compute` gets NumPy, the operands as arrays and the parameters; `shape` gives the shape of the
    result from the operands. `failure` makes the error for a matrix that LAPACK refuses.
    """

    no_capture = "NumPy computes it"

    def __init__(
        self, name: str, *, compute: Callable[..., Any], shape: Callable[..., Sequence[int]],
        operands: tuple[str, ...] = ("x",), params: dict[str, Any] | None = None,
        normalise: Callable[..., dict[str, Any]] | None = None, failure: Failure | None = None,
        dtype: Callable[[DType], DType] = lambda dtype: dtype, **record: Any,
    ) -> None:  # fmt: skip
        self.operands = operands
        self.params = params or {}
        self.compute = compute
        self.shape = shape
        self.normalise = normalise
        self.failure = failure
        self.result_dtype = dtype
        super().__init__(name, **record)

    def prepare(
        self, inputs: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Promote to a dtype that LAPACK has."""
        inputs, params = super().prepare(inputs, params)
        for name, x in zip(self.operands, inputs, strict=True):
            if x.ndim > _MOST_AXES:
                raise errors.wrong_value(f"{name}.ndim", x.ndim, f"at most {_MOST_AXES}")
        dtype = self.computed_dtype(common_dtype(self.operands, inputs))
        if self.normalise is not None:
            params = self.normalise(**params)
        return [cast(x, dtype) for x in inputs], params

    def computed_dtype(self, dtype: DType) -> DType:
        """Refuse integers and halves: what precision is meant is the caller's to say."""
        need_precision(dtype)
        return dtype

    def infer(self, inputs: list[Any], params: dict[str, Any]) -> tuple[Sequence[int], DType]:
        """Ask the record's rule."""
        return self.shape(*inputs, **params), self.result_dtype(inputs[0].dtype)

    def run(self, out: Tensor, inputs: list[Any], params: dict[str, Any]) -> None:
        """Hand over contiguous arrays, and copy what comes back."""
        _core.refuse_capture("what runs in NumPy", OUTSIDE)
        np = need_numpy()
        if out.size == 0:
            return
        arrays = [to_array(np, x) for x in inputs]
        with np.errstate(all="ignore"):
            try:
                found = self.compute(np, *arrays, **params)
            except np.linalg.LinAlgError:
                raise self._explain(np, arrays, params) from None
        found = np.asarray(found, dtype=out.dtype.name, order="C")
        assert found.shape == out.shape, (self.name, found.shape, out.shape)
        _core.copy(out, share(found, True), True)

    def _explain(self, np: Any, arrays: list[Any], params: dict[str, Any]) -> Exception:
        """Find the first matrix of the batch that is refused, and say why."""
        assert self.failure is not None, self.name
        first, *rest = arrays
        for index in np.ndindex(first.shape[:-2]):
            others = [x if x.ndim < 2 else np.zeros_like(first[index]) for x in rest]
            try:
                self.compute(np, first[index], *others, **params)
            except np.linalg.LinAlgError:
                place = f"[{', '.join(map(str, index))}]" if index else ""
                is_finite = bool(np.isfinite(first[index]).all())
                return self.failure(self.operands[0] + place, is_finite)
        return self.failure(self.operands[0], bool(np.isfinite(first).all()))
