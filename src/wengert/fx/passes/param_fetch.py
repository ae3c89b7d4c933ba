"""The attributes of layers that a backend needs, noted in the nodes that call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import nn
from ..graph_module import GraphModule
from ..node import _typename

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


def default_matching(name: str, target_version: int) -> str:
    """The name itself."""
    return name


_CONV = "weight bias kernel_size stride padding dilation groups padding_mode"
_POOL = "kernel_size stride padding dilation return_indices ceil_mode"
# For each class its version, the attributes, and their names in another version.
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    cls: (version, names.split(), default_matching)
    for cls, version, names in (
        (nn.Linear, 1, "weight bias"),
        (nn.Conv2d, 1, _CONV),
        (nn.BatchNorm2d, 2, "weight bias running_mean running_var eps"),
        (nn.AdaptiveAvgPool2d, 1, ""),
        (nn.MaxPool2d, 1, _POOL),
        (nn.ReLU, 1, "inplace"),
    )
}


def extract_attrs_for_lowering(mod: nn.Module) -> dict[str, Any]:
    """The attributes of a layer in ``module_fetch_book``, and its ``name``.

    Raises:
        RuntimeError: it is not there, or of a newer version.
    """
    advice = (
        "please {} the module_fetch_book, open an issue and @842974287 or report a bug to AIACC team directly."
    )  # fmt: skip
    name = _typename(mod)
    if type(mod) not in module_fetch_book:
        raise RuntimeError(f"{name} is not in the module_fetch_book yet, {advice.format('add it to')}")
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {name} version {mod._version}, {advice.format('upgrade')}"
        )
    return {"name": name, **{attr: getattr(mod, matching(attr, mod._version)) for attr in names}}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Note in each node that calls a layer its attributes, ``node.attrs_for_lowering``."""
    submodules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op == "call_module":
            called: Any = submodules[node.target]
            if isinstance(called, GraphModule):
                lift_lowering_attrs_to_nodes(called)
            else:
                node.attrs_for_lowering = extract_attrs_for_lowering(called)
