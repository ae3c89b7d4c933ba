"""gradcheck, functional, anomaly mode, grad modes, hooks on saved values."""

# Lambdas of a loop are called within it; a program reads as users write them.
# ruff: noqa: B023, C408, F841

from __future__ import annotations


def prog_ok(T, L, err):
    G, GG = T.autograd.gradcheck, T.autograd.gradgradcheck
    x = T.tensor([[0.5, 1.5], [-0.3, 0.8]], dtype=T.float64, requires_grad=True)
    y = T.tensor([0.2, 0.7], dtype=T.float64, requires_grad=True)
    f = lambda a, b: (a.sin() * b, (a * b).sum(0))
    L(
        G(f, (x, y)),
        G(f, (x, y), fast_mode=True),
        G(f, (x, y), check_forward_ad=True),
        G(f, (x, y), check_forward_ad=True, fast_mode=True, check_batched_grad=True, check_batched_forward_grad=True),
        G(f, (x, y), check_forward_ad=True, check_backward_ad=False),
    )
    L(
        GG(f, (x, y)),
        GG(f, (x, y), fast_mode=True),
        GG(f, (x, y), check_fwd_over_rev=True),
        GG(f, (x, y), check_batched_grad=True),
        GG(f, (x, y), gen_non_contig_grad_outputs=True),
        GG(lambda a: a**3, x, T.ones(2, 2, dtype=T.float64, requires_grad=True)),
    )
    c = T.tensor([0.5 + 1j, 1 - 0.3j], dtype=T.complex128, requires_grad=True)
    L(
        G(lambda a: a * a, c),
        G(lambda a: a * a.conj(), c),
        G(lambda a: a.abs(), c),
        G(lambda a: a * a, c, check_forward_ad=True),
        G(lambda a: a.real * 2, c, check_forward_ad=True),
        GG(lambda a: a * a * a.conj(), c),
        G(lambda a: a * a, c, fast_mode=True),
        G(lambda a, b: a * b, (c, y), check_forward_ad=True),
    )


def prog_bad(T, L, err):
    G, GG = T.autograd.gradcheck, T.autograd.gradgradcheck
    x = T.tensor([0.5, 1.5], dtype=T.float64, requires_grad=True)

    def mk(b, **k):
        return type(
            "F",
            (T.autograd.Function,),
            dict(forward=staticmethod(lambda ctx, a: (ctx.save_for_backward(a), a * a)[1]), backward=staticmethod(b)),
        )

    bad = mk(lambda ctx, g: g * 3 * ctx.saved_tensors[0]).apply
    err(G, bad, x)
    L(G(bad, x, raise_exception=False))
    err(GG, bad, x)
    try:
        G(bad, x, fast_mode=True)
    except RuntimeError as e:
        L(type(e).__name__, str(e)[:60])
    err(
        G,
        mk(lambda ctx, g: g * 0 + 2 * ctx.saved_tensors[0]).apply,
        T.tensor([1.0], dtype=T.float64, requires_grad=True),
    )
    n = [0]

    def nd(ctx, g):
        n[0] += 1
        return g * 2 * ctx.saved_tensors[0] * (1 + 1e-9 * n[0])

    try:
        G(mk(nd).apply, x)
    except RuntimeError as e:
        L(str(e)[:150])
    err(lambda: G(mk(nd).apply, x, nondet_tol=1e-5))

    def und(ctx, g, h):
        if g is None:
            raise RuntimeError("undef")
        return g * 2

    U = type(
        "U",
        (T.autograd.Function,),
        dict(
            forward=staticmethod(lambda ctx, a: (ctx.set_materialize_grads(False), (a * 2, a * 3))[1]),
            backward=staticmethod(und),
        ),
    )
    err(G, lambda a: U.apply(a)[0], x)
    err(G, lambda a: a * 2, T.ones(2, dtype=T.float64))
    err(G, lambda a: a * 2, T.ones(1, dtype=T.float64, requires_grad=True).expand(3))
    err(G, lambda a: a.detach() * 2, x)
    err(G, lambda a: a * 2, x, check_backward_ad=False)
    err(G, lambda a: a * 2, x, check_batched_forward_grad=True)
    err(GG, lambda a: a * a, x, check_rev_over_rev=False)
    D = type(
        "D",
        (T.autograd.Function,),
        dict(
            forward=staticmethod(lambda ctx, a: a * 2),
            backward=staticmethod(lambda ctx, g: g * 2),
            jvp=staticmethod(lambda ctx, t: t * 3),
        ),
    )
    err(G, D.apply, x, check_forward_ad=True)
    err(lambda: G(lambda a: a * 2, T.ones(2, requires_grad=True), eps=1e-3, atol=1e-2))
    c = T.tensor([0.5 + 1j], dtype=T.complex128, requires_grad=True)
    err(G, mk(lambda ctx, g: g * 2 * ctx.saved_tensors[0]).apply, c)


