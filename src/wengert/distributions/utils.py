"""Helpers of distributions: broadcasting of parameters, probabilities and logits, lazy properties.

>>> import wengert as torch
>>> torch.distributions.utils.broadcast_all(torch.zeros(2), 1.)
(tensor([0., 0.]), tensor([1., 1.]))
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar, overload

import wengert as torch

from .._base.constants import Size
from .._base.errors import noted
from .._tape.tensor import Tensor

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant: Final[float] = 0.57721566490153286060
Value = TypeVar("Value")

NUMBER = (int, float, bool)  # what PyTorch takes for a number here: not complex, not NumPy's


def is_tensor_like(value: Any) -> bool:
    """Whether a value is a tensor, or says that it takes part in PyTorch's functions."""
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape.

    A number becomes a tensor of the first tensor's dtype, of the default dtype if there is no tensor.

    Raises:
        ValueError: something is neither a tensor nor a number.

    >>> import wengert as torch
    >>> torch.distributions.utils.broadcast_all(torch.zeros(2, 1, dtype=torch.float64), 3)[1].dtype
    torch.float64
    """
    if not all(is_tensor_like(v) or isinstance(v, NUMBER) for v in values):
        raise noted(
            ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                "__torch_function__."
            ),
            f"Found: {', '.join(type(v).__name__ for v in values)}.",
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = torch.get_default_dtype() if first is None else first.dtype
    tensors = [v if is_tensor_like(v) else torch.tensor(v, dtype=dtype) for v in values]
    if len({t.shape for t in tensors}) == 1:
        return tuple(tensors)
    return tuple(torch.broadcast_tensors(*tensors))


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any = None) -> Tensor:
    """Standard normal draws."""
    return torch.randn(Size(shape), dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dims."""
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1) if dim else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log odds (``is_binary``), or from log probabilities up to a constant along the last dim.

    >>> import wengert as torch
    >>> torch.distributions.utils.logits_to_probs(torch.tensor([0., 0.]))
    tensor([0.5000, 0.5000])
    """
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved into the open interval (0, 1) by the dtype's epsilon.

    >>> import wengert as torch
    >>> torch.distributions.utils.clamp_probs(torch.tensor([0.0, 0.5, 1.0]))
    tensor([1.1921e-07, 5.0000e-01, 1.0000e+00])
    """
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log odds (``is_binary``) or log probabilities; finite at 0 and 1 (``clamp_probs``).

    >>> import wengert as torch
    >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    probs = clamp_probs(probs)
    return torch.log(probs) - torch.log1p(-probs) if is_binary else torch.log(probs)


class lazy_property(Generic[Value]):
    """A property that is computed when first asked for, with gradients enabled, and then kept in the instance.

    Assigning to the instance's attribute of that name gives it a value that is never computed.

    >>> from wengert.distributions.utils import lazy_property
    >>> class Circle:
    ...     radius = 2
    ...     @lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return 3 * self.radius ** 2
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (12, 12)
    """

    def __init__(self, wrapped: Callable[[Any], Value]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]  # it stands for a function

    @overload
    def __get__(self, instance: None, owner: Any = None) -> _lazy_property_and_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Value: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property[Value], property):
    """What a class shows: documentation tools look for a property, validation for a lazy one."""

    def __init__(self, wrapped: Callable[[Any], Value]) -> None:
        property.__init__(self, wrapped)


class _Computed(property):
    """A property whose function is named as the property is in the class, so that ``help`` finds the base's text."""

    fget: Any

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.fget.__name__, self.fget.__qualname__ = name, f"{owner.__qualname__}.{name}"


def computed(compute: Callable[[Any], Any], text: str | None = None) -> Any:
    """A property that is one expression: ``has_rsample = computed(lambda self: self.base_dist.has_rsample)``."""
    return _Computed(compute, doc=text)


def formula(compute: Callable[[Any], Any], text: str | None = None) -> Tensor:
    """A property that is one expression, whose value is a tensor: ``mean = formula(lambda self: self.loc)``."""
    return computed(compute, text)


def _below_diagonal(n: int, diag: int) -> Tensor:
    """The mask of an n x n matrix's elements up to the diagonal of number ``diag``."""
    places = torch.arange(n)
    return places < places.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of D x D matrices up to the diagonal of number ``diag``, row after row: (*, D, D) to (*, N).

    Raises:
        ValueError: there is no such diagonal.

    >>> import wengert as torch
    >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1., 0.], [2., 3.]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _below_diagonal(n, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of ``tril_matrix_to_vec``: (*, N) to (*, D, D), zero above the diagonal.

    Raises:
        ValueError: no D has N elements there.

    >>> import wengert as torch
    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1., 2., 3.]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    # the positive root of D**2 + (1 + 2 diag) D - |diag| (diag + 1) - 2 N = 0
    linear = 1 + 2 * diag
    root = (-linear + (linear**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    n = round(root)
    if n - root > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    mat = vec.new_zeros(vec.shape[:-1] + (n, n))
    mat[..., _below_diagonal(n, diag)] = vec
    return mat
