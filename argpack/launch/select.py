"""Picks the backend that runs a code object, and says why. It imports a backend only when it picks it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from argpack.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from argpack.codeobject import CodeObject
    from argpack.launch.emulator_backend import EmulatorBackend
    from argpack.launch.launch import Backend

BACKENDS = ("auto", "emulator", "hip")


def select_backend(name: str, code_object: CodeObject) -> tuple[Backend, str]:
    """The backend and a line that says which was taken and why: `emulator: no HIP runtime (…)`.

    `auto` takes a HIP device that fits the code object's target, else the emulator; the others insist.
    Raises UnavailableError for what is missing, HipError for a HIP installation that is there and fails (the
    emulator never takes over from it in silence), InputError for another name.
    """
    if name == "emulator":
        return open_emulator(), "emulator: asked for"
    if name == "hip":
        backend = _hip(code_object)
        return backend, f"hip: asked for; {backend.description}"
    if name != "auto":
        raise InputError(f"backend: expected one of {', '.join(BACKENDS)}, found {name!r}")
    try:
        backend = _hip(code_object)
    except UnavailableError as error:
        reason = str(error)
    else:
        return backend, f"hip: {backend.description}"
    try:
        return open_emulator(), f"emulator: {reason}"
    except UnavailableError as error:
        raise UnavailableError(f"no backend: hip: {reason}; emulator: {error}") from error


def open_emulator(*, processes: int | None = None) -> EmulatorBackend:
    """The emulator on so many processes (default: one per available core). Raises UnavailableError without tinygrad."""
    if importlib.util.find_spec("tinygrad") is None:
        raise UnavailableError("the emulator needs tinygrad: pip install 'argpack[emulator]'")
    from argpack.launch.emulator_backend import EmulatorBackend

    return EmulatorBackend(processes=processes)


def _hip(code_object: CodeObject) -> Backend:
    from argpack.launch.hip_backend import open_hip

    return open_hip(code_object.target)
