"""What a code object says of itself: target, kernels, sizes, registers and the table of arguments.

KERNEL is a file, a name or a unique part of one. Of an offload bundle with several code objects, or of several bundles
in one file, all entries are listed, and FILE#n shows one. What the metadata and the kernel descriptor say stands side
by side, for they may differ. Exit codes: 0 shown, 1 shown, but a kernel contradicts the family its name puts it in, 2
not read.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from argpack.codeobject import Argument, CodeObject, Kernel, KernelDescriptor
    from argpack.families import Family

_NO_VALUE = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack inspect`."""
    parser.add_argument("kernel", metavar="KERNEL", help="a .co file, a kernel's name or a unique part of it")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Read and print; 0, 1 for a kernel that contradicts its family, or ArgpackError."""
    from argpack.codeobject import bundle, reader
    from argpack.kernels import resolve

    path, chosen = reader.split(resolve(args.kernel, root=args.kernels))
    data = reader.read_bytes(path)
    if chosen is None and bundle.is_bundle(data):
        entries = reader.entries(data, source=path)
        if sum(entry.target is not None and bool(entry.data) for entry in entries) != 1:
            from argpack.cli.inspect_bundle import list_entries

            return list_entries(path, len(data), entries, as_json=args.json)
    code_object = reader.parse(data, source=path, chosen=chosen)
    checked = [(kernel, *_cross_check(kernel, code_object)) for kernel in code_object.kernels]
    if args.json:
        import json

        value = _file_values(code_object)
        value["kernels"] = [_kernel_values(*one) for one in checked]
        print(json.dumps(value, indent=2))
    else:
        print(*_file_lines(code_object), sep="\n")
        for one in checked:
            print("", *_kernel_lines(*one), sep="\n")
    return int(any(contradiction for _, _, _, contradiction in checked))


def _cross_check(
    kernel: Kernel, code_object: CodeObject
) -> tuple[Family | None, tuple[str, ...], str | None]:
    """The kernel's family, what differs from it without harm, and what contradicts it."""
    from argpack.errors import InputError
    from argpack.families.choice import family_of_kernel

    family = None
    try:
        family = family_of_kernel(kernel, code_object)
        if family is None:
            return None, (), None
        return family, family.cross_check(kernel), None
    except InputError as error:
        return family, (), str(error)


def _file_lines(code_object: CodeObject) -> list[str]:
    version = code_object.metadata_version
    metadata = f"metadata {version[0]}.{version[1]}" if version else "metadata without a version"
    declared = f"names {code_object.declared_target}" if code_object.declared_target else "names no target"
    abi = f"code object V{code_object.code_object_version} (ABI version {code_object.abi_version})"
    rows = [
        ("file", f"{code_object.source}, {len(code_object.data)} bytes"),
        ("sha256", code_object.sha256),
        ("target", f"{code_object.target}, {abi}; {metadata}, which {declared}"),
    ]
    if len(code_object.kernels) > 1:
        rows.append(("kernels", str(len(code_object.kernels))))
    return _labelled(rows)


def _kernel_lines(
    kernel: Kernel, family: Family | None, sentences: tuple[str, ...], contradiction: str | None
) -> list[str]:
    rows = [
        ("kernel", kernel.name),
        ("family", family.title if family else "none that argpack knows"),
        *(("" if index else "check", sentence) for index, sentence in enumerate(sentences)),
        *([("check", f"contradicts the family: {contradiction}")] if contradiction else []),
        ("launch", _launch(kernel)),
        ("start", _initial_registers(kernel.descriptor)),
        ("code", f"{kernel.code_size} bytes at {kernel.code_address:#x}"),
        *(("" if index else "notes", note) for index, note in enumerate(_argument_notes(kernel))),
    ]
    return [*_labelled(rows), "", *_sizes(kernel), "", *_arguments(kernel)]


def _launch(kernel: Kernel) -> str:
    size, limit = kernel.required_workgroup_size, kernel.max_flat_workgroup_size
    text = f"at most {limit}" if size is None else f"exactly {_times(size)}"
    if size is not None and math.prod(size) != limit:
        text += f" (at most {limit})"
    clusters = f", clusters of {_times(kernel.cluster_size)} workgroups" if kernel.cluster_size else ""
    return f"workgroups of {text} work-items in waves of {kernel.descriptor.wavefront_size} lanes{clusters}"


def _initial_registers(descriptor: KernelDescriptor) -> str:
    """Which registers the hardware sets before the first instruction."""
    parts = [f"{_registers('s', user.register, user.count)} {user.name}" for user in descriptor.user_sgprs]
    register = descriptor.user_sgpr_count
    for enabled, name in (
        (descriptor.workgroup_id_x, "workgroup_id_x"),
        (descriptor.workgroup_id_y, "workgroup_id_y"),
        (descriptor.workgroup_id_z, "workgroup_id_z"),
        (descriptor.workgroup_info, "workgroup_info"),
    ):
        if enabled:
            parts.append(f"s{register} {name}")
            register += 1
    return ", ".join([*parts, f"v0 work-item id {'xyz'[: descriptor.workitem_id_mode + 1]}"])


