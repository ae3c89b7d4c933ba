"""Calls of a module with other tensors in place of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..._base.errors import warn
from ..._base.modes import unwinding
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
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
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
    undo, put_back = unwinding()  # an interrupt does not leave the module with other tensors
    try:
        for name, tensor in given.items():
            _swap(module, name, tensor, undo)
        try:
            yield
        finally:
            for name in parameters_and_buffers:  # tensors that the call assigned are passed back to the caller
                parameters_and_buffers[name] = _find(module, name)[-1]
    finally:
        put_back()


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


def _find(module: Any, path: str) -> tuple[Any, str, dict[str, Any] | None, Any]:
    """The module that has a tensor, the tensor's name there, the dict that it is in, and the tensor."""
    owner, _, name = path.rpartition(".")
    for part in owner.split(".") if owner else ():
        if not hasattr(module, part):
            raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
        module = getattr(module, part)
    for space in (module._parameters, module._buffers):
        if name in space:
            return module, name, space, space[name]
    return module, name, None, getattr(module, name, _MISSING)


def _swap(module: Any, path: str, tensor: Any, undo: list[Any]) -> None:
    """Replace a tensor; before that, add to ``undo`` what puts the old one back."""
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    owner, name, space, old = _find(module, path)
    if space is not None:
        undo.append(partial(space.__setitem__, name, old))
        space[name] = tensor
        return
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    undo.append(partial(delattr, owner, name) if old is _MISSING else partial(setattr, owner, name, old))
    setattr(owner, name, tensor)
