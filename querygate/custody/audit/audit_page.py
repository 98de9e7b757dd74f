"""The report of an audit as one HTML file: no script, nothing from elsewhere, every text escaped.

Positions are computed here; the template draws them as SVG, in the style of the publish report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

from querygate.core.audit.audit_body import AuditCase, AuditFinding, AuditReport, InferredValue
from querygate.core.types import Ints
from querygate.custody.audit.audit import LogStatement
from querygate.custody.audit.audit_report import AuditOutcome
from querygate.custody.audit.finding_text import LARGEST_FLOAT, what_of
from querygate.custody.pages.fill import fill
from querygate.methods.audit import Finding
from querygate.methods.audit.cases import finding_id

TEMPLATE = "audit_report.html"

MOST_CASES, MOST_FINDINGS, MOST_USERS, MOST_LISTED = 40, 8, 16, 40
"""How much a page shows in full. The rest is only counted there, and is in the JSON."""

MOST_SIZES = 6

WIDTH, LEFT, RIGHT, TOP, ROW = 960, 130, 24, 16, 30
TICKS = 5


@dataclass(frozen=True, slots=True)
class AskedQuery:
    entry: LogStatement
    sizes: str


@dataclass(frozen=True, slots=True)
class RangeBar:
    """Positions in percent of the width, and the ends of the scale."""

    low: float | None
    high: float | None
    exact: float | None
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    sign: str
    query: str
    answer: str | None
    records: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """The lines to be added up for a measure, their sum, and the range that is left."""

    inferred: InferredValue
    what: str
    lines: tuple[SignedAnswer, ...]
    bar: RangeBar | None


@dataclass(frozen=True, slots=True)
class ShownFinding:
    finding: AuditFinding
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class ShownCase:
    case: AuditCase
    number: int
    asked: tuple[AskedQuery, ...]
    shown: tuple[ShownFinding, ...]


def make_audit_page(report: AuditReport, audited: Sequence[AuditOutcome]) -> str:
    """The page of an audit: the report that `make_body` gives, and the logs it was made from."""
    asked = {entry.id: entry for one in audited for entry in one.entries}
    findings = {finding.id: finding for finding in report.findings}
    proved = {finding_id(one): _sizes(one, log.found.weights) for log in audited for one, _ in log.found.findings}
    domains = {name: ends for one in audited for name, ends in one.domains.items()}
    cases = []
    for number, case in enumerate(report.cases[:MOST_CASES], 1):
        shown = [findings[name] for name in case.findings[:MOST_FINDINGS]]
        queries = list(dict.fromkeys(query for one in shown for query in one.queries))
        queries.sort(key=case.queries.index)
        sizes = _joined([proved[one.id] for one in shown])
        listed = tuple(AskedQuery(asked[q], sizes.get(q, "–")) for q in queries[:MOST_LISTED] if q in asked)
        proofs = tuple(ShownFinding(one, tuple(_proofs(one, domains))) for one in shown)
        cases.append(ShownCase(case, number, listed, proofs))
    return fill(
        TEMPLATE,
        report=report,
        cases=cases,
        timeline=make_timeline(report, [entry for one in audited for entry in one.entries]),
        listed=MOST_LISTED,
    )


def _sizes(finding: Finding, weights: Mapping[str, Ints]) -> list[tuple[str, int]]:
    """The number of records in the set of each query of the finding."""
    known = [total for total in finding.totals if total.measure in weights]
    return [(total.query, int(weights[total.measure][total.members].sum())) for total in known]


def _joined(sizes: Sequence[Sequence[tuple[str, int]]]) -> dict[str, str]:
    """Sizes by query; a statement with groups has several sets."""
    held: dict[str, set[int]] = {}
    for query, records in chain.from_iterable(sizes):
        held.setdefault(query, set()).add(records)
    return {query: ", ".join(f"{n:,}" for n in sorted(found)[:MOST_SIZES]) for query, found in held.items()}


# -- the arithmetic ----------------------------------------------------------------------------------------------------


def _proofs(finding: AuditFinding, domains: Mapping[str, tuple[float, float]]) -> Iterator[Proof]:
    """Proofs for the measures; conclusions from minima, maxima and medians have nothing to add up."""
    records, is_extreme = finding.isolates.records, not finding.combination and finding.kind != "bounds"
    for one in finding.inferred:
        lines = [line for line in finding.combination if line.measure == one.column]
        lines.sort(key=lambda line: line.times.startswith("-"))  # additions before subtractions
        domain = domains.get(one.column)
        cut = ", within its public domain" if domain and one.low != one.high else ""
        yield Proof(
            inferred=one,
            what=what_of(one.column, records, (one.from_ or "").partition("(")[0] if is_extreme else "") + cut,
            lines=tuple(SignedAnswer(_signed(line.times), line.query, line.answer, line.records) for line in lines),
            bar=make_bar(one, domain, records),
        )


def _signed(times: str) -> str:
    """
    >>> _signed("1"), _signed("-1"), _signed("-1/2")
    ('+1', '−1', '−1/2')
    """
    return f"\N{MINUS SIGN}{times[1:]}" if times.startswith("-") else f"+{times}"


def make_bar(inferred: InferredValue, domain: tuple[float, float] | None, records: int) -> RangeBar | None:
    """Where the remaining range and the true total lie; None if nothing is revealed."""
    low, high, exact = inferred.low, inferred.high, inferred.exact
    ends = [end for end in (low, high, exact) if end is not None]
    if not ends or max(map(abs, ends)) > LARGEST_FLOAT:
        return None
    if domain is not None:
        ends += [records * end for end in domain]
    first, last = min(ends), max(ends)
    if domain is None:
        margin = (last - first) / 10 or max(abs(last) / 10, 1.0)
        first, last = first - margin, last + margin
    room = (last - first) or 1.0

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (float(value) - first) / room, 2)

    return RangeBar(place(low), place(high), place(exact), first, last)


# -- the timeline ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimelineRow:
    name: str
    y: float


@dataclass(frozen=True, slots=True)
class TimelineCase:
    number: int
    severity: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Tag:
    x: float
    y: float
    severity: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    width: int
    height: int
    left: int
    right: int
    rows: tuple[TimelineRow, ...]
    dots: tuple[tuple[int, float], ...]
    ticks: tuple[Tick, ...]
    timed: bool
    cases: tuple[TimelineCase, ...]
    tags: tuple[Tag, ...]


def make_timeline(report: AuditReport, entries: Sequence[LogStatement]) -> Timeline | None:
    """Users as rows, queries as dots over time, and the queries of each case connected; None for an empty log.

    If times are missing or cannot be read, queries are in the order of the log.
    """
    if not entries:
        return None
    moments = [_moment(entry.time) for entry in entries]
    timed = all(moment is not None for moment in moments) and len(set(moments)) > 1
    at = [float(moment or 0) for moment in moments] if timed else [float(i) for i in range(len(entries))]
    first, room = min(at), (max(at) - min(at)) or 1.0
    users = _rows(report, entries)
    rows = {name: TOP + ROW * (i + 0.5) for i, name in enumerate(users)}
    others = TOP + ROW * (len(users) + 0.5)
    places = {
        entry.id: (round(LEFT + (x - first) / room * (WIDTH - LEFT - RIGHT), 1), rows.get(entry.user, others))
        for entry, x in zip(entries, at, strict=True)
    }
    cases = tuple(
        TimelineCase(number, case.severity, tuple(sorted({places[query] for query in case.queries if query in places})))
        for number, case in enumerate(report.cases[:MOST_CASES], 1)
    )
    hidden = len({entry.user for entry in entries}) - len(users)
    height = TOP + ROW * (len(users) + bool(hidden))
    shown = [TimelineRow(name if len(name) <= 16 else f"{name[:15]}…", y) for name, y in rows.items()]
    return Timeline(
        width=WIDTH,
        height=height,
        left=LEFT,
        right=WIDTH - RIGHT,
        rows=(*shown, *([TimelineRow(f"{hidden:,} more", others)] if hidden else [])),
        dots=tuple(sorted({(round(x), y) for x, y in places.values()})),  # dots in the same pixel are merged
        ticks=tuple(_ticks(first, room, timed=timed)),
        timed=timed,
        cases=cases,
        tags=_tags(cases),
    )


def _tags(cases: Sequence[TimelineCase]) -> tuple[Tag, ...]:
    """Numbers at the last query of each case; cases that end at the same point share a tag."""
    tags: dict[tuple[int, float], Tag] = {}
    for case in cases:
        if case.points:
            x, y = case.points[-1]
            place = round(x / 12), y
            tag = tags.get(place, Tag(x, y, case.severity, ()))
            tags[place] = replace(tag, numbers=(*tag.numbers, case.number))
    return tuple(tags.values())


def _rows(report: AuditReport, entries: Sequence[LogStatement]) -> list[str]:
    """Users with cases before others; users without a row of their own share the last one."""
    involved = [user for case in report.cases for user in case.users]
    return list(dict.fromkeys([*involved, *(entry.user for entry in entries)]))[:MOST_USERS]


def _moment(time: str) -> float | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _ticks(first: float, room: float, *, timed: bool) -> Iterator[Tick]:
    """Labels under the rows: dates, or clock times within one day."""
    for i in range(TICKS):
        value, x = first + room * i / (TICKS - 1), LEFT + (WIDTH - LEFT - RIGHT) * i / (TICKS - 1)
        moment = datetime.fromtimestamp(value, UTC) if timed else None
        text = f"{int(value) + 1:,}" if moment is None else _clock(moment, room)
        yield Tick(round(x, 1), text, ("start", "middle", "end")[(i > 0) + (i == TICKS - 1)])


def _clock(moment: datetime, room_s: float) -> str:
    if room_s < 3600:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%d %b %H:%M}" if room_s < 4 * 86_400 else f"{moment:%Y-%m-%d}"
