"""The command line, `python -m wengert`. What the sub-commands do is in `wengert._cli`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from wengert._cli import UsageError
from wengert._version import __version__

_EXAMPLES = """\
examples:
  python -m wengert tour                 learn what a gradient is, and train a classifier
  python -m wengert run program.py       run a program written for PyTorch
  python -m wengert info                 what a bug report should tell
  python -m wengert info --ops           what every operator can do
  python -m wengert show mul             how one of them is made

"python -m wengert COMMAND --help" explains a command.
"""

_TOUR = """\
Shows Variables, gradients, the graph, accumulation, hooks and no_grad in short pieces of code that are executed as
they are printed; then trains a classifier of handwritten digits and draws two pictures, wengert-tour-loss.svg and
wengert-tour-graph.svg. Takes a few seconds.
"""

_TOUR_EXAMPLES = """\
examples:
  python -m wengert tour
  python -m wengert tour --quick --out pictures
"""

_RUN = """\
Runs a Python program in which "import torch" imports wengert: torch.nn is wengert.nn, and so on. All else is as with
"python program.py": sys.argv, __main__, sys.path, tracebacks, exit codes. Nothing is installed or changed, and
PyTorch, if it is there, is not touched.
"""

_RUN_EXAMPLES = """\
examples:
  python -m wengert run train.py --epochs 3
  python -m wengert run -m pytest tests
"""

_INFO = """\
Prints versions, BLAS, threads, CPU and platform: put it into a bug report. With --ops it prints a table of all
operators instead: which have a derivative, forward mode, a second derivative and a batching rule, and why one has not.
"""

_SHOW = """\
Prints everything that there is of an operator, as source: its declaration, the recording function and the backward
step that were put together for it (a kind of operator has one of each, in pieces of text), and its body in NumPy.
"""

_SHOW_EXAMPLES = """\
examples:
  python -m wengert show mul
  python -m wengert show torch.sum linear
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that `arguments` (by default `sys.argv[1:]`) name; return the exit code."""
    parser, commands = _parsers()
    options = parser.parse_args(arguments)
    if options.command is None:
        # As pip and cargo do, and unlike git: who types only the name wants to know what there is, and made no mistake.
        parser.print_help()
        return 0
    try:
        if options.command == "run":
            return _run(options)
        return _guarded({"tour": _tour, "info": _info, "show": _show}[options.command], options)
    except UsageError as error:
        commands[options.command].error(str(error))


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser, and those of the commands by name."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m wengert",
        description="PyTorch's Tensor and autograd system in Python, on NumPy.",
        epilog=_EXAMPLES,
        formatter_class=raw,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"wengert {__version__}")
    add = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands").add_parser

    tour = add("tour", help="a guided tour in live code", description=_TOUR, epilog=_TOUR_EXAMPLES, formatter_class=raw)
    tour.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="folder for the two pictures, made if it is missing (default: the current one)",
    )
    tour.add_argument("--quick", action="store_true", help="train for fewer epochs")
    tour.add_argument("--seed", type=_seed, default=0, help="seed of the random numbers (default: 0)")

    run = add(
        "run", help="run a program written for PyTorch", description=_RUN, epilog=_RUN_EXAMPLES, formatter_class=raw,
        usage="python -m wengert run [-h] (program.py | -m module) [arguments ...]",
    )  # fmt: skip
    run.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as python -m does")
    run.add_argument("program", nargs="?", metavar="program.py", help="the program's file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")

    info = add("info", help="versions and machine, for bug reports", description=_INFO, formatter_class=raw)
    info.add_argument("--ops", action="store_true", help="what every operator can do, as a table")
    info.add_argument("--json", action="store_true", help="the same as JSON")

    show = add("show", help="how an operator is made, as source", description=_SHOW, epilog=_SHOW_EXAMPLES,
               formatter_class=raw)  # fmt: skip
    show.add_argument("operators", nargs="+", metavar="operator", help="its name, or that of a public function")
    return parser, {"tour": tour, "run": run, "info": info, "show": show}


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to 2**64 - 1, not {text!r}")
    return int(text)


def _tour(options: argparse.Namespace) -> int:
    from wengert._cli import tour

    return tour.main(options.out, tour.QUICK_EPOCHS if options.quick else tour.EPOCHS, options.seed)


def _info(options: argparse.Namespace) -> int:
    from wengert._cli import info

    return info.main(options.ops, options.json)


def _show(options: argparse.Namespace) -> int:
    from wengert._cli import show

    return show.main(options.operators)


def _run(options: argparse.Namespace) -> int:
    from wengert._cli import run

    if options.module:
        return run.run_module(options.module[0], options.module[1:])
    if options.program is None:
        raise UsageError("which program? Name its file, or a module with -m")
    return run.run_file(options.program, options.arguments)


def _guarded(command: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run a command of our own, without a traceback when the user stops it or closes the pipe that it writes to."""
    try:
        code = command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130  # 128 + SIGINT, as shells count
    except BrokenPipeError:
        # `... | head` has read enough. What is still in the buffer must go somewhere when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # 128 + SIGPIPE
    return code


if __name__ == "__main__":
    sys.exit(main())
