"""Parametrized tests: one method for each value, with a name that contains the value.

A decorator sets ``parametrize_fn`` on the function, which makes the variants. ``instantiate_parametrized_tests`` or
``instantiate_device_type_tests`` replaces the method in the class by its variants.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import wengert as torch

from ._test_case import setting

#: the function, the suffix of its name, its additional arguments, and a function from these to its decorators
Variant = tuple[Any, str, dict[str, Any], Callable[[dict[str, Any]], Iterable[Any]]]


def dtype_name(dtype: Any) -> str:
    """The name of a dtype without its module."""
    return str(dtype).removeprefix("torch.")


class subtest:
    """One value of a parameter, with an optional name and decorators."""

    __slots__ = ["arg_values", "decorators", "name"]

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Any = None) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, list(decorators or ())


class _TestParametrizer:
    """Base of decorators that make variants of a test."""

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        raise NotImplementedError

    def __call__(self, fn: Any) -> Any:
        outer = self._parametrize_test
        fn.parametrize_fn = (
            compose_parametrize_fns(fn.parametrize_fn, outer) if hasattr(fn, "parametrize_fn") else outer
        )
        return fn


def compose_parametrize_fns(old_parametrize_fn: Any, new_parametrize_fn: Any) -> Any:
    """All combinations of the variants of both."""

    def composed(test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        for _, old_name, old_kwargs, old_decorators in old_parametrize_fn(test, generic_cls, device_cls):
            for made, name, kwargs, decorators in new_parametrize_fn(test, generic_cls, device_cls):
                twice = set(kwargs) & set(old_kwargs)
                if twice:
                    raise RuntimeError(f"Parametrization over the same parameter by multiple decorators: {twice}")
                full = "_".join(part for part in (name, old_name) if part)

                def both(params: Any, one: Any = decorators, other: Any = old_decorators) -> list[Any]:
                    return [*one(params), *other(params)]

                yield made, full, {**old_kwargs, **kwargs}, both

    return composed


def _shown(index: int, name: str, value: Any) -> str:
    if isinstance(value, (int, float, str)):
        return f"{name}_{str(value).replace('.', '_')}"
    if isinstance(value, torch.dtype):
        return dtype_name(value)
    if isinstance(value, torch.device):
        return str(value)
    return f"{name}{index}"


class parametrize(_TestParametrizer):
    """The values of one or several parameters: ``@parametrize("a,b", [(1, 2), (3, 4)])``."""

    def __init__(self, arg_str: str, arg_values: Iterable[Any], name_fn: Any = None) -> None:
        self.arg_names = [name.strip() for name in arg_str.split(",") if name.strip()]
        self.arg_values = arg_values
        self.name_fn = name_fn

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        if not self.arg_names:
            yield test, "", {}, lambda _: []
            return
        empty = True
        for index, value in enumerate(self.arg_values):
            empty = False
            case = value if isinstance(value, subtest) else subtest(value)
            values = [case.arg_values] if len(self.arg_names) == 1 else list(case.arg_values)
            if len(values) != len(self.arg_names):
                raise RuntimeError(
                    f"Expected # values == # arg names, but got: {len(values)} values and "
                    f'{len(self.arg_names)} names for test "{test.__name__}"'
                )
            if case.name is not None:
                name = case.name
            elif self.name_fn is not None:
                name = self.name_fn(*values)
            else:
                name = "_".join(_shown(index, n, v) for n, v in zip(self.arg_names, values, strict=True))

            def decorators(_: Any, found: Any = case.decorators) -> Any:
                return found

            yield test, name, dict(zip(self.arg_names, values, strict=True)), decorators
        if empty:
            raise ValueError(
                "An empty arg_values was passed to @parametrize. Note that this may result from reuse of a generator."
            )


class reparametrize(_TestParametrizer):
    """A decorator that applies a function to each variant of another decorator."""

    def __init__(self, parametrizer: _TestParametrizer, adapter_fn: Any) -> None:
        self.parametrizer, self.adapter_fn = parametrizer, adapter_fn

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        for made, name, kwargs, decorators in self.parametrizer._parametrize_test(test, generic_cls, device_cls):
            adapted = self.adapter_fn(name, kwargs)
            for new_name, new_kwargs in adapted if isinstance(adapted, list) else [adapted]:
                yield made, new_name, new_kwargs, decorators


class decorateIf(_TestParametrizer):
    """A decorator that applies only to variants whose parameters satisfy a predicate."""

    def __init__(self, decorator: Any, predicate_fn: Any) -> None:
        self.decorator, self.predicate_fn = decorator, predicate_fn

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        yield test, "", {}, lambda params: [self.decorator] if self.predicate_fn(params) else []


def variant(test: Any, kwargs: dict[str, Any], decorators: Iterable[Any]) -> Any:
    """A new function that runs the test with these arguments and decorators."""

    @functools.wraps(test)
    def instantiated(self: Any, *args: Any, **more: Any) -> Any:
        return test(self, *args, **kwargs, **more)

    instantiated.__dict__.pop("parametrize_fn", None)
    made: Any = instantiated
    del made.__wrapped__  # pytest would take the parameters for fixtures
    for decorator in decorators:
        made = decorator(made)
    return made


def instantiate_parametrized_tests(generic_cls: Any) -> Any:
    """Replace each test in the class by its variants. Also a class decorator."""
    for name, test in list(vars(generic_cls).items()):
        if not hasattr(test, "parametrize_fn"):
            continue
        delattr(generic_cls, name)
        for made, suffix, kwargs, decorators in test.parametrize_fn(test, generic_cls, None):
            full = f"{name}_{suffix}" if suffix else name
            if hasattr(generic_cls, full):
                raise RuntimeError(f"Redefinition of test {full}")
            function = variant(made, kwargs, decorators(kwargs))
            function.__name__ = full
            setattr(generic_cls, full, function)
    return generic_cls


class swap(_TestParametrizer):
    """A test for each value of ``torch.__future__.set_swap_module_params_on_conversion``."""

    def __init__(self, swap_values: Iterable[bool]) -> None:
        self.swap_values = swap_values

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[Variant]:
        for value in self.swap_values:
            yield _with_swap(test, value), f"swap_{value}", {}, lambda _: []


def _with_swap(test: Any, value: bool) -> Any:
    @functools.wraps(test)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        future = torch.__future__
        ask, change = future.get_swap_module_params_on_conversion, future.set_swap_module_params_on_conversion
        with setting(value, ask, change):
            return test(*args, **kwargs)

    return wrapper
