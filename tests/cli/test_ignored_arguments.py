"""Public mistakes beside the product itself: D not zeroed, a wrong z, factors and pointers that are never used."""

import pytest

from argpack.cli import main

SPLITTING = "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256"
SMALL = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"


def verified(capsys, *options):
    code = main(["verify", *options])
    return code, capsys.readouterr()


@pytest.mark.parametrize(("log2", "slices", "step"), [(2, 4, 512), (3, 7, 256)])
def test_z_of_the_grid_is_the_slices_as_rounded_and_is_printed(kernels_dir, capsys, log2, slices, step):
    """K=1664 in 2^3 slices makes 7 of 256, not 8: a grid with z of 2^log2 is wrong."""
    options = ("-m", "32", "-n", "256", "-k", "1664", "--log2-k-split", str(log2))
    code, printed = verified(capsys, SPLITTING, *options)
    assert code == 0
    assert f"launch    1 x 1 x {slices} workgroups" in printed.out
    assert (
        f"K is cut in {slices} of {step}, that is 1664 >> {log2} rounded up to 256: the grid's z is {slices}"
        in (printed.out)
    )


@pytest.mark.parametrize(("k", "adding"), [(1664, "7 slices of K add"), (256, "1 slice of K adds")])
def test_an_output_that_is_not_zeroed_before_a_split_is_refused(kernels_dir, capsys, k, adding):
    """Also where one slice is left and z is 1: hosts that zero for several slices only get old contents added."""
    options = ("-m", "32", "-n", "256", "-k", str(k), "--log2-k-split", "3", "--no-zero")
    code, printed = verified(capsys, SPLITTING, *options)
    assert code == 2
    assert f"D is not zeroed, and {adding} to what is there" in printed.err
    code, printed = verified(capsys, SPLITTING, *options, "--force")
    assert code == 1
    assert f"{32 * 256} of {32 * 256} outputs are NaN or infinite" in printed.out


def test_without_a_split_nothing_needs_to_be_zeroed(kernels_dir, capsys):
    code, printed = verified(capsys, SPLITTING, "-m", "32", "-n", "256", "-k", "512")
    assert code == 0
    assert "filled with NaN (0x7fa5), so that what is not written shows" in printed.out


@pytest.mark.parametrize("kernel", [SPLITTING, SMALL])
def test_a_beta_that_no_kernel_applies_is_refused_and_packed_with_a_warning(kernels_dir, capsys, kernel):
    sizes = ("-m", "32", "-n", "256", "-k", "256", "--beta", "1")
    code, printed = verified(capsys, kernel, *sizes)
    assert code == 2
    assert "no f4gemm kernel adds beta·C, found beta 1" in printed.err
    assert main(["pack", kernel, *sizes]) == 0
    assert "argpack: warning: no f4gemm kernel adds beta·C, found beta 1" in capsys.readouterr().err


def test_an_alpha_that_is_read_and_ignored_is_refused(kernels_dir, capsys):
    code, printed = verified(capsys, SMALL, "-m", "32", "-n", "128", "-k", "256", "--alpha", "2")
    assert code == 2
    assert "this kernel reads alpha and ignores it, found 2" in printed.err


@pytest.mark.parametrize("command", ["verify", "pack"])
@pytest.mark.parametrize("name", ["ptr_bias", "bias"])
def test_a_pointer_that_the_kernel_has_no_argument_for_is_rejected(kernels_dir, capsys, command, name):
    code = main([command, SPLITTING, "-m", "32", "-n", "256", "-k", "256", "--set", f"{name}=0x7f0000001000"])
    assert code == 2
    assert f"aiter_f4gemm: no field is named '{name}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "note"),
    [
        ("beta=1", "what beta is set to has no effect: it is loaded and ignored"),
        ("alpha=2", "what alpha is set to has no effect: it is loaded and ignored"),
        ("ptr_C=0x7f0000001000", "what ptr_C is set to has no effect: it is loaded and ignored"),
        ("stride_D0=512", "what stride_D0 is set to has no effect: it is never loaded"),
    ],
)
def test_what_is_packed_by_hand_and_never_used_is_noted(kernels_dir, capsys, setting, note):
    assert main(["pack", SMALL, "-m", "32", "-n", "128", "-k", "256", "--set", setting]) == 0
    assert f"argpack: note: {note}\n" in capsys.readouterr().err


def test_what_is_used_or_zero_is_not_noted(kernels_dir, capsys):
    settings = ("--set", "stride_C0=256", "--set", "beta=0")
    assert main(["pack", SMALL, "-m", "32", "-n", "128", "-k", "256", *settings]) == 0
    assert "no effect" not in capsys.readouterr().err
