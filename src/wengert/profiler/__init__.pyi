# Made by tools/make_stubs.py; do not edit.
from .profiler import *
from ..autograd.profiler import kineto_available as kineto_available, record_function as record_function
from ..autograd.profiler_util import DeviceType as DeviceType
from ..profiler import profiler as profiler
