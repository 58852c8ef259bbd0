"""hip-python and the HIP backend on the emulated runtime: the same calls that run on a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.codeobject import TargetId
from argpack.hip_runtime import device
from argpack.hip_runtime.errors import NAMES

KERNELS = Path(__file__).parents[1] / "kernels"
# Fields of hipDeviceProp_t and what the emulated device has.
PROPERTIES = {
    "name": "AMD Instinct MI355X, emulated by argpack",
    "gcnArchName": "gfx950:sramecc+:xnack-",
    "totalGlobalMem": 288 * 2**30,
    "sharedMemPerBlock": 163840,
    "warpSize": 64,
    "memPitch": 2**31 - 1,
    "maxThreadsPerBlock": 1024,
    "clockRate": 2_400_000,
    "major": 9,
    "minor": 5,
    "multiProcessorCount": 256,
    "canMapHostMemory": 1,
    "concurrentKernels": 1,
    "unifiedAddressing": 1,
    "memoryBusWidth": 8192,
    "l2CacheSize": 4194304,
    "maxThreadsPerMultiProcessor": 2048,
    "sharedMemPerMultiprocessor": 163840,
    "sharedMemPerBlockOptin": 163840,
    "maxSharedMemoryPerMultiProcessor": 163840,
    "clockInstructionRate": 100_000,
    "asicRevision": 0,
}
ATTRIBUTES = {
    "EccEnabled": 1,
    "WarpSize": 64,
    "MultiprocessorCount": 256,
    "MaxThreadsPerBlock": 1024,
    "MaxBlockDimX": 1024,
    "MaxGridDimX": 2**31 - 1,
    "MaxGridDimY": 65536,
    "MaxSharedMemoryPerBlock": 163840,
    "MaxRegistersPerBlock": 131072,
    "ComputeCapabilityMajor": 9,
    "ComputeCapabilityMinor": 5,
    "ClockRate": 2_400_000,
    "L2CacheSize": 4194304,
    "TotalGlobalMem": 2**31 - 1,
    "NumberOfXccs": 8,
    "PhysicalMultiProcessorCount": 256,
    "ManagedMemory": 0,
}
ASK = """
import json, sys
from hip import hip
properties, attributes = json.load(sys.stdin)
code, found = hip.hipGetDeviceProperties(0)
assert code == 0
text = lambda value: value.decode() if isinstance(value, bytes) else value if isinstance(value, int) else str(value)
answer = {name: text(getattr(found, name)) for name in properties}
numbers = {}
for name in attributes:
    code, numbers[name] = hip.hipDeviceGetAttribute(getattr(hip.hipDeviceAttribute_t, "hipDeviceAttribute" + name), 0)
    assert code == 0, name
