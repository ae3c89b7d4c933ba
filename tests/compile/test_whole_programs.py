"""Whole programs that hypothesis makes: values, gradients, dtypes, strides, effects and draws are eager's.

``--hypothesis-profile=explore`` looks at new ones; here a few that are always the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import compile_whole_programs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wengert as torch
from wengert._compile import c
from wengert._compile.c import cache, compilers
from wengert._compile.dispatch import Compiled

few = HealthCheck.function_scoped_fixture
programs = st.lists(
    st.tuples(st.integers(0, compile_whole_programs.LARGEST - 1), st.integers(0, 8), st.integers(0, 8)),
    min_size=1, max_size=9,
)  # fmt: skip


def _explored(n: int) -> int:
    return settings().max_examples if settings().max_examples > 100 else n


@settings(max_examples=_explored(20), suppress_health_check=[few, HealthCheck.too_slow])
@given(programs)
def test_in_numpy(numbers: Any) -> None:
    found = compile_whole_programs.differences(numbers, lambda fn: Compiled(fn, None, False))
    assert found is None


@pytest.mark.skipif(compilers.compiler() is None, reason="no C compiler")
@settings(max_examples=_explored(4), suppress_health_check=[few, HealthCheck.too_slow])
@given(programs)
def test_in_c(tmp_path_factory: pytest.TempPathFactory, numbers: Any) -> None:
    found: Any = compilers.compiler()
    quick = replace(found, flags=tuple("-O0" if flag == "-O3" else flag for flag in found.flags))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WENGERT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "whole"))
        patch.setattr(cache, "compiler", lambda: quick)
        assert compile_whole_programs.differences(numbers, lambda fn: Compiled(fn, "c", False), c.wait) is None


def test_a_write_to_what_a_pass_needs_is_refused_in_the_first_call_too() -> None:
    text = (
        "def f(*_):\n    v = F.gelu(w)\n    with torch.no_grad(): w.mul_(0.9)\n"
        "    v.sum().backward(); return w.detach() * 1"
    )
    for compiled in (None, lambda fn: Compiled(fn, None, False)):
        assert compile_whole_programs.World(text, compiled).call(0) == ["RuntimeError"]


@pytest.mark.filterwarnings("error")
def test_maxima_are_written_where_they_are_told_without_a_warning() -> None:
    made = torch.compile(lambda x: torch.maximum(x, x * 2).sin(), backend="numpy")
    for _ in range(2):
        assert torch.equal(made(torch.ones(3)), (torch.ones(3) * 2).sin())


def test_a_view_that_is_written_keeps_its_order_in_memory() -> None:
    text = "def f(x, *_):\n    x.copy_(x.sum())\n    return x.sin()"
    for compiled in (None, lambda fn: Compiled(fn, None, False)):
        found = compile_whole_programs.World(text, compiled).call(6)
        assert found[0][0][1] == (1, 2)
