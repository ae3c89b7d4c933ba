# Made by tools/make_stubs.py; do not edit.
from ..autograd.profiler import kineto_available as kineto_available
from ..autograd.profiler import record_function as record_function
from ..autograd.profiler_util import DeviceType as DeviceType
from ..profiler import profiler as profiler
from ..profiler.profiler import ExecutionTraceObserver as ExecutionTraceObserver
from ..profiler.profiler import ProfilerAction as ProfilerAction
from ..profiler.profiler import ProfilerActivity as ProfilerActivity
from ..profiler.profiler import profile as profile
from ..profiler.profiler import schedule as schedule
from ..profiler.profiler import supported_activities as supported_activities
from ..profiler.profiler import tensorboard_trace_handler as tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "profiler",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
