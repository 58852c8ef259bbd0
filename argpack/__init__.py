"""argpack: pack, diff, run and verify the arguments of AMD GPU kernels that somebody else wrote in assembly."""

from argpack.errors import ArgpackError, InputError, RefusedError, UnavailableError, UnsupportedError

__version__ = "0.1.0"
__all__ = [
    "ArgpackError",
    "InputError",
    "RefusedError",
    "UnavailableError",
    "UnsupportedError",
    "__version__",
]
