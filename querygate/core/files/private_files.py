"""Files that their owner alone may read, from the moment they are there and whatever the umask."""

from __future__ import annotations

import os


def for_owner(path: str, flags: int) -> int:
    """The opener of such a file: `open(path, "w", opener=for_owner)`."""
    return os.open(path, flags, 0o600)
