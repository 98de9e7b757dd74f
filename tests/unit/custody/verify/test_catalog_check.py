"""A version of views says of itself what its policy and its rows say, and its file holds nothing beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.core.types import Catalog
from tests.unit.custody.verify.view_stores import SURVEY, ViewStore, publish_views, survey

pytestmark = pytest.mark.usefixtures("all_strays")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ViewStore:
    text = SURVEY.but(columns={"age": {"cuts": [40]}})
    return publish_views(tmp_path_factory.mktemp("views"), text, survey(120))


def refused(store: ViewStore, *changes: str, catalog: Callable[[Catalog], Catalog] | None = None) -> str:
    with pytest.raises(ConfigError) as error:
        store.verify(*changes, catalog=catalog)
    assert error.value.code == "QG803"
    return str(error.value.detail)


BESIDE = "the tables of a store, and nothing beside them"
ADDED = {
    "a table": (["CREATE TABLE raw AS SELECT 'Ada' AS who"], BESIDE),
    "a table elsewhere": (["CREATE SCHEMA more", "CREATE TABLE more.cells AS SELECT 1 AS n"], BESIDE),
    "a view": (["CREATE VIEW more AS SELECT 'Ada' AS who"], BESIDE),
    "a macro": (["CREATE MACRO who() AS 'Ada'"], BESIDE),
    "a type": (["CREATE TYPE who AS ENUM ('Ada')"], BESIDE),
    "a remark": (["COMMENT ON TABLE cells IS 'Ada'"], BESIDE),
    "a remark on a column": (["COMMENT ON COLUMN cells.n IS 'Ada'"], BESIDE),
    "a default": (["ALTER TABLE value_text ALTER text SET DEFAULT 'Ada'"], BESIDE),
    "a column": (
        ["ALTER TABLE class_moment ADD COLUMN more DOUBLE", "UPDATE class_moment SET more = sum_lo + 3"],
        "class_moment has its columns and no others",
    ),
    "another kind": (["ALTER TABLE cells ALTER frame TYPE VARCHAR"], "cells has its columns and no others"),
    "a second catalog": (["INSERT INTO catalog VALUES ('Ada')"], "says nothing twice or beside"),
    "sums of a quasi-identifier": (
        ["INSERT INTO class_moment SELECT 0, class, n, 25, 25, NULL, NULL FROM cells WHERE margin = 0"],
        "class_moment tells of the columns",
    ),
    "texts of no column": (["INSERT INTO value_text VALUES (77, 0, 'Ada')"], "texts are those of the values"),
    "a text": (["INSERT INTO value_text VALUES (1, 99, 'Ada')"], "texts are those of the values"),
    "a set": (["INSERT INTO set_value VALUES (1, 77, 0, true)"], "every set of sex is that of a cell"),
    "a set of no column": (["INSERT INTO set_value VALUES (77, 0, 0, true)"], "sets have values of their column"),
    "a value twice": (
        ["INSERT INTO set_value SELECT * FROM set_value WHERE column_id = 1"],
        "sets have each value once",
    ),
    "what is alone": (["UPDATE set_value SET alone = NOT alone"], "say whether it is alone"),
}


@pytest.mark.parametrize(("changes", "promise"), ADDED.values(), ids=ADDED)
def test_what_is_in_the_file_beside_the_version(store: ViewStore, changes: list[str], promise: str) -> None:
    assert promise in refused(store, *changes)


@pytest.mark.parametrize(
    "said",
    [
        {"k": 2},
        {"min_group": 9},
        {"modes": ("interval", "laplace")},
        {"unit": "visit"},
        {"title": "Ada"},
        {"tight": True},
        {"person": "id"},
        {"persons": 7},
        {"policy_hash": "0" * 64},
        {"on_differencing": "warn"},
        {"in_extracts": ("note",)},
        {"dataset": "u"},
    ],
    ids=str,
)
def test_a_catalog_that_says_something_else(store: ViewStore, said: dict[str, Any]) -> None:
    [name] = said
    assert f"the catalog has the right {name}" in refused(store, catalog=lambda told: replace(told, **said))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("age", {"low": 30}),
        ("age", {"high": 200}),
        ("age", {"type": "date"}),
        ("sex", {"values": ("m", "f")}),
        ("ill", {"values": ("no", "so", "yes")}),
        ("ill", {"title": "Ada"}),
        ("ill", {"rare": "no"}),
        ("sbp", {"moments": "none"}),
        ("sbp", {"moments": "exact"}),
        ("sbp", {"shared": True}),
        ("sbp", {"decimal": True}),
        ("sbp", {"role": "quasi-identifier"}),
    ],
    ids=str,
)
def test_a_column_of_which_the_catalog_says_something_else(store: ViewStore, name: str, said: dict[str, Any]) -> None:
    def change(told: Catalog) -> Catalog:
        columns = (replace(column, **said) if column.name == name else column for column in told.columns)
        return replace(told, columns=tuple(columns))

    [field] = said
    assert f"of {name} the catalog has the right {field}" in refused(store, catalog=change)


def test_missing_values_and_columns_are_those_of_the_rows(store: ViewStore) -> None:
    def all_nullable(told: Catalog) -> Catalog:
        return replace(told, columns=tuple(replace(column, nullable=True) for column in told.columns))

    assert "missing values of age are declared" in refused(store, catalog=all_nullable)
    fewer = refused(store, catalog=lambda told: replace(told, columns=told.columns[:-1]))
    assert "the columns are those of the policy" in fewer

    def turned(told: Catalog) -> Catalog:
        return replace(told, margins=tuple(replace(margin, quasi=margin.quasi[::-1]) for margin in told.margins))

    assert "margin 0 is one of the policy's" in refused(store, catalog=turned)
