"""Replacements: the same for the same, nothing without the secret, intervals kept, text around untouched."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from querygate.methods.notes import IdentifierKind, ScrubbedColumn, Scrubber, ScrubOptions, explain_scrubbed
from querygate.methods.notes.spans import SAFE_HARBOR, TextSpan, resolve
from querygate.methods.notes.surrogates import Surrogates

SECRET = b"0123456789abcdef"


def scrub(text: str, **options: object) -> str:
    return Scrubber(SECRET, options=ScrubOptions(**options)).scrub(text).text  # type: ignore[arg-type]


def test_equal_values_have_equal_tags_in_the_whole_extract() -> None:
    scrubber = Scrubber(SECRET)
    first, second = scrubber.scrub("Dr. Wells called.").text, scrubber.scrub("Mr. WELLS and Dr. Chen came.").text
    tags = re.findall(r"\[NAME:\w+\]", first + second)
    assert tags[0] == tags[1] != tags[2]


def test_another_secret_gives_other_tags() -> None:
    assert Scrubber(b"another secret !").scrub("Dr. Wells").text != Scrubber(SECRET).scrub("Dr. Wells").text
    with pytest.raises(ValueError, match="16 bytes"):
        Scrubber(b"short")


def test_numbered_tags_count_within_a_note() -> None:
    assert scrub("Dr. Wells, Dr. Chen, Dr. Wells", tags="numbered") == "Dr. [NAME-1], Dr. [NAME-2], Dr. [NAME-1]"


def test_years_stay_and_old_ages_become_one_group() -> None:
    assert (
        scrub("Seen 03/12/2098, aged 94, since 3/12 and 1998.", tags="kind")
        == "Seen 2098, aged 90+, since [DATE] and 1998."
    )
    assert scrub("Born 1901, seen 1998.", tags="kind", earliest_year=1935) == "Born [DATE], seen 1998."


def test_shifted_dates_keep_their_intervals_and_differ_between_people() -> None:
    scrubber = Scrubber(SECRET, options=ScrubOptions(dates="shift", most_days=100))
    text = "In on 2098-03-12, out on March 20, 2098, back on 4/2/2098."
    shifts = set()
    for person in ("a", "b", "c", "d"):
        found = [
            dt.date.fromisoformat(d) for d in re.findall(r"\d{4}-\d\d-\d\d", scrubber.scrub(text, person=person).text)
        ]
        assert [(d - found[0]).days for d in found] == [0, 8, 21]
        shifts.add((dt.date(2098, 3, 12) - found[0]).days)
        assert 1 <= (dt.date(2098, 3, 12) - found[0]).days <= 100
    assert len(shifts) > 1


def test_a_tag_never_spells_a_value() -> None:
    """Somebody may be called Name, and somebody's number may be 90."""
    scrubber = Scrubber(
        SECRET, {"name": IdentifierKind.NAME, "id": IdentifierKind.RECORD}, ScrubOptions(tags="numbered")
    )
    done = scrubber.scrub("Name, Record 90, aged 94", {"name": "Name Record", "id": "90"})
    assert not re.search(r"name|record|90", done.text, re.IGNORECASE)


def test_what_is_brought_together_by_a_removal_goes_too() -> None:
    scrubber = Scrubber(SECRET, {"a": IdentifierKind.RECORD, "b": IdentifierKind.RECORD}, ScrubOptions())
    done = scrubber.scrub("12 77 34", {"a": "77", "b": "1234"})
    assert not {"77", "12", "34"} & set(re.findall(r"\d+", done.text)) or "1234" not in re.sub(r"\W", "", done.text)


def test_places_in_the_result() -> None:
    done = Scrubber(SECRET, options=ScrubOptions(tags="kind")).scrub("By Dr. Wells on 03/12/2098.")
    assert [done.text[start:end] for start, end in done.placed] == ["[NAME]", "2098"]


def test_overlaps_leave_nothing_uncovered() -> None:
    text = "abcdefghij"
    spans = [
        TextSpan(0, 5, IdentifierKind.NAME, "weak"),
        TextSpan(3, 8, IdentifierKind.DATE, "strong"),
        TextSpan(4, 6, IdentifierKind.SSN, "weak"),
        TextSpan(7, 9, IdentifierKind.URL, "weak"),
    ]
    settled = resolve(text, spans, {"strong": 2})
    assert [(s.start, s.end, s.kind) for s in settled] == [
        (0, 3, IdentifierKind.NAME),
        (3, 8, IdentifierKind.DATE),
        (8, 9, IdentifierKind.URL),
    ]


def test_spans_and_errors_show_no_value() -> None:
    scrubber = Scrubber(SECRET, {"name": IdentifierKind.NAME})
    assert "doe" not in repr(scrubber.find("Jane Doe", {"name": "Jane Doe"})).lower()
    with pytest.raises(ValueError, match="most") as caught:
        scrubber.scrub("Jane Doe " * 200_000, {"name": "Jane Doe"})
    assert "Doe" not in str(caught.value)


def test_every_kind_has_its_letter() -> None:
    assert set(SAFE_HARBOR) == set(IdentifierKind)
    assert {text[0] for text in SAFE_HARBOR.values()} == set("ABCDEFGHIJKLMNOPQR")


@pytest.mark.parametrize("wrong", [{"tags": "x"}, {"dates": "x"}, {"most_days": 0}])
def test_wrong_options_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"tags|dates"):
        ScrubOptions(**wrong)  # type: ignore[arg-type]


def test_explained() -> None:
    made = ScrubbedColumn(("Dr. [NAME]", "fine", None), {IdentifierKind.NAME: 1}, {"title": 1}, 1)
    assert explain_scrubbed(made) == "1 identifier was replaced in 1 of 3 notes: 1 names."
    assert explain_scrubbed(ScrubbedColumn(("fine",), {}, {}, 0)) == "No identifier was found in 1 note."
    assert Surrogates(SECRET, ScrubOptions()).days("a") == Surrogates(SECRET, ScrubOptions()).days("a")
