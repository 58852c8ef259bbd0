"""The exceptions argpack raises on purpose: one root, a child per answer that a caller may treat differently.

Messages are one line: what (file, kernel, field), where (offset or line), what was expected, what was found.
"""


class ArgpackError(Exception):
    """Root of every error that leaves a public function; the command line turns it into exit code 2."""


class InputError(ArgpackError):
    """A file, a dump or a value handed in cannot be read or does not fit its declaration."""


class RefusedError(ArgpackError):
    """The launch asked for is known to give wrong results or to write out of bounds; `--force` runs it anyway."""


class UnsupportedError(ArgpackError):
    """The emulator met an instruction, mode or operand form that it does not execute."""


class UnavailableError(ArgpackError):
    """Something outside argpack is missing: a package, a GPU, a runtime, the kernels."""
