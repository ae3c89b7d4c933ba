"""What `benchmarks/sweep.py` times: small calls of every kind, as texts that both libraries understand."""

from __future__ import annotations

import importlib
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.rounds import ROOT

LARGEST = 64  # elements of an operand from the operator database

# x, y: 4 numbers; m, n: a matrix of 3 rows and 4 columns; b: two such matrices; v: a square matrix with an inverse;
# s: one number; p: images; w: weights of a convolution. Those require gradients where recording. i: indices; j: a
# matrix of indices; k: whole numbers; q, r: masks for x and m. {one|other} stands for each of them in turn.
EXPRESSIONS = """
x{ + | - | * | / | ** | // | % }{y|2.0|2}; {1|2.0}{ + | - | * | / | ** }x; m{ + | * | - | / }{x|n|s}; {-|abs}(x)
k{ + | * | // | - }{k|2}; k + x; x{ > | == | <= | != }{y|0.5}; m > n; ~q; q{ & | ^ }q; q | q
torch.{add|sub}(x, y, alpha=2); x.pow({2|3|0.5|y}); x.square(); x.clamp({0, 1|min=0|max=1})
torch.where({q, x, y|x > 0, x, 0.0}); x.masked_fill(q, 0.0); x.lerp(y, {0.5|y}); torch.addcmul(x, x, y)
torch.addcdiv(x, x, y, value=2); x.round(); x.nan_to_num(); x.{isclose|allclose|equal}(y)
torch.{maximum|minimum|max|min}(x, y); x[{1|-1|1:3|::2|:|...|None|:, None|i|[0, 2]|q|x > 0}]
m[{1|1, 2|:, 1|1:, :2|..., 1|None|i|:, i|i, i|r|-1|0:2}]; b[{1|:, 1|0, 1, 2|..., 0|i[:1], :, 1}]
m.{sum|mean|prod|amax|amin|argmax|argmin|max|min|any|all|std|var|logsumexp|norm|nansum|median}({1|0|-1, keepdim=True})
m.{sum|mean|prod|max|min|argmax|std|var|norm|any|median|aminmax}(); {m|b}.{sum|mean|amax}((0, 1))
x.{sum|mean|max|argmax|norm|prod|all}()
m.{cumsum|cumprod|softmax|log_softmax|logcumsumexp|cummax|sort|argsort|diff|flip}({dim=1|dim=0|-1})
{m.topk|m.kthvalue|x.topk}(2); m.unique(); x.sort(); x.argsort(descending=True)
m.{t()|T|mT|view(12)|view(-1, 6)|reshape(4, 3)|reshape(-1)|flatten()|ravel()|transpose(0, 1)|swapaxes(0, 1)}
m.{permute(1, 0)|movedim(0, 1)|view_as(n)|reshape_as(n)}
m.{unsqueeze(0)|unsqueeze(-1)|squeeze()|squeeze(0)|expand(2, 3, 4)|expand_as(b)|repeat(2, 1)|tile(2)|chunk(2, 1)}
m.{split(2, 1)|unbind()|unbind(1)|diagonal()|narrow(1, 0, 2)}
m.{select(0, 1)|unfold(1, 2, 1)|contiguous()|clone()|detach()|flip(0)|roll(1, 0)|rot90()|tril()|triu()|diag()}
m.{repeat_interleave(2)|unflatten(1, (2, 2))|split([1, 3], 1)|trace()}
torch.{cat|stack|hstack|vstack}({[x, y]|(m, n)}); torch.cat([m, n], 1)
torch.{flatten|squeeze|ravel|numel|atleast_2d|nonzero|diag|t}(m); x.outer(y); torch.meshgrid(x, y, indexing='ij')
x @ y; m @ x
{m.mm(n.t())|m @ n.T|b @ m.t()|b @ x|v @ v|v.matmul(x)|v.mv(x)|x.dot(y)|torch.mm(v, v)|torch.bmm(b, b.mT)}
{torch.addmm(m, m, v)|torch.inner(x, y)|torch.outer(x, y)|torch.kron(x, y)}
torch.einsum({'ij,j->i', m, x|'ij,kj->ik', m, n|'i,i->', x, y})
torch.linalg.{inv|det|norm|qr|svdvals|cholesky|eigvalsh|slogdet|eigh|svd|matrix_norm|matrix_rank}(v)
torch.linalg.solve(v, x); torch.linalg.vector_norm(x)
m.{gather(1, j)|take_along_dim(j, 1)|index_select(0, i)|index_select(1, i)|scatter(1, j, n)|scatter_add(1, j, n)}
m.{scatter(1, j, 1.0)|index_add(0, i, n)|index_fill(0, i, 1.0)|masked_fill(r, 1.0)|masked_select(r)|take(i)}
{s.item|float|int|bool|s.tolist|s.numpy}({|s}); x.tolist(); len(x); x.size(); x.size(0)
x.{shape|ndim|dtype|device|requires_grad|is_leaf|grad|grad_fn|data|real|itemsize|nbytes|layout|is_cuda}; list(x)
list(k); m.tolist()
x.{dim|numel|nelement|stride|is_contiguous|element_size|data_ptr|storage_offset|is_floating_point|is_complex|double}()
x.{float|half|long|int|bool|cpu|contiguous|unbind|detach|clone|type|ndimension|get_device}()
x.to({torch.float64|torch.float32|y|'cpu'|torch.int64|'cpu', torch.float64}); k.{float|double|bool|int}()
x.type({torch.float64|torch.float32}); x.type_as(k); x.detach().numpy(); torch.as_tensor(x); a, c, d, e = x; x in [0]
x.{new_zeros|new_ones|new_empty}({3|(2, 3)}); x.new_full((2,), 1.5); x.new_tensor([1.0, 2.0]); torch.is_tensor(x)
torch.result_type(x, k); torch.is_floating_point(x); x.is_same_size(y)
torch.tensor({1.0|[1.0, 2.0, 3.0]|[[1, 2], [3, 4]]|3|True|1.0, requires_grad=True|[1, 2], dtype=torch.float32})
torch.{zeros|ones|empty|rand|randn}({3|2, 3|(2, 3)}); torch.full((2, 3), {1.5|1})
torch.{zeros|ones}(3, {dtype=torch.float64|requires_grad=True|dtype=torch.int64}); torch.arange({5|1, 5|0, 1, 0.1|5.0})
torch.linspace(0, 1, 5); torch.logspace(0, 1, 5); torch.eye(3); torch.{zeros|ones|empty|rand|randn}_like({x|m})
torch.full_like(x, 2.0); torch.randint(5, (3,)); torch.randint(0, 5, (2, 2)); torch.randperm(5)
torch.empty(3).{uniform_|normal_|exponential_|bernoulli_}(); torch.bernoulli(x.detach())
torch.multinomial(x.detach(), 2); torch.normal(0.0, 1.0, (3,)); torch.Size((2, 3)); torch.device('cpu')
torch.tril_indices(3, 3)
F.{relu|gelu|silu|leaky_relu|elu|softplus|sigmoid|tanh|selu|celu|relu6|hardtanh|hardsigmoid|hardswish}({x|m})
F.{logsigmoid|softsign|tanhshrink|mish|softshrink|hardshrink}({x|m}); F.threshold(x, 0.1, 0.0)
F.prelu(m, s.reshape(1)); F.glu(m); F.{softmax|log_softmax|softmin|normalize}(m, dim={1|-1|0})
F.linear({m, n|m, n, x[:3]|x, v}); F.bilinear(x, y, b[:, :, :].new_ones(2, 4, 4)); F.one_hot(i); F.embedding({i|j}, m)
F.pad(m, ({1, 1|0, 1, 1, 0})); F.cosine_similarity(m, n); F.pairwise_distance(m, n)
F.{mse_loss|l1_loss|smooth_l1_loss|huber_loss|soft_margin_loss}({x, y|m, n, reduction='sum'|m, n, reduction='none'})
F.{binary_cross_entropy_with_logits|kl_div|poisson_nll_loss}({x, y|m, n, reduction='sum'|m, n, reduction='none'})
F.binary_cross_entropy(x, y.detach()); F.{cross_entropy|nll_loss|multi_margin_loss}(m, i{|, reduction='sum'})
F.dropout(x); F.dropout(x, 0.5, False); F.layer_norm(m, (4,){|, x, y}); F.rms_norm(m, (4,)); F.group_norm(p, 2)
F.batch_norm(m, None, None, training=True); F.batch_norm(m, x.detach(), y.detach()); F.instance_norm(p)
F.scaled_dot_product_attention(b, b, b); F.conv2d(p, w{|, padding=1|, stride=2}); F.conv1d(b, m.reshape(2, 3, 2))
F.conv_transpose2d(p, w.transpose(0, 1)); F.{max_pool2d|avg_pool2d}(p, 2); F.adaptive_avg_pool2d(p, 1)
F.max_pool1d(b, 2); F.unfold(p, 2); F.interpolate(p, scale_factor=2); F.pixel_shuffle(p.reshape(1, 4, 2, 4), 2)
torch.fft.{fft|rfft|ifft}(x); torch.{var_mean|std_mean|aminmax|logdet|cov|corrcoef|histc|bincount}({x|v|k})
torch.{bucketize|searchsorted}(y.sort()[0].detach(), x.detach()); torch.{cumulative_trapezoid|trapezoid}(x)
torch.{broadcast_tensors|cartesian_prod}(x, y); torch.quantile(x, 0.5); torch.cdist(m, n)
"""
# Writes, as statements: t is a copy of m, made again for every turn.
STATEMENTS = """
t[{1|:, 1|1:3|0, 1|i|i, i|...|:|t > 0|r}] = {0.0|2}; t[1] = x; t[:] = n; t[1:3] = n[1:]; t[i] = n; t[0] += x
t[:, 0] *= 2.0; t[0, 0] += 1; t {+|-|*|/}= {1|2.0|n|x}; t **= 2; t.data = n; t.fill_(1.0); t.copy_({n|x}); t.zero_()
t.{add_|sub_|mul_|div_}({n|2.0}); t.add_(n, alpha=0.1); t.addcmul_(n, n); t.addcdiv_(n, m, value=0.1); t.lerp_(n, 0.1)
t.clamp_(0, 1); t.masked_fill_(r, 0.0); t.index_fill_(0, i, 1.0); t.index_add_(0, i, n); t.index_copy_(0, i, n)
t.scatter_(1, j, n); t.scatter_add_(1, j, n); t.uniform_(); t.normal_(); t.bernoulli_(0.5); t.tril_(); t.detach_()
t.requires_grad_()
"""


