"""Custom functions."""

# Lambdas of a loop are called within it; a program reads as users write them.
# ruff: noqa: C408, F841, RUF059

from __future__ import annotations

import gc
import weakref


def msg(L, fn):
    try:
        fn()
    except RuntimeError as e:
        L(str(e)[:100])


def mk(T, fwd, bwd=None, **kw):
    return type(
        "Fn",
        (T.autograd.Function,),
        dict(forward=staticmethod(fwd), **({"backward": staticmethod(bwd)} if bwd else {}), **kw),
    )


def prog_basic(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = T.tensor([3.0, 4.0])

    def fwd(ctx, a, b, k):
        ctx.save_for_backward(a, b)
        ctx.k = k
        L("ng", T.is_grad_enabled(), ctx.needs_input_grad)
        return a * b * k

    def bwd(ctx, g):
        a, b = ctx.saved_tensors
        L("bw", T.is_grad_enabled(), ctx.needs_input_grad, a is x, b is y)
        return g * b * ctx.k, g * a * ctx.k, None

    F = mk(T, fwd, bwd)
    z = F.apply(x, y, 3)
    L(
        z,
        z.grad_fn.name(),
        type(z.grad_fn).__name__,
        z.grad_fn.k,
        z.grad_fn.next_functions[1:],
        len(z.grad_fn.saved_tensors),
    )
    z.sum().backward()
    L(x.grad)
    err(z.sum().backward)
    err(lambda: z.grad_fn.saved_tensors)
    L(T.autograd.grad(F.apply(x, y, 3).sum(), x, create_graph=True))
    with T.no_grad():
        L(F.apply(x, y, 2).requires_grad)
    L(F.apply(y, y, 2).requires_grad)
    L(isinstance(z.grad_fn, F), isinstance(z.grad_fn, T.autograd.function.BackwardCFunction), F.__name__)


def prog_errors(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = T.tensor([1.0, 2.0], requires_grad=True)
    one = lambda ctx, a: a * 1
    for name, bwd in dict(
        few=lambda ctx, g: (),
        many=lambda ctx, g: (g, g),
        manynone=lambda ctx, g: (g, None, None),
        shape=lambda ctx, g: T.ones(3),
        shape2=lambda ctx, g: T.ones(1),
        shape3=lambda ctx, g: T.ones(4, 2),
        type=lambda ctx, g: 3,
        dtype=lambda ctx, g: g.double(),
        intd=lambda ctx, g: g.long(),
        lst=lambda ctx, g: [g],
        none=lambda ctx, g: None,
    ).items():
        L(name)
        x.grad = None
        err(mk(T, one, bwd).apply(x).sum().backward)
        L(x.grad)
    err(mk(T, one).apply(x).sum().backward)
    err(mk(T, lambda ctx, a: 3, lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a: None, lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a: (a * 1, 5, None, "s"), lambda ctx, g, *r: (L(r), g)[1]).apply, x)
    err(mk(T, lambda ctx, a: [a * 1, a * 2], lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a: (), lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a, b: a * 1, lambda ctx, g: (g, 3)).apply(x, 5).sum().backward)
    err(mk(T, lambda ctx, a, b: a * 1, lambda ctx, g: (g, T.ones(2))).apply(x, 5).sum().backward)
    err(mk(T, lambda ctx, a, b: a * 1, lambda ctx, g: (g, g)).apply(x, T.ones(2)).sum().backward)
    err(mk(T, lambda ctx, a: (ctx.save_for_backward(3), a * 1)[1], lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a: (ctx.mark_dirty(a * 1), a * 1)[1], lambda ctx, g: g).apply, x)
    err(mk(T, lambda ctx, a: (ctx.mark_dirty(a), a * 1)[1], lambda ctx, g: g).apply, x * 1)
    err(mk(T, lambda ctx, a: (ctx.mark_dirty(a), a.mul_(2))[1], lambda ctx, g: g * 2).apply, x)
    err(mk(T, lambda ctx, a: a * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g)).apply(x).sum().backward)
    err(T.autograd.Function.apply, x)

    class NS(T.autograd.Function):
        def forward(self, a):
            return a

        def backward(self, g):
            return g

    err(NS.apply, x)
    F = mk(T, lambda ctx, a, b: a * b, lambda ctx, g: (g, g))
    err(F.apply, x)
    err(F.apply, x, b=2)

    def noctx(a, k=3):
        return a * k

    class SC(T.autograd.Function):
        forward = staticmethod(noctx)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.k = inputs[1]
            L("sc", tuple(inputs), output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k, None

    L(SC.apply(x))
    L(SC.apply(x, k=4))
    SC.apply(x, 5).sum().backward()
    L(x.grad)

    class SE(SC):
        @staticmethod
        def setup_context(ctx, inputs, output):
            return 3

    err(SE.apply, x)
    err(
        mk(T, lambda ctx, a: a * 1, lambda ctx, g: g).apply(x).grad_fn.apply
        if False
        else (lambda: mk(T, lambda ctx, a: a * 1, lambda ctx, g: g).apply(x).grad_fn.nothing)
    )


def prog_dirty(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    F = mk(T, lambda ctx, a: (ctx.mark_dirty(a), a.mul_(3))[1], lambda ctx, g: g * 3)
    y = x * 2
    v0 = y._version
    z = F.apply(y)
    L(z is y, y._version - v0, z.grad_fn.name(), y.grad_fn is z.grad_fn)
    z.sum().backward()
    L(x.grad)
    y = x * 2
    v = y[0:1]
    err(F.apply, v)
    L(y.grad_fn.name(), v.grad_fn.name() if v.grad_fn else None)
    if y.requires_grad:
        y.sum().backward()
        L(x.grad)
    y = x * 2
    sq = y * y
    F.apply(y)
    msg(L, sq.sum().backward)
    p = T.ones(2)
    F.apply(p)
    L(p, p._version, p.requires_grad)
    with T.no_grad():
        q = x * 1
        r = F.apply(q)
        L(r is q, q)
    F2 = mk(T, lambda ctx, a, b: (ctx.mark_dirty(a), a.add_(b))[1], lambda ctx, g: (g, g * 10))
    p = T.ones(2)
    x.grad = None
    r = F2.apply(p, x)
    L(r is p, p.requires_grad, p.is_leaf)
    p.sum().backward()
    L(x.grad)
    D = mk(T, lambda ctx, a: (ctx.mark_dirty(a), (a.mul_(2), a.sum()))[1], lambda ctx, g, h: g * 2)
    y = x * 1
    a, b = D.apply(y)
    L(a is y, b.grad_fn is a.grad_fn, a.output_nr, b.output_nr)


def prog_outputs(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    F = mk(T, lambda ctx, a: a, lambda ctx, g: g * 5)
    z = F.apply(x)
    L(z is x, z.grad_fn.name(), z._is_view() if hasattr(z, "_is_view") else None, z.requires_grad)
    z.sum().backward()
    L(x.grad)
    err(z.mul_, 2)
    z = F.apply(x * 1)
    err(z.mul_, 2)
    V = mk(T, lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2) * 7)
    x.grad = None
    z = V.apply(x * 1)
    L(z.grad_fn.name())
    z.sum().backward()
    L(x.grad)
    z = V.apply(x * 1)
    err(z.mul_, 2)
    z = V.apply(x)
    err(z.mul_, 2)
    with T.no_grad():
        z = F.apply(x)
        L(z is x, z.requires_grad)
        z2 = F.apply(z)
        L(z2 is z)
    p = T.ones(2)
    q = F.apply(p)
    L(q is p, q.requires_grad)
    q.add_(1)
    L(p)
    N = mk(
        T,
        lambda ctx, a: (lambda o, i: (ctx.mark_non_differentiable(i), (o, i))[1])(a * 2, a * 3),
        lambda ctx, g, h: (L("g", g, h), g * 2)[1],
    )
    o, i = N.apply(x)
    L(o.requires_grad, i.requires_grad, i.grad_fn, i.is_leaf)
    o.sum().backward()
    N = mk(T, lambda ctx, a: (ctx.mark_non_differentiable(a), a)[1], lambda ctx, g: g)
    err(N.apply, x)
    I = mk(T, lambda ctx, a: (a * 2, a.long(), a > 0), lambda ctx, g, h, k: (L(g, h, k), g)[1])
    o, i, b = I.apply(x)
    L(i.requires_grad, b.requires_grad, i.dtype)
    o.sum().backward()
    M = mk(T, lambda ctx, a: (a * 2, a * 3), lambda ctx, g, h: (L(g, h), g)[1])
    o, i = M.apply(x)
    o.sum().backward()
    o, i = M.apply(x)
    i.sum().backward()
    M = mk(T, lambda ctx, a: (ctx.set_materialize_grads(False), (a * 2, a * 3))[1], lambda ctx, g, h: (L(g, h), g)[1])
    o, i = M.apply(x)
    o.sum().backward()
    o, i = M.apply(x)
    i.sum().backward()
    S = mk(T, lambda ctx, a: (lambda o: (o, o))(a * 2), lambda ctx, g, h: (L(g, h), g + h)[1])
    o, i = S.apply(x)
    L(o is i, o.output_nr, i.output_nr)
    (o * 1 + i * 2).sum().backward()
    C = mk(T, lambda ctx, a, b: (a * 1, b * 1), lambda ctx, g, h: (g, h))
    w = T.tensor([5.0], requires_grad=True)
    o, i = C.apply(x, w)
    L(o.grad_fn.next_functions[0][1], len(o.grad_fn.next_functions))
    i.backward()
    L(w.grad)
    K = mk(T, lambda ctx, a: T.ones(3, requires_grad=True), lambda ctx, g: T.zeros(2))
    z = K.apply(x)
    L(z.requires_grad, z.grad_fn.name())
    K = mk(T, lambda ctx, a: x.detach(), lambda ctx, g: g)
    z = K.apply(x)
    L(z.requires_grad)


def prog_saved(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    E = mk(
        T,
        lambda ctx, a: (lambda r: (ctx.save_for_backward(r, None, a), r)[1])(a.exp() if False else a * a),
        lambda ctx, g: (lambda r, n, a: (L(r.requires_grad, n, a is x, r.grad_fn is not None), g * 2 * a)[1])(
            *ctx.saved_tensors
        ),
    )
    y = E.apply(x)
    y.sum().backward(retain_graph=True)
    L(x.grad)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    L(g.requires_grad, T.autograd.grad(g.sum(), x))
    y = E.apply(x * 1)
    y.mul_(2)
    msg(L, y.sum().backward)
    mid = x * 1
    y = E.apply(mid)
    mid.mul_(2)
    msg(L, y.sum().backward)
    H = mk(
        T,
        lambda ctx, a: (lambda t: (ctx.save_for_backward(t), setattr(ctx, "t", t), a * 1)[2])(a * 7),
        lambda ctx, g: (L(ctx.saved_tensors[0], ctx.saved_tensors[0].requires_grad), g)[1],
    )
    H.apply(x).sum().backward()
    A = mk(
        T,
        lambda ctx, a: (ctx.save_for_backward(a), ctx.save_for_backward(a, a), a * 1)[2],
        lambda ctx, g: (L(len(ctx.saved_tensors)), g)[1],
    )
    A.apply(x).sum().backward()
    Z = mk(T, lambda ctx, a: a * 1, lambda ctx, g: (L(ctx.saved_tensors), g)[1])
    z = Z.apply(x)
    z.sum().backward()
    err(z.sum().backward)
    L(x.grad)
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: (L("pack", t.detach()), t.detach())[1], lambda t: (L("unpack", t), t)[1]
    ):
        y = E.apply(x)
    y.sum().backward()
    q = A.apply(x)
    L([r.data for r in q.grad_fn._raw_saved_tensors])


def prog_once(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    O = mk(
        T,
        lambda ctx, a: (ctx.save_for_backward(a), a * a)[1],
        T.autograd.function.once_differentiable(
            lambda ctx, g: (L(T.is_grad_enabled()), g * 2 * ctx.saved_tensors[0])[1]
        ),
    )
    O.apply(x).sum().backward()
    L(x.grad)
    (g,) = T.autograd.grad(O.apply(x).sum(), x, create_graph=True)
    L(g.requires_grad)
    (g,) = T.autograd.grad((O.apply(x) * x).sum(), x, create_graph=True)
    L(g.requires_grad)
    err(g.sum().backward)
    y = x * 1
    (g,) = T.autograd.grad((O.apply(y) ** 2).sum(), x, create_graph=True)
    err(T.autograd.grad, g.sum(), x)


def prog_dd(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    S = mk(
        T,
        lambda ctx, a: (ctx.save_for_backward(a), a**3)[1],
        lambda ctx, g: (L("rec", T.is_grad_enabled()), 3 * ctx.saved_tensors[0] ** 2 * g)[1],
    )
    (g,) = T.autograd.grad(S.apply(x).sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = T.autograd.grad(h.sum(), x)
    L(g, h, k)
    x.register_hook(lambda g: L("hook"))
    y = S.apply(x)
    y.register_hook(lambda g: (L("yhook"), g * 2)[1])
    y.grad_fn.register_hook(lambda gi, go: L("node", gi, go))
    y.grad_fn.register_prehook(lambda go: L("pre", go))
    y.sum().backward()
    L(x.grad)
    m = mk(T, lambda ctx, a, b: (a * b, a + b), lambda ctx, g, h: (g, h))
    o, i = m.apply(x, x)
    o.grad_fn.register_hook(lambda gi, go: L("m", gi, go))
    o.sum().backward()


def prog_nested_apply(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    A = mk(T, lambda ctx, a: a * 2, lambda ctx, g: (L("A"), g * 2)[1])
    B = mk(T, lambda ctx, a: A.apply(a) * 3, lambda ctx, g: (L("B"), g * 6)[1])
    B.apply(x).sum().backward()
    L(x.grad)
    C = mk(T, lambda ctx, a: a * 2, lambda ctx, g: A.apply(g))
    (g,) = T.autograd.grad(C.apply(x).sum(), x, create_graph=True)
    L(g.requires_grad, g)
    (g,) = T.autograd.grad((C.apply(x) * x).sum(), x, create_graph=True)
    L(g)
    L(T.autograd.grad(g.sum(), x))


def prog_leaks(T, L, err):
    gc.disable()
    try:
        x = T.tensor([1.0, 2.0], requires_grad=True)
        E = mk(T, lambda ctx, a: (lambda r: (ctx.save_for_backward(a, r), r)[1])(a * 2), lambda ctx, g: g)
        y = E.apply(x * 1)
        r = [weakref.ref(y), weakref.ref(y.grad_fn)]
        del y
        L([q() is None for q in r])
        y = E.apply(x * 1)
        y.sum().backward()
        r = [weakref.ref(y)]
        del y
        L([q() is None for q in r])
        y = x * 1
        z = mk(T, lambda ctx, a: (ctx.mark_dirty(a), a.mul_(2))[1], lambda ctx, g: g).apply(y)
        r = [weakref.ref(y)]
        del y, z
        L([q() is None for q in r])
        y = x * 1
        y.register_hook(lambda g: g)
        y.retain_grad()
        y.sum().backward()
        r = [weakref.ref(y), weakref.ref(y.grad)]
        del y
        L([q() is None for q in r])
        y = x * 1
        v = y[0]
        v.mul_(2)
        r = [weakref.ref(y), weakref.ref(v)]
        del y, v
        L([q() is None for q in r])
        y = (x * 1).exp()
        y.grad_fn.register_hook(lambda a, b: None)
        r = [weakref.ref(y)]
        del y
        L([q() is None for q in r])
    finally:
        gc.enable()
