"""``functorch.experimental``: what its first releases tried out and ``torch.func`` has now."""

from __future__ import annotations

from wengert.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = ["functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
