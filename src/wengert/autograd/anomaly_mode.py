"""Anomaly mode, which finds the operation whose derivative failed or gave NaN, with the traceback of its forward call.

Every node made under ``detect_anomaly`` keeps its full traceback, and every step of a backward pass under it is
checked. wengert's errors name the line that made a node even without anomaly mode.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import chain
from operator import is_not
from typing import Any

import numpy as np
from numpy import isnan, ndarray

from .._base import errors, modes
from .._base.constants import type_name
from .._base.errors import program_frame, warn
from .._base.places import span
from .._tape import engine
from .._tape.node import Port
from .._tape.tensor import Tensor

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_enabled = False
_check_nan = True
_UNTRACED = errors.user_frame
_ends: list[Any] = []  # what the contexts that are open do at their ends


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode checks gradients for NaN."""
    return _check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    for i, (name, value) in enumerate((("enabled", mode), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {i}) must be bool, not {type_name(value)}"
            )
    _switch(mode, check_nan)()


class set_detect_anomaly:
    """Turn anomaly mode on or off immediately, or until the end of a ``with`` block.

    >>> import wengert as torch
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    >>> torch.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _enabled
        self.prev_check_nan = _check_nan
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        modes.begin(partial(_ends.append, _switch(self.prev, self.prev_check_nan)), _ends.pop)

    __exit__ = modes.undoing(_ends.pop)


class detect_anomaly(set_detect_anomaly):
    """A context in which NaN in a gradient raises an error, and errors in backward show the forward call.

    ``check_nan=False`` only shows the forward calls of errors. Anomaly mode is slow; use it for debugging only.

    >>> import wengert as torch
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.tensor([0.], requires_grad=True)
    >>> try:
    ...     with torch.autograd.detect_anomaly():
    ...         y = x.sqrt() * 0
    ...         y.sum().backward()
    ... except RuntimeError as error:
    ...     print(error)
    Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = _enabled
        self.check_nan = check_nan
        self.prev_check_nan = _check_nan
        errors.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging."
        )

    def __enter__(self) -> None:
        self.prev = _enabled
        self.prev_check_nan = _check_nan
        on, off = _switch(True, self.check_nan), _switch(_enabled, _check_nan)
        modes.begin(modes.together(on, partial(_ends.append, off)), modes.together(partial(_ends.remove, off), off))


def _switch(mode: bool, check_nan: bool) -> Any:
    """A function of C that sets the mode, whatever it was; for one call."""
    everything = slice(None)
    others = filter(partial(is_not, _watch), engine.observers)
    found = {"user_code": None, "user_frame": _traced if mode else _UNTRACED}
    return modes.together(
        partial(globals().update, _enabled=bool(mode), _check_nan=bool(check_nan)),
        partial(modes.anomaly.__setitem__, everything, [None] * bool(mode)),
        partial(vars(errors).update, found),
        partial(engine.observers.__setitem__, everything, chain(others, [_watch] * bool(mode))),
    )


# ---- recording
class _Trace(int):
    """The offset of the line that made a node, with the whole stack: a node needs no more room than otherwise.

    ``stack`` is [code, offset, code, offset, ...], the innermost first; ``within`` is the node whose backward step made
    this one.
    """

    stack: list[Any]
    within: Any

    def metadata(self) -> dict[str, Any]:
        """What PyTorch keeps of a node in its ``metadata``."""
        told: dict[str, Any] = {"traceback_": _entries(self.stack)}
        return told if self.within is None else {**told, "parent_": self.within.looked_at()}


class _Line:
    """What a node takes its line from, in place of a frame."""

    __slots__ = ("f_code", "f_lasti")


def _traced(frame: Any) -> Any:
    """``errors.user_frame`` in anomaly mode."""
    frame = program_frame(frame)
    line = _Line()
    line.f_code = frame.f_code
    line.f_lasti = trace = _Trace(frame.f_lasti)
    stack: list[Any] = []
    trace.stack = stack
    trace.within = _running[-1] if _running else None
    note = stack.append
    while frame:
        note(frame.f_code)
        note(frame.f_lasti)
        frame = frame.f_back
    return line


_running: list[Any] = []  # the nodes whose backward steps are running, the innermost last


def _formatted(stack: list[Any]) -> str:
    """A stack as Python prints it."""
    return "".join(_entries(stack))


def _entries(stack: list[Any]) -> list[str]:
    """The text of each call on a stack, without the frames of ``python -m wengert run``."""
    import traceback  # not needed before something fails

    entries = []
    for code, lasti in zip(stack[::2], stack[1::2], strict=True):
        if code.co_filename == _RUNNER:
            break
        entries.append(traceback.FrameSummary(code.co_filename, span(code, lasti).line, code.co_name))
    return traceback.format_list(entries[::-1])


_RUNNER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_cli", "run.py")


def _watch(n: Any, g: Any, step: Any) -> Any:
    _running.append(n)
    try:
        if n.by_user:
            with np.errstate(all="ignore"):  # the mode itself tells of NaN
                pairs = step()
        else:
            pairs = step()
    except Exception:
        _tell(n)
        raise
    finally:
        _running.pop()
    if _check_nan:
        for i in range(1, len(pairs), 2):
            if _has_nan(pairs[i]):
                _tell(n)
                raise RuntimeError(f"Function '{n.name()}' returned nan values in its {_index(n, i // 2)}th output.")
    return pairs


def _index(n: Any, i: int) -> int:
    """The position among all inputs of the i-th one that needs a gradient."""
    needing = [k for k, edge in enumerate(n._edges()) if edge is not None]
    return needing[i] if i < len(needing) else i


def _has_nan(d: Any) -> bool:
    while isinstance(d, Tensor):
        d = d._payload
    if (type(d) is not ndarray and not isinstance(d, (ndarray, np.generic))) or d.dtype.kind not in "fc":
        return False
    return 1 in isnan(d).tobytes() if d.ndim else bool(d != d)  # on small arrays a fifth of the time of ``any()``


def _tell(n: Any) -> None:
    """Warn with the traceback of the forward call, and of the backward steps that made it."""
    if type(n) is Port:
        return
    begin, call = f"Error detected in {n.name()}.", "forward call that caused the error"
    while n is not None:
        stack, n = (n._lasti.stack, n._lasti.within) if type(n._lasti) is _Trace else (None, None)
        found = "No forward pass information available. Enable detect anomaly during forward pass for more information."
        if stack is not None:
            found = f"Traceback of {call}:\n{_formatted(stack)}"
        try:
            warn(f"{begin} {found}")
        except Warning as warning:  # the program makes warnings errors; the pass has an error of its own already
            sys.stderr.write(f"{type(warning).__name__}: {warning}\n")
        if n is not None:
            begin = f"\n\nPrevious calculation was induced by {n.name()}."
            call = "forward call that induced the previous calculation"
