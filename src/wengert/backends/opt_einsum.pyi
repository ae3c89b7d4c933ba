# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.opt_einsum import enabled as enabled
from .._compat.backends.opt_einsum import flags as flags
from .._compat.backends.opt_einsum import get_opt_einsum as get_opt_einsum
from .._compat.backends.opt_einsum import is_available as is_available
from .._compat.backends.opt_einsum import set_flags as set_flags
from .._compat.backends.opt_einsum import strategy as strategy