@dataclass
class Call:
    """One call in both libraries. ``fresh``: makes the operand that the call changes; None where it changes nothing."""

    name: str
    torch: Callable[..., Any]
    wengert: Callable[..., Any]
    fresh: tuple[Callable[[], Any], Callable[[], Any]] | None = None


def everyday(*libs: Any) -> Iterator[Call]:
    """The elementwise operators, the expressions, the statements, in torch and wengert."""
    for recording in (False, True):
        yield from _expressions(libs, [*_elementwise(), *_texts(EXPRESSIONS)], recording)
    yield from _statements(libs)


def database() -> Iterator[Call]:
    """The calls of PyTorch's operator database, as `tests/compare/op_db_cases.py` makes it ready for wengert."""
    sys.path.insert(0, str(ROOT / "tests"))
    cases = importlib.import_module("compare.op_db_cases")
    # Its random operators draw from one seed: to set it costs more than the call.
    cases.invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    for op in cases.invocations.op_db:
        # The first bfloat16 array makes every operator after it look for others: that would time another program.
        if not cases.is_absent(op) and op.name != "bfloat16":
            yield from _database_calls(cases, op)


def _elementwise() -> Iterator[str]:
    from wengert._base.registry import PUBLIC, REGISTRY

    names = {id(fn): f"{space}.{name}" for space in ("special", "torch") for name, fn in PUBLIC[space].items()}
    for info in REGISTRY.values():
        name = names.get(id(info.op))
        if name is not None and info.kind in ("unary", "binary"):
            prefix = "torch." if name.startswith("special.") else ""
            operands = ("x", "x, y") if "f" in info.dtypes else ("k", "k, k")
            yield f"{prefix}{name}({operands[info.kind == 'binary']})"


