"""What is loaded in the middle of a compiled function is not the function's work."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tessella as ts

PLAYS = {
    "a subpackage": """
    def play(wrap):
        call = wrap(lambda x, y: ts.nn.functional.cross_entropy(x, y))
        return [call(ts.randn(4, 3), ts.randint(0, 3, (4,))) for _ in range(6)]
    """,
    "a method": """
    def play(wrap):
        call = wrap(lambda x: x.median(axis=0) + ts.linalg.vector_norm(x))
        return [call(ts.randn(4, 3)) for _ in range(6)]
    """,
    "a module of the user": """
    def play(wrap):
        sys.modules.pop("helper", None)
        def f(x):
            import helper
            return x * helper.scale + helper.drawn
        call = wrap(f)
        return [call(ts.randn(3)) for _ in range(6)]
    """,
    "a module that draws between drawings": """
    def play(wrap):
        sys.modules.pop("helper", None)
        def f(x):
            y = x * ts.rand(3)
            import helper
            return y + ts.rand(3) + helper.number
        call = wrap(f)
        return [call(ts.randn(3)) for _ in range(6)]
    """,
    "a module that cannot be loaded": """
    def play(wrap):
        def f(x):
            try:
                import broken
            except ValueError:
                return x * 2
            return x
        call = wrap(f)
        return [call(ts.randn(3)) for _ in range(6)]
    """,
}

HELPER = """
import tessella as ts
drawn = ts.rand(3)
scale = ts.tensor([1.0, 2.0, 3.0])
number = drawn.sum().item()
kept = [drawn * 2]
inner = ts.compile(lambda x: x + 1)
ready = [inner(drawn) for _ in range(4)]
"""

FRAME = """
import sys
import time
sys.path.insert(0, {folder!r})
import tessella as ts
{play}
def eager(f):
    return f
results = []
for wrap in (ts.compile, eager):
    ts.manual_seed(3)
    results.append([x.tolist() for x in play(wrap)] + [ts.rand(2).tolist()])
assert results[0] == results[1], results
"""


@pytest.mark.parametrize("label", PLAYS)
def test_the_first_use_of_a_module_inside(label: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "broken.py").write_text("import tessella as ts\nx = ts.ones(2)\nraise ValueError")
    lines = [line[4:] for line in PLAYS[label].splitlines()]
    code = FRAME.format(folder=str(tmp_path), play="\n".join(lines))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_function_that_loads_a_module_is_recorded_afterwards(tmp_path: Path) -> None:
    code = """
    import tessella as ts
    f = ts.compile(lambda x: ts.nn.functional.softmax(x, axis=0))
    for _ in range(3):
        f(ts.ones(3))
    assert f.program is not None and len(f.program.instructions) == 1, f.program
    """
    lines = "\n".join(line[4:] for line in code.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_callbacks_of_the_collector_are_not_the_functions_work() -> None:
    seen: list[float] = []

    def callback(phase: str, info: dict[str, int]) -> None:
        seen.append(time.perf_counter() + float(ts.ones(1)))

    @ts.compile
    def twice(x: ts.Tensor) -> ts.Tensor:
        gc.collect()
        return x * 2

    gc.callbacks.append(callback)
    try:
        assert twice(ts.ones(2)).tolist() == twice(ts.ones(2)).tolist() == [2.0, 2.0]
    finally:
        gc.callbacks.remove(callback)
    assert seen and len(twice.programs) == 1


FORMS = """
from . import settings as own

def relative(x):
    from .settings import k
    return x * k

def module(x):
    from . import settings
    return x * settings.k

def upwards(x):
    from ..{name}.inner import deep
    return x * deep.k

def whole(x):
    import {name}.settings
    return x * {name}.settings.k

def named(x):
    import {name}.inner.deep as found
    return x * found.k
"""


@pytest.mark.parametrize("form", ["relative", "module", "upwards", "whole", "named"])
def test_what_is_imported_inside_changes(form: str, tmp_path: Path) -> None:
    for folder in ("outer", "outer/helpers", "outer/helpers/inner"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "outer/helpers/settings.py").write_text("k = 2.0")
    (tmp_path / "outer/helpers/inner/deep.py").write_text("k = 2.0")
    text = FORMS.replace("..{name}", "..helpers").format(name="outer.helpers")
    (tmp_path / "outer/helpers/forms.py").write_text(text)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import tessella as ts
import outer.helpers.forms as forms, outer.helpers.inner.deep as deep
call, results = ts.compile(forms.{form}), []
for i in range(8):
    forms.own.k = deep.k = 2.0 + i // 4
    results.append(call(ts.ones(1)).item())
assert results == [2.0] * 4 + [3.0] * 4, results
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
