"""Backward passes, hooks and the graph's surface."""

# Lambdas of a loop are called within it; a program reads as users write them.
# ruff: noqa: B023, C408, F841, RUF059

from __future__ import annotations


def prog_order_hooks(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    z = y * y
    out = z.sum()
    x.register_hook(lambda g: L("x hook", g))
    w.register_hook(lambda g: L("w hook", g))
    y.register_hook(lambda g: L("y hook 1", g))
    y.retain_grad()
    y.register_hook(lambda g: (L("y hook 2", g), g * 2)[1])
    z.register_hook(lambda g: L("z hook", g))
    y.grad_fn.register_prehook(lambda gs: L("y pre", gs))
    y.grad_fn.register_hook(lambda gi, go: L("y post", gi, go))
    z.grad_fn.register_prehook(lambda gs: L("z pre", gs))
    z.grad_fn.register_hook(lambda gi, go: L("z post", gi, go))
    x.register_post_accumulate_grad_hook(lambda t: L("x acc", t.grad))
    w.register_post_accumulate_grad_hook(lambda t: L("w acc", t.grad))
    acc = y.grad_fn.next_functions[0][0]
    L(type(acc).__name__, acc.name(), acc.next_functions)
    acc.register_prehook(lambda gs: L("acc pre", gs))
    acc.register_hook(lambda gi, go: L("acc post", gi, go))
    out.backward()
    L(y.grad, x.grad, w.grad)


def prog_leaf_order(T, L, err):
    a = T.tensor([1.0], requires_grad=True)
    b = T.tensor([2.0], requires_grad=True)
    for n, t in dict(a=a, b=b).items():
        t.register_post_accumulate_grad_hook(lambda t, n=n: L("acc", n))
        t.register_hook(lambda t, n=n: L("hook", n))
    y = a * 2
    y.register_hook(lambda g: L("y"))
    z = y * b
    z.register_hook(lambda g: L("z"))
    u = z * 3
    u.register_hook(lambda g: L("u"))
    u.backward()
    v = (a * 3).exp() if hasattr(a, "exp") else a * 3
    v.register_hook(lambda g: L("v"))
    (v * (a * 5)).backward()


def prog_hook_returns(T, L, err):
    for ret in [1, "s", T.ones(3), T.ones(2, dtype=T.float64), (T.ones(2),), T.ones(2, dtype=T.int64)]:
        x = T.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda g: ret)
        err((x * 2).sum().backward)
        L(x.grad)
        y = x * 3
        y.register_hook(lambda g: ret)
        err(y.sum().backward)
        L(x.grad)


def named(ret):
    def my_hook(*a):
        return ret

    return my_hook


def prog_hook_returns_named(T, L, err):
    for ret in [1, T.ones(3), T.ones(2, dtype=T.float64)]:
        x = T.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(named(ret))
        err((x * 2).sum().backward)


def prog_node_hook_returns(T, L, err):
    for ret in [
        1,
        (1,),
        T.ones(3),
        (T.ones(3),),
        (T.ones(2), T.ones(2)),
        (T.ones(2, dtype=T.float64),),
        (T.ones(2) * 5,),
        T.ones(2) * 7,
        (None,),
        [T.ones(2)],
    ]:
        x = T.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.grad_fn.register_prehook(named(ret))
        err(y.sum().backward)
        L("pre", x.grad)
        x = T.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.grad_fn.register_hook(named(ret))
        err(y.sum().backward)
        L("post", x.grad)


def prog_post_hook_two(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([1.0, 2.0])
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: L(gi, go))
    y.sum().backward()
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: L(gi, go))
    y.sum().backward()
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, None))
    y.sum().backward()
    L(x.grad)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, T.ones(2)))
    err(y.sum().backward)
    L(x.grad)
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: (None, gi[0]))
    err(y.sum().backward)
    L(x.grad)


def prog_hook_raises(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)

    def bad(*a):
        raise KeyError("no")

    y = x * x
    z = y * y
    h = y.register_hook(bad)
    err(z.sum().backward)
    h.remove()
    err(z.sum().backward)
    z = y * y
    h = y.grad_fn.register_hook(bad)
    err(z.sum().backward, retain_graph=True)
    L(x.grad)
    h.remove()
    err(z.sum().backward)
    L(x.grad)


