# Made by tools/make_stubs.py; do not edit.
from ..._compat.cuda.amp import GradScaler as GradScaler
from ..._compat.cuda.amp import autocast as autocast
from ..._compat.cuda.amp import custom_bwd as custom_bwd
from ..._compat.cuda.amp import custom_fwd as custom_fwd
