"""Documents and what is generated: pages and examples are true, and run."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import tessella as ts
from tessella import _core, compiler, data, diagrams, dtypes, namespace, nn, optim
from tessella.records import OPS

ROOT = Path(__file__).resolve().parent.parent


def test_generated_files_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"run `make generate`\n{done.stdout}{done.stderr}"


def test_pages_name_tests_that_exist() -> None:
    found: dict[str, int] = {}
    missing = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        named = re.findall(r"`(tests/[\w/]+\.(?:py|cpp))(?:::(\w+))?`", page.read_text())
        found[str(page.relative_to(ROOT / "docs"))] = len(named)
        for file, test in named:
            path = ROOT / file
            if not path.is_file() or (test and f"def {test}(" not in path.read_text()):
                missing.append(f"{page.name}: {file}::{test}")
    assert not missing
    assert found["capabilities.md"] > 20
    promises = [page for page in found if page.startswith("promises/")]
    assert len(promises) == 6 and all(found[page] > 2 for page in promises)


@pytest.mark.parametrize("file", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(file: str) -> None:
    """Those of docs/ are checked when the site is built."""
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / file).read_text()):
        assert (ROOT / target).is_file(), target


def test_every_capability_test_is_named_on_its_page() -> None:
    page = (ROOT / "docs" / "capabilities.md").read_text()
    missing = [
        f"{path.name}::{test}"
        for path in (ROOT / "tests").glob("test_capabilities*.py")
        for test in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
        if f"`tests/{path.name}::{test}`" not in page
    ]
    assert not missing


EXAMPLE_NAMES: dict[str, Any] = {"ts": ts, "nn": nn, "numpy": numpy}


def run_examples(name: str, text: str) -> int:
    """Run the examples of a text; give their number."""
    found = doctest.DocTestParser().get_doctest(text, dict(EXAMPLE_NAMES), name, None, None)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=report.append)
    assert not result.failed, "".join(report)
    return result.attempted


REGISTRY = ("register", "find", "by_id", "free_slots")
PLAIN: dict[str, Any] = {
    f"{owner}.{name}": value
    for owner, names in (
        ("ts", namespace.public_names()),
        ("Tensor", namespace.methods()),
        ("ts.dtypes", {name: getattr(dtypes, name) for name in REGISTRY}),
        ("UserDType", vars(dtypes.UserDType)),
    )
    for name, value in names.items()
    if inspect.isfunction(value) or isinstance(value, _core.Caller)
    if owner != "UserDType" or not name.startswith("_")
}
PLAIN |= {
    f"{owner.__name__}.{name}": value
    for owner in (ts.DynamicArray, diagrams.Graph, compiler.Compiled)
    for name, value in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_")
}
PLAIN |= {f"data.{name}": getattr(data, name) for name in data.__all__}
PLAIN |= {
    f"{owner.__name__}.{name}": value
    for owner in (
        data.DataLoader,
        data.Table,
        data.Standardize,
        data.OneHot,
        data.Text,
        ts.text.Tokenizer,
        ts.text.Stream,
        ts.models.LanguageModel,
    )
    for name, value in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_")
}
PLAIN |= {name: getattr(ts, name) for name in namespace.MEMBERS} | {"Graph": diagrams.Graph}
PLAIN |= {  # of packages whose members are classes and functions
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (
        nn,
        nn.init,
        nn.utils,
        optim,
        optim.lr_scheduler,
        ts.io,
        ts.metrics,
        ts.models,
        ts.text,
    )
    for name in package.__all__
    if not inspect.ismodule(getattr(package, name))
}
PLAIN |= {
    f"{owner.__name__}.{name}": getattr(owner, name)
    for owner, names in (
        (ts.Generator, ("state_dict", "load_state_dict", "get_state", "set_state")),
        (ts.io.TensorFile, ("keys", "metadata", "get_tensor", "get_slice")),
        (ts.io.GGUFFile, ("get_tensor",)),
        (ts.text.Tokenizer, ("from_metadata", "from_file")),
    )
    for name in names
}
PLAIN |= {
    f"Optimizer.{name}": value
    for name, value in inspect.getmembers(optim.Optimizer, inspect.isfunction)
    if name in ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
    or name.startswith("register")
}
PLAIN |= {f"errors.{name}": getattr(ts.errors, name) for name in ("Err", "Ok", "expected")}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_plain_functions_show_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    assert run_examples(name, inspect.getdoc(PLAIN[name]) or "") > 0


@pytest.mark.parametrize("name", sorted(OPS))
def test_operations_explain_themselves(name: str) -> None:
    op = OPS[name]
    doc = op.function.__doc__ or ""
    assert doc.startswith(f"{op.name}(") and op.doc in doc and op.doc.endswith(".")
    run_examples(name, doc)


TOPICS = sorted(path.stem for path in ROOT.glob("docs/operations/*.md"))


@pytest.mark.parametrize("topic", TOPICS)
def test_operation_reference_has_an_example_for_every_operation_that_runs(topic: str) -> None:
    page = (ROOT / "docs" / "operations" / f"{topic}.md").read_text()
    entries = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert entries
    for entry in entries:
        name = entry.partition("\n")[0]
        assert run_examples(name, entry.replace("```", "")) > 0, name


def test_operation_reference_lists_every_operation_with_its_gradient() -> None:
    index = (ROOT / "docs" / "operations.md").read_text()
    pages = {topic: (ROOT / "docs" / "operations" / f"{topic}.md").read_text() for topic in TOPICS}
    for path, anchor in re.findall(r"\(operations/(\w+)\.md#([\w]+)\)", index):
        headings = re.findall(r"^## (.*)", pages[path], re.MULTILINE)
        assert anchor in [re.sub(r"[.\\]", "", heading).lower() for heading in headings]
    whole = "\n".join(pages.values())
    for name, op in OPS.items():
        if not (op.is_function or op.is_method):
            continue
        (entry,) = re.findall(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", whole, re.M | re.S)
        told = re.findall(r"^- gradient of (\w+): \S", entry, re.MULTILINE)
        rules = zip(op.operands, op.vjp, strict=False)
        assert told == [operand for operand, rule in rules if rule], name
        assert f"#{name.replace('.', '')})" in index


PAGES = ["README.md", "ARCHITECTURE.md",
         *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]  # fmt: skip


@pytest.mark.parametrize("file", [each for each in PAGES if "/operations" not in each])
def test_examples_of_a_page_run(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may build on each other."""
    monkeypatch.chdir(tmp_path)  # some write files
    text = (ROOT / file).read_text()
    blocks = re.findall(r"```(?:python|pycon)\n(.*?)```", text, re.DOTALL)
    run_examples(file, "\n".join(block for block in blocks if block.startswith(">>>")))
