"""Schemas of kernel arguments: declared, derived, checked, inferred and compared.

  argpack schema NAME                    the fields of a declared family or of a .toml file
  argpack schema KERNEL.co               a schema derived from a code object's metadata alone
  argpack schema check KERNEL.co         metadata against the declared family: every disagreement
  argpack schema infer DUMP [DUMP ...]   what raw argument buffers show without a schema
  argpack schema compare A B             two schemas: fields that are added, missing or elsewhere
  argpack schema list                    the families that argpack declares

A file called check, infer, compare or list is written ./check. --toml prints a schema that can be edited and given
to --schema. Exit codes: 0 shown or agrees, 1 contradicts or differs, 2 could not tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError

if TYPE_CHECKING:
    import argparse

_COUNTS = {"list": (0, 0), "check": (1, 1), "compare": (2, 2), "infer": (1, 1000)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack schema`."""
    parser.add_argument("words", metavar="WORD", nargs="+", help="what to do, and with what: see above")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON")
    forms.add_argument("--toml", action="store_true", help="print the schema as TOML")
    parser.add_argument("--schema", metavar="SCHEMA", help="check: a family or .toml file to hold it against")
    parser.add_argument("--kernels", metavar="DIR", help="where to look for kernels by name")


def run(args: argparse.Namespace) -> int:
    """Do what the first word says; ArgpackError where that cannot be done."""
    from argpack.cli import schema_actions as actions

    word, rest = args.words[0], args.words[1:]
    least, most = _COUNTS.get(word, (0, 0))
    if not least <= len(rest) <= most:
        wanted = {0: "nothing", 1: "one name or file", 2: "two schemas"}[least]
        raise InputError(f"schema {word}: expected {wanted} to follow, found {' '.join(rest) or 'nothing'}")
    if args.toml and word in {"list", "check", "compare"}:
        raise InputError(f"schema {word}: --toml prints a schema, and this prints none")
    if args.schema is not None and word != "check":
        raise InputError("--schema goes with `schema check` alone")
    if word == "list":
        return actions.list_families(as_json=args.json)
    if word == "check":
        return actions.check(rest[0], args.schema, kernels=args.kernels, as_json=args.json)
    if word == "compare":
        return actions.compare(rest[0], rest[1], kernels=args.kernels, as_json=args.json)
    if word == "infer":
        return actions.infer_from(rest, as_json=args.json, as_toml=args.toml)
    return actions.show(word, kernels=args.kernels, as_json=args.json, as_toml=args.toml)
