"""Arrays of bytes in files for `argpack layout`: .npy, .bin with a shape, and .safetensors. It has no subcommand.

An element of several bytes is that many columns. A tensor of a .safetensors file is named after a colon,
`model.safetensors:layer.weight`, where the file holds more than one.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import InputError
from argpack.output_files import to_write

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUFFIXES = (".npy", ".bin", ".safetensors")
_MAX_HEADER = 100 << 20  # the format's own limit


def parse_shape(text: str) -> tuple[int, int]:
    """`48x52` as rows and columns, in bytes. Raises InputError."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise InputError(f"--shape: expected ROWSxCOLUMNS, 48x52 say, found {text!r}")
    return int(parts[0]), int(parts[1])


def is_data(text: str) -> bool:
    """Whether a name on the command line is a file of bytes, by its suffix."""
    return _split(text)[0].suffix in SUFFIXES


def read_logical(text: str, shape: tuple[int, int] | None, *, scales: bool = False) -> NDArray[np.uint8]:
    """The logical array, uint8 (rows, columns in bytes); elements of `scales` must be bytes, a .bin needs `shape`.

    Raises InputError.
    """
    path, name = _split(text)
    if path.suffix == ".bin":
        if shape is None:
            raise InputError(f"{text}: --shape ROWSxCOLUMNS is needed: a .bin file has none")
        data = _raw(path)
        if data.size != shape[0] * shape[1]:
            raise InputError(
                f"{text}: expected {shape[0] * shape[1]} bytes for {shape[0]} x {shape[1]}, found {data.size}"
            )
        return data.reshape(shape)
    array = _array(path, name)
    if array.ndim != 2 or not array.size:
        raise InputError(
            f"{text}: expected an array of two axes, rows and columns, found shape {array.shape}"
        )
    if scales and array.itemsize != 1:
        raise InputError(f"{text}: a scale is one byte, expected uint8, found {array.dtype}")
    found = np.ascontiguousarray(array).view(np.uint8)
    if shape is not None and shape != found.shape:
        raise InputError(
            f"{text}: --shape says {shape[0]} x {shape[1]}, the file {found.shape[0]} x {found.shape[1]}"
        )
    return found


def read_image(text: str) -> NDArray[np.uint8]:
    """The image, flat uint8. Raises InputError."""
    path, name = _split(text)
    if path.suffix == ".bin":
        return _raw(path)
    array = _array(path, name)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def write(path: Path, array: NDArray[np.uint8], *, force: bool) -> None:
    """Write .npy, with its shape, or .bin. Raises InputError, also where the file exists and `force` is off."""
    if path.suffix not in {".npy", ".bin"}:
        raise InputError(f"{path}: expected a file to write that ends in .npy or .bin")
    with to_write(path, force=force) as file:
        if path.suffix == ".npy":
            np.save(file, array)
        else:
            file.write(array.data)


def _split(text: str) -> tuple[Path, str | None]:
    """The path and, for .safetensors, the name of the tensor."""
    head, mark, name = text.partition(".safetensors:")
    return (Path(head + ".safetensors"), name) if mark else (Path(text), None)


def _raw(path: Path) -> NDArray[np.uint8]:
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if not data.size:
        raise InputError(f"{path}: the file is empty")
    return data


def _array(path: Path, name: str | None) -> NDArray[np.generic]:
    if path.suffix == ".safetensors":
        return _safetensors(path, name)
    if path.suffix != ".npy":
        raise InputError(f"{path}: expected a file that ends in {', '.join(SUFFIXES)}")
    try:
        array: NDArray[np.generic] = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: not a .npy file of numbers: {' '.join(str(error).split())}") from error
    if array.dtype.byteorder == ">":
        raise InputError(f"{path}: expected little-endian elements, as a GPU reads them, found {array.dtype}")
    return array


def _safetensors(path: Path, name: str | None) -> NDArray[np.generic]:
    """One tensor; two values of 4 bits are a byte. The format: the header's length, the header in JSON, then bytes."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size - 8
            length = int.from_bytes(file.read(8), "little")
            if length > min(_MAX_HEADER, size):
                raise InputError(
                    f"{path}: not a safetensors file: a header of {length} bytes in a file of {size + 8}"
                )
            shape, (start, end) = _entry(path, name, file.read(length))
            fits = 0 <= start <= end <= size - length and shape and min(shape) > 0
            rows = math.prod(shape[:-1]) if fits else 1
            width, rest = divmod(end - start, rows)  # bytes of a row
            item, part = divmod(width, shape[-1]) if fits else (0, 0)
            if not fits or rest or (part and 2 * width != shape[-1]) or not width:
                raise InputError(
                    f"{path}: {name or 'tensor'}: shape {shape} does not fit its {end - start} bytes"
                )
            file.seek(8 + length + start)
            values = np.fromfile(file, np.uint8, end - start)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if item in {2, 4, 8}:
        return values.view(f"<u{item}").reshape(shape)
    return values.reshape([*shape[:-1], width])


def _entry(path: Path, name: str | None, text: bytes) -> tuple[list[int], tuple[int, int]]:
    """Shape and first and last offset of a tensor, from the header."""
    try:
        tensors = {key: value for key, value in json.loads(text).items() if key != "__metadata__"}
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError) as error:
        raise InputError(f"{path}: not a safetensors file: its header is no JSON object") from error
    if name is None and len(tensors) == 1:
        name = next(iter(tensors))
    if name not in tensors:
        known = ", ".join(sorted(tensors)[:8]) + (", …" if len(tensors) > 8 else "")
        raise InputError(f"{path}: name a tensor, {path.name}:NAME; it holds {known or 'none'}")
    try:
        shape = [int(extent) for extent in tensors[name]["shape"]]
        start, end = (int(offset) for offset in tensors[name]["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {name}: no shape or data_offsets in the header") from error
    return shape, (start, end)
