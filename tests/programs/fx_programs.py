"""Programs that use torch.fx, each a function that prints; ``test_fx_programs`` runs them on both libraries.

A program is a few calls whose graphs, code and errors are compared as text, so a line holds as much as it can.
"""

import builtins, collections, contextlib, copy, dataclasses, enum, functools, gc, inspect, io, json, math, operator, os
import pickle, re, sys, tempfile, threading, traceback, typing, warnings, weakref
from collections import namedtuple
from copy import deepcopy
from math import sqrt
from typing import *

import torch, torch.fx as fx, torch.nn as nn, torch.nn.functional as F
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
from torch.fx import PH, Graph, GraphModule, Interpreter, Node, Proxy, Tracer, Transformer, subgraph_rewriter, symbolic_trace, wrap
from torch.fx._symbolic_trace import PHBase, PHWithMeta
from torch.fx.annotate import annotate
from torch.fx.experimental.rewriter import RewritingTracer
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.fx.node import _format_arg
from torch.fx.passes import shape_prop
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.testing import FileCheck

class SimpleTest(nn.Module):
    def forward(self, x):
        return torch.relu(x + 3.0)
def a_lifted_leaf(a, b): return a[0] + a[1] + b
wrap('a_lifted_leaf'); wrap('a_lifted_leaf')
def a_lifted_leaf2(a, b): return a[0] + a[1] + b
wrap(a_lifted_leaf2)
wrap('len'); wrap('getattr')
def wrapped_named_tup(p1, *, p2): return p1.x + p2.y
wrap(wrapped_named_tup)
@wrap
def wrapped_deco(x): return x * 2
wrap('sqrt')
def wrapped_fn(x): return torch.neg(x)
wrapped_by_decorator = wrap(wrapped_fn)
def my_decorator(f):
    @functools.wraps(f)
    def inner(*a, **k): return f(*a, **k)
    return inner
@wrap
@my_decorator
def deco_inside(x): return x + 7
class Pair(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor
class Foo:
    def __init__(self, a, b): self.a=a; self.b=b
Foo2=namedtuple('Foo2',['x','y'])
def show(gm):
    if isinstance(gm, Graph): print(gm); print(gm.python_code('self').src); return
    print(gm.graph); print(gm.code)
def t_simple():
    gm=symbolic_trace(SimpleTest()); show(gm); print(gm(torch.ones(2))); gm.graph.lint(); print(gm)
def t_fn():
    gm=symbolic_trace(lambda x: a_lifted_leaf((4,x),3)+a_lifted_leaf2((4,x),5)); show(gm); print(gm(torch.ones(2)))
def t_wrap_len():
    def f(x): return len(x)
    gm=symbolic_trace(f); show(gm); print(gm([3,4,5]))
def t_wrap_getattr():
    class FakeT: pass
    def f(x): return getattr(x,'nonexistent_attr','default')
    gm=symbolic_trace(f); show(gm); print(gm(torch.ones(2)))
def t_wrap_sqrt():
    def f(x): return sqrt(x.size(0))
    gm=symbolic_trace(f); show(gm); print(gm(torch.ones(4)))
def t_wrap_deco():
    gm=symbolic_trace(lambda x: wrapped_deco(x)+wrapped_by_decorator(x)+deco_inside(x)); show(gm); print(gm(torch.ones(2)))
def t_wrap_retrace():
    m=symbolic_trace(lambda x: a_lifted_leaf((4,x),3)); m2=symbolic_trace(m); show(m2); print(m2(torch.ones(1)))
    print(a_lifted_leaf((4,2),3))
def t_wrap_err():
    def g(x): return x
    try: wrap(g)
    except NotImplementedError as e: print(e)
    try: wrap(3)
    except RuntimeError as e: print(e)
def t_namedtup():
    gm=symbolic_trace(lambda x: wrapped_named_tup(Pair(x,1.2),p2=Pair(1.2,x))); show(gm); print(gm(torch.ones(2)))
def t_named_tuple_inlined():
    class M(nn.Module):
        def forward(self, inp): return wrapped_named_tup(Pair(inp, 1.2), p2=Pair(3.4, inp))
    m=symbolic_trace(M()); show(m)
    ph=[n for n in m.graph.nodes if n.op=='call_function']
    print(type(ph[0].args[0]), ph[0].args, ph[0].kwargs, type(ph[0].kwargs['p2']))
def t_dict():
    class M(nn.Module):
        def forward(self,d): return d['a'].relu()+d['b'].neg()
    gm=symbolic_trace(M()); show(gm); print(gm({'a':torch.ones(2),'b':torch.ones(2)}))
def t_args_kwargs():
    class T(nn.Module):
        def forward(self,*args,**kwargs): return args[0]+kwargs['foo']
    gm=symbolic_trace(T()); show(gm); print(gm(torch.ones(2),foo=torch.ones(2)))
def t_varargs():
    class T(nn.Module):
        def forward(self,*args,**kwargs): return torch.relu(args[1])
    gm=symbolic_trace(T()); show(gm); print(gm(torch.ones(2),-torch.ones(2)))
def t_varargs_concrete():
    class T(nn.Module):
        def forward(self,*args,**kwargs): return args[0]+args[1]
    gm=symbolic_trace(T(),concrete_args=(PH,PH)); show(gm)
    args=(torch.rand(2),torch.rand(2)); print(torch.equal(gm(*args),T()(*args)))
def t_ellipsis():
    class M(nn.Module):
        def forward(self,x,y): return x+y[:,1:10,...]
    gm=symbolic_trace(M()); show(gm); print(gm(torch.rand(5,9,3,4),torch.rand(5,15,3,4)).shape)
def t_slices():
    gm=symbolic_trace(lambda x,i: (x[1:i], x[i:, None], x[..., i], x[:i:2], x[slice(None,i)])); show(gm)
def t_setitem_tensor():
    def f(x):
        x[0]=1
        return x
    gm=symbolic_trace(f); show(gm)
def t_inplace_ops():
    def f(x,y):
        x+=y; x-=1; x*=2; x/=3; x//=2; x**=2; x%=3; x&=1; x|=2; x^=3; x<<=1; x>>=1; x@=y
        return x
    gm=symbolic_trace(f); show(gm)
def t_ctrl_if():
    gm=symbolic_trace(lambda x: 1 if x else 2)
def t_ctrl_if2():
    gm=symbolic_trace(lambda x: 1 if x.sum()>0 else 2)
def t_ctrl_for():
    def f(x):
        for i in x: print(i)
    symbolic_trace(f)
def t_ctrl_len():
    symbolic_trace(lambda x: x.__len__())
def t_ctrl_len2():
    symbolic_trace(lambda x: operator.length_hint(x))
def t_ctrl_unpack():
    def f(x):
        a,b=x
        return b+a
    gm=symbolic_trace(f); show(gm)
def t_ctrl_unpack_star():
    def f(x):
        a,*b=x
        return b
    gm=symbolic_trace(f); show(gm)
def t_ctrl_range():
    def f(x):
        for i in range(x): pass
    symbolic_trace(f)
def t_ctrl_index():
    symbolic_trace(lambda x: [1,2,3][x])
def t_ctrl_int():
    symbolic_trace(lambda x: int(x))
def t_ctrl_star():
    def f(x):
        return torch.cat(*x)
    gm=symbolic_trace(f); show(gm)
def t_ctrl_dstar():
    def f(x):
        return torch.cat(**x)
    gm=symbolic_trace(f); show(gm)
def t_ctrl_in():
    symbolic_trace(lambda x: 3 in x)
def t_ctrl_while():
    def f(x):
        while x.sum()<10: x=x+1
        return x
    symbolic_trace(f)
def t_ctrl_and():
    symbolic_trace(lambda x,y: x and y)
def t_ctrl_not():
    symbolic_trace(lambda x: not x)
def t_ctrl_str():
    print(symbolic_trace(lambda x: str(x)).code)
def t_ctrl_repr():
    def f(x):
        print(repr(x), f'{x}'); return x
    symbolic_trace(f)
def t_ctrl_float():
    symbolic_trace(lambda x: float(x))
def t_ctrl_hash():
    symbolic_trace(lambda x: {x:1})
def t_ctrl_dictkey():
    class M(nn.Module):
        def forward(self,x):
            return {x[0]: 3}
    symbolic_trace(M())
def t_ctrl_keys():
    gm=symbolic_trace(lambda d: [d[k] for k in d.keys()])
def t_ctrl_keys2():
    gm=symbolic_trace(lambda d: d.keys()); show(gm)
def t_ctrl_values():
    gm=symbolic_trace(lambda d: [v for v in d.values()])
def t_rewriting_tracer():
    class M(nn.Module):
        def forward(self,x):
            assert x.shape[0]>1, 'too small'
            assert True
            return x*2
    m=M(); g=RewritingTracer().trace(m); gm=GraphModule(m,g); show(gm)
    print(gm(torch.ones(2,2)))
    try: gm(torch.ones(1,2))
    except Exception as e: print(type(e),e)
def t_getitem_subproc():
    gm=symbolic_trace(lambda x: x[0][1]); show(gm)
def t_torch_custom_ops():
    gm=symbolic_trace(lambda x: torch.ops.aten.sigmoid(x)); show(gm); print(gm(torch.zeros(2)))
    gm=symbolic_trace(lambda x: torch.ops.aten.relu.default(torch.ops.aten.add(x,1))); show(gm); print(gm(torch.zeros(2)))
def t_copy_no_remap():
    m=symbolic_trace(SimpleTest())
    g=m.graph; copied=fx.Graph()
    for node in g.nodes:
        try: copied.node_copy(node)
        except Exception as e: print(type(e),e)
    try: copied.lint()
    except RuntimeError as e: print(e)
def t_wrong_topo():
    m=symbolic_trace(SimpleTest()); g=m.graph
    nodes=list(g.nodes); a,b=nodes[1],nodes[2]
    a.append(nodes[0])
    try: g.lint()
    except RuntimeError as e: print(e)
def t_example_value():
    m=symbolic_trace(SimpleTest()); n=next(iter(m.graph.nodes)); n.meta['example_value']=torch.zeros(1)
    print(m.graph.nodes.__iter__().__next__().meta)
def t_interp():
    class M(nn.Module):
        def __init__(s):
            super().__init__(); s.param=nn.Parameter(torch.rand(3,4)); s.linear=nn.Linear(4,5)
        def forward(s,x): return s.linear(x+s.param).clamp(min=0.0,max=1.0)
    m=M(); gm=symbolic_trace(m); x=torch.rand(3,4); print(torch.equal(Interpreter(gm).run(x),m(x)))
    class Log(Interpreter):
        def run_node(self,n): print('run',n.format_node()); return super().run_node(n)
        def placeholder(self,*a): print('ph',a[0]); return super().placeholder(*a)
        def get_attr(self,*a): print('ga',a[0]); return super().get_attr(*a)
        def call_function(self,*a): print('cf',a[0]); return super().call_function(*a)
        def call_method(self,*a): print('cm',a[0]); return super().call_method(*a)
        def call_module(self,*a): print('cmod',a[0]); return super().call_module(*a)
        def output(self,*a): print('out'); return super().output(*a)
    Log(gm).run(x)
def t_interp_err():
    gm=symbolic_trace(lambda x,y: torch.mm(x,y))
    try: Interpreter(gm).run(torch.ones(2,3),torch.ones(2,3))
    except Exception as e: print(type(e).__name__); print(str(e).split('\n')[0]); print(str(e).split('\n')[2:6])
def t_interp_partial():
    gm=symbolic_trace(lambda x: torch.relu(x)+1)
    n=[n for n in gm.graph.nodes]
    print(Interpreter(gm).run(torch.ones(2),initial_env={n[1]:torch.zeros(2)}))
def t_interp_star():
    gm=symbolic_trace(lambda *args,**kw: args[0]+kw['a']); 
    print(Interpreter(gm).run(torch.ones(1),{'a':torch.ones(1)}) if False else '')
    def f(x,*xs): return x+xs[0]+xs[1]
    gm=symbolic_trace(f); print(Interpreter(gm).run(torch.ones(1),torch.ones(1),torch.ones(1)))
def t_interp_gc():
    class G(Interpreter):
        def run_node(self,n):
            r=super().run_node(n); print(n, sorted(map(str,self.env))); return r
    gm=symbolic_trace(lambda x: torch.relu(torch.neg(x)+x))
    G(gm).run(torch.ones(1)); G(gm,garbage_collect_values=False).run(torch.ones(1))
def t_interp_default():
    def f(x,y=3.0): return x+y
    gm=symbolic_trace(f); print(Interpreter(gm).run(torch.ones(1))); print(Interpreter(gm).run(torch.ones(1),4)); show(gm)
    try: Interpreter(gm).run()
    except Exception as e: print(type(e).__name__, str(e).split('\n')[0])
def t_interp_boxed():
    gm=symbolic_trace(lambda x,y:x+y); a=[torch.ones(1),torch.ones(1)]; print(Interpreter(gm).boxed_run(a),a)
def t_transformer():
    class Neg(Transformer):
        def call_function(self,target,args,kwargs):
            if target is torch.sigmoid: return torch.neg(*args,**kwargs)
            return super().call_function(target,args,kwargs)
        def call_method(self,n,args,kwargs):
            if n=='neg':
                s,*r=args; return s.sigmoid(*r,**kwargs)
            return super().call_method(n,args,kwargs)
    gm=symbolic_trace(lambda x: torch.sigmoid(x).neg()); t=Neg(gm).transform(); show(t); print(t(torch.ones(1)))
def t_transformer_attr():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.p=nn.Parameter(torch.ones(2)); s.l=nn.Linear(2,2); s.register_buffer('b',torch.ones(2))
        def forward(s,x,y=1): return s.l(x)+s.p+s.b+y
    gm=symbolic_trace(M()); t=Transformer(gm).transform(); show(t); print(sorted(dict(t.named_parameters())))
def t_transformer_multi_out():
    gm=symbolic_trace(lambda x: {'a':x,'b':(x+1,[x])}); show(Transformer(gm).transform())
def t_transformer_varargs():
    gm=symbolic_trace(lambda *a: a[0]); show(Transformer(gm).transform())
def t_fn_type_annot():
    def f(p:Pair,z:torch.Tensor,i:int)->Dict[str,torch.Tensor]:
        return {'a': p.x+p.y+z+i}
    gm=symbolic_trace(f); show(gm)
def t_annots():
    def f(a:Optional[torch.Tensor], b:Union[int,float], c:List[Tuple[int,...]], d:Any, e:'torch.Tensor', g:Callable[[int],int], h:int|None, i:list[int], j:dict[str,Tensor2] if False else Dict[str,int], k:torch.device, l:torch.dtype, m:Tuple[()], n:Type[int])->List[str]:
        return a
    gm=symbolic_trace(f); show(gm)
def t_annots_local():
    class Loc: pass
    def f(a:Loc,b:List[Loc],c:Optional[Loc],d:Foo)->Loc: return a
    gm=symbolic_trace(f); print(gm.code.replace('__main__','')); print(sorted(k for k in gm.graph.python_code('self').globals))
def t_varargs_annot():
    def f(*a:int,**k:str): return a
    show(symbolic_trace(f))
def t_module_annot():
    class M(nn.Module):
        def forward(self,x:torch.Tensor,n:int=3)->torch.Tensor: return x*n
    gm=symbolic_trace(M()); show(gm); print(inspect.signature(gm.forward))
def t_inf_nan():
    gm=symbolic_trace(lambda x: (x+float('inf'), x-float('nan'), x*-float('inf'))); show(gm); print(gm(torch.ones(1)))
def t_inf_kwds():
    class M(nn.Module):
        def forward(s,x,inf,nan): return x+inf+nan
    show(symbolic_trace(M()))
def t_keyword_names():
    g=fx.Graph(); 
    for nm in ['def','torch','print','x','x','True','self','device','getattr','NoneType','_x','1a','a.b','a-b','inf']:
        n=g.placeholder(nm); print(nm,n.name)
def t_deepcopy_reserved():
    g=fx.Graph(); x=g.placeholder('x'); y=g.create_node('call_function',torch.neg,(x,),name='getattr'); z=g.create_node('call_function',torch.neg,(y,),name='if'); g.output(z)
    gm=GraphModule({},g); c=deepcopy(gm); show(c)
    g2=deepcopy(g); print(g2)
def t_deepcopy_meta():
    gm=symbolic_trace(SimpleTest()); 
    for i,n in enumerate(gm.graph.nodes): n.meta['i']=i
    gm.meta['q']=5
    c=deepcopy(gm); print([n.meta for n in c.graph.nodes], c.meta)
    c2=copy.copy(gm); print([n.meta for n in c2.graph.nodes], c2.meta)
def t_deepcopy_rec():
    g=fx.Graph(); x=g.placeholder('x')
    for i in range(3000): x=g.call_function(torch.neg,(x,))
    g.output(x); c=deepcopy(g); print(len(c.nodes))
def t_deepcopy_params():
    m=nn.Sequential(nn.Linear(2,2),nn.ReLU()); gm=symbolic_trace(m); c=deepcopy(gm); print(c.code, [p is q for p,q in zip(c.parameters(),gm.parameters())])
def t_unpack_list_none():
    gm=symbolic_trace(lambda x: [x,None,3,'a',torch.float32,torch.device('cpu'),(1,),slice(1,2),torch.Size([1,2]),range(3),Ellipsis,1j,b'x',torch.strided,torch.contiguous_format]); show(gm)
def t_nonetype_annot():
    def f(x:torch.Tensor)->None:
        return None
    show(symbolic_trace(f))
def t_remove_uses():
    g=fx.Graph(); x=g.placeholder('x'); r=g.call_function(torch.relu,(x,)); n=g.call_function(torch.neg,(r,)); g.output(n)
    n.replace_all_uses_with(r); g.erase_node(n); print(list(r.users), g)
def t_remove_uses_cb():
    g=fx.Graph(); x=g.placeholder('x'); a=g.call_function(torch.relu,(x,)); b=g.call_function(torch.neg,(x,)); g.output((a,b,x))
    new=g.placeholder('y'); print(x.replace_all_uses_with(new,lambda u: u is not a)); print(list(x.users),list(new.users)); print(g)
def t_pickle():
    gm=symbolic_trace(SimpleTest()); p=pickle.dumps(gm); l=pickle.loads(p); show(l); print(l(torch.ones(1)), type(l).__name__)
def t_all_input_nodes():
    g=fx.Graph(); a=g.placeholder('x'); b=g.call_module('linear',(a,)); c=g.get_attr('y'); d=g.call_function(operator.add,(b,c)); e=g.call_function(torch.unsqueeze,(d,0)); g.output(e)
    for n in g.nodes: print(n,n.all_input_nodes)
def t_uniq_names():
    def f(a):
        b=torch.add(a,a); c=torch.add(b,b); d=torch.add(c,a); return d.add(1).add(2)
    print([n.name for n in symbolic_trace(f).graph.nodes])
def t_namespace():
    g=fx.Graph(); x=g.placeholder('add'); 
    for i in range(4): x=g.call_function(torch.add,(x,x))
    x=g.create_node('call_function',torch.add,(x,x),name='add_2'); x=g.create_node('call_function',torch.add,(x,x),name='add_1_1'); x=g.create_node('call_function',torch.add,(x,x),name='foo_007')
    x=g.create_node('call_function',torch.add,(x,x),name='foo_007')
    g.output(x); print(g)
def t_graphmodule_args():
    for root in [nn.Module(), {}, {'a.b':nn.Linear(2,2)}, 3]:
        try:
            gm=GraphModule(root, fx.Graph()); print(type(gm).__name__, gm)
        except Exception as e: print(type(e).__name__, e)
def t_gm_dict_init():
    g=fx.Graph(); x=g.placeholder('x'); p=g.get_attr('foo.p'); l=g.call_module('foo.lin',(x,)); g.output(l+0 if False else g.call_function(operator.add,(l,p)))
    gm=GraphModule({'foo.p':nn.Parameter(torch.ones(2)),'foo.lin':nn.Linear(2,2)},g,'MyClass'); print(gm); print(gm.code, [n for n,_ in gm.named_parameters()], type(gm).__name__, gm.foo)
def t_gm_missing():
    g=fx.Graph(); x=g.placeholder('x'); g.output(g.call_module('foo.lin',(x,)))
    try: GraphModule({},g)
    except Exception as e: print(type(e).__name__,e)
    try: GraphModule(nn.Module(),g)
    except Exception as e: print(type(e).__name__,e)
def t_gm_stack():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Sequential(nn.ReLU(),nn.Linear(2,3)))); print(gm); print(gm.state_dict().keys())
def t_recompile_err():
    gm=symbolic_trace(SimpleTest())
    try: print(GraphModule.code.fget(nn.Module()))
    except Exception as e: print(type(e).__name__)
    class M(GraphModule): pass
    m=M({},fx.Graph()); print(type(m).__mro__[1].__name__)
