"""The functions of ``torch.special``, as the operators declare them."""

from ._tensor_api.publish import lend

lend("special", globals())
