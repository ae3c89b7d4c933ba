"""The older ``PassManager``: passes that are called one after another with what the one before gave."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

from .infra.pass_manager import _validate_pass_schedule_constraint, this_before_that_pass_constraint

__all__ = [
    "PassManager", "inplace_wrapper", "log_hook", "loop_pass", "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]  # fmt: skip

logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives its first argument, which ``fn`` has changed."""

    @wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Callable[..., Any], level: int = logging.INFO) -> Callable[..., Any]:
    """A function that logs what ``fn`` returns."""

    @wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, value)
        return value

    return wrapped


def loop_pass(
    base_pass: Callable[[Any], Any], n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None
) -> Callable[[Any], Any]:
    """A pass that runs another ``n_iter`` times, or as long as ``predicate`` of the result is true."""
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def looped(source: Any) -> Any:
        if predicate is not None:
            while predicate(source):
                source = base_pass(source)
            return source
        if not n_iter or n_iter < 0:
            raise RuntimeError(
                f"loop_pass must be given positive int n_iter (given {n_iter}) xor predicate (given {predicate})"
            )
        for _ in range(n_iter):
            source = base_pass(source)
        return source

    return looped


def these_before_those_pass_constraint(these: Any, those: Any) -> Callable[[Any, Any], bool]:
    """The constraint that passes made of one function run before those made of another."""
    return lambda a, b: unwrap(a) != those or unwrap(b) != these


class PassManager:
    """Calls passes in order, after checking the order."""

    def __init__(self, passes: list[Any] | None = None, constraints: list[Any] | None = None) -> None:
        self.passes, self.constraints = passes or [], constraints or []
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Any]) -> PassManager:
        """A manager of these passes."""
        return PassManager(passes)

    def add_pass(self, _pass: Any) -> None:
        """Add a pass."""
        self._set([*self.passes, _pass])

    def _set(self, passes: list[Any]) -> None:
        self.passes, self._validated = passes, False

    def add_constraint(self, constraint: Any) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Remove the passes with these names."""
        if _passes is not None:
            self._set([p for p in self.passes if p.__name__ not in _passes])

    def replace_pass(self, _target: Any, _replacement: Any) -> None:
        """Put a pass in the place of another."""
        self._set([_replacement if p.__name__ == _target.__name__ else p for p in self.passes])

    def validate(self) -> None:
        """Check that the passes stand in an order that the constraints allow."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def __call__(self, source: Any) -> Any:
        self.validate()
        for each in self.passes:
            source = each(source)
        return source
