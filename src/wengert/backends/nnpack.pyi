# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.nnpack import enabled as enabled
from .._compat.backends.nnpack import flags as flags
from .._compat.backends.nnpack import is_available as is_available
from .._compat.backends.nnpack import set_flags as set_flags
