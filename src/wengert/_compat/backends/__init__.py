"""``torch.backends``: what PyTorch computes with. Here it is NumPy: the others answer that they are not there.

Their switches can be set and read, so that programs run; they have nothing to switch.
"""

from . import cpu, cuda, cudnn, cusparselt, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "cusparselt", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision = "none"

# names of the package itself, as torch.has_mkl
has_cuda = has_cudnn = has_mkl = has_mkldnn = has_mps = has_openmp = False
has_lapack = has_spectral = True  # SciPy's, and NumPy's Fourier transforms


def is_vulkan_available() -> bool:
    """False."""
    return False
