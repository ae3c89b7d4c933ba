"""PyTorch's names for our operators, which the profiler, logs and dispatch modes show.

An operator is named after its node, whose name is PyTorch's, or else after its public function.
"""

from __future__ import annotations

import functools
import re

from .registry import Operator

# Operators whose node is not named after the operator that a user would look for.
_EXCEPTIONS = {
    "_to_copy": "_to_copy", "all_dim": "all", "any_dim": "any", "cat": "cat", "copy": "copy", "floor_divide":
    "floor_divide", "ndtr": "special_ndtr", "vec_mat": "matmul", "matmul_nd": "matmul", "contract": "einsum",
    "reshape": "reshape", "standardize": "standardize", "fft_c2c": "_fft_c2c", "fft_r2c": "_fft_r2c", "fft_c2r":
    "_fft_c2r", "column_sums": "sum", "_threshold_backward": "threshold_backward", "softmax": "_softmax",
    "log_softmax": "_log_softmax", "_softmax_backward_data": "_softmax_backward_data", "_log_softmax_backward_data":
    "_log_softmax_backward_data", "_unique2": "_unique2", "attention": "scaled_dot_product_attention",
}  # fmt: skip


@functools.cache
def aten_name(info: Operator) -> str:
    """``"mm"`` of ``mat_mat``: the operator's name without the namespace ``aten::``."""
    if info.name in _EXCEPTIONS:
        return _EXCEPTIONS[info.name]
    plain = info.name.strip("_")
    if info.node is None:
        return plain
    if info.node.__name__ == "NotImplemented":
        return info.name
    words = re.sub(r"Backward\d*$", "", info.node.__name__)
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z]\d)(?=[A-Z][a-z])", "_", words).lower()
    return plain if snake.replace("_", "") == plain.replace("_", "") else snake
