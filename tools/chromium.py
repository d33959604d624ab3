"""Chromium without a window, driven through its DevTools protocol: for tests and pictures of pages.

`--remote-debugging-pipe` speaks JSON with a zero byte behind each message, over the descriptors 3
and 4, so that nothing but the browser itself is needed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds for one answer
FLAGS = [
    "--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--hide-scrollbars", "--force-device-scale-factor=1",
]  # fmt: skip


def far(descriptor: int) -> int:
    """Give a descriptor a number that is in nobody's way: not 3 or 4."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    """A browser with one page; it ends with the `with` block."""

    def __init__(self, width: int = 1200, height: int = 1000) -> None:
        path = shutil.which("chromium")
        if path is None:
            raise FileNotFoundError("chromium is not installed: apt-get install chromium")
        self.events: list[dict[str, Any]] = []
        self.folder = Path(tempfile.mkdtemp(prefix="chromium-"))
        self._bytes = b""
        self._sent = 0
        self._session: str | None = None
        commands, self._writer = map(far, os.pipe())
        self._reader, answers = map(far, os.pipe())
        log = far(os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT, 0o600))
        given = {1: log, 2: log, 3: commands, 4: answers}
        arguments = [path, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        if os.getuid() == 0:
            arguments.insert(1, "--no-sandbox")
        self._process = os.posix_spawn(
            path, arguments, os.environ, setpgroup=0,
            file_actions=[(os.POSIX_SPAWN_DUP2, own, number) for number, own in given.items()],
        )  # fmt: skip
        for descriptor in {*given.values()}:
            os.close(descriptor)
        self._begin(width, height)

    def _begin(self, width: int, height: int) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *ignored: object) -> None:
        os.killpg(self._process, signal.SIGKILL)  # those that we started, and no others
        os.waitpid(self._process, 0)
        os.close(self._writer)
        os.close(self._reader)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- messages ---

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Give the answer to a command; what happens meanwhile is kept in `events`."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._bytes:
            is_ready, _, _ = select.select([self._reader], [], [], max(0, end - time.monotonic()))
            piece = os.read(self._reader, 1 << 16) if is_ready else b""
            if not piece:
                raise RuntimeError(f"chromium is silent\n{(self.folder / 'log').read_text()}")
            self._bytes += piece
        message, _, self._bytes = self._bytes.partition(b"\0")
        return dict(json.loads(message))

    def seen(self, method: str) -> list[dict[str, Any]]:
        """Give what was told about by events of a name so far."""
        return [each["params"] for each in self.events if each.get("method") == method]

    # --- what a user does ---

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def open(self, path: Path) -> None:
        """Open a file as a page, and wait until it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        while not self.seen("Page.loadEventFired"):
            self.events.append(self._receive())

    def evaluate(self, expression: str) -> Any:
        """Give the value of an expression of JavaScript, or of its promise, as JSON has it."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, seconds: float) -> None:
        """Let the page do what it has begun."""
        self.evaluate(f"new Promise(done => setTimeout(done, {1000 * seconds}))")

    def hover(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse's left button."""
        self.hover(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press and release a key: Tab, Enter, Escape."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
                  **text)  # fmt: skip
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def scheme(self, name: str) -> None:
        """Prefer "light" or "dark" pages."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self) -> bytes:
        """Give what is seen, as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
