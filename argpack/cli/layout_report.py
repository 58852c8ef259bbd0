"""What `layout infer KERNEL` prints of the layouts found in a kernel: for people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.probe.padding import PAD_VALUES, padded_problem
from scale_layout import formula_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from argpack.numerics import Verdict
    from argpack.probe import Identity, Inference, Match, Table

_TITLES = {"A": "A", "B": "B", "ScaleA": "scales of A", "ScaleB": "scales of B"}
_SHOWN_RUNS = 4
_SHOWN_OFFSETS = 16
_UNKNOWABLE = (
    "k is numbered as row 0 of A lies in memory: an order of K that A, B and their scales share changes no output",
    "the low nibble is taken as the even k: exchanging the nibbles of A and of B together changes no output",
)


def text(found: Inference, names: Sequence[str], kernel: str, choice: str) -> str:
    """The report on the operands `names`; a newline after each line."""
    problem = found.problem
    lines = [
        f"kernel   {kernel}",
        f"backend  {choice}",
        f"probed   M={problem.m} N={problem.n} K={problem.k}: {found.launches} launches, {found.seconds:.1f} s",
    ]
    for name in names:
        lines += ["", *_operand(found, name)]
    lines += ["", _confirmation(found.verdict)]
    if found.right_pads is not None:
        lines.append(_pads(found, found.right_pads))
    lines += ["", "What no output can show:", *(f"  {sentence}" for sentence in _UNKNOWABLE)]
    return "\n".join(lines) + "\n"


def as_json(found: Inference, names: Sequence[str]) -> dict[str, Any]:
    """The same facts as plain values. Offsets and sizes are bytes; `elements_per_byte` counts elements of K."""
    problem, verdict = found.problem, found.verdict
    return {
        "problem": {"m": problem.m, "n": problem.n, "k": problem.k},
        "launches": found.launches,
        "seconds": round(found.seconds, 3),
        "operands": {name: _operand_json(found.tables[name], found.identities[name]) for name in names},
        "random_bytes": {
            "passed": verdict.passed,
            "outputs": verdict.elements,
            "bit_equal": verdict.bit_equal,
            "reason": verdict.reason,
        },
        "right_scale_pads": None if found.right_pads is None else list(found.right_pads),
        "unknowable": list(_UNKNOWABLE),
    }


def _operand(found: Inference, name: str) -> Iterator[str]:
    table, identity = found.tables[name], found.identities[name]
    what = "a scale for" if table.is_scales else "each"
    yield (
        f"{_TITLES[table.operand]}: {table.rows} rows of {table.columns} bytes, {what} {table.per_byte} elements of K"
    )
    if len(identity.known) > 1:
        yield f"  layout   ambiguous, one of {len(identity.known)}: a larger problem tells them apart"
    elif not identity.known:
        new = "solved below" if identity.solved else "and no pattern of this notation"
        yield f"  layout   none that argpack declares, {new}"
    for match in identity.layouts:
        layout = match.layout
        yield f"  layout   {layout.name}: {layout.pattern}"
        if layout.aliases:
            yield f"  used by  {', '.join(layout.aliases)}"
        yield f"  offset   {formula_text(layout)}, C = {match.columns}"
        if match.padding:
            yield f"  padding  {_padding(table, match)}"
    if identity.bits:
        rows, columns = identity.block
        yield f"  bits     {' '.join(identity.bits)}"
        yield f"           of the offset in the first {rows} x {columns}, lowest first; r0 is the row's lowest"
    yield f"  memory   {_start_of_memory(table)}"
    known = "proven  " if found.verdict.passed else "measured"
    yield f"  {known} for all {table.offsets.size} places, each a byte of its own{_rest(table)}"


def _operand_json(table: Table, identity: Identity) -> dict[str, Any]:
    return {
        "rows": table.rows,
        "columns": table.columns,
        "elements_per_byte": table.per_byte,
        "buffer_bytes": table.size,
        "used_bytes": table.offsets.size,
        "layouts": [_match_json(match) for match in identity.known],
        "solved": None if identity.solved is None else _match_json(identity.solved),
        "bits": list(identity.bits),
        "block": list(identity.block),
        "first_offsets": table.offsets[0, :_SHOWN_OFFSETS].tolist(),
    }


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "name": match.layout.name,
        "pattern": match.layout.pattern,
        "offset": formula_text(match.layout),
        "rows_padded": match.rows,
        "columns_padded": match.columns,
    }


def _padding(table: Table, match: Match) -> str:
    parts = [
        f"{kind} {length} to {padded - 1}"
        for kind, length, padded in (
            ("rows", table.rows, match.rows),
            ("columns", table.columns, match.columns),
        )
        if padded > length
    ]
    tile = " x ".join(map(str, match.layout.tile))
    return f"{match.padding} bytes between those of the operand: {' and '.join(parts)}, up to tiles of {tile}"


def _start_of_memory(table: Table) -> str:
    """What the first bytes of the buffer feed; neighbours in a row are told as one run."""
    place = {int(byte): divmod(i, table.columns) for i, byte in enumerate(table.offsets.reshape(-1))}
    runs: list[tuple[int, int, int]] = []  # row, first column, number of columns
    byte = 0
    while byte in place and len(runs) <= _SHOWN_RUNS:
        row, column = place[byte]
        if runs and (row, column) == (runs[-1][0], sum(runs[-1][1:])):
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((row, column, 1))
        byte += 1
    kind = "block" if table.is_scales else "byte"
    shown = runs[:_SHOWN_RUNS]
    texts = [
        f"row {row} {kind} {first}" if count == 1 else f"row {row} {kind}s {first} to {first + count - 1}"
        for row, first, count in shown
    ]
    return ", ".join(texts) + (", …" if len(runs) > len(shown) else "")


def _rest(table: Table) -> str:
    idle = table.size - table.offsets.size
    return f"; {idle} other bytes of the buffer fed no output" if idle else ""


def _confirmation(verdict: Verdict) -> str:
    if not verdict.passed:
        return f"FAIL on random bytes: {verdict.reason}"
    return (
        f"confirmed on random bytes in all buffers: {verdict.elements} outputs are what these places predict, "
        f"{verdict.bit_equal} of them to the bit"
    )


def _pads(found: Inference, right: Sequence[int]) -> str:
    """What padding columns of the scales must hold."""
    ragged = padded_problem(found.problem)
    tried = f"where K ends inside a tile (K={ragged.k}), of {_hexadecimal(PAD_VALUES)} in padding columns of the scales"
    if not right:
        return f"{tried} none gave right numbers"
    return f"{tried} {f'only {_hexadecimal(right)}' if len(right) < len(PAD_VALUES) else 'all'} gave right numbers"


def _hexadecimal(values: Sequence[int]) -> str:
    return ", ".join(f"0x{value:02x}" for value in values)
