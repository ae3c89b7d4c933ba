"""``torch.distributed.launcher.api``: a launcher as an object, which starts a function or a program in processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._launch import Plan, Rank, environments, launch
from ..elastic.multiprocessing.errors import record

__all__ = ["LaunchConfig", "elastic_launch"]


@dataclass
class LaunchConfig:
    """How many processes are started, on how many machines, and how often failed ones are started anew."""

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: Any = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: Any = None


class _Process:
    """A process of multiprocessing, with the methods of a ``Popen`` that the launcher calls."""

    stdout = None

    def __init__(self, process: Any) -> None:
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    returncode = property(poll)

    def wait(self, timeout: float | None = None) -> None:
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("process", timeout or 0.0)


def _enter(fn: Callable[..., Any], args: tuple[Any, ...], environment: dict[str, str], result: str) -> None:
    os.setsid()  # the launcher ends the process with all that it starts
    os.environ.update(environment)
    value = record(fn)(*args)
    with open(result, "wb") as file:
        pickle.dump(value, file)


class elastic_launch:
    """``elastic_launch(config, function)(*args)`` runs the function in processes; returns what it returned, by rank.

    ``function`` may be a command. Its processes find each other by ``init_process_group()`` without arguments.

    Raises:
        ChildFailedError: a process failed, once more than ``max_restarts`` times.
    """

    def __init__(self, config: LaunchConfig, entrypoint: Any) -> None:
        self._config, self._entrypoint = config, entrypoint

    def __call__(self, *args: Any) -> dict[int, Any]:
        config, entry = self._config, self._entrypoint
        host, _, port = config.rdzv_endpoint.partition(":")
        several = config.max_nodes > 1
        plan = Plan(
            [str(part) for part in (entry, *args)] if isinstance(entry, str) else [],
            os.path.basename(entry) if isinstance(entry, str) else getattr(entry, "__qualname__", "function"),
            config.nproc_per_node, config.max_nodes, config.rdzv_configs.get("rank") if several else None,
            host or "127.0.0.1", int(port or 29400) if several else 0, config.max_restarts, config.run_id or "none",
        )  # fmt: skip
        if isinstance(entry, str):
            self._check(launch(plan))
            return {}
        with tempfile.TemporaryDirectory(prefix="wengert-launch-") as folder:
            self._check(launch(plan, partial(self._start, args, folder)))
            found = {}
            for name in sorted(os.listdir(folder), key=int):
                with open(os.path.join(folder, name), "rb") as file:
                    found[int(name)] = pickle.load(file)  # of this program's own processes
            return found

    @staticmethod
    def _check(code: int) -> None:
        if code:
            raise SystemExit(code)

    def _start(self, args: Any, results: str, plan: Plan, node: Any, attempt: int, folder: str) -> list[Rank]:
        context: Any = multiprocessing.get_context(self._config.start_method)
        ranks = []
        for local, environment in enumerate(environments(plan, node, attempt, folder)):
            told = (self._entrypoint, args, environment, os.path.join(results, environment["RANK"]))
            process = context.Process(target=_enter, args=told)
            process.start()
            error_file = environment["TORCHELASTIC_ERROR_FILE"]
            ranks.append(Rank(node.start + local, local, _Process(process), error_file))
        return ranks
