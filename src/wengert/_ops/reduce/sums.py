"""Reductions over all elements or along dims: sums, means, products, ``all`` and ``any``.

``kept`` and ``restored``, for the formulas of all reductions, put reduced dims back with size one. Extrema are in
``extrema``, norms in ``norms``, spread and order statistics in ``statistics``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.layouts import as_operand, rows
from ..._arrays.sums import FALSE, SMALL, TRUE, add_up, as_truth, average, count_of, empty, multiply_up, no_mean
from ..._base.dtypes import BLAS_FLOATS, BY_NUMPY, FLOAT32, INEXACT, UINT8, as_dtype
from ..._base.registry import ARRAYS, plain_body, public
from ..._base.signatures import shown_with
from ..._kinds.dims import ABSENT, EVERY_DIM, normal_dim, normal_dims, not_a_bool, numpy_names, numpy_spelling, rank
from ..._kinds.fronts import in_one_dim, in_usual_call
from ..._kinds.general import general
from ..._kinds.keywords import with_axis, with_keywords
from ..._kinds.linear import linear
from ..._kinds.out import CONVERTIBLE, EXACT, Rule, convertible, exactly, write_out
from ..._payloads.transforms import of_transform
from ..._tape.promotion import cast, default_np, logical_dtype
from ..._tape.tensor import Tensor, wrap

if TYPE_CHECKING:
    from ..._base.dtypes import dtype as DType

Dims = int | Sequence[int] | None


# ---- common parts
def kept(shape: tuple[int, ...], dim: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape with the reduced dims set to one."""
    if not shape:
        return ()
    dims = {d % len(shape) for d in ((dim,) if isinstance(dim, int) else dim)}
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


def restored(xp: Any, g: Any, shape: tuple[int, ...], dim: int | tuple[int, ...], keepdim: bool) -> Any:
    """A reduction's result or cotangent with the reduced dims back at size one, ready to broadcast."""
    return g if keepdim else xp.reshape(g, kept(shape, dim))


