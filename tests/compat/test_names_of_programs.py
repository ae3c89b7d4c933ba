"""Names that public programs import from PyTorch's inner modules, and what they do."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import wengert as T

NAMES = (
    "_utils:_flatten_dense_tensors _utils:_unflatten_dense_tensors _utils:_take_tensors "
    "_inductor.config:triton _inductor.config:coordinate_descent_tuning "
    "_functorch.config:activation_memory_budget _jit_internal:boolean_dispatch _jit_internal:BroadcastingList2 "
    "_jit_internal:Optional _ops:OpOverload _ops:OpOverloadPacket _ops:HigherOrderOperator "
    "_dynamo.utils:detect_fake_mode _dynamo.eval_frame:is_dynamo_supported "
    "_functorch.functorch.experimental.control_flow:cond export:register_dataclass "
    "jit._script:RecursiveScriptModule testing._internal.common_quantization:skipIfNoDynamoSupport "
    "optim.adam:adam optim.adamw:adamw optim.sgd:sgd optim._functional:rmsprop "
    "nn.modules.rnn:apply_permutation utils.cpp_extension:load "
    "utils.backcompat:broadcast_warning utils.data.dataset:T_co _C:_infer_size _C:_add_docstr "
    "nn.modules.transformer:_get_seq_len nn.common_types:_size_2_t nn.common_types:_ratio_any_t "
    # tensordict, pyro
    "nn.utils._named_member_accessor:swap_tensor _utils:_get_available_device_type _utils:_get_device_module "
    "_functorch.vmap:_add_batch_dim _functorch.vmap:_maybe_remove_batch_dim _functorch.vmap:_get_name "
    "_functorch.vmap:_broadcast_to_and_flatten _guards:active_fake_mode storage:_StorageBase "
    "nn.modules.module:_global_parameter_registration_hooks _jit_internal:_copy_to_script_wrapper "
    # torchopt, labml, spikingjelly, accelerate
    "distributed.autograd:context cuda.amp.autocast_mode:custom_fwd cuda.amp.grad_scaler:GradScaler "
    "cpu.amp.autocast_mode:autocast cuda.amp.common:amp_definitely_not_available "
    "_subclasses.fake_tensor:unset_fake_temporarily "
    # transformers 5
    "distributed.checkpoint.hf_storage:HuggingFaceStorageReader distributed.tensor.placement_types:_StridedShard "
    # timm, bitsandbytes
    "onnx:TrainingMode onnx:OperatorExportTypes nn.utils.parametrize:_cache_enabled "
    "distributed.algorithms._checkpoint.checkpoint_wrapper:CheckpointImpl "
)


@pytest.mark.parametrize("name", NAMES.split())
def test_a_name_can_be_imported(name: str) -> None:
    module, _, attribute = name.partition(":")
    assert hasattr(importlib.import_module(f"wengert.{module}"), attribute)


def test_the_names_of_variable_functions_are_in_both_modules() -> None:
    assert all(hasattr(T._VF, name) for name in dir(T._C._VariableFunctions) if name != "unique_dim")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        T._VF.nothing


def _softmax_written_by_hand(t: Any) -> list[Any]:
    class XSoftmax(t.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, mask: Any, dim: int) -> Any:
            ctx.dim = dim
            out = t.softmax(x.masked_fill(mask, t.finfo(x.dtype).min), dim).masked_fill_(mask, 0)
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (out,) = ctx.saved_tensors
            return t._softmax_backward_data(g, out, ctx.dim, out.dtype), None, None

    x = t.arange(6.0).view(2, 3).sin().requires_grad_()
    XSoftmax.apply(x, x.detach() < -0.5, -1).pow(2).sum().backward()
    y = x.softmax(1)
    said = [x.grad.numpy().round(6).tolist(), t._log_softmax_backward_data(x, y, 0, t.float32).grad_fn.name()]
    for wrong in ((x, y, 2, t.float32), (x, y[:1], 0, t.float32)):
        with pytest.raises((IndexError, RuntimeError)) as caught:
            t._softmax_backward_data(*wrong)
        said.append(f"{type(caught.value).__name__} {caught.value}".splitlines()[0])
    return [*said, t._cast_Long(x.detach() * 3).tolist(), t._cast_Double(x).grad_fn.name(), t._cast_Float(x) is x]


def test_a_softmax_that_a_program_differentiates_itself(torch: Any) -> None:
    """DeBERTa's, which fills masked places; and casts by their inner names, which normflows calls."""
    assert _softmax_written_by_hand(T) == _softmax_written_by_hand(torch)


