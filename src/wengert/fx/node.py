"""``torch.fx.node``: names for annotations; see ``torch.fx``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import Node

__all__ = ["Argument", "Node", "Target"]

Target = Callable[..., Any] | str
Argument = Any
