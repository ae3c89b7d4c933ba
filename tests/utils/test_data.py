"""`utils.data` and `multiprocessing`: which samples come in which order, how they become batches, and worker processes.

With the real torch beside it: the same seeds give the same batches, and errors have the same texts.
"""

from __future__ import annotations

import array
import collections.abc
import contextlib
import gc
import itertools
import multiprocessing
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import data_cases
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as T
import wengert.utils.data as data
from wengert.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)
from wengert.utils.data._utils import collate as collating
from wengert.utils.data.distributed import DistributedSampler

needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
# Python 3.12 warns of every fork of a process with threads, and NumPy's BLAS has some
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def fork(dataset: Any, **options: Any) -> DataLoader[Any]:
    """A loader with two workers that are forked, whatever the default is."""
    return DataLoader(dataset, **{"num_workers": 2, "multiprocessing_context": "fork", **options})


def lists(x: Any) -> Any:
    """Tensors as lists, at whatever depth: what two batches are compared by."""
    if hasattr(x, "dtype"):
        return x.tolist(), str(x.dtype)
    if isinstance(x, dict):
        return {key: lists(each) for key, each in x.items()}
    return [lists(each) for each in x] if isinstance(x, collections.abc.Sequence) and not isinstance(x, str) else x


# ------------------------------------------------------------------------------------------------------------ datasets
def test_tensor_dataset() -> None:
    pairs = TensorDataset(T.arange(6).reshape(3, 2), T.tensor([7.0, 8.0, 9.0]))
    assert len(pairs) == 3
    assert lists(pairs[-1]) == [([4, 5], "torch.int64"), (9.0, "torch.float32")]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(T.ones(3), T.ones(2))


def test_concat_and_chain() -> None:
    both = ConcatDataset(["ab", "c", "def"])
    assert "".join(both[i] for i in range(len(both))) == "abcdef"
    assert both[-1] == "f" and both[-6] == "a" and both.cumulative_sizes == [2, 3, 6]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-7]
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        ConcatDataset([])
    stream = data_cases.Share()
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        ConcatDataset([stream])
    assert list(stream + stream) == [*range(10), *range(10)]
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        list(ChainDataset([[1, 2]]))
    assert isinstance(data_cases.Numbers() + data_cases.Numbers(), ConcatDataset)
    with pytest.warns(FutureWarning, match="renamed"):
        assert both.cummulative_sizes == both.cumulative_sizes


def test_stack_dataset() -> None:
    by_name = StackDataset(a=[1, 2, 3], b="xyz")
    assert by_name[1] == {"a": 2, "b": "y"} and by_name.__getitems__([2, 0])[0] == {"a": 3, "b": "z"}
    in_order = StackDataset([1, 2], Subset("xyz", [2, 1]))
    assert in_order[0] == (1, "z") and in_order.__getitems__([1, 0]) == [(2, "y"), (1, "z")]
    for arguments, keywords, text in (
        ((), {}, "At least one dataset"),
        (([1],), {"a": [1]}, "both types are given"),
        (([1], [1, 2]), {}, "Size mismatch"),
    ):
        with pytest.raises(ValueError, match=text):
            StackDataset(*arguments, **keywords)

    class Short(data_cases.Numbers):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return indices[:-1]

    with pytest.raises(ValueError, match="Expected 2, got 1"):
        StackDataset(Short()).__getitems__([0, 1])


def test_subset() -> None:
    part = Subset("abcdef", [5, 0, 3])
    assert [part[0], part[-1], *part.__getitems__([1, 0])] == ["f", "d", "a", "f"] and len(part) == 3
    assert lists(Subset(T.arange(10) * 2, [1, 2, 3])[[0, 2]]) == ([2, 6], "torch.int64")

    class Half(Subset[Any]):
        def __getitem__(self, i: Any) -> Any:
            return i

    with pytest.raises(NotImplementedError, match="Half overrides __getitem__ but not __getitems__"):
        Half("abc", [0])


@given(st.integers(1, 50), st.lists(st.floats(0.01, 1), min_size=1, max_size=5))
def test_random_split_is_a_partition(n: int, weights: list[float]) -> None:
    fractions = [w / sum(weights) for w in weights]
    if sum(fractions) > 1:
        fractions[0] -= sum(fractions) - 1 + 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = random_split(range(n), fractions, generator=T.Generator().manual_seed(1))
    assert sorted(itertools.chain(*[p.indices for p in parts])) == list(range(n))
    for part, fraction in zip(parts, fractions, strict=True):
        assert abs(len(part) - n * fraction) <= len(parts)


def test_random_split_refuses() -> None:
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        random_split(range(5), [2, 2])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(5), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(1), [0.5, 0.5])


