"""Which bytes may pad the scales: a kernel that multiplies padding in needs 0x00, one that does not takes any."""

import numpy as np
import pytest
from made_kernel import MadeKernel, byte_offsets

from argpack.families import Problem
from argpack.numerics.e8m0 import decode_e8m0_float64
from argpack.probe.padding import padded_problem, right_pad_values
from scale_layout import layout_named

LAYOUTS = {
    "A": layout_named("row_major"),
    "B": layout_named("weight_16x16"),
    "ScaleA": layout_named("scale_32x8"),
    "ScaleB": layout_named("scale_32x8"),
}
PROBLEM = Problem(m=48, n=48, k=256)


class Careful(MadeKernel):
    """Ignores padding columns."""

    def __init__(self, problem):
        names = {"a": "row_major", "b": "weight_16x16", "scale_a": "scale_32x8", "scale_b": "scale_32x8"}
        super().__init__(problem.m, problem.n, problem.k, **names)


class Careless(Careful):
    """Multiplies eight padding columns in, as if elements stood there."""

    def pads(self, contents, name, rows):
        places, _ = byte_offsets("scale_32x8", rows, self.k // 32 + 7)
        return decode_e8m0_float64(contents[name][places[:, -7:]])

    def product(self, contents):
        left, right = self.pads(contents, "ScaleA", self.m), self.pads(contents, "ScaleB", self.n)
        return super().product(contents) + 1e6 * (left @ right.T)


class Broken(Careful):
    def product(self, contents):
        return 2 * super().product(contents)


@pytest.mark.parametrize(
    ("kind", "right"), [(Careful, (0x00, 0x7F, 0xFF)), (Careless, (0x00,)), (Broken, ())]
)
def test_the_bytes_that_may_pad_are_found(kind, right):
    made = []

    def subject_for(problem):
        made.append(problem)
        return kind(problem).subject()

    assert right_pad_values(PROBLEM, LAYOUTS, subject_for) == right
    assert made == [Problem(m=48, n=48, k=288)]


def test_images_smaller_than_their_buffers_are_padded_to_the_end():
    kernel = Careful(padded_problem(PROBLEM))
    image = kernel.sizes["ScaleA"]
    kernel.sizes["ScaleA"] += 256
    seen = []
    subject = kernel.subject()
    run = subject.run
    object.__setattr__(
        subject, "run", lambda contents: seen.append(contents["ScaleA"][image:]) or run(contents)
    )
    right_pad_values(PROBLEM, LAYOUTS, lambda problem: subject)
    assert [np.unique(tail).tolist() for tail in seen] == [[0x00], [0x7F], [0xFF]]


def test_few_rows_are_enough():
    assert padded_problem(Problem(m=528, n=512, k=512)) == Problem(m=64, n=512, k=544)
