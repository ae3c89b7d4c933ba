"""The kinds' templates without their flags, one for each set of flags that an operator has.

Made by tools/make_templates.py from the templates in unary, elementwise and linear, which are what to read and to
change.
"""
# mypy: ignore-errors


def _0(general):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = g
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = g
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _1(general, gy_):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = g
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = gy_(xp, g)
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _2(general, gx_):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = gx_(xp, g)
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = g
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _3(general, gx_, gy_):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = gx_(xp, g, y)
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = gy_(xp, g, x)
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _4(general, gx_, gy_):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = gx_(xp, g, y)
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = gy_(xp, g, x, y)
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _5(general, gx_, gy_):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        x = n.x
        y = n.y
        boxed_x = type(x) is Box
        boxed_y = type(y) is Box
        if boxed_x:
            c = x.cell
            if c is not None and c.seq > n.seq:
                stale(n, x)
            x = x.a
        if boxed_y:
            c = y.cell
            if c is not None and c.seq > n.seq:
                stale(n, y)
            y = y.a
        fx = n.fx
        if fx is not None:
            gx = gx_(xp, g, x, y)
            shape = x.shape if boxed_x else x
            if shape is not None and gx.shape != shape:
                gx = xp.sum_to(gx, shape)
            fy = n.fy
            if fy is None:
                if not keep:
                    if boxed_x:
                        n.x = FREED
                    if boxed_y:
                        n.y = FREED
                return (fx, gx)
        gy = gy_(xp, g, x, y)
        shape = y.shape if boxed_y else y
        if shape is not None and gy.shape != shape:
            gy = xp.sum_to(gy, shape)
        if not keep:
            if boxed_x:
                n.x = FREED
            if boxed_y:
                n.y = FREED
        return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
    return backward


