"""torch.autograd.profiler and torch.profiler: what is recorded, how it nests, and how it is shown."""

from __future__ import annotations

import gzip
import json
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wengert
from wengert._base import modes
from wengert._tape import engine
from wengert.autograd import profiler as wp
from wengert.autograd.profiler import FunctionEvent, profile, record_function
from wengert.autograd.profiler_util import EventList

CPU = wengert.profiler.ProfilerActivity.CPU


@pytest.fixture(autouse=True)
def _leaves_nothing_behind() -> Iterator[None]:
    accumulate = engine.accumulate
    before = len(modes.slow_hooks), len(engine.observers), len(modes.slow_always)
    yield
    assert (len(modes.slow_hooks), len(engine.observers), len(modes.slow_always)) == before
    assert engine.accumulate is accumulate


def step(T: Any = wengert) -> None:
    x = T.ones(3, 4, requires_grad=True)
    w = T.ones(4, 5, requires_grad=True)
    ((x @ w).relu() * 2).sum().backward()


def profiled(**options: Any) -> Any:
    with profile(**options) as prof:
        step()
    return prof


# ------------------------------------------------------------------------------------------------------------- events
def test_operators_and_backward_steps_by_pytorchs_names() -> None:
    made, names = 2 * ["aten::empty"], [e.name for e in profiled().function_events]
    assert names[:6] == [*made, "aten::mm", "aten::relu", "aten::mul", "aten::sum"]
    backward = ["SumBackward0", "MulBackward0", "ReluBackward0", "MmBackward0"] + 2 * [
        "torch::autograd::AccumulateGrad"
    ]
    assert [n for n in names[6:] if not n.startswith("autograd::")] == backward
    assert [n for n in names[6:] if n.startswith("autograd::")] == [
        f"autograd::engine::evaluate_function: {n}" for n in backward
    ]


def test_a_makers_memory_and_the_numbers_of_operators_without_a_node() -> None:
    with profile(profile_memory=True) as prof:
        x = wengert.randn(3)
        y = x * 2
        with wengert.no_grad():
            x * 2
        y.requires_grad_()
        z = y * y
    empty, mul, quiet, last = prof.function_events
    assert (empty.name, empty.cpu_memory_usage, empty.sequence_nr) == ("aten::empty", 12, -1)
    assert 0 <= mul.sequence_nr < last.sequence_nr == z.grad_fn._sequence_nr()
    assert quiet.sequence_nr == -1


def test_in_place_forms_have_their_own_names() -> None:
    x = wengert.ones(3)
    with profile() as prof:
        x.mul_(2)
        x += 1
        x.exp_()
    assert [e.name for e in prof.function_events] == ["aten::mul_", "aten::add_", "aten::exp_"]


def test_gradients_are_the_same_under_a_profile() -> None:
    x = wengert.rand(3, requires_grad=True)
    (x.exp() * x).sum().backward()
    expected, x.grad = x.grad, None
    with profile():
        (x.exp() * x).sum().backward()
    assert wengert.equal(x.grad, expected)


def test_blocks_nest() -> None:
    x = wengert.ones(2)
    with profile() as prof:
        with record_function("outer"), record_function("inner"):
            x * 2
        x.exp()
    outer, inner, mul, exp = prof.function_events
    assert [e.name for e in prof.function_events] == ["outer", "inner", "aten::mul", "aten::exp"]
    assert outer.cpu_children == [inner]
    assert inner.cpu_children == [mul]
    assert mul.cpu_parent is inner
    assert exp.cpu_parent is None
    assert outer.is_user_annotation
    assert not mul.is_user_annotation
    assert 0 <= outer.self_cpu_time_total <= outer.cpu_time_total
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner.cpu_time_total)


def test_record_function_as_a_decorator_of_a_recursive_function() -> None:
    @record_function("down")
    def down(n: int) -> int:
        return 0 if n == 0 else 1 + down(n - 1)

    assert down(2) == 2  # without a profile it does nothing
    with profile() as prof:
        down(2)
    assert [e.name for e in prof.function_events][:1] == ["down"]
    assert prof.key_averages()[0].count in (1, 3)


def test_only_the_thread_that_entered() -> None:
    with profile() as prof:
        other = threading.Thread(target=step)
        other.start()
        other.join()
    assert prof.function_events == []


