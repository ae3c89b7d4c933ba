# Made by tools/make_stubs.py; do not edit.
from .profiler import *
from .._compat import find_rows as find_rows
from ..autograd.profiler import kineto_available as kineto_available, record_function as record_function
from ..autograd.profiler_util import DeviceType as DeviceType
from ..profiler import itt as itt, profiler as profiler
