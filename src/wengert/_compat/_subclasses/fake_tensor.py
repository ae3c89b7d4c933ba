"""``FakeTensorMode``: programs run for the shapes, dtypes and devices of their tensors, without data.

A ``FakeTensor`` is a tensor on the device "meta" (``_payloads.meta``) that says it is on another. While a function runs
on some, they say "meta", so that what it makes beside them has no data either.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import wengert as torch
from wengert._base.errors import noted
from wengert._base.torch_function import DISABLED, STATE
from wengert._payloads.meta import Meta
from wengert._tape.tensor import Tensor
from wengert._tensor_api.override_sites import Overriding
from wengert.export._recording import LEAVE_TENSORS, METADATA
from wengert.fx._naming import place_of
from wengert.fx.experimental._makers import MAKERS
from wengert.nn.parameter import Parameter
from wengert.overrides import TorchFunctionMode
from wengert.utils._aten_schemas import matching, schemas
from wengert.utils._pytree import tree_leaves, tree_map_only
from wengert.utils.weak import WeakIdKeyDictionary

__all__ = [
    "DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor", "FakeTensorConverter",
    "FakeTensorDeviceMismatchError", "FakeTensorMode", "UnsupportedFakeTensorException",
    "UnsupportedOperatorException", "is_fake", "unset_fake_temporarily",
]  # fmt: skip

_MOVES = frozenset(["to", "cpu", "cuda"])


@dataclass(eq=False)
class DataDependentOutputException(RuntimeError):
    """A number is taken out of a tensor that has no data, by ``func``."""

    func: Any


@dataclass(eq=False)
class DynamicOutputShapeException(RuntimeError):
    """The shape of a result of ``func`` depends on data."""

    func: Any


@dataclass(eq=False)
class UnsupportedOperatorException(RuntimeError):
    """``func`` has no version for tensors without data."""

    func: Any


class FakeTensorDeviceMismatchError(RuntimeError):
    """Operands say that they are on different devices."""


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor cannot be made a fake one."""


class FakeTensor(Tensor):
    """A tensor without data that says it is on a device.

    Args:
        fake_mode: the mode that it belongs to.
        elem: a tensor on the device "meta".
        device: where it says it is.
        constant: the tensor with its data, where it is known.

    Attributes:
        fake_mode, fake_device, constant: these.
    """

    # A class that overrides makes every function look at its arguments. So this one does only while it has a mode.
    __torch_function__ = DISABLED
    fake_mode: FakeTensorMode
    fake_device: Any
    constant: Tensor | None

    def __new__(
        cls, fake_mode: FakeTensorMode, elem: Tensor, device: Any, constant: Tensor | None = None
    ) -> FakeTensor:
        made = elem.as_subclass(cls)
        made._belong(fake_mode, device, constant)
        return made

    def _belong(self, fake_mode: FakeTensorMode, device: Any, constant: Tensor | None = None) -> None:
        self.fake_mode, self.fake_device, self.constant = fake_mode, _placed(device), constant

    @property
    def device(self) -> Any:
        """Where it says it is."""
        return torch.device("meta") if self.fake_mode.running else self.fake_device

    is_meta = property(lambda self: self.device.type == "meta")
    is_cpu = property(lambda self: self.device.type == "cpu")
    is_cuda = property(lambda self: self.device.type == "cuda")

    @property
    def grad(self) -> Any:
        """The gradient, which has no data either."""
        with _plainly(self.fake_mode):
            found = Tensor.grad.__get__(self)
        return found if found is None else self.fake_mode._faked(found, self.fake_device)

    @grad.setter
    def grad(self, value: Any) -> None:
        with _plainly(self.fake_mode):
            Tensor.grad.__set__(self, value)

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        with _plainly(self.fake_mode):
            text = Tensor.__repr__(self)
        text = text if text.startswith("Parameter(") else "FakeTensor(" + text.partition("(")[2]
        place = "" if self.fake_device.type == "cpu" else f"device='{self.fake_device}', "
        text = text.replace("device='meta', ", place)
        short = re.sub(r",\n\s+", ", ", text)
        return short if len(short) <= 80 else text

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = self.detach().clone().requires_grad_(self.requires_grad)
            copied._is_param = isinstance(self, Parameter)
            memo[id(self)] = copied
        return memo[id(self)]

    def tolist(self) -> Any:
        """Its elements, if they are known."""
        return self.item() if not self.dim() else [part.tolist() for part in self]

    def data_ptr(self) -> int:
        """0: it has no memory."""
        return 0


