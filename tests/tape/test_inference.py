"""Tensors of inference mode: what may be done with them outside of it; and `Tensor.grad_dtype`."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert._base.modes import slow_if_recording

SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"


def made(*values: float) -> T.Tensor:
    with T.inference_mode():
        return T.tensor(values)


WRITES: dict[str, Callable[[Any], Any]] = {
    "add_": lambda t: t.add_(1),
    "exp_": lambda t: t.exp_(),
    "+=": lambda t: t.__iadd__(T.ones(2)),
    "addcmul_": lambda t: t.addcmul_(T.ones(2), T.ones(2)),
    "index": lambda t: t.__setitem__(0, 5.0),
    "slice": lambda t: t[:1].fill_(7.0),
    "a view": lambda t: t.view(2, 1).mul_(2),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(3.0),
    "copy_": lambda t: t.copy_(T.ones(2)),
    "normal_": lambda t: t.normal_(),
    "out": lambda t: T.add(T.ones(2), 1, out=t),
    "index_add_": lambda t: t.index_add_(0, T.tensor([0]), T.ones(1)),
    "masked_fill_": lambda t: t.masked_fill_(t > 0, 9.0),
    "resize_": lambda t: t.resize_(3),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
    "one element": lambda t: t[0].add_(1),
}


@pytest.mark.parametrize("name", sorted(WRITES))
def test_writes_outside_of_the_mode_are_refused_before_anything_is_written(name: str) -> None:
    t = made(1.0, 2.0)
    for grad in (True, False):
        with T.set_grad_enabled(grad), pytest.raises(RuntimeError, match=WRITTEN):
            WRITES[name](t)
    assert t.tolist() == [1.0, 2.0]
    with T.inference_mode():
        WRITES[name](t)
    assert t.is_inference()
    with pytest.raises(RuntimeError, match=WRITTEN):
        t.zero_()


def test_an_element_of_no_dimensions() -> None:
    with T.inference_mode():
        s = T.ones(3).sum()
        s.mul_(2)
    assert s.item() == 6.0
    with pytest.raises(RuntimeError, match=WRITTEN):
        s.add_(1)


def test_inside_of_the_mode_all_tensors_may_be_written() -> None:
    w = T.ones(2, requires_grad=True)
    plain = T.zeros(2)
    with T.inference_mode():
        w.add_(1)
        plain.add_(w)
        optimizer = T.optim.SGD([T.ones(2, requires_grad=True)], lr=0.1)
        optimizer.step()
        T.nn.init.uniform_(T.empty(3))
    assert w.tolist() == [2.0, 2.0]
    assert plain.add_(1).tolist() == [3.0, 3.0]


def test_numpy_may_write_to_their_memory() -> None:
    t = made(1.0, 2.0)
    t.numpy()[0] = 5
    assert t.tolist() == [5.0, 2.0]
    np.asarray(t)[1] = 6
    assert t.tolist() == [5.0, 6.0]
    a = np.zeros(2)
    with T.inference_mode():
        u = T.from_numpy(a)
    a[0] = 1  # the program's own array stays writable
    assert u.tolist() == [1.0, 0.0]
    assert np.from_dlpack(t).tolist() == [5.0, 6.0]


def test_copies_are_ordinary_tensors() -> None:
    t = made(1.0, 2.0)
    for twin in (t.clone(), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t * 1, t.double()):
        assert not twin.is_inference()
        twin.add_(1)
        assert twin.tolist() == [2.0, 3.0]
    assert t.tolist() == [1.0, 2.0]


def test_views_are_what_their_base_is() -> None:
    t = made(1.0, 2.0)
    assert t[0:1].is_inference()
    assert t.view(1, 2).is_inference()
    assert t.detach().is_inference()
    for u in (t, t.view(1, 2), t[0]):
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            _ = u._version


def test_they_are_refused_when_they_would_be_saved() -> None:
    w = T.ones(2, requires_grad=True)
    t = made(3.0, 4.0)
    i = made(0.0, 1.0)
    with T.inference_mode():
        k = T.tensor([0, 1])
    refused: list[Callable[[], Any]] = [
        lambda: w * t,
        lambda: t * w,
        lambda: w.exp() * t.view(1, 2),
        lambda: w @ t,
        lambda: T.where(t > 0, w * t, w),
        lambda: w.gather(0, k),
        lambda: T.nn.functional.linear(t[None], w[None]),
        lambda: T.lerp(w, t, w),
        lambda: T.stack([w * i, w]),
    ]
    for f in refused:
        with pytest.raises(RuntimeError, match=SAVED):
            f()
    allowed: list[Callable[[], Any]] = [
        lambda: w + t,
        lambda: t - w,
        lambda: T.cat([w, t]),
        lambda: T.where(T.tensor([True, False]), w, t),
        lambda: w * t.clone(),
        lambda: w[T.tensor([0])],
    ]
    for f in allowed:
        f().sum().backward()
    with T.no_grad():
        assert (w * t).tolist() == [3.0, 4.0]
    assert (t * t).tolist() == [9.0, 16.0]


def test_a_custom_function_cannot_save_them() -> None:
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(y)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, None

    with pytest.raises(RuntimeError, match=SAVED):
        Scale.apply(T.ones(1, requires_grad=True), made(1.0))


def test_they_need_no_gradient() -> None:
    t = made(1.0)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        t.requires_grad_()
    with T.inference_mode():
        assert T.ones(1, requires_grad=True).requires_grad
        with T.enable_grad():
            assert not (T.ones(1, requires_grad=True) * 2).requires_grad
        with T.inference_mode(False):
            assert (T.ones(1, requires_grad=True) * 2).requires_grad
            assert not T.ones(1).is_inference()


def test_a_view_made_in_the_mode_has_no_history_and_is_not_written_to() -> None:
    w = T.tensor([1.0, 2.0], requires_grad=True)
    y = w * 3
    with T.inference_mode():
        leaf_view, view = w.view(2, 1), y[:1]
    assert not leaf_view.is_inference()
    assert leaf_view.requires_grad and leaf_view.is_leaf
    (leaf_view * 2).sum().backward()
    assert w.grad is None  # as in PyTorch: the view is a leaf
    for v in (leaf_view, view):
        with pytest.raises(
            RuntimeError, match=r"A view was created in inference mode and is being modified inplace in n"
        ):
            v.add_(1)


def test_when_the_last_one_is_gone_nothing_is_left() -> None:
    gc.collect()
    t = made(1.0)
    u = t.view(1)
    assert len(slow_if_recording) == 1
    del t
    assert len(slow_if_recording) == 1
    del u
    assert slow_if_recording == []


# ----------------------------------------------------------------------------------------------------------- grad_dtype
def test_a_gradient_in_another_dtype() -> None:
    w = T.ones(2, requires_grad=True)
    assert w.grad_dtype is T.float32
    w.grad_dtype = T.float64
    seen = []
    w.register_hook(lambda g: seen.append(g.dtype))
    (w * 2).sum().backward()
    (w * 3).sum().backward()
    assert w.grad.dtype is T.float64
    assert w.grad.tolist() == [5.0, 5.0]
    assert seen == [T.float64] * 2
    (g,) = T.autograd.grad((w * 2).sum(), [w])
    assert g.dtype is T.float64
    with pytest.raises(RuntimeError, match="with dtype 'float' to a tensor with grad_dtype 'Double'"):
        w.grad = T.ones(2)
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Float' because there is already a gradient with"):
        w.grad_dtype = T.float32


def test_any_dtype() -> None:
    w = T.ones(2, requires_grad=True)
    w.grad_dtype = None
    assert w.grad_dtype is None
    w.grad = T.ones(2, dtype=T.float64)
    assert w.grad.dtype is T.float64


def test_a_custom_function_leaves_the_cast_to_the_leaf() -> None:
    class Wide(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.double() + 1e-12

    for wanted, got in ((None, T.float64), (T.float16, T.float16), (T.float32, T.float32)):
        x = T.ones(2, requires_grad=True)
        x.grad_dtype = wanted
        Wide.apply(x).sum().backward()
        assert x.grad.dtype is got
        assert (x.grad.double() == 1).all().item() is (wanted is not None)


def test_grad_dtype_is_of_leaves() -> None:
    w = T.ones(2, requires_grad=True)
    y = w * 2
    with pytest.raises(RuntimeError, match=r"grad_dtype can only be accessed on leaf tensors\."):
        _ = y.grad_dtype
    with pytest.raises(RuntimeError, match=r"grad_dtype can only be set on leaf tensors\."):
        y.grad_dtype = T.float64
    with pytest.raises(RuntimeError, match=r"grad_dtype must be a torch.dtype or None, but got str"):
        w.grad_dtype = "float64"
    assert T.ones(1).grad_dtype is T.float32
    assert copy.deepcopy(w).grad_dtype is T.float32


# ----------------------------------------------------------------------------------------------------------- with torch
LINES = """t.is_inference()
t._version
t.add_(1)
t[0:1].add_(1)
t.view(2)._version
t * 2
(t * 2).is_inference()
w * t
w + t
w.exp() * t
w @ t
torch.where(t > 0, w, w)
w[k]
torch.nn.functional.linear(t[None], torch.ones(1, 2, requires_grad=True))
t.requires_grad_()
t.clone().is_inference()
t.detach().is_inference()
t.numpy()
torch.stack([w, t])
torch.addcmul(w, t, t)
x.is_inference(), x.requires_grad
x.add_(1)
e.requires_grad, e.is_inference()
torch.ones(1).grad_dtype, w.grad_dtype
(w * 2).grad_dtype
setattr(w, 'grad_dtype', 'x')
setattr(w * 2, 'grad_dtype', torch.float64)
setattr(w, 'grad_dtype', torch.float64) or (w * 2).sum().backward() or w.grad
setattr(w, 'grad_dtype', torch.float64) or torch.autograd.grad((w * 3).sum(), w)
setattr(w, 'grad_dtype', torch.float64) or setattr(w, 'grad', torch.ones(2))
setattr(w, 'grad_dtype', None) or w.grad_dtype"""


@pytest.mark.parametrize("line", LINES.splitlines())
def test_same_as_pytorch(torch: Any, line: str) -> None:
    seen = []
    for library in (torch, T):
        w = library.tensor([1.0, 2.0], requires_grad=True)
        with library.inference_mode():
            names = {
                "torch": library,
                "w": w,
                "t": library.tensor([3.0, 4.0]),
                "k": library.tensor([0]),
                "x": w.view(2),
            }
            with library.enable_grad():
                names["e"] = w * 2
        try:
            seen.append(repr(eval(line, names)))
        except Exception as error:  # noqa: BLE001  what it is is compared
            seen.append(f"{type(error).__name__}: {error}")
    assert seen[0] == seen[1]


def test_recording_may_be_on_in_the_mode_which_records_nothing() -> None:
    """As ``torch.is_grad_enabled()`` of PyTorch 2.13 answers; every way to turn recording on, and back."""
    w = T.ones(2, requires_grad=True)
    with T.inference_mode():
        assert not T.is_grad_enabled()
        with T.enable_grad():
            assert T.is_grad_enabled() and T.is_inference_mode_enabled()
            assert not (w * 2).requires_grad
            with T.inference_mode():
                assert not T.is_grad_enabled()
            assert T.is_grad_enabled()
        with T.set_grad_enabled(True):
            assert T.is_grad_enabled() and not (w * 2).requires_grad
        assert not T.is_grad_enabled()
        with T.inference_mode(False):
            assert T.is_grad_enabled() and (w * 2).requires_grad
        T.set_grad_enabled(True)
        assert T._C.is_grad_enabled() and not (w * 2).requires_grad
        with T.no_grad():
            assert not T.is_grad_enabled()
        assert T.is_grad_enabled()
    assert T.is_grad_enabled() and (w * 2).requires_grad
