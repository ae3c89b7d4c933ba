"""A typed program as a user writes it: mypy and pyright must accept it as it stands, with the stubs wengert ships.

Run by test_stubs.py, by both as strictly as they can: an `ignore` that silences nothing is an error as well, and an
`assert_type` fails where a checker knows no more than `Any`. What it asserts is what PyTorch's own stubs say of the
same program, or more: there, what a module gives when it is called is `Any`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, assert_type

import wengert as torch
import wengert.backends.cudnn as cudnn
import wengert.nn.functional as F
from wengert import Tensor, nn, optim, return_types
from wengert.autograd import Variable
from wengert.cuda.amp import GradScaler
from wengert.distributions import Categorical, Normal, kl_divergence
from wengert.nn import Parameter
from wengert.optim.lr_scheduler import StepLR
from wengert.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, random_split
from wengert.utils.hooks import RemovableHandle


# ------------------------------------------------------------------------------------------------------------- modules
class Net(nn.Module):
    running: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm1d(2)
        self.linear = nn.Linear(6, hidden)
        self.layers = nn.ModuleList([nn.Linear(hidden, hidden), nn.ReLU()])
        self.named = nn.ModuleDict({"drop": nn.Dropout(0.5)})
        self.rest = nn.Sequential(nn.Tanh(), nn.Linear(hidden, 1))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("running", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x.unsqueeze(1)))
        assert_type(x, Tensor)
        x = assert_type(self.linear(x.flatten(1)), Tensor)
        for layer in self.layers:
            assert_type(layer, nn.Module)
            x = layer(x)
        for name, module in self.named.items():
            assert_type(name, str)
            assert_type(module, nn.Module)
        rest: Tensor = self.rest(x)
        return assert_type(F.relu(self.scale), Tensor) * rest + self.running


class WithItsOwnCall(nn.Module):
    """Classes that say themselves what a call gives."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return super().__call__(x)


def modules(net: Net, x: Tensor) -> None:
    assert_type(net(x), Tensor)
    assert_type(WithItsOwnCall()(x), tuple[Tensor, Tensor])
    assert_type(net.conv.weight, Tensor)
    assert_type(net.linear.bias, Parameter)
    assert_type(net.linear.in_features, int)
    assert_type(net.conv.stride, tuple[int, ...])
    assert_type(net.norm.running_mean, Tensor | None)
    assert_type(net.rest[0], nn.Module)
    assert_type(net.layers[:1], nn.ModuleList)
    assert_type(net.scale, Parameter)
    assert_type(net.running, Tensor)
    assert_type(net.train().eval().to(torch.float64).float().requires_grad_(True), Net)
    assert_type(net.training, bool)
    assert_type(net.parameters(), Iterator[Parameter])
    assert_type(net.named_parameters(), Iterator[tuple[str, Parameter]])
    assert_type(net.buffers(), Iterator[Tensor])
    assert_type(net.named_children(), Iterator[tuple[str, nn.Module]])
    assert_type(net.modules(), Iterator[nn.Module])
    assert_type(net.state_dict(), dict[str, Any])
    assert_type(net.load_state_dict(net.state_dict()).missing_keys, list[str])
    assert_type(net.apply(lambda m: None), Net)
    assert_type(net.get_parameter("scale"), Parameter)
    assert_type(net.zero_grad(), None)
    handle = net.register_forward_hook(lambda module, args, output: None)
    assert_type(handle, RemovableHandle)
    handle.remove()
    steps = torch.ones(3, 2, 4)
    assert_type(nn.GRU(4, 5).forward(steps), tuple[Tensor, Tensor])
    assert_type(nn.LSTM(4, 5).forward(steps), tuple[Tensor, tuple[Tensor, Tensor]])
    assert_type(nn.LSTMCell(4, 5)(steps[0]), tuple[Tensor, Tensor])
    assert_type(nn.MultiheadAttention(4, 2)(steps, steps, steps), tuple[Tensor, Tensor | None])
    assert_type(nn.Embedding.from_pretrained(torch.ones(2, 3)), nn.Embedding)
    assert_type(nn.CrossEntropyLoss(label_smoothing=0.1)(torch.ones(2, 3), torch.tensor([0, 1])), Tensor)
    assert_type(nn.utils.clip_grad_norm_(net.parameters(), 1.0), Tensor)
    assert_type(nn.init.xavier_uniform_(torch.ones(2, 3)), Tensor)


