"""What a user has: buffers as placed, argument dumps, grids, outputs in several forms; and what is refused."""

import json
import struct

import numpy as np
import pytest
from launched import Operands, row_major, tiled

from argpack.cli import main

SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
ADDRESSES = {0x00: 0x7F1000000000, 0x20: 0x7F1001000000, 0x30: 0x7F1002000000, 0x110: 0x7F1003000000}


@pytest.fixture
def files(tmp_path, ragged):
    """Operands in files; gives the options that name them."""
    ragged.save(tmp_path)
    return ragged.options(tmp_path)


@pytest.fixture
def dump(tmp_path, small):
    """Writes an argument buffer as hex text, addresses in its pointers; gives the path."""

    def write(operands, **fields):
        buffer = bytearray(small.fields(operands, **fields))
        for offset, address in {**ADDRESSES, 0x120: 0x7F1004000000}.items():
            struct.pack_into("<Q", buffer, offset, address)
        path = tmp_path / "arguments.txt"
        path.write_text(buffer.hex(" ") + "\n")
        return path

    return write


def answer(result):
    code, out, err = result
    assert err == ""
    return code, json.loads(out)


class TestPlaced:
    def test_right_buffers_are_right(self, explain, small, ragged, files, tmp_path):
        options = list(files)
        for name, image in small.images(ragged).items():
            flag = {"ScaleA": "scale-a", "ScaleB": "scale-b"}.get(name, name.lower())
            image.tofile(tmp_path / f"{flag}.bin")
            options += [f"--placed-{flag}", tmp_path / f"{flag}.bin"]
        code, found = answer(explain(small.path, *options, "--json"))
        assert (code, found["verdict"], found["findings"], found["notes"]) == (0, "right", [], [])

    @pytest.mark.parametrize(
        ("image", "words"),
        [
            (
                row_major,
                "scale_32x8 was not applied: these are the rows one after the other, padded to 56 bytes",
            ),
            (lambda s: tiled(s, count=52), "written with column count 52 where 56 is needed"),
            (
                lambda s: tiled(s)[: 80 * 52],
                "80 rows pad to 96 and 52 columns pad to 56: expected 5376 bytes, found 4160, the size without padding",
            ),
        ],
    )
    def test_b1_to_b3_are_told_in_words(self, explain, small, ragged, files, tmp_path, image, words):
        np.save(tmp_path / "placed.npy", image(ragged.scale_a))
        code, found = answer(
            explain(small.path, *files, "--placed-scale-a", tmp_path / "placed.npy", "--json")
        )
        assert code == 1
        assert words in found["findings"][0]["what"]
        assert " of 20480 outputs wrong" in found["findings"][0]["evidence"]
        assert found["findings"][0]["fix"] == "place it as scale_32x8, 5376 bytes, padded with 0x00"

    def test_b3_padding_is_harmful_where_both_sides_have_it(self, explain, small, ragged, files, tmp_path):
        """One side of 2^-127 is enough to make the products with the padding vanish."""
        options = list(files)
        for name, scales in (("scale-a", ragged.scale_a), ("scale-b", ragged.scale_b)):
            np.save(tmp_path / f"{name}.npy", tiled(scales, pad=0x7F))
            options += [f"--placed-{name}", tmp_path / f"{name}.npy"]
            code, found = answer(explain(small.path, *options, "--json"))
            assert code == (name == "scale-b")
            assert "1216 pad bytes, all 0x7f" in " ".join(
                [*found["notes"], *(f["what"] for f in found["findings"])]
            )
        assert [one["name"] for one in found["findings"]] == ["padding of ScaleA", "padding of ScaleB"]
        assert "alone it is harmless, together with the others it is not" in found["findings"][0]["evidence"]

    def test_more_rows_than_needed_do_no_harm(self, explain, small, ragged, files, tmp_path):
        """AITER pads rows to 256."""
        np.save(tmp_path / "placed.npy", tiled(ragged.scale_a, rows=256))
        code, found = answer(
            explain(small.path, *files, "--placed-scale-a", tmp_path / "placed.npy", "--json")
        )
        assert (code, found["verdict"]) == (0, "right")

    def test_padding_rows_do_no_harm_and_are_noted(self, explain, small, ragged, files, tmp_path):
        image = tiled(ragged.scale_a)
        r, c = np.indices((16, 52))
        places = 2 * 32 * 56 + c // 8 * 256 + c % 4 * 64 + r * 4 + c % 8 // 4 * 2 + 1
        image[places] = 0x7F
        np.save(tmp_path / "placed.npy", image)
        code, found = answer(
            explain(small.path, *files, "--placed-scale-a", tmp_path / "placed.npy", "--json")
        )
        assert (code, found["verdict"]) == (0, "right")
        assert "harmless here" in found["notes"][0]

    def test_b7_the_scales_of_b_as_those_of_a(self, explain, small, tmp_path):
        operands = Operands(128, 128, 256)
        operands.save(tmp_path)
        np.save(tmp_path / "placed.npy", tiled(operands.scale_b))
        options = [*operands.options(tmp_path), "--placed-scale-a", tmp_path / "placed.npy", "--json"]
        code, found = answer(explain(small.path, *options))
        assert code == 1
        assert (
            "this is the image of the other operand: A and B were exchanged" in found["findings"][0]["what"]
        )

    def test_a_buffer_without_its_matrix_is_taken_as_it_lies(self, explain, small, ragged, files, tmp_path):
        np.save(tmp_path / "placed.npy", tiled(ragged.scale_a))
        without = [part for part in files if "scale_a" not in part and part != "--scale-a"]
        np.save(tmp_path / "d.npy", small.run(ragged))
        options = [
            *without,
            "--placed-scale-a",
            tmp_path / "placed.npy",
            "--output",
            tmp_path / "d.npy",
            "--json",
        ]
        code, found = answer(explain(small.path, *options))
        assert (code, found["verdict"]) == (0, "right")
        assert found["assumed"] == ["ScaleA: taken to lie right; --scale-a would tell"]

    def test_b4_a_size_tells_no_layout(self, explain, small, tmp_path):
        """M=128, K=256: rows, 32x8 and 128x4 all have 1024 bytes, and random scales look the same in each."""
        operands = Operands(128, 128, 256)
        np.save(tmp_path / "placed.npy", row_major(operands.scale_a))
        sizes = ["-m", "128", "-n", "128", "-k", "256"]
        code, out, _ = explain(small.path, *sizes, "--placed-scale-a", tmp_path / "placed.npy")
        assert code == 0
        assert "assumed   ScaleA: taken to lie right; --scale-a would tell" in out
        assert "looks like" not in out

    def test_scales_of_rows_that_differ_look_like_rows(self, explain, small, tmp_path):
        rng = np.random.default_rng(0)
        scales = (100 + rng.integers(0, 20, (128, 1)) + rng.integers(0, 10, 16)).astype(np.uint8)
        sizes = ["-m", "128", "-n", "128", "-k", "512", "--placed-scale-a", tmp_path / "placed.npy"]
        np.save(tmp_path / "placed.npy", row_major(scales))
        _, out, _ = explain(small.path, *sizes)
        assert "note      ScaleA: by its bytes alone this looks like row_major or " in out
        assert ", and not like scale_32x8, which the kernel reads" in out
        np.save(tmp_path / "placed.npy", tiled(scales))
        _, out, _ = explain(small.path, *sizes)
        assert "looks like" not in out

    def test_b5_a_tail_of_stale_memory(self, explain, small, ragged, files, tmp_path):
        """Padding columns that nobody wrote, on both sides."""
        options = list(files)
        for name, scales in (("scale-a", ragged.scale_a), ("scale-b", ragged.scale_b)):
            image = tiled(scales, pad=0xAA)
            image[image == 0xAA] = np.random.default_rng(1).integers(
                120, 135, (image == 0xAA).sum(), np.uint8
            )
            np.save(tmp_path / f"{name}.npy", image)
            options += [f"--placed-{name}", tmp_path / f"{name}.npy"]
        code, out, _ = explain(small.path, *options)
        assert code == 1
        assert "cause 1: padding of ScaleA" in out
        assert "80 rows pad to 96 and 52 columns pad to 56: 1216 pad bytes, 0x78, 0x79, 0x7a, 0x7b, …" in out

    def test_a_buffer_that_is_too_small_is_refused_without_its_matrix(self, explain, small, tmp_path):
        (tmp_path / "b.bin").write_bytes(bytes(100))
        code, _, err = explain(
            small.path, "-m", "32", "-n", "32", "-k", "64", "--placed-b", tmp_path / "b.bin"
        )
        assert code == 2
        assert (
            "--placed-b: B: expected 1024 bytes, found 100; --b lets the buffer be held against its matrix"
            in err
        )

    def test_an_output_is_explained_by_the_buffer_that_made_it(self, asked, small, ragged, tmp_path):
        wrong = row_major(ragged.scale_b)
        np.save(tmp_path / "placed.npy", wrong)
        output = small.run(ragged, images={"ScaleB": wrong})
        code, found = asked(small, ragged, output, "--placed-scale-b", tmp_path / "placed.npy")
        assert code == 1
        assert [one["name"] for one in found["findings"]] == ["ScaleB as given"]
        assert (
            "your output equals that of the kernel with these files, 0 ulp"
            in found["findings"][0]["evidence"]
        )

    def test_a_right_buffer_excludes_hypotheses_about_it(self, asked, small, ragged, tmp_path):
        np.save(tmp_path / "placed.npy", tiled(ragged.scale_a))
        output = small.run(ragged, grid=(2, 2, 1))
        code, found = asked(small, ragged, output, "--placed-scale-a", tmp_path / "placed.npy")
        assert (code, found["findings"][0]["name"]) == (1, "last tile left out")
        reasons = {one["name"]: one["why"] for one in found["excluded"]}
        assert reasons["scales row-major (A)"] == "the files given say otherwise"

    def test_files_of_another_launch_are_said_to_be(self, asked, small, ragged, tmp_path):
        np.save(tmp_path / "placed.npy", tiled(ragged.scale_a))
        output = small.run(ragged, images={"ScaleA": row_major(ragged.scale_a)})
        code, found = asked(small, ragged, output, "--placed-scale-a", tmp_path / "placed.npy")
        assert (code, found["findings"][0]["name"]) == (1, "scales row-major (A)")
        assert "the files given are not those of the launch that made this output" in found["notes"]


