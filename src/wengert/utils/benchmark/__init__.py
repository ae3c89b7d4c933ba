"""``torch.utils.benchmark``: timing of statements, and tables that compare the times.

>>> import wengert as torch
>>> timer = torch.utils.benchmark.Timer("x + x", globals={"x": torch.ones(3)}, label="add")
>>> timer.timeit(10)
<torch.utils.benchmark.utils.common.Measurement object at 0x...>
add
  ...
  1 measurement, 10 runs , 1 thread
"""

from .utils.common import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from .utils.compare import Colorize, Compare
from .utils.timer import Language, Timer, timer

__all__ = [
    "Colorize",
    "Compare",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
