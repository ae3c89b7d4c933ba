"""torch.func: transforms in any nesting."""

# Lambdas of a loop are called within it; a program reads as users write them.
# ruff: noqa: B023, RUF059

from __future__ import annotations


def F(T):
    W = T.tensor([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [-0.6, 0.2, 0.7]], dtype=T.float64)
    f = lambda x: (T.tanh(x @ W) * T.sin(x) + T.exp(x * x * 0.3)).sum()
    h = lambda x: T.tanh(x @ W) * T.sin(x) + x / T.exp(x)
    x = T.tensor([0.3, -0.7, 1.1], dtype=T.float64)
    v = T.tensor([1.0, 0.5, -0.2], dtype=T.float64)
    u = T.tensor([0.2, -0.4, 0.9], dtype=T.float64)
    B = T.tensor([[0.3, -0.7, 1.1], [0.2, 0.4, -0.1], [-0.9, 0.5, 0.6], [0.7, 0.1, -1.2]], dtype=T.float64)
    VB = B * 0.5 + 0.1
    return W, f, h, x, v, u, B, VB


def rnd(T, t):
    if isinstance(t, T.Tensor):
        return (
            str(tuple(t.shape))
            + str([f"{0.0 if abs(q) < 5e-7 else q:.6f}" for q in t.detach().reshape(-1).tolist()])
            + str(t.requires_grad)
        )
    if isinstance(t, (tuple, list)):
        return "(" + ",".join(rnd(T, q) for q in t) + ")"
    if isinstance(t, dict):
        return "{" + ",".join(k + rnd(T, q) for k, q in t.items()) + "}"
    return str(t)


def prog_nest(T, L, err):
    W, f, h, x, v, u, B, VB = F(T)
    fn = T.func
    g = fn.grad(f)
    S = lambda n, t: L(n, rnd(T, t))
    S("grad", g(x))
    S("grad(grad.v)", fn.grad(lambda y: (g(y) * v).sum())(x))
    S("jvp(grad)", fn.jvp(g, (x,), (v,)))
    S("grad(jvp)", fn.grad(lambda y: fn.jvp(h, (y,), (v,))[1].sum())(x))
    S("jvp(jvp)", fn.jvp(lambda y: fn.jvp(h, (y,), (v,))[1], (x,), (u,)))
    S("vmap(h)", fn.vmap(h)(B))
    S("vmap(grad)", fn.vmap(g)(B))
    S("grad(sum vmap)", fn.grad(lambda y: fn.vmap(h)(y).sum())(B))
    S("vmap(jvp(grad))", fn.vmap(lambda y, z: fn.jvp(g, (y,), (z,))[1])(B, VB))
    S("jvp(vmap(grad))", fn.jvp(fn.vmap(g), (B,), (VB,)))
    S("hessian", fn.hessian(f)(x))
    S("jacrev", fn.jacrev(h)(x))
    S("jacfwd", fn.jacfwd(h)(x))
    S("jacfwd(jacfwd)", fn.jacfwd(fn.jacfwd(h))(x))
    S("jacrev(jacrev)", fn.jacrev(fn.jacrev(h))(x))
    S("jacrev(jacfwd)", fn.jacrev(fn.jacfwd(h))(x))
    S("jacfwd(jacrev)", fn.jacfwd(fn.jacrev(h))(x))
    S("vmap(hessian)", fn.vmap(fn.hessian(f))(B))
    S("vmap(jacrev)", fn.vmap(fn.jacrev(h))(B))
    S("vmap(vmap)", fn.vmap(fn.vmap(T.sin))(B))
    S("grad3", fn.grad(fn.grad(fn.grad(lambda t: t**5)))(T.tensor(1.5, dtype=T.float64)))
    S("jacrev chunk", fn.jacrev(h, chunk_size=2)(x))
    S("linearize", (fn.linearize(h, x)[0], fn.linearize(h, x)[1](v)))
    S("vjp", fn.vjp(h, x)[1](v))
    S("vmap(vjp)", fn.vmap(fn.vjp(h, x)[1])(B))


