"""What stands for the parts of PyTorch that are not there: the answers and errors of PyTorch's CPU build."""

from __future__ import annotations

import copy
import hashlib
import http.server
import importlib
import importlib.util
import re
import subprocess
import sys
import threading
import urllib.error
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wengert
from wengert._base import errors


@pytest.fixture(autouse=True)
def _notices_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once in a process is said once in a test."""
    monkeypatch.setattr(errors, "warned", set())


def outcome(call: Any) -> tuple[Any, ...]:
    """What a call gives: its value, or the error's class and first sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ("value", str(call()).replace("wengert.", "torch."))
        except Exception as error:  # noqa: BLE001  what it is, is the question
            return type(error), str(error)


# -------------------------------------------------------------------------------------------------------------- devices
ASKED = [
    "cuda.is_available()", "cuda.device_count()", "cuda.is_initialized()", "cuda.is_bf16_supported()",
    "cuda.current_device()", "cuda.get_device_name()", "cuda.get_device_name(0)", "cuda.get_device_properties(0)",
    "cuda.get_device_capability()", "cuda.init()", "cuda.synchronize()", "cuda.empty_cache()", "cuda.manual_seed(1)",
    "cuda.manual_seed_all(1)", "cuda.seed()", "cuda.memory_allocated()", "cuda.max_memory_allocated()",
    "cuda.memory_reserved()", "cuda.memory_stats()", "cuda.mem_get_info()", "cuda.get_rng_state()",
    "cuda.get_rng_state_all()", "cuda.set_rng_state_all([])", "cuda.current_stream()", "cuda.default_stream()",
    "cuda.initial_seed()", "cuda.get_arch_list()", "cuda.ipc_collect()", "cuda.device(-1).__enter__()",
    "cuda.device(0).__enter__()", "cuda.FloatTensor(2)", "isinstance(ones(1), cuda.FloatTensor)",
    "cuda.nvtx.range_push('a')", "cuda.CUDAGraph()", "cuda.has_half", "cuda.default_generators",
    "xpu.is_available()", "xpu.device_count()", "xpu.current_device()", "xpu.synchronize()", "xpu.empty_cache()",
    "mps.is_available()", "mps.device_count()", "mps.empty_cache()", "mps.synchronize()", "mps.manual_seed(1)",
    "mtia.is_available()", "cpu.is_available()", "cpu.device_count()", "cpu.current_device()", "cpu.synchronize()",
    "accelerator.is_available()", "accelerator.current_accelerator()", "accelerator.device_count()",
    "accelerator.synchronize()", "get_device_module('cpu').__name__", "get_device_module('cuda').__name__",
    "backends.mps.is_available()", "backends.mps.is_built()", "backends.cuda.is_built()",
    "backends.cudnn.is_available()", "backends.cudnn.version()", "backends.cudnn.benchmark",
    "backends.cudnn.deterministic", "backends.cudnn.enabled", "backends.cudnn.allow_tf32",
    "backends.cuda.matmul.allow_tf32", "backends.cuda.flash_sdp_enabled()", "backends.mha.get_fastpath_enabled()",
    "backends.cusparselt.is_available()", "version.cuda", "version.hip", "version.debug",
    "compiler.is_compiling()", "compiler.is_exporting()", "_dynamo.is_compiling()", "jit.is_scripting()",
    "jit.is_tracing()", "onnx.is_in_onnx_export()", "is_autocast_enabled()", "is_autocast_enabled('cpu')",
    "get_autocast_dtype('cpu')", "get_autocast_dtype('cuda')", "get_autocast_gpu_dtype()", "is_autocast_cpu_enabled()",
    "is_autocast_cache_enabled()", "amp.is_autocast_available('cpu')", "amp.autocast(3)", "amp.autocast('abc')",
    "amp.GradScaler().is_enabled()", "amp.GradScaler().get_scale()", "amp.GradScaler().state_dict()",
    "amp.GradScaler('cpu').state_dict()", "amp.GradScaler('cpu', growth_factor=1.0)", "FloatStorage",
    "FloatStorage([1, 2]).tolist()", "jit.annotate(int, 3)",
]  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_answers_are_torchs(torch: ModuleType, question: str) -> None:
    importlib.import_module("torch._dynamo")
    words = re.findall(r"[a-zA-Z_]\w*", question)
    found = [
        outcome(lambda lib=lib: eval(question, {w: getattr(lib, w) for w in words if hasattr(lib, w)}))
        for lib in (wengert, torch)
    ]
    assert found[0] == found[1]


