"""The call of a module, with its own hooks and the hooks of all modules.

NOTE [ A call without hooks ]
An attribute of a module costs 0.05 us, because its class has ``__getattr__``. So ``Module.__call__`` looks for hooks
only once some module of the process has had one (``seen``), and calls ``forward`` directly until then.
Never put hooks into a module's dicts except by ``add_hook`` or ``HookDict``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from ..._base.errors import warn
from ..._tape.node import RemovableHandle
from ..._tape.tensor import Tensor
from ._handles import BackwardHook, HookDict, WrappedHook, add_hook

Gradients: TypeAlias = "tuple[Tensor, ...] | Tensor"

_global_forward_hooks: OrderedDict[int, Any] = HookDict()
_global_forward_pre_hooks: OrderedDict[int, Any] = HookDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = HookDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = HookDict()
global_hooks = (_global_forward_hooks, _global_forward_pre_hooks, _global_backward_hooks, _global_backward_pre_hooks)
_global_buffer_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Any] = OrderedDict()
global_is_full: list[bool | None] = [None]


# ---- hooks of every module
def register_module_forward_pre_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, args)`` before every module's forward."""
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook: Any, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every module's forward."""
    flags = [(_global_forward_hooks_with_kwargs, with_kwargs), (_global_forward_hooks_always_called, always_call)]
    return add_hook(_global_forward_hooks, hook, flags=flags)


def register_module_full_backward_pre_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before every module's gradients are computed."""
    return add_hook(_global_backward_pre_hooks, hook)


def _only_one_sort(full: bool) -> None:
    if global_is_full[0] is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    global_is_full[0] = full


def register_module_full_backward_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when every module's gradients have been computed."""
    _only_one_sort(True)
    return add_hook(_global_backward_hooks, hook)


def register_module_backward_hook(hook: Any) -> RemovableHandle:
    """The old form of ``register_module_full_backward_hook``, whose hooks receive only the module's last node."""
    _only_one_sort(False)
    return add_hook(_global_backward_hooks, hook)


