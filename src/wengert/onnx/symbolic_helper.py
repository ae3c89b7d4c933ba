"""``torch.onnx.symbolic_helper``: the decorator with which libraries define operators for an export."""

from __future__ import annotations

from typing import Any

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Any:
    """A decorator that returns the function unchanged, since there is no export."""
    return lambda fn: fn
