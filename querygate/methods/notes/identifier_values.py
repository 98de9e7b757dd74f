"""The file's own identifier columns, as a dictionary to read notes with.

Values are found by hashing, never by a pattern for each. Every distinctive value of the file is in one table with the
lengths that values beginning with the same six characters have; at each atom of a note only those lengths are tried.
The values of the note's own record are few and found in the same pass, with near misses in spelling.

Promise, for the values of the note's own record (of two characters or more) and the distinctive ones of every record:
no run of atoms outside the spans found equals a form of the value; and one of six characters or more of the own record
is not inside a longer word or number either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from querygate.methods.notes.lexicon import is_word
from querygate.methods.notes.note_text import TextAtoms, letters_and_digits
from querygate.methods.notes.spans import IdentifierKind, TextSpan
from querygate.methods.notes.written_forms import DISTINCTIVE, distinctive, forms, read_date

OWN_RULE, OTHER_RULE, TYPO_RULE = "own column", "other record", "own column, misspelt"
_HEAD = DISTINCTIVE


class _Table(NamedTuple):
    """Forms with what they stand for, and the lengths of those that begin with the same two characters."""

    forms: dict[str, tuple[IdentifierKind, str]]
    lengths: dict[str, tuple[int, ...]]


@lru_cache(maxsize=1 << 15)
def _day(value: str) -> _Table:
    """A date has many forms and many people share it, so it has a table of its own."""
    day = read_date(value)
    found = dict.fromkeys(forms(IdentifierKind.DATE, value), (IdentifierKind.DATE, day.isoformat() if day else ""))
    return _Table(found, _lengths(found, 2))


@dataclass(frozen=True, slots=True)
class Own:
    """What is known of the person whose note it is: a table of forms, and one for each date."""

    tables: tuple[_Table, ...]
    long: tuple[str, ...] = ()  # forms that are looked for within longer words too
    spelt: tuple[str, ...] = ()  # forms whose near misses are looked for
    # Of six characters or more, one slip leaves the first two or the last two untouched: a quick first look.
    corners: frozenset[str] = frozenset()

    @classmethod
    def of(cls, values: Iterable[tuple[IdentifierKind, str]]) -> Own:
        """From the values of the identifier columns of one record.

        Name columns in the order given are also one name: first name, last name.
        """
        given = [(kind, value) for kind, value in values if value.strip()]
        names = [value for kind, value in given if kind is IdentifierKind.NAME]
        if len(names) > 1:
            given.insert(0, (IdentifierKind.NAME, " ".join(names)))
        person = letters_and_digits(" ".join(names))
        found: dict[str, tuple[IdentifierKind, str]] = {}
        days: list[_Table] = []
        for kind, value in given:
            if kind is IdentifierKind.DATE:
                days.append(_day(value))
                whole = letters_and_digits(value)
                found.setdefault(whole, days[-1].forms.get(whole, (kind, "")))
                continue
            same = person if kind is IdentifierKind.NAME else letters_and_digits(value)
            for form in forms(kind, value):
                found.setdefault(form, (kind, same))
        long = tuple(form for form in found if len(form) >= DISTINCTIVE)
        spelt = tuple(form for form in long if found[form][0] is not IdentifierKind.DATE)
        corners = frozenset(form[:2] for form in spelt) | frozenset(form[-2:] + "$" for form in spelt)
        return cls((_Table(found, _lengths(found, 2)), *days), long, spelt, corners)

    def has(self, form: str) -> bool:
        """Is this a form of one of the values?"""
        return any(form in table.forms for table in self.tables)

    def near(self, token: str) -> tuple[IdentifierKind, str] | None:
        """Whose form is one slip away: a letter missing, added, changed, or two exchanged. Words are no slips."""
        if len(token) < DISTINCTIVE - 1 or is_word(token):
            return None
        return next((self.tables[0].forms[form] for form in self.spelt if one_slip(token, form)), None)


class People:
    """Distinctive values of all records, to be found in any note.

    >>> jane = [(IdentifierKind.NAME, "Jane Doe"), (IdentifierKind.RECORD, "00112233")]
    >>> people = People.of([jane, [(IdentifierKind.NAME, "Tom Garcia")]])
    >>> [s for s in people.find(TextAtoms("Sister of GARCIA, Tom (MRN 0011-2233)"))]
    [TextSpan(10, 21, NAME, 'other record'), TextSpan(27, 36, RECORD, 'other record')]
    """

    __slots__ = ("_kinds", "_lengths")

    def __init__(self, kinds: dict[str, IdentifierKind]) -> None:
        self._kinds = kinds
        self._lengths = _lengths(kinds, _HEAD)

    @classmethod
    def of(cls, records: Iterable[Sequence[tuple[IdentifierKind, str]]]) -> People:
        kinds: dict[str, IdentifierKind] = {}
        for values in records:
            names = [value for kind, value in values if kind is IdentifierKind.NAME]
            whole = [(IdentifierKind.NAME, " ".join(names))] if len(names) > 1 else []
            for kind, value in (*whole, *values):
                for form in distinctive(kind, value):
                    kinds.setdefault(form, kind)
        return cls(kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, form: str) -> bool:
        return form in self._kinds

    def find(self, note: TextAtoms, own: Own | None = None, misspelt: bool = True) -> list[TextSpan]:
        """Spans of own forms, near misses of them if wanted, and the distinctive values of others."""
        stream, ends = note.stream, note.ends
        tables = own.tables if own else ()
        corners: frozenset[str] = own.corners if own and misspelt else frozenset()
        spans: list[TextSpan] = []
        covered = -1
        for at, to, start, end in note.atoms:
            best, what = 0, None
            for table in tables:
                for length in table.lengths.get(stream[at : at + 2], ()):
                    if length > best and at + length in ends and stream[at : at + length] in table.forms:
                        best, what = length, table.forms[stream[at : at + length]]
            rule = OWN_RULE
            for length in self._lengths.get(stream[at : at + _HEAD], ()):
                if length > best and at + length in ends and stream[at : at + length] in self._kinds:
                    form = stream[at : at + length]
                    best, what, rule = length, (self._kinds[form], form), OTHER_RULE
            if what is not None:
                if at + best > covered:
                    covered = at + best
                    spans.append(TextSpan(start, ends[covered], what[0], rule, what[1]))
            elif own and to > covered and (stream[at : at + 2] in corners or stream[to - 2 : to] + "$" in corners):
                miss = own.near(stream[at:to])
                if miss is not None:
                    spans.append(TextSpan(start, end, miss[0], TYPO_RULE, miss[1]))
        if own is not None:
            spans += _inside(note, own)
        return spans


def _inside(note: TextAtoms, own: Own) -> Iterator[TextSpan]:
    """Forms within a longer word or number: the number in 0000123456, the name in `pattersonj`, the "
    "code in xAB123456."""
    for form in own.long:
        at = note.stream.find(form)
        while at >= 0:
            atoms = note.touching(at, at + len(form))
            if all(left[3] == right[2] for left, right in pairwise(atoms)):  # nothing stands between them
                kind, value = own.tables[0].forms[form]
                yield TextSpan(atoms[0][2], atoms[-1][3], kind, OWN_RULE, value)
            at = note.stream.find(form, at + 1)


