"""``torch.onnx.export``: an exported program as an ONNX model."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import wengert as torch

from .._base.errors import noted
from ..export import export as export_program
from ..export.exported_program import ExportedProgram
from ..export.graph_signature import ConstantArgument, InputKind
from ..nn.modules.module import Module
from ..utils import _pytree as pytree
from ._building import Builder, Value
from ._errors import OnnxExporterError

Tensor = torch.Tensor
LOWEST, HIGHEST, USUAL = 14, 24, 18


class ONNXProgram:
    """What ``export`` gives: the model, and ways to save and run it.

    Attributes:
        model_proto: the model, an ``onnx.ModelProto``.
        exported_program: the program that it was made of.
    """

    def __init__(self, model: Any, program: ExportedProgram) -> None:
        self.model_proto, self.exported_program = model, program

    def save(self, destination: Any, **_: Any) -> None:
        """Write the model to a path or an open file."""
        data = self.model_proto.SerializeToString()
        if hasattr(destination, "write"):
            destination.write(data)
            return
        from .._saving.replacing import replacing

        with replacing(os.fspath(destination)) as file:
            file.write(data)

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """The outputs as onnxruntime computes them, which must be installed."""
        import onnxruntime

        session = onnxruntime.InferenceSession(self.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
        given = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        names = [i.name for i in session.get_inputs()]
        results = session.run(None, {n: t.detach().numpy() for n, t in zip(names, given, strict=True)})
        return tuple([torch.from_numpy(np.asarray(r)) for r in results])


def export(
    model: Any, args: Any = (), f: Any = None, *, kwargs: dict[str, Any] | None = None, verbose: Any = None,
    input_names: Any = None, output_names: Any = None, opset_version: int | None = None, dynamo: bool = True,
    dynamic_shapes: Any = None, dynamic_axes: Any = None, export_params: bool = True, training: Any = None,
    do_constant_folding: bool = True, keep_initializers_as_inputs: bool = False, verify: bool = False, **_: Any,
) -> ONNXProgram | None:  # fmt: skip
    """Write a module as an ONNX model.

    The module is exported in evaluation mode with ``torch.export``, and each operator of the program becomes nodes
    of ONNX. The model is checked by ``onnx.checker``, shapes included.

    Args:
        model: a module, or an ``ExportedProgram``.
        args: example inputs: a tuple, or one tensor.
        f: a path or a file to write to; None to give the model only.
        kwargs: example inputs by keyword.
        input_names, output_names: names in place of the parameters' and the nodes'.
        opset_version: the version of ONNX's operators, 14 to 24.
        dynamic_shapes: sizes that may differ from the example's, see ``torch.export.export``.
        dynamic_axes: the same by the names of inputs: ``{"x": {0: "batch"}}`` or ``{"x": [0]}``. Names of outputs in it
            only name their sizes.
        dynamo: accepted; there is one exporter. With ``False`` the result is None.

    Raises:
        OnnxExporterError: the package ``onnx`` is missing, or the options do not fit.
        UnsupportedOperatorError: an operator has no form in ONNX. It names the operator and the model's line.
    """
    if not (callable(model) or isinstance(model, ExportedProgram)):
        raise OnnxExporterError(f"torch.onnx.export: the model is a {type(model).__name__}, and no module")
    onnx = _package()
    if not isinstance(args, (tuple, list)):
        args = (args,)
    args, named = tuple(args), dict(kwargs or {})
    if kwargs is None and args and isinstance(args[-1], dict) and not isinstance(model, ExportedProgram):
        args, named = args[:-1], dict(args[-1])  # PyTorch's older way of giving keywords
    opset = USUAL if opset_version is None else opset_version
    if not LOWEST <= opset <= HIGHEST:
        raise OnnxExporterError(f"Unsupported ONNX opset version: {opset}: it must be in {LOWEST} to {HIGHEST}")
    if isinstance(model, ExportedProgram):
        program = model
    else:
        if not isinstance(model, Module):
            model = _Called(model)
        shapes = _dynamic_shapes(model, args, named, dynamic_axes, dynamic_shapes, input_names)
        modes = [(m, m.training) for m in model.modules()]
        model.eval()
        try:
            program = export_program(model, args, named, dynamic_shapes=shapes)
        finally:
            for m, mode in modes:
                m.training = mode
    proto = converted(onnx, program, opset, input_names, output_names)
    onnx.checker.check_model(proto, full_check=True)
    result = ONNXProgram(proto, program)
    if f is not None:
        result.save(f)
    if verbose:
        print(onnx.helper.printable_graph(proto.graph))  # noqa: T201  what `verbose` asks for
    return result if dynamo else None


class _Called(Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.forward = function


def _package() -> Any:
    try:
        import onnx
    except ImportError as e:
        raise noted(
            OnnxExporterError("Module onnx is not installed!"), "What to do: python -m pip install 'wengert[onnx]'"
        ) from e
    return onnx


def _dynamic_shapes(model: Any, args: Any, kwargs: Any, axes: Any, shapes: Any, input_names: Any) -> Any:
    """``dynamic_axes`` as ``dynamic_shapes``: by the inputs' names or their parameters'."""
    from ..export.dynamic_shapes import Dim, named_arguments

    if shapes is not None or not axes:
        return shapes
    parameters = list(named_arguments(model, args, kwargs))
    dims: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for i, parameter in enumerate(parameters):
        name = input_names[i] if input_names and i < len(input_names) else parameter
        given = axes.get(name, axes.get(parameter))
        if given is None:
            continue
        pairs = given.items() if isinstance(given, dict) else [(d, f"{name}_dim_{d}") for d in given]
        made[parameter] = {d: dims.setdefault(label, Dim(label)) for d, label in pairs}
    return made or None


def converted(onnx: Any, program: ExportedProgram, opset: int, input_names: Any, output_names: Any) -> Any:
    """The ONNX model of a program."""
    from . import _elementwise, _layers, _shapes  # noqa: F401  they fill the table

    b = Builder(onnx, opset, program.dynamic.values())
    nodes = list(program.graph.nodes)
    signature = program.graph_signature
    inputs: list[Any] = []
    wanted = list(input_names or ())
    parameters = {}
    for spec, node in zip(signature.input_specs, nodes, strict=False):
        if spec.kind is not InputKind.USER_INPUT:
            parameters[node] = spec
        elif isinstance(spec.arg, ConstantArgument):
            b.values[node] = spec.arg.value
        else:
            name = b.fresh(wanted.pop(0) if wanted else node.name)
            b.values[node] = Value(name, node.meta["val"].dtype, b.sizes_of(node))
            inputs.append(b.info(b.values[node]))
    for node, spec in parameters.items():
        tensor = program.tensor(str(spec.target)).detach()
        if not node.users:
            continue
        name = b.fresh(str(spec.target))
        array = tensor.numpy()
        b.initializers.append(onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        b.values[node] = Value(name, tensor.dtype, tuple(tensor.shape), array)
    for node in nodes[len(signature.input_specs) : -1]:
        if node.op != "get_attr" and (node.users or _writes(node)):
            b.run(node)
    outputs = _outputs(b, nodes[-1], list(output_names or ()))
    used = b.captured | {i for n in b.nodes for i in n.input}
    graph = onnx.helper.make_graph(
        b.nodes, "main_graph", inputs, outputs, [i for i in b.initializers if i.name in used]
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(
        graph, opset_imports=imports, producer_name="wengert", ir_version=onnx.helper.find_min_ir_version_for(imports)
    )
    if model.ir_version < 8:
        model.ir_version = 8
    return model


def _writes(node: Any) -> bool:
    packet = getattr(node.target, "overloadpacket", None)
    return packet is not None and packet.__name__[-1] == "_" and not packet.__name__.startswith("__")


def _outputs(b: Builder, node: Any, wanted: list[str]) -> list[Any]:
    """Give the outputs their names."""
    infos = []
    taken: set[str] = set()
    for out in node.args[0]:
        if not isinstance(out, torch.fx.Node):
            continue  # None and numbers are no outputs in ONNX
        value = b.value(out)
        name = wanted.pop(0) if wanted else None
        b.node = out
        final = value.name
        produced = {o for n in b.nodes for o in n.output}
        if name is not None or final in taken or final not in produced:
            final = b.fresh(name or f"{value.name}_out")
            b.nodes.append(b.onnx.helper.make_node("Identity", [value.name], [final], name=b.fresh(f"node_{final}")))
        taken.add(final)
        infos.append(b.info(Value(final, value.dtype, value.shape)))
    return infos
