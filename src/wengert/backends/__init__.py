"""``torch.backends``: what PyTorch computes with. Here it is NumPy: the others answer that they are not there.

Their switches can be set and read, so that programs run; they have nothing to switch.
"""

from . import cpu, cuda, cudnn, cusparselt, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "cusparselt", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision = "none"