class TestArguments:
    def test_sizes_come_from_the_dump(self, explain, small, dump):
        code, out, _ = explain(small.path, "--arguments", dump(Operands(40, 128, 256)))
        assert code == 0
        assert "problem   M=40 N=128 K=256" in out
        assert "assumed   A, B, ScaleA, ScaleB: random, as argpack verify makes them for seed 0" in out

    def test_a3_a_stride_in_the_wrong_slot(self, explain, small, dump):
        path = dump(Operands(40, 128, 256), stride_C0=0, stride_D0=128)
        code, out, _ = explain(small.path, "--arguments", path)
        assert code == 1
        assert "cause 1: stride_C0\n" in out
        assert "stride_C0 is 0, this problem needs 128 bf16 elements: the dump has 128 in stride_D0" in out
        assert "of 5120 outputs are never written" in out

    def test_a_stride_in_bytes_explains_the_output(self, asked, small, dump):
        operands = Operands(40, 128, 256)
        output = small.run(operands, fields={"stride_A0": 128})
        code, found = asked(small, operands, output, "--arguments", dump(operands, stride_A0=128))
        assert code == 1
        assert [one["name"] for one in found["findings"]] == ["stride_A0"]
        assert "128 may count bytes, two fp4 elements each" in found["findings"][0]["what"]
        assert "0 ulp in all 5120 outputs" in found["findings"][0]["evidence"]

    def test_a_whole_buffer_shifted_is_one_cause(self, explain, small, dump, tmp_path):
        data = bytes.fromhex(dump(Operands(40, 128, 256)).read_text())
        (tmp_path / "shifted.bin").write_bytes(data[:0x70] + data[0x80:] + bytes(16))
        arguments = ["--arguments", tmp_path / "shifted.bin", "-m", "40", "-n", "128", "-k", "256"]
        code, out, _ = explain(small.path, *arguments)
        assert code == 1
        assert out.count("cause ") == 1
        assert "cause 1: arguments: shift" in out

    def test_b6_padded_sizes_for_logical_ones(self, explain, small, dump):
        """N=160 is padded to 256 where B was made, and D is not."""
        operands = Operands(40, 160, 256)
        path = dump(operands, N=256, stride_C0=256)
        code, out, _ = explain(small.path, "--arguments", path, "-n", "160")
        assert code == 1
        assert "N is 256, this problem needs 160 columns" in out
        assert "stride_C0 is 256, this problem needs 160 bf16 elements" in out

    def test_set_stands_for_a_dump(self, explain, small):
        sizes = ["-m", "40", "-n", "128", "-k", "256"]
        code, out, _ = explain(small.path, *sizes, "--set", "stride_B0=512")
        assert code == 1
        assert "--set: stride_B0 is 512, this problem needs 256 fp4 elements" in out

    def test_a_null_pointer_ends_in_a_fault(self, explain, small, dump, tmp_path):
        data = bytearray.fromhex(dump(Operands(40, 128, 256)).read_text())
        data[0x120:0x128] = bytes(8)
        (tmp_path / "null.bin").write_bytes(data)
        code, out, _ = explain(small.path, "--arguments", tmp_path / "null.bin")
        assert code == 1
        assert "WRONG     the launch as given: memory access fault: 4-byte read from 0x0" in out
        assert "ptr_ScaleB is null" in out

    def test_a_buffer_without_addresses_is_taken_for_packed(self, explain, small, tmp_path):
        (tmp_path / "packed.bin").write_bytes(small.fields(Operands(40, 128, 256)))
        code, out, _ = explain(small.path, "--arguments", tmp_path / "packed.bin")
        assert code == 0
        assert "all pointers are null: taken to point where they should" in out


