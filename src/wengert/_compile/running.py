"""What runs a program: the guards' and the program's lines put together as one Python function.

``run_function``   runs a program on inputs that the guards have found
``call_function``  looks at the guards, runs and gives the results out, without a call between; ``MISSED`` if a guard
                   does not hold

NOTE [ Results in turns ]
    Small results of a program in C lie in arrays that are used again: two sets in turns, because the gradients of one
    call live until the next one replaces them. An array that anything besides its set refers to is left to its holder,
    and another one takes its place. So a call makes no arrays, asks for no addresses, and knows the gradients that
    are still what the last call has made.
"""

from __future__ import annotations

import functools
from sys import _getframe as getframe
from typing import Any

from .._base.errors import user_frame
from .._base.tracing import COMPILING
from .._tape.node import new_port, tick, version_of
from .._tape.tensor import Tensor, make
from ..utils._pytree import tree_unflatten
from .guards import EXCEPT
from .node import Done
from .record import Recording
from .returned import Result, shown

MISSED: Any = object()
_CALLERS = 3  # frames between a function made here and the program's line, at least: ``Compiled.call`` and its callers

#: ``Version.write``, without its calls
_WRITE = [
    "cell.version += 1",
    "if (w := cell.writes) is not None: w.append(cell._seq)",
    "elif cell._seq: cell.remember()",
    "cell._seq, cell._code, cell._lasti = seq, code, lasti",
]


def run_function(program: Any) -> Any:
    """``run(program, inputs, fn, args, kwargs)``; ``fn(*args, **kwargs)`` is the call."""
    names = [f"t{x.k}" for x in program.guards.arrays]
    lines = [f"{', '.join(names)}, = inputs"] if names else []
    lines += _begun(program)
    lines += _ran(f"[{', '.join(f'{n}._payload' for n in names)}]")
    lines += _given(program, "outs[{}]", 1)
    return _made("run(program, inputs, fn, args, kwargs)", [f"  {x}" for x in lines], _scope(program))


def call_function(program: Any) -> Any:
    """``call(program, args, kwargs, fn)``."""
    guards, r = program.guards, program.recording
    arrays = f"[{', '.join(f'a{x.k}' for x in guards.arrays)}]"
    turns = _turns(program)
    scope = guards.fresh() | _scope(program) | {"missed": MISSED}
    if turns is None:
        lines, ran, out = guards.lines(), _ran(arrays), "outs[{}]"
    else:
        otherwise = f"return program.run(program, [{', '.join(f't{x.k}' for x in guards.arrays)}], fn, args, kwargs)"
        at = {k: turns.at[at] for k, at in r.grads if at is not None}
        made = {x.k: at[x.of] for x in guards.arrays if x.new and at.get(x.of) is not None}
        made = {k: at for k, at in made.items() if k not in turns.read and turns.likes(at, guards.arrays[k])}
        lines = guards.lines(made, f"before = none; bind({arrays})")
        if any(x.new and x.k in turns.read for x in guards.arrays):
            lines.append(f"    bind({arrays})")
        lines[0] += ", now, then, before"
        ran, out = turns.lines(otherwise), "o{}"
        scope |= turns.scope()
    lines = [x.replace("return None", "return missed") for x in (*lines, EXCEPT)]
    return _made(
        "call(program, args, kwargs, fn)",
        [*lines, *[f"  {x}" for x in (*_begun(program), *ran, *_given(program, out, _CALLERS))]],
        scope,
    )


def _begun(program: Any) -> list[str]:
    """The line that notes where random streams are, for a second derivative."""
    return ["states = [(g, g.get_state_array()) for g in drawn]"] if program.drawn else []


def _ran(arrays: str) -> list[str]:
    """The lines that run the program; what it refuses, eager refuses in its own words, or can do."""
    return [
        f"try: outs = program.runner({arrays})", "except Exception as error:", "  if not program.undone(error): raise",
        "  outs = None", "if outs is None: return as_it_is(fn, args, kwargs)",
    ]  # fmt: skip


