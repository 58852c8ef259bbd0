"""Reader of captured launches: a JSON object whose `kernarg_hex` is the buffer; `kernel` names the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.errors import InputError
from argpack.hexdump.dump import Dump
from argpack.hexdump.formats.input import Format, is_hex

if TYPE_CHECKING:
    from argpack.hexdump.formats.input import Input


def read(source: Input) -> Dump:
    """The dump, every byte known, with the kernel's name where the capture states it."""
    import json

    try:
        capture: Any = json.loads(source.text or "")
    except json.JSONDecodeError as error:
        raise source.error(error.lineno, f"expected JSON: {error.msg}") from None
    except (RecursionError, ValueError):
        raise source.error(
            1, "expected a JSON object, found one too deep or with too long a number"
        ) from None
    if not isinstance(capture, dict) or not isinstance(capture.get("kernarg_hex"), str):
        raise InputError(f"{source.source}: expected a JSON object with a string kernarg_hex, found none")
    digits = capture["kernarg_hex"]
    if not is_hex(digits) or len(digits) % 2:
        raise InputError(f"{source.source}: kernarg_hex: expected pairs of hex digits")
    data = bytes.fromhex(digits)
    size = capture.get("kernarg_size", len(data))
    if size != len(data):
        raise InputError(
            f"{source.source}: kernarg_hex: expected {size} bytes as kernarg_size says, found {len(data)}"
        )
    kernel = capture.get("kernel", "")
    if not isinstance(kernel, str):
        raise InputError(f"{source.source}: kernel: expected a string, found {type(kernel).__name__}")
    return Dump.whole(data, source.source, kernel)


def fits(source: Input) -> bool:
    """Whether the input begins like a JSON object."""
    return bool(source.lines) and source.lines[0][1].startswith("{")


FORMAT = Format("captured-json", "JSON of a captured launch with kernarg_hex", fits, read)
