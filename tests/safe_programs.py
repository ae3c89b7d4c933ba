"""Small programs that use every mode, transform, hook, custom function, checkpoint and optimizer once.

``test_soak.py`` runs each many times and counts what is left; ``test_interrupts.py`` ends each at every call and looks
at what stays on.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import io
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as T
import wengert.fx.experimental.proxy_tensor
import wengert.utils.flop_counter
from wengert.autograd import Function, forward_ad
from wengert.utils.checkpoint import checkpoint, checkpoint_sequential, create_selective_checkpoint_contexts
from wengert.utils.data import DataLoader, TensorDataset

PROGRAMS: dict[str, Callable[[], Any]] = {}


def program(fn: Callable[[], Any]) -> Callable[[], Any]:
    """Add a program under its function's name."""
    PROGRAMS[fn.__name__] = fn
    return fn


def leaf(*shape: int) -> T.Tensor:
    """A leaf with a history to come."""
    return T.linspace(0.5, 1.5, int(np.prod(shape, initial=1))).reshape(shape).requires_grad_()


def cube(x: T.Tensor) -> T.Tensor:
    """A scalar function of a tensor."""
    return (x**3).sum()


# ----------------------------------------------------------------------------------------------------------- transforms
_f = T.func
_X = T.linspace(0.5, 1.5, 4)
PROGRAMS |= {
    "grad": lambda: _f.grad(cube)(_X),
    "grad_and_value": lambda: _f.grad_and_value(cube)(_X),
    "grad_of_grad": lambda: _f.grad(lambda a: _f.grad(cube)(a).sum())(_X),
    "grad_of_what_is_tracked": lambda: _f.grad(cube)(leaf(4)).sum().backward(),
    "vjp": lambda: _f.vjp(T.sin, _X)[1](_X),
    "vjp_not_pulled_back": lambda: _f.vjp(T.sin, _X),
    "jvp": lambda: _f.jvp(T.sin, (_X,), (_X,)),
    "jvp_of_grad": lambda: _f.jvp(_f.grad(cube), (_X,), (_X,)),
    "linearize": lambda: _f.linearize(T.sin, _X)[1](_X),
    "vmap": lambda: _f.vmap(lambda r: r * 2)(_X),
    "vmap_of_grad": lambda: _f.vmap(_f.grad(cube))(_X.reshape(2, 2)),
    "vmap_of_vmap": lambda: _f.vmap(_f.vmap(T.sin))(_X.reshape(2, 2)),
    "vmap_with_random_numbers": lambda: _f.vmap(lambda r: r + T.rand(()), randomness="different")(_X),
    "jacrev": lambda: _f.jacrev(T.sin)(_X),
    "jacfwd": lambda: _f.jacfwd(T.sin)(_X),
    "hessian": lambda: _f.hessian(cube)(_X),
    "functionalize": lambda: _f.functionalize(lambda a: (a * 1).mul_(2).view(2, 2).add_(1))(_X),
    "grad_of_functionalize": lambda: _f.grad(_f.functionalize(lambda a: (a * 1).sin_().sum()))(_X),
    "functional_jacobian": lambda: T.autograd.functional.jacobian(T.sin, _X),
    "functional_hvp": lambda: T.autograd.functional.hvp(cube, _X, _X),
}


@program
def functional_call() -> Any:
    model = T.nn.Linear(2, 1)
    params = {k: v.detach() for k, v in model.named_parameters()}
    return _f.grad(lambda p: _f.functional_call(model, p, (_X.reshape(2, 2),)).sum())(params)


LASTING = T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Linear(2, 1))  # a module that others use after an interrupt too


@program
def functional_call_of_two() -> None:
    params = {k: v.detach() + 1 for k, v in LASTING.named_parameters()}
    _f.functional_call(LASTING, params, (_X.reshape(2, 2),)).sum()
    with T.nn.utils.parametrize.cached():
        LASTING(_X.reshape(2, 2))


@program
def symbolic_trace() -> None:
    T.fx.symbolic_trace(LASTING)(_X.reshape(2, 2))


@program
def make_fx() -> None:
    T.fx.experimental.proxy_tensor.make_fx(lambda a: a.sin() * 2)(_X)


@program
def export() -> None:
    T.export.export(LASTING, (_X.reshape(2, 2),))


@program
def compiled() -> None:
    T.compile(lambda a: (a.sin() * 2).sum())(leaf(4)).backward()


