"""``python -m torch.distributed.launch``: the older form of ``torch.distributed.run``.

The program is told its rank by ``--local-rank=N`` too, unless ``--use-env`` is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .run import get_args_parser, run, started

__all__ = ["launch", "main", "parse_args"]


def parse_args(args: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the arguments."""
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="no --local-rank for the program")
    return parser.parse_args(args)


def launch(args: argparse.Namespace) -> None:
    """Start what the parsed arguments say, and wait for it."""
    run(args)


def main(args: Sequence[str] | None = None) -> None:
    """Parse the arguments, and start."""
    started(parse_args(args))


if __name__ == "__main__":
    main()
