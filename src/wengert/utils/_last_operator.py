"""The last operator of a checkpointed function that saves values: a later run may stop before it.

An operator saves its operands, its result or both. PyTorch saves operands before it computes, so a later run of a
checkpoint that needs nothing but the last operator's operands never computes the last operator. Here values are saved
afterwards; so the first run notes which operator was the last one to save something, and which arguments it saved.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from .._base.grad_mode import grad_mode
from .._base.modes import ahead, saved_tensors_hooks
from .._tape.tensor import Tensor


class _Last(NamedTuple):
    """The last operator: how many had run with it, the values saved before and with it, and its saved arguments."""

    ran: int
    info: Any
    start: int
    end: int
    arguments: list[int]
    recorded: list[Any]


class Counting:
    """A pack hook that counts the values it packs, and the operators that ran."""

    def __init__(self, pack: Callable[[Tensor], Any], last: _Last | None = None) -> None:
        self.pack = pack
        self.last = last
        self.ran = self.count = 0
        if last is not None:
            ahead.append(weakref.ref(self, ahead.remove))  # so that no interrupt leaves it there

    def __call__(self, x: Tensor) -> Any:
        self.count += 1
        return self.pack(x)

    def after(self, info: Any, args: tuple[Any, ...], boxes: list[Any]) -> None:
        """An operator has run and was recorded, and its values in these boxes are packed."""
        self.ran += 1
        if boxes:
            of_arguments = [a._box if isinstance(a, Tensor) else self for a in args]
            places = [next((i for i, own in enumerate(of_arguments) if own is box), -1) for box in boxes]
            self._saved = _Last(self.ran, info, self.count - len(boxes), self.count, places, _recorded(args))

    def found(self) -> _Last | None:
        """The last operator, unless it saved something else than arguments or was not the last to save something."""
        last: _Last | None = getattr(self, "_saved", None)
        return last if last is not None and last.end == self.count and -1 not in last.arguments else None

    def before(self, info: Any, args: tuple[Any, ...]) -> None:
        """An operator is about to run: pack its arguments if it is the last one."""
        last = self.last
        if (
            last is not None
            and (self.ran + 1, self.count) == (last.ran, last.start)
            and info is last.info
            and _recorded(args) == last.recorded
            and (saved_tensors_hooks() or ((None,),))[-1][0] is self
        ):
            with grad_mode(False):
                for i in last.arguments:
                    self(args[i])


def _recorded(args: tuple[Any, ...]) -> list[Any]:
    """What must be the same again: which arguments are recorded tensors, and their shapes and dtypes."""
    return [(a._node is not None, a._payload.shape, a._payload.dtype) if isinstance(a, Tensor) else None for a in args]
