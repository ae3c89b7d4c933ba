"""``Module``, ``Parameter`` and the containers, beside what PyTorch documents and, where it is installed, beside it."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import warnings
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import wengert as W
from wengert import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.register_buffer("count", W.zeros(1))
        self.register_buffer("hidden", W.ones(2), persistent=False)
        self.scale = nn.Parameter(W.tensor(2.0))

    def forward(self, x: Any, factor: float = 1.0) -> Any:
        return self.b(self.a(x)) * self.scale * factor


def test_functions_of_the_package_are_no_methods_of_modules() -> None:
    class Gate(nn.Module):
        act, gate = W.tanh, nn.functional.gelu  # in PyTorch they are built in, and no class binds them

    assert Gate.act is W.tanh and Gate().act(W.zeros(2)).tolist() == Gate().gate(W.zeros(2)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (nn.Conv2d, "Conv2d"), (nn.ConvTranspose1d, "ConvTranspose1d"), (nn.ReLU, "ReLU"), (nn.Softmax, "Softmax"),
        (nn.AvgPool2d, "AvgPool2d"), (nn.ZeroPad2d, "ZeroPad2d"), (nn.MaxPool2d, "_MaxPoolNd"),
        (nn.BatchNorm2d, "_BatchNorm"), (nn.TransformerEncoderLayer, "TransformerEncoderLayer"),
        (type("Own", (nn.Conv2d,), {}), "Conv2d"),
    ],
)  # fmt: skip
def test_errors_name_the_class_whose_init_pytorch_has(kind: Any, shown: str) -> None:
    with pytest.raises(TypeError, match=rf"^{shown}\.__init__\(\) got an unexpected keyword argument 'nonsense'"):
        kind(nonsense=1)


@pytest.fixture
def swapping() -> Any:
    W.__future__.set_swap_module_params_on_conversion(True)
    yield
    W.__future__.set_swap_module_params_on_conversion(False)


def test_parameters_are_swapped_where_asked(swapping: Any) -> None:
    layer = nn.Linear(2, 2)
    layer(W.ones(2)).sum().backward()
    weight, grad = layer.weight, layer.weight.grad
    assert grad is not None
    layer.double()
    assert layer.weight is weight and weight.grad is grad and weight.dtype == grad.dtype == W.float64
    layer.to("meta")
    assert layer.weight is weight and weight.is_meta and weight.is_leaf and weight.requires_grad
    state = {name: W.ones(p.shape) for name, p in layer.named_parameters()}
    layer.load_state_dict(state, assign=True)
    assert layer.weight is weight and weight.data_ptr() == state["weight"].data_ptr()
    layer.load_state_dict(nn.Linear(2, 2).state_dict())
    assert layer.weight is weight and weight.dtype == W.float32 and not W.equal(weight.data, W.ones(2, 2))


def test_the_value_of_module_load_takes_the_place_of_the_parameter(swapping: Any) -> None:
    class Scaled(W.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is W.Tensor.module_load:
                return (args[1] * 2).as_subclass(cls)
            return super().__torch_function__(func, types, args, kwargs)

    class Careless(nn.Parameter):
        def module_load(self, other: Any, assign: bool = False) -> Any:
            return other

    layer = nn.Linear(1, 1, bias=False)
    layer.weight = weight = nn.Parameter(W.zeros(1, 1).as_subclass(Scaled))
    layer.load_state_dict({"weight": W.ones(1, 1)})
    assert layer.weight is weight and weight.item() == 2 and isinstance(weight, Scaled)
    layer.weight = Careless(W.zeros(1, 1))
    with pytest.raises(RuntimeError, match=r'While swapping the parameter named "weight".*returned one of self'):
        layer.load_state_dict({"weight": W.ones(1, 1)})


def test_nn_is_not_imported_by_wengert() -> None:
    code = "import sys, wengert; assert 'wengert.nn' not in sys.modules; wengert.nn.Linear; print('ok')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "ok\n"


# ------------------------------------------------------------------------------------------------------------ Parameter
def test_parameter_shares_memory_and_its_results_are_plain() -> None:
    t = W.tensor([1.0, 2.0])
    p = nn.Parameter(t)
    t[0] = 5
    assert p.tolist() == [5.0, 2.0]
    assert isinstance(p, nn.Parameter) and isinstance(p, W.Tensor) and p.is_leaf and p.requires_grad
    assert not t.requires_grad
    for plain in (p + 1, p.data, p.detach(), p[0], p.clone()):
        assert type(plain) is W.Tensor
    assert repr(p) == "Parameter containing:\ntensor([5., 2.], requires_grad=True)" == str(p)
    assert repr(nn.Parameter(W.ones(1), requires_grad=False)) == "Parameter containing:\ntensor([1.])"
    assert nn.Parameter().shape == (0,)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        nn.Parameter(W.tensor([1]))


def test_a_parameter_of_a_subclass_says_that_it_is_one() -> None:
    class Weight(nn.Parameter):
        pass

    class Named(W.Tensor):
        def __repr__(self) -> str:
            return "named " + W.Tensor.__repr__(self)

    class Both(Named, nn.Parameter):
        pass

    assert repr(Weight(W.ones(1))) == "Parameter containing:\nParameter(Weight([1.], requires_grad=True))"
    assert repr(Both(W.ones(1))) == "named Parameter(Both([1.], requires_grad=True))"


def test_a_write_through_the_shared_tensor_is_noticed() -> None:
    t = W.tensor([1.0, 2.0])
    p = nn.Parameter(t)
    y = (p * p).sum()
    t.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_parameter_copies() -> None:
    p = nn.Parameter(W.tensor([1.0, 2.0]), requires_grad=False)
    p.grad = W.ones(2)
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(other) is nn.Parameter and not other.requires_grad and other.tolist() == [1.0, 2.0]
        assert other.grad is None
        other.data.zero_()
        assert p.tolist() == [1.0, 2.0]
    twice = copy.deepcopy([p, p])
    assert twice[0] is twice[1]


def test_parameter_of_a_subclass_and_subclass_of_parameter() -> None:
    class Mine(W.Tensor):
        pass

    p = nn.Parameter(W.ones(2).as_subclass(Mine))
    assert isinstance(p, nn.Parameter) and type(p) is Mine and p.requires_grad

    class Named(nn.Parameter):
        pass

    n = Named(W.ones(2))
    m = nn.Module()
    m.n = n
    m.p = p
    assert [name for name, _ in m.named_parameters()] == ["n", "p"]
    assert repr(n).startswith("Parameter containing:\nParameter(Named(")


def test_data_setter_keeps_the_parameter() -> None:
    p = nn.Parameter(W.ones(2))
    p.data = W.zeros(3)
    assert p.shape == (3,) and p.requires_grad
    p.data -= 1
    assert p.tolist() == [-1, -1, -1]
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2, 2, 2]


# --------------------------------------------------------------------------------------------------------- registration
def test_what_is_inside() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "a.weight", "a.bias", "b.0.weight", "b.0.bias"]
    assert [n for n, _ in net.named_buffers()] == ["count", "hidden"]
    assert [n for n, _ in net.named_modules()] == ["", "a", "b", "b.0", "b.1"]
    assert [n for n, _ in net.named_children()] == ["a", "b"]
    assert list(net.state_dict()) == ["scale", "count", "a.weight", "a.bias", "b.0.weight", "b.0.bias"]
    assert net.get_submodule("b.0") is net.b[0] and net.get_submodule("") is net
    assert net.get_parameter("b.0.bias") is net.b[0].bias and net.get_buffer("count") is net.count
    for wrong, call in (("no attribute", net.get_submodule), ("is not an nn.Module", net.get_submodule)):
        with pytest.raises(AttributeError, match=wrong):
            call("b.9" if wrong == "no attribute" else "scale")
    net.set_submodule("b.0", nn.Identity())
    assert isinstance(net.b[0], nn.Identity)
    assert {"a", "scale", "count", "forward"} <= set(dir(net))


def test_shared_parameters_are_listed_once() -> None:
    net = Net()
    net.again = net.a
    assert len(list(net.parameters())) == 5
    assert len(list(net.named_parameters(remove_duplicate=False))) == 7
    assert len(list(net.modules())) == 5
    assert "again.weight" in net.state_dict()


def test_reassignment_moves_a_name_between_spaces() -> None:
    m = nn.Module()
    m.x = 1
    m.x = nn.Parameter(W.ones(1))
    assert "x" in m._parameters and "x" not in m.__dict__
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' as parameter 'x' \(torch.nn.Param"):
        m.x = W.ones(1)
    m.x = None
    assert m._parameters == {"x": None} and list(m.parameters()) == []
    del m.x
    m.x = nn.ReLU()
    m.x = nn.Parameter(W.ones(1))
    assert "x" in m._parameters and "x" not in m._modules
    del m.x
    m.x = nn.ReLU()
    with pytest.raises(TypeError, match=r"cannot assign 'int' as child module 'x' \(torch.nn.Module or"):
        m.x = 3
    del m.x
    assert not hasattr(m, "x")
    m.register_buffer("y", None)
    m.y = W.ones(1)
    assert "y" in m.state_dict()
    m.z = nn.Buffer(W.ones(1), persistent=False)
    assert "z" in dict(m.named_buffers()) and "z" not in m.state_dict()
    assert isinstance(m.z, nn.Buffer)


@pytest.mark.parametrize(
    ("error", "text", "act"),
    [
        (KeyError, "attribute 'train' already exists", lambda m: m.register_parameter("train", None)),
        (KeyError, 'parameter name can\'t contain "."', lambda m: m.register_parameter("a.b", None)),
        (KeyError, 'buffer name can\'t be empty string ""', lambda m: m.register_buffer("", None)),
        (KeyError, 'module name can\'t contain ".", got: a.b', lambda m: m.add_module("a.b", None)),
        (TypeError, "3 is not a Module subclass", lambda m: m.add_module("a", 3)),
        (TypeError, "buffer name should be a string. Got int", lambda m: m.register_buffer(3, None)),
        (ValueError, "Cannot assign non-leaf Tensor to parameter 'w'", lambda m: setattr(m, "w", _non_leaf())),
        (AttributeError, "'Module' object has no attribute 'q'", lambda m: m.q),
        (NotImplementedError, 'Module [Module] is missing the required "forward" function', lambda m: m()),
        (TypeError, "Module.__init__() got an unexpected keyword argument 'a'", lambda m: nn.Module(a=1)),
        (ValueError, "training mode is expected to be boolean", lambda m: m.train(1)),
        (TypeError, "nn.Module.to only accepts floating point or complex dtypes", lambda m: m.to(W.int64)),
    ],
)
def test_refusals(error: type[Exception], text: str, act: Any) -> None:
    with pytest.raises(error) as info:
        act(nn.Module())
    if not text.startswith("3 is"):
        assert text in str(info.value.args[0])


def _non_leaf() -> Any:
    p = nn.Parameter(W.ones(2) * 1)
    t = (p * 2).as_subclass(nn.Parameter)
    assert t.grad_fn is not None
    return t


def test_before_init() -> None:
    class Early(nn.Module):
        def __init__(self, what: Any) -> None:
            self.w = what

    for what, text in (
        (nn.Parameter(W.ones(1)), "cannot assign parameters before Module.__init__() call"),
        (nn.ReLU(), "cannot assign module before Module.__init__() call"),
    ):
        with pytest.raises(AttributeError) as info:
            Early(what)
        assert str(info.value) == text


# ---------------------------------------------------------------------------------------------------------------- hooks
def test_forward_hooks_in_order() -> None:
    m, calls = nn.Linear(2, 2), []
    handles = [
        m.register_forward_pre_hook(lambda mod, args: calls.append("pre") or (args[0] * 2,)),
        m.register_forward_hook(lambda mod, args, out: calls.append("post") or out + 1),
        m.register_forward_hook(lambda mod, args, kwargs, out: calls.append("kwargs"), with_kwargs=True),
        m.register_forward_hook(lambda mod, args, out: calls.append("first"), prepend=True),
    ]
    x = W.ones(1, 2)
    expected = nn.functional.linear(x * 2, m.weight, m.bias) + 1
    assert W.equal(m(x), expected)
    assert calls == ["pre", "first", "post", "kwargs"]
    for handle in handles:
        handle.remove()
    assert not m._forward_hooks and not m._forward_hooks_with_kwargs and not m._forward_pre_hooks
    with m.register_forward_pre_hook(lambda mod, args: None):
        assert m._forward_pre_hooks
    assert not m._forward_pre_hooks


def test_pre_hook_with_kwargs() -> None:
    net = Net()
    handle = net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"factor": 0.0}), with_kwargs=True)
    assert W.equal(net(W.ones(1, 2), factor=3.0), W.zeros(1, 3))
    handle.remove()
    net.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple of"):
        net(W.ones(1, 2))


def test_always_called_hooks() -> None:
    class Fails(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    m, calls = Fails(), []
    m.register_forward_hook(lambda mod, args, out: calls.append(out))
    m.register_forward_hook(lambda mod, args, out: calls.append("always"), always_call=True)
    m.register_forward_hook(lambda mod, args, out: 1 / 0, always_call=True)
    with pytest.warns(UserWarning, match="silenced as another error was raised in forward"), pytest.raises(ValueError):
        m(1)
    assert calls == ["always"]


def test_full_backward_hooks() -> None:
    m, seen = nn.Linear(2, 1, bias=False), []
    m.register_full_backward_pre_hook(lambda mod, gout: (gout[0] * 3,))
    m.register_full_backward_hook(lambda mod, gin, gout: seen.append((gin, gout)) or (gin[0] * 10,))
    x = W.ones(1, 2, requires_grad=True)
    y = m(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    y.sum().backward()
    (gin, gout) = seen[0]
    assert gout[0].tolist() == [[3.0]]
    assert W.allclose(gin[0], m.weight * 3)
    assert W.allclose(x.grad, m.weight * 30)
    assert W.allclose(m.weight.grad, W.full((1, 2), 3.0))


def test_full_backward_hook_without_grad_inputs() -> None:
    m, seen = nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda mod, gin, gout: seen.append(gin))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        m(W.ones(1, 2)).sum().backward()
    assert seen == [(None,)]


def test_two_sorts_of_backward_hooks_exclude_each_other() -> None:
    m = nn.Linear(2, 1)
    m.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        m.register_backward_hook(lambda *a: None)


def test_old_backward_hook() -> None:
    m, seen = nn.Tanh(), []
    m.register_backward_hook(lambda mod, gin, gout: seen.append((mod, gin, gout)))
    x = W.zeros(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m(x).sum().backward()
    assert seen[0][0] is m and seen[0][2][0].tolist() == [1, 1]


def test_global_hooks() -> None:
    from wengert.nn.modules.module import register_module_forward_hook, register_module_module_registration_hook

    names: list[str] = []
    with (
        register_module_forward_hook(lambda m, args, out: names.append(type(m).__name__)),
        register_module_module_registration_hook(lambda m, name, sub: names.append(f"+{name}")),
    ):
        nn.Sequential(nn.ReLU(), nn.Tanh())(W.ones(1))
    nn.ReLU()(W.ones(1))
    assert names == ["+0", "+1", "ReLU", "Tanh", "Sequential"]


def test_hooks_of_all_modules_may_be_put_into_their_dicts() -> None:
    """torchlens saves, changes and restores the dicts; in a process of its own, as no module has had a hook before."""
    program = """
