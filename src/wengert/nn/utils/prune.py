"""Pruning: masks that hold elements of parameters at zero.

A pruned module has the whole parameter as ``NAME_orig`` and the mask as the buffer ``NAME_mask``. ``NAME`` is their
product, which the pruning method, a forward pre-hook, recomputes before each call. Gradients reach the elements that
are not pruned. Pruning again prunes the remaining elements (``PruningContainer``).

>>> import wengert as torch
>>> from wengert.nn.utils import prune
>>> layer = torch.nn.Linear(3, 1)
>>> _ = torch.nn.init.constant_(layer.weight, 1.0)
>>> with torch.no_grad(): layer.weight[0, 1] = 0.1
>>> _ = prune.l1_unstructured(layer, "weight", amount=1)
>>> layer.weight
tensor([[1., 0., 1.]], grad_fn=<MulBackward0>)
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import wengert as torch

from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from ..modules.module import Module

Amount = int | float


# ---- the methods
class BasePruningMethod(ABC):
    """Base of pruning methods, which define ``compute_mask`` and ``PRUNING_TYPE``: unstructured, structured, global."""

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """The forward pre-hook: sets the parameter to the original times the mask."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of ones and zeros for ``t``, on top of ``default_mask``; both of ``t``'s shape."""

    def apply_mask(self, module: Module) -> Tensor:
        """The pruned parameter."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a module's parameter with a new method of this class; ``importance_scores`` replace its elements."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        before = _hooks_of(module, name)
        if len(before) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        original = getattr(module, name)  # the elements that earlier methods kept
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        whole = method
        if before:
            ((key, old),) = before.items()
            whole = old if isinstance(old, PruningContainer) else PruningContainer(old)
            whole.add_pruning_method(method)
            default_mask = getattr(module, name + "_mask")
        else:
            default_mask = torch.ones_like(original)
        # the mask first: an invalid amount must leave the module unchanged
        try:
            mask = whole.compute_mask(importance_scores.detach(), default_mask=default_mask)
        except Exception:
            if before and whole is old:
                whole._pruning_methods = whole._pruning_methods[:-1]
            raise
        if before:
            del module._forward_pre_hooks[key]
        else:
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, whole.apply_mask(module))
        module.register_forward_pre_hook(whole)
        return whole

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """``t`` with the elements that this method prunes set to zero, without a module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Store the pruned values in the parameter, and remove the mask and the hook."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        original = module._parameters.pop(name + "_orig")
        assert original is not None
        mask = module._buffers.pop(name + "_mask")
        assert mask is not None
        original.data = mask.to(dtype=original.dtype) * original.data
        if hasattr(module, name):
            delattr(module, name)
        setattr(module, name, original)


def _hooks_of(module: Module, name: str) -> dict[int, Any]:
    """The pruning hooks of one parameter, by their key in the module."""
    return {
        key: hook
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    }


class PruningContainer(BasePruningMethod):
    """Several methods in sequence, each of which prunes elements that the previous ones kept."""

    _pruning_methods: tuple[BasePruningMethod, ...]

    def __init__(self, *args: Any) -> None:
        self._pruning_methods = ()
        if args and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
        elif args:
            args = tuple(args[0])
            self._tensor_name = args[0]._tensor_name if args else ""
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask after the last method, which is applied to the elements that ``default_mask`` keeps."""
        mask = default_mask.to(dtype=t.dtype)
        kept = _kept(self._pruning_methods[-1], t, mask)
        combined = mask.clone()
        combined[kept] = self._pruning_methods[-1].compute_mask(t[kept], default_mask=mask[kept]).to(dtype=mask.dtype)
        return combined


def _kept(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """The index of the elements that a method may still prune."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
            )
        n = t.dim()
        if method.dim < -n:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {n}")
        dim = method.dim % n
        alive = mask.sum(dim=[d for d in range(n) if d != dim]) != 0
        return tuple(alive if d == dim else slice(None) for d in range(n))
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * t.dim()
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


