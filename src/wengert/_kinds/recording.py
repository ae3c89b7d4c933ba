"""The recording functions of all kinds, as templates (``templates.rendered`` explains the marks)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._arrays.layouts import when_needless
from .._base.registry import Operator
from .dims import ABSENT
from .templates import PIECES, Shape, piece

# ---- elementwise
UNARY = """
if out is not None:  #? out
    return slow(info, (input,), out)
try:
    fx = input._node  #? records
    a = input._payload
except AttributeError:
    return slow(info, (input,)) if slow_always else refuse_first(info, input)  #? modes
    return refuse_first(info, input)  #? not modes
if fx is None:  #| records
    if slow_always:  #? modes
        return slow(info, (input,))
    if a.dtype is not FLOAT32 and a.dtype not in fast:  #? check
        return promote_and_retry(info, input)
    t = make()
    t._box = t._node = None
    @unary_compute
    return t
#? records
    if slow_if_recording:  #? modes
        return slow(info, (input,))
    if a.dtype not in fast:  #? limited
        info.check(info, input, None, logical_dtype(input))
    t = make()
    t._box = None
    @unary_compute(r=keep)
    @node
    n.x = input._box or box_of(input)  #? keep_self
    @keep_result  #? keep_result
    n.result = b  #? keep_result
    @end
"""
PIECES["unary_compute"] = """
try:
    if type(a) is not ndarray:
        t._payload = {r}table[type(a)](a)
    else:
        if a.size >= LARGE:  #? blocks
            return large(input)
        t._payload = {r}(bare if {needless} else raw)(a)  #? needless
        t._payload = {r}raw(a)  #? not needless
except ARITHMETIC:
    t._payload = {r}silently(table[type(a)], a)
except TypeError as error:
    raise unsupported(info, input, error) from None
"""
BINARY = """
if out is not None:  #? out
    return slow(info, ({x}, other), out)
if slow_always:  #? modes and not records
    return slow(info, ({x}, other))
try:
    fx = {x}._node  #? records
    xa = {x}._payload
except AttributeError:
    return slow(info, ({x}, other)) if slow_always else refuse_first(info, {x}, other)  #? modes and records
    return refuse_first(info, {x}, other)  #? not (modes and records)
if type(other) is Tensor or type(other) not in numbers:  #| number
    try:
        fy = other._node  #? records
        ya = other._payload
    except AttributeError:
        return slow(info, ({x}, other)) if slow_always else reject(info, {x}, other)  #? modes and records
        return reject(info, {x}, other)  #? not (modes and records)
    if xa.dtype is not ya.dtype:
        return slow(info, ({x}, other)) if slow_always else mixed_dtypes(info, {x}, other)  #? modes and records
        return mixed_dtypes(info, {x}, other)  #? not (modes and records)
    if slow_if_recording and (fx is not None or fy is not None or slow_always):  #? modes and records
        return slow(info, ({x}, other))
    #? check and not records
        if xa.dtype is not FLOAT32 and xa.dtype not in pairs:
            return promote_and_retry(info, {x}, other)
    #? records
        #? check or limited
            if fx is None and fy is None:
                if xa.dtype is not FLOAT32 and xa.dtype not in pairs:
                    return promote_and_retry(info, {x}, other)
            elif xa.dtype not in fast:  #? limited
                info.check(info, {x}, other, logical_dtype({x}))  #? limited
        t = make()
        t._box = None
        if fx is not None and fy is not None:  #? by_shape
            sx = xa.shape
            sy = ya.shape
            if sx != sy and sx and sx[0] == 1 and len(sx) == len(sy) + 1 and type(ya) is ndarray:
                ya = ya[None]  # a bias on a batch of one: half the price of NumPy's broadcasting
        @binary_computed(y="ya", z="ya", r=keep, broadcast="yes", ordered=orders)
        if fx is None and fy is None:
            @unrecorded
        @node(fy="fy")
        if fy is None:
            @keep(slot="x", t=x, wanted=xx, otherwise="xa.shape")
            @keep(slot="y", t="other", wanted=xy, otherwise="None")
        elif fx is None:
            @keep(slot="x", t=x, wanted=yx, otherwise="None")
            @keep(slot="y", t="other", wanted=yy, otherwise="ya.shape")
        else:
            n.x = sx  #? by_shape
            n.y = sy  #? by_shape
            #? not by_shape
                @keep(slot="x", t=x, wanted=both_x, otherwise="xa.shape")
                @keep(slot="y", t="other", wanted=both_y, otherwise="ya.shape")
