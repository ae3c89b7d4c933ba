"""The fully connected layer, ``nn.functional.linear``: one operator for the product and the bias."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..._arrays.blas import UNSHARED_PRODUCT, large_product
from ..._arrays.half import rounded_once
from ..._arrays.library import in_lib
from ..._arrays.sums import add_up
from ..._base.dtypes import BOOL, FLOAT16
from ..._base.errors import noted
from ..._base.registry import REGISTRY, TENSORS, plain
from ..._kinds.linear import affine, refuse_addmm
from ..._kinds.linear import linear as kind_linear
from ..._kinds.slow_path import require
from ..._tape.unfused import layer_graph, shown_as, with_sizes
from ..linalg.factors import is_columns, is_turned
from ..linalg.matmul import matmul, sizes_text
from ..shape.broadcasting import expand_size


def _refuse_linear(error: Exception, x: Any, w: Any, b: Any) -> Any:
    if x.shape[-1] != w.shape[-1]:
        columns, rows = x.shape[-1], w.shape[-1]
        shapes = f"({sizes_text(x.shape)} and {rows}x{w.shape[0]})"
        raise noted(
            RuntimeError(f"mat1 and mat2 shapes cannot be multiplied {shapes}"),
            f"Why: the layer takes {rows} features (in_features) and the last dimension of its input has {columns}.",
            f"What to do: nn.Linear(in_features={columns}, ...), or look where the input's shape comes from; the "
            "features of images are in several dimensions, which nn.Flatten() makes one.",
            code="W008",
        )
    size = (x.shape[0], w.shape[0])
    try:
        expand_size(size, b)
    except RuntimeError as refusal:
        raise refusal from None
    raise error


def _refuse_mixed(info: Any, x: Any, w: Any, b: Any) -> Any:
    if b is None and x.shape[-1] != w.shape[-1]:  # PyTorch multiplies without looking at the dtypes first
        _refuse_linear(ValueError(), x, w, b)
    return refuse_addmm(info, x, w, b)


def _linear_any_rank(input: Any, weight: Any, bias: Any = None) -> Any:
    """The linear layer on a vector or a batch of any rank."""
    a, w = input._payload, weight._payload
    if not a.ndim or not w.ndim:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {a.ndim}D and {w.ndim}D")
    if w.ndim == 1:
        if bias is not None:
            raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
        return matmul(input, weight)
    if w.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {w.ndim}D")
    if bias is None:
        if hasattr(type(w), "with_dense") and not hasattr(type(a), "with_dense"):
            return type(w).with_dense(LAYER, input, weight)
        if a.dtype is BOOL:
            require(input, "", "addmm_impl_cpu_")
        return matmul(input, TENSORS.matrix_t(weight))
    if bias._payload.ndim > 1 or (type(a) is np.ndarray and not a.flags.c_contiguous):
        return matmul(input, TENSORS.matrix_t(weight)) + bias
    lead = tuple(a.shape[:-1])
    require(input, "fhciu", "addmm_impl_cpu_")
    rows = TENSORS.linear(TENSORS.reshape(input, (prod(lead), a.shape[-1])), weight, bias)
    return TENSORS.reshape(rows, (*lead, w.shape[0]))


@kind_linear(
    transpose=lambda xp, g, self_shape: xp.expand(g, self_shape),
    node="SumBackward1",
    batch=lambda U, info, inner, mine, p: U.sum_dim(inner[0], (1,), False),
    samples=[((2, 3), ()), ((1, 3), ()), ((0, 3), ()), ((5, 0), ())],
)
def column_sums(lib, self):
    """Sum over the rows of a matrix, as a product with ones: BLAS adds rows faster than a reduction does."""
    n = len(self)
    if n == 1:
        return self.reshape(self.shape[1])
    if n > 65536 or self.dtype.kind not in "fc":
        return add_up(lib, self, 0, False)
    return lib.column_sums(self)


def _bias_cotangent(xp: Any, g: Any, shape: Any) -> Any:
    return xp.column_sums(g) if shape == g.shape[1:] else xp.sum_to(g, shape)


def _weight_cotangent(xp: Any, g: Any, input: Any, weight: Any) -> Any:
    """Column-major unless the weight is row-major: its transpose is the second factor of PyTorch's product."""
    return xp.mat_mat(input.mT, g).mT if is_turned(weight) else xp.mat_mat(g.mT, input)


