"""What the test suites of PyTorch's libraries, and programs that use these, showed to be missing."""

from __future__ import annotations

import importlib
import importlib.util
import io
import math
from typing import Any

import numpy as np
import pytest

import wengert
from wengert.nn.attention import flex_attention as flex
from wengert.utils import _pytree


# -------------------------------------------------------------------------------------------------------- distributions
def test_covariance_does_not_have_the_shape_of_samples() -> None:
    """gpytorch's normal draws samples as wide as its covariance's root; the shapes of its matrices stay."""

    class Wide(wengert.distributions.MultivariateNormal):
        def _extended_shape(self, sample_shape: Any = ()) -> Any:
            return wengert.Size(sample_shape) + self._batch_shape + wengert.Size([7])

    d = Wide(wengert.zeros(3, 2), wengert.eye(2) * 4)
    assert d.scale_tril.shape == d.covariance_matrix.shape == d.precision_matrix.shape == (3, 2, 2)
    assert d.variance.tolist() == [[4.0, 4.0]] * 3


def test_modules_of_distributions_have_what_pytorchs_import() -> None:
    module = importlib.import_module("wengert.distributions.multivariate_normal")
    assert module.Distribution is wengert.distributions.Distribution
    assert module.constraints is wengert.distributions.constraints
    assert module.__all__ == ["MultivariateNormal"]


def test_a_lazy_property_returns_its_value_where_a_class_hides_it() -> None:
    class Base:
        @wengert.distributions.utils.lazy_property
        def size(self) -> int:
            return 3

    class Derived(Base):
        @property
        def size(self) -> int:  # type: ignore[override]
            return super().size + 1

        @size.setter
        def size(self, value: int) -> None:
            pass

    assert Derived().size == 4


# -------------------------------------------------------------------------------------------------- names and stand-ins
def test_the_node_of_a_leaf_in_a_graph_owns_it() -> None:
    x = wengert.ones(2, requires_grad=True)
    assert x._use_count() == 1
    y = (x * 2).sum()
    assert (x._use_count(), y._use_count()) == (2, 1)
    y.backward(retain_graph=True)
    assert x._use_count() == 2
    del y
    assert x._use_count() == 1


def test_cdata_tells_tensors_apart() -> None:
    """pyro.module compares parameters by it."""
    x = wengert.nn.Parameter(wengert.ones(2))
    other = x.detach()
    assert isinstance(x._cdata, int) and x._cdata == x._cdata != other._cdata


@pytest.mark.parametrize(
    "name",
    [
        "distributed.device_mesh.DeviceMesh", "distributed.optim.ZeroRedundancyOptimizer", "distributed.tensor.DTensor",
        "_dynamo.eval_frame.OptimizedModule", "_dynamo._trace_wrapped_higher_order_op.TransformGetItemToIndex",
        "nn.parallel.distributed.DistributedDataParallel", "nn.modules.module._IncompatibleKeys", "accelerator.Stream",
    ],
)  # fmt: skip
def test_classes_that_libraries_ask_for(name: str) -> None:
    module, _, cls = name.rpartition(".")
    assert not isinstance(wengert.ones(1), getattr(importlib.import_module(f"wengert.{module}"), cls))


def test_what_needs_other_processes_says_so() -> None:
    dist = importlib.import_module("wengert.distributed.nn")
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.reduce(wengert.ones(1), 0)
    without = importlib.util.find_spec("mpi4py") is None  # with it, it asks the environment for its rank
    with pytest.raises(
        (RuntimeError, ValueError), match="init_device_mesh: mpi4py is not" if without else "RANK expected"
    ):
        wengert.distributed.init_device_mesh("cpu", (2,))
    assert wengert._dynamo.is_dynamo_supported()
    assert wengert._dynamo.mark_static_address(wengert.ones(1)) is None


def test_a_mark_for_a_profiler_is_refused_when_it_is_entered() -> None:
    @wengert.cuda.nvtx.range("part")
    def function() -> int:
        return 3

    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        function()