def test_a_call_that_raises_is_recorded_and_ended() -> None:
    x, y = wengert.ones(2), wengert.ones(3)
    with profile() as prof, pytest.raises(RuntimeError):
        x * y
    (event,) = prof.function_events
    assert event.name == "aten::mul"
    assert event.cpu_time_total > 0


def test_shapes() -> None:
    prof = profiled(record_shapes=True)
    shapes = {e.name: e.input_shapes for e in prof.function_events}
    assert shapes["aten::mm"] == [[3, 4], [4, 5]]
    assert shapes["aten::mul"] == [[3, 5], []]
    assert shapes["MulBackward0"] == [[3, 5]]
    assert all(e.input_shapes == [] for e in profiled().function_events)


def test_memory_of_results() -> None:
    x = wengert.ones(100)
    with profile(profile_memory=True) as prof, record_function("block"):
        y = x * 2
        y.view(10, 10)
        y.sum()
    events = {e.name: e for e in prof.function_events}
    assert events["aten::mul"].cpu_memory_usage == 400
    assert events["aten::view"].cpu_memory_usage == 0
    assert events["aten::sum"].cpu_memory_usage == 4
    assert events["block"].cpu_memory_usage == 404
    assert events["block"].self_cpu_memory_usage == 0
    assert "400 B" in prof.table()


def test_flops_are_two_for_each_term() -> None:
    a, b = wengert.ones(3, 4), wengert.ones(4, 5)
    with profile(with_flops=True) as prof:
        a @ b
        wengert.bmm(wengert.ones(2, 3, 4), wengert.ones(2, 4, 5))
        wengert.addmm(wengert.ones(5), a, b)
        wengert.nn.functional.linear(a, wengert.ones(5, 4), wengert.ones(5))
        a * 2
        a.exp()
    assert [e.flops for e in prof.function_events if e.name != "aten::empty"] == [120, 240, 120, 120, 12, 0]
    assert "Total FLOPs" in prof.table()


def test_flops_of_a_layer_whose_input_has_its_weights_shape() -> None:
    x = wengert.ones(2, 9)
    with profile(with_flops=True) as prof:
        wengert.nn.functional.linear(x, x)
    assert [e.flops for e in prof.function_events] == [2 * 2 * 2 * 9]


def test_stacks(tmp_path: Path) -> None:
    prof = profiled(with_stack=True)
    event = next(e for e in prof.function_events if e.name == "aten::mm")
    assert re.fullmatch(rf"{re.escape(__file__)}\(\d+\): step", event.stack[0])
    assert any(": test_stacks" in call for call in event.stack)
    by_name = {e.name: e for e in prof.function_events}
    assert by_name["MmBackward0"].stack == event.stack  # a backward step shows where its forward call was
    assert len(prof.key_averages(group_by_stack_n=2)[0].stack) == 2
    prof.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert all(re.fullmatch(r"\S+ \d+", line) for line in lines)
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        profiled().export_stacks(str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"^metric should be one of"):
        prof.export_stacks(str(tmp_path / "none"), "time")


def test_twice_and_unfinished() -> None:
    prof = profile()
    assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
    with pytest.raises(AssertionError, match="Expected profiling results"):
        prof.key_averages()
    with prof:
        step()
    with pytest.raises(RuntimeError, match=r"^Profiler context manager is not reentrant"), prof:
        pass
    with profile(enabled=False) as nothing:
        assert nothing is None


def test_with_anomaly_mode_and_a_second_profile() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile() as outer, wengert.autograd.detect_anomaly(), profile() as inner:
            step()
    assert [e.name for e in outer.function_events] == [e.name for e in inner.function_events]
    assert len(outer.function_events) == len(profiled().function_events)


# ------------------------------------------------------------------------------------------------------------- averages
def made(*spans: tuple[str, float, float]) -> EventList:
    events = EventList(FunctionEvent(k, name, 1, a, b, overload_name="") for k, (name, a, b) in enumerate(spans))
    events._build_tree()
    return events


