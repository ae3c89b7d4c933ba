"""What PyTorch's suites of tensors check, as small programs of our own, run on both libraries.

Each line of a table is a program, run after the table's preparation. Its last expression is compared: text, dtype,
strides, node; of an error the class and the first sentence; and the warnings.
"""

from __future__ import annotations

import ast
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert


def told(T: Any, value: Any) -> Any:
    if isinstance(value, T.Tensor):
        node = value.grad_fn and value.grad_fn.name()
        return repr(value), str(value.dtype), value.shape, value.stride(), value.requires_grad, node
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [told(T, v) for v in value]
    return re.sub("0x[0-9a-f]+", "0x", repr(value))


def outcome(T: Any, preparation: str, program: str) -> tuple[Any, list[str]]:
    scope = {"T": T, "np": np, "F": T.nn.functional}
    T.manual_seed(0)
    with warnings.catch_warnings(action="ignore"):
        exec(preparation, scope)
    T.set_warn_always(True)  # else what another test has met is not said again
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="TypedStorage is deprecated")  # once in a process
        *statements, last = ast.parse(program).body
        assert isinstance(last, ast.Expr)
        try:
            exec(compile(ast.Module(statements, []), "<program>", "exec"), scope)
            result = told(T, eval(compile(ast.Expression(last.value), "<program>", "eval"), scope))
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            sentence = re.split(r"(?<=[\w)\]'\"])\. (?=[A-Z])|\n", str(error))[0]
            result = f"{type(error).__name__}: {sentence.removesuffix('.')}"
        finally:
            T.set_warn_always(False)
    said = [str(w.message).partition("\n")[0].partition(" (Triggered")[0].partition(". ")[0] for w in caught]
    return str(result).replace("wengert", "torch"), sorted(set(said))


