"""``state_dict`` and ``load_state_dict``, with their hooks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import wengert as torch

from ..._base.errors import noted, warn
from ..._base.grad_mode import no_grad
from ..._tape.node import RemovableHandle
from ..._tape.tensor import Tensor
from ..parameter import Parameter, is_lazy
from . import _conversion
from ._handles import WrappedHook, add_hook

EXTRA_STATE = _EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(NamedTuple("IncompatibleKeys", [("missing_keys", list[str]), ("unexpected_keys", list[str])])):
    """The result of ``load_state_dict``: the names that only one side has."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Stateful:
    """The part of ``Module`` that reads and writes its state."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """The extra state of a subclass, which its state dict holds as ``_extra_state``."""
        raise RuntimeError(_NEVER.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Restore the result of ``get_extra_state``."""
        raise RuntimeError(_NEVER.format("set"))

    # ---- hooks
    def register_state_dict_pre_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads the module."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` afterwards; it may change the dict in place."""
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Any) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Any, with_module: bool = False) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    # ---- saving
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by name, detached (unless ``keep_vars``); they share the module's memory.

        >>> import wengert as torch
        >>> list(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()).state_dict())
        ['0.weight', '0.bias']
        """
        if args:
            warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
            )
            destination, prefix, keep_vars = _by_place(args, destination, prefix, keep_vars)
        state = _new_state() if destination is None else destination
        own_metadata = {"version": self._version}
        if hasattr(state, "_metadata"):
            state._metadata[prefix[:-1]] = own_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(state, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            other = hook(self, state, prefix, own_metadata)
            if other is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            state = other
        return state

    def _state_tensors(self) -> dict[str, Any]:
        """The module's own parameters and persistent buffers that are not None."""
        passing = self._non_persistent_buffers_set
        own = {**self._parameters, **{name: b for name, b in self._buffers.items() if name not in passing}}
        return {name: tensor for name, tensor in own.items() if tensor is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._state_tensors().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    # ---- loading
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy parameters and buffers from ``state_dict``; with ``assign=True`` replace them by its tensors.

        Returns the names that only one side has, ``missing_keys`` and ``unexpected_keys``.

        Raises:
            RuntimeError: shapes differ or, with ``strict``, only one side has a name.

        >>> import wengert as torch
        >>> a, b = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
        >>> a.load_state_dict(b.state_dict())
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata

        lists = (missing_keys, unexpected_keys, error_msgs)
        _load(self, state, "", metadata, assign, lists)
        if strict:
            if unexpected_keys:
                error_msgs.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected_keys)}. ")
            if missing_keys:
                error_msgs.insert(0, f"Missing key(s) in state_dict: {_quoted(missing_keys)}. ")
        if error_msgs:
            listed = "\n\t".join(error_msgs)
            raise noted(
                RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"),
                _prefix_advice(missing_keys, unexpected_keys),
                code="W019",
            )
        return _IncompatibleKeys(missing_keys, unexpected_keys)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        local = self._state_tensors()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in local.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, param, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, dot, _ = key[len(prefix) :].partition(".")
                    if first not in (self._modules if dot else local):
                        unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, param: Any, given: Any, assign: bool, error_msgs: list[str]) -> None:
        if not (isinstance(given, Tensor) or hasattr(given, "__torch_function__")):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
            return
        if not is_lazy(param):
            if len(param.shape) == 0 and len(given.shape) == 1 and given.shape[0] == 1:
                given = given[0]  # written by PyTorch before 0.4, which had no 0-dimensional tensors
            if given.shape != param.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                    f"current model is {param.shape}."
                )
                return
        if param.is_meta and not given.is_meta and not assign:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)"
            )
        swap = _conversion.get_swap_module_params_on_conversion()
        try:
            with no_grad():
                if swap:
                    torch.utils.swap_tensors(param, _assigned(param, _loaded(param, given, assign)))
                elif assign:
                    setattr(self, name, _assigned(param, given))
                else:
                    param.copy_(given)
        except Exception as error:  # noqa: BLE001  every failure is reported, with those of the other tensors
            action = "swapping" if swap else "copying"
            error_msgs.append(
                f'While {action} the parameter named "{key}", whose dimensions in the model are {param.size()} and '
                f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
            )


def _new_state() -> Any:
    state: Any = OrderedDict()
    state._metadata = OrderedDict()
    return state


def _by_place(args: tuple[Any, ...], *named: Any) -> list[Any]:
    """Assign the positional arguments of ``state_dict``; keyword arguments take precedence."""
    both = zip(named, (None, "", False), strict=True)
    return [args[i] if i < len(args) and given == default else given for i, (given, default) in enumerate(both)]


def _load(module: Any, state: Any, prefix: str, metadata: Any, assign: bool, lists: Any) -> None:
    """Load a module and its submodules; ``lists`` are missing keys, unexpected keys and errors."""
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local_metadata, True, *lists)
    for name, child in module._modules.items():
        if child is not None:
            own = f"{prefix}{name}."
            _load(child, {k: v for k, v in state.items() if k.startswith(own)}, own, metadata, assign, lists)
    incompatible = _IncompatibleKeys(*lists[:2])
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _loaded(param: Any, given: Any, assign: bool) -> Any:
    """What ``param.module_load`` makes of a tensor of a state dict."""
    loaded = param.module_load(given, assign=assign)
    if loaded is given or loaded is param:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() the result if returning one of the inputs in "
            "module_load"
        )
    return loaded


def _assigned(param: Any, given: Any) -> Any:
    """A tensor of a state dict, converted to replace a parameter."""
    if not isinstance(param, Parameter):
        return given
    if not isinstance(given, Parameter):
        return Parameter(given, requires_grad=param.requires_grad)
    given.requires_grad_(param.requires_grad)
    return given


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{k}"' for k in keys)


_NEVER = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


def _prefix_advice(missing: list[str], unexpected: list[str]) -> str:
    """Advice if all names differ by a prefix, as those of a part and a whole, or of ``DataParallel``, do."""
    for own, given, doing in ((missing, unexpected, "remove"), (unexpected, missing, "add")):
        for name in given:
            prefix = name.removesuffix(own[0]) if own else name
            if prefix != name and {prefix + other for other in own} == set(given):
                change = "name.removeprefix(prefix)" if doing == "remove" else "prefix + name"
                return (
                    f"What to do: the names differ by the prefix {prefix!r}; {doing} it: "
                    f"{{{change}: value for name, value in state.items()}}, or load the state of that part."
                )
    return (
        "What to do: build the model with the layers that were saved, or load what fits with strict=False, which "
        "returns the names that do not."
    )
