"""``Module``, the base class of layers and models.

Its parts are in ``_named`` (iteration over the contents), ``_hooked`` (hooks and the call), ``_state`` (state dicts).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self

from ..._base.errors import noted, warn
from ..._base.grad_mode import no_grad
from ..._base.registry import PUBLIC
from ..._base.tracebacks import Exit, with_handler
from ..._tape.tensor import Tensor
from ..._tensor_api.settings import typename
from ..parameter import Buffer, Parameter
from . import _conversion
from ._handles import HookDict, seen
from ._hooked import (  # noqa: F401  libraries import the dicts of hooks from here
    Hooked,
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_buffer_registration_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._named import Named
from ._state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401  libraries import it from here
from ._state import Stateful, _IncompatibleKeys  # noqa: F401  lightning imports it from here

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    _R_co = TypeVar("_R_co", covariant=True)

    class _Forward(Protocol[_R_co]):
        """The type of a module's call is the type of its ``forward``."""

        @property
        def forward(self) -> Callable[..., _R_co]: ...


__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]  # fmt: skip

_HOOK_DICTS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip

_BUILT_IN = PUBLIC["torch"], PUBLIC["nn.functional"]


def _addindent(text: str, spaces: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """What the class computes of its inputs; each subclass defines it."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


def _told(hooks: dict[int, Any], module: Any, name: str, value: Any) -> Any:
    """The value to register: the given one, or the replacement that a hook returned."""
    for hook in hooks.values():
        other = hook(module, name, value)
        if other is not None:
            value = other
    return value


def _too_early(what: str) -> AttributeError:
    return noted(
        AttributeError(f"cannot assign {what} before Module.__init__() call"),
        "What to do: call super().__init__() first, in the first line of the class's own __init__.",
        code="W015",
    )


def _leave(frame: Any) -> Any:
    """Called when an error leaves the call of a module: name the layer, and cut the traceback."""
    from ._failures import leave

    return leave(frame)


class Module(Hooked, Stateful, Named):
    """The base class of all layers and models.

    A subclass makes its parts in ``__init__``, after ``super().__init__()``, and defines its computation in
    ``forward``. Assignment registers ``Parameter`` and ``Module`` attributes; ``register_buffer`` registers tensors
    that belong to the state but are not trained. Call the module itself, not ``forward``, to run the hooks.

    >>> import wengert as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(2.))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> dict(Scale().named_parameters())
    {'factor': Parameter containing:
    tensor(2., requires_grad=True)}
    """

    dump_patches: bool = False
    call_super_init: bool = False
    training: bool
    forward: Callable[..., Any] = _forward_unimplemented

    def __init_subclass__(cls, **rest: Any) -> None:
        """``act = torch.tanh`` in a class stays a function: PyTorch's are built in, and no class binds them."""
        super().__init_subclass__(**rest)
        for name, value in list(vars(cls).items()):
            if type(value) is FunctionType and any(dict.get(t, value.__name__) is value for t in _BUILT_IN):
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own.update(training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set())
        for hooks in _HOOK_DICTS:
            own[hooks] = HookDict()
            if hooks == "_backward_hooks":  # the order of PyTorch's ``__dict__``
                own["_is_full_backward_hook"] = None
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- the call
    def __call__(self: _Forward[_R_co], *args: Any, **kwargs: Any) -> _R_co:
        if seen and self._has_hooks():  # see NOTE [ A call without hooks ]
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    __call__.__code__ = with_handler(__call__.__code__, Exit(_leave))
    _call_impl = _wrapped_call_impl = __call__

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the calls of this module, as ``torch.compile`` does; the module stays the same object.

        >>> import wengert as torch
        >>> layer = torch.nn.ReLU()
        >>> layer.compile()
        >>> layer(torch.tensor([-1., 1.]))
        tensor([0., 1.])
        """
        import wengert

        wengert.compiler.compile_module(self, *args, **kwargs)

    # ---- registration
    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that is part of the state and not trained; ``persistent=False``: not in ``state_dict``."""
        if "_buffers" not in self.__dict__:
            raise _too_early("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not (isinstance(tensor, Tensor) or hasattr(tensor, "__torch_function__")):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _told(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter, or with None a name for one."""
        if "_parameters" not in self.__dict__:
            raise _too_early("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = _told(_global_parameter_registration_hooks, self, name, param)

    def _check_name(self, what: str, name: Any, known: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in known:
            raise KeyError(f"attribute '{name}' already exists")

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a submodule under a name, by which it is available as an attribute."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _told(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as ``add_module``."""
        self.add_module(name, module)

    # ---- attributes
    def __getattr__(self, name: str) -> Tensor | Module:
        own = self.__dict__
        space = own.get("_parameters")
        if space is not None and name in space:
            return space[name]
        space = own.get("_buffers")
        if space is not None and name in space:
            return space[name]
        space = own.get("_modules")
        if space is not None and name in space:
            return space[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters = own.get("_parameters")
        if parameters is None:
            self._set_early(name, value)
        elif isinstance(value, Tensor) and isinstance(value, Parameter):
            self._forget(name, own, self._buffers, self._modules)
            self.register_parameter(name, value)
        elif name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, own, parameters, self._buffers)
            self._modules[name] = _told(_global_module_registration_hooks, self, name, value)
        elif name in own["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            self._modules[name] = _told(_global_module_registration_hooks, self, name, value)
        elif name in own["_buffers"] or (isinstance(value, Tensor) and isinstance(value, Buffer)):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_early(self, name: str, value: Any) -> None:
        """Set an attribute before ``Module.__init__`` has run."""
        if isinstance(value, Parameter):
            raise _too_early("parameters")
        if isinstance(value, Module):
            raise _too_early("module")
        if isinstance(value, Buffer):
            self.register_buffer(name, value)
        object.__setattr__(self, name, value)

    def _forget(self, name: str, *spaces: dict[str, Any]) -> None:
        for space in spaces:
            space.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not (isinstance(value, Tensor) or hasattr(value, "__torch_function__")):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        own = getattr(self.register_buffer, "__func__", None) is Module.register_buffer
        if own or "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        holding = [space for space in (self._parameters, self._buffers, self._modules) if name in space]
        if holding:
            self._forget(name, holding[0])
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        keys = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(key for key in keys if not key[0].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = self.__dict__
        own.update(state)
        own.setdefault("_non_persistent_buffers_set", set())
        own.setdefault("_is_full_backward_hook", None)
        for hooks in _HOOK_DICTS:
            if hooks not in own:
                own[hooks] = HookDict()
            elif own[hooks] and not seen:  # saved hooks may be in one of PyTorch's plain dicts, to which handles refer
                seen.append(True)

    # ---- conversions
    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """Replace every parameter, gradient and buffer ``t`` by ``fn(t)``; parameters stay the same objects.

        Parameters that move from or to the device "meta" become new objects.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        anew = _conversion.get_overwrite_module_params_on_conversion()
        for key, param in self._parameters.items():
            if param is None:
                continue
            with no_grad():
                applied = fn(param)
            if _conversion.swaps(applied):
                _conversion.swap(f"{self._get_name()}.{key}", param, applied, fn)
                continue
            grad = param.grad
            if anew or applied.device is not param.device:  # a tensor without data cannot become one with data in place
                self._parameters[key] = new = Parameter(applied, param.requires_grad)
                if grad is not None:
                    with no_grad():
                        new.grad = fn(grad).requires_grad_(grad.requires_grad)
                continue
            if applied is not param:
                param.data = applied
            if grad is not None:
                with no_grad():
                    new_grad = fn(grad)
                if new_grad is not grad:
                    grad.data = new_grad
        for key, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[key] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn(module)`` for every submodule and then for this module, for example to initialise them."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating and complex parameters and buffers, in place.

        ``to(dtype)``, ``to(device, dtype)`` or ``to(tensor)``; TypeError for a dtype that is neither floating nor
        complex.
        """
        from ..._ops.create.convert import _to_arguments

        dtype, device, _, memory_format = _to_arguments(args, kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warn(_COMPLEX)

        def convert(t: Any) -> Any:
            own = dtype if dtype is not None and (t.is_floating_point() or t.is_complex()) else t.dtype
            place = t.device if device is None else device
            if place is not t.device and t.is_meta:
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                )
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(place, own, memory_format=memory_format)
            return t.to(place, own)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Replace parameters and buffers by uninitialised tensors of the same shapes."""
        from ..._ops.create.like import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """The module itself, which is on the CPU. Raises NotImplementedError if its tensors have no data."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Raises an error, as PyTorch without CUDA does."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Self:
        """Raises an error, as PyTorch without XPU does."""
        return self._apply(lambda t: t.xpu(device))

    def ipu(self, device: Any = None) -> Self:
        """Raises an error, as PyTorch without IPU does."""
        return self._apply(lambda t: t.ipu(device))

    def mtia(self, device: Any = None) -> Self:
        """Raises an error, as PyTorch without MTIA does."""
        return self._apply(lambda t: t.mtia(device))

    def share_memory(self) -> Self:
        """Move parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())

    # ---- training
    def train(self, mode: bool = True) -> Self:
        """Set training mode, which affects dropout and batch normalisation, in this module and all submodules."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of all parameters."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters; fill them with zeros if not ``set_to_none``."""
        if getattr(self, "_is_replica", False):
            warn(_REPLICA)
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    def _replicate_for_data_parallel(self) -> Any:
        replica = type(self).__new__(type(self))
        replica.__dict__.update(self.__dict__)
        replica.__dict__.update(
            _parameters={}, _buffers=self._buffers.copy(), _modules=self._modules.copy(), _is_replica=True
        )
        return replica

    # ---- printing
    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text of a subclass to print between the parentheses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({key}): {_addindent(repr(module), 2)}" for key, module in self._modules.items()]
        if not child_lines and len(extra_lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(extra_lines + child_lines) + "\n)"


_COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)
_REPLICA = (
    "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are copied (in a "
    "differentiable manner) from the original module. This means they are not leaf nodes in autograd and so don't "
    "accumulate gradients. If you need gradients in your forward method, consider using autograd.grad instead."
)


for _base in Module.__mro__[1:-1]:  # a user's error names the class that PyTorch defines them in
    for _member in vars(_base).values():
        if isinstance(_member, FunctionType):
            _member.__qualname__ = f"Module.{_member.__name__}"
