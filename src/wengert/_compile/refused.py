"""What becomes of an error that an operator raises while a call is recorded.

PyTorch records a call on tensors without elements. What an operator refuses of those (shapes, dtypes, parameters) is a
``TorchRuntimeError`` there, before anything was computed; what it refuses of elements (an index, a matrix that is
singular) is raised as it is. So the call that failed is made once more here, on tensors without elements. Backward
passes are no part of PyTorch's graphs: their errors are raised as they are.
"""

from __future__ import annotations

import re
import sys
import traceback
from types import CellType, FunctionType
from typing import Any

import numpy as np

from wengert._dynamo.exc import TorchRuntimeError

from .._base.errors import noted
from .._base.tracebacks import arguments
from .._base.tracing import TRACER
from .._payloads.meta import taken
from .._tape.tensor import Tensor, wrap
from ..utils._pytree import tree_map_only
from .lowering import PLAIN
from .traced import Traced
from .values import KINDS

# What an assertion says is the program's own error.
_OPERATORS = re.compile(r"[\\/]_(ops|kinds|tensor_api(?![\\/]assertions)|tape[\\/](inplace|properties))\b")
_GRAPHS = {"register_hook", "register_post_accumulate_grad_hook", "retain_grad"}  # of the graph, in their own words
_BELOW = re.compile(r"[\\/]_(compile|ops|kinds|tensor_api|tape|arrays|payloads|base)[\\/]")


class _Files(dict[str, tuple[bool, bool]]):
    """A file's name -> whether its functions are operators, and whether what they call is a part of theirs."""

    def __missing__(self, name: str) -> tuple[bool, bool]:
        own, library = KINDS[name] == "own", KINDS[name] == "library"
        made = self[name] = own and bool(_OPERATORS.search(name)), library or (own and bool(_BELOW.search(name)))
        return made


_FILES = _Files()


class Call:
    """The latest call of an operator from a program's line, or from a layer's."""

    def __init__(self) -> None:
        self.handled = sys.exception()  # handlers look at tensors too, to say where a layer failed
        self.last: tuple[Any, Any, dict[str, Any]] | None = None

    def note(self, frame: Any) -> None:
        """A function of this package begins to run."""
        called = _FILES[frame.f_code.co_filename][0] and not _FILES[frame.f_back.f_code.co_filename][1]
        if called and sys.exception() is self.handled and frame.f_code.co_name not in _GRAPHS:
            self.last = frame.f_code, frame.f_globals, dict(frame.f_locals)

    def refused(self, error: Exception) -> TorchRuntimeError | None:
        """PyTorch's error, if the call refuses tensors without elements too."""
        if self.last is None or type(error) not in (RuntimeError, ValueError):
            return None
        before = TRACER.set(None)
        try:
            _again(*self.last)
        except type(error):
            pass
        except Exception:  # noqa: BLE001  whatever tensors without elements cannot do, it is not what the program met
            return None
        else:
            return None
        finally:
            TRACER.reset(before)
        lines = [s for s in traceback.extract_tb(error.__traceback__) if not _FILES[s.filename][1]]
        made = TorchRuntimeError(
            "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: "
            f"{self.last[0].co_name}: got {error!r}\n\nfrom user code:\n{''.join(traceback.format_list(lines))}"
        )
        return noted(made, *getattr(error, "__notes__", ()))


def _again(code: Any, scope: dict[str, Any], local: dict[str, Any]) -> None:
    """Call a function with its arguments of before, without their elements."""
    fn = FunctionType(code, scope, code.co_name, None, tuple([CellType(local[n]) for n in code.co_freevars]))
    args, kwargs = tree_map_only(Tensor, _without_elements, arguments(code, local))
    fn(*args, **kwargs)


def _without_elements(t: Tensor) -> Tensor:
    a: Any = t._payload
    a = a.array if type(a) is Traced else a
    if not isinstance(a, PLAIN):
        return t
    made = wrap(taken(np.asarray(a)))
    return made.requires_grad_() if t.is_leaf and t.requires_grad else made
