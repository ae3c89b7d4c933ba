"""``python -m torch.distributed.launch``: the older name of ``torch.distributed.run``."""

from __future__ import annotations

from collections.abc import Sequence

from .run import main as _run

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run ``torchrun``."""
    _run(args)


if __name__ == "__main__":
    main()
