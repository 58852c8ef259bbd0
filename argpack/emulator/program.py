"""Machine code made executable: straight-line blocks, compiled when they are first reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from argpack.emulator.decoder import decode
from argpack.emulator.lds import compile_lds
from argpack.emulator.matrix import Fragment, Product
from argpack.emulator.matrix_instructions import MatrixStep, compile_matrix
from argpack.emulator.observe import Code, Operation
from argpack.emulator.operands import Array, Execute, Operands, Step
from argpack.emulator.scalar import compile_scalar
from argpack.emulator.scalar_memory import compile_scalar_memory
from argpack.emulator.vector import compile_vector
from argpack.emulator.vector_lanes import compile_lanes
from argpack.emulator.vector_memory import compile_vector_memory
from argpack.emulator.watched import watched
from argpack.emulator.waves import ACC, EXEC, M0, VCC
from argpack.errors import UnsupportedError

if TYPE_CHECKING:
    from argpack.emulator.decoder import Instruction
    from argpack.emulator.observe import Observer
    from argpack.emulator.waves import Waves

# Waits, hints and cache control: memory here is always up to date.
_NOTHING = frozenset(
    [
        "s_nop",
        "s_waitcnt",
        "s_sleep",
        "s_setprio",
        "s_icache_inv",
        "s_ttracedata",
        "buffer_wbl2",
        "buffer_inv",
    ]
)
# Encodings of the instructions that access device memory or LDS.
_ACCESSING = frozenset(["SMEM", "MUBUF", "GLOBAL", "DS"])
_INDEX_ON, _INDEX_OFF = "s_set_gpr_idx_on", "s_set_gpr_idx_off"
# Instructions whose first source follows the register index.
_INDEXED = {"v_accvgpr_read", "v_accvgpr_mov_b32"}

Condition = Callable[["Waves"], Array]


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line code and where it goes: `kind` is branch, conditional, barrier or end.

    `target` is where a branch goes; `following` is the address behind the block. `accesses` says whether an instruction
    may access device memory or LDS.
    """

    body: tuple[Execute, ...]
    instructions: int
    kind: str
    following: int
    target: int = 0
    condition: Condition | None = None
    accesses: bool = False


def _pair_is_zero(code: int) -> Condition:
    return lambda w: (w.sgpr[code] | w.sgpr[code + 1]) == 0


_CONDITIONS: dict[str, Condition] = {
    "s_cbranch_scc0": lambda w: ~w.scc,
    "s_cbranch_scc1": lambda w: w.scc,
    "s_cbranch_vccz": _pair_is_zero(VCC),
    "s_cbranch_vccnz": lambda w: (w.sgpr[VCC] | w.sgpr[VCC + 1]) != 0,
    "s_cbranch_execz": _pair_is_zero(EXEC),
    "s_cbranch_execnz": lambda w: (w.sgpr[EXEC] | w.sgpr[EXEC + 1]) != 0,
}
# What ends a block, and the register pair that a branch tests.
_ENDS = frozenset(["s_endpgm", "s_barrier", "s_branch", *_CONDITIONS])
_TESTED = {"s_cbranch_vcc": VCC, "s_cbranch_exec": EXEC}


