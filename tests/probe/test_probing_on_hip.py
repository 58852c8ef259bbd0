"""`argpack layout infer KERNEL --backend hip`: outputs of a HIP device, here the emulated one, say the same."""

import json
import os
import subprocess
import sys


def test_the_hip_backend_finds_the_layouts(kernels_dir, tmp_path):
    python = [sys.executable, "-m", "argpack"]
    command = ["layout", "infer", "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128", "--kernels", str(kernels_dir)]
    done = subprocess.run(
        [*python, "hip", "--", *python, *command, "--backend", "hip", "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "ARGPACK_CACHE": str(tmp_path)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["backend"].startswith("hip: asked for; AMD Instinct MI355X, emulated by argpack")
    names = {
        operand: [one["name"] for one in facts["layouts"]] for operand, facts in found["operands"].items()
    }
    assert names == {
        "A": ["row_major"],
        "B": ["weight_16x16"],
        "ScaleA": ["scale_32x8"],
        "ScaleB": ["scale_32x8"],
    }
    assert found["operands"]["ScaleA"]["first_offsets"][:8] == [0, 64, 128, 192, 2, 66, 130, 194]
    assert (found["right_scale_pads"], found["launches"]) == ([0], 14)
    assert found["random_bytes"]["passed"]
