"""What stands in the place of an identifier.

A tag is made with HMAC-SHA-256 of the kind and the folded value under a secret of the extract: equal values have equal
tags in the whole extract, and without the secret nobody can test a guess. All forms of one person's name are one
value, so have one tag. With the same secret two extracts can be linked by their tags; a new secret for each prevents
it. Replacements that read naturally are made for one person's notes at a time, by a `Stranger`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from querygate.core.safe_harbor import OLD
from querygate.methods.notes.identifier_values import Own, People
from querygate.methods.notes.natural import Stranger
from querygate.methods.notes.natural.keyed_choice import KeyedChoice
from querygate.methods.notes.note_text import letters_and_digits
from querygate.methods.notes.scrub_options import ScrubOptions
from querygate.methods.notes.spans import IdentifierKind, TextSpan

BLANK = "[***]"
"""Where even a tag would spell a value that must not be left: no letter, no digit."""

GREAT_AGE = f"{OLD}+"
_LETTERS = "bcdfghjkmnpqrstvwxz"  # no vowels and no digits: a tag spells no word, no name, no number
_LENGTH = 8  # 19^8, about 1.7 10^10: two of 100,000 values share a tag with a chance of 1 in 4
_TRIES = 5  # replacements that read naturally, before a place is left blank


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose note it is: the key by which their notes belong together, their values, the parts of their name."""

    person: str
    own: Own | None = None
    names: tuple[str, ...] = ()


class Surrogates:
    """Makes the replacements of one extract, in whose file `people` are."""

    def __init__(self, secret: bytes, options: ScrubOptions, people: People | None = None) -> None:
        if len(secret) < 16:
            raise ValueError("the secret has at least 16 bytes")
        self._secret = secret
        self._options = options
        self._people = people or People({})
        self._tries = _TRIES if options.tags == "natural" else 1

    def of(self, text: str, spans: Sequence[TextSpan], whose: Whose, failed: Mapping[int, int]) -> list[str]:
        """The replacement of each span of one note, in order. `failed`: how many for the span that begins there spelt
        a value that must not be left."""
        numbers: dict[tuple[IdentifierKind, str], int] = {}
        natural: Sequence[str | None] = [None] * len(spans)
        if self._options.tags == "natural":
            natural = self._naturally(text, spans, whose, failed)
        made = []
        for span, other in zip(spans, natural, strict=True):
            if failed.get(span.start, 0) >= self._tries:
                made.append(BLANK)
            else:
                made.append(other or self._one(text[span.start : span.end], span, whose.person, numbers))
        return made

    def days(self, person: str) -> int:
        """By how many days the dates of a person move back. Different people move differently."""
        digest = hmac.digest(self._secret, b"days\0" + person.encode("utf-8"), hashlib.sha256)
        return 1 + int.from_bytes(digest[:8], "big") % self._options.most_days

    def _naturally(
        self, text: str, spans: Sequence[TextSpan], whose: Whose, failed: Mapping[int, int]
    ) -> list[str | None]:
        choice = KeyedChoice(self._secret, whose.person)
        stranger = Stranger(choice, whose.own, whose.names, self._people.__contains__, self.days(whose.person))
        others = stranger.instead(text, spans, lambda span: failed.get(span.start, 0))
        return [
            stranger.day(text[span.start : span.end], span, self._options.dates)
            if span.kind is IdentifierKind.DATE and not self._keeps_year(span.value)
            else None
            if span.kind in (IdentifierKind.DATE, IdentifierKind.AGE)
            else other
            for span, other in zip(spans, others, strict=True)
        ]

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
        if self._options.dates == "shift" and len(value) == 10:
            try:
                moved = dt.date.fromisoformat(value) - dt.timedelta(days=self.days(person))
            except (ValueError, OverflowError):
                return None
            return moved.isoformat()
        return value[:4] if self._keeps_year(value) else None

    def _keeps_year(self, value: str) -> bool:
        earliest = self._options.earliest_year
        return self._options.dates == "year" and bool(value) and (earliest is None or int(value[:4]) >= earliest)
