# Made by tools/make_stubs.py; do not edit.
from typing import Final, Self

from ._tape.tensor import Tensor

class frexp(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def mantissa(self) -> Tensor: ...
    @property
    def exponent(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class max(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class min(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class aminmax(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def min(self) -> Tensor: ...
    @property
    def max(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class cummax(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class cummin(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class sort(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class topk(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class kthvalue(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class median(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class nanmedian(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class mode(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class histogram(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class histogramdd(tuple[Tensor, tuple[Tensor, ...]]):
    def __new__(cls, sequence: tuple[Tensor, tuple[Tensor, ...]]) -> Self: ...
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> tuple[Tensor, ...]: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_eigh(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_eig(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_svd(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def Vh(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

class svd(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def V(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

class linalg_qr(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class qr(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_slogdet(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class slogdet(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_inv_ex(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def inverse(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_cholesky_ex(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_solve_ex(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def result(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_lu_factor(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_lu_factor_ex(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

class linalg_lu(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

class lu_unpack(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

class triangular_solve(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def solution(self) -> Tensor: ...
    @property
    def cloned_coefficient(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_lstsq(tuple[Tensor, Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def solution(self) -> Tensor: ...
    @property
    def residuals(self) -> Tensor: ...
    @property
    def rank(self) -> Tensor: ...
    @property
    def singular_values(self) -> Tensor: ...
    n_fields: Final = 4
    n_sequence_fields: Final = 4
    n_unnamed_fields: Final = 0

class geqrf(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def a(self) -> Tensor: ...
    @property
    def tau(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_ldl_factor(tuple[Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor]) -> Self: ...
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    n_fields: Final = 2
    n_sequence_fields: Final = 2
    n_unnamed_fields: Final = 0

class linalg_ldl_factor_ex(tuple[Tensor, Tensor, Tensor]):
    def __new__(cls, sequence: tuple[Tensor, Tensor, Tensor]) -> Self: ...
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...
    n_fields: Final = 3
    n_sequence_fields: Final = 3
    n_unnamed_fields: Final = 0

all_return_types: list[type]

__all__ = [
    "all_return_types",
    "frexp",
    "max",
    "min",
    "aminmax",
    "cummax",
    "cummin",
    "sort",
    "topk",
    "kthvalue",
    "median",
    "nanmedian",
    "mode",
    "histogram",
    "histogramdd",
    "linalg_eigh",
    "linalg_eig",
    "linalg_svd",
    "svd",
    "linalg_qr",
    "qr",
    "linalg_slogdet",
    "slogdet",
    "linalg_inv_ex",
    "linalg_cholesky_ex",
    "linalg_solve_ex",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_lu",
    "lu_unpack",
    "triangular_solve",
    "linalg_lstsq",
    "geqrf",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
]
