"""PyTorch's distributions on its CPU random stream, as functions from a generator to NumPy arrays.

Every sampler returns the values that PyTorch 2.13 returns on a CPU and uses as much of the stream, so that later draws
agree too.  The first argument is the `Generator`, or None for `default_generator`.  Samplers of one distribution
take `shape` (a tuple) and `dtype` (a NumPy dtype) next; samplers with a parameter per element take arrays instead,
whose broadcast shape the result has.  The result is a new C-contiguous array, filled in C order.  Errors are PyTorch's.

dtypes: float16, bfloat16 (ml_dtypes'), float32, float64, and more where a docstring says so.  Parameters are Python
floats; PyTorch's kernels hold them in float64, and in float32 for `uniform` and `normal` of less than float64.

`real` has the continuous distributions and coins, `integers` integers and permutations, `rejection` the rejection
samplers, `categories` multinomial (with `topk_order`), `common` their common parts. Each is imported when it is needed.
"""

from importlib import import_module
from typing import Any

_OF = {
    "categories": "multinomial",
    "integers": "randint random random_from randperm",
    "real": "bernoulli bernoulli_tensor cauchy dropout_noise exponential geometric log_normal native_dropout_mask "
    "normal normal_serial normal_tensor uniform",
    "rejection": "binomial dirichlet poisson standard_gamma",
}
_HOME = {name: module for module, names in _OF.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module '{__package__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"{__package__}.{_HOME[name]}"), name)
    return value


__all__ = sorted(_HOME)  # noqa: PLE0605  each comes when it is first asked for
