"""What IPython shows of an error: the program's frames only.

IPython asks an error for its own traceback (``_render_traceback_``) when it shows one. By then the traceback has all
frames, so the last one of this package can be taken out too.
"""

from __future__ import annotations

import sys
from typing import Any

from .errors import INTERNAL


def shell() -> Any:
    """The running IPython, None if there is none."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get() if get is not None else None


def without_our_frames(error: BaseException) -> None:
    """Let IPython show an error without the frames of this package."""
    if shell() is not None and not hasattr(error, "_render_traceback_"):
        error._render_traceback_ = _Rendering(error)


class _Rendering:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def __reduce__(self) -> Any:  # a copy of an error in another process has nothing to hide
        return (_Rendering, ())

    def __call__(self) -> list[str]:
        error = self.error or sys.exception() or sys.last_value
        first = entry = error.__traceback__
        while entry is not None:
            while entry.tb_next is not None and INTERNAL[entry.tb_next.tb_frame.f_code.co_filename]:
                entry.tb_next = entry.tb_next.tb_next
            entry = entry.tb_next
        lines: list[str] = shell().InteractiveTB.structured_traceback(type(error), error, first)
        return lines
