"""The rules that write operators in C, by name: ``rule(program, op, operands, results)`` gives pieces, or None."""

from __future__ import annotations

from typing import Any

from . import attention, indexing, norms, products, recurrent, rows, windows

RULES: dict[str, Any] = {
    **attention.RULES, **products.RULES, **rows.RULES, **windows.RULES, **indexing.RULES, **norms.RULES,
    **recurrent.RULES,
}  # fmt: skip
