"""Reads the answers of a log, in any shape: which number a group was given, and what it says about a total."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple, TypeGuard

from querygate.core.json_body import JsonValue
from querygate.core.types import SqlValue, folded
from querygate.sql.formulas import AnswerFormula
from querygate.sql.logged.logged_statement import LoggedStatement

DIGITS = 15
LARGEST_EXPONENT, LONGEST = 400, 1_000
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")


class _NotShown:
    """A group that is not in the answer, or whose number is left out."""


NOT_SHOWN: Final = _NotShown()


class AnswerFigure(NamedTuple):
    """What an answer says: a range, which is one number where it is exact, and the words for it."""

    low: Fraction | None = None
    high: Fraction | None = None
    said: str = ""


class Answers:
    """The rows of one answer, by the groups of the statement.

    If no row fits any group, the answer has an unknown form, and nothing is concluded about any group.
    """

    def __init__(self, answer: JsonValue, logged: LoggedStatement, keys: Sequence[tuple[SqlValue, ...]]) -> None:
        self.names = [folded(name) for name in logged.names]
        rows = _rows(answer)
        self.rows: list[JsonValue | _NotShown] | None = None
        if rows is not None:
            found = self._by_group(rows, logged, keys)
            self.rows = found if any(row is not NOT_SHOWN for row in found) or not rows else None

    def _by_group(
        self, rows: list[JsonValue], logged: LoggedStatement, keys: Sequence[tuple[SqlValue, ...]]
    ) -> list[JsonValue | _NotShown]:
        number, branches = logged.branch
        places = [place for _, place in (*logged.keys, *logged.hidden)]
        if not places and not logged.absent:
            return [rows[number] if len(rows) == branches else NOT_SHOWN for _ in keys]
        shown = [place for place in places if place is not None]
        by_key: dict[tuple[Fraction | int | str | None, ...], list[JsonValue]] = {}
        for row in rows:
            told = [_canonical(self._cell(row, place)) for place in (*shown, *logged.absent)]
            by_key.setdefault(tuple(told), []).append(row)
        found: list[JsonValue | _NotShown] = []
        for key in keys:
            values = [_canonical(value) for value, place in zip(key, places, strict=True) if place is not None]
            fits = by_key.get((*values, *(None for _ in logged.absent)), []) if values or logged.absent else []
            found.append(fits[0] if len(fits) == 1 else NOT_SHOWN)
        return found

    def _cell(self, row: JsonValue, item: int) -> JsonValue:
        if isinstance(row, dict) and not _is_range(row):
            by_name = {folded(str(name)): value for name, value in row.items()}
            wanted = self.names[item] if item < len(self.names) else ""
            if wanted in by_name and self.names.count(wanted) == 1:
                return by_name[wanted]
            row = list(row.values())
        values = list(row) if isinstance(row, (list, tuple)) else [row]
        return values[item] if item < len(values) else None

    def given(self, group: int, item: int) -> AnswerFigure | None:
        """What a group was given for an item of the select list; None if it was not shown."""
        if self.rows is None:
            return AnswerFigure()
        row = self.rows[group]
        if isinstance(row, _NotShown):
            return None
        given = read_answer(self._cell(row, item))
        return given if given.low is not None else None


def _rows(answer: JsonValue) -> list[JsonValue] | None:
    """The answer as rows; None where the log has none."""
    if answer is None:
        return None
    if isinstance(answer, dict) and isinstance(answer.get("rows"), list):
        answer = answer["rows"]
    rows: list[JsonValue] = answer if isinstance(answer, list) else [answer]
    is_one = bool(rows) and (not isinstance(rows[0], (list, dict)) or _is_range(rows[0]))
    return [rows] if is_one else rows


def read_answer(answer: JsonValue) -> AnswerFigure:
    """A number, a text that is one, or a range."""
    if _is_range(answer):
        low, high = fraction(answer["low"]), fraction(answer["high"])
        if low is None or high is None:
            return AnswerFigure()
        said = _plain(answer["low"]) if low == high else f"[{answer['low']}, {answer['high']}]"
        return AnswerFigure(min(low, high), max(low, high), said)
    value = fraction(answer)
    if value is None:
        return AnswerFigure()
    said = _plain(answer)
    if isinstance(answer, float) and len(repr(answer)) > DIGITS:  # a double in full, its last digit in doubt
        least, most = math.nextafter(answer, -math.inf), math.nextafter(answer, math.inf)
        if math.isfinite(least) and math.isfinite(most):
            return AnswerFigure(Fraction(least), Fraction(most), said)
    return AnswerFigure(value, value, said)


def _plain(number: JsonValue) -> str:
    """A number for arithmetic: without thousands separators and needless signs."""
    return str(number).strip().replace(",", "").replace("_", "").removeprefix("+")


def _canonical(value: object) -> Fraction | int | str | None:
    """A key in canonical form: 1, 1.0 and "1" are one, and so are a day and its midnight."""
    if value is None or isinstance(value, int):
        return value
    number = fraction(value)
    return number if number is not None else str(value).strip().removesuffix(" 00:00:00").removesuffix("T00:00:00")


def _is_range(value: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    return isinstance(value, dict) and {"low", "high"} <= value.keys()


def fraction(value: object) -> Fraction | None:
    """A number as it is written: 0.1 is a tenth, 1,234 a thousand and more."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None
    text = str(value).strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    exponent = text.lower().partition("e")[2]
    try:
        if abs(int(exponent or 0)) > LARGEST_EXPONENT or len(text) > LONGEST:
            return None  # no database answers that, and it would take hours to write it out
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


