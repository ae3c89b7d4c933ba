"""Rows of a table: ``torch.embedding`` and ``nn.functional.embedding``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.dtypes import BY_NUMPY
from ..._base.errors import noted
from ..._base.registry import public
from ..._kinds.general import general
from ..._kinds.slow_path import no_complex_grad
from ..._payloads.meta import on_meta
from ..._payloads.transforms import Batched, Dual, OwnTape, dtype_of, level_of
from ..._tape.error_text import expect_tensor
from ..._tape.promotion import logical_dtype
from ..._tape.saved import _type_name
from ..._tape.tensor import Tensor, wrap
from ..._tape.views import count_write, writable
from ..shape.views_primitive import payload
from ._along import bad_index, fitting
from .index_primitive import batch_index
from .scatter_primitive import sample_places


def _embedding_back(xp: Any, g: Any, weight_shape: Any, indices: Any, padding_idx: Any, scale_grad_by_freq: Any) -> Any:
    if padding_idx >= 0:
        padding = xp.unsqueeze_dim(indices == padding_idx, indices.ndim)
        g = xp.masked_fill(g, padding, 0)
    if scale_grad_by_freq:
        ones = xp._to_copy(xp.zeros_like(indices), dtype_of(g)) + 1
        often = xp.index([xp.index_back([ones, indices], weight_shape[:1], (0,)), indices], (0,))
        g = g / xp.unsqueeze_dim(often, indices.ndim)
    return xp.index_back([g, indices], weight_shape, (0,))


@general(
    tensors=2,
    grad={"weight": _embedding_back},
    jvp=lambda xp, tangents, result, weight, indices, *p: xp.index([tangents[0], indices], (0,)),
    holomorphic=False,
    batch=lambda U, info, inner, mine, p: _batch_embedding(U, inner, mine, p),
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), sample_places(4)), (-1, False)),
        ((rng.standard_normal((3, 2)), sample_places(2, 2)), (-1, False)),
    ],
)
def embedding(lib, weight, indices, padding_idx, scale_grad_by_freq):
    """The rows of a matrix at some indices."""
    return lib.take(weight, indices, 0)


def _batch_embedding(U: Any, inner: Any, mine: Any, p: Any) -> Any:
    if not mine[0]:
        return U.embedding(inner[0], inner[1], *p)
    return batch_index(U, None, inner, mine, ((0,),))


@public("torch.embedding")
def torch_embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """``nn.functional.embedding`` with the matrix as the first argument.

    >>> torch.embedding(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1, 1, 0]))
    tensor([[3., 4.],
            [3., 4.],
            [1., 2.]])
    """
    payload(weight, "embedding")
    dtype = logical_dtype(expect_tensor("embedding", "indices", 2, indices))
    if dtype.kind != "i" or dtype.itemsize < 4:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{_type_name(np.empty(0, dtype))} instead (while checking arguments for embedding)"
        )
    if weight._payload.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if getattr(weight._payload, "is_sparse", False):
        rows = weight.index_select(0, indices.reshape(-1))
        return rows if indices._payload.ndim == 1 else rows.view(tuple(indices._payload.shape) + (-1,))
    bad = bad_index(indices, weight._payload.shape[0])
    if bad is not None:
        raise noted(
            IndexError("index out of range in self"),
            f"Why: the index {bad} is not among the {weight._payload.shape[0]} rows of the table.",
            "What to do: make num_embeddings one more than the largest index, and no index negative.",
            code="W013",
        )
    if sparse and isinstance(weight._payload, np.ndarray) and isinstance(indices._payload, (np.ndarray, np.generic)):
        from ..names.sparse import sparse_rows

        if scale_grad_by_freq and weight._node is not None:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        return sparse_rows(weight, indices, padding_idx, embedding(weight.detach(), indices, padding_idx, False))
    return embedding(no_complex_grad("embedding", weight), indices, padding_idx, bool(scale_grad_by_freq))


@public("nn.functional.embedding")
def embedding_public(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a matrix at some indices.

    ``padding_idx``: a row that gets no gradient. ``max_norm``: selected rows whose ``norm_type`` norm is larger are
    first scaled down to it, in place. ``scale_grad_by_freq``: the gradient of a row is divided by the row's count in
    ``input``. ``sparse``: the gradient of ``weight`` is a sparse tensor with the selected rows.

    >>> torch.nn.functional.embedding(torch.tensor([2, 0]), torch.tensor([[0., 1.], [2., 3.], [4., 5.]]))
    tensor([[4., 5.],
            [0., 1.]])
    """
    w = payload(weight, "embedding")
    if w.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    n = w.shape[0]
    if (
        max_norm is None
        and not (sparse or scale_grad_by_freq or w.dtype.kind == "c")
        and fitting(weight, 0, input) == 0
    ):
        if padding_idx is None:
            return embedding(weight, input, -1, False)
        if 0 <= padding_idx < n:
            return embedding(weight, input, padding_idx, False)
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx >= n or padding_idx < -n:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += n
    if max_norm is not None and not on_meta(weight):
        _renorm(weight, input, max_norm, norm_type)
    return torch_embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def floats_for_norm(weight: Tensor) -> None:
    """Raise PyTorch's error for a matrix whose rows have no norm."""
    dtype = logical_dtype(weight)
    if dtype.kind not in "fcV":
        name = BY_NUMPY[dtype].scalar_name
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {name} instead.")


def _renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """PyTorch's ``embedding_renorm_``, not recorded."""
    floats_for_norm(weight)
    w, i = weight._payload, indices._payload
    if isinstance(i, Batched) and level_of(weight) < level_of(indices):
        raise RuntimeError(
            "vmap: aten::embedding_renorm_(self, *extra_args) is not possible because there exists a Tensor `other` in "
            "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but `self` "
            "not being vmapped over at level 1. Please try to use out-of-place operators instead of "
            "aten::embedding_renorm_. If said operator is being called inside the PyTorch framework, please file a bug "
            "report instead."
        )
    if isinstance(w, Batched):
        for k in range(w.v.shape[0]):
            one = wrap(i.v[k]) if isinstance(i, Batched) and i.tag == w.tag else indices
            _renorm(wrap(w.v[k]), one, max_norm, norm_type)
        return
    if isinstance(w, (Dual, OwnTape)):
        _renorm(w.v if isinstance(w.v, Tensor) else wrap(w.v), indices, max_norm, norm_type)
        return
    from .scatter import known_values  # seldom needed

    rows = np.unique(known_values(indices, "embedding with max_norm"))
    a = writable(weight)
    norms = np.linalg.norm(a[rows].astype(np.float64), norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        a[rows[large]] *= (max_norm / (norms[large] + 1e-7)).astype(a.dtype)[:, None]
        count_write(weight)
