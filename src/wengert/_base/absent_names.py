"""PyTorch operators that wengert does not have, and the reason for each: AttributeError and docs/absent.md show it."""

from __future__ import annotations

import re

# group of names -> (why they are absent, a regular expression for the whole name)
ABSENT = {
    "Quantised tensors": (
        "Integers that stand for floats by a scale are a storage format of inference engines; NumPy has no such dtype.",
        (
            r"(de)?quantiz.*|q_(scale|zero_point|per_channel_.*)|qscheme|per_(tensor|channel)_.*|int_repr|"
            r"empty_quantized|fbgemm_.*|fused_moving_avg_obs_fake_quant|choose_qparams_optimized|QU?Int.*Storage|ao|"
            r"quantization|quantizable|quantized|qat|intrinsic"
        ),
    ),
    "Sparse layouts of blocks": (
        "BSR, BSC and 2:4 blocks are formats of kernels for accelerators; CSR holds the same elements.",
        (
            r"sparse_(bsr|bsc)_tensor|indices_copy|SparseSemiStructured.*|"
            r"to_sparse_semi_structured|smm|hs(pmm|mm)|sspaddmm|sparse_resize.*|resize_as_sparse_|spsolve|native_norm"
        ),
    ),
    "Operators of one device's library": (
        "cuDNN, MIOpen, MKL-DNN, Vulkan, IPU, MTIA: the operator of the same name without the prefix does the same.",
        r"(cudnn|miopen|mkldnn)_.*|to_mkldnn|is_vulkan_available|record_stream|ipu|mtia",
    ),
    "Parts of a batch norm over several devices": (
        "Kernels that nn.SyncBatchNorm of PyTorch is made of; there is one device.",
        r"batch_norm_(backward_.*|elemt|gather_stats.*|stats|update_stats)",
    ),
    "Methods of nested tensors": (
        "A nested tensor, which `torch.nested` makes, has it; other tensors have nothing to pad.",
        r"to_padded_tensor",
    ),
    "Products of 8-bit floats": (
        "Kernels of recent GPUs.",
        r"scaled_(grouped_)?mm|ScalingType|SwizzleType",
    ),
    "Symbolic sizes": (
        "Sizes are plain numbers: nothing is traced, so nothing is to be constrained.",
        r"sym_(constrain_range.*|fresh_size)|Sym(Int|Float|Bool).*",
    ),
    "TorchScript": (
        "There is no second interpreter; torch.jit.script returns what runs the same Python, torch.jit.trace a graph.",
        (
            r"Script.*|parse_.*|import_ir_module.*|.*Type|CompilationUnit|Graph|AliasDb|(Function|Argument)(Schema|Spec)?|"
            r"JITException|LiteScriptModule"
        ),
    ),
    "Kernels made at run time": ("The jiterator compiles CUDA code.", r"jiterator.*"),
    "Internals": (
        "Steps that PyTorch's own implementation is made of; no program calls them.",
        (r"slice_inverse|grad_dtype|storage_type|index|boolean_dispatch|assert_int_or_pair|factory_kwargs"),
    ),
}


def why(name: str) -> str | None:
    """The reason why `name` is absent, or ``None`` if no decision was made."""
    for what, (reason, pattern) in ABSENT.items():
        if re.fullmatch(pattern, name):
            return f"Why: {what[0].lower()}{what[1:]}. {reason}"
    return None
