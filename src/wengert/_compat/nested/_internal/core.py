"""What the two layouts of nested tensors share: a tensor whose elements lie in one ordinary tensor, ``_values``.

That tensor has the history, the gradient and the dtype; a nested tensor knows how it is divided. Functions reach it
through ``__torch_function__`` and are applied to ``_values``, or to the parts, so recording knows nothing of it.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._base.torch_function import DISABLED
from wengert._tape.metadata import InputMetadata, told
from wengert._tape.node import Port, named
from wengert._tensor_api.override_sites import Overriding

_DUNDERS = {
    "__rsub__": "sub", "__rtruediv__": "div", "__pow__": "pow", "__rpow__": "pow", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not", "rsub": "sub",
}  # fmt: skip
_COPIES = frozenset((
    "alias", "bfloat16", "bool", "clone", "cpu", "detach", "double", "empty_like", "float", "full_like", "half", "int",
    "long", "ones_like", "pin_memory", "rand_like", "randint_like", "randn_like", "short", "to", "type", "type_as",
    "zeros_like",
))  # fmt: skip
_ELEMENTWISE = frozenset((
    "addcdiv", "addcmul", "alpha_dropout", "celu", "clamp", "clip", "dropout", "elu", "feature_dropout", "gelu",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "leaky_relu", "lerp", "logit", "logsigmoid", "masked_fill", "mish", "nan_to_num", "pow", "prelu", "relu", "relu6",
    "rrelu", "selu", "sigmoid", "silu", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
    "where",
))  # fmt: skip
_FILLS = frozenset((
    "bernoulli_", "exponential_", "fill_", "normal_", "random_", "share_memory_", "uniform_", "zero_",
))  # fmt: skip


def as_made_by(name: str, *results: torch.Tensor) -> Any:
    """The results, whose node has PyTorch's name for what made them of or from a nested tensor."""
    for t in results:
        if t._node is not None and t.grad_fn is not None:
            named(t._node.fx if type(t._node) is Port else t._node, name)
    return results


def shown_as_base(a: Any) -> Any:
    """A tensor's elements; views of those of a nested tensor show it as their base, unless it is a view itself."""
    values = values_of(a)
    if values is not a and not values._is_view():
        values._elements_of = weakref.ref(a)
    return values


def is_elementwise(name: str) -> bool:
    """Whether a public function of that name computes each element by itself."""
    if name in _ELEMENTWISE or name in _DUNDERS:
        return True
    info = REGISTRY.get(name)
    return info is not None and info.kind in ("unary", "binary")


def values_of(a: Any) -> Any:
    """The elements of a nested tensor; anything else as it is; in lists and dicts too."""
    if isinstance(a, Nested):
        return a._values
    if isinstance(a, (list, tuple)) and not hasattr(a, "_fields"):
        return type(a)([values_of(b) for b in a]) if type(a) in (list, tuple) else a
    return a


