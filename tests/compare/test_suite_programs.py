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
    Product.apply(x, b=y, t=1)
    Product.apply(x, 2, y, b=y)
    Product.apply(x, b=y)
    r = Product.apply(x, b=y, s=2)
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
    f = A._force_original_view_tracking(True)(A.is_view_replay_enabled); r = A.is_view_replay_enabled(), f(), A.is_view_replay_enabled()
    T._C._stash_obj_in_tls('k', 1); T._C._remove_obj_from_tls('k'); T._C._remove_obj_from_tls('k'); r = T._C._is_key_in_tls('k')
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

BOXED = (
    """
import weakref
log, x = [], T.ones(2, requires_grad=True)
def boxed(back, materialize=True):
    class Boxed(A.Function):
        boxed_grads_call = True
        @staticmethod
        def forward(ctx, x): ctx.set_materialize_grads(materialize); return x * 2, x * 3
        @staticmethod
        def backward(ctx, grads): log.append((type(grads), list(grads))); return back(grads)
    return Boxed.apply(x)
def both(grads): return grads[0] * 2 + grads[1] * 3
def emptied(grads): ref = weakref.ref(grads[0]); r = both(grads); grads.clear(); log.clear(); return r if ref() is None else None
def second(grads): return grads[1] * 3
""",
    """
    a, b = boxed(both); (a + b).sum().backward(); r = x.grad, log
    a, b = boxed(both); b.sum().backward(); r = x.grad, log
    a, b = boxed(second, False); b.sum().backward(); r = x.grad, log
    a, b = boxed(emptied); (a * b).sum().backward(); r = x.grad
    a, b = boxed(both); r = a.grad_fn.apply(T.ones(2), x), log
    a, b = boxed(len); r = a.grad_fn.apply([x]), log
    r = A.Function.boxed_grads_call
    """,
)

CHECKPOINTS = (
    """
import functools
checks = __import__(T.__name__ + '.utils.checkpoint', fromlist=['x'])
checkpoint, P, aten, log = checks.checkpoint, checks.CheckpointPolicy, T.ops.aten, []
library = __import__(T.__name__ + '.library', fromlist=['x'])
h = T.ones(2, requires_grad=True)
def keeping(policy): return functools.partial(checks.create_selective_checkpoint_contexts, policy)
def sines(ctx, op, *args): log.append((str(op), ctx.is_recompute, ctx.op_output)); return op is aten.sin.default
def run(f, policy=sines, **k): return checkpoint(f, h, use_reentrant=False, context_fn=keeping(policy), **k)
def more(f):
    calls = []
    def body(x): calls.append(1); return f(x) if len(calls) > 1 else x.sin().cos()
    return body
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
    run(lambda x: x.detach().sin().cos()); r = log
    run(more(lambda x: x.sin().cos().exp()), early_stop=False).sum().backward()
    run(more(lambda x: x.sin().sin().cos()), early_stop=False).sum().backward()
    y = run(lambda x: x.sin().cos().exp()); y.sum().backward(retain_graph=True); y.sum().backward()
    op = library.custom_op('suite::twice', lambda x: x.sin() * 2, mutates_args=(), schema='(Tensor x) -> Tensor'); run(lambda x: op(x.detach())); r = log
    checkpoint(more(lambda x: x), h, use_reentrant=False).sum().backward()
    T._C._dynamo.eval_frame._set_lru_cache(False); r = T._C._dynamo.eval_frame._set_lru_cache(True)
    """,
)

CHECKS = (
    """
gradcheck, D = A.gradcheck, T.float64
z, s = T.tensor([1.], dtype=D, requires_grad=True), T.tensor([0., 0.], dtype=D, requires_grad=True)
index, sparse = T.tensor([0, 0]), T.ones((2, 2), dtype=D, requires_grad=True).to_sparse()
def through(hook, dense=False):
    def f(x): y = x.clone(); y = y.to_dense() if dense else y; y.register_hook(hook); return y if dense else y.to_dense()
    return f
class Sparse(A.Function):
    @staticmethod
    def forward(ctx, x): return x
    @staticmethod
    def backward(ctx, g): return g.to_sparse()
def told(g):
    if g is None: raise RuntimeError('undefined')
""",
    """
    A.gradgradcheck(T.scatter_reduce, (z, 0, index, s, 'prod'))
    g = A.grad(T.scatter_reduce(z, 0, index, s, 'prod').sum(), (z, s), create_graph=True); r = g; g[1].sum().backward()
    r = gradcheck(lambda x: x.to_dense(), sparse, masked=True, check_batched_grad=False)
    gradcheck(through(lambda g: g.to_dense().to_sparse(1)), sparse, masked=True, check_batched_grad=False)
    gradcheck(through(lambda g: g + 1e-2, True), sparse, atol=1e-1, masked=True, check_batched_grad=False)
    gradcheck(Sparse.apply, T.ones(1, dtype=D, requires_grad=True), check_batched_grad=False)
    gradcheck(through(told, True), sparse, masked=True, check_batched_grad=False)
    r = gradcheck(lambda x: x * 2, T.ones(5, 1, 0, 2, dtype=D, requires_grad=True), check_batched_grad=False)
    """,
)

