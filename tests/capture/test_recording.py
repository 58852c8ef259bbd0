"""The context manager around hip-python, in a process whose HIP runtime is the stand-in."""

import subprocess
import sys

import pytest

from argpack.capture import read
from argpack.cli import main
from argpack.kernels import OWN

PROGRAM = """
import ctypes, struct, sys
from pathlib import Path
from argpack.capture.recording import recording
from hip import hip

def checked(result):
    assert result[0].value == 0, result
    return result[1] if len(result) > 1 else None

code, out, options = Path(sys.argv[1]), sys.argv[2], eval(sys.argv[3])
before = hip.hipModuleLaunchKernel
with recording(out, **options):
    module = checked(hip.hipModuleLoadData(code.read_bytes()))
    function = checked(hip.hipModuleGetFunction(module, b"argpack_sgemm"))
    memory = checked(hip.hipMalloc(64))
    other = checked(hip.hipMalloc(32))
    data = ctypes.create_string_buffer(struct.pack("<QQQQ36x", int(memory), 0, int(other) + 8, 0), 68)
    size = ctypes.c_size_t(68)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(data), 2, ctypes.addressof(size), 3)
    checked(hip.hipModuleLaunchKernel(function, 1, 2, 3, 16, 16, 1, 4, None, None, ctypes.addressof(extra)))
    tuple_of = (memory, ctypes.c_float(1.5), ctypes.c_uint32(7))
    checked(hip.hipModuleLaunchKernel(function, 1, 2, 3, 16, 16, 1, 4, None, None, tuple_of))
    values = [ctypes.addressof(data) + offset for offset in (0, 8, 16, 24, 32, 36, 40, 44, 48, 52, 56, 60, 64)]
    checked(hip.hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, None, values, None))
    checked(hip.hipFree(other))
    checked(hip.hipModuleLaunchKernel(
        f=function, gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=16, blockDimY=16, blockDimZ=1, sharedMemBytes=0,
        stream=None, kernelParams=None, extra=ctypes.addressof(extra)))
    hip.hipLaunchKernel(None, hip.dim3(x=1, y=1, z=1), hip.dim3(x=1, y=1, z=1), None, 0, None)
assert hip.hipModuleLaunchKernel is before
print(int(memory), int(other), data.raw.hex())
"""


@pytest.fixture
def recorded(programs, tmp_path):
    def run(**options):
        out = tmp_path / "python.capture"
        folder = programs.env["LD_LIBRARY_PATH"]
        (tmp_path / "lib").symlink_to(folder)
        command = [sys.executable, "-c", PROGRAM, str(OWN / "sgemm.co"), str(out), repr(options)]
        env = {**programs.env, "ROCM_PATH": str(tmp_path)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        memory, other, data = done.stdout.split()
        return read(out), int(memory), int(other), bytes.fromhex(data)

    return run


def test_launches_of_hip_python_are_recorded_as_they_are_passed(recorded):
    capture, memory, _, data = recorded()
    first, packed, parameters, last = capture.launches
    assert [launch.kernel for launch in capture.launches] == ["argpack_sgemm"] * 4
    assert first.arguments == parameters.arguments == last.arguments == data
    assert packed.arguments[:8] == memory.to_bytes(8, "little")
    assert packed.arguments[8:] == b"\0\0\xc0\x3f\x07\0\0\0"
    assert (first.grid, first.block, first.dynamic_lds) == ((1, 2, 3), (16, 16, 1), 4)
    assert first.pointers == (0, 8, 16, 24)
    assert capture.contents(first.code) == (OWN / "sgemm.co").read_bytes()
    assert capture.notes == ("a call of hipLaunchKernel is not recorded: use argpack capture",)
    assert capture.problems == ()
    assert capture.processes[0].ended


def test_buffers_before_and_after_are_recorded(recorded):
    capture, memory, other, _ = recorded(buffers=True)
    first, *_, last = capture.launches
    assert [(each.address, each.size) for each in first.memory] == [(memory, 64), (other, 32)]
    assert capture.contents(first.memory[0].before) == bytes(64)
    assert capture.contents(first.memory[0].after) == b"\x01" + bytes(63)
    assert [each.address for each in last.memory] == [memory]
    assert capture.contents(last.memory[0].before)[0] == 3


def test_the_pattern_chooses_kernels(recorded):
    assert recorded(kernel="f4gemm")[0].launches == ()


TUPLE = """
import ctypes, sys
from pathlib import Path
from argpack.capture.recording import recording
from hip import hip
with recording(sys.argv[2]):
    module = hip.hipModuleLoadData(Path(sys.argv[1]).read_bytes())[1]
    function = hip.hipModuleGetFunction(module, sys.argv[3].encode())[1]
    d, a, b, scale_a, scale_b = (hip.hipMalloc(64)[1] for _ in range(5))
    words = [ctypes.c_uint32(at) for at in range(16)]
    arguments = (d, None, a, b, ctypes.c_float(1), ctypes.c_float(0), *words[:11], scale_a, scale_b, *words[11:])
    hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, None, None, arguments)
"""


def test_a_bare_tuple_of_hip_python_is_too_short_for_slots_of_16_bytes(
    programs, kernels_dir, tmp_path, capsys
):
    """hip-python aligns to the size of each value, 8 at most: C lies at 8, where the kernel reads it at 16."""
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
    kernel = f"_ZN5aiter{len(name)}{name}E"
    out = tmp_path / "tuple.capture"
    (tmp_path / "lib").symlink_to(programs.env["LD_LIBRARY_PATH"])
    command = [sys.executable, "-c", TUPLE, kernels_dir / f"gfx950/f4gemm/{name}.co", out, kernel]
    subprocess.run(command, env={**programs.env, "ROCM_PATH": str(tmp_path)}, check=True)
    assert len(read(out).launches[0].arguments) == 124
    assert main(["show", str(out)]) == 2
    assert (
        "aiter_f4gemm: expected 372 bytes, found 124, 248 short; missing: stride_C0 at 0x80"
        in capsys.readouterr().err
    )
