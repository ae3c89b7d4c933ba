"""The functions of ``torch.special``, as the operators declare them."""

from ._methods import namespace

globals().update(namespace("special"))
__all__ = sorted(namespace("special"))  # noqa: PLE0605
