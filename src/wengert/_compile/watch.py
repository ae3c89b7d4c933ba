"""What a call depends on, followed while it is traced: the ``Finder`` of inputs and conditions.

It follows what a function can name: its arguments, and the globals, closure cells, defaults and attributes that the
code of the user's functions that run reads (``reads``). Tensors become inputs, found again at each call; numbers,
texts, flags, functions and the structure of containers and modules become conditions. What cannot be watched (an
iterator, a file, an object whose state is C's) ends the trace, and so does a call that changes what it read.

NOTE [ Paths ]
    A condition is text over constants of its own: ``c3["training"] is c4``. A container's constant is the container
    itself, and the condition one level up says that it still is the one, so a path is never longer than one step.
    The arguments alone are found through a path from the call, because their containers are new at each call.

NOTE [ Names ]
    Which attribute of which object is read cannot be seen, but the names that a running function's code has can. So
    each object that was found is watched under every name that any function of the call has, those that begin to run
    later included; its class too, and that the names it lacks are still absent. Where a name is computed (``getattr``
    with a variable, ``vars``, ``copy``), all attributes are watched.
"""

from __future__ import annotations

import enum
import functools
import gc
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._arrays.random.generator import Generator
from .._base.dtypes import Size, device, dtype
from .._base.errors import INTERNAL
from .._tape.tensor import Tensor
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer, _global_optimizer_post_hooks, _global_optimizer_pre_hooks
from .reads import reads
from .traced import Tracer

_SCALARS = (int, float, bool, str, bytes, complex, type(None), type(Ellipsis), dtype, device, enum.Enum, slice, range)
_EXACT = (int, str, bytes, bool, type(None))  # values of these types that are equal are the same
_BY_IDENTITY = (
    type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, property, types.GenericAlias,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, np.dtype,
    types.CodeType,
)  # fmt: skip
_GROUPED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_IMPURE = frozenset(
    (
        "_datetime", "_io", "_random", "datetime", "io", "logging", "nt", "os", "pathlib", "pickle", "posix", "queue",
        "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "threading", "time", "uuid", "warnings",
    )
)  # fmt: skip
_IMPURE_NAMES = frozenset(("print", "input", "open", "next", "globals", "setattr", "delattr", "exec", "eval", "id"))
_SETTINGS = tuple(
    os.path.join(*path.split("/")) + ".py"
    for path in ("_tensor_api/settings", "_tensor_api/generator", "_arrays/random/generator", "wengert/random")
)
_SETTING_NAMES = frozenset(("_version", "cdata", "is_set_to", "set_default_dtype", "set_printoptions", "retains_grad"))
_PURE_SETTINGS = frozenset(("result_type", "typename", "_assert", "default_generator", "__init__"))
_DEEPEST = 8
_LARGEST = 4096
_MISSING: Any = object()
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


