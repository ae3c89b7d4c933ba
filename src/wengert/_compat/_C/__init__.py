"""``torch._C``, PyTorch's compiled part: the names that programs use.

>>> import wengert as torch
>>> with torch._C.DisableTorchFunctionSubclass():
...     torch._C._is_torch_function_enabled()
False
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import wengert as _VariableFunctions  # its functions, which PyTorch's pickles get from here
from wengert._base.dtypes import Size, device, dtype, layout, memory_format
from wengert._base.errors import warn
from wengert._base.grad_mode import set_grad_enabled
from wengert._base.modes import enter
from wengert._base.registry import PUBLIC
from wengert._base.torch_function import (
    STATE,
    _disabled_torch_dispatch_impl,
    _disabled_torch_function_impl,
    leave_modes,
)
from wengert._compat import open_rows
from wengert._tape.tensor import Tensor
from wengert._tensor_api.generator import Generator
from wengert._tensor_api.torch_function import has_torch_function as _has_torch_function

TensorBase = _TensorBase = Tensor  # one class here
_TensorMeta = type(Tensor)
_VariableFunctionsClass = _VariableFunctions


class _Disable:
    """A context in which ``__torch_function__`` of classes is ignored."""

    _everything = False

    def __enter__(self) -> None:
        state = STATE.get()
        enter(STATE, state._replace(classes=False, all=state.all and not self._everything, outer=state))

    __exit__ = leave_modes


class DisableTorchFunctionSubclass(_Disable):
    """A context in which ``__torch_function__`` of classes is ignored, but modes are active."""


class DisableTorchFunction(_Disable):
    """A context in which ``__torch_function__`` of classes and modes is ignored."""

    _everything = True


def _is_torch_function_enabled() -> bool:
    """Whether ``__torch_function__`` of classes is active in this thread or task."""
    state = STATE.get()
    return state.classes and state.all


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode is active in this thread or task."""
    state = STATE.get()
    return bool(state.modes) and state.all


def _len_torch_function_stack() -> int:
    """How many modes are on."""
    return len(STATE.get().modes)


def _get_default_device() -> str:
    """The type of the default device."""
    from wengert._tensor_api.settings import get_default_device

    return get_default_device().type


class DispatchKeySet(frozenset[Any]):
    """A set of dispatch keys, made of one."""

    def __new__(cls, key: Any) -> Any:
        """The set of this key."""
        return super().__new__(cls, (key,))

    def has(self, key: Any) -> bool:
        """Whether a key is in the set."""
        return key in self

    def add(self, key: Any) -> frozenset[Any]:
        """The set with one more key."""
        return frozenset.__new__(DispatchKeySet, {*self, key})

    def remove(self, key: Any) -> frozenset[Any]:
        """The set without a key."""
        return frozenset.__new__(DispatchKeySet, {*self} - {key})


_NO_KEYS: Any = frozenset.__new__(DispatchKeySet)
_excluded: ContextVar[Any] = ContextVar("wengert_excluded_keys", default=_NO_KEYS)


@contextmanager
def _ExcludeDispatchKeyGuard(keys: Any) -> Iterator[None]:
    """A context that only notes the keys: there are no kernels to leave out."""
    token = _excluded.set(frozenset.__new__(DispatchKeySet, _excluded.get() | keys))
    try:
        yield
    finally:
        _excluded.reset(token)


@contextmanager
def _AutoDispatchBelowAutograd() -> Iterator[None]:
    """Inside, kernels that ``Library.impl`` registered for "Autograd" are passed by."""
    from wengert.utils._custom_ops import below_autograd

    token = below_autograd.set(True)
    try:
        yield
    finally:
        below_autograd.reset(token)


def _dispatch_tls_local_exclude_set() -> Any:
    """The keys that ``_ExcludeDispatchKeyGuard`` notes here."""
    return _excluded.get()


class _Compiled(type):
    """Classes that stand for parts of PyTorch's compiled module: they have the functions of a public one."""

    def __getattr__(cls, name: str) -> Any:
        space = cls.__name__.replace("_nn", "_nn.functional")[1:]
        prefix = "" if space == "nn.functional" else f"{space}_"
        short = {"log_sigmoid": "logsigmoid"}.get(name, name.removeprefix(prefix))
        if name.startswith(prefix) and short in PUBLIC[space]:
            return PUBLIC[space][short]
        raise AttributeError(f"module 'torch._C.{cls.__name__}' has no attribute '{name}'")


class _linalg(metaclass=_Compiled):
    """``torch._C._linalg.linalg_norm`` and its like, which code written from a graph calls."""


class _fft(metaclass=_Compiled):
    """``torch._C._fft.fft_fft`` and its like."""


class _special(metaclass=_Compiled):
    """``torch._C._special.special_expit`` and its like."""


