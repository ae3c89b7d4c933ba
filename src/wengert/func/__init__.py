"""``torch.func``: function transforms, which nest in any order."""

from ._autodiff import grad, grad_and_value, jvp, linearize, vjp
from ._jacobians import hessian, jacfwd, jacrev
from ._modules import debug_unwrap, functional_call, functionalize, replace_all_batch_norm_modules_, stack_module_state
from ._vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
