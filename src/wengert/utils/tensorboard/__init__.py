"""``torch.utils.tensorboard``: writes files for TensorBoard, with the library tensorboardX.

It needs an extra: ``pip install 'wengert[tensorboard]'``.
"""

from .writer import FileWriter, RecordWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
