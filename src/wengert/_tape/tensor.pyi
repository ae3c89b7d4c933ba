# Made by tools/make_stubs.py; do not edit.
from numpy import ndarray as _ndarray
from builtins import bool as _bool, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Literal, ParamSpec, SupportsIndex, TypeAlias, TypeVar, overload
from .. import return_types as _return_types
from .._base.constants import Size as _Size, device as _device, layout as _layout, memory_format as _memory_format
from .._base.dtypes import dtype as _dtype
from .._tape.node import Node as _Node, RemovableHandle as _RemovableHandle
from .._tensor_api.storage import TypedStorage as _TypedStorage, UntypedStorage as _UntypedStorage
from ..random import Generator as _Generator
_P = ParamSpec("_P")
_R = TypeVar("_R")

Number: TypeAlias = _bool | _int | _float | _complex
Ints: TypeAlias = _int | Sequence[_int]
Device: TypeAlias = _device | _str | _int | None
Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | _ndarray | Sequence[Any] | None

new: Any
CPU: Any
META: Any
class TensorMeta(type):
    def __getattr__(self, name: _str) -> Any: ...
def construct(cls: Any, args: _tuple[Any, ...], kwargs: _dict[_str, Any]) -> Any: ...
class _LegacyNew:
    def __getattr__(self, name: _str) -> Any: ...
def _looked_up(self: Tensor) -> _Node | None: ...
def _of_recorded(view: _tuple[Any, ...]) -> _bool: ...
def device_of(a: Any) -> _device: ...
def in_memory(a: Any) -> Any: ...
make: Any
def wrap(a: Any, fn: _Node | None=None) -> Tensor: ...
def tensor_on(a: Any, fn: _Node | None=None) -> Tensor: ...
def payload_like(a: Any, make: Any) -> Any: ...
def note_view(base: Tensor, view: Tensor) -> None: ...
def shared_payload(tensor: Tensor, alias: Tensor, counted: _bool) -> Any: ...
def alias_payload(tensor: Tensor, view: Tensor | None=None) -> Any: ...
def given_away(tensor: Tensor) -> Any: ...
stale_views: Any
def current_fn(tensor: Tensor) -> _Node | None: ...
def shown_fn(tensor: Tensor) -> _Node | None: ...

