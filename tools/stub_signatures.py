"""Signatures of functions in stubs, with the types of parameters and results, for tools/make_stubs.py.

Only functions that annotations cannot describe are listed by name: in `SPECIAL`, and, with several results, in
`tools/signatures.pyi`.

An annotated parameter or result has the type of its annotation. Without an annotation, a generated operator takes and
returns tensors, a function with a named tuple in `torch.return_types` returns that, a parameter has the type that its
name has everywhere in PyTorch (`PARAMETERS`) or the type of its default, and the rest is `Any`. `int`, `float`, `bool`,
... are dtypes of wengert and methods of Tensor, so Python's types are `_int`, `_float`, ... in the stubs.
"""

from __future__ import annotations

import ast
import copy
import inspect
import math
import sys
import types
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SOURCE))

import wengert  # noqa: E402
from wengert._base.registry import REGISTRY  # noqa: E402

BUILTINS = (bool, bytes, complex, dict, float, int, list, object, set, slice, str, tuple, type)
TYPES = {  # annotation -> its name in a stub, imported by `with_imports`
    **{python.__name__: f"_{python.__name__}" for python in BUILTINS},
    **dict.fromkeys(("Dtype", "DType", "dtype"), "_dtype"),
    **{name: f"_{name}" for name in ("device", "layout", "memory_format", "Size", "Generator")},
    **{name: name for name in ("Any", "Tensor", "Callable", "Iterable", "Iterator", "Mapping", "Sequence", "Number")},
    **{name: name for name in ("EllipsisType", "Literal", "SupportsIndex", "TypeIs")},
    **{name: f"_{name}" for name in ("TypedStorage", "UntypedStorage", "Node", "RemovableHandle")},
    "Index": "Index",
    "_P": "_P",
    "_R": "_R",
    "Self": "Self",
}
IMPORTS = {  # module -> the names that signatures take from there, as the stub names them
    "numpy": ["ndarray as _ndarray"],
    "builtins": [f"{python.__name__} as _{python.__name__}" for python in BUILTINS],
    "collections.abc": ["Callable", "Iterable", "Iterator", "Mapping", "Sequence"],
    "types": ["EllipsisType"],
    "typing": "Any ClassVar Final Literal ParamSpec Self SupportsIndex TypeAlias TypeVar overload".split(),  # noqa: SIM905
    "typing_extensions": ["TypeIs"],
    "{dots}": ["return_types as _return_types"],
    "{dots}_base.constants": [f"{name} as _{name}" for name in ("Size", "device", "layout", "memory_format")],
    "{dots}_base.dtypes": ["dtype as _dtype"],
    "{dots}_tape.node": ["Node as _Node", "RemovableHandle as _RemovableHandle"],
    "{dots}_tape.tensor": ["Device", "Index", "Ints", "Number", "Tensor"],
    "{dots}_tensor_api.storage": ["TypedStorage as _TypedStorage", "UntypedStorage as _UntypedStorage"],
    "{dots}random": ["Generator as _Generator"],
}
VARIABLES = '_P = ParamSpec("_P")\n_R = TypeVar("_R")\n'
ALIASES = """\
Number: TypeAlias = _bool | _int | _float | _complex
Ints: TypeAlias = _int | Sequence[_int]
Device: TypeAlias = _device | _str | _int | None
Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | _ndarray | Sequence[Any] | None
"""


