"""``torch.export``: a module as a graph of PyTorch's operators, which is saved without code, and made into ONNX.

>>> import wengert as torch
>>> model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
>>> program = torch.export.export(model, (torch.ones(2, 3),))
>>> [node.target for node in program.graph.nodes if node.op == "call_function"]
[<OpOverload(op='aten.linear', overload='default')>, <OpOverload(op='aten.relu', overload='default')>]
"""

from ..utils._pytree import register_dataclass
from ._draft import draft_export
from ._files import load, save
from ._tracing import export
from .dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from .exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, default_decompositions
from .graph_signature import ExportBackwardSignature, ExportGraphSignature
from .unflatten import UnflattenedModule, unflatten

__all__ = [
    "AdditionalInputs", "Constraint", "Dim", "ExportBackwardSignature", "ExportGraphSignature", "ExportedProgram",
    "ModuleCallEntry", "ModuleCallSignature", "ShapesCollection", "default_decompositions", "dims", "export", "load",
    "UnflattenedModule", "draft_export", "register_dataclass", "save", "unflatten",
]  # fmt: skip
