"""``torch.nn.functional``: the functions that the operators declare.

>>> import wengert as torch
>>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
tensor(2.)
"""

from .._tensor_api.publish import lend
from . import _reduction as _Reduction  # noqa: F401  a name that programs import from here

lend("nn.functional", globals())
