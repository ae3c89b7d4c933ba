"""Publication of the declared names: methods on ``Tensor``, functions in modules, modules on demand."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from .._base.errors import noted
from .._base.late_names import LateMember, LateModule, Unmade, import_all, keep_former_name, make_ready
from .._base.registry import PUBLIC, not_writable, places, unplaced
from .._base.tracebacks import parsed, shortens_methods
from .._tape import graph, properties, stochastic
from .._tape.tensor import Tensor, construct
from . import function_modes, override_sites  # noqa: F401  they set hooks
from . import volatile as _volatile

_PACKAGE = __package__.partition(".")[0]
_OF_AMP = (
    "GradScaler", "autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
)  # fmt: skip
_LEGACY_TYPES = (
    "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor", "ShortTensor",
    "IntTensor", "LongTensor", "BoolTensor",
)  # fmt: skip
# Public names of the package whose module is not imported at start.
LATE = {
    **dict.fromkeys((*_LEGACY_TYPES, "set_default_tensor_type"), "_tensor_api.legacy_types"),
    **dict.fromkeys(("StorageBase", "TypedStorage", "UntypedStorage"), "_tensor_api.storage"),
    "set_printoptions": "_tensor_api.printing",
    "vmap": "func",
    "is_anomaly_enabled": "autograd",
    "is_anomaly_check_nan_enabled": "autograd",
    "set_anomaly_enabled": "autograd",
    "save": "serialization",
    "load": "serialization",
    "PyTorchFileReader": "serialization",
    **dict.fromkeys(("cond", "while_loop"), "_higher_order_ops"),
    "compile": "compiler",
    **dict.fromkeys(("SymBool", "SymFloat", "SymInt"), "compiler"),
    **dict.fromkeys(("Future", "ScriptFunction", "ScriptModule", "fork", "wait"), "jit"),
    **dict.fromkeys(("AcceleratorError", "OutOfMemoryError"), "cuda"),
    **dict.fromkeys(("has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps"), "backends"),
    **dict.fromkeys(("has_openmp", "has_spectral", "is_vulkan_available"), "backends"),
    **dict.fromkeys(("Event", "Stream", "get_device_module"), "accelerator"),
    **dict.fromkeys(_OF_AMP, "amp"),
    **{
        f"{name.removesuffix('Tensor')}Storage": "storage" for name in (*_LEGACY_TYPES, "ComplexFloat", "ComplexDouble")
    },
}
# Private names of PyTorch that programs use, imported on first use.
_PRIVATE = (
    "_C", "_VF", "__config__", "__future__", "_dynamo", "_export", "_functorch", "_guards", "_higher_order_ops",
    "_inductor", "_library", "_logging", "_opaque_base", "_subclasses", "_tensor_str", "_utils", "_vmap_internals",
)  # fmt: skip
# Former names of modules, which old pickles contain: objects name them as their `__module__`.
FORMER = {
    "_constants": ("_base.constants", "Size _constant device layout memory_format"),
    "_construct": ("_tensor_api.construct", "as_tensor asarray from_dlpack from_numpy frombuffer tensor"),
    "_dtypes": ("_base.dtypes", "can_cast dtype get_default_dtype promote_types set_default_dtype"),
    "_grad_mode": ("_base.grad_mode", "enable_grad inference_mode is_grad_enabled no_grad set_grad_enabled"),
    "_graph": ("_tape.graph", "backward grad"),
    "_limits": ("_base.limits", "finfo iinfo"),
    "_modes": ("_base.modes", "is_grad_enabled is_inference_mode_enabled"),
    "_node": ("_tape.node", "Node RemovableHandle"),
    "_return_types": ("_kinds.return_types", "_make"),
    "_tensor": ("_tape.tensor", "Tensor"),
}
# Those of modules that are not imported at start, which do for themselves what ``keep_former_names`` does for others.
LATE_FORMER = {
    "_copying": "_tensor_api.copying",
    "_legacy_types": "_tensor_api.legacy_types",
    "_printing": "_tensor_api.printing",
    "_storage": "_tensor_api.storage",
}


@graph.probable_causes.set
def causes(tensor: Tensor, frame: Any) -> list[str]:
    try:
        found: list[str] = submodule("explain")._cause.causes(tensor, frame)
    except Exception:  # noqa: BLE001  a program's text may be anything; its error must be shown
        return []
    return found


@graph.batched_grads.set
def batched_grads(outputs: list[Any], inputs: list[Any], grads: list[Any], keep: bool, create_graph: bool) -> Any:
    from .._payloads.batched_grads import batched_grads

    return batched_grads(outputs, inputs, grads, keep, create_graph)


@parsed.set
def of_the_parser(error: Exception, frame: Any) -> Exception | None:
    from .._kinds.argument_errors import parsed

    return parsed(error, frame)


@construct.set
def legacy_new(*args: Any) -> Any:
    from .legacy_types import legacy_new

    return legacy_new(*args)


def keep_former_names() -> None:
    """Set the module names of objects to those in old pickles."""
    for name, (home, members) in FORMER.items():
        module = sys.modules[f"{_PACKAGE}.{home}"]
        keep_former_name(name, module, *(getattr(module, member) for member in members.split()))
    for name, home in LATE_FORMER.items():
        if f"{_PACKAGE}.{home}" not in sys.modules:
            keep_former_name(name, LateModule(f"{_PACKAGE}.{name}", f"{_PACKAGE}.{home}"))


def attach() -> None:
    """Attach the graph's methods to ``Tensor``, and placeholders for the methods that have yet to be made ready."""
    keep_former_names()
    unplaced.update(dict.fromkeys(PUBLIC["Tensor"].home))
    place()
    Tensor.backward = graph.tensor_backward
    for name in ("requires_grad_", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
        setattr(Tensor, name, getattr(properties, name))
    Tensor.retains_grad = property(properties.retains_grad)  # type: ignore[assignment]  # the stub shows the value
    Tensor.grad_dtype = property(properties.grad_dtype, properties.set_grad_dtype)  # type: ignore[assignment]  # as above
    Tensor.reinforce = stochastic.reinforce
    Tensor.volatile = property(_volatile.get_volatile, _volatile.set_volatile)  # type: ignore[assignment]  # as above
    for name, member in [*vars(Tensor).items()]:
        if type(member) is property and not name.startswith("__"):
            setattr(Tensor, name, not_writable(name, member))
    shortens_methods(Tensor)
    shortens_methods(type(Tensor))


def place() -> None:
    """Put placeholders into ``Tensor`` for new methods. What an interrupt leaves undone is done at the next call.

    Several threads may be in here.
    """
    table = PUBLIC["Tensor"]
    for name in list(unplaced):
        if not (dict.__contains__(table, name) or type(vars(Tensor).get(name)) is LateMember):
            setattr(Tensor, name, LateMember(name, table))
        unplaced.pop(name, None)


@make_ready.set
def settle(value: Any, space: str, name: str) -> None:
    """Add the sites of overrides of a new function, enter it under its names and attach it to ``Tensor``.

    The entries are last, so that after an interrupt the next look-up begins anew. ``space`` and ``name`` are those of
    this look-up, which another thread may have taken out of ``places`` meanwhile.
    """
    entered, value = value, value.function if type(value) is Unmade else value
    either = entered, value, override_sites.copies.get(id(value))
    listed = dict.fromkeys((*places.get(id(entered), ()), (space, name)))
    names = [each for each in listed if PUBLIC[each[0]].peek(each[1]) in either]
    method = override_sites.add(value, names)
    for space, name in names:
        table = PUBLIC[space]
        if space == "Tensor":
            setattr(Tensor, name, method)
        dict.__setitem__(table, name, method if space == "Tensor" else value)
        table.unready.pop(name, None)
    places.pop(id(entered), None)


def function(space: str, name: str) -> Any:
    """A public function by name; KeyError if it does not exist."""
    place()
    if name not in PUBLIC[space]:
        import_all.run()  # a new function, not yet in the index
    return PUBLIC[space][name]


def lend(space: str, scope: dict[str, Any]) -> None:
    """Let a module serve the public functions of ``space``, each imported on first use."""
    names = PUBLIC[space].names()

    def __getattr__(name: str) -> Any:
        try:
            if name.startswith("__"):  # `from torch.linalg import norm` asks for __path__: no reason to import all
                raise KeyError(name)
            value = scope[name] = function(space, name)
        except KeyError:
            raise AttributeError(f"module '{scope['__name__']}' has no attribute '{name}'") from None
        return value

    scope.update(__getattr__=__getattr__, __dir__=lambda: sorted({*scope, *names}), __all__=sorted(names))


def module_names() -> list[str]:
    """The public modules of the package, and the names that they import on first use."""
    import pkgutil  # not needed to import the package

    found = {module.name for module in pkgutil.iter_modules(sys.modules[_PACKAGE].__path__) if module.name[0] != "_"}
    return sorted(found - {"ops"} | LATE.keys())


def submodule(name: str) -> Any:
    """``torch.NAME`` for a module, or a name of one, that is not imported yet."""
    package = sys.modules[_PACKAGE]
    if name == "torch":  # torch.torch is torch
        return package
    home = LATE.get(name, name)
    from importlib.util import find_spec

    public = not name.startswith("_") and (name in LATE or find_spec(f"{_PACKAGE}.{name}") is not None)
    if public or name in _PRIVATE:
        module = import_module(f".{home}", _PACKAGE)
        value = module if home == name else getattr(module, name)
        setattr(package, name, value)
        return value
    if name.startswith("_foreach_"):
        lists = import_module("._tensor_api.foreach", _PACKAGE)
        if hasattr(lists, name):
            return getattr(lists, name)
    error = AttributeError(f"module '{package.__name__}' has no attribute '{name}'")
    if not name.startswith("__"):
        import_all.run()
        if name in PUBLIC["torch"]:
            return function("torch", name)
    if not name.startswith("_"):
        from .._base.absent_names import why

        raise noted(error, why(name) or "", "More: docs/absent.md")
    raise error