else:  #? number
    #? not records
        if xa.dtype not in fast:
            return promote_and_retry(info, {x}, other)
        ya = other
    #? records
        if slow_if_recording and (fx is not None or slow_always):  #? modes
            return slow(info, ({x}, other))
        if fx is None:
            if xa.dtype is not FLOAT32 and xa.dtype not in constants:
                return promote_and_retry(info, {x}, other)
        elif xa.dtype not in fast:  #? limited
            info.check(info, {x}, other, logical_dtype({x}))  #? limited
        t = make()
        t._box = None
        @binary_computed(y="constants[xa.dtype][other]", z="other", r=keep, needless=x_needless, ordered=x_orders)
        if fx is None:
            @unrecorded
        @node(fy="None")
        @keep(slot="x", t=x, wanted=xx, otherwise="None")
        n.y = other  #? keep_number
        n.y = None  #? not keep_number
#? records
    @keep_result  #? keep
    n.result = b  #? keep
    @end
#? not records
    t = make()
    t._box = t._node = None
    @binary_computed(y="ya", z="ya", broadcast="yes")
    return t
"""
PIECES["binary_computed"] = """
try:
    if xa.size >= LARGE:  #? blocks
        return large({x}, other)  #? blocks
    if not xa.flags.contiguous:
        return other_order({x}, other)  #? ordered and orders
        t._payload = {r}fn(xa, {z})  #? not (ordered and orders)
    else:
        t._payload = {r}(bare if {needless} else raw)(xa, {y})  #? needless
        t._payload = {r}raw(xa, {y})  #? not needless
except FAILURES:  #? not careful
    return careful({x}, other)  #? not careful
except (ValueError, TypeError) as error:  #? careful and broadcast
    return reject(info, {x}, other, error)  #? careful and broadcast
except TypeError as error:  #? careful and not broadcast
    return reject(info, {x}, other, error)  #? careful and not broadcast
#? careful
    except ARITHMETIC:
        t._payload = {r}silently(fn, xa, {z})
    except AttributeError:  # a tensor on a tape of its own, or another library's array: neither has such flags
        t._payload = {r}fn(xa, {z})
"""

# ---- one tensor, followed by parameters
ONE = """
if {mode}:  #? modes
    return slow(info, ({args},))
#? alone
    if dim is not ABSENT or kwargs or slow_if_recording:
        #? along
            @front(table="along", N="Along", p=", at, keepdim", ps="(at, keepdim)")
        @otherwise
@body
"""
ONE_DIM = """
if dim is ABSENT and not kwargs:  #? without
    return without(input)  #? without
@front
if type(input) is type(dim) is Tensor and not (args or kwargs or slow_always):  #? pairs
    return pairs(input, dim)  #? pairs
@otherwise
"""  # a public function along one dim
PIECES["otherwise"] = """
if args or kwargs:
    return elsewhere(otherwise, input, dim, args, kwargs)
return otherwise(input) if dim is ABSENT else otherwise(input, {named}dim)
"""
PIECES["front"] = """
if args or kwargs:
    #? keepdim
        keepdim = {second}kwargs.get("keepdim")
        if dim is ABSENT or len(args) + len(kwargs) > 1 or type(keepdim) is not bool:
            return elsewhere(otherwise, input, dim, args, kwargs)
    return elsewhere(otherwise, input, dim, args, kwargs)  #? not keepdim
else:  #? keepdim
    keepdim = False  #? keepdim
if {asked} and not slow_always:
    @body(front="yes", one_dim="yes", unless=unlike, passed="otherwise, input, dim, args, kwargs", called="elsewhere")
"""
USUAL = """
if {unusual}:
    return otherwise({passed})
@body(front="yes", called="otherwise")
"""  # a public function with its usual arguments
PIECES["body"] = """
try:
    fx = input._node  #? records
    a = input._payload
    at = EVERY_DIM[a.ndim] if dim is ABSENT else TUPLES_OF_DIM[a.ndim][dim]{several}  #? one_dim and whole
    at = TUPLES_OF_DIM[a.ndim][dim]{several}  #? one_dim and dims and not whole
    at = EVERY_DIM[a.ndim][dim]  #? one_dim and not dims
