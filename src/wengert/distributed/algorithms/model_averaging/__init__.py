"""``torch.distributed.algorithms.model_averaging``: the mean of parameters that were trained apart."""

from . import averagers, utils

__all__ = ["averagers", "utils"]
