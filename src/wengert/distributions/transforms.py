"""Invertible maps of tensors, with their inverses and Jacobians.

>>> import wengert as torch
>>> from wengert.distributions import transforms
>>> t = transforms.AffineTransform(1., 2.)
>>> t(torch.tensor(3.)), t.inv(torch.tensor(7.))
(tensor(7.), tensor(3.))
"""

from ._bijectors import (
    AbsTransform,
    AffineTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    _clipped_sigmoid,  # noqa: F401  public programs import it from here
)
from ._transform import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    _InverseTransform,  # noqa: F401  as above
)

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip

identity_transform = ComposeTransform([])

for _value in list(globals().values()):
    if isinstance(_value, type) and issubclass(_value, Transform):
        _value.__module__ = __name__  # where a pickle finds it again
del _value
