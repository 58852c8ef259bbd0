"""From the bytes of a file to lines of text: encoding, line ends, terminal colours, and what loggers put before a line.

Only prefixes that are known are taken off: whatever else stands before a row makes the row unreadable, on purpose.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from argpack.hexdump.formats.input import is_cell

if TYPE_CHECKING:
    from argpack.hexdump.formats.input import Lines

_BLANKS = str.maketrans("\t\n\r\f\v", "     ")
# What chat programs and word processors put in: blanks of other widths, marks of no width.
_WIDE = str.maketrans(
    dict.fromkeys("\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), " ")
    | dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad")
)

# Torchrun, mpirun and vLLM put at most a handful of these one after the other.
_MOST_PREFIXES = 8


def decode(data: bytes) -> str | None:
    """The text, None where the bytes are none: UTF-8, or UTF-16 as Windows PowerShell redirects it.

    Control characters make bytes of text, whatever else there is; blanks of any width are blanks.
    """
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in data:
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    if encoding == "utf-16" and not text.isascii():
        return None
    if "\x1b" in text:
        text = _colours().sub("", text)
    if not text.isascii():
        text = text.translate(_WIDE)
    plain = text.translate(_BLANKS)
    return text if plain.isprintable() or not any(c < " " or "\x7f" <= c < "\xa0" for c in plain) else None


def lines(text: str) -> Lines:
    """Number (from 1) and text of the lines that are not blank, without log prefixes and blanks around."""
    found = []
    prefix = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        # What stood before one line stands before the next, where alone it might be an index: `[0]: 0x00000001`.
        rest = line[len(prefix) :] if prefix and line.startswith(prefix) else line
        if rest and _may_have_prefix(rest):
            rest = _without_prefix(rest)
        prefix, line = line[: len(line) - len(rest)], rest
        if line:
            found.append((number, line))
    return tuple(found)


def _may_have_prefix(line: str) -> bool:
    """A quick look that spares nearly every row the regular expression."""
    first = line.split(None, 1)[0]
    bare = first.rstrip(":|")
    if is_cell(bare) or bare.startswith(("0x", "+")):
        # The month and glog's letters for errors are hex digits, too.
        words = first == "Dec" or (first[0] in "EF" and len(first) == 5 and ":" in line[5:12])
        return words or first == "E" or (first[-1] == ":" and bare.isdigit()) or "\t" in line[1:8]
    return True


def _without_prefix(line: str) -> str:
    pattern = _prefix()
    for _ in range(_MOST_PREFIXES):
        found = pattern.match(line)
        # A line that is nothing but brackets is data, such as a Python list of one number.
        if not found or (found.end() == len(line) and line[0] == "["):
            break
        line = line[found.end() :]
    return line


@functools.cache
def _colours() -> re.Pattern[str]:
    return re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cM])")


@functools.cache
def _prefix() -> re.Pattern[str]:
    time = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    date = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/]\d\d(?=[ T]\d\d:))"
    level = (
        r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|trace|debug|info|warn|warning|error)"
    )
    month = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    label = r"(?:kern(?:el)?[ _-]?args?\w*|args?|arguments?|buffer|data|dump|bytes|hex)"
    # After these comes a blank, after the tight ones there may be none.
    spaced = (
        rf"\[(?:{date}[T ]{time}|{time}|{date})[^\]]{{0,40}}\]:?",  # [2026-08-01 12:00:00]
        rf"{date}[T ]+{time}",
        rf"{time}",
        rf"{date}",
        rf"{month} +\d\d? {time} [\w.-]+ [\w./-]+(?:\[\d+\])?:",  # syslog
        rf"[IWEF]\d{{4}} {time} +\d+ [\w./-]+:\d+\]",  # glog
        rf"\[[IWEF]\d{{3,4}} {time} [^\]]{{1,60}}\]",  # PyTorch's C++
        r"\[ *\d+\.\d+\]",  # dmesg
        # Not the index of a word, `[3] 0x00000100`.
        r"\[\d+\](?= *(?:\d{4,}|0x[0-9a-fA-F]+[:,]? *\S|\+))",
        r"\[\d+/\d+\]",
        r":\d:[\w./-]+ *:\d+ *: *\d+ us:(?: *\[pid: *\d+ +tid: *0x[0-9a-f]+\])?",  # AMD_LOG_LEVEL
        r"std(?:out|err) [FP]",  # containerd
        r"E(?= {6})",  # pytest
        r"\[(?:rank|worker|proc|gpu|GPU|pid|PID|tid|TID)[ =:]?\d+\]",
        rf"\[{level}\]:?",
        r"\[[\w./-]+\.(?:py|cu|cpp|cc|c|h|hpp|rs):\d+\]:?",
        r"\([A-Za-z][\w.-]* (?:pid=)?\d+[^)]{0,40}\)",  # Ray, vLLM
        rf"{level}:?",
        r"[A-Za-z_][\w.]{0,60} -(?= )",  # the logger's name
        r"[A-Za-z][\w.-]{0,60}-\d+ *\|",  # docker compose
        r"\((?:gdb|rocgdb|lldb)\)",
        r">(?: ?>)*",  # quoted mail
    )
    tight = (
        r"\[(?:rank|default|worker)?\d+\]:(?!\s*0x[0-9a-fA-F]+,?$)",  # torchrun
        r"\d{1,7}(?:[:\t]|: )(?=[0-9a-fA-F]{7,16}(?::| {2}))",  # grep -n, cat -n, srun -l
        r"\[\d+,\d+\](?:<std(?:out|err)>)?:",  # mpirun --tag-output
        rf"{level}:[\w.-]+:",  # Python's logging
        # What a program calls the buffer that it prints in one line.
        rf"{label}(?: ?\(\d+ ?(?:B|bytes)\)|\[\d+\])? ?[:=](?=\s*(?:[0-9a-fA-F]{{2}} ?){{8}})",
        # The label of dwords that are loaded into registers before a kernel starts.
        r"(?:kern(?:el)?[ _]?args?[ _])?[Pp]reload\w*(?:[ _]dwords?)?(?:\[[^\]]{0,40}\])? ?[:=](?=\s*0x)",
    )
    return re.compile(rf"(?:(?:{'|'.join(tight)})\s*|(?:{'|'.join(spaced)})(?:\s+|$))(?:[-|:]\s+)?")
