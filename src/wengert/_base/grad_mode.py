"""no_grad and its family: context managers that are decorators too, for functions, generators and coroutines."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

from .errors import warn
from .modes import MODE, State, changed, enter, leave_mode, replaced

_F = TypeVar("_F", bound=Callable[..., Any])


class ContextDecorator:
    """A context manager that also decorates functions, generators and coroutines: each call enters a fresh manager."""

    def clone(self) -> Self:
        """A fresh manager with the same settings."""
        return type(self)()

    def __call__(self, fn: _F) -> _F:
        if inspect.isclass(fn):
            warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
            )
            fn = functools.partial(fn)  # type: ignore[assignment]
        if inspect.isgeneratorfunction(fn):
            return _wrap_generator(self.clone, fn)
        if inspect.iscoroutinefunction(fn):

            @functools.wraps(fn)
            async def coroutine(*args: Any, **kwargs: Any) -> Any:
                with self.clone():
                    return await fn(*args, **kwargs)

            return coroutine  # type: ignore[return-value]

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return fn(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError


class _ModeDecorator(ContextDecorator):
    """The base class of the grad modes: one object may be entered repeatedly, also nested in itself."""

    def _target(self) -> State:
        raise NotImplementedError

    def __enter__(self) -> Any:
        enter(MODE, self._target())

    __exit__ = leave_mode


class _StepsInMode:
    """A generator that runs each step in the mode, with the methods that ``yield from`` calls (PEP 380)."""

    def __init__(self, make: Any, gen: Any) -> None:
        self._make, self._gen = make, gen

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        with self._make():
            return next(self._gen)

    def send(self, value: Any) -> Any:
        with self._make():
            return self._gen.send(value)

    def throw(self, *error: Any) -> Any:
        try:
            with self._make():
                return self._gen.throw(*error)
        finally:
            del error  # its traceback holds this frame: a cycle

    def close(self) -> None:
        with self._make():
            self._gen.close()


def _wrap_generator(make: Any, fn: Any) -> Any:
    """A generator function whose body runs in the mode; between yields, the caller does not."""

    @functools.wraps(fn)
    def generator(*args: Any, **kwargs: Any) -> Any:
        return (yield from _StepsInMode(make, fn(*args, **kwargs)))

    return generator


class _WithoutOptions(_ModeDecorator):
    """A mode that also decorates without a call: ``@no_grad`` is ``@no_grad()``."""

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...
    def __new__(cls, orig_func: Any = None) -> Any:
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)


class no_grad(_WithoutOptions):
    """Context manager and decorator that turns recording off, per thread and per asyncio task.

    >>> import wengert as torch
    >>> x = torch.tensor([1.], requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __enter__(self) -> None:
        before = MODE.get()
        state = State(False, False, None, None) if before is None else changed(grad=False)
        try:  # as ``enter``, without its call
            MODE.set(state)
        except BaseException:
            MODE.set(before)
            raise


class enable_grad(_WithoutOptions):
    """Context manager and decorator that turns recording on, also within ``no_grad``.

    >>> import wengert as torch
    >>> x = torch.tensor([1.], requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    def _target(self) -> State:
        return changed(grad=True)


class set_grad_enabled(_ModeDecorator):
    """Turn recording on or off: at once as a plain call, or until the end of a ``with`` block.

    >>> import wengert as torch
    >>> _ = torch.set_grad_enabled(False)
    >>> torch.is_grad_enabled()
    False
    >>> _ = torch.set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        if type(mode) is not bool:
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        self.prev: State | None = MODE.get()
        MODE.set(replaced(grad=self.mode))

    def __call__(self, fn: _F) -> _F:
        MODE.set(self.prev)
        return super().__call__(fn)

    def clone(self) -> Any:
        return grad_mode(self.mode)

    def __enter__(self) -> None:
        now = replaced(grad=self.mode) or State(True, False, None, None)
        now.outer = self.prev
        enter(MODE, now)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_ModeDecorator):
    """Context manager and decorator that turns recording off; tensors made inside may not enter a graph later.

    >>> import wengert as torch
    >>> with torch.inference_mode():
    ...     y = torch.ones(2)
    >>> y.is_inference()
    True
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...
    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self.mode = True if callable(mode) else bool(mode)
        return self(mode) if callable(mode) else self

    def clone(self) -> Any:
        return inference_mode(self.mode)

    def _target(self) -> State:
        return changed(grad=not self.mode, inference=self.mode)


class grad_mode(_ModeDecorator):
    """Recording on or off, for the library's own use: it acts only inside ``with``."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def _target(self) -> State:
        return changed(grad=self.mode)


class recording(_WithoutOptions):
    """Recording on, in inference mode too, for the library's own use: what transforms run their functions in."""

    def _target(self) -> State:
        return changed(grad=True, inference=False)


def is_grad_enabled() -> bool:
    """Whether recording is on in this thread or task; inference mode records nothing all the same.

    >>> import wengert as torch
    >>> with torch.inference_mode(), torch.enable_grad():
    ...     torch.is_grad_enabled(), (torch.ones(2, requires_grad=True) * 2).requires_grad
    (True, False)
    """
    state = MODE.get()
    return state is None or state.asked
