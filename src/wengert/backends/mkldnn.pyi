# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.mkldnn import VERBOSE_OFF as VERBOSE_OFF
from .._compat.backends.mkldnn import VERBOSE_ON as VERBOSE_ON
from .._compat.backends.mkldnn import allow_tf32 as allow_tf32
from .._compat.backends.mkldnn import deterministic as deterministic
from .._compat.backends.mkldnn import enabled as enabled
from .._compat.backends.mkldnn import flags as flags
from .._compat.backends.mkldnn import fp32_precision as fp32_precision
from .._compat.backends.mkldnn import is_available as is_available
from .._compat.backends.mkldnn import verbose as verbose
