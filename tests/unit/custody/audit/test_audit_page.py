"""The page of an audit: whatever a log holds, it is escaped, bounded and complete."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.audit.audit_body import InferredValue
from querygate.custody.audit.audit import AuditOptions, LogStatement
from querygate.custody.audit.audit_page import (
    MOST_CASES,
    MOST_USERS,
    RangeBar,
    make_audit_page,
    make_bar,
    make_timeline,
)
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.custody.use_cases.audits.log_audit import audit_source
from tests.engine import SharedParquet

PEOPLE = {"age": list(range(100)), "sbp": [100 + age for age in range(100)]}


@pytest.fixture
def audited(tmp_path: Path) -> Any:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pa.table(PEOPLE), path)

    def made(entries: list[LogStatement], *, reveal: bool = True, **options: Any) -> AuditOutcome:
        return audit_source(entries, SharedParquet(path), AuditOptions(k=3, **options), reveal=reveal)

    return made


class Marks(HTMLParser):
    """Marks that are opened and closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "line", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "line", "circle", "polyline"):
            assert self.open.pop() == tag


def page_of(*audited: AuditOutcome) -> str:
    page = make_audit_page(make_body(audited, "t"), audited)
    marks = Marks()
    marks.feed(page)
    assert marks.open == []
    assert not marks.seen & {"script", "link", "img", "iframe", "object"}
    return page


def sums(user: str, *below: int, time: str = "", **more: Any) -> list[LogStatement]:
    return [
        LogStatement(f"{user}-{n}", user, f"SELECT SUM(sbp) FROM t WHERE age < {n}", time and f"{time}:{i:02}Z", **more)
        for i, n in enumerate(below)
    ]


def test_whatever_stands_in_a_log_is_escaped(audited: Any) -> None:
    evil = "<script>alert('x')</script>"
    entries = [
        *sums(evil, 50, 51),
        LogStatement(f'"><b>{evil}', evil, f"SELECT {evil}", evil),
        LogStatement("q", "r", "SELECT SUM(sbp) FROM t WHERE age < 90 AND '</pre><svg onload=alert(1)>' <> ''"),
        LogStatement("p", "r", "SELECT SUM(sbp) FROM t WHERE age < 91"),
    ]
    page = page_of(audited(entries))
    assert "<script" not in page
    assert "<svg onload" not in page
    assert "&lt;svg onload=alert(1)&gt;" in page
    assert page.count("&lt;script&gt;") > 3


def test_a_long_log_makes_a_page_that_can_be_read(audited: Any) -> None:
    entries = [
        e for u in range(60) for e in sums(f"user {u}", 2 + u % 90, 3 + u % 90, 95, time=f"2026-03-02T09:{u:02}")
    ]
    one = audited(entries)
    page = page_of(one)
    assert page.count('<section class="case') == MOST_CASES
    cases = make_body([one], "t").cases
    assert len(cases) > 60
    assert f"{len(cases) - MOST_CASES} less serious cases" in page
    assert f"{60 - MOST_USERS} more</text>" in page
    assert len(page) < 1_000_000


def test_an_empty_log_and_one_without_findings(audited: Any) -> None:
    assert "nothing about any group of fewer than" in page_of(
        audited([LogStatement("q", "r", "SELECT SUM(sbp) FROM t")])
    )
    assert "Timeline" not in page_of()


def test_what_is_not_covered_is_on_the_page(audited: Any) -> None:
    page = page_of(audited([LogStatement("odd one", "r", "SELECT nonsense FROM"), *sums("r", 50, 51)]))
    assert "1 query could not be audited" in page
    assert "odd one" in page


def test_colluders_are_joined_across_their_rows(audited: Any) -> None:
    one = audited([*sums("ann", 50, time="2026-03-02T09:10"), *sums("bob", 51, time="2026-03-02T09:20")])
    timeline = make_timeline(make_body([one], "t"), one.entries)
    assert timeline is not None
    (case,) = timeline.cases
    assert timeline.timed
    assert {y for _, y in case.points} == {row.y for row in timeline.rows}
    assert case.points[0][0] < case.points[1][0]


def test_a_log_without_times_is_drawn_in_its_order(audited: Any) -> None:
    one = audited(sums("r", 50, 60, 51))
    timeline = make_timeline(make_body([one], "t"), one.entries)
    assert timeline is not None
    assert not timeline.timed
    assert [x for x, _ in timeline.dots] == [130, 533, 936]


def test_the_true_total_is_that_of_the_records(audited: Any) -> None:
    one = audited(sums("r", 50, 52))
    ((_, where),) = one.found.findings
    assert where == "age IN (50, 51)"
    assert one.exact == {0: {"sbp": Fraction(150 + 151)}}
    masked = audited(sums("r", 50, 52), reveal=False)
    assert make_body([masked], "t").findings[0].inferred[0].low is None
    assert not re.findall(r"\b301\b", page_of(masked))


def test_bars_show_the_room_there_is() -> None:
    bar = make_bar(InferredValue("x", None, 110, 220, 165), (40, 300), 1)
    assert bar == RangeBar(low=26.92, high=69.23, exact=48.08, first=40, last=300)
    assert make_bar(InferredValue("x"), None, 1) is None
    alone = make_bar(InferredValue("x", None, 165, 165), None, 1)
    assert alone is not None
    assert (alone.low, alone.high) == (50, 50)


def test_a_range_that_more_than_the_arithmetic_narrows_does_not_equal_it(audited: Any) -> None:
    """The two ranges differ by -7200 to 8500; that one record has at least 0 and at most 300 is known otherwise."""
    entries = [
        LogStatement(f"q{i}", "r", f"SELECT SUM(sbp) FROM t WHERE age <= {age}", answer={"low": low, "high": 9800})
        for i, (age, low) in enumerate(((50, 1300), (51, 2600)))
    ]
    [told] = make_body([audited(entries, domains={"sbp": (0, 300)})], "t").findings
    assert "within what is known otherwise, leaves 0 .. 300: sbp." in told.explanation
    assert told.inferred[0].limited


def test_cases_are_counted_by_severity_not_findings(audited: Any) -> None:
    one = audited(sums("r", 50, 51, 52, 53), reveal=False)
    report = make_body([one], "t")
    assert len(report.findings) > len(report.cases) == 1
    assert re.search(r"fewer than k records</dt><dd>1</dd>", page_of(one))
