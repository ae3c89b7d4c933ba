"""What a function reads by name, told from its bytecode: globals, attributes, imports; whether it computes names."""

from __future__ import annotations

import dis
import types
import weakref
from sys import _getframe as getframe
from typing import Any

from .._base.errors import INTERNAL

_COMPUTING = frozenset(
    (
        "vars",
        "__dict__",
        "__getattribute__",
        "__setattr__",
        "asdict",
        "astuple",
        "attrgetter",
        "copy",
        "deepcopy",
        "replace",
    )
)
_ASKING = ("getattr", "hasattr")


class Reads:
    """The names that a code object reads or writes.

    ``names``       its globals
    ``attributes``  of whatever objects, ``asked`` included
    ``asked``       the texts that ``getattr`` and ``hasattr`` are called with
    ``chains``      ``("torch", "nn", "relu")`` for ``torch.nn.relu``
    ``imports``     (name, level) of the modules that it imports
    ``computes``    whether it may read attributes by names that do not stand in it
    """

    __slots__ = ("asked", "attributes", "chains", "computes", "imports", "names")

    def __init__(self, code: types.CodeType) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.chains: set[tuple[str, ...]] = set()
        self.imports: set[tuple[str, int]] = set()
        self.asked: set[str] = set()
        self.computes = False
        steps = [i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "PUSH_NULL", "NOP")]
        chain: tuple[str, ...] = ()
        for k, step in enumerate(steps):
            op, name = step.opname, step.argval
            if op == "IMPORT_NAME":
                self.imports.add((name, _level(steps, k)))
            elif op == "IMPORT_FROM" or "_ATTR" in op or op == "LOAD_METHOD":
                self.attributes.add(name)
                chain = (*chain, name) if chain else ()
                if chain:
                    self.chains.add(chain)
                continue
            elif "_GLOBAL" in op or op.endswith("_NAME"):
                self.names.add(name)
                chain = (name,)
                continue
            elif "DEREF" in op:
                chain = (name,)
                continue
            chain = ()
            self.computes |= op == "MATCH_CLASS"
        if "apply" in self.attributes:  # a custom function's, which reads these
            self.attributes |= {"forward", "backward", "setup_context"}
        self.computes |= not _COMPUTING.isdisjoint(self.names | self.attributes)
        for k, step in enumerate(steps):
            if step.argval in _ASKING and ("_GLOBAL" in step.opname or step.opname.endswith("_NAME")):
                text = _second_argument(steps, k)
                if text is None:
                    self.computes = True
                else:
                    self.asked.add(text)
        self.attributes |= self.asked


def _level(steps: Any, k: int) -> int:
    """The level of an import: how many packages up it begins."""
    for step in steps[max(k - 2, 0) : k]:
        if type(step.argval) is int:
            return int(step.argval)
    return 0


def _second_argument(steps: Any, k: int) -> str | None:
    """The text that is the second argument of a call, ``None`` if it is computed."""
    k += 2
    while k < len(steps) and steps[k].opname == "LOAD_ATTR":
        k += 1
    if k + 2 >= len(steps) or steps[k].opname != "LOAD_CONST" or not isinstance(steps[k].argval, str):
        return None
    called = [step.opname in ("PRECALL", "CALL", "CALL_FUNCTION") for step in steps[k + 1 : k + 3]]
    simple = steps[k + 1].opname.startswith(("LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_SMALL"))
    return str(steps[k].argval) if called[0] or (called[1] and simple) else None


_known: weakref.WeakKeyDictionary[types.CodeType, Reads] = weakref.WeakKeyDictionary()


def reads(code: types.CodeType) -> Reads:
    """What a code object reads; found once."""
    found = _known.get(code)
    if found is None:
        found = _known[code] = Reads(code)
    return found


READERS = {"contains": "bool", **{name: name for name in ("bool", "tolist", "repr", "equal", "allclose")}}


def reader() -> str:
    """What reads elements, if PyTorch has words for it."""
    frame: Any = getframe(2)
    while frame is not None and INTERNAL[frame.f_code.co_filename]:
        if (name := frame.f_code.co_name.strip("_")) in READERS:
            return f" by {READERS[name]}()"
        frame = frame.f_back
    return ""
