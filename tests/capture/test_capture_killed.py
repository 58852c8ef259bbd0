"""kill -9 at any moment: what was recorded before it is there, and nothing else is."""

import secrets
import struct
import subprocess
import time

import pytest

from argpack.capture import read
from argpack.capture.run import environment
from argpack.capture.writer import create
from argpack.errors import InputError
from argpack.kernels import OWN

SGEMM = OWN / "sgemm.co"


def killed_runs(programs, path, monkeypatch, *, moment, processes, buffers, size):
    """Start programs that launch for ever, kill each after `moment` seconds more; the launches that each printed."""
    monkeypatch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
    create(path)
    env = {**programs.env, **environment(path, kernel=None, buffers=buffers)}
    env["LD_LIBRARY_PATH"] = programs.env["LD_LIBRARY_PATH"]
    command = [str(programs.host), "forever", str(SGEMM), str(size)]
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(processes)]
    printed = {}
    for process in running:
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(moment)
        process.kill()
        lines = (first + process.stdout.read()).decode().splitlines()
        printed[process.pid] = len(lines)
        process.stdout.close()
        process.wait()
    return printed


@pytest.mark.parametrize("attempt", range(10))
def test_launches_that_returned_are_there_and_no_others(attempt, programs, tmp_path, monkeypatch):
    path = tmp_path / "killed.capture"
    moment = secrets.SystemRandom().uniform(0, 0.05)
    printed = killed_runs(programs, path, monkeypatch, moment=moment, processes=2, buffers=False, size=64)
    capture = read(path)
    assert {process.pid for process in capture.processes} == set(printed)
    assert not any(process.ended for process in capture.processes)
    for pid, returned in printed.items():
        launches = [launch for launch in capture.launches if launch.pid == pid]
        counted = [struct.unpack_from("<I", launch.arguments, 40)[0] for launch in launches]
        assert counted == list(range(len(counted)))
        assert len(counted) in {returned, returned + 1}
        assert {(launch.kernel, len(launch.arguments)) for launch in launches} == {("argpack_sgemm", 68)}


@pytest.mark.parametrize("attempt", range(4))
def test_contents_are_whole_or_refused(attempt, programs, tmp_path, monkeypatch):
    path = tmp_path / "killed.capture"
    size = 6 << 20
    moment = secrets.SystemRandom().uniform(0.05, 0.3)
    (returned,) = killed_runs(
        programs, path, monkeypatch, moment=moment, processes=1, buffers=True, size=size
    ).values()
    capture = read(path)
    assert len(capture.launches) in {returned, returned + 1}
    for number, launch in enumerate(capture.launches):
        (memory,) = (memory for memory in launch.memory if memory.size == size)
        whole = capture.contents(memory.before)
        assert whole == struct.pack("<I", number) * (size // 4)
        assert launch.finished == (number < returned) or number == returned - 1 or launch.finished
    assert len(capture.problems) <= 1
    assert all("torn record at the end" in problem for problem in capture.problems)


def test_a_file_that_is_still_written_can_be_read(programs, tmp_path, monkeypatch):
    path = tmp_path / "live.capture"
    monkeypatch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
    create(path)
    env = {**programs.env, **environment(path, kernel=None, buffers=False)}
    env["LD_LIBRARY_PATH"] = programs.env["LD_LIBRARY_PATH"]
    command = [str(programs.host), "forever", str(SGEMM), "64"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        first = len(read(path).launches)
        for _ in range(50):
            process.stdout.readline()
        second = len(read(path).launches)
        process.kill()
    assert first >= 1
    assert first + 50 <= second + 1


def test_a_full_disk_stops_the_recording_and_not_the_program(programs, tmp_path, monkeypatch):
    """A limit on the size of files stands in for the disk; with SIGXFSZ ignored a write is short, as it is there."""
    path = tmp_path / "full.capture"
    monkeypatch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
    create(path)
    env = {**programs.env, **environment(path, kernel=None, buffers=False)}
    env["LD_LIBRARY_PATH"] = programs.env["LD_LIBRARY_PATH"]
    script = f"trap '' XFSZ; ulimit -f 20; exec {programs.host} threads {SGEMM} 4000"
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr.count(b"nothing more is recorded") == 1
    capture = read(path)
    assert path.stat().st_size == 20 * 1024
    assert 10 < len(capture.launches) < 100
    assert all(len(launch.arguments) == 68 for launch in capture.launches)
    with pytest.raises(InputError, match="expected a launch from #1 to"):
        capture.launch(5000)
