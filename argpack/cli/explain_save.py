"""Writes the launch of `argpack explain --save DIR` as files that the command reads again. It has no subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from argpack.cli.explain_operands import OPERANDS
from argpack.errors import InputError
from argpack.explain.given import situation_of
from argpack.hexdump import Dump, render

if TYPE_CHECKING:
    from argpack.explain import Given, Runner


def save(folder: str, runner: Runner, given: Given) -> None:
    """Operands row by row (.npy), buffers as placed (.bin), the argument buffer, pointers null, and D as it comes out.

    Elements of D that are not written hold the bits of a NaN. Raises InputError where the folder has files already.
    """
    target = Path(folder)
    scene, situation = runner.scene, situation_of(runner.scene, given)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise InputError(f"--save: {folder}: expected a new or an empty folder")
        for name, placed in scene.placed.items():
            np.save(target / f"{OPERANDS[name]}.npy", placed.operand)
            situation.images[name].tofile(target / f"placed_{OPERANDS[name]}.bin")
        arguments = Dump.whole(runner.launch(situation).arguments)
        (target / "arguments.txt").write_text(render(arguments))
        np.save(target / "d.npy", runner.predict(situation).bits)
    except OSError as error:
        raise InputError(f"--save: {folder}: {error.strerror}") from None