def test_without_torch() -> None:
    assert not wengert.cuda.is_available() and wengert.cuda.device_count() == 0
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled") as error:
        wengert.cuda.current_device()
    assert any("What to do" in note for note in error.value.__notes__)
    mpi = importlib.util.find_spec("mpi4py") is not None
    assert wengert.distributed.is_available() is mpi and wengert.distributed.is_initialized() is False
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        wengert.distributed.get_rank()
    with pytest.raises(RuntimeError, match=r"torch\.onnx\.export: the model is a NoneType"):
        wengert.onnx.export(None, None, "x")
    with pytest.raises(RuntimeError, match="without CUDA support"), wengert.cuda.device(0):
        pass
    with wengert.cuda.device(None), wengert.cuda.stream(None), wengert.cuda.device_of(wengert.ones(1)):
        pass
    with pytest.raises(TypeError, match=r"type torch.cuda.FloatTensor not available"):
        wengert.cuda.FloatTensor(3)


def test_switches_can_be_set_and_are_put_back() -> None:
    cudnn = wengert.backends.cudnn
    cudnn.benchmark = True
    with cudnn.flags(enabled=False, deterministic=True):
        assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (False, False, True)
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, True, False)
    assert cudnn.set_flags(_benchmark=False)[:2] == (True, True) and cudnn.benchmark is False
    wengert.backends.cuda.matmul.allow_tf32 = True
    with wengert.backends.cuda.sdp_kernel(enable_flash=False):
        assert not wengert.backends.cuda.flash_sdp_enabled()
    assert wengert.backends.cuda.flash_sdp_enabled()
    wengert.backends.cuda.matmul.allow_tf32 = False


