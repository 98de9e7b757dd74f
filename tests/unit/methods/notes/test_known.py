"""What stands in an identifier column stands in no scrubbed note: checked by brute force."""

from __future__ import annotations

import datetime as dt
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.identifier_values import Own, People, one_slip
from querygate.methods.notes.note_text import TextAtoms, letters_and_digits
from querygate.methods.notes.written_forms import distinctive, forms, read_date
from tests.seeds import cases
from tests.unit.methods.notes.brute import inside, still_there

SECRET = b"0123456789abcdef"
COLUMNS = {
    "first": IdentifierKind.NAME,
    "last": IdentifierKind.NAME,
    "address": IdentifierKind.PLACE,
    "phone": IdentifierKind.PHONE,
    "mrn": IdentifierKind.RECORD,
    "born": IdentifierKind.DATE,
    "mail": IdentifierKind.EMAIL,
}
FIRST = ("Will", "May", "Grace", "José", "Anna-Lena", "Xu", "Bo", "Zbigniew", "O'Shea", "Siobhán", "太郎", "Mark")
LAST = [
    "Young",
    "Grant",
    "Nuñez",
    "MacDonald",
    "van der Berg",
    "Li",
    "O'Brien",
    "Smith-Jones",
    "Ødegård",
    "山田",
    "Date",
    "Name",
]
STREETS = ["Main St", "Elm Grove", "Þórunnarstræti", "Rue de l'Église", "North 4th Avenue"]
WORDS = (
    *(
        "the",
        "patient",
        "was",
        "seen",
        "today",
        "for",
        "pain",
        "in",
        "his",
        "left",
        "knee",
        "and",
        "will",
        "may",
        "come",
    ),
    *(
        "back",
        "if",
        "grace",
        "period",
        "ends",
        "no",
        "fever",
        "name",
        "date",
        "young",
        "old",
        "mark",
        "grant",
        "120/80",
    ),
    *(
        "98.6",
        "5",
        "mg",
        "twice",
        "daily",
        "x3",
        "days",
        "Hgb",
        "13.2",
        "denies",
        "smoking",
        ".",
        ",",
        ";",
        "-",
        "(",
        "\n",
    ),
)


def people(seed: int, many: int) -> list[dict[str, str]]:
    draw = random.Random(seed)
    return [
        {
            "first": draw.choice(FIRST),
            "last": draw.choice(LAST),
            "address": f"{draw.randrange(1, 9999)} {draw.choice(STREETS)}, Springfield",
            "phone": f"({draw.randrange(200, 999)}) {draw.randrange(200, 999)}-{draw.randrange(10000):04}",
            "mrn": draw.choice(
                [f"{draw.randrange(10**8):08}", f"AB-{draw.randrange(10**6):06}", f"{draw.randrange(10, 9999)}"]
            ),
            "born": (dt.date(1920, 1, 1) + dt.timedelta(days=draw.randrange(36000))).isoformat(),
            "mail": f"{draw.choice('abcxyz')}{draw.randrange(10**4)}@example.org",
        }
        for _ in range(many)
    ]


def disguised(value: str, draw: random.Random) -> str:
    """The value with other case, other separators, other spaces."""
    styled = draw.choice([str, str.lower, str.upper, str.title])(value)
    characters = []
    for c in styled:
        characters.append(c if c.isalnum() else draw.choice([c, " ", "-", ".", "  ", ", ", "\n", "_"]))
        if draw.random() < 0.03:
            characters.append(draw.choice(["-", ".", " "]))
    return "".join(characters)


def planted(record: dict[str, str], others: list[dict[str, str]], draw: random.Random) -> str:
    words = [draw.choice(WORDS) for _ in range(draw.randrange(5, 60))]
    full = [f"{record['first']} {record['last']}", f"{record['last']}, {record['first']}"]
    for value in [*record.values(), *full, *(f"{o['first']} {o['last']}" for o in others), *(o["mrn"] for o in others)]:
        if draw.random() < 0.7:
            words.insert(draw.randrange(len(words) + 1), disguised(value, draw))
    return draw.choice([" ", " ", "  ", " . "]).join(words)


@pytest.mark.parametrize(
    "options", [ScrubOptions(), ScrubOptions(tags="numbered", dates="shift"), ScrubOptions(tags="kind", dates="tag")]
)
def test_no_value_of_the_own_record_is_left(options: ScrubOptions) -> None:
    everyone = people(1, 40)
    scrubber = Scrubber(SECRET, COLUMNS, options, everyone)
    draw = random.Random(2)
    for round_ in range(2):
        for record in everyone:
            others = draw.sample(everyone, 2)
            note = planted(record, others, draw)
            result = scrubber.scrub(note, record).text
            for column, value in record.items():
                assert not still_there(value, result), (round_, column)
                assert not inside(value, result), (round_, column)


