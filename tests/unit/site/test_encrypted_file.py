"""Sealed files: what comes out is what went in, and nobody changes one unseen."""

from __future__ import annotations

import io
import os

import pytest

from querygate.site.encrypted_file import HEAD, MAGIC, PIECE, TAG, FileSeal, is_sealed

SEAL = FileSeal(b"k" * 32)
SIZES = (0, 1, 1000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 17)


def sealed(data: bytes) -> bytes:
    target = io.BytesIO()
    with SEAL.writing(target) as stream:
        for start in range(0, len(data), 9_999):
            stream.write(data[start : start + 9_999])
    return target.getvalue()


@pytest.mark.parametrize("size", SIZES)
def test_what_comes_out_is_what_went_in(size: int) -> None:
    data = os.urandom(size)
    raw = sealed(data)
    assert is_sealed(io.BytesIO(raw))
    assert SEAL.reading(io.BytesIO(raw)).read() == data
    handle = SEAL.reading(io.BytesIO(raw))
    assert handle.seek(0, os.SEEK_END) == size
    for at in (0, size // 2, max(0, size - 3), size, PIECE - 1, PIECE):
        handle.seek(at)
        assert handle.read(20) == data[at : at + 20]


def test_no_two_files_are_encrypted_alike() -> None:
    assert sealed(b"x" * 100)[HEAD:] != sealed(b"x" * 100)[HEAD:]
    assert b"xx" not in sealed(b"x" * 100)[HEAD:]


@pytest.mark.parametrize("size", SIZES)
def test_a_change_anywhere_is_found(size: int) -> None:
    raw, piece = sealed(b"a" * size), PIECE + TAG
    places = (len(MAGIC), HEAD, len(raw) // 2, len(raw) - 1)
    changed = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in places]
    changed += [raw[:-1], raw + b"x", raw[:HEAD], raw[: HEAD + 5]]
    first, second, rest = raw[HEAD : HEAD + piece], raw[HEAD + piece : HEAD + 2 * piece], raw[HEAD + 2 * piece :]
    if size > PIECE:
        changed += [raw[:HEAD] + first, raw[:HEAD] + second + rest]
    if size > 2 * PIECE:
        changed.append(raw[:HEAD] + second + first + rest)
    for one in changed:
        with pytest.raises(ValueError, match="changed"):
            SEAL.reading(io.BytesIO(one)).read()


def test_another_key_reads_nothing() -> None:
    with pytest.raises(ValueError, match="another key"):
        FileSeal(b"l" * 32).reading(io.BytesIO(sealed(b"secret"))).read()
    assert "kkk" not in repr(SEAL)
