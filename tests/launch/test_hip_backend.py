import dataclasses
import struct
import sys
from collections import Counter

import numpy as np
import pytest

from argpack.codeobject import TargetId, read
from argpack.errors import InputError, RefusedError, UnavailableError
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.hip_backend import GUARD_BYTES, argument_buffer, check_launch, mismatch, open_hip
from argpack.launch.hip_runtime import HipError, _not_loaded, _text

OPENED_AND_CLOSED = (
    ("hipModuleLoadData", "hipModuleUnload"),
    ("hipMalloc", "hipFree"),
    ("hipEventCreate", "hipEventDestroy"),
)
MISSING = "cannot open shared object file: No such file or directory"
CALLS_OF_A_RUN = (
    "hipInit",
    "hipGetDeviceCount",
    "hipGetDevicePropertiesR0600",
    "hipRuntimeGetVersion",
    "hipSetDevice",
    "hipModuleLoadData",
    "hipModuleGetFunction",
    "hipMalloc",
    "hipMemcpy",
    "hipEventCreate",
    "hipEventRecord",
    "hipModuleLaunchKernel",
    "hipEventSynchronize",
    "hipEventElapsedTime",
    "hipEventDestroy",
    "hipFree",
    "hipModuleUnload",
)


@pytest.fixture
def scenario(f4gemm, tmp_path):
    """372 bytes of arguments as f4gemm's host passes them: D at 0, A 16 bytes into its buffer at 0x20."""
    arguments = bytearray(i % 251 for i in range(372))
    return {
        "code": str(f4gemm),
        "arguments": arguments.hex(),
        "relocations": [[0, "D", 0], [0x20, "A", 16]],
        "buffers": [["D", 24], ["A", 40]],
        "env": {"FAKE_HIP_LOG": str(tmp_path / "log")},
    }


def calls(tmp_path):
    return (tmp_path / "log").read_text().splitlines()


def counted(tmp_path):
    return Counter(line.split()[0] for line in calls(tmp_path))


def fnv1a(data):
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return struct.pack("<I", value)


def test_a_launch_passes_arguments_and_returns_buffers(fake_hip, scenario, tmp_path):
    answer = fake_hip(scenario)
    (launched,) = [line for line in calls(tmp_path) if line.startswith("hipModuleLaunchKernel")]
    geometry, hexdump = launched.split(" arguments ")
    passed = bytes.fromhex(hexdump)
    assert geometry.split(maxsplit=1)[1] == "3 2 1 block 256 1 1 lds 16"
    # The metadata's last argument ends at 384: HIP copies that far, so that 12 zeros follow the host's 372 bytes.
    assert len(passed) == 384
    assert passed[372:] == bytes(12)
    assert passed[8:0x20] == bytes(i % 251 for i in range(8, 0x20))
    assert passed[0x28:372] == bytes(i % 251 for i in range(0x28, 372))
    assert bytes.fromhex(answer["arguments"]) == passed[:372]
    assert bytes.fromhex(answer["buffers"]["D"]) == fnv1a(passed[8:]) + bytes(range(4, 24))
    assert bytes.fromhex(answer["buffers"]["A"]) == bytes(range(40))
    assert answer["seconds"] == 1.5e-3
    assert answer["errors"] == []
    assert answer["progress"] == [[0, 6], [6, 6]]
    assert answer["description"] == "Fake Instinct (gfx950:sramecc+:xnack-), HIP device 0, runtime 7.2.53211"


def test_launches_in_a_row_are_timed_by_one_pair_of_events(fake_hip, scenario, tmp_path):
    # The stand-in's events are 1.5 ms apart.
    assert fake_hip({**scenario, "repeat": 6}) == {"seconds": 0.25e-3}
    made = [line.split()[0] for line in calls(tmp_path)]
    launches = [name for name in made if name in {"hipEventRecord", "hipModuleLaunchKernel"}]
    one = ["hipEventRecord", "hipModuleLaunchKernel", "hipEventRecord"]
    assert launches == [*one, "hipEventRecord", *["hipModuleLaunchKernel"] * 6, "hipEventRecord"]
    counts = counted(tmp_path)
    assert [counts[make] - counts[free] for make, free in OPENED_AND_CLOSED] == [0, 0, 0]