def functional(x: Tensor) -> None:
    image = torch.ones(1, 1, 4, 4)
    assert_type(F.max_pool2d(image, 2), Tensor)
    assert_type(F.max_pool2d(image, (2, 2), return_indices=True), tuple[Tensor, Tensor])
    assert_type(F.adaptive_avg_pool2d(image, (1, 1)), Tensor)
    assert_type(F.conv2d(image, torch.ones(1, 1, 3, 3), padding="same"), Tensor)
    assert_type(F.cross_entropy(x, torch.tensor([0, 1]), reduction="sum"), Tensor)
    assert_type(F.pad(x, (1, 1), value=0.5), Tensor)
    assert_type(F.layer_norm(x, [3]), Tensor)
    assert_type(F.one_hot(torch.tensor([0, 1]), 3), Tensor)
    assert_type(F.scaled_dot_product_attention(image, image, image, is_causal=True), Tensor)


# ------------------------------------------------------------------------------------------------------------ training
def mean_squared_error(prediction: Tensor, target: Tensor) -> Tensor:
    difference = prediction - target
    assert_type(difference, Tensor)
    return (difference**2).mean()


def fit(inputs: Tensor, targets: Tensor, steps: int = 10, rate: float = 0.1) -> Tensor:
    weight = torch.zeros(3, requires_grad=True)
    for _ in range(steps):
        loss = mean_squared_error(inputs @ weight, targets)
        loss.backward()
        with torch.no_grad():
            assert weight.grad is not None
            weight -= rate * weight.grad
        weight.grad = None
    return weight.detach()


def train(net: Net, loader: DataLoader[tuple[Tensor, ...]]) -> None:
    groups: list[dict[str, Any]] = [
        {"params": net.linear.parameters(), "lr": 0.01},
        {"params": net.rest.parameters()},
    ]
    optimizer = optim.SGD(groups, lr=0.1, momentum=0.9)
    scheduler = StepLR(optimizer, step_size=2)

    def closure() -> float:
        optimizer.zero_grad()
        loss = net(torch.ones(2, 3)).sum()
        loss.backward()
        return float(loss)

    for x, target in loader:
        optimizer.zero_grad(set_to_none=True)
        F.mse_loss(net(x), target.unsqueeze(1)).backward()
        optimizer.step()
    optimizer.step(closure)
    scheduler.step()
    assert_type(optimizer.param_groups, list[dict[str, Any]])
    assert_type(optimizer.state, defaultdict[Tensor, Any])
    assert_type(optimizer.state_dict(), dict[str, Any])
    assert_type(scheduler.get_last_lr(), list[float | Tensor])
    assert_type(scheduler.optimizer, optim.Optimizer)
    torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99)).step()
    torch.optim.LBFGS(net.parameters(), max_iter=1).step(closure)
    torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(0.5)