def register_module_buffer_registration_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is registered; it may return another one."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a submodule is registered; it may return another one."""
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Any) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a parameter is registered; it may return another one."""
    return add_hook(_global_parameter_registration_hooks, hook)


# ---- hooks of one module
class Hooked:
    """The part of ``Module`` that registers and calls hooks."""

    _backward_hooks: OrderedDict[int, Any]
    _backward_pre_hooks: OrderedDict[int, Any]
    _is_full_backward_hook: bool | None
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    forward: Any

    def register_forward_pre_hook(
        self,
        hook: Callable[[Any, tuple[Any, ...]], Any] | Callable[[Any, tuple[Any, ...], dict[str, Any]], Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; it may return other arguments.

        ``with_kwargs``: ``hook(module, args, kwargs)``, which returns a pair or None. ``prepend``: before the others.
        """
        return add_hook(self._forward_pre_hooks, hook, prepend, [(self._forward_pre_hooks_with_kwargs, with_kwargs)])

    def register_forward_hook(
        self,
        hook: Callable[[Any, tuple[Any, ...], Any], Any] | Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; it may return another output.

        ``with_kwargs``: ``hook(module, args, kwargs, output)``. ``always_call``: also if ``forward`` raised.

        >>> import wengert as torch
        >>> linear = torch.nn.Linear(2, 3)
        >>> handle = linear.register_forward_hook(lambda module, args, output: output.detach().sign() ** 2)
        >>> linear(torch.ones(2))
        tensor([1., 1., 1.])
        >>> handle.remove()
        """
        flags = [(self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)]
        return add_hook(self._forward_hooks, hook, prepend, flags)

    def register_full_backward_pre_hook(
        self, hook: Callable[[Any, Gradients], Gradients | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's gradients are computed; it may return new ones."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[[Any, Gradients, Gradients], Gradients | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        Both are tuples, with ``None`` for objects that are not tensors or need no gradient. The hook may return a new
        ``grad_input``.
        """
        self._one_sort(full=True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Any) -> RemovableHandle:
        """The old form of ``register_full_backward_hook``, whose hooks receive only the module's last node."""
        self._one_sort(full=False)
        return add_hook(self._backward_hooks, hook)

    def _one_sort(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks and the old ones."""
        sorts: dict[bool, list[Any]] = {True: [], False: []}
        if global_is_full[0] is not None:
            sorts[global_is_full[0]] += _global_backward_hooks.values()
        if self._is_full_backward_hook is not None:
            sorts[self._is_full_backward_hook] += self._backward_hooks.values()
        return sorts[True], sorts[False]

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    # ---- the call
    def _has_hooks(self) -> bool:
        return bool(
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
            or self.__dict__.get("_compiled_call_impl") is not None
        )

    def _call_with_hooks(self, args: Any, kwargs: Any) -> Any:
        compiled = self.__dict__.get("_compiled_call_impl")
        if compiled is not None and compiled.alone(self):
            return compiled(*args, **kwargs)
        state: dict[str, Any] = {"args": args, "kwargs": kwargs, "result": None}
        called: set[int] = set()
        try:
            return self._call_hooked(state, called)
        except Exception:
            self._call_always(state, called)
            raise

    def _call_hooked(self, state: dict[str, Any], called: set[int]) -> Any:
        full, partial = self._get_backward_hooks()
        pre = self._get_backward_pre_hooks()
        self._call_pre_hooks(state)
        around = BackwardHook(self, full, pre) if full or pre else None
        if around is not None:
            state["args"] = around.setup_input_hook(state["args"])
        state["result"] = self.forward(*state["args"], **state["kwargs"])
        for hook_id, hook in (*_global_forward_hooks.items(), *self._forward_hooks.items()):
            if hook_id in self._forward_hooks_always_called or hook_id in _global_forward_hooks_always_called:
                called.add(hook_id)
            self._call_forward_hook(hook_id, hook, state)
        result = state["result"]
        if around is not None:
            if not isinstance(result, (Tensor, tuple)):
                warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(result)}",
                )
            result = state["result"] = around.setup_output_hook(result)
        if partial:
            self._place_partial(partial, state["args"], result)
        return result

    def _call_pre_hooks(self, state: dict[str, Any]) -> None:
        for hook_id, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                given = hook(self, state["args"], state["kwargs"])
                if given is None:
                    continue
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
                    )
                state["args"], state["kwargs"] = given
            else:
                given = hook(self, state["args"])
                if given is not None:
                    state["args"] = given if isinstance(given, tuple) else (given,)

    def _call_forward_hook(self, hook_id: int, hook: Any, state: dict[str, Any]) -> None:
        if hook_id in self._forward_hooks_with_kwargs or hook_id in _global_forward_hooks_with_kwargs:
            given = hook(self, state["args"], state["kwargs"], state["result"])
        else:
            given = hook(self, state["args"], state["result"])
        if given is not None:
            state["result"] = given

    def _call_always(self, state: dict[str, Any], called: set[int]) -> None:
        """Call the hooks with ``always_call`` after an error."""
        for what, hooks, always in (
            ("global module", _global_forward_hooks, _global_forward_hooks_always_called),
            ("module", self._forward_hooks, self._forward_hooks_always_called),
        ):
            for hook_id, hook in hooks.items():
                if hook_id not in always or hook_id in called:
                    continue
                try:
                    self._call_forward_hook(hook_id, hook, state)
                except Exception as error:  # noqa: BLE001  a hook's own error must not hide the first one
                    warn(
                        f"{what} forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error}",
                    )

    def _place_partial(self, hooks: list[Any], inputs: Any, result: Any) -> None:
        """Register the old backward hooks on the node of the (first) result."""
        var = result
        while not isinstance(var, Tensor):
            var = next(v for v in var.values() if isinstance(v, Tensor)) if isinstance(var, dict) else var[0]
        node = var.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(WrappedHook(hook, self))
            _warn_of_partial(inputs, result, node)


_PARTIAL = "is deprecated and will be removed in future versions. This hook will be missing some"
_FULL = "Please use register_full_backward_hook to get the documented behavior."


def _warn_of_partial(inputs: Any, result: Any, node: Any) -> None:
    """Warn about gradients that an old backward hook will miss."""
    text = None
    results = (result,) if isinstance(result, Tensor) else result
    if not (isinstance(results, tuple) and all(isinstance(r, Tensor) for r in results)):
        text = (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{_PARTIAL} of the grad_output. {_FULL}"
        )
    elif not (isinstance(inputs, tuple) and all(isinstance(i, Tensor) for i in inputs)):
        text = (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
            f"Tensors {_PARTIAL} of the grad_input. {_FULL}"
        )
    else:
        made_by = {r.grad_fn for r in results if r.grad_fn is not None}
        if not made_by or (len(made_by) == 1 and node not in made_by):
            nested = "Using a non-full backward hook when outputs are nested in python data structure"
            text = f"{nested} {_PARTIAL} grad_output."
        elif len(made_by) > 1:
            text = (
                "Using a non-full backward hook when outputs are generated by different autograd Nodes "
                f"{_PARTIAL} grad_output. {_FULL}"
            )
        elif {i.grad_fn for i in inputs if i.grad_fn is not None} != {n for n, _ in node.next_functions}:
            text = (
                "Using a non-full backward hook when the forward contains multiple autograd Nodes "
                f"{_PARTIAL} grad_input. {_FULL}"
            )
    if text is not None:
        warn(text, FutureWarning)
