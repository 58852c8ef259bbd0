"""A CPU emulator of gfx950 machine code: all waves of many workgroups in lockstep, on numpy arrays.

It knows code objects and memory; it does not know what a kernel computes. It never guesses: an instruction, mode or
operand form that is not declared here stops with its name, address and encoding.
"""
