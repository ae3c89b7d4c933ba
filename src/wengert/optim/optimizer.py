"""``Optimizer``, the base class of optimizers: parameter groups, state, hooks and checkpoints.

``param_groups`` is a list of dicts of options with their ``params``; ``state`` maps a parameter to a dict. Both, and
the result of ``state_dict``, have PyTorch's structure, so checkpoints of either package load in the other.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

from .._base.dtypes import float32, float64, get_default_dtype
from .._base.errors import noted, warn, where
from .._base.grad_mode import enable_grad
from .._tape.node import AccumulateGrad, RemovableHandle
from .._tape.tensor import Tensor

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict: TypeAlias = dict[str, Any]

_global_optimizer_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Any] = OrderedDict()


class _RequiredParameter:
    """Stands in ``defaults`` for an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer; it may return new (args, kwargs)."""
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return _register(_global_optimizer_post_hooks, hook)


def _to_scalar(x: Any) -> Any:
    """A tensor with one element, reshaped to no dimensions; other objects are returned unchanged."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype of ``state["step"]``."""
    return float64 if not is_fused and get_default_dtype() is float64 else float32


def loss_of(closure: Callable[[], Any]) -> Any:
    """What a closure returns, which recomputes loss and gradients."""
    with enable_grad():
        return closure()


def _params_of(groups: Iterable[dict[str, Any]]) -> Iterator[Any]:
    return chain.from_iterable(group["params"] for group in groups)


def _through(hooks: dict[int, Any], optimizer: Any, state_dict: StateDict) -> StateDict:
    """A state dict, or the replacement that the hooks returned."""
    for hook in hooks.values():
        other = hook(optimizer, state_dict)
        state_dict = state_dict if other is None else other
    return state_dict


def _type_name(value: Any) -> str:
    cls = type(value)
    if isinstance(value, Tensor):
        return str(value.type())
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _with_step_hooks(step: Any) -> Any:
    """Wrap ``step`` with the hooks of this optimizer and of all optimizers."""

    @functools.wraps(step)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        given: Any = (self, *args)
        if _global_optimizer_pre_hooks or self._optimizer_step_pre_hooks:
            for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                result = hook(self, given, kwargs)
                if result is not None:
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                        )
                    given, kwargs = result
        out = step(*given, **kwargs)
        if _global_optimizer_post_hooks or self._optimizer_step_post_hooks:
            for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
                hook(self, given, kwargs)
        return out

    wrapper.hooked = True
    return wrapper


_HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


def functional_form(name: str) -> Any:
    """The ``__getattr__`` of an optimizer's module: its function on lists of tensors is made when it is asked for."""

    def find(asked: str) -> Any:
        if asked != name:
            raise AttributeError(f"module 'wengert.optim.{name}' has no attribute {asked!r}")
        from . import _functional

        return getattr(_functional, name)

    return find


