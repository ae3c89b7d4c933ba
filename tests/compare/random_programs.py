"""Random programs on both libraries, line by line: views, writes, passes, hooks, transforms, layouts, threads, errors.

After each line every variable is compared (value, shape, dtype, ``requires_grad``, ``is_leaf``, ``.grad``), and the
line itself: whether it worked, or the class of its error. Each seed is one program: an even one of plain tensors of
up to three dimensions (``_plain``), an odd one of a sort of its own (``SORTS``). A program ends (``_ends``) where
PyTorch refuses what wengert can do or makes a mistake.

``python tests/compare/random_programs.py --seconds 3600`` runs programs for an hour and prints those that differ;
``--seed 17`` runs one, ``--sort mixed`` one sort. The tests run 2,000, others in each week.
"""

from __future__ import annotations

import argparse
import random
import re
import threading
import time
import warnings
from types import ModuleType
from typing import Any

import numpy as np

NAMES = "abcdefgh"
OVERLAP = "operands share memory"
BROKEN = "an error inside of PyTorch"
AGAIN = "a second pass"  # PyTorch keeps tensors that it does not need, and refuses more of them
SINGULAR = "a singular matrix"  # or nearly: the last digits decide
STALE = "a saved tensor was written"  # one of those too
# ``b`` stands for another variable
READ = """
sin() exp() tanh() neg() relu() sigmoid() abs() sqrt() square() clone() detach() contiguous() sum() mean() prod()
max() min() var() norm() cumsum(0) softmax(-1) log_softmax(0) logsumexp(0) sum(0) sum(-1,keepdim=True) amax(0)
max(0)[0] sort()[0] flip(0) t() T view(-1) reshape(-1) unsqueeze(0) squeeze() unsqueeze(-1) flatten()
transpose(0,-1) expand(2,3) diagonal() double() float() long() bool() data unbind(0)[0] chunk(2)[0] split(1)[-1]
narrow(0,0,1) select(0,0) [0] [:1] [...,0] [None] [::2] [[0,0]] as_strided((2,),(1,)) swapaxes(0,-1) repeat(2)
roll(1) tril() cumprod(-1) diff() argmax() new_zeros(2) type_as(b) expand_as(b) view_as(b) index_select(0,L([0,0]))
gather(0,L([0])) masked_fill(L([True]),2.) clamp(-.5,.5) pow(2) lerp(b,.3) dot(b) outer(b) matmul(b) atan2(b)
where(a>0,b) logaddexp(b) hypot(b) cummax(0)[0] topk(1)[0] det() erf() xlogy(b) reciprocal() rsqrt() log1p()
sub(b,alpha=2) addmm(a,b) cdist(b) take(L([0])) scatter(0,L([0]),b) index_add(0,L([0]),b) masked_select(b>0)
movedim(0,-1) diag() tile(2) to(L([1.]))
"""
WRITE = """
add_(1) mul_(2) mul_(b) add_(b) sub_(b,alpha=.5) div_(2) copy_(b) zero_() fill_(2.) exp_() sin_() sqrt_() relu_()
tanh_() sigmoid_() clamp_(-.5,.5) neg_() pow_(2) addcmul_(a,b) lerp_(b,.5) masked_fill_(L([True]),0.)
index_add_(0,L([0]),b) scatter_(0,L([0]),1.) unsqueeze_(0) requires_grad_(False) tril_() reciprocal_()
mul_(2).add_(1) copy_(1) floor_() addmm_(a,b) squeeze_() t_() abs_() round_() square_() trunc_()
"""
PLACES = """
[0] [:1] [...] [...,0] [[0]] [::2] [None] [0,0]
"""
CALLS = """
stack([a,b]) cat([a,b]) where(a>0,a,b) maximum(a,b) outer(a,b) zeros_like(a) ones_like(a,requires_grad=True)
nn.functional.mse_loss(a,b) nn.functional.layer_norm(a,(3,)) nn.functional.normalize(a,dim=0) nn.functional.gelu(a)
nn.functional.linear(a,b) nn.functional.pad(a,(1,1)) nn.functional.softplus(a) tensordot(a,b,1)
broadcast_tensors(a,b)[0] linalg.norm(a) linalg.inv(a) fft.rfft(a).abs() einsum('i,i->',a,b)
autograd.grad(a.sum(),b,allow_unused=True)[0] autograd.grad(a,b,retain_graph=True)[0]
autograd.grad(a.sum(),b,create_graph=True)[0] nn.functional.smooth_l1_loss(a,b)
"""
PASSES = """
a.sum().backward() a.backward() a.sum().backward(retain_graph=True) a.backward(T.ones_like(a)) a.retain_grad()
a.sum().backward(create_graph=True) T.autograd.backward([a.sum(),b.sum()]) a.register_hook(lambda_g) a.grad=None
a.detach().zero_() a.data.mul_(2) a.requires_grad=False
"""