TRANSFORMS = (
    """
F = T.func
x, y, eye = T.tensor([1., 2., 3.]), T.arange(12.).view(4, 3), T.eye(3)
h = T.tensor([4., 5., 6.], requires_grad=True)
class Product(A.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x, y): return x * y
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): x, y = ctx.saved_tensors; return g * y, g * x
class Scaled(Product):
    generate_vmap_rule = False
    @staticmethod
    def vmap(info, in_dims, x, y): print(info, in_dims, x.shape); return Product.apply(x, y), 0
class Pair(A.Function):
    @staticmethod
    def forward(x, y): pass
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x, y): print(in_dims, x.shape, [t.shape for t in y]); return (x, y), in_dims
class Old(A.Function):
    @staticmethod
    def forward(ctx, x): print(A.forward_ad._is_fwd_grad_enabled()); return x.clone()
    @staticmethod
    def backward(ctx, g): return g
def shown(f): return lambda t: (print(t), print(t * 2), f(t))[2]
def unaware(f):
    def body(*args):
        with A.forward_ad._set_fwd_grad_enabled(False): return f(*args)
    return body
def packing(f):
    def body(*args):
        with A.graph.save_on_cpu(): return f(*args)
    return body
def total(t): return t.sum()
""",
    """
    r = F.grad(lambda a: T.vmap(Product.apply, (None, 0))(a, y).sum())(x)
    r = A.grad(T.vmap(Product.apply, (None, 0))(h, y).sum(), h)
    r = A.grad(T.vmap(Scaled.apply, (None, 0))(h, y).sum(), h)
    r = A.grad(T.vmap(lambda v: Product.apply(v, h).sum())(y).sum(), h)
    r = F.grad(lambda a: F.jvp(lambda v: Product.apply(a * v, v), (x,), (x,))[0].sum())(x)
    r = T.vmap(Pair.apply, in_dims=(1, 0))(T.ones(5, 2), [T.zeros(2), T.zeros(2, 3)])
    r = T.vmap(Pair.apply, in_dims=(2, (1, None)))(T.ones(5, 1, 2), (T.zeros(1, 2), x))
    F.jvp(Old.apply, (x,), (x,))
    T.func.jacfwd(Old.apply)(x)
    r = Old.apply(h)
    T.vmap(shown(total), 1)(y)
    T.vmap(T.vmap(shown(total), 0), 2)(T.arange(8.).view(2, 2, 2))
    F.grad(shown(total))(x)
    F.grad(F.grad(shown(lambda t: t.sin())))(T.tensor(2.))
    T.vmap(F.grad(shown(total)))(y)
    F.jvp(shown(total), (x,), (x,))
    F.grad(lambda t: F.jvp(shown(total), (t,), (x,))[1])(x)
    F.grad(lambda t: (print(t * h), print(h * 2), (t * h).sum())[2])(x)
    r = F.jvp(lambda t: t ** 2 - unaware(T.square)(t), (x,), (eye[0],))
    r = F.jvp(lambda t: unaware(lambda: F.jvp(T.sin, (t,), (x,)))(), (x,), (eye[0],))
    r = unaware(lambda: F.jvp(T.sin, (x,), (x,)))()
    v = x.clone(); t = eye[0].clone(); r = F.jvp(lambda a: a.mul_(2).sum(), (v,), (t,)), v, t
    v = y.clone(); t = y.clone(); r = F.jvp(lambda a: a[:, ::2].copy_(T.ones(4, 2)), (v,), (t,)), v, t
    v = y.clone(); t = y + 1; r = T.vmap(lambda a, b: F.jvp(lambda c: c.exp_(), (a,), (b,)), 1)(v, t), v, t
    F.grad(packing(total))(x)
    packing(F.grad(total))(x)
    packing(F.vjp)(total, x)
    F.jacrev(packing(T.sin))(x)
    r = F.jvp(packing(total), (x,), (x,)), packing(T.vmap(T.sin))(x), packing(F.vjp(total, x)[1])(T.tensor(2.))
    T.vmap(lambda t: A.functional.jacobian(total, t))(y)
    F.grad(lambda t: A.functional.jacobian(total, t).sum())(x)
    F.jvp(lambda t: A.functional.vjp(total, t)[0], (x,), (x,))
    T.set_grad_enabled(False); out, pull = F.vjp(T.square, h); T.set_grad_enabled(True); r = out, pull(x); r[1][0].sum().backward(); r += (h.grad,)
    F.vjp(lambda t: (t, t), x)[1](x, x)
    with T.autocast('cpu', dtype=T.bfloat16): r = T.vmap(T.mm)(T.ones(2, 3, 3), T.ones(2, 3, 3))
    b = T.ones(2, 3, 3).bfloat16(); r = T.vmap(T.mm)(b, b), T.vmap(T.dot)(b[0], b[0]), T.vmap(F.grad(lambda t: (t @ t).sum()))(b)
    r = T.vmap(lambda a, b: T.take_along_dim(a, b, 0))(T.arange(15.).view(3, 5), T.tensor([[0], [-1], [2]]))
    r = T.vmap(lambda a: T.take_along_dim(a, T.tensor([-7, 0, 7]), 0))(T.arange(15.).view(3, 5))
    r = T.take_along_dim(T.arange(15.).view(3, 5), T.tensor([[-7, 7, 5]]), 1)
    """,
)

