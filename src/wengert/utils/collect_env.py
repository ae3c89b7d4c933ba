"""``torch.utils.collect_env``: facts for bug reports, as ``python -m wengert info`` prints them."""

from __future__ import annotations

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """Facts about the installation and the machine, one per line."""
    from .._cli.info import report

    return report()


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())  # noqa: T201  what it is for


if __name__ == "__main__":
    main()
