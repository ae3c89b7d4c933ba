"""The argument ``out=``: writing a result into the user's tensor, and the rules for that tensor's dtype.

A declaration sets an operator's rule: ``out_rule=`` of a kind, ``keywords.with_out(rule)`` for a function. By default
the result is converted to any dtype of its kind of number or a higher one (``CONVERTIBLE``), as in PyTorch's
elementwise operators and reductions; PyTorch's other kernels require exactly the result's dtype (``EXACT``, ``SAME``),
each with an error message of its own (``exactly``, ``convertible``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.layouts import is_dense
from .._arrays.memory import address_of, storage_of
from .._arrays.overlap import APART, meets, met, refuse_repeated
from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY, can_cast
from .._base.errors import warn
from .._base.modes import is_grad_enabled
from .._base.registry import REGISTRY
from .._payloads.transforms import DEPTH, Batched, Dual
from .._tape.error_text import cpp_name
from .._tape.promotion import logical_dtype
from .._tape.tensor import CPU, Tensor, device_of
from .._tape.unrecorded import no_grad_views
from .._tape.views import count_write, refuse_no_grad_view, writable
from .return_types import ReturnType, type_of_outs


# ---- rules
class Rule:
    """The dtypes that ``out`` may have, and the error message for others.

    In ``message``, ``{Result}`` and ``{Out}`` stand for the dtypes as in ``Float``, ``{result}`` and ``{out}`` for
    their names in C++, as in ``long int``. ``fits(result, out)`` decides, with NumPy's dtypes as arguments.
    """

    __slots__ = ("error", "fits", "message")

    def __init__(self, message: str, fits: Callable[[Any, Any], bool], error: type[Exception]) -> None:
        self.message = message
        self.fits = fits
        self.error = error

    def check(self, result: Any, out: Any) -> None:
        """Raise the rule's error unless a result of this dtype may be written into ``out``."""
        if result is not out and not self.fits(result, out):
            raise self.error(_filled(self.message, result, out))


class RuleOf:
    """The rule that a function of the call's arguments chooses."""

    __slots__ = ("choice",)

    def __init__(self, choice: Callable[..., Rule]) -> None:
        self.choice = choice


Rules = Rule | RuleOf | tuple[Rule, ...] | None


def exactly(message: str, error: type[Exception] = RuntimeError) -> Rule:
    """The rule that ``out`` must have the result's dtype."""
    return Rule(message, lambda result, out: False, error)


def convertible(message: str, error: type[Exception] = RuntimeError) -> Rule:
    """The rule that the result must be convertible to the dtype of ``out`` (``can_cast``)."""
    return Rule(message, lambda result, out: can_cast(BY_NUMPY[result], BY_NUMPY[out]), error)


def safely(name: str, argument: str = "result") -> Rule:
    """``convertible`` with the error message of PyTorch's linear algebra."""
    message = "{0}: Expected {1} to be safely castable from {{Result}} dtype, but got {1} with dtype {{Out}}"
    return convertible(message.format(name, argument))


def of_kind(kinds: str, message: str, error: type[Exception] = RuntimeError) -> Rule:
    """The rule that the dtype of ``out`` must have one of NumPy's kinds: "f", "c", "b", ..."""
    return Rule(message, lambda result, out: out.kind in kinds, error)


def _filled(message: str, result: Any, out: Any) -> str:
    names = {"Result": BY_NUMPY[result].scalar_name, "Out": BY_NUMPY[out].scalar_name}
    return message.format(**names, result=cpp_name(result), out=cpp_name(out))


CONVERTIBLE = convertible("result type {Result} can't be cast to the desired output type {Out}")
EXACT = exactly("Expected out tensor to have dtype {result}, but got {out} instead")
ANY = Rule("", lambda result, out: True, RuntimeError)
SAME = exactly("Found dtype {Out} but expected {Result}")


# ---- writing
def _has_duals(values: Any, kind: type = Dual) -> bool:
    return any(isinstance(v, Tensor) and isinstance(v._payload, kind) for v in values)


def write_out(
    out: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, rule: Rules = None
) -> Any:
    """Compute, then write into the tensor ``out`` (or tuple of tensors), which is resized if its shape differs.

    The default rule for the dtype of ``out`` is the attribute ``out_rule`` of the function ``op``.
    """
    name = getattr(op, "__name__", "op").strip("_")
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
        if getattr(o._payload, "is_traced", False):  # the write, which may resize it, is not recorded
            o._payload.tracer.stop("a result is written into out=")
    if DEPTH.get():
        if _has_duals((*args, *outs)):
            raise NotImplementedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
            )
        if _has_duals((*args, *outs), Batched):
            raise RuntimeError(
                f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work on out= or view "
                "ops."
            )
    result = op(*args, **(kwargs or {}))
    if is_grad_enabled() and _any_history((*outs, result)) and _differentiable(result):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    info = REGISTRY.get(name)
    if name in APART or name in _IN_PARTS or (info is not None and info.batch == "elementwise" and name != "ndtr"):
        results = result if isinstance(result, tuple) else (result,)
        _refuse_overlap(outs, results, (*args, *(kwargs or {}).values()), name)
    chosen: Any = rule or getattr(op, "out_rule", CONVERTIBLE)
    if isinstance(chosen, RuleOf):
        chosen = chosen.choice(*args, **(kwargs or {}))
    if not isinstance(result, tuple):
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
        store_out(out, result, chosen)
        return out
    if isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
    if len(outs) != len(result):
        raise TypeError(f"expected tuple of {len(result)} elements but got {len(outs)}")
    rules = chosen if isinstance(chosen, tuple) else (chosen,) * len(result)
    for o, r, each in zip(outs, result, rules, strict=True):
        each.check(logical_dtype(r), logical_dtype(o))
    for o, r, each in zip(outs, result, rules, strict=True):
        store_out(o, r, each)
    return type_of_outs(type(result))._make(outs) if isinstance(result, ReturnType) else type(result)(outs)


