"""The softmax family: ``softmax``, ``log_softmax``, ``softmin``, ``logsumexp``.

Each saves its result only. As in PyTorch, the derivatives are operators themselves (``_softmax_backward_data``,
``_log_softmax_backward_data``), with derivatives of their own. The bodies are in ``_arrays.softmax``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.layouts import rows
from ..._arrays.softmax import logsumexp_over, rows_logsumexp
from ..._arrays.threads import LARGE, elementwise
from ..._base.errors import warn
from ..._base.registry import ARRAYS, public
from ..._kinds.dims import normal_dim, rank
from ..._kinds.fronts import in_one_dim
from ..._kinds.general import general
from ..._kinds.out import EXACT, of_kind
from ..._kinds.slow_path import no_complex_grad
from ..._tape.error_text import of_python
from ..._tape.tensor import Tensor
from ..reduce.extrema import along_one
from ..reduce.sums import NOT_FLOATING, Dims, in_dtype, reduction, restored, to_default, unimplemented, wanted_dims

if TYPE_CHECKING:
    from ..._base.dtypes import dtype as DType


# ---- softmax
_SAMPLES = [((3, 4), (1,)), ((3, 4), (0,)), ((2, 3, 2), (1,)), ((0,), (0,))]


@general(
    layout=rows,
    grad=lambda xp, g, result, dim: xp._softmax_backward_data(g, result, dim),
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
    dtypes="f",
    libname="softmax_rows",
)
def softmax(self, dim):
    """exp(x) over its sum along a dim."""


def _softmax_backward_grad(xp: Any, g: Any, grad_output: Any, output: Any, dim: int, needs: Any) -> tuple[Any, Any]:
    by_output = None
    if needs[1]:
        by_output = g * (grad_output - xp.sum_dim(grad_output * output, (dim,), True)) - grad_output * xp.sum_dim(
            g * output, (dim,), True
        )
    return (xp._softmax_backward_data(g, output, dim) if needs[0] else None, by_output)


@general(
    tensors=2,
    grad=_softmax_backward_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), (3, 4), (1,)), ((3, 4), (3, 4), (0,))],
    dtypes="f",
)
def _softmax_backward_data(lib, grad_output, output, dim):
    """The transpose of softmax's derivative: y * (g - sum(g * y))."""
    return lib.softmax_backward_rows(grad_output, output, dim)


@general(
    layout=rows,
    grad=lambda xp, g, result, dim: xp._log_softmax_backward_data(g, result, dim),
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
    dtypes="f",
    libname="log_softmax_rows",
)
def log_softmax(self, dim):
    """x minus the logarithm of the sum of exp(x) along a dim."""


def _log_softmax_backward_grad(xp: Any, g: Any, grad_output: Any, output: Any, dim: int) -> tuple[Any, Any]:
    h = g * xp.exp(output)
    return g - xp.sum_dim(h, (dim,), True), -h * xp.sum_dim(grad_output, (dim,), True)


@general(
    tensors=2,
    grad=_log_softmax_backward_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), (3, 4), (1,)), ((3, 4), (3, 4), (0,))],
    dtypes="f",
)
def _log_softmax_backward_data(lib, grad_output, output, dim):
    """The transpose of log_softmax's derivative: g - exp(y) * sum(g)."""
    return lib.log_softmax_backward_rows(grad_output, output, dim)


