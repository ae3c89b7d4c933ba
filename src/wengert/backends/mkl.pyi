# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.mkl import VERBOSE_OFF as VERBOSE_OFF
from .._compat.backends.mkl import VERBOSE_ON as VERBOSE_ON
from .._compat.backends.mkl import is_available as is_available
from .._compat.backends.mkl import verbose as verbose
