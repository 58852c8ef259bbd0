"""f4gemm launches built by hand: bytes at literal offsets, images by the published formulas. Nothing of argpack's own
packing, layouts or families: what `argpack explain` has to find is made here by another path.
"""

import struct
from pathlib import Path

import numpy as np

from argpack.codeobject import read
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.emulator_backend import EmulatorBackend

NAMES = {"a": "A", "b": "B", "scale_a": "ScaleA", "scale_b": "ScaleB"}
OFFSETS = {
    "alpha": 0x40,
    "beta": 0x50,
    "stride_D0": 0x60,
    "stride_C0": 0x80,
    "stride_A0": 0xA0,
    "stride_B0": 0xC0,
    "M": 0xE0,
    "N": 0xF0,
    "K": 0x100,
    "stride_ScaleA0": 0x130,
    "stride_ScaleB0": 0x150,
    "log2_k_split": 0x170,
}
POINTERS = {"D": 0x00, "A": 0x20, "B": 0x30, "ScaleA": 0x110, "ScaleB": 0x120}

# What each launch gave, by kernel and right launch: many tests ask about other outputs of one and the same problem.
KEPT = {}


class Operands:
    """Logical operands of M x N x K, from a seed of their own."""

    def __init__(self, m, n, k, seed=11):
        rng = np.random.default_rng(seed)
        self.m, self.n, self.k = m, n, k
        self.a = rng.integers(0, 256, (m, k // 2), np.uint8)
        self.b = rng.integers(0, 256, (n, k // 2), np.uint8)
        self.scale_a = rng.integers(118, 132, (m, k // 32), np.uint8)
        self.scale_b = rng.integers(118, 132, (n, k // 32), np.uint8)

    def save(self, folder):
        for option in NAMES:
            np.save(folder / f"{option}.npy", getattr(self, option))

    def options(self, folder):
        names = [(option, f"--{option.replace('_', '-')}") for option in NAMES]
        return [part for option, flag in names for part in (flag, str(folder / f"{option}.npy"))]


def up(length, multiple):
    return -(-length // multiple) * multiple


def tiled(scales, *, pad=0, rows=32, count=None):
    """scale_32x8 by its formula; `count` is the number of columns that the writer believes in."""
    r, c = np.indices(scales.shape)
    padded = up(scales.shape[1], 8)
    used = padded if count is None else count
    image = np.full(up(scales.shape[0], rows) * padded, pad, np.uint8)
    places = r // 32 * 32 * used + c // 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 // 4 * 2 + r % 32 // 16
    image[places.reshape(-1)] = scales.reshape(-1)
    return image


def shuffled(weights):
    """weight_16x16 by its formula."""
    n, k = np.indices(weights.shape)
    width = weights.shape[1]
    image = np.empty(weights.size, np.uint8)
    image[n // 16 * 16 * width + k // 16 * 256 + n % 16 * 16 + k % 16] = weights
    return image


def row_major(scales, *, pad=0, rows=32, columns=8):
    image = np.full((up(scales.shape[0], rows), up(scales.shape[1], columns)), pad, np.uint8)
    image[: scales.shape[0], : scales.shape[1]] = scales
    return image.reshape(-1)


class Host:
    """A host program that launches one kernel: `tile` is (rows, columns) of D, `preshuffled` says how it reads B."""

    def __init__(self, kernels_dir, name, tile, *, preshuffled=True):
        self.path = Path(kernels_dir) / f"gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_{name}.co"
        self.tile, self.preshuffled = tile, preshuffled
        self.rows = 32 if preshuffled else 256

    def images(self, operands):
        return {
            "A": operands.a.reshape(-1),
            "B": shuffled(operands.b) if self.preshuffled else operands.b.reshape(-1),
            "ScaleA": tiled(operands.scale_a, rows=self.rows),
            "ScaleB": tiled(operands.scale_b),
        }

    def fields(self, operands, **changed):
        columns = up(operands.k // 32, 8)
        right = {
            "alpha": 1.0,
            "stride_C0": operands.n,
            "stride_A0": operands.k,
            "stride_B0": operands.k,
            "M": operands.m,
            "N": operands.n,
            "K": operands.k,
            "stride_ScaleA0": columns,
            "stride_ScaleB0": columns,
        }
        buffer = bytearray(372)
        for name, value in {**right, **changed}.items():
            struct.pack_into("<f" if name in {"alpha", "beta"} else "<I", buffer, OFFSETS[name], value)
        return bytes(buffer)

    def grid(self, operands, z=1):
        return -(-operands.n // self.tile[1]), -(-operands.m // self.tile[0]), z

    def run(self, operands, *, images=None, fields=None, grid=None, pointers=None, before=None, room=0):
        """D as it comes out, uint16 (M, N). `before` is what it held, `room` rows more than the tiles need."""
        code_object = read(self.path)
        m, n = operands.m, operands.n
        memory = np.zeros((up(m, 256) + room, n), np.uint16)
        memory[:m] = 0 if before is None else before
        buffers = {**self.images(operands), **(images or {})}
        launch = Launch(
            code_object=code_object,
            kernel=code_object.kernels[0],
            arguments=self.fields(operands, **(fields or {})),
            relocations=tuple(
                Relocation(offset, (pointers or {}).get(name, name)) for name, offset in POINTERS.items()
            ),
            buffers=(
                Buffer("D", memory.view(np.uint8).reshape(-1)),
                *(Buffer(k, v) for k, v in buffers.items()),
            ),
            grid=grid or self.grid(operands),
            block=(256, 1, 1),
        )
        result = EmulatorBackend(processes=1).run(launch)
        assert not result.errors
        return result.buffers["D"].view(np.uint16).reshape(-1, n)[:m].copy()
