# Made by tools/make_stubs.py; do not edit.
from .._compat.backends.cpu import get_cpu_capability as get_cpu_capability
