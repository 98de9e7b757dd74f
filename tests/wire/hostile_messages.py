"""Messages after sign-in that are cut, too long, in the wrong order, of wrong lengths, or nonsense."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

from tests.wire.raw_client import packet

PROPER = (
    packet(b"Q", b"SELECT COUNT(*) FROM survey\0"),
    packet(b"Q", b"SELECT 1; SELECT 2\0"),
    packet(b"P", b"\0SELECT COUNT(*) FROM survey WHERE age > $1\0\0\x01\0\0\0\x17"),
    packet(b"P", b"name\0SHOW ALL\0\0\0"),
    packet(b"B", b"\0\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x28\0\0"),
    packet(b"B", b"portal\0name\0\0\0\0\0\0\0"),
    packet(b"D", b"S\0"),
    packet(b"D", b"Pportal\0"),
    packet(b"E", b"\0\0\0\0\x02"),
    packet(b"C", b"Sname\0"),
    packet(b"H"),
    packet(b"S"),
)


def hostile_messages(rng: random.Random, number: int) -> Iterator[bytes]:
    for _ in range(number):
        yield rng.choice(_WAYS)(rng)


def _cut(rng: random.Random) -> bytes:
    whole = rng.choice(PROPER)
    return whole[: rng.randrange(len(whole))]


def _wrong_length(rng: random.Random) -> bytes:
    whole = rng.choice(PROPER)
    size = rng.choice([0, 1, 3, 4, 5, len(whole) - 2, len(whole) + 7, 2**16, 2**24, 2**31, 2**32 - 1])
    return whole[:1] + struct.pack("!I", size) + whole[5:] + packet(b"S")


def _reordered(rng: random.Random) -> bytes:
    return b"".join(rng.choices(PROPER, k=rng.randint(2, 12)))


def _changed(rng: random.Random) -> bytes:
    data = bytearray(_reordered(rng))
    for _ in range(rng.randint(1, 5)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _counts(rng: random.Random) -> bytes:
    """Numbers of things that are not there."""
    count = struct.pack("!H", rng.choice([1, 255, 65_535]))
    return rng.choice(
        [packet(b"P", b"\0SELECT 1\0" + count), packet(b"B", b"\0\0" + count), packet(b"B", b"\0\0\0\0" + count)]
    )


def _nonsense(rng: random.Random) -> bytes:
    return rng.randbytes(rng.randint(1, 400))


_WAYS = (_cut, _wrong_length, _reordered, _changed, _counts, _nonsense)
