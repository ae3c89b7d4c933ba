"""The lines of the log "torch.autograd.graph", and who asks for them."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import wengert as torch
from wengert._tape import engine
from wengert.testing._internal.common_utils import TestCase
from wengert.testing._internal.logging_utils import LoggingTestCase, make_logging_test, make_settings_test

LOG = logging.getLogger("torch.autograd.graph")


@pytest.fixture
def lines() -> Iterator[list[str]]:
    (torch.ones(1, requires_grad=True) * 2).sum()
    from wengert._tape.log_lines import watch

    watch()
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(re.sub("0x[0-9a-f]+", "0x", record.getMessage()))  # type: ignore[method-assign]
    LOG.addHandler(handler)
    before, LOG.propagate = LOG.propagate, False
    yield found
    LOG.removeHandler(handler)
    LOG.propagate = before
    LOG.setLevel(logging.NOTSET)


def test_as_pytorch_prints_them(lines: list[str]) -> None:
    LOG.setLevel(logging.DEBUG)
    a = torch.rand(10, requires_grad=True)
    b = a.mul(2).div(3).sum()
    torch.autograd.backward((b, b.clone()))
    assert lines == [
        "Executing: <CloneBackward0 object at 0x> with grad_outputs: [f32[]]",
        "Executing: <SumBackward0 object at 0x> with grad_outputs: [f32[]]",
        "Executing: <DivBackward0 object at 0x> with grad_outputs: [f32[10]]",
        "Executing: <MulBackward0 object at 0x> with grad_outputs: [f32[10]]",
        "Executing: <AccumulateGrad object at 0x> with grad_outputs: [f32[10]]",
    ]
    del lines[:]
    torch.ones(2, 3, dtype=torch.double, requires_grad=True).unbind()[1].sum().backward()
    assert lines[1] == "Executing: <UnbindBackward0 object at 0x> with grad_outputs: [None,f64[3]]"


def test_without_the_level_a_pass_is_not_observed(lines: list[str]) -> None:
    for level in (logging.DEBUG, logging.INFO, logging.NOTSET):
        LOG.setLevel(level)
        torch.ones(2, requires_grad=True).sum().backward()
        assert len(lines) == 2
        assert bool(engine.observers) is (level == logging.DEBUG)
    above = logging.getLogger("torch.autograd")
    above.setLevel(logging.DEBUG)
    assert engine.observers
    above.setLevel(logging.NOTSET)
    root = logging.getLogger().level
    logging.getLogger().setLevel(logging.DEBUG)  # PyTorch's loggers do not listen to the root
    assert not engine.observers
    logging.getLogger().setLevel(root)


@pytest.mark.parametrize(
    ("settings", "count"), [("+autograd", 2), ("autograd", 0), ("-autograd,+all", 0), ("+all", 2), ("+dynamo", 0)]
)
def test_the_environment(settings: str, count: int) -> None:
    program = "import wengert as torch; torch.ones(2, requires_grad=True).sum().backward()"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "TORCH_LOGS": settings},
        check=True,
    )
    assert len(ran.stderr.splitlines()) == count
    assert all(re.match(r"V\d{4} [\d:.]{15} \d+ \S+:\d+\] Executing: <", line) for line in ran.stderr.splitlines())


class Logging(LoggingTestCase):
    @make_logging_test(autograd=logging.DEBUG)
    def test_records(self, records: list[logging.LogRecord]) -> None:
        torch.ones(2, requires_grad=True).exp().sum().backward()
        assert len(records) == 3
        assert self.hasRecord(records, "ExpBackward0")
        assert self.getRecord(records, "AccumulateGrad").levelname == "DEBUG"

    @make_settings_test("autograd")
    def test_none(self, records: list[logging.LogRecord]) -> None:
        torch.ones(2, requires_grad=True).exp().sum().backward()
        assert not records


assert issubclass(LoggingTestCase, TestCase)
del LoggingTestCase  # pytest would collect it
