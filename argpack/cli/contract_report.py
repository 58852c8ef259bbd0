"""What `contract` prints for people: limits with the reason why they are no better, arguments with what loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.contract.values import LIMITS
from argpack.hexdump.table import Line, Table, Tone, counted, text_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.contract import Argument, Contract, Limit
    from argpack.hexdump.table import Document

_TONES = {"dead": Tone.FAINT, "unread": Tone.FAINT}


def document(contract: Contract, known: Contract | None, unlike: Sequence[str]) -> Document:
    """Kernel, limits, arguments, and how it compares with the contract that argpack has (`known`, None for none)."""
    pads = [argument for argument in contract.arguments if argument.use == "pad"]
    loaded = [argument for argument in pads if argument.loaded_by]
    return [
        text_line(f"kernel    {contract.kernel}", Tone.STRONG),
        text_line(f"code      sha256 {contract.code_object}"),
        text_line(f"measured  by argpack {contract.argpack} on the {contract.backend}"),
        text_line(""),
        Table(_limit_lines(contract)),
        text_line(""),
        Table(
            [
                Line(("offset", "argument", "use", "loaded by", "shown by"), Tone.STRONG),
                *_argument_lines(contract),
            ]
        ),
        text_line(
            f"{counted(len(pads), 'pad')}, {sum(pad.size for pad in pads)} bytes: "
            f"{len(loaded) or 'none'} loaded, none with an effect"
        ),
        text_line(f"changed one by one in {' and in '.join(contract.launches)}"),
        text_line(""),
        *_comparison(known, unlike),
    ]


def _limit_lines(contract: Contract) -> list[Line]:
    lines = [Line(("limit", "value", "what it says", "seen"), Tone.STRONG)]
    lines += [Line((name, shown(limit), LIMITS[name], limit.why)) for name, limit in contract.limits.items()]
    return lines


def shown(limit: Limit) -> str:
    """The value as people read it."""
    return {True: "yes", False: "no"}[limit.value] if isinstance(limit.value, bool) else str(limit.value)


def _argument_lines(contract: Contract) -> list[Line]:
    return [
        Line(
            (
                f"{argument.offset:#05x}",
                argument.name,
                argument.use,
                ", ".join(argument.loaded_by),
                _shown_by(argument),
            ),
            _TONES.get(argument.use, Tone.PLAIN),
        )
        for argument in contract.arguments
        if argument.use != "pad"
    ]


def _shown_by(argument: Argument) -> str:
    return argument.shown_by or {"dead": "no change has an effect", "unread": "never loaded"}[argument.use]


def _comparison(known: Contract | None, unlike: Sequence[str]) -> list[Line]:
    if known is None:
        return [text_line("argpack has no contract of this code object")]
    if not unlike:
        return [text_line("argpack's contract of this code object says the same", Tone.GOOD)]
    head = text_line("argpack's contract of this code object says something else:", Tone.ALARM)
    return [head, *(text_line(f"  {text}") for text in unlike)]
