"""Fetch AITER's code objects into the cache, or list them.

`fetch` takes the wheel amd-aiter with pip, checks its sha256 and unpacks the code objects; a second call downloads
nothing. `list` shows what is there, and our own kernel.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `argpack kernels`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("fetch", help="download the code objects once")
    listing = actions.add_parser("list", help="list the code objects")
    listing.add_argument(
        "pattern", nargs="?", default="*", metavar="PATTERN", help="only those that fit, '*fmoe*' say"
    )
    listing.add_argument("--kernels", metavar="DIR", help="the folder to list")
    listing.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """0 done; errors are raised."""
    return _fetch() if args.action == "fetch" else _list(args)


def _fetch() -> int:
    from argpack.kernels import COUNT, RELEASE, fetch

    folder, downloaded = fetch()
    how = "fetched and checked" if downloaded else "already there"
    print(f"amd-aiter {RELEASE}: {COUNT:,} code objects {how}: {folder}")
    return 0


def _list(args: argparse.Namespace) -> int:
    from argpack.kernels import OWN, kernel_root, matching

    root = kernel_root(args.kernels)
    rows = []
    for path in matching(args.pattern, root=args.kernels):
        own = path.is_relative_to(OWN)
        rows.append(
            (f"own/{path.name}" if own or root is None else str(path.relative_to(root)), path.stat().st_size)
        )
    if args.json:
        print(
            json.dumps({"folder": root and str(root), "kernels": [{"path": p, "bytes": b} for p, b in rows]})
        )
        return 0
    width = max(len(name) for name, _ in rows)
    for name, size in rows:
        print(f"{name:<{width}}  {size:>9,} bytes")
    print(f"{len(rows):,} code objects in {root}" if root else f"{len(rows):,} code objects (none fetched)")
    return 0
