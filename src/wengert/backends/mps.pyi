# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.mps import is_available as is_available
from .._compat.backends.mps import is_built as is_built
from .._compat.backends.mps import is_macos13_or_newer as is_macos13_or_newer
from .._compat.backends.mps import is_macos_or_newer as is_macos_or_newer
