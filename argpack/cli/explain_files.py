"""From the options of `argpack explain` to a scene and to what was given: reads all files. It has no subcommand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from argpack.cli.explain_operands import OPERANDS
from argpack.cli.layout_files import read_image, read_logical
from argpack.cli.problem import overrides_of, problem_of
from argpack.errors import InputError
from argpack.explain import Given, Scene, maker_of
from argpack.hexdump import Dump, read, readings
from argpack.numerics import bf16_to_float32, float32_to_bf16
from argpack.values import changed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.explain import Maker
    from argpack.explain.outputs import Bits
    from argpack.families import Family, Problem
    from argpack.schema import KernargSchema

_FIELDS = {"m": "M", "n": "N", "k": "K", "alpha": "alpha", "beta": "beta", "log2_k_split": "log2_k_split"}


class Evidence(NamedTuple):
    """The scene and what was given; `notes` say what was assumed."""

    scene: Scene
    given: Given
    notes: tuple[str, ...]


def stated_problem(args: argparse.Namespace, kernel: Kernel, family: Family) -> Problem:
    """The problem: of the options, what they leave out of the dump, of the operands' shapes, or as verify has it.

    Raises InputError where there is no such problem.
    """
    from argpack.families.loading import load_workloads

    workloads = load_workloads(family)
    found = _problem_of_files(args, maker_of(family), workloads.default_problem(kernel.name))
    problem = problem_of(args, _problem_in(_dump(args), family.schema, found))
    workloads.refusals(kernel.name, problem)
    return problem


def evidence(
    args: argparse.Namespace, code_object: CodeObject, kernel: Kernel, family: Family, problem: Problem
) -> Evidence:
    """Read everything. Raises InputError for a file that does not fit, or too few files for an output."""
    maker, dump = maker_of(family), _dump(args)
    shapes = maker.shapes(problem)
    logical, images = _operands(args, maker, shapes)
    notes = _assumed(args, problem, logical, images, shapes)
    complete = _complete(maker, problem, logical, images, kernel)
    stride = _stride_in(dump, maker)
    output = _output(args.output, "--output", maker, problem, stride)
    scene = maker.scene(
        code_object, kernel, family, problem, complete, None if output is None else output.shape
    )
    given = Given(
        logical=logical,
        images=images,
        arguments=_patched(dump, args, scene),
        grid=None if args.grid is None else _grid(args.grid),
        output=output,
        before=_output(args.before, "--before", maker, problem, stride),
    )
    return Evidence(scene, given, tuple(notes))


def _dump(args: argparse.Namespace) -> Dump | None:
    return None if args.arguments is None else read(args.arguments)


def _problem_in(dump: Dump | None, schema: KernargSchema, default: Problem) -> Problem:
    if dump is None:
        return default
    values = {one.slot.name: one.value for one in readings(dump, schema) if one.value is not None}
    found = {option: values[name] for option, name in _FIELDS.items() if name in values}
    return changed(default, **found)


def _stride_in(dump: Dump | None, maker: Maker) -> int | None:
    """D's row stride, in elements, as a dump has it: memory of D may be as large as that."""
    if dump is None:
        return None
    values = {one.slot.name: one.value for one in readings(dump, maker.SCHEMA)}
    found = values.get(maker.STRIDE_FIELD)
    return int(found) if found else None


def _problem_of_files(args: argparse.Namespace, maker: Maker, default: Problem) -> Problem:
    """Sizes as the shapes of .npy and .safetensors operands tell them; .bin files have none."""
    found: dict[str, int] = {}
    for name, option in OPERANDS.items():
        text = getattr(args, option)
        if text is not None and not text.endswith(".bin"):
            found = {**maker.sizes(name, read_logical(text, None).shape), **found}
    return changed(default, **found)


def _operands(
    args: argparse.Namespace, maker: Maker, shapes: Mapping[str, tuple[int, int]]
) -> tuple[dict[str, NDArray[np.generic]], dict[str, NDArray[np.uint8]]]:
    """Logical operands of the problem's shapes, and images, by buffer name."""
    logical: dict[str, NDArray[np.generic]] = {}
    images: dict[str, NDArray[np.uint8]] = {}
    for name, option in OPERANDS.items():
        plain, placed = getattr(args, option), getattr(args, f"placed_{option}")
        if name not in shapes:
            if plain is not None or placed is not None:
                raise InputError(f"--{option.replace('_', '-')}: this problem has no {name}")
            continue
        rows, columns = shapes[name]
        if plain is not None:
            shape = rows, columns * maker.ITEM.itemsize
            found = read_logical(plain, shape if plain.endswith(".bin") else None)
            if found.shape != shape:
                raise InputError(
                    f"{plain}: {name}: expected {rows} x {columns} of {maker.ITEM}, found {found.shape[0]} rows of "
                    f"{found.shape[1]} bytes"
                )
            logical[name] = np.ascontiguousarray(found).view(maker.ITEM)
        if placed is not None:
            images[name] = read_image(placed)
            if not images[name].size:
                raise InputError(f"{placed}: expected the buffer of {name}, found no byte")
    return logical, images


