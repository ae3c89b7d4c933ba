"""The table of the modules that only answer: a row for each, by its name below the package.

A row is what the module is, and what gives it its names; all public ones are in its ``__all__``. A module that is a
file too has a row for its pure answers and takes it by ``open_rows``.
"""

from __future__ import annotations

import builtins
import collections.abc
import math
import os
import queue
import traceback
import typing
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from enum import Enum
from types import SimpleNamespace
from typing import Any

from wengert._base.dtypes import DTYPES
from wengert._base.modes import in_transform

from . import _compilers as compilers
from . import _devices as devices
from . import _imports as imports
from . import _switches as switches
from ._parts import aliases, answers, classes, find, older_amp, own, refusals, values


# ---- common answers
def no() -> bool:
    """False."""
    return False


def none() -> None:
    """``None``: there is none."""


def itself(fn: Any) -> Any:
    """The function itself."""
    return fn


ABSENT, UNTRACED = "There is no such device.", "Nothing is traced."
FUNCTION = "The function itself."
ATTENTION = ("flash", "math", "mem_efficient", "cudnn")
GPU = (  # what CUDA's and XPU's modules say alike
    values(default_generators=(), StreamContext=devices.NoStream), answers("stream", devices.stream),
    answers("is_available is_initialized is_bf16_supported is_tf32_supported", False, ABSENT),
    answers("device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved", 0, ABSENT),
    answers("get_arch_list get_rng_state_all", list, ABSENT), answers("get_gencode_flags", str, ABSENT),
    answers("memory_stats", OrderedDict, ABSENT), answers("memory_stats_as_nested_dict", dict, ABSENT),
    answers("empty_cache manual_seed manual_seed_all seed seed_all", None, ABSENT),
)  # fmt: skip
OUTSIDE = (
    "torch._C._functorch: wengert cannot make a tensor one of a transform's from outside",
    "What to do: let torch.vmap map tensors, not objects that hold tensors.",
)
OBSERVERS = aliases("ao.quantization", "HistogramObserver MinMaxObserver PerChannelMinMaxObserver")