@program
def settings() -> None:
    with T.nn.attention.sdpa_kernel(T.nn.attention.SDPBackend.MATH):
        T.ones(2)
    with T.autograd.set_multithreading_enabled(False):
        T.ones(2)
    with T.utils.flop_counter.FlopCounterMode(display=False):
        T.ones(2, 2) @ T.ones(2, 2)


@program
def mutation_of_saved_tensors() -> None:
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(3)
        y = (x * 2) ** 2
        y.sum().backward()


@program
def transform_that_fails() -> None:
    kept = T.zeros(4)

    def wrong(x: T.Tensor) -> Any:
        kept.add_(x)
        raise KeyError

    for transform in (_f.grad(wrong), _f.vmap(wrong), lambda x: _f.jvp(wrong, (x,), (x,))):
        with contextlib.suppress(KeyError, RuntimeError):
            transform(_X)


# ---------------------------------------------------------------------------------------------------------------- modes
@program
def no_grad() -> None:
    x = leaf(3)
    with T.no_grad():
        _ = x * 2
        with T.enable_grad():
            (x * x).sum().backward()

    @T.no_grad()
    def decorated() -> T.Tensor:
        return x * 2

    @T.no_grad()
    def steps() -> Any:
        yield x * 2
        yield x * 3

    decorated()
    list(steps())


@program
def set_grad_enabled() -> None:
    x = leaf(3)
    with T.enable_grad():  # the mode is on from the call: what comes before ``with`` or ``def`` has it too
        with T.set_grad_enabled(False):
            _ = x * 2

        @T.set_grad_enabled(False)
        def decorated() -> T.Tensor:
            return x * 2

        decorated()
        T.set_grad_enabled(False)
        _ = x * 2


@program
def inference_mode() -> None:
    x = leaf(3)
    with T.inference_mode():
        y = x * 2
        y.add_(1)

    @T.inference_mode()
    def decorated() -> T.Tensor:
        return x * 2

    (x * 3 + y.clone() + decorated().clone()).sum().backward()


@program
def modes_of_tasks() -> None:
    async def task() -> None:
        with T.no_grad():
            await asyncio.sleep(0)
            _ = leaf(2) * 2

    async def both() -> None:
        await asyncio.gather(task(), task())

    coroutine = both()
    try:
        with asyncio.Runner() as runner:
            runner.run(coroutine)
    finally:
        coroutine.close()


@program
def saved_tensor_hooks() -> None:
    x = leaf(3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), T.from_numpy):
        y = (x * x).exp().sum()
    y.backward()
    with T.autograd.graph.save_on_cpu():
        (x * x).sum().backward()
    with T.autograd.graph.disable_saved_tensors_hooks("no"):
        (x * x).sum().backward()


@program
def autocast() -> None:
    model = T.nn.Linear(3, 2)
    with T.autocast("cpu", dtype=T.bfloat16):
        y = model(_X[:3])
        with T.autocast("cpu", enabled=False):
            _ = model(_X[:3])
    y.float().sum().backward()

    @T.autocast("cpu", dtype=T.float16)
    def decorated() -> T.Tensor:
        return model(_X[:3])

    decorated()


@program
def bfloat16() -> None:
    x = leaf(3).detach().bfloat16().requires_grad_()
    ((x * 2.5).sigmoid() + x).sum().backward()


@program
def dual_level() -> None:
    x = leaf(3)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, T.ones(3))
        forward_ad.unpack_dual(d.sin() * x).tangent.sum().backward()
        x.detach().mul_(d)


@program
def dual_level_by_hand() -> None:
    forward_ad.enter_dual_level()
    try:
        forward_ad.make_dual(T.ones(2), T.ones(2)).exp()
    finally:
        forward_ad.exit_dual_level()


@program
def anomaly() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly():
            x = leaf(3)
            (x * x).exp().sum().backward()
            with contextlib.suppress(RuntimeError), T.autograd.detect_anomaly():
                x = T.zeros(1, requires_grad=True)
                (x.sqrt() * 0).sum().backward()
            with T.autograd.set_detect_anomaly(False):  # the mode is on from the call, so it is in another one
                leaf(2).sum().backward()


@program
def deterministic() -> None:
    was, only_warn = T.are_deterministic_algorithms_enabled(), T.is_deterministic_algorithms_warn_only_enabled()
    try:
        T.use_deterministic_algorithms(True, warn_only=True)
        leaf(3).cumsum(0).sum().backward()
    finally:
        T.use_deterministic_algorithms(was, warn_only=only_warn)


