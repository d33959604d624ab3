"""The documentation site: built without a warning, whole, and without the network."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tessella import models, nn, optim

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


@pytest.mark.parametrize(("page", "package"), [("nn", nn), ("optim", optim), ("models", models)])
def test_reference_has_every_public_name(site: Path, page: str, package: object) -> None:
    text = (site / "api" / f"{page}.html").read_text()
    names = [name for name in package.__all__ if name[0].isupper()]  # type: ignore[attr-defined]
    assert names
    for name in names:
        assert f'id="tessella.{page}.{name}"' in text, name


def test_examples_of_docstrings_are_code(site: Path) -> None:
    text = (site / "api" / "nn.html").read_text()
    assert "<blockquote>" not in text
    assert text.count('<span class="gp">&gt;&gt;&gt; </span>') > 100


def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), path
