"""The base of lazy modules, which take the number of input features from the first call and change their class."""

from __future__ import annotations

from typing import Any

from ..._base.grad_mode import no_grad
from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """The mixin of lazy modules: the first call gives the parameters their shapes."""

    cls_to_become: Any = None
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def __init_subclass__(cls, becomes: type | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if becomes is not None:
            cls.cls_to_become = becomes

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        this: Any = self
        this._load_hook = this._register_load_state_dict_pre_hook(self._lazy_load_hook)
        this._initialize_hook = this.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        this: Any = self
        for name, value in this._state_tensors().items():
            destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *_: Any) -> None:
        """Take the shapes of parameters from a state dict that is about to be loaded."""
        for name, param in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if param is not None and given is not None and is_lazy(param) and not is_lazy(given):
                with no_grad():
                    param.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, from the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether some parameter or buffer has no shape yet."""
        return any(is_lazy(p) for p in (*self._parameters.values(), *self._buffers.values()))

    def _materialize(self, **shapes: Any) -> None:
        """Give the tensors of these names that are not None their shapes, then set initial values."""
        this: Any = self
        with no_grad():
            for name, shape in shapes.items():
                tensor = getattr(self, name)
                if tensor is not None:
                    tensor.materialize(shape)
            this.reset_parameters()

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        for hook in ("_initialize_hook", "_load_hook"):
            getattr(module, hook).remove()
            delattr(module, hook)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