def test_averages_are_sums_and_cpu_time_is_per_call() -> None:
    averages = made(("a", 0, 10), ("b", 1, 4), ("a", 20, 40), ("b", 21, 22)).key_averages()
    a, b = averages
    assert (a.key, a.count, a.cpu_time_total, a.self_cpu_time_total, a.cpu_time) == ("a", 2, 30, 26, 15)
    assert (b.key, b.count, b.cpu_time_total, b.self_cpu_time_total, b.cpu_time) == ("b", 2, 4, 4, 2)
    assert averages.self_cpu_time_total == 30
    total = averages.total_average()
    assert (total.key, total.count, total.self_cpu_time_total) == ("Total", 4, 30)


def test_a_call_of_itself_is_one_call() -> None:
    events = made(("a", 0, 10), ("a", 1, 9), ("b", 2, 3))
    assert [(e.name, [c.name for c in e.cpu_children]) for e in events] == [("a", ["b"]), ("b", [])]


def test_table() -> None:
    text = made(("first", 0, 1500), ("second", 100, 350.5)).key_averages().table(sort_by="count", header="Title")
    rule = "-" * 10 + "  " + ("-" * 12 + "  ") * 6
    assert text == "\n".join(
        [
            "=" * (len(rule) - 2),
            "Title",
            rule,
            "      Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  ",
            rule,
            "     first        83.30%       1.250ms       100.00%       1.500ms       1.500ms             1  ",
            "    second        16.70%     250.500us        16.70%     250.500us     250.500us             1  ",
            rule,
            "Self CPU time total: 1.500ms",
            "",
        ]
    )


def program_of_tables(T: ModuleType, with_flops: bool) -> list[str]:
    """Stacks or operations: of both together PyTorch puts the values under each other's titles."""
    import importlib

    util = importlib.import_module(f"{T.__name__}.autograd.profiler_util")
    rows = [("aten::mul", 0.0, 2500.0), ("x" * 70, 3.0, 9.5), ("aten::add", 3000.0, 5e6)]
    events = util.EventList(
        [
            util.FunctionEvent(
                k,
                name,
                1,
                a,
                b,
                overload_name="",
                input_shapes=[[3, 4]] * (k + 1),
                stack=[] if with_flops else ["f.py(1): f", "g.py(2): g"][k:],
                flops=10**k * 1500,
                cpu_memory_usage=3000 * k,
                device_type=util.DeviceType.CPU,
            )
            for k, (name, a, b) in enumerate(rows)
        ],
        profile_memory=True,
        with_flops=with_flops,
    )
    events._build_tree()
    return [
        str(events),
        events.key_averages().table(sort_by="self_cpu_time_total", row_limit=2),
        events.key_averages(group_by_input_shapes=True, group_by_stack_n=1).table(max_name_column_width=20),
        events.table(top_level_events_only=True, header="Only the top", time_unit="ms", max_src_column_width=8),
        repr(events[0]),
        repr(events.key_averages()[0]),
        repr(events.total_average()),
        str([util._format_time(v) for v in (0, 999.9, 1e3, 1e6)]),
        str([util._format_memory(v) for v in (0, -1023, 1024, 5 * 1024**2, 1024**3)]),
        events.key_averages().table(row_limit=-1),
    ]


@pytest.mark.parametrize("with_flops", [False, True])
def test_tables_are_pytorchs_to_the_character(with_flops: bool, torch: ModuleType) -> None:
    for ours, theirs in zip(program_of_tables(wengert, with_flops), program_of_tables(torch, with_flops), strict=True):
        assert ours == theirs


# --------------------------------------------------------------------------------------------------------------- traces
def test_chrome_trace(tmp_path: Path) -> None:
    prof = profiled(record_shapes=True)
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path), {"note": '"text"'})
    trace = json.loads(path.read_text())
    assert trace["note"] == "text"
    mm = next(e for e in trace["traceEvents"] if e["name"] == "aten::mm")
    assert (mm["ph"], mm["cat"], mm["args"]["Input Dims"]) == ("X", "cpu_op", [[3, 4], [4, 5]])
    assert mm["dur"] > 0
    prof.function_events.export_chrome_trace(str(path))
    assert [e["name"] for e in json.loads(path.read_text())] == [e.name for e in prof.function_events]


def test_schedule() -> None:
    plan = wengert.profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    names = [plan(k).name for k in range(11)]
    cycle = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert names == ["NONE", *cycle, *cycle, "NONE", "NONE"]
    with pytest.raises(AssertionError, match=r"^Invalid profiler schedule arguments"):
        wengert.profiler.schedule(wait=-1, warmup=1, active=1)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        wengert.profiler.schedule(wait=1, warmup=0, active=1)


