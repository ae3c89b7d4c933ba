"""``torch.distributed._tensor``, where ``torch.distributed.tensor`` was before."""

from ..tensor import *  # noqa: F403
