"""Adding values at places that may come more than once, each in the order in which it comes, as PyTorch does.

NumPy's ``add.at`` goes from element to element; it knows no rows. A product with a sparse matrix does: column ``j`` of
the matrix has its one 1 in row ``at[j]``, and SciPy's compiled product adds the values' row ``j`` there. For single
elements the same loop takes the values as the matrix and a 1 as the vector. The sums are those of ``add.at`` to the
digit, as nothing is reordered and times 1 is exact.
"""

from __future__ import annotations

import functools
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

import numpy as np

_FEW = 128  # elements that add.at has done before the other's arguments are put together
_ELEMENTS = 2048  # the same for single elements, where the two differ less
_COMPILED = frozenset("bBhHiIlLqQfd")  # element types of the compiled loops; complex numbers go as pairs


@functools.cache
def _compiled() -> Any:
    """SciPy's module of compiled sparse products; ``None`` where there is none.

    It needs nothing of the package around it, whose import takes a tenth of a second and 20 MB.
    """
    name = "scipy.sparse._sparsetools"
    if name in sys.modules:
        return sys.modules[name]
    try:
        places: Any = find_spec("scipy").submodule_search_locations  # type: ignore[union-attr]
        spec: Any = PathFinder.find_spec("_sparsetools", [f"{place}/sparse" for place in places])
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except (ImportError, AttributeError):
        pass
    try:
        from scipy.sparse import _sparsetools

        return _sparsetools
    except ImportError:
        return None


def add_rows(r: Any, at: Any, run: int, values: Any) -> None:
    """Add up ``values`` in the contiguous array ``r``, in runs of ``run`` elements; ``at`` is the number of each run.

    The numbers are in range and not negative.
    """
    at, flat = at.reshape(-1), r.reshape(-1)
    values = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        run, flat, values = 2 * run, _parts(flat), _parts(values)
    n = at.size
    few = values.size < (_FEW if run > 1 else _ELEMENTS)
    tools = None if few or flat.dtype.char not in _COMPILED else _compiled()
    if tools is None:
        if run > 1 and few:
            flat, values = flat.reshape(-1, run), values.reshape(n, run)
        elif run > 1:
            at = (at.astype(np.int64)[:, None] * run + np.arange(run)).reshape(-1)
        np.add.at(flat, at, values)
    elif run > 1:
        first = np.arange(n + 1, dtype=at.dtype)
        tools.csc_matvecs(flat.size // run, n, run, first, at, np.ones(n, flat.dtype), values, flat)
    else:
        tools.csc_matvec(flat.size, 1, np.array((0, n), at.dtype), at, values, np.ones(1, flat.dtype), flat)


def _parts(x: Any) -> Any:
    """Complex numbers as pairs of real ones."""
    return x.view(x.real.dtype)
