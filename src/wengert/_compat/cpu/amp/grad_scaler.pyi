# Made by tools/make_stubs.py; do not edit.
from ...._compat.cpu.amp import GradScaler as GradScaler
