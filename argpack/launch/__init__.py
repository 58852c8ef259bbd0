"""Launching a code object: the description of a launch, and the backends that run it."""

from argpack.launch.buffer import Buffer, MadeBuffer
from argpack.launch.launch import Backend, Launch, LaunchResult, Relocation

__all__ = ["Backend", "Buffer", "Launch", "LaunchResult", "MadeBuffer", "Relocation"]
