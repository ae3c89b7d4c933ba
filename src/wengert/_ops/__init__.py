"""The operators: one ``def`` each, with forward, derivative, names, docstring and samples in one place.

Importing a module of this package enters its operators into the registry. A new module is added to ``MODULES``.
None is imported before one of its names is asked for: ``index_of_names`` tells where they are. It is made by
``tools/make_index.py``; a name that it does not hold yet is found all the same, by importing all modules.
"""

import gc
import os
import sys
from collections.abc import Iterable
from importlib import import_module

from .._arrays.library import late_functions, lib
from .._base.dtypes import bfloat16_listeners
from .._base.late_names import Table, import_all, import_one
from .._base.registry import REGISTRY, table_of
from .._base.silence import silence
from .._tape.node import name_saved_values
from .._tensor_api.publish import place
from .index_of_names import INDEX

_PACKAGE = __name__.rpartition(".")[0]
SPACES = ("torch", "Tensor", "nn.functional", "linalg", "fft", "special")

MODULES = (
    "create.create", "create.filled", "create.strided", "create.like", "create.ranges", "create.spaces",
    "random.values", "random.random", "random.sampling", "nn.dropout",
    "elementwise.arithmetic", "elementwise.division", "elementwise.powers", "elementwise.compare",
    "elementwise.where", "elementwise.complex", "elementwise.unary", "elementwise.binary",
    "elementwise.special", "elementwise.bessel", "elementwise.polynomials", "nn.rectifiers", "nn.activation",
    "shape.views_primitive", "shape.view_chain", "shape.strided", "shape.views", "shape.broadcasting",
    "shape.join", "indexing.index_primitive", "indexing.getitem", "create.convert", "indexing.copy_fill",
    "indexing.setitem", "shape.resize", "shape.rearrange", "shape.combine", "shape.view_copies",
    "indexing.scatter", "indexing.index_ops", "indexing.masks", "reduce.sums", "reduce.extrema", "reduce.norms",
    "reduce.scan", "reduce.differences", "nn.softmax", "reduce.sort", "reduce.statistics", "reduce.counting",
    "linalg.matmul", "nn.linear", "linalg.einsum", "linalg.addmm", "nn.loss", "nn.likelihoods",
    "nn.classification", "nn.cross_entropy", "nn.ctc", "nn.distance", "nn.pad", "nn.interpolate",
    "nn.normalization", "nn.batch_norm", "nn.conv", "nn.pool_primitive", "nn.pool", "nn.unpool", "nn.fractional_pool",
    "nn.embedding_bag", "nn.fold", "nn.grid", "nn.attention", "nn.multihead", "nn.recurrent", "linalg.inverses",
    "linalg.decompositions", "linalg.public", "linalg.matrix_functions", "linalg.householder", "signal.fft",
    "create.window_functions", "signal.spectral", "names.positional", "reduce.segments", "linalg.ldl",
    "nn.linear_cross_entropy", "nn.recurrent_functions", "names.symbolic", "linalg.lobpcg", "create.files",
    "linalg.superseded", "random.implicit_gradients", "names.sparse", "names.compressed", "names.private",
    "nn.fake_quantize", "nn.grouped",
)  # fmt: skip


def _full_name(module: str) -> str:
    """The name of a module of the index: one of this room, or with a dot one of another."""
    return f"{_PACKAGE}{module}" if module[0] == "." else f"{_PACKAGE}._ops.{module}"  # ``silence`` hides ``__name__``


@import_one.set
def load(module: str) -> None:
    """Import one of the modules, to its end, and attach its names."""
    there = sys.modules.get(_full_name(module))
    if there is None or getattr(there.__spec__, "_initializing", True):  # another thread may be in the middle of it
        _import((module,))
    else:
        place()


@import_all.set
def load_all() -> None:
    """Import all of them."""
    global _all_loaded
    if not _all_loaded:
        _import((*MODULES, *(module for module in INDEX if module[0] == ".")))  # those of other rooms too
        _all_loaded = True  # only now: an import may be interrupted, and another thread must wait for it
        for space in SPACES:  # what looks through ``vars(Tensor)`` finds members
            table_of(space).keys()


_all_loaded = False


def _import(modules: Iterable[str]) -> None:
    """Without the cyclic collector, which would look again and again at functions that stay: a fifth of the time.

    It looks at the program's new objects before, and at none of the functions after: these go to the oldest generation.
    """
    was_on = gc.isenabled()
    try:
        if was_on:
            gc.collect(0)
            gc.disable()
        for name in modules:
            import_module(_full_name(name))
    finally:
        if was_on:
            if gc.get_freeze_count() < 1000:  # Python 3.12 freezes a few hundred of its own: ``_base.heap.is_frozen``
                gc.freeze()
                gc.unfreeze()
            gc.enable()
    place()
    if "logging" in sys.modules or "TORCH_LOGS" in os.environ:
        from .._tape.log_lines import watch

        watch()


@name_saved_values.set
def _name_saved_values() -> None:
    """Import the names only when a node is looked at."""
    from .._tape.saved_names import name_all

    name_all()


def _expect_names() -> None:
    """Say where the names of the index are."""
    tables: dict[str, Table] = {"lib": late_functions, "operators": REGISTRY} | {s: table_of(s) for s in SPACES}
    for module, groups in INDEX.items():
        for space, text in groups.items():
            tables[space].home.update(dict.fromkeys(text.split(), module))
    for name in late_functions.home.keys() - dict.keys(late_functions):
        vars(lib).pop(name, None)  # NumPy's function of that name would be found first


_expect_names()
bfloat16_listeners.append(lambda np_dtype: import_module("wengert._kinds.bfloat16").attach(np_dtype))
for _silent in ("_arrays", "_ops", "_tape.passes"):  # not modules that call a program's functions
    silence(sys.modules[f"{_PACKAGE}.{_silent}"])