def t_setattr_graph():
    gm=symbolic_trace(SimpleTest())
    try: gm.graph=3
    except Exception as e: print(type(e).__name__,e)
    g2=fx.Graph(); g2.output(1); gm.graph=g2; print(gm(), gm.graph is g2, g2.owning_module is gm)
    gm2=GraphModule({},g2); print(gm2.graph is g2, g2.owning_module)
def t_add_submodule():
    gm=symbolic_trace(nn.Sequential(nn.ReLU())); print(gm.add_submodule('a.b',nn.Linear(1,1)), gm.add_submodule('0.c',nn.Tanh()), gm)
    class X: pass
    gm.q=3; print(gm.add_submodule('q.d',nn.Tanh()))
    print(gm.delete_submodule('a.b'), gm.delete_submodule('a.zz'), gm.delete_submodule('nope.b'), gm)
def t_delete_unused():
    class Net(nn.Module):
        def __init__(s):
            super().__init__(); s.a=nn.Sequential(nn.Linear(2,2),nn.ReLU()); s.b=nn.Module(); s.b.c=nn.Linear(2,2); s.b.d=nn.Module(); s.b.d.e=nn.Linear(2,2); s.unused=nn.Tanh(); s.p=nn.Module(); s.p.w=nn.Parameter(torch.ones(2))
        def forward(s,x): return s.a(x)+s.b.c(x)+s.p.w
    gm=symbolic_trace(Net()); gm.add_submodule('zz.y',nn.ReLU()); gm.delete_all_unused_submodules(); print(gm); gm.graph.lint()
    print([n for n,_ in gm.named_modules()])
def t_shared_submod():
    class Net(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Linear(2,2); s.b=s.a; s.c=nn.Sequential(s.a,s.a)
        def forward(s,x): return s.c(s.b(s.a(x)))
    gm=symbolic_trace(Net()); show(gm); print(gm)
def t_leaf():
    class My(nn.Module):
        def forward(s,x): return x+1
    class N(nn.Module):
        def __init__(s): super().__init__(); s.m=My(); s.s=nn.Sequential(My(),nn.ReLU())
        def forward(s,x): return s.s(s.m(x))
    class T(Tracer):
        def is_leaf_module(s,m,q): print('leaf?',type(m).__name__,q); return True
    m=N(); print(T().trace(m)); show(symbolic_trace(m))
def t_tracer_no_submod():
    class N(nn.Module):
        def forward(s,x): return nn.Linear(2,2)(x)
    try: symbolic_trace(N())
    except Exception as e: print(type(e).__name__, e)
def t_tracer_pathofmodule():
    m=nn.Sequential(nn.ReLU()); t=Tracer(); t.trace(m); print(t.path_of_module(m[0]))
    try: t.path_of_module(nn.ReLU())
    except NameError as e: print(e)
def t_get_attr_unregistered():
    class N(nn.Module):
        def __init__(s): super().__init__(); s.t=torch.ones(2); s.sub=nn.Module(); s.sub.q=torch.zeros(2)
        def forward(s,x): return x+s.t+s.sub.q+torch.ones(3)
    gm=symbolic_trace(N()); show(gm); print([k for k in gm.__dict__ if not k.startswith('_') ])
def t_tensor_const_closure():
    c=torch.ones(2)
    def f(x): return x+c+c+torch.tensor([5.])
    gm=symbolic_trace(f); show(gm); print(gm._tensor_constant0)
def t_param_not_module():
    p=nn.Parameter(torch.ones(2))
    try: show(symbolic_trace(lambda x:x+p))
    except Exception as e: print(type(e).__name__,e)
def t_buffer_proxy():
    class T(Tracer): proxy_buffer_attributes=True
    class N(nn.Module):
        def __init__(s): super().__init__(); s.register_buffer('b',torch.ones(2))
        def forward(s,x): return torch.relu(s.b)+x
    print(T().trace(N())); print(Tracer().trace(N()))
def t_param_shapes_constant():
    class N(nn.Module):
        def __init__(s): super().__init__(); s.w=nn.Parameter(torch.ones(2,3))
        def forward(s,x):
            if s.w.shape[0]==2 and s.w.size()[1]==3 and s.w.size(0)==2 and s.w.dim()==2 and s.w.ndim==2 and s.w.numel()==6 and s.w.nelement()==6: return x+s.w
            return x
    print(Tracer(param_shapes_constant=True).trace(N()))
    try: Tracer().trace(N())
    except Exception as e: print(type(e).__name__,e)
    class T(Tracer):
        def create_proxy(s,*a,**k): print('cp',a[0],a[1] if isinstance(a[1],str) else ''); return super().create_proxy(*a,**k)
    print(T(param_shapes_constant=True).trace(N()))
def t_autowrap_math():
    t=Tracer(); g=t.trace(lambda x: math.sqrt(x)+math.floor(x)); print(g)
    def f(x): return a_lifted_leaf2((x,x),1)
    print(Tracer(autowrap_functions=(helper_fn,)).trace(lambda x: helper_fn(x)))
    print(Tracer(autowrap_modules=(math,collections)).trace(lambda x: math.pow(x,2)))
def helper_fn(x): return x+1
def t_autowrap_operator_mod():
    print(Tracer(autowrap_modules=(operator,)).trace(lambda x: operator.add(x,1)))
def t_is_fx_tracing():
    print(fx._symbolic_trace.is_fx_tracing())
    class M(nn.Module):
        def forward(s,x): print(fx._symbolic_trace.is_fx_tracing()); return x
    symbolic_trace(M()); print(fx._symbolic_trace.is_fx_tracing())
def t_torch_function_sub():
    class MyT:
        @classmethod
        def __torch_function__(cls,func,types,args=(),kwargs=None): return 'mine', func.__name__
    print(symbolic_trace(lambda x: torch.add(x,1)).code)
    try:
        print(symbolic_trace(lambda x: torch.add(x,MyT())).code)
    except Exception as e: print(type(e).__name__, str(e)[:80])
def t_layout():
    class M(nn.Module):
        def forward(s,x): return torch.empty_like(x,layout=torch.strided,pin_memory=False).fill_(0)
    gm=symbolic_trace(M()); show(gm); print(gm(torch.rand(2)))
def t_getattr_lazy():
    def f(x): return x.bar.size(), x.a.b.c(1), x.shape, x.T.sum()
    show(symbolic_trace(f))
def t_getattr_on_module():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=nn.ModuleList([nn.Linear(2,2)]); s.d=nn.ModuleDict({'a':nn.ReLU()}); s.pl=nn.ParameterList([nn.Parameter(torch.ones(2))]); s.pd=nn.ParameterDict({'q':nn.Parameter(torch.ones(2))})
        def forward(s,x):
            for m in s.l: x=m(x)
            return s.d['a'](x)+s.pl[0]+s.pd['q']
    gm=symbolic_trace(M()); show(gm); print(gm(torch.ones(2)).shape)
def t_setattr_module_attr():
    class M(nn.Module):
        def forward(s,x): s.foo=x; return x
    m=M(); gm=symbolic_trace(m); print(type(m.foo).__name__)
def t_concrete_args():
    def f(x,b,c=3):
        if b: return x+c
        return x
    show(symbolic_trace(f,{'b':True})); show(symbolic_trace(f,{'b':None})); show(symbolic_trace(f,{'b':2,'c':'s'}))
    gm=symbolic_trace(f,{'b':True})
    for a in [(torch.ones(1),True),(torch.ones(1),False)]:
        try: print(gm(*a))
        except Exception as e: print(type(e).__name__,e)
    gm=symbolic_trace(f,{'b':None})
    try: print(gm(torch.ones(1),3))
    except Exception as e: print(type(e).__name__,e)
def t_concrete_pytree():
    def f(x): return x['a']+x['b'][0]+x['b'][1]
    gm=symbolic_trace(f,concrete_args={'x':{'a':PH,'b':[PH,PH]}}); show(gm); print(gm({'a':1,'b':[2,3]}))
    def f2(x): return {'r':x['a'],'q':[x['c'],x['a']*2]}
    gm=symbolic_trace(f2,concrete_args={'x':{'a':PH,'c':5}}); show(gm); print(gm({'a':1,'c':5}))
    try: print(gm({'a':1,'c':6}))
    except Exception as e: print(type(e).__name__,e)
    try: print(gm({'a':1}))
    except Exception as e: print(type(e).__name__,str(e)[:60])
    gm2=symbolic_trace(gm.__class__ and gm, concrete_args=None) if False else None
    p=pickle.loads(pickle.dumps(gm)); print(p({'a':1,'c':5}), p.code==gm.code)
    d=deepcopy(gm); print(d({'a':1,'c':5}), d.code==gm.code); print(gm.graph._codegen.pytree_info)
    gm.graph.set_codegen(fx.graph.CodeGen()); gm.recompile(); print(gm.code)
def t_concrete_custom_class():
    pytree.register_pytree_node(Foo, lambda x:([x.a,x.b],None), lambda v,c: Foo(*v)) if Foo not in pytree.SUPPORTED_NODES else None
    fx_pytree.register_pytree_flatten_spec(Foo, lambda x,spec:[x.a,x.b])
    def f(x): return x.a+x.b
    gm=symbolic_trace(f,concrete_args={'x':Foo(PH,3)}); print(gm.code.replace('__main__','')); print(gm(Foo(2,3)))
    gm=symbolic_trace(lambda x:x,concrete_args={'x':Foo(PH,PH)}); r=gm(Foo(2,3)); print(r if not isinstance(r,Foo) else (r.a,r.b))
def t_concrete_tuple():
    def f(x,y,z): return x+y
    gm=symbolic_trace(f,concrete_args=(PH,3,None)); show(gm)
    try: symbolic_trace(f,concrete_args=(PH,3))
    except Exception as e: print(type(e).__name__,e)
def t_phmeta():
    ph=PHWithMeta('mykey'); print(ph.ph_key, type(ph).__mro__[1].__name__)
    def f(a,b): return a+b
    gm=symbolic_trace(f,concrete_args={'a':ph,'b':PHWithMeta()}); print([(n.name,getattr(n,'ph_key','no')) for n in gm.graph.nodes]); show(gm)
    def f2(x): return x['a']+x['b']
    gm=symbolic_trace(f2,concrete_args={'x':{'a':PHWithMeta('k1'),'b':PHWithMeta('k2')}}); print([(n.name,getattr(n,'ph_key','no')) for n in gm.graph.nodes]); print(gm({'a':1,'b':2}))
    print(repr(PH), bool(PH) if False else '')
def t_custom_codegen():
    class ListCG(fx.graph.CodeGen):
        def gen_fn_def(self,free_vars,maybe_return_annotation):
            return f"def forward(self, args_list: List[torch.Tensor]){maybe_return_annotation}:\n    {', '.join(free_vars)} = args_list"
        def additional_globals(self): return [('List',typing.List)]
        def process_inputs(self,*inputs): assert len(inputs)==1; return inputs[0]
    def f(a,b): return a+b
    gm=symbolic_trace(f); gm.graph.set_codegen(ListCG()); gm.recompile(); print(gm.code); print(gm([1,2])); print(gm.graph._codegen.process_inputs([1,2]))
    print(Interpreter(gm).run([1,2])); d=deepcopy(gm); print(d([1,2])); ng=Transformer(gm).transform(); print(ng.code)
    class T(fx.graph.CodeGen):
        def gen_fn_def(self,fv,ann):
            lst_unpack=f"\n    {', '.join(fv)} = args_list"; return f"def forward(self, args_list){ann}:{lst_unpack}"
        def generate_output(self,o): return f'return {{"r": {o}}}'
        def process_outputs(self,o): return {'r':o}
        def process_inputs(self,x): return x
    gm.graph.set_codegen(T()); gm.recompile(); print(gm.code, gm([1,2]), Interpreter(gm).run([1,2]), Interpreter(gm).run(1,2,enable_io_processing=False))
def t_on_generate_code():
    gm=symbolic_trace(lambda x: x+1)
    def ins(body): return ['# hi\n',*body]
    class X: pass
    with gm.graph.on_generate_code(lambda cur: (lambda body: ins(cur(body) if cur else body))): gm.recompile(); print(gm.code)
    gm.recompile(); print(gm.code)
def t_python_code():
    pc=symbolic_trace(lambda x: torch.relu(x)+operator.add(x,1)).graph.python_code('self'); print(pc.src, sorted(pc.globals), pc._lineno_map)
    pc=symbolic_trace(SimpleTest()).graph.python_code('root'); print(pc.src)
    pc=symbolic_trace(SimpleTest()).graph.python_code('self',verbose=True); print(pc.src)
def t_to_folder():
    m=nn.Sequential(nn.Linear(2,2),nn.ReLU()); m.register_buffer('b',torch.ones(2)); gm=symbolic_trace(m)
    with tempfile.TemporaryDirectory() as d:
        gm.to_folder(d,'Foo'); print(sorted(os.listdir(d))); print(open(d+'/module.py').read().replace(d,'D')); print(open(d+'/__init__.py').read())
def t_to_folder_import():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Conv2d(1,1,1) if False else nn.ReLU()))
    with tempfile.TemporaryDirectory() as d:
        gm.to_folder(os.path.join(d,'foo_mod'),'Foo'); sys.path.insert(0,d)
        import foo_mod; f=foo_mod.Foo(); x=torch.ones(1,2); print(torch.equal(f(x),gm(x))); sys.path.remove(d); del sys.modules['foo_mod']
