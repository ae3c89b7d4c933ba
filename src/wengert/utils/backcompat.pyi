# Made by tools/make_stubs.py; do not edit.
from typing import Any
broadcast_warning: Any
keepdim_warning: Any
