"""Replacements that read naturally: of the same form, consistent for one person, never what they replace."""

from __future__ import annotations

import datetime as dt
import random
import re

import pytest

from querygate.custody.extract.residue_check import count_left, count_repeated
from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.lexicon import _load, is_first_name, is_last_name, sex_of
from querygate.methods.notes.natural.days import moved_day, moved_part
from tests.unit.methods.notes.brute import bare, still_there

SECRET = b"0123456789abcdef"
COLUMNS = {
    "first": IdentifierKind.NAME,
    "last": IdentifierKind.NAME,
    "mrn": IdentifierKind.RECORD,
    "phone": IdentifierKind.PHONE,
    "born": IdentifierKind.DATE,
    "address": IdentifierKind.PLACE,
}
JANE = {
    "first": "Jane",
    "last": "Doe",
    "mrn": "00112233",
    "phone": "(615) 555-1234",
    "born": "1980-05-03",
    "address": "12 Main St, Springfield, IL 62701",
}


def scrubber(dates: str = "shift", people: tuple[dict[str, str], ...] = (JANE,)) -> Scrubber:
    return Scrubber(SECRET, COLUMNS, ScrubOptions(tags="natural", dates=dates), people)  # type: ignore[arg-type]


def scrub(text: str, dates: str = "shift", person: str = "p1") -> str:
    return scrubber(dates).scrub(text, JANE, person).text


def test_all_spellings_of_a_name_are_one_other_name() -> None:
    read = re.fullmatch(
        r"(\w+) (\w+), (\w+), (\w)\. (\w+) and Mrs\. (\w+)'s son saw Dr\. (\w+) (\w+) and Mr\. (\w+)\.",
        scrub("Jane Doe, DOE, J. Doe and Mrs. Doe's son saw Dr. Mary Wells and Mr. Wells."),
    )
    assert read is not None
    first, last, shouted, initial, again, genitive, doctor, wells, same = read.groups()
    assert (shouted, initial, again, genitive) == (last.upper(), first[0], last, last)
    assert wells == same
    assert sex_of(first.lower()) == sex_of(doctor.lower()) == "women"
    assert all(is_last_name(name.lower()) for name in (last, wells))


def test_the_same_in_another_note_of_the_person_and_different_for_somebody_else() -> None:
    assert scrub("Dr. Wells called.") == scrub("Dr. Wells called.")
    assert len({scrub("Dr. Wells called.", person=who) for who in "abcdefgh"}) > 5
    assert sex_of(scrub("Her son Robert came.").split()[2].lower()) == "men"


def test_numbers_keep_their_shape_and_are_one_number_however_written() -> None:
    made = scrub(
        "MRN 0011-2233, 00112233 or 112233. Phone (615) 555-1234, 615.555.1234, 555-1234. S02-12345, SSN 123-45-6789."
    )
    read = re.fullmatch(
        r"MRN (\d{4})-(\d{4}), (\d{8}) or (\d{6})\. "
        r"Phone \((\d{3})\) (\d{3})-(\d{4}), (\d{3})\.(\d{3})\.(\d{4}), (\d{3})-(\d{4})\. "
        r"[A-Z]\d\d-\d{5}, SSN \d{3}-\d\d-\d{4}\.",
        made,
    )
    assert read is not None, made
    one, two, whole, short, *phone = read.groups()
    assert one + two == whole
    assert whole[3:] == short[1:]
    assert phone[:3] == phone[3:6]
    assert phone[6:] == phone[1:3]


def test_places_stay_what_they_are() -> None:
    made = scrub(
        "Lives at 12 Main St, Springfield, IL 62701. Seen at Wellstone General Hospital and St. Mary's Hospital."
    )
    read = re.fullmatch(
        r"Lives at (\d\d) (\w+) St, ([\w ]+), IL (\d{5})\. "
        r"Seen at ([\w ]+) General Hospital and St\. (\w+)'s Hospital\.",
        made,
    )
    assert read is not None, made
    assert not {"12", "Main", "Springfield", "62701", "Wellstone", "Mary"} & set(read.groups())
    assert is_first_name(read[6].lower())


def test_addresses_of_mail_and_web_are_nobodys() -> None:
    made = scrub("Write to jane.doe77@hospital.org or see https://www.doefamily.com/us?x=1 from 192.168.7.12.")
    name, last = scrub("Jane Doe came.").lower().split()[:2]
    assert re.fullmatch(
        rf"Write to {name}\.{last}\d\d@example\.(org|com|net) or see https://www\.\w+\.example\.(org|com|net) "
        r"from 10(\.\d+){3}\.",
        made,
    )


@pytest.mark.parametrize(
    ("found", "value", "moved"),
    [
        ("2098-03-12", "2098-03-12", "2098-02-20"),
        ("2098-03-12 10:30", "2098-03-12", "2098-02-20 10:30"),
        ("3/12/98", "2098-03-12", "2/20/98"),
        ("12.3.2098", "2098-03-12", "20.2.2098"),
        ("13/3/2098", "2098-03-13", "21/2/2098"),
        ("March 12th, 2098", "2098-03-12", "February 20th, 2098"),
        ("12-MAR-98", "2098-03-12", "20-FEB-98"),
        ("3rd of May 2098", "2098-05-03", "13th of April 2098"),
        ("20980312", "2098-03-12", "20980220"),
        ("03/03/2003", "2003-03-03", "02/11/2003"),
        ("0001-01-02", "0001-01-02", None),  # no day before the first year
        ("Ⅻ", "2098-03-12", None),
    ],
)
def test_days_move_in_the_form_they_are_written(found: str, value: str, moved: str | None) -> None:
    assert moved_day(found, value, 20) == moved


