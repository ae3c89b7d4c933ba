"""The distribution `torch` for `importlib.metadata` under `run`: libraries read its version before they import it."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

import wengert


class TorchDistribution(Distribution):
    """A distribution named torch, of the version that wengert follows, without files."""

    def read_text(self, filename: str) -> str | None:
        """The metadata, and no other file."""
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {wengert.__version__}\n"

    def locate_file(self, path: Any) -> Any:
        """Raises an error: there are no files of PyTorch."""
        raise FileNotFoundError(path)
