"""`argpack capture` around programs that launch in every way, on a stand-in runtime."""

import hashlib
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.capture.library import library
from argpack.capture.run import run
from argpack.cli import main
from argpack.kernels import OWN

SGEMM = OWN / "sgemm.co"
SHA256 = hashlib.sha256(SGEMM.read_bytes()).hexdigest()


def bundle(*entries):
    """An offload bundle of (id, code) pairs."""
    table, at = b"", 32 + sum(24 + len(name) for name, _ in entries)
    for name, code in entries:
        table += struct.pack("<QQQ", at, len(code), len(name)) + name.encode()
        at += len(code)
    return (
        b"__CLANG_OFFLOAD_BUNDLE__"
        + struct.pack("<Q", len(entries))
        + table
        + b"".join(c for _, c in entries)
    )


@pytest.mark.parametrize("linked", [True, False])
def test_every_way_to_launch_is_recorded_as_the_kernel_sees_it(linked, programs, capture):
    recorded, done = capture(programs.host if linked else programs.dynamic, "every_way", SGEMM, SGEMM)
    assert done.returncode == 0, done.stderr
    assert [
        (launch.api, launch.grid, launch.partial, launch.dynamic_lds) for launch in recorded.launches
    ] == [
        ("hipModuleLaunchKernel", (5, 6, 7), False, 8),
        ("hipModuleLaunchKernel", (1, 2, 3), False, 0),
        ("hipExtModuleLaunchKernel", (2, 3, 2), False, 0),
        ("hipExtModuleLaunchKernel", (3, 3, 2), True, 0),
        ("hipDrvLaunchKernelEx", (9, 8, 7), False, 4),
        ("hipLaunchKernel", (2, 1, 1), False, 0),
        ("hipModuleLaunchKernel", (5, 6, 7), False, 8),
        ("hipModuleLaunchKernel", (5, 6, 7), False, 8),
        ("hipModuleLaunchKernel", (5, 6, 7), False, 8),
    ]
    assert recorded.launches[-1].arguments == done.stdout
    for launch in recorded.launches:
        assert launch.arguments[:8] + launch.arguments[16:] == done.stdout[:8] + done.stdout[16:]
        assert launch.known == b"\x01" * 68
        assert launch.block == (16, 16, 1)
        assert launch.memory == ()
    assert [launch.stream for launch in recorded.launches] == [0, 0x55, *[0] * 7]
    *named, unknown, _ = recorded.launches
    for launch in named:
        assert (launch.kernel, launch.code) == ("argpack_sgemm", SHA256)
    assert recorded.contents(SHA256) == SGEMM.read_bytes()
    assert (unknown.kernel, unknown.code) == ("", None)
    assert recorded.launches[4].remarks == ("2 launch attributes (a cluster size, say) are not recorded",)
    assert recorded.problems == ()
    assert recorded.notes == ("hipGraphLaunch was called: the kernels that it starts are not recorded",)
    assert recorded.processes[0].ended


def test_memory_of_a_function_got_by_name_is_known(programs, capture):
    recorded, _ = capture(programs.host, "every_way", SGEMM, SGEMM, options=("--buffers",))
    (got,) = struct.unpack_from("<Q", recorded.launches[-1].arguments, 8)
    assert [memory.size for memory in recorded.launches[-1].memory if memory.address == got] == [16]


def test_the_code_of_the_device_is_taken_out_of_a_bundle(programs, capture, tmp_path):
    own = SGEMM.read_bytes()
    other = own.replace(b"ptr_D", b"ptr_E")
    wrapped = tmp_path / "fat"
    wrapped.write_bytes(
        bundle(
            ("host-x86_64-unknown-linux-gnu-", b""),
            ("hipv4-amdgcn-amd-amdhsa--gfx942", other),
            ("hipv4-amdgcn-amd-amdhsa--gfx950:xnack+", other),
            ("hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-", own),
        )
    )
    recorded, done = capture(programs.host, "every_way", SGEMM, wrapped)
    assert recorded.launches[5].code == SHA256
    assert recorded.launches[5].arguments[16:] == done.stdout[16:]


def test_arguments_of_a_compressed_bundle_are_said_to_be_missing(programs, capture, tmp_path):
    wrapped = tmp_path / "fat"
    wrapped.write_bytes(b"CCOB" + struct.pack("<HHII", 2, 1, 96, 4000) + b"z" * 80)
    recorded, _ = capture(programs.host, "every_way", SGEMM, wrapped)
    launch = recorded.launches[5]
    assert launch.arguments == b""
    assert launch.remarks[0].endswith("no metadata says where they lie: not recorded")
    assert recorded.contents(launch.code) == wrapped.read_bytes()
    assert len(recorded.launches[6].arguments) == 68


