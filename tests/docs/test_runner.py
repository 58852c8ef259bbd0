import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from console_blocks import (
    Command,
    ExampleError,
    corrected,
    find_blocks,
    matches,
    replace_blocks,
    run_block,
    runs,
)

from argpack import __version__

VERSION = f"argpack {__version__}"


def only_block(*lines):
    (block,) = find_blocks("\n".join(["```console", *lines, "```", ""]), "doc.md")
    return block


def output_of(block, tmp_path):
    (tmp_path / "dumps").mkdir(exist_ok=True)
    (tmp_path / "scratch").mkdir()
    return run_block(block, tmp_path, tmp_path / "scratch")


SAMPLE = """\
# Title

```python
print("no command")
```

1. A list

   ```console
   $ argpack show a.txt \\
   >   --kernel k.co   # a comment
   M  256

     indented
   $ echo $?
   0
   ```

~~~console
$ make verify
~~~
"""


def test_blocks_are_found_with_their_commands_and_outputs():
    first, second = find_blocks(SAMPLE, "doc.md")
    assert (first.first, first.end, first.indent) == (9, 16, "   ")
    assert first.commands == (
        Command(
            10,
            ("$ argpack show a.txt \\", ">   --kernel k.co   # a comment"),
            "argpack show a.txt --kernel k.co   # a comment",
            ("M  256", "", "  indented"),
        ),
        Command(15, ("$ echo $?",), "echo $?", ("0",)),
    )
    assert [command.text for command in second.commands] == ["make verify"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n```console\n$ argpack\n", "doc.md:2: this block has no end"),
        (
            "```console\noutput first\n```\n",
            "doc.md:2: expected a command, `$ …`, at the start of a console block",
        ),
        ("```console\n```\n", "doc.md:2: expected a command, `$ …`, at the start of a console block"),
        ("```sh\n$ argpack show\n```\n", "doc.md:1: commands in a 'sh' block: call it console"),
        ("```\n$ argpack show\n```\n", "doc.md:1: commands in a 'plain' block: call it console"),
        ("```consol\n$ argpack show\n```\n", "doc.md:1: commands in a 'consol' block: call it console"),
    ],
)
def test_a_block_that_would_not_be_checked_is_an_error(text, message):
    with pytest.raises(ExampleError, match=f"^{re.escape(message)}$"):
        find_blocks(text, "doc.md")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("argpack diff a b", True),
        ("python -m argpack diff a b", True),
        ("argpack pack k.co > args.bin  # keep it", True),
        ("make verify", False),
        ("pip install argpack", False),
        ("git clone https://example.org/argpack", False),
    ],
)
def test_argpack_runs_and_what_sets_it_up_does_not(text, answer):
    assert runs(Command(1, (), text, ()), "doc.md") is answer


@pytest.mark.parametrize(
    "text", ["argpakc diff", "argpackdiff", "pip uninstall x", "rm -r .", "# argpack", "$ argpack"]
)
def test_a_command_that_is_neither_is_an_error(text):
    with pytest.raises(
        ExampleError, match=rf"^doc\.md:7: {re.escape(text)}: neither argpack nor one of cd, "
    ):
        runs(Command(7, (), text, ()), "doc.md")


def test_a_command_that_the_shell_cannot_read_is_an_error():
    with pytest.raises(ExampleError, match=r"^doc\.md:7: argpack 'x: No closing quotation$"):
        runs(Command(7, (), "argpack 'x", ()), "doc.md")


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a|b", "a|b", True),
        ("a|b", "a|c", False),
        ("a", "a|b", False),
        ("a|b", "a", False),
        ("a|", "a", True),
        ("a  ", "a", True),
        (" a", "a", False),
        ("", "", True),
        ("", "a", False),
        ("a|[...]|d", "a|b|c|d", True),
        ("a|[...]|d", "a|d", True),
        ("a|[...]|d", "a|b|c", False),
        ("a|[...]|d", "b|d", False),
        ("[...]|d", "a|d", True),
        ("a|[...]", "a", True),
        ("a|[...]", "b", False),
        ("[...]", "a|b", True),
        ("a|[...]|c|[...]|e", "a|b|c|d|e", True),
        ("a|[...]|c|[...]|e", "a|b|d|e", False),
        ("a|[...]|a", "a", False),
        ("a|[...]|b|[...]|b", "a|b", False),
        ("x [...]", "x y", False),
        ("took 0.31 s", "took 12.5 s", True),
        ("took   0.31 s", "took 950 ms", True),
        ("12 GFLOP/s in all", "1,340.5 MFLOP/s in all", True),
        ("4096 bytes", "4097 bytes", False),
        ("0.31 seconds", "0.32 seconds", True),
        ("31 seconds", "32 seconds", False),
        ("1 ulp", "2 ulp", True),
        ("99.9 %", "99.8 %", True),
        ("v0.31 s", "v0.32 s", False),
        ("3 s_load", "4 s_load", False),
    ],
)
def test_output_is_compared_by_the_documented_rules(expected, actual, same):
    lines = tuple(expected.split("|")) if expected else ()
    assert matches(lines, actual.split("|") if actual else []) is same


def test_commands_run_in_one_directory_that_has_the_dumps(tmp_path):
    (tmp_path / "dumps").mkdir()
    (tmp_path / "dumps" / "x.txt").write_text("a dump\n")
    block = only_block(
        "$ argpack --version > here; cat here dumps/x.txt",
        "$ argpack --version | grep -c argpack < here; pwd | grep -c scratch/work",
        "$ python -m argpack --version && ls",
    )
    assert output_of(block, tmp_path) == [
        [VERSION, "a dump"],
        ["1", "1"],
        [VERSION, "dumps", "here"],
    ]


def test_exit_codes_are_those_of_the_command_before(tmp_path):
    block = only_block(
        "$ argpack --version; exit 3", "$ echo $?", "$ make x", "$ echo $?", "$ argpack", "$ echo $?"
    )
    outputs = output_of(block, tmp_path)
    assert [outputs[1], outputs[2], outputs[3], outputs[5]] == [["3"], None, ["3"], ["2"]]


def test_messages_on_stderr_are_part_of_the_output(tmp_path):
    assert output_of(only_block("$ argpack --version; echo oops >&2"), tmp_path) == [[VERSION, "oops"]]


def test_a_block_that_matches_is_left_alone():
    block = only_block("$ argpack show", "a", "[...]", "d", "", "$ make", "whatever")
    assert corrected(block, [["a", "b", "c", "d"], None]) == block.lines


def test_a_block_that_differs_keeps_elisions_whose_neighbours_still_occur():
    block = only_block("$ argpack show", "a", "[...]", "d", "e", "[...]", "g", "", "$ argpack diff", "x")
    assert corrected(block, [["a", "b", "c", "d", "E", "f", "g"], ["x"]]) == [
        *("$ argpack show", "a", "[...]", "d", "E", "f", "g", ""),
        *("$ argpack diff", "x"),
    ]


def test_an_elision_at_either_end_is_kept():
    block = only_block("$ argpack show", "[...]", "b", "c", "[...]")
    assert corrected(block, [["a", "b", "C", "c", "d"]]) == [
        "$ argpack show",
        "[...]",
        "b",
        "C",
        "c",
        "[...]",
    ]


def test_a_corrected_block_is_one_that_matches():
    block = only_block("$ argpack show", "a", "[...]", "d")
    actual = ["a", "x", "d", "y"]
    again = only_block(*corrected(block, [actual]))
    assert matches(again.commands[0].output, actual)


def test_only_the_lines_of_the_blocks_are_replaced():
    first, second = find_blocks(SAMPLE, "doc.md")
    changed = replace_blocks(SAMPLE, [(first, ["$ argpack x", "", "y"]), (second, ["$ make z"])])
    assert changed == SAMPLE.replace("\n".join(SAMPLE.splitlines()[9:16]), "   $ argpack x\n\n   y").replace(
        "$ make verify", "$ make z"
    )
    assert replace_blocks(SAMPLE, []) == SAMPLE


def test_stale_documentation_fails_with_a_diff_and_is_rewritten(tmp_path):
    here = tmp_path / "tests" / "docs"
    here.mkdir(parents=True)
    (tmp_path / "dumps").mkdir()
    for name in ("console_blocks.py", "test_examples.py"):
        shutil.copy(Path(__file__).with_name(name), here)
    readme = tmp_path / "README.md"
    readme.write_text("Text\n\n```console\n$ argpack --version\nargpack 0.0.9\n```\n")
    check = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/docs/test_examples.py"]
    update = [sys.executable, "tests/docs/test_examples.py", "--update"]

    failed = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    for line in ("README.md:3", "-argpack 0.0.9", f"+{VERSION}"):
        assert line in failed.stdout
    done = subprocess.run(update, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "README.md:3: rewritten\n"
    assert readme.read_text() == f"Text\n\n```console\n$ argpack --version\n{VERSION}\n```\n"
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
