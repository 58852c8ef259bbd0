"""Layouts of users: read from TOML or from a pattern, and refused with file, table and key."""

from pathlib import Path

import numpy as np
import pytest

from argpack.errors import InputError
from scale_layout import Tensor, apply, find_layout, layout_named, read_layouts

GOOD = """
[scale_24x4]
pattern = "(mo m24) (ko k4) -> mo ko m24 k4"
tensor = "scales"
unit = "scale byte of one block of K"
doc = "Blocks of 24 rows by 4 columns."
wave = 32

[[scale_24x4.conventions]]
name = "our_kernel"
row_multiple = 48
col_multiple = 4
pads_rows = true
pad_value = 0x7F

[plain]
pattern = "m k -> k m"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "layouts.toml"
    path.write_text(text)
    return path


def test_a_file_of_layouts(tmp_path: Path) -> None:
    scale, plain = read_layouts(written(tmp_path, GOOD))
    assert (scale.name, scale.tensor, scale.tile, scale.aliases) == (
        "scale_24x4",
        Tensor.SCALES,
        (24, 4),
        ("our_kernel",),
    )
    assert scale.conventions[0].padding == "rows to 48, with 0x7f, columns must be multiples of 4"
    assert (plain.tensor, plain.unit) == (Tensor.ANY, "byte")
    assert (scale.wave, plain.wave) == (32, None)
    assert find_layout("our_kernel", (scale, plain)) is scale
    assert find_layout("nvidia_128x4", (scale,)) is layout_named("scale_128x4")


def test_a_pattern_on_the_command_line_is_a_layout() -> None:
    layout = find_layout("(mo  m2) k  ->  mo k m2")
    assert layout.pattern == "(mo m2) k -> mo k m2"
    logical = np.arange(8, dtype=np.uint8).reshape(2, 4)
    assert apply(layout, logical, pad_value=None).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


CONVENTION = '[a]\npattern = "(m m2) k -> m m2 k"\n[[a.conventions]]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a table for each layout, found none"),
        ("pattern", "not TOML: "),
        ("a = 1", r"\[a\]: expected a table, found 1"),
        ("[a]", r"\[a\]: pattern is missing"),
        ("[a]\npattern = 3", r"\[a\]: pattern: expected str, found 3"),
        (
            '[a]\npattern = "m k -> m k"\nwave = 48',
            r"\[a\]: layout 'a': wave: expected 32 or 64 lanes, found 48",
        ),
        ('[a]\npattern = "m k"', r"\[a\]: layout pattern 'm k': expected"),
        ('[a]\npattern = "m k -> m k"\ntile = 3', r"\[a\]: unknown key 'tile'; known are pattern, tensor"),
        (
            '[a]\npattern = "m k -> m k"\ntensor = "bias"',
            r"tensor: expected scales, weights, activations, any, found",
        ),
        ('[A-b]\npattern = "m k -> m k"', "expected small letters, digits and _, found 'A-b'"),
        ('[scale_32x8]\npattern = "m k -> m k"', "'scale_32x8' is taken"),
        (CONVENTION, r"conventions\[0\]: name is missing"),
        (
            CONVENTION + 'name = "x"\nrow_multiple = 3\ncol_multiple = 1',
            "row_multiple: expected a multiple of 2, found 3",
        ),
        (
            CONVENTION + 'name = "x"\nrow_multiple = 2\ncol_multiple = 0',
            "col_multiple: expected a multiple of 1, found 0",
        ),
        (
            CONVENTION + 'name = "x"\nrow_multiple = 2\ncol_multiple = 1\npad_value = 256',
            r"pad_value: expected 0\.\.255, found 256",
        ),
        (
            CONVENTION + 'name = "x"\nrow_multiple = 2\ncol_multiple = 1\npads_rows = 1',
            "pads_rows: expected bool, found 1",
        ),
        (
            CONVENTION + 'name = "x"\nrow_multiple = true\ncol_multiple = 1',
            "row_multiple: expected int, found True",
        ),
        (
            CONVENTION + 'name = "x"\nrow_multiple = 2\ncol_multiple = 1\nelement_bytes = 0',
            "element_bytes: expected 1 or more",
        ),
        (CONVENTION + 'name = "a"\nrow_multiple = 2\ncol_multiple = 1', "'a' is taken"),
        ('[a]\npattern = "m k -> m k"\nconventions = [1]', r"conventions\[0\]: expected a table, found 1"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_layouts(written(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "layouts.toml: ").rstrip())


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_layouts(tmp_path / "none.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not TOML"):
        read_layouts(tmp_path / "binary")
