"""Calls as ``fx`` graphs, for backends that are functions: ``backend=lambda gm, inputs: gm.forward``.

``Capture``   a function mode that writes what a call asks of ``torch``, piece by piece: a piece ends where Python needs
              elements. Graphs have PyTorch's names: ``L_x_`` is the argument ``x``, a node has its variable's name
``Captured``  the program of a call that is one piece: its guards, and what the backend has made of the graph
``AsItIs``    the program of the backends "eager" and "aot_eager": the guards, and the function
"""

from __future__ import annotations

import contextlib
import dis
import functools
import operator
import re
import sys
from importlib import import_module
from sys import _getframe as getframe
from typing import Any

from wengert._dynamo.exc import BackendCompilerFailed

from .._base.errors import INTERNAL, user_frame
from .._base.grad_mode import grad_mode
from .._base.modes import MODE
from .._base.torch_function import STATE
from .._base.tracing import COMPILING, TRACER
from .._tape.tensor import Tensor
from .._tensor_api.function_modes import TorchFunctionMode
from ..fx._utils import without_data
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree
from .counts import counters
from .guards import Guards
from .reads import READERS
from .running import MISSED

_BREAKS = frozenset(("__bool__", "item", "tolist", "numpy", "__float__", "__int__", "__index__", "backward"))
_OPERATORS = {
    "true_divide": "truediv", "div": "truediv", "multiply": "mul", "subtract": "sub", "negative": "neg",
    "floor_divide": "floordiv", "remainder": "mod", "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor",
    "bitwise_not": "invert", "absolute": "abs",
}  # fmt: skip
_CHAIN = Sequential.forward.__code__  # a layer whose variable names nodes, as in PyTorch
_METHODS = frozenset(("add_", "flatten", "unflatten"))  # which PyTorch's layers call as methods
_RANDOM = re.compile("rand|dropout|bernoulli|normal|multinomial|uniform")