class TestGridAndSizes:
    SIZES = ("-m", "64", "-n", "256", "-k", "256")

    def test_a13_a_grid_in_threads(self, explain, small):
        code, out, _ = explain(small.path, *self.SIZES, "--grid", "512,2,1")
        assert code == 1
        assert "cause 1: grid given in threads" in out
        assert "hipModuleLaunchKernel takes blocks" in out
        assert "alone it makes the launch end in a memory access fault" in out

    def test_a13_exactly_2_to_the_32_work_items(self, explain, small):
        code, out, _ = explain(small.path, *self.SIZES, "--grid", "16777216x2x1")
        assert code == 1
        assert "x: 16777216 blocks of 256 work-items are 4294967296, a launch has fewer than 2^32" in out

    def test_a13_the_emulator_does_not_start_it(self, small, kernels_dir):
        from argpack.errors import InputError

        with pytest.raises(
            InputError, match="16777216 blocks x 256 work-items = 4294967296, a launch has fewer"
        ):
            small.run(Operands(32, 128, 256), grid=(1 << 24, 1, 1))

    def test_a11_an_extent_beyond_2_to_the_31_is_a_suspect(self, explain, small):
        code, out, _ = explain(small.path, "-m", "174763", "-n", "256", "-k", "12288")
        assert code == 1
        assert "A has 2,147,487,744 elements, more than 2^31, and 1,073,743,872 bytes, within 2^31" in out
        assert "computed from the sizes, not run" in out

    def test_a11_one_row_less_is_none(self, explain, small):
        code, out, err = explain(small.path, "-m", "174762", "-n", "256", "-k", "12288")
        assert (code, out) == (2, "")
        assert "nothing is known against these sizes" in err

    def test_a11_a_buffer_resource_wraps(self, explain, large):
        code, out, _ = explain(large.path, "-m", "5326464", "-n", "1024", "-k", "256")
        assert code == 1
        assert "cause 1: known limit" in out
        assert "D has 5,454,299,136 elements, more than 2^32, and 10,908,598,272 bytes, more than 2^32" in out

    @pytest.mark.parametrize("value", ["-1", "0", str((1 << 32) + 8)])
    @pytest.mark.parametrize("command", ["explain", "verify", "pack"])
    def test_a11_sizes_are_refused_and_not_truncated(self, kernels_dir, capsys, command, value):
        arguments = [SMALL, "-m", value, "-n", "256", "-k", "256", "--kernels", str(kernels_dir)]
        assert main([command, *arguments]) == 2
        assert f"M: expected 1 to 4294967295, found {value}" in capsys.readouterr().err

    def test_a11_pack_and_verify_print_the_extent(self, kernels_dir, capsys):
        sizes = [SMALL, "-m", "16777248", "-n", "128", "-k", "32", "--kernels", str(kernels_dir)]
        text = "D has 2,147,487,744 elements, more than 2^31, and 4,294,975,488 bytes, more than 2^32"
        assert main(["pack", *sizes]) == 0
        assert f"argpack: warning: {text}" in capsys.readouterr().err
        assert main(["verify", *sizes, "--workgroups", "sample:1", "--backend", "emulator"]) == 0
        assert f"extent    {text}" in capsys.readouterr().out

    def test_n_that_the_kernel_cannot_do_is_a_known_limit(self, explain, kernels_dir):
        name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_192x256"
        code, out, _ = explain(name, "-m", "64", "-n", "352", "-k", "256")
        assert code == 1
        assert "cause 1: N is not a multiple of what the kernel needs" in out
        assert "N must be a multiple of 256 for this kernel, found 352" in out


