"""``torch.hub``: models from a local folder, and weights from a URL.

Code is never downloaded: give ``source="local"`` and the folder of a checked-out repository. Weights are downloaded
once, to ``get_dir()/checkpoints``, and loaded with ``weights_only=True``, so they cannot run code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import urllib.request
from typing import Any
from urllib.error import ContentTooShortError
from urllib.parse import urlparse

from ._base.errors import noted
from ._saving.replacing import replacing
from .serialization import load as _load

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK = 1 << 17
_dir: str | None = None


def __getattr__(name: str) -> Any:
    if name == "tqdm":  # programs import it from here
        import tqdm

        return tqdm.tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- the folder
def get_dir() -> str:
    """The folder for downloads: ``set_dir``'s, or ``$TORCH_HOME/hub``, or ``$XDG_CACHE_HOME/torch/hub``."""
    return os.path.join(_get_torch_home(), "hub") if _dir is None else _dir


def _get_torch_home() -> str:
    """The folder of PyTorch's caches: ``$TORCH_HOME`` or ``$XDG_CACHE_HOME/torch``."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder for downloads."""
    global _dir
    _dir = os.path.expanduser(d)


# ---- weights
def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download a URL to a file, which appears only when the download is complete.

    Args:
        url: the URL.
        dst: the path of the file.
        hash_prefix: the beginning of the content's SHA-256, in hexadecimal digits.
        progress: has no effect.

    Raises:
        RuntimeError: the content has another SHA-256.
        ContentTooShortError: the connection ended before the content did.
    """
    digest, done = hashlib.sha256(), 0
    request = urllib.request.Request(url, headers={"User-Agent": "torch.hub"})
    with urllib.request.urlopen(request) as source, replacing(dst) as file:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            file.write(chunk)
            done += len(chunk)
        size = source.headers.get("Content-Length", "")
        if size.isdecimal() and done < int(size):  # a response that is cut off ends like a whole one
            raise ContentTooShortError(
                f"retrieval incomplete: got only {done} out of {size} bytes", (dst, source.headers)
            )
        found = digest.hexdigest()
        if hash_prefix is not None and found[: len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """Load a file of ``torch.save`` from a URL; it is downloaded once.

    Args:
        url: the URL.
        model_dir: the folder for the file; ``get_dir()/checkpoints`` by default.
        map_location: as in ``torch.load``.
        progress: has no effect.
        check_hash: check the file against its name ``name-HASH.ext``, where HASH is the beginning of its SHA-256.
        file_name: the file's name; the last part of the URL by default.
        weights_only: as in ``torch.load``. With False the file may run any code.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found[1] if found else None, progress)
    return _load(path, map_location=map_location, weights_only=weights_only)


# ---- models
def _entrypoints(repo_or_dir: Any, source: str) -> Any:
    """Import ``hubconf.py`` of a folder."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise noted(
            RuntimeError(f"torch.hub: wengert does not fetch code from the network ({repo_or_dir})"),
            "Why: what is fetched would be run, and most of it needs parts of PyTorch that are compiled.",
            'What to do: check the repository out, and give its folder with source="local".',
        )
    path = os.path.join(repo_or_dir, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None or not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.fspath(repo_or_dir))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.fspath(repo_or_dir))
    for package in getattr(module, "dependencies", ()):
        if importlib.util.find_spec(package) is None:
            raise RuntimeError(f"Missing dependencies: {package}")
    return module


def _entrypoint(module: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github: Any, force_reload: Any = False, source: str = "github", **kwargs: Any) -> Any:
    """The names of the functions in a folder's ``hubconf.py`` that make models."""
    module = _entrypoints(github, source)
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(github: Any, model: str, force_reload: Any = False, source: str = "github", **kwargs: Any) -> Any:
    """The docstring of a function in a folder's ``hubconf.py``."""
    return _entrypoint(_entrypoints(github, source), model).__doc__


def load(repo_or_dir: Any, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Call a function in a folder's ``hubconf.py`` and return its model.

    Raises:
        RuntimeError: ``source`` is not "local", or there is no such function.
    """
    for option in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(option, None)
    return _entrypoint(_entrypoints(repo_or_dir, source), model)(*args, **kwargs)
