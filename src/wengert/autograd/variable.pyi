# Made by tools/make_stubs.py; do not edit.
from .._tape.tensor import Tensor as _Tensor
Variable = _Tensor
