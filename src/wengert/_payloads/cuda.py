"""``device="cuda"``: NVIDIA's cards through CuPy, an extra (``pip install wengert[cuda]``).

CuPy is one registration (``foreign.Library``), made when a program first asks for the device and a card answers. What
``torch.cuda`` has of its own then is in ``names``. NOTE: the tests of this module need a card, and skip without one.
"""

from __future__ import annotations

import functools
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._base.dtypes import device as Device
from .foreign import LIBRARIES, Library


class Cards(Library):
    """CuPy, and the cards that it finds."""

    def __init__(self, cupy: Any) -> None:
        import cupyx
        import cupyx.scipy.special

        self.cupy, self._errstate = cupy, cupyx.errstate
        super().__init__(
            "cuda", cupy, cupy.ndarray, self._upload, cupy.asnumpy, self._strided, lambda a: a.device.id,
            cupyx.scipy.special,
        )  # fmt: skip

    def index(self) -> int:
        return int(self.cupy.cuda.runtime.getDevice())

    def on(self, index: int) -> Any:
        return self.cupy.cuda.Device(index)

    def raising(self) -> Any:
        return self._errstate(linalg="raise")

    def _upload(self, a: np.ndarray, index: int) -> Any:
        with self.on(index):
            return self.cupy.array(a)

    def _strided(self, a: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
        return self.cupy.ndarray(shape, a.dtype, a.data + offset, strides)


@functools.cache
def connected() -> Library | None:
    """CuPy as a library; ``None`` if it is not installed, or no card answers."""
    if "cuda" in LIBRARIES:
        return LIBRARIES["cuda"]
    if find_spec("cupy") is None:
        return None
    try:
        import cupy

        return Cards(cupy) if cupy.cuda.runtime.getDeviceCount() else None
    except (ImportError, RuntimeError, OSError):  # no driver, another version of CUDA, a card that is gone
        return None


def _index(device: Any) -> int:
    """The number of a device, given as PyTorch's functions take it."""
    library: Any = connected()
    if device is None or device == "cuda":
        return library.index()
    if isinstance(device, int):
        return device if device >= 0 else library.index()
    found = Device(device)
    return library.index() if found.index is None else found.index


class device:
    """A context in which new tensors are made on the card of this number."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> device:
        library: Any = connected()
        self._entered = library.on(self.idx)
        self._entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)


def names() -> dict[str, Any]:
    """What ``torch.cuda`` has where a card is, by name; the other names refuse as they do without one."""
    library: Any = connected()
    if library is None:
        return {}
    cupy = library.cupy
    runtime, peak = cupy.cuda.runtime, {"used": 0}

    def pool(device: Any = None) -> Any:
        with library.on(_index(device)):
            return cupy.get_default_memory_pool()

    def synchronize(device: Any = None) -> None:
        """Wait until the card has done everything that it was asked for."""
        with library.on(_index(device)):
            runtime.deviceSynchronize()

    def memory_allocated(device: Any = None) -> int:
        """The bytes of the tensors on the card."""
        peak["used"] = max(peak["used"], used := pool(device).used_bytes())
        return used

    def max_memory_allocated(device: Any = None) -> int:
        """The largest number of bytes that ``memory_allocated`` has returned: CuPy counts no peak."""
        memory_allocated(device)
        return peak["used"]

    def reset_peak_memory_stats(device: Any = None) -> None:
        """Count the peak anew."""
        peak["used"] = 0

    def memory_reserved(device: Any = None) -> int:
        """The bytes that CuPy's pool holds."""
        return pool(device).total_bytes()

    def empty_cache() -> None:
        """Give back the memory that no tensor uses."""
        cupy.get_default_memory_pool().free_all_blocks()

    def mem_get_info(device: Any = None) -> tuple[int, int]:
        """The free and the whole memory of a card, in bytes."""
        with library.on(_index(device)):
            return tuple(runtime.memGetInfo())

    def set_device(device: Any) -> None:
        """Make new tensors on this card."""
        runtime.setDevice(_index(device))

    def get_device_properties(device: Any = None) -> Any:
        """Name, memory and processors of a card."""
        found = runtime.getDeviceProperties(_index(device))
        return SimpleNamespace(
            name=found["name"].decode(), total_memory=found["totalGlobalMem"], major=found["major"],
            minor=found["minor"], multi_processor_count=found["multiProcessorCount"],
        )  # fmt: skip

    def get_device_capability(device: Any = None) -> tuple[int, int]:
        """The version of a card's instructions."""
        found = get_device_properties(device)
        return found.major, found.minor

    def get_device_name(device: Any = None) -> str:
        """The name of a card."""
        return get_device_properties(device).name

    def manual_seed(seed: int) -> None:
        """Seed the default generator, whose numbers go to the card."""
        from .._arrays.random.generator import default_generator

        default_generator.manual_seed(seed)

    found = {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": lambda: None,
        "device_count": runtime.getDeviceCount, "current_device": library.index, "device": device,
        "manual_seed_all": manual_seed, "max_memory_reserved": memory_reserved, "_initialized": True,
        "is_bf16_supported": lambda including_emulation=True: False,
    }  # fmt: skip
    own = (
        synchronize, memory_allocated, max_memory_allocated, reset_peak_memory_stats, memory_reserved, empty_cache,
        mem_get_info, set_device, get_device_properties, get_device_capability, get_device_name, manual_seed,
    )  # fmt: skip
    return found | {fn.__name__: fn for fn in own}
