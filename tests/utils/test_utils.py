"""`utils` without `data`: trees, the benchmark timer and its tables, TensorBoard, DLPack, and what is not there."""

from __future__ import annotations

import dataclasses
import random
import re
import struct
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as T
from wengert.utils import _pytree as tree
from wengert.utils import benchmark

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    """Registered as a container, in both libraries."""

    a: Any
    b: Any = None


@pytest.fixture(scope="module", autouse=True)
def _containers() -> Any:
    tree.register_dataclass(Pair, serialized_type_name="Pair")
    tree._register_namedtuple(Point, serialized_type_name="Point")
    yield
    tree._deregister_pytree_node(Pair)
    tree._deregister_pytree_node(Point)


TREES: list[Any] = [
    {"a": [1, Point(2, [3])]},
    {"b": 1, "a": (2, 3)},
    OrderedDict(a=1),
    defaultdict(int, a=1),
    deque([1, 2], 3),
    3,
    None,
    [],
    (),
    Pair(1, [2]),
    Pair(1),
    [Pair([1], {}), (4,)],
]


# --------------------------------------------------------------------------------------------------------------- trees
trees = st.recursive(
    st.integers() | st.none() | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Point, inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(lambda xs: deque(xs, 7), st.lists(inner, max_size=3))
    ),
)


@given(trees)
def test_apart_and_together(x: Any) -> None:
    leaves, spec = tree.tree_flatten(x)
    assert tree.tree_unflatten(leaves, spec) == x and len(leaves) == spec.num_leaves
    assert tree.treespec_loads(tree.treespec_dumps(spec)) == spec and hash(spec) == hash(tree.tree_structure(x))
    assert [tree.key_get(x, path) for path, _ in tree.tree_leaves_with_path(x)] == leaves
    assert tree.tree_map(lambda a, b: a if a is b else "other", x, x) == x
    assert spec.flatten_up_to(x) == leaves == list(tree.tree_iter(x))


def test_maps_of_some_leaves() -> None:
    x = {"a": 1, "b": ["text", 2.5]}
    assert tree.tree_map_only(int, lambda i: i + 1, x) == {"a": 2, "b": ["text", 2.5]}
    assert tree.tree_map_only(lambda v: v == "text", str.upper, x) == {"a": 1, "b": ["TEXT", 2.5]}
    assert tree.tree_map_only(int | float, lambda v: 0, x) == {"a": 0, "b": ["text", 0]}
    seen: list[Any] = []
    assert tree.tree_map_only_((int, str), seen.append, x) is x and seen == [1, "text"]
    assert tree.tree_all_only(int, lambda i: i > 0, x) and not tree.tree_any_only(float, lambda v: v > 3, x)
    assert tree.tree_any(lambda v: v == 1, x) and not tree.tree_all(lambda v: v == 1, x)
    assert tree.tree_map_with_path(lambda path, v: tree.keystr(path), x) == {
        "a": "['a']",
        "b": ["['b'][0]", "['b'][1]"],
    }
    assert tree.tree_leaves(x, is_leaf=lambda v: isinstance(v, list)) == [1, ["text", 2.5]]
    with pytest.raises(TypeError, match="Argument must be a type, a tuple of types, or a callable"):
        tree.tree_map_only(3, str, x)


def test_results_of_several_tensors_are_containers() -> None:
    top = T.max(T.tensor([[1.0, 3.0]]), 1)
    doubled = tree.tree_map(lambda t: t * 2, top)
    assert type(doubled) is type(top) and doubled.values.tolist() == [6.0]


def test_a_prefix_is_matched_by_key() -> None:
    spec = tree.tree_structure({"a": (1, 2), "b": 3})
    assert tree.broadcast_to_and_flatten({"b": "y", "a": "x"}, spec) == ["y", "x", "x"]
    assert tree.broadcast_to_and_flatten(0, spec) == [0, 0, 0] and tree.broadcast_to_and_flatten((0, 1), spec) is None


def test_own_containers() -> None:
    class Own:
        def __init__(self, *xs: Any) -> None:
            self.xs = xs

    tree.register_pytree_node(Own, lambda o: (list(o.xs), "tag"), lambda c, _: Own(*c))
    try:
        assert tree.tree_map(lambda v: v * 2, Own(1, 2)).xs == (2, 4)
        with pytest.raises(ValueError, match="already registered as pytree node"):
            tree.register_pytree_node(Own, list, list)
        with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
            tree.tree_leaves_with_path(Own(1))
        with pytest.raises(NotImplementedError, match="No registered serialization name"):
            tree.treespec_dumps(tree.tree_structure(Own(1)))
    finally:
        tree._deregister_pytree_node(Own)
    assert tree.tree_is_leaf(Own())

    class Setting:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Setting)

        def __hash__(self) -> int:
            return 1

    tree.register_constant(Setting)
    assert tree.tree_structure([Setting(), 1]).num_leaves == 1 and tree.is_constant_class(Setting)
    tree._deregister_pytree_node(Setting)
    with pytest.raises(TypeError, match="non-default `__eq__`"):
        tree.register_constant(Own)
    with pytest.raises(ValueError, match=r"field_names does not include all dataclass fields.\nMissing fields"):
        tree.register_dataclass(Pair, field_names=["a"])


