"""What stands in the place of an identifier.

A tag is made with HMAC-SHA-256 of the kind and the folded value under a secret of the extract: equal values have equal
tags in the whole extract, and without the secret nobody can test a guess. All forms of one person's name are one
value, so have one tag. With the same secret two extracts can be linked by their tags; a new secret for each prevents
it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac

from querygate.core.safe_harbor import OLD
from querygate.methods.notes.note_text import letters_and_digits
from querygate.methods.notes.scrub_options import ScrubOptions
from querygate.methods.notes.spans import IdentifierKind, TextSpan

BLANK = "[***]"
"""Where even a tag would spell a value that must not be left: no letter, no digit."""

GREAT_AGE = f"{OLD}+"
_LETTERS = "bcdfghjkmnpqrstvwxz"  # no vowels and no digits: a tag spells no word, no name, no number
_LENGTH = 8  # 19^8, about 1.7 10^10: two of 100,000 values share a tag with a chance of 1 in 4


class Surrogates:
    """Makes the replacements of one extract."""

    def __init__(self, secret: bytes, options: ScrubOptions) -> None:
        if len(secret) < 16:
            raise ValueError("the secret has at least 16 bytes")
        self._secret = secret
        self._options = options

    def of(self, text: str, spans: list[TextSpan], person: str) -> list[str]:
        """The replacement of each span of one note, in order."""
        numbers: dict[tuple[IdentifierKind, str], int] = {}
        return [self._one(text[span.start : span.end], span, person, numbers) for span in spans]

    def days(self, person: str) -> int:
        """By how many days the dates of a person move back. Different people move differently."""
        digest = hmac.digest(self._secret, b"days\0" + person.encode("utf-8"), hashlib.sha256)
        return 1 + int.from_bytes(digest[:8], "big") % self._options.most_days

    def _one(self, found: str, span: TextSpan, person: str, numbers: dict[tuple[IdentifierKind, str], int]) -> str:
        if span.kind is IdentifierKind.AGE:
            return GREAT_AGE
        if span.kind is IdentifierKind.DATE:
            made = self._date(span.value, person)
            if made is not None:
                return made
        value = span.value or letters_and_digits(found)
        if self._options.tags == "kind":
            return f"[{span.kind}]"
        if self._options.tags == "numbered":
            number = numbers.setdefault((span.kind, value), 1 + sum(kind is span.kind for kind, _ in numbers))
            return f"[{span.kind}-{number}]"
        return f"[{span.kind}:{self._tag(span.kind, value)}]"

    def _tag(self, kind: IdentifierKind, value: str) -> str:
        digest = hmac.digest(self._secret, f"{kind}\0{value}".encode(), hashlib.sha256)
        number, letters = int.from_bytes(digest[:8], "big"), []
        for _ in range(_LENGTH):
            number, letter = divmod(number, len(_LETTERS))
            letters.append(_LETTERS[letter])
        return "".join(letters)

    def _date(self, value: str, person: str) -> str | None:
        """The year, or the day moved; nothing if what is written does not say the year (or, to be moved, the day)."""
        if self._options.dates == "tag" or not value:
            return None
        if self._options.dates == "shift" and len(value) == 10:
            try:
                moved = dt.date.fromisoformat(value) - dt.timedelta(days=self.days(person))
            except (ValueError, OverflowError):
                return None
            return moved.isoformat()
        earliest = self._options.earliest_year
        if self._options.dates == "year" and (earliest is None or int(value[:4]) >= earliest):
            return value[:4]
        return None
