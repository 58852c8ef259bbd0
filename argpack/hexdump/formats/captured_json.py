"""Captured launches: a JSON object whose `kernarg_hex` is the buffer; `kernel` names the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argpack.hexdump.formats.input import Format, is_hex, no_unit, whole

if TYPE_CHECKING:
    from argpack.hexdump.dump import Dump
    from argpack.hexdump.formats.input import Input


def read(source: Input) -> Dump:
    """The dump, every byte known, with the kernel's name where the capture states it."""
    import json

    try:
        capture: Any = json.loads(source.text)
    except json.JSONDecodeError as error:
        line = source.lines[min(error.lineno, len(source.lines)) - 1][0] if source.lines else 1
        raise source.error(line, f"expected JSON: {error.msg}") from None
    except (RecursionError, ValueError):
        raise source.error(
            1, "expected a JSON object, found one too deep or with too long a number"
        ) from None
    if not isinstance(capture, dict) or not isinstance(capture.get("kernarg_hex"), str):
        raise source.fault("expected a JSON object with a string kernarg_hex, found none")
    digits = capture["kernarg_hex"]
    if not is_hex(digits) or len(digits) % 2:
        raise source.fault("kernarg_hex: expected pairs of hex digits")
    data = bytes.fromhex(digits)
    size = capture.get("kernarg_size", len(data))
    if size != len(data):
        raise source.fault(f"kernarg_hex: expected {size} bytes as kernarg_size says, found {len(data)}")
    kernel = capture.get("kernel", "")
    if not isinstance(kernel, str):
        raise source.fault(f"kernel: expected a string, found {type(kernel).__name__}")
    return source.dump(data, kernel=kernel)


def fits(source: Input) -> bool:
    """Whether the input begins like a JSON object."""
    return bool(source.lines) and source.lines[0][1].startswith("{")


def write(dump: Dump, unit: int | None) -> str:
    """An object with size and bytes, and the kernel where the dump has one."""
    import json

    no_unit(dump, "captured-json", unit)
    kernel = {"kernel": dump.kernel} if dump.kernel else {}
    digits = whole(dump, "captured-json").hex()
    return json.dumps({**kernel, "kernarg_size": dump.size, "kernarg_hex": digits}, indent=1) + "\n"


FORMATS = {"captured-json": Format(fits, read, write)}
