"""Small programs over the graph's surface, run on both: what they give, what they refuse and in which words.

Each line of a table is one program. It runs after its table's preparation, and leaves what is compared in ``r``.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from types import ModuleType
from typing import Any

import pytest

import wengert

BACKWARD = (
    "x = T.tensor([1., 2.], requires_grad=True); y = x * x; other = T.ones(2, requires_grad=True)",
    """
    y.backward()
    y.backward(T.ones(3))
    y.backward(3)
    y.sum().backward(T.ones(1))
    y.backward(T.ones(2), inputs=[])
    y.backward(T.ones(2), inputs=[T.ones(2)])
    y.backward(T.ones(2), inputs=x); r = x.grad
    A.backward([y], [T.ones(2), T.ones(2)])
    A.backward([y, y], [T.ones(2)])
    A.backward(y, grad_tensors=T.ones(2), grad_variables=T.ones(2))
    A.backward(T.ones(2))
    A.grad(y, x)
    r = A.grad(y, x, T.ones(2))
    A.grad(y, x, T.ones(3))
    A.grad(y, T.ones(2), T.ones(2))
    A.grad(y, other, T.ones(2))
    r = A.grad(y, other, T.ones(2), allow_unused=True)
    r = A.grad(y, other, T.ones(2), materialize_grads=True)
    A.grad(y, x, T.ones(2), allow_unused=False, materialize_grads=True)
    A.grad(y, [], T.ones(2))
    A.grad([], x)
    r = A.grad(y.sum(), x, only_inputs=False)
    r = A.grad(y, x, T.ones(3, 2), is_grads_batched=True)
    r = A.grad(y, {'a': x}, T.ones(2))
    r = A.grad(y, (x, x), T.ones(2))
    A.grad((y, y), (x,), (T.ones(2), None))
    A.grad(y.to(T.complex64), x, T.ones(2))
    A.grad(y.to(T.complex64).sum(), x)
    r = A.grad((y * (1 + 0j)).sum(), x, T.tensor(1j))
    r = A.grad(y, x, T.ones(2, dtype=T.float64))
    r = y.grad_fn(T.ones(2))
    r = x.exp().grad_fn(T.ones(2))
    y.grad_fn(3)
    y.grad_fn()
    r = x.unbind()[0].grad_fn(T.ones(()), T.ones(()))
    n = y.grad_fn.next_functions[0][0]; n(T.ones(2)); r = x.grad
    r = (y * T.ones(2)).grad_fn._saved_self
    y.grad_fn._saved_foo
    z = x.exp(); z.sum().backward(); z.grad_fn._saved_result
    T.tensor([1], requires_grad=True)
    T.tensor([1]).requires_grad_()
    y.requires_grad = False
    y.requires_grad = True
    r = y.requires_grad_().requires_grad
    x.requires_grad = 'a'
    x.requires_grad_('a')
    x.requires_grad = None
    x.grad = 3
    x.grad = T.ones(3)
    x.grad = T.ones(2, dtype=T.float64)
    x.grad = x
    x.data = 3
    x.data = T.ones(2, dtype=T.int64)
    r = A.graph.get_gradient_edge(x.unbind()[1]).output_nr
    A.graph.get_gradient_edge(T.ones(1))
    e = A.graph.get_gradient_edge(y); r = A.grad((y * y).sum(), e), A.grad(e, x, grad_outputs=T.ones(2))
    A.graph.increment_version(3)
    A.graph.increment_version([y, 3])
    A.Variable._execution_engine.queue_callback(print)
    x.register_post_accumulate_grad_hook(lambda t: 3); x.sum().backward()
    x.register_post_accumulate_grad_hook(lambda t: T.ones(2)); x.sum().backward()
    y.register_post_accumulate_grad_hook(print)
    T.ones(2).register_hook(print)
    y.register_hook(lambda g: 3); y.sum().backward()
    y.register_hook(lambda g: T.ones(3)); y.sum().backward()
    y.register_hook(lambda g: g.double()); y.sum().backward()
    y.register_hook(lambda g: (g,)); y.sum().backward()
    y.grad_fn.register_hook(lambda i, o: 3); y.sum().backward()
    y.grad_fn.register_hook(lambda i, o: ()); y.sum().backward()
    y.grad_fn.register_hook(lambda i, o: (None, None)); y.sum().backward(); r = x.grad
    y.grad_fn.register_prehook(lambda g: 3); y.sum().backward()
    y.grad_fn.register_prehook(lambda g: (None,)); y.sum().backward()
    y.grad_fn.register_prehook(lambda g: (g[0], g[0])); y.sum().backward()
    A.graph.register_multi_grad_hook((x,), print, mode='x')
    T.set_grad_enabled('a')
    T.set_grad_enabled(1)
    T.set_grad_enabled(None)
    r = repr(T.set_grad_enabled(True))
    """,
)

WRITES = (
    "x = T.tensor([1., 2., 3., 4.], requires_grad=True); b = x * 1; ones = T.ones(4)",
    """
    v = b[:2]; v.mul_(3); b.sum().backward(); r = x.grad, v.grad_fn, b.grad_fn
    v = b.view(2, 2); w = v[0]; w.mul_(3); b.sum().backward(); r = x.grad, w.grad_fn, v.grad_fn, b.grad_fn
    v = b.view(2, 2).t(); v[0, 1] = 5.; b.sum().backward(); r = x.grad
    a, c = b.split(2); a.mul_(2)
    a, c = b.chunk(2); b.mul_(2); a.add_(1)
    a, c = b.chunk(2); b.mul_(2); r = a + 1
    a = b.unbind()[0]; a.zero_()
    v = b.detach(); v.mul_(2); c = b * b; b.sum().backward(); r = x.grad
    c = b * b; b.mul_(2); c.sum().backward()
    c = b * b; b.data.mul_(2); c.sum().backward(); r = x.grad
    c = b * b; b.detach().mul_(2); c.sum().backward()
    x.mul_(2)
    x[0] = 1.
    x.view(2, 2).mul_(2)
    x.zero_()
    x += 1
    with T.no_grad(): v = b[:2]\n    v.mul_(2)
    with T.no_grad(): v = x[:2]\n    v.mul_(2)
    v = b[:2]; b.detach_(); r = b.requires_grad, v.requires_grad, v.grad_fn
    v = b[:2]; b.detach_(); v.mul_(2)
    v = b[:2]; v.detach_()
    a, c = b.chunk(2); a.detach_()
    b.detach_(); r = b.requires_grad, b.is_leaf, b.grad_fn
    v = b.expand(2, 4); v.mul_(2)
    v = b.unfold(0, 2, 2); v.mul_(2); b.sum().backward(); r = x.grad
    v = b.as_strided((2,), (2,)); v.mul_(2); b.sum().backward(); r = x.grad
    z = T.zeros(4); z[:2] = b[:2]; z.sum().backward(); r = x.grad, z.grad_fn
    z = T.zeros(2, 2); v = z.view(4); v.copy_(b); z.sum().backward(); r = x.grad, z.grad_fn, v.grad_fn
    z = T.zeros(4, dtype=T.int64); z += b
    z = T.zeros(2); z += b
    z = T.ones(1); z.mul_(b)
    c = b.exp(); c.mul_(2); c.sum().backward()
    c = b.max(0); c.values.mul_(2); c.values.backward(); r = x.grad
    b *= b; b.sum().backward()
    b -= b.detach(); b.sum().backward(); r = x.grad
    r = b._is_view(), b[:2]._is_view(), b[:2]._base is b, b._base, b[:2][:1]._base is b
    v = b[:2]; b.add_(1); r = v._version, b._version, b.detach()._version, b.data._version
    i = T.tensor([0]); c = b[i]; i.fill_(1); c.sum().backward()
    """,
)

FORWARD = (
    """
