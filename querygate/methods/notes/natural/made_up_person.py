"""A made-up person in the place of the one whose notes these are, and made-up others around.

*Hiding in plain sight* (Carrell, Malin, Aberdeen, Bayer, Clark, Wellner, Hirschman, J. Am. Med. Inform. Assoc. 20,
2013): an identifier that was missed stands among others that look the same. Whoever learns to tell them apart finds it
all the same (the parrot attack: Carrell et al., J. Am. Med. Inform. Assoc. 26, 2019).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from querygate.methods.notes.identifier_values import Own
from querygate.methods.notes.natural.days import LONG_AGO, THAT_DAY, THAT_MONTH, THE_HOLIDAY, moved_day, moved_part
from querygate.methods.notes.natural.keyed_choice import KeyedChoice
from querygate.methods.notes.natural.names import NaturalNames, is_latin
from querygate.methods.notes.natural.places import NaturalPlaces, words_that_stay
from querygate.methods.notes.natural.shapes import address, phone, shaped
from querygate.methods.notes.note_text import atoms_of, letters_and_digits
from querygate.methods.notes.scrub_options import Dates
from querygate.methods.notes.spans import IdentifierKind, TextSpan
from querygate.methods.notes.written_forms import TITLES

ATTEMPTS = 20
"""Other choices, before a tag is used, where the first equals something that was found in the same text."""

_TITLE = re.compile(r"(?:\b(?:dr|mr|mrs|ms|miss|mx|prof|professor|doctor|nurse|herr|frau|mme)\.?\s{1,3})$", re.I)
_SAINT = re.compile(r"\b(?:st\.?|saint)\s{1,3}$", re.I)
_NO_HOSTS = frozenset({"http", "https", "www", "com", "org", "net", "example"})
_WORDY = (IdentifierKind.NAME, IdentifierKind.PLACE, IdentifierKind.EMAIL, IdentifierKind.URL)
_PHONES = (IdentifierKind.PHONE, IdentifierKind.FAX)
_ADDRESSES = (IdentifierKind.EMAIL, IdentifierKind.URL, IdentifierKind.IP)


class Stranger:
    """Replacements for the notes of one person: `names` are the parts of the own name, `taken` says of a whole name
    whether somebody in the file has it, `days` by how much dates move back."""

    def __init__(
        self, choice: KeyedChoice, own: Own | None, names: Sequence[str], taken: Callable[[str], bool], days: int
    ) -> None:
        self._choice, self._days = choice, days
        self._names = NaturalNames(choice, names, taken)
        self._places = NaturalPlaces(choice, self._names, lambda form: own is not None and own.has(form))

    def instead(self, text: str, spans: Sequence[TextSpan], tried: Callable[[TextSpan], int]) -> list[str | None]:
        """A replacement for each span, or None where none can be made; `tried` counts those that did not do."""
        met = _Met(text, spans)
        return [self._first_other(text, span, met, tried(span)) for span in spans]

    def day(self, found: str, span: TextSpan, dates: Dates) -> str | None:
        """A date, or part of one, as the options want it; None where a tag has to do."""
        if dates == "tag":
            return None
        if span.rule == "old year":
            return LONG_AGO
        if span.rule == "holiday":
            return THE_HOLIDAY
        if dates == "year":
            return THAT_MONTH if span.rule == "month" else THAT_DAY
        if len(span.value) == 10:
            return moved_day(found, span.value, self._days)
        return moved_part(found, span.value, span.rule, self._days)

    def _first_other(self, text: str, span: TextSpan, met: _Met, tried: int) -> str | None:
        if not is_latin(text[span.start : span.end]):
            return None
        for attempt in range(tried * ATTEMPTS, (tried + 1) * ATTEMPTS):
            made = self._one(text, span, attempt)
            if not met.has(made, span.kind):
                return made
        return None

    def _one(self, text: str, span: TextSpan, attempt: int) -> str:
        found, kind, before = text[span.start : span.end], span.kind, text[max(0, span.start - 14) : span.start]
        if kind is IdentifierKind.NAME:
            return self._names.of(found, bool(_TITLE.search(before)), attempt)
        if kind is IdentifierKind.PLACE:
            return self._places.of(found, bool(_SAINT.search(before)), attempt)
        if kind in _ADDRESSES:
            return address(found, kind, self._choice, self._names, attempt)
        return phone(found, self._choice, attempt) if kind in _PHONES else shaped(found, self._choice, kind, attempt)


class _Met:
    """What was found in a text: no replacement in it may be one of these."""

    __slots__ = ("_values", "_words")

    def __init__(self, text: str, spans: Sequence[TextSpan]) -> None:
        telling = [span for span in spans if span.kind not in (IdentifierKind.DATE, IdentifierKind.AGE)]
        self._values = {letters_and_digits(text[span.start : span.end]) for span in telling}
        self._words = {word for span in telling if span.kind in _WORDY for word in _words(text[span.start : span.end])}

    def has(self, made: str, kind: IdentifierKind) -> bool:
        if letters_and_digits(made) in self._values:
            return True
        return kind in _WORDY and not self._words.isdisjoint(_words(made))


def _words(text: str) -> list[str]:
    """The words and numbers that may name somebody or something: no titles, no streets, no single letters."""
    return [
        atom
        for atom in atoms_of(text)
        if len(atom) > 2 and atom not in TITLES and not words_that_stay(atom) and atom not in _NO_HOSTS
    ]
