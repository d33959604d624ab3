"""Transforms over several axes, of Hermitian signals, and the order of frequencies."""

from __future__ import annotations

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Axes, Device, DTypeLike, Ints, composite
from tessella.declarations import case
from tessella.dtypes import as_dtype, float32
from tessella.fft.transforms import SWAPPED, fft, ifft, irfft, rfft
from tessella.hints import Any, Callable, Literal
from tessella.kinds import cast
from tessella.ops.creation import arange
from tessella.ops.elementwise import conj, conjugate
from tessella.ops.joining import concat, roll
from tessella.ops.reduce import reduced_axes

# Each axis adds roundings; the reference is computed in double precision.
_SEVERAL: dict[str, Any] = {
    "home": "fft", "ulps": 8,
    "samples": [case((3, 4)), case((2, 3, 4), axes=(0, 2)), case((3, 4), s=(2, 6), axes=(0, 1)),
                case((3, 4), axes=(-1,), norm="ortho"), case((2, 3), norm="forward")],
    "errors": [case((3, 4), axes=2, match="axis 2 is out of range"),
               case((3, 4), s=(2,), axes=(0, 1), match=r"s is \(2,\)"),
               case((3, 4), axes=(0, 0), match="repeated axis 0"),
               case((3, 4), norm="x", match="norm is 'x'")],
}  # fmt: skip
_ONE: dict[str, Any] = {
    "home": "fft",
    "errors": [case((4,), axis=1, match="axis 1 is out of range"), case((4,), n=0, match="n is 0")],
}


