"""`argpack layout`: the words a user reads, the bytes that are written, what is refused, and the exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest
from layout_case import IMAGE, SCALES

from scale_layout import LAYOUTS, NIBBLE_ORDERS, apply, layout_named


def test_list_names_layouts_and_who_uses_them(layout):
    code, out, _ = layout("list")
    assert code == 0
    assert "scale_32x8                  (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2\n" in out
    for known in LAYOUTS:
        assert known.name in out
        assert all(alias in out for alias in known.aliases)
    assert f"{len(LAYOUTS)} layouts, used under 41 names\n" in out
    assert [line.split()[0] for line in out.splitlines()[-5:]] == [order.name for order in NIBBLE_ORDERS]
    assert max(map(len, out.splitlines())) <= 120


def test_list_of_one_tensor_and_as_json(layout):
    code, out, _ = layout("list", "--tensor", "activations")
    assert (code, out.splitlines()[0].split()[0], len(out.splitlines())) == (0, "activation_2x128", 3)
    code, out, _ = layout("list", "--json", "--layouts", "mine.toml")
    names = [one["name"] for one in json.loads(out)]
    assert (code, names[:3]) == (0, ["scale_24x4", "row_major", "scale_32x8"])


def test_show_says_what_a_layout_is(layout):
    code, out, _ = layout("show", "scale_32x8")
    assert code == 0
    for line in (
        "  pattern   (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2",
        "  offset    (r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16",
        "  row       (o//(32*C))*32 + (o%2)*16 + (o%64)//4",
        "  column    ((o%(32*C))//256)*8 + ((o%4)//2)*4 + (o%256)//64",
        "  one c     scale byte of one block of K",
        "  wave      64 lanes: the order is made for waves of that size",
        "            every 256 bytes: C/8 columns, 8 apart",
        "  used by   aiter_e8m0_shuffle_gfx950: rows to 256, columns to 8, uninitialised",
        "r16   1  65 129 193   3  67 131 195",
        "  0  r0c0  r16c0 r0c4  r16c4 r1c0  r17c0 r1c4  r17c4 r2c0  r18c0 r2c4  r18c4 r3c0  r19c0 r3c4  r19c4",
    ):
        assert line in out.splitlines()
    assert "\x1b" not in out


def test_show_draws_colours_on_a_terminal(layout, monkeypatch):
    monkeypatch.setattr("argpack.cli.output.colour", lambda: True)
    assert "\x1b[38;5;16;48;5;" in layout("show", "weight_16x16")[1]


def test_show_makes_figures(layout):
    code, out, _ = layout("show", "(mo m3) (ko k4) -> mo ko k4 m3", "--svg", "a.svg", "--png", "a.png")
    assert code == 0
    assert out.endswith("\ndrawn: a.svg, a.png\n")
    assert Path("a.svg").read_text().startswith("<svg ")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = layout("show", "row_major", "--svg", "none/a.svg")
    assert (code, err) == (2, "argpack: error: none/a.svg: cannot be written: its folder does not exist\n")


def test_apply_and_invert(layout):
    code, out, _ = layout("apply", "--layout", "scale_32x8", "--pad-value", "0x7f", "s.npy", "-o", "out.bin")
    assert (code, out) == (0, "out.bin: 3584 bytes, scale_32x8: 48 x 52 padded to 64 x 56\n")
    assert Path("out.bin").read_bytes() == IMAGE.tobytes()
    code, out, _ = layout("invert", "--layout", "scale_32x8", "out.bin", "--shape", "48x52", "-o", "back.npy")
    assert (code, out) == (0, "back.npy: 48 x 52 bytes, out of scale_32x8: 48 x 52 padded to 64 x 56\n")
    assert np.array_equal(np.load("back.npy"), SCALES)


def test_nothing_is_overwritten_without_being_told_to(layout):
    before = Path("s.npy").read_bytes()
    for command in (
        ("apply", "--layout", "scale_32x8", "--pad-value", "0", "s.npy", "-o", "s.npy"),
        ("invert", "--layout", "scale_32x8", "s.bin", "--shape", "48x52", "-o", "s.npy"),
        ("convert", "--from", "scale_32x8", "--to", "row_major", "s.bin", "--shape", "48x52", "-o", "s.npy"),
        ("show", "scale_32x8", "--svg", "s.npy"),
        ("show", "scale_32x8", "--png", "s.npy"),
    ):
        code, _, err = layout(*command)
        assert (code, err) == (2, "argpack: error: s.npy: exists; --force overwrites it\n")
        assert Path("s.npy").read_bytes() == before
    command = ("apply", "--layout", "scale_32x8", "--pad-value", "0x7f", "s.npy", "-o", "s.bin")
    Path("s.bin").write_bytes(b"longer than the image" * 999)
    assert layout(*command, "--force")[0] == 0
    assert Path("s.bin").read_bytes() == IMAGE.tobytes()


def test_b10_129_rows_for_another_backend(layout):
    scales = np.random.default_rng(3).integers(100, 140, (129, 8), dtype=np.uint8)
    apply(layout_named("scale_32x8"), scales, pad_value=0).tofile("a.bin")
    command = (
        "convert",
        "--from",
        "hipblaslt_blk32_ue8m0_32_8_ext",
        "--to",
        "nvidia_128x4",
        "--pad-value",
        "0",
    )
    code, out, _ = layout(*command, "a.bin", "--shape", "129x8", "-o", "n.bin")
    assert (code, out) == (
        0,
        "n.bin: 2048 bytes, scale_128x4 as nvidia_128x4 pads it: 129 x 8 padded to 256 x 8\n",
    )


def test_a_users_name_brings_its_padding(layout):
    alias = "aiter_e8m0_shuffle_gfx950"
    code, out, _ = layout("apply", "--layout", alias, "--pad-value", "0", "s.npy", "-o", "out.npy")
    assert (code, out) == (
        0,
        "out.npy: 14336 bytes, scale_32x8 as aiter_e8m0_shuffle_gfx950 pads it: 48 x 52 padded to 256 x 56\n",
    )
    assert np.load("out.npy").shape == (14336,)
    code, _, _ = layout("invert", "--layout", alias, "out.npy", "--shape", "48x52", "-o", "back.bin")
    assert (code, Path("back.bin").read_bytes()) == (0, SCALES.tobytes())


def test_a_pattern_and_a_file_of_layouts(layout):
    code, out, _ = layout("apply", "--layout", "(mo m3) (ko k2) -> mo ko k2 m3", "s.npy", "-o", "x.bin")
    assert (code, out) == (0, "x.bin: 2496 bytes, (mo m3) (ko k2) -> mo ko k2 m3: 48 x 52\n")
    code, out, _ = layout("apply", "--layout", "scale_24x4", "--layouts", "mine.toml", "s.npy", "-o", "y.bin")
    assert (code, out) == (0, "y.bin: 2496 bytes, scale_24x4: 48 x 52\n")


def test_elements_of_two_bytes_are_two_columns(layout):
    halves = np.arange(16 * 32, dtype=np.uint16).reshape(16, 32)
    np.save("w.npy", halves)
    code, _, _ = layout("apply", "--layout", "aiter_weight_16x16_bf16", "w.npy", "-o", "w.bin")
    assert code == 0
    image = np.fromfile("w.bin", np.uint16)
    assert image[:8].tolist() == list(range(8))
    assert image[8:16].tolist() == list(range(32, 40))


def safetensors(path, **tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        header[name] = {
            "dtype": "U8",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_safetensors_one_tensor_or_one_of_many(layout):
    safetensors("one.safetensors", scales=SCALES)
    safetensors("two.safetensors", a=SCALES, b=IMAGE.reshape(64, 56))
    command = ("apply", "--layout", "scale_32x8", "--pad-value", "127", "--force", "-o", "x.bin")
    for name in ("one.safetensors", "two.safetensors:a"):
        assert layout(*command, name)[0] == 0
        assert Path("x.bin").read_bytes() == IMAGE.tobytes()
    assert (
        layout("check", "two.safetensors:b", "--logical", "two.safetensors:a", "--layout", "scale_32x8")[0]
        == 0
    )
    code, _, err = layout(*command, "two.safetensors")
    assert (code, err) == (
        2,
        "argpack: error: two.safetensors: name a tensor, two.safetensors:NAME; it holds a, b\n",
    )


# What safetensors 0.8.0 writes for {"s": uint8 [[0, 1], [2, 3]]}.
WRITTEN = (
    b'X\x00\x00\x00\x00\x00\x00\x00{"__metadata__":{"format":"pt"},"s":{"dtype":"U8","shape":[2,2],'
    b'"data_offsets":[0,4]}}  \x00\x01\x02\x03'
)


def test_safetensors_as_the_library_writes_them(layout):
    Path("w.safetensors").write_bytes(WRITTEN)
    assert layout("apply", "--layout", "m k -> k m", "w.safetensors", "-o", "x.bin")[0] == 0
    assert Path("x.bin").read_bytes() == bytes([0, 2, 1, 3])


def test_safetensors_of_four_bits_are_bytes_of_two_values(layout):
    packed = WRITTEN.replace(b'"U8","shape":[2,2]', b'"F4","shape":[2,4]')
    Path("w.safetensors").write_bytes(packed)
    assert layout("apply", "--layout", "m k -> k m", "w.safetensors", "-o", "x.bin")[0] == 0
    assert Path("x.bin").read_bytes() == bytes([0, 2, 1, 3])


def test_safetensors_of_two_bytes_are_no_scales(layout):
    Path("w.safetensors").write_bytes(WRITTEN.replace(b"[2,2]", b"[2,1]"))
    code, _, err = layout("apply", "--layout", "scale_32x8", "w.safetensors", "-o", "x.bin")
    assert (code, err) == (
        2,
        "argpack: error: w.safetensors: a scale is one byte, expected uint8, found uint16\n",
    )


def test_convert_between_two_layouts(layout):
    command = (
        "convert",
        "--from",
        "scale_32x8",
        "--to",
        "nvidia_128x4",
        "s.bin",
        "--shape",
        "48x52",
        "-o",
        "n.bin",
    )
    code, out, _ = layout(*command, "--pad-value", "0")
    assert (code, out) == (
        0,
        "n.bin: 6656 bytes, scale_128x4 as nvidia_128x4 pads it: 48 x 52 padded to 128 x 52\n",
    )
    assert Path("n.bin").read_bytes() == apply(layout_named("scale_128x4"), SCALES, pad_value=0).tobytes()
    assert layout(*command)[0] == 2


def test_check_says_right(layout):
    code, out, _ = layout("check", "s.bin", "--logical", "s.npy", "--layout", "scale_32x8")
    assert (code, out) == (
        0,
        (
            "RIGHT  s.bin\n"
            "  scale_32x8: all 2496 bytes lie where they must\n"
            "  48 rows pad to 64 and 52 columns pad to 56: 1088 pad bytes, all 0x7f\n"
        ),
    )


def test_check_says_what_is_wrong(layout):
    apply(layout_named("scale_32x4"), SCALES, pad_value=0, col_multiple=8).tofile("wrong.bin")
    command = ("check", "wrong.bin", "--logical", "s.npy", "--layout", "scale_32x8")
    code, out, _ = layout(*command)
    words = "scale_32x4 was applied instead of scale_32x8: it is for waves of 32 lanes, scale_32x8 for waves of 64"
    assert (code, out) == (1, f"WRONG  wrong.bin\n  {words}\n")
    code, out, _ = layout(*command, "--json")
    assert (code, json.loads(out)) == (
        1,
        {"right": False, "sentences": [words], "notes": []},
    )


def test_check_of_padding_and_of_the_other_operand(layout):
    command = ("check", "s.bin", "--layout", "scale_32x8", "--logical")
    code, out, _ = layout(*command, "s.npy", "--pad-value", "0")
    assert code == 1
    assert "1088 pad bytes, all not 0x00: found 0x7f\n" in out
    np.save("b.npy", SCALES[::-1])
    code, out, _ = layout(*command, "b.npy", "--other", "s.npy")
    assert (code, out.splitlines()[1]) == (
        1,
        "  this is the image of the other operand: A and B were exchanged",
    )


def test_check_notes_a_nan_in_the_padding(layout):
    apply(layout_named("scale_32x8"), SCALES, pad_value=0xFF).tofile("s.bin")
    code, out, _ = layout("check", "s.bin", "--logical", "s.npy", "--layout", "scale_32x8")
    assert code == 0
    assert out.endswith(
        "\n  note: a pad byte 0xff is NaN as an E8M0 scale, and NaN times a padded 0 is NaN\n"
    )


def test_emit(layout):
    code, out, _ = layout("emit", "weight_16x16", "--expression")
    assert (code, out) == (0, "(r/16)*16*C + (c/16)*256 + (r%16)*16 + c%16\n")
    code, out, _ = layout("emit", "weight_16x16")
    assert code == 0
    assert (
        "static inline uint64_t weight_16x16_offset(uint64_t r, uint64_t c, uint64_t R, uint64_t C)\n" in out
    )


APPLY = ("apply", "--layout", "scale_32x8", "-o", "x.bin")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*APPLY, "s.npy"),
            "scale_32x8: 48 x 52 padded to 64 x 56: say with --pad-value what fills the padding",
        ),
        (
            ("apply", "--layout", "hipblaslt_blk32_ue8m0_32_8_ext", "s.npy", "-o", "x.bin"),
            (
                "scale_32x8 as hipblaslt_blk32_ue8m0_32_8_ext pads it: 48 x 52 padded to 64 x 56: say with"
                " --pad-value what fills the padding; hipblaslt_blk32_ue8m0_32_8_ext fills it with 0x00"
            ),
        ),
        (
            ("apply", "--layout", "aiter_e8m0_shuffle_gfx950", "s.npy", "-o", "x.bin"),
            (
                "scale_32x8 as aiter_e8m0_shuffle_gfx950 pads it: 48 x 52 padded to 256 x 56: say with --pad-value what"
                " fills the padding; aiter_e8m0_shuffle_gfx950 leaves it uninitialised"
            ),
        ),
        (
            ("apply", "--layout", "aiter_weight_16x16_1byte", "s.npy", "-o", "x.bin"),
            "aiter_weight_16x16_1byte does not pad columns: they must be a multiple of 32, found 52; weight_16x16 pads",
        ),
        (
            (*APPLY, "s.npy", "--pad-value", "256"),
            "--pad-value: expected a byte, 0..255 or 0x00..0xff, found '256'",
        ),
        (
            (*APPLY, "s.npy", "--pad-value", "x"),
            "--pad-value: expected a byte, 0..255 or 0x00..0xff, found 'x'",
        ),
        ((*APPLY, "s.bin"), "s.bin: --shape ROWSxCOLUMNS is needed: a .bin file has none"),
        ((*APPLY, "s.bin", "--shape", "48x52"), "s.bin: expected 2496 bytes for 48 x 52, found 3584"),
        ((*APPLY, "s.npy", "--shape", "48x51"), "s.npy: --shape says 48 x 51, the file 48 x 52"),
        ((*APPLY, "s.npy", "--shape", "48"), "--shape: expected ROWSxCOLUMNS, 48x52 say, found '48'"),
        ((*APPLY, "s.npy", "--shape", "48x0"), "--shape: expected ROWSxCOLUMNS, 48x52 say, found '48x0'"),
        ((*APPLY, "none.npy"), "none.npy: No such file or directory"),
        ((*APPLY, "none.bin", "--shape", "1x1"), "none.bin: No such file or directory"),
        ((*APPLY, "mine.toml"), "mine.toml: expected a file that ends in .npy, .bin, .safetensors"),
        ((*APPLY, "flat.npy"), "flat.npy: expected an array of two axes, rows and columns, found shape (4,)"),
        ((*APPLY, "objects.npy"), "objects.npy: not a .npy file of numbers: Object arrays cannot be loaded"),
        ((*APPLY, "floats.npy"), "floats.npy: a scale is one byte, expected uint8, found float32"),
        (
            ("check", "s.bin", "--logical", "floats.npy", "--layout", "scale_32x8"),
            "floats.npy: a scale is one byte, expected uint8, found float32",
        ),
        (
            ("apply", "--layout", "weight_16x16", "big.npy", "-o", "x.bin"),
            "big.npy: expected little-endian elements, as a GPU reads them, found >u2",
        ),
        (
            ("check", "void.bin", "--logical", "s.npy", "--layout", "scale_32x8"),
            "void.bin: the file is empty",
        ),
        (
            (*APPLY, "s.npy", "--pad-value", "0", "--row-multiple", str(32 * 10**15)),
            "scale_32x8: an image of 1792000000000000000 bytes does not fit into memory",
        ),
        (
            ("apply", "--layout", "aiter_n32k4_gfx1250", "scales_33x9.npy", "-o", "x.bin"),
            "aiter_n32k4_gfx1250 does not pad rows: they must be a multiple of 32, found 33; scale_32x4 pads",
        ),
        ((*APPLY, "torn.npy"), "torn.npy: not a .npy file of numbers"),
        ((*APPLY, "torn.safetensors"), "torn.safetensors: not a safetensors file: a header of"),
        (
            (*APPLY, "list.safetensors"),
            "list.safetensors: not a safetensors file: its header is no JSON object",
        ),
        (
            (*APPLY, "empty.safetensors"),
            "empty.safetensors: name a tensor, empty.safetensors:NAME; it holds none",
        ),
        ((*APPLY, "bare.safetensors"), "bare.safetensors: a: no shape or data_offsets in the header"),
        ((*APPLY, "long.safetensors"), "long.safetensors: tensor: shape [4, 4] does not fit its 16 bytes"),
        ((*APPLY, "minus.safetensors:a"), "minus.safetensors: a: shape [-2, -2] does not fit its 4 bytes"),
        ((*APPLY, "none.safetensors"), "none.safetensors: No such file or directory"),
        (
            ("apply", "--layout", "row_major", "s.npy", "-o", "x.txt"),
            "x.txt: expected a file to write that ends in .npy",
        ),
        (
            ("apply", "--layout", "row_major", "s.npy", "-o", "none/x.npy"),
            "none/x.npy: cannot be written: its folder does not exist",
        ),
        (
            ("apply", "--layout", "scale_32x9", "s.npy", "-o", "x.bin"),
            "unknown layout 'scale_32x9'; did you mean scale_32x8",
        ),
        (
            ("invert", "--layout", "scale_32x8", "s.bin", "-o", "x.npy"),
            "s.bin: --shape ROWSxCOLUMNS of the logical array is needed: an image has none",
        ),
        (
            ("invert", "--layout", "scale_32x8", "s.bin", "--shape", "48x8", "-o", "x.npy"),
            "scale_32x8: 48 rows pad to 64: expected 512 bytes, found 3584",
        ),
        (
            ("infer", "s.bin"),
            "s.bin: an image alone needs --shape ROWSxCOLUMNS of the logical array; --logical FILE says",
        ),
        (("infer", "s.bin", "--shape", "48x52", "-m", "3"), "s.bin: -m is for a kernel"),
        (("infer", "s.bin", "--shape", "48x52", "--operand", "a"), "s.bin: --operand is for a kernel"),
        (("infer", "s.bin", "--shape", "48x52", "--backend", "hip"), "s.bin: --backend is for a kernel"),
        (("infer", "k.co", "--shape", "48x52"), "k.co: --shape is for files of bytes"),
        (("infer", "s.bin", "--shape", "99x99"), "no layout holds 99 x 99 bytes in 3584"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(layout, arguments, message):
    np.save("flat.npy", np.arange(4))
    np.save("objects.npy", np.array([[None]]), allow_pickle=True)
    np.save("floats.npy", np.ones((32, 8), np.float32))
    np.save("big.npy", np.arange(256, dtype=">u2").reshape(16, 16))
    np.save("scales_33x9.npy", SCALES[:33, :9])
    Path("void.bin").touch()
    Path("torn.npy").write_bytes(b"\x93NUMPY\x01\x00")
    Path("torn.safetensors").write_bytes(b"\xff" * 16)
    Path("list.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]")
    Path("empty.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    Path("bare.safetensors").write_bytes((8).to_bytes(8, "little") + b'{"a":{}}')
    header = b'{"a":{"shape":[4,4],"data_offsets":[0,16]}}'
    Path("long.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"123")
    header = b'{"a":{"shape":[-2,-2],"data_offsets":[0,4]}}'
    Path("minus.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    code, out, err = layout(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"argpack: error: {message}")
    assert len(err.splitlines()) == 1
