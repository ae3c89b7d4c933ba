"""The recording functions of all kinds, as templates (``templates.rendered`` explains the marks)."""

from __future__ import annotations

from .templates import PIECES

# ---------------------------------------------------------------------------------------------------------- elementwise
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
    if a.dtype not in fast:  #? check
        return promote_and_retry(info, input)
    t = make()
    t._box = t._node = None
    @unary_compute
    return t
#? records
    if slow_if_recording:  #? modes
        return slow(info, (input,))
    t = make()
    t._box = None
    @unary_compute(r=keep)
    @node
    n.x = input._box or box_of(input)  #? keep_self
    @keep_result  #? keep_result
    n.r = b  #? keep_result
    @end
"""
PIECES["unary_compute"] = """
try:
    try:
        if type(a) is ndarray:
            if a.size >= LARGE:  #? blocks
                return large(input)
            t._payload = {r}raw(a)
        else:
            t._payload = {r}table[type(a)](a)
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
if type(other) is not Tensor and type(other) in numbers:  #? number
    #? not records
        if xa.dtype not in fast:
            return promote_and_retry(info, {x}, other)
        ya = other
    if fx is None:  #? records
        if slow_always:  #? modes
            return slow(info, ({x}, other))
        known = constants.get(xa.dtype)
        if known is None:
            return promote_and_retry(info, {x}, other)
        t = make()
        t._box = t._node = None
        try:
            @binary_compute(y="known[other]", z="other")
        except ARITHMETIC:
            t._payload = silently(fn, xa, other)
        return t
    #? records
        if slow_if_recording:  #? modes
            return slow(info, ({x}, other))
        t = make()
        t._box = None
        try:
            @binary_compute(y="constants[xa.dtype][other]", z="other", r=keep)
        except ARITHMETIC:
            t._payload = {keep}silently(fn, xa, other)
        @node(fy="None")
        @keep(slot="x", t=x, wanted=xx, otherwise="None")
        n.y = other  #? keep_number
        n.y = None  #? not keep_number
else:  #| number
    try:
        fy = other._node  #? records
        ya = other._payload
    except AttributeError:
        return slow(info, ({x}, other)) if slow_always else reject(info, {x}, other)  #? modes and records
        return reject(info, {x}, other)  #? not (modes and records)
    if xa.dtype is not ya.dtype:
        return slow(info, ({x}, other)) if slow_always else mixed_dtypes(info, {x}, other)  #? modes and records
        return mixed_dtypes(info, {x}, other)  #? not (modes and records)
    if fx is None and fy is None:  #| records
        if slow_always:  #? modes and records
            return slow(info, ({x}, other))
        if xa.dtype not in pairs:  #? check
            return promote_and_retry(info, {x}, other)
        @binary_unrecorded  #? records
    #? records
        if slow_if_recording:  #? modes
            return slow(info, ({x}, other))
        t = make()
        t._box = None
        if fx is not None and fy is not None:  #? by_shape
            sx = xa.shape
            sy = ya.shape
            if sx != sy and sx and sx[0] == 1 and len(sx) == len(sy) + 1 and type(ya) is ndarray:
                ya = ya[None]  # a bias on a batch of one: half the price of NumPy's broadcasting
        try:
            @binary_compute(y="ya", z="ya", r=keep)
        except (ValueError, TypeError) as error:
            return reject(info, {x}, other, error)
        except ARITHMETIC:
            t._payload = {keep}silently(fn, xa, ya)
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
#? records
    @keep_result  #? keep
    n.r = b  #? keep
    @end
@binary_unrecorded  #? not records
"""
PIECES["binary_compute"] = """
if type(xa) is ndarray:
    if xa.size >= LARGE:  #? blocks
        return large({x}, other)
    t._payload = {r}raw(xa, {y})
else:
    t._payload = {r}fn(xa, {z})
"""
PIECES["binary_unrecorded"] = """
t = make()
t._box = t._node = None
try:
    @binary_compute(y="ya", z="ya")
except (ValueError, TypeError) as error:
    return reject(info, {x}, other, error)
except ARITHMETIC:
    t._payload = silently(fn, xa, ya)
return t
"""
PARAMETRIC = """
if slow_always:  #? modes
    return slow(info, (input, *p))
try:
    fx = input._node  #? records
    a = input._payload
except AttributeError:
    return refuse_first(info, input, *p)
if fx is not None and slow_if_recording:  #? modes and records
    return slow(info, (input, *p))
if a.dtype not in accepted:  #? check or to_float
    dtype = logical_dtype(input)
    info.check(info, input, None, dtype)  #? check
    if dtype not in INEXACT:  #? to_float
        return info.op(cast(input, default_np()), *p)
