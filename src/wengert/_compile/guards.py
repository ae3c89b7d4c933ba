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
        texts = {text: k for k, (text, t) in enumerate(finder.inputs) if entries[id(t)].is_leaf}
        lines = ["  try:"]
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
        self.arrays: list[_Array] = []
        for k, (text, t) in enumerate(finder.inputs):
            entry = entries[id(t)]
            of = texts.get(text.removesuffix("._node.grad")) if text.endswith("._node.grad") else None
            lines.append(f"    t{k} = {text if of is None else f'n{of}.grad'}")
            scope[f"dtype{k}"], scope[f"type{k}"] = entry.array.dtype, type(t)
            lines.append(f"    if type(t{k}) is not type{k}: return None")
            if entry.node is None:
                lines.append(f"    if t{k}._node is not None: return None")
            elif entry.is_leaf:
                none = "is not" if entry.grad is None else "is"
                lines.append(
                    f"    n{k} = t{k}._node\n    if type(n{k}) is not AccumulateGrad or n{k}.grad {none} None "
                    f"or n{k}._hooks is not None: return None"
                )
            else:
                lines.append(f"    if t{k}._node is None or type(t{k}._node) is AccumulateGrad: return None")
            lines.append(f"    a{k} = t{k}._payload")
            view = view_of(t)
            if view is not None and id(view[0]) in index:
                scope[f"chain{k}"] = view[1:3]
                base = f"w[0] is not t{index[id(view[0])]}"
                lines.append(f"    if (w := view_of(t{k})) is None or {base} or w[1:3] != chain{k}: return None")
            x = _Array(k, entry.array, view is None, text.endswith(".grad"), of)
            self.arrays.append(x)
            if x.based:
                lines += [f"    {x.plain}", f"    {x.view}"]
            self.said.append(
                f"{entry.where} is a {type(t).__name__} {entry.array.dtype.name}{list(entry.array.shape)}"
                f"{', which requires grad' if entry.node is not None else ''}"
            )
        for text, (wanted, said) in finder.same.items():
            if text != finder.inputs[index[wanted]][0]:
                lines.append(f"    if ({text}) is not t{index[wanted]}: return None")
                self.said.append(said)
        self._lines = lines
        self.scope = {**scope, **_SCOPE}
        count = len(finder.inputs)
        returned = f"    return [{', '.join(f't{k}' for k in range(count))}]"
        self.source = "\n".join(["def check(args, kwargs):", *self.lines(), returned, EXCEPT])
        exec(compile(self.source, "<guards of a compiled function>", "exec"), scope := self.fresh())
        self.check = scope.pop("check")  # a function that its globals name would be a cycle

    def fresh(self) -> dict[str, Any]:
        """The names that ``lines`` read, with a ``last`` of its own."""
        nothing = (*(_nothing,) * sum(not x.new for x in self.arrays), frozenset())
        return {**self.scope, "last": nothing, "nothing": nothing}

    def lines(self, made: dict[int, int] | None = None, bound: str = "") -> list[str]:
        """The body of a function that returns ``None`` if a condition does not hold.

        It names the inputs ``t0``, ``t1``, ..., their leaves' nodes ``n0``, ... and their arrays ``a0``, ....
        ``made``: gradients that mostly are what the last call has made, ``before[at]``; if all are, and the other
        arrays are the last call's too, no facts of arrays are looked at. ``bound``: what is done with other arrays.
        """
        lines = ["  global last", *self._lines]
        if not self.arrays:
            return lines
        known = [x for x in self.arrays if not x.new]
        lines.append(f"    {''.join(f'r{x.k}, ' for x in known)}ids, = last")
        facts = _facts(self.arrays, known, bound)
        if made is None or len(known) + len(made) < len(self.arrays):
            return lines + facts
        same = [f"r{x.k}() is not a{x.k}" for x in known] + [f"a{k} is not before[{at}]" for k, at in made.items()]
        return [*lines, f"    if {' or '.join(same)}:", *[f"  {x}" for x in facts]]

    def __iter__(self) -> Any:
        return iter(self.said)

    def __len__(self) -> int:
        return len(self.said)

    def __str__(self) -> str:
        return "\n".join(self.said)


class _Array:
    """An input's array: its number, its facts, and how it is looked at."""

    def __init__(self, k: int, a: Any, apart: bool, is_grad: bool, of: int | None) -> None:
        self.k = k
        self.like = a.shape, a.dtype, a.strides
        self.apart = apart  # it shares no memory with another input
        self.new = apart and is_grad  # mostly another one at each call
        self.of = of  # the input whose gradient it is
        self.based = apart and not self.new and a.base is not None
        self.plain = f"if type(a{k}) is not ndarray and (a{k} := plain(t{k})) is None: return None"
        self.facts = f"if a{k}.dtype is not dtype{k} or a{k}.shape != {a.shape!r} or a{k}.strides != {a.strides!r}: "
        self.facts += "return None"
        self.owner = f"id(a{k} if a{k}.base is None else owner(a{k}))"
        self.view = f"if a{k}.base is not None and view_of(t{k}) is not None: return None" if apart else ""


def _facts(arrays: list[_Array], known: list[_Array], bound: str) -> list[str]:
    """The lines that look at the inputs' arrays.

    An array that is in use has the dtype, the shape and the memory that it was made with, so arrays that were let pass
    are let pass again. ``last`` has references to them and their ids; it is replaced as a whole: other threads read it
    too. Gradients are mostly others at each call; those that own their memory share it only if they are one array.
    """
    new = [x for x in arrays if x.new]
    lines = [f"    {x.plain}" for x in arrays if not x.based]
    for x in new:
        lines += [f"    {x.facts}", f"    {x.view}"]
    lines += [
        f"    if {' or '.join([f'r{x.k}() is not a{x.k}' for x in known] or ['False'])}:",
        *[f"      {x.facts}" for x in known],
        *[f"      {x.view}" for x in known if x.apart and not x.based],
        f"      if len({{{', '.join(f'id(t{x.k})' for x in arrays)}}}) != {len(arrays)}: return None",
    ]
    owners = [x.owner for x in arrays if x.apart]
    if len(owners) > 1:
        lines.append(f"      if len({{{', '.join(owners)}}}) != {len(owners)}: return None")
    if bound:
        lines += ["      last = nothing", f"      {bound}"]
    # arrays are let pass by themselves if the tensors are others too, and if none of them can be a view
    alone = "".join(f" and a{x.k}.base is None" for x in known if x.apart and not x.based)
    lines.append(f"      if len({{{', '.join(f'id(a{x.k})' for x in arrays)}}}) == {len(arrays)}{alone}:")
    refs, held = "".join(f"ref(a{x.k}), " for x in known), "".join(f"{x.owner}, " for x in known)
    lines.append(f"        last = {refs}frozenset(({held})),")
    if new:
        ids = "".join(f"{x.owner}, " for x in new)
        lines.append(f"    elif len(others := {{{ids}}}) != {len(new)} or not ids.isdisjoint(others): return None")
    return lines


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
EXCEPT = "  except (AttributeError, KeyError, IndexError, TypeError, ValueError): return None"