# ---- the rows
# fmt: off
ROWS: dict[str, tuple[Any, ...]] = {
    # devices
    "accelerator": (
        "the device beside the CPU, of which there is none.",
        answers("is_available", False, ABSENT), answers("device_count", 0, ABSENT),
        answers("current_accelerator", lambda check_available=False: None, "``None``: there is the CPU only."),
        answers("get_device_module", devices.get_device_module), classes("Event Stream"),
        refusals(
            "current_device_idx current_device_index current_stream device_index empty_cache get_memory_info "
            "max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats "
            "reset_accumulated_memory_stats reset_peak_memory_stats set_device_idx set_device_index set_stream "
            "synchronize", RuntimeError, "Cannot access accelerator device when none is available."),
    ),
    "cpu": (
        "the device that is there.",
        own(Event=devices.Event, Stream=devices.Stream), values(StreamContext=devices.NoStream),
        answers("is_available is_initialized", True), answers("device_count", 1, "1: all processors are one device."),
        answers("current_device", "cpu"), answers("current_stream", devices.STREAM, "The only one."),
        answers("stream", devices.stream), answers("set_device synchronize", None, "Nothing to do."),
    ),
    "cpu.amp": ('the older names of what ``torch.amp`` has, for "cpu".', older_amp("cpu")),
    "cpu.amp.autocast_mode": ("", aliases("cpu.amp", "autocast")),
    "cpu.amp.grad_scaler": ("", aliases("cpu.amp", "GradScaler")),
    "cuda": (
        """as PyTorch's CPU build answers, on a machine without CUDA.

        >>> import wengert as torch
        >>> torch.cuda.is_available(), torch.cuda.device_count()
        (False, 0)
        >>> torch.cuda.current_device()
        Traceback (most recent call last):
        AssertionError: Torch not compiled with CUDA enabled
        What to do: ...
        """,
        *GPU, values(has_half=True, has_magma=False, _initialized=False),  # the last: to save random states
        answers("memory_cached max_memory_cached", 0, ABSENT), answers("is_current_stream_capturing", no, ABSENT),
        answers("set_rng_state_all", devices.set_rng_state_all),
        classes("device", devices.NoDevice, message="PyTorch was compiled without CUDA support"),
        classes("device_of", "cuda:device", "A context for a tensor's GPU: nothing for one on the CPU.",
                __init__=lambda self, obj: setattr(self, "idx", -1)),
        classes("CudaError", RuntimeError, "An error of the driver, which is never called."),
        classes("DeferredCudaCallError", Exception, "An error of a call that waits for the driver."),
        classes("OutOfMemoryError AcceleratorError", RuntimeError, "An error of a GPU: never, without one."),
        classes("CUDAGraph CUDAPluggableAllocator Event ExternalStream MemPool Stream graph"),
        refusals(
            "cudart current_blas_handle current_device current_stream default_stream get_device_capability "
            "get_device_name get_device_properties get_per_process_memory_fraction get_rng_state "
            "get_stream_from_external get_sync_debug_mode init initial_seed ipc_collect mem_get_info "
            "set_per_process_memory_fraction set_sync_debug_mode synchronize "
            # PyTorch's CPU build has an AttributeError or a worse text here
            "can_device_access_peer caching_allocator_alloc caching_allocator_delete clock_rate "
            "get_allocator_backend graph_pool_handle make_graphed_callables memory_snapshot memory_summary "
            "memory_usage power_draw reset_accumulated_memory_stats reset_max_memory_allocated "
            "reset_max_memory_cached reset_peak_memory_stats set_device set_rng_state set_stream temperature "
            "utilization", AssertionError, "Torch not compiled with CUDA enabled"),
        devices.tensor_types, devices.card,
    ),
    "cuda.amp": ('the older names of what ``torch.amp`` has, for "cuda".', older_amp("cuda")),
    "cuda.amp.autocast_mode": ("", aliases("cuda.amp", "autocast custom_bwd custom_fwd")),
    "cuda.amp.common": ("", answers("amp_definitely_not_available", True, "True: there is no GPU.")),
    "cuda.amp.grad_scaler": ("", aliases("cuda.amp", "GradScaler")),
    "cuda.nvtx": (
        "marks for NVIDIA's profiler, which is not there.", answers("range", devices.range),
        refusals("mark range_end range_pop range_push range_start", RuntimeError, devices.NO_NVTX),
    ),
    "cuda.random": (
        "what ``torch.cuda`` has of random numbers, where libraries look for it.", aliases("cuda",
        "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state")),
    "mps": (
        "as PyTorch answers that was built without it.",
        answers("is_available", False, ABSENT), answers("device_count", 0, ABSENT), classes("Event"),
        answers("manual_seed", None, ABSENT), refusals("compile_shader", RuntimeError, "MPS is not available"),
        *(refusals(names, RuntimeError, f"Cannot execute {call}() without MPS backend.") for names, call in {
            "current_allocated_memory": "getCurrentAllocatedMemory", "synchronize": "deviceSynchronize",
            "driver_allocated_memory": "getDriverAllocatedMemory", "empty_cache": "emptyCache",
            "get_rng_state seed set_rng_state": "getDefaultGenerator",
            "recommended_max_memory": "getRecommendedMaxMemory", "set_per_process_memory_fraction": "setMemoryFraction",
        }.items()),
    ),
    "mtia": (
        "Meta's accelerators, not there.",
        answers("is_available is_initialized", False, ABSENT), answers("device_count", 0, ABSENT),
        answers("manual_seed manual_seed_all", None, ABSENT),
        refusals("current_device current_stream empty_cache init set_device stream synchronize", RuntimeError,
                 "Cannot execute {}() without MTIA backend."),
    ),
    "xpu": (
        "as PyTorch's CPU build answers, on a machine without Intel's GPUs.",
        *GPU, classes("device", devices.NoDevice, message="PyTorch was compiled without XPU support"),
        classes("Event Stream"),
        refusals(
            "current_device current_stream get_device_capability get_device_name get_device_properties get_rng_state "
            "init initial_seed mem_get_info reset_accumulated_memory_stats reset_peak_memory_stats set_device "
            "set_rng_state set_stream synchronize", AssertionError, "Torch not compiled with XPU enabled"),
    ),
    # backends
    "backends": (
        """what PyTorch computes with. Here it is NumPy: the others answer that they are not there.

        Their switches can be set and read, so that programs run; they have nothing to switch.
        """,
        values(fp32_precision="none"), answers("is_vulkan_available", no),
        # names of the package itself, as torch.has_mkl; LAPACK is SciPy's, the Fourier transforms are NumPy's
        values(has_cuda=False, has_cudnn=False, has_mkl=False, has_mkldnn=False, has_mps=False, has_openmp=False),
        values(has_lapack=True, has_spectral=True),
    ),
    "backends.cpu": ("the processor.", answers("get_cpu_capability", lambda: "DEFAULT", "NumPy chooses instructions.")),
    "backends.cuda": (
        "not there. Its switches can be set and read.",
        answers("is_built is_flash_attention_available", no),
        answers("can_use_flash_attention can_use_efficient_attention can_use_cudnn_attention",
                lambda params, debug=False: False, "False."),
        answers("preferred_linalg_library preferred_blas_library", lambda backend=None: "default", "No choice."),
        own(cuBLASModule=switches.cuBLASModule, cuFFTPlanCacheManager=switches.cuFFTPlanCacheManager),
        values(matmul=switches.cuBLASModule(), cufft_plan_cache=switches.cuFFTPlanCacheManager()),
        values(**{f"_{kind}": True for kind in ATTENTION}), answers("sdp_kernel", switches.sdp_kernel),
        *(switches.reading(f"{kind}_sdp_enabled", f"_{kind}") for kind in ATTENTION),
        *(switches.setting(f"enable_{kind}_sdp", f"_{kind}") for kind in ATTENTION),
    ),
    "backends.cudnn": (
        "not there. Its switches can be set and read.",
        values(enabled=True, benchmark=False, benchmark_limit=None, deterministic=False, allow_tf32=True),
        values(fp32_precision="none"), answers("is_available", no), answers("version", none),
        answers("is_acceptable", lambda tensor: False, "False: no tensor is for it."),
        switches.flags(lambda enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
                       fp32_precision="none": locals()),
        switches.set_flags(lambda _enabled=None, _benchmark=None, _benchmark_limit=None, _deterministic=None,
                           _allow_tf32=None, _fp32_precision="none": locals()),
    ),
    "backends.cusparselt": ("not there.", answers("is_available", no), answers("version", none)),
    "backends.mha": (
        "the switch of a second path of ``nn.MultiheadAttention``; here there is one.", values(_enabled=True),
        switches.reading("get_fastpath_enabled", "_enabled"),
        switches.setting("set_fastpath_enabled", "_enabled", lambda value: locals()),
    ),
    "backends.mkl": (
        "Intel's library, which is not what wengert calls.",
        values(VERBOSE_OFF=0, VERBOSE_ON=1), answers("is_available", no),
        classes("verbose", devices.NoContext, __init__=lambda self, enable: setattr(self, "enable", enable)),
    ),
    "backends.mkldnn": (
        "Intel's oneDNN, not there. Its switches can be set and read.", answers("is_available", no),
        values(enabled=True, deterministic=False, allow_tf32=True, fp32_precision="none"),
        aliases("backends.mkl", "VERBOSE_OFF VERBOSE_ON verbose"),
        switches.flags(lambda enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none": locals()),
    ),
    "backends.mps": (
        "Apple's GPUs, not there.",
        answers("is_available is_built", no), answers("is_macos_or_newer", lambda major, minor: False, ABSENT),
        answers("is_macos13_or_newer", lambda minor=0: False, ABSENT),
    ),
    "backends.nnpack": (
        "not there.", values(enabled=False), answers("is_available", no),
        switches.flags(lambda enabled=False: locals()), switches.set_flags(lambda _enabled: locals()),
    ),
    "backends.openmp": ("not what wengert's threads are; see ``torch.set_num_threads``.", answers("is_available", no)),
    "backends.opt_einsum": (
        "the order in which ``einsum`` contracts is its own; the package is not used.",
        values(enabled=False, strategy=None), answers("is_available", no), answers("get_opt_einsum", none),
        switches.flags(lambda enabled=None, strategy=None: locals()),
        switches.set_flags(lambda _enabled=None, _strategy=None: locals()),
    ),
    "backends.quantized": ("there are no quantized tensors.", values(engine="none", supported_engines=["none"])),
    "_six": (
        "what PyTorch 0.4 to 1.13 called what Python 2 and 3 call differently.",
        values(PY2=False, PY3=True, PY37=True, inf=math.inf, nan=math.nan, string_classes=(str, bytes), int_classes=int,
               container_abcs=collections.abc, FileNotFoundError=FileNotFoundError, builtins=builtins, queue=queue),
        answers("istuple", lambda obj: isinstance(obj, tuple), "Whether it is a tuple."),
        answers("with_metaclass", lambda meta, *bases: meta("temporary_class", bases, {}), "A base with a metaclass."),
    ),
    # compiling, tracing, exporting
    "compiler": (
        "", answers("is_exporting", no),
        answers("allow_in_graph assume_constant_result", itself),
        answers("substitute_in_graph", lambda original_fn, **kwargs: itself, "A decorator that changes nothing."),
        answers("cudagraph_mark_step_begin", lambda: None, "Does nothing: there are no CUDA graphs."),
        answers("nested_compile_region", compilers.region),
        answers("save_cache_artifacts", lambda: None, "``None``: programs are no artifacts; C is kept on disk."),
        answers("load_cache_artifacts", lambda serialized_artifacts: None, "``None``: nothing was saved."),
        answers("set_enable_guard_collectives", compilers.set_enable_guard_collectives),
        answers("wrap_numpy", compilers.wrap_numpy), answers("set_default_backend", compilers.set_default_backend),
        answers("get_default_backend", compilers.get_default_backend),
        answers("skip_guard_on_inbuilt_nn_modules_unsafe skip_guard_on_all_nn_modules_unsafe keep_tensor_guards_unsafe "
                "keep_portable_guards_unsafe skip_guard_on_globals_unsafe skip_all_guards_unsafe",
                lambda guard_entries, **kwargs: [True] * len(guard_entries), "Keeps all guards: they cost little."),
        refusals("load_compiled_function", NotImplementedError, "{}: wengert's programs are not saved in files",
                 "What to do: compile the function again; the C is kept on disk."),
        classes("SymInt SymFloat SymBool", object, "A value unknown to a compiler: none is. For annotations."),
    ),
    "_dynamo": (
        "", aliases("compiler", "allow_in_graph assume_constant_result disable is_compiling list_backends reset "
                    "set_stance substitute_in_graph"),
        answers("optimize optimize_assert", lambda backend="inductor", **kwargs:
                find("compiler:compile")(None, backend=backend), "``torch.compile``, a decorator."),
        answers("explain", lambda *args, **kwargs: find("_compile.public:explain")(*args, **kwargs),  # noqa: PLW0108
                "``explain(fn)(*args)``: what of a call is a program, and where it breaks."),
        answers("is_dynamo_supported", lambda: True, "True."),
        answers("run", lambda fn=None: fn, FUNCTION),
        answers("disallow_in_graph forbid_in_graph", itself),
        answers("nonstrict_trace", lambda traceable_fn: traceable_fn),
        answers("disable_nested_graph_breaks dont_skip_tracing",
                lambda fn=None: itself if fn is None else fn, FUNCTION),
        answers("allow_c_slot", lambda tp, **kwargs: tp, "The class."),
        answers("graph_break", lambda msg="": find("_compile.public:graph_break")(msg), "Ends a program here."),
        answers("skip_frame step_unsupported", lambda msg="": None, "Does nothing: there are no frames to skip."),
        answers("reset_recompile_user_contexts", none), answers("set_recursion_limit", lambda limit: None),
        answers("is_dynamo_disable_recursive", lambda method: getattr(method, "_torchdynamo_disable", None) and True),
        answers("error_on_graph_break", compilers.error_on_graph_break),
        answers("override_cudagraphs", lambda fwd=None, bwd=None: compilers.Nothing()),
        answers("patch_dynamo_config", lambda *args, **kwargs: find("_dynamo.config:patch")(*args, **kwargs)),  # noqa: PLW0108
        answers("register_backend", compilers.register_backend), answers("lookup_backend", compilers.lookup_backend),
        answers("mark_dynamic", compilers.mark_dynamic), answers("maybe_mark_dynamic", lambda t, index: None, UNTRACED),
        answers("mark_static_address", lambda t, guard=False: None, UNTRACED),
        answers("mark_static", lambda t, index=None: None, UNTRACED),
        answers("override_optimization_hint", lambda x, val: None, UNTRACED),
        refusals("replay", NotImplementedError, "torch._dynamo.{}: wengert has no bytecode tracer",
                 "What to do: use torch.export.export, or torch.compiler.program."),
        aliases("_compile.exported", "export ExportResult"),
    ),
    "_dynamo.backends": ("what a backend is registered and made with.",),
    "_dynamo.backends.registry": ("the names of backends.", aliases("_dynamo", "list_backends lookup_backend"),
                                  aliases("_dynamo", "register_backend")),
    "_dynamo.backends.common": ("what backends are made with.", aliases("_compile.aot", "aot_autograd")),
    "_dynamo.compiled_autograd": (
        "backward passes as programs: a pass inside of a compiled function is part of its program.",
        answers("_enable _disable", lambda *args, **kwargs: nullcontext(), "A context that does nothing."),
    ),
    "_dynamo.testing": (
        "what tests of compiled programs use.", own(CompileCounter=compilers.CompileCounter),
        own(CompileCounterWithBackend=compilers.CompileCounterWithBackend),
        own(EagerAndRecordGraphs=compilers.EagerAndRecordGraphs), answers("same", compilers.same),
    ),
    "_dynamo.test_case": ("test cases.", aliases("testing._internal.common_utils", "TestCase run_tests")),
    "utils._dtype_abbrs": ("short names of dtypes.", values(
        dtype_abbrs={d: d.abbr for d in DTYPES.values() if d.abbr not in DTYPES})),
    "_dynamo.decorators": ("decorators of ``torch._dynamo``.", aliases(
        "_dynamo", "allow_in_graph assume_constant_result disable disallow_in_graph forbid_in_graph graph_break "
        "mark_dynamic mark_static mark_static_address maybe_mark_dynamic run set_stance substitute_in_graph")),
    "_C": (
        "", answers("_get_tracing_state", none), answers("_is_tracing", no),
        answers("_debug_only_are_vmap_fallback_warnings_enabled", no),
        answers("_debug_only_display_vmap_fallback_warnings", lambda enabled: None, "Does nothing: no loop is run."),
        answers("_are_functorch_transforms_active", lambda: in_transform() is not None, "Whether one is running."),
        answers("_set_cached_tensors_enabled", lambda enabled: None, "Does nothing: tensors can always be cached."),
        answers("_warn_on_accumulate_grad_stream_mismatch", lambda: find("autograd.graph:_stream_warnings"),
                "What ``torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch`` chose."),
        answers("_infer_size", lambda *sizes: find(":broadcast_shapes")(*sizes), "The size of both, broadcast."),  # noqa: PLW0108
        answers("_add_docstr", switches.add_docstr, "The object with its docstring."),
        answers("_jit_try_infer_type", switches.infer_type, "The type of a value for TorchScript, if it has one."),
        answers("_is_alias_of", switches.share_storage, "Whether both are tensors with the same storage."),
        answers("_overlaps", switches.share_storage, "Whether both are tensors with the same storage, as in PyTorch."),
        answers("_log_api_usage_once", lambda event: None, "Does nothing: the use of APIs is not counted."),
        answers("_get_privateuse1_backend_name", lambda: "privateuseone", "PyTorch's name of a program's device."),
        values(has_lapack=True, has_mkl=False, has_openmp=False, has_spectral=True),
        values(_has_cuda=False, _has_cudnn=False, _has_magma=False, _has_mkldnn=False, _has_mps=False, _has_xpu=False),
        classes("_ImperativeEngine", object, "The class of ``Variable._execution_engine``."),
        # PyTorch chooses kernels by these keys; here they are only names, which libraries put into sets
        values(DispatchKey=Enum(
            "DispatchKey",
            "CPU CUDA XPU Meta Autograd AutogradCPU AutogradCUDA AutocastCPU AutocastCUDA AutocastXPU FuncTorchBatched "
            "CompositeImplicitAutograd CompositeExplicitAutograd Python ADInplaceOrView Functionalize Conjugate "
            "Negative ZeroTensor BackendSelect PythonDispatcher PreDispatch Sparse SparseCPU Undefined",
            module="wengert._C")),
    ),
    "_C._profiler": ("", classes("_ExperimentalConfig", devices.NoContext)),
    "_C._dynamo": ("",),
    "_C._dynamo.eval_frame": ("", answers("_set_lru_cache", lambda enabled: None, "Does nothing: no order is kept.")),
    "_C._functorch": (
        "", aliases("_functorch._older", "reshape_dim_into reshape_dim_outof"),
        answers("is_legacy_batchedtensor", lambda tensor: False, "False: there is one vmap."),
        answers("is_functionaltensor", lambda tensor: False, UNTRACED),
        refusals("_add_batch_dim _remove_batch_dim", NotImplementedError, *OUTSIDE),
    ),
    "_dynamo._trace_wrapped_higher_order_op": (
        """a context inside of which PyTorch's ``vmap`` takes elements by mapped indices. transformers enters it.

        >>> import wengert as torch
        >>> x = torch.tensor([10, 20, 30])
        >>> with TransformGetItemToIndex():  # not needed here
        ...     print(torch.func.vmap(lambda i: x[i])(torch.tensor([2, 0])))
        tensor([30, 10])
        """,
        classes("TransformGetItemToIndex", devices.NoContext),
    ),
    "_dynamo.config": (
        "switches that can be set and read; those of recompiling and ``disable`` switch.",
        values(suppress_errors=False, verbose=False, optimize_ddp=True, cache_size_limit=8, recompile_limit=8),
        values(accumulated_cache_size_limit=256, capture_scalar_outputs=False, assume_static_by_default=True),
        values(capture_dynamic_output_shape_ops=False, automatic_dynamic_shapes=True, dynamic_shapes=True),
        values(accumulated_recompile_limit=256, fail_on_recompile_limit_hit=False, fail_on_cache_limit_hit=False),
        values(error_on_recompile=False, disable=False, compiled_autograd=False, specialize_int=False, repro_level=2),
        values(specialize_float=False, guard_nn_modules=True, inline_inbuilt_nn_modules=True, repro_after=None),
        values(allow_unspec_int_on_nn_module=False, capture_func_transforms=True, trace_numpy=True, allow_rnn=False),
        values(skip_nnmodule_hook_guards=True, numpy_default_float="float64", numpy_default_int="int64"),
        values(cprofile=False, log_file_name=None, wrap_top_frame=False, report_guard_failures=True),
        values(reorderable_logging_functions=set(), force_parameter_static_shapes=True, enable_trace_contextlib=True),
        values(run_gc_after_compile=False, use_lazy_graph_module=True, enable_compiler_collectives=False),
        compilers.config,
    ),
    "_opaque_base": ("the base of objects that graphs hand on.", classes("OpaqueBase", object, "Such an object.")),
    "_library": ("operators of programs.",),
    "_library.opaque_object": (
        "objects that graphs hand on.",
        answers("register_opaque_type", lambda cls, *, typ, **_: None, "Nothing to do: graphs hand on every object.")),
    "fx.experimental.symbolic_shapes": (
        "", answers("is_concrete_bool is_concrete_int has_guarding_hint", True, "True: numbers are known."),
        answers("is_nested_int has_free_symbols", False, "False: numbers are known."),
        classes("ConstraintViolationError", RuntimeError, "Never raised."), classes("DimDynamic")),
    "fx.passes.runtime_assert": (
        "checks of symbolic sizes.",
        answers("insert_deferred_runtime_asserts", None, "Nothing to do: there are no symbolic sizes.")),
    "fx.experimental._config": (
        "switches that can be set and read, and have nothing to switch.",
        values(enrich_profiler_metadata=False, backed_size_oblivious=False, use_duck_shape=True),
        values(meta_nonzero_assume_all_nonzero=False, translation_validation=False, print_specializations=False),
        compilers.config),
    "_functorch.config": (
        "switches that can be set and read, and have nothing to switch.",
        values(activation_memory_budget=1.0, donated_buffer=False, functionalize_rng_ops=False)),
    "_inductor": (
        "PyTorch's code generator: here ``torch.compile`` makes C or NumPy programs.",
        answers("list_mode_options", compilers.list_mode_options), answers("list_options", compilers.list_options),
        answers("cudagraph_mark_step_begin", lambda: None, "Does nothing: there are no CUDA graphs."),
        answers("compile", lambda gm, example_inputs, options=None: gm, "The graph module: it runs as it is."),
        answers("standalone_compile", lambda gm, example_inputs, **kwargs: gm, "The graph module: it runs as it is."),
        refusals("aot_compile aoti_compile_and_package aoti_load_package aoti_load aoti_compile", NotImplementedError,
                 "torch._inductor.{}: wengert makes no libraries ahead of time",
                 "What to do: use torch.compile, whose C is kept on disk, or torch.export.save."),
    ),
    "_inductor.compile_fx": (
        "what PyTorch's code generator does to graphs.",
        answers("graph_returns_tuple", lambda gm: isinstance(gm.graph.output_node().args[0], (list, tuple)),
                "Whether a module's graph gives a tuple or list."),
        aliases("_inductor", "compile_fx=compile compile_fx_inner=compile"),
        refusals("aot_export_module", NotImplementedError, "torch._inductor.compile_fx.{}: wengert has no such program",
                 "What to do: use torch.export.export, or make_fx of torch.fx.experimental.proxy_tensor."),
    ),
    "_inductor.test_case": ("tests of compiled programs.", aliases("testing._internal._test_case", "TestCase"),
                             aliases("testing._internal.common_utils", "run_tests")),
    "_inductor.config": (
        "switches that can be set and read, and have nothing to switch.",
        values(coordinate_descent_tuning=False, epilogue_fusion=True, fx_graph_cache=True, max_autotune=False),
        values(max_autotune_gemm=False, shape_padding=True, freezing=False, compile_threads=1, debug=False),
        values(cpp=SimpleNamespace(threads=-1), trace=SimpleNamespace(enabled=False, graph_diagram=False)),
        values(triton=SimpleNamespace(cudagraphs=False, unique_kernel_names=True, cudagraph_trees=True)),
        compilers.config),
    "_export": (
        "the module behind ``torch.export``.",
        answers("capture_pre_autograd_graph", lambda f, args, kwargs=None, **more:
                find("export:export")(f, args, kwargs).module(), "The module that ``torch.export.export`` makes."),
    ),
    "_dynamo.utils": (
        "what libraries ask the compiler.", lambda module: {"counters": find("_compile.counts:counters")},
        answers("is_compile_supported", lambda device_type: False, UNTRACED),
        aliases("_subclasses.fake_tensor", "detect_fake_mode"),
    ),
    "_dynamo.source": (
        "what names the inputs of a graph.", aliases("fx.experimental._shape_env", "ConstantSource LocalSource")),
    "_dynamo.eval_frame": ("", answers("is_dynamo_supported", no)),
    "testing._internal.common_quantization": (
        "decorators of tests.", answers("skipIfNoDynamoSupport", itself),
        answers("skipIfNoFBGEMM skipIfNoQNNPACK skipIfNoONEDNN skipIfNoX86", switches.skipped, "Skips the test."),
    ),
    "_guards": (
        "tensors without data, as PyTorch's compiler finds them.",
        aliases("_subclasses.fake_tensor", "active_fake_mode detect_fake_mode")),
    "_subclasses.functional_tensor": (
        "", classes("CppFunctionalizeAPI FunctionalTensor FunctionalTensorMode PythonFunctionalizeAPI")),
    "jit": (
        "", answers("export script_method script_if_tracing unused", itself), values(_script_if_tracing=itself),
        answers("interface", lambda obj: obj, "The class itself."),
        answers("is_scripting is_tracing onednn_fusion_enabled", no),
        answers("optimize_for_inference", lambda mod, other_methods=None: mod, "The module itself."),
        answers("annotate", lambda the_type, the_value: the_value, "The value."),
        answers("set_fusion_strategy", lambda strategy: [], "Nothing to set; ``[]`` was the strategy before."),
        answers("enable_onednn_fusion", lambda enabled: None, "Nothing to switch."),
        answers("fuser", contextmanager(lambda name: (yield)), "A context that does nothing."),
        answers("optimized_execution", contextmanager(lambda should_optimize: (yield)), "A context that does nothing."),
        classes("strict_fusion", devices.NoContext), classes("ScriptFunction", object, "A compiled function: none is."),
        classes("ScriptModule", "nn.modules.module:Module", "A module; in PyTorch a compiled one."),
        classes("RecursiveScriptModule", "nn.modules.module:Module", "A module; in PyTorch a compiled one."),
        classes("TracerWarning", Warning, "What PyTorch's tracer warns with. Programs filter it."),
        classes("Error", Exception, "An error of a scripted module: an ``assert`` that failed."),
        values(_overload=itself, _overload_method=itself),
        answers("wait", lambda future: future.wait(), "The result of a future."),
    ),
    "jit._script": ("", aliases("jit", "RecursiveScriptModule ScriptFunction ScriptModule script")),
    "_jit_internal": (
        "names of the compiler of scripts that libraries import.",
        aliases("jit.annotations", "Any Dict List Optional Tuple Union"), aliases("jit", "Final ignore unused export"),
        aliases("jit.annotations", " ".join(f"BroadcastingList{n}" for n in range(1, 7))),
        aliases("jit", "is_scripting is_tracing _overload _overload_method"),
        answers("_copy_to_script_wrapper", itself), answers("boolean_dispatch", switches.boolean_dispatch)),
    "jit.annotations": (
        "names of ``typing`` that programs import from here.",
        values(**{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union")}),
        values(**{f"BroadcastingList{n}": devices.BROADCASTING for n in range(1, 7)})),
    "onnx.symbolic_helper": ("", answers("parse_args", lambda *arg_descriptors: lambda fn: fn, "For an export.")),
    "onnx.symbolic_opset11": ("empty, as nothing is exported; libraries import it beside what they declare.",),
    # several processes
    "distributed._composable": ("where ``torch.distributed.fsdp.fully_shard`` was before.",),
    "distributed._composable.fsdp": (
        "", aliases("distributed.fsdp", "FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard")),
    "distributed._tensor": ("where ``torch.distributed.tensor`` was before.", aliases("distributed.tensor",
        "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module distribute_tensor init_device_mesh")),
    "distributed._tensor.experimental": ("", aliases("distributed.tensor.experimental", "implicit_replication")),
    "distributed.fsdp.fully_sharded_data_parallel": ("", aliases("distributed.fsdp",
        "BackwardPrefetch CPUOffload FullStateDictConfig FullyShardedDataParallel MixedPrecision "
        "ShardedStateDictConfig ShardingStrategy StateDictType")),
    "distributed.autograd": ("gradients across ``distributed.rpc``.", answers("is_available", no), classes("context")),
    "distributed.rpc": ("as in a PyTorch that was built without it, one can ask.", answers("is_available", no)),
    "distributed.tensor.placement_types": (
        "", aliases("distributed.tensor", "Partial Placement Replicate Shard"), classes("_StridedShard")),
    "distributed.checkpoint.hf_storage": ("", classes("HuggingFaceStorageReader HuggingFaceStorageWriter")),
    "distributed.tensor.device_mesh": ("", aliases("distributed.device_mesh", "DeviceMesh init_device_mesh")),
    "distributed.tensor.experimental": (
        "", answers("implicit_replication", contextmanager(lambda: (yield)), "A context that does nothing.")),
    # absent
    "utils.cpp_extension": (
        "extensions in C++, which need PyTorch's own library.",
        values(CUDA_HOME=None, ROCM_HOME=None, IS_HIP_EXTENSION=False), classes("BuildExtension"),
        refusals("CppExtension CUDAExtension SyclExtension load load_inline include_paths library_paths",
                 NotImplementedError, "torch.utils.cpp_extension.{}: wengert has no library in C++",
                 "What to do: torch.library.custom_op makes an operator of a function in Python.")),
    "utils.mobile_optimizer": (
        "programs for phones.",
        refusals("optimize_for_mobile", NotImplementedError, "torch.utils.mobile_optimizer.{}: there are no scripts",
                 "What to do: torch.onnx.export writes a model that runs on phones.")),
    "utils.mkldnn": (
        "oneDNN's tensors.",
        refusals("to_mkldnn", NotImplementedError, "torch.utils.mkldnn.{}: wengert has no tensors of oneDNN")),
    "contrib": ("empty.",),
    "utils.backcompat": (
        "warnings of PyTorch 0.2, which programs of that time switch on.",
        values(broadcast_warning=SimpleNamespace(enabled=False), keepdim_warning=SimpleNamespace(enabled=False))),
    "utils.deterministic": (
        "whether ``torch.use_deterministic_algorithms`` fills memory that is uninitialised.",
        values(fill_uninitialized_memory=True)),
    # names that are elsewhere
    "functional": ("functions that are also ``torch.NAME``, in the module where PyTorch defines them.", aliases("",
        "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist "
        "chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique "
        "unique_consecutive unravel_index")),
    "__future__": ("how ``Module.to`` and its like convert parameters.", aliases("nn.modules._conversion",
        "get_overwrite_module_params_on_conversion get_swap_module_params_on_conversion "
        "set_overwrite_module_params_on_conversion set_swap_module_params_on_conversion")),
    "_custom_ops": ("the first form of ``torch.library``.", aliases("library", "custom_op")),
    "_functorch.aot_autograd": ("what backends are made with.",
                                aliases("_compile.aot", "make_boxed_compiler make_boxed_func")),
    "_functorch.partitioners": ("what cuts a graph in two.", aliases(
        "_compile.aot", "default_partition min_cut_rematerialization_partition=default_partition")),
    "_functorch.apis": ("", aliases("func", "grad grad_and_value vmap")),
    "_functorch.eager_transforms": ("", aliases("func", "functionalize hessian jacfwd jacrev jvp linearize vjp"),
        aliases("_functorch._older", "_as_tuple _slice_argnums")),
    "_functorch.functorch.experimental": (
        "", aliases("func", "functionalize hessian jacfwd jvp replace_all_batch_norm_modules_"),
        aliases("_functorch._older", "chunk_vmap")),
    "_functorch.functorch.compile": (
        "what backends are made with.",
        aliases("_compile.aot", "default_partition make_boxed_compiler make_boxed_func "
                "min_cut_rematerialization_partition=default_partition"),
        answers("nop", lambda fx_g, _=None: fx_g, "The graph module: it runs as it is.")),
    "_functorch.functorch.experimental.control_flow": ("", aliases("_higher_order_ops", "cond map")),
    "_dispatch": ("", values()),
    "_dispatch.python": (
        "", answers("enable_python_dispatcher no_python_dispatcher", nullcontext, "A context that does nothing.")),
    "_functorch.utils": ("", aliases("_functorch._older", "enable_single_level_autograd_function")),
    "_functorch.vmap": (
        "", aliases("func", "vmap"), aliases("_functorch._older", "_as_tuple restore_vmap"),
        aliases("func._vmap", "_get_name=_name"), aliases("", "Tensor"), aliases("_C._functorch", "_add_batch_dim"),
        aliases("utils._pytree", "_broadcast_to_and_flatten TreeSpec tree_flatten tree_map_ tree_unflatten"),
        refusals("_maybe_remove_batch_dim", NotImplementedError, *OUTSIDE)),
    "_utils_internal": (
        "what PyTorch's own tests import.",
        answers("deprecated", imports.deprecated),
        answers("get_file_path_2", os.path.join, "The path of these parts.")),
    "utils._import_utils": ("", answers("import_dill dill_available", none)),
    "utils._traceback": (
        "tracebacks of PyTorch's compiler.", classes("CapturedTraceback"),
        answers("report_compile_source_on_error", nullcontext, "A context that does nothing."),
        answers("format_traceback_short", lambda tb: "{0.filename}:{0.lineno} in {0.name}".format(
            traceback.extract_tb(tb)[-1]), "The innermost place, ``file.py:1 in name``.")),
    "testing._internal.autograd_function_db": ("custom functions for tests.", values(autograd_function_db=[])),
    "testing._internal.hop_db": ("operators that take functions, for tests.", values(hop_db=[])),
    "testing._internal.custom_op_db": ("custom operators for tests.", values(custom_op_db=[])),
    "nn.parallel._functions": ("what copies tensors between GPUs, not there.", classes("Broadcast Gather Scatter")),
    "utils._triton": ("PyTorch's compiler of GPU programs, not there.", answers("has_triton has_triton_package", no)),
    "utils.data._utils.pin_memory": (
        "pinned memory, which only GPUs need.",
        answers("pin_memory", lambda data, device=None: data, "The data, which stays where it is.")),
    "utils.serialization": ("the settings of files.",),
    "utils.serialization.config": (
        "switches that can be set and read, and have nothing to switch.",
        values(load=SimpleNamespace(mmap=False, endianness=None, mmap_flags=2, calculate_storage_offsets=False)),
        values(save=SimpleNamespace(compute_crc32=True, use_pinned_memory_for_d2h=False, storage_alignment=64))),
    "testing._internal.inductor_utils": (
        "GPUs, of which there is none.", values(GPU_TYPE="cuda", HAS_CPU=False, HAS_CUDA=False, HAS_GPU=False)),
    "testing._internal.opinfo": ("descriptions of operators.",),
    "testing._internal.opinfo.core": (
        "", aliases("testing._internal.common_methods_invocations", "DecorateInfo NO_ARGS=NO_ARGS OpInfo SampleInput"),
        classes("SkipRule XFailRule", SimpleNamespace, "A rule for samples."),
        answers("sample_skips_and_xfails", lambda rules: itself, FUNCTION)),
    "testing._internal.common_modules": ("modules for tests.", values(module_db=[])),
    "_inductor.utils": (
        "", answers("fresh_cache fresh_inductor_cache", lambda *args, **kwargs: nullcontext(), "A context.")),
    "profiler.itt": (
        "marks for Intel's profiler, which is not there.", answers("is_available", no),
        refusals("mark range range_pop range_push", RuntimeError,
                 "ITT functions not installed. Are you sure you have a ITT build?")),
    "_sparse": ("where pickles find it.", aliases("_payloads.sparse", "Sparse")),
    "_VF": ("the functions that PyTorch defines in C++.", aliases("", "gru lstm rnn_relu rnn_tanh stft unique_dim"),
            lambda module: {"__getattr__": lambda name: getattr(find("_C:_VariableFunctions"), name)}),
    "_utils": (
        "what PyTorch's pickles make their tensors with, and lists of tensors as a flat one.",
        answers("try_import", imports.try_import), answers("_get_available_device_type", none),
        answers("_get_device_module", devices.get_device_module), lambda module: find("_saving.rebuilding:NAMES"),
        lambda module: find("_compat._flat_tensors:NAMES")),
    "_vmap_internals": (
        "where libraries found ``vmap`` before it was public.", aliases("func", "vmap"),
        aliases("func._vmap", "_vmap")),
    "ao.quantization": (
        "", classes("FakeQuantizeBase HistogramObserver MinMaxObserver ObserverBase PerChannelMinMaxObserver QConfig"),
        refusals("convert fuse_modules get_default_qat_qconfig get_default_qconfig prepare prepare_qat quantize "
                 "quantize_dynamic quantize_qat", NotImplementedError,
                 "torch.ao.quantization.{}: wengert has no quantised tensors"),
    ),
    "ao.quantization.observer": ("", OBSERVERS),
    "ao.quantization.qconfig": ("", aliases("ao.quantization", "QConfig")),
    "quantization": (
        "the older name of ``torch.ao.quantization``.",
        lambda module: {name: find(f"ao.quantization:{name}") for name in find("ao.quantization:__all__")}),
    "quantization.observer": ("", OBSERVERS),
    "quantization.qconfig": ("", aliases("ao.quantization", "QConfig")),
}
