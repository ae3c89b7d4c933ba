"""Imports NumPy, and tells its OpenBLAS not to keep a core for long.

After a product OpenBLAS's threads wait for the next one by spinning, 2**26 cycles (some 25 ms) unless told otherwise,
and hold a core that other work could have: elementwise work on two threads, another program, a small board's second
core. 2**22 cycles (1.5 ms) reach from the products of one layer to the next in a training step of a few milliseconds:
to wake a thread takes up to 0.1 ms on a virtual machine, and with 2**20 a step of an LSTM, a GPT block or an MLP takes
a tenth longer. More gains nothing. The library reads the number when it is loaded, so this only works where wengert is
imported before NumPy; one that the user has set stays, and the environment is left as it was.
"""

from __future__ import annotations

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
