"""Which matrix instructions are executed, and in which forms. FP4 times FP4 with E8M0 scales, 16×16×128."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argpack.emulator.matrix import Fragment, fragment
from argpack.emulator.operands import Operands
from argpack.emulator.waves import ACC

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction

_FP4 = 4
_NAME = "v_mfma_scale_f32_16x16x128_f8f6f4"


@dataclass(frozen=True, slots=True)
class MatrixStep:
    """Accumulator quad `accumulator` += rows · columnsᵀ."""

    rows: Fragment
    columns: Fragment
    accumulator: int


def compile_matrix(instruction: Instruction) -> MatrixStep | None:
    """The step of a matrix instruction; None where it is none that is executed.

    Raises UnsupportedError for its other forms: other number formats, operands in AccVGPRs, constant scales, and
    accumulators that are not four aligned AccVGPRs read and written in place.
    """
    if instruction.mnemonic != _NAME:
        return None
    operands = Operands(instruction)
    operands.must_be_zero("neg", "neg_hi")
    for name in ("cbsz", "blgp"):
        if operands.field(name) != _FP4:
            raise operands.fail(f"{name} = {operands.field(name)}, only 4 (FP4) is executed")
    destination = operands.field("vdst")
    if operands.field("src2") != destination + 256 or not operands.field("acc_cd") or destination % 4:
        raise operands.fail("the accumulator is not four aligned AccVGPRs read and written in place")
    fragments = []
    for i in range(2):
        source, scale = operands.field(f"src{i}"), operands.field(f"scale_src{i}")
        if source < 256 or scale < 256:
            raise operands.fail("an operand or a scale that is not a VGPR")
        if operands.field("acc") >> i & 1:
            # Products still waiting might change it.
            raise operands.fail("an operand in AccVGPRs")
        byte = (operands.field("opsel") >> i & 1) + 2 * (operands.field("opsel_hi") >> i & 1)
        fragments.append(fragment(source - 256, scale - 256, byte))
    return MatrixStep(fragments[0], fragments[1], (ACC + destination) >> 2)
