"""The programs in README.md and docs/errors.md do what the text says, on wengert and, where it is installed, on torch.

docs/errors.md marks its blocks: `python fails` must raise what the `text says` block beside it begins with (the n-th
says belongs to the n-th fails of a section), `python works` must run. README.md's ```python blocks with `>>>` are one
doctest session; those without are programs. Its error, its picture and its figures are held by tests of their own.

Nothing here runs on a source distribution without the documents, or from an installed package alone: tests come with a
checkout, and so do they.
"""

from __future__ import annotations

import doctest
import importlib.util
import linecache
import os
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wengert

ROOT = Path(__file__).resolve().parents[2]
ERRORS = ROOT / "docs" / "errors.md"
README = ROOT / "README.md"
IMPORT = "import wengert as torch"


@dataclass(frozen=True)
class Block:
    section: str
    info: str
    line: int
    text: str


def blocks_of(path: Path) -> list[Block]:
    """The fenced blocks of a Markdown file, each with the second-level heading that it stands under."""
    section, info, start, held = "", None, 0, []
    blocks = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if info is None and line.startswith("## "):
            section = line[3:]
        elif info is None and line.startswith("```"):
            info, start, held = line[3:].strip(), number, []
        elif info is not None and line.startswith("```"):
            blocks.append(Block(section, info, start, "\n".join(held) + "\n"))
            info = None
        else:
            held.append(line)
    assert info is None, f"{path.name}: the block that begins in line {start} does not end"
    return blocks


def run(block: Block, library: ModuleType, path: Path) -> None:
    """Runs a program as its reader would, with warnings as errors and `torch` being `library`."""
    source = block.text if library is wengert else block.text.replace(IMPORT, "import torch")
    program = compile("\n" * block.line + source, str(path), "exec")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(program, {"__name__": "__main__"})


ERROR_BLOCKS = blocks_of(ERRORS)
CODES = [f"W{number:03}" for number in range(1, 24)]


def in_section(code: str, info: str) -> list[Block]:
    return [block for block in ERROR_BLOCKS if block.section.startswith(code) and block.info == info]


FAILING = [
    pytest.param(code, fails, says.text.strip(), id=f"{code}-line{fails.line}")
    for code in CODES
    for fails, says in zip(in_section(code, "python fails"), in_section(code, "text says"), strict=True)
]
WORKING = [
    pytest.param(block, id=f"{code}-line{block.line}") for code in CODES for block in in_section(code, "python works")
]


def failure_of(block: Block, library: ModuleType) -> BaseException:
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError, AttributeError, UserWarning)) as caught:
        run(block, library, ERRORS)
    return caught.value


@pytest.mark.parametrize(("code", "block", "says"), FAILING)
def test_failing_program(code: str, block: Block, says: str) -> None:
    error = failure_of(block, wengert)
    assert f"{type(error).__name__}: {error}".startswith(says)
    told = "\n".join([str(error), *getattr(error, "__notes__", ())])
    assert code in told, f"neither the message nor a note names {code}:\n{told}"


@pytest.mark.parametrize("block", WORKING)
def test_mended_program(block: Block) -> None:
    run(block, wengert, ERRORS)


@pytest.mark.parametrize(("code", "block", "says"), FAILING)
def test_failing_program_on_torch(torch: ModuleType, code: str, block: Block, says: str) -> None:
    error = failure_of(block, torch)
    assert f"{type(error).__name__}: {error}".startswith(says), code


@pytest.mark.parametrize("block", WORKING)
def test_mended_program_on_torch(torch: ModuleType, block: Block) -> None:
    run(block, torch, ERRORS)


def test_every_code_has_its_section() -> None:
    text = ERRORS.read_text(encoding="utf-8")
    assert re.findall(r"^## (W\d{3}) ", text, flags=re.MULTILINE) == CODES
    for code in CODES:
        assert f'<a id="{code}"></a>\n## {code} ' in text, "the table's links need the anchor"
        assert in_section(code, "python fails"), code
        assert in_section(code, "python works"), code
    known = {"python fails", "python works", "text says"}
    assert {block.info for block in ERROR_BLOCKS} == known, "a block that no test runs"


def test_every_program_stands_alone() -> None:
    for block in ERROR_BLOCKS:
        if block.info.startswith("python"):
            assert block.text.startswith(f"{IMPORT}\n"), f"docs/errors.md, line {block.line}"


def test_readme_session() -> None:
    """The `>>>` blocks of the README, run as one session from top to bottom."""
    scope: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    blocks = [block for block in blocks_of(README) if block.info == "python" and ">>>" in block.text]
    assert blocks
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block.text, scope, "README.md", str(README), block.line)
        output: list[str] = []
        runner.run(test, out=output.append, clear_globs=False)
        assert not output, "".join(output)
        scope = test.globs


def test_readme_programs() -> None:
    for block in blocks_of(README):
        if block.info == "python" and ">>>" not in block.text:
            run(block, wengert, README)


def _as_train_py(block: Block) -> tuple[dict[str, Any], list[str]]:
    """What a program leaves behind if it is the file train.py, and the lines of its error, if it has one."""
    lines = block.text.splitlines(keepends=True)
    linecache.cache["train.py"] = (len(block.text), None, lines, "train.py")
    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(block.text, "train.py", "exec", dont_inherit=True), scope)
    except RuntimeError as error:
        return scope, "\n".join([f"RuntimeError: {error}", *error.__notes__]).splitlines()
    finally:
        del linecache.cache["train.py"]
    return scope, []


