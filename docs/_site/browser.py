"""The wheel that `browser.md` runs in a browser: built beside the site's other files at each build."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent.parent


def _build(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        from hatchling.builders.wheel import WheelBuilder

        folder = Path(app.outdir, "_static")
        wheel = Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))
        wheel.replace(folder / "wengert.whl")


def connect(app: Sphinx) -> None:
    """Have the wheel built when the pages are."""
    app.connect("build-finished", _build)
