"""Payloads other than plain arrays: duals, batches, arrays without data, sparse arrays, bfloat16."""

import sys

from .._base.silence import silence

silence(sys.modules[__name__])
