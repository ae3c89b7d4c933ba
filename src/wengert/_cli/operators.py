"""The table of operators for `python -m wengert info --ops`, made from the registry.

An operator is declared once and has its own derivative; public functions are made of operators. The table repeats the
declarations, which `tests/kinds/test_every_op.py` checks numerically.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from wengert._base.errors import nearest
from wengert._base.registry import PUBLIC, REGISTRY, Operator
from wengert._cli import UsageError, show

_GROUPS = {"f": "float", "c": "complex", "i": "int", "b": "bool"}
_HEADINGS = ("operator", "kind", "reverse", "forward", "second", "vmap", "dtypes", "reason")


@dataclass(frozen=True)
class Row:
    """One operator's line in the table.

    `reverse`, `forward` and `second` tell whether the operator has reverse mode, forward mode and a second derivative;
    `raises`, that its backward raises an error, as in PyTorch; `forward_by`, whether the tangent has its own formula
    or is the transpose of the reverse formula; `vmap`, how the operator is batched, `None` if it is not.
    """

    name: str
    public: tuple[str, ...]
    kind: str
    reverse: bool
    raises: bool
    forward: bool
    forward_by: str | None
    second: bool
    vmap: str | None
    dtypes: tuple[str, ...]
    reason: str

    def cells(self) -> tuple[str, ...]:
        """The line's cells, as text."""
        yes = {True: "yes", False: "no"}
        modes = ("raises" if self.raises else yes[self.reverse], yes[self.forward], yes[self.second])
        return (self.name, self.kind, *modes, self.vmap or "no", " ".join(self.dtypes), self.reason)


def rows(asked: Iterable[str] | None = None, public: bool = False) -> list[Row]:
    """The operators behind these names, or all; those that no program calls directly come last, or are left out."""
    names: dict[int, list[str]] = {}
    for space, functions in PUBLIC.items():
        for name, fn in functions.items():
            names.setdefault(id(fn), []).append(f"{space}.{name}")
    infos = {info.name: info for name in asked or () for info in _named(name)} or REGISTRY
    table = [
        _row(infos[name], tuple(sorted(names.get(id(infos[name].op), []) + names.get(id(infos[name].method), []))))
        for name in sorted(infos)
    ]
    return sorted((row for row in table if row.public or not public), key=lambda row: not row.public)


def _named(name: str) -> list[Operator]:
    """The operators of a name or behind a public function; a function that only calls operators has none."""
    found = show.found(name)
    if found:
        return found
    last = name.rpartition(".")[2]
    if any(last in functions for functions in PUBLIC.values()):
        raise UsageError(f"{name} is made of operators and is none itself: python -m wengert show {name}")
    known = {*REGISTRY, *(word for functions in PUBLIC.values() for word in functions)}
    raise UsageError(f"there is no operator '{name}'{nearest(last, sorted(known))}")


def _row(info: Operator, public: tuple[str, ...]) -> Row:
    recorded = info.node is not None
    derived = recorded and info.no_derivative is None
    return Row(
        name=info.name,
        public=public,
        kind=info.kind,
        reverse=derived,
        raises=recorded and not derived,
        forward=derived,
        forward_by=None if not derived else "transpose" if info.jvp is None else "formula",
        second=derived,  # every formula runs on Tensors as well as on arrays
        vmap=_batching(info.batch),
        dtypes=tuple(_GROUPS[letter] for letter in info.dtypes),
        reason="; ".join(_reasons(info)),
    )


def _batching(rule: Any) -> str | None:
    """A batching rule as one word: the first entry of a tuple such as `("dim", ...)`, "rule" for a function."""
    if rule is None or isinstance(rule, str):
        return rule
    return str(rule[0]) if isinstance(rule, tuple) else "rule"


def _reasons(info: Operator) -> list[str]:
    """Why something is missing."""
    found = []
    if info.no_derivative is not None:
        found.append(
            info.no_derivative
            if info.no_derivative.startswith(("no ", "PyTorch "))
            else f"no derivative: {info.no_derivative}"
        )
    elif info.node is None:
        found.append("no derivative, and no reason is declared")
    else:
        found += _partly(info)
    if info.batch is None:
        found.append("no batching rule")
    return found


def _partly(info: Operator) -> list[str]:
    """The operands and outputs without derivative of a differentiable operator."""
    operands = [info.params[k] for k in info.underived if k < len(info.params)]
    outputs = [str(k) for k, flag in enumerate(info.differentiable) if not flag]
    found = [f"none with respect to {', '.join(operands)}"] if operands else []
    return found + ([f"none of output {', '.join(outputs)}"] if outputs else [])


def summary(table: list[Row]) -> dict[str, int]:
    """The number of operators with each feature."""
    return {
        "operators": len(table),
        "reverse": sum(row.reverse for row in table),
        "forward": sum(row.forward for row in table),
        "second": sum(row.second for row in table),
        "vmap": sum(row.vmap is not None for row in table),
        "vmap by a loop": sum(row.vmap == "loop" for row in table),
        "without a derivative": sum(not row.reverse for row in table),
        "without a reason": sum(not (row.reverse and row.vmap) and not row.reason for row in table),
        "public functions": sum(len(names) for space, names in PUBLIC.items() if space != "Tensor"),
        "methods": len(PUBLIC["Tensor"]),
    }


def text(table: list[Row]) -> str:
    """A table with its summary as the last line."""
    lines = [_HEADINGS, *(row.cells() for row in table)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS) - 1)]
    shown = ["  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() for line in lines]
    counts = summary(table)
    last = (
        f"{counts['operators']} operators: reverse mode {counts['reverse']}, forward mode {counts['forward']}, "
        f"second order {counts['second']}, vmap {counts['vmap']} ({counts['vmap by a loop']} by a loop); "
        f"{counts['without a derivative']} without a derivative, {counts['without a reason']} without a reason. "
        f"They make {counts['public functions']} public functions and {counts['methods']} methods."
    )
    return "\n".join([*shown, "", last])


def data(table: list[Row]) -> dict[str, Any]:
    """The same for `--json`."""
    return {"summary": summary(table), "operators": [asdict(row) for row in table]}
