"""Fetch AITER's code objects into the cache, or list them.

`fetch` takes the wheel amd-aiter with pip, checks its sha256 and unpacks the code objects; a second call downloads
nothing. `list` shows what is there, and our own kernel.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack kernels`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    fetching = actions.add_parser("fetch", help="download the code objects once")
    fetching.add_argument("--force", action="store_true", help="download them again")
    listing = actions.add_parser("list", help="list the code objects")
    listing.add_argument(
        "pattern", nargs="?", default="*", metavar="PATTERN", help="only those that fit, '*fmoe*' say"
    )
    listing.add_argument("--kernels", metavar="DIR", help="the folder to list")
    listing.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """0 done; errors are raised."""
    return _fetch(force=args.force) if args.action == "fetch" else _list(args)


def _fetch(*, force: bool) -> int:
    from argpack.kernels import COUNT, RELEASE, fetch, fetched

    if force or not fetched().is_dir():
        print(f"downloading amd-aiter {RELEASE} (40 MB) with pip", file=sys.stderr)
    folder, downloaded = fetch(force=force)
    how = "fetched and checked" if downloaded else "already there"
    print(f"amd-aiter {RELEASE}: {COUNT:,} code objects {how}: {folder}")
    return 0


def _list(args: argparse.Namespace) -> int:
    from argpack.kernels import kernel_root, matching

    root = kernel_root(args.kernels)
    rows = [_row(path, root) for path in matching(args.pattern, root=args.kernels)]
    if args.json:
        import json

        print(json.dumps({"folder": root and str(root), "kernels": rows}, indent=2))
        return 0
    paths = max(len(row["path"]) for row in rows)
    targets = max(len(row["target"] or "unreadable") for row in rows)
    for row in rows:
        print(f"{row['path']:<{paths}}  {row['target'] or 'unreadable':<{targets}}  {row['bytes']:>9,} bytes")
    noun = "code object" if len(rows) == 1 else "code objects"
    where = f"in {root}" if root else "(none fetched: run `argpack kernels fetch`)"
    print(f"{len(rows):,} {noun} {where}")
    return 0


def _row(path: Path, root: Path | None) -> dict[str, Any]:
    """`target` is None where the file is no code object that argpack reads."""
    from argpack.codeobject import read
    from argpack.errors import InputError
    from argpack.kernels import OWN

    own = root is None or path.is_relative_to(OWN)
    try:
        target = str(read(path).target)
    except InputError:
        target = None
    label = f"own/{path.relative_to(OWN)}" if own else str(path.relative_to(root or OWN))
    return {"path": label, "target": target, "bytes": path.stat().st_size if path.exists() else 0}
