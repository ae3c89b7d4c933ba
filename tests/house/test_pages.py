"""The pages of docs/ show what happens: on wengert, on torch where both do the same, and in both languages."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from wengert._cli import tour

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


RUN = load(ROOT / "tools" / "run_pages.py")
SHOWN = [pytest.param(path, id=path.relative_to(DOCS).as_posix()) for path in RUN.pages()]
LESSONS = sorted(path.name for path in (DOCS / "learn").glob("[0-9]*.md"))


@pytest.mark.parametrize("path", SHOWN)
def test_a_page_shows_what_is_printed(path: Path) -> None:
    found = RUN.differences(path)
    assert not found, "\n".join([*found, "python tools/run_pages.py --write puts today's output into the pages"])


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_right_on_torch(torch: ModuleType, name: str) -> None:
    assert RUN.differences(DOCS / "learn" / name, "torch") == []


def programs(path: Path) -> list[tuple[str, str]]:
    found = RUN.fences(path.read_text(encoding="utf-8"))
    return [(fence.info, fence.body) for fence in found if fence.info is not None]


@pytest.mark.parametrize("name", [*LESSONS, "../from-old-pytorch.md"])
def test_a_page_has_the_same_programs_in_both_languages(name: str) -> None:
    english, chinese = DOCS / "learn" / name, DOCS / "zh" / "learn" / name
    assert programs(english) == programs(chinese)
    headings = [len(re.findall(r"^##", path.read_text(encoding="utf-8"), re.MULTILINE)) for path in (english, chinese)]
    assert headings[0] == headings[1]


def test_the_command_that_builds_the_site() -> None:
    command = "`python -m pip install '.[docs]' && python -m sphinx docs site`"
    assert command in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def statements(source: str) -> list[str]:
    return [ast.unparse(statement) for statement in ast.parse(source).body]


def test_the_page_of_the_tour_has_its_lessons() -> None:
    text = (DOCS / "tour.md").read_text(encoding="utf-8")
    shown = []
    for fence in filter(RUN.is_run, RUN.fences(text)):
        examples = doctest.DocTestParser().get_examples(fence.body)
        shown += statements("".join(example.source for example in examples) or fence.body)
    for lesson in (*tour.LESSONS, tour.TRAINING):
        assert lesson.title in text
        assert " ".join(lesson.words.split()).partition(" (This graph")[0] in text.replace("`", "")
        code = re.sub(r"^ *bar\.show.*\n", "", dedent(lesson.code), flags=re.MULTILINE)
        assert [line for line in statements(code) if line not in shown] == []


def test_a_page_becomes_a_notebook() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        pages = importlib.import_module("_site.pages")
    finally:
        sys.path.remove(str(DOCS))
    page = """# Title
<!-- site
only there
-->
```pycon
>>> a = 1
>>> a
1
>>> b = 2
```

```python fails
1 / 0
```

```text
ZeroDivisionError
```

<!-- quoted: x.py f -->
```python
def f(): ...
```

[above](../CONTRIBUTING.md#layout-and-why), [beside](errors.md)
"""
    made = pages.as_notebook(page, DOCS)
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", made, re.DOTALL)
    assert cells == ["a = 1\na\n", "b = 2\n", ":tags: [raises-exception]\n\n1 / 0\n"]
    assert made.startswith("---\nfile_format: mystnb") and "\nonly there\n" in made and "-->\n```pycon" not in made
    assert "ZeroDivisionError" not in made and "```python\ndef f(): ..." in made
    assert "(contributing.md#layout-and-why)" in made and "(errors.md)" in made
    assert pages.as_notebook("no program", DOCS) == "no program"


LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """The names that links into a page may end with, as GitHub makes them from headings."""
    text = "".join(fence.body for fence in RUN.fences(path.read_text(encoding="utf-8")) if fence.info is None)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="(\w+)">', text))


@pytest.mark.parametrize(
    "path", [*DOCS.rglob("*.md"), *ROOT.glob("*.md")], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(path: Path) -> None:
    text = "".join(fence.body for fence in RUN.fences(path.read_text(encoding="utf-8")) if fence.info is None)
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", link) or link.startswith("//"):
            continue
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), link
        assert not anchor or there.suffix != ".md" or anchor in anchors(there), link
