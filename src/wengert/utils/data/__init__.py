"""``torch.utils.data``: datasets, samplers and loaders.

>>> import wengert as torch
>>> from wengert.utils.data import DataLoader, TensorDataset
>>> list(DataLoader(TensorDataset(torch.arange(5)), batch_size=2))
[[tensor([0, 1])], [tensor([2, 3])], [tensor([4])]]
"""

from typing import Any

from .dataloader import *  # noqa: F403
from .dataloader import __all__ as _of_loaders
from .dataloader import _DatasetKind
from .dataset import *  # noqa: F403
from .dataset import __all__ as _of_datasets
from .distributed import DistributedSampler
from .sampler import *  # noqa: F403
from .sampler import __all__ as _of_samplers

__all__ = ["DistributedSampler", *_of_loaders, *_of_datasets, *_of_samplers]  # noqa: PLE0604

_DATAPIPES = frozenset((
    "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation", "functional_datapipe",
    "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation", "runtime_validation_disabled",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _DATAPIPES:
        raise AttributeError(
            f"torch.utils.data.{name}: wengert does not have datapipes, which PyTorch has deprecated; an "
            "IterableDataset with a DataLoader does the same"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
