"""What `argpack schema` does: each action prints and returns the exit code. It has no subcommand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.families.family import Family
    from argpack.families.metadata import Disagreement
    from argpack.schema import KernargSchema, Slot


def list_families(*, as_json: bool) -> int:
    """The families, a line each."""
    from argpack.families import family_named, family_names

    families = [family_named(name) for name in family_names()]
    if as_json:
        _print_json(
            [
                {"name": f.name, "title": f.title, "size": f.schema.size, "launches": f.workload is not None}
                for f in families
            ]
        )
        return 0
    rows = [("family", "bytes", "launch", "what it is")]
    rows += [
        (
            f.name,
            str(f.schema.size).rjust(5),
            "yes" if f.workload else "-",
            f.title.partition(": ")[2] or f.title,
        )
        for f in families
    ]
    _print_table(rows)
    return 0


def show(text: str, *, kernels: str | None, as_json: bool, as_toml: bool) -> int:
    """A declared family's schema, a file's, or one derived from a code object's metadata alone."""
    from argpack.cli.emit import text_of
    from argpack.cli.schema_source import kernel_of, source_of
    from argpack.families import family_names
    from argpack.families.choice import family_of_kernel
    from argpack.families.user import family_from_metadata

    hint = ""
    if text.endswith(".toml") or text in family_names():
        family, _ = source_of(text, kernels=kernels)
    else:
        code_object, kernel = kernel_of(text, kernels=kernels)
        declared = family_of_kernel(kernel, code_object)
        family = family_from_metadata(kernel)
        hint = (
            f"its family is {declared.name}: `argpack schema check` holds the two together"
            if declared
            else "it is of no family that argpack declares: nothing confirms the metadata"
        )
    if as_toml:
        print(text_of(family, "toml"), end="")
        return 0
    if as_json:
        _print_json(_schema_values(family))
        return 0
    print(family.title)
    print(
        f"{family.schema.size} bytes, {len(family.schema.fields)} fields", *([hint] if hint else []), sep="\n"
    )
    if family.launch_rule:
        print(f"launch: {family.launch_rule}")
    for note in family.notes:
        print(f"note: {note}")
    print()
    usage = family.usage(family.name)
    rows = [("offset", "size", "name", "type", "unit", "use", "what it is")]
    for slot in family.schema.slots:
        if slot.field is not None:
            field = slot.field
            cells = (
                f"0x{slot.offset:03x}",
                str(slot.size).rjust(4),
                slot.name,
                field.type,
                field.unit or "-",
            )
            rows.append((*cells, usage[slot.name].value, field.doc or "-"))
    _print_table(rows)
    return 0


def check(text: str, against: str | None, *, kernels: str | None, as_json: bool) -> int:
    """Metadata against a declared schema; 1 where they contradict."""
    from argpack.cli.schema_source import kernel_of, source_of
    from argpack.errors import InputError
    from argpack.families.choice import family_of_kernel
    from argpack.families.metadata import disagreements, is_pad

    code_object, kernel = kernel_of(text, kernels=kernels)
    family = source_of(against, kernels=kernels).family if against else family_of_kernel(kernel, code_object)
    if family is None:
        raise InputError(
            f"{code_object.source}: {kernel.name} is of no family that argpack declares: name a schema with --schema"
        )
    found = disagreements(family, kernel)
    wrong = [one for one in found if not one.reason]
    if as_json:
        _print_json(
            {
                "file": code_object.source,
                "kernel": kernel.name,
                "schema": family.name,
                "agrees": not wrong,
                "disagreements": [{**one._asdict(), "kind": one.kind.value} for one in found],
            }
        )
        return int(bool(wrong))
    pads = sum(is_pad(argument) for argument in kernel.arguments)
    print(f"{code_object.source}: kernel {kernel.name}")
    print(
        f"schema {family.name}: {len(family.schema.fields)} fields, {family.schema.size} bytes; metadata: "
        f"{len(kernel.arguments) - pads} arguments and {pads} pads, {kernel.kernarg_segment_size} bytes"
    )
    if wrong:
        print(f"CONTRADICTS: {len(wrong)} of {len(found)} disagreements have no known reason")
        print("the metadata is written by hand and no ground truth: find out which of the two is wrong")
    else:
        print(f"agrees: {len(found)} disagreements, each with a known reason")
    if found:
        print()
        _print_disagreements(found)
    return int(bool(wrong))


