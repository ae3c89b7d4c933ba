"""The functions of ``torch.linalg``, as the operators declare them."""

from ._tensor_api.publish import lend

lend("linalg", globals())
