"""SciPy, imported when a function first needs it: its modules, and its special functions as ``lib.scipy_NAME``.

The special functions that `nn` and `distributions.Normal` need have stand-ins for installations without SciPy
(`without_scipy`); for all others the error says what to install.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from .._base.errors import noted
from .library import in_lib


@functools.cache
def from_scipy(module: str) -> Any:
    """A module of SciPy. ModuleNotFoundError with what to do: SciPy is not installed."""
    try:
        return import_module(f"scipy.{module}")
    except ModuleNotFoundError as error:
        why = "Why: the functions that need SciPy import it when they are called, and it is not installed here."
        raise noted(error, why, "What to do: pip install scipy") from None


@functools.cache
def compiled(module: str) -> Any:
    """A compiled module of SciPy, such as "sparse._sparsetools"; ``None`` if SciPy lacks it.

    It is loaded without the packages around it, whose import takes a tenth of a second and 20 MB.
    """
    package, _, name = module.rpartition(".")
    if f"scipy.{module}" in sys.modules:
        return sys.modules[f"scipy.{module}"]
    try:
        places: Any = find_spec("scipy").submodule_search_locations
        spec: Any = PathFinder.find_spec(name, [f"{place}/{package}" for place in places])
        made = module_from_spec(spec)
        spec.loader.exec_module(made)
        return made
    except (ImportError, AttributeError):
        pass
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        return None


class Scipy:
    """One of SciPy's ufuncs, imported on the first call; the result has the dtype of the first array."""

    __slots__ = ("fn", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fn: Any = self._first

    def __call__(self, x: Any, *more: Any) -> Any:
        result = self.fn(x, *more)
        try:
            dtype = x.dtype
        except AttributeError:
            dtype = next(a.dtype for a in more if hasattr(a, "dtype"))
        return result if result.dtype is dtype else result.astype(dtype)

    def _first(self, *args: Any) -> Any:
        try:
            self.fn = getattr(compiled("special._special_ufuncs"), self.name, None) or getattr(
                from_scipy("special"), self.name
            )
        except ModuleNotFoundError:
            from .without_scipy import STAND_INS

            if self.name not in STAND_INS:
                raise
            self.fn = STAND_INS[self.name]
        return self.fn(*args)


for _name in (
    "erf", "erfc", "erfcx", "erfinv", "gammaln", "psi", "zeta", "i0e", "i1", "i1e", "ndtr", "ndtri", "log_ndtr",
    "gammainc", "gammaincc", "xlogy", "xlog1py", "entr", "j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e",
):  # fmt: skip
    in_lib(Scipy(_name), f"scipy_{_name}")
in_lib(Scipy("i0"), "scipy_i0")  # NumPy's `i0` is another function