def test_a_timed_launch_that_fails_is_named(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_FAIL"] = "hipModuleLaunchKernel=719"
    answer = fake_hip({**scenario, "repeat": 6})
    assert answer["error"] == "HipError"
    assert answer["message"].endswith("hipModuleLaunchKernel: hipErrorLaunchFailure (719)")


def test_pointers_are_addresses_of_aligned_buffers(fake_hip, scenario):
    arguments = bytes.fromhex(fake_hip(scenario)["arguments"])
    (d,), (a,) = struct.unpack_from("<Q", arguments), struct.unpack_from("<Q", arguments, 0x20)
    assert d % 4096 == 0
    assert a % 4096 == 16
    assert abs(d - a) > GUARD_BYTES


def test_an_empty_buffer_has_an_address_and_guard_zones(fake_hip, scenario):
    scenario["buffers"].append(["empty", 0])
    answer = fake_hip(scenario)
    assert answer["buffers"]["empty"] == ""
    assert answer["errors"] == []


def test_a_run_makes_only_calls_that_the_failure_test_covers(fake_hip, scenario, tmp_path):
    fake_hip(scenario)
    assert set(counted(tmp_path)) == set(CALLS_OF_A_RUN)


@pytest.mark.parametrize("name", CALLS_OF_A_RUN)
def test_each_call_that_fails_is_named_and_everything_is_freed(fake_hip, scenario, tmp_path, name):
    scenario["env"]["FAKE_HIP_FAIL"] = f"{name}=700"
    answer = fake_hip(scenario)
    assert answer["error"] == "HipError"
    assert f"{name.removesuffix('R0600')}: hipErrorIllegalAddress (700)" in answer["message"]
    opened = counted(tmp_path)
    for make, free in OPENED_AND_CLOSED:
        assert opened[free] == opened[make] - (make == name), (make, free)


def test_the_message_of_a_failed_call_names_file_and_kernel(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_FAIL"] = "hipModuleGetFunction=500"
    message = fake_hip(scenario)["message"]
    assert message.startswith(f"{scenario['code']}: kernel '_ZN5aiter")
    assert message.endswith("hipModuleGetFunction: hipErrorNotFound (500)")


def test_a_failure_to_free_does_not_hide_the_first_error(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_FAIL"] = "hipModuleLaunchKernel=719,hipFree=1,hipModuleUnload=400"
    assert "hipModuleLaunchKernel: hipErrorLaunchFailure (719)" in fake_hip(scenario)["message"]


def test_an_image_that_hip_does_not_load_is_shown_with_both_targets(fake_hip, scenario):
    answer = fake_hip({**scenario, "image": "00" * 64})
    assert answer["message"].endswith(
        "hipModuleLoadData: hipErrorInvalidImage (200): code object V6 for gfx950, "
        "device gfx950:sramecc+:xnack-, runtime 7.2.53211"
    )


def test_an_error_code_newer_than_hip_python_is_still_an_error(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_FAIL"] = "hipMalloc=54321"
    answer = fake_hip(scenario)
    assert answer["error"] == "HipError"
    assert "hipMalloc: 54321" in answer["message"]


@pytest.mark.parametrize(
    ("stray", "where"),
    [
        ("24", "1 bytes changed behind 'D' (24 bytes), between D+0x18 and D+0x18"),
        ("65559", "1 bytes changed behind 'D' (24 bytes), between D+0x10017 and D+0x10017"),
        ("-1", "1 bytes changed before 'D' (24 bytes), between D-0x1 and D-0x1"),
        ("-65536", "1 bytes changed before 'D' (24 bytes), between D-0x10000 and D-0x10000"),
    ],
)
def test_a_store_into_a_guard_zone_is_reported(fake_hip, scenario, stray, where):
    scenario["env"]["FAKE_HIP_STRAY"] = stray
    assert fake_hip(scenario)["errors"] == [f"store outside every buffer: {where}"]


def test_a_store_to_the_last_byte_of_a_buffer_is_no_error(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_STRAY"] = "23"
    answer = fake_hip(scenario)
    assert answer["errors"] == []
    assert bytes.fromhex(answer["buffers"]["D"])[4:] == bytes([*range(4, 23), 0x5A])


def test_a_code_object_for_another_feature_setting_is_not_loaded(fake_hip, scenario, tmp_path):
    answer = fake_hip({**scenario, "target": "gfx950:xnack+", "device": "gfx950"})
    assert answer["error"] == "UnavailableError"
    assert answer["message"] == (
        f"{scenario['code']}: the code object (gfx950:xnack+) needs xnack+, the device is gfx950:sramecc+:xnack-"
    )
    assert "hipModuleLoadData" not in counted(tmp_path)


def test_no_device_fits_is_told_with_every_device(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_ARCH"] = "gfx942:sramecc+:xnack-,gfx90a:sramecc+:xnack-"
    assert fake_hip(scenario)["message"] == (
        "no HIP device fits: the code object is for gfx950, the device is gfx942:sramecc+:xnack-; "
        "the code object is for gfx950, the device is gfx90a:sramecc+:xnack-"
    )


def test_the_first_device_that_fits_runs_the_kernel(fake_hip, scenario, tmp_path):
    scenario["env"]["FAKE_HIP_ARCH"] = "gfx1100,gfx950:sramecc+:xnack-,gfx950:sramecc-:xnack-"
    assert "HIP device 1" in fake_hip(scenario)["description"]
    assert "hipSetDevice 1" in calls(tmp_path)


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"FAKE_HIP_FAIL": "hipInit=100"}, "no HIP device (hipInit: hipErrorNoDevice (100))"),
        (
            {"FAKE_HIP_FAIL": "hipGetDeviceCount=100"},
            "no HIP device (hipGetDeviceCount: hipErrorNoDevice (100))",
        ),
        ({"FAKE_HIP_ARCH": ""}, "no HIP device (hipGetDeviceCount counts 0)"),
    ],
)
def test_no_device_is_unavailable(fake_hip, scenario, env, message):
    scenario["env"].update(env)
    assert fake_hip(scenario) == {"error": "UnavailableError", "message": message}


def test_a_second_hip_runtime_in_the_process_is_named(fake_hip, scenario, tmp_path):
    second = tmp_path / "libamdhip64.so.6"
    description = fake_hip({**scenario, "map a copy": str(second)})["description"]
    assert ", beside another HIP runtime in this process: " in description
    assert str(second) in description


def test_a_device_name_from_a_struct_that_moved_is_refused(fake_hip, scenario):
    scenario["env"]["FAKE_HIP_ARCH"] = "\x01garbage"
    answer = fake_hip(scenario)
    assert answer["error"] == "HipError"
    assert (
        "hipGetDeviceProperties: device 0: expected gfx… as its name, found '\\x01garbage'"
        in answer["message"]
    )


def test_a_runtime_that_does_not_load_is_unavailable(broken_hip, scenario):
    answer = broken_hip(scenario)
    assert answer["error"] == "UnavailableError"
    assert answer["message"].startswith("no HIP runtime (")
    assert answer["message"].endswith("/lib/libamdhip64.so: file too short)")


def test_hip_python_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "hip", None)
    with pytest.raises(
        UnavailableError, match=r"^hip-python is not installed: pip install 'argpack\[hip\]'$"
    ):
        open_hip(TargetId("gfx950"))


def test_hip_python_that_does_not_import_says_why(monkeypatch, tmp_path):
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "__init__.py").write_text("import missing_piece")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hip", raising=False)
    with pytest.raises(
        UnavailableError, match=r"^hip-python cannot be imported: No module named 'missing_piece'$"
    ):
        open_hip(TargetId("gfx950"))


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (  # hip-python 6.3 to 10 without ROCm
            f"failed to dlopen 'b'libamdhip64.so'': b'libamdhip64.so: {MISSING}'",
            UnavailableError,
            "no HIP runtime (libamdhip64.so not found)",
        ),
        (  # the runtime is there, a library that it needs is not
            f"failed to dlopen 'b'/opt/rocm/lib/libamdhip64.so'': b'libhsa-runtime64.so.1: {MISSING}'",
            UnavailableError,
            f"no HIP runtime (libhsa-runtime64.so.1: {MISSING})",
        ),
        (
            "failed to dlsym 'b'hipX'': b'undefined'",
            HipError,
            "hipX: failed to dlsym 'b'hipX'': b'undefined'",
        ),
    ],
)
def test_what_hip_python_says_of_a_library_becomes_one_line(text, kind, message):
    error = _not_loaded("hipX", text)
    assert type(error) is kind
    assert str(error) == message


