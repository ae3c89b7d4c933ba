"""What PyTorch's autograd suite checks, as small programs of our own, run on both libraries.

A table has a preparation and one program a line, as in ``test_autograd_programs``; a program may define functions with
the names that the preparation of its table has.
"""

from __future__ import annotations

from types import ModuleType

import pytest
from compare.test_autograd_programs import outcome

import wengert

NO_GRAD_VIEWS = (
    """
a = T.ones(2, requires_grad=True); x = a.clone()
with T.no_grad(): v, whole = x[:1], x[:]
""",
    """
    r = v.requires_grad, v.grad_fn, v.is_leaf, v._is_view(), v._base is x
    w = v * 2; r = w.requires_grad, w.grad_fn, w.is_leaf
    w = (v * v).sum(); w.backward(); r = v.grad, a.grad, w.grad_fn.next_functions[0][0].next_functions
    v.register_hook(print)
    v.retain_grad()
    v.requires_grad_(); (v * 2).sum().backward(); r = v.grad
    v.requires_grad = False; r = v.requires_grad
    w = v.view(1); r = w.requires_grad, w.grad_fn, w.is_leaf, w._base is x
    v.view(1).add_(1)
    v.add_(1)
    v.zero_()
    v[0] = 2
    x.add_(1); r = v * 2
    x.add_(1); v.grad_fn
    A.grad((x * 2).sum(), v)
    A.grad((v * 2).sum(), v)
    v.detach_()
    r = v.detach().requires_grad, v.data.requires_grad, (v + x).requires_grad
    r = v, v.clone()
    v.numpy()
    v.backward()
    (v + x).sum().backward(); r = a.grad
    with T.inference_mode(): w = x.view(-1)\\n(w * w).sum().backward(); r = w.grad, w.requires_grad, a.grad
    """,
)

HOOKS = (
    """
log = []
a = T.ones(3, requires_grad=True); b = a.clone(); v = b[:2]
def note(name): return lambda g: log.append((name, g if g is None or T.is_tensor(g) else tuple(g)))
def post(name): return lambda i, o: log.append((name, i, o))
""",
    """
    v.register_hook(note('v')); w = v * 2; v.mul_(3); v.register_hook(note('v2')); (v.sum() + w.sum()).backward(); r = log
    v.register_hook(note('v')); b[1:].mul_(3); v.sum().backward(); r = log
    v.register_hook(note('v')); v.retain_grad(); v.mul_(3); (v * 2).sum().backward(); r = log, v.grad
    b.register_hook(note('b')); b.retain_grad(); b.mul_(3); b.register_hook(note('b2')); b.sum().backward(); r = log, b.grad
    v.grad_fn.register_prehook(note('p')); v.mul_(2); (v * v).sum().backward(); r = log
    b.register_hook(note('b')); b.grad_fn.register_prehook(note('p')); b.sum().backward(inputs=(b,)); r = log, b.grad
    c = a.clone(); T.set_grad_enabled(False); a.set_(T.ones(3)); T.set_grad_enabled(True); A.grad(c.sum(), a)
    c = a.exp(); c.sum().backward(inputs=(c,)); c.sum().backward()
    c = a.exp(); A.grad(c.sum(), c); c.sum().backward(); r = a.grad
    c = b * 2; d = b + c; b.register_hook(note('b')); r = A.grad(d.sum(), (c,)), log
    """,
)

NODES = (
    """
x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
C = T._C._functions
def graph(n): return type(n).__name__, n.name(), n.next_functions and [m and m.name() for m, _ in n.next_functions]
class Product(A.Function):
    @staticmethod
    def forward(ctx, a, s, b): ctx.save_for_backward(a, b); ctx.s = s; return a * s * b
    @staticmethod
    @A.function.once_differentiable
    def backward(ctx, g): a, b = ctx.saved_tensors; return g * ctx.s * b, None, g * a * ctx.s
one = T.ones((), requires_grad=True)
""",
    """
    (x * x).sum().backward(create_graph=True); r = graph(x.grad.grad_fn), x.grad
    p, q = A.grad(Product.apply(x, 2, y).sum(), (x, y), one, create_graph=True); r = graph(p.grad_fn), p.grad_fn is q.grad_fn, q.output_nr
    p, q = A.grad(Product.apply(x, 2, y).sum(), (x, y), one, create_graph=True); p.sum().backward()
    z = C.DelayedError('Boom', 1)(x); r = graph(z.grad_fn), z
    z = C.DelayedError('Boom', 2)(x, y); r = z; z[0].sum().backward()
    z = C.UndefinedGrad()(x); z.sum().backward(); r = graph(z.grad_fn), x.grad
    N = A.graph.Node; r = isinstance(x.exp().grad_fn, N), issubclass(C.AccumulateGrad, N), isinstance(N, N), N in type(x.exp().grad_fn).__mro__
    z = x * x; m = z.grad_fn._input_metadata; r = len(m), m[0].shape, m[0].dtype, m[0].device, m[0].is_nested_tensor
    v, w = T.var_mean(T.ones(2, 3, requires_grad=True), 0); m = w.grad_fn._input_metadata; r = [(k.shape, k.dtype) for k in m]
    e = A.graph.get_gradient_edge(x.exp()); A.grad(e, x)
    e = A.graph.get_gradient_edge(x.exp()); A.grad(e, x, grad_outputs=T.ones(4))
    e = A.graph.get_gradient_edge(x.exp()); A.grad(e, x, grad_outputs=T.ones(2, dtype=T.complex64))
    e = A.graph.get_gradient_edge(x.exp().sum()); A.backward(e, grad_tensors=T.ones(4))
    """,
)

