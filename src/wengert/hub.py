"""``torch.hub``: wengert downloads neither code nor models. What lies in the cache folder already is loaded from there.

The cache folder is PyTorch's, so a file that PyTorch downloaded is found.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn
from urllib.parse import urlparse

import wengert as torch

from ._errors import noted

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

_folder: str | None = None


def _refuse(name: str, advice: str) -> NoReturn:
    raise noted(
        NotImplementedError(f"torch.hub.{name}: wengert downloads neither code nor models"), f"What to do: {advice}"
    )


def get_dir() -> str:
    """The cache folder: what ``set_dir`` set, else ``$TORCH_HOME/hub``, by default ``~/.cache/torch/hub``."""
    if _folder is not None:
        return _folder
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the cache folder."""
    global _folder
    _folder = os.path.expanduser(d)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> dict[str, Any]:
    """What ``torch.load`` gives for the file of this URL in the cache folder (``checkpoints`` in ``get_dir()``).

    Raises:
        NotImplementedError: it is not there; wengert does not download it.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        _refuse("load_state_dict_from_url", f"download {url} yourself, and put it there as {path!r}")
    return torch.load(path, map_location=map_location, weights_only=weights_only)


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: NotImplementedError."""
    _refuse("load", "download the repository, look at what it does, and import it")


def list(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: NotImplementedError."""
    _refuse("list", "look at the repository's hubconf.py")


def help(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: NotImplementedError."""
    _refuse("help", "look at the repository's hubconf.py")


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """Not there: NotImplementedError."""
    _refuse("download_url_to_file", f"download {url} yourself, and put it there as {str(dst)!r}")
