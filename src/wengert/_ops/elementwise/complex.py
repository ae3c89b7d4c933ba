"""Complex numbers: parts, angle, conjugate, sign, and the views between a complex tensor and a real one of pairs.

A conjugate is a view with an array of its own (``_tape.conjugates``). Gradients are PyTorch's: for a real function L
the gradient is dL/dRe + i dL/dIm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.fused import MANY, recordable
from ..._arrays.layouts import as_rows, in_rows, iterated
from ..._base.dtypes import BY_NUMPY, COMPLEX, FLOATING
from ..._base.registry import REGISTRY, TENSORS, public, publish
from ..._kinds.elementwise import unary
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.linear import linear
from ..._kinds.out import SAME, exactly, write_out
from ..._kinds.slow_path import not_implemented
from ..._payloads.transforms import of_transform
from ..._tape.conjugates import conjugate_view, flags
from ..._tape.error_text import expect_tensor, expect_tensors
from ..._tape.inplace import inplace_of
from ..._tape.promotion import logical_dtype
from ..._tape.saved import is_complex
from ..._tape.tensor import Tensor
from ._common import real_sign

COMPLEX_OF: dict[Any, Any] = {
    np.dtype("float16"): "complex32",
    np.dtype("float32"): np.complex64,
    np.dtype("float64"): np.complex128,
}


def complex_samples(rng: Any) -> list[Any]:
    """Samples for operators that take complex numbers only."""
    shapes = ((3,), (2, 3), ())
    return [((np.asarray(rng.standard_normal(s) + 1j * rng.standard_normal(s)),), ()) for s in shapes]


def _refuse_real(input: Tensor, name: str, text: str) -> None:
    if logical_dtype(expect_tensor(name, "input", 1, input)) not in COMPLEX:
        raise RuntimeError(text)


# ---- conjugate
_CONJUGATE: dict[str, Any] = {
    "grad": lambda xp, g: xp.conj(g),
    "names": "",
    "to_float": False,
    "holomorphic": False,
    "dtypes": "fc",
}


@unary(inplace=False, **_CONJUGATE)
def conj(lib, input):
    """The complex conjugate; real elements are unchanged."""
    return input.conj()


@unary(out_rule=SAME, **_CONJUGATE)
def conj_physical(lib, input):
    """The complex conjugate, computed at once."""
    return input.conj()


@public("torch.conj_physical Tensor.conj_physical")
def conj_physical_public(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned itself.

    >>> torch.conj_physical(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    if out is not None:
        return write_out(out, conj_physical, (input,), None, SAME)
    return conj_physical(input) if logical_dtype(input) in COMPLEX else input


publish(inplace_of(conj_physical, "conj_physical_", composed=False), "torch.conj_physical_ Tensor.conj_physical_")


@public("torch.conj Tensor.conj")
def conj_public(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is returned itself.

    >>> torch.conj(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    if logical_dtype(input) not in COMPLEX:
        return input
    if of_transform(input._payload) or getattr(input._payload, "is_sparse", False):
        return conj(input)
    return conjugate_view(input, conj(input), _CONJ, np.conjugate)


_CONJ = REGISTRY["conj"]


@unary(grad=lambda xp, g: -g, node="NegViewBackward0", names="", to_float=False, inplace=False)
def negative_view(lib, input):
    """The negative, as a view."""
    return -input


@public("Tensor._neg_view torch._neg_view")
def neg_view(self: Tensor) -> Tensor:
    """A view that shows the negatives of the elements, as ``x.conj().imag`` does.

    >>> torch.tensor([1., -2.])._neg_view()
    tensor([-1.,  2.])
    """
    return conjugate_view(self, negative_view(self), REGISTRY["negative_view"], np.negative)


@public("torch.is_conj Tensor.is_conj")
def is_conj(input: Tensor) -> bool:
    """Whether the tensor shows the conjugates of its memory.

    >>> x = torch.tensor([1 + 2j])
    >>> x.conj().is_conj(), x.conj().conj().is_conj()
    (True, False)
    """
    return flags(expect_tensor("is_conj", "input", 1, input))[0]


@public("torch.is_neg Tensor.is_neg")
def is_neg(input: Tensor) -> bool:
    """Whether the tensor shows the negatives of its memory, as the imaginary part of a conjugate does.

    >>> torch.tensor([1 + 2j]).conj().imag.is_neg()
    True
    """
    return flags(expect_tensor("is_neg", "input", 1, input))[1]


@public("torch.resolve_conj Tensor.resolve_conj")
def resolve_conj(input: Tensor) -> Tensor:
    """A copy of a conjugate; any other tensor is returned itself.

    >>> torch.tensor([1 + 2j]).conj().resolve_conj().is_conj()
    False
    """
    return input.clone() if is_conj(input) else input


@public("torch.resolve_neg Tensor.resolve_neg")
def resolve_neg(input: Tensor) -> Tensor:
    """A copy of a tensor that shows negatives; any other tensor is returned itself.

    >>> torch.resolve_neg(torch.tensor([1 + 2j]).conj().imag)
    tensor([-2.])
    """
    return input.clone() if is_neg(input) else input


# ---- parts
_OF_COMPLEX: dict[str, Any] = {"batch": "shape", "dtypes": "c", "samples": complex_samples}
_OF_PARTS: dict[str, Any] = {
    "tensors": 2,
    "batch": "elementwise",
    "holomorphic": False,
    "dtypes": "f",
    "samples": [((3,), (3,), ()), ((2, 1), (3,), ()), ((), (), ())],
}


@linear(transpose=lambda xp, g: xp.complex(g, xp.zeros_like(g)), **_OF_COMPLEX)
def real(lib, self):
    """A copy of the real part."""
    return +self.real  # in its order


@linear(transpose=lambda xp, g: xp.complex(xp.zeros_like(g), g), **_OF_COMPLEX)
def imag(lib, self):
    """A copy of the imaginary part."""
    return +self.imag  # in its order


@general(
    layout=iterated,
    grad={"self": lambda xp, g: xp.real(g), "other": lambda xp, g: xp.imag(g)},
    jvp=lambda xp, tangents, result, self, other: xp.complex(
        *(xp.zeros_like(self if k == 0 else other) if t is None else t for k, t in enumerate(tangents))
    ),
    **_OF_PARTS,
)
def complex(lib, self, other):
    """A complex number from its parts."""
    result = lib.empty(lib.broadcast_shapes(self.shape, other.shape), COMPLEX_OF[self.dtype])
    result.real = self
    result.imag = other
    return result


@public("torch.complex")
def complex_public(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its parts, which have the same floating dtype and broadcast.

    >>> torch.complex(torch.tensor([1.]), torch.tensor([2.]))
    tensor([1.+2.j])
    """
    _check_parts(real, imag, "complex", ("real", "imag"))
    return complex(real, imag) if out is None else write_out(out, complex, (real, imag), None, _SAME_PARTS)


