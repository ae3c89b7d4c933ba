"""Tensors without data beside PyTorch's: the text of results, the class and first sentence of errors.

The operators are in `test_op_db.py`, aspect "without data". PyTorch reads memory as it is found where the first tensor
of a product or an index is on the CPU and the second is not; wengert refuses it.
"""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import pytest
from compare import op_db_cases as cases

import wengert

torch = cases.torch

EXPRESSIONS = """
m
nn.Parameter(m)
nn.Parameter(m) * 2
i
b
s
empty(0, device="meta")
m.item()
s.item()
m.tolist()
bool(s)
bool(m)
int(s)
float(s)
m.numpy()
m.nonzero()
m.unique()
m[b]
m.masked_select(b)
m[i]
m.to("cpu")
m.cpu()
c.to("meta")
c.t().to("meta").stride()
c.copy_(m)
m.copy_(c)
m.copy_(T.ones(5))
m + c
c + m
m + T.tensor(2.)
T.tensor(2.) + m
c + s
s + c
m == c
T.mm(m, c.t())
T.cat([m, c])
T.stack([c, m])
T.where(b, m, c)
T.where(b, c, c)
m[T.tensor([0])]
m[:, T.tensor([0, 1])]
m[T.tensor([True, False])]
T.equal(m, m)
T.allclose(m, m)
m.data_ptr(), m.untyped_storage().nbytes(), m.untyped_storage().data_ptr()
m.untyped_storage()
m.is_meta, m.is_cpu, m.get_device(), m.type(), m.is_contiguous(), m.t().is_contiguous(), m.t().stride()
m[1].storage_offset(), m.t()._is_view(), m.element_size(), m.nbytes, m.is_leaf
copy.deepcopy(m.t()).stride(), copy.copy(m.t()).stride(), pickle.loads(pickle.dumps(m.t())).stride()
copy.deepcopy(nn.Parameter(m))
empty_like(m), T.rand_like(m), T.zeros_like(c, device="meta"), T.zeros_like(m, device="cpu")
m.new_zeros(3), m.new_tensor([1, 2]), m.new_ones(2, device="cpu")
T.tensor([1, 2], device="meta"), T.tensor(m), T.as_tensor(c, device="meta"), T.asarray([1.], device="meta")
T.as_tensor(m, device="cpu")
T.asarray(c, device="meta", copy=False)
T.arange(5, device="meta"), T.arange(0., 1., .1, device="meta"), T.linspace(0, 1, 5, device="meta")
T.eye(3, device="meta"), T.rand(3, device="meta"), T.randperm(3, device="meta"), T.full((2,), 1, device="meta")
T.normal(m, 1.), T.bernoulli(m), T.multinomial(m, 2), T.poisson(m)
m.normal_(), m.uniform_(), m.random_(), m.exponential_(), m.bernoulli_(.5), m.fill_(3), m.zero_()
nn.init.kaiming_uniform_(m), nn.init.orthogonal_(m), nn.init.trunc_normal_(m)
nn.init.eye_(m), nn.init.xavier_normal_(m)
T.linalg.svd(m)
T.linalg.inv(T.empty(3, 3, device="meta")), T.linalg.eigh(T.empty(3, 3, device="meta"))
T.bincount(i)
T.empty(10**12, device="meta").exp().sum()
T.empty(2**62, device="meta")
T.empty(-1, device="meta")
nn.Linear(3, 4, device="meta"), nn.Linear(3, 4, device="meta").weight
nn.Linear(3, 4, device="meta").to("cpu")
nn.Linear(3, 4).to("meta").weight, nn.Linear(3, 4, device="meta").to_empty(device="cpu").weight.device.type
nn.Linear(3, 4, device="meta").load_state_dict(nn.Linear(3, 4).state_dict(), assign=True)
nn.Linear(3, 4).load_state_dict(nn.Linear(3, 4, device="meta").state_dict())
nn.Linear(3, 4, device="meta")(c)
nn.Linear(3, 4)(m)
nn.Linear(3, 4, device="meta")(m)
T.device("meta"), T.device("meta", 0), T.empty(2, device="meta:0").device
m.to("cuda")
m.type(T.float64), m.double(), m.half().dtype, m.long().float()
m.type("torch.FloatTensor")
f"{m} {s}"
f"{s:.2f}"
len(m), [t.shape for t in m]
m.__array__()
m.is_set_to(m)
m.share_memory_()
m.pin_memory()
m.is_shared(), m.is_pinned()
m.max(), m.max(1), T.isnan(m).any(), T.histc(m)
T.tensor([s, 1.])
range(s.long())
m.t().view(6)
m.view(5)
m.t().reshape(6), m.view(T.int32), m.as_strided((2,), (2,), 1).storage_offset()
T.from_numpy(m)
T.cdist(m, m), T.quantile(m, .5)
T.utils.dlpack.to_dlpack(m)
T.zeros(2, device="bla")
T.add(c, 1, out=T.empty(2, 3, device="meta"))
T.add(m, 1, out=T.empty(2, 3))
T.add(m, 1, out=T.empty(0, device="meta"))
m.requires_grad_().add_(1)
setattr(nn.Parameter(m), "data", c)
setattr(nn.Parameter(m), "grad", c)
round_trip(m.t()), round_trip(c, map_location="meta"), round_trip({"a": c[1], "b": c.t()}, map_location="meta")
round_trip(nn.Linear(3, 4, device="meta").state_dict())
in_context("T.ones(1), T.get_default_device(), T.zeros(1, device='cpu'), T.arange(3), nn.Linear(2, 2).weight")
in_context("T.zeros_like(T.zeros(1, device='cpu')), T.fft.fftfreq(3), T.as_tensor(T.ones(1, device='cpu'))")
grads("nn.Linear(3, 4, device='meta')(x)"), grads("x.softmax(1)"), grads("(x * x).sum(0).norm()")
nn.utils.skip_init(nn.Linear, 3, 4).weight.shape
T._C._nn._parse_to("meta", T.float64)
nn.Parameter(c).to("meta")
m.to(memory_format=T.contiguous_format).stride()
T.empty(1, 2, 3, 4, device="meta").to(memory_format=T.channels_last).stride()
nn.functional.one_hot(i)
nn.functional.one_hot(i, 4)
"""


