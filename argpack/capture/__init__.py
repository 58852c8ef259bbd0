"""Launches recorded from a running program: the file, the library that writes it, and running a launch again.

Reading a capture imports neither numpy nor the emulator. `docs/capture.md` has the format.
"""

from argpack.capture.layout import MAGIC
from argpack.capture.model import Capture, CapturedLaunch, CapturedMemory, CapturedProcess
from argpack.capture.reader import parse, read

__all__ = ["MAGIC", "Capture", "CapturedLaunch", "CapturedMemory", "CapturedProcess", "parse", "read"]