class Asked(T.overrides.TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@program
def function_mode() -> None:
    with Asked():
        (leaf(3) * 2).exp().sum().backward()


@program
def default_device() -> None:
    with T.device("meta"):
        T.zeros(3) + 1
        with T.device("cpu"):
            T.zeros(3) + 1


@program
def profiler() -> None:
    with T.autograd.profiler.profile() as prof:
        (leaf(3) * 2).sum().backward()
    prof.key_averages()
    with T.autograd.profiler.profile(enabled=False), T.profiler.profile():
        leaf(3) * 2


class Passing(T.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@program
def profiler_of_steps() -> None:
    schedule = T.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    with T.profiler.profile(schedule=schedule, on_trace_ready=lambda p: p.events()) as p:
        for _ in range(3):
            (leaf(2) * 2).sum().backward()
            p.step()


@program
def dispatch_mode() -> None:
    with Passing(), Passing():
        (leaf(3) * 2).sum().backward()


# ---------------------------------------------------------------------------------------------------------------- hooks
@program
def hooks() -> None:
    x = leaf(3)
    x.register_hook(lambda g: g * 2)
    removed = x.register_hook(lambda g: g)
    x.register_post_accumulate_grad_hook(lambda t: None)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    z = y.sum()
    T.autograd.graph.register_multi_grad_hook((x, y), lambda gs: None)
    removed.remove()
    z.backward()


@program
def module_hooks() -> None:
    model = T.nn.Sequential(T.nn.Linear(3, 3), T.nn.ReLU())
    model.register_forward_hook(lambda m, i, o: None)
    model.register_forward_pre_hook(lambda m, i: None)
    model[0].register_full_backward_hook(lambda m, gi, go: None)
    model[0].register_full_backward_pre_hook(lambda m, go: None)
    handle = T.nn.modules.module.register_module_forward_hook(lambda m, i, o: None)
    try:
        model(leaf(3)).sum().backward()
    finally:
        handle.remove()


# ----------------------------------------------------------------------------------------------------- custom functions
class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        y = x * x
        ctx.save_for_backward(x, y)
        ctx.mine = [x.shape]
        return y

    @staticmethod
    def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
        x, _ = ctx.saved_tensors
        return g * 2 * x


class Double(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: T.Tensor) -> T.Tensor:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
        return g * 2

    @staticmethod
    def jvp(ctx: Any, t: T.Tensor) -> T.Tensor:
        return t * 2


class Batched(Function):
    @staticmethod
    def forward(x: T.Tensor) -> T.Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)
        ctx.mark_non_differentiable()
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0]

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: T.Tensor) -> Any:
        return Batched.apply(x), in_dims[0]


class Written(Function):
    @staticmethod
    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        ctx.mark_dirty(x)
        ctx.x = x.detach()
        return x.mul_(2)

    @staticmethod
    @T.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


@program
def more_custom_functions() -> None:
    x = leaf(3)
    _f.vmap(Batched.apply)(_X.reshape(2, 2))
    Batched.apply(x).sum().backward()
    y = x * 1
    Written.apply(y[:2])
    y.sum().backward()


@program
def custom_functions() -> None:
    x = leaf(3)
    (g,) = T.autograd.grad(Square.apply(Double.apply(x)).sum(), x, create_graph=True)
    g.sum().backward()
    _f.vmap(_f.grad(lambda a: Double.apply(a)))(_X)
    _f.jvp(Double.apply, (_X,), (_X,))


@program
def checkpointed() -> None:
    x = leaf(3)
    layer = T.nn.Linear(3, 3)

    def block(a: T.Tensor) -> T.Tensor:
        return T.nn.functional.dropout(layer(a).relu(), 0.5)

    for reentrant in (True, False):
        checkpoint(block, x, use_reentrant=reentrant).sum().backward()
    with T.autocast("cpu", dtype=T.float16):
        y = checkpoint(block, x, use_reentrant=False)
    y.float().sum().backward()
    checkpoint_sequential(T.nn.Sequential(layer, T.nn.ReLU()), 2, x, use_reentrant=False).sum().backward()


@program
def logged_checkpoint() -> None:
    with T.utils.checkpoint.set_checkpoint_debug_enabled(True):
        checkpoint(lambda a: a.sin().cos(), leaf(3), use_reentrant=False).sum().backward()


@program
def selective_checkpoint() -> None:
    w = leaf(3, 3)
    contexts = functools.partial(create_selective_checkpoint_contexts, [T.ops.aten.mm.default])
    checkpoint(lambda a: T.mm(a, w).sin(), leaf(3, 3), use_reentrant=False, context_fn=contexts).sum().backward()


