"""Who listens on a port of this machine, as far as this user may know. Linux tells it under `/proc`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_LISTEN = "0A"


def explain_holders(port: int) -> str:
    """A sentence that names the processes on a port; nothing where none is known."""
    holders = [f"{pid} ({name})" for pid, name in sorted(find_holders(port))]
    if not holders:
        return ""
    several = len(holders) > 1
    return f" The port is held by {'processes' if several else 'process'} {', '.join(holders)}."


def find_holders(port: int) -> Iterator[tuple[int, str]]:
    """Number and name of each process of this user that listens on the port."""
    wanted = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in PROC.iterdir() if wanted else ():
        with suppress(OSError):  # it belongs to somebody else, or has ended
            if process.name.isdigit() and any(str(one.readlink()) in wanted for one in (process / "fd").iterdir()):
                yield int(process.name), (process / "comm").read_text().strip()


def _listening(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]
