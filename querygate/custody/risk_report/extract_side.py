"""A released table as a side: what each record shows of its quasi-identifiers, and which values that allows.

The columns are those of an extract: a number as NAME_low and NAME_high, a category as a value, a node of its hierarchy,
or several values with a bar between. Tables from elsewhere may give a number in one column, as itself or as a range.
Errors name columns and counts, never a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.population import Population
from querygate.custody.extract.class_columns import ANY, OR
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.column_rules import PROTECTED
from querygate.custody.risk_report.code_table import text_codes
from querygate.custody.risk_report.known_texts import released_texts
from querygate.custody.risk_report.register_matches import BoxColumn, Side, people_in_boxes
from querygate.custody.risk_report.sides import Counting, DiseaseScope, at_stake, linked_names, sensitive_of, stacked
from querygate.custody.risk_report.sides import Side as Records
from querygate.methods.risk import class_labels

TextSide = tuple[float, float] | frozenset[str] | None

MISSING = "_may_be_missing"
ENDS = ("_low", "_high")
_NUMBER = r"(-?\d+(?:\.\d+)?|-?\d{4}-\d{2}-\d{2})"
_RANGE = re.compile(rf"[\[(]?\s*{_NUMBER}\s*(?:-|to|\.\.|,|;|–)\s*{_NUMBER}\s*[\])]?")
_ABOVE = re.compile(rf"(?:>=?|≥)\s*{_NUMBER}|{_NUMBER}\s*\+")
_BELOW = re.compile(rf"(?:<=?|≤)\s*{_NUMBER}")
_UNIT = {"date": "D", "timestamp": "us"}
_READ_AS = {"date": pa.date32(), "timestamp": pa.timestamp("us")}


class Opaque(Exception):
    """A text that cannot be looked up."""


@dataclass(frozen=True, slots=True)
class ColumnAllowance:
    """What a table shows of one quasi-identifier: a code for each record, and the values that each code allows.

    `sides` is None where it cannot be looked up in a register.
    """

    name: str
    codes: Ints
    sides: Sequence[TextSide] | None


def released_side(
    policy: Policy,
    table: pa.Table,
    population: Population | None,
    disease: DiseaseScope | None,
    *,
    texts: Mapping[str, Sequence[str]],
    rows: int,
) -> tuple[Records, tuple[str, ...]]:
    """The records of a released table, and the quasi-identifiers that cannot be looked up in the register.

    `texts` are the values that each category may have, `rows` the records of the source.
    """
    table = _typed(policy, table)
    told = [_told(column, table, texts.get(column.name, ())) for column in policy.named("quasi-identifier")]
    unread = tuple(
        one.name for one in told if one.sides is None and population is not None and one.name in population.values
    )
    codes = stacked([one.codes for one in told], table.num_rows)
    counting = None if population is None or unread else box_counting(told, population)
    sensitive, stake = sensitive_of(policy, table), at_stake(policy, table, disease)
    names = tuple(one.name for one in told)
    left_out, linked = rows - table.num_rows, linked_names(names, population)
    texts_told = released_texts(policy, table)
    return Records(names, codes, sensitive, counting, linked, left_out, stake, texts_told), unread


def box_counting(told: Sequence[ColumnAllowance], population: Population) -> Counting:
    """Counts the people whose values match what is shown."""
    columns = []
    for one in told:
        if one.name in population.values and one.sides is not None:
            place = {text: i for i, text in enumerate(population.texts.get(one.name, ()))}
            columns.append((one, [_placed(side, place) for side in one.sides]))

    def counting(rows: Ints) -> Ints:
        boxed = [BoxColumn(sides, one.codes[rows], population.values[one.name]) for one, sides in columns]
        if not boxed:
            return np.full(rows.size, int(population.persons.sum()), dtype=np.int64)
        return people_in_boxes(boxed, population.persons)

    return counting


def _placed(side: TextSide, place: Mapping[str, int]) -> Side:
    return frozenset(place.get(text, -1) for text in side) if isinstance(side, frozenset) else side


def _typed(policy: Policy, table: pa.Table) -> pa.Table:
    """The table with its sensitive numbers as numbers: a file of texts has texts."""
    for column in policy.named("sensitive"):
        place = table.schema.get_field_index(column.name)
        if column.is_numeric and place >= 0 and pa.types.is_string(table.schema.field(place).type):
            table = table.set_column(place, column.name, _numbers(column, table[column.name]))
    return table


def _numbers(column: ColumnPolicy, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return pc.cast(cells, _READ_AS.get(str(column.type), pa.float64()))
    except pa.ArrowException:  # its text quotes the value
        raise ConfigError(
            "QG802", f"The release: values of {column.name} do not have its type.", "Correct the file."
        ) from None


# -- which columns a table has ---------------------------------------------------------------------------------------


def check_released(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """Checks that a table is a release of what the policy describes; returns columns that the policy never
    publishes."""
    ours = {name for column in policy.columns for name in (column.name, *_parts(column))}
    strange = [name for name in names if name not in ours]
    if strange:
        raise ConfigError(
            "QG802",
            f"The release has columns that the policy does not name: {', '.join(strange)}.",
            "Add them to the policy with their roles: columns without a role cannot be assessed.",
        )
    quasi = policy.named(*PROTECTED)
    if not any(_parts_there(column, names) for column in quasi):
        raise ConfigError(
            "QG802",
            "The release contains none of the policy's quasi-identifiers, codes or sequences.",
            f"Accepted: {', '.join(part for column in quasi for part in (column.name, *_parts(column)))}.",
        )
    kept = [column for column in policy.columns if not column.is_published and not column.is_in_extracts]
    return tuple(column.name for column in kept if column.name in names)


def _parts(column: ColumnPolicy) -> tuple[str, ...]:
    """The names of an extract's columns for a quasi-identifier, besides its own."""
    if column.role != "quasi-identifier":
        return ()
    ends = tuple(column.name + end for end in ENDS) if column.is_numeric else ()
    return (*ends, column.name + MISSING)


