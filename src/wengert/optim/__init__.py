"""``torch.optim``: optimizers and learning-rate schedules.

>>> import wengert as torch
>>> w = torch.tensor([4.], requires_grad=True)
>>> optimizer = torch.optim.SGD([w], lr=0.5)
>>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
>>> for _ in range(2):
...     optimizer.zero_grad()
...     w.sum().backward()
...     optimizer.step()
...     scheduler.step()
>>> w
tensor([3.2500], requires_grad=True)
"""

from . import lr_scheduler, swa_utils
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))  # noqa: PLE0605
__all__ += ["lr_scheduler", "swa_utils"]