def prog_closures(T, L, err):
    W, f, h, x, v, u, B, VB = F(T)
    fn = T.func
    S = lambda n, t: L(n, rnd(T, t))
    w = T.tensor([0.5, 0.6, 0.7], dtype=T.float64, requires_grad=True)
    S("vmap(grad(lambda jvp closure))", fn.vmap(fn.grad(lambda p: fn.jvp(lambda a: a * p * p, (x,), (v,))[1].sum()))(B))
    S("vmap(jvp(grad closure))", fn.vmap(lambda p: fn.jvp(fn.grad(lambda a: (a * a * p).sum()), (x,), (v,))[1])(B))
    S(
        "grad(vmap(jvp)) closure",
        fn.grad(lambda p: fn.vmap(lambda b: fn.jvp(lambda a: a * p * p * b, (x,), (v,))[1])(B).sum())(x),
    )
    S("jvp(vmap closure)", fn.jvp(lambda p: fn.vmap(lambda b: b * p * p)(B), (x,), (v,)))
    S("jvp(grad closure over dual)", fn.jvp(lambda p: fn.grad(lambda a: (a * a * p * p).sum())(u), (x,), (v,)))
    S("grad(grad closure)", fn.grad(lambda p: fn.grad(lambda a: (a * a * p * p).sum())(u).sum())(x))
    S("jvp(jvp closure)", fn.jvp(lambda p: fn.jvp(lambda a: a * a * p * p, (u,), (v,))[1], (x,), (v,)))
    S("vmap(vmap closure)", fn.vmap(lambda p: fn.vmap(lambda a: a * a * p.sum())(B))(B))
    S("vmap(grad(vmap))", fn.vmap(lambda p: fn.grad(lambda a: fn.vmap(lambda c: (c * a * p).sum())(B).sum())(x))(B))
    S("grad(vmap(grad))", fn.grad(lambda p: fn.vmap(fn.grad(lambda a: (a * a * p).sum()))(B).sum())(x))
    S(
        "jvp(vmap(jvp))",
        fn.jvp(lambda p: fn.vmap(lambda b: fn.jvp(lambda a: a * a * p * b, (p,), (v,))[1])(B), (x,), (u,)),
    )
    S(
        "vmap(vmap(jvp)))",
        fn.vmap(lambda b: fn.vmap(lambda c: fn.jvp(lambda a: a * a * c * b, (x,), (v,))[1])(B))(B).sum(1),
    )
    y = fn.jvp(lambda a: a * w * w, (x,), (v,))[1]
    y.sum().backward()
    S("outer jvp", w.grad)
    w.grad = None
    y = fn.grad(lambda a: (a * w * w).sum())(x)
    L(y.requires_grad)
    y.sum().backward()
    S("outer grad", w.grad)
    w.grad = None
    y = fn.vmap(lambda a: (a * w * w).sum())(B)
    L(y.requires_grad)
    y.sum().backward()
    S("outer vmap", w.grad)
    w.grad = None
    y = fn.vmap(fn.grad(lambda a: (a * a * w * w).sum()))(B)
    L(y.requires_grad)
    y.sum().backward()
    S("outer vmap grad", w.grad)
    w.grad = None
    y = fn.jvp(fn.grad(lambda a: (a * a * a * w * w).sum()), (x,), (v,))[1]
    L(y.requires_grad)
    y.sum().backward()
    S("outer jvp grad", w.grad)
    w.grad = None
    y = fn.hessian(lambda a: (a * a * a * w * w).sum())(x)
    y.sum().backward()
    S("outer hessian", w.grad)
    w.grad = None
    y = fn.grad(lambda a: (a * a * w).sum())(w)
    L(y.requires_grad)
    y.sum().backward()
    S("outer grad same", w.grad)
    w.grad = None
    o, vj = fn.vjp(lambda a: a * a * w, w)
    vj(v)[0].sum().backward()
    S("outer vjp", w.grad)
    w.grad = None
    y = fn.vmap(lambda a: a * a)(w)
    y.sum().backward()
    S("vmap over tracked", w.grad)
    w.grad = None
    with T.no_grad():
        y = fn.grad(lambda a: (a * a * w).sum())(x)
        L(y.requires_grad)
    y = fn.grad(lambda a: (a * a * w).sum().detach() + a.sum())(x)
    L(y.requires_grad, rnd(T, y))

    def ng(a):
        with T.no_grad():
            c = a**2
        return (a**3 - c).sum()

    S("inner no_grad", fn.grad(ng)(x))
    with T.no_grad():
        S("outer no_grad", fn.grad(ng)(w))
    S("unused", fn.grad(lambda a, b: (a * a).sum(), argnums=1)(x, v))
    S("const", fn.grad(lambda a: T.tensor(2.0))(x))
    S("jvp const", fn.jvp(lambda a: v, (x,), (u,)))
    S("vmap const", fn.vmap(lambda a: v)(B))
    S("jacrev const", fn.jacrev(lambda a: v)(x))
    S("jacfwd const", fn.jacfwd(lambda a: v)(x))


