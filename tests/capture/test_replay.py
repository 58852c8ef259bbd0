"""A recorded launch is run again: as recorded, with a changed byte, with parts missing."""

import dataclasses
import hashlib
import json
import struct
import zlib

import pytest
from recorded import record

from argpack.cli import main
from argpack.codeobject import read as read_code
from argpack.families import Problem, family_of
from argpack.families.loading import load_workloads
from argpack.kernels import OWN
from argpack.launch.emulator_backend import EmulatorBackend

F4GEMM = "gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co"


def run(path, problem):
    """The launch of a kernel on random operands, and what the emulator makes of it."""
    code_object = read_code(path)
    kernel = code_object.kernels[0]
    family = family_of(kernel.name)
    launch = load_workloads(family).prepare(code_object, kernel, problem).launch
    return launch, EmulatorBackend(processes=1).run(launch)


@pytest.fixture(scope="module")
def f4gemm(kernels_dir):
    return run(kernels_dir / F4GEMM, Problem(m=32, n=128, k=256))


@pytest.fixture(scope="module")
def sgemm():
    return run(OWN / "sgemm.co", Problem(m=5, n=3, k=4, beta=1.0))


def test_a_real_kernel_does_again_what_was_recorded(f4gemm, tmp_path, capsys):
    path = tmp_path / "real.capture"
    record(path, *f4gemm)
    assert main(["replay", str(path), "--backend", "emulator"]) == 0
    text = capsys.readouterr().out
    assert "launch   " + str(path) + "#1, hipModuleLaunchKernel by process" in text
    assert "bytes are as recorded" in text
    changed = int(text.partition("as recorded, ")[2].split()[0].replace(",", ""))
    assert 6000 < changed <= 8192


@pytest.mark.parametrize("scales", ["ScaleA", "ScaleB"])
def test_one_changed_byte_of_a_scale_buffer_fails(scales, f4gemm, tmp_path, capsys):
    launch, result = f4gemm
    path = tmp_path / "changed.capture"
    data = next(buffer.data.copy() for buffer in launch.buffers if buffer.name == scales)
    data[0] += 1
    after = type(result)({**result.buffers, scales: data}, 0.0, b"")
    record(path, launch, after, change=lambda name, was: data.tobytes() if name == scales else was)
    assert main(["replay", str(path), "--backend", "emulator", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "fail"
    assert [each["buffer"] for each in found["differences"]] == ["D"]


def test_a_difference_is_told_by_argument_and_offset(sgemm, tmp_path, capsys):
    launch, result = sgemm
    other = result.buffers["D"].copy()
    other[7] ^= 0x80
    path = tmp_path / "other.capture"
    record(path, launch, type(result)({**result.buffers, "D": other}, 0.0, b""))
    assert main(["replay", str(path), "--backend", "emulator"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("FAIL: 1 of 248 bytes differ") for line in lines), lines
    assert (
        f"      ptr_D: 1 of 60 bytes, the first at 0x7: recorded {other[7]:02x}, found {other[7] ^ 0x80:02x}"
        in lines
    )


def test_a_program_on_the_stand_in_runtime_is_seen_to_differ(programs, capture, capsys):
    recorded, _ = capture(programs.host, "image", OWN / "sgemm.co", options=("--buffers",))
    assert main(["replay", f"{recorded.source}#1", "--backend", "emulator"]) == 1
    assert "ptr_D: " in capsys.readouterr().out


def test_a_freed_allocation_is_refused(programs, capture, capsys):
    recorded, _ = capture(programs.host, "image", OWN / "sgemm.co", options=("--buffers",))
    assert main(["replay", recorded.source, "#2", "--backend", "emulator"]) == 2
    assert "lies in no allocation that was recorded" in capsys.readouterr().err


def test_without_buffers_a_launch_cannot_be_replayed(sgemm, tmp_path, capsys):
    path = tmp_path / "thin.capture"
    record(path, *sgemm, buffers=False)
    assert main(["replay", str(path)]) == 2
    assert "memory was not recorded: capture it with --buffers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}"], "the capture has 2 launches: name one, {}#1 to #2"),
        (["{}#3"], "expected a launch from #1 to #2, found #3"),
        (["{}#0"], "expected a launch from #1 to #2, found #0"),
        (["{}", "x"], "expected one number of a launch"),
        (["{}#1", "1"], "expected one number of a launch"),
        (["{}.none"], "cannot read the capture: No such file or directory"),
    ],
)
def test_what_names_no_launch_is_refused(arguments, message, programs, capture, capsys):
    recorded, _ = capture(programs.host, "exit", OWN / "sgemm.co", 0)
    filled = [text.replace("{}", recorded.source) for text in arguments]
    assert main(["replay", *filled]) == 2
    assert message.replace("{}", recorded.source) in capsys.readouterr().err


