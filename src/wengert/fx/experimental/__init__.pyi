# Made by tools/make_stubs.py; do not edit.
from ...fx.experimental import proxy_tensor as proxy_tensor

__all__ = [
    "proxy_tensor",
]
