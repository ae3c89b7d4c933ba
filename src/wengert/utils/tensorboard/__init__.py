"""``torch.utils.tensorboard``: writes what TensorBoard shows, by the library tensorboardX.

It comes with the extra: ``pip install 'wengert[tensorboard]'``.
"""

from .writer import FileWriter, RecordWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