def _linear_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, w, b = inner
    if mine[0] and not mine[1] and not mine[2] and (b is None or b.ndim < 2):
        n, m, k = x.shape
        return U.reshape(U.linear(U.reshape(x, (n * m, k)), w, b), (n, m, w.shape[0]))
    r = U.matmul_nd(x, w.mT) if mine[0] or mine[1] else U.mat_mat(x, w.mT)
    if b is None:
        return r
    if mine[2]:
        b = U.reshape(b, (b.shape[0], *(1,) * (3 - b.ndim), *b.shape[1:]))
    return r + b


@in_lib
def linear_rows(input: Any, weight: Any, bias: Any) -> Any:
    """Rows of input times the transpose of weight, plus bias."""
    if input.dtype is FLOAT16:
        return _of_halves(input, weight, bias)
    few = weight.size * len(input) <= UNSHARED_PRODUCT
    r = input.dot(weight.T) if few else _with_many_weights(input, weight)
    if bias is None:
        return r
    if len(r) == 1 and bias.ndim == 1:
        row = r[0]
        add(row, bias, row)  # adding two vectors takes a third of the time of broadcasting one
    else:
        add(r, bias, r)
    return r


_of_halves = rounded_once(linear_rows)  # NumPy's product of float16 takes a hundred times as long


@plain
def plain_linear_rows(lib, input, weight, bias):
    r = lib.matmul(input, weight.T)
    return r if bias is None else r + bias


add = np.add
_FEW, _SMALL_PRODUCT = 64, 1_000_000  # rows; multiplications


def _with_many_weights(input: Any, weight: Any) -> Any:
    """The product of rows with many weights: see ``matrix_product``.

    OpenBLAS first copies the weights into another order, unless there are few multiplications. For few rows the copy
    takes most of the time, and the transposed product takes half as long.
    """
    n = len(input)
    if 1 < n <= _FEW and n * weight.size > _SMALL_PRODUCT and weight.flags.c_contiguous:
        return np.ascontiguousarray(large_product(weight, input.T).T)
    return large_product(input, weight.T)


@affine(
    first=lambda xp, g, input, weight: xp.mat_mat(weight.mT, g.mT).mT if is_columns(input) else xp.mat_mat(g, weight),
    second=_weight_cotangent,
    added=_bias_cotangent,
    spread=lambda xp, t, shape: xp.expand(t, shape),
    node="AddmmBackward0",
    node_without="MmBackward0",
    libname="linear_rows",
    added_first=True,
    own_shapes=False,
    ranks=(2, 2),
    other_ranks=_linear_any_rank,
    refuse_mixed=_refuse_mixed,
    refuse_shapes=_refuse_linear,
    names="nn.functional.linear",
    saved_as={
        "mat1": ("input", None),
        "self": ("input", None),
        "mat2": ("weight", lambda w: TENSORS.permute(w, (1, 0))),
    },
    batch=_linear_batch,
    dtypes="fci",
    samples=[
        ((2, 3), (4, 3), (4,), ()),
        ((2, 3), (4, 3), None, ()),
        ((1, 3), (2, 3), (2,), ()),
        ((0, 3), (2, 3), (2,), ()),
    ],
)
def linear(input, weight, bias):
    """``input @ weight.T + bias``: the fully connected layer.

    ``input`` is ``(*, in)``, ``weight`` is ``(out, in)``, ``bias`` is ``(out,)`` or ``None``; the result ``(*, out)``.

    >>> torch.nn.functional.linear(torch.tensor([[1., 2.]]), torch.tensor([[1., 1.], [0., 1.]]), torch.tensor([.5, 0.]))
    tensor([[3.5000, 2.0000]])
    """


LAYER = REGISTRY["linear"]
LAYER.node.viewed = LAYER.node_without.viewed = ("y",)
shown_as(LAYER.node, layer_graph)
with_sizes(LAYER.node, "mat1", "mat2", transposed=True, alpha=1, beta=1)
shown_as(LAYER.node_without, layer_graph)
with_sizes(LAYER.node_without, "self", "mat2", transposed=True)
