"""Which sizes differ among examples: ``track_dynamism_across_examples``."""

from __future__ import annotations

import re
from typing import Any

from ..._tape.tensor import Tensor
from ...nn.modules.module import Module
from ...utils import _pytree as pytree

__all__ = [
    "clone_and_convert_to_meta",
    "module_to_nested_dict",
    "normalize_source_name",
    "track_dynamism_across_examples",
]


def normalize_source_name(name: str) -> str:
    """The name of a value, with ``['x']`` for ``.x``.

    >>> normalize_source_name("L.self.x")
    "L['self']['x']"
    """
    return re.sub(r"\.([a-zA-Z_]\w*)", r"['\1']", name)


def module_to_nested_dict(module: Module) -> dict[str, Any]:
    """A module's numbers and tensors in a dict; ``"_parameters"`` has its tensors, ``"_modules"`` its submodules."""
    found: dict[str, Any] = {"_parameters": {}, "_modules": {}}
    for name in dir(module):
        try:
            value = None if name.startswith("_") else getattr(module, name)
        except NotImplementedError:
            continue
        if isinstance(value, (int, float, Tensor)) and not isinstance(value, bool):
            found[name] = value
    found["_parameters"].update(module.named_parameters(recurse=False))
    found["_parameters"].update(module.named_buffers(recurse=False))
    found["_modules"] = {name: module_to_nested_dict(child) for name, child in module.named_children()}
    return found


def track_dynamism_across_examples(example_inputs: list[Any]) -> dict[Any, Any]:
    """For each number and each tensor, which of its sizes differ among the examples.

    >>> import wengert as torch
    >>> track_dynamism_across_examples([{"x": torch.ones(2, n)} for n in (3, 4)])
    {'x': {"L['x']": (False, True)}}

    Args:
        example_inputs: dicts of arguments; a module under ``"self"`` is looked into.
    """
    seen: dict[Any, list[set[Any]]] = {}
    for example in example_inputs:
        if isinstance(example.get("self"), Module):
            example["self"] = module_to_nested_dict(example["self"])
        for path, value in pytree.tree_flatten_with_path(example)[0]:
            if not isinstance(value, (int, float, Tensor)):
                continue
            sizes = tuple(value.shape) if isinstance(value, Tensor) else (value,)
            sets = seen.setdefault(path, [])
            sets += [set() for _ in range(len(sizes) - len(sets))]
            for one, size in zip(sets, sizes, strict=False):
                one.add(size)
    found: dict[Any, Any] = {}
    for path, sets in seen.items():
        name = "L" + "".join(map(str, path))
        found.setdefault(path[0].key, {})[name] = tuple(len(one) > 1 for one in sets)
    return found


def clone_and_convert_to_meta(example_input: Any) -> Any:
    """The example with tensors without data."""
    return pytree.tree_map(lambda x: x.clone().to(device="meta") if isinstance(x, Tensor) else x, example_input)
