"""The base class of optimizers that update each element independently: all but L-BFGS and SparseAdam.

Such an optimizer defines two methods. ``_begin`` makes a parameter's state; ``_rule`` returns the kernel, the names of
its state arrays and its constants. ``kernel(x, p, g, *state, t, u, *constants)`` returns the new ``(p, *state)``. With
``ArrayLibrary`` as ``x`` every result is written into one of the operands, and a step allocates no array. With
``TensorLibrary``, whose functions ignore ``out``, the same formula is recorded (``differentiable=True``), or runs on
payloads other than NumPy arrays.

NOTE [ Blocks ]
A kernel makes ten or more passes over its arrays. Large arrays are processed in blocks, which stay in cache from the
second pass on, and on several threads where that pays. A kernel must therefore read no element but its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from sys import _getframe as getframe
from threading import get_ident
from typing import Any

import numpy as np

import wengert as torch

from .._arrays.compiled import LEAST, kernels
from .._arrays.cuts import cut_parts
from .._arrays.threads import parallel_slices
from .._base.errors import program_frame, sizes_differ
from .._base.tracing import TRACER
from .._tape.node import AccumulateGrad
from .._tape.tensor import Tensor, alias_payload
from .._tape.views import count_write, count_write_at, writable
from .optimizer import Optimizer, _get_scalar_dtype, _to_scalar, loss_of

BLOCK = 65536  # elements per block of a parameter that is not contiguous
_COST = 4e-5  # microseconds per byte; each state array adds passes over all arrays
SMALL = 4096  # up to this number of elements, blocks cost more than they save


class Library:
    """What several kernels put together from a library's functions."""

    add: Any
    subtract: Any
    multiply: Any
    divide: Any
    add_scaled: Any

    @classmethod
    def lerp(cls, start: Any, end: Any, weight: Any, t: Any) -> Any:
        """``start`` moved by ``weight`` of the way to ``end``, as ``Tensor.lerp_`` rounds it."""
        t = cls.subtract(end, start, t)
        if weight < 0.5:
            return cls.add_scaled(start, t, weight, t)
        return cls.subtract(end, cls.multiply(t, 1 - weight, t), start)

    @classmethod
    def ema_of_squares(cls, average: Any, g: Any, decay: Any, t: Any) -> Any:
        """``decay * average + (1 - decay) * g * g``."""
        average = cls.multiply(average, decay, average)
        t = cls.multiply(g, g, t)
        return cls.add_scaled(average, t, 1 - decay, t)

    @classmethod
    def quotient_step(cls, p: Any, numerator: Any, size: Any, denominator: Any, t: Any) -> Any:
        """``p + size * numerator / denominator``."""
        t = cls.divide(numerator, denominator, t)
        return cls.add_scaled(p, t, size, t)


class ArrayLibrary(Library):
    """NumPy's functions that the kernels use, and one that NumPy lacks."""

    add = np.add
    subtract = np.subtract
    multiply = np.multiply
    divide = np.divide
    negative = np.negative
    positive = np.positive
    sqrt = np.sqrt
    absolute = np.absolute
    sign = np.sign
    maximum = np.maximum
    clip = staticmethod(np.clip)
    where = staticmethod(np.where)

    @staticmethod
    def add_scaled(a: Any, b: Any, factor: float, t: Any) -> Any:
        """``a + factor * b``, written into ``a``; ``t`` is a temporary array and may be ``b``."""
        return np.add(a, np.multiply(b, factor, t), a)


class TensorLibrary(Library):
    """NumPy's functions that the kernels use, for Tensors: recorded, and never in place."""

    add = staticmethod(lambda a, b, out=None: a + b)
    subtract = staticmethod(lambda a, b, out=None: a - b)
    multiply = staticmethod(lambda a, b, out=None: a * b)
    divide = staticmethod(lambda a, b, out=None: a / b)
    negative = staticmethod(lambda a, out=None: -a)
    positive = staticmethod(lambda a, out=None: a.clone())
    sqrt = staticmethod(lambda a, out=None: a.sqrt())
    absolute = staticmethod(lambda a, out=None: a.abs())
    sign = staticmethod(lambda a, out=None: a.sign())
    maximum = staticmethod(lambda a, b, out=None: torch.maximum(a, b))
    clip = staticmethod(lambda a, low, high, out=None: a.clamp(low, high))
    where = staticmethod(lambda condition, a, b: torch.where(condition, a, b))  # noqa: PLW0108  found at its first use
    add_scaled = staticmethod(lambda a, b, factor, t: a + b * factor)


