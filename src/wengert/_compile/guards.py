"""Guards: the facts of Python and of tensors that a program depends on, and where its inputs are found.

A ``Finder`` follows what a function can name: its arguments, and the globals, closure cells and attributes that the
code of each user's function that runs names. Tensors become inputs, found again at each call; numbers, texts, flags,
functions and the structure of containers and modules become conditions. What cannot be watched (an iterator, a file, an
object without ``__dict__``) ends the trace. ``Guards`` makes one Python function of the conditions, as source.

NOTE [ Paths ]
    A condition is text over constants of its own: ``c3["training"] is c4``. A container's constant is the container
    itself, and the condition one level up says that it still is the one, so a path is never longer than one step.
    The arguments alone are found through a path from the call, because their containers are new at each call.
"""

from __future__ import annotations

import enum
import functools
import gc
import os
import types
from typing import Any
from weakref import ref

import numpy as np

from .._arrays.random.generator import Generator
from .._base.dtypes import Size, device, dtype
from .._base.errors import INTERNAL
from .._base.heap import is_frozen
from .._tape.tensor import Tensor, view_of
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer
from .traced import Traced, Tracer

_SCALARS = (int, float, bool, str, bytes, complex, type(None), type(Ellipsis), dtype, device, enum.Enum, slice, range)
_BY_IDENTITY = (
    type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, property, types.GenericAlias,
    types.WrapperDescriptorType, types.MethodDescriptorType, np.dtype, types.MappingProxyType,
)  # fmt: skip
_IMPURE = frozenset(
    (
        "_datetime", "_io", "_random", "datetime", "io", "logging", "nt", "os", "pathlib", "pickle", "posix", "queue",
        "random", "secrets", "shutil", "socket", "subprocess", "tempfile", "threading", "time", "uuid", "warnings",
    )
)  # fmt: skip
_IMPURE_NAMES = frozenset(("print", "input", "open", "next", "globals", "setattr", "delattr", "exec", "eval"))
_DEEPEST = 6
_LARGEST = 4096


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


