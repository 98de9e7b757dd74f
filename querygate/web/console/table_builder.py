"""A table without SQL: what is counted or measured, by which columns, for whom. It writes the statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from querygate.core.answer_bodies import DescriptionBody, PublishedColumnBody
from querygate.sql.name_text import name_text

MEASURES = {
    "count": ("Number of records", "COUNT(*)"),
    "share": ("Percentage of all shown", "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()"),
    "mean": ("Mean", "AVG({})"),
    "median": ("Median", "MEDIAN({})"),
    "sd": ("Standard deviation", "STDDEV({})"),
    "sum": ("Sum", "SUM({})"),
}
"""What a table can show, and how SQL says it; {} is the column that is measured."""

_OF_NUMBERS = ("integer", "number")
_OF_CATEGORIES = ("category", "boolean")
_TRUTHS = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What was chosen. A bound or value that is empty was not."""

    measure: str = "count"
    of: str = ""
    rows: str = ""
    columns: str = ""
    filter: str = ""
    value: str = ""
    low: str = ""
    high: str = ""

    @classmethod
    def read(cls, form: Mapping[str, str]) -> TableChoice:
        return cls(**{name: form.get(name, "").strip()[:200] for name in cls.__slots__})


def grouping_columns(described: DescriptionBody) -> list[PublishedColumnBody]:
    return [column for column in described["columns"] if column["type"] in _OF_CATEGORIES]


def measured_columns(described: DescriptionBody) -> list[PublishedColumnBody]:
    return [column for column in described["columns"] if column["type"] in _OF_NUMBERS]


def write_statement(choice: TableChoice, described: DescriptionBody) -> str:
    """The statement that makes the table. Names that the dataset does not have are passed over, so that whatever was
    sent, what comes out is made of its own columns."""
    known = {column["name"]: column for column in described["columns"]}
    keys = [name_text(name) for name in dict.fromkeys((choice.rows, choice.columns)) if name in known]
    measure = MEASURES.get(choice.measure, MEASURES["count"])[1]
    if "{}" in measure:
        measured = choice.of if choice.of in known else next((c["name"] for c in measured_columns(described)), "")
        measure = measure.format(name_text(measured)) if measured else "COUNT(*)"
    shown = ["COUNT(*)", measure] if measure != "COUNT(*)" else ["COUNT(*)"]
    lines = [f"SELECT {', '.join([*keys, *shown])}", f"FROM {name_text(described['dataset'])}"]
    conditions = _conditions(choice, known)
    lines += [f"WHERE {' AND '.join(conditions)}"] if conditions else []
    lines += [f"GROUP BY {', '.join(keys)}", f"ORDER BY {', '.join(keys)}"] if keys else []
    return "\n".join(lines)


def _conditions(choice: TableChoice, known: Mapping[str, PublishedColumnBody]) -> Sequence[str]:
    """Everything that was filled in is in the statement, or the gate would answer another question than was asked."""
    column = known.get(choice.filter)
    if column is None:
        return []
    name, kind = name_text(column["name"]), column["type"]
    signs = (("=", choice.value), (">=", choice.low), ("<=", choice.high))
    return [_condition(name, kind, sign, written) for sign, written in signs if written]


def _condition(name: str, kind: str, sign: str, written: str) -> str:
    """What is no value of the column's kind stays as it was written, for the gate to refuse at its place."""
    if kind == "boolean":
        return f"{name} {sign} {_TRUTHS.get(written.lower(), _text(written))}"
    if kind == "codes":
        return f"has_code({name}, {_text(written)})"
    if kind in _OF_NUMBERS:
        return f"{name} {sign} {_number(written)}"
    return f"{name} {sign} {_text(written)}" if kind == "category" else f"{name} {sign} {kind.upper()} {_text(written)}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _number(text: str) -> str:
    """A number as SQL writes it. Anything else stays a text, for the gate to refuse at its place."""
    try:
        float(text)
    except ValueError:
        return _text(text)
    return text if text.replace(".", "", 1).lstrip("-").isdigit() else repr(float(text))