except {wrong}:  #? one_dim
    return {called}({passed})  #? one_dim
except AttributeError:  #? not one_dim
    return {called}({passed})  #? front
    return refuse(info, (input,), ({args},))  #? general and not front
    return refuse_first(info, input{p})  #? not (general or front)
#? front
    if type(a) is not ndarray{unless}:
        return {called}({passed})
    if fx is not None and slow_if_recording:  #? records
        return {called}({passed})
#? elementwise
    if fx is not None and slow_if_recording:  #? modes and records
        return slow(info, ({args},))
    if a.dtype is not FLOAT32 and a.dtype not in accepted:  #? check or to_float
        dtype = logical_dtype(input)
        info.check(info, input, None, dtype)  #? check
        if dtype not in INEXACT:  #? to_float
            return info.op(cast(input, default_np()){p})
#? not many
    t = make()
    t._box = None
#? view
    if type(a) is not ndarray:
        a = alias_payload(input, t)
    t._view = (input, info, {ps}, 0)
derivative = None  #? slope
try:
    if type(a) is ndarray and a.size >= LARGE:  #? elementwise
        if fx is not None and a.dtype in FLOATS:  #? slope
            t._payload, derivative = both(with_slope, a{p})
        else:  #| slope
            {to}elementwise(bare if {needless} else raw, a{p})  #? needless
            {to}elementwise(raw, a{p})  #? not needless
    else:  #| elementwise
        {to}(bare if type(a) is ndarray and {needless} else {table}[type(a)])(a{p})  #? needless and not front
        {to}(bare if {needless} else {table}[ndarray])(a{p})  #? needless and front
        {to}{table}[type(a)](a{p})  #? not (needless or front)
        {to}{table}[ndarray](a{p})  #? not needless and front
except ARITHMETIC:
    {to}silently({table}[type(a)], a{p})
{outputs}  #? outputs
if fx is None:  #| records
    @unrecorded  #? not many
    return {returned}  #? outputs
    return tuple([wrap(a) for a in r])  #? many and not outputs
#? records
    @node
    n.params = {ps}  #? p and not general or view
    n.shape = a.shape  #? keep_shape
    n.shape = shape_like(a)  #? keep_like
    n.shapes = (a.shape,)  #? broadcast
    n.x = input._box or box_of(input)  #? keep_self
    @keep_result  #? keep_result
    n.result = b  #? keep_result and not general
    n.result = derivative  #? slope and not keep_result
    n.values = [{saved}]  #? general
    @end  #? not many
    #? many
        @line
        {ports}  #? outputs
        return {returned}  #? outputs
        return wrap_many(info, n, r, (input,), {ps})  #? not outputs
"""


def parameters(info: Operator) -> dict[str, str]:
    """The texts of an operator's parameters: as arguments that follow others, and as a tuple."""
    names = [f"p{k}" for k in range(len(info.params) - max(info.arity, 1))]
    return {"p": "".join(f", {name}" for name in names), "ps": f"({', '.join(names)},)" if names else "()"}


def elsewhere(otherwise: Any, input: Any, dim: Any, args: Any, kwargs: Any) -> Any:
    """Call a public function behind its text; ``ABSENT`` is a dim that was not given."""
    return otherwise(input, *args, **kwargs) if dim is ABSENT else otherwise(input, dim, *args, **kwargs)


def elsewhere_by_name(otherwise: Any, input: Any, dim: Any, args: Any, kwargs: Any) -> Any:
    """``elsewhere`` for a function that takes ``dim`` by name only."""
    return otherwise(input, *args, **kwargs) if dim is ABSENT else otherwise(input, *args, dim=dim, **kwargs)


HEAD = "input, dim=ABSENT, *args, **kwargs"  # of a public function along one dim
HEAD_BY_NAME = "input, *args, dim=ABSENT, **kwargs"


