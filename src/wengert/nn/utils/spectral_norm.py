"""Spectral normalisation in its old form, with a hook. Source: Miyato et al. 2018."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._base.exports import own_names
from ..._base.grad_mode import no_grad
from ..._tape.tensor import Tensor
from .. import functional as F
from ..modules.module import Module
from ..parameter import Parameter
from ._normalized import check_iterations, check_weight, key_of_hook, output_dim, take_away


class SpectralNorm:
    """The hook that divides the weight by its largest singular value, which power iterations estimate."""

    _version: int = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        check_iterations(n_power_iterations)
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix, with ``dim`` first and all other dimensions flattened."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by its largest singular value."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next call must not overwrite values that the graph saved
        return weight / torch.dot(u, torch.mv(matrix, v))

    def remove(self, module: Module) -> None:
        """Restore an ordinary parameter."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, f"{self.name}_u", f"{self.name}_v", f"{self.name}_orig"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        """The vector v for a checkpoint that has only u (written before PyTorch 1.0)."""
        left = weight_mat.t().mm(weight_mat).pinverse()
        v = torch.mv(left, torch.mv(weight_mat.t(), u))
        return v.mul_(target_sigma / torch.dot(u, torch.mv(weight_mat, v)))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the parameter by the original weight and two vectors, and register the hooks."""
        original = module._parameters.get(name)
        check_weight(module, name, original, SpectralNorm, "spectral")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        if module._parameters[name] is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        vectors = hook._first_vectors(original)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", original)
        setattr(module, name, original.data)  # a plain attribute, which each call recomputes
        for suffix, vector in zip("uv", vectors, strict=True):
            module.register_buffer(f"{name}_{suffix}", vector)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    @no_grad()
    def _first_vectors(self, weight: Any) -> list[Tensor]:
        sizes = self.reshape_weight_to_matrix(weight).size()
        return [F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=self.eps) for n in sizes]


class SpectralNormLoadStateDictPreHook:
    """Completes state dicts that were written before PyTorch 1.0."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version", None)
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return
        missing = [key + s for s in ("_orig", "", "_u") if key + s not in state_dict]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[f"{key}_v"] = fn._solve_v_and_rescale(matrix, state_dict[f"{key}_u"], sigma)


class SpectralNormStateDictHook:
    """Writes the version into the metadata of state dicts."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        known = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in known:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        known[key] = self.fn._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a parameter by its largest singular value before each call of the module."""
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo ``spectral_norm``."""
    take_away(module, name, SpectralNorm, "spectral")
    for hooks, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        key = key_of_hook(hooks, kind, name)
        if key is not None:
            del hooks[key]
    return module


__all__ = own_names(globals())  # noqa: PLE0605
