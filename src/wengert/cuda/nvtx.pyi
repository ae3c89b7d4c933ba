# Made by tools/make_stubs.py; do not edit.
from .._compat.cuda.nvtx import mark as mark
from .._compat.cuda.nvtx import range as range
from .._compat.cuda.nvtx import range_end as range_end
from .._compat.cuda.nvtx import range_pop as range_pop
from .._compat.cuda.nvtx import range_push as range_push
from .._compat.cuda.nvtx import range_start as range_start