def read_dim(
    by_name: bool = False, whole: bool = False, unless: str = "", named: str = "", several: bool = False
) -> dict[str, str]:
    """The texts that tell a call with one dim; ``whole``: or without; ``several``: or with a tuple of dims."""
    asked = "type(dim) is int" + " or dim is ABSENT" * whole + " or type(dim) is tuple and dim" * several
    return {
        "asked": f"({asked})" if whole or several else asked,
        "several": " if type(dim) is int else normal_dims(dim, a.ndim)" * several,
        "wrong": "Exception" if several else "(AttributeError, IndexError)",
        "named": named,
        "second": "" if by_name else "args[0] if args else ",
        "unlike": unless,
    }


def outputs(info: Operator) -> dict[str, str]:
    """The texts of two results: their tensors, the port of each where they are recorded, and what is returned.

    More are a loop, ``wrap_many``, for which less is compiled.
    """
    ks = [str(k) for k in range(info.outputs)]
    kept = {str(k): str(j) for j, k in info.saves.kept_results}
    meta = f"n.outputs_meta = [{', '.join(f'(r{k}.shape, r{k}.dtype)' for k in ks)}]"
    ports = [piece("port", k=k, on=on, place=kept.get(k)) for k, on in zip(ks, info.differentiable, strict=True)]
    return {
        "outputs": "\n".join([f"{', '.join('r' + k for k in ks)} = r", *[piece("output", k=k) for k in ks]]),
        "ports": "\n".join([meta, *filter(None, ports)]),
        "returned": ", ".join("t" + k for k in ks),
    }


def head_of_one(info: Operator) -> str:
    """The parameters of an operator on one tensor."""
    return f"input{parameters(info)['p']}"


def one(info: Operator, head: str | None = None, saved: Callable[[], str] | None = None, **flags: Any) -> Shape:
    """The shape of an operator on one tensor. ``saved()``: the text of the values that a general node lists."""
    p = {"p": "", "ps": "()"} if head else parameters(info)
    args = f"input{p['p']}"

    def parts() -> dict[str, str]:
        mode = "slow_if_recording" if info.view else "slow_if_recording and concerned(input)"
        if flags.get("elementwise"):
            mode = "slow_always"
        to = "r = " if flags.get("many") else "t._payload = r = " if flags.get("keep_result") else "t._payload = "
        known = {**p, "table": "table", "args": args, "mode": mode, "to": to}
        known |= read_dim(several=flags.get("along", False))
        if saved is not None:
            known |= {"edges": "(fx,)", "saved": saved()} | (outputs(info) if flags.get("pair") else {})
        return known

    usual = {"records": True, "general": saved is not None, "needless": when_needless(info.layout, "a")}
    return Shape("one", ONE, head or args, parts, **{**usual, **flags})


# ---- products, and a tensor added
PRODUCT = """
if slow_if_recording and concerned({operands}):  #? modes
    return slow(info, ({operands}{p}))
if slow_if_recording or out is not None:  #? alone
    return otherwise({operands}, out=out)
try:
    fx = {x}._node
    fy = {y}._node
    xa = {x}._payload
    ya = {y}._payload
    #? c
        if {c} is None:
            fc = ca = None
        else:
            fc = {c}._node
            ca = {c}._payload
except AttributeError:
    return otherwise({operands})  #? alone
    return refuse(info, ({operands}), ({operands}{p}))  #? c
    return refuse_first(info, {operands}{p})  #? not (c or alone)
#? ranks
    if xa.ndim != {x_rank} or ya.ndim != {y_rank}:
        return otherwise({operands})  #? alone
        return other_ranks({operands}{p})  #? not alone
#? alone
    dtype = xa.dtype
    if dtype is not ya.dtype or (dtype is not FLOAT32 and dtype not in INEXACT):
        return otherwise({operands})
if xa.dtype is not ya.dtype{of_c}:  #? not alone
    return mixed_product(info, ({operands}), {ps})
t = make()
t._box = None
try:
    t._payload = small(xa, ya) if xa.size < MANY else large(xa, ya)  #? alone
    t._payload = (bare if type(xa) is ndarray and {needless} else table[type(xa)])(xa, ya{ca}{p})  #? needless
    t._payload = table[type(xa)](xa, ya{ca}{p})  #? not (alone or needless)
except RAW_REFUSALS:  #? alone
    return otherwise({operands})
except ValueError as error:  #? c
    return refuse_shapes(error, xa, ya, ca{p})
except ARITHMETIC:  #? not alone
    t._payload = silently(table[type(xa)], xa, ya{ca}{p})
if fx is None and fy is None{and_fc}:
    @unrecorded
#? c
    if ca is None:
        n = Without()
    else:
        n = With()
        n.c = ca.shape
    n.fc = fc
@node(fy="fy")
n.params = {ps}  #? p
if fy is not None:
    n.x = {x}._box or box_of({x})
else:
    n.x = {sx}
if fx is not None:
    n.y = {y}._box or box_of({y})
else:
    n.y = {sy}
@end
"""

