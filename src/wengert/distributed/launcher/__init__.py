"""``torch.distributed.launcher``: see ``api``."""

from .api import LaunchConfig, elastic_launch

__all__ = ["LaunchConfig", "elastic_launch"]