def _called(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``FakeTensor.__torch_function__``."""
    first = next(t for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor))
    return first.fake_mode.run(func, args, kwargs or {})


_living: Any = lambda: None  # a weak reference to what the modes hold


def _overriding() -> Overriding:
    global _living
    made: Overriding | None = _living()
    if made is None:
        # past the metaclass: the class overrides while there are modes, not as long as it lives
        type.__setattr__(FakeTensor, "__torch_function__", classmethod(_called))
        made = Overriding(FakeTensor)
        _living = weakref.ref(made)
    return made


def _placed(device: Any) -> Any:
    device = torch.device(device)
    return torch.device("cuda", 0) if device.type == "cuda" and device.index is None else device


@contextmanager
def _plainly(mode: FakeTensorMode) -> Iterator[None]:
    """A context in which a mode's tensors are tensors on "meta"."""
    before = STATE.get()
    mode.running += 1
    try:
        STATE.set(before._replace(classes=False, all=False))
        yield
    finally:
        STATE.set(before)
        mode.running -= 1


class FakeTensorConverter:
    """Makes a mode's tensors of others, one of each."""

    def __init__(self) -> None:
        self.tensor_memo: WeakIdKeyDictionary[Any, FakeTensor] = WeakIdKeyDictionary()

    def from_real_tensor(self, fake_mode: FakeTensorMode, t: Tensor, **_: Any) -> FakeTensor:
        """The tensor without its data."""
        made = self.tensor_memo.get(t)
        if made is None:
            with _plainly(fake_mode):
                made = fake_mode._faked(t.detach().to("meta"), t.device)
                made.requires_grad_(t.requires_grad)
            if isinstance(t, Parameter):
                made._is_param = True
            self.tensor_memo[t] = made
        return made


class FakeTensorMode(TorchFunctionMode):
    """A context in which tensors have no data: functions that make some make fake ones.

    Args:
        allow_non_fake_inputs: take tensors with data, and forget the data.
        static_shapes: sizes are numbers; there are no others here.

    Raises:
        NotImplementedError: ``shape_env`` is given, for sizes that may differ, and not ``static_shapes``.

    >>> import wengert as torch
    >>> from wengert._subclasses.fake_tensor import FakeTensorMode
    >>> with FakeTensorMode():
    ...     torch.nn.Linear(1 << 20, 3)(torch.empty(5, 1 << 20))
    FakeTensor(..., size=(5, 3), grad_fn=<AddmmBackward0>)
    """

    def __init__(
        self, *, allow_fallback_kernels: bool = True, allow_non_fake_inputs: bool = False, shape_env: Any = None,
        static_shapes: bool | None = None, export: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if shape_env is not None and not static_shapes:
            raise noted(
                NotImplementedError("FakeTensorMode: the sizes of tensors are numbers here, and may not differ"),
                "What to do: leave out shape_env; make_fx(tracing_mode='symbolic') has sizes that differ.",
            )
        self.allow_non_fake_inputs, self.shape_env = allow_non_fake_inputs, shape_env
        self.allow_fallback_kernels, self.export = allow_fallback_kernels, export
        self.static_shapes, self.allow_meta = True, True
        self.fake_tensor_converter = FakeTensorConverter()
        self._overriding = _overriding()
        self.running = 0  # the functions that run on its tensors

    def from_tensor(self, tensor: Tensor, *, static_shapes: bool | None = None, **_: Any) -> FakeTensor:
        """A tensor without its data; the same for the same tensor."""
        if isinstance(tensor, FakeTensor):
            return tensor
        return self.fake_tensor_converter.from_real_tensor(self, tensor)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What a function gives without data."""
        space, name = place_of(func)
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        fakes = [t for t in given if isinstance(t, FakeTensor)]
        if any(type(t._payload) is Meta and not isinstance(t, FakeTensor) for t in given):  # gradients, for one
            device = fakes[0].fake_device if fakes else "meta"
            args, kwargs = tree_map_only(Tensor, lambda t: self._of_meta(t, device), (args, kwargs))
            return self.run(func, args, kwargs)
        if self.running or (not fakes and (space == "attribute" or name in METADATA)):
            return func(*args, **kwargs)
        if len(fakes) < len(given):
            args, kwargs = self._converted(func, args, kwargs)
            fakes = [t for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor)]
        other = next((t.fake_mode for t in fakes if t.fake_mode is not self), None)
        if other is not None:
            raise AssertionError(f"Mixing fake modes NYI x.fake_mode={other} vs self={self}")
        if name in LEAVE_TENSORS or name == "_assert_async":
            return self._taken(func, name, args, kwargs)
        if not fakes and name not in MAKERS:
            return tree_map_only(Tensor, self._with_constant, func(*args, **kwargs))
        device = self._device(func, name, fakes, args, kwargs)
        if name in MAKERS:
            kwargs = {**kwargs, "device": "meta"}
        elif name in _MOVES:
            args, kwargs = tree_map_only((torch.device, str), lambda _: "meta", (args, kwargs))
        constants = self._constants(name, fakes, func, args, kwargs)
        result = self._run(func, args, kwargs)
        if isinstance(constants, Tensor) and isinstance(result, Tensor):
            result = self._faked(result, device)
            result.constant = constants
        if name in _MOVES and isinstance(result, FakeTensor) and result.fake_device != _placed(device):
            with _plainly(self):
                return FakeTensor(self, result, device)
        return self._all_faked(result, device)

    def run_custom(self, run: Any, op: Any, args: Any, kwargs: Any) -> Any:
        """What an operator of the program gives, by its version for tensors without data."""
        fakes = [t for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor)]
        device = self._device(op, op.__name__, fakes, args, kwargs)
        try:
            return self._all_faked(self._run(run, (args, kwargs), {}), device)
        except RuntimeError as e:
            if str(e).startswith("You're trying to run this operator with meta Tensors"):
                raise DynamicOutputShapeException(op) from None
            raise

    def _all_faked(self, result: Any, device: Any) -> Any:
        if not any(isinstance(t, Tensor) for t in tree_leaves(result)):
            return result
        return tree_map_only(Tensor, lambda t: self._faked(t, device), result)

    def _converted(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Arguments with tensors of the mode in place of those with data."""
        if not self.allow_non_fake_inputs:
            shown = ", ".join(_shown(a) for a in (*args, *kwargs.values()))
            raise noted(
                AssertionError(
                    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                    f"'allow_non_fake_inputs'. Found in {_operator(place_of(func)[1], args, kwargs)}({shown})"
                ),
                "What to do: mode.from_tensor(t) makes a tensor without data of one with data.",
            )
        return tree_map_only(Tensor, self.from_tensor, (args, kwargs))

    def _of_meta(self, t: Tensor, device: Any) -> Any:
        if type(t._payload) is not Meta or isinstance(t, FakeTensor):
            return t
        with _plainly(self):
            return FakeTensor(self, t, device)

    def _constants(self, name: str, fakes: list[FakeTensor], func: Any, args: Any, kwargs: Any) -> Any:
        """What a function gives for single numbers that are known; others that it writes to are known no longer."""
        if fakes and all(t.constant is not None and t._payload.size == 1 for t in fakes):
            with _plainly(self):
                return func(*tree_map_only(FakeTensor, lambda t: t.constant, args), **kwargs)
        if (name.endswith("_") and name[:2] != "__") or name.startswith("__i") or name == "__setitem__":
            for t in fakes[:1]:
                t.constant = None
        return None

    def _taken(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """What takes numbers out of tensors: those that are known."""
        known = tree_map_only(FakeTensor, lambda t: t.constant, (args, kwargs))
        if name in ("numpy", "__array__"):
            raise RuntimeError(".numpy() is not supported for tensor subclasses.")
        if name == "_assert_async":
            return None
        first = args[0]._payload
        if first.size != 1 and name not in ("tolist", "equal", "allclose"):
            func(torch.zeros((), dtype=args[0].dtype).expand(first.shape), *args[1:])  # an error of its own
        if any(a is None for a in known[0]):
            operator = name if name in ("equal", "allclose") else "_local_scalar_dense"
            raise DataDependentOutputException(getattr(torch.ops.aten, operator).default)
        return func(*known[0], **known[1])

    def _device(self, func: Any, name: str, fakes: list[FakeTensor], args: Any, kwargs: Any) -> Any:
        """Where a result says it is."""
        if name in _MOVES:
            named = [a for a in (*args, *kwargs.values()) if isinstance(a, (str, torch.device))]
            return named[0] if named else fakes[0].fake_device if name == "to" else name
        if kwargs.get("device") is not None:
            return kwargs["device"]
        places = [t.fake_device for t in fakes if t._payload.ndim or t.fake_device.type != "cpu"]
        if len(set(places)) > 1:
            first, second = list(dict.fromkeys(places))[:2]
            raise FakeTensorDeviceMismatchError(
                f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
            )
        return places[0] if places else fakes[0].fake_device if fakes else torch.get_default_device()

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            with _plainly(self):
                return func(*args, **kwargs)
        except NotImplementedError as e:
            text = str(e)
            if text.startswith(("aten::", "The register_meta function for torch.nonzero")):
                operator = text[6:].partition(":")[0] if text.startswith("aten::") else "nonzero"
                raise DynamicOutputShapeException(getattr(torch.ops.aten, operator).default) from None
            raise

    def _with_constant(self, t: Tensor) -> Any:
        made = self.from_tensor(t)
        if made is not t:
            made.constant = t
        return made

    def _faked(self, t: Tensor, device: Any) -> Any:
        if isinstance(t, FakeTensor) and "fake_mode" in vars(t):
            return t
        with _plainly(self):
            if type(t) is not Tensor or not t.is_meta:
                t = t.to("meta").as_subclass(Tensor)
        t.__class__ = FakeTensor
        t._belong(self, device)  # type: ignore[attr-defined]
        return t


def _operator(name: str, args: Any, kwargs: Any) -> str:
    """PyTorch's name of an operator with these arguments."""
    found = matching(name, args, kwargs) if schemas(name) else None
    return f"aten.{name}.{found[0]}" if found is not None else f"aten.{name}"


def _shown(a: Any) -> str:
    if isinstance(a, Tensor) and not isinstance(a, FakeTensor):
        return f"tensor([...], size={tuple(a.shape)})"
    return repr(a)


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """The mode that is entered, or that of tensors among inputs."""
    entered = [mode for mode in STATE.get().modes if isinstance(mode, FakeTensorMode)]
    return next((t.fake_mode for t in tree_leaves(inputs) if isinstance(t, FakeTensor)), [None, *entered][-1])


def active_fake_mode() -> FakeTensorMode | None:
    """The mode that is entered."""
    return detect_fake_mode()


def is_fake(x: Any) -> bool:
    """Whether a value is a ``FakeTensor``."""
    return isinstance(x, FakeTensor)


@contextmanager
def unset_fake_temporarily() -> Iterator[FakeTensorMode | None]:
    """A context outside of the mode that is entered, which it gives."""
    before = STATE.get()
    mode = active_fake_mode()
    STATE.set(before._replace(modes=tuple([m for m in before.modes if not isinstance(m, FakeTensorMode)])))
    try:
        yield mode
    finally:
        STATE.set(before)
