"""Forward mode with dual tensors."""

# Lambdas of a loop are called within it; a program reads as users write them.
# ruff: noqa: B023, C408

from __future__ import annotations


def prog_basic(T, L, err):
    fw = T.autograd.forward_ad
    x = T.tensor([1.0, 2.0])
    v = T.tensor([1.0, 0.5])
    err(fw.make_dual, x, v)
    L(fw.unpack_dual(x))
    with fw.dual_level():
        d = fw.make_dual(x, v)
        L(fw.unpack_dual(d))
        y = d.exp() * d
        p, t = fw.unpack_dual(y)
        L(p, t)
        L(fw.unpack_dual(x), type(fw.unpack_dual(x)).__name__)
        err(fw.make_dual, T.ones(2, dtype=T.int64), v)
        err(fw.make_dual, x, T.ones(2, dtype=T.int64))
        err(fw.make_dual, x, T.ones(3))
        err(fw.make_dual, x, T.ones(2, dtype=T.float64))
        err(fw.make_dual, d, v)
        err(fw.enter_dual_level)
        z = d * 1
        z.mul_(3)
        L(fw.unpack_dual(z))
        w = T.zeros(2)
        w.add_(d)
        L(fw.unpack_dual(w))
        w = T.zeros(2)
        w[0] = d[1]
        L(fw.unpack_dual(w))
        L(fw.unpack_dual(d.detach()))
        L(d.requires_grad, d.is_leaf, d.shape)
    err(fw.exit_dual_level)
    L(fw.unpack_dual(y))
    L(y * 1, y + x)
    with fw.dual_level():
        L(fw.unpack_dual(y))


def prog_over_reverse(T, L, err):
    fw = T.autograd.forward_ad
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = T.tensor([1.0, 0.5])
    with fw.dual_level():
        d = fw.make_dual(x, v)
        y = (d**3).sum()
        L(d.requires_grad, y.requires_grad)
        (g,) = T.autograd.grad(y, x, create_graph=True)
        L(fw.unpack_dual(g))
        (g,) = T.autograd.grad(y, d)
        L(fw.unpack_dual(g))
    with fw.dual_level():
        d = fw.make_dual(x, v)
        t = fw.unpack_dual(d**3).tangent
    t.sum().backward()
    L(x.grad)
    with fw.dual_level():
        d = fw.make_dual(x.detach(), v)
        w = T.tensor([2.0, 3.0], requires_grad=True)
        y = (d * w) ** 2
        L(y.requires_grad)
        (g,) = T.autograd.grad(y.sum(), w, create_graph=True)
        L(fw.unpack_dual(g))
        fw.unpack_dual(y).tangent.sum().backward()
        L(w.grad)


def prog_func(T, L, err):
    fw = T.autograd.forward_ad

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_forward(x)
            ctx.k = k
            return x * k, x * x

        @staticmethod
        def jvp(ctx, xt, kt):
            L("jvp", xt, kt)
            (x,) = ctx.saved_tensors
            return xt * ctx.k, 2 * x * xt

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.k, None

    x = T.tensor([1.0, 2.0])
    v = T.tensor([1.0, 0.5])
    with fw.dual_level():
        d = fw.make_dual(x, v)
        a, b = F.apply(d, 3)
        L(fw.unpack_dual(a), fw.unpack_dual(b))

    class G(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with fw.dual_level():
        err(G.apply, fw.make_dual(x, v))
    for out in ["count", "int", "shape", "dtype"]:

        class H(T.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2, x * 3

            @staticmethod
            def jvp(ctx, t):
                return dict(count=(t,), int=(t, 1), shape=(t, t.sum()), dtype=(t, t.double()))[out]

        with fw.dual_level():
            L(out)
            err(lambda: tuple(fw.unpack_dual(y) for y in H.apply(fw.make_dual(x, v))))
