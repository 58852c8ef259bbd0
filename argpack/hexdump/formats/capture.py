"""A launch of `argpack capture`: FILE#n is its n-th, FILE its only one. Gaps between declared arguments are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.hexdump.formats.input import Format, Input

if TYPE_CHECKING:
    from argpack.capture import Capture
    from argpack.hexdump.dump import Dump

_SHAPE = "capture"


def choose(path: str, data: bytes, choice: str | None) -> Input:
    """The launch of that number, in a small capture of its own; `data` is the file's where it has no path.

    Raises InputError.
    """
    from argpack.capture import parse
    from argpack.capture import read as read_capture

    capture: Capture = parse(data, source=path) if data else read_capture(path)
    if choice is not None and not choice.isdecimal():
        raise InputError(f"{path}: expected the number of a launch after #, found {choice!r}")
    launch = capture.launch(None if choice is None else int(choice))
    source = path if choice is None else f"{path}#{choice}"
    if not launch.arguments:
        reasons = "; ".join(launch.remarks) or "the launch passed none"
        raise InputError(f"{source}: no arguments of launch #{launch.number}: {reasons}")
    return Input(source, capture.excerpt(launch.number), shape=_SHAPE)


def read(source: Input) -> Dump:
    """The dump with the kernel's name."""
    from argpack.capture import parse

    if not fits(source):
        raise source.fault("expected a file of argpack capture, found another")
    launch = parse(source.data, source=source.source).launch(None)
    data = bytes(byte if known else 0 for byte, known in zip(launch.arguments, launch.known, strict=True))
    return source.dump(data, launch.known, kernel=launch.kernel)


def fits(source: Input) -> bool:
    """Whether `choose` made it."""
    return source.shape == _SHAPE


def write(dump: Dump, unit: int | None) -> bytes:
    """Refused: a dump has no kernel's code, grid or process, which a capture states."""
    raise InputError(f"{dump.source}: capture: arguments alone make no launch (unit {unit})")


FORMATS = {"capture": Format(fits, read, write)}
