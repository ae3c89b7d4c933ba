"""Compiled kernels for wengert's large work: one shared library beside this file, without an interface of its own.

wengert finds it by itself; ``python -m wengert info`` says whether it is in use. ``WENGERT_KERNELS=0`` turns it off.
"""