def test_readme_error() -> None:
    """Each line of the error in the README is one of its program's; ``...`` stands for the rest of a line."""
    (program,) = (block for block in blocks_of(README) if block.info == "python fails")
    (shown,) = (block for block in blocks_of(README) if block.info == "text")
    _, told = _as_train_py(program)
    for line in shown.text.splitlines():
        begin = line.strip().removesuffix("...")
        assert any(one.strip().startswith(begin) if "..." in line else one.strip() == begin for one in told), line


def test_readme_picture(tmp_path: Path) -> None:
    """docs/graph.svg is what the README's first program draws; `WENGERT_DRAW=1` draws it anew."""
    scope, _ = _as_train_py(next(block for block in blocks_of(README) if block.info == "python"))
    made, kept = tmp_path / "graph.svg", ROOT / "docs" / "graph.svg"
    scope["picture"].save(str(made))
    if os.environ.get("WENGERT_DRAW"):
        kept.write_bytes(made.read_bytes())
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    assert "docs/graph.svg" in README.read_text(encoding="utf-8")


def _row(name: str) -> list[str]:
    """The cells of the row of this name in docs/benchmarks.md."""
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    return _cells(text, name)


def _cells(text: str, name: str) -> list[str]:
    return [cell.strip() for cell in re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", text, re.MULTILINE)[0].split("|")]


@pytest.mark.parametrize(
    ("claim", "row", "cell", "of_torch"),
    [
        ("100 multiplications, forward and backward, time for each", "chain of 100 mul, forward and backward", 2, (0,)),
        ("one SGD step of a small network (64-32-10, batch 1)", "MLP 64-32-10, batch 1, SGD step", 2, (0,)),
        ("`import`", "wengert", 1, ("torch", 0)),
        ("on disk, with all that it requires", "wengert", 3, ("torch", 3)),
    ],
)
def test_readme_figures_are_those_of_the_benchmarks(claim: str, row: str, cell: int, of_torch: Any) -> None:
    """The README's own and PyTorch's figure, to a tenth: a run on another day differs by as much."""
    ours, torchs = _cells(README.read_text(encoding="utf-8"), claim)
    theirs = _row(row)[of_torch[0]] if len(of_torch) == 1 else _row(of_torch[0])[of_torch[1]]

    def number(text: str) -> float:
        return float(re.findall(r"[\d.]+", text)[0])

    assert abs(number(ours) - number(_row(row)[cell])) <= 0.1 * max(1, number(ours))
    assert number(torchs) == pytest.approx(number(theirs), rel=0.1) and torchs.split()[-1] == theirs.split()[-1]


def test_the_package_is_no_larger_than_the_readme_says() -> None:
    """The bytes of the package's own files, byte code left out; NumPy's and SciPy's are those of docs/benchmarks.md."""
    folder = Path(wengert.__file__).parent
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    found = re.search(r"Of the (\d+) MB, SciPy takes (\d+) and NumPy (\d+);.*it is (\d+) MB", README.read_text("utf-8"))
    assert found is not None
    whole, scipy, numpy, without = map(int, found.groups())
    assert size < (without - numpy) * 1e6 and whole == scipy + without
    measured = {name: [float(cell.split()[0]) for cell in _row(name)[2:]] for name in ("NumPy", "wengert")}
    assert [numpy, whole] == pytest.approx([measured["NumPy"][1], measured["wengert"][1]], rel=0.1)
    assert scipy == pytest.approx(measured["wengert"][1] - measured["wengert"][0] - measured["NumPy"][0], rel=0.1)


def test_readme_commands() -> None:
    """The two commands stand as whole lines: .ci/run takes them from here, and so do readers."""
    lines = README.read_text(encoding="utf-8").splitlines()
    assert "python -m pip install . && python -m wengert tour" in lines
    assert "python -m pip install '.[test]' && python -m pytest -n 2" in lines


def test_version_is_in_one_place() -> None:
    version = wengert.version.wengert
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert f'"{version}"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project.optional", 1)[0]
    assert sys.modules["wengert._version"].__version__ is version
    assert wengert.__version__.endswith(f"+wengert.{version}")


def _check_quotes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_quotes", ROOT / "tools" / "check_quotes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_quotations_are_in_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert _check_quotes().main([]) == 0, capsys.readouterr().out
    assert int(capsys.readouterr().err.split()[0]) >= 5


@pytest.mark.parametrize(
    ("quoted", "missing"),
    [
        ("a = 1\nb = 2\n", None),
        ("    c = 3\n", None),
        ("a = 1\n...\n    c = 3\n", None),
        ("a = 1\n    c = 3\n", "    c = 3"),
        ("b = 2\n...\na = 1\n", "a = 1"),
        ("c = 3\n", "c = 3"),
    ],
)
def test_a_quotation_is_wrong_once_the_code_moves(quoted: str, missing: str | None) -> None:
    assert _check_quotes().missing_line(quoted, "a = 1\n\nb = 2\nif a:\n    c = 3\n") == missing


def test_how_it_works_session() -> None:
    page = ROOT / "docs" / "how-it-works.md"
    session = "".join(block.text for block in blocks_of(page) if block.info == "pycon")
    parsed = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed)
    assert results.failed == 0 and results.attempted >= 5