class Tensor(metaclass=TensorMeta):
    """A multi-dimensional array that can record the operators applied to it."""
    _payload: Any
    _node: Any
    _box: Any
    _view: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    @property
    def T(self) -> Tensor:
        """A view with the dimensions in reverse order."""
    def __abs__(self) -> Tensor:
        """The absolute value of each element; its derivative at 0 is 0."""
    def __add__(self, other: Tensor | Number, /) -> Tensor:
        """Sum of each pair of elements, broadcasting."""
    def __and__(self, other: Tensor | Number, /) -> Tensor:
        """Bitwise and; logical and for bools."""
    def __array__(self, dtype: _dtype | None = None, copy: _bool | None = None) -> _ndarray: ...
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def __array_namespace__(self, *, api_version: _str | None = None) -> Any:
        """The functions of the Python array API standard for tensors, `wengert.array_api`."""
    def __array_ufunc__(self, ufunc: Any, method: _str, *inputs: Any, **options: Any) -> Any: ...
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: _bool = False) -> Tensor: ...
    def __bool__(self) -> _bool:
        """Whether the one element is not zero; RuntimeError if there are more or fewer."""
    def __complex__(self) -> _complex: ...
    def __contains__(self, element: Any) -> _bool: ...
    def __deepcopy__(self, memo: _dict[_int, Any]) -> Tensor: ...
    def __delitem__(self, key: Any) -> None:
        """``del x[...]`` is an error: a tensor keeps its elements."""
    def __dir__(self) -> _list[_str]: ...
    def __div__(self, other: Tensor | Number, /) -> Tensor:
        """Quotient of each pair of elements, broadcasting; integers become the default dtype."""
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """The tensor's memory for another library (the DLPack protocol); one that requires grad is refused."""
    def __dlpack_device__(self) -> _tuple[_int, _int]:
        """(1, 0): the CPU; of another library's array its own."""
    def __eq__(self, other: Any, /) -> Tensor:  # type: ignore[override]
        """Whether the elements are equal, as bools."""
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: Tensor | Number, /) -> Tensor:
        """Quotient rounded down; it has no derivative."""
    def __format__(self, spec: _str) -> _str: ...
    def __ge__(self, other: Tensor | Number, /) -> Tensor:
        """Whether ``input >= other``, element by element."""
    def __getitem__(self, key: Index | _tuple[Index, ...]) -> Tensor:
        """``x[...]``: a view if the key has only ints, slices, ``None`` and ``...``; else a copy of the selected part."""
    def __gt__(self, other: Tensor | Number, /) -> Tensor:
        """Whether ``input > other``, element by element."""
    def __hash__(self) -> _int: ...
    def __iadd__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``add``."""
    def __iand__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``bitwise_and``."""
    def __idiv__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``div``."""
    def __ifloordiv__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``floor_divide``."""
    def __ilshift__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``bitwise_left_shift``."""
    def __imod__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``mod``."""
    def __imul__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``mul``."""
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> Tensor:
        """``bitwise_not``."""
    def __ior__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``bitwise_or``."""
    def __ipow__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``pow``."""
    def __irshift__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``bitwise_right_shift``."""
    def __isub__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``sub``."""
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``div``."""
    def __ixor__(self, other: Tensor | Number, /) -> Tensor:
        """In-place form of ``bitwise_xor``."""
    def __le__(self, other: Tensor | Number, /) -> Tensor:
        """Whether ``input <= other``, element by element."""
    def __len__(self) -> _int: ...
    def __lshift__(self, other: Tensor | Number, /) -> Tensor:
        """Shift the bits to the left, which multiplies by powers of two."""
    def __lt__(self, other: Tensor | Number, /) -> Tensor:
        """Whether ``input < other``, element by element."""
    def __matmul__(self, other: Tensor | Number, /) -> Tensor:
        """``a @ b``: see ``matmul``."""
    def __mod__(self, other: Tensor | Number, /) -> Tensor:
        """The remainder of division, with the sign of the divisor, like Python's ``%``; a zero has the dividend's sign."""
    def __mul__(self, other: Tensor | Number, /) -> Tensor:
        """Product of each pair of elements, broadcasting."""
    def __ne__(self, other: Any, /) -> Tensor:  # type: ignore[override]
        """Whether the elements differ, as bools."""
    def __neg__(self) -> Tensor:
        """Each element with its sign changed."""
    def __or__(self, other: Tensor | Number, /) -> Tensor:
        """Bitwise or; logical or for bools."""
    def __pos__(self) -> Tensor:
        """Return the tensor itself; bools are an error."""
    def __pow__(self, other: Tensor | Number, /) -> Tensor:
        """``input ** other``, broadcasting."""
    def __radd__(self, other: Tensor | Number, /) -> Tensor:
        """Sum of each pair of elements, broadcasting."""
    def __rand__(self, other: Tensor | Number, /) -> Tensor:
        """``and`` with a number on the left."""
    def __rdiv__(self, other: Tensor | Number, /) -> Tensor:
        """A number divided by each element, computed as in PyTorch: the reciprocal times the number."""
    def __reduce_ex__(self, protocol: Any) -> _tuple[Any, ...]: ...
    def __repr__(self, *, tensor_contents: Any = None) -> _str: ...
    def __reversed__(self) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | Number, /) -> Tensor:
        """``floordiv`` with a number on the left."""
    def __rlshift__(self, other: Tensor | Number, /) -> Tensor:
        """``lshift`` with a number on the left."""
    def __rmatmul__(self, other: Tensor | Number, /) -> Tensor:
        """``a @ b`` where a is no Tensor."""
    def __rmod__(self, other: Tensor | Number, /) -> Tensor:
        """``mod`` with a number on the left."""
    def __rmul__(self, other: Tensor | Number, /) -> Tensor:
        """Product of each pair of elements, broadcasting."""
    def __ror__(self, other: Tensor | Number, /) -> Tensor:
        """``or`` with a number on the left."""
    def __rpow__(self, other: Tensor | Number, /) -> Tensor:
        """The left operand to the power of each element."""
    def __rrshift__(self, other: Tensor | Number, /) -> Tensor:
        """``rshift`` with a number on the left."""
    def __rshift__(self, other: Tensor | Number, /) -> Tensor:
        """Shift the bits to the right, which divides by powers of two and rounds down."""
    def __rsub__(self, other: Tensor | Number, /) -> Tensor:
        """``other - input``."""
    def __rtruediv__(self, other: Tensor | Number, /) -> Tensor:
        """A number divided by each element, computed as in PyTorch: the reciprocal times the number."""
    def __rxor__(self, other: Tensor | Number, /) -> Tensor:
        """``xor`` with a number on the left."""
    def __setitem__(self, key: Index | _tuple[Index, ...], value: Any) -> None:
        """``x[...] = v``: write ``v`` (a tensor that broadcasts, or a number) into the part that ``x[...]`` reads."""
    def __sub__(self, other: Tensor | Number, /) -> Tensor:
        """Difference of each pair of elements, broadcasting."""
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The default for subclasses: run the function on tensors and return instances of the subclass."""
    def __truediv__(self, other: Tensor | Number, /) -> Tensor:
        """Quotient of each pair of elements, broadcasting; integers become the default dtype."""
    def __xor__(self, other: Tensor | Number, /) -> Tensor:
        """Bitwise exclusive or; logical exclusive or for bools."""
    @property
    def _backward_hooks(self) -> Any:
        """The hooks of ``register_hook`` by their handles' ids; ``None`` if there are none."""
    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None: ...
    @_backward_hooks.deleter
    def _backward_hooks(self) -> None: ...
    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of; ``None`` if it is not a view."""
    @property
    def _cdata(self) -> _int:
        """A number that is unique among living tensors. PyTorch returns the address of a C++ object; pyro compares them."""
    def _coalesced_(self, coalesced: _bool) -> Tensor:
        """Mark the tensor, without a check, as coalesced or not."""
    def _dimI(self) -> _int:
        """The number of sparse dimensions; 0 for a dense tensor."""
    def _dimV(self) -> _int:
        """The number of dense dimensions."""
    @property
    def _grad_fn(self) -> Any:
        """``grad_fn`` under its older name."""
    @_grad_fn.deleter
    def _grad_fn(self) -> None: ...
    def _indices(self) -> Tensor:
        """``indices`` of any sparse tensor, coalesced or not."""
    def _is_all_true(self) -> Tensor:
        """Whether all elements of a bool tensor are True, in ``vmap`` those of all examples."""
    def _is_any_true(self) -> Tensor:
        """Whether an element of a bool tensor is True, in ``vmap`` of any example."""
    _is_root: ClassVar[_bool]
    def _is_view(self) -> _bool:
        """Whether this tensor is a view of another."""
    @staticmethod
    def _make_subclass(cls: _type, data: Tensor, require_grad: _bool = False, **kwargs: Any) -> Tensor:
        """A leaf of a subclass on the memory of ``data``, outside of its history."""
    @staticmethod
    def _make_wrapper_subclass(cls: _type, size: Ints, strides: Any = None, storage_offset: Any = None, memory_format: _memory_format | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, *policies: Any, **named_policies: Any) -> Tensor:
        """A tensor without memory of its own, whose class's ``__torch_dispatch__`` computes operators on it."""
    def _neg_view(self) -> Tensor:
        """A view that shows the negatives of the elements, as ``x.conj().imag`` does."""
    def _nnz(self) -> _int:
        """The number of stored elements (or dense parts)."""
    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        """The hooks of ``register_post_accumulate_grad_hook`` by their handles' ids; ``None`` if there are none."""
    def _refuse_export(self) -> None:
        """Raises BufferError if the tensor requires grad: another library's computations are not recorded."""
    def _rev_view_func_unsafe(self, new_view: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None) -> Tensor | None:
        """A tensor of the geometry of this view's base, on the memory of ``new_view``; ``None`` if this is not a view."""
    def _typed_storage(self) -> _TypedStorage:
        """``storage()`` without its warning."""
    def _use_count(self) -> _int:
        """PyTorch's count of owners in C++ of what a tensor stands for: Python, and the node of a leaf in a graph."""
    def _values(self) -> Tensor:
        """``values`` of any sparse tensor, coalesced or not; not recorded."""
    @property
    def _version(self) -> _int: ...
    def _view_func(self, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None) -> Tensor | None:
        """Apply this view's operators to another base of the same sizes and strides; ``None`` if this is not a view."""
    def _view_func_unsafe(self, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None) -> Tensor | None:
        """``_view_func`` on a base of any sizes and strides."""
    def abs(self) -> Tensor:
        """The absolute value of each element; its derivative at 0 is 0."""
    def abs_(self) -> Tensor:
        """In-place form of ``abs``, for real tensors."""
    def absolute(self) -> Tensor:
        """The absolute value of each element; its derivative at 0 is 0."""
    def absolute_(self) -> Tensor:
        """In-place form of ``abs``, for real tensors."""
    def acos(self) -> Tensor:
        """The inverse cosine of each element, in radians."""
    def acos_(self) -> Tensor:
        """In-place form of ``acos``."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element; nan below 1."""
    def acosh_(self) -> Tensor:
        """In-place form of ``acosh``."""
    def add(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """``input + alpha * other``, broadcasting; ``other`` is a tensor or a number."""
    def add_(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """In-place form of ``add``."""
    def addbmm(self, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * sum(batch1 @ batch2)`` over the batch."""
    def addbmm_(self, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place form of ``addbmm``."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Tensor | Number = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``, broadcasting."""
    def addcdiv_(self, tensor1: Tensor | Number, tensor2: Any, *rest: Any, value: Tensor | Number = 1) -> Tensor:
        """In-place form of ``addcdiv``."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Tensor | Number = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``, broadcasting."""
    def addcmul_(self, tensor1: Tensor | Number, tensor2: Any, *rest: Any, value: Tensor | Number = 1) -> Tensor:
        """In-place form of ``addcmul``."""
    def addmm(self, mat1: Tensor | Number, mat2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * mat1 @ mat2``; input broadcasts to ``(n, m)``."""
    def addmm_(self, mat1: Tensor | Number, mat2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place form of ``addmm``."""
    def addmv(self, mat: Tensor | Number, vec: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * mat @ vec``; input broadcasts to ``(n,)``."""
    def addmv_(self, mat: Tensor | Number, vec: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place form of ``addmv``."""
    def addr(self, vec1: Tensor | Number, vec2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""
    def addr_(self, vec1: Tensor | Number, vec2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place form of ``addr``."""
    def adjoint(self) -> Tensor:
        """The conjugate transpose of each matrix of a batch."""
    def all(self, dim: Ints | None = None, keepdim: _bool = False) -> Tensor:
        """Whether all elements are true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing."""
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether all elements are close (``isclose``), as a Python bool."""
    def amax(self, dim: Ints | None = (), keepdim: _bool = False) -> Tensor:
        """The largest element over one, several or all dims; equal ones share the gradient evenly."""
    def amin(self, dim: Ints | None = (), keepdim: _bool = False) -> Tensor:
        """The smallest element over one, several or all dims; equal ones share the gradient evenly."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> _return_types.aminmax:
        """The smallest and the largest of all elements, or along a dim."""
    def angle(self) -> Tensor:
        """The angle of each element in radians; 0 or pi for a real number."""
    def any(self, dim: Ints | None = None, keepdim: _bool = False) -> Tensor:
        """Whether any element is true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing."""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by a Python function of it; slow, and never recorded."""
    def arccos(self) -> Tensor:
        """The inverse cosine of each element, in radians."""
    def arccos_(self) -> Tensor:
        """In-place form of ``acos``."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element; nan below 1."""
    def arccosh_(self) -> Tensor:
        """In-place form of ``acosh``."""
    def arcsin(self) -> Tensor:
        """The inverse sine of each element, in radians."""
    def arcsin_(self) -> Tensor:
        """In-place form of ``asin``."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
    def arcsinh_(self) -> Tensor:
        """In-place form of ``asinh``."""
    def arctan(self) -> Tensor:
        """The inverse tangent of each element, in radians."""
    def arctan2(self, other: Tensor | Number) -> Tensor:
        """The angle in radians of the point (other, input), between -pi and pi."""
    def arctan2_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``atan2``."""
    def arctan_(self) -> Tensor:
        """In-place form of ``atan``."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
    def arctanh_(self) -> Tensor:
        """In-place form of ``atanh``."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Index of the largest element: in the flattened tensor, or along a dim. The first of equal ones."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Index of the smallest element: in the flattened tensor, or along a dim. The first of equal ones."""
    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """The indices that sort the elements along a dim; equal elements as in ``sort``."""
    def argwhere(self) -> Tensor:
        """The indices of the nonzero elements, a row for each, as in ``nonzero``."""
    def as_strided(self, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
        """A view of the tensor's storage with any size and strides (counted in elements)."""
    def as_strided_(self, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
        """In-place form of ``as_strided``."""
    def as_strided_scatter(self, src: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
        """A copy of ``input`` with ``src`` where ``input.as_strided(size, stride, storage_offset)`` would be."""
    def as_subclass(self, cls: _type[_R]) -> _R:
        """The tensor as an instance of a subclass, with the same memory and history."""
    def asin(self) -> Tensor:
        """The inverse sine of each element, in radians."""
    def asin_(self) -> Tensor:
        """In-place form of ``asin``."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
    def asinh_(self) -> Tensor:
        """In-place form of ``asinh``."""
    def atan(self) -> Tensor:
        """The inverse tangent of each element, in radians."""
    def atan2(self, other: Tensor | Number) -> Tensor:
        """The angle in radians of the point (other, input), between -pi and pi."""
    def atan2_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``atan2``."""
    def atan_(self) -> Tensor:
        """In-place form of ``atan``."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
    def atanh_(self) -> Tensor:
        """In-place form of ``atanh``."""
    def backward(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: Any = None, *, retain_variables: _bool | None = None) -> None:
        """Accumulate this tensor's gradients into the leaves it was computed from; see ``autograd.backward``."""
    def baddbmm(self, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2)``; input broadcasts to ``(b, n, m)``."""
    def baddbmm_(self, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In-place form of ``baddbmm``."""
    def bernoulli(self, p: _float | None = None, *, generator: _Generator | None = None) -> Tensor:
        """Ones with the probabilities that ``input`` holds (or all with probability ``p``), else zeros."""
    def bernoulli_(self, p: Any = 0.5, *, generator: _Generator | None = None) -> Tensor:
        """Fill with ones of probability ``p``, a number or a tensor that broadcasts, and zeros elsewhere."""
    def bfloat16(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.bfloat16``; itself if it is in that dtype already."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """The number of elements equal to each integer from 0 on, or the sum of their weights."""
    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """Bitwise and; logical and for bools."""
    def bitwise_and_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``bitwise_and``."""
    def bitwise_left_shift(self, other: Tensor | Number) -> Tensor:
        """Shift the bits to the left, which multiplies by powers of two."""
    def bitwise_left_shift_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``bitwise_left_shift``."""
    def bitwise_not(self) -> Tensor:
        """Bitwise not; logical not for bools."""
    def bitwise_not_(self) -> Tensor:
        """In-place form of ``bitwise_not``."""
    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """Bitwise or; logical or for bools."""
    def bitwise_or_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``bitwise_or``."""
    def bitwise_right_shift(self, other: Tensor | Number) -> Tensor:
        """Shift the bits to the right, which divides by powers of two and rounds down."""
    def bitwise_right_shift_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``bitwise_right_shift``."""
    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """Bitwise exclusive or; logical exclusive or for bools."""
    def bitwise_xor_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``bitwise_xor``."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of the matrices of two batches, ``(b, n, k)`` and ``(b, k, m)``; see ``matmul`` for broadcasting."""
    def bool(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.bool``; itself if it is in that dtype already."""
    def broadcast_to(self, size: Ints, *sizes: _int) -> Tensor:
        """``input.expand(size)``; as a method also ``input.broadcast_to(2, 3)``."""
    def byte(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.uint8``; itself if it is in that dtype already."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with Cauchy numbers."""
    def ccol_indices(self) -> Tensor:
        """The ends of a CSC tensor's columns among its elements."""
    def cdouble(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.complex128``; itself if it is in that dtype already."""
    def ceil(self) -> Tensor:
        """The smallest integer that is at least each element; its derivative is 0."""
    def ceil_(self) -> Tensor:
        """In-place form of ``ceil``."""
    def cfloat(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.complex64``; itself if it is in that dtype already."""
    def chalf(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.complex32``; itself if it is in that dtype already."""
    def char(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.int8``; itself if it is in that dtype already."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """Deprecated in PyTorch: see ``linalg.cholesky``."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of ``A = L L^H`` (``L^H L`` if ``upper``)."""
    def cholesky_solve(self, input2: Tensor, upper: _bool = False) -> Tensor:
        """X with ``A X = input`` where ``A = L L^H`` (``L^H L`` if ``upper``) and L is ``input2``."""
    def chunk(self, chunks: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Split along a dimension into at most ``chunks`` views of equal size; the last may be smaller."""
    def clamp(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """Each element limited to ``min`` and ``max``, numbers or tensors that broadcast; ``max`` if min > max."""
    def clamp_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """In-place form of ``clamp``."""
    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """Each element limited from above by ``max``, a number or a tensor that broadcasts."""
    def clamp_max_(self, max: Tensor | Number) -> Tensor:
        """In-place form of ``clamp_max``."""
    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """Each element limited from below by ``min``, a number or a tensor that broadcasts."""
    def clamp_min_(self, min: Tensor | Number) -> Tensor:
        """In-place form of ``clamp_min``."""
    def clip(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """Each element limited to ``min`` and ``max``, numbers or tensors that broadcast; ``max`` if min > max."""
    def clip_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """In-place form of ``clamp``."""
    def clone(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """A copy through which gradients flow."""
    def coalesce(self) -> Tensor:
        """A sparse tensor with each index once, in order, and the sum of its values."""
    def col_indices(self) -> Tensor:
        """The column of each element of a CSR tensor."""
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor is returned itself."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate; a real tensor is returned itself."""
    def conj_physical_(self) -> Tensor:
        """In-place form of ``conj_physical``."""
    def const_data_ptr(self) -> _int:
        """The address of the first element; 0 if there is none."""
    def contiguous(self, memory_format: _memory_format | None = None) -> Tensor:
        """Return the tensor itself if it is contiguous in ``memory_format`` (row-major by default), else a copy that is."""
    def copy_(self, other: Tensor | Number, non_blocking: _bool = False) -> Tensor:
        """Write the values of ``other`` into this tensor, broadcast and converted to its dtype."""
    def copysign(self, other: Tensor | Number) -> Tensor:
        """The absolute value of the first operand with the sign of the second."""
    def copysign_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``copysign``."""
    def corrcoef(self) -> Tensor:
        """Matrix of correlation coefficients; rows are variables, columns observations."""
    def cos(self) -> Tensor:
        """The cosine of each element, an angle in radians."""
    def cos_(self) -> Tensor:
        """In-place form of ``cos``."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
    def cosh_(self) -> Tensor:
        """In-place form of ``cosh``."""
    def count_nonzero(self, dim: Ints | None = None) -> Tensor:
        """The number of nonzero elements, as int64."""
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """Covariance matrix; rows are variables, columns observations."""
    def cpu(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """Return the tensor itself, which is on the CPU; a tensor without data is an error."""
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """``linalg.cross``; ``dim`` is the first dimension of size 3 by default."""
    def crow_indices(self) -> Tensor:
        """The ends of a CSR tensor's rows among its elements."""
    def cuda(self, device: _device | _int | _str | None=None, non_blocking: _bool=False, memory_format: _memory_format=...) -> Tensor:
        """The tensor on the cuda device; without one an AssertionError, as in PyTorch built without it."""
    def cummax(self, dim: _int) -> _return_types.cummax:
        """Cumulative maximum along a dim, and its index: the last of equal ones."""
    def cummin(self, dim: _int) -> _return_types.cummin:
        """Cumulative minimum along a dim, and its index: the last of equal ones."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Cumulative product along a dim; integers and bools use int64. Gradients are right where elements are zero."""
    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In-place form of ``cumprod``."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Cumulative sum along a dim; integers and bools are summed in int64."""
    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In-place form of ``cumsum``."""
    @property
    def data(self) -> Tensor:
        """A tensor on the same memory, outside the graph, with a version count of its own."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    @data.deleter
    def data(self) -> None: ...
    def data_ptr(self) -> _int:
        """The address of the first element; 0 if there is none."""
    def deg2rad(self) -> Tensor:
        """Convert degrees to radians."""
    def deg2rad_(self) -> Tensor:
        """In-place form of ``deg2rad``."""
    def dense_dim(self) -> _int:
        """The number of dense dimensions."""
    def det(self) -> Tensor:
        """The determinant of each square matrix; its derivative is right for singular matrices too."""
    def detach(self) -> Tensor:
        """A view without history: a leaf that does not require grad and shares the version counter."""
    def detach_(self) -> Tensor:
        """Detach the tensor from its history, in place."""
    @property
    def device(self) -> _device:
        """The tensor's device: ``device(type='cpu')``, or ``device(type='meta')`` for a tensor without data."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A matrix with a vector on its diagonal, or a copy of a matrix's diagonal."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Zeros with the last dimension of the input on a diagonal of two dimensions."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """A matrix with all elements of the input on its diagonal."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A view of the diagonal of two dimensions, as a new last dimension."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy of ``input`` with ``src`` on a diagonal."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """The n-th forward difference along a dim; ``prepend`` and ``append`` are concatenated along it first."""
    def digamma(self) -> Tensor:
        """The derivative of ``lgamma``: -inf at 0, nan at the negative integers."""
    def digamma_(self) -> Tensor:
        """In-place form of ``digamma``."""
    def dim(self) -> _int:
        """The number of dimensions."""
    def dim_order(self, *, ambiguity_check: Any = False) -> _tuple[_int, ...]:
        """The dimensions in their order in memory, the outermost first."""
    def dist(self, other: Tensor, p: _int | _float = 2) -> Tensor:
        """The p-norm of ``input - other``, broadcasting."""
    def div(self, other: Tensor | Number, *, rounding_mode: _str | None = None) -> Tensor:
        """``input / other``, broadcasting; integers become the default dtype."""
    def div_(self, other: Tensor | Number, *, rounding_mode: _str | None = None) -> Tensor:
        """In-place form of ``div``."""
    def divide(self, other: Tensor | Number, *, rounding_mode: _str | None = None) -> Tensor:
        """``input / other``, broadcasting; integers become the default dtype."""
    def divide_(self, other: Tensor | Number, *, rounding_mode: _str | None = None) -> Tensor:
        """In-place form of ``div``."""
    def dot(self, tensor: Tensor) -> Tensor:
        """Sum of the products of the elements of two vectors."""
    def double(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.float64``; itself if it is in that dtype already."""
    def dsplit(self, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
        """``tensor_split`` along dimension 2, into pieces of equal size or at the indices of a list."""
    @property
    def dtype(self) -> _dtype:
        """The element type, such as ``torch.float32``."""
    def eig(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`."""
    def element_size(self) -> _int:
        """Bytes per element."""
    def eq(self, other: Tensor | Number) -> Tensor:
        """Whether the elements are equal, as bools."""
    def eq_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``eq``."""
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and the same elements, as a Python bool."""
    def erf(self) -> Tensor:
        """The error function of each element."""
    def erf_(self) -> Tensor:
        """In-place form of ``erf``."""
    def erfc(self) -> Tensor:
        """``1 - erf(x)`` of each element, accurate where ``erf(x)`` is near 1 too."""
    def erfc_(self) -> Tensor:
        """In-place form of ``erfc``."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function, for elements between -1 and 1."""
    def erfinv_(self) -> Tensor:
        """In-place form of ``erfinv``."""
    def exp(self) -> Tensor:
        """e to the power of each element."""
    def exp2(self) -> Tensor:
        """2 to the power of each element."""
    def exp2_(self) -> Tensor:
        """In-place form of ``exp2``."""
    def exp_(self) -> Tensor:
        """In-place form of ``exp``."""
    def expand(self, *size: Ints, implicit: _bool = False, **given: Any) -> Tensor:
        """A view in which dimensions of size one, and new ones in front, seem repeated; -1 keeps a dimension's size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """``self.expand(other.shape)``."""
    def expm1(self) -> Tensor:
        """``exp(x) - 1``, accurate near 0 too."""
    def expm1_(self) -> Tensor:
        """In-place form of ``expm1``."""
    def exponential_(self, lambd: _float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with exponential numbers of rate ``lambd``."""
    def fill_(self, value: Tensor | Number) -> Tensor:
        """Fill this tensor with a number or a 0-dimensional tensor."""
    def fill_diagonal_(self, fill_value: _float, wrap: _bool = False) -> Tensor:
        """Write a number on the main diagonal; ``wrap`` starts a new diagonal after each square of a tall matrix."""
    def fix(self) -> Tensor:
        """Each element without its fractional part; its derivative is 0."""
    def fix_(self) -> Tensor:
        """In-place form of ``trunc``."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Merge the dimensions from ``start_dim`` to ``end_dim``; a 0-dimensional tensor becomes one-dimensional."""
    def flip(self, *dims: Ints, **given: Any) -> Tensor:
        """A copy with some dimensions in reverse order."""
    def fliplr(self) -> Tensor:
        """A copy with the columns in reverse order."""
    def flipud(self) -> Tensor:
        """A copy with the rows in reverse order."""
    def float(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.float32``; itself if it is in that dtype already."""
    def float_power(self, exponent: Tensor | Number) -> Tensor:
        """``pow`` in double precision (complex128 if an operand is complex)."""
    def float_power_(self, exponent: Tensor | Number) -> Tensor:
        """In-place form of ``float_power``, for double precision only."""
    def floor(self) -> Tensor:
        """The largest integer that is at most each element; its derivative is 0."""
    def floor_(self) -> Tensor:
        """In-place form of ``floor``."""
    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """Quotient rounded down; it has no derivative."""
    def floor_divide_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``floor_divide``."""
    def fmax(self, other: Tensor | Number) -> Tensor:
        """The larger of each pair of elements; a number wins over nan."""
    def fmin(self, other: Tensor | Number) -> Tensor:
        """The smaller of each pair of elements; a number wins over nan."""
    def fmod(self, other: Tensor | Number) -> Tensor:
        """The remainder of division, with the sign of the dividend, like C's ``fmod``."""
    def fmod_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``fmod``."""
    def frac(self) -> Tensor:
        """The fractional part of each element, with its sign."""
    def frac_(self) -> Tensor:
        """In-place form of ``frac``."""
    def frexp(self) -> _return_types.frexp:
        """Mantissa (between 1/2 and 1) and exponent (int32): ``input = mantissa * 2 ** exponent``."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """The elements of ``input`` at the positions ``index`` along ``dim``."""
    def gcd(self, other: Tensor | Number) -> Tensor:
        """The greatest common divisor of each pair of integers."""
    def gcd_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``gcd``."""
    def ge(self, other: Tensor | Number) -> Tensor:
        """Whether ``input >= other``, element by element."""
    def ge_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``ge``."""
    def geometric_(self, p: _float, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers of trials up to the first success, of probability ``p``."""
    def geqrf(self) -> _return_types.geqrf:
        """R and the reflections of a QR decomposition, as LAPACK's geqrf leaves them; no derivative."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Products of each element of a vector with each element of another: ``(n,)`` and ``(m,)`` give ``(n, m)``."""
    def gesv(self, A: Tensor) -> _tuple[Tensor, Tensor]:
        """X with ``A X = B``, and the factors L and U of A in one matrix: PyTorch 0.4's name of ``torch.linalg.solve``."""
    def get_device(self) -> _int:
        """The number of the device: -1 for the CPU."""
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated; ``None`` before the first pass."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def grad_dtype(self) -> Any:
        """The dtype of ``.grad``: the tensor's dtype unless the program sets another; ``None`` allows any."""
    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None: ...
    @property
    def grad_fn(self) -> _Node | None:
        """The node that made this tensor; ``None`` for a leaf."""
    def greater(self, other: Tensor | Number) -> Tensor:
        """Whether ``input > other``, element by element."""
    def greater_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``gt``."""
    def greater_equal(self, other: Tensor | Number) -> Tensor:
        """Whether ``input >= other``, element by element."""
    def greater_equal_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``ge``."""
    def gt(self, other: Tensor | Number) -> Tensor:
        """Whether ``input > other``, element by element."""
    def gt_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``gt``."""
    def half(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.float16``; itself if it is in that dtype already."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """Each element, or 0 if its absolute value is at most ``lambd``."""
    def hash_tensor(self, dim: Ints = (), *, keepdim: _bool = False, mode: _int = 0) -> Tensor:
        """A uint64 hash of the elements along dims, by default of all: the exclusive or of their 64-bit patterns."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 for negative elements, 1 for positive ones, and the element of ``values`` for 0."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """In-place form of ``heaviside``."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """The number of elements in each of ``bins`` bins of equal width from min to max (of the data if both are 0)."""
    def histogram(self, bins: _int | Tensor = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> _return_types.histogram:
        """Counts (or weights, or a density) of the elements in bins: a number of equal bins, or bins with given edges."""
    def hsplit(self, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
        """``tensor_split`` along dimension 1, into pieces of equal size or at the indices of a list."""
    def hypot(self, other: Tensor | Number) -> Tensor:
        """The hypotenuse: ``sqrt(input ** 2 + other ** 2)`` without overflow."""
    def hypot_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``hypot``."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""
    def i0_(self) -> Tensor:
        """In-place form of ``i0``."""
    def igamma(self, other: Tensor | Number) -> Tensor:
        """The regularised lower incomplete gamma function; it has a derivative with respect to ``other`` only."""
    def igamma_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``igamma``."""
    def igammac(self, other: Tensor | Number) -> Tensor:
        """The regularised upper incomplete gamma function; it has a derivative with respect to ``other`` only."""
    def igammac_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``igammac``."""
    @property
    def imag(self) -> Tensor:
        """A view of the imaginary part of a complex tensor."""
    @imag.setter
    def imag(self, value: Tensor) -> None: ...
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """A copy of ``input`` with ``alpha`` times the slices of ``source`` added at some indices of a dimension."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """In-place form of ``index_add``."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """A copy of ``input`` with the slices of ``source`` written at some indices of a dimension."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """In-place form of ``index_copy``."""
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
        """A copy of ``input`` with a number (or a 0-dimensional tensor) at some indices of a dimension."""
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
        """In-place form of ``index_fill``."""
    def index_put(self, indices: Tensor | Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy of ``input`` with ``values`` written, or added, at the positions of a tuple of index tensors."""
    def index_put_(self, indices: Tensor | Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor:
        """In-place form of ``index_put``."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """A copy of ``input`` with the slices of ``source`` reduced into the slices at some indices of a dimension."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """In-place form of ``index_reduce``."""
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """A copy of the slices of ``input`` at some indices of a dimension."""
    def indices(self) -> Tensor:
        """The indices of the stored elements, of shape ``(sparse_dim, nnz)``; for a coalesced tensor only."""
    def inner(self, other: Tensor) -> Tensor:
        """Sum of products over the last dimension of both; a 0-dimensional operand multiplies the other."""
    def int(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.int32``; itself if it is in that dtype already."""
    def inverse(self) -> Tensor:
        """The inverse of each square matrix."""
    def is_coalesced(self) -> _bool:
        """Whether each index is known to occur once, in order."""
    def is_complex(self) -> _bool:
        """Whether the dtype is a complex one."""
    def is_conj(self) -> _bool:
        """Whether the tensor shows the conjugates of its memory."""
    def is_contiguous(self, memory_format: _memory_format | None = ...) -> _bool:
        """Whether the elements are in row-major order in memory, or in the order of ``memory_format``."""
    @property
    def is_cpu(self) -> _bool:
        """Whether the tensor is on the CPU."""
    @property
    def is_cuda(self) -> _bool:
        """Whether the tensor is on a device of type 'cuda'."""
    def is_distributed(self) -> _bool:
        """False: a tensor's memory is that of this process."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is a floating one."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made under ``inference_mode``."""
    @property
    def is_ipu(self) -> _bool:
        """False: no tensor here is of kind 'ipu'."""
    @property
    def is_leaf(self) -> _bool:
        """True for a tensor that the user made or that needs no gradient."""
    @property
    def is_maia(self) -> _bool:
        """Whether the tensor is on a device of type 'maia'."""
    @property
    def is_meta(self) -> _bool:
        """Whether the tensor is on device "meta": it has a shape and a dtype and no data."""
    @property
    def is_mkldnn(self) -> _bool:
        """False: no tensor here is of kind 'mkldnn'."""
    @property
    def is_mps(self) -> _bool:
        """Whether the tensor is on a device of type 'mps'."""
    @property
    def is_mtia(self) -> _bool:
        """Whether the tensor is on a device of type 'mtia'."""
    def is_neg(self) -> _bool:
        """Whether the tensor shows the negatives of its memory, as the imaginary part of a conjugate does."""
    @property
    def is_nested(self) -> _bool:
        """False: no tensor here is of kind 'nested'."""
    def is_nonzero(self) -> _bool:
        """Whether the one element is not zero; RuntimeError if there are more or fewer."""
    def is_pinned(self, device: Device = None) -> _bool:
        """False: there is no accelerator."""
    @property
    def is_quantized(self) -> _bool:
        """False: no tensor here is of kind 'quantized'."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether two tensors have the same memory, shape, strides and offset."""
    def is_shared(self) -> _bool:
        """Whether processes forked from this one see the tensor's memory: see ``share_memory_``."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative numbers."""
    @property
    def is_sparse(self) -> _bool:
        """Whether a tensor's layout is ``torch.sparse_coo``."""
    @property
    def is_sparse_csr(self) -> _bool:
        """Whether the tensor's layout is ``torch.sparse_csr``."""
    @property
    def is_vulkan(self) -> _bool:
        """False: no tensor here is of kind 'vulkan'."""
    @property
    def is_xla(self) -> _bool:
        """Whether the tensor is on a device of type 'xla'."""
    @property
    def is_xpu(self) -> _bool:
        """Whether the tensor is on a device of type 'xpu'."""
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether each element is close to the other: ``abs(input - other) <= atol + rtol * abs(other)``."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor nan."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite; a complex element is infinite if either part is."""
    def isnan(self) -> Tensor:
        """Whether each element is nan; a complex element is nan if either part is."""
    def isneginf(self) -> Tensor:
        """Whether each element is minus infinity."""
    def isposinf(self) -> Tensor:
        """Whether each element is plus infinity."""
    def isreal(self) -> Tensor:
        """Whether each element's imaginary part is zero."""
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """The signal whose ``stft`` is ``input``, ``(B, N, frames)`` or ``(N, frames)``, in the sense of least squares."""
    def item(self) -> _int | _float | _bool:
        """The one element as a Python number."""
    @property
    def itemsize(self) -> _int:
        """Bytes per element."""
    def kron(self, other: Tensor) -> Tensor:
        """Kronecker product: the block matrix of ``input[i, j] * other``, for any number of dimensions."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> _return_types.kthvalue:
        """The k-th smallest element along a dim (k counts from 1), and its index."""
    @property
    def layout(self) -> _layout:
        """The layout of the elements: ``torch.strided``, ``torch.sparse_coo``, ``torch.sparse_csr``, ``sparse_csc``."""
    def lcm(self, other: Tensor | Number) -> Tensor:
        """The least common multiple of each pair of integers."""
    def lcm_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``lcm``."""
    def ldexp(self, other: Tensor | Number) -> Tensor:
        """``input * 2 ** other``."""
    def ldexp_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``ldexp``."""
    def le(self, other: Tensor | Number) -> Tensor:
        """Whether ``input <= other``, element by element."""
    def le_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``le``."""
    def lerp(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """``input + weight * (end - input)``; the weight is a number or a tensor."""
    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """In-place form of ``lerp``."""
    def less(self, other: Tensor | Number) -> Tensor:
        """Whether ``input < other``, element by element."""
    def less_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``lt``."""
    def less_equal(self, other: Tensor | Number) -> Tensor:
        """Whether ``input <= other``, element by element."""
    def less_equal_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``le``."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function of each element."""
    def lgamma_(self) -> Tensor:
        """In-place form of ``lgamma``."""
    def log(self) -> Tensor:
        """The natural logarithm of each element; -inf for 0 and nan for negative elements."""
    def log10(self) -> Tensor:
        """The logarithm to the base 10 of each element."""
    def log10_(self) -> Tensor:
        """In-place form of ``log10``."""
    def log1p(self) -> Tensor:
        """``log(1 + x)``, accurate near 0 too."""
    def log1p_(self) -> Tensor:
        """In-place form of ``log1p``."""
    def log2(self) -> Tensor:
        """The logarithm to the base 2 of each element."""
    def log2_(self) -> Tensor:
        """In-place form of ``log2``."""
    def log_(self) -> Tensor:
        """In-place form of ``log``."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with numbers whose logarithm is normal with this mean and standard deviation."""
    def log_softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """Logarithm of softmax along a dim, accurate where softmax is near 0 or 1."""
    def logaddexp(self, other: Tensor | Number) -> Tensor:
        """``log(exp(input) + exp(other))`` without overflow."""
    def logaddexp2(self, other: Tensor | Number) -> Tensor:
        """``log2(2 ** input + 2 ** other)`` without overflow."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """Logarithm of the cumulative sum of exponentials along a dim, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of each determinant: nan where it is negative, -inf where it is zero."""
    def logical_and(self, other: Tensor | Number) -> Tensor:
        """Whether both elements are nonzero."""
    def logical_and_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``logical_and``."""
    def logical_not(self) -> Tensor:
        """Whether each element is zero."""
    def logical_not_(self) -> Tensor:
        """In-place form of ``logical_not``."""
    def logical_or(self, other: Tensor | Number) -> Tensor:
        """Whether at least one of the elements is nonzero."""
    def logical_or_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``logical_or``."""
    def logical_xor(self, other: Tensor | Number) -> Tensor:
        """Whether exactly one of the elements is nonzero."""
    def logical_xor_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``logical_xor``."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """``log(x / (1 - x))`` of each element; with ``eps``, x is clamped to [eps, 1 - eps] first."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """In-place form of ``logit``."""
    def logsumexp(self, dim: Ints | None, keepdim: _bool = False) -> Tensor:
        """Logarithm of the sum of exponentials along one or several dims, without overflow."""
    def long(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.int64``; itself if it is in that dtype already."""
    def lstsq(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`."""
    def lt(self, other: Tensor | Number) -> Tensor:
        """Whether ``input < other``, element by element."""
    def lt_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``lt``."""
    @overload
    def lu(self, pivot: _bool=True, get_infos: Literal[False]=False) -> _tuple[Tensor, Tensor]:
        """Deprecated in PyTorch: see ``linalg.lu_factor``."""
    @overload
    def lu(self, pivot: _bool=True, *, get_infos: Literal[True]) -> _tuple[Tensor, Tensor, Tensor]: ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Deprecated in PyTorch: see ``linalg.lu_solve``."""
    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of each matrix of a batch."""
    @property
    def mT(self) -> Tensor:
        """The transpose of each matrix of a batch: the last two dimensions exchanged."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by a Python function of it and of two other tensors' elements."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by a Python function of it and of another tensor's element."""
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """The tensor with ``value`` (a number or a 0-dimensional tensor) where the bool tensor ``mask`` is true."""
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """In-place form of ``masked_fill``."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy of ``input`` with the first elements of ``source``, in order, where ``mask`` is true."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place form of ``masked_scatter``."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """A vector of the elements where the bool tensor ``mask`` is true, both broadcast."""
    def matmul(self, other: Tensor) -> Tensor:
        """Product of two tensors: of vectors, matrices, or batches of matrices, by their ranks."""
    def matrix_exp(self) -> Tensor:
        """The exponential ``1 + A + A A / 2 + ...`` of each square matrix."""
    def matrix_power(self, n: _int) -> Tensor:
        """The n-th power of each square matrix, by repeated squaring; if n is negative, the power of its inverse."""
    def matrix_rank(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch. Please use the `torch.linalg.matrix_rank` function instead."""
    @overload
    def max(self) -> Tensor:
        """Largest elements."""
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    @overload
    def max(self, dim: _int, keepdim: _bool=False) -> _return_types.max: ...
    def maximum(self, other: Tensor | Number) -> Tensor:
        """The larger of each pair of elements; nan if either is nan. On a tie each gets half of the gradient."""
    def mean(self, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, **spelling: Any) -> Tensor:
        """Mean of all elements, or along one or several dims; only for floating and complex dtypes."""
    @overload
    def median(self) -> Tensor:
        """The lower median of all elements, or along a dim with its index; nan if any element is nan."""
    @overload
    def median(self, dim: _int, keepdim: _bool=False) -> _return_types.median: ...
    @overload
    def min(self) -> Tensor:
        """Smallest elements: of all, along a dim (with their indices), or of each pair; see ``max``."""
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    @overload
    def min(self, dim: _int, keepdim: _bool=False) -> _return_types.min: ...
    def minimum(self, other: Tensor | Number) -> Tensor:
        """The smaller of each pair of elements; nan if either is nan. On a tie each gets half of the gradient."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices, ``(n, k)`` and ``(k, m)``."""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> _return_types.mode:
        """The most frequent element along a dim (the smallest of several), and its last index."""
    def module_load(self, other: Tensor, assign: _bool = False) -> Tensor:
        """The new value of a parameter: ``other`` if ``assign``, else this tensor with the values of ``other``."""
    def moveaxis(self, source: Tensor | Ints, destination: Tensor | Ints) -> Tensor:
        """A view with some dimensions moved to other positions; the others stay in order."""
    def movedim(self, source: Tensor | Ints, destination: Tensor | Ints) -> Tensor:
        """A view with some dimensions moved to other positions; the others stay in order."""
    def msort(self) -> Tensor:
        """Sort along the first dim."""
    def mul(self, other: Tensor | Number) -> Tensor:
        """Product of each pair of elements, broadcasting."""
    def mul_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``mul``."""
    def multinomial(self, num_samples: _int = 1, replacement: _bool = False, *, generator: _Generator | None = None) -> Tensor:
        """Indices drawn with the weights that ``input`` holds, of shape (n,) or (rows, n); int64, ``num_samples`` of a row."""
    def multiply(self, other: Tensor | Number) -> Tensor:
        """Product of each pair of elements, broadcasting."""
    def multiply_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``mul``."""
    def mv(self, vec: Tensor) -> Tensor:
        """Product of a matrix ``(n, m)`` and a vector ``(m,)``."""
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p."""
    def mvlgamma_(self, p: _int) -> Tensor:
        """In-place form of ``mvlgamma``."""
    @property
    def name(self) -> Any:
        """``None``: kept for programs that ask."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """Replace nan by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's largest and smallest number)."""
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """In-place form of ``nan_to_num``."""
    def nanmean(self, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """Mean of the elements that are not nan."""
    @overload
    def nanmedian(self) -> Tensor:
        """The median of the elements that are not nan; see ``median``."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool=False) -> _return_types.nanmedian: ...
    def nanquantile(self, q: _float | Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """The q-th quantiles of the elements that are not nan; see ``quantile``."""
    def nansum(self, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """Sum of the elements that are not nan."""
    def narrow(self, dim: _int, start: Tensor | Number, length: _int) -> Tensor:
        """A view of ``length`` elements of a dimension, from ``start`` on."""
    def narrow_copy(self, *args: Any, **kwargs: Any) -> Tensor:
        """``narrow``, as a copy."""
    @property
    def nbytes(self) -> _int:
        """Bytes of all elements together."""
    @property
    def ndim(self) -> _int:
        """The number of dimensions."""
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: Tensor | Number) -> Tensor:
        """Whether the elements differ, as bools."""
    def ne_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``ne``."""
    def neg(self) -> Tensor:
        """Each element with its sign changed."""
    def neg_(self) -> Tensor:
        """In-place form of ``neg``."""
    def negative(self) -> Tensor:
        """Each element with its sign changed."""
    def negative_(self) -> Tensor:
        """In-place form of ``neg``."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """PyTorch 0.1's form of ``new_empty`` (given sizes) and ``new_tensor`` (given a list)."""
    def new_empty(self, *size: Ints, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
        """An uninitialised tensor with this tensor's dtype."""
    def new_empty_strided(self, size: Ints, stride: Ints, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """An uninitialised tensor with given strides and this tensor's dtype."""
    def new_full(self, size: Ints, fill_value: Number, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """A tensor filled with one value, with this tensor's dtype."""
    def new_ones(self, *size: Ints, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
        """A tensor of ones with this tensor's dtype."""
    def new_tensor(self, data: Any, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """A new leaf with a copy of the data and this tensor's dtype."""
    def new_zeros(self, *size: Ints, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
        """A tensor of zeros with this tensor's dtype."""
    def nextafter(self, other: Tensor | Number) -> Tensor:
        """The next representable number after ``input`` towards ``other``."""
    def nextafter_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``nextafter``."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False]=False) -> Tensor:
        """The indices of the nonzero elements: a row for each, or with ``as_tuple`` a tensor for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> _tuple[Tensor, ...]: ...
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """``nonzero`` with exactly ``size`` rows, truncated or filled with ``fill_value``."""
    def norm(self, p: Any | _str | None = 'fro', dim: Ints | None = None, keepdim: _bool = False, dtype: _dtype | None = None) -> Tensor:
        """Norm of the elements as one vector, or of the vectors along dims; ``"nuc"`` is the nuclear norm of matrices."""
    def normal(self, std: Tensor | Number = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Normal numbers around this tensor (PyTorch 0.1's form of ``torch.normal(mean, std)``)."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: _Generator | None = None) -> Tensor:
        """Fill with normal numbers."""
    def not_equal(self, other: Tensor | Number) -> Tensor:
        """Whether the elements differ, as bools."""
    def not_equal_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``ne``."""
    def numel(self) -> _int:
        """The number of elements."""
    def numpy(self, *, force: _bool = False) -> _ndarray:
        """The elements as a NumPy array that shares the tensor's memory."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """``linalg.householder_product`` under its older name."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """The product of the reflections of ``householder_product`` (or its adjoint) and a matrix, from either side."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Products of each element of a vector with each element of another: ``(n,)`` and ``(m,)`` give ``(n, m)``."""
    @property
    def output_nr(self) -> _int:
        """The index of this tensor among its node's outputs."""
    def permute(self, *order: Any, dims: Ints | None = None) -> Tensor:
        """A view with the dimensions in another order."""
    def pin_memory(self, device: Device = None) -> Tensor:
        """Raises RuntimeError: there is no accelerator to pin memory for."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """``linalg.pinv`` with another name for its relative tolerance."""
    def polygamma(self, n: _int) -> Tensor:
        """The derivative of order n of ``digamma``."""
    def polygamma_(self, n: _int) -> Tensor:
        """In-place form of ``polygamma``."""
    def positive(self) -> Tensor:
        """Return the tensor itself; bools are an error."""
    def pow(self, exponent: Tensor | Number) -> Tensor:
        """``input ** exponent``, broadcasting; either operand may be a number."""
    def pow_(self, exponent: Tensor | Number) -> Tensor:
        """In-place form of ``pow``."""
    def prelu(self, weight: Tensor) -> Tensor:
        """Each element, times ``weight`` if it is negative; one weight, or one for each index of dim 1."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor:
        """Product of all elements, or along one dim. Gradients of every order are right where elements are zero."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy of ``input`` with ``source`` written, or added, at some flat indices, in row-major order."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """In-place form of ``put``."""
    def qr(self, some: _bool = True) -> _return_types.qr:
        """Deprecated in PyTorch: see ``linalg.qr``."""
    def quantile(self, q: _float | Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """The q-th quantiles of all elements or along a dim; nan if any is nan. A 1-dimensional ``q`` adds a first dim."""
    def rad2deg(self) -> Tensor:
        """Convert radians to degrees."""
    def rad2deg_(self) -> Tensor:
        """In-place form of ``rad2deg``."""
    def random_(self, *args: Any, generator: _Generator | None = None, **kwargs: Any) -> Tensor:
        """Fill with integers: ``random_()`` up to the dtype's largest; ``random_(to)``, ``random_(from, to)`` below ``to``."""
    def ravel(self) -> Tensor:
        """Flatten to one dimension; a view if the tensor is contiguous."""
    @property
    def real(self) -> Tensor:
        """A view of the real part; a real tensor is returned itself."""
    @real.setter
    def real(self, value: Tensor) -> None: ...
    def reciprocal(self) -> Tensor:
        """One over each element."""
    def reciprocal_(self) -> Tensor:
        """In-place form of ``reciprocal``."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> _RemovableHandle:
        """Call ``hook(grad)`` with this tensor's gradient in each backward pass; it may return a new gradient."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> _RemovableHandle:
        """Call ``hook(tensor)`` after this leaf's ``.grad`` was accumulated in a backward pass."""
    def reinforce(self, reward: Any) -> None:
        """Set the reward of a stochastic result, for the backward pass that follows (legacy)."""
    def relu(self) -> Tensor:
        """Each element, or 0 if it is negative."""
    def relu_(self) -> Tensor:
        """In-place form of ``relu``."""
    def remainder(self, other: Tensor | Number) -> Tensor:
        """The remainder of division, with the sign of the divisor, like Python's ``%``; a zero has the dividend's sign."""
    def remainder_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``remainder``."""
    def renorm(self, p: _int | _float, dim: _int, maxnorm: _float) -> Tensor:
        """Scale each slice along ``dim`` whose p-norm is above ``maxnorm`` down to that norm."""
    def renorm_(self, p: _int | _float, dim: _int, maxnorm: _float) -> Tensor:
        """In-place form of ``renorm``."""
    def repeat(self, *repeats: Ints, **given: Any) -> Tensor:
        """A copy that repeats the tensor along each dimension; additional numbers add dimensions in front."""
    def repeat_interleave(self, repeats: Tensor | Number | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Repeat each element, or each slice along ``dim``; ``repeats`` is one count for all or a tensor of counts."""
    @property
    def requires_grad(self) -> _bool:
        """Whether operators on this tensor are recorded."""
    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...
    @requires_grad.deleter
    def requires_grad(self) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Turn recording for this leaf on or off, in place."""
    def reshape(self, *size: Ints, shape: Ints | None = None) -> Tensor:
        """Reshape to ``size``: a view where the memory allows it, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """``self.reshape(other.shape)``."""
    def resize(self, *sizes: Ints) -> Tensor:
        """*Legacy:* ``reshape``."""
    def resize_(self, *sizes: Ints, size: Ints | None = None, memory_format: _memory_format | None = None) -> Tensor:
        """Change the size in place, in row-major order; larger memory is allocated if needed."""
    def resize_as(self, tensor: Tensor) -> Tensor:
        """*Legacy:* ``self.resize(tensor.shape)``."""
    def resize_as_(self, other: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
        """``self.resize_(other.shape)``; a sparse tensor without elements takes the shape of a sparse ``other``."""
    def resolve_conj(self) -> Tensor:
        """A copy of a conjugate; any other tensor is returned itself."""
    def resolve_neg(self) -> Tensor:
        """A copy of a tensor that shows negatives; any other tensor is returned itself."""
    def retain_grad(self) -> None:
        """Keep this intermediate result's gradient in ``.grad``."""
    @property
    def retains_grad(self) -> _bool:
        """Whether this intermediate result retains its gradient, see ``retain_grad``."""
    def roll(self, shifts: Ints, dims: Ints | None = None) -> Tensor:
        """A copy with the elements shifted cyclically along dimensions."""
    def rot90(self, k: _int = 1, dims: Ints = (0, 1)) -> Tensor:
        """A copy rotated by ``k`` quarter turns in the plane of two dimensions, from the first towards the second."""
    def round(self, *, decimals: _int | None = None) -> Tensor:
        """The nearest integer, with ties rounded to even, or the nearest number with ``decimals`` decimal places."""
    def round_(self, *, decimals: _int | None = None) -> Tensor:
        """In-place form of ``round``."""
    def row_indices(self) -> Tensor:
        """The row of each element of a CSC tensor."""
    def rsqrt(self) -> Tensor:
        """One over the square root of each element."""
    def rsqrt_(self) -> Tensor:
        """In-place form of ``rsqrt``."""
    def scatter(self, dim: _int, index: Tensor, src: Tensor | Number | None = None, *, value: Tensor | Number | None = None, reduce: _str | None = None) -> Tensor:
        """A copy of ``input`` with ``src`` (a tensor or a number) written at the positions ``index`` along ``dim``."""
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | Number | None = None, *, value: Tensor | Number | None = None, reduce: _str | None = None) -> Tensor:
        """In-place form of ``scatter``."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy of ``input`` with ``src`` added at the positions ``index`` along ``dim``."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In-place form of ``scatter_add``."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """A copy of ``input`` with the elements of ``src`` reduced at the positions ``index`` along ``dim``."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """In-place form of ``scatter_reduce``."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """A view of the slice at one index of a dimension, without that dimension."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy of ``input`` with ``src`` at one index of a dimension."""
    def set_(self, source: Tensor | Ints | None = None, storage_offset: _int = 0, size: Ints | None = None, stride: Ints | None = None) -> Tensor:
        """Make a tensor use the memory and size of ``source``, a tensor or a storage; without one it becomes empty."""
    def sgn(self) -> Tensor:
        """The sign of each element; a complex number is divided by its absolute value, and 0 stays 0."""
    def sgn_(self) -> Tensor:
        """In-place form of ``sgn``."""
    @property
    def shape(self) -> _Size:
        """The size of each dimension."""
    def share_memory_(self) -> Tensor:
        """Move the elements to memory that other processes see and write to."""
    def short(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor in dtype ``torch.int16``; itself if it is in that dtype already."""
    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``."""
    def sigmoid_(self) -> Tensor:
        """In-place form of ``sigmoid``."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 according to each element's sign; 0 for nan."""
    def sign_(self) -> Tensor:
        """In-place form of ``sign``."""
    def signbit(self) -> Tensor:
        """Whether each element's sign bit is set; it is set for -0 too."""
    def sin(self) -> Tensor:
        """The sine of each element, an angle in radians."""
    def sin_(self) -> Tensor:
        """In-place form of ``sin``."""
    def sinc(self) -> Tensor:
        """``sin(pi x) / (pi x)``, and 1 at 0."""
    def sinc_(self) -> Tensor:
        """In-place form of ``sinc``."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
    def sinh_(self) -> Tensor:
        """In-place form of ``sinh``."""
    @overload
    def size(self, dim: None=None) -> _Size:
        """The size of each dimension, or of one."""
    @overload
    def size(self, dim: _int) -> _int: ...
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """A copy of ``input`` with ``src`` in a slice of a dimension."""
    def slogdet(self) -> _return_types.slogdet:
        """See ``linalg.slogdet``."""
    def softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """exp(x) over its sum along a dim: positive numbers that add up to one. The input is converted to ``dtype`` first."""
    def solve(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch. `torch.solve` is deprecated in favor of `torch.linalg.solve`."""
    def sort(self, dim: _int = -1, descending: _bool = False, stable: _bool | None = False) -> _return_types.sort:
        """Sort along a dim: values and their indices. Nan is the largest; equal elements keep their order if ``stable``."""
    def sparse_dim(self) -> _int:
        """The number of sparse dimensions; 0 for a dense tensor."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """A sparse tensor with the elements of a dense tensor at the indices of the sparse tensor ``mask``."""
    def split(self, split_size_or_sections: Any = None, dim: _int = 0, *, split_size: Any = None) -> _tuple[Tensor, ...]:
        """Split along a dimension into views of one size (the last may be smaller) or of the sizes in a list."""
    def split_with_sizes(self, split_sizes: Ints, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Split along a dimension into views of the given sizes."""
    def sqrt(self) -> Tensor:
        """The square root of each element; nan for negative elements."""
    def sqrt_(self) -> Tensor:
        """In-place form of ``sqrt``."""
    def square(self) -> Tensor:
        """The square of each element."""
    def square_(self) -> Tensor:
        """In-place form of ``square``."""
    def squeeze(self, dim: Ints | None = None, *dims: _int, axis: Any = None) -> Tensor:
        """A view without the dimensions of size one, or without those in ``dim``, a number or several."""
    def squeeze_(self, dim: Ints | None = None) -> Tensor:
        """In-place form of ``squeeze``."""
    @overload
    def std(self, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False) -> Tensor:
        """Standard deviation: ``std(input, dim=None, *, correction=1, keepdim=False)``; or ``unbiased=``, as in ``var``."""
    @overload
    def std(self, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False) -> Tensor: ...
    @overload
    def std(self, unbiased: _bool=True) -> Tensor: ...
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """The Fourier transforms of windows that move along a signal: ``(B, L)`` or ``(L,)`` to ``(B, N, frames)``."""
    def storage(self) -> _TypedStorage:
        """The memory that the tensor and its views share, counted in elements; new code uses ``untyped_storage``."""
    def storage_offset(self) -> _int:
        """The offset of the first element from the beginning of the storage, in elements."""
    @overload
    def stride(self, dim: None=None) -> _tuple[_int, ...]:
        """The distance in elements between neighbours in each dimension, or in one."""
    @overload
    def stride(self, dim: _int) -> _int: ...
    def sub(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number."""
    def sub_(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """In-place form of ``sub``."""
    def subtract(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number."""
    def subtract_(self, other: Tensor | Number, third: Any = None, *, alpha: Number = 1) -> Tensor:
        """In-place form of ``sub``."""
    def sum(self, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, **spelling: Any) -> Tensor:
        """Sum of all elements, or along one or several dims."""
    def sum_to_size(self, *sizes: Ints, size: Ints | None = None) -> Tensor:
        """Sum the elements down to the shape ``size``, which must broadcast to the shape of ``self``."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> _return_types.svd:
        """Deprecated in PyTorch: ``linalg.svd`` with V rather than its adjoint."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """``transpose`` under NumPy's name."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """In-place form of ``swapaxes``."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place form of ``transpose``."""
    def symeig(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch. The default behavior has changed from using the upper triangular portion to the lower one."""
    def t(self) -> Tensor:
        """The transpose of a matrix; tensors of fewer dimensions are unchanged."""
    def t_(self) -> Tensor:
        """In-place form of ``t``."""
    def take(self, index: Tensor) -> Tensor:
        """The elements at some flat indices, in row-major order."""
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """``gather`` with both tensors broadcast in all dimensions but ``dim``; without ``dim``, of the flat tensors."""
    def tan(self) -> Tensor:
        """The tangent of each element, an angle in radians."""
    def tan_(self) -> Tensor:
        """In-place form of ``tan``."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
    def tanh_(self) -> Tensor:
        """In-place form of ``tanh``."""
    def tensor_split(self, indices_or_sections: Tensor | Ints | None = None, dim: _int = 0, *, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None, tensor_indices_or_sections: Any = None) -> _tuple[Tensor, ...]:
        """Split along a dimension into ``n`` views of nearly equal sizes, or at the indices in a list."""
    def tile(self, *dims: Ints, **given: Any) -> Tensor:
        """``repeat`` with the numbers aligned to the last dimensions."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Convert to another dtype or device; returns the tensor itself if nothing changes, unless ``copy`` is true."""
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: Any = None) -> Tensor:
        """Convert a sparse tensor to a dense one, in ``dtype`` if it is given; a dense tensor is returned itself."""
    def to_device(self, device: Device, /, *, stream: Any = None) -> Tensor:
        """The tensor on a device, as ``to`` gives it: the name of the array API standard."""
    def to_sparse(self, sparse_dim: Any = None, *, layout: _layout | None = None, blocksize: Any = None, dense_dim: _int | None = None) -> Tensor:
        """A sparse tensor of the nonzero elements; its first ``sparse_dim`` dimensions are sparse."""
    def to_sparse_bsc(self, blocksize: Any, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout BSC: its nonzero blocks of shape ``blocksize``, a number or a pair."""
    def to_sparse_bsr(self, blocksize: Any, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout BSR: its nonzero blocks of shape ``blocksize``, a number or a pair."""
    def to_sparse_coo(self, sparse_dim: Any = None, *, layout: _layout | None = None, blocksize: Any = None, dense_dim: _int | None = None) -> Tensor:
        """A sparse tensor of the nonzero elements; its first ``sparse_dim`` dimensions are sparse."""
    def to_sparse_csc(self, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout CSC; its last ``dense_dim`` dimensions stay dense."""
    def to_sparse_csr(self, dense_dim: _int | None = None) -> Tensor:
        """The tensor in the layout CSR; its last ``dense_dim`` dimensions stay dense."""
    def tolist(self) -> _list[Any]:
        """The elements as nested lists of Python numbers; for a 0-dimensional tensor, the number."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> _return_types.topk:
        """The k largest (or smallest) elements along a dim, and their indices."""
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place form of ``transpose``."""
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> _return_types.triangular_solve:
        """Deprecated in PyTorch: see ``linalg.solve_triangular``."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """A copy with zeros above a diagonal (0: the main one) of the last two dimensions."""
    def tril_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of ``tril``."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """A copy with zeros below a diagonal (0: the main one) of the last two dimensions."""
    def triu_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of ``triu``."""
    def true_divide(self, other: Tensor | Number) -> Tensor:
        """``div`` without rounding."""
    def true_divide_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``div``."""
    def trunc(self) -> Tensor:
        """Each element without its fractional part; its derivative is 0."""
    def trunc_(self) -> Tensor:
        """In-place form of ``trunc``."""
    @overload
    def type(self, dtype: None=None, non_blocking: _bool=False) -> _str:
        """The name of the tensor's type, or the tensor converted to another."""
    @overload
    def type(self, dtype: _str | _dtype, non_blocking: _bool=False) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """Convert the tensor to the dtype of ``other``."""
    def unbind(self, dim: _int = 0) -> _tuple[Tensor, ...]:
        """Views of the slices at each index of a dimension."""
    def unflatten(self, dim: _int, sizes: Ints) -> Tensor:
        """Split one dimension into several; one of ``sizes`` may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """A view of the windows of ``size`` elements, one every ``step`` elements along a dimension; they are the last dim."""
    def uniform_(self, *args: Any, generator: _Generator | None = None, **kwargs: Any) -> Tensor:
        """Fill with numbers uniform on [from, to): ``uniform_(from=0, to=1)``."""
    @overload
    def unique(self, sorted: _bool=True, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
        """The unique elements, or slices along a dim, always sorted."""
    @overload
    def unique(self, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any: ...
    @overload
    def unique_consecutive(self, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
        """The first element of each run of equal elements, or of equal slices along a dim."""
    @overload
    def unique_consecutive(self, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any: ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
        """``chunk`` whose results may be written to in place."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> _tuple[Tensor, ...]:
        """``split`` whose results may be written to in place."""
    def unsafe_split_with_sizes(self, split_sizes: Ints, dim: _int = 0) -> _tuple[Tensor, ...]:
        """``split_with_sizes`` whose results may be written to in place."""
    def unsqueeze(self, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """A view with a dimension of size one at position ``dim``."""
    def unsqueeze_(self, dim: _int) -> Tensor:
        """In-place form of ``unsqueeze``."""
    def untyped_storage(self) -> _UntypedStorage:
        """The memory that the tensor and its views share, counted in bytes."""
    def values(self) -> Tensor:
        """The stored elements, of shape ``(nnz, *dense shape)``; of a COO tensor, for a coalesced one only."""
    @overload
    def var(self, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False) -> Tensor:
        """Variance: ``var(input, dim=None, *, correction=1, keepdim=False)``; ``unbiased=`` is ``correction`` 1 or 0."""
    @overload
    def var(self, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False) -> Tensor: ...
    @overload
    def var(self, unbiased: _bool=True) -> Tensor: ...
    def vdot(self, other: Tensor) -> Tensor:
        """``dot`` with the first vector conjugated."""
    def view(self, *shape: Any, size: Ints | None = None, dtype: _dtype | None = None) -> Tensor:
        """A view of the same memory with another shape, or, given a dtype, as elements of another type."""
    def view_as(self, other: Tensor) -> Tensor:
        """``self.view(other.shape)``."""
    @property
    def volatile(self) -> _bool:
        """Whether the tensor was made with ``volatile=True`` or computed from one that was; PyTorch's warning, if none was."""
    @volatile.setter
    def volatile(self, value: _bool) -> None: ...
    def vsplit(self, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
        """``tensor_split`` along dimension 0, into pieces of equal size or at the indices of a list."""
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """``self`` where the condition holds, else ``other``."""
    def xlogy(self, other: Tensor | Number) -> Tensor:
        """``input * log(other)``, and 0 where ``input`` is 0 and ``other`` is not nan."""
    def xlogy_(self, other: Tensor | Number) -> Tensor:
        """In-place form of ``xlogy``."""
    def xpu(self, device: Device = None, non_blocking: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor on the xpu device; without one an AssertionError, as in PyTorch built without it."""
    def zero_(self) -> Tensor:
        """Fill this tensor with zeros."""
