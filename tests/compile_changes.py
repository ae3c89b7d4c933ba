"""What a program may depend on, each with the one change that must not be missed: tables of Python text.

A row of ``CHANGES`` is (what is there before, the value of the function of ``x``, the change); of ``EFFECTS`` (before,
the function's statements, what is put back between calls, what the calls leave). All runs twice: eager and compiled.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import operator
import os
import random
import sys
import types
from typing import Any

import numpy as np

import wengert as torch

_C = "class C:\n k = 2.0\n def __init__(s, **k): vars(s).update(k)\n"
_M = "class M(nn.Module):\n k = 2.0\n ks = [2.0]\n def forward(s, x): return x * s.k * s.ks[0] * type(s).k\nm = M()\n"
CHANGES: dict[str, tuple[str, str, str]] = {
    # attributes of objects
    "attribute": ("c = NS(k=2.0)", "x * c.k", "c.k = 3.0"),
    "attribute below": ("c = NS(d=NS(k=2.0))", "x * c.d.k", "c.d.k = 3.0"),
    "attribute goes": (_C + "c = C(k=4.0)", "x * c.k", "del c.k"),
    "attribute that is not there": ("c = NS()", "x * 2 if hasattr(c, 'k') else x", "c.k = 1"),
    "attribute with a default": ("c = NS()", "x * getattr(c, 'k', 2.0)", "c.k = 3.0"),
    "attribute that raises": (
        "c = NS()\ndef g():\n try: return c.k\n except AttributeError: return 5.0", "x * g()", "c.k = 3.0"
    ),
    "attribute by a computed name": ("c = NS(k1=2.0)", "x * getattr(c, f'k{1}')", "c.k1 = 3.0"),
    "attributes by vars": ("c = NS(a=2.0, b=3.0)", "x * sum(vars(c).values())", "c.b = 5.0"),
    "attributes by __dict__": ("c = NS(a=2.0)", "x * c.__dict__['a']", "c.a = 5.0"),
    "attributes by attrgetter": ("c = NS(a=2.0)", "x * operator.attrgetter('a')(c)", "c.a = 5.0"),
    "attributes by copy": ("import copy\n" + _C + "c = C(k=1.0)", "x * copy.copy(c).k", "c.k = 5.0"),
    "fields": (
        "@dataclasses.dataclass\nclass D: a: float = 2.0\nc = D()", "x * dataclasses.asdict(c)['a']", "c.a = 3.0"
    ),
    "equal objects": (
        "@dataclasses.dataclass\nclass D: a: float = 2.0\nc, d = D(), D()", "x * 2 if c == d else x", "d.a = 3.0"
    ),
    "slot": ("class S: __slots__ = ('k',)\nc = S(); c.k = 2.0", "x * c.k", "c.k = 3.0"),
    "dict of an object": (_C + "c = C(k=1.0)", "x * c.k", "c.__dict__ = {'k': 3.0}"),
    "class of an object": ("class A: k = 2.0\nclass B: k = 3.0\nc = A()", "x * c.k", "c.__class__ = B"),
    "class attribute": (_C + "c = C()", "x * c.k", "C.k = 3.0"),
    "attribute of a base": (_C + "class D(C): pass\nc = D()", "x * c.k", "C.k = 3.0"),
    "attribute of a base that is covered": (_C + "class D(C): pass\nc = D()", "x * c.k", "D.k = 3.0"),
    "attribute of a metaclass": ("class T(type): k = 2.0\nclass C(metaclass=T): pass", "x * C.k", "T.k = 3.0"),
    "list of a class": ("class C: ks = [2.0]\nc = C()", "x * c.ks[0]", "C.ks[0] = 3.0"),
    "class method": (
        "class C:\n k = 2.0\n @classmethod\n def g(cls, x): return x * cls.k", "C.g(x)", "C.k = 3.0"
    ),
    "static method": (
        "class C:\n @staticmethod\n def g(x): return x * 2", "C.g(x)", "C.g = staticmethod(lambda x: x * 3)"
    ),
    "property": ("class C:\n @property\n def k(s): return 2.0\nc = C()", "x * c.k", "C.k = property(lambda s: 3.0)"),
    "cached property": (
        "class C:\n b = 2.0\n @functools.cached_property\n def k(s): return s.b\nc = C(); c.k", "x * c.k",
        "c.b = 3.0; del c.k",
    ),
    "__getattr__": (
        "class C:\n d = {'k': 2.0}\n def __getattr__(s, name): return s.d[name]\nc = C()", "x * c.k", "c.d['k'] = 3.0"
    ),
    "__len__": (
        "class C:\n def __init__(s): s.ks = [1]\n def __len__(s): return len(s.ks)\nc = C()", "x * len(c)",
        "c.ks.append(2)",
    ),
    "__iter__": (
        "class C:\n def __init__(s): s.ks = [NS(k=2.0)]\n def __iter__(s): return iter(s.ks)\nc = C()",
        "x * sum(o.k for o in c)", "c.ks[0].k = 3.0",
    ),
    "match": (
        "c = NS(kind='a', k=2.0)\ndef g(x):\n match c:\n  case NS(kind='a', k=k): return x * k\n  case _: return x",
        "g(x)", "c.k = 3.0",
    ),
    "method": ("class C:\n def g(s, x): return x * 2\nc = C()", "c.g(x)", "C.g = lambda s, x: x * 3"),
    "method of one object": ("class C:\n def g(s, x): return x * 2\nc = C()", "c.g(x)", "c.g = lambda x: x * 3"),
    "attribute of an object that a function returns": (
        "c = NS(k=2.0)\ndef get(): return c", "x * get().k", "c.k = 3.0"
    ),
    "attribute of an object in a list that a function gets": (
        "c = [NS(k=2.0)]\ndef g(x, c):\n for o in c: x = x * o.k\n return x", "g(x, c)", "c[0].k = 3.0"
    ),
    "attribute of an object made in the call": (
        "class H:\n def __init__(s, k): s.k = k\n def g(s, x): return x * s.k", "H(2.0).g(x)", "H.g = lambda s, x: x"
    ),
    "attribute of a number": ("class I(int): pass\ni = I(2); i.k = 2.0", "x * i.k", "i.k = 3.0"),
    "key of a sort": (
        "c = [NS(k=1.0, r=1), NS(k=2.0, r=2)]", "x * sorted(c, key=lambda o: o.r)[0].k", "c[1].r = 0"
    ),
    # numbers that are equal and not the same
    "int and float": ("c = NS(k=(2,))", "x.int() * c.k[0]", "c.k = (2.0,)"),
    "True and 1": ("c = NS(k=True)", "x * 2 if c.k is True else x * 3", "c.k = 1"),
    "0 and -0": ("c = NS(k=0.0)", "1 / (x * 0 + c.k)", "c.k = -0.0"),
    "enum": ("class E(enum.Enum):\n A = 1\n B = 2\nc = NS(e=E.A)", "x * c.e.value", "c.e = E.B"),
    "slice": ("c = NS(s=slice(0, 1))", "x[:, c.s]", "c.s = slice(1, 2)"),
    "dtype": ("c = NS(d=torch.float32)", "x.to(c.d)", "c.d = torch.float64"),
    # containers
    "list": ("ks = [1.0, 2.0]", "sum([x * k for k in ks])", "ks.append(3.0)"),
    "list's class": ("class L(list): pass\nks = L([2.0])", "x * ks[0]", "ks[0] = 3.0"),
    "order of a dict": (
        "d = {'a': 1.0, 'b': 2.0}", "sum(x * (v + i) ** 2 for i, v in enumerate(d.values()))", "d['a'] = d.pop('a')"
    ),
    "dict below": ("d = {'a': {'b': 2.0}}", "x * d['a']['b']", "d['a']['b'] = 3.0"),
    "key that is not there": ("d = {}", "x * d.get('k', 2.0)", "d['k'] = 3.0"),
    "dict with attributes": ("class D(dict): pass\nd = D(); d.k = 2.0", "x * d.k", "d.k = 3.0"),
    "view of a dict": ("a = {'k': 2.0}\nd = types.MappingProxyType(a)", "x * d['k']", "a['k'] = 3.0"),
    "counter": ("d = collections.Counter(a=2)", "x * d['a']", "d.update(a=3)"),
    "set": ("s = {1}", "x * 2 if 2 in s else x", "s.add(2)"),
    "set of objects": ("s = {NS}", "x * len(s)", "s.add(int)"),
    "named tuple": (
        "T = collections.namedtuple('T', 'a b')\nc = NS(t=T(2.0, [1.0]))", "x * c.t.a * c.t.b[0]", "c.t.b[0] = 3.0"
    ),
    "array's shape": (
        "c = NS(a=np.arange(6.0, dtype='f4').reshape(2, 3))", "x.sum() + torch.tensor(c.a).sum(1).sum() * len(c.a)",
        "c.a = c.a.reshape(3, 2)",
    ),
    "array": ("a = np.ones(3, 'f4')", "x * torch.from_numpy(a * 2)", "a[0] = 5"),
    "number of NumPy": ("c = NS(k=np.float32(2))", "x * float(c.k)", "c.k = np.float32(3)"),
    # functions
    "default": ("def g(x, k=2.0): return x * k", "g(x)", "g.__defaults__ = (3.0,)"),
    "default by name": ("def g(x, *, k=2.0): return x * k", "g(x)", "g.__kwdefaults__['k'] = 3.0"),
    "default that is a list": ("ks = [2.0]\ndef g(x, ks=ks): return x * ks[0]", "g(x)", "ks[0] = 3.0"),
    "default that is an object": ("c = NS(k=2.0)\ndef g(x, c=c): return x * c.k", "g(x)", "c.k = 3.0"),
    "code": ("def g(x): return x * 2\ndef h(x): return x * 3", "g(x)", "g.__code__ = h.__code__"),
    "attribute of a function": ("def g(x): return x * g.k\ng.k = 2.0", "g(x)", "g.k = 3.0"),
    "cell of one of two closures": (
        ("def make(k):\n def g(x): return x * k\n def put(v):\n  nonlocal k\n  k = v\n return g, put\n"
        "(a, _), (b, put) = make(2), make(2)"), "a(x) + b(x) * 10", "put(3)",
    ),
    "partial": ("ks = [2.0]\ng = functools.partial(lambda ks, x: x * ks[0], ks)", "g(x)", "ks[0] = 3.0"),
    "cache": (
        "c = NS(k=2.0)\n@functools.lru_cache\ndef g(): return c.k\ng()", "x * g()", "c.k = 3.0; g.cache_clear()"
    ),
    "single dispatch": (
        "@functools.singledispatch\ndef g(x): return x * 2", "g(x)", "g.register(torch.Tensor, lambda x: x * 3)"
    ),
    "generator": ("ks = [1.0, 2.0]\ndef g():\n for k in ks: yield k", "sum(x * k for k in g())", "ks.append(3.0)"),
    "table of functions": ("t = {'g': lambda x: x * 2}", "t['g'](x)", "t['g'] = lambda x: x * 3"),
    "torch's function": (
        "", "torch.sin(x)", "undo.append(functools.partial(setattr, torch, 'sin', torch.sin)); torch.sin = torch.cos"
    ),
    "new global that covers a builtin": ("", "x * abs(-2.0)", "abs = lambda k: 7.0"),
    "same code with other globals": (
        ("a, b = {'K': 2.0}, {'K': 2.0}\nexec('def g(x): return x * K', a)\n"
        "g, h = a['g'], types.FunctionType(a['g'].__code__, b)"), "g(x) + h(x) * 10", "b['K'] = 3.0",
    ),
    "function of autograd": (
        ("c = NS(k=2.0)\nw = torch.ones(3, requires_grad=True)\nclass G(torch.autograd.Function):\n"
        " @staticmethod\n def forward(ctx, w): return w * 2\n"
        " @staticmethod\n def backward(ctx, g): return g * c.k"), "torch.autograd.grad(G.apply(w).sum(), w)[0] * x",
        "c.k = 3.0",
    ),
    "backward of a function of autograd": (
        ("w = torch.ones(3, requires_grad=True)\nclass G(torch.autograd.Function):\n"
        " @staticmethod\n def forward(ctx, w): return w * 2\n"
        " @staticmethod\n def backward(ctx, g): return g * 2"), "torch.autograd.grad(G.apply(w).sum(), w)[0] * x",
        "G.backward = staticmethod(lambda ctx, g: g * 3)",
    ),
    "function under vmap": ("c = NS(k=2.0)", "torch.func.vmap(lambda r: r * c.k)(x)", "c.k = 3.0"),
    # modules of Python
    "module": ("", "x * conf.K", "conf.K = 3.0"),
    "module imported in the call": ("def g():\n import conf\n return conf.K", "x * g()", "conf.K = 3.0"),
    "name imported in the call": ("def g():\n from conf import K\n return K", "x * g()", "conf.K = 3.0"),
    "module's computed name": ("", "x * getattr(conf, 'k'.upper())", "conf.K = 3.0"),
    "sys.modules": ("", "x * sys.modules['conf'].K", "conf.K = 3.0"),
    "sys.argv": ("", "x * len(sys.argv)", "sys.argv.append('x'); undo.append(sys.argv.pop)"),
    "environment": ("", "x * float(os.environ.get('WENGERT_X', 1))", "os.environ['WENGERT_X'] = '3'"),
    "environment by getenv": ("", "x * float(os.getenv('WENGERT_X', 1))", "os.environ['WENGERT_X'] = '3'"),
    # torch's modules
    "flag of a layer": ("m = nn.Dropout(0.0)", "m(x)", "m.p = 1.0"),
    "function of a layer": (
        "m = nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0)", "m(x - 2)", "m.activation = F.gelu"
    ),
    "class attribute of a module": (_M, "m(x)", "M.k = 3.0"),
    "list of a module's class": (_M, "m(x)", "M.ks[0] = 3.0"),
    "forward": (_M, "m(x)", "M.forward = lambda s, x: x * 5"),
    "forward of one module": (_M, "m(x)", "m.forward = lambda x: x * 5"),
    "forward of a layer": ("m = nn.ReLU()", "m(x - 2)", "m.forward = lambda x: x * 5"),
    "forward of a base": (
        _M + "class N(M):\n def forward(s, x): return super().forward(x) + 1\nm = N()", "m(x)",
        "M.forward = lambda s, x: x * 5",
    ),
    "order of modules": (
        "m = nn.ModuleDict({'a': nn.ReLU(), 'b': nn.Tanh()})\ndef g(x):\n for n in m.values(): x = n(x - 1)\n return x",
        "g(x)", "m['a'] = m.pop('a')",
    ),
    "modules in a list": ("ms = [nn.ReLU()]", "functools.reduce(lambda v, m: m(v), ms, x - 2)", "ms.append(nn.Tanh())"),
    "layer added": ("m = nn.Sequential(nn.ReLU())", "m(x - 2)", "m.append(nn.Tanh())"),
    "layers swapped": ("m = nn.Sequential(nn.ReLU(), nn.Sigmoid())", "m(x - 2)", "m[0], m[1] = m[1], m[0]"),
    "child that was None": (
        "m = nn.Module(); m.down = None", "x if m.down is None else m.down(x - 2)", "m.down = nn.ReLU()"
    ),
    "buffer that was None": (
        "m = nn.Module(); m.register_buffer('b', None)", "x if m.b is None else x * m.b", "m.b = torch.ones(3) * 4"
    ),
    "object of a module": (
        ("c = NS(k=2.0)\nclass B(nn.Module):\n def __init__(s): super().__init__(); s.c = c\n"
        " def forward(s, x): return x * s.c.k\nm = nn.Sequential(B(), B())"), "m(x)", "c.k = 3.0",
    ),
    "parametrization": (
        ("import wengert.nn.utils.parametrize as p\nm = nn.Linear(3, 3)\nclass P(nn.Module):\n"
        " def forward(s, w): return w * 2"), "m(x).detach()", "p.register_parametrization(m, 'weight', P())",
    ),
    "hook of all modules": (
        "from wengert.nn.modules.module import register_module_forward_hook as on\nm = nn.ReLU()", "m(x - 2)",
        "undo.append(on(lambda m, i, o: o * 5).remove)",
    ),
    "hook of a child": ("m = nn.Sequential(nn.ReLU())", "m(x - 2)", "m[0].register_forward_hook(lambda *a: a[2] * 5)"),
    "state dict": (
        "m = nn.Linear(3, 3)", "m(x).detach()",
        "m.load_state_dict({k: torch.ones_like(v) for k, v in m.state_dict().items()})",
    ),
    "frozen parameters": ("m = nn.Linear(3, 3)", "m(x)", "m.requires_grad_(False)"),
    # tensors
    "attribute of a tensor": ("w = torch.ones(3); w.k = 2.0", "x * w.k", "w.k = 3.0"),
    "attribute that a tensor lacks": ("w = torch.ones(3)", "x * getattr(w, 'k', 2.0)", "w.k = 3.0"),
    "tensor of a closure": ("w = torch.ones(3)", "x * w", "w.fill_(5)"),
    "tensor's gradient": ("w = torch.ones(3, requires_grad=True)", "x if w.grad is None else x * 2", "w.grad = w * 1"),
    "tensor's data": ("w = torch.ones(3, requires_grad=True)", "x * w", "w.data = torch.ones(3) * 4"),
    "tensor's version": ("w = torch.ones(3)", "x * w._version", "w.add_(0)"),
    "tensor's list": ("ws = [torch.ones(3), torch.zeros(3)]", "x * ws[0] + ws[1]", "ws.reverse()"),
    "place of a view": ("b = torch.arange(6.0); v = b[:3]", "x * v.storage_offset()", "v = b[3:]"),
    "indices": ("i = torch.tensor([0, 1])", "x[i]", "i.copy_(torch.tensor([1, 0]))"),
    "generator's seed": ("g = torch.Generator().manual_seed(1)", "x + torch.rand(3, generator=g)", "g.manual_seed(5)"),
    # optimizers and modes
    "learning rate that is read": ("o = SGD([torch.ones(3)], lr=0.1)", "x * o.param_groups[0]['lr']",
        "o.param_groups[0]['lr'] = 0.5"),
    "defaults of an optimizer": ("o = SGD([torch.ones(3)], lr=0.1)", "x * o.defaults['lr']", "o.defaults['lr'] = 0.5"),
    "deterministic algorithms": (
        "", "x * 2 if torch.are_deterministic_algorithms_enabled() else x",
        ("undo.append(functools.partial(torch.use_deterministic_algorithms, False))\n"
        "torch.use_deterministic_algorithms(True)"),
    ),
    "grad mode": (
        "w = torch.ones(3, requires_grad=True)", "x * w",
        "undo.append(lambda: torch.set_grad_enabled(True)); torch.set_grad_enabled(False)",
    ),
    "autocast": (
        "a = torch.autocast('cpu', torch.float16)", "x @ x.t()",
        "a.__enter__(); undo.append(lambda: a.__exit__(None, None, None))",
    ),
    "function mode": (
        ("class D(torch.overrides.TorchFunctionMode):\n def __torch_function__(s, f, t, a=(), k=None):\n"
        "  r = f(*a, **(k or {}))\n  return r * 3 if isinstance(r, torch.Tensor) else r\nd = D()"), "x * 2",
        "d.__enter__(); undo.append(lambda: d.__exit__(None, None, None))",
    ),
    "inference mode": (
        "a = torch.inference_mode()", "x * 2", "a.__enter__(); undo.append(lambda: a.__exit__(None, None, None))"
    ),
    "random state": ("torch.manual_seed(3)", "F.dropout(x)", "torch.manual_seed(5)"),
}  # fmt: skip

_STEP = "w = torch.ones(3, requires_grad=True)\n"
_RUN = "w.grad = None; (x * w).pow(2).sum().backward(); o.step()"
EFFECTS: dict[str, tuple[str, str, str, str]] = {
    "attribute": ("c = NS(n=0)", "c.n += 1", "c.n = 0", "c.n"),
    "new attribute": ("c = NS()", "c.flag = True", "vars(c).clear()", "vars(c).copy()"),
    "attribute by __dict__": ("c = NS(n=0)", "c.__dict__['n'] += 1", "c.n = 0", "c.n"),
    "attribute by object": (_C + "c = C(n=0)", "object.__setattr__(c, 'n', 5)", "c.n = 0", "c.n"),
    "attribute by a getter": ("c = NS(n=0)\ndef get(): return c", "get().n += 1", "c.n = 0", "c.n"),
    "attribute of a class": ("class C: n = 0", "C.n += 1", "C.n = 0", "C.n"),
    "attribute of a module": (
        "class M(nn.Module):\n def forward(s, x): s.seen = len(x); return x\nm = M()", "m(x)",
        "vars(m).pop('seen', 0)", "vars(m).get('seen')",
    ),
    "attribute of a function": ("def g(): g.n += 1\ng.n = 0", "g()", "g.n = 0", "g.n"),
    "attribute of a tensor": ("w = torch.ones(3); w.n = 0", "w.n += 1", "w.n = 0", "w.n"),
    "list": ("ks = []", "ks.append(1)", "ks.clear()", "list(ks)"),
    "set": ("ks = set()", "ks.add(1)", "ks.clear()", "set(ks)"),
    "dict": ("d = {}", "d['n'] = d.get('n', 0) + 1", "d.clear()", "dict(d)"),
    "array": ("a = np.zeros(2)", "a[0] += 1", "a.fill(0)", "a.tolist()"),
    "array of a tensor": ("a = np.zeros(2)", "torch.from_numpy(a).add_(1)", "a.fill(0)", "a.tolist()"),
    "global": ("n = 0\ndef g():\n global n\n n += 1", "g()", "n = 0", "n"),
    "random state of Python": ("", "x = x * random.random()", "random.seed(0)", "random.random()"),
    "random state of NumPy": ("", "x = x * np.random.rand()", "np.random.seed(0)", "np.random.rand()"),
    "seed": ("", "torch.manual_seed(0); x = x + torch.randn(3)", "torch.manual_seed(1)", "torch.randn(2).tolist()"),
    "same seed": ("", "torch.manual_seed(1)", "torch.manual_seed(1); torch.randn(k)", "torch.randn(2).tolist()"),
    "grad mode": ("", "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)", "torch.is_grad_enabled()"),
    "learning rate": (
        _STEP + "o = SGD([w], lr=0.1)", "o.param_groups[0]['lr'] *= 0.5", "o.param_groups[0]['lr'] = 1.0",
        "o.param_groups[0]['lr']",
    ),
    "step of another learning rate": (
        _STEP + "o = SGD([w], lr=0.1)", _RUN, "o.param_groups[0]['lr'] = 0.1 / k", "w.tolist()"
    ),
    "step with momentum and without": (
        _STEP + "o = SGD([w], lr=0.01)", _RUN, "o.param_groups[0]['momentum'] = k / 10", "w.tolist()"
    ),
    "step with weight decay and without": (
        _STEP + "o = torch.optim.Adam([w])", _RUN, "o.param_groups[0].update(weight_decay=k % 2, betas=(0, 0.1 * k))",
        "w.tolist()",
    ),
    "step with another state": (
        _STEP + "o = torch.optim.Adam([w])", _RUN, "o.load_state_dict(torch.optim.Adam([w], lr=k).state_dict())",
        "w.tolist()",
    ),
    "step of another group": (
        _STEP + "v = torch.ones(3, requires_grad=True)\no = SGD([w], lr=0.01)", _RUN,
        "k == 3 and o.add_param_group({'params': [v]}); v.grad = torch.ones(3)", "w.tolist() + v.tolist()",
    ),
    "step that is replaced": (_STEP + "o = SGD([w], lr=0.01)", _RUN, "if k == 3: o.step = lambda: None", "w.tolist()"),
    "step with a hook": (
        _STEP + "o = SGD([w], lr=0.01)", _RUN,
        "k == 3 and o.register_step_pre_hook(lambda *_: setattr(w, 'grad', None))", "w.tolist()",
    ),
    "step of an optimizer of one's own": (
        _STEP + "class D(torch.optim.Optimizer):\n @torch.no_grad()\n def step(s):\n  for g in s.param_groups:\n"
        "   for p in g['params']: p -= g['lr'] * p.grad\no = D([w], {'lr': 0.1})", _RUN,
        "o.param_groups[0]['lr'] = 0.1 / k", "w.tolist()",
    ),
    "step of whole arrays": (_STEP + "o = torch.optim.Adafactor([w], lr=0.1)", _RUN, "", "w.tolist()"),
    "hook of a leaf": (
        _STEP + "o = SGD([w], lr=0.01)", _RUN, "k == 3 and w.register_hook(lambda g: g * 3)", "w.tolist()"
    ),
    "statistics of a batch norm": (
        "m = nn.BatchNorm1d(3)", "m(x)", "m.momentum = k / 10; m.train(k != 3)", "m.running_mean.tolist()"
    ),
    "view written in another place": ("b = torch.zeros(6)", "b[int(n) :][:2].add_(1)", "n = k // 3", "b.tolist()"),
}  # fmt: skip


def scope() -> dict[str, Any]:
    """The names that the rows' texts use."""
    conf = types.ModuleType("conf")
    conf.__file__ = "conf.py"
    conf.K = 2.0  # type: ignore[attr-defined]
    sys.modules["conf"] = conf
    torch.manual_seed(0)
    return {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "SGD": torch.optim.SGD, "np": np,
        "NS": types.SimpleNamespace, "conf": conf, "types": types, "functools": functools, "operator": operator,
        "os": os, "sys": sys, "random": random, "enum": enum, "collections": collections, "k": 0, "n": 0,
        "dataclasses": dataclasses, "undo": [], "__name__": "compile_changes",
    }  # fmt: skip


def function(names: dict[str, Any], before: str, body: str) -> Any:
    """A row's function of ``x``, with what is there before."""
    exec(before, names)
    exec(f"def f(x):\n {body}", names)
    return names["f"]