def _6(N, constants, fn, info, numbers, raw, reject):
    def op(input, other, *, out=None):
        if out is not None:
            return slow(info, (input, other), out)
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = None
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            if fx is not None and fy is not None:
                sx = xa.shape
                sy = ya.shape
                if sx != sy and sx and (sx[0] == 1) and (len(sx) == len(sy) + 1) and (type(ya) is ndarray):
                    ya = ya[None]
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                n.y = None
            elif fx is None:
                n.x = None
                n.y = ya.shape
            else:
                n.x = sx
                n.y = sy
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _7(N, constants, fn, info, numbers, raw, reject):
    def op(input, other):
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = None
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            if fx is not None and fy is not None:
                sx = xa.shape
                sy = ya.shape
                if sx != sy and sx and (sx[0] == 1) and (len(sx) == len(sy) + 1) and (type(ya) is ndarray):
                    ya = ya[None]
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                n.y = None
            elif fx is None:
                n.x = None
                n.y = ya.shape
            else:
                n.x = sx
                n.y = sy
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _8(N, constants, fn, info, numbers, raw, reject):
    def op(input, other, *, out=None):
        if out is not None:
            return slow(info, (input, other), out)
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            if fx is not None and fy is not None:
                sx = xa.shape
                sy = ya.shape
                if sx != sy and sx and (sx[0] == 1) and (len(sx) == len(sy) + 1) and (type(ya) is ndarray):
                    ya = ya[None]
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                n.y = None
            elif fx is None:
                n.x = None
                n.y = ya.shape
            else:
                n.x = sx
                n.y = sy
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _9(N, constants, fn, info, numbers, raw, reject):
    def op(input, other):
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            if fx is not None and fy is not None:
                sx = xa.shape
                sy = ya.shape
                if sx != sy and sx and (sx[0] == 1) and (len(sx) == len(sy) + 1) and (type(ya) is ndarray):
                    ya = ya[None]
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                n.y = None
            elif fx is None:
                n.x = None
                n.y = ya.shape
            else:
                n.x = sx
                n.y = sy
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _10(N, constants, fn, info, numbers, raw, reject):
    def op(input, other, *, out=None):
        if out is not None:
            return slow(info, (input, other), out)
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                n.y = ya.shape
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _11(N, constants, fn, info, numbers, raw, reject):
    def op(input, other):
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                n.y = ya.shape
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _12(N, constants, direct, fn, info, large, numbers, raw, reject):
    def op(input, other, *, out=None):
        if out is not None:
            return slow(info, (input, other), out)
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                if xa.dtype not in direct:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _13(N, constants, direct, fn, info, large, numbers, raw, reject):
    def op(input, other):
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            n.x = None
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                if xa.dtype not in direct:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                n.x = xa.shape
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _14(N, constants, direct, fn, info, large, numbers, raw, reject):
    def op(input, other, *, out=None):
        if out is not None:
            return slow(info, (input, other), out)
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            b = input._m
            n.x = b if b is not None else box_of(input)
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                if xa.dtype not in direct:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _15(N, constants, direct, fn, info, large, numbers, raw, reject):
    def op(input, other):
        try:
            fx = input._fn
            xa = input._a
        except AttributeError:
            return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if fx is None:
                if EVERY:
                    return slow(info, (input, other))
                known = constants.get(xa.dtype)
                if known is None:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, known[other])
                    else:
                        t._a = fn(xa, other)
                except ARITHMETIC:
                    t._a = silently(fn, xa, other)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, constants[xa.dtype][other])
                else:
                    t._a = r = fn(xa, other)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, other)
            n = N()
            n.fx = fx
            n.fy = None
            n.seq = next(ticks)
            n.h = None
            b = input._m
            n.x = b if b is not None else box_of(input)
            n.y = other
        else:
            try:
                fy = other._fn
                ya = other._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return slow(info, (input, other)) if EVERY else mixed(info, input, other)
            if fx is None and fy is None:
                if EVERY:
                    return slow(info, (input, other))
                if xa.dtype not in direct:
                    return care(info, input, other)
                t = make()
                t._m = t._fn = None
                try:
                    if type(xa) is ndarray:
                        if xa.size >= LARGE:
                            return large(input, other)
                        t._a = raw(xa, ya)
                    else:
                        t._a = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = silently(fn, xa, ya)
                return t
            if M:
                return slow(info, (input, other))
            t = make()
            t._m = None
            try:
                if type(xa) is ndarray:
                    if xa.size >= LARGE:
                        return large(input, other)
                    t._a = r = raw(xa, ya)
                else:
                    t._a = r = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = r = silently(fn, xa, ya)
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            if fy is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            elif fx is None:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                b = input._m
                n.x = b if b is not None else box_of(input)
                b = other._m
                n.y = b if b is not None else box_of(other)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _16(fast, fn, info, large, numbers, raw, reject):
    def plain(input, other, *, out=None):
        if EVERY or out is not None:
            return slow(info, (input, other), out)
        try:
            xa = input._a
        except AttributeError:
            return first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if xa.dtype not in fast:
                return care(info, input, other)
            ya = other
        else:
            try:
                ya = other._a
            except AttributeError:
                return reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return mixed(info, input, other)
        t = make()
        t._m = t._fn = None
        try:
            if type(xa) is ndarray:
                if xa.size >= LARGE:
                    return large(input, other)
                t._a = raw(xa, ya)
            else:
                t._a = fn(xa, ya)
        except (ValueError, TypeError) as error:
            return reject(info, input, other, error)
        except ARITHMETIC:
            t._a = silently(fn, xa, ya)
        return t
    return plain


def _17(fast, fn, info, large, numbers, raw, reject):
    def plain(input, other):
        if EVERY:
            return slow(info, (input, other), None)
        try:
            xa = input._a
        except AttributeError:
            return first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if xa.dtype not in fast:
                return care(info, input, other)
            ya = other
        else:
            try:
                ya = other._a
            except AttributeError:
                return reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return mixed(info, input, other)
        t = make()
        t._m = t._fn = None
        try:
            if type(xa) is ndarray:
                if xa.size >= LARGE:
                    return large(input, other)
                t._a = raw(xa, ya)
            else:
                t._a = fn(xa, ya)
        except (ValueError, TypeError) as error:
            return reject(info, input, other, error)
        except ARITHMETIC:
            t._a = silently(fn, xa, ya)
        return t
    return plain