class Program:
    """The code of one kernel, for any memory and many launches. `code` starts at device address `base`.

    `flush_f32` says whether float32 arithmetic flushes denormals (from the kernel descriptor). An `observer` is told of
    every block and every access.
    """

    def __init__(
        self,
        code: bytes,
        base: int,
        *,
        flush_f32: bool,
        name: str,
        observer: Observer | None = None,
    ) -> None:
        self._code = code
        self._base = base
        self._flush_f32 = flush_f32
        self.name = name
        self.observer = observer
        self._blocks: dict[int, Block] = {}
        # VGPRs that the code compiled so far writes; all waves start with v0.
        self.vgprs = {0}

    def block(self, pc: int) -> Block:
        """The block that starts at `pc`. Raises UnsupportedError for code that is not executed."""
        found = self._blocks.get(pc)
        if found is None:
            found = self._blocks[pc] = self._compile(pc)
        return found

    def compile(self, entry: int) -> None:
        """Compile all that can be reached from `entry`: processes forked later have it, and `vgprs` is known.

        Code that is not executed is left alone: it is refused when, and if, it is reached.
        """
        waiting, seen = [entry], set[int]()
        while waiting:
            pc = waiting.pop()
            if pc in seen:
                continue
            seen.add(pc)
            try:
                block = self.block(pc)
            except UnsupportedError:
                continue
            if block.kind in {"branch", "conditional"}:
                waiting.append(block.target)
            if block.kind in {"barrier", "conditional"}:
                waiting.append(block.following)

    def _decode(self, pc: int) -> Instruction:
        at = pc - self._base
        if not 0 <= at <= len(self._code) - 4:
            raise UnsupportedError(f"{self.name}: execution left the code: program counter {pc:#x}")
        try:
            return decode(self._code[at : at + 24], pc)
        except UnsupportedError as error:
            raise UnsupportedError(f"{self.name}: {error}") from None

    def _compile(self, start: int) -> Block:
        operations: list[Operation] = []
        block = self._straight(start, operations)
        self.vgprs.update(*(operation.writes for operation in operations))
        if any(operation.instruction.encoding in _ACCESSING for operation in operations):
            block = replace(block, accesses=True)
        if self.observer is None:
            return block
        observer, code = self.observer, Code(start, tuple(operations), block.kind)
        return replace(block, body=(lambda w: observer.block(w, code), *block.body))

    def _straight(self, start: int, operations: list[Operation]) -> Block:
        """The block from `start`; its instructions are added to `operations`."""
        body = _Body()
        pc, count, indexed = start, 0, False
        while True:
            instruction = self._decode(pc)
            pc += instruction.size
            count += 1
            name = instruction.mnemonic
            if indexed:
                self._check_indexed(instruction)
            indexed = name == _INDEX_ON or (indexed and name != _INDEX_OFF)
            step = None if name in _ENDS else self._step(instruction)
            operations.append(_operation(instruction, step, indexed=indexed))
            if step is not None:
                body.add(step)
            elif name == "s_endpgm":
                return Block(body.close(), count, "end", pc)
            elif name == "s_barrier":
                return Block(body.close(), count, "barrier", pc)
            elif name == "s_branch":
                return Block(body.close(), count, "branch", pc, _target(instruction))
            else:
                return Block(body.close(), count, "conditional", pc, _target(instruction), _CONDITIONS[name])

    def _check_indexed(self, instruction: Instruction) -> None:
        """Refuse what would need to know of a register index between s_set_gpr_idx_on and _off, and does not."""
        reason = None
        if instruction.encoding == "SOPP" and instruction.mnemonic not in {_INDEX_OFF, *_NOTHING}:
            reason = "relative operands are still on"
        elif instruction.fields.get("src0", 0) >= 256 and instruction.mnemonic not in _INDEXED:
            reason = "its source is a relative operand"
        if reason:
            raise UnsupportedError(f"{self.name}: {Operands(instruction).fail(reason)}")

    def _step(self, instruction: Instruction) -> Step | MatrixStep:
        try:
            step = self._unwatched(instruction)
            if self.observer is None or isinstance(step, MatrixStep):
                return step
            return watched(step, instruction, self.observer)
        except UnsupportedError as error:
            raise UnsupportedError(f"{self.name}: {error}") from None

    def _unwatched(self, instruction: Instruction) -> Step | MatrixStep:
        if instruction.mnemonic in {_INDEX_ON, _INDEX_OFF}:
            return _register_index(instruction)
        if instruction.mnemonic in _NOTHING:
            return Operands(instruction).step(lambda _: None)
        step = (
            compile_scalar(instruction)
            or compile_matrix(instruction)
            or compile_lanes(instruction, flush_f32=self._flush_f32)
            or compile_vector(instruction, flush_f32=self._flush_f32)
            or compile_lds(instruction)
            or compile_vector_memory(instruction)
            or compile_scalar_memory(instruction)
        )
        if step is None:
            raise UnsupportedError(f"the emulator does not execute {instruction}")
        return step


