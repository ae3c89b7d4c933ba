"""``python -m torch.distributed.run``: starts a program in several processes, with ``torchrun``'s arguments.

The program runs under ``python -m wengert run``, so that its ``import torch`` is wengert.
"""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from collections.abc import Sequence
from typing import Any

from ._launch import Plan, launch
from .elastic.multiprocessing.errors import ChildFailedError, record

__all__ = ["get_args_parser", "main", "parse_args", "run"]

_IGNORED = (
    "rdzv-conf", "role", "start-method", "logs-specs", "local-addr", "numa-binding", "signals-to-handle",
    "duplicate-stdout-filters", "duplicate-stderr-filters", "virtual-local-rank", "event-log-handler",
)  # fmt: skip


def _add(parser: argparse.ArgumentParser, name: str, *short: str, **kwargs: Any) -> None:
    """An option under both spellings, whose default an environment variable may give, as in PyTorch."""
    variable = "PET_" + name.replace("-", "_").upper()
    if variable in os.environ:
        given = os.environ[variable]
        kwargs["default"] = given == "1" if kwargs.get("action") == "store_true" else given
    parser.add_argument(*short, f"--{name}", *([f"--{name.replace('-', '_')}"] if "-" in name else []), **kwargs)


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of ``torchrun``'s arguments."""
    parser = argparse.ArgumentParser(
        "torchrun", description="Starts a program in several processes.", allow_abbrev=False
    )
    _add(parser, "nnodes", default="1", help="number of machines")
    _add(
        parser, "nproc-per-node", default="1", help="number of processes on this machine; cpu, auto: one for each core"
    )
    _add(parser, "node-rank", type=int, default=None, help="number of this machine; without it, as they come")
    _add(parser, "rdzv-backend", default="static", help="static or c10d")
    _add(parser, "rdzv-endpoint", default="", help="host:port of machine 0")
    _add(parser, "rdzv-id", default="none", help="name of the run")
    _add(parser, "master-addr", default="127.0.0.1", help="host of machine 0")
    _add(parser, "master-port", type=int, default=29500, help="port of machine 0")
    _add(parser, "standalone", action="store_true", help="one machine, any free port")
    _add(parser, "max-restarts", type=int, default=0, help="how often failed processes are started anew")
    _add(parser, "monitor-interval", type=float, default=0.1, help="has no effect")
    _add(parser, "module", "-m", action="store_true", help="the program is a module")
    _add(parser, "no-python", action="store_true", help="the program is no Python program")
    _add(parser, "run-path", action="store_true", help="has no effect")
    _add(parser, "log-dir", default=None, help="folder for the output of each process")
    _add(parser, "redirects", "-r", default="0", help="1, 2 or 3: output goes to --log-dir")
    _add(parser, "tee", "-t", default="0", help="1, 2 or 3: lines begin with the rank")
    _add(parser, "local-ranks-filter", default="", help="ranks whose output is shown, as 0,2")
    _add(parser, "stand-in", type=int, default=0, metavar="N", help="N CPU processes stand for N cards")
    for name in _IGNORED:
        _add(parser, name, default=None, help="has no effect")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse ``torchrun``'s arguments."""
    return get_args_parser().parse_args(args)


def processes(text: str) -> int:
    """The number that ``--nproc-per-node`` says."""
    if text.isdecimal() and int(text):
        return int(text)
    if text in ("auto", "cpu", "gpu"):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    raise ValueError(f"Unsupported nproc_per_node value: {text}")


def _number(text: Any, what: str, least: int = 0, most: int = 1 << 30) -> int:
    """A number of an option; ValueError if it is none, or out of its range."""
    try:
        found = int(text)
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise ValueError(f"Unsupported {what} value: {text}") from None
    return found


def _plan(args: argparse.Namespace) -> Plan:
    nnodes = _number(str(args.nnodes).partition(":")[0], "nnodes", 1)
    host, port, rank = args.master_addr, args.master_port, args.node_rank
    if args.rdzv_endpoint:
        host, _, given = args.rdzv_endpoint.partition(":")
        port = given or 29400
    port = _number(port, "port", most=65535)
    if rank is not None:
        _number(rank, "node_rank", most=nnodes - 1)
    if args.standalone or (nnodes == 1 and not args.rdzv_endpoint and "--master" not in " ".join(sys.argv)):
        port = 0
    if rank is None and args.rdzv_backend == "static" and nnodes > 1:
        rank = 0
    name = args.training_script
    command = [name, *args.training_script_args]
    if not args.no_python:
        kind = ["-m"] if args.module else []
        told = [] if getattr(args, "use_env", True) else ["--local-rank={local_rank}"]
        command = [sys.executable, "-u", "-m", "wengert", "run", *_stand_in(args), *kind, *command, *told]
    ranks = [_number(r, "local_ranks_filter") for r in args.local_ranks_filter.split(",") if r]
    shown = frozenset(ranks) if args.local_ranks_filter else None
    return Plan(
        command, os.path.basename(name), processes(str(args.nproc_per_node)), nnodes, rank, host, port,
        _number(args.max_restarts, "max_restarts"), uuid.uuid4().hex if args.standalone else args.rdzv_id,
        tee=str(args.tee) != "0", log_dir=args.log_dir if args.redirects != "0" else None, shown_ranks=shown,
        named=not getattr(args, "use_env", True),
    )  # fmt: skip


def _stand_in(args: argparse.Namespace) -> list[str]:
    return ["--stand-in", str(args.stand_in)] if args.stand_in else []


def run(args: argparse.Namespace) -> None:
    """Start what the parsed arguments say, and wait for it.

    Raises:
        ChildFailedError: a process failed.
        SystemExit: one failed on another machine, or a signal ended all.
    """
    code = launch(_plan(args))
    if code:
        sys.exit(code)


def main(args: Sequence[str] | None = None) -> None:
    """Run ``torchrun``; ``SystemExit`` if it failed, after a text that says how."""
    started(parse_args(args))


def started(args: argparse.Namespace) -> None:
    """``run`` for a command line."""
    try:
        record(run)(args)
    except ChildFailedError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