def test_a_partial_workgroup_and_an_unknown_kernel_are_refused(programs, capture, capsys):
    recorded, _ = capture(
        programs.host, "every_way", OWN / "sgemm.co", OWN / "sgemm.co", options=("--buffers",)
    )
    assert main(["replay", f"{recorded.source}#4"]) == 2
    assert "no whole number of workgroups" in capsys.readouterr().err
    assert main(["replay", f"{recorded.source}#8"]) == 2
    assert "the code object of 'its kernel' was not recorded" in capsys.readouterr().err


def test_launches_are_listed(programs, capture, capsys):
    recorded, _ = capture(programs.host, "exit", OWN / "sgemm.co", 0)
    assert main(["replay", recorded.source, "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["launch", "pid", "kernel", "grid", "block", "arguments", "memory", "error"]
    pid = str(recorded.processes[0].pid)
    assert lines[2].split() == ["#2", pid, "argpack_sgemm", "5×6×7", "16×16×1", "68", "0", "0"]
    assert main(["replay", recorded.source, "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["launches"]
    assert [row["grid"] for row in rows] == [[5, 6, 7], [5, 6, 7]]


def bundled(launch, *targets):
    """The launch with its code in a bundle that is compressed, as the recorder keeps such a one."""
    code = launch.code_object
    table, body = b"", b""
    start = 32 + sum(24 + len(name) for name in targets)
    for name in targets:
        table += struct.pack("<QQQ", start + len(body), len(code.data), len(name)) + name
        body += code.data
    whole = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets)) + table + body
    packed, digest = zlib.compress(whole), hashlib.md5(whole, usedforsecurity=False).digest()[:8]
    data = struct.pack("<4sHHQQ8s", b"CCOB", 3, 0, 32 + len(packed), len(whole), digest) + packed
    return dataclasses.replace(launch, code_object=dataclasses.replace(code, data=data))


GFX950, GFX942 = b"hipv4-amdgcn-amd-amdhsa--gfx950:xnack-", b"hipv4-amdgcn-amd-amdhsa--gfx942"


def test_the_emulators_code_is_taken_out_of_a_recorded_bundle(sgemm, tmp_path, capsys):
    launch, result = sgemm
    record(tmp_path / "x.capture", bundled(launch, GFX942, GFX950), result)
    assert main(["replay", str(tmp_path / "x.capture"), "--backend", "emulator"]) == 0
    assert "PASS: 248 bytes are as recorded" in capsys.readouterr().out


@pytest.mark.parametrize(("targets", "count"), [((GFX942,), 0), ((GFX950, GFX950), 2)])
def test_a_recorded_bundle_that_leaves_it_open_is_refused(targets, count, sgemm, tmp_path, capsys):
    launch, result = sgemm
    path = tmp_path / "x.capture"
    record(path, bundled(launch, *targets), result)
    assert main(["replay", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"argpack: error: {path}#1: expected one code object for gfx950 with 'argpack_sgemm' in the recorded "
        f"bundle, found {count}\n"
    )
