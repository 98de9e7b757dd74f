"""Choices that nobody can foretell without the secret of the extract, the same for the same words of one person."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence


class KeyedChoice:
    """Choices for one person's notes. Another person's are others, so a name in two notes does not link them.

    >>> choice = KeyedChoice(b"a secret of the extract", "ann")
    >>> choice.number("x") == choice.number("x"), choice.number("x") == choice.number("y")
    (True, False)
    """

    __slots__ = ("_key",)

    def __init__(self, secret: bytes, person: str) -> None:
        self._key = hmac.digest(secret, b"natural\0" + person.encode("utf-8"), hashlib.sha256)

    def number(self, *about: object) -> int:
        """A large number."""
        return int.from_bytes(hmac.digest(self._key, "\0".join(map(str, about)).encode("utf-8"), hashlib.sha256), "big")

    def pick(self, options: Sequence[str], *about: object) -> str:
        return options[self.number(*about) % len(options)]

    def digits(self, many: int, *about: object) -> list[int]:
        """So many numbers below 2,600: a digit and a letter can be made of each. The first is that of the last place,
        so that a number with and without its beginning ends alike."""
        made: list[int] = []
        while len(made) < many:
            block = self.number(*about, len(made))
            for _ in range(16):
                block, rest = divmod(block, 2600)
                made.append(rest)
        return made[:many]
