"""``torch.utils.collect_env``: what a bug report should tell, as ``python -m wengert info`` does."""

from __future__ import annotations

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """The installation and the machine, a line for each fact."""
    from .._cli.info import report

    return report()


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())  # noqa: T201  what it is for


if __name__ == "__main__":
    main()
