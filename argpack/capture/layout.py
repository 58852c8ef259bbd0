"""The bytes of a capture file: header, record header and the fixed part of each record, all little-endian.

The preload library writes the same; docs/capture.md says what each field means.
"""

from __future__ import annotations

import struct

MAGIC = b"argpack capture\n"
VERSION = 1
# magic, version, 4 zero bytes, marker, time, 12 zero bytes, CRC-32 of the 60 bytes before it.
FILE_HEADER = struct.Struct("<16sI4x16sQ12xI")
# marker, kind, payload size, process, sequence, time, thread, 4 zero bytes, CRC-32 of payload and of the header.
RECORD_HEADER = struct.Struct("<16sIIQQQI4xII")
CRC = struct.Struct("<I")

PROCESS, BLOB, KERNEL, LAUNCH, RESULT, NOTE, END = range(1, 8)

PROCESS_HEAD = struct.Struct(
    "<II"
)  # pid, parent's pid; the command line follows, a null byte behind each argument
BLOB_HEAD = struct.Struct("<32sQQ")  # SHA-256 and size of the whole, offset of the bytes that follow
KERNEL_HEAD = struct.Struct("<Q32sIII4x")  # id, SHA-256 of the code, has code, name's size, arguments
ARGUMENT = struct.Struct("<III")  # offset, size, kind
LAUNCH_HEAD = struct.Struct(
    "<QQQII3I3IIIII"
)  # kernel, LDS, stream, API, flags, grid, block, how, size, memory, attrs
MEMORY = struct.Struct("<QQ32s")  # address, size, SHA-256 of the contents
RESULT_HEAD = struct.Struct("<QiII4x")  # the launch's sequence number, error code, memory, flags

NO_ARGUMENT_TABLE = 0xFFFFFFFF
BY_VALUE, POINTER, OTHER, HIDDEN = range(4)
EXTRA, PARAMETERS = 1, 2
NOT_PACKED, NULL_PARAMETER, BAD_EXTRA, STREAM_CAPTURED, MEMORY_LEFT_OUT = (1 << bit for bit in range(5))

# By number; the second says whether the grid counts work-items.
APIS = (
    ("hipModuleLaunchKernel", False),
    ("hipExtModuleLaunchKernel", True),
    ("hipHccModuleLaunchKernel", True),
    ("hipModuleLaunchCooperativeKernel", False),
    ("hipDrvLaunchKernelEx", False),
    ("hipLaunchKernelExC", False),
    ("hipLaunchKernel", False),
    ("hipLaunchKernel_spt", False),
    ("hipLaunchCooperativeKernel", False),
    ("hipExtLaunchKernel", False),
)
