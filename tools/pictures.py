"""Makes the pictures of docs/ again: `python tools/pictures.py` (needs chromium).

docs/compile.png is the page that `show` writes for the training step below, with the mouse on a
buffer.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

from chromium import Browser

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH, HEIGHT = 1080, 900
TRAIN = """\
import tessella as ts
import tessella.nn.functional as F
from tessella import nn, optim

ts.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))
optimizer = optim.AdamW(model.parameters(), lr=1e-2)


@ts.compile
def step(x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


x, y = ts.randn(256, 64), ts.randint(0, 10, (256,))
for _ in range(3):
    step(x, y)
"""


def main() -> None:
    """Write docs/compile.png."""
    with tempfile.TemporaryDirectory() as folder, Browser(WIDTH, HEIGHT) as browser:
        script, page = Path(folder) / "train.py", Path(folder) / "step.html"
        script.write_text(TRAIN)
        runpy.run_path(str(script))["step"].show(page)
        browser.scheme("light")
        browser.open(page)
        x, y = browser.evaluate(
            "(b => [b.x + b.width / 2, b.y + b.height / 2])"
            "(document.querySelector('.buffer').getBoundingClientRect())"
        )
        browser.hover(x, y)
        browser.wait(0.3)
        (DOCS / "compile.png").write_bytes(browser.screenshot())


if __name__ == "__main__":
    main()