def _assumed(
    args: argparse.Namespace,
    problem: Problem,
    logical: Mapping[str, NDArray[np.generic]],
    images: Mapping[str, NDArray[np.uint8]],
    shapes: Mapping[str, tuple[int, int]],
) -> list[str]:
    """What is taken for operands that were not given. Raises InputError where an output would mean nothing."""
    notes = []
    missing = [name for name in shapes if name not in logical and name not in images]
    alone = [name for name in shapes if name in images and name not in logical]
    if missing and args.output is not None and (args.seed is None or len(missing) < len(shapes)):
        options = ", ".join(f"--{OPERANDS[name].replace('_', '-')}" for name in missing)
        raise InputError(
            f"--output: the operands that made it are needed, too: {options} (--seed N alone: those of argpack verify)"
        )
    if missing:
        notes.append(f"{', '.join(missing)}: random, as argpack verify makes them for seed {problem.seed}")
    if alone:
        options = ", ".join(f"--{OPERANDS[name].replace('_', '-')}" for name in alone)
        notes.append(f"{', '.join(alone)}: taken to lie right; {options} would tell")
    return notes


def _complete(
    maker: Maker,
    problem: Problem,
    logical: Mapping[str, NDArray[np.generic]],
    images: Mapping[str, NDArray[np.uint8]],
    kernel: Kernel,
) -> dict[str, NDArray[np.generic]]:
    """All logical operands: those given, those read out of images, random ones."""
    random = maker.random_logical(problem)
    found = {}
    for name, made in random.items():
        if name in logical:
            found[name] = logical[name]
        elif name in images:
            needed = maker.image_size(kernel.name, problem, name)
            if images[name].size < needed:
                option = OPERANDS[name].replace("_", "-")
                raise InputError(
                    f"--placed-{option}: {name}: expected {needed} bytes, found {images[name].size}; --{option} lets "
                    "the buffer be held against its matrix"
                )
            found[name] = maker.read_image(kernel.name, problem, name, images[name])
        else:
            found[name] = made
    return found


def _patched(dump: Dump | None, args: argparse.Namespace, scene: Scene) -> Dump | None:
    """The dump with the fields of --set in it; without a dump those fields alone are known."""
    schema = scene.family.schema
    overrides = overrides_of(args.set, schema)
    if not overrides:
        return dump
    size = max(schema.size, dump.size if dump else 0)
    data, known = bytearray(size), bytearray(size)
    if dump is not None:
        data[: dump.size], known[: dump.size] = dump.data, dump.known
    for name, value in overrides.items():
        slot = schema.slot(name)
        if slot.field is not None:
            data[slot.offset : slot.end] = slot.field.scalar.encode(value)
            known[slot.offset : slot.end] = b"\x01" * slot.size
    return Dump(bytes(data), bytes(known), dump.source if dump else "--set")


def _grid(text: str) -> tuple[int, int, int]:
    parts = text.lower().replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(
        part.strip().isascii() and part.strip().isdigit() for part in parts
    ):
        raise InputError(f"--grid: expected X,Y,Z in workgroups, 4,2,1 say, found {text!r}")
    counts = [int(part) for part in parts] + [1] * (3 - len(parts))
    if min(counts) < 1:
        raise InputError(f"--grid: expected 1 or more of each, found {text!r}")
    return counts[0], counts[1], counts[2]


def _output(text: str | None, option: str, maker: Maker, problem: Problem, stride: int | None) -> Bits | None:
    """Bits of D, (rows, columns) of memory: a matrix of M x N or larger, or as many elements in a row."""
    if text is None:
        return None
    m, n = problem.m, problem.n
    if text.endswith(".npy"):
        found = _bits(text, option, maker, _npy(text))
    else:
        raw = read_image(text)
        elements = {m * n} | ({m * stride} if stride else set())
        item = maker.FORM.bits.itemsize
        widths = [width for width in (item, 4) if raw.size in {count * width for count in elements}]
        if not widths:
            raise InputError(
                f"{option}: {text}: expected {m * n * item} bytes ({m} x {n} {maker.FORM.dtype}), found {raw.size}"
            )
        found = _bits(text, option, maker, raw.view(np.uint16 if widths[0] == 2 else np.float32))
    if found.ndim != 2:
        if found.size % m or found.size < m * n:
            raise InputError(f"{option}: {text}: expected {m} x {n} elements, found shape {found.shape}")
        found = found.reshape(m, -1)
    if found.shape[0] < m or found.shape[1] < n:
        raise InputError(f"{option}: {text}: expected {m} x {n} elements or more, found shape {found.shape}")
    return found


def _npy(path: str) -> NDArray[np.generic]:
    try:
        array: NDArray[np.generic] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not a .npy file of numbers: {' '.join(str(error).split())}") from error
    return array


def _bits(text: str, option: str, maker: Maker, array: NDArray[np.generic]) -> Bits:
    """Elements as bits of the output type. float32 values stand for bf16 where they are exactly that."""
    form = maker.FORM
    if array.dtype.itemsize == form.bits.itemsize and array.dtype.kind in "uiV":
        return np.ascontiguousarray(array).view(form.bits)
    if array.dtype != np.float32:
        raise InputError(
            f"{option}: {text}: expected bits of {form.dtype} ({form.bits}) or float32, found {array.dtype}"
        )
    values = np.ascontiguousarray(array).view(np.float32)
    if form.dtype == "float32":
        return values.view(np.uint32)
    bits = float32_to_bf16(values)
    back = bf16_to_float32(bits)
    wrong = int(((back != values) & ~np.isnan(values)).sum())
    if wrong:
        raise InputError(
            f"{option}: {text}: the kernel writes bf16, and {wrong} of {values.size} values are no bf16: were they "
            "computed after the launch?"
        )
    return bits
