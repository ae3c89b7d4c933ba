"""``TorchDispatchMode``: a context that intercepts every operator.

The operators have PyTorch's names (``torch.ops.aten``) and arguments; where no operator of PyTorch computes the same,
wengert's. The operators in derivative formulas are intercepted too. A mode is above autograd: operations in
``__torch_dispatch__`` are recorded as usual. (In PyTorch a mode is below autograd.)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

import numpy as np

from .._arrays.layouts import is_dense, row_major_strides
from .._base.grad_mode import grad_mode
from .._base.modes import begin, ending, together, watching
from .._base.registry import TENSORS
from .._base.torch_function import AROUND, STATE
from .._tape import delivery, engine
from .._tape.node import Parts, Port
from .._tape.tensor import Tensor, wrap
from .._tensor_api.override_sites import modes_state
from ._aten import NOTHING, aten, intercepted, overload_of
from ._aten_calls import COMPOSED, asked_as, cast_answer

__all__ = ["TorchDispatchMode", "is_in_torch_dispatch_mode"]

_stack: ContextVar[tuple[Any, ...]] = ContextVar("wengert_dispatch_modes", default=())


class _Entered:
    """A mode that was entered, and the hook on operators that asks it if it is the innermost."""

    __slots__ = ("end", "mode")
    end: Any  # a function of C that leaves the mode

    def __init__(self, mode: Any) -> None:
        self.mode = mode

    def __call__(self, info: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        stack = _stack.get()
        if not stack or stack[-1] is not self:
            return proceed()
        if info.name in COMPOSED and isinstance(self.mode, TorchDispatchMode):
            composed = COMPOSED[info.name](*args)
            if composed is not NotImplemented:
                return composed
        op, given, named = self.mode._call_of(info, args)
        return self.asked(op, given, named, (info, args))

    def asked(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Any = None) -> Any:
        """The mode's answer, which it gives without itself; ``call``: an operator of wengert and its arguments."""
        stack, before, around = _stack.get(), intercepted.get(), AROUND.get()
        try:
            _stack.set(stack[:-1])
            intercepted.set((op, *call, (args, kwargs)) if call is not None else NOTHING)
            AROUND.set(around or partial(_under, stack))
            answer = self.mode.__torch_dispatch__(op, (), args, kwargs)
        finally:
            _stack.set(stack)
            intercepted.set(before)
            AROUND.set(around)
        number = op.namespace != "aten" or op == aten._local_scalar_dense.default  # or whatever a program's gives
        if not isinstance(self.mode, TorchDispatchMode) or (number and answer is not NotImplemented):
            return answer
        return cast_answer(op, answer, 1 if call is None else call[0].outputs, f"  - mode object {self.mode!r}\n")


