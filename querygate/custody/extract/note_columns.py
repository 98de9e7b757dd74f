"""Free text in an extract: scrubbed with the identifier columns of the file, and searched for them again.

Identifiers of the note's own record are searched in every form in which they may be written; those of all other records
of the dataset only if they point to one person. Equal values get equal tags within an extract, but different ones in
the next: tags are keyed with a secret of the extract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ExtractRefused
from querygate.core.progress import Progress
from querygate.custody.extract.protected_records import Field
from querygate.custody.extract.residue_check import count_left, count_repeated
from querygate.custody.policy import ColumnPolicy, NotePolicy
from querygate.methods.notes import (
    Finder,
    IdentifierKind,
    PlausibleColumn,
    ScrubbedColumn,
    Scrubber,
    ScrubOptions,
    TermHierarchy,
    explain_plausible,
    explain_scrubbed,
    generalise_column,
)

TOLD_EVERY = 500
"""Progress is reported after this many notes."""

LONGEST = 1_000_000
"""The most characters of a note."""

WARNING = (
    "{column}: the content of a text (an event, a rare disease, an office held) may identify somebody even if no "
    "name, date or number is left. Treat it as unknown to others only if that is true."
)
HIDDEN = (
    "{column}: replacements look like identifiers, so a name that was missed cannot be told from one that was made up, "
    "by reviewers either. Whoever learns what replacements look like can tell more of them apart."
)
_TAGS = {
    "keyed": "tags such as [NAME:letters] replace an identifier of that kind, with the same letters for the same "
    "value in this extract",
    "numbered": "tags such as [NAME-1] replace an identifier of that kind, with the same number for the same value in "
    "one text",
    "kind": "tags such as [NAME] replace an identifier of that kind",
    "natural": "names, places and numbers are made up, the same for the same value in the texts of one person; a tag "
    "such as [NAME:letters] stands where none could be made",
}
_DATES = {
    "year": "dates are reduced to the year",
    "shift": "all dates of one person are moved back by the same number of days",
    "tag": "dates are replaced by tags too",
}


@dataclass(frozen=True)
class Identifiers:
    """The identifier columns: of the released records, in order, and of everybody in the dataset."""

    kinds: Mapping[str, IdentifierKind]
    own: Mapping[str, Sequence[str | None]]
    everybody: Mapping[str, Sequence[str | None]]
    person: str = ""  # the column that identifies persons

    def records(self, columns: Mapping[str, Sequence[str | None]]) -> Iterator[dict[str, object]]:
        names = list(self.kinds)
        return (dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True))


@dataclass(frozen=True)
class NoteReport:
    """How a column of notes was scrubbed, in figures without any text or value."""

    column: str
    notes: int
    missing: int
    touched: int
    nothing_found: int
    spans: int
    kinds: Mapping[str, int]
    rules: Mapping[str, int]
    searched: Mapping[str, str]  # identifier column -> its assumed kind
    looked_for: int  # values of identifier columns that point to one person, searched in every released note
    left: int  # notes that still contain one: 0, or nothing is released
    t: int = 0
    generalised: int = 0  # notes with terms made more general
    withheld: int = 0  # notes for which that was not enough
    words: tuple[str, ...] = field(default=())


def make_notes(
    column: ColumnPolicy,
    raw: pa.ChunkedArray,
    identifiers: Identifiers,
    secret: bytes,
    progress: Progress,
    learned: Finder | None = None,
) -> tuple[Field, pa.Array, NoteReport]:
    """The column of the extract, what it means, and what was done."""
    options = column.note or NotePolicy()
    texts = raw.to_pylist()
    long = sum(1 for text in texts if text is not None and len(text) > LONGEST)
    if long:
        raise ExtractRefused(
            "QG605",
            f"{column.name}: {counted(long, 'text has', 'texts have')} more than {LONGEST:,} characters.",
            "Leave out the column.",
        )
    scrubbed = _scrubbed(column.name, texts, identifiers, secret, options, progress, learned)
    plausible = _plausible(column.name, scrubbed.notes, options)
    leaving = scrubbed.notes if plausible is None else plausible.notes
    looked_for = _check(column.name, leaving, identifiers)
    there = sum(1 for text in texts if text is not None)
    known = replace(scrubbed, notes=tuple(text for text in scrubbed.notes if text is not None))
    words = [f"{column.name}: {explain_scrubbed(known)}"]
    words += [f"{column.name}: {explain_plausible(plausible)}"] if plausible is not None else []
    words += [HIDDEN.format(column=column.name)] if options.tags == "natural" else []
    report = NoteReport(
        column=column.name,
        notes=there,
        missing=len(texts) - there,
        touched=scrubbed.touched,
        nothing_found=there - scrubbed.touched,
        spans=sum(scrubbed.kinds.values()),
        kinds={str(kind): count for kind, count in scrubbed.kinds.items()},
        rules=dict(scrubbed.rules),
        searched={name: str(kind) for name, kind in identifiers.kinds.items()},
        looked_for=looked_for,
        left=0,
        t=options.t,
        generalised=plausible.changed if plausible is not None else 0,
        withheld=plausible.withheld if plausible is not None else 0,
        words=(*words, *_silent(column.name, identifiers), WARNING.format(column=column.name)),
    )
    return (
        Field(column.name, column.name, _meaning(options), column.title),
        pa.array(leaving, type=pa.string()),
        report,
    )


def _scrubbed(
    name: str,
    texts: Sequence[str | None],
    identifiers: Identifiers,
    secret: bytes,
    options: NotePolicy,
    progress: Progress,
    learned: Finder | None,
) -> ScrubbedColumn:
    scrubber = Scrubber(
        secret,
        identifiers.kinds,
        ScrubOptions(
            tags=options.tags,
            dates=options.dates,
            earliest_year=options.earliest_year or None,
            unknown_words=options.unknown_words,
        ),
        identifiers.records(identifiers.everybody),
        learned,
    )
    own = list(identifiers.records(identifiers.own)) or [{} for _ in texts]
    repeated = 0
    made: list[str | None] = []
    kinds: Counter[IdentifierKind] = Counter()
    rules: Counter[str] = Counter()
    for row, (text, record) in enumerate(zip(texts, own, strict=True)):
        if row % TOLD_EVERY == 0:
            progress(f"scrubbing {name}", row / len(texts))
        if text is None:
            made.append(None)
            continue
        done = scrubber.scrub(text, record, _whose(identifiers, record, row))
        kinds.update(span.kind for span in done.found)
        rules.update(span.rule for span in done.found)
        made.append(done.text)
        places = [(str(span.kind), span.start, span.end) for span in done.found]
        repeated += count_repeated(text, places, done.text, done.placed)
    if repeated:
        raise ExtractRefused(
            "QG605",
            f"{name}: {counted(repeated, 'replacement is', 'replacements are')} what was to be replaced.",
            'Nothing was written. Choose another value of `tags` in the policy, such as "keyed".',
        )
    touched = sum(old != new for old, new in zip(texts, made, strict=True))
    return ScrubbedColumn(tuple(made), dict(kinds.most_common()), dict(rules.most_common()), touched)


def _whose(identifiers: Identifiers, record: Mapping[str, object], row: int) -> str | None:
    """Whose dates are shifted together: the person's, or the record's if persons are not identified."""
    if identifiers.person and record.get(identifiers.person):
        return str(record[identifiers.person])
    return None if any(record.values()) else f"\0{row}"


def _plausible(name: str, notes: Sequence[str | None], options: NotePolicy) -> PlausibleColumn | None:
    if not options.t:
        return None
    try:
        return generalise_column(notes, TermHierarchy(options.terms), options.t)
    except ValueError as problem:
        raise ExtractRefused("QG605", f"{name}: {problem}.", "Correct `terms` in the policy.") from None


def _check(name: str, leaving: Sequence[str | None], identifiers: Identifiers) -> int:
    """Searches the released notes for identifiers; if any is found, a refusal says how many, never which."""
    kinds = {column: str(kind) for column, kind in identifiers.kinds.items()}
    found = count_left(leaving, identifiers.own, identifiers.everybody, kinds)
    if found.any:
        raise ExtractRefused(
            "QG605",
            f"{name}: scrubbed texts still contain identifiers: {found.own:,} those of their own record, "
            f"{found.anybody:,} those of anybody.",
            "Nothing was written. Say what the identifier columns contain (`kind` in the policy), or leave out the "
            "column.",
        )
    return found.searched


def _silent(name: str, identifiers: Identifiers) -> list[str]:
    if identifiers.kinds:
        return []
    return [f"{name}: the policy has no identifier column, so names were found only by rules and dictionaries."]


def _meaning(options: NotePolicy) -> str:
    terms = f"; terms are so general that at least {options.t:,} texts are plausible" if options.t else ""
    return (
        f"free text with identifiers removed: {_TAGS[options.tags]}; {_DATES[options.dates]}; 90+ stands for higher "
        f"ages, [***] for anything else that was removed{terms}"
    )
