"""The cost of small operations, in what does not wobble: instructions inside the core.

The counts are taken and stored by tools/instructions.py. They belong to one compiler and one
version of Python; with another there is nothing to compare, and the test says so.
"""

from __future__ import annotations

import pytest

import instructions
from tessella import _core

MOST_OVER = 1.05


def test_small_operations_take_no_more_instructions_than_stored() -> None:
    if instructions.find_valgrind() is None:
        pytest.skip("valgrind is not installed (Debian: valgrind)")
    if "avx2" not in _core.supported_isas():
        pytest.skip("the stored counts are for AVX2")
    stored = instructions.stored()
    if instructions.built_with() != stored["built with"]:
        pytest.skip(f"counts are for {stored['built with']}, this is {instructions.built_with()}")
    counts = instructions.count()
    assert counts.keys() == stored["counts"].keys()
    assert min(counts.values()) > 50, "the core's instructions were not counted"
    over = {
        name: f"{number}, stored {stored['counts'][name]}"
        for name, number in counts.items()
        if number > MOST_OVER * stored["counts"][name]
    }
    assert not over, "if it is worth it: tools/instructions.py --store"


PROFILE = """
ob=(1) /usr/bin/python3.11
fl=(1) file.c
fn=(1) caller
10 100
cob=(2) /lib/tessella/_core.so
cfn=(2) add
calls=3 20
+1 900
ob=(2)
fn=(2)
20 7
+2 5
* 4
cob=(1)
cfn=(3) malloc
calls=1 5
-3 50
-1 2
"""


def test_only_the_core_itself_is_counted() -> None:
    assert instructions.core_instructions(PROFILE) == 7 + 5 + 4 + 2