fw = A.forward_ad
level = fw.dual_level()
level.__enter__()
x, t = T.tensor([1., 2.]), T.tensor([3., 4.])
d = fw.make_dual(x, t)
""",
    """
    r = fw.unpack_dual(d * d)
    r = fw.unpack_dual(x)
    r = str(d), str(d * 2)
    fw.make_dual(x, T.ones(3))
    fw.make_dual(x, t.double())
    fw.make_dual(T.tensor([1, 2]), t)
    fw.make_dual(x, t, level=3)
    fw.unpack_dual(d, level=3)
    r = fw.unpack_dual(d.sum())
    d.mul_(2); r = fw.unpack_dual(d)
    v = d[:1]; v.mul_(3); r = fw.unpack_dual(d)
    y = T.zeros(2); y.copy_(d); r = fw.unpack_dual(y)
    y = T.zeros(2); y[0] = d[1]; r = fw.unpack_dual(y)
    r = fw.unpack_dual(d.detach())
    r = d.requires_grad, d.is_leaf, d.grad_fn
    w = T.ones(2, requires_grad=True); q = fw.make_dual(w, t); y = (q * q).sum(); y.backward(); r = w.grad.tolist()
    with fw.dual_level(): pass
    fw.exit_dual_level(level=3)
    with T.no_grad(): r = fw.unpack_dual(d * 2)
    r = fw.unpack_dual(T.cat([d, x]))
    r = fw.unpack_dual(d > 1)
    r = fw.unpack_dual(d.to(T.complex64))
    r = fw.unpack_dual(T.where(d > 1, d, x))
    w = T.ones(2, requires_grad=True); (fw.make_dual(w, t)**3).sum().backward(); r = w.grad, fw.unpack_dual(w.grad)
    r = d.sum(), (d * 2)[0]
    """,
)

TRANSFORMS = (
    "F = T.func; v = T.vmap; a = T.arange(6.).view(2, 3); one = T.tensor(1.); two = T.ones(2)",
    """
    r = v(v(lambda x: x * 2))(a)
    r = v(lambda x: (x, x.sum()), out_dims=(1, 0))(a)
    r = v(lambda d: d['x'] * d['y'], ({'x': 0, 'y': None},))({'x': a, 'y': a[0]})
    v(lambda x: x, out_dims=None)(a)
    v(lambda x: x, in_dims=(0, 0))(a)
    v(lambda x: x, in_dims=2)(a)
    v(lambda x: x, in_dims=None)(a)
    v(lambda x: x, in_dims='a')(a)
    v(lambda x: x, out_dims=3)(a)
    v(lambda x: (x, x), out_dims=(0,))(a)
    v(lambda x: x, randomness='x')(a)
    v(lambda x: x, chunk_size=0)(a)
    v(lambda x: 'a')(a)
    v(lambda x: x.item())(a[0])
    v(lambda x: bool(x.sum() > 0))(a)
    v(lambda x: T.randn(2))(a)
    v(lambda x: x[x > 0])(a)
    v(lambda x: x.unique())(a)
    v(lambda x: x.nonzero())(a)
    r = F.grad(F.grad(F.grad(T.sin)))(one)
    F.grad(lambda x, y: x * y, argnums=(0, 0))(one, one)
    F.grad(lambda x, y: x * y, argnums=())(one, one)
    F.grad(lambda x, y: x * y, argnums='a')(one, one)
    F.grad(lambda x: x.sum())(3.)
    F.grad(lambda x: x.sum())(T.tensor([1, 2]))
    F.grad(lambda x: x)(two)
    F.grad(lambda x: (x, x))(one)
    F.grad(lambda x: x * 1j)(one)
    F.jacrev(lambda x: x, chunk_size=-1)(two)
    F.jacfwd(lambda x: 3)(two)
    F.jacrev(lambda x: 3)(two)
    F.vjp(T.sin, two)[1](T.ones(3))
    F.vjp(T.sin, two)[1]((two,))
    F.vjp(lambda x: (x, x), two)[1](two)
    F.vjp(lambda x: 3, two)
    F.vjp(T.sin, 3)
    F.jvp(T.sin, (two,), (T.ones(3),))
    F.jvp(T.sin, (two,), two)
    F.jvp(lambda x: T.ones(2), (two,), (two,), strict=True)
    r = v(F.grad(lambda x: (x**2).sum()))(a)
    r = F.jvp(F.grad(lambda x: (x**3).sum()), (two,), (two,))
    r = F.grad(lambda x: F.jvp(lambda y: y**3, (x,), (two,))[1].sum())(two)
    r = v(F.hessian(lambda x: (x**3).sum()))(a)
    """,
)

CHECKS = (
    """
