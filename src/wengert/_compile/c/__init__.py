"""Programs as C: fused loops, compiled by the compiler of this machine and called through ``ctypes``.

``compilers``    the compiler of this machine, its flags, running it
``cache``        libraries on disk
``expressions``  elementwise operators as C
``pieces``       C functions on ranges, places in memory
``loops``, ``reductions``, ``rows``, ``norms``, ``products``, ``attention``, ``windows``, ``indexing``  operators as
                 pieces
``joining``, ``turning``  a plan made better
``layout``, ``grouping``, ``program``  a plan as a program
``threads``      the pool that shares large pieces, products of matrices
``tier``         the C program beside the NumPy program of a compiled function
"""

from __future__ import annotations

from typing import Any


def lower(program: Any) -> None:
    """Let C take over a compiled function's programs, once it is compiled."""
    from .tier import Tier

    program.forward = Tier(program.forward, program.forward.owners)
    program.runner = program.forward.run
    if program.backward is not None:
        program.backward = Tier(program.backward, None)


def wait() -> None:
    """Wait until every program that is being compiled is there."""
    from .tier import wait as wait_for_all

    wait_for_all()
