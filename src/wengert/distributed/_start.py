"""What ``python -m wengert run`` does for programs of several processes: starts them, or prepares one of them."""

from __future__ import annotations

import argparse
import os
import sys

from ._launch import Plan, exit_code

__all__ = ["prepare", "several"]


def several(options: argparse.Namespace) -> int:
    """``--nproc``: run the program in so many processes of this machine; return the exit code."""
    inner = ["--stand-in", str(options.stand_in)] if options.stand_in else []
    inner += ["-m", *options.module] if options.module else [options.program, *options.arguments]
    name = options.module[0] if options.module else os.path.basename(options.program)
    command = [sys.executable, "-m", "wengert", "run", *inner]
    return exit_code(Plan(command, name, options.nproc, max_restarts=options.max_restarts))


def prepare(stand_in: int | None) -> None:
    """Give the program the environment variables that it expects, and the cards that it asks for."""
    for pytorchs, *others in (
        ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"),
        ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"),
        ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"),
        ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"),
    ):
        found = next((os.environ[name] for name in others if name in os.environ), None)
        if found is not None:
            os.environ.setdefault(pytorchs, found)
    if stand_in:
        from ._stand_in import install

        install(stand_in)
        if os.environ.get("RANK", "0") == "0":
            sys.stderr.write(f"wengert: --stand-in {stand_in}: cuda, nccl and torch.accelerator mean the CPU\n")