class Capture(TorchFunctionMode):
    """Writes graphs while a call runs; ``made(graph, inputs, outputs)`` is called with each that is done."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        super().__init__()
        self.made = made
        self.sources: dict[int, str] = {}
        self.paths: dict[int, str] = {}  # how the program reaches each module
        self.attributes: dict[int, str] = {}  # and each module's tensor
        self.pieces = 0
        self.outer = _grad_mode()  # in which the call runs, and each graph
        self.paused = False
        self.pure = True  # whether the call may be made again
        self.kept: Any = ()  # so that no other tensor gets the id of one that is known; the recorder asks lists
        fn = getattr(fn, "__wrapped__", fn)
        owner = getattr(fn, "__self__", None)
        code = getattr(getattr(fn, "__func__", fn), "__code__", None)
        if isinstance(owner, Module):
            code = getattr(type(owner).forward, "__code__", None)
        names = [] if code is None else list(code.co_varnames[: code.co_argcount])
        of_library = isinstance(owner, Module) and code is not None and INTERNAL[code.co_filename]
        if of_library:  # PyTorch compiles a function ``inner(*args, **kwargs)`` that calls it
            names = ["fn"]
        if isinstance(owner, Module):
            self._source(owner, names[0] if names else "self")
            if not of_library:  # the module itself is no part of a node's stack, as in PyTorch
                self.paths.pop(id(owner))
        names = names[1:] if owner is not None else names
        for k, a in enumerate(args):
            self._source(a, names[k] if k < len(names) else f"args_{k - len(names)}")
        for name, a in kwargs.items():
            self._source(a, f"kwargs_{name}" if of_library else name)
        self._begin()

    @staticmethod
    def running() -> Capture | None:
        """The capture that is running, for what is no function of ``torch``."""
        return next((m for m in reversed(STATE.get().modes) if type(m) is Capture), None)

    def _source(self, value: Any, name: str, path: str = "") -> None:
        path = path or f"L[{name!r}]"
        if isinstance(value, Tensor):
            self.sources.setdefault(id(value), name)
        elif isinstance(value, Module):
            self.paths.setdefault(id(value), path)
            for k, x in (*value._parameters.items(), *value._buffers.items()):
                kind = "parameters" if isinstance(x, Parameter) else "buffers"
                if x is not None:
                    self.sources.setdefault(id(x), f"{name}_{kind}_{k}")
                    self.attributes.setdefault(id(x), f"{path}.{k}")
            for k, m in value._modules.items():
                self._source(m, f"{name}_modules_{k}", f"{path}.{k}")
        elif isinstance(value, (list, tuple)):
            for index, x in enumerate(value):
                self._source(x, f"{name}_{index}", f"{path}[{index}]")
        elif isinstance(value, dict):
            for key, x in value.items():
                self._source(x, f"{name}_{key}", f"{path}[{key!r}]")

    def _begin(self) -> None:
        self.graph = Graph()
        self.nodes: dict[int, Any] = {}
        self.pending: dict[int, Any] = {}
        self.inputs: list[Tensor] = []
        self.last: Any = None
        self.grad = self.outer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.paused:
            return func(*args, **kwargs)
        profile = sys.getprofile()
        sys.setprofile(None)  # what is done here is no part of the call
        frame: Any = getframe(1)
        while frame.f_code.co_filename == __file__:
            frame = frame.f_back
        user = user_frame(frame)
        name = getattr(func, "__name__", "")
        while frame is not user and frame is not None:
            if frame.f_code is _CHAIN:
                self.name_nodes(frame)
            frame = frame.f_back
        self.name_nodes(user)
        if name in _BREAKS:
            tracer = TRACER.get()
            if tracer is not None and not tracer.closed:
                profile = None
                by = READERS.get(name.strip("_"))
                tracer.stop(f"the elements of a tensor are read{f' by {by}()' if by else ''}")
            self.end(user, [a for a in args if id(a) in self.nodes])
            sys.setprofile(profile)
            return func(*args, **kwargs)
        sys.setprofile(profile)
        out = func(*args, **kwargs)
        profile = sys.getprofile()  # the function may have ended the recording
        sys.setprofile(None)
        made = out if isinstance(out, (tuple, list)) else (out,)
        if (name == "__setitem__" or any(isinstance(x, Tensor) for x in made)) and not (
            name == "__get__" and not any(id(a) in self.nodes or id(a) in self.sources for a in args[:1])
        ):
            self._write(func, name, args, kwargs, out, user)
        sys.setprofile(profile)
        return out

    def _write(self, func: Any, name: str, args: Any, kwargs: Any, out: Any, user: Any) -> None:
        inside = INTERNAL[_caller(user).f_code.co_filename]
        op, target, args = _target(func, name, args, user, inside)
        if (name[-1:] == "_" and name[-2:] != "__") or name == "__setitem__" or _RANDOM.search(name):
            self.pure = False
        for a in pytree.tree_flatten((args, kwargs))[0]:  # modules' tensors are found before the call, others by it
            if isinstance(a, Tensor) and re.search("_parameters_|_buffers_", self.sources.get(id(a), "")):
                self._node(a, user)
        if name == "relu" and inside:
            kwargs = {"inplace": False}
        elif name == "batch_norm" and inside:
            args, kwargs = (*args, *kwargs.values()), {}
        given = pytree.tree_map(lambda a: self._node(a, user) if isinstance(a, Tensor) else a, (tuple(args), kwargs))
        self._grad_mode(_grad_mode())
        node = self.graph.create_node(op, target, *given)
        self.last = node
        layers = self._layers()
        _describe(node, out, layers)
        if isinstance(out, Tensor):
            self._known(out, node)
        elif isinstance(out, (tuple, list)):
            for k, x in enumerate(out):
                if isinstance(x, Tensor):
                    item = self.graph.call_function(operator.getitem, (node, k))
                    _describe(item, x, layers)
                    self._known(x, item)

    def _layers(self) -> list[tuple[str, Module]]:
        """The modules that are running and their places, the outermost first."""
        found = []
        frame: Any = getframe(2)
        while frame is not None:
            code = frame.f_code
            if code.co_name == "forward" and code.co_argcount:
                owner = frame.f_locals.get(code.co_varnames[0])
                if id(owner) in self.paths:
                    found.append((self.paths[id(owner)], owner))
            frame = frame.f_back
        return found[::-1]

    def _grad_mode(self, on: bool) -> None:
        """Write a change of grad mode."""
        if on != self.grad:
            self.grad = on
            self.graph.call_function(import_module("wengert._C")._set_grad_enabled, (on,))

    def _known(self, t: Tensor, node: Any) -> None:
        self.kept = t, self.kept
        self.nodes[id(t)] = self.pending[id(t)] = node

    def _node(self, t: Tensor, user: Any) -> Any:
        """The node of a tensor; one that this piece has not made is an input."""
        if id(t) not in self.nodes:
            self.kept = t, self.kept
            local = next((n for n, x in user.f_locals.items() if x is t), None)
            name = local if self.pieces and local else self.sources.get(id(t), local)
            name = "L_" + (f"G_{len(self.inputs)}" if name is None else name).rstrip("_") + "_"
            before = [n for n in self.graph.nodes if n.op == "placeholder"]
            last = before[-1] if before else None
            if any(n.target == name for n in before):  # a variable that has had another tensor, as in a loop
                name = f"{name}{len(before)}_"
            kind = Parameter if isinstance(t, Parameter) else Tensor
            with self.graph.inserting_before(None) if last is None else self.graph.inserting_after(last):
                node = self.graph.create_node("placeholder", name, (), {}, name.lower(), kind)
            if last is None:
                next(iter(self.graph.nodes)).prepend(node)
            node.meta["example_value"] = without_data(t)
            if layers := self._layers():
                node.meta["nn_module_stack"] = _stack(layers)
            self.nodes[id(t)] = node
            self.inputs.append(t)
        return self.nodes[id(t)]

    def name_nodes(self, frame: Any) -> None:
        """Give nodes the names of the variables that hold their tensors."""
        if self.pending:
            held = {id(x): n for n, x in reversed(frame.f_locals.items())} if frame is not None else {}
            for key in [k for k in self.pending if k in held]:
                self.pending.pop(key)._rename(held[key])

    def end(self, user: Any, results: list[Tensor]) -> None:
        """The piece is done; what the rest of the function reads of it are its results, besides these."""
        if self.last is not None:
            later = _read_later(user)
            held = [x for n, x in user.f_locals.items() if n in later and id(x) in self.nodes]
            results = [t for t in (*results, *held) if self.nodes[id(t)].op != "placeholder"]
            self.finish(list({id(t): t for t in results}.values()))
        self._begin()

    def returned(self, frame: Any, event: str, arg: Any) -> None:
        """A profile that names what a function returns or keeps in variables to its end."""
        if event == "return" and self.pending and (frame.f_code is _CHAIN or not INTERNAL[frame.f_code.co_filename]):
            self.name_nodes(frame)

    def results(self, leaves: list[Any]) -> list[Tensor]:
        """The tensors among leaves that this piece has made."""
        found = {id(t): t for t in leaves if isinstance(t, Tensor) and id(t) in self.nodes}
        return [t for t in found.values() if self.nodes[id(t)].op != "placeholder"]

    def close(self, out: Any) -> None:
        """The last piece is done."""
        if self.last is not None:
            self.finish(self.results(pytree.tree_flatten(out)[0]))

    def finish(self, results: list[Tensor]) -> None:
        """Hand the graph over."""
        self.pieces += 1
        self._grad_mode(self.outer)
        self.graph.output(tuple([self.nodes[id(t)] for t in results]))
        self.made(self.graph, self.inputs, results)


def _describe(node: Any, out: Any, layers: list[tuple[str, Module]]) -> None:
    """Note a node's value without its elements, the modules that compute it, and what of the program it is."""
    if node.target is not operator.setitem:
        node.meta["example_value"] = pytree.tree_map_only(Tensor, without_data, out)
    source = node.target
    if layers:
        node.meta["nn_module_stack"] = _stack(layers)
        innermost = layers[-1][1]
        if type(innermost).__module__.split(".")[1:2] == ["nn"] and not isinstance(innermost, Sequential):
            source = type(innermost)
    node.meta["source_fn_stack"] = [(node.name, source)]


