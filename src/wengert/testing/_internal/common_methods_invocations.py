"""Helpers for tests of operators. ``op_db`` lists the elementwise ones, made from their declarations."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
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
        self.broadcasts_input = False


class DecorateInfo:
    """Decorators for the tests of an operator that a class, a name, a device and dtypes select."""

    def __init__(
        self,
        decorators: Any,
        cls_name: str | None = None,
        test_name: str | None = None,
        *,
        device_type: str | None = None,
        dtypes: Any = None,
        active_if: bool = True,
    ) -> None:
        self.decorators = list(decorators) if isinstance(decorators, (list, tuple)) else [decorators]
        self.cls_name, self.test_name, self.device_type = cls_name, test_name, device_type
        self.dtypes, self.active_if = dtypes, active_if

    def is_active(self, cls_name: str, test_name: str, device_type: str, dtype: Any, param_kwargs: Any) -> bool:
        """Whether a test is one of these."""
        return (
            self.active_if
            and all(
                wanted is None or wanted == given
                for wanted, given in (
                    (self.cls_name, cls_name),
                    (self.test_name, test_name),
                    (self.device_type, device_type),
                )
            )
            and (self.dtypes is None or dtype in self.dtypes)
        )


class OpInfo:
    """One operator for tests: its function, its variants, its dtypes and its samples.

    Args:
        name: the function's name, as in ``torch.NAME``.
        op: the function, if it is another.
        dtypes: those of the tests.
        sample_inputs_func: ``function(info, device, dtype, requires_grad)``, the samples.
        decorators: decorators of all tests, or ``DecorateInfo``s, which ``skips`` are too.
        flags: whatever else PyTorch's tests ask, as attributes.
    """

    def __init__(
        self,
        name: str,
        *,
        op: Any = None,
        aten_name: str | None = None,
        variant_test_name: str = "",
        dtypes: Any = (torch.float32, torch.float64),
        sample_inputs_func: Any = None,
        supports_autograd: bool = True,
        decorators: Any = (),
        skips: Any = (),
        **flags: Any,
    ) -> None:
        self.name, self.aten_name, self.variant_test_name = name, aten_name or name, variant_test_name
        self.op = op if op is not None else operator.attrgetter(name)(torch)
        self.method_variant = PUBLIC["Tensor"].get(name)
        self.inplace_variant = PUBLIC["Tensor"].get(f"{name}_")
        self.dtypes, self.supports_autograd = tuple(dtypes), supports_autograd
        self.decorators = (*decorators, *skips)
        self._samples = sample_inputs_func
        vars(self).update(flags)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    @property
    def formatted_name(self) -> str:
        """The name in the names of tests."""
        return "_".join(part for part in (self.name.replace(".", "_"), self.variant_test_name) if part)

    full_name = property(lambda self: ".".join(part for part in (self.name, self.variant_test_name) if part))

    def supported_dtypes(self, device_type: str) -> tuple[Any, ...]:
        """The dtypes of tests."""
        return self.dtypes

    supported_backward_dtypes = supported_dtypes

    def get_method(self) -> Any:
        """The method of tensors, or None."""
        return self.method_variant

    def get_inplace(self) -> Any:
        """The form that writes, or None."""
        return self.inplace_variant

    def get_decorators(self, test_class: str, test_name: str, device: str, dtype: Any, param_kwargs: Any) -> list[Any]:
        """The decorators of one test."""
        found: list[Any] = []
        for one in self.decorators:
            if not isinstance(one, DecorateInfo):
                found.append(one)
            elif one.is_active(test_class, test_name, device, dtype, param_kwargs):
                found += one.decorators
        return found

    def sample_inputs(self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any) -> Any:
        """The samples: arguments of calls."""
        return self._samples(self, device, dtype, requires_grad, **kwargs)


def _elementwise(
    declared: Any, _: Any, device: Any, dtype: Any, requires_grad: bool, **__: Any
) -> Iterator[SampleInput]:
    """Arguments of some shapes, drawn from where an operator is defined."""
    domains = [declared.domain, declared.domain_other or declared.domain]
    for shape in ((), (3,), (2, 3)):
        first, *rest = [
            make_tensor(shape, device=device, dtype=dtype, low=low, high=high, requires_grad=requires_grad)
            for low, high in domains[: declared.arity]
        ]
        yield SampleInput(first, *rest)


def __getattr__(name: str) -> Any:
    if name != "op_db":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    names = PUBLIC["torch"].names()
    made = [
        OpInfo(key, op=PUBLIC["torch"][key], sample_inputs_func=partial(_elementwise, info))
        for key, info in sorted(REGISTRY.items())
        if info.kind in ("unary", "binary") and key in names and "f" in info.dtypes
    ]
    globals()[name] = made
    return made