def _18(direct, fast, fn, info, large, numbers, raw, reject):
    def plain(input, other, *, out=None):
        if EVERY or out is not None:
            return slow(info, (input, other), out)
        try:
            xa = input._a
        except AttributeError:
            return first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if xa.dtype not in fast:
                return care(info, input, other)
            ya = other
        else:
            try:
                ya = other._a
            except AttributeError:
                return reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return mixed(info, input, other)
            if xa.dtype not in direct:
                return care(info, input, other)
        t = make()
        t._m = t._fn = None
        try:
            if type(xa) is ndarray:
                if xa.size >= LARGE:
                    return large(input, other)
                t._a = raw(xa, ya)
            else:
                t._a = fn(xa, ya)
        except (ValueError, TypeError) as error:
            return reject(info, input, other, error)
        except ARITHMETIC:
            t._a = silently(fn, xa, ya)
        return t
    return plain


def _19(direct, fast, fn, info, large, numbers, raw, reject):
    def plain(input, other):
        if EVERY:
            return slow(info, (input, other), None)
        try:
            xa = input._a
        except AttributeError:
            return first_operand(info, input, other)
        if type(other) is not Tensor and type(other) in numbers:
            if xa.dtype not in fast:
                return care(info, input, other)
            ya = other
        else:
            try:
                ya = other._a
            except AttributeError:
                return reject(info, input, other)
            if xa.dtype is not ya.dtype:
                return mixed(info, input, other)
            if xa.dtype not in direct:
                return care(info, input, other)
        t = make()
        t._m = t._fn = None
        try:
            if type(xa) is ndarray:
                if xa.size >= LARGE:
                    return large(input, other)
                t._a = raw(xa, ya)
            else:
                t._a = fn(xa, ya)
        except (ValueError, TypeError) as error:
            return reject(info, input, other, error)
        except ARITHMETIC:
            t._a = silently(fn, xa, ya)
        return t
    return plain


def _20(N, info, otherwise, table):
    def op(input, *args, **kwargs):
        if args or kwargs or M:
            return otherwise(input, *args, **kwargs) if kwargs else otherwise(input, *args)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        t = make()
        t._m = None
        try:
            t._a = table[type(a)](a)
        except ARITHMETIC:
            t._a = silently(table[type(a)], a)
        if fx is None:
            t._fn = None
            return t
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.p = ()
        n.shape = a.shape
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _21(transpose):
    def backward(n, xp, g, keep):
        return (n.fx, transpose(xp, g, *n.p))
    return backward


def _22(transpose):
    def backward(n, xp, g, keep):
        return (n.fx, transpose(xp, g, n.shape, *n.p))
    return backward


def _23(N, info, table):
    def op(input, *p):
        if M:
            return slow(info, (input, *p))
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return first_operand(info, input, *p)
        t = make()
        t._m = None
        try:
            t._a = table[type(a)](a, *p)
        except ARITHMETIC:
            t._a = silently(table[type(a)], a, *p)
        if fx is None:
            t._fn = None
            return t
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.p = p
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _24(N, info, table):
    def op(input, *p):
        if M:
            return slow(info, (input, *p))
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return first_operand(info, input, *p)
        t = make()
        t._m = None
        try:
            t._a = table[type(a)](a, *p)
        except ARITHMETIC:
            t._a = silently(table[type(a)], a, *p)
        if fx is None:
            t._fn = None
            return t
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.p = p
        n.shape = a.shape
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _25(N, info, table):
    def op(input, *p):
        if M:
            return slow(info, (input, *p))
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return first_operand(info, input, *p)
        t = make()
        t._m = None
        if type(a) is not np.ndarray:
            a = alias_payload(input, t)
        t._v = (input, info, p, 0)
        try:
            t._a = table[type(a)](a, *p)
        except ARITHMETIC:
            t._a = silently(table[type(a)], a, *p)
        if fx is None:
            t._fn = None
            return t
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.p = p
        n.shape = a.shape
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _26(general, grad):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        return (n.fx, grad(xp, g))
    return backward


def _27(general, grad):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        b = n.x
        c = b.cell
        if c is not None and c.seq > n.seq:
            stale(n, b)
        gx = grad(xp, g, b.a)
        if not keep:
            n.x = FREED
        return (n.fx, gx)
    return backward


