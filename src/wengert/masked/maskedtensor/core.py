"""``MaskedTensor``: a tensor with a mask that says which of its elements count.

It holds two tensors of the same shape and layout, the data and the mask (True: the element counts). Operators reach it
through ``__torch_dispatch__``, below the recording of gradients, and each is of one of these sorts:

- an elementwise operator computes on the data and keeps the mask; two operands must have the same mask;
- an operator that moves elements (``_MOVES``) is applied to the data and to the mask;
- a reduction is the function of ``torch.masked`` with this mask; its result counts where any element did.

The gradient of a MaskedTensor is one too, with the same mask.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import wengert as torch

from ..._base.errors import warn
from ..._base.torch_function import DISABLED
from ..._tensor_api.override_sites import Overriding

_REDUCTIONS = frozenset((
    "sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std",
))  # fmt: skip
_UNARY = frozenset((
    "abs", "absolute", "acos", "arccos", "acosh", "arccosh", "angle", "asin", "arcsin", "asinh", "arcsinh", "atan",
    "arctan", "atanh", "arctanh", "bitwise_not", "ceil", "clamp", "clip", "conj_physical", "cos", "cosh",
    "deg2rad", "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "floor", "frac", "lgamma", "log",
    "log10", "log1p", "log2", "logit", "i0", "isnan", "nan_to_num", "neg", "negative", "positive", "pow",
    "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sgn", "signbit", "sin", "sinc", "sinh", "sqrt",
    "square", "tan", "tanh", "trunc",
))  # fmt: skip
_BINARY = frozenset((
    "add", "atan2", "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "div", "divide", "floor_divide", "fmod", "logaddexp", "logaddexp2", "mul", "multiply",
    "nextafter", "remainder", "sub", "subtract", "true_divide", "eq", "ne", "le", "ge", "greater", "greater_equal",
    "gt", "less_equal", "lt", "less", "maximum", "minimum", "fmax", "fmin", "not_equal",
))  # fmt: skip
_MOVES = frozenset((
    "select", "transpose", "permute", "split", "t", "slice", "slice_backward", "select_backward", "index",
    "expand", "view", "_unsafe_view", "_reshape_alias", "reshape", "cat", "unsqueeze", "squeeze", "unfold",
    "unfold_backward", "im2col", "col2im", "stack",
))  # fmt: skip
_WISH = (
    "\nIf you would like this operator to be supported, please file an issue for a feature request at "
    "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code snippet.\n"
    "In the case that the semantics for the operator are not trivial, it would be appreciated "
    "to also include a proposal for the semantics."
)
_DTYPES = (
    torch.float16, torch.float32, torch.float64, torch.bool, torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip


def is_masked_tensor(obj: Any) -> bool:
    """Whether an object is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def masked_tensor(data: torch.Tensor, mask: torch.Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A MaskedTensor of copies of ``data`` and ``mask``, a leaf. TypeError, ValueError: they do not fit together.

    >>> import warnings
    >>> warnings.simplefilter("ignore")  # that this is a prototype
    >>> import wengert as torch
    >>> torch.masked.masked_tensor(torch.tensor([1., 2.]), torch.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: torch.Tensor, mask: torch.Tensor) -> MaskedTensor:
    """A MaskedTensor of ``data``, through which gradients flow back to ``data``."""
    return MaskedTensor._from_values(data, mask)


_living: Any = lambda: None  # a weak reference to what the instances hold


def _overriding() -> Overriding:
    global _living
    if MaskedTensor.__torch_function__ is DISABLED:
        # past the metaclass: the class overrides while it has instances, not as long as it lives
        type.__setattr__(MaskedTensor, "__torch_function__", classmethod(_called))
    made: Overriding | None = _living()
    if made is None:
        made = Overriding(MaskedTensor)
        _living = weakref.ref(made)
    return made


class MaskedTensor(torch.Tensor):
    """A tensor whose elements count where ``mask`` is True; see the module, and ``masked_tensor`` for an example."""

    # A class that overrides makes every function look at its arguments. So this one does only while it has instances.
    __torch_function__ = DISABLED
    _masked_data: torch.Tensor
    _masked_mask: torch.Tensor

    @staticmethod
    def __new__(cls: type, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        for name, given in (("data", data), ("mask", mask)):
            if is_masked_tensor(given) or not torch.is_tensor(given):
                raise TypeError(f"{name} must be a Tensor")
        warn(
            "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a "
            "Github issue for features requests and see our documentation on the torch.masked module for further "
            "information about the project.",
        )
        if data.requires_grad:
            warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you "
                "can use data.detach().clone()",
            )
        overriding = _overriding()
        made: Any = torch.Tensor._make_wrapper_subclass(
            cls, data.size(), dtype=data.dtype, layout=data.layout, device=data.device, requires_grad=requires_grad
        )
        made._overriding = overriding
        return made

    def __init__(self, data: torch.Tensor, mask: torch.Tensor, requires_grad: bool = False) -> None:
        if data.layout != mask.layout:
            raise TypeError("data and mask must have the same layout.")
        if data.layout == torch.sparse_coo:
            data, mask = data.coalesce(), mask.coalesce()
        if data.layout in (torch.sparse_coo, torch.sparse_csr) and data._nnz() != mask._nnz():
            data = data.to_dense().sparse_mask(mask)
        self._set_data_mask(data.detach().clone(), mask.clone())

    def _set_data_mask(self, data: torch.Tensor, mask: torch.Tensor) -> None:
        self._masked_data, self._masked_mask = data, mask
        if data.layout not in (torch.strided, torch.sparse_coo, torch.sparse_csr):
            raise TypeError(f"data layout of {data.layout} is not supported.")
        if mask.dtype != torch.bool:
            raise TypeError("mask must have dtype bool.")
        if data.dtype not in _DTYPES:
            raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
        if data.dim() != mask.dim():
            raise ValueError("data.dim() must equal mask.dim()")
        if data.size() != mask.size():
            raise ValueError("data.size() must equal mask.size()")
        if not _same_places(data, mask):
            raise ValueError(
                "data and mask are both sparse COO tensors but do not have the same indices."
                if data.layout == torch.sparse_coo
                else "data and mask are both sparse CSR tensors but do not share either crow or col indices."
            )

    def __setstate__(self, state: Any) -> None:
        data, mask = (state.get(f"_masked_{part}") if type(state) is dict else None for part in ("data", "mask"))
        if not torch.is_tensor(data) or not torch.is_tensor(mask) or is_masked_tensor(data) or is_masked_tensor(mask):
            raise TypeError("the state of a MaskedTensor is a dict of its data and its mask")
        if data.size() != self.size() or data.dtype != self.dtype:
            raise TypeError("the data of a MaskedTensor must have its size and its dtype")
        self._overriding = _overriding()
        self._set_data_mask(data, mask)
        for name, value in state.items():
            if name[:1] != "_":
                setattr(self, name, value)

    @staticmethod
    def _from_values(data: torch.Tensor, mask: torch.Tensor) -> Any:
        return _Wrap.apply(data, mask)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        data, mask = self._masked_data.detach(), self._masked_mask
        if self.dim() == 0:
            return f"MaskedTensor({_shown(data.item()) if mask.item() else '--'}, {mask.item()})"
        if data.layout != torch.strided:
            data, mask = data.to_dense(), mask.to_dense()
        return f"MaskedTensor(\n{_indented(_rows(data.tolist(), mask.tolist(), data.dim()))}\n)"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        rule = _OPERATORS.get(name)
        if rule is None:
            warn(f"{name} is not implemented in __torch_dispatch__ for MaskedTensor.{_WISH}")
            return NotImplemented
        return rule(func, *args, **(kwargs or {}))

    def __lt__(self, other: Any) -> Any:
        return MaskedTensor(self._masked_data < _data_of(other), self._masked_mask)

    def to_tensor(self, value: Any) -> torch.Tensor:
        """The data, with ``value`` where the mask is False."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def get_data(self) -> Any:
        """The data, also where the mask is False, with the history of this tensor."""
        return _Data.apply(self)

    def get_mask(self) -> torch.Tensor:
        """The mask, a bool tensor."""
        return self._masked_mask

    @property
    def layout(self) -> Any:  # type: ignore[override]
        """That of the data and of the mask."""
        return self._masked_data.layout

    def is_sparse_coo(self) -> bool:
        return self.layout == torch.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]  # a method in PyTorch too
        return self.layout == torch.sparse_csr

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return self.is_sparse_coo() or self.is_sparse_csr()


# ---- what is shown
def _shown(value: Any) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def _rows(data: list[Any], mask: list[Any], dim: int) -> str:
    if dim == 1:
        texts = [_shown(value) for value in data]
        width = max((len(text) if counts else 8 for text, counts in zip(texts, mask, strict=True)), default=0)
        return f"[{', '.join(t if counts else '--'.rjust(width) for t, counts in zip(texts, mask, strict=True))}]"
    parts = [_indented(_rows(d, m, dim - 1)) for d, m in zip(data, mask, strict=True)]
    return "[\n" + ",\n".join(parts) + "\n]"


# ---- parts
def _data_of(a: Any) -> Any:
    return a._masked_data if is_masked_tensor(a) else a


def _mask_of(a: Any) -> Any:
    return a._masked_mask if is_masked_tensor(a) else a


def _each(f: Callable[[Any], Any], args: Sequence[Any]) -> list[Any]:
    """``f`` of the arguments, and of those in lists of them."""
    return [type(a)(_each(f, a)) if isinstance(a, (list, tuple)) else f(a) for a in args]


def _places(a: torch.Tensor) -> list[Any]:
    """The indices of a sparse tensor; none of a dense one."""
    if a.layout == torch.sparse_coo:
        return [a.indices()]
    return [a.crow_indices(), a.col_indices()] if a.layout == torch.sparse_csr else []


def _same_places(a: torch.Tensor, b: torch.Tensor) -> bool:
    return all(torch.equal(i, j) for i, j in zip(_places(a), _places(b), strict=True))


def _on_values(f: Callable[..., torch.Tensor], data: list[Any]) -> torch.Tensor:
    """``f`` of dense tensors, or of the values of sparse ones, put back to the places of the first."""
    first = next(a for a in data if torch.is_tensor(a))
    if first.layout == torch.strided:
        return f(*data)
    values = f(*(a.values() if torch.is_tensor(a) and a.layout == first.layout else a for a in data))
    if first.layout == torch.sparse_csr:
        return torch.sparse_csr_tensor(*_places(first), values, first.size())  # type: ignore[arg-type]
    return torch.sparse_coo_tensor(first.indices(), values, first.size(), is_coalesced=True)


def _masks_match(a: Any, b: Any) -> bool:
    if not (is_masked_tensor(a) and is_masked_tensor(b)):
        return True
    a, b = a._masked_mask, b._masked_mask
    if a.layout != b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.layout != torch.strided:
        return _same_places(a, b) and torch.equal(a.values(), b.values())
    return a.dim() == b.dim() and bool(torch.eq(a, b).all())


# ---- history
class _Wrap(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Any, mask: Any) -> Any:
        return MaskedTensor(data.detach(), mask)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, None


class _Data(torch.autograd.Function):
    """The data of a MaskedTensor. Its gradient gets the mask."""

    @staticmethod
    def forward(ctx: Any, masked: Any) -> Any:
        ctx.mask = masked._masked_mask
        return masked._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return MaskedTensor(_data_of(grad), ctx.mask)


class _Where(torch.autograd.Function):
    """Each branch gets the gradient where it was chosen; elsewhere its gradient does not count."""

    @staticmethod
    def forward(ctx: Any, condition: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(condition)
        return _where(torch.where, condition, a, b)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (condition,) = ctx.saved_tensors
        none = MaskedTensor(_data_of(grad), torch.zeros_like(_data_of(grad), dtype=torch.bool))
        return None, _where(torch.where, condition, grad, none), _where(torch.where, condition, none, grad)


class _Layout(torch.autograd.Function):
    """A MaskedTensor in another layout; its gradient comes back in the old one."""

    @staticmethod
    def forward(ctx: Any, masked: Any, layout: Any) -> Any:
        ctx.layout = masked.layout
        return _laid_out(masked, layout)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _laid_out(grad, ctx.layout), None


def _laid_out(masked: Any, layout: Any) -> Any:
    data, mask = masked._masked_data, masked._masked_mask
    if masked.layout == layout:
        return MaskedTensor(data, mask)
    if layout == torch.strided:
        return MaskedTensor(data.to_dense(), mask.to_dense())
    if layout == torch.sparse_csr and data.dim() != 2:
        raise ValueError(f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {data.size()}")
    mask = mask.to_dense()
    kept = mask.to_sparse().coalesce() if layout == torch.sparse_coo else mask.to_sparse_csr()
    return MaskedTensor(data.to_dense().sparse_mask(kept), kept)


def _to_layout(masked: Any, layout: Any) -> Any:
    return masked if masked.layout == layout else _Layout.apply(masked, layout)


# ---- reductions
def _reduced(name: str) -> Callable[..., Any]:
    def reduce(masked: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        data, mask = masked.get_data(), masked.get_mask()
        if masked.is_sparse:
            if dim is not None:
                warn(f"The sparse version of {name} is not implemented in reductions.{_WISH}")
                return NotImplemented
            data, mask = data.values(), mask.values()
        if name == "all":
            filled = data.masked_fill(~mask, True)
            result = filled.all() if dim is None else filled.all(dim, keepdim)
        elif dim is None:
            result = getattr(torch.masked, name)(data, mask=mask)
        else:
            result = getattr(torch.masked, name)(data, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask)
        counts = mask.any() if dim is None else mask.any(dim, keepdim)
        return as_masked_tensor(result, counts)

    return reduce


def _below(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda func, *args, **kwargs: rule(*args, **kwargs)


def _called(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``MaskedTensor.__torch_function__``."""
    rule = _FUNCTIONS.get(getattr(func, "__name__", ""))
    if rule is not None:
        return rule(*args, **(kwargs or {}))
    return super(MaskedTensor, cls).__torch_function__(func, types, args, kwargs)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _reduced(name) for name in _REDUCTIONS},
    "where": _Where.apply,
    "to_dense": lambda masked: _to_layout(masked, torch.strided),
    "to_sparse": lambda masked: _to_layout(masked, torch.sparse_coo),
    "to_sparse_coo": lambda masked: _to_layout(masked, torch.sparse_coo),
    "to_sparse_csr": lambda masked: _to_layout(masked, torch.sparse_csr),
}
"""Functions of PyTorch that do not reach the operators, by their names."""


