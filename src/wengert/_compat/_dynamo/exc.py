"""The errors of ``torch.compile`` and ``torch.export``."""

from __future__ import annotations

from enum import Enum, auto

__all__ = [
    "FailOnRecompileLimitHit", "InternalTorchDynamoError", "InvalidBackend", "TorchDynamoException", "Unsupported",
    "UserError", "UserErrorType",
]  # fmt: skip


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


class FailOnRecompileLimitHit(TorchDynamoException):
    """A function with ``fullgraph=True`` needs more programs than ``recompile_limit``."""


for _error in (InternalTorchDynamoError, Unsupported, UserError, InvalidBackend, FailOnRecompileLimitHit):
    _error.__module__ = "torch._dynamo.exc"
