"""Bessel functions and the Airy function, computed by SciPy. Only ``i0``, ``i1``, ``i0e``, ``i1e`` have derivatives."""

from __future__ import annotations

from typing import Any

from ..._arrays.library import NUMBERS
from ..._base.dtypes import FLOATING
from ..._kinds.elementwise import unary
from ._common import real_only


@unary(
    grad=lambda xp, g, self: g * xp.i1(self),
    names="torch.i0 Tensor.i0 special.i0",
    libname="scipy_i0",
    fast=FLOATING,
    check=real_only("i0_vml_cpu"),
    dtypes="fib",
)
def i0(input):
    """The modified Bessel function of the first kind of order 0."""


@unary(
    grad=lambda xp, g, self, result: g * (xp.i1e(self) - xp.sgn(self) * result),
    names="special.i0e",
    libname="scipy_i0e",
    node="SpecialI0EBackward0",
    inplace=False,
    fast=FLOATING,
    check=real_only("i0e_cpu"),
    domain=(0.2, 2.0),
    dtypes="fib",
)
def i0e(input):
    """``exp(-abs(x)) * i0(x)``."""


EPSILON = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52, "bfloat16": 2.0**-7}


def _away_from_zero(xp: Any, self: Any) -> tuple[Any, Any]:
    """A mask of the elements far enough from 0 to divide by, and x with the others replaced (``i1_backward``)."""
    from ..._payloads.transforms import plain_dtype

    epsilon = EPSILON[plain_dtype(self.dtype).name]
    apart = xp.abs(self) > epsilon
    return apart, xp.where(apart, self, epsilon)


def _i1_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    apart, x = _away_from_zero(xp, self)
    return g * xp.where(apart, xp.i0(x) - result / x, 0.5)


@unary(
    grad=_i1_grad,
    names="special.i1",
    libname="scipy_i1",
    node="SpecialI1Backward0",
    inplace=False,
    fast=FLOATING,
    check=real_only(),
    dtypes="fib",
)
def i1(input):
    """The modified Bessel function of the first kind of order 1."""


def _i1e_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    apart, x = _away_from_zero(xp, self)
    return g * xp.where(apart, xp.i0e(x) - result * (xp.sgn(x) + 1 / x), 0.5)


@unary(
    grad=_i1e_grad,
    names="special.i1e",
    libname="scipy_i1e",
    node="SpecialI1EBackward0",
    inplace=False,
    fast=FLOATING,
    check=real_only("i1e_cpu"),
    domain=(0.2, 2.0),
    dtypes="fib",
)
def i1e(input):
    """``exp(-abs(x)) * i1(x)``."""


def _underived(name: str, raw: Any, doc: str, domain: tuple[float, float] = (0.2, 2.0)) -> Any:
    """A special function that PyTorch does not differentiate."""

    def body(lib, input):
        return raw(lib, input)

    body.__name__ = name
    body.__doc__ = doc
    return unary(
        names=f"special.{name}",
        inplace=False,
        fast=FLOATING,
        check=real_only(f"{name}_cpu"),
        domain=domain,
        dtypes="fib",
    )(body)


def _airy(lib: Any, x: Any) -> Any:
    import scipy.special

    return scipy.special.airy(x.astype("float64"))[0].astype(x.dtype)


airy_ai = _underived("airy_ai", _airy, "The Airy function Ai.")
bessel_j0 = _underived("bessel_j0", lambda lib, x: lib.scipy_j0(x), "The Bessel function of the first kind of order 0.")
bessel_j1 = _underived("bessel_j1", lambda lib, x: lib.scipy_j1(x), "The Bessel function of the first kind of order 1.")
bessel_y0 = _underived(
    "bessel_y0", lambda lib, x: lib.scipy_y0(x), "The Bessel function of the second kind of order 0."
)
bessel_y1 = _underived(
    "bessel_y1", lambda lib, x: lib.scipy_y1(x), "The Bessel function of the second kind of order 1."
)
modified_bessel_i0 = _underived(
    "modified_bessel_i0", lambda lib, x: lib.scipy_i0(x), "The modified Bessel function of the first kind of order 0."
)
modified_bessel_i1 = _underived(
    "modified_bessel_i1", lambda lib, x: lib.scipy_i1(x), "The modified Bessel function of the first kind of order 1."
)
modified_bessel_k0 = _underived(
    "modified_bessel_k0", lambda lib, x: lib.scipy_k0(x), "The modified Bessel function of the second kind of order 0."
)
modified_bessel_k1 = _underived(
    "modified_bessel_k1", lambda lib, x: lib.scipy_k1(x), "The modified Bessel function of the second kind of order 1."
)
scaled_modified_bessel_k0 = _underived(
    "scaled_modified_bessel_k0", lambda lib, x: lib.scipy_k0e(x), "``exp(x)`` times ``modified_bessel_k0``."
)
scaled_modified_bessel_k1 = _underived(
    "scaled_modified_bessel_k1", lambda lib, x: lib.scipy_k1e(x), "``exp(x)`` times ``modified_bessel_k1``."
)


def _spherical_j0(lib: Any, x: Any) -> Any:
    near = lib.abs(x) < NUMBERS[x.dtype][0.5]  # use the series, since sin(x) / x loses digits
    if not lib.count_nonzero(near) and lib.count_nonzero(lib.isfinite(x)) == x.size:
        return lib.sin(x) / x
    square = x * x
    series = 1 + square * (-1.0 / 6 + square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880))))
    return lib.where(lib.isinf(x), 0.0, lib.where(near, series, lib.sin(x) / x))


spherical_bessel_j0 = _underived("spherical_bessel_j0", _spherical_j0, "``sin(x) / x``, and 1 at 0.")
