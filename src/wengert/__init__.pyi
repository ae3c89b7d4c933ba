# Made by tools/make_stubs.py; do not edit.
from numpy import ndarray as _ndarray
from builtins import bool as _bool, dict as _dict, float as _float, int as _int, list as _list, str as _str, tuple as _tuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload
from typing_extensions import TypeIs
from . import return_types as _return_types
from ._base.constants import Size as _Size, device as _device, layout as _layout, memory_format as _memory_format
from ._base.dtypes import dtype as _dtype
from ._tape.tensor import Device, Ints, Number
from .random import Generator as _Generator
_P = ParamSpec("_P")
_R = TypeVar("_R")
from . import amp as amp, array_api as array_api, autograd as autograd, backends as backends, cuda as cuda, distributed as distributed, distributions as distributions, explain as explain, export as export, fft as fft, func as func, fx as fx, hub as hub, library as library, linalg as linalg, masked as masked, multiprocessing as multiprocessing, nn as nn, onnx as onnx, optim as optim, overrides as overrides, profiler as profiler, quasirandom as quasirandom, random as random, return_types as return_types, safetensors as safetensors, serialization as serialization, signal as signal, sparse as sparse, special as special, storage as storage, testing as testing, torch_version as torch_version, utils as utils
from ._base.constants import Size as Size, device as device, layout as layout, memory_format as memory_format
from ._base.dtypes import dtype as dtype
from ._base.grad_mode import enable_grad as enable_grad, inference_mode as inference_mode, no_grad as no_grad, set_grad_enabled as set_grad_enabled
from ._base.limits import finfo as finfo, iinfo as iinfo
from ._compat import accelerator as accelerator, ao as ao, classes as classes, compiler as compiler, contrib as contrib, cpu as cpu, functional as functional, futures as futures, jit as jit, mps as mps, mtia as mtia, nested as nested, quantization as quantization, types as types, version as version, xpu as xpu
from ._compat.accelerator import Event as Event, Stream as Stream
from ._compat.compiler import SymBool as SymBool, SymFloat as SymFloat, SymInt as SymInt
from ._compat.futures import Future as Future
from ._compat.jit import ScriptFunction as ScriptFunction, ScriptModule as ScriptModule, fork as fork
from ._saving.file_reader import PyTorchFileReader as PyTorchFileReader
from ._tape.tensor import Tensor as Tensor
from ._tensor_api.storage import StorageBase as StorageBase, TypedStorage as TypedStorage, TypedStorage as _Base_BFloat16Storage, TypedStorage as _Base_BoolStorage, TypedStorage as _Base_ByteStorage, TypedStorage as _Base_CharStorage, TypedStorage as _Base_ComplexDoubleStorage, TypedStorage as _Base_ComplexFloatStorage, TypedStorage as _Base_DoubleStorage, TypedStorage as _Base_FloatStorage, TypedStorage as _Base_HalfStorage, TypedStorage as _Base_IntStorage, TypedStorage as _Base_LongStorage, TypedStorage as _Base_ShortStorage, UntypedStorage as UntypedStorage
from .amp.autocast_mode import autocast as autocast, autocast_decrement_nesting as autocast_decrement_nesting, autocast_increment_nesting as autocast_increment_nesting, clear_autocast_cache as clear_autocast_cache, get_autocast_cpu_dtype as get_autocast_cpu_dtype, get_autocast_dtype as get_autocast_dtype, get_autocast_gpu_dtype as get_autocast_gpu_dtype, is_autocast_cache_enabled as is_autocast_cache_enabled, is_autocast_cpu_enabled as is_autocast_cpu_enabled, is_autocast_enabled as is_autocast_enabled, set_autocast_cache_enabled as set_autocast_cache_enabled, set_autocast_cpu_dtype as set_autocast_cpu_dtype, set_autocast_cpu_enabled as set_autocast_cpu_enabled, set_autocast_dtype as set_autocast_dtype, set_autocast_enabled as set_autocast_enabled, set_autocast_gpu_dtype as set_autocast_gpu_dtype
from .amp.grad_scaler import GradScaler as GradScaler
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled, is_anomaly_enabled as is_anomaly_enabled, set_anomaly_enabled as set_anomaly_enabled
from .func._vmap import vmap as vmap
from .random import Generator as Generator, get_rng_state as get_rng_state, initial_seed as initial_seed, manual_seed as manual_seed, seed as seed, set_rng_state as set_rng_state
from .serialization import load as load, save as save
from .torch_version import __version__ as __version__
class AcceleratorError(RuntimeError): ...
class BFloat16Storage(_Base_BFloat16Storage):
    ...
class BFloat16Tensor(Tensor): ...
class BoolStorage(_Base_BoolStorage):
    ...
class BoolTensor(Tensor): ...
class ByteStorage(_Base_ByteStorage):
    ...
class ByteTensor(Tensor): ...
class CharStorage(_Base_CharStorage):
    ...
class CharTensor(Tensor): ...
class ComplexDoubleStorage(_Base_ComplexDoubleStorage):
    ...
class ComplexFloatStorage(_Base_ComplexFloatStorage):
    ...
class DoubleStorage(_Base_DoubleStorage):
    ...
class DoubleTensor(Tensor): ...
class FloatStorage(_Base_FloatStorage):
    ...
class FloatTensor(Tensor): ...
class HalfStorage(_Base_HalfStorage):
    ...
class HalfTensor(Tensor): ...
class IntStorage(_Base_IntStorage):
    ...
class IntTensor(Tensor): ...
class LongStorage(_Base_LongStorage):
    ...
class LongTensor(Tensor): ...
class OutOfMemoryError(RuntimeError): ...
class ShortStorage(_Base_ShortStorage):
    ...
class ShortTensor(Tensor): ...
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element; its derivative at 0 is 0."""
def abs_(self: Tensor) -> Tensor:
    """In-place form of ``abs``, for real tensors."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of each element; its derivative at 0 is 0."""
def absolute_(self: Tensor) -> Tensor:
    """In-place form of ``abs``, for real tensors."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse cosine of each element, in radians."""
def acos_(self: Tensor) -> Tensor:
    """In-place form of ``acos``."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine of each element; nan below 1."""
def acosh_(self: Tensor) -> Tensor:
    """In-place form of ``acosh``."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The means of parts of signals; see ``adaptive_avg_pool2d``."""
def adaptive_max_pool1d(input: Tensor, output_size: Ints) -> _tuple[Tensor, Tensor]:
    """``nn.functional.adaptive_max_pool1d``: the maxima and their indices."""