def _ref(name: str) -> Callable[..., Any]:
    def ref(np: Any, x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return getattr(np.fft, name)(x, s, axes, norm)

    return ref


def _axes_and_sizes(x: Tensor, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    """Pair the axes with the lengths asked for; s alone means the last axes."""
    if axes is None and s is not None:
        axes = tuple(range(-len(s), 0))
    places = reduced_axes(x, axes)
    if s is not None and len(s) != len(places):
        raise errors.wrong_value("s", s, f"{len(places)} sizes, one for each axis")
    return list(zip(places, s if s is not None else [None] * len(places), strict=True))


@composite(no_capture="NumPy computes it", ref=_ref("fftn"), **_SEVERAL)
def fftn(
    x: Tensor, *, s: Ints | None = None, axes: Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Transform along several axes, or all.

    >>> ts.fft.fftn(ts.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    pairs = _axes_and_sizes(x, s, axes)
    for axis, n in reversed(pairs):
        x = fft(x, n, axis, norm)
    return x if pairs else fft(x[..., None], 1)[..., 0]


@composite(no_capture="NumPy computes it", ref=_ref("ifftn"), **_SEVERAL)
def ifftn(
    x: Tensor, *, s: Ints | None = None, axes: Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Invert fftn.

    >>> ts.fft.ifftn(ts.fft.fftn(ts.eye(2))).tolist()
    [[(1+0j), 0j], [0j, (1+0j)]]
    """
    pairs = _axes_and_sizes(x, s, axes)
    for axis, n in reversed(pairs):
        x = ifft(x, n, axis, norm)
    return x if pairs else ifft(x[..., None], 1)[..., 0]


def _need_axis(pairs: list[Any]) -> None:
    if not pairs:
        raise errors.wrong_value("axes", (), "at least one axis")


@composite(no_capture="NumPy computes it", ref=_ref("rfftn"), **_SEVERAL)
def rfftn(
    x: Tensor, *, s: Ints | None = None, axes: Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Transform real numbers along several axes: half the terms along the last of them.

    >>> ts.fft.rfftn(ts.arange(8.0).reshape(2, 4)).tolist()
    [[(28+0j), (-4+4j), (-4+0j)], [(-16+0j), 0j, 0j]]
    """
    pairs = _axes_and_sizes(x, s, axes)
    _need_axis(pairs)
    x = rfft(x, pairs[-1][1], pairs[-1][0], norm)
    for axis, n in reversed(pairs[:-1]):
        x = fft(x, n, axis, norm)
    return x


@composite(no_capture="NumPy computes it", ref=_ref("irfftn"), **_SEVERAL)
def irfftn(
    x: Tensor, *, s: Ints | None = None, axes: Axes = None,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Invert rfftn: real numbers, along the last axis 2 * (m - 1) of m terms unless s says so.

    >>> ts.fft.irfftn(ts.fft.rfftn(ts.ones(2, 4))).shape
    (2, 4)
    """
    pairs = _axes_and_sizes(x, s, axes)
    _need_axis(pairs)
    for axis, n in pairs[:-1]:
        x = ifft(x, n, axis, norm)
    return irfft(x, pairs[-1][1], pairs[-1][0], norm)


@composite(
    no_capture="NumPy computes it",
    ref=lambda np, x, **params: np.fft.hfft(x, **params),
    samples=[case((5,)), case((3, 4), axis=0, n=5), case((4,), n=4, norm="ortho")], **_ONE,
)  # fmt: skip
def hfft(
    x: Tensor, *, n: int | None = None, axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Transform a signal that is Hermitian, of which x is the first half: the spectrum is real.

    >>> ts.fft.hfft(ts.ones(2, dtype=ts.complex64)).tolist()
    [2.0, 0.0]
    """
    return irfft(conjugate(x), n, axis, SWAPPED[norm])


@composite(
    no_capture="NumPy computes it",
    ref=lambda np, x, **params: np.fft.ihfft(x, **params),
    samples=[case((6,)), case((3, 4), axis=0, n=5), case((4,), n=3, norm="ortho")], **_ONE,
)  # fmt: skip
def ihfft(
    x: Tensor, *, n: int | None = None, axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] = "backward",
) -> Tensor:  # fmt: skip
    """Invert hfft: the first half of a Hermitian signal from its real spectrum.

    >>> ts.fft.ihfft(ts.ones(2)).tolist()
    [(1-0j), -0j]
    """
    return conj(rfft(x, n, axis, SWAPPED[norm]))


# --- frequencies ---------------------------------------------------------------------------------

_FREQUENCIES: dict[str, Any] = {
    "home": "fft",
    "samples": [case(8), case(5, d=0.1), case(1)],
    "errors": [case(0, match="n is 0"), case(4, d=0.0, match="d is 0.0")],
}


def _spaced(counts: Tensor, n: int, d: float, dtype: Any) -> Tensor:
    kind = float32 if dtype is None else as_dtype(dtype)
    if not kind.is_floating:
        raise errors.no_kernel(kind, "frequencies are real numbers: float32 or float64")
    return cast(counts, kind) / (n * d)


def _check_spacing(n: int, d: float) -> None:
    if n < 1:
        raise errors.wrong_value("n", n, "at least 1")
    if d == 0:
        raise errors.wrong_value("d", d, "other than 0")


@composite(ref=lambda np, n, d=1.0: np.fft.fftfreq(n, d), **_FREQUENCIES)
def fftfreq(
    n: int, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Device | None = None
) -> Tensor:
    """Give the frequencies of fft's terms for samples d apart: first 0 and up, then negative ones.

    >>> ts.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    _check_spacing(n, d)
    counts = concat([arange((n + 1) // 2), arange(-(n // 2), 0)])
    return _spaced(counts, n, d, dtype)


@composite(ref=lambda np, n, d=1.0: np.fft.rfftfreq(n, d), **_FREQUENCIES)
def rfftfreq(
    n: int, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Device | None = None
) -> Tensor:
    """Give the frequencies of rfft's terms for samples d apart.

    >>> ts.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    _check_spacing(n, d)
    return _spaced(arange(n // 2 + 1), n, d, dtype)


_SHIFTS: dict[str, Any] = {
    "home": "fft", "ulps": 0,
    "samples": [case((5,)), case((3, 4)), case((3, 4), axes=1), case((2, 3, 5), axes=(0, -1))],
    "errors": [case((3,), axes=1, match="axis 1 is out of range")],
}  # fmt: skip


@composite(ref="fft.fftshift", **_SHIFTS)
def fftshift(x: Tensor, *, axes: Axes = None) -> Tensor:
    """Put the frequency 0 into the middle of axes, or of all.

    >>> ts.fft.fftshift(ts.arange(4)).tolist()
    [2, 3, 0, 1]
    """
    places = reduced_axes(x, axes)
    return roll(x, [x.shape[a] // 2 for a in places], places) if places else x


@composite(ref="fft.ifftshift", **_SHIFTS)
def ifftshift(x: Tensor, *, axes: Axes = None) -> Tensor:
    """Undo fftshift: the frequency 0 goes from the middle to the front.

    >>> ts.fft.ifftshift(ts.arange(3)).tolist()
    [1, 2, 0]
    """
    places = reduced_axes(x, axes)
    return roll(x, [-(x.shape[a] // 2) for a in places], places) if places else x
