"""`python -m wengert run`: run a program written for PyTorch, in which `torch` is wengert.

`install_torch_alias` puts a finder in front of Python's own: `import torch.x` imports `wengert.x` and enters the same
module object under both names, so there is never a second copy of a class. `run_file` and `run_module` then do what
`python program.py` and `python -m module` do. Uncaught errors go to Python, without this module's frames in their
tracebacks.

`children` sets up the alias in processes that multiprocessing spawns.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import pkgutil
import re
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from . import UsageError
from .children import teach_children
from .names import show_own_names, show_pytorchs_names, spec_that_renames

# --- import torch ---


def install_torch_alias() -> Callable[[], None]:
    """Make `import torch`, and every import below it, give wengert's modules; return a function that undoes it.

    `sys.modules["torch.nn"] is sys.modules["wengert.nn"]`, and so on, for modules imported before or after this call.
    The import of a module that wengert lacks raises a ModuleNotFoundError that says so. A second call has no effect.

    Raises:
        RuntimeError: PyTorch is already imported, and a part of the program would go on to use it.

    Tests must call it in a separate process or undo it: otherwise a later `import torch` would compare wengert with
    itself.
    """
    import wengert

    if sys.modules.get("torch", wengert) is not wengert:
        raise RuntimeError("PyTorch is imported already; install_torch_alias() must come before the first import torch")
    if any(isinstance(finder, _TorchFinder) for finder in sys.meta_path):
        return _remove_torch_alias
    sys.meta_path.insert(0, _TorchFinder())
    for name, module in list(sys.modules.items()):
        if name == "wengert" or name.startswith("wengert."):
            sys.modules.setdefault(_torch_name(name), module)
    show_pytorchs_names()
    return _remove_torch_alias


def _remove_torch_alias() -> None:
    show_own_names()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _TorchFinder)]
    for name in [name for name in sys.modules if name.partition(".")[0] in _PACKAGES]:
        del sys.modules[name]


def _torch_name(wengert_name: str) -> str:
    return "torch" + wengert_name.removeprefix("torch").removeprefix("wengert")


def _wengert_name(torch_name: str) -> str:
    package, dot, rest = torch_name.partition(".")
    return _PACKAGES[package] + dot + rest


#: top-level modules that PyTorch installs, and wengert's modules for them
_PACKAGES = {"torch": "wengert", "functorch": "wengert._functorch.functorch"}


class _TorchFinder(MetaPathFinder):
    """Finds `torch.x` by importing `wengert.x`, whose classes it has renamed; and `functorch`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a module of PyTorch; its loader enters wengert's module under the second name."""
        if fullname.startswith("wengert."):
            return spec_that_renames(fullname, path)
        if fullname.partition(".")[0] not in _PACKAGES:
            return None
        name = _wengert_name(fullname)
        try:
            # Not importlib.import_module: its frame would stand in the tracebacks of users.
            __import__(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise  # wengert has the module, and something that the module imports is missing, such as SciPy
            if _is_a_question():
                return None
            raise ModuleNotFoundError(f"No module named {fullname!r}: {_missing(fullname)}", name=fullname) from None
        sys.modules.pop(fullname, None)  # entered when renamed
        return ModuleSpec(fullname, _AliasLoader(sys.modules[name]))

    def find_distributions(self, context: Any) -> Any:
        """Answer `importlib.metadata`, which shall find a distribution `torch`."""
        from .metadata import TorchDistribution  # imports importlib.metadata, which the caller has imported already

        return [TorchDistribution()] if context.name in (None, "torch") else []


class _AliasLoader(Loader):
    """Enters a module that is already imported under another name.

    A module may replace itself in `sys.modules` while it is loaded; this one always does. If `create_module` returned
    the real module, importlib would write the alias's spec into it.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty `module` by the real one."""
        assert module.__spec__ is not None
        sys.modules[module.__spec__.name] = self.module


def _is_a_question() -> bool:
    """Tell whether `importlib.util.find_spec` is the caller, which expects None where an import raises an error."""
    frame: FrameType | None = sys._getframe(2)  # the finder's caller
    while frame is not None and frame.f_code.co_filename == "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None and frame.f_code is importlib.util.find_spec.__code__


def _missing(name: str) -> str:
    """The text that says that wengert lacks `name`, a dotted name that begins with torch, and where to look."""
    owner = name.rpartition(".")[0]
    return f"wengert does not have {name}; dir({owner}) lists what it has"


def _explain(error: BaseException) -> None:
    """Add a note to an error about something that wengert lacks, if the error does not say so itself."""
    name = None
    if isinstance(error, AttributeError):
        owner = _public_name(error.obj)
        name = owner and f"{owner}.{error.name}"
    elif isinstance(error, ImportError) and error.name and error.name.partition(".")[0] in ("wengert", "torch"):
        # from torch import x. Python 3.12 has the x in `name_from`; 3.11 only in the message.
        found = re.match(r"cannot import name '(\w+)'", str(error))
        if found and "circular import" not in str(error):
            name = f"{_torch_name(error.name)}.{found[1]}"
    if name and "wengert does not have" not in str(error):
        error.add_note(_missing(name))


def _public_name(owner: object) -> str | None:
    """Return PyTorch's dotted name of a module of wengert or of Tensor; None for other objects."""
    tensor = sys.modules["wengert"].Tensor
    if isinstance(owner, tensor) or owner is tensor:
        return "torch.Tensor"
    if isinstance(owner, ModuleType) and owner.__name__.partition(".")[0] in ("wengert", "torch"):
        return _torch_name(owner.__name__)
    return None


# --- python program.py, python -m module ---


def run_file(program: str, arguments: list[str]) -> int:
    """Run a file, or a folder or zip file with a `__main__.py`, as `python program arguments` does."""
    path = os.path.abspath(program)
    archive = pkgutil.get_importer(path)
    if archive is not None:
        return _run_archive(archive, path, [program, *arguments])
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        raise UsageError(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}") from error
    _set_first_path(os.path.dirname(path))
    facts = {"__file__": path, "__loader__": SourceFileLoader("__main__", path)}

    def load() -> _Program:
        # dont_inherit: this module's `from __future__` imports do not apply to the program
        return _Program(compile(source, path, "exec", dont_inherit=True), facts)

    return _run_as_main(load, [program, *arguments])


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module, or a package with a `__main__` module, as `python -m name arguments` does."""
    _set_first_path(os.getcwd())
    if name == "torch" or name.startswith("torch."):
        name = _wengert_name(name)

    def load() -> _Program:
        # private in runpy, but its only function for this step; pdb and trace use it too
        _, spec, code = runpy._get_module_details(name, _NoSuchModule)
        sys.argv[0] = spec.origin
        return _Program(code, _facts(spec))

    return _run_as_main(load, ["-m", *arguments])


def _run_archive(archive: Any, path: str, argv: list[str]) -> int:
    spec = archive.find_spec("__main__")
    if spec is None:
        print(f"{sys.executable}: can't find '__main__' module in {path!r}", file=sys.stderr)
        return 1
    _set_first_path(path)
    return _run_as_main(lambda: _Program(spec.loader.get_code("__main__"), _facts(spec)), argv)


class _NoSuchModule(ImportError):
    """runpy's exception for a module that cannot be run, which Python shows as one line."""


@dataclass(frozen=True)
class _Program:
    code: CodeType
    facts: dict[str, Any]  # the attributes of `__main__`


def _facts(spec: ModuleSpec) -> dict[str, Any]:
    return {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _set_first_path(folder: str) -> None:
    """Replace the first entry of `sys.path` by the program's folder, unless `python -P` left it out."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_as_main(load: Callable[[], _Program], argv: list[str]) -> int:
    """Execute the code that `load` returns as `__main__`; its errors and SystemExit go to Python."""
    install_torch_alias()
    teach_children()
    sys.argv[:] = argv
    main = ModuleType("__main__")
    try:
        program = load()
        vars(main).update({"__builtins__": builtins, "__cached__": None}, **program.facts)
        sys.modules["__main__"] = main
        exec(program.code, vars(main))
    except _NoSuchModule as error:
        print(f"{sys.executable}: {error}", file=sys.stderr)
        return 1
    except SystemExit:
        raise
    except BaseException as error:
        _hide_runner(error)
        raise
    return 0


# --- tracebacks ---

_THIS_FILE = install_torch_alias.__code__.co_filename


def _hide_runner(error: BaseException) -> None:
    """Remove this module's frames from the traceback that Python will print for `error`."""
    for one in _chain(error):
        _explain(one)
        one.__traceback__ = _without_runner(one.__traceback__)
    trace = error.__traceback__
    hook = sys.excepthook

    def show(kind: type[BaseException], value: BaseException, _: TracebackType | None) -> None:
        # On its way up the error has collected the frames of this module and of `python -m wengert`.
        hook(kind, value.with_traceback(trace), trace)

    sys.excepthook = show


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [other for other in (one.__cause__, one.__context__) if other is not None]


def _without_runner(trace: TracebackType | None) -> TracebackType | None:
    """Copy a traceback without the frames of this module and of the machinery that loads a program."""
    kept: list[TracebackType] = []
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        loading = not kept and (filename.startswith("<frozen ") or filename == runpy.__file__)
        if filename != _THIS_FILE and not loading:
            kept.append(trace)
        trace = trace.tb_next
    copy = None
    for one in reversed(kept):
        line = one.tb_lineno if one.tb_lineno is not None else one.tb_frame.f_code.co_firstlineno  # in a last handler
        copy = TracebackType(copy, one.tb_frame, one.tb_lasti, line)
    return copy
