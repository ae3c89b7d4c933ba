"""Tensors made under ``inference_mode``: operators may read them, but no node may save them for a backward pass.

The version of all inference tensors that live at a time is one ``InferenceVersion``, which counts nothing. While it
lives, recording operators leave the hot path, and ``refuse_saved`` checks whether they saved one. (The backward
pass finds a value that was saved in another way: the version's sequence number is later than every node's.)

The tensor's array is a read-only view. So the direct ways of writing in place fail and fall back to
``views.writable``, which checks whether the mode is on.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.memory import locked
from .._base.errors import noted
from .._base.modes import MODE, in_reverse_mode, inference_tensors, is_inference_mode_enabled, slow_if_recording
from .node import Box, Port, Version, box_of, version_of, view_of


class _Ignored:
    """An attribute whose assignment has no effect."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self.value

    def __set__(self, owner: Any, value: Any) -> None:
        pass


class InferenceVersion(Version):
    """The version cell of tensors made in inference mode, which does not count writes."""

    __slots__ = ("__weakref__", "mark")
    read_only = True  # for _tensor.alias_payload

    def __init__(self) -> None:
        super().__init__()
        self.mark = inference_tensors.mark(slow_if_recording)

    def shown(self) -> int:
        """Raises RuntimeError: inference tensors have no version."""
        raise RuntimeError("Inference tensors do not track version counter.")

    _seq = _Ignored(float("inf"))  # later than every node
    version = _Ignored(0)


class DataOfInference(InferenceVersion):
    """The version of an inference tensor's ``data``, which is an inference tensor that may be written anywhere."""

    __slots__ = ()
    shown = Version.shown
    version = Version.__dict__["version"]  # counts


def _no_version() -> InferenceVersion | None:
    return None


_living: Callable[[], InferenceVersion | None] = _no_version  # a weak reference to the version of inference tensors


def mark(t: Any) -> Any:
    """Turn a new tensor into an inference tensor."""
    global _living
    cell = _living()
    if cell is None:
        cell = InferenceVersion()
        _living = weakref.ref(cell)
        if (mode := MODE.get()) is not None:
            mode.version = cell  # not made anew for each of a series of tensors that die at once
    return _with_version(t, cell)


def mark_data(t: Any) -> Any:
    """``mark`` for the ``data`` of an inference tensor."""
    return _with_version(t, DataOfInference())


def _with_version(t: Any, cell: InferenceVersion) -> Any:
    a = t._payload
    if type(a) is np.ndarray:
        a = t._payload = locked(a)
    t._box = box = Box()
    box.a = a
    box.cell = cell
    return t


def mark_if_on(t: Any) -> Any:
    """``mark`` for a new tensor, if the mode is on."""
    return mark(t) if is_inference_mode_enabled() else t


def is_inference(t: Any) -> bool:
    """Whether a tensor was made in inference mode, or is a view of such a tensor."""
    while True:
        box = t._box
        if box is not None and box.cell is not None:
            return isinstance(box.cell, InferenceVersion)
        view = view_of(t)
        if view is None:
            return False
        t = view[0]


def refuse_saved(result: Any) -> None:
    """PyTorch's error if the node of an operator's result saved an inference tensor.

    In reverse mode of ``torch.func`` it may: PyTorch has wrapped the tensor.
    """
    admitted = in_reverse_mode()
    for t in result if isinstance(result, (tuple, list)) else (result,):
        n = getattr(t, "_node", None)
        n = n.fx if type(n) is Port else n
        if n is None or not n._seq:
            continue
        for name in type(n).__slots__:
            saved = getattr(n, name, None)
            if not _holds_one(saved):
                continue
            if not admitted:
                t._node = None
                raise not_saved()
            setattr(n, name, _without_versions(saved))


def _holds_one(saved: Any) -> bool:
    if type(saved) is Box:
        return isinstance(saved.cell, InferenceVersion)
    return type(saved) is list and any(_holds_one(v) for v in saved)


def _without_versions(saved: Any) -> Any:
    """A saved value, or a list of some, with boxes of their own for inference tensors."""
    if type(saved) is list:
        return [_without_versions(v) for v in saved]
    if not _holds_one(saved):
        return saved
    box = Box()
    box.a, box.cell = saved.a, None
    return box


def box_to_save(t: Any) -> Box:
    """The box of a tensor that a custom function saves; ``refuse_saved``'s error for an inference tensor."""
    box = box_of(t)
    if not (inference_tensors and is_inference(t)):
        return box
    if not in_reverse_mode():
        raise not_saved()
    return _without_versions(box)  # type: ignore[no-any-return]


def refuse_write(t: Any) -> None:
    """PyTorch's error for a write in place to an inference tensor outside the mode."""
    if is_inference(t) and not is_inference_mode_enabled() and type(version_of(t)) is not DataOfInference:
        raise noted(
            RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
                "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more "
                "details."
            ),
            "Why: the tensor was made under inference_mode, where no versions are counted.",
        )


def not_saved() -> RuntimeError:
    """The error of a formula that needs a saved inference tensor."""
    return noted(
        RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    )
