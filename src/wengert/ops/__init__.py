"""The operators: one ``def`` each, with forward, derivative, names, docstring and samples in one place.

Importing a module of this package enters its operators into the registry. A new module is added to ``MODULES``.
"""

from importlib import import_module

MODULES = (
    "create", "ranges", "random", "sampling", "dropout", "arithmetic", "division", "powers", "compare", "choose",
    "complex", "elementwise", "pairs", "special", "polynomials", "rectifiers", "activation", "shape", "chains",
    "strided", "views", "broadcasting", "join", "index", "getitem", "convert", "write", "setitem", "resize", "arrange",
    "scatter", "places", "masks", "reduce", "extrema", "norms", "scan", "differences", "softmax", "sort", "statistics",
    "counting", "matmul", "einsum", "addmm", "loss", "classification", "ctc", "distance", "pad", "interpolate",
    "normalization", "conv", "windows", "pool", "fractional_pool", "embedding_bag", "fold", "grid", "attention",
    "multihead", "recurrent", "inverses", "decompositions", "linalg", "matrix_functions", "fft", "window_functions", "spectral",
    "low_level", "segments",
    "implicit",
)  # fmt: skip

for _name in MODULES:
    import_module(f"{__name__}.{_name}")
