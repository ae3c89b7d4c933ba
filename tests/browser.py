"""A headless Chromium, driven through its pipe by the standard library: keys, clicks, what a page shows, pictures."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and writes answers to 4.
LAUNCH = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60.0  # seconds for an answer


def executable() -> str | None:
    """The path of an installed browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a browser of its own. `requests` and `complaints` list what it loaded and what went wrong in it."""

    def __init__(self, path: str) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._profile = tempfile.mkdtemp(prefix="wengert-browser-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._number = 0
        self._waiting = b""
        self._session: str | None = None

    def __enter__(self) -> Browser:
        try:
            targets = self.ask("Target.getTargets")["targetInfos"]
            page = next(target["targetId"] for target in targets if target["type"] == "page")
            self._session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.ask(f"{domain}.enable")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser with all its processes."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has ended"
            self._waiting += part
        text, _, self._waiting = self._waiting.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, facts = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(facts["exceptionDetails"]["text"])
        elif method == "Log.entryAdded":
            self.complaints.append(facts["entry"]["text"])

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        self.visit(path.as_uri())

    def visit(self, address: str) -> None:
        """Load a page and wait until it is there."""
        self.ask("Page.navigate", url=address)
        promise = 'new Promise(done => document.readyState === "complete" ? done() : addEventListener("load", done))'
        self.ask("Runtime.evaluate", expression=promise, awaitPromise=True)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self, selector: str) -> str:
        """The text of an element, as it is shown."""
        element = f"document.querySelector({json.dumps(selector)})"
        found: str = self.value(f"{element}.innerText ?? {element}.textContent")  # SVG has the second alone
        return found

    def key(self, name: str) -> None:
        """Press and release a key: a character, or a name such as ``ArrowRight``."""
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
        text = {"text": name} if len(name) == 1 else {}
        facts = {"key": name, "windowsVirtualKeyCode": codes.get(name, ord(name[0].upper()))}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **facts, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **facts)

    def click(self, selector: str) -> None:
        """Move the mouse to the middle of an element and press its button."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def window(self, width: int, height: int, dark: bool = False) -> None:
        """Set the size of the window, and whether the user likes dark pages."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
