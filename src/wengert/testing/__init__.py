"""``torch.testing``: comparison of results, random tensors for tests, and checks of texts."""

from .. import rand_like as rand_like
from .. import randn_like as randn_like
from ._comparison import assert_allclose, assert_close
from ._creation import make_non_contiguous as make_non_contiguous
from ._creation import make_tensor
from ._file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
