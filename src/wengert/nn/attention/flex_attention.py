"""``torch.nn.attention.flex_attention``: attention with a function that changes or masks the scores.

``score_mod(score, b, h, q, kv)`` returns a new score; ``mask_mod(b, h, q, kv)`` says whether a score counts. Both take
single numbers and are mapped over all scores with ``vmap``. All scores are computed, including masked ones: a
``BlockMask`` lists the blocks that a fused kernel could skip, but wengert uses only its ``mask_mod``.
"""

from __future__ import annotations

import enum
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import wengert as torch

from ..._base.errors import noted, warn_once
from ..._tape.tensor import Tensor

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask",
    "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

Mod = Callable[..., Tensor]
#: Options of fused kernels, which have no effect: any dict.
FlexKernelOptions = dict[str, Any]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_WHOLE = 1 << 30  # the block size of an attention without mask, which is one block
_BACKENDS = ("AUTO", "TRITON", "FLASH", "TRITON_DECODE")


class AuxRequest(NamedTuple):
    """The additional results that ``flex_attention`` shall return."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The results requested by an ``AuxRequest``; None for the others."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


# ---- functions of positions
class _Kind(enum.Enum):
    SCORE = 5
    MASK = 4


def _kind_of(fn: Mod) -> _Kind:
    """Whether a function changes scores or masks them, according to its number of required arguments."""
    if hasattr(fn, "__code__"):
        needed = fn.__code__.co_argcount - len(getattr(fn, "__defaults__", None) or ())
    else:
        parameters = inspect.signature(fn).parameters.values()
        needed = sum(1 for p in parameters if p.default is inspect.Parameter.empty)
    if needed not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {needed}")
    return _Kind(needed)


def _vmap_for_bhqkv(
    fn: Callable[..., Any],
    prefix: tuple[int | None, ...],
    suffix: tuple[int | None, ...] = (),
    out_dims: Any = 0,
    group_dim: bool = False,
) -> Callable[..., Any]:
    """Map a function of single positions over batch, head (and group), query and key, the key innermost."""
    for mapped in (3, 2, 1, *((1,) if group_dim else ()), 0):
        dims = tuple(0 if i == mapped else None for i in range(4))
        fn = torch.func.vmap(fn, in_dims=prefix + dims + suffix, out_dims=out_dims)
    return fn


def _identity(score: Tensor, batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    return score


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The ``mask_mod`` that masks nothing."""
    return batch.new_ones((), dtype=torch.bool)


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    raise noted(
        RuntimeError("Cannot use mask_mod from a sliced BlockMask."),
        "Why: its function counts positions from the start of the mask that was sliced.",
        "What to do: set sliced.mask_mod to a function made from the unsliced mask's mask_mod.",
    )


