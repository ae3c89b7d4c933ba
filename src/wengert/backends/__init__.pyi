# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, str as _str
from .. import is_vulkan_available as is_vulkan_available
from ..backends import cpu as cpu, cuda as cuda, cudnn as cudnn, cusparselt as cusparselt, mha as mha, mkl as mkl, mkldnn as mkldnn, mps as mps, nnpack as nnpack, openmp as openmp, opt_einsum as opt_einsum, quantized as quantized
fp32_precision: _str
has_cuda: _bool
has_cudnn: _bool
has_lapack: _bool
has_mkl: _bool
has_mkldnn: _bool
has_mps: _bool
has_openmp: _bool
has_spectral: _bool
