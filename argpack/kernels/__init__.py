"""Where code objects come from: AITER's wheel in the user's cache, a folder given by hand, and our own small kernel.

It knows files and names; what is in a file is `argpack.codeobject`'s business.
"""

from argpack.kernels.fetch import COUNT, fetch
from argpack.kernels.locate import OWN, RELEASE, cache_dir, fetched, kernel_root
from argpack.kernels.resolve import matching, resolve

__all__ = ["COUNT", "OWN", "RELEASE", "cache_dir", "fetch", "fetched", "kernel_root", "matching", "resolve"]