class TestOutputs:
    @pytest.fixture
    def tiny(self, tmp_path):
        operands = Operands(33, 64, 64)
        operands.save(tmp_path)
        return operands, operands.options(tmp_path)

    def test_every_form_is_read(self, explain, small, tiny, tmp_path):
        operands, options = tiny
        bits = small.run(operands)
        values = (bits.astype(np.uint32) << 16).view(np.float32)
        bits.tofile(tmp_path / "bits.bin")
        values.tofile(tmp_path / "values.bin")
        np.save(tmp_path / "values.npy", values)
        np.save(tmp_path / "flat.npy", bits.reshape(-1))
        np.save(tmp_path / "signed.npy", bits.view(np.int16))
        np.save(tmp_path / "raw.npy", bits.view("V2"))
        header = json.dumps(
            {"d": {"dtype": "BF16", "shape": [33, 64], "data_offsets": [0, bits.nbytes]}}
        ).encode()
        (tmp_path / "d.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bits.tobytes())
        for name in (
            "bits.bin",
            "values.bin",
            "values.npy",
            "flat.npy",
            "signed.npy",
            "raw.npy",
            "d.safetensors",
        ):
            code, out, err = explain(small.path, *options, "--output", tmp_path / name)
            assert (code, err) == (0, ""), name
            assert "RIGHT     your output: 2112 of 2112 outputs are bit-equal" in out

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.zeros((33, 64), np.float64), "expected bits of bfloat16 (uint16) or float32, found float64"),
            (
                np.full((33, 64), 1.001, np.float32),
                "the kernel writes bf16, and 2112 of 2112 values are no bf16",
            ),
            (np.zeros((32, 64), np.uint16), "expected 33 x 64 elements or more, found shape (32, 64)"),
            (np.zeros(100, np.uint16), "expected 33 x 64 elements, found shape (100,)"),
            (np.zeros((1, 33, 64), np.uint16), None),
        ],
    )
    def test_what_cannot_be_an_output_is_refused(self, explain, small, tiny, tmp_path, array, message):
        np.save(tmp_path / "d.npy", array)
        code, out, err = explain(small.path, *tiny[1], "--output", tmp_path / "d.npy")
        if message is None:
            assert code == 1
            return
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1

    def test_a_bin_of_another_size(self, explain, small, tiny, tmp_path):
        (tmp_path / "d.bin").write_bytes(bytes(100))
        code, _, err = explain(small.path, *tiny[1], "--output", tmp_path / "d.bin")
        assert code == 2
        assert "expected 4224 bytes (33 x 64 bfloat16), found 100" in err

    def test_an_output_needs_its_operands(self, explain, small, tiny, tmp_path):
        np.save(tmp_path / "d.npy", np.zeros((33, 64), np.uint16))
        sizes = ["-m", "33", "-n", "64", "-k", "64"]
        code, _, err = explain(small.path, *sizes, "--output", tmp_path / "d.npy")
        assert code == 2
        assert "--output: the operands that made it are needed, too: --a, --b, --scale-a, --scale-b" in err
        code, _, err = explain(small.path, *tiny[1][2:], "--output", tmp_path / "d.npy", "--seed", "0")
        assert code == 2
        assert "needed, too: --a (" in err

    def test_the_operands_of_verify_go_by_their_seed(self, explain, small, tmp_path, capsys):
        sizes = ["-m", "33", "-n", "64", "-k", "64", "--seed", "7"]
        np.save(tmp_path / "d.npy", np.zeros((33, 64), np.uint16))
        code, out, _ = explain(small.path, *sizes, "--output", tmp_path / "d.npy")
        assert code == 1
        assert "random, as argpack verify makes them for seed 7" in out

    def test_operands_of_another_shape_are_refused(self, explain, small, tiny):
        code, _, err = explain(small.path, *tiny[1], "-m", "34")
        assert code == 2
        assert "A: expected 34 x 32 of uint8, found 33 rows of 32 bytes" in err

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--grid", "1,x"], "--grid: expected X,Y,Z in workgroups, 4,2,1 say, found '1,x'"),
            (["--grid", "1,0,1"], "--grid: expected 1 or more of each"),
            (["--output", "missing.npy", "--seed", "0"], "missing.npy"),
            (["--a", "missing.npy"], "missing.npy"),
            (["--arguments", "missing.txt"], "missing.txt"),
            (["--c", "c.npy"], "this problem has no C"),
            (["-k", "100"], "K: expected a multiple of 32"),
            (["--set", "M=-1"], "--set M=-1: expected 0 to 4294967295"),
        ],
    )
    def test_what_is_wrong_with_options_is_one_line(
        self, explain, small, tmp_path, monkeypatch, options, message
    ):
        monkeypatch.chdir(tmp_path)
        np.save(tmp_path / "c.npy", np.zeros((2, 2), np.uint8))
        code, out, err = explain(small.path, *options)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


