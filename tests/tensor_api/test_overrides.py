"""`__torch_function__`: subclasses of Tensor, classes that stand for tensors, modes, and `torch.overrides`."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import wengert as T
from wengert._tensor_api import override_sites as sites
from wengert.amp.narrowing import Narrowing
from wengert.overrides import TorchFunctionMode, resolve_name
from wengert.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """When the classes of the test before are gone, functions run as they were written again."""
    T.ones(1)  # a mode ends in C: the next call of a public function notices
    gc.collect()
    assert sites._level == sites.NOTHING


@pytest.fixture
def duck() -> Any:
    """An instance of a class that answers every function with what it was given."""

    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return (func, types, len(args), kwargs)

    return Duck()


@pytest.fixture
def logged() -> Any:
    """A subclass of Tensor that notes the functions that it is given to."""

    class Logged(T.Tensor):
        log: list[str | None] = []

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cls.log.append(resolve_name(func))
            return super().__torch_function__(func, types, args, kwargs)

    return Logged


x = T.ones(2, 2)

CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "add": (lambda d: T.add(x, d), lambda: T.add),
    "first": (lambda d: T.add(d, x), lambda: T.add),
    "keyword": (lambda d: T.add(x, other=d), lambda: T.add),
    "method": (lambda d: x.add(d), lambda: T.Tensor.add),
    "plus": (lambda d: x + d, lambda: T.Tensor.add),
    "plus on the left": (lambda d: d + x, lambda: T.Tensor.add),
    "minus on the left": (lambda d: d - x, lambda: T.Tensor.__rsub__),
    "at": (lambda d: x @ d, lambda: T.Tensor.matmul),
    "at on the left": (lambda d: d @ x, lambda: T.Tensor.__rmatmul__),
    "floor division": (lambda d: x // d, lambda: T.Tensor.__floordiv__),
    "power": (lambda d: x**d, lambda: T.Tensor.__pow__),
    "less": (lambda d: x < d, lambda: T.Tensor.lt),
    "in place": (lambda d: x.add_(d), lambda: T.Tensor.add_),
    "plus equals": (lambda d: operator.iadd(x, d), lambda: T.Tensor.add_),
    "index": (lambda d: x[d], lambda: T.Tensor.__getitem__),
    "sum": (lambda d: T.sum(d), lambda: T.sum),
    "mean of dims": (lambda d: T.mean(d, 0), lambda: T.mean),
    "matmul": (lambda d: T.matmul(x, d), lambda: T.matmul),
    "diagonal": (lambda d: T.diagonal(d), lambda: T.diagonal),
    "solve": (lambda d: T.linalg.solve(d, x), lambda: T.linalg.solve),
    "cholesky": (lambda d: T.linalg.cholesky(d), lambda: T.linalg.cholesky),
    "cat": (lambda d: T.cat([x, d]), lambda: T.cat),
    "where": (lambda d: T.where(x > 0, x, d), lambda: T.where),
    "einsum": (lambda d: T.einsum("ij,jk", x, d), lambda: T.einsum),
    "squeeze": (lambda d: T.squeeze(d), lambda: T.squeeze),
    "numel": (lambda d: T.numel(d), lambda: T.numel),
    "zeros_like": (lambda d: T.zeros_like(d), lambda: T.zeros_like),
    "linear": (lambda d: T.nn.functional.linear(d, x), lambda: T.nn.functional.linear),
    "module": (lambda d: T.nn.Linear(2, 2)(d), lambda: T.nn.functional.linear),
    "relu": (lambda d: T.nn.functional.relu(d), lambda: T.nn.functional.relu),
    "cross entropy": (lambda d: T.nn.functional.cross_entropy(d, x), lambda: T.nn.functional.cross_entropy),
    "softmax": (lambda d: T.nn.functional.softmax(d, dim=0), lambda: T.nn.functional.softmax),
    "fft": (lambda d: T.fft.fft(d), lambda: T.fft.fft),
    "erf": (lambda d: T.special.erf(d), lambda: T.special.erf),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_class_that_is_no_tensor_takes_over_a_function(duck: Any, name: str) -> None:
    call, func = CALLS[name]
    first = call(duck)  # the first function that ever meets the class, and once more when the class is known
    assert first[0] is func()
    again = call(duck)
    kinds = {"cross entropy": (type(duck), T.Tensor), "einsum": (T.Tensor, type(duck))}.get(name, (type(duck),))
    assert first[:2] == again[:2] == (func(), kinds)
    if name not in ("keyword", "softmax"):  # an override that does not expect it cannot tell how an argument was passed
        assert (first[2], first[3] or {}) == (again[2], again[3] or {})


def test_setitem_is_asked_with_the_value_or_the_index(duck: Any) -> None:
    calls = []
    type(duck).__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: calls.append(func))
    t = T.zeros(2)
    t[0] = duck
    t[duck] = 1.0
    assert calls == [T.Tensor.__setitem__] * 2
    assert t.tolist() == [0.0, 0.0]


def test_arguments_are_passed_as_they_were_given() -> None:
    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return args, kwargs

    d = Duck()
    for _ in range(2):
        assert T.squeeze(d) == ((d,), None)
        args, kwargs = T.add(x, d, alpha=2)
        assert args[0] is x
        assert args[1:] == (d,)
        assert kwargs == {"alpha": 2}


@pytest.mark.parametrize("also", ["first", "again"])
def test_arguments_that_a_function_assigns_are_passed_as_they_were_given(also: str) -> None:
    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return args, kwargs

    d = Duck()
    if also == "again":  # the class is known, and functions look at their arguments first
        T.exp(d)
    assert T.unsqueeze(d, axis=1)[1] == {"axis": 1}  # its dim is assigned before it fails
    assert T.reshape(d, (2, -1))[0] == (d, (2, -1))
    assert T.nn.functional.softmin(d, 0)[0] == (d,)  # PyTorch writes it in Python: defaults are named
    handled = []
    try:
        raise KeyError
    except KeyError:
        T.squeeze(d)
        handled.append(sys.exception())
    assert type(handled[0]) is KeyError
    assert sys.exception() is None


def test_a_function_that_fails_for_other_reasons_fails_as_before(duck: Any) -> None:
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        T.squeeze([1.0])
    with pytest.raises(RuntimeError, match="size of tensor a"):
        T.ones(2) + T.ones(3)
    T.exp(duck)  # now the class is known
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        T.squeeze([1.0])


def test_functions_are_the_same_objects_all_the_time(duck: Any) -> None:
    table = {T.add: 1, T.linalg.cholesky: 2, T.Tensor.mul_: 3}
    assert T.linalg.cholesky(duck)[0] is T.linalg.cholesky
    assert table == {T.add: 1, T.linalg.cholesky: 2, T.Tensor.mul_: 3}


def test_the_pattern_of_pytorchs_manual() -> None:
    """A table of implementations, keyed by the public functions."""
    handled: dict[Any, Any] = {}

    class ScalarTensor:
        def __init__(self, n: int, value: float) -> None:
            self.n, self.value = n, value

        def tensor(self) -> T.Tensor:
            return self.value * T.eye(self.n)

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func not in handled or not all(issubclass(t, (T.Tensor, ScalarTensor)) for t in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    handled[T.mean] = lambda input: float(input.value) / input.n
    handled[T.add] = lambda input, other: T.add(
        input.tensor() if isinstance(input, ScalarTensor) else input,
        other.tensor() if isinstance(other, ScalarTensor) else other,
    )
    handled[T.Tensor.add] = handled[T.add]  # as in PyTorch, methods and `+` are asked for by another name
    d = ScalarTensor(2, 4.0)
    assert T.mean(d) == 2.0
    assert T.add(d, x).tolist() == [[5.0, 1.0], [1.0, 5.0]]
    assert (x + d).tolist() == [[5.0, 1.0], [1.0, 5.0]]
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.mul'; all __torch_function__ handlers"):
        T.mul(x, d)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*: 'Tensor' and 'ScalarTensor'"):
        x * d


def test_a_class_with_methods_of_a_tensor_is_asked_once_it_is_known() -> None:
    """It could run through a function that only calls methods of its argument."""

    class Operator:
        shape = T.Size([2, 2])
        ndim = 2

        def dim(self) -> int:
            return 2

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func

    o = Operator()
    assert T.matmul(x, o) is T.matmul
    assert T.linalg.solve(o, x) is T.linalg.solve
    assert T.diagonal(o, dim1=-1, dim2=-2) is T.diagonal


def test_subclasses_are_asked_before_the_classes_that_they_are_of() -> None:
    class First:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return cls, types

    class Second(First):
        pass

    a, b = First(), Second()
    assert T.add(a, b) == (Second, (Second, First))
    assert T.add(b, a) == (Second, (Second, First))


# ----------------------------------------------------------------------------------------------------------- subclasses
def test_results_are_of_the_subclass(logged: Any) -> None:
    s = T.tensor([1.0, 2.0]).as_subclass(logged)
    cases = [s + 1, 1 - s, T.ones(2) + s, s[0], s.sum(), T.exp(s), s.view(2, 1), s.detach(), s.data, T.cat([s, s])]
    assert {type(r) for r in cases} == {logged}
    assert all(type(p) is logged for p in s.split(1))
    top = s.max(0)
    assert type(top.values) is logged
    assert type(top).__name__ == "max"
    assert s.shape == (2,)
    assert s.dtype is T.float32
    assert s.tolist() == [1.0, 2.0]
    assert repr(s) == "Logged([1., 2.])"


def test_what_a_subclass_is_told(logged: Any) -> None:
    s = T.tensor([1.0, 2.0]).as_subclass(logged)

    def told(f: Callable[[], Any]) -> list[str | None]:
        logged.log.clear()
        f()
        return list(logged.log)

    assert told(lambda: s + 1) == ["torch.Tensor.add"]
    assert told(lambda: s.add_(1)) == ["torch.Tensor.add_"]
    assert told(lambda: s.shape) == ["torch.Tensor.shape.__get__"]
    assert told(lambda: T.nn.functional.relu(s)) == ["torch.nn.functional.relu"]
    assert told(lambda: T.nn.functional.cross_entropy(s, T.tensor(0))) == ["torch.nn.functional.cross_entropy"]
    assert told(lambda: setattr(s, "requires_grad", False)) == ["torch.Tensor.requires_grad.__set__"]
    assert told(lambda: hash(s)) == []
    assert told(lambda: s.as_subclass(T.Tensor)) == []
    with T._C.DisableTorchFunctionSubclass():
        assert told(lambda: s + 1) == []
        assert type(s + 1) is T.Tensor
    with T._C.DisableTorchFunction():
        assert type(s * 2) is T.Tensor


def test_gradients_of_a_subclass(logged: Any) -> None:
    s = T.tensor([1.0, 2.0]).as_subclass(logged).requires_grad_()
    y = (s * s).sum()
    assert type(y) is logged
    y.backward()
    assert type(s.grad) is T.Tensor
    assert s.grad.tolist() == [2.0, 4.0]
    (g,) = T.autograd.grad((s**3).sum(), [s])
    assert g.tolist() == [3.0, 12.0]


def test_make_subclass_is_a_leaf_on_the_same_memory() -> None:
    class Sub(T.Tensor):
        pass

    t = T.zeros(2)
    s = T.Tensor._make_subclass(Sub, t, True)
    assert s.is_leaf
    assert s.requires_grad
    assert repr(s) == "Sub([0., 0.], requires_grad=True)"
    t[0] = 5
    assert s.tolist() == [5.0, 0.0]


def test_a_subclass_with_data_of_its_own() -> None:
    class Named(T.Tensor):
        def __new__(cls, data: Any, name: str = "") -> Any:
            return super().__new__(cls, data)

        def __init__(self, data: Any, name: str = "") -> None:
            self.name_ = name

    n = Named([1.0, 2.0], "a")
    assert (type(n), n.name_, n.tolist()) == (Named, "a", [1.0, 2.0])
    assert type(n * 2) is Named
    assert type(copy.deepcopy(n)) is Named
    assert isinstance(n, T.Tensor)


def test_unrelated_subclasses_decline_each_other() -> None:
    class A(T.Tensor):
        pass

    class B(A):
        pass

    class C(T.Tensor):
        pass

    a, b, c = (T.ones(2).as_subclass(k) for k in (A, B, C))
    assert type(a + b) is type(b + a) is B
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'A' and 'C'"):
        a + c
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.add'"):
        T.add(a, c)


def test_a_subclass_that_keeps_what_it_knows() -> None:
    """The subclass with metadata of PyTorch's manual."""

    class MetadataTensor:
        def __init__(self, data: Any, metadata: Any = None) -> None:
            self._t = T.as_tensor(data)
            self._metadata = metadata

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            metadatas = tuple(a._metadata for a in args if hasattr(a, "_metadata"))
            args = [getattr(a, "_t", a) for a in args]
            return MetadataTensor(func(*args, **(kwargs or {})), metadata=metadatas[0])

    m = MetadataTensor([[1.0], [2.0]], metadata={"owner": "me"})
    r = T.mul(T.add(m, x), 2)
    assert isinstance(r, MetadataTensor)
    assert r._metadata == {"owner": "me"}
    assert r._t.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_parameters_override_nothing() -> None:
    p = T.nn.Parameter(T.ones(2))
    assert type(p + 1) is T.Tensor
    assert not T.overrides.has_torch_function_unary(p)
    assert T.nn.Parameter.__torch_function__ is T._C._disabled_torch_function_impl
    assert sites._level == sites.NOTHING


