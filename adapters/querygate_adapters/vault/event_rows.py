"""Columns of people derived from a table of events in one pass: only sums, extremes and lists are kept.

An event counts if it fulfils every condition of a column and lies in its window. First and last are by time, and then
by value, so that the order of rows does not matter; events without a time are neither. For the same reason numbers are
added in ascending order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from querygate.core.count_text import counted
from querygate.core.derived_columns import OF_NOBODY, DerivedColumn, EventCondition
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable
from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.value_casts import as_text, at_limit, cast_to, is_unread, person_key
from querygate_adapters.vault.free_names import free_stem

_VALUES = {
    "first": "arg_min({v}, ROW({t}, {v})) FILTER ({f} AND {t} IS NOT NULL AND {v} IS NOT NULL)",
    "last": "arg_max({v}, ROW({t}, {v})) FILTER ({f} AND {t} IS NOT NULL AND {v} IS NOT NULL)",
    "min": "MIN({v}) FILTER ({f})",
    "max": "MAX({v}) FILTER ({f})",
    "mean": "AVG({v} ORDER BY {v}) FILTER ({f})",
    "sum": "SUM({v} ORDER BY {v}) FILTER ({f})",
    "count": "COUNT({v}) FILTER ({f})",
    "distinct": "COUNT(DISTINCT {v}) FILTER ({f})",
    "any": "COUNT({v}) FILTER ({f}) > 0",
    "list": "list(DISTINCT {v} ORDER BY {v}) FILTER ({f} AND {v} IS NOT NULL)",
}
_TYPES = {"integer": "BIGINT", "number": "DOUBLE"}


@dataclass(frozen=True, slots=True)
class People:
    """The table of people that events belong to: its number of a row, its keys, and its dates, by the names they have
    there."""

    table: str
    row: str
    keys: Mapping[str, str]
    dates: Mapping[str, str]


def derive(database: duckdb.DuckDBPyConnection, table: str, join: JoinedTable, people: People) -> None:
    """Make a table with a row for each person with events: the row's number and the derived columns. Events are
    registered as `incoming`.
    """
    found = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
    inner = [f"{person_key(as_text(theirs, found[theirs]))} AS k{i}" for i, (theirs, _) in enumerate(join.on)]
    moment = _moment(join.time, found) if join.time else "CAST(NULL AS TIMESTAMP)"
    inner += [f"{moment} AS t", f"{is_unread(join.time, moment) if join.time else 'FALSE'} AS tw"]
    wrong_marks, late_marks = _marks(join)
    limits = _limits(join, found)
    incoming = ", ".join(["*", *(f"{sql} AS {name}" for name, sql in limits.values())])
    found |= {name: "VARCHAR" for name, _ in limits.values()}
    outer = [f"m.{people.row}"]
    for i, column in enumerate(join.derived):
        given = replace(column, column=limits[column.name][0]) if column.name in limits else column
        value, wrong = _value(given, join.columns[column.name], found), "FALSE"
        if column.column:
            text = f"TRIM({as_text(column.column, found[column.column])})"
            absent = f"COALESCE({text} IN ({', '.join(map(_literal, ('', *column.absent)))}), FALSE)"
            wrong = f"NOT {absent} AND {is_unread(given.column, value)}"
            if column.take in ("mean", "sum") and join.columns[column.name] == "number":
                wrong = f"({wrong}) OR COALESCE(isinf({value}), FALSE)"  # two infinities may add up to NaN
            value = f"CASE WHEN NOT {absent} THEN {value} END"
        inner += [f"{_is_meant(column.where, found)} AS c{i}", f"{value} AS v{i}", f"{wrong} AS w{i}"]
        meant = " AND ".join([f"e.c{i}", *_window(column, people)])
        taken = _VALUES[column.take].format(v=f"e.v{i}", t="e.t", f=meant)
        if (kind := _TYPES.get(join.columns[column.name])) and column.take in ("mean", "sum"):
            taken = f"CAST({taken} AS {kind})"
        late = "e.tw" if column.needs_time else "FALSE"
        outer += [
            f"{taken} AS {quoted(column.name)}",
            f"COUNT(*) FILTER (e.c{i} AND e.w{i}) AS {wrong_marks}{i}",
            f"COUNT(*) FILTER (e.c{i} AND {late}) AS {late_marks}{i}",
        ]
    on = " AND ".join(f"e.k{i} = m.{people.keys[ours]}" for i, (_, ours) in enumerate(join.on))
    _execute(
        database,
        join,
        f"CREATE TEMP TABLE {table} AS SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} "
        f"FROM (SELECT {incoming} FROM incoming)) e "
        f"JOIN {people.table} m ON {on} GROUP BY 1",
    )
    _check_read(database, table, join)


def _limits(join: JoinedTable, found: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """By derived column, a free name and SQL for its texts with those beyond a limit of detection read as it says."""
    stem = free_stem("limit", found)
    return {
        column.name: (f"{stem}{i}", at_limit(quoted(column.column), missing=column.censored == "missing"))
        for i, column in enumerate(join.derived)
        if column.censored and found.get(column.column) == "VARCHAR"
    }


def derived_value(column: DerivedColumn, kind: str, table: str) -> str:
    """SQL for the column in a record that has a row in the table, or none."""
    nothing = OF_NOBODY.get(column.take)
    name = f"{table}.{quoted(column.name)}"
    value = f"COALESCE({name}, {nothing})" if nothing else name
    return f"CAST({value} AS VARCHAR)" if kind == "category" else value


def _check_read(database: duckdb.DuckDBPyConnection, table: str, join: JoinedTable) -> None:
    """Check that every value and time of the events that a column uses could be read."""
    problems, (wrong, late) = [], _marks(join)
    for i, column in enumerate(join.derived):
        wanted = "number" if column.take == "mean" else join.columns[column.name]
        for mark, read, kind in ((f"{wrong}{i}", "value", wanted), (f"{late}{i}", "time", "date")):
            [(count,)] = database.execute(f"SELECT SUM({mark}) FROM {table}").fetchall()
            if count:
                told = counted(int(count), f"event has a {read}", f"events have a {read}")
                problems.append(f"derive.{column.name}: {told} that cannot be read as {kind}")
    if problems:
        raise ConfigError(
            "QG802",
            f"{join.label}: {'; '.join(problems)}.",
            "Correct the source, or leave these events out with a condition in `where`.",
        )


def _marks(join: JoinedTable) -> tuple[str, str]:
    """Names for the counts of unread values and times, distinct from the columns of the policy."""
    names = [column.name for column in join.derived]
    return free_stem("wrong", names), free_stem("late", names)


def _execute(database: duckdb.DuckDBPyConnection, join: JoinedTable, sql: str) -> None:
    """Run it; a total of whole numbers may exceed 64 bits."""
    try:
        database.execute(sql)
    except (duckdb.ConversionException, duckdb.OutOfRangeException):
        raise ConfigError(
            "QG802",
            f"{join.label}: a total is too large for a whole number.",
            "Give the column type number, or leave very large values out with a condition in `where`.",
        ) from None


def _is_meant(where: Sequence[EventCondition], found: Mapping[str, str]) -> str:
    return " AND ".join(_condition(test, found[test.column]) for test in where) or "TRUE"


def _condition(test: EventCondition, stored: str) -> str:
    """Whether an event fulfils the condition: never NULL."""
    text = f"TRIM({as_text(test.column, stored)})"
    either = [f"{text} IN ({', '.join(map(_literal, test.texts))})"] if test.texts else []
    either += [f"starts_with({text}, {_literal(begin)})" for begin in test.begins]
    tests = [f"({' OR '.join(either)})"] if either else []
    number = cast_to(test.column, "number", stored)
    tests += [f"{number} >= {test.least!r}"] if test.least is not None else []
    tests += [f"{number} <= {test.most!r}"] if test.most is not None else []
    return f"COALESCE({' AND '.join(tests)}, FALSE)"


def _window(column: DerivedColumn, people: People) -> list[str]:
    tests = [f"e.t >= TIMESTAMP '{column.since}'"] if column.since else []
    if column.until:
        tests.append(f"e.t < TIMESTAMP '{column.until}' + INTERVAL 1 DAY")
    if column.around:
        first, last = column.days
        day = f"m.{people.dates[column.around]}"
        tests.append(f"date_diff('day', {day}, CAST(e.t AS DATE)) BETWEEN {first} AND {last}")
    return tests


def _moment(name: str, found: Mapping[str, str]) -> str:
    date, moment = (cast_to(name, kind, found[name]) for kind in ("date", "timestamp"))
    return f"COALESCE({moment}, CAST({date} AS TIMESTAMP))"


def date_sql(name: str, found: str) -> str:
    """SQL for a source column as a day, whatever the time of day."""
    date, moment = (cast_to(name, kind, found) for kind in ("date", "timestamp"))
    return f"COALESCE({date}, CAST({moment} AS DATE))"


def _value(column: DerivedColumn, kind: str, found: Mapping[str, str]) -> str:
    """SQL for the value of an event: in the column's type, or as text where values are only counted."""
    if not column.column:
        return "1"
    stored = found[column.column]
    if column.take in ("count", "distinct", "any", "list") or kind == "category":
        return _named(column, f"TRIM({as_text(column.column, stored)})")
    if kind == "date":
        return date_sql(column.column, stored)
    return cast_to(column.column, "number" if column.take == "mean" else kind, stored)


def _named(column: DerivedColumn, text: str) -> str:
    if not column.names:
        return text
    cases = " ".join(f"WHEN {_literal(code)} THEN {_literal(name)}" for code, name in column.names)
    return f"CASE {text} {cases} ELSE {text} END"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