def _parts_there(column: ColumnPolicy, names: Sequence[str]) -> list[str]:
    return [part for part in (column.name, *_parts(column)) if part in names]


# -- what one column tells -------------------------------------------------------------------------------------------


def _told(column: ColumnPolicy, table: pa.Table, texts: Sequence[str]) -> ColumnAllowance:
    parts = _parts_there(column, table.column_names)
    if not parts:  # left out: nothing is shown
        return ColumnAllowance(column.name, np.zeros(table.num_rows, dtype=np.int64), (None,))
    read = {part: text_codes(table[part]) for part in parts}
    codes = class_labels(np.stack([places for _, places in read.values()], axis=1))
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes] = np.arange(codes.size)
    ends = [column.name + end for end in ENDS]
    if column.is_numeric and all(end in read for end in ends):
        lows, highs = ([_text(*read[end], row) for row in first.tolist()] for end in ends)
        return ColumnAllowance(column.name, codes, _ranges(column, lows, highs))
    if column.name not in read:
        raise ConfigError(
            "QG802", f"The release contains only half of {column.name}.", f"Add {' and '.join(ends)}, or {column.name}."
        )
    reader = _number_reader(column) if column.is_numeric else _category_reader(column, texts)
    try:
        return ColumnAllowance(column.name, codes, [reader(_text(*read[column.name], row)) for row in first.tolist()])
    except Opaque:
        return ColumnAllowance(column.name, codes, None)


def _text(texts: Sequence[str], places: Ints, row: int) -> str | None:
    place = int(places[row])
    return None if place < 0 else texts[place]


def _ranges(column: ColumnPolicy, lows: Sequence[str | None], highs: Sequence[str | None]) -> list[TextSide]:
    sides: list[TextSide] = []
    wrong = 0
    for low, high in zip(lows, highs, strict=True):
        if low is None and high is None:
            sides.append(None)
            continue
        try:
            sides.append((_number(column, low or ""), _number(column, high or "")))
        except ValueError:
            wrong += 1
    if wrong:
        raise ConfigError(
            "QG802",
            f"The release: {counted(wrong, 'distinct range')} of {column.name} cannot be read as its type.",
            "Correct the file.",
        )
    return sides


def _number(column: ColumnPolicy, text: str) -> float:
    """A number, or a date as what the register counts: days, or microseconds."""
    unit = _UNIT.get(str(column.type))
    if unit is None:
        found = float(text)
        if math.isnan(found):
            raise ValueError
        return found
    moment = np.datetime64(text.strip(), unit)  # type: ignore[call-overload]
    if np.isnat(moment):
        raise ValueError
    return float(moment.astype(np.int64))


def _number_reader(column: ColumnPolicy) -> Callable[[str | None], TextSide]:
    """A number in one column: itself, a range, an open end, or * for any."""

    def read(text: str | None) -> TextSide:
        if text is None or text.strip() == ANY:
            return None
        try:
            number = _number(column, text)
            return number, number
        except ValueError:
            pass
        text = text.strip()
        try:
            if match := _RANGE.fullmatch(text):
                return _number(column, match[1]), _number(column, match[2])
            if match := _ABOVE.fullmatch(text):
                return _number(column, match[1] or match[2]), math.inf
            if match := _BELOW.fullmatch(text):
                return -math.inf, _number(column, match[1])
        except ValueError:
            pass
        raise Opaque

    return read


def _category_reader(column: ColumnPolicy, texts: Sequence[str]) -> Callable[[str | None], TextSide]:
    """A value, several with a bar between, a node of the hierarchy, or * for any that there is."""
    known = frozenset(texts)
    under: dict[str, frozenset[str]] = {}
    for row in rows_of(column, sorted(known)):
        for node in row[1:]:
            under[node] = under.get(node, frozenset()) | {row[0]}

    def read(text: str | None) -> TextSide:
        if text is None:
            return None
        if text in known:
            return frozenset((text,))
        if text == ANY:
            return known
        for node in (text, text.rstrip(ANY)):  # 372**, as others write the node 372
            if node in under:
                return under[node]
        parts = text.split(OR)
        if all(part in known for part in parts):
            return frozenset(parts)
        raise Opaque

    return read
