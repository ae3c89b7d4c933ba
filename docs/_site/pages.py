"""Markdown pages as notebooks: what GitHub shows as blocks of Python is run when the site is built.

A page needs nothing that GitHub would not show well. What is done to it here:

- `pycon` blocks (a session with `>>>`) and `python` blocks become cells. What a page has written as their output is
  left out, since the cells print it; `tools/run_pages.py` holds what is written to what is printed. A block after
  `<!-- quoted: ... -->` or `<!-- not run -->` stays as it is.
- What stands between `<!-- site` and `-->` is for the site alone: the table of contents, for example.
- `<!-- instead: ../CONTRIBUTING.md -->` takes the text of that file in place of the page's.
- `<!-- example: vae --epochs 5 -->` shows the program examples/vae.py, what it prints and the picture that it draws.
- Links to files that are outside of this folder lead to the pages that hold them.
- Mermaid's flowcharts, which GitHub draws, are drawn by `wengert.explain.svg`.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from wengert.explain import svg

from . import api
from .fences import Fence, fences, is_run

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_DOCS = Path(__file__).parents[1]
_HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
_INSTEAD = re.compile(r"^<!-- instead: (\S+) -->$", re.MULTILINE)
_SITE_ONLY = re.compile(r"^<!-- site\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()([\w./-]+)(#[\w-]+)?(?=\))")
_EXAMPLE = re.compile(r"^<!-- example: (\w+)(.*) -->$", re.MULTILINE)
_ANCHOR = re.compile(r'^<a id="(\w+)"></a>$', re.MULTILINE)

# Files outside of docs/ and the pages that hold them; what is not named here links to the source.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
    "examples": "examples.md",
}


def as_notebook(text: str, folder: Path) -> str:
    """The page as Sphinx is to read it; `folder` is the one that its links start from."""
    if found := _INSTEAD.search(text):
        path = (folder / found[1]).resolve()
        text = "".join(_still(fence) for fence in fences(path.read_text(encoding="utf-8")))
        return _linked(text, path.parent, folder)
    text = _ANCHOR.sub(r"\g<0>\n(\1)=", text)  # MyST wants its own targets for links inside of a page
    text = _EXAMPLE.sub(_example, text)
    text = _linked(api.expanded(_SITE_ONLY.sub(r"\1", text)), folder, folder)
    body = "".join(_cells(text))
    return _HEAD + body if "{code-cell}" in body else body


def _linked(text: str, base: Path, folder: Path) -> str:
    root = _DOCS.parent

    def target(found: re.Match[str]) -> str:
        path = (base / found[1]).resolve()
        if not path.exists() or (base == folder and _DOCS in path.parents):
            return found[0]
        inside = path.relative_to(root).as_posix()
        inside = PAGES.get(inside, inside.removeprefix("docs/") if inside.startswith("docs/") else f"../{inside}")
        up = "../" * len(folder.relative_to(_DOCS).parts)
        return f"{up}{inside}{found[2] or ''}"

    return _LINK.sub(target, text)


def _example(found: re.Match[str]) -> str:
    folder, name = _DOCS.parent / "examples", found[1]
    run = [
        "import runpy, sys",
        "from IPython.display import SVG",
        f"sys.path.insert(0, {str(folder)!r})",
        f"sys.argv = {[name + '.py', *found[2].split()]!r}",
        f"_ = runpy.run_path({str(folder / name)!r} + '.py', run_name='__main__')",
        f"SVG(filename={name + '.svg'!r})",
    ]
    cell = "```{code-cell} ipython3\n:tags: [remove-input]\n\n" + "\n".join(run) + "\n```\n"
    return f"{cell}\n```{{literalinclude}} /../examples/{name}.py\n:language: python\n```\n"


def _cells(text: str) -> Iterator[str]:
    after_program = False
    for fence in fences(text):
        if fence.info is None:
            after_program = after_program and not fence.body.strip()
            yield fence.body
        elif is_run(fence) and ">>> " in fence.body:
            yield from _session(fence.body)
        elif is_run(fence):
            yield _cell(fence.body, fails="fails" in fence.info.split())
            after_program = True
            continue
        elif not (after_program and fence.info == "text"):  # which is the program's output, as GitHub shows it
            yield _still(fence)
        if fence.info is not None:
            after_program = False


def _still(fence: Fence) -> str:
    """A part that is not run."""
    if fence.info is None:
        return fence.body
    return _drawn(fence.body) if fence.info == "mermaid" else f"```{fence.info}\n{fence.body}```\n"


def _session(body: str) -> Iterator[str]:
    """The statements of a session, one cell for each that prints."""
    held = ""
    for example in doctest.DocTestParser().get_examples(body):
        held += example.source
        if example.want:
            yield _cell(held, fails=example.exc_msg is not None)
            held = ""
        elif example.source.splitlines()[-1].startswith(" "):
            held += "\n"  # after a block, as programs are written
    if held:
        yield _cell(held.rstrip() + "\n")


def _cell(code: str, fails: bool = False) -> str:
    options = ":tags: [raises-exception]\n\n" if fails else ""
    last = code.rstrip().rpartition("\n")[2]
    if last.startswith("explain.graph"):  # what is read to people who do not see the picture
        options = f"---\nmystnb:\n  image:\n    alt: {json.dumps(f'What {last} draws')}\n---\n"
    return f"```{{code-cell}} ipython3\n{options}{code}```\n\n"


def _drawn(body: str) -> str:
    """A flowchart as a picture: `a["text"] --> b["text"]`, one arrow or several in a line."""
    labels: dict[str, list[str]] = {}
    arrows: dict[str, list[str]] = {}
    for line in body.splitlines()[1:]:
        keys = []
        for part in line.split("-->"):
            for item in part.split(" & "):
                key, _, label = item.strip().partition("[")
                keys.append(key)
                if label or key not in labels:
                    words = label.rstrip("]").strip('"')
                    first, _, rest = words.partition(": ")
                    labels[key] = [w for w in (first or key, rest) if w]
        for above, below in pairwise(keys):
            arrows.setdefault(above, []).append(below)
    graph = {key: list(arrows.get(key, [])) for key in _in_order(labels, arrows)}
    picture = svg.draw(graph, labels, "", note="Arrows point to what a room stands on")
    return f'```{{raw}} html\n<div class="picture">{picture}</div>\n```\n'


def _in_order(labels: dict[str, list[str]], arrows: dict[str, list[str]]) -> list[str]:
    """A topological order."""
    order: list[str] = []

    def visit(key: str) -> None:
        if key not in order:
            for child in arrows.get(key, ()):
                visit(child)
            order.append(key)

    for key in labels:
        visit(key)
    return order[::-1]


def _with_all_pages(text: str) -> str:
    """The first page's table of contents; `others` stands for the pages that it does not name."""
    others = sorted(path.stem for path in _DOCS.glob("*.md") if f"\n{path.stem}\n" not in text and path.stem != "index")
    return text.replace("\nothers\n", "\n" + "".join(f"{name}\n" for name in others))


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if docname == "index":
        source[0] = _with_all_pages(source[0])
    source[0] = as_notebook(source[0], path.parent) if path.suffix == ".md" else source[0]


def connect(app: Sphinx) -> None:
    """Let Sphinx read pages through `as_notebook`."""
    app.connect("source-read", _read)
