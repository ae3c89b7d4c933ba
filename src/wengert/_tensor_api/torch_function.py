"""``__torch_function__``: classes and modes that override PyTorch's functions for their instances.

A class overrides if it has a ``__torch_function__`` that is not ``DISABLED``. It may be a subclass of ``Tensor`` or any
other class; every public function then accepts its instances. ``Tensor``'s own method is the default of its subclasses:
it runs the function on them as on tensors and converts the results to instances of the subclass.

``_tensor_api.override_sites`` defines where functions call overrides.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterable
from typing import Any

from .._base.errors import OtherLibraryError, noted
from .._base.registry import PUBLIC
from .._base.torch_function import DISABLED, STATE, State, taken_over
from .._tape.tensor import Tensor

SITES: dict[int, Any] = {}
"""The ``Site`` of each function that may be overridden, by the function's ``id``."""


# ---- who overrides
PLAIN = {Tensor, int, float, bool, str, type(None)}  # types that do not override


def overrides(cls: type) -> bool:
    """Whether a class has a ``__torch_function__`` of its own."""
    if cls in PLAIN:
        return False
    method = getattr(cls, "__torch_function__", None)
    return method is not None and method is not DISABLED


def has_torch_function(relevant_args: Any) -> bool:
    """Whether one of these arguments overrides, or a mode is on; if so, ``handle_torch_function`` computes the result.

    >>> import wengert as torch
    >>> torch.overrides.has_torch_function((torch.ones(1), 2.0))
    False
    """
    if not isinstance(relevant_args, Iterable):
        raise TypeError("expected a sequence")
    state = STATE.get()
    return state.all and (bool(state.modes) or (state.classes and any(overrides(type(a)) for a in relevant_args)))


has_torch_function.__module__ = "wengert.overrides"


def overriding(args: Any, kwargs: dict[str, Any] | None = None, tensors: bool = False) -> list[Any]:
    """One argument of each overriding type, in the order of the calls: subclasses first, then from left to right.

    The items of a sequence count as arguments. ``tensors``: plain tensors count too.
    """
    found: list[Any] = []
    for a in (*args, *kwargs.values()) if kwargs else args:
        ty = type(a)
        if ty in PLAIN:
            if tensors and ty is Tensor:
                _insert(found, a)
            continue
        if ty is tuple or ty is list:
            for b in a:
                kind = type(b)
                if (tensors and kind is Tensor) or (kind not in PLAIN and overrides(kind)):
                    _insert(found, b)
        elif overrides(ty):
            _insert(found, a)
    return found


def _insert(found: list[Any], a: Any) -> None:
    ty = type(a)
    place = len(found)
    for i, b in enumerate(found):
        if type(b) is ty:
            return
        if place == len(found) and issubclass(ty, type(b)):
            place = i
    found.insert(place, a)


# ---- other libraries
def of_another_library(cls: type) -> bool:
    """Whether a class is PyTorch's own ``Tensor``, or made from it.

    Both libraries leave unknown types to the other's ``__torch_function__``, so neither may call the other's.
    """
    return any(c.__name__ == "Tensor" and c.__module__ == "torch" and c is not Tensor for c in cls.__mro__)


def _foreign(func: Any, cls: type) -> TypeError:
    name = name_of(func) or f"torch.{getattr(func, '__name__', func)}"
    return noted(
        OtherLibraryError(f"wengert.{name.removeprefix('torch.')}() was given a {cls.__module__}.{cls.__qualname__}"),
        "Why: the two libraries' tensors cannot be mixed: neither records what the other computes.",
        "What to do: convert it with wengert.from_numpy(t.detach().numpy()); that shares the memory.",
    )


def _is_function_of_torch(func: Any) -> bool:
    """Whether a function that calls our class's override is PyTorch's: it would call it again without end."""
    if getattr(sys.modules.get("torch"), "Tensor", Tensor) is Tensor:  # not imported, or "torch" is this package
        return False
    if isinstance(func, types.FunctionType):
        return str(func.__globals__.get("__name__")).partition(".")[0] == "torch"
    owner = getattr(func, "__objclass__", None)  # for a method written in C
    where = getattr(func, "__module__", None) if owner is None else owner.__module__
    return str(where).partition(".")[0] == "torch"