class Wrong(A.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * (x * x).detach()
class Once(Wrong):
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * (x * x).detach()
T.manual_seed(0)
f = Wrong.apply
x = T.tensor([1., 2., 3.], dtype=T.float64, requires_grad=True)
""",
    """
    A.gradcheck(f, (x,))
    A.gradcheck(f, (x,), fast_mode=True)
    A.gradcheck(f, (x,), raise_exception=False)
    A.gradcheck(f, (x.detach().float().requires_grad_(),))
    A.gradcheck(f, (x.detach(),))
    A.gradcheck(lambda x: x.detach(), (x,))
    A.gradcheck(lambda x: x * 2, (x[:1].detach().expand(3).requires_grad_(),))
    A.gradgradcheck(Once.apply, (x,))
    A.gradgradcheck(Once.apply, (x,), raise_exception=False)
    r = A.gradcheck(lambda x: x.sin() * x, (x,)), A.gradgradcheck(lambda x: x.sin() * x, (x,), fast_mode=True)
    """,
)

VIEWS = (
    "x = T.ones(3, 2, requires_grad=True); y = x * 1; p = T.zeros(4)",
    """
    with T.no_grad(): v = x.view(-1); r = v, v.requires_grad, v.is_leaf, v.grad_fn, v._base is x
    with T.no_grad(): r = x[0], x.t(), x.unbind(), x.detach(), x.clone()[0], (x * 1).view(-1), x[[0]]
    with T.no_grad(): r = [row.requires_grad for row in x], y.view(-1).requires_grad, y[0].is_leaf
    q = p.view(2, 2); before = q.requires_grad; p.requires_grad_(); r = before, q.requires_grad, q.is_leaf
    with T.no_grad(): v = x.view(-1); v.mul_(3); r = x, v, v.requires_grad, v * 1
    with T.no_grad(): v = x.view(-1); x.mul_(3); v.grad_fn
    with T.no_grad(): v = x[0]; x.mul_(3); r = v, x[0], x.detach()[0], v.detach()
    v = y[1:]; p[2:].copy_(v.sum(0)); r = p, p.requires_grad, v._base is y
    v = T.no_grad()(lambda: x.view(-1))(); v.requires_grad_(); v.mul_(2)
    q = T.no_grad()(lambda: p[1:])(); p.mul_(x.sum()); r = q.requires_grad
    q = T.no_grad()(lambda: p[1:])(); p.mul_(x.sum()); q.grad_fn
    """,
)

EDGES = (
    "x = T.tensor([1., 2.], requires_grad=True); y = x * x; edge = A.graph.get_gradient_edge; import copy, pickle",
    """
    A.backward(edge(y.sum())); r = x.grad
    A.backward(edge(y))
    r = A.grad(edge(y.sum()), x), A.grad(y.sum(), edge(y))
    A.grad(y.sum(), 'a')
    A.grad(y.sum(), [x, 3])
    r = type(y.grad_fn), type(y.grad_fn.next_functions[0][0]), type(y.unbind()[0].grad_fn)
    y[0] = 1.; r = type(y.grad_fn)
    pickle.dumps(y.grad_fn)
    copy.copy(y.grad_fn)
    h = x.register_hook(lambda g: g); r = len(x._backward_hooks), y._backward_hooks; h.remove()
    r = copy.deepcopy(x)._backward_hooks, x._post_accumulate_grad_hooks
    T.nn.Parameter(T.tensor([1]))
    p = T.nn.Parameter(T.ones(1)); r = type(A.Variable(p)) is T.Tensor, A.Variable(p).requires_grad
    r = x.clamp(0, 1).grad_fn._saved_min, x[T.tensor([0])].grad_fn._saved_indices
    r = y.mean().grad_fn._saved_self_sym_numel, y.sum(0).grad_fn._saved_self_sym_sizes
    r = T.nn.functional.layer_norm(x, (2,)).grad_fn._saved_normalized_shape
    f = T.func.grad(lambda z: (T.zeros(2).add_(z), z.sum())[1]); r = f(T.ones(2))
    """,
)

TASKS = (
    """
C, G, M = T._C, A.graph, A.set_multithreading_enabled
push, pop = C._autograd._push_saved_tensors_default_hooks, C._autograd._pop_saved_tensors_default_hooks
x = T.tensor([1., 2.], requires_grad=True); y = x.exp(); z = y * y; log = []; last = T.channels_last
def asked(n): log.append(C._will_engine_execute_node(n))
def here(): log.append(C._current_autograd_node().name())
def names(): return [n.name() for n in C._current_graph_task_execution_order()]
class Inner(A.Function):
    @staticmethod
    def forward(ctx, x, depth): ctx.depth = depth; return x.clone()
    @staticmethod
    def backward(ctx, g):
        if ctx.depth:
            with T.enable_grad(): Inner.apply(T.ones(1, requires_grad=True), ctx.depth - 1).backward()
        return g, None
""",
    """
    r = C._current_graph_task_id(), C._current_autograd_node()
    z.register_hook(lambda g: log.append(C._current_graph_task_id() >= 0)); z.sum().backward(); r = log
    z.register_hook(lambda g: here()); z.sum().backward(); r = log
    x.register_hook(lambda g: here()); z.sum().backward(); r = log
    n = y.grad_fn; z.register_hook(lambda g: asked(n)); z.sum().backward(); r = log
    n = x.exp().grad_fn; z.register_hook(lambda g: asked(n)); z.sum().backward(); r = log
    C._will_engine_execute_node(y.grad_fn)
    C._will_engine_execute_node(None)
    z.register_hook(lambda g: names()); z.sum().backward()
    s = z.sum(); s.register_hook(lambda g: log.extend(names()))\n    with M(False): s.backward(); r = log
    G.register_multi_grad_hook((x, y), log.append); A.grad(z.sum(), x)
    G.register_multi_grad_hook((x, y), log.append); z.sum().backward(inputs=[x]); r = log
    Inner.apply(x, 500).sum().backward(); r = x.grad
    r = C._autograd._saved_tensors_hooks_is_enabled(), C._autograd._top_saved_tensors_default_hooks(True)
    push(log.append, log.append); x.exp(); pop(); r = len(log)
    C._functions.DelayedError('late', 1)(x * 2).sum().backward()
    r = A.grad(C._functions.UndefinedGrad()(x * 2).sum(), x, allow_unused=True)
    e = G.get_gradient_edge(y); z.sum().backward(inputs=[e]); r = x.grad, y.retains_grad
    G.get_gradient_edge(3)
    A.set_detect_anomaly(3)
    A.set_detect_anomaly(True, 3)
    A.profiler.record_function('x').__exit__(None, None, None)
    A.gradcheck(lambda x: x.to_sparse(), T.ones(2, dtype=T.double, requires_grad=True))
    s = T.ones(3, dtype=T.double).to_sparse().requires_grad_(); r = A.gradcheck(T.sparse.sum, s, masked=True)
    v = y[:1]; v.retain_grad(); y.mul_(2); (v * 3).sum().backward(); r = v.grad
    y.retain_grad(); y.detach_(); r = y.retains_grad, y.requires_grad
    t = (x ** 2).sum()\n    for _ in range(3): (g,) = A.grad(t, x, create_graph=True); t = g.sum(); r = g.detach()
    w = T.ones(2, 3).t().requires_grad_(); (w * 2).sum().backward(); r = w.grad.stride()
    w = T.nn.Parameter(T.ones(2, 3).t()); w.register_hook(log.append); (w * 2).sum().backward(); r = w.grad.stride()
    w = T.ones(4, 4)[::2, ::2].requires_grad_(); (w * 2).sum().backward(); r = w.grad.stride()
    w = T.ones(1, 2, 3, 4).to(memory_format=last).requires_grad_(); w.sum().backward(); r = w.grad.stride()
    w = T.ones(2, 3).t().requires_grad_(); w.sum().backward(); w.sum().backward(); r = w.grad.stride(), w.grad
    """,
)

FUNCTIONS = (
    """
fw = A.forward_ad; x = T.tensor([1., 2.], requires_grad=True); one = T.ones(2)
class F(A.Function):
    clear_saved_tensors_on_access = True
    @staticmethod
    def forward(ctx, x, *, k=1): ctx.save_for_backward(x); return x * 2
    @staticmethod
    def backward(ctx, g): return ctx.saved_tensors[0] * 0 + 2 * g
    @staticmethod
    def jvp(ctx, t): return t * 2
class Twice(F):
    @staticmethod
    def backward(ctx, g): ctx.saved_tensors; return ctx.saved_tensors
class Written(A.Function):
    @staticmethod
    def forward(ctx, x): ctx.mark_dirty(x); return x.mul_(2)
    @staticmethod
    def backward(ctx, g): return g * 2
    @staticmethod
    def jvp(ctx, t): return t.mul_(2)
class Viewed(A.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return g
    @staticmethod
    def jvp(ctx, t): return t.view_as(t)
level = fw.dual_level()
level.__enter__()
d = fw.make_dual(T.ones(2), T.ones(2))
""",
    """
    r = A.grad(F.apply(x).sum(), x)
    Twice.apply(x).sum().backward()
    F.apply(x, k=2)
    F()(x)
    F.set_materialize_grads(F.apply(x).grad_fn, 1)
    r = F.apply(x).grad_fn.apply(one)
    r = F.apply(x).grad_fn.apply_jvp(one)
    T.func.grad(lambda z: F.apply(z).sum())(one)
    r = Written.apply(d) is d, fw.unpack_dual(d)
    Written.jvp = staticmethod(lambda ctx, t: t * 2); Written.apply(d)
    r = fw.unpack_dual(Viewed.apply(d)).tangent
    Viewed.jvp = staticmethod(lambda ctx, t: t * 2); Viewed.apply(d)
    fw.make_dual(one, d)
    r = fw.unpack_dual(d.long())
    with fw._set_fwd_grad_enabled(False): r = fw.unpack_dual(d * 2).tangent, T._C._is_fwd_grad_enabled()
    T.add(d, d, out=one)
    T.add(one, one, out=d)
    r = fw.unpack_dual(d.data).tangent
    """,
)

_ALIASED = ("base", "item", "sibling", "nested", "turned", "wide", "detached")
_BECOME = ("became", "beside", "through")  # arrays that a write makes values of a transform
ALIASES = (
    """
x = T.tensor([1., 2., 3., 4.]); two = x.expand(2, 4); fw = A.forward_ad; swap = T.utils.swap_tensors
def base(x): y = x.clone(); v = y[:2]; y.mul_(2); return v
def item(x): y = x.clone(); v = y[:2]; y[0] = 9.; return v
def sibling(x): y = x.clone(); v, w = y[:2], y[1:3]; v.mul_(2); return w
def nested(x): y = x.clone(); v = y[1:3]; w = v[:1]; v.zero_(); return y + w.sum()
def turned(x): y = x.clone(); v = y.view(2, 2).t()[0]; y.mul_(2); return v
def wide(x): y = x.clone(); v = y.expand(2, 4); y.mul_(2); return v
def detached(x): y = x.clone(); v = y.detach(); y.mul_(2); return v + y
def became(x): y = T.zeros(4); v = y[:2]; y.add_(x); return v * 1
def beside(x): y = T.zeros(4); v, w = y[:2], y[1:3]; v.copy_(x[:2]); return w * 1
def through(x): y = T.zeros(4); v = y[:2]; v.add_(x[:2]); y.mul_(2); return v * 1
def total(f): return lambda z: f(z).sum()
def mutated(f):
    with A.graph.allow_mutation_on_saved_tensors() as ctx:
        f(); return len(ctx.cloned), len(ctx.tid_to_weakhandle)
p = T.ones(2, requires_grad=True); level = fw.dual_level()
def dual(): level.__enter__(); return fw.make_dual(x, x)
""",
    "\n".join(
        [f"    r = T.vmap({f})(two), T.func.jvp({f}, (x,), (x,))" for f in _ALIASED]
        + [f"    r = T.vmap(T.func.grad(total({f})))(two), T.func.jacfwd({f})(x)" for f in _ALIASED]
        + [f"    r = fw.unpack_dual({f}(dual()))" for f in (*_ALIASED, *_BECOME)]
        + [f"    r = T.func.jvp({f}, (x,), (x,)), T.func.jacfwd({f})(x)" for f in _BECOME]
    )
    + """
    r = T.vmap(lambda x: (lambda y: (lambda v: (y.add_(1), v)[1])(y.unbind()[1]))(x.clone()))(two)
    a, b = T.ones(2, requires_grad=True), T.zeros(3); swap(a, b); (b * 2).sum().backward(); r = a, b, b.grad
    a, b = T.nn.Parameter(T.ones(2)), T.zeros(3); a.foo = 3; swap(a, b); r = type(a), b, b.foo
    r = x[1:]._view_func(T.zeros(4)), x._view_func(x), x.view(2, 2)[1]._view_func(x * 2)
    def f(): b = p.clone(); c = b**2; b.sin_(); (c + b).sum().backward(); return c\n    r = mutated(f), p.grad
    r = mutated(lambda: p.clone() ** 2)
    """,
)

NODES = """
    x + w
    x + 1
    1 + x
    x - w
    2 - x
    x * w
    x * 2
    x / w
    2 / x
    x / 2
    x**2
    x**w
    2**x
    -x
    x @ w
    x @ v
    v @ v
    x.sum()
    x.sum(0)
    x.mean()
    x.mean(1)
    x.prod()
    x.max()
    x.max(0)[0]
    x.min(1)[0]
    x.norm()
    x.norm(dim=0)
    x.std()
    x.var(0)
    x.t()
    x.T
    x.transpose(0, 1)
    x.permute(1, 0)
    x.view(4)
    x.reshape(4)
    x.flatten()
    x.squeeze()
    x.unsqueeze(0)
    x.expand(3, 2, 2)
    x.repeat(2, 1)
    x[0]
    x[:, 1]
    x[0, 1]
    x[..., 0]
    x[None]
    x[T.tensor([0])]
    x[x>1]
    x.select(0, 1)
    x.narrow(0, 0, 1)
    x.split(1)[0]
    x.chunk(2)[1]
    x.unbind()[0]
    T.cat([x, w])
    T.stack([x, w])
    x.exp()
    x.log()
    x.sqrt()
    x.sin()
    x.tanh()
    x.sigmoid()
    x.relu()
    F.relu(x)
    F.leaky_relu(x)
    F.elu(x)
    F.gelu(x)
    F.silu(x)
    F.softplus(x)
    F.softmax(x, 1)
    F.log_softmax(x, 1)
    F.cross_entropy(x, T.tensor([0, 1]))
    F.nll_loss(x, T.tensor([0, 1]))
    F.mse_loss(x, w)
    F.l1_loss(x, w)
    F.smooth_l1_loss(x, w)
    F.binary_cross_entropy(x.sigmoid(), w)
    F.binary_cross_entropy_with_logits(x, w)
    F.dropout(x)
    F.layer_norm(x, (2, ))
    F.batch_norm(x, None, None, training=True)
    F.embedding(T.tensor([0]), x)
    F.conv1d(x[None], w[None])
    F.pad(x, (1, 1))
    F.cosine_similarity(x, w)
    x.abs()
    x.clamp(0, 1)
    x.clamp(min=0)
    x.sign()
    x.floor()
    x.where(x>1, w)
    T.where(x>1, x, w)
    T.maximum(x, w)
    T.bmm(x[None], w[None])
    T.addmm(v, x, w)
    T.outer(v, v)
    T.dot(v, v)
    T.linalg.inv(x)
    T.linalg.det(x)
    T.linalg.solve(x, w)
    x.cumsum(0)
    x.cumprod(0)
    x.sort()[0]
    x.topk(1)[0]
    x.gather(0, T.tensor([[0, 1]]))
    x.index_select(0, T.tensor([0]))
    x.tril()
    x.diagonal()
    x.trace()
    x.flip(0)
    x.roll(1)
    x.clone()
    x.to(T.float64)
    x.double()
    x.type_as(T.ones(1).double())
    x.logsumexp(0)
    x.atan2(w)
    x.lerp(w, 0.5)
    x.addcmul(w, w)
    x.pow(0.5)
    x.rsqrt()
    x.reciprocal()
    x.square()
    x.expm1()
    x.erf()
    x.lgamma()
    x.sinh()
    x.remainder(2.)
    x.fmod(2.)
    x.kthvalue(1)[0]
    x.median()
    x.mode()[0]
    x.unfold(0, 1, 1)
    x.as_strided((2, ), (1, ))
    x.view_as(w)
    x.expand_as(x)
    x.sum_to_size(1, 2)
    x.movedim(0, 1)
    x.swapaxes(0, 1)
    T.complex(x, w)
    x.to(T.complex64)
    x.nansum()
    x.amax()
    T.cdist(x, w)
    T.cross(T.ones(3), T.ones(3, requires_grad=True), dim=0)
    T.meshgrid(v, v, indexing='ij')[0]
    T.broadcast_tensors(x, v)[1]
    F.max_pool1d(x[None], 2)
    F.avg_pool1d(x[None], 2)
    F.adaptive_avg_pool1d(x[None], 1)
    F.interpolate(x[None], scale_factor=2)
    F.one_hot(T.tensor([0]))*v
    F.hardtanh(x)
    F.glu(x)
    F.prelu(x, v[:1])
    F.huber_loss(x, w)
    F.triplet_margin_loss(x, w, w)
    F.ctc_loss(x.log_softmax(1)[:, None].expand(2, 1, 2), T.tensor([[1]]), T.tensor([2]), T.tensor([1]))
"""

INTEGERS_AND_NAMES = (
    "x = T.tensor([1., 2.], requires_grad=True); i = T.zeros(2, dtype=T.long); s = T.tensor(2., requires_grad=True)",
    """
    i.copy_(x); r = i, i.requires_grad
    i[:] = x; r = i, i.requires_grad
    i[None] = x; r = i, i.requires_grad
    i[0] = s; r = i, i.requires_grad
    i.view(2, 1)[1].copy_(s); r = i, i.requires_grad
    b = T.zeros(2, dtype=T.bool); b[...] = x; r = b, b.requires_grad
    r = T.eq(x, x, out=T.empty(2, dtype=T.bool))
    r = T.argmax(x, out=T.empty((), dtype=T.long))
    T.add(x, 1, out=T.empty(2))
    r = [type(y.grad_fn).__name__ for y in (x ** 2, x % 2, x ** x, x.square(), s ** 2, 2 ** x, T.fmod(x, 2))]
    r = [type(n).__name__ for n, _ in (x ** 2).exp().grad_fn.next_functions]
    r = [getattr(T, f)(s, 0).grad_fn.name() for f in ("cumsum", "cumprod", "logcumsumexp", "softmax", "log_softmax")]
    r = [t.grad_fn.name() for t in (s.sort()[0], s.topk(1)[0], s.max(0)[0], s.cummax(0)[0], s.kthvalue(1)[0])]
    r = [x.kron(x).grad_fn.name(), T.renorm(x[None], 2, 0, 1.).grad_fn.name()]
    r = A.grad(T.nn.functional.tanh(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.sigmoid(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.relu(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.leaky_relu(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.hardtanh(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.elu(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.gelu(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.softplus(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.hardswish(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.logsigmoid(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.softshrink(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.hardshrink(s).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.mse_loss(s, s.data + 1).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.huber_loss(s, s.data + 1).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.smooth_l1_loss(s, s.data + 1).sum(), s, create_graph=True)[0].grad_fn.name()
    r = A.grad(T.nn.functional.soft_margin_loss(s, s.data + 1).sum(), s, create_graph=True)[0].grad_fn.name()
    a = T.zeros(2); a -= x.double(); r = a
    y = (x * T.ones(2, 2)).fill_diagonal_(0.); r = y
    x.view(1, 2).fill_diagonal_(0.)
    (x * 3).sum().backward(); x.detach_(); r = x.grad
    x.sum().backward(inputs=[True])
    T.ones(2).bitwise_not_()
    T.ones(2).bitwise_and_(T.ones(2))
    T.ones(2).lcm_(T.ones(2))
    s.detach()[:1] = 2.
    y = T.zeros(3, 3); y[T.eye(3) > 0] = T.ones(3, 3)
    T.zeros(3).put_(T.tensor([0]), 3)
    T.ones(2, 3).dist(T.ones(3, 2))
    T.zeros(2, dtype=T.bool).expand(())
    y = T.ones(3).expand(2, 3).detach(); y.zero_(); r = y, y._version
    y = x.expand(2, 2).detach(); y.fill_(3.); r = x, y
    T.ones(2, 3).bool() @ T.ones(3, 2)
    T.ones(2, 3).bool() @ T.ones(3)
    """,
)

KERNELS = (
    (
        "x = T.zeros(0, 2, 2, dtype=T.float16, requires_grad=True); o = T.ones(0, 2, 2, dtype=T.float16);"
        "L = T.linalg; w = T.ones(3, 2, dtype=T.complex64, requires_grad=True); "
        "i = T.tensor([0, 1]); b = T.ones(2, 3, dtype=T.bool)"
    ),
    """
    y = L.cholesky(x); r = y.grad_fn.name(); y.backward(o)
    y = L.cholesky(x, upper=True); y.backward(o)
    y = L.cholesky_ex(x).L; y.backward(o)
    y = L.lu(x).U; r = y.grad_fn.name(); y.backward(o)
    y = L.lu_factor(x).LU; r = y.grad_fn.name(); y.backward(o)
    y = L.lu_factor_ex(x).LU; y.backward(o)
    y = L.eigh(x); r = [t.grad_fn.name() for t in y], y; y[1].backward(o)
    y = L.det(x); y.backward(T.ones(0, dtype=T.float16)); r = y, x.grad
    y = L.solve(x, x); y.backward(o); r = y, x.grad
    r = L.solve(o[0:0, :0, :0], o[0:0, :0, :0])
    L.solve(T.eye(2, dtype=T.float16), T.eye(2, dtype=T.float16))
    L.solve_triangular(T.eye(2, dtype=T.float16), T.eye(2, dtype=T.float16), upper=True)
    L.lu_solve(T.eye(2, dtype=T.float16), T.tensor([1, 2], dtype=T.int32), T.eye(2, dtype=T.float16))
    T.cholesky_solve(x, x)
    T.cholesky_solve(T.ones(3, 2), T.ones(3, 2))
    L.lu_solve(T.ones(3, 2), T.ones(3, dtype=T.int32), T.ones(3, 1))
    r = [t.grad_fn and t.grad_fn.name() for t in T.lu_unpack(*L.lu_factor(T.eye(2, requires_grad=True)))]
    r = [t.grad_fn and t.grad_fn.name() for t in L.lu(T.eye(2, requires_grad=True))]
    r = T.cholesky_inverse(T.eye(2, requires_grad=True)).grad_fn.name()
    r = T.pdist(T.ones(3, 0, dtype=T.float16))
    T.nn.functional.embedding(i, w)
    T.nn.functional.embedding(i, w, padding_idx=0)
    r = T.nn.functional.embedding(i, w.detach())
    r = T.tensordot(b, b.t(), dims=((0, 1), (1, 0)))
    T.tensordot(b, b, dims=((0, 1), (0, 1)))
    T.tensordot(b, b.t(), dims=1)
    """,
)

DETERMINISTIC = (
    "T.use_deterministic_algorithms(True); i = T.tensor([0, 1]); F = T.nn.functional",
    """
    T.zeros(3).put_(i, T.ones(2))
    r = T.zeros(3).put_(i, T.ones(2), accumulate=True)
    F.max_unpool1d(*F.max_pool1d(T.ones(1, 1, 4), 2, return_indices=True), 2)
    F.max_unpool3d(*F.max_pool3d(T.ones(1, 1, 2, 2, 2), 2, return_indices=True), 2)
    T.use_deterministic_algorithms(True, warn_only=True); r = T.put(T.zeros(3), i, T.ones(2))
    r = T.empty(2), T.empty(2, dtype=T.int16), T.empty(2, dtype=T.bool), T.empty(1, dtype=T.complex64)
    r = T.empty_like(i), T.ones(2, 3).t().new_empty(2), T.empty_like(T.ones(2, 3).t()), T.Tensor(2), i.new(1)
    r = T.empty_strided((2, 2), (1, 2)), T.empty_permuted((1, 2), (1, 0)), i.new_empty_strided((1,), (1,))
    r = T.ones(2).resize_(4), T.empty(2, out=T.ones(2)), T.empty(2, device='meta'), T.empty(0)
    r = T.nn.utils.skip_init(T.nn.Linear, 1, 1).weight, T.zeros_like(i), i.new_full((2,), 3), T.full((2,), 1.)
    T.utils.deterministic.fill_uninitialized_memory = True; r = T.empty(1)
    r = T.cumsum(T.ones(3), 0), T.zeros(2).index_add(0, i, T.ones(2)), T.bincount(i, T.ones(2)), T.histc(T.ones(2), 2)
    """,
)
INT_MM = (
    "a = T.full((2, 3), -100, dtype=T.int8); b = T.full((3, 2), 100, dtype=T.int8); o = T.empty(2, 2, dtype=T.int32)",
    """
    r = T._int_mm(a, b), T._int_mm(a.to(T.uint8), b), T._int_mm(a[:0], b), T._int_mm(a[:, :0], b[:0])
    r = T._int_mm(a, b, out=o) is o, o
    T._int_mm(a, b, out=o.float())
    T._int_mm(a, b, out=o[:, :1])
    T._int_mm(a, b, out=T.ones(2, 4, dtype=T.int32)[:, ::2])
    T._int_mm(a, a)
    T._int_mm(a[0], b)
    T._int_mm(a.float(), b)
    T._int_mm(a, b.to(T.uint8))
    T._int_mm(a.float(), a)
    r = T._int_mm(a.to('meta'), b.to('meta')), T.ops.aten._int_mm(a, b)
    """,
)

EXPANDED = (
    """
x = T.tensor([1., 2., 3.], requires_grad=True); b = x * 1; e = b.expand(3, 3); c = T.tensor([1., 2., 3.])
d = c.unsqueeze(1).expand(3, 3); mask = T.eye(3).bool(); two = T.tensor(2.); i = T.tensor([0]); p = T.ones(3)
def all(e): return e.tolist(), e.grad_fn and e.grad_fn.name(), e._base.grad_fn and e._base.grad_fn.name(), e._version
""",
    """
    e.masked_fill_(mask, 9.); r = all(e)
    e.masked_fill_(mask, 9.); e.sum().backward()
    d.masked_fill_(mask[:1], two); r = all(d)
    d.masked_fill_(mask, x.sum()); d.sum().backward(); r = all(d), x.grad
    d[0] = float('nan'); d.masked_fill_(mask[1:2], 4.); r = all(d)
    e.index_fill_(0, i, 9.); r = all(e)
    d.index_fill_(1, i, two); r = all(d)
    d.index_fill_(1, i, x.sum()); d.sum().backward(); r = all(d), x.grad
    e[i] = p; r = all(e)
    e[i] = p; e.sum().backward()
    d[i] = p * 7; r = all(d)
    d[mask] = two; r = all(d)
    e[mask] = two; r = all(e)
    d.index_put_((i,), x.sum(), accumulate=True); r = all(d)
    e.index_put_((i, i), two, accumulate=True); r = all(e)
    d.tril_(); r = all(d)
    e.triu_(); r = all(e)
    e.triu_(); e.sum().backward()
    e.fill_(3.); r = all(e)
    e.fill_(3.); e.sum().backward()
    e.zero_(); e.sum().backward()
    e[:1].zero_(); e.sum().backward(); r = x.grad
    e.add_(1)
    x.expand(3, 3).masked_fill_(mask, 1.)
    T.add(e, e, out=e)
    """,
)

REPLACED = (
    """
F = T.nn.functional; T.set_default_dtype(T.float64)
x = T.arange(12.).view(3, 4).div(7).sin().requires_grad_(); w = T.arange(1., 5., requires_grad=True)
m = T.arange(8.).view(2, 4).requires_grad_(); n = T.arange(8.).view(4, 2).requires_grad_()
z = T.arange(24.).view(2, 3, 4).requires_grad_(); v = T.ones(3, requires_grad=True); T.set_default_dtype(T.float32)
def grads(f, *changed):
    y = f()
    for t in changed: t.data = t.data * 3 + 1
    (y * T.arange(1., y.numel() + 1).view(y.shape)).sum().backward()
    return [None if t.grad is None else t.grad.round(decimals=1) + 0 for t in (x, w, m, n, z, v)]
""",
    """
    r = grads(lambda: F.linear(x, m), m)
    r = grads(lambda: F.linear(x, m, m[:, 0]), m)
    r = grads(lambda: F.linear(x, m), x)
    r = grads(lambda: F.instance_norm(z, weight=v), z)
    r = grads(lambda: F.instance_norm(z, weight=v), v)
    r = grads(lambda: F.group_norm(z.transpose(0, 1), 1), z)
    r = grads(lambda: F.scaled_dot_product_attention(z, z.detach(), z.detach()), z)
    r = grads(lambda: F.scaled_dot_product_attention(z.detach(), z, z.detach()), z)
    r = grads(lambda: F.linear(z, m), m, z)
    r = grads(lambda: F.linear(z, m, m[:, 0]), m, z)
    r = grads(lambda: x @ n, x, n)
    r = grads(lambda: z @ n, z, n)
    r = grads(lambda: z @ z.mT.detach(), z)
    r = grads(lambda: v @ x, x, v)
    r = grads(lambda: T.einsum('ij,jk->ik', x, n), x, n)
    r = grads(lambda: x * w, x, w)
    r = grads(lambda: F.layer_norm(x, (4,), w), w)
    r = grads(lambda: F.group_norm(x, 2, w), w)
    r = grads(lambda: F.batch_norm(x, None, None, w, training=True), w)
    r = grads(lambda: F.layer_norm(x.float(), (4,), w.float()), x, w)
    x.data.clamp_(-1, 1).mul_(2); r = grads(lambda: F.batch_norm(x, None, None, None, training=True), x)
    """,
)

INFERRED = (
    """
with T.inference_mode(): i = T.full((2,), 3.)
F = T.func; x = T.tensor([1., 2.])
class Times(A.Function):
    @staticmethod
    def forward(x, y): return x * y
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): return g * ctx.saved_tensors[1], None
""",
    """
    r = F.grad(lambda x: (x * i).sum())(x)
    r = F.vjp(lambda x: x * i, x)[1](x)
    r = F.hessian(lambda x: (x * i * x).sum())(x)
    r = F.vmap(F.grad(lambda x: (x * i).sum()))(x.expand(2, 2))
    r = F.grad(lambda x: T.stack([x, i]).prod())(x)
    r = F.grad(lambda x: Times.apply(x, i).sum())(x)
    r = F.grad(lambda x: x.clone().mul_(i).sum())(x)
    with T.inference_mode(): r = F.grad(lambda x: (x * i).sum())(x)
    x.requires_grad_() * i
    Times.apply(x.requires_grad_(), i)
    """,
)

STALE = (
    """
x = T.tensor([1., 2., 3., 4.], requires_grad=True); b = x * 1; one, two = b.split(2); s = b[:2]; p = x.unbind()[0]
with T.no_grad(): n = b[:2]; m = b.view(2, 2); F = T.nn.functional
with T.inference_mode(): i = b[:2]
""",
    """
    with T.no_grad(): b.mul_(2)\n    one * 2
    with T.no_grad(): b.mul_(2)\n    two[0]
    with T.no_grad(): b[0] = 5.\n    T.cat([two, x])
    with T.no_grad(): s.zero_()\n    one.sum()
    with T.no_grad(): two.exp_()\n    one.sum()
    with T.no_grad(): T.mul(b, 2, out=b)\n    one.sum()
    with T.no_grad(): b[b > 1] = 0.\n    one.is_leaf
    with T.inference_mode(): b.mul_(2)\n    one * 2
    with T.no_grad(): x.add_(1)\n    p * 2
    with T.no_grad(): x.add_(1)\n    one.sum().backward(); r = x.grad
    with T.no_grad(): b.mul_(2); r = (one * 2).tolist(), one.requires_grad, (b * 2).grad_fn.name()
    with T.no_grad(): b.mul_(2)\n    one.add_(1)
    with T.no_grad(): b.mul_(2)\n    n.add_(1)
    with T.no_grad(): b.mul_(2)\n    n * 2
    with T.no_grad(): b.mul_(2)\n    m[0]
    with T.no_grad(): b.mul_(2)\n    i * 2
    with T.no_grad(): b.mul_(2)\n    i.is_leaf
    with T.no_grad(): one.mul_(2)\n    (s * 3).sum().backward(); r = x.grad
    y = (one * one).sum()\n    with T.no_grad(): b.add_(1)\n    y.backward()
    y = (s * s).sum()\n    with T.no_grad(): b.add_(1)\n    y.backward()
    v = T.zeros(4)[:2].requires_grad_(); v.add_(1)
    n.register_post_accumulate_grad_hook(print); r = n.is_leaf
    y = x[::2]\n    with T.no_grad(): r = y.reshape(-1).is_leaf, y.reshape(-1).requires_grad
    b[...] = b; r = b._version
    T.ones(3, dtype=T.half)[T.tensor([0])] = T.ones(5)
    T.ones(3, dtype=T.half).index_put((T.tensor([0]),), T.ones(5))
    r = T.func.jacrev(lambda x: x.mean())(x.detach()).mul_(2)
    r = T.func.vmap(T.func.grad(lambda x: x.mean()))(T.ones(2, 3)).mul_(2)
    r = T.func.jacfwd(lambda x: T.ones(2, 4) - x)(x.detach()).mul_(2)
    r = F.threshold_(b, 0., 1.).grad_fn.name(), F.threshold(b, 0., 1., True).grad_fn.name()
    (g,) = A.grad(F.softplus(x, 2, 4).sum(), x, create_graph=True); r = A.grad(g.sum(), x)
    """,
)

PACKED = (
    """
def names(n, d=2): return n and (n.name(), [names(m, d - 1) for m, _ in n.next_functions] if d else [])
x = T.arange(24.).view(3, 2, 4).requires_grad_(); R = T.nn.utils.rnn; pack = R.pack_padded_sequence(x, [3, 2])
def back(y): (y * T.arange(1., y.numel() + 1).view(y.shape)).sum().backward(); return x.grad
""",
    """
    r = pack.data, back(pack.data)
    y = R.pad_packed_sequence(pack)[0]; r = names(y.grad_fn), y.detach(), back(y)
    y = R.pad_packed_sequence(pack, True, 7., 4)[0]; r = names(y.grad_fn), y.detach(), back(y)
    y = R.pad_packed_sequence(R.pack_padded_sequence(x, [1, 1]))[0]; r = names(y.grad_fn), y.detach(), back(y)
    y = R.pad_packed_sequence(R.pack_padded_sequence(x, [2, 3], enforce_sorted=False))[0]; r = names(y.grad_fn), back(y)
    y = R.unpack_sequence(pack); r = [names(t.grad_fn) for t in y], [t.detach() for t in y], back(T.cat(y))
    """,
)

TABLES = {
    "backward": BACKWARD,
    "writes": WRITES,
    "forward": FORWARD,
    "transforms": TRANSFORMS,
    "checks": CHECKS,
    "views": VIEWS,
    "edges": EDGES,
    "integers and names": INTEGERS_AND_NAMES,
    "kernels": KERNELS,
    "deterministic": DETERMINISTIC,
    "products of int8": INT_MM,
    "tasks": TASKS,
    "functions": FUNCTIONS,
    "aliases": ALIASES,
    "expanded": EXPANDED,
    "replaced": REPLACED,
    "inferred": INFERRED,
    "stale": STALE,
    "packed": PACKED,
}
PROGRAMS = [
    pytest.param(preparation, line.strip().replace("\\n    ", "\n"), id=f"{name}: {line.strip()}")
    for name, (preparation, lines) in TABLES.items()
    for line in lines.replace("\n    v.mul_(2)", "\\n    v.mul_(2)")
    .replace("\n    for _", "\\n    for _")
    .strip()
    .splitlines()
]


def outcome(T: ModuleType, preparation: str, program: str) -> tuple[str, list[str]]:
    """The text of what a program leaves in ``r``, or its error, without addresses; and its warnings."""
    scope: dict[str, Any] = {"T": T, "A": T.autograd}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        T.set_warn_always(True)  # what is warned of once in a process, whichever program was the first
        try:
            exec(preparation, scope)
            exec(program, scope)
            text = str(scope.get("r"))
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            text = f"{type(error).__name__}: {error}"
        finally:
            T.set_warn_always(False)
            T.use_deterministic_algorithms(False)
            T.set_grad_enabled(True)
            if "level" in scope:
                with contextlib.suppress(RuntimeError):  # it was not entered
                    scope["level"].__exit__(None, None, None)
    told = [
        f"{w.category.__name__}: {str(w.message).partition(' (Triggered')[0]}"
        for w in caught
        if "torch.jit" not in str(w.message)
    ]
    return re.sub(r"0x[0-9a-f]+", "0x", text), told


@pytest.mark.parametrize(("preparation", "program"), PROGRAMS)
def test_the_same_as_pytorch(preparation: str, program: str, torch: ModuleType) -> None:
    assert outcome(wengert, preparation, program) == outcome(torch, preparation, program)


@pytest.mark.parametrize("expression", [line.strip() for line in NODES.strip().splitlines()])
def test_the_same_graph_as_pytorch(expression: str, torch: ModuleType) -> None:
    graphs = []
    for T in (wengert, torch):
        scope = {"T": T, "F": T.nn.functional, "x": T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)}
        scope |= {"v": T.tensor([1.0, 2.0], requires_grad=True), "w": T.ones(2, 2, requires_grad=True)}
        node = eval(expression, scope).grad_fn
        graphs.append((node.name(), [(n.name() if n else None, k) for n, k in node.next_functions]))
    assert graphs[0] == graphs[1]


def test_the_hint_in_anomaly_mode(torch: ModuleType) -> None:
    texts = []
    for T in (wengert, torch):
        with warnings.catch_warnings(action="ignore"), T.autograd.detect_anomaly():
            y = T.ones(2, requires_grad=True).exp()
            y.add_(1)
            with pytest.raises(RuntimeError) as error:
                y.sum().backward()
        texts.append(str(error.value))
    assert texts[0] == texts[1]