def test_an_image_may_be_freed_before_the_launch(programs, capture):
    recorded, _ = capture(programs.host, "image", SGEMM)
    assert [launch.code for launch in recorded.launches] == [SHA256, SHA256]


def test_buffers_are_recorded_before_and_after_until_they_are_freed(programs, capture):
    recorded, _ = capture(programs.host, "image", SGEMM, options=("--buffers",))
    first, second = recorded.launches
    output, a, b = first.memory
    assert [memory.size for memory in (output, a, b)] == [64, 32, 16]
    addresses = struct.unpack_from("<QQQQ", first.arguments)
    assert addresses == (output.address, 0, a.address, b.address)
    assert recorded.contents(output.before) == bytes(64)
    assert recorded.contents(output.after) == b"\x01" + bytes(63)
    assert recorded.contents(a.before) == recorded.contents(a.after) == bytes(range(32))
    assert [memory.size for memory in second.memory] == [64, 16]
    assert recorded.contents(second.memory[0].after) == b"\x02" + bytes(63)
    assert first.finished


def test_memory_is_left_alone_while_a_stream_is_captured(programs, capture):
    recorded, _ = capture(programs.host, "image", SGEMM, options=("--buffers",), env={"FAKE_CAPTURING": "1"})
    assert recorded.launches[0].memory == ()
    assert recorded.launches[0].remarks == (
        "the stream was being captured into a graph: memory is not recorded",
    )


def test_an_error_of_the_launch_is_recorded(programs, capture):
    recorded, _ = capture(programs.host, "exit", SGEMM, 0, env={"FAKE_FAIL": "719"})
    assert [launch.error for launch in recorded.launches] == [719, 719]


@pytest.mark.parametrize(
    ("pattern", "count"), [("sgemm", 2), ("argpack_*", 2), ("sgem?", 0), ("f4gemm", 0), ("argpack_sgemm", 2)]
)
def test_only_kernels_that_fit_the_pattern_are_recorded(pattern, count, programs, capture):
    recorded, _ = capture(programs.host, "exit", SGEMM, 0, options=("--kernel", pattern))
    assert len(recorded.launches) == count


def test_a_hundred_thousand_launches_of_four_threads_are_all_there(programs, capture):
    recorded, done = capture(programs.host, "threads", SGEMM, 100_000)
    assert b"argpack: 100,000 launches of 1 kernel by 1 process" in done.stderr
    counted = {}
    for launch in recorded.launches:
        counted.setdefault(launch.thread, []).append(struct.unpack_from("<I", launch.arguments, 40)[0])
    assert len(counted) == 4
    assert all(numbers == list(range(25_000)) for numbers in counted.values())
    assert recorded.problems == ()


def test_two_processes_write_one_file(programs, capture):
    command = f"{programs.host} threads {SGEMM} 4000 & {programs.host} threads {SGEMM} 4000 & wait"
    recorded, _ = capture("sh", "-c", command)
    assert len(recorded.launches) == 8000
    assert len({launch.pid for launch in recorded.launches}) == len(recorded.processes) == 2
    assert recorded.problems == ()


def test_the_child_of_a_fork_is_a_process_of_its_own(programs, capture):
    recorded, _ = capture(programs.host, "fork", SGEMM)
    parent, child = recorded.processes
    assert child.parent_pid == parent.pid
    assert [launch.pid for launch in recorded.launches] == [parent.pid] * 3 + [child.pid] * 5
    assert {launch.kernel for launch in recorded.launches} == {"argpack_sgemm"}
    assert recorded.problems == ()


def test_a_program_that_closes_all_files_is_recorded_and_its_files_stay_clean(programs, capture, tmp_path):
    own = tmp_path / "own"
    recorded, done = capture(programs.host, "careless", SGEMM, own)
    assert done.returncode == 0
    assert own.read_bytes() == b""
    assert len(recorded.launches) == 2


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_passes_through(code, programs, capture):
    assert capture(programs.host, "exit", SGEMM, code)[1].returncode == code


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_signal_that_ends_the_program_passes_through(number, programs, capture):
    recorded, done = capture(programs.host, "signal", SGEMM, int(number))
    assert done.returncode == -number
    assert len(recorded.launches) == 2
    assert not recorded.processes[0].ended


