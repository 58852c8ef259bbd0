"""The options that state a problem and set single fields: what `verify` and `pack` share. It has no
subcommand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.errors import InputError
from argpack.values import changed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from argpack.families import Problem
    from argpack.schema import KernargSchema


# Tiles at random where nothing else is said.
SAMPLE = 16


def add_arguments(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Options of the problem and `--set`; `required` insists on the sizes."""
    group = parser.add_argument_group("problem")
    sizes = (("m", "rows of A and D"), ("n", "columns of D, rows of B"), ("k", "length of the sums"))
    for name, meaning in sizes:
        group.add_argument(f"-{name}", type=int, required=required, metavar=name.upper(), help=meaning)
    group.add_argument("--alpha", type=float, help="factor of the product")
    group.add_argument("--beta", type=float, help="factor of C")
    group.add_argument("--log2-k-split", type=int, metavar="LOG2", help="cut K into 2^LOG2 slices")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="set a field of the argument buffer by hand, after all others (may be repeated)",
    )


def problem_of(args: argparse.Namespace, default: Problem) -> Problem:
    """The problem that the options state; what they leave out is as in `default`."""
    names = ("m", "n", "k", "alpha", "beta", "log2_k_split", "seed")
    given = {name: value for name in names if (value := getattr(args, name, None)) is not None}
    return changed(default, **given)


def overrides_of(settings: Sequence[str], schema: KernargSchema) -> dict[str, int | float]:
    """Field values of `FIELD=VALUE` texts: integers in any base of Python, floats for float fields, `null`.

    Raises InputError for another form, an unknown field, a value that does not fit, a field set twice.
    """
    values: dict[str, int | float] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text}: expected FIELD=VALUE")
        field = schema.slot(name).field
        if field is None:
            raise InputError(f"--set {text}: {name} is a pad, not a field")
        if name in values:
            raise InputError(f"--set {text}: {name} is set twice")
        try:
            number = _number(value, kind=field.scalar.kind)
            field.scalar.encode(number)
        except ValueError:
            raise InputError(
                f"--set {text}: expected a value of type {field.type}, found {value!r}"
            ) from None
        except InputError as error:
            raise InputError(f"--set {text}: {error}") from None
        values[name] = number
    return values


def sample(text: str) -> int | None:
    """The option `all`, `sample` or `sample:N`: how many tiles of the output to run at random, None for all."""
    import argparse

    kind, colon, count = text.partition(":")
    if text == "all":
        return None
    if kind != "sample" or (colon and not (count.isdecimal() and int(count) <= 1_000_000)):
        raise argparse.ArgumentTypeError(
            f"expected all, sample or sample:N with N of 0 to 1000000, found {text}"
        )
    return int(count) if colon else SAMPLE


def _number(text: str, *, kind: str) -> int | float:
    if kind == "float":
        return float(text)
    return 0 if kind == "pointer" and text == "null" else int(text, 0)