def _stack(layers: list[tuple[str, Module]]) -> dict[str, tuple[str, type]]:
    return {str(id(m)): (path, type(m)) for path, m in layers}


def _grad_mode() -> bool:
    state = MODE.get()
    return state is None or state.grad


def _caller(user: Any) -> Any:
    """The innermost frame of this package's modules below the user's, or the user's own."""
    frame: Any = getframe(1)
    while frame is not None and frame is not user:
        if "/nn/modules/" in frame.f_code.co_filename.replace("\\", "/") and frame.f_code.co_name == "forward":
            return frame
        frame = frame.f_back
    return user


@functools.cache
def _instructions(code: Any) -> dict[int, Any]:
    found = list(dis.get_instructions(code))
    return {i.offset: (i, found[:k]) for k, i in enumerate(found)}


def _target(func: Any, name: str, args: Any, user: Any, inside: bool) -> tuple[str, Any, Any]:
    """(kind, target, arguments) of the node of a call."""
    import wengert as torch

    if name == "__get__":
        return "call_function", getattr, (args[0], func.__self__.fget.__name__)
    here, before = _instructions(user.f_code).get(user.f_lasti, (None, []))
    opname = "" if here is None or inside else here.opname
    if name in ("__getitem__", "__setitem__"):
        return "call_function", getattr(operator, name[2:-2]), args
    if opname.startswith(("BINARY_OP", "COMPARE_OP", "UNARY_")):
        plain = name.strip("_").removeprefix("r") if name.startswith("__r") else name.strip("_")
        plain = _OPERATORS.get(plain, plain)
        swapped = name.startswith("__r") and hasattr(operator, plain)
        if opname == "BINARY_OP" and here.argrepr.endswith("="):
            plain = f"i{plain.rstrip('_')}"
        target = getattr(operator, plain, None)
        if target is not None:
            return "call_function", target, tuple(reversed(args)) if swapped else args
    if inside and name == "linear":
        return "call_function", torch._C._nn.linear, args
    method = getattr(Tensor, name, None) is func
    if method and getattr(torch, name, None) is func:
        loads = [
            k for k, i in enumerate(before) if i.opname.startswith(("LOAD_METHOD", "LOAD_ATTR")) and i.argval == name
        ]
        root = before[loads[-1] - 1] if loads else None
        method = root is None or not (
            root.opname.startswith("LOAD_GLOBAL") and user.f_globals.get(root.argval) is torch
        )
    if method and (not inside or name in _METHODS):
        return "call_method", name, args
    found = getattr(torch.nn.functional, name, None) if inside else None
    if found is None:
        found = func if getattr(torch, name, None) is not func else getattr(torch, name)
    return "call_function", found, args


