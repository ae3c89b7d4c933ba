"""Parts of the hooks of modules: handles that clear several dicts, hooks with a weak module, ``BackwardHook``."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._base.errors import warn
from ..._base.modes import is_grad_enabled
from ..._tape.node import RemovableHandle
from ..._tape.tensor import Tensor
from ...autograd.function import Function

seen: list[bool] = []  # not empty once any module of this process has had a hook: only then do calls look for hooks


class HookDict(OrderedDict[int, Any]):
    """A module's hooks of one kind. The first hook of all turns on the look-up in ``Module.__call__``."""

    def __setitem__(self, key: int, hook: Any) -> None:
        if not seen:
            seen.append(True)
        super().__setitem__(key, hook)

    def __repr__(self) -> str:
        return "OrderedDict" + super().__repr__().removeprefix(type(self).__name__)


ModuleHandle = RemovableHandle


def add_hook(hooks: Any, hook: Any, prepend: bool = False, flags: Any = ()) -> ModuleHandle:
    """Add a hook to a module's dict of hooks, and to the dicts of those flags, (dict, flag), that are set for it."""
    if not seen:
        seen.append(True)
    handle = ModuleHandle(hooks, extra_dict=[names for names, _ in flags])
    hooks[handle.id] = hook
    for names, is_set in flags:
        if is_set:
            names[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class WrappedHook:
    """A hook that receives its module as an argument but does not keep it alive."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        self.with_module = module is not None
        self.module: Any = weakref.ref(module) if module is not None else None
        self.__name__ = getattr(hook, "__name__", type(hook).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        self.__name__ = getattr(self.hook, "__name__", type(self.hook).__name__)
        module = state["module"] if self.with_module else None
        if self.with_module and module is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.module = None if module is None else weakref.ref(module)


class BackwardHookFunction(Function):
    """The identity: a node before or after a module that carries its backward hooks."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Its arguments."""
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Its cotangents."""
        return args


class BackwardHook:
    """The full backward hooks of one call of a module.

    The module's tensors go through an identity node before it and after it. The node after the module receives the
    gradients of the outputs, the node before it those of the inputs; then the hooks are called.
    """

    def __init__(self, module: Any, user_hooks: list[Any], user_pre_hooks: list[Any]) -> None:
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs: Any = None
        self.n_inputs = self.n_outputs = -1
        self.input_tensors_index: list[int] | None = None
        self.input_still: list[Any] = []  # the inputs that do not require grad
        self.output_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: Any) -> Any:
        """The module's arguments, passed through the node that receives the gradients of its inputs."""
        result, self.input_tensors_index = self._through_identity(
            args, lambda node: node.register_hook(self._at_inputs)
        )
        self.n_inputs = len(args)
        self.input_still = [
            (i, a.shape, a.dtype, a.device) for i, a in enumerate(args) if isinstance(a, Tensor) and not a.requires_grad
        ]
        return result

    def setup_output_hook(self, result: Any) -> Any:
        """The module's results, passed through the node that receives the gradients of its outputs."""
        results = result if isinstance(result, tuple) else (result,)
        moved, self.output_tensors_index = self._through_identity(
            results, lambda node: node.register_hook(self._at_outputs)
        )
        self.n_outputs = len(results)
        return moved if isinstance(result, tuple) else moved[0]

    def _through_identity(self, args: Any, register: Any) -> tuple[Any, list[int] | None]:
        index = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        if not (any(args[i].requires_grad for i in index) and is_grad_enabled()):
            return args, None
        tensors = BackwardHookFunction.apply(*[args[i] for i in index])
        register(next(t.grad_fn for t in tensors if t.grad_fn is not None))
        moved = list(args)
        for i, t in zip(index, tensors, strict=True):
            moved[i] = t
        return (tuple(moved) if type(args) is tuple else type(args)(*moved)), index

    @staticmethod
    def _spread(index: list[int] | None, values: Any, size: int) -> tuple[Any, ...]:
        spread = [None] * size
        for i, value in zip(index or (), values, strict=True):
            spread[i] = value
        return tuple(spread)

    def _at_inputs(self, grad_inputs: Any, _: Any) -> Any:
        if self.grad_outputs is None:  # this pass did not reach the outputs
            return None
        result: Any = self._spread(self.input_tensors_index, grad_inputs, self.n_inputs)
        for i, shape, dtype, device in self.input_still:  # as in PyTorch, zeros
            result = (*result[:i], torch.zeros(shape, dtype=dtype, device=device), *result[i + 1 :])
        for hook in self.user_hooks:
            out = hook(self.module, result, self.grad_outputs)
            if out is None:
                continue
            if isinstance(out, Tensor):
                out = (out,)
            if len(out) != len(result):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(out)}, but expected "
                    f"{len(result)}"
                )
            result = out
        self.grad_outputs = None
        still = {i for i, *_ in self.input_still}
        return tuple(None if i in still else result[i] for i in self.input_tensors_index or ())

    def _at_outputs(self, _: Any, grad_outputs: Any) -> Any:
        self.grad_outputs = self._spread(self.output_tensors_index, grad_outputs, self.n_outputs)
        for hook in self.user_pre_hooks:
            out = hook(self.module, self.grad_outputs)
            if out is None:
                continue
            if isinstance(out, Tensor):
                out = (out,)
            if len(out) != len(self.grad_outputs):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(out)}, but expected "
                    f"{len(self.grad_outputs)}"
                )
            self.grad_outputs = out
        given = self.grad_outputs
        if self.input_tensors_index is None:
            self._without_inputs()
        return tuple(given[i] for i in self.output_tensors_index or ())

    def _without_inputs(self) -> None:
        """Call the hooks although no input requires grad, with ``None`` for each input."""
        warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
            "register_full_backward_hook for more details.",
        )
        nothing = (None,) * self.n_inputs
        for hook in self.user_hooks:
            result = hook(self.module, nothing, self.grad_outputs)
            if result is not None and not (isinstance(result, tuple) and all(r is None for r in result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None
