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
        of_arrays, held = _of_arrays(
            arrays, [(view_of(t) is None, text.endswith(".grad")) for text, t in finder.inputs]
        )
        lines += of_arrays
        count = len(finder.inputs)
        lines.append(f"    return [{', '.join(f't{k}' for k in range(count))}]")
        lines.append("  except (AttributeError, KeyError, IndexError, TypeError, ValueError): return None")
        self.source = "\n".join(lines)
        scope.update(_SCOPE, last=(*(_nothing,) * held, frozenset()))
        exec(compile(self.source, "<guards of a compiled function>", "exec"), scope)
        self.check = scope["check"]

    def __iter__(self) -> Any:
        return iter(self.said)

    def __len__(self) -> int:
        return len(self.said)

    def __str__(self) -> str:
        return "\n".join(self.said)


def _of_arrays(conditions: list[str], kinds: list[tuple[bool, bool]]) -> tuple[list[str], int]:
    """The lines that look at the inputs' arrays; ``kinds``: whether one shares no memory, and whether it is a gradient.

    An array that is in use has the dtype, the shape and the memory that it was made with, so arrays that were let pass
    are let pass again. ``last`` has references to them and their ids; it is replaced as a whole: other threads read it
    too. Gradients are mostly others at each call; those that own their memory share it only if they are one array.
    Also returned: the number of references.
    """
    if not kinds:
        return [], 0
    names = [f"a{k}" for k in range(len(kinds))]
    new = [a for a, (apart, is_grad) in zip(names, kinds, strict=True) if apart and is_grad]
    known = [(f"r{a[1:]}", a) for a in names if a not in new]
    ids = f"({''.join(f'id({a}), ' for a in new)})"
    other = [f"{r}() is not {a}" for r, a in known] + [f"{a}.base is not None" for a in new]
    lines = [f"    {''.join(f'{r}, ' for r, _ in known)}ids, = last", *[f"    {conditions[int(a[1:])]}" for a in new]]
    lines += [
        f"    if {' or '.join(other)}:",
        *[f"      {conditions[int(a[1:])]}" for _, a in known],
        f"      if len({{{', '.join(f'id(t{k})' for k in range(len(names)))}}}) != {len(names)}: return None",
    ]
    owners = [
        f"id({a} if {a}.base is None else owner({a}))" for a, (apart, _) in zip(names, kinds, strict=True) if apart
    ]
    if len(owners) > 1:
        lines.append(f"      if len({{{', '.join(owners)}}}) != {len(owners)}: return None")
    lines.append(f"      if len({{{', '.join(f'id({a})' for a in names)}}}) == {len(names)}:")  # so are the tensors
    refs, held = "".join(f"ref({a}), " for _, a in known), "".join(f"id({a}), " for _, a in known)
    lines.append(f"        last = {refs}frozenset(({held})),")
    if new:
        lines.append(f"    elif len({{*{ids}}}) != {len(new)} or not ids.isdisjoint({ids}): return None")
    return lines, len(known)


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
