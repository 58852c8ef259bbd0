"""Answers scenarios, one JSON line each, in a process of its own that talks to the stand-in HIP runtime."""

import _ctypes
import ctypes
import dataclasses
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

from argpack.codeobject import TargetId, read
from argpack.errors import ArgpackError
from argpack.launch import Buffer, Launch, Relocation
from argpack.launch.hip_backend import open_hip
from argpack.launch.select import select_backend


def answer(scenario: dict) -> dict:
    """What the scenario's backend returns or raises."""
    os.environ.update(scenario["env"])
    try:
        if "map a copy" not in scenario:
            return run(scenario)
        shutil.copy(Path(os.environ["ROCM_PATH"], "lib", "libamdhip64.so"), scenario["map a copy"])
        copy = ctypes.CDLL(scenario["map a copy"])
        try:
            return run(scenario)
        finally:
            _ctypes.dlclose(copy._handle)
    except ArgpackError as error:
        return {"error": type(error).__name__, "message": str(error)}
    finally:
        for name in scenario["env"]:
            del os.environ[name]


def run(scenario: dict) -> dict:
    code = read(scenario["code"])
    if "target" in scenario:
        code = dataclasses.replace(code, target=TargetId.from_text(scenario["target"]))
    if "image" in scenario:
        code = dataclasses.replace(code, data=bytes.fromhex(scenario["image"]))
    if "select" in scenario:
        backend, reason = select_backend(scenario["select"], code)
        return {"backend": backend.name, "reason": reason}
    device = TargetId.from_text(scenario["device"]) if "device" in scenario else code.target
    launch = Launch(
        code,
        code.kernels[0],
        bytes.fromhex(scenario["arguments"]),
        tuple(Relocation(*entry) for entry in scenario["relocations"]),
        tuple(Buffer(name, np.arange(size, dtype=np.uint8)) for name, size in scenario["buffers"]),
        grid=(3, 2, 1),
        block=(256, 1, 1),
        dynamic_lds=16,
    )
    progress: list[tuple[int, int]] = []
    backend = open_hip(device)
    if "repeat" in scenario:
        return {"seconds": backend.time(launch, repeat=scenario["repeat"])}
    result = backend.run(launch, progress=lambda done, total: progress.append((done, total)))
    return {
        "description": backend.description,
        "buffers": {name: data.tobytes().hex() for name, data in result.buffers.items()},
        "seconds": result.kernel_seconds,
        "arguments": result.arguments.hex(),
        "errors": list(result.errors),
        "progress": progress,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
