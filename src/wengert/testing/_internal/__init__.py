"""``torch.testing._internal``: test cases, decorators and comparisons for test suites written for PyTorch.

It is private, as in PyTorch. The names are PyTorch's and do the same on the one device. PyTorch's lists of operators
with samples (``op_db``) are missing: ``wengert._base.registry`` holds wengert's.
"""

from wengert._compat import find_rows

find_rows(globals())
