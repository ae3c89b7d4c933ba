"""``JitTestCase``, from which suites about graphs derive. There is no TorchScript: programs run as they are."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import wengert as torch

from .common_utils import TestCase, _never

__all__: list[str] = []

RUN_CUDA = RUN_CUDA_MULTI_GPU = RUN_CUDA_HALF = False
FUSION_GROUP = "prim::TensorExprGroup"
enable_cpu_fuser = enable_cpu_fuser_if = _trace = _inline_everything = _tmp_donotuse_dont_inline_everything = _never
inline_everything_mode = set_fusion_group_inlining = disable_autodiff_subgraph_inlining = nullcontext


class _Captured(list[str]):
    """What is written to a stream inside of a ``with``: its text, once it has ended."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.written = name, io.StringIO()

    def __enter__(self) -> _Captured:
        self.former = getattr(sys, self.name)
        setattr(sys, self.name, self.written)
        return self

    def __exit__(self, *_: Any) -> None:
        self.append(self.written.getvalue())
        setattr(sys, self.name, self.former)


class JitTestCase(TestCase):
    """A test case whose checks of scripts and traces compare what runs with what was given."""

    def capture_stdout(self) -> _Captured:
        """A context that gives a list, whose item is what was printed."""
        return _Captured("stdout")

    def capture_stderr(self) -> _Captured:
        """``capture_stdout`` of the other stream."""
        return _Captured("stderr")

    def assertRaisesRegexWithHighlight(self, exception: Any, regex: str, highlight: str) -> Any:
        """``assertRaisesRegex``; there is no source of a script to be highlighted."""
        return self.assertRaisesRegex(exception, regex)

    def getExportImportCopy(self, m: Any, also_test_file: bool = True, map_location: Any = None) -> Any:
        """A copy of a trace by its file."""
        buffer = io.BytesIO()
        torch.jit.save(m, buffer)
        buffer.seek(0)
        return torch.jit.load(buffer, map_location=map_location)

    def checkScript(self, script: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Fail unless what ``torch.jit.script`` gives computes the same."""
        made = torch.jit.script(script)
        self.assertEqual(made(*inputs), script(*inputs))
        return made

    def checkModule(self, nn_module: Any, args: Any) -> Any:
        """``checkScript`` of a module."""
        return self.checkScript(nn_module, args)

    def checkTrace(self, func: Callable[..., Any], reference_tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """Fail unless the trace of a function computes the same."""
        made = torch.jit.trace(func, reference_tensors)
        self.assertEqual(made(*reference_tensors), func(*reference_tensors))
        return made


def make_global(*args: Any) -> None:
    """Make functions or classes globals of their modules."""
    for arg in args:
        setattr(sys.modules[arg.__module__], arg.__name__, arg)


def clone_inputs(args: Any) -> list[Any]:
    """Copies of tensors, without their histories."""
    return [x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x for x in args]


def is_lambda(lamb: Any) -> bool:
    """Whether it is a ``lambda``."""
    return callable(lamb) and getattr(lamb, "__name__", "") == "<lambda>"
