"""``GradScaler``: multiplies the loss before the backward pass and divides the gradients after it.

In narrow dtypes small gradients would underflow to zero. A step whose gradients are not finite is skipped, and the
scale is reduced; after enough good steps it grows again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import wengert as torch

from .._base import dtypes
from .._base.errors import warn
from .._tape.tensor import Tensor, alias_payload, wrap

__all__ = ["GradScaler"]

#: the entries of ``state_dict`` beside the scale, and their attributes
_SAVED = {
    "growth_factor": "_growth_factor",
    "backoff_factor": "_backoff_factor",
    "growth_interval": "_growth_interval",
    "_growth_tracker": "_growth_tracker",
}


class GradScaler:
    """Scales losses, unscales gradients, and skips steps whose gradients are not finite.

    For "cuda", the default, it disables itself with a warning, as in PyTorch without a GPU: then ``scale`` returns its
    argument, ``step`` always steps, and ``update`` does nothing.

    Args:
        device: "cuda" or "cpu".
        init_scale: the first scale.
        growth_factor: the scale is multiplied by this after ``growth_interval`` good steps.
        backoff_factor: the scale is multiplied by this after a skipped step.
        growth_interval: the number of good steps in a row after which the scale grows.
        enabled: False to do nothing.

    >>> import wengert as torch
    >>> w = torch.nn.Parameter(torch.ones(1))
    >>> optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale((w * w).sum()).backward()
    >>> w.grad
    tensor([8.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.grad, w.item()
    (tensor([2.]), 0.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and dtypes.device(device).type == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._stages: dict[int, tuple[str, bool]] = {}  # by optimizer: stage, all finite

    # ---- the loss
    def scale(self, outputs: Any) -> Any:
        """Return a loss, or losses in containers, multiplied by the scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = wrap(np.array(self._init_scale, np.float32))
        return self._scaled(outputs)

    def _scaled(self, outputs: Any) -> Any:
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self._scaled, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    # ---- the gradients
    def _current(self, function: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {function} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, before clipping for example."""
        if not self._enabled:
            return
        scale = self._current("unscale_")
        stage, _ = self._stages.get(id(optimizer), ("ready", True))
        if stage == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        self._stages[id(optimizer)] = ("unscaled", _unscale(optimizer, np.float32(1.0 / scale.item())))

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients and, if they are finite, call ``optimizer.step(...)``; return its result or None."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._current("step")
        stage, _ = self._stages.get(id(optimizer), ("ready", True))
        if stage == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        if stage == "ready":
            self.unscale_(optimizer)
        finite = self._stages[id(optimizer)][1]
        result = optimizer.step(*args, **kwargs) if finite else None
        self._stages[id(optimizer)] = ("stepped", finite)
        return result

    def update(self, new_scale: Any = None) -> None:
        """Adjust the scale according to the steps since the last update, or set it to ``new_scale``."""
        if not self._enabled:
            return
        scale = self._current("update")
        if new_scale is not None:
            self._set(scale, new_scale)
        elif not self._stages:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif all(finite for _, finite in self._stages.values()):
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                larger = np.float32(scale.item() * self._growth_factor)
                if np.isfinite(larger):
                    scale.fill_(float(larger))
                self._growth_tracker = 0
        else:
            scale.fill_(scale.item() * self._backoff_factor)
            self._growth_tracker = 0
        self._stages = {}

    @staticmethod
    def _set(scale: Tensor, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
            return
        if not isinstance(new_scale, Tensor) or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                "requires_grad=False."
            )
        scale.fill_(new_scale.item())

    # ---- facts
    def get_scale(self) -> float:
        """The scale; 1 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of good steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The state, for ``load_state_dict`` of wengert or PyTorch; empty if the scaler is disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale()} | {key: getattr(self, name) for key, name in _SAVED.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state; does nothing if the scaler is disabled."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        loaded = {name: state_dict[key] for key, name in _SAVED.items()}
        scale = torch.full((), state_dict["scale"], dtype=dtypes.float32)  # these refuse what are no numbers
        loaded["_growth_tracker"] = torch.full((), loaded["_growth_tracker"], dtype=dtypes.int32).item()
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.copy_(scale)
        vars(self).update(loaded)

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._stages:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
        if not self._enabled:
            return self.__dict__.copy()
        return {**self.__dict__, "_init_scale": self.get_scale(), "_scale": None}


def _unscale(optimizer: Any, factor: np.float32) -> bool:
    """Multiply the gradients of an optimizer's parameters by a factor; return whether all were finite."""
    finite = True
    for group in optimizer.param_groups:
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if grad.dtype is dtypes.float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            finite = finite and bool(np.isfinite(alias_payload(grad)).all())
            if not math.isclose(factor, 1.0, rel_tol=0.0):
                grad.mul_(float(factor))
    return finite