@pytest.mark.parametrize("value", [b"gfx950", "gfx950"])
def test_names_are_bytes_up_to_hip_python_7_and_text_from_10(value):
    assert _text(value) == "gfx950"


# The rules that need no device.


@pytest.fixture
def launch(f4gemm):
    code = read(f4gemm)
    data = np.zeros(24, np.uint8)
    return Launch(
        code, code.kernels[0], bytes(372), (Relocation(0, "D"),), (Buffer("D", data),), (1, 1, 1), (256, 1, 1)
    )


def changed(launch, **values):
    return dataclasses.replace(launch, **values)


@pytest.mark.parametrize(
    ("grid", "block", "refused"),
    [
        ((2**24, 1, 1), (256, 1, 1), True),
        ((2**24 - 1, 1, 1), (256, 1, 1), False),
        ((1, 2**32, 1), (1, 1, 1), True),
        ((1, 1, 2**32 - 1), (256, 1, 1), False),
    ],
)
def test_grid_times_block_reaches_2_to_the_32_in_one_dimension(launch, grid, block, refused):
    launch = changed(launch, grid=grid, block=block)
    if not refused:
        check_launch(launch)
        return
    with pytest.raises(
        RefusedError, match=r"blocks × \d+ work-items = 4294967296, HIP launches fewer than 2\^32"
    ):
        check_launch(launch)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ({"grid": (1, 0, 1)}, InputError, "grid 1×0×1, block 256×1×1: expected 1 or more"),
        (
            {"block": (256, 2, 1)},
            RefusedError,
            "block 256×2×1 has 512 work-items, the kernel declares at most 256",
        ),
        ({"dynamic_lds": -1}, InputError, "dynamic LDS: expected 0 to"),
        (
            {"relocations": (Relocation(365, "D"),)},
            InputError,
            "relocation at 0x16d: expected 8 bytes inside the 372",
        ),
        (
            {"relocations": (Relocation(-8, "D"),)},
            InputError,
            "relocation at -0x8: expected 8 bytes inside the 372",
        ),
        (
            {"relocations": (Relocation(0, "E"),)},
            InputError,
            r"expected one of the buffers \['D'\], found 'E'",
        ),
        ({"relocations": (Relocation(0, "D", -(2**50)),)}, InputError, "is no 64-bit address"),
        ({"buffers": (Buffer("D", np.zeros(2, np.float32)),)}, InputError, "expected uint8 .* found float32"),
        (
            {"buffers": (Buffer("D", np.zeros((2, 2), np.uint8)),)},
            InputError,
            r"found uint8 of shape \(2, 2\)",
        ),
        ({"buffers": (Buffer("D", np.zeros(2, np.uint8)),) * 2}, InputError, "'D': the name is given twice"),
    ],
)
def test_a_launch_that_does_not_fit_is_refused_before_it_reaches_the_device(launch, values, kind, message):
    with pytest.raises(kind, match=message):
        check_launch(changed(launch, **values))


