"""The operators: one ``def`` each, with forward, derivative, names, docstring and samples in one place.

Importing a module of this package enters its operators into the registry. A new module is added to ``MODULES``.
"""

import gc
import sys
from importlib import import_module

from .._backends import large as large  # puts its functions in the place of NumPy's
from .._dtypes import learners

MODULES = (
    "create", "like", "ranges", "random", "sampling", "dropout", "arithmetic", "division", "powers", "compare",
    "choose", "complex", "elementwise", "pairs", "special", "polynomials", "rectifiers", "activation", "shape",
    "chains", "strided", "views", "broadcasting", "join", "index", "getitem", "convert", "write", "setitem", "resize",
    "arrange", "copies", "scatter", "places", "masks", "reduce", "extrema", "norms", "scan", "differences", "softmax",
    "sort", "statistics", "counting", "matmul", "linear", "einsum", "addmm", "loss", "likelihoods", "classification",
    "cross_entropy", "ctc", "distance", "pad", "interpolate", "normalization", "batch_norm", "conv", "windows", "pool",
    "fractional_pool", "embedding_bag", "fold", "grid", "attention", "multihead", "recurrent_steps", "recurrent",
    "inverses", "decompositions", "linalg", "matrix_functions", "fft", "window_functions", "spectral", "low_level",
    "segments", "indefinite", "linear_cross_entropy", "recurrent_functions", "symbolic", "lobpcg", "files",
    "implicit", "sparse", "private",
)  # fmt: skip


def _import_all() -> None:
    """Without the cyclic collector, which would look again and again at functions that stay: a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        for name in MODULES:
            import_module(f"{__name__}.{name}")
    finally:
        if was_on:
            gc.enable()


_import_all()
learners.append(lambda np_dtype: import_module("wengert._bfloat16").attach(np_dtype))


def __getattr__(name: str) -> object:
    if name == "aten":  # torch.ops.aten: operators as objects, for dispatch modes
        from ..utils._aten import aten

        return aten
    if name == "load_library":
        return import_module("wengert.library").load_library
    library = sys.modules.get("wengert.library")  # torch.ops.NAMESPACE: operators of the user's own
    if library is not None:
        return library.namespace(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