def reduction(
    *names: str,
    out_rule: Any = None,
    in_out: Any = False,
    given_rule: Any = EXACT,
    one_dim: tuple[Any, ...] | None = None,
    usual: tuple[Any, ...] | None = None,
) -> Callable[[Any], Any]:
    """Decorator: publish a reduction that also accepts ``axis=``, ``keepdims=`` and ``out=`` (``_kinds.keywords``).

    ``in_out``: without ``dtype=`` the reduction computes in the dtype of ``out``, with ``dtype_of`` in any dtype;
    ``given_rule`` is the rule for ``out`` beside a ``dtype=``.
    ``one_dim``: the operator that it is along one dim, and the other arguments of ``in_one_dim``; ``usual``: those of
    ``in_usual_call``.
    """

    def decorate(fn: Any) -> Any:
        if out_rule is not None:
            fn.out_rule = out_rule

        def otherwise(args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
            kwargs = numpy_names(kwargs)
            if out is None:
                return fn(*args, **kwargs)
            rule = None
            if in_out and kwargs.get("dtype") is None:
                input = args[0] if args else kwargs.get("input")
                kwargs["dtype"] = dtype_of(out) if in_out is dtype_of else dtype_for(out, input, out_rule)
            elif in_out:
                rule = given_rule
            return write_out(out, fn, args, kwargs, rule)

        form = with_keywords(fn, otherwise)
        if one_dim is not None:
            form = in_one_dim(form, *one_dim)
        return public(*names)(form if usual is None else in_usual_call(form, *usual))

    return decorate


# when a public function is not its operator along one dim
NOT_FLOATING = 'a.dtype is not FLOAT32 and a.dtype.kind != "f"'
NOT_REAL = 'a.dtype is not FLOAT32 and a.dtype.kind not in "fiub"'
NOT_REAL_OR_EMPTY = f"not a.size or {NOT_REAL}"


def dtype_of(out: Any) -> Any:
    """The dtype in which a sum or a product is computed into ``out``, whatever the elements are."""
    return out.dtype if isinstance(out, Tensor) else None


def dtype_for(out: Any, input: Any, rule: Any = None) -> Any:
    """The dtype in which to compute a sum into ``out``; ``None`` if the sum's dtype does not fit ``out``."""
    if not isinstance(out, Tensor) or not isinstance(input, Tensor):
        return None
    try:
        (rule or CONVERTIBLE).check(logical_dtype(input), logical_dtype(out))
    except (RuntimeError, TypeError):
        return None
    return out.dtype


def in_dtype(input: Tensor, dtype: DType | None, name: str) -> Tensor:
    """Convert the input to the ``dtype=`` argument."""
    return input if dtype is None else cast(input, as_dtype(dtype, name).np)


def dtype_text(t: Tensor) -> str:
    """The name of the tensor's dtype in PyTorch's errors: ``Float``, ``Long``."""
    return BY_NUMPY[logical_dtype(t)].scalar_name


def unimplemented(kernel: str, t: Tensor) -> NotImplementedError:
    """PyTorch's error for a dtype that an operator does not implement."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype_text(t)}'")


def is_kind(t: Tensor, kinds: str) -> bool:
    """Whether the tensor's dtype is of these NumPy kinds (``"c"``, ``"b"``, ...)."""
    a = t._payload
    return (a.dtype if type(a) is np.ndarray else logical_dtype(t)).kind in kinds


def wanted_dims(dim: Any, ndim: int, name: str) -> tuple[int, ...]:
    """The dims to reduce; none given, or an empty tuple, means all of them."""
    if type(dim) is int and -ndim <= dim < ndim:
        return (dim if dim >= 0 else dim + ndim,)
    if dim is None or dim is ABSENT or (type(dim) in (tuple, list) and not dim):
        return EVERY_DIM[ndim]
    return normal_dims(dim, ndim, name)


@shown_with
def shown_as_none(parameters: list[Parameter]) -> list[Parameter]:
    """Decorator: the signature shows ``dim=None``, which is another operator in PyTorch than no ``dim``."""
    return [p.replace(default=None, annotation="Dims") if p.name == "dim" else p for p in parameters]


# ---- sum
@shown_as_none
def sum(
    input: Tensor,
    dim: Any = ABSENT,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    **spelling: Any,
) -> Tensor:
    """Sum of all elements, or along one or several dims.

    Integers and bools are summed in int64. ``dtype``: convert the elements to it first.

    >>> x = torch.tensor([[1., 2.], [3., 4.]])
    >>> x.sum(), x.sum(0), x.sum(dim=1, keepdim=True)
    (tensor(10.), tensor([4., 6.]), tensor([[3.],
            [7.]]))
    """
    if dtype is None and out is None and not spelling:
        try:
            ndim = input._payload.ndim
        except AttributeError:
            ndim = rank(input, "sum")
        dims = wanted_dims(dim, ndim, "sum")
        if keepdim is not False and keepdim is not True:
            raise not_a_bool("sum", "keepdim", keepdim)
        return sum_all(input) if dim is ABSENT and not keepdim else sum_dim(input, dims, keepdim)
    if out is not None:
        return write_out(
            out, sum, (input, dim, keepdim), {"dtype": dtype or dtype_of(out), **spelling}, EXACT if dtype else None
        )
    if spelling:
        return sum(input, **numpy_spelling("sum", {"dim": dim, "keepdim": keepdim, **spelling}), dtype=dtype)
    return in_dtype(sum(in_dtype(input, dtype, "sum"), dim, keepdim), dtype, "sum")


def spread(xp: Any, g: Any, shape: tuple[int, ...], n: int) -> Any:
    """``g / n`` everywhere: the cotangent of a sum or mean. A small array costs less than a view of one number."""
    if xp is ARRAYS and g.dtype is FLOAT32 and math.prod(shape) <= SMALL:
        d = empty(shape, FLOAT32)
        d.fill(g.item() / n)  # rounds to float32 like the quotient of two float32 numbers
        return d
    return expanded_quotient(xp, g, shape, n)


def expanded_quotient(xp: Any, g: Any, shape: tuple[int, ...], n: int) -> Any:
    """``g / n`` expanded; where the gradient may be the program's, as it is, divided afterwards, as in PyTorch."""
    if n == 1:
        return xp.expand(g, shape)
    return xp.expand(g / n, shape) if xp is ARRAYS else xp.expand(g, shape) / n


@linear(
    transpose=lambda xp, g, self_shape: spread(xp, g, self_shape, 1),
    node="SumBackward0",
    batch=lambda U, info, inner, mine, p: U.sum_dim(inner[0], tuple(range(1, inner[0].ndim)), False),
    samples=[((3, 4), ()), ((), ()), ((0, 2), ())],
    called="sum",
    libname="sum_of_all",
    names="torch.sum Tensor.sum",
    otherwise=sum,
    along="sum_dim",
)
def sum_all(self):
    """Sum of all elements."""


@linear(
    transpose=lambda xp, g, self_shape, dim, keepdim: xp.expand(restored(xp, g, self_shape, dim, keepdim), self_shape),
    node="SumBackward1",
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, 2), True)), ((), ((), False)), ((2, 0), ((1,), False))],
    called="sum",
    libname="sum_along",
)
def sum_dim(self, dim, keepdim):
    """Sum over some dims."""


