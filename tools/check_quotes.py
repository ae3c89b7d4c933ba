"""Checks that the code quoted in documents is the code in the source.

    python tools/check_quotes.py           exit with 1, and say where, if a quotation is not in the source any more
    python tools/check_quotes.py --write   put the source in the place of quotations that leave nothing out

A quotation is a block of Python under a line that says where it is from:

    <!-- quoted: _tape/node.py Box -->

It names a file of the package and, unless the whole file is quoted, a function or class in it. A line `...` in the
block stands for omitted lines; the docstring may be omitted too. Every other line must be in the source, in the same
order and with the same indentation relative to the first line.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "wengert"
QUOTED = re.compile(r"<!-- quoted: (\S+)(?: ([\w.]+))? -->\n```python\n(.*?)```", re.DOTALL)


def source_of(file: str, name: str | None) -> str:
    """The text of a function or class (``Tensor.backward`` for a method) without its docstring, or of a whole file."""
    text = (PACKAGE / file).read_text(encoding="utf-8")
    if name is None:
        return text
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        named = [n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == part]
        if not named:
            raise LookupError(f"{file} has no {name}")
        node = named[0]
    lines = text.splitlines(keepends=True)
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    doc = node.body[0] if ast.get_docstring(node) is not None else None
    without = range(doc.lineno, (doc.end_lineno or 0) + 1) if doc is not None else range(0)
    return dedent("".join(lines[i - 1] for i in range(first, (node.end_lineno or 0) + 1) if i not in without))


def missing_line(quoted: str, source: str) -> str | None:
    """The first line of a quotation that the source does not have where it should be; ``None`` if all are there."""
    lines = source.splitlines()
    at, may_skip = 0, True  # a quotation may begin anywhere
    for line in quoted.splitlines():
        if line.strip() in ("...", ""):
            may_skip = may_skip or line.strip() == "..."
            continue
        end = len(lines) if may_skip else at + 1
        while at < len(lines) and not lines[at].strip():
            at, end = at + 1, end + 1
        found = next((i for i in range(at, min(end, len(lines))) if lines[i].rstrip() == line.rstrip()), None)
        if found is None:
            return line
        at, may_skip = found + 1, False
    return None


def main(arguments: list[str]) -> int:
    """Check every document, and print a line for each wrong quotation."""
    wrong = total = 0
    for path in sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))):
        text = path.read_text(encoding="utf-8")
        changed = text
        for match in QUOTED.finditer(text):
            file, name, quoted = match.groups()
            total += 1
            try:
                source = source_of(file, name)
            except (LookupError, FileNotFoundError) as error:
                print(f"{path.relative_to(ROOT)}: {error}")
                wrong += 1
                continue
            line = missing_line(quoted, source)
            if line is None:
                continue
            if "--write" in arguments and name and not re.search(r"^\s*\.\.\.$", quoted, re.MULTILINE):
                changed = changed.replace(match.group(0), match.group(0).replace(quoted, source))
                continue
            print(f"{path.relative_to(ROOT)}: {file} {name or ''}: not in the source: {line}")
            wrong += 1
        if changed != text:
            path.write_text(changed, encoding="utf-8")
    print(f"{total - wrong} of {total} quotations are in the source", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
