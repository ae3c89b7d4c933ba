# Made by tools/make_stubs.py; do not edit.
from ...utils.benchmark import utils as utils
from ...utils.benchmark.utils.common import Measurement as Measurement, TaskSpec as TaskSpec, ordered_unique as ordered_unique, select_unit as select_unit, set_torch_threads as set_torch_threads, trim_sigfig as trim_sigfig, unit_to_english as unit_to_english
from ...utils.benchmark.utils.compare import Colorize as Colorize, Compare as Compare
from ...utils.benchmark.utils.timer import Language as Language, Timer as Timer, timer as timer
