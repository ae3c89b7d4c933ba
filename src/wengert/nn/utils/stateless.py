"""Calls of a module with other tensors in place of its parameters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..._tape.tensor import Tensor
from ..modules.module import Module

__all__ = ["functional_call"]

_MISSING = object()


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The name of ``torch.func.functional_call`` until PyTorch 2.0; deprecated."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of some of its parameters and buffers.

    ``tie_weights``: tensors that the module has under several names are replaced under all of them. ``strict``: the
    names must be exactly those of the module.
    """
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Tensor], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    given = _tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        _check_names(module, given)
    before: dict[str, Any] = {}
    try:
        for name, tensor in given.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        # tensors that the call assigned are passed back to the caller
        for name, tensor in before.items():
            now = _swap(module, name, tensor)
            if name in parameters_and_buffers:
                parameters_and_buffers[name] = now


def _tied(module: Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The given tensors under all names that the module has for them."""
    names: dict[Tensor, list[str]] = {}
    for name, tensor in (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ):
        names.setdefault(tensor, []).append(name)
    result = dict(given)
    for tied in names.values():
        known = [name for name in tied if name in given]
        if len(tied) == 1 or not known:
            continue
        if len({id(given[name]) for name in known}) != 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        result.update(dict.fromkeys(tied, given[known[0]]))
    return result


def _check_names(module: Module, given: dict[str, Tensor]) -> None:
    own = {
        *(name for name, _ in module.named_parameters(remove_duplicate=False)),
        *(name for name, _ in module.named_buffers(remove_duplicate=False)),
    }
    errors = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", given.keys() - own), ("Missing", own - given.keys()))
        if names
    ]
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")


def _swap(module: Any, path: str, tensor: Any) -> Any:
    """Replace a tensor and return the old one."""
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    owner, _, name = path.rpartition(".")
    for part in owner.split(".") if owner else ():
        if not hasattr(module, part):
            raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
        module = getattr(module, part)
    for space in (module._parameters, module._buffers):
        if name in space:
            old = space[name]
            if tensor is _MISSING:
                del space[name]
            else:
                space[name] = tensor
            return old
    old = getattr(module, name, _MISSING)
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif old is not _MISSING:
        delattr(module, name)
    return old