class TestSave:
    def test_what_is_saved_is_read_again(self, explain, small, tmp_path):
        folder = tmp_path / "mine"
        code, _, _ = explain(
            small.path, "-m", "40", "-n", "64", "-k", "96", "--set", "stride_A0=64", "--save", folder
        )
        assert code == 1
        names = ["a", "b", "scale_a", "scale_b"]
        files = [part for n in names for part in (f"--{n.replace('_', '-')}", folder / f"{n}.npy")]
        files += [
            part for n in names for part in (f"--placed-{n.replace('_', '-')}", folder / f"placed_{n}.bin")
        ]
        code, found = answer(
            explain(
                small.path,
                *files,
                "--output",
                folder / "d.npy",
                "--arguments",
                folder / "arguments.txt",
                "--json",
            )
        )
        assert (code, [one["name"] for one in found["findings"]]) == (1, ["stride_A0"])
        assert found["findings"][0]["exact"]

    def test_nothing_is_overwritten(self, explain, small, tmp_path):
        (tmp_path / "kept").write_text("kept")
        code, out, err = explain(small.path, "-m", "32", "-n", "32", "-k", "64", "--save", tmp_path)
        assert (code, out) == (2, "")
        assert "expected a new or an empty folder" in err
        assert (tmp_path / "kept").read_text() == "kept"


class TestNothingWritten:
    @pytest.mark.parametrize("value", [0, 0x7FC0])
    def test_an_output_of_one_value_is_a_kernel_that_may_never_have_run(
        self, explain, small, files, tmp_path, ragged, value
    ):
        np.save(tmp_path / "d.npy", np.full((80, 256), value, np.uint16))
        code, found = answer(explain(small.path, *files, "--output", tmp_path / "d.npy", "--json"))
        last = found["findings"][-1]
        assert (code, last["name"], last["confirmed"]) == (1, "nothing was written", False)
        assert last["what"].startswith(f"all 20480 outputs hold the same bits, {value:#x}")
