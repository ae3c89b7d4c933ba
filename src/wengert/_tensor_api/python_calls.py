"""How PyTorch hands a call to an override: which arguments stand by place, which by keyword, which defaults are there.

A function that PyTorch compiles hands on what it was given. One that it writes in Python hands on its parameters, the
first few by place and all others by keyword, with their defaults; so a trace of it shows every parameter.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .._base.errors import warn
from .._base.registry import PUBLIC
from .._kinds.templates import first_call_of
from .torch_function import NAMED, OF_FUNCTIONAL_MODULE, SITES, overrides, public_places

# The functions that PyTorch writes in Python, by the number of arguments that they hand on by place.
_BY_PLACE = {
    name: count
    for count, names in enumerate(
        (
            "",
            """alpha_dropout celu dropout dropout1d dropout2d dropout3d elu feature_alpha_dropout glu gumbel_softmax
            hardsigmoid hardswish hardtanh instance_norm interpolate leaky_relu log_softmax mish norm normalize relu
            relu6 rrelu selu silu softmax softmin softsign tanhshrink unique unique_consecutive unravel_index""",
            """adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
            affine_grid binary_cross_entropy binary_cross_entropy_with_logits cdist cross_entropy embedding
            embedding_bag fractional_max_pool2d fractional_max_pool3d grid_sample group_norm hinge_embedding_loss
            huber_loss kl_div l1_loss layer_norm local_response_norm max_pool1d max_pool2d max_pool3d mse_loss
            multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss pad poisson_nll_loss rms_norm
            smooth_l1_loss soft_margin_loss split stft tensordot unfold""",
            """batch_norm cosine_embedding_loss fold gaussian_nll_loss lp_pool1d lp_pool2d lp_pool3d
            margin_ranking_loss max_unpool1d max_unpool2d max_unpool3d threshold triplet_margin_loss
            triplet_margin_with_distance_loss""",
            "ctc_loss",
        )
    )
    for name in names.split()
}
_WITH_INDICES = frozenset(
    [f"{kind}max_pool{n}d" for kind in ("", "adaptive_", "fractional_") for n in (1, 2, 3)]
)  # functions that PyTorch divides in two, by `return_indices`
_BY_PLACE |= {f"{name}_with_indices": 2 for name in _WITH_INDICES}
_BY_PLACE |= {"multi_head_attention_forward": 13, "linear_cross_entropy": 3}
_OF_TORCH = frozenset(
    ["cdist", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index"]
)  # all others are of nn.functional

_METHODS = {"backward": 1, "istft": 2, "lu": 1, "norm": 1, "split": 2, "stft": 2, "unique": 1, "unique_consecutive": 1}
_OWN = frozenset({"cudnn_enable", "cudnn_enabled", "generator"})  # parameters that PyTorch's functions have not
_AS_INTERPOLATE: dict[str, dict[str, Any]] = {  # functions whose calls PyTorch hands on at once, and what they add
    "upsample": {},
    "upsample_nearest": {"mode": "nearest"},
    "upsample_bilinear": {"mode": "bilinear", "align_corners": True},
}


# The argument by which PyTorch's functions in Python first decide something, or which they first take apart.
_DECIDED_BY = {
    name: parameter
    for parameter, names in {
        "p": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
        "inplace": "celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu relu6 rrelu selu silu threshold",
        "training": "batch_norm",
        "use_input_stats": "instance_norm",
        "reduction": "ctc_loss",
        "size_average": """binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy
            hinge_embedding_loss kl_div margin_ranking_loss multi_margin_loss multilabel_margin_loss
            multilabel_soft_margin_loss nll_loss poisson_nll_loss soft_margin_loss triplet_margin_loss""",
        "margin": "triplet_margin_with_distance_loss",
        "padding_idx": "embedding",
        "eps": "gumbel_softmax",
        "mode": "grid_sample interpolate",
        "input": """embedding_bag gaussian_nll_loss glu group_norm huber_loss l1_loss local_response_norm mse_loss
            smooth_l1_loss""",
        "theta": "affine_grid",
        "query": "multi_head_attention_forward",
        "output_size": """adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d_with_indices
            adaptive_max_pool3d_with_indices""",
        "kernel_size": "fold lp_pool2d lp_pool3d max_unpool1d max_unpool2d max_unpool3d unfold",
    }.items()
    for name in names.split()
}
_TAKEN: dict[str, Any] = {"output_size": len, "kernel_size": iter}  # the others are asked for a truth value


def decide(fn: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Do with the arguments what PyTorch's function does first: a value that a trace does not know is refused there."""
    parameter = _DECIDED_BY.get(fn.__name__)
    if parameter is None:
        return
    given = signature_of(fn).bind(*args, **kwargs).arguments
    value = given.get(parameter)
    if overrides(type(value)):
        _TAKEN.get(parameter, bool)(value)
    if fn.__name__ == "interpolate" and given.get("size") is not None and given.get("scale_factor") is not None:
        raise ValueError("only one of size or scale_factor should be defined")


