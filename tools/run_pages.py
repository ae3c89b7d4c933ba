"""Run the sessions and programs of Markdown pages and compare what they print with what the pages show.

`python tools/run_pages.py` goes through the pages of docs/ that are read from top to bottom as one program;
`--write` puts the output of today into them. A block of Python counts as it does on the site (docs/_site/pages.py):

- `pycon`: a session, with the output below each statement;
- `python`: a program; a `text` block right after it shows what it prints;
- `python fails`: a program that ends with an error, which the `text` block after it shows with its notes.

The names of a page's blocks are shared, as in a notebook. `...` in an output stands for anything.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import linecache
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_site"))

from fences import fences, is_run  # type: ignore[import-not-found]  # noqa: E402

FOLDERS = ("docs/learn", "docs/zh")
SINGLE = ("docs/index.md", "docs/tour.md", "docs/from-old-pytorch.md", "docs/explain.md")
_ADDRESS = re.compile(r"0x[0-9a-f]{4,}")
_MARKS = re.compile(r"^ +\^+\n", re.MULTILINE)
PROGRAM = "train.py"  # what the page's statements are called in tracebacks and notes


def pages() -> list[Path]:
    """The pages whose output is compared."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    return found + [ROOT / name for name in SINGLE]


class Reader:
    """A page's program as far as it has run: its names and its lines.

    `imports` is the library that the page runs on: its programs import `wengert`, and torch is put in its place where
    the two are compared.
    """

    def __init__(self, library: str = "wengert") -> None:
        self.library = library
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.lines: list[str] = []

    def run(self, source: str, mode: str) -> str:
        """What the statements print, a final error with its notes included."""
        if self.library != "wengert":
            source = source.replace("import wengert as torch", "import torch").replace("from wengert", "from torch")
        begin = len(self.lines)
        self.lines += source.splitlines(keepends=True)
        linecache.cache[PROGRAM] = (sum(map(len, self.lines)), None, self.lines, PROGRAM)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile("\n" * begin + source, PROGRAM, mode), self.names)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what the page shows
                out.write("Traceback (most recent call last):\n  ...\n")
                out.write("".join(traceback.format_exception_only(error)))
        return out.getvalue()

    def session(self, body: str) -> Iterator[tuple[doctest.Example, str]]:
        """Each statement of a session with what it prints."""
        for example in doctest.DocTestParser().get_examples(body):
            yield example, self.run(example.source, "single")


def same(want: str, got: str) -> bool:
    """Whether an output is the one that is written; the marks below a line of an error may differ."""
    want, got = _MARKS.sub("", want), _MARKS.sub("", got)
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1)


def differences(path: Path, library: str = "wengert") -> list[str]:
    """What a page shows and does not happen. Blocks marked `wengert` are left out on another library."""
    reader = Reader(library)
    found: list[str] = []
    program = ""
    for fence in fences(path.read_text(encoding="utf-8")):
        if fence.info is None:
            program = program if not fence.body.strip() else ""
        elif is_run(fence):
            if library != "wengert" and "wengert" in fence.info.split():
                continue
            if ">>> " in fence.body:
                pairs = [(e.source, e.want, got) for e, got in reader.session(fence.body)]
                found += [_told(path, *pair) for pair in pairs if not same(pair[1], pair[2])]
                continue
            got = reader.run(fence.body, "exec")
            program = got or "nothing\n"
            if ("fails" in fence.info.split()) != got.startswith("Traceback") and "Traceback" in got + fence.info:
                found.append(_told(path, fence.body, "an error" if "fails" in fence.info else "", got))
        elif program:
            if fence.info == "text" and library == "wengert" and not same(fence.body, program):
                found.append(_told(path, "the program above", fence.body, program))
            program = ""
    return found


def _told(path: Path, source: str, want: str, got: str) -> str:
    return f"{path.name}: {source.rstrip()}\n  is written:\n{want}  is printed:\n{got}"


def written(text: str) -> str:
    """A page with the outputs of today."""
    reader = Reader()
    parts: list[str] = []
    program = ""
    for fence in fences(text):
        body = fence.body
        if fence.info is None:
            parts.append(body)
            program = program if not body.strip() else ""
            continue
        if is_run(fence) and ">>> " in body:
            body = "".join(_shown(reader.session(body)))
        elif is_run(fence):
            program = _ADDRESS.sub("0x...", reader.run(body, "exec"))
            parts.append(f"```{fence.info}\n{body}```\n")
            continue
        elif program and fence.info == "text":
            body = program
        program = ""
        parts.append(f"```{fence.info}\n{body}```\n")
    return "".join(parts)


def _shown(pairs: Iterable[tuple[doctest.Example, str]]) -> Iterator[str]:
    for example, got in pairs:
        first, *rest = example.source.splitlines()
        yield f">>> {first}\n"
        yield from (f"... {line}".rstrip() + "\n" for line in rest)
        yield example.want if example.want and same(example.want, got) else _steady(got)


def _steady(got: str) -> str:
    """A session's output without what differs from run to run; an empty line would end it."""
    return re.sub(r"^\n", "<BLANKLINE>\n", _ADDRESS.sub("0x...", got), flags=re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Run the pages; 1 if one shows what does not happen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="pages (default: all)")
    parser.add_argument("--write", action="store_true", help="put the output of today into the pages")
    options = parser.parse_args(arguments)
    found: list[str] = []
    for path in options.pages or pages():
        if options.write:
            path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
        found += differences(path)
    for difference in found:
        print(difference)
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
