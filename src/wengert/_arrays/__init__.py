"""Functions on NumPy arrays that NumPy lacks or is slow at. They know no tensors and no operators.

``library.lib``, which operators' bodies receive, is NumPy's namespace and every function here under ``@in_lib``; a
module of kernels is imported when one of its functions is first used (``_base.late_names``).
"""