LAYOUTS = (
    """
x = T.arange(24.).view(2, 3, 4); z = T.zeros(2, 3, 4, 5, 5)
def facts(t): return t.stride(), t.stride(0), t.is_contiguous(), t.contiguous().stride(), (t * 2).stride(), t.clone().stride()
def noted(t): print(facts(t)); return t.sum()
""",
    """
    T.vmap(noted)(x); T.vmap(noted, 1)(x); T.vmap(noted, 2)(x)
    T.vmap(noted)(x.mT); T.vmap(noted, 1)(x.transpose(0, 2)); T.vmap(noted, 2)(x.transpose(0, 1))
    T.vmap(T.vmap(noted))(x.mT); T.vmap(T.vmap(noted, 1), 2)(x)
    T.vmap(T.func.grad(noted), 1)(x); T.func.grad(noted)(x.mT); T.func.jvp(noted, (x.mT,), (x.mT,))
    r = T.vmap(lambda t: t.contiguous(), 1)(x).stride()
    T.vmap(lambda t: t.clone(memory_format=T.channels_last))(z)
    T.vmap(lambda t: t.clone(memory_format=T.channels_last_3d))(z)
    r = T.vmap(lambda t: t.clone(memory_format=T.contiguous_format))(z.mT).stride()
    T.vmap(lambda t: t.is_contiguous(memory_format=T.channels_last))(z)
    T.vmap(lambda t: t.contiguous(memory_format=T.channels_last))(z)
    r = T.vmap(lambda t: t.view(T.int32))(x), T.vmap(lambda t: t.view(T.int16))(x), T.vmap(lambda t: t.view(T.float64), 1)(x)
    T.vmap(lambda t: t.view(T.float64))(x[:, 0, :3])
    T.vmap(lambda t: t.view(T.int64))(x[0, 0])
    def push(t):\n  with A.forward_ad.dual_level(): return A.forward_ad.unpack_dual(A.forward_ad.make_dual(x[0].t(), t)).tangent\nt = T.zeros(2, 4, 3); r = T._vmap_internals._vmap(push)(t) is t, T._vmap_internals._vmap(push)(t.mT.contiguous().mT) is t
    """,
)

