"""`argpack layout`: the words a user reads, the bytes that are written, what is refused, and the exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest

from argpack.cli import main
from scale_layout import LAYOUTS, apply, layout_named

SCALES = np.random.default_rng(0).integers(100, 140, (48, 52), dtype=np.uint8)
IMAGE = apply(layout_named("scale_32x8"), SCALES, pad_value=0x7F)
TOML = '[scale_24x4]\npattern = "(mo m24) (ko k4) -> mo ko m24 k4"\ntensor = "scales"\n'


@pytest.fixture
def layout(tmp_path, monkeypatch, capsys):
    """Runs `argpack layout` in a folder of its own, which holds the scales and their image."""
    monkeypatch.chdir(tmp_path)
    np.save("s.npy", SCALES)
    IMAGE.tofile("s.bin")
    Path("mine.toml").write_text(TOML)

    def run(*arguments):
        code = main(["layout", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_list_names_layouts_and_who_uses_them(layout):
    code, out, _ = layout("list")
    assert code == 0
    assert "scale_32x8                  (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2\n" in out
    for known in LAYOUTS:
        assert known.name in out
        assert all(alias in out for alias in known.aliases)
    assert out.endswith(f"{len(LAYOUTS)} layouts, used under 41 names\n")
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
    assert (code, err) == (2, "argpack: error: none/a.svg: No such file or directory\n")


def test_apply_and_invert(layout):
    code, out, _ = layout("apply", "--layout", "scale_32x8", "--pad-value", "0x7f", "s.npy", "-o", "out.bin")
    assert (code, out) == (0, "out.bin: 3584 bytes, scale_32x8: 48 x 52 padded to 64 x 56\n")
    assert Path("out.bin").read_bytes() == IMAGE.tobytes()
    code, out, _ = layout("invert", "--layout", "scale_32x8", "out.bin", "--shape", "48x52", "-o", "back.npy")
    assert (code, out) == (0, "back.npy: 48 x 52 bytes, out of scale_32x8: 48 x 52 padded to 64 x 56\n")
    assert np.array_equal(np.load("back.npy"), SCALES)


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
    code, out, _ = layout("apply", "--layout", "scale_24x4", "--layouts", "mine.toml", "s.npy", "-o", "x.bin")
    assert (code, out) == (0, "x.bin: 2496 bytes, scale_24x4: 48 x 52\n")


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
    command = ("apply", "--layout", "scale_32x8", "--pad-value", "127", "-o", "x.bin")
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
    assert (code, out) == (1, "WRONG  wrong.bin\n  scale_32x4 was applied instead of scale_32x8\n")
    code, out, _ = layout(*command, "--json")
    assert (code, json.loads(out)) == (
        1,
        {"right": False, "sentences": ["scale_32x4 was applied instead of scale_32x8"], "notes": []},
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


def test_infer_from_a_pair(layout):
    code, out, _ = layout("infer", "s.bin", "--logical", "s.npy")
    assert (code, out) == (
        0,
        (
            "s.bin: 3584 bytes, s.npy: 48 x 52\n"
            "  bits     r4 c2 r0 r1 r2 r3 c0 c1\n"
            "           of the offset in the first 32 x 8, lowest first; r0 is the lowest bit of the row\n"
            "  pattern  (mo m2 m16) (ko k2 k4) -> mo ko k4 m16 k2 m2\n"
            "  offset   (r//32)*32*C + (c//8)*256 + (c%4)*64 + (r%16)*4 + ((c%8)//4)*2 + (r%32)//16\n"
            "  padded   R = 64, C = 56\n"
            "  layout   scale_32x8, used by aiter_e8m0_shuffle_gfx950, aiter_e8m0_shuffle_2025_05,"
            " hipblaslt_blk32_ue8m0_32_8_ext, aiter_scale_a16w4, triton_cdna4_scale, ck_mx_gfx950\n"
        ),
    )
    code, out, _ = layout("infer", "s.bin", "--logical", "s.npy", "--json")
    found = json.loads(out)
    assert (code, found["layouts"][0]["name"], found["bits"][:2]) == (0, "scale_32x8", ["r4", "c2"])
    assert found["solved"]["columns_padded"] == 56


def test_infer_of_a_layout_that_has_no_bits(layout):
    apply(layout_named("scale_48x8_quartile"), SCALES, pad_value=0).tofile("q.bin")
    code, out, _ = layout("infer", "q.bin", "--logical", "s.npy")
    assert (code, out.splitlines()[1:3]) == (
        0,
        [
            "  layout   scale_48x8_quartile, used by wave_quartile_48",
            "  pattern  (mo m4 m12) (ko k8) -> mo ko k8 m12 m4",
        ],
    )


@pytest.mark.parametrize(
    ("logical", "pattern", "code", "line"),
    [
        (
            (32, 4),
            "(mo m32) (ko k4) -> mo ko m32 k4",
            1,
            "  layout   ambiguous, one of 4: row_major, scale_32x4, scale_16x4,",
        ),
        (
            (32, 4),
            "(mo m32) (ko k4) -> mo ko m32 k4",
            1,
            "           all of them are the same bytes at this shape: a larger",
        ),
        (
            (64, 64),
            "(mo m8) (ko k2) -> ko mo k2 m8",
            0,
            "  layout   none that is declared: the pattern above is new",
        ),
    ],
)
def test_infer_of_what_is_ambiguous_or_new(layout, logical, pattern, code, line):
    array = np.random.default_rng(1).integers(0, 256, logical, dtype=np.uint8)
    np.save("a.npy", array)
    assert layout("apply", "--layout", pattern, "a.npy", "-o", "a.bin")[0] == 0
    found, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert found == code
    assert any(one.startswith(line) for one in out.splitlines()), out


def test_infer_of_values_that_repeat_of_swizzles_and_of_nothing(layout):
    few = np.zeros((64, 8), np.uint8)
    few[:, 0] = 1
    np.save("a.npy", few)
    apply(layout_named("scale_32x8"), few, pad_value=None).tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert code == 1
    assert "of them cannot be told from these bytes\n" in out
    assert "           the values repeat too much: a larger or more varied array tells them apart\n" in out
    array = np.random.default_rng(1).integers(0, 256, (16, 16), dtype=np.uint8)
    np.save("a.npy", array)
    r, c = np.indices((16, 16))
    array[r, c ^ (r % 4) * 4].tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert (code, out.splitlines()[-1]) == (
        1,
        "  layout   no pattern of this notation: bits are combined by exclusive or",
    )
    np.random.default_rng(2).permutation(array.reshape(-1)).tofile("a.bin")
    code, out, _ = layout("infer", "a.bin", "--logical", "a.npy")
    assert (code, out.splitlines()[-1][:16]) == (1, "  layout   none:")


def test_infer_from_an_image_alone_is_ambiguous_where_it_must_be(layout):
    np.random.default_rng(0).integers(0, 255, 1024, dtype=np.uint8).tofile("x.bin")
    code, out, _ = layout("infer", "x.bin", "--shape", "128x8")
    assert code == 1
    lines = out.splitlines()
    assert lines[1] == (
        "  ambiguous: rows and columns explain no more than chance in any order: these bytes cannot tell"
    )
    assert lines[2].startswith("  candidates, 16 of the size: ")
    for name in ("row_major", "scale_32x8", "scale_128x4"):
        assert name in lines[2]
    assert lines[-1] == "    and 8 more"


def test_infer_from_an_image_alone_finds_scales_of_a_kind(layout):
    rng = np.random.default_rng(0)
    scales = (np.arange(384)[:, None] // 4 + rng.integers(0, 8, 64) + rng.integers(0, 3, (384, 64))).astype(
        np.uint8
    )
    apply(layout_named("scale_128x4"), scales, pad_value=None).tofile("x.bin")
    code, out, _ = layout("infer", "x.bin", "--shape", "384x64")
    assert code == 0
    assert out.splitlines()[1].startswith("  likely   scale_128x4: ")
    code, out, _ = layout("infer", "x.bin", "--shape", "384x64", "--json")
    assert (code, json.loads(out)["layout"]) == (0, "scale_128x4")


def test_infer_of_padding_narrows_to_the_layouts_whose_pad_bytes_are_equal(layout):
    code, out, _ = layout("infer", "s.bin", "--shape", "48x52")
    assert code == 1
    lines = out.splitlines()
    assert lines[2] == "  candidates, 2 of the size: scale_32x8_k_split, scale_32x8"
    assert all(line.endswith("  1088 pad bytes, all 0x7f") for line in lines[4:])


def test_infer_of_a_kernel_is_passed_on(layout, monkeypatch):
    monkeypatch.setattr("argpack.cli.layout_infer.run", lambda args: 0 if args.kernel == "f4.co" else 3)
    assert layout("infer", "f4.co", "-m", "64")[0] == 0
    assert layout("infer", "f4gemm_256")[0] == 3


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
        ((*APPLY, "long.safetensors"), "long.safetensors: a: shape [4, 4] does not fit its 16 bytes"),
        (
            ("apply", "--layout", "row_major", "s.npy", "-o", "x.txt"),
            "x.txt: expected a file to write that ends in .npy",
        ),
        (
            ("apply", "--layout", "row_major", "s.npy", "-o", "none/x.npy"),
            "none/x.npy: No such file or directory",
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
    Path("torn.npy").write_bytes(b"\x93NUMPY\x01\x00")
    Path("torn.safetensors").write_bytes(b"\xff" * 16)
    Path("list.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]")
    Path("empty.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    Path("bare.safetensors").write_bytes((8).to_bytes(8, "little") + b'{"a":{}}')
    header = b'{"a":{"shape":[4,4],"data_offsets":[0,16]}}'
    Path("long.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"123")
    code, out, err = layout(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"argpack: error: {message}")
    assert len(err.splitlines()) == 1
