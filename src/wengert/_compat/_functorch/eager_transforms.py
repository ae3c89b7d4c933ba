"""The transforms of ``torch.func``."""

from wengert.func import functionalize, hessian, jacfwd, jacrev, jvp, linearize, vjp

__all__ = ["functionalize", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