def with_imports(dots: str, body: str) -> str:
    """A stub's text, with the imports of the names that it has and does not define or import itself."""
    tree = ast.parse(body)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if used & {"_P", "_R"}:
        used |= {"ParamSpec", "TypeVar"}
        body = VARIABLES + body
    bound = {a.asname or a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
    bound |= {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    bound |= {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    found = {m: [name for name in names if name.split()[-1] in used - bound] for m, names in IMPORTS.items()}
    taken = [f"from {m.format(dots=dots)} import {', '.join(names)}\n" for m, names in found.items() if names]
    return f"{''.join(taken)}{body}" or "from __future__ import annotations\n"


# Methods whose types Python prescribes, and properties that have no annotation.
SPECIAL = {
    "__bool__": "_bool", "__int__": "_int", "__index__": "_int", "__len__": "_int", "__float__": "_float",
    "__complex__": "_complex", "__repr__": "_str", "__str__": "_str", "__hash__": "_int", "__contains__": "_bool",
    "__iter__": "Iterator[Tensor]", "__reversed__": "Tensor", "__array__": "_ndarray", "shape": "_Size",
    "dtype": "_dtype", "device": "_device", "layout": "_layout", "grad": "Tensor | None", "grad_fn": "_Node | None",
    "is_leaf": "_bool", "requires_grad": "_bool", "_base": "Tensor | None",
}  # fmt: skip

# Types of parameters by name, for parameters without annotation and default.
_INTS, _NUMBER = "Ints", "Number"
PARAMETERS = {
    "device": "Device", "layout": "_layout | None", "memory_format": "_memory_format | None",
    "dtype": "_dtype | None", "out": "Tensor | None", "hook": "Callable[..., Any]", "tensors": "Sequence[Tensor]",
    "alpha": _NUMBER, "beta": _NUMBER, "fill_value": _NUMBER,
    **dict.fromkeys(("min", "max", "exponent", "other", "value", "weight", "src", "repeats"), "Tensor | Number"),
    **dict.fromkeys(("start", "end", "mean", "std"), "Tensor | Number"), "steps": "_int", "sections": "_int",
    **dict.fromkeys(("indices", "values", "input_lengths", "target_lengths"), "Tensor | Sequence[Any]"),
    "output_size": "_int | Sequence[_int | None] | None", "spacing": "Number | Sequence[Any]", "hx": "Sequence[Tensor]",
    **dict.fromkeys(("kernel_size", "dilation", "output_padding", "dims", "shifts"), _INTS),
    **dict.fromkeys(("normalized_shape", "split_sizes", "stride", "size", "dim", "shape"), _INTS),
    **dict.fromkeys(("sizes", "pad", "physical_layout"), _INTS),
    **dict.fromkeys(("source", "destination", "indices_or_sections"), f"Tensor | {_INTS}"),
    **dict.fromkeys(("padding",), f"_str | {_INTS}"),
    "*size": _INTS, "*sizes": _INTS, "*dims": _INTS, "*repeats": _INTS, "*tensors": "Tensor | Sequence[Tensor]",
}  # fmt: skip
# Functions of two operands whose first operand may be a number too.
NUMBER_FIRST = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide remainder pow float_power xlogy "  # noqa: SIM905
    "xlog1py zeta bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
)
COMPARISONS = frozenset(("__eq__", "__ne__"))
ARITHMETIC = "add sub mul truediv div floordiv mod pow matmul and or xor lshift rshift".split()  # noqa: SIM905
UNARY = frozenset(("__abs__", "__invert__", "__neg__", "__pos__"))
OPERATORS = frozenset(
    [
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        *(f"__{r}{n}__" for n in ARITHMETIC for r in ("", "r", "i")),
    ]
)


class Names(ast.NodeTransformer):
    """An annotation in the stub's names; what the stub cannot name is `Any`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(TYPES.get(node.id, "Any"))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr == "ndarray":
            return ast.Name("_ndarray")
        if isinstance(node.value, ast.Name) and node.value.id == "return_types":
            return ast.Attribute(ast.Name("_return_types"), node.attr)
        return ast.Name(TYPES.get(node.attr, "Any"))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        base = self.visit(node.value)
        if ast.unparse(base) in ("Any", "Literal"):
            return base if ast.unparse(base) == "Any" else ast.Subscript(base, node.slice)
        return ast.Subscript(base, self.visit(node.slice))


def annotation(value: Any, scope: dict[str, Any]) -> str:
    """The text of an annotation in a stub."""
    if value is inspect.Parameter.empty:
        return "Any"
    text = value if isinstance(value, str) else _plain_text(value)
    alias = scope.get(text)  # such as `Dims`, which stands for a union
    if text not in TYPES and isinstance(alias, (types.UnionType, types.GenericAlias)):
        text = str(alias).replace("collections.abc.", "").replace("typing.", "")
    return shorter(ast.unparse(Names().visit(ast.parse(text, mode="eval").body)))


def shorter(text: str) -> str:
    """The text of a type, with the aliases of `_tape/tensor.pyi` in place of what they stand for."""
    return text.replace("_int | Sequence[_int]", "Ints").replace("_device | _str | _int | None", "Device")


def _plain_text(value: Any) -> str:
    return "None" if value is None else value.__name__ if isinstance(value, type) else str(value).replace("typing.", "")


def default(value: Any) -> str:
    """The text of a default value, `...` unless it is short and plain."""
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return repr(value)
    if type(value) is tuple and all(type(v) in (bool, int) for v in value):
        return repr(value)
    return "..."


def scope_of(fn: Any) -> dict[str, Any]:
    """The globals of the module that a function's annotations refer to; a wrapper's globals are another module's."""
    return vars(sys.modules.get(inspect.unwrap(fn).__module__, types))


def is_generated(fn: Any) -> bool:
    """Whether an operator kind made this function, which then has no annotations of its own."""
    fn = inspect.unwrap(fn)
    return isinstance(fn, types.FunctionType) and fn.__module__ == "wengert" and not fn.__annotations__


BY_FUNCTION = {id(info.op): info for info in REGISTRY.values()}


# Functions and methods whose signatures are written by hand, by space: "torch" -> {"max": [overloads]}.
SIGNATURES: dict[str, dict[str, list[ast.FunctionDef]]] = {}
for _space in ast.parse((Path(__file__).parent / "signatures.pyi").read_text(encoding="utf-8")).body:
    if isinstance(_space, ast.ClassDef):
        _found = SIGNATURES.setdefault(_space.name.strip("_").replace("_", "."), {})
        for _node in _space.body:
            assert isinstance(_node, ast.FunctionDef)
            _found.setdefault(_node.name, []).append(_node)


def parameter_type(fn: Any, p: inspect.Parameter, place: int) -> str:
    """A parameter's type in a stub."""
    mark = "*" if p.kind is p.VAR_POSITIONAL else ""
    if place == 0 and fn.__name__ in NUMBER_FIRST:
        return "Tensor | Number"
    said = annotation(p.annotation, scope_of(fn))
    if said != "Any" or p.kind is p.VAR_KEYWORD:
        return said
    if p.name == "out" and "_return_types" in result_by_name(fn, fn.__name__):
        return "Tensor | Sequence[Tensor] | None"
    if mark + p.name in PARAMETERS:
        kind = PARAMETERS[mark + p.name]
        return f"{kind} | None" if p.default is None and "None" not in kind and kind != "Device" else kind
    if p.annotation is not p.empty or mark:
        return "Any"
    if place == 0 and p.name in ("input", "self"):
        return "Tensor"
    if is_generated(fn) and p.default in (p.empty, None):
        info = BY_FUNCTION.get(id(fn))
        operands = abs(info.arity) if info else 2
        if place >= operands:
            return "Any"
        kind = "Tensor" if place == 0 or (info and info.kind in ("linear", "bilinear")) else "Tensor | Number"
        return kind if p.default is p.empty else f"{kind} | None"
    return {bool: "_bool", int: "_int", float: "_float", str: "_str"}.get(type(p.default), "Any")


def return_type(fn: Any, name: str) -> str:
    """A function's result in a stub."""
    if name in SPECIAL:
        return SPECIAL[name]
    given = inspect.signature(fn).return_annotation
    if given is not inspect.Signature.empty and not (given == "Any" and is_inplace(name)):
        kind = annotation(given, scope_of(fn))
        return result_by_name(fn, name) if kind == "Any" else kind
    if not is_generated(fn):
        return "Tensor" if is_inplace(name) else result_by_name(fn, name)
    info = BY_FUNCTION.get(id(fn))
    return "Tensor" if info is None or info.outputs == 1 else "tuple[Tensor, ...]".replace("tuple", "_tuple")


def result_by_name(fn: Any, name: str) -> str:
    """The named tuple of a function that has the name of a class in `torch.return_types`, or the method's result."""
    name = f"linalg_{name}" if fn.__module__ == "wengert.linalg" else name
    if fn.__qualname__ == name and "value" in fn.__code__.co_freevars and fn.__module__ == "wengert._absent":
        answer = inspect.getclosurevars(fn).nonlocals["value"]()
        kind = "None" if answer is None else annotation(next(c for c in type(answer).__mro__ if c in BUILTINS), {})
        return {"_list": "_list[Any]", "_dict": "_dict[_str, Any]"}.get(kind, kind)
    if hasattr(wengert.return_types, name):
        return f"_return_types.{name}"
    method = vars(wengert.Tensor).get(name)
    if isinstance(method, types.FunctionType) and method is not fn:
        return annotation(inspect.signature(method).return_annotation, scope_of(method))
    return "Any"


def _takes_out(fn: Any) -> bool:
    """Whether the function, or one that it calls in other than the commonest calls, has `out=`."""
    return fn is not None and ("out" in (fn.__kwdefaults__ or {}) or _takes_out(getattr(fn, "__wrapped__", None)))


def parameters(fn: Any, method: bool, out: bool = True) -> str:
    """The parameters of a function, or of a method, whose first is `self`."""
    signature = [p for p in inspect.signature(fn).parameters.values() if out or p.name != "out"]
    if out and _takes_out(fn) and "out" not in inspect.signature(fn).parameters:
        named = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)  # see `with_out`
        signature.insert(len(signature) - (bool(signature) and signature[-1].kind is named.VAR_KEYWORD), named)
    parts: list[str] = []
    if method:
        if signature and signature[0].kind in (signature[0].POSITIONAL_ONLY, signature[0].POSITIONAL_OR_KEYWORD):
            signature = signature[1:]
        parts.append("self")
    starred = False
    old = any(p.name == "old" for p in signature)  # the numbers of PyTorch 0.4 come between the tensors
    for place, p in enumerate(signature, start=int(method)):
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        starred = starred or mark == "*"
        kind = "Tensor | Number" if old and p.kind is p.POSITIONAL_OR_KEYWORD else parameter_type(fn, p, place)
        text = f"{mark}{p.name}: {kind}"
        parts.append(text if p.default is p.empty else f"{text} = {default(p.default)}")
        following = signature[place + 1 - int(method) :]
        if p.kind is p.POSITIONAL_ONLY and not (following and following[0].kind is p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def is_inplace(name: str) -> bool:
    """Whether a name is that of an in-place form, such as `add_`."""
    return name.endswith("_") and not name.endswith("__")


def declared(name: str, fn: Any) -> Any:
    """The function whose parameters are shown; in-place forms and methods pass all their arguments on to it."""
    kinds = [p.kind for p in inspect.signature(fn).parameters.values()]
    hands_on = kinds[-2:] == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    base = vars(wengert.Tensor).get(name[:-1]) if is_inplace(name) and hands_on else None
    if [p.name for p in inspect.signature(fn).parameters.values()] == ["input", "args"]:  # a method, as a function
        base = vars(wengert.Tensor)[name]
    return base if isinstance(base, types.FunctionType) else fn


def is_dunder(name: str) -> bool:
    """Whether a name is one of Python's own, such as `__add__`."""
    return name.startswith("__") and name.endswith("__")


def first_line(obj: Any, indent: str) -> str:
    """The first line of the docstring as a docstring, or `...`."""
    doc = (inspect.getdoc(obj) or "").strip().partition("\n\n")[0].replace("\n", " ").strip()
    if not doc:
        return " ..."
    doc = doc.replace("\\", "\\\\").replace('"""', "'''")
    if doc.endswith('"'):
        doc += " "
    return f'\n{indent}"""{doc}"""'


def written_by_hand(name: str, fn: Any, indent: str, space: str) -> str:
    """The signatures (overloads) of a function in `tools/signatures.pyi`; empty if there is none."""
    found = SIGNATURES.get(space, {}).get(name, [])
    if not found and space == "torch":
        found = SIGNATURES["nn.functional"].get(name, [])
    if not found and space == "Tensor":
        found = [as_method(node) for node in SIGNATURES["torch"].get(name, []) if node.args.args]
    text = ""
    for node in map(copy.deepcopy, found):
        Names().visit(node)
        head = f"{indent}@overload\n" if len(found) > 1 else ""
        shown = " ..." if text else first_line(fn, indent + "    ")  # editors show the first overload's for all
        taken, given = shorter(ast.unparse(node.args)), ast.unparse(node.returns or ast.Name("Any"))
        text += f"{head}{indent}def {name}({taken}) -> {given}:{shown}\n"
    return text


def as_method(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function's signature turned into a method's: the first parameter is `self`, and `out` is dropped."""
    node = copy.deepcopy(node)
    given = node.args
    given.args[0] = ast.arg("self")
    kept = [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if a.arg != "out"]
    given.kwonlyargs, given.kw_defaults = [a for a, _ in kept], [d for _, d in kept]
    return node


def function(name: str, fn: Any, space: str, indent: str = "", method: bool = False) -> str:
    """`def NAME(...) -> ...` with the first line of its docstring."""
    written = written_by_hand(name, fn, indent, space)
    if written:
        return written
    ignore = "  # type: ignore[override]" if name in COMPARISONS else ""
    taken, given = parameters(declared(name, fn), method, out=not method), return_type(fn, name)
    if method and name in OPERATORS:  # Python gives them one operand, of any type
        taken, given = f"self, other: {'Any' if name in COMPARISONS else 'Tensor | Number'}, /", "Tensor"
    elif method and name in UNARY:
        taken = "self"
    head = f"{indent}def {name}({taken}) -> {given}:"
    return f"{head}{ignore}{first_line(fn, indent + '    ')}\n"