t = make()
t._box = None
derivative = None  #? slope
try:
    if type(a) is ndarray and a.size >= LARGE:
        if fx is not None and a.dtype in FLOATS:  #? slope
            t._payload, derivative = both(with_slope, a, *p)
        else:  #| slope
            t._payload = {r}elementwise(raw, a, *p)
    else:
        t._payload = {r}table[type(a)](a, *p)
except ARITHMETIC:
    t._payload = {r}silently(table[type(a)], a, *p)
@unrecorded  #? not records
#? records
    if fx is None:
        @unrecorded
    @node
    n.p = p
    n.x = input._box or box_of(input)  #? keep_self
    @keep_result  #? keep_result
    n.r = b  #? keep_result
    n.r = derivative  #? slope and not keep_result
    @end
"""

# ---------------------------------------------------------------------------------------------- linear in their tensors
LINEAR = """
if slow_if_recording:  #? modes
    return slow(info, (input, *p))
if args or kwargs or slow_if_recording:  #? alone
    return otherwise(input, *args, **kwargs) if kwargs else otherwise(input, *args)
try:
    fx = input._node
    a = input._payload
except AttributeError:
    return refuse_first(info, input{p})
t = make()
t._box = None
#? view
    if type(a) is not ndarray:
        a = alias_payload(input, t)
    t._view = (input, info, p, 0)
try:
    t._payload = table[type(a)](a{p})
except ARITHMETIC:
    t._payload = silently(table[type(a)], a{p})
if fx is None:
    @unrecorded
@node
n.p = ()  #? alone
n.p = p  #? not alone
n.shape = a.shape  #? keep_shape
@end
"""
BILINEAR = """
if slow_if_recording:  #? modes
    return slow(info, (input, other, *p))
if slow_if_recording or out is not None:  #? ranks
    return otherwise(input, other, out=out)
try:
    fx = input._node
    fy = other._node
    xa = input._payload
    ya = other._payload
except AttributeError:
    return otherwise(input, other)  #? ranks
    return refuse_first(info, input, other, *p)  #? not ranks
#? not ranks
    if xa.dtype is not ya.dtype:
        return mixed_product(info, (input, other), p)
    t = make()
    t._box = None
    try:
        t._payload = table[type(xa)](xa, ya, *p)
    except ARITHMETIC:
        t._payload = silently(table[type(xa)], xa, ya, *p)
#? ranks
    dtype = xa.dtype
    if dtype is not ya.dtype or xa.ndim != {x_rank} or ya.ndim != {y_rank}:
        return otherwise(input, other)
    if dtype is not FLOAT32 and dtype not in INEXACT:
        return otherwise(input, other)
    t = make()
    t._box = None
    try:
        t._payload = small(xa, ya) if xa.size < MANY else large(xa, ya)
    except RAW_REFUSALS:
        return otherwise(input, other)
if fx is None and fy is None:
    @unrecorded
@node(fy="fy")
n.p = ()  #? ranks
n.p = p  #? not ranks
@factors(x="input", y="other", sx="xa.shape", sy="ya.shape")
@end
"""
PIECES["factors"] = """
if fy is not None:
    n.x = {x}._box or box_of({x})
else:
    n.x = {sx}
if fx is not None:
    n.y = {y}._box or box_of({y})
else:
    n.y = {sy}
"""
AFFINE = """
if slow_if_recording:  #? modes
    return slow(info, ({x}, {y}, {c}, *p))
try:
    fx = {x}._node
    fy = {y}._node
    xa = {x}._payload
    ya = {y}._payload
    if {c} is None:
        fc = ca = None
    else:
        fc = {c}._node
        ca = {c}._payload
except AttributeError:
    return no_tensor(info, {x}, {y}, {c}, *p)
#? ranks
    if xa.ndim != {x_rank} or ya.ndim != {y_rank}:
        return other_ranks({x}, {y}, {c}, *p)
if xa.dtype is not ya.dtype or (ca is not None and ca.dtype is not xa.dtype):
    return mixed_product(info, ({x}, {y}, {c}), p)
t = make()
t._box = None
try:
    t._payload = table[type(xa)](xa, ya, ca, *p)
except ValueError as error:
    return refuse_shapes(error, xa, ya, ca, *p)
except ARITHMETIC:
    t._payload = silently(table[type(xa)], xa, ya, ca, *p)
if fx is None and fy is None and fc is None:
    @unrecorded
if ca is None:
    n = Without()
else:
    n = With()
    n.c = ca.shape