def t_print_readable():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.ReLU())); gm.print_readable(); shape_prop.ShapeProp(gm).propagate(torch.ones(1,2)); gm.print_readable()
    gm.print_readable(include_stride=True,include_device=True); gm.print_readable(colored=True)
def t_print_readable_nested():
    inner=symbolic_trace(lambda x:x+1); g=fx.Graph(); x=g.placeholder('x'); g.output(g.call_module('inner',(x,))); gm=GraphModule({'inner':inner},g); gm.print_readable()
def t_profiler_markers():
    class T(nn.Module):
        def forward(s,x):
            with torch.profiler.record_function('blk'): return x+1
    try: show(symbolic_trace(T()))
    except Exception as e: print(type(e).__name__,e)
def t_record_fn_ops():
    def f(x):
        h=torch.ops.profiler._record_function_enter('foo',None); y=x+1; torch.ops.profiler._record_function_exit(h); return y
    show(symbolic_trace(f)); print(symbolic_trace(f)(torch.ones(1)))
def t_profiler_insert():
    class Prof(Tracer): pass
    g=Tracer().trace(SimpleTest())
    for n in list(g.nodes):
        if n.op=='call_function':
            with g.inserting_before(n): rec=g.call_function(torch.ops.profiler._record_function_enter,('mark',None))
            with g.inserting_after(n): g.call_function(torch.ops.profiler._record_function_exit,(rec,))
    gm=GraphModule({},g); print(gm.code); print(gm(torch.ones(1))); g.eliminate_dead_code(); print(g)
def t_jit_trace():
    gm=symbolic_trace(SimpleTest()); s=torch.jit.trace(gm,torch.ones(1)); print(s(torch.ones(1)))
def t_pytree_multi():
    def f(x,y): return [x,{'a':y}]
    gm=symbolic_trace(f,concrete_args={'x':(PH,),'y':PH}); show(gm); print(gm((1,),2))
def t_find_nodes():
    g=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.ReLU(),nn.Linear(2,2))).graph; print(g.find_nodes(op='call_module'),g.find_nodes(op='call_module',target='0'),g.find_nodes(op='placeholder'),g.find_nodes(op='output'))
    n=g.find_nodes(op='call_module')[0]; n.target='2'; print(g.find_nodes(op='call_module',target='2')); n.op='call_method'; print(g.find_nodes(op='call_method'))
def t_node_order():
    g=symbolic_trace(lambda x: torch.relu(x)+1).graph; l=list(g.nodes); print(l[0]<l[1],l[1]<l[0],sorted(reversed(l)),max(l), l[0]<=l[0], l[0]>=l[1])
    with g.inserting_before(l[1]): a=g.call_function(torch.neg,(l[0],))
    with g.inserting_before(a): b=g.call_function(torch.neg,(l[0],))
    with g.inserting_after(a): c=g.call_function(torch.neg,(l[0],))
    print(sorted([c,b,a,*l]), a._sort_key,b._sort_key,c._sort_key)
    print(list(reversed(g.nodes)), len(g.nodes), g.nodes)
def t_node_move():
    g=symbolic_trace(lambda x: torch.relu(x)+1).graph; x,r,a,o=g.nodes
    a.append(r); print(list(g.nodes)); 
    try: g.lint()
    except RuntimeError as e: print(e)
    a.prepend(r); g.lint(); print(list(g.nodes)); r.prepend(r); g2=fx.Graph(); q=g2.placeholder('q')
    try: r.prepend(q)
    except AssertionError as e: print(e)
    r.append(r) if False else None
def t_erase():
    g=symbolic_trace(lambda x: torch.relu(x)+1).graph; x,r,a,o=g.nodes
    try: g.erase_node(r)
    except RuntimeError as e: print(e)
    g.erase_node(o); g.erase_node(a); print(list(g.nodes), list(r.users), a._erased)
    g.erase_node(a)
    try: fx.Graph().erase_node(r)
    except RuntimeError as e: print(e)
    for n in reversed(g.nodes): g.erase_node(n)
    print(len(g.nodes))
def t_immutable():
    a=immutable_list([1,2]); d=immutable_dict({'a':1})
    for f in [lambda:a.append(1),lambda:a.__setitem__(0,1),lambda:a.clear(),lambda:a.extend([1]),lambda:a.insert(0,1),lambda:a.pop(),lambda:a.remove(1),lambda:a.reverse(),lambda:a.sort(),lambda:a.__delitem__(0),lambda:a.__iadd__([1]),lambda:a.__imul__(2),lambda:d.__setitem__('b',1),lambda:d.update(b=1),lambda:d.pop('a'),lambda:d.popitem(),lambda:d.clear(),lambda:d.setdefault('a',1),lambda:d.__delitem__('a'),lambda:d.__ior__({'a':2})]:
        try: print(f())
        except Exception as e: print(type(e).__name__,e)
    print(hash(a) is not None,hash(d) is not None, a,d, a+[1],d|{'b':2}, type(a+[1]), copy.copy(a),deepcopy(d),type(deepcopy(a)), pickle.loads(pickle.dumps(a)), type(pickle.loads(pickle.dumps(d))), a==[1,2], a==immutable_list([1,2]), type(a[0:1]), type(d.copy()))
    print(pytree.tree_flatten(a), pytree.tree_map(lambda x:x+1,d), type(pytree.tree_map(lambda x:x+1,d)))
    print(fx.node.map_aggregate([1,(2,{'a':3}),slice(1,2),Pair(1,2)],lambda x:x+1 if isinstance(x,int) else x))
def t_dce():
    g=fx.Graph(); x=g.placeholder('x'); u=g.placeholder('unused'); a=g.call_function(torch.relu,(x,)); b=g.call_function(torch.neg,(x,)); c=g.call_function(torch.neg,(b,)); d=g.call_function(torch._assert,(x,'m')); e=g.call_method('add_',(x,1)); f=g.call_function(operator.setitem,(x,0,1)); h=g.call_function(torch.rand,(3,)); g.call_function(torch.ops.aten.add_.Tensor,(x,1)); g.call_function(torch.ops.aten.add.Tensor,(x,1)); g.get_attr('p'); g.call_function(torch.manual_seed,(0,)); g.call_function(torch.dropout,(x,.5,True)); g.call_function(F.dropout,(x,)); g.call_function(operator.iadd,(x,1)); g.call_function(print,(x,)); g.call_function(torch.add,(x,1),{'out':x})
    g.output(a); gm=GraphModule(nn.Module(),g) if False else None; print(g.eliminate_dead_code()); print(g)
    for n in g.nodes: print(n,n.is_impure() if n.op!='call_module' else '')
    print(g.eliminate_dead_code(), g.eliminate_dead_code(is_impure_node=lambda n:n.op in('placeholder','output')), g)
def t_dce_module():
    class Imp(nn.Module):
        _is_impure=True
        def forward(s,x): return x
    g=fx.Graph(); x=g.placeholder('x'); g.call_module('a',(x,)); g.call_module('b',(x,)); g.output(x); gm=GraphModule({'a':nn.ReLU(),'b':nn.Linear(1,1) if False else nn.Tanh()},g); print(gm.graph.eliminate_dead_code(),gm.graph)
    class MI(nn.ReLU): pass
    g=fx.Graph(); x=g.placeholder('x'); g.call_module('a',(x,)); g.output(x); m=MI(); m._is_impure=True; gm=GraphModule({'a':m},g); print(gm.graph.eliminate_dead_code(),gm.graph)
def t_lint():
    g=fx.Graph(); x=g.placeholder('x'); y=g.call_function(torch.relu,(x,)); g.output(y)
    y.name='x'
    try: g.lint()
    except RuntimeError as e: print(e)
    g=fx.Graph(); x=g.placeholder('x'); g.call_module('aa.bb',(x,)); g.output(x); gm=GraphModule({'aa.bb':nn.ReLU()},g)
    for t in ['aa.cc','zz','aa.bb.inplace']:
        list(gm.graph.nodes)[1].target=t
        try: gm.graph.lint(); print('ok')
        except Exception as e: print(type(e).__name__, e)
    g=fx.Graph(); g.get_attr('p.q'); g.output(1); gm=GraphModule({'p.q':torch.ones(1)},g); gm.graph.lint()
    for t in ['p','p.r','zz']:
        list(gm.graph.nodes)[0].target=t
        try: gm.graph.lint(); print('ok')
        except Exception as e: print(type(e).__name__, e)
    g=fx.Graph(); x=g.placeholder('x'); g2=fx.Graph(); z=g2.placeholder('z'); g.output(z)
    try: g.lint()
    except RuntimeError as e: print(e)
    g=fx.Graph(); n=g.placeholder('x'); g.output(n); n.op='foo'
    try: g.lint()
    except Exception as e: print(type(e).__name__,e)
def t_insert_warn():
    gm=symbolic_trace(SimpleTest())
    import warnings
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always'); gm.graph.get_attr('zz.a'); print([str(x.message) for x in w])
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: gm.graph.call_module('zz.a')
        except Exception as e: print(type(e).__name__,e)
        print([str(x.message) for x in w])
    gm.qq=torch.ones(1)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always'); gm.graph.get_attr('qq'); print([str(x.message) for x in w])
def t_throw_out():
    class T(Tracer): check_mutable_operations=True
    def f(x): y=torch.rand_like(x); torch.sigmoid(x,out=y); return y
    try: T().trace(f)
    except RuntimeError as e: print(e)
    for g in [lambda x:x.add_(1), lambda x: torch.relu_(x), lambda x: F.relu(x,inplace=True), lambda x: torch.ops.aten.add_.Tensor(x,1), lambda x: torch.add(x,1,out=x), lambda x: torch.nn.init.zeros_(x), lambda x: x.t_()]:
        try: print(T().trace(g))
        except Exception as e: print(type(e).__name__,e)
def t_update_yells():
    gm=symbolic_trace(SimpleTest()); n=[n for n in gm.graph.nodes if n.op=='call_function'][0]
    for f in [lambda: n.args.__setitem__(0,1), lambda: n.kwargs.__setitem__('a',1)]:
        try: f()
        except Exception as e: print(type(e).__name__,e)
def t_trace_dict_int():
    class M(nn.Module):
        def forward(s,d): return torch.neg(d[42])
    class C(nn.Module):
        def __init__(s): super().__init__(); s.m=M()
        def forward(s,x): return s.m({42:x})
    class T(Tracer):
        def is_leaf_module(s,m,n): return isinstance(m,M)
    c=C(); g=T().trace(c); print(g); print(GraphModule(c,g).code)
def t_trace_dict_proxy_keys():
    class M(nn.Module):
        def forward(s,d): return d
    class C(nn.Module):
        def __init__(s): super().__init__(); s.m=M()
        def forward(s,x): return s.m({x:1})
    class T(Tracer):
        def is_leaf_module(s,m,n): return isinstance(m,M)
    try: T().trace(C())
    except RuntimeError as e: print(e)
def t_trace_fn_constant():
    some=torch.rand(3)*0
    def f(x): return some+x
    gm=symbolic_trace(f); print(gm(torch.ones(3)), [n.target for n in gm.graph.nodes if n.op=='get_attr'], gm)
def t_typename():
    g=fx.Graph(); x=g.placeholder('x'); r=g.call_function(torch.relu,(x,),type_expr=List[float]); o=g.output(r); print(g, GraphModule({},g).code)
    FileCheck().check('typing.List[float]').run(str(g))
    g=fx.Graph(); x=g.placeholder('x',type_expr=torch.Tensor); r=g.call_function(torch.relu,(x,),type_expr=list[int]); q=g.call_method('foo',(r,),type_expr=Optional[int]); g.output(q,type_expr=Dict[str,int]); print(g, GraphModule({},g).code)
def t_type_expr_local():
    class Loc: pass
    g=fx.Graph(); x=g.placeholder('x',type_expr=Loc); y=g.call_function(torch.relu,(x,),type_expr=List[Loc]); g.output(y)
    gm=GraphModule({},g); print(gm.code);
def t_layer_meta():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Sequential(nn.ReLU())))
    for n in gm.graph.nodes: print(n, n.meta.get('nn_module_stack'))
def t_module_stack():
    class A(nn.Module):
        def forward(s,x): return x+1
    class B(nn.Module):
        def __init__(s): super().__init__(); s.a=A(); s.l=nn.ModuleList([A(),A()])
        def forward(s,x):
            for m in s.l: x=m(x)
            return s.a(x)
    t=Tracer(); g=t.trace(B())
    for n in g.nodes: print(n, [(k,v[0],getattr(v[1],'__name__',v[1])) for k,v in n.meta.get('nn_module_stack',{}).items()])
    print({k:(v[0],getattr(v[1],'__name__',v[1])) for k,v in t.node_name_to_scope.items()})
def t_shape_prop():
    class C(nn.Module):
        def __init__(s): super().__init__(); s.c=nn.Conv2d(3,4,3); s.b=nn.BatchNorm2d(4)
        def forward(s,x): y=s.b(s.c(x)); return y.relu(), {'a': y.sum(), 'b':[y.size(0)]}
    gm=symbolic_trace(C()); r=ShapeProp(gm).propagate(torch.rand(1,3,5,5))
    for n in gm.graph.nodes: print(n, n.meta.get('tensor_meta'), n.meta.get('type'))
    ShapeProp(gm).propagate(torch.rand(1,3,5,5).to(memory_format=torch.channels_last))
    for n in gm.graph.nodes: print(n, n.meta.get('tensor_meta').memory_format if hasattr(n.meta.get('tensor_meta'),'memory_format') else '')
def t_shape_prop_agg():
    class R(nn.Module):
        def forward(s,x): return x.shape, x.stride(), torch.topk(x,1), [x,x]
    gm=symbolic_trace(R()); ShapeProp(gm).propagate(torch.ones(3)); 
    for n in gm.graph.nodes: print(n,n.meta)
def t_shape_prop_err():
    gm=symbolic_trace(lambda x,y: torch.mm(x,y))
    try: ShapeProp(gm).propagate(torch.ones(2,3),torch.ones(2,3))
    except Exception as e: print(type(e).__name__, str(e).split('\n')[0]); print(type(e.__cause__).__name__)
def t_nn_module_stack_transform():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.ReLU())); t=Transformer(gm).transform()
    for n in t.graph.nodes: print(n, n.meta.get('nn_module_stack'))
