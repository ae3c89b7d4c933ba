# Made by tools/make_stubs.py; do not edit.
from typing import Any
from ..._base.dtypes import dtype as _dtype
from ...cuda.amp import autocast as autocast
def custom_bwd(bwd: Any) -> Any:
    """``torch.amp.custom_bwd`` for the device type."""
def custom_fwd(fwd: Any = None, *, cast_inputs: _dtype | None = None) -> Any:
    """``torch.amp.custom_fwd`` for the device type."""