def add(input: Tensor | Number, other: Tensor | Number, third: Any = None, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``, broadcasting; ``other`` is a tensor or a number."""
def addbmm(input: Tensor | Number, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * sum(batch1 @ batch2)`` over the batch."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Tensor | Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 / tensor2``, broadcasting."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Tensor | Number = 1, out: Tensor | None = None) -> Tensor:
    """``input + value * tensor1 * tensor2``, broadcasting."""
def addmm(input: Tensor | Number, mat1: Tensor | Number, mat2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``; input broadcasts to ``(n, m)``."""
def addmv(input: Tensor | Number, mat: Tensor | Number, vec: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * mat @ vec``; input broadcasts to ``(n,)``."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
    """``Tensor.addmv_`` as a function."""
def addr(input: Tensor | Number, vec1: Tensor | Number, vec2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix of a batch."""
def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor:
    """``nn.functional.affine_grid``."""
def alias_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``alias``, as a copy."""
def all(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements are true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing."""
def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements are close (``isclose``), as a Python bool."""
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given."""
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given in place."""
def amax(input: Tensor, dim: Ints | None = (), keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element over one, several or all dims; equal ones share the gradient evenly."""
def amin(input: Tensor, dim: Ints | None = (), keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element over one, several or all dims; equal ones share the gradient evenly."""
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.aminmax:
    """The smallest and the largest of all elements, or along a dim."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of each element in radians; 0 or pi for a real number."""
def any(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element is true (not zero); bool, but uint8 for uint8. An empty tuple as ``dim`` reduces nothing."""
def arange(*args: Any, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: the numbers from start to end, without end."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse cosine of each element, in radians."""
def arccos_(self: Tensor) -> Tensor:
    """In-place form of ``acos``."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine of each element; nan below 1."""
def arccosh_(self: Tensor) -> Tensor:
    """In-place form of ``acosh``."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse sine of each element, in radians."""
def arcsin_(self: Tensor) -> Tensor:
    """In-place form of ``asin``."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def arcsinh_(self: Tensor) -> Tensor:
    """In-place form of ``asinh``."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse tangent of each element, in radians."""
def arctan2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The angle in radians of the point (other, input), between -pi and pi."""
def arctan_(self: Tensor) -> Tensor:
    """In-place form of ``atan``."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def arctanh_(self: Tensor) -> Tensor:
    """In-place form of ``atanh``."""
def are_deterministic_algorithms_enabled() -> _bool:
    """What ``use_deterministic_algorithms`` set."""
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index of the largest element: in the flattened tensor, or along a dim. The first of equal ones."""
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index of the smallest element: in the flattened tensor, or along a dim. The first of equal ones."""
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, stable: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The indices that sort the elements along a dim; equal elements as in ``sort``."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero elements, a row for each, as in ``nonzero``."""
def as_strided(input: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
    """A view of the tensor's storage with any size and strides (counted in elements)."""
def as_strided_(self: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
    """In-place form of ``as_strided``."""
def as_strided_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``as_strided``, as a copy."""
def as_strided_scatter(input: Tensor, src: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` where ``input.as_strided(size, stride, storage_offset)`` would be."""
def as_tensor(data: Any, dtype: _dtype | None = None, device: Device = None) -> Tensor:
    """``data`` as a tensor, without a copy if possible."""
def asarray(obj: Any, *, dtype: _dtype | None = None, device: Device = None, copy: _bool | None = None, requires_grad: _bool | None = None) -> Tensor:
    """``obj`` as a tensor: shared memory for tensors, NumPy arrays, DLPack and buffers, else as ``tensor``."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse sine of each element, in radians."""
def asin_(self: Tensor) -> Tensor:
    """In-place form of ``asin``."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def asinh_(self: Tensor) -> Tensor:
    """In-place form of ``asinh``."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse tangent of each element, in radians."""
def atan2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The angle in radians of the point (other, input), between -pi and pi."""
def atan_(self: Tensor) -> Tensor:
    """In-place form of ``atan``."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def atanh_(self: Tensor) -> Tensor:
    """In-place form of ``atanh``."""
@overload
def atleast_1d(tensor: Tensor, /) -> Tensor:
    """Each tensor with at least one dimension."""
@overload
def atleast_1d(*tensors: Any) -> _tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensor: Tensor, /) -> Tensor:
    """Each tensor with at least two dimensions; a vector becomes a row."""
@overload
def atleast_2d(*tensors: Any) -> _tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensor: Tensor, /) -> Tensor:
    """Each tensor with at least three dimensions: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
@overload
def atleast_3d(*tensors: Any) -> _tuple[Tensor, ...]: ...
def avg_pool1d(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``avg_pool2d``."""
def baddbmm(input: Tensor | Number, batch1: Tensor | Number, batch2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)``; input broadcasts to ``(b, n, m)``."""
def bartlett_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A triangle: ``1 - abs(2 n / N - 1)``, of shape (window_length,). See ``hann_window``."""
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """``nn.functional.batch_norm`` with its arguments in another order."""
def bernoulli(input: Tensor, p: _float | None = None, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Ones with the probabilities that ``input`` holds (or all with probability ``p``), else zeros."""
bfloat16: _dtype
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x1 @ A[k] @ x2 + b[k]`` for every k: ``(*, n)``, ``(*, m)`` and weight ``(out, n, m)`` give ``(*, out)``."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: _int = 0) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with the reduction as a number; the target may broadcast."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """The number of elements equal to each integer from 0 on, or the sum of their weights."""
def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials of probability ``prob``; the two broadcast and have one dtype."""
bit: _dtype
bits16: _dtype
bits1x8: _dtype
bits2x4: _dtype
bits4x2: _dtype
bits8: _dtype
def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise and; logical and for bools."""
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Shift the bits to the left, which multiplies by powers of two."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bitwise not; logical not for bools."""
def bitwise_not_(self: Tensor) -> Tensor:
    """In-place form of ``bitwise_not``."""
def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise or; logical or for bools."""
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Shift the bits to the right, which divides by powers of two and rounds down."""
def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise exclusive or; logical exclusive or for bools."""
def blackman_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``, of shape (window_length,). See ``hann_window``."""
def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A block diagonal matrix of tensors with at most two dimensions."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of the matrices of two batches, ``(b, n, k)`` and ``(b, k, m)``; see ``matmul`` for broadcasting."""
bool: _dtype
def broadcast_shapes(*shapes: Ints) -> _Size:
    """The shape that tensors of these shapes broadcast to."""
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> _tuple[Tensor, ...]:
    """The tensors expanded to their common shape."""
def broadcast_to(input: Tensor, size: Ints, *sizes: _int) -> Tensor:
    """``input.expand(size)``; as a method also ``input.broadcast_to(2, 3)``."""
def bucketize(input: Tensor | _float, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
    """The index of the bucket between sorted boundaries that contains each value."""
def can_cast(from_: _dtype, to: _dtype) -> _bool:
    """Whether PyTorch converts a result of dtype `from_` into an output of dtype `to`."""
def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """The rows of the Cartesian product of vectors."""
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None, axis: _int | None = None) -> Tensor:
    """Concatenate tensors along a dimension, in their common dtype."""
def ccol_indices_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.ccol_indices()``."""
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The p-norm distance of each row of ``(*, P, M)`` and each row of ``(*, R, M)``: ``(*, P, R)``."""
cdouble: _dtype
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest integer that is at least each element; its derivative is 0."""
def ceil_(self: Tensor) -> Tensor:
    """In-place form of ``ceil``."""
def celu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Each element, and ``alpha * (exp(x / alpha) - 1)`` where it is negative."""
def celu_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``celu``."""
cfloat: _dtype
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.multi_dot``."""
chalf: _dtype
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, *)`` taken in turn from each of ``groups`` groups."""
channels_last: _memory_format
channels_last_3d: _memory_format
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.cholesky``."""
def cholesky_inverse(L: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``A = L L^H`` (``L^H L`` if ``upper``)."""
def cholesky_solve(input: Tensor, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """X with ``A X = input`` where ``A = L L^H`` (``L^H L`` if ``upper``) and L is ``input2``."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """Split along a dimension into at most ``chunks`` views of equal size; the last may be smaller."""
def clamp(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element limited to ``min`` and ``max``, numbers or tensors that broadcast; ``max`` if min > max."""
def clamp_(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``clamp``."""
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Each element limited from above by ``max``, a number or a tensor that broadcasts."""
def clamp_max_(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``clamp_max``."""
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Each element limited from below by ``min``, a number or a tensor that broadcasts."""
def clamp_min_(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``clamp_min``."""
def clip(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element limited to ``min`` and ``max``, numbers or tensors that broadcast; ``max`` if min > max."""
def clip_(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``clamp``."""
def clone(input: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """A copy through which gradients flow."""
def col_indices_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.col_indices()``."""
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors along the second dimension; vectors become columns."""
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All combinations of ``r`` elements of a vector, one in each row, in the order of the vector."""
@overload
def compile(model: Callable[_P, _R], *, fullgraph: _bool=False, dynamic: _bool | None=None, backend: _str | Callable[..., Any]=Any, mode: _str | None=None, options: _dict[_str, Any] | None=None, disable: _bool=False, **kwargs: Any) -> Callable[_P, _R]:
    """The compiled form of a function, or an ``OptimizedModule`` around a module; without ``model``, a decorator."""
@overload
def compile(model: None=None, *, fullgraph: _bool=False, dynamic: _bool | None=None, backend: _str | Callable[..., Any]=Any, mode: _str | None=None, options: _dict[_str, Any] | None=None, disable: _bool=False, **kwargs: Any) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its parts, which have the same floating dtype and broadcast."""
complex128: _dtype
complex32: _dtype
complex64: _dtype
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None, axis: _int | None = None) -> Tensor:
    """Concatenate tensors along a dimension, in their common dtype."""
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None, axis: _int | None = None) -> Tensor:
    """Concatenate tensors along a dimension, in their common dtype."""
def cond(pred: _bool | Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: _tuple[Any, ...] | _list[Any] = ()) -> Any:
    """``true_fn(*operands)`` if ``pred``, a bool or a tensor with one element, is true, else ``false_fn(*operands)``."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is returned itself."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned itself."""
def conj_physical_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``conj_physical``."""
def constant_pad_nd(input: Tensor, pad: Ints, value: Tensor | Number = 0) -> Tensor:
    """``nn.functional.pad`` with a constant."""
contiguous_format: _memory_format
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, dilation: Ints = 1, groups: _int = 1) -> Tensor:
    """Convolution of signals ``(N, C, L)`` or ``(C, L)`` with filters ``(O, C / groups, k)``; see ``conv2d``."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, dilation: Ints = 1, groups: _int = 1) -> Tensor:
    """Convolution (as a cross-correlation) of images ``(N, C, H, W)`` with filters ``(O, C / groups, kh, kw)``."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, dilation: Ints = 1, groups: _int = 1) -> Tensor:
    """Convolution of volumes ``(N, C, D, H, W)`` with filters ``(O, C / groups, kd, kh, kw)``; see ``conv2d``."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """``conv1d`` of (time, batch, channels) with a weight (width, channels in, channels out)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, output_padding: Ints = 0, groups: _int = 1, dilation: Ints = 1) -> Tensor:
    """The transpose of ``conv1d``: ``(N, C, L)`` with filters ``(C, O / groups, k)``; see ``conv_transpose2d``."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, output_padding: Ints = 0, groups: _int = 1, dilation: Ints = 1) -> Tensor:
    """The transpose of ``conv2d`` of the same geometry: ``(N, C, H, W)`` with filters ``(C, O / groups, kh, kw)``."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: _str | Ints = 0, output_padding: Ints = 0, groups: _int = 1, dilation: Ints = 1) -> Tensor:
    """The transpose of ``conv3d``; see ``conv_transpose2d``."""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: _str | Ints, dilation: Ints, transposed: _bool, output_padding: Ints, groups: _int) -> Tensor:
    """``conv1d`` to ``conv3d`` or their transposes, by the weight's rank."""
def copysign(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of the first operand with the sign of the second."""
def corrcoef(input: Tensor) -> Tensor:
    """Matrix of correlation coefficients; rows are variables, columns observations."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of each element, an angle in radians."""
def cos_(self: Tensor) -> Tensor:
    """In-place form of ``cos``."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine of each element."""
def cosh_(self: Tensor) -> Tensor:
    """In-place form of ``cosh``."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with the reduction as a number."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """The cosine of the angle between the vectors along ``dim``; the other dimensions broadcast."""
def count_nonzero(input: Tensor, dim: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """The number of nonzero elements, as int64."""
def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Covariance matrix; rows are variables, columns observations."""
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """``linalg.cross``; ``dim`` is the first dimension of size 3 by default."""
def crow_indices_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.crow_indices()``."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[Any], target_lengths: Tensor | Sequence[Any], blank: _int = 0, reduction: _int = 0, zero_infinity: _bool = False) -> Tensor:
    """``nn.functional.ctc_loss`` with the reduction as a number: 0 none, 1 mean, 2 sum."""
def cummax(input: Tensor, dim: _int, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.cummax:
    """Cumulative maximum along a dim, and its index: the last of equal ones."""
def cummin(input: Tensor, dim: _int, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.cummin:
    """Cumulative minimum along a dim, and its index: the last of equal ones."""
def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Cumulative product along a dim; integers and bools use int64. Gradients are right where elements are zero."""
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Cumulative sum along a dim; integers and bools are summed in int64."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _float | Tensor = 1, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Cumulative integral along a dim by the trapezoidal rule; the result has one element less than ``y``."""
default_generator: _Generator
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Convert degrees to radians."""
def deg2rad_(input: Tensor) -> Tensor:
    """In-place form of ``deg2rad``."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of each square matrix; its derivative is right for singular matrices too."""
def detach(input: Tensor) -> Tensor:
    """A view without history: a leaf that does not require grad and shares the version counter."""
def detach_(self: Tensor) -> Tensor:
    """Detach the tensor from its history, in place."""
def detach_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``detach``, as a copy."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A matrix with a vector on its diagonal, or a copy of a matrix's diagonal."""
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Zeros with the last dimension of the input on a diagonal of two dimensions."""
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """A matrix with all elements of the input on its diagonal."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A view of the diagonal of two dimensions, as a new last dimension."""
def diagonal_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``diagonal``, as a copy."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A copy of ``input`` with ``src`` on a diagonal."""
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """The n-th forward difference along a dim; ``prepend`` and ``append`` are concatenated along it first."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of ``lgamma``: -inf at 0, nan at the negative integers."""
def digamma_(input: Tensor) -> Tensor:
    """In-place form of ``digamma``."""
def dist(input: Tensor, other: Tensor, p: _int | _float = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of ``input - other``, broadcasting."""
def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, broadcasting; integers become the default dtype."""
def divide(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, broadcasting; integers become the default dtype."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of the elements of two vectors."""
double: _dtype
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given."""
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given in place."""
def dsmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices, ``(n, k)`` and ``(k, m)``."""
def dsplit(input: Tensor, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
    """``tensor_split`` along dimension 2, into pieces of equal size or at the indices of a list."""
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors along the third dimension."""
e: _float
def eig(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`."""
def einsum(*args: Any) -> Tensor:
    """Sum of products over dimensions named by letters: ``einsum("ij,jk->ik", a, b)`` is a product of matrices."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """``nn.functional.embedding`` with the matrix as the first argument."""
def embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: _bool = False, mode: _int = 0, sparse: _bool = False, per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> _tuple[Tensor, Tensor, Tensor, Tensor]:
    """``nn.functional.embedding_bag`` with the mode as a number, 0 (sum), 1 (mean) or 2 (maximum), and its counts."""
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: _float, norm_type: _float) -> Tensor:
    """Scale the rows of a matrix at ``indices`` whose norm is larger than ``max_norm`` down to it, in place."""
def empty(*size: Ints, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None, **kwargs: Any) -> Tensor:
    """An uninitialised tensor."""
def empty_like(input: Tensor, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """An uninitialised tensor with another tensor's shape and dtype."""
def empty_permuted(size: Ints, physical_layout: Ints, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """An uninitialised tensor with its dimensions in the given memory order, outermost first."""
def empty_strided(size: Ints, stride: Ints, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """An uninitialised tensor with given strides, counted in elements."""
def eq(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether the elements are equal, as bools."""
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and the same elements, as a Python bool."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function of each element."""
def erf_(input: Tensor) -> Tensor:
    """In-place form of ``erf``."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 - erf(x)`` of each element, accurate where ``erf(x)`` is near 1 too."""
def erfc_(input: Tensor) -> Tensor:
    """In-place form of ``erfc``."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function, for elements between -1 and 1."""
def erfinv_(input: Tensor) -> Tensor:
    """In-place form of ``erfinv``."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of each element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def exp2_(self: Tensor) -> Tensor:
    """In-place form of ``exp2``."""
def exp_(self: Tensor) -> Tensor:
    """In-place form of ``exp``."""
def expand_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``expand``, as a copy."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) - 1``, accurate near 0 too."""
def expm1_(self: Tensor) -> Tensor:
    """In-place form of ``expm1``."""
def eye(n: _int, m: _int | None = None, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A matrix of shape (n, m) with ones on the diagonal and zeros elsewhere; m defaults to n."""
def fake_quantize_per_channel_affine(input: Tensor, scale: Tensor, zero_point: Tensor, axis: _int, quant_min: _int, quant_max: _int) -> Tensor:
    """``fake_quantize_per_tensor_affine`` with a scale and a zero point for each index along the dimension ``axis``."""
def fake_quantize_per_tensor_affine(input: Tensor, scale: Tensor | _float, zero_point: Tensor | _int, quant_min: _int, quant_max: _int) -> Tensor:
    """Each element, rounded to a multiple of ``scale`` whose number, counted from ``zero_point``, is in the range."""
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given."""
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given in place."""
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given."""
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``nn.functional``'s dropout of this kind, with ``train`` given in place."""
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A tensor like ``input`` with one value everywhere."""
def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """Fill this tensor with a number or a 0-dimensional tensor."""
def fill_diagonal_(self: Tensor, fill_value: _float, wrap: _bool = False) -> Tensor:
    """Write a number on the main diagonal; ``wrap`` starts a new diagonal after each square of a tall matrix."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element without its fractional part; its derivative is 0."""
def fix_(self: Tensor) -> Tensor:
    """In-place form of ``trunc``."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim``; a 0-dimensional tensor becomes one-dimensional."""
def flip(input: Tensor, *dims: Ints, **given: Any) -> Tensor:
    """A copy with some dimensions in reverse order."""
def fliplr(input: Tensor) -> Tensor:
    """A copy with the columns in reverse order."""
def flipud(input: Tensor) -> Tensor:
    """A copy with the rows in reverse order."""
float: _dtype
float16: _dtype
float32: _dtype
float4_e2m1fn_x2: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``pow`` in double precision (complex128 if an operand is complex)."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest integer that is at most each element; its derivative is 0."""
def floor_(self: Tensor) -> Tensor:
    """In-place form of ``floor``."""
def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Quotient rounded down; it has no derivative."""
def fmax(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The larger of each pair of elements; a number wins over nan."""
def fmin(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The smaller of each pair of elements; a number wins over nan."""
def fmod(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The remainder of division, with the sign of the dividend, like C's ``fmod``."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fractional part of each element, with its sign."""
def frac_(input: Tensor) -> Tensor:
    """In-place form of ``frac``."""
def frexp(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.frexp:
    """Mantissa (between 1/2 and 1) and exponent (int32): ``input = mantissa * 2 ** exponent``."""
def frobenius_norm(input: Tensor, dim: Ints, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Deprecated: ``linalg.vector_norm(input, 2, dim, keepdim)``."""
def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: _bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of a capsule, by the DLPack protocol."""
def from_file(filename: _str | Any, shared: _bool | None = None, size: _int = 0, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor of shape (size,) on the memory of a file, which must hold at least that many elements."""
def from_numpy(ndarray: _ndarray) -> Tensor:
    """A tensor on the memory of a NumPy array: a write to one changes the other."""
def frombuffer(buffer: Any, *, dtype: _dtype, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> Tensor:
    """A 1-dimensional tensor on the memory of an object with Python's buffer protocol."""
def full(size: Ints, fill_value: Number, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor filled with one value; its type determines the dtype if none is given."""
def full_like(input: Tensor, fill_value: Number, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """A tensor filled with one value, with another tensor's shape and dtype."""
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
    """The elements of ``input`` at the positions ``index`` along ``dim``."""
def gcd(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor of each pair of integers."""
def gcd_(self: Tensor, other: Tensor | Number) -> Tensor:
    """In-place form of ``gcd``."""
def ge(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input >= other``, element by element."""
def geqrf(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.geqrf:
    """R and the reflections of a QR decomposition, as LAPACK's geqrf leaves them; no derivative."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of each element of a vector with each element of another: ``(n,)`` and ``(m,)`` give ``(n, m)``."""
def gesv(B: Tensor, A: Tensor) -> _tuple[Tensor, Tensor]:
    """X with ``A X = B``, and the factors L and U of A in one matrix: PyTorch 0.4's name of ``torch.linalg.solve``."""
def get_default_device() -> _device:
    """The device of tensors made without the argument ``device``: the CPU, unless the program sets another."""
def get_default_dtype() -> _dtype:
    """The dtype of tensors made from Python floats."""
def get_deterministic_debug_mode() -> _int:
    """0, 1 (warn) or 2 (error), as ``set_deterministic_debug_mode`` or ``use_deterministic_algorithms`` set it."""
def get_device(self: Tensor) -> _int:
    """The number of the device: -1 for the CPU."""
def get_device_module(device: Device = None) -> Any:
    """The module of a device type: ``torch.cpu``, ``torch.cuda``, ..."""
def get_float32_matmul_precision() -> _str:
    """The value set by ``set_float32_matmul_precision``."""
def get_num_interop_threads() -> _int:
    """The number that was set, else 1."""
def get_num_threads() -> _int:
    """The number that was set, else the environment's, else the number of processors."""
def gradient(input: Tensor, *, spacing: Number | Sequence[Any] | None = None, dim: Ints | None = None, edge_order: _int = 1) -> _tuple[Tensor, ...]:
    """Numerical derivative along each dim: central differences inside, one-sided differences at the edges."""
def greater(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input > other``, element by element."""
def greater_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input >= other``, element by element."""
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes."""
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes."""
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes."""
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enabled: _bool = True) -> Tensor:
    """Each group of channels of ``(N, C, *)`` standardised within its sample, then scaled and shifted by channel."""
def gru(*args: Any, **kwargs: Any) -> _tuple[Tensor, Tensor]:
    """A GRU; see ``lstm``. It has one state: ``(input, h, params, has_biases, ...)`` gives output and h."""
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of a GRU: the new state."""
def gt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input > other``, element by element."""
half: _dtype
def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54, beta: _float = 0.46, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``alpha - beta * cos(2 pi n / N)``, of shape (window_length,). See ``hann_window``."""
def hann_window(window_length: _int, periodic: _bool = True, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """The Hann window ``sin(pi n / N) ** 2``, of shape (window_length,)."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Each element, or 0 if its absolute value is at most ``lambd``."""
has_cuda: _bool
has_cudnn: _bool
has_lapack: _bool
has_mkl: _bool
has_mkldnn: _bool
has_mps: _bool
has_openmp: _bool
has_spectral: _bool
def hash_tensor(input: Tensor, dim: Ints = (), *, keepdim: _bool = False, mode: _int = 0, out: Tensor | None = None) -> Tensor:
    """A uint64 hash of the elements along dims, by default of all: the exclusive or of their 64-bit patterns."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 for negative elements, 1 for positive ones, and the element of ``values`` for 0."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 0) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with the reduction as a number."""
def histc(input: Tensor, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
    """The number of elements in each of ``bins`` bins of equal width from min to max (of the data if both are 0)."""
def histogram(input: Tensor, bins: _int | Tensor = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.histogram:
    """Counts (or weights, or a density) of the elements in bins: a number of equal bins, or bins with given edges."""
def histogramdd(input: Tensor, bins: _int | Sequence[Any], *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> _return_types.histogramdd:
    """Counts of points in the cells of a grid; the last dim holds the coordinates."""
def hsplit(input: Tensor, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
    """``tensor_split`` along dimension 1, into pieces of equal size or at the indices of a list."""
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors along the second dimension, vectors along their only dimension."""
def hypot(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The hypotenuse: ``sqrt(input ** 2 + other ** 2)`` without overflow."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def i0_(input: Tensor) -> Tensor:
    """In-place form of ``i0``."""
def igamma(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function; it has a derivative with respect to ``other`` only."""
def igammac(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function; it has a derivative with respect to ``other`` only."""
def imag(input: Tensor) -> Tensor:
    """A view of the imaginary part of a complex tensor."""
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``alpha`` times the slices of ``source`` added at some indices of a dimension."""
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with the slices of ``source`` written at some indices of a dimension."""
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with a number (or a 0-dimensional tensor) at some indices of a dimension."""
def index_put(input: Tensor, indices: Tensor | Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written, or added, at the positions of a tuple of index tensors."""
def index_put_(self: Tensor, indices: Tensor | Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor:
    """In-place form of ``index_put``."""
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with the slices of ``source`` reduced into the slices at some indices of a dimension."""
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the slices of ``input`` at some indices of a dimension."""
inf: _float
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over the last dimension of both; a 0-dimensional operand multiplies the other."""
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """``nn.functional.instance_norm`` with its arguments in another order."""
int: _dtype
int1: _dtype
int16: _dtype
int2: _dtype
int3: _dtype
int32: _dtype
int4: _dtype
int5: _dtype
int6: _dtype
int64: _dtype
int7: _dtype
int8: _dtype
def inverse(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of each square matrix."""
def is_complex(input: Tensor) -> _bool:
    """Whether the dtype is a complex one."""
def is_conj(input: Tensor) -> _bool:
    """Whether the tensor shows the conjugates of its memory."""
def is_deterministic_algorithms_warn_only_enabled() -> _bool:
    """What ``use_deterministic_algorithms`` set."""
def is_distributed(self: Tensor) -> _bool:
    """False: a tensor's memory is that of this process."""
def is_floating_point(input: Tensor) -> _bool:
    """Whether the dtype is a floating one."""
def is_grad_enabled() -> _bool:
    """Whether recording is on in this thread or task; inference mode records nothing all the same."""
def is_inference(self: Tensor) -> _bool:
    """Whether the tensor was made under ``inference_mode``."""
def is_inference_mode_enabled() -> _bool:
    """Whether inference mode is on in this thread or task."""
def is_neg(input: Tensor) -> _bool:
    """Whether the tensor shows the negatives of its memory, as the imaginary part of a conjugate does."""
def is_nonzero(input: Tensor) -> _bool:
    """Whether the one element of a tensor is not zero."""
def is_same_size(self: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape."""
def is_signed(self: Tensor) -> _bool:
    """Whether the dtype has negative numbers."""
def is_storage(obj: Any) -> _bool:
    """Whether an object is a storage."""
def is_tensor(obj: Any) -> TypeIs[Tensor]:
    """Whether an object is a tensor."""
def is_vulkan_available() -> _bool:
    """False."""
def is_warn_always_enabled() -> _bool:
    """The value set by ``set_warn_always``."""
def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
    """Whether each element is close to the other: ``abs(input - other) <= atol + rtol * abs(other)``."""
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is neither infinite nor nan."""
def isin(elements: Any = None, test_elements: Any = None, *, element: Any = None, test_element: Any = None, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each element is among the test elements; ``invert`` negates the result."""
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is infinite; a complex element is infinite if either part is."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is nan; a complex element is nan if either part is."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is minus infinity."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is plus infinity."""
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element's imaginary part is zero."""
def istft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
    """The signal whose ``stft`` is ``input``, ``(B, N, frames)`` or ``(N, frames)``, in the sense of least squares."""
jagged: _layout
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``, of shape (window_length,). See ``hann_window``."""
def kl_div(input: Tensor, target: Tensor, reduction: _int = 0, *, log_target: _bool = False) -> Tensor:
    """``nn.functional.kl_div`` with the reduction as a number."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Kronecker product: the block matrix of ``input[i, j] * other``, for any number of dimensions."""
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.kthvalue:
    """The k-th smallest element along a dim (k counts from 1), and its index."""
def layer_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = False) -> Tensor:
    """Each sample standardised over its last dimensions, which are ``normalized_shape``, then scaled and shifted."""
def lcm(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple of each pair of integers."""
def lcm_(self: Tensor, other: Tensor | Number) -> Tensor:
    """In-place form of ``lcm``."""
def ldexp(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * 2 ** other``."""
def ldexp_(input: Tensor, other: Tensor | Number) -> Tensor:
    """In-place form of ``ldexp``."""
def le(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input <= other``, element by element."""
legacy_contiguous_format: _memory_format
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input + weight * (end - input)``; the weight is a number or a tensor."""
def less(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input < other``, element by element."""
def less_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input <= other``, element by element."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function of each element."""
def lgamma_(input: Tensor) -> Tensor:
    """In-place form of ``lgamma``."""
def linalg_inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of each square matrix."""
def linspace(start: Tensor | Number, end: Tensor | Number, steps: _int | None = None, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``steps`` evenly spaced numbers from start to end, both included."""
def lobpcg(A: Tensor, k: _int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: _int | None = None, iK: Tensor | None = None, niter: _int | None = None, tol: _float | None = None, largest: _bool | None = None, method: _str | None = None, tracker: Any = None, ortho_iparams: _dict[_str, _int] | None = None, ortho_fparams: _dict[_str, _float] | None = None, ortho_bparams: _dict[_str, _bool] | None = None) -> _tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues (*, k) and eigenvectors (*, m, k) of symmetric A (*, m, m)."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of each element; -inf for 0 and nan for negative elements."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to the base 10 of each element."""
def log10_(self: Tensor) -> Tensor:
    """In-place form of ``log10``."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + x)``, accurate near 0 too."""
def log1p_(self: Tensor) -> Tensor:
    """In-place form of ``log1p``."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to the base 2 of each element."""
def log2_(self: Tensor) -> Tensor:
    """In-place form of ``log2``."""
def log_(self: Tensor) -> Tensor:
    """In-place form of ``log``."""
def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of softmax along a dim, accurate where softmax is near 0 or 1."""
def logaddexp(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))`` without overflow."""
def logaddexp2(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``log2(2 ** input + 2 ** other)`` without overflow."""
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the cumulative sum of exponentials along a dim, without overflow."""
def logdet(input: Tensor) -> Tensor:
    """The logarithm of each determinant: nan where it is negative, -inf where it is zero."""
def logical_and(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether both elements are nonzero."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is zero."""
def logical_not_(self: Tensor) -> Tensor:
    """In-place form of ``logical_not``."""
def logical_or(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether at least one of the elements is nonzero."""
def logical_xor(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one of the elements is nonzero."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``log(x / (1 - x))`` of each element; with ``eps``, x is clamped to [eps, 1 - eps] first."""
def logit_(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``logit``."""
def logspace(start: Tensor | Number, end: Tensor | Number, steps: _int | None = None, base: _float = 10.0, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``base`` to the power of ``linspace(start, end, steps)``."""
def logsumexp(input: Tensor, dim: Ints | None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of exponentials along one or several dims, without overflow."""
long: _dtype
def lstm(*args: Any, **kwargs: Any) -> _tuple[Tensor, Tensor, Tensor]:
    """``(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: output, h and c."""
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> _tuple[Tensor, Tensor]:
    """One step of an LSTM: the new h and c from ``hx = (h, c)``."""
def lstsq(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`."""
def lt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether ``input < other``, element by element."""
@overload
def lu(input: Tensor, pivot: _bool=True, get_infos: Literal[False]=False, *, out: Tensor | Sequence[Tensor] | None=None) -> _tuple[Tensor, Tensor]:
    """Deprecated in PyTorch: see ``linalg.lu_factor``."""
@overload
def lu(input: Tensor, pivot: _bool=True, *, get_infos: Literal[True], out: Tensor | Sequence[Tensor] | None=None) -> _tuple[Tensor, Tensor, Tensor]: ...
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.lu_solve``."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.lu_unpack:
    """P, L and U from the results of ``lu_factor``; a factor that is not wanted is empty."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with the reduction as a number."""
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """The tensor with ``value`` (a number or a 0-dimensional tensor) where the bool tensor ``mask`` is true."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the first elements of ``source``, in order, where ``mask`` is true."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A vector of the elements where the bool tensor ``mask`` is true, both broadcast."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two tensors: of vectors, matrices, or batches of matrices, by their ranks."""
def matrix_exp(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The exponential ``1 + A + A A / 2 + ...`` of each square matrix."""
def matrix_power(A: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """The n-th power of each square matrix, by repeated squaring; if n is negative, the power of its inverse."""
def matrix_rank(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch. Please use the `torch.linalg.matrix_rank` function instead."""
@overload
def max(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """Largest elements."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None=None) -> Tensor: ...
@overload
def max(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Tensor | Sequence[Tensor] | None=None) -> _return_types.max: ...
@overload
def max_pool1d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``max_pool2d``."""
@overload
def max_pool1d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
def max_pool1d_with_indices(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: _str | Ints = 0, dilation: Ints = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _tuple[Tensor, Tensor]:
    """``nn.functional.max_pool1d``: the maxima and their indices."""
@overload
def max_pool2d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element of each window of images ``(N, C, H, W)`` or ``(C, H, W)``."""
@overload
def max_pool2d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element of each window of volumes; see ``max_pool2d``."""
@overload
def max_pool3d(input: Tensor, kernel_size: Ints, stride: Ints | None=None, padding: Ints=0, dilation: Ints=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> _tuple[Tensor, Tensor]: ...
def maximum(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The larger of each pair of elements; nan if either is nan. On a tie each gets half of the gradient."""
def mean(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None, **spelling: Any) -> Tensor:
    """Mean of all elements, or along one or several dims; only for floating and complex dtypes."""
@overload
def median(input: Tensor) -> Tensor:
    """The lower median of all elements, or along a dim with its index; nan if any element is nan."""
@overload
def median(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Tensor | Sequence[Tensor] | None=None) -> _return_types.median: ...
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: _str | None = None) -> _tuple[Tensor, ...]:
    """Expand vectors to views on the grid that they span, with one dimension for each vector."""
@overload
def min(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """Smallest elements: of all, along a dim (with their indices), or of each pair; see ``max``."""
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None=None) -> Tensor: ...
@overload
def min(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Tensor | Sequence[Tensor] | None=None) -> _return_types.min: ...
def minimum(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The smaller of each pair of elements; nan if either is nan. On a tie each gets half of the gradient."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices, ``(n, k)`` and ``(k, m)``."""
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.mode:
    """The most frequent element along a dim (the smallest of several), and its last index."""
def moveaxis(input: Tensor, source: Tensor | Ints, destination: Tensor | Ints) -> Tensor:
    """A view with some dimensions moved to other positions; the others stay in order."""
def movedim(input: Tensor, source: Tensor | Ints, destination: Tensor | Ints) -> Tensor:
    """A view with some dimensions moved to other positions; the others stay in order."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sort along the first dim."""
def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Product of each pair of elements, broadcasting."""
def multinomial(input: Tensor, num_samples: _int = 1, replacement: _bool = False, *, generator: _Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with the weights that ``input`` holds, of shape (n,) or (rows, n); int64, ``num_samples`` of a row."""
def multiply(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Product of each pair of elements, broadcasting."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix ``(n, m)`` and a vector ``(m,)``."""
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
nan: _float
def nan_to_num(input: Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Replace nan by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's largest and smallest number)."""
def nan_to_num_(input: Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``nan_to_num``."""
def nanmean(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Mean of the elements that are not nan."""
@overload
def nanmedian(input: Tensor) -> Tensor:
    """The median of the elements that are not nan; see ``median``."""
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Tensor | Sequence[Tensor] | None=None) -> _return_types.nanmedian: ...
def nanquantile(input: Tensor, q: _float | Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-th quantiles of the elements that are not nan; see ``quantile``."""
def nansum(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum of the elements that are not nan."""
def narrow(input: Tensor, dim: _int, start: Tensor | Number, length: _int, *, out: Tensor | None = None) -> Tensor:
    """A view of ``length`` elements of a dimension, from ``start`` on."""
def narrow_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``narrow``, as a copy."""
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: _bool, momentum: _float, eps: _float, *, out: Tensor | None = None) -> _tuple[Tensor, Tensor, Tensor]:
    """``nn.functional.batch_norm`` with the means and inverse deviations of the batch (empty if not training)."""
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, *)`` taken in turn from each of ``groups`` groups."""
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> _tuple[Tensor, Tensor]:
    """``(result, mask)``: the mask is True where an element was kept."""
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: _int, C: _int, HxW: _int, group: _int, eps: _float) -> _tuple[Tensor, Tensor, Tensor]:
    """``group_norm``, the means and the inverse deviations."""
def native_layer_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None, bias: Tensor | None, eps: _float) -> _tuple[Tensor, Tensor, Tensor]:
    """``layer_norm``, the means and the inverse deviations."""
def ne(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether the elements differ, as bools."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign changed."""
def neg_(self: Tensor) -> Tensor:
    """In-place form of ``neg``."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign changed."""
def negative_(self: Tensor) -> Tensor:
    """In-place form of ``neg``."""
newaxis: None
def nextafter(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The next representable number after ``input`` towards ``other``."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False]=False, out: Tensor | None=None) -> Tensor:
    """The indices of the nonzero elements: a row for each, or with ``as_tuple`` a tensor for each dimension."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> _tuple[Tensor, ...]: ...
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """``nonzero`` with exactly ``size`` rows, truncated or filled with ``fill_value``."""
def norm(input: Tensor, p: Any | _str | None = 'fro', dim: Ints | None = None, keepdim: _bool = False, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Norm of the elements as one vector, or of the vectors along dims; ``"nuc"`` is the nuclear norm of matrices."""
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm over all dims but ``dim`` (-1: over all dims), with the reduced dims kept at size 1."""
def normal(mean: Tensor | Number, std: Tensor | Number = 1.0, size: Ints | None = None, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Normal numbers: of the tensors ``mean`` and ``std`` (either may be a number), or of two numbers and a ``size``."""
def not_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Whether the elements differ, as bools."""
def nuclear_norm(input: Tensor, dim: Ints = (-2, -1), keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Deprecated: ``linalg.matrix_norm(input, "nuc", dim, keepdim)``."""
def numel(self: Tensor) -> _int:
    """The number of elements."""
def ones(*size: Ints, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """A tensor of ones."""
def ones_like(input: Tensor, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """A tensor of ones with another tensor's shape and dtype."""
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``linalg.householder_product`` under its older name."""
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: _bool = True, transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The product of the reflections of ``householder_product`` (or its adjoint) and a matrix, from either side."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of each element of a vector with each element of another: ``(n,)`` and ``(m,)`` give ``(n, m)``."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> _tuple[Tensor, Tensor, Tensor]:
    """``svd_lowrank`` of A minus the means of its columns; the columns of V are the principal directions."""
def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The p-norm distances of all pairs of rows: the upper triangle of ``cdist(input, input)``, row by row."""
def permute(input: Tensor, *order: Any, dims: Ints | None = None) -> Tensor:
    """A view with the dimensions in another order."""
def permute_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``permute``, as a copy."""
pi: _float
def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """``linalg.pinv`` with another name for its relative tolerance."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """``(*, C r r, H, W)`` rearranged to ``(*, C, H r, W r)``: r x r channels become r x r pixels."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """``(*, C, H r, W r)`` rearranged to ``(*, C r r, H, W)``: the inverse of ``pixel_shuffle``."""
def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Poisson numbers with the rates that ``input`` holds, of its shape and dtype."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with the reduction as a number."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from absolute values and angles (in radians)."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order n of ``digamma``, n >= 0."""
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself; bools are an error."""
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent``, broadcasting; either operand may be a number."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times ``weight`` if it is negative; one weight, or one for each index of dim 1."""
preserve_format: _memory_format
def prod(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Product of all elements, or along one dim. Gradients of every order are right where elements are zero."""
def promote_types(type1: _dtype, type2: _dtype) -> _dtype:
    """The smallest dtype, by PyTorch's table, that both dtypes can be converted to."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy of ``input`` with ``source`` written, or added, at some flat indices, in row-major order."""
qint32: _dtype
qint8: _dtype
def qr(input: Tensor, some: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.qr:
    """Deprecated in PyTorch: see ``linalg.qr``."""
def quantile(input: Tensor, q: _float | Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-th quantiles of all elements or along a dim; nan if any is nan. A 1-dimensional ``q`` adds a first dim."""
quint2x4: _dtype
quint4x2: _dtype
quint8: _dtype
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Convert radians to degrees."""
def rad2deg_(input: Tensor) -> Tensor:
    """In-place form of ``rad2deg``."""
def rand(*size: Ints, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """Uniform numbers on [0, 1)."""
def rand_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """Uniform numbers on [0, 1), of another tensor's shape and dtype."""
def randint(*args: Any, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """Integers in [low, high): ``randint(high, size)``, ``randint(low, high, size)``; int64 if no dtype is given."""
def randint_like(input: Tensor, *args: Any, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None, **kwargs: Any) -> Tensor:
    """Integers in [low, high), of another tensor's shape and dtype: ``(input, high)`` or ``(input, low, high)``."""
def randn(*size: Ints, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """Standard normal numbers."""
def randn_like(input: Tensor, *, generator: _Generator | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """Standard normal numbers, of another tensor's shape and dtype."""
def randperm(n: _int, *, generator: _Generator | None = None, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A random permutation of 0, ..., n - 1; int64 if no dtype is given."""
def range(*args: Any, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """Deprecated: ``range(start, end, step=1)`` is ``arange`` with the end included, in the default dtype."""
def ravel(input: Tensor) -> Tensor:
    """Flatten to one dimension; a view if the tensor is contiguous."""
def real(input: Tensor) -> Tensor:
    """A view of the real part; a real tensor is returned itself."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over each element."""
def reciprocal_(input: Tensor) -> Tensor:
    """In-place form of ``reciprocal``."""
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element, or 0 if it is negative."""
def relu_(input: Tensor) -> Tensor:
    """In-place form of ``relu``."""
def remainder(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The remainder of division, with the sign of the divisor, like Python's ``%``; a zero has the dividend's sign."""
def renorm(input: Tensor, p: _int | _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
    """Scale each slice along ``dim`` whose p-norm is above ``maxnorm`` down to that norm."""
def repeat_interleave(input: Tensor, repeats: Tensor | Number | None = None, dim: _int | None = None, *, output_size: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Repeat each element, or each slice along ``dim``; ``repeats`` is one count for all or a tensor of counts."""
def reshape(input: Tensor, *size: Ints, shape: Ints | None = None) -> Tensor:
    """Reshape to ``size``: a view where the memory allows it, else a copy."""
def resize_(self: Tensor, *sizes: Ints, size: Ints | None = None, memory_format: _memory_format | None = None) -> Tensor:
    """Change the size in place, in row-major order; larger memory is allocated if needed."""
def resize_as_(self: Tensor, other: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """``self.resize_(other.shape)``; a sparse tensor without elements takes the shape of a sparse ``other``."""
def resolve_conj(input: Tensor) -> Tensor:
    """A copy of a conjugate; any other tensor is returned itself."""
def resolve_neg(input: Tensor) -> Tensor:
    """A copy of a tensor that shows negatives; any other tensor is returned itself."""
def result_type(*operands: Any, **named: Any) -> _dtype:
    """The dtype of the result of an operator on two operands: ``tensor`` and ``other``, or ``scalar`` and ``tensor``."""
def rms_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """The last dimensions divided by their root mean square; ``eps`` is the dtype's by default."""
def rnn_relu(*args: Any, **kwargs: Any) -> _tuple[Tensor, Tensor]:
    """An RNN with ``h' = relu(W x + b + U h + c)``; see ``gru`` for the arguments."""
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of an RNN with ``relu``: the new state."""
def rnn_tanh(*args: Any, **kwargs: Any) -> _tuple[Tensor, Tensor]:
    """An RNN with ``h' = tanh(W x + b + U h + c)``; see ``gru`` for the arguments."""
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of an RNN with ``tanh``: the new state."""
def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """A copy with the elements shifted cyclically along dimensions."""
def rot90(input: Tensor, k: _int = 1, dims: Ints = (0, 1)) -> Tensor:
    """A copy rotated by ``k`` quarter turns in the plane of two dimensions, from the first towards the second."""
def round(input: Tensor, *, decimals: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The nearest integer, with ties rounded to even, or the nearest number with ``decimals`` decimal places."""
def round_(input: Tensor, *, decimals: _int | None = None, out: Tensor | None = None) -> Tensor:
    """In-place form of ``round``."""
def row_indices_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.row_indices()``."""
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors along the first dimension; vectors become rows."""
def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False, *, generator: _Generator | None = None) -> Tensor:
    """Each element, times a slope if it is negative: a random one in training, else the mean of the bounds."""
def rrelu_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``rrelu``."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over the square root of each element."""
def rsqrt_(input: Tensor) -> Tensor:
    """In-place form of ``rsqrt``."""
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``other - alpha * input``."""
def saddmm(input: Tensor | Number, mat1: Tensor | Number, mat2: Tensor | Number, *old: Any, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``; input broadcasts to ``(n, m)``."""
def scalar_tensor(s: Any, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A 0-dimensional tensor of a number, in the default dtype if none is given."""
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | Number | None = None, *, value: Tensor | Number | None = None, reduce: _str | None = None, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` (a tensor or a number) written at the positions ``index`` along ``dim``."""
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` added at the positions ``index`` along ``dim``."""
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with the elements of ``src`` reduced at the positions ``index`` along ``dim``."""
def searchsorted(sorted_sequence: Tensor, input: Tensor | _float, *, out_int32: _bool = False, right: _bool = False, side: _str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """The index at which to insert each value into a sorted sequence, or into the row with the same leading dims."""
def segment_reduce(data: Tensor, reduce: _str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _float | None = None) -> Tensor:
    """The "sum", "mean", "prod", "max" or "min" of each segment of ``data`` along ``axis``."""
def select(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """A view of the slice at one index of a dimension, without that dimension."""
def select_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``select``, as a copy."""
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` at one index of a dimension."""
def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """The self-normalising ``elu`` (Klambauer and others 2017): a fixed alpha, and a scale of 1.0507."""
def selu_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``selu``."""
def set_default_device(device: Device) -> None:
    """Set the device of tensors made without the argument ``device``: "cpu" (also ``None``) or "meta"."""
def set_default_dtype(d: _dtype, /) -> None:
    """Make `d`, which must be floating, the dtype of tensors made from Python floats, in all threads."""
def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a floating legacy type, or of its name, the default; ``set_default_dtype`` is today's form."""
def set_deterministic_debug_mode(debug_mode: _int | _str) -> None:
    """``use_deterministic_algorithms`` by a word or its number: "default" (0), "warn" (1) or "error" (2)."""
def set_float32_matmul_precision(precision: _str) -> None:
    """Stored and returned; float32 products are always computed in float32 (``"highest"``)."""
def set_flush_denormal(mode: _bool, /) -> _bool:
    """False: NumPy's treatment of denormal numbers cannot be changed from here."""
def set_num_interop_threads(n: _int, /) -> None:
    """Store the number for ``get_num_interop_threads``: operators run one after the other."""
def set_num_threads(n: _int, /) -> None:
    """Set the number of threads of one large operator, including NumPy's products if its BLAS library is OpenBLAS."""
def set_printoptions(precision: _int | None = None, threshold: _float | None = None, edgeitems: _int | None = None, linewidth: _int | None = None, profile: _str | None = None, sci_mode: _bool | None = None) -> None:
    """Set how tensors are printed, for the whole process."""
def set_warn_always(b: _bool, /) -> None:
    """Set whether warnings that PyTorch shows once are shown each time."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of each element; a complex number is divided by its absolute value, and 0 stays 0."""
def sgn_(input: Tensor) -> Tensor:
    """In-place form of ``sgn``."""
short: _dtype
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def sigmoid_(input: Tensor) -> Tensor:
    """In-place form of ``sigmoid``."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 according to each element's sign; 0 for nan."""
def sign_(input: Tensor) -> Tensor:
    """In-place form of ``sign``."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element's sign bit is set; it is set for -0 too."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of each element, an angle in radians."""
def sin_(self: Tensor) -> Tensor:
    """In-place form of ``sin``."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi x) / (pi x)``, and 1 at 0."""
def sinc_(input: Tensor) -> Tensor:
    """In-place form of ``sinc``."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine of each element."""
def sinh_(self: Tensor) -> Tensor:
    """In-place form of ``sinh``."""
def slice_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``slice``, as a copy."""
def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` in a slice of a dimension."""
def slogdet(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.slogdet:
    """See ``linalg.slogdet``."""
def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(x) over its sum along a dim: positive numbers that add up to one. The input is converted to ``dtype`` first."""
def solve(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch. `torch.solve` is deprecated in favor of `torch.linalg.solve`."""
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, stable: _bool | None = False, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.sort:
    """Sort along a dim: values and their indices. Nan is the largest; equal elements keep their order if ``stable``."""
sparse_bsc: _layout
sparse_bsr: _layout
def sparse_compressed_tensor(compressed_indices: Any = None, plain_indices: Any = None, values: Tensor | Sequence[Any] | None = None, size: Ints | None = None, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_csr`` or ``torch.sparse_csc``; see ``sparse_csr_tensor``."""
sparse_coo: _layout
def sparse_coo_tensor(indices: Tensor | Sequence[Any] | None = None, values: Tensor | Sequence[Any] | None = None, size: Ints | None = None, *, dtype: _dtype | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None, is_coalesced: _bool | None = None) -> Tensor:
    """A tensor that stores only its elements at ``indices``, which have shape ``(sparse_dim, nnz)``."""
sparse_csc: _layout
def sparse_csc_tensor(ccol_indices: Any = None, row_indices: Any = None, values: Tensor | Sequence[Any] | None = None, size: Ints | None = None, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor in the layout CSC (compressed columns): ``sparse_csr_tensor`` with rows and columns exchanged."""
sparse_csr: _layout
def sparse_csr_tensor(crow_indices: Any = None, col_indices: Any = None, values: Tensor | Sequence[Any] | None = None, size: Ints | None = None, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> Tensor:
    """A sparse tensor in the layout CSR (compressed rows), of shape ``(*batch, rows, columns, *dense)``."""
def split(tensor: Tensor, split_size_or_sections: Any = None, dim: _int = 0, *, split_size: Any = None) -> _tuple[Tensor, ...]:
    """Split along a dimension into views of one size (the last may be smaller) or of the sizes in a list."""
def split_copy(input: Tensor, split_size: _int, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """``split`` with copies instead of views."""
def split_with_sizes(input: Tensor, split_sizes: Ints, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """Split along a dimension into views of the given sizes."""
def split_with_sizes_copy(input: Tensor, split_sizes: Ints, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """``split_with_sizes`` with copies instead of views."""
def spmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices, ``(n, k)`` and ``(k, m)``."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root of each element; nan for negative elements."""
def sqrt_(self: Tensor) -> Tensor:
    """In-place form of ``sqrt``."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square of each element."""
def square_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of ``square``."""
def squeeze(input: Tensor, dim: Ints | None = None, *dims: _int, axis: Any = None) -> Tensor:
    """A view without the dimensions of size one, or without those in ``dim``, a number or several."""
def squeeze_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``squeeze``, as a copy."""
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None, axis: _int | None = None) -> Tensor:
    """Stack tensors of one shape along a new dimension."""
@overload
def std(input: Tensor, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False, *, out: Tensor | None=None) -> Tensor:
    """Standard deviation: ``std(input, dim=None, *, correction=1, keepdim=False)``; or ``unbiased=``, as in ``var``."""
@overload
def std(input: Tensor, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False, out: Tensor | None=None) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: _bool=True) -> Tensor: ...
@overload
def std_mean(input: Tensor, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False) -> _tuple[Tensor, Tensor]:
    """Standard deviation and mean; the arguments are those of ``std``."""
@overload
def std_mean(input: Tensor, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False) -> _tuple[Tensor, Tensor]: ...
@overload
def std_mean(input: Tensor, unbiased: _bool=True) -> _tuple[Tensor, Tensor]: ...
def stft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
    """The Fourier transforms of windows that move along a signal: ``(B, L)`` or ``(L,)`` to ``(B, N, frames)``."""
strided: _layout
def sub(input: Tensor | Number, other: Tensor | Number, third: Any = None, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number."""
def subtract(input: Tensor | Number, other: Tensor | Number, third: Any = None, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number."""
def sum(input: Tensor, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None, **spelling: Any) -> Tensor:
    """Sum of all elements, or along one or several dims."""
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.svd:
    """Deprecated in PyTorch: ``linalg.svd`` with V rather than its adjoint."""
def svd_lowrank(A: Tensor, q: _int | None = 6, niter: _int | None = 2, M: Tensor | None = None) -> _tuple[Tensor, Tensor, Tensor]:
    """U, S, V of about the q largest singular values of A (of ``A - M``), by a random estimate of its range."""
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """``transpose`` under NumPy's name."""
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged."""
def sym_float(a: Any) -> _float:
    """A float from a number."""
def sym_int(a: Any) -> _int:
    """An integer from a number, rounded towards zero."""
def sym_ite(b: _bool, t: Any, f: Any) -> Any:
    """``t`` if ``b``, else ``f``; both must have the same type."""
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, as a float if either is a float."""
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, as a float if either is a float."""
def sym_not(a: Any) -> _bool:
    """The negation of a bool."""
def sym_sqrt(a: Any) -> _float:
    """The square root of a number."""
def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
def symeig(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch. The default behavior has changed from using the upper triangular portion to the lower one."""
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; tensors of fewer dimensions are unchanged."""
def t_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``t``, as a copy."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at some flat indices, in row-major order."""
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """``gather`` with both tensors broadcast in all dimensions but ``dim``; without ``dim``, of the flat tensors."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of each element, an angle in radians."""
def tan_(self: Tensor) -> Tensor:
    """In-place form of ``tan``."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanh_(self: Tensor) -> Tensor:
    """In-place form of ``tanh``."""
def tensor(data: Any, *, dtype: _dtype | None = None, device: Device = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A new leaf tensor with a copy of ``data``: a number, nested lists or tuples, a NumPy array, a tensor."""
def tensor_split(input: Tensor, indices_or_sections: Tensor | Ints | None = None, dim: _int = 0, *, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None, tensor_indices_or_sections: Any = None, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """Split along a dimension into ``n`` views of nearly equal sizes, or at the indices in a list."""
def tensordot(a: Tensor, b: Tensor, dims: Ints = 2, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over some dimensions of a and as many of b."""
def threshold(input: Tensor, threshold: Any, value: Tensor | Number, inplace: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Each element, or ``value`` if it is not above the threshold."""
def threshold_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of ``threshold``."""
def tile(input: Tensor, *dims: Ints, **given: Any) -> Tensor:
    """``repeat`` with the numbers aligned to the last dimensions."""
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.topk:
    """The k largest (or smallest) elements along a dim, and their indices."""
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged."""
def transpose_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``transpose``, as a copy."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _float | Tensor = 1, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Integral along a dim by the trapezoidal rule, at points ``x`` or with spacing ``dx``."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _float | Tensor = 1, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Integral along a dim by the trapezoidal rule, at points ``x`` or with spacing ``dx``."""
def triangular_solve(b: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.triangular_solve:
    """Deprecated in PyTorch: see ``linalg.solve_triangular``."""
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A copy with zeros above a diagonal (0: the main one) of the last two dimensions."""
def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _dtype | None = None, device: Device = None, layout: _layout | None = None, pin_memory: Any = None, requires_grad: Any = False) -> Tensor:
    """The row and column numbers, as two rows, of the lower triangle of a matrix of this size."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0, p: _float = 2.0, eps: _float = 1e-06, swap: _bool = False, reduction: _int = 0) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with the reduction as a number."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A copy with zeros below a diagonal (0: the main one) of the last two dimensions."""
def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _dtype | None = None, device: Device = None, layout: _layout | None = None, pin_memory: Any = None, requires_grad: Any = False) -> Tensor:
    """The row and column numbers, as two rows, of the upper triangle of a matrix of this size."""
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``div`` without rounding."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Each element without its fractional part; its derivative is 0."""
def trunc_(self: Tensor) -> Tensor:
    """In-place form of ``trunc``."""
def typename(obj: Any) -> _str:
    """The name of an object's type; for a tensor its legacy type, such as ``torch.FloatTensor``."""
uint1: _dtype
uint16: _dtype
uint2: _dtype
uint3: _dtype
uint32: _dtype
uint4: _dtype
uint5: _dtype
uint6: _dtype
uint64: _dtype
uint7: _dtype
uint8: _dtype
def unbind(input: Tensor, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """Views of the slices at each index of a dimension."""
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """``unbind`` with copies instead of views."""
def unflatten(input: Tensor, dim: _int, sizes: Ints, *, out: Tensor | None = None) -> Tensor:
    """Split one dimension into several; one of ``sizes`` may be -1."""
def unfold_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``unfold``, as a copy."""
@overload
def unique(input: Tensor, sorted: _bool=True, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
    """The unique elements, or slices along a dim, always sorted."""
@overload
def unique(input: Tensor, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any: ...
@overload
def unique_consecutive(input: Tensor, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
    """The first element of each run of equal elements, or of equal slices along a dim."""
@overload
def unique_consecutive(input: Tensor, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any: ...
def unique_dim(input: Tensor, dim: _int, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False) -> _tuple[Tensor, Tensor, Tensor]:
    """``torch.unique`` along a dimension, with inverse indices and counts, which are empty unless requested."""
def unravel_index(indices: Tensor, shape: Ints) -> _tuple[Tensor, ...]:
    """Convert flat indices in row-major order to one tensor of indices for each dimension."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """``chunk`` whose results may be written to in place."""
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0, *, out: Tensor | None = None) -> _tuple[Tensor, ...]:
    """``split`` whose results may be written to in place."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Ints, dim: _int = 0) -> _tuple[Tensor, ...]:
    """``split_with_sizes`` whose results may be written to in place."""
def unsqueeze(input: Tensor, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
    """A view with a dimension of size one at position ``dim``."""
def unsqueeze_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``unsqueeze``, as a copy."""
def use_deterministic_algorithms(mode: _bool, *, warn_only: _bool = False) -> None:
    """Refuse, or with ``warn_only`` warn of, the operators that PyTorch refuses; fill memory that is uninitialised."""
def values_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.values()``."""
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The powers of a vector's elements, descending unless ``increasing``."""
@overload
def var(input: Tensor, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False, *, out: Tensor | None=None) -> Tensor:
    """Variance: ``var(input, dim=None, *, correction=1, keepdim=False)``; ``unbiased=`` is ``correction`` 1 or 0."""
@overload
def var(input: Tensor, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False, out: Tensor | None=None) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: _bool=True) -> Tensor: ...
@overload
def var_mean(input: Tensor, dim: Ints | None, unbiased: _bool=True, keepdim: _bool=False) -> _tuple[Tensor, Tensor]:
    """Variance and mean; the arguments are those of ``var``."""
@overload
def var_mean(input: Tensor, dim: Ints | None=None, *, correction: Number | None=None, keepdim: _bool=False) -> _tuple[Tensor, Tensor]: ...
@overload
def var_mean(input: Tensor, unbiased: _bool=True) -> _tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``dot`` with the first vector conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """A complex view of a real tensor whose last dimension has size two."""
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``view_as_complex(input)``."""
def view_as_real(input: Tensor) -> Tensor:
    """A real view with a last dimension of size two, which holds the real and imaginary parts."""
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``view_as_real(input)``."""
def view_copy(*args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``view``, as a copy."""
def vsplit(input: Tensor, indices_or_sections: Tensor | Ints, *more: _int, indices: Tensor | Sequence[Any] | None = None, sections: _int | None = None) -> _tuple[Tensor, ...]:
    """``tensor_split`` along dimension 0, into pieces of equal size or at the indices of a list."""
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenate tensors along the first dimension; vectors become rows."""
def wait(future: Any) -> Any:
    """The result of a future."""
@overload
def where(condition: Tensor) -> _tuple[Tensor, ...]:
    """The element of ``input`` where ``condition`` holds, else the element of ``other``; all three broadcast."""
@overload
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None=None) -> Tensor: ...
def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: _tuple[Any, ...] | _list[Any]) -> Any:
    """``carried_inputs``, replaced by ``body_fn(*carried_inputs)`` as long as ``cond_fn(*carried_inputs)`` is true."""
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, and 0 where ``input`` is 0 and ``other`` is not nan."""
def xlogy_(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """In-place form of ``xlogy``."""
def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros."""
def zeros(*size: Ints, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, **kwargs: Any) -> Tensor:
    """A tensor of zeros."""
def zeros_like(input: Tensor, *, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _memory_format | None = None) -> Tensor:
    """A tensor of zeros with another tensor's shape and dtype."""
