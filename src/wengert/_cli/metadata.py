"""What `importlib.metadata` tells of `torch` under `run`: libraries ask its version before they import it."""

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
        """Not possible: no file of PyTorch is there."""
        raise FileNotFoundError(path)
