"""The kernel, the problem and the right launch of it: what hypotheses start from, and a way to run any launch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from argpack.errors import UnavailableError
from argpack.explain.outputs import Prediction
from argpack.launch import Buffer, Launch, Relocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from argpack.codeobject import CodeObject, Kernel
    from argpack.explain.hypothesis import Hypothesis, Numbers
    from argpack.explain.outputs import Bits, Form
    from argpack.explain.situation import Situation
    from argpack.families import Family, Problem
    from argpack.launch import Backend, LaunchResult
    from argpack.numerics import Reference
    from scale_layout import Layout

_BEHIND = 1 << 20  # bytes of noise behind each buffer in a second run: as far as a device forgives reads
_ROWS = 256  # no tile has more
_LARGEST_OUTPUT = 1 << 33  # bytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """How an `operand`, (rows, columns) of elements, must lie: in `layout`, columns of bytes padded to `columns`.

    `pad` fills the padding, None where there is none. `other` is the operand that may have been taken for it.
    """

    operand: NDArray[np.generic]
    layout: Layout
    columns: int | None = None
    pad: int | None = None
    other: NDArray[np.uint8] | None = None

    @property
    def logical(self) -> NDArray[np.uint8]:
        """The bytes of the operand, rows one after the other."""
        return np.ascontiguousarray(self.operand).view(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """A problem on a kernel. `right` is the launch that it needs, `reference` what that should give.

    `tile` is what a workgroup computes, (rows, columns); `rows` of D are allocated, `stride` elements apart, and
    `writes_whole_tiles` says that rows behind M may be written.
    `pointers` names the buffer behind each pointer field, `stride_field` the field that the kernel takes D's row
    stride from. `placed` says how each operand must lie. `slices` of K add to D, 1 for none.
    `hypotheses` are in the order to try them; `untestable` says which cannot be told from these operands, and why.
    `limits` are reasons why the kernel cannot compute this problem right, name by name.
    """

    code_object: CodeObject
    kernel: Kernel
    family: Family
    problem: Problem
    tile: tuple[int, int]
    block: tuple[int, int, int]
    form: Form
    rows: int
    stride: int
    writes_whole_tiles: bool
    pointers: Mapping[str, str]
    stride_field: str
    placed: Mapping[str, Placed]
    slices: int
    right: Situation
    reference: Reference
    hypotheses: Sequence[Hypothesis | Numbers]
    untestable: Sequence[str] = ()
    limits: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Runner:
    """Runs situations of a scene and keeps what came out."""

    scene: Scene
    backend: Backend
    _kept: dict[tuple[bytes, tuple[int, int, int]], Prediction] = field(default_factory=dict)

    def predict(
        self,
        situation: Situation,
        *,
        grid: tuple[int, int, int] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Prediction:
        """M x N of D after this launch; `grid` runs that many of its workgroups only, from the first on."""
        key = (situation.digest, grid or situation.grid)
        if key not in self._kept:
            found = self._once(situation, key[1], progress)
            for _ in range(situation.launches - 1):
                found = self._once(dataclasses.replace(situation, before=found.bits), key[1], progress)
            self._kept[key] = found
        return self._kept[key]

    def settled(
        self, situation: Situation, known: Prediction, *, grid: tuple[int, int, int] | None = None
    ) -> Prediction:
        """A prediction whose `undetermined` outputs are found: by a second run with other bytes behind the buffers."""
        if not known.over_reads or known.error:
            return known
        result = self.backend.run(self.launch(situation, grid=grid, behind=_BEHIND))
        return dataclasses.replace(known, undetermined=self._prediction(situation, result).bits != known.bits)

    def launch(
        self, situation: Situation, *, grid: tuple[int, int, int] | None = None, behind: int = 0
    ) -> Launch:
        """The launch of a situation; `behind` bytes of noise follow each buffer."""
        scene = self.scene
        schema = scene.family.schema
        noise = np.random.default_rng(1).integers(0, 256, behind, np.uint8)
        buffers = [Buffer("D", self._before(situation).view(np.uint8), initialised=False)]
        for name, image in situation.images.items():
            buffers.append(Buffer(name, np.concatenate([image, noise]) if behind else image))
        nulls = {slot.name: 0 for slot in schema.slots if slot.field is not None and slot.field.type == "ptr"}
        return Launch(
            code_object=scene.code_object,
            kernel=scene.kernel,
            arguments=schema.pack({**nulls, **situation.values}),
            relocations=tuple(
                Relocation(schema.offset(name), buffer) for name, buffer in situation.targets.items()
            ),
            buffers=tuple(buffers),
            grid=grid or situation.grid,
            block=scene.block,
        )

    def _once(
        self, situation: Situation, grid: tuple[int, int, int], progress: Callable[[int, int], None] | None
    ) -> Prediction:
        result = self.backend.run(self.launch(situation, grid=grid), progress=progress)
        return self._prediction(situation, result)

    def _before(self, situation: Situation) -> Bits:
        """D before the launch, flat, with room for the rows that this launch may write by mistake."""
        scene = self.scene
        stride = max(int(situation.values[scene.stride_field]), scene.stride, int(situation.values["N"]))
        rows = max(scene.rows, -(-int(situation.values["M"]) // _ROWS) * _ROWS)
        if rows * stride * scene.form.bits.itemsize > _LARGEST_OUTPUT:
            raise UnavailableError(
                f"D of {rows} rows of {stride} elements is too large to run the launch that a hypothesis needs"
            )
        memory = np.full(rows * stride, scene.form.sentinel, scene.form.bits)
        if situation.before is not None:
            rows, columns = situation.before.shape
            self._matrix(memory)[:rows, :columns] = situation.before
        return memory

    def _matrix(self, memory: Bits) -> Bits:
        """D's memory as the host sees it: the rows that it allocated."""
        scene = self.scene
        return memory[: scene.rows * scene.stride].reshape(scene.rows, scene.stride)

    def _prediction(self, situation: Situation, result: LaunchResult) -> Prediction:
        scene = self.scene
        memory = result.buffers["D"].view(scene.form.bits)
        view = self._matrix(memory)
        bits = np.ascontiguousarray(view[: scene.problem.m, : scene.problem.n])
        unwritten = bits == scene.form.sentinel
        if situation.before is not None:
            unwritten = np.zeros(bits.shape, np.bool_)
        written = memory != scene.form.sentinel
        inside = self._matrix(written)
        inside[: scene.problem.m, : scene.problem.n] = False
        if scene.writes_whole_tiles:
            inside[:, : scene.problem.n] = False
        return Prediction(
            bits=bits,
            unwritten=unwritten,
            undetermined=np.zeros(bits.shape, np.bool_),
            over_reads=bool(result.findings),
            stray=int(written.sum()),
            error=result.errors[0] if result.errors else "",
        )
