"""The functions of ``torch.linalg``, as the operators declare them."""

from ._methods import namespace

globals().update(namespace("linalg"))
__all__ = sorted(namespace("linalg"))  # noqa: PLE0605
