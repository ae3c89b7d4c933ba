"""The functions of ``torch.fft``, as the operators declare them."""

from ._tensor_api.publish import namespace

globals().update(namespace("fft"))
__all__ = sorted(namespace("fft"))  # noqa: PLE0605
