"""``FlopCounterMode``: counts the floating point operations of matrix products and convolutions in a block.

Products and convolutions in backward passes are counted too, for the modules whose forward made their nodes.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from .._base.errors import warn
from .._base.modes import begin, ending, unwinding
from .._tape import engine
from .._tape.node import Node, Port
from .._tape.tensor import Tensor
from . import _flops
from ._aten import OpOverloadPacket, aten
from ._python_dispatch import OperatorMode
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

Formula = Callable[..., int]


def _shapes(values: Any) -> Any:
    if isinstance(values, Tensor):
        return values.shape
    return type(values)(_shapes(v) for v in values) if type(values) in (tuple, list) else values


def _of_shapes(formula: Formula) -> Formula:
    """A formula of shapes as a function of tensors."""

    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        return formula(*_shapes(args), out_shape=_shapes(out_val), **{k: _shapes(v) for k, v in kwargs.items()})

    return counted


def _product(a: Any, b: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    if len(a) > 2 or len(b) > 2:
        return math.prod(out_shape[:-2]) * _flops.product(a[-2:], b[-2:])
    return _flops.product(a, b)


def _layer(*shapes: Any, out_shape: Any = None, **kwargs: Any) -> int:
    given = [s for s in shapes if isinstance(s, tuple)]
    return _flops.of_layer(given, out_shape)


flop_registry: dict[Any, Formula] = {
    **dict.fromkeys((aten.mm, aten.bmm, aten.matmul), _of_shapes(_product)),
    **dict.fromkeys((aten.addmm, aten.baddbmm), _of_shapes(_layer)),
}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Decorator for a function that counts an operator of ``torch.ops.aten`` from the shapes of its arguments.

    The function gets the shapes in place of the arguments, and ``out_shape``; with ``get_raw`` it gets the arguments
    themselves, and ``out_val``.
    """

    def register(formula: Formula) -> Formula:
        counted = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = counted
        return formula

    return register


