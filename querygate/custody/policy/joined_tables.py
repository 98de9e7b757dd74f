"""Other tables of a policy: public ones that statements may join, protected ones that are joined before publication,
and the population that classes are compared with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, cast

from querygate.core.types import folded
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.policy_types import JoinKind, JoinPolicy, KMapPolicy, ReferencePolicy, ReferenceType
from querygate.custody.policy.toml_reader import SOME_TEXT, Bound, TomlTable, listed

NAME = "[a-z][a-z0-9_]{0,62}"
_FILE = r"(?i).+\.(csv|tsv|parquet)(\.gz)?"
_A_LIST = "a list of at least one distinct column name"


def read_references(top: TomlTable, dataset: str) -> tuple[ReferencePolicy, ...]:
    """Every table [references.NAME]."""
    found = []
    for name, table in tables_of(top, "references"):
        if name == dataset:
            top.problems.add(
                table.path, "is the name of the dataset", "another name, because SQL could not distinguish them"
            )
        key = table.text("key", SOME_TEXT)
        columns = _typed(table)
        _check_apart(table, "columns", [key, *(column for column, _ in columns)])
        found.append(ReferencePolicy(name, read_file(table), key, columns))
    return tuple(found)


def read_joins(top: TomlTable, columns: Iterable[ColumnPolicy]) -> tuple[JoinPolicy, ...]:
    """Every table [join.NAME]. Its columns have rules in tables [columns.NAME], like any other."""
    known = {column.name for column in columns}
    found: list[JoinPolicy] = []
    for name, table in tables_of(top, "join"):
        source, brought = table.text("source", SOME_TEXT), read_names(table, "columns")
        for column in brought:
            if column not in known:
                table.fail(
                    "columns", f"{column} has no rules", f"columns that have a table [columns.NAME]: add {column}"
                )
        taken = [other.name for other in found if {*map(folded, other.columns)} & {*map(folded, brought)}]
        if taken:
            table.fail("columns", f"brings a column that join.{taken[0]} also brings", "each column from one table")
        kind: JoinKind = table.word("kind", "left")
        many: Literal["refuse"] = table.word("many", "refuse")
        found.append(JoinPolicy(name, source, read_pairs(table), brought, kind, many))
    return tuple(found)


def read_population(top: TomlTable, columns: Iterable[ColumnPolicy]) -> KMapPolicy | None:
    """The table [k_map]: the population that every class must be hidden in."""
    if "k_map" not in top:
        return None
    table = top.table("k_map")
    if not table.is_table:
        return None
    linked, count = read_linked(table, columns), read_count(table)
    k = table.required("k", Bound(least=2, whole=True))
    return KMapPolicy(read_file(table, "population"), int(k or 0), linked, count)


def read_linked(table: TomlTable, columns: Iterable[ColumnPolicy]) -> tuple[str, ...]:
    """The quasi-identifiers by which people of a population are found; none: all of them."""
    quasi = [column.name for column in columns if column.role == "quasi-identifier"]
    named = read_names(table, "columns") if "columns" in table else ()
    if not quasi:
        table.fail("columns", "people are looked up by quasi-identifiers, and there are none", "a quasi-identifier")
    elif not set(named) <= set(quasi):
        table.fail("columns", "names something that is not a quasi-identifier", listed(quasi))
    return () if set(named) == set(quasi) else named


def read_count(table: TomlTable) -> str:
    """The column that says how many people a row of a population stands for."""
    return table.text("count", SOME_TEXT) if "count" in table else ""


def tables_of(top: TomlTable, key: str) -> Iterator[tuple[str, TomlTable]]:
    """The tables [KEY.NAME]; names must be valid in SQL."""
    raw = top.raw.get(key, {})
    if not isinstance(raw, dict):
        top.fail(key, "must be a table", f"one table [{key}.NAME] per table")
        return
    for name, body in raw.items():
        if re.fullmatch(NAME, name):
            yield name, TomlTable(body, (key, name), f"{key}.*", top.problems)
        else:
            top.problems.add((key, name), "is not a name for a table", f"a name that matches {NAME}")


def read_file(table: TomlTable, key: str = "file") -> str:
    raw = table.raw.get(key)
    if isinstance(raw, str) and "://" not in raw and re.fullmatch(_FILE, raw):
        return raw
    table.fail(key, "is not a file name" if key in table else "is missing", "a .csv, .tsv or .parquet file")
    return ""


def _typed(table: TomlTable) -> tuple[tuple[str, ReferenceType], ...]:
    """A list of columns of texts, or a table that gives each column its type."""
    raw = table.raw.get("columns")
    if not isinstance(raw, dict) or not raw:
        return tuple((name, "category") for name in read_names(table, "columns"))
    types = table.problems.vocabulary.accepted("references.*.columns")
    for name, kind in raw.items():
        if not isinstance(kind, str) or kind not in types:
            table.fail("columns", f"the type of {name} is not accepted", listed(types))
    return tuple((name, cast(ReferenceType, kind)) for name, kind in raw.items())


def read_names(table: TomlTable, key: str) -> tuple[str, ...]:
    raw = table.raw.get(key)
    is_list = isinstance(raw, list) and raw and all(isinstance(name, str) and name for name in raw)
    if not is_list or not isinstance(raw, list):
        table.fail(key, "is not a list of names" if key in table else "is missing", _A_LIST)
        return ()
    _check_apart(table, key, raw)
    return tuple(raw)


def read_pairs(table: TomlTable) -> tuple[tuple[str, str], ...]:
    """The key `on`: (its column, the source's column)."""
    raw = table.raw.get("on")
    is_table = isinstance(raw, dict) and raw and all(isinstance(name, str) and name for name in raw.values())
    if not is_table or not isinstance(raw, dict):
        accepted = 'the columns to compare, such as { its_column = "column of the main source" }'
        table.fail("on", "is not a table of names" if "on" in table else "is missing", accepted)
        return ()
    return tuple(raw.items())


def _check_apart(table: TomlTable, key: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(map(folded, names)).items() if count > 1]
    if twice:
        table.fail(
            key,
            f"names {listed(twice)} twice",
            "names that differ by more than upper and lower case, because SQL ignores case",
        )
