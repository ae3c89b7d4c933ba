"""What pure-Python libraries for PyTorch rely on, each reduced to the behaviour of PyTorch that was missing."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert
from wengert import nn


# ---------------------------------------------------------------------------------------------------------------- hooks
def test_hooks_on_one_tensor_share_the_gradient_object() -> None:
    """captum's LRP leaves a note on the gradient in one hook and looks for it in the next."""
    seen: list[Any] = []
    x = wengert.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: setattr(g, "note", 1))
    y.register_hook(lambda g: seen.append(hasattr(g, "note")) or g * 3)
    y.register_hook(lambda g: seen.append(hasattr(g, "note")))

    def give_other_elements(g: Any) -> None:
        g.data = wengert.full((3,), 7.0)

    y.register_hook(give_other_elements)
    y.sum().backward()
    assert seen == [True, False] and x.grad.tolist() == [14.0] * 3


@pytest.mark.parametrize("register", ["register_prehook", "register_hook"])
def test_hooks_on_one_node_share_the_gradient_objects(register: str) -> None:
    seen = []
    y = wengert.ones(3, requires_grad=True) * 2
    getattr(y.grad_fn, register)(lambda grads, *rest: setattr(grads[0], "note", 1))
    getattr(y.grad_fn, register)(lambda grads, *rest: seen.append(hasattr(grads[0], "note")))
    y.sum().backward()
    assert seen == [True]


# ------------------------------------------------------------------------------------------------------------- indexing
def test_masks_and_indices_give_contiguous_results() -> None:
    """PyTorch Geometric takes ``edge_index[:, mask].view(-1)``."""
    x = wengert.arange(24).view(2, 3, 4)
    mask, at = wengert.tensor([True, False, True]), wengert.tensor([0, 2])
    assert x[:, mask].stride() == (8, 4, 1) and x[:, mask].view(-1).shape == (16,)
    assert x[:, mask, at].stride() == (2, 1)
    assert x.permute(2, 0, 1)[:, wengert.tensor([1, 0])].stride() == (1, 4, 8)
    assert x[0].t()[:, at].stride() == (2, 1)


def test_layout_of_indexed_tensors(torch: Any) -> None:
    def strides(lib: Any) -> list[Any]:
        found = []
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1)):
            x = lib.arange(24).view(2, 3, 4).permute(order)
            for d in range(3):
                before = (slice(None),) * d
                for key in (lib.arange(x.shape[d]) % 3 != 1, lib.tensor([0, 1, 0]), lib.tensor([[0], [1]])):
                    r = x[(*before, key)]
                    sizes = tuple(r.shape)
                    found.append((sizes, [s for s, n in zip(r.stride(), sizes, strict=True) if n > 1]))
        return found

    assert strides(wengert) == strides(torch)


# ----------------------------------------------------------------------------------------------------- clamp, bfloat16
def test_clamp_takes_a_number_beside_a_tensor_without_dimensions() -> None:
    x = wengert.tensor([-1.0, 0.5, 3.0], requires_grad=True)
    y = wengert.clamp(x, 0, wengert.tensor(1.0))
    y.sum().backward()
    assert y.tolist() == [0.0, 0.5, 1.0] and x.grad.tolist() == [0.0, 1.0, 0.0]
    assert wengert.ones(2).clamp_(wengert.tensor(2.0), 3).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        wengert.clamp(x, 0, wengert.ones(3))
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        wengert.clamp(x, 0, wengert.tensor(1.0, requires_grad=True))


def _rounded(values: Any) -> Any:
    return wengert.tensor(np.asarray(values, np.float32)).bfloat16().tolist()


def test_bfloat16_is_rounded_once() -> None:
    """Muon's Newton-Schulz steps: numbers and sums of products are not rounded on the way."""
    pytest.importorskip("ml_dtypes")
    wengert.manual_seed(0)
    x = wengert.randn(8, 8).bfloat16()
    a, k = x.float().numpy(), np.float32(1.7)
    assert (x * 1.7).tolist() == _rounded(a * k) == (x * wengert.tensor(1.7)).tolist() == x.clone().mul_(1.7).tolist()
    assert (x / 1.7).tolist() == _rounded(a / k)
    assert (1.7 * x).tolist() == _rounded(k * a)
    k_rounded = np.float32(wengert.tensor(1.7).bfloat16().item())
    assert wengert.add(x, x, alpha=1.7).tolist() == _rounded(a + k_rounded * a)
    assert (1.7 - x).tolist() == _rounded(k_rounded - a)
    half = np.float32(0.5)
    assert wengert.addmm(x, x, x, beta=0.5, alpha=1.7).tolist() == _rounded(half * a + k * (a @ a))


