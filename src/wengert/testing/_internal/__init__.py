"""What test-suites written for PyTorch import from ``torch.testing._internal``: test cases, decorators, comparisons.

Not for programs, as in PyTorch. What is here has PyTorch's names and does the same on the one device that there is;
its lists of operators with samples (``op_db``) are not here: ``wengert._base.registry`` holds wengert's.
"""