class Identity(BasePruningMethod):
    """Adds the mask and the hook to a module, but prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Unstructured(BasePruningMethod):
    """Prunes the elements of the highest scores: a number of them, or a fraction between 0 and 1."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Amount) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(self._score(t).view(-1), k=count).indices] = 0
        return mask

    def _score(self, t: Tensor) -> Tensor:
        raise NotImplementedError


class RandomUnstructured(_Unstructured):
    """Prunes random elements: a number of them, or a fraction between 0 and 1."""

    def _score(self, t: Tensor) -> Tensor:
        return torch.rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the elements with the smallest absolute values."""

    def _score(self, t: Tensor) -> Tensor:
        return -t.abs()


class RandomStructured(BasePruningMethod):
    """Prunes random channels along a dimension."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        channels, count = _structure(t, self.dim, self.amount)
        drawn = torch.rand(channels)
        if not count:
            return default_mask
        return default_mask * _channels(t, self.dim, drawn > torch.kthvalue(drawn, k=count).values)


class LnStructured(BasePruningMethod):
    """Prunes the channels along a dimension whose n-norm is smallest."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        channels, count = _structure(t, self.dim, self.amount)
        if not count:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        best = torch.topk(torch.norm(t, p=self.n, dim=others), k=channels - count).indices
        keep = torch.zeros(channels, dtype=torch.bool)
        keep[best] = True
        return default_mask * _channels(t, self.dim, keep)


def _validate_structured_pruning(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with "
            f"{t.dim()} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _structure(t: Tensor, dim: int, amount: Amount) -> tuple[int, int]:
    """The number of channels, and the number of channels to prune."""
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, dim)
    return t.shape[dim], _count(amount, t.shape[dim])


def _channels(t: Tensor, dim: int, keep: Tensor) -> Tensor:
    """A mask that is one where a channel along ``dim`` is kept."""
    mask = torch.zeros_like(t)
    mask[tuple(keep if d == dim % t.dim() else slice(None) for d in range(t.dim()))] = 1
    return mask


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ---- amounts
def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Amount, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Amount, tensor_size: int) -> int:
    """The number of elements that an amount means: the amount itself, or a fraction of ``tensor_size``."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _count(amount: Amount, size: int) -> int:
    _validate_pruning_amount(amount, size)
    return _compute_nparams_toprune(amount, size)


# ---- functions
def identity(module: Module, name: str) -> Module:
    """Add a mask of ones to a parameter; change the module in place and return it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Amount) -> Module:
    """Prune random elements of ``module.NAME``."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of ``module.NAME`` with the smallest absolute values."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Amount, dim: int) -> Module:
    """Prune random channels of ``module.NAME`` along ``dim``."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Amount, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the channels of ``module.NAME`` along ``dim`` whose n-norm is smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one; the amount refers to all their elements."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    listed = list(parameters)
    values = [getattr(module, name).detach() for module, name in listed]
    relevant = torch.cat([scores.get(key, value).reshape(-1) for key, value in zip(listed, values, strict=True)])
    masks = [
        getattr(module, name + "_mask", torch.ones_like(v)) for (module, name), v in zip(listed, values, strict=True)
    ]
    container = PruningContainer(method)
    final = container.compute_mask(relevant, torch.cat([mask.reshape(-1) for mask in masks]))
    parts = final.split([value.numel() for value in values])
    for (module, name), value, part in zip(listed, values, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(value))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune ``module.NAME`` by a mask of ones and zeros."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make the pruning of ``module.NAME`` permanent: it becomes an ordinary parameter with zeros."""
    for key, hook in _hooks_of(module, name).items():
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a module or one of its submodules is pruned."""
    return any(
        isinstance(hook, BasePruningMethod) for _, m in module.named_modules() for hook in m._forward_pre_hooks.values()
    )


__all__ = own_names(globals())  # noqa: PLE0605
