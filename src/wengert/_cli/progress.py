"""A progress bar, which is rewritten in place on a terminal and printed as a few plain lines elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import TextIO

_WIDTH = 24  # of the bar itself
_PAUSE = 0.05  # seconds between two drawings
_LINES = 5  # plain lines in all, where nothing can be rewritten


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a line of `stream` can be rewritten in place."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def takes_colour(stream: TextIO) -> bool:
    """Tell whether `stream` is a terminal with colours, and the user has not refused them (https://no-color.org)."""
    old_windows = os.name == "nt" and "WT_SESSION" not in os.environ and "TERM" not in os.environ
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and not old_windows


def paint(text: str, code: str, stream: TextIO) -> str:
    """Return `text` in the colour or weight that the ANSI `code` stands for, or as it is if `stream` has none."""
    return f"\x1b[{code}m{text}\x1b[0m" if takes_colour(stream) else text


class Bar:
    """Shows the progress of a piece of work.

    A context manager, so that an error or Ctrl-C leaves the cursor on a line of its own.

    >>> import io
    >>> page = io.StringIO()
    >>> with Bar("epoch", 2, page) as bar:
    ...     bar.show(1, "loss 0.50")
    ...     bar.show(2, "loss 0.25")
    >>> print(page.getvalue(), end="")
    epoch 1/2  loss 0.50
    epoch 2/2  loss 0.25
    """

    def __init__(self, label: str, total: int, stream: TextIO | None = None) -> None:
        self.label = label
        self.total = total
        self.stream = sys.stdout if stream is None else stream
        self._in_place = is_terminal(self.stream)
        self._drawn_at = -_PAUSE
        self._lines = 0
        self._width = 0

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._in_place and self._width:
            self.stream.write("\n")

    def show(self, done: int, note: str = "") -> None:
        """Show that `done` of the total is done, with `note` beside it."""
        if self._in_place:
            now = time.monotonic()
            if done >= self.total or now - self._drawn_at >= _PAUSE:
                self._drawn_at = now
                self._draw(done, note)
        elif done * _LINES // self.total > self._lines:
            self._lines = done * _LINES // self.total
            self.stream.write(f"{self.label} {done}/{self.total}  {note}\n")
            self.stream.flush()

    def _draw(self, done: int, note: str) -> None:
        filled = _WIDTH * done // self.total
        bar = "#" * filled + "-" * (_WIDTH - filled)
        # The next drawing could not overwrite a line that wraps.
        room = shutil.get_terminal_size().columns - 1
        line = f"[{bar}] {self.label} {done}/{self.total}  {note}"[:room]
        blank = " " * max(0, min(self._width, room) - len(line))
        self._width = len(line)
        self.stream.write("\r" + line.replace(bar, paint(bar, "32", self.stream)) + blank)
        if done >= self.total:
            self._width = 0
            self.stream.write("\n")
        self.stream.flush()
