"""``torch.utils.data``: datasets, samplers and loaders.

>>> import wengert as torch
>>> from wengert.utils.data import DataLoader, TensorDataset
>>> list(DataLoader(TensorDataset(torch.arange(5)), batch_size=2))
[[tensor([0, 1])], [tensor([2, 3])], [tensor([4])]]
"""

from typing import Any

from .dataloader import DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

_DATAPIPES = frozenset(
    (
        "DFIterDataPipe",
        "DataChunk",
        "IterDataPipe",
        "MapDataPipe",
        "argument_validation",
        "functional_datapipe",
        "guaranteed_datapipes_determinism",
        "non_deterministic",
        "runtime_validation",
        "runtime_validation_disabled",
    )
)


def __getattr__(name: str) -> Any:
    if name in _DATAPIPES:
        raise AttributeError(
            f"torch.utils.data.{name}: wengert does not have datapipes, which PyTorch has deprecated; an "
            "IterableDataset with a DataLoader does the same"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