@general(
    layout=rows,
    grad=lambda xp, g, self, dim, keepdim: xp._masked(
        xp.expand(restored(xp, g, self.shape, dim, keepdim), self.shape), xp.isnan(self), 0
    ),
    batch=("dim", ("dim",)),
    dtypes="fib",
    samples=[((3, 4), ((1,), False)), ((2, 3), ((0, 1), True)), ((), ((), False))],
)
def nansum(lib, self, dim, keepdim):
    """Sum over some dims, with nan as zero."""
    if type(self) is np.ndarray and self.dtype in BLAS_FLOATS:  # one pass tells whether there is nan
        flat = self.ravel()
        if (squares := flat.dot(flat)) == squares:
            return lib.sum_over(self, dim, keepdim)
    if self.dtype.kind in "fV":
        self = lib.where(lib.isnan(self), lib.ZEROS[self.dtype], self)
    return add_up(lib, self, dim, keepdim)


_OF_DTYPE = exactly("nansum: provided dtype must match dtype of result.")
_NANSUM = convertible("\"nansum_cpu\" not implemented for '{Out}'", NotImplementedError)


@reduction(
    "torch.nansum Tensor.nansum",
    out_rule=_NANSUM,
    in_out=True,
    given_rule=_OF_DTYPE,
    one_dim=("nansum", "dims, keepdim", NOT_REAL),
)
def nansum_public(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """Sum of the elements that are not nan.

    >>> torch.nansum(torch.tensor([1., float("nan"), 2.]))
    tensor(3.)
    """
    dims = wanted_dims(dim, rank(input, "nansum"), "nansum")
    if is_kind(input, "c"):
        raise RuntimeError("nansum on CPU does not support complex inputs")
    return in_dtype(nansum(in_dtype(input, dtype, "nansum"), dims, keepdim), dtype, "nansum")


_MEAN_OF_ALL = convertible("mean.dtype_out(): input types can't be cast to the desired output type {Out}")


# ---- mean
@shown_as_none
def mean(
    input: Tensor,
    dim: Any = ABSENT,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    **spelling: Any,
) -> Tensor:
    """Mean of all elements, or along one or several dims; only for floating and complex dtypes.

    >>> x = torch.tensor([[1., 2.], [3., 6.]])
    >>> x.mean(), x.mean(0)
    (tensor(3.), tensor([2., 4.]))
    """
    if dtype is None and out is None and not spelling:
        try:
            ndim = input._payload.ndim
        except AttributeError:
            ndim = rank(input, "mean")
        dims = wanted_dims(dim, ndim, "mean")
        if keepdim is not False and keepdim is not True:
            raise not_a_bool("mean", "keepdim", keepdim)
        return mean_all(input) if dim is ABSENT and not keepdim else mean_dim(input, dims, keepdim)
    if out is not None:
        if dtype is None and isinstance(input, Tensor) and is_kind(input, "biu"):
            raise no_mean("Input", dtype_text(input))
        rule = _MEAN_OF_ALL if dim in (None, ABSENT) else EXACT if dtype else None
        dtype = dtype or dtype_for(out, input)
        return write_out(out, mean, (input, dim, keepdim), {"dtype": dtype, **spelling}, rule)
    if spelling:
        return mean(input, **numpy_spelling("mean", {"dim": dim, "keepdim": keepdim, **spelling}), dtype=dtype)
    wanted = as_dtype(dtype, "mean")
    if not (wanted.is_floating_point or wanted.is_complex):
        raise no_mean("Optional", wanted.scalar_name)
    return mean(in_dtype(input, dtype, "mean"), dim, keepdim)


@linear(
    transpose=lambda xp, g, self_shape: spread(xp, g, self_shape, math.prod(self_shape) or 1),
    node="MeanBackward0",
    batch=lambda U, info, inner, mine, p: U.mean_dim(inner[0], tuple(range(1, inner[0].ndim)), False),
    samples=[((3, 4), ()), ((), ())],
    dtypes="fc",
    called="mean",
    libname="mean_of_all",
    names="torch.mean Tensor.mean",
    otherwise=mean,
    along="mean_dim",
)
def mean_all(self):
    """Mean of all elements."""


@linear(
    transpose=lambda xp, g, self_shape, dim, keepdim: expanded_quotient(
        xp, restored(xp, g, self_shape, dim, keepdim), self_shape, count_of(self_shape, dim) or 1
    ),
    node="MeanBackward1",
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, 2), True)), ((), ((), False))],
    dtypes="fc",
    called="mean",
)
def mean_dim(lib, self, dim, keepdim):
    """Mean over some dims."""
    count = self.shape[dim[0]] if len(dim) == 1 else count_of(self.shape, dim)
    return average(lib, self, dim, count, keepdim)