def test_functions_of_pytrees_usual_containers() -> None:
    """transformers registers its outputs, which are dicts, with those of dict."""

    class Output(dict[str, Any]):
        pass

    _pytree.register_pytree_node(
        Output,
        _pytree._dict_flatten,
        lambda leaves, keys: Output(_pytree._dict_unflatten(leaves, keys)),
        flatten_with_keys_fn=_pytree._dict_flatten_with_keys,
    )
    try:
        found = _pytree.tree_map(lambda x: x + 1, Output(a=1, b=[2]))
        assert type(found) is Output and found == {"a": 2, "b": [3]}
        paths = [_pytree.keystr(path) for path, _ in _pytree.tree_leaves_with_path(found)]
        assert paths == ["['a']", "['b'][0]"]
    finally:
        _pytree._deregister_pytree_node(Output)
    assert _pytree._tuple_flatten((1, 2)) == ([1, 2], None) and _pytree._list_unflatten((1, 2), None) == [1, 2]


def test_a_size_is_a_container() -> None:
    """pyro follows what a result depends on through whatever is a tuple."""
    leaves, spec = _pytree.tree_flatten([wengert.Size([2, 3])])
    assert leaves == [2, 3] and type(spec.unflatten(leaves)[0]) is tuple


def test_arguments_of_to_as_modules_read_them() -> None:
    """lightning's modules override ``to`` and ask this for its arguments."""
    read = wengert._C._nn._parse_to
    assert read("cpu", wengert.float64, True) == (wengert.device("cpu"), wengert.float64, True, None)
    assert read(wengert.ones(1)) == (wengert.device("cpu"), wengert.float32, False, None)
    assert read(dtype=wengert.float16)[:2] == (None, wengert.float16)


def test_records_of_a_checkpoint() -> None:
    file = io.BytesIO()
    wengert.save({"a": wengert.arange(3.0)}, file)
    reader = wengert.PyTorchFileReader(io.BytesIO(file.getvalue()))
    assert reader.has_record("data/0") and not reader.has_record("data/1")
    data = reader.get_record("data/0")
    assert np.frombuffer(data, "f4").tolist() == [0.0, 1.0, 2.0] and reader.get_record_size("data/0") == 12
    place = reader.get_record_offset("data/0")
    assert file.getvalue()[place : place + 12] == data and {"version", "data.pkl"} <= set(reader.get_all_records())
    with pytest.raises(RuntimeError, match="failed locating file data/1"):
        reader.get_record("data/1")
    with pytest.raises(RuntimeError, match="open file failed because of errno 2"):
        wengert.PyTorchFileReader("/nowhere/at/all")


def test_new_of_a_sparse_tensor() -> None:
    """pytorch_optimizer's SM3 makes gradients of its own by PyTorch 0.1's constructor."""
    at, values = wengert.tensor([[0, 1], [2, 0]]), wengert.tensor([3.0, 4.0])
    x = wengert.sparse_coo_tensor(at, values, (2, 3))
    assert x.new(at, values, x.size()).to_dense().tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]]
    empty = x.new().resize_as_(x)
    assert empty.shape == (2, 3) and empty._nnz() == 0 and not empty.to_dense().any()
    assert x.new(2, 2).shape == x.new(wengert.Size([2, 2])).shape == (2, 2) and x.new().shape == (0,)


# ------------------------------------------------------------------------------------------------------ flex_attention
def naive_attention(q: Any, k: Any, v: Any, change: Any) -> Any:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    out = scores.clone()
    for b, h, i, j in np.ndindex(*scores.shape):
        out[b, h, i, j] = change(scores[b, h, i, j], b, h, i, j)
    return wengert.softmax(out, -1).nan_to_num(0.0) @ v