def test_a_class_that_overrides_later() -> None:
    """A class with ``__torch_dispatch__`` overrides no function until it is given ``__torch_function__``."""

    class Late(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    assert Late.__torch_function__ is T._C._disabled_torch_function_impl
    Late.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: func.__name__)
    assert T.Tensor._make_wrapper_subclass(Late, (2,)).module_load(T.ones(2)) == "module_load"


def test_a_parameter_of_a_subclass(logged: Any) -> None:
    p = T.nn.Parameter(T.ones(2).as_subclass(logged))
    assert isinstance(p, T.nn.Parameter)
    assert type(p) is logged
    assert repr(p) == "Parameter(Logged([1., 1.], requires_grad=True))"


class Kept(T.Tensor):
    """Pickled by its name; it overrides nothing, so it slows no other test down."""

    __torch_function__ = T._C._disabled_torch_function_impl


def test_a_subclass_is_pickled() -> None:
    again = pickle.loads(pickle.dumps(T.ones(2).as_subclass(Kept)))
    assert type(again) is Kept
    assert type(again + 1) is T.Tensor


def test_a_tensor_with_memory_is_not_asked_below_autograd_and_says_so() -> None:
    class Below(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args)

    for make in (lambda: T.Tensor._make_subclass(Below, T.ones(2)), lambda: T.ones(2).as_subclass(Below)):
        with pytest.warns(UserWarning, match="Below.__torch_dispatch__ is not called for a tensor with memory"):
            make()