def compare(first: str, second: str, *, kernels: str | None, as_json: bool) -> int:
    """Two schemas field by field; 1 where they differ."""
    from argpack.cli.schema_source import source_of

    a = source_of(first, kernels=kernels).family.schema
    b = source_of(second, kernels=kernels).family.schema
    ours, theirs = _fields(a), _fields(b)
    changes: list[tuple[str, str, str, str]] = []
    # By offset; of two fields at one offset, the second schema's comes first: it is what was put in between.
    places = {name: slot.offset for name, slot in theirs.items()}
    places |= {name: min(slot.offset, places.get(name, slot.offset)) for name, slot in ours.items()}
    for name in sorted(places, key=places.__getitem__):
        x, y = ours.get(name), theirs.get(name)
        if x is None or y is None:
            changes.append((name, _cell(x), _cell(y), f"only in {b.name if x is None else a.name}"))
        elif _cell(x) != _cell(y):
            changes.append((name, _cell(x), _cell(y), _moved(x, y)))
    if as_json:
        keys = ("name", "first", "second", "change")
        differences = [dict(zip(keys, change, strict=True)) for change in changes]
        _print_json({"first": _size(a), "second": _size(b), "differences": differences})
    else:
        print(f"{a.name}: {len(a.fields)} fields, {a.size} bytes")
        print(f"{b.name}: {len(b.fields)} fields, {b.size} bytes")
        if not changes:
            print("the same fields at the same places")
        elif set(ours) == set(theirs) and a.size == b.size:
            print(f"the same fields in another order: {len(changes)} lie elsewhere")
        if changes:
            print()
            _print_table([("field", a.name, b.name, "change"), *changes])
    return int(bool(changes) or a.size != b.size)


def infer_from(paths: Sequence[str], *, as_json: bool, as_toml: bool) -> int:
    """What dumps show without a schema."""
    from argpack.hexdump import read
    from argpack.schema.infer import infer
    from argpack.schema.infer_sizes import candidates

    dumps = [read(path) for path in paths]
    found = infer([(dump.data, dump.known) for dump in dumps])
    sizes = candidates(found)
    if as_toml:
        from argpack.schema import toml_form
        from argpack.schema.inferred import schema_of

        print(toml_form.dump(schema_of(found, sizes)), end="")
        return 0
    if as_json:
        value = found._asdict()
        value["guesses"] = [{**g._asdict(), "constant": g.constant} for g in found.guesses]
        value["sizes"] = [one._asdict() for one in sizes]
        _print_json(value)
        return 0
    spacing = f"slots of {found.slot} bytes" if found.slot else "no slots"
    print(
        f"{len(dumps)} buffers of {found.size} bytes" if len(dumps) > 1 else f"1 buffer of {found.size} bytes"
    )
    print(f"{spacing} ({found.slot_sure} confidence): {found.slot_why}")
    for one in sizes:
        places = ", ".join(f"{name} at 0x{at:x}" for name, at in zip("MNK", one.offsets, strict=True))
        strides = ", ".join(f"0x{offset:x}" for offset in one.explained)
        print(f"may be {places} ({one.sure} confidence): then strides at {strides} follow from N and K")
    if len(dumps) == 1:
        print("one buffer tells no constant from a value: give more launches of the kernel, of other sizes")
    print()
    rows = [("offset", "kind", "sure", "constant" if len(dumps) > 1 else "", "value", "why")]
    for guess in found.guesses:
        constant = ("yes" if guess.constant else "no") if len(dumps) > 1 else ""
        values = _shown_values(guess.values, pointer=guess.kind == "pointer")
        rows.append((f"0x{guess.offset:03x}", guess.kind, guess.sure.value, constant, values, guess.why))
    _print_table(rows)
    return 0


def _shown_values(values: Sequence[int | float | None], *, pointer: bool) -> str:
    """The first values that differ."""
    different = list(dict.fromkeys(values))
    texts = [
        "?" if v is None else f"0x{int(v):x}" if pointer else f"{v:g}" if isinstance(v, float) else str(v)
        for v in different
    ]
    return ", ".join(texts[:3]) + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")


def _print_disagreements(found: Sequence[Disagreement]) -> None:
    rows = [("offset", "what", "disagreement", "why it does no harm")]
    rows += [(f"0x{d.offset:03x}", d.kind.value, d.text, d.reason or "CONTRADICTS") for d in found]
    _print_table(rows)


def _fields(schema: KernargSchema) -> dict[str, Slot]:
    return {slot.name: slot for slot in schema.slots if slot.field is not None}


def _cell(slot: Slot | None) -> str:
    return "-" if slot is None or slot.field is None else f"0x{slot.offset:x} {slot.field.type}"


def _moved(first: Slot, second: Slot) -> str:
    by = second.offset - first.offset
    types = (first.field.type if first.field else "", second.field.type if second.field else "")
    parts = [f"{by:+d} bytes"] if by else []
    if types[0] != types[1]:
        parts.append(f"{types[0]} became {types[1]}")
    return ", ".join(parts)


def _size(schema: KernargSchema) -> dict[str, Any]:
    return {"name": schema.name, "fields": len(schema.fields), "size": schema.size}


def _schema_values(family: Family) -> dict[str, Any]:
    usage = family.usage(family.name)
    return {
        "name": family.name,
        "title": family.title,
        "size": family.schema.size,
        "launch": family.launch_rule,
        "segments": list(family.segments),
        "notes": list(family.notes),
        "fields": [
            {
                "name": slot.name,
                "offset": slot.offset,
                "size": slot.size,
                "type": slot.field.type,
                "role": slot.field.role.value,
                "unit": slot.field.unit,
                "pad": slot.field.pad,
                "use": usage[slot.name].value,
                "metadata": list(family.metadata_names.get(slot.name, ())),
                "doc": slot.field.doc,
            }
            for slot in family.schema.slots
            if slot.field is not None
        ],
    }


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    from argpack.hexdump.table import Line, align

    print(*align([Line(row) for row in rows], colour=False), sep="\n")


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