def _operation(instruction: Instruction, step: Step | MatrixStep | None, *, indexed: bool) -> Operation:
    if step is None:
        read = _TESTED.get(instruction.mnemonic.rstrip("nz"))
        return Operation(instruction, scalar_reads=frozenset((read, read + 1) if read else ()))
    if isinstance(step, MatrixStep):
        sums = frozenset(range(4 * step.accumulator, 4 * step.accumulator + 4))
        return Operation(instruction, step.rows.registers | step.columns.registers | sums, sums)
    reads, source = step.reads, instruction.fields.get("src0", 0)
    if instruction.mnemonic in _INDEXED and source >= 256 and not indexed:
        # Without a register index it reads one AccVGPR, not any.
        reads = frozenset([ACC + source - 256])
    return Operation(instruction, reads, step.writes, step.scalar_reads, step.scalar_writes)


def _target(instruction: Instruction) -> int:
    raw = instruction.fields["simm16"]
    return instruction.address + 4 + 4 * (raw - 0x10000 if raw & 0x8000 else raw)


def _register_index(instruction: Instruction) -> Step:
    """Relative VGPR operands: the index goes to M0[7:0], what is relative to M0[15:12]."""
    operands = Operands(instruction)
    if instruction.mnemonic == _INDEX_OFF:
        return operands.step(lambda w: setattr(w, "index_mode", 0))
    index, mode = operands.scalar(operands.field("ssrc0")), operands.field("ssrc1") & 15
    operands.scalar_destination(M0)
    if mode != 1:
        raise operands.fail(f"relative operands {mode:#x}, only 1 (SRC0) is executed")

    def execute(w: Waves) -> None:
        w.sgpr[M0] = (
            (w.sgpr[M0] & np.uint32(0xFFFF0F00)) | (index(w) & np.uint32(0xFF)) | np.uint32(mode << 12)
        )
        w.index_mode = mode

    return operands.step(execute)


@dataclass(slots=True)
class _Body:
    """Collects the steps of a block; matrix products are taken out of line and queued, their operands captured."""

    steps: list[Execute] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    captured: dict[Fragment, int] = field(default_factory=dict)
    captures: int = 0
    written: set[int] = field(default_factory=set)

    def add(self, step: Step | MatrixStep) -> None:
        if isinstance(step, MatrixStep):
            self.products.append(
                Product(step.accumulator, self._capture(step.rows), self._capture(step.columns))
            )
            return
        if any(register >= ACC for register in step.reads | step.writes):
            self._leave()
            self.steps.append(lambda w: w.matrix.release(w.quads))
        if step.writes:
            self.written |= step.writes
            for fragment in [f for f in self.captured if f.registers & step.writes]:
                del self.captured[fragment]
        self.steps.append(step.execute)

    def close(self) -> tuple[Execute, ...]:
        self._leave()
        return tuple(self.steps)

    def _capture(self, fragment: Fragment) -> int:
        if fragment not in self.captured:
            self.captured[fragment] = self.captures
            self.captures += 1
            unchanged = self.written.isdisjoint(fragment.registers)
            self.steps.append(lambda w: w.matrix.capture(fragment, w.quads, unchanged=unchanged))
        return self.captured[fragment]

    def _leave(self) -> None:
        """Hand the products over, and say which captures outlive this stretch of code."""
        if self.products:
            products = tuple(self.products)
            self.steps.append(lambda w: w.matrix.extend(products, w.quads))
        if self.products or self.written:
            written, current = frozenset(self.written), tuple(self.captured.items())
            self.steps.append(lambda w: w.matrix.leave(written, current))
        self.products, self.captured, self.captures, self.written = [], {}, 0, set()
