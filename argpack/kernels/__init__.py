"""Where code objects come from: AITER's wheel in the user's cache, a folder given by hand, and our own small kernel.

It knows files and names; what is in a file is `argpack.codeobject`'s business.
"""

from argpack.kernels.locate import OWN, RELEASE, cache_dir, fetched, kernel_root
from argpack.kernels.lookup import matching, resolve
from argpack.kernels.wheel import COUNT, fetch

__all__ = ["COUNT", "OWN", "RELEASE", "cache_dir", "fetch", "fetched", "kernel_root", "matching", "resolve"]
