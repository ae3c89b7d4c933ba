"""``torch.quasirandom``: Sobol' sequences, whose points fill a cube more evenly than random ones.

>>> import wengert as torch
>>> torch.quasirandom.SobolEngine(2).draw(4)
tensor([[0.0000, 0.0000],
        [0.5000, 0.5000],
        [0.7500, 0.2500],
        [0.2500, 0.7500]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as torch

from ._arrays.scipy_functions import from_scipy
from ._base.dtypes import dtype as Dtype
from ._tape.tensor import Tensor
from ._tensor_api.generator import Generator

__all__ = ["SobolEngine"]


class SobolEngine:
    """A Sobol' sequence of points in the unit cube with ``dimension`` dims, the same points as PyTorch's.

    It needs SciPy for the table of direction numbers of Joe and Kuo (criterion D(6), up to 21201 dims).

    ``scramble``: scramble each dim by a random lower triangular matrix and a shift, drawn from the default generator
    or, with ``seed``, from a new one (Owen, Scrambling Sobol' and Niederreiter-Xing points, J. Complexity 14, 1998).

    Raises:
        ValueError: ``dimension`` is out of range.

    >>> import wengert as torch
    >>> engine = torch.quasirandom.SobolEngine(dimension=5)
    >>> engine.draw(3)
    tensor([[0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.5000, 0.5000, 0.5000],
            [0.7500, 0.2500, 0.2500, 0.2500, 0.7500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.num_generated = 0
        self.sobolstate = torch.from_numpy(_direction_numbers(dimension, self.MAXBIT))
        self.shift = torch.zeros(dimension, dtype=torch.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()  # the last point drawn, or the first of all, times 2**MAXBIT

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next ``n`` points, of shape (n, dimension)."""
        points = self._steps(n)
        if n:
            self.quasi = torch.from_numpy(points[-1].copy())
        self.num_generated += n
        result = torch.from_numpy(points).to(torch.get_default_dtype() if dtype is None else dtype) * 2.0**-self.MAXBIT
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next ``2**m`` points.

        Raises:
            ValueError: the total number of points would not be a power of 2, and the points not balanced.
        """
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin again."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out ``n`` points."""
        if n:
            self.num_generated += n
            last = self.num_generated - 1  # the Gray code of its number selects its direction numbers
            gray = last ^ (last >> 1)
            bits = np.array([gray >> b & 1 for b in range(self.MAXBIT)], bool)
            chosen = self.sobolstate.numpy()[:, bits]
            self.quasi = torch.from_numpy(self.shift.numpy() ^ np.bitwise_xor.reduce(chosen, axis=1))
        return self

    def _steps(self, n: int) -> np.ndarray:
        """The next ``n`` points as integers: each differs from the one before in one direction number."""
        begin = self.num_generated
        if begin + n > 2**self.MAXBIT:
            raise ValueError(f"At most 2**{self.MAXBIT} points can be drawn from a SobolEngine")
        numbers = np.arange(max(begin, 1), begin + n, dtype=np.int64)  # the first point takes no step
        lowest = np.frexp((numbers & -numbers).astype(np.float64))[1] - 1  # the bit that the Gray code changes
        steps = self.sobolstate.numpy()[:, lowest].T
        points = np.concatenate([self.quasi.numpy()[None], steps])
        return np.bitwise_xor.accumulate(points, axis=0)[-n if n else len(points) :]

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        shift = torch.randint(2, (self.dimension, bits), generator=generator)
        self.shift = torch.mv(shift, torch.pow(2, torch.arange(bits)))
        matrices = torch.randint(2, (self.dimension, bits, bits), generator=generator).tril().numpy()
        matrices[:, range(bits), range(bits)] = 1
        # Row p of a matrix gives bit p, counted from the highest, of each product with the bits of a direction number.
        high_first = np.arange(bits - 1, -1, -1)
        of_number = self.sobolstate.numpy()[:, :, None] >> high_first & 1
        parity = np.matmul(matrices, of_number.transpose(0, 2, 1)) & 1
        self.sobolstate = torch.from_numpy((parity << high_first[:, None]).sum(1))

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        facts += ["scramble=True"] if self.scramble else []
        facts += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(facts)})"


def _direction_numbers(dimension: int, bits: int) -> Any:
    """The direction numbers of the first dims, times ``2**bits``, of shape (dimension, bits)."""
    qmc = from_scipy("stats.qmc")
    return np.ascontiguousarray(qmc.Sobol(dimension, scramble=False, bits=bits)._sv, dtype=np.int64)
