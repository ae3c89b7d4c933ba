"""Parametrizations of weights: weight normalisation, spectral normalisation, orthogonal matrices.

Sources: Salimans and Kingma 2016; Miyato et al. 2018; Lezcano-Casado 2019 (the trivialisation of ``orthogonal``).
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._base.grad_mode import no_grad
from ..._tape.tensor import Tensor
from .. import functional as F
from ..modules.module import Module
from ._normalized import check_iterations, output_dim
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module: Any, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# ---- length and direction
def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but one (-1: over all), in a shape that broadcasts to ``v``."""
    if dim == -1:
        return torch.norm(v, pow)
    if dim not in (0, v.dim() - 1):
        return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)
    shape = [1] * v.dim()
    shape[dim] = v.size(dim)
    rows = v.reshape(v.size(0), -1) if dim == 0 else v.reshape(-1, v.size(dim))
    return torch.norm(rows, pow, 1 if dim == 0 else 0).view(shape)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The length and direction of a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train a weight by its length (``original0``) and direction (``original1``).

    >>> import wengert as torch
    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_old_names(state_dict: Any, prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for k, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{k}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(from_old_names)
    return module


# ---- spectral norm
class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        dims = weight.dim()
        if not -dims <= dim < dims:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{dims}, {dims - 1}] but got {dim})")
        check_iterations(n_power_iterations)
        self.dim, self.eps = dim % dims, eps
        if dims == 1:  # a vector needs no power iteration
            return
        self.n_power_iterations = n_power_iterations
        matrix = self._reshape_weight_to_matrix(weight)
        start = [matrix.new_empty(n).normal_(0, 1) for n in matrix.size()]
        for name, vector in zip(("_u", "_v"), start, strict=True):
            self.register_buffer(name, F.normalize(vector, dim=0, eps=eps))
        self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call must not overwrite values that the graph saved
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself, which is assumed to have spectral norm 1."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which power iterations estimate in training mode."""
    weight = _tensor_of(module, name)
    along = output_dim(module) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, along, eps))


# ---- orthogonal
_MAPS = ("matrix_exp", "cayley", "householder")


def _make_orthogonal(a: Tensor) -> Tensor:
    """The Q of a QR decomposition whose R has a positive diagonal, except for columns of sign 0."""
    q, r = torch.linalg.qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q: Tensor) -> bool:
    n, k = q.shape[-2:]
    identity = torch.eye(k, dtype=q.dtype)
    return torch.allclose(q.mH @ q, identity, atol=10.0 * n * torch.finfo(q.dtype).eps)


def _completed(q: Tensor) -> Tensor:
    """A square orthogonal matrix whose first columns are those of ``q`` or span the same space."""
    n, k = q.shape[-2:]
    if n == k and _is_orthogonal(q):
        return q.clone()
    if n != k:
        q = torch.cat([q, torch.randn(*q.shape[:-2], n, n - k, dtype=q.dtype)], dim=-1)
    return _make_orthogonal(q)


def _reflectors(q: Tensor) -> Tensor:
    """The Householder vectors of ``q`` below the diagonal, and on it the signs that they do not determine."""
    a, tau = torch.geqrf(q)
    signs = a.diagonal(dim1=-2, dim2=-1)
    signs.sign_()
    signs[tau == 0.0] *= -1
    return a


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if orthogonal_map == "householder" and weight.is_complex():
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.size(-2) < x.size(-1)
        q = self._map(x.mT if wide else x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _map(self, x: Tensor) -> Tensor:
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
            q = torch.linalg.householder_product(a, tau)
            return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        x = x.tril()
        if n != k:
            x = torch.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        a = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = torch.matrix_exp(a)
        else:
            identity = torch.eye(n, dtype=a.dtype)
            q = torch.linalg.solve(identity - 0.5 * a, identity + 0.5 * a)
        return q[..., :k] if n != k else q

    @no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        """What is mapped to ``q``."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        wide = q.size(-2) < q.size(-1)
        tall = q.mT if wide else q
        if hasattr(self, "base"):
            self.base = _completed(tall)
            start = torch.zeros_like(q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflectors = _reflectors(tall)
        return reflectors.mT if wide else reflectors


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix orthogonal: ``orthogonal_map`` is ``"matrix_exp"``, ``"cayley"`` or ``"householder"``."""
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    how = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, how, unsafe=True)