def test_scores_are_changed_one_by_one() -> None:
    wengert.manual_seed(0)
    q, k, v = wengert.randn(3, 2, 4, 5, 3).unbind()
    slopes, documents = wengert.randn(4), wengert.tensor([0, 0, 1, 1, 1])

    def score_mod(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s + slopes[h] * (i - j)

    def mask_mod(b: Any, h: Any, i: Any, j: Any) -> Any:
        return (documents[i] == documents[j]) & (i > j)  # the first row of each document sees nothing

    block_mask = flex.create_block_mask(mask_mod, 2, 4, 5, 5, BLOCK_SIZE=2)
    out = flex.flex_attention(q, k, v, score_mod, block_mask)

    def change(s: Any, b: int, h: int, i: int, j: int) -> Any:
        return score_mod(s, b, h, i, j) if bool(mask_mod(b, h, i, j)) else -math.inf

    wengert.testing.assert_close(out, naive_attention(q, k, v, change))
    assert out[:, :, 0].abs().sum() == 0


def test_what_the_functions_hold_gets_gradients() -> None:
    wengert.manual_seed(0)
    q = wengert.randn(1, 2, 3, 2, dtype=wengert.float64, requires_grad=True)
    bias = wengert.randn(3, 3, dtype=wengert.float64, requires_grad=True)

    def attend(q: Any, bias: Any) -> Any:
        return flex.flex_attention(q, q, q, lambda s, b, h, i, j: s + bias[i, j])

    assert wengert.autograd.gradcheck(attend, (q, bias))


def test_heads_of_the_query_share_those_of_the_key() -> None:
    wengert.manual_seed(0)
    q, k = wengert.randn(1, 4, 3, 2), wengert.randn(1, 2, 3, 2)
    wide = k.repeat_interleave(2, dim=1)
    out, aux = flex.flex_attention(
        q, k, k, enable_gqa=True, scale=0.3, return_aux=flex.AuxRequest(lse=True, max_scores=True)
    )
    scores = q @ wide.transpose(-2, -1) * 0.3
    wengert.testing.assert_close(out, wengert.softmax(scores, -1) @ wide)
    wengert.testing.assert_close(aux.lse, scores.logsumexp(-1))
    wengert.testing.assert_close(aux.max_scores, scores.amax(-1))
    with pytest.raises(ValueError, match="Try setting enable_gqa=True"):
        flex.flex_attention(q, k, k)


def test_blocks_of_a_mask() -> None:
    mask = flex.create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 8, 8, BLOCK_SIZE=2)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 1, 1]]] and mask.full_kv_num_blocks.tolist() == [[[0, 1, 2, 3]]]
    assert mask.to_dense()[0, 0].tolist() == np.tril(np.ones((4, 4))).tolist() and mask.sparsity() == 37.5
    assert mask.q_num_blocks.tolist() == [[[1, 1, 1, 1]]] and mask.full_q_num_blocks.tolist() == [[[3, 2, 1, 0]]]
    half = mask._adjust(4, 4)
    assert half.shape == (1, 1, 4, 4) and half.to_dense()[0, 0].tolist() == [[1, 0], [1, 1]]
    q = wengert.ones(1, 1, 8, 2)
    with pytest.raises(RuntimeError, match="Cannot use mask_mod from a sliced BlockMask"):
        flex.flex_attention(q, q, q, block_mask=mask[0])
    with pytest.raises(ValueError, match="created for a larger length"):
        flex.flex_attention(q[:, :, :4], q, q, block_mask=mask)
    whole = flex.create_block_mask(lambda b, h, q, kv: q >= kv, 2, 3, 8, 8, BLOCK_SIZE=2, separate_full_blocks=False)
    assert whole.full_kv_indices is None and whole.kv_num_blocks[1, 2].tolist() == [1, 2, 3, 4]


def test_flex_attention_is_torchs(torch: Any) -> None:
    theirs = importlib.import_module("torch.nn.attention.flex_attention")
    theirs._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # without its compiler, which takes seconds

    def found(lib: Any, module: Any) -> list[Any]:
        lib.manual_seed(0)
        q, k, v = lib.randn(3, 2, 4, 10, 8).unbind()
        slopes, documents = lib.randn(4), lib.arange(10) // 4

        def near(b: Any, h: Any, i: Any, j: Any) -> Any:
            return module.or_masks(lambda b, h, i, j: documents[i] == documents[j], lambda *p: p[2] == p[3])(b, h, i, j)

        mask = module.create_block_mask(
            module.and_masks(near, lambda b, h, i, j: i >= j), 2, None, 10, 10, BLOCK_SIZE=4
        )
        changed = module.flex_attention(q, k, v, lambda s, b, h, i, j: s + slopes[h] * (j - i), mask)
        texts = [str(mask), repr(mask).replace("torch.", ""), mask.to_string(2), tuple(mask[0, 0].shape)]
        lists = [None if t is None else t.tolist() for t in mask.as_tuple()[2:10]]
        return [changed.double().numpy().round(4).tolist(), texts, lists, len(mask.as_tuple(False))]

    assert found(wengert, flex) == found(torch, theirs)