_SAME_PARTS = exactly("Expected object of scalar type {Result} but got scalar type {Out} for argument 'out'")


def _check_parts(x: Any, y: Any, name: str, arguments: tuple[str, str]) -> None:
    expect_tensors(name, **dict(zip(arguments, (x, y), strict=True)))
    a, b = logical_dtype(x), logical_dtype(y)
    if a not in FLOATING or b not in FLOATING or {a.kind, b.kind} != {"f"}:
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{BY_NUMPY[a].scalar_name} and {BY_NUMPY[b].scalar_name}"
        )
    if a is not b:
        raise RuntimeError(
            f"Expected object of scalar type {BY_NUMPY[a].scalar_name} but got scalar type {BY_NUMPY[b].scalar_name} "
            "for second argument"
        )
    if a == np.float16 and name == "polar":
        raise not_implemented(REGISTRY["polar"], x)
    if a not in COMPLEX_OF or a == np.float16:
        raise TypeError(f"data type 'complex32' not understood: NumPy has no complex numbers of {a} parts")


def _polar_jvp(xp: Any, tangents: Any, result: Any, self: Any, other: Any) -> Any:
    parts = []
    if tangents[0] is not None:
        parts.append(xp.complex(tangents[0] * xp.cos(other), tangents[0] * xp.sin(other)))
    if tangents[1] is not None:
        parts.append(result * 1j * tangents[1])
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return total if total.shape == result.shape else xp.expand(total, result.shape)


@general(
    layout=iterated,
    grad={
        "self": lambda xp, g, result: xp.real(xp.conj(g) * xp.sgn(result)),
        "other": lambda xp, g, result: xp.real(xp.conj(g) * (result * 1j)),
    },
    jvp=_polar_jvp,
    domain=(0.5, 2.0),  # of a negative absolute value the formula, PyTorch's, is the derivative of the positive one's
    **_OF_PARTS,
)
def polar(lib, self, other):
    """A complex number from its absolute value and angle."""
    result = lib.empty(lib.broadcast_shapes(self.shape, other.shape), COMPLEX_OF[self.dtype])
    result.real = self * lib.cos(other)
    result.imag = self * lib.sin(other)
    return result


