"""``torch.distributed.elastic.multiprocessing``: see ``errors``."""

from .errors import ChildFailedError, ProcessFailure, record

__all__ = ["ChildFailedError", "ProcessFailure", "record"]