def names(lib: Any) -> dict[str, Any]:
    def round_trip(value: Any, **options: Any) -> Any:
        file = io.BytesIO()
        lib.save(value, file)
        file.seek(0)
        return lib.load(file, **options)

    def in_context(text: str) -> Any:
        with lib.device("meta"):
            return eval(text, {"T": lib, "nn": lib.nn})

    def grads(text: str) -> Any:
        x = lib.empty(2, 3, device="meta", requires_grad=True)
        y = eval(text, {"T": lib, "nn": lib.nn, "x": x})
        y.sum().backward()
        return y, x.grad

    m = lib.empty(2, 3, device="meta")
    return {
        "T": lib, "nn": lib.nn, "copy": copy, "pickle": pickle, "empty": lib.empty, "empty_like": lib.empty_like,
        "m": m, "c": lib.ones(2, 3), "s": lib.empty((), device="meta"),
        "i": lib.empty(3, dtype=lib.int64, device="meta"), "b": lib.empty(2, 3, dtype=lib.bool, device="meta"),
        "round_trip": round_trip, "in_context": in_context, "grads": grads,
    }  # fmt: skip


def outcome(lib: Any, expression: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(expression, names(lib))).replace("wengert", "torch")
        except Exception as error:  # noqa: BLE001  whatever it is, the other side must raise the same
            kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
            return f"{kind.__name__}: {cases.first_sentence(str(error))}"


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_same_as_pytorch(expression: str) -> None:
    assert outcome(wengert, expression) == outcome(torch, expression)
