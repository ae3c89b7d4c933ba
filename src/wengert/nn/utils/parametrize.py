"""Parametrizations: parameters of a module that are computed from other parameters.

``register_parametrization(module, "weight", f)`` replaces ``weight`` by ``f(original)``. The module's class is replaced
by a new subclass, on which ``weight`` is a property; the original is in ``module.parametrizations.weight``.
"""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..._base.exports import own_names
from ..._base.grad_mode import no_grad
from ..._tape.tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

_cache: dict[tuple[int, str], Any] = {}
_cache_enabled = 0  # the number of open ``cached()`` blocks


@contextmanager
def cached() -> Iterator[None]:
    """A context in which each parametrized tensor is computed only once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _take_over(tensor: Tensor, value: Tensor) -> None:
    """Give a tensor the memory of another; it stays the same object."""
    if value is not tensor:
        tensor.data = value.detach()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order in which they are applied, and the original tensors."""

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        start = self._start(original)
        if isinstance(start, Tensor):
            self.is_tensor, self.ntensors = True, 1
            self._keep_one(original, start)
        elif isinstance(start, Sequence):
            self.is_tensor, self.ntensors = False, len(start)
            self._keep_several(original, start)
        else:
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(start).__name__}"
            )
        if not unsafe:
            self._check_result(shape, dtype)

    @no_grad()
    def _start(self, value: Any) -> Any:
        """The originals for ``value``, by the right inverses of the parametrizations that have one."""
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with suppress(NotImplementedError):
                    value = module.right_inverse(value)
        return value

    def _keep_one(self, original: Any, new: Any) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        _take_over(original, new)
        _register(self, "original", original)

    def _keep_several(self, original: Any, new: Any) -> None:
        for i, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", part)

    def _check_result(self, shape: Any, dtype: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def right_inverse(self, value: Any) -> None:
        """Set the original such that the parametrized tensor is ``value``; assignment to the tensor calls this."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set_one(value)
            else:
                self._set_several(value)

    def _set_one(self, value: Any) -> None:
        own = self.original
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != own.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype {own.dtype}"
            )
        _take_over(own, value)

    def _set_several(self, values: Any) -> None:
        if not isinstance(values, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}.")
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(values)}."
            )
        for name, value in zip(self._original_names(), values, strict=True):
            own = getattr(self, name)
            if own.dtype != value.dtype:
                raise ValueError(
                    f"Tensor {name.removeprefix('original')} returned by `right_inverse` has dtype {value.dtype} while "
                    f"`{name}` has dtype {own.dtype}"
                )
            _take_over(own, value)

    def _original_names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def forward(self) -> Any:
        first, *rest = self
        value = first(*(getattr(self, name) for name in self._original_names()))
        for module in rest:
            value = module(value)
        return value


def _own_class(module: Module) -> None:
    """Give a module its own class, which can have properties."""
    cls = type(module)

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        known = memo.get(id(self))
        if known is not None:
            return known
        kind: Any = type(self)
        replica = memo[id(self)] = kind.__new__(kind)
        replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
        for slot in copyreg._slotnames(type(self)):
            if hasattr(self, slot):
                setattr(replica, slot, copy.deepcopy(getattr(self, slot), memo))
        return replica

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = deepcopy
    make: Any = type
    module.__class__ = make(f"Parametrized{cls.__name__}", (cls,), members)


def _property(module: Module, name: str) -> None:
    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _cache_enabled:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Replace a parameter or buffer by the result of ``parametrization`` on the original one.

    The new tensor can be assigned to if the parametrization has a ``right_inverse``. ``unsafe``: the parametrization
    may change dtype and shape.

    >>> import wengert as torch
    >>> from wengert.nn.utils import parametrize
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        _begin(module, tensor_name, parametrization, unsafe)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _begin(module: Any, name: str, parametrization: Module, unsafe: bool) -> None:
    """Add the first parametrization of a tensor."""
    chain = ParametrizationList([parametrization], getattr(module, name), unsafe=unsafe)
    delattr(module, name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    _property(module, name)
    module.parametrizations[name] = chain


def _append(module: Any, name: str, parametrization: Module, unsafe: bool) -> None:
    """Add a parametrization to a tensor that already has one."""
    if not unsafe:
        _check_further(module, name, parametrization)
    chain = module.parametrizations[name]
    chain.append(parametrization)
    chain.unsafe |= unsafe


def _differences(one: Tensor, other: Tensor) -> Iterator[tuple[str, Any, Any]]:
    for what in ("dtype", "shape"):
        a, b = getattr(one, what), getattr(other, what)
        if a != b:
            yield what, a, b


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    """Check that an additional parametrization and its inverse keep dtype and shape."""
    given = getattr(module, name)
    result = parametrization(given)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, after in _differences(given, result):
        raise ValueError(
            f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
            f"enabled.\nmodule.{name}.{what}: {before}\nparametrization(module.{name}).{what}: {after}"
        )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what, before, after in _differences(given, back):
        raise ValueError(
            f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
            f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {before}\nreturned {what}: {after}"
        )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module, or one tensor of it, has a parametrization."""
    own = getattr(module, "parametrizations", None)
    if not isinstance(own, ModuleDict):
        return False
    return len(own) > 0 if tensor_name is None else tensor_name in own


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Restore an ordinary parameter or buffer, with the parametrized value or the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    ordinary = _without_parametrizations(module, tensor_name, leave_parametrized)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, ordinary)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def _without_parametrizations(module: Any, name: str, as_it_is: bool) -> Any:
    """The tensor that replaces a parametrized one, with the parametrized value or the original one."""
    own = module.parametrizations[name]
    if not as_it_is:
        if own.is_tensor:
            return own.original
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    if own.is_tensor:
        with no_grad():
            _take_over(own.original, getattr(module, name))
        return own.original
    value = getattr(module, name)
    return Parameter(value.detach()) if value.requires_grad else value


def type_before_parametrizations(module: Any) -> type:
    """The class of a module before it had parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Give ``to_module`` the parametrizations of another module, with the same originals."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for key in source._original_names():
            setattr(target, key, getattr(source, key))
    return to_module


__all__ = own_names(globals())  # noqa: PLE0605
