"""The errors of ``torch.compile``."""

from __future__ import annotations

__all__ = [
    "FailOnRecompileLimitHit", "InternalTorchDynamoError", "InvalidBackend", "TorchDynamoException", "Unsupported",
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


class FailOnRecompileLimitHit(TorchDynamoException):
    """A function with ``fullgraph=True`` needs more programs than ``recompile_limit``."""


for _error in (InternalTorchDynamoError, Unsupported, InvalidBackend, FailOnRecompileLimitHit):
    _error.__module__ = "torch._dynamo.exc"
