"""Modules in wrappers that keep fewer activations: ``checkpoint_wrapper`` and ``apply_activation_checkpointing``.

A wrapper adds nothing to the names of parameters: the state of a wrapped module loads into one that is not wrapped, and
the reverse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from wengert.autograd.graph import save_on_cpu
from wengert.nn import Module, Parameter
from wengert.utils.checkpoint import checkpoint

__all__ = [
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper", "apply_activation_checkpointing",
    "checkpoint_wrapper", "offload_wrapper",
]  # fmt: skip

_PREFIX = "_checkpoint_wrapped_module."


class CheckpointImpl(Enum):
    """Which form of ``torch.utils.checkpoint.checkpoint`` a wrapper calls."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module, ABC):
    """Base class of wrappers; attributes and items are those of the module inside."""

    _checkpoint_wrapped_module: Any

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_leave_out_prefix)
        self.register_load_state_dict_pre_hook(_put_in_prefix)

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the module inside."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key: Any) -> Any:
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        """As ``Module.named_parameters``, without the wrappers in the names."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter


def _rename(state_dict: dict[str, Any], old: str, new: str) -> None:
    for key in [key for key in state_dict if key.startswith(old)]:
        state_dict[new + key.removeprefix(old)] = state_dict.pop(key)


def _leave_out_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *args: Any) -> dict[str, Any]:
    _rename(state_dict, prefix + _PREFIX, prefix)
    return state_dict


def _put_in_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
    _rename(state_dict, prefix, prefix + _PREFIX)


class OffloadWrapper(ActivationWrapper):
    """A module whose activations ``save_on_cpu`` keeps."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module that computes its activations again in the backward pass."""

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
            checkpoint_fn = partial(checkpoint, use_reentrant=reentrant)
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        inside = self._checkpoint_wrapped_module
        if self.checkpoint_impl is not CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(inside, *args, **kwargs)
        count = len(args)  # this form of checkpoint takes no keywords

        def with_keywords(*inputs: Any) -> Any:
            return inside(*inputs[:count], **dict(zip(kwargs, inputs[count:], strict=True)))

        return self.checkpoint_fn(with_keywords, *args, *kwargs.values())


def offload_wrapper(module: Module) -> Module:
    """The module in an ``OffloadWrapper``."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Module:
    """The module in a ``CheckpointWrapper``.

    ``checkpoint_fn`` stands for ``torch.utils.checkpoint.checkpoint``; the other keywords are given to it.

    >>> wrapped = checkpoint_wrapper(torch.nn.Linear(2, 1))
    >>> list(wrapped.state_dict())
    ['weight', 'bias']
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[..., Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[..., bool] | None = None,
) -> None:
    """Replace those modules below ``model`` that ``check_fn`` names by ``checkpoint_wrapper_fn`` of them.

    ``auto_wrap_policy(module=, recurse=, nonwrapped_numel=)`` takes the place of ``check_fn``: it says whether to look
    below a module and, with ``recurse=False``, whether to wrap it.
    """
    policy = auto_wrap_policy or (lambda module, recurse, nonwrapped_numel: recurse or check_fn(module))
    if not callable(policy):
        raise ValueError(f"Expected {policy} to be callable or be a pre-defined wrap policy")
    _wrapped(model, policy, checkpoint_wrapper_fn, root=True)


def _wrapped(
    module: Module, policy: Callable[..., bool], wrap: Callable[..., Module], root: bool = False
) -> tuple[Module, int]:
    """What takes the module's place, and how many elements the parameters of the wrapped modules in it have."""
    elements, inside = sum(p.numel() for p in module.parameters()), 0
    if not policy(module=module, recurse=True, nonwrapped_numel=elements):
        return module, 0
    for name, child in module.named_children():
        replaced, count = _wrapped(child, policy, wrap)
        setattr(module, name, replaced)
        inside += count
    if not root and policy(module=module, recurse=False, nonwrapped_numel=elements - inside):
        return wrap(module), elements
    return module, inside