@reduction("torch.nanmean Tensor.nanmean", out_rule=_NANSUM, in_out=True, given_rule=_OF_DTYPE)
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """Mean of the elements that are not nan.

    >>> torch.nanmean(torch.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
    """
    ndim = rank(input, "nanmean")
    if not is_kind(input, "fcV"):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {dtype_text(input)}"
        )
    dims = wanted_dims(dim, ndim, "nanmean")
    total = nansum_public(input, dims, keepdim, dtype=dtype) if dims else nansum_public(input, dtype=dtype)
    return total / _not_nan_count(input, dims, keepdim)


@general(batch=("dim", ("dim",)), dtypes="f", samples=[((3, 4), ((1,), False))], no_derivative="it counts")
def _not_nan_count(lib, self, dim, keepdim):
    """The number of elements that are not nan, in their dtype."""
    return lib.cast(lib.add.reduce(self == self, dim, None, None, keepdim), self.dtype)


# ---- product


def _others(xp: Any, x: Any, dim: int) -> Any:
    """The product of all other elements along a dim, for each element; without division, so zeros are right."""
    return xp._cumprod_before(x, dim, False) * xp._cumprod_before(x, dim, True)


@general(
    grad=lambda xp, g, self: as_operand(
        g * xp.reshape(_others(xp, xp.reshape(self, (math.prod(self.shape),)), 0), self.shape) if self.shape else g,
        self,
    ),
    node="ProdBackward0",
    batch=lambda U, info, inner, mine, p: U.prod_dim(
        U.reshape(inner[0], (inner[0].shape[0], math.prod(inner[0].shape[1:]))), 1, False
    ),
    dtypes="fcib",
    samples=lambda rng: [
        ((a,), ())
        for a in (
            rng.standard_normal((2, 3)),
            np.array([1.5, 0.0, 2.0]),
            np.array([0.0, 0.0, 2.0]),
            np.array(2.0),
            np.zeros(0),
        )
    ],
    called="prod",
)
def prod_all(lib, self):
    """Product of all elements."""
    return multiply_up(lib, self, None, False)


@general(
    layout=rows,
    grad=lambda xp, g, self, dim, keepdim: restored(xp, g, self.shape, dim, keepdim) * _others(xp, self, dim),
    node="ProdBackward1",
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((a,), (1, keep))
        for a in (rng.standard_normal((2, 3)), np.array([[1.5, 0.0, 2.0], [0.0, 3.0, 0.0]]))
        for keep in (False, True)
    ],
    called="prod",
)
def prod_dim(lib, self, dim, keepdim):
    """Product over one dim."""
    return multiply_up(lib, self, dim, keepdim)


def _product_of_all(input: Tensor) -> Tensor:
    rank(input, "prod")
    return prod_all(input)


@reduction("torch.prod Tensor.prod", in_out=dtype_of, one_dim=("prod_dim", "dim, keepdim", "", None, _product_of_all))
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """Product of all elements, or along one dim. Gradients of every order are right where elements are zero.

    >>> x = torch.tensor([2., 0., 3.], requires_grad=True)
    >>> x.prod().backward()
    >>> x.grad
    tensor([0., 6., 0.])
    """
    ndim = rank(input, "prod")
    input = in_dtype(input, dtype, "prod")
    if dim is not None:
        dim = normal_dim(dim, ndim, "prod")
    product = prod_dim(input, dim, keepdim) if dim is not None and ndim else prod_all(input)
    return in_dtype(product, dtype, "prod")