def prog_functional(T, L, err):
    F = T.autograd.functional
    x = T.tensor([0.5, 1.5], dtype=T.float64)
    y = T.tensor([0.2, 0.7], dtype=T.float64)
    w = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    R = lambda v: (
        [R(q) for q in v]
        if isinstance(v, (tuple, list))
        else (str([round(z, 6) for z in v.detach().reshape(-1).tolist()]) + str(tuple(v.shape)) + str(v.requires_grad))
    )
    P = lambda *a: L(str([type(q).__name__ + str(R(q)) for q in a]))
    f2 = lambda a, b: (a * b, (a + b).sum())
    s = lambda a: (a**3).sum()
    s2 = lambda a, b: (a * a * b).sum()
    P(F.vjp(lambda a: a**2, x, y))
    P(F.vjp(f2, (x, y), (x, T.tensor(1.0, dtype=T.float64))))
    P(F.vjp(s, x))
    P(F.jvp(lambda a: a**2, x, y))
    P(F.jvp(f2, (x, y), (x, y)))
    P(F.vhp(s, x, y))
    P(F.vhp(s2, (x, y), (y, x)))
    P(F.hvp(s, x, y))
    P(F.hvp(s2, (x, y), (y, x)))
    P(F.jacobian(lambda a: a**2, x))
    P(F.jacobian(f2, (x, y)))
    P(F.jacobian(lambda a: a**2, x, vectorize=True))
    P(F.jacobian(f2, (x, y), vectorize=True))
    P(F.hessian(s, x))
    P(F.hessian(s2, (x, y)))
    P(F.hessian(s2, (x, y), vectorize=True))
    P(F.vjp(lambda a: a**2, w, y, create_graph=True))
    P(F.jacobian(lambda a: a**2, w, create_graph=True))
    P(F.jacobian(lambda a: a**2, w, create_graph=True, vectorize=True))
    P(F.hessian(lambda a: (a**3).sum(), w, create_graph=True))
    P(F.jvp(lambda a: a**2, w, y, create_graph=True))
    P(F.hvp(lambda a: (a**3).sum(), w, y, create_graph=True))
    P(F.jacobian(lambda a: a * w, x))
    P(F.jacobian(lambda a: y, x))
    P(F.vjp(lambda a: y * 1, x, y))
    P(F.hessian(lambda a: a.sum(), x))
    P(F.jvp(lambda a: y * 1, x, y))
    P(F.vhp(lambda a: a.sum(), x, y))
    P(F.hvp(lambda a: a.sum(), x, y))
    for fn, a in [
        (F.vjp, (lambda a: y * 1, x, y)),
        (F.jvp, (lambda a: y * 1, x, y)),
        (F.jvp, (lambda a: a * 2, x, y)),
        (F.vhp, (lambda a: a.sum(), x, y)),
        (F.hvp, (lambda a: a.sum(), x, y)),
        (F.jacobian, (lambda a: y, x)),
        (F.hessian, (lambda a: a.sum(), x)),
        (F.jacobian, (lambda a, b: a * 2, (x, y))),
        (F.vjp, (lambda a, b: a * 2, (x, y), y)),
        (F.hvp, (lambda a: (a * a).sum(), x, y)),
    ]:
        err(lambda: fn(*a, strict=True))
        err(lambda: fn(*a, strict=True, create_graph=True))
    err(F.vjp, s, 3)
    err(F.vjp, s, (x, 3))
    err(F.vjp, lambda a: 3, x)
    err(F.vjp, lambda a: (a, 3), x)
    err(F.vjp, lambda a: a, x)
    err(F.vjp, lambda a: a, x, x[:1])
    err(F.vjp, f2, (x, y), x)
    err(F.vjp, lambda a: a, x, (x, x))
    err(F.jvp, lambda a: a, x)
    err(F.jvp, f2, (x, y), (x, x[:1]))
    err(F.vhp, lambda a: a, x, y)
    err(F.vhp, lambda a: (a.sum(),), x, y)
    err(F.hvp, s, x)
    err(F.jacobian, s, x, strategy="x")
    err(F.jacobian, s, x, strategy="forward-mode")
    err(F.jacobian, s, x, strategy="forward-mode", strict=True)
    err(F.jacobian, s, x, strategy="forward-mode", create_graph=True)
    err(F.jacobian, s, x, strict=True, vectorize=True)
    err(F.hessian, s, x, outer_jacobian_strategy="x")
    err(F.hessian, lambda a: a, x)
    err(F.hessian, lambda a: (a.sum(),), x)
    L(T.autograd.grad((w**2), w, T.eye(2, dtype=T.float64), is_grads_batched=True))
    err(T.autograd.grad, w**2, w, is_grads_batched=True)


