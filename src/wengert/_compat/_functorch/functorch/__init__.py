"""The package ``functorch``, which PyTorch installs beside ``torch``: older names of ``torch.func``.

``python -m wengert run`` finds it as ``functorch``. Each function warns once per line that it is deprecated.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from wengert import func as _func
from wengert._compat import open_rows

from .. import make_functional as _modules
from ..make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers",
    "make_fx", "vjp", "vmap",
]  # fmt: skip


def _deprecated(function: Any, instead: str) -> Callable[..., Any]:
    name = function.__name__
    text = (
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future version of PyTorch >= "
        f"2.3. Please use `{instead}` instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration "
        "guide for more details https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(text, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return warning


vmap = _deprecated(_func.vmap, "torch.vmap")
grad = _deprecated(_func.grad, "torch.func.grad")
grad_and_value = _deprecated(_func.grad_and_value, "torch.func.grad_and_value")
vjp = _deprecated(_func.vjp, "torch.func.vjp")
jvp = _deprecated(_func.jvp, "torch.func.jvp")
jacrev = _deprecated(_func.jacrev, "torch.func.jacrev")
jacfwd = _deprecated(_func.jacfwd, "torch.func.jacfwd")
hessian = _deprecated(_func.hessian, "torch.func.hessian")
functionalize = _deprecated(_func.functionalize, "torch.func.functionalize")
make_functional = _deprecated(_modules.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _deprecated(_modules.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _deprecated(_modules.combine_state_for_ensemble, "torch.func.stack_module_state")


def make_fx(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``torch.fx.experimental.proxy_tensor.make_fx``."""
    from wengert.fx.experimental import proxy_tensor

    return proxy_tensor.make_fx(f, *args, **kwargs)


open_rows(globals())