# ------------------------------------------------------------------------------------------------------ plain programs
def _line(r: random.Random, known: str) -> str:
    a, b, new = r.choice(known), r.choice(known), r.choice(NAMES)

    def drawn(table: str, of: str = "") -> str:
        text = r.choice(table.split())
        for name, value in (("a", a), ("b", b)):  # whole words only
            text = "".join(value if word == name else word for word in _words(text))
        return text if not of else of + text if text[0] == "[" else f"{of}.{text}"

    k = r.random()
    if k < 0.36:
        return f"{new}={drawn(READ, a)}"
    if k < 0.5:
        return f"{new}={a}{r.choice(['+', '-', '*', '/', '**', '@', '<', '=='])}{r.choice([b, b, '2', '0.5'])}"
    if k < 0.66:
        return drawn(WRITE, a)
    if k < 0.73:
        return f"{drawn(PLACES, a)}={r.choice([b, '2.', '0'])}"
    if k < 0.77:
        return f"{a}{r.choice(['+', '-', '*', '/'])}={r.choice([b, '2'])}"
    if k < 0.83:
        return f"{new}=T.{drawn(CALLS)}"
    if k < 0.87:
        return "with T.no_grad(): " + r.choice([drawn(WRITE, a), f"{drawn(PLACES, a)}=1."])
    if k < 0.95:
        return drawn(PASSES)
    shape = r.choice([(), (3,), (2, 3), (3, 2), (1, 3), (2, 2, 3), (6,)])
    return f"{new}=R({shape},{r.random() < 0.6},{r.choice(['f4', 'f4', 'f8'])!r})"


def _words(text: str) -> list[str]:
    words = [""]
    for c in text:
        if c.isalnum() or c in "_.":
            words[-1] += c
        else:
            words += [c, ""]
    return words


def _plain(seed: int) -> list[str]:
    r = random.Random(seed)
    lines = [f"{n}=R({r.choice([(3,), (2, 3), (3, 3), ()])},{r.random() < 0.6},'f4')" for n in "abc"]
    known = "abc"
    for _ in range(r.randint(4, 12)):
        line = _line(r, known)
        if re.search(r"\b(\w)\.addmm_\((\1,|\w,\1\))", line):
            continue  # a product that is written over one of its factors: PyTorch's result depends on the processor
        lines.append(line)
        if lines[-1][1] == "=" and lines[-1][0] not in known:
            known += lines[-1][0]
    return lines


