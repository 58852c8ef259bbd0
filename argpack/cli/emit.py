"""Print a schema as source text that asserts its own layout.

SCHEMA is a family (see `argpack schema list`), a TOML file of your own, or a kernel by file or name; a kernel
of no known family has the arguments that its metadata declares. Exit codes: 0 printed, 2 not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from argpack.families.family import Family

LANGUAGES = {
    "c": "a C11 header",
    "cpp": "a C++17 header",
    "python-ctypes": "a Python module with a ctypes Structure",
    "rust": "a Rust module",
    "toml": "TOML, to be edited and given to --schema",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack emit`."""
    parser.add_argument(
        "schema", metavar="SCHEMA", help="a family, a .toml file, or a kernel by file or name"
    )
    languages = parser.add_mutually_exclusive_group(required=True)
    for language, text in LANGUAGES.items():
        languages.add_argument(
            f"--{language}", dest="language", action="store_const", const=language, help=f"print {text}"
        )
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """Print; 0, or ArgpackError."""
    from argpack.cli.schema_source import source_of

    source = source_of(args.schema, kernels=args.kernels)
    print(text_of(source.family, args.language), end="")
    if source.reason.startswith("from the metadata"):
        print(
            f"argpack: note: {source.family.name}: {source.reason}, which nothing confirms", file=sys.stderr
        )
    return 0


def text_of(family: Family, language: str) -> str:
    """The schema of a family as source text; TOML has the use of each field, too."""
    from argpack.schema import emitters, toml_form

    schema = family.schema
    if language == "toml":
        uses = {name: use.value for name, use in family.usage(family.name).items()}
        return toml_form.dump(schema, uses=uses, metadata=family.metadata_names)
    if language == "c":
        return schema.c_header()
    emit = {"cpp": emitters.cpp_of, "python-ctypes": emitters.ctypes_of, "rust": emitters.rust_of}
    return emit[language](schema)