# ------------------------------------------------------------------------------------------------------- control flow
def test_one_of_two_functions() -> None:
    x = wengert.tensor([1.0, -2.0], requires_grad=True)
    y = wengert.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))
    y.sum().backward()
    assert y.tolist() == [3.0, -6.0] and x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="Expected pred to be bool or single-element tensor"):
        wengert.cond(x, abs, abs, (x,))
    with pytest.raises(RuntimeError, match="Expect operands to be a tuple"):
        wengert.cond(True, abs, abs, x)  # type: ignore[arg-type]


def test_loops() -> None:
    from wengert._higher_order_ops import map as mapped
    from wengert._higher_order_ops import scan

    count, x = wengert.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (wengert.tensor(0), wengert.ones(2)))
    assert count == 3 and x.tolist() == [8.0, 8.0]
    with pytest.raises(RuntimeError, match="same number of elements"):
        wengert.while_loop(lambda x: True, lambda x: (x, x), (wengert.ones(1),))
    xs = wengert.arange(6.0).view(2, 3)
    last, sums = scan(lambda c, x: (c + x, c + x), wengert.zeros(2), xs, dim=1)
    assert last.tolist() == [3.0, 12.0] and sums.tolist() == xs.cumsum(1).tolist()
    assert mapped(lambda x, y: x.sum() + y, xs, wengert.tensor(1.0)).tolist() == [4.0, 13.0]


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(n: int, reverse: bool) -> None:
    """A linear recurrence, as state space models scan it; its gradient is that of the loop."""
    from wengert._higher_order_ops.associative_scan import associative_scan

    wengert.manual_seed(n)
    a, b = (wengert.randn(2, n, 3, dtype=wengert.float64, requires_grad=True) for _ in range(2))
    _, found = associative_scan(
        lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), (a, b), 1, reverse=reverse, combine_mode="generic"
    )
    state, states = wengert.zeros(2, 3, dtype=wengert.float64), []
    for i in reversed(range(n)) if reverse else range(n):
        state = state * a[:, i] + b[:, i]
        states.append(state)
    looped = wengert.stack(states[::-1] if reverse else states, 1)
    wengert.testing.assert_close(found, looped)
    weights = wengert.randn(2, n, 3, dtype=wengert.float64)
    for x, y in zip(
        wengert.autograd.grad((found * weights).sum(), (a, b), materialize_grads=True),
        wengert.autograd.grad((looped * weights).sum(), (a, b), materialize_grads=True),
        strict=True,
    ):
        wengert.testing.assert_close(x, y)


def test_control_flow_is_torchs(torch: Any) -> None:
    for name in ("scan", "associative_scan"):
        importlib.import_module(f"torch._higher_order_ops.{name}")

    def found(lib: Any) -> list[Any]:
        ops = importlib.import_module(f"{lib.__name__}._higher_order_ops")
        x = lib.arange(12.0).view(3, 4)
        last, kept = ops.scan(lambda c, x: (c * 0.5 + x, c - x), lib.ones(3), x, dim=1, reverse=True)
        total = ops.associative_scan(lambda a, b: a + b, x, 1, reverse=True, combine_mode="generic")
        return [last.tolist(), kept.tolist(), total.tolist()]

    assert found(wengert) == found(torch)