def test_a_profile_on_a_schedule() -> None:
    ready: list[Any] = []
    with wengert.profiler.profile(
        schedule=wengert.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda p: ready.append((p.step_num, [e.name for e in p.events()])),
    ) as prof:
        for _ in range(6):
            wengert.ones(2) * 2
            prof.step()
    assert ready == [(4, ["ProfilerStep*", "aten::empty", "aten::mul"] * 2)]
    assert [e.trace_name for e in prof.events()][::3] == ["ProfilerStep#2", "ProfilerStep#3"]


def test_events_of_all_cycles() -> None:
    def cycles(acc_events: bool) -> int:
        with wengert.profiler.profile(
            schedule=wengert.profiler.schedule(wait=0, warmup=1, active=1, repeat=2), acc_events=acc_events
        ) as prof:
            for _ in range(4):
                wengert.ones(2) * 2
                prof.step()
        return sum(e.name == "aten::mul" for e in prof.events())

    assert cycles(False) == 1
    assert cycles(True) == 2


def test_a_profile_without_a_schedule(tmp_path: Path) -> None:
    handler = wengert.profiler.tensorboard_trace_handler(str(tmp_path / "logs"), "me", use_gzip=True)
    with wengert.profiler.profile(activities=[CPU], on_trace_ready=handler, with_stack=True) as prof:
        step()
        prof.toggle_collection_dynamic(False, [CPU])
        wengert.ones(2).exp()
        prof.toggle_collection_dynamic(True, [CPU])
        wengert.ones(2).sin()
        prof.add_metadata("who", "me")
    names = [e.name for e in prof.events()]
    assert "aten::exp" not in names
    assert names[-1] == "aten::sin"
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith("me.")
    with gzip.open(file) as content:
        trace = json.load(content)
    assert (trace["who"], trace["with_stack"]) == ("me", 1)


def refusals(T: ModuleType) -> list[str]:
    import importlib

    p = importlib.import_module(f"{T.__name__}.profiler")
    old = importlib.import_module(f"{T.__name__}.autograd.profiler")
    cuda = p.ProfilerActivity.CUDA
    calls = [
        lambda: p.profile().key_averages(),
        lambda: p.profile().events(),
        lambda: p.profile().export_chrome_trace("x"),
        lambda: p.profile(activities=[]),
        lambda: p.profile(activities=[3]),
        lambda: p.profile(schedule=lambda _: p.ProfilerAction.DEVICE_STOPPED),
        lambda: p.profile(activities=[cuda]).start(),
        lambda: old.profile(use_cpu=False),
        lambda: old.profile(use_device="cuda"),
        lambda: old.profile(use_device="abacus"),
        lambda: old.profile(use_cuda=True),
        lambda: old.profile(post_processing_timeout_s=-1),
        lambda: old.emit_nvtx().__enter__(),
        lambda: old.emit_nvtx(enabled=False).__enter__(),
        lambda: old.EventList([1]).key_averages(),
        lambda: p.schedule(wait=0, warmup=1, active=1)(-1),
        lambda: (old.EnforceUnique().see(1), str(p.ProfilerActivity.CPU), str(T.autograd.DeviceType.CPU)),
        lambda: str(p.ProfilerAction.RECORD),
    ]
    results = []
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                text = f"{type(call()).__name__}"
            except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
                text = f"{type(error).__name__}: {error}"
        results.append(text + "".join(f"; {w.category.__name__}: {w.message}" for w in caught))
    return results


def test_refusals_and_warnings_as_pytorch(torch: ModuleType) -> None:
    for ours, theirs in zip(refusals(wengert), refusals(torch), strict=True):
        assert ours == theirs


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    assert not wp.kineto_available()
    with pytest.raises(RuntimeError, match="ITT"), wp.emit_itt():
        pass
    with pytest.raises(NotImplementedError, match="nvprof"):
        wp.load_nvprof("x")
    with pytest.raises(NotImplementedError, match="execution traces"):
        wengert.profiler.ExecutionTraceObserver()
    with pytest.raises(NotImplementedError, match="freed is not recorded"):
        wengert.profiler.profile().export_memory_timeline(str(tmp_path / "x.html"))
