"""Pieces over the same elements run block by block: what one writes, the next finds in the cache.

A piece says of which arrays step i of its range takes the i-th of equal parts (``Piece.even``). Two pieces in a row
have equal digits whether the first one makes all of its steps before the second one begins, or a block of them, if
every array that either one writes is cut alike by both, or belongs to one of them. What is written and read inside of
such a run alone needs no memory but that of one block, on the stack.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .pieces import Piece
from .steps import Call

if TYPE_CHECKING:
    from .program import CProgram

NEAR = 1 << 16  # bytes of a block: what the first two caches hold beside other things
STEP = 1 << 18  # bytes of a step beyond which a block is in no near cache
STACK = 1 << 16  # bytes of a block's own arrays
FEWEST = 16  # steps of a run of many elements, for its threads to share

Region = tuple[int, int, int]  # of which memory, from which byte, to which


def in_blocks(program: CProgram) -> list[Any]:
    """The program's segments, with runs of pieces as one piece."""
    runs: list[_Run] = []
    for s in program._segments:
        regions = _regions(program, s) if isinstance(s, Piece) else None
        if not runs or not runs[-1].takes(s, regions):
            runs.append(_Run(s, regions))
    used = _uses(program)
    return [run.pieces[0] if len(run.pieces) == 1 else _Blocks(program, run.pieces, used) for run in runs]


def _region(program: CProgram, memory: int, byte: int, nbytes: int) -> Region:
    if memory in program.offsets:  # of the frame, which different values have one after the other
        return -1, program.offsets[memory] + byte, program.offsets[memory] + byte + nbytes
    return memory, byte, byte + nbytes


def _regions(program: CProgram, piece: Piece) -> list[tuple[Region, bool, bool]] | None:
    """Each array of a piece: (region, whether it is cut evenly, whether it is written); ``None``: not to be joined."""
    if not piece.even or not piece.grain or not isinstance(piece.total, int):
        return None
    found = []
    for memory, byte in piece.arguments:
        if memory < 0:
            return None  # what one operator needs for itself lies where the next one's does
        nbytes, written = piece.even[memory, byte], (memory, byte) in piece.writes
        if written and (not nbytes or program.plan.values[memory].source is not None):
            return None  # inputs may lie in each other's memory
        if nbytes:
            found.append((_region(program, memory, byte, nbytes), True, written))
        else:
            found.append((_region(program, memory, 0, program.plan.values[memory].nbytes), False, written))
    return found


class _Run:
    """Pieces in a row; ``regions`` of each array of theirs: whether it is cut evenly, and whether it is written."""

    def __init__(self, piece: Any, regions: list[tuple[Region, bool, bool]] | None) -> None:
        self.pieces = [piece]
        self.regions = None if regions is None else {r: (cut, written) for r, cut, written in regions}

    def takes(self, piece: Any, regions: list[tuple[Region, bool, bool]] | None) -> bool:
        """Whether a piece joins the run: it reads what the run has, and no order of theirs is lost."""
        if self.regions is None or regions is None:
            return False
        pieces = [*self.pieces, piece]
        steps = min(p.total for p in pieces)
        if any(p.total % steps for p in pieces) or (steps < FEWEST and any(p.total > p.grain for p in pieces)):
            return False
        even = {r for r, (cut, _) in self.regions.items() if cut} | {r for r, cut, _ in regions if cut}
        if sum(b - a for _, a, b in even) > steps * STEP:
            return False
        shared = False
        for r, cut, written in regions:
            same = self.regions.get(r)
            shared |= same is not None and same[0] and cut and not written
            for q, (others, wrote) in self.regions.items():
                apart = r[0] != q[0] or r[2] <= q[1] or q[2] <= r[1]
                if (written or wrote) and not apart and not (r == q and cut and others):
                    return False
        if shared:
            self.pieces.append(piece)
            for r, cut, written in regions:
                before = self.regions.get(r, (True, False))
                self.regions[r] = cut and before[0], written or before[1]
        return shared


def _uses(program: CProgram) -> Counter[int]:
    """How many segments name each memory; those of results and updates count as many more."""
    used: Counter[int] = Counter()
    places = program.layout.places
    for s in program._segments:
        if isinstance(s, Call):
            named = [*s.args, *s.p, *s.outs]
            flat = [x for a in named for x in (a if isinstance(a, list) else [a])]
            used.update({x.memory for x in flat if hasattr(x, "memory")})
        else:
            used.update({memory for memory, _ in s.arguments})
    ends = [*program.plan.results, *(r for pair in program.plan.updates for r in pair)]
    used.update({places[r].memory: len(program._segments) for r in ends})
    return used


class _Blocks(Piece):
    """A run of pieces."""

    def __init__(self, program: CProgram, run: list[Piece], used: Counter[int]) -> None:
        steps = min(p.total for p in run)
        super().__init__(steps, max(1, min(-(-p.grain * steps // p.total) for p in run)))
        self.run = run
        even = {key: nbytes // steps for p in run for key, nbytes in p.even.items() if nbytes}
        step = sum({(_region(program, *key, n)): n for key, n in even.items()}.values())
        self.steps = max(1, NEAR // max(step, 1))
        if self.steps > 64:
            self.steps -= self.steps % 64
        counts = Counter(m for p in run for m in {memory for memory, _ in p.arguments})
        written = {key for p in run for key in p.writes}
        self.own: dict[tuple[int, int], tuple[int, int]] = {}  # on the stack: (from which byte, bytes of a step)
        self.room = 0
        for key in sorted(written):
            memory, byte = key
            alone = memory in program.offsets and used[memory] == counts[memory]
            nbytes = even[key] * self.steps
            whole = not byte and even[key] * steps == program.plan.values[memory].nbytes
            if alone and whole and self.room + nbytes <= STACK and not any(m == memory and b for m, b in even):
                self.own[key] = self.room, even[key]
                self.room += -(-nbytes // 64) * 64
        for p in run:
            for key, t in zip(p.arguments, p.types, strict=True):
                if key not in self.own and key not in self.arguments:
                    self.arguments.append(key)
                    self.types.append(t)

    def text(self, name: str) -> str:
        room = f"  u8 own[{self.room}] __attribute__((aligned(64)));\n" if self.room else ""
        lines = []
        for p in self.run:
            each = p.total // self.total  # steps of this piece for one of the run
            lines.append(f"    {{ const i64 from = F * {each}, to = T * {each};")
            for k, (key, t) in enumerate(zip(p.arguments, p.types, strict=True)):
                if key in self.own:
                    at, step = self.own[key]
                    where = f"((intptr_t)own + {at} - F * {step})"
                else:
                    where = f"A[{self.arguments.index(key)}]"
                lines.append(f"    {t} *a{k} = ({t} *){where};")
            lines += [*p.lines, "    }"]
        body = "\n".join(lines)
        return (
            f"static void {name}(void **A, i64 start, i64 end) {{\n{room}"
            f"  for (i64 F = start; F < end; F += {self.steps}) {{\n"
            f"    const i64 T = F + {self.steps} < end ? F + {self.steps} : end;\n{body}\n  }}\n}}\n"
        )
