"""Calls of a module with other tensors in place of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..._base.errors import warn
from ..._base.modes import unwinding
from ..._tape.tensor import Tensor
from ..modules.module import Module
from ._named_member_accessor import _MISSING, NamedMemberAccessor, _look, _space, swap_tensor

__all__ = ["functional_call"]


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
    members = NamedMemberAccessor(module)
    undo, put_back = unwinding()  # an interrupt does not leave the module with other tensors
    try:
        for name, tensor in given.items():
            owner, attr = members._place(name)
            undo.append(_putting_back(owner, attr))
            swap_tensor(owner, attr, tensor, allow_missing=True)
        try:
            yield
        finally:
            for name in parameters_and_buffers:  # tensors that the call assigned are passed back to the caller
                parameters_and_buffers[name] = _look(*members._place(name))
    finally:
        put_back()


def _putting_back(module: Module, name: str) -> Callable[[], Any]:
    """What puts back what the module has there now: in C wherever it can be, since no interrupt comes in there."""
    old, space = _look(module, name), _space(module, name)
    if space is not None:
        return partial(space.__setitem__, name, old)
    return partial(delattr, module, name) if old is _MISSING else partial(setattr, module, name, old)


def _tied(module: Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The given tensors under all names that the module has for them."""
    names: dict[Tensor, list[str]] = {}
    for name, tensor in NamedMemberAccessor(module).named_tensors(remove_duplicate=False):
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
    missing, unexpected = NamedMemberAccessor(module).check_keys(given)
    errors = [
        f"{what} key(s): {', '.join(map(repr, names))}."
        for what, names in (("Unexpected", unexpected), ("Missing", missing))
        if names
    ]
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")
