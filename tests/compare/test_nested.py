"""Nested tensors of both layouts beside PyTorch's: text, parts, gradients, errors."""

from __future__ import annotations

import copy
import re
import warnings
from types import ModuleType
from typing import Any

import pytest

import wengert

MAKING = """
a, b, c = T.arange(6.).reshape(2, 3), T.arange(8.).reshape(2, 4), T.arange(9.).reshape(3, 3)
J = T.jagged
"""
STRIDED = """
s = T.nested.nested_tensor([a, b]); r = T.nested.nested_tensor([a, c])
q = T.nested.nested_tensor([a, c], requires_grad=True); t = r.transpose(1, 2)
"""
JAGGED = """
n = T.nested.nested_tensor([a, c], layout=J); q = T.nested.nested_tensor([a, c], layout=J, requires_grad=True)
o = T.nested.nested_tensor([c, a], layout=J)
m = T.nested.nested_tensor([T.arange(12.).reshape(2, 2, 3), T.arange(18.).reshape(3, 2, 3)], layout=J)
h = T.nested.nested_tensor_from_jagged(T.arange(12.).reshape(6, 2), T.tensor([0, 2, 3, 6]), T.tensor([1, 1, 2]))
"""
PROGRAMS = {
    STRIDED: """
    s; q; q * 2; q.unbind(); q.values(); q.to_padded_tensor(0.)
    t; t + 1; t.contiguous(); s.shape; s.size(0); s.size(2); r.size(1); r.size(3); s.dim(); s.numel()
    s.layout; s.is_nested; t.is_contiguous(); s.stride(); s.unbind(); s.unbind(1); s + s; s + r; r + a; s - 1; s / s
    s.exp(); s.sum(); s.sum(1); s.sum(-1); s.sum(-1, keepdim=True); s.sum((1, 2), True); s.mean(); r.softmax(-1)
    F.softmax(r, 1); F.softmax(r, 0); F.layer_norm(r, (3,)); F.layer_norm(r, (3,), T.ones(3), T.zeros(3))
    F.linear(r, c, T.ones(3)); F.linear(s, c); r @ c; r @ r; r @ t; T.bmm(r, t); T.bmm(s, s); r.transpose(0, 1)
    F.relu(s); F.gelu(s / 4); s[0]; s[0, :, 1]; s[2]; s[:, 0]; r[..., 0]; s.chunk(2, -1); r.chunk(3, -1); r.select(1, 0)
    r.narrow(0, 0, 1); r.narrow(0, 1, 3); r.narrow(1, 0, 1); r.unsqueeze(-1); r.unsqueeze(0); r.squeeze(0)
    r.reshape(2, -1, 3, 1); r.reshape(2, 2, 3); r.reshape(-1); s.to(T.float64); s.clone(); s == s; s > 1; len(s)
    T.nested.to_padded_tensor(s, 0.); T.nested.to_padded_tensor(s, 1., (3, 3, 5)); s.to_padded_tensor(1., (2, 1, 1))
    s.to_padded_tensor(1., (2, 3)); T.cat([r, r], -1); T.cat([s, s]); T.ones_like(s); s._nested_tensor_size()
    t._nested_tensor_strides(); s._nested_tensor_storage_offsets(); s.masked_fill(s > 1, 5.); s.add_(1); s.zero_()
    s.copy_(r); s.fill_(2.); s.backward(); q.backward(); q.backward(q.detach()) or q.grad; s.item(); s.tolist()
    (q * q).backward(q.detach()) or q.grad; q.unbind()[1].sum().backward() or q.grad; s.T; s.mT; r.is_same_size(s)
    T.nested.nested_tensor([]); T.nested.nested_tensor([1, 2]); T.nested.nested_tensor([[1, 2], [3.]])
    T.nested.nested_tensor([a, T.ones(1)]); T.nested.nested_tensor(3); T.nested.as_nested_tensor(a)
    T.nested.as_nested_tensor([1]); T.nested.as_nested_tensor(s); T.nested.nested_tensor([a], layout=T.sparse_coo)
    T.nested.as_nested_tensor([a > 1, a.clone().requires_grad_()])
    T.nested.narrow(c, 0, 0, 2); T.nested.narrow(c, 1, 0, 2); T.nested.narrow(c, 1, 'a', 2)
    """,
    JAGGED: """
    n; q; q * 2; q.unbind(); q.values(); q.to_padded_tensor(0.)
    n.shape; n.size(1); n.size(-1); n.dim(); n.numel(); n.layout; n.is_contiguous(); n.unbind(1); n + 1; 1 - n
    n + n; n + o; n ** 2; n + T.ones(3); n + T.ones(2, 1, 3); n + T.ones(5, 3); n.sum(); n.sum(0); n.sum(1); n.sum(2)
    n.sum(1, keepdim=True); n.sum((0, 1)); n.sum((1, 2)); n.mean(1); n.mean((1, 2)); n.amax(1); n.max(1); n.argmax(1)
    n.any(1); n.prod(1); n.var(1); n.softmax(1); n.softmax(2); n.softmax(0); F.log_softmax(n, 1); F.relu(n); F.silu(n)
    F.layer_norm(n, (3,)); F.layer_norm(m, (2, 3)); F.rms_norm(n, (3,)); F.linear(n, c); n @ c; n @ n
    n @ T.ones(2, 3, 4); T.bmm(n, T.ones(2, 3, 4)); n.transpose(1, 2); n.transpose(0, 1)
    n.permute(0, 2, 1); n.permute(1, 0, 2); n[0]; n[0, 1]; n[:, 0]; n[..., 0]; n[-1]
    n.transpose(1, 2).contiguous(); n.select(2, 1); n.select(1, 0); n.chunk(3, -1)
    n.chunk(2, 0); n.chunk(2, 1); n.split([1, 2], -1); n.narrow(-1, 0, 2); n.to(T.float64); n.detach()
    n.reshape(2, -1, 3, 1); n.view(2, 5, 3); n.unsqueeze(-1); n.unsqueeze(0); m.squeeze(1); m.unflatten(-1, [3, 1])
    m.flatten(2); m.flatten(1, 2); T.nested.to_padded_tensor(n, 0.); n.to_padded_tensor(1., (2, 4, 3)); n.values()
    n.offsets(); n.lengths(); n._max_seqlen; h; h.unbind(); h.is_contiguous(); h.contiguous(); h.sum(1); h.numel()
    h + 1; h.to_padded_tensor(0.); T.cat([n, n], -1); T.cat([n, n], 1); T.stack([n, n], 3); n == n; n > 1
    T.ones_like(n); len(n); n.item(); n.tolist(); n.numpy(); n.backward(); n.masked_fill(n > 1, 0); T.where(n > 1, n, n)
    n.cumsum(1); (q * q).sum().backward() or q.grad; q.unbind()[1].sum().backward() or q.grad
    q.softmax(-1).to_padded_tensor(0.).pow(2).sum().backward() or q.grad; n.stride(); bool(n); n.T
    n.shape == n.clone().shape; n.shape == o.shape; n.size(1) * 2; n.size(1) > 1; n.size(1) == 3; n.size(1) < 2
    F.scaled_dot_product_attention(*[m.transpose(1, 2)] * 3); n.add_(1); n.zero_(); F.embedding(n.long() % 3, c)
    T.nested.nested_tensor([], layout=J); T.nested.nested_tensor([1, 2], layout=J)
    T.nested.as_nested_tensor(n, layout=J)
    T.nested.nested_tensor([a, T.ones(1)], layout=J); T.nested.nested_tensor([a, T.ones(4, 4)], layout=J)
    T.nested.nested_tensor([a, a.double()], layout=J); T.nested.as_nested_tensor(n); T.nested.masked_select(c, c > 2)
    T.nested.narrow(c, 1, 0, 2, layout=J); T.nested.narrow(c, 0, 0, 2, layout=J); T.nested.nested_tensor_from_jagged(c)
    T.nested.narrow(c, 1, T.tensor([0, 1, 1]), T.tensor([1, 2, 1]), layout=J); T.nested.as_nested_tensor(a, layout=J)
    T.nested.nested_tensor_from_jagged(c, lengths=T.tensor([1, 2]))
    T.nested.nested_tensor_from_jagged(c, T.tensor([0, 1, 3]), jagged_dim=2)
    T.nested.nested_tensor_from_jagged(c, T.tensor([0, 1, 3]), jagged_dim=0)
    """,
}


