"""What if another version, or another policy, had answered? Runs the questions of a log on it and compares: which would
be refused, which answered, and which ranges would be narrower or wider.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from querygate.control.log.query_entries import QueryLine
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import Refusal
from querygate.core.ports import PublishedVersion
from querygate.custody.evidence.replay import compute_again
from querygate.gate.query_state import Gate
from querygate.gate.steps.arrange import arrange
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.protect import protect
from querygate.gate.steps.understand import understand

Change: TypeAlias = Literal[
    "same width", "narrower", "wider", "refused now", "answered now", "still refused", "still answered", "other groups"
]

STEPS = (understand, fetch, protect, arrange)
STATEMENT = ("QG1", "QG2")
"""Refusals that depend only on a statement and a version. Others depend on who asked, and when."""

LEAST_CHANGE = 0.01
"""With a smaller change, a width counts as the same."""

MOST_QUESTIONS = 500

FAILED = "QG900"


@dataclass(frozen=True, slots=True)
class Question:
    """A statement of the log, how often it was sent, and its last outcome: an answer, or the code of a refusal."""

    sql: str
    times: int
    answer: AnswerBody | None
    code: str | None


@dataclass(frozen=True, slots=True)
class Rerun:
    """A question and its outcome here. `width` is the mean change of the widths of its ranges: -0.5 is half as wide, 1
    is unbounded."""

    sql: str
    times: int
    change: Change
    before: str | None
    after: str | None
    width: float | None = None


def read_questions(lines: Iterable[QueryLine]) -> list[Question]:
    """The questions that can be run again, the latest last: one for each text."""
    found: dict[str, Question] = {}
    for line in lines:
        is_refused = line["outcome"] == "refused" and str(line["code"]).startswith(STATEMENT)
        if line["mode"] == "interval" and (line["outcome"] == "answered" or is_refused):
            times = found.pop(line["sql"]).times if line["sql"] in found else 0
            found[line["sql"]] = Question(line["sql"], times + 1, line["answer"], line["code"])
    return list(found.values())


def rerun(
    questions: Iterable[Question],
    release: PublishedVersion,
    gate: Gate,
    *,
    widths: bool = True,
    asked: Callable[[int], None] = lambda number: None,
) -> list[Rerun]:
    """Run each question on a version. Without `widths`, only whether there is an answer."""
    found = []
    for number, question in enumerate(questions):
        asked(number)
        found.append(_rerun(question, release, gate, widths=widths))
    return found


def _rerun(question: Question, release: PublishedVersion, gate: Gate, *, widths: bool) -> Rerun:
    after: str | None = None
    answer: AnswerBody | None = None
    try:
        answer = compute_again(question.sql, release, gate, STEPS)
    except Refusal as refusal:
        after = refusal.code
    except Exception:  # an engine's message may quote what it read
        after = FAILED
    change, width = _change(question, answer, widths=widths)
    return Rerun(question.sql, question.times, change, question.code, after, width)


def _change(question: Question, answer: AnswerBody | None, *, widths: bool) -> tuple[Change, float | None]:
    if answer is None:
        return ("still refused" if question.answer is None else "refused now"), None
    if question.answer is None:
        return "answered now", None
    if not widths:
        return "still answered", None
    width = width_change(question.answer, answer)
    if width is None:
        return "other groups", None
    if abs(width) < LEAST_CHANGE:
        return "same width", width
    return ("wider" if width > 0 else "narrower"), width


def width_change(before: AnswerBody, after: AnswerBody) -> float | None:
    """The mean over all figures that both answers have, each from -1 to 1; None if they have none in common.

    >>> def answer(low: float, high: float) -> AnswerBody:
    ...     columns = [{"name": "n", "kind": "range", "type": "integer"}]
    ...     return {"columns": columns, "rows": [{"n": {"low": low, "high": high}}]}
    >>> width_change(answer(0, 4), answer(1, 3)), width_change(answer(0, 0), answer(5, 5))
    (-0.5, 0.0)
    """
    names = [column["name"] for column in before["columns"] if column["kind"] != "key"]
    known = {_keys(before, row): row for row in before["rows"]}
    changes = []
    for row in after["rows"]:
        earlier = known.get(_keys(after, row))
        if earlier is not None:
            changes += [_cell_change(earlier[name], row[name]) for name in names if name in row]
    told = [change for change in changes if change is not None]
    return sum(told) / len(told) if told else None


def _keys(answer: AnswerBody, row: Mapping[str, Any]) -> str:
    return json.dumps([row[column["name"]] for column in answer["columns"] if column["kind"] == "key"], default=str)


def _cell_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> float | None:
    """None for texts and days, whose widths are not numbers."""
    widths = _width(before), _width(after)
    if None in widths:
        return None
    old, new = (width or 0.0 for width in widths)
    if old == new:
        return 0.0
    if math.isinf(max(old, new)):
        return 1.0 if math.isinf(new) else -1.0
    return (new - old) / max(new, old)


def _width(cell: Mapping[str, Any]) -> float | None:
    low, high = cell["low"], cell["high"]
    if isinstance(low, str) or isinstance(high, str):
        return None
    return math.inf if low is None or high is None else float(high) - float(low)
