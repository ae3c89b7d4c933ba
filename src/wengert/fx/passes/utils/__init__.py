"""What passes share: patterns (`matcher_utils`), nodes made one (`fuser_utils`), parts of modules (`common`)."""

from .common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]
