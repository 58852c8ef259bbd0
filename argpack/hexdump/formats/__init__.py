"""The dump formats that are read, one small module each; detection goes through this table."""

from argpack.hexdump.formats import captured_json, offset_table, plain_hex, raw, words
from argpack.hexdump.formats.input import Format, Input

FORMATS: tuple[Format, ...] = (
    captured_json.FORMAT,
    offset_table.FORMAT,
    plain_hex.FORMAT,
    words.FORMAT,
    raw.FORMAT,
)

__all__ = ["FORMATS", "Format", "Input"]
