"""The Python array API standard, version 2024.12, for tensors: what ``x.__array_namespace__()`` returns.

Functions and their parameters (``axis``, ``keepdims``) have the standard's names, and its rules hold where PyTorch's
differ: an array without dimensions takes part in the choice of the dtype, ``std`` divides by N, ``sort`` is stable and
returns values only. Everything is recorded. Besides the standard's names there are only ``float16``,
``bfloat16`` and ``diag``: a program that finds ``median`` takes it for NumPy's.

>>> import wengert as torch
>>> xp = torch.ones(2, 3).__array_namespace__()
>>> xp.__name__
'wengert.array_api'
>>> x = torch.tensor([[3., 1.], [2., 4.]], requires_grad=True)
>>> xp.sum(xp.sort(x, axis=0), axis=1, keepdims=True)
tensor([[3.],
        [7.]], grad_fn=<SumBackward1>)

The functions are in ``_elementwise``, ``_making``, ``_reductions``, ``_shapes`` and ``_sets``; ``linalg`` and ``fft``
are the standard's extensions.
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

import wengert as torch

from . import fft, linalg
from ._dtypes import __array_namespace_info__, astype, can_cast, finfo, iinfo, isdtype, result_type
from ._elementwise import FUNCTIONS, clip, equal, round, sign
from ._making import arange, asarray, empty, eye, from_dlpack, full, linspace, meshgrid, ones, tril, triu, zeros
from ._reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from ._sets import argsort, searchsorted, sort, unique_all, unique_counts, unique_inverse, unique_values
from ._shapes import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    nonzero,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    take,
    take_along_axis,
    tile,
    unstack,
    where,
)
from .linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2024.12"

newaxis = None
bool = torch.bool
from wengert import (  # noqa: E402
    bfloat16,
    complex64,
    complex128,
    diag,
    empty_like,
    float16,
    float32,
    float64,
    full_like,
    int8,
    int16,
    int32,
    int64,
    ones_like,
    uint8,
    uint16,
    uint32,
    uint64,
    zeros_like,
)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


globals().update(FUNCTIONS)
_NO_NAMES = {"Any", "FUNCTIONS", "TYPE_CHECKING", "torch"}
globals()["__all__"] = sorted({n for n in globals() if not n.startswith("_")} - _NO_NAMES)
