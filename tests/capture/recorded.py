"""Writes the capture that a launch on a backend would have given, without the preload library."""

import struct

from argpack.capture import layout
from argpack.capture.writer import CaptureWriter

BASE = 0x7E00_0000_0000
LAUNCH = struct.Struct("<QQQII3I3IIIII")


def record(path, launch, result, *, change=None, buffers=True):
    """`change(name, before)` may replace the contents before the launch of a buffer."""
    writer = CaptureWriter(path)
    kinds = {"global_buffer": layout.POINTER, "by_value": layout.BY_VALUE}
    table = [(a.offset, a.size, kinds.get(a.kind, layout.HIDDEN)) for a in launch.kernel.arguments]
    writer.kernel(5, launch.kernel.name, launch.code_object.data, table)
    addresses = {buffer.name: BASE + (i << 32) for i, buffer in enumerate(launch.buffers)}
    arguments = bytearray(launch.arguments)
    for relocation in launch.relocations:
        struct.pack_into("<Q", arguments, relocation.offset, addresses[relocation.buffer] + relocation.addend)
    before, after = b"", b""
    for buffer in launch.buffers if buffers else ():
        data = buffer.data.tobytes()
        data = change(buffer.name, data) if change else data
        place = (addresses[buffer.name], len(data))
        before += layout.MEMORY.pack(*place, writer.blob(data))
        after += layout.MEMORY.pack(*place, writer.blob(result.buffers[buffer.name].tobytes()))
    count = len(before) // layout.MEMORY.size
    sizes = (*launch.grid, *launch.block)
    head = LAUNCH.pack(5, launch.dynamic_lds, 0, 0, 0, *sizes, layout.EXTRA, len(arguments), count, 0)
    number = writer.write(layout.LAUNCH, head + arguments + before)
    if buffers:
        writer.write(layout.RESULT, layout.RESULT_HEAD.pack(number, 0, count, 0) + after)
    writer.close()