# -- arithmetic of a select list ---------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """Aggregates times numbers, plus a number."""

    times: dict[int, Fraction]
    constant: Fraction


def linear(formula: AnswerFormula, known: Mapping[int, Fraction]) -> Linear | None:
    """The formula as a linear combination of aggregates, with known ones inserted; None if it is not one."""
    if formula.operation == "number":
        return Linear({}, formula.value)
    if formula.operation == "aggregate":
        place = int(formula.value)
        return Linear({}, known[place]) if place in known else Linear({place: Fraction(1)}, Fraction(0))
    terms = [linear(term, known) for term in formula.terms]
    if formula.operation in ("round", "truncate") or len(terms) != 2 or terms[0] is None or terms[1] is None:
        return None
    return _operated(formula.operation, terms[0], terms[1])


def _operated(operation: str, one: Linear, other: Linear) -> Linear | None:
    if operation in "+-":
        sign = 1 if operation == "+" else -1
        times = dict(one.times)
        for place, c in other.times.items():
            times[place] = times.get(place, Fraction(0)) + sign * c
        return Linear({place: c for place, c in times.items() if c}, one.constant + sign * other.constant)
    if operation == "*" and not one.times:
        one, other = other, one
    if other.times or (operation == "/" and not other.constant):
        return None
    factor = other.constant if operation == "*" else 1 / other.constant
    return Linear({place: c * factor for place, c in one.times.items()}, one.constant * factor)


def unrounded(formula: AnswerFormula, given: AnswerFigure) -> tuple[AnswerFormula, AnswerFigure]:
    """The value before rounding: a range around the answer."""
    while formula.operation in ("round", "truncate"):
        rounds = formula.operation == "round"
        if rounds and abs(formula.value) > LARGEST_EXPONENT:  # reveals nothing, or hides nothing: not worth the digits
            return formula.terms[0], AnswerFigure()
        step = Fraction(10) ** -int(formula.value) / 2 if rounds else Fraction(1)
        formula = formula.terms[0]
        if given.low is not None and given.high is not None:
            below = step if rounds or given.low <= 0 else Fraction(0)
            given = AnswerFigure(
                given.low - below, given.high + step, f"[{_decimal(given.low - below)}, {_decimal(given.high + step)}]"
            )
    return formula, given


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(float(value))


def solved(given: AnswerFigure, times: Fraction, constant: Fraction) -> AnswerFigure:
    """Solves times * x + constant = the answer for x, with the words for it."""
    if given.low is None or given.high is None:
        return AnswerFigure()
    low, high = sorted(((given.low - constant) / times, (given.high - constant) / times))
    said = given.said
    if times == -1:
        return AnswerFigure(low, high, f"({_written(constant)} - {said})")
    if constant:
        said = f"({said} {'-' if constant > 0 else '+'} {_written(abs(constant))})"
    by = 1 / times
    if abs(by.numerator) != 1 or by < 0:
        said = f"{by.numerator}*{said}" if by > 0 else f"({by.numerator}*{said})"
    if by.denominator != 1:
        said = f"({said}/{by.denominator})"
    return AnswerFigure(low, high, said)


def _written(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"({value})"