def _read_later(frame: Any) -> set[str]:
    """The variables that a frame's code may still read."""
    found = list(dis.get_instructions(frame.f_code))
    loops = any("BACKWARD" in i.opname for i in found)
    later = [i for i in found if "LOAD_FAST" in i.opname and (loops or i.offset > frame.f_lasti)]
    # from Python 3.13 on an instruction loads two variables, or loads one after it has stored another
    names = [(i.argval,) if isinstance(i.argval, str) else i.argval[i.opname.startswith("STORE") :] for i in later]
    return {name for each in names for name in each}


def compiled_by(backend: Any, graph: Graph, inputs: list[Tensor]) -> Any:
    """What a backend makes of a graph."""
    gm = GraphModule({}, graph)
    try:
        with grad_mode(_grad_mode()):  # which the graph may change where it is run
            run = backend(gm, list(inputs))
        if not callable(run):
            raise TypeError(f"Unexpected type returned from backend: {type(run)}, a callable is expected")
    except Exception as error:
        raise BackendCompilerFailed(backend, error) from error
    if getattr(run, "_boxed_call", False):
        boxed = run

        def run(*args: Any) -> Any:
            return boxed(list(args))

    return run


def _by_user(nodes: list[Any]) -> bool:
    """Whether a history has a custom function, whose backward a graph would lose."""
    seen: set[int] = set()
    while nodes:
        n = nodes.pop()
        if n is not None and id(n) not in seen:
            if n.by_user:
                return True
            seen.add(id(n))
            nodes += n._edges()
    return False


class _Open(contextlib.nullcontext[None]):
    """The lock of what several threads may run at a time."""

    def locked(self) -> bool:
        """No."""
        return False


class AsItIs:
    """A program of the backends "eager" and "aot_eager"."""

    pays, rest, trials = True, 0, 0
    backward = backward_tape = None

    def __init__(self, r: Any) -> None:
        self.lock = _Open()
        self.guards = Guards(r.finder)
        self.tape = self.forward = r.forward
        self.source = str(r.forward)
        self.recording = r

    @staticmethod
    def call(program: AsItIs, args: Any, kwargs: Any, fn: Any) -> Any:
        """Run, if the guards hold; ``MISSED`` otherwise."""
        inputs = program.guards.check(args, kwargs)
        if inputs is None:
            return MISSED
        before = COMPILING.set(True)
        try:
            with grad_mode(_grad_mode()):  # what a graph has turned off, an error leaves off
                return program.run(inputs, args, kwargs, fn)
        finally:
            COMPILING.reset(before)

    def run(self, inputs: list[Any], args: Any, kwargs: Any, fn: Any) -> Any:
        """Run."""
        return fn(*args, **kwargs)


