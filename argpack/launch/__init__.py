"""Launching a code object: the description of a launch, and the backends that run it."""

from argpack.launch.launch import Backend, Buffer, Launch, LaunchResult, Relocation

__all__ = ["Backend", "Buffer", "Launch", "LaunchResult", "Relocation"]
