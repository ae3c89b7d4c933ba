"""The tensors and submodules of a module by their names, for calls with others in their place.

Libraries that keep a module's tensors elsewhere, such as tensordict, import it under this name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._tape.tensor import Tensor
from ..modules.module import Module

_MISSING: Any = object()  # in place of a tensor: the module has no attribute of that name


def _check_module(module: Any) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")


def _check_tensor(tensor: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")


def _check_name(name: str, what: str) -> None:
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')


def _space(module: Any, name: str) -> dict[str, Any] | None:
    """The dict of parameters or buffers that has the name; a plain attribute is in none."""
    return next((space for space in (module._parameters, module._buffers) if name in space), None)


def _look(module: Any, name: str) -> Any:
    """What the module has under the name: a tensor, ``None``, another object, or ``_MISSING``."""
    space = _space(module, name)
    return getattr(module, name, _MISSING) if space is None else space[name]


def _assign(module: Any, name: str, tensor: Any) -> None:
    """Put a tensor there, or take away what is there (``_MISSING``), and ask for no ``Parameter``."""
    space = _space(module, name)
    if tensor is _MISSING:
        if _look(module, name) is not _MISSING:
            delattr(module, name)
    elif space is None:
        setattr(module, name, tensor)
    else:
        space[name] = tensor


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Put a tensor in place of a module's own of that name."""
    _check_module(module)
    _check_tensor(tensor)
    _check_name(name, "tensor")
    _assign(module, name, tensor)


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Tensor:
    """Put a tensor in place of a module's own of that name, and return that one."""
    _check_module(module)
    if tensor is not None and tensor is not _MISSING:
        _check_tensor(tensor)
    _check_name(name, "tensor")
    old = _look(module, name)
    if old is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if tensor is not old:
        _assign(module, name, tensor)
    return old


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Put a module in place of a submodule of that name, and return that one."""
    _check_module(module)
    _check_module(submodule)
    _check_name(name, "submodule")
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    old = module._modules[name]
    if not isinstance(old, Module):
        raise TypeError(f"{name} attribute is not an instance of torch.nn.Module")
    module._modules[name] = submodule
    return old


def _together(names: Any, values: Any) -> Any:
    names, values = (x if isinstance(x, (list, tuple)) else list(x) for x in (names, values))
    if len(names) != len(values):
        raise AssertionError(
            f"names and values must have the same length, got {len(names)} names and {len(values)} values"
        )
    return zip(names, values, strict=True)


class NamedMemberAccessor:
    """Gets, sets and swaps the tensors and submodules of a module by their dotted names."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Module] = {}  # submodules that were asked for, by their names

    def _place(self, path: str) -> tuple[Any, str]:
        """The module that has a member, and the member's name there."""
        owner, _, name = path.rpartition(".")
        return self.get_submodule(owner), name

    def get_submodule(self, name: str) -> Module:
        """The submodule of that name; the module itself for ``""``."""
        if not name:
            return self.module
        if name not in self.memo:
            owner, attr = self._place(name)
            if (found := getattr(owner, attr, _MISSING)) is _MISSING:
                raise AttributeError(f"{owner._get_name()} has no attribute `{attr}`")
            if not isinstance(found, Module):
                raise TypeError(f"submodule `{name}`: {found} is not an instance of torch.nn.Module")
            self.memo[name] = found
        return self.memo[name]

    def swap_submodule(self, path: str, value: Module) -> Module:
        """Put a module in place of a submodule, and return that one."""
        owner, name = self._place(path)
        return swap_submodule(owner, name, value)

    def get_tensor(self, name: str) -> Tensor:
        """The tensor of that name, or ``None`` where that is what the module has."""
        owner, attr = self._place(name)
        if (found := _look(owner, attr)) is _MISSING:
            raise AttributeError(f"{owner._get_name()} has no attribute `{attr}`")
        if found is not None:
            _check_tensor(found)
        return found

    def set_tensor(self, name: str, value: Tensor) -> None:
        """Put a tensor in place of the one of that name."""
        owner, attr = self._place(name)
        set_tensor(owner, attr, value)

    def del_tensor(self, name: str) -> None:
        """Take the attribute of that name away."""
        owner, attr = self._place(name)
        if _look(owner, attr) is _MISSING:
            raise AttributeError(f"{owner._get_name()} has no attribute `{attr}`")
        _assign(owner, attr, _MISSING)

    def swap_tensor(self, name: str, value: Tensor, allow_missing: bool = False) -> Tensor:
        """Put a tensor in place of the one of that name, and return that one."""
        owner, attr = self._place(name)
        return swap_tensor(owner, attr, value, allow_missing=allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor]:
        """The tensors of these names."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor]) -> None:
        """Put tensors in place of those of these names."""
        for name, value in _together(names, values):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: dict[str, Tensor]) -> None:
        """Put tensors in place of those of their names."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Take the attributes of these names away."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Tensor], allow_missing: bool = False) -> list[Tensor]:
        """Put tensors in place of those of these names, and return those."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in _together(names, values)]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Tensor], allow_missing: bool = False
    ) -> tuple[dict[str, Tensor], list[str]]:
        """Put tensors in place of those of their names, or none of them: those, and the names that were not there."""
        old: dict[str, Tensor] = {}
        try:
            for name, tensor in named_tensors.items():
                old[name] = self.swap_tensor(name, tensor, allow_missing=True)
            missing = [name for name, tensor in old.items() if tensor is _MISSING]
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, tensor in old.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise
        return old, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """The names that are not among the keys, and the keys that are no names, both in order."""
        given, own = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(own - given), sorted(given - own)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The module's parameters."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The module's buffers."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The module's parameters, then its buffers."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Module]]:
        """The module and its submodules."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)