# ------------------------------------------------------------------------------------------------------------- backward
@program
def backward() -> None:
    x = leaf(3, 3)
    y = (x @ x).softmax(0).log().sum() + x[x > 0].sum() + x.t()[1].max()
    y.backward(retain_graph=True)
    y.backward()
    (g,) = T.autograd.grad((x.tanh() ** 3).sum(), x, create_graph=True)
    g.sum().backward()


@program
def writes_to_views() -> None:
    x = leaf(4)
    base = x * 1
    view, older = base[:2], base[1:]
    view.mul_(2)
    older.add_(1)
    base.sum().backward()
    with T.no_grad():
        hidden = (x * 1)[:2]
    _ = hidden + 1
    del hidden


@program
def backward_that_fails() -> None:
    x = leaf(3)
    x.register_hook(lambda g: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        (x * x).sum().backward()
    with contextlib.suppress(RuntimeError):
        y = (x.detach().requires_grad_() ** 2).sum()
        y.backward()
        y.backward()


@program
def threads() -> None:
    def work() -> None:
        with T.no_grad():
            leaf(2) * 2
        (leaf(2) * 2).sum().backward()

    made = [threading.Thread(target=work) for _ in range(2)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()


@program
def layers() -> None:
    x = leaf(2, 2, 4, 4)
    model = T.nn.Sequential(T.nn.Conv2d(2, 2, 3), T.nn.BatchNorm2d(2), T.nn.MaxPool2d(2), T.nn.Flatten())
    model(x).sum().backward()
    T.nn.LSTM(3, 2)(leaf(2, 1, 3))[0].sum().backward()
    T.nn.MultiheadAttention(4, 2)(*[leaf(2, 1, 4)] * 3)[0].sum().backward()


@program
def copies() -> None:
    model = T.nn.Linear(2, 2)
    copy.deepcopy(model)
    pickle.loads(pickle.dumps(model))
    file = io.BytesIO()
    T.save(model.state_dict(), file)
    file.seek(0)
    model.load_state_dict(T.load(file))
    hash(model.weight)


@program
def random_numbers() -> None:
    with T.random.fork_rng():
        T.manual_seed(3)
        T.rand(3) + T.randn(3)
        state = T.get_rng_state()
        T.randperm(6000)
        T.set_rng_state(state)
        with T.random.fork_rng():
            T.rand(100)
        T.randn(17)
        T.rand(2, generator=T.Generator().manual_seed(1))


@program
def data_loader() -> None:
    for (x,) in DataLoader(TensorDataset(_X), batch_size=2, shuffle=True):
        _ = x * 2


@program
def grad_scaler() -> None:
    w = T.nn.Parameter(T.ones(3))
    optimizer = T.optim.SGD([w], lr=0.1)
    scaler = T.amp.GradScaler("cpu")
    scaler.scale((w * w).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


# ----------------------------------------------------------------------------------------------------------- optimizers
OPTIMIZERS = [
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "Adafactor", "ASGD", "LBFGS", "Muon",
    "RMSprop", "Rprop", "SparseAdam",
]  # fmt: skip


def optimizer_of(name: str, params: Any) -> Any:
    """An optimizer with options that use all of its state."""
    more = {"SGD": {"lr": 0.1, "momentum": 0.9}, "LBFGS": {"max_iter": 3}, "Adam": {"amsgrad": True}}
    return getattr(T.optim, name)(params, **more.get(name, {}))


def steps_of(name: str) -> None:
    """Two steps of an optimizer that is made, used, saved and dropped."""
    w = T.nn.Parameter(T.linspace(0.5, 1.5, 6).reshape(2, 3))
    optimizer = optimizer_of(name, [w])

    def closure() -> T.Tensor:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        if name == "SparseAdam":
            w.grad = w.grad.to_sparse()
        return loss

    for _ in range(2):
        optimizer.step(closure)
    optimizer.load_state_dict(optimizer.state_dict())


for _name in OPTIMIZERS:
    PROGRAMS[f"optimizer_{_name}"] = lambda name=_name: steps_of(name)


@program
def schedulers() -> None:
    optimizer = T.optim.SGD([T.nn.Parameter(T.ones(2))], lr=0.1)
    scheduler = T.optim.lr_scheduler.StepLR(optimizer, 2)
    averaged = T.optim.swa_utils.AveragedModel(T.nn.Linear(2, 2))
    averaged.update_parameters(T.nn.Linear(2, 2))
    for _ in range(3):
        optimizer.step()
        scheduler.step()
