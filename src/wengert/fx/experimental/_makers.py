"""What ``make_fx`` writes for functions that no operator computes: new tensors, writes in place, and dropout."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ..._tensor_api.python_calls import signature_of
from ...overrides import TorchFunctionMode
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload
from ...utils._aten_schemas import factory_defaults, matching, matching_out
from .._naming import function_name
from ..node import map_aggregate
from ._dropout import DROPOUTS
from ._einsum import einsum, tensordot
from ._parts import part
from ._setitem import set_item

_FILLED = ("empty", "full", "ones", "rand", "randint", "randn", "zeros")
MAKERS = frozenset(
    {*_FILLED, *[f"{name}_like" for name in _FILLED], *[f"new_{name}" for name in ("empty", "full", "ones", "zeros")]}
    | {"arange", "empty_permuted", "empty_strided", "eye", "linspace", "logspace", "normal", "randperm"}
)
_WRITES = frozenset({f"__i{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul"
)})  # fmt: skip
_OF_TENSORS = frozenset({"linspace", "logspace", "normal"})  # makers whose tensors are no numbers
_CONSTANTS = frozenset({"as_tensor", "asarray", "from_numpy", "frombuffer", "tensor"})
_IN_STEPS = {"einsum": einsum, "tensordot": tensordot}
_FEATURES = {f"dropout{n}d{end}": f"feature_dropout{end}" for n in "123" for end in ("", "_")}
# Functions whose operators are others here.
_AS_CALLED = frozenset({
    "as_strided", "as_strided_scatter", "diagonal_scatter", "index_add", "index_select", "native_dropout", "nonzero",
    "resize_", "select", "select_scatter", "slice_scatter",
})  # fmt: skip
_OF_NUMBERS = frozenset({"add", "div", "rsub", "sub"})  # which make tensors of operands that are numbers
_NUMBERS = frozenset(
    {"__bool__", "__complex__", "__contains__", "__float__", "__index__", "__int__", "is_nonzero", "item"}
    | {"allclose", "equal"}
)
_SCALARS = ("add", "div", "mul", "norm", "sub")  # of which an overload with a number is one operator
_LEAVES_ALONE = frozenset({"detach_", "requires_grad_", "retain_grad", "share_memory_"})
_MAY_WRITE = frozenset(
    {"celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish", "relu", "relu6", "selu", "silu"}
    | {"threshold"}
)  # functions with ``inplace``
_RUNS: dict[str, tuple[str, tuple[float, ...]]] = {  # what PyTorch runs for functions that write, and with what
    "relu6_": ("hardtanh_", (0, 6)),
    "selu_": ("elu_", (1.6732632423543772, 1.0507009873554805)),
    "swapaxes_": ("transpose_", ()),
    "swapdims_": ("transpose_", ()),
}


def with_numbers(name: str, args: Any, kwargs: Any, number: Callable[[Tensor], Any]) -> tuple[Any, Any]:
    """The arguments of a maker with ``number(tensor)`` for tensors in the place of numbers and sizes."""
    first = len(args) if name in _OF_TENSORS else int(name.startswith("new_") or name.endswith("_like"))
    given = tuple(args[first:]), {key: value for key, value in kwargs.items() if key != "out"}
    rest, named = map_aggregate(given, lambda a: number(a) if isinstance(a, Tensor) else a)
    return (*args[:first], *rest), {**kwargs, **named}


def memory_of(tensor: Tensor) -> Any:
    """What tells a tensor's value from others: where it lies, and how."""
    payload = tensor._payload
    if type(payload).__name__ == "ndarray" and payload.size:
        return payload.ctypes.data, payload.shape, payload.strides, payload.dtype.str
    return id(payload)


