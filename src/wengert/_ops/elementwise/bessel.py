"""Bessel functions and the Airy function, computed by SciPy. Only ``i0``, ``i1``, ``i0e``, ``i1e`` have derivatives."""

from __future__ import annotations

from typing import Any

from ..._arrays.scipy_functions import from_scipy
from ..._base.registry import on_host
from ..._kinds.elementwise import unary
from ..._kinds.slow_path import require
from ._common import like, real_function


@real_function(unary, "torch.i0 Tensor.i0 special.i0", grad=lambda xp, g, self: g * xp.i1(self), kernel="i0_vml_cpu")
def i0(input):
    """The modified Bessel function of the first kind of order 0.

    >>> torch.i0(torch.tensor([0., 1.]))
    tensor([1.0000, 1.2661])
    """


@real_function(
    unary,
    "special.i0e",
    grad=lambda xp, g, self, result: g * (xp.i1e(self) - xp.sgn(self) * result),
    node="SpecialI0EBackward0",
    domain=(0.2, 2.0),
)
def i0e(input):
    """``exp(-abs(x)) * i0(x)``.

    >>> torch.special.i0e(torch.tensor([0., 1.]))
    tensor([1.0000, 0.4658])
    """


EPSILON = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52, "bfloat16": 2.0**-7}


def _away_from_zero(xp: Any, self: Any, kernel: str) -> tuple[Any, Any]:
    """A mask of the elements far enough from 0 to divide by, and x with the others replaced (``i1_backward``)."""
    from ..._payloads.transforms import plain_dtype

    dtype = plain_dtype(self.dtype)
    require(like(dtype), "f", kernel)
    epsilon = EPSILON[dtype.name]
    apart = xp.abs(self) > epsilon
    return apart, xp.where(apart, self, epsilon)


def _i1_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    apart, x = _away_from_zero(xp, self, "i1_backward")
    return g * xp.where(apart, xp.i0(x) - result / x, 0.5)


@real_function(unary, "special.i1", grad=_i1_grad)
def i1(input):
    """The modified Bessel function of the first kind of order 1.

    >>> torch.special.i1(torch.tensor([0., 1.]))
    tensor([0.0000, 0.5652])
    """


def _i1e_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    apart, x = _away_from_zero(xp, self, "i1e_backward")
    return g * xp.where(apart, xp.i0e(x) - result * (xp.sgn(x) + 1 / x), 0.5)


@real_function(unary, "special.i1e", grad=_i1e_grad, node="SpecialI1EBackward0", domain=(0.2, 2.0))
def i1e(input):
    """``exp(-abs(x)) * i1(x)``.

    >>> torch.special.i1e(torch.tensor([0., 1.]))
    tensor([0.0000, 0.2079])
    """


# ---- without a derivative
def _airy(lib: Any, x: Any) -> Any:
    return from_scipy("special").airy(x.astype("float64"))[0].astype(x.dtype)


def _j0_of_sphere(lib: Any, x: Any) -> Any:
    r = lib.sin(x) / x
    if lib.count_nonzero(r == r) == x.size:
        return r
    return lib.where(lib.isinf(x), 0.0, lib.where(x == 0, 1.0, r)).astype(x.dtype)


_FIRST, _SECOND = "Bessel function of the first kind of order", "Bessel function of the second kind of order"
_UNDERIVED: dict[str, tuple[Any, str]] = {  # name -> the function, or SciPy's name of it; what it is
    "airy_ai": (_airy, "The Airy function Ai."),
    "bessel_j0": ("j0", f"The {_FIRST} 0."),
    "bessel_j1": ("j1", f"The {_FIRST} 1."),
    "bessel_y0": ("y0", f"The {_SECOND} 0."),
    "bessel_y1": ("y1", f"The {_SECOND} 1."),
    "modified_bessel_i0": ("i0", f"The modified {_FIRST} 0."),
    "modified_bessel_i1": ("i1", f"The modified {_FIRST} 1."),
    "modified_bessel_k0": ("k0", f"The modified {_SECOND} 0."),
    "modified_bessel_k1": ("k1", f"The modified {_SECOND} 1."),
    "scaled_modified_bessel_k0": ("k0e", "``exp(x)`` times ``modified_bessel_k0``."),
    "scaled_modified_bessel_k1": ("k1e", "``exp(x)`` times ``modified_bessel_k1``."),
    "spherical_bessel_j0": (_j0_of_sphere, "``sin(x) / x``, and 1 at 0."),
}


def _declare_underived(name: str, function: Any, doc: str) -> None:
    def body(lib, input):
        return function(lib, input)

    def without(input):
        pass

    made, facts = (body, {}) if callable(function) else (without, {"libname": f"scipy_{function}"})
    made.__name__, made.__doc__ = name, doc
    real_function(unary, f"special.{name}", half=False, domain=(0.2, 2.0), **facts)(made)


for _name, (_function, _doc) in _UNDERIVED.items():
    _declare_underived(_name, _function, _doc)

on_host("airy_ai")
