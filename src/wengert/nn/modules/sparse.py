"""Embedding layers: rows of a table by index."""

from __future__ import annotations

from typing import Any, Self

import wengert as torch

from ..._base.grad_mode import no_grad
from ..._tape.tensor import Tensor
from .. import init
from ..parameter import Parameter
from ._making import FunctionLayer, unusual

__all__ = ["Embedding", "EmbeddingBag"]

_USUAL: dict[str, Any] = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}


class _Table(FunctionLayer):
    """Base of both embeddings: the table of vectors."""

    num_embeddings: int
    padding_idx: int | None
    embedding_dim: int
    weight: Tensor

    def _own_padding(self, padding_idx: int | None, name: str) -> int | None:
        if padding_idx is None:
            return None
        if not -self.num_embeddings <= padding_idx < self.num_embeddings:
            raise AssertionError(f"{name} must be within num_embeddings")
        return padding_idx + self.num_embeddings if padding_idx < 0 else padding_idx

    def _set_options(self, max_norm: float | None, norm_type: float, scale_grad_by_freq: bool, sparse: bool) -> None:
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    def _make_weight(self, given: Tensor | None, requires_grad: bool, device: Any, dtype: Any) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype), requires_grad=requires_grad)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(given, requires_grad=requires_grad)

    def reset_parameters(self) -> None:
        """Draw new initial values: normal, and zero at ``padding_idx``."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def _from_table(cls, table: Tensor, **options: Any) -> Any:
        if table.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = table.shape
        return cls(num_embeddings=rows, embedding_dim=columns, _weight=table, **options)


class Embedding(
    _Table,
    function="embedding",
    options="weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
    constants="num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse",
):
    """Vectors of size ``embedding_dim`` for indices below ``num_embeddings``: integers (*) to (*, embedding_dim).

    The vector of ``padding_idx`` starts as zeros and gets no gradient. Vectors longer than ``max_norm`` are shortened
    in place.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.Embedding(10, 3, padding_idx=0)(torch.tensor([0, 2])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._own_padding(padding_idx, "Padding_idx")
        self._set_options(max_norm, norm_type, scale_grad_by_freq, sparse)
        self._make_weight(_weight, not _freeze, device, dtype)

    def extra_repr(self) -> str:
        sparse = "" if self.sparse is False else ", sparse=True"
        return f"{self.num_embeddings}, {self.embedding_dim}" + unusual(self, padding_idx=None, **_USUAL) + sparse

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding with a given table, which is not trained unless ``freeze=False``."""
        return cls._from_table(
            embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(
    _Table,
    function="embedding_bag",
    named="max_norm norm_type scale_grad_by_freq mode sparse include_last_offset padding_idx",
    constants="num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse "
    "include_last_offset padding_idx",
):
    """Sums, means or maxima of the vectors of bags of indices."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._own_padding(padding_idx, "padding_idx")
        self._set_options(max_norm, norm_type, scale_grad_by_freq, sparse)
        self.mode, self.include_last_offset = mode, include_last_offset
        self._make_weight(_weight, True, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """One vector per bag: the rows of a 2-d input, or the parts of a 1-d one that start at ``offsets``."""
        return self._of(input, self.weight, offsets, per_sample_weights=per_sample_weights)

    def extra_repr(self) -> str:
        options = f"{unusual(self, **_USUAL)}, mode={self.mode!r}{unusual(self, padding_idx=None)}"
        return f"{self.num_embeddings}, {self.embedding_dim}{options}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Any:
        """An embedding bag with a given table, which is not trained unless ``freeze=False``."""
        bag = cls._from_table(
            embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag
