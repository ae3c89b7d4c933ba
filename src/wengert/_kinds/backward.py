"""The backward steps of all kinds on plain arrays, as templates (``templates.rendered`` explains the marks)."""

from __future__ import annotations

from .templates import PIECES

# ---------------------------------------------------------------------------------------------------------- elementwise
UNARY_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
#? slot
    b = n.{slot}
    c = b.cell
    if c is not None and c.seq > n.seq:
        stale(n, b)
    gx = grad(xp, g, b.a)
    if not keep:
        n.{slot} = FREED
    return (n.fx, gx)
return (n.fx, grad(xp, g))  #? not slot
"""
BINARY_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
x = n.x
y = n.y
boxed_x = type(x) is Box
boxed_y = type(y) is Box
if boxed_x:
    @open(x="x")
if boxed_y:
    @open(x="y")
fx = n.fx
if fx is not None:
    gx = {gx}
    @binary_reduced(k="x")
    fy = n.fy
    if fy is None:
        @binary_freed
        return (fx, gx)
gy = {gy}
@binary_reduced(k="y")
@binary_freed
return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
"""
PIECES["binary_reduced"] = """
shape = {k}.shape if boxed_{k} else {k}
if shape is not None and g{k}.shape != shape:
    g{k} = xp.sum_to(g{k}, shape)
"""
PIECES["binary_freed"] = """
if not keep:
    if boxed_x:
        n.x = FREED
    if boxed_y:
        n.y = FREED
"""
PARAMETRIC_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
#? keep_self
    x = n.x
    @open(x="x")
#? keep_result
    r = n.r
    @open(x="r")
if g.size >= LARGE:
    derivative = n.r  #? slope
    if derivative is None or g.dtype is not derivative.dtype:  #| slope
        gx = elementwise(partial(grad, xp), g, {values})
    #? slope
        elif keep:
            gx = elementwise(multiply, g, derivative)
        else:
            gx = multiply_into(derivative, g)
else:
    gx = grad(xp, g, {values})
if not keep:
    n.release()
return (n.fx, gx)
"""

# ---------------------------------------------------------------------------------------------- linear in their tensors
LINEAR_BACKWARD = """
return (n.fx, transpose(xp, g, n.shape, *n.p))  #? keep_shape
return (n.fx, transpose(xp, g, *n.p))  #? not keep_shape
"""
BILINEAR_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
@factor(s="x")
@factor(s="y")
p = n.p
fx = n.fx
fy = n.fy
if fx is not None:
    gx = gx_(xp, g, x, y, *p)
if fy is not None:
    gy = gy_(xp, g, x, y, *p)
if not keep:
    if boxed_x:
        n.x = FREED
    if boxed_y:
        n.y = FREED
return (fy, gy) if fx is None else (fx, gx) if fy is None else (fx, gx, fy, gy)
"""
PIECES["factor"] = """
{s} = n.{s}
boxed_{s} = type({s}) is Box
if boxed_{s}:
    @open(x=s)
else:
    {s} = of_shape({s})
"""
AFFINE_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
x = n.x
if type(x) is Box:
    @open(x="x")
y = n.y
if type(y) is Box:
    @open(x="y")
p = n.p
fc = n.fc
fx = n.fx
fy = n.fy
pairs = () if fc is None else (fc, added(xp, g, n.c, *p))
if fx is not None:
    pairs += (fx, first(xp, g, x, y, *p))
if fy is not None:
    pairs += (fy, second(xp, g, x, y, *p))
if not keep:
    n.release()
return pairs
"""

# ----------------------------------------------------------------------------------------------------------- all others
GENERAL_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
({values}) = n.s  #? values
{opened}
d = formula({call})
if not keep:  #? opened
    n.s = [{freed}]
return (n.fx[0], d)
"""
POINTWISE_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
({values}) = n.s  #? values
{opened}
({edges}) = n.fx
({shapes}) = n.shapes
pairs = ()
{steps}
if not keep:
    n.release()
return pairs
"""
PIECES["open_box"] = """
if type({x}) is Box:
    @open
"""
PIECES["general_step"] = """
if f{i} is not None:
    d = formula{i}({call})  #? call
    if d is not None and d.shape != s{i}:  #? call
        d = xp.sum_to(d, s{i})
    pairs += (f{i}, d)  #? call
    pairs += (f{i}, None)  #? not call
"""
