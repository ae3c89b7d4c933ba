"""``torch.__config__``: what the library was built with."""

from __future__ import annotations

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Versions and the BLAS of NumPy, as ``python -m wengert info`` prints them.

    >>> import wengert as torch
    >>> "NumPy" in torch.__config__.show()
    True
    """
    from wengert._cli.info import report

    return report()


def parallel_info() -> str:
    """The number of threads, as a text."""
    from wengert._tensor_api.settings import get_num_interop_threads, get_num_threads

    return f"at::get_num_threads() : {get_num_threads()}\nat::get_num_interop_threads() : {get_num_interop_threads()}\n"
