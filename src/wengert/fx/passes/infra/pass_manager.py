"""``PassManager``: passes in an order that fits constraints, until none changes anything."""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable
from typing import Any

from ....nn.modules.module import Module
from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


def pass_result_wrapper(fn: Any) -> Any:
    """A function that changes a module, or gives another, as a pass."""
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped(gm: Any) -> Any:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if isinstance(result, Module) else None

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this: Any, that: Any) -> Callable[[Any, Any], bool]:
    """The constraint that one pass runs before another."""

    def allows(a: Any, b: Any) -> bool:
        return a != that or b != this

    return allows


def _validate_pass_schedule_constraint(constraint: Any, passes: list[Any]) -> None:
    for i, a in enumerate(passes):
        for b in passes[i + 1 :]:
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at "
                    f"index {passes.index(b) - i - 1} in pass list."
                )


def _topological_sort_passes(passes: list[Any], constraints: list[Any]) -> list[Any]:
    """The passes in an order that all constraints allow."""
    if not constraints:
        return passes
    before: dict[Any, set[Any]] = {
        a: {b for b in passes if a != b and not all(allows(a, b) for allows in constraints)} for a in passes
    }
    ready = deque(p for p in passes if not before[p])
    order = []
    while ready:
        done = ready.popleft()
        order.append(done)
        for p in passes:
            if done in before[p]:
                before[p].discard(done)
                if not before[p]:
                    ready.append(p)
    circle = [p for p in passes if before[p]]
    if circle:
        raise RuntimeError(f"Circular dependency detected within the following passes: {circle}")
    return order


class PassManager:
    """Runs passes one after another, up to ``steps`` times, as long as one of them changes something.

    Args:
        passes: objects that are called with a module and give a ``PassResult``.
        constraints: functions of two passes that are true if the first may run before the second.
        steps: the most rounds.
        run_checks_after_each_pass: call ``check`` after each.
    """

    def __init__(
        self,
        passes: list[Any] | None = None,
        constraints: list[Any] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes, self.constraints, self.steps = passes or [], constraints or [], steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Any) -> None:
        """Add a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Any) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Check that the passes stand in an order that the constraints allow."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes in an order that the constraints allow."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Any], Any]) -> None:
        """Set the function that checks the module."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[assignment]

    def check(self, module: Any) -> None:
        """Check the module; see ``add_checks``."""

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for i, fn in enumerate(self.passes):
                try:
                    result = self._run(fn, module)
                except Exception as e:
                    message = f"An error occurred when running the '{_name(fn)}' pass after the following passes: "
                    raise Exception(message + str([_name(p) for p in self.passes[:i]])) from e
                module, modified = result.graph_module, modified or result.modified
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run(self, fn: Any, module: Any) -> Any:
        result = fn(module)
        if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(fn)} should be type PassResult."
                "Please wrap it with pass_result_wrapper()"
            )
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result


def _name(fn: Any) -> str:
    return str(fn.__name__) if inspect.isfunction(fn) else type(fn).__name__
