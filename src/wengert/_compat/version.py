"""``torch.version``: the version of PyTorch that wengert follows, and of the libraries it was built with."""

from __future__ import annotations

from wengert._version import __version__ as wengert
from wengert.torch_version import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "wengert", "xpu"]

cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug = False
git_version = "Unknown"
