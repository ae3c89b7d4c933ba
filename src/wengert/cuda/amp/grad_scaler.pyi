# Made by tools/make_stubs.py; do not edit.
from ...cuda.amp import GradScaler as GradScaler
