"""The functions of ``torch.fft``, as the operators declare them."""

from ._tensor_api.publish import lend

lend("fft", globals())
