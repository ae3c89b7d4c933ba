"""The pages of `explain.steps` and `explain.graph` in a real browser: keys, buttons, search, histograms, layout.

With WENGERT_SCREENSHOTS=FOLDER the tests leave pictures there, to be looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, executable

import wengert as torch
from wengert import explain

PROGRAM = executable()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome is installed (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM) as running:
        yield running


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    """A network's backward pass, opened in a wide, light window."""
    torch.manual_seed(0)
    inputs = torch.randn(64, 3)
    weight = torch.randn(3, 8).requires_grad_()
    bias = torch.zeros(8, requires_grad=True)
    hidden = torch.tanh(inputs @ weight + bias)
    loss = hidden.pow(2).mean()
    bias.grad = torch.ones(8)
    explain.steps(loss).save(tmp_path / "steps.html")
    browser.window(1200, 800)
    browser.requests.clear()
    browser.complaints.clear()
    browser.open(tmp_path / "steps.html")
    yield browser
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []


def shoot(browser: Browser, name: str) -> None:
    if folder := os.environ.get("WENGERT_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.picture(Path(folder) / f"{name}.png")


def step(page: Browser) -> int:
    words = page.text("#where").split()
    assert words[0] == "step" and words[2] == "of"
    return int(words[1])


def last(page: Browser) -> int:
    return int(page.text("#where").split()[3].rstrip("."))


def test_keys_and_buttons_go_through_the_steps(page: Browser) -> None:
    assert step(page) == 1 and page.text("#name") == "Mm"
    page.key("ArrowRight")
    assert step(page) == 2 and page.text("#name") == "Add"
    page.click("#next")
    page.click("#next")
    assert step(page) == 4
    page.click("#back")
    page.key("ArrowLeft")
    assert step(page) == 2
    page.key("End")
    assert step(page) == last(page) and page.value("document.getElementById('next').disabled")
    page.key("ArrowRight")
    assert step(page) == last(page)
    page.key("Home")
    assert step(page) == 1 and page.value("document.getElementById('back').disabled")


def test_a_step_shows_its_line_its_box_and_its_arrows(page: Browser) -> None:
    while page.text("#name") != "AddBackward0":
        page.key("ArrowRight")
    assert page.text("#source .on").split(maxsplit=1)[1] == "hidden = torch.tanh(inputs @ weight + bias)"
    assert page.text("#picture .now").split()[0] == "AddBackward0"
    assert page.value("document.querySelectorAll('#picture .flow').length") == 2
    fill = "getComputedStyle(document.querySelector('#picture .now rect')).fill"
    others = "getComputedStyle(document.querySelector('#picture g[id^=n]:not(.now):not(.done) rect')).fill"
    assert page.value(fill) != page.value(others)
    assert page.value("document.querySelector('details').open") is False
    page.click("summary")
    assert "def add" in page.text("#formula")
    shoot(page, "steps-backward")


def test_search_finds_an_operation_and_arrows_stay_in_the_field(page: Browser) -> None:
    page.click("#search")
    for character in "tanhb":
        page.key(character)
    assert page.value("document.getElementById('search').value") == "tanhb"
    assert page.text("#name") == "TanhBackward0"
    found = step(page)
    page.key("ArrowLeft")
    assert step(page) == found


def test_large_tensors_are_histograms(page: Browser) -> None:
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert page.text("#name") == "Tanh"
    heights = page.value("[...document.querySelectorAll('.bars b')].map(bar => bar.getBoundingClientRect().height)")
    assert len(heights) == 32 and max(heights) > 30 and min(heights) >= 1
    counts = page.value("[...document.querySelectorAll('.bars b')].map(bar => Number(bar.title))")
    assert sum(counts) == 64 * 8
    assert heights.index(max(heights)) == counts.index(max(counts))
    assert page.text("#rows").startswith("saved result")
    shoot(page, "steps-histogram")


def test_a_leaf_shows_what_is_added(page: Browser) -> None:
    boxes = "[...document.querySelectorAll('#picture g[id^=n]')]"
    number = page.value(f"{boxes}.findIndex(box => box.textContent.trim().startsWith('bias'))")
    page.click(f"#n{number}")
    assert page.text("#name") == "bias"
    rows = dict(row.split("\t") for row in page.text("#rows").splitlines())
    assert list(rows) == ["value", ".grad before", "arrives", ".grad after"]
    before, arrives, after = (
        [float(number) for number in rows[name].partition("]")[0].strip("[ ").split(",")] for name in list(rows)[1:]
    )
    assert before == [1.0] * 8
    assert after == pytest.approx([a + b for a, b in zip(before, arrives, strict=True)], abs=2e-4)
    shoot(page, "steps-leaf")


def test_dark_and_narrow_windows(page: Browser) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.value(colour)
    page.window(390, 844, dark=True)
    assert page.value(colour) != light
    assert page.value("document.documentElement.scrollWidth") <= 390
    shoot(page, "steps-phone-dark")


def test_the_page_of_a_graph(browser: Browser, tmp_path: Path) -> None:
    model = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
    picture = explain.graph(model(torch.randn(5, 1, 16)).sum(), fold=False)
    picture.save(tmp_path / "graph.html")
    browser.window(1000, 700)
    browser.open(tmp_path / "graph.html")
    boxes = browser.value(
        "[...document.querySelectorAll('svg g[id^=n]')].map(g => { const r = g.querySelector('rect').getBBox();"
        " const t = [...g.querySelectorAll('text')].map(text => text.getBBox());"
        " return [r.x, r.y, r.width, r.height, t.every(b => b.x >= r.x && b.x + b.width <= r.x + r.width)] })"
    )
    assert len(boxes) == len(picture.boxes) > 20
    assert all(fits for *_, fits in boxes), "a label is wider than its box"
    for index, (x, y, width, height, _) in enumerate(boxes):
        for left, top, across, down, _ in boxes[:index]:
            assert x >= left + across or left >= x + width or y >= top + down or top >= y + height, "boxes overlap"
    arrows = browser.value("document.querySelectorAll('svg path.edge').length")
    assert arrows == sum(map(len, picture.children.values()))
    assert browser.complaints == []
    shoot(browser, "graph")
    small = explain.graph(torch.ones(2, requires_grad=True).exp().sum())
    small.save(tmp_path / "small.html")
    browser.window(500, 500, dark=True)
    browser.open(tmp_path / "small.html")
    assert browser.value("getComputedStyle(document.querySelector('.paper')).fill") == "rgb(13, 17, 23)"
    shoot(browser, "graph-dark")
