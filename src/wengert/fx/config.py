"""Switches of ``torch.fx``."""

__all__: list[str] = []

disable_progress = True
verbose_progress = False
do_not_emit_stack_traces = False  # record no lines in nodes, whatever the tracer says
