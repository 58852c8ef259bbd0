"""The same sweep on a dask cluster of two worker processes, one of which is killed midway."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from argpack import __version__
from argpack.cli import main
from argpack.kernels import OWN
from argpack.sweep import cluster

COUNT = 10


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("".join(f"128 64 {512 + number}\n" for number in range(COUNT)))


@pytest.fixture
def start(here):
    """Starts one of dask's programs, quiet and without what it serves beside."""
    running = []

    def program(name, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *arguments]
        environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}
        with Path(f"{name}.log").open("ab") as log:
            running.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        return running[-1]

    yield program
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler_process(start):
    return start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "at.json"
    )


@pytest.fixture
def scheduler(scheduler_process):
    """Its address."""
    file = Path("at.json")
    while not file.exists() or not file.read_text().endswith("}"):
        time.sleep(0.05)
    return json.loads(file.read_text())["address"]


@pytest.fixture
def worker(start, scheduler):
    where = (
        "--host",
        "127.0.0.1",
        "--no-nanny",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--local-directory",
        ".",
    )
    return lambda name: start("worker", scheduler, "--name", name, *where)


def sweep(*options):
    command = [
        sys.executable,
        "-m",
        "argpack",
        "sweep",
        "--kernels",
        str(OWN / "sgemm.co"),
        "--shapes",
        "s.txt",
    ]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines():
    return Path("l.jsonl").read_text().splitlines() if Path("l.jsonl").exists() else []


def without_seconds(results):
    return sorted(({**result, "seconds": 0} for result in results), key=lambda result: result["k"])


@pytest.fixture
def workers(scheduler, worker):
    """Two of them, that the scheduler knows."""
    started = [worker("one"), worker("two")]
    log = Path("worker.log")
    while log.read_text().count("Registered to:") < 2:
        assert [process.poll() for process in started] == [None, None], log.read_text()
        time.sleep(0.05)
    return started


@pytest.fixture
def midway(scheduler, workers):
    """A sweep that has three results or a few more."""
    running = sweep("--scheduler", scheduler, "--ledger", "l.jsonl")
    while len(lines()) < 4:
        assert running.poll() is None, running.communicate()
        time.sleep(0.005)
    yield running
    running.kill()
    running.communicate()


def test_a_worker_killed_midway_loses_and_doubles_no_result(midway, workers):
    workers[0].send_signal(signal.SIGKILL)
    assert len(lines()) - 1 < COUNT, "too late to be midway"
    out, err = midway.communicate(timeout=120)
    assert (midway.returncode, out.splitlines()[-1]) == (0, f"1 kernel, {COUNT} shapes: {COUNT} passed"), err
    assert "Traceback" not in err
    results = [json.loads(line) for line in lines()[1:]]
    assert [result["k"] for result in without_seconds(results)] == list(range(512, 512 + COUNT))
    alone, _ = sweep("-j", "1", "--json").communicate(timeout=120)
    assert without_seconds(json.loads(alone)["results"]) == without_seconds(results)


def test_a_scheduler_lost_midway_is_an_error_of_one_line_and_the_sweep_goes_on_elsewhere(
    midway, scheduler, scheduler_process
):
    scheduler_process.kill()
    out, err = midway.communicate(timeout=120)
    assert (midway.returncode, out) == (2, "")
    assert err.splitlines()[-1] == f"argpack: error: {scheduler}: lost the dask scheduler"
    assert "Traceback" not in err
    kept = lines()
    assert 4 <= len(kept) < 1 + COUNT
    out, err = sweep("-j", "2", "--ledger", "l.jsonl").communicate(timeout=120)
    assert out.splitlines()[-1] == f"1 kernel, {COUNT} shapes: {COUNT} passed", err
    assert lines()[: len(kept)] == kept


def test_a_scheduler_without_workers_is_an_error_of_one_line(scheduler, capsys):
    code = main(["sweep", "--kernels", "sgemm", "--shapes", "s.txt", "--scheduler", scheduler])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.splitlines()[-1] == f"argpack: error: {scheduler}: this scheduler has no workers"


@pytest.mark.parametrize("address", ["nonsense", "", "http://a:b"])
def test_what_is_no_address_is_an_error_of_one_line(here, address, capsys):
    code = main(["sweep", "--kernels", "sgemm", "--shapes", "s.txt", "--scheduler", address])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.splitlines()[-1].startswith(f"argpack: error: {address}: no dask scheduler answers: ")


def test_without_dask_the_message_says_what_to_install(here, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code = main(["sweep", "--kernels", "sgemm", "--shapes", "s.txt", "--scheduler", "tcp://127.0.0.1:9"])
    assert code == 2
    assert "--scheduler needs dask.distributed: pip install 'argpack[cluster]'" in capsys.readouterr().err


def test_a_worker_of_another_version_checks_nothing(plan_of, sgemm):
    result = cluster._check(plan_of(sgemm).units[0], sgemm, "9.9")
    assert result.verdict == "not checked"
    assert result.reason == f"a worker has argpack {__version__}, this sweep is of 9.9"


def test_a_task_that_the_cluster_gave_up_is_not_checked(plan_of, sgemm):
    class GivenUp:
        status = "error"

        def exception(self):
            return MemoryError("three workers died\nand more lines")

    result = cluster._result(GivenUp(), plan_of(sgemm).units[0], "tcp://here:1")
    assert (result.verdict, result.reason) == ("not checked", "MemoryError: three workers died")