def test_bfloat16_as_torch(torch: Any) -> None:
    pytest.importorskip("ml_dtypes")

    def run(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        x, y = lib.randn(6, 6).bfloat16(), lib.randn(6, 6).bfloat16()
        found = [x * 1.7, x / 1.7, 1.7 / x, x + 1.7, 1.7 - x, lib.add(x, y, alpha=1.7), lib.sub(x, y, alpha=0.3)]
        found += [lib.lerp(x, y, 0.3), lib.addmm(x, x, y), lib.addmm(x, x, y, beta=0.3, alpha=1.7), x.clone().mul_(0.3)]
        return [t.float().tolist() for t in found]

    for ours, theirs in zip(run(wengert), run(torch), strict=True):
        assert ours == theirs


# ------------------------------------------------------------------------------------------------------------ recurrent
def test_flat_weights_of_recurrent_layers_can_be_set() -> None:
    """higher gives LSTMs other weights by this list; so do programs that drop connections of the hidden state."""
    layer = nn.RNN(2, 2)
    x = wengert.ones(3, 1, 2)
    zeros = [wengert.zeros_like(w, requires_grad=True) for w in layer._flat_weights]
    layer._flat_weights = zeros
    out, _ = layer(x)
    assert out.abs().sum() == 0 and layer._flat_weights[0] is zeros[0]
    out.sum().backward()
    assert zeros[0].grad is not None and layer.weight_ih_l0.grad is None
    for name in layer._flat_weights_names:
        setattr(layer, name, getattr(layer, name))
    assert layer(x)[0].abs().sum() > 0


# ------------------------------------------------------------------------------------------------------------- storages
def test_size_of_a_storage_counts_its_memory() -> None:
    """torchinfo's input size is ``sys.getsizeof(x.untyped_storage())``."""
    small, large = wengert.zeros(1).untyped_storage(), wengert.zeros(1001).untyped_storage()
    assert sys.getsizeof(large) - sys.getsizeof(small) == 4000


def test_storage_from_file(tmp_path: Path) -> None:
    """The way in which the safetensors package reads for PyTorch."""
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    storage = wengert.UntypedStorage.from_file(str(path), False, 16)
    assert storage.nbytes() == 16 and storage[3] == 3
    words = wengert.asarray(storage[4:12], dtype=wengert.uint8).view(wengert.int32)
    assert words.tolist() == list(np.arange(4, 12, dtype="u1").view("<i4"))
    words[0] = 0
    assert storage[4] == 0 and path.read_bytes()[4] == 4
    wengert.UntypedStorage.from_file(str(path), shared=True, nbytes=16)[0] = 9
    assert path.read_bytes()[0] == 9
    with pytest.raises(RuntimeError, match="smaller than the required mapping size <17>"):
        wengert.UntypedStorage.from_file(str(path), False, 17)


# ------------------------------------------------------------------------------------------------ private names
def test_private_operators() -> None:
    rows, columns = wengert.tensor([0, 0, 2, 3, 3]), wengert.arange(5)
    starts = wengert._convert_indices_from_coo_to_csr(rows, 5)
    assert starts.tolist() == [0, 2, 2, 3, 5, 5]
    assert wengert._convert_indices_from_coo_to_csr(rows, 5, out_int32=True).dtype is wengert.int32
    assert wengert._convert_indices_from_csr_to_coo(starts, columns)[0].tolist() == rows.tolist()
    assert wengert._convert_indices_from_csr_to_coo(starts, columns, transpose=True)[0].tolist() == columns.tolist()
    with pytest.raises(
        NotImplementedError, match="\"convert_indices_from_coo_to_csr_cpu\" not implemented for 'Float'"
    ):
        wengert._convert_indices_from_coo_to_csr(rows.float(), 5)
    with pytest.raises(RuntimeError, match="but got 2 dimensional tensor"):
        wengert._convert_indices_from_coo_to_csr(rows[None], 5)
    assert wengert._shape_as_tensor(wengert.zeros(2, 3)).tolist() == [2, 3]
    wengert._assert_async(wengert.tensor(1))
    with pytest.raises(RuntimeError, match="single nonzero value, but got zero"):
        wengert._assert_async(wengert.tensor(0))
    with pytest.raises(RuntimeError, match="so not"):
        wengert._assert_async(wengert.tensor(False), "so not")
    x = wengert.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    assert x._coalesced_(True).is_coalesced() and not x._coalesced_(False).is_coalesced()
    assert wengert._C._log_api_usage_once("a library") is None


def test_names_of_operators_for_tables() -> None:
    aten = wengert.ops.aten
    assert aten._sparse_addmm.default != aten._sparse_mm_reduce_impl.default
    with pytest.raises(NotImplementedError, match="no public function of this name"):
        aten._sparse_addmm.default(1)
    assert aten._foreach_add([wengert.zeros(1)], 1)[0].item() == 1
    assert not hasattr(aten, "_no_operator")


def test_text_of_tensors_in_parts() -> None:
    from wengert._tensor_str import PRINT_OPTS, _add_suffixes, _tensor_str

    x = wengert.tensor([[0, 1], [2, 3]])
    text = _add_suffixes("Edges(" + _tensor_str(x, 6), ["nnz=2", "sorted"], 6, force_newline=False)
    assert text == "Edges([[0, 1],\n       [2, 3]], nnz=2, sorted)"
    assert _add_suffixes("E([0]", ["a"], 2, force_newline=True) == "E([0],\n  a)"
    try:
        PRINT_OPTS.precision = 2
        assert str(wengert.tensor(1.23456)) == "tensor(1.23)"
        with pytest.raises(AttributeError, match="no print option 'colour'"):
            PRINT_OPTS.colour = 1
    finally:
        wengert.set_printoptions(profile="default")


def test_scatter_and_gather_without_devices() -> None:
    from wengert.nn.parallel import gather, parallel_apply, replicate, scatter
    from wengert.nn.parallel.data_parallel import DataParallel
    from wengert.nn.parallel.scatter_gather import scatter_kwargs

    assert DataParallel is wengert.nn.DataParallel and callable(wengert.nn.parallel.data_parallel)
    assert scatter((1, {"a": [2]}), [0, 1]) == [(1, {"a": [2]})] * 2
    assert scatter_kwargs((1,), {"b": 2}, [0, 1]) == (((1,), (1,)), ({"b": 2}, {"b": 2}))
    assert gather([None, None], "cpu") is None
    x = wengert.ones(2)
    with pytest.raises(ValueError, match="Expected a non cpu device, but got: cpu"):
        scatter(x, ["cpu"])
    with pytest.raises(RuntimeError, match="there is one"):
        scatter([x], [0])
    with pytest.raises(AssertionError, match="Gather function not implemented for CPU tensors"):
        gather([{"a": x}, {"a": x}], "cpu")
    with pytest.raises(AssertionError, match="Broadcast function not implemented"):
        replicate(nn.Linear(1, 1), [0])
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        parallel_apply([nn.Linear(1, 1)], [x])


def test_names_that_are_imported() -> None:
    from wengert._subclasses.fake_tensor import FakeTensor, is_fake
    from wengert.distributed import rpc
    from wengert.fx.experimental.proxy_tensor import get_proxy_mode
    from wengert.hub import _get_torch_home, urlparse
    from wengert.jit.annotations import List, Optional
    from wengert.nn.init import _no_grad_uniform_

    assert not is_fake(wengert.ones(1)) and not isinstance(wengert.ones(1), FakeTensor) and get_proxy_mode() is None
    assert not rpc.is_available() and not hasattr(rpc, "api")
    assert wengert.hub.get_dir().startswith(_get_torch_home()) and urlparse("a://b/c").path == "/c"
    assert List[int] and Optional[int]
    assert 0 <= _no_grad_uniform_(wengert.zeros(1), 0, 1).item() < 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=wengert.jit.TracerWarning)


