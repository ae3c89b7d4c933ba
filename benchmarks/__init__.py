"""Times wengert beside torch, JAX, HIPS autograd, MyGrad and tinygrad: `python -m benchmarks --help`.

    works.py       the works to time, their inputs, and the budgets: ratios to torch that must be held
    libs/          how each library does it: one small file each
    worker.py      the process in which one library runs
    rounds.py      starts the workers and times them in turns
    footprint.py   import time and installed size
    report.py      ratios, table, data
    sweep.py       some 1,500 small calls of every kind beside torch: `python -m benchmarks.sweep`

All libraries are timed in one run: every round times each of them once, one after the other, so that a slow machine is
slow for all. The figure is the minimum over the rounds. Each library has its own process and inherits no threads,
allocator or garbage from another. Only one process works at a time.
"""