WRONG_CONTEXT = '[1, {"type": "collections.defaultdict", "context": {}, "children_spec": []}]'


def test_a_text_runs_no_code() -> None:
    factory = '{"type": "collections.defaultdict", "context": {"default_factory_module": "os", '
    factory += '"default_factory_name": "getcwd", "dict_context": []}, "children_spec": []}'
    with pytest.raises(NotImplementedError, match=r"Can't deserialize a defaultdict of os.getcwd"):
        tree.treespec_loads(f"[1, {factory}]")
    with pytest.raises(NotImplementedError, match=r"Deserializing builtins.exec in pytree is not registered"):
        tree.treespec_loads('[1, {"type": "builtins.exec", "context": null, "children_spec": []}]')
    deep = '{"type": "builtins.list", "context": "null", "children_spec": [' * 5000 + "]}" * 5000
    leaf = '{"type": null, "context": null, "children_spec": [{}]}'
    for wrong in ("{}", "3", "[1]", "[1, 1]", "[1, {}]", "[" * 10**5, f"[1, {deep}]", f"[1, {leaf}]", WRONG_CONTEXT):
        with pytest.raises(ValueError, match=r"The string is no TreeSpec that treespec_dumps wrote|Expecting"):
            tree.treespec_loads(wrong)


def test_trees_as_torch(torch: Any) -> None:
    theirs = torch.utils._pytree
    if Pair not in theirs.SUPPORTED_NODES:
        theirs.register_dataclass(Pair, serialized_type_name="Pair")
        theirs._register_namedtuple(Point, serialized_type_name="Point")
    assert [name for name in theirs.__all__ if not hasattr(tree, name)] == []

    def outcome(f: Any) -> Any:
        try:
            return str(f())
        except Exception as error:  # noqa: BLE001
            return type(error).__name__, str(error)

    def answers(p: Any, x: Any) -> list[Any]:
        spec = p.tree_structure(x)
        return [
            outcome(lambda: p.tree_flatten(x)),
            outcome(lambda: p.tree_flatten_with_path(x)),
            outcome(lambda: p.treespec_dumps(spec)),
            outcome(lambda: p.treespec_pprint(spec)),
            outcome(lambda: p.tree_unflatten([], spec)),
            *[outcome(lambda y=y: p.tree_map(lambda a, b: (a, b), x, y)) for y in TREES],
            *[outcome(lambda y=y: p._broadcast_to_and_flatten(y, spec)) for y in TREES],
        ]

    for x in TREES:
        assert answers(tree, x) == answers(theirs, x)


# ----------------------------------------------------------------------------------------------------------- benchmark
def test_timer() -> None:
    timer = benchmark.Timer("x = x + 1", "x = 1", label="add", sub_label="one", description="n=1", num_threads=2)
    threads = T.get_num_threads()
    once = timer.timeit(10)
    assert once.number_per_run == 10 and len(once.raw_times) == 1 and once.median == once.mean > 0
    calls: list[Any] = []
    many = timer.blocked_autorange(callback=lambda number, seconds: calls.append(number), min_run_time=0.005)
    assert sum(many.raw_times) >= 0.005 and set(calls) == {many.number_per_run}
    steady = timer.adaptive_autorange(threshold=100, min_run_time=0.001, max_run_time=0.02)
    assert steady.meets_confidence(100) and T.get_num_threads() == threads
    slow = benchmark.Timer("time.sleep(0.002)", globals={"time": time}).blocked_autorange(min_run_time=0.001)
    assert slow.median >= 0.002 and slow.number_per_run == 1
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        benchmark.Timer(lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match=r"C\+\+"):
        benchmark.Timer("f();", language="c++")
    with pytest.raises(NotImplementedError, match="collect_callgrind is not supported"):
        timer.collect_callgrind()
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        benchmark.Compare([3])  # type: ignore[list-item]