codes = {code.value: text(hip.hipGetErrorName(code)[-1]) for code in hip.hipError_t}
print(json.dumps([answer, numbers, codes, text(hip.hipGetErrorString(hip.hipError_t(98))[-1])]))
"""


@pytest.fixture(scope="module")
def answers(on_emulator):
    done = on_emulator(sys.executable, "-c", ASK, input=json.dumps([list(PROPERTIES), list(ATTRIBUTES)]))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_properties_lie_where_hip_python_reads_them(answers):
    assert answers[0] == PROPERTIES


def test_attributes_have_the_numbers_of_hip_python(answers):
    assert answers[1] == ATTRIBUTES


def test_every_error_code_has_its_name(answers):
    assert {int(code): name for code, name in answers[2].items()} == {
        code: name for code, name in NAMES.items() if str(code) in answers[2]
    }
    assert len(answers[2]) >= 70
    assert answers[3] == "invalid device function"


def test_the_old_properties_struct_is_that_of_hip_5():
    # sizeof and offsetof of hipDeviceProp_t, printed by a program built with HIP 5.2's header.
    old = device.properties("R0000")
    assert len(old) == 792
    numbers = {
        256: (8, 288 * 2**30),  # totalGlobalMem
        264: (8, 163840),  # sharedMemPerBlock
        276: (4, 64),  # warpSize
        280: (4, 1024),  # maxThreadsPerBlock
        336: (4, 256),  # multiProcessorCount
        340: (4, 4194304),  # l2CacheSize
        352: (4, 100_000),  # clockInstructionRate
        360: (4, 1),  # concurrentKernels
        376: (8, 163840),  # maxSharedMemoryPerMultiProcessor
        388: (4, 1),  # canMapHostMemory
        712: (8, 2**31 - 1),  # memPitch
        740: (4, 1),  # ECCEnabled
    }
    found = {at: (size, int.from_bytes(old[at : at + size], "little")) for at, (size, _) in numbers.items()}
    assert found == numbers
    assert old[396:].split(b"\0")[0] == b"gfx950:sramecc+:xnack-"
    assert TargetId.from_text(device.TARGET) == TargetId("gfx950", "+", "-")


@pytest.mark.parametrize("name", ["BpreShuffle_256x256", "noBpreShuffle_256x256"])
def test_verify_passes_on_the_hip_backend(on_emulator, kernels_dir, name):
    command = (sys.executable, "-m", "argpack", "verify", f"f4gemm_bf16_per1x32Fp4_{name}.co")
    sizes = ("-m", 200, "-n", 256, "-k", 512)
    done = on_emulator(*command, *sizes, "--backend", "hip", "--kernels", kernels_dir)
    assert done.returncode == 0, done.stderr
    assert "PASS  51200 outputs" in done.stdout
    assert (
        "on AMD Instinct MI355X, emulated by argpack (gfx950:sramecc+:xnack-), HIP device 0, runtime 7.2.0"
        in (done.stdout)
    )


def test_repeat_prints_the_time_of_a_launch_and_what_it_computes_a_second(on_emulator):
    command = (sys.executable, "-m", "argpack", "verify", "--backend", "hip", "--repeat", 2)
    done = on_emulator(*command, "own/sgemm", "-m", 100, "-n", 60, "-k", 500)
    assert done.returncode == 0, done.stderr
    assert " a launch, the mean of 2 in a row: " in done.stdout
    assert done.stdout.endswith(" TFLOP/s (2·M·N·K operations)\n")
    many = on_emulator(*command, "sgem*", "-m", 100, "-n", 60, "-k", 500)
    assert many.stdout.splitlines()[0].endswith("seconds  a launch  TFLOP/s")
    as_json = on_emulator(*command, "own/sgemm", "-m", 100, "-n", 60, "-k", 500, "--json")
    timed = json.loads(as_json.stdout)["repeat"]
    assert timed["launches"] == 2
    assert timed["tflops"] * timed["seconds_a_launch"] == pytest.approx(6e-6)


def test_the_kernel_tests_of_a_gpu_pass(on_emulator):
    options = ("-q", "-n0", "-p", "no:cacheprovider", "--backend", "hip", "-k", "not any_shape")
    done = on_emulator(sys.executable, "-m", "pytest", *options, KERNELS / "test_own_sgemm.py")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_a_read_past_the_end_is_told_and_does_no_harm(on_emulator):
    script = """
