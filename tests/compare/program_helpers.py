"""What the lines of random programs call: hooks that write down what they are told, functions of users, tools."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from functools import partial
from types import ModuleType
from typing import Any


def numbers(value: Any) -> Any:
    """A tensor's elements, as float64 or, two by two, complex ones."""
    if value.is_nested:
        return [numbers(part) for part in value.detach().unbind()]
    if value.device.type == "meta":
        return None
    plain = value.detach().to_dense().resolve_conj()
    return (plain.cfloat() if plain.is_complex() else plain.double()).numpy().copy()


def helpers(T: ModuleType, log: list[Any]) -> dict[str, Any]:
    """What programs use: hooks that write down what they are told, custom functions, a thread."""

    def told(name: str, gs: Any) -> None:
        log.append((name, [None if g is None else numbers(g) for g in gs]))

    def in_thread(fn: Any) -> Any:
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append((fn(), None))
            except BaseException as error:  # noqa: BLE001  handed on below
                outcome.append((None, error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        result, error = outcome.pop()
        if error is not None:
            raise error
        return result

    def function(forward: Any, backward: Any) -> Any:
        return type("F", (T.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def saving(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return x * y

    def writing(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    return {
        "H": lambda name: lambda g: told(name, [g]),
        "N": lambda name: lambda gi, go: told(name, (*gi, *go)),
        "P": lambda name: lambda go: told(name, go),
        "A": lambda name: lambda t: told(name, [t.grad]),
        "TH": in_thread,
        "F": T.nn.functional,
        "nn": T.nn,
        "RNN": T.nn.utils.rnn,
        "MASK": T.nn.Transformer.generate_square_subsequent_mask,
        "LR": T.optim.lr_scheduler,
        "SWA": T.optim.swa_utils,
        "D": T.distributions,
        "TR": T.distributions.transforms,
        "U": T.utils.data,
        "GEN": T.Generator().manual_seed(0),
        "Double": function(lambda ctx, x: x * 2, lambda ctx, g: g * 2),
        "Same": function(lambda ctx, x: x, lambda ctx, g: g * 3),
        "Two": function(lambda ctx, x, y: (x * 2, y + 1), lambda ctx, g, h: (g * 2, h)),
        "Part": function(lambda ctx, x: x[:1], lambda ctx, g: None),
        "None_": function(lambda ctx, x: x + 1, lambda ctx, g: None),
        "Write": function(writing, lambda ctx, g: g * 2),
        "Product": function(saving, lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0])),
        "FW": T.autograd.forward_ad,
        "CK": partial(T.utils.checkpoint.checkpoint, use_reentrant=False),
        "RE": partial(T.utils.checkpoint.checkpoint, use_reentrant=True),
        **_ruled(T),
        **_written_by_users(T, told),
        **_tools(T, told),
    }


def _ruled(T: ModuleType) -> dict[str, Any]:
    """Custom functions with rules for forward mode and ``vmap``."""

    class Saving(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

    class Cube(Saving):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * ctx.saved_tensors[0] ** 2 * g

        jvp = backward

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return Cube.apply(x), in_dims[0]

    class Made(T.autograd.Function):  # type: ignore[name-defined, misc]
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x.exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

        jvp = backward

    class Mul(Saving):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return (g * y).sum_to_size(x.shape), (g * x).sum_to_size(y.shape)

        @staticmethod
        def jvp(ctx: Any, p: Any, q: Any) -> Any:
            x, y = ctx.saved_tensors
            return p * y + x * q

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            rank = max(t.ndim - (d is not None) for t, d in zip((x, y), in_dims, strict=True))
            x, y = (
                t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
                for t, d in zip((x, y), in_dims, strict=True)
            )
            x, y = (t.reshape(t.shape[0], *(1,) * (rank + 1 - t.ndim), *t.shape[1:]) for t in (x, y))
            return Mul.apply(x, y), 0

    return {"Cube": Cube, "Made": Made, "Mul": Mul}


def _written_by_users(T: ModuleType, told: Any) -> dict[str, Any]:
    """Custom functions that use what ``ctx`` has."""

    class Flag(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x > 0
            ctx.mark_non_differentiable(y)
            ctx.save_for_backward(y)
            return x * y, y

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            told("flag", [g, h])
            return g * ctx.saved_tensors[0]

    class Needs(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.x, ctx.y = x, y
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            told(f"needs {ctx.needs_input_grad}", [g])
            return tuple(g * t if n else None for t, n in zip((ctx.y, ctx.x), ctx.needs_input_grad, strict=True))

    class Absent(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            told("absent", [g, h])
            return None if g is None else g * 2, None if h is None else h * 3

    class Once(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            told(f"once {T.is_grad_enabled()}", [g])
            return 2 * ctx.saved_tensors[0] * g

    class Setup(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*(t if T.is_tensor(t) else None for t in inputs), output)
            ctx.number = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y, _ = ctx.saved_tensors
            return g * (ctx.number if y is None else y), g * x if ctx.needs_input_grad[1] else None

    class Many(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, n: Any) -> Any:
            ctx.n = n
            return x * n, y, x.detach().long()

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any, i: Any) -> Any:
            told("many", [g, h, i])
            return g * ctx.n, h, None

    class Dirty(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x, y)
            return x, x * y

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, y = ctx.saved_tensors
            return 2 * g + 2 * h * y, h * x

    class Kept(T.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            ctx.y = y
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            told(f"kept {ctx.saved_tensors[0].requires_grad} {ctx.y.requires_grad}", [g])
            return g * ctx.saved_tensors[0]

    def plain(forward: Any, backward: Any) -> Any:
        return type("F", (T.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    return {
        "Flag": Flag,
        "Needs": Needs,
        "Absent": Absent,
        "Once": Once,
        "Setup": Setup,
        "Many": Many,
        "Dirty": Dirty,
        "Kept": Kept,
        "View": plain(lambda ctx, x: x.view(-1), lambda ctx, g: g.view(2, -1)),
        "Wrong": plain(lambda ctx, x: x.sum(0), lambda ctx, g: g.sum()),
        "Few": plain(lambda ctx, x, y: x + y, lambda ctx, g: g),
        "Extra": plain(lambda ctx, x: x + 1, lambda ctx, g: (g, None, None)),
        "Shape": plain(lambda ctx, x: x.sum(), lambda ctx, g: g[None]),
    }


def _tools(T: ModuleType, told: Any) -> dict[str, Any]:
    def graph(tensor: Any, most: int = 12) -> dict[str, Any]:
        """The names of a graph's nodes, breadth first, with the outputs that edges lead to."""
        found, waiting = [], [(tensor.grad_fn, 0)]
        while waiting and len(found) < most:
            node, number = waiting.pop(0)
            found.append((None if node is None else node.name(), number))
            waiting += [] if node is None else node.next_functions
        return {"grad_fn": found}

    def reloaded(value: Any, **options: Any) -> Any:
        file = io.BytesIO()
        T.save(value, file)
        file.seek(0)
        return T.load(file, **options)

    def orders(fn: Any, *args: Any) -> Any:
        """A gradient; those of it by all of the tensors that require grad are told."""
        result = fn(*args)
        while isinstance(result, tuple):
            result = result[0]
        inputs = [t for t in args if T.is_tensor(t) and t.requires_grad]
        first = T.autograd.grad(result.abs().square().sum(), inputs, create_graph=True)
        second = T.autograd.grad(sum(g.square().sum() for g in first), inputs, allow_unused=True)
        told("orders", second)
        return first[0].detach()

    def forward(fn: Any, x: Any, tangent: Any) -> Any:
        with T.autograd.forward_ad.dual_level():
            dual = T.autograd.forward_ad.unpack_dual(fn(T.autograd.forward_ad.make_dual(x, tangent)))
        told("tangent", dual[1:])
        return dual[0].detach()

    nn = T.nn
    return {
        "copy": copy,
        "pickle": pickle,
        "told": told,
        "K": [],
        "S": {},
        "PK": lambda t: told("pack", [t]) or t.detach().clone(),
        "UP": lambda t: told("unpack", [t]) or t * 1,
        "B": lambda name: lambda m, x, y: told(name, (*x, *y)),
        "B2": lambda name: lambda m, y: told(name, y),
        "B3": lambda name: lambda o, x, y: told(name, []),
        "GR": graph,
        "SL": reloaded,
        "SLW": partial(reloaded, weights_only=False),
        "G": orders,
        "FWD": forward,
        "MODULE": lambda: nn.Sequential(
            nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3), nn.Dropout(0.5)
        ),
    }