def _joined(mask_mods: tuple[Mod, ...], start: bool, name: str) -> Mod:
    if not all(callable(fn) for fn in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_full((), start, dtype=torch.bool)
        for fn in mask_mods:
            found = fn(b, h, q_idx, kv_idx)
            result = result & found if start else result | found
        return result

    joined.__name__ = name
    return joined


def or_masks(*mask_mods: Mod) -> Mod:
    """The ``mask_mod`` that is True where any of these is."""
    return _joined(mask_mods, False, "or_mask")


def and_masks(*mask_mods: Mod) -> Mod:
    """The ``mask_mod`` that is True where all of these are.

    >>> from wengert.nn.attention.flex_attention import and_masks, create_mask
    >>> causal, near = lambda b, h, q, kv: q >= kv, lambda b, h, q, kv: q - kv < 2
    >>> create_mask(and_masks(causal, near), None, None, 3, 3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    return _joined(mask_mods, True, "and_mask")


def _positions(*sizes: int) -> list[Tensor]:
    return [torch.arange(size) for size in sizes]


def create_mask(mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """The mask of a function, of shape (B, H, Q_LEN, KV_LEN); a ``score_mod`` masks scores by making them -inf."""
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    places = _positions(*sizes)
    if _kind_of(mod_fn) is _Kind.MASK:
        return _vmap_for_bhqkv(mod_fn, ())(*places)
    scores = _vmap_for_bhqkv(mod_fn, (0,))(torch.zeros(sizes), *places)
    return ~torch.isneginf(scores)


# ---- blocks
def _to_dense(num_blocks: Tensor, indices: Tensor, columns: int) -> Tensor:
    """1 where a row's list of ``num_blocks`` column indices names the column, of shape (..., rows, columns)."""
    listed = torch.arange(indices.shape[-1]) < num_blocks.unsqueeze(-1)
    at = torch.where(listed, indices, columns).long()  # other entries go to an extra column, which is cut off
    dense = torch.zeros((*indices.shape[:-1], columns + 1), dtype=torch.int32)
    return dense.scatter_(-1, at, 1)[..., :columns].contiguous()


def _to_lists(dense: Tensor) -> tuple[Tensor, Tensor]:
    """The number of ones in each row, and the column indices with those of the ones first, in order."""
    dense = dense.to(torch.int32)
    order = torch.argsort(dense, dim=-1, descending=True, stable=True)
    return dense.sum(dim=-1).to(torch.int32), order.to(torch.int32)


def _transposed(num_blocks: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    return _to_lists(_to_dense(num_blocks, indices, indices.shape[-1]).transpose(-2, -1))


def _cropped(num_blocks: Tensor, indices: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    indices, num_blocks = indices[:, :, :rows, :columns], num_blocks[:, :, :rows]
    num_blocks = torch.where(num_blocks < columns, num_blocks, columns)
    return (indices < num_blocks[:, :, :, None]).sum(dim=-1).to(torch.int32), indices


class BlockMask:
    """A mask by blocks of ``BLOCK_SIZE`` queries and keys, made by ``create_block_mask``.

    For each block of queries, ``kv_num_blocks`` and ``kv_indices`` are the number and the indices of the blocks of keys
    that are partly masked; ``full_kv_num_blocks`` and ``full_kv_indices`` those of the blocks without masked scores.
    ``q_...`` is the same for each block of keys. ``mask_mod`` is the function that masks within blocks.

    Raises:
        RuntimeError: ``kv_indices`` has fewer than two dims.
        AssertionError: only one of a number of blocks and its indices is given.
    """

    _TENSORS = (
        "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
        "full_q_num_blocks", "full_q_indices",
    )  # fmt: skip

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Mod = noop_mask,
    ) -> None:
        _check_lists(kv_indices, full_kv_num_blocks, full_kv_indices, "kv")
        _check_lists(kv_indices, full_q_num_blocks, full_q_indices, "q")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask from the lists of the blocks of queries; the lists of the blocks of keys are computed."""
        _check_lists(kv_indices, full_kv_num_blocks, full_kv_indices, "kv")
        by_key: list[Tensor | None] = [None] * 4
        if compute_q_blocks:
            by_key[:2] = _transposed(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                by_key[2:] = _transposed(full_kv_num_blocks, full_kv_indices)
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        lists: Any = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_key)
        return cls(seq_lengths, *lists, BLOCK_SIZE=size, mask_mod=noop_mask if mask_mod is None else mask_mod)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Lengths, lists, the three entries that only fused kernels use (None), block sizes, ``mask_mod``."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *[getattr(self, name) for name in self._TENSORS], *[None] * 4, *size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of batches, heads, queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of scores."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The percentage of the scores that lie in completely masked blocks."""
        blocks = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            blocks += self.full_kv_num_blocks.sum().item()
        return float(100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel()))

    def to_dense(self) -> Tensor:
        """1 for each block that is not completely masked, of shape (B, H, blocks of queries, blocks of keys)."""
        columns = self.kv_indices.shape[-1]
        dense = _to_dense(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return dense
        return dense | _to_dense(self.full_kv_num_blocks, self.full_kv_indices, self.full_kv_indices.shape[-1])

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of at most ``limit`` heads, of about ``grid_size`` characters; -1 shows every block."""
        dense = self.to_dense()
        *batch, rows, columns = dense.shape
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        step = [1 if n == -1 else max(1, -(-size // n)) for size, n in zip((rows, columns), most, strict=True)]
        pictures = []
        for i, at in enumerate(itertools.product(*[range(n) for n in batch])):
            if i == limit:
                pictures += [
                    "...",
                    "To print out more, set BlockMask.to_string(limit=N)",
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
                ]
                break
            pictures.append(_picture(dense[at], at, *step))
        return "\n".join(pictures)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        shapes = {name: getattr(getattr(self, name), "shape", None) for name in self._TENSORS}
        facts = {**shapes, "BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape, "sparsity": f"{self.sparsity():.2f}%"}
        facts["mask_mod"] = getattr(self.mask_mod, "__name__", self.mask_mod)
        return "BlockMask(\n" + ",\n".join([f"    {name}={value}" for name, value in facts.items()]) + "\n)"

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads and blocks of queries; its ``mask_mod`` must be set again."""
        index = index if isinstance(index, tuple) else (index,)
        index = (*index, *[slice(None)] * (3 - len(index)))
        kept = tuple(_as_slice(i, n) if isinstance(i, int) else i for i, n in zip(index, self._sizes(), strict=False))
        lists = [None if t is None else t[kept] for t in self._by_query()]
        return BlockMask.from_kv_blocks(
            *lists,  # type: ignore[arg-type]  # the first two are there
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_sliced_mask_mod_error,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.kv_num_blocks.shape[:3])

    def _by_query(self) -> tuple[Tensor | None, ...]:
        return self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left corner of the mask, for fewer queries and keys."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])
        lists: list[Tensor | None] = [*_cropped(self.kv_num_blocks, self.kv_indices, rows, columns)]
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            lists += _cropped(self.full_kv_num_blocks, self.full_kv_indices, rows, columns)
        return BlockMask.from_kv_blocks(
            *lists,  # type: ignore[arg-type]  # the first two are there
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=(new_q_len, new_kv_len),
            compute_q_blocks=self.q_indices is not None,
        )

    def to(self, device: Any) -> BlockMask:
        """The mask with its tensors on a device."""
        lists: Any = [None if t is None else t.to(device) for t in (getattr(self, name) for name in self._TENSORS)]
        return BlockMask(self.seq_lengths, *lists, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)


def _check_lists(kv_indices: Tensor, full_num: Tensor | None, full_indices: Tensor | None, side: str) -> None:
    if kv_indices.dim() < 2:
        raise RuntimeError("BlockMask must have at least 2 dimensions")
    if (full_num is None) != (full_indices is None):
        raise AssertionError(f"full_{side}_num_blocks and full_{side}_indices must be both provided or omitted")


def _as_slice(i: int, size: int) -> slice:
    i = i + size if -size <= i < 0 else i
    return slice(i, i + 1)


def _picture(dense: Tensor, at: tuple[int, ...], row_step: int, column_step: int) -> str:
    shades = {0.0: " ", 1.0: "█"}
    text = f"{at}\n"
    for r in range(0, dense.shape[0], row_step):
        for c in range(0, dense.shape[1], column_step):
            share = dense[r : r + row_step, c : c + column_step].float().mean().item()
            text += shades.get(share, "░") * 2
        text += "\n"
    return text


def create_block_mask(
    mask_mod: Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The block mask of a function. B or H may be None if the function does not depend on it.

    Raises:
        AssertionError: ``mask_mod`` is not a function of four arguments.
        NotImplementedError: ``compute_dq_write_order`` is True, which only fused kernels support.

    >>> from wengert.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 256, 256)
    >>> mask.shape, mask.sparsity()
    ((1, 1, 256, 256), 25.0)
    >>> mask.to_dense()
    tensor([[[[1, 0],
              [1, 1]]]], dtype=torch.int32)
    """
    if _kind_of(mask_mod) is not _Kind.MASK:
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if compute_dq_write_order:
        raise NotImplementedError("create_block_mask: compute_dq_write_order is for fused kernels, which are not here")
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = torch.nn.functional.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    b, h, q, kv = mask.shape
    counting = mask.view(b, h, q // rows, rows, kv // columns, columns).sum(dim=(3, 5))
    full: tuple[Tensor | None, Tensor | None] = (None, None)
    partial = counting > 0
    if separate_full_blocks:
        whole = counting == rows * columns
        partial, full = partial & ~whole, _to_lists(whole)
    lists = (*_to_lists(partial), *full)
    return BlockMask.from_kv_blocks(*lists, (rows, columns), mask_mod, (Q_LEN, KV_LEN))


# ---- attention
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """``softmax(score_mod(query @ key.T * scale)) @ value``, without the scores that ``block_mask`` masks.

    Shapes: query (B, Hq, L, E), key (B, Hkv, S, E), value (B, Hkv, S, Ev); the result is (B, Hq, L, Ev). ``scale`` is
    ``1 / sqrt(E)`` by default. With ``enable_gqa`` several heads of the query share one head of the key. The result of
    a completely masked row is zero. All scores are computed: only the ``mask_mod`` of ``block_mask`` is used.

    The result is differentiable, also with respect to tensors that the functions capture; PyTorch's on the CPU is not.

    Returns the output; with ``return_aux`` also an ``AuxOutput``; with ``return_lse`` (deprecated) also the logarithm
    of each row's sum.

    Raises:
        ValueError, NotImplementedError: the shapes do not match each other or the mask.

    Source: Dong et al., Flex Attention, https://arxiv.org/abs/2412.05496.

    >>> from wengert.nn.attention.flex_attention import flex_attention
    >>> q = torch.ones(1, 1, 2, 4)
    >>> flex_attention(q, q, torch.tensor([[[[0.], [4.]]]]), lambda s, b, h, q, kv: torch.where(q >= kv, s, -torch.inf))
    tensor([[[[0.],
              [2.]]]])
    """
    _check_sizes(query, key, value, enable_gqa)
    _check_batches(query, key, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    if return_lse:
        warn_once(
            "return_lse is deprecated and will be removed in v2.10. "
            "Please use return_aux=AuxRequest(lse=True) instead.",
            FutureWarning,
        )
    backend = (kernel_options or {}).get("BACKEND", "AUTO")
    if backend not in _BACKENDS:
        raise ValueError(f"Invalid BACKEND value '{backend}'. Must be one of {_BACKENDS}")
    if block_mask is not None:
        _check_mask(query, key, block_mask)
    scores = _scores(query, key, score_mod, block_mask, scale)
    groups = query.size(1) // value.size(1)
    value = torch.repeat_interleave(value, groups, dim=1)
    weights = scores.softmax(dim=-1).masked_fill((scores == -math.inf).all(dim=-1, keepdim=True), 0.0)
    out = weights.to(query.dtype) @ value
    if return_lse:
        return out, scores.logsumexp(dim=-1)
    if return_aux is not None:
        lse = scores.logsumexp(dim=-1) if return_aux.lse else None
        return out, AuxOutput(lse, scores.amax(dim=-1) if return_aux.max_scores else None)
    return out


def _scores(query: Tensor, key: Tensor, score_mod: Mod | None, block_mask: BlockMask | None, scale: Any) -> Tensor:
    """The scores after ``score_mod`` and the mask, at least in float32."""
    dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    key = torch.repeat_interleave(key, query.size(1) // key.size(1), dim=1)
    scores = query.to(dtype) @ key.to(dtype).transpose(-2, -1)
    scores = scores * (1.0 / math.sqrt(query.size(-1)) if scale is None else scale)
    places = _positions(*scores.shape)
    if score_mod is not None:
        scores = _vmap_for_bhqkv(score_mod, (0,))(scores, *places)
    mask_mod = noop_mask if block_mask is None else block_mask.mask_mod
    if mask_mod is noop_mask:
        return scores
    return torch.where(_vmap_for_bhqkv(mask_mod, ())(*places), scores, torch.tensor(-math.inf, dtype=scores.dtype))


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.size(-1)} and E={key.size(-1)}."
        )
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads = f"but got Hq={query.size(1)} and Hkv={key.size(1)}."
    if not enable_gqa and query.size(1) != key.size(1):
        raise ValueError(
            f"Expect query and key/value to have the same number of heads {heads} Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and query.size(1) % key.size(1):
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA {heads}")


def _check_batches(query: Tensor, key: Tensor, block_mask: BlockMask | None) -> None:
    if query.size(0) == key.size(0):
        return
    sizes = f"Bq={query.size(0)}, {'and ' if block_mask is None else ''}Bkv={key.size(0)}"
    if block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but got "
            f"block_mask=None, {sizes}."
        )
    if block_mask.kv_num_blocks.size(0) != query.size(0):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to have the same batch "
            f"size, but got {sizes}, B_block_mask={block_mask.kv_num_blocks.size(0)}."
        )


def _check_mask(query: Tensor, key: Tensor, block_mask: BlockMask) -> None:
    if block_mask.mask_mod is _sliced_mask_mod_error:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    lengths = (query.size(-2), key.size(-2))
    if tuple(block_mask.BLOCK_SIZE) == (_WHOLE, _WHOLE) or lengths == tuple(block_mask.shape[-2:]):
        return
    smaller = any(have > made for have, made in zip(lengths, block_mask.shape[-2:], strict=True))
    raise ValueError(
        f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={lengths[0]} and "
        f"kv_len={lengths[1]}. As the block mask was created for a {'smaller' if smaller else 'larger'} length than "
        "you're using it for, "
        + (
            "you likely need to create a new block mask."
            if smaller
            else "you can either 1. create a new block mask with the correct length, or 2. 'adjust' the existing block "
            "mask to the correct length by calling block_mask._adjust(q_len, kv_len). This essentially 'crops' the "
            "block mask to the upper left corner, which does not work for all mask_mods!"
        )
    )