import ctypes, struct
from pathlib import Path
from hip import hip
import argpack.kernels
image = (argpack.kernels.OWN / "sgemm.co").read_bytes()
module = hip.hipModuleLoadData(image)[1]
function = hip.hipModuleGetFunction(module, b"argpack_sgemm")[1]
a, d = (int(hip.hipMalloc(size)[1]) for size in (4, 1024))
packed = struct.pack("<QQQQffIIIIIII", d, 0, a, d, 1, 0, 1, 1, 2, 1, 1, 1, 1)
buffer = ctypes.create_string_buffer(packed)
size = ctypes.c_size_t(len(packed))
extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
print(hip.hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, None, None, ctypes.addressof(extra))[0].name)
size.value = 64
print(hip.hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, None, None, ctypes.addressof(extra))[0].name)
"""
    done = on_emulator(sys.executable, "-c", script)
    assert done.stdout.split() == ["hipSuccess", "hipSuccess"], done.stderr
    past, short = [line for line in done.stderr.splitlines() if "argpack hip" in line][:2]
    assert "argpack_sgemm: 4 bytes read past the end of hipMalloc #1 (4 bytes)" in past
    assert "the argument buffer has 64 bytes, stride_B ends at 68: HIP reads what lies behind" in short


def test_the_name_of_a_kernel_may_lie_across_two_pages(on_emulator):
    script = """
import ctypes, mmap
from hip import hip
import argpack.kernels
module = hip.hipModuleLoadData((argpack.kernels.OWN / "sgemm.co").read_bytes())[1]
pages = mmap.mmap(-1, 3 * 4096)
start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
get = ctypes.CDLL("libamdhip64.so").hipModuleGetFunction
for at in (4096 - 5, 8192 - 14):
    pages[at:at + 14] = b"argpack_sgemm\\0"
    function = ctypes.c_void_p()
    print(get(ctypes.byref(function), ctypes.c_void_p(int(module)), ctypes.c_void_p(start + at)))
pages[:] = b"x" * len(pages)
print(get(ctypes.byref(function), ctypes.c_void_p(int(module)), ctypes.c_void_p(start)))
"""
    done = on_emulator(sys.executable, "-c", script)
    assert done.stdout.split() == ["0", "0", "1"], done.stderr
    assert "has no end" in done.stderr


def test_the_emulator_ends_with_a_program_that_is_killed(on_emulator):
    script = """
import os, signal
from hip import hip
hip.hipInit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = on_emulator(sys.executable, "-c", script)
    # stderr is read to its end: nobody holds it open any more.
    assert done.returncode == -9
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (("sh", "-c", "exit 7"), 7, ""),
        (
            ("no-such-program",),
            2,
            "argpack: error: no-such-program: expected a program, found none of that name\n",
        ),
        ((), 2, "argpack: error: expected a program behind --, as in `argpack hip -- ./my_program`\n"),
    ],
)
def test_the_exit_code_is_the_programs(on_emulator, command, code, error):
    done = on_emulator(*command)
    assert (done.returncode, done.stderr) == (code, error)


def test_the_loader_finds_the_emulated_runtime_first(on_emulator, hip_root):
    done = on_emulator("sh", "-c", "echo $LD_LIBRARY_PATH; echo $ROCM_PATH", cwd=hip_root)
    others = os.environ.get("LD_LIBRARY_PATH")
    assert done.stdout.splitlines()[0] == f"{hip_root}/lib{f':{others}' if others else ''}"
    assert done.stdout.splitlines()[1] == str(hip_root)


def test_every_name_is_exported_under_its_version(hip_root, llvm_tool):
    command = [llvm_tool("llvm-readelf"), "--dyn-syms", "-W", hip_root / "lib" / "libamdhip64.so"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    exported = {
        word for line in listed.splitlines() if " FUNC " in line for word in line.split() if "@@" in word
    }
    # As in AMD's libraries: where GEMM libraries built with ROCm 5, 6 and 7 look for them.
    assert exported >= {
        "hipMalloc@@hip_4.2",
        "hipModuleLaunchKernel@@hip_4.2",
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j@@hip_4.2",
        "hipGetDevicePropertiesR0600@@hip_6.0",
        "hipGetFuncBySymbol@@hip_6.2",
        "hipDrvLaunchKernelEx@@hip_6.5",
        "hipLaunchHostFunc@@hip_5.3",
        "hipGraphLaunch@@hip_4.3",
    }
    assert len(exported) > 500
    assert {name.rsplit("@", 1)[1].split("_")[0] for name in exported} == {"hip"}
