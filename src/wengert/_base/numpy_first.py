"""The first import of NumPy, which limits how long OpenBLAS's threads spin.

After a product, OpenBLAS's threads wait for the next one by spinning for 2**26 cycles (some 25 ms) by default, and hold
a core that other work could use: elementwise work on two threads, another program, the second core of a small board.
2**22 cycles (1.5 ms) bridge the time from one layer's products to the next in a training step of a few milliseconds.
Waking a thread takes up to 0.1 ms on a virtual machine, and with 2**20 cycles a step of an LSTM, a GPT block or an MLP
takes a tenth longer; more than 2**22 gains nothing. OpenBLAS reads the number when it is loaded, so the limit only
works if wengert is imported before NumPy. A number that the user has set is respected, and the environment is restored.

From here to the end of the package's import the garbage collector is off: the modules make objects that stay, and to
walk through them takes a tenth of the import. At its end they are moved to the oldest generation as they are; else the
first collection after it, of the youngest objects, would walk through them all.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

VARIABLE, CYCLES = "OPENBLAS_THREAD_TIMEOUT", "22"

if "numpy" not in sys.modules and VARIABLE not in os.environ:
    os.environ[VARIABLE] = CYCLES
    try:
        importlib.import_module("numpy")
    finally:
        del os.environ[VARIABLE]

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    import warnings

    warnings.warn(
        "wengert does not support Python without its global lock: no test has been run on such a build. What to do: "
        "run with the lock on (PYTHON_GIL=1, or python -X gil=1), or use one thread.",
        RuntimeWarning,
        stacklevel=2,
    )

_collects = gc.isenabled()
gc.disable()


def imported() -> None:
    """Turn the garbage collector on again, if it was on."""
    if _collects:
        if not gc.get_freeze_count():  # what is frozen stays so
            gc.freeze()
            gc.unfreeze()
        gc.enable()