# ------------------------------------------------------------------------------------------------- the other sorts
# ``a``, ``b`` and ``c`` are variables that are there; a line gives a value to a new one, or to none.
SECOND = """
d=a*2 d=a.exp() d=a*b d=a+b d=a.sum() d=a/2 d=a.view(-1) d=a.t() d=a@b d=a.relu() a.sum().backward()
a.sum().backward(retain_graph=True) d=T.autograd.grad(a.sum(),b,retain_graph=True,allow_unused=True)[0]
d=T.autograd.grad((a*a).sum(),a,create_graph=True)[0]
d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0] a.pow(3).sum().backward(create_graph=True)
a.grad=None d=a.grad d=a.detach() d=a.softmax(-1)
"""
HOOKS = """
d=a*2 d=a*b d=a.exp() d=a[0] d=a.view(-1) d=a.unbind(0)[0] d=T.cat([a,b]) a.register_hook(H('t'))
a.register_hook(lambda_g:g*2) a.grad_fn.register_hook(N('post')) a.grad_fn.register_prehook(P('pre')) a.retain_grad()
a.register_post_accumulate_grad_hook(A('acc')) a.sum().backward() a.sum().backward(retain_graph=True) d=a.mul_(2)
d=a.add_(b) d=T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0] d=a+b d=a.clone() d=a.max(0)[0]
"""
FUNCTIONS = """
d=Double.apply(a) d=Same.apply(a) d=Two.apply(a,b)[0] d=Two.apply(a,b)[1] d=Part.apply(a) d=Write.apply(a)
d=None_.apply(a) d=Write.apply(a.clone()) d=Product.apply(a,b) a.add_(1) a.mul_(b) a[0]=1. d=a*2 d=a*b
a.sum().backward() d=a.detach() d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0]
a.sum().backward(retain_graph=True) d=a.view(-1) d=a[0] with_T.no_grad():d=Double.apply(a) d=Two.apply(a,a)[0]
d=Same.apply(a.clone()) d=Product.apply(a,a)
"""
LAYOUTS = """
d=F.conv2d(a,W) d=F.max_pool2d(a,2) d=F.avg_pool2d(a,2) d=F.relu(a) d=a+b d=a*2 d=a.permute(0,2,3,1) d=a.contiguous()
d=a.to(memory_format=T.channels_last) d=F.batch_norm(a,None,None,training=True) d=a.mean((2,3)) d=a.transpose(1,2)
d=a.sum(1) d=F.interpolate(a,scale_factor=2) d=F.pad(a,(1,1,1,1)) d=T.cat([a,b],1) d=F.group_norm(a,1) d=a.flatten(1)
d=a.reshape(-1) a.sum().backward() a.pow(2).sum().backward() a.mul_(2) d=F.softmax(a,1) d=a.clone()
d=T.empty_like(a).fill_(1.) d=a[:,::2] d=a.expand(2,-1,-1,-1) d=F.adaptive_avg_pool2d(a,1)
d=F.unfold(a,2) d=a.view(-1) d=a.amax((1,2))
"""
HALF = """
d=a*b d=a+b d=a@b.t() d=a.sum() d=a.exp() d=a.float() d=a.half() d=a.bfloat16() d=F.relu(a) d=F.softmax(a,-1) d=a*2
d=a/3 d=F.layer_norm(a,(3,)) d=F.linear(a,b) d=a.mean(0) d=T.cat([a,b]) d=T.where(a>0,a,b) a.mul_(2) a.add_(b)
a.sum().backward() d=a.sqrt() d=a.to(b.dtype) d=F.gelu(a) d=F.mse_loss(a,b) d=a.pow(2) d=a.max(-1)[0] d=a.clamp(-1,1)
d=a.tanh() d=a[0] a.float().pow(2).sum().backward() d=T.stack([a,a]) d=a.cumsum(0) d=a.norm() d=a.view(-1)
"""
THREADS = """
d=TH(lambda:a*2) d=TH(lambda:a*b) TH(lambda:a.sum().backward(retain_graph=True)) d=a.exp() d=a+b d=a[0] d=a*b
TH(lambda:a.sum().backward()) with_T.no_grad():d=TH(lambda:a*2) d=TH(lambda:a.mul_(2)) d=TH(lambda:a.view(-1))
a.add_(1) d=TH(lambda:T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0])
a.sum().backward(retain_graph=True) d=a.detach()
"""
# PyTorch's own results are wrong or refused for flip, roll, cumprod and var of one number in vmap, and wrong for the
# third derivative of layer_norm.
INSIDE = """
x.sin() x*x x*x.sum() x.exp() x.tanh()*x (x**3) x.cumsum(0) x.softmax(0) x.int().float()*x (x>0)*x x.double()*2
x.float().double()*x T.where(x>0,x*x,x) x.sort(0)[0]*x x.max(0)[0]*x x.norm()*x x.prod(0)*x T.cat([x,x*x])[1:]
T.stack([x,x.sin()]).prod(0) x.clone().mul_(x) x.clone().add_(x.sin()).cos() x.unsqueeze(0).mul(x).sum(0)
(x.unsqueeze(-1)*x).sum(-1) x.clamp(-.5,.5)*x x.abs().sqrt() x.detach()*x F.softplus(x) F.gelu(x) x.logsumexp(0)*x
x.gather(0,T.zeros_like(x).long())*x T.fmod(x,.7)*x x.index_fill(0,T.tensor([0]),2.)*x T.zeros_like(x).add_(x).mul_(x)
x.sigmoid().log() T.outer(x.view(-1),x.view(-1)).sum(0) x.round()*x x.sgn()*x.square() T.atan2(x,x*x+1) x.expm1()
T.hypot(x,x+2) x.lerp(x*x,.3) x.masked_fill(x>.5,0.)*x x.pow(x.abs()) x.diff(dim=0) x.mean(0)+x*x x.argmax(0)*x
x.cosh().reciprocal() x.unbind(0)[0]*x x.split(1)[0]*x x.squeeze()*x x.expand_as(x).sum(0)*x x.median(0)[0]*x
x.cummax(0)[0]*x T.erf(x)*x x.view_as(x)*x x.copysign(x*x) x.scatter(0,T.zeros_like(x).long(),x*x)*x T.minimum(x,x*x)
x.nan_to_num()*x x.logaddexp(x*x) x.tril()*x x.trunc()+x*x
"""
OUTSIDE = [
    "T.func.grad(lambda x:({}).sum())",
    "T.func.jacrev(lambda x:({}))",
    "T.func.jacfwd(lambda x:({}))",
    "T.func.vmap(lambda x:({}))",
    "(lambda x:T.func.vjp(lambda x:({}),x)[0])",
    "T.func.hessian(lambda x:({}).sum())",
    "(lambda x:T.func.jvp(lambda x:({}),(x,),(T.ones_like(x),))[1])",
    "(lambda x:(lambda p:p[1](p[0])[0])(T.func.vjp(lambda x:({}),x)))",
]