GRADIENT_LAYOUTS = (
    """
policy, wide = A.enforce_grad_layout_policy, T.ones(4, 3)
def leaf(): return T.ones(3, 4).t().requires_grad_()
def facts(g): return g.stride(), type(g.grad_fn).__name__
def told(x, **k): (x * x * wide[:, :x.shape[1]]).sum().backward(**k); return facts(x.grad)
class Rows(A.Function):
    @staticmethod
    def forward(ctx, x): return x.sum()
    @staticmethod
    def backward(ctx, g): return T.ones(4, 3)
""",
    """
    r = told(leaf()), told(leaf(), create_graph=True), told(T.ones(4, 6)[:, ::2].requires_grad_(), create_graph=True)
    r = told(T.ones(4, 1).expand(4, 2).requires_grad_(), create_graph=True), told(T.ones(4, 3).requires_grad_(), create_graph=True)
    x = leaf(); x.backward(wide, create_graph=True); r = facts(x.grad)
    with policy(False): r = told(leaf()), T._C._is_grad_layout_enforcement_enabled()
    policy(False); x = leaf(); Rows.apply(x).backward(); policy(True); r = facts(x.grad)
    with policy(False): r = told(leaf(), create_graph=True)
    f = policy(False)(lambda: told(leaf())); r = T._C._is_grad_layout_enforcement_enabled(), f(), told(leaf())
    T._C._set_grad_layout_enforcement_enabled(False); r = told(leaf()); policy(); r += told(leaf())
    """,
)

UNDERIVED = (
    """
a = T.tensor([[4., 1.], [1., 3.]]); h = a.clone().requires_grad_()
def pushed(f): return T.func.jvp(f, (a,), (a,))[1]
class All(T.fx.Tracer):
    def is_leaf_module(self, module, name): return False
""",
    """
    pushed(lambda t: t // 2)
    pushed(lambda t: T.heaviside(t, t))
    pushed(lambda t: T.linalg.ldl_factor(t)[0])
    pushed(lambda t: T.geqrf(t)[0])
    pushed(lambda t: t.to_sparse().to_dense())
    pushed(lambda t: t.to_sparse_csr().to_dense())
    pushed(lambda t: t.unique())
    pushed(lambda t: T.special.zeta(t, t))
    T.vmap(lambda t: T.func.jvp(lambda s: s // 2, (t,), (t,))[1])(a)
    with A.forward_ad.dual_level(): A.forward_ad.make_dual(a, a) // 2
    T.heaviside(h, a).sum().backward()
    T.func.grad(lambda t: T.heaviside(t, t).sum())(a)
    r = T.heaviside(h, a)
    r = [T.fx.GraphModule(m, All().trace(m)).code for m in (T.nn.ReLU(), T.nn.ReLU(inplace=True))]
    y = h.clone().acosh_(); r = y, y._version; y.sum().backward()
    h.clone().arctanh_().sum().backward()
    y = T.view_as_real(T.view_as_complex(h.clone()).asinh_()); r = y; y.sum().backward()
    y = h.clone(); y.gt_(other=2); r = y, y.grad_fn.next_functions; y.sum().backward(); r += (h.grad,)
    o = T.tensor([1., 3.], requires_grad=True); y = h * 1; y[:1].eq_(o); r = y; y.sum().backward(); r = h.grad, o.grad
    o = T.ones(2, 2, dtype=T.float64, requires_grad=True); y = T.ones(2, 2).le_(o); r = y; (g,) = A.grad(y.sum(), o, create_graph=True); r = y, g, g.requires_grad
    y = h.clone(); w = y * y; y.ne_(a); w.sum().backward()
    y = h.clone(); n = y.grad_fn; y[0].logical_not_(); y.logical_and_(a); r = y, y.grad_fn is n, y._version; y.sum().backward(); r += (h.grad,)
    y = h.clone(); w = y * y; y.logical_or_(a); w.sum().backward()
    r = h.logical_xor_(a), h._version, a.logical_and_(h).requires_grad
    w = h.sum(1); y = w * w; w.detach().add_(1); y.sum().backward()
    """,
)

MUTATED = (
    """
log = []; M = A.graph.allow_mutation_on_saved_tensors
def pack(t): log.append(t._version); return t.clone()
a = T.tensor([[.5, .25], [.75, .5]], dtype=T.double, requires_grad=True); b = a.clone()
""",
    """
    with M(): b.exp_(); b.exp_(); b.sum().backward(); r = a.grad
    with M(): b.tanh_(); b.sigmoid_(); b.tanh_(); b.sum().backward(); r = a.grad
    with M(): b.cumprod_(0); b.exp_(); b.sqrt_(); b.sum().backward(); r = a.grad
    with M(): b.mul_(b.exp()); b.mul_(b.exp()); b.sum().backward(); r = a.grad
    with M(): b.mul_(b); b.mul_(b); b.sum().backward(); r = a.grad
    with A.graph.saved_tensors_hooks(pack, lambda t: t): b.addcmul_(b, b); b.addcmul_(b, b)\nr = log
    """,
)