def _database_calls(cases: Any, op: Any) -> Iterator[Call]:
    """The operator's function and method not recording, its function recording, and its form in place."""
    name, torch = cases.full_name(op), cases.torch
    taken = op.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float32, torch.int64, torch.complex64) if d in taken), None)
    sample = _typical_sample(cases, op, dtype, False) if dtype else None
    if sample is None:
        return
    arguments = cases.describe(sample)
    forms = [(f"{name}{arguments}", op.op, sample, False)]
    if dtype in op.supported_backward_dtypes("cpu") and op.supports_autograd:
        forms.append((f"{name}{arguments}, recording", op.op, _typical_sample(cases, op, dtype, True), False))
    if op.get_method() not in (None, op.op):
        forms.append((f"Tensor.{name}{arguments}", op.get_method(), sample, False))
    if op.get_inplace() is not None:
        forms.append((f"Tensor.{name}_{arguments}", op.get_inplace(), sample, True))
    for label, fn, given, in_place in forms:
        try:
            theirs, mine = cases.sides(fn, given)
        except (cases.Absent, cases.Unsupported):
            continue
        if in_place:
            fresh = theirs.args[0].clone, mine.args[0].clone
            yield Call(label, _on_first(theirs), _on_first(mine), fresh)
        else:
            yield Call(label, theirs.call, mine.call)