def test_names_of_typing_are_found_without_an_import(torch: Any) -> None:
    assert T.jit.annotations.List is torch.jit.annotations.List


def test_attention_that_a_program_writes_from_parts_of_pytorch(torch: Any) -> None:
    said = []
    for t in (torch, T):
        F = t.nn.functional
        x, y = t.arange(12.0).reshape(3, 2, 2).sin(), t.arange(8.0).reshape(2, 2, 2)
        w, b, off = t.arange(12.0).reshape(6, 2).cos(), t.arange(6.0), t.tensor([[False, True], [True, False]])
        lines = [F._none_or_dtype(None), F._none_or_dtype(off), F._canonical_mask(None, "a", None, "b", t.float64)]
        lines += [F._canonical_mask(off, "a", t.bool, "b", t.bfloat16), F._mha_shape_check(x, y, y, off, None, 1)]
        for given in ((x, x, x), (x, y, y), (y, y, y.clone())):
            q, k, v = F._in_projection_packed(*given, w, b)
            lines += [[p.view(-1, 2, 1)[:, 0] for p in (q, k, v)]]
        for function, *given in (
            (F._canonical_mask, off.long(), "a", None, "b", t.float32), (F._check_key_padding_mask, off, 3, 2),
            (F._none_or_dtype, 3), (F._mha_shape_check, x, y[0], y, None, None, 1),
        ):  # fmt: skip
            with pytest.raises((AssertionError, RuntimeError)) as caught:
                function(*given)
            lines += [type(caught.value), str(caught.value)]
        said.append(list(map(str, lines)))
    assert said[0] == said[1]


def test_an_optimizer_written_after_adam_checks_its_graph() -> None:
    optimizer = T.optim.Adam([T.ones(1, requires_grad=True)])
    assert optimizer._cuda_graph_capture_health_check() is optimizer._accelerator_graph_capture_health_check() is None


@pytest.mark.parametrize("name", ["utils.cpp_extension:load", "utils.mobile_optimizer:optimize_for_mobile"])
def test_what_is_not_there_says_so_when_it_is_called(name: str) -> None:
    module, _, attribute = name.partition(":")
    with pytest.raises(NotImplementedError, match=f"torch.{module}.{attribute}: ") as caught:
        getattr(importlib.import_module(f"wengert.{module}"), attribute)([])
    assert any(note.startswith("What to do: ") for note in caught.value.__notes__)


def test_tensors_become_flat_and_come_back() -> None:
    from wengert._utils import _flatten_dense_tensors, _reorder_tensors_as, _take_tensors, _unflatten_dense_tensors

    some = [T.arange(6.0).view(2, 3), T.ones(1, dtype=T.float64), T.zeros(5)]
    flat = _flatten_dense_tensors([some[0], some[2]])
    back = _unflatten_dense_tensors(flat, [some[0], some[2]])
    assert flat.shape == (11,) and T.equal(back[0], some[0]) and T.equal(back[1], some[2])
    chunks = [[len(t) for t in chunk] for chunk in _take_tensors(some, 40)]
    assert chunks == [[2], [5], [1]]
    mixed = _reorder_tensors_as([some[1], some[0], some[2]], some)
    assert [t.dtype for t in mixed] == [T.float32, T.float64, T.float32]


