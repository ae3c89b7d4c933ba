"""Process-wide settings of PyTorch that programs call: threads, determinism, the default device.

The number of threads is that of ``_arrays.threads``, which is passed to NumPy's BLAS library if possible
(``_arrays.blas``). BLAS itself reads the environment (``OMP_NUM_THREADS``, ``OPENBLAS_NUM_THREADS``) when it is loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import blas, shared_ufuncs, threads, uninitialized
from .._base import errors
from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY, device
from .._base.dtypes import dtype as Dtype
from .._base.errors import warn
from .._base.registry import public
from .._kinds.slow_path import misfit
from .._tape.promotion import NUMBER_DTYPES, common_dtype
from .._tape.tensor import Tensor
from .construct import meta_device
from .function_modes import DeviceContext, current_device, with_device
from .override_sites import replace_modes

_deterministic = {"on": False, "warn": False}


def _count(n: Any, function: str) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise RuntimeError(f"{function} expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return n


@public("torch.set_num_threads")
def set_num_threads(n: int, /) -> None:
    """Set the number of threads of one large operator, including NumPy's products if its BLAS library is OpenBLAS.

    The digits of results do not depend on it, unless BLAS splits a large product that is a whole operator (``matmul``,
    ``linear``, ``einsum``) or belongs to ``linalg``.

    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    """
    threads.requested = _count(n, "set_num_threads")
    blas.set_threads(n)
    shared_ufuncs.follow()


@public("torch.get_num_threads")
def get_num_threads() -> int:
    """The number that was set, else the environment's, else the number of processors.

    >>> torch.get_num_threads() > 0
    True
    """
    return threads.requested or threads.default_threads()


@public("torch.set_num_interop_threads")
def set_num_interop_threads(n: int, /) -> None:
    """Store the number for ``get_num_interop_threads``: operators run one after the other.

    >>> torch.set_num_interop_threads(torch.get_num_interop_threads())
    """
    _other["interop"] = _count(n, "set_num_interop_threads")


@public("torch.get_num_interop_threads")
def get_num_interop_threads() -> int:
    """The number that was set, else 1.

    >>> torch.get_num_interop_threads() > 0
    True
    """
    return _other["interop"]


@public("torch.use_deterministic_algorithms")
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Refuse, or with ``warn_only`` warn of, the operators that PyTorch refuses; fill memory that is uninitialised.

    Every operator is deterministic anyway.

    >>> torch.use_deterministic_algorithms(False)
    """
    for name, value, place in (("mode", mode, " (position 1)"), ("warn_only", warn_only, "")):
        if not isinstance(value, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument '{name}'{place} must be bool, not {type_name(value)}"
            )
    _deterministic.update(on=mode, warn=warn_only)
    uninitialized.fill_with_one_value(mode)


def alert_not_deterministic(name: str) -> None:
    """Raise, or warn of, what ``use_deterministic_algorithms`` asks for where PyTorch's kernel is not deterministic."""
    if not _deterministic["on"]:
        return
    lacks = f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True"
    help_us = " file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic "
    if _deterministic["warn"]:
        warn(f"{lacks}, warn_only=True)'. You can{help_us}support for this operation.")
        return
    raise RuntimeError(
        f"{lacks})'. You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, "
        f"if that's acceptable for your application. You can also{help_us}support for this operation."
    )


@public("torch.are_deterministic_algorithms_enabled")
def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` set.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic["on"]


@public("torch.is_deterministic_algorithms_warn_only_enabled")
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What ``use_deterministic_algorithms`` set.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _deterministic["on"] and _deterministic["warn"]


@public("torch.get_deterministic_debug_mode")
def get_deterministic_debug_mode() -> int:
    """0, 1 (warn) or 2 (error), as ``set_deterministic_debug_mode`` or ``use_deterministic_algorithms`` set it.

    >>> torch.get_deterministic_debug_mode()
    0
    """
    return (1 if _deterministic["warn"] else 2) if _deterministic["on"] else 0


@public("torch.set_deterministic_debug_mode")
def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``use_deterministic_algorithms`` by a word or its number: "default" (0), "warn" (1) or "error" (2).

    >>> torch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    names = ("default", "warn", "error")
    if isinstance(debug_mode, str):
        if debug_mode not in names:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = names.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


@public("torch.get_default_device")
def get_default_device() -> device:
    """The device of tensors made without the argument ``device``: the CPU, unless the program sets another.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    chosen = current_device()
    meta_device(chosen)  # an unavailable device may be chosen, but no tensor made on it
    return chosen


@public("torch.set_default_device")
def set_default_device(device: Any) -> None:
    """Set the device of tensors made without the argument ``device``: "cpu" (also ``None``) or "meta".

    >>> torch.set_default_device("meta")
    >>> torch.ones(2)
    tensor(..., device='meta', size=(2,))
    >>> torch.set_default_device(None)
    """
    replace_modes(with_device(None))
    if device is not None:
        replace_modes(with_device(DeviceContext(device)))


@public("torch.result_type")
def result_type(*operands: Any, **named: Any) -> Dtype:
    """The dtype of the result of an operator on two operands: ``tensor`` and ``other``, or ``scalar`` and ``tensor``.

    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    if len(operands) == 2 and not named and type(operands[0]) is Tensor:
        other = type(operands[1])
        if other is Tensor or other in NUMBER_DTYPES:
            return BY_NUMPY[common_dtype(operands)]
    given = [v.item() if isinstance(v, np.generic) else v for v in (*operands, *named.values())]
    known = all(isinstance(v, Tensor) or type(v) in NUMBER_DTYPES for v in given)
    if not known or len(given) != 2 or not named.keys() <= {"tensor", "other", "scalar", "scalar1", "scalar2"}:
        raise misfit("result_type", *operands, **named)
    return BY_NUMPY[common_dtype(given)]


@public("torch.typename")
def typename(obj: Any) -> str:
    """The name of an object's type; for a tensor its legacy type, such as ``torch.FloatTensor``.

    >>> torch.typename(torch.ones(2))
    'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "")
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if name is None:
        module, name = type(obj).__module__, type(obj).__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


@public("torch.set_float32_matmul_precision")
def set_float32_matmul_precision(precision: str) -> None:
    """Stored and returned; float32 products are always computed in float32 (``"highest"``).

    >>> torch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        errors.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has "
            "no effect."
        )
        return
    _other["matmul"] = precision


@public("torch.get_float32_matmul_precision")
def get_float32_matmul_precision() -> str:
    """The value set by ``set_float32_matmul_precision``.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _other["matmul"]


@public("torch.set_warn_always")
def set_warn_always(b: bool, /) -> None:
    """Set whether warnings that PyTorch shows once are shown each time.

    >>> torch.set_warn_always(False)
    """
    errors.always = bool(b)


@public("torch.is_warn_always_enabled")
def is_warn_always_enabled() -> bool:
    """The value set by ``set_warn_always``.

    >>> torch.is_warn_always_enabled()
    False
    """
    return errors.always


@public("torch.set_flush_denormal")
def set_flush_denormal(mode: bool, /) -> bool:
    """False: NumPy's treatment of denormal numbers cannot be changed from here.

    >>> torch.set_flush_denormal(False)  # NumPy does not offer it
    False
    """
    return False


_other: dict[str, Any] = {"matmul": "highest", "interop": 1}
