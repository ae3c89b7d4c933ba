"""``GraphModule``: a module whose ``forward`` is written from a graph, and how it is copied, pickled and saved.

A pickle holds the code, not the graph: reading it traces the code again. Reading one therefore runs code from the file,
as unpickling any object may.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import linecache
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import wengert as torch

from .. import nn
from .._base.errors import INTERNAL, warn
from .._base.exports import PACKAGE, is_ours
from .._tape.tensor import Tensor
from .._tensor_api.python_calls import _BY_PLACE
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ._compatibility import compatibility as compatibility  # noqa: PLC0414  which programs take from here
from ._namespace import CUSTOM_BUILTINS
from ._naming import as_torch, is_from_torch, module_of_frame
from .graph import Graph, PythonCode, _PyTreeCodeGen

__all__ = ["GraphModule", "reduce_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")


# ---- the code
class _EvalCacheLoader:
    """Gives ``linecache`` the text of generated code, so that tracebacks show it."""

    def __init__(self) -> None:
        self.eval_cache: dict[str, str] = {}
        self.next_id = 0

    def cache(self, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> str:
        """Keep a text; the file name under which it is found."""
        key = f"<eval_with_key>.{self.next_id}"
        self.next_id += 1
        if co_fields and "co_filename" in co_fields:
            if "co_firstlineno" in co_fields and "co_name" in co_fields:
                place = f"{co_fields['co_filename']}:{co_fields['co_firstlineno']}"
                key += f" from {place} in {co_fields['co_name']}"
            else:
                key = co_fields["co_filename"]
        self.eval_cache[key] = src
        linecache.lazycache(key, {**globals, "__file__": key, "__name__": key, "__loader__": self})
        return key

    def get_source(self, module_name: str) -> str | None:
        """What ``linecache`` calls."""
        return self.eval_cache.get(module_name)

    def forget(self, key: str, src: str) -> None:
        """Drop the text of code that is no longer there, unless another text has its key."""
        if self.eval_cache.get(key) is src:
            del self.eval_cache[key]
            linecache.cache.pop(key, None)
            INTERNAL.pop(key, None)


_loader = _EvalCacheLoader()


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    """``import`` in code from a pickle, in which ``torch`` is this package."""
    head, dot, rest = name.partition(".")
    return builtins.__import__(f"{PACKAGE}{dot}{rest}" if head == "torch" else name, *args, **kwargs)


_BUILTINS = {**vars(builtins), "__import__": _import}


def _exec_with_source(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> str:
    key = _loader.cache(src, globals, co_fields)
    exec(compile(src, key, "exec", dont_inherit=True), globals)
    return key


def _method_from_src(
    method_name: str, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None
) -> Callable[..., Any]:
    scope = globals.copy()
    key = _exec_with_source(src, scope, co_fields)
    method = scope.pop(method_name)
    weakref.finalize(method.__code__, _loader.forget, key, src).atexit = False  # a frame keeps the code, and its text
    return method


def _forward_from_src(src: str, globals: dict[str, Any], co_fields: Any = None) -> Callable[..., Any]:
    return _method_from_src("forward", src, globals, co_fields)


def _format_import_statement(name: str, obj: Any) -> str:
    if name in CUSTOM_BUILTINS:
        return CUSTOM_BUILTINS[name].import_str
    if isinstance(obj, str):  # an annotation
        return f"{name} = {obj!r}"
    if is_from_torch(obj):
        return "import torch"
    module, _, inner = obj.__qualname__.rpartition(".") if hasattr(obj, "__qualname__") else ("", "", name)
    attribute = inner or name
    home = getattr(obj, "__module__", None) or "__main__"
    if module:  # an attribute of a class: reached by the class
        return f"from {as_torch(home)} import {module.split('.')[0]}; {name} = {obj.__qualname__}"
    return f"from {as_torch(home)} import {attribute} as {name}"


def _format_import_block(globals: dict[str, Any]) -> str:
    return "\n".join(sorted({_format_import_statement(name, obj) for name, obj in globals.items()}))


# ---- unpickling
class _CodeOnlyModule(Module):
    """A module whose ``forward`` is put on the class: a tracer takes the function from there."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """The graph module of a pickle: its attributes, and the imports that stand before its code."""
    forward = _forward_from_src(import_block + (body.get("_code") or body["code"]), {"__builtins__": _BUILTINS})
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(
    forward: Callable[..., Any], body: dict[str, Any], graph_module_cls: type | None = None
) -> Module:
    _CodeOnlyModule.forward = forward
    tracer_cls: Any = body.get("_tracer_cls")
    if tracer_cls is None:
        from ._symbolic_trace import Tracer as tracer_cls

    class KeepModules(tracer_cls):
        """Traces code in which every module is one call already."""

        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    made = _CodeOnlyModule(body)
    graph = KeepModules().trace(made, **body.get("_tracer_extras", {}))
    traces = body.pop("_graphmodule_graph_node_meta_stack_trace", None) or {}
    for node in graph.nodes:
        if traces.get(node.name) is not None:
            node.meta["stack_trace"] = traces[node.name]
    graph._tracer_cls = tracer_cls
    name = body.get("_graphmodule_cls_name", "GraphModule")
    gm: Module = (graph_module_cls or GraphModule)(made, graph, class_name=name)
    for key, value in body.items():
        if not hasattr(gm, key):
            setattr(gm, key, value)
    return gm


# ---- attributes
def _set(module: Module, name: str, value: Any) -> None:
    """Set an attribute; a tensor that is no parameter becomes a buffer."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _child(module: Module, name: str) -> Any:
    """A submodule, made empty if it is not there."""
    child = getattr(module, name, None)
    if child is None:
        child = Module()
        setattr(module, name, child)
    return child


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Take over an attribute by its dotted name; what lies between is made."""
    *path, field = target.split(".")
    for name in path:
        from_module, former = getattr(from_module, name), from_module
        if getattr(to_module, name, None) is from_module and former is not None:
            return  # a whole submodule was taken over before, with all that it has
        to_module = _child(to_module, name)
    _set(to_module, field, getattr(from_module, field))


def _assign_attr(from_obj: Any, to_module: Any, target: str) -> None:
    """Set an attribute by its dotted name; what lies between is made."""
    *path, field = target.split(".")
    for name in path:
        to_module = _child(to_module, name)
    _set(to_module, field, from_obj)


def _get_attr(model: Any, attr_name: str) -> Any:
    """An attribute by its dotted name."""
    *path, field = attr_name.split(".")
    for name in path:
        model = getattr(model, name, None)
        if model is None:
            raise AssertionError(f"Attribute '{name}' not found in model")
    return getattr(model, field)


def _del_attr(model: Any, attr_name: str) -> None:
    path, _, field = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, field)


def _has_attr(model: Any, attr_name: str) -> bool:
    for name in attr_name.split("."):
        if not hasattr(model, name):
            return False
        model = getattr(model, name)
    return True


# ---- the class
def _is_compiled(frame: Any) -> bool:
    """Whether a frame is one of a function that PyTorch compiles."""
    module, name = module_of_frame(frame), frame.f_code.co_name
    if not is_ours(module) or ".nn.modules." in module or ".fx." in module:
        return False
    return name != "_assert" and name not in _BY_PLACE


class _WrappedCall:
    """A call of a graph module: an error in its generated code is shown with the lines around it."""

    def __init__(self, cls: type, cls_call: Any) -> None:
        self.cls, self.cls_call = cls, cls_call

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        lines = linecache.getlines(frame_summary.filename)
        number, line = frame_summary.lineno or 1, frame_summary.line or ""
        return "\n".join(
            [
                traceback.format_exc(),
                f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:",
                "".join(lines[number - 2 : number]),
                "~" * len(line) + "~~~ <--- HERE",
                "\n".join(lines[number : number + 2]),
            ]
        )

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        recording = torch.is_grad_enabled()
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[arg-type]
        except BaseException as e:
            if torch.is_grad_enabled() is not recording:  # the graph has turned it off, and not on again
                torch._C._set_grad_enabled(recording)
            if not isinstance(e, Exception):
                raise
            frames = list(traceback.walk_tb(e.__traceback__))
            while len(frames) > 1 and _is_compiled(frames[-1][0]):
                frames.pop()
            last = traceback.StackSummary.extract(iter(frames))[-1]
            if "eval_with_key" in last.filename:
                print(self._generate_error_message(last), file=sys.stderr)
                raise e.with_traceback(None)  # noqa: B904 - it is the error itself
            raise


@compatibility(is_backward_compatible=True)
class GraphModule(Module):
    """A module made of a graph: ``forward`` is Python code that the graph is written as.

    Assigning ``graph``, or calling ``recompile()`` after changing it, writes the code anew.

    >>> import wengert as torch
    >>> gm = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
    >>> print(gm.code.strip())
    def forward(self, input):
        input_1 = input
        _0 = getattr(self, "0")(input_1);  input_1 = None
        _1 = getattr(self, "1")(_0);  _0 = None
        return _1
    >>> gm(torch.ones(1, 2)).shape
    torch.Size([1, 3])

    Args:
        root: the module that has what the graph refers to, or a dict with it by dotted name.
        graph: the graph.
        class_name: the name of the new module's class.
    """

    _graph: Graph
    _code: str
    meta: dict[str, Any]
    _deepcopy_hooks: list[Callable[[Any], object]]

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        base = next(c for c in cls.__mro__ if c.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[valid-type]
            """Holds the code of one graph module."""

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            if isinstance(root, _CodeOnlyModule):
                named = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [name for members in named for name, _ in members] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            for target in sorted(targets, key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer and "<locals>" not in tracer.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}
        for name in _HOOKS:
            setattr(self, name, [])
        self.shape_env = None

    __jit_unused_properties__: Any = ["graph"]

    @property
    def graph(self) -> Graph:
        """The graph; an assignment of another one writes the code anew."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of ``forward``."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Write the code of the graph as it is now, and that of the graph modules below."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module="self")
        self._code, self._lineno_map, self._prologue_start = code.src, code._lineno_map, code._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_from_src(self._code, code.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        self._recompile_submodules()
        cls.__call__ = call_wrapped
        return code

    def _recompile_submodules(self) -> list[tuple[str, PythonCode]]:
        return [(name, mod.recompile()) for name, mod in self.named_children() if isinstance(mod, GraphModule)]

    # ---- submodules
    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module under a dotted name, making empty modules on the way; False if something else is there."""
        *path, field = target.split(".")
        mod: Any = self
        for name in path:
            mod = _child(mod, name)
            if not isinstance(mod, Module):
                return False
        mod.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module of a dotted name; False if there is none."""
        *path, field = target.split(".")
        mod: Any = self
        for name in [*path, field]:
            owner, mod = mod, getattr(mod, name, None)
            if not isinstance(mod, Module):
                return False
        delattr(owner, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node refers to."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update([".".join(parts[: i + 1]) for i in range(len(parts))])
                if node.op == "call_module" and _has_attr(self, node.target):
                    below = self.get_submodule(node.target).named_modules()
                    used.update([f"{node.target}.{name}" for name, _ in below if name])
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # ---- copies and files
    def _replicate_for_data_parallel(self) -> GraphModule:
        replica = copy.copy(self)
        object.__setattr__(replica, "_is_replica", True)
        return replica

    def __reduce__(self) -> tuple[Any, ...]:
        body = self.__dict__.copy()
        code = self.recompile()
        del body["_graph"]
        return reduce_graph_module, (body, _format_import_block(code.globals))

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        body = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(made, body, body.__dict__["_graph"])
        for name in ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", *_HOOKS):
            if name in self.__dict__:
                setattr(made, name, copy.deepcopy(self.__dict__[name], memo))
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in made.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(made, name, value)
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Write the module as a Python package: ``module.py`` with the code, and its tensors beside it."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        pickled = []
        lines = []
        for name, module in self.named_children():
            made = repr(module)
            if type(module) not in _WRITTEN_BY_REPR:
                file = folder / f"{name}.pt"
                torch.save(module, file)
                pickled.append(name)
                shown = made.replace("\r", " ").replace("\n", " ")
                made = f"torch.load(r'{file}', weights_only=False)) # {shown}"
                lines.append(f"setattr(self, '{name}', {made}")
            else:
                lines.append(f"setattr(self, '{name}', {made})")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(f"self.register_buffer('{name}', {_empty(buffer)})")
        for name, param in self._parameters.items():
            if param is not None:
                lines.append(f"setattr(self, '{name}', torch.nn.Parameter({_empty(param)}))")
        lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
        own = "torch" if sys.modules.get("torch") is torch else PACKAGE
        imports = "\n".join(
            ["import torch", *[v.import_str for v in CUSTOM_BUILTINS.values()], "", "from torch.nn import *"]
        )
        if own != "torch":
            imports = imports.replace("import torch\n", f"import {own} as torch\n").replace("from torch", f"from {own}")
            imports = imports.replace("import torch.", f"import {own}.")
        body = "".join([f"        {line}\n" for line in lines])
        (folder / "module.py").write_text(
            f"\n{imports}\nclass {module_name}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"{body}{_indented(self.code)}\n"
        )
        (folder / "__init__.py").write_text("from .module import *")
        if pickled:
            warn(
                "Was not able to save the following children modules as reprs -saved as pickled files instead: "
                f"{pickled}"
            )

    # ---- text
    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False,
        colored: bool = False, *, fast_sympy_print: bool = False, expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:  # fmt: skip
        """Print the module as a class, with the shapes and the lines of the program that its nodes know of.

        Args:
            include_stride, include_device: show them beside the shapes.
            colored: with colours of a terminal.
            expanded_def: one line per parameter.
            additional_meta: keys of the nodes' ``meta`` to show.
        """
        text = self._readable(self._get_name(), expanded_def, {
            "include_stride": include_stride, "include_device": include_device, "colored": colored,
            "additional_meta": additional_meta,
        })  # fmt: skip
        if print_output:
            print(text)
        return text

    def _readable(self, name: str, expanded_def: bool, how: dict[str, Any]) -> str:
        code = self.graph.python_code(root_module="self", verbose=True, expanded_def=expanded_def, **how)
        text = _indented(f"class {name}(torch.nn.Module):\n" + code.src.lstrip("\n"))
        below = [m._readable(n, False, how) for n, m in self.named_children() if isinstance(m, GraphModule)]
        return text + _indented("\n".join(["", *below]))

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    # ---- hooks
    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[..., object]) -> Iterator[None]:
        """A context in which a function is called for each node that is replaced or renamed."""
        if not callable(f):
            raise AssertionError("Replace hook must be a callable.")
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)


