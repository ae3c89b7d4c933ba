"""``torch.onnx.symbolic_helper``: the decorator under which libraries write down operators for an export."""

from __future__ import annotations

from typing import Any

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Any:
    """A decorator that changes nothing: what it decorates is for an export."""
    return lambda fn: fn