def test_the_class_of_a_tensor_is_torchs_in_a_run() -> None:
    """opt_einsum looks up the functions of an array's library by where the array's class says that it is from."""
    program = (
        "import wengert; from wengert._cli.run import install_torch_alias as alias; undo = alias(); import torch\n"
        "print(type(torch.ones(1)).__module__); undo(); print(wengert.Tensor.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["torch", "wengert._tensor"]


def test_locals_of_every_frame_of_an_error_can_be_read() -> None:
    """pytest and debuggers read them; once that crashed the interpreter in guards of functions with free variables."""
    program = """if 1:
        import wengert as torch
        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))
        def read(call):
            try:
                call()
            except Exception as error:
                trace = error.__traceback__
                while trace is not None:
                    assert isinstance(dict(trace.tb_frame.f_locals), dict)
                    trace = trace.tb_next
                return type(error).__name__
        x = torch.ones(2, 2)
        calls = [lambda: torch.solve(x, x), lambda: torch.roll(x, "a"), lambda: torch.einsum("ij", x, x)]
        print(*[read(call) for call in calls])
        with Mode():
            print(*[read(call) for call in calls])
    """
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["RuntimeError", "TypeError", "RuntimeError"] * 2


# ---------------------------------------------------------------------------------------------------------- torchvision
def test_an_operator_of_a_file_that_cannot_be_loaded_may_be_given_a_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """torchvision does so when its compiled part is missing; then all but nms, roi_align and their like run."""
    from wengert import library

    monkeypatch.setattr(library, "_REFUSED", [])
    with pytest.raises(RuntimeError, match="operator absent::op does not exist"):
        library.register_fake("absent::op", lambda x: x)
    with pytest.raises(OSError, match=r"^Could not load this library: /absent\.so"):
        wengert.ops.load_library("/absent.so")
    assert library.register_fake("absent::op")(abs) is abs and library.register_fake("absent::op", abs) is abs
    with pytest.raises(AttributeError):
        _ = wengert.ops.absent.op


def test_names_that_libraries_import(torch: Any) -> None:
    """opacus, tensordict, torchmin, torchvision, bayesian_torch and e3nn."""
    names = """
        _C._functorch.is_batchedtensor _custom_ops.custom_op _dynamo.utils.is_compile_supported
        _vmap_internals._vmap ao.quantization.QuantStub autograd.functional._grad_postprocess
        autograd.functional._tuple_postprocess distributed._composable.fsdp.FSDPModule
        distributed._tensor.DTensor distributed._tensor.experimental.implicit_replication
        distributed.fsdp.fully_shard fx.graph_module.GraphModule fx.node.Target fx.proxy.Proxy
        fx._symbolic_trace.is_fx_tracing jit._script_if_tracing jit.annotations.BroadcastingList2
        nn.modules.module._EXTRA_STATE_KEY_SUFFIX onnx.symbolic_helper.parse_args onnx.symbolic_opset11
        quantization.observer.MinMaxObserver quantization.qconfig.QConfig utils.data.dataloader._collate_fn_t
    """
    for dotted in names.split():
        module, _, name = dotted.rpartition(".")
        for lib in ("wengert", "torch"):
            found = __import__(f"{lib}.{module}", fromlist=[name])
            assert hasattr(found, name), (lib, dotted)


def test_private_parts_that_libraries_call(torch: Any) -> None:
    def facts(lib: Any) -> list[Any]:
        from importlib import import_module

        name = lib.__name__
        basis = import_module(f"{name}.autograd.functional")._construct_standard_basis_for
        worker = import_module(f"{name}.utils.data._utils.worker")
        inner = import_module(f"{name}._C._functorch")
        seen: list[Any] = []

        def ask(x: Any) -> Any:
            seen.extend((inner.is_batchedtensor(x), inner.is_gradtrackingtensor(x)))
            if inner.is_functorch_wrapped_tensor(x):
                seen.append(inner.get_unwrapped(x).shape)
            return x.sum()

        lib.vmap(ask)(lib.ones(2, 3))
        ask(lib.ones(1))
        vmapped = import_module(f"{name}._vmap_internals")._vmap(lambda x: x.sum(), 1)(lib.ones(2, 3))
        rows = [t.tolist() for t in basis((lib.ones(2), lib.ones(1, 3)), (2, 3))]
        return [rows, worker._generate_state(123456789012, 3), vmapped.tolist(), [str(s) for s in seen]]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert facts(wengert) == facts(torch)


# -------------------------------------------------------------------------------------------------------------- layouts
def test_converted_expanded_tensors_keep_the_order_of_dims(torch: Any) -> None:
    """torch-struct views a comparison of an expanded mask."""

    def strides(lib: Any) -> list[Any]:
        a = lib.arange(8).view(1, 8).expand(2, 8)
        b = lib.arange(6).view(3, 1, 2).expand(3, 4, 2)
        c = lib.arange(6).view(1, 3, 2).expand(4, 3, 2).transpose(0, 2)
        d = a.float() >= lib.ones(2, 1)
        return [a.float().stride(), a.sin().stride(), b.double().stride(), c.float().stride(), d.stride()]

    assert strides(wengert) == strides(torch)


def test_the_line_search_and_the_random_states_of_a_device_that_is_not_there(torch: Any) -> None:
    """torchmin calls the first; reformer-pytorch, torchattacks and asteroid ask for the others."""

    def facts(lib: Any) -> list[Any]:
        from importlib import import_module

        search = import_module(f"{lib.__name__}.optim.lbfgs")._strong_wolfe

        def objective(x: Any, t: Any, d: Any) -> Any:
            x = (x + t * d).detach().requires_grad_()
            f = (x**4).sum() + x.sum()
            return f.item(), lib.autograd.grad(f, x)[0]

        x = lib.tensor([1.0, -2.0], dtype=lib.float64)
        f, g = objective(x, 0, -x)
        f, g, t, n = search(objective, x, 0.1, -g, f, g, -g.dot(g), max_ls=8)
        return [round(float(f), 10), [round(v, 8) for v in g.tolist()], round(float(t), 10), n,
                lib.cuda._initialized, lib.cuda.random.manual_seed(3), lib._C._is_tracing()]  # fmt: skip

    assert facts(wengert) == facts(torch)