def prog_confusion(T, L, err):
    fn = T.func
    t = lambda q: T.tensor(q)
    d = lambda f: lambda z: fn.jvp(f, (z,), (t(1.0),))[1]
    L(d(lambda a: a * d(lambda b: a + b)(t(2.0)))(t(3.0)))
    g = fn.grad
    L(g(lambda a: a * g(lambda b: a + b)(t(2.0)))(t(3.0)), g(lambda a: a * g(lambda b: a + b)(a))(t(3.0)))
    L(d(lambda a: a * g(lambda b: a + b)(a))(t(3.0)), g(lambda a: a * d(lambda b: a + b)(a))(t(3.0)))
    L(g(lambda a: g(lambda b: a * b * b)(a))(t(3.0)), d(lambda a: d(lambda b: a * b * b)(a))(t(3.0)))
    L(fn.vmap(lambda a: fn.vmap(lambda b: a + b)(T.ones(2)))(t([1.0, 2.0, 3.0])))


def prog_aux_args(T, L, err):
    W, f, h, x, v, u, B, VB = F(T)
    fn = T.func
    S = lambda n, t: L(n, rnd(T, t))
    two = lambda a, b: (a * a * b).sum()
    S("argnums", fn.grad(two, argnums=(0, 1))(x, v))
    S("argnums1", fn.grad(two, argnums=1)(x, v))
    S("neg", fn.grad(two, argnums=-1)(x, v))
    S("tuple1", fn.grad(two, argnums=(0,))(x, v))
    S("aux", fn.grad(lambda a: ((a * a).sum(), a * 2), has_aux=True)(x))
    S("gv", fn.grad_and_value(f)(x))
    S("gva", fn.grad_and_value(lambda a: (f(a), {"k": a}), has_aux=True)(x))
    S("dict", fn.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": x, "b": [v]}))
    S("jacrev argnums", fn.jacrev(lambda a, b: a * b, argnums=(0, 1))(x, v))
    S("jacfwd argnums", fn.jacfwd(lambda a, b: a * b, argnums=(0, 1))(x, v))
    S("jacrev tree", fn.jacrev(lambda a: {"y": a * a, "z": (a.sum(),)})(x))
    S("jacfwd tree", fn.jacfwd(lambda a: {"y": a * a, "z": (a.sum(),)})(x))
    S("jacrev aux", fn.jacrev(lambda a: (a * a, a + 1), has_aux=True)(x))
    S("jacfwd aux", fn.jacfwd(lambda a: (a * a, a + 1), has_aux=True)(x))
    S("jacrev 2d", fn.jacrev(lambda a: a.sum(0))(B))
    S("jacfwd 2d", fn.jacfwd(lambda a: a.sum(0))(B))
    S("jac dict", fn.jacrev(lambda d: d["a"] * d["b"])({"a": x, "b": v}))
    S("jacf dict", fn.jacfwd(lambda d: d["a"] * d["b"])({"a": x, "b": v}))
    S("hess argnums", fn.hessian(two, argnums=(0, 1))(x, v))
    S("jvp aux", fn.jvp(lambda a: (a * a, a + 1), (x,), (v,), has_aux=True))
    r = fn.vjp(lambda a: (a * a, a + 1), x, has_aux=True)
    S("vjp aux", (r[0], r[2], r[1](v)))
    o, vj = fn.vjp(lambda a: (a * a, {"k": a + 1}), x)
    S("vjp tree", vj((v, {"k": u})))
    o, vj = fn.vjp(lambda a: (a * a, a + 1), x)
    S("vjp 2", vj((v, u)))
    o, vj = fn.vjp(lambda a: (a * a,), x)
    S("vjp 1t", vj((v,)))
    o, vj = fn.vjp(lambda a: [a * a, a], x)
    S("vjp list", vj([v, u]))
    err(vj, v)
    err(vj, (v, u))
    err(fn.grad(h), x)
    err(fn.grad(lambda a: 3), x)
    err(fn.grad(f), 3)
    err(fn.grad(f, argnums=1), x)
    err(fn.grad(f, argnums=(0, 1)), x)
    err(fn.grad(f, argnums=()), x)
    err(fn.grad(f, argnums="a"), x)
    err(fn.grad(f, has_aux=True), x)
    err(fn.jvp, f, x, v)
    err(fn.jvp, f, (x,), v)
    err(fn.jvp, f, (x,), (v, u))
    err(fn.jvp, f, (), ())
    err(fn.jvp, f, (x,), (v[:1],))
    err(fn.jvp, f, (x,), (v.float(),))
    err(fn.jvp, lambda a: 3, (x,), (v,))
    err(fn.jvp, f, (3,), (v,))
    err(fn.jvp, f, (x,), (v,), has_aux=True)
    err(fn.jvp, lambda a: v, (x,), (v,), strict=True)
    err(fn.vjp, lambda a: 3, x)
    err(fn.vjp, lambda a: (a, 3), x)
    err(fn.vjp, f, x, has_aux=True)
    err(fn.vjp, f)
    err(fn.vjp, f, 3)
    err(fn.jacrev(lambda a: 3), x)
    err(fn.jacfwd(lambda a: 3), x)
    err(fn.jacrev(f, argnums=2), x)
    err(fn.jacfwd(f, argnums=2), x)
    err(lambda: fn.jacrev(f, chunk_size=0))
    err(fn.jacrev(f), 3)
    err(fn.jacrev(f, argnums=()), x)
    err(fn.grad(lambda a: a.sum()), T.ones(3, dtype=T.int64))
    err(fn.linearize(h, x)[1], v[:1])
    err(fn.linearize(h, x)[1], v.float())
    err(fn.linearize(h, x)[1], v, v)
    err(fn.grad(lambda a: T.ones(2, dtype=T.int64).sum()), x)
    err(fn.grad(lambda a: (a + 0j).sum()), x)


def prog_vmap(T, L, err):
    W, f, h, x, v, u, B, VB = F(T)
    fn = T.func
    S = lambda n, t: L(n, rnd(T, t))
    V = T.vmap
    S("in", V(lambda a, b: a * b, in_dims=(0, None))(B, x))
    S("in1", V(lambda a: a.sum(), in_dims=1)(B))
    S("in-1", V(lambda a: a.sum(), in_dims=-1)(B))
    S("out", V(lambda a: a * 2, out_dims=1)(B))
    S("out-1", V(lambda a: a * 2, out_dims=-1)(B))
    S("tuple", V(lambda a: (a, a.sum()), out_dims=(1, 0))(B))
    S("nested", V(lambda d, e: d["a"] * e[0], in_dims=({"a": 0}, [None]))({"a": B}, [x]))
    S("dictout", V(lambda a: {"k": a * 2, "l": [a.sum()]})(B))
    S("kw", V(lambda a, k=1: a * k)(B, k=3))
    S("chunk", V(h, chunk_size=3)(B))
    S("chunkout", V(lambda a: (a, a.sum()), out_dims=(1, 0), chunk_size=3)(B))
    S("listout", V(lambda a: [a, a])(B))
    S("scalar arg", V(lambda a, k: a * k, in_dims=(0, None))(B, 3.0))
    S("non tensor none", V(lambda a, k: a * k, in_dims=(0, None))(B, 3))
    S("noneout", V(lambda a: (a, x), out_dims=(0, None))(B))
    err(V(lambda: 1))
    err(
        V(f),
    )
    err(V(f, in_dims=None), B)
    err(V(f, in_dims=(0, 0)), B)
    err(V(f, in_dims="a"), B)
    err(V(f, in_dims=2), B)
    err(V(f, in_dims=-3), B)
    err(V(f), T.tensor(1.0))
    err(V(lambda a, b: a + b), B, x)
    err(V(f), 3)
    err(V(f, in_dims=(1.0,)), B)
    err(V(f, in_dims=((0,),)), B)
    err(V(f, in_dims=[0]), B)
    err(V(lambda a: 3), B)
    err(V(lambda a: (a, 3)), B)
    err(V(lambda a: None), B)
    err(V(lambda a: a, out_dims=(0, 0)), B)
    err(V(lambda a: (a, a), out_dims=(0,)), B)
    err(V(lambda a: a, out_dims=None), B)
    err(V(lambda a: a, out_dims="x"), B)
    err(V(lambda a: a, out_dims=3), B)
    err(V(lambda a: a, out_dims=-3), B)
    err(lambda: V(f, randomness="x"))
    err(lambda: V(f, chunk_size=0))
    err(lambda: V(f, chunk_size="a"))
    err(V(lambda a: a if a.sum() > 0 else -a), B)
    err(V(lambda a: a.sum().item()), B)
    err(V(lambda a: float(a.sum())), B)
    err(V(lambda a: a.tolist()), B)
    err(V(lambda a: a.numpy()), B)
    err(V(lambda a: int(a.sum())), B)
    err(V(lambda a: T.randn(3)), B)
    T.manual_seed(0)
    S("same", V(lambda a: a + T.rand(3, dtype=T.float64), randomness="same")(B))
    S("diff", V(lambda a: a + T.rand(3, dtype=T.float64), randomness="different")(B).shape)
    S("inplace", V(lambda a: a.clone().mul_(2).add_(x))(B))

    def ip(a):
        a.mul_(2)
        return a

    c = B.clone()
    S("inplace input", V(ip)(c))
    S("c", c)

    def ix(a):
        b = a.clone()
        b[0] = 5.0
        b[1:] += 1
        return b

    S("setitem", V(ix)(B))
    S("getitem", V(lambda a: a[T.tensor([0, 2])])(B))
    S("idx", V(lambda a, i: a[i])(B, T.tensor([0, 1, 2, 0])))
    S("shape", V(lambda a: T.tensor(a.shape[0]) + a.dim() + 0 * a.sum().long())(B))
    L(V(lambda a: (L(a.shape, a.dim(), a.dtype, a.size()), a)[1])(B).shape)
    S("empty batch", V(lambda a: a * 2)(T.ones(0, 3)).shape)
    S("grad through", fn.grad(lambda q: V(lambda a: (a * q)[0])(B).sum())(x))


def prog_vmap_fn(T, L, err):
    W, f, h, x, v, u, B, VB = F(T)
    fn = T.func
    S = lambda n, t: L(n, rnd(T, t))
    V = T.vmap

    class A(T.autograd.Function):
        @staticmethod
        def forward(a):
            return a * a

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.saved_tensors[0] * t

        @staticmethod
        def vmap(info, in_dims, a):
            L("vmap", info.batch_size, info.randomness, in_dims)
            return A.apply(a), in_dims[0]

    class G(A):
        generate_vmap_rule = True
        vmap = T.autograd.Function.vmap

    class N(A):
        vmap = T.autograd.Function.vmap

    class Both(A):
        generate_vmap_rule = True

    class C(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * a

        @staticmethod
        def backward(ctx, g):
            return g

    for Q in (A, G):
        q = Q.apply
        S("grad", fn.grad(lambda a: q(a).sum())(x))
        S("gradgrad", fn.grad(lambda b: fn.grad(lambda a: q(a).sum())(b).sum())(x))
        S("vmap", V(q)(B))
        S("vmap grad", V(fn.grad(lambda a: q(a).sum()))(B))
        S("grad vmap", fn.grad(lambda a: V(q)(a).sum())(B))
        S("vmap vmap", V(V(q))(B))
        S("jvp", fn.jvp(q, (x,), (v,)))
        S("vmap jvp", V(lambda a: fn.jvp(q, (a,), (v,)))(B))
        S("jvp vmap", fn.jvp(V(q), (B,), (VB,)))
        S("jvp grad", fn.jvp(fn.grad(lambda a: q(a).sum()), (x,), (v,)))
        S("grad jvp", fn.grad(lambda a: fn.jvp(q, (a,), (v,))[1].sum())(x))
        S("jacrev", fn.jacrev(q)(x))
        S("jacfwd", fn.jacfwd(q)(x))
        S("hess", fn.hessian(lambda a: q(a).sum())(x))
        S("vmap hess", V(fn.hessian(lambda a: q(a).sum()))(B))
    err(V(N.apply), B)
    err(V(Both.apply), B)
    err(V(C.apply), B)
    S("plain N", N.apply(x))
    for bad in [lambda info, d, a: a, lambda info, d, a: (a, 0, 1), lambda info, d, a: (a, (0, 0))]:

        class D(A):
            vmap = staticmethod(bad)

        err(V(D.apply), B)