def t_proxy_repr():
    g=fx.Graph(); p=Proxy(g.placeholder('x')); print(repr(p), p, p.node, type(p.tracer).__name__, repr(p.foo), (p+1).node.format_node(), p.foo.node, p.foo(1).node.format_node(), (-p).node.format_node(), p.__getattr__('bar').attr)
    print((p<1).node.format_node(), (1<p).node.format_node(), (1-p).node.format_node(), (p@p).node.format_node(), (p//2).node.format_node(),(2//p).node.format_node(),(p<<1).node.format_node(),(1<<p).node.format_node(), divmod(p,2) if False else '', (p!=1).node.format_node(), round(p) if False else '')
    print(p(1,a=2).node.format_node(), p[1:2].node.format_node(), p.keys().node.format_node(), abs(p).node.format_node(), (~p).node.format_node())
def t_proxy_more():
    g=fx.Graph(); p=Proxy(g.placeholder('x'))
    for f in [lambda:divmod(p,2),lambda:round(p),lambda:math.floor(p),lambda:math.trunc(p),lambda:pow(p,2,3),lambda:complex(p),lambda:bytes(p),lambda:list(p),lambda:len(p),lambda:hash(p) and 'h',lambda:p.__index__(),lambda:reversed(p),lambda:next(p),lambda:p.__setitem__(0,1), lambda: p.__contains__(1), lambda: copy.copy(p),lambda: p==None,lambda: p is None,lambda: isinstance(p,torch.Tensor),lambda: torch.is_tensor(p),lambda: p.__class__.__name__,lambda: p.__len__(), lambda: p.__dict__.keys(), lambda: setattr(p,'foo',1), lambda: p.foo, lambda: delattr(p,'foo'), lambda: operator.index(p), lambda: p.__torch_function__, lambda: pickle.dumps(p) and 1, lambda: dir(p)[:3], lambda: format(p,'>10'), lambda: p.__name__, lambda: p.__module__, lambda: iter(p), lambda: p.__enter__(), lambda: deepcopy(p)]:
        try: r=f(); print(r.node.format_node() if isinstance(r,Proxy) else re.sub(' at 0x.*','',str(r)))
        except Exception as e: print(type(e).__name__, str(e)[:100])
def t_replace_uses_loop():
    gm=symbolic_trace(lambda x: torch.relu(x)); 
    for n in gm.graph.nodes:
        if n.target is torch.relu:
            with gm.graph.inserting_after(n):
                nn_=gm.graph.call_function(torch.neg,n.args); n.replace_all_uses_with(nn_)
            gm.graph.erase_node(n)
    gm.recompile(); print(gm.code, gm(torch.ones(1)))
def t_wrapped_method():
    class A:
        def m(s,x): return x+1
    fx._symbolic_trace._wrapped_methods_to_patch.append((A,'m'))
    a=A()
    try: show(symbolic_trace(lambda x: A.m(x,x)))
    finally: fx._symbolic_trace._wrapped_methods_to_patch.pop()
def t_call_to_assert():
    def f(a,b):
        assert a==b
        return a+b
    try: symbolic_trace(f)
    except Exception as e: print(type(e).__name__,e)
    def f2(a,b):
        torch._assert(a==b,'test message'); return a+b
    gm=symbolic_trace(f2); show(gm); print(gm(3,3))
    try: gm(3,5)
    except Exception as e: print(type(e).__name__,e)
def rewritable(a,b):
    assert a==b, 'test message'
    return a+b
def rewritable2(a,b):
    assert a==b
    return a+b
class AnnM(nn.Module):
    def forward(self,x,y):
        z: int = x+y
        w: Optional[torch.Tensor] = z*2
        return w
def t_rewriter_ann():
    m=AnnM(); g=RewritingTracer().trace(m); print(g); print(GraphModule(m,g).code)
def t_annotate():
    gm=symbolic_trace(lambda x: annotate(x+1,int)*2); show(gm)
    try: symbolic_trace(lambda x: annotate(annotate(x+1,int),str))
    except Exception as e: print(type(e).__name__,e)
    print(annotate(3,int))
class ImpureM(nn.Module):
    def forward(s,x): return x
def t_pickle_custom_import():
    g=fx.Graph(); a=g.placeholder('x'); b=g.placeholder('y'); c=g.call_function(a_non_torch_leaf,(a,b)); d=g.call_function(torch.sin,(c,)); g.output(d); gm=GraphModule({},g); l=pickle.loads(pickle.dumps(gm)); x,y=torch.rand(1),torch.rand(1); print(torch.equal(l(x,y),gm(x,y)), l.code); print(gm.__reduce__()[1][1])
def a_non_torch_leaf(a,b): return a+b
class CustomTracer(Tracer):
    def is_leaf_module(s,m,q): return type(m).__name__=='TestLeaf' or super().is_leaf_module(m,q)
class TestLeaf(nn.Module):
    def forward(s,x): return x+1 if x.sum()>0 else x
def t_pickle_custom_tracer():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=TestLeaf()
        def forward(s,x): return s.l(x)*2
    m=M(); g=CustomTracer().trace(m); gm=GraphModule(m,g); print(gm._tracer_cls.__name__ if gm._tracer_cls else None, g._tracer_cls.__name__); l=pickle.loads(pickle.dumps(gm)); print(l.code, l.graph._tracer_cls.__name__); d=deepcopy(gm); print(d.graph._tracer_cls.__name__)
def t_pickle_local_tracer():
    class LT(CustomTracer): pass
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=TestLeaf()
        def forward(s,x): return s.l(x)*2
    m=M(); gm=GraphModule(m,LT().trace(m)); print(gm._tracer_cls)
    try: pickle.loads(pickle.dumps(gm))
    except Exception as e: print(type(e).__name__,str(e)[:100])
def t_pickle_torch_save():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2))); b=io.BytesIO(); torch.save(gm,b); b.seek(0); l=torch.load(b,weights_only=False); print(l.code, torch.equal(l(torch.ones(1,2)),gm(torch.ones(1,2))))
def t_pickle_graph():
    g=symbolic_trace(SimpleTest()).graph
    try: l=pickle.loads(pickle.dumps(g)); print(l)
    except Exception as e: print(type(e).__name__,e)
def t_pickle_node():
    n=list(symbolic_trace(lambda x: operator.add(x,1)).graph.nodes)[1]
    try: l=pickle.loads(pickle.dumps(n)); print(l, l.format_node(), l.args)
    except Exception as e: print(type(e).__name__,e)
def t_node_repr_fn():
    n=list(symbolic_trace(SimpleTest()).graph.nodes)[1]; n._repr_fn=lambda n:'ZZ'; print(repr(n), str(n), [n], n.graph)
def t_format_arg():
    class C:
        def _custom_fx_repr_fn(s): return 'CUSTOM'
    n=list(symbolic_trace(SimpleTest()).graph.nodes)[1]
    for a in [[1,2],(1,),(1,2),{'a':n},n,C(),immutable_list([n,1]),[1,2,3,4,5],'s',slice(n,None),None,torch.float32]: print(_format_arg(a), _format_arg(a,max_list_len=3))
def t_subgraph_creation():
    from torch.fx.passes.split_module import split_module
    class M(nn.Module):
        def __init__(s): super().__init__(); s.param=nn.Parameter(torch.rand(3,4)); s.linear=nn.Linear(4,5)
        def forward(s,x,y): z=s.linear(x+s.param).clamp(min=0,max=1); w=s.linear(y).clamp(min=0,max=1); return z+w
    m=M(); gm=symbolic_trace(m); c=[0]
    def cb(n): c[0]=(c[0]+1)%3; return c[0]
    s=split_module(gm,m,cb); print(s.code, s.graph); 
    for n,sub in s.named_children(): print(n, getattr(sub,'code',None))
    x,y=torch.rand(3,4),torch.rand(3,4); print(torch.equal(s(x,y),gm(x,y)))
def t_enum():
    from enum import Enum
    class Foo(Enum): A=1; B=2
    try: gm=symbolic_trace(lambda x: leaf_enum(x,EnumG.B)); show(gm); print(gm(torch.ones(1)))
    except Exception as e: print(type(e).__name__,e)
class EnumG(enum.Enum): A=1; B=2
@wrap
def leaf_enum(x,e): return x+e.value
@wrap
def leaf_any(x,e): return x
@dataclasses.dataclass
class DC: a:int; b:torch.Tensor
@dataclasses.dataclass(frozen=True)
class DCF: a:int; b:torch.Tensor
def t_dataclass():
    gm=symbolic_trace(lambda x: leaf_any(x,DC(1,x))); print(gm.graph); print(gm.code); print(gm(torch.ones(1)))
    gm=symbolic_trace(lambda x: leaf_any(x,DCF(1,x))); print(gm.code)
def t_namedtuple_arg():
    gm=symbolic_trace(lambda x: leaf_any(x,Foo2(x,[x]))); show(gm)
    gm=symbolic_trace(lambda x: Foo2(x,x+1)); show(gm); print(gm(torch.ones(1)))
    gm=symbolic_trace(lambda x: Pair(x,x+1)); show(gm); print(gm(torch.ones(1)))
def t_return_tuple():
    for f in [lambda x:(x,x+x), lambda x:(x,), lambda x:[x], lambda x:{'a':x}, lambda x:None, lambda x:3, lambda x:'s', lambda x: (), lambda x: ((x,),[x,{}])]:
        gm=symbolic_trace(f); show(gm); print(gm(torch.ones(1)))
def t_fx_create_arg():
    class CA:
        def __init__(s,a): s.a=a
        def __fx_create_arg__(s,tracer): return tracer.create_node('call_function',CA,args=(tracer.create_arg(s.a),),kwargs={})
    gm=symbolic_trace(lambda x: leaf_any(x,CA(x))); print(gm.graph);
def t_bad_arg():
    class B: pass
    for b in [B(), [B()], object]:
        try: symbolic_trace(lambda x: leaf_any(x,b)); print('ok')
        except Exception as e: print(type(e).__name__, str(e)[:80])
def t_lambda_arg():
    gm=symbolic_trace(lambda x: leaf_any(x,math.sqrt)); show(gm)
    gm=symbolic_trace(lambda x: leaf_any(x,torch.nn.functional.relu)); show(gm)
def t_immutable_out():
    gm=symbolic_trace(lambda x: [x,{'a':x}]); r=gm(torch.ones(1)); print(type(r),type(r[1]))
    r=Interpreter(gm).run(torch.ones(1)); print(type(r),type(r[1]))
def t_empty_graph_codegen():
    g=fx.Graph(); print(g.python_code('self').src); print(repr(str(g)))
def t_no_output():
    g=fx.Graph(); x=g.placeholder('x'); g.call_function(torch.relu,(x,)); gm=GraphModule({},g); print(gm.code, gm(torch.ones(1)))
    try: g.output_node()
    except Exception as e: print(type(e).__name__,e)
def t_snake():
    from torch.fx.graph import _snake_case
    for s in ['AbcDef','ABCDef','aB','foo2Bar','XMLHttp','Linear1D','conv2d','__add__','A']: print(_snake_case(s))
def t_normalize_args():
    gm=symbolic_trace(lambda x: torch.add(x,1,alpha=2)+F.relu(x)); 
    for n in gm.graph.nodes: print(n.normalized_arguments(gm), n.normalized_arguments(gm,normalize_to_only_use_kwargs=True) if n.op=='call_function' else '')
def t_normalize_mod():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Conv2d(1,1,1),nn.ReLU(),nn.BatchNorm2d(1),nn.LSTM(1,1),nn.Dropout(),nn.Embedding(2,2),nn.MultiheadAttention(2,1)) if False else nn.Sequential(nn.Linear(2,2),nn.ReLU(),nn.BatchNorm1d(2),nn.Dropout()))
    for n in gm.graph.nodes: print(n.normalized_arguments(gm), n.normalized_arguments(gm,normalize_to_only_use_kwargs=True) if n.op=='call_module' else '')
def t_prepend_self():
    g=fx.Graph(); x=g.placeholder('x'); x.prepend(x); print(list(g.nodes)); x.append(x); print(list(g.nodes))
def t_move_before_multi():
    g=fx.Graph(); x=g.placeholder('x'); a=g.call_function(torch.relu,(x,)); b=g.call_function(torch.neg,(x,)); o=g.output((a,b)); a.prepend(b); g.lint(); print(g); x.append(a); print(list(g.nodes), len(g.nodes))
def t_inserting_ctx():
    g=fx.Graph(); x=g.placeholder('x'); o=g.output(x)
    with g.inserting_before(): print(g.placeholder('first'))
    with g.inserting_after(): print(g.placeholder('last'))
    with g.inserting_before(x) as q: print(q); g.call_function(torch.relu,(x,))
    g.inserting_after(x); g.call_function(torch.neg,(x,)); g.call_function(torch.exp,(x,)); print(list(g.nodes))
    try:
        with g.inserting_before(o): raise ValueError('a')
    except ValueError: pass
    g.call_function(torch.abs,(x,)); print(list(g.nodes))
def t_graph_copy():
    g=symbolic_trace(SimpleTest()).graph; h=fx.Graph(); vm={}; r=h.graph_copy(g,vm); h.output(h.call_function(torch.neg,(r,))); print(h, {str(k):str(v) for k,v in vm.items()}); h.lint(); h2=fx.Graph(); print(h2.graph_copy(g,{},return_output_node=True))
def t_hooks():
    gm=symbolic_trace(SimpleTest()); log=[]
    for r in ['_register_create_node_hook','_register_erase_node_hook','_register_replace_node_hook','_register_deepcopy_hook']: print(r, hasattr(gm,r))
    gm._register_create_node_hook(lambda n: log.append(('c',n.name))); gm._register_erase_node_hook(lambda n: log.append(('e',n.name))); gm._register_replace_node_hook(lambda old,new,user: log.append(('r',old.name,new,user.name)))
    ns=list(gm.graph.nodes)
    with gm.graph.inserting_after(ns[1]): k=gm.graph.call_function(torch.neg,(ns[0],))
    ns[1].replace_all_uses_with(k); gm.graph.erase_node(ns[1]); k.name='zz'; k.replace_input_with(ns[0],ns[0]); print(log)
    c=deepcopy(gm); print(len(c._create_node_hooks), c._replace_hooks)
    with gm._set_create_node_hook(lambda n:None) if hasattr(gm,'_set_create_node_hook') else gm._set_replace_hook(lambda **k:None): print(len(gm._replace_hooks))
    print(len(gm._replace_hooks))
def t_replace_prop_meta():
    g=symbolic_trace(SimpleTest()).graph; n=list(g.nodes)[1]; n.meta['q']=1
    with g.inserting_after(n): k=g.call_function(torch.neg,(n,)); 
    n.replace_all_uses_with(k,propagate_meta=True); print(k.meta, k.args)
    try: n.replace_all_uses_with(k,propagate_meta=True)
    except Exception as e: print(type(e).__name__,e)
def t_gm_traceback():
    gm=symbolic_trace(lambda x,y: torch.mm(x,y))
    try: gm(torch.ones(2,3),torch.ones(2,3))
    except Exception as e: print([ (f.name, f.line) for f in traceback.extract_tb(e.__traceback__) if 'eval_with_key' in f.filename])
def t_custom_traceback_leaf():
    class L(nn.Module):
        def forward(s,x): raise ValueError('inner')
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=L()
        def forward(s,x): return s.l(x)
    class T(Tracer):
        def is_leaf_module(s,m,q): return True
    m=M(); gm=GraphModule(m,T().trace(m))
    import contextlib; err=io.StringIO()
    with contextlib.redirect_stderr(err):
        try: gm(1)
        except ValueError as e: print(e)
    print('eval_with_key' in err.getvalue(), err.getvalue()[:100])
def t_parametrize():
    import torch.nn.utils.parametrize as P
    class Sym(nn.Module):
        def forward(s,X): return X.triu()+X.triu(1).mT if False else X*2
    l=nn.Linear(2,2); P.register_parametrization(l,'weight',Sym()); 
    m=nn.Sequential(l)
    gm=symbolic_trace(m); print(gm.graph); print(gm(torch.ones(1,2)).shape)
    class F2(nn.Module):
        def __init__(s): super().__init__(); s.l=l
        def forward(s,x): return F.linear(x,s.l.weight)
    gm=symbolic_trace(F2()); show(gm); print(gm(torch.ones(1,2)).shape)
def t_weight_norm():
    l=nn.utils.weight_norm(nn.Linear(2,2)); gm=symbolic_trace(nn.Sequential(l)); print(gm.code)
def t_hooks_mod():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.ReLU()
        def forward(s,x): return s.a(x)
    m=M(); m.register_forward_hook(lambda mod,i,o:o+1); m.a.register_forward_hook(lambda mod,i,o:o*2); gm=symbolic_trace(m); show(gm)
def t_no_grad_ctx():
    def f(x):
        with torch.no_grad(): y=x+1
        return y
    show(symbolic_trace(f))
def t_autocast_ctx():
    def f(x):
        with torch.autocast('cpu'): y=x+1
        return y
    show(symbolic_trace(f))
def t_checkpoint():
    from torch.utils.checkpoint import checkpoint
    def f(x): return checkpoint(torch.relu,x,use_reentrant=False)
    try: show(symbolic_trace(f))
    except Exception as e: print(type(e).__name__,str(e)[:80])
def t_autograd_fn():
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx,x): return x*2
        @staticmethod
        def backward(ctx,g): return g*2
    try: show(symbolic_trace(lambda x: Fn.apply(x)))
    except Exception as e: print(type(e).__name__,str(e)[:80])
def t_sequential_tracing():
    gm=symbolic_trace(nn.Sequential(nn.Conv2d(1,1,1))); print(gm); print(gm.code)
    class M(nn.Module):
        def __init__(s): super().__init__(); s.features=nn.Sequential(nn.Conv2d(1,1,1),nn.ReLU())
        def forward(s,x): return s.features[1](s.features[0](x))
    show(symbolic_trace(M()))
    class M2(M):
        def forward(s,x):
            for m in s.features[:1]: x=m(x)
            return x
    show(symbolic_trace(M2()))
def run(f,pat,rep,*a):
    gm=symbolic_trace(f) if not isinstance(f,GraphModule) else f
    r=subgraph_rewriter.replace_pattern(gm,pat,rep)
    print(len(r), [(str(m.anchor),{str(k):str(v) for k,v in m.nodes_map.items()}) for m in r]); print(gm.graph); print(gm.code); gm.graph.lint()
    if a:
        try: print(gm(*a))
        except Exception as e: print(type(e).__name__,e)
@wrap
def wrapped_gemm(a,b): return torch.matmul(a,b)
def t_single():
    def f(x):
        v=torch.neg(x)+torch.relu(x); return torch.add(v,v)
    run(f, lambda x: torch.neg(x)+torch.relu(x), lambda x: torch.relu(x), torch.ones(2))
def t_multi():
    def f(x):
        v1=torch.sigmoid(x); v2=torch.sigmoid(v1); return v2.sigmoid()+torch.sigmoid(v2)
    run(f, lambda x: torch.sigmoid(x), lambda x: torch.tanh(x)+1, torch.ones(2))
def t_overlap():
    def f(x):
        return torch.neg(torch.neg(torch.neg(x)))
    run(f, lambda x: torch.neg(torch.neg(x)), lambda x: torch.relu(x), torch.ones(2))
def t_multi_out():
    def f(x): y=torch.relu(x); z=torch.neg(y); return y+z
    def pat(x): y=torch.relu(x); return y, torch.neg(y)
    def rep(x): y=torch.sigmoid(x); return y,torch.exp(y)
    run(f,pat,rep,torch.ones(2))
def t_multi_out2():
    def f(x): y=torch.relu(x); z=torch.neg(y); return y+z
    def pat(x): y=torch.relu(x); return torch.neg(y)
    run(f,pat,lambda x: torch.exp(x),torch.ones(2))