class Finder:
    """Finds inputs and conditions while a call is traced."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.constants: list[Any] = []
        self.names: dict[int, str] = {}
        self.conditions: dict[str, str] = {}  # text -> what it says
        self.same: dict[str, tuple[int, str]] = {}  # text -> the input that it finds again
        self.inputs: list[tuple[str, Any]] = []  # (text that finds the tensor, the tensor)
        self.again: list[tuple[Any, Any, Any]] = []  # (container, key, value): what must not change during the call
        self.seen: set[Any] = set()
        self.codes: set[Any] = set()
        self.cells: dict[int, Any] = {}  # those that were there before the call

    # ---- conditions
    def constant(self, value: Any) -> str:
        """The name of an object among the constants of the conditions."""
        name = self.names.get(id(value))
        if name is None:
            name = self.names[id(value)] = f"c{len(self.constants)}"
            self.constants.append(value)
        return name

    def need(self, text: str, said: str) -> None:
        """Add a condition."""
        one, _, other = text.partition(" is ")
        if one == other:
            return
        self.conditions.setdefault(text, said)

    # ---- values
    def value(self, value: Any, text: str, where: str, names: Any = (), depth: int = 0) -> None:
        """Watch a value that ``text`` finds; ``names``: the names that the code around it has."""
        if isinstance(value, Tensor):
            self.tensor(value, text, where)
        elif isinstance(value, _SCALARS):
            self.scalar(value, text, where)
        elif depth > _DEEPEST:
            self.tracer.stop(f"{where} lies too deep to be watched")
        elif isinstance(value, Module):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same module")
            self.module(value, where, names)
        elif isinstance(value, Optimizer):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same optimizer")
            self.optimizer(value, where)
        elif type(value) in (list, tuple, Size) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            self.sequence(value, text, where, names, depth)
        elif isinstance(value, dict):
            self.mapping(value, text, where, names, depth)
        elif isinstance(value, (set, frozenset)) and all(isinstance(x, _SCALARS) for x in value):
            self.need(f"{text} == {self.constant(value.copy())}", f"{where} has the same elements")
        elif isinstance(value, np.ndarray) and value.size <= _LARGEST and value.dtype.kind in "fiubc":
            self.need(f"same_array({text}, {self.constant(value.copy())})", f"{where} has the same elements")
        elif isinstance(value, np.generic):
            self.scalar(value, text, where)
        elif isinstance(value, _BY_IDENTITY):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            self.attributes_named(value, where, names, depth)
        elif isinstance(value, types.MethodType):
            self.need(f"{text}.__func__ is {self.constant(value.__func__)}", f"{where} is the same method")
            self.value(value.__self__, f"{text}.__self__", f"{where}.__self__", names, depth + 1)
        elif isinstance(value, functools.partial):
            self.value(value.func, f"{text}.func", f"{where}.func", names, depth + 1)
            self.value(value.args, f"{text}.args", f"{where}.args", names, depth + 1)
            self.value(value.keywords, f"{text}.keywords", f"{where}.keywords", names, depth + 1)
        else:
            self.object(value, text, where, names, depth)

    def scalar(self, value: Any, text: str, where: str) -> None:
        """Watch a number, a text, a flag."""
        kept = self.constant(value)
        if isinstance(value, (bool, type(None), type(Ellipsis), enum.Enum, dtype)):
            self.need(f"{text} is {kept}", f"{where} is {value!r}")
        else:
            same = f"{text} is {kept} or (type({text}) is {self.constant(type(value))} and {text} == {kept}"
            signed = f" and repr({text}) == repr({kept})" if isinstance(value, (float, complex)) and not value else ""
            self.need(f"({same}{signed}))", f"{where} == {value!r}")

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

    def sequence(self, value: Any, text: str, where: str, names: Any, depth: int) -> None:
        """Watch a list or tuple and what it holds."""
        if isinstance(value, tuple) and all(isinstance(x, (int, str)) for x in value):
            self.need(f"{text} == {self.constant(value)}", f"{where} == {value!r}")
            return
        name = self.held(value, text, where)
        if name is None:
            return
        self.need(f"len({name}) == {len(value)}", f"{where} has {len(value)} elements")
        if type(value) is list:
            self.again.append((value, None, list(value)))
        for k, x in enumerate(value):
            self.value(x, f"{name}[{k}]", f"{where}[{k}]", names, depth + 1)

    def mapping(self, value: Any, text: str, where: str, names: Any, depth: int) -> None:
        """Watch a dict and what it holds."""
        if not all(isinstance(k, (str, int, float, bool, tuple, type(None))) for k in value):
            self.tracer.stop(f"{where} is a dict with keys that cannot be watched")
            return
        name = self.held(value, text, where)
        if name is None:
            return
        self.need(f"len({name}) == {len(value)}", f"{where} has {len(value)} entries")
        self.again.append((value, None, dict(value)))
        for k, x in value.items():
            self.value(x, f"{name}[{k!r}]", f"{where}[{k!r}]", names, depth + 1)

    def held(self, value: Any, text: str, where: str) -> str | None:
        """A name for a container; ``None`` if it is known already."""
        key = id(value)
        name = self.constant(value)
        self.need(f"{text} is {name}", f"{where} is the same object")
        if key in self.seen:
            return None
        self.seen.add(key)
        return name

    def module(self, module: Module, where: str, names: Any = ()) -> None:
        """Watch a module and all below it: parameters, buffers, flags, hooks, children."""
        if id(module) not in self.seen:
            self.seen.add(id(module))
            held = self.constant(module.__dict__)
            for kind in ("_parameters", "_buffers", "_modules"):
                table = module.__dict__[kind]
                name = self.constant(table)
                self.need(f"{held}[{kind!r}] is {name} and len({name}) == {len(table)}", f"{where} has the same parts")
                for k, x in table.items():
                    self.value(x, f"{name}[{k!r}]", f"{where}.{k}")
            for key, value in module.__dict__.items():
                if key in ("_parameters", "_buffers", "_modules") or key.startswith("__"):
                    continue
                if isinstance(value, dict) and "hooks" in key:
                    self.need(f"not {self.constant(value)}", f"{where} has no hooks")
                    if value:
                        self.tracer.stop("a module has hooks")
                elif isinstance(value, _SCALARS) or (
                    type(value) is tuple and all(isinstance(x, (int, float, str)) for x in value)
                ):
                    self.value(value, f"{held}[{key!r}]", f"{where}.{key}")
                    self.again.append((module.__dict__, key, value))
        self.attributes_named(module, where, names, 0)

    def optimizer(self, optimizer: Any, where: str) -> None:
        """Make an optimizer's parameters inputs; its numbers are read when it steps, so nothing watches them."""
        if id(optimizer) in self.seen:
            return
        self.seen.add(id(optimizer))
        self.tracer.optimizers.add(id(optimizer))
        self.need(
            f"not {self.constant(optimizer._optimizer_step_pre_hooks)} "
            f"and not {self.constant(optimizer._optimizer_step_post_hooks)}",
            f"{where} has no hooks",
        )
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            self.tracer.stop("an optimizer has hooks")
            return
        groups = optimizer.param_groups
        name = self.constant(groups)
        self.need(f"{self.constant(optimizer.__dict__)}['param_groups'] is {name}", f"{where} has the same groups")
        self.need(f"len({name}) == {len(groups)}", f"{where} has {len(groups)} groups")
        for i, group in enumerate(groups):
            params = self.constant(group["params"])
            self.need(f"{name}[{i}]['params'] is {params}", f"group {i} of {where} is the same")
            self.need(f"len({params}) == {len(group['params'])}", f"group {i} of {where} has the same parameters")
            for j, p in enumerate(group["params"]):
                self.tensor(p, f"{params}[{j}]", f"{where}.param_groups[{i}]['params'][{j}]")

    def attributes_named(self, value: Any, where: str, names: Any, depth: int) -> None:
        """Watch the attributes of an object that the code names."""
        if isinstance(value, types.ModuleType):
            if INTERNAL[getattr(value, "__file__", None) or ""] or getattr(value, "__file__", None) is None:
                return
            if value.__name__.partition(".")[0] in ("numpy", "scipy"):
                return
        elif isinstance(value, type):
            if value.__module__ == "builtins" or value.__module__.partition(".")[0] in ("wengert", "numpy", "enum"):
                return
        elif not isinstance(value, Module):
            return
        for name in names:
            if name not in vars(value) or (id(value), name) in self.seen:
                continue
            self.seen.add((id(value), name))
            x = vars(value)[name]
            if name in ("_parameters", "_buffers", "_modules") or isinstance(x, (staticmethod, classmethod, property)):
                continue
            if isinstance(value, Module) and isinstance(x, _SCALARS):
                continue  # every scalar of a module is watched
            if not isinstance(value, type):
                self.again.append((vars(value), name, x))
                text = f"{self.constant(vars(value))}[{name!r}]"
            else:
                text = f"{self.constant(value)}.{name}"
            self.value(x, text, f"{where}.{name}", names, depth + 1)

    def object(self, value: Any, text: str, where: str, names: Any, depth: int) -> None:
        """Watch an object of a user's class: the attributes that the code names."""
        cls = type(value)
        if isinstance(value, Generator) or (cls.__module__.startswith("wengert") and hasattr(cls, "__exit__")):
            self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
            return
        if (
            hasattr(cls, "__next__")
            or not hasattr(value, "__dict__")
            or hasattr(cls, "__slots__")
            or cls.__module__.partition(".")[0] == "wengert"  # a loader, a scheduler, a scaler: our code is not watched
        ):
            self.tracer.stop(f"{where} is of type {cls.__qualname__}, which cannot be watched")
            return
        self.need(f"{text} is {self.constant(value)}", f"{where} is the same object")
        table = vars(value)
        held = self.constant(table)
        for name in names:
            if (id(value), name) in self.seen:
                continue
            self.seen.add((id(value), name))
            self.again.append((table, name, table.get(name, self)))
            if name in table:
                self.value(table[name], f"{held}[{name!r}]", f"{where}.{name}", names, depth + 1)
            elif name in vars(cls) and isinstance(vars(cls)[name], _SCALARS):
                self.need(f"{name!r} not in {held}", f"{where}.{name} is the class's")
                self.value(vars(cls)[name], f"{self.constant(cls)}.{name}", f"{where}.{name}", names, depth + 1)

    # ---- functions
    def function(self, frame: Any, top: bool) -> None:
        """Watch what a user's function that begins to run can name."""
        code = frame.f_code
        names = code.co_names
        if code not in self.codes:
            self.codes.add(code)
            table = frame.f_globals
            held = self.constant(table)
            for name in names:
                if name not in table:  # the function may make it
                    self.again.append((table, name, self))
                else:
                    self.again.append((table, name, table[name]))
                    self.value(table[name], f"{held}[{name!r}]", name, names)
        local = frame.f_locals
        for name in code.co_freevars:
            if name in local and (code, name, id(local[name])) not in self.seen:
                self.seen.add((code, name, id(local[name])))
                self.free_variable(frame, name, local[name], names)
        if top:
            return
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            value = local.get(name)
            if isinstance(value, (Module, Tensor, Traced)) or value is None or isinstance(value, _SCALARS):
                if isinstance(value, Module):
                    self.module(value, name, names)
                continue
            if hasattr(value, "__dict__") and not isinstance(value, (_BY_IDENTITY, Optimizer, types.MethodType)):
                self.object(value, self.constant(value), name, names, 1)

    def entered(self, frame: Any, caller: str) -> None:
        """Judge a call of a function of Python's library from a user's line."""
        module = frame.f_globals.get("__name__") or ""
        if caller == "user" and module.partition(".")[0] in _IMPURE:
            self.tracer.stop(f"{module}.{frame.f_code.co_name}() is called")

    def free_variable(self, frame: Any, name: str, value: Any, names: Any) -> None:
        """Watch a closure cell, which a reference of the cell's own finds."""
        cell = _cell_of(frame, name, value)
        if cell is None or not self._was_there(cell):  # of a function that the call makes: its values come from there
            return
        if (id(cell), name) in self.seen:
            return
        self.seen.add((id(cell), name))
        self.again.append((cell, None, value))
        self.value(value, f"{self.constant(cell)}.cell_contents", name, names)

    def _was_there(self, cell: Any) -> bool:
        """Whether a cell is older than the call: what ``gc.freeze`` hides is, too."""
        if id(cell) in self.cells:
            return True
        return is_frozen() and not any(o is cell for o in gc.get_objects())

    def called(self, frame: Any, function: Any) -> None:
        """Judge a call of a function written in C from a user's line."""
        if self.tracer.closed:
            return
        owner = getattr(function, "__self__", None)
        module = getattr(function, "__module__", None) or type(owner).__module__
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
    def changed(self) -> str | None:
        """What the call itself changed of the values that were watched; ``None``: nothing."""
        missing = self
        for container, key, value in self.again:
            if isinstance(container, types.CellType):
                now = container.cell_contents
                same = now is value
            elif key is None:
                same = container == value if not _has_tensors(value) else _same_items(container, value)
            else:
                now = container.get(key, missing)
                same = now is value or (isinstance(value, _SCALARS) and type(now) is type(value) and now == value)
            if not same:
                return f"the call changes {key or 'a list, a dict or a variable'!s}"
        return None