import wengert as torch
from torch.nn.modules import module as home
linear, seen = torch.nn.Linear(1, 1), []
home._global_forward_pre_hooks[0] = lambda m, args: seen.append("forward")
linear(torch.ones(1))
home._global_forward_pre_hooks.clear()
home._global_backward_hooks, home._global_backward_pre_hooks, home._global_forward_hooks_with_kwargs
home.register_module_forward_hook(lambda m, args, out: seen.append("after"), always_call=True)
assert len(home._global_forward_hooks) == len(home._global_forward_hooks_always_called) == 1
linear(torch.ones(1))
print(seen)
"""
    command = [sys.executable, "-c", program.replace("from torch", "from wengert")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['forward', 'after']", done.stderr


def test_hooks_are_copied_with_the_module() -> None:
    m = nn.ReLU()
    handle = m.register_forward_hook(_double)
    twin = copy.deepcopy(m)
    again = pickle.loads(pickle.dumps(m))
    handle.remove()
    assert [t(W.ones(1)).item() for t in (m, twin, again)] == [1.0, 2.0, 2.0]


def _double(module: Any, args: Any, output: Any) -> Any:
    return output * 2


# --------------------------------------------------------------------------------------------------------------- states
def test_state_dict_shares_memory_and_is_detached() -> None:
    net = Net()
    state = net.state_dict(prefix="p.")
    assert isinstance(state, OrderedDict) and next(iter(state)) == "p.scale"
    assert not state["p.scale"].requires_grad
    state["p.scale"].fill_(7)
    assert net.scale.item() == 7
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert state._metadata["p"] == {"version": 1} and "p.a" in state._metadata
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        net.state_dict(OrderedDict(), "q.")


def test_load_state_dict_messages() -> None:
    net = nn.Sequential(OrderedDict(one=nn.Linear(2, 3), two=nn.Linear(3, 1)))
    state = net.state_dict()
    state["one.weight"] = W.zeros(4, 2)
    state["extra"] = state.pop("two.bias")
    state["three.deep.x"] = W.zeros(1)
    with pytest.raises(RuntimeError) as info:
        net.load_state_dict(state)
    assert str(info.value) == (
        "Error(s) in loading state_dict for Sequential:\n\t"
        'Missing key(s) in state_dict: "two.bias". \n\t'
        'Unexpected key(s) in state_dict: "extra", "three.deep.x". \n\t'
        "size mismatch for one.weight: copying a param with shape torch.Size([4, 2]) from checkpoint, the shape in "
        "current model is torch.Size([3, 2])."
    )
    del state["one.weight"]
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["one.weight", "two.bias"]
    assert result.unexpected_keys == ["extra", "three.deep.x"]
    assert repr(result).startswith("_IncompatibleKeys(missing_keys=['one.weight', 'two.bias']")
    with pytest.raises(TypeError, match=r"Expected state_dict to be dict-like, got <class 'list'>\."):
        net.load_state_dict([])


def test_load_state_dict_copies_or_assigns() -> None:
    a, b = nn.Linear(2, 3), nn.Linear(2, 3)
    weight = a.weight
    assert repr(a.load_state_dict(b.state_dict())) == "<All keys matched successfully>"
    assert a.weight is weight and W.equal(a.weight, b.weight)
    state = b.state_dict()
    a.load_state_dict(state, assign=True)
    assert isinstance(a.weight, nn.Parameter) and a.weight is not weight
    state["weight"].zero_()
    assert not a.weight.any()


def test_state_hooks_and_extra_state() -> None:
    class Extra(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.note = "new"

        def get_extra_state(self) -> Any:
            return {"note": self.note}

        def set_extra_state(self, state: Any) -> None:
            self.note = state["note"]

    m, other, calls = Extra(), Extra(), []
    m.note = "old"
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: calls.append("pre"))
    m.register_state_dict_post_hook(lambda mod, state, prefix, meta: state.update(more=1))
    state = m.state_dict()
    assert list(state) == ["_extra_state", "more"] and calls == ["pre"]
    other.register_load_state_dict_pre_hook(lambda mod, state, *rest: state.pop("more"))
    other.register_load_state_dict_post_hook(lambda mod, keys: calls.append(tuple(keys)))
    other.load_state_dict(state)
    assert other.note == "old" and calls[1] == ([], [])


# ---------------------------------------------------------------------------------------------------------- conversions
def test_conversions_keep_the_parameters() -> None:
    net = Net()
    weight, optimizer_view = net.a.weight, list(net.parameters())
    net(W.ones(1, 2)).sum().backward()
    assert net.double() is net
    assert net.a.weight is weight and weight.dtype is W.float64 and weight.grad.dtype is W.float64
    assert net.count.dtype is W.float64 and [p.dtype for p in optimizer_view] == [W.float64] * 5
    assert net(W.ones(1, 2).double()).dtype is W.float64
    net.to("cpu", W.float16).float().to(W.zeros(1)).cpu()
    assert weight.dtype is W.float32 and weight.requires_grad and weight.is_leaf
    assert net.type(W.float64).scale.dtype is W.float64
    norm = nn.BatchNorm1d(2).half()
    assert norm.num_batches_tracked.dtype is W.int64 and norm.running_mean.dtype is W.float16


def test_training_and_gradients() -> None:
    net = Net()
    assert net.eval() is net and not net.b[1].training and not net.training
    assert net.train().b[1].training
    net(W.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.item() == 0
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not net(W.ones(1, 2)).requires_grad
    seen: list[Any] = []
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Net"]


def test_deepcopy_and_pickle() -> None:
    net = Net()
    net.tied = net.a
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.tied is other.a and other.a.weight is not net.a.weight
        assert W.equal(other(W.ones(1, 2)), net(W.ones(1, 2)))
        assert "hidden" not in other.state_dict()


def test_functions_kept_by_a_module_are_pickled_by_their_public_names() -> None:
    m = nn.Module()
    m.functions = [nn.functional.relu, W.relu, W.tanh, nn.functional.cross_entropy, W.cat, nn.functional.gelu]
    again = pickle.loads(pickle.dumps(m)).functions
    assert all(a is b for a, b in zip(again, m.functions, strict=True))


def test_no_cycle(no_gc: Any) -> None:
    net = Net()
    dead = weakref.ref(net.a.weight)
    net(W.ones(1, 2)).sum().backward()
    del net
    assert dead() is None
    assert not gc.isenabled()


# ----------------------------------------------------------------------------------------------------------- containers
def test_sequential_as_a_list() -> None:
    s = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    assert len(s) == 3 and s[-1] is s[2] and isinstance(s[:2], nn.Sequential) and [*s][1] is s[1]
    del s[1]
    assert list(s._modules) == ["0", "1"] and isinstance(s[1], nn.Tanh)
    s.append(nn.ReLU()).insert(1, nn.GELU()).extend([nn.SiLU()])
    assert [type(m).__name__ for m in s] == ["Linear", "GELU", "Tanh", "ReLU", "SiLU"]
    assert isinstance(s.pop(1), nn.GELU) and len(s) == 4
    assert len(s + s) == 8 and len(s * 2) == 8 and len(3 * s) == 12
    s[0] = nn.Identity()
    assert isinstance(s[0], nn.Identity)
    with pytest.raises(IndexError, match="index 7 is out of range"):
        s[7]
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        s + [1]


def test_module_list_and_dict() -> None:
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers += [nn.ReLU()]
    layers.append(nn.Tanh())
    layers.insert(0, nn.Identity())
    assert [n for n, _ in layers.named_children()] == ["0", "1", "2", "3"]
    assert isinstance(layers[1:], nn.ModuleList) and len(layers + [nn.ReLU()]) == 5
    del layers[1]
    assert len(list(layers.parameters())) == 0
    d = nn.ModuleDict([("a", nn.ReLU()), ("b", nn.Tanh())])
    assert "a" in d and list(d) == ["a", "b"] and isinstance(d.pop("a"), nn.ReLU) and len(d) == 1
    d.update({"c": nn.Linear(1, 1)})
    assert list(d.keys()) == ["b", "c"] and list(d.state_dict()) == ["c.weight", "c.bias"]
    with pytest.raises(KeyError):
        d["x"]


def test_parameter_containers() -> None:
    params = nn.ParameterList([W.ones(2), nn.Parameter(W.ones(3)), "text"])
    assert [type(p) for p in params] == [nn.Parameter, nn.Parameter, str]
    params.append(W.ones(1))
    assert len(params) == 4 and list(params.state_dict()) == ["0", "1", "3"] and len(params[:2]) == 2
    d = nn.ParameterDict({"b": W.ones(1), "a": W.ones(2)})
    assert list(d) == ["a", "b"] and isinstance(d["a"], nn.Parameter)
    d["c"] = W.zeros(1)
    assert d.pop("a").shape == (2,) and list(d.keys()) == ["b", "c"] and "c" in d
    assert list((d | {"z": W.ones(1)}).keys()) == ["b", "c", "z"]
    assert d.popitem()[0] == "c" and d.get("q") is None
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        params()


PRINTED = {
    "nested": lambda nn, torch: nn.Sequential(
        nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Sequential(nn.ReLU(True))]), nn.ModuleDict({"a": nn.GELU()})
    ),
    "empty": lambda nn, torch: nn.Sequential(nn.ModuleList(), nn.Sequential(), nn.Module()),
    "parameters": lambda nn, torch: nn.Sequential(
        nn.ParameterList([torch.ones(2, 3), "x"]), nn.ParameterDict({"k": torch.ones(2), "n": None})
    ),
    "none": lambda nn, torch: nn.Sequential(OrderedDict(a=nn.ReLU())),
    "a kernel of one size": lambda nn, torch: nn.Sequential(nn.Conv2d(2, 3, (2,)), nn.ConvTranspose2d(2, 3, 2, 1, 1)),
}


@pytest.mark.parametrize("name", PRINTED)
def test_printing_beside_torch(name: str, torch: Any) -> None:
    assert repr(PRINTED[name](nn, W)) == repr(PRINTED[name](torch.nn, torch))


def test_attributes_beside_torch(torch: Any) -> None:
    """What PyTorch's Module has, ours has."""
    theirs = {n for n in dir(torch.nn.Module) if not n.startswith("__")}
    absent = {"_slow_forward", "_compiled_call_impl", "_maybe_warn_non_full_backward_hook", "T_destination"}
    assert sorted(theirs - set(dir(nn.Module)) - absent) == []
    spaces = set(vars(torch.nn.ReLU()))
    assert set(vars(nn.ReLU())) == spaces


