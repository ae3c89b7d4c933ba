"""`python -m wengert tour`: short lessons in code that is executed as it is shown, then a classifier trained by hand.

A lesson is a piece of source. `play` prints each statement as in a Python session, executes it, and prints the result.
No output is written by hand, so none can be out of date.
"""

from __future__ import annotations

import ast
import linecache
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

from ..explain.svg import MARK, curve, graph
from . import UsageError
from .progress import Bar, paint

_PICTURES = ("wengert-tour-loss.svg", "wengert-tour-graph.svg")
EPOCHS, QUICK_EPOCHS = 60, 10


@dataclass(frozen=True)
class Lesson:
    """A title, a short text, and the code to show and execute.

    `mistake`: the last statement is expected to fail, and its error is shown.
    """

    title: str
    words: str
    code: str
    mistake: bool = False


LESSONS = (
    Lesson(
        "A Variable remembers",
        """
        Variable and Tensor are two names of one class. With requires_grad=True the
        operations on a Variable are recorded. A result refers to the operation that
        made it: its grad_fn.
        """,
        """
        import wengert as torch
        from wengert.autograd import Variable
        x = Variable(torch.Tensor([[1, 2], [3, 4]]), requires_grad=True)
        x
        y = x * x
        y
        x.is_leaf, y.is_leaf
        """,
    ),
    Lesson(
        "The gradient",
        """
        backward() walks from a result back to the Variables from which it was computed
        and adds to the .grad of each the derivative of the result with respect to it.
        The mean of v*v over four elements has the derivative 2*v/4.
        """,
        """
        w = Variable(torch.Tensor([1]), requires_grad=True)
        x = Variable(torch.Tensor([2]), requires_grad=True)
        b = Variable(torch.Tensor([3]), requires_grad=True)
        y = w * x + b
        y.backward()
        w.grad, x.grad, b.grad
        v = Variable(torch.Tensor([[1, 2], [3, 4]]), requires_grad=True)
        (v * v).mean().backward()
        v.grad
        """,
    ),
    Lesson(
        "A result with many elements",
        """
        If the result has many elements, backward() needs a weight for each of them. It
        computes the product of the weights with the matrix of all derivatives.
        """,
        """
        x = Variable(torch.Tensor([1, 2, 3, 4]), requires_grad=True)
        z = 2 * x
        z.backward(torch.Tensor([1, 0.1, 0.01, 0.001]))
        x.grad
        """,
    ),
    Lesson(
        "The graph",
        """
        A grad_fn points to the grad_fns of its inputs by next_functions. The walk ends
        at the Variables, with the nodes AccumulateGrad, which write .grad. Constants,
        here x and 1, are None. (This graph is one of the two pictures at the end.)
        """,
        """
        x = torch.Tensor([3, 4])
        w = Variable(torch.Tensor([0.5, -1]), requires_grad=True)
        b = Variable(torch.Tensor([0.25, 2]), requires_grad=True)
        loss = ((w * x + b).tanh() - 1 + w).pow(2).mean()
        def show(node, indent=""):
            print(indent + (node.name().split("::")[-1] if node else "None"))
            for child, _ in node.next_functions if node else ():
                show(child, indent + "    ")

        show(loss.grad_fn)
        """,
    ),
    Lesson(
        "Gradients accumulate",
        """
        Each pass adds to .grad. A pass frees the values that the graph saved, unless
        retain_graph=True keeps them. Set .grad to zero before the next step.
        """,
        """
        w = Variable(torch.ones(3), requires_grad=True)
        x = torch.Tensor([1, 10, 100])
        y = (w * x).sum()
        y.backward(retain_graph=True)
        w.grad
        y.backward()
        w.grad
        w.grad.data.zero_()
        """,
    ),
    Lesson(
        "A mistake",
        """
        The graph of y is freed now. The error has PyTorch's words, and says where the
        graph was made and what to do.
        """,
        """
        y.backward()
        """,
        mistake=True,
    ),
    Lesson(
        "Hooks",
        """
        A hook receives a gradient during the pass, and may return another one.
        """,
        """
        v = Variable(torch.zeros(3), requires_grad=True)
        handle = v.register_hook(lambda g: g * 2)
        v.backward(torch.ones(3))
        v.grad
        handle.remove()
        v.backward(torch.ones(3))
        v.grad
        """,
    ),
    Lesson(
        "Without gradients",
        """
        Under no_grad nothing is recorded, so the cube below counts as a constant.
        .data shares the memory of a Variable but has no history: write to it to change
        the value.
        """,
        """
        x = Variable(torch.ones(1), requires_grad=True)
        with torch.no_grad():
            cube = x ** 3

        y = x ** 2 + cube
        y.backward()
        y, cube.requires_grad, x.grad
        x.data -= 0.1 * x.grad.data
        x
        """,
    ),
)

TRAINING = Lesson(
    "A classifier",
    """
    A real task: 1437 handwritten digits of 8 x 8 pixels to train on, 360 others to
    test on. The two layers are written by hand, with nothing but the above.
    """,
    """
    from wengert._cli.data import load_digits
    images, labels, test_images, test_labels = map(torch.from_numpy, load_digits())
    images.shape, labels[:8]
    generator = torch.manual_seed(seed)
    w1 = Variable(torch.randn(64, 64) * 0.1, requires_grad=True)
    b1 = Variable(torch.zeros(64), requires_grad=True)
    w2 = Variable(torch.randn(64, 10) * 0.1, requires_grad=True)
    b2 = Variable(torch.zeros(10), requires_grad=True)
    def scores(images):
        hidden = (images.mm(w1) + b1).tanh()
        return hidden.mm(w2) + b2

    def loss_of(images, labels):
        chances = torch.log_softmax(scores(images), 1)
        return -chances.gather(1, labels.view(-1, 1)).mean()

    losses = []
    for epoch in range(epochs):
        for batch in torch.randperm(1437).split(32):
            loss = loss_of(images[batch], labels[batch])
            loss.backward()
            for weight in w1, b1, w2, b2:
                weight.data -= 0.3 * weight.grad.data
                weight.grad.data.zero_()
            losses.append(loss.item())
        bar.show(epoch + 1, f"loss {losses[-1]:.3f}")

    with torch.no_grad():
        guesses = scores(test_images).max(1)[1]

    right = (guesses == test_labels).float().mean().item()
    print(f"{right:.1%} of the test digits are read correctly")
    """,
)


