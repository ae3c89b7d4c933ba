# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.cudnn import allow_tf32 as allow_tf32
from .._compat.backends.cudnn import benchmark as benchmark
from .._compat.backends.cudnn import benchmark_limit as benchmark_limit
from .._compat.backends.cudnn import deterministic as deterministic
from .._compat.backends.cudnn import enabled as enabled
from .._compat.backends.cudnn import flags as flags
from .._compat.backends.cudnn import fp32_precision as fp32_precision
from .._compat.backends.cudnn import is_acceptable as is_acceptable
from .._compat.backends.cudnn import is_available as is_available
from .._compat.backends.cudnn import set_flags as set_flags
from .._compat.backends.cudnn import version as version
