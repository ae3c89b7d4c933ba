"""Access to the parameters, buffers and submodules of a module by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..parameter import Parameter

if TYPE_CHECKING:
    from ..._tape.tensor import Tensor
    from .module import Module


class Named:
    """The part of ``Module`` that iterates over its contents."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        memo = set()
        modules: Any = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for module_prefix, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in memo:  # a tensor's own hash costs ten times as much
                    continue
                if remove_duplicate:
                    memo.add(id(member))
                yield f"{module_prefix}.{name}" if module_prefix else name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once, including those of submodules if ``recurse``.

        >>> import wengert as torch
        >>> [p.shape for p in torch.nn.Linear(2, 3).parameters()]
        [torch.Size([3, 2]), torch.Size([3])]
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their names."""
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their names."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all its submodules, each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module (named ``""``) and all its submodules, with their names, each once.

        >>> import wengert as torch
        >>> [name for name, _ in torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).named_modules()]
        ['', '0', '1']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    # ---- one, by its name
    def get_submodule(self, target: str) -> Module:
        """The submodule at a dotted name such as ``"encoder.0"``; the module itself for ``""``."""
        from .module import Module

        module: Any = self
        for name in target.split(".") if target else ():
            _check_attribute(module, name)
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Set the submodule at a dotted name; ``strict``: one must exist there already."""
        from .module import Module

        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict:
            _check_attribute(parent, name)
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted name such as ``"encoder.0.weight"``."""
        module, name = self._holder_of(target)
        param = getattr(module, name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted name."""
        module, name = self._holder_of(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

    def _holder_of(self, target: str) -> tuple[Any, str]:
        """The module that owns the object at a dotted name, and the last part of the name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        _check_attribute(module, name)
        return module, name


def _check_attribute(module: Any, name: str) -> None:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
