"""The layers of ``torch.nn``, in modules by subject."""

from ._making import own_form as _own_form
from .activation import *  # noqa: F403
from .adaptive import *  # noqa: F403
from .attention import *  # noqa: F403
from .batchnorm import *  # noqa: F403
from .channelshuffle import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .flatten import *  # noqa: F403
from .fold import *  # noqa: F403
from .instancenorm import *  # noqa: F403
from .linear import *  # noqa: F403
from .linear_cross_entropy import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pixelshuffle import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .sparse import *  # noqa: F403
from .transformer import *  # noqa: F403
from .upsampling import *  # noqa: F403

__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))  # noqa: PLE0605

_UNKNOWN_TO_PYTORCH = frozenset([
    "_Alpha", "_AvgPoolWithDivisor", "_ConstantPadNd", "_Conv", "_ConvTranspose", "_FractionalMaxPoolNd", "_Inplace",
    "_LazyConvXdMixin", "_MarginLoss", "_MaxUnpoolNd", "_OverDim", "_PadNd", "_Shrink", "_TransformerLayer",
    "_ZeroPadNd",
])  # fmt: skip  # bases whose ``__init__`` each layer has under its own name, which Python's errors show
for _kind in [globals()[name] for name in __all__]:
    if _kind.__init__.__qualname__.partition(".")[0] in _UNKNOWN_TO_PYTORCH:
        _kind.__init__ = _own_form(_kind, _kind.__init__)  # type: ignore[misc]
