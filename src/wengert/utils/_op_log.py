"""A log of the operators that ran in a block, with arguments, results and call stacks."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, NoReturn

from .._base.errors import program_frame
from .._base.modes import begin, ending, together, watching
from .._tape.tensor import Tensor
from ._aten import overload_of

_SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "complex64": "c64",
          "complex128": "c128", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8",
          "bool": "b8"}  # fmt: skip


class _Entered(NamedTuple):
    """A log that was entered: what leaves it. See NOTE [ Interrupts ] in _base/modes.py."""

    end: Callable[[], Any]


_entered: ContextVar[tuple[_Entered, ...]] = ContextVar("wengert_op_logs", default=())


class OpLog:
    """A context that logs the operators of this thread; entering it again clears the log."""

    def __enter__(self) -> OpLog:
        self.lines: list[str] = []
        self.calls: list[list[str]] = []
        self._names: dict[int, str] = {}
        self._kept: list[Tensor] = []  # keeps tensors alive, which makes their ids unique
        self._thread = threading.get_ident()
        before, (watch, leave) = _entered.get(), watching(self._see)
        end = together(leave, partial(_entered.set, before), self._names.clear, self._kept.clear)
        begin(together(watch, partial(_entered.set, (*before, _Entered(end)))), end)
        return self

    __exit__ = ending(_entered)

    def _see(self, info: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        if threading.get_ident() != self._thread:
            return proceed()
        given = ", ".join(self._show(a) for a in args)
        place = len(self.lines)
        self.lines.append(f"torch._ops.{overload_of(info, args)}({given})")
        frame = program_frame(sys._getframe(1))
        stack = traceback.extract_stack(frame)
        self.calls.append([f"{s.filename}:{s.lineno}:{s.name}" for s in reversed(stack)])
        result = proceed()
        made = ", ".join(
            f"{self._show(r)}: {_facts(r)}" for r in (result if isinstance(result, (tuple, list)) else (result,))
        )
        self.lines[place] = f"{made} = {self.lines[place]}"
        return result

    def _show(self, value: Any) -> str:
        if isinstance(value, Tensor):
            if id(value) not in self._names:
                self._names[id(value)] = f"${len(self._names)}"
                self._kept.append(value)
            return self._names[id(value)]
        if isinstance(value, (tuple, list)):
            return "[" + ", ".join(self._show(v) for v in value) + "]"
        return repr(value)

    def text(self) -> str:
        """One line for each operator."""
        return "\n".join(self.lines)

    def traces(self, label: str) -> str:
        """Each operator with the lines that led to it, the nearest first."""
        n = len(self.lines)
        return "\n\n".join(
            f"{line}   ({i + 1} of {n} in {label})\n\n" + "\n".join(calls) + "\n"
            for i, (line, calls) in enumerate(zip(self.lines, self.calls, strict=True))
        )


def _facts(t: Any) -> str:
    if not isinstance(t, Tensor):
        return type(t).__name__
    return f"{_SHORT.get(str(t.dtype).removeprefix('torch.'), str(t.dtype))}[{', '.join(map(str, t.shape))}]"


class Journal:
    """``debug=True``: the operators of the first run and of the latest one, with the lines they were called from."""

    def contexts(self) -> tuple[OpLog, OpLog]:
        """What is entered around the first run and around later ones."""
        self.first = OpLog()
        self.again = OpLog()
        return self.first, self.again

    def explain(self, error: Exception) -> NoReturn:
        """Raise the error with both lists."""
        raise type(error)(
            " An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed "
            "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
            "1. Stack traces of the operators that ran in the original forward\n\n"
            f"{self.first.traces('original')}\n"
            "2. Stack traces of the operators that ran during recomputation\n\n"
            f"{self.again.traces('recompute')}\n"
            "3. Log of operators in the original forward and recomputation\n\n"
            f"Operations executed during the original forward:\n\n{self.first.text()}\n\n"
            f"Operations executed during recomputation:\n\n{self.again.text()}\n\n"
            "ERROR: Detected non-determinism while running activation checkpointing\n\n"
            "You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved during "
            "the original forward differ from those saved during recomputation. Compare the two lists:\nwhere they "
            "part, the function did something else the second time (a branch on a global, a cache, random numbers).\n"
            "The original forward is listed whole; recomputation ends early where early stop is on.\n"
        ) from error