def number(value: Any) -> Any:
    """An option as a Python number, since a learning rate may be a tensor."""
    return value.item() if isinstance(value, Tensor) else value


def step_at_rows(p: Tensor, g: Any, factor: Any) -> None:
    """``p += factor * g`` in place for a sparse array g."""
    from .._payloads.sparse_and_dense import add_into

    add_into(writable(p), g, factor)
    count_write(p)


def check_option(name: str, value: Any, ok: bool | Tensor) -> None:
    """Raise PyTorch's error for an invalid option."""
    if not ok:
        raise ValueError(f"Invalid {name}: {value}")


def _at_least(least: float, value: Any) -> Any:
    """Compared in PyTorch's order, which Python's error for a text tells."""
    return least <= value


def check_lr(lr: Any) -> None:
    """Check that a learning rate is a nonnegative number, or a tensor with one element."""
    check_one_element(lr)
    check_option("learning rate", lr, _at_least(0.0, lr))


def check_one_element(lr: Any) -> None:
    """Check that a learning rate that is a tensor has one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_not_negative(**options: Any) -> None:
    """Raise an error for the first of these options that is negative."""
    for name, value in options.items():
        check_option(f"{name} value", value, _at_least(0.0, value))


def check_betas(betas: Any) -> None:
    """Check that the decay rates lie in [0, 1)."""
    for i in (0, 1):
        check_option(f"beta parameter at index {i}", betas[i], 0.0 <= betas[i] < 1.0)


def check_adam(lr: Any, betas: Any, eps: Any, **not_negative: Any) -> None:
    """What Adam's relatives require, in PyTorch's order."""
    check_lr(lr)
    check_not_negative(epsilon=eps)
    check_betas(betas)
    check_not_negative(**not_negative)


def check_fused(fused: Any, foreach: Any, differentiable: bool) -> None:
    """Check that ``fused`` is not combined with ``foreach`` or ``differentiable``."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def new_step(value: float = 0.0, fused: Any = None) -> Tensor:
    """A new step counter for a state: a tensor without dimensions."""
    return torch.tensor(value, dtype=_get_scalar_dtype(fused))


def advance(state: dict[str, Any]) -> int | float:
    """Count one step in the state's tensor and give the new count."""
    step = state["step"]
    a = alias_payload(step)
    if isinstance(a, np.ndarray):
        a[()] = a.item() + 1  # a fifth of the time of ``a += 1``
        if step._box is not None:
            count_write(step)
        return a.item()
    step += 1
    return step.item()


def check_shape(state: Any, value: Any) -> None:
    """Raise PyTorch's error for an array of state that has another shape than what moves it."""
    have, given = tuple(state.shape), tuple(value.shape)
    if have != given:
        try:
            both = np.broadcast_shapes(have, given)
        except ValueError:
            raise RuntimeError(sizes_differ(have, given)) from None
        short = given if have == both else have
        raise RuntimeError(f"output with shape {list(short)} doesn't match the broadcast shape {list(both)}")


def set_number(tensor: Tensor, value: float) -> float:
    """Write a number into a tensor without dimensions; return the rounded value."""
    a = alias_payload(tensor)
    a[...] = value
    if tensor._box is not None:
        count_write(tensor)
    return a.item()


def options(arguments: dict[str, Any], names: str) -> dict[str, Any]:
    """The defaults of an optimizer in PyTorch's order, from the arguments of its ``__init__`` (``locals()``)."""
    return {name: arguments[name] for name in names.split()}


#: options that checkpoints of old versions lack, with the values that stand for what these versions did
LATE: dict[str, Any] = {"foreach": None, "maximize": False, "differentiable": False}
ADAM_LATE = {"maximize": False, "foreach": None, "capturable": False} | LATE | {"decoupled_weight_decay": False}