def prog_removal_in_pass(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    hs = []

    def a(g):
        L("a")
        hs[1].remove()

    def b(g):
        L("b")

    def c(g):
        L("c")
        hs[2].remove()

    hs += [x.register_hook(a), x.register_hook(b), x.register_hook(c)]
    err((x * 2).sum().backward)
    err((x * 2).sum().backward)
    y = x * 2
    ks = []

    def d(g):
        L("d")
        ks.append(y.register_hook(lambda g: L("late")))

    y.register_hook(d)
    err(y.sum().backward)


def prog_hook_mode(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: L(T.is_grad_enabled(), g.requires_grad))
    y = x * x
    y.register_hook(lambda g: L(T.is_grad_enabled(), g.requires_grad))
    y.grad_fn.register_hook(lambda gi, go: L(T.is_grad_enabled(), gi[0].requires_grad))
    y.sum().backward(retain_graph=True)
    T.autograd.grad(y.sum(), x, create_graph=True)
    with T.no_grad():
        y.sum()
    s = y.sum()
    with T.no_grad():
        T.autograd.grad(s, x, create_graph=True)[0]


def prog_retain_grad(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    L(y.retains_grad, x.retains_grad, (y * 1).retains_grad)
    (y * y).sum().backward(retain_graph=True)
    L(y.grad)
    g = y.grad
    (y * y).sum().backward()
    L(y.grad, y.grad is g)
    z = x * 3
    z.retain_grad()
    z.mul_(2)
    L(z.retains_grad)
    (z * z).sum().backward()
    L(z.grad)
    err(T.ones(1).retain_grad)
    x.retain_grad()
    (x * 1).sum().backward()
    L(x.grad)
    z = x * 3
    z.retain_grad()
    z.register_hook(lambda g: g * 10)
    (z * z).sum().backward(create_graph=True)
    L(z.grad, z.grad.requires_grad)


def prog_retain_grad_view(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    v = y[0:1]
    v.retain_grad()
    v.mul_(3)
    (y * y).sum().backward()
    L(y.grad, v.grad, x.grad)


def prog_hooks_inplace(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: L("before", g))
    y.mul_(5)
    y.register_hook(lambda g: L("after", g))
    y.sum().backward()
    L(x.grad)


def prog_inputs(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    z = (y * y).sum()
    z.backward(inputs=[x], retain_graph=True)
    L(x.grad, w.grad)
    z.backward(inputs=[y], retain_graph=True)
    L(x.grad, w.grad, y.grad, y.retains_grad)
    z.backward(inputs=[y, x], retain_graph=True)
    L(x.grad, w.grad, y.grad)
    z.backward(inputs=x, retain_graph=True)
    L(x.grad)
    z.backward(inputs=[x, x], retain_graph=True)
    L(x.grad)
    err(z.backward, inputs=[])
    err(z.backward, inputs=[T.ones(1)])
    err(T.autograd.grad, z, [T.ones(1)])
    err(T.autograd.grad, z, [])
    err(T.autograd.grad, [z, z], [x], [T.ones(())])
    err(T.autograd.grad, z, [x], 5)
    err(T.autograd.grad, z, [x], [5])
    err(T.autograd.grad, z, {"a": x}, retain_graph=True)
    err(T.autograd.backward, z, inputs={"a": x}, retain_graph=True)
    u = T.tensor([1.0], requires_grad=True)
    err(T.autograd.grad, z, [x, u], retain_graph=True)
    err(T.autograd.grad, z, [x, u], retain_graph=True, allow_unused=True)
    err(T.autograd.grad, z, [x, u], retain_graph=True, materialize_grads=True)
    err(T.autograd.grad, z, [x, u], materialize_grads=True, allow_unused=False)
    err(T.autograd.grad, z, z, retain_graph=True)
    err(T.autograd.grad, z, [z, y, x, w, x], retain_graph=True)
    err(T.autograd.grad, T.ones(1), [x])
    err(T.autograd.grad, [T.ones(1), z], [x])
    err(T.autograd.backward, [T.ones(1), z])
    err(T.autograd.backward, [z, T.ones(2)], [None, None], retain_graph=True)
    err(T.autograd.backward, [z], [None, None], retain_graph=True)
    err(z.backward, T.ones(2))
    err(y.backward, T.ones(3))
    err(y.backward, T.ones(2, dtype=T.complex64))
    err(y.backward, T.ones(2, dtype=T.float64), retain_graph=True)
    L(x.grad)
    err(y.backward, 1.0)
    err(T.autograd.grad, z, x, only_inputs=False, retain_graph=True)


def prog_complex_root(T, L, err):
    x = T.tensor([1.0 + 2j], requires_grad=True)
    y = x * x
    err(y.backward)
    err(T.autograd.grad, y, x, T.ones(1, dtype=T.complex64))


def prog_accumulate(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    L(x.grad is g, g, g._version)
    s = T.tensor(2.0, requires_grad=True)
    (s * 3).backward()
    g = s.grad
    (s * 3).backward()
    L(s.grad is g, g)
    v = T.ones(2)
    x.grad = None
    x.backward(v)
    x.grad.add_(1)
    L(v)
    x.grad = None
    x.backward(v, create_graph=True)
    L(x.grad is v, x.grad.requires_grad)
    x.grad.add_(1)
    L(v)
    x.grad = None
    (x * x).sum().backward(create_graph=True)
    L(x.grad.grad_fn.name())
    g = x.grad
    (x * x).sum().backward(create_graph=True)
    L(x.grad.grad_fn.name(), x.grad is g, x.grad)
    g = x.grad
    (x * x).sum().backward()
    L(x.grad is g, x.grad)
    x.grad = None


def prog_grad_assign(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    err(setattr, x, "grad", T.ones(3))
    err(setattr, x, "grad", T.ones(2, dtype=T.float64))
    err(setattr, x, "grad", 1)
    err(setattr, x, "grad", x)
    x.grad = T.ones(2)
    (x * 2).sum().backward()
    L(x.grad)
    del x.grad
    L(x.grad)
    p = T.ones(2)
    p.grad = T.ones(2)
    L(p.grad)
    e = T.ones(2).expand(3, 2) if hasattr(T.ones(2), "expand") else None
    x.grad = T.ones(2)
    g = x.grad
    x.requires_grad_(False)
    L(x.grad)
    x.requires_grad_(True)
    L(x.grad is g)


def prog_freed(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = y.sum()
    z.backward()
    err(z.backward)
    err(lambda: y.grad_fn._saved_self)
    err(lambda: y.grad_fn._saved_nothing)
    err(lambda: y.grad_fn._raw_saved_self.data)


def prog_requires_grad_toggle(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    err(y.backward)
    L(x.grad)
    x.requires_grad_(True)
    x.register_hook(lambda g: L("hook", g))
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 2).sum().backward()
    L(x.grad)


def prog_undefined(T, L, err):
    F = T.autograd.Function

    class A(F):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            L("A", g)
            return g

    class B(F):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            L("B", g)
            return None

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = A.apply(x)
    y.register_hook(lambda g: L("y hook", g))
    y2 = y * 2
    y2.register_hook(lambda g: L("y2 hook", g))
    y2.grad_fn.register_hook(lambda gi, go: L("y2 node", gi, go))
    y2.grad_fn.register_prehook(lambda go: L("y2 pre", go))
    z = B.apply(y2)
    z.sum().backward()
    L(x.grad)
    x.grad = None
    z = B.apply(x * 1)
    z.sum().backward()
    L(x.grad)
    x.grad = None
    y = A.apply(x)
    (B.apply(y) + y * 3).sum().backward()
    L(x.grad)
    err(T.autograd.grad, B.apply(x).sum(), x)
    err(T.autograd.grad, B.apply(x).sum(), x, allow_unused=True)
    y = A.apply(x)
    y.retain_grad()
    err(B.apply(y).sum().backward)
    L(y.grad)
    x.register_hook(lambda g: L("x hook", g))
    x.register_post_accumulate_grad_hook(lambda g: L("x acc"))
    x.grad = None
    err(B.apply(x).sum().backward)


def prog_leaf_root(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: L("hook", g))
    x.backward(T.ones(2))
    L(x.grad)
    T.autograd.backward([x, x * 2], [T.ones(2), T.ones(2)])
    L(x.grad)
    L(T.autograd.grad(x, x, T.ones(2)))


def prog_capture_hooks(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: (L("y hook"), g * 2)[1])
    y.retain_grad()
    y.grad_fn.register_prehook(lambda g: (L("y pre"), (g[0] * 100,))[1])
    x.register_hook(lambda g: (L("x hook"), g * 2)[1])
    x.register_post_accumulate_grad_hook(lambda g: L("acc"))
    L(T.autograd.grad(z.sum(), [y], retain_graph=True))
    L(y.grad)
    L(T.autograd.grad(z.sum(), [x], retain_graph=True))
    L(y.grad)


def prog_warn_nonleaf(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    L(y.grad)
    y.sum().backward(create_graph=True)
    L(x.grad)


def prog_reentrant(T, L, err):
    class R(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with T.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = (ctx.x * ctx.x).sum()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            with T.enable_grad():
                ctx.y.backward()
            return ctx.x.grad * g

    x = T.tensor([1.0, 2.0], requires_grad=True)
    (R.apply(x) * 3).backward()
    L(x.grad)

    def deep(n):
        class D(T.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                if n > 0:
                    with T.enable_grad():
                        t = T.ones(2, requires_grad=True)
                        deep(n - 1)(t).sum().backward()
                return g

        return D.apply

    deep(50)(x).sum().backward()
    L(x.grad)


def prog_next_functions(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    b = T.ones(2)
    y = x * b
    z = y + x
    L(
        y.grad_fn.next_functions[1],
        y.grad_fn.next_functions[0][1],
        z.grad_fn.next_functions[0][0] is y.grad_fn,
        z.grad_fn.next_functions[1][0].variable is x,
    )
    L(
        y.grad_fn.metadata,
        isinstance(y.grad_fn, T.autograd.graph.Node),
        isinstance(z.grad_fn.next_functions[1][0], T.autograd.graph.Node),
    )
    y.grad_fn.metadata["k"] = 1
    L(y.grad_fn.metadata)
    L(
        y.grad_fn._sequence_nr() < z.grad_fn._sequence_nr(),
        (x * 2).grad_fn.next_functions[1:],
        y.grad_fn == y.grad_fn,
        hash(y.grad_fn) == hash(y.grad_fn),
    )
    L(type(y.grad_fn).__name__)


def prog_data_set(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data = T.tensor([5.0, 6.0])
    L(x._version)
    y.sum().backward()
    L(x.grad)


def prog_graph_task_err(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)

    class Bad(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("bad thing")

    err(Bad.apply(x).sum().backward)
    y = x * x
    err((Bad.apply(y)).sum().backward)
    err(y.sum().backward)
    L(x.grad)


def prog_raw_saved(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp() * x
    r = y.grad_fn._raw_saved_self
    L(type(r).__name__, sorted(a for a in dir(r) if not a.startswith("_")))
    L(r.data)
    r.register_hooks(lambda t: (L("pack", t), t.detach() * 2)[1], lambda t: (L("unpack", t), t)[1])
    err(r.register_hooks, lambda t: t, lambda t: t)
    L(y.grad_fn._saved_self)
    y.sum().backward()
    L(x.grad)
    err(r.register_hooks, lambda t: t, lambda t: t)
    err(lambda: r.data)
    err(lambda: y.grad_fn._raw_saved_self)
    z = (x * 1).exp()
    r = z.grad_fn._raw_saved_result
    r.register_hooks(lambda t: (L("pack", t), t.detach() * 2)[1], lambda t: (L("unpack", t), t)[1])
    z.sum().backward()
    L(x.grad)
    err(z.grad_fn._raw_saved_result.register_hooks, lambda t: t, lambda t: t)
    z = x.sum(0)
    err(lambda: z.grad_fn._raw_saved_self_sym_sizes)
    z = x * 2
    L(z.grad_fn._saved_self)
    err(lambda: z.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    z = (x * 1).exp()
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t.detach(), lambda t: 5)
    err(z.sum().backward)
    err(lambda: (x * x).grad_fn._raw_saved_self.register_hooks(lambda: 1, lambda t: 5))
    err(lambda: (x * x).grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: 5))


def prog_multi_output(T, L, err):
    x = T.tensor([3.0, 1.0, 2.0], requires_grad=True)
    v, i = (x * 1).sort()
    L(v.grad_fn is None, i.grad_fn, v.output_nr, i.requires_grad, v.grad_fn.name())
    a, b, c = (x * 2).unbind(0) if hasattr(x, "unbind") else (x * 2).split(1)
    L(a.output_nr, b.output_nr, a.grad_fn is b.grad_fn)
    b.register_hook(lambda g: L("b", g))
    c.retain_grad()
    (a * 1 + b * b).sum().backward(retain_graph=True)
    L(x.grad, c.grad)
    (b * b + c).sum().backward(retain_graph=True)
    L(x.grad, c.grad)
    L(T.autograd.grad((b * c).sum(), [b, c, x], retain_graph=True))
    L(T.autograd.grad((b * c).sum(), [T.autograd.graph.GradientEdge(b.grad_fn, 1)], retain_graph=True))
    L(
        T.autograd.grad(
            (b * c).sum(),
            [T.autograd.graph.get_gradient_edge(c), T.autograd.graph.get_gradient_edge(x)],
            retain_graph=True,
        )
    )
    L(
        T.autograd.graph.get_gradient_edge(c)[1:2],
        (b * c).grad_fn.next_functions[0][1],
        (b * c).grad_fn.next_functions[1][1],
    )
    b.grad_fn.register_hook(lambda gi, go: L("node", gi, go))
    b.grad_fn.register_prehook(lambda go: L("pre", go))
    (b * b).sum().backward(retain_graph=True)
    b.grad_fn.register_prehook(lambda go: (go[0], go[1] * 2, go[2]))
    x.grad = None
    (b * b).sum().backward(retain_graph=True)
    L(x.grad)
    e = T.autograd.graph.get_gradient_edge(b)
    err(T.autograd.backward, e, T.ones(()), retain_graph=True)
    L(x.grad)
    err(T.autograd.backward, T.autograd.graph.get_gradient_edge(x * 2))
    err(T.autograd.graph.get_gradient_edge, T.ones(1))
    err((b * b).sum().backward, inputs=[T.autograd.graph.get_gradient_edge(x)], retain_graph=True)
    L(x.grad)


def prog_saved_output_multi(T, L, err):
    x = T.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    v, i = (x * 1).max(dim=1)
    (g,) = T.autograd.grad((v * v).sum(), x, create_graph=True)
    L(g)
    L(T.autograd.grad(g.sum(), [v]))


def prog_queue(T, L, err):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    E = T.autograd.Variable._execution_engine
    err(E.queue_callback, lambda: 1)
    x.register_hook(lambda g: (L("hook"), E.queue_callback(lambda: L("called", x.grad)))[0])
    (x * 2).sum().backward()
    T.autograd.grad((x * 2).sum(), x)


def prog_multi_grad(T, L, err):
    a = T.tensor([1.0, 2.0], requires_grad=True)
    b = T.tensor([1.0, 2.0], requires_grad=True)
    c = a * b
    d = a * b
    R = T.autograd.graph.register_multi_grad_hook
    h = R((a, b, c, d), lambda gs: L("all", [g is not None for g in gs], tuple(gs)))
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    (c + d).sum().backward(retain_graph=True)
    h.remove()
    c.sum().backward(retain_graph=True)
    h = R((a, b, c, d), lambda g: L("any", g), mode="any")
    c.sum().backward(retain_graph=True)
    err(R, (a,), lambda g: 1, mode="x")
    err(R, (T.ones(1),), lambda g: 1)
    err(R, (T.ones(1), a), lambda g: 1, mode="any")