DIRTY = (
    """
import types
a = T.ones(2, requires_grad=True)
def call(body, *args):
    class Body(A.Function):
        forward = staticmethod(body)
        @staticmethod
        def backward(ctx, *g): return (g[0],) * len(args)
    return Body.apply(*args)
def add(ctx, i): i.add_(1); ctx.mark_dirty(i); return i
def two(ctx, i): i.add_(1); ctx.mark_dirty(i); return i, i + 1
def lost(ctx, i): i.add_(1); ctx.mark_dirty(i); return i.clone()
def other(ctx, i): o = i * 2; ctx.mark_dirty(o); return o
def view(ctx, i): o = i.clone().view(2); ctx.mark_dirty(o); return o
def plain(ctx, i): p, q = i.clone(), i.clone(); ctx.mark_non_differentiable(q); ctx._materialize_non_diff_grads = False; return p, q
""",
    """
    x = a.clone(); y = call(add, x); r = y is x, x.grad_fn, x._version
    x = a.clone(); v = x[:1]; y = call(add, v); r = y is v, v.grad_fn, x.grad_fn
    call(add, a)
    call(add, a.view_as(a))
    call(add, a.clone().split(1)[0])
    x = a.clone(); T.set_grad_enabled(False); v = x[:1]; T.set_grad_enabled(True); call(add, v)
    r = call(two, a.clone())
    call(two, a.clone().view(2))
    call(two, a.clone().split(1)[0])
    call(lost, a.clone())
    call(lost, a.detach().clone())
    r = call(other, a.clone())
    call(view, a.clone())
    p, q = call(plain, a); n = p.grad_fn; n.register_prehook(lambda g: print(g)); r = q.requires_grad, A.grad(p.sum(), a)
    """,
)

CONJUGATES = (
    """
x = T.tensor([[1 + 2j, 3 - 1j], [2j, 1]], requires_grad=True); a = x * 1; d = a.detach().clone(); c = d.conj()
""",
    """
    r = c.is_conj(), c._is_view(), c._base is d, c.conj().is_conj(), c.resolve_conj().is_conj(), c.clone().is_conj()
    r = c.detach().is_conj(), c.view(-1).is_conj(), c[0].is_conj(), T.is_conj(d.mH), d.mH.mH.is_conj(), d.T.is_conj()
    v = c.imag; r = v, v.is_neg(), c.real.is_neg(), v._neg_view().is_neg(), v.resolve_neg().is_neg(), d.imag.is_neg()
    c.mul_(1j); r = d, c, d._version, c._version
    d[0] = 5 + 1j; r = c
    c[1] = 1j; c.imag.fill_(3); r = d, c
    c.conj().add_(1); r = d, c
    d.zero_(); c.copy_(T.ones(2, 2) * 1j); r = d
    d.mH[0] = 0; d.H[:, 1] = 7j; d.adjoint().mul_(2j); r = d
    T.add(d, 1, out=d); r = c; T.mul(d, 2j, out=c); r = r, d
    c.masked_fill_(c.real > 2, 1j); c.index_put_((T.tensor([1]),), T.tensor(3j)); r = d
    v = d._neg_view(); v[0].add_(10); v.t()[1] = 3; r = d, v, v.is_neg()
    c = a.conj(); c.mul_(2j); (a * (1 + 1j)).sum().abs().backward(); r = x.grad, a.grad_fn, c.grad_fn
    c = a.conj(); a.mul_(2j); (c * (1 + 1j)).sum().abs().backward(); r = x.grad, c.grad_fn
    c = a.mH; c[0].mul_(2j); a[1].mul_(3); (c * a).sum().abs().backward(); r = x.grad + 0j
    p = a[..., :1]; c = p.conj(); a.mH.imag.add_(1); p.copy_(c); (a * a).sum().abs().backward(); r = x.grad
    v = a.conj().imag; v[0].mul_(10); (a * a).sum().abs().backward(); r = x.grad
    c = a.conj(); w = a * a; c.mul_(2j); w.sum().abs().backward()
    c = a.conj(); c.mul_(a); a.sum().abs().backward()
    x.conj().mul_(2)
    T.set_grad_enabled(False); c = x.conj(); r = c.requires_grad, c.is_leaf; c.mul_(2); r = r, x
    T.set_grad_enabled(False); c = a.conj(); T.set_grad_enabled(True); c.mul_(2)
    T.view_as_real(c)
    s = T.tensor(1 + 1j); c = s.conj(); c.mul_(2); r = s, c
    level = A.forward_ad.dual_level(); level.__enter__(); t = d.clone(); p = A.forward_ad.make_dual(c, t); r = A.forward_ad.unpack_dual(p)[1] is t, A.forward_ad.unpack_dual(p)[1]
    """,
)

