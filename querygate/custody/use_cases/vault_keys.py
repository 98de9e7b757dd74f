"""Secrets in a site's vault: made when first needed, and never shown."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

BYTES = 32


def vault_key(vault: Path, name: str) -> bytes:
    """The secret with this name. Two processes that make it at the same time get the same one."""
    path = vault / name
    if not path.exists():
        staged = vault / f".{name}.{secrets.token_hex(8)}"
        handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_bytes(BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(staged, path)  # unlike a rename it does not replace what another made meanwhile
        except FileExistsError:
            pass
        finally:
            staged.unlink()
    return path.read_bytes()
