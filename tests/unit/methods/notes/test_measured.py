"""Precision and recall on annotated notes stay where they are. `make bench ONLY=notes` prints the tables."""

from __future__ import annotations

import re

import pytest

from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.spans import TextSpan
from tests.unit.methods.notes.brute import still_there
from tests.unit.methods.notes.corpora import OWN, japanese, nursing, presidio
from tests.unit.methods.notes.detection_score import Annotation, Score, score

SECRET = b"0123456789abcdef"
MAY_STAY = r"\d\d|years|old|Dr|plumber|teacher|Oregon"  # ages up to 89, titles, occupations, states
FORMS = (
    IdentifierKind.PHONE,
    IdentifierKind.EMAIL,
    IdentifierKind.SSN,
    IdentifierKind.OTHER,
    IdentifierKind.IP,
    IdentifierKind.URL,
    IdentifierKind.DATE,
    IdentifierKind.ACCOUNT,
    IdentifierKind.LICENCE,
)


@pytest.fixture(scope="module")
def sentences() -> dict[IdentifierKind | None, Score]:
    scrubber = Scrubber(SECRET)
    return score((text, marked, scrubber.find(text)) for _, text, marked in presidio())


def test_numbers_and_addresses_of_the_web_are_found(sentences: dict[IdentifierKind | None, Score]) -> None:
    assert {kind: sentences[kind].recall for kind in FORMS if sentences[kind].recall < 0.95} == {}


@pytest.mark.parametrize(
    ("kind", "recall", "precision"), [(IdentifierKind.NAME, 0.95, 0.92), (IdentifierKind.PLACE, 0.94, 0.95)]
)
def test_names_and_places(
    sentences: dict[IdentifierKind | None, Score], kind: IdentifierKind, recall: float, precision: float
) -> None:
    assert sentences[kind].recall >= recall
    assert sentences[kind].precision >= precision
    assert sentences[kind].token_recall >= 0.88


def test_japanese_reports_with_their_columns() -> None:
    scrubber = Scrubber(SECRET, OWN)
    found = []
    for text, marked, record in japanese():
        found.append((text, marked, scrubber.find(text, record)))
        result = scrubber.scrub(text, record).text
        assert not [name for name, value in record.items() if still_there(value, result)]
    scores = score(found)
    assert len(found) == 88
    for kind in (
        IdentifierKind.NAME,
        IdentifierKind.PLACE,
        IdentifierKind.PHONE,
        IdentifierKind.DATE,
        IdentifierKind.RECORD,
    ):
        assert scores[kind].recall >= 0.95, kind


def test_nursing_notes_lose_what_the_published_redaction_removes() -> None:
    scrubber = Scrubber(SECRET, options=ScrubOptions(tags="kind"))
    for raw, redacted in nursing():
        result = scrubber.scrub(raw).text
        for name in _removed(raw, redacted):
            assert not re.search(rf"\b{re.escape(name)}\b", result) or re.fullmatch(MAY_STAY, name), name


def _removed(raw: str, redacted: str) -> list[str]:
    """The words that stand in the raw note and not in the redacted one."""
    words = re.compile(r"[\w@\-/]+(?:\.\w+)*")
    kept = set(words.findall(re.sub(r"\[\*\*.*?\*\*\]", " ", redacted)))
    return [word for word in words.findall(raw) if word not in kept]


def test_scores_by_hand() -> None:
    text = "Jane Doe of Ohio, 555-1234"
    marked = [Annotation(0, 8, IdentifierKind.NAME), Annotation(12, 16, None), Annotation(18, 26, IdentifierKind.PHONE)]
    found = [
        TextSpan(0, 4, IdentifierKind.NAME, "x"),
        TextSpan(9, 11, IdentifierKind.NAME, "x"),
        TextSpan(12, 16, IdentifierKind.PLACE, "x"),
        TextSpan(18, 26, IdentifierKind.FAX, "x"),
    ]
    scores = score([(text, marked, found)])
    assert (
        scores[IdentifierKind.NAME].recall,
        scores[IdentifierKind.NAME].precision,
        scores[IdentifierKind.NAME].token_recall,
    ) == (1.0, 0.5, 0.5)
    assert (
        scores[IdentifierKind.PHONE].recall,
        scores[IdentifierKind.PHONE].exact_recall,
        scores[IdentifierKind.PHONE].same_kind,
    ) == (1.0, 1.0, 0.0)
    assert IdentifierKind.PLACE not in scores
    assert scores[None].f1 == pytest.approx(2 * 1.0 * (2 / 3) / (1.0 + 2 / 3))