@pytest.mark.parametrize(
    ("found", "value", "rule", "moved"),
    [
        ("Monday", "", "weekday", "Tuesday"),
        ("FRIDAYS", "", "weekday", "SATURDAYS"),
        ("3/12", "", "day and month", "2/20"),
        ("31/12", "", "day and month", "11/12"),
        ("March 12", "", "date in words", "February 20"),
        ("March 2098", "2098-03", "month and year", "February 2098"),
        ("03/2098", "2098-03", "month and year", "02/2098"),
        ("January", "", "month", "December"),
        ("2/30", "", "day and month", None),
    ],
)
def test_parts_of_dates_move_too(found: str, value: str, rule: str, moved: str | None) -> None:
    assert moved_part(found, value, rule, 20) == moved


def test_every_way_to_write_a_day_is_moved_right() -> None:
    """What is written for the moved day is what would have been written for it."""
    draw = random.Random(1)
    ways = ("%Y-%m-%d", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%Y%m%d", "%b %d %y", "%d.%m.%Y")
    for _ in range(300):
        day = dt.date(1950, 1, 1) + dt.timedelta(days=draw.randrange(40_000))
        days, way = draw.randrange(1, 366), draw.choice(ways)
        written = day.strftime(way)
        short = "%b" in way and day.strftime("%b") == day.strftime("%B") and "-" not in way  # May is both
        moved = moved_day(written, day.isoformat(), days)
        expected = (day - dt.timedelta(days=days)).strftime(way.replace("%b", "%B") if short else way)
        assert moved is not None
        bare_day, bare_expected = (re.sub(r"\b0(?=\d)", "", text) for text in (moved, expected))
        assert bare_day == bare_expected, (written, days)


def test_dates_as_years_and_what_says_no_year() -> None:
    made = scrub("Seen 03/12/2098, on Monday, in May, at Christmas; aged 94.", dates="year")
    assert made == "Seen 2098, on that day, in that month, at the holiday; aged 90+."
    options = ScrubOptions(tags="natural", dates="year", earliest_year=1935)
    assert Scrubber(SECRET, options=options).scrub("Born 1901, seen 1998.").text == "Born long ago, seen 1998."
    assert re.fullmatch(r"Seen \[DATE:\w{8}\]\.", scrub("Seen 03/12/2098.", dates="tag"))


def test_other_scripts_keep_tags() -> None:
    made = Scrubber(SECRET, {"name": IdentifierKind.NAME}, ScrubOptions(tags="natural")).scrub(
        "患者 山田太郎 様", {"name": "山田太郎"}
    )
    assert re.search(r"\[NAME:\w{8}\]", made.text)
    assert "山田" not in made.text


def test_no_replacement_is_a_name_of_the_file() -> None:
    """Everybody with common names is in the file: no whole name that is made up may be one of them."""
    firsts, lasts = sorted(_load("first_names"))[::200], sorted(_load("last_names"))[::350]
    people = tuple(dict.fromkeys(COLUMNS, "") | {"first": a, "last": b} for a in firsts for b in lasts)
    made = scrubber(people=(*people, JANE))
    notes = [
        made.scrub(f"Jane Doe saw {one['first'].title()} {one['last'].title()}.", JANE, "p").text for one in people
    ]
    everybody = {name: [one[name] for one in people] for name in COLUMNS}
    own = {name: [JANE[name]] * len(notes) for name in COLUMNS}
    assert not count_left(notes, own, everybody, {name: str(kind) for name, kind in COLUMNS.items()}).any


def random_note(draw: random.Random, pool: list[str]) -> str:
    """Names, places and numbers of few values, close together, so that replacements run into each other."""
    forms = (
        lambda: f"Dr. {draw.choice(pool).title()}",
        lambda: f"{draw.choice(pool).title()} {draw.choice(pool).title()}",
        lambda: f"{draw.choice(pool).upper()}, {draw.choice(pool)[0].upper()}.",
        lambda: f"MRN {draw.randrange(10, 100)}",
        lambda: f"room {draw.randrange(100)}",
        lambda: f"at {draw.choice(pool).title()} Hospital",
        lambda: f"of {draw.randrange(1, 30)} {draw.choice(pool).title()} St, {draw.choice(pool).title()}, OH",
        lambda: f"{draw.choice(pool)}@{draw.choice(pool)}.org",
        lambda: f"on {draw.randrange(1, 13)}/{draw.randrange(1, 29)}/199{draw.randrange(10)}",
        lambda: draw.choice(
            ("Doe", "Ünal", "O'Hara", "jane", "77", "Ohio", "General Hospital", "", "\n", "_", "[NAME]")
        ),
    )
    return draw.choice((" ", ", ", ". ", "\n")).join(draw.choice(forms)() for _ in range(draw.randrange(1, 12)))


def test_nothing_of_the_original_remains_in_random_notes() -> None:
    draw = random.Random(7)
    pool = ["jane", "doe", "wells", "chen", "garcia", "springfield", "mary", "will", "ohara", "lee", "de", "may"]
    tags = 0
    for _ in range(120):
        record = JANE | {
            "last": draw.choice(("Doe", "O'Hara", "Lee", "de la Cruz", "Ünal", "May")),
            "mrn": str(draw.randrange(10, 200)),
        }
        text = random_note(draw, pool)
        made = scrubber(people=(record,)).scrub(text, record)
        for value in (*record.values(), f"{record['first']} {record['last']}"):
            assert not still_there(value, made.text), text
        found = [(str(span.kind), span.start, span.end) for span in made.found]
        assert not count_repeated(text, found, made.text, made.placed), (text, made.text)
        kept = bare(text).split()
        assert len(made.found) <= len(kept) * 3
        tags += made.text.count("[***]")
    assert tags < 20
