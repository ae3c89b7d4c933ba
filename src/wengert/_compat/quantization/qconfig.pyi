# Made by tools/make_stubs.py; do not edit.
from ..._compat.ao.quantization import QConfig as QConfig
