"""The tree of errors and the one table that says what each code means at every front door."""

from __future__ import annotations

import re

import pytest

from querygate.core import errors
from querygate.core.errors import CODES, Fault, QueryGateError, Refusal, Span, SyntaxRefused, UnsupportedSQL
from tests.each import each

FAMILIES = [kind for kind in vars(errors).values() if isinstance(kind, type) and "family" in vars(kind)]
LEAVES = [kind for kind in FAMILIES if kind is not QueryGateError]


def make(code: str) -> QueryGateError:
    kind = next(kind for kind in LEAVES if code.startswith(kind.family))
    return Fault("i_1") if kind is Fault else kind(code, "What is wrong.", "What to do.")


@each("code", CODES)
def test_every_code_has_one_family(code: str) -> None:
    assert re.fullmatch(r"QG[1-9]\d\d", code)
    assert len([kind for kind in LEAVES if code.startswith(kind.family)]) == 1


@each("code", CODES)
def test_every_code_means_something_at_every_door(code: str) -> None:
    meaning = CODES[code]
    is_fault = code.startswith("QG9")

    assert meaning.title
    assert not meaning.title.endswith(".")
    assert 400 <= meaning.status <= 599
    assert (meaning.status == 500) == is_fault
    assert re.fullmatch(r"[0-9A-Z]{5}", meaning.sqlstate)
    assert meaning.sqlstate[:2] not in ("00", "01")  # success and warning
    assert meaning.exit in (1, 2, 3)
    assert (meaning.exit == 3) == is_fault


def test_titles_are_told_apart() -> None:
    assert len({meaning.title for meaning in CODES.values()}) == len(CODES)


@each("code", CODES)
def test_the_problem_has_the_agreed_fields(code: str) -> None:
    body = make(code).to_dict()

    assert list(body) == ["type", "title", "status", "code", "detail", "remedy"]
    assert body["type"] == f"/docs/refusals#{code}"
    assert (body["title"], body["status"], body["code"]) == (CODES[code].title, CODES[code].status, code)


def test_the_optional_fields_come_when_there_is_something_to_say() -> None:
    refusal = UnsupportedSQL("QG204", "What.", "", suggestion="SELECT 1", span=Span(2, 8, 3))
    refusal.query_id = "q_1"
    body = refusal.to_dict()

    assert "remedy" not in body
    assert body["suggestion"] == "SELECT 1"
    assert body["span"] == {"line": 2, "column": 8, "length": 3}
    assert body["query_id"] == "q_1"


def test_the_text_of_an_error_is_its_detail() -> None:
    refusal = SyntaxRefused("QG101", "What.", "How.")

    assert str(refusal) == "What."
    assert isinstance(refusal, Refusal)
    assert refusal.meaning is CODES["QG101"]


@pytest.mark.parametrize("kind", LEAVES)
def test_a_code_that_is_not_there_or_of_another_family_is_a_mistake_of_ours(kind: type[QueryGateError]) -> None:
    for code in ("QG199", "QG777", "", *(code for code in CODES if not code.startswith(kind.family))):
        with pytest.raises(ValueError, match="is not a code of"):
            QueryGateError.__init__(kind.__new__(kind), code, "x")


def test_a_fault_shows_nothing_but_its_incident() -> None:
    fault = Fault("i_42")

    assert fault.incident == "i_42"
    assert "i_42" in fault.detail
    assert not isinstance(fault, Refusal)


def test_refusals_are_the_families_one_to_six() -> None:
    assert {kind.family for kind in LEAVES if issubclass(kind, Refusal)} == {"QG1", "QG2", "QG3", "QG4", "QG5", "QG6"}
