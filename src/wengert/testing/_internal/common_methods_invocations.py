"""Helpers for tests of operators. ``op_db`` lists the elementwise ones, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import wengert as torch

from ..._base.registry import PUBLIC, REGISTRY
from ..._tape.tensor import Tensor
from .._creation import make_tensor

__all__: list[str] = []


def mask_not_all_zeros(shape: Any) -> Tensor:
    """A random mask of ones and zeros that is not all zeros."""
    if len(shape) == 0:
        raise AssertionError("shape must have at least one dimension, got length 0")
    while True:
        result = torch.randn(shape).gt(0)
        if result.sum() > 0:
            return result


class NoArgsClass:
    """Represents "no arguments" in samples."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise StopIteration

    def __len__(self) -> int:
        return 0


NO_ARGS = NoArgsClass()


class SampleInput:
    """The arguments of one call of an operator."""

    def __init__(self, input: Any, *var_args: Any, args: Any = None, kwargs: Any = None, **var_kwargs: Any) -> None:
        self.input = input
        self.args: tuple[Any, ...] = var_args if args is None else tuple(args)
        self.kwargs: dict[str, Any] = var_kwargs if kwargs is None else kwargs


class OpInfo:
    """One operator for tests: its function, its variants, its dtypes and its samples."""

    variant_test_name = ""
    supports_autograd = True
    decorators: tuple[Any, ...] = ()

    def __init__(self, name: str, declared: Any) -> None:
        self.name = self.aten_name = name
        self.op = PUBLIC["torch"][name]
        self.method_variant = PUBLIC["Tensor"].get(name)
        self.inplace_variant = PUBLIC["Tensor"].get(f"{name}_")
        self.dtypes = (torch.float32, torch.float64)
        self._declared = declared

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    @property
    def formatted_name(self) -> str:
        """The name in the names of tests."""
        return self.name.replace(".", "_")

    def supported_dtypes(self, device_type: str) -> tuple[Any, ...]:
        """The dtypes of tests."""
        return self.dtypes

    supported_backward_dtypes = supported_dtypes

    def sample_inputs(
        self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any
    ) -> Iterator[SampleInput]:
        """Arguments of some shapes, drawn from where the operator is defined."""
        domains = [self._declared.domain, self._declared.domain_other or self._declared.domain]
        for shape in ((), (3,), (2, 3)):
            first, *rest = [
                make_tensor(shape, device=device, dtype=dtype, low=low, high=high, requires_grad=requires_grad)
                for low, high in domains[: self._declared.arity]
            ]
            yield SampleInput(first, *rest)


def __getattr__(name: str) -> Any:
    if name != "op_db":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    names = PUBLIC["torch"].names()
    made = [
        OpInfo(key, info)
        for key, info in sorted(REGISTRY.items())
        if info.kind in ("unary", "binary") and key in names and "f" in info.dtypes
    ]
    globals()[name] = made
    return made
