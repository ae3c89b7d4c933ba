"""The page `docs/browser.md` in a real browser: it starts Pyodide, runs the tour from a wheel, and a program."""

from __future__ import annotations

import functools
import http.server
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, executable

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import in_browser  # noqa: E402

PROGRAM, PYODIDE = executable(), in_browser.known_folder() if "PYODIDE" in os.environ else None
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome is installed (apt-get install chromium)"),
    pytest.mark.skipif(PYODIDE is None, reason="PYODIDE names no folder of a Pyodide (see tools/in_browser.py)"),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page, its script, a wheel and Pyodide, served on this machine."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="hatchling builds the wheel")
    assert PYODIDE is not None
    text = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8")
    part = text[text.index("<div id") : text.index("</script>") + len("</script>")]
    cdn = part[part.index("https://cdn") : part.index('" data-wheel')]
    head = "<!doctype html><link rel=icon href=data:,><body>"
    (tmp_path / "index.html").write_text(head + part.replace(cdn, "/pyodide/"), encoding="utf-8")
    static = tmp_path / "_static"
    static.mkdir()
    (static / "browser.js").symlink_to(ROOT / "docs" / "_site" / "static" / "browser.js")
    wheel = next(builders.WheelBuilder(str(ROOT)).build(directory=str(static), versions=["standard"]))
    Path(wheel).rename(static / "wengert.whl")
    (tmp_path / "pyodide").symlink_to(PYODIDE)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _shown(page: Browser, button: str) -> str:
    page.click(f'button[data-run="{button}"]')
    end = time.monotonic() + 300
    while page.value("document.querySelector('button').disabled"):
        assert time.monotonic() < end, page.text("pre")
        time.sleep(0.5)
    return page.text("pre")


def test_the_page_runs_the_tour_and_a_program(address: str, tmp_path: Path) -> None:
    assert PROGRAM is not None
    with Browser(PROGRAM) as page:
        page.window(1000, 1200)
        page.visit(address)
        shown = _shown(page, "program")
        assert "tensor([2., 4., 6.])" in shown and shown.rstrip().endswith("done"), shown
        shown = _shown(page, "tour")
        assert "of the test digits are read correctly" in shown and shown.rstrip().endswith("done"), shown[-2000:]
        assert page.value("[...document.querySelectorAll('img')].map(each => each.naturalWidth > 0)") == [True, True]
        if folder := os.environ.get("WENGERT_SCREENSHOTS"):
            page.picture(Path(folder) / "browser-page.png")
        assert not page.complaints, page.complaints