# ---------------------------------------------------------------------------------------------------------------- modes
class Names(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str | None] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.log.append(resolve_name(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_every_function() -> None:
    with Names() as mode:
        t = T.zeros(2)
        t.add_(1)
        _ = t.shape
        T.tensor([1.0])
        T.nn.functional.softmax(t, dim=0)
        T.manual_seed(0)
    assert mode.log == [
        "torch.zeros",
        "torch.Tensor.add_",
        "torch.Tensor.shape.__get__",
        "torch.tensor",
        "torch.nn.functional.softmax",
    ]
    T.ones(1)
    assert len(mode.log) == 5


def test_modes_nest_and_are_of_their_thread() -> None:
    with Names() as outer, Names() as inner:
        T.zeros(2)
        thread = threading.Thread(target=lambda: T.ones(2))
        thread.start()
        thread.join()
        assert T.overrides._get_current_function_mode() is inner
        assert T.overrides._get_current_function_mode_stack() == [outer, inner]
    assert outer.log == inner.log == ["torch.zeros"]


def test_a_mode_may_change_arguments_and_decline() -> None:
    class Doubles(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if func is T.zeros:
                kwargs.setdefault("dtype", T.float64)
            return func(*args, **kwargs)

    with Doubles():
        assert T.zeros(2).dtype is T.float64

    class Declines(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with Declines(), pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.ones'(.|\n)*mode object"):
        T.ones(2)


def test_a_mode_is_off_after_an_error() -> None:
    with pytest.raises(RuntimeError), Names():
        T.ones(2) + T.ones(3)
    T.ones(2)  # the mode has ended in C, and this call notices
    assert sites._level == sites.NOTHING
    with T._C.DisableTorchFunction(), Names() as mode:
        T.ones(2)
    assert mode.log == []


@pytest.mark.parametrize("call", [lambda x: T.ones(-1), lambda x: x.add_(T.ones(3)), lambda x: x.item()])
def test_an_error_in_a_dispatch_mode_that_is_kept_keeps_no_mode_on(call: Any) -> None:
    class Passes(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError) as kept, Passes(), Passes():
        call(T.ones(2))
    T.ones(2)  # the modes have ended in C, and this call notices
    assert sites._level == sites.NOTHING and kept


# ------------------------------------------------------------------------------------------------------------ overrides
def test_functions_of_ones_own(duck: Any) -> None:
    def mine(a: Any, b: Any = 1) -> Any:
        if T.overrides.has_torch_function((a,)):
            return T.overrides.handle_torch_function(mine, (a,), a, b=b)
        return a + b

    assert mine(1) == 2
    assert mine(duck) == (mine, (type(duck),), 1, {"b": 1})

    class Declines:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match=r"no implementation found for .*mine.* on types that implement"):
        mine(Declines())

    wrapped = T.overrides.wrap_torch_function(lambda a: (a,))(lambda a: a + 1)
    assert wrapped(duck)[0] is wrapped


def test_what_is_like_a_tensor(duck: Any) -> None:
    o = T.overrides
    assert [o.is_tensor_like(v) for v in (duck, x, T.nn.Parameter(x), 1, [x])] == [True, True, True, False, False]
    assert o.has_torch_function((x, duck))
    assert o.has_torch_function_unary(duck)
    assert o.has_torch_function_variadic(1, duck)
    assert not o.has_torch_function_variadic(x, 1)
    with T._C.DisableTorchFunctionSubclass():
        assert not o.has_torch_function((duck,))


def test_names_and_tables() -> None:
    o = T.overrides
    assert o.resolve_name(T.add) == "torch.add"
    assert o.resolve_name(T.Tensor.add_) == "torch.Tensor.add_"
    assert o.resolve_name(T.linalg.solve) == "torch.linalg.solve"
    assert o.resolve_name(T.Tensor.dtype.__get__) == "torch.Tensor.dtype.__get__"
    assert o.resolve_name(len) is None
    assert o.is_tensor_method_or_property(T.Tensor.add_)
    assert o.is_tensor_method_or_property(T.Tensor.shape.__get__)
    assert not o.is_tensor_method_or_property(T.linalg.solve)
    table = o.get_overridable_functions()
    assert T.add in table[T]
    assert T.nn.functional.relu in table[T.nn.functional]
    assert T.Tensor.add_ in table[T.Tensor]
    assert T.manual_seed in o.get_ignored_functions() or T.manual_seed not in table[T]
    assert T.Tensor.grad.__get__ in o.get_default_nowrap_functions()
    stand_in = o.get_testing_overrides()[T.squeeze]
    assert stand_in(1) == -1


# ----------------------------------------------------------------------------------------------------------- with torch
BOTH = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "lt", "eq", "ge")


def names_of(torch: Any, resolve: Any, cls: Any) -> dict[str, Any]:
    """By which function, and with how many arguments, each call asks a class that is no tensor."""
    t, d = torch.ones(2, 2), cls()
    F = torch.nn.functional
    calls: dict[str, Callable[[], Any]] = {
        op: lambda op=op: getattr(operator, op)(t, d)  # type: ignore[misc]
        for op in (*BOTH, "iadd", "imul", "isub", "itruediv", "imod")
    }
    calls |= {
        f"{op} on the left": lambda op=op: getattr(operator, op)(d, t)  # type: ignore[misc]
        for op in BOTH
    }
    calls |= {
        "cat": lambda: torch.cat([t, d]),
        "stack": lambda: torch.stack((d, t), 1),
        "sum": lambda: torch.sum(d, 0),
        "norm": lambda: torch.norm(d),
        "split": lambda: torch.split(d, 1),
        "max": lambda: torch.max(d, 0),
        "clamp": lambda: torch.clamp(t, min=d),
        "to": lambda: t.to(d),
        "expand_as": lambda: t.expand_as(d),
        "index": lambda: t[d, 0],
        "linear": lambda: F.linear(t, d),
        "conv": lambda: F.conv2d(d, d),
        "embedding": lambda: F.embedding(d, t),
        "layer norm": lambda: F.layer_norm(d, (2,)),
        "mse": lambda: F.mse_loss(d, t),
        "tensor": lambda: torch.tensor(d),
        "broadcast": lambda: torch.broadcast_tensors(d, t),
        "meshgrid": lambda: torch.meshgrid(t, d),
    }
    found: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            func, positional = call()
            found[name] = (resolve(func).rpartition(".")[2], positional)
        except Exception as error:  # noqa: BLE001  what it is is compared
            found[name] = (type(error).__name__, str(error).replace("ones.<locals>.", ""))
    return found


def test_parts_of_complex_tensors_ask_by_their_properties() -> None:
    asked = []

    class Asked(T.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = T.ones(2, dtype=T.complex64).as_subclass(Asked)
    assert x.real.tolist() == [1, 1] and T.imag(x).tolist() == [0, 0]
    assert T.Tensor.real.__get__ in asked and T.real not in asked and T.imag in asked


def test_the_same_functions_ask_as_in_pytorch(torch: Any) -> None:
    from torch.overrides import resolve_name as torch_name

    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func, len(args)

    mine, theirs = names_of(T, resolve_name, Duck), names_of(torch, torch_name, Duck)
    mine["linear"], theirs["linear"] = mine["linear"][0], theirs["linear"][0]  # `None` stands for the bias here
    assert mine == theirs


# Each function with what PyTorch's hands on: its name, the types, how many arguments by place, which by keyword.
HANDED_ON = """
F.cross_entropy(d, t)
F.cross_entropy(t, d)
F.relu(d)
F.pad(d, (1, 1))
F.embedding(t, d)
F.interpolate(d, scale_factor=2)
F.max_pool2d(d, 2)
F.max_pool2d(d, 2, return_indices=True)
F.layer_norm(d, (2,), t)
F.softmax(d, 1, dtype=torch.float32)
F.softmin(d, 0)
F.normalize(d)
F.batch_norm(d, None, None)
F.gelu(d)
F.conv1d(d, t)
F.multi_head_attention_forward(d, t, t, 1, 1, None, None, None, None, False, 0.0, t, None)
torch.add(d, t)
torch.add(t, d, alpha=2)
torch.einsum("a,b", d, t)
torch.einsum("a,b", [d, t])
torch.tensordot(t, d, dims=1)
torch.split(d, 2)
torch.unique(d)
torch.stft(d, 4)
torch.norm(d)
torch.cdist(d, t)
torch.atleast_1d(d)
torch.nn.init.uniform_(d)
s.split(1)
s.norm()
s.unique()
s.shape
s.T
"""
NOBODY = """
torch.mean(n)
torch.linalg.norm(n)
torch.fft.fft(n)
F.linear(t, n)
F.gelu(n)
F.relu(n)
F.cross_entropy(n, t)
torch.einsum("i,i", t, n)
torch.split(n, 2)
torch.nn.init.uniform_(n)
t.add(n)
"""


@pytest.mark.parametrize("line", [*HANDED_ON.strip().splitlines(), *NOBODY.strip().splitlines()])
def test_what_pytorch_hands_on(torch: Any, line: str) -> None:
    seen = []
    for library in (torch, T):
        told = library.overrides.resolve_name

        class Duck:
            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return told(func), [t.__name__ for t in types], len(args), sorted(kwargs or {})  # noqa: B023

        class Sub(library.Tensor):
            __torch_function__ = Duck.__dict__["__torch_function__"]

        class Nobody:
            __torch_function__ = classmethod(lambda *args: NotImplemented)

        names = {"torch": library, "F": library.nn.functional, "d": Duck(), "t": library.ones(1), "n": Nobody()}
        names["s"] = library.ones(2).as_subclass(Sub)
        try:
            seen.append(eval(line, names))
        except TypeError as error:
            seen.append(str(error).splitlines()[0])
        del names, Sub, Duck, Nobody
        gc.collect()  # while a class overrides, functions look at their arguments
    assert seen[0] == seen[1]


def test_in_the_end_nothing_is_left() -> None:
    """For the tests of other files: see the fixture."""
    assert sites._level == sites.NOTHING


MIXTURES = {
    "+": lambda w, t: w + t,
    "+ the other way": lambda w, t: t + w,
    "==": lambda w, t: w == t,
    "== the other way": lambda w, t: t == w,
    "in": lambda w, t: w in [t],
    "@": lambda w, t: t @ w,
    "+=": lambda w, t: operator.iadd(w, t),
    "<": lambda w, t: w < t,
    "function": lambda w, t: T.add(w, t),
    "list": lambda w, t: T.stack([w, t]),
    "method": lambda w, t: w.copy_(t),
    "index": lambda w, t: w[t.long()],
    "alone": lambda w, t: T.exp(t),
    "module": lambda w, t: T.nn.Linear(2, 2)(t),
}


@pytest.mark.parametrize("how", MIXTURES)
def test_tensors_of_pytorch_are_refused_in_one_sentence(torch: Any, how: str) -> None:
    w, t = T.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"^wengert\.[\w.]+\(\) was given a torch\.Tensor\b") as caught:
        MIXTURES[how](w, t)
    assert any("from_numpy" in note for note in caught.value.__notes__)


def test_functions_of_pytorch_refuse_our_tensors(torch: Any) -> None:
    w = T.tensor([1.0, 2.0])
    for call in (lambda: torch.exp(w), lambda: torch.nn.functional.relu(w), lambda: torch.stack([w])):
        with pytest.raises(TypeError):
            call()
    assert torch.tensor(w).tolist() == torch.as_tensor(w).tolist() == [1.0, 2.0]
    assert T.tensor(torch.ones(2)).tolist() == [1.0, 1.0]


def test_a_number_beside_an_operator_while_classes_override() -> None:
    """The guard of an operator takes no error of another function for the operator's own."""

    class Overriding(T.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return super().__torch_function__(func, types, args, kwargs or {})

    Overriding(T.ones(1)) @ T.ones(1)
    for x in (T.tensor(1.0), T.ones(3, 3)):
        with pytest.raises(TypeError, match="unsupported operand"):
            x @ 0.5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.add(1, foo=2), "add() got an unexpected keyword argument 'foo'"),
        (lambda x: T.diagonal_scatter(x, 1), "diagonal_scatter(): argument 'src' (position 2) must be Tensor, not int"),
        (lambda x: T.nn.functional.linear(x, 1), "linear(): argument 'weight' (position 2) must be Tensor, not int"),
    ],
)
def test_errors_are_pytorchs_while_a_class_overrides(call: Any, words: str) -> None:
    assert _refusals(call) == [words, words]
    gc.collect()  # the class, which tests after this one would meet


