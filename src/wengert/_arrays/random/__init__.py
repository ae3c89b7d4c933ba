"""PyTorch's distributions on its CPU random stream, as functions from a generator to NumPy arrays.

Every sampler gives the values that PyTorch 2.13 gives on a CPU and spends as much of the stream, so that what is drawn
next agrees too.  The first argument is the `Generator`, or None for `default_generator`.  Samplers of one distribution
take `shape` (a tuple) and `dtype` (a NumPy dtype) next; samplers with a parameter per element take arrays instead and
give the shape these have together.  The result is a new C-contiguous array, filled in C order.  Errors are PyTorch's.

dtypes: float16, bfloat16 (ml_dtypes'), float32, float64, and more where a docstring says so.  Parameters are Python
floats; PyTorch's kernels hold them in float64, and in float32 for `uniform` and `normal` of less than float64.

`_real` has the continuous distributions and coins, `_integers` integers and permutations, `_rejection` what draws
until it accepts, `_categories` multinomial (with `_topk_order`), `_common` what these share.
"""

from .categories import multinomial
from .integers import randint, random, random_from, randperm
from .real import (
    bernoulli,
    bernoulli_tensor,
    cauchy,
    dropout_noise,
    exponential,
    geometric,
    log_normal,
    native_dropout_mask,
    normal,
    normal_serial,
    normal_tensor,
    uniform,
)
from .rejection import binomial, dirichlet, poisson, standard_gamma

__all__ = [
    "bernoulli",
    "bernoulli_tensor",
    "binomial",
    "cauchy",
    "dirichlet",
    "dropout_noise",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "native_dropout_mask",
    "normal",
    "normal_serial",
    "normal_tensor",
    "poisson",
    "randint",
    "random",
    "random_from",
    "randperm",
    "standard_gamma",
    "uniform",
]
