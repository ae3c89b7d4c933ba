"""Programs that gave something else than PyTorch's result, found by random programs and by running libraries.

Each is an expression or a function of the library ``T``; values, shapes, dtypes and errors (class and first sentence)
are those of PyTorch.
"""

from __future__ import annotations

import collections
import pickle
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert

PARSER = re.compile("missing|unexpected|invalid combination|positional argument")
Pair = collections.namedtuple("Pair", "first second")


def seen(T: Any, value: Any) -> Any:
    """A result as plain objects that can be compared."""
    if isinstance(value, T.Tensor):
        return tuple(value.shape), str(value.dtype), value.requires_grad, np.asarray(value.detach().double().tolist())
    if isinstance(value, (tuple, list)):
        return [seen(T, v) for v in value]
    return value


def outcome(T: Any, code: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scope = {"T": T, "F": T.nn.functional, "np": np, "x": T.tensor([[0.3, -0.4, 2.0], [0.7, -3.0, 0.25]])}
        scope |= {"t": T.tensor, "Pair": Pair, "i": T.tensor([0, 1, 0])}
        try:
            return seen(T, eval(code, scope) if isinstance(code, str) else code(T))
        except Exception as error:  # noqa: BLE001  it is compared
            text = str(error).split("\n")[0].split(". ")[0]
            by_parser = isinstance(error, TypeError) and PARSER.search(
                text
            )  # PyTorch's lists of overloads are not ours
            return type(error).__name__, "" if by_parser else text


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and np.allclose(a, b, 2e-5, 1e-6, equal_nan=True)
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


EXPRESSIONS = """
T.tensor([''])
T.tensor([[''], 2])
T.tensor(['', 'a'])
T.tensor(['', ''], dtype=T.int64)
T.tensor(['a', ''])
T.ones(1, True)
T.ones((2, True, 3))
T.ones(True, 1)
T.full((1, True), 2.)
T.ones(1).new_zeros(2, False)
T.randint(0, 1, (1, True))
T.linalg.cholesky_ex(t([[4., 7., 8.], [2., 1., 7.], [1., 2., -5.]]))
T.linalg.cholesky_ex(t([[4., 2., 1.], [7., 1., 2.], [8., 7., -5.]]), upper=True)
T.linalg.cholesky_ex(t([[[4., 2.], [2., 1.]], [[4., 0.], [2., 2.]], [[-1., 0.], [3., 2.]]]))
T.view_as_real(T.linalg.cholesky_ex(t([[1., 2j], [-2j, 1.]]), upper=True).L)
T.cumsum(x, axis=0)
x.cumprod(axis=1)
T.cummax(x, axis=0)
T.logcumsumexp(x, axis=0)
T.softmax(x, axis=0)
x.log_softmax(axis=1)
T.logsumexp(x, axis=0, keepdims=True)
T.gather(x, axis=0, index=t([[1]]))
T.index_select(x, axis=1, index=t([2]))
x.unbind(axis=1)
T.chunk(x, 2, axis=0)
x.amax(axis=1, keepdims=True)
T.topk(x, 1, axis=0)
[hasattr(x.max(1), "_fields"), type(x.max(1))(list(x.max(1)))]
type(x.max(1))(*x.max(1))
x.sort(axis=0)
x.select(axis=1, index=0)
x.narrow(axis=1, start=0, length=2)
x.scatter_add(axis=1, index=t([[0, 0]]), src=x)
T.count_nonzero(x, axis=0)
T.fft.fft(x, axis=0).real
F.softplus(x, beta=np.log(2))
F.softplus(x, beta=t(2.))
F.hardtanh(x, np.float64(-1), np.float64(1))
F.celu(x, np.float64(1.5))
F.softshrink(x, np.float64(.1))
T.logit(x.abs() / 4, np.float64(.1))
T.norm(x, np.float64(3))
T.linalg.vector_norm(x, np.float64(3))
F.normalize(x, np.float64(2), 0, np.float64(1e-3))
T.renorm(x, np.float64(2), 0, np.float64(1))
T.cdist(x, x * 2, np.float64(1.5))
F.cosine_similarity(x, x, 0, np.float64(1e-3))
F.rrelu(x, np.float64(.1), np.float64(.1), training=True)
T.polygamma(np.int64(1), x.abs())
T.add(x, np.float64(.75), alpha=2)
T.sub(x, np.float32(.75), alpha=2)
T.rsub(x, np.float64(.75), alpha=2)
T.add(x, np.int64(3), alpha=2)
T.sub(x.half(), 1., alpha=3)
t([1, 2]) * t(2.5, dtype=T.float16)
t([1, 2]) / t(2.5, dtype=T.float16)
F.scaled_dot_product_attention(T.ones(1, 2, 3, 4), T.ones(1, 2, 3, 5), T.ones(1, 2, 3, 4))
F.scaled_dot_product_attention(T.ones(1, 3, 3, 4), T.ones(1, 2, 3, 4), T.ones(1, 2, 3, 4))
F.scaled_dot_product_attention(T.ones(2, 3, 4), T.ones(2, 3, 4), T.ones(2, 5, 4))
F.scaled_dot_product_attention(T.ones(2, 3, 4), T.ones(2, 3, 4), T.ones(2, 3, 4), attn_mask=T.ones(5, 3))
F.scaled_dot_product_attention(T.ones(2, 3, 4), T.ones(2, 3, 4), T.ones(2, 3, 4), attn_mask=T.ones(3, 3).long())
T.arange(24.).view(2, 3, 4)[T.Size([1, 2])]
T.arange(24.).view(2, 3, 4)[Pair(0, slice(1, 2))]
T.zeros(4).index_put((t([0, 1]),), T.ones(1, 1, 2))
T.histogram(t([1., 2., 3.]))[0]
T.histc(x, t(4), t(-1.), t(1.))
T.einsum("i,j->ij", x[0].double(), x[1])
T.einsum("ij,ij->ji", i[:2, None], x[:, :1])
T.einsum("ij,ij->i", x, x.double())
F.grid_sample(T.ones(1, 1, 2, 2), T.ones(1, 2, 2, 2).double(), align_corners=False)
F.grid_sample(T.ones(1, 1, 2, 2, 2).double(), T.ones(1, 2, 2, 2, 3), align_corners=False)
F.grid_sample(T.ones(1, 1, 2, 2, 2).double(), T.ones(1, 2, 2, 2, 3), "bicubic", align_corners=False)
T._C._LinAlgError is T.linalg.LinAlgError
T.isclose(x, x + .1, t(.2), t(.05))
T.normal(t(1.), t(2), (0,))
T.normal(t(3), 0., size=(2,))
T.normal(t([1., 2.]), 0., (2,))
T.normal(t(1., requires_grad=True), 0., (2,))
str(T.Generator(None).device)
T.Generator(1.5)
T.Generator("tpu")
[T._C._has_cuda, T._C._has_mps, T._C._has_xpu]
T.func.jvp(lambda x: x[x > 0], (x,), (x * 2,))
T.func.jvp(lambda x: T.masked_select(x, x > 0), (x,), (x * 2,))
T.func.jacfwd(lambda x: x[x > 0])(x)
T.func.jvp(lambda x: x.nonzero(), (x,), (x,))[0]
T.func.grad(lambda x: x.as_strided((2,), (2,)).sum())(T.arange(4.))
T.func.jvp(lambda x: x.as_strided((2,), (2,)), (T.arange(4.),), (T.ones(4),))
T.vmap(lambda x: x.as_strided((2,), (2,), 1))(T.arange(8.).view(2, 4))
T.func.jvp(lambda a, s: a.scatter(0, i, s), (T.zeros(3), t([1., 2., 3.])), (T.ones(3), t([10., 20., 30.])))
T.func.jvp(T.vmap(lambda x, v: x.masked_fill(x > 0, v)), (x, T.ones(2)), (x, T.ones(2) * 3))
T.func.jvp(T.vmap(T.func.grad(lambda x: (T.zeros_like(x).copy_(x) ** 2).sum())), (x,), (x,))
T.func.jacrev(lambda s: T.ones(3).scatter_reduce(0, i, s, 'prod'))(t([2., 3., 4.]))
T.func.jacrev(lambda s: T.ones(3).index_reduce(0, i, s, 'prod'))(t([2., 3., 4.]))
T.linalg.norm(T.zeros(0, 0), 2)
T.linalg.norm(T.zeros(0, 0), 1)
T.linalg.norm(T.zeros(3, 0), 1)
T.linalg.matrix_norm(T.zeros(2, 0, 3), float('inf'))
F.batch_norm(T.zeros(0), T.zeros(0), T.zeros(0))
T.zeros(2, requires_grad=None).requires_grad
T.zeros_like(x, requires_grad=None).requires_grad
T.tensor([1.], requires_grad=None)
T.orgqr(x[:2, :2], input2=t([1., 1.]))
T.ormqr(x[:2, :2], input2=t([1., 1.]), input3=x)
T.cholesky_solve(T.eye(2), input2=T.eye(2))
T.swapaxes(x, axis0=0, axis1=1)
x.swapdims(dim0=0, dim1=1)
T.isin(elements=t([1, 2]), test_element=1)
T.isin(element=1, test_elements=t([1, 2]))
F.mse_loss(x, [1.])
T.set_float32_matmul_precision("foo")
T.set_float32_matmul_precision(3)
T.use_deterministic_algorithms("a")
T.use_deterministic_algorithms(True, warn_only=1)
T.jit.load("absent.pt")
T.jit.load(".")
T.nn.Module.named_parameters.__qualname__, T.nn.Module.children.__qualname__
T.nn.Linear(2, 2).named_parameters(1, 2, 3, 4)
T.where(x > 0, None, None)
T.where(x > 0, x, None)
t(1.).mH
t(1.).adjoint()
T.ones(2, 2, 2).H
t(2 + 1j).mH
sum(p.numel() for p in T.nn.LazyLinear(3).parameters())
T.nn.LazyLinear(3).weight.dim()
T.ones(1, 3, 1).squeeze(0, 2)
T.ones(1, 3, 1).squeeze(0, 3)
T.ones(1, 3, 1).broadcast_to(2, 3, 2)
T.arange(6).view(2, 3).hsplit(1, 2)
list(vars(T.nn.Linear(2, 2)))
F.mse_loss([1.], x)
F.l1_loss(x, np.ones(3))
F.smooth_l1_loss(x, 1.)
T.nn.MSELoss()(x, None)
F.softmax([1.], 0)
F.log_softmax([1.])
T.nn.Linear(3.5, 2)
T.zeros((2, "a"))
T.zeros(("a", 2))
T.ones(2, device="mps")
T.tensor([1.], device="mps")
T.zeros_like(x, device="mps")
x.to("mps")
setattr(x, "shape", 3)
setattr(x, "grad_fn", None)
setattr(x, "T", x)
setattr(x, "is_sparse", True)
delattr(x, "dtype")
T.set_num_threads(0)
T.set_num_threads("a")
T.optim.SGD([x], lr="a")
T.optim.Adam([x], lr="a")
T.optim.SGD([x], lr=float("nan")).param_groups[0]["momentum"]
T.nn.MultiheadAttention(4, 2, batch_first=True)(*[T.ones(2, 3, 4)] * 3, key_padding_mask=T.ones(2, 4).bool())
T.func.vmap(T.nn.BatchNorm1d(3))(T.ones(2, 4, 3))
T.func.vmap(T.nn.InstanceNorm1d(3, track_running_stats=True))(T.ones(2, 4, 3, 5))
T.distributions.kl_divergence(T.distributions.Normal(0., 1.), T.distributions.Poisson(1.))
str(T.result_type(tensor=x, other=x))
str(T.result_type(scalar=1, tensor=x))
T.zeros(4).resize_(size=(2, 2)).shape
T.ones(4, 2).sum_to_size(size=(1, 2))
T.tensor_split(x, tensor_indices_or_sections=t(2))
T.tril_indices(2, 2, requires_grad=False, pin_memory=False)
T.threshold(x, .5, 0., out=T.empty(0))
T.slogdet(T.eye(2), out=(T.empty(0), T.empty(0)))
T.split_copy(x, 1, out=[T.empty(1, 3), T.empty(1, 3)])
T.rrelu(x, .1, .1, True, generator=T.Generator())
x.clone().copy_(other=x)
x.max(0, keepdim=2)
T.pow(-2.0, t(1 + 2j, requires_grad=True))
T.autograd.functional.vjp(lambda e: T.pow(-2.0, e), t(1 + 2j), t(1 + 0j))[1].abs()
T.ldexp(t([1e-38, 1e38, 1., 0.]), t([200, -200, 130, 1000]))
T.ldexp(t([1e-5], dtype=T.float16), t([20]))
T.ldexp(x, t(.5))
T.round(t([10000., 123.456], dtype=T.float16), decimals=2)
T.linalg.lstsq(T.ones(3, 2, requires_grad=True), T.ones(3, 1)).residuals.requires_grad
x.dsplit()
x.flip(dim=0)
T.tile(x, foo=1)
T.diagonal_scatter(x, 1)
T.slice_scatter(x, slice(None))
x.masked_scatter_(2., x)
T.unique(t([0., np.nan, 1., -1., 0.]).bfloat16(), return_inverse=True, return_counts=True)
T.bucketize(t([.5, np.nan, 2.]).bfloat16(), t([0., .5, 3.]).bfloat16())
T.isin(T.arange(100.).bfloat16(), T.cat([t([np.nan]), T.arange(70.)]).bfloat16())
(T.manual_seed(0), T.vmap(lambda x: x * T.rand(()), randomness="same", chunk_size=1)(x), T.rand(1))[1:]
(T.manual_seed(0), T.vmap(lambda x: x * T.rand(()), randomness="different", chunk_size=1)(x), T.rand(1))[1:]
T.ones(1, 1, 3, 3).to(memory_format=T.channels_last).stride()
T.ones(2, 3, 1, 1, requires_grad=True).to(memory_format=T.channels_last).grad_fn.name()
T.nn.Conv2d(1, 2, 3).to(memory_format=T.channels_last).weight.stride()
T.nn.LazyBatchNorm1d().double()(T.arange(6.).double().view(3, 2))
T.nn.LazyBatchNorm1d().half().running_mean.dtype.itemsize
F.fractional_max_pool3d(T.ones(1, 3, 5, 5), 2, 2)
F.fractional_max_pool2d(T.ones(1, 3, 3), 2, 2)
T.nn.BatchNorm1d(3)(x.double())
T.nn.BatchNorm1d(3).half()(x)
T.nn.BatchNorm1d(3).eval()(x.half())
F.batch_norm(x, t([0., 0., 0.]).double(), t([1., 1., 1.]).double())
F.batch_norm(x, None, None, t([1., 1., 1.]), t([1., 1., 1.]).double(), True)
T.linalg.pinv(x, hermitian=True)
T.linalg.pinv(T.zeros(0, 3), hermitian=True)
T.nn.MultiheadAttention(4, 2, kdim=3, vdim=2)(*[T.ones(3, 1, 4)] * 3)
x.__setitem__(0, np.float32(1))
x.__setitem__((0, i), np.bool_(True))
x.__setitem__(9, "a")
x.cfloat().__setitem__(i, [1.])
x.long().__setitem__((9, 9, 9), 1j)
x.__setitem__(False, None)
x.__setitem__(0, np.int32(1))
x[..., :, ..., -2:2]
x.__setitem__(0, x)
x.__setitem__((slice(1), 0), x[0, :2])
F.soft_margin_loss(x, x.sign().requires_grad_())
F.soft_margin_loss(x, x.sign().double())
F.soft_margin_loss(x, x > 0)
F.soft_margin_loss(x, x.cfloat())
F.soft_margin_loss(x[0], x)
F.soft_margin_loss(x, x[0])
F.cross_entropy(x[0], i[:1], reduction="none")
F.cross_entropy(x[0], i[:1], label_smoothing=0.1)
F.nll_loss(x[0], i[None])
F.multilabel_soft_margin_loss(x[0], x, reduction="none")
T.nn.utils.rnn.pad_sequence([x, x[0]])
T.nn.utils.rnn.pack_sequence([x[0], x], enforce_sorted=False)
T.nn.utils.rnn.pack_sequence([x, x[:, :1]])
F.kl_div(x, x.long(), reduction="sum")
F.kl_div(x, x.cfloat(), reduction="sum")
F.binary_cross_entropy_with_logits(x.double(), x.sigmoid())
F.binary_cross_entropy_with_logits(x, x.sigmoid().half()).dtype.itemsize
T.zeros(2, 2, 2, 2)[..., ..., [False, True], x[0, :2] > 0]
T.vmap(lambda x: T.distributions.Normal(x, 1.).log_prob(x))(x)
T.vmap(lambda x: T.distributions.Bernoulli(x).sample(), randomness="same")(x.sigmoid())
T.func.vmap(T.func.grad(lambda x: T.distributions.Gamma(x, x).log_prob(x).sum()))(x.abs())
T.vmap(lambda x: T.distributions.Exponential(x).mean)(x)
T.vmap(lambda x: T._is_all_true(x > 0))(x)
T.distributions.Wishart(t(4.), T.eye(3)).sample((0,)).shape
T.nn.utils.rnn.pad_sequence([x, x[:1].double()])
T.nn.utils.rnn.unpad_sequence(x, t([1, 2, 1])), x
F.multi_margin_loss(t([[np.nan, 1., 2.], [.5, 1., 3.]]), t([1, 2]))
F.multi_margin_loss(t([[np.nan, 1., 2.], [.5, 1., 3.]]), t([1, 0]), p=2, reduction="none")
F.multi_margin_loss(t([[np.nan, 1., 2.]]), t([0]), weight=t([1., 2., 3.]))
F.multilabel_margin_loss(t([[np.nan, 1., 2.], [.5, 1., 3.]]), t([[1, 0, -1], [2, -1, 0]]))
T.linalg.householder_product(T.ones(2, 3, 2), t([1., 2.]))
T.cholesky_solve(T.ones(2, 2), T.eye(2).double())
T.linalg.solve_triangular(T.eye(2).double() * 3, x[:, :2], upper=True)
T.distributions.StickBreakingTransform().inverse_shape(T.Size([2, 3])).numel()
T.distributions.StickBreakingTransform().forward_shape(T.Size([2, 3])).numel()
F.max_pool1d(x, 2, stride=())
F.max_pool1d(T.arange(8).view(2, 4), 2)
F.max_pool1d(x, 2, padding=2)
F.max_pool1d(x, (2, 1))
F.max_pool1d(x, 2, padding=[1, 1], return_indices=True)
F.max_pool1d(T.randn(4), 2, return_indices=True)
F.max_pool1d(T.arange(24.).view(2, 4, 3).mT, 2).stride()
F.avg_pool2d(T.ones(1, 4, 4, dtype=T.uint8), 2, padding=2)
F.adaptive_max_pool2d(t([[[np.nan, 1., np.nan], [2., np.nan, 1.], [5., 1., np.nan]]]), 2, return_indices=True)
F.adaptive_max_pool1d(t([[np.nan, 1., 2., np.nan, 3.]]), 2, return_indices=True)
F.group_norm(t([[np.inf, 1.], [2., np.nan]]), 2)
F.conv1d(T.randn(1, 1, 3, dtype=T.complex64), T.randn(1, 1, 2))
F.pad(T.randn(2, 2, 4, 4), (1, 2), "reflect")
F.pad(T.randn(4), (1, 1, 1, 1), "replicate")
F.interpolate(T.ones(1, 1, 4), size=0)
F.binary_cross_entropy_with_logits(x[:1], x[:1].sigmoid(), weight=T.ones(2, 3))
F.binary_cross_entropy_with_logits(x[:1], x[:1].sigmoid(), pos_weight=T.ones(2, 3))
F.binary_cross_entropy(x[:1].sigmoid(), x[:1].sigmoid(), weight=T.ones(2, 3))
F.multilabel_margin_loss(x, t([[1, -1, 7], [0, 1, 2]]))
F.cross_entropy(x, t([0, 1]), label_smoothing=-0.5)
F.cross_entropy(x, x.softmax(1), label_smoothing=-0.5)
F.margin_ranking_loss(T.arange(3), T.arange(3), T.ones(3, dtype=T.int64))
F.mse_loss(T.arange(3), T.arange(3), weight=T.ones(3))
F.mse_loss(x[0], x, weight=T.ones(3))
T.special.xlog1py(t([1., 2.]).half(), 0)
T.xlogy(t([1., 0.]).half(), 3)
x[0].requires_grad_().add_(1)
T.linalg.svdvals(x, driver="gesvd")
T._cast_Float(x, 1)
T._softmax_backward_data(x, x, 1, 1)
T._weight_norm(x, True)
T.frobenius_norm(x, {})
T.mean(i, out=T.zeros(()))
T.mean(x > 0, 1, out=T.zeros(2))
T.mean(i, 0, dtype=T.float32, out=T.zeros(()))
"""


@pytest.mark.parametrize("code", EXPRESSIONS.strip().split("\n"))
def test_expressions(code: str, torch: ModuleType) -> None:
    theirs, ours = outcome(torch, code), outcome(wengert, code)
    assert same(theirs, ours), f"{theirs}\n{ours}"


@pytest.mark.parametrize(("dtype", "asked"), [("bfloat16", "bf16"), ("half", "fp16")])
def test_convolutions_of_half_precision_refuse_other_weights(dtype: str, asked: str, torch: ModuleType) -> None:
    """PyTorch's words depend on the processor, on which oneDNN takes half precision or not: ours are the former."""
    code = f"F.conv2d(T.randn(1, 1, 3, 3).{dtype}(), T.randn(1, 1, 2, 2).double())"
    (theirs, text), ours = outcome(torch, code), outcome(wengert, code)
    if not getattr(torch.ops.mkldnn, f"_is_mkldnn_{asked}_supported")():
        name = "torch.HalfTensor" if dtype == "half" else "CPUBFloat16Type"
        text = f"Input type ({name}) and weight type (torch.DoubleTensor) should be the same or input should be a "
        text += "MKLDNN tensor and weight is a dense tensor"
    assert ours == (theirs, text)


def sparse_tensors_that_were_pickled(T: Any) -> Any:
    x = T.ones(2, 2, requires_grad=True).to_sparse()
    leaf = T.eye(2).to_sparse().requires_grad_()
    return [pickle.loads(pickle.dumps(t)).requires_grad for t in (x, leaf, T.nn.Parameter(T.eye(2).to_sparse()))]


def arrays_that_were_pickled(T: Any) -> Any:
    """NumPy's dtypes are equal then, and not identical."""
    a = T.from_numpy(pickle.loads(pickle.dumps(np.arange(4.0).reshape(2, 2))))
    w = T.ones(2, 2, dtype=T.float64, requires_grad=True)
    ((a @ w) * a + T.cat([a, w])[:2]).sum().backward()
    return w.grad, T.nn.functional.linear(a, w), T.where(a > 0, a, w), T.as_tensor(a.numpy()).dtype is T.float64


def hooks_of_unused_outputs(T: Any) -> Any:
    log: list[Any] = []
    x = T.ones(3, requires_grad=True)
    p, q = (x * 2).split([1, 2])
    p.register_hook(log.append)
    p.register_hook(lambda g: log.append(("again", g)))
    q.sum().backward()
    for column in x.unbind(0)[:1]:
        column.register_hook(lambda g: log.append(("unused alone", g)))
    x.unbind(0)[1].sum().backward()
    return log, x.grad


def hooks_of_unused_outputs_of_functions(T: Any) -> Any:
    class Two(T.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return a * 2 + b * 3

    log: list[Any] = []
    x = T.ones(3, requires_grad=True)
    p, q = Two.apply(x)
    p.register_hook(log.append)
    q.sum().backward()
    return log, x.grad


def a_hook_may_not_replace_nothing(T: Any) -> Any:
    p, q = T.ones(3, requires_grad=True).split([1, 2])
    p.register_hook(lambda g: T.ones(1))
    q.sum().backward()


def node_hooks_of_a_convolution(T: Any) -> Any:
    log: list[Any] = []
    x = T.ones(1, 1, 3, 3, requires_grad=True)
    for layer in (T.nn.Conv2d(1, 2, 2), T.nn.ConvTranspose2d(1, 2, 2)):
        y = layer(x)
        y.grad_fn.register_hook(lambda gi, go, log=log: log.append([tuple(g.shape) for g in gi]))
        y.sum().backward()
        log += [tuple(p.grad.shape) for p in layer.parameters()]
    return log


def gradient_penalty(T: Any) -> Any:
    m = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    with T.no_grad():
        for k, p in enumerate(m.parameters()):
            p.copy_(T.arange(float(p.numel())).view(p.shape) - k)
    x = T.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True)
    (g,) = T.autograd.grad(m(x).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
    return [p.grad for p in m.parameters()]


def writes_of_shapes_with_ones(T: Any) -> Any:
    x, y = T.zeros(2, 3), T.zeros(4)
    x[x == 0] = T.ones(1, 6)
    v = T.ones(1, 1, 2, requires_grad=True)
    y[T.tensor([0, 1])] = v
    y.sum().backward()
    z = T.zeros(2, 3, 4)
    z[T.Size([1, 2])] = 1
    return x, y, v.grad, z


def slices_by_tensors(T: Any) -> Any:
    m, k = T.zeros(3), T.zeros(3, dtype=T.int64)
    m[: T.tensor(2)] = 1
    k[: T.tensor(2)] = 1
    return m, k


def grids_of_half_precision(T: Any) -> Any:
    out = []
    for dtype in (T.float16, T.bfloat16):
        x = T.arange(4.0).view(1, 1, 2, 2).to(dtype).requires_grad_()
        T.nn.functional.grid_sample(x, T.zeros(1, 2, 2, 2, dtype=dtype), align_corners=False).sum().backward()
        p = T.ones(3, 4, dtype=dtype).requires_grad_()
        p.grad = T.ones(3, 4, dtype=dtype)
        T.optim.Adafactor([p]).step()
        out += [x.grad, p]
    return out


def printed_optimizer(T: Any) -> Any:
    groups = [{"params": [T.ones(1, requires_grad=True)]}, {"params": [T.ones(1, requires_grad=True)], "lr": 0.1}]
    return len(repr(T.optim.SGD(groups, lr=1)).split("\n\n"))


def batched_gradients_of_another_dtype(T: Any) -> Any:
    x = T.ones(3, requires_grad=True)
    return T.autograd.grad(x * 2, x, T.eye(3, dtype=T.float64), is_grads_batched=True)


def subclasses_that_are_asked_for_attributes(T: Any) -> Any:
    asked: list[str] = []

    def asking(base: Any) -> Any:
        def __getattr__(self: Any, name: str) -> Any:
            asked.append(name)
            return base.__getattr__(self, name)

        return type("Asking", (base,), {"__getattr__": __getattr__})

    linear, norm = asking(T.nn.Linear)(2, 2), asking(T.nn.BatchNorm1d)(2)
    asked.clear()
    linear(T.ones(1, 2))
    norm(T.ones(2, 2))
    return sorted(set(asked))


def orders_of_states(T: Any) -> Any:
    schedulers = T.optim.lr_scheduler
    makers = (
        lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2), lambda o: schedulers.CyclicLR(o, 0.01, 0.1),
        lambda o: T.optim.swa_utils.SWALR(o, 0.1), schedulers.ReduceLROnPlateau,
    )  # fmt: skip
    w = T.ones(1, requires_grad=True)
    found = [list(make(T.optim.SGD([w], 0.1, 0.9)).state_dict()) for make in makers]
    return [*found, *states_of_lbfgs(T, 1), *states_of_lbfgs(T, 4)]


def states_of_lbfgs(T: Any, max_iter: int) -> Any:
    w = T.ones(2, requires_grad=True)
    optimizer = T.optim.LBFGS([w], max_iter=max_iter)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((w * w - 3) ** 2).sum()
        loss.backward()
        return loss

    return [[float(optimizer.step(closure)), list(optimizer.state[w])] for _ in range(3)]


def padded_batches_of_an_encoder(T: Any) -> Any:
    T.manual_seed(0)
    layer = T.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x, found = T.randn(2, 4, 8), []
    at_the_ends, in_front = T.tensor([[0, 0, 1, 1], [0, 0, 0, 0]]).bool(), T.tensor([[1, 0, 0, 0], [0, 0, 0, 0]]).bool()
    for norm in (None, T.nn.LayerNorm(8)):
        encoder = T.nn.TransformerEncoder(layer, 2, norm).eval()
        found.append(encoder(x, src_key_padding_mask=at_the_ends).detach().abs().sum(-1) > 0)
        with T.no_grad():
            found += [encoder(x, src_key_padding_mask=mask) for mask in (at_the_ends, in_front)]
            found.append(encoder(x, mask=T.zeros(4, 4), src_key_padding_mask=at_the_ends)[:, :2])
    return found


def masks_of_two_types(T: Any) -> Any:
    layer = T.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    masks = {"src_key_padding_mask": T.zeros(1, 3).bool()}
    calls = [
        lambda: layer(T.ones(1, 3, 8), src_mask=T.zeros(3, 3), **masks),
        lambda: T.nn.TransformerEncoder(layer, 1)(T.ones(1, 3, 8), mask=T.zeros(3, 3), **masks),
    ]
    found = []
    for call in calls:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        found.append([str(w.message) for w in told])
    return found


def order_of_padded_rows(T: Any) -> Any:
    rnn = T.nn.utils.rnn
    packed = rnn.pack_padded_sequence(
        T.arange(6.0, requires_grad=True).view(2, 3, 1), T.tensor([2, 3]), batch_first=True, enforce_sorted=False
    )
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True)
    return padded.grad_fn.name(), padded, lengths, padded.stride()