STEPS = {
    "sgd": {"weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.0, "nesterov": True, "maximize": False},
    "adam": {"amsgrad": True, "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.01, "eps": 1e-8,
             "maximize": False},
    "adamw": {"amsgrad": False, "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.01, "eps": 1e-8,
              "maximize": True},
    "rmsprop": {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.01, "momentum": 0.5, "centered": True},
    "adagrad": {"lr": 0.1, "weight_decay": 0.01, "lr_decay": 0.1, "eps": 1e-8, "maximize": False},
    "adadelta": {"lr": 0.1, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.01, "maximize": False},
    "adamax": {"eps": 1e-8, "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1},
    "nadam": {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.004, "eps": 1e-8},
    "radam": {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8},
    "asgd": {"lambd": 1e-4, "lr": 0.1, "t0": 1.0, "alpha": 0.75, "weight_decay": 0.1},
    "rprop": {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2},
}  # fmt: skip
CLASSES = {"sgd": "SGD", "rmsprop": "RMSprop", "adamw": "AdamW", "nadam": "NAdam", "radam": "RAdam", "asgd": "ASGD"}


@pytest.mark.parametrize("name", STEPS)
def test_the_step_on_lists_is_the_optimizers(name: str) -> None:
    """Three steps by the function leave parameters and state as three steps of the class do."""
    module = importlib.import_module(f"wengert.optim.{name}")
    cls, given = getattr(module, CLASSES.get(name, name.capitalize())), dict(STEPS[name])
    pairs = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"),
             "step_sizes": ("step_size_min", "step_size_max")}  # fmt: skip
    options = {pair: tuple(given[n] for n in names) for pair, names in pairs.items() if names[0] in given}
    options |= {n: value for n, value in given.items() if not any(n in names for names in pairs.values())}
    found: list[Any] = []
    for by_class in (True, False):
        w = T.nn.Parameter(T.tensor([1.0, -2.0, 3.0]))
        optimizer = cls([w], **options)
        w.grad = T.tensor([0.5, 1.0, -1.0])
        if by_class:
            for _ in range(3):
                optimizer.step()
        else:
            count = {"sgd": 3, "adagrad": 4, "adadelta": 5, "adamax": 5, "radam": 5, "rprop": 5}.get(name, 6)
            lists: list[list[Any]] = [[] for _ in range(count)]
            told = optimizer._init_group(optimizer.param_groups[0], *lists)
            assert told == ((False, False) if name == "adagrad" else False)
            if name == "rmsprop":
                lists[3], lists[4] = lists[4], lists[3]
            if name == "asgd":
                lists[2], lists[3] = lists[3], lists[2]
            with T.no_grad():
                for _ in range(3):
                    getattr(module, name)(*lists, **given)
            assert len(lists[0]) == 1 and lists[0][0] is w
        found.append(w.detach().clone())
    assert T.equal(*found)


def test_a_step_on_lists_refuses_what_it_does_not_know() -> None:
    from wengert.optim.adam import adam

    with pytest.raises(TypeError, match=r"adam\(\) missing a required"):
        adam([], [], [], [], [], [])


def test_sparse_adam_on_lists_is_the_optimizers() -> None:
    from wengert.optim._functional import sparse_adam

    g = T.sparse_coo_tensor([[0, 2]], T.ones(2, 2), (4, 2))
    w, p = T.nn.Parameter(T.ones(4, 2)), T.ones(4, 2)
    w.grad = g
    T.optim.SparseAdam([w], lr=0.1).step()
    sparse_adam(
        [p], [g], [T.zeros(4, 2)], [T.zeros(4, 2)], [1], eps=1e-8, beta1=0.9, beta2=0.999, lr=0.1, maximize=False
    )
    assert T.equal(p, w.detach()) and p[0, 0] < 1


def test_get_lr_may_be_called_in_its_context() -> None:
    from wengert.optim.lr_scheduler import StepLR, _enable_get_lr_call

    scheduler = StepLR(T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.5), 2)
    with _enable_get_lr_call(scheduler):
        assert scheduler.get_lr() == [0.5]
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        scheduler.get_lr()


def test_causal_masks_know_their_corner() -> None:
    from wengert.nn.attention.bias import CausalBias, causal_lower_right, causal_upper_left

    q, k = T.randn(1, 2, 3, 4), T.randn(1, 2, 5, 4)
    mask = causal_lower_right(3, 5)
    assert isinstance(mask, CausalBias) and mask.tolist()[0] == [True, True, True, False, False]
    attention = T.nn.functional.scaled_dot_product_attention
    found = attention(q, k, k, attn_mask=mask)
    assert type(found) is T.Tensor and T.equal(found, attention(q, k, k, attn_mask=mask._materialize()))
    corner = attention(q, k, k, attn_mask=causal_upper_left(3, 5))
    T.testing.assert_close(corner, attention(q, k, k, is_causal=True))
    with pytest.raises(AssertionError, match="only supports 2D tensors, got 3D"):
        causal_lower_right(1, 2, 3)


