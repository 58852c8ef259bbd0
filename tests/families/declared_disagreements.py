"""What AITER's code objects declare against the families that argpack declares: collected, to be kept as a golden file.

python tests/families/declared_disagreements.py HSA_FOLDER     rewrite the golden file
"""

from __future__ import annotations

import collections
import json
import sys
from pathlib import Path

from argpack.codeobject import read
from argpack.families.choice import family_of_kernel
from argpack.families.metadata import disagreements

GOLDEN = Path(__file__).with_name("declared_disagreements.json")


def collect(root: Path) -> dict[str, dict[str, object]]:
    """By family: how many files it has, and each disagreement with its reason and the number of files that have it."""
    files: collections.Counter[str] = collections.Counter()
    found: dict[str, collections.Counter[tuple[int, str, str, str]]] = collections.defaultdict(
        collections.Counter
    )
    for path in sorted(root.rglob("*.co")):
        code_object = read(path)
        for kernel in code_object.kernels:
            family = family_of_kernel(kernel, code_object)
            name = family.name if family else "none"
            files[name] += 1
            for one in disagreements(family, kernel) if family else ():
                found[name][one.offset, one.kind.value, one.text, one.reason] += 1
    return {
        name: {
            "files": files[name],
            "disagreements": [
                {"files": count, "kind": kind, "text": text, "reason": reason}
                for (_, kind, text, reason), count in sorted(found[name].items())
            ],
        }
        for name in sorted(files)
    }


def text_of(collected: dict[str, dict[str, object]]) -> str:
    """The golden file: a line for each disagreement."""
    return (
        json.dumps(collected, indent=1, ensure_ascii=False)
        .replace('{\n    "files"', '{"files"')
        .replace(',\n    "', ', "')
        .replace('"\n   }', '"}')
        + "\n"
    )


if __name__ == "__main__":
    GOLDEN.write_text(text_of(collect(Path(sys.argv[1]))), encoding="utf-8")
