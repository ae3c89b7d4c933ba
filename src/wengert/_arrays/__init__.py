"""NumPy only: what NumPy lacks or is slow at. No tensor, and no operator, is known here.

``library.lib``, which operators' bodies are given, is NumPy's namespace and every function here under ``@in_lib``.
"""

from . import (
    along,
    attention,
    batch_norm,
    counting,
    extrema,
    kernels,
    large,
    linalg,
    losses,
    norms,
    order_statistics,
    recurrent,
    scan,
    softmax,
    sorting,
    sums,
)
