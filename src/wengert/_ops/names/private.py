"""Operators with a leading underscore in PyTorch that programs call nevertheless."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import intp
from ..._base import dtypes
from ..._base.dtypes import INT32, UINT8
from ..._base.registry import TENSORS, public
from ..._kinds.slow_path import check_arguments
from ..._tape.error_text import cpp_name, expect_tensors
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tensor_api.protocol import array_of


@public("torch._shape_as_tensor")
def _shape_as_tensor(self: Tensor) -> Tensor:
    """The shape as an int64 tensor."""
    return wrap(np.array(self.shape, np.int64))


@public("torch._assert_async")
def _assert_async(self: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless the only element is true; on the CPU it raises at once."""
    check_arguments("_assert_async", self, *(() if assert_msg is None else (assert_msg,)))
    if not bool(self):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _rows(name: str, input: Tensor) -> np.ndarray:
    a = array_of(input)
    if a.ndim > 1:
        raise RuntimeError(f"Input is supposed to be a vector, but got {a.ndim} dimensional tensor.")
    if a.dtype.kind not in "iu":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.BY_NUMPY[a.dtype].scalar_name}'")
    return a.reshape(-1)


def _index_type(out_int32: bool) -> Any:
    return np.int32 if out_int32 else np.int64


@public("torch._convert_indices_from_coo_to_csr")
def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """The start of each of ``size`` rows in a sorted vector of row indices, followed by the vector's length.

    >>> torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 3)
    tensor([0, 2, 2, 3])
    """
    rows = _rows("convert_indices_from_coo_to_csr_cpu", input)
    return wrap(np.searchsorted(rows, np.arange(int(size) + 1)).astype(_index_type(out_int32)))


@public("torch._convert_indices_from_csr_to_coo")
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and column of each element, of shape (2, n), from the starts of rows; ``transpose`` exchanges the two.

    >>> torch._convert_indices_from_csr_to_coo(torch.tensor([0, 2, 2, 3]), torch.tensor([0, 1, 0]))
    tensor([[0, 0, 2],
            [0, 1, 0]])
    """
    starts = _rows("convert_indices_from_csr_to_coo_cpu", crow_indices)
    columns = _rows("convert_indices_from_csr_to_coo_cpu", col_indices)
    rows = intp.repeat(np.arange(len(starts) - 1), np.diff(starts))
    both = (columns, rows) if transpose else (rows, columns)
    return wrap(np.stack(both).astype(_index_type(out_int32)))


@public("torch._test_autograd_multiple_dispatch")
def _test_autograd_multiple_dispatch(input: Tensor, b: bool | None = None) -> Tensor:
    """A copy, for tests of autograd: its gradient is one more than the cotangent, unless ``b`` is given.

    >>> x = torch.zeros(2, requires_grad=True)
    >>> torch._test_autograd_multiple_dispatch(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    if b is not None:
        check_arguments("_test_autograd_multiple_dispatch", input, b)
    copied = input.clone()
    if b is None and copied.requires_grad:
        copied.register_hook(lambda g: g + 1)
    return copied


@public("torch._test_autograd_multiple_dispatch_view")
def _test_autograd_multiple_dispatch_view(input: Tensor) -> Tensor:
    """``input.view(-1)``, for tests of autograd."""
    return input.view(-1)


@public("torch._test_autograd_multiple_dispatch_view_copy")
def _test_autograd_multiple_dispatch_view_copy(input: Tensor) -> Tensor:
    """A copy of ``input.view(-1)``, for tests of autograd."""
    return input.view(-1).clone()


@public("torch._int_mm")
def _int_mm(self: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices of int8 in int32; ``out`` has its shape and dtype.

    >>> torch._int_mm(torch.full((1, 2), 100, dtype=torch.int8), torch.full((2, 1), 100, dtype=torch.int8))
    tensor([[20000]], dtype=torch.int32)
    """
    expect_tensors("_int_mm", self=self, mat2=mat2)
    expected = "int_mm_out_cpu: Expected"
    for name, t in (("self", self), ("mat2", mat2)):
        if t._payload.ndim != 2:
            raise RuntimeError(f"{expected} {name} to be of dimension 2 but got {t._payload.ndim}")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got {self.shape[1]} and {mat2.shape[0]}"
        )
    if logical_dtype(self) not in (np.int8, UINT8):
        raise RuntimeError(f"{expected} self dtype to be int8 or uint8 but got {cpp_name(self)}")
    if logical_dtype(mat2) != np.int8:
        raise RuntimeError(f"{expected} mat2 dtype to be of type int8 but got {cpp_name(mat2)}")
    product = TENSORS.mat_mat(cast(self, INT32), cast(mat2, INT32))
    if out is None:
        return product  # type: ignore[no-any-return]
    if logical_dtype(out) != INT32:
        raise RuntimeError(f"{expected} result dtype to be of type kInt but got {cpp_name(out)}")
    for d in (0, 1):
        if out.size(d) != product.size(d):
            raise RuntimeError(f"{expected} result.size({d}) to be {product.size(d)} but got {out.size(d)}")
    if not out.is_contiguous():
        raise RuntimeError(f"{expected} result to be contiguous.")
    return out.copy_(product)