# Dtypes that change, complex numbers, blocks, hooks, functions of users, transforms and writes by index in one program.
MIXED = """
d=a*b d=a+b d=a-2 d=a*(1+2j) d=a.to(T.complex64) d=a.real d=a.imag d=a.conj() d=a.abs() d=a.double() d=a.half()
d=a.float() d=a.to(b.dtype) d=T.view_as_real(a) d=a.conj().mul(b) d=a.mH d=a.resolve_conj() d=a.sgn() d=a[0]
d=a[...,:2] d=a[a.abs()>.5] d=a[T.tensor([0,0])] d=a.unbind(0)[0] d=a.chunk(2)[0] d=a.t() d=a.view(-1) d=a.reshape(-1)
d=a.unsqueeze(0) d=a.diagonal() d=a.detach() d=a.clone() d=a.sum(0) d=a.mean() a[0]=b a[...]=2. a[a.abs()>.5]=0.
a[T.tensor([0,0])]=1. a[:,0]=b[...,0] a[-1].mul_(2) a.view(-1)[0]=3. a[0,...]+=1 a.mul_(2) a.add_(b) a.mul_(b)
a.copy_(b) a.zero_() a.exp_() a.div_(2) a.masked_fill_(a.abs()>1,.5) a.real.mul_(2)
with_T.no_grad():d=a*b;d.requires_grad_() with_T.enable_grad():d=a*a with_T.set_grad_enabled(False):d=a.exp()
a.register_hook(H('t')) a.register_hook(lambda_g:g*2) a.register_hook(lambda_g:g.conj()) a.retain_grad()
a.grad_fn.register_hook(N('post')) a.grad_fn.register_prehook(P('pre')) a.grad=None d=Double.apply(a) d=Same.apply(a)
d=Two.apply(a,b)[1] d=Write.apply(a) d=Product.apply(a,b) d=Part.apply(a) d=Write.apply(a.clone())
d=Product.apply(a,a).sum() d=a.grad d=a.data a.abs().sum().backward() a.sum().abs().backward(retain_graph=True)
a.backward(T.ones_like(a)) d=a.abs().square().sum()
d=T.autograd.grad(a.abs().sum(),b,allow_unused=True,retain_graph=True)[0] a.sum().backward()
T.sum(a*b).abs().backward() d=T.autograd.grad(a.abs().square().sum(),a,create_graph=True)[0]
d=T.autograd.grad(a,a,T.ones_like(a))[0] d=T.func.vmap(lambda_x:x*x.sum())(a)
d=T.func.grad(lambda_x:(x*x).abs().sum())(a) d=T.func.vjp(lambda_x:x*x,a)[1](a)[0]
d=T.func.vmap(T.func.grad(lambda_x:x.abs().sum()))(a) d=T.func.vmap(lambda_x:x.clone().mul_(2))(a) d=T.cat([a,b])
d=T.stack([a,b]) d=a@b.t() d=F.softmax(a,-1) d=F.relu(a) d=a.cumsum(0) d=a.pow(2) d=a.sqrt() d=T.complex(a,b)
d=T.fft.fft(a) d=T.fft.irfft(a) d=a.index_put((T.tensor([0]),),b[0]) d=a.gather(0,L([[0]])) d=a.scatter(0,L([[0]]),2.)
d=a.index_select(0,L([0,0])) d=a.flip(0) d=a.roll(1,0) d=a.max() d=a.var() d=a.sort(0)[0] d=a.prod() d=a.type_as(b)
d=a.contiguous() d=a.squeeze(0) d=a.movedim(0,-1) with_T.no_grad():a.mul_(2);d=a+1 with_T.no_grad():a[0]=1.
"""


