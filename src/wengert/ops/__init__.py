"""The operators: one ``def`` each, with forward, derivative, names, docstring and samples in one place.

Importing a module of this package enters its operators into the registry. A new module is added to ``MODULES``.
"""

from importlib import import_module

MODULES = ("create", "arithmetic", "compare", "complex", "shape", "strided", "join", "reduce", "matmul", "einsum", "addmm")

for _name in MODULES:
    import_module(f"{__name__}.{_name}")
