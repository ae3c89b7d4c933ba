"""The functions of ``torch.special``, as the operators declare them."""

from ._tensor_api.publish import namespace

globals().update(namespace("special"))
__all__ = sorted(namespace("special"))  # noqa: PLE0605