@public("torch.polar")
def polar_public(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from absolute values and angles (in radians).

    >>> torch.polar(torch.tensor([2.]), torch.tensor([0.]))
    tensor([2.+0.j])
    """
    _check_parts(abs, angle, "polar", ("abs", "angle"))
    return polar(abs, angle) if out is None else write_out(out, polar, (abs, angle), None, _SAME_PARTS)


# ---- views
@linear(transpose=lambda xp, g: xp.view_as_complex(as_rows(g)), view=True, **_OF_COMPLEX)
def view_as_real(lib, self):
    """A real view with a last dimension of size two, which holds the real and imaginary parts."""
    return self[..., None].view(self.real.dtype)


@linear(
    transpose=lambda xp, g: xp.view_as_real(g), view=True, batch="shape", dtypes="f", samples=[((3, 2), ()), ((2,), ())]
)
def view_as_complex(lib, self):
    """A complex view of a real tensor whose last dimension has size two."""
    if self.strides[-1] != self.itemsize or any(s % (2 * self.itemsize) for s in self.strides[:-1]):
        self = lib.ascontiguousarray(self)
    return self.view(COMPLEX_OF[self.dtype])[..., 0]


@public("torch.view_as_real")
def view_as_real_public(input: Tensor) -> Tensor:
    """A real view with a last dimension of size two, which holds the real and imaginary parts.

    >>> torch.view_as_real(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    _refuse_real(input, "view_as_real", "view_as_real is only supported for complex tensors")
    if is_conj(input):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    return view_as_real(input)


@public("torch.view_as_complex")
def view_as_complex_public(input: Tensor) -> Tensor:
    """A complex view of a real tensor whose last dimension has size two.

    >>> torch.view_as_complex(torch.tensor([[1., 2.]]))
    tensor([1.+2.j])
    """
    dtype = logical_dtype(expect_tensor("view_as_complex", "input", 1, input))
    if dtype not in COMPLEX_OF:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{BY_NUMPY[dtype].scalar_name}"
        )
    if input.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    a = input._payload
    if isinstance(a, np.ndarray) and a.size:
        if a.strides[-1] != a.itemsize:
            raise RuntimeError("Tensor must have a last dimension with stride 1")
        if any(s % (2 * a.itemsize) for s in a.strides[:-1]):
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
        if input.storage_offset() % 2:
            raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return view_as_complex(input)


@public("torch.view_as_real_copy")
@with_out
def view_as_real_copy(input: Tensor) -> Tensor:
    """A copy of ``view_as_real(input)``.

    >>> torch.view_as_real_copy(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    return view_as_real_public(input).clone()


@public("torch.view_as_complex_copy")
@with_out
def view_as_complex_copy(input: Tensor) -> Tensor:
    """A copy of ``view_as_complex(input)``.

    >>> torch.view_as_complex_copy(torch.tensor([[1., 2.]]))
    tensor([1.+2.j])
    """
    return view_as_complex_public(input).clone()


@public("torch.real")
def real_public(input: Tensor) -> Tensor:
    """A view of the real part; a real tensor is returned itself.

    >>> torch.real(torch.tensor([1 + 2j]))
    tensor([1.])
    """
    if logical_dtype(input) not in COMPLEX:
        return input
    return TENSORS.select(view_as_real(input), input.ndim, 0)


@public("torch.imag")
def imag_public(input: Tensor) -> Tensor:
    """A view of the imaginary part of a complex tensor.

    >>> torch.imag(torch.tensor([1 + 2j]))
    tensor([2.])
    """
    _refuse_real(input, "imag", "imag is not implemented for tensors with non-complex dtypes.")
    return TENSORS.select(view_as_real(input), input.ndim, 1)


def _property_of(part: Any) -> property:
    """A tensor's property beside a function, of which overrides are asked by its own name."""

    def getter(self: Tensor) -> Tensor:
        return part(self)  # type: ignore[no-any-return]

    def setter(self: Tensor, value: Any) -> None:
        part(self).copy_(value)

    return property(getter, setter, doc=part.__doc__)


publish(_property_of(real_public), "Tensor.real")
publish(_property_of(imag_public), "Tensor.imag")


# ---- angle, sign
@unary(
    grad=lambda xp, g, self: (
        xp.where(self == 0, 0, g * (self / xp.abs(self) ** 2 * 1j)) if is_complex(self) else xp.zeros_like(self)
    ),
    holomorphic=False,
    inplace=False,
    jvp=lambda xp, tangents, result, self: (
        xp.where(self == 0, 0, xp.imag(tangents[0] * xp.conj(self)) / xp.abs(self) ** 2)
        if is_complex(self)
        else xp.zeros_like(tangents[0])
    ),
    domain=(0.5, 2.0),
    dtypes="fcib",
)
def angle(lib, input):
    """The angle of each element in radians; 0 or pi for a real number.

    >>> torch.angle(torch.tensor([1j, -1.]))
    tensor([1.5708, 3.1416])
    """
    if input.dtype.kind == "c":
        r = lib.arctan2(input.imag, input.real)
        return in_rows(r) if type(r) is np.ndarray else r
    zero = lib.ZEROS[input.dtype]
    if input.size < MANY and input.dtype.kind == "f":
        return lib.arctan2(zero, input + zero)  # -0. has no angle
    return lib.where(input < zero, math.pi, lib.where(lib.isnan(input), input, 0.0))


def _sgn_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    if not is_complex(self):
        return as_rows(xp.zeros_like(g))
    size = xp.abs(self)
    return xp.where(size == 0, 0, g / size - xp.real(g / result) * result / size)


@unary(
    out_rule=SAME,
    grad=_sgn_grad,
    to_float=False,
    holomorphic=False,
    integers=True,
    integer=lambda lib, x: x.copy() if x.dtype == bool else lib.sign(x),
    domain=(0.5, 2.0),
    dtypes="fcib",
)
def sgn(lib, input):
    """The sign of each element; a complex number is divided by its absolute value, and 0 stays 0.

    >>> torch.sgn(torch.tensor([3 + 4j]))
    tensor([0.6000+0.8000j])
    """
    if input.size >= MANY and recordable(input):
        return lib.signs(input)
    if input.dtype.kind == "c":
        return lib.sign(input)
    return real_sign(lib, input)
