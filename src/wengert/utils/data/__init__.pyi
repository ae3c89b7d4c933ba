# Made by tools/make_stubs.py; do not edit.
from .dataloader import *
from .dataset import *
from .sampler import *
from ...utils.data import dataloader as dataloader, dataset as dataset, distributed as distributed, sampler as sampler
from ...utils.data.distributed import DistributedSampler as DistributedSampler