def test_no_distinctive_value_of_another_record_is_left() -> None:
    everyone = people(3, 40)
    scrubber = Scrubber(SECRET, COLUMNS, people=everyone)
    draw = random.Random(4)
    for record in everyone:
        others = draw.sample(everyone, 3)
        result = scrubber.scrub(planted(record, others, draw), record).text
        for other in everyone:
            for order in ((other["first"], other["last"]), (other["last"], other["first"])):
                if sum(map(str.isalnum, "".join(order))) >= 6:
                    assert not still_there(" ".join(order), result)
            for column in ("phone", "mrn", "mail"):
                if sum(map(str.isalnum, other[column])) >= 6:
                    assert not still_there(other[column], result), column


@settings(max_examples=cases(150))
@given(
    st.text(min_size=2, max_size=20),
    st.text(max_size=200),
    st.text(max_size=200),
    st.sampled_from(list(IdentifierKind)),
)
def test_any_value_goes_from_any_text(value: str, before: str, after: str, kind: IdentifierKind) -> None:
    scrubber = Scrubber(SECRET, {"v": kind})
    text = f"{before} {value} {after}"
    done = scrubber.scrub(text, {"v": value})
    folded = letters_and_digits(value)
    if len(folded) >= 2:
        assert People({}).find(TextAtoms(done.text), Own.of([(kind, value)])) == []
    kept, at, placed_at = [], 0, 0
    for span, (start, end) in zip(done.found, done.placed, strict=True):
        assert text[at : span.start] == done.text[placed_at:start]
        kept.append(span)
        at, placed_at = span.end, end
    assert text[at:] == done.text[placed_at:]


def test_scrubbing_again_finds_no_known_value() -> None:
    everyone = people(5, 30)
    scrubber = Scrubber(SECRET, COLUMNS, people=everyone)
    draw = random.Random(6)
    for record in everyone:
        once = scrubber.scrub(planted(record, everyone[:1], draw), record)
        again = scrubber.find(once.text, record)
        assert not [span for span in again if span.rule in ("own column", "other record")]


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("last", "MACDONALD"),
        ("last", "Mac Donald"),
        ("last", "Macdonld"),
        ("last", "Mcadonald"),
        ("last", "F. MacDonald"),
        ("last", "fmacdonald"),
        ("born", "May 3rd, 1980"),
        ("born", "3 may 80"),
        ("born", "03.05.1980"),
        ("born", "05031980"),
        ("born", "昭和55年5月3日"),
        ("phone", "555.867.5309"),
        ("phone", "+1 5558675309"),
        ("phone", "867-5309"),
        ("mrn", "ab 123 456"),
        ("mrn", "xAB123456y"),
        ("address", "12 Oak Ridge"),
        ("address", "oak ridge"),
    ],
)
def test_forms_of_a_value(column: str, written: str) -> None:
    record = {
        "first": "Flora",
        "last": "MacDonald",
        "born": "1980-05-03",
        "phone": "(555) 867-5309",
        "mrn": "AB-123456",
        "address": "12 Oak Ridge Rd, Springfield",
    }
    scrubber = Scrubber(SECRET, COLUMNS, ScrubOptions(tags="kind"))
    done = scrubber.scrub(f"xx yy {written} zz", record)
    assert any(span.rule.startswith("own column") for span in done.found)
    assert not still_there(written, done.text)


def test_all_forms_of_a_name_have_one_tag() -> None:
    scrubber = Scrubber(SECRET, COLUMNS)
    record = {"first": "Flora", "last": "MacDonald"}
    made = {
        scrubber.scrub(form, record).text
        for form in ("Flora MacDonald", "F. MacDonald", "FLORA", "Macdonald", "macdonad")
    }
    assert len(made) == 1


def test_distinctive_values_are_long_or_full() -> None:
    assert not list(distinctive(IdentifierKind.NAME, "Smith"))
    assert not list(distinctive(IdentifierKind.RECORD, "1234"))
    assert not list(distinctive(IdentifierKind.DATE, "1980-05-03"))
    assert "janedoe" in set(distinctive(IdentifierKind.NAME, "Jane Doe"))
    assert set(distinctive(IdentifierKind.RECORD, "12-3456")) == {"123456"}


def test_forms_are_at_least_two_characters() -> None:
    assert list(forms(IdentifierKind.NAME, "J")) == []
    assert min(map(len, forms(IdentifierKind.NAME, "Xu Li"))) == 2


def test_one_slip_is_an_edit_distance_of_one_with_exchanges() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        a = "".join(draw.choice("ab") for _ in range(draw.randrange(2)))
        b = "".join(draw.choice("ab") for _ in range(draw.randrange(2)))
        assert one_slip(a, b) == (b in _slips(a) and a != b)


def _slips(word: str) -> set[str]:
    letters = "ab"
    cut = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    gone = {a + b[1:] for a, b in cut if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cut if len(b) > 1}
    changed = {a + c + b[1:] for a, b in cut if b for c in letters}
    added = {a + c + b for a, b in cut for c in letters}
    return gone | swapped | changed | added


def test_dates_that_cannot_be_read_are_text() -> None:
    assert read_date("2020-13-45") is None
    assert "20201345" in set(forms(IdentifierKind.DATE, "2020-13-45"))
