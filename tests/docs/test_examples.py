"""Every console block in README.md and docs/ shows what argpack prints today.

`python tests/docs/test_examples.py --update` rewrites the blocks that do not; console_blocks.py has the rules.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from pathlib import Path

import pytest
from console_blocks import Block, ExampleError, corrected, find_blocks, replace_blocks, run_block, runs

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def documents() -> list[Path]:
    return [path for path in (README, *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]


def blocks_of(path: Path) -> list[Block]:
    return find_blocks(path.read_text(), path.relative_to(ROOT).as_posix())


def correct(block: Block) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="argpack-docs-") as scratch:
        return corrected(block, run_block(block, ROOT, Path(scratch)))


BLOCKS = [block for path in documents() for block in blocks_of(path)]


def test_the_readme_has_examples_that_run():
    found = [
        runs(c, b.name) for b in BLOCKS if b.name == "README.md" for c in b.commands if c.text != "echo $?"
    ]
    assert any(found), "README.md: no console block with an argpack command"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.name}:{block.first}")
def test_a_block_shows_what_argpack_prints(block):
    expected = correct(block)
    where = f"{block.name}:{block.first}"
    diff = difflib.unified_diff(block.lines, expected, where, "printed now", lineterm="")
    hint = "python tests/docs/test_examples.py --update rewrites it"
    assert block.lines == expected, "\n".join([f"{where} ({hint})", *diff])


def main() -> int:
    parser = argparse.ArgumentParser(description="Rewrite the console blocks that no longer show the truth.")
    parser.add_argument("--update", action="store_true", required=True)
    parser.parse_args()
    try:
        for path in documents():
            corrections = [(block, correct(block)) for block in blocks_of(path)]
            changed = [(block, lines) for block, lines in corrections if lines != block.lines]
            for block, _ in changed:
                print(f"{block.name}:{block.first}: rewritten")
            if changed:
                path.write_text(replace_blocks(path.read_text(), changed))
    except ExampleError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