# ---- asking them
class Converting:
    """A base of modes that only convert arguments: functions run inside of them without being handed over.

    Of several such modes the innermost one converts.
    """

    _inside: State | None = None  # the state without modes, of the context in which it began

    def __enter__(self) -> Any:
        super().__enter__()  # type: ignore[misc]  # that of a mode
        self._inside = STATE.get()._replace(modes=(), mark=None)  # a mode must not keep its mark
        return self

    def concerns(self, name: str) -> bool:
        """Whether the arguments of functions of this name are converted."""
        raise NotImplementedError

    def arguments(self, name: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The converted arguments."""
        raise NotImplementedError

    def is_alone(self, modes: tuple[Any, ...]) -> bool:
        """Whether no mode of another kind is on."""
        return len(modes) == 1 or all(isinstance(mode, Converting) for mode in modes)

    def run(self, site: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a call of a function inside of this mode, on converted arguments."""
        before, inside = STATE.get(), self._inside
        if inside is None or inside.outer is not before.outer or not before.classes:
            inside = before._replace(modes=(), mark=None)  # not kept: its ``outer`` may have this mode
        try:
            STATE.set(inside)
            args, kwargs = self.arguments(site.name, args, kwargs)
            return site.run(args, kwargs, 4)
        finally:
            STATE.set(before)
            del before  # as in ``Site.enter``


def ask(func: Any, found: list[Any], args: Any, kwargs: dict[str, Any] | None, in_python: bool = False) -> Any:
    """The first result that is not ``NotImplemented``, of the innermost mode and then of the classes in order.

    ``in_python``: whether PyTorch's function is written in Python, whose error has other words.

    Raises:
        TypeError: all overrides return ``NotImplemented``.
    """
    for a in found:
        if of_another_library(type(a)):
            raise _foreign(func, type(a))
    result = answer(func, found, (args, kwargs) if kwargs else (args,), STATE.get())
    if result is not NotImplemented:
        return result
    state = STATE.get()
    mode = state.modes[-1] if state.modes and state.all else None
    raise TypeError((_not_found if in_python else _declined)(func, found, mode))


def answer(func: Any, found: list[Any], arguments: tuple[Any, ...], state: State) -> Any:
    """``ask`` without its error: ``NotImplemented`` if all overrides return it."""
    kinds = tuple(type(a) for a in found)
    mode, classes = state.modes[-1] if state.modes and state.all else None, state.classes
    if mode is not None:
        before = STATE.get()
        try:
            STATE.set(state._replace(modes=state.modes[:-1]))
            del state
            result = mode.__torch_function__(func, kinds, *arguments)
        finally:
            STATE.set(before)
            del before  # as in ``Site.enter``
        if result is not NotImplemented:
            return result
    if classes:
        for a in found:
            result = a.__torch_function__(func, kinds, *arguments)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _not_found(func: Any, found: list[Any], mode: Any) -> str:
    """The error of a function that PyTorch writes in Python."""
    module = func.__module__.partition(".")
    name = name_of(func) or f"{module[0].replace('wengert', 'torch')}{module[1]}{module[2]}.{func.__name__}"
    return (
        f"no implementation found for {name!r} on types that implement __torch_function__: {[type(a) for a in found]}"
        + (f" nor in mode {mode!r}" if mode is not None else "")
    )


def _declined(func: Any, found: list[Any], mode: Any) -> str:
    """The error of a function that PyTorch compiles, whose name there is the operator's: ``torch.fft.fft_fft``."""
    space, _, name = (name_of(func) or str(func)).rpartition(".")
    if space in ("torch.linalg", "torch.fft", "torch.special"):
        name = f"{space.removeprefix('torch.')}_{name}"
    called = f"{space.removesuffix('.functional')}.{name}" if space else name
    text = f"Multiple dispatch failed for '{called}'; all __torch_function__ handlers returned NotImplemented:\n\n"
    if mode is not None:
        text += f"  - mode object {mode!r}\n"
    for a in found:
        text += f"  - tensor subclass {type(a)!r}\n"
    return text + "\nFor more information, try re-running with TORCH_LOGS=not_implemented"


@taken_over.set
def default(cls: Any, func: Any, kinds: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
    if not all(issubclass(cls, kind) for kind in kinds):
        return NotImplemented
    if _is_function_of_torch(func):
        raise noted(
            TypeError(f"PyTorch's {getattr(func, '__name__', func)}() was given a wengert tensor"),
            "What to do: call wengert's function of that name, or give it torch.from_numpy(x.detach().numpy()).",
        )
    result = DISABLED(func, kinds, args, kwargs)
    return result if func in nowrap() else converted(result, cls)


def converted(result: Any, cls: Any) -> Any:
    """Convert tensors, also in a tuple or list, to instances of a subclass."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(result, cls)
    if isinstance(result, (tuple, list)):
        parts = [converted(r, cls) for r in result]
        return getattr(type(result), "_make", type(result))(parts)
    return result


def as_subclass(t: Tensor, cls: Any) -> Any:
    before = STATE.get()
    try:
        STATE.set(before._replace(classes=False, all=False))
        return PUBLIC["Tensor"]["as_subclass"](t, cls)
    finally:
        STATE.set(before)


@functools.cache
def nowrap() -> set[Any]:
    """The attributes whose value is not converted: ``grad`` and ``_base``."""
    return {getattr(Tensor, name).__get__ for name in ("grad", "_grad", "_base") if hasattr(Tensor, name)}


OF_FUNCTIONAL_MODULE = frozenset(
    {
        "align_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod",
        "cdist", "chain_matmul", "einsum", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
        "tensordot", "unique", "unique_consecutive", "unravel_index",
    }
)  # fmt: skip  # what PyTorch writes in ``torch.functional``, in Python

NAMED: dict[Any, str] = {}
"""Functions of other modules, with their names (``torch.nn.init.uniform_``)."""

# Functions of two modules that are two functions in PyTorch: these are called by nn.functional.
_OF_FUNCTIONAL = frozenset(
    [
        "celu",
        "group_norm",
        "layer_norm",
        "max_pool1d",
        "max_pool1d_with_indices",
        "max_pool2d",
        "max_pool3d",
        "rms_norm",
        "rrelu",
        "selu",
        "threshold",
    ]
)


@functools.cache
def public_places() -> dict[int, tuple[str, str]]:
    """Where each public function stands: its ``id`` -> (space, name). The first of several places is its own."""
    places: dict[int, tuple[str, str]] = {}
    for space in ("torch", "nn.functional", "linalg", "special", "fft", "Tensor"):
        for name, fn in PUBLIC[space].items():
            place = places.get(id(fn))
            better = place is not None and place[0] == space and getattr(fn, "__name__", "") == name
            if place is None or better or (space == "nn.functional" and name in _OF_FUNCTIONAL):
                places[id(fn)] = (space, name)
    return places


@functools.cache
def _names() -> dict[Any, str]:
    """The first name of every public function and method, and of the accessors of each attribute of ``Tensor``."""
    names: dict[Any, str] = {}
    for name, fn in PUBLIC["nn.functional"].items():
        if PUBLIC["torch"].get(name) is fn and name not in ("sigmoid", "tanh"):  # one function in both modules
            names[fn] = f"torch.nn.functional.{name}"
    for space in ("torch", "nn.functional", "linalg", "fft", "special"):
        for name, fn in PUBLIC.get(space, {}).items():
            module = "functional." if name in OF_FUNCTIONAL_MODULE else ""
            names.setdefault(fn, f"torch.{module}{name}" if space == "torch" else f"torch.{space}.{name}")
    methods = dict(PUBLIC["Tensor"].items())  # in the order of their declarations
    for name, member in {**methods, **vars(Tensor)}.items():
        if isinstance(member, property):
            for access in ("__get__", "__set__", "__delete__"):
                names.setdefault(getattr(member, access), f"torch.Tensor.{name}.{access}")
        elif isinstance(member, types.FunctionType):
            names.setdefault(member, f"torch.Tensor.{name}")
    return names


def name_of(func: Any) -> str | None:
    """``"torch.add"``, ``"torch.Tensor.shape.__get__"``; ``None`` if the function is not ours."""
    return _names().get(func) or NAMED.get(func)