def test_tensors_of_one_storage_are_aliases() -> None:
    x = T.ones(3)
    assert T._C._is_alias_of(x, x[1:]) and T._C._is_alias_of(x, x.detach()) and not T._C._is_alias_of(x, T.ones(3))
    assert T._C._overlaps(x[:1], x[2:]) and not T._C._overlaps(x, x.clone())
    assert not T._C._is_alias_of(x, 3) and not T._C._overlaps(x.to_sparse(), x)
    assert isinstance(x.untyped_storage(), T.StorageBase)


def _layers() -> Any:
    T.manual_seed(0)
    return T.nn.Sequential(T.nn.Linear(3, 3), T.nn.Sequential(T.nn.Dropout(), T.nn.Linear(3, 2)))


@pytest.mark.parametrize("impl", ["REENTRANT", "NO_REENTRANT"])
def test_checkpoint_wrappers_change_neither_names_nor_gradients(impl: str) -> None:
    from wengert.distributed.algorithms._checkpoint import checkpoint_wrapper as home

    plain, model = _layers(), _layers()
    home.apply_activation_checkpointing(
        model,
        lambda module: home.checkpoint_wrapper(module, home.CheckpointImpl[impl]),
        check_fn=lambda module: isinstance(module, T.nn.Sequential),
    )
    assert type(model) is T.nn.Sequential and type(model[1]) is home.CheckpointWrapper
    assert type(model[1][0]) is T.nn.Dropout and model[1][1].in_features == 3
    assert list(model.state_dict()) == list(plain.state_dict())
    assert [name for name, _ in model[1].named_parameters()] == ["1.weight", "1.bias"]
    model.load_state_dict(plain.state_dict())
    for module in (plain, model):
        T.manual_seed(1)
        module(T.ones(2, 3)).sum().backward()
    for expected, found in zip(plain.parameters(), model.parameters(), strict=True):
        assert T.equal(expected.grad, found.grad)


@pytest.mark.parametrize("impl", ["REENTRANT", "NO_REENTRANT"])
def test_checkpoint_wrappers_pass_keywords_on(impl: str) -> None:
    from wengert.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper

    wrapped, x = checkpoint_wrapper(T.nn.Bilinear(2, 2, 1), CheckpointImpl[impl]), T.ones(1, 2, requires_grad=True)
    wrapped(x, input2=2 * x).backward()
    assert T.equal(wrapped.weight.grad, T.full((1, 2, 2), 2.0)) and x.grad is not None


def test_a_policy_wraps_what_is_large_enough() -> None:
    from wengert.distributed.algorithms._checkpoint import checkpoint_wrapper as home

    asked = []

    def policy(module: Any, recurse: bool, nonwrapped_numel: int) -> bool:
        asked.append((type(module).__name__, recurse, nonwrapped_numel))
        return recurse or nonwrapped_numel >= 12

    model = _layers()
    home.apply_activation_checkpointing(model, home.offload_wrapper, auto_wrap_policy=policy)
    assert [type(module) is home.OffloadWrapper for module in model] == [True, False]
    assert asked == [  # as PyTorch 2.13 asks
        ("Sequential", True, 20),
        ("Linear", True, 12),
        ("Linear", False, 12),
        ("Sequential", True, 8),
        ("Dropout", True, 0),
        ("Dropout", False, 0),
        ("Linear", True, 8),
        ("Linear", False, 8),
        ("Sequential", False, 8),
    ]
    model(T.ones(2, 3)).sum().backward()
    assert model[0].weight.grad is not None
    with pytest.raises(ValueError, match="to be callable or be a pre-defined wrap policy"):
        home.apply_activation_checkpointing(model, auto_wrap_policy=3)
