"""Tests that every composite must pass, drawn from its declaration.

As for records: values against NumPy over the dtypes it has a meaning for, the same bits from any
layout, its errors, and wrong operands. A composite without a reference names the test that stands
for it.
"""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import (
    LAYOUTS,
    draw_operands,
    fast_path_off,
    lay_out,
    map_tensors,
    round_to,
    to_array,
    to_tensors,
)  # fmt: skip
from conftest import sampled, sampled_each
from reference import assert_same, epsilon, expected
from tessella.composites import COMPOSITES, Composite
from tessella.declarations import Case
from tessella.dtypes import DTYPES, DType
from tessella.spellings import ABSENT

ROOT = Path(__file__).resolve().parent.parent
NAMES = [name for name, each in COMPOSITES.items() if each.ref]


def prepared(each: Composite, case: Case, dtype: DType) -> list[Any]:
    """Give the operands of a call as tensors."""
    return to_tensors(each, draw_operands(each, case, dtype), dtype)


def supports(each: Composite, case: Case, dtype: DType) -> bool:
    """Tell whether a call has a meaning for a dtype."""
    try:
        each.function(*prepared(each, case, dtype), **case.params)
    except ts.errors.DTypeMismatch:
        return False
    return True


def leaves(value: Any) -> list[Any]:
    """Give the parts of a result that is a tuple, or the result itself."""
    return (
        [x for part in value for x in leaves(part)] if isinstance(value, tuple | list) else [value]
    )


def label(value: Any) -> str:
    """Name a parameter of a test."""
    return value.name if isinstance(value, DType) else str(value)


@pytest.mark.parametrize("name", list(COMPOSITES))
def test_composite_has_a_reference_or_names_its_test(name: str) -> None:
    each = COMPOSITES[name]
    assert bool(each.ref) != bool(each.tested), "it needs ref= with samples=, or tested="
    if each.ref:
        assert each.samples, "it needs samples= for the comparison with ref"
    else:
        assert (ROOT / each.tested.partition("::")[0]).is_file(), f"there is no {each.tested}"
    assert each.doc.endswith("."), "its docstring begins with a sentence"
    assert each.example, "its docstring needs an example that runs: >>> ..."
    if each.tested:
        text = (ROOT / each.tested.partition("::")[0]).read_text()
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", text), (
            "the named test does not mention it"
        )


@pytest.mark.parametrize("name", list(COMPOSITES))
def test_function_and_method_are_one_object(name: str) -> None:
    each = COMPOSITES[name]
    for spelling in (name, *each.aliases):
        if each.is_function:
            assert attrgetter(spelling)(ts) is each.function
        else:
            assert getattr(ts, spelling, None) is not each.function
        if each.is_method and f"x.{spelling}" not in ABSENT:
            assert ts.Tensor.__dict__[spelling] is each.function
        else:
            assert ts.Tensor.__dict__.get(spelling) is not each.function


@pytest.mark.parametrize(("name", "dtype"), sampled_each(NAMES, DTYPES, 8), ids=label)
def test_composite_equals_the_reference(name: str, dtype: DType) -> None:
    each = COMPOSITES[name]
    for case in each.samples:
        if supports(each, case, dtype):
            check(each, case, dtype)


@pytest.mark.parametrize("name", NAMES)
def test_composite_has_a_meaning_for_some_dtype(name: str) -> None:
    each = COMPOSITES[name]
    assert all(any(supports(each, case, dtype) for dtype in DTYPES) for case in each.samples)


def check(each: Composite, case: Case, dtype: DType) -> None:
    """Compare the parts of one result with NumPy's."""
    operands = draw_operands(each, case, dtype)
    results = leaves(each.function(*to_tensors(each, operands, dtype), **case.params))
    if each.ulps and (dtype.is_floating or dtype.is_complex):
        operands = [widened(x) for x in operands]
    operands = [map_tensors(to_array, x) for x in operands]
    references = expected(each, operands, case.params)
    wanted = leaves(references if isinstance(references, tuple | list) else (references,))
    assert len(results) == len(wanted), case
    scale = largest(wanted)
    if each.ulps and not each.matrices:
        # Sums may cancel, and are off by units of their terms: without signs they show the size.
        sizes = expected(each, [magnitudes(x) for x in operands], case.params)
        scale = max(scale, largest(leaves(sizes if isinstance(sizes, tuple | list) else (sizes,))))
    for got, want in zip(results, wanted, strict=True):
        compare(each, got, np.asarray(want), scale)


