# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
fill_uninitialized_memory: _bool
