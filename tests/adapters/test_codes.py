"""Code lists in a store: written, read back by every engine, asked, and refused where a store is damaged or too new."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pytest

from querygate.core.block import MISSING, CodeSets
from querygate.core.errors import ConfigError
from querygate.core.types import Catalog, Column, Request
from querygate.custody.use_cases.copy_store import copy_store
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.catalog_json import catalog_from_json, catalog_to_json
from querygate_adapters.store.cell_query import projection
from querygate_adapters.store.code_sets import read_code_sets
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.store.postgres_store import PostgresStore
from querygate_adapters.vault.code_set_writer import write_code_sets
from tests.adapters.engines import Engine
from tests.adapters.published import PATIENT
from tests.code_study import CATALOG, CODES, STATEMENTS, Published, publish, random_items, random_rows, raw
from tests.policies import AGE, make_policy
from tests.postgres import server
from tests.unit.custody.publish.publications import RESEARCHER, new_site, shelf_of
from tests.unit.custody.publish.publications import put as put_in

DX = CATALOG.columns[2]


def put(opened: OpenSite, published: Published, catalog: Catalog = CATALOG) -> Path:
    """Into the store, by its writer; returns the file."""
    with shelf_of(opened).publishing(catalog.dataset) as publication:
        publication.staging().close()
        publication.write(catalog, published.tables, {DX.index: published.sets})
        publication.switch()
    return opened.site.store / catalog.dataset / "v00001.duckdb"


@pytest.mark.parametrize("seed", range(3))
def test_round_trip(engine: Engine, seed: int, tmp_path: Path) -> None:
    if seed:
        engine.needs("speed")
    rng = random.Random(seed)
    published = publish(random_rows(rng), random_items(rng))
    parents = (("401.1", "hypertension"), ("402", "hypertension"))
    catalog = replace(CATALOG, columns=(*CATALOG.columns[:2], replace(DX, parents=parents), CATALOG.columns[3]))
    opened = new_site(tmp_path)
    put(opened, published, catalog)
    release = engine.gate(opened).store.current("t")
    assert release.catalog == catalog

    expected: dict[tuple[Any, ...], int] = {}
    for age, _, items, _, n in published.cells:
        expected[age, items] = expected.get((age, items), 0) + n
    block = release.project(["age", "dx"], PATIENT)
    column = block.codes("dx")
    rows = zip(block.number("age").low.tolist(), column.sets.tolist(), block.n.tolist(), strict=True)
    assert list(rows) == [(*key, n) for key, n in sorted(expected.items())]
    for name in ("entry_item", "entry_code", "starts", "members"):
        assert np.array_equal(getattr(column.dictionary, name), getattr(published.sets, name)), name
    assert column.dictionary.codes == CODES


@pytest.mark.parametrize("seed", range(3))
def test_answers_hold_the_truth_of_the_raw_lists(engine: Engine, seed: int, tmp_path: Path) -> None:
    """From the store through the whole gate, against DuckDB on the rows that were published."""
    engine.needs("speed")
    rng = random.Random(seed)
    rows = random_rows(rng)
    opened = new_site(tmp_path)
    put(opened, publish(rows, random_items(rng)))
    gate, database = engine.gate(opened), raw(rows)
    for sql in (sql for sql in STATEMENTS if "GROUP BY" not in sql):
        [told] = make_body(answer(Request(RESEARCHER, "t", sql), gate))["rows"]
        [truth] = database.execute(sql).fetchall()
        ranges = [value for name, value in told.items() if name != "_group"]
        for found, value in zip(ranges, truth, strict=True):
            assert found["may_be_null"] if value is None else found["low"] <= value <= found["high"], sql


def test_the_physical_column() -> None:
    assert projection(CATALOG, [DX]).startswith("SELECT c2_items, CAST(SUM(n) AS BIGINT) AS n FROM cells GROUP BY")


# -- the form of a store -----------------------------------------------------------------------------------------------


def test_a_store_without_code_lists_is_as_it_was(tmp_path: Path) -> None:
    """No new table, no new word in the catalog: programs of before read it, and it is read as before."""
    catalog = replace(CATALOG, columns=(CATALOG.columns[0],))
    body = json.loads(catalog_to_json(catalog))
    assert "format" not in body
    assert "parents" not in body["columns"][0]
    assert write_code_sets(catalog, {}) == {}
    assert catalog_from_json(json.dumps(body)) == catalog


def test_a_store_of_a_newer_form_is_not_read() -> None:
    assert json.loads(catalog_to_json(CATALOG))["format"] == 2
    assert catalog_from_json(catalog_to_json(CATALOG)) == CATALOG
    with pytest.raises(ConfigError, match="newer") as refusal:
        catalog_from_json(json.dumps({**asdict(CATALOG), "format": 99}))
    assert refusal.value.code == "QG804"


def test_a_schema_of_before_is_read_and_grows(tmp_path: Path) -> None:
    """Tables for code lists are made when a version is copied; a gate that serves none does not miss them."""
    location = f"{server().url(database=server().new_database())}#before"
    opened = new_site(tmp_path)
    shown = put_in(opened, make_policy("t", {"age": AGE}, k=2), {"age": [20, 21, 40, 41]})
    copy_store(opened, location, user="tester")
    with psycopg.connect(location.partition("#")[0], autocommit=True) as connection:
        connection.execute("DROP TABLE before.code_item, before.item_set")
    assert PostgresStore(location).current("t").catalog.version == shown.version == 1

    put(opened, publish(random_rows(random.Random(1)), random_items(random.Random(1))), replace(CATALOG, version=2))
    copy_store(opened, location, user="tester")
    release = PostgresStore(location).current("t")
    assert (release.catalog.version, release.project(["dx"], PATIENT).n.sum()) == (2, CATALOG.rows)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM code_item WHERE item_id = 0",
        "DELETE FROM item_set WHERE set_id = 1",
        "INSERT INTO code_item SELECT column_id, item_id, code FROM code_item",
        "UPDATE code_item SET code = 'other'",
        "INSERT INTO item_set VALUES (2, 0, 0)",
        "UPDATE item_set SET item_id = -1",
    ],
)
def test_a_damaged_store_is_not_read_as_nobody(damage: str, tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    file = put(opened, publish(random_rows(random.Random(1)), [0, 0, 1, 1, 2, 3, 4, MISSING]))
    with duckdb.connect(str(file)) as database:
        database.execute(damage)
    with pytest.raises((ValueError, KeyError)):
        DuckDBRelease(file)


def test_sets_are_given_for_every_code_list() -> None:
    sets = CodeSets.of(CODES, range(len(CODES)), [[], [0]])
    with pytest.raises(ValueError, match="every code list"):
        write_code_sets(CATALOG, {})
    with pytest.raises(ValueError, match="nothing else"):
        write_code_sets(CATALOG, {0: sets, 2: sets})
    with pytest.raises(ValueError, match="not those of its list"):
        write_code_sets(CATALOG, {2: CodeSets.of(["x"], [0], [[]])})
    for wrong in ([[0]], [[], [0], []], []):
        with pytest.raises(ValueError, match="the first is empty"):
            write_code_sets(CATALOG, {2: CodeSets.of(CODES, range(len(CODES)), wrong)})


def test_a_list_that_nobody_has_a_code_of() -> None:
    column = Column("dx", 0, "codes", "codes", False, values=("a", "b"))
    sets = read_code_sets(column, [(0, "b")], [])
    assert (sets.suppressed.tolist(), sets.starts.tolist(), sets.members.tolist()) == ([True, False], [0, 0], [])