def told(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [told(v) for v in value]
    parts = value.unbind() if getattr(value, "is_nested", False) else ()
    text = repr(value), [(p.detach(), p.stride()) for p in parts]
    return re.sub(r"\bj\d+", "j", re.sub(r" at 0x\w+", "", str(text)))


def outcome(T: ModuleType, making: str, program: str) -> Any:
    scope = {"T": T, "F": T.nn.functional}
    with warnings.catch_warnings(action="ignore"):
        try:
            exec(MAKING + making, scope)
            return told(eval(program, scope))
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            sentence = re.split(r"\. (?=[A-Z])|\n", str(error))[0].removesuffix(".")
            overload = r"(aten[.:]+[a-z_]+)[.][a-zA-Z_]+"  # which a function has only inside of PyTorch
            return type(error).__name__, re.sub(r"\bj\d+", "j", re.sub(overload, r"\1", sentence))


@pytest.mark.parametrize(
    ("making", "program"),
    [(making, p.strip()) for making, text in PROGRAMS.items() for p in re.split(r";|\n", text) if p.strip()],
)
def test_a_program_of_nested_tensors(torch: ModuleType, making: str, program: str) -> None:
    assert outcome(wengert, making, program) == outcome(torch, making, program)


def test_deep_copies_have_the_programs_attributes(torch: Any) -> None:
    for lib in (torch, wengert):
        nested = lib.nested.nested_tensor([lib.ones(2), lib.ones(3)], layout=lib.jagged)
        nested.tag = ["a"]
        copied = copy.deepcopy(nested)
        assert copied.tag == ["a"] and copied.tag is not nested.tag