class _nn(metaclass=_Compiled):
    """``torch._C._nn``: functions of ``nn.functional`` that PyTorch compiles, and the parser of ``Module.to``."""

    @staticmethod
    def _parse_to(*args: Any, **kwargs: Any) -> tuple[device | None, dtype | None, bool, memory_format | None]:
        """The arguments of ``Module.to``: device, dtype, ``non_blocking`` and memory format. lightning overrides it.

        >>> import wengert as torch
        >>> torch._C._nn._parse_to("cpu", torch.float64)
        (device(type='cpu'), torch.float64, False, None)
        """
        from wengert._ops.create.convert import _to_arguments

        found, where, _, kept = _to_arguments(args, kwargs)
        flags = [a for a in args if isinstance(a, bool)]
        non_blocking = bool(flags[0] if flags else kwargs.get("non_blocking", False))
        return where, found, non_blocking, kept

    @staticmethod
    def _test_warn_in_autograd(input: Any) -> Any:
        """A copy of a tensor whose backward warns, for tests."""
        from wengert.autograd.function import Function

        class TestWarnInAutograd(Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x.clone()

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                warn("Warn from backward")
                return g

        return TestWarnInAutograd.apply(input)


def _get_autograd_fallback_mode() -> str:
    """What backward does with results of operators that were registered without a derivative."""
    from wengert.utils import _custom_ops

    return _custom_ops.fallback_mode


def _set_autograd_fallback_mode(mode: str) -> None:
    """Set it: "nothing" or "warn"."""
    from wengert.utils import _custom_ops

    if mode not in ("nothing", "warn"):
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {mode}")
    _custom_ops.fallback_mode = mode


_stashed = threading.local()


def _stash_obj_in_tls(key: str, value: Any) -> None:
    """Keep an object for this thread under a name."""
    vars(_stashed)[key] = value


def _is_key_in_tls(key: str) -> bool:
    """Whether there is one."""
    return key in vars(_stashed)


def _get_obj_in_tls(key: str) -> Any:
    """The object that was kept."""
    return vars(_stashed)[key]


def _remove_obj_from_tls(key: str) -> None:
    """Keep it no longer."""
    vars(_stashed).pop(key, None)


def _len_torch_dispatch_stack() -> int:
    """The number of active dispatch modes."""
    from wengert.utils._python_dispatch import _get_current_dispatch_mode_stack

    return len(_get_current_dispatch_mode_stack())


def _set_grad_enabled(enabled: bool) -> None:
    """Turn recording on or off."""
    set_grad_enabled(enabled)


class _WeakTensorRef:
    """A weak reference to a tensor.

    >>> import wengert as torch
    >>> x = torch.ones(1)
    >>> ref = torch._C._WeakTensorRef(x)
    >>> del x
    >>> ref.expired()
    True
    """

    def __init__(self, tensor: Tensor) -> None:
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


_cached: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()  # what CUDA graphs cache there


def _add_cached_tensor(tensor: Tensor) -> None:
    """Remember a tensor until it is removed or gone."""
    _cached[id(tensor)] = tensor


def _remove_cached_tensor(tensor: Tensor) -> None:
    """Forget it."""
    _cached.pop(id(tensor), None)


def _is_cached_tensor(tensor: Tensor) -> bool:
    """Whether it is remembered."""
    return _cached.get(id(tensor)) is tensor


open_rows(globals())

# Names in modules that are imported on access.
_LATE = {
    "_has_torch_function_unary": ".overrides:has_torch_function_unary",
    "_has_torch_function_variadic": ".overrides:has_torch_function_variadic", "_autograd": "._C._autograd",
    "_dynamo": "._C._dynamo", "_functions": "._C._functions", "_functorch": "._C._functorch",
    "_current_autograd_node": ".autograd._task", "_current_graph_task_id": ".autograd._task",
    "_current_graph_task_execution_order": ".autograd._task",
    "_will_engine_execute_node": ".autograd._task", "_is_fwd_grad_enabled": ".autograd.forward_ad",
    "_is_grad_layout_enforcement_enabled": ".autograd.grad_mode",
    "_is_multithreading_enabled": ".autograd.grad_mode:is_multithreading_enabled",
    "_set_fwd_grad_enabled": ".autograd.forward_ad",
    "_set_grad_layout_enforcement_enabled": ".autograd.grad_mode:enforce_grad_layout_policy",
    "_set_multithreading_enabled": ".autograd.grad_mode:set_multithreading_enabled",
    "is_grad_enabled": "._base.grad_mode", "is_inference_mode_enabled": "._modes",
    "_LinAlgError": ".linalg:LinAlgError", "_get_accelerator": "._compat._devices:get_accelerator",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_jit_"):  # switches of TorchScript's compiler, which programs turn off and on
        return lambda *args, **kwargs: None
    if name in ("Block", "Graph", "Node", "ScriptFunction", "Value"):  # TorchScript's, which annotations name
        from wengert._base.absent import absent_class

        return globals().setdefault(name, absent_class(name))
    if name in _LATE:
        from importlib import import_module

        home, _, attribute = _LATE[name].partition(":")
        module = import_module(home, "wengert")
        return module if home == f"._C.{name}" else getattr(module, attribute or name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
