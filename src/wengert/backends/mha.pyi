# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.mha import get_fastpath_enabled as get_fastpath_enabled
from .._compat.backends.mha import set_fastpath_enabled as set_fastpath_enabled
