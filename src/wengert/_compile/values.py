"""The values that a call depends on, and the attributes of objects: ``Values``, the lower half of the ``Finder``.

A value is watched by a condition: text over constants of its own, ``c3["training"] is c4``. A container's constant is
the container itself, and the condition one level up says that it still is the one, so a path is never longer than one
step. The arguments alone are found through a path from the call, because their containers are new at each call.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._arrays.random.generator import Generator
from .._base.dtypes import Size, device, dtype
from .._base.errors import INTERNAL
from .._base.exports import is_ours
from .._tape.tensor import Tensor
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer, _global_optimizer_post_hooks, _global_optimizer_pre_hooks
from .traced import Tracer

SCALARS = (int, float, bool, str, bytes, complex, type(None), type(Ellipsis), dtype, device, enum.Enum, slice, range)
_EXACT = (int, str, bytes, bool, type(None))  # values of these types that are equal are the same
BY_IDENTITY = (
    type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, property, types.GenericAlias,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, np.dtype,
    types.CodeType,
)  # fmt: skip
GROUPED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_DEEPEST = 8
_HASH: Any = object.__hash__  # of objects that are equal to themselves alone
_LARGEST = 4096
MISSING: Any = object()
_LIBRARY = os.path.dirname(os.__file__) + os.sep


class _Kinds(dict[str, str]):
    """A file's name -> whose code it has: ``"own"`` (this package's), ``"library"`` (Python's, NumPy's), ``"user"``."""

    def __missing__(self, name: str) -> str:
        kind = "user"
        if INTERNAL[name]:
            kind = "own"
        elif name.startswith("<frozen") or (name.startswith(_LIBRARY) and "site-packages" not in name):
            kind = "library"  # Python's
        elif any(f"{os.sep}site-packages{os.sep}{of}{os.sep}" in name for of in ("numpy", "scipy")):
            kind = "library"
        self[name] = kind
        return kind


KINDS = _Kinds()


def kind_of(module: Any) -> str:
    """Whose code a module has, by the module or its name."""
    if isinstance(module, str):
        if module == "__main__":
            return "user"
        module = sys.modules.get(module)
        if module is None:
            return "user"
    name = getattr(module, "__file__", None)
    if name is None:
        return "user" if module.__name__ == "__main__" else "library"
    return KINDS[name]


class Values:
    """Conditions on values, and on attributes under the names that are known so far."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.constants: list[Any] = []
        self.numbers: dict[int, str] = {}
        self.conditions: dict[str, str] = {}  # text -> what it says
        self.same: dict[str, tuple[int, str]] = {}  # text -> the input that it finds again
        self.inputs: list[tuple[str, Any]] = []  # (text that finds the tensor, the tensor)
        self.again: list[tuple[Any, Any, Any]] = []  # (function, arguments, result): what must not change in the call
        self.groups: dict[int, tuple[Any, dict[str, Any]]] = {}  # id -> dict, its entries that are watched by identity
        self.empty: list[Any] = []  # what must stay empty: hooks
        self.seen: set[Any] = set()
        self.codes: set[Any] = set()
        self.names: set[str] = set()  # the attributes that the codes name
        self.asked: set[str] = set()  # and those of codes that ask whether there is one
        self.computed = False  # whether a code computes names
        self.lenient = 0  # whether what cannot be watched is as good as not read
        self.held: list[tuple[Any, str, int]] = []  # what has attributes
        self.absent: dict[int, tuple[str, set[str]]] = {}  # id -> text of a dict, names that must not be in it
        self.given: set[int] = set()  # the arguments' containers, which are others at the next call
        self.later: list[tuple[str, set[str]]] = []  # modules that the call imports

    # ---- conditions
    def constant(self, value: Any) -> str:
        """The name of an object among the constants of the conditions."""
        name = self.numbers.get(id(value))
        if name is None:
            name = self.numbers[id(value)] = f"c{len(self.constants)}"
            self.constants.append(value)
        return name

    def need(self, text: str, said: str) -> None:
        """Add a condition."""
        one, _, other = text.partition(" is ")
        if one != other:
            self.conditions.setdefault(text, said)

    def unwatchable(self, value: Any, text: str, where: str) -> None:
        """End the trace, unless the value was only found among all attributes of an object."""
        if self.lenient:
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
        else:
            self.tracer.stop(f"{where} is of type {type(value).__qualname__}, which cannot be watched")

    # ---- values
    def value(self, value: Any, text: str, where: str, depth: int = 0) -> None:
        """Watch a value that ``text`` finds."""
        if self.tracer.closed:
            return
        if isinstance(value, Tensor):
            self.tensor(value, text, where)
        elif isinstance(value, (*SCALARS, np.generic)):
            self.scalar(value, text, where)
        elif depth > _DEEPEST:
            if not self.lenient:
                self.tracer.stop(f"{where} lies too deep to be watched")
        elif isinstance(value, (Module, Optimizer)):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.hold(value, where, depth)
        elif isinstance(value, (list, tuple)):
            self.sequence(value, text, where, depth)
        elif isinstance(value, (dict, types.MappingProxyType)):
            self.mapping(value, text, where, depth)
        elif isinstance(value, (set, frozenset)):
            self.elements(value, text, where)
        elif type(value) is np.ndarray and value.size <= _LARGEST and value.dtype.kind in "fiubc":
            self.need(f"same_array({text}, {self.constant(value.copy())})", f"{where} has the same elements")
            self.again.append((same_array, (value, value.copy()), True))
        elif isinstance(value, BY_IDENTITY):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.hold(value, where, depth)
        elif isinstance(value, types.MethodType):
            self.need(f"{text}.__func__ is {self.constant(value.__func__)}", f"{where} is the same method")
            self.value(value.__func__, self.constant(value.__func__), where, depth)
            self.value(value.__self__, f"{text}.__self__", f"{where}.__self__", depth + 1)
        elif isinstance(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self.value(getattr(value, name), f"{text}.{name}", f"{where}.{name}", depth + 1)
        else:
            self.object(value, text, where, depth)

    def scalar(self, value: Any, text: str, where: str) -> None:
        """Watch a number, a text, a flag."""
        kept = self.constant(value)
        if isinstance(value, (bool, type(None), type(Ellipsis), enum.Enum, dtype)):
            self.need(f"{text} is {kept}", f"{where} is {value!r}")
            return
        same = f"{text} is {kept} or (type({text}) is {self.constant(type(value))} and {text} == {kept}"
        signed = f" and repr({text}) == repr({kept})" if isinstance(value, (float, complex)) and not value else ""
        self.need(f"({same}{signed}))", f"{where} == {value!r}")
        if hasattr(value, "__dict__") and not is_ours(type(value).__module__):
            self.need(f"{text} is {kept}", f"{where} is the same object")
            self.hold(value, where, 0)

    def tensor(self, t: Any, text: str, where: str) -> None:
        """Make a tensor an input."""
        if id(t) in self.tracer.lifted:
            self.same.setdefault(text, (id(t), f"{where} is {self.tracer.lifted[id(t)].where}"))
            return
        if type(t) is not Tensor and getattr(type(t), "__torch_function__", None) is not None:
            from ..nn.parameter import Buffer, Parameter

            if type(t) not in (Parameter, Buffer):
                self.tracer.stop(f"{where} is of a subclass of Tensor")
                return
        before = len(self.tracer.lifted)
        self.tracer.lift(t, where)
        for entry in list(self.tracer.lifted.values())[before:]:
            found = text
            for step in entry.where[len(where) :].split(".")[1:]:
                found = f"view_of({found})[0]" if step == "_base" else f"{found}._node.grad"
            self.inputs.append((found, entry.tensor))
            self.hold(entry.tensor, entry.where, 0)

    def sequence(self, value: Any, text: str, where: str, depth: int) -> None:
        """Watch a list or tuple and what it holds."""
        if type(value) in (tuple, Size) and all(type(x) in _EXACT for x in value):
            kept, of = self.constant(value), self.constant([type(x) for x in value])
            self.need(
                f"({text} is {kept} or ({text} == {kept} and [*map(type, {text})] == {of}))", f"{where} == {value!r}"
            )
            return
        name = self.container(value, text, where)
        if name is None:
            return
        if isinstance(value, list):
            self.again.append((same_items, (value, list(value)), True))
            kinds = {*map(type, value)}
            if len(kinds) == 1 and kinds.issubset(_EXACT):
                self.need(
                    f"{name} == {self.constant(list(value))} and {{*map(type, {name})}} == {self.constant(kinds)}",
                    f"{where} == {value!r}",
                )
                return
            self.need(f"len({name}) == {len(value)}", f"{where} has {len(value)} elements")
        for k, x in enumerate(value):
            if not (type(value) is tuple and type(x) in (*_EXACT, float)):  # what a tuple has does not change
                self.value(x, f"{name}[{k}]", f"{where}[{k}]", depth + 1)

    def mapping(self, value: Any, text: str, where: str, depth: int) -> None:
        """Watch a dict and what it holds."""
        if any(isinstance(k, Tensor) for k in value) or len(value) > _LARGEST:
            self.unwatchable(value, text, where)
            return
        name = self.container(value, text, where)
        if name is None:
            return
        self.need(f"[*{name}] == {self.constant(list(value))}", f"{where} has the same keys")
        self.again.append((same_items, (value, dict(value)), True))
        for k, x in value.items():
            key = repr(k) if type(k) in _EXACT else self.constant(k)
            self.value(x, f"{name}[{key}]", f"{where}[{k!r}]", depth + 1)

    def elements(self, value: Any, text: str, where: str) -> None:
        """Watch a set of what is equal only to itself."""
        if not all(isinstance(x, SCALARS) or type(x).__hash__ is _HASH for x in value):
            self.unwatchable(value, text, where)
            return
        self.need(f"{text} == {self.constant(value.copy())}", f"{where} has the same elements")
        self.again.append((same_items, (value, value.copy()), True))
        for x in value:
            self.value(x, self.constant(x), f"an element of {where}", 1)

    def container(self, value: Any, text: str, where: str) -> str | None:
        """A name for a container; ``None`` if it is known already."""
        name = self.constant(value)
        self.need(f"{text} is {name}", f"{where} is the same object")
        if id(value) in self.seen:
            return None
        self.seen.add(id(value))
        home = type(value).__module__
        if home.partition(".")[0] not in ("builtins", "collections") and not is_ours(home):
            self.hold(value, where, 0)
        return name

    # ---- what has attributes
    def object(self, value: Any, text: str, where: str, depth: int) -> None:
        """Watch an object of a user's class."""
        cls = type(value)
        if isinstance(value, functools._lru_cache_wrapper):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.cached(value, where)
        elif isinstance(value, Generator) or (is_ours(cls.__module__) and hasattr(cls, "__exit__")):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
        elif (
            hasattr(cls, "__next__")
            or not all(k in (object, types.SimpleNamespace) or k.__flags__ & 1 << 9 for k in cls.__mro__)
            or (not hasattr(value, "__dict__") and not slots_of(cls))
            or cls.__module__ in ("_thread", "_threading_local")
            or is_ours(cls.__module__)  # a loader, a scheduler, a scaler: our code is not watched
            or (not _users(cls) and cls is not types.SimpleNamespace)
        ):
            self.unwatchable(value, text, where)
        else:
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.hold(value, where, depth)

    def cached(self, fn: Any, where: str) -> None:
        """Watch a function with a cache: what it may name, and that its cache has what it has at the call's end."""
        self.hold(fn.__wrapped__, where, 0)
        self.code(fn.__wrapped__.__code__, fn.__wrapped__.__globals__)
        for cell, name in zip(fn.__wrapped__.__closure__ or (), fn.__wrapped__.__code__.co_freevars, strict=True):
            self.value(cell.cell_contents, f"{self.constant(cell)}.cell_contents", name)
        self.later.append((self.constant(fn), set()))

    def hold(self, value: Any, where: str, depth: int) -> None:
        """Watch an object's attributes under all names, now and those to come."""
        if (id(value), None) in self.seen:
            return
        self.seen.add((id(value), None))
        self.held.append((value, where, depth))
        if isinstance(value, Module):
            self.module(value, where)
        elif isinstance(value, Optimizer):
            self.optimizer(value, where)
        elif isinstance(value, types.FunctionType) and KINDS[value.__code__.co_filename] != "own":
            self.defaults(value, where)
        elif not isinstance(value, (*BY_IDENTITY, Tensor)):
            kept = self.constant(value)
            text = f"{kept}.__class__ is {self.constant(type(value))}"
            if hasattr(value, "__dict__"):
                text += f" and {kept}.__dict__ is {self.constant(value.__dict__)}"
            self.need(text, f"{where} has the same class")
        self.look(value, where, depth, self.names)

    def look(self, value: Any, where: str, depth: int, names: Iterable[str], whole: bool = False) -> None:
        """Watch an object's attributes under some names."""
        if isinstance(value, types.ModuleType):
            if kind_of(value) == "user":
                table = vars(value)
                for name in sorted(table.keys() & names):
                    self.entry(table, name, f"{where}.{name}", depth)
                self.lenient += 1
                for name, x in list(table.items()) if self.computed else ():
                    if isinstance(x, (*SCALARS, list, tuple, dict)) and not name.startswith("__"):
                        self.entry(table, name, f"{where}.{name}", depth)
                self.lenient -= 1
        elif isinstance(value, type):
            self.class_attributes(value, names, where, depth)
            self.class_attributes(type(value), names, where, depth)
        elif isinstance(value, Tensor):
            self.of_tensor(value, where, names)
        elif isinstance(value, Optimizer):
            self.of_optimizer(value, where)
        else:
            self.of_instance(value, where, depth, names, whole)

    def of_instance(self, value: Any, where: str, depth: int, names: Iterable[str], whole: bool) -> None:
        cls, table = type(value), getattr(value, "__dict__", {})
        whole = whole or self.computed or _derived(cls)
        wanted = {*names, *table.keys()} if whole and not isinstance(value, types.FunctionType) else set(names)
        slots = slots_of(cls)
        for name in sorted(wanted & (table.keys() | slots)):
            if (id(value), name) in self.seen or (
                isinstance(value, Module) and name in ("_parameters", "_buffers", "_modules")
            ):
                continue
            self.lenient += name not in self.names
            if name in table:
                if not isinstance(value, Module) or not isinstance(table[name], SCALARS):  # those are watched
                    self.entry(table, name, f"{where}.{name}", depth)
            elif hasattr(value, name):
                self.seen.add((id(value), name))
                x = getattr(value, name)
                self.again.append((getattr, (value, name, MISSING), x))
                self.value(x, f"{self.constant(value)}.{name}", f"{where}.{name}", depth + 1)
            self.lenient -= name not in self.names
        if not isinstance(value, types.FunctionType):
            self.class_attributes(cls, wanted - table.keys(), where, depth)
        if not isinstance(value, Module) and hasattr(value, "__dict__"):
            if id(value) not in self.absent:
                self.absent[id(value)] = self.constant(value.__dict__), set()
            self.absent[id(value)][1].update(missing := wanted - table.keys())
            self.again += [(table.get, (name, MISSING), MISSING) for name in missing]

    def of_tensor(self, t: Any, text: str, names: Iterable[str]) -> None:
        """Watch what a program has put on a tensor."""
        table = vars(t)
        wanted = {*names} - _OF_TENSORS
        for name in sorted(table.keys() & wanted):
            if (id(t), name) not in self.seen:
                self.seen.add((id(t), name))
                found = next(found for found, of in self.inputs if of is t)
                self.again.append((table.get, (name, MISSING), table[name]))
                self.value(table[name], f"{found}.{name}", f"{text}.{name}", 1)
        self.again += [(table.get, (name, MISSING), MISSING) for name in wanted - table.keys()]

    def class_attributes(self, cls: type, names: Iterable[str], where: str, depth: int) -> None:
        """Watch what instances of a class, or the class itself, find in it."""
        for name in sorted(_named(cls) & {*names}):
            if (cls, name) in self.seen:
                continue
            self.seen.add((cls, name))
            kept = f"{self.constant(cls)}.{name}"
            raw = next(vars(k)[name] for k in cls.__mro__ if name in vars(k))
            if isinstance(raw, classmethod):
                self.need(f"{kept}.__func__ is {self.constant(raw.__func__)}", f"{cls.__qualname__}.{name} is the same")
            elif isinstance(raw, (types.FunctionType, staticmethod, property)):
                now = getattr(cls, name)
                self.need(f"{kept} is {self.constant(now)}", f"{cls.__qualname__}.{name} is the same")
            elif hasattr(type(raw), "__get__") and not isinstance(raw, Module):
                owner = next(k for k in cls.__mro__ if name in vars(k))
                self.need(f"{self.constant(vars(owner))}[{name!r}] is {self.constant(raw)}", f"{name} is the same")
            else:
                self.again.append((getattr, (cls, name, MISSING), raw))
                self.value(raw, kept, f"{cls.__qualname__}.{name}", depth + 1)
            fn = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
            if isinstance(fn, types.FunctionType):
                self.hold(fn, f"{cls.__qualname__}.{name}", depth)

    def entry(self, table: Any, name: str, where: str, depth: int = 0) -> None:
        """Watch an entry of a dict of names: of globals, of a module, of an object."""
        if (id(table), name) in self.seen:
            return
        self.seen.add((id(table), name))
        x = table[name]
        self.again.append((table.get, (name, MISSING), x))
        if isinstance(x, GROUPED):
            self.groups.setdefault(id(table), (table, {}))[1][name] = x
            self.hold(x, where, depth + 1)
        else:
            self.value(x, f"{self.constant(table)}[{name!r}]", where, depth + 1)

    def defaults(self, fn: Any, where: str) -> None:
        """Watch the code and the default arguments of a user's function."""
        kept = self.constant(fn)
        self.need(f"{kept}.__code__ is {self.constant(fn.__code__)}", f"{where} has the same code")
        if fn.__defaults__:
            self.sequence(fn.__defaults__, f"{kept}.__defaults__", f"{where}.__defaults__", 1)
        if fn.__kwdefaults__:
            self.mapping(fn.__kwdefaults__, f"{kept}.__kwdefaults__", f"{where}.__kwdefaults__", 1)

    def module(self, module: Module, where: str) -> None:
        """Watch a module and all below it: parameters, buffers, flags, hooks, functions, children."""
        table = module.__dict__
        held = self.constant(table)
        kept = self.constant(module)
        self.need(
            f"len({held}) == {len(table)} and {kept}.__class__ is {self.constant(type(module))}",
            f"{where} has as many attributes",
        )
        same = []
        for kind in ("_parameters", "_buffers", "_modules"):
            parts = table[kind]
            name = self.constant(parts)
            same.append(f"{held}[{kind!r}] is {name}")
            if kind == "_modules" and len(parts) > 1:
                same.append(f"[*{name}] == {self.constant(list(parts))}")
            elif parts:
                same.append(f"len({name}) == {len(parts)}")
            else:
                self.empty.append(parts)
            self.again.append((same_items, (parts, dict(parts)), True))
            for k, x in parts.items():
                self.value(x, f"{name}[{k!r}]", f"{where}.{k}")
        self.need(" and ".join(same), f"{where} has the same parts")
        self.again.append((len, (table,), len(table)))
        ours = kind_of(type(module).__module__) == "own"
        for key, value in table.items():
            if key in ("_parameters", "_buffers", "_modules") or key.startswith("__"):
                continue
            if isinstance(value, dict) and "hooks" in key:
                self.empty.append(value)
                if value:
                    self.tracer.stop("a module has hooks")
            elif isinstance(value, (*SCALARS, types.FunctionType)) or (
                type(value) is tuple and all(isinstance(x, (int, float, str)) for x in value)
            ):
                self.again.append((table.get, (key, MISSING), value))
                if ours or key in ("training", "_is_full_backward_hook"):  # our code takes 1 for 1.0 and True
                    self.groups.setdefault(id(table), (table, {}))[1][key] = value
                else:
                    self.value(value, f"{held}[{key!r}]", f"{where}.{key}")
        self.class_attributes(type(module), ("forward",), where, 0)

    def optimizer(self, optimizer: Any, where: str) -> None:
        """Make an optimizer's parameters inputs; its numbers are read when it steps, so nothing watches them."""
        self.tracer.optimizers.add(id(optimizer))
        hooks = (
            optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks,
            _global_optimizer_pre_hooks, _global_optimizer_post_hooks,
        )  # fmt: skip
        self.empty += hooks
        if any(hooks):
            self.tracer.stop("an optimizer has hooks")
            return
        table = optimizer.__dict__
        self.need(f"len({self.constant(table)}) == {len(table)}", f"{where} has as many attributes")
        groups = optimizer.param_groups
        name = self.constant(groups)
        self.need(f"{self.constant(table)}['param_groups'] is {name}", f"{where} has the same groups")
        self.need(f"len({name}) == {len(groups)}", f"{where} has {len(groups)} groups")
        for i, group in enumerate(groups):
            params = self.constant(group["params"])
            self.need(f"{name}[{i}]['params'] is {params}", f"group {i} of {where} is the same")
            self.need(f"len({params}) == {len(group['params'])}", f"group {i} of {where} has the same parameters")
            for j, p in enumerate(group["params"]):
                self.tensor(p, f"{params}[{j}]", f"{where}.param_groups[{i}]['params'][{j}]")

    def of_optimizer(self, optimizer: Any, where: str) -> None:
        """Watch an optimizer's numbers, if the program's own code reads them."""
        for name in ("param_groups", "defaults"):
            if name in self.names and (id(optimizer), name) not in self.seen:
                self.seen.add((id(optimizer), name))
                value = optimizer.__dict__[name]
                self.value(value, f"{self.constant(optimizer.__dict__)}[{name!r}]", f"{where}.{name}")
        if not self.names.isdisjoint(("state", "state_dict", "load_state_dict", "add_param_group")):
            self.tracer.stop(f"the state of {where} is read")

    def code(self, code: Any, table: dict[str, Any], local: Any = None) -> None:
        """Watch what a code object reads by name."""
        raise NotImplementedError


_OF_TENSORS = frozenset(("_views", "_alias_of", "__dict__"))


def same_items(now: Any, then: Any) -> bool:
    """Whether a list, dict or set has the elements that its copy has, in their order."""
    if len(now) != len(then):
        return False
    if isinstance(then, dict):
        return all(a is b and now[a] is x for (b, x), a in zip(then.items(), now, strict=True))
    if isinstance(then, (set, frozenset)):
        return bool(now == then)
    return all(a is b for a, b in zip(now, then, strict=True))


def same_array(now: Any, then: Any) -> bool:
    """Whether an array has the same elements in the same places."""
    return (
        type(now) is type(then)
        and now.dtype == then.dtype
        and now.shape == then.shape
        and now.tobytes() == then.tobytes()
    )


def slots_of(cls: type) -> frozenset[str]:
    """The names of a class's slots."""
    found: set[str] = set()
    for k in cls.__mro__:
        slots = vars(k).get("__slots__", ())
        found.update((slots,) if isinstance(slots, str) else slots)
    return frozenset(found - {"__dict__", "__weakref__"})


def _users(cls: type) -> bool:
    """Whether a class is a user's."""
    return bool(cls.__flags__ & 1 << 9) and (cls.__module__ == "builtins" or kind_of(cls.__module__) == "user")


def _derived(cls: type) -> bool:
    """Whether code that is not the user's may read attributes of an instance: its class has a base from there."""
    return not issubclass(cls, Module) and any(
        not _users(k) and k.__module__ not in ("builtins", "typing", "abc", "enum", "types") for k in cls.__mro__
    )


def _named(cls: type) -> set[str]:
    """The names that a class has from the user, and ``forward``."""
    found = {"forward"} if hasattr(cls, "forward") else set()
    for k in cls.__mro__:
        if _users(k):
            found |= vars(k).keys()
    return found
