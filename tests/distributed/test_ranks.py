"""Programs of several processes: what their collectives give, how they start, what happens when one of them fails.

Each test starts processes, so a program has as many checks as it can. Nothing is left of any: `no_process_is_left`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RANKS = Path(__file__).resolve().parent / "ranks"
RUN = [sys.executable, "-m", "wengert", "run"]
TORCHRUN = [sys.executable, "-m", "wengert.distributed.run"]
SECONDS = 120

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="several processes need mpi4py: python -m pip install '.[mpi]'"
)


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **more}


def run(*command: Any, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(c) for c in command], env=environment(**more), capture_output=True, text=True, timeout=SECONDS, check=False
    )


def good(*command: Any, **more: str) -> str:
    done = run(*command, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done.stdout


def a_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def another_address() -> str:
    """An address of this machine beside localhost's, where there is one: a sandbox may have just 127.0.0.1."""
    with socket.create_server(("0.0.0.0", 0)) as listening:
        try:
            socket.create_connection(("127.0.0.2", listening.getsockname()[1]), 5).close()
        except OSError:
            return "127.0.0.1"
    return "127.0.0.2"


def processes() -> set[str]:
    """The command lines of processes of these programs, and of their servers."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(RANKS) in line or "_launch_server.py" in line:
            found.add(f"{entry.name} {line}")
    return found


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """A server ends a moment after its rank; a rank, or a worker, that is left runs for ever."""
    before, shared = processes(), set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    yield
    for _ in range(400):
        left = processes() - before
        if not left:
            break
        subprocess.run([sys.executable, "-c", ""], check=True)  # a moment
    assert not left
    if shared:
        assert not {name for name in set(os.listdir("/dev/shm")) - shared if name.startswith("mpich")}


# ------------------------------------------------------------------------------------------------------- collectives
@pytest.fixture(scope="module", params=[2, 4])
def ours(request: Any, tmp_path_factory: Any) -> tuple[int, list[str]]:
    """What each rank of `ranks/collectives.py` gets."""
    out = tmp_path_factory.mktemp("collectives")
    good(*RUN, "--nproc", request.param, RANKS / "collectives.py", out)
    return request.param, [(out / f"{rank}.txt").read_text() for rank in range(request.param)]


def test_collectives(ours: tuple[int, list[str]]) -> None:
    n, texts = ours
    for rank, text in enumerate(texts):
        lines = dict(line.split(": ", 1) for line in text.splitlines())
        total = float(sum(range(1, n + 1)))
        assert lines["0-d"] == str(total - n) and lines["empty"] == "[]"
        assert lines["all_reduce torch.float16 RedOpType.MAX"] == str(
            [[1.0 + n - 1, n + 1.0, n + 2.0], [n + 3.0, n + 4.0, n + 5.0]]
        )
        assert lines["ring"] == str([1.0 + (rank - 1) % n, 2.0 + (rank - 1) % n])
        assert "different dtypes" in lines["dtypes"] and "initialized" in lines["after the end"]


@pytest.mark.compare
def test_collectives_are_gloos(ours: tuple[int, list[str]], tmp_path: Path, torch: Any) -> None:
    n, texts = ours
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", n]
    for _ in range(3):
        done = run(*launcher, RANKS / "collectives.py", tmp_path)
        if "terminate called without an active exception" not in done.stderr:  # now and then PyTorch's ranks end so
            break
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    for rank, text in enumerate(texts):
        assert text == (tmp_path / f"{rank}.txt").read_text()


# ------------------------------------------------------------------------------------------------------- starts
@pytest.mark.parametrize(
    ("how", "start"), [("env", "spawn"), ("env", "fork"), ("tcp", "fork"), ("file", "spawn"), ("store", "fork")]
)
def test_a_program_starts_its_ranks(how: str, start: str, tmp_path: Path) -> None:
    port = a_port()
    where = {"tcp": f"tcp://127.0.0.1:{port}", "file": f"file://{tmp_path}/meeting"}.get(how, str(port))
    printed = good(*RUN, RANKS / "started.py", how, where, start)
    assert sorted(printed.splitlines()) == ["rank 0 has 3.0", "rank 1 has 3.0"]
    assert not (tmp_path / "meeting").exists()


def test_ranks_of_a_shell_find_each_other_by_the_environment() -> None:
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(a_port()), "WORLD_SIZE": "2"}
    command = [*RUN, str(RANKS / "failing.py"), "nothing"]
    ranks = [
        subprocess.Popen(command, env=environment(RANK=str(r), **told), stdout=subprocess.PIPE, text=True)
        for r in range(2)
    ]
    assert all("sum 2.0" in rank.communicate(timeout=SECONDS)[0] for rank in ranks)
    assert [rank.returncode for rank in ranks] == [0, 0]


def test_one_process_leaves_nothing() -> None:
    assert "sum 1.0" in good(*RUN, "--nproc", 1, RANKS / "failing.py", "nothing")


@pytest.mark.skipif(shutil.which("mpiexec", path=os.path.dirname(sys.executable)) is None, reason="no mpiexec here")
def test_mpiexec() -> None:
    mpiexec = [os.path.join(os.path.dirname(sys.executable), "mpiexec"), "-n", "2"]
    if b"Open MPI" in subprocess.run([mpiexec[0], "--version"], capture_output=True, check=False).stdout:
        mpiexec += ["--allow-run-as-root", "--oversubscribe"]
    assert good(*mpiexec, *RUN, RANKS / "failing.py", "nothing").count("sum 2.0") == 2


@pytest.mark.parametrize("how", ["static", "c10d"])
def test_launchers_of_two_machines(how: str) -> None:
    told = ["--nnodes", "2", "--nproc-per-node", "1", "--master-addr", "127.0.0.1", "--master-port", str(a_port())]
    if how == "c10d":  # an address that is not the one of "localhost", and numbers by arrival
        told = ["--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{another_address()}:{a_port()}"]
    nodes = [
        subprocess.Popen(
            [*TORCHRUN, *told, *(["--node-rank", str(node)] if how == "static" else []), "--max-restarts", "2",
             str(RANKS / "failing.py"), "restart"],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for node in range(2)
    ]  # fmt: skip
    try:
        printed = [node.communicate(timeout=SECONDS)[0] for node in nodes]
    finally:
        for node in nodes:
            node.kill()
            node.wait()
    assert [node.returncode for node in nodes] == [0, 0] and all("attempt 2\nsum 2.0" in text for text in printed)


# ------------------------------------------------------------------------------------------------------- failures
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("raise", 1, "ValueError: something is wrong here"),
        ("exit", 3, "rank      : 1 (local_rank: 1)\n  exitcode  : 3"),
        ("kill", -9, "Signal 9 (SIGKILL) received"),
    ],
)
def test_the_failure_of_a_rank_ends_all(how: str, code: int, said: str) -> None:
    done = run(*RUN, "--nproc", 2, RANKS / "failing.py", how)
    assert done.returncode == 1 and said in done.stderr and "failing.py FAILED" in done.stderr
    assert f"exitcode  : {code} " in done.stderr and "rank      : 1" in done.stderr


def test_a_recorded_error_is_shown_with_its_trace(tmp_path: Path) -> None:
    program = tmp_path / "recorded.py"
    program.write_text(
        "import os, sys, time\n"
        "from torch.distributed.elastic.multiprocessing.errors import record\n"
        "@record\n"
        "def main():\n"
        "    if os.environ['RANK'] == '1':\n"
        "        raise ValueError('not right')\n"
        "    time.sleep(100)\n"
        "main()\n"
    )
    mine = tmp_path / "mine.json"
    done = run(*TORCHRUN, "--nproc-per-node", 2, program, TORCHELASTIC_ERROR_FILE=str(mine), TMPDIR=str(tmp_path))
    assert done.returncode == 1
    report = done.stderr.partition("recorded.py FAILED")[2]
    failures, root = report.split("Root Cause (first observed failure):")
    assert "[1]:" in failures and "rank      : 0 (local_rank: 0)\n  exitcode  : -15" in failures
    assert "traceback : Traceback (most recent call last):" in root and "ValueError: not right" in root
    assert "rank      : 1 (local_rank: 1)" in root and "error.json" in root
    assert "not right" in mine.read_text()  # for a launcher above this one
    assert len(list(tmp_path.glob("torchelastic_*"))) == 1
    program.write_text("import os\nopen(os.environ['TORCHELASTIC_ERROR_FILE'], 'w').write('[' * 5000)\n1 / 0\n")
    done = run(*TORCHRUN, "--nproc-per-node", 1, program)
    assert done.returncode == 1 and "traceback : To enable traceback see" in done.stderr
    program.write_text("pass\n")
    good(*TORCHRUN, "--nproc-per-node", 1, program, TMPDIR=str(tmp_path))
    assert len(list(tmp_path.glob("torchelastic_*"))) == 1  # that of the error


def test_a_launcher_as_an_object() -> None:
    printed = good(*RUN, RANKS / "launched.py").splitlines()
    assert printed == ["{0: (6.0, '0', '0'), 1: (6.0, '1', '0')}", "train 1 1 ValueError: negative"]


def test_the_older_launcher_tells_the_rank_by_an_argument(tmp_path: Path) -> None:
    program = tmp_path / "old.py"
    program.write_text("import sys\nsys.stdout.write(' '.join(sys.argv[1:]) + '\\n')\n")
    old = [sys.executable, "-m", "wengert.distributed.launch", "--nproc_per_node", 2]
    assert sorted(good(*old, program, "--lr", "1").splitlines()) == ["--lr 1 --local-rank=0", "--lr 1 --local-rank=1"]
    assert good(*old, "--use_env", program, "--lr", "1").splitlines() == ["--lr 1"] * 2


def test_the_others_name_the_rank_that_failed() -> None:
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(a_port()), "WORLD_SIZE": "2"}
    command = [*RUN, str(RANKS / "failing.py"), "raise"]
    ranks = [subprocess.Popen(command, env=environment(RANK=str(r), **told), stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) for r in range(2)]  # fmt: skip
    texts = [rank.communicate(timeout=SECONDS)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [1, 1]
    assert "Connection closed by peer: rank 1 failed: ValueError: something is wrong here" in texts[0]
    assert "dist.all_reduce(t)  # the line that waits" in texts[0]


def test_a_program_that_spawns_gets_the_error_of_the_rank() -> None:
    done = run(*RUN, RANKS / "started.py", "env", a_port(), "spawn", "fail")
    assert done.returncode == 1
    assert "ProcessRaisedException" in done.stderr and "ValueError: rank 1 fails" in done.stderr


def test_a_time_out_says_where_and_who() -> None:
    done = run(*RUN, "--nproc", 2, RANKS / "failing.py", "late", "2")
    assert done.returncode == 1
    for said in ("Timed out waiting 2000ms for recv operation to complete", "# the line that waits",
                 "Ranks that came: 0.", "Rank 1 did not come"):  # fmt: skip
        assert said in done.stderr


def test_restarts() -> None:
    done = run(*RUN, "--nproc", 2, "--max-restarts", 2, RANKS / "failing.py", "restart")
    assert done.returncode == 0 and done.stdout.count("sum 2.0") == 2 and done.stderr.count("FAILED; restarting") == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_all(number: signal.Signals) -> None:
    command = [*RUN, "--nproc", "2", str(RANKS / "failing.py"), "forever"]
    launcher = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert launcher.stdout is not None
    for line in launcher.stdout:
        if line == "ready\n":
            break
    launcher.send_signal(number)
    launcher.communicate(timeout=SECONDS)
    assert launcher.returncode == 128 + number


@pytest.mark.parametrize("how", ["Ctrl-C", "SIGTERM", "SIGKILL"])
@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell children nothing of their parent's end")
def test_the_end_of_a_program_that_spawns_ends_its_ranks(how: str) -> None:
    command = [*RUN, str(RANKS / "started.py"), "env", str(a_port()), "spawn", "forever"]
    parent = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True)  # fmt: skip
    assert parent.stdout is not None
    assert [parent.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    if how == "Ctrl-C":  # the terminal gives it to all processes of the group
        os.killpg(parent.pid, signal.SIGINT)
    else:
        parent.send_signal(getattr(signal, how))
    parent.communicate(timeout=SECONDS)
    assert parent.returncode  # and `no_process_is_left` looks for the others


def test_strangers_at_the_port_of_a_launcher_change_nothing(tmp_path: Path) -> None:
    program, port = tmp_path / "program.py", a_port()
    program.write_text(
        "import os, socket, struct\n"
        "import torch, torch.distributed as dist\n"
        "address = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])\n"
        "strangers = []\n"
        "def stranger(data):\n"
        "    strangers.append(socket.create_connection(address))\n"
        "    strangers[-1].sendall(data)\n"
        "def all_of_them():\n"
        "    greeting = b'WENGERT1'\n"
        "    for data in (b'', b'W', b'GET / HTTP/1.1\\r\\n\\r\\n', b'\\x00' * 100000, b'cmd=' + b'x' * 100000,\n"
        "                 b'cmd=barrier_in_\\n', b'cmd=initack pmiid=x\\n', b'cmd=get\\n',\n"
        "                 b'cmd=put key=\\xff value=1\\n',\n"
        "                 greeting, greeting + struct.pack('!BI', 1, 2**32 - 1),\n"
        "                 greeting + struct.pack('!BII', 0, 2, 2**32 - 1), greeting + struct.pack('!BI', 77, 0),\n"
        "                 greeting + struct.pack('!BII', 1, 1, 3) + b'inf',\n"
        "                 greeting + struct.pack('!BIII', 1, 2, 5, 0) + b'1e400',\n"
        "                 greeting + struct.pack('!BII', 11, 1, 2) + b'-7'):\n"
        "        stranger(data)\n"
        "all_of_them()\n"
        "dist.init_process_group('gloo')\n"
        "all_of_them()\n"
        "t = torch.ones(1)\n"
        "for _ in range(50):\n"
        "    dist.all_reduce(t, dist.ReduceOp.AVG)\n"
        "dist.destroy_process_group()\n"
        "os.write(1, f'{t.item()}\\n'.encode())\n"
    )
    done = run(*TORCHRUN, "--nproc-per-node", 2, "--master-port", port, program)
    assert done.returncode == 0 and done.stdout.splitlines() == ["1.0", "1.0"], done.stderr
    assert "Exception in thread" not in done.stderr


def test_cards_are_stood_in_for(tmp_path: Path) -> None:
    program = tmp_path / "cards.py"
    program.write_text(
        "import torch, torch.distributed as dist, os\n"
        "dist.init_process_group('nccl'); rank = int(os.environ['LOCAL_RANK']); torch.cuda.set_device(rank)\n"
        "x = torch.nn.Linear(2, 2).to(rank)(torch.ones(1, 2, device=f'cuda:{rank}').cuda()); dist.all_reduce(x)\n"
        "assert torch.cuda.is_available() and torch.accelerator.device_count() == 2 and dist.is_nccl_available()\n"
        "begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True); begin.record()\n"
        "scaler, layer = torch.amp.GradScaler('cuda'), torch.nn.Linear(2, 2).cuda(); torch.cuda.manual_seed_all(rank)\n"
        "with torch.cuda.stream(torch.cuda.Stream()), torch.autocast('cuda'):\n"
        "    y = layer(torch.ones(1, 2).pin_memory().cuda(non_blocking=True))\n"
        "scaler.scale(y.float().mean()).backward(); assert y.dtype is torch.float16 and layer.bias.grad[0] == 2.0**15\n"
        "end.record(); torch.cuda.synchronize(); assert begin.elapsed_time(end) > 0\n"
        "assert torch.cuda.get_device_properties(rank).total_memory > 0 and torch.cuda.memory_allocated() == 0\n"
        "assert torch.equal(torch.cuda.FloatTensor([1]), torch.ones(1)) and torch.Generator(device='cuda')\n"
        "os.write(1, f'{torch.cuda.current_device()} {dist.get_backend()}\\n'.encode())\n"
    )
    done = run(*RUN, "--nproc", 2, "--stand-in", 2, program)
    assert sorted(done.stdout.splitlines()) == ["0 nccl", "1 nccl"], done.stderr
    assert done.stderr.count("--stand-in 2") == 1
    done = run(*RUN, "--nproc", 1, program)
    assert done.returncode == 1 and "Distributed package doesn't have NCCL built in" in done.stderr
