"""The documentation site: built without a warning, whole, and without the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from offered import attributes_of_tensors, offered, offered_by_package, public_modules

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


class Fetched(HTMLParser):
    """What a page loads when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        is_loaded = tag in ("script", "img") or known.get("rel") in ("stylesheet", "icon")
        address = known.get("src") or known.get("href")
        if is_loaded and address:
            self.found.append(address)


def test_pages_load_nothing_from_elsewhere_and_what_they_load_is_there(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 90
    for page in pages:
        if page.name == "404.html":  # its addresses are those of the server
            continue
        parser = Fetched()
        parser.feed(page.read_text())
        for address in parser.found:
            assert "//" not in address and not address.startswith("data:"), (page, address)
            assert (page.parent / address.partition("?")[0]).is_file(), (page, address)


# Modules whose public name is not that of their file.
PLACES = {"nn.utils": "nn.toolbox", "nn.utils.rnn": "nn.ragged"}


def text_of(folder: Path) -> str:
    return "\n".join(page.read_text() for page in sorted(folder.glob("*.html")))


def is_operation(operations: str, name: str) -> bool:
    """Tell whether the reference of operations has a name: as a heading, or as another name."""
    return f'id="{name.replace(".", "").lower()}"' in operations or f"<code>{name}" in operations


@pytest.mark.parametrize("module", public_modules())
def test_reference_has_every_public_name(site: Path, module: str) -> None:
    text, operations = text_of(site / "api"), text_of(site / "operations")
    names = list(offered(module))
    assert names
    assert not [
        name
        for name in names
        if f'id="tessella.{PLACES.get(module, module)}.{name}"' not in text
        if not is_operation(operations, f"{module}.{name}")
        if not is_operation(operations, name)  # what is here too: the modes, F.gelu
    ]


def test_reference_has_every_name_of_the_package(site: Path) -> None:
    page, operations = (site / "api" / "tessella.html").read_text(), text_of(site / "operations")
    names = [*offered_by_package(), *public_modules()]
    shown = (site / "api" / "tensor.html").read_text() + (site / "index.html").read_text()
    assert "<h1" in shown
    assert not [
        name
        for name in names
        if f'id="tessella.{name}"' not in page and f"<code>{name}</code>" not in page
        if not is_operation(operations, name) and f"tessella.{name}" not in shown
    ]


def test_reference_has_every_attribute_of_tensors(site: Path) -> None:
    page = (site / "api" / "tensor.html").read_text()
    assert not [
        name
        for name in attributes_of_tensors()
        if f"<td><code>{name}</code></td>" not in page and f"<td><code>{name}(" not in page
    ]


@pytest.mark.parametrize(
    ("page", "name"),
    [("init", "nn.init.fans_of"), ("autograd", "autograd.conform"), ("memory", "memory.wrap")],
)
def test_reference_has_nothing_that_is_internal(site: Path, page: str, name: str) -> None:
    assert f'id="tessella.{name}"' not in (site / "api" / f"{page}.html").read_text()


def test_examples_of_docstrings_are_code(site: Path) -> None:
    text = (site / "api" / "nn.html").read_text()
    assert "<blockquote>" not in text
    assert text.count('<span class="gp">&gt;&gt;&gt; </span>') > 100


def test_copy_button_takes_what_is_typed(site: Path) -> None:
    """What site.css builds on: a session is marked, so is its copy, and each line is a span."""
    text = (site / "start.html").read_text()
    assert 'href="site.css"' in text
    typed = re.findall(r'<span id="__span-\d+-\d+">(?:<a [^>]*></a>)?<span class="gp">', text)
    assert len(typed) == text.count('<span class="gp">') > 50
    assert text.count('<div class="language-pycon highlight">') > 8
    (script,) = (site / "assets" / "javascripts").glob("bundle.*.min.js")
    assert 'setAttribute("data-md-copying"' in script.read_text()


def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), path