DUAL = (
    """
fw = A.forward_ad; level = fw.dual_level(); level.__enter__()
d = fw.make_dual(T.ones(2), T.tensor([2., 3.])); plain = T.tensor([1., 0.])
""",
    """
    r = d == plain, d.eq_(plain), fw.unpack_dual(d).tangent
    d.gt_(plain); r = d * 2, fw.unpack_dual(d).tangent
    T.igamma(d, d)
    T.igammac(d, plain)
    ones = T.ones(1, 2, 3, 3); w = fw.make_dual(T.ones(4, 2, 2, 2), T.ones(4, 2, 2, 2)); r = T.ops.aten.convolution_backward(T.ones(1, 4, 2, 2), ones, w, (4,), (1, 1), (0, 0), (1, 1), False, (0, 0), 1, (False, True, True))
    level.__exit__(None, None, None); r = T.ops.aten._new_zeros_with_same_feature_meta(T.ones(2, 5), T.ones(3, 4).t(), self_num_batch_dims=1).stride()
    b = T.arange(24.).view(2, 3, 4); s = b[:, 1:2].detach(); r = T.ops.aten.slice_inverse(s, b, 1, 1, 2).shape
    """,
)

CHECKPOINTS = (
    """
checkpoint = __import__(T.__name__ + '.utils.checkpoint', fromlist=['x']).checkpoint
a, b, kept = T.ones(1, requires_grad=True), T.tensor(1.), []
class Keeps(A.Function):
    @staticmethod
    def forward(ctx, x, y): ctx.save_for_backward(y); return x * 1
    @staticmethod
    def backward(ctx, g): kept.extend(ctx.saved_tensors); return g, None
class Nan(A.Function):
    @staticmethod
    def forward(ctx, x): return x.sum(0, keepdim=True)
    @staticmethod
    def backward(ctx, g): g = g.expand(3).clone(); g[0] = 0; g[0] /= 0; return g
""",
    """
    checkpoint(Keeps.apply, a, b, use_reentrant=False).backward(); r = kept[0] is b
    with A.graph.saved_tensors_hooks(lambda x: x, lambda x: x): c = Keeps.apply(a, b)\\nc.backward(); r = kept[0] is b
    o = Nan.apply(T.ones(3, requires_grad=True))\\nwith A.set_detect_anomaly(True): o.backward()
    """,
)

TABLES = {
    "no_grad views": NO_GRAD_VIEWS,
    "hooks": HOOKS,
    "nodes": NODES,
    "dirty": DIRTY,
    "conjugates": CONJUGATES,
    "dual": DUAL,
    "checkpoints": CHECKPOINTS,
}
PROGRAMS = [
    pytest.param(preparation, line.strip().replace("\\n", "\n"), id=f"{name}: {line.strip()}")
    for name, (preparation, lines) in TABLES.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("preparation", "program"), PROGRAMS)
def test_the_same_as_pytorch(preparation: str, program: str, torch: ModuleType) -> None:
    ours, theirs = (outcome(T, preparation, program) for T in (wengert, torch))
    told = [w.partition(" (Triggered internally")[0] for w in theirs[1]]
    assert ours == (theirs[0], told)
