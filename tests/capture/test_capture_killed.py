"""kill -9 at any moment: what was recorded before it is there, and nothing else is."""

import secrets
import struct
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.capture import parse, read
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


@pytest.mark.parametrize("attempt", range(20))
def test_killed_while_they_start(attempt, programs, tmp_path, monkeypatch):
    """Three at once, in the loader, in HIP's first calls, in the record of the code object or of the first launches."""
    monkeypatch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
    path = tmp_path / "killed.capture"
    create(path)
    env = {**programs.env, **environment(path, kernel=None, buffers=True)}
    env["LD_LIBRARY_PATH"] = programs.env["LD_LIBRARY_PATH"]
    command = [str(programs.host), "forever", str(SGEMM), "4096"]
    random = secrets.SystemRandom()
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for _ in range(3)]
    printed = {}
    for process in running:
        time.sleep(random.uniform(0, 0.01))
        process.kill()
        printed[process.pid] = len(process.communicate()[0].splitlines())
    capture = read(path)
    assert {process.pid for process in capture.processes} <= set(printed)
    for pid, returned in printed.items():
        launches = [launch for launch in capture.launches if launch.pid == pid]
        counted = [struct.unpack_from("<I", launch.arguments, 40)[0] for launch in launches]
        assert counted == list(range(len(counted)))
        assert len(counted) in {returned, returned + 1}
        for number, launch in enumerate(launches):
            (memory,) = (memory for memory in launch.memory if memory.size == 4096)
            assert capture.contents(memory.before) == struct.pack("<I", number) * 1024


@pytest.fixture(scope="module")
def real(programs, tmp_path_factory):
    """The bytes of a capture with memory that a program's end completed, and its launches' arguments in order."""
    path = tmp_path_factory.mktemp("real") / "real.capture"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
        create(path)
        env = {**programs.env, **environment(path, kernel=None, buffers=True)}
    env["LD_LIBRARY_PATH"] = programs.env["LD_LIBRARY_PATH"]
    subprocess.run([str(programs.host), "image", str(SGEMM)], env=env, check=True)
    whole = read(path)
    assert whole.problems == ()
    return path.read_bytes(), whole.launches


def test_cut_at_every_byte_of_the_last_records(real):
    """As a full disk or a lost page leaves a file. A launch is whole or absent; the tail is told."""
    data, launches = real
    marker = data[24:40]
    starts = {at for at in range(64, len(data)) if data.startswith(marker, at)}
    last = sorted(starts)[-6]
    seen = set()
    for end in range(last, len(data) + 1):
        cut = parse(data[:end], source="cut")
        assert len(cut.problems) == (0 if end in {*starts, len(data)} else 1), end
        assert all("torn record at the end" in problem for problem in cut.problems)
        found = [launch.arguments for launch in cut.launches]
        assert found == [launch.arguments for launch in launches][: len(found)]
        seen.add(len(found))
        if end < len(data):
            assert not cut.processes[0].ended
    assert len(seen) > 1


@given(st.data())
def test_cut_anywhere(real, data):
    whole, launches = real
    end = data.draw(st.integers(64, len(whole)))
    cut = parse(whole[:end], source="cut")
    assert [launch.arguments for launch in cut.launches] == [
        launch.arguments for launch in launches[: len(cut.launches)]
    ]
    for launch in cut.launches:
        for memory in launch.memory:
            if memory.before:
                assert len(cut.contents(memory.before)) == memory.size


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