class _Mode(OperatorMode):
    """The dispatch mode that counts the operators."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.counter._count(func, args, out)
        return out


class _Entered:
    """A counter that was entered; this class itself stands for none."""

    @staticmethod
    def end() -> None:  # of an entered one: a function of C that leaves it, see NOTE [ Interrupts ] in _base/modes.py
        raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")


_entered: ContextVar[tuple[Any, ...]] = ContextVar("wengert_flop_counters", default=(_Entered,))


class FlopCounterMode:
    """Counts operations inside ``with``, where a multiplication and an addition are two operations.

    ``get_total_flops()``, ``get_flop_counts()`` by module and operator, ``get_table(depth)``, which is printed at the
    end unless ``display=False``. ``custom_mapping``: formulas for operators, as for ``register_flop_formula``.

    >>> import wengert as torch
    >>> from wengert.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     y = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Formula] | None = None,
    ) -> None:
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.depth = depth
        self.display = display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.flop_registry = {**flop_registry, **{k: _of_shapes(f) for k, f in (custom_mapping or {}).items()}}
        self.mod_tracker = ModuleTracker()
        self._made_in: weakref.WeakKeyDictionary[Node, set[str]] = weakref.WeakKeyDictionary()
        self._in_backward: list[set[str]] = []

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        mode, entered, before = _Mode(self), _Entered(), _entered.get()
        undo, entered.end = unwinding()  # type: ignore[method-assign]
        try:
            self.mod_tracker.__enter__()
            undo.append(ModuleTracker.__exit__)
            unwatch = partial(engine.observers.remove, self._step)
            begin(partial(engine.observers.append, self._step), unwatch)
            undo.append(unwatch)
            mode.__enter__()
            undo.append(OperatorMode.__exit__)
            _entered.set((*before, entered))
            undo[1:1] = [self._show, partial(_entered.set, before)]
        except BaseException:
            entered.end()
            _entered.set(before)
            raise
        return self

    __exit__ = ending(_entered)

    def _show(self) -> None:
        if self.display:
            print(self.get_table(self.depth))  # noqa: T201  what display=True is for

    # ---- counting
    def _count(self, func: Any, args: Any, out: Any) -> None:
        modules = self._in_backward[-1] if self._in_backward else self.mod_tracker.parents
        if isinstance(out, Tensor) and out._node is not None:
            self._made_in[out._node.fx if type(out._node) is Port else out._node] = modules
        info = func.info
        packet = func._overloadpacket
        if packet.__name__ == "matmul" and len(out.shape) > 2:
            packet = aten.bmm if len(args[1].shape) > 2 else aten.mm
        if packet in self.flop_registry:
            count = self.flop_registry[packet](*args, out_val=out)
        elif packet.__name__ in ("convolution", "convolution_backward"):
            count = _of_convolution(info.name, _shapes(args), _shapes(out))
        elif packet.__name__ == "einsum" and _is_contraction(*args):
            packet, count = aten.bmm, _of_contraction(*args)
        else:
            return
        for name in modules:
            self.flop_counts[name][packet] += count

    def _step(self, n: Any, g: Any, step: Any) -> Any:
        self._in_backward.append(self._made_in.get(n.fx if type(n) is Port else n, {"Global"}))
        try:
            return step()
        finally:
            self._in_backward.pop()

    # ---- results
    def get_total_flops(self) -> int:
        """Of all operators."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The counts by module, then by operator; ``"Global"`` is the total."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Modules with their operators, in the unit that suits the total."""
        deepest = self.depth if depth is None else depth
        total = self.get_total_flops()
        power = max(0, min(len(_UNITS) - 1, (len(str(total)) - 2) // 3))
        rows: list[list[str]] = []
        inside = False  # whether one module did it all
        for name in sorted(self.flop_counts):
            level = name.count(".")
            if name != "Global" and (deepest is None or level < deepest):
                rows += _rows(name, self.flop_counts[name], level, total, power)
                inside = inside or sum(self.flop_counts[name].values()) >= total
        if "Global" in self.flop_counts and not inside:
            rows = [[" " + row[0], *row[1:]] for row in rows]
            rows = _rows("Global", self.flop_counts["Global"], 0, total, power) + rows
        return _table([["Module", "FLOP", "% Total"]] + (rows or [["Global", "0", "0%"]]))


_UNITS = ("", "K", "M", "B", "T")


def _is_contraction(x: Tensor, y: Tensor, of_x: Any, of_y: Any, of_out: Any) -> bool:
    """Whether a product of two tensors with labels is summed over one: else PyTorch multiplies elements."""
    return not set(of_x).intersection(of_y) <= set(of_out)


def _of_contraction(x: Tensor, y: Tensor, of_x: Any, of_y: Any, of_out: Any) -> int:
    return 2 * math.prod({**dict(zip(of_x, x.shape, strict=True)), **dict(zip(of_y, y.shape, strict=True))}.values())


def _of_convolution(name: str, args: Any, out: Any) -> int:
    """Of a convolution, or of its gradient by the input or by the weight: the same products in other sums."""
    if name == "convolution":
        return _flops.convolution(args[1], out)
    shapes = [s for s in args if isinstance(s, tuple) and len(s) >= 3 and all(isinstance(n, int) for n in s)]
    if name == "convolution_transposed":
        return _flops.convolution(args[1], args[0])
    if name == "conv_input":  # (cotangent, weight) -> input
        return _flops.convolution(shapes[1], shapes[0])
    small, large = sorted(
        shapes[:2], key=lambda s: math.prod(s[2:])
    )  # conv_weight, which PyTorch counts without groups
    return _flops.convolution((small[1], large[1], *out[2:]), small)


def _rows(name: str, counts: dict[Any, int], level: int, total: int, power: int) -> list[list[str]]:
    entries = [(name, sum(counts.values())), *((f" - {op}", count) for op, count in counts.items())]
    return [
        [" " * level + label, f"{count / 1000**power:.3f}{_UNITS[power]}", f"{count / total:.2%}" if total else "0%"]
        for label, count in entries
    ]


def _table(rows: list[list[str]]) -> str:
    """The first column to the left, the others to the right, a rule below the titles."""
    widths = [max(len(row[k]) for row in rows) + (2 if k == 0 else 0) for k in range(3)]
    widths[0] -= 2
    lines = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() if i != 1 else line for i, line in enumerate(lines))
