"""`argpack contract`: what it prints and writes, and what it refuses."""

import json

import pytest

from argpack.cli import contract as command
from argpack.cli import main
from argpack.contract import parse

KERNEL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"


@pytest.fixture(scope="module")
def measured(kernels_dir, tmp_path_factory):
    """The text and the file of one run; it takes seconds."""
    path = tmp_path_factory.mktemp("contract") / "made.toml"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("argpack.cli.output.print_document", lambda document, *a, **k: printed.append(document))
        assert main(["contract", KERNEL, "-o", str(path)]) == 0
    from argpack.hexdump.table import to_text

    return to_text(printed[0]), path


def test_limits_are_printed_with_what_was_seen(measured):
    text, _ = measured
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert (
        "n_multiple 32 N must be a multiple of this M=33 N=16 K=256: 528 elements behind column 16 were written"
        in lines
    )
    assert (
        "applies_alpha no whether the product is multiplied by alpha the bits are those of alpha 1" in lines
    )
    assert any(line.startswith("accumulates never when the result is added") for line in lines)
    assert any(
        line.startswith("k_multiple_pad_7f 256 ") and line.endswith(" outputs are wrong") for line in lines
    )


def test_arguments_are_printed_with_what_loads_them(measured):
    text, _ = measured
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "0x060 stride_D0 unread never loaded" in lines
    assert any(
        line.startswith("0x050 beta dead s_load_dword at 0x2c30 no change has an effect") for line in lines
    )
    assert any(line.startswith("0x080 stride_C0 live s_load_dword at 0x2c38 addresses: ") for line in lines)
    assert "23 pads, 252 bytes: none loaded, none with an effect" in lines


def test_the_file_is_a_contract(measured):
    _, path = measured
    contract = parse(path.read_text(), source="made.toml")
    assert contract.kernel == "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E"
    assert contract.code_object == "c8eb89ab72a40ffb37e266bcf027dc9437c8b71f5e4751cab13180156e3fc432"
    assert {name: limit.value for name, limit in contract.limits.items()} == {
        "m_multiple": 1,
        "n_multiple": 32,
        "k_multiple": 32,
        "k_multiple_pad_7f": 256,
        "k_multiple_pad_ff": 256,
        "scale_columns": 8,
        "scale_a_rows": 32,
        "scale_b_rows": 32,
        "scale_row_pad": "anything",
        "d_row_multiple": 1,
        "applies_alpha": False,
        "applies_beta": False,
        "splits_k": False,
        "accumulates": "never",
        "over_read_a": 0,
        "over_read_b": 0,
        "over_read_scale_a": 0,
        "over_read_scale_b": 0,
    }


def test_a_file_that_exists_is_refused_before_anything_is_measured(kernels_dir, measured, capsys):
    _, path = measured
    before = path.read_text()
    assert main(["contract", KERNEL, "-o", str(path)]) == 2
    assert capsys.readouterr().err == f"argpack: error: {path}: exists; --force overwrites it\n"
    assert path.read_text() == before


def test_a_folder_that_is_not_there_is_refused_before_anything_is_measured(kernels_dir, tmp_path, capsys):
    path = tmp_path / "none" / "made.toml"
    assert main(["contract", KERNEL, "-o", str(path)]) == 2
    assert (
        capsys.readouterr().err == f"argpack: error: {path}: cannot be written: its folder does not exist\n"
    )


def test_a_kernel_under_another_ones_name_fits_no_contract(kernels_dir, tmp_path, capsys):
    """The tile that its name tells is not the one that it computes."""
    data = (kernels_dir / "gfx950" / "f4gemm" / f"{KERNEL}.co").read_bytes()
    path = tmp_path / "renamed.co"
    path.write_bytes(data.replace(b"BpreShuffle_32x128E", b"BpreShuffle_64x128E"))
    assert main(["contract", str(path)]) == 2
    assert (
        "BpreShuffle_64x128: no size tried is computed right, M=33 N=1024 K=256: " in capsys.readouterr().err
    )


def test_json_and_what_differs_from_argpacks_own_contract(kernels_dir, measured, monkeypatch, capsys):
    """Measured once: here the measuring gives what it gave, but for one value."""
    import dataclasses

    import argpack.contract as package

    contract = parse(measured[1].read_text(), source="made.toml")
    other = dataclasses.replace(
        contract,
        limits={
            **contract.limits,
            "n_multiple": dataclasses.replace(contract.limits["n_multiple"], value=48),
        },
    )
    monkeypatch.setattr(package, "measure", lambda *a, **k: contract)
    monkeypatch.setattr(package, "shipped", lambda *a: None)
    assert main(["contract", KERNEL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["limits"]["n_multiple"]["value"] == 32
    assert found["arguments"][0]["class"] == "live"
    assert main(["contract", KERNEL]) == 0
    assert capsys.readouterr().out.endswith("argpack has no contract of this code object\n")
    monkeypatch.setattr(package, "shipped", lambda *a: contract)
    assert main(["contract", KERNEL]) == 0
    assert capsys.readouterr().out.endswith("argpack's contract of this code object says the same\n")
    monkeypatch.setattr(package, "shipped", lambda *a: other)
    assert main(["contract", KERNEL]) == 1
    tail = "argpack's contract of this code object says something else:\n  n_multiple: 48, not 32\n"
    assert capsys.readouterr().out.endswith(tail)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("own/sgemm.co", "argpack_sgemm: of own_sgemm: contracts are measured of aiter_f4gemm only"),
        ("no_such_kernel_at_all", "no_such_kernel_at_all: no such file"),
    ],
)
def test_what_cannot_be_measured_is_exit_2(kernels_dir, kernel, message, capsys):
    assert main(["contract", kernel]) == 2
    assert message in capsys.readouterr().err


def test_the_help_says_what_is_measured():
    assert "which multiples M, N and K need" in command.__doc__
