"""A tensor that logs the operators computed on it, and logs as lines of text with short names for tensors."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import wengert as torch
from wengert.utils._python_dispatch import TorchDispatchMode
from wengert.utils._pytree import tree_map
from wengert.utils.weak import WeakTensorKeyDictionary

__all__: list[str] = []

logger = logging.getLogger("LoggingTensor")


def _logged(func: Any, args: Any, kwargs: Any, result: Any) -> Any:
    logger.info(f"{func.__module__}.{func.__name__}", args, kwargs, result)
    return result


class LoggingTensor(torch.Tensor):
    """A wrapper of ``elem`` that logs each operator. ``requires_grad``: the wrapper is differentiated, not ``elem``.

    >>> from wengert.testing._internal.logging_tensor import LoggingTensor, capture_logs
    >>> with capture_logs() as lines:
    ...     y = LoggingTensor(torch.ones(2)) * 3
    >>> lines
    ['$1: f32[2] = torch._ops.aten.mul.Tensor($0, 3)']
    """

    elem: torch.Tensor
    context = contextlib.nullcontext

    @staticmethod
    def __new__(cls: Any, elem: torch.Tensor, *args: Any, requires_grad: bool = False, **kwargs: Any) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.shape, strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
            layout=elem.layout, device=elem.device, requires_grad=requires_grad,
        )  # fmt: skip
        made.elem = elem.detach() if requires_grad else elem
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return super().__repr__(tensor_contents=f"{self.elem}")  # type: ignore[call-arg]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = tree_map(lambda a: a.elem if isinstance(a, cls) else a, (args, kwargs or {}))
        with cls.context():
            result = tree_map(lambda a: cls(a) if isinstance(a, torch.Tensor) else a, func(*given[0], **given[1]))
        return _logged(func, args, kwargs or {}, result)


class LoggingTensorMode(TorchDispatchMode):
    """A mode that logs each operator, on whatever tensors."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _logged(func, args, kwargs or {}, func(*args, **(kwargs or {})))


class LoggingTensorHandler(logging.Handler):
    """Turns records into lines of a list. Tensors are numbered as they come: logging tensors, or all of them."""

    def __init__(self, log_list: list[str], use_shortid_for_all_tensors: bool, with_type: bool) -> None:
        super().__init__()
        self.log_list, self.with_type = log_list, with_type
        self.named = torch.Tensor if use_shortid_for_all_tensors else LoggingTensor
        self.memo: Any = WeakTensorKeyDictionary()
        self.next_id = 0

    def _shortid(self, t: Any) -> Any:
        if t not in self.memo:
            self.memo[t] = self.next_id
            self.next_id += 1
        return self.memo[t]

    def _fmt(self, a: Any) -> str:
        return f"${self._shortid(a)}" if isinstance(a, self.named) else repr(a)

    def _result(self, a: Any) -> str:
        text = self._fmt(a)
        typed = self.with_type and isinstance(a, self.named)
        return f"{text}: {a.dtype.abbr}[{', '.join(map(str, a.shape))}]" if typed else text

    def emit(self, record: logging.LogRecord) -> None:
        """Append the record's line."""
        args, kwargs, result = record.args  # type: ignore[misc]
        given = [str(tree_map(self._fmt, a)) for a in args]  # type: ignore[union-attr]
        given += [f"{k}={tree_map(self._fmt, v)}" for k, v in kwargs.items()]  # type: ignore[union-attr]
        self.log_list.append(f"{tree_map(self._result, result)} = {record.msg}({', '.join(given)})")


def log_input(name: str, var: object) -> None:
    """Log a line that gives an input its number."""
    logger.info("input", (name,), {}, var)  # noqa: PLE1205  the handler reads them


@contextlib.contextmanager
def capture_logs(is_mode: bool = False) -> Iterator[list[str]]:
    """The list of the lines that are logged inside; ``is_mode``: every tensor has a number."""
    lines: list[str] = []
    handler = LoggingTensorHandler(lines, is_mode, with_type=True)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # other handlers would format the records as texts
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


@contextlib.contextmanager
def capture_logs_with_logging_tensor_mode() -> Iterator[list[str]]:
    """The lines of all operators inside."""
    with LoggingTensorMode(), capture_logs(True) as lines:
        yield lines