def _on_first(side: Any) -> Callable[[Any], Any]:
    fn, rest, kwargs = side.fn, side.args[1:], side.kwargs
    return lambda t: fn(t, *rest, **kwargs)


def _typical_sample(cases: Any, op: Any, dtype: Any, recording: bool) -> Any:
    """The first sample on small tensors; one without empty ones and single numbers, if there is one."""
    small: list[tuple[int, int, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=recording), 25):
            sizes = [t.numel() for t in cases.tensors_in((sample.input, sample.args, sample.kwargs))]
            if max(sizes, default=1) <= LARGEST:
                small.append((sum(size < 2 for size in sizes), len(small), sample))
    return min(small)[2] if small else None


def operands(lib: Any, recording: bool) -> dict[str, Any]:
    """The names that the texts use, in one library."""
    numbers = [0.5, -1.25, 2.0, 0.75, 1.5, -0.5, 3.0, 0.25, -2.0, 1.25, 0.125, 1.0]
    floating = {
        "x": lib.tensor([0.5, 0.25, 0.75, 0.875]),
        "y": lib.tensor([0.125, 0.875, 0.5, 0.25]),
        "m": lib.tensor(numbers).reshape(3, 4),
        "n": lib.tensor(numbers[::-1]).reshape(3, 4),
        "b": lib.tensor(numbers + numbers).reshape(2, 3, 4),
        "v": lib.eye(4) + 0.1,
        "s": lib.tensor(1.5),
        "p": lib.tensor(numbers * 2 + numbers[:8]).reshape(1, 2, 4, 4),
        "w": lib.tensor(numbers[:8]).reshape(1, 2, 2, 2),
    }
    return {
        **{name: t.requires_grad_() if recording else t for name, t in floating.items()},
        "i": lib.tensor([0, 2, 1]),
        "j": lib.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 2, 2]]),
        "k": lib.tensor([1, 2, 3, 4]),
        "q": lib.tensor([True, False, True, False]),
        "r": lib.tensor([[True, False, True, False], [False] * 4, [True] * 4]),
        "torch": lib,
        "F": lib.nn.functional,
    }


def _texts(lines: str) -> list[str]:
    """The texts with each of the words between braces."""
    return [text for line in lines.strip().splitlines() for each in line.split("; ") for text in spelled(each)]


def spelled(text: str) -> list[str]:
    """The text with each of the words that stand between its braces."""
    before, brace, rest = text.partition("{")
    if not brace:
        return [text]
    words, _, after = rest.partition("}")
    return [before + word + end for word in words.split("|") for end in spelled(after)]


def _expressions(libs: tuple[Any, ...], texts: list[str], recording: bool) -> Iterator[Call]:
    spaces = [operands(lib, recording) for lib in libs]
    floating = set("xymnbvspw")
    for text in texts:
        if recording and not floating & set(compile(text, "<sweep>", "exec").co_names):
            continue
        functions = [_function("", text, space) for space in spaces]
        yield Call(text + (", recording" if recording else ""), functions[0], functions[1])


def _statements(libs: tuple[Any, ...]) -> Iterator[Call]:
    spaces = [operands(lib, False) for lib in libs]
    for text in _texts(STATEMENTS):
        functions = [_function("t", text, space) for space in spaces]
        yield Call(text, functions[0], functions[1], (spaces[0]["m"].clone, spaces[1]["m"].clone))


def _function(parameters: str, text: str, space: dict[str, Any]) -> Callable[..., Any]:
    """A function that does what the text says and returns its value, where it has one."""
    try:
        compile(text, "<sweep>", "eval")
    except SyntaxError:
        body = text
    else:
        body = f"return {text}"
    scope = dict(space)
    exec(f"def function({parameters}):\n    {body}", scope)
    function: Callable[..., Any] = scope["function"]
    return function
