"""torch.func: transforms of functions, as in PyTorch."""

from __future__ import annotations

from types import ModuleType

import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("transforms")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("transforms")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("transforms")


# A tape of its own level is used inside of other transforms only; every program must come out the same on it, but those
# that call backward(), which is refused there.
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("vmap", "closures")])
def test_programs_inside_of_another_transform(name: str) -> None:
    def run(x: T.Tensor) -> T.Tensor:
        log.extend(running.log_of(PROGRAMS[name], T))
        return x

    log: list[str] = []
    T.vmap(run)(T.zeros(2))
    inside = [line.replace("True", "False") for line in log]
    assert inside == [line.replace("True", "False") for line in running.recorded("transforms")[name]]


def test_nothing_is_left_open() -> None:
    from wengert._modes import M
    from wengert._values import DEPTH

    for name in ("forward", "transforms"):
        for prog in running.programs(name).values():
            running.log_of(prog, T)
            assert DEPTH.get() == 0
            assert not M
