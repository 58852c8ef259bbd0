"""A libamdhip64.so backed by the emulator, so that unmodified HIP programs run without a GPU.

A small library in the program forwards every call to a process of its own, which is Python and has the device's
memory. It knows HIP's interface; how kernels are executed is the emulator's.
"""
