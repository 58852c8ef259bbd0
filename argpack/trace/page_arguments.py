"""The argument buffer on the page of a trace: a grid of its bytes in colours, and a table of its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.table import counted
from argpack.trace.page_parts import escaped, key, link, table
from argpack.trace.perturb import Kind
from argpack.trace.places import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.schema import KernargSchema
    from argpack.trace.perturb import Argument

_ROW = 16
_MEANINGS = {
    Kind.LIVE: "live: changing it changes what the kernel does",
    Kind.DEAD: "dead: loaded, and changing it changes nothing",
    Kind.UNREAD: "unread: no instruction loads it",
    Kind.PAD: "pad: bytes between the fields, without effect",
}


def arguments_section(
    arguments: Sequence[Argument], schema: KernargSchema, passed: bytes, elsewhere: str
) -> Iterator[str]:
    """`passed` is the buffer with its pointers; `elsewhere` says in which other launch the arguments were changed."""
    yield "<h2>The argument buffer</h2>\n"
    yield (
        f"<p>The host passes {len(passed)} bytes. Each row below is {_ROW} of them. The colours were found by changing "
        "every field and every pad in turn, running the kernel again, and comparing control flow, addresses and output"
        f"{': ' + escaped(elsewhere) if elsewhere else ''}.</p>\n"
    )
    shown = [kind for kind in Kind if any(argument.kind is kind for argument in arguments)]
    yield f"<p>{''.join(key(kind.value, _MEANINGS[kind]) for kind in shown)}</p>\n"
    yield _grid(arguments)
    yield "<h3>Field by field</h3>\n"
    yield _fields(arguments, schema, passed)


def _grid(arguments: Sequence[Argument]) -> str:
    end = max(argument.offset + argument.size for argument in arguments)
    lines = []
    for start in range(0, end, _ROW):
        cells = "".join(_cell(argument, start) for argument in arguments if _in_row(argument, start))
        lines.append(f"<tr><th>{start:#05x}</th>{cells}</tr>\n")
    columns = "<col>" + '<col style="width:3.6em">' * _ROW
    return f'<table class="grid"><colgroup>{columns}</colgroup>\n{"".join(lines)}</table>\n'


def _in_row(argument: Argument, start: int) -> bool:
    return argument.offset < start + _ROW and argument.offset + argument.size > start


def _cell(argument: Argument, start: int) -> str:
    first, last = max(argument.offset, start), min(argument.offset + argument.size, start + _ROW)
    text = argument.name if argument.kind is not Kind.PAD else "pad"
    what = f"{argument.name}, {argument.size} bytes at {argument.offset:#x}: {argument.kind.value}"
    return f'<td class="{argument.kind.value}" colspan="{last - first}" title="{escaped(what)}">{escaped(text)}</td>'


def _fields(arguments: Sequence[Argument], schema: KernargSchema, passed: bytes) -> str:
    values = schema.unpack(passed)
    rows = []
    for argument in arguments:
        field = schema.slot(argument.name).field
        if field is None:
            continue
        value = f"{values[argument.name]:#x}" if field.type == "ptr" else f"{values[argument.name]}"
        loads = "<br>".join(link(place(load.instruction)) for load in argument.loads)
        rows.append(
            (
                f'<span class="mono">{argument.offset:#05x}</span>',
                f"<b>{escaped(argument.name)}</b>",
                f'<span class="mono">{escaped(value)}</span> {escaped(field.unit)}',
                f'<span class="use">{key(argument.kind.value, argument.kind.value)}</span>',
                loads or '<span class="faint">never loaded</span>',
                escaped(_effect(argument)),
                escaped(field.doc),
            )
        )
    heads = ("offset", "field", "passed", "use", "loaded by", "what changing it changed", "what it is")
    return table(heads, rows)


def _effect(argument: Argument) -> str:
    if argument.change is None:
        return f"nothing ({counted(argument.tried, 'other value')} tried)"
    return f"{argument.change.value}: {argument.evidence}"