# ---- operators
def _unary(func: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
    if kwargs:
        raise ValueError(
            "MaskedTensor unary ops require that len(kwargs) == 0. If you need support for this, please open an issue "
            "on Github."
        )
    if any(torch.is_tensor(b) for b in rest):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    return MaskedTensor(_on_values(func, [_data_of(a), *rest]), _mask_of(a))


def _binary(func: Any, a: Any, b: Any, *rest: Any, **kwargs: Any) -> Any:
    if not _masks_match(a, b):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    data = [_data_of(a), _data_of(b)]
    if _sparse(data[0]) and torch.is_tensor(data[1]) and data[0].layout == data[1].layout and not _same_places(*data):
        layout = str(data[0].layout).removeprefix("torch.")
        raise ValueError(f"{layout} indices must match. If you need support for this, please open an issue on Github.")
    result = _on_values(lambda *values: func(*values, *rest, **kwargs), data)
    mask = _mask_of(a) if is_masked_tensor(a) else _mask_of(b)
    return MaskedTensor(result, mask if _sparse(result) else mask.expand_as(result))


def _sparse(a: Any) -> bool:
    return torch.is_tensor(a) and a.layout != torch.strided


def _in_place(rule: Callable[..., Any]) -> Callable[..., Any]:
    def run(func: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
        data = _data_of(a).clone()
        result = rule(func, MaskedTensor(data, _mask_of(a)), *rest, **kwargs)
        a._set_data_mask(_data_of(result), _mask_of(result))
        return a

    return run


def _moved(func: Any, *args: Any, **kwargs: Any) -> Any:
    data, mask = func(*_each(_data_of, args), **kwargs), func(*_each(_mask_of, args), **kwargs)
    if isinstance(data, (list, tuple)):
        return type(data)(MaskedTensor(d, m) for d, m in zip(data, mask, strict=True))
    return MaskedTensor(data, mask)


def _with_mask(func: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
    return MaskedTensor(func(_data_of(a), *rest, **kwargs), _mask_of(a))


def _where(func: Any, condition: Any, a: Any, b: Any) -> Any:
    masks = [c._masked_mask if is_masked_tensor(c) else torch.tensor(True) for c in (a, b)]
    data = func(condition, _data_of(a), _data_of(b))
    return MaskedTensor(data, torch.where(condition, *masks).expand_as(data))


def _sum_to(func: Any, a: Any, shape: Any) -> Any:
    """The sum of a gradient over what was broadcast."""
    mask = _mask_of(a)
    return MaskedTensor(func(_data_of(a).masked_fill(~mask, 0), shape), func(mask.long(), shape) > 0)


def _softmax(func: Any, a: Any, dim: int, half_to_float: bool = False) -> Any:
    """The elements that do not count are left out; a slice of which none counts is 0."""
    kept = torch.masked.softmax(_data_of(a), dim, mask=_mask_of(a))
    return MaskedTensor(kept.masked_fill(~_mask_of(a), 0), _mask_of(a))


def _softmax_backward(func: Any, grad: Any, output: Any, *rest: Any) -> Any:
    mask = _mask_of(output)
    return MaskedTensor(func(_data_of(grad).masked_fill(~mask, 0), _data_of(output), *rest), mask)


def _item(func: Any, a: Any) -> Any:
    if not bool(_mask_of(a)):
        raise ValueError(f"__torch_dispatch__, {func.overloadpacket}: expected a mask tensor")
    return _data_of(a).item()


def _copy(func: Any, a: Any, b: Any, *rest: Any) -> Any:
    if not _masks_match(a, b):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    func(_data_of(a), _data_of(b), *rest)
    return a


_OPERATORS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys((name + "_" for name in _UNARY), _in_place(_unary)),
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys((name + "_" for name in _BINARY), _in_place(_binary)),
    **dict.fromkeys(_MOVES, _moved),
    **dict.fromkeys(("detach", "clone", "ones_like", "zeros_like", "full_like", "_to_copy", "masked_fill"), _with_mask),
    **{name: _below(_reduced(name)) for name in _REDUCTIONS},
    "where": _where,
    "sum_to": _sum_to,
    "_softmax": _softmax,
    "_softmax_backward_data": _softmax_backward,
    "_local_scalar_dense": _item,
    "copy_": _copy,
}
"""Operators below the recording of gradients, by their ATen names."""