# ---- all others
PLAIN_ARRAYS = """
if slow_always:  #? modes
    return slow(info, ({args},))
try:
    {read}
    edges = [t._node for t in tensors]  #? sequence and records
except AttributeError:
    return run_with_modes({args})  #? modes
    return run({args})  #? not modes
if {not_plain}:
    return run_with_modes({args})  #? modes
    return run({args})  #? not modes
recorded = {tracked}  #? records
if slow_if_recording and recorded:  #? modes and records
    return slow(info, ({args},))
try:  #| broadcast
    try:
        r = (bare if {needless} else table[ndarray])({values}{p})  #? needless
        r = table[ndarray]({values}{p})  #? not needless
    except ARITHMETIC:
        r = silently(table[ndarray], {values}{p})
#? broadcast
    except ValueError:
        return run({args})  # it finds the error's text
@result(tracked="recorded")
"""
ANYTHING = """
if slow_if_recording:  #? modes
    return slow(info, args)
operands, p = args[0], args[1:]  #? sequence
operands, p = args[:{count}], args[{count}:]  #? not sequence
operands = promoted(operands, info.promote)  #? promoting
arrays = []
edges = []
plain = True
lead = None
for x in operands:
    try:
        a = x._payload
        edge = x._node
    except AttributeError:
        a = x
        edge = None
        if x is not None and type(x) not in NUMBERS:
            return refuse(info, operands, args)
    else:
        if lead is None:
            lead = type(a)
    if not PLAIN[type(a)]:
        plain = False
    arrays.append(a)
    edges.append(edge)
if not plain:
    lifted = lift_to_common_level(operands)
    if lifted is not None:
        return run({star}lifted, *p)
    r = transformed(info, arrays, p)
else:
    if type(arrays[0]) is not ndarray:  #? view
        arrays[0] = alias_payload(operands[0])
    try:  #| broadcast
        try:
            r = table[lead]({star}arrays, *p)
        except ARITHMETIC:
            r = silently(table[lead], {star}arrays, *p)
    #? broadcast
        except ValueError as error:
            if "broadcast" in str(error):
                raise unbroadcast(operands) or RuntimeError("shapes do not broadcast") from None
            raise
@result
"""
PIECES["read"] = """
if {x} is None:  #? optional
    {x}a = {x}f = None
else:  #| optional
    {x}a = {x}._payload
    {x}f = {x}._node  #? records
"""
PIECES["output"] = """
t{k} = make()
t{k}._payload = r{k}
t{k}._box = t{k}._node = None
"""
PIECES["port"] = """
if r{k}.dtype is FLOAT32 or r{k}.dtype.kind in "fcV":  #? on
    t{k}._node = port = Port()
    port.fx = n
    port.k = {k}
    port._seq = next(ticks)
    port._hooks = None
    port._code = n._code
    port._lasti = n._lasti
#? place
    t{k}._box = n.values[{place}] = b = Box()
    b.a = r{k}
    b.cell = None
"""
PIECES["result"] = """
n = None  #? many and not outputs
{outputs}  #? outputs
#? not many
    t = make()
    t._payload = r
    t._box = t._node = None
if {tracked}:  #? records
    @node
    n.shapes = {shapes}  #? broadcast
    @keep_result  #? keep_result
    n.values = [{saved}]
    @line
    t._node = n  #? not many
    {ports}  #? outputs
#? view
    t._view = ({given}[0], info, {ps}, 0)  #? not many
    t = wrap_many(info, n, r, {given}, {ps})  #? many
    if not plain:
        for view in t:  #? many
            note_view({given}[0], view)
        note_view({given}[0], t)  #? not many
    return t
return {returned}  #? outputs
return wrap_many(info, n, r, {given}, {ps})  #? many and not outputs
return t  #? not many
"""