# ------------------------------------------------------------------------------------------------------------- autocast
def test_autocast_for_a_gpu_disables_itself(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        with pytest.warns(UserWarning, match="CUDA is not available or torch_xla is imported. Disabling autocast."):
            region = lib.autocast("cuda")
        with region:
            assert not lib.is_autocast_enabled() and lib.mm(lib.eye(2), lib.eye(2)).dtype is lib.float32
        with pytest.warns(FutureWarning, match=r"`torch.cuda.amp.autocast\(args...\)` is deprecated"):
            lib.cuda.amp.autocast(enabled=False)
        with pytest.warns(UserWarning, match="the target dtype is not supported. Disabling autocast"):
            assert lib.autocast("cpu", dtype=lib.float64)._enabled is False


def test_autocast_for_the_cpu_narrows_products_and_widens_losses() -> None:
    pytest.importorskip("ml_dtypes")
    x = wengert.tensor([[1.0 + 2**-12, 2.0]])  # the first is 1 in bfloat16
    weight = wengert.tensor([[1.0, 0.0]], requires_grad=True)

    @wengert.autocast("cpu")
    def product() -> Any:
        assert wengert.is_autocast_enabled("cpu") and wengert.get_autocast_dtype("cpu") is wengert.bfloat16
        with wengert.autocast("cpu", enabled=False):
            assert not wengert.is_autocast_enabled("cpu")
            assert (x @ x.T).dtype is wengert.float32 and (x @ weight.T).item() == 1.0 + 2**-12
        return wengert.nn.functional.linear(x, weight)

    y = product()
    assert y.dtype is wengert.bfloat16 and y.item() == 1.0
    with wengert.autocast("cpu"):
        loss = wengert.nn.functional.mse_loss(y, y * 2)
        assert loss.dtype is wengert.float32 and (y + x).dtype is wengert.float32
    loss.backward()
    assert weight.grad.dtype is wengert.float32 and weight.grad.tolist() == [[2.0, 4.0]]
    assert (x @ x.T).dtype is wengert.float32 and not wengert.is_autocast_enabled("cpu")


def test_autocast_gives_torchs_digits(torch: ModuleType) -> None:
    pytest.importorskip("ml_dtypes")

    def steps(lib: Any) -> list[Any]:
        nn, F = lib.nn, lib.nn.functional
        lib.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
        attention = nn.MultiheadAttention(8, 2, batch_first=True)
        optimizer = lib.optim.SGD([*model.parameters(), *attention.parameters()], lr=0.1)
        x, y, found = lib.randn(5, 6), lib.tensor([0, 1, 2, 0, 1]), []
        for _ in range(3):
            with lib.autocast("cpu", dtype=lib.bfloat16):
                h = model[:4](x)
                h = h + attention(h[None], h[None], h[None])[0][0]
                out = model[4:](h)
                loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found += [str(h.dtype), str(out.dtype), str(loss.dtype), round(loss.item(), 2)]
        return found

    assert steps(wengert) == steps(torch)


def test_custom_functions_in_a_region() -> None:
    seen = []

    class Twice(wengert.autograd.Function):
        @staticmethod
        @wengert.amp.custom_fwd(device_type="cpu", cast_inputs=wengert.float16)
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((x.dtype, wengert.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @wengert.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = wengert.ones(1, requires_grad=True)
    Twice.apply(x).backward()
    with wengert.autocast("cpu", dtype=wengert.float16):
        Twice.apply(x)
    assert seen == [(wengert.float32, False), (wengert.float16, False)] and x.grad.tolist() == [2.0]


def trained(lib: Any) -> list[Any]:
    """A few steps with a scaler, one of which is left out, and what it knows after each."""
    weight = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    optimizer = lib.optim.SGD([weight], lr=0.1)
    scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    history = []
    for step in range(5):
        optimizer.zero_grad()
        loss = (weight * weight).sum() * (float("inf") if step == 2 else 1.0)
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        history.append((weight.tolist(), scaler.get_scale(), scaler.state_dict()))
    other = lib.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    return [history, other.get_scale(), [t.tolist() for t in scaler.scale([lib.ones(1), lib.ones(2)])]]


def test_scaler_is_torchs(torch: ModuleType) -> None:
    assert trained(wengert) == trained(torch)


def test_scaler_leaves_out_a_step_that_is_not_finite() -> None:
    history = trained(wengert)[0]
    assert history[2][0] == history[1][0] and history[2][1] == history[1][1] / 2
    assert history[1][1] == 16.0  # two good steps made it grow


def test_errors_of_the_scaler(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.1)
        scaler = lib.amp.GradScaler("cpu")
        with pytest.raises(AssertionError, match="Attempted step but _scale is None"):
            scaler.step(optimizer)
        scaler.scale(optimizer.param_groups[0]["params"][0].sum()).backward()
        with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
            scaler.update()
        scaler.unscale_(optimizer)
        with pytest.raises(RuntimeError, match="already been called on this optimizer since the last update"):
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update"):
            scaler.step(optimizer)
        scaler.update(2.0)
        assert scaler.get_scale() == 2.0
        with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
            disabled = lib.amp.GradScaler()
        assert disabled.scale(3) == 3 and disabled.state_dict() == {}


# --------------------------------------------------------------------------------------------------- compile and script
def test_compile_gives_a_function_that_looks_like_the_given_one() -> None:
    def double(x: Any) -> Any:
        return x + x

    x = wengert.ones(2)
    module = wengert.nn.Linear(1, 1)
    module.compile()
    assert wengert.compile(module, disable=True) is module
    for made in (
        wengert.compile(double), wengert.compile(mode="reduce-overhead")(double), wengert.compiler.disable(double),
        wengert.compiler.disable(recursive=False)(double), wengert._dynamo.optimize("inductor")(double),
    ):  # fmt: skip
        assert made is not double and made.__name__ == "double" and made(x).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        wengert.compile(double, mode="default", options={})


def test_a_compiled_module_stands_around_the_module(torch: Any) -> None:
    def facts(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        inner = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Dropout())
        seen: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m = lib.compile(inner, backend="eager")
        found = [repr(m), list(m.state_dict()), [name for name, _ in m.named_modules()], len(m), m._orig_mod is inner]
        m.eval()
        found += [inner.training, m.training, m.train().training, inner.training]
        m.tag = 5
        found += [inner.tag, "tag" in vars(m), "tag" in dir(m), isinstance(m, lib._dynamo.OptimizedModule)]
        del m.tag
        found += [hasattr(inner, "tag"), isinstance(m, lib.nn.Sequential), list(copy.deepcopy(m).state_dict())]
        inner.register_forward_hook(lambda *_: seen.append("inner"))
        m.register_forward_hook(lambda *_: seen.append("outer"))
        m.extra = lib.nn.Linear(2, 1)
        return [*found, m.eval()(lib.ones(1, 2)).shape, seen, list(inner._modules), m.double() is m]

    assert facts(wengert) == facts(torch)


def test_swapped_tensors_and_settings_of_conversion(torch: Any) -> None:
    def facts(lib: Any) -> list[Any]:
        p, q = lib.nn.Parameter(lib.ones(2)), lib.zeros(3)
        p.note = 1
        lib.utils.swap_tensors(p, q)
        (q * 3).sum().backward()
        found = [p.tolist(), type(p).__name__, q.tolist(), type(q).__name__, q.note, q.grad.tolist(), p.requires_grad]
        layer = lib.nn.Linear(2, 2)
        layer(lib.ones(1, 2)).sum().backward()
        old = layer.weight
        lib.__future__.set_overwrite_module_params_on_conversion(True)
        layer.double()
        found += [layer.weight is old, str(old.dtype), str(layer.weight.dtype), str(layer.weight.grad.dtype)]
        lib.__future__.set_swap_module_params_on_conversion(True)
        old = layer.weight
        layer.float()
        lib.__future__.set_overwrite_module_params_on_conversion(False)
        lib.__future__.set_swap_module_params_on_conversion(False)
        return [*found, layer.weight is old, str(old.dtype)]

    assert facts(wengert) == facts(torch)


def test_script_gives_the_function_itself() -> None:
    with pytest.warns(UserWarning, match=r"torch.jit: wengert has no TorchScript"):

        @wengert.jit.script
        def double(x: Any) -> Any:
            return x + x

    module = wengert.nn.Linear(1, 1).eval()
    assert wengert.jit.freeze(module) is module
    assert double(wengert.ones(1)).item() == 2 and wengert.jit.ignore(double) is double
    assert wengert.jit.unused(double) is double and wengert.jit.ignore(drop=True)(double) is double
    assert wengert.jit.isinstance([1], list[int]) and not wengert.jit.isinstance(1, (str, dict))
    assert wengert.jit.wait(wengert.jit.fork(double, wengert.ones(1))).item() == 2
    with pytest.raises(RuntimeError, match="wengert has no TorchScript"):
        wengert.jit.save(module, "x.pt")
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        wengert.jit.freeze(module.train())


# ------------------------------------------------------------------------------------------------------------------ hub
def test_hub_fetches_weights_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    source = tmp_path / "source.pt"
    wengert.save({"w": wengert.ones(2)}, source)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    named = source.rename(tmp_path / f"model-{digest[:8]}.pt")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    hub = wengert.hub
    assert hub.get_dir() == str(tmp_path / "home" / "hub")
    for _ in range(2):
        assert hub.load_state_dict_from_url(named.as_uri(), check_hash=True)["w"].tolist() == [1, 1]
    assert capsys.readouterr().err.count("Downloading") == 1
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.download_url_to_file(named.as_uri(), str(tmp_path / "x.pt"), "0000")
    assert not (tmp_path / "x.pt").exists()


class _CutOff(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(bytes(50))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_hub_keeps_no_download_that_was_cut_off(tmp_path: Path) -> None:
    """It would be taken for the whole file by every later call."""
    with http.server.HTTPServer(("127.0.0.1", 0), _CutOff) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(urllib.error.ContentTooShortError, match="got only 50 out of 100 bytes"):
            wengert.hub.load_state_dict_from_url(f"http://127.0.0.1:{server.server_port}/a.pth", str(tmp_path))
        thread.join()
    assert not list(tmp_path.iterdir())


def test_hub_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("SIZE = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['json']\ndef model(scale=1):\n    'A model.'\n"
        "    from helper import SIZE\n    return SIZE * scale\n"
    )
    hub = wengert.hub
    assert hub.list(tmp_path, source="local") == ["model"] and hub.help(tmp_path, "model", source="local") == "A model."
    sys.path.insert(0, str(tmp_path))
    try:
        assert hub.load(str(tmp_path), "model", source="local", scale=2) == 6
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("helper", None)
    with pytest.raises(RuntimeError, match="Cannot find callable none in hubconf"):
        hub.load(tmp_path, "none", source="local")
    with pytest.raises(RuntimeError, match="does not fetch code from the network"):
        hub.load("pytorch/vision", "resnet18")


# -------------------------------------------------------------------------------------------------------------- version
def test_version_is_one_that_programs_can_branch_on() -> None:
    version = wengert.__version__
    assert isinstance(version, str) and version >= "2.0" and version >= "2.9" and version < "3" and version != "2.13"
    assert version > (1, 13) and version >= (2, 13) and not version < "2.13.0"
    assert tuple(map(int, version.split(".")[:2])) == (2, 13) and version.split("+")[0] == "2.13.0"
    assert version.endswith(f"+wengert.{wengert.version.wengert}") and hash(version) == hash(str(version))
    packaging = pytest.importorskip("packaging.version")
    assert packaging.parse(version) >= packaging.parse("2.13") and version >= packaging.Version("2.0")


@pytest.mark.parametrize("a", ["1.10.0", "1.10.0a", "1.9", "2.0.1+cpu", "2.13.0.dev20260101", "parrot", "1.10"])
def test_versions_compare_as_torchs(torch: ModuleType, a: str) -> None:
    theirs = importlib.import_module("torch.torch_version").TorchVersion
    ours = wengert.torch_version.TorchVersion
    for b in ("1.10", "1.9.1", (1, 10), (2,), "2.0.1", "2.0.1+cpu", "2.13.0", "parrot", "zebra"):
        if a == "parrot" and isinstance(b, tuple):  # NotImplemented there
            continue
        for op in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
            assert getattr(ours(a), op)(b) == getattr(theirs(a), op)(b), (a, op, b)


# ---------------------------------------------------------------------------------------------------- what is not there
@pytest.mark.parametrize("name", ["package"])
def test_what_is_not_there_says_so(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"import torch.{name}\n")
    command = [sys.executable, "-m", "wengert", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (
        done.returncode == 1 and "ModuleNotFoundError" in done.stderr and "wengert does not have torch." in done.stderr
    )


def test_nothing_of_it_is_imported_at_the_start() -> None:
    program = "import wengert, sys; print([m for m in sys.modules if m.startswith('wengert.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout
    for name in ("cuda", "amp", "jit", "compiler", "hub", "serialization", "_saving", "testing", "backends", "nn"):
        assert f"'wengert.{name}'" not in loaded


def test_futures() -> None:
    f = wengert.futures.Future()
    g, seen = f.then(lambda done: done.value() * 2), []
    f.add_done_callback(seen.append)
    with pytest.raises(RuntimeError, match="not done"):
        f.value()
    both = wengert.futures.collect_all([f, g])
    assert not both.done()
    f.set_result(21)
    assert (g.wait(), seen, wengert.futures.wait_all([f, g])) == (42, [f], [21, 42])
    assert [x.value() for x in both.wait()] == [21, 42]
    with pytest.raises(RuntimeError, match="already marked as completed"):
        f.set_result(1)
    failed = wengert.futures.Future()
    after = failed.then(lambda done: done.value())
    failed.set_exception(KeyError("no"))
    with pytest.raises(KeyError):
        after.wait()


def test_config() -> None:
    assert "NumPy" in wengert.__config__.show()
    assert f"get_num_threads() : {wengert.get_num_threads()}" in wengert.__config__.parallel_info()


def test_what_libraries_ask_the_compiled_part() -> None:
    assert wengert._C._get_tracing_state() is None
    assert not wengert._C._are_functorch_transforms_active()
    seen = []
    wengert.func.vmap(lambda x: (seen.append(wengert._C._are_functorch_transforms_active()), x)[1])(wengert.ones(2))
    assert seen == [True]
    assert wengert._C._jit_set_profiling_mode(False) is None
    assert wengert._C._get_default_device() == "cpu"


def test_torch_has_its_name_when_programs_run(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    source = "import torch, torch.nn; print(torch.__name__, torch.torch is torch, hasattr(torch, 'no_such'))\n"
    program.write_text(source)
    command = [sys.executable, "-m", "wengert", "run", str(program)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "torch True False\n"


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_layers_in_a_region(torch: ModuleType, kind: str) -> None:
    pytest.importorskip("ml_dtypes")

    def found(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        layer, before = getattr(lib.nn, kind)(3, 2), lib.nn.Linear(3, 3)
        x = lib.randn(2, 3) if kind.endswith("Cell") else lib.randn(4, 2, 3)
        with lib.autocast("cpu", dtype=lib.bfloat16):
            outs = [layer(x), layer(before(x))]
        outs = [out[0] if isinstance(out, tuple) else out for out in outs]
        sum(out.float().sum() for out in outs).backward()
        return [[(str(out.dtype), round(out.float().sum().item(), 1)) for out in outs], str(layer.weight_ih.grad.dtype)
                if kind.endswith("Cell") else str(layer.weight_ih_l0.grad.dtype)]  # fmt: skip

    ours = found(wengert)
    try:
        theirs = found(torch)
    except RuntimeError as error:  # oneDNN has its LSTM in bfloat16 for some processors only
        if "could not create a primitive" not in str(error):
            raise
        pytest.skip("torch itself cannot, on this processor")
    assert ours == theirs