def inputs_saved_by_a_function_that_is_not_recorded(T: Any) -> Any:
    class Doubled(T.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

    with T.no_grad():
        recorded = Doubled.apply(T.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="returned as-is"), T.no_grad():
        Doubled.apply(T.ones(2))
    return recorded


def parts_of_a_tensor_in_another_of_its_parts(T: Any) -> Any:
    found = []
    for key, other in ((slice(1), 0), (slice(2), 1), ((..., 0), (0, 0, 0)), (0, slice(1))):
        z = T.arange(8.0).view(2, 2, 2)
        z[key] = z[other]
        found.append(z)
    return found


def histories_in_inference_mode(T: Any) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    view = x.t()
    with T.inference_mode():
        view.detach_()
        x.detach_().resize_(3, 2)
        x.resize_as_(T.ones(2, 2))
    return x, x.requires_grad, view.requires_grad


PROGRAMS = [
    parts_of_a_tensor_in_another_of_its_parts, histories_in_inference_mode,
    inputs_saved_by_a_function_that_is_not_recorded,
    orders_of_states, padded_batches_of_an_encoder, masks_of_two_types, order_of_padded_rows,
    batched_gradients_of_another_dtype, subclasses_that_are_asked_for_attributes,
    arrays_that_were_pickled, sparse_tensors_that_were_pickled,
    hooks_of_unused_outputs, hooks_of_unused_outputs_of_functions,
    a_hook_may_not_replace_nothing, node_hooks_of_a_convolution, gradient_penalty, writes_of_shapes_with_ones,
    slices_by_tensors, grids_of_half_precision, printed_optimizer,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program: Any, torch: ModuleType) -> None:
    theirs, ours = outcome(torch, program), outcome(wengert, program)
    assert same(theirs, ours), f"{theirs}\n{ours}"


PIECES = """
T.relu(x)
F.leaky_relu(x)
F.hardtanh(x)
F.relu6(x)
F.threshold(x, .1, 0.)
F.softshrink(x)
F.hardshrink(x)
F.prelu(x, T.tensor([.2]))
F.max_pool1d(x.view(1, 1, -1), 2)
F.max_pool2d(x.view(1, 1, 2, 3), 2)
F.adaptive_max_pool1d(x.view(1, 1, -1), 2)
F.avg_pool1d(x.view(1, 1, -1), 2)
F.avg_pool2d(x.view(1, 1, 2, 3), 2)
F.adaptive_avg_pool1d(x.view(1, 1, -1), 2)
F.pad(x.view(1, 1, -1), (1, 1), mode="reflect")
F.pad(x.view(1, 1, -1), (1, 1), mode="replicate")
F.nll_loss(x.view(2, 3), T.tensor([0, 1]))
"""


@pytest.mark.parametrize("code", PIECES.strip().split("\n"))
def test_the_second_derivative_of_what_is_linear_in_pieces_is_zeros(code: str, torch: ModuleType) -> None:
    def program(T: Any) -> Any:
        x = T.tensor([0.3, -0.4, 2.0, 0.7, -3.0, 0.25], requires_grad=True)
        y = eval(code, {"T": T, "F": T.nn.functional, "x": x})
        (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return g.detach(), T.autograd.grad(g.sum(), x)

    theirs, ours = outcome(torch, program), outcome(wengert, program)
    assert same(theirs, ours), f"{theirs}\n{ours}"


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("mul", 2), ("div", 2), ("mm", 2), ("mv", 2), ("atan2", 2), ("hypot", 2), ("maximum", 2),
        ("addcmul", 3), ("addcdiv", 3), ("lerp", 3), ("baddbmm", 3), ("bmm", 2), ("addmm", 3), ("xlogy", 2),
    ],
)  # fmt: skip
def test_saved_values_are_packed_and_unpacked_in_the_order_of_their_names(
    name: str, count: int, torch: ModuleType
) -> None:
    def program(T: Any) -> Any:
        shapes = {"mv": [(2, 2), (2,)], "bmm": [(1, 2, 2)] * 2, "baddbmm": [(1, 2, 2)] * 3}.get(name, [(2, 2)] * count)
        operands = [T.full(shape, k + 2.0, requires_grad=True) for k, shape in enumerate(shapes)]
        seen: list[float] = []

        def noted(value: Any) -> Any:
            seen.append(float(value.flatten()[0]))
            return value

        with T.autograd.graph.saved_tensors_hooks(noted, noted):
            result = getattr(T, name)(*operands)
        result.sum().backward()
        return seen

    theirs, ours = outcome(torch, program), outcome(wengert, program)
    assert same(theirs, ours), f"{theirs}\n{ours}"