INFERENCE = (
    """
with T.inference_mode(): i = T.ones(2, 3); m = T.nn.Linear(3, 2); T.nn.init.ones_(m.weight)
a = T.ones(2, 3, requires_grad=True)
""",
    """
    r = i.data.is_inference(), m.weight.data.is_inference(), i.data[0].is_inference(), i.data.clone().is_inference()
    r = i[0]._base, i.data[0]._base, i.data.data.is_inference()
    i.data * a
    r = (i.data + a).grad_fn, (i.data + 1).requires_grad
    d = i.data; d.add_(1).mul_(2); r = d._version, i
    m.weight.data.numpy()[:] = 3; r = m.weight
    i.data.requires_grad_()
    m.requires_grad_(True)
    i.data = T.ones(2); r = i.is_inference()
    a.data = i; r = a.is_inference(), a, a * a
    b = T.ones(2); b.data = i; b.add_(1); r = b.is_inference(), b
    n = T.nn.Linear(3, 2); n.weight.data = m.weight.data; r = n.weight.is_inference(), n(a.detach()).grad_fn
    """,
)

JACOBIANS = (
    """
F = T.func; x, y = T.tensor([1., 2.]), T.tensor([[3., 4., 5.], [6., 7., 8.]]); log = []
def f(s, t): log.append(1); return s @ t
def g(s, t): t.mul_(2); return s @ t
""",
    """
    r = F.jacfwd(f, argnums=(0, 1))(x, y), log
    r = F.jacfwd(g, argnums=(0, 1))(x, y), y
    r = F.hessian(lambda s, t: f(s, t).sum(), argnums=(0, 1))(x, y), log
    r = [j.stride() for j in F.jacfwd(f, argnums=(0, 1))(x, y)], F.jacfwd(f, argnums=(1, 0))(x, y)
    r = F.jacfwd(lambda s, t: (f(s, t), s), argnums=(0, 1), has_aux=True)(x, y)
    r = T.vmap(lambda t: t[:2].as_strided((2, 2), (2, 1)), in_dims=1)(y.repeat(2, 1)), T.vmap(lambda t: t.repeat(2, 2)[:, :3].as_strided((5,), (1,)))(y[None])
    def h(s): t = s * 1; v = t[:, :2].as_strided((2,), (3,)); v.mul_(2); return t\nr = T.vmap(h)(y[None]), T.vmap(F.grad(lambda s: s[:, :2].as_strided((2, 2), (1, 1)).square().sum()))(y[None])
    def h(s): t = s * 1; v = t.expand(2, 3); v[0].mul_(2); return t * v\nr = T.vmap(h)(y), F.jvp(h, (y[0],), (y[1],))
    def h(s): t = s * 1; v = t.unfold(0, 2, 1); w = v[1]; v[0].mul_(3); w.mul_(2); return t\nr = T.vmap(h)(y), F.jacfwd(h)(y[0])
    def h(s): t = s * 1; v = t.as_strided((2, 2), (1, 1)).t(); v[0].mul_(2); return v.sum(0) * t[:2]\nr = T.vmap(h)(y), F.jacfwd(h)(y[0])
    r = F.jacfwd(f, argnums=(0, 1))(x[:0], y[:0]), F.jacfwd(lambda s, t: s * t, argnums=(0, 1))(x[0], y[0])
    """,
)

SAVED = (
    """
a, b = (T.tensor(v, dtype=T.double, requires_grad=True) for v in ([-2., 0., 1.5], [.25, .5, -.5]))
""",
    """
    x = a * 1; y = T.polar(x, b); x.mul_(2); (y.real * 2 + y.imag).sum().backward(); r = a.grad, b.grad
    g, h = A.grad(T.polar(a, b).imag.sum(), (a, b), create_graph=True); r = A.grad((g + h).sum(), (a, b))
    y = b.erfinv(); y.mul_(2); y.sum().backward(); r = b.grad
    """,
)

TABLES = {
    "jacobians": JACOBIANS,
    "saved": SAVED,
    "inference": INFERENCE,
    "mutated": MUTATED,
    "no_grad views": NO_GRAD_VIEWS,
    "hooks": HOOKS,
    "nodes": NODES,
    "dirty": DIRTY,
    "conjugates": CONJUGATES,
    "dual": DUAL,
    "boxed": BOXED,
    "checkpoints": CHECKPOINTS,
    "checks": CHECKS,
    "transforms": TRANSFORMS,
    "underived": UNDERIVED,
    "layouts": LAYOUTS,
    "gradient layouts": GRADIENT_LAYOUTS,
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
