"""Optimizers' steps as one loop: the kernel that the optimizer runs in NumPy is the C.

``optim/_as_c.py`` writes it down. The numbers of a step (learning rate, corrections) are computed by the optimizer at
each call and are operands of the loop, so that schedulers work; what a kernel asks of them (``weight < 0.5``) makes
another loop.
"""

from __future__ import annotations

import ctypes
import functools
import operator
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from ..._arrays.memory import address_of
from ..._tape.tensor import Tensor
from ...optim._as_c import written
from ...optim._elementwise import number
from ..record import recording
from ..tape import OPTIMIZER_STEP, Op
from .cache import library
from .expressions import C_TYPES
from .pieces import GRAIN, Place
from .threads import address


@functools.cache
def _loop(text: str, dtype: Any, states: int, numbers: int) -> Any:
    """The function that makes steps by these lines; ``None`` if there is no compiler."""
    c = C_TYPES[dtype]
    given = "".join(f"  {c} *a{k} = A[{k}];\n" for k in range(2 + states))
    hoisted = "".join(f"  const {c} k{j} = k[{j}];\n" for j in range(numbers))
    lib = library(
        f"static void f(void **A, i64 from, i64 to) {{\n{given}  const {c} *k = A[{2 + states}];\n{hoisted}"
        f"  IVDEP\n  for (i64 i = from; i < to; i++) {{\n{text}\n  }}\n}}\n"
        # all parameters' elements are one range, which threads share
        f"static void all(void **B, i64 from, i64 to) {{\n  void **A = B[0]; i64 *n = B[1];\n"
        f"  for (i64 at = 0; at < to; at += *n++, A += {3 + states})\n"
        f"    if (from < at + *n) f(A, from > at ? from - at : 0, to - at < *n ? to - at : *n);\n}}\n"
        f"EXPORT void steps(void **A, i64 *n, i64 count) {{\n  i64 total = 0; void *B[] = {{A, n}};\n"
        f"  for (i64 k = 0; k < count; k++) total += n[k];\n  go(all, B, total, {GRAIN // 4});\n}}\n"
        "EXPORT void init(void **p) { shared = (parallel_t)p[0]; }\n"
    )
    if lib is None:
        return None
    lib.init((ctypes.c_void_p * 1)(address()))
    lib.steps.argtypes, lib.steps.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None
    return lib.steps


@functools.lru_cache(256)  # parameters with equal numbers have it in common
def _find(dtype: Any, kernel: Any, states: int, constants: Any, decay: Any, maximize: bool) -> tuple[Any, Any]:
    """(loop, its numbers) of a step."""
    try:
        text, numbers = written(kernel, dtype, states, constants, decay, maximize)
        return _loop(text, dtype, states, len(numbers)), np.array([*numbers, 0], dtype)
    except (TypeError, ValueError, AttributeError):
        return None, None


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _like(b: Any, a: Any) -> bool:
    """Whether an array is dense, and of the parameter's dtype and shape."""
    return type(b) is np.ndarray and b.flags.c_contiguous and b.dtype == a.dtype and b.shape == a.shape


class CStep:
    """One parameter's step in C; what is not dense, or has no loop, is stepped in NumPy."""

    def __init__(self, step: Any) -> None:
        self.step = step
        self._arrays: list[Any] = []  # of the last step: the parameter's and the state's, dense ones
        self._addresses: list[int] = []
        optimizer, group, p = step.optimizer, step.group, step.param
        with recording:  # this thread compiles, while the program's own may be recording these tensors
            state = optimizer._state_of(group, p)
            copy = {k: v.clone() if isinstance(v, Tensor) and v.numel() == 1 else v for k, v in state.items()}
            kernel, names, constants = optimizer._rule(group, copy, number)
        if p._payload.dtype in SUFFIX:  # the loop is there when the first step comes
            _find(p._payload.dtype, kernel, len(names), constants, self._decay(group), group.get("maximize", False))

    @staticmethod
    def _decay(group: dict[str, Any]) -> Any:
        return 0 if group.get("decoupled_weight_decay") else number(group.get("weight_decay", 0))

    def ready(self, g: Any) -> tuple[Any, Any, list[int], int] | None:
        """The loop, its numbers, the arrays' addresses and their size; ``None``: the step is done, in NumPy."""
        optimizer, group, p = self.step.optimizer, self.step.group, self.step.param
        state = optimizer._state_of(group, p)
        decay, maximize = self._decay(group), group.get("maximize", False)
        kernel, names, constants = optimizer._rule(group, state, number)
        tensors = [state[n] for n in names]
        a = p._payload
        arrays = [a, *[t._payload for t in tensors]]
        if len(arrays) != len(self._arrays) or not all(map(operator.is_, arrays, self._arrays)):
            dense = a.dtype in _FLOATS and all(_like(b, a) for b in arrays)
            self._arrays, self._addresses = (arrays, [*map(address_of, arrays)]) if dense else ([], [])
        loop = None
        if self._arrays and _like(g, a) and not any([t._box is not None for t in tensors]):  # noqa: C419
            loop, numbers = _find(a.dtype, kernel, len(names), constants, decay, maximize)
        if loop is None:
            optimizer._step_in_place(a, g, tensors, kernel, constants, decay, maximize)
            return None
        return loop, numbers, [self._addresses[0], address_of(g), *self._addresses[1:]], a.size


def step_all(steps: list[tuple[CStep, Any]]) -> None:
    """Parameters' steps by their gradients: one call of C for those that follow each other and share a loop."""
    loop: Any = None
    kept: list[Any] = []  # the numbers that the table has the addresses of
    table: list[int] = []
    sizes: list[int] = []

    def run() -> None:
        if sizes:
            loop((ctypes.c_void_p * len(table))(*table), (ctypes.c_int64 * len(sizes))(*sizes), len(sizes))
        for made in (kept, table, sizes):
            made.clear()

    try:
        for step, g in steps:
            found = step.ready(g)
            if found is None:
                continue
            if found[0] is not loop:
                run()
                loop = found[0]
            kept.append(found[1])
            table += [*found[2], address_of(found[1])]
            sizes.append(found[3])
    finally:  # the counts of those that are ready have been advanced
        run()


class Call:
    """A call of an operator's own function between two pieces of C."""

    def __init__(self, op: Op, args: list[Any], p: list[Any], outs: list[Place]) -> None:
        self.op, self.args, self.p, self.outs = op, args, p, outs
        self.run = CStep(op.p[0]) if op.info is OPTIMIZER_STEP else op.lowered


def joined(steps: list[Any]) -> list[Any]:
    """A program's steps with those of optimizers that follow each other as one list."""
    made: list[Any] = []
    for step in steps:
        if type(step) is not Call or step.op.info is not OPTIMIZER_STEP:
            made.append(step)
        elif made and type(made[-1]) is list:
            made[-1].append(step)
        else:
            made.append([step])
    return made