def _hook_methods(kind: str, said: str) -> None:
    hooks = f"_{kind.removesuffix('_node')}_hooks" if kind in ("replace_node", "deepcopy") else f"_{kind}_hooks"

    def register(self: Any, f: Callable[..., object]) -> None:
        if not callable(f):
            raise AssertionError(f"{said} hook must be a callable.")
        getattr(self, hooks).append(f)

    def unregister(self: Any, f: Callable[..., object]) -> None:
        if not callable(f):
            raise AssertionError(f"{said} hook must be a callable.")
        getattr(self, hooks).remove(f)

    setattr(GraphModule, f"_register_{kind}_hook", register)
    setattr(GraphModule, f"_unregister_{kind}_hook", unregister)


for _kind, _said in (
    ("replace_node", "create_node"), ("create_node", "create_node"), ("erase_node", "erase_node"),
    ("deepcopy", "deepcopy"),
):  # fmt: skip
    _hook_methods(_kind, _said)

_WRITTEN_BY_REPR = {
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
}  # fmt: skip


def _empty(t: Any) -> str:
    return f"torch.empty({list(t.shape)}, dtype={t.dtype})"


def _indented(text: str) -> str:
    """All lines but the first, indented by four."""
    first, newline, rest = text.partition("\n")
    lines = [f"    {line}" if line.strip() else "" for line in rest.split("\n")]
    return first + newline + "\n".join(lines)
