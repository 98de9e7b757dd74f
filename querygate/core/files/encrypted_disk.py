"""What encrypts the disk under a folder, as far as Linux tells: dm-crypt (LUKS), fscrypt, or a file system of its own.

Nothing here proves that the key is kept well, nor that a disk which a storage system encrypts is not encrypted.
"""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

SYS, MOUNTS = Path("/sys/dev/block"), Path("/proc/self/mountinfo")
FILE_SYSTEMS = frozenset({"ecryptfs", "fuse.gocryptfs", "fuse.cryfs", "fuse.encfs"})

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_ENCRYPTED = 0x800  # FS_ENCRYPT_FL


def disk_encryption(folder: Path) -> str | None:
    """What encrypts it; None where nothing is known to."""
    if _has_own_key(folder):
        return "fscrypt"
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    kind, source = _mounted(number)
    if kind in FILE_SYSTEMS:
        return kind.removeprefix("fuse.")
    if number.startswith("0:") and source.startswith("/dev/"):  # such as btrfs, which numbers by itself
        with suppress(OSError):
            under = Path(source).stat().st_rdev
            number = f"{os.major(under)}:{os.minor(under)}"
    return "dm-crypt" if _is_crypt(number) else None


def _has_own_key(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        flags: int = struct.unpack("l", fcntl.ioctl(handle, _GET_FLAGS, struct.pack("l", 0)))[0]
        return bool(flags & _ENCRYPTED)
    except OSError:  # a file system without flags
        return False
    finally:
        os.close(handle)


def _mounted(number: str) -> tuple[str, str]:
    """Kind and source of the file system with this device number."""
    with suppress(OSError):
        for line in MOUNTS.read_text(encoding="utf-8").splitlines():
            place, _, system = line.partition(" - ")
            if place.split()[2] == number:
                return system.split()[0], system.split()[1]
    return "", ""


def _is_crypt(number: str) -> bool:
    """Whether it is an encrypted device, or lies on such devices alone, as a logical volume does."""
    device = SYS / number
    with suppress(OSError):
        if (device / "dm" / "uuid").read_text(encoding="ascii").startswith("CRYPT-"):
            return True
    below = [path.read_text(encoding="ascii").strip() for path in device.glob("slaves/*/dev")]
    return bool(below) and all(map(_is_crypt, below))
