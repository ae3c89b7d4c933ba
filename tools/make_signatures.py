"""Writes src/wengert/_kinds/signatures.txt: what PyTorch's parser of arguments accepts, for each name of this package.

    python tools/make_signatures.py           write it
    python tools/make_signatures.py --check   exit with 1 if it is not what would be written

The signatures stand as texts in the library of the installed PyTorch. Which of them a function has, and in which order,
its own errors tell: a call with far too many arguments is refused by every one of them.
"""

from __future__ import annotations

import argparse
import re
import sys
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

import wengert
from wengert._kinds.argument_parser import OPTIONS, Signature

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "wengert" / "_kinds" / "signatures.txt"

HEAD = """\
# What PyTorch's parser of arguments accepts, made by tools/make_signatures.py from PyTorch {version}.
# A line has names and their signatures, which "; " separates: ".abs" is a method, "F.pad" a function of nn.functional,
# "name=other" is called the other name in errors. A parameter without a kind is a tensor, {options} are those of all
# makers of tensors. "-" and "o" are functions of C that take nothing, or one argument, and have no parser.
"""
NAMES = {
    "Tensor": "", "Scalar": "number", "int64_t": "int", "SymInt": "index", "double": "float", "complex": "complex",
    "TensorList": "tensors", "IntArrayRef": "ints", "SymIntArrayRef": "ints", "ArrayRef<double>": "floats",
    "ScalarList": "numbers", "Generator": "generator", "bool": "bool", "Storage": "storage", "PyObject*": "object",
    "ScalarType": "dtype", "Layout": "layout", "MemoryFormat": "memory_format", "QScheme": "qscheme",
    "Device": "device", "Stream": "stream", "std::string": "str", "std::string_view": "str", "c10::string_view": "str",
    "c10::List<::std::optional<Tensor>>": "tensors",
}  # fmt: skip
_KIND = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
_PARAMETER = re.compile(rf"({_KIND})(\[\d*\])?(\??)(?:\[\d*\])? (\w+)(=.*)?")
_SPACES = {"torch": "", "Tensor": ".", "linalg": "linalg_", "fft": "fft_", "special": "special_", "nn.functional": "F."}
_PROBE = [object()] * 45


def texts_of_library() -> dict[str, list[str]]:
    """The signatures by the name that they begin with, in this package's notation."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_python.so"
    found = defaultdict(list)
    for name, body, flag in re.findall(rb"\0([A-Za-z_]\w*)\(([ -~]*)\)(\|\w+)?(?=\0)", library.read_bytes()):
        parameters = [_PARAMETER.fullmatch(each) for each in body.decode().split(", ")] if body else []
        written = [
            "*" if each == "*" else f"{NAMES[m[1]]}{m[2] or ''}{m[3]} {m[4]}{m[5] or ''}".strip() if m else ""
            for each, m in zip(body.decode().split(", "), parameters, strict=False)
        ]
        if all(written):
            found[name.decode()].append(f"({', '.join(written)}){flag.decode()}")
    return found


def refusal(function: Any, *args: Any) -> str:
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001  its text is what is asked for
        return str(error)
    return ""


def signatures_of(function: Any, method: bool, texts: dict[str, list[str]]) -> tuple[str, list[str]] | None:
    """The name of a function in its errors, and its signatures; ``None`` if it has no parser, or none that is known."""
    told = refusal(function, *_PROBE)
    name = re.match(r"(?:\w+\.)?(\w+)\(\) (.*)", told)
    if name is None:
        return None
    if name[2].startswith(("takes no arguments", "takes exactly one argument")):
        return name[1], ["-" if "no arguments" in told else "o"]
    if not texts.get(name[1]):
        return None
    known = {each: Signature(name[1], each) for each in texts[name[1]]}
    listed = [line[3:] for line in told.splitlines() if line.startswith(" * ")]
    one = told.partition(", but expected (")[2]
    if listed or one:
        shown = {str(signature): each for each, signature in known.items() if not signature.hidden}
        chosen = [shown[text] for text in listed or ["(" + one]]
    else:
        chosen = [
            each for each, signature in known.items() if not signature.hidden and signature.refusal(_PROBE, {}) == told
        ]
        if len(chosen) > 1:  # a method and a function of one name
            chosen = [each for each in chosen if ("(input" in each) is not method]
    if len(chosen) != (len(listed) or 1):
        sys.exit(f"{told.splitlines()[0]}: which signatures? {known}")
    hidden = [each for each, signature in known.items() if signature.hidden and ("input" in each) is not method]
    return name[1], chosen + hidden


def table() -> str:
    texts = texts_of_library()
    names = defaultdict(set)
    for space, prefix in _SPACES.items():
        theirs, ours = (_module(library, space) for library in (torch, wengert))
        for name in dir(theirs):
            function = getattr(theirs, name)
            if not isinstance(function, types.BuiltinFunctionType | types.MethodDescriptorType) or name[:2] == "__":
                continue
            if not hasattr(ours, name):
                continue
            method = space == "Tensor"
            found = signatures_of(getattr(torch.ones(2, 2), name) if method else function, method, texts)
            if found is not None:
                called = prefix + name
                other = found[0] if found[0] != called.rpartition(".")[2] else ""
                names["; ".join(found[1])].add(called + f"={other}" * bool(other))
    lines = sorted(f"{' '.join(sorted(each))}: {signatures}\n" for signatures, each in names.items())
    return HEAD.format(version=torch.__version__.partition("+")[0], options="$options") + "".join(lines).replace(
        OPTIONS, "$options"
    )


def _module(library: Any, space: str) -> Any:
    for part in space.split(".") if space != "torch" else ():
        library = getattr(library, part)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = table()
    if parser.parse_args().check:
        sys.exit(TARGET.read_text() != made)
    TARGET.write_text(made)


if __name__ == "__main__":
    main()