class Makers(TorchFunctionMode):
    """Writes what no operator computes: new tensors, and writes in place."""

    def __init__(self, mode: Any) -> None:
        super().__init__()
        self.mode = mode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, sizes = kwargs or {}, self.mode.tracer.sizes
        if self.mode.quiet:
            return func(*args, **kwargs)
        return self._written(func, args, kwargs) if sizes is None else sizes.call(self._written, func, args, kwargs)

    def _written(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run a function, and write it."""
        name = function_name(func)
        if name in _NUMBERS:
            self._refuse_number(name, args)
        run = functools.partial(func, *args, **kwargs)
        if (kind := _FEATURES.get(name, name)) in DROPOUTS:
            return self._dropped(run, kind, *args, **kwargs)
        name, args, kwargs = _as_operator(func, name, args, kwargs)
        if name in MAKERS:
            args, kwargs = with_numbers(name, args, kwargs, self._number)
            run = functools.partial(func, *args, **kwargs)
        in_place = name in _WRITES or (name[-1:] == "_" and name[-2:] != "__" and name not in _LEAVES_ALONE)
        if name == "detach":
            return self._detached(func(*args, **kwargs), args[0])
        if name in _CONSTANTS:
            return self._constant(func(*args, **kwargs))
        if name == "__setitem__":
            return set_item(self._of_numbers, self._part, *args)
        if name == "repeat_interleave" and any(isinstance(a, Tensor) for a in (*args[1:], *kwargs.values())):
            return self._repeated(*args, **kwargs)
        if name in _IN_STEPS:
            return _IN_STEPS[name](*args, **{key: value for key, value in kwargs.items() if key != "out"})
        if self.mode.pre_dispatch:
            self._note_grad_mode()
        of_number = name in _OF_NUMBERS and not all(isinstance(a, Tensor) for a in args)
        if of_number and type(kwargs.get("alpha")) is int and kwargs["alpha"] == 1:  # which PyTorch omits
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        of_number = of_number and kwargs.get("out") is None
        as_called = name in _AS_CALLED or name in MAKERS or (self.mode.pre_dispatch and not in_place) or of_number
        found = matching(name, args, kwargs) if as_called else None
        if of_number and (found is None or "rounding_mode" in kwargs):
            found = "Tensor_mode" if "rounding_mode" in kwargs else "Tensor", tuple(args), kwargs
        if in_place or name in MAKERS or found is not None or kwargs.get("out") is not None:
            return self._whole(run, name, args, kwargs, found)
        if name == "where" and len(args) == 3:
            args = self._with_tensors(args)
        former, self.mode.called = self.mode.called, (name, args, kwargs)
        try:
            result = func(*args, **kwargs)
        finally:
            self.mode.called = former
        tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, Tensor)]
        if tensors and not any(self.mode.tracer.knows(t) for t in tensors):
            with suppress(NotImplementedError):  # one of a transform's values: an error where it is used
                self._note_whole(func, name, args, kwargs, result)
        return result

    def _refuse_number(self, name: str, args: Any) -> None:
        """Raise for a number that the graph would hold as that of the examples."""
        tracer = self.mode.tracer
        if all(tracer.is_constant(t) for t in args if isinstance(t, Tensor)):
            return
        operator = f"aten.{name if name in ('allclose', 'equal') else '_local_scalar_dense'}.default"
        if self.mode.tracing_mode != "real" and "_" not in operator:
            raise torch._subclasses.fake_tensor.DataDependentOutputException(operator)
        raise RuntimeError(
            f"It appears that you're trying to get value out of a tracing tensor with {operator} - erroring out! It's "
            "likely that this is caused by data-dependent control flow or similar.  It may be possible to trace this "
            "with dynamic shapes; try setting tracing_mode='symbolic' in your make_fx call."
        )

    def _number(self, value: Tensor) -> Any:
        """The number of a constant; another tensor's is refused."""
        self._refuse_number("item", (value,))
        with self.mode.silent():
            return value.item()

    def _with_tensors(self, args: Any) -> Any:
        """The arguments of ``where`` with tensors for numbers, the last one first, as PyTorch makes them."""
        made, dtype = list(args), torch.result_type(*args[1:])
        for i in (2, 1):
            if not isinstance(args[i], Tensor):
                made[i] = self._scalar_tensor(args[i], dtype)
        return tuple(made)

    def _scalar_tensor(self, value: Any, dtype: Any) -> Tensor:
        """A number as a tensor, by an operator."""
        how: dict[str, Any] = {"dtype": dtype, "layout": torch.strided, "device": torch.device("cpu")}
        with self.mode.silent():
            made = torch.scalar_tensor(value, **how)
        self.mode.tracer.note(made, self.mode.tracer.call(torch.ops.aten.scalar_tensor.default, (value,), how))
        return made

    def _of_numbers(self, value: Any, dtype: Any) -> Tensor:
        """Numbers as a tensor: a constant, unless one is a size that may differ."""
        sizes = self.mode.tracer.sizes
        if sizes is not None and sizes.is_given(value):
            return self._scalar_tensor(value, dtype)
        with self.mode.silent():
            made = torch.tensor(value, dtype=dtype)
        return self._constant(made)

    def _part(self, x: Tensor, key: Any) -> Tensor:
        sizes = self.mode.tracer.sizes
        return x[key] if sizes is None else part(sizes, x, key)

    def _repeated(self, input: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: Any = None) -> Tensor:
        """``repeat_interleave`` by the indices that as many repeats give."""
        input, dim = (input.flatten(), 0) if dim is None else (input, dim)
        how = {} if output_size is None else {"output_size": output_size}
        run = functools.partial(torch.repeat_interleave, repeats, **how)
        indices = self._whole(run, "repeat_interleave", (repeats,), how, ("Tensor", (repeats,), how))
        return self._written(torch.index_select, (input, dim, indices), {})  # type: ignore[no-any-return]

    def called_overload(self, op: Any, args: Any, kwargs: Any, is_body: bool) -> Any:
        """A call of an overload that PyTorch does not divide either: one node, with what the program wrote."""
        name = op.overloadpacket.__name__
        as_written = name in MAKERS or name.endswith("_") or (name in _SCALARS and op._overloadname == "Scalar")
        if self.mode.quiet or name in _RUNS or not (is_body or as_written):
            return NotImplemented
        found = matching(name, args, kwargs)
        if found is None:
            return NotImplemented
        tracer = self.mode.tracer
        with self.mode.silent():
            began, given = tracer.began(), [tracer.create_arg(v) for v in found[1:]]
            result = op(*args, **kwargs)
            tracer.note_results(result, tracer.call(op, *given))
            tracer.record(args, result, began)
        return result

    def _note_whole(self, func: Any, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """One node for a call that ran no operator."""
        tracer, found = self.mode.tracer, matching(name, args, kwargs)
        if found is None:
            call = func, tracer.create_arg(tuple(args)), tracer.create_arg(dict(kwargs))
        else:
            given, named = (tracer.create_arg(v) for v in found[1:])
            call = getattr(getattr(torch.ops.aten, name), found[0]), given, {**factory_defaults(name), **named}
        tracer.note_results(result, tracer.call(*call))

    def _dropped(
        self, run: Any, kind: str, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, **named: Any
    ) -> Any:
        """What a dropout gives: by one operator where PyTorch's dispatcher stands in Python, else in steps."""
        training = named.get("train", training)
        kind = f"{kind}_" if inplace else kind
        if self.mode.pre_dispatch:
            args = (x, p, training)
            return self._whole(run, kind, args, {}, matching(kind, args, {}))
        if kind != "dropout" or self.mode.tracing_mode not in ("symbolic", "aot"):
            return DROPOUTS[kind](x, p, training)
        if p == 0 or not training:
            return x.clone()
        return torch.ops.aten.native_dropout.default(x, float(p), True)[0]

    def _detached(self, result: Tensor, tensor: Tensor) -> Tensor:
        """A detached tensor: another node on the same memory."""
        tracer, payload = self.mode.tracer, result._payload
        if type(payload).__name__ == "ndarray" and tracer.knows(tensor):
            node = tracer.call(torch.ops.aten.detach.default, (tracer.node_of(tensor),), {})
            result._payload = payload.view()
            tracer.payloads[id(result._payload)] = (result._payload, node)
            node.meta["val"] = result
        return result

    def _constant(self, result: Tensor) -> Tensor:
        """A tensor made of numbers, as an attribute and its copy: the program may write the copy."""
        tracer = self.mode.tracer
        with self.mode.silent():
            kept = result.clone()
        tracer.outside[memory_of(kept)] = kept
        copied = tracer.call(torch.ops.aten.lift_fresh_copy.default, (tracer.attribute(kept),), {})
        tracer.note(result, copied)
        return result

    def _note_grad_mode(self) -> None:
        """Write that gradients were switched on or off since the last call."""
        if self.mode.grad != torch.is_grad_enabled():
            self.mode.grad = torch.is_grad_enabled()
            self.mode.tracer.create_node("call_function", torch._C._set_grad_enabled, (self.mode.grad,), {})

    def _whole(self, run: Any, name: str, args: Any, kwargs: Any, found: Any) -> Any:
        """One node for a call, whatever operators it runs."""
        tracer = self.mode.tracer
        began = tracer.began()
        shown = found
        if found is None and "__" not in name:
            shown = matching_out(name, args, kwargs) if kwargs.get("out") is not None else matching(name, args, kwargs)
            if shown is None and name in _OF_NUMBERS:
                shown = "out_mode" if "rounding_mode" in kwargs else "out", tuple(args), dict(kwargs)
        called = shown[1:] if shown is not None else (tuple(args), dict(kwargs))
        given, named = (tracer.create_arg(v) for v in called)
        with self.mode.silent():
            result = run()
        target: Any = _aten(name) or run.func
        if shown is not None:
            target = getattr(getattr(torch.ops.aten, name), shown[0])
        elif name in ("ones", "zeros", "empty", "rand", "randn") and args and not isinstance(args[0], (tuple, list)):
            given = (list(given),)
        elif name in ("new_ones", "new_zeros", "new_empty") and len(args) > 1 and isinstance(args[1], int):
            given = (given[0], list(given[1:]))
        if isinstance(target, OpOverload) and kwargs.get("out") is None:
            named = {
                **named,
                **{k: v for k, v in factory_defaults(target.overloadpacket.__name__).items() if k not in named},
            }
        node = tracer.call(target, given, named)
        tracer.note_results(kwargs.get("out") if kwargs.get("out") is not None else result, node)
        if found is not None:
            tracer.record(args, result, began)
        return result


def _as_operator(func: Any, name: str, args: Any, kwargs: Any) -> tuple[str, Any, Any]:
    """The name and the arguments of the operator that PyTorch runs for a function that may write in place."""
    if name in _MAY_WRITE:
        given = signature_of(func).bind(*args, **kwargs).arguments
        if given.pop("inplace", False):
            name, args, kwargs = f"{name}_", tuple(given.values()), {}
    name, more = _RUNS.get(name, (name, ()))
    return name, (*args, *more), kwargs


def _aten(name: str) -> Any:
    """The operator of PyTorch that has a function's name, or None."""
    if name.startswith("__i"):
        return getattr(operator, name.strip("_"))
    return getattr(getattr(torch.ops.aten, name, None), "default", None)
