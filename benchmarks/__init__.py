"""Times wengert beside torch, JAX, HIPS autograd, MyGrad and tinygrad: `python -m benchmarks --help`.

    works.py       what is timed, on which inputs, and which ratio to torch must be held
    libs/          how each library does it: one small file each
    worker.py      the process in which one library runs
    rounds.py      starts the workers and times them in turns
    footprint.py   import time and installed size
    report.py      ratios, table, data
    sweep.py       some 1,500 small calls of every kind beside torch: `python -m benchmarks.sweep`

All libraries are timed in one run: every round times each of them once, one after the other, so that what slows the
machine down slows all of them; the figure is the minimum over the rounds. Each library has a process of its own, so
that none inherits another's threads, allocator or garbage; only one of them works at a time.
"""
