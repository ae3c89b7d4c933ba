"""``ChannelShuffle``. Source: Zhang et al. 2017."""

from __future__ import annotations

from ._making import FunctionLayer

__all__ = ["ChannelShuffle"]


class ChannelShuffle(FunctionLayer, function="channel_shuffle", options="groups"):
    """Permutes the channels of (*, C, H, W): viewed as (groups, C / groups), they are transposed."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups
