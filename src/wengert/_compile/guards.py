"""``Guards``: the conditions that a ``Finder`` has noted and the facts of each input, as one Python function."""

from __future__ import annotations

import sys
from operator import itemgetter
from typing import Any
from weakref import ref

import numpy as np

from .._tape.tensor import view_of
from .values import same_array
from .watch import Finder


class Guards:
    """The conditions of a program as one Python function.

    ``check(args, kwargs)`` returns the list of the program's inputs, or ``None`` if a condition does not hold.
    """

    def __init__(self, finder: Finder) -> None:
        self.said = list(finder.conditions.values())
        entries = finder.tracer.lifted
        index = {id(t): k for k, (_, t) in enumerate(finder.inputs)}
        lines = ["def check(args, kwargs):", "  global last", "  try:"]
        scope: dict[str, Any] = {f"c{k}": c for k, c in enumerate(finder.constants)}
        lines += [f"    if not ({text}): return None" for text in finder.conditions]
        if finder.empty:
            scope["hooks"] = tuple(finder.empty)
            lines.append("    if any(hooks): return None")
            self.said.append("modules and optimizers have no hooks")
        for k, (table, found) in enumerate(finder.groups.values()):
            scope[f"d{k}"], scope[f"g{k}"] = table, itemgetter(*found)
            scope[f"v{k}"] = tuple(found.values()) if len(found) > 1 else next(iter(found.values()))
            lines.append(f"    if g{k}(d{k}) {'!=' if len(found) > 1 else 'is not'} v{k}: return None")
            self.said.append(f"{', '.join(found)} {'are' if len(found) > 1 else 'is'} the same")
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
                scope[f"chain{k}"] = view[1:3]
                base = f"w[0] is not t{index[id(view[0])]}"
                lines.append(f"    if (w := view_of(t{k})) is None or {base} or w[1:3] != chain{k}: return None")
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
        "same_array": same_array, "modules": sys.modules, "ref": ref,
    }  # fmt: skip


_SCOPE = _scope()
