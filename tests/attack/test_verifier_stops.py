"""An anonymiser breaks its promise, or a writer miswrites: the verifier stops it, and the old version serves on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from querygate.core.errors import ConfigError
from querygate.core.types import Catalog
from querygate.site.open_gate import OpenSite
from tests.policies import ILLNESS, declaring, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import Miswriter, ask, classes_by, new_site, put, shelf_of, staged_files

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100), grid=5),
        "ward": quasi("category", values=list("abc")),
        "disease": ILLNESS | {"values": ["flu", "gout"]} | diverse("distinct", l=2),
        "pulse": sensitive("integer", (0, 200), bins=20, guard=20),
    },
    k=3,
    anonymise={"edges": "grid"},
)
WITH_PERSONS = POLICY.but(columns={"person": quasi("category")})
PEOPLE: dict[str, list[Any]] = {
    "age": [21, 22, 23, 41, 42, 43, 61, 62, 63, None, None, None],
    "ward": list("abcabcabcaaa"),
    "disease": ["flu", "flu", "gout", "flu", "gout", "gout", "gout", "flu", None, "flu", "gout", "flu"],
    "pulse": [60, 62, 90, 61, 91, 92, 63, 93, 94, 64, 95, None],
}
QUESTIONS = (
    "SELECT COUNT(*), AVG(pulse), MIN(age) FROM t WHERE age > 30",
    "SELECT disease, COUNT(*) FROM t GROUP BY disease",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """Version 1, which no test here gets beyond."""
    opened = new_site(tmp_path_factory.mktemp("broken"))
    put(opened, POLICY, PEOPLE)
    return opened


def assert_stopped(opened: OpenSite, promise: str, attempt: Callable[[], Any]) -> None:
    """The attempt is refused with the promise it breaks; nothing is left of it, and version 1 goes on as before."""
    before = [ask(opened, sql) for sql in QUESTIONS]
    with pytest.raises(ConfigError) as stopped:
        attempt()

    assert stopped.value.code == "QG803"
    assert promise in stopped.value.detail
    assert opened.store.current("t").catalog.version == 1
    assert opened.store.versions("t") == (1,)
    assert [ask(opened, sql) for sql in QUESTIONS] == before
    assert staged_files(opened) == []
    assert [path.name for path in (opened.site.vault / "t").iterdir()] == ["v00001.duckdb"]


# -- broken classes ------------------------------------------------------------------------------------------------

BROKEN = {
    "k - 1 in a class": ("k = 3", lambda table, k, guards=(), *, progress=None: np.minimum(np.arange(12), 5) // 2),
    "all of one disease": ("distinct diversity of disease", classes_by("person", [0, 0, 1, 0, 1, 1, 1, 0, 2, 2, 2, 2])),
    "a narrow pulse": ("pulse", classes_by("person", [0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0])),
}


@pytest.mark.parametrize(("promise", "anonymiser"), BROKEN.values(), ids=BROKEN)
def test_broken_classes_are_caught(served: OpenSite, promise: str, anonymiser: Any) -> None:
    people = {**PEOPLE, "person": list("ABCDEFGHIJKL")}

    assert_stopped(served, promise, lambda: put(served, declaring(WITH_PERSONS, people), people, anonymiser=anonymiser))


# -- a broken store file -------------------------------------------------------------------------------------------

Tables = dict[str, pa.Table]
Change = Callable[[Catalog, Tables], tuple[Catalog, Tables]]


def miswriter(opened: OpenSite, change: Change) -> Miswriter:
    def changed(catalog: Catalog, tables: Any, codes: Any) -> tuple[Catalog, Tables, Any]:
        whole = {name: one if isinstance(one, pa.Table) else pa.concat_tables(one) for name, one in tables.items()}
        return *change(catalog, whole), codes

    return Miswriter(shelf_of(opened), changed)


def table_change(name: str, change: Callable[[pa.Table], pa.Table]) -> Change:
    return lambda catalog, tables: (catalog, {**tables, name: change(tables[name])})


def column_change(name: str, column: str, change: Callable[[pa.ChunkedArray], Any]) -> Change:
    def change_table(table: pa.Table) -> pa.Table:
        before = table.column(column)
        return table.set_column(table.column_names.index(column), column, change(before).cast(before.type))

    return table_change(name, change_table)


def catalog_change(**fields: Any) -> Change:
    return lambda catalog, tables: (replace(catalog, **fields), tables)


def one_more(column: pa.ChunkedArray) -> pa.Array:
    """In the first row."""
    return pc.add(column, pa.array([1] + [0] * (len(column) - 1)))


def no_longer_nullable(catalog: Catalog, tables: Tables) -> tuple[Catalog, Tables]:
    return replace(catalog, columns=tuple(replace(column, nullable=False) for column in catalog.columns)), tables


def bin_of_a_neighbour(table: pa.Table) -> pa.Table:
    """One cell gets the bin of another cell of its class: each row still has an interval there, but not its own."""
    rows = table.to_pylist()
    first, second = next(
        (a, b)
        for a in rows
        for b in rows
        if a["class"] == b["class"] and None not in (a["c3_lo"], b["c3_lo"]) and a["c3_lo"] < b["c3_lo"]
    )
    first["c3_lo"], first["c3_hi"] = second["c3_lo"], second["c3_hi"]
    return pa.Table.from_pylist(rows, table.schema)


def with_row(table: pa.Table, **values: Any) -> pa.Table:
    return pa.concat_tables([table, pa.Table.from_pylist([values], table.schema)])


MOMENT = pa.table(
    {"column_id": [3], "class": [0], "n": [4], "sum_lo": [1.0], "sum_hi": [1.0], "var_lo": [0.0], "var_hi": [0.0]}
)
# The columns by number: 0 age, 1 ward, 2 disease, 3 pulse.
MISWRITTEN: dict[str, tuple[str, Change]] = {
    "a box that misses a row below": ("age", column_change("cells", "c0_lo", lambda c: pc.add(c, 5))),
    "a box that misses a row above": ("age", column_change("cells", "c0_hi", lambda c: pc.subtract(c, 5))),
    "a box beside the grid": (
        "the edges of age are public",
        column_change("cells", "c0_lo", lambda c: pc.subtract(c, 1)),
    ),
    "a bin that misses a row": ("pulse", column_change("cells", "c3_lo", lambda c: pc.add(c, 20))),
    "a bin of a neighbour": ("pulse lies where it is counted", table_change("cells", bin_of_a_neighbour)),
    "a bin of its own": ("the edges of pulse are public", column_change("cells", "c3_hi", lambda c: pc.add(c, 1))),
    "missing values denied": ("age", column_change("cells", "c0_null", lambda c: pc.multiply(c, 0))),
    "missing values not declared": ("missing values of age are declared", no_longer_nullable),
    "a value left out of a set": ("lies where it is counted", table_change("set_value", lambda table: table.slice(1))),
    "values under other names": (
        "lies where it is counted",
        column_change("value_text", "text", lambda c: c.take(list(range(len(c)))[::-1])),
    ),
    "a record too many": ("every record is counted once", column_change("cells", "n", one_more)),
    "a cell left out": ("every record is counted once", table_change("cells", lambda table: table.slice(1))),
    "a class said to be larger": ("class sizes", column_change("cells", "class_n", one_more)),
    "a number of rows that is not": ("every record is counted once", catalog_change(rows=11)),
    "edges said to be tight": ("the catalog has the right tight", catalog_change(tight=True)),
    "another k": ("the catalog has the right k", catalog_change(k=2)),
    "another policy": ("the catalog has the right policy_hash", catalog_change(policy_hash="0" * 64)),
    "people who are not there": ("the catalog has the right persons", catalog_change(persons=7)),
    "a title that tells something": ("the catalog has the right title", catalog_change(title="who has gout")),
    "raw rows beside the cells": (
        "the tables of a store, and nothing beside them",
        lambda catalog, tables: (catalog, {**tables, "raw": pa.table(PEOPLE)}),
    ),
    "a column more": (
        "value_text has its columns and no others",
        table_change("value_text", lambda table: table.append_column("who", table["text"])),
    ),
    "numbers as texts": (
        "set_value has its columns and no others",
        table_change("set_value", lambda t: t.set_column(1, "set_id", t["set_id"].cast(pa.string()))),
    ),
    "a text that nobody has": (
        "texts are those of the values in the catalog",
        table_change("value_text", lambda table: with_row(table, column_id=1, value_id=3, text="who has gout")),
    ),
    "a set that nobody has": (
        "every set of ward is that of a cell",
        table_change("set_value", lambda table: with_row(table, column_id=1, set_id=77, value_id=0, alone=True)),
    ),
    "a set of a number": (
        "sets have values of their column",
        table_change("set_value", lambda table: with_row(table, column_id=0, set_id=0, value_id=0, alone=True)),
    ),
    "values said to be alone": (
        "say whether it is alone",
        column_change("set_value", "alone", lambda column: pc.invert(column)),
    ),
    "sums that the policy does not tell": (
        "class_moment tells of the columns that the catalog says",
        lambda catalog, tables: (catalog, {**tables, "class_moment": MOMENT}),
    ),
}


@pytest.mark.parametrize(("promise", "change"), MISWRITTEN.values(), ids=MISWRITTEN)
def test_a_miswritten_store_is_caught(served: OpenSite, promise: str, change: Change) -> None:
    assert_stopped(served, promise, lambda: put(served, POLICY, PEOPLE, shelf=miswriter(served, change)))


def test_a_bin_with_too_few_is_caught(served: OpenSite) -> None:
    """The last record's bin, joined to a full one by the publisher, is written as a bin of its own."""
    people = {**PEOPLE, "pulse": [60, 62, 90, 61, 91, 92, 63, 93, 94, 64, 95, 150]}

    def split(table: pa.Table) -> pa.Table:
        highs, lows = table.column("c3_hi").to_pylist(), table.column("c3_lo").to_pylist()
        last = next(i for i, high in enumerate(highs) if high == 200)
        lows[last] = 80
        highs[last] = 99
        made = table.set_column(table.column_names.index("c3_hi"), "c3_hi", pa.array(highs))
        return made.set_column(made.column_names.index("c3_lo"), "c3_lo", pa.array(lows))

    assert_stopped(
        served,
        "in each bin of pulse",
        lambda: put(served, POLICY, people, shelf=miswriter(served, table_change("cells", split))),
    )


def test_a_right_writer_is_let_through(tmp_path: Path) -> None:
    """What proves the tests above: it is the change that is caught."""
    opened = new_site(tmp_path)
    put(opened, POLICY, PEOPLE, shelf=miswriter(opened, lambda catalog, tables: (catalog, tables)))

    assert opened.store.current("t").catalog.version == 1


# -- classes that are no classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[], [0] * 11, [-1] * 12], ids=["none", "short", "negative"])
def test_labels_that_number_no_classes_publish_nothing(served: OpenSite, labels: list[int]) -> None:
    people = {**PEOPLE, "person": list("ABCDEFGHIJKL")}
    with pytest.raises(Exception):  # noqa: B017 - whatever stops it first
        put(
            served,
            declaring(WITH_PERSONS, people),
            people,
            anonymiser=lambda table, k, guards=(), *, progress=None: np.array(labels, dtype=np.int64),
        )

    assert served.store.versions("t") == (1,)
    assert staged_files(served) == []
