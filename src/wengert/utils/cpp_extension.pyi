# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
class BuildExtension(Any): ...
def CUDAExtension(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
CUDA_HOME: None
def CppExtension(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
IS_HIP_EXTENSION: _bool
ROCM_HOME: None
def SyclExtension(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def include_paths(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def library_paths(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def load(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def load_inline(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