class OperatorMode:
    """Base of modes that are asked about wengert's operators, with the arguments that these have."""

    def __init__(self, _dispatch_key: Any = None) -> None:
        pass

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def _call_of(self, info: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return overload_of(info, args), args, {}

    def _function_modes(self) -> Any:
        """The state of function modes inside of this one."""
        return STATE.get()

    def __enter__(self) -> Any:
        ask = _Entered(self)
        watch, leave = watching(ask)
        observe = together(
            partial(engine.observers.insert, 0, _on_tensors),  # the innermost: it runs the step itself
            partial(delivery.leaf_observers.insert, 0, _on_leaf),
        )
        before, functions, inside = _stack.get(), STATE.get(), self._function_modes()
        ask.end = together(
            leave, partial(engine.observers.remove, _on_tensors),
            partial(delivery.leaf_observers.remove, _on_leaf), partial(STATE.set, functions),
            partial(_stack.set, before),
        )  # fmt: skip
        begin(together(watch, observe, partial(STATE.set, inside), partial(_stack.set, (*before, ask))), ask.end)
        return self

    __exit__ = ending(_stack)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """False: the mode is not part of PyTorch's own infrastructure."""
        return False


class TorchDispatchMode(OperatorMode):
    """Base of modes: inside ``with``, each operator calls ``__torch_dispatch__(func, types, args, kwargs)``.

    ``func`` is one of ``torch.ops.aten``; ``func(*args, **kwargs)`` runs it without this mode. The innermost of nested
    modes is called first.

    >>> import wengert as torch
    >>> from wengert.utils._python_dispatch import TorchDispatchMode
    >>> class Names(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     y = torch.ones(2).exp() * 2
    aten.ones.default
    aten.exp.default
    aten.mul.Tensor
    """

    def _call_of(self, info: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return asked_as(info, args)

    def _function_modes(self) -> Any:
        modes = STATE.get().modes
        return STATE.get() if _functions() in modes else modes_state((_functions(), *modes))


@cache
def _functions() -> Any:
    from ._dispatch_functions import Functions

    return Functions(lambda: (_stack.get() or (None,))[-1])


def _on_tensors(n: Any, g: Any, step: Any) -> Any:
    """A backward step whose formula runs on Tensors, which lets a mode intercept its operators."""
    h = n._hooks
    if (
        not _stack.get()
        or n.by_user
        or type(n) in (Port, engine.NothingArrives)
        or isinstance(g, Tensor)
        or (h is not None and (h.pre or h.post))
    ):
        return step()
    now = engine.current_pass()
    assert now is not None
    given = Parts({k: wrap(v) for k, v in g.parts.items()}) if type(g) is Parts else wrap(g)
    with grad_mode(False):
        pairs = n.backward(TENSORS, given, now.keep)
    return tuple(_payload(x) for x in pairs)


def _under(stack: tuple[Any, ...], function: Any, value: Any) -> Any:
    """Call a pack hook, which in PyTorch runs outside of the mode that is asked: under all modes of the program."""
    before, state = _stack.get(), STATE.get()
    call, around = intercepted.get(), AROUND.get()
    try:
        _stack.set(stack)
        intercepted.set(NOTHING)
        AROUND.set(None)
        STATE.set(stack[-1].mode._function_modes())
        return function(value)
    finally:
        _stack.set(before)
        intercepted.set(call)
        AROUND.set(around)
        STATE.set(state)
        del state  # as in Functions.ask


def _on_leaf(m: Any, g: Any, step: Any) -> None:
    """A leaf that accumulates by operators of which a mode is asked."""
    a, stack = m.box.a, _stack.get()
    if (
        step.func is _on_leaf  # that of an outer mode: the innermost mode is asked
        or not stack
        or not isinstance(stack[-1].mode, TorchDispatchMode)
        or type(g) is not np.ndarray
        or type(a) is not np.ndarray
        or g.dtype is not a.dtype
        or g.shape != a.shape
    ):
        step()
    else:
        step(add=partial(_accumulated, g.base is None and g.strides == a.strides))


def _accumulated(taken: bool, m: Any, g: Any) -> None:
    """Accumulate into ``.grad``; ``taken``: the array itself may become the gradient, which PyTorch then detaches."""
    ask = partial(_functions().ask, _stack.get()[-1])
    given = wrap(g)
    if m.grad is not None:
        ask(aten.add_.Tensor, (m.grad, given))
    elif taken:
        m.grad = ask(aten.detach.default, (given,))
    else:
        a = m.box.a
        strides = [s // a.itemsize for s in a.strides]
        if not is_dense(a.shape, a.strides, a.itemsize):
            strides = list(row_major_strides(a.shape))
        m.grad = ask(aten.new_empty_strided.default, (given, list(a.shape), strides))
        ask(aten.copy_.default, (m.grad, given))


def _payload(x: Any) -> Any:
    if type(x) is Parts:
        return Parts({k: _payload(v) for k, v in x.parts.items()})
    return x._payload if isinstance(x, Tensor) else x


# ---- the stack
def _get_current_dispatch_mode() -> Any:
    """The innermost mode, ``None`` outside of any."""
    stack = _stack.get()
    if stack:
        return stack[-1].mode
    selective = sys.modules.get(f"{__package__}._selective")  # the contexts of selective checkpoints are modes too
    entered = selective._entered.get() if selective is not None else ()
    return entered[-1].context if entered else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All modes, the innermost last."""
    return [ask.mode for ask in _stack.get()]


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether any mode is active in this thread or task."""
    return bool(_stack.get())


is_in_any_mode_without_ignore_compile_internals = is_in_torch_dispatch_mode


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Inside, no mode is asked."""
    before = _stack.get()
    try:
        _stack.set(())
        yield _get_current_dispatch_mode_stack()
    finally:
        _stack.set(before)


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    """A context without the innermost mode."""
    stack = _stack.get()
    try:
        _stack.set(stack[:-1])
        yield stack[-1].mode
    finally:
        _stack.set(stack)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """The result of a dispatch: for a write in place the tensor that was written."""
    name = func.overloadpacket.__name__
    return args[0] if name.endswith("_") and not name.endswith("__") else out


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor's class is a subclass that can be flattened to plain tensors and rebuilt."""
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """``is_traceable_wrapper_subclass`` of a class."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
