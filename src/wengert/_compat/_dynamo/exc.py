"""The errors of ``torch.compile`` and ``torch.export``."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any


class TorchDynamoException(RuntimeError):
    """The base of the errors of ``torch.compile``."""

    __module__ = "torch._dynamo.exc"


class InternalTorchDynamoError(TorchDynamoException):
    """An error inside PyTorch's compiler; never raised here."""


class Unsupported(TorchDynamoException):
    """A function of which one program was asked, ``fullgraph=True``, is not one."""


class InvalidBackend(TorchDynamoException):
    """There is no backend of this name."""


class UserErrorType(Enum):
    """What is wrong with a program that cannot be exported."""

    DYNAMIC_CONTROL_FLOW = auto()
    ANTI_PATTERN = auto()
    STANDARD_LIBRARY = auto()
    CONSTRAINT_VIOLATION = auto()
    DYNAMIC_DIM = auto()
    INVALID_INPUT = auto()
    INVALID_OUTPUT = auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = auto()


class UserError(Unsupported):
    """A program cannot be exported as it is, or not with these arguments."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name: str | None = None) -> None:
        super().__init__(msg)
        self.error_type, self.message = error_type, msg


class FailOnRecompileLimitHit(Exception):
    """A function needs more programs than ``recompile_limit``, and was told not to run eagerly then."""

    __module__ = "torch._dynamo.exc"


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised an error: ``inner_exception``."""

    def __init__(self, backend_fn: Any, inner_exception: Exception, first_useful_frame: Any = None) -> None:
        self.backend_name = getattr(backend_fn, "__name__", "?")
        super().__init__(f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}")
        self.inner_exception, self.first_useful_frame = inner_exception, first_useful_frame


def _make(base: type, names: str) -> None:
    for name in names.split():
        doc = "An error of PyTorch's compiler, for ``except``; never raised here."
        globals()[name] = type(name, (base,), {"__doc__": doc, "__module__": "torch._dynamo.exc"})


class TorchRuntimeError(TorchDynamoException):
    """An operator of a compiled function refuses its operands' shapes."""


class RecompileError(TorchDynamoException):
    """A function needs another program, and ``torch._dynamo.config.error_on_recompile`` is set."""


_make(
    TorchDynamoException,
    "CondOpArgsMismatchError InfiniteGeneratorError ObservedException PackageError ResetRequired RestartAnalysis "
    "ResumePrologueTracingError ShortenTraceback SkipFrame StepUnsupported "
    "UncapturedHigherOrderOpError UnknownPropertiesDuringBackwardTrace UnsafeScriptObjectError",
)
for _error in (
    InternalTorchDynamoError, Unsupported, UserError, InvalidBackend, BackendCompilerFailed, TorchRuntimeError,
    RecompileError,
):  # fmt: skip
    _error.__module__ = "torch._dynamo.exc"

__all__ = [name for name, value in vars().items() if isinstance(value, type) and value.__module__[:5] == "torch"]
__all__ += ["UserErrorType"]
