"""PyTorch's switches of logs: of those that are named here, "autograd" has lines (``_tape/log_lines.py``)."""

from __future__ import annotations

import logging
import os
from typing import Any

from wengert._tape import log_lines

__all__ = ["getArtifactLogger", "set_logs"]


def _init_logs(log_file_name: str | None = None) -> None:
    """Set the levels that TORCH_LOGS names, and all others back."""
    log_lines.watch()
    for name in log_lines.LOGS.values():
        logging.getLogger(name).setLevel(logging.WARNING if name == "torch" else logging.NOTSET)
    log_lines.set_levels(os.environ.get("TORCH_LOGS", ""))


def set_logs(*, modules: dict[str, int | bool] | None = None, **levels: Any) -> None:
    """Set levels of logs: ``set_logs(autograd=logging.DEBUG)``; those that are not named go back to their usual level.

    >>> import logging
    >>> import wengert._logging
    >>> wengert._logging.set_logs(autograd=logging.INFO)
    >>> logging.getLogger("torch.autograd").level == logging.INFO
    True
    >>> wengert._logging.set_logs()
    """
    log_lines.watch()
    for name, logger in log_lines.LOGS.items():
        usual = logging.WARNING if name == "all" else logging.NOTSET
        logging.getLogger(logger).setLevel(levels.get(name, usual))
    for module, level in (modules or {}).items():
        logging.getLogger(module).setLevel(logging.DEBUG if level is True else level)


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
    """The logger of a kind of output."""
    return logging.getLogger(f"{module_qname}.__{artifact_name}")
