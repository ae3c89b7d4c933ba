"""Switches of ``torch.backends``, which can be set and read and have nothing to switch: names of a module."""

from __future__ import annotations

import contextlib
import functools
import sys
import typing
from collections.abc import Iterator
from typing import Any

from wengert._base.absent import answering, named


def set_switches(module: str, switches: dict[str, Any]) -> tuple[Any, ...]:
    """Set those switches that are not None; what they were."""
    names = vars(sys.modules[module])
    before = tuple(names[name] for name in switches)
    names.update({name: value for name, value in switches.items() if value is not None})
    return before


@contextlib.contextmanager
def switched(module: str, switches: dict[str, Any]) -> Iterator[None]:
    """Set those switches that are not None, for a block."""
    before = set_switches(module, switches)
    try:
        yield
    finally:
        vars(sys.modules[module]).update(zip(switches, before, strict=True))


def switching(name: str, call: Any, doc: str, parameters: Any, ignored: tuple[str, ...] = ()) -> Any:
    """What makes a module's function of switches: one of these ``parameters``, which are its ``locals()``."""

    def made(module: str) -> dict[str, Any]:
        taken = answering(name, parameters, doc)

        @functools.wraps(taken)
        def function(*args: Any, **kwargs: Any) -> Any:
            return call(module, {n.lstrip("_"): v for n, v in taken(*args, **kwargs).items() if n not in ignored})

        return {name: named(function, name, doc, module)}

    return made


def flags(parameters: Any) -> Any:
    """``flags(...)``: a context in which the switches are these."""
    ignored = ("benchmark_limit", "fp32_precision")
    return switching("flags", switched, "A context in which the switches are these.", parameters, ignored)


def set_flags(parameters: Any) -> Any:
    """``set_flags(...)``: sets the switches that are not None."""
    doc = "Set those switches that are not None; what they were."
    return switching("set_flags", set_switches, doc, parameters, ("_fp32_precision",))


def _none() -> dict[str, Any]:
    return {}


def reading(name: str, switch: str) -> Any:
    """What makes a module's function that reads a switch."""
    return switching(name, lambda module, _: vars(sys.modules[module])[switch], "The switch.", _none)


def setting(name: str, switch: str, parameters: Any = lambda enabled: locals()) -> Any:
    """What makes a module's function that sets a switch."""

    def call(module: str, given: dict[str, Any]) -> None:
        set_switches(module, dict.fromkeys((switch,), *given.values()))

    return switching(name, call, "Set the switch, which has nothing to switch.", parameters)


class cuBLASModule:
    """The switches of matrix products on a GPU."""

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False
        self.fp32_precision = "none"


class cuFFTPlanCacheManager:
    """The cache of plans of Fourier transforms on a GPU: empty."""

    size = 0
    max_size = 0

    def clear(self) -> None:
        """Nothing to clear."""


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A context in which the switches of attention are these."""
    kinds = {"_flash": enable_flash, "_math": enable_math, "_mem_efficient": enable_mem_efficient}
    with switched("wengert.backends.cuda", {**kinds, "_cudnn": enable_cudnn}):
        yield


def add_docstr(obj: Any, doc: str) -> Any:
    """The object with its docstring."""
    obj.__doc__ = doc
    return obj


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Any:
    """A function that calls ``if_true`` or ``if_false``, as the argument of this name or at this place says."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_true.__doc__ or if_false.__doc__
    fn.__module__, fn.__name__ = module_name, func_name
    return fn


def skipped(fn: Any) -> Any:
    """The test, which unittest skips."""
    import unittest

    return unittest.skip("not built")(fn)


class InferredType:
    """The type of a value for TorchScript: ``annotation``, as Python writes it, or None where there is none."""

    def __init__(self, annotation: Any, reason: str = "") -> None:
        self.annotation, self._reason = annotation, reason

    @property
    def annotation_str(self) -> str:
        """The annotation as text."""
        return getattr(self.annotation, "__name__", str(self.annotation).replace("typing.", ""))

    def success(self) -> bool:
        """Whether the value has a type."""
        return self.annotation is not None

    def reason(self) -> str:
        """Why it has none."""
        return self._reason

    def type(self) -> InferredType:
        """The type."""
        return self


def share_storage(a: Any, b: Any) -> bool:
    """Whether both are tensors with the same storage; a sparse tensor has none."""
    from wengert import Tensor

    if any(not isinstance(t, Tensor) or t.is_sparse for t in (a, b)):
        return False
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def infer_type(obj: Any) -> InferredType:
    """The type of a value for TorchScript: that of its items, for a container whose items have one type."""
    from wengert import Tensor, dtype

    if isinstance(obj, Tensor):
        return InferredType(Tensor)
    if obj is None or isinstance(obj, (bool, int, float, complex, str)):
        return InferredType(type(obj))
    if isinstance(obj, dtype):
        return InferredType(int)
    if not isinstance(obj, (list, tuple, dict)):
        return InferredType(None, f"Only tensors and (possibly nested) tuples of tensors, lists, or dicts: {type(obj)}")
    items = [infer_type(x).annotation for x in ([*obj.keys(), *obj.values()] if isinstance(obj, dict) else obj)]
    if isinstance(obj, tuple) and None not in items:
        return InferredType(typing.Tuple[tuple(items) or ((),)])  # noqa: UP006
    half = len(items) // 2 if isinstance(obj, dict) else len(items)
    if not items or None in items or len(set(items[:half])) > 1 or len(set(items[half:])) > 1:
        return InferredType(None, f"{type(obj).__name__.title()} inputs must have elements of one type")
    if isinstance(obj, list):
        return InferredType(typing.List[items[0]])  # type: ignore[valid-type]  # noqa: UP006
    return InferredType(typing.Dict[items[0], items[-1]])  # type: ignore[valid-type]  # noqa: UP006