# Functions that copy an input, mostly the first, to ``out`` in PyTorch, which refuses a part of the same memory. Of
# their other inputs it does not ask.
_COPIED = {
    **dict.fromkeys((
        "addbmm", "addmm", "addmv", "addr", "baddbmm", "cumprod", "cumsum", "logcumsumexp", "msort", "renorm", "sort",
        "triangular_solve",
    ), 0),
    "solve_triangular": 1,
}  # fmt: skip
_IN_PARTS = {  # and those that are elementwise kernels in PyTorch, but not here
    *_COPIED, "addcdiv", "addcmul", "bernoulli", "clamp", "clamp_max", "clamp_min", "div", "gelu", "hardshrink",
    "ldexp", "lerp", "logit", "nan_to_num", "normal", "polygamma", "softplus", "softshrink",
}  # fmt: skip
# These copy the first input too, and want the others apart.
_ONTO = ("index_add", "index_copy", "index_reduce", "scatter", "scatter_add", "scatter_reduce")


def _refuse_overlap(outs: Any, results: Any, args: Any, name: str) -> None:
    """Raise PyTorch's error if an ``out`` repeats elements, or has memory of an input.

    The very memory of an input, in the same order, is admitted unless they must be apart (``APART``): then it is that
    of an ``out`` which has the result's shape.
    """
    for o, r in zip(outs, results, strict=False):
        a = o._payload
        if (
            type(a) is not np.ndarray
            or not isinstance(r._payload, (np.ndarray, np.generic))
            or not (a.size or name in APART)
        ):
            continue
        if name not in _COPIED:
            refuse_repeated(a)
        elif a.shape != r._payload.shape:
            continue
        first = address_of(a)
        for k, given in enumerate(args if (copied := _COPIED.get(name)) is None else args[copied : copied + 1]):
            apart = name in APART and (k > 0 or name not in _ONTO)
            for t in given if isinstance(given, (tuple, list)) else (given,):
                b = t._payload if isinstance(t, Tensor) else None
                if type(b) is not np.ndarray:
                    continue
                if apart and a.shape != r._payload.shape:
                    low, high = np.lib.array_utils.byte_bounds(b)  # of one storage: others may merely lie behind it
                    shared = b.size > 0 and storage_of(a) is storage_of(b)
                    overlap = o is t or (shared and low < first + r._payload.nbytes and first < high)
                else:
                    overlap = meets(a, b, apart)
                if overlap:
                    raise met()


def _differentiable(result: Any) -> bool:
    """Whether a result, or one of several, has a dtype with derivatives: comparisons write to any tensor."""
    results = result if isinstance(result, tuple) else (result,)
    return any(logical_dtype(r).kind in "fcV" for r in results)


def _any_history(values: Any) -> bool:
    return any(
        a._node is not None if isinstance(a, Tensor) else isinstance(a, tuple) and _any_history(a) for a in values
    )


def _store_elsewhere(out: Tensor, result: Tensor) -> None:
    """Store a result in an ``out`` tensor if the result or ``out`` is not on the CPU."""
    if out.device is not result.device:
        raise RuntimeError(
            f"Attempting to copy from device {result.device} to device {out.device}, but cross-device copies are not "
            "allowed!"
        )
    if out._payload.shape != result._payload.shape:
        out._payload = result._payload.astype(out._payload.dtype)
        if out._box is not None:
            out._box.a = out._payload
    elif getattr(out._payload, "is_foreign", False):
        out._payload.write(result._payload)
    count_write(out)


def store_out(out: Tensor, result: Tensor, rule: Rule = CONVERTIBLE) -> None:
    """Store a result in an ``out`` tensor."""
    if no_grad_views and not is_grad_enabled():
        refuse_no_grad_view(out)
    a, r = out._payload, result._payload
    if getattr(a, "is_sparse", False) or getattr(r, "is_sparse", False):
        from .._tape.replaced import replace_payload

        rule.check(logical_dtype(result), logical_dtype(out))
        replace_payload(out, r)
        count_write(out)
        return
    rule.check(r.dtype, a.dtype)
    if device_of(a) is not CPU or device_of(r) is not CPU or hasattr(a, "asked"):
        _store_elsewhere(out, result)
        return
    if a.shape != r.shape:
        if a.size:
            warn(
                f"An output with one or more elements was resized since it had shape {list(a.shape)}, which does not "
                f"match the required output shape {list(r.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse "
                "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
            )
        if out._node is not None:
            out._payload = np.array(r, dtype=a.dtype)
            if out._box is not None:
                out._box.a = out._payload
        else:
            _resize(out, r)
            np.copyto(writable(out), r, casting="unsafe")
            return
    else:
        np.copyto(writable(out), r, casting="unsafe")
    count_write(out)


def _resize(out: Any, r: Any) -> None:
    """Give ``out`` the shape and strides of the result, in the memory that is there if it is enough; counts a write."""
    out.resize_(r.shape)
    steps = tuple([s // r.itemsize for s in r.strides])
    if r.size and steps != out.stride() and is_dense(r.shape, r.strides, r.itemsize):
        out.as_strided_(r.shape, steps, out.storage_offset())
