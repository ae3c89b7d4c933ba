"""The public interface of the compiler, by name and by signature, beside PyTorch's."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

pytestmark = [pytest.mark.compare, pytest.mark.usefixtures("torch")]

#: public names that are not there, and why
ABSENT = {
    "torch._dynamo": {"bytecode_debugger": "steps through PyTorch's bytecode; there is none"},
    "torch._logging": dict.fromkeys(
        ("DEFAULT_LOGGING", "LazyString", "dtrace_structured", "get_structured_logging_overhead", "hide_warnings",
         "trace_structured", "warning_once"), "inner parts of PyTorch's log system",
    ),
}  # fmt: skip
MODULES = ("torch.compiler", "torch._dynamo", "torch._inductor", "torch._logging")


def _public(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    return sorted(listed or [n for n, v in vars(module).items() if n[0] != "_" and not inspect.ismodule(v)])


@pytest.mark.parametrize("module", MODULES)
def test_names(module: str) -> None:
    theirs, ours = import_module(module), import_module(f"wengert{module[5:]}")
    lacking = {n for n in _public(theirs) if not hasattr(ours, n)}
    assert lacking == set(ABSENT.get(module, ()))


def test_errors() -> None:
    theirs, ours = import_module("torch._dynamo.exc"), import_module("wengert._dynamo.exc")
    raised = ("Unsupported", "BackendCompilerFailed", "RecompileError", "FailOnRecompileLimitHit", "InvalidBackend",
              "InternalTorchDynamoError", "TorchRuntimeError", "ResetRequired", "SkipFrame", "UserError")  # fmt: skip
    for name in raised:
        a, b = getattr(theirs, name), getattr(ours, name)
        assert [k.__name__ for k in b.__mro__ if k.__module__ == "builtins"] == [
            k.__name__ for k in a.__mro__ if k.__module__ == "builtins"
        ], name


def _takes(fn: Any) -> set[str] | None:
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in found) else {p.name for p in found}


@pytest.mark.parametrize("module", MODULES[:3])
def test_arguments(module: str) -> None:
    theirs, ours = import_module(module), import_module(f"wengert{module[5:]}")
    for name in _public(theirs):
        a, b = _takes(getattr(theirs, name)), _takes(getattr(ours, name, None))
        if a is not None and b is not None and not isinstance(getattr(theirs, name), type):
            assert a <= b, f"{name}: {sorted(a - b)}"


def test_switches_have_the_same_values() -> None:
    theirs = import_module("torch._dynamo.config")
    for name in ("recompile_limit", "accumulated_recompile_limit", "fail_on_recompile_limit_hit", "error_on_recompile",
                 "suppress_errors", "verbose", "capture_scalar_outputs", "automatic_dynamic_shapes",
                 "assume_static_by_default", "compiled_autograd", "specialize_int", "guard_nn_modules"):  # fmt: skip
        assert getattr(import_module("wengert._dynamo.config"), name) == getattr(theirs, name), name
