"""The page of a compiled function in a real browser: what is seen, and what answers the mouse.

`make test-browser` runs it; it needs Debian's chromium and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from chromium import Browser
from tessella import nn, optim
from tessella.compiler import Compiled
from tessella.compiler.program import Instruction, Program

STEP_FILE = Path(__file__).name
SIZE = 1200, 1000  # of the window


def training_step() -> Compiled:
    """Give a compiled step of a small network."""
    ts.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    @ts.compile
    def step(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    x, y = ts.randn(64, 64), ts.randint(0, 10, (64,))
    for _ in range(3):
        step(x, y)
    return step


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return training_step()


@pytest.fixture(scope="module")
def program(compiled: Compiled) -> Program:
    assert compiled.program is not None
    return compiled.program


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with Browser(*SIZE) as browser:
        yield browser


@pytest.fixture
def browser(running: Browser, compiled: Compiled, tmp_path: Path) -> Browser:
    """Give the browser with the page of the step, the mouse on its title."""
    compiled.show(tmp_path / "step.html")
    running.scheme("light")
    running.open(tmp_path / "step.html")
    running.hover(5, 5)
    return running


def boxes(browser: Browser, selector: str) -> list[Any]:
    """Give x, y, width and height of elements, in pixels of the window."""
    found = browser.evaluate(
        f"[...document.querySelectorAll({selector!r})].map(e => e.getBoundingClientRect())"
        ".map(b => [b.x, b.y, b.width, b.height])"
    )
    return list(found)


def texts(browser: Browser, selector: str) -> list[str]:
    return list(
        browser.evaluate(
            f"[...document.querySelectorAll({selector!r})].map(e => e.textContent.trim())"
        )
    )


def middle(box: Any) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def slots(browser: Browser, selector: str) -> set[int]:
    return set(
        browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => +e.dataset.slot)")
    )


def uses(each: Instruction) -> set[int]:
    return {operand.slot for operand in each.operands}


def test_the_page_is_quiet_and_asks_for_nothing_else(browser: Browser) -> None:
    assert [each["request"]["url"] for each in browser.seen("Network.requestWillBeSent")] == [
        browser.evaluate("location.href")
    ]
    assert browser.evaluate("location.protocol") == "file:"
    for event in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
        assert not browser.seen(event)


def test_rectangles_are_the_buffers_of_the_memory_table(
    browser: Browser, compiled: Compiled, program: Program
) -> None:
    rows, peak = compiled.memory().rows, compiled.memory().peak
    (plot,) = boxes(browser, ".plot")
    found = boxes(browser, ".buffer")
    assert len(found) == len(rows) > 10
    room = plot[3] - 300
    for (left, top, width, height), (name, _, size, born, dies, offset) in zip(
        found, rows, strict=True
    ):
        column = plot[2] / len(program.steps)
        assert left - plot[0] == pytest.approx(born * column, abs=0.6), name
        assert width == pytest.approx((dies - born + 1) * column, abs=0.6), name
        assert height == pytest.approx(max(2, 300 * size / peak), abs=0.1), name
        bottom = top + height - plot[1] - room
        assert bottom == pytest.approx(300 * (1 - offset / peak), abs=2.1), name


def test_rectangles_do_not_cover_each_other(browser: Browser, compiled: Compiled) -> None:
    rows = compiled.memory().rows
    found = list(zip(boxes(browser, ".buffer"), rows, strict=True))
    for i, ((x, y, width, height), (*_, born, dies, offset)) in enumerate(found):
        for other, (*_, first, last, start) in found[:i]:
            across = min(x + width, other[0] + other[2]) - max(x, other[0])
            down = min(y + height, other[1] + other[3]) - max(y, other[1])
            takes = offset == start and (born == last or dies == first)  # the place, in that step
            assert across < 0.1 or down < 2.1 or takes  # 2.1: how low the lowest are drawn


def test_rectangles_tell_what_they_are(browser: Browser, compiled: Compiled) -> None:
    tips = texts(browser, ".buffer title")
    for tip, (name, shape, size, born, dies, offset) in zip(
        tips, compiled.memory().rows, strict=True
    ):
        assert tip.startswith(f"{name}  float32 {shape}\n")
        assert re.search(rf"\nmade by \w+ at {STEP_FILE}:\d+$", tip)
        assert f"({size:,} B) at offset {offset:,}\nborn at step {born}, dies at step {dies}" in tip


def test_the_peak_is_marked(browser: Browser, compiled: Compiled) -> None:
    peak = ts.memory.to_text(compiled.memory().peak)
    (mark,) = texts(browser, ".peak text")
    assert mark.startswith(f"peak {peak}: step ")
    assert texts(browser, ".bytes .top") == [peak]
    line, _ = boxes(browser, ".peak line")
    (plot,) = boxes(browser, ".plot")
    assert line[1] - plot[1] == pytest.approx(22, abs=1)


@pytest.mark.parametrize("width", [1200, 420])
def test_labels_lie_inside_of_their_rectangles(browser: Browser, width: int) -> None:
    browser.resize(width, 1000)
    browser.wait(0.1)
    outside = browser.evaluate(
        "[...document.querySelectorAll('.buffer text')].filter(t => t.style.display !== 'none')"
        ".filter(t => { const a = t.getBoundingClientRect(),"
        " b = t.parentNode.querySelector('rect').getBoundingClientRect();"
        " return a.right > b.right || a.bottom > b.bottom + 1; }).map(t => t.textContent)"
    )
    browser.resize(*SIZE)
    assert outside == []


def test_instructions_stand_in_their_groups_beside_the_lines(
    browser: Browser, program: Program
) -> None:
    found = browser.evaluate(
        "[...document.querySelectorAll('.step')].map(s => [...s.querySelectorAll("
        "'.instruction > code')].map(e => e.textContent))"
    )
    assert found == [[program.show_instruction(each) for each in step] for step in program.steps]
    groups = [step for step in program.steps if len(step) > 1]
    heads = texts(browser, ".group .head")
    assert len(heads) == len(groups) > 2
    for head, step in zip(heads, groups, strict=True):
        assert head.endswith(f"{len(step)} in tiles over {step[0].operands[0].shape}")
    lines = texts(browser, ".place .line")
    assert lines and all(line.startswith(f"{STEP_FILE}:") for line in lines)
    assert "loss = F.cross_entropy(model(x), y)" in texts(browser, ".place code")


def test_pointing_at_a_buffer_lights_the_instructions_that_use_it(
    browser: Browser, program: Program
) -> None:
    order = browser.evaluate("[...document.querySelectorAll('.buffer')].map(e => +e.dataset.slot)")
    for slot, box in list(zip(order, boxes(browser, ".buffer"), strict=True))[:8]:
        browser.hover(*middle(box))
        lit = texts(browser, ".instruction.lit > code")
        users = [each for each in program.instructions if slot in uses(each)]
        assert lit == [program.show_instruction(each) for each in users]
        assert slots(browser, ".lit[data-slot]") == {slot}
        assert program.name(slot) in texts(browser, ".detail")[0]
        assert f"used by {len(users)} instruction" in texts(browser, ".detail")[0]
    browser.hover(5, 5)
    assert texts(browser, ".lit") == []


def test_pointing_at_an_instruction_lights_its_buffers(browser: Browser, program: Program) -> None:
    drawn = slots(browser, ".buffer")
    for at, each in enumerate(program.instructions[:5]):
        box = boxes(browser, ".instruction")[at]
        browser.hover(box[0] + box[2] - 4, box[1] + box[3] / 2)
        assert texts(browser, ".instruction.lit > code") == [program.show_instruction(each)]
        assert slots(browser, ".buffer.lit") == uses(each) & drawn
        (cursor,), (plot,) = boxes(browser, ".cursor"), boxes(browser, ".plot")
        step = next(i for i, step in enumerate(program.steps) if each in step)
        column = plot[2] / len(program.steps)
        assert cursor[0] - plot[0] == pytest.approx(step * column, abs=0.6)
        style = "getComputedStyle(document.querySelector('.cursor')).visibility"
        assert browser.evaluate(style) == "visible"


def test_a_click_keeps_what_is_lit_and_escape_lets_go(browser: Browser, program: Program) -> None:
    order = browser.evaluate("[...document.querySelectorAll('.buffer')].map(e => +e.dataset.slot)")
    scrolled = 0
    for at, slot in enumerate(order[:8]):
        browser.evaluate("scrollTo(0, 0)")
        browser.click(*middle(boxes(browser, ".buffer")[at]))
        browser.wait(0.2)  # by a scroll another thing may lie below the mouse, which did not move
        assert slots(browser, ".buffer.lit") == {slot}
        scrolled += browser.evaluate("scrollY") > 100
        browser.hover(5, 995)
        browser.hover(1, 1)
        lit = texts(browser, ".instruction.lit > code")
        assert lit == [program.show_instruction(e) for e in program.instructions if slot in uses(e)]
        assert 0 <= boxes(browser, ".instruction.lit")[0][1] < 1000
        browser.press("Escape")
        assert texts(browser, ".lit") == []
    assert scrolled > 5


def test_a_name_in_an_instruction_lights_its_other_uses(browser: Browser, program: Program) -> None:
    browser.click(*middle(boxes(browser, ".instruction a")[0]))
    (slot,) = slots(browser, ".lit[data-slot]")
    assert slot == program.instructions[0].operands[0].slot
    assert len(texts(browser, ".instruction.lit")) > 1
    browser.click(*middle(boxes(browser, ".instruction a")[0]))  # again: it lets go
    browser.hover(5, 5)
    assert texts(browser, ".lit") == []


def test_keys_reach_what_the_mouse_does(browser: Browser) -> None:
    browser.press("Tab")
    assert len(slots(browser, ".buffer.lit")) == 1
    browser.press("Enter")
    browser.hover(5, 5)
    assert len(slots(browser, ".buffer.lit")) == 1
    browser.press("Escape")
    assert texts(browser, ".lit") == []


def luminance(colour: str) -> float:
    """Give the relative luminance of rgb(r, g, b), as WCAG 2 has it."""
    parts = [int(each) / 255 for each in colour[4:-1].split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(browser: Browser, scheme: str) -> None:
    browser.scheme(scheme)
    ground = luminance(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (ground > 0.5) == (scheme == "light")
    for selector in ("h1", ".detail", ".place .line", ".instruction i"):
        ink = luminance(
            browser.evaluate(f"getComputedStyle(document.querySelector({selector!r})).color")
        )
        dark, light = sorted((ground, ink))
        assert (light + 0.05) / (dark + 0.05) > 4.5, selector


def test_names_are_text_whatever_they_hold(running: Browser, tmp_path: Path) -> None:
    strange = "<b>&amp;\"'</title><script>alert(1)</script>é漢"

    def double(x: ts.Tensor) -> ts.Tensor:
        return (x @ x) @ x  # "<i>" & '</script>'

    double.__name__ = strange
    compiled = ts.compile(double)
    for _ in range(2):
        compiled(ts.ones(4, 4))
    compiled.show(tmp_path / "strange.html")
    running.open(tmp_path / "strange.html")
    assert texts(running, "h1") == [strange]
    assert running.evaluate("document.title") == f"{strange}: compiled"
    assert "return (x @ x) @ x  # \"<i>\" & '</script>'" in texts(running, ".place code")
    assert running.evaluate("document.scripts.length") == 1
    assert not running.seen("Runtime.exceptionThrown")


def test_a_program_without_an_arena_says_so(running: Browser, tmp_path: Path) -> None:
    compiled = ts.compile(lambda x: x * 2 + 1)
    for _ in range(2):
        compiled(ts.ones(4))
    compiled.show(tmp_path / "plain.html")
    running.open(tmp_path / "plain.html")
    assert texts(running, ".detail") == ["No buffer lies in the arena."]
    box = boxes(running, ".instruction")[0]
    running.hover(*middle(box))
    assert len(texts(running, ".instruction.lit")) == 1
    assert not running.seen("Runtime.exceptionThrown")


def test_the_gradient_is_a_second_part(running: Browser, tmp_path: Path) -> None:
    layer = nn.Linear(4, 8)
    compiled = ts.compile(lambda x: layer(x).tanh())
    for _ in range(3):
        compiled(ts.ones(2, 4)).sum().backward()
    compiled.show(tmp_path / "both.html")
    running.open(tmp_path / "both.html")
    assert texts(running, "h2") == ["Gradient: the second program"]
    assert running.evaluate("document.querySelectorAll('article').length") == 2