def _sizes(kernel: Kernel) -> list[str]:
    """Metadata and descriptor side by side."""
    from argpack.hexdump.table import Line, align

    found = kernel.descriptor
    unified = (
        f"v0 to v{found.vgpr_count - 1}, {found.agpr_count} AGPRs" if found.agpr_count is not None else ""
    )
    rows: list[tuple[str, int, int | None, str]] = [
        ("kernarg segment", kernel.kernarg_segment_size, found.kernarg_size, "bytes"),
        ("LDS", kernel.group_segment_size, found.group_segment_size, "bytes"),
        ("scratch", kernel.private_segment_size, found.private_segment_size, "bytes a work-item"),
        ("wave", kernel.wavefront_size, found.wavefront_size, "lanes"),
        ("vector registers", kernel.vgpr_count, found.vgpr_total, unified),
        ("scalar registers", kernel.sgpr_count, found.sgpr_total, "used, allocated"),
    ]
    cells = [(name, str(declared), _shown(stored), unit) for name, declared, stored, unit in rows]
    header = ("", "metadata", "descriptor", "")
    widths = [max(len(row[column]) for row in (header, *cells)) for column in range(4)]
    return align(
        [
            Line((name, declared.rjust(widths[1]), stored.rjust(widths[2]), unit))
            for name, declared, stored, unit in (header, *cells)
        ],
        colour=False,
    )


def _arguments(kernel: Kernel) -> list[str]:
    """The table of arguments; pads that follow each other share a line."""
    from argpack.hexdump.table import Line, align

    if not kernel.arguments:
        return ["no arguments"]
    groups: list[list[Argument]] = []
    for argument in kernel.arguments:
        if groups and _continues(groups[-1][-1], argument):
            groups[-1].append(argument)
        else:
            groups.append([argument])
    digits = max(3, len(f"{max(argument.offset for argument in kernel.arguments):x}"))
    sizes = [str(sum(argument.size for argument in group)) for group in groups]
    width = max(4, *(len(size) for size in sizes))
    lines = [Line(("offset", "size".rjust(width), "name", "kind", "type", "access"))]
    for group, size in zip(groups, sizes, strict=True):
        first = group[0]
        name = f"{first.name} x {len(group)}" if len(group) > 1 else first.name
        cells = (name, first.kind, first.type or first.type_name, first.actual_access or first.access)
        offset = f"0x{first.offset:0{digits}x}"
        lines.append(Line((offset, size.rjust(width), *(_shown(cell) for cell in cells))))
    return align(lines, colour=False)


def _continues(first: Argument, second: Argument) -> bool:
    """Whether two pads are one pad in two pieces."""
    pads = first.name == second.name == "pad" and first.end == second.offset
    return pads and (first.kind, first.type) == (second.kind, second.type)


def _argument_notes(kernel: Kernel) -> Iterator[str]:
    """What is odd about the arguments that the metadata declares."""
    arguments = sorted(kernel.arguments, key=lambda argument: argument.offset)
    end = max((argument.end for argument in arguments), default=0)
    behind = kernel.kernarg_segment_size - end
    if behind and arguments:
        relation = f"{behind} bytes before" if behind > 0 else f"{-behind} bytes behind"
        yield f"the last argument ends at {end:#x}, {relation} the segment's end"
    for first, second in itertools.pairwise(arguments):
        if second.offset < first.end:
            yield f"arguments {_shown(first.name)} and {_shown(second.name)} overlap at {second.offset:#x}"
    unaligned = [a for a in arguments if a.kind == "global_buffer" and a.size and a.offset % a.size]
    if unaligned:
        yield f"pointers not aligned to their size: {len(unaligned)}, the first at {unaligned[0].offset:#x}"
    if hidden := sum(argument.hidden for argument in arguments):
        yield f"hidden arguments, which the runtime fills in and not the caller: {hidden}"


def _file_values(code_object: CodeObject) -> dict[str, Any]:
    return {
        "file": code_object.source,
        "size": len(code_object.data),
        "sha256": code_object.sha256,
        "target": str(code_object.target),
        "declared_target": code_object.declared_target,
        "abi_version": code_object.abi_version,
        "code_object_version": code_object.code_object_version,
        "metadata_version": code_object.metadata_version,
    }


def _kernel_values(
    kernel: Kernel, family: Family | None, sentences: tuple[str, ...], contradiction: str | None
) -> dict[str, Any]:
    """The kernel's and its descriptor's fields by name, the family by its name."""
    from dataclasses import asdict

    values = asdict(kernel)
    found = kernel.descriptor
    values["descriptor"] |= {
        "wavefront_size": found.wavefront_size,
        "vgpr_total": found.vgpr_total,
        "vgpr_count": found.vgpr_count,
        "agpr_count": found.agpr_count,
        "sgpr_total": found.sgpr_total,
        "user_sgprs": [asdict(user) for user in found.user_sgprs],
    }
    return values | {
        "family": family.name if family else None,
        "cross_check": sentences,
        "contradiction": contradiction,
        "notes": list(_argument_notes(kernel)),
    }


def _labelled(rows: list[tuple[str, str]]) -> list[str]:
    return [f"{label:<8}{text}" for label, text in rows]


def _registers(kind: str, first: int, count: int) -> str:
    return f"{kind}{first}" if count == 1 else f"{kind}[{first}:{first + count - 1}]"


def _times(counts: tuple[int, ...]) -> str:
    return " x ".join(str(count) for count in counts)


def _shown(value: object) -> str:
    return _NO_VALUE if value is None or value == "" else str(value)
