"""Types: public signatures say what they take and give; checkers find no fault in a program."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from generate import ROOT, tidy
from signatures import SOURCES, public_names, signatures, words_of
from stub_places import place_stubs

PROGRAM = Path(__file__).with_name("typed_program.py")

# What users import from. What they reach further is found by the signatures.
PUBLIC = """
tessella autograd compiler data diagrams fft io linalg memory metrics models nn nn.functional
nn.init nn.ragged nn.toolbox optim optim.lr_scheduler testing text trees outcomes
"""
# What the engine is made of: users may come across such objects, and call nothing of them.
ENGINE = {"tessella.compiler.program", "tessella.declarations", "tessella.optim.updates",
          "tessella.records"}  # fmt: skip


def modules() -> list[str]:
    """Give the public modules by their whole names."""
    first, *others = PUBLIC.split()
    return [first, *(f"tessella.{name}" for name in others)]


def test_no_public_signature_says_any() -> None:
    found = [
        f"{module}.{name}: {ast.unparse(said)}"
        for module, name, annotations in signatures(modules())
        if module not in ENGINE
        for said in annotations
        if "Any" in words_of(said)
    ]
    assert not found, "\n".join(found)


def test_the_signatures_are_those_that_users_see() -> None:
    """What the test above looks at: functions, methods, classes behind names, aliases."""
    seen = {f"{module}.{name}" for module, name, _ in signatures(modules())}
    assert len(seen) > 2500
    assert seen >= {
        "tessella.matmul", "tessella._core.Tensor.sum", "tessella.nn.modules.Module.__call__",
        "tessella.nn.linear.Linear.__init__", "tessella.linalg.norm", "tessella.training.fit",
        "tessella.optim.adam.Adam.__init__", "tessella.compiler.run.Compiled.plan",
        "tessella.data.loaders.DataLoader.__iter__", "tessella.dynamic.DynamicArray.extend",
        "tessella.transforms.grad", "tessella.models.texts.LanguageModel.write",
        "tessella.hints.Nested", "tessella.io.objects.load", "tessella.hooks.Handle.remove",
    }  # fmt: skip


@pytest.mark.parametrize("code", [
    "def f(x: Any) -> None: ...", "def f() -> dict[str, Any]: ...", "def f(*xs: 'Any'): ...",
    "def f(**options: Any): ...", "X: TypeAlias = list[Any]\ndef f(x: X): ...",
    "class f:\n    def g(self) -> Any: ...", "class A:\n    x: Any\nclass f(A): ...",
    "class f:\n    def __init__(self) -> None:\n        self.x: list[Any] = []",
    "@overload\ndef f(x: int) -> Any: ...\ndef f(x): ...",
])  # fmt: skip
def test_any_is_found_wherever_it_hides(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signatures.tree_of", lambda module: ast.parse(code))
    monkeypatch.setattr("signatures.names_of", __import__("signatures").names_of.__wrapped__)
    said = [each for _, _, annotations in signatures(["tessella.x"]) for each in annotations]
    assert any("Any" in words_of(each) for each in said)


def test_every_public_module_is_looked_at() -> None:
    from tessella import namespace

    public = {
        "tessella",
        *(f"tessella.{name}" for name in namespace.MODULES + namespace.SUBPACKAGES),
    }
    assert public <= set(modules())
    assert all(public_names(module) for module in modules())


def test_modules_that_are_elsewhere_have_their_stubs() -> None:
    """Type checkers know `import tessella.utils.data`, and what it gives at run time."""
    stale = [
        name
        for name, text in place_stubs().items()
        if (ROOT / name).read_text() != tidy(text, name)
    ]
    assert not stale, "run `make generate`"


def test_stubs_alone_are_no_packages_at_run_time(tmp_path: Path) -> None:
    """A folder of stubs would be an empty package, were it not for the finder."""
    code = """
        import tessella.backends.cudnn, tessella.cuda, tessella.nn.utils.rnn, tessella.utils.data
        import tessella as ts
        assert ts.utils.data is ts.data and tessella.nn.utils.rnn.pad_sequence
        assert not hasattr(ts.utils, "nothing") and not ts.backends.cudnn.is_available()
        assert tessella.nn.utils is tessella.nn.toolbox and ts.cuda.device_count() == 0
    """
    run("-c", textwrap.dedent(code), cwd=tmp_path)


def run(*command: str, cwd: Path) -> None:
    """Run a program on the sources of the package; what it prints tells why it failed."""
    paths = {"PYTHONPATH": str(SOURCES), "MYPYPATH": str(SOURCES)}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env={**os.environ, **paths}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sample_program_runs(tmp_path: Path) -> None:
    run(str(PROGRAM), cwd=tmp_path)


def test_mypy_finds_no_fault_in_the_program() -> None:
    root = PROGRAM.parent.parent  # whose cache of the package is used
    run("-m", "mypy", "--strict", str(PROGRAM), cwd=root)


def test_basedpyright_finds_no_fault_in_the_program(tmp_path: Path) -> None:
    """In its own mode, `recommended`, where warnings count too."""
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps({
        "include": [str(PROGRAM)], "extraPaths": [str(SOURCES)], "pythonVersion": "3.11",
        "typeCheckingMode": "recommended", "failOnWarnings": True,
    }))  # fmt: skip
    run("-m", "basedpyright", "-p", str(project), "--pythonpath", sys.executable, cwd=tmp_path)