def test_arguments_without_any_in_the_metadata_are_refused(launch):
    kernel = dataclasses.replace(launch.kernel, arguments=())
    with pytest.raises(RefusedError, match="declares no arguments, so HIP would pass none of the 372 bytes"):
        check_launch(changed(launch, kernel=kernel))
    check_launch(changed(launch, kernel=kernel, arguments=b"", relocations=()))


def test_a_kernel_that_needs_workgroup_clusters_is_refused(launch):
    kernel = dataclasses.replace(launch.kernel, cluster_size=(4, 4, 1))
    with pytest.raises(
        RefusedError, match="clusters of 4×4×1, says its metadata, and hipModuleLaunchKernel starts none"
    ):
        check_launch(changed(launch, kernel=kernel))


@pytest.mark.parametrize(
    ("source", "name", "processor", "clusters"),
    [
        ("f4gemm_bf16_mxfp4_BpreShuffle_256x256_4x4_ps.co", "f4gemm_mxfp4_256x256_apre0", "gfx1250", "4×4×1"),
        ("x.co", "_ZN5aiter40f8gemm_bf16_mxfp8fp8_64x512_4x1E", "gfx1250", "4×1×1"),
        ("f4gemm_bf16_mxfp4_256x256_4x4_ps.co", "k", "gfx950", None),
        ("f4gemm_256x256.co", "f4gemm_16x16_256x256", "gfx1250", None),
        ("f4gemm_256x256_1x1.co", "k", "gfx1250", None),
    ],
)
def test_clusters_that_only_the_name_tells_are_refused_too(launch, source, name, processor, clusters):
    code_object = dataclasses.replace(launch.code_object, source=source, target=TargetId(processor))
    found = changed(
        launch,
        code_object=code_object,
        kernel=dataclasses.replace(launch.kernel, name=name, cluster_size=None),
    )
    if clusters is None:
        check_launch(found)
        return
    with pytest.raises(RefusedError, match=f"clusters of {clusters}, says its name, "):
        check_launch(found)


def test_a_buffer_longer_than_the_declared_arguments_is_passed_whole(launch):
    launch = changed(launch, arguments=bytes(range(200)) * 2)
    assert (
        argument_buffer(launch, {"D": 0x1122334455667788})[:16].hex()
        == "8877665544332211" + "08090a0b0c0d0e0f"
    )
    assert len(argument_buffer(launch, {"D": 0})) == 400


@pytest.mark.parametrize(
    ("code", "device", "fits"),
    [
        ("gfx950", "gfx950:sramecc+:xnack-", True),
        ("gfx950:xnack-", "gfx950:sramecc+:xnack-", True),
        ("gfx950:sramecc+:xnack-", "gfx950:sramecc+:xnack-", True),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-", False),
        ("gfx950:sramecc-", "gfx950:sramecc+:xnack-", False),
        ("gfx942", "gfx950:sramecc+:xnack-", False),
        ("gfx950", "gfx1999", False),
    ],
)
def test_any_matches_all_and_a_set_feature_only_itself(code, device, fits):
    assert (mismatch(TargetId.from_text(code), device) is None) is fits


def test_a_device_newer_than_the_table_is_named():
    assert "the device is gfx1999" in mismatch(TargetId("gfx950"), "gfx1999")
