"""`python -m wengert show mul`: everything that there is of one operator, as source.

Its declaration, the recording function and the backward step that were put together for it, and its body in NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

from wengert._base.errors import nearest
from wengert._base.registry import PUBLIC, RAW, REGISTRY, Operator
from wengert._cli import UsageError
from wengert._kinds.templates import first_call_of


def main(names: list[str]) -> int:
    """Print the operators of these names."""
    print("\n\n".join(shown(info) for name in names for info in found(name)))
    return 0


def found(name: str) -> list[Operator]:
    """The operators of this name: the registry's, or those that a public function of this name is made of."""
    if name in REGISTRY:
        return [REGISTRY[name]]
    last = name.rpartition(".")[2]
    public = [functions[last] for functions in PUBLIC.values() if last in functions]
    of_public = [info for info in REGISTRY.values() if info.called == last or info.op in public or info.method in public]
    if of_public:
        return of_public
    known = {*REGISTRY, *(info.called for info in REGISTRY.values())}
    raise UsageError(f"there is no operator '{name}'{nearest(last, sorted(known))}")


def shown(info: Operator) -> str:
    """One operator: its parts under headings."""
    parts = {
        "declaration": inspect.getsource(info.body).rstrip(),
        "recording function": source_of(info.op),
        "backward step": "# none: " + str(info.why_not) if info.node is None else source_of(info.node.backward),
        "body in NumPy": _body(info),
    }
    rule = "-" * 100
    return "\n\n".join([f"# {rule}\n# {info.name}: {title}\n{text}" for title, text in parts.items()])


def source_of(fn: Any) -> str:
    """A function's source: of a hot one the text that it was put together from."""
    first_call = first_call_of(fn)
    if first_call is None:
        return inspect.cleandoc("\n" + inspect.getsource(fn)).rstrip()
    text = first_call.shape.text()
    return text.replace(f"def {first_call.shape.body.__name__}(", f"def {first_call.name}(", 1).rstrip()


def _body(info: Operator) -> str:
    if info.decl is not None:
        return "# the declared one, where lib is the array library"
    fn = getattr(RAW, info.name)
    if inspect.isfunction(fn):
        return source_of(fn)
    return f"numpy.{info.libname}  # {fn!r}"
