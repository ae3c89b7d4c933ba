"""Layers as PyTorch computes them where wengert's own run fewer operators: attention, recurrent, batch norms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import wengert as torch

from ..autograd import function
from ..fx._naming import as_torch
from ..fx._patching import _new_patcher
from ..nn.modules import batchnorm
from ..nn.modules.module import Module
from ..nn.modules.rnn import RNNBase
from ..nn.utils.rnn import PackedSequence
from ._composed import composed


@composed
def multi_head_attention_forward(
    r: Any, query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any,
    in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any,
    out_proj_bias: Any, training: bool = True, key_padding_mask: Any = None, need_weights: bool = True,
    attn_mask: Any = None, use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None,
    v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:  # fmt: skip
    """Attention over batched (L, N, E) inputs without the rarer options."""
    rare = (bias_k, bias_v, static_k, static_v, key_padding_mask)
    if query.dim() != 3 or add_zero_attn or any(x is not None for x in rare) or use_separate_proj_weight:
        return NotImplemented
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        zero = torch.zeros_like(attn_mask, dtype=query.dtype)
        attn_mask = zero.masked_fill_(attn_mask, float("-inf"))
    length, batch, width = query.shape
    heads = width // num_heads
    if query is key and key is value:
        projected = torch.nn.functional.linear(query, in_proj_weight, in_proj_bias)
        parts = projected.unflatten(-1, (3, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        q, k, v = parts[0], parts[1], parts[2]
    else:
        weights = in_proj_weight.chunk(3)
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (
            torch.nn.functional.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)
        )
    q, k, v = (x.view(x.shape[0], batch * num_heads, heads).transpose(0, 1) for x in (q, k, v))
    mask = None
    if attn_mask is not None:
        mask = attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask
    if need_weights:
        q_scaled = q * (1.0 / heads) ** 0.5
        if mask is not None:
            scores = torch.baddbmm(mask, q_scaled, k.transpose(-2, -1))
        else:
            scores = torch.bmm(q_scaled, k.transpose(-2, -1))
        scores = torch.nn.functional.softmax(scores, dim=-1)
        if dropout_p > 0.0 and training:
            scores = torch.nn.functional.dropout(scores, p=dropout_p)
        output = torch.bmm(scores, v).transpose(0, 1).reshape(length * batch, width)
        output = torch.nn.functional.linear(output, out_proj_weight, out_proj_bias)
        output = output.view(length, batch, output.size(1))
        weights = scores.view(batch, num_heads, length, k.shape[1])
        return output, weights.mean(dim=1) if average_attn_weights else weights
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view(batch, num_heads, -1, k.shape[1])
    q, k, v = (x.view(batch, num_heads, x.shape[1], heads) for x in (q, k, v))
    output = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, dropout_p if training else 0.0, is_causal and mask is None
    )
    output = output.permute(2, 0, 1, 3).reshape(batch * length, width)
    output = torch.nn.functional.linear(output, out_proj_weight, out_proj_bias)
    return output.view(length, batch, output.size(1)), None


def _recurrent(r: Any) -> Any:
    """The ``forward`` of recurrent layers, which calls ``torch.lstm`` and its like."""

    def forward(self: Any, input: Any, hx: Any = None) -> Any:
        packed = input if isinstance(input, PackedSequence) else None
        sizes = order = None
        batched = True
        if packed is not None:
            input, sizes, order = packed.data, packed.batch_sizes, packed.sorted_indices
            hx = None if hx is None else self.permute_hidden(hx, order)
        else:
            self._check_dims(input, hx)
            batched = input.dim() == 3
        at = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(at)
            hx = tuple(s.unsqueeze(1) for s in hx) if isinstance(hx, tuple) else hx if hx is None else hx.unsqueeze(1)
        pair = self.mode == "LSTM"
        if hx is None:
            widths = [self.proj_size or self.hidden_size, self.hidden_size][: 1 + pair]
            shapes = [self._state_shape(input, sizes, width) for width in widths]
            zeros = tuple(torch.zeros(*s, dtype=input.dtype, device=input.device) for s in shapes)
            hx = zeros if pair else zeros[0]
        else:
            self.check_forward_args(input, hx, sizes)
        weights = [getattr(self, name) for names in self._all_weights for name in names]
        first = (input,) if sizes is None else (input, sizes)
        r.note_call(self.mode.lower(), "builtin_function_or_method", self.mode)
        result = r.operator(
            self.mode.lower(), *first, list(hx) if pair else hx, weights, self.bias, self.num_layers,
            float(self.dropout), self.training, self.bidirectional, *([self.batch_first] if sizes is None else []),
        )  # fmt: skip
        output, hidden = result[0], tuple(result[1:]) if pair else result[1]
        if packed is not None:
            hidden = self.permute_hidden(hidden, packed.unsorted_indices)
            return PackedSequence(output, sizes, order, packed.unsorted_indices), hidden
        if not batched:
            output = output.squeeze(at)
            hidden = tuple(s.squeeze(1) for s in hidden) if pair else hidden.squeeze(1)
        return output, hidden

    return forward


@contextmanager
def layers_replaced(r: Any) -> Iterator[None]:
    """A context in which layers and custom functions are PyTorch's: recurrent layers, and batch norms' counts."""
    plain, count, run = RNNBase.forward, batchnorm._count, function._run
    RNNBase.forward = _recurrent(r)
    batchnorm._count = lambda tracked: tracked.add_(1)
    function._run = partial(_run_function, r, run)
    try:
        yield
    finally:
        RNNBase.forward, batchnorm._count, function._run = plain, count, run


def _run_function(r: Any, run: Any, *args: Any) -> Any:
    """A custom function: its operators are written as those of the program around it."""
    r.note_grad_mode()
    before, r.in_function = r.in_function, True
    try:
        return run(*args)
    finally:
        r.in_function = before


class _Paths:
    """The dotted name by which the program has last reached each module below a root."""

    def __init__(self, root: Module) -> None:
        named = list(root.named_modules(remove_duplicate=False))
        self.of = {id(module): path for path, module in reversed(named)}
        self.shared = len(self.of) < len(named)  # whether a module has several names

    def reached(self, owner: Module, name: str, module: Module) -> None:
        """The program has got a module, and those below it, from another one."""
        path = self.of.get(id(owner))
        if path is not None and id(module) in self.of:
            start = f"{path}.{name}" if path else name
            for below, m in reversed(list(module.named_modules(remove_duplicate=False))):
                self.of[id(m)] = f"{start}.{below}" if below else start


@contextmanager
def layers_noted(r: Any, root: Module) -> Iterator[None]:
    """A context in which nodes tell the modules whose ``forward`` makes them: ``meta["nn_module_stack"]``."""
    paths, calls = _Paths(root), Counter[str]()
    r.module_stack = {}
    plain_call, plain_get = Module.__call__, Module.__getattr__

    def call(mod: Module, *args: Any, **kwargs: Any) -> Any:
        path = paths.of.get(id(mod))
        if path is None:
            return plain_call(mod, *args, **kwargs)
        key = f"L__self__{path}" + (f"@{calls[path]}" if calls[path] else "")
        calls[path] += 1
        r.module_stack[key] = path, f"{as_torch(type(mod).__module__)}.{type(mod).__qualname__}"
        try:
            return plain_call(mod, *args, **kwargs)
        finally:
            del r.module_stack[key]

    def get(mod: Module, name: str) -> Any:
        value = plain_get(mod, name)
        if isinstance(value, Module):
            paths.reached(mod, name, value)
        return value

    with _new_patcher() as patcher:
        patcher.patch_method(Module, "__call__", call, deduplicate=False)
        if paths.shared:
            patcher.patch_method(Module, "__getattr__", get, deduplicate=False)
        yield