def test_a_signal_sent_to_capture_reaches_the_program(programs, tmp_path):
    path = tmp_path / "forever.capture"
    command = [sys.executable, "-m", "argpack", "capture", "-o", str(path), "--"]
    with subprocess.Popen(
        [*command, str(programs.host), "forever", str(SGEMM), "64"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=programs.env,
    ) as running:
        assert running.stdout
        running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        running.communicate()
    assert running.returncode == -signal.SIGTERM


def test_ctypes_and_python_are_seen(programs, capture):
    script = (
        "import ctypes, struct, sys\n"
        "hip = ctypes.CDLL('libamdhip64.so')\n"
        "module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()\n"
        "hip.hipModuleLoad(ctypes.byref(module), sys.argv[1].encode())\n"
        "hip.hipModuleGetFunction(ctypes.byref(function), module, b'argpack_sgemm')\n"
        "hip.hipMalloc(ctypes.byref(memory), 64)\n"
        "data = ctypes.create_string_buffer(struct.pack('<Q60x', memory.value), 68)\n"
        "size = ctypes.c_size_t(68)\n"
        "extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(data), 2, ctypes.addressof(size), 3)\n"
        "hip.hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, None, None, extra)\n"
    )
    recorded, done = capture(sys.executable, "-c", script, SGEMM)
    assert done.returncode == 0, done.stderr
    assert [launch.kernel for launch in recorded.launches] == ["argpack_sgemm"]


def test_a_second_runtime_in_the_process_is_told_and_left_alone(programs, capture, tmp_path):
    """As where PyTorch brings one of its own."""
    copy = tmp_path / "copy" / "libamdhip64.so"
    copy.parent.mkdir()
    shutil.copy(Path(programs.env["LD_LIBRARY_PATH"]) / "libamdhip64.so", copy)
    script = (
        "import ctypes, sys\n"
        "memory = ctypes.c_void_p()\n"
        "for name in ('libamdhip64.so', sys.argv[1]):\n"
        "    assert ctypes.CDLL(name).hipMalloc(ctypes.byref(memory), 64) == 0\n"
    )
    recorded, done = capture(sys.executable, "-c", script, copy)
    assert done.returncode == 0, done.stderr
    assert recorded.notes == ("hipMalloc of a second HIP runtime: calls of it are not recorded",)


def test_the_file_is_for_its_owner_alone_and_never_overwritten(programs, tmp_path, capture, capsys):
    recorded, _ = capture(programs.host, "exit", SGEMM, 0)
    path = Path(recorded.source)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert main(["capture", "-o", str(path), "--", "true"]) == 2
    assert "it exists; a capture never overwrites a file, name another with -o" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_program_without_hip_is_said_to_have_none(capture):
    recorded, done = capture("true")
    assert b"no call of the HIP runtime was seen" in done.stderr
    assert recorded.launches == ()


def test_a_program_that_is_not_there_leaves_no_file(tmp_path, capsys):
    path = tmp_path / "none.capture"
    assert main(["capture", "-o", str(path), "--", "/no/such/program"]) == 2
    assert "/no/such/program: cannot be started: No such file or directory" in capsys.readouterr().err
    assert not path.exists()


def test_without_a_compiler_one_line_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("ARGPACK_CACHE", str(tmp_path))
    assert main(["capture", "-o", str(tmp_path / "x"), "--", "true"]) == 2
    assert "there is no C compiler 'no-such-compiler': on Debian install gcc" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_the_library_leaves_a_file_alone_that_is_no_capture(programs, monkeypatch, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"something else" * 20)
    monkeypatch.setenv("ARGPACK_CACHE", programs.env["ARGPACK_CACHE"])
    done = subprocess.run(
        [programs.host, "exit", SGEMM, "3"],
        env={**programs.env, "LD_PRELOAD": str(library()), "ARGPACK_CAPTURE_FILE": str(foreign)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"not a capture file of version 1; nothing more is recorded" in done.stderr
    assert foreign.read_bytes() == b"something else" * 20


def test_a_signal_that_comes_before_the_program_is_known_is_not_lost(programs, tmp_path, monkeypatch):
    """The program may run and be seen by others before Popen returns to capture."""
    started = subprocess.Popen

    def start_late(*args, **options):
        child = started(*args, **options)
        os.kill(os.getpid(), signal.SIGTERM)
        return child

    monkeypatch.setattr(subprocess, "Popen", start_late)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    path = tmp_path / "early.capture"
    assert run(command, path, kernel=None, buffers=False) == -signal.SIGTERM
