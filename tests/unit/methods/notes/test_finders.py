"""One example after another: what each finder finds, what it leaves, and what it costs on hostile text."""

from __future__ import annotations

import time

import pytest

from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.finders import FINDERS, JAPANESE_FINDERS, STRENGTH, NameFinder
from querygate.methods.notes.scrub import LONGEST
from tests.each import each
from tests.work import HANG_S

SCRUBBER = Scrubber(b"0123456789abcdef", options=ScrubOptions(tags="kind", dates="tag"))

FOUND = [
    # numbers and codes
    ("mail me: j.doe+x@mail.example.org.", IdentifierKind.EMAIL, "j.doe+x@mail.example.org"),
    ("jane at example dot com", IdentifierKind.EMAIL, "jane at example dot com"),
    ("see https://example.org/a?b=c, ok", IdentifierKind.URL, "https://example.org/a?b=c"),
    ("on www.example.de now", IdentifierKind.URL, "www.example.de"),
    ("on example.org now", IdentifierKind.URL, "example.org"),
    ("from 10.0.0.254 today", IdentifierKind.IP, "10.0.0.254"),
    ("from fe80::1ff:fe23:4567:890a today", IdentifierKind.IP, "fe80::1ff:fe23:4567:890a"),
    ("port 00:1B:44:11:3A:B7 up", IdentifierKind.DEVICE, "00:1B:44:11:3A:B7"),
    ("SSN 054-28-6917", IdentifierKind.SSN, "054-28-6917"),
    ("it is 912-28-6917", IdentifierKind.OTHER, "912-28-6917"),
    ("social security number 054286917", IdentifierKind.SSN, "054286917"),
    ("card 4007 0707 5369 0781 lost", IdentifierKind.OTHER, "4007 0707 5369 0781"),
    ("pay GB82 WEST 1234 5698 7654 32 now", IdentifierKind.ACCOUNT, "GB82 WEST 1234 5698 7654 32"),
    ("VIN 1M8GDM9AXKP042788 seen", IdentifierKind.VEHICLE, "1M8GDM9AXKP042788"),
    ("plate: ABC-1234", IdentifierKind.VEHICLE, "ABC-1234"),
    ("MRN: 00112233", IdentifierKind.RECORD, "00112233"),
    ("patient ID 99887766", IdentifierKind.RECORD, "99887766"),
    ("policy no. XB-1234", IdentifierKind.PLAN, "XB-1234"),
    ("account number 445566", IdentifierKind.ACCOUNT, "445566"),
    ("driver's license number is F162823540116", IdentifierKind.LICENCE, "F162823540116"),
    ("pacemaker serial no. PX99-1234", IdentifierKind.DEVICE, "PX99-1234"),
    ("passport no X1234567", IdentifierKind.LICENCE, "X1234567"),
    ("and 123456789012 too", IdentifierKind.OTHER, "123456789012"),
    # telephone
    ("call (555) 867-5309 x12 now", IdentifierKind.PHONE, "(555) 867-5309 x12"),
    ("at +44 7700 900 123 today", IdentifierKind.PHONE, "+44 7700 900 123"),
    ("at 01.84.17.61.18 today", IdentifierKind.PHONE, "01.84.17.61.18"),
    ("Fax: 555-867-5309", IdentifierKind.FAX, "555-867-5309"),
    # dates and ages
    ("on 03/12/2098 he", IdentifierKind.DATE, "03/12/2098"),
    ("on 3/12 he", IdentifierKind.DATE, "3/12"),
    ("on 2098-03-12T14:05:00Z he", IdentifierKind.DATE, "2098-03-12T14:05:00Z"),
    ("on 12.3.98 he", IdentifierKind.DATE, "12.3.98"),
    ("on March 12th, 2098 he", IdentifierKind.DATE, "March 12th, 2098"),
    ("on the 12th of March he", IdentifierKind.DATE, "12th of March"),
    ("on 12-Mar-98 he", IdentifierKind.DATE, "12-Mar-98"),
    ("on 12MAR2098 he", IdentifierKind.DATE, "12MAR2098"),
    ("in March 2098 he", IdentifierKind.DATE, "March 2098"),
    ("since May he", IdentifierKind.DATE, "May"),
    ("in 03/2098 he", IdentifierKind.DATE, "03/2098"),
    ("last Tuesday he", IdentifierKind.DATE, "Tuesday"),
    ("since Christmas Eve he", IdentifierKind.DATE, "Christmas Eve"),
    ("aged 94, frail", IdentifierKind.AGE, "94"),
    ("She is aged 94.", IdentifierKind.AGE, "94"),
    ("The patient is 97. Home.", IdentifierKind.AGE, "97"),
    ("a 91-year-old man", IdentifierKind.AGE, "91"),
    ("102 y/o female", IdentifierKind.AGE, "102"),
    ("a ninety-one year old man", IdentifierKind.AGE, "ninety-one"),
    # names
    ("seen by Dr. Young today", IdentifierKind.NAME, "Young"),
    ("her son Will came", IdentifierKind.NAME, "Will"),
    ("Name: May Grant", IdentifierKind.NAME, "May Grant"),
    ("Will Young came", IdentifierKind.NAME, "Will Young"),
    ("spoke to Grant about it", IdentifierKind.NAME, "Grant"),
    ("signed Xqwerty Zyxw, MD", IdentifierKind.NAME, "Xqwerty Zyxw"),
    ("with patricia desrosiers in a week", IdentifierKind.NAME, "patricia desrosiers"),
    ("Mrs. O'Neill-Żak left", IdentifierKind.NAME, "O'Neill-Żak"),
    # places
    (
        "lives at 12 Main St, Apt 4, Springfield, IL 62701.",
        IdentifierKind.PLACE,
        "12 Main St, Apt 4, Springfield, IL 62701",
    ),
    ("at Via Franscini 71 there", IdentifierKind.PLACE, "Via Franscini 71"),
    ("P.O. Box 242 there", IdentifierKind.PLACE, "P.O. Box 242"),
    ("from SW1A 1AA there", IdentifierKind.PLACE, "SW1A 1AA"),
    ("from Kenosha he", IdentifierKind.PLACE, "Kenosha"),
    ("at Cedar Grove Medical Center for", IdentifierKind.PLACE, "Cedar Grove Medical Center"),
    # Japanese
    ("患者名：山田太郎（ヤマダタロウ）", IdentifierKind.NAME, "山田太郎"),
    ("鈴木一郎様は", IdentifierKind.NAME, "鈴木一郎"),
    ("令和6年8月6日に", IdentifierKind.DATE, "令和6年8月6日"),
    ("電話：０９０-3456-7890です", IdentifierKind.PHONE, "０９０-3456-7890"),
    ("愛知県名古屋市中区栄3-15-33", IdentifierKind.PLACE, "愛知県名古屋市中区栄3-15-33"),
    ("94歳の女性", IdentifierKind.AGE, "94"),
    ("京都大学医学部附属病院にて", IdentifierKind.PLACE, "京都大学医学部附属病院"),
]

