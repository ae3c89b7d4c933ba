"""``torch.distributed.checkpoint``: states of models that many processes save and load together, in a folder.

``save`` and ``load``; ``state_dict`` has states of models and optimizers by the names of parameters.
"""

from ..._compat import find_rows
from .api import CheckpointException
from .default_planner import DefaultLoadPlanner, DefaultSavePlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .state_dict_loader import load, load_state_dict
from .state_dict_saver import async_save, save, save_state_dict
from .stateful import Stateful

__all__ = [
    "BytesStorageMetadata", "CheckpointException", "ChunkStorageMetadata", "DefaultLoadPlanner", "DefaultSavePlanner",
    "FileSystemReader", "FileSystemWriter", "Metadata", "MetadataIndex", "StorageMeta", "Stateful", "TensorProperties",
    "TensorStorageMetadata", "async_save", "load", "load_state_dict", "save", "save_state_dict",
]  # fmt: skip

find_rows(globals())
