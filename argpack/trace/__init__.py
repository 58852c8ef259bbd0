"""What a kernel does with its arguments and its memory, found by running it on the emulator.

It watches launches; what a family says of its kernels it never asks.
"""