LEFT = [
    "BP 120/80, HR 98, temp 98.6, RR 16, SpO2 97% on room air.",
    "Pain 5/10, strength 4/5 in both legs, murmur 2/6.",
    "Parkinson's disease, Crohn's disease and Bell's palsy are stable; Foley catheter in place.",
    "He will come back; the patient may resume aspirin 81 mg daily.",
    "A 72 year old woman with hypertension since 1998.",
    "WBC 12.5, Hgb 13.2, platelets 250000, creatinine 1.1.",
    "Chief complaint: chest pain. Assessment and plan: continue metoprolol 25 mg twice daily.",
    "Born in the United States, of Italian descent.",
]


@each("text, kind, expected", FOUND)
def test_found(text: str, kind: IdentifierKind, expected: str) -> None:
    spans = SCRUBBER.find(text)
    assert (kind, expected) in [(span.kind, text[span.start : span.end]) for span in spans]


@pytest.mark.parametrize("text", LEFT)
def test_left(text: str) -> None:
    assert SCRUBBER.scrub(text).text == text


def test_an_employee_called_may_is_a_name_and_the_month_is_a_date() -> None:
    assert (
        SCRUBBER.scrub("Mrs. May was seen on May 3 and may return.").text
        == "Mrs. [NAME] was seen on [DATE] and may return."
    )


def test_unknown_words_and_weekdays_may_stay() -> None:
    careful = Scrubber(b"0123456789abcdef", options=ScrubOptions(tags="kind", unknown_words=False, weekdays=False))
    assert careful.scrub("Seen by Xyzzyq on Monday.").text == "Seen by Xyzzyq on Monday."
    assert SCRUBBER.scrub("Seen by Xyzzyq on Monday.").text == "Seen by [NAME] on [DATE]."


def scrubbed(text: str) -> str:
    return SCRUBBER.scrub(text).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Seen by Dr. Jane\nDoe on the ward.", "Seen by Dr. [NAME]\n[NAME] on the ward."),
        ("Seen by Dr. Jane A.\r\nDoe on the ward.", "Seen by Dr. [NAME] [NAME].\r\n[NAME] on the ward."),
        ("Seen by Dr. Jane\n  House on the ward.", "Seen by Dr. [NAME]\n  [NAME] on the ward."),
        ("Smith\nJohn", "[NAME]\n[NAME]"),
        ("SMITH,\nJOHN was seen.", "[NAME],\n[NAME] was seen."),
        ("Spoke with Will\nYoung today.", "Spoke with [NAME]\n[NAME] today."),
        ("the patientJohn Smith was seen", "the patient[NAME] [NAME] was seen"),
        ("Continue the planDr. Young will call.", "Continue the planDr. [NAME] will call."),
    ],
)
def test_names_over_lines_and_without_what_divided_them(text: str, expected: str) -> None:
    assert scrubbed(text) == expected