class Captured(AsItIs):
    """A program that a backend has made."""

    def __init__(self, r: Any, run: Any, places: list[int], leaves: list[Any], gm: Graph) -> None:
        super().__init__(r)
        self.compiled, self.places, self.leaves, self.spec = run, places, leaves, r.spec
        self.source = gm.python_code("self").src

    def run(self, inputs: list[Any], args: Any, kwargs: Any, fn: Any) -> Any:
        """Run what the backend has made."""
        outs = self.compiled(*[inputs[k] for k in self.places])
        outs = outs if isinstance(outs, (tuple, list)) else (outs,)
        made = [outs[x.at] if type(x) is _Out else inputs[x.at] if type(x) is _In else x for x in self.leaves]
        return pytree.tree_unflatten(made, self.spec)


class _Out:
    def __init__(self, at: int) -> None:
        self.at = at


class _In(_Out):
    pass


class Pieces:
    """The graphs of a compiled function, and what a backend of the user's has made of them.

    A graph is made again for other sizes, as PyTorch does: ``dynamic=False`` each time, ``dynamic=True`` and
    ``mark_dynamic`` never, otherwise once.
    """

    def __init__(self, backend: Any, dynamic: bool | None = None) -> None:
        self.backend = backend
        self.dynamic = dynamic
        self.known: dict[Any, Any] = {}

    def __call__(self, graph: Graph, inputs: list[Tensor], results: list[Tensor]) -> None:
        self.compiled(graph, inputs)

    def compiled(self, graph: Graph, inputs: list[Tensor]) -> Any:
        """What the backend makes of a graph, or has made of it."""
        text = str(graph), _grad_mode(), tuple([(t.ndim, t.dtype, t.requires_grad) for t in inputs])
        sizes = tuple([tuple(t.shape) for t in inputs])
        marked = self.dynamic or any("_dynamo_dynamic_indices" in t.__dict__ for t in inputs)
        for of in (None, sizes):
            if (text, of) in self.known:
                return self.known[text, of]
        again = any(known == text for known, _ in self.known)
        key = text, None if self.dynamic is not False and (marked or again) else sizes
        counters["stats"]["unique_graphs"] += 1
        self.known[key] = run = compiled_by(self.backend, graph, inputs)
        return run

    def capture(self, fn: Any, args: Any, kwargs: Any) -> Capture:
        """What notes one call."""
        return Capture(fn, args, kwargs, self)

    def run(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """Call the function as it is, and give the backend the pieces that are new."""
        capture = self.capture(fn, args, kwargs)
        before = COMPILING.set(True)
        sys.setprofile(capture.returned)
        try:
            with capture:
                out = fn(*args, **kwargs)
        finally:
            sys.setprofile(None)
            COMPILING.reset(before)
        capture.close(out)
        return out

    def recorded(self, capture: Capture, out: Any, r: Any) -> tuple[Any, Any]:
        """(the call's result, the program of a call that was recorded); no program: the graph is not the whole call."""
        leaves = pytree.tree_flatten(out)[0]
        index = {id(t): k for k, (_, t) in enumerate(r.finder.inputs)}
        if (
            capture.pieces
            or capture.last is None
            or any(id(t) not in index for t in capture.inputs)
            or _by_user([t._node for t in leaves if isinstance(t, Tensor)])
        ):
            capture.close(out)
            return out, None
        results = capture.results(leaves)
        at = {id(t): k for k, t in enumerate(results)}
        made = [
            x if not isinstance(x, Tensor) else _Out(at[id(x)]) if id(x) in at else _In(index[id(x)]) if id(x) in index
            else None
            for x in leaves
        ]  # fmt: skip
        capture.made = lambda *piece: None
        capture.finish(results)
        run = self.compiled(capture.graph, capture.inputs)
        if any(x is None and leaf is not None for x, leaf in zip(made, leaves, strict=True)):
            return out, None
        inputs = [t for _, t in r.finder.inputs]
        program = Captured(r, run, [index[id(t)] for t in capture.inputs], made, capture.graph)
        return (program.run(inputs, (), {}, None) if capture.pure else out), program