def _refusals(call: Any) -> list[str]:
    """The first lines of the errors of a call on a tensor, and on one of a class that overrides functions."""

    class Sub(T.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return super().__torch_function__(func, types, args, kwargs or {})

    found = []
    for x in (T.ones(3, 3), T.ones(3, 3).as_subclass(Sub)):
        with pytest.raises(TypeError) as caught:
            call(x)
        found.append(str(caught.value).partition("\n")[0])
    return found


def test_a_method_of_a_subclass_that_calls_the_placeholder_of_its_base_runs_once() -> None:
    """A method that nothing has asked for yet is a placeholder in ``Tensor``: ``super()`` gets the member behind it."""
    program = """
import wengert as torch

class Noted(torch.Tensor):
    calls = []

    def logcumsumexp(self, dim):
        Noted.calls.append(dim)
        return super().logcumsumexp(dim)

    @property
    def mT(self):
        Noted.calls.append("mT")
        return super().mT

x = torch.tensor([[1.0, 2.0]]).as_subclass(Noted)
x.logcumsumexp(0)
x.mT
print(Noted.calls)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 'mT']\n"


def test_a_region_of_autocast_is_handed_what_pytorch_writes_in_python_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ml_dtypes")
    seen: list[str] = []
    handed = Narrowing.__torch_function__

    def watching(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        seen.append(func.__name__)
        return handed(self, func, types, args, kwargs)

    monkeypatch.setattr(Narrowing, "__torch_function__", watching)
    linear, x = T.nn.functional.linear, T.ones(2, 2)
    with T.autocast("cpu"):
        y = linear(x, x)
        wide = T.softmax((x + 1).exp(), -1).view(4), T.nn.functional.mse_loss(y, x)
        with T._C.DisableTorchFunctionSubclass(), T.device("meta"):
            assert linear(x, x).dtype is (x @ x).dtype is T.bfloat16 and T.ones(1).is_meta
        assert {"linear", "matmul", "ones"} <= set(seen)  # beside a mode of another kind everything is
        del seen[1:]
        with T.autocast("cpu", enabled=False):
            assert linear(x, x).dtype is T.float32
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            linear(x, T.ones(2, 3))
        with pytest.raises(TypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor, not int"):
            T.exp(3)  # type: ignore[arg-type]
    assert y.dtype is T.bfloat16 and {t.dtype for t in wide} == {T.float32}
    assert seen == ["mse_loss"]