def main(out: Path, epochs: int, seed: int) -> int:
    """Run the tour and return the exit code. The pictures go to the folder `out`."""
    pictures = _claim(out)
    print("The lines after >>> are executed as you see them, and the lines below are what came out.")
    names: dict[str, Any] = {}
    for number, lesson in enumerate(LESSONS, 1):
        _head(number, lesson)
        play(lesson, names, f"<lesson {number}>")
        if lesson.title == "The graph":
            # drawn now, since later lessons assign these names to other tensors
            title = next(line.strip() for line in lesson.code.splitlines() if "loss =" in line)
            graph_picture = graph(names["loss"], title, {"w": names["w"], "b": names["b"]})
    number = len(LESSONS) + 1
    _head(number, TRAINING)
    names.update(epochs=epochs, seed=seed)
    began = time.perf_counter()
    with Bar("epoch", epochs) as names["bar"]:
        play(TRAINING, names, f"<lesson {number}>")
    print(f"({time.perf_counter() - began:.1f} seconds)\n")
    print(_digit_row(*(names[name].numpy()[:4] for name in ("test_images", "test_labels", "guesses"))))
    loss_picture = curve(names["losses"], "Loss of the digit classifier", "training step", "loss")
    _write(pictures, (loss_picture, graph_picture))
    return 0


def _head(number: int, lesson: Lesson) -> None:
    title = f"{number}. {lesson.title}"
    print(f"\n{paint(title, '1', sys.stdout)}\n{dedent(lesson.words).rstrip()}\n")


def play(lesson: Lesson, names: dict[str, Any], filename: str) -> None:
    """Print and execute the lesson's statements one by one, as the Python prompt does."""
    source = dedent(lesson.code).strip() + "\n"
    lines = source.splitlines(keepends=True)
    # Tracebacks and the notes of wengert's errors read source lines from here.
    linecache.cache[filename] = (len(source), None, lines, filename)
    statements = ast.parse(source, filename).body
    ends = [0, *(statement.end_lineno or 0 for statement in statements)]
    for statement, (start, end) in zip(statements, pairwise(ends), strict=True):
        _echo("".join(lines[start:end]).strip("\n"), is_block=hasattr(statement, "body"))
        if not (lesson.mistake and statement is statements[-1]):
            _execute(statement, names, filename)
        else:
            try:
                _execute(statement, names, filename)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what the lesson shows
                print("Traceback (most recent call last):\n  ...")
                print("".join(traceback.format_exception_only(error)), end="")
            else:
                raise AssertionError(f"{filename}: the last statement was meant to fail")


def _echo(code: str, is_block: bool) -> None:
    first, *rest = code.split("\n")
    rest += [""] if is_block else []  # the empty line that ends a block at the prompt
    for prompt, line in [(">>>", first), *(("...", line) for line in rest)]:
        print(paint(f"{prompt} {line}".rstrip(), "36", sys.stdout))


def _execute(statement: ast.stmt, names: dict[str, Any], filename: str) -> None:
    if isinstance(statement, ast.Expr):
        value = eval(compile(ast.Expression(statement.value), filename, "eval"), names)
        if value is not None:
            print(repr(value))
    else:
        exec(compile(ast.Module([statement], []), filename, "exec"), names)


def _digit_row(images: Any, labels: Any, guesses: Any) -> str:
    """Return images of 8 x 8 numbers from 0 to 1 side by side, drawn in characters, each with its guess below."""
    shades = " .:-=+*#%@"
    rows = []
    for row in range(8):
        lines = [image.reshape(8, 8)[row] for image in images]
        rows.append("    ".join("".join(2 * shades[int(9 * value + 0.5)] for value in line) for line in lines).rstrip())
    captions = [
        f"read as {guess}" + ("" if guess == label else f", is {label}")
        for guess, label in zip(guesses, labels, strict=True)
    ]
    rows.append("    ".join(f"{caption:^16}" for caption in captions).rstrip())
    return "\n".join(rows)


# --- the pictures ---


def _claim(folder: Path) -> list[Path]:
    """Return the paths of the pictures. Raises UsageError now, not after the training, if they cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write pictures in {str(folder)!r} ({error.strerror}); choose a folder with --out DIR"
        ) from error
    paths = [folder / name for name in _PICTURES]
    for path in paths:
        if path.exists() and not _is_ours(path):
            raise UsageError(f"{str(path)!r} is not a picture of this tour; move it, or choose a folder with --out DIR")
    return paths


def _is_ours(path: Path) -> bool:
    try:
        return MARK in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _write(paths: list[Path], pictures: tuple[str, str]) -> None:
    print("\nTwo pictures, to open in a browser:")
    for path, picture, subject in zip(paths, pictures, ("the loss", "the graph of lesson 4"), strict=True):
        try:
            path.write_text(picture, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {str(path)!r} ({error.strerror})") from error
        print(f"  {path.resolve()}  ({subject})")
    print("\nNext: a program written for PyTorch runs with  python -m wengert run program.py")