# ---- public functions
@reduction("torch.softmax Tensor.softmax special.softmax", out_rule=EXACT, one_dim=("softmax", "dim", NOT_FLOATING))
def softmax_public(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """exp(x) over its sum along a dim: positive numbers that add up to one. The input is converted to ``dtype`` first.

    >>> torch.softmax(torch.tensor([1., 1., 1., 1.]), 0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _along(softmax, "softmax", input, dim, dtype)


@reduction(
    "torch.log_softmax Tensor.log_softmax special.log_softmax",
    out_rule=EXACT,
    one_dim=("log_softmax", "dim", NOT_FLOATING),
)
def log_softmax_public(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Logarithm of softmax along a dim, accurate where softmax is near 0 or 1.

    >>> torch.log_softmax(torch.tensor([1000., 0.]), 0)
    tensor([    0., -1000.])
    """
    return _along(log_softmax, "log_softmax", input, dim, dtype)


def _along(op: Any, name: str, input: Tensor, dim: Any, dtype: DType | None) -> Tensor:
    dim = normal_dim(dim, rank(input, name), name)
    if dtype is not None:
        input = in_dtype(input, dtype, name)
    if input._payload.dtype.kind not in "fV":
        if not input._payload.size:  # no kernel runs
            return no_complex_grad(f"_{name}", input).clone()
        raise unimplemented(f"{name}_lastdim_kernel_impl" if dim >= input.ndim - 1 else f"{name}_kernel_impl", input)
    return along_one(op, input, dim)


def _implicit_dim(name: str, ndim: int) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1


@public("nn.functional.softmax")
@partial(in_one_dim, name="softmax", values="dim", unless=NOT_FLOATING)
def functional_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """exp(x) over its sum along a dim. ``dim`` is 1 by default, or 0 for 0, 1 or 3 dimensions (as old programs expect).

    >>> torch.nn.functional.softmax(torch.zeros(2, 2), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    if not isinstance(input, Tensor):
        raise of_python(lambda: input.dim() if dim is None else input.softmax(dim))
    if dim is None:
        dim = _implicit_dim("softmax", input.ndim)
    return _along(softmax, "softmax", input, dim, dtype)


@public("nn.functional.log_softmax")
@partial(in_one_dim, name="log_softmax", values="dim", unless=NOT_FLOATING)
def functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Logarithm of softmax along a dim; see ``nn.functional.softmax`` for a missing ``dim``.

    >>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
    tensor([-0.6931, -0.6931])
    """
    if not isinstance(input, Tensor):
        raise of_python(lambda: input.dim() if dim is None else input.log_softmax(dim))
    if dim is None:
        dim = _implicit_dim("log_softmax", input.ndim)
    return _along(log_softmax, "log_softmax", input, dim, dtype)


@public("nn.functional.softmin")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """Softmax of the negated input; see ``nn.functional.softmax`` for a missing ``dim``.

    >>> torch.nn.functional.softmin(torch.tensor([0., 1000.]), dim=0)
    tensor([1., 0.])
    """
    if dim is None:
        dim = _implicit_dim("softmin", rank(input, "softmin"))
    return functional_softmax(-input, dim) if dtype is None else _along(softmax, "softmax", -input, dim, dtype)


# ---- logsumexp
def _logsumexp_grad(xp: Any, g: Any, self: Any, result: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    g = restored(xp, g, self.shape, dim, keepdim)
    result = restored(xp, result, self.shape, dim, keepdim)
    if xp is ARRAYS and self.size >= LARGE:
        return elementwise(lambda x, g, r: np.exp(x - r) * g, self, g, result)
    return g * xp.exp(self - result)


@general(
    layout=rows,
    grad=_logsumexp_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, 2), True)), ((), ((), False))],
)
def logsumexp(lib, self, dim, keepdim):
    """Logarithm of the sum of exponentials over some dims."""
    if self.ndim and dim == (self.ndim - 1,):
        r = rows_logsumexp(self, dim[0])
        if r is not None:
            return r[..., None] if keepdim else r
    if self.dtype.itemsize == 2:
        return logsumexp_over(lib, self.astype(np.float32), dim, keepdim).astype(self.dtype)
    return logsumexp_over(lib, self, dim, keepdim)


@reduction(
    "torch.logsumexp Tensor.logsumexp special.logsumexp",
    out_rule=of_kind("fcV", "logsumexp(): Expected floating point type for result tensor, but got: {Out}"),
    one_dim=("logsumexp", "dims, keepdim", f"dim is ABSENT or {NOT_FLOATING}"),
)
def logsumexp_public(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials along one or several dims, without overflow.

    >>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    ndim = rank(input, "logsumexp")
    if dim is None:
        raise TypeError("logsumexp(): argument 'dim' (position 2) must be tuple of ints, not NoneType")
    return logsumexp(to_default(input), wanted_dims(dim, ndim, "logsumexp"), keepdim)
