"""The command line, `python -m wengert`: parsing of arguments. The commands are in `wengert._cli`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from wengert._base.errors import nearest
from wengert._cli import UsageError
from wengert._version import __version__

_EXAMPLES = """\
examples:
  python -m wengert tour                 learn what a gradient is, and train a classifier
  python -m wengert run program.py       run a program written for PyTorch
  python -m wengert info                 print the versions that a bug report needs
  python -m wengert info --ops softmax   print what an operator supports; without a name, what all support
  python -m wengert show mul             print how an operator is made
  python -m wengert explain W001         print the page about an error
  python -m wengert explain train.py     run a program and explain its first error or NaN
  python -m wengert compile train.py:step --show   run a program with a function compiled, and show what it became

"python -m wengert COMMAND --help" describes a command and its options.
"""

_TOUR = """\
Shows Variables, gradients, the graph, accumulation, hooks and no_grad in short pieces of code, each with its output.
Then trains a classifier of handwritten digits and draws two pictures, wengert-tour-loss.svg and
wengert-tour-graph.svg. The tour takes a few seconds.
"""

_TOUR_EXAMPLES = """\
examples:
  python -m wengert tour
  python -m wengert tour --quick --out pictures
"""

_RUN = """\
Runs a Python program in which "import torch" imports wengert: torch.nn is wengert.nn, and so on. sys.argv, __main__,
sys.path, tracebacks and exit codes are the same as with "python program.py". The command installs and changes
nothing; a PyTorch that is installed is not used. With --nproc the program runs in several processes, which
torch.distributed joins; "python -m wengert run -m torch.distributed.run --help" has torchrun's options.
"""

_RUN_EXAMPLES = """\
examples:
  python -m wengert run train.py --epochs 3
  python -m wengert run -m pytest tests
  python -m wengert run --nproc 4 train.py
"""

_INFO = """\
Prints versions, BLAS, threads, CPU and platform, for bug reports. With --ops it prints a table of operators instead,
which shows for each whether it has a derivative, forward mode, a second derivative and a batching rule, and if not, the
reason: of all operators, or of those named, or with --public of those that are public functions.
"""

_INFO_EXAMPLES = """\
examples:
  python -m wengert info
  python -m wengert info --ops softmax torch.linalg.qr
  python -m wengert info --ops --public
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


_EXPLAIN = """\
With a code, W001 for example: prints the page about that error, which notes below an error name. With a program: runs
it as "run" does. If a backward pass meets a value that is not finite, the first one is explained when it comes, and the
program goes on; if an error ends it, its notes say why.
"""

_EXPLAIN_EXAMPLES = """\
examples:
  python -m wengert explain W002
  python -m wengert explain train.py --epochs 3
"""

_COMPILE = """\
Runs a program, with "import torch" as wengert, and one of its functions under torch.compile. Then prints how many
programs the function became, and where it breaks; with --show, the NumPy source of each program, with your line behind
each call, and the guards that are checked before it runs.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that `arguments` (by default `sys.argv[1:]`) name; return the exit code."""
    parser, commands = _parsers()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        (commands[options.command] if options.command else parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        # The exit code is 0, as with pip and cargo: a call without a command asks for help and is no mistake.
        parser.print_help()
        return 0
    try:
        if options.command == "run":
            return _run(options)
        if options.command == "explain":
            return _explain(options)
        return _guarded({"tour": _tour, "info": _info, "show": _show, "compile": _compile}[options.command], options)
    except UsageError as error:
        commands[options.command].error(str(error))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors name the nearest of the words that it knows, as Python 3.14's do."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']+)'|unrecognized arguments: (-\S+)", message)
        if wrong:
            known = [word for action in self._actions for word in (*action.option_strings, *(action.choices or ()))]
            message += nearest(wrong[1] or wrong[2], known)
        super().error(message)


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser, and the parsers of the commands by name."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
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
        usage="python -m wengert run [-h] [--nproc N] [--max-restarts N] [--stand-in N] (program.py | -m module) "
              "[arguments ...]",
    )  # fmt: skip
    run.add_argument("--nproc", type=_count, metavar="N", help="in N processes, for torch.distributed")
    run.add_argument("--max-restarts", type=_count, default=0, metavar="N", help="start failed processes anew so often")
    run.add_argument("--stand-in", type=_count, metavar="N", help="let N CPU processes stand for N graphics cards")
    run.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as python -m does")
    run.add_argument("program", nargs="?", metavar="program.py", help="the program's file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")

    info = add("info", help="versions and machine, for bug reports", description=_INFO, epilog=_INFO_EXAMPLES,
               formatter_class=raw)  # fmt: skip
    info.add_argument("--ops", nargs="*", metavar="NAME", help="print what operators support; of all without a name")
    info.add_argument("--public", action="store_true", help="leave out operators that are no public function")
    info.add_argument("--json", action="store_true", help="print JSON instead of text")

    show = add("show", help="how an operator is made, as source", description=_SHOW, epilog=_SHOW_EXAMPLES,
               formatter_class=raw)  # fmt: skip
    show.add_argument("operators", nargs="+", metavar="operator", help="its name, or that of a public function")

    explain = add("explain", help="a page about an error, or why a program fails", description=_EXPLAIN,
                  epilog=_EXPLAIN_EXAMPLES, formatter_class=raw)  # fmt: skip
    explain.add_argument("what", metavar="CODE|program.py", help="the code of an error, or a program's file")
    explain.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")

    made = add("compile", help="run a program with one function compiled", description=_COMPILE, formatter_class=raw)
    made.add_argument(
        "function", metavar="script.py:function", help="the program's file, and a function that it defines"
    )
    made.add_argument("--show", action="store_true", help="print the programs' source and guards")
    made.add_argument("arguments", nargs="*", help="the program's own arguments")
    return parser, {"tour": tour, "run": run, "info": info, "show": show, "explain": explain, "compile": made}


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to 2**64 - 1, not {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number, not {text!r}")
    return int(text)


def _tour(options: argparse.Namespace) -> int:
    from wengert._cli import tour

    return tour.main(options.out, tour.QUICK_EPOCHS if options.quick else tour.EPOCHS, options.seed)


def _info(options: argparse.Namespace) -> int:
    from wengert._cli import info

    return info.main(options.ops, options.json, options.public)


def _show(options: argparse.Namespace) -> int:
    from wengert._cli import show

    return show.main(options.operators)


def _explain(options: argparse.Namespace) -> int:
    from wengert._cli import explain

    if explain.is_code(options.what):
        return _guarded(lambda _: explain.page(options.what.upper()), options)
    return explain.program(options.what, options.arguments)


def _compile(options: argparse.Namespace) -> int:
    from wengert._cli import compile

    return compile.main(options.function, options.show, options.arguments)


def _run(options: argparse.Namespace) -> int:
    from wengert._cli import run

    if not options.module and options.program is None:
        raise UsageError("which program? Name its file, or a module with -m")
    if options.nproc or options.stand_in or any(name in os.environ for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK")):
        from wengert.distributed import _start

        if options.nproc:
            return _start.several(options)
        _start.prepare(options.stand_in)
    if options.module:
        return run.run_module(options.module[0], options.module[1:])
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
        # `... | head` has read enough. Python flushes the rest of the buffer at exit, so stdout must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # 128 + SIGPIPE
    return code


if __name__ == "__main__":
    sys.exit(main())