@functools.cache
def signature_of(fn: Any) -> inspect.Signature:
    """A function's parameters, as PyTorch's function has them."""
    name = public_places().get(id(fn), ("", ""))[1]
    if name.removesuffix("_with_indices") in _WITH_INDICES:
        fn = PUBLIC["nn.functional"][name.removesuffix("_with_indices")]
    found = _own_signature(fn)
    if not is_written_in_python(fn):
        return found
    parameters = [p for p in found.parameters.values() if p.name not in _OWN]
    if name in ("normalize", "tensordot"):
        parameters.append(inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    if name == "norm" and "out" not in found.parameters:
        parameters.insert(4, inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    if name == "multi_head_attention_forward":
        parameters.insert(17, parameters.pop())  # `is_causal`
    return found.replace(parameters=parameters)


def _own_signature(fn: Any) -> inspect.Signature:
    """A function's own parameters. While arguments are checked first, a public function's code has ``*args`` alone."""
    site = SITES.get(id(fn))
    if site is None or (first_call_of(fn) is not None and hasattr(fn, "__wrapped__")):  # the latter: ``in_front_of``
        return inspect.signature(inspect.unwrap(fn))
    code, written = site.named, site.unchanged if site.named is site.plain else site.written
    names = code.co_varnames
    placed, keyword = names[: code.co_argcount], names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    values = written.__defaults__ or ()
    defaults = {**dict(zip(placed[len(placed) - len(values) :], values, strict=True)), **(written.__kwdefaults__ or {})}
    kinds: list[tuple[str, Any]] = [(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in placed]
    rest = names[len(placed) + len(keyword) :]
    if code.co_flags & inspect.CO_VARARGS:
        kinds.append((rest[0], inspect.Parameter.VAR_POSITIONAL))
        rest = rest[1:]
    kinds += [(name, inspect.Parameter.KEYWORD_ONLY) for name in keyword]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kinds.append((rest[0], inspect.Parameter.VAR_KEYWORD))
    empty = inspect.Parameter.empty
    return inspect.Signature([inspect.Parameter(n, kind, default=defaults.get(n, empty)) for n, kind in kinds])


def is_written_in_python(fn: Any) -> bool:
    """Whether PyTorch's public function of this name is written in Python."""
    space, name = public_places().get(id(fn), ("", ""))
    return name in _BY_PLACE and space == ("torch" if name in _OF_TORCH else "nn.functional")


def hands_on_at_once(fn: Any) -> bool:
    """Whether PyTorch's function only warns that it is old, and calls `interpolate`."""
    space, name = public_places().get(id(fn), ("", ""))
    return space == "nn.functional" and name in _AS_INTERPOLATE


def asks_in_python(fn: Any) -> bool:
    """Whether PyTorch's function or method is written in Python and asks overrides there."""
    space, name = public_places().get(id(fn), ("", ""))
    if space == "Tensor":
        return name in _METHODS
    return (
        hands_on_at_once(fn)
        or fn in NAMED
        or is_written_in_python(fn)
        or (space == "torch" and name in OF_FUNCTIONAL_MODULE)
    )


def _binds_own(fn: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    try:
        _own_signature(fn).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def as_pytorch_calls(fn: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function and the arguments of a call as PyTorch's own function hands them on."""
    space, name = public_places().get(id(fn), ("", ""))
    if name == "einsum" and len(args) == 2 and isinstance(args[1], (tuple, list)):
        args = (args[0], *args[1])
    if hands_on_at_once(fn):
        warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")
        fn, kwargs, name = PUBLIC[space]["interpolate"], {**kwargs, **_AS_INTERPOLATE[name]}, "interpolate"
    count = _METHODS.get(name) if space == "Tensor" else _BY_PLACE[name] if is_written_in_python(fn) else None
    if fn in NAMED:
        count, name = 0, fn.__name__  # as those of `nn.init` do
    if count is None:
        return fn, args, kwargs
    try:
        bound = signature_of(fn).bind(*args, **kwargs)
    except TypeError as e:
        if _binds_own(fn, args, kwargs):  # a call of the compiled function of this name: `torch.layer_norm`
            return fn, args, kwargs
        raise TypeError(f"{name}() {e}") from None
    bound.apply_defaults()
    values = [(key, value) for key, value in bound.arguments.items() if key != "split_size"]
    if name in _WITH_INDICES and bound.arguments["return_indices"]:
        fn = PUBLIC["nn.functional"][f"{name}_with_indices"]
    if name == "l1_loss" and bound.arguments["weight"] is None:
        values = values[:-1]
    return fn, tuple([v for _, v in values[:count]]), dict(values[count:])
