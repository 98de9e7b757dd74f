"""A table without SQL: what is counted or measured, by which columns, for whom. It writes the statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from werkzeug.datastructures import MultiDict

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
_FEWEST_CUTS = 2
_TRUTHS = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Whom a table is of. A bound or value that is empty was not chosen."""

    column: str
    value: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What was chosen."""

    measure: str = "count"
    of: str = ""
    rows: str = ""
    columns: str = ""
    filters: tuple[TableFilter, ...] = ()

    @classmethod
    def read(cls, form: MultiDict[str, str]) -> TableChoice:
        lists = [[text.strip()[:200] for text in form.getlist(name)] for name in ("filter", "value", "low", "high")]
        filters = tuple(TableFilter(*found) for found in zip_longest(*lists, fillvalue=""))
        chosen = {name: form.get(name, "").strip()[:200] for name in ("measure", "of", "rows", "columns")}
        return cls(**chosen, filters=filters)


def grouping_columns(described: DescriptionBody) -> list[PublishedColumnBody]:
    """What rows can be: categories, and numbers by bands that end where the published ones do."""
    columns = described["columns"]
    return [column for column in columns if column["type"] in _OF_CATEGORIES or band_width(column) is not None]


def band_width(column: PublishedColumnBody) -> int | None:
    """How wide bands of a number are, for nobody to be in doubt about: the step of its cuts; None without one.

    >>> band_width({"type": "integer", "cuts": [20, 30, 40]}), band_width({"type": "integer", "cuts": [18, 21, 65]})
    (10, None)
    """
    cuts = column.get("cuts") or []
    if column["type"] not in _OF_NUMBERS or len(cuts) < _FEWEST_CUTS or not all(isinstance(cut, int) for cut in cuts):
        return None
    steps = {int(after) - int(before) for before, after in pairwise(cuts)}
    step = steps.pop()
    return step if not steps and step > 1 and int(cuts[0]) % step == 0 else None


def measured_columns(described: DescriptionBody) -> list[PublishedColumnBody]:
    return [column for column in described["columns"] if column["type"] in _OF_NUMBERS]


def write_statement(choice: TableChoice, described: DescriptionBody) -> str:
    """The statement that makes the table. Names that the dataset does not have are passed over, so that whatever was
    sent, what comes out is made of its own columns."""
    known = {column["name"]: column for column in described["columns"]}
    named = {name: known[name] for name in (choice.rows, choice.columns) if name in known}
    keys = [_key(column) for column in named.values()]
    measure = MEASURES.get(choice.measure, MEASURES["count"])[1]
    if "{}" in measure:
        measured = choice.of if choice.of in known else next((c["name"] for c in measured_columns(described)), "")
        measure = measure.format(name_text(measured)) if measured else "COUNT(*)"
    shown = ["COUNT(*)", measure] if measure != "COUNT(*)" else ["COUNT(*)"]
    groups = ", ".join(f"{text} AS {name}" if text != name else name for name, text in keys)
    lines = [f"SELECT {', '.join([*([groups] if groups else []), *shown])}", f"FROM {name_text(described['dataset'])}"]
    conditions = [condition for one in choice.filters for condition in _conditions(one, known)]
    lines += [f"WHERE {' AND '.join(conditions)}"] if conditions else []
    names = ", ".join(name for name, _ in keys)
    lines += [f"GROUP BY {names}", f"ORDER BY {names}"] if keys else []
    return "\n".join(lines)


def _key(column: PublishedColumnBody) -> tuple[str, str]:
    """What a row is called, and how SQL says it: a number by the lower end of its band."""
    name, width = column["name"], band_width(column)
    if width is None:
        return name_text(name), name_text(name)
    return name_text(f"{name}_from"), f"FLOOR({name_text(name)} / {width}) * {width}"


def _conditions(choice: TableFilter, known: Mapping[str, PublishedColumnBody]) -> Sequence[str]:
    """Everything that was filled in is in the statement, or the gate would answer another question than was asked."""
    column = known.get(choice.column)
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
