"""``torch.fx.graph_module``: names that libraries import; see ``torch.fx``."""

from . import GraphModule, _absent, _refuse

__all__ = ["GraphModule"]

_CodeOnlyModule = _absent("_CodeOnlyModule")
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_copy_attr = _refuse