# ---- truth and counting
_TRUTH: dict[str, Any] = {"layout": rows, "batch": ("dim", ("dim",)), "dtypes": "fcib", "no_derivative": "truth",
                          "samples": [((3, 4), ((1,), False)), ((), ((), False))]}  # fmt: skip


@general(**_TRUTH)
def all_dim(lib, self, dim, keepdim):
    """Whether all elements over some dims are true."""
    if self.size <= SMALL and len(dim) == self.ndim and not keepdim and self.dtype is not UINT8:
        return TRUE if lib.count_nonzero(self) == self.size else FALSE
    return as_truth(lib.logical_and.reduce(self, dim, None, None, keepdim), self)


@plain_body
def plain_all_dim(lib, self, dim, keepdim):
    return as_truth(lib.logical_and.reduce(self, dim, None, None, keepdim), self)


@general(**_TRUTH)
def any_dim(lib, self, dim, keepdim):
    """Whether any element over some dims is true."""
    if self.size <= SMALL and len(dim) == self.ndim and not keepdim and self.dtype is not UINT8:
        return TRUE if lib.count_nonzero(self) else FALSE
    return as_truth(lib.logical_or.reduce(self, dim, None, None, keepdim), self)


@plain_body
def plain_any_dim(lib, self, dim, keepdim):
    return as_truth(lib.logical_or.reduce(self, dim, None, None, keepdim), self)


def _truth(name: str) -> Rule:
    message = f"{name} only supports bool tensor for result, got: {{Out}}"
    return Rule(message, lambda result, out: out.kind in "bu" and out.itemsize == 1, RuntimeError)


@reduction(
    "torch.all Tensor.all",
    out_rule=_truth("all"),
    one_dim=("all_dim",),
)
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing.

    >>> torch.all(torch.tensor([[True, False], [True, True]]), 0)
    tensor([ True, False])
    """
    return all_dim(input, normal_dims(dim, rank(input, "all"), "all"), keepdim)


@reduction(
    "torch.any Tensor.any",
    out_rule=_truth("any"),
    one_dim=("any_dim",),
)
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether any element is true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing.

    >>> torch.any(torch.tensor([[True, False], [False, False]]), 1)
    tensor([ True, False])
    """
    return any_dim(input, normal_dims(dim, rank(input, "any"), "any"), keepdim)


@general(
    layout=rows,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=[((3, 4), ((1,),)), ((3, 4), ((0, 1),)), ((), ((),))],
    no_derivative="it counts",
)
def count_nonzero(lib, self, dim):
    """The number of nonzero elements over some dims."""
    if len(dim) == self.ndim:
        return np.int64(lib.count_nonzero(self))
    return lib.add.reduce(self != 0, dim, np.int64)


@plain_body
def plain_count_nonzero(lib, self, dim):
    return (self != 0).sum(dim, np.int64)


@public("torch.count_nonzero Tensor.count_nonzero")
@with_axis
def count_nonzero_public(input: Tensor, dim: Dims = None) -> Tensor:
    """The number of nonzero elements, as int64.

    >>> torch.count_nonzero(torch.tensor([[0, 1], [2, 3]]), dim=0)
    tensor([1, 2])
    """
    return count_nonzero(input, wanted_dims(dim, rank(input, "count_nonzero"), "count_nonzero"))


def to_default(input: Tensor) -> Tensor:
    """Convert integers and bools to the default dtype, for operators with floating results only."""
    return input if logical_dtype(input) in INEXACT else cast(input, default_np())


# ---- predicates of all examples
@public("torch._is_all_true Tensor._is_all_true")
def _is_all_true(input: Tensor) -> Tensor:
    """Whether all elements of a bool tensor are True, in ``vmap`` those of all examples."""
    return _of_all_examples(input).all()


@public("torch._is_any_true Tensor._is_any_true")
def _is_any_true(input: Tensor) -> Tensor:
    """Whether an element of a bool tensor is True, in ``vmap`` of any example."""
    return _of_all_examples(input).any()


def _of_all_examples(input: Tensor) -> Tensor:
    if logical_dtype(input).kind != "b":
        raise RuntimeError("Expected self.scalar_type() == at::kBool to be true, but got false.")
    if of_transform(input._payload):
        from ..random._common import opened

        return wrap(opened(input._payload)[0])
    return input
