# Made by tools/make_stubs.py; do not edit.
from .._compat.cuda.random import get_rng_state as get_rng_state
from .._compat.cuda.random import get_rng_state_all as get_rng_state_all
from .._compat.cuda.random import initial_seed as initial_seed
from .._compat.cuda.random import manual_seed as manual_seed
from .._compat.cuda.random import manual_seed_all as manual_seed_all
from .._compat.cuda.random import seed as seed
from .._compat.cuda.random import seed_all as seed_all
from .._compat.cuda.random import set_rng_state as set_rng_state