# ---------------------------------------------------------------------------------------------------- Sobol' sequences
def test_points_of_a_sobol_sequence() -> None:
    pytest.importorskip("scipy")
    engine = wengert.quasirandom.SobolEngine(3)
    assert engine.draw(4).tolist() == [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    first = engine.reset().draw(16)
    assert engine.reset().fast_forward(5).draw(11).tolist() == first[5:].tolist() and engine.num_generated == 16
    assert wengert.cat([engine.reset().draw(1), engine.draw(7), engine.draw(8)]).tolist() == first.tolist()
    with pytest.raises(ValueError, match="require n to be a power of 2"):
        engine.draw_base2(3)
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
        wengert.quasirandom.SobolEngine(0)


@pytest.mark.parametrize("seed", [None, 3])
def test_scrambled_points_stay_balanced(seed: int | None) -> None:
    """Of 2**m points each of 2**m equal intervals of each dim has one, whatever the scrambling."""
    pytest.importorskip("scipy")
    engine = wengert.quasirandom.SobolEngine(6, scramble=True, seed=seed)
    points = engine.draw_base2(6, dtype=wengert.float64)
    places = (points * 64).floor().long().sort(0).values
    assert places.tolist() == [[i] * 6 for i in range(64)] and repr(engine).startswith("SobolEngine(dimension=6, scr")


def test_sobol_sequences_are_torchs(torch: Any) -> None:
    def found(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        engines = [lib.quasirandom.SobolEngine(d, scramble=s, seed=n) for d in (1, 9) for s, n in ((0, None), (1, 5))]
        engines.append(lib.quasirandom.SobolEngine(4, scramble=True))
        return [[repr(e), e.draw(3).tolist(), e.fast_forward(4).draw(2).tolist(), e.quasi.tolist()] for e in engines]

    importlib.import_module("torch.quasirandom")
    assert found(wengert) == found(torch)


# ------------------------------------------------------------------------------------------------------- affine_grid
@pytest.mark.parametrize("align_corners", [False, True])
def test_an_image_that_is_not_moved_keeps_its_places(torch: Any, align_corners: bool) -> None:
    """At the kinks of grid_sample the last bit decides the gradient, as in spatial transformer networks."""

    def found(lib: Any) -> list[Any]:
        theta = lib.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        grids = [lib.nn.functional.affine_grid(theta, (1, 1, n, n + 1), align_corners) for n in (2, 5, 7, 28, 33)]
        return [g.numpy().tobytes() for g in grids]

    assert found(wengert) == found(torch)


# ----------------------------------------------------------------------------------------------------------- bfloat16
def bfloat16_of(x: Any) -> Any:
    return wengert.from_numpy(np.asarray(x)).to(wengert.bfloat16)


def test_bfloat16_beside_wider_tensors() -> None:
    pytest.importorskip("ml_dtypes")
    x = wengert.tensor([1.001, 2.0])
    b, one = x.bfloat16(), wengert.tensor(1.001)
    for wide in (b + x, x * b, wengert.cat([b, x]), wengert.stack([b, x]), wengert.maximum(b, x), b[0] * x):
        assert wide.dtype is wengert.float32
    assert (b + x.double()).dtype is wengert.float64 and (b * one).dtype is wengert.bfloat16
    assert (x * b[0]).tolist() == x.tolist() and b.add_(x).dtype is wengert.bfloat16


def test_products_of_bfloat16_are_rounded_once() -> None:
    pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    x, w, b, g = (bfloat16_of(rng.standard_normal(s)) for s in ((40, 6), (3, 6), (3,), (40, 3)))
    w.requires_grad_(), b.requires_grad_()
    y = wengert.nn.functional.linear(x, w, b)
    y.backward(g)
    wide = [t.detach().double() for t in (x, w, b, g)]
    exact = (wide[0] @ wide[1].T + wide[2], wide[3].T @ wide[0], wide[3].sum(0))
    for found, right in zip((y, w.grad, b.grad), exact, strict=True):
        assert found.detach().float().tolist() == right.bfloat16().float().tolist()


@pytest.mark.parametrize("name", ["silu", "softplus", "mish", "hardswish", "selu", "logsigmoid", "sigmoid"])
def test_activations_of_bfloat16_are_rounded_once(name: str) -> None:
    pytest.importorskip("ml_dtypes")
    fn = getattr(wengert.nn.functional, name)
    x = bfloat16_of(np.linspace(-4, 4, 301))
    assert fn(x).float().tolist() == fn(x.float()).bfloat16().float().tolist()


@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # PyTorch's, of its fused kernel
def test_wide_weights_of_a_norm_of_bfloat16(torch: Any) -> None:
    pytest.importorskip("ml_dtypes")

    def found(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        x, w, b, F = lib.randn(4, 6).bfloat16(), lib.rand(6), lib.randn(6), lib.nn.functional
        outs = [F.layer_norm(x, (6,), w, b), F.group_norm(x, 2, w, b), F.batch_norm(x, None, None, w, b, True)]
        outs += [F.rms_norm(x, (6,), w), F.rms_norm(x, (6,), w.bfloat16())]
        return [(str(y.dtype), y.float().numpy().round(2).tolist()) for y in outs]

    assert found(wengert) == found(torch)


# ---- PyTorch's own private modules
def test_chunks_and_mapped_dims_of_functorch() -> None:
    from wengert._C._functorch import reshape_dim_into, reshape_dim_outof
    from wengert._functorch.eager_transforms import _as_tuple, _slice_argnums
    from wengert._functorch.functorch.experimental import chunk_vmap
    from wengert._functorch.vmap import restore_vmap

    x = wengert.arange(6.0)
    assert chunk_vmap(wengert.sin, chunks=4)(x).equal(x.sin())
    outs, dims = restore_vmap(lambda a: (a * 2, wengert.ones(2)), (0,), 6, "error")(x)
    assert (outs[0].equal(x * 2), outs[1].tolist(), dims) == (True, [1, 1], (0, None))
    t = wengert.arange(30).reshape(2, 3, 5)
    assert reshape_dim_into(0, 1, t).equal(t.permute(1, 0, 2).reshape(3, 10))
    assert reshape_dim_outof(2, 5, t).shape == (2, 3, 5, 1)
    assert _as_tuple([1]) == (1,) and _slice_argnums(("a", "b"), (-1, 0)) == ("b", "a")
    assert _slice_argnums(("a", "b"), 1, as_tuple=False) == "b"
    with pytest.raises(RuntimeError, match="argnums elements must be unique"):
        _slice_argnums(("a", "b"), (0, -2))


def test_functions_of_new_modules() -> None:
    from wengert._functorch.make_functional import functional_init, functional_init_with_buffers

    weights, fn, names = functional_init(wengert.nn.Linear, (3,))(4, 2)
    assert names == ("weight", "bias") and weights[0].shape == (3, 2, 4)
    assert wengert.vmap(fn, (0, None))(weights, (wengert.ones(5, 4),)).shape == (3, 5, 2)
    params, buffers, fn, _, names = functional_init_with_buffers(wengert.nn.BatchNorm1d)(4)
    assert names == ("running_mean", "running_var", "num_batches_tracked")
    assert fn(params, buffers, (wengert.randn(5, 4),)).shape == (5, 4)


def test_versions_of_modules() -> None:
    from wengert.serialization import check_module_version_greater_or_equal as at_least

    class Package:
        __name__, __version__ = "package", "1.2.x"

    assert at_least(Package, (1, 2)) and not at_least(Package, (1, 3))
    with pytest.raises(RuntimeError, match="'Package' module version string is malformed"):
        at_least(Package, (1, 2, 0))
    with pytest.warns(UserWarning, match="but continuing assuming"):
        assert at_least(Package, (1, 2, 0), error_if_malformed=False)


def test_helpers_of_tests() -> None:
    from wengert.testing._internal import common_nn, common_utils
    from wengert.testing._internal.common_cuda import SM89OrLater, tf32_on_and_off
    from wengert.testing._internal.common_dtype import all_mps_types_and

    assert not SM89OrLater and tf32_on_and_off(0.1)(max) is max
    assert wengert.bool in all_mps_types_and(wengert.bool)
    _, net, twice = common_nn._create_basic_net()
    assert len(twice) == 2 and [name for name, _ in net.named_buffers()] == ["dummy_buf", "l1.layer_dummy_buf"]

    class Cases(common_nn.NNTestCase):
        @common_utils.swap([True, False])
        def test_swapped(self) -> None:
            seen.append(wengert.__future__.get_swap_module_params_on_conversion())

    seen: list[bool] = []
    common_utils.instantiate_parametrized_tests(Cases)
    for name in ("test_swapped_swap_True", "test_swapped_swap_False"):
        getattr(Cases(name), name)()
    common_nn._test_module_empty_input(Cases(), wengert.nn.ReLU(), wengert.ones(0, 3))
    assert seen == [True, False] and not wengert.__future__.get_swap_module_params_on_conversion()


def test_a_test_gets_the_device_only_if_it_asks_for_it() -> None:
    from wengert.testing._internal import common_device_type as devices
    from wengert.testing._internal.common_utils import TestCase

    class TestAsked(TestCase):
        def test_nothing(self) -> None:
            seen.append(None)

        @devices.dtypes(wengert.float32)
        def test_one(self, dtype: Any, device: Any) -> None:
            seen.append((dtype, device))

        @devices.deviceCountAtLeast(1)
        def test_all(self, devices: Any) -> None:
            seen.append(devices)

    seen: list[Any] = []
    scope: dict[str, Any] = {}
    devices.instantiate_device_type_tests(TestAsked, scope)
    for name in ("test_nothing_cpu", "test_one_cpu_float32", "test_all_cpu"):
        getattr(scope["TestAskedCPU"](name), name)()
    assert seen == [None, (wengert.float32, "cpu"), ["cpu"]]


def test_logging_tensors(no_gc: None) -> None:
    from wengert._base.modes import slow_always
    from wengert.testing._internal import logging_tensor as logs

    level, watched = logs.logger.level, len(slow_always)
    with logs.capture_logs() as lines:
        x = logs.LoggingTensor(wengert.ones(2), requires_grad=True)
        logs.log_input("x", x)
        (g,) = wengert.autograd.grad(wengert.cat([x * 2, x]).sum(), x)
    assert lines[:3] == [
        "$0: f32[2] = input('x')",
        "$1: f32[2] = torch._ops.aten.mul.Tensor($0, 2)",
        "$2: f32[4] = torch._ops.aten.cat.default(['$1', '$0'])",
    ]
    assert type(g) is logs.LoggingTensor and g.elem.tolist() == [3.0, 3.0]
    assert repr(x) == "LoggingTensor(tensor([1., 1.]), requires_grad=True)"
    with logs.capture_logs_with_logging_tensor_mode() as lines:
        wengert.ones(2).exp()
    assert lines[-1] == "$1: f32[2] = torch._ops.aten.exp.default($0)"
    del x, g
    assert logs.logger.level == level and len(slow_always) == watched  # nothing is slower afterwards


def test_names_of_tests_of_compiled_programs_and_of_dtypes() -> None:
    from wengert.testing._internal import common_utils

    assert importlib.import_module("wengert._dynamo.test_case").run_tests is common_utils.run_tests
    short = importlib.import_module("wengert.utils._dtype_abbrs").dtype_abbrs
    assert short[wengert.bfloat16] == "bf16" and wengert.int4 not in short


def test_private_operators_of_the_suite() -> None:
    x = wengert.zeros(2, 2, requires_grad=True)
    wengert._test_autograd_multiple_dispatch(x).backward(wengert.full((2, 2), 3.0))
    wengert._test_autograd_multiple_dispatch(x, True).backward(wengert.full((2, 2), 3.0))
    assert x.grad is not None and x.grad.tolist() == [[7.0, 7.0]] * 2
    assert wengert._test_autograd_multiple_dispatch_view(x)._base is x
    copied = wengert._test_autograd_multiple_dispatch_view_copy(x)
    assert copied._base is None and copied.shape == (4,)


def test_the_choice_of_warnings_about_streams_is_kept() -> None:
    choose, chosen = (
        wengert.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch,
        wengert._C._warn_on_accumulate_grad_stream_mismatch,
    )
    assert chosen()
    choose(False)
    assert not chosen()
    choose(True)
    assert chosen()


def test_a_mode_sees_spreads_as_pytorch_names_them() -> None:
    from wengert.utils._python_dispatch import TorchDispatchMode

    seen: list[Any] = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((str(func), args[1:], kwargs))
            return func(*args, **(kwargs or {}))

    x = wengert.ones(2, 3)
    with Mode():
        wengert.var_mean(x)
        wengert.std_mean(x, 1, correction=0)
        wengert.var(x, keepdim=True)
    assert seen == [
        ("aten.var_mean.correction", (), {}),
        ("aten.std_mean.correction", ([1],), {"correction": 0}),
        ("aten.var.correction", (), {"keepdim": True}),
    ]
