"""Tests of logs: a test gets the records that were logged under settings of TORCH_LOGS, and again of ``set_logs``."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from wengert._compat import _logging as logs
from wengert._tape.log_lines import LOGS

from .common_utils import TestCase

__all__ = ["LoggingTestCase", "log_settings", "make_logging_test", "make_settings_test"]

_PREFIX = {logging.DEBUG: "+", logging.ERROR: "-"}


@contextmanager
def log_settings(settings: str) -> Iterator[None]:
    """Inside, logs have the levels that TORCH_LOGS would give them."""
    with mock.patch.dict(os.environ, {"TORCH_LOGS": settings}):
        logs._init_logs()
        try:
            yield
        finally:
            logs.set_logs()


def make_settings_test(settings: str) -> Callable[[Any], Any]:
    """A decorator: the test runs under ``settings`` and is given the list of records."""

    def wrapper(fn: Any) -> Any:
        def test_fn(self: Any) -> None:
            records: list[logging.LogRecord] = []
            with log_settings(settings), self._handler_watcher(records):
                fn(self, records)

        return test_fn

    return wrapper


def make_logging_test(**levels: Any) -> Callable[[Any], Any]:
    """A decorator: the test runs with ``levels`` set by the environment and by ``set_logs``."""

    def wrapper(fn: Any) -> Any:
        def test_fn(self: Any) -> None:
            make_settings_test(",".join(_PREFIX.get(level, "") + name for name, level in levels.items()))(fn)(self)
            records: list[logging.LogRecord] = []
            with self._handler_watcher(records):
                logs.set_logs(**levels)
                try:
                    fn(self, records)
                finally:
                    logs.set_logs()

        return test_fn

    return wrapper


class _Gathering(logging.Handler):
    records: list[logging.LogRecord]

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


class LoggingTestCase(TestCase):
    """A case whose tests see what is logged."""

    def hasRecord(self, records: list[logging.LogRecord], m: str) -> bool:
        """Whether a message has the text."""
        return any(m in r.getMessage() for r in records)

    def getRecord(self, records: list[logging.LogRecord], m: str) -> logging.LogRecord:
        """The one record whose message has the text."""
        (record,) = (r for r in records if m in r.getMessage())
        return record

    @contextmanager
    def _handler_watcher(self, record_list: list[logging.LogRecord]) -> Iterator[None]:
        handler = _Gathering()
        handler.records = record_list
        for name in LOGS.values():
            logging.getLogger(name).addHandler(handler)
        try:
            yield
        finally:
            for name in LOGS.values():
                logging.getLogger(name).removeHandler(handler)
