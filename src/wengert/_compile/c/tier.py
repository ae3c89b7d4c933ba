"""A compiled function's program in two tiers: NumPy runs until the compiler is done, then C.

The compiler works on a thread. Where there is no way to a C program, NumPy stays; nothing is ever raised. A call whose
indices are out of range, or whose arrays lie otherwise than the program expects, runs in NumPy too: its errors are
eager's.
"""

from __future__ import annotations

import atexit
import threading
from typing import Any

from ..plan import Plan
from .compilers import Ended, ending, say_once
from .program import CProgram, Unsupported

_working: set[threading.Thread] = set()


@atexit.register
def _end() -> None:
    """Leave no compiler, no files of its and no thread behind: a thread that outlives the interpreter may crash it."""
    ending.set()
    wait(10)


# NOTE [ Tuples in the compiler's thread ]
# The tape asks ``gc.get_referrers`` who holds an array. If it meets a tuple that another thread is building from a
# generator, that thread's tuple() fails with a SystemError. So what runs in this thread builds tuples from lists.


class Tier:
    """``run(arrays)``, ``source`` and ``plan`` are those of the tier that is there."""

    def __init__(self, numpy: Any, owners: list[int] | None) -> None:
        self.numpy = numpy
        self.owners = owners
        self.c: CProgram | None = None
        self.settled = False  # whether the compiler has ended
        thread = threading.Thread(target=self._compile, name="wengert-compile", daemon=True)
        _working.add(thread)
        thread.start()

    def _compile(self) -> None:
        try:
            self.c = CProgram(Plan(self.numpy.tape), self.owners)
        except (Unsupported, Ended):
            pass
        except Exception as error:  # noqa: BLE001  a fault of ours must not end a user's program
            say_once(f"a program could not be made ({type(error).__name__}: {error})")
        finally:
            self.settled = True
            _working.discard(threading.current_thread())

    def run(self, arrays: list[Any]) -> Any:
        """Run on the inputs' arrays."""
        if self.c is not None:
            results = self.c(arrays)
            if results is not None:
                return results
        return self.numpy.run(arrays)

    @property
    def pays(self) -> bool:
        """Whether the program that is there is faster than eager."""
        return self.c is not None or self.numpy.pays

    @property
    def source(self) -> str:
        """The C once it is compiled, before that the Python."""
        return self.numpy.source if self.c is None else self.c.source

    def __getattr__(self, name: str) -> Any:
        if name in ("numpy", "c", "settled"):
            raise AttributeError(name)
        return getattr(self.numpy, name)


def wait(seconds: float | None = None) -> None:
    """Wait until every program that is being compiled is there, for so long at most."""
    for thread in list(_working):
        thread.join(seconds)
