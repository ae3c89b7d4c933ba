# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.quantized import engine as engine
from .._compat.backends.quantized import supported_engines as supported_engines
