"""What a call depends on, followed while it is traced: the ``Finder`` of inputs and conditions.

It follows what a function can name: its arguments, and the globals, closure cells, defaults and attributes that the
code of the user's functions that run reads (``reads``). Tensors become inputs, found again at each call; numbers,
texts, flags, functions and the structure of containers and modules become conditions (``values``). What cannot be
watched (an iterator, a file, an object whose state is C's) ends the trace, as does a call that changes what it read.

NOTE [ Names ]
    Which attribute of which object is read cannot be seen, but the names that a running function's code has can. So
    each object that was found is watched under every name that any function of the call has, those that begin to run
    later included; its class too, and that the names it lacks are still absent. Where a name is computed (``getattr``
    with a variable, ``vars``, ``copy``), all attributes are watched.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import types
from typing import Any

import numpy as np

from .._base.dtypes import dtype
from .._base.heap import lists
from .._tape.tensor import Tensor
from ..nn.modules.module import Module
from .reads import reads
from .traced import Tracer
from .values import BY_IDENTITY, GROUPED, MISSING, SCALARS, Values, kind_of, slots_of

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
_PURE_SETTINGS = frozenset(("result_type", "typename", "default_generator", "__init__"))


class Finder(Values):
    """Finds inputs and conditions while a call is traced."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        gc.collect(0)  # from now on the youngest are what the call makes: the collector is off

    def was_there(self, value: Any) -> bool:
        """Whether an object is older than the call; the collector knows it, or has it hidden (``gc.freeze``)."""
        return not lists(value, 0)

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
                self.again.append((table.get, (name, MISSING), MISSING))
                self.need(f"{name!r} not in {self.constant(table)}", f"{name} is no global")
        for chain in sorted(found.chains):
            root = table.get(chain[0], MISSING)
            self.chain(local.get(chain[0]) if root is MISSING and local else root, chain)
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
            if isinstance(value, (*GROUPED, dtype)):
                if kind == "own":
                    self.again.append((table.get, (name, MISSING), value))
                    self.groups.setdefault(id(table), (table, {}))[1][name] = value
            elif name in table and (kind == "own" or isinstance(value, (*SCALARS, list, dict))):
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
        if value is None or isinstance(value, (*SCALARS, Tensor, *GROUPED, np.ndarray)) or depth > 3:
            if isinstance(value, type) and value.__module__ != "builtins":
                self.hold(value, where, 0)
            return
        inside = isinstance(value, (list, tuple, dict, types.MethodType))
        if not inside and not hasattr(value, "__dict__") and not slots_of(type(value)):
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
            if hasattr(value, "__dict__") and not isinstance(value, (*BY_IDENTITY, Tensor, Module, types.MethodType)):
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
        local = frame.f_locals if code.co_freevars else {}
        found = [(n, local[n]) for n in code.co_freevars if n in local and (code, n, id(local[n])) not in self.seen]
        closures = _closures(code) if found else []
        for name, value in found:
            self.seen.add((code, name, id(value)))
            for cell in _holding(closures, code.co_freevars.index(name), value):
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
        own = self.again, self.inputs, self.held, self.seen, self.codes, self.absent, self.groups
        for kept in own:
            kept.clear()

    def changed(self) -> str | None:
        """What the call itself changed of the values that were watched; ``None``: nothing."""
        for function, arguments, value in self.again:
            try:
                now = function(*arguments)
            except ValueError:
                now = MISSING
            if now is not value and not (isinstance(value, SCALARS) and type(now) is type(value) and now == value):
                named = [a for a in arguments if isinstance(a, str) and a != "cell_contents"]
                return f"the call changes {named[0] if named else 'a list, a dict or a variable'}"
        return None


def _closures(code: Any) -> list[Any]:
    """The closures of the living functions of a code."""
    found = gc.get_referrers(code)
    return [f.__closure__ for f in found if isinstance(f, types.FunctionType) and f.__code__ is code and f.__closure__]


def _holding(closures: list[Any], k: int, value: Any) -> list[Any]:
    """The closure cells that a running function's k-th free variable may be in."""
    found = []
    for closure in closures:
        try:
            if closure[k].cell_contents is value:
                found.append(closure[k])
        except ValueError:
            continue
    return found


@functools.cache
def _tensor_names() -> frozenset[str]:
    return frozenset(dir(Tensor))
