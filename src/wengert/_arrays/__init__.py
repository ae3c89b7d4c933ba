"""NumPy only: what NumPy lacks or is slow at. No tensor, and no operator, is known here.

``library.lib``, which operators' bodies are given, is NumPy's namespace and every function here under ``@in_lib``; a
module of kernels is imported when one of its functions is first asked for (``_base.late_names``).
"""