def _28(general, grad):
    def backward(n, xp, g, keep):
        if xp is not RAW:
            return general(n, xp, g, keep)
        b = n.r
        c = b.cell
        if c is not None and c.seq > n.seq:
            stale(n, b)
        gx = grad(xp, g, b.a)
        if not keep:
            n.r = FREED
        return (n.fx, gx)
    return backward


def _29(general):
    def backward(n, xp, g, keep):
        return general(n, xp, g, keep)
    return backward


def _30(N, info, raw, table):
    def op(input, *, out=None):
        if out is not None:
            return slow(info, (input,), out)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _31(N, info, raw, table):
    def op(input):
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _32(N, fast, info, large, raw, table):
    def op(input, *, out=None):
        if out is not None:
            return slow(info, (input,), out)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _33(N, fast, info, large, raw, table):
    def op(input):
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _34(N, fast, info, large, raw, table):
    def op(input, *, out=None):
        if out is not None:
            return slow(info, (input,), out)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        b = input._m
        n.x = b if b is not None else box_of(input)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _35(N, fast, info, large, raw, table):
    def op(input):
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        b = input._m
        n.x = b if b is not None else box_of(input)
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _36(N, fast, info, large, raw, table):
    def op(input, *, out=None):
        if out is not None:
            return slow(info, (input,), out)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.r = t._m = b = Box()
        b.a = r
        b.cell = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _37(N, fast, info, large, raw, table):
    def op(input):
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.r = t._m = b = Box()
        b.a = r
        b.cell = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _38(N, fast, info, large, raw, table):
    def op(input, *, out=None):
        if out is not None:
            return slow(info, (input,), out)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        b = input._m
        n.x = b if b is not None else box_of(input)
        n.r = t._m = b = Box()
        b.a = r
        b.cell = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _39(N, fast, info, large, raw, table):
    def op(input):
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return slow(info, (input,)) if EVERY else first_operand(info, input)
        if fx is None:
            if EVERY:
                return slow(info, (input,))
            if a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t
        if M:
            return slow(info, (input,))
        t = make()
        t._m = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = r = raw(a)
                else:
                    t._a = r = table[type(a)](a)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        b = input._m
        n.x = b if b is not None else box_of(input)
        n.r = t._m = b = Box()
        b.a = r
        b.cell = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t
    return op


def _40(info, large, raw, table):
    def plain(input, *, out=None):
        if EVERY or out is not None:
            return slow(info, (input,), out)
        try:
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        t = make()
        t._m = t._fn = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = raw(a)
                else:
                    t._a = table[type(a)](a)
            except ARITHMETIC:
                t._a = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        return t
    return plain


def _41(info, large, raw, table):
    def plain(input):
        if EVERY:
            return slow(info, (input,), None)
        try:
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        t = make()
        t._m = t._fn = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = raw(a)
                else:
                    t._a = table[type(a)](a)
            except ARITHMETIC:
                t._a = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        return t
    return plain


def _42(fast, info, large, raw, table):
    def plain(input, *, out=None):
        if EVERY or out is not None:
            return slow(info, (input,), out)
        try:
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        if a.dtype not in fast:
            return care(info, input)
        t = make()
        t._m = t._fn = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = raw(a)
                else:
                    t._a = table[type(a)](a)
            except ARITHMETIC:
                t._a = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        return t
    return plain


def _43(fast, info, large, raw, table):
    def plain(input):
        if EVERY:
            return slow(info, (input,), None)
        try:
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        if a.dtype not in fast:
            return care(info, input)
        t = make()
        t._m = t._fn = None
        try:
            try:
                if type(a) is ndarray:
                    if a.size >= LARGE:
                        return large(input)
                    t._a = raw(a)
                else:
                    t._a = table[type(a)](a)
            except ARITHMETIC:
                t._a = silently(table[type(a)], a)
        except TypeError as error:
            raise unsupported(info, input, error) from None
        return t
    return plain