def prog_modes(T, L, err):
    x = T.tensor([0.0, 1.0], requires_grad=True)

    with T.autograd.set_detect_anomaly(True):
        L(T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled())
        y = x.sqrt() * 0
        err(y.sum().backward)
    L(T.is_anomaly_enabled())
    with T.autograd.set_detect_anomaly(True, check_nan=False):
        y = x.sqrt() * 0
        err(y.sum().backward)

    @T.no_grad()
    def g():
        L(T.is_grad_enabled())
        r = yield 1
        L(r, T.is_grad_enabled())
        yield 2

    it = g()
    next(it)
    L(T.is_grad_enabled())
    it.send("v")

    @T.enable_grad
    def h():
        return T.is_grad_enabled()

    with T.no_grad():
        L(h())

    @T.set_grad_enabled(False)
    def k():
        return T.is_grad_enabled()

    L(k(), T.is_grad_enabled())
    T.set_grad_enabled(True)
    with T.inference_mode():
        z = x * 2
        L(z.requires_grad, z.is_inference(), T.is_inference_mode_enabled())
        w = T.ones(2)
        L(w.is_inference())
    err(lambda: w.requires_grad_())
    err(lambda: (w * x).sum().backward())
    L((w + 1).is_inference(), w.clone().is_inference())

    @T.inference_mode
    def m():
        return T.is_inference_mode_enabled()

    @T.inference_mode(False)
    def n():
        return T.is_inference_mode_enabled()

    L(m(), n())
    with T.inference_mode():
        L(n())
    with T.inference_mode(False):
        L(T.is_grad_enabled())

    class K:
        pass

    with T.autograd.grad_mode.set_multithreading_enabled(False):
        L("mt")
    with T.no_grad() as q:
        L(q)
    ng = T.no_grad()
    with ng:
        with ng:
            L(T.is_grad_enabled())
        L(T.is_grad_enabled())
    T.set_grad_enabled(True)


def prog_graph_api(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    G = T.autograd.graph
    with G.saved_tensors_hooks(lambda t: (L("pack", t), t)[1], lambda t: (L("unpack", t), t)[1]):
        y = x * x
        z = y.sum()
        w = y.exp() if False else y * 2
    z.backward()
    L(x.grad)
    with G.save_on_cpu():
        y = x * x
    y.sum().backward()
    L(x.grad)

    def dis():
        with G.disable_saved_tensors_hooks("no hooks"):
            with G.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass

    err(dis)

    def dis2():
        with G.saved_tensors_hooks(lambda t: t, lambda t: t):
            with G.disable_saved_tensors_hooks("no hooks"):
                pass

    err(dis2)
    with G.saved_tensors_hooks(lambda t: (L("outer"), t)[1], lambda t: t):
        with G.saved_tensors_hooks(lambda t: (L("inner"), t)[1], lambda t: t):
            y = x * x
        y = x * x
    with G.saved_tensors_hooks(lambda t: 5, lambda t: 5):
        y = x * x
    err(y.sum().backward)
    err(lambda: y.grad_fn._saved_self)
    with G.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        err(lambda: (x * 1) * (x * 1))
    t = T.ones(2)
    G.increment_version(t)
    L(t._version)
    G.increment_version([t, t])
    L(t._version)
    err(G.increment_version, 3)
    with G.allow_mutation_on_saved_tensors():
        a = T.ones(2, requires_grad=True)
        b = a * 3
        o = (b**2).sum()
        b.mul_(100)
        o.backward()
        L(a.grad)

    def nest():
        with G.allow_mutation_on_saved_tensors():
            with G.allow_mutation_on_saved_tensors():
                pass

    err(nest)
