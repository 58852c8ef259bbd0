"""Finds ```console blocks in Markdown, runs their argpack commands and says what the blocks should read.

A line `$ COMMAND` is a command, the lines up to the next one are its output, stdout and stderr as a terminal mixes
them. A backslash at its end continues a command on the next line. How output is compared:

- `[...]` on a line of its own stands for any number of lines, also for none.
- A number followed by a unit of time, a unit per second or ulp (`0.31 s`, `12 GFLOP/s`, `1 ulp`) matches any such
  number, whatever spaces stand before it; so does a number with a decimal point, whatever follows it. They are measured
  or depend on the order of float sums. Other integers must be equal.
- Spaces at the end of a line and empty lines at the end of an output do not count.

Commands of a block run in one fresh directory in which `dumps/` is the repository's; `echo $?` gives the exit code of
the command before it. A command that is neither argpack's nor in NOT_RUN is an error, so that no typo hides one.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ELISION = "[...]"
RUN = ("argpack", "python -m argpack")
NOT_RUN = ("cd", "git clone", "make", "pip install", "pytest", "python -m pip", "python -m pytest")
SECONDS = 300

_FENCE = re.compile(r"( *)(`{3,}|~{3,})\s*([^`\s]*)[^`]*")
_VARYING = re.compile(
    r" *(?<![\w.])(?:\d[\d,]*(?:\.\d+)? ?(?:µs|ms|s|ulp|[A-Za-z]+/s)(?!\w)|-?\d[\d,]*\.\d+(?:e[-+]\d+)?(?![\w.]))"
)


class ExampleError(Exception):
    """A block that cannot be run as it stands: file, line, why."""


@dataclass(frozen=True, slots=True)
class Command:
    """`source` are its lines as written, `text` what the shell gets, `output` the lines that follow it."""

    line: int
    source: tuple[str, ...]
    text: str
    output: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The commands of one block. Its lines are `first` up to but without `end`, counted from 0, behind `indent`."""

    name: str
    first: int
    end: int
    indent: str
    commands: tuple[Command, ...]

    @property
    def lines(self) -> list[str]:
        """The block as it stands, without its fences."""
        return [line for command in self.commands for line in (*command.source, *command.output)]


def find_blocks(text: str, name: str) -> list[Block]:
    """The blocks of a Markdown file called `name` (for messages). Raises ExampleError."""
    lines = text.splitlines()
    blocks = []
    number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number])
        number += 1
        if not opening:
            continue
        indent, fence, language = opening.groups()
        first = number
        while number < len(lines) and not _closes(lines[number], fence):
            number += 1
        if number == len(lines):
            raise ExampleError(f"{name}:{first}: this block has no end")
        content = [line.removeprefix(indent) for line in lines[first:number]]
        if language == "console":
            blocks.append(Block(name, first, number, indent, _commands(content, name, first + 1)))
        elif any(line.startswith("$ ") for line in content):
            raise ExampleError(
                f"{name}:{first}: commands in a {language or 'plain'!r} block: call it console"
            )
        number += 1
    return blocks