def t_graph_arg_order():
    def f(x,w1): return torch.add(torch.mm(x,w1),1)
    run(f,lambda x,y: torch.mm(x,y),lambda x,y: torch.mm(y,x))
def t_swap():
    run(lambda x,y: x+y*2, lambda a,b: a+b, lambda a,b: b-a, torch.ones(1),torch.ones(1))
def t_consts():
    run(lambda x,y: x+1+y.sum(dim=0), lambda a,b: a+1, lambda a,b: b)
def t_literal_arg():
    run(lambda x: torch.add(x,1)+torch.add(x,2), lambda a: torch.add(a,2), lambda a: a*5, torch.ones(1))
def t_kwargs():
    run(lambda x: torch.sum(x,dim=0)+torch.sum(x,dim=1), lambda a: torch.sum(a,dim=1), lambda a: torch.mean(a,dim=1))
def t_method():
    run(lambda x: x.relu().view(1,-1).relu(), lambda a: a.relu(), lambda a: torch.relu(a))
def t_module():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=nn.Linear(2,2); s.r=nn.ReLU(); s.p=nn.Parameter(torch.ones(2))
        def forward(s,x): return s.r(s.l(x))+s.p
    class P(nn.Module):
        def __init__(s): super().__init__(); s.l=nn.Linear(2,2); s.r=nn.ReLU()
        def forward(s,x): return s.r(s.l(x))
    class R(nn.Module):
        def __init__(s): super().__init__(); s.l=nn.Linear(2,2); s.t=nn.Tanh()
        def forward(s,x): return s.t(s.l(x))
    gm=symbolic_trace(M()); r=subgraph_rewriter.replace_pattern(gm,P(),R()); print(len(r),gm.code,gm, [n for n,_ in gm.named_modules()])
    gm.graph.lint()
def t_getattr_replacement():
    class R(nn.Module):
        def __init__(s): super().__init__(); s.w=nn.Parameter(torch.ones(2)); s.register_buffer('b',torch.ones(2)); s.q=torch.ones(2)
        def forward(s,x): return x*s.w+s.b+s.q
    gm=symbolic_trace(lambda x: torch.relu(x)); subgraph_rewriter.replace_pattern(gm,lambda x: torch.relu(x),R()); print(gm.code, [n for n,_ in gm.named_parameters()],[n for n,_ in gm.named_buffers()], gm.q, gm(torch.ones(2)))
def t_whole():
    run(lambda x: torch.relu(x), lambda x: torch.relu(x), lambda x: torch.neg(x), torch.ones(1))
def t_placeholder_match():
    run(lambda x,y: torch.add(x,y), lambda a: torch.add(a,a), lambda a: torch.neg(a))
def t_none():
    run(lambda x: x+1, lambda a: torch.relu(a), lambda a: a)
def t_pat_unused():
    run(lambda x,y: torch.relu(x)+y, lambda a,b: torch.relu(a), lambda a,b: torch.neg(a))
def t_external_use():
    def f(x): y=torch.relu(x); z=torch.neg(y); return z+y
    run(f, lambda a: torch.neg(torch.relu(a)), lambda a: torch.exp(a))
def t_wrapped():
    run(lambda a,b: wrapped_gemm(a,b)+1, lambda a,b: wrapped_gemm(a,b), lambda a,b: torch.mm(a,b), torch.ones(1,1),torch.ones(1,1))
def t_getitem():
    def f(x): a,b=torch.split(x,1); return a+b
    def pat(x): s=torch.split(x,1); return s[0],s[1]
    def rep(x): s=torch.chunk(x,2); return s[1],s[0]
    run(f,pat,rep,torch.ones(2,1))
def t_slice_pattern():
    run(lambda x: x[:,1:]+x[0], lambda a: a[:,1:], lambda a: a[:,2:])
def t_filters():
    def f(x): return torch.relu(x)+torch.relu(x+1)
    def flt(match,orig,pat): return [n for n in match.nodes_map.values() if isinstance(n,Node) and n.op=='placeholder']!=[]
    gm=symbolic_trace(f); r=subgraph_rewriter.replace_pattern_with_filters(gm,lambda a: torch.relu(a),lambda a: torch.neg(a),[flt]); print(r[0].anchor, [str(x) for x in r[0].replacements], gm.code, len(r))
    gm=symbolic_trace(f); r=subgraph_rewriter.replace_pattern_with_filters(gm,lambda a: torch.relu(a),lambda a: torch.neg(a),[]); print(gm.code,len(r))
def t_ignore_literals():
    gm=symbolic_trace(lambda x: torch.add(x,3)+torch.add(x,4)); r=subgraph_rewriter.replace_pattern_with_filters(gm,lambda x: torch.add(x,1),lambda x: torch.sub(x,7),[],ignore_literals=True); print(gm.code,len(r))
def t_callback():
    gm=symbolic_trace(lambda x: torch.add(x,3)+torch.add(x,4))
    def cb(match,og,pg):
        g=fx.Graph(); a=g.placeholder('x'); g.output(g.call_function(torch.sub,(a,9))); return g
    r=subgraph_rewriter.replace_pattern_with_filters(gm,lambda x: torch.add(x,3),None,[],replacement_callback=cb); print(gm.code,len(r))
def t_graph_patterns():
    pg=symbolic_trace(lambda x: torch.relu(x)).graph; rg=symbolic_trace(lambda x: torch.neg(x)); gm=symbolic_trace(lambda x: torch.relu(x)+1); subgraph_rewriter.replace_pattern(gm,pg,rg); print(gm.code)
def t_match_api():
    m=subgraph_rewriter.Match(anchor=list(fx.symbolic_trace(lambda x:x).graph.nodes)[0],nodes_map={}); print(m)
def t_matcher():
    pg=symbolic_trace(lambda x: torch.relu(x)+1).graph; tg=symbolic_trace(lambda x: torch.relu(x)+1).graph
    m=SubgraphMatcher(pg,match_output=False,match_placeholder=False,remove_overlapping_matches=True); r=m.match(tg); print(len(r),[str(a) for a in r[0].anchors],{str(k):str(v) for k,v in r[0].nodes_map.items()},r[0].placeholder_nodes,r[0].returning_nodes,r[0].name_node_map)
    r=SubgraphMatcher(pg,match_output=True,match_placeholder=True).match(tg); print(len(r), r)
    try: SubgraphMatcher(fx.Graph())
    except Exception as e: print(type(e).__name__,e)
    print(SubgraphMatcher(pg).pattern_anchors, SubgraphMatcher(pg).pattern_returning_nodes, SubgraphMatcher(pg).pattern_placeholder_nodes)
def t_matcher_overlap():
    pg=symbolic_trace(lambda x: torch.neg(torch.neg(x))).graph; tg=symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(torch.neg(x))))).graph
    for o in (True,False): print(len(SubgraphMatcher(pg,remove_overlapping_matches=o).match(tg)))
def t_matcher_disjoint():
    def pat(x,y): return torch.relu(x),torch.neg(y)
    tg=symbolic_trace(lambda a,b,c: torch.relu(a)+torch.neg(b)+torch.relu(c)).graph
    r=SubgraphMatcher(symbolic_trace(pat).graph).match(tg); print(len(r),[{str(k):str(v) for k,v in m.nodes_map.items()} for m in r])
def t_pass_manager():
    from torch.fx.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint, pass_result_wrapper
    from torch.fx.passes.infra.pass_base import PassResult, PassBase
    class P1(PassBase):
        def call(s,gm):
            ch=False
            for n in gm.graph.nodes:
                if n.target==operator.add: n.target=operator.mul; ch=True
            return PassResult(gm,ch)
        def requires(s,gm): print('req')
        def ensures(s,gm): print('ens')
    def p2(gm):
        for n in gm.graph.nodes:
            if n.target==operator.mul: n.target=operator.sub
        return PassResult(gm,True)
    gm=symbolic_trace(lambda x: x+1)
    pm=PassManager(passes=[P1(),p2],run_checks_after_each_pass=True); r=pm(gm); print(r.modified,r.graph_module.code)
    pm=PassManager(passes=[p2,P1()],constraints=[this_before_that_pass_constraint(P1,p2)] if False else []); pm.validate_constraints(); print([getattr(p,'__name__',type(p).__name__) for p in pm.passes])
    pm=PassManager(steps=2); pm.add_pass(P1()); print(pm(symbolic_trace(lambda x:x+1)).graph_module.code)
    def bad(gm): raise RuntimeError('bad pass')
    try: PassManager(passes=[bad])(gm)
    except Exception as e: print(type(e).__name__,e)
    def none(gm): pass
    try: PassManager(passes=[none])(gm)
    except Exception as e: print(type(e).__name__,e)
    try: PassManager(passes=[pass_result_wrapper(none)])(gm); print('ok')
    except Exception as e: print(type(e).__name__,e)
    def chk(gm): raise RuntimeError('chk')
    pm=PassManager(passes=[p2]); pm.add_checks(chk)
    try: pm(gm); pm=PassManager(passes=[p2],run_checks_after_each_pass=True); pm.add_checks(chk); pm(gm)
    except Exception as e: print(type(e).__name__,e)
    try: pm.add_checks(lambda a,b:1)
    except Exception as e: print(type(e).__name__,e)
def t_split_variants():
    from torch.fx.passes.split_module import split_module
    class M(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Linear(2,2); s.b=nn.Sequential(nn.Linear(2,2),nn.ReLU()); s.w=nn.Parameter(torch.ones(2))
        def forward(s,x,y=2): z=s.a(x)+s.w; a,b=torch.split(s.b(z),1,dim=-1); return {'r':a*y,'s':(b,z)}
    for k in [{},{'keep_original_order':True},{'keep_original_node_name':True},{'partition_affix':'p'},{'tuple_return':True}]:
        gm=symbolic_trace(M()); i=[0]; d={}
        def cb(n): i[0]+=1; return i[0]//3
        s=split_module(gm,M(),cb,d,**k); print(s.code); print([(n,getattr(c,'code',None)) for n,c in s.named_children()],d)
def t_split_cycle():
    from torch.fx.passes.split_module import split_module
    gm=symbolic_trace(lambda x: ((x+1)*2)-3)
    ids={'add':0,'mul':1,'sub':0}
    try: split_module(gm,gm,lambda n: ids[n.name])
    except Exception as e: print(type(e).__name__,e)
def t_replace_target():
    from torch.fx.passes.graph_manipulation import replace_target_nodes_with, get_size_of_all_nodes, get_size_of_node, get_tensor_meta
    gm=symbolic_trace(lambda x: torch.relu(x)+1); replace_target_nodes_with(gm,'call_function',torch.relu,'call_method','neg'); print(gm.code)
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,3))); get_size_of_all_nodes(gm,[torch.ones(1,2)]); print([(n.name,getattr(n,'size_bytes',None)) for n in gm.graph.nodes])
    gm=symbolic_trace(lambda x:x)
    try: get_tensor_meta(list(gm.graph.nodes)[0])
    except Exception as e: print(type(e).__name__,e)
def t_fuse():
    from torch.fx.experimental.optimization import fuse, remove_dropout, extract_subgraph, matches_module_pattern, replace_node_module
    m=nn.Sequential(nn.Conv2d(1,2,1),nn.BatchNorm2d(2),nn.Dropout(),nn.Linear(2,2),nn.BatchNorm1d(2)).eval(); x=torch.rand(1,1,2,2)
    f=fuse(m); print(f.code); gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Dropout())); print(remove_dropout(gm).code)
    class C(nn.Module):
        def __init__(s): super().__init__(); s.c=nn.Conv2d(1,2,1); s.b=nn.BatchNorm2d(2); s.b.running_mean.fill_(.5)
        def forward(s,x): return s.b(s.c(x)).relu()
    c=C().eval(); f=fuse(c); print(f.code,torch.allclose(f(x),c(x),atol=1e-5))
    try: fuse(C())
    except Exception as e: print(type(e).__name__,str(e)[:80])
    g=symbolic_trace(m); n=[n for n in g.graph.nodes if n.op=='call_module']; e=extract_subgraph(g,n[3:4],[n[2]],[n[3]]); print(e.code); print(matches_module_pattern([nn.Conv2d,nn.BatchNorm2d],n[1],dict(g.named_modules())))
def t_normalize_transform():
    from torch.fx.experimental.normalize import NormalizeArgs, NormalizeOperators
    def f(x): return torch.add(x,1).relu()+F.relu(x)*F.max_pool1d(x,2)
    gm=symbolic_trace(lambda x: F.relu(x)+F.dropout(x,.3)+torch.relu(x)); print(NormalizeArgs(gm).transform().code); print(NormalizeArgs(gm,normalize_to_only_use_kwargs=False).transform().code)
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.Conv1d(1,1,1))); print(NormalizeArgs(gm).transform().code)
    gm=symbolic_trace(lambda x,y: torch.add(x,y)+torch.mul(x,2)+torch.sub(x,y,alpha=2)+torch.div(x,y)+torch.floor_divide(x,2)+torch.remainder(x,2)+torch.eq(x,y)); print(NormalizeOperators(gm).transform().code)
def t_type_matches():
    from torch.fx.operator_schemas import type_matches, create_type_hint
    for a,b in [(torch.Tensor,torch.Tensor),(int,int),(List[int],int),(List[int],create_type_hint([int,int])),(List[int],create_type_hint((int,int))),(List[torch.Tensor],create_type_hint([torch.Tensor])),(List[torch.Tensor],create_type_hint([torch.Tensor,torch.nn.Parameter])),(Optional[int],int),(Optional[int],type(None)),(Union[int,float],float),(float,int),(List[int],List[float]),(torch.Tensor,nn.Parameter),(List[List[int]],int),(Any,int),(int,torch.dtype),(List[int],Tuple[()] )]:
        try: print(a,b,type_matches(a,b))
        except Exception as e: print(type(e).__name__,e)
    print(create_type_hint([int,float]),create_type_hint([]),create_type_hint(3),create_type_hint([3]),create_type_hint((int,)))
def t_replicate():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2))); r=gm._replicate_for_data_parallel(); x=torch.ones(1,2); print(torch.equal(r(x),gm(x)), type(r).__name__)
def t_stateless():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l1=nn.Linear(1,1); s.register_buffer('buffer',torch.ones(1))
        def forward(s,x): return s.l1(x)+s.buffer
    m=M(); gm=symbolic_trace(m); x=torch.rand(1,1); w=torch.tensor([[1.0]],requires_grad=True); b=torch.tensor([0.0]); bu=torch.tensor([0.0])
    r=nn.utils.stateless.functional_call(gm,{'l1.weight':w,'l1.bias':b,'buffer':bu},(x,)); print(torch.equal(r,x)); r.backward(); print(w.grad is not None, gm.l1.weight.grad)
    r=torch.func.functional_call(gm,{'l1.weight':w,'l1.bias':b,'buffer':bu},(x,)); print(torch.equal(r,x))
class RS(nn.Module):
    def __init__(s): super().__init__(); s.bn=nn.BatchNorm2d(3)
    def forward(s,x):
        assert isinstance(x,torch.Tensor)
        return s.bn(x)
def t_ast_reassign():
    t=RewritingTracer(); m=RS(); g=t.trace(m); gm=GraphModule(t.root,g,'gm'); print(gm.code, gm)
@wrap
def to_wrap(x): return x+1
class RW(nn.Module):
    def forward(s,y):
        return to_wrap(y)+to_wrap(y)+a_lifted_leaf2((y,y),1)+sqrt(y)
def t_ast_wrap():
    m=RW(); t=RewritingTracer(); gm=GraphModule(m,t.trace(m)); print(gm.code, gm(torch.ones(1)) if False else '')
    b=to_wrap; symbolic_trace(m); print(to_wrap is b)
def t_ast_wrapped_by():
    def f(y): return wrapped_by_decorator(y)
    t=RewritingTracer(); print(GraphModule({},t.trace(RWD())).code)
class RWD(nn.Module):
    def forward(s,y): return wrapped_deco(y)+wrapped_by_decorator(y)
def t_traced_func_name():
    class M(nn.Module):
        def forward(s,x): return x+1
        def other(s,x): return x*2
    class T(Tracer): traced_func_name='other'
    print(T().trace(M()))
    class T2(Tracer): traced_func_name='nope'
    try: T2().trace(M())
    except Exception as e: print(type(e).__name__,e)
def t_partial():
    try: gm=symbolic_trace(functools.partial(torch.add,1)); show(gm)
    except Exception as e: print(type(e).__name__,e)
    f=functools.partial(F.relu)
    try: show(symbolic_trace(lambda x: f(x)))
    except Exception as e: print(type(e).__name__,e)
def t_fx_and_or():
    show(symbolic_trace(lambda x: (x&x, x|x, x^x, x>>2, x<<3, 2>>x, 3<<x)))
