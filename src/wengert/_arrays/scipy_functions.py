"""SciPy's special functions as ``lib.scipy_NAME``; SciPy is imported when one of them is first called."""

from __future__ import annotations

from typing import Any

from .library import in_lib


class Scipy:
    """One of SciPy's ufuncs, imported on the first call; the result has the dtype of the first array."""

    __slots__ = ("fn", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fn: Any = None

    def __call__(self, x: Any, *more: Any) -> Any:
        if self.fn is None:
            import scipy.special

            self.fn = getattr(scipy.special, self.name)
        result = self.fn(x, *more)
        dtype = x.dtype if hasattr(x, "dtype") else next(a.dtype for a in more if hasattr(a, "dtype"))
        return result if result.dtype is dtype else result.astype(dtype)


for _name in (
    "erf", "erfc", "erfcx", "erfinv", "gammaln", "psi", "zeta", "i0e", "i1", "i1e", "ndtr", "ndtri", "log_ndtr",
    "gammainc", "gammaincc", "xlogy", "xlog1py", "entr", "j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e",
):  # fmt: skip
    in_lib(Scipy(_name), f"scipy_{_name}")
in_lib(Scipy("i0"), "scipy_i0")  # NumPy's `i0` is another function
