"""Documents and what is generated: pages and examples are true, and run."""

from __future__ import annotations

import ast
import doctest
import fnmatch
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import tessella as ts
from offered import attributes_of_tensors, offered, offered_by_package, public_modules
from tessella import _core, compiler, data, diagrams, kinds, namespace, nn
from tessella.composites import COMPOSITES
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


PACKAGE = ROOT / "src" / "tessella"
REFERENCE = "\n".join(path.read_text() for path in ROOT.glob("docs/operations/*.md"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(node: Any, name: str) -> Iterator[tuple[str, str]]:
    """Give the docstrings with examples of a module and of all that is defined in it."""
    is_documented = isinstance(node, DOCUMENTED)
    if is_documented and ">>>" in (text := ast.get_docstring(node) or ""):
        yield name, text
    for child in ast.iter_child_nodes(node):
        inner = getattr(child, "name", None) if isinstance(child, ast.stmt) else None
        yield from docstrings(child, f"{name}.{inner}" if inner else name)


def documented() -> dict[str, str]:
    """Give every docstring of the package that has examples, by its place."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for name, text in docstrings(ast.parse(path.read_text()), module):
            found[name] = f"{found[name]}\n\n{text}" if name in found else text
    return found


def is_in_reference(text: str) -> bool:
    """Tell whether the examples of a docstring are on a page of docs/operations, which is run."""
    return text[text.index(">>>") :].strip() in REFERENCE


DOCSTRINGS = documented()


@pytest.mark.parametrize(
    "name", [name for name, text in DOCSTRINGS.items() if not is_in_reference(text)]
)
def test_examples_of_a_docstring_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    assert run_examples(name, DOCSTRINGS[name]) > 0


def texts_of(node: ast.AST) -> Iterator[str]:
    """Give the strings of a tree, but for those with names in braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from texts_of(child)


def test_no_example_of_the_sources_is_missed() -> None:
    """Each is part of a docstring, or of a record, whose examples are in docs/operations."""
    known = [*DOCSTRINGS.values(), *(op.example for op in OPS.values())]
    lines = {line.strip() for text in known for line in text.splitlines()}
    found = {
        line.strip()
        for path in PACKAGE.rglob("*.py")
        for text in texts_of(ast.parse(path.read_text()))
        for line in re.findall(r"^ *(>>> .*)", text, re.MULTILINE)
    }
    assert len(found) > 1000 and not found - lines


# Classes whose every public method shows an example.
SHOWN = (
    ts.DynamicArray, compiler.Compiled, data.DataLoader, data.OneHot, data.Standardize, data.Table,
    data.Text, diagrams.Graph, ts.models.LanguageModel, ts.text.Stream, ts.text.Tokenizer,
)  # fmt: skip
PLAIN: dict[str, Any] = {f"Tensor.{name}": value for name, value in namespace.methods().items()}
PLAIN |= {f"ts.{name}": value for name, value in offered_by_package().items()}
PLAIN |= {
    f"ts.{module}.{name}": value
    for module in public_modules()
    for name, value in offered(module).items()
}
PLAIN |= {
    f"{owner.__name__}.{name}": value
    for owner in SHOWN
    for name, value in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_")
}


def is_plain(value: Any) -> bool:
    """Tell whether Python defines it, and it is no exception; records are looked at below."""
    if inspect.isclass(value) and issubclass(value, ts.errors.TessellaError):
        return False
    is_defined = inspect.isfunction(value) or inspect.isclass(value)
    home = getattr(value, "__module__", "")
    return isinstance(value, _core.Caller) or (
        is_defined and home.startswith("tessella.") and home != "tessella._core"
    )


def test_public_functions_and_classes_show_an_example() -> None:
    plain = {name: value for name, value in PLAIN.items() if is_plain(value)}
    assert len(plain) > 800
    assert not [name for name, value in plain.items() if ">>>" not in (inspect.getdoc(value) or "")]


@pytest.mark.parametrize("name", sorted(OPS))
def test_operations_explain_themselves(name: str) -> None:
    op = OPS[name]
    doc = op.function.__doc__ or ""
    assert doc.startswith(f"{op.name}(") and op.doc in doc and op.doc.endswith(".")
    if run_examples(name, doc) == 0 and (op.is_method or op.is_function):
        page = ROOT / doc.splitlines()[-1].removeprefix("Examples: ")
        assert f"## {op.name}\n" in page.read_text().replace("\\", ""), "it names its page"


OWNERS = {f"{module}.{name}": value for module in ("nn", "optim", "optim.lr_scheduler")
          for name, value in offered(module).items() if inspect.isclass(value)}  # fmt: skip
# What takes one or two says so in its first sentence.
TAKING = [name for name, each in OWNERS.items() if len(inspect.signature(each).parameters) > 2]


@pytest.mark.parametrize("name", TAKING)
def test_parameters_of_a_class_are_explained(name: str) -> None:
    """By the class, by a public one that it extends, or by the module, of what many take."""
    owner = OWNERS[name]
    taken = [each for each in inspect.signature(owner).parameters if each[0] != "_"]
    homes = [each for each in owner.__mro__ if each in OWNERS.values()]
    text = "\n".join(each.__doc__ or "" for each in (*homes, ts.nn, ts.optim))
    told = re.sub(r"^ *(>>>|\.\.\.).*", "", text, flags=re.MULTILINE)
    assert not [each for each in taken if not re.search(rf"\b{each}\b", told)]


def test_properties_of_tensors_explain_themselves() -> None:
    for name in attributes_of_tensors():
        assert (getattr(ts.Tensor, name).__doc__ or "").strip(), name


def test_members_of_layouts_are_on_their_page() -> None:
    said = re.findall(r"^\| `(\w+)", (ROOT / "docs/api/layouts.md").read_text(), re.MULTILINE)
    assert said == sorted(each for each in vars(ts.layouts.Layout) if not each.startswith("_"))


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
        page = pages[op.module.rpartition(".")[2]] if name == "where" else whole  # and a method
        (entry,) = re.findall(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
        told = re.findall(r"^- gradient of (\w+): \S", entry, re.MULTILINE)
        rules = zip(op.operands, op.vjp, strict=False)
        assert told == [operand for operand, rule in rules if rule], name
        assert told or "\n- no gradient: " in entry, name
        assert f"#{name.replace('.', '')})" in index


def test_operation_reference_shows_calls_as_they_are_written() -> None:
    calls = re.findall(r"^## .*\n\n`(.*)`$", REFERENCE, re.MULTILINE)
    assert len(calls) > 500 and "x[key]" in calls and "x.at(*index)" in calls
    assert not [call for call in calls if re.search(r"\bself\b|\w: |^x\.\w+\(x\b", call)]
    assert not [call for call in calls if not re.match(r"(?:ts|x)\.[\w.]+\(|x\[", call)]


def test_introductions_of_the_operation_reference_name_no_file() -> None:
    index = (ROOT / "docs" / "operations.md").read_text()
    found = re.findall(r"^## \[.*\]\(.*\)\n\n(.*)\n\n\[", index, re.MULTILINE)
    assert len(found) == len(TOPICS)
    assert not [text for text in found if re.search(r"\w\.(?:py|def|cpp)\b", text)]


@pytest.mark.parametrize("name", sorted(COMPOSITES))
def test_operation_reference_says_what_the_gradient_of_a_composite_is(name: str) -> None:
    each = COMPOSITES[name]
    if each.is_function or each.is_method:
        (entry,) = re.findall(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", REFERENCE, re.M | re.S)
        (told,) = re.findall(r"^- ((?:no )?gradient.*)", entry, re.MULTILINE)
        known = ("gradient: of its parts", "gradient: by a kernel of its own")
        assert told in known or re.fullmatch(r"no gradient: \w.*", told)
        assert each.no_gradient in told


COSTS = {"worth_sharing_ns": "Below {:g} µs it stays", "helper_share_ns": "thread needs {:g} µs",
         "worth_waking_ns": "for some {:g} µs of work", "spin_ns": "spin for {:g} µs"}  # fmt: skip


@pytest.mark.parametrize("name", COSTS)
def test_the_page_of_threads_has_the_costs_of_the_pool(name: str) -> None:
    source = (ROOT / "src" / "core" / "threads.cpp").read_text()
    (cost,) = re.findall(rf"^constexpr int64_t {name} = ([\d']+);", source, re.MULTILINE)
    page = " ".join((ROOT / "docs" / "threads.md").read_text().split())
    assert COSTS[name].format(int(cost.replace("'", "")) / 1000) in page


PAGES = ["README.md", "DESCRIPTION.md", "ARCHITECTURE.md", "CONTRIBUTING.md",
         *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]  # fmt: skip

# The first lines of two blocks: the record of an operation that has no kernel, and is not run, and
# a composite. What they declare is looked at below.
RECORD, COMPOSITE = "softclip = unary(", "from tessella import errors"
TOUR = (ROOT / "docs" / "tour.py").read_text()  # test_tour.py runs it


def blocks_of(file: str) -> list[tuple[str, str]]:
    """Give the blocks of a page: the language, and the lines."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", (ROOT / file).read_text(), re.M | re.S)


@pytest.mark.parametrize("file", PAGES)
def test_blocks_of_a_page_are_set_as_what_they_are(file: str) -> None:
    """A console session is set as one, and no block escapes being run by how it is fenced."""
    blocks = blocks_of(file)
    fences = re.findall(r"^[ \t>]*(?:```|~~~)", (ROOT / file).read_text(), re.MULTILINE)
    assert fences == ["```"] * (2 * len(blocks))
    assert {language for language, _ in blocks} <= {"pycon", "python", "cpp", "sh", "text"}
    for language, text in blocks:
        assert (language == "pycon") == text.startswith(">>>"), text
        assert text.endswith("\n") and not text.endswith("\n\n"), text
        if language == "python":
            assert text.partition("\n")[0] in (RECORD, COMPOSITE) or text in TOUR, text


@pytest.mark.parametrize("file", [each for each in PAGES if "/operations" not in each])
def test_examples_of_a_page_run(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may build on each other."""
    monkeypatch.chdir(tmp_path)  # some write files
    run_examples(file, "\n".join(text for name, text in blocks_of(file) if name == "pycon"))


def block_of_the_architecture(first: str) -> str:
    """Give a block by its first line."""
    blocks = [text for _, text in blocks_of("ARCHITECTURE.md")]
    (block,) = [text for text in blocks if text.partition("\n")[0] == first]
    return block


def test_the_record_of_the_architecture_says_what_declarations_take() -> None:
    makers = [vars(owner).get("__init__") for owner in kinds.Unary.__mro__[:-1]]
    taken = {name for maker in makers if maker for name in inspect.signature(maker).parameters}
    (call,) = [
        node
        for node in ast.walk(ast.parse(block_of_the_architecture(RECORD)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "unary"
    ]
    said = {keyword.arg for keyword in call.keywords}
    assert said and said <= taken


def test_the_composite_of_the_architecture_does_what_it_declares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(COMPOSITES, "diff", COMPOSITES["diff"])  # the block puts its own there
    exec(block_of_the_architecture(COMPOSITE), {"__name__": "tessella.ops.own"})
    diff = COMPOSITES["diff"]
    assert len(diff.samples) > 1 and len(diff.errors) > 1
    for sample in diff.samples:
        x = ts.rand(*sample.shapes)
        want = getattr(numpy, str(diff.ref))(x.numpy(), **sample.params)
        numpy.testing.assert_array_equal(diff.function(x, **sample.params).numpy(), want)
    for wrong in diff.errors:
        with pytest.raises(ts.errors.TessellaError, match=f"^diff: .*{wrong.match}"):
            diff.function(ts.rand(*wrong.shapes), **wrong.params)
    monkeypatch.setattr(ts, "diff", diff.function)
    assert run_examples("diff", diff.example) == 1


def test_what_the_page_of_limits_calls_missing_is_missing() -> None:
    _, _, rest = (ROOT / "docs/limits.md").read_text().partition("## What PyTorch has")
    everywhere = {each for name in public_modules() for each in offered(name)}
    everywhere |= {*offered_by_package(), *dir(ts.Tensor)}
    count = 0
    for first, names in re.findall(r"^\| (.+?) \| (.+) \|$", rest, re.MULTILINE):
        has = set(offered(first.strip("`"))) if first.startswith("`") else everywhere
        there = re.findall(r"\(`(?:x\.)?(\w+)(?:\(\))?` is here\)", names)
        assert set(there) <= everywhere
        missing = set(re.findall(r"`(?:\w+\.)*([\w*]+)`", names)) - {*there}
        assert not [each for pattern in missing for each in fnmatch.filter(has, pattern)]
        count += len(missing)
    assert count > 50
