# Made by tools/make_stubs.py; do not edit.
from ...utils.data import dataloader as dataloader
from ...utils.data import dataset as dataset
from ...utils.data import distributed as distributed
from ...utils.data import sampler as sampler
from ...utils.data._utils.collate import default_collate as default_collate
from ...utils.data._utils.collate import default_convert as default_convert
from ...utils.data._utils.worker import get_worker_info as get_worker_info
from ...utils.data.dataloader import DataLoader as DataLoader
from ...utils.data.dataset import ChainDataset as ChainDataset
from ...utils.data.dataset import ConcatDataset as ConcatDataset
from ...utils.data.dataset import Dataset as Dataset
from ...utils.data.dataset import IterableDataset as IterableDataset
from ...utils.data.dataset import StackDataset as StackDataset
from ...utils.data.dataset import Subset as Subset
from ...utils.data.dataset import TensorDataset as TensorDataset
from ...utils.data.dataset import random_split as random_split
from ...utils.data.distributed import DistributedSampler as DistributedSampler
from ...utils.data.sampler import BatchSampler as BatchSampler
from ...utils.data.sampler import RandomSampler as RandomSampler
from ...utils.data.sampler import Sampler as Sampler
from ...utils.data.sampler import SequentialSampler as SequentialSampler
from ...utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from ...utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler

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
    "dataloader",
    "dataset",
    "default_collate",
    "default_convert",
    "distributed",
    "get_worker_info",
    "random_split",
    "sampler",
]