@pytest.mark.parametrize("value", ["(1., 1.)", "(True, True)", "(1, True)", "(1, 1.)", "1.", "True"])
@pytest.mark.parametrize(
    "call",
    [
        "F.max_pool2d(p, {})", "F.avg_pool2d(p, 1, {})", "F.conv2d(p, p, stride={})", "F.conv2d(p, p, dilation={})",
        "F.conv_transpose2d(p, p, padding={})", "F.unfold(p, {})", "F.fold(p.view(1, 1, 16), (4, 4), {})",
    ],
)  # fmt: skip
def test_what_equals_a_size_of_windows_and_is_no_int(call: str, value: str, torch: ModuleType) -> None:
    """Also after a call with the ints, whose geometry is kept."""

    def program(T: Any) -> Any:
        scope = {"F": T.nn.functional, "p": T.ones(1, 1, 4, 4)}
        eval(call.format("(1, 1)"), scope), eval(call.format("1"), scope)
        return eval(call.format(value), scope)

    theirs, ours = outcome(torch, program), outcome(wengert, program)
    if "fold" in call and theirs[0] == "TypeError":  # PyTorch's words name a function that programs do not call
        theirs, ours = theirs[:1], ours[:1]
    assert same(theirs, ours), f"{theirs}\n{ours}"


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3), (2, 4, 0)])
@pytest.mark.parametrize("given", [(), ("weight",), ("bias",), ("weight", "bias")])
def test_instance_norm_of_nothing(shape: tuple[int, ...], given: tuple[str, ...], torch: ModuleType) -> None:
    def program(T: Any) -> Any:
        return T.nn.functional.instance_norm(T.ones(shape), **{name: T.ones(shape[1]) for name in given})

    theirs, ours = outcome(torch, program), outcome(wengert, program)
    assert same(theirs, ours), f"{theirs}\n{ours}"
