"""What HIP programs get wrong on the emulated runtime: each call gets its error code and a line that says why."""

import re

import pytest

from argpack.kernels import OWN

GFX942 = "gfx942/fmoe_int8_g1u0.co"
# The call: its error, and what its line says.
WRONG = {
    "init with flags": ("InvalidValue", "hipInit: hipErrorInvalidValue: flags 0x7: expected 0"),
    "device 1": ("InvalidDevice", "hipSetDevice: .* there is one device, 0"),
    "properties of device 1": ("InvalidDevice", "hipGetDevicePropertiesR0600: .* there is one device, 0"),
    "properties to null": ("InvalidValue", "the result's address is null"),
    "properties to nowhere": ("InvalidValue", "the host cannot write 1,472 bytes at 0x10"),
    "unknown attribute": ("InvalidValue", "unknown device attribute 5000"),
    "malloc to null": ("InvalidValue", "hipMalloc: .* the result's address is null"),
    "malloc of everything": (
        "OutOfMemory",
        "1,125,899,906,842,624 bytes asked for, 309,237,640,216 are left",
    ),
    "copy too much to the device": (
        "InvalidValue",
        r"1,001 bytes to 0x7e\w+: 1 bytes past the end of hipMalloc #1 \(1,000 bytes\)",
    ),
    "copy too much from the middle": (
        "InvalidValue",
        r"101 bytes from 0x7e\w+: 1 bytes past the end of hipMalloc #1 \(1,000 bytes\)",
    ),
    "copy to null": ("InvalidValue", "8 bytes to a null pointer"),
    "copy from nowhere": ("InvalidValue", "the host cannot read 8 bytes at 0x10"),
    "copy to nowhere": ("InvalidValue", "the host cannot write 8 bytes at 0x10"),
    "copy to read-only memory": ("InvalidValue", r"the host cannot write 8 bytes at 0x\w+"),
    "copy to a device address of no buffer": (
        "InvalidValue",
        r"8 bytes to 0x7e\w+, which is in no allocation",
    ),
    "copy in the wrong direction": ("InvalidValue", "device to host, the addresses are host to device"),
    "copy host to host as device to device": (
        "InvalidValue",
        "device to device, the addresses are host to host",
    ),
    "copy of a kind that is none": ("InvalidMemcpyDirection", "kind 9: expected 0 to 4"),
    "copy on a stream that is none": ("InvalidHandle", r"hipMemcpyAsync: .* 0x\w+ is no stream"),
    "memset past the end": ("InvalidValue", "hipMemset: .* 1 bytes past the end of hipMalloc #1"),
    "memset of the host": ("InvalidValue", r"hipMemset: .* 0x\w+ is no device memory"),
    "memset of unaligned words": ("InvalidValue", r"0x7e\w+2 is no multiple of 4"),
    "attributes of a host pointer": ("InvalidValue", r"0x\w+ is in no allocation"),
    "free of the middle": ("InvalidValue", "is 256 bytes into hipMalloc #1 .*: only its start can be freed"),
    "free of the host": ("InvalidValue", "hipFree: .* was not allocated, or is freed already"),
    "host free of device memory": ("InvalidValue", "is no memory of hipHostMalloc, or is freed already"),
    "double free": ("InvalidValue", r"hipFree: .* 0x7e\w+ was not allocated, or is freed already"),
    "copy to freed memory": ("InvalidValue", r"8 bytes to 0x7e\w+, which is in no allocation"),
    "load of a missing file": (
        "FileNotFound",
        "hipModuleLoad: .*/no such file.co: No such file or directory",
    ),
    "load of text": ("InvalidImage", r"image at 0x\w+: a text file, not a code object \(ELF\)"),
    "load of null": ("InvalidValue", "the image is null"),
    "load from nowhere": ("InvalidValue", "the host cannot read 4 bytes at 0x10"),
    "load for another device": (
        "NoBinaryForGpu",
        r"the code object is for gfx942, the device is gfx950:sramecc\+:xnack-",
    ),
    "load of a newer compressed bundle": (
        "InvalidImage",
        "a compressed offload bundle of version 9, which does not say its size",
    ),
    "load of a damaged file": ("InvalidImage", "is damaged: a size of"),
    "function of a module that is none": ("InvalidHandle", r"0x\w+ is no module"),
    "missing function": ("NotFound", "no kernel 'argpack_sgem'; it has argpack_sgemm"),
    "descriptor instead of function": ("NotFound", "no kernel 'argpack_sgemm.kd'; it has argpack_sgemm"),
    "launch of null": ("InvalidHandle", "0x0 is no function"),
    "launch of a module": ("InvalidHandle", r"0x\w+ is no function"),
    "launch of an unknown function": ("InvalidHandle", r"0x\w+ is no function"),
    "launch without arguments": ("InvalidValue", "argpack_sgemm has 13 arguments, none are given"),
    "launch with both kinds of arguments": ("InvalidValue", "both kernelParams and extra are given"),
    "launch with null parameters": ("InvalidValue", r"kernelParams\[0\] \(ptr_D\) is null"),
    "launch with parameters nowhere": ("InvalidValue", "the host cannot read 104 bytes at 0x10"),
    "launch with a value for its address": (
        "InvalidValue",
        r"kernelParams\[4\] \(alpha\): expected the address of .*: the host cannot read 4 bytes at 0x3f800000",
    ),
    "launch with extra of another tag": (
        "InvalidValue",
        r"extra\[2\]: expected HIP_LAUNCH_PARAM_BUFFER_SIZE, 2, found 0x\w{3,}",
    ),
    "launch with extra in another order": (
        "InvalidValue",
        r"extra\[0\]: expected HIP_LAUNCH_PARAM_BUFFER_POINTER, 1, found 0x2",
    ),
    "launch with extra without an end": (
        "InvalidValue",
        r"extra\[4\]: expected HIP_LAUNCH_PARAM_END, 3, found 0x0",
    ),
    "launch with no bytes": ("InvalidValue", r"extra: 0 bytes of arguments at 0x\w+"),
    "launch of no blocks": ("InvalidConfiguration", "grid 0×1×1, block 64×1×1: expected 1 or more of each"),
    "launch of large blocks": (
        "InvalidConfiguration",
        "block 512×1×1: the kernel takes at most 256 work-items",
    ),
    "launch of 2^32 threads": (
        "InvalidConfiguration",
        r"grid 16777216×1×1, block 256×1×1: blocks × work-items reach 2\^32",
    ),
    "launch with much LDS": ("InvalidValue", "163,841 bytes of LDS, the device has 163,840"),
    "launch of part of a block": (
        "InvalidConfiguration",
        r"hipExtModuleLaunchKernel: .* 100×1×1 threads in blocks of 64×1×1: .*\(this function counts threads",
    ),
    "launch of an unknown symbol": ("InvalidDeviceFunction", "is no host function that stands for a kernel"),
    "function of an unknown symbol": (
        "InvalidDeviceFunction",
        "is no host function that stands for a kernel",
    ),
    "symbol for another device": ("NoBinaryForGpu", "the code object is for gfx942"),
    "symbol after it is gone": ("InvalidDeviceFunction", "is no host function that stands for a kernel"),
    "time of events not recorded": ("InvalidHandle", "the first event is not recorded"),
    "event that is none": ("InvalidHandle", r"0x\w+ is no event"),
    "stream instead of event": ("InvalidHandle", r"0x\w+ is no stream"),
    "stream capture": ("NotSupported", "hipStreamBeginCapture: .* does not have this function"),
    "double unload": ("InvalidHandle", r"hipModuleUnload: .* 0x\w+ is no module"),
    "launch after unload": ("InvalidHandle", r"hipModuleLaunchKernel: .* 0x\w+ is no function"),
    "store to a wild address": (
        "IllegalAddress",
        "memory access fault: 4-byte write to 0x1000, below every buffer, by global_store_dword",
    ),
    "synchronize after a fault": ("IllegalAddress", "hipDeviceSynchronize: .* after the memory access fault"),
    "copy after a fault": ("IllegalAddress", "hipMemcpy: .* after the memory access fault"),
}


