"""A note without its identifiers: find, settle overlaps, replace, and read the result again.

The last step is what the promise rests on. Tags are new text, and text on both sides of a tag may meet; so the result
is searched for the values of the identifier columns once more, and what is found goes too, until nothing is.

>>> kinds = {"name": IdentifierKind.NAME, "born": IdentifierKind.DATE}
>>> scrubber = Scrubber(b"a secret of the extract", kinds, ScrubOptions(tags="kind"))
>>> record = {"name": "Jane Doe", "born": "1980-05-03"}
>>> scrubber.scrub("J. DOE, born 3 May 1980, seen by Dr. Wells with her son Will. Parkinson's disease.", record).text
"[NAME], born 1980, seen by Dr. [NAME] with her son [NAME]. Parkinson's disease."
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from querygate.core.count_text import counted
from querygate.methods.notes.finders import FINDERS, JAPANESE_FINDERS, STRENGTH, Finder, NameFinder
from querygate.methods.notes.finders.dates import find_days
from querygate.methods.notes.identifier_values import Own, People, record_values
from querygate.methods.notes.note_text import TextAtoms, plain, without_ideographs
from querygate.methods.notes.scrub_options import ScrubOptions
from querygate.methods.notes.spans import SAFE_HARBOR, IdentifierKind, TextSpan, resolve
from querygate.methods.notes.surrogates import Surrogates, Whose
from querygate.methods.notes.written_forms import name_parts

LONGEST = 1_000_000
"""Characters of a note at most."""

_YEAR = re.compile(r"(?<![\w.])(1[89]\d\d|20\d\d)(?!\w|\.\d)")


@dataclass(frozen=True, slots=True)
class ScrubbedNote:
    """A note without identifiers: `found` in the original, and where each replacement stands in `text`."""

    text: str
    found: tuple[TextSpan, ...]
    placed: tuple[tuple[int, int], ...]


class Scrubber:
    """Scrubs notes of one extract. `columns` says which columns of a record hold identifiers, and of what kind."""

    def __init__(
        self,
        secret: bytes,
        columns: Mapping[str, IdentifierKind] | None = None,
        options: ScrubOptions | None = None,
        people: Iterable[Mapping[str, object]] = (),
        learned: Finder | None = None,
    ) -> None:
        """`people`: the records of the file, whose distinctive values go from every note. `learned`: one more finder,
        whose word counts where no rule says anything."""
        self._options = options or ScrubOptions()
        self._columns = dict(columns or {})
        self._people = People.of(record_values(self._columns, record) for record in people)
        self._surrogates = Surrogates(secret, self._options, self._people)
        self._finders = _finders(self._options)
        self._learned = learned

    def find(self, text: str, record: Mapping[str, object] | None = None) -> list[TextSpan]:
        """The identifiers in a note, overlaps settled."""
        return self._find(text, self._own(record))

    def scrub(self, text: str, record: Mapping[str, object] | None = None, person: str | None = None) -> ScrubbedNote:
        """The note without identifiers. `person` says whose dates move together; silent: the record's own values."""
        whose = self._whose(record or {}, person)
        spans = self._find(text, whose.own)
        if not spans:
            return ScrubbedNote(text, (), ())
        failed: Counter[int] = Counter()  # starts of spans whose replacement itself would spell a value
        while True:
            made = self._surrogates.of(text, spans, whose, failed)
            result, placed = _render(text, spans, made)
            left = self._people.find(TextAtoms(result), whose.own, misspelt=False)
            if not left:
                return ScrubbedNote(result, tuple(spans), tuple(placed))
            more, touched = _origins(left, spans, placed)
            failed.update(touched)
            spans = self._settle(text, [*spans, *more])

    def _whose(self, record: Mapping[str, object], person: str | None) -> Whose:
        values = record_values(self._columns, record)
        names = " ".join(value for kind, value in values if kind is IdentifierKind.NAME)
        key = "\0".join(value for _, value in values) if person is None else person
        return Whose(key, self._own(record), tuple(dict.fromkeys(name_parts(names))))

    def _own(self, record: Mapping[str, object] | None) -> Own | None:
        return Own.of(record_values(self._columns, record)) if record else None

    def _find(self, text: str, own: Own | None) -> list[TextSpan]:
        if len(text) > LONGEST:
            raise ValueError(f"a note has at most {LONGEST:,} characters")
        return self._settle(text, [*self._people.find(TextAtoms(text), own), *self._by_rule(text)])

    def _by_rule(self, text: str) -> Iterator[TextSpan]:
        if self._learned is not None:
            yield from self._learned(text)
        read = plain(text)
        if not read.isascii():
            for finder in JAPANESE_FINDERS:
                yield from finder(read)
            read = without_ideographs(read)
        for finder in self._finders:
            yield from finder(read)

    def _settle(self, text: str, spans: Iterable[TextSpan]) -> list[TextSpan]:
        return resolve(text, spans, STRENGTH)


def _finders(options: ScrubOptions) -> tuple[Finder, ...]:
    chosen = [finder for finder in FINDERS if options.weekdays or finder is not find_days]
    chosen.append(NameFinder(unknown=options.unknown_words))
    if options.earliest_year is not None:
        chosen.append(partial(_old_years, before=options.earliest_year))
    return tuple(chosen)


def _old_years(text: str, before: int) -> Iterator[TextSpan]:
    for match in _YEAR.finditer(text):
        if int(match[1]) < before:
            yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, "old year", match[1])


def _render(text: str, spans: Sequence[TextSpan], made: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text with each span replaced, and where the replacements stand. All else is as it was."""
    pieces: list[str] = []
    placed: list[tuple[int, int]] = []
    at = length = 0
    for span, new in zip(spans, made, strict=True):
        pieces += (text[at : span.start], new)
        length += span.start - at
        placed.append((length, length + len(new)))
        length += len(new)
        at = span.end
    return "".join((*pieces, text[at:])), placed


def _origins(
    left: Sequence[TextSpan], spans: Sequence[TextSpan], placed: Sequence[tuple[int, int]]
) -> tuple[list[TextSpan], set[int]]:
    """What is left in the result, as spans of the original where kept text spells it, and the tags it touches."""
    more: list[TextSpan] = []
    touched: set[int] = set()
    for span in left:
        at, shift = span.start, 0
        for (start, end), source in zip(placed, spans, strict=True):
            if end <= at:
                shift = source.end - end
                continue
            if start >= span.end:
                break
            touched.add(source.start)
            if at < start:
                more.append(TextSpan(at + shift, start + shift, span.kind, span.rule, span.value))
            at, shift = end, source.end - end
        if at < span.end:
            more.append(TextSpan(at + shift, span.end + shift, span.kind, span.rule, span.value))
    return more, touched


@dataclass(frozen=True, slots=True)
class ScrubbedColumn:
    """A column of notes without identifiers, and how many of each kind were replaced."""

    notes: tuple[str | None, ...]
    kinds: dict[IdentifierKind, int]
    rules: dict[str, int]
    touched: int


def explain_scrubbed(column: ScrubbedColumn) -> str:
    """One sentence for those who decide."""
    total = sum(column.kinds.values())
    if not total:
        return f"No identifier was found in {counted(len(column.notes), 'note')}."
    kinds = ", ".join(f"{count:,} {SAFE_HARBOR[kind].partition(': ')[2]}" for kind, count in column.kinds.items())
    replaced = counted(total, "identifier was", "identifiers were")
    return f"{replaced} replaced in {column.touched:,} of {len(column.notes):,} notes: {kinds}."
