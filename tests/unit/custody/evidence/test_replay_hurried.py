"""An answer whose searches were cut short is replayed as one that may only be wider."""

from __future__ import annotations

import pytest

from querygate.core.answer_bodies import AnswerBody
from querygate.custody.evidence.replay import _difference
from querygate.gate.steps.protect import HURRIED


def answer(low: float | None, high: float | None, *notes: str) -> AnswerBody:
    found = {
        "low": low,
        "high": high,
        "attained_low": None,
        "attained_high": None,
        "sharp": False,
        "may_be_null": False,
    }
    return {"rows": [{"sd": found}], "columns": [], "notes": list(notes)}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("logged", "place"),
    [
        (answer(1, 9, HURRIED), ""),
        (answer(None, 9, HURRIED), ""),
        (answer(2, 7, HURRIED), ""),
        (answer(2.5, 9, HURRIED), "answer.rows[0].sd.low"),
        (answer(1, 6, HURRIED), "answer.rows[0].sd.low"),
        (answer(1, 9), "answer.rows[0].sd.low"),
    ],
)
def test_it_may_be_wider_and_no_narrower(logged: AnswerBody, place: str) -> None:
    assert _difference(logged, answer(2, 7)) == place


@pytest.mark.parametrize(
    ("low", "high", "place"), [(1, 9, ""), (3, 9, "answer.rows[0].sd.low"), (2, 6, "answer.rows[0].sd.high")]
)
def test_an_earlier_answer_may_contain_the_one_made_now_and_nothing_less(low: float, high: float, place: str) -> None:
    assert _difference(answer(low, high), answer(2, 7), may_be_wider=True) == place