class Descent(optim.Optimizer):
    def __init__(self, params: Iterator[Parameter], lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad


# ---------------------------------------------------------------------------------------------------------------- data
class Squares(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.tensor(index**2), index


class Count(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        yield from range(3)


def data() -> None:
    loader = DataLoader(Squares(), batch_size=2, shuffle=True, generator=torch.Generator().manual_seed(0))
    assert_type(loader, DataLoader[tuple[Tensor, int]])
    assert_type(loader.dataset, Dataset[tuple[Tensor, int]])
    assert_type(len(loader), int)
    assert_type(DataLoader(Count()), DataLoader[int])
    first, second = random_split(Squares(), [0.5, 0.5], generator=torch.Generator().manual_seed(1))
    assert_type(first, Subset[tuple[Tensor, int]])
    assert_type(second[0], tuple[Tensor, int])
    pairs = TensorDataset(torch.eye(2), torch.ones(2))
    assert_type(pairs[0], tuple[Tensor, ...])
    assert_type(pairs.tensors, tuple[Tensor, ...])
    assert_type(torch.utils.data.RandomSampler(Squares()), torch.utils.data.RandomSampler)


# ------------------------------------------------------------------------------------------------------------- tensors
def functions() -> None:
    x = torch.randn(2, 3, dtype=torch.float64)
    assert_type(torch.add(x, 1.0), Tensor)
    assert_type(torch.mul(x, x).sum(dim=1, keepdim=True), Tensor)
    assert_type(torch.exp(x).exp_(), Tensor)
    assert_type(torch.cat([x, x], 1).reshape(3, -1).T, Tensor)
    assert_type(x == 1, Tensor)
    assert_type(x > 0, Tensor)
    assert_type(torch.nn.functional.softmax(x, dim=-1), Tensor)
    assert_type(torch.linalg.norm(x), Tensor)
    assert_type(torch.special.erfcx(x), Tensor)
    assert_type(torch.fft.fft2(x), Tensor)
    assert_type(torch.where(x > 0, x, 0.0), Tensor)
    assert_type(torch.where(x > 0), tuple[Tensor, ...])
    assert_type(x.nonzero(), Tensor)
    assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])
    assert_type(torch.var_mean(x, 0), tuple[Tensor, Tensor])
    assert_type(x.std(0, unbiased=False), Tensor)
    assert_type(x.split(1), tuple[Tensor, ...])
    assert_type(torch.hsplit(x, 3), tuple[Tensor, ...])
    assert_type(torch.unique(x), Tensor)
    assert_type(torch.allclose(x, x), bool)
    assert_type(torch.zeros(2, x.shape[0], dtype=torch.int64), Tensor)
    assert_type(torch.sum(x, 0, out=torch.zeros(3, dtype=torch.float64)), Tensor)
    assert_type(torch.tensor_split(x, 2), tuple[Tensor, ...])
    assert_type(torch.broadcast_shapes((2, 1), (3,)), torch.Size)


def named_tuples(x: Tensor) -> None:
    assert_type(x.max(), Tensor)
    assert_type(x.max(x), Tensor)
    largest = x.max(0)
    assert_type(largest, return_types.max)
    assert_type(largest.values, Tensor)
    assert_type(largest.indices, Tensor)
    values, indices = torch.max(x, dim=1, keepdim=True)
    assert_type(values, Tensor)
    assert_type(indices, Tensor)
    assert_type(torch.min(x, 1).indices, Tensor)
    assert_type(x.sort(descending=True).values, Tensor)
    assert_type(torch.topk(x, 2, largest=False), return_types.topk)
    assert_type(x.median(), Tensor)
    assert_type(x.median(0).values, Tensor)
    assert_type(x.kthvalue(1).values, Tensor)
    assert_type(x.mode().values, Tensor)
    assert_type(torch.cummax(x, 0).indices, Tensor)
    assert_type(x.aminmax().min, Tensor)
    assert_type(torch.frexp(x).mantissa, Tensor)
    assert_type(torch.svd(x).V, Tensor)
    u, s, vh = torch.linalg.svd(x)
    assert_type(u @ vh * s.sum(), Tensor)
    assert_type(torch.linalg.svd(x, full_matrices=False).Vh, Tensor)
    assert_type(torch.linalg.qr(x).R, Tensor)
    assert_type(torch.linalg.slogdet(x @ x.T).logabsdet, Tensor)


def arithmetic(x: Tensor) -> None:
    assert_type(x + 1 - 2.5 * x / 3, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(2**x, Tensor)
    assert_type(1 / (x // 2 % 3), Tensor)
    assert_type(-x @ x.T, Tensor)
    assert_type((x > 0) & ~(x < 1) | True, Tensor)
    assert_type(abs(x) * 1j, Tensor)
    assert_type(x[0, 1:] + x[..., None][0, 1:, 0], Tensor)
    assert_type(x[x > 0], Tensor)
    assert_type(x[[0, 1], :], Tensor)
    assert_type(x[torch.tensor([0, 1]), 1:], Tensor)
    x[0, 1] = 3
    x[x > 0] = x[0, 0]
    x += 1
    x *= x
    assert_type(x, Tensor)


def facts(x: Tensor) -> tuple[torch.Size, torch.dtype, torch.device]:
    assert_type(x.ndim, int)
    assert_type(x.requires_grad, bool)
    assert_type(x.grad, Tensor | None)
    assert_type(x.shape, torch.Size)
    assert_type(x.shape[0], int)
    assert_type(x.shape[1:] + (3,), torch.Size)
    assert_type(x.shape.numel(), int)
    assert_type(x.size(), torch.Size)
    assert_type(x.size(0), int)
    assert_type(x.stride(), tuple[int, ...])
    assert_type(x.dim(), int)
    assert_type(x.numel(), int)
    assert_type(x.sum().item(), int | float | bool)
    assert_type(x.tolist(), list[Any])
    assert_type(x.type(), str)
    assert_type(x.type(torch.float64), Tensor)
    assert_type(x.device.type, str)
    assert_type(x.dtype.is_floating_point, bool)
    assert_type(torch.is_tensor(x), bool)
    assert_type(torch.finfo(x.dtype).eps, float)
    assert_type(len(x), int)
    assert_type(float(x.sum()), float)
    assert_type(torch.float32, torch.dtype)
    for row in x:
        assert_type(row, Tensor)
    return x.shape, x.dtype, x.device


# ----------------------------------------------------------------------------------------------------------- gradients
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:
        result: Tensor = ctx.saved_tensors[0]
        return grad_outputs[0] * result


@torch.no_grad()
def without_history(x: Tensor, *, factor: float = 2.0) -> Tensor:
    return x * factor


@torch.inference_mode
def inferred(x: Tensor) -> Tensor:
    return x * 2


@torch.compile(fullgraph=True)
def compiled(x: Tensor) -> Tensor:
    return x * 2


def derivative(f: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    at = at.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(at).sum(), at, create_graph=True)
    assert_type(gradient, Tensor)
    batched = torch.vmap(f)(at.unsqueeze(0))
    assert_type(batched, Tensor)

    def total(x: Tensor) -> Tensor:
        return f(x).sum()

    torch.func.grad(total)(at)
    torch.func.jacrev(f)(at)
    return gradient + batched.sum()


def gradients(x: Tensor) -> None:
    assert_type(Variable(x, requires_grad=True), Tensor)
    assert_type(Parameter(x), Parameter)
    assert_type(Parameter(x).data * 2, Tensor)
    assert_type(nn.Buffer(x), nn.Buffer)
    assert_type(without_history(x, factor=3), Tensor)
    assert_type(inferred(x), Tensor)
    assert_type(compiled(x), Tensor)
    assert_type(x.detach().requires_grad_(), Tensor)
    leaf = x.detach().requires_grad_()
    handle = leaf.register_hook(lambda gradient: gradient * 2)
    Exp.apply(leaf).sum().backward()
    assert_type(handle, RemovableHandle)
    assert_type(leaf.grad, Tensor | None)
    if leaf.grad is not None:
        assert_type(leaf.grad.zero_(), Tensor)
    leaf.grad = None
    with torch.enable_grad(), torch.set_grad_enabled(True), torch.autocast("cpu", dtype=torch.bfloat16):
        assert_type(leaf * 2, Tensor)
    assert_type(torch.is_grad_enabled(), bool)


def distributions(x: Tensor) -> None:
    normal = Normal(0.0, 1.0)
    assert_type(normal.rsample((3,)), Tensor)
    assert_type(normal.log_prob(x), Tensor)
    assert_type(normal.mean, Tensor)
    assert_type(normal.batch_shape, torch.Size)
    assert_type(Categorical(probs=torch.ones(3)).logits, Tensor)
    assert_type(kl_divergence(normal, normal), Tensor)


def devices() -> torch.device:
    cudnn.benchmark = torch.backends.cudnn.deterministic = False
    torch.cuda.manual_seed_all(0)
    assert_type(torch.cuda.is_available(), bool)
    assert_type(torch.cuda.device_count(), int)
    assert_type(GradScaler(enabled=False).is_enabled(), bool)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def files(net: Net) -> None:
    file = BytesIO()
    assert_type(torch.save(net.state_dict(), file), None)
    file.seek(0)
    net.load_state_dict(torch.load(file, weights_only=True))


def mistakes(x: Tensor) -> None:
    """What a type checker is for: names that do not exist, and arguments that cannot be."""
    x.no_such_method()  # type: ignore[attr-defined]
    torch.no_such_function(x)  # type: ignore[attr-defined]
    F.no_such_function(x)  # type: ignore[attr-defined]
    nn.NoSuchLayer()  # type: ignore[attr-defined]
    torch.sum(x, keepdims="yes", keepdim="yes")  # type: ignore[arg-type]
    torch.exp("1")  # type: ignore[arg-type]
    x + "1"  # type: ignore[operator]
    x.grad.zero_()  # type: ignore[union-attr]
    x.max(0).value  # type: ignore[attr-defined]


if __name__ == "__main__":
    torch.manual_seed(0)
    points = torch.randn(20, 3)
    targets = points @ torch.tensor([1.0, -2.0, 0.5])
    assert fit(points, targets).shape == (3,)
    assert facts(points) == (torch.Size([20, 3]), torch.float32, torch.device("cpu"))
    assert derivative(torch.sin, points).shape == points.shape
    model = Net(5)
    modules(model, points)
    functional(points[:2])
    train(model, DataLoader(TensorDataset(points, targets), batch_size=4))
    Descent(model.parameters()).step()
    data()
    functions()
    named_tuples(points[:3].clone())
    arithmetic(points[:3].clone())
    gradients(points)
    distributions(points)
    assert devices().type == "cpu"
    files(model)
