"""Outputs of tools that are known and not read: what to say instead of the fault of a format that they resemble."""

from __future__ import annotations

import re

_ADVICE = "print the bytes with xxd, hexdump -C or od -Ax -tx1"
_WORD = len("0x0123456789abcdef")
# The cells of a row behind its offset, and what they are.
_CELLS = (
    (r"-?(?:0|[1-9]\d*)", "decimal numbers, as od -td4 prints them"),
    (r"\d{5}", "decimal numbers, as hexdump -d prints them"),
    (r"[0-7]{3}", "octal bytes, as od -b and hexdump -b print them"),
    (r"\d{3}|\\.|[^\s0-9]|[a-z]{2,3}", "characters, as od -c and hexdump -c print them"),
    (r"-?\d\S*(?:\.|e[+-]?)\d\S*|0|-0|-?inf|-?nan", "floats, as od -tf4 prints them"),
)


def named(line: str) -> str:
    """What a row is that no format reads, with advice; empty where it is nothing known."""
    offset, *cells = line.split()
    found = ""
    if re.fullmatch(r"[0-9a-fA-F]{6,8}", offset) and cells:
        found = next((text for pattern, text in _CELLS if _all(pattern, cells)), "")
    elif re.fullmatch(r"[0-9a-fA-F]{8}:", offset) and len(cells) > 1 and _all("[01]{8}", cells[:2]):
        found = "bits, as xxd -b prints them"
    elif re.fullmatch(r"0x[0-9a-fA-F]+(?: <.*>)?:", offset) and cells and _all(r"-?(?:0|[1-9]\d*)", cells):
        found = "decimal numbers, as x/d of gdb prints them"
    if not found and len(cells) > 1 and _all("[0-7]{6}", [offset, *cells]):
        found = "octal words without offsets, as od -An prints them"
    return f"{found}, are not read; {_ADVICE}" if found else ""


def unsized(line: str) -> str:
    """What is wrong with hex numbers of any length; empty where they are none."""
    numbers = line.replace(",", " ").split()
    if not numbers or not _all("0[xX][0-9a-fA-F]+", numbers):
        return ""
    if len(numbers[0]) > _WORD:
        return (
            f"a number of {len(numbers[0]) - 2} hex digits: drop 0x if they are bytes in the order of memory"
        )
    return "numbers in hex state no size of an element: write a type, as in uint32_t args[] = {0x1, 0x2}"


def _all(pattern: str, cells: list[str]) -> bool:
    return all(re.fullmatch(pattern, cell) for cell in cells)
