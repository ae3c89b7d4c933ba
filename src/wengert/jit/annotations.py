"""``torch.jit.annotations``: names of ``typing`` that programs import from here."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  the names that are asked for

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