FOLDED = {
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', -1), ('code_y', -1), ('keep_result', False))): _0,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', -1), ('code_y', 0), ('keep_result', False))): _1,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', 0), ('code_y', -1), ('keep_result', False))): _2,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', 2), ('code_y', 1), ('keep_result', False))): _3,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', 2), ('code_y', 3), ('keep_result', False))): _4,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.backward', (('code_x', 3), ('code_y', 3), ('keep_result', False))): _5,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', False), ('both_y', False), ('by_shape', True), ('check_dtype', False), ('keep_number', False), ('keep_result', False), ('xx', False), ('xy', False), ('yx', False), ('yy', False))): _6,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', False), ('both_y', False), ('by_shape', True), ('check_dtype', False), ('keep_number', False), ('keep_result', False), ('xx', False), ('xy', False), ('yx', False), ('yy', False), ('out', None))): _7,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', False), ('both_y', False), ('by_shape', True), ('check_dtype', False), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', False), ('yx', False), ('yy', False))): _8,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', False), ('both_y', False), ('by_shape', True), ('check_dtype', False), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', False), ('yx', False), ('yy', False), ('out', None))): _9,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', False), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', True), ('yx', True), ('yy', False))): _10,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', False), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', False), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', True), ('yx', True), ('yy', False), ('out', None))): _11,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', True), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', True), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', True), ('yx', True), ('yy', True))): _12,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', True), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', True), ('keep_number', True), ('keep_result', False), ('xx', False), ('xy', True), ('yx', True), ('yy', True), ('out', None))): _13,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', True), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', True), ('keep_number', True), ('keep_result', False), ('xx', True), ('xy', True), ('yx', True), ('yy', True))): _14,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.op', (('blocks', True), ('both_x', True), ('both_y', True), ('by_shape', False), ('check_dtype', True), ('keep_number', True), ('keep_result', False), ('xx', True), ('xy', True), ('yx', True), ('yy', True), ('out', None))): _15,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', False))): _16,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', False), ('out', None))): _17,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', True))): _18,
    ('wengert._kinds.elementwise', 'binary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', True), ('out', None))): _19,
    ('wengert._kinds.linear', '_alone.<locals>.op', (('keep_shape', True),)): _20,
    ('wengert._kinds.linear', 'linear.<locals>.declare.<locals>.backward', (('keep_shape', False),)): _21,
    ('wengert._kinds.linear', 'linear.<locals>.declare.<locals>.backward', (('keep_shape', True),)): _22,
    ('wengert._kinds.linear', 'linear.<locals>.declare.<locals>.op', (('keep_shape', False), ('view', False))): _23,
    ('wengert._kinds.linear', 'linear.<locals>.declare.<locals>.op', (('keep_shape', True), ('view', False))): _24,
    ('wengert._kinds.linear', 'linear.<locals>.declare.<locals>.op', (('keep_shape', True), ('view', True))): _25,
    ('wengert._kinds.unary', '_backward.<locals>.backward', (('keep_result', False), ('keep_self', False))): _26,
    ('wengert._kinds.unary', '_backward.<locals>.backward', (('keep_result', False), ('keep_self', True))): _27,
    ('wengert._kinds.unary', '_backward.<locals>.backward', (('keep_result', True), ('keep_self', False))): _28,
    ('wengert._kinds.unary', '_backward.<locals>.backward', (('keep_result', True), ('keep_self', True))): _29,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', False), ('check_dtype', False), ('keep_result', False), ('keep_self', False))): _30,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', False), ('check_dtype', False), ('keep_result', False), ('keep_self', False), ('out', None))): _31,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', False), ('keep_self', False))): _32,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', False), ('keep_self', False), ('out', None))): _33,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', False), ('keep_self', True))): _34,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', False), ('keep_self', True), ('out', None))): _35,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', True), ('keep_self', False))): _36,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', True), ('keep_self', False), ('out', None))): _37,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', True), ('keep_self', True))): _38,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.op', (('blocks', True), ('check_dtype', True), ('keep_result', True), ('keep_self', True), ('out', None))): _39,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', False))): _40,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', False), ('out', None))): _41,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', True))): _42,
    ('wengert._kinds.unary', 'unary.<locals>.declare.<locals>.plain', (('blocks', True), ('check_dtype', True), ('out', None))): _43,
}