def _has_tensors(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return not all(isinstance(x, _SCALARS) for x in items)


def _same_items(now: Any, then: Any) -> bool:
    if len(now) != len(then):
        return False
    if isinstance(then, dict):
        return all(k in now and now[k] is x for k, x in then.items())
    return all(a is b for a, b in zip(now, then, strict=True))


def _cell_of(frame: Any, name: str, value: Any) -> Any:
    """The closure cell of a running frame's free variable."""
    code = frame.f_code
    k = code.co_freevars.index(name)
    for holder in gc.get_referrers(code):
        if isinstance(holder, types.FunctionType) and holder.__code__ is code and holder.__closure__:
            cell = holder.__closure__[k]
            try:
                if cell.cell_contents is value:
                    return cell
            except ValueError:
                continue
    return None


def same_array(now: Any, then: Any) -> bool:
    """Whether an array has the same elements."""
    return type(now) is type(then) and now.dtype == then.dtype and now.tobytes() == then.tobytes()


class Guards:
    """The conditions of a program as one Python function.

    ``check(args, kwargs)`` returns the list of the program's inputs, or ``None`` if a condition does not hold.
    """

    def __init__(self, finder: Finder, facts: list[tuple[str, str]]) -> None:
        self.said = [said for _, said in facts] + list(finder.conditions.values())
        entries = finder.tracer.lifted
        index = {id(t): k for k, (_, t) in enumerate(finder.inputs)}
        lines = ["def check(args, kwargs):", "  global last", "  try:"]
        lines += [f"    if not ({text}): return None" for text, _ in facts]
        scope: dict[str, Any] = {f"c{k}": c for k, c in enumerate(finder.constants)}
        lines += [f"    if not ({text}): return None" for text in finder.conditions]
        arrays: list[str] = []  # what is asked again only of arrays that the last call did not have
        for k, (text, t) in enumerate(finder.inputs):
            entry = entries[id(t)]
            lines.append(f"    t{k} = {text}")
            scope[f"dtype{k}"], scope[f"type{k}"] = entry.array.dtype, type(t)
            lines.append(f"    if type(t{k}) is not type{k}: return None")
            if entry.node is None:
                lines.append(f"    if t{k}._node is not None: return None")
            elif entry.is_leaf:
                none = "is not" if entry.grad is None else "is"
                lines.append(
                    f"    n = t{k}._node\n"
                    f"    if type(n) is not AccumulateGrad or n.grad {none} None or n._hooks is not None: return None"
                )
            else:
                lines.append(f"    if t{k}._node is None or type(t{k}._node) is AccumulateGrad: return None")
            lines.append(
                f"    a{k} = t{k}._payload\n"
                f"    if type(a{k}) is not ndarray and (a{k} := plain(t{k})) is None: return None"
            )
            arrays.append(
                f"if a{k}.dtype is not dtype{k} or a{k}.shape != {entry.array.shape!r} "
                f"or a{k}.strides != {entry.array.strides!r}: return None"
            )
            view = view_of(t)
            if view is None:
                lines.append(f"    if a{k}.base is not None and view_of(t{k}) is not None: return None")
            elif id(view[0]) in index:
                lines.append(f"    if (w := view_of(t{k})) is None or w[0] is not t{index[id(view[0])]}: return None")
            self.said.append(
                f"{entry.where} is a {type(t).__name__} {entry.array.dtype.name}{list(entry.array.shape)}"
                f"{', which requires grad' if entry.node is not None else ''}"
            )
        for text, (wanted, said) in finder.same.items():
            if text != finder.inputs[index[wanted]][0]:
                lines.append(f"    if ({text}) is not t{index[wanted]}: return None")
                self.said.append(said)
        lines += _of_arrays(arrays, [view_of(t) is None for _, t in finder.inputs])
        count = len(finder.inputs)
        lines.append(f"    return [{', '.join(f't{k}' for k in range(count))}]")
        lines.append("  except (AttributeError, KeyError, IndexError, TypeError, ValueError): return None")
        self.source = "\n".join(lines)
        scope.update(_SCOPE, last=(_nothing,) * count)
        exec(compile(self.source, "<guards of a compiled function>", "exec"), scope)
        self.check = scope["check"]

    def __iter__(self) -> Any:
        return iter(self.said)

    def __len__(self) -> int:
        return len(self.said)

    def __str__(self) -> str:
        return "\n".join(self.said)


def _of_arrays(conditions: list[str], apart: list[bool]) -> list[str]:
    """The lines that look at the inputs' arrays; those marked ``apart`` share no memory.

    An array that is in use has the dtype, the shape and the memory that it was made with, so arrays that were let pass
    are let pass again. ``last`` has references to them, and is replaced as a whole: other threads read it too.
    """
    names = [f"a{k}" for k in range(len(conditions))]
    if not names:
        return []
    lines = [
        f"    {', '.join(f'r{k}' for k in range(len(names)))}, = last",
        f"    if {' or '.join(f'r{k}() is not {a}' for k, a in enumerate(names))}:",
        *[f"      {text}" for text in conditions],
        f"      if len({{{', '.join(f'id(t{k})' for k in range(len(names)))}}}) != {len(names)}: return None",
    ]
    owners = [f"id({a} if {a}.base is None else owner({a}))" for a, own in zip(names, apart, strict=True) if own]
    if len(owners) > 1:
        lines.append(f"      if len({{{', '.join(owners)}}}) != {len(owners)}: return None")
    lines.append(f"      if len({{{', '.join(f'id({a})' for a in names)}}}) == {len(names)}:")  # so are the tensors
    return [*lines, f"        last = {', '.join(f'ref({a})' for a in names)},"]


def _nothing() -> None:
    """What a weak reference to an array that is gone gives."""


def _owner(a: Any) -> Any:
    base = a.base
    while type(base) is np.ndarray:
        a, base = base, base.base
    return a


def _plain(t: Any) -> Any:
    from .._tape.tensor import alias_payload

    a = alias_payload(t)
    return a if type(a) is np.ndarray else None


def _scope() -> dict[str, Any]:
    from .._tape.node import AccumulateGrad

    return {
        "ndarray": np.ndarray, "plain": _plain, "AccumulateGrad": AccumulateGrad, "view_of": view_of, "owner": _owner,
        "same_array": same_array, "ref": ref,
    }  # fmt: skip


_SCOPE = _scope()