@pytest.fixture(scope="module")
def done(program, on_emulator, kernels_dir):
    return on_emulator(program("wrong_host"), OWN / "sgemm.co", kernels_dir / GFX942)


@pytest.fixture(scope="module")
def codes(done):
    return dict(line.split(" = ") for line in done.stdout.splitlines()[:-1])


def test_the_program_comes_to_its_end(done):
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "no error"


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_call_gets_its_code_and_a_reason(done, codes, what):
    name, reason = WRONG[what]
    assert codes[what] == f"hipError{name}"
    lines = [line for line in done.stderr.splitlines() if re.search(reason, line)]
    assert lines, done.stderr
    assert all(line.startswith("argpack hip: ") for line in lines)


def test_everything_else_succeeds_or_is_answered_in_the_host(codes):
    others = {what: code for what, code in codes.items() if what not in WRONG}
    assert {code for what, code in others.items() if what.startswith(("good", "free of null"))} == {
        "hipSuccess"
    }
    assert others["pop without push"] == "hipErrorMissingConfiguration"
    assert others["peek at the last error"] == "hipErrorNotSupported" == others["last error"]
    assert others["last error again"] == "hipSuccess"


def test_what_is_not_supported_is_said_once(done, codes):
    assert codes["second stream capture"] == "hipErrorNotSupported"
    assert done.stderr.count("hipStreamBeginCapture") == 1
