"""The functions of ``torch.linalg``, as the operators declare them."""

from ._tensor_api.publish import namespace

globals().update(namespace("linalg"))
__all__ = sorted(namespace("linalg"))  # noqa: PLE0605
