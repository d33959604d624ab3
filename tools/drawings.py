"""Drawings of docs/design: the arena of a small training step, as its plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pictures import TRAIN

if TYPE_CHECKING:  # the stubs list what is loaded
    from tessella.compiler.plan import MemoryTable

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 300, 60, 12, 30
COLORS = ("#4b7bb5", "#6a9a5b", "#c0843d", "#8a6bb1", "#b4565c", "#3f9a9a")


def planned_step() -> tuple[MemoryTable, dict[str, str]]:
    """Give the memory of the training step that the docs show the page of, too, and its makers."""
    names: dict[str, Any] = {}
    exec(TRAIN, names)
    program = names["step"]._known_program()
    makers = {program.name(operand.slot): each.name
              for each in reversed(program.instructions) for operand in each.writes()}  # fmt: skip
    return names["step"].memory(), makers


def arena_drawing() -> str:
    """Draw buffers as boxes: across, the steps they live for; down, the bytes they lie at.

    Each has its name and what makes it; of those that are too low for text there is a list below.
    """
    table, makers = planned_step()
    steps = 1 + max(dies for *_, dies, _ in table.rows)
    across, down = (WIDTH - LEFT - 8) / steps, (HEIGHT - TOP - BOTTOM) / table.peak
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="10" fill="#777">'
    ]
    low = []
    for i, (name, _, size, born, dies, offset) in enumerate(table.rows):
        x, y = LEFT + born * across, TOP + offset * down
        box = f'x="{x:.1f}" y="{y:.1f}" width="{(dies - born + 1) * across:.1f}"'
        height = max(size * down, 1.0)
        color = COLORS[i % len(COLORS)]
        parts.append(f'<rect {box} height="{height:.1f}" fill="{color}" fill-opacity="0.75"/>')
        label = f"{name} {makers[name]}"
        if height > 11:
            parts.append(f'<text x="{x + 3:.1f}" y="{y + 10:.1f}" fill="#fff">{label}</text>')
        else:
            low.append(label)
    floor = HEIGHT - BOTTOM
    places = [LEFT + i * across for i in range(steps)]
    parts += [f'<text x="{x:.1f}" y="{floor + 12}">{i}</text>' for i, x in enumerate(places)]
    parts += [
        f'<text x="{LEFT}" y="{floor + 26}">steps of the program</text>',
        f'<text x="{WIDTH - 8}" y="{floor + 26}" text-anchor="end">low: {", ".join(low)}</text>',
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">0</text>',
        f'<text x="{LEFT - 6}" y="{floor}" text-anchor="end">{table.peak // 1024} KiB</text>',
        "</svg>", "",
    ]  # fmt: skip
    return "\n".join(parts)
