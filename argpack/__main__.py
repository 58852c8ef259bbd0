"""`python -m argpack` is `argpack`."""

import sys

from argpack.cli import main

sys.exit(main())