def t_pos():
    show(symbolic_trace(lambda x: (+x, -x, ~x, abs(x), x.__matmul__(x), x@x, [1]@x if False else 1, 2**x, x//3, 3%x, divmod)))
def t_getitem_multi():
    show(symbolic_trace(lambda x: (x[1], x[1,2], x[None], x[:,None,...,1:3], x[[1,2]], x[x], x['k'], x[(1,)], x[1][2])))
def t_interp_swap():
    class Swap(Interpreter):
        def call_function(s,t,a,k):
            if t==torch.sigmoid: return torch.neg(*a,**k)
            return super().call_function(t,a,k)
        def call_method(s,t,a,k):
            if t=='neg': c,*r=a; return c.sigmoid(*r,**k)
            return super().call_method(t,a,k)
    gm=symbolic_trace(lambda x: torch.sigmoid(x).neg()); print(Swap(gm).run(torch.ones(2)))
def t_interp_attrs():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.p=nn.Parameter(torch.ones(2))
        def forward(s,x): return x+s.p
    i=Interpreter(symbolic_trace(M())); print(i.name, i.extra_traceback, i.garbage_collect_values, type(i.module).__name__, len(i.user_to_last_uses), i.fetch_attr('p').shape)
    try: i.fetch_attr('zz.a')
    except Exception as e: print(type(e).__name__,e)
    i2=Interpreter(nn.Sequential(nn.ReLU()),graph=symbolic_trace(nn.Sequential(nn.ReLU())).graph); print(i2.run(torch.ones(1)))
    n=list(i.module.graph.nodes); print(i.map_nodes_to_values((n[0],1),n[0]) if False else '')
def t_deepcopy_tracer():
    t=Tracer(); g=t.trace(SimpleTest()); t2=deepcopy(t); print(type(t2).__name__, t2.trace(SimpleTest()))
    c=deepcopy(GraphModule(SimpleTest(),g)); print(c.code)
def t_profiler_ranges():
    class M(nn.Module):
        def forward(s,x): return x+1
    gm=symbolic_trace(M())
    with torch.autograd.profiler.profile() as p: gm(torch.ones(1))
    print(len(p.function_events)>0)
def t_node_tagging():
    class T(Tracer):
        def create_node(s,kind,target,args,kwargs,name=None,type_expr=None):
            n=super().create_node(kind,target,args,kwargs,name,type_expr); n.tag='foo'; return n
    g=T().trace(lambda a,b: a+b); print([n.tag for n in g.nodes], g)
def t_custom_proxy_type():
    class TP(Proxy): pass
    class T(Tracer):
        def proxy(s,n): return TP(n,s)
    seen=[]
    def f(x): seen.append(type(x).__name__); y=x+1; seen.append(type(y).__name__); return y
    T().trace(f); print(seen)
class TensorPair:
    def __init__(s,l,r): s.left,s.right=l,r
    def add(s,o): return TensorPair(s.left+o.left,s.right+o.right)
    def mul(s,o): return TensorPair(s.left*o.left,s.right*o.right)
class PairProxy(metaclass=fx.ProxyableClassMeta):
    def __init__(s,l,r): s.left,s.right=l,r
    def add(s,o): return PairProxy(s.left+o.left,s.right+o.right)
class ZeroT(metaclass=fx.ProxyableClassMeta):
    def __init__(s,inner): s.inner=inner
    def __add__(s,o): return s if isinstance(o,ZeroT) else o
def t_custom_proxy_input():
    print(hasattr(fx,'ProxyableClassMeta'))
    def f(x:PairProxy,y:PairProxy): s=x.add(PairProxy(x.left,y.right)); return s.left+y.right
    gm=symbolic_trace(f); print(gm.graph); print(gm(PairProxy(torch.ones(1),torch.ones(1)),PairProxy(torch.ones(1),torch.ones(1))))
    def g(x): p=PairProxy(x,x+1); return p.add(p).left
    gm=symbolic_trace(g); print(gm.graph); print(gm(torch.ones(1)))
def t_data_dep_ctrl():
    class PP(Proxy):
        def __bool__(s): return True
    class T(Tracer):
        def to_bool(s,obj): return True
        def iter(s,obj): return (obj[i] for i in range(2))
        def keys(s,obj): return ['a','b']
    def f(x,d):
        if x.sum()>0: x=x+1
        a,b=x
        for k in d.keys(): a=a+d[k]
        return a,b, dict(**{k:1 for k in d.keys()})
    print(T().trace(f))
def t_graph_fns():
    g=fx.Graph(); a=g.create_node('placeholder','a'); b=g.create_node('call_module','linear',(a,)); c=g.create_node('get_attr','bias'); d=g.create_node('call_method','add',(b,c)); e=g.create_node('call_function',torch.sin,(d,)); g.output(e); m=nn.Module(); m.linear=nn.Linear(3,4); m.bias=torch.rand(4); gm=GraphModule(m,g); x=torch.rand(4,3); print(torch.equal(torch.sin(m.linear(x)+m.bias),gm(x))); print(gm.code)
def t_reserved_getattr():
    class M(nn.Module):
        def forward(s,a): return a.foo.bar.baz
    m=M(); g=fx.Graph(); show(symbolic_trace(m))
def t_native_callable():
    s='test_module'
    class NI(Interpreter): pass
    gm=symbolic_trace(lambda x: torch.relu(x)); print(Interpreter(gm).run(-torch.ones(1)))
def t_nn_container():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.ml=nn.ModuleList([nn.Linear(2,2) for _ in range(2)]); s.n=0
        def forward(s,x):
            for i in range(len(s.ml)): x=s.ml[i](x)
            if s.training: x=x*2
            return x[:, s.n], s.ml[-1].weight, s.ml[0].in_features
    show(symbolic_trace(M()))
def t_metaclass():
    print(type(GraphModule), GraphModule.__mro__[1].__name__)
    class MyGM(GraphModule):
        def __init__(s,root,graph): super().__init__(root,graph); s.extra=1
        def hello(s): return 'hello'
    gm=MyGM(SimpleTest(),symbolic_trace(SimpleTest()).graph); print(gm.hello(), gm(torch.ones(1)), type(gm).__mro__[1].__name__); c=deepcopy(gm) if False else None
    class MC(GraphModule):
        def __call__(s,*a): return 'own', super().__call__(*a)
    gm=MC(SimpleTest(),symbolic_trace(SimpleTest()).graph); print(gm(torch.ones(1)))
def t_graphmodule_attrs_preserved():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.foo=3; s.l=nn.Linear(1,1); s.training_=1
        def forward(s,x): return s.l(x)
    m=M().eval(); gm=symbolic_trace(m); print(hasattr(gm,'foo'), gm.training, gm.l is m.l); gm.train(); print(gm.training, m.training, gm.l.training)
def t_double_trace():
    gm=symbolic_trace(symbolic_trace(nn.Sequential(nn.Linear(2,2),nn.ReLU()))); print(gm.code, type(gm).__name__); class_name=gm._get_name(); print(class_name)
def t_leak():
    gm=symbolic_trace(SimpleTest()); r=weakref.ref(gm); del gm; gc.collect(); print(r() is None)
    g=fx.Graph(); n=g.placeholder('x'); r=weakref.ref(n); del g,n; gc.collect(); print(r() is None)
def t_nested_tracing_fn():
    def g(x): return symbolic_trace(lambda y: y+1)(x)
    show(symbolic_trace(g))
def t_dims():
    show(symbolic_trace(lambda x: (x.shape, x.size(), x.dim(), x.ndim, x.size(0), x.shape[0], x.numel(), x.dtype, x.device, x.is_cuda, x.requires_grad, x.grad, x.data, x.T, x.H, x.itemsize)))
def t_isinstance():
    def f(x): return x if isinstance(x,torch.Tensor) else (x*2 if isinstance(x,Proxy) else x*3)
    show(symbolic_trace(f))
def t_len_shape():
    try: show(symbolic_trace(lambda x: len(x.shape)))
    except Exception as e: print(type(e).__name__,e)
def t_string_format():
    print(symbolic_trace(lambda x: x.foo(f'{1}', "a'b\"c", '\n', b'x', 'ü')).code)
def t_long_const():
    print(symbolic_trace(lambda x: (x+1e10, x+1e-10, x+10**20, x+True, x+(1+2j), x+float('-inf'), x+0.1, x-(-0.0))).code)
def t_type_tensor_const():
    print(symbolic_trace(lambda x: x.type(torch.float32)).code); print(symbolic_trace(lambda x: x.view(torch.int32)).code)
def t_submodule_hier():
    class In(nn.Module):
        def __init__(s): super().__init__(); s.w=nn.Parameter(torch.ones(1)); s.register_buffer('b',torch.ones(1)); s.c=torch.ones(1)
        def forward(s,x): return x*s.w+s.b+s.c
    class Out(nn.Module):
        def __init__(s): super().__init__(); s.i1=In(); s.i2=In(); s.i3=s.i1
        def forward(s,x): return s.i1(x)+s.i2(x)+s.i3(x)+s.i1.w
    gm=symbolic_trace(Out()); show(gm); print(gm, sorted(gm.state_dict()), [n for n,_ in gm.named_modules()])
def t_lint_after_del():
    gm=symbolic_trace(nn.Sequential(nn.ReLU(),nn.Tanh())); gm.delete_submodule('0')
    try: gm.graph.lint()
    except Exception as e: print(type(e).__name__,e)
    try: gm(torch.ones(1))
    except Exception as e: print(type(e).__name__,e)
def t_set_state():
    gm=symbolic_trace(nn.Sequential(nn.Linear(2,2))); s=gm.__getstate__() if hasattr(gm,'__getstate__') else None; gm.load_state_dict({k:torch.zeros_like(v) for k,v in gm.state_dict().items()}); print(gm(torch.ones(1,2)))
def t_graph_str_types():
    g=fx.Graph(); x=g.placeholder('x',type_expr=int,default_value=3); y=g.placeholder('y',default_value=None); z=g.placeholder('*args'); w=g.placeholder('**kwargs'); g.output((x,y,z,w)); print(g); gm=GraphModule({},g); print(gm.code, gm(), gm(1,2,3,k=4), inspect.signature(gm.forward))
def t_codegen_descs():
    gm=symbolic_trace(lambda x,y: (x,y)); print(gm.graph.python_code('self',expanded_def=True).src)
    for n in gm.graph.nodes: n.meta['desc']='D'+n.name
    print(gm.graph.python_code('self',expanded_def=True).src)
def t_process_inputs():
    gm=symbolic_trace(lambda x,y: x+y); print(gm.graph.process_inputs(1,2), gm.graph.process_outputs(3)); gm=symbolic_trace(lambda x: {'a':x['b']},concrete_args={'x':{'b':PH}}); print(gm.graph.process_inputs({'b':5}), gm.graph.process_outputs([5])); print(gm.graph.flatten_inps({'b':5}) if hasattr(gm.graph,'flatten_inps') else '', gm.graph.unflatten_outs([5]) if hasattr(gm.graph,'unflatten_outs') else '')
def _in_proc(gm): assert gm(torch.ones(1)).item()==4
def t_warn_concrete():
    def f(x,s): return x+1
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always'); show(symbolic_trace(f,{'s':object})); print([str(i.message) for i in w])
def t_assert_none_arg():
    gm=symbolic_trace(lambda x,y: x if y is None else x+y,{'y':None}); show(gm); print(gm(torch.ones(1),None))
def t_placeholder_default_err():
    gm=symbolic_trace(lambda x,y=3: x+y)
    try: print(gm())
    except Exception as e: print(type(e).__name__,e)
    try: print(gm(1,2,3))
    except Exception as e: print(type(e).__name__,e)
    try: print(gm(1,z=3))
    except Exception as e: print(type(e).__name__,e)
def t_dc_graph_meta():
    gm=symbolic_trace(lambda x: x+1); o=gm.graph.output_node(); o.meta['x']=1; o.type=int; d=deepcopy(gm.graph); print(d.output_node().meta,d.output_node().type)
def t_call_module_kwargs():
    class K(nn.Module):
        def forward(s,a,*,b=2): return a+b
    class M(nn.Module):
        def __init__(s): super().__init__(); s.k=K()
        def forward(s,x): return s.k(x,b=x)
    class T(Tracer):
        def is_leaf_module(s,m,q): return isinstance(m,K)
    m=M(); g=T().trace(m); show(GraphModule(m,g)); print(GraphModule(m,g)(torch.ones(1)))
def t_scope():
    from torch.fx.proxy import Scope, ScopeContextManager
    s=Scope('',None)
    with ScopeContextManager(s,Scope('a.b',int)) as c: print(c.module_path,c.module_type,s.module_path)
    print(s.module_path,s.module_type)
def t_nn_module_patched():
    o=nn.Module.__call__, nn.Module.__getattr__
    try: symbolic_trace(lambda x: 1/0)
    except ZeroDivisionError: pass
    print(o==(nn.Module.__call__,nn.Module.__getattr__), a_lifted_leaf2.__name__)
def t_multi_pytree_ret():
    gm=symbolic_trace(lambda a,b: ({'x':a},[b]),concrete_args={'a':(PH,PH),'b':PH}) if False else symbolic_trace(lambda a: ({'x':a[0]},[a[1]]),concrete_args={'a':(PH,PH)}); show(gm); print(gm((1,2))); print(Interpreter(gm).run((1,2))); print(Transformer(gm).transform().code)
def names(gm): return [n.name for n in gm.graph.nodes]
class Two(nn.Module):
    def __init__(s): super().__init__(); s.l=nn.Linear(4,4); s.l2=nn.Linear(4,4); s.p=nn.Parameter(torch.rand(4))
    def forward(s,a,b,c):
        add=a+b; l1=s.l(add); add1=add+c; l2=s.l2(add1); add2=l1+l2; relu=add2.relu(); add3=add1+s.p; add4=add3+add2; add5=add4+relu; add6=add5+add5
        return add4,add6,relu
def t_fuser():
    from torch.fx.passes.utils.fuser_utils import fuse_by_partitions, topo_sort, validate_partition, fuse_as_graphmodule
    gm=symbolic_trace(Two()); by={n.name:n for n in gm.graph.nodes}; print(names(gm))
    for parts in [[['add_1','add_3']],[['add','add_1','l2']],[['l','add'],['relu','add_2']],[['add_5','add_4','relu']]]:
        gm=symbolic_trace(Two()); by={n.name:n for n in gm.graph.nodes}
        try:
            f=fuse_by_partitions(gm,[dict.fromkeys([by[n] for n in p]) for p in parts]); print(f.code); print([(n,m.code) for n,m in f.named_children() if isinstance(m,GraphModule)]); x=torch.rand(4); print([torch.allclose(i,j) for i,j in zip(symbolic_trace(Two())(x,x,x) if False else f(x,x,x),f(x,x,x))])
        except Exception as e: print(type(e).__name__,str(e)[:80])
    gm=symbolic_trace(Two()); by={n.name:n for n in gm.graph.nodes}
    for p in (['add','add_2'],['l','relu']): print(validate_partition([by[n] for n in p]))
    print(topo_sort([by[n] for n in ['relu','add_2','add']])); f,i,o=fuse_as_graphmodule(gm,[by['add'],by['add_1']],'M'); print(f.code,i,o); f,i,o=fuse_as_graphmodule(gm,[by['add']],'M',always_return_tuple=True); print(f.code)
def t_partitioner():
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
    from torch.fx.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain, create_op_support
    class S(OperatorSupport):
        def is_node_supported(s,sub,n): return n.op=='call_function' and n.target in {operator.add}
    for kw in [{},{'allows_single_node_partition':True},{'skip_horizontal_fusion':True,'allows_single_node_partition':True}]:
        gm=symbolic_trace(Two()); p=CapabilityBasedPartitioner(gm,S(),**kw); ps=p.propose_partitions(); print([[n.name for n in q.nodes] for q in ps],[q.id for q in ps]); print(p.fuse_partitions(ps).code)
    def branch(a,b,c):
        x0=a.neg(); x1=b.sqrt() if False else torch.sqrt(b); q=torch.split(a,1); z=q[0]+q[1]; y=torch.relu(x1)+z; return y*2+x0, y
    sup=OperatorSupport({'torch.functional.split':None,'_operator.getitem':None,'_operator.add':None,'_operator.mul':None})
    gm=symbolic_trace(branch)
    from torch.fx.passes.tools_common import get_node_target
    print([get_node_target({},n) for n in gm.graph.nodes if n.op[:4]=='call'])
    for s in (sup, create_op_support(lambda m,n: n.op=='call_function'), chain(sup,OpSupports.decline_if_node_in_names({'add'})), any_chain(sup,create_op_support(lambda m,n:n.op=='call_method'))):
        gm=symbolic_trace(branch); p=CapabilityBasedPartitioner(gm,s,allows_single_node_partition=True); ps=p.propose_partitions(); print([[n.name for n in q.nodes] for q in ps]); print(p.partition_and_fuse().code)
    gm=symbolic_trace(branch); p=CapabilityBasedPartitioner(gm,create_op_support(lambda m,n: n.op.startswith('call')),non_compute_ops=['torch.sqrt','torch.relu'],allowed_single_node_partition_ops=['torch.relu']); ps=p.propose_partitions(); print(ps); p.remove_bookend_non_compute_ops(ps); print(ps)
    q=Partition(3,[1,2],[5,6]); q.add_node(7); print(q,q.size(),q.id); q.remove_node(1); print(q)
def t_op_support_dtype():
    from torch.fx.passes.operator_support import OperatorSupport, OpSupports
    gm=symbolic_trace(lambda x,y: torch.add(x,y)+torch.relu(x)); ShapeProp(gm).propagate(torch.ones(1),torch.ones(1).double())
    for d in [{'torch.add':(([torch.float32],[torch.float64]),{})},{'torch.add':(([torch.float32],[torch.float32]),{})},{'torch.add':((None,),{'alpha':[torch.int]})},{'torch.relu':None}]:
        print([OperatorSupport(d).is_node_supported({},n) for n in gm.graph.nodes])
    print([OpSupports.decline_if_input_dtype(torch.float64).is_node_supported({},n) for n in gm.graph.nodes])
def t_annot_getitem():
    from torch.fx.passes.annotate_getitem_nodes import annotate_getitem_nodes
    def f(a:Tuple[int,str],b:Tuple[int,...],c:List[str],d:Pair,e:tuple[int,float],f:list[int],g): return a[1],b[5],c[0],d[1],e[1],f[2],g[0]
    g=symbolic_trace(f).graph; annotate_getitem_nodes(g); print([(n.name,n.type) for n in g.nodes if n.target is operator.getitem])
def t_param_fetch():
    from torch.fx.passes.param_fetch import extract_attrs_for_lowering, lift_lowering_attrs_to_nodes
    gm=symbolic_trace(nn.Sequential(nn.Conv2d(1,1,1),nn.BatchNorm2d(1),nn.ReLU(),nn.MaxPool2d(2))); lift_lowering_attrs_to_nodes(gm); print([sorted(n.attrs_for_lowering) for n in gm.graph.nodes if n.op=='call_module'], [n.attrs_for_lowering['name'] for n in gm.graph.nodes if n.op=='call_module'])
    try: extract_attrs_for_lowering(nn.Tanh())
    except RuntimeError as e: print(e)
def t_old_pm():
    from torch.fx.passes.pass_manager import PassManager, inplace_wrapper, loop_pass, these_before_those_pass_constraint, this_before_that_pass_constraint, log_hook
    def a(x): return x+1
    def b(x): return x*2
    def c(l): l.append(1); return 'no'
    pm=PassManager([a,b]); print(pm(3)); pm.add_constraint(this_before_that_pass_constraint(b,a))
    try: pm(3)
    except RuntimeError as e: print(str(e)[:60])
    pm=PassManager.build_from_passlist([a,b]); pm.remove_pass(['a']); pm.add_pass(a); pm.replace_pass(b,a); print([p.__name__ for p in pm.passes],pm(1)); print(inplace_wrapper(c)([]),loop_pass(a,3)(0),loop_pass(a,predicate=lambda x:x<10)(0), log_hook(a)(1))
    try: loop_pass(a)
    except AssertionError as e: print(e)
    try: loop_pass(a,0)(1)
    except RuntimeError as e: print(str(e)[:60])
    pm=PassManager([loop_pass(b,2),loop_pass(a,2)],[these_before_those_pass_constraint(a,b)])
    try: pm.validate()
    except RuntimeError as e: print(str(e)[:40])
def t_const_fold():
    from torch.fx.experimental import const_fold
    class M(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Parameter(torch.randn(1,2)); s.b=nn.Parameter(torch.ones(1,2)); s.lin=nn.Linear(2,2); s.register_buffer('buf',torch.ones(2))
        def forward(s,x,y):
            t=torch.cat([s.a+s.b,s.a]) ; z=s.a*2; return x-(s.a+s.b)+z.sum()*y, s.lin(z), torch.split(s.buf,1)[0]+x
    m=M(); f=const_fold.split_const_subgraphs(m); print(f.code, f.const_subgraph_module.code, f.fx_const_folded_attrs_name); x=torch.rand(1,2); print([torch.allclose(a,b) for a,b in zip(f(x,x),m(x,x))], f.has_folding_been_run)
    try: f.run_folding()
    except AssertionError as e: print(e)
    class N(nn.Module):
        def forward(s,x): return x+1
    f=const_fold.split_const_subgraphs(N()); print(f.code,f.const_subgraph_module, f(torch.ones(1)))
    class B(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Parameter(torch.ones(2))
        def forward(s,x): return s.a+s.a+x
    f=const_fold.split_const_subgraphs(B()); print(f.code,f(torch.ones(2)), f); f=const_fold.split_const_subgraphs(B(),skip_folding_node_fn=lambda n: True); print(f.code)
    class C(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Parameter(torch.ones(2))
        def forward(s,x): return s.a+s.a
    f=const_fold.split_const_subgraphs(C()); print(f.code,f(torch.ones(2)))
    print(const_fold.get_unique_attr_name_in_module(symbolic_trace(B()),'a'), const_fold.get_unique_attr_name_in_module(symbolic_trace(B()),'1x-y'))
def t_merge_matmul():
    from torch.fx.experimental import merge_matmul
    class M(nn.Module):
        def __init__(s,rhs): super().__init__(); s.rhs=rhs
        def forward(s,x,y): a=torch.matmul(x,s.rhs); b=torch.matmul(y,s.rhs); return a+b
    m=M(torch.rand(4,4)); g=merge_matmul.merge_matmul(m); print(g.code); print([str(n) for n in g.graph.nodes]); x=torch.rand(2,4); print(torch.allclose(g(x,x),m(x,x)))
    class D(nn.Module):
        def forward(s,x,y): return torch.matmul(torch.matmul(x,y),y)
    print(merge_matmul.merge_matmul(D()).code)
def t_schema_annot():
    from torch.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l=nn.Linear(2,2); s.p=nn.Parameter(torch.ones(2)); s.b=nn.BatchNorm1d(2)
        def forward(s,x): return F.relu(s.b(s.l(x)))+s.p+F.dropout(x)
    gm=AnnotateTypesWithSchema(symbolic_trace(M())).transform(); print([(n.name,n.type) for n in gm.graph.nodes]); print(gm.code)
def t_tensor_type():
    from torch.fx.tensor_type import TensorType, Dyn, is_consistent, is_more_precise
    class M(nn.Module):
        def forward(s,x:TensorType((1,2,3,Dyn)),y:TensorType((1,2,3,Dyn))): return torch.add(x,y)
    gm=symbolic_trace(M()); print([(n.name,n.type) for n in gm.graph.nodes]); 
    for n in gm.graph.nodes:
        if n.op=='placeholder': n.type=TensorType((1,Dyn))
    print(gm.graph)
    print(is_consistent(TensorType((1,Dyn)),TensorType((1,2))),is_more_precise(TensorType((1,2)),TensorType((1,Dyn))),is_more_precise(Dyn,3),is_consistent(1,2),TensorType[1,2]==TensorType((1,2)),Dyn,is_consistent(TensorType((1,)),TensorType((1,2))))
def t_common():
    from torch.fx.passes.utils.common import HolderModule, lift_subgraph_as_module, compare_graphs
    from torch.fx.passes.utils import HolderModule as H
    a=symbolic_trace(Two()).graph; b=symbolic_trace(Two()).graph; print(compare_graphs(a,b)); print(compare_graphs(a,symbolic_trace(SimpleTest()).graph)); gm=symbolic_trace(nn.Sequential(nn.Sequential(nn.Linear(2,2)))); m,d=lift_subgraph_as_module(gm,deepcopy(gm.graph),'comp'); print(m,d, HolderModule({'a':nn.ReLU()}))
def t_name_node_map():
    from torch.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap
    def pat(x): r=torch.relu(x); n=torch.neg(r); return n,{'r':r,'n':n}
    gm=symbolic_trace(pat,concrete_args={'x':PH}) if False else symbolic_trace(lambda d: pat(d['x']),concrete_args={'d':{'x':PH}})
    t=symbolic_trace(lambda y: torch.neg(torch.relu(y))+1)
    m=SubgraphMatcherWithNameNodeMap(gm).match(t.graph); print(len(m),{k:str(v) for k,v in m[0].name_node_map.items()})
def t_fusions_finder():
    from torch.fx.passes.tools_common import FxNetAccFusionsFinder
    class M(nn.Module):
        def forward(s,x): a=x.size(0); b=torch.relu(x); c=b.view(a,-1); return c+torch.neg(x)
    gm=symbolic_trace(M()); ShapeProp(gm).propagate(torch.ones(2,2)); r=FxNetAccFusionsFinder(gm,{n for n in gm.graph.nodes if n.op[:4]=='call'})(); print({str(k):sorted(map(str,v)) for k,v in sorted(r.items(),key=lambda t:str(t[0]))})
def t_observer():
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver
    with tempfile.TemporaryDirectory() as d: pass
    gm=symbolic_trace(SimpleTest()); o=GraphTransformObserver(gm,'p'); print(o.apply_graph_pass(lambda g: g.eliminate_dead_code()), o.apply_gm_pass(lambda g: 5), GraphTransformObserver.get_current_pass_count())
def t_split_tags():
    from torch.fx.passes.split_utils import split_by_tags, getattr_recursive, setattr_recursive
    class M(nn.Module):
        def __init__(s): super().__init__(); s.l1=nn.Linear(2,3); s.l2=nn.Linear(4,5); s.l3=nn.Linear(6,7); s.l4=nn.Linear(8,6); s.p=nn.Parameter(torch.ones(3))
        def forward(s,x1,x2,x3): v1=s.l1(x1)+s.p; v2=s.l2(x2); v3=s.l3(x3); v4=torch.cat([v1,v2,v3]); return s.l4(v4), v1
    gm=symbolic_trace(M())
    tags={'l1':'red','p':'red','add':'red','l2':'blue','l3':'green','cat':'red2','l4':'green2'}
    for kw in [{},{'return_tuple':True},{'return_fqn_mapping':True}]:
        gm=symbolic_trace(M())
        for n in gm.graph.nodes:
            if n.name in tags: n.tag=tags[n.name]
        r=split_by_tags(gm,['red','blue','green','red2','green2'],**kw); m=r[1] if isinstance(r,tuple) else None; r=r[0] if isinstance(r,tuple) else r
        print(r.code,m); print([(n,c.code) for n,c in r.named_children()])
    print(getattr_recursive(gm,'l1.weight').shape, getattr_recursive(gm,'zz.a')); setattr_recursive(gm,'l1.foo',3); print(gm.l1.foo)
def t_debug():
    from torch.fx.experimental.debug import set_trace
    gm=set_trace(symbolic_trace(lambda x:x+1)); print(gm.code)
def t_refine():
    from torch.fx.experimental.refinement_types import Equality
    print(Equality(1,2),Equality(1,2)==Equality(1,2),Equality(1,2)==3)
def t_names_of_overloads():
    for op in torch.ops.aten.relu.default, torch.ops.aten.add.Tensor, torch.ops.aten.sum.dim_IntList:
        print(op.__name__, op.__qualname__, op.__module__, torch.typename(op))
    g=Graph(); x=g.placeholder('x'); r=g.call_function(torch.ops.aten.relu.default,(x,),type_expr=torch.typename(torch.ops.aten.relu.default)); g.output(r); show(g)
def t_nodes_of_layouts():
    g=Graph(); x=g.placeholder('x'); x.meta['val']=torch.ones(3,4)[1:]
    nodes=[g.create_size_node(x,1),g.create_stride_node(x,0),g.create_storage_offset_node(x)]
    print([n.meta for n in nodes], g.materialize_symints([2,True]), g.materialize_symint(5)); g.output(tuple(nodes)); show(g)
    print(GraphModule(nn.Module(),g)(torch.ones(5,6)[2:]))
    g.materialize_symints([2.5])
def t_marks_of_compatibility():
    from torch.fx import _compatibility as c
    for cls in Tracer, Graph, GraphModule, Node, Proxy, Interpreter, Transformer, ShapeProp, shape_prop.TensorMetadata, subgraph_rewriter.Match, fx.graph.PythonCode, immutable_list, immutable_dict:
        print(cls in c._BACK_COMPAT_OBJECTS, torch.typename(cls), sorted(n for n in vars(cls) if n[0]!='_'))
    print([f in c._MARKED_WITH_COMPATIBILITY for f in (symbolic_trace, fx.map_arg, SubgraphMatcher, len, nn.Linear)], [f in c._BACK_COMPAT_OBJECTS for f in (fx.graph.CodeGen, len)])
def t_scripted_modules():
    class S(nn.Module):
        def __init__(self):
            super().__init__(); self.l=nn.Linear(2,3); self.again=self.l; self.k=3; self.register_buffer('b',torch.ones(2))
        def scaled(self, x): return self.l(x)*self.k
        def forward(self, x):
            torch._assert(x.shape[0] > 1, 'small'); return self.scaled(x)
    m=S(); s=torch.jit.script(m)
    print(s, s.original_name, isinstance(s,torch.jit.ScriptModule), isinstance(s.l,torch.jit.RecursiveScriptModule), s is m)
    print(s.l.weight is m.l.weight, s.b is m.b, s.l is s.again, s.k, list(s.state_dict()), torch.jit.script(s) is s, torch.equal(s(torch.ones(2,2)),m(torch.ones(2,2))))
    s.eval(); print(m.training, s.training, s.l.training)
    s(torch.ones(2,2)).sum().backward(); print(m.l.weight.grad)
    try: s(torch.ones(1,2))
    except torch.jit.Error as e: print(type(e).__mro__[1:], str(e).strip().split('\n')[-1])
    class H(nn.Module):
        def __init__(self): super().__init__(); self.s=s
        def forward(self, x): return self.s(x)
    gm=symbolic_trace(H()); show(gm); print(torch.equal(gm(torch.ones(2,2)),m(torch.ones(2,2)))); print(gm)
def t_objects_of_C():
    from torch.testing._internal.common_utils import find_library_location
    torch.ops.load_library(str(find_library_location('libtorchbind_test.so')))
    class M(nn.Module):
        def __init__(self): super().__init__(); self.f=torch.classes._TorchScriptTesting._ReLUClass(); self.names=torch.classes._TorchScriptTesting._StackString(['a','b'])
        def forward(self, x): return self.f.run(x), self.names.top()
    m=M(); gm=symbolic_trace(m); print([n.op for n in gm.graph.nodes]); print(gm(torch.tensor([-1.,2.])), m(torch.tensor([-1.,2.])))
    m.names.push('c'); print(m.names.top(), m.names.pop(), m.names.top())
def t_functions_of_any_arguments():
    for f in F.max_pool2d, F.adaptive_max_pool1d, F.fractional_max_pool3d:
        try: symbolic_trace(f)
        except fx.proxy.TraceError as e: print(e)
    print(inspect.signature(F.relu).parameters['input'].annotation is torch.Tensor, [getattr(F, n) is getattr(torch.overrides, n) for n in ('has_torch_function','has_torch_function_unary','has_torch_function_variadic','handle_torch_function')])
def t_names_in_traces():
    from torch.autograd.profiler_util import _canonicalize_profiler_events
    from torch.fx.traceback import _register_fx_metadata
    from torch.profiler._utils import map_recorded_events_to_aten_ops_with_stack_trace
    _register_fx_metadata('a.py',{'node_metadata':{0:{'name':'mm','stack_trace':'  File "f"\n   y = x @ w\n  ~~^~~'},1:{'name':'relu'}}}); _register_fx_metadata('b.py',{'node_metadata':{0:{'name':'inner','stack_trace':'z = g(x)'}}})
    mark=lambda name,ts,dur,**kw: {'name':f'## {name} ##','cat':'cpu_op','ts':ts,'dur':dur,'tid':1,**kw}
    event=lambda name,ts,tid=1: {'name':name,'cat':'cpu_op','ts':ts,'dur':1,'tid':tid}
    events=[event('out',0),mark('a.py',1,50),mark(0,2,10),event('aten::mm',3),event('other thread',4,2),mark('b.py',5,5),event('between',6),mark(0,7,2),event('aten::'+'x'*40,8),event('after',11),mark(1,20,5),event('aten::relu',21),mark(9,30,2),event('unknown',31),{'ph':'M'}]
    trace={'traceEvents':events}; print(map_recorded_events_to_aten_ops_with_stack_trace(trace))
    print(_canonicalize_profiler_events([e for e in events if 'args' in e]))
def t_switches():
    with fx.experimental._config.patch('enrich_profiler_metadata',True): print(fx.experimental._config.enrich_profiler_metadata)
    print(fx.experimental._config.enrich_profiler_metadata)
class _Halves(nn.Module):
    def __init__(self): super().__init__(); self.l=nn.Linear(4,4)
    def forward(self,x,y): c=torch.sin(x)+torch.cos(y); d=self.l(c).relu(); return torch.sin(d)*2,torch.cos(c)
def _supports(*targets):
    from torch.fx.passes.operator_support import create_op_support
    return create_op_support(lambda modules,node: node.target in targets)
def t_splitter():
    from torch.fx.passes import splitter_base as S
    for kw in {},{'min_acc_module_size':2},{'skip_fusion':True,'allow_non_tensor':True},{'max_acc_splits':1}:
        gm=symbolic_trace(_Halves()); s=S._SplitterBase(gm,(torch.ones(4,4),torch.ones(4,4)),_supports(torch.sin,torch.cos,'l'),S._SplitterSettingBase(**kw))
        s.node_support_preview(); s.split_preview(); r=s.generate_split_results()
        print(r.split_module.code,{k:[v.shape for v in vs] for k,vs in r.submodule_inputs.items()},sorted(s.get_node_submodule_map().items()),r.non_acc_submodule_prefix)
        for name,m in r.split_module.named_children(): print(name,m.code)
def t_splitter_moves_what_is_no_tensor():
    from torch.fx.passes import splitter_base as S
    def f(x,y): a=torch.sin(x); n=a.size(0); k=n*2; b=torch.cos(y).neg(); c=b.view(k,-1)+k; return torch.sin(c),a
    def g(x,y): a=torch.sin(x); n=a.size(0); return torch.cos(a.view(n,-1)),y.neg()*n,torch.sin(y.exp())+n
    for h in f,g:
        for kw in {},{'move_non_tensor_nodes_on_boundary':True}:
            gm=symbolic_trace(h); s=S._SplitterBase(gm,(torch.ones(2,4),torch.ones(2,4)),_supports(torch.sin,torch.cos,'size',operator.mul),S._SplitterSettingBase(allow_non_tensor=True,min_acc_module_size=1,**kw))
            try: r=s.generate_split_results(); print(r.split_module.code,[(n,m.code) for n,m in r.split_module.named_children()])
            except Exception as e: print(type(e).__name__,str(e).split('\n')[0])
def t_nodes_of_a_backend():
    from torch.fx.passes import splitter_base as S
    def f(x,y): a=wrapped_deco(y); return wrapped_deco(wrapped_deco(x)+wrapped_deco(a)),len(x)
    gm=symbolic_trace(f); ShapeProp(gm).propagate(torch.ones(2),3); os.environ[S.ENV_FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES]='wrapped_deco'
    for mode in 0,1,2,3:
        with tempfile.TemporaryDirectory() as d:
            finder=S.FxNetAccNodesFinder(gm,_supports(wrapped_deco,len),mode==9); t=finder.tracker=S.NodeEventTracker(mode,d+'/'); print(sorted(map(str,finder())),t.to_dict()); t.print_node('wrapped_deco_2',True)
            for name in sorted(os.listdir(d)): print(name,open(d+'/'+name).read())
def t_minimizer():
    from torch.fx.passes import net_min_base as N
    class M(N._MinimizerBase):
        def run_a(self,mod,inputs,report_idx=-1): return mod(*inputs)
        def run_b(self,mod,inputs,report_idx=-1):
            if 'cos' in wrong and any(n.name=='cos' for n in mod.graph.nodes): raise ValueError('no cos')
            return mod(*inputs)+any(n.name in wrong for n in mod.graph.nodes)
    f=lambda x: x.sin().exp().cos().neg().tanh()
    for wrong in (),('exp',),('sin','tanh'),('cos',):
        for method in 'sequential','binary','block','accumulate','skip','defined','other':
            for kw in {},{'start':'exp','end':'neg'},{'find_last_node':True},{'skip_nodes':['neg']}:
                m=M(symbolic_trace(f),(torch.ones(2),),lambda a,b,names: (float((a-b).abs().max()),torch.equal(a,b)),N._MinimizerSettingBase(traverse_method=method))
                out=io.StringIO()
                with contextlib.redirect_stdout(out):
                    try: found=sorted(map(str,m.minimize(**kw)))
                    except Exception as e: found=type(e),str(e)
                print(wrong,method,kw,found,sorted((k,round(v,3)) for k,v in m.results.items()),sorted(m.a_outputs),out.getvalue().split('graph():')[0])
    wrong=('neg',); M(symbolic_trace(f),(torch.ones(2),),lambda a,b,names: (0,False),N._MinimizerSettingBase(all_outputs=True)).run_nodes('exp')
class _Shared(nn.Module):
    def __init__(self):
        super().__init__(); self.lin=nn.Linear(3,3); self.tied=nn.Linear(3,3,bias=False); self.tied.weight=self.lin.weight; self.r=nn.ReLU(); self.m=nn.ModuleList([self.r,self.lin,nn.Tanh()]); self.register_buffer('b',torch.ones(3)); self.c=torch.ones(3)
    def forward(self,x):
        x=self.r(self.tied(self.lin(x)))+self.b+self.c
        for l in self.m: x=l(x)
        return self.m[2](x)
class _Whole(nn.Module):
    def __init__(self): super().__init__(); self.sub=_Shared(); self.again=self.sub; self.seq=nn.Sequential(nn.LayerNorm(3),nn.Dropout(),nn.GELU()); self.att=nn.MultiheadAttention(3,1); self.gru=nn.GRU(3,2); self.register_buffer('np',torch.ones(3),persistent=False)
    def forward(self,x,d,*,k=None):
        a,_=self.att(x,x,x); h,_=self.gru(a)
        y=self.again(x)-1/self.sub(x)+d['a']*2**x+self.np
        z=F.softmax(y@y.mT,-1)[0]; z=torch.where(z>0,z,z.abs()).norm()
        return self.seq(y),h,z,torch.split(x,1)[0].sum() if k is None else k
def t_export_meta():
    ep=torch.export.export(_Whole().eval(),(torch.ones(2,2,3),{'a':torch.ones(3)}),{'k':torch.ones(1)})
    for n in ep.graph.nodes: print(n,n.meta.get('nn_module_stack'),n.meta.get('torch_fn'),n.meta.get('tensor_meta'))
    print(ep.graph_signature,list(ep.state_dict),list(ep.constants),[e.fqn for e in ep.module_call_graph],ep.call_spec,ep.graph_module.meta)
    m=ep.module(); print(m.code,m); strip=lambda s: (s.name,s.pass_name,s.action,[strip(x) for x in s.from_node])
    for n in m.graph.nodes: print(n.op,n,n.args,n.meta.get('nn_module_stack'),[strip(s) for s in n.meta.get('from_node',[])])
    for f in m.eval,m.train:
        try: f()
        except Exception as e: print(type(e).__name__,e)
def t_export_guards():
    class M(nn.Module):
        def forward(self,x,d,n=3,*,k=None): return x+d['a']*n,k
    d={'a':torch.ones(3)}; k=torch.ones(1); x=torch.ones(2,3)
    for check in True,False:
        m=torch.export.export(M(),(x,d),{'k':k},).module(check_guards=check); print(m.code)
        for a,kw in (((torch.ones(3,3),d),{'k':k}),((x,{'b':d['a']}),{'k':k}),((x,),{}),((x,{'a':torch.ones(4)}),{'k':k}),((x.double(),d),{'k':k})):
            try: print(m(*a,**kw))
            except Exception as e: print(type(e).__name__,str(e).split('\n')[0])
def t_export_arguments():
    class M(nn.Module):
        def forward(self,a,*args,k=2,**kw): return a+args[0]+kw['z']*k
    x=torch.ones(2)
    for kw in {'z':x,'k':3},{'k':3,'z':x}:
        ep=torch.export.export(M(),(x,x),kw); print([s.arg for s in ep.graph_signature.input_specs],ep.module().code)
def t_export_sizes():
    from torch.export import Dim,export
    o=torch.ones; A,D=Dim.AUTO,Dim.DYNAMIC; print(A,D,Dim.STATIC,A(min=1,max=3))
    def run(f,a,ds,*calls):
        class M(nn.Module): forward=f
        ep=export(M(),a,dynamic_shapes=ds); print(ep.range_constraints,re.sub('sym_size_int[_0-9]*','size',ep.graph_module.print_readable(False)).count('Sym'))
        for c in calls:
            try: print([tuple(r.shape) for r in [ep.module()(*c)]])
            except Exception as e: print(type(e).__name__,str(e).split('\n')[0])
    add=lambda s,x,y: x+y
    run(add,(o(4,3),o(4,3)),({0:A},{0:A}),(o(5,3),o(5,3)),(o(5,3),o(6,3)),(o(5,2),o(5,2)))
    run(add,(o(4,3),o(4,3)),({0:D},{0:D}),(o(5,3),o(5,3)),(o(5,3),o(6,3)))
    run(lambda s,x,y: x.sum()+y.sum(),(o(4,3),o(4,3)),({0:A},{0:A}),(o(5,3),o(6,3)))
    run(add,(o(4),o(4)),({0:A},None),(o(4),o(4)),(o(5),o(4)))
    run(lambda s,x: x@o(3,2),(o(4,3),),({0:A,1:A},),(o(5,3),),(o(5,4),))
    run(lambda s,x: x.squeeze(0),(o(1,4),),({0:A,1:A},),(o(1,5),),(o(2,4),))
    run(lambda s,x: x+1,(o(4),),({0:Dim('d',min=3,max=6)},),(o(6),),(o(2),),(o(7),))
    run(lambda s,e,q: e['k']+q[0],({'k':o(4)},[o(4)]),({'k':{0:Dim('d')}},[{0:Dim('d')}]))
def t_custom_operators_in_graphs():
    from torch.fx.experimental.proxy_tensor import make_fx
    @torch.library.custom_op('fx_programs::foo',mutates_args=())
    def foo(x: torch.Tensor,k: int=2)->torch.Tensor: return x.sin()*k
    @torch.library.custom_op('fx_programs::two',mutates_args=())
    def two(x: torch.Tensor)->tuple[torch.Tensor,torch.Tensor]: return x.sin(),x.cos()
    foo.register_fake(lambda x,k=2: torch.empty_like(x)); two.register_fake(lambda x: (torch.empty_like(x),torch.empty_like(x)))
    def f(x): a,b=two(x); return foo(x)+torch.ops.fx_programs.foo(x,k=3)+a*b
    class M(nn.Module):
        def forward(self,x): return f(x)
    print(make_fx(f)(torch.ones(2)).code); ep=torch.export.export(M(),(torch.ones(2),)); print(ep.graph_module.code,ep.module()(torch.ones(2)))
def t_custom_functions_in_exports():
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx,x): ctx.save_for_backward(x); return x.sin()
        @staticmethod
        def backward(ctx,g): return g
    class M(nn.Module):
        def forward(self,x): torch._assert(True,''); return Sine.apply(x)+1
    print(torch.export.export(M(),(torch.ones(2),)).graph_module.code)
def t_source_partitions():
    from torch.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions
    class A(nn.Module):
        def __init__(self): super().__init__(); self.a=nn.Linear(3,3); self.r=nn.ReLU(); self.b=nn.Linear(3,5)
        def forward(self,x): return self.b(self.r(self.a(self.a(x))))
    class B(nn.Module):
        def forward(self,x,w,b): x=F.relu(F.linear(F.linear(x,w,b),w,b)); return F.relu(F.linear(x,w,b))
    for m,a in (A(),(torch.ones(3,3),)),(B(),(torch.ones(1,5),torch.ones(5,5),torch.ones(5))):
        gm=torch.export.export(m,a).module()
        for wanted in [nn.Linear,nn.ReLU],['linear','relu'],[F.linear]:
            for only in None,lambda n: n.name!='linear_1':
                found=get_source_partitions(gm.graph,wanted,only); flat=[p for v in found.values() for p in v]
                print([[p.nodes,sorted(map(str,p.input_nodes)),p.output_nodes,p.params] for p in flat],[[check_subgraphs_connected(p,q) for p in flat] for q in flat])
def t_reinplace():
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.passes.reinplace import reinplace
    def g1(x): a=x.clone(); return a.add(1)
    def g2(x): a=x.clone(); v=a.view(-1); b=a.add(1); return v.add(1)
    def g3(x): a=x.clone(); return torch.ge(a+1,a)
    def g4(x): return x[0].clone().expand(4,4).add(1)
    def scatter(offset,index):
        def f(x): a=x.clone(); c=a[:,1][1].add(1); return torch.select_scatter(a.as_strided((4,),(4,),offset),c,0,index)
        return f
    def g5(x): a=x.clone(); return [torch.diagonal_scatter(a,a.diagonal().add(1))]
    def g6(x): a=x.clone(); s=torch.ops.aten.slice.Tensor(a,0,0,9223372036854775807); u=torch.ops.aten.slice_scatter.default(s,x[:,:2],1,2); return torch.ops.aten.slice_scatter.default(a,u,0,0)
    def g7(x): a,b=x.clone().split(2); c=a.mul(2); return c.add(b),b.sin()
    def g8(x): a=x+1; return a*a,torch.addmm(a,x,x),x.view(-1).add(1)
    def g9(x): a=x+1; v,i=a.max(0); return v.add(1).add(i),a.clamp(0,1).to(torch.float64).masked_fill(x>0,2.)
    for f in g1,g2,g3,g4,scatter(1,1),scatter(1,0),scatter(0,1),g5,g6,g7,g8,g9: x=torch.arange(16.).view(4,4); gm=reinplace(make_fx(f)(x),x); print(gm.code,gm(x))
def t_graphs_of_backends():
    class Sub(nn.Module):
        def __init__(self): super().__init__(); self.lin=nn.Linear(3,3); self.act=nn.ReLU()
        def forward(self,a): return self.act(self.lin(a))+1
    class M(nn.Module):
        def __init__(self): super().__init__(); self.sub=Sub(); self.ml=nn.ModuleList([nn.Linear(3,4)]); self.register_buffer('b',torch.ones(4)); self.p=nn.Parameter(torch.ones(4))
        def forward(self,x): y=self.sub(x); z=self.ml[0](y)*self.p+self.b; v,i=z.max(0); return v,i,z[0]
    def show(g):
        for n in g.nodes: print(n.op,n,list(n.meta.get('nn_module_stack',{}).values()),[(a,getattr(b,'__name__',b)) for a,b in n.meta.get('source_fn_stack',[])],getattr(n.meta.get('example_value'),'shape',None) if n.name!='max_1' else '')
    def backend(gm,ex): show(gm.graph); return gm
    m,x=M(),torch.ones(2,3); torch.compile(m,backend=backend)(x); torch.compile(nn.Sequential(nn.Linear(3,3),nn.ReLU()),backend=backend)(x)
    def f(x,k=2): y=m.sub(x)*k; return {'a':[y,x],'b':k}
    for g,a in (m,(x,)),(lambda x,d: d['k']+x.sin(),(x,{'k':x+1})):
        gm,guards=torch._dynamo.export(g,assume_static_by_default=True)(*a); print(gm.code,gm(*a))
        gm,guards=torch._dynamo.export(g,aten_graph=True,assume_static_by_default=True)(*a); print(gm.code)
        for n in gm.graph.nodes: print(n,[(a,getattr(b,'__name__',b)) for a,b in n.meta.get('source_fn_stack',[])])
def t_what_make_fx_notes():
    from torch.fx.experimental.proxy_tensor import make_fx
    m=nn.Sequential(nn.Linear(3,4),nn.ReLU()); x=torch.ones(2,3); y=torch.ones(2,3)
    for n in make_fx(lambda x: ((m(x)+1).sum(),F.softmax(x,-1)))(x).graph.nodes: print(n,sorted(k for k in n.meta if k!='stack_trace'),n.meta.get('tensor_meta'))
    for f in torch.func.grad(lambda x: x.sin().sum()),lambda x: {'a':x.sin(),'b':(x,[None,1])},lambda x: torch.add(x,y,alpha=2),lambda x: x.resize_(2),lambda x: torch.rsub(x,y,alpha=2): print(make_fx(f)(x.clone()).code)
def t_nodes_beside_others():
    k=Graph().placeholder('x')
    for f in operator.lt,operator.gt,operator.le,operator.ge:
        for other in 3,None:
            try: f(k,other)
            except TypeError as e: print(e)
        print(f(k,k))
def t_matches_of_what_depends_on_itself():
    def f(x): r=F.linear(x,torch.ones(3,3)); return torch.sum(r*torch.sigmoid(r),dim=1)
    def pattern(a,b,c): l=F.linear(a,b); return l,l*c
    for overlapping in True,False: print([m.nodes_map for m in SubgraphMatcher(symbolic_trace(pattern).graph,remove_overlapping_matches=overlapping).match(symbolic_trace(f).graph)])
def t_split_by_a_table():
    from torch.fx.passes.split_module import split_module_simple
    m=nn.Sequential(nn.Linear(3,4),nn.ReLU(),nn.Linear(4,2))
    for f in (lambda x,y: torch.tanh(torch.relu(x)+torch.sigmoid(y))),(lambda x,**k: x+k['foo']),m:
        for size in 1,2,9:
            gm=symbolic_trace(f); calls=[n for n in gm.graph.nodes if n.op not in ('placeholder','get_attr','output')]; parts=split_module_simple(gm,{n: i//size for i,n in enumerate(calls)},partition_affix='p' if size==2 else None)
            print(parts.code,[(name,part.code) for name,part in parts.named_children()])
    try: split_module_simple(symbolic_trace(m),{})
    except Exception as e: print(type(e).__name__,e)


def main() -> None:
    printed = {}
    for name, program in list(globals().items()):
        if name.startswith("t_"):
            torch.manual_seed(0)
            with contextlib.redirect_stdout(io.StringIO()) as buffer, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    program()
                except Exception as e:
                    print("RAISED", type(e).__name__, str(e).split("\n")[0])
            printed[name] = re.sub("0x[0-9a-f]{6,}", "0x", buffer.getvalue())
    print(json.dumps(printed))


if __name__ == "__main__":
    main()
