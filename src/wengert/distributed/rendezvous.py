"""``torch.distributed.rendezvous``: how processes find each other, by ``env://``, ``tcp://`` or ``file://``.

A handler yields a store, this process's rank and the number of processes.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlparse

from ._stores import FileStore, Store, TCPStore
from .constants import default_pg_timeout

__all__ = ["register_rendezvous_handler", "rendezvous"]

Meeting = Iterator[tuple[Store, int, int]]
_handlers: dict[str, Callable[..., Meeting]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Meeting]) -> None:
    """Let ``handler(url, **kwargs)`` answer for URLs of a scheme.

    Raises:
        RuntimeError: the scheme has a handler.
    """
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Meeting:
    """An iterator whose next item is (store, rank, world_size).

    Raises:
        ValueError: the URL or the environment does not say what is needed.
    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, numbers.Integral):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, numbers.Integral):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    parts = urlparse(str(url))
    if rank != -1 or world_size != -1:
        query = _query(parts.query)
        if "rank" in query or "world_size" in query:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        if rank != -1:
            query["rank"] = str(rank)
        if world_size != -1:
            query["world_size"] = str(world_size)
        parts = parts._replace(query="&".join(f"{k}={v}" for k, v in query.items()))
    if parts.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    return _handlers[parts.scheme](parts.geturl(), **kwargs)


def _query(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split("&") if "=" in pair)


def _error(kind: str, what: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {kind}:// rendezvous: {what}")


def _told(kind: str, query: dict[str, str]) -> tuple[int, int]:
    if "rank" not in query:
        raise _error(kind, "rank parameter missing")
    if "world_size" not in query:
        raise _error(kind, "world size parameter missing")
    return int(query["rank"]), int(query["world_size"])


def _file(url: str, **kwargs: Any) -> Meeting:
    parts = urlparse(url)
    if not parts.path:
        raise _error("file", "path missing")
    rank, size = _told("file", _query(parts.query))
    yield FileStore(parts.path, size), rank, size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _store_at(host: str, port: int, rank: int, size: int, timeout: timedelta) -> Store:
    """The store of a launcher that hosts it, else one that rank 0 hosts."""
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    hosting = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    return TCPStore(host, port, None, hosting, timeout, multi_tenant=True)


def _tcp(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Meeting:
    parts = urlparse(url)
    if parts.port is None:
        raise _error("tcp", "port number missing")
    rank, size = _told("tcp", _query(parts.query))
    assert parts.hostname is not None, "hostname cannot be None"
    yield _store_at(parts.hostname, parts.port, rank, size, timeout), rank, size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _env(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Meeting:
    query = _query(urlparse(url).query)

    def told(variable: str) -> str:
        if variable.lower() in query:
            return query[variable.lower()]
        value = os.environ.get(variable)
        if not value:
            raise _error("env", f"environment variable {variable} expected, but not set")
        return value

    rank, size = int(told("RANK")), int(told("WORLD_SIZE"))
    host, port = told("MASTER_ADDR"), int(told("MASTER_PORT"))
    yield _store_at(host, port, rank, size, timeout), rank, size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


register_rendezvous_handler("tcp", _tcp)
register_rendezvous_handler("env", _env)
register_rendezvous_handler("file", _file)
