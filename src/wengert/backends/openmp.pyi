# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.openmp import is_available as is_available
