"""The independent check of scrubbed notes: does any still contain a value of an identifier column?

It knows nothing about how notes were scrubbed. A value is left if its letters and digits occur in sequence in a text,
ignoring separators, accents and case. Two guarantees are counted:

- no value (of two characters or more) is left in the note of its own record, nor the whole name in either order;
- no note contains a value that points to one person anywhere: a full name, or a number or address of six characters or
  more.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SHORTEST, TELLING = 2, 6

NAMES, DATES, PLACES, ADDRESSES = "NAME", "DATE", "PLACE", ("EMAIL", "URL")
NO_NAMES = frozenset(
    {"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "madam", "rev", "fr", "sr", "jr", "ii", "iii", "iv"}
    | {"md", "rn", "do", "phd", "np", "pa", "esq", "van", "von", "der", "den", "de", "la", "le", "del", "di", "da"}
    | {"dos", "el", "al", "bin", "ibn", "ben", "of", "the", "y", "e"}
)
"""Words that do not make a name full: one name beside them is not a full name."""

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})


@dataclass(slots=True)
class LeftOver:
    """Notes with values left: of their own record, and of anybody."""

    own: int = 0
    anybody: int = 0
    searched: int = 0  # values that were searched for in all notes

    @property
    def any(self) -> bool:
        return bool(self.own or self.anybody)


@dataclass(slots=True)
class _Text:
    """The letters and digits of a text, and where words and numbers begin and end."""

    characters: str
    edges: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, text: str) -> _Text:
        plain = _plain(text)
        kept: list[str] = []
        edges = {0}
        before = ""
        for character in plain:
            kind = "" if not character.isalnum() else "0" if character.isdigit() else _script(character)
            if kind != before or kind == "single":
                edges.add(len(kept))
            if kind:
                kept.append(character)
            before = kind
        edges.add(len(kept))
        return cls("".join(kept), edges)

    def has(self, value: str) -> bool:
        """Does it occur there, at word boundaries?"""
        at = self.characters.find(value)
        while at >= 0:
            if at in self.edges and at + len(value) in self.edges:
                return True
            at = self.characters.find(value, at + 1)
        return False


def count_left(
    notes: Sequence[str | None],
    own: Mapping[str, Sequence[str | None]],
    everybody: Mapping[str, Sequence[str | None]],
    kinds: Mapping[str, str],
) -> LeftOver:
    """Counts values left in notes. `own` has the identifier columns of the same records, in order; `everybody` those of
    all records.

    >>> people = {"name": ["Jane Doe", "Tom García"], "mrn": ["00112233", "77"]}
    >>> count_left(["seen by J. DOE", "Tom-Garcia, room 77"], people, people, {"name": "NAME", "mrn": "RECORD"})
    LeftOver(own=1, anybody=1, searched=3)
    """
    telling = {value for record in _records(everybody) for value in _telling(record, kinds)}
    heads = {value[:TELLING] for value in telling}
    lengths = sorted({len(value) for value in telling})
    found = LeftOver(searched=len(telling))
    records = _records(own) if own else ({} for _ in notes)
    for note, record in zip(notes, records, strict=True):
        if note is None:
            continue
        text = _Text.of(note)
        found.own += any(text.has(value) for value in _own(record, kinds))
        found.anybody += _tells(text, telling, heads, lengths)
    return found


def count_repeated(
    text: str, found: Sequence[tuple[str, int, int]], result: str, placed: Sequence[tuple[int, int]]
) -> int:
    """Replacements that are, or for names have a word of, what was found in the same text: of each kind, from where to
    where in `text`, and where its replacement stands in `result`. Dates are aside: a moved day may be another day of
    the same person.

    >>> count_repeated("Ann Li, Bo Ek", [("NAME", 0, 6), ("NAME", 8, 13)], "Cy Aho, Ann Au", [(0, 6), (8, 14)])
    1
    """
    telling = [(kind, text[start:end]) for kind, start, end in found if kind not in (DATES, "AGE")]
    values = {_joined(value) for _, value in telling}
    names = {word for kind, value in telling if kind == NAMES for word in _words(value)}
    repeated = 0
    for (kind, _, _), (start, end) in zip(found, placed, strict=True):
        made = result[start:end]
        if kind not in (DATES, "AGE") and _joined(made):
            repeated += _joined(made) in values or (kind == NAMES and not names.isdisjoint(_words(made)))
    return repeated


def _words(name: str) -> list[str]:
    parts = "".join(c if c.isalpha() else "" if c in "'’" else " " for c in _plain(name)).split()
    return [part for part in parts if len(part) > 2 and part not in NO_NAMES]


def _tells(text: _Text, telling: set[str], heads: set[str], lengths: Sequence[int]) -> bool:
    for at in text.edges:
        if text.characters[at : at + TELLING] in heads:
            for length in lengths:
                if at + length in text.edges and text.characters[at : at + length] in telling:
                    return True
    return False


def _records(columns: Mapping[str, Sequence[str | None]]) -> Iterable[dict[str, str]]:
    names = list(columns)
    for row in zip(*columns.values(), strict=True):
        yield {name: value for name, value in zip(names, row, strict=True) if value}


def _own(record: Mapping[str, str], kinds: Mapping[str, str]) -> set[str]:
    """Every value as written, and the whole name."""
    return {value for value in map(_joined, (*record.values(), *_whole_names(record, kinds))) if len(value) >= SHORTEST}


def _whole_names(record: Mapping[str, str], kinds: Mapping[str, str]) -> list[str]:
    """The names of a record in the order of its columns, and the other way round."""
    parts = [value for name, value in record.items() if kinds[name] == NAMES]
    return [" ".join(parts), " ".join(parts[::-1])] if len(parts) > 1 else []


def _telling(record: Mapping[str, str], kinds: Mapping[str, str]) -> Iterable[str]:
    for name, value in (*record.items(), *((None, whole) for whole in _whole_names(record, kinds))):
        kind = NAMES if name is None else kinds[name]
        joined = _joined(value)
        numbered, lettered = any(map(str.isdigit, joined)), any(map(str.isalpha, joined))
        if len(joined) < TELLING or kind == DATES:
            continue
        if kind == NAMES:
            tells = len([part for part in map(_joined, value.split()) if part and part not in NO_NAMES]) > 1
        elif kind == PLACES:
            tells = numbered and lettered
        else:
            tells = numbered or kind in ADDRESSES
        if tells:
            yield joined


def _joined(value: str) -> str:
    return "".join(filter(str.isalnum, _plain(value)))


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    return "".join(c for c in apart if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")


def _script(character: str) -> str:
    """In scripts without spaces between words every letter is a word."""
    return "single" if "\u0e00" <= character <= "\u0e7f" or "\u3005" <= character <= "\u9fff" else "letter"
