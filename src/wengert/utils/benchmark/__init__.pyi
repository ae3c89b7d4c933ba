# Made by tools/make_stubs.py; do not edit.
from ...utils.benchmark import utils as utils
from ...utils.benchmark.utils.common import Measurement as Measurement
from ...utils.benchmark.utils.common import TaskSpec as TaskSpec
from ...utils.benchmark.utils.common import ordered_unique as ordered_unique
from ...utils.benchmark.utils.common import select_unit as select_unit
from ...utils.benchmark.utils.common import set_torch_threads as set_torch_threads
from ...utils.benchmark.utils.common import trim_sigfig as trim_sigfig
from ...utils.benchmark.utils.common import unit_to_english as unit_to_english
from ...utils.benchmark.utils.compare import Colorize as Colorize
from ...utils.benchmark.utils.compare import Compare as Compare
from ...utils.benchmark.utils.timer import Language as Language
from ...utils.benchmark.utils.timer import Timer as Timer
from ...utils.benchmark.utils.timer import timer as timer

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
    "utils",
]