ARGUMENTS = (
    "x = T.zeros(2, 3)",
    """
    T.argmax(x, dim="a")
    T.argmax(x, "a")
    x.argmax("a")
    x.argmax(dim=1.5)
    x[0].cumsum(dim=())
    T.Tensor.cumsum(x, "a")
    T.nanmedian(3)
    T.square(3)
    T.msort([1])
    T.arctan2(x, 3)
    T.special.expit(3)
    T.allclose(x, True)
    T.unsqueeze(x if x.dim() else 3, dim="a")
    T.cumprod(T.cumsum(x, 0), "a")
    T.linalg.vector_norm(x, dim="a")
    x.topk(1.5)
    x.index_put(T.tensor([0]), x)
    x.index_put_((T.tensor([0]),), 1)
    """,
)
INDICES = (
    """
x, y = T.arange(6).view(2, 3), T.arange(6.).view(2, 3)
m, b, i = x > 2, T.tensor([True, False, True]), T.tensor([0, 1])
v = T.tensor(1.5, requires_grad=True); T.ones(1).index_reduce(0, i[:1], T.ones(1), "mean")  # PyTorch warns once
""",
    """
    x[m] = T.tensor([1.5]); x
    x[m] = T.tensor(True); x
    x[m] = T.tensor(1.5 + 1j); x
    x[:, b] = T.tensor([[1.5]]); x
    x[1, b] = T.tensor(1.5); x
    x[T.tensor([True, False]), b] = T.tensor(1.5); x
    x[i, b] = T.tensor(1.5); x
    x[None, m] = T.tensor(1.5); x
    y[m] = T.tensor(2); y
    y[m] = v.double(); y.sum().backward(); v.grad
    x.index_put_((m,), T.tensor(1.5))
    x.index_put((m,), T.tensor([1.5]))
    x.index_put_((m,), T.tensor(1.5), accumulate=True)
    x[T.tensor(1, dtype=T.uint8)]
    T.zeros(0).put_(T.tensor([0]), T.tensor([1.]))
    T.zeros(0, 3).index_select(0, T.tensor([0]))
    T.zeros(0, 3).index_select(1, T.tensor([5]))
    y[0].index_add(0, T.tensor([[0]]), T.ones(1))
    y[0].index_add(0, T.tensor([3]), T.ones(1))
    y.index_add(0, T.tensor([3]), T.ones(1, 3))
    x[0].index_add_(0, T.tensor([0]), T.tensor([3]), alpha=2.5)
    y[0].index_add(0, T.tensor([0]), T.ones(1), alpha=2j)
    y[0].index_copy(0, T.tensor([[0]]), T.ones(1, 1))
    y[0].index_reduce(0, T.tensor([0]), T.ones(1).int(), 'mean')
    y[0].index_reduce(0, T.tensor([0.]), T.ones(1), 'mean')
    y[0].index_reduce(0, T.tensor([0, 1]), T.ones(1), 'mean')
    y.index_reduce(0, T.tensor([0]), T.ones(1, 2), 'mean')
    y.index_fill(0, T.tensor([0]), 3j)
    y.index_fill(0, T.tensor([0]), T.tensor(3j))
    T.nonzero_static(y, size=-1)
    y.scatter(1, T.tensor([[0, 5], [7, 8]]), 1.)
    y.gather(0, T.tensor([[0, 8], [5, -3]]))
    y[0].index_fill(0, T.tensor([7, 6, -9]), 1.)
    y.index_select(1, T.tensor([0, 9]))
    y.index_select(0, T.tensor([0, 9]))
    y.index_add(0, T.tensor([0, 1, 0]), T.ones(2, 5))
    y.index_reduce(1, T.tensor([0, 1]), T.ones(2, 5), "prod")
    y[[range(2), range(2)]]
    x[0][[range(2)]]
    y[[np.arange(2), 1]]
    y[[np.arange(2), np.arange(2), range(2)]]
    y[1 << 64]
    y[0, -(1 << 64)]
    x.__delitem__(0)
    T.unravel_index(T.tensor([1]), (1, 2, 2.5))
    """,
)
VIEWS = (
    """
f = T.arange(12.).view(3, 4).clone(); s = f.untyped_storage(); ts = f._typed_storage(); one = T.tensor(1)
c = T.tensor([1 + 2j, 3 - 4j]).conj()
""",
    """
    T.empty(0).set_(s)
    T.empty(0, dtype=T.int16).set_(s)[1::2].shape
    T.empty(0, dtype=T.int32).set_(ts)
    T.empty(0).set_(ts, 2, (2, 2), (4, 1))
    T.empty(0).set_(source=s, storage_offset=2, size=(2,))
    T.empty(0).set_(s, 2, ())
    x = T.empty(0).set_(s); x[0] = 9; f[0], x.data_ptr() == f.data_ptr()
    x = T.ones(2, requires_grad=True); x.data.set_(s); x
    T.empty(0).set_(s, -1, (2, 2), (2, 1))
    T.empty(0).set_(s, 0, (2, 2), (1,))
    T.empty(0).set_(f[1:], 2, (2, 2)).storage_offset()
    T.empty(0).set_(T.ones(2, dtype=T.int64))
    f.t().view(T.float64)
    T.view_as_complex(f[:, 1:3])
    c.numpy()
    c.imag.numpy()
    c.real.numpy(), c.detach().real.numpy(), c.real.detach().numpy(), c.numpy(force=True), c.resolve_conj().numpy()
    c.imag.is_neg(), c.real.is_neg(), c.detach().imag.is_neg(), c.imag.detach().is_neg(), c.real.detach().is_neg()
    c.view(T.float32)
    c.view(T.complex64)
    c.imag.view(T.int32)
    one.T, one.H, one.mT, T.adjoint(one)
    f.contiguous(memory_format=T.preserve_format).shape
    f.t().contiguous(memory_format=T.preserve_format)
    f.resize_(2, 2, memory_format=T.preserve_format)
    f.rot90(1, (0, 2))
    f.flip()
    f.roll()
    one.repeat()
    f.tile()
    one.resize_()
    f.flip(()), f.tile(()), one.repeat(())
    f.unflatten(1, 2)
    f.unflatten(1, (-1, -1))
    f.dim_order(ambiguity_check="x")
    f[:1].dim_order(ambiguity_check=True)
    f[:1].dim_order(ambiguity_check=[T.contiguous_format]), f.t().dim_order(ambiguity_check=True), f[:1].dim_order()
    T.ones(1, 1, 2, 2).dim_order(ambiguity_check=[T.contiguous_format, T.channels_last])
    T.ones(2, 2).expand(2, 2, 2).dim_order(ambiguity_check=True)
    T.repeat_interleave(f[0], 2, output_size=5)
    f.repeat()
    f.repeat_interleave(T.tensor([1., 2, 3]), 0)
    f.repeat_interleave(T.tensor([[1]]), 0)
    T.repeat_interleave(f)
    """,
)
NUMBERS = (
    "x = T.tensor([1, 2]); f = T.tensor([1., 2.]); b = T.tensor([True, False]); c = T.tensor([1j, 2])",
    """
    x - True
    f - True
    True - x
    True - b
    b - True
    b - 2j
    2j - b
    x.sub_(True)
    T.rsub(f, True)
    T._foreach_sub([f], True)
    x + True, f * True, b + 2j, f - 2j
    T.logaddexp(f, c)
    T.logaddexp(x, c)
    T.sum(f, 0, out=T.empty(0, dtype=T.int64))
    T.sum(f, 0, out=T.empty(0, dtype=T.bool))
    T.prod(f + .5, 0, out=T.empty(0, dtype=T.int64))
    T.std(T.zeros(0, 1), 1)
    T.var(T.zeros(3, 0), 1)
    T.vander(f.half()), T.vander(b)
    h = T.tensor([.3, 2.5, 7.7]); T.xlogy(h.half(), 3), T.xlogy(h.bfloat16(), h.bfloat16()), T.special.entr(h.half())
    T.special.xlog1py(T.tensor([.3, 2, 0]).bfloat16(), T.tensor([7.7, 2.5, -1]).bfloat16())
    T.special.entr(f.half() - 1)
    T.logaddexp(f.bfloat16(), x), T.logaddexp(x, f.bfloat16())
    n = float("nan"); s = T.tensor([1., 2, n]); T.searchsorted(s, T.tensor([1.5, 2, 3, n])), T.bucketize(n, s[:2])
    n = float("nan"); T.searchsorted(T.tensor([1., 2, n]), T.tensor([1.5, 2, 3, n]), right=True)
    T.fft.fft(f, 2.5)
    T.fft.irfft(f, 2.5)
    T.fft.fftfreq(0), T.fft.rfftfreq(3, dtype=T.float64)
    T.fft.fftfreq(-1)
    T.fft.rfftfreq(3, dtype=T.int32)
    T.linalg.lu_factor(T.stack([T.eye(2), T.ones(2, 2)]))
    T.linalg.lu_factor_ex(T.zeros(2, 2), check_errors=True)
    T.linalg.lu_factor_ex(T.zeros(2, 2)), T.linalg.lu(T.zeros(2, 2))
    T.signbit(f, out=f)
    T.isneginf(f, out=f)
    T.distributions.Normal(0., 1.).sample(3)
    T.linalg.vander(b)
    T.tensor([[1], []])
    T.set_float32_matmul_precision("foo"), T.get_float32_matmul_precision()
    T.cdist(T.ones(2, 2), T.ones(2, 2), compute_mode="foo")
    T.einsum(f, [60])
    T.linspace(0, 1j, 3, dtype=T.float32)
    T.linalg.tensorinv(T.ones(2, 2), ind=0)
    T.linalg.tensorsolve(T.eye(6).view(2, 3, 6), T.ones(2, 2))
    T.linalg.eigvals(T.ones(3, 2))
    T.linalg.inv_ex(T.zeros(2, 2), check_errors=True)
    T.linalg.lstsq(T.ones(2, 2), T.ones(2, 1).double())
    """,
)
STORAGES = (
    "f = T.arange(6.).view(2, 3).clone(); s = f.untyped_storage(); ts = f._typed_storage(); ts.size()",
    """
    s.nbytes(), s.device, s.is_cuda, s.is_pinned(), s.is_shared(), s.type(), s.is_sparse, s.filename, s.get_device()
    ts.size(), ts.element_size(), ts.dtype, ts.type(), ts[1], ts[-1], ts.pickle_storage_type(), ts.is_pinned()
    ts.float(), ts.double(), ts.long(), ts.half().dtype, ts.bool(), ts.int().type(), ts.complex_float(), s.short()
    s[100]
    s[None]
    s[4:8].tolist()
    ts[1:3]
    ts[7]
    s[0] = 300; s.fill_(300), f[0, 0]
    ts[1:3] = 7; f
    T.UntypedStorage(4).nbytes(), T.UntypedStorage([1, 300]), T.UntypedStorage()
    T.UntypedStorage("a")
    T.UntypedStorage(2.5)
    T.UntypedStorage([1.5])
    T.UntypedStorage(1, 2)
    T.FloatStorage(3).size(), T.FloatStorage([1, 2]), T.LongStorage([1]), T.ByteStorage()
    T.FloatStorage(wrap_storage=s)
    T.TypedStorage([1.5, 2], dtype=T.int64), T.TypedStorage([1, 2]), T.TypedStorage(wrap_storage=s, dtype=T.int32)[2]
    T.TypedStorage(wrap_storage=s)
    T.TypedStorage(wrap_storage=3, dtype=T.float32)
    T.TypedStorage(dtype=3)
    T.FloatStorage.from_buffer(bytes([0, 0, 128, 63]), "little"), T.ShortStorage.from_buffer(bytes([1, 2]), "big")
    T.FloatStorage.from_buffer(bytes(8), "native", 1, 4)
    T.FloatStorage.from_buffer(bytes(7), "native")
    T.FloatStorage.from_buffer(bytes(8), "middle")
    ts.copy_(T.FloatStorage(3))
    ts.copy_(T.IntStorage(6).fill_(0)), f
    s.byteswap(T.float32), f[0, 1] == 1, s.byteswap(T.float32), f[0, 1] == 1
    s.byteswap(3)
    s.to(device="cpu").nbytes(), s.new(), s.cpu() == s, s == f[1].untyped_storage(), s == s.clone()
    s.share_memory_().is_shared(), f.is_shared()
    s.pin_memory()
    """,
)
OUTS = (
    "f = T.arange(6.).view(2, 3); e = T.empty(0); i = T.empty(0, dtype=T.int64); a = np.arange(2)",
    """
    T.max(f, 0, out=(e, i))
    T.sort(f, out=(e, i))
    T.topk(f, 1, out=(e, i))
    T.kthvalue(f, 1, out=[e, i])
    T.cummax(f, 0, out=(e, i))
    T.aminmax(f, out=(e, e.clone())), T.frexp(f, out=(e, i.int()))
    T.linalg.qr(f, out=(e, e.clone()))
    T.return_types.lu_unpack_out, T.return_types.topk_out, hasattr(T.return_types, "histogramdd_out")
    type(T.max(f, 0, out=(e, i))) is T.return_types.max_out, type(T.max(f, 0)) is T.return_types.max
    T.topk(f, 1, out=e)
    T.median(f, 0, out=e)
    T.cummin(f, 0, out=e)
    T.aminmax(f, out=e)
    T.linalg.svd(f, out=e)
    T.frexp(f, out=e)
    T.max(f, 0, out=(e,))
    T.median(f, 0, out=(e, i.int()))
    T.nanmedian(f, 0, out=(e.double(), i))
    T.all(f, 0, out=i.byte()), T.any(f, out=i.byte()), T.all(f.byte(), 0, out=i.bool())
    T.any(f, 0, out=e)
    T.sum(f, 0, dtype=T.float64, out=e)
    T.prod(f, 0, dtype=T.float64, out=e)
    T.nansum(f, 0, dtype=T.float64, out=e)
    T.sum(f, 0, out=e.double()), T.prod(f, 0, dtype=T.float32, out=e)
    T.arange(3, out=T.zeros(1, 3)), T.arange(4, out=T.zeros(2, 2).t())
    T.arange(3, out=T.zeros(5))
    T.arange(3, out=e)
    T.range(0, 2, dtype=T.bool)
    """,
)
NUMPY = (
    """
from importlib import import_module
pytree = import_module(T.__name__ + ".utils._pytree")
a = np.arange(2); w = T.ones(2, requires_grad=True); s = T.arange(3); c = T.ones(2, dtype=T.complex64)
class Wrapper(T.Tensor):
    def __new__(cls, inner, **options):
        return T.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, **options)
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None): return NotImplemented
""",
    """
    T.tensor([a, a])
    T.asarray(w)
    T.asarray(w, requires_grad=False)
    T.cross(T.ones(2, 3), T.ones(2, 3))
    T.searchsorted(s, T.zeros(4).long()[::2])
    T.searchsorted(T.arange(6).view(3, 2).t(), T.zeros(2, 1).long())
    T.from_dlpack(3)
    c.conj().__dlpack__()
    T.from_dlpack(s.__dlpack__()), T.utils.dlpack.from_dlpack is T.from_dlpack
    d = s.__dlpack__(); T.from_dlpack(d)[0] = 7; s
    d = s.__dlpack__(); T.from_dlpack(d); T.from_dlpack(d)
    T.is_autocast_cpu_enabled(), T.get_autocast_cpu_dtype(), T.get_autocast_gpu_dtype()
    T.set_autocast_cpu_enabled(False), T.set_autocast_cpu_dtype(T.bfloat16), T.set_autocast_gpu_dtype(T.float16)
    s.apply_(3)
    s.apply_(lambda a: "a")
    T.ones(2).apply_(lambda a: "a")
    T.ones(2).map_(s[:2], lambda a, b: a)
    T.ones(2).map_(3, lambda a, b: a)
    T.ones(2).map_(T.ones(2), "a")
    T.ones(2).map2_(T.ones(2), s[:2], lambda a, b, c: a)
    T.ones(2).map2_(w, w, lambda a, b, c: a)
    T.ones(2).map2_(T.ones(2), T.arange(2.), lambda a, b, c: a + b * c)
    T.ones(2).map_(T.arange(1.), lambda a, b: a - b)
    type("Own", (T.FloatTensor,), {})
    Wrapper(T.ones(2)).tolist()
    T.amp.is_autocast_available("cpu"), T.amp.is_autocast_available("meta")
    T.amp.is_autocast_available("foo")
    T.amp.is_autocast_available(3)
    T.utils.data.default_collate([T.eye(2).to_sparse()] * 2)
    T.utils.data.default_collate([T.nested.nested_tensor([T.ones(1)])] * 2)
    import io; T.load(io.BytesIO(b"garbage"))
    pytree.is_structseq(T.return_types.max), pytree.is_structseq(T.max(w, 0)), pytree.is_structseq((1,))
    Wrapper(T.ones(2).int(), requires_grad=True)
    T.Tensor._make_subclass(T.Tensor, T.ones(2).int(), True)
    w.detach().__dlpack__(stream=1)
    w.detach().__dlpack__(stream="a")
    w.detach().__dlpack__(stream=-1) is None
    T.set_num_threads(0)
    T.set_num_threads("a")
    T.set_num_interop_threads(0)
    T.use_deterministic_algorithms("a")
    T.use_deterministic_algorithms(True, warn_only="a")
    """,
)
KEYWORDS = (
    "x = T.arange(6.).view(2, 3)",
    """
    T.mm(x, mat2=x.t()), x.mm(mat2=x.t()), T.matmul(x, other=x.t())
    x.pow_(exponent=2)
    w = T.ones(2, requires_grad=True); y = w * 2; y.pow_(exponent=3); y.sum().backward(); w.grad
    x.swapaxes_(axis0=0, axis1=1)
    """,
)
FLOPS = (
    """
from importlib import import_module
counter = import_module(T.__name__ + ".utils.flop_counter").FlopCounterMode
tracker = import_module(T.__name__ + ".utils.module_tracker").ModuleTracker()
def counted(work):
    with counter(display=False) as found: work()
    return {str(name): count for name, count in found.get_flop_counts().get("Global", {}).items()}
x, y, z = T.ones(2, 3, 4, requires_grad=True), T.ones(2, 4, 5), T.ones(5, 6)
""",
    """
    counted(lambda: T.einsum("ij,jk->ik", x[0], y[0]))
    counted(lambda: T.einsum("bij,bjk,kl->bl", x, y, z))
    counted(lambda: T.einsum("bij,bjk", x, y).sum().backward())
    counted(lambda: T.einsum("i,j->ij", x[0, 0], y[0, 0])), counted(lambda: T.einsum("ij->i", z))
    counted(lambda: z @ T.ones(6)), counted(lambda: y @ z), counted(lambda: x @ y)
    counted(lambda: F.conv2d(T.ones(1, 3, 4, 4), T.ones(3, 1, 2, 2, requires_grad=True), groups=3).sum().backward())
    tracker.is_bw, tracker.parents
    seen = []; w = x * 1; w.register_hook(lambda g: seen.append(tracker.is_bw)); w.sum().backward(); seen, tracker.is_bw
    """,
)
TABLES = {
    "keywords": KEYWORDS,
    "arguments": ARGUMENTS,
    "indices": INDICES,
    "views": VIEWS,
    "numbers": NUMBERS,
    "storages": STORAGES,
    "outs": OUTS,
    "numpy": NUMPY,
    "flops": FLOPS,
}
PROGRAMS = [
    pytest.param(preparation, line.strip(), id=f"{name}: {line.strip()}")
    for name, (preparation, lines) in TABLES.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("preparation", "program"), PROGRAMS)
def test_the_same_as_pytorch(preparation: str, program: str, torch: ModuleType) -> None:
    assert outcome(wengert, preparation, program) == outcome(torch, preparation, program)