def _lengths(values: Iterable[str], head: int) -> dict[str, tuple[int, ...]]:
    """The lengths, longest first, that values with the same beginning have."""
    found: dict[str, set[int]] = {}
    for value in values:
        found.setdefault(value[:head], set()).add(len(value))
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}  # few combinations, so one object for each
    made = {beginning: tuple(sorted(lengths, reverse=True)) for beginning, lengths in found.items()}
    return {beginning: shared.setdefault(lengths, lengths) for beginning, lengths in made.items()}


def one_slip(a: str, b: str) -> bool:
    """Are the two, not equal, one insertion, deletion, change or exchange of neighbours apart?

    >>> one_slip("garcia", "gracia"), one_slip("garcia", "garca"), one_slip("garcia", "garzas")
    (True, True, False)
    """
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    front = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(a) == len(b):
        return a[front + 1 :] == b[front + 1 :] or (
            a[front + 2 :] == b[front + 2 :] and a[front : front + 2] == b[front : front + 2][::-1]
        )
    shorter, longer = sorted((a, b), key=len)
    return shorter[front:] == longer[front + 1 :]


def record_values(
    columns: Mapping[str, IdentifierKind], record: Mapping[str, object]
) -> list[tuple[IdentifierKind, str]]:
    """The identifier values of a record as text, in the order of the columns; missing ones left out."""
    return [
        (kind, str(value))
        for name, kind in columns.items()
        if (value := record.get(name)) is not None and value == value
    ]
