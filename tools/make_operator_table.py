"""Writes docs/operators.md: which of PyTorch's names wengert has.

    python tools/make_operator_table.py                   write it
    python tools/make_operator_table.py --check           exit with 1 if it is not what would be written
    python tools/make_operator_table.py --usage FILE.md   take the names that programs use, by group, from there

Without `--usage` the tool takes these names from the document and looks them up again. Everything else comes from the
package, except the names that are left out and the reasons, which are written in this file.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

import wengert  # noqa: E402
from wengert._cli import operators  # noqa: E402

DOCUMENT = ROOT / "docs" / "operators.md"
BEGIN, END = "<!-- usage:begin -->", "<!-- usage:end -->"
GROUPS = ("first 80 % of uses", "to 95 %", "to 99 %")

ABSENT = {
    "Quantised tensors (`quantize_per_tensor`, `qint8`, `nn.quantized`)": (
        "They serve the speed of integer kernels, which NumPy does not have. The dtypes are named and can be "
        "compared; no tensor has one."
    ),
    "Nested tensors (`nested_tensor`, layout `jagged`)": ("A tensor is one array with strides. Pad, or keep a list."),
    "Sparse layouts of blocks (`sparse_bsr`, `sparse_bsc`)": (
        "Formats of kernels for accelerators; `sparse_csr` holds the same elements. `to_sparse_bsr` and "
        "`to_sparse_bsc` convert to them, and little else runs on them."
    ),
    "Other devices (`mps`, `xpu`, streams, events, graphs)": (
        "NumPy computes on the CPU. `device` objects of every type can be made and compared."
    ),
    "Kernels by a library's name (`cudnn_convolution`, `miopen_...`, `mkldnn_...`, `_fused_...`)": (
        "They are one device's implementations of operators that have a public name."
    ),
    "TorchScript, `torch.export`, operators in C++": (
        "They take programs apart for a compiler. wengert leaves programs to Python."
    ),
    "Named tensors (`names=`, `refine_names`)": ("They are a prototype in PyTorch, never finished."),
}


def public_modules() -> dict[str, types.ModuleType]:
    """The modules whose names users import, by PyTorch's name for them; `torch` first."""
    found = {"torch": wengert}
    for entry in pkgutil.walk_packages(wengert.__path__, "wengert."):
        name = entry.name.removeprefix("wengert.")
        private = any(part.startswith("_") for part in name.split("."))
        if private or name.startswith(("ops", "utils.tensorboard")):  # tensorboard needs its extra
            continue
        module = importlib.import_module(entry.name)
        if getattr(module, "__all__", None) and not is_repeated(module, found):
            found[f"torch.{name}"] = module
    return found


def is_repeated(module: types.ModuleType, found: dict[str, types.ModuleType]) -> bool:
    """Whether a module that contains this one has all its names, as `nn` has those of `nn.modules`."""
    above = [m for m in found.values() if m is not wengert and module.__name__.startswith(f"{m.__name__}.")]
    return any(all(getattr(m, n, None) is getattr(module, n) for n in module.__all__) for m in above)


def home_of(name: str) -> list[str]:
    """The place of a name: `torch.NAME`, `Tensor.NAME`, or its in-place form where PyTorch has no other."""
    places = []
    for candidate in (name, f"{name}_"):
        owner: object = wengert
        *path, last = candidate.split(".")
        try:
            for part in path:
                owner = getattr(owner, part)
        except AttributeError:
            return []
        if hasattr(owner, last):
            places.append(f"torch.{candidate}")
        if not path and hasattr(wengert.Tensor, last):
            places.append(f"Tensor.{candidate}")
        if places:
            break
    return places


def groups_of(text: str) -> dict[str, list[str]]:
    """The names by group, from a list of uses (`**group** (n): `a`, `b`, ...`)."""
    found = {}
    for group in GROUPS:
        line = re.search(rf"^\*\*{re.escape(group)}\*\*.*?:(.*)$", text, flags=re.MULTILINE)
        if line is None:
            raise SystemExit(f"there is no line for the group {group!r}")
        found[group] = re.findall(r"`([^`]+)`", line.group(1))
    return found