def _composed(r: random.Random) -> str:
    """Three transforms of a function, each of the one before."""
    text = r.choice(INSIDE.split())
    for k in range(3):
        text = r.choice(OUTSIDE).format(text) + ("(x)" if k < 2 else "(a)")
    return f"d={text}"


SORTS: dict[str, tuple[Any, str, tuple[Any, ...], tuple[str, ...]]] = {  # lines, how a new tensor ends, shapes, dtypes
    "second passes": (SECOND, "", ((3,), (3, 3)), ("f4",)),
    "hooks": (HOOKS, "", ((3,), (2, 3)), ("f4",)),
    "custom functions": (FUNCTIONS, "", ((3,), (3, 3)), ("f4",)),
    "layouts": (LAYOUTS, ".to(memory_format=T.channels_last)", ((2, 2, 4, 4),), ("f4",)),
    "half precision": (HALF, "", ((3, 3), (3,)), ("f2", "b2")),
    "threads": (THREADS, "", ((3,), (2, 3)), ("f4",)),
    "transforms": (_composed, "", ((3,),), ("f8",)),
}
MORE = {"mixed": (MIXED, "", ((3, 3), (2, 3)), ("f4", "f4", "f2", "c8", "f8"))}  # run by ``--sort`` alone


def _sorted(seed: int, sort: str = "") -> list[str]:
    r = random.Random(seed)
    sort = sort or list(SORTS)[seed // 2 % len(SORTS)]
    table, ending, shapes, dtypes = (SORTS | MORE)[sort]
    composed = callable(table)  # results grow with each transform: they are not given to another one
    lines = []
    for n in "abc":
        recorded = r.random() < 0.7 and not composed
        made = f"R({r.choice(shapes)},False,{r.choice(dtypes)!r}){r.choice(['', ending])}"
        lines.append(f"{n}={made}.requires_grad_({recorded})")
    known = "abc"
    for _ in range(r.randint(4, 12)):
        text = table(r) if callable(table) else r.choice(table.split())
        new = r.choice(NAMES[3:] if composed else NAMES)
        a, b = r.choice(known), r.choice(known)
        put = {"a": a, "b": b, "d": new}
        line = "".join(put.get(word, word) for word in _words(text))
        line = (
            line.replace("with_T", "with T")
            .replace("lambda_g", "lambda g")
            .replace("lambda_x", "lambda x")
            .replace("lambda", "lambda ")
            .replace("  ", " ")
        )
        lines.append(line)
        if re.match(rf"(with T.no_grad\(\):)?{new}=", line) and new not in known and not composed:
            known += new
    return lines


def program(seed: int, sort: str = "") -> list[str]:
    """The program of a seed, of a sort if one is given."""
    return _sorted(seed, sort) if sort or seed % 2 else _plain(seed // 2)


# ----------------------------------------------------------------------------------------------------------- running
def _helpers(T: ModuleType, log: list[Any]) -> dict[str, Any]:
    """What programs use: hooks that write down what they are told, custom functions, a thread."""

    def told(name: str, gs: Any) -> None:
        log.append((name, [None if g is None else _numbers(g) for g in gs]))

    def in_thread(fn: Any) -> Any:
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append((fn(), None))
            except BaseException as error:  # noqa: BLE001  handed on below
                outcome.append((None, error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        result, error = outcome.pop()
        if error is not None:
            raise error
        return result

    def function(forward: Any, backward: Any) -> Any:
        return type("F", (T.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def saving(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return x * y

    def writing(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    return {
        "H": lambda name: lambda g: told(name, [g]),
        "N": lambda name: lambda gi, go: told(name, (*gi, *go)),
        "P": lambda name: lambda go: told(name, go),
        "A": lambda name: lambda t: told(name, [t.grad]),
        "TH": in_thread,
        "F": T.nn.functional,
        "Double": function(lambda ctx, x: x * 2, lambda ctx, g: g * 2),
        "Same": function(lambda ctx, x: x, lambda ctx, g: g * 3),
        "Two": function(lambda ctx, x, y: (x * 2, y + 1), lambda ctx, g, h: (g * 2, h)),
        "Part": function(lambda ctx, x: x[:1], lambda ctx, g: None),
        "None_": function(lambda ctx, x: x + 1, lambda ctx, g: None),
        "Write": function(writing, lambda ctx, g: g * 2),
        "Product": function(saving, lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0])),
    }


def _numbers(value: Any) -> Any:
    """A tensor's elements, as float64 or, two by two, complex ones."""
    plain = value.detach().resolve_conj()
    return (plain.cfloat() if plain.is_complex() else plain.double()).numpy().copy()


def _seen(T: ModuleType, value: Any) -> Any:
    if not isinstance(value, T.Tensor):
        return repr(value)
    grad = value.grad if value.is_leaf else None
    facts = (tuple(value.shape), str(value.dtype).split(".")[1], value.requires_grad, value.is_leaf)
    return facts, _numbers(value), None if grad is None else _seen(T, grad)


def _run(T: ModuleType, lines: list[str], seed: int, known: dict[str, Any] | None = None) -> list[Any]:
    stream = np.random.RandomState(seed)

    def made(shape: tuple[int, ...], requires_grad: bool, dtype: str) -> Any:
        numbers = np.asarray(stream.uniform(-1.5, 1.5, shape), "f4" if dtype == "b2" else dtype)
        return T.tensor(numbers, requires_grad=requires_grad, dtype=T.bfloat16 if dtype == "b2" else None)

    calls: list[Any] = []
    scope = {} if known is None else known
    scope |= {"T": T, "R": made, "L": T.tensor, "lambda_g": lambda g: g * 2, **_helpers(T, calls)}
    if any("W)" in line for line in lines):
        scope["W"] = T.tensor(stream.uniform(-1, 1, (2, 2, 2, 2)).astype("f4"))
    log = []
    for line in lines:
        outcome = "ok"
        try:
            exec(line, scope)
        except Exception as error:  # noqa: BLE001  which one is what is compared
            outcome = type(error).__name__
            if "single memory location" in str(error):
                outcome = OVERLAP
            if "INTERNAL ASSERT" in str(error) or "to inference tensor" in str(error):
                outcome = BROKEN
            if "backward" in line and "a bool tensor is not supported" in str(error):
                outcome = BROKEN  # the formula of logaddexp subtracts the operands
            if "singular" in str(error):
                outcome = SINGULAR
            if "second time" in str(error):
                outcome = AGAIN
            if "modified by an inplace operation" in str(error):
                outcome = STALE
        state: dict[str, Any] = {}
        for name in NAMES:
            try:
                state[name] = _seen(T, scope.get(name))
            except RuntimeError as error:  # a view that may not be used any more
                state[name] = type(error).__name__
        log.append((outcome, state | {"calls": tuple(calls)}))
        calls.clear()
    return log


def _ends(outcome: str, state: dict[str, Any]) -> bool:
    """Whether PyTorch refuses a write of a tensor into itself, or a view of several whose base was written under
    ``no_grad``; has no kernel for a dtype; or has made integers require grad, as ``fill_`` with a gradient does;
    or the dtype is one that NumPy lacks.
    """
    seen = [value for name, value in state.items() if name in NAMES and isinstance(value, tuple)]
    return (
        outcome in (OVERLAP, AGAIN, BROKEN, SINGULAR, "NotImplementedError")
        or "RuntimeError" in state.values()
        or any(v[0][1] == "complex32" for v in seen)
        or any(v[0][2] and not v[0][1].startswith(("float", "bfloat", "complex")) for v in seen)
    )


def _alike(x: Any, y: Any, rtol: float = 1e-4) -> bool:
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        return len(x) == len(y) and all(_alike(p, q, rtol) for p, q in zip(x, y, strict=True))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        scale = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        return x.shape == y.shape and np.allclose(x, y, rtol, rtol / (10 if rtol < 0.01 else 1) * scale, equal_nan=True)
    return not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray) and bool(x == y)


def _shared(torch: ModuleType, lines: list[str], seed: int) -> bool:
    """Whether the last line writes to a tensor that repeats elements, or from another one on the same memory."""
    scope: dict[str, Any] = {}
    _run(torch, lines[:-1], seed, scope)
    used = [scope.get(name) for name in dict.fromkeys(re.findall(r"\b[a-h]\b", lines[-1]))]
    tensors = [t for t in used if isinstance(t, torch.Tensor)]
    places = {t.untyped_storage().data_ptr() for t in tensors}
    return len(places) < len(tensors) or any(0 in t.stride() for t in tensors)


def difference(seed: int, torch: ModuleType, wengert: ModuleType, sort: str = "") -> str | None:
    """What differs in a seed's program; ``None`` if nothing does."""
    lines = program(seed, sort)
    rtol = 5e-2 if any("'f2'" in line or "'b2'" in line or "half()" in line for line in lines) else 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (_run(T, lines, seed) for T in (torch, wengert))
    for k, ((outcome, state), (mine, my_state)) in enumerate(zip(theirs, ours, strict=True)):
        if _ends(outcome, state):
            return None
        if "as_strided" in lines[k] and (outcome, mine) == ("ok", "RuntimeError"):
            return None  # PyTorch's result of a reduction may lie in larger memory
        if (outcome, mine) in ((STALE, "ok"), ("ok", OVERLAP)) or mine == SINGULAR:
            return None
        if {outcome, mine} <= {OVERLAP, STALE, AGAIN, "RuntimeError", "NotImplementedError"}:
            mine = outcome  # which refusal comes first
        if "backward" in lines[k] and "ok" not in (outcome, mine):
            return None  # which leaves had their gradients when the pass failed is the engine's affair
        text = f"seed {seed}:\n" + "\n".join(lines[: k + 1])
        only_whether = seed % 2 or sort  # the plain ones compare errors too
        if mine != outcome and not (only_whether and "ok" not in (mine, outcome)):
            return f"{text}\nPyTorch: {outcome}, wengert: {mine}"
        for name, theirs_of in state.items():
            if not _alike(theirs_of, my_state[name], rtol):
                if re.search(r"_\(|\w=\w", lines[k].replace(" ", "")) and _shared(torch, lines[: k + 1], seed):
                    return None  # of a tensor to an overlapping part of itself: the order decides
                return f"{text}\n{name}, PyTorch: {theirs_of}\n{name}, wengert: {my_state[name]}"
    return None


def main() -> None:
    """Run programs for a while, or one."""
    import torch

    import wengert

    parser = argparse.ArgumentParser(description="Random programs on PyTorch and on wengert.")
    parser.add_argument("--seconds", type=float, default=3600, help="how long to run (an hour)")
    parser.add_argument("--seed", type=int, help="one program")
    parser.add_argument("--sort", default="", help="programs of one sort, such as 'mixed'")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    seed, count, found = args.first if args.seed is None else args.seed, 0, 0
    while count == 0 or (args.seed is None and time.monotonic() < end):
        text = difference(seed, torch, wengert, args.sort)
        if text is not None:
            found += 1
            print(text, "\n", flush=True)  # noqa: T201  a command's output
        seed, count = seed + 1, count + 1
    print(f"{count} programs, {found} differ")  # noqa: T201


if __name__ == "__main__":
    main()