def magnitudes(x: Any) -> Any:
    """Give arrays of floats without their signs; what is no such array stays itself."""
    if isinstance(x, list):
        return [magnitudes(each) for each in x]
    return np.abs(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x


def largest(parts: list[Any]) -> float:
    """Give the largest finite magnitude."""
    finite = [np.abs(part)[np.isfinite(part)] for part in map(np.asarray, parts)]
    return max((float(part.max()) for part in finite if part.size), default=0.0)


def widened(x: Any) -> Any:
    """Give floats as doubles; what is no array stays itself."""
    if isinstance(x, list):
        return [widened(each) for each in x]
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc":
        return x
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def compare(each: Composite, got: Any, want: np.ndarray[Any, Any], scale: float) -> None:
    """Compare one part: exactly, or within the units of `scale` that the declaration allows."""
    if not isinstance(got, ts.Tensor):
        assert np.all(got == want) or (np.isnan(got) and np.isnan(want))
        return
    assert got.shape == want.shape
    if not (got.dtype.is_floating or got.dtype.is_complex) or each.ulps == 0:
        assert_same(to_array(got), round_to(want, got.dtype))
        return
    found = to_array(got).astype("complex128" if got.dtype.is_complex else "float64")
    # A sum of n terms is off by about sqrt(n) units of the largest partial sum: 16 covers samples.
    allowed = 16 * each.ulps * epsilon(got.dtype) * max(scale, 1e-30)
    rounded = round_to(want, got.dtype)
    with np.errstate(all="ignore"):
        near = np.abs(found - want) <= allowed
    near |= (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    assert near.all(), (found[~near][:3], want[~near][:3])


@pytest.mark.parametrize(("name", "layout"), sampled_each(NAMES, LAYOUTS, 2))
def test_composite_gives_the_same_bits_from_any_layout(name: str, layout: str) -> None:
    each = COMPOSITES[name]
    for dtype in sampled(DTYPES, 2):
        for case in each.samples:
            if case.layouts == "contiguous" or not supports(each, case, dtype):
                continue
            strided = lay_out(each, layout, prepared(each, case, dtype))
            plain = map_tensors(lambda x: x.clone(), strided)
            pair = (each.function(*xs, **case.params) for xs in (strided, plain))
            for got, want in zip(*map(leaves, pair), strict=True):
                if isinstance(got, ts.Tensor):
                    assert_same(to_array(got), to_array(want))
                else:
                    assert got == want


ERRORS = [(name, case) for name, each in COMPOSITES.items() for case in each.errors]


@pytest.mark.parametrize(("name", "case"), ERRORS)
def test_error_names_the_composite_the_place_and_the_cure(name: str, case: Case) -> None:
    each = COMPOSITES[name]
    operands = prepared(each, case, ts.dtypes.BY_NAME[case.dtype])
    with pytest.raises(ts.errors.TessellaError) as caught:
        each.function(*operands, **case.params)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith(f"{each.title}: ")
    assert re.search(case.match, first), first
    assert any(line.startswith("  hint: ") and len(line) > 12 for line in rest)
    assert any(line.startswith("  at test_composites.py:") for line in rest)
    assert any(line.startswith("    ") for line in rest), "no operands are shown"


def outcome(function: Any, args: list[Any], params: dict[str, Any]) -> list[Any]:
    """Give all that one can see of a call: bits and dtypes of its results, or its error."""
    try:
        results = leaves(function(*args, **params))
    except ts.errors.TessellaError as error:
        return [type(error), str(error)]
    return [(x.dtype, x.shape, to_array(x).tobytes()) if isinstance(x, ts.Tensor) else repr(x)
            for x in results]  # fmt: skip


@pytest.mark.parametrize("name", [n for n, e in COMPOSITES.items() if e.samples or e.errors])
def test_what_the_core_calls_is_what_python_sorts(name: str) -> None:
    each = COMPOSITES[name]
    dtypes = (ts.float32, ts.int64, ts.bool, ts.complex64)
    calls = [(case, dtype) for case in each.samples for dtype in dtypes]
    calls += [(case, ts.dtypes.BY_NAME[case.dtype]) for case in each.errors]
    for case, dtype in calls:
        args, named = prepared(each, case, dtype), {}
        if not each.rest:
            named = dict(zip(each.parameters, args, strict=False))
        for call in ((args, case.params), ([], named | case.params)):
            plain = outcome(each.function, *call)
            with fast_path_off():
                assert outcome(each.function, *call) == plain, call


@pytest.mark.parametrize("wrong", [None, "text", object()], ids=["None", "str", "object"])
@pytest.mark.parametrize("name", [n for n, e in COMPOSITES.items() if e.operands and e.samples])
def test_operand_of_a_wrong_type_is_refused(name: str, wrong: Any) -> None:
    each = COMPOSITES[name]
    assert each.operands[0] in (each.rest, *list(each.parameters)[:1])
    operands = draw_operands(each, each.samples[0], ts.float32)
    with pytest.raises(ts.errors.ArgumentError, match=f"^{each.title}: "):
        each.function(wrong, *to_tensors(each, operands, ts.float32)[1:], **each.samples[0].params)


@pytest.mark.parametrize("name", list(COMPOSITES))
def test_wrong_keyword_is_refused_with_the_signature(name: str) -> None:
    with pytest.raises(ts.errors.ArgumentError, match="unknown keyword nonsense") as caught:
        COMPOSITES[name].function(nonsense=1)
    assert f"the signature is {name}(" in str(caught.value)