MISTAKES = {
    "buffer": lambda nn, torch: nn.Linear(1, 1).register_buffer("weight", torch.ones(1)),
    "buffer type": lambda nn, torch: nn.Module().register_buffer("weight", [1]),
    "parameter type": lambda nn, torch: nn.Module().register_parameter("weight", torch.ones(1)),
    "module type": lambda nn, torch: nn.Sequential(1),
    "dropout": lambda nn, torch: nn.Dropout(2),
    "embedding": lambda nn, torch: nn.Embedding(3, 4, padding_idx=3),
    "groups": lambda nn, torch: nn.Conv2d(3, 4, 1, groups=2),
    "padding mode": lambda nn, torch: nn.ConvTranspose2d(3, 4, 1, padding_mode="reflect"),
    "heads": lambda nn, torch: nn.MultiheadAttention(5, 2),
    "norm dims": lambda nn, torch: nn.BatchNorm2d(3)(torch.ones(2, 3)),
    "group norm": lambda nn, torch: nn.GroupNorm(2, 3),
    "rnn dropout": lambda nn, torch: nn.LSTM(1, 1, dropout=2),
    "rnn mode": lambda nn, torch: nn.RNN(1, 1, nonlinearity="sin"),
    "rnn input": lambda nn, torch: nn.LSTM(2, 3)(torch.ones(1, 1, 3)),
    "rnn dims": lambda nn, torch: nn.GRU(2, 3)(torch.ones(2)),
    "rnn state": lambda nn, torch: nn.GRU(2, 3)(torch.ones(1, 1, 2), torch.ones(1, 2, 3)),
    "rnn state dims": lambda nn, torch: nn.LSTM(2, 3)(torch.ones(1, 1, 2), (torch.ones(1, 3), torch.ones(1, 3))),
    "rnn dtype": lambda nn, torch: nn.GRU(2, 3)(torch.ones(1, 1, 2).double()),
    "proj": lambda nn, torch: nn.GRU(2, 3, proj_size=1),
    "cell": lambda nn, torch: nn.LSTMCell(2, 3)(torch.ones(1, 1, 2)),
    "unflatten": lambda nn, torch: nn.Unflatten(1, (2, "a")),
    "margin": lambda nn, torch: nn.TripletMarginLoss(margin=-1),
    "cutoffs": lambda nn, torch: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]),
    "list extend": lambda nn, torch: nn.ModuleList().extend(3),
    "dict update": lambda nn, torch: nn.ModuleDict([("a",)]),
    "key": lambda nn, torch: nn.ParameterDict({1: torch.ones(1)}),
    "output size": lambda nn, torch: nn.ConvTranspose1d(1, 1, 3, 2)(torch.ones(1, 1, 4), output_size=[30]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_messages_beside_torch(name: str, torch: Any) -> None:
    with pytest.raises(Exception) as theirs:
        MISTAKES[name](torch.nn, torch)
    with pytest.raises(theirs.type) as ours:
        MISTAKES[name](nn, W)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


def test_array_shapes_are_kept_by_numpy() -> None:
    layer = nn.Linear(2, 3)
    assert np.asarray(layer.weight.detach()).shape == (3, 2)