def flat(given: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes or dims that are given one by one, or in one tuple or list."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def offsets_of(lengths: torch.Tensor) -> torch.Tensor:
    """Where parts of these lengths begin that lie one after the other, and where the last one ends."""
    return torch.constant_pad_nd(lengths.cumsum(0), [1, 0])


def first_nested(args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The first nested tensor among arguments, and in lists of them."""
    for a in (*args, *kwargs.values()):
        if isinstance(a, Nested):
            return a
        if isinstance(a, (list, tuple)):
            found = first_nested(a, {})
            if found is not None:
                return found
    return None


def _called(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``__torch_function__`` of nested tensors."""
    kwargs = kwargs or {}
    name = getattr(func, "__name__", "")
    nested = first_nested(args, kwargs)
    rule = nested._rules.get(name) or _RULES.get(name)
    if rule is not None:
        return rule(func, *args, **kwargs)
    if name in _COPIES:
        made = func(*map(values_of, args), **kwargs)
        return nested if made is nested._values else nested._like(made)
    if name in _FILLS or (name[-1:] == "_" and name[-2:] != "__" and nested._elementwise(name[:-1])):
        func(*nested._elements(name[:-1], args), **{k: values_of(v) for k, v in kwargs.items()})
        return nested
    if nested._elementwise(name):
        return nested._like(func(*nested._elements(_DUNDERS.get(name, name), args), **kwargs))
    if name == "__get__":
        return func(nested._values)
    raise nested._refusal(name)


class Nested(torch.Tensor):
    """A batch of tensors of different sizes; ``torch.nested`` makes them."""

    # A class that overrides makes every function look at its arguments. So these do only once there is an instance.
    __torch_function__ = DISABLED
    _values: torch.Tensor  # type: ignore[assignment]
    _rules: dict[str, Callable[..., Any]] = {}

    @staticmethod
    def _wrapper(kind: Any, size: Sequence[int], values: torch.Tensor) -> Any:
        if Nested.__torch_function__ is DISABLED:
            # past the metaclass: the class overrides while it has instances, not as long as it lives
            type.__setattr__(Nested, "__torch_function__", classmethod(_called))
        made: Any = torch.Tensor._make_wrapper_subclass(kind, size, dtype=values.dtype, device=values.device)
        living: Any = _LIVING.get(kind)
        made._overriding = living and living()
        if made._overriding is None:
            made._overriding = Overriding(kind)
            _LIVING[kind] = weakref.ref(made._overriding)
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(str(func))

    # ---- what each layout knows
    def _like(self, values: torch.Tensor) -> Any:
        """A nested tensor divided as this one."""
        raise NotImplementedError

    def _parts(self) -> tuple[torch.Tensor, ...]:
        """The tensors of the batch, views of the elements."""
        raise NotImplementedError

    def _elements(self, name: str, args: Sequence[Any]) -> list[Any]:
        """The arguments of an elementwise function, each as a tensor that broadcasts to ``_values``."""
        raise NotImplementedError

    def _refusal(self, name: str) -> Exception:
        raise NotImplementedError

    # ---- the history, which the elements have
    @property
    def requires_grad(self) -> bool:  # type: ignore[override]
        return self._values.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._values.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        self._values.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Any:  # type: ignore[override]
        grad = self._values.grad
        if grad is None:
            return None
        known = self.__dict__.get("_grad")
        if known is None or known._values is not grad:
            known = self.__dict__["_grad"] = self._like(grad)
        return known

    @grad.setter
    def grad(self, value: Any) -> None:
        self._values.grad = values_of(value)

    @property
    def grad_fn(self) -> Any:
        node = self._values.grad_fn
        if node is not None and type(node).__name__ != "AccumulateGrad":
            self._tell(node)
        return node

    def _tell(self, node: Any) -> None:
        """Let a node say that its gradient is a nested tensor."""
        told[node] = (InputMetadata(self._node_size(), self.dtype, self.device, True, self.layout is torch.strided),)

    def _node_size(self) -> Any:
        """The size, as a node says it."""
        return [len(self._parts())]

    is_leaf = property(attrgetter("_values.is_leaf"))  # type: ignore[assignment]
    retains_grad = property(attrgetter("_values.retains_grad"))  # type: ignore[assignment]
    _version = property(attrgetter("_values._version"))

    def retain_grad(self) -> None:
        self._values.retain_grad()

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        return self._values.register_hook(lambda grad: values_of(hook(self._like(grad))))

    def backward(  # type: ignore[override]
        self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        self._check_cotangent(gradient)
        self._values.backward(values_of(gradient), retain_graph, create_graph, inputs=values_of(inputs))

    def _check_cotangent(self, gradient: Any) -> None:
        if isinstance(gradient, Nested) and gradient._sizes() != self._sizes():
            raise RuntimeError("grad and output must be nested tensors of the same sizes")

    def _elementwise(self, name: str) -> bool:
        """Whether the function of that name is applied to the elements."""
        return is_elementwise(name)

    def _sizes(self) -> Any:
        """The sizes of the parts."""
        return [tuple(part.shape) for part in self._parts()]

    # ---- what it is
    dtype = property(attrgetter("_values.dtype"))  # type: ignore[assignment]
    device = property(attrgetter("_values.device"))  # type: ignore[assignment]

    @property
    def is_nested(self) -> bool:
        return True

    @property
    def data(self) -> Any:  # type: ignore[override]
        return self._like(self._values.data)

    @property
    def shape(self) -> Any:  # type: ignore[override]
        return self.size()

    @property
    def ndim(self) -> int:  # type: ignore[override]
        return self.dim()

    @property
    def T(self) -> Any:
        return self.permute(*reversed(range(self.dim())))

    H = T

    @property
    def mT(self) -> Any:
        return self.transpose(-2, -1)

    def storage_offset(self) -> int:
        return self._values.storage_offset()

    def numel(self) -> int:
        return self._values.numel()

    def nelement(self) -> int:
        return self.numel()

    def unbind(self, dim: int = 0) -> Any:
        return torch.unbind(self, dim)

    def _unbound(self) -> Any:
        return as_made_by("UnbindBackwardAutogradNestedTensor0", *self._parts())

    def __iter__(self) -> Any:
        return iter(self.unbind())

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        if self.numel() == 1:
            return bool(self._values)
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")

    def item(self) -> Any:
        return self._values.item()

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(
                    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                    "moment."
                )
            made = memo[id(self)] = self._like(self._values.detach().clone().requires_grad_(self.requires_grad))
            vars(made).update(copy.deepcopy({k: v for k, v in vars(self).items() if k[0] != "_"}, memo))
        return memo[id(self)]

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> torch.Tensor:
        return padded(self, padding, output_size)


_LIVING: dict[type, Any] = {}
"""For each layout a weak reference to what its instances hold: functions look for them as long as it lives."""


# ---- functions of both layouts
def _grad(func: Any, outputs: Any, inputs: Any, grad_outputs: Any = None, *rest: Any, **kwargs: Any) -> Any:
    given = [inputs] if torch.is_tensor(inputs) else list(inputs)
    found = func(values_of(outputs), [values_of(i) for i in given], values_of(grad_outputs), *rest, **kwargs)
    return tuple(
        i._like(g) if isinstance(i, Nested) and g is not None else g for i, g in zip(given, found, strict=True)
    )


def _dispatched(func: Any, input: Any, b: bool | None = None) -> Any:
    """PyTorch's operator for tests of autograd: its gradient is another for nested tensors."""
    copied = input._values.clone()
    if copied.requires_grad:
        copied.register_hook(lambda g: g * g if b is None else g * g + g)
    return input._like(copied)


def _view_func(func: Any, a: Any, new: Any, *visitors: Any, **kwargs: Any) -> Any:
    """``_view_func`` of a view of a nested tensor, or of a nested tensor that is a view."""
    made = func(values_of(a), shown_as_base(new), *visitors, **kwargs)
    return a._like(made) if isinstance(a, Nested) and made is not None else made


def _rev_view_func(func: Any, a: Any, new: Any, *visitors: Any, **kwargs: Any) -> Any:
    return func(values_of(a), shown_as_base(new), *visitors, **kwargs)


def _same(func: Any, a: Any, b: Any, *rest: Any, **kwargs: Any) -> bool:
    both = isinstance(a, Nested) and isinstance(b, Nested) and a.layout == b.layout
    return both and a._sizes() == b._sizes()


def padded(nested: Any, padding: float, output_size: Any = None) -> torch.Tensor:
    """``to_padded_tensor``: the parts under each other, filled up with ``padding``."""
    parts = nested._parts()
    if not parts:
        return nested._values
    least = [len(parts), *(max(part.shape[d] for part in parts) for d in range(parts[0].dim()))]
    size = least if output_size is None else list(output_size)
    if len(size) != len(least):
        raise RuntimeError("Length of output_size does not match NestedTensor dims. Broadcasting is not supported.")
    if any(n < m for n, m in zip(size, least, strict=True)):
        raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
    rows = []
    for part in parts:
        ends = [end for n, m in zip(reversed(size[1:]), reversed(part.shape), strict=True) for end in (0, n - m)]
        rows.append(torch.constant_pad_nd(part, ends, padding))
    rows += [torch.full_like(rows[0], padding)] * (size[0] - len(rows))
    return as_made_by("ToPaddedTensorBackward0", torch.stack(rows))[0]  # type: ignore[no-any-return]


_RULES: dict[str, Callable[..., Any]] = {
    "grad": _grad,
    "_test_autograd_multiple_dispatch": _dispatched,
    "is_same_size": _same,
    "_view_func": _view_func,
    "_view_func_unsafe": _view_func,
    "_rev_view_func_unsafe": _rev_view_func,
    "is_tensor": lambda func, a: True,
    **dict.fromkeys(
        ("is_floating_point", "is_complex", "is_pinned", "is_shared", "get_device", "element_size", "_is_view"),
        lambda func, a, *rest: func(a._values),
    ),
    "numel": lambda func, a: a.numel(),
    "dim": lambda func, a: a.dim(),
    "size": lambda func, a, *dim: a.size(*dim),
    "__repr__": lambda func, a, **kwargs: repr(a),
}
"""Functions by name; a layout's own come first."""