def test_words_that_have_grown_together_are_a_name_without_unknown_words_too() -> None:
    careful = Scrubber(b"0123456789abcdef", options=ScrubOptions(tags="kind", unknown_words=False))
    assert careful.scrub("Seen by JohnSmith with a CarePlan.").text == "Seen by [NAME] with a CarePlan."


@pytest.mark.parametrize(
    "text",
    [
        "Continue.\nAssessment: stable.\nPlan: home.",
        "No fever\nBlack stool\nPain in the knee",
        "mmHg and mEq, pH and hCG of the patient",
    ],
)
def test_lines_that_begin_with_words_stay(text: str) -> None:
    assert scrubbed(text) == text


def test_a_heading_behind_a_name_stays() -> None:
    assert scrubbed("Seen by Jane\nPlan: continue.") == "Seen by [NAME]\nPlan: continue."
    assert scrubbed("Seen by Dr. Jane\nThe wound is dry.") == "Seen by Dr. [NAME]\nThe wound is dry."


@pytest.mark.parametrize(
    "text",
    [
        "Dudley came to the clinic.",
        "Her son Dudley came.",
        "Spoke to Dudley about it.",
        "Dudley's wife called.",
        "DUDLEY was seen today.",
        "PATIENT DUDLEY WAS SEEN IN THE CLINIC.",
        "I spoke with dudley on the phone",
        "dudley was seen today",
        "Dudley\nJohn",
        "DUDLEY, JOHN",
    ],
)
def test_somebody_called_like_a_place_is_a_name(text: str) -> None:
    assert {span.kind for span in SCRUBBER.find(text)} == {IdentifierKind.NAME}
    assert "dudley" not in scrubbed(text).lower()


def test_the_place_of_that_name_is_a_place() -> None:
    assert scrubbed("Dudley lives in Dudley, near Dudley, Ohio.") == "[NAME] lives in [PLACE], near [PLACE], Ohio."


# Each 30,000 characters; the benchmark takes 100,000.
HOSTILE = {
    "letters": "a" * 30_000,
    "capitals": "A" * 30_000,
    "Capitalised": "Ab " * 9_900,
    "digits": "1" * 30_000,
    "digits and spaces": "1 " * 15_000,
    "digits and dashes": "12-" * 9_900,
    "dots": "." * 30_000,
    "a dot": "a." * 15_000,
    "colons": "f:" * 15_000,
    "spaces": " " * 30_000,
    "lines": "\n" * 30_000,
    "at": "a@" * 15_000,
    "number and word": "1 Main " * 4_200,
    "word and number": "Main 1 " * 4_200,
    "streets": "12 Abc Def Ghi " * 1_980,
    "commas": "12 Main St, " * 2_400,
    "labels": "MRN " * 7_500,
    "label digits": "id 1-" * 6_000,
    "months": "May " * 7_500,
    "slashes": "1/" * 15_000,
    "ibans": "GB82 " * 6_000,
    "kanji": "山" * 30_000,
    "kanji and digits": "市3" * 15_000,
    "titles": "Dr. " * 7_500,
    "quotes": "O'" * 15_000,
    "accents": "é" * 30_000,
    "prefectures": "県山" * 15_000,
    "brackets": "(1" * 15_000,
    "names and lines": "Jane\n" * 6_000,
    "grown together": "aaBbb" * 6_000,
    "accessions": "S19-12" * 5_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_work_is_bounded(name: str) -> None:
    """No pattern goes over the same characters again and again."""
    text = HOSTILE[name]
    for finder in (*FINDERS, *JAPANESE_FINDERS, NameFinder()):
        started = time.process_time()
        for _ in finder(text):
            pass
        assert time.process_time() - started < HANG_S, getattr(finder, "__name__", "NameFinder")


def test_a_note_of_100_000_characters() -> None:
    sentence = (
        "Patient Jane Doe, seen on 03/12/2098 at 12 Main St by Dr. Wells, has pain in the left knee. "
        + "no change; " * 300
    )
    text = sentence * (100_000 // len(sentence))
    done = SCRUBBER.scrub(text)
    assert "Doe" not in done.text
    with pytest.raises(ValueError, match="at most 1,000,000"):
        SCRUBBER.scrub("x" * (LONGEST + 1))


def test_every_rule_has_a_strength() -> None:
    rules = {span.rule for text, _, _ in FOUND for span in SCRUBBER.find(text)}
    assert rules <= set(STRENGTH)
