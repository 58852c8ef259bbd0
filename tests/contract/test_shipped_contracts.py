"""The contracts that argpack comes with: of the very files in the wheel, in brief as in full, and measured again."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from argpack.codeobject import read
from argpack.contract import differences, measure, parse, shipped
from argpack.contract.shipped import FOLDER, path_of
from argpack.errors import InputError
from argpack.families.aiter_f4gemm.names import parse as parse_name

ROOT = Path(__file__).parents[2]
PREFIX = "f4gemm_bf16_per1x32Fp4_"
WIDE = {"192x256": 256, "224x256": 256, "256x256": 256, "128x512": 512}


@pytest.fixture(scope="module")
def files(kernels_dir):
    return {path.stem: path for path in sorted((kernels_dir / "gfx950" / "f4gemm").glob("*.co"))}


@pytest.fixture(scope="module")
def contracts():
    return {path.stem: parse(path.read_text(), source=path.name) for path in sorted(FOLDER.glob("*.toml"))}


def test_every_kernel_of_the_wheel_has_the_contract_of_its_code_object(files, contracts):
    assert list(contracts) == list(files)
    assert len(files) == 35
    for name, contract in contracts.items():
        assert contract.code_object == hashlib.sha256(files[name].read_bytes()).hexdigest()
        assert parse_name(contract.kernel).name == name


def test_the_brief_form_is_what_the_files_say():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "measure_contracts", "--check"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert (done.returncode, done.stdout) == (0, "measured.py: as it would be written\n"), done.stderr


def test_limits_are_those_found_by_hand(contracts):
    """The table of what was found by running kernels one at a time, without these measurements."""
    for name, contract in contracts.items():
        variant = name.removeprefix(PREFIX)
        tile = variant.split("_")[1]
        plain = variant.startswith("no")
        values = {limit: found.value for limit, found in contract.limits.items()}
        assert values["m_multiple"] == 1
        assert values["n_multiple"] == WIDE.get(tile, 32)
        assert (values["k_multiple"], values["k_multiple_pad_7f"], values["k_multiple_pad_ff"]) == (
            32,
            256,
            256,
        )
        assert values["scale_columns"] == 8
        assert (values["scale_a_rows"], values["scale_b_rows"]) == (256 if plain else 32, 32)
        assert values["scale_row_pad"] == "anything"
        assert values["d_row_multiple"] == (256 if plain else 1)
        assert values["applies_alpha"] == (tile in {"256x256", "128x512"})
        assert values["applies_beta"] is False
        splits = variant in {"BpreShuffle_256x256", "BpreShuffle_128x512"}
        assert values["splits_k"] is splits
        assert values["accumulates"] == ("when_split" if splits else "never")


def test_only_the_256x256_kernels_read_past_the_end(contracts):
    past = {
        name.removeprefix(PREFIX): [
            limit.value for key, limit in contract.limits.items() if "over_read" in key
        ]
        for name, contract in contracts.items()
    }
    assert {name: sizes for name, sizes in past.items() if any(sizes)} == {
        "BpreShuffle_256x256": [212480, 0, 13056, 0],
        "noBpreShuffle_256x256": [159104, 368, 0, 0],
    }


def test_every_value_says_what_it_was_measured_with(contracts):
    for contract in contracts.values():
        assert contract.backend == "built-in CPU emulator of gfx950"
        assert all(limit.problems for limit in contract.limits.values())
        assert len(contract.launches) == 2
        for argument in contract.arguments:
            assert bool(argument.shown_by) == (argument.use == "live")
            assert bool(argument.loaded_by) == (argument.use in {"live", "dead"})


def test_a_contract_of_another_file_is_not_taken(contracts):
    contract = contracts[f"{PREFIX}BpreShuffle_32x128"]
    assert shipped(contract.kernel, contract.code_object) == contract
    assert shipped(contract.kernel, "0" * 64) is None
    assert shipped(f"{PREFIX}BpreShuffle_512x512", contract.code_object) is None
    with pytest.raises(InputError, match=r"kernel flatmm: expected f4gemm_bf16_per1x32Fp4_"):
        path_of("flatmm")


def check_again(path):
    code_object = read(path)
    kernel = code_object.kernels[0]
    known = shipped(kernel.name, code_object.sha256)
    assert known is not None
    assert differences(known, measure(code_object, kernel)) == ()


@pytest.mark.parametrize("name", ["BpreShuffle_64x128", "BpreShuffle_32x256"])
def test_a_kernel_measured_again_has_the_same_contract(files, name):
    check_again(files[PREFIX + name])


@pytest.mark.sweep
def test_all_kernels_measured_again_have_the_same_contracts(files):
    for path in files.values():
        check_again(path)