def measurements(b: Any) -> list[Any]:
    """Made-up times, alike in both libraries."""
    draw = random.Random(5)
    made = []
    for label, columns in (("first", ("n=1", "n=100")), ("second", ("q",))):
        for sub in ("x", "long name", None):
            for column in columns:
                for env in ("a", "bb"):
                    for threads in (1, 4):
                        base, spread = draw.choice([1e-6, 3e-5, 1e-3]), draw.choice([0.01, 0.3, 1])
                        times = [base * (1 + spread * draw.random()) for _ in range(draw.choice([1, 3, 9]))]
                        if draw.random() < 0.9:
                            spec = b.TaskSpec(
                                "f(x)\ng()" if sub is None else "f(x)", "a = 1", "", label, sub, column, env, threads
                            )
                            made.append(b.Measurement(draw.choice([1, 10]), times, spec))
    return made


def test_measurements_and_tables_as_torch(torch: Any) -> None:
    import torch.utils.benchmark as theirs

    def plain(m: Any) -> str:
        return re.sub("0x[0-9a-f]+", "0x", repr(m))

    for ours, other in zip(measurements(benchmark), measurements(theirs), strict=True):
        assert plain(ours) == plain(other)
        assert ours.significant_figures == other.significant_figures and ours.has_warnings == other.has_warnings
    for settings in (
        [],
        ["trim_significant_figures"],
        ["colorize"],
        ["trim_significant_figures", "highlight_warnings"],
    ):
        texts = []
        for b in (benchmark, theirs):
            table = b.Compare(measurements(b))
            for setting in settings:
                getattr(table, setting)()
            texts.append(str(table))
        assert texts[0] == texts[1]
    for time_, figures in ((3.14159, 2), (1234.5, 1), (0.00123, 3)):
        assert benchmark.trim_sigfig(time_, figures) == theirs.trim_sigfig(time_, figures)
    for seconds in (1e-9, 2e-7, 1e-6, 3e-4, 1e-3, 0.5, 20.0):
        assert benchmark.select_unit(seconds) == theirs.select_unit(seconds)


# --------------------------------------------------------------------------------------------------------- the rest
def _events(folder: Path) -> list[Any]:
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in folder.glob("events*"):
        content = path.read_bytes()
        while content:
            (size,) = struct.unpack("<Q", content[:8])
            found.append(Event.FromString(content[12 : 12 + size]))
            content = content[16 + size :]
    return found


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    from wengert.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path, purge_step=3) as writer:
        writer.add_scalar("old", T.tensor([2.5], requires_grad=True), 1)
        writer.add_scalar("new", 1.5, 2, new_style=True)
        writer.add_histogram("histogram", T.ones(4), 0)
        writer.add_tensor("tensor", T.arange(3), 4)
        writer.add_scalars("several", {"a": T.tensor(1.0)}, 1)
        assert writer.get_logdir() == str(tmp_path)
        for refused in (
            lambda: writer.add_graph(T.nn.Linear(1, 1)),
            lambda: writer.add_scalar("x", 1, double_precision=True),
            lambda: writer.add_hparams({}, {}, hparam_domain_discrete={}),
        ):
            with pytest.raises(NotImplementedError, match="not supported by wengert"):
                refused()
    values = {v.tag: (e.step, v) for e in _events(tmp_path) for v in e.summary.value}
    assert values["old"][0] == 1 and values["old"][1].simple_value == 2.5
    assert np.frombuffer(values["new"][1].tensor.tensor_content, np.float32).tolist() == [1.5]
    assert np.frombuffer(values["tensor"][1].tensor.tensor_content, np.int64).tolist() == [0, 1, 2]
    assert values["histogram"][1].histo.sum == 4
    assert [e.step for e in _events(tmp_path) if e.HasField("session_log")] == [3]


def test_tensorboard_says_which_extra_is_missing() -> None:
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match=r"wengert\[tensorboard\]"):
            T.utils.tensorboard
    else:
        pytest.skip("tensorboardX is installed")


def test_dlpack_capsules() -> None:
    from wengert.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack

    t = T.arange(6).reshape(2, 3).T
    back = from_dlpack(to_dlpack(t))
    back[0, 0] = 7
    assert t[0, 0] == 7 and back.stride() == t.stride()
    array = np.zeros(2)
    from_dlpack(array)[0] = 1
    assert array.tolist() == [1, 0] and array.__dlpack_device__()[0] == DLDeviceType.kDLCPU


def test_small_parts() -> None:
    assert "NumPy:" in T.utils.collect_env.get_pretty_env_info()
    with pytest.raises(TypeError, match="The mod argument should be a string"):
        T.utils.set_module(Pair, 3)
    with pytest.raises(AttributeError, match="no attribute 'rename_privateuse1_backend'"):
        T.utils.rename_privateuse1_backend