# ------------------------------------------------------------------------------------------------------------ samplers
def test_samplers_without_chance() -> None:
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert [len(BatchSampler(range(5), 2, drop)) for drop in (True, False)] == [2, 3]
    assert list(BatchSampler(range(4), 2, False)) == [[0, 1], [2, 3]]


@given(st.integers(1, 70), st.integers(1, 150), st.booleans())
def test_random_sampler(n: int, count: int, replacement: bool) -> None:
    drawn = list(RandomSampler(range(n), replacement, count, T.Generator().manual_seed(3)))
    assert len(drawn) == count and set(drawn) <= set(range(n))
    if not replacement:
        rounds = [drawn[i : i + n] for i in range(0, count, n)]
        assert all(len(set(each)) == len(each) for each in rounds)


def test_subset_and_weighted_samplers() -> None:
    assert sorted(SubsetRandomSampler([3, 1, 4])) == [1, 3, 4] and len(SubsetRandomSampler([3, 1, 4])) == 3
    assert set(WeightedRandomSampler([0.0, 2.0, 0.0, 1.0], 50)) == {1, 3}
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]


@given(st.integers(1, 40), st.integers(1, 7), st.booleans(), st.booleans())
def test_distributed_sampler(n: int, replicas: int, shuffle: bool, drop_last: bool) -> None:
    ranks = [DistributedSampler(range(n), replicas, r, shuffle, 5, drop_last) for r in range(replicas)]
    shares = [list(each) for each in ranks]
    assert {len(share) for share in shares} == {len(ranks[0])}
    together = list(itertools.chain(*shares))
    if drop_last:
        assert len(together) == n // replicas * replicas == len(set(together))
    else:
        assert set(together) == set(range(n)) and len(together) - n < replicas


def test_distributed_sampler_needs_to_be_told() -> None:
    with pytest.raises(ValueError, match=r"Invalid rank 2, rank should be in the interval \[0, 1\]"):
        DistributedSampler(range(4), 2, 2)
    with pytest.raises((RuntimeError, ValueError), match=r"Requires distributed package to be available|process group"):
        DistributedSampler(range(4))


# ------------------------------------------------------------------------------------------------------------- collate
class Point(NamedTuple):
    x: Any
    y: Any


class Tagged(dict):  # type: ignore[type-arg]
    """A mapping with something besides its items."""

    tag = "none"