def groups_in_document() -> dict[str, list[str]]:
    """The names by group, from the document's own tables."""
    _, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    if not begin:
        raise SystemExit(f"{DOCUMENT} has no names yet: give them with --usage")
    found: dict[str, list[str]] = {}
    for section in rest.partition(END)[0].split("\n### ")[1:]:
        group = next(g for g in GROUPS if section.lower().startswith(g))
        found[group] = re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE)
    return found


def usage_section(groups: dict[str, list[str]]) -> str:
    """A table for each group of names: whether wengert has the name, and under which path."""
    parts = []
    for group, names in groups.items():
        homes = {name: home_of(name) for name in names}
        lacking = [f"`{name}`" for name, places in homes.items() if not places]
        count = f"{len(names) - len(lacking)} of {len(names)} are here"
        parts.append(f"### {group.capitalize()}\n\n{count}{'; missing: ' + ', '.join(lacking) if lacking else ''}.\n")
        parts.append("| name | here | as |\n|---|---|---|")
        for name, places in homes.items():
            parts.append(f"| `{name}` | {'yes' if places else '**no**'} | {', '.join(f'`{p}`' for p in places)} |")
        parts.append("")
    return "\n".join(parts)


def names_section() -> str:
    """Every public name, by module."""
    parts = []
    for name, module in public_modules().items():
        listed = sorted(n for n in module.__all__ if not isinstance(getattr(module, n, None), types.ModuleType))
        if listed:
            parts.append(f"### `{name}` ({len(listed)})\n\n{', '.join(f'`{n}`' for n in listed)}\n")
    methods = sorted(n for n in dir(wengert.Tensor) if not n.startswith("_"))
    parts.insert(1, f"### `torch.Tensor` ({len(methods)})\n\n{', '.join(f'`{n}`' for n in methods)}\n")
    return "\n".join(parts)


def derivatives_section() -> str:
    """The numbers of operators with a derivative and a batching rule, and the operators that have no derivative."""
    table = operators.rows()
    counts = operators.summary(table)
    reasons: dict[str, list[str]] = {}
    for row in table:
        if not row.reverse:
            reasons.setdefault(row.reason, []).append(f"`{row.name}`")
    lines = "\n".join(f"- {reason}: {', '.join(names)}" for reason, names in sorted(reasons.items()))
    return (
        f"The public names are made of {counts['operators']} operators, each declared once. {counts['reverse']} have a "
        f"derivative, and so forward mode and derivatives of every order; {counts['vmap']} have a batching rule "
        f"({counts['vmap by a loop']} of them a loop). `python -m wengert info --ops` prints the whole table.\n\n"
        f"These operators have no derivative, for the reason given:\n\n{lines}\n"
    )


def absent_section() -> str:
    """The table of what is left out, with reasons."""
    return "\n".join(["| left out | reason |", "|---|---|", *(f"| {what} | {why} |" for what, why in ABSENT.items())])


def document(groups: dict[str, list[str]]) -> str:
    """The whole text."""
    return f"""\
# Operators

<!-- Made by tools/make_operator_table.py; do not edit. -->

This page lists the names of PyTorch that wengert has. A missing name raises an `AttributeError` that says so.

## The names that programs use most

The names are grouped by their share of all uses in 36 public PyTorch libraries.

{BEGIN}

{usage_section(groups)}
{END}

## Derivatives

{derivatives_section()}
## Left out, and why

{absent_section()}

## All names, by module

{names_section()}"""


def main() -> int:
    """Write the document, or compare it with the file."""
    parser = argparse.ArgumentParser(description="Writes docs/operators.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if it is not up to date")
    parser.add_argument("--usage", type=Path, metavar="FILE.md", help="the names that programs use, by group")
    options = parser.parse_args()
    groups = groups_of(options.usage.read_text(encoding="utf-8")) if options.usage else groups_in_document()
    wanted = document(groups)
    if options.check:
        current = DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == wanted
        if not current:
            print("docs/operators.md is not up to date: run python tools/make_operator_table.py", file=sys.stderr)
        return int(not current)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    print(DOCUMENT.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
