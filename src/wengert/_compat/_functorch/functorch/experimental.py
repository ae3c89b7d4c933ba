"""``functorch.experimental``: functions that ``torch.func`` has today."""

from __future__ import annotations

from wengert.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = ["functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