n.fx = fx
n.fy = fy
n.fc = fc
n.seq = next(ticks)
n.h = None
n.p = p
@factors(sx="of_shape(xa.shape)", sy="of_shape(ya.shape)")  #? own_shapes
@factors(sx="None", sy="None")  #? not own_shapes
@end
"""

# ----------------------------------------------------------------------------------------------------------- all others
ONE = """
if slow_if_recording:  #? modes
    return slow(info, (input, *p))
try:
    fx = input._node  #? records
    a = input._payload
except AttributeError:
    return refuse(info, (input,), (input, *p))
t = make()
t._box = None
try:
    t._payload = r = table[type(a)](a, *p)  #? keep_result
    t._payload = table[type(a)](a, *p)  #? not keep_result
except ARITHMETIC:
    t._payload = r = silently(table[type(a)], a, *p)
if fx is None:  #| records
    @unrecorded
#? records
    @general_node(edges="(fx,)")
    @keep_result  #? keep_result
    n.s = [{saved}]
    @end
"""
ONE_TO_MANY = """
if slow_if_recording:  #? modes
    return slow(info, (input, *p))
try:
    fx = input._node  #? records
    a = input._payload
except AttributeError:
    return refuse(info, (input,), (input, *p))
try:
    result = table[type(a)](a, *p)
except ARITHMETIC:
    result = silently(table[type(a)], a, *p)
if fx is not None:  #? records
    @general_node(edges="(fx,)")
    n.s = store((input,), (a,), p, n.fx, result)
    @line
    return wrap_many(info, n, result, (input,), p)
return tuple([wrap(r) for r in result])
"""
POINTWISE = """
if slow_always:  #? modes
    return slow(info, ({args}))
try:
    {arrays} = {read_arrays}
    {edges} = {read_edges}  #? records
except AttributeError:
    return slow(info, ({args})) if slow_if_recording else run({args})  #? modes
    return run({args})  #? not modes
if {not_plain}:
    return slow(info, ({args})) if slow_if_recording else run({args})  #? modes
    return run({args})  #? not modes
recorded = {tracked}  #? records
if slow_if_recording and recorded:  #? modes and records
    return slow(info, ({args}))
t = make()
t._box = t._node = None
try:
    try:
        t._payload = {r}table[ndarray]({arrays}, *p)
    except ARITHMETIC:
        t._payload = {r}silently(table[ndarray], {arrays}, *p)
except ValueError:
    return run({args})  # it finds the error's text
if recorded:  #? records
    @general_node(edges=edges)
    n.shapes = ({shapes})
    n.s = [{saved}]  #? listed
    n.s = store(({operands}), ({arrays}), p, n.fx, (r,))  #? not listed
    @line
    t._node = n
return t
"""
SEVERAL = """
if slow_if_recording:  #? modes
    return slow(info, ({args}))
try:
    #? sequence
        arrays = [t._payload for t in tensors]
        edges = [t._node for t in tensors]
    #? not sequence
        {read}
except AttributeError:
    return run({args})
if {not_plain}:
    return run({args})
try:
    result = table[ndarray]({values}, *p)
except ARITHMETIC:
    result = silently(table[ndarray], {values}, *p)
@general_result
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
    result = transformed(info, arrays, p)
else:
    if type(arrays[0]) is not ndarray:  #? view
        arrays[0] = alias_payload(operands[0])
    try:  #| broadcast
        try:
            result = table[lead]({star}arrays, *p)
        except ARITHMETIC:
            result = silently(table[lead], {star}arrays, *p)
    #? broadcast
        except ValueError as error:
            if "broadcast" in str(error):
                raise no_broadcast(operands) from None
            raise
@general_result(given="operands", arrays="arrays", edges="tuple(edges)", tracked="edges.count(None) < len(edges)")
"""
PIECES["general_node"] = """
n = N()
n.fx = {edges}
n.seq = next(ticks)
n.h = None
"""
PIECES["general_result"] = """
n = None  #? many
#? not many
    t = make()
    t._payload = result
    t._box = t._node = None
if {tracked}:  #? records
    @general_node
    n.shapes = [getattr(a, "shape", ()) for a in arrays]  #? broadcast
    n.s = store({given}, {arrays}, p, n.fx, result)  #? many
    n.s = store({given}, {arrays}, p, n.fx, (result,))  #? not many
    t._box = n.s[{kept}]  #? kept
    @line
    t._node = n  #? not many
#? view
    t._view = ({given}[0], info, p, 0)  #? not many
    t = wrap_many(info, n, result, {given}, p)  #? many
    if not plain:
        note_views({given}[0], t)
    return t
return wrap_many(info, n, result, {given}, p)  #? many
return t  #? not many
"""
