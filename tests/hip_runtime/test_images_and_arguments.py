"""Bundles that cannot be used, and arguments that the runtime itself passes."""

import dataclasses
import struct

import pytest

from argpack.codeobject import Argument, read
from argpack.hip_runtime.arguments import fill_hidden
from argpack.hip_runtime.errors import CallError, Code
from argpack.hip_runtime.images import load
from argpack.kernels import OWN

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def entry(offset, size, name):
    return struct.pack("<QQQ", offset, size, len(name)) + name


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (MAGIC, Code.INVALID_IMAGE, "offload bundle 1: cut off"),
        (
            MAGIC + struct.pack("<Q", 2) + entry(0, 0, b"host-x"),
            Code.INVALID_IMAGE,
            "offload bundle 1: cut off",
        ),
        (MAGIC + struct.pack("<Q", 1) + entry(0, 0, b"\xff"), Code.INVALID_IMAGE, "damaged: an entry's name"),
        (
            MAGIC + struct.pack("<Q", 0),
            Code.NO_BINARY_FOR_GPU,
            "bundle of nothing, the device is gfx950:sramecc",
        ),
        (
            MAGIC + struct.pack("<Q", 1) + entry(0, 0, b"hipv4-amdgcn-amd-amdhsa--gfx1100"),
            Code.NO_BINARY_FOR_GPU,
            "bundle of hipv4-amdgcn-amd-amdhsa--gfx1100, the device is gfx950",
        ),
        (
            MAGIC + struct.pack("<Q", 1) + entry(0, 8, b"hipv4-amdgcn-amd-amdhsa--gfx950"),
            Code.INVALID_IMAGE,
            "x.co, hipv4-amdgcn-amd-amdhsa--gfx950: a text file, not a code object",
        ),
        (
            b"CCOB" + bytes(20),
            Code.INVALID_IMAGE,
            "compressed offload bundle at 0x0: expected version 1, 2 or 3",
        ),
        (b"\x7fELF" + bytes(60), Code.INVALID_IMAGE, "x.co: "),
    ],
)
def test_an_image_that_cannot_be_used_says_why(data, code, reason):
    with pytest.raises(CallError, match=reason) as caught:
        load(data, source="x.co")
    assert caught.value.code == code


def test_hidden_arguments_go_each_to_its_own_offset():
    # As in kernels whose hidden arguments begin at an odd byte and are followed by a visible one.
    kernel = dataclasses.replace(
        read(OWN / "sgemm.co").kernels[0],
        arguments=(
            Argument("x", 0, 8, "by_value"),
            Argument(None, 9, 4, "hidden_block_count_x"),
            Argument(None, 13, 2, "hidden_group_size_y"),
            Argument(None, 15, 8, "hidden_global_offset_x"),
            Argument(None, 23, 2, "hidden_grid_dims"),
            Argument("y", 25, 4, "by_value"),
            Argument(None, 400, 8, "hidden_hostcall_buffer"),
        ),
    )
    segment = bytearray(b"\xaa" * 32)
    fill_hidden(segment, kernel, (300, 2, 1), (64, 4, 1))
    assert segment.hex(" ") == (
        "aa aa aa aa aa aa aa aa aa 2c 01 00 00 04 00 00 00 00 00 00 00 00 00 02 00 aa aa aa aa aa aa aa"
    )
