"""``torch.export.draft_export``: a program in any case, with a report of what does not hold for other inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import wengert as torch

from ..fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from ..nn.modules.module import Module
from ._tracing import export, exported
from .exported_program import ExportedProgram


class FailureReport(NamedTuple):
    """One thing that was taken from the examples: its kind, and what PyTorch says of it."""

    failure_type: str
    data: dict[str, Any]


class DraftExportReport:
    """What a draft has taken from the examples.

    Attributes:
        failures: a list of ``FailureReport``.
    """

    def __init__(self, failures: list[FailureReport]) -> None:
        self.failures = failures

    def successful(self) -> bool:
        """Whether nothing was."""
        return not self.failures

    def __str__(self) -> str:
        if self.successful():
            return "Congratulations: No issues are found during export, and it was able to soundly produce a graph."
        lines = [f"{i + 1}. {f.failure_type}: {f.data['reason']}" for i, f in enumerate(self.failures)]
        return "\n".join([f"WARNING: {len(lines)} issue(s) found during export.", *lines])

    __repr__ = __str__


def draft_export(
    mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None,
    preserve_module_call_signature: tuple[str, ...] = (), strict: bool = False,
) -> ExportedProgram:  # fmt: skip
    """``torch.export.export``, and where the module needs a number out of a tensor at once, with the example's.

    ``program._report`` tells of these numbers. Sizes may differ only if there are none.

    >>> import wengert as torch
    >>> class Branch(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x + 1 if x.sum() > 0 else -x
    >>> program = torch.export.draft_export(Branch(), (torch.ones(2),))
    >>> program._report.successful(), program.module()(torch.ones(2))
    (False, tensor([2., 2.]))
    """
    failures: list[FailureReport] = []

    def taken(name: str, tensor: torch.Tensor) -> None:
        failures.append(FailureReport("DATA_DEPENDENT_ERROR", {"reason": f"{name}() of a tensor was the example's"}))

    try:
        program = export(mod, args, kwargs, dynamic_shapes=dynamic_shapes)
    except GuardOnDataDependentSymNode:
        if dynamic_shapes is not None:
            raise
        program = exported(mod, args, dict(kwargs or {}), taken)
    program._report = DraftExportReport(failures)  # type: ignore[attr-defined]
    return program