class ElementwiseOptimizer(Optimizer):
    """Base of optimizers that update each element independently; see the module."""

    _late_options: dict[str, Any] = LATE
    _late_numbers: tuple[str, ...] = ("step",)  # what old checkpoints hold as plain numbers
    _state: tuple[str, ...] = ()  # what a parameter's state begins with: zeros, and "step"

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        """Make the state of a parameter that is stepped for the first time."""
        for name in self._state:
            state[name] = new_step() if name == "step" else torch.zeros_like(p)

    def _rule(
        self, group: dict[str, Any], state: dict[str, Any], number: Callable[[Any], Any]
    ) -> tuple[Any, tuple[str, ...], tuple[Any, ...]]:
        """(kernel, names of the state arrays, constants) for one step; ``number`` turns an option into a number."""
        raise NotImplementedError

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._late_options.items():
                group.setdefault(name, value)
            for p in group["params"]:
                known = self.state.get(p)
                for name in self._late_numbers if known else ():
                    if name in known and not isinstance(known[name], Tensor):  # type: ignore[index]
                        known[name] = new_step(float(known[name]), group.get("fused"))  # type: ignore[index]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients.

        ``closure`` computes the loss and the gradients anew, and returns the loss, which ``step`` returns.
        """
        loss = None if closure is None else loss_of(closure)
        frame = program_frame(getframe(1))
        with np.errstate(all="ignore"):  # whatever the program has set: a step that fails half-way cannot be repeated
            for group in self.param_groups:
                differentiable = group.get("differentiable", False)
                decay = number(self._decay_of(group))
                maximize = group.get("maximize", False)
                for p in group["params"]:
                    fn = p._node
                    grad = fn.grad if type(fn) is AccumulateGrad else p.grad
                    if grad is None:
                        continue
                    g = grad._payload
                    if type(g) is not np.ndarray and getattr(g, "is_sparse", False):
                        self._step_sparse(group, p, g)
                        continue
                    a = p._payload
                    if type(a) is not np.ndarray or not a.flags.writeable:
                        a = writable(p)
                    if differentiable or not isinstance(a, np.ndarray):
                        self._step_recorded(group, p, p.grad)
                    else:
                        state = self._state_of(group, p)
                        kernel, names, constants = self._rule(group, state, number)
                        self._step_in_place(a, g, [state[n] for n in names], kernel, constants, decay, maximize)
                        count_write_at(p, frame)
        return loss

    def _step_sparse(self, group: dict[str, Any], p: Tensor, g: Any) -> None:
        """Step by a sparse gradient, which most optimizers do not support."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _init_group(self, group: dict[str, Any], *lists: list[Any]) -> Any:
        from ._functional import init_group

        return init_group(self, group, *lists)

    def _state_of(self, group: dict[str, Any], p: Tensor) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            made: dict[str, Any] = {}
            self._begin(group, p, made)
            state.update(made)  # whole or not at all: an interrupt would leave a parameter that is never stepped again
        return state

    def _step_in_place(
        self,
        a: Any,
        g: Any,
        tensors: list[Tensor],
        kernel: Any,
        constants: tuple[Any, ...],
        decay: float,
        maximize: bool,
    ) -> None:
        arrays = [a, g]
        for tensor in tensors:
            s = tensor._payload
            arrays.append(s if type(s) is np.ndarray and s.flags.writeable else writable(tensor))
            if tensor._box is not None:
                count_write(tensor)
        if a.dtype.kind == "c":
            arrays = [x[..., None].view(x.real.dtype) for x in map(np.asarray, arrays)]
            a = arrays[0]
        if a.size <= SMALL:
            try:
                if a.ndim and decay == 0 and not maximize:
                    kernel(
                        ArrayLibrary, *arrays, None, None, *constants
                    )  # making small arrays costs less than keeping them
                    return
                self._run(kernel, arrays, constants, decay, maximize)
            except ValueError:
                for s in arrays[2:]:
                    check_shape(s, a)
                raise
            return
        for s in arrays[2:]:
            check_shape(s, a)

        def run(part: Any) -> None:
            self._run(kernel, [b[part] for b in arrays], constants, decay, maximize)

        if all(b.flags.c_contiguous for b in arrays):
            arrays = [b.reshape(-1) for b in arrays]
            if a.size >= LEAST and kernels() is not None:
                from ._as_c import stepped

                if stepped(kernel, arrays, constants, decay, maximize):
                    return
            state = len(arrays) - 1  # and the gradient
            parallel_slices(run, a.size, a.itemsize, a.nbytes * state**2 * _COST, 4 * state, len(arrays) + 2)
        else:
            for part in cut_parts(a.shape, BLOCK):
                run(part)

    def _run(self, kernel: Any, arrays: list[Any], constants: tuple[Any, ...], decay: float, maximize: bool) -> None:
        p = arrays[0]
        t, u, w = self._scratch(p.shape, p.dtype)
        if decay != 0:
            np.multiply(p, decay, w)
            arrays[1] = (np.subtract if maximize else np.add)(w, arrays[1], w)
        elif maximize:
            arrays[1] = np.negative(arrays[1], w)
        kernel(ArrayLibrary, *arrays, t, u, *constants)

    def _scratch(self, shape: Any, dtype: Any) -> Any:
        """Three temporary arrays, cut from buffers that each thread keeps from step to step."""
        key = (dtype, get_ident())
        size = math.prod(shape)
        try:
            made = self._scratches[key]
        except AttributeError:
            self._scratches: dict[Any, Any] = {}
            made = None
        except KeyError:
            made = None
        if made is None or made[0].size < size:
            made = self._scratches[key] = tuple(np.empty(size, dtype) for _ in range(3))
        return [t[:size].reshape(shape) for t in made]

    def _decay_of(self, group: dict[str, Any]) -> Any:
        """What of the weights is added to gradients: a group may have keys that its optimizer does not read."""
        if group.get("decoupled_weight_decay") or "weight_decay" not in self.defaults:
            return 0
        return group.get("weight_decay", 0)

    def _step_recorded(self, group: dict[str, Any], p: Tensor, grad: Tensor) -> None:
        """The same update by recorded operators, for ``differentiable=True``."""
        tracer = TRACER.get()
        if tracer is not None and tracer.records_step(self, group, p, grad):
            return
        state = self._state_of(group, p)
        with torch.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            kernel, names, constants = self._rule(group, state, _to_scalar)
            decay = self._decay_of(group)
            g = -grad if group.get("maximize", False) else grad
            if isinstance(decay, Tensor) or decay != 0:
                g = g + p * decay
            values = [p.clone(), g, *(state[n].clone() for n in names)]
            if p.is_complex():
                values = [torch.view_as_real(v) for v in values]
            results = kernel(TensorLibrary, *values, None, None, *constants)
            for target, value in zip((p, *(state[n] for n in names)), results, strict=True):
                target.copy_(torch.view_as_complex(value) if p.is_complex() else value)


class ArrayOptimizer(Optimizer):
    """Base of optimizers whose update of an element depends on the others: they change whole arrays, unrecorded."""

    def _state_of(self, p: Tensor) -> dict[str, Any]:
        """The state of a parameter that has a gradient."""
        raise NotImplementedError

    @staticmethod
    def _step_one(group: dict[str, Any], p: Any, g: Any, state: dict[str, Any]) -> None:
        """Change one parameter's array in place by the array of its gradient."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None if closure is None else loss_of(closure)
        tracer = TRACER.get()
        if tracer is not None:
            tracer.stop("an optimizer that cannot be recorded")
        frame = program_frame(getframe(1))
        given = [(group, p) for group in self.param_groups for p in group["params"] if p.grad is not None]
        with np.errstate(all="ignore"):
            for group, p in given:
                for reason, refused in (("complex parameters", p.is_complex()), ("sparse gradients", p.grad.is_sparse)):
                    if refused:
                        raise RuntimeError(f"{type(self).__name__} does not support {reason}")
                self._step_one(group, writable(p), alias_payload(p.grad), self._state_of(p))
                count_write_at(p, frame)
        return loss
