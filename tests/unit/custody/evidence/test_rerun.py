"""A log asked again: which questions are put, and how answers are compared."""

from __future__ import annotations

from typing import Any

from querygate.custody.evidence.rerun import read_questions, width_change
from tests.each import each

Ends = tuple[Any, Any]


def answer(**groups: Ends) -> Any:
    columns = [{"name": "sex", "kind": "key", "type": "category"}, {"name": "n", "kind": "range", "type": "integer"}]
    rows = [{"sex": key, "n": {"low": low, "high": high}} for key, (low, high) in groups.items()]
    return {"columns": columns, "rows": rows}


@each(
    "before, after, expected",
    [
        (answer(F=(0, 4)), answer(F=(0, 2)), -0.5),
        (answer(F=(0, 2)), answer(F=(0, 4)), 0.5),
        (answer(F=(1, 1)), answer(F=(9, 9)), 0.0),
        (answer(F=(1, None)), answer(F=(1, 2)), -1.0),
        (answer(F=(1, 2)), answer(F=(None, 2)), 1.0),
        (answer(F=(None, None)), answer(F=(None, 2)), 0.0),
        (answer(F=(0, 4), M=(0, 2)), answer(M=(0, 1), X=(0, 9)), -0.5),
        (answer(F=(0, 4)), answer(M=(0, 4)), None),
        (answer(), answer(), None),
        (answer(F=("2024-01-01", "2024-02-01")), answer(F=("2024-01-01", "2024-01-02")), None),
        (answer(F=(0, 1e300)), answer(F=(0, 1e-300)), -1.0),
    ],
)
def test_widths_are_compared_group_by_group(before: Any, after: Any, expected: float | None) -> None:
    assert width_change(before, after) == expected


def line(sql: str, outcome: str = "answered", code: str | None = None, mode: str = "interval") -> Any:
    told = answer(F=(0, 1)) if outcome == "answered" else None
    return {"sql": sql, "outcome": outcome, "code": code, "mode": mode, "answer": told}


def test_each_text_is_put_once_and_only_what_another_version_could_change() -> None:
    lines = [
        line("a"),
        line("b", "refused", "QG204"),
        line("a"),
        line("c", "refused", "QG501"),
        line("d", "refused", "QG302"),
        line("e", "failed", "QG900"),
        line("f", mode="laplace"),
        line("b"),
    ]
    found = read_questions(lines)
    assert [(one.sql, one.times, one.code) for one in found] == [("a", 2, None), ("b", 2, None)]
    assert read_questions([]) == []
