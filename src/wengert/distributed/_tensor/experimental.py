"""``torch.distributed._tensor.experimental``; see ``torch.distributed.tensor.experimental``."""

from ..tensor.experimental import *  # noqa: F403
