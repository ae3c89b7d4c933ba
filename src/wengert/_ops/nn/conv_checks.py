"""PyTorch's errors for sizes, strides and paddings of convolutions."""

from __future__ import annotations

from typing import Any

Ints = tuple[int, ...]


def check_ranks(name: str, k: int, x: Ints, w: Ints, padding: Any = 0) -> None:
    """Raise PyTorch's errors unless the input is a batch of signals, images or volumes."""
    if len(x) not in (k + 1, k + 2):
        raise RuntimeError(
            f"Expected {k + 1}D (unbatched) or {k + 2}D (batched) input to {name}, but got input of size: {list(x)}"
        )
    if len(w) < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if len(w) != k + 2 and isinstance(padding, str):
        raise RuntimeError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight{list(w)}, but got "
            f"{len(x)}-dimensional input of size {list(x)} instead"
        )
    if len(w) != k + 2:
        raise RuntimeError(
            f"expected stride to be a single integer value or a list of {len(w) - 2} values to match the convolution "
            f"dimensions, but got stride={[1] * k}"
        )


def check_elements(x: Ints) -> None:
    """Raise PyTorch's error for images without elements; a signal is an image of one row."""
    if 0 in x[2:]:
        shape = [*x[:2], *(1,) * (len(x) == 3), *x[2:]]
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")


def check_positive(stride: Ints, padding: Ints, dilation: Ints) -> None:
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero")