class Optimizer:
    """Base class of all optimizers. A subclass defines ``step`` and passes the defaults of its options.

    ``params``: tensors, (name, tensor) pairs, or dicts with ``"params"`` and options of their own.

    Raises:
        TypeError: ``params`` is a tensor, or holds an object that is not a tensor.
        ValueError: ``params`` is empty, or a tensor in it is not a leaf or is in two groups.

    >>> import wengert as torch
    >>> class Descent(torch.optim.Optimizer):
    ...     @torch.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = Descent([w], {"lr": 0.5})
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise noted(
                TypeError(
                    "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                    + _type_name(params)
                ),
                "What to do: put it into a list: [tensor].",
                code="W018",
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise noted(
                ValueError("optimizer got an empty parameter list"),
                "Why: a module finds parameters in its attributes that are layers or parameters, not in a list or "
                "dict of them; an iterator such as model.parameters() gives them once.",
                "What to do: self.layers = nn.ModuleList([...]) in place of a list, nn.ModuleDict in place of a dict; "
                "or list(model.parameters()).",
                code="W016",
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        self._warned_capturable_if_run_uncaptured = True

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            if name not in self.__dict__:
                setattr(self, name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    def _patch_step_function(self) -> None:
        cls = type(self)
        if not getattr(cls.step, "hooked", None):
            cls.step = _with_step_hooks(cls.step)

    @staticmethod
    def profile_hook_step(func: Any) -> Any:
        """The step function, wrapped with the hooks."""
        return _with_step_hooks(func)

    def _accelerator_graph_capture_health_check(self) -> None:
        """Nothing to check: there is no graph of a GPU. Optimizers call it that programs write after PyTorch's."""

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    # ---- hooks
    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return new (args, kwargs)."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict``."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after ``state_dict``; it may return another one."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before ``load_state_dict``; it may return another one to load."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after ``load_state_dict``."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # ---- checkpoints
    def state_dict(self) -> StateDict:
        """``{"state": {index: state}, "param_groups": [options with the indices of the params]}``.

        The tensors in it are the optimizer's own, not copies.

        >>> import wengert as torch
        >>> w = torch.nn.Parameter(torch.zeros(2))
        >>> optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> optimizer.state_dict()["param_groups"][0]["params"]
        [0]
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        number: dict[int, int] = {}
        for i, p in enumerate(_params_of(self.param_groups)):
            number.setdefault(id(p), i)
        groups = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append(options | {"params": [number[id(p)] for p in group["params"]]})
        state = {(number[id(key)] if isinstance(key, Tensor) else key): own for key, own in self.state.items()}
        return _through(self._optimizer_state_dict_post_hooks, self, {"state": state, "param_groups": groups})

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Tensor, value: Tensor, param_id: int, param_groups: list[dict[Any, Any]], key: Hashable = None
    ) -> Tensor:
        """A loaded tensor, converted to the parameter's dtype unless it is the step counter."""
        if key == "step":
            for group in param_groups:
                if param_id in group["params"]:
                    if group.get("capturable", False) or group.get("fused", False):
                        return value.to(dtype=float32)
                    break
            return value
        return value.to(dtype=param.dtype) if param.is_floating_point() else value

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load a state dict of an optimizer with the same numbers of groups and parameters.

        Tensors that have the parameter's dtype are not copied. The options of the groups, including learning rates,
        are overwritten: create schedulers first.

        Raises:
            ValueError: the number of groups, or of parameters in a group, differs.
        """
        given = _through(self._optimizer_load_state_dict_pre_hooks, self, state_dict.copy())
        loaded = deepcopy(given["param_groups"])
        have, want = ([len(group["params"]) for group in groups] for groups in (loaded, self.param_groups))
        if len(have) != len(want):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if have != want:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        state: defaultdict[Any, Any] = defaultdict(dict)
        param_of = dict(zip(_params_of(loaded), _params_of(self.param_groups), strict=True))
        for key, value in given["state"].items():
            if key in param_of:
                p = param_of[key]
                state[p] = self._fitted(p, key, given["param_groups"], value)
            else:
                state[key] = value
        for old, new in zip(self.param_groups, loaded, strict=True):
            new["params"] = old["params"]
            if "param_names" in old:
                new.setdefault("param_names", old["param_names"])
        self.__setstate__({"state": state, "param_groups": loaded})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _fitted(self, param: Tensor, number: Any, groups: Any, value: Any, key: Any = None) -> Any:
        """A loaded piece of state with its tensors converted to the parameter's dtype."""
        if isinstance(value, Tensor):
            return self._process_value_according_to_param_policy(param, value, number, groups, key)
        inside = functools.partial(self._fitted, param, number, groups)
        if isinstance(value, dict):
            return {name: inside(part, name) for name, part in value.items()}
        return type(value)(map(inside, value)) if isinstance(value, Iterable) else value  # type: ignore[call-arg]

    # ---- the rest
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros in place if not ``set_to_none``."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    fn = p._node
                    if type(fn) is AccumulateGrad:
                        fn.grad = None
                    else:
                        p.grad = None
                elif p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients; ``closure`` recomputes the gradients and returns the loss."""
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group: a dict of ``"params"`` and options, with the defaults for missing options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in "
                "sets will change between runs. Please use a list instead."
            )
        given = [params] if isinstance(params, Tensor) else list(params)
        named = [pair for pair in given if isinstance(pair, tuple)]
        params = param_group["params"] = [p[1] if isinstance(p, tuple) else p for p in given]
        if named:
            if len(named) != len(given):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [pair[0] for pair in named]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + _type_name(p))
            if not self.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
                raise noted(
                    ValueError("can't optimize a non-leaf Tensor"),
                    f"Where: it was made at {where(p.grad_fn._code, p.grad_fn._lasti)}"
                    if p.grad_fn is not None
                    else "",
                    "Why: its gradient goes on to the tensors that it was computed from; only leaves keep theirs.",
                    "What to do: make the values first and call requires_grad_() last: "
                    "w = (torch.randn(3) * 0.1).requires_grad_().",
                    code="W017",
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
            )
        self._check_against_groups(param_group)
        self.param_groups.append(param_group)

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist: Any, with_indices: bool = False) -> Any:
        """Group parallel lists of tensors by the dtype of the first list; see ``torch.utils._foreach_utils``."""
        from ..utils._foreach_utils import _group_tensors_by_device_and_dtype

        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def _check_against_groups(self, param_group: dict[str, Any]) -> None:
        known: set[Tensor] = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{kind} to the optimizer"
                )
        if not known.isdisjoint(param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")


def __getattr__(name: str) -> Any:
    from . import _writing

    if name in _writing.__all__:
        return getattr(_writing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
