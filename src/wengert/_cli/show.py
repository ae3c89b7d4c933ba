"""`python -m wengert show mul`: everything that there is of one operator, as source.

Its declaration, the recording function and the backward step that were put together for it, and its body in NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

from wengert._base.errors import nearest
from wengert._base.registry import ARRAYS, PUBLIC, REGISTRY, Operator
from wengert._cli import UsageError
from wengert._kinds.templates import first_call_of


def main(names: list[str]) -> int:
    """Print the operators, or the functions made of operators, of these names."""
    print("\n\n".join(text for name in names for text in texts(name)))
    return 0


def texts(name: str) -> list[str]:
    """What is printed for a name."""
    operators = found(name)
    if operators:
        return [shown(info) for info in operators]
    last = name.rpartition(".")[2]
    public = [functions[last] for functions in PUBLIC.values() if last in functions]
    if not public:
        known = {*REGISTRY, *(word for functions in PUBLIC.values() for word in functions)}
        raise UsageError(f"there is no operator '{name}'{nearest(last, sorted(known))}")
    return [_headed(last, {"a function that is made of operators": source_of(inspect.unwrap(public[0]))})]


def found(name: str) -> list[Operator]:
    """The operators of this name: the registry's, or those that a public function of this name is made from."""
    if name in REGISTRY:
        return [REGISTRY[name]]
    last = name.rpartition(".")[2]
    public = [functions[last] for functions in PUBLIC.values() if last in functions]
    infos = REGISTRY.values()
    return [info for info in infos if info.called == last or info.op in public or info.method in public]


def shown(info: Operator) -> str:
    """One operator: its parts under headings."""
    parts = {
        "declaration": inspect.getsource(info.body).rstrip(),
        "recording function": source_of(info.op),
        "backward step": "# none: " + str(info.no_derivative) if info.node is None else source_of(info.node.backward),
        "body in NumPy": _body(info),
    }
    return _headed(info.name, parts)


def _headed(name: str, parts: dict[str, str]) -> str:
    rule = "-" * 100
    return "\n\n".join([f"# {rule}\n# {name}: {title}\n{text}" for title, text in parts.items()])


def source_of(fn: Any) -> str:
    """A function's source: of a hot one the text that it was put together from."""
    first_call = first_call_of(fn)
    if first_call is None:
        return inspect.cleandoc("\n" + inspect.getsource(fn)).rstrip()
    text = first_call.shape.text()
    return text.replace(f"def {first_call.shape.kind}(", f"def {first_call.name}(", 1).rstrip()


def _body(info: Operator) -> str:
    if info.decl is not None:
        return "# the declared one, where lib is the array library"
    fn = inspect.unwrap(getattr(ARRAYS, info.name))
    if inspect.isfunction(fn):
        return source_of(fn)
    return f"numpy.{info.libname}  # {fn!r}"
