"""``torch.utils.model_zoo``: the old name of ``torch.hub.load_state_dict_from_url``, and ``tqdm`` for torchvision."""

from __future__ import annotations

from typing import Any

from .. import hub
from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]


def __getattr__(name: str) -> Any:
    if name == "tqdm":
        return hub.tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
