"""What no annotation says: signatures with several results, for tools/make_stubs.py.

A class stands for a module, ``_Tensor`` for the class. A function of ``torch`` with a first parameter is a method too,
without ``out``, unless ``_Tensor`` has one of that name.
"""

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Literal, ParamSpec, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from wengert import Size, Tensor, device, dtype, memory_format, return_types

Number: TypeAlias = bool | int | float | complex
Index: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")

class torch:
    @overload
    def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def max(
        input: Tensor, dim: int, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None
    ) -> return_types.max: ...
    @overload
    def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(
        input: Tensor, dim: int, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None
    ) -> return_types.min: ...
    @overload
    def median(input: Tensor) -> Tensor: ...
    @overload
    def median(
        input: Tensor, dim: int, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None
    ) -> return_types.median: ...
    @overload
    def nanmedian(input: Tensor) -> Tensor: ...
    @overload
    def nanmedian(
        input: Tensor, dim: int, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None
    ) -> return_types.nanmedian: ...
    @overload
    def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor: ...
    @overload
    def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    @overload
    def where(condition: Tensor) -> tuple[Tensor, ...]: ...
    @overload
    def where(
        condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor: ...
    @overload
    def std(
        input: Tensor,
        dim: int | Sequence[int] | None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def std(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        *,
        correction: Number | None = None,
        keepdim: bool = False,
        out: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def std(input: Tensor, unbiased: bool = True) -> Tensor: ...
    @overload
    def var(
        input: Tensor,
        dim: int | Sequence[int] | None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def var(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        *,
        correction: Number | None = None,
        keepdim: bool = False,
        out: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def var(input: Tensor, unbiased: bool = True) -> Tensor: ...
    @overload
    def std_mean(
        input: Tensor, dim: int | Sequence[int] | None, unbiased: bool = True, keepdim: bool = False
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def std_mean(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        *,
        correction: Number | None = None,
        keepdim: bool = False,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def std_mean(input: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]: ...
    @overload
    def var_mean(
        input: Tensor, dim: int | Sequence[int] | None, unbiased: bool = True, keepdim: bool = False
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def var_mean(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        *,
        correction: Number | None = None,
        keepdim: bool = False,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def var_mean(input: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        input: Tensor,
        sorted: bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: int | None = None,
    ) -> Tensor: ...
    @overload
    def unique(
        input: Tensor,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any: ...
    @overload
    def unique_consecutive(
        input: Tensor,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: int | None = None,
    ) -> Tensor: ...
    @overload
    def unique_consecutive(
        input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any: ...
    @overload
    def lu(
        input: Tensor,
        pivot: bool = True,
        get_infos: Literal[False] = False,
        *,
        out: Tensor | Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def lu(
        input: Tensor, pivot: bool = True, *, get_infos: Literal[True], out: Tensor | Sequence[Tensor] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def atleast_1d(tensor: Tensor, /) -> Tensor: ...
    @overload
    def atleast_1d(*tensors: Any) -> tuple[Tensor, ...]: ...
    @overload
    def atleast_2d(tensor: Tensor, /) -> Tensor: ...
    @overload
    def atleast_2d(*tensors: Any) -> tuple[Tensor, ...]: ...
    @overload
    def atleast_3d(tensor: Tensor, /) -> Tensor: ...
    @overload
    def atleast_3d(*tensors: Any) -> tuple[Tensor, ...]: ...
    @overload
    def compile(
        model: Callable[_P, _R],
        *,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        backend: str | Callable[..., Any] = "inductor",
        mode: str | None = None,
        options: dict[str, Any] | None = None,
        disable: bool = False,
        **kwargs: Any,
    ) -> Callable[_P, _R]: ...
    @overload
    def compile(
        model: None = None,
        *,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        backend: str | Callable[..., Any] = "inductor",
        mode: str | None = None,
        options: dict[str, Any] | None = None,
        disable: bool = False,
        **kwargs: Any,
    ) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
    def is_tensor(obj: Any) -> TypeIs[Tensor]: ...
    def broadcast_shapes(*shapes: int | Sequence[int]) -> Size: ...
    def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]: ...

class _Tensor:
    def __getitem__(self, key: Index | tuple[Index, ...]) -> Tensor: ...
    def __setitem__(self, key: Index | tuple[Index, ...], value: Any) -> None: ...
    def cuda(
        self,
        device: device | int | str | None = None,
        non_blocking: bool = False,
        memory_format: memory_format = ...,
    ) -> Tensor: ...
    def as_subclass(self, cls: type[_R]) -> _R: ...
    def item(self) -> int | float | bool: ...
    def tolist(self) -> list[Any]: ...
    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    @overload
    def type(self, dtype: None = None, non_blocking: bool = False) -> str: ...
    @overload
    def type(self, dtype: str | dtype, non_blocking: bool = False) -> Tensor: ...
    @overload
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor: ...

class nn_functional:
    @overload
    def max_pool1d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool1d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max_pool2d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool2d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max_pool3d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool3d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool1d(
        input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool1d(
        input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool2d(
        input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool2d(
        input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool3d(
        input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool3d(
        input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def fractional_max_pool2d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: Literal[False] = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def fractional_max_pool2d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        *,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def fractional_max_pool3d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: Literal[False] = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def fractional_max_pool3d(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        *,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...