class Finder:
    """Finds inputs and conditions while a call is traced."""

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
        self.young = gc.get_objects(generation=0)  # the collector is off, so what the call makes comes here
        self.young_ids = set(map(id, self.young))

    def was_there(self, value: Any) -> bool:
        """Whether an object is older than the call; the collector knows it, or has it hidden (``gc.freeze``)."""
        return id(value) in self.young_ids or not any(o is value for o in gc.get_objects(generation=0))

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
        elif isinstance(value, (*_SCALARS, np.generic)):
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
        elif isinstance(value, _BY_IDENTITY):
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
        if hasattr(value, "__dict__") and type(value).__module__.partition(".")[0] != "wengert":
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
            types_ = self.constant([type(x) for x in value])
            self.need(
                f"({text} is {(kept := self.constant(value))} or ({text} == {kept} and [*map(type, {text})] == {types_}))",
                f"{where} == {value!r}",
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
        if not all(isinstance(x, _SCALARS) or type(x).__eq__ is object.__eq__ for x in value):
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
        if type(value).__module__.partition(".")[0] not in ("builtins", "collections", "wengert"):
            self.hold(value, where, 0)
        return name

    # ---- what has attributes
    def object(self, value: Any, text: str, where: str, depth: int) -> None:
        """Watch an object of a user's class."""
        cls = type(value)
        if isinstance(value, functools._lru_cache_wrapper):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.cached(value, where)
        elif isinstance(value, Generator) or (cls.__module__.startswith("wengert") and hasattr(cls, "__exit__")):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
        elif (
            hasattr(cls, "__next__")
            or not all(k in (object, types.SimpleNamespace) or k.__flags__ & 1 << 9 for k in cls.__mro__)
            or (not hasattr(value, "__dict__") and not _slots(cls))
            or cls.__module__ in ("_thread", "_threading_local")
            or cls.__module__.partition(".")[0] == "wengert"  # a loader, a scheduler, a scaler: our code is not watched
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
        elif not isinstance(value, (*_BY_IDENTITY, Tensor)):
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
                    if isinstance(x, (*_SCALARS, list, tuple, dict)) and not name.startswith("__"):
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
        slots = _slots(cls)
        for name in sorted(wanted & (table.keys() | slots)):
            if (id(value), name) in self.seen or (
                isinstance(value, Module) and name in ("_parameters", "_buffers", "_modules")
            ):
                continue
            self.lenient += name not in self.names
            if name in table:
                if not isinstance(value, Module) or not isinstance(table[name], _SCALARS):  # those are watched
                    self.entry(table, name, f"{where}.{name}", depth)
            elif hasattr(value, name):
                self.seen.add((id(value), name))
                x = getattr(value, name)
                self.again.append((getattr, (value, name, _MISSING), x))
                self.value(x, f"{self.constant(value)}.{name}", f"{where}.{name}", depth + 1)
            self.lenient -= name not in self.names
        if not isinstance(value, types.FunctionType):
            self.class_attributes(cls, wanted - table.keys(), where, depth)
        if not isinstance(value, Module) and hasattr(value, "__dict__"):
            if id(value) not in self.absent:
                self.absent[id(value)] = self.constant(value.__dict__), set()
            self.absent[id(value)][1].update(missing := wanted - table.keys())
            self.again += [(table.get, (name, _MISSING), _MISSING) for name in missing]

    def of_tensor(self, t: Any, text: str, names: Iterable[str]) -> None:
        """Watch what a program has put on a tensor."""
        table = vars(t)
        wanted = {*names} - _OF_TENSORS
        for name in sorted(table.keys() & wanted):
            if (id(t), name) not in self.seen:
                self.seen.add((id(t), name))
                found = next(found for found, of in self.inputs if of is t)
                self.again.append((table.get, (name, _MISSING), table[name]))
                self.value(table[name], f"{found}.{name}", f"{text}.{name}", 1)
        self.again += [(table.get, (name, _MISSING), _MISSING) for name in wanted - table.keys()]

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
                self.again.append((getattr, (cls, name, _MISSING), raw))
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
        self.again.append((table.get, (name, _MISSING), x))
        if isinstance(x, _GROUPED):
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
            elif isinstance(value, (*_SCALARS, types.FunctionType)) or (
                type(value) is tuple and all(isinstance(x, (int, float, str)) for x in value)
            ):
                self.again.append((table.get, (key, _MISSING), value))
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

    # ---- functions
    def function(self, frame: Any, top: bool) -> None:
        """Watch what a user's function that begins to run can name."""
        code, local = frame.f_code, frame.f_locals
        self.code(code, frame.f_globals, local)
        self.free_variables(frame)
        flags = code.co_flags >> 2 & 1, code.co_flags >> 3 & 1
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + sum(flags)]
        if names and names[0] in local:
            self.method(local[names[0]], code)
        if not top:
            for name in names:
                self.reach(local.get(name), name)

    def code(self, code: Any, table: dict[str, Any], local: Any = None) -> None:
        """Watch what a code object reads by name."""
        if (code, id(table)) in self.codes:
            return
        self.codes.add((code, id(table)))
        found = reads(code)
        for name in sorted(found.names):
            if name in table:
                self.entry(table, name, name)
            else:  # a builtin, or what the function will make
                self.again.append((table.get, (name, _MISSING), _MISSING))
                self.need(f"{name!r} not in {self.constant(table)}", f"{name} is no global")
        for chain in sorted(found.chains):
            root = table.get(chain[0], _MISSING)
            self.chain(local.get(chain[0]) if root is _MISSING and local else root, chain)
        for name, level in found.imports:
            self.imported(name, level, table)
        new = found.attributes - self.names
        self.names |= new
        self.asked |= found.asked
        computes, self.computed = self.computed, self.computed or found.computes
        if new or computes != self.computed:
            for value, where, depth in list(self.held):
                self.look(value, where, depth, new)

    def chain(self, value: Any, chain: tuple[str, ...]) -> None:
        """Watch what stands in a module that is not the user's: ``torch.sin``, ``math.pi``."""
        for k, name in enumerate(chain[1:], 2):
            if not isinstance(value, types.ModuleType) or (kind := kind_of(value)) == "user":
                return
            table = vars(value)
            if value is sys and name == "modules":
                self.tracer.stop("sys.modules is read")
            value = table.get(name)
            if isinstance(value, (*_GROUPED, dtype)):
                if kind == "own":
                    self.again.append((table.get, (name, _MISSING), value))
                    self.groups.setdefault(id(table), (table, {}))[1][name] = value
            elif name in table and (kind == "own" or isinstance(value, (*_SCALARS, list, dict))):
                self.entry(table, name, ".".join(chain[:k]))

    def imported(self, name: str, level: int, table: dict[str, Any]) -> None:
        """Watch a module that a function imports when it runs."""
        if level:
            parent = (table.get("__package__") or "").split(".")
            name = ".".join([*parent[: len(parent) - level + 1], *([name] if name else [])])
        for k in range(name.count(".") + 1):
            part = ".".join(name.split(".")[: k + 1])
            module = sys.modules.get(part)
            if module is None:
                self.later.append((part, set()))
            elif kind_of(module) == "user":
                self.value(module, f"modules[{part!r}]", part)

    def method(self, owner: Any, code: Any) -> None:
        """Watch that a class still has the method that runs."""
        cls = owner if isinstance(owner, type) else type(owner)
        name = code.co_name
        for k in cls.__mro__:
            fn = vars(k).get(name)
            if isinstance(fn, types.FunctionType) and fn.__code__ is code:
                self.need(f"{self.constant(k)}.{name} is {self.constant(fn)}", f"{k.__qualname__}.{name} is the same")
                self.hold(fn, f"{k.__qualname__}.{name}", 0)

    def reach(self, value: Any, where: str, depth: int = 0) -> None:
        """Watch the objects of before that a function gets as an argument, in containers too."""
        if value is None or isinstance(value, (*_SCALARS, Tensor, *_GROUPED, np.ndarray)) or depth > 3:
            if isinstance(value, type) and value.__module__ != "builtins":
                self.hold(value, where, 0)
            return
        inside = isinstance(value, (list, tuple, dict)) or isinstance(value, types.MethodType)
        if not inside and not hasattr(value, "__dict__") and not _slots(type(value)):
            return
        if id(value) in self.seen or (id(value), None) in self.seen:
            return
        if id(value) in self.given or not self.was_there(value):
            if inside and not isinstance(value, types.MethodType):
                for x in value.values() if isinstance(value, dict) else value:
                    self.reach(x, where, depth + 1)
        elif not inside or isinstance(value, (list, dict)):
            self.value(value, self.constant(value), where, 1)

    def entered(self, frame: Any, caller: str) -> None:
        """Judge a call of a function of Python's library from a user's line."""
        self.lenient += 1
        self.free_variables(frame)
        self.lenient -= 1
        if caller != "user":
            return
        module = frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] in _IMPURE:
            self.tracer.stop(f"{module}.{frame.f_code.co_name}() is called")
            return
        self.lenient += 1
        for name, value in list(frame.f_locals.items()):  # it reads what it likes
            if hasattr(value, "__dict__") and not isinstance(value, (*_BY_IDENTITY, Tensor, Module, types.MethodType)):
                if ("whole", id(value)) not in self.seen and self.was_there(value):
                    self.seen.add(("whole", id(value)))
                    self.value(value, self.constant(value), name, 1)
                    self.look(value, name, 1, (), True)
        self.lenient -= 1

    def own(self, frame: Any) -> None:
        """Judge a call of this package's function from a user's line."""
        name = frame.f_code.co_name
        if name in _SETTING_NAMES or (
            frame.f_code.co_filename.endswith(_SETTINGS) and name not in _PURE_SETTINGS and not name.startswith("<")
        ):
            self.tracer.stop(f"{name}() is called")

    def free_variables(self, frame: Any) -> None:
        """Watch the closure cells of a running function, which references of their own find."""
        code = frame.f_code
        for name in code.co_freevars:
            value = frame.f_locals.get(name, _MISSING)
            if value is _MISSING or (code, name, id(value)) in self.seen:
                continue
            self.seen.add((code, name, id(value)))
            for cell in _cells_of(code, name, value):
                if (id(cell), name) in self.seen or not self.was_there(cell):
                    continue  # of a function that the call makes: its values come from there
                self.seen.add((id(cell), name))
                self.again.append((getattr, (cell, "cell_contents"), value))
                self.value(value, f"{self.constant(cell)}.cell_contents", name)

    def called(self, frame: Any, function: Any) -> None:
        """Judge a call of a function written in C from a user's line."""
        if self.tracer.closed:
            return
        owner = getattr(function, "__self__", None)
        module = getattr(function, "__module__", None) or (owner if isinstance(owner, type) else type(owner)).__module__
        name = getattr(function, "__name__", "")
        if isinstance(owner, types.ModuleType):
            module = owner.__name__
        if (
            (module == "builtins" and name in _IMPURE_NAMES)
            or module.partition(".")[0] in _IMPURE
            or (module.startswith("numpy.random") or type(owner).__module__.startswith(("numpy.random", "_random")))
            or type(owner).__module__.partition(".")[0] in ("_io", "random", "itertools")
        ):
            self.tracer.stop(f"{name}() is called")

    # ---- the end
    def finish(self) -> None:
        """Add the conditions that are known at the end of the call."""
        for name, _ in self.later:
            if name in sys.modules:
                if kind_of(name) == "user":
                    self.value(sys.modules[name], f"modules[{name!r}]", name)
            elif name[1:].isdigit():  # a function with a cache
                _, misses, _, size = self.constants[int(name[1:])].cache_info()
                self.need(f"{name}.cache_info()[1::2] == {misses, size}", "a cache has the same values")
        for text, names in self.absent.values():
            if names:
                self.need(f"{self.constant(frozenset(names))}.isdisjoint({text})", "no attribute is new")
        asked = self.asked - _tensor_names()
        for text, t in self.inputs if asked else ():
            if missing := asked - vars(t).keys():
                self.need(f"{self.constant(frozenset(missing))}.isdisjoint({text}.__dict__)", "no attribute is new")
        if "grad_fn" in self.names and any(e.node is not None and not e.is_leaf for e in self.tracer.lifted.values()):
            self.tracer.stop("the graph of an input is read")

    def release(self) -> None:
        """Drop what only the trace needed."""
        for kept in (self.again, self.inputs, self.held, self.young, self.seen, self.codes, self.absent, self.groups):
            kept.clear()

    def changed(self) -> str | None:
        """What the call itself changed of the values that were watched; ``None``: nothing."""
        for function, arguments, value in self.again:
            try:
                now = function(*arguments)
            except ValueError:
                now = _MISSING
            if now is not value and not (isinstance(value, _SCALARS) and type(now) is type(value) and now == value):
                named = [a for a in arguments if isinstance(a, str) and a != "cell_contents"]
                return f"the call changes {named[0] if named else 'a list, a dict or a variable'}"
        return None


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


def _cells_of(code: Any, name: str, value: Any) -> list[Any]:
    """The closure cells that a running function's free variable may be in."""
    k = code.co_freevars.index(name)
    found = []
    for holder in gc.get_referrers(code):
        if isinstance(holder, types.FunctionType) and holder.__code__ is code and holder.__closure__:
            cell = holder.__closure__[k]
            try:
                if cell.cell_contents is value:
                    found.append(cell)
            except ValueError:
                continue
    return found


def same_array(now: Any, then: Any) -> bool:
    """Whether an array has the same elements in the same places."""
    return (
        type(now) is type(then)
        and now.dtype == then.dtype
        and now.shape == then.shape
        and now.tobytes() == then.tobytes()
    )


@functools.cache
def _slots(cls: type) -> frozenset[str]:
    """The names of a class's slots."""
    found: set[str] = set()
    for k in cls.__mro__:
        slots = vars(k).get("__slots__", ())
        found.update((slots,) if isinstance(slots, str) else slots)
    return frozenset(found - {"__dict__", "__weakref__"})


@functools.cache
def _tensor_names() -> frozenset[str]:
    return frozenset(dir(Tensor))


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
