"""``torch.overrides``: functions, modes and tables for classes that define ``__torch_function__``.

>>> import wengert as torch
>>> class Logged:
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         return torch.overrides.resolve_name(func)
>>> torch.matmul(torch.ones(2, 2), Logged())
'torch.matmul'
>>> torch.linalg.cholesky(Logged())
'torch.linalg.cholesky'
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._base.registry import PUBLIC
from ._base.torch_function import STATE
from ._tape.tensor import Tensor
from ._tensor_api import override_sites, torch_function
from ._tensor_api.construct import FACTORIES
from ._tensor_api.function_modes import BaseTorchFunctionMode, TorchFunctionMode
from ._tensor_api.torch_function import SITES, has_torch_function, overriding

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "enable_reentrant_dispatch", "get_default_nowrap_functions",
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
    "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like",
    "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip


# ---- in functions
def has_torch_function_unary(arg: Any) -> bool:
    """``has_torch_function`` of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """``has_torch_function`` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function's overrides, modes first, with these arguments; return the first result.

    Raises:
        TypeError: every override returns ``NotImplemented``.
    """
    state = STATE.get()
    found = overriding(tuple(relevant_args)) if state.classes and state.all else []
    result = torch_function.answer(public_api, found, (args, kwargs), state)
    if result is not NotImplemented:
        return result
    modes = state.modes if state.all else ()
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for {resolve_name(public_api) or name!r} on types that implement "
        f"__torch_function__: {[type(a) for a in found]}" + (f" nor in mode {modes[-1]!r}" if modes else "")
    )


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that makes a function overridable; ``dispatcher`` returns its relevant arguments.

    >>> import wengert as torch
    >>> @torch.overrides.wrap_torch_function(lambda a: (a,))
    ... def twice(a):
    ...     return a + a
    >>> twice(torch.ones(1))
    tensor([2.])
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def _get_overloaded_args(relevant_args: Any, get_type_fn: Callable[[Any], type] | None = None) -> list[Any]:
    """One argument of each overriding type, subclasses before their base classes."""
    return overriding(tuple(relevant_args)) if STATE.get().classes else []


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or may take the place of one.

    >>> import wengert as torch
    >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# ---- modes
def _get_current_function_mode() -> Any:
    modes = STATE.get().modes
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(STATE.get().modes)


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    state = STATE.get()
    try:
        STATE.set(state._replace(modes=state.modes[:-1]))
        yield state.modes[-1]
    finally:
        STATE.set(state)


# ---- tables
def _spaces() -> Iterator[tuple[str, Any]]:
    """The namespaces with overridable functions, by PyTorch's name."""
    import wengert

    yield "torch", wengert
    for name in ("nn.functional", "linalg", "fft", "special"):
        yield f"torch.{name}", operator.attrgetter(name)(wengert)
    yield "torch.Tensor", Tensor


def _members(space: str, owner: Any) -> dict[str, Any]:
    """What a namespace has: the public functions in the order of their declarations, and all else."""
    public = PUBLIC["torch" if space == "torch" else space.removeprefix("torch.")]
    return {**dict(public.items()), **vars(owner)}


def resolve_name(f: Any) -> str | None:
    """The public name of a function, such as ``"torch.linalg.solve"``; ``None`` if it has none.

    If a function and a method are one object, the result is the function's name.
    """
    name = torch_function.name_of(f)
    return name if id(f) in SITES or (name is not None and name.startswith("torch.Tensor.")) else None


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The overridable functions of each namespace; attributes are listed as their ``__get__``.

    >>> import wengert as torch
    >>> torch.add in torch.overrides.get_overridable_functions()[torch]
    True
    """
    table: dict[Any, list[Any]] = {}
    ignored = get_ignored_functions()
    for space, owner in _spaces():
        for name, member in _members(space, owner).items():
            if isinstance(member, property):
                if name not in override_sites.NOT_OVERRIDABLE["Tensor"]:
                    table.setdefault(member, []).append(member.__get__)
            elif isinstance(member, types.FunctionType) and resolve_name(member) is not None and member not in ignored:
                table.setdefault(owner, []).append(member)
    return table


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """A function for each overridable function, with the same signature, that returns -1."""
    stand_ins = {}
    for functions in get_overridable_functions().values():
        for fn in functions:
            if isinstance(fn, types.FunctionType):
                site = SITES.get(id(fn))
                signature = inspect.signature(fn if site is None or hasattr(fn, "__signature__") else site.unchanged)
            else:
                signature = inspect.signature(lambda self: -1)
            stand_ins[fn] = _stand_in(signature)
    return stand_ins


def _stand_in(signature: inspect.Signature) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    stand_in.__signature__ = signature
    return stand_in


def get_ignored_functions() -> set[Any]:
    """The public functions that cannot be overridden: they take no tensors, or make them."""
    ignored = {
        getattr(owner, name)
        for space, owner in _spaces()
        for name in override_sites.NOT_OVERRIDABLE.get(space.removeprefix("torch.") or "torch", ())
        if callable(getattr(owner, name, None))
    }
    return ignored.union(FACTORIES)


def get_default_nowrap_functions() -> set[Any]:
    """The functions whose results ``Tensor.__torch_function__`` does not convert to the subclass."""
    return set(torch_function.nowrap())


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of ``Tensor`` or accesses one of its attributes."""
    return func in _tensor_members() or getattr(func, "__name__", None) in ("__get__", "__set__", "__delete__")


@functools.cache
def _tensor_members() -> set[Any]:
    return {member for member in _members("torch.Tensor", Tensor).values() if isinstance(member, types.FunctionType)}


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A context in ``__torch_dispatch__`` in which operators are recorded, as they are here without it."""
    yield