def run_block(block: Block, root: Path, scratch: Path) -> list[list[str] | None]:
    """Output lines of each command, None for one that is not run. `scratch` is an empty directory to work in."""
    work = scratch / "work"
    work.mkdir()
    (work / "dumps").symlink_to(root / "dumps")
    env = {**os.environ, **_environment(scratch)}
    outputs: list[list[str] | None] = []
    code = 0
    for command in block.commands:
        if command.text == "echo $?":
            outputs.append([str(code)])
        elif runs(command, block.name):
            done = subprocess.run(
                ["bash", "-c", command.text],
                cwd=work,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            code = done.returncode
            outputs.append(done.stdout.splitlines())
        else:
            outputs.append(None)
    return outputs


def runs(command: Command, name: str) -> bool:
    """Whether the command is argpack's. Raises ExampleError for one that is not known at all."""
    try:
        words = " ".join(shlex.split(command.text, comments=True))
    except ValueError as error:
        raise ExampleError(f"{name}:{command.line}: {command.text}: {error}") from error
    for prefixes, answer in ((RUN, True), (NOT_RUN, False)):
        if any(words == prefix or words.startswith(prefix + " ") for prefix in prefixes):
            return answer
    raise ExampleError(
        f"{name}:{command.line}: {command.text}: neither argpack nor one of {', '.join(NOT_RUN)}"
    )


def corrected(block: Block, outputs: list[list[str] | None]) -> list[str]:
    """The block's lines as they should read: an output that matches stays as it is, elisions stay where they can."""
    lines: list[str] = []
    for command, actual in zip(block.commands, outputs, strict=True):
        lines += command.source
        if actual is None or matches(command.output, actual):
            lines += command.output
        else:
            written, blank = _split_blank(command.output)
            lines += _elided(written, _split_blank(actual)[0]) + blank
    return lines


def matches(expected: tuple[str, ...], actual: list[str]) -> bool:
    """Whether an output is as documented, by the rules at the top."""
    segments = _segments(_split_blank(expected)[0])
    found = [_normal(line) for line in _split_blank(actual)[0]]
    head, *rest = segments
    if found[: len(head)] != head:
        return False
    if not rest:
        return len(found) == len(head)
    tail = rest.pop()
    limit = len(found) - len(tail)
    at = len(head)
    for segment in rest:
        while at + len(segment) <= limit and found[at : at + len(segment)] != segment:
            at += 1
        at += len(segment)
    return at <= limit and found[limit:] == tail


def replace_blocks(text: str, corrections: list[tuple[Block, list[str]]]) -> str:
    """The Markdown `text` with the lines of these blocks replaced."""
    lines = text.splitlines()
    for block, content in sorted(corrections, key=lambda entry: -entry[0].first):
        lines[block.first : block.end] = [(block.indent + line).rstrip() for line in content]
    return "\n".join(lines) + "\n"


def _closes(line: str, fence: str) -> bool:
    found = line.strip()
    return len(found) >= len(fence) and set(found) == {fence[0]}


def _commands(lines: list[str], name: str, number: int) -> tuple[Command, ...]:
    if not lines or not lines[0].startswith("$ "):
        raise ExampleError(f"{name}:{number}: expected a command, `$ …`, at the start of a console block")
    commands = []
    at = 0
    while at < len(lines):
        start = at
        text = lines[at].removeprefix("$ ").strip()
        at += 1
        while text.endswith("\\") and at < len(lines):
            text = text[:-1] + lines[at].removeprefix("> ").strip()
            at += 1
        source = tuple(lines[start:at])
        begin = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        commands.append(Command(number + start, source, text, tuple(lines[begin:at])))
    return tuple(commands)


def _environment(scratch: Path) -> dict[str, str]:
    """This Python's argpack first, or `python -m argpack` where the command is not installed; no colours."""
    shim = scratch / "bin" / "argpack"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m argpack "$@"\n')
    shim.chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), str(shim.parent), os.environ.get("PATH", "")])
    return {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def _normal(line: str) -> str:
    return _VARYING.sub(" <varies>", line.rstrip())


def _segments(lines: list[str]) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == ELISION:
            segments.append([])
        else:
            segments[-1].append(_normal(line))
    return segments


def _split_blank(lines: tuple[str, ...] | list[str]) -> tuple[list[str], list[str]]:
    """The lines without the empty ones at their end, and those."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end]), list(lines[end:])


def _elided(expected: list[str], actual: list[str]) -> list[str]:
    """`actual`, with each elision of `expected` whose neighbouring lines still occur, in order."""
    found = [_normal(line) for line in actual]
    lines: list[str] = []
    at = 0
    segments = _segments(expected)
    for before, after in itertools.pairwise(segments):
        try:
            start = found.index(before[-1], at) + 1 if before else at
            end = found.index(after[0], start) if after else len(found)
        except ValueError:
            continue
        lines += [*actual[at:start], ELISION]
        at = end
    return lines + actual[at:]