def as_it_is(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function, which is told that it is compiled."""
    before = COMPILING.set(True)
    try:
        return fn(*args, **kwargs)
    finally:
        COMPILING.reset(before)


def _turns(program: Any) -> Any:
    c = getattr(program.forward, "c", None)
    if c is None:
        return None
    from .c.results import Turns

    return Turns.of(c, [x.like[2] for x in program.guards.arrays])


def _made(head: str, lines: list[str], scope: dict[str, Any]) -> Any:
    exec(compile("\n".join([f"def {head}:", *lines]), __file__, "exec"), scope)
    return scope.pop(head.partition("(")[0])  # a function that its globals name would be a cycle


def _scope(program: Any) -> dict[str, Any]:
    r = program.recording
    return {
        "user_frame": user_frame, "getframe": getframe, "tick": tick, "version_of": version_of, "make": make,
        "shown": shown, "shape": program.shape, "Done": Done, "new_port": new_port, "as_it_is": as_it_is,
        "drawn": program.drawn, "unflattened": functools.partial(_unflattened, r),
        **{f"x{k}": x for k, x in enumerate(r.results)},
    }  # fmt: skip


def _given(program: Any, out: str, callers: int) -> list[str]:
    """The lines that give results out: ``out`` is the text of one, ``callers`` how many frames the program is away."""
    r = program.recording
    lines = []
    if program.written or program.outputs:
        lines += [f"frame, seq = user_frame(getframe({callers})), tick()", "code, lasti = frame.f_code, frame.f_lasti"]
    for k, times in program.written:
        lines.append(f"cell = b.cell if (b := t{k}._box) is not None and b.cell is not None else version_of(t{k})")
        lines += _WRITE * times
    for k, at in r.grads:
        if at is not None:
            lines += ["g = make()", f"g._payload, g._node, g._box = {out.format(at)}, None, None"]
        lines.append(f"t{k}._node.grad = {'None' if at is None else 'g'}")
    inputs = f"[{', '.join(f't{x.k}' for x in program.guards.arrays)}]"
    for k, x in enumerate(r.results):
        if x.kind == "value":
            lines += [f"r{k} = make()", f"r{k}._payload, r{k}._node, r{k}._box = {out.format(x.at)}, None, None"]
            lines += [f"version_of(r{k}).version = {x.version}"] * (x.version > 0)
    tensors = [k for k, x in enumerate(r.results) if x.output is not None]
    if r.freed and tensors:  # the function has run the backward pass itself
        lines += ["node = Done()", "node._hooks, node._seq, node._code, node._lasti = None, tick(), code, lasti"]
        lines += [
            f"r{k}._node = {'node' if len(tensors) == 1 else f'new_port(node, {j})'}" for j, k in enumerate(tensors)
        ]
    elif tensors:
        outs = f"[{', '.join(out.format(k) for k in range(len(r.forward.results)))}]" if out == "o{}" else "outs"
        lines.append(f"program._record({inputs}, {outs}, [{', '.join(f'r{k}' for k in tensors)}], ")
        lines[-1] += f"lambda: fn(*args, **kwargs), {'states' if program.drawn else '()'}, code, lasti)"
    for k, x in enumerate(r.results):
        if x.kind != "value":
            of = {"input": f"t{x.at}", "gradient": f"t{x.at}._node.grad", "result": f"r{x.at}"}[x.kind]
            lines.append(f"r{k} = shown({of}, x{k}.chain)" if x.chain else f"r{k} = {of}")
    returned = ", ".join(f"r{k}" for k in range(len(r.results)))
    if program.shape is None:
        lines.append(f"return unflattened([{returned}])")
    else:
        lines.append("return r0" if program.shape is Tensor else f"return shape([{returned}])")
    return lines


def shape_of(r: Recording) -> Any:
    """What a call returns, if that is simple: ``Tensor``, or the type of a flat list or tuple of all its tensors."""
    if len(r.leaves) != len(r.results) or any(a is not b for a, b in zip(r.leaves, r.results, strict=True)):
        return None
    if r.spec.is_leaf():
        return Tensor
    return r.spec.type if r.spec.type in (list, tuple) and all(c.is_leaf() for c in r.spec.children()) else None


def _unflattened(r: Recording, made: list[Any]) -> Any:
    """The structure that the call returns, with tensors in the places of results."""
    by_result = dict(zip(map(id, r.results), made, strict=True))
    return tree_unflatten([by_result[id(x)] if isinstance(x, Result) else x for x in r.leaves], r.spec)
