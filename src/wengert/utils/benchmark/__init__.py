"""``torch.utils.benchmark``: timing of statements, and tables that compare the times.

>>> import wengert as torch
>>> timer = torch.utils.benchmark.Timer("x + x", globals={"x": torch.ones(3)}, label="add")
>>> timer.timeit(10)
<torch.utils.benchmark.utils.common.Measurement object at 0x...>
add
  ...
  1 measurement, 10 runs , 1 thread
"""

from .utils.common import *  # noqa: F403
from .utils.common import __all__ as _of_times
from .utils.compare import *  # noqa: F403
from .utils.compare import __all__ as _of_tables
from .utils.timer import *  # noqa: F403
from .utils.timer import __all__ as _of_timers

__all__ = [*_of_times, *_of_tables, *_of_timers]  # noqa: PLE0604