def samples(torch: Any) -> dict[str, list[Any]]:
    """Batches of every sort, made with one of the two libraries."""
    t = torch.tensor
    tagged = Tagged(a=1)
    tagged.tag = "kept"
    return {
        "ints": [1, 2, 3],
        "bools": [True, False],
        "ints and floats": [1, 2.5],
        "bool first": [True, 2],
        "floats": [1.0, 2.0],
        "floats and ints": [1.0, 2],
        "texts": ["a", "b"],
        "bytes": [b"a", b"b"],
        "0-d": [t(1.0), t(2.0)],
        "vectors": [t([1.0, 2.0]), t([3.0, 4.0])],
        "empty": [torch.empty(0, 3), torch.empty(0, 3)],
        "dtypes": [t([1, 2]), t([1.5, 2.5])],
        "transposed": [torch.arange(6).reshape(2, 3).T, torch.arange(6).reshape(2, 3).T],
        "numpy": [np.arange(3.0), np.ones(3)],
        "numpy F": [np.ones((2, 3), order="F"), np.zeros((2, 3), order="F")],
        "numpy 0-d": [np.array(1), np.array(2)],
        "numpy dtypes": [np.arange(3), np.ones(3, np.float32)],
        "numpy scalars": [np.float32(1), np.float32(2)],
        "numpy bools": [np.bool_(True), np.bool_(False)],
        "tuples": [(1, "a", t(1)), (2, "b", t(2))],
        "lists": [[1, [2, 3]], [4, [5, 6]]],
        "dicts": [{"a": 1, "b": {"c": t(1)}}, {"a": 2, "b": {"c": t(2)}}],
        "ordered": [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
        "default": [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
        "points": [Point(1, t([1.0])), Point(2, t([2.0]))],
        "deques": [collections.deque([1, 2]), collections.deque([3, 4])],
        "arrays": [array.array("d", [1, 2]), array.array("d", [3, 4])],
        "ranges": [range(2), range(2)],
        "tagged": [tagged, Tagged(a=2)],
        "one": [(1,)],
        "nones": [None, None],
        "sets": [{1}, {2}],
        "unequal": [[1], [1, 2]],
        "text arrays": [np.array(["a"]), np.array(["b"])],
        "object arrays": [np.array([None]), np.array([None])],
        "shapes": [t([1]), t([1, 2])],
        "numpy shapes": [np.ones(2), np.ones(3)],
        "huge": [2**70, 1],
        "nothing": [],
    }


def test_collate() -> None:
    batch = samples(T)
    assert lists(default_collate(batch["dicts"])) == {
        "a": ([1, 2], "torch.int64"),
        "b": {"c": ([1, 2], "torch.int64")},
    }
    point = default_collate(batch["points"])
    assert type(point) is Point and point.y.tolist() == [[1.0], [2.0]]
    tagged = default_collate(batch["tagged"])
    assert type(tagged) is Tagged and tagged.tag == "kept"
    assert lists(default_collate(batch["floats"])) == ([1.0, 2.0], "torch.float64")
    assert default_collate(batch["transposed"]).is_contiguous()
    assert default_collate(batch["tuples"])[1] == ("a", "b")


def test_collate_keeps_the_history() -> None:
    w = T.ones(2, requires_grad=True)
    batch = default_collate([(w * 2, 1), (w * 3, 2)])
    batch[0].sum().backward()
    assert w.grad is not None and w.grad.tolist() == [5.0, 5.0]


def test_collate_learns_types() -> None:
    class Own:
        def __init__(self, x: int) -> None:
            self.x = x

    with pytest.raises(TypeError, match="default_collate: batch must contain tensors, numpy arrays, numbers"):
        default_collate([Own(1)])
    known = {**collating.default_collate_fn_map, Own: lambda batch, collate_fn_map: sum(each.x for each in batch)}
    assert collating.collate([(Own(1),), (Own(2),)], collate_fn_map=known) == [3]
    old = collating.default_collate_fn_map[T.Tensor]
    collating.default_collate_fn_map[T.Tensor] = lambda batch, collate_fn_map: len(batch)
    try:
        assert next(iter(DataLoader(TensorDataset(T.ones(4)), batch_size=3))) == [3]
        assert default_collate([np.ones(2), np.ones(2)]) == 2
    finally:
        collating.default_collate_fn_map[T.Tensor] = old


def test_convert() -> None:
    a = np.arange(3)
    done = default_convert({"a": a, "b": (a, "x"), "c": [1.5, np.array("s")]})
    assert lists(done["a"]) == ([0, 1, 2], "torch.int64") and type(done["b"]) is list and done["b"][1] == "x"
    assert done["c"][1].dtype.kind == "U"
    a[0] = 7
    assert done["a"][0] == 7


# -------------------------------------------------------------------------------------------------------------- loader
@given(
    st.integers(1, 40), st.integers(1, 9), st.booleans(), st.booleans(), st.sampled_from(["tensors", "list", "split"])
)
def test_batches_are_the_dataset(n: int, size: int, shuffle: bool, drop_last: bool, kind: str) -> None:
    source: Any = TensorDataset(T.arange(n), -T.arange(n))
    if kind == "list":
        source = [(i, -i) for i in range(n)]
    elif kind == "split":
        source = random_split(source, [n])[0]
    loader = DataLoader(source, size, shuffle, drop_last=drop_last)
    batches = list(loader)
    assert len(batches) == len(loader) == (n // size if drop_last else -(-n // size))
    seen = [i for x, y in batches for i in x.tolist() if (x == -y).all()]
    assert len(seen) == len(set(seen)) == (n // size * size if drop_last else n)
    if not shuffle and kind != "split":
        assert seen == list(range(len(seen)))


def test_gathered_rows_are_new_memory() -> None:
    rows = T.arange(12.0).reshape(4, 3)
    (batch,) = next(iter(DataLoader(TensorDataset(rows.T.contiguous().T), batch_size=4)))
    assert batch.is_contiguous() and batch.tolist() == rows.tolist()
    batch.zero_()
    assert rows[1, 1] == 4


def test_rows_that_need_a_gradient_have_a_history() -> None:
    w = T.ones(4, 2, requires_grad=True)
    (batch,) = next(iter(DataLoader(TensorDataset(w), batch_size=3)))
    batch.sum().backward()
    assert w.grad is not None and w.grad.sum() == 6


def test_a_subclass_of_tensor_dataset_is_asked() -> None:
    class Doubled(TensorDataset):
        def __getitem__(self, i: Any) -> Any:
            return super().__getitem__(i)[0] * 2

    assert next(iter(DataLoader(Doubled(T.ones(3)), batch_size=3))).tolist() == [2, 2, 2]


def test_other_ways_to_ask() -> None:
    numbers = data_cases.Numbers(5)
    assert list(DataLoader(numbers, batch_size=None)) == [0, 1, 2, 3, 4]
    assert list(DataLoader(numbers, sampler=[4, 4], batch_size=None)) == [4, 4]
    own = DataLoader(numbers, batch_sampler=[[0], [2, 1]], collate_fn=data_cases.as_is)
    assert list(own) == [[0], [2, 1]] and own.batch_size is None and len(own) == 2
    assert [b.tolist() for b in DataLoader(numbers, batch_sampler=[T.tensor([3, 1])])] == [[3, 1]]
    rows = TensorDataset(T.arange(5))
    for indices in (np.array([3, 1]), T.tensor([3, 1]), (3, 1), [T.tensor(3), 1], [True], [-1], [3, -1]):
        expected = lists(default_collate([rows[i] for i in indices]))
        assert lists(next(iter(DataLoader(rows, batch_sampler=[indices])))) == expected
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 5"):
        list(DataLoader(rows, batch_sampler=[[5]]))
    with pytest.raises(IndexError, match="list index out of range"):
        list(DataLoader(Subset(rows, [1]), batch_sampler=[[5]]))

    class Many(data_cases.Numbers):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [i * 100 for i in indices]

    assert next(iter(DataLoader(Many(), batch_size=2))).tolist() == [0, 100]


def test_streams() -> None:
    stream = data_cases.Share()
    assert [b.tolist() for b in DataLoader(stream, batch_size=4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [b.tolist() for b in DataLoader(stream, batch_size=4, drop_last=True)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert list(DataLoader(stream, batch_size=None)) == list(range(10))
    with pytest.raises(TypeError, match="has no len"):
        len(DataLoader(stream))

    class Liar(data_cases.Share):
        def __len__(self) -> int:
            return 9

    loader = DataLoader(Liar(), batch_size=None)
    assert len(loader) == 9 and len(DataLoader(Liar(), batch_size=3)) == 3
    with pytest.warns(UserWarning, match=r"was reported to be 9\(when accessing len\(dataloader\)\), but 10 samples"):
        assert len(list(loader)) == 10


def test_options_are_fixed_later() -> None:
    loader = DataLoader(range(3))
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 2
    loader.num_workers = 0
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(DataLoader([1], num_workers=1, prefetch_factor=0))
    with pytest.raises(NotImplementedError):
        pickle.dumps(iter(loader))
    assert list(pickle.loads(pickle.dumps(loader))) == list(loader)


def test_what_old_programs_write() -> None:
    iterator = iter(DataLoader([1, 2]))
    assert iterator.next().item() == 1 and next(iterator).item() == 2

    class Backwards(data.Sampler[int]):
        def __init__(self, data_source: Any) -> None:
            super().__init__(data_source)
            self.data_source = data_source

        def __iter__(self) -> Any:
            return reversed(range(len(self.data_source)))

    with pytest.warns(FutureWarning, match="`data_source` argument is not used"):
        assert list(DataLoader("ab", sampler=Backwards("ab"))) == [["b"], ["a"]]


def test_pinning_is_said_to_be_left_out() -> None:
    with pytest.warns(UserWarning, match="no accelerator is found, then device pinned memory won't be used"):
        assert next(iter(DataLoader([1], pin_memory=True))).tolist() == [1]


def test_too_many_workers() -> None:
    with pytest.warns(UserWarning, match="This DataLoader will create 9999 worker processes in total"):
        DataLoader([1], num_workers=9999)


def test_nothing_is_imported_before_it_is_named() -> None:
    program = (
        "import sys, wengert as torch\n"
        "assert 'wengert.utils' not in sys.modules\n"
        "torch.utils.data.DataLoader([1])\n"
        "assert 'multiprocessing' not in sys.modules and torch.utils.data.get_worker_info() is None\n"
        "assert not hasattr(torch.utils.data, 'IterDataPipe') and not hasattr(torch.utils, 'nothing')\n"
        "print(torch.utils.data.IterDataPipe)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "AttributeError: torch.utils.data.IterDataPipe: wengert does not have datapipes" in done.stderr


# ------------------------------------------------------------------------------------------------------------- workers
@needs_fork
def test_workers_give_the_same_batches() -> None:
    def mixed(i: int) -> Any:  # no name to pickle it by: fork does without
        return {"x": T.full((2,), float(i)), "text": f"{i}", "n": i}

    class Mixed(data_cases.Numbers):
        def __getitem__(self, i: int) -> Any:
            return mixed(i)

    T.manual_seed(5)
    alone = lists(list(DataLoader(Mixed(11), 3, shuffle=True)))
    T.manual_seed(5)
    assert lists(list(fork(Mixed(11), batch_size=3, shuffle=True))) == alone
    batch = next(iter(fork(Mixed(11), batch_size=3)))
    batch["x"].add_(1)
    assert batch["x"].tolist() == [[1, 1], [2, 2], [3, 3]]


def test_workers_started_afresh() -> None:
    loader = DataLoader(
        data_cases.Numbers(7), 3, num_workers=1, multiprocessing_context="spawn", persistent_workers=True
    )
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0, 1, 2], [3, 4, 5], [6]]
    loader._iterator._shutdown_workers()
    assert [w.exitcode for w in loader._iterator._workers] == [0]


@needs_fork
def test_large_batches_share_memory() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    kept = list(fork(data_cases.Big(14), batch_size=7, prefetch_factor=1))
    assert [int(x[i, 149, 1999]) for x, _ in kept for i in range(7)] == list(range(14))
    assert kept[1][1] == tuple(f"text {i}" for i in range(7, 14))
    kept[0][0].zero_()
    x = kept[1][0]
    del kept
    assert x.sum() == sum(range(7, 14)) * 300_000
    del x
    if before:
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before + 1


@needs_fork
def test_streams_from_workers() -> None:
    got = [b.tolist() for b in fork(data_cases.Share(), batch_size=2)]
    assert got == [[0, 1], [4, 5], [2, 3], [6, 7], [8, 9]]
    assert [b.tolist() for b in fork(data_cases.Share(), batch_size=4, drop_last=True)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    loader = fork(data_cases.Share(), batch_size=None, persistent_workers=True)
    for _ in range(2):
        assert sorted(loader) == list(range(10))
    loader._iterator._shutdown_workers()


@needs_fork
def test_batches_as_they_are_finished() -> None:
    class Uneven(data_cases.Numbers):
        def __getitem__(self, i: int) -> int:
            if i == 0:
                time.sleep(0.3)
            return i

    loader = fork(Uneven(6), in_order=False, prefetch_factor=3)
    got = [b.item() for b in loader]
    assert sorted(got) == list(range(6)) and got[0] == 1


@needs_fork
def test_an_iteration_left_in_the_middle_leaves_nothing() -> None:
    iterator = iter(fork(data_cases.Numbers(1000), prefetch_factor=50))
    next(iterator)
    workers = list(iterator._workers)
    assert all(w.is_alive() for w in workers)
    started = time.monotonic()
    del iterator
    assert [w.exitcode for w in workers] == [0, 0] and time.monotonic() - started < 5
    persistent = fork(data_cases.Numbers(1000), persistent_workers=True, prefetch_factor=20)
    assert [next(iter(persistent)).item() for _ in range(3)] == [0, 0, 0]
    workers = list(persistent._iterator._workers)
    del persistent
    assert [w.exitcode for w in workers] == [0, 0]


@needs_fork
def test_much_in_both_directions_does_not_block() -> None:
    """Indices and samples that fill every buffer, before the first batch is taken."""
    batches = [list(range(20_000))] * 12
    loader = fork(data_cases.Numbers(20_000), batch_sampler=batches, collate_fn=str, prefetch_factor=6)
    got = list(loader)
    assert len(got) == 12 and len(set(got)) == 1 and got[0] == str(batches[0])


@needs_fork
def test_errors_from_workers() -> None:
    iterator = iter(fork(data_cases.Failing(8), batch_size=2))
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match=r"Caught TwoArguments in DataLoader worker process 1.\nOriginal Traceback"):
        next(iterator)
    with pytest.raises(KeyError, match=r"(?s)Caught KeyError in DataLoader worker process 0.*in __getitem__") as caught:
        next(iterator)
    assert "\n" in str(caught.value)
    assert next(iterator).tolist() == [6, 7]
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(Exception, match=r"(?s)in DataLoader worker process 0.*[Pp]ickle"):
        next(iter(fork(data_cases.Unpicklable(4), collate_fn=data_cases.as_is)))
    iterator = iter(fork(data_cases.Numbers(8), worker_init_fn=data_cases.fail_to_start))
    assert next(iterator).tolist() == [0]
    for _ in range(2):
        with pytest.raises(OSError, match="Caught OSError in DataLoader worker process 1"):
            next(iterator)
            next(iterator)


@needs_fork
def test_a_worker_that_is_killed() -> None:
    iterator = iter(fork(data_cases.Dying(8), batch_size=2))
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as caught:
        next(iterator)
    assert any("killed by signal" in note for note in caught.value.__notes__)
    assert next(iterator).tolist() == [4, 5]


@needs_fork
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("place", ["_read_some", "_send_all"])
def test_an_interrupt_in_the_middle_of_a_message(monkeypatch: pytest.MonkeyPatch, place: str, persistent: bool) -> None:
    """Going on waited for ever, took what was in the middle of the message for a size, or gave other batches."""
    from wengert.utils.data._utils.channel import Channel

    loader = fork(data_cases.Big(8), batch_size=1, persistent_workers=persistent, collate_fn=data_cases.as_is)
    iterator = iter(loader)
    assert next(iterator)[0][1] == "text 0"
    own, calls = getattr(Channel, place), itertools.count()

    def interrupted(self: Any, *args: Any) -> Any:
        result = own(self, *args)
        if next(calls) == 0:
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as patched:
        patched.setattr(Channel, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="DataLoader iteration was interrupted while a batch was handed over"):
            next(iterator)
    assert [batch[0][1] for batch in loader] == [f"text {i}" for i in range(8)]


@needs_fork
def test_a_worker_that_writes_something_else_to_its_socket() -> None:
    """The bytes were taken for sizes."""

    class Writing(data_cases.Numbers):
        def __getitem__(self, i: int) -> Any:
            for number in range(3, 64):
                with contextlib.suppress(OSError):
                    if stat.S_ISSOCK(os.fstat(number).st_mode):
                        os.write(number, b"\xff" * 50)
            return super().__getitem__(i)

    with pytest.raises(RuntimeError, match="What came from a DataLoader worker is no batch"):
        next(iter(fork(Writing(4))))


@needs_fork
def test_an_error_from_a_worker_keeps_no_worker_alive() -> None:
    gc.disable()
    try:
        iterator = iter(fork(data_cases.Failing(8), batch_size=2))
        workers = list(iterator._workers)
        next(iterator)
        for error in (RuntimeError, KeyError):
            with pytest.raises(error, match="Caught"):
                next(iterator)
        del iterator
        assert [w.exitcode for w in workers] == [0, 0]
    finally:
        gc.enable()


@needs_fork
def test_an_interrupt_of_the_wait_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert.utils.data._utils.channel import Channel

    iterator = iter(fork(data_cases.Numbers(6)))

    def interrupted(self: Any, seconds: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Channel, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
    assert [batch.item() for batch in iterator] == list(range(6))


@needs_fork
def test_a_worker_that_takes_too_long() -> None:
    iterator = iter(fork(data_cases.Slow(2), timeout=0.1))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.1 seconds"):
        next(iterator)
    for worker in iterator._workers:
        worker.terminate()


@needs_fork
def test_workers_end_while_those_of_another_loader_live() -> None:
    """The later workers have copies of what the earlier ones listen to."""
    first = iter(fork(data_cases.Numbers(1000)))
    second = iter(fork(data_cases.Numbers(1000)))
    next(first), next(second)
    workers = first._workers
    del first
    assert [w.exitcode for w in workers] == [0, 0]
    assert next(second).item() == 1


def test_what_cannot_be_pickled_cannot_be_sent_to_a_new_process() -> None:
    loader = DataLoader([1], num_workers=1, multiprocessing_context="spawn", collate_fn=lambda x: x)
    with (
        pytest.warns(UserWarning, match="Got pickle error when attempting to start a worker Process"),
        pytest.raises((pickle.PicklingError, AttributeError)) as caught,
    ):
        iter(loader)
    assert any("a lambda" in note for note in caught.value.__notes__)  # Python 3.14 adds its own


def test_new_processes_of_a_program_that_is_run(tmp_path: Path) -> None:
    """`python -m wengert run`: in a worker that is started afresh, `torch` is wengert too."""
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Ones(Dataset):\n"
        "    def __len__(self): return 2\n"
        "    def __getitem__(self, i): return torch.ones(1) * i, torch.__name__\n"
        "if __name__ == '__main__':\n"
        "    print(list(DataLoader(Ones(), 2, num_workers=1, multiprocessing_context='spawn')))\n"
    )
    command = [sys.executable, "-m", "wengert", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (done.stdout, done.stderr) == ("[[tensor([[0.],\n        [1.]]), ('torch', 'torch')]]\n", "")


# ----------------------------------------------------------------------------------------------------- multiprocessing
def test_tensors_between_processes() -> None:
    import wengert.multiprocessing as mp

    shared = T.zeros(3).share_memory_()
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    mp.spawn(data_cases.add_rank, (shared, queue), nprocs=1)
    assert shared.tolist() == ([1, 0, 0] if hasattr(os, "memfd_create") else [0, 0, 0])
    assert queue.get().tolist() == [10, 0, 0]
    w = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        queue.put(w * 2)
    queue.put(T.nn.Parameter(T.ones(2)))
    back = queue.get()
    assert type(back) is T.nn.Parameter and back.requires_grad
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        mp.set_sharing_strategy("by post")


@needs_fork
def test_the_first_error_of_several_processes() -> None:
    import wengert.multiprocessing as mp

    with pytest.raises(
        mp.ProcessRaisedException, match=r"(?s)-- Process 1 terminated.*ValueError: process one"
    ) as caught:
        mp.start_processes(data_cases.fail_at_one, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1
    started = mp.start_processes(os._exit, nprocs=1, join=False, start_method="fork", args=())
    assert started is not None and started.join()
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with exit code 1"):
        mp.start_processes(os._exit, nprocs=2, start_method="fork")


class Planted:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (os.mkdir, (os.environ["PLANTED"],))


def test_what_a_process_leaves_is_text_in_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of everybody's nobody can take the name; and if somebody could, nothing would be run."""
    import wengert.multiprocessing as mp

    monkeypatch.setenv("PLANTED", str(tmp_path / "planted"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = mp.get_context("fork").Event()
    started = mp.start_processes(data_cases.wait_and_exit, (begun,), nprocs=1, join=False, start_method="fork")
    assert started is not None
    (path,) = (Path(name) for name in started.error_files)
    assert path.stat().st_size == 0 and (os.name == "nt" or path.stat().st_mode & 0o777 == 0o600)
    path.write_bytes(pickle.dumps(Planted()))
    begun.set()
    with pytest.raises(mp.ProcessRaisedException, match="Process 0 terminated with the following error"):
        started.join()
    assert not [*tmp_path.iterdir()]
    done = mp.start_processes(data_cases.wait_and_exit, (begun,), nprocs=1, join=False, start_method="fork")
    assert done is not None and len([*tmp_path.iterdir()]) == 1
    done.processes[0].join()
    del done  # nobody joins it
    assert not [*tmp_path.iterdir()]


@needs_fork
def test_processes_that_cannot_all_be_started_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    import wengert.multiprocessing as mp

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process, made = multiprocessing.get_context("fork").Process, []

    def start(self: Any) -> None:
        if made:
            raise BlockingIOError("no more processes")
        made.append(self)
        multiprocessing.process.BaseProcess.start(self)

    monkeypatch.setattr(process, "start", start)
    event = mp.get_context("fork").Event()
    with pytest.raises(BlockingIOError):
        mp.start_processes(data_cases.wait_and_exit, (event,), nprocs=3, start_method="fork")
    assert not made[0].is_alive()
    assert not [*tmp_path.iterdir()]


# ------------------------------------------------------------------------------------------------ beside the real torch
def loaders(torch: Any) -> dict[str, Any]:
    """Loaders of every sort, made with one of the two libraries."""
    d = torch.utils.data
    rows = d.TensorDataset(torch.arange(20.0).reshape(10, 2), torch.arange(10))
    generator = torch.Generator().manual_seed(3)
    return {
        "in order": d.DataLoader(rows, 4),
        "shuffled": d.DataLoader(rows, 4, shuffle=True),
        "shuffled by a generator": d.DataLoader(rows, 4, True, generator=generator),
        "drop last": d.DataLoader(rows, 4, True, drop_last=True),
        "unbatched": d.DataLoader(rows, None, True),
        "replacement": d.DataLoader(rows, 8, sampler=d.RandomSampler(rows, True, 70)),
        "more than once": d.DataLoader(rows, 8, sampler=d.RandomSampler(rows, num_samples=25)),
        "subset sampler": d.DataLoader(rows, 2, sampler=d.SubsetRandomSampler([7, 1, 2, 8, 9])),
        "weighted": d.DataLoader(rows, 8, sampler=d.WeightedRandomSampler([0.1 * i for i in range(10)], 20)),
        "weighted once": d.DataLoader(rows, 8, sampler=d.WeightedRandomSampler(range(1, 11), 9, False)),
        "own batches": d.DataLoader(rows, batch_sampler=d.BatchSampler(d.RandomSampler(rows), 3, True)),
        "split": d.DataLoader(d.random_split(rows, [0.25, 0.75])[1], 3, True),
        "split by a generator": d.DataLoader(d.random_split(rows, [3, 7], generator)[0], 2),
        "concat": d.DataLoader(d.ConcatDataset([rows, rows]), 6, True),
        "stack": d.DataLoader(d.StackDataset(a=rows, b=list(range(10))), 6, True),
        "distributed": d.DataLoader(rows, 2, sampler=d.distributed.DistributedSampler(rows, 3, 1, seed=9)),
        "list": d.DataLoader([(i, float(i), str(i)) for i in range(9)], 4, True),
    }


def test_same_seeds_same_batches(torch: Any) -> None:
    ours, theirs = {}, {}
    for library, result in ((T, ours), (torch, theirs)):
        library.manual_seed(11)
        for name, loader in loaders(library).items():
            result[name] = [lists(list(loader)), lists(list(loader)), len(loader)]
        result["stream"] = library.rand(1).item()
    assert ours == theirs


@needs_fork
def test_same_seeds_in_workers(torch: Any) -> None:
    result = []
    for library in (T, torch):
        library.manual_seed(11)
        drawing = data_cases.Drawing(6, library, library.utils.data.get_worker_info)
        loader = library.utils.data.DataLoader(
            drawing, 2, True, num_workers=2, multiprocessing_context="fork", collate_fn=data_cases.as_is
        )
        result.append([list(loader), list(loader), library.rand(1).item()])
    assert result[0] == result[1]


def test_the_order_in_which_samplers_are_asked(torch: Any) -> None:
    """A sampler that draws when it is asked for an iterator shows when that is."""

    def order(library: Any, workers: int) -> Any:
        class Eager(library.utils.data.Sampler):  # type: ignore[misc, name-defined]
            def __iter__(self) -> Any:
                return iter(library.randperm(8).tolist())

            def __len__(self) -> int:
                return 8

        library.manual_seed(2)
        context = "fork" if workers else None
        loader = library.utils.data.DataLoader(
            list(range(8)), None, sampler=Eager(), num_workers=workers, multiprocessing_context=context
        )
        return list(loader), library.rand(1).item()

    for workers in (0, 1) if "fork" in multiprocessing.get_all_start_methods() else (0,):
        assert order(T, workers) == order(torch, workers)


@pytest.mark.parametrize("name", list(samples(T)))
def test_collate_as_torch(torch: Any, name: str) -> None:
    def outcome(library: Any, function: str) -> Any:
        batch = samples(library)[name]
        try:
            result = getattr(library.utils.data, function)(batch)
        except Exception as error:  # noqa: BLE001
            return type(error), str(error).split("\n")[0]
        return type(result) if not hasattr(result, "tolist") else "tensor", lists(result)

    assert outcome(T, "default_collate") == outcome(torch, "default_collate")
    assert outcome(T, "default_convert") == outcome(torch, "default_convert")


BAD = {
    "workers": lambda d: d.DataLoader([1], num_workers=-1),
    "timeout": lambda d: d.DataLoader([1], timeout=-1),
    "prefetch": lambda d: d.DataLoader([1], prefetch_factor=2),
    "negative prefetch": lambda d: d.DataLoader([1], num_workers=1, prefetch_factor=-2),
    "persistent": lambda d: d.DataLoader([1], persistent_workers=True),
    "sampler and shuffle": lambda d: d.DataLoader([1], shuffle=True, sampler=[0]),
    "batch sampler and size": lambda d: d.DataLoader([1], 2, batch_sampler=[[0]]),
    "batch sampler and drop_last": lambda d: d.DataLoader([1], batch_sampler=[[0]], drop_last=True),
    "unbatched and drop_last": lambda d: d.DataLoader([1], None, drop_last=True),
    "context": lambda d: d.DataLoader([1], multiprocessing_context="fork"),
    "unknown context": lambda d: d.DataLoader([1], num_workers=1, multiprocessing_context="spoon"),
    "no context": lambda d: d.DataLoader([1], num_workers=1, multiprocessing_context=3),
    "wait for nobody": lambda d: list(d.DataLoader([1], timeout=1)),
    "batch size 0": lambda d: d.DataLoader([1], 0),
    "batch size True": lambda d: d.BatchSampler([1], True, False),
    "drop_last 1": lambda d: d.BatchSampler([1], 2, 1),
    "replacement": lambda d: d.RandomSampler([1], 1),
    "num_samples": lambda d: d.RandomSampler([1], num_samples=-1),
    "no samples": lambda d: d.DataLoader([], shuffle=True),
    "weights": lambda d: d.WeightedRandomSampler([[1.0]], 1),
    "weighted num_samples": lambda d: d.WeightedRandomSampler([1.0], True),
    "weighted replacement": lambda d: d.WeightedRandomSampler([1.0], 1, 1),
    "rank": lambda d: d.DistributedSampler([1], 2, -1),
    "dataset": lambda d: d.Dataset()[0],
    "sampler": lambda d: iter(d.Sampler()),
    "assignment": lambda d: setattr(d.DataLoader([1]), "dataset", [2]),
    "empty stack": lambda d: d.StackDataset(),
    "sum": lambda d: d.random_split([1, 2], [1, 2]),
    "concat": lambda d: d.ConcatDataset([[1]])[1],
}


@pytest.mark.parametrize("name", list(BAD))
def test_errors_as_torch(torch: Any, name: str) -> None:
    said = []
    for library in (T, torch):
        with pytest.raises(Exception) as caught:
            BAD[name](library.utils.data)
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}])
def test_streams_have_their_own_order(torch: Any, options: dict[str, Any]) -> None:
    said = []
    for library in (T, torch):
        with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified") as caught:
            library.utils.data.DataLoader(library.utils.data.ChainDataset([]), **options)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_names_as_torch(torch: Any) -> None:
    missing = set(torch.utils.data.__all__) - set(data.__all__) - data._DATAPIPES - {"_DatasetKind"}
    assert missing == set() and hasattr(data, "_DatasetKind")
    import inspect

    for name in set(data.__all__) - {"Sampler"}:  # ours takes what it took in old programs
        ours, theirs = getattr(data, name), getattr(torch.utils.data, name)
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters), name
