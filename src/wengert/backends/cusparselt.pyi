# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.cusparselt import is_available as is_available
from .._compat.backends.cusparselt import version as version
