"""Nested states as flat ones, with names such as ``model.0.weight``, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wengert import Tensor

__all__ = ["flatten_state_dict", "set_element", "unflatten_state_dict"]

Path = tuple[Any, ...]
DEEPEST = 99  # levels; what a checkpoint is read by takes no more


def _is_leaf(value: Any) -> bool:
    """Whether a value is taken as one object: no dict, nor a list with a tensor or a dict in it."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return all(not isinstance(e, Tensor) and (not isinstance(e, (Mapping, list)) or _is_leaf(e)) for e in value)


def flatten_state_dict(state_dict: Mapping[Any, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """The values of a nested state by their names, and the path of each name."""
    flat: dict[str, Any] = {}
    paths: dict[str, Path] = {}
    waiting: list[tuple[Path, Any]] = [((str(k),), v) for k, v in reversed(list(state_dict.items()))]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEEPEST:
            raise RecursionError(f"a state is nested more than {DEEPEST} levels deep, or holds itself")
        if isinstance(value, Mapping):
            waiting += [((*path, str(k)), v) for k, v in reversed(list(value.items()))]
        elif isinstance(value, list) and not _is_leaf(value):
            waiting += [((*path, i), v) for i, v in reversed(list(enumerate(value)))]
        else:
            name = ".".join(map(str, path))
            if name in flat:
                raise ValueError(f"duplicated flatten key {name}")
            flat[name], paths[name] = value, path
    return flat, paths


def set_element(root: dict[str, Any], path: Path, value: Any) -> None:
    """Set a value at a path, and make the dicts and lists on the way."""
    at: Any = root
    for key, below in zip(path, (*path[1:], None), strict=True):
        if type(key) is int:
            at.extend([None] * (key + 1 - len(at)))
            missing = at[key] is None
        else:
            missing = key not in at
        if below is None:
            at[key] = value
        elif missing:
            at[key] = [] if type(below) is int else {}
        at = at[key]


def unflatten_state_dict(flat: Mapping[str, Any], paths: Mapping[str, Path]) -> dict[str, Any]:
    """The nested state of flat values."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        set_element(nested, paths[name], value)
    return nested
